"""Functions of torch: traced into the expression language for `why`, and compared between devices.

``pip install roundonce[torch]``. What runs is seen as ATen's operations, also inside modules. Reading order: `_aten.py`
(the operations' forms), `trace`, `_runs.py` (the runs that are compared), `compare`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Collection, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map
except ImportError as error:
    raise ImportError("roundonce.torch wants torch: pip install roundonce[torch]") from error

from . import _aten
from ._aten import array_of
from ._compare import Comparison, Difference, difference
from ._runs import Call, Device, Float64, Side, in_type_of, is_there, recorded, restored, returns, same_numbers
from ._runs import tensors_of
from ._trace import Node, Trace, call, caller, name_of, names_of

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
    return _aten.tensor_of(value) if _is_tensor(value) else value


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
    with torch.no_grad(), restored(plain), _aten.Boundary(tracer), _TracingMode(tracer):
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
    """The function as `why` runs it: on copies, without gradients, and with its results in a list. What it holds is left as
    it was."""

    def results(*inputs: Any, **named: Any) -> List[Any]:
        with torch.no_grad(), restored(_plain(function)):
            returned = function(*map(_copy, inputs), **{name: _copy(value) for name, value in named.items()})
            return [value.detach().clone() if isinstance(value, torch.Tensor) else value for value in tree_leaves(returned)]

    return results


def _copy(value: Any) -> Any:
    return _tensor(value).clone() if _is_tensor(value) else value


_DEVICES = ("cpu", "cuda")
_WAYS = ("compile", "float64")
"""What may stand for the second device."""


def compare(
    function: Callable,
    *inputs: Any,
    devices: Optional[Tuple[str, str]] = None,
    nan_bits: bool = False,
    **named: Any,
) -> Comparison:
    """Runs a function on two devices and compares the bits: of the results, of each operation, and of each operation from
    the same inputs.

    `devices` are ``("cpu", "cuda")`` by default. The second may also be ``"compile"``, what ``torch.compile`` makes of the
    function on the first device, whose inner values cannot be seen: there the operations are compared with themselves in
    float64; or ``"float64"``, the same operations in float64, rounded to the type of each. A number beside a tensor has
    there the type that torch gives it here. Without CUDA, and with no `devices` given, it is ``"compile"``, and where that
    does not work ``"float64"``: `sides` and `notes` say so. ValueError names a device that is given and not there.

    Each run starts from the same state and draws the same random numbers of torch. Modules, the tensors that the function
    holds and the random numbers are left as they were. Gradients are on if they are where this is called. Results are
    tensors, arrays and Python numbers; `uncompared` has those that cannot be compared. Two NaNs are equal unless `nan_bits`.

    >>> compared = compare(lambda x: x * 3 + 1, torch.ones(3), devices=("cpu", "float64"))
    >>> compared.sides, compared.equal, compared.operations
    (('cpu', 'cpu in float64'), True, 2)
    """
    first, second, notes = _sides(devices)
    plain = first.move(_plain(function))
    given, more = tree_map(first.move, (list(map(_input, inputs)), {name: _input(value) for name, value in named.items()}))
    if isinstance(second, str):
        try:
            return _with_compiled(plain, first, given, more, nan_bits, notes)
        except Exception as error:  # What torch.compile lacks, it says in many ways.
            if not notes:
                raise
            notes.append(f"torch.compile does not work here: {_first_line(error)}")
            second = Float64()
    return _by_operation(plain, first, second, given, more, nan_bits, notes)


def _input(value: Any) -> Any:
    """A tensor of what is an array; other values as they are."""
    return value if isinstance(value, torch.Tensor) else _tensor(value)


def _sides(given: Optional[Tuple[str, str]]) -> Tuple[Device, Union[Side, str], List[str]]:
    """The sides by their names, and notes about what stands in for them."""
    devices = _DEVICES if given is None else given
    if not isinstance(devices, (tuple, list)) or len(devices) != 2 or not all(isinstance(name, str) for name in devices):
        raise TypeError(f"devices: expected the names of two: found {devices!r}")
    first, second = devices
    if first in _WAYS:
        raise ValueError(f"devices: {first!r} is a way to run what the first device runs: expected it second")
    missing = [name for name in devices if name not in _WAYS and not is_there(name)]
    notes = [f"there is no device {name}" for name in missing]
    if missing and given is not None:
        raise ValueError(f"devices: {notes[0]} here")
    if missing or second == "compile":
        return Device(first), "compile", notes
    return Device(first), Float64() if second == "float64" else Device(second), notes


def _label(side: Union[Side, str], first: Device) -> str:
    if isinstance(side, Device):
        return side.name
    return f"{first.name} in float64" if isinstance(side, Float64) else f"{first.name} by torch.compile"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _by_operation(
    function: Callable,
    first: Device,
    second: Side,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    nan_bits: bool,
    notes: List[str],
) -> Comparison:
    """Compares a function with what it is on another side, where operations are seen on both."""
    other = second.move(function)
    theirs, theirs_named = tree_map(second.move, (list(inputs), dict(named)))
    one, calls = recorded(function, first, inputs, named)
    compared = Comparison(name_of(function), (first.name, _label(second, first)), [], notes=notes)
    compared.operations = len(calls)
    try:
        two, others = recorded(other, second, theirs, theirs_named, calls)
    except Exception as error:  # Of any kind, as the first side raised none.
        compared.uncompared.append(f"it does not run on the other side: {_first_line(error)}")
    else:
        types = {value.dtype for call in calls for value in call.gave} if isinstance(second, Float64) else set()
        _results(compared, one, two, nan_bits, types)
        compared.first = _first(calls, others, nan_bits, notes)
    compared.own, apart = _apart(calls, second, nan_bits, notes)
    compared.own_means = "differ from the same inputs"
    if apart:
        _explain(compared, *apart, nan_bits)
    return compared


def _first(calls: Sequence[Call], others: Sequence[Call], nan_bits: bool, notes: List[str]) -> Optional[Difference]:
    """The first operation that differs, as far as the sides run the same ones."""
    for own, other in zip(calls, others):
        if own.function is not other.function:
            notes.append(f"from {own.name} on the sides run other operations: the second has {other.name}")
            return None
        if own.is_arbitrary:
            continue
        try:
            found = own.differs(other.gave, nan_bits)
        except TypeError as error:  # Their shapes do.
            notes.append(str(error))
            return None
        if found:
            return found
    return None


def _apart(
    calls: Sequence[Call], side: Side, nan_bits: bool, notes: List[str]
) -> Tuple[List[Difference], Optional[Tuple[Call, List[torch.Tensor]]]]:
    """How operations differ on another side from the same inputs, and the first that does with what it gives there."""
    apart: List[Difference] = []
    first = None
    for own in calls:
        if own.is_arbitrary:
            continue
        try:
            again = own.again(side)
        except (RuntimeError, TypeError) as error:
            notes.append(f"{own.name} does not run on the other side: {_first_line(error)}")
            continue
        try:
            differs = own.differs(again, nan_bits)
        except TypeError as error:  # Their shapes do.
            notes += [str(error)] if str(error) not in notes else []
            continue
        if differs:
            apart.append(differs)
            first = first or (own, again)
    return apart, first


def _differs(one: torch.Tensor, other: torch.Tensor, nan_bits: bool) -> bool:
    return difference("", None, array_of(one), in_type_of(one, other), nan_bits) is not None


def _results(
    compared: Comparison,
    one: Sequence[Any],
    other: Sequence[Any],
    nan_bits: bool,
    types: Collection[torch.dtype] = (),
) -> None:
    """Compares what the sides return. A Python number is of the narrowest of `types` that holds it, if there are any."""
    name = compared.function
    if len(one) != len(other):
        compared.uncompared.append(f"{name} returns {len(one)} values on one side, {len(other)} on the other")
        return
    if all(value is None for value in one):
        raise ValueError(f"{name} returns nothing: there is nothing to compare")
    for index, (own, theirs) in enumerate(zip(one, other)):
        label = name if len(one) == 1 else f"{name}[{index}]"
        if own is None and theirs is None or isinstance(own, str) and own == theirs:
            continue
        try:
            own, theirs = _as_tensor(label, own, types), _as_tensor(label, theirs)
            found = difference(label, None, array_of(own), in_type_of(own, theirs), nan_bits)
        except TypeError as error:
            compared.uncompared.append(str(error))
            continue
        compared.results += [found] if found else []


def _as_tensor(label: str, value: Any, types: Collection[torch.dtype] = ()) -> torch.Tensor:
    """A tensor of a result."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, float):
        number = torch.tensor(value, dtype=torch.float64)
        for dtype in sorted((dtype for dtype in types if dtype.is_floating_point), key=lambda dtype: dtype.itemsize):
            if number.to(dtype).double() == number:
                return number.to(dtype)
        return number
    if isinstance(value, (int, complex, np.ndarray, np.generic)):
        return torch.from_numpy(np.array(value))
    raise TypeError(f"{label} is of type {type(value).__name__}: expected tensors, arrays and numbers, in lists or the like")


