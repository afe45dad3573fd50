"""ATen's operations as statements of the expression language.

An operation's form is a template over its arguments by their names in ATen's schema, or a function that chooses one.
Sources of what is not one operation: the kernels of ATen/native/cpu, as the forms' comments name them.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from ._trace import BOOL, Node, Place, Recorder, Untraceable, in_format, is_reduction, literal, reduced
from ._trace import refuse_decision, refuse_unknown

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
    return (f"{{0}} {sign} {{1}}" if alpha == 1 else f"{{0}} {sign} {literal(alpha, format)} * {{1}}"), ["self", "other"]


def _rsub(given: Given, format: str) -> Form:
    form, _ = _with_alpha("-", given, format)
    return form, ["other", "self"]


def _div(given: Given, _: str) -> Form:
    if given.get("rounding_mode"):
        raise Unknown(f"with rounding_mode={given['rounding_mode']!r}")
    return "{0} / {1}", ["self", "other"]


def _reciprocal(_: Given, format: str) -> Form:
    return f"{literal(1, format)} / {{0}}", ["self"]


def _pow(given: Given, format: str) -> Form:
    # PowKernel has these exponents apart.
    one = literal(1, format)
    simple = {
        2: "{0} * {0}",
        3: "{0} * {0} * {0}",
        -2: f"{one} / ({{0}} * {{0}})",
        0.5: "sqrt({0})",
        -0.5: f"{one} / sqrt({{0}})",
        -1: f"{one} / {{0}}",
        1: "{0}",
    }
    exponent = given["exponent"]
    if isinstance(exponent, (int, float)) and exponent in simple:
        return simple[exponent], ["self"]
    return "pow({0}, {1})", ["self", "exponent"]


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

_COMPOUND = {"addcmul", "addcdiv", "lerp", "sigmoid", "silu", "gelu", "add", "sub", "rsub"}
"""Operations of several steps, which are taken in float32 for the types of 16 bits."""

_MOVES = {
    *("view", "_unsafe_view", "reshape", "t", "transpose", "permute", "unsqueeze", "squeeze", "expand", "select", "slice"),
    *("alias", "detach", "clone", "contiguous", "lift_fresh", "flip", "narrow", "diagonal", "unbind", "split", "view_as"),
    *("_reshape_alias", "index", "as_strided", "cat", "stack", "repeat", "roll", "unfold"),
}
"""Operations that compute nothing."""

_SAME = {"alias", "detach", "clone", "contiguous", "lift_fresh"}
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


class Tracer:
    """What a trace knows of the tensors that it has seen."""

    def __init__(self, function: Callable) -> None:
        self.recorder = Recorder(function)
        # Tensors stay here, so that no other gets the identity of one.
        self._seen: Dict[int, Tuple[torch.Tensor, Node]] = {}

    def input(self, name: str, value: Any) -> None:
        """A tensor that is an input; what is no tensor of floats is a constant."""
        if not isinstance(value, torch.Tensor) or value.dtype not in _FORMATS or value.dtype == torch.bool:
            return
        array = None if value.is_meta else array_of(value.clone())
        self._set(value, self.recorder.input(name, _FORMATS[value.dtype], tuple(value.shape), array))

    def result(self, value: Any) -> Node:
        """What a function returned, as what some operation gave."""
        trace = self.recorder.trace
        node = self._node(value)
        if node is None:
            raise Untraceable(trace.function, "it returned nothing that is computed of its tensors", trace.place)
        if node.is_input:
            return self.recorder.operation("{0}", [node], node.format, node.shape, "returned", place=trace.place)
        return node

    def names(self, variables: Mapping[str, Any]) -> Dict[str, Optional[Node]]:
        """A function's variables, with their nodes if they have one."""
        return {name: self._node(value) for name, value in variables.items()}

    def run(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], place: Optional[Place]) -> Any:
        """Runs an operation and records it."""
        taken = [value for value in tree_leaves((list(args), dict(kwargs))) if self._node(value) is not None]
        name = function._schema.name.split("::")[1]
        if not taken or name in _NEW:
            return function(*args, **kwargs)
        if name in _DECIDES:
            refuse_decision(spelled(function), place)
        given = {argument.name: argument.default_value for argument in function._schema.arguments if argument.has_default_value()}
        given.update(zip((argument.name for argument in function._schema.arguments), args))
        given.update(kwargs)
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

    def _set(self, value: torch.Tensor, node: Node) -> None:
        self._seen[id(value)] = value, node

    def _node(self, value: Any) -> Optional[Node]:
        found = self._seen.get(id(value))
        return found[1] if found else None

    def _operand(self, value: Any, place: Optional[Place]) -> Union[Node, float, np.generic]:
        node = self._node(value)
        if node is not None:
            return node
        if not isinstance(value, torch.Tensor):
            return value  # type: ignore[no-any-return]
        if value.is_meta:
            raise Untraceable("a tensor of the device meta", "it is no input, and has no values", place)
        if value.dim() == 0:
            return value.item()
        array = array_of(value.clone() if value.is_floating_point() else value.double())
        return self.recorder.constant(array)

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
            node = self._node(given["self"])
            assert node is not None
            return self.recorder.cast(node, format, spelled(function), place=place)
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
        operands = [self._operand(given[name], place) for name in names]
        if is_reduction(template):
            operands = [self._whole(operand, given[name], function, place) for operand, name in zip(operands, names)]
        record = self.recorder.operation
        if computing == working:
            # What a second sum is asked from.
            value = array_of(returned.clone()) if is_reduction(template) and not returned.is_meta else None
            return record(template, operands, format, shape, spelled(function), working=working, value=value, place=place)
        wide = record(template, operands, computing, shape, spelled(function), place=place)
        return wide if format == BOOL else self.recorder.cast(wide, format, spelled(function), place=place)

    def _computing(self, name: str, given: Mapping[str, Any], format: str) -> str:
        """The type that an operation computes in: float32 for types of 16 bits where that makes a difference."""
        numbers = [value for key, value in given.items() if isinstance(value, (int, float)) and not isinstance(value, bool)]
        is_scaled = name not in ("add", "sub", "rsub") or given.get("alpha", 1) != 1
        is_compound = name in _COMPOUND and is_scaled
        is_narrow = format in _NARROW
        has_other = is_narrow and any(float(in_format(number, format)) != number for number in numbers)
        return "f32" if is_narrow and (is_compound or has_other) else format

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
        storage = target.untyped_storage()._cdata if isinstance(target, torch.Tensor) else None
        others = (value for value, _ in self._seen.values() if value is not target)
        if "out" in kwargs or not name.endswith("_") or any(value.untyped_storage()._cdata == storage for value in others):
            raise Untraceable(spelled(function), "it writes into a tensor that others see: compute a new one", place)
        source = given.get("src")
        if name == "copy_" and source is not None and self._node(source) is not None and source.shape == target.shape:
            node = self._node(source)
            assert node is not None
            new = self.recorder.cast(node, _FORMATS[target.dtype], spelled(function), place=place)
        else:
            new = self._computed(function, name[:-1], given, target, place)
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
        is_aligned = name in ("expand", "unsqueeze", "view") and _is_aligned(name, node.shape, shape)
        if name in _SAME or returned.numel() == 1 == int(np.prod(node.shape)) or is_aligned:
            self._set(returned, node)
            return
        if node.is_input:
            rest = ", ".join(str(value) for value in [*args[1:], *(f"{key}={value}" for key, value in kwargs.items())])
            value = None if returned.is_meta else array_of(returned.clone())
            tensors = [item for item in tree_leaves((args[1:], kwargs)) if isinstance(item, torch.Tensor)]
            indices = [array_of(item) for item in tensors if not item.is_meta]
            self._set(returned, self.recorder.part(node, f".{name}({rest})", shape, value, indices))
            return
        kept = self.recorder.keep_axis(node, shape)
        if kept is None:
            reason = "an expression computes element by element: take the part before computing, or trace from here on"
            raise Untraceable(spelled(function), reason, place)
        self._set(returned, kept)


def _is_aligned(name: str, source: Tuple[int, ...], shape: Tuple[int, ...]) -> bool:
    """Whether elements are where broadcasting finds them."""
    if name == "expand":
        return True
    leading = len(shape) - len(source)
    return leading >= 0 and shape[leading:] == source and all(length == 1 for length in shape[:leading])
