"""What options of a run may be, push constants, expected arrays, and errors that travel."""

import copy
import multiprocessing
import pathlib
import pickle

import ml_dtypes
import numpy as np
import pytest
import roundonce

CLI = pathlib.Path(__file__).resolve().parents[3] / "tests/cli"
SAXPY, TWO = (CLI / f"run.in/{name}.ptx" for name in ("saxpy", "two"))
AXPY = CLI / "run-sass.in/axpy.sass"
SCALE = CLI / "run-spirv.in/scale.spvasm"
ONE = np.ones(1, np.float32)
ARGS = [1, 1.0, ONE, ONE]
REGISTERS = {"R1": 1.0, "R3": -1.5, "P0": 0, "0x3:0x140": 1.5}


def same(got, want):
    roundonce.testing.assert_bits_equal(got, want)


@pytest.mark.parametrize(
    "option, error, expected",
    [
        ({"grid": "12"}, TypeError, "`grid` is str: expected one to three whole numbers"),
        ({"grid": b"\1\2"}, TypeError, "`grid` is bytes"),
        ({"grid": 2.0}, TypeError, "`grid` is float"),
        ({"grid": (1, "8")}, TypeError, "`grid` is str: expected a whole number"),
        ({"block": (2.7,)}, TypeError, "`block` is float: expected a whole number"),
        ({"block": -1}, ValueError, "`block` is -1: expected 0 to 4294967295"),
        ({"grid": 1 << 32}, ValueError, "`grid` is 4294967296"),
        ({"grid": 10**5000}, ValueError, "`grid` is a number of 16610 bits"),
        ({"grid": 0}, ValueError, "0 blocks along axis 0"),
        ({"shared": -1}, ValueError, "`shared` is -1"),
        ({"shared": "1"}, TypeError, "`shared` is str: expected a whole number"),
        ({"threads": 0}, ValueError, "`threads` is 0: expected 1 to"),
        ({"threads": 1.5}, TypeError, "`threads` is float"),
        ({"step_limit": 1 << 64}, ValueError, "`step_limit` is a number of 65 bits"),
        ({"memory_limit": None}, TypeError, "`memory_limit` is NoneType"),
        ({"trace": -1}, ValueError, "`trace` is -1"),
        ({"trace": 1}, roundonce.Error, "there is no lane 1 to trace: the launch has 1, counted from 0"),
        ({"check_races": "no"}, TypeError, "`check_races` is str: expected True or False"),
        ({"exceptions": 1}, TypeError, "`exceptions` is int: expected True or False"),
        ({"profile": 3}, TypeError, "`profile` is int: expected True or False"),
        ({"contract": 1}, TypeError, "`contract` is int: expected text"),
        ({"assume": 1}, TypeError, "`assume` is int: expected text"),
        ({"shadow": 64}, TypeError, "`shadow` is int: expected text"),
        ({"entry": 1}, TypeError, "`entry` is int: expected text"),
        ({"arch": 90}, TypeError, "`arch` is int: expected text"),
        ({"spec": {3.9: 1.0}}, TypeError, "`spec` is float: expected a whole number"),
        ({"spec": {-1: 1.0}}, ValueError, "`spec` is -1"),
        ({"textures": {"t": (ONE, 5)}}, TypeError, "`textures: the words of t` is int: expected text"),
    ],
)
def test_an_option_that_is_something_else_is_named(option, error, expected):
    with pytest.raises(error, match=expected):
        roundonce.run(SAXPY, **{"args": ARGS, **option})
    shared_with_why = {"grid", "block", "shared", "threads", "step_limit", "memory_limit", "assume", "entry", "arch", "spec"}
    if shared_with_why.issuperset(option):
        with pytest.raises(error, match=expected):
            roundonce.why_kernel(SAXPY, **{"args": ARGS, "saw": {3: ONE}, **option})


def test_options_of_numpy():
    for grid in (np.int8(1), np.array(1), [np.uint64(1)], np.ones(2, int), (1, 1, 1)):
        ran = roundonce.run(SAXPY, grid, threads=np.int64(1), check_races=np.True_, args=ARGS)
        same(ran[3], ONE + ONE)


def test_push_constants():
    x = np.arange(4, dtype=np.float32)
    want = roundonce.run(SCALE, block=4, args={"0.1": x}, spec={3: 1.5}, push=np.float32([2]))["0.1"]
    for push in (np.array([2], ">f4"), np.array(2, ">f4"), np.float32([2]).tobytes(), "00000040"):
        same(roundonce.run(SCALE, block=4, args={"0.1": x}, spec={3: 1.5}, push=push)["0.1"], want)
    for push in (np.float32([2, 0]), np.float32([2, 0, 0, 0]), np.float32([2] * 5), np.float16([2])):
        with pytest.raises(roundonce.Error, match=f"the push constants take 4 bytes, {push.nbytes} are given"):
            roundonce.run(SCALE, block=4, args={"0.1": x}, spec={3: 1.5}, push=push)
    with pytest.raises(TypeError, match="`push` is an array of object"):
        roundonce.run(SCALE, args={"0.1": x}, push=np.array([None]))


