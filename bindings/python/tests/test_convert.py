"""Conversions of formats of eight bits and fewer, against ml_dtypes and exact rationals."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import roundonce

NARROW = [
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
    ml_dtypes.float4_e2m1fn,
]
BITS = {"float8_e4m3fn": 8, "float8_e5m2": 8, "float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}


def singles():
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 2**32, 20_000, np.uint32).view(np.float32)
    near = (rng.standard_normal(20_000) * np.exp2(rng.integers(-20, 17, 20_000))).astype(np.float32)
    return np.concatenate([raw, near, np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 57344, 61440])])


@pytest.mark.parametrize("narrow", NARROW)
def test_to_nearest(narrow):
    x = singles()
    largest = float(ml_dtypes.finfo(narrow).max)
    found = roundonce.convert(x, narrow)
    assert found.dtype == np.dtype(narrow) and found.shape == x.shape
    # ml_dtypes rounds to nearest even; what is too large is clamped first.
    number = ~np.isnan(x)
    expected = np.clip(x[number], -largest, largest).astype(narrow)
    assert (found[number].view(np.uint8) == expected.view(np.uint8)).all()
    nan = {8: 0x7F, 6: 0x1F, 4: 0x07}[BITS[np.dtype(narrow).name]]
    assert (found[~number].view(np.uint8) == nan).all()
    assert (roundonce.convert(-np.abs(x[number]), narrow, relu=True).view(np.uint8) == 0).all()


@pytest.mark.parametrize("narrow", NARROW)
def test_back(narrow):
    codes = np.arange(2 ** BITS[np.dtype(narrow).name], dtype=np.uint8).view(narrow)
    for wide in (np.float16, ml_dtypes.bfloat16):
        found = roundonce.convert(codes, wide)
        expected = codes.astype(wide)
        nan = np.isnan(expected.astype(np.float32))
        assert (found[~nan].view(np.uint16) == expected[~nan].view(np.uint16)).all()
        assert (found[nan].view(np.uint16) == 0x7FFF).all()


def test_random_bits():
    narrow = ml_dtypes.float8_e4m3fn
    values = [Fraction(float(v)) for v in np.arange(0x7F, dtype=np.uint8).view(narrow)]
    rng = np.random.default_rng(2)
    x = np.abs(rng.standard_normal(500)).astype(np.float32)
    bits = rng.integers(0, 2**16, 500)
    found = roundonce.convert(x, narrow, rounding="rs", random=bits).view(np.uint8)
    for value, random, code in zip(x, bits, found):
        exact = Fraction(float(value))
        below = max(at for at, known in enumerate(values) if known <= exact)
        gap = values[below + 1] - values[below]
        assert code == below + (exact + gap * Fraction(int(random), 2**16) >= values[below + 1])


def test_the_other_byte_order():
    codes = np.arange(0x7F, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    found = roundonce.convert(codes, ">f2")
    assert found.dtype == np.dtype(">f2") and (found == codes.astype(np.float16)).all()
    x = np.float32([1.1, 1000.0])
    narrow = ml_dtypes.float8_e4m3fn
    assert (roundonce.convert(x.astype(">f4"), narrow) == roundonce.convert(x, narrow)).all()


def test_mistakes():
    x = np.float32([1.0])
    with pytest.raises(ValueError, match="needs `random`"):
        roundonce.convert(x, ml_dtypes.float8_e4m3fn, rounding="rs")
    with pytest.raises(ValueError, match="from f32 to f16 `convert` does not go with rounding `rn`"):
        roundonce.convert(x, np.float16)
    with pytest.raises(ValueError, match="expected rn, rz or rs"):
        roundonce.convert(x, ml_dtypes.float8_e4m3fn, rounding="rm")
    with pytest.raises(ValueError, match="expected 13 bits"):
        roundonce.convert(x, np.float16, rounding="rs", random=[0x2000])
    with pytest.raises(TypeError, match="the array is float64"):
        roundonce.convert(np.float64([1.0]), ml_dtypes.float8_e4m3fn)
    with pytest.raises(TypeError, match="not negative"):
        roundonce.convert(x, np.float16, rounding="rs", random=[-1])
