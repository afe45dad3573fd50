"""`cvt` by its spellings over arrays, against ml_dtypes and tables of the numbers of its types."""

import ml_dtypes
import numpy as np
import pytest
import roundonce

# ml_dtypes and NumPy warn of infinities and NaNs.
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")

TYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}
WIDTH = {"f32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4, "ue8m0": 8}
STRIDE = {**WIDTH, "e2m3": 8, "e3m2": 8}
SPELLINGS = sorted(
    {text for form in roundonce.forms() if form["syntax"].startswith("cvt") for text in form["spellings"]}
)
COUNT = 4000


class Read:
    """What a spelling says."""

    def __init__(self, spelling):
        words = spelling.split(".")[1:]
        types = [word.split("x") + ["1"] for word in words if word.split("x")[0] in TYPES]
        (self.to, count, *_), (self.source, *_) = types
        self.count = int(count)
        self.rounding, self.relu, self.satfinite = words[0], "relu" in words, "satfinite" in words
        self.separate = self.source == "f32"


def unsigned(name):
    return np.dtype(f"uint{max(8, WIDTH[name])}")


def values(rng, name, target):
    """Bits of numbers of a type: any, and near the numbers of another."""
    bits = rng.integers(0, 1 << WIDTH[name], COUNT, np.uint64)
    if name != "f32":
        return bits.astype(unsigned(name)).view(TYPES[name])
    with np.errstate(over="ignore"):
        near = (rng.standard_normal(COUNT) * np.exp2(rng.integers(-18, 18, COUNT))).astype(np.float32)
    codes = rng.integers(0, 1 << WIDTH[target], COUNT, np.uint64).astype(unsigned(target)).view(TYPES[target])
    ties = codes.astype(np.float32) * np.float32(rng.choice([1, 1.0625, 1.125, 1.25], COUNT))
    return np.select([bits % 3 == 0, bits % 3 == 1], [near, ties], bits.astype(np.uint32).view(np.float32))


def power(read, x):
    """The bits of powers of two: the exponents of magnitudes, from 2^-127 to 2^127 (CUDA Math API, `__nv_cvt_float_to_e8m0`)."""
    size = np.abs(x.astype(np.float64))
    fraction, exponent = np.frexp(np.where(np.isfinite(size), size, 1))
    code = exponent - 1 + ((fraction != 0.5) & (read.rounding == "rp")) + 127
    code = np.where(size == 0, 0, np.where(np.isinf(size), 255, np.maximum(code, 0)))
    code = np.where(code > 254, 254 if read.satfinite else 255, code)
    return np.where(np.isnan(size), 255, code).astype(np.uint64)


def judged(read, x, random):
    """The bits of each value; `random` are its random bits of 16, or 13."""
    if read.to == "ue8m0":
        return power(read, x)
    kind, sign = TYPES[read.to], 1 << (WIDTH[read.to] - 1)
    wide = x.astype(np.float64)
    nan, negative = np.isnan(wide), np.signbit(wide)
    finite = np.arange(sign, dtype=np.uint64).astype(unsigned(read.to)).view(kind).astype(np.float64)
    finite = finite[np.isfinite(finite)]
    size, largest = np.where(nan, 0, np.abs(wide)), len(finite) - 1
    # What would be the next number, were there room.
    places = np.append(finite, 2 * finite[-1] - finite[-2])
    at = np.searchsorted(places, size, "right") - 1
    if read.rounding == "rn" and read.separate:
        clipped = np.minimum(size, finite[-1]).astype(np.float32)
        place = clipped.astype(kind).view(unsigned(read.to)).astype(np.int64)
    elif read.rounding == "rn":
        up = places[np.minimum(at + 1, largest + 1)]
        with np.errstate(invalid="ignore"):
            down, above = size - places[at], up - size
        place = at + ((above < down) | (above == down) & (at % 2 == 1)) * (at <= largest)
    else:
        bits = 13 if read.to == "f16" else 16
        gap = places[np.minimum(at + 1, largest + 1)] - places[np.minimum(at, largest)]
        with np.errstate(invalid="ignore"):
            rest = np.where(at <= largest, (size - places[at]) / gap * 2.0**bits, 0)
        place = at + ((rest + random >= 2.0**bits) if read.rounding == "rs" else 0)
    infinity = {"f16": 0x7C00, "bf16": 0x7F80}.get(read.to)
    place = np.where(place > largest, largest if read.satfinite or infinity is None else infinity, place)
    place = np.where(negative, 0 if read.relu else place | sign, place)
    canonical = {32: 0x7FFFFFFF, 16: 0x7FFF, 8: 0x7F}.get(WIDTH[read.to], largest)
    return np.where(nan, canonical, place).astype(np.uint64)


def packed(columns, stride):
    return sum(column.astype(np.uint64) << np.uint64(at * stride) for at, column in enumerate(columns))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling(spelling):
    read, rng = Read(spelling), np.random.default_rng(len(spelling))
    each = [values(rng, read.source, read.to) for _ in range(read.count)]
    random = rng.integers(0, 1 << 32, COUNT, np.uint32)
    upper, lower = random >> 16, random & 0xFFFF
    if read.to == "e2m1":
        shares = [(upper & 0xFF) << 8 | lower & 0xFF] * 2 + [upper >> 8 << 8 | lower >> 8] * 2
    else:
        shares = [lower] * (read.count // 2) + [upper] * (read.count // 2)
    if read.to == "f16":
        shares = [share & 0x1FFF for share in shares]
    want = packed([judged(read, x, share) for x, share in zip(each, shares)], STRIDE[read.to])
    if read.separate:
        operands = each[::-1] + ([random] if read.rounding == "rs" else [])
        given = [operands]
    else:
        bits = [x.view(unsigned(read.source)) for x in each]
        whole = packed(bits, STRIDE[read.source]).astype(f"uint{read.count * STRIDE[read.source]}")
        given = [[whole], [np.stack(each, -1)]]
        if read.source != "e2m1":
            given.append([np.stack(bits, -1)])
    for operands in given:
        got = roundonce.eval(spelling, *operands)
        assert got.dtype == np.dtype(f"uint{read.count * STRIDE[read.to]}") and got.shape == (COUNT,)
        wrong = np.flatnonzero(got != want)
        assert not wrong.size, [(hex(got[at]), hex(want[at]), [x[at] for x in each]) for at in wrong[:3]]


def test_shapes_and_out():
    x = np.linspace(-500, 500, 12, dtype=np.float32).reshape(3, 4)
    whole = roundonce.eval("cvt.rn.satfinite.e4m3x2.f32", 1.0, x)
    assert whole.shape == (3, 4) and (whole >> 8 == 0x38).all()
    row = roundonce.eval("cvt.rn.satfinite.e4m3x2.f32", np.float32([[1], [2], [3]]), x[0])
    assert row.shape == (3, 4) and (row & 0xFF == whole[0] & 0xFF).all()
    out = np.zeros((4, 3), np.uint16).T
    assert roundonce.eval("cvt.rn.satfinite.e4m3x2.f32", 1.0, x, out=out) is out and (out == whole).all()
    alone = roundonce.eval("cvt.rn.satfinite.e4m3x2.f32", 1.0, "0x447a0000")
    assert isinstance(alone, np.uint16) and alone == 0x387E
    assert roundonce.eval("cvt.rn.satfinite.e4m3x2.f32", np.float32([]), 1.0).shape == (0,)


def test_many_elements():
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 1 << 16, 200_000, np.uint16)
    got = roundonce.eval("cvt.rn.f16x2.e5m2x2", codes).view(np.float16)
    want = codes.view(np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float16)
    number = ~np.isnan(want)
    assert (got[number].view(np.uint16) == want[number].view(np.uint16)).all()


def test_explain():
    report = roundonce.explain("cvt.rs.satfinite.e4m3x4.f32", 1.125, 2.375, -3, 1e9, 0xABCDEF12)
    assert "448" in str(report) and report.data["bits"] == f"{roundonce.eval('cvt.rs.satfinite.e4m3x4.f32', 1.125, 2.375, -3, 1e9, 0xABCDEF12):#010x}"
    with pytest.raises(ValueError, match="one value is explained"):
        roundonce.explain("cvt.rn.f16x2.e4m3x2", np.uint16([1, 2]))


def test_mistakes():
    pair = "cvt.rn.satfinite.e4m3x2.f32"
    with pytest.raises(roundonce.Error, match=r"takes 2 operands \(a, b\), found 1"):
        roundonce.eval(pair, 1.0)
    with pytest.raises(TypeError, match="is f32: expected float32 or uint32 as bits, found float64"):
        roundonce.eval(pair, np.float64([1]), 1.0)
    with pytest.raises(TypeError, match="is 2 × e4m3: expected uint16, or e4m3 with a last axis of 2, found uint8"):
        roundonce.eval("cvt.rn.f16x2.e4m3x2", np.uint8([1]))
    with pytest.raises(TypeError, match="random bits: expected uint32, found int64"):
        roundonce.eval("cvt.rs.f16x2.f32", 1.0, 2.0, np.int64([1]))
    with pytest.raises(roundonce.Error, match="is not 16 bits"):
        roundonce.eval("cvt.rn.f16x2.e4m3x2", 1.5)
    with pytest.raises(TypeError, match="`out` of .*: expected uint16, found uint8"):
        roundonce.eval(pair, 1.0, np.float32([1]), out=np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="the shape"):
        roundonce.eval(pair, 1.0, np.float32([1]), out=np.zeros(2, np.uint16))
    with pytest.raises(roundonce.Error, match="does not exist for sm_100"):
        roundonce.eval("cvt.rn.satfinite.e2m1x2.f32", 1.0, 2.0, target="sm_100")
    assert roundonce.eval("cvt.rn.satfinite.e2m1x2.f32", 1.0, 2.0, target="sm_100f") == 0x24
    with pytest.raises(roundonce.Error, match="is no target of PTX: expected one of sm_10 "):
        roundonce.eval("cvt.rn.satfinite.e2m1x2.f32", 1.0, 2.0, target="sm_99")
    with pytest.raises(ValueError, match="floating-point multiply-add"):
        roundonce.allowed(pair, 1.0, 2.0)