def _with_compiled(
    function: Callable, first: Device, inputs: Sequence[Any], named: Mapping[str, Any], nan_bits: bool, notes: List[str]
) -> Comparison:
    """Compares with what torch.compile makes of it."""

    def copies() -> Tuple[List[Any], Dict[str, Any]]:
        # The function may write into its inputs.
        return tree_map(first.move, (list(inputs), dict(named)))  # type: ignore[no-any-return]

    eager = returns(function, *copies())
    # The compiled function would draw random numbers in its own way.
    compiled = returns(torch.compile(function, options={"fallback_random": True}), *copies(), function)
    compared = Comparison(name_of(function), (first.name, _label("compile", first)), [], notes=notes)
    _results(compared, eager, compiled, nan_bits)
    notes.append("the values inside a compiled function cannot be seen: only the results were compared")
    if not compared.results:
        return compared
    _, calls = recorded(function, first, *copies())
    compared.operations = len(calls)
    compared.own, _ = _apart(calls, Float64(), nan_bits, notes)
    compared.own_means = "do not round once when they are not compiled: they differ from themselves in float64"
    pairs = list(zip(eager, compiled))
    tensors = [isinstance(own, torch.Tensor) for own, _ in pairs]
    differing = next((index for index, pair in enumerate(pairs) if tensors[index] and _differs(*pair, nan_bits)), None)
    if differing is None:
        return compared
    own, theirs = pairs[differing]

    def whole() -> Tuple[Trace, Node]:
        with same_numbers():
            traced = trace(function, *copies())
        return traced, traced.results[differing]

    compared.explain(whole, [array_of(own), array_of(theirs)], "torch")
    return compared


def _explain(compared: Comparison, own: Call, again: Sequence[torch.Tensor], nan_bits: bool) -> None:
    """Asks `why` about one operation, whose outputs on the other side are these."""
    pairs = list(zip(own.gave, again))
    position = next(index for index, pair in enumerate(pairs) if _differs(*pair, nan_bits))
    one, other = pairs[position]
    names = [argument.name for argument in own.function._schema.arguments]
    args, kwargs = own.given
    given = {**dict(zip(names, args)), **kwargs}
    tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
    rest = {name: value for name, value in given.items() if name not in tensors}

    def operation(**tensors: Any) -> Any:
        return tensors_of(own.function(**tensors, **rest))[position]

    operation.__name__ = own.name

    def alone() -> Tuple[Trace, Node]:
        traced = trace(operation, [], tensors)
        traced.place = own.place
        traced.operations = [replace(made, place=own.place) for made in traced.operations]
        return traced, traced.results[0]

    compared.explain(alone, [array_of(one), in_type_of(one, other)], "torch")
