"""ATen's operations as statements of the expression language.

An operation's form is a template over its arguments by their names in ATen's schema, or a function that chooses one.
Sources of what is not one operation: the kernels of ATen/native/cpu, as the forms' comments name them.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Tuple

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from . import _trace
from ._trace import BOOL, Node, Place, Recorder, Untraceable, in_format, is_reduction, reduced
from ._trace import caller, refuse_decision, refuse_unknown

_FORMATS = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.bool: BOOL}
_NARROW = ("f16", "bf16")

Form = Tuple[str, Sequence[str]]
"""A template, and the names of the arguments that it takes."""


def _unary(names: Sequence[str]) -> Dict[str, Form]:
    return {name: (f"{name}({{0}})", ["self"]) for name in names}


def _binary(forms: Mapping[str, str]) -> Dict[str, Form]:
    return {name: (form, ["self", "other"]) for name, form in forms.items()}


FORMS: Dict[str, Form] = {
    **_unary(["abs", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "floor", "ceil"]),
    **_unary(["trunc", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"]),
    **_binary({"mul": "{0} * {1}", "atan2": "atan2({0}, {1})", "hypot": "hypot({0}, {1})"}),
    **_binary({"minimum": "minimum({0}, {1})", "fmin": "min({0}, {1})", "copysign": "copysign({0}, {1})"}),
    "fmod": ("fmod({0}, {1})", ["self", "other"]),
    **_binary({"maximum": "maximum({0}, {1})", "fmax": "max({0}, {1})"}),
    **_binary({"eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}"}),
    **_binary({"gt": "{0} > {1}", "ge": "{0} >= {1}"}),
    "neg": ("-{0}", ["self"]),
    "square": ("{0} * {0}", ["self"]),
    "mm": ("{0} @ {1}", ["self", "mat2"]),
    "bmm": ("{0} @ {1}", ["self", "mat2"]),
    "mv": ("{0} @ {1}", ["self", "vec"]),
    "dot": ("{0} @ {1}", ["self", "tensor"]),
}


def number(value: Any, format: str) -> Any:
    """A number in a format as torch rounds it: once, and to the types of 16 bits by way of float32."""
    given = np.asarray(value)
    with np.errstate(over="ignore"):
        return in_format((given if format == "f64" else given.astype(np.float32))[()], format)


def literal(value: Any, format: str) -> str:
    """The same as the language writes it."""
    return _trace.literal(number(value, format), format)


class Unknown(Exception):
    """That arguments of an operation have no form; why."""


Given = Mapping[str, Any]


def _scaled(product: str, name: str) -> Callable[[Given, str], Form]:
    """`self` and a scaled product or quotient: of PointwiseOpsKernel, `self + value * tensor1 * tensor2`."""

    def form(given: Given, format: str) -> Form:
        value = given["value"]
        factor = "" if value == 1 else f"{literal(value, format)} * "
        return f"{{0}} + {factor}{{1}} {product} {{2}}", ["self", "tensor1", "tensor2"]

    form.__name__ = name
    return form


def _add(given: Given, format: str) -> Form:
    return _with_alpha("+", given, format)


def _sub(given: Given, format: str) -> Form:
    return _with_alpha("-", given, format)


def _with_alpha(sign: str, given: Given, format: str) -> Form:
    alpha = given.get("alpha", 1)
    if alpha != 1 and format in _NARROW:
        raise Unknown("with alpha, of 16 bits: whether the product is rounded depends on how the elements lie in memory")
    return (f"{{0}} {sign} {{1}}" if alpha == 1 else f"{{0}} {sign} {literal(alpha, format)} * {{1}}"), ["self", "other"]


def _rsub(given: Given, format: str) -> Form:
    form, _ = _with_alpha("-", given, format)
    return form, ["other", "self"]


def _div(given: Given, _: str) -> Form:
    if given.get("rounding_mode"):
        raise Unknown(f"with rounding_mode={given['rounding_mode']!r}")
    return "{0} / {1}", ["self", "other"]


def _round(given: Given, _: str) -> Form:
    if given.get("decimals"):
        raise Unknown(f"with decimals={given['decimals']}")
    return "rint({0})", ["self"]


def _reciprocal(_: Given, format: str) -> Form:
    return f"{literal(1, format)} / {{0}}", ["self"]


def _pow(given: Given, format: str) -> Form:
    # PowKernel has these exponents apart: of f16 it takes pow in float32 for the others, of bf16 it rounds each step.
    exponent, one = given["exponent"], literal(1, format)
    simple = {2: "{0} * {0}", -1: f"{one} / {{0}}", 1: "{0}"}
    if format != "f16":
        simple.update({3: "{0} * {0} * {0}", -2: f"{one} / ({{0}} * {{0}})", 0.5: "sqrt({0})", -0.5: f"{one} / sqrt({{0}})"})
    power = float(number(exponent, format)) if isinstance(exponent, (int, float)) else None
    if power == -0.5 and format == "bf16":
        raise Unknown("to the power of -0.5, of bfloat16: whether the root is rounded depends on how the elements lie in memory")
    return (simple[power], ["self"]) if power in simple else ("pow({0}, {1})", ["self", "exponent"])


def _clamp(given: Given, format: str) -> Form:
    low, high = (given.get(names[0], given.get(names[1])) for names in (("min", "min_val"), ("max", "max_val")))
    if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
        raise Unknown("with limits that are tensors")
    form = "{0}" if low is None else f"maximum({{0}}, {literal(low, format)})"
    return (form if high is None else f"minimum({form}, {literal(high, format)})"), ["self"]


def _lerp(given: Given, format: str) -> Form:
    # Lerp.h takes another form from one half on.
    weight = given["weight"]
    if isinstance(weight, torch.Tensor):
        raise Unknown("with a tensor of weights, whose values choose the form")
    weight = number(weight, format)
    if abs(weight) < 0.5:
        return f"{{0}} + {literal(weight, format)} * ({{1}} - {{0}})", ["self", "end"]
    one = literal(1, format)
    return f"{{1}} - ({{1}} - {{0}}) * ({one} - {literal(weight, format)})", ["self", "end"]


def _sigmoid(_: Given, format: str) -> Form:
    one = literal(1, format)
    return f"{one} / ({one} + exp(-{{0}}))", ["self"]


def _silu(_: Given, format: str) -> Form:
    return f"{{0}} / ({literal(1, format)} + exp(-{{0}}))", ["self"]


def _relu(_: Given, format: str) -> Form:
    return f"maximum({{0}}, {literal(0, format)})", ["self"]


def _gelu(given: Given, format: str) -> Form:
    # Activation.cpp, GeluKernelImpl.
    half, one = literal(0.5, format), literal(1, format)
    if given.get("approximate", "none") == "none":
        return f"{{0}} * {half} * ({one} + erf({{0}} * {literal(0.5**0.5, format)}))", ["self"]
    beta, kappa = literal(2**0.5 * (2 / np.pi**0.5) * 0.5, format), literal(0.044715, format)
    return f"{half} * {{0}} * ({one} + tanh({beta} * ({{0}} + {kappa} * ({{0}} * {{0}} * {{0}}))))", ["self"]


def _sum(word: str) -> Callable[[Given, str], Form]:
    def form(given: Given, _: str) -> Form:
        axes, dimensions = given.get("dim"), given["self"].dim()
        axes = [axes] if isinstance(axes, int) else list(axes or range(dimensions))
        if len(axes) not in (1, dimensions):
            raise Unknown(f"over axes {axes}: expected one, or all")
        is_one = len(axes) < dimensions
        return reduced(word, axes[0] % dimensions if is_one else None, bool(given.get("keepdim"))), ["self"]

    return form


def _addmm(product: Sequence[str]) -> Callable[[Given, str], Form]:
    def form(given: Given, format: str) -> Form:
        if given.get("beta", 1) != 1 or given.get("alpha", 1) != 1:
            raise Unknown("with beta or alpha")
        return "({1} @ {2}) + {0}", ["self", *product]

    return form


CHOSEN: Dict[str, Callable[[Given, str], Form]] = {
    "add": _add,
    "sub": _sub,
    "rsub": _rsub,
    "div": _div,
    "reciprocal": _reciprocal,
    "round": _round,
    "pow": _pow,
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "hardtanh": _clamp,
    "lerp": _lerp,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "relu": _relu,
    "gelu": _gelu,
    "addcmul": _scaled("*", "addcmul"),
    "addcdiv": _scaled("/", "addcdiv"),
    "sum": _sum("sum"),
    "mean": _sum("mean"),
    "addmm": _addmm(["mat1", "mat2"]),
    "baddbmm": _addmm(["batch1", "batch2"]),
    "addmv": _addmm(["mat", "vec"]),
}

_COMPOUND = {"addcmul", "addcdiv", "lerp", "sigmoid", "silu", "gelu"}
"""Operations of several steps, which are taken in float32 for the types of 16 bits."""

_SCALED = {"mul", "div"}
"""Operations of 16 bits whose second operand stays a float32 where it is a number, or a tensor without axes."""

_MOVES = {
    *("view", "_unsafe_view", "reshape", "t", "transpose", "permute", "unsqueeze", "squeeze", "expand", "select", "slice"),
    *("alias", "detach", "clone", "contiguous", "lift_fresh", "flip", "narrow", "diagonal", "unbind", "split", "view_as"),
    *("_reshape_alias", "index", "as_strided", "cat", "stack", "repeat", "roll", "unfold"),
}
"""Operations that compute nothing."""

_LEFT = {"mm": "self", "mv": "self", "addmm": "mat1"}
_SAME = {"alias", "detach", "clone", "contiguous", "lift_fresh"}
_ORDERED = {"view", "_unsafe_view", "reshape", "_reshape_alias", "unsqueeze", "squeeze", "view_as"}
"""Those that keep the order of the elements, and only change the shape."""

_SHARED = "a traced value is in the memory of a tensor that is not, as where an element is set: compute a new one"
_ELEMENTWISE = "an expression computes element by element: take the part before computing, or trace from here on"
_NEW = {"zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty"}
_DECIDES = {"_local_scalar_dense", "is_nonzero", "equal", "nonzero"}

KNOWN = sorted([*FORMS, *CHOSEN, "_to_copy"])


def spelled(function: Any) -> str:
    """An operation as ATen calls it."""
    return str(function)


def array_of(value: Any) -> np.ndarray:
    """A tensor as NumPy has it; of bfloat16 and the floats of 8 bits by ml_dtypes."""
    tensor = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
    name = str(tensor.dtype).replace("torch.", "")
    if not name.startswith(("bfloat16", "float8")):
        return tensor.numpy()
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(f"arrays of {name} want ml_dtypes: pip install ml_dtypes") from error
    bits = tensor.view(torch.int16 if name == "bfloat16" else torch.uint8)
    return bits.numpy().view(getattr(ml_dtypes, name))


def tensor_of(value: Any) -> torch.Tensor:
    """A copy of an array of NumPy's as a tensor; of ml_dtypes' bfloat16 too."""
    array = np.array(value)
    if array.dtype.name != "bfloat16":
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)


class Tracer:
    """What a trace knows of the tensors that it has seen."""

    def __init__(self, function: Callable) -> None:
        self.recorder = Recorder(function)
        # Tensors stay here, so that no other gets the identity of one.
        self._seen: Dict[int, Tuple[torch.Tensor, Node]] = {}
        self._storages: Set[int] = set()
        self._others: Dict[int, Tuple[torch.Tensor, str]] = {}
        """Arguments of integers and truth values."""

    def input(self, name: str, value: Any) -> None:
        """A tensor that is an input; what is no tensor of floats is a constant."""
        if not isinstance(value, torch.Tensor):
            return
        if value.dtype not in _FORMATS or value.dtype == torch.bool:
            self._others[id(value)] = value, name
            return
        array = None if value.is_meta else array_of(value.clone())
        self._set(value, self.recorder.input(name, _FORMATS[value.dtype], tuple(value.shape), array))

    def result(self, value: Any) -> Node:
        """What a function returned, as what some operation gave."""
        trace = self.recorder.trace
        if self._node(value) is None:
            found = f"it returned {type(value).__name__}: expected tensors"
            if isinstance(value, torch.Tensor):
                found = _SHARED if self._shared(value) else "it returned a tensor that is computed of none of its tensors"
            raise Untraceable(trace.function, found, trace.place)
        node = self._aligned(value, trace.function, trace.place)
        if node.is_input:
            return self.recorder.operation("{0}", [node], node.format, node.shape, "returned", place=trace.place)
        return node

    def names(self, variables: Mapping[str, Any]) -> Dict[str, Optional[Node]]:
        """A function's variables, with their nodes if they have one."""
        nodes = {name: self._node(value) for name, value in variables.items()}
        return {name: node if node and _is_aligned(node.shape, tuple(variables[name].shape)) else None for name, node in nodes.items()}

    def run(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], place: Optional[Place]) -> Any:
        """Runs an operation and records it."""
        if torch.Tag.nondeterministic_seeded in function.tags:
            reason = "it makes random numbers, others each time: make them before, and give them as an argument"
            raise Untraceable(spelled(function), reason, place)
        tensors = [value for value in tree_leaves((list(args), dict(kwargs))) if isinstance(value, torch.Tensor)]
        name = function._schema.name.split("::")[1]
        if name in _NEW or not any(self._shared(value) for value in tensors):
            return function(*args, **kwargs)
        for value in tensors:
            if self._node(value) is None and self._shared(value):
                raise Untraceable(spelled(function), _SHARED, place)
        if name in _DECIDES:
            refuse_decision(spelled(function), place)
        given = {argument.name: argument.default_value for argument in function._schema.arguments if argument.has_default_value()}
        given.update(zip((argument.name for argument in function._schema.arguments), args))
        given.update(kwargs)
        if name.endswith("_") and name[:-1] in _MOVES:
            returned = function(*args, **kwargs)
            self._moved(function, name[:-1], given, returned, args, kwargs, place)
            return returned
        if function._schema.is_mutable:
            return self._assigned(function, name, args, kwargs, given, place)
        returned = function(*args, **kwargs)
        if name in _MOVES:
            self._moved(function, name, given, returned, args, kwargs, place)
        else:
            if not isinstance(returned, torch.Tensor):
                refuse_unknown(spelled(function), KNOWN, place)
            self._set(returned, self._computed(function, name, given, returned, place))
        return returned

    def is_traced(self, value: Any) -> bool:
        """Whether it is a tensor that the trace has."""
        return self._node(value) is not None

    def _set(self, value: torch.Tensor, node: Node) -> None:
        self._seen[id(value)] = value, node
        self._storages.add(_storage(value))

    def _shared(self, value: torch.Tensor) -> bool:
        """Whether its memory is that of a traced value."""
        return _storage(value) in self._storages

    def _aligned(self, value: torch.Tensor, spelled: str, place: Optional[Place]) -> Node:
        """The node of a tensor, whose elements are where broadcasting finds them."""
        node = self._seen[id(value)][1]
        shape = tuple(value.shape)
        if _is_aligned(node.shape, shape):
            return node
        if not node.is_input:
            raise Untraceable(spelled, _ELEMENTWISE, place)
        return self.recorder.part(node, f".view({list(shape)})", shape, None if value.is_meta else array_of(value.clone()))

    def _node(self, value: Any) -> Optional[Node]:
        found = self._seen.get(id(value))
        return found[1] if found else None

    def _operand(self, value: Any, format: str, function: Any, place: Optional[Place]) -> Any:
        """An operand in the format that torch converts it to before it computes."""
        node = self._aligned(value, spelled(function), place) if self._node(value) is not None else None
        if node is None and isinstance(value, torch.Tensor):
            if value.is_meta:
                raise Untraceable("a tensor of the device meta", "it is no input, and has no values", place)
            if value.dim():
                node = self._constant(value, format)
        if node is not None:
            is_twice = node.format == "f64" and format in _NARROW
            return self.recorder.cast(node, "f32", spelled(function), place=place) if is_twice else node
        return number(value.item() if isinstance(value, torch.Tensor) else value, format)

    def _constant(self, value: torch.Tensor, format: str) -> Node:
        """A tensor that is no input of the trace; what is no tensor of floats in the format that it is converted to."""
        if value.is_floating_point():
            return self.recorder.constant(array_of(value.clone()))
        converted = value.to(next(dtype for dtype, name in _FORMATS.items() if name == format))
        name = self._others.get(id(value), (value, "an array that is no argument"))[1]
        return self.recorder.constant(array_of(converted), f"{name}, of {str(value.dtype)[6:]}, made {format}")

    def _whole(self, operand: Any, value: Any, function: Any, place: Optional[Place]) -> Any:
        """What a sum or a product is of, in its own shape."""
        if not isinstance(operand, Node):
            return operand
        return self.recorder.whole(operand, tuple(value.shape), spelled(function), place)

    def _computed(
        self, function: Any, name: str, given: Mapping[str, Any], returned: torch.Tensor, place: Optional[Place]
    ) -> Node:
        """An operation, whose type and shape are those that torch gives it."""
        format, shape = _FORMATS.get(returned.dtype), tuple(returned.shape)
        if format is None:
            raise Untraceable(spelled(function), f"it gives {returned.dtype}: expected floats", place)
        if name == "_to_copy":
            node = self._aligned(given["self"], spelled(function), place)
            if format == BOOL and node.format != BOOL:
                zero = number(0, node.format)
                how = {"working": node.format, "place": place}
                return self.recorder.operation("{0} != {1}", [node, zero], BOOL, node.shape, spelled(function), **how)
            return self._cast(node, format, function, place)
        working = format
        if format == BOOL:
            working = _FORMATS.get(torch.result_type(given["self"], given["other"]), BOOL) if "other" in given else BOOL
            if working == BOOL:
                refuse_unknown(spelled(function), KNOWN, place)
        computing = self._computing(name, given, working)
        try:
            template, names = FORMS.get(name) or CHOSEN[name](given, computing)
        except KeyError:
            refuse_unknown(spelled(function), KNOWN, place)
        except Unknown as problem:
            raise Untraceable(spelled(function), str(problem), place) from None
        left = self._rows(name, given)
        operands = [
            left[1] if left and left[0] == key else self._converted(given[key], name, key, working, computing, function, place)
            for key in names
        ]
        if left:
            shape = (*left[1].shape[:-1], *shape[1:])
        elif is_reduction(template):
            operands = [self._whole(operand, given[key], function, place) for operand, key in zip(operands, names)]
        record = self.recorder.operation
        if computing == working:
            # What a second sum is asked from.
            has_value = is_reduction(template) and not returned.is_meta
            value = array_of(returned.clone()).reshape(shape) if has_value else None
            return record(template, operands, format, shape, spelled(function), working=working, value=value, place=place)
        wide = record(template, operands, computing, shape, spelled(function), place=place)
        return wide if format == BOOL else self._cast(wide, format, function, place)

    def _rows(self, name: str, given: Mapping[str, Any]) -> Optional[Tuple[str, Node]]:
        """The left operand of a product whose rows have been put into one axis, as torch does for a product of a vector or of
        a stack with a matrix: the argument, and its node, which has them as they were."""
        key = _LEFT.get(name, "")
        node = self._node(given.get(key))
        if node is None or node.shape == given[key].shape or name == "addmm" and given["self"].dim() > 1:
            return None
        is_plain = node.shape[-1:] == given[key].shape[-1:] and int(np.prod(node.shape)) == given[key].numel()
        return (key, node) if is_plain else None

    def _computing(self, name: str, given: Mapping[str, Any], format: str) -> str:
        """The type that an operation computes in: float32 for types of 16 bits where that makes a difference."""
        is_wide = name in _COMPOUND or name in _SCALED and not self._holds(format, given["other"])
        return "f32" if format in _NARROW and is_wide else format

    def _holds(self, format: str, value: Any) -> bool:
        """Whether a type of 16 bits has an operand's value: every one of its type, and some numbers."""
        if isinstance(value, torch.Tensor):
            if value.dim() or _FORMATS.get(value.dtype) == format:
                return True
            if self._node(value) is not None or value.is_meta:
                return False
            value = value.item()
        return bool(number(value, format) == number(value, "f32"))

    def _converted(
        self, value: Any, name: str, key: str, working: str, computing: str, function: Any, place: Optional[Place]
    ) -> Any:
        """An operand as an operation takes it, where it computes in another type than it promotes to."""
        if name in _SCALED and key == "other":
            return self._operand(value, computing, function, place)
        tensors = [item for item, _ in self._seen.values()]
        is_number = not isinstance(value, torch.Tensor) or value.dim() == 0
        if working in _NARROW and is_number and not self._holds(working, value) and tensors[0].device.type not in ("cpu", "meta"):
            reason = f"with a number that {working} does not have: only on a CPU is it known how that is rounded"
            raise Untraceable(spelled(function), reason, place)
        operand = self._operand(value, working, function, place)
        if computing != working and isinstance(operand, Node):
            return self._cast(operand, working, function, place)
        return operand

    def _cast(self, node: Node, format: str, function: Any, place: Optional[Place]) -> Node:
        """A value in another format: torch converts float64 to 16 bits by way of float32."""
        if node.format == "f64" and format in _NARROW:
            node = self.recorder.cast(node, "f32", spelled(function), place=place)
        return self.recorder.cast(node, format, spelled(function), place=place)

    def _assigned(
        self,
        function: Any,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        given: Mapping[str, Any],
        place: Optional[Place],
    ) -> Any:
        """An operation that writes into its first argument."""
        target = args[0]
        others = (value for value, _ in self._seen.values() if value is not target)
        is_alone = isinstance(target, torch.Tensor) and all(_storage(value) != _storage(target) for value in others)
        if "out" in kwargs or not name.endswith("_") or not is_alone:
            raise Untraceable(spelled(function), "it writes into a tensor that others see: compute a new one", place)
        source = given.get("src")
        if name == "copy_" and source is not None and self._node(source) is not None and source.shape == target.shape:
            node = self._aligned(source, spelled(function), place)
        else:
            # It computes in the type that the operation promotes to, and then has that of the target.
            plain = getattr(getattr(torch.ops.aten, name[:-1], None), function._overloadname, None)
            if plain is None:
                refuse_unknown(spelled(function), KNOWN, place)
            node = self._computed(function, name[:-1], given, plain(*args, **kwargs), place)
        new = self._cast(node, _FORMATS[target.dtype], function, place)
        returned = function(*args, **kwargs)
        self._set(target, new)
        return returned

    def _moved(
        self,
        function: Any,
        name: str,
        given: Mapping[str, Any],
        returned: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        place: Optional[Place],
    ) -> None:
        """Elements in another order, or repeated, or some of them."""
        node = self._node(given.get("self"))
        if node is None or not isinstance(returned, torch.Tensor):
            raise Untraceable(spelled(function), "it joins or splits tensors: take the parts before computing", place)
        shape = tuple(returned.shape)
        if _FORMATS.get(returned.dtype) != node.format:
            raise Untraceable(spelled(function), f"it takes bits of {node.format} as {returned.dtype}", place)
        own, count = tuple(given["self"].shape), int(np.prod(node.shape))
        # Its elements are the node's, in their order, and no more.
        is_whole = name in _ORDERED and returned.numel() == count or returned.numel() == count == 1
        kept = self.recorder.keep_axis(node, shape) if is_whole and not node.is_input else None
        is_same = name in _SAME or name in _ORDERED and shape == own
        if kept is not None or is_same or is_whole or name == "expand" and _is_aligned(node.shape, own):
            self._set(returned, kept or node)
        else:
            node = self._aligned(given["self"], spelled(function), place)
            if not node.is_input:
                raise Untraceable(spelled(function), _ELEMENTWISE, place)
            rest = ", ".join(str(value) for value in [*args[1:], *(f"{key}={value}" for key, value in kwargs.items())])
            value = None if returned.is_meta else array_of(returned.clone())
            tensors = [item for item in tree_leaves((args[1:], kwargs)) if isinstance(item, torch.Tensor)]
            indices = [array_of(item) for item in tensors if not item.is_meta]
            self._set(returned, self.recorder.part(node, f".{name}({rest})", shape, value, indices))


