"""Matrix multiply-add, as tensor cores compute it."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from . import _native
from ._arrays import Values, as_array
from ._convert import bits_of, format_of_any, of_bits

# ml_dtypes' names of what has a scale's bits; ue4m3 is e4m3 without its sign.
_SCALES = {"ue8m0": "float8_e8m0fnu", "ue4m3": "float8_e4m3fn"}
# TF32 has the registers of float32.
_HOLDS = {"tf32": "f32"}
_SUMS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def _bits(array: Values, ty: str, what: str) -> Tuple[np.ndarray, np.ndarray]:
    found = as_array(array)
    expected = _HOLDS.get(ty, ty)
    if format_of_any(found.dtype) != expected:
        raise TypeError(f"{what} is {found.dtype.name}: expected {expected}, which the instruction takes as {ty}")
    if found.ndim != 2:
        raise ValueError(f"{what} has {found.ndim} axes: expected a matrix")
    return found, bits_of(found)


def _scales(scales: Any, ty: Optional[Tuple[str, int]], shape: Tuple[int, int, int]) -> List[np.ndarray]:
    """The bits of the scales of both matrices; of an instruction that has none, none, which it refuses by its rule."""
    if len(scales) != 2:
        raise ValueError(f"`scales` are {len(scales)}: expected two arrays, a's and b's")
    if ty is None:
        return [np.zeros(0, np.uint64)] * 2
    (format, block), (m, k, n) = ty, shape
    bits = []
    for what, scale, expected in zip("ab", scales, ((m, k // block), (k // block, n))):
        found = as_array(scale)
        if found.dtype.name not in ("uint8", _SCALES[format]):
            raise TypeError(f"the scales of {what} are {found.dtype.name}: expected {_SCALES[format]} or uint8 as bits")
        if found.shape != expected:
            raise ValueError(f"the scales of {what} have the shape {found.shape}, expected {expected}")
        bits.append(bits_of(found))
    return bits


def mma(
    instruction: str,
    a: Values,
    b: Values,
    c: Optional[Values] = None,
    *,
    arch: Optional[str] = None,
    scales: Optional[Tuple[Values, Values]] = None,
    profile: Optional[str] = None,
) -> np.ndarray:
    """a @ b + c, as the tensor cores of a machine compute it with one instruction, bit for bit.

    `a` is M × K and `b` K × N, arrays of the instruction's types: float16, ml_dtypes.bfloat16, float32 for TF32, float64,
    ml_dtypes' float8_e4m3fn, float8_e5m2 and float4_e2m1fn. K may be several times the instruction's: each result is the
    addend of the next. Without `c` the sums begin from +0. `scales` are block scales of a's rows and b's columns, M × blocks
    and blocks × N: ml_dtypes' float8_e8m0fnu, of `.ue4m3` float8_e4m3fn, or their bits as uint8. `arch` names the machine, without it the lowest that has the instruction.

    >>> import numpy as np, roundonce
    >>> a, b = np.full((1, 8), 2.0 ** -6, np.float16), np.ones((8, 1), np.float16)
    >>> a[0, 0] = b[0, 0] = 1024
    >>> mma = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    >>> roundonce.mma(mma, a, b, arch="sm_80").tolist()
    [[1048576.0]]

    Another type of array is a TypeError, shapes that do not fit a ValueError.
    """
    (d_type, a_type, b_type, c_type), scale, _ = _native.matrix_types(instruction, arch)
    (a, a_bits), (b, b_bits) = _bits(a, a_type, "a"), _bits(b, b_type, "b")
    (m, k), (inner, n) = a.shape, b.shape
    if inner != k:
        raise ValueError(f"a has the shape {a.shape}, b {b.shape}: K differs")
    c = np.zeros((m, n), _SUMS[c_type]) if c is None else c
    c, c_bits = _bits(c, c_type, "c")
    if c.shape != (m, n):
        raise ValueError(f"c has the shape {c.shape}, expected {(m, n)}")
    if scales is not None:
        scales = _scales(scales, scale, (m, k, n))
    found = _native.multiply(instruction, (m, k, n), a_bits, b_bits, c_bits, scales, arch, profile)
    return of_bits(found, np.dtype(_SUMS[d_type])).reshape(m, n)
