"""Functions of JAX: traced into the expression language for `why`, and what `jax.jit` makes of them.

``pip install roundonce[jax]``. Reading order: `Step` (an equation of a jaxpr, calls opened), `trace`, `compare`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, NoReturn, Optional, Sequence, Set, Tuple

import numpy as np

try:
    import jax
except ImportError as error:
    raise ImportError("roundonce.jax wants JAX: pip install roundonce[jax]") from error

from ._arrays import format_of
from ._compare import Comparison, difference
from ._trace import BOOL, NO_EXTREME, Node, Place, Recorder, Trace, Untraceable, call, is_reduction, literal
from ._trace import name_of, names_of, reduced, refuse_decision, refuse_unknown

__all__ = ["Comparison", "compare"]

_FORMS: Dict[str, str] = {
    **{"add": "{0} + {1}", "add_any": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}"},
    **{"neg": "-{0}", "square": "{0} * {0}", "max": "maximum({0}, {1})", "min": "minimum({0}, {1})"},
    **{"pow": "pow({0}, {1})", "atan2": "atan2({0}, {1})", "clamp": "minimum(maximum({1}, {0}), {2})", "rem": "fmod({0}, {1})"},
    **{"lt": "{0} < {1}", "le": "{0} <= {1}", "gt": "{0} > {1}", "ge": "{0} >= {1}", "eq": "{0} == {1}", "ne": "{0} != {1}"},
    **{name: f"{name}({{0}})" for name in ("abs", "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p")},
    **{name: f"{name}({{0}})" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")},
    **{name: f"{name}({{0}})" for name in ("asinh", "acosh", "atanh", "erf", "floor", "ceil")},
}
_CALLS = {
    "trunc": "trunc({0})",
    "copysign": "copysign({0}, {1})",
    "fmin": "min({0}, {1})",
    "fmax": "max({0}, {1})",
}
"""Functions of jax.numpy that are computed otherwise and give the same."""

_MOVES = {
    *("broadcast_in_dim", "reshape", "squeeze", "transpose", "slice", "rev", "dynamic_slice", "gather", "concatenate"),
    *("copy", "copy_p", "stop_gradient", "expand_dims", "reduce_max", "reduce_min"),
}
"""Primitives that compute nothing."""

_CALLS_OF = {
    *("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint"),
    *("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"),
}
"""Primitives that do what their jaxpr does, and nothing else: others map it, repeat it, or run it elsewhere."""

_BRANCHES = {"cond", "while"}

_REFUSED = {
    "scan": "it repeats its steps, and an expression has no loops: trace one step as a function of its own",
    "select_n": "it takes one value or another for each element, and an expression takes none: trace the side that was taken",
    **dict.fromkeys(("argmax", "argmin"), NO_EXTREME),
}
"""What is refused with a reason of its own."""

_KNOWN = sorted([*_FORMS, *_CALLS, "integer_pow", "logistic", "round", "reduce_sum", "dot_general", "convert_element_type"])

_MOST = 100
"""Operations for which `compare` compiles what leads to each."""

_COMPILED = type(jax.jit(lambda value: value))
"""The type of what ``jax.jit`` gives."""

_HERE = (os.path.dirname(jax.__file__) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)


@dataclass(frozen=True)
class Key:
    """A value that is computed."""

    number: int
    shape: Tuple[int, ...]
    dtype: np.dtype


@dataclass
class Step:
    """An equation, with the calls in it opened. What it takes is computed, or a constant."""

    primitive: Any
    params: Dict[str, Any]
    inputs: List[Any]
    outputs: List[Key]
    place: Optional[Place]

    @property
    def name(self) -> str:
        return str(self.primitive.name)

    def run(self, values: Mapping[Key, Any]) -> List[Any]:
        """What it gives."""
        given = [values[item] if isinstance(item, Key) else item for item in self.inputs]
        returned = self.primitive.bind(*given, **self.params)
        return list(returned) if self.primitive.multiple_results else [returned]


@dataclass
class Steps:
    """A function as steps."""

    arguments: List[Key]
    steps: List[Step]
    results: List[Any]
    """Keys, and constants."""

    def values(self, arrays: Sequence[Any]) -> Dict[Key, Any]:
        """What each step gives, one after the other."""
        values = dict(zip(self.arguments, arrays))
        for step in self.steps:
            values.update(zip(step.outputs, step.run(values)))
        return values

    def leading_to(self, wanted: Key, depth: Optional[int] = None) -> List[Step]:
        """The steps that a value takes, at most so many behind one another."""
        depths: Dict[Key, int] = {wanted: 0}
        kept = []
        for step in reversed(self.steps):
            found = [depths[output] for output in step.outputs if output in depths]
            if found and (depth is None or min(found) <= depth):
                kept.append(step)
                for item in step.inputs:
                    if isinstance(item, Key):
                        # What only moves elements is no step of its own.
                        further = min(found) + (step.name not in _MOVES)
                        depths[item] = min(further, depths.get(item, further))
        return kept[::-1]


def _place(equation: Any) -> Optional[Place]:
    """The caller's line that an equation comes from."""
    traceback = equation.source_info.traceback
    for frame in traceback.frames if traceback else ():
        if not frame.file_name.startswith((*_HERE, "<frozen")):
            return Place(frame.file_name, frame.line_num)
    return None