def test_expected_arrays():
    def ran(expected, dtype="<f4"):
        x, y = np.arange(3, dtype=dtype), np.ones(3, dtype)
        shadow = roundonce.run(SAXPY, block=3, args=[3, 2.0, x, y], shadow="f64", expect={3: expected}).shadow
        [buffer] = [buffer for buffer in shadow["buffers"] if "expected" in buffer]
        return buffer["expected"]["differing"]

    want = np.float32([1, 3, 5])
    for dtype in ("<f4", ">f4"):
        assert ran(want, dtype) == ran(want.astype(">f4"), dtype) == 0
        assert ran(want + 1, dtype) == ran((want + 1).astype(">f4"), dtype) == 3
    for wrong in (np.int32([1, 3, 5]), want.view(np.uint32)):
        with pytest.raises(TypeError, match="`expect`: `3` has elements of f4, found [iu]4"):
            ran(wrong)


@pytest.mark.parametrize(
    "option",
    [
        {"shared": 64},
        {"spec": {1: 1}},
        {"push": b"\0\0\0\0"},
        {"textures": {"t": ONE}},
        {"expect": {"R0": ONE}, "shadow": "f64"},
    ],
)
def test_a_listing_takes_no_option_of_kernels(option):
    with pytest.raises(roundonce.Error, match=f"axpy.sass: `{next(iter(option))}`: a listing of straight-line SASS"):
        roundonce.run(AXPY, args=REGISTERS, **option)


def test_a_listing_has_a_thread_for_each_element():
    with pytest.raises(roundonce.Error, match="axpy.sass: a grid of 5 threads: the listing's registers have elements for 1"):
        roundonce.run(AXPY, args=REGISTERS, grid=5)
    lanes = {**REGISTERS, "R1": np.ones(5, np.float32)}
    alone = roundonce.run(AXPY, args=lanes)
    for grid, block in ((5, 1), (1, 5)):
        assert (roundonce.run(AXPY, args=lanes, grid=grid, block=block)["R0"] == alone["R0"]).all()


def test_registers_of_a_listing():
    lanes = np.ones(2, np.uint32)
    for name in ("R999", "R255", "RZ", "R01", "R-1", "P7", "P9", "PT", "Q1", "c[0x3]", "999:0", "3:65536"):
        with pytest.raises(roundonce.Error, match="expected R0 to R254, P0 to P6, CC or c"):
            roundonce.run(AXPY, args={**REGISTERS, name: 1})
    for wrong in (2, 2 * lanes, "2", 1.0):
        with pytest.raises(roundonce.Error, match="P0.*P0 holds 0 to 1"):
            roundonce.run(AXPY, args={**REGISTERS, "P0": wrong})
    with pytest.raises(roundonce.Error, match="CC holds 0 to 3, found 0x4"):
        roundonce.run(AXPY, args={**REGISTERS, "CC": 4})
    with pytest.raises(roundonce.Error, match="`yes` is not a number of 0 to 1"):
        roundonce.run(AXPY, args={**REGISTERS, "P0": "yes"})
    want = roundonce.run(AXPY, args={**REGISTERS, "P0": 1})
    for other in (True, "0x1", np.uint32([1])):
        same(roundonce.run(AXPY, args={**REGISTERS, "P0": other})["R4"], want["R4"])
    by_bank = {("c[3][0x140]" if name == "0x3:0x140" else name): value for name, value in REGISTERS.items()}
    same(roundonce.run(AXPY, args=by_bank)["R4"], roundonce.run(AXPY, args=REGISTERS)["R4"])
    with pytest.raises(roundonce.Error, match="is given twice"):
        roundonce.run(AXPY, args={**REGISTERS, "c[0x3][0x140]": 1})


def test_a_text_that_is_empty():
    with pytest.raises(ValueError, match="^an empty text: expected a .ptx"):
        roundonce.run("")


def refused():
    roundonce.run(TWO, entry="third", args=[np.zeros(8, np.float32)])


def test_errors_travel():
    with pytest.raises(roundonce.Error) as caught:
        refused()
    for travelled in (pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value)):
        assert type(travelled) is roundonce.Error and str(travelled) == str(caught.value)
        assert (travelled.findings, travelled.place) == (caught.value.findings, caught.value.place)
    [finding, *_] = roundonce.check(TWO, determinacy=True)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(finding, protocol)) == finding
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(roundonce.Error, match="PTX0100") as caught:
        pool.apply(refused)
    assert caught.value.findings


