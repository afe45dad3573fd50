"""Types, shapes, strides, memory and threads."""

import pathlib
import threading
import time

import ml_dtypes
import numpy as np
import pytest
import roundonce

FMA = "fma.rn.f32"


def f32(*bits):
    return np.array(bits, np.uint32).view(np.float32)


def random_f32(*shape, seed=1):
    return np.random.default_rng(seed).integers(0, 1 << 32, shape, np.uint32).view(np.float32)


def same(got, want):
    roundonce.testing.assert_bits_equal(got, want)


def test_types_of_operands_and_results():
    for dtype in (np.float32, np.float64, np.float16):
        x = np.array([1.5, -2.0, np.inf], dtype)
        same(roundonce.fma(x, x, x), np.array([3.75, 2.0, np.inf], dtype))
    half, brain = (np.array([1.5, 2.0], dtype) for dtype in (np.float16, ml_dtypes.bfloat16))
    for narrow in (half, brain):
        same(roundonce.fma(narrow, narrow, np.float32(1)), np.array([3.25, 5.0], np.float32))
        same(roundonce.add(narrow, np.float32(1)), np.array([2.5, 3.0], np.float32))
        same(roundonce.sub(narrow, np.float32(1)), np.array([0.5, 1.0], np.float32))


def test_unsigned_integers_are_bits_and_stay_bits():
    x = f32(0x3F800001, 0x40000000)
    bits = x.view(np.uint32)
    same(roundonce.eval(FMA, bits, bits, bits), roundonce.eval(FMA, x, x, x).view(np.uint32))
    same(roundonce.fma(bits, bits, bits, dtype=np.float32), roundonce.eval(FMA, bits, bits, bits))
    brain = np.array([0x3FC0], np.uint16)
    same(roundonce.eval("fma.rn.f32.bf16", brain, brain, 0.0), np.array([2.25], np.float32))


def test_the_other_byte_order():
    x = random_f32(100)
    swapped = x.astype(">f4")
    same(roundonce.eval(FMA, swapped, x, x), roundonce.eval(FMA, x, x, x))
    out = np.zeros(100, ">f4")
    roundonce.eval(FMA, x, x, x, out=out)
    same(out.astype("<f4"), roundonce.eval(FMA, x, x, x))


def test_bits_of_the_other_byte_order():
    x = np.float32([1.0, 1.5])
    swapped = x.astype(">f4")
    same(swapped, x)
    assert roundonce.testing.bits(swapped) == x and roundonce.testing.bits(x) == swapped
    [count, first] = roundonce.testing.differences(swapped, np.nextafter(x, np.float32(9)).astype(">f4"))
    assert count.startswith("2 of 2") and "got 0x3f800000 1.0, want 0x3f800001" in first and "1 ulp apart" in first
    with pytest.raises(AssertionError, match="0x3fc00000 1.5, want 0x3fc00001 .* 1 ulp apart"):
        same(swapped[1:], np.nextafter(x[1:], np.float32(9)))
    with pytest.raises(AssertionError, match="types differ: got float32, want float64"):
        same(swapped, x.astype(">f8"))


def test_single_values():
    result = roundonce.eval(FMA, "0x3f800001", "0x3f800001", "0xbf800002")
    assert type(result) is np.float32 and result.view(np.uint32) == 0x28800000
    assert type(roundonce.fma(1.5, 2, 0.5)) is np.float64
    # A Python number is rounded once: this one lies just above the tie between two f16, which an f32 in between loses.
    above = 1 + 2**-11 + 2**-52
    same(roundonce.eval("OpFmaKHR.f16", above, 1.0, 0.0), np.float16(1 + 2**-10))
    # A tie between two f32, whose shortest decimal lies above it.
    same(roundonce.eval("mul.f32", 1 + 2**-24, 1.0), np.float32(1))
    same(roundonce.eval(FMA, float("nan"), 1.0, 1.0).view(np.uint32), np.uint32(0x7FFFFFFF))
    same(roundonce.eval("add.f64", 2**53 + 1, 0), np.float64(2**53))


def test_integers_of_more_digits_than_python_writes():
    for sign in (1, -1):
        same(roundonce.fma(sign * 10**5000, 1.0, 1.0), np.float64(sign * np.inf))
        report = roundonce.why("a + 1", a=sign * 10**5000, saw=sign * float("inf"))
        assert report.data["seen"][0]["explanations"]
    with pytest.raises(roundonce.Error, match="1e400"):
        roundonce.eval("mad.lo.u32", 10**5000, 1, 1)


def test_single_values_in_the_type_asked_for():
    for result in (
        roundonce.fma(1.5, 2, "0x3f80", dtype=ml_dtypes.bfloat16),
        roundonce.add(1.5, 2.5, dtype=ml_dtypes.bfloat16),
    ):
        assert type(result) is ml_dtypes.bfloat16 and result == 4
    assert type(roundonce.fma(1.5, 2, 1, dtype=">f4")) is np.float32 and roundonce.fma(1.5, 2, 1, dtype=">f4") == 4


