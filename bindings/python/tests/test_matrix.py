"""Matrix multiply-add, against exact integers written here."""

import gzip
import json
import pathlib
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import roundonce
from roundonce import _native

CAPTURES = pathlib.Path(__file__).resolve().parents[3] / "vectors/matrix/mma-hw.jsonl.gz"
F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def exponent(x):
    """Of a number of a normal format, as it stands in its bits."""
    return int(np.floor(np.log2(abs(float(x))))) if x else -132


def toward_zero(x, digits):
    """Of a normal f32: the significand cut to so many digits."""
    if x == 0:
        return 0.0
    e = 0
    while abs(x) >= 2 ** (e + 1):
        e += 1
    while abs(x) < Fraction(2) ** e:
        e -= 1
    unit = Fraction(2) ** (e - digits + 1)
    return float(int(x / unit) * unit)


def by_steps(a, b, block, kept, digits=24):
    """Rows of a by columns of b, in steps: exact terms cut toward zero, their sum cut to f32."""
    d = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for (i, j), _ in np.ndenumerate(d):
        total = Fraction(0)
        for start in range(0, a.shape[1], block):
            pairs = [(a[i, k], b[k, j]) for k in range(start, start + block)]
            terms = [(Fraction(float(x)) * Fraction(float(y)), exponent(x) + exponent(y) if x and y else -132) for x, y in pairs]
            terms.append((total, exponent(float(total))))
            grid = Fraction(2) ** (max(e for _, e in terms) - kept)
            total = Fraction(toward_zero(sum(int(value / grid) * grid for value, _ in terms), digits))
        d[i, j] = float(total)
    return d


def numbers(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(dtype)


@pytest.mark.parametrize("arch, block, kept", [("sm_80", 8, 24), ("sm_89", 8, 24), ("sm_90", 16, 25), ("sm_120a", 16, 25)])
def test_half(arch, block, kept):
    a, b = numbers((5, 48), np.float16, 1), numbers((48, 7), np.float16, 2)
    found = roundonce.mma(F16, a, np.asfortranarray(b), arch=arch)
    assert found.dtype == np.float32 and (found.view(np.uint32) == by_steps(a, b, block, kept).view(np.uint32)).all()


def test_eight_bits():
    a, b = numbers((3, 64), ml_dtypes.float8_e4m3fn, 3), numbers((64, 4), ml_dtypes.float8_e4m3fn, 4)
    # Numbers near 1: none is subnormal.
    a, b = (np.where(abs(x.astype(np.float32)) < 2**-5, x.dtype.type(0), x) for x in (a, b))
    found = roundonce.mma("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", a, b, arch="sm_89")
    assert (found.view(np.uint32) == by_steps(a, b, 16, 13, 14).view(np.uint32)).all()


def test_scales():
    mma = "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0"
    a, b = np.ones((2, 64), ml_dtypes.float8_e4m3fn), np.ones((64, 3), ml_dtypes.float8_e4m3fn)
    of_a, of_b = np.uint8([[127, 128], [126, 127]]), np.uint8([[127, 128, 129], [127, 127, 127]])
    expected = 32 * (2.0 ** (of_a[:, :, None].astype(int) + of_b[None] - 254)).sum(1)
    assert (roundonce.mma(mma, a, b, arch="sm_120a", scales=(of_a, of_b)) == expected).all()
    typed = [np.exp2(bits.astype(np.float32) - 127).astype(ml_dtypes.float8_e8m0fnu) for bits in (of_a, of_b)]
    assert (roundonce.mma(mma, a, b, arch="sm_120a", scales=typed) == expected).all()
    for wrong in (of_a.astype(np.float32) - 126, of_a.astype(np.int64), of_a.astype(ml_dtypes.float8_e4m3fn)):
        with pytest.raises(TypeError, match="the scales of a are .*: expected float8_e8m0fnu or uint8 as bits"):
            roundonce.mma(mma, a, b, arch="sm_120a", scales=(wrong, of_b))
    with pytest.raises(ValueError, match=r"the scales of b have the shape \(3, 2\), expected \(2, 3\)"):
        roundonce.mma(mma, a, b, arch="sm_120a", scales=(of_a, of_b.T))
    with pytest.raises(ValueError, match="`scales` are 1: expected two arrays"):
        roundonce.mma(mma, a, b, arch="sm_120a", scales=(of_a,))


def test_scales_that_are_floats_without_a_sign():
    mma = "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3"
    a, b = np.ones((1, 64), ml_dtypes.float4_e2m1fn), np.ones((64, 1), ml_dtypes.float4_e2m1fn)
    one, two = (np.full(shape, value, ml_dtypes.float8_e4m3fn) for shape, value in (((1, 4), 1), ((4, 1), 2)))
    for scales in ((one, two), (one.view(np.uint8), two.view(np.uint8))):
        assert roundonce.mma(mma, a, b, arch="sm_120a", scales=scales) == 128
    with pytest.raises(TypeError, match="expected float8_e4m3fn or uint8"):
        roundonce.mma(mma, a, b, arch="sm_120a", scales=(one.view(ml_dtypes.float8_e8m0fnu), two))
    half = np.ones((16, 16), np.float16)
    with pytest.raises(roundonce.Error, match="has no scales"):
        roundonce.mma(F16, half, half, scales=(one, two))


def test_addend():
    a, b, c = numbers((4, 16), np.float16, 5), numbers((16, 4), np.float16, 6), np.full((4, 4), np.float32(2.0**30))
    found = roundonce.mma(F16, a, b, c, arch="sm_90")
    # The products lie below the addend's last bits, but for what the 25 kept bits hold.
    assert (abs(found - c) <= 2.0**10).all() and (found != 0).all()


def test_what_does_not_fit():
    a, b = np.ones((2, 16), np.float16), np.ones((16, 2), np.float16)
    with pytest.raises(TypeError, match="a is float32: expected f16"):
        roundonce.mma(F16, a.astype(np.float32), b)
    with pytest.raises(ValueError, match="K differs"):
        roundonce.mma(F16, a, b.T)
    with pytest.raises(roundonce.Error, match="K is 24, the instruction's 16"):
        roundonce.mma(F16, np.ones((2, 24), np.float16), np.ones((24, 2), np.float16))
    with pytest.raises(roundonce.Error, match="is not on sm_75"):
        roundonce.mma(F16, a, b, arch="sm_75")
    with pytest.raises(ValueError, match="expected a matrix"):
        roundonce.mma(F16, a[0], b)


def verified(path):
    return json.loads(_native.verify(str(path), path.name, 0, None, None, None)[0])


def test_captures_in_columns(tmp_path):
    rows = [json.loads(line) for line in gzip.open(CAPTURES)]
    columns = {"instruction": [f"{row['instr']}@{row['arch']}" for row in rows], **{name: [row[name][0] for row in rows] for name in "abcd"}}
    wrong = {**columns, "d": ["dead" if len(d) == 4 and at % 100 == 0 else d for at, d in enumerate(columns["d"])]}
    mistaken = sum(d == "dead" for d in wrong["d"])
    assert mistaken > 10
    for table, failed in ((columns, 0), (wrong, mistaken)):
        np.savez(tmp_path / "captures.npz", **{name: np.array(column) for name, column in table.items()})
        report = verified(tmp_path / "captures.npz")
        assert (report["vectors"], report["failed"], report["bad"]) == (6400, failed, 0)
        assert all(cause["cause"] == "results of no known machine" for cause in report["causes"])
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pytest.importorskip("pyarrow").table(wrong), tmp_path / "captures.parquet", row_group_size=1000)
    assert verified(tmp_path / "captures.parquet")["failed"] == mistaken