def _steps(closed: Any, kept: FrozenSet[str] = frozenset()) -> Steps:
    """The steps of a jaxpr. Calls of functions of the names `kept` stay."""
    steps: List[Step] = []
    count = 0

    def key(variable: Any) -> Key:
        nonlocal count
        count += 1
        return Key(count, tuple(variable.aval.shape), variable.aval.dtype)

    def walk(jaxpr: Any, constants: Sequence[Any], arguments: Sequence[Any], outer: Optional[Place]) -> List[Any]:
        found: Dict[Any, Any] = dict(zip(jaxpr.constvars, constants))
        found.update(zip(jaxpr.invars, arguments))

        def value(atom: Any) -> Any:
            return np.asarray(atom.val, atom.aval.dtype) if hasattr(atom, "val") else found[atom]

        for equation in jaxpr.eqns:
            inputs = [value(atom) for atom in equation.invars]
            place = _place(equation) or outer
            inner = next((equation.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in equation.params), None)
            is_call = inner is not None and equation.primitive.name in _CALLS_OF
            if is_call and equation.params.get("name") not in kept:
                own = getattr(inner, "jaxpr", inner)
                returned = walk(own, getattr(inner, "consts", ()), inputs, place)
                found.update(zip(equation.outvars, returned))
                continue
            outputs = [key(variable) for variable in equation.outvars]
            found.update(zip(equation.outvars, outputs))
            steps.append(Step(equation.primitive, equation.params, inputs, outputs, place))
        return [value(atom) for atom in jaxpr.outvars]

    arguments = [key(variable) for variable in closed.jaxpr.invars]
    return Steps(arguments, steps, walk(closed.jaxpr, closed.consts, arguments, None))


def _is_array(value: Any) -> bool:
    return isinstance(value, (jax.Array, np.ndarray, np.generic))


class _Call:
    """A function with its inputs: those that are arrays are traced, others are constants."""

    def __init__(self, function: Callable, inputs: Sequence[Any], named: Mapping[str, Any]) -> None:
        self.function = function
        given = [*zip(names_of(_plain(function), inputs), inputs), *named.items()]
        has_arrays = any(_is_array(value) for _, value in given)

        def is_traced(value: Any) -> bool:
            return _is_array(value) or isinstance(value, float) and not has_arrays

        self.names = [name for name, value in given if is_traced(value)]
        self.arrays = [jax.numpy.asarray(value) for _, value in given if is_traced(value)]
        self._count = len(inputs)
        self._given = [(name, None if is_traced(value) else (value,)) for name, value in given]

    def arguments(self, arrays: Sequence[Any]) -> Tuple[List[Any], Dict[str, Any]]:
        """The inputs with these in the place of the arrays."""
        rest = iter(arrays)
        values = [(name, next(rest) if constant is None else constant[0]) for name, constant in self._given]
        return [value for _, value in values[: self._count]], dict(values[self._count :])

    def returned(self, arrays: Sequence[Any]) -> List[Any]:
        """What the function returns, one after the other."""
        inputs, named = self.arguments(arrays)
        return list(jax.tree_util.tree_leaves(_plain(self.function)(*inputs, **named)))

    def with_variables(self, arrays: Sequence[Any]) -> Tuple[List[Any], Dict[str, Any]]:
        """The same, with the function's variables."""
        inputs, named = self.arguments(arrays)
        function = _plain(self.function)
        if _is_transformed(function):
            # The variables are those of the function in it: others than its own results are made of.
            return list(jax.tree_util.tree_leaves(function(*inputs, **named))), {}
        returned, variables = call(function, inputs, named)
        tracers = {name: value for name, value in variables.items() if isinstance(value, jax.core.Tracer)}
        return list(jax.tree_util.tree_leaves(returned)), tracers

    def jaxpr(self) -> Tuple[Any, List[str]]:
        """The jaxpr, and the names of the variables that it has behind its results."""
        try:
            closed, shape = jax.make_jaxpr(lambda *arrays: self.with_variables(arrays), return_shape=True)(*self.arrays)
            return closed, sorted(shape[1])
        except jax.errors.TracerBoolConversionError as error:
            _refuse("if", error, decides=True)
        except jax.errors.JAXTypeError as error:
            _refuse("a value", error, decides=False)


