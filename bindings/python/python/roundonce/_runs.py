"""Runs of a function of torch, all from the same state: what they give, and the operations that they are made of.

Reading order: `restored` (the state), `Device` and `Float64` (where a run is), `Call` (an operation that ran), `recorded`.
"""

from __future__ import annotations

import copy
import functools
import inspect
import types
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from ._aten import array_of, spelled
from ._compare import Difference, difference
from ._trace import LIBRARIES, Place, caller


class _State:
    """The tensors with their gradients, modules and generators that a function holds, to be put back: its own, those of its closure, and the
    globals that it names, also by the functions among them."""

    def __init__(self, function: Callable) -> None:
        self._seen: Dict[int, Any] = {}
        self._held: Dict[int, Tuple[Any, Any]] = {}
        self._tensors: List[Tuple[torch.Tensor, int, torch.Tensor]] = []
        self._gradients: List[Tuple[torch.Tensor, Optional[torch.Tensor]]] = []
        self._generators: List[Tuple[torch.Generator, torch.Tensor]] = []
        self._find(function)
        if not inspect.isroutine(function) and not isinstance(function, torch.nn.Module):
            self._keep(getattr(function, "__dict__", None))

    def _find(self, value: Any) -> None:
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, torch.Tensor):
            if value.layout == torch.strided and not value.is_meta and not torch.nn.parameter.is_lazy(value):
                self._tensors.append((value, _version(value), value.detach().clone()))
            if value.is_leaf:
                self._gradients.append((value, value.grad))
                self._find(value.grad)
        elif isinstance(value, torch.Generator):
            self._generators.append((value, value.get_state()))
        elif isinstance(value, torch.nn.Module):
            # The first run of a lazy module changes its class, which is not undone.
            if not any(map(torch.nn.parameter.is_lazy, value.parameters(recurse=False))):
                self._keep(value.__dict__)
        elif isinstance(value, (list, tuple, set, dict)):
            for item in value.values() if isinstance(value, dict) else value:
                self._find(item)
        elif isinstance(value, functools.partial):
            self._find((value.func, value.args, value.keywords))
        elif inspect.ismethod(value):
            self._find(value.__func__)
            self._find(value.__self__)
            if not isinstance(value.__self__, type):
                self._keep(getattr(value.__self__, "__dict__", None))
        elif inspect.isfunction(value) and str(value.__module__).split(".")[0] not in LIBRARIES:
            for cell in value.__closure__ or ():
                try:
                    self._find(cell.cell_contents)
                except ValueError:  # The variable has no value yet.
                    pass
            for name in _names(value.__code__):
                self._find(value.__globals__.get(name))

    def _keep(self, container: Any) -> None:
        """What holds the attributes of an object, and the dictionaries and lists among them."""
        if not isinstance(container, (dict, list)) or id(container) in self._held:
            return
        self._held[id(container)] = container, copy.copy(container)
        for item in list(container.values()) if isinstance(container, dict) else container:
            self._keep(item)
            self._find(item)

    def restore(self, written: Callable[[torch.Tensor], None]) -> None:
        """Puts it back; `written` is told of each tensor before."""
        for container, was in self._held.values():
            if not _is_same(container, was):
                container.clear()
                container.update(was) if isinstance(container, dict) else container.extend(was)
        for tensor, version, was in self._tensors:
            if tensor.shape != was.shape or tensor.dtype != was.dtype:
                tensor.data = was
            elif _version(tensor) != version or not torch.equal(tensor, was):
                written(tensor)
                with torch.inference_mode(tensor.is_inference()):
                    tensor.data.copy_(was)
        for tensor, gradient in self._gradients:
            if tensor.grad is not gradient:
                tensor.grad = gradient
        for generator, state in self._generators:
            generator.set_state(state)


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _is_same(one: Any, other: Any) -> bool:
    """Whether two dictionaries or lists have the very same items in the same order."""
    pairs = [list(value.items()) if isinstance(value, dict) else list(enumerate(value)) for value in (one, other)]
    return len(pairs[0]) == len(pairs[1]) and all(a == b and x is y for (a, x), (b, y) in zip(*pairs))


