"""Formats of eight bits and fewer."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import DTypeLike

from . import _native
from ._arrays import Values, as_array, format_of, native

# ml_dtypes' names: `fn` is for finite, with NaN or without.
_NARROW = {
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float6_e2m3fn": "e2m3",
    "float6_e3m2fn": "e3m2",
    "float4_e2m1fn": "e2m1",
}
# A power of two: what scales blocks of the others.
_SCALES = {"float8_e8m0fnu": "ue8m0"}


def format_of_any(dtype: np.dtype) -> Optional[str]:
    """The format of a type of floats, ml_dtypes' narrow ones too; None for any other type."""
    return _NARROW.get(dtype.name) or _SCALES.get(dtype.name) or format_of(dtype)


def _format(dtype: np.dtype, what: str) -> str:
    found = format_of_any(dtype)
    if found is None or found == "f64" or dtype.name in _SCALES:
        known = ", ".join(["float16", "bfloat16", "float32", *_NARROW])
        raise TypeError(f"{what} is {dtype.name}: expected {known}")
    return found


def bits_of(array: np.ndarray) -> np.ndarray:
    """The bits of each element, in the order of C."""
    flat = np.ascontiguousarray(native(array)).reshape(-1)
    return flat.view(f"uint{8 * flat.dtype.itemsize}").astype(np.uint64)


def of_bits(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The elements that have these bits."""
    # Bits are this machine's numbers: they are brought to another byte order as elements.
    return bits.astype(f"uint{8 * dtype.itemsize}").view(dtype.newbyteorder("=")).astype(dtype, copy=False)


def convert(
    values: Values,
    dtype: DTypeLike,
    *,
    rounding: str = "rn",
    relu: bool = False,
    random: Optional[Values] = None,
    profile: Optional[str] = None,
) -> Any:
    """Values in another format, each as PTX ``cvt`` converts it.

    From float32, float16 or ml_dtypes.bfloat16 to ml_dtypes' float8_e4m3fn, float8_e5m2, float6_e2m3fn, float6_e3m2fn or
    float4_e2m1fn (``.satfinite``: what is too large becomes the largest finite number), and from these to float16 and
    bfloat16. `rounding` is "rn" or "rz"; "rs" with `random`, an array of integers, adds these random bits (16; to
    float16 13) below the last bit kept and truncates: from float32 alone, to float16 and bfloat16 too. `relu` makes what
    is negative +0.

    >>> import ml_dtypes, numpy as np, roundonce
    >>> roundonce.convert(np.float32([1.1, 1000.0]), ml_dtypes.float8_e4m3fn).astype(np.float32)
    array([  1.125, 448.   ], dtype=float32)

    A pair of formats that PTX has no ``cvt`` for is a ValueError, and so are two formats of 16 bits and more without
    "rs", which NumPy's `astype` converts; another type of array is a TypeError.
    """
    array, to = as_array(values), np.dtype(dtype)
    from_format, to_format = _format(array.dtype, "the array"), _format(to, "`dtype`")
    bits = bits_of(array)
    if random is not None:
        given = as_array(random, "random")
        if given.size and (given.dtype.kind not in "iu" or int(given.min()) < 0):
            raise TypeError(f"`random` is {given.dtype.name}: expected integers that are not negative")
        try:
            given = np.broadcast_to(given, array.shape)
        except ValueError:
            raise ValueError(f"`random` has the shape {given.shape}, the array {array.shape}") from None
        random = np.ascontiguousarray(given).reshape(-1).astype(np.uint64)
    found = _native.convert(bits, from_format, to_format, rounding, relu, random, profile)
    return of_bits(found, to).reshape(array.shape)[()]
