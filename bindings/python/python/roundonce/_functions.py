"""`why` about a function: it is traced, run, and asked about."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _numpy
from ._reports import Report, why_of_text
from ._trace import BOOL, Node, Trace, Untraceable, code_of

MODULES = ("torch", "jax")
"""The libraries beside NumPy, whose tracers are modules of these names."""


class FunctionReport(Report):
    """What `why` says about a function: `trace` has its statements, `answers` a report for each name that was asked about.
    `data` has both."""

    def __init__(self, trace: Trace, answers: Dict[str, Report]) -> None:
        self.trace = trace
        self.answers = answers
        self.lines = trace.lines()
        for answer in answers.values():
            self.lines += [[("plain", "")], *answer.lines]
        self.data = {"function": trace.data(), "answers": {name: answer.data for name, answer in answers.items()}}


@overload
def why(
    expression: str,
    *,
    saw: Any = ...,
    reassociate: bool = ...,
    any_nan: bool = ...,
    allow: str = ...,
    toolchain: Optional[str] = ...,
    type: Optional[str] = ...,
    as_: Optional[str] = ...,
    profile: Optional[str] = ...,
    **values: Any,
) -> Report: ...
@overload
def why(
    expression: Callable,
    *inputs: Any,
    saw: Any = ...,
    reassociate: bool = ...,
    any_nan: bool = ...,
    allow: str = ...,
    toolchain: Optional[str] = ...,
    profile: Optional[str] = ...,
    **values: Any,
) -> FunctionReport: ...
def why(
    expression: Union[str, Callable],
    *inputs: Any,
    saw: Any = (),
    reassociate: bool = False,
    any_nan: bool = False,
    allow: str = "",
    toolchain: Optional[str] = None,
    type: Optional[str] = None,
    as_: Optional[str] = None,
    profile: Optional[str] = None,
    **values: Any,
) -> Report:
    """Which evaluation of an expression, or of a function, gives each seen value, or array.

    Of an expression, `values` are the names' values. A value is a NumPy array or scalar of float16, bfloat16, float32 or
    float64, a Python number, or text with its type as the command reads it (``"1.5f"``, ``"0x3c00:f16"``).
    `saw` is one value or a list of them, each an array of the result's shape if a name is an array; of single values plain
    decimals, as text or Python numbers, are matched to the digits given. A dictionary gives arrays names for the report,
    which calls them ``saw[0]`` and so on otherwise. ``sum(a*b, 1)`` sums over an axis.

    A function of NumPy, torch or JAX is called with `inputs` and `values`, and traced into an expression, which the
    report begins with (a `FunctionReport`). `saw` is then about what it returns; a dictionary asks about statements, by
    the names of the function's variables or ``t1``, ``t2``. Without `saw` it is what the function itself returns here, each
    of two times: a compiled one (``jax.jit``, ``torch.compile``) may compute otherwise than it says.

    `reassociate` lets sums be taken in any order; of arrays `any_nan` takes one NaN for another. `allow` names the modes
    that may be causes, with commas between: directed, sat, fmz, sm1x. `toolchain` is whose options are advised (nvcc,
    clang, gcc, glsl and others; all of them without it).

    Literals and Python numbers have the type that NumPy gives them, which is that of the values beside them and float64 alone,
    unless `type` (f16, bf16, f32, f64) says otherwise, or `as_`, the language whose rules give them their types: c, cuda,
    numpy, torch, jax, julia, glsl, wgsl; those of a function have the types that its library gives them. `profile` is as
    for `eval`.

    Raises `Error` with the place in the expression, or about a value; TypeError names the type of an array;
    `Untraceable` names what a function does that has no form in an expression, and its line.

    >>> def residual(a, b, c):
    ...     product = a * b
    ...     return product + c
    >>> a = np.uint32([0x3F800001]).view(np.float32)
    >>> c = np.uint32([0xBF800002]).view(np.float32)
    >>> report = why(residual, a, a, c, saw=roundonce.fma(a, a, c))
    >>> report.trace.text()
    'product = a * a; product + c'
    >>> report.answers["t2"].data["seen"][0]["groups"][0]["sentence"]
    'fuses `a * a` into the sum, which rounds once'
    """
    how: Dict[str, Any] = {
        "reassociate": reassociate,
        "any_nan": any_nan,
        "allow": allow,
        "toolchain": toolchain,
        "type": type,
        "as_": as_,
        "profile": profile,
    }
    if not callable(expression):
        if inputs:
            raise TypeError(f"an expression's values have names: `{inputs[0]!r}` has none")
        return why_of_text(expression, saw=saw, **how, **values)
    if type is not None or as_ is not None:
        raise TypeError("`type` and `as_` are for expressions: a function's literals have the types its library gives them")
    traced, seen = seen_of(expression, inputs, values, saw)
    return FunctionReport(traced, {name: ask(traced, traced.named(name), given, how) for name, given in seen.items()})


def why_sides(expression: Union[str, Callable], sides: Mapping[str, Any], values: Mapping[str, Any]) -> Report:
    """`why` of arrays that have names: of an expression, or of what a function returns."""
    if not callable(expression):
        return why_of_text(expression, saw=sides, **values)
    traced, seen = seen_of(expression, (), values, list(sides.values()))
    ((name, arrays),) = seen.items()
    return FunctionReport(traced, {name: ask(traced, traced.named(name), dict(zip(sides, arrays)), {})})


def trace(function: Callable, *inputs: Any, **values: Any) -> Trace:
    """A function of NumPy, torch or JAX as statements of the expression language: `text()` gives them, `str` with the type
    and the line of each.

    >>> def residual(a, b, c):
    ...     product = a * b
    ...     return product + c
    >>> trace(residual, *np.ones((3, 2), np.float32)).text()
    'product = a * b; product + c'

    Inputs are as for `why`; tensors of torch's device ``meta`` do too. Raises `Untraceable`.
    """
    return _traced(function, inputs, values)[0]


def _traced(function: Callable, inputs: Sequence[Any], values: Mapping[str, Any]) -> Tuple[Trace, Callable]:
    """A function's trace, and what gives the list of its results."""
    library = library_of(function, [*inputs, *values.values()]) or _named_by(function) or _numpy
    traced, again = (library.trace(function, inputs, values) for _ in range(2))
    if not traced.is_same(again):
        reason = "it computes with other numbers when it runs again: make random numbers before, and give them as an argument"
        raise Untraceable(traced.function, reason, traced.place)
    return traced, library.run(function)