def _names(code: types.CodeType) -> List[str]:
    """The names of globals in a function's code, and of attributes, also in the functions within."""
    inner = (item for item in code.co_consts if isinstance(item, types.CodeType))
    return [*code.co_names, *(name for item in inner for name in _names(item))]


@contextmanager
def restored(function: Callable, written: Callable[[torch.Tensor], None] = lambda tensor: None) -> Iterator[None]:
    """Leaves the modules and tensors that a function holds as they were, whatever it does with them meanwhile."""
    state = _State(function)
    try:
        yield
    finally:
        state.restore(written)


@contextmanager
def same_numbers() -> Iterator[None]:
    """Leaves torch's random numbers as they were, so that what runs next draws the same ones."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices):
        yield


def is_there(device: str) -> bool:
    """Whether there is a device. ValueError of what no device is called."""
    try:
        asked = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"there is no kind of device {device!r}: {str(error).splitlines()[0]}") from None
    if asked.type == "meta":
        raise ValueError("tensors of the device meta have no values to compare")
    if asked.type == "cuda":
        return torch.cuda.is_available() and (asked.index or 0) < torch.cuda.device_count()
    try:
        torch.empty(1, device=asked)
    except (AssertionError, RuntimeError):
        return False
    return True


def _like(value: torch.Tensor, moved: torch.Tensor) -> torch.Tensor:
    return moved.requires_grad_(value.requires_grad and moved.is_floating_point())


@dataclass(frozen=True)
class Device:
    """A device as the place of a run."""

    name: str

    def has(self, tensor: torch.Tensor) -> bool:
        device = torch.device(self.name)
        return tensor.device.type == device.type and device.index in (None, tensor.device.index)

    def move(self, value: Any) -> Any:
        """Copies of tensors and modules, and names of devices."""
        if isinstance(value, torch.nn.Module):
            return copy.deepcopy(value).to(self.name)
        if isinstance(value, torch.Tensor):
            return _like(value, value.detach().to(self.name, copy=True))
        return torch.device(self.name) if isinstance(value, torch.device) else value

    def made(self, value: Any) -> Any:
        """What an operation gives."""
        return value


@dataclass(frozen=True)
class Float64:
    """float64 as the place of a run: all floats have this type there, also those that an operation makes."""

    def has(self, tensor: torch.Tensor) -> bool:
        return tensor.dtype == torch.float64 or not tensor.is_floating_point()

    def move(self, value: Any) -> Any:
        """Copies of tensors and modules."""
        if isinstance(value, torch.nn.Module):
            return copy.deepcopy(value).double()
        if isinstance(value, torch.Tensor):
            dtype = torch.float64 if value.is_floating_point() else value.dtype
            return _like(value, value.detach().to(dtype, copy=True))
        return value

    def made(self, value: Any) -> Any:
        """What an operation gives: of another type only where it was asked for."""
        return value if not isinstance(value, torch.Tensor) or self.has(value) else value.double()


Side = Union[Device, Float64]

_IN_OWN_TYPE = {"add", "sub", "rsub", "eq", "ne", "lt", "le", "gt", "ge", "fmod", "remainder"}
"""Operations whose kernels on a CPU take a number in the type of float16 or bfloat16 beside it; others take a float32."""

_NUMBERS = ("number", "Tensor", "Optional[number]", "Optional[Tensor]")
"""Types of arguments that are numbers, as a schema has them, or may be."""

_RANDOM = {"rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "normal", "bernoulli"} | {
    *("multinomial", "poisson", "uniform", "random", "exponential", "log_normal", "cauchy", "geometric"),
}
"""Operations that draw random numbers; with _ those that fill a tensor."""


class _Kept:
    """A tensor as it was, which shares the memory until something writes there."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor.detach()


def _found(value: Any) -> Any:
    return value.tensor if isinstance(value, _Kept) else value