def _plain(function: Callable) -> Callable:
    """A function as it was before it was compiled. What else wraps it is part of what it computes."""
    while isinstance(function, _COMPILED):
        function = function.__wrapped__  # type: ignore[attr-defined]
    return function


def _is_transformed(function: Callable) -> bool:
    """Whether JAX has made it of another function: ``jax.grad(f)``, ``jax.vmap(f)``, and those inside a decorator's."""
    layers = [function]
    while hasattr(layers[-1], "__wrapped__"):
        layers.append(layers[-1].__wrapped__)
    return any(str(getattr(layer, "__globals__", {}).get("__name__", "jax")).split(".")[0] == "jax" for layer in layers[:-1])


def _refuse(operation: str, error: BaseException, decides: bool) -> NoReturn:
    """Refuses what JAX could not trace, with the caller's line."""
    place, traceback = None, error.__traceback__
    while traceback:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith((*_HERE, "<frozen")):
            place = Place(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    if decides:
        refuse_decision(operation, place)
    raise Untraceable(operation, str(error).splitlines()[0], place) from error


def _refuse_keys(spelled: str, dtype: Any, place: Optional[Place]) -> None:
    """Refuses keys of random numbers, which NumPy has not."""
    if jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        reason = f"of {dtype}: expected floats; make random numbers before, and give them as an argument"
        raise Untraceable(spelled, reason, place)


def trace(function: Callable, inputs: Sequence[Any], named: Optional[Mapping[str, Any]] = None) -> Trace:
    """Traces a function of JAX, by way of its jaxpr.

    >>> trace(lambda x, y: jax.numpy.exp(x) * y, [np.float32([1]), np.float32([2])]).text()
    't1 = exp(x); t1 * y'

    Raises `Untraceable`.
    """
    asked = _Call(function, inputs, named or {})
    closed, names = asked.jaxpr()
    steps = _steps(closed, frozenset(_CALLS))
    tracer = _Tracer(Recorder(_plain(function)))
    for name, key, array in zip(asked.names, steps.arguments, asked.arrays):
        _refuse_keys(name, key.dtype, None)
        tracer.input(name, key, np.asarray(array))
    count = len(steps.results) - len(names)
    wanted = [item for item in steps.results[:count] if isinstance(item, Key)]
    needed = {id(step) for key in wanted for step in steps.leading_to(key)}
    for step in steps.steps:
        if id(step) in needed:
            tracer.step(step)
    nodes = [tracer.result(item) for item in steps.results[:count]]
    sums = [operation.node for operation in tracer.recorder.trace.operations if operation.is_reduction]
    if len(sums) > 1:
        # What a second sum is asked from.
        values = steps.values(asked.arrays)
        for key, node in tracer.nodes.items():
            if any(node is one for one in sums) and key.shape == node.shape:
                node.value = np.asarray(values[key])
    variables = [tracer.nodes.get(item) if isinstance(item, Key) else None for item in steps.results[count:]]
    return tracer.recorder.finish(nodes, dict(zip(names, variables)))


class _Tracer:
    """Steps into operations."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.nodes: Dict[Key, Node] = {}
        self.constants: Dict[Key, np.ndarray] = {}

    def input(self, name: str, key: Key, value: np.ndarray, made: Optional[str] = None) -> None:
        format = format_of(value.dtype)
        if format is None:
            self.constants[key] = value
        else:
            self.nodes[key] = self.recorder.input(name, format, value.shape, value, made)

    def known(self, item: Any) -> Optional[np.ndarray]:
        """The value of a constant; None of what is computed."""
        return self.constants.get(item) if isinstance(item, Key) else np.asarray(item)

    def operand(self, item: Any) -> Any:
        value = self.known(item)
        if value is None:
            return self.nodes[item]
        return value[()] if value.ndim == 0 else self.recorder.constant(value)

    def whole(self, item: Any, step: Step) -> Node:
        """What a sum or a product is of, in its own shape."""
        node, shape = self.operand(item), item.shape
        if not isinstance(node, Node):
            node = self.recorder.constant(np.broadcast_to(node, shape))
        return self.recorder.whole(node, shape, f"lax.{step.name}", step.place)

    def result(self, item: Any) -> Node:
        node = self.nodes.get(item) if isinstance(item, Key) else None
        trace = self.recorder.trace
        if node is None:
            raise Untraceable(trace.function, "it returned what is computed of none of its arrays", trace.place)
        if node.is_input:
            return self.recorder.operation("{0}", [node], node.format, node.shape, "returned", place=trace.place)
        return node

    def step(self, step: Step) -> None:
        name, output = step.name, step.outputs[0]
        called = str(step.params.get("name"))
        template = _CALLS.get(called) if name in ("jit", "pjit") else _FORMS.get(name)
        spelled = f"jnp.{called}" if name in ("jit", "pjit") else f"lax.{name}"
        _refuse_keys(spelled, output.dtype, step.place)
        known = [self.known(item) for item in step.inputs]
        is_float = format_of(output.dtype) is not None
        is_constant = all(value is not None for value in known)
        if is_constant and (name in _MOVES or name == "convert_element_type" or not is_float):
            # Numbers in their types, and indices.
            self.constants[output] = np.asarray(step.run(self.constants)[0])
            return
        if name in _BRANCHES:
            refuse_decision(spelled, step.place)
        if name in _REFUSED:
            raise Untraceable(spelled, _REFUSED[name], step.place)
        if not is_float and output.dtype != bool:
            raise Untraceable(spelled, f"of {output.dtype.name}: expected floats", step.place)
        if name in _MOVES:
            self.nodes[output] = self.moved(step)
            return
        if name == "max" and (kept := self.above_nothing(step)) is not None:
            self.nodes[output] = kept
            return
        if name == "convert_element_type":
            node = self.nodes[step.inputs[0]]
            format = format_of(output.dtype)
            assert format is not None
            self.nodes[output] = self.recorder.cast(node, format, spelled, place=step.place)
            return
        if name == "integer_pow":
            self.nodes[output] = self.power(step)
            return
        if name == "round":
            is_even = step.params["rounding_method"] == jax.lax.RoundingMethod.TO_NEAREST_EVEN
            template = "rint({0})" if is_even else "round({0})"
        elif name == "logistic":
            one = literal(1, self.nodes[step.inputs[0]].format)
            template = f"{one} / ({one} + exp(-{{0}}))"
        elif name == "reduce_sum":
            template = self.sum(step)
        elif name == "dot_general":
            template = self.product(step)
        if template is None:
            refuse_unknown(spelled, _KNOWN, step.place)
        operands = [self.operand(item) for item in step.inputs]
        if is_reduction(template):
            operands = [self.whole(item, step) for item in step.inputs]
        self.nodes[output] = self.record(template, operands, output, spelled, step.place)

    def above_nothing(self, step: Step) -> Optional[Node]:
        """What is compared with -inf alone, as jax.nn.softmax does it."""
        for number, other in (step.inputs, step.inputs[::-1]):
            known = self.known(number)
            if known is not None and np.all(np.isneginf(known)):
                return self.nodes.get(other)
        return None

    def record(self, template: str, operands: Sequence[Any], output: Key, spelled: str, place: Optional[Place]) -> Node:
        format = BOOL if output.dtype == bool else format_of(output.dtype)
        assert format is not None
        working = format
        if format == BOOL:
            # A comparison computes in the type of its operands.
            formats = {operand.format for operand in operands if isinstance(operand, Node)} - {BOOL}
            if len(formats) != 1:
                raise Untraceable(spelled, "of integers or truth values: expected floats", place)
            working = formats.pop()
        return self.recorder.operation(template, operands, format, output.shape, spelled, working=working, place=place)

    def power(self, step: Step) -> Node:
        """A whole power, by the products that JAX has for it."""
        exponent, output, one = step.params["y"], step.outputs[0], self.operand(step.inputs[0])
        spelled = f"lax.integer_pow y={exponent}"
        square, product, rest = one, None, abs(exponent)
        while rest:
            if rest & 1:
                product = square if product is None else self.record(
                    "{0} * {1}", [product, square], output, spelled, step.place
                )
            rest >>= 1
            if rest:
                square = self.record("{0} * {0}", [square], output, spelled, step.place)
        if product is None:
            return self.record("{0}", [np.float64(1)], output, spelled, step.place)
        if exponent > 0:
            return product  # type: ignore[no-any-return]
        return self.record("{0} / {1}", [np.float64(1), product], output, spelled, step.place)

    def sum(self, step: Step) -> str:
        axes, dimensions = step.params["axes"], len(step.inputs[0].shape)
        if len(axes) not in (1, dimensions):
            raise Untraceable("lax.reduce_sum", f"over axes {axes}: expected one, or all", step.place)
        return reduced("sum", axes[0] if len(axes) < dimensions else None, False)

    def product(self, step: Step) -> str:
        ((one, other), batch) = step.params["dimension_numbers"]
        left, right = step.inputs
        is_matmul = (
            tuple(one) == (len(left.shape) - 1,)
            and tuple(other) == (max(len(right.shape) - 2, 0),)
            and not any(len(axes) for axes in batch)
            and len(right.shape) <= 2
        )
        if not is_matmul:
            raise Untraceable("lax.dot_general", f"with {step.params['dimension_numbers']}: expected a @ b", step.place)
        return "{0} @ {1}"

    def moved(self, step: Step) -> Node:
        """Elements in another order, or repeated."""
        source, output = self.nodes.get(step.inputs[0]), step.outputs[0]
        spelled = f"lax.{step.name}"
        if source is None or sum(self.known(item) is None for item in step.inputs) > 1:
            raise Untraceable(spelled, "it joins values: an expression computes element by element", step.place)
        is_aligned = False
        if step.name == "broadcast_in_dim":
            # Elements are where broadcasting finds them.
            leading = len(output.shape) - len(source.shape)
            axes = tuple(range(max(leading, 0), len(output.shape)))
            is_aligned = tuple(step.params["broadcast_dimensions"]) == axes
            is_aligned &= all(own in (1, length) for own, length in zip(source.shape, output.shape[leading:]))
        is_one = int(np.prod(source.shape)) == 1
        if is_aligned or is_one or source.shape == output.shape and step.name in ("copy", "copy_p", "stop_gradient", "reshape"):
            return source
        if source.is_input:
            given = {step.inputs[0]: source.value}
            given.update(self.constants)
            what = {name: value for name, value in step.params.items() if value is not None and name != "sharding"}
            text = ", ".join(f"{name}={value}" for name, value in what.items())
            value = np.asarray(step.run(given)[0])
            indices = [known for known in map(self.known, step.inputs[1:]) if known is not None]
            return self.recorder.part(source, f".{step.name}({text})", value.shape, value, indices)
        if step.name in ("reduce_max", "reduce_min"):
            raise Untraceable(spelled, NO_EXTREME, step.place)
        kept = self.recorder.keep_axis(source, output.shape)
        if kept is None:
            reason = "an expression computes element by element: take the part before computing, or trace from here on"
            raise Untraceable(spelled, reason, step.place)
        return kept


def run(function: Callable) -> Callable:
    """The function as `why` runs it: as it is, with its results in a list."""
    return lambda *inputs, **named: jax.tree_util.tree_leaves(function(*inputs, **named))


def array_of(value: Any) -> np.ndarray:
    """An array of JAX as NumPy has it."""
    return np.asarray(value)


def compare(function: Callable, *inputs: Any, nan_bits: bool = False, **named: Any) -> Comparison:
    """Runs a function op by op and compiled by ``jax.jit``, on the default device, and compares the bits.

    The values inside a compiled function cannot be seen. So what leads to each operation is compiled alone: the first that
    gives another value is the first differing operation, and `why` is asked about as few operations before it as show the
    difference. That may fuse otherwise than the whole; the notes say so. Arrays and NumPy's scalars are inputs, other
    values are constants. Two NaNs are equal unless `nan_bits`.

    >>> x = np.uint32([0x3F800001]).view(np.float32)
    >>> compared = compare(lambda a, b: a * a + b, x, np.float32([-1]))
    >>> compared.sides
    ('op by op on cpu', 'jax.jit on cpu')
    """
    asked = _Call(function, inputs, named)
    closed, variables = asked.jaxpr()
    steps = _steps(closed, frozenset(_CALLS))
    name = name_of(_plain(function))
    backend = jax.default_backend()
    values = steps.values(asked.arrays)
    compiled = jax.tree_util.tree_leaves(jax.jit(lambda *arrays: asked.returned(arrays))(*asked.arrays))
    own = [values[item] if isinstance(item, Key) else item for item in steps.results]
    labels = [name if len(compiled) == 1 else f"{name}[{index}]" for index in range(len(compiled))]
    found = [difference(label, None, one, other, nan_bits) for label, one, other in zip(labels, own, compiled)]
    compared = Comparison(name, (f"op by op on {backend}", f"jax.jit on {backend}"), [one for one in found if one])
    computing = [step for step in steps.steps if step.name not in _MOVES and format_of(step.outputs[0].dtype)]
    compared.operations = len(computing)
    if compared.equal:
        return compared
    compared.notes.append(
        "the values inside a compiled function cannot be seen: what leads to each operation was compiled alone, which may "
        "fuse otherwise than the whole"
    )
    if len(computing) > _MOST:
        compared.notes.append(f"only the first {_MOST} of {len(computing):,} operations were looked at")
    first = None
    for step in computing[:_MOST]:
        whole = _Window(steps, step, values, None)
        label = f"lax.{step.name}"
        if first is None:
            compared.first = difference(label, step.place, values[step.outputs[0]], whole.compiled(), nan_bits)
            first = step if compared.first else None
        window = _Window(steps, step, values, 1)
        if len(window.steps) > 1:
            differs = difference(label, step.place, values[step.outputs[0]], window.compiled(), nan_bits)
            compared.own += [differs] if differs else []
    compared.own_means = "differ when compiled with those that give them their operands, from the same inputs"
    if first is None:
        compared.notes.append("no operation differs where only what leads to it is compiled")
    else:
        _explain(compared, function, steps, first, values, asked.names, nan_bits)
    return compared


class _Window:
    """The operations before one, up to a depth: compiled alone, on the values that they have op by op."""

    def __init__(self, steps: Steps, last: Step, values: Mapping[Key, Any], depth: Optional[int]) -> None:
        self.last = last.outputs[0]
        self.steps = steps.leading_to(self.last, depth)
        made: Set[Key] = {output for step in self.steps for output in step.outputs}
        taken = (item for step in self.steps for item in step.inputs if isinstance(item, Key) and item not in made)
        self.inputs = list(dict.fromkeys(taken))
        self.values = [values[key] for key in self.inputs]

    def compiled(self) -> Any:
        """What the last operation gives, compiled with the others."""

        def last(*arrays: Any) -> Any:
            return Steps(self.inputs, self.steps, []).values(arrays)[self.last]

        return jax.jit(last)(*self.values)


def _explain(
    compared: Comparison,
    function: Callable,
    steps: Steps,
    first: Step,
    values: Mapping[Key, Any],
    names: Sequence[str],
    nan_bits: bool,
) -> None:
    """Asks `why` about the fewest operations that show the difference."""
    expected = values[first.outputs[0]]
    for depth in (1, 2, 4, 8, None):
        window = _Window(steps, first, values, depth)
        compiled = window.compiled()
        if difference("", None, expected, compiled, nan_bits):
            break
    argument_names = dict(zip(steps.arguments, names))
    makers = {output: step for step in steps.steps for output in step.outputs}

    def fewest() -> Tuple[Trace, Node]:
        tracer = _Tracer(Recorder(_plain(function)))
        for key, value in zip(window.inputs, window.values):
            maker = makers.get(key)
            made = f"what lax.{maker.name} gives, op by op" if maker else None
            tracer.input(argument_names.get(key, "v"), key, np.asarray(value), made)
        for step in window.steps:
            tracer.step(step)
        node = tracer.result(first.outputs[0])
        return tracer.recorder.finish([node], {}), node

    compared.explain(fewest, [array_of(expected), array_of(compiled)], "xla")