def _storage(value: torch.Tensor) -> int:
    """What is the same for tensors in the same memory."""
    try:
        return int(value.untyped_storage()._cdata)
    except NotImplementedError:
        return id(value)


def _is_aligned(source: Tuple[int, ...], shape: Tuple[int, ...]) -> bool:
    """Whether what has the first shape is broadcast to the second with its elements in their order."""
    if int(np.prod(source)) == 1:
        return True
    own = shape[len(shape) - len(source) :] if len(source) <= len(shape) else ()
    return len(own) == len(source) and all(length in (1, wanted) for length, wanted in zip(source, own))


_LEAVES = {"numpy", "__array__", "__dlpack__", "tolist", "data_ptr", "untyped_storage", "storage"}
_GRADIENTS = {
    torch.autograd.grad: "torch.autograd.grad",
    torch.autograd.backward: "torch.autograd.backward",
    torch.Tensor.backward: "Tensor.backward",
}


class Boundary(TorchFunctionMode):
    """Refuses what torch does not run as its operations: a tensor's memory given to other libraries, and gradients where
    they are not enabled."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(function, "__name__", "")
        if name in _LEAVES and any(map(self.tracer.is_traced, args)):
            reason = "its values are taken out of the trace: use torch's functions"
            raise Untraceable(f"Tensor.{name}", reason, caller())
        if function in _GRADIENTS and not torch.is_grad_enabled():
            reason = "a function is run without gradients: take them by torch.func.grad, or within torch.enable_grad()"
            raise Untraceable(_GRADIENTS[function], reason, caller())
        return function(*args, **(kwargs or {}))