@dataclass
class Call:
    """An operation that ran, with what it took and gave as that was then."""

    function: Any
    kept: Any
    outputs: List[_Kept]
    place: Optional[Place]

    @property
    def name(self) -> str:
        return spelled(self.function)

    @property
    def is_random(self) -> bool:
        return _word(self.function) in _RANDOM

    @property
    def is_arbitrary(self) -> bool:
        """Whether its inputs do not say what it gives."""
        return self.is_random or _word(self.function) in ("empty", "empty_like", "empty_strided", "new_empty")

    @property
    def given(self) -> Tuple[Sequence[Any], Dict[str, Any]]:
        """Its arguments, by their place and by their names."""
        return tree_map(_found, self.kept)  # type: ignore[no-any-return]

    @property
    def gave(self) -> List[torch.Tensor]:
        return [kept.tensor for kept in self.outputs]

    def again(self, side: Side) -> List[torch.Tensor]:
        """What it gives on another side, from the same inputs."""
        args, kwargs = tree_map(side.move, self.rounded(self.given, side))
        with torch.no_grad():
            return tensors_of(self.function(*args, **kwargs))

    def rounded(self, given: Any, side: Side) -> Any:
        """Arguments on a side, with numbers as they were here: in float64 a number beside float32 is a float32 as well."""
        type_ = _number_type(self.function, tree_leaves(self.given)) if isinstance(side, Float64) else None
        if type_ is None:
            return given
        kinds = [(argument.name, str(argument.type) in _NUMBERS) for argument in self.function._schema.arguments]
        (own, own_named), (args, named) = self.given, given
        args = [_in_type(*pair, type_) if is_number else pair[1] for (_, is_number), pair in zip(kinds, zip(own, args))]
        by_name = {name: _in_type(own_named.get(name), value, type_) for name, value in named.items() if dict(kinds)[name]}
        return args, {**named, **by_name}

    def differs(self, others: Sequence[torch.Tensor], nan_bits: bool) -> Optional[Difference]:
        """How its first output that differs does, from what another side gave; TypeError if their shapes do."""
        for own, other in zip(self.gave, others):
            found = difference(self.name, self.place, array_of(own), in_type_of(own, other), nan_bits)
            if found:
                return found
        return None


def _word(function: Any) -> str:
    """An operation's name alone, without the _ of what writes into its first argument."""
    schema = getattr(function, "_schema", None)
    return schema.name.split("::")[1].rstrip("_") if schema else ""


def _number_type(function: Any, leaves: Sequence[Any]) -> Optional[torch.dtype]:
    """The type in which an operation takes numbers beside its tensors."""
    tensors = [value for value in leaves if isinstance(value, torch.Tensor) and value.is_floating_point()]
    types_ = [value.dtype for value in tensors if value.dim()] or [value.dtype for value in tensors]
    if not types_:
        return None
    try:
        type_ = functools.reduce(torch.promote_types, types_)
    except RuntimeError:  # The types of 8 bits have none in common with others.
        return None
    return torch.float32 if type_.itemsize < 4 and _word(function) not in _IN_OWN_TYPE else type_


def _in_type(own: Any, value: Any, type_: torch.dtype) -> Any:
    """A number, or a tensor that counts as one, as an operation takes it."""
    if isinstance(own, torch.Tensor):
        is_number = own.dim() == 0 and own.is_floating_point() and own.dtype.itemsize > type_.itemsize
        return value.to(type_).double() if is_number else value
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return value
    rounded = torch.tensor(value).to(type_).item() if isinstance(value, int) else _number(value).to(type_).item()
    return value if rounded == value else rounded


def _number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def in_type_of(own: torch.Tensor, other: torch.Tensor) -> np.ndarray:
    """What another side gave, rounded once to the type here."""
    if other.dtype == torch.float64 and own.is_floating_point() and own.dtype.itemsize < 4:
        other = _to_odd(other)
    return array_of(other.to(own.dtype))


def _to_odd(tensor: torch.Tensor) -> torch.Tensor:
    """float64 in float32, the last bit set where it is not exact: torch narrows further by way of float32."""
    exact = array_of(tensor)
    with np.errstate(over="ignore"):
        near = exact.astype(np.float32)
    bits = near.view(np.uint32) - (np.abs(near) > np.abs(exact))
    return torch.from_numpy((bits | ((near != exact) & ~np.isnan(exact))).astype(np.uint32).view(np.float32))


