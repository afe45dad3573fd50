"""The integer multiply-add on arrays."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ._arrays import as_array, decimal, flat, is_single, native
from ._native import Integer


def columns_of(instruction: Integer, operands: tuple) -> List[np.ndarray]:
    """The operands' bits, as 64-bit numbers."""
    instruction.check_arity(len(operands))
    return [_column(instruction, index, value) for index, value in enumerate(operands)]


def _column(instruction: Integer, index: int, value: Any) -> np.ndarray:
    if is_single(value):
        return np.array(instruction.read(index, decimal(value)), np.uint64)
    array = as_array(value)
    bits, _ = instruction.operand_types[index]
    # The carry flag, as `.cc` gives it.
    if index == 3 and array.dtype == np.bool_:
        return array.astype(np.uint64)
    column = _bits(instruction, f"operand {index + 1}", array, bits).astype(np.uint64)
    if index == 3 and (column > 1).any():
        raise ValueError(f"operand {index + 1} of `{instruction.syntax}`: the carry flag is 0 or 1, and an element is neither")
    return column


def _bits(instruction: Integer, what: str, array: np.ndarray, bits: int) -> np.ndarray:
    """An array of integers of a width, with a sign or without, as unsigned ones."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize * 8 != bits:
        raise TypeError(
            f"{what} of `{instruction.syntax}` has {bits} bits: expected int{bits} or uint{bits}, found {array.dtype.name}"
        )
    return native(array).view(f"uint{bits}")


def evaluate(instruction: Integer, columns: List[np.ndarray], shape: Tuple[int, ...], out: Optional[np.ndarray]) -> Any:
    """The results, written to `out` if there is one; with the carry flags where the instruction writes them."""
    bits, signed = instruction.result_type
    if out is not None:
        _bits(instruction, "`out`", out, bits)
        if out.shape != shape:
            raise ValueError(f"`out` has the shape {out.shape}, the operands {shape}")
    given = [flat(column, shape) for column in columns]
    found, carries = instruction.eval(given)
    unsigned = found.astype(f"uint{bits}").reshape(shape)
    if out is None:
        result: Any = unsigned.view(f"int{bits}" if signed else f"uint{bits}")[()]
    else:
        out[...] = unsigned.view(out.dtype.newbyteorder("="))
        result = out
    return result if carries is None else (result, carries.reshape(shape)[()])