def test_broadcasting():
    row, column = random_f32(1, 7), random_f32(5, 1, seed=2)
    got = roundonce.eval(FMA, row, column, 1.0)
    whole = [np.ascontiguousarray(np.broadcast_to(x, (5, 7))) for x in (row, column)]
    assert got.shape == (5, 7)
    same(got, roundonce.eval(FMA, *whole, np.ones((5, 7), np.float32)))
    with pytest.raises(ValueError, match=r"do not broadcast: \(3,\), \(4,\), \(\)"):
        roundonce.eval(FMA, random_f32(3), random_f32(4), 1.0)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x[3:, 1::3],
        lambda x: x[::-2, ::-1],
        lambda x: x.T,
        lambda x: np.asfortranarray(x),
        lambda x: x[2],
        lambda x: x[1:2, 4:5],
    ],
)
def test_strides(view):
    x, y = random_f32(12, 9), random_f32(12, 9, seed=2)
    got = roundonce.eval(FMA, view(x), view(y), view(x))
    same(got, view(roundonce.eval(FMA, x, y, x)))
    out = np.zeros_like(x)
    returned = roundonce.eval(FMA, view(x), view(y), view(x), out=view(out))
    same(np.ascontiguousarray(returned), np.ascontiguousarray(got))
    if np.may_share_memory(view(out), out):
        same(view(out), np.ascontiguousarray(got))


def test_more_axes_than_numpy_broadcasts():
    x = np.ones((1,) * 33, np.float32)
    for instruction, value in ((FMA, x), ("mad.lo.u32", x.view(np.uint32)), ("cvt.rn.satfinite.e4m3x2.f32", x)):
        operands = [value] + [1] * (1 if instruction.startswith("cvt") else 2)
        with pytest.raises(ValueError, match="an operand has 33 axes: NumPy broadcasts 32 at most"):
            roundonce.eval(instruction, *operands)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
def test_no_elements(shape):
    empty = np.zeros(shape, np.float32)
    assert roundonce.eval(FMA, empty, empty, 1.0).shape == shape
    assert roundonce.eval("OpFmaKHR.v3f32", *[np.zeros((0, 3), np.float32)] * 3).shape == (0, 3)


def test_packed_values():
    x = random_f32(10, 2)
    whole = x.view(np.uint64).reshape(10)
    by_component = roundonce.eval(FMA, x, x, x)
    same(roundonce.eval("fma.rn.f32x2", x, x, x), by_component)
    same(roundonce.eval("fma.rn.f32x2", whole, whole, whole), by_component.view(np.uint64).reshape(10))
    same(roundonce.eval("fma.rn.f32x2", whole, x, whole), by_component.view(np.uint64).reshape(10))
    one = roundonce.eval("fma.rn.f32x2", x, "0x400000003f800000", x)
    same(one, roundonce.eval(FMA, x, np.array([1, 2], np.float32), x))
    y = random_f32(10, 3)
    same(roundonce.eval("OpFmaKHR.v3f32", y, y, y), roundonce.eval(FMA, y, y, y))
    with pytest.raises(TypeError, match=r"3 × f32: .* a last axis of 3.* found float32 of shape \(10, 2\)"):
        roundonce.eval("OpFmaKHR.v3f32", x, x, x)


def test_out():
    x, y = random_f32(100), random_f32(100, seed=2)
    want = roundonce.eval(FMA, x, 2.0, y)
    out = np.zeros(100, np.float32)
    assert roundonce.eval(FMA, x, 2.0, y, out=out) is out
    same(out, want)
    in_place = y.copy()
    roundonce.eval(FMA, x, 2.0, in_place, out=in_place)
    same(in_place, want)
    # Results that would fall on operands not read yet.
    shifted = np.concatenate([y, y[:1]])
    roundonce.eval(FMA, x, 2.0, shifted[:-1], out=shifted[1:])
    same(shifted[1:], want)
    turned = y.copy()
    roundonce.eval(FMA, x, 2.0, turned, out=turned[::-1])
    same(turned[::-1].copy(), want)


def test_out_of_a_subclass():
    out = np.asmatrix(np.zeros((2, 2), np.float32))
    x = random_f32(2, 2)
    assert roundonce.eval(FMA, x, x, x, out=out) is out
    same(np.asarray(out), roundonce.eval(FMA, x, x, x))