def seen_of(
    function: Callable, inputs: Sequence[Any], values: Mapping[str, Any], saw: Any
) -> Tuple[Trace, Dict[str, List[Any]]]:
    """A function's trace, and what was seen of each name."""
    traced, run = _traced(function, inputs, values)
    if isinstance(saw, Mapping):
        return traced, {name: seen_list(given) for name, given in saw.items()}
    if _is_omitted(saw):
        returned, again = (list(map(array_of, run(*inputs, **values))) for _ in range(2))
        if any(_differ(one, other) for one, other in zip(returned, again)):
            reason = "it returns other bits when it runs again: make random numbers before, and give them as an argument"
            raise Untraceable(traced.function, reason, traced.place)
        return traced, {node.name: [given] for node, given in zip(traced.results, returned)}
    if len(traced.results) > 1:
        names = ", ".join(node.name for node in traced.results)
        raise ValueError(f"{traced.function} returns {names}: say which was seen, as saw={{name: array}}")
    return traced, {traced.results[0].name: seen_list(saw)}


def _differ(one: Any, other: Any) -> bool:
    """Whether two results have other bits."""
    one, other = np.asarray(one), np.asarray(other)
    return one.shape != other.shape or one.tobytes() != other.tobytes()


def _is_omitted(saw: Any) -> bool:
    return isinstance(saw, (list, tuple)) and not saw


def seen_list(saw: Any) -> List[Any]:
    """One seen value, or a list of them."""
    return [array_of(value) for value in (saw if isinstance(saw, (list, tuple)) else [saw])]


