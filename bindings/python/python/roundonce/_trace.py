"""A function as statements of the expression language: the form that the tracers of NumPy, torch and JAX share.

Reading order: `Node` (a value: an input or what an operation gives), `Operation`, `Trace` (all of them, and their text),
`Recorder` (what a tracer fills). `_numpy.py`, `torch.py` and `jax.py` are the tracers, `_functions.py` asks `why`.
"""

from __future__ import annotations

import copyreg
import inspect
import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Collection, Dict, Iterator, List, Mapping, NoReturn, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ._arrays import format_of

Shape = Tuple[int, ...]

MOST_TEXT = 20_000
"""Characters of an expression in a sum."""

BOOL = "bool"
"""The format of a comparison, which is 1 or 0."""

LIBRARIES = {"numpy", "torch", "jax", "jaxlib", "roundonce"}

_RESERVED = {"const", "let", "var", "auto", "local", "return", "volatile", "constexpr", "static"} | {
    *("float", "half", "double", "bfloat16", "int", "long", "f16", "bf16", "f32", "f64", "i32", "i64"),
    *("float16", "float32", "float64", "int32", "int64"),
}
"""Names that the language reads otherwise."""


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


_refusals: ContextVar[Optional[List["Untraceable"]]] = ContextVar("_refusals", default=None)
"""What was refused in the function that is traced now. Libraries and the function itself may catch it: torch's operators
take a TypeError for an operand that they do not know."""


NO_EXTREME = "the greatest or least of computed values has no form in an expression: compute it before, and give it as an argument"
"""Why a maximum is refused that is none of an input."""


class Untraceable(TypeError):
    """What a function does that the expression language cannot say: `operation`, and its `file` and `line`."""

    def __init__(self, operation: str, reason: str, place: Optional[Place]) -> None:
        self.operation = operation
        self.file = place.file if place else None
        self.line = place.line if place else None
        refused = _refusals.get()
        if refused is not None:
            refused.append(self)
        super().__init__(f"{place}: {operation}: {reason}" if place else f"{operation}: {reason}")

    def __reduce__(self) -> Tuple[Any, ...]:
        # What is read again has its text already, and refuses nothing.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


def refuse_unknown(operation: str, known: Sequence[str], place: Optional[Place]) -> NoReturn:
    """Refuses an operation that has no form in the language."""
    reason = f"it has no form in the expression language; those that have one are {', '.join(known)}"
    raise Untraceable(operation, reason, place)


def refuse_decision(operation: str, place: Optional[Place]) -> NoReturn:
    """Refuses control flow that depends on a value."""
    reason = (
        "what the function does next depends on a value; an expression has no branches: trace the branch that was "
        "taken as a function of its own"
    )
    raise Untraceable(operation, reason, place)


