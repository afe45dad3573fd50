"""Arrays to columns of bits, and back."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Protocol, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._native import Instruction

_FLOAT: Dict[str, np.dtype] = {"f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_UNSIGNED = {bits: np.dtype(f"uint{bits}") for bits in (16, 32, 64)}
_WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


class SupportsDLPack(Protocol):
    """An array of another library, whose memory NumPy can take over."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...


Values = Union[ArrayLike, SupportsDLPack]
"""What stands for values: arrays, Python numbers, and text as the command reads it."""


def format_of(dtype: np.dtype) -> Optional[str]:
    """The format of a type of floats; None for any other type."""
    for name, float_type in _FLOAT.items():
        if dtype == float_type or dtype == float_type.newbyteorder():
            return name
    # ml_dtypes need not be installed for this.
    return "bf16" if dtype.name == "bfloat16" else None


def as_array(value: Any, name: Optional[str] = None) -> np.ndarray:
    """What NumPy makes an array of, and whatever offers its memory on the CPU by DLPack alone; a message names what has a
    name."""
    found = refused(value)
    if found:
        raise TypeError(f"{f'`{name}` is' if name else 'the values are'} {found}")
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def refused(value: Any) -> Optional[str]:
    """What stands against an array: a subclass that computes otherwise than its elements do. None where nothing does."""
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array: expected an array without a mask, such as `filled()` gives"
    return "an np.matrix: expected an array, such as `np.asarray` makes of it" if isinstance(value, np.matrix) else None


def native(array: np.ndarray) -> np.ndarray:
    """The same numbers in this machine's byte order."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def little(array: np.ndarray) -> np.ndarray:
    """The same numbers one after the other, their lowest bytes first."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def element_of(dtype: np.dtype) -> str:
    """What an element is, whatever its byte order: NumPy's letter and bytes, or the name of another library's type."""
    return dtype.name if dtype.kind == "V" else dtype.str.lstrip("<>|=")


def decimal(number: Union[int, float, str]) -> str:
    """The digits of a number; text as it is. Python writes no integer of very many; one of more than 400 is beyond every type as it is."""
    if isinstance(number, str):
        return number
    if isinstance(number, int) and abs(number) >= 10**400:
        return "-1e400" if number < 0 else "1e400"
    return repr(number)


def is_single(value: Any) -> bool:
    """Whether it is a Python number or text, without a type of its own."""
    return isinstance(value, (str, int, float)) and not isinstance(value, (bool, np.generic))


class Column:
    """Values as components' bits. `bits` has the values' shape, and one more axis of components if there are several."""

    def __init__(self, bits: np.ndarray, shape: Tuple[int, ...], dtype: Optional[np.dtype], packed: bool) -> None:
        self.bits = bits
        self.shape = shape
        self.dtype = dtype
        """As given; None for a Python number or text."""
        self.packed = packed
        """Whether an element is a whole value of several components."""

    def components(self) -> List[int]:
        """The components of the only value."""
        return [int(bits) for bits in self.bits.reshape(-1)]

    def flat(self, shape: Tuple[int, ...], lanes: int) -> Union[np.ndarray, List[int]]:
        """The components one after the other, for all values of a shape; a single value's alone."""
        if self.bits.size == lanes:
            return self.components()
        axis = (lanes,) if lanes > 1 else ()
        whole = self.bits if self.shape == shape else np.broadcast_to(self.bits, shape + axis)
        return np.ascontiguousarray(whole).reshape(-1)

    def rows(self, shape: Tuple[int, ...], lanes: int) -> np.ndarray:
        """The components of each value of a shape, a row a value; a single value's one row."""
        return np.asarray(self.flat(shape, lanes), self.bits.dtype).reshape(-1, lanes)


def flat(column: np.ndarray, shape: Tuple[int, ...]) -> np.ndarray:
    """The elements of a column for all values of a shape, one after the other and aligned."""
    return np.require(np.broadcast_to(column, shape), requirements="CA").reshape(-1)


def accepted(format: str, lanes: int) -> Tuple[List[np.dtype], List[np.dtype]]:
    """The unsigned type of a whole packed value, if there is one, and those of a component."""
    width = _WIDTH[format]
    packed = [_UNSIGNED[width * lanes]] if lanes > 1 and width * lanes <= 64 and width * lanes in _UNSIGNED else []
    component = [_FLOAT[format]] if format in _FLOAT else []
    return packed, component + [_UNSIGNED[width]]


def column(instruction: Instruction, format: str, what: str, array: np.ndarray) -> Column:
    """An array as a column: a view of the same memory where that can be, a copy of what is not aligned."""
    lanes = instruction.lanes
    dtype = array.dtype
    array = np.require(native(array), requirements="A")
    packed, component = accepted(format, lanes)
    bits = _UNSIGNED[_WIDTH[format]]
    if array.dtype in packed:
        last = np.ascontiguousarray(array).reshape(array.shape + (1,))
        return Column(last.view(bits), array.shape, dtype, True)
    if array.dtype in component or format_of(array.dtype) == format:
        if lanes == 1:
            return Column(array.view(bits), array.shape, dtype, False)
        if array.ndim and array.shape[-1] == lanes:
            return Column(array.view(bits), array.shape[:-1], dtype, False)
    raise TypeError(_mismatch(instruction, format, what, f"{dtype.name} of shape {array.shape}"))


def _mismatch(instruction: Instruction, format: str, what: str, found: str) -> str:
    lanes = instruction.lanes
    packed, component = accepted(format, lanes)
    names = [dtype.name for dtype in component]
    if format == "bf16":
        names.insert(0, "bfloat16")
    axis = f" with a last axis of {lanes}" if lanes > 1 else ""
    expected = [dtype.name for dtype in packed] + [name + axis for name in names]
    type_name = format if lanes == 1 else f"{lanes} × {format}"
    return (
        f"{what} of `{instruction.syntax}` is {type_name}: expected {', '.join(expected[:-1])} or {expected[-1]}"
        f"{' as bits' if not axis else ''}, found {found}"
    )


def operand(instruction: Instruction, index: int, value: Any) -> Column:
    """An operand as a caller gives it."""
    format = instruction.operand_formats[index]
    what = f"operand {index + 1}"
    if is_single(value):
        if isinstance(value, float) and instruction.lanes == 1:
            components = [instruction.convert(index, value)]
        elif isinstance(value, str) or instruction.lanes == 1:
            components = instruction.read(index, decimal(value))
        else:
            raise TypeError(_mismatch(instruction, format, what, f"the number {value!r}"))
        bits = np.array(components, _UNSIGNED[_WIDTH[format]])
        return Column(bits if instruction.lanes > 1 else bits.reshape(()), (), None, False)
    return column(instruction, format, what, as_array(value))


def like(instruction: Instruction, columns: List[Column], shape: Tuple[int, ...]) -> np.ndarray:
    """An array for results: of the type of the first operand of the result's format, else floats, else bits."""
    format, lanes = instruction.format, instruction.lanes
    packed, component = accepted(format, lanes)
    for given, operand_format in zip(columns, instruction.operand_formats):
        if operand_format == format and given.dtype is not None:
            axis = () if given.packed or lanes == 1 else (lanes,)
            return np.empty(shape + axis, given.dtype.newbyteorder("="))
    if packed:
        return np.empty(shape, packed[0])
    return np.empty(shape + ((lanes,) if lanes > 1 else ()), component[0])