def test_out_that_does_not_serve():
    x = random_f32(4)
    with pytest.raises(ValueError, match="read-only"):
        roundonce.eval(FMA, x, x, x, out=np.frombuffer(bytes(16), np.float32))
    with pytest.raises(ValueError, match=r"the shape \(5,\), the operands \(4,\)"):
        roundonce.eval(FMA, x, x, x, out=np.zeros(5, np.float32))
    with pytest.raises(TypeError, match="`out` of .* found float64"):
        roundonce.eval(FMA, x, x, x, out=np.zeros(4))
    with pytest.raises(TypeError, match="`out` is list"):
        roundonce.eval(FMA, x, x, x, out=[0.0] * 4)


def test_read_only_operands():
    x = random_f32(100)
    want = roundonce.eval(FMA, x, x, x)
    x.flags.writeable = False
    same(roundonce.eval(FMA, x, x, x), want)
    same(roundonce.eval(FMA, np.frombuffer(x.tobytes(), np.float32), x, x), want)


@pytest.mark.parametrize(
    "wrong, name",
    [
        (np.zeros(3), "float64"),
        (np.zeros(3, np.float16), "float16"),
        (np.zeros(3, np.int32), "int32"),
        (np.zeros(3, np.uint64), "uint64"),
        (np.zeros(3, ml_dtypes.bfloat16), "bfloat16"),
        (np.zeros(3, complex), "complex128"),
        (np.array(["a"]), "str"),
        (np.array([None]), "object"),
        (np.zeros(3, bool), "bool"),
        (True, "bool"),
        (np.float64(1), "float64"),
        ([1.0, 2.0], "float64"),
    ],
)
def test_a_wrong_type_is_named(wrong, name):
    with pytest.raises(TypeError, match=f"operand 2 of .* is f32: expected float32 or uint32 as bits, found {name}"):
        roundonce.eval(FMA, np.zeros(3, np.float32), wrong, 1.0)


def test_types_that_do_not_fit_together():
    with pytest.raises(TypeError, match="the factors are f32 and f64"):
        roundonce.fma(np.float32(1), np.float64(1), 1.0)
    with pytest.raises(TypeError, match="int64"):
        roundonce.fma(np.int64(1), 1.0, 1.0)
    with pytest.raises(TypeError, match="`dtype` is int32"):
        roundonce.fma(1.0, 1.0, 1.0, dtype=np.int32)


def test_modifiers():
    tiny = f32(1)
    assert roundonce.fma(tiny, 1.0, 0.0, ftz=True).view(np.uint32) == [0]
    assert roundonce.fma(tiny, np.float32(np.inf), 0.5, fmz=True, sat=True) == [0.5]
    assert roundonce.mul(tiny, np.float32(np.inf), fmz=True).view(np.uint32) == [0]
    third = np.float32(1) / np.float32(3)
    up, down = (roundonce.fma(third, third, np.float32(1), rnd=rnd).view(np.uint32) for rnd in ("rp", "rm"))
    assert up == down + 1
    assert roundonce.fma(np.float16(2), np.float16(3), np.float16(1), rnd="rz") == np.float16(7)
    assert roundonce.mad(*[np.float32(1.0000001)] * 2, np.float32(-1.0000002)) == 0
    assert roundonce.mad(*[np.float32(1.0000001)] * 2, np.float32(-1.0000002), rnd="rn", target="sm_20") > 0
    with pytest.raises(ValueError, match="`fmz` is a modifier of SASS"):
        roundonce.fma(1.0, 1.0, 1.0, fmz=True)
    for function, count in ((roundonce.fma, 3), (roundonce.add, 2), (roundonce.mad, 3), (roundonce.mul, 2)):
        with pytest.raises(ValueError, match="`rnd` is 'rn.ftz': expected rn, rz, rm or rp"):
            function(*[np.float32(1)] * count, rnd="rn.ftz")


def test_many_elements_are_those_of_few():
    count = 1_000_003
    x, y = random_f32(count), random_f32(count, seed=2)
    got = roundonce.eval(FMA, x, y, x)
    for start in range(0, count, 20_000):
        part = slice(start, start + 20_000)
        same(got[part], roundonce.eval(FMA, x[part], y[part], x[part]))


def free_memory():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))


@pytest.mark.skipif(free_memory() < 8 << 30, reason="wants 8 GB of free memory")
def test_more_elements_than_31_bits_count():
    x = np.zeros((1 << 31) + 3, np.float16)
    x[-3:] = [1, 2, 3]
    assert roundonce.eval("OpFmaKHR.f16", x, 2.0, 0.5, out=x) is x
    same(x[-4:], np.array([0.5, 2.5, 4.5, 6.5], np.float16))
    same(x[: 1 << 31 : 1 << 20], np.full(1 << 11, 0.5, np.float16))


class Interface:
    """Memory that says what it is, as another library's arrays do."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.owner = array


class Converted:
    """Something that makes an array of itself."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("of", [Interface, Converted, memoryview])