def caller() -> Optional[Place]:
    """The line of the caller's that runs now: the innermost one outside the libraries."""
    frame = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if module not in LIBRARIES and not frame.f_code.co_filename.startswith("<frozen"):
            return Place(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return None


class Node:
    """A value of a trace. `value` is what it is for the inputs given, if they have values."""

    def __init__(self, name: str, format: str, shape: Shape, value: Any, is_input: bool) -> None:
        self.name = name
        self.format = format
        self.shape = shape
        self.value = value
        self.is_input = is_input


@dataclass(frozen=True)
class Operation:
    """One operation: a template of the language with its operands, each a literal or a node and the type it is cast to."""

    node: Node
    template: str
    operands: Tuple[Union[str, Tuple[Node, Optional[str]]], ...]
    spelled: str
    """As its library calls it."""
    place: Optional[Place]

    @property
    def is_reduction(self) -> bool:
        """Whether it takes several elements together."""
        return is_reduction(self.template)

    @property
    def is_atom(self) -> bool:
        """Whether nothing that stands beside it takes a part of it."""
        return not any(sign in self.template for sign in _SIGNS)

    @property
    def text(self) -> str:
        """The operation as an expression."""
        return self.written(lambda node: node.name)

    def written(self, name: Callable[[Node], str]) -> str:
        """The same with other names for its nodes."""
        return self.template.format(*(_operand_text(operand, name) for operand in self.operands))

    def needs(self) -> Iterator[Node]:
        """The nodes that it takes."""
        return (operand[0] for operand in self.operands if not isinstance(operand, str))


def _operand_text(operand: Union[str, Tuple[Node, Optional[str]]], name: Callable[[Node], str]) -> str:
    if isinstance(operand, str):
        return operand
    node, cast = operand
    return f"{cast}({name(node)})" if cast else name(node)


_KEEPS = ", keepdims=True"
_SIGNS = (" + ", " - ", " * ", " / ", " @ ", " < ", " > ", " <= ", " >= ", " == ", " != ", "-{")


def is_reduction(template: str) -> bool:
    """Whether an operation takes several elements together."""
    return template.startswith(("sum(", "mean(")) or " @ " in template


def reduced(word: str, axis: Optional[int], keeps_axis: bool) -> str:
    """The template of a sum or a mean over an axis, or over all."""
    where = "" if axis is None else f", {axis}"
    return f"{word}({{0}}{where}{_KEEPS if keeps_axis else ''})"


def in_format(value: Any, format: str) -> Any:
    """A number in a format, to nearest even."""
    with np.errstate(over="ignore"):
        return _bfloat16(float(value)) if format == "bf16" else np.dtype(f"float{format[1:]}").type(value)


def literal(value: Any, format: str) -> str:
    """A number as the language writes it, with its type, rounded to it."""
    rounded = in_format(value, format)
    number = float(rounded)
    if not np.isfinite(number):
        bits = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[format]
        digits = {"f16": 4, "bf16": 4, "f32": 8, "f64": 16}[format]
        if np.isnan(number):
            bits |= bits >> 1 & ~bits
        text = f"0x{bits:0{digits}x}:{format}"
        return f"(-{text})" if number < 0 else text
    text = str(rounded) + {"f16": "h", "bf16": "b", "f32": "f", "f64": ":f64"}[format]
    return f"({text})" if np.signbit(number) else text


def _bfloat16(value: float) -> float:
    """A number rounded to float32 and to bfloat16, as NumPy and torch convert it."""
    single = np.float32(value)
    if not np.isfinite(single):
        return float(single)
    bits = int(single.view(np.uint32))
    return float(np.uint32((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32))


@dataclass
class Trace:
    """A function traced: `text` gives it as statements."""

    function: str
    place: Optional[Place]
    inputs: List[Node]
    operations: List[Operation]
    results: List[Node]
    made: Dict[str, str] = field(default_factory=dict)
    """Inputs that the function made: a part of an argument, or a constant."""
    notes: List[str] = field(default_factory=list)

    def named(self, name: str) -> Node:
        """A result or what a statement gives, by its name."""
        known = {operation.node.name: operation.node for operation in self.operations}
        if name in known:
            return known[name]
        raise ValueError(f"{self.function} has no statement for `{name}`: expected one of {', '.join(known) or 'none'}")

    def is_same(self, other: Trace) -> bool:
        """Whether another trace of the function has the same statements, and the function made the same constants for it."""

        def made(trace: Trace) -> List[Tuple[str, Any]]:
            return [(node.name, np.asarray(node.value).tobytes()) for node in trace.inputs if node.name in trace.made]

        def texts(trace: Trace) -> List[str]:
            return [operation.text for operation in trace.operations]

        return texts(self) == texts(other) and made(self) == made(other)

    def needed(self, result: Node, given: Collection[Node] = ()) -> List[Operation]:
        """The operations that a value takes, in their order, where some have values already."""
        wanted: Set[int] = {id(result)}
        known = {id(node) for node in given}
        kept = []
        for operation in reversed(self.operations):
            if id(operation.node) in wanted - known:
                kept.append(operation)
                wanted |= {id(node) for node in operation.needs()}
        return kept[::-1]

    def text(self, result: Optional[Node] = None, given: Collection[Node] = ()) -> str:
        """The statements that a result takes, its own the last; of the first result unless said otherwise. Nodes that are
        `given` are inputs. What a sum is of stands within it, and the sum first, as the language wants it."""
        result = self.results[0] if result is None else result
        operations = self.needed(result, given)
        last = operations[-1]
        sums = [operation for operation in operations if operation.is_reduction]
        texts = {id(operation): operation.text for operation in operations}
        if len(sums) == 1:
            within = self.needed(sums[0].node, given)
            texts[id(sums[0])] = self._within(sums[0], within)
            outside = self.needed(result, [*given, sums[0].node])
            operations = [*sums, *outside] if last is not sums[0] else sums
        *others, last = operations
        return "; ".join([*(f"{operation.node.name} = {texts[id(operation)]}" for operation in others), texts[id(last)]])

    def _within(self, last: Operation, operations: Sequence[Operation]) -> str:
        """Operations as one expression."""
        made = {id(operation.node): operation for operation in operations}
        texts: Dict[int, str] = {}
        for operation in operations:

            def name(node: Node, stands_apart: bool = operation.is_atom) -> str:
                text = texts.get(id(node), node.name)
                return text if stands_apart or id(node) not in made or made[id(node)].is_atom else f"({text})"

            text = texts[id(operation.node)] = operation.written(name)
            if len(text) > MOST_TEXT:
                raise Untraceable(last.node.name, f"what it is of takes more than {MOST_TEXT:,} characters", last.place)
        return texts[id(last.node)]

    def leaves(self, result: Node, given: Collection[Node] = ()) -> List[Node]:
        """The inputs that a value takes, and the nodes that are given."""
        wanted = {id(node) for operation in self.needed(result, given) for node in operation.needs()}
        return [node for node in [*self.inputs, *given] if id(node) in wanted]

    def __str__(self) -> str:
        return "\n".join("".join(text for _, text in line) for line in self.lines())

    def lines(self) -> List[List[Tuple[str, str]]]:
        """The statements for a reader: pieces of text with their roles."""
        arguments = ", ".join(node.name for node in self.inputs if node.name not in self.made)
        place = f"   traced from {self.place}" if self.place else ""
        lines = [[("strong", f"{self.function}({arguments})"), ("faint", place)]]
        lines += [[("plain", f"  {name} is {what}")] for name, what in self.made.items()]
        rows = [(f"  {operation.node.name} = {operation.text}", operation) for operation in self.operations]
        width = min(44, max((len(text) for text, _ in rows), default=0))
        for text, operation in rows:
            where = f" {operation.place}" if operation.place else ""
            lines.append([("plain", text.ljust(width)), ("faint", f"  {operation.node.format} {operation.spelled}{where}")])
        if len(self.results) > 1 or self.results[0] is not self.operations[-1].node:
            lines.append([("plain", f"  returns {', '.join(node.name for node in self.results)}")])
        return lines + [[("faint", f"  {note}")] for note in self.notes]

    def data(self) -> Dict[str, Any]:
        """The same as plain data."""

        def where(place: Optional[Place]) -> Dict[str, Any]:
            return {"file": place.file, "line": place.line} if place else {}

        statements = [
            {
                "name": operation.node.name,
                "text": operation.text,
                "type": operation.node.format,
                "operation": operation.spelled,
                **where(operation.place),
            }
            for operation in self.operations
        ]
        return {
            "name": self.function,
            **where(self.place),
            "inputs": {node.name: node.format for node in self.inputs},
            "made": self.made,
            "statements": statements,
            "results": [node.name for node in self.results],
            "notes": self.notes,
        }


class Recorder:
    """What a tracer records: inputs and operations."""

    def __init__(self, function: Callable) -> None:
        code = code_of(function)
        self.trace = Trace(name_of(function), Place(code.co_filename, code.co_firstlineno) if code else None, [], [], [])
        self._taken: Set[str] = set()
        self._parts: Dict[str, Tuple[str, str, Tuple[Any, ...]]] = {}

    def input(self, name: str, format: str, shape: Shape, value: Any, made: Optional[str] = None) -> Node:
        """An input; `made` says what it is, where it is no argument."""
        node = Node(self._free(name), format, shape, value, True)
        self.trace.inputs.append(node)
        if made:
            self.trace.made[node.name] = made
        return node

    def part(self, node: Node, what: str, shape: Shape, value: Any, indices: Sequence[np.ndarray] = ()) -> Node:
        """Some elements of an input, or the same in another order: an input of its own. Two parts are one where their texts
        and the arrays that they are selected by are equal: a text has a long array shortened."""
        root, path, exact = self._parts.get(node.name, (node.name, "", ()))
        selected = [(index.dtype.str, index.shape, index.tobytes()) for index in indices]
        here = root, path + what, (*exact, *selected)
        for known in self.trace.inputs:
            if self._parts.get(known.name) == here:
                return known
        part = self.input(root, node.format, shape, value, root + path + what)
        self._parts[part.name] = here
        return part

    def whole(self, node: Node, shape: Shape, spelled: str, place: Optional[Place]) -> Node:
        """A value as an operand of a sum, which has its shape: broadcasting is left to what computes element by element."""
        if node.shape == shape:
            return node
        if not node.is_input:
            raise Untraceable(spelled, f"of {node.name}, whose shape {node.shape} was made {shape} before", place)
        value = None
        if node.value is not None:
            single = np.size(node.value) == 1
            value = np.broadcast_to(np.reshape(node.value, ()) if single else node.value, shape)
        return self.part(node, f".broadcast{shape}", shape, value)

    def constant(self, array: np.ndarray, made: str = "an array that is no argument") -> Node:
        """An array that no input is; `made` says what it is."""
        known = next((node for node in self.trace.inputs if node.value is array), None)
        format = format_of(array.dtype)
        assert format is not None
        return known or self.input("k", format, array.shape, array, made)

    def operation(
        self,
        template: str,
        operands: Sequence[Any],
        format: str,
        shape: Shape,
        spelled: str,
        *,
        working: Optional[str] = None,
        value: Any = None,
        place: Optional[Place] = None,
    ) -> Node:
        """An operation that computes in the format `working`, that of its result unless said otherwise: nodes of another
        format are cast to it, numbers are rounded to it."""
        working = working or format

        def written(operand: Any) -> Union[str, Tuple[Node, Optional[str]]]:
            if isinstance(operand, Node):
                return operand, None if operand.format == working else working
            return literal(operand, working)

        node = Node(self._free(f"t{len(self.trace.operations) + 1}"), format, shape, value, False)
        given = tuple(written(operand) for operand in operands)
        self.trace.operations.append(Operation(node, template, given, spelled, place))
        return node

    def keep_axis(self, node: Node, shape: Shape) -> Optional[Node]:
        """A sum whose axis stays, of length 1: what it is if it has that shape; None if it is no sum or has another."""
        made = next((operation for operation in self.trace.operations if operation.node is node), None)
        if made is None or not made.template.startswith(("sum(", "mean(")) or _KEEPS in made.template:
            return None
        operand = next(made.needs())
        inside = made.template[:-1].split(", ")[1:]
        axes = [int(inside[0])] if inside else range(len(operand.shape))
        if tuple(1 if axis in axes else length for axis, length in enumerate(operand.shape)) != shape:
            return None
        value = None if node.value is None else np.reshape(node.value, shape)
        kept = Node(self._free(f"t{len(self.trace.operations) + 1}"), node.format, shape, value, False)
        self.trace.operations.append(replace(made, node=kept, template=f"{made.template[:-1]}{_KEEPS})"))
        return kept

    def cast(self, operand: Node, format: str, spelled: str, value: Any = None, place: Optional[Place] = None) -> Node:
        """A value rounded to another format; itself where it has it."""
        if operand.format == format:
            return operand
        shape = operand.shape
        return self.operation("{0}", [operand], format, shape, spelled, value=value, place=place)

    def finish(self, results: Sequence[Node], variables: Mapping[str, Optional[Node]]) -> Trace:
        """The trace, without what the function made and did not use. `variables` are the function's, with their values if
        these are traced. What no variable names has none of their names."""
        operations = self.trace.operations
        self._taken -= {operation.node.name for operation in operations}
        names = {id(node): name for name, node in variables.items() if name not in self._taken | _RESERVED}
        named = [operation.node for operation in operations if id(operation.node) in names]
        self._taken |= set(variables)
        for node in (operation.node for operation in operations):
            node.name = names.get(id(node)) or self._free(node.name)
        self.trace.results = list(results)
        wanted = {id(one) for node in [*results, *named] for one in self.trace.needed(node)}
        self.trace.operations = [one for one in self.trace.operations if id(one) in wanted]
        used = {id(node) for operation in self.trace.operations for node in operation.needs()}
        made = self.trace.made
        self.trace.inputs = [node for node in self.trace.inputs if id(node) in used or node.name not in made]
        self.trace.made = {node.name: made[node.name] for node in self.trace.inputs if node.name in made}
        return self.trace

    def _free(self, name: str) -> str:
        """A name that nothing else has."""
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        # What a module calls by a number, and what has no name.
        name = name if name[:1].isalpha() or name[:1] == "_" else f"p{name}"
        free, number = name, 0
        while free in self._taken or free in _RESERVED:
            number += 1
            free = f"{name}_{number}"
        self._taken.add(free)
        return free


def name_of(function: Callable) -> str:
    """What a function is called."""
    return getattr(function, "__name__", None) or type(function).__name__


def code_of(function: Any) -> Any:
    """The code of a function of Python's, through wrappers and modules; None where there is none."""
    function = inspect.unwrap(getattr(function, "func", function))
    if not inspect.isroutine(function):
        function = getattr(function, "forward", None) or getattr(type(function), "__call__", None)
    return getattr(function, "__code__", None)


def names_of(function: Callable, inputs: Sequence[Any]) -> List[str]:
    """The names of a function's parameters that take inputs by their place; several of one are numbered."""
    try:
        parameters = list(inspect.signature(getattr(function, "forward", function)).parameters.values())
    except (TypeError, ValueError):
        return [f"x{index}" for index in range(len(inputs))]
    names: List[str] = []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}_{index}" for index in range(len(inputs) - len(names))]
        elif parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    if len(names) < len(inputs):
        raise TypeError(f"{name_of(function)} takes {len(names)} inputs: found {len(inputs)}")
    return names[: len(inputs)]


def call(function: Callable, inputs: Sequence[Any], named: Dict[str, Any]) -> Tuple[Any, Dict[str, Any]]:
    """What a function returns, and its variables as it returns. What was refused in it first is raised, whatever became of it."""
    code = code_of(function)
    variables: Dict[str, Any] = {}

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            variables.update(frame.f_locals)

    refused: List[Untraceable] = []
    token = _refusals.set(refused)
    try:
        with _profiled(profile):
            returned = function(*inputs, **named)
    except Exception:
        if not refused:
            raise
    finally:
        _refusals.reset(token)
    if refused:
        raise refused[0]
    return returned, variables


@contextmanager
def _profiled(profile: Callable) -> Iterator[None]:
    """Sets the function that Python calls at calls and returns, and afterwards the one that was set before."""
    before: Any = sys.getprofile()
    if before is None or callable(before):
        sys.setprofile(profile)
        try:
            yield
        finally:
            sys.setprofile(before)
    elif hasattr(before, "enable") and hasattr(before, "disable"):
        # Up to Python 3.11, cProfile's: it is no function, and sets itself.
        before.disable()
        sys.setprofile(profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            before.enable()
    else:
        # What cannot be set again stays, and the function is not told.
        yield


def results_of(returned: Any) -> List[Any]:
    """What a function returns, one after the other."""
    items = returned.values() if isinstance(returned, dict) else returned if isinstance(returned, (list, tuple)) else None
    return [returned] if items is None else [result for item in items for result in results_of(item)]
