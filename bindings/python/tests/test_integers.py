"""The integer multiply-add, held against Python's own integers."""

import numpy as np
import pytest
import roundonce

EDGES = {16: [0, 1, 2, 0x7FFF, 0x8000, 0xFFFF, 0x8001], 32: [0, 1, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10001]}
EDGES[64] = [0, 1, 5, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 32]


def number(bits, width, signed):
    return bits - (1 << width) if signed and bits >> width - 1 else bits


def operands(width):
    """Every triple of edges, as bits."""
    return (axis.ravel() for axis in np.meshgrid(*[np.array(EDGES[width], f"uint{width}")] * 3))


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("half", ["lo", "hi"])
def test_mad(width, signed, half):
    a, b, c = operands(width)
    sign = "s" if signed else "u"
    result = roundonce.eval(f"mad.{half}.{sign}{width}", a, b, c)
    assert result.dtype == np.dtype(f"{'int' if signed else 'uint'}{width}") and result.shape == a.shape
    for row in range(a.size):
        x, y, z = (number(int(given[row]), width, signed) for given in (a, b, c))
        exact = (x * y >> (width if half == "hi" else 0)) + z
        assert int(result[row]) % (1 << width) == exact % (1 << width), (x, y, z)
    # Operands of either sign are the same bits.
    view = result.dtype
    assert (roundonce.eval(f"mad.{half}.{sign}{width}", a.view(view), b, c.astype(f">u{width // 8}")) == result).all()


def test_mad_wide_and_saturating():
    a, b, _ = operands(32)
    c = np.arange(a.size, dtype=np.int64) << 55
    wide = roundonce.eval("mad.wide.s32", a, b, c)
    assert wide.dtype == np.int64
    for x, y, z, d in zip(a.view(np.int32).tolist(), b.view(np.int32).tolist(), c.tolist(), wide.tolist()):
        assert (x * y + z - d) % (1 << 64) == 0
    a, b, c = (given.view(np.int32) for given in operands(32))
    clamped = roundonce.eval("mad.hi.sat.s32", a, b, c)
    for x, y, z, d in zip(a.tolist(), b.tolist(), c.tolist(), clamped.tolist()):
        assert d == min(max((x * y >> 32) + z, -(1 << 31)), (1 << 31) - 1)


def test_carries_join_words():
    """A product of two words each, by parts, with the carries that the instructions give and take."""
    draw = np.random.default_rng(5)
    x, y = draw.integers(0, 1 << 32, (2, 500), np.uint32)
    z = draw.integers(0, 1 << 64, 500, np.uint64)
    low, carry = roundonce.eval("mad.lo.cc.u32", x, y, z.astype(np.uint32))
    assert low.dtype == np.uint32 and carry.dtype == np.bool_ and carry.any() and not carry.all()
    high = roundonce.eval("madc.hi.u32", x, y, (z >> np.uint64(32)).astype(np.uint32), carry)
    for a, b, c, d, e in zip(*(given.tolist() for given in (x, y, z, low, high))):
        assert (e << 32 | d) == (a * b + c) % (1 << 64)
    result, carry = roundonce.eval("madc.lo.cc.u32", "0xffffffff", 1, 0, 1)
    assert (int(result), bool(carry)) == (0, True) and isinstance(result, np.uint32)


def test_dot_products():
    a = np.array([0x80FF017F, 0x12345678], np.uint32)
    expected = [sum(number(x, 8, True) * y for x, y in zip(word.tobytes(), (2, 3, 4, 5))) - 7 for word in a]
    assert roundonce.eval("dp4a.s32.u32", a, 0x05040302, -7).tolist() == expected


def test_shapes_and_out():
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert (roundonce.eval("mad.lo.s32", a, np.int32([10, 20, 30]), -1) == a * [10, 20, 30] - 1).all()
    single = roundonce.eval("mad.lo.s32", "-3", 4, "0x5")
    assert type(single) is np.int32 and single == -7
    out = np.zeros((2, 3), ">u4")
    assert roundonce.eval("mad.lo.s32", a, 2, a, out=out) is out and (out == a * 3).all()
    assert roundonce.eval("mad.lo.s32", a, 2, a, out=a) is a and a[1, 2] == 15
    result, carry = roundonce.eval("mad.lo.cc.u32", a, 1, 0, out=a)
    assert result is a and carry.shape == (2, 3)
    assert roundonce.eval("mad.lo.s32", a[:0], 1, 1).shape == (0, 3)


def test_explain():
    report = roundonce.explain("mad.hi.s32", np.int32(-1), "2", 5)
    assert report.data["result"] == {"name": "d", "type": "s32", "bits": "0x00000004", "value": "4"}
    assert "of it 0xffffffff is taken, -1" in str(report)
    with pytest.raises(ValueError, match="operand 2 has 2 elements: one value is explained at a time"):
        roundonce.explain("mad.lo.s32", 1, np.zeros(2, np.int32), 1)


def test_mistakes_are_the_commands():
    for call, code, message in [
        (lambda: roundonce.eval("mad.lo.s32", 1, 2), "FORM0005", r"`mad.half.type` takes 3 operands \(a, b, c\), found 2"),
        (lambda: roundonce.eval("mad.lo.f32x", 1, 2, 3), "FORM0002", "`mad.lo.f32x` lacks one of .u16 .s16"),
        (lambda: roundonce.eval("mad.hi.s32", 1.5, 2, 3), "FORM0006", "operand 1: `1.5` is no integer: expected one like"),
        (lambda: roundonce.eval("mad.lo.s16", 1, 65536, 3), "FORM0006", "operand 2: `65536` does not fit 16 bits"),
        (lambda: roundonce.explain("mad.lo.u32", 1, 2, "x"), "FORM0006", "operand 3: `x` is no integer"),
    ]:
        with pytest.raises(roundonce.Error, match=message) as caught:
            call()
        assert caught.value.code == code
    a = np.zeros(2, np.int32)
    for given, found in [(np.zeros(2, np.int64), "int64"), (np.zeros(2, np.float32), "float32"), (a == 0, "bool")]:
        with pytest.raises(TypeError, match=f"operand 1 of `mad.half.type` has 32 bits: expected int32 or uint32, found {found}"):
            roundonce.eval("mad.lo.s32", given, 1, 1)
    with pytest.raises(TypeError, match="`out` of .* found float32"):
        roundonce.eval("mad.lo.s32", a, 1, 1, out=a.view(np.float32))
    with pytest.raises(TypeError, match="`out` is list"):
        roundonce.eval("mad.lo.s32", a, 1, 1, out=[0, 0])
    with pytest.raises(ValueError, match=r"`out` has the shape \(2,\), the operands \(3, 2\)"):
        roundonce.eval("mad.lo.s32", np.zeros((3, 2), np.int32), 1, 1, out=a)
    with pytest.raises(ValueError, match="shapes do not broadcast"):
        roundonce.eval("mad.lo.s32", a, np.zeros(3, np.int32), 1)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="`out` is read-only"):
        roundonce.eval("mad.lo.s32", a, 1, 1, out=a)