def test_whatever_is_an_array(of):
    x, y = random_f32(100), random_f32(100, seed=2)
    same(roundonce.eval(FMA, of(x), y, of(x)), roundonce.eval(FMA, x, y, x))
    same(roundonce.fma(of(x), of(y), 1.0), roundonce.fma(x, y, 1.0))
    roundonce.testing.assert_bits_equal(of(x), x)
    with pytest.raises(TypeError, match="found float64"):
        roundonce.eval(FMA, of(np.zeros(100)), y, y)


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed: it is large")
    x, y = random_f32(7, 5), random_f32(7, 5, seed=2)
    one, other = torch.from_numpy(x), torch.from_numpy(y)
    want = roundonce.eval(FMA, x, y, x)
    same(roundonce.eval(FMA, one, other, one), want)
    same(roundonce.eval(FMA, one.T, other.T, one.T), np.ascontiguousarray(want.T))
    same(roundonce.fma(one.double(), other.double(), 1.0), roundonce.fma(x.astype(float), y.astype(float), 1.0))
    half = torch.tensor([1.5, 2.0], dtype=torch.float16)
    same(roundonce.fma(half, half, np.float32(1)), np.array([3.25, 5.0], np.float32))
    # The results of a tensor's own memory.
    in_place = one.clone()
    roundonce.eval(FMA, in_place, other, in_place, out=in_place.numpy())
    same(in_place.numpy(), want)
    report = roundonce.why("a*b+a", a=one, b=other, saw=torch.from_numpy(want))
    assert report.data["seen"][0]["groups"][0]["sentence"].startswith("fuses")
    with pytest.raises(TypeError):
        roundonce.eval(FMA, one.bfloat16(), other, one)
    with pytest.raises((TypeError, RuntimeError)):
        roundonce.eval(FMA, one.requires_grad_(), other, one)


def test_eight_threads():
    x, y = random_f32(300_000), random_f32(300_000, seed=2)
    want = roundonce.eval(FMA, x, y, 1.0)
    wrong = []

    def work():
        for _ in range(5):
            if not np.array_equal(roundonce.eval(FMA, x, y, 1.0).view(np.uint32), want.view(np.uint32)):
                wrong.append(threading.current_thread().name)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_interpreter_is_free_meanwhile():
    """Another thread goes on in the middle of a long evaluation, not only before and after it; a machine that is busy
    with something else gets more than one chance to show it."""
    assert any(runs_beside_an_evaluation() for _ in range(20))


def runs_beside_an_evaluation():
    x = np.repeat(f32(0x3F800001), 30_000_000)
    window, ticks = [], []

    def work():
        window.append(time.perf_counter())
        roundonce.eval(FMA, x, x, x, out=x)
        window.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.0002)
    start, end = window
    quarter = (end - start) / 4
    return any(start + quarter < tick < end - quarter for tick in ticks)


def misaligned(values):
    """The same elements in memory that starts at an odd byte."""
    memory = np.zeros(values.nbytes + 1, np.uint8)
    memory[1:] = values.view(np.uint8)
    view = memory[1:].view(values.dtype)
    assert not view.flags.aligned
    return view


def test_misaligned_memory():
    x = random_f32(1000)
    odd = misaligned(x)
    want = roundonce.fma(x, x, x)
    same(roundonce.fma(odd, x, odd), want)
    out = misaligned(np.zeros(1000, np.float32))
    assert roundonce.eval(FMA, odd, odd, odd, out=out) is out
    same(np.array(out), want)
    # A field of packed records.
    records = np.zeros(1000, np.dtype([("tag", "u1"), ("value", "<f4")]))
    records["value"] = x
    same(roundonce.fma(records["value"], x, x), want)
    narrow = "cvt.rn.satfinite.e4m3x2.f32"
    same(roundonce.eval(narrow, odd, x), roundonce.eval(narrow, x, x))
    integers = np.arange(1000, dtype=np.uint32)
    same(
        roundonce.eval("mad.lo.u32", misaligned(integers), integers, integers),
        roundonce.eval("mad.lo.u32", integers, integers, integers),
    )


def test_a_borrowed_array_is_a_sentence():
    shared, ones = np.zeros(1 << 20, np.float32), np.ones(1 << 20, np.float32)
    said = []
    end = time.monotonic() + 60

    def until_refused(call):
        while not said and time.monotonic() < end:
            try:
                call()
            except ValueError as error:
                said.append(str(error))

    # Whichever meets the other's call is refused.
    writer = threading.Thread(target=until_refused, args=[lambda: roundonce.eval(FMA, ones, ones, ones, out=shared)])
    writer.start()
    until_refused(lambda: roundonce.fma(shared, shared, shared))
    writer.join()
    assert said, "no two calls met"
    assert "an array cannot be used now" in said[0] and "pass a copy" in said[0]