def library_of(function: Callable, inputs: Sequence[Any]) -> Any:
    """The module of this package that traces a function: that of its inputs' library, else its own; None for NumPy."""

    def root(value: Any) -> str:
        return str(getattr(value, "__module__", "")).split(".")[0]

    roots = {root(base) for value in inputs for base in type(value).__mro__}
    roots |= {root(base) for base in type(function).__mro__}
    roots = {"jax" if name == "jaxlib" else name for name in roots}
    found = [name for name in MODULES if name in roots]
    if len(found) > 1:
        raise TypeError(f"the function and its inputs are of {' and '.join(found)}: expected one library")
    return _module(found[0]) if found else None


def _named_by(function: Callable) -> Any:
    """The same by the modules that a function names, and by those that have wrapped it, as ``jax.grad`` does: it may be
    given arrays of NumPy."""
    code, globals_ = code_of(function), getattr(inspect.unwrap(function), "__globals__", {})
    named = [globals_.get(name) for name in (code.co_names if code else ())]
    roots = {item.__name__.split(".")[0] for item in named if inspect.ismodule(item)}
    layer = function
    while hasattr(layer, "__wrapped__"):
        roots.add(str(getattr(layer, "__globals__", {}).get("__name__", "")).split(".")[0])
        layer = layer.__wrapped__
    found = [name for name in MODULES if name in roots]
    return _module(found[0]) if len(found) == 1 else None


def _module(library: str) -> Any:
    return importlib.import_module(f"roundonce.{library}")


def array_of(value: Any) -> Any:
    """A value as NumPy has it; text and numbers as they are."""
    if isinstance(value, (str, int, float, np.ndarray, np.generic)):
        return value
    library = library_of(array_of, [value])
    return np.asarray(value) if library is None else library.array_of(value)


def ask(
    trace: Trace,
    result: Node,
    saw: Union[List[Any], Dict[str, Any]],
    how: Dict[str, Any],
    chosen: Optional[np.ndarray] = None,
) -> Report:
    """What gives the seen values of one statement, with their names or without; of some elements, where they are chosen."""
    if result.format == BOOL:
        raise Untraceable(result.name, "it compares: ask about what it compares", trace.place)
    named = saw if isinstance(saw, dict) else {f"saw[{index}]": array for index, array in enumerate(saw)}
    named = {name: _without_axes(array, len(result.shape)) for name, array in named.items()}
    saw = named if isinstance(saw, dict) else list(named.values())
    operations = trace.needed(result)
    sums = [operation.node for operation in operations if operation.is_reduction]
    given = [node for node in sums[:-1] if node.value is not None]
    if given:
        names = ", ".join(node.name for node in given)
        trace.notes.append(f"{names}: as computed here; {result.name} is asked about from there on, with one sum or product")
    values = {node.name: node.value for node in trace.leaves(result, given)}
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise ValueError(f"{', '.join(missing)} has no values: trace the function with some, or ask `trace.text()`")
    if not any(operation.is_reduction for operation in operations):
        values = {name: _broadcast(value, result.shape) for name, value in values.items()}
        if chosen is not None:
            values = {name: value.reshape(-1)[chosen] for name, value in values.items()}
            saw = {name: array.reshape(-1)[chosen] for name, array in named.items()}
    return why_of_text(trace.text(result, given), saw=saw, **how, **values)


def _without_axes(value: Any, count: int) -> Any:
    """An array of so many axes, without those of length 1 before them: a trace does not count these."""
    extra = np.ndim(value) - count if isinstance(value, np.ndarray) else 0
    return value[(0,) * extra] if extra > 0 and value.shape[:extra] == (1,) * extra else value


def _broadcast(value: Any, shape: Tuple[int, ...]) -> Any:
    """A value in the shape of a result that is computed element by element."""
    value = np.asarray(value)
    if shape:
        return np.broadcast_to(value, shape)
    return value.reshape(())[()]
