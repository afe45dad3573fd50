"""Functions of torch: traced into the expression language for `why`, and compared between devices.

``pip install roundonce[torch]``. What runs is seen as ATen's operations, also inside modules. Reading order: `_aten.py`
(the operations' forms), `trace`, `compare`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map
except ImportError as error:
    raise ImportError("roundonce.torch wants torch: pip install roundonce[torch]") from error

from . import _aten
from ._compare import Comparison, Difference, difference
from ._trace import Node, Place, Trace, call, caller, name_of, names_of

__all__ = ["Comparison", "compare"]


def _plain(function: Callable) -> Callable:
    """A function as it was before it was compiled."""
    while True:
        inner = getattr(function, "_torchdynamo_orig_callable", None) or getattr(function, "_orig_mod", None)
        if inner is None:
            return function
        function = inner


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray, np.generic))


def _tensor(value: Any) -> Any:
    """A tensor of what is an array; other values as they are."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    return torch.from_numpy(np.array(value)) if _is_tensor(value) else value


def trace(function: Callable, inputs: Sequence[Any], named: Optional[Mapping[str, Any]] = None) -> Trace:
    """Traces a function of torch, a module or a `torch.fx` graph, by the operations of ATen that it runs. Tensors are
    inputs, also those of a module by their names; other values are constants. Tensors of the device ``meta`` have no
    values: their trace has a text, and `why` cannot ask about it.

    >>> trace(lambda x, y: torch.exp(x) * y, [torch.ones(2), torch.ones(2)]).text()
    't1 = exp(x); t1 * y'

    Raises `Untraceable`.
    """
    plain = _plain(function)
    tracer = _aten.Tracer(plain)
    given = [(name, _tensor(value)) for name, value in [*zip(names_of(plain, inputs), inputs), *(named or {}).items()]]
    if not any(_is_tensor(value) for _, value in given):
        given = [(name, torch.tensor(value) if isinstance(value, float) else value) for name, value in given]
    # The function may write into its inputs.
    given = [(name, value.clone() if _is_tensor(value) else value) for name, value in given]
    for name, value in given:
        tracer.input(name, value)
    if isinstance(plain, torch.nn.Module):
        for name, value in [*plain.named_parameters(), *plain.named_buffers()]:
            tracer.input(name.replace(".", "_"), value)
    values = [value for _, value in given]
    with torch.no_grad(), _TracingMode(tracer):
        returned, variables = call(plain, values[: len(inputs)], dict(given[len(inputs) :]))
    results = [tracer.result(value) for value in tree_leaves(returned)]
    return tracer.recorder.finish(results, tracer.names(variables))