def tensors_of(value: Any) -> List[torch.Tensor]:
    return [item for item in tree_leaves(value) if isinstance(item, torch.Tensor)]


class _Recording(TorchDispatchMode):
    """Keeps each operation that runs on a side. Tensors from elsewhere, as of a closure, are moved there; numbers and
    random numbers are those of a run `beside` it, as long as that has the same operations."""

    def __init__(self, side: Side, beside: Sequence[Call]) -> None:
        super().__init__()
        self.calls: List[Call] = []
        self._side = side
        self._beside = beside
        self._moved: Dict[int, Tuple[torch.Tensor, torch.Tensor]] = {}
        self._kept: Dict[int, List[_Kept]] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = tree_map(self.here, (list(args), dict(kwargs or {})))
        if _word(function) == "detach":  # Autograd adds some.
            return function(*given[0], **given[1])
        own = self._beside[len(self.calls)] if len(self.calls) < len(self._beside) else None
        if own is None or own.function is not function:
            own, self._beside = None, ()
        if own:
            given = own.rounded(given, self._side)
        kept = tree_map(self._keep, given)
        for tensor in _written(function, *given):
            self.written(tensor)
        if own and own.is_random:
            returned = self._drawn(function, given[0], self._side.move(own.gave[0]))
        else:
            returned = function(*given[0], **given[1])
            if _word(function) != "_to_copy":  # Autograd wants the type of a cast, which is moved when it is taken.
                returned = tree_map(self._side.made, returned)
        outputs = [self._keep(item) for item in tensors_of(returned)]
        self.calls.append(Call(function, kept, outputs, caller()))
        return returned

    def here(self, value: Any) -> Any:
        """A tensor as this side has it: one from elsewhere is moved once, so that what is written into it stays."""
        if not isinstance(value, torch.Tensor) or self._side.has(value):
            return value
        if id(value) not in self._moved:
            self._moved[id(value)] = value, self._side.move(value.detach())
        return self._moved[id(value)][1]

    def written(self, tensor: torch.Tensor) -> None:
        """Copies what is kept of the memory of a tensor, before something writes there."""
        for kept in self._kept.pop(_memory(tensor), ()):
            kept.tensor = kept.tensor.clone()

    def _keep(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        kept = _Kept(value)
        self._kept.setdefault(_memory(value), []).append(kept)
        return kept

    @staticmethod
    def _drawn(function: Any, args: Sequence[Any], drawn: torch.Tensor) -> torch.Tensor:
        return args[0].copy_(drawn) if function._schema.is_mutable else drawn


def _memory(tensor: torch.Tensor) -> int:
    """What tells the memory of a tensor from others, as long as it lives."""
    return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else -1


def _written(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> List[torch.Tensor]:
    """The tensors that an operation writes into. The schemas of batch norms do not say it of their statistics."""
    schema = getattr(function, "_schema", None)
    arguments = schema.arguments if schema else []
    given = {**dict(zip((argument.name for argument in arguments), args)), **kwargs}
    return tensors_of(
        [
            given.get(argument.name)
            for argument in arguments
            if argument.name.startswith("running_") or argument.alias_info and argument.alias_info.is_write
        ]
    )


def recorded(
    function: Callable, side: Side, inputs: Sequence[Any], named: Mapping[str, Any], beside: Sequence[Call] = ()
) -> Tuple[List[Any], List[Call]]:
    """What a function returns on a side, one after the other, and its operations there. `beside` has those of another
    run."""
    mode = _Recording(side, beside)
    with restored(function, mode.written), same_numbers():
        with mode:
            returned = function(*inputs, **named)
        return [_copy(mode.here(value)) for value in tree_leaves(returned)], mode.calls


def returns(
    function: Callable, inputs: Sequence[Any], named: Mapping[str, Any], holds: Optional[Callable] = None
) -> List[Any]:
    """What a function returns, one after the other. `holds` is the function that it was compiled of."""
    with restored(holds or function), same_numbers():
        return [_copy(value) for value in tree_leaves(function(*inputs, **named))]


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return value.copy() if isinstance(value, np.ndarray) else value
