"""PTX's ``cvt`` from and to formats of eight bits and fewer, on arrays."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ._arrays import as_array, decimal, flat, is_single, native
from ._convert import format_of_any
from ._native import Conversion


def columns_of(instruction: Conversion, operands: tuple) -> List[np.ndarray]:
    """The operands' bits, an element an operand."""
    instruction.check_arity(len(operands))
    return [_column(instruction, index, value) for index, value in enumerate(operands)]


def _column(instruction: Conversion, index: int, value: Any) -> np.ndarray:
    bits, format, count = instruction.operand_types[index]
    unsigned = np.dtype(f"uint{bits}")
    if is_single(value):
        # A float as its exact digits: it is rounded once.
        text = value.hex() if isinstance(value, float) else decimal(value)
        return np.array(instruction.read(index, text), unsigned)
    array = as_array(value)
    ours = native(array)
    if ours.dtype == unsigned:
        return ours
    if format is not None and format_of_any(ours.dtype) == format or _is_bits(ours.dtype, bits, count):
        if count == 1:
            return ours.view(unsigned)
        if ours.ndim and ours.shape[-1] == count:
            return _packed(ours, bits, count)
    raise TypeError(_mismatch(instruction, index, array))


def _is_bits(dtype: np.dtype, bits: int, count: int) -> bool:
    """Whether it is of the bits of one value; two of four bits share a byte."""
    return count > 1 and bits // count >= 8 and dtype == np.dtype(f"uint{bits // count}")


def _packed(array: np.ndarray, bits: int, count: int) -> np.ndarray:
    """The values of the last axis in one element, the first in its lowest bits."""
    each = np.ascontiguousarray(array).view(f"uint{8 * array.dtype.itemsize}").astype(f"uint{bits}")
    shifts = np.arange(count, dtype=each.dtype) * each.dtype.type(bits // count)
    return np.bitwise_or.reduce(each << shifts, axis=-1)


def _mismatch(instruction: Conversion, index: int, array: np.ndarray) -> str:
    bits, format, count = instruction.operand_types[index]
    if format is None:
        expected = "random bits: expected uint32"
    elif count == 1:
        expected = f"{format}: expected float32 or uint{bits} as bits"
    else:
        expected = f"{count} × {format}: expected uint{bits}, or {format} with a last axis of {count}"
    found = f"{array.dtype.name} of shape {array.shape}"
    return f"operand {index + 1} of `{instruction.syntax}` is {expected}, found {found}"


def evaluate(
    instruction: Conversion, columns: List[np.ndarray], shape: Tuple[int, ...], out: Optional[np.ndarray]
) -> Any:
    """The results, packed, written to `out` if there is one."""
    unsigned = np.dtype(f"uint{instruction.result_bits}")
    if out is not None:
        if out.dtype.newbyteorder("=") != unsigned:
            raise TypeError(f"`out` of `{instruction.syntax}`: expected {unsigned.name}, found {out.dtype.name}")
        if out.shape != shape:
            raise ValueError(f"`out` has the shape {out.shape}, the operands {shape}")
    result = np.empty(shape, unsigned)
    given = [
        [int(column.reshape(-1)[0])] if column.size == 1
        else flat(column, shape)
        for column in columns
    ]
    instruction.eval_into(given, result.reshape(-1))
    if out is None:
        return result[()]
    out[...] = result
    return out