class _TracingMode(TorchDispatchMode):
    """Gives each operation to a tracer as it runs."""

    def __init__(self, tracer: _aten.Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.tracer.run(function, args, kwargs or {}, caller())


def run(function: Callable) -> Callable:
    """The function as `why` runs it: on copies, without gradients, and with its results in a list."""

    def results(*inputs: Any, **named: Any) -> List[Any]:
        with torch.no_grad():
            returned = function(*map(_copy, inputs), **{name: _copy(value) for name, value in named.items()})
        return list(tree_leaves(returned))

    return results


def _copy(value: Any) -> Any:
    return _tensor(value).clone() if _is_tensor(value) else value


def array_of(value: Any) -> np.ndarray:
    """A tensor as NumPy has it; of bfloat16 by ml_dtypes."""
    return _aten.array_of(value)


@dataclass
class _Call:
    """An operation that ran, with copies of what it took and gave."""

    function: Any
    args: Any
    kwargs: Dict[str, Any]
    outputs: List[torch.Tensor]
    place: Optional[Place]

    @property
    def name(self) -> str:
        return _aten.spelled(self.function)

    def again(self, move: Callable[[Any], Any]) -> List[torch.Tensor]:
        """What it gives where what it takes is moved to another device, or to another type."""
        args, kwargs = tree_map(move, (self.args, self.kwargs))
        with torch.no_grad():
            return _tensors(self.function(*args, **kwargs))

    def differs(self, others: Sequence[torch.Tensor], nan_bits: bool) -> Optional[Difference]:
        """How its first output that differs does, from what another side gave."""
        for own, other in zip(self.outputs, others):
            found = difference(self.name, self.place, array_of(own), array_of(other.to(own.dtype)), nan_bits)
            if found:
                return found
        return None


def _tensors(value: Any) -> List[torch.Tensor]:
    return [item for item in tree_leaves(value) if isinstance(item, torch.Tensor)]


def _frozen(value: Any) -> Any:
    """What an operation takes, as a whole structure, with tensors that nothing else changes."""
    return tree_map(lambda item: item.detach().clone() if isinstance(item, torch.Tensor) else item, value)


class _RecordingMode(TorchDispatchMode):
    """Keeps each operation that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: List[_Call] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own_args, own_kwargs = _frozen((args, kwargs or {}))
        returned = function(*args, **(kwargs or {}))
        self.calls.append(_Call(function, own_args, own_kwargs, _tensors(_frozen(returned)), caller()))
        return returned


def _recorded(
    function: Callable, inputs: Sequence[Any], named: Mapping[str, Any]
) -> Tuple[List[torch.Tensor], List[_Call]]:
    """The tensors that a function returns, and its operations."""
    mode = _RecordingMode()
    with torch.no_grad(), mode:
        returned = function(*inputs, **named)
    return _tensors(returned), mode.calls


def compare(
    function: Callable,
    *inputs: Any,
    devices: Tuple[str, str] = ("cpu", "cuda"),
    nan_bits: bool = False,
    **named: Any,
) -> Comparison:
    """Runs a function on two devices and compares the bits: of the results, of each operation, and of each operation from
    the same inputs.

    The second may also be ``"compile"``, what ``torch.compile`` makes of the function on the first device, whose inner
    values cannot be seen: there the operations are compared with themselves in float64; or ``"float64"``, the same operations in float64, rounded to the type of each. Where a device is
    missing it is ``"compile"``, and where that does not work ``"float64"``: `sides` and `notes` say so. Two NaNs are equal
    unless `nan_bits`. Operations that make random numbers do not make them twice.

    >>> compared = compare(lambda x: x * 3 + 1, torch.ones(3), devices=("cpu", "float64"))
    >>> compared.sides, compared.equal, compared.operations
    (('cpu', 'cpu in float64'), True, 2)
    """
    plain = _plain(function)
    given = {name: _tensor(value) for name, value in named.items()}
    tensors = [_tensor(value) for value in inputs]
    notes: List[str] = []
    first, second = devices
    missing = [device for device in devices if device not in ("compile", "float64") and not _is_there(device)]
    if missing:
        notes += [f"there is no device {device}" for device in missing]
        first, second = "cpu", "compile"
    move = _on(first)
    plain, tensors, given = move(plain), list(map(move, tensors)), tree_map(move, given)
    if second == "compile":
        try:
            return _with_compiled(plain, first, tensors, given, nan_bits, notes)
        except Exception as error:  # What torch.compile lacks, it says in many ways.
            if not missing:
                raise
            notes.append(f"torch.compile does not work here: {str(error).strip().splitlines()[0][:200]}")
            second = "float64"
    if second == "float64":
        return _by_operation(plain, (first, f"{first} in float64"), _in_float64, tensors, given, nan_bits, notes)
    return _by_operation(plain, (first, second), _on(second), tensors, given, nan_bits, notes)


def _is_there(device: str) -> bool:
    try:
        torch.empty(1, device=device)
    except (AssertionError, RuntimeError):
        return False
    return True


def _on(device: str) -> Callable[[Any], Any]:
    """Moves tensors, modules and names of devices to a device."""

    def move(value: Any) -> Any:
        if isinstance(value, torch.nn.Module):
            return copy.deepcopy(value).to(device)
        if isinstance(value, torch.Tensor):
            return value.detach().to(device, copy=True)
        return torch.device(device) if isinstance(value, torch.device) else value

    return move


def _in_float64(value: Any) -> Any:
    """Tensors and modules of floats in float64."""
    if isinstance(value, torch.nn.Module):
        return copy.deepcopy(value).double()
    if isinstance(value, torch.Tensor):
        return value.detach().double() if value.is_floating_point() else value.detach().clone()
    return value


def _by_operation(
    function: Callable,
    names: Tuple[str, str],
    side: Callable[[Any], Any],
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    nan_bits: bool,
    notes: List[str],
) -> Comparison:
    """Compares a function with what it is on another side, where operations are seen on both."""
    moved = side(function), list(map(side, inputs)), tree_map(side, dict(named))
    one, calls = _recorded(function, inputs, named)
    other, others = _recorded(*moved)
    compared = Comparison(name_of(function), names, _results(name_of(function), one, other, nan_bits), notes=notes)
    compared.operations = len(calls)
    for own, theirs in zip(calls, others):
        if own.function is not theirs.function:
            notes.append(f"from {own.name} on the sides run other operations: the second has {theirs.name}")
            break
        compared.first = own.differs(theirs.outputs, nan_bits)
        if compared.first:
            break
    apart = _apart(calls, side, nan_bits, notes)
    compared.own = [differs for _, _, differs in apart]
    compared.own_means = "differ from the same inputs"
    if apart:
        own, again, _ = apart[0]
        _explain(compared, own, again, nan_bits)
    return compared


def _apart(
    calls: Sequence[_Call], side: Callable[[Any], Any], nan_bits: bool, notes: List[str]
) -> List[Tuple[_Call, List[torch.Tensor], Difference]]:
    """The operations that give something else on another side, from the same inputs, and what they give there."""
    apart = []
    for own in calls:
        try:
            again = own.again(side)
        except (RuntimeError, TypeError) as error:
            notes.append(f"{own.name} does not run on the other side: {str(error).strip().splitlines()[0][:200]}")
            continue
        differs = own.differs(again, nan_bits)
        apart += [(own, again, differs)] if differs else []
    return apart


def _differs(one: torch.Tensor, other: torch.Tensor, nan_bits: bool) -> bool:
    return difference("", None, array_of(one), array_of(other.to(one.dtype)), nan_bits) is not None


def _results(name: str, one: Sequence[torch.Tensor], other: Sequence[torch.Tensor], nan_bits: bool) -> List[Difference]:
    """The results that differ."""
    labels = [name if len(one) == 1 else f"{name}[{index}]" for index in range(len(one))]
    found = (
        difference(label, None, array_of(own), array_of(theirs.to(own.dtype)), nan_bits)
        for label, own, theirs in zip(labels, one, other)
    )
    return [result for result in found if result]


def _with_compiled(
    function: Callable, device: str, inputs: Sequence[Any], named: Mapping[str, Any], nan_bits: bool, notes: List[str]
) -> Comparison:
    """Compares with what torch.compile makes of it."""
    eager = _tensors(run(function)(*inputs, **named))
    compiled = _tensors(run(torch.compile(function))(*inputs, **named))
    results = _results(name_of(function), eager, compiled, nan_bits)
    notes.append("the values inside a compiled function cannot be seen: only the results were compared")
    compared = Comparison(name_of(function), (device, f"{device} by torch.compile"), results, notes=notes)
    if not results:
        return compared
    _, calls = _recorded(function, list(map(_copy, inputs)), {name: _copy(value) for name, value in named.items()})
    compared.operations = len(calls)
    compared.own = [differs for _, _, differs in _apart(calls, _in_float64, nan_bits, notes)]
    compared.own_means = "do not round once when they are not compiled: they differ from themselves in float64"
    differing = next(index for index, pair in enumerate(zip(eager, compiled)) if _differs(*pair, nan_bits))

    def whole() -> Tuple[Trace, Node]:
        traced = trace(function, inputs, named)
        return traced, traced.results[differing]

    compared.explain(whole, [array_of(eager[differing]), array_of(compiled[differing])], "torch")
    return compared


def _explain(compared: Comparison, own: _Call, again: Sequence[torch.Tensor], nan_bits: bool) -> None:
    """Asks `why` about one operation, whose outputs on the other side are these."""
    pairs = list(zip(own.outputs, again))
    position = next(index for index, pair in enumerate(pairs) if _differs(*pair, nan_bits))
    one, other = pairs[position]
    names = [argument.name for argument in own.function._schema.arguments]
    given = {**dict(zip(names, own.args)), **own.kwargs}
    tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
    rest = {name: value for name, value in given.items() if name not in tensors}

    def operation(**tensors: Any) -> Any:
        return _tensors(own.function(**tensors, **rest))[position]

    operation.__name__ = own.name
    def alone() -> Tuple[Trace, Node]:
        traced = trace(operation, [], tensors)
        traced.place = own.place
        traced.operations = [replace(made, place=own.place) for made in traced.operations]
        return traced, traced.results[0]

    compared.explain(alone, [array_of(one), array_of(other.to(one.dtype))], "torch")