def test_legal_results_travel():
    allowed = roundonce.allowed("OpFmaKHR.f32", "0x3eaaaaab", "0x3eaaaaab", "1.0")
    for travelled in (pickle.loads(pickle.dumps(allowed)), copy.deepcopy(allowed)):
        assert str(travelled) == str(allowed) and "0x3f8e38e4" in travelled and "0x3f8e38e5" not in travelled


MASKED = np.ma.masked_array([1, 2], [True, False])


@pytest.mark.parametrize(
    "name, call",
    [
        ("random", lambda masked: roundonce.convert(ONE[[0, 0]], ml_dtypes.float8_e4m3fn, rounding="rs", random=masked)),
        ("x", lambda masked: roundonce.plot_shares(masked, np.arange(2), np.ones(2, bool), "t")),
        ("y", lambda masked: roundonce.plot_shares(np.arange(2), masked, np.ones(2, bool), "t")),
        ("where", lambda masked: roundonce.plot_shares(np.arange(2), np.arange(2), masked, "t")),
        ("t", lambda masked: roundonce.run(SAXPY, args=ARGS, textures={"t": masked})),
        ("t", lambda masked: roundonce.run(SAXPY, args=ARGS, textures={"t": (masked, "linear")})),
        ("3", lambda masked: roundonce.run(SAXPY, args=[*ARGS[:3], masked])),
        ("3", lambda masked: roundonce.why_kernel(SAXPY, args=ARGS, saw={3: masked})),
        ("first", lambda masked: roundonce.diff(masked, ONE)),
    ],
)
def test_masked_arrays_are_refused(name, call):
    with pytest.raises(TypeError, match=rf"(`{name}` is|the values are) a masked array: expected an array without a mask"):
        call(MASKED)


@pytest.mark.parametrize(
    "call, error, expected",
    [
        (lambda: roundonce.why("a*a", a=1.5, saw=2.25, allow=["sat"]), TypeError, "`allow` is list: expected text"),
        (lambda: roundonce.why("a*a", a=1.5, saw=2.25, reassociate="yes"), TypeError, "`reassociate` is str: expected True"),
        (lambda: roundonce.why("a*a", a=1.5, saw=2.25, any_nan=1), TypeError, "`any_nan` is int: expected True or False"),
        (lambda: roundonce.why_kernel(SAXPY, args=ARGS, saw={3: ONE}, allow=["sat"]), TypeError, "`allow` is list"),
        (lambda: roundonce.diff("a*a", "a*b", tries=-1), ValueError, "`tries` is -1: expected 0 to"),
        (lambda: roundonce.vectors.generate("fma.rn.f32", 1, seed=-1), ValueError, "`seed` is -1"),
        (lambda: roundonce.vectors.generate("fma.rn.f32", 1, seed=1 << 64), ValueError, "`seed` is a number of 65 bits"),
        (lambda: roundonce.vectors.generate("fma.rn.f32", 1 << 64), ValueError, "`count` is a number of 65 bits"),
        (lambda: roundonce.vectors.verify(b"3F800000 3F800000 3F800000 00\n"), roundonce.Error, "say which with `instruction`"),
        (lambda: roundonce.fma(True, 1.0, 1.0), TypeError, "one of the factors is bool: expected float16"),
        (lambda: roundonce.fma(1.0, 1.0, True), TypeError, "the addend is bool: expected float16"),
        (
            lambda: roundonce.convert(ONE[[0, 0]], ml_dtypes.float8_e4m3fn, rounding="rs", random=[1, 2, 3]),
            *(ValueError, r"`random` has the shape \(3,\), the array \(2,\)"),
        ),
        (
            lambda: roundonce.eval("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 1, 2, 3),
            *(roundonce.Error, "is a matrix multiply-add, which is not taken here.*\n?.*`roundonce.mma` computes it"),
        ),
        (lambda: roundonce.check(AXPY, determinacy=True), ValueError, "axpy.sass: `determinacy` is for PTX and SPIR-V"),
        (lambda: roundonce.check(SAXPY, determinacy="yes"), TypeError, "`determinacy` is str: expected True or False"),
    ],
)
def test_a_message_names_the_argument(call, error, expected):
    with pytest.raises(error, match=expected):
        call()


def test_numbers_beyond_all_floats():
    for number, text in [(10**400, "0x7ff0000000000000"), (-(10**5000), "0xfff0000000000000")]:
        assert str(roundonce.bits(number)) == str(roundonce.bits(f"{text}:f64"))
    empty = roundonce.convert(ONE[:0], ml_dtypes.float8_e4m3fn, rounding="rs", random=[])
    assert empty.shape == (0,) and empty.dtype == ml_dtypes.float8_e4m3fn
