"""The package itself: its version, vectors, pictures, memory of other libraries, Ctrl-C."""

import ast
import copy
import inspect
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import typing
import xml.etree.ElementTree

import numpy as np
import pytest
import roundonce
from roundonce import vectors


def test_version():
    import importlib.metadata

    assert roundonce.__version__ == importlib.metadata.version("roundonce")


def test_stubs_have_all_that_is_native():
    stub = ast.parse((pathlib.Path(roundonce.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))
    named = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert {name for name in dir(roundonce._native) if not name.startswith("_")} == named


def test_what_is_declared_is_returned():
    """Of single values, too, of which a result is a scalar."""
    array, single = np.ones(3, np.float32), np.float32(1)
    counts = {roundonce.fma: 3, roundonce.mad: 3, roundonce.add: 2, roundonce.sub: 2, roundonce.mul: 2}
    for function, count in counts.items():
        declared = typing.get_type_hints(function)["return"]
        for given in (array, single):
            assert declared is typing.Any or isinstance(function(*[given] * count), declared), function
    declared = typing.get_type_hints(roundonce.convert)["return"]
    assert declared is typing.Any or isinstance(roundonce.convert(single, np.float16), declared)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing.get_overloads is of Python 3.11")
def test_what_why_returns_is_declared():
    declared = {}
    for overload in typing.get_overloads(roundonce.why):
        hints = typing.get_type_hints(overload)
        declared[hints["expression"]] = hints["return"]
        # An overload takes nothing that the function does not.
        assert inspect.signature(overload).parameters.keys() <= inspect.signature(roundonce.why).parameters.keys()
    array = np.ones(3, np.float32)
    assert declared[str] is type(roundonce.why("a*a", a=array, saw=array))
    assert declared[typing.Callable] is type(roundonce.why(lambda x: x * x, array))


def test_command():
    def ask(*words):
        return subprocess.run([sys.executable, "-m", "roundonce", *words], capture_output=True, text=True)

    answer = ask("eval", "fma.rn.f32", "0x3f800001", "0x3f800001", "0xbf800002")
    assert (answer.returncode, answer.stdout[:11]) == (0, "0x28800000 ")
    assert ask("diff", "fma(a,b,c)", "a*b+c", "--type", "f32").returncode == 1
    usage = ask("eval")
    assert usage.returncode == 2 and "Usage: roundonce eval" in usage.stderr
    script = os.path.join(os.path.dirname(sys.executable), "roundonce")
    twice = "from roundonce._native import command; [command(['roundonce', 'bits', value]) for value in ('1f', '2f')]"
    said = subprocess.run([sys.executable, "-c", twice], capture_output=True, text=True).stdout
    assert "0x3f800000" in said and "0x40000000" in said
    version = subprocess.run([script, "--version"], capture_output=True, text=True).stdout
    assert version == f"roundonce {roundonce.__version__}\n"


@pytest.mark.parametrize(
    "instruction, lanes, result",
    [("fma.rn.f32", 1, "f4"), ("OpFmaKHR.v2f16+rtz", 2, "f2"), ("fma.rn.bf16x2", 2, "u2"), ("f64_add_rm", 1, "f8")],
)
def test_generated_vectors_verify(instruction, lanes, result):
    made = vectors.generate(instruction, 500, seed=3)
    assert made.result.dtype == np.dtype(result)
    assert made.result.shape == ((500,) if lanes == 1 else (500, lanes))
    assert made.flags.shape == (500,) and made.flags.any()
    assert all(operand.shape == made.result.shape for operand in made.operands)
    if not instruction.startswith("f64"):
        again = np.asarray(roundonce.eval(instruction, *made.operands))
        roundonce.testing.assert_bits_equal(again.reshape(-1).view(made.result.dtype), made.result.reshape(-1))
    other = vectors.generate(instruction, 500, seed=4)
    assert other.result.tobytes() != made.result.tobytes()


def test_verify_of_bytes_and_files(tmp_path):
    good = b"instruction,a,b,c,d\nfma.rn.f32,0x3f800001,0x3f800001,0xbf800002,0x28800000\n"
    verified = vectors.verify(good)
    assert verified.clean and str(verified) == "fma.rn.f32: 1 vector, as expected"
    assert not vectors.verify(b"").clean
    path = tmp_path / "captured.csv"
    path.write_bytes(good.replace(b"0x28800000", b"0x00000000") + b"fma.rn.f32,1\n")
    wrong = vectors.verify(path)
    assert not wrong.clean and wrong.bad_rows == [(str(path), 3, "b: nothing is there")]
    assert "unfused" in str(wrong)
    with pytest.warns(UserWarning, match="the bytes: the column `flag` is not read: did you mean `flags`?"):
        assert vectors.verify(good.replace(b",d\n", b",d,flag\n").replace(b"000\n", b"000,0\n")).clean
    with pytest.raises(roundonce.Error, match="did you mean `fma.rn.f32`"):
        vectors.generate("fma.rn.f33")
    with pytest.raises(ValueError, match="`count` is 0: expected 1 to"):
        vectors.generate("fma.rn.f32", 0)


def test_pictures(tmp_path):
    one = np.linspace(1, 2, 100, dtype=np.float32)
    picture = roundonce.plot(one, np.nextafter(one, np.float32(9)), "next")
    texts = "".join(xml.etree.ElementTree.fromstring(picture.svg).itertext())
    assert "next: 100 of 100 elements differ" in texts and "how far apart" in texts
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == picture.svg == picture._repr_svg_()
    with pytest.raises(roundonce.Error, match="shapes differ"):
        roundonce.plot(one, one[1:])


def test_shares_of_integers_of_all_types():
    for x, y in ((np.uint64([1, 1, 2]), np.int64([-1, -1, 0])), (np.int8([1, 1, 2]), np.uint64([5, 5, 6]))):
        picture = roundonce.plot_shares(x, y, [True, False, True], "shares")
        assert "shares" in picture.svg and "50" in picture.svg
    for x in (np.uint64([0, 2**63]), np.int64([-(2**63), 2**63 - 1]), np.uint64([2**64 - 2, 2**64 - 1])):
        with pytest.raises(roundonce.Error, match="takes more than 32 bits"):
            roundonce.plot_shares(x, np.zeros(2, int), np.ones(2, bool), "far")
    with pytest.raises(roundonce.Error):
        roundonce.plot_shares(np.int64([0, 2000]), np.zeros(2, int), np.ones(2, bool), "far")
    with pytest.raises(roundonce.Error):
        roundonce.plot_shares(np.zeros(0, int), np.zeros(0, int), np.zeros(0, bool), "nothing")


def raised(ask):
    with pytest.raises(Exception) as caught:
        ask()
    return caught.value


BAD = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n  foo.bar;\n}\n"
"""A module with a finding."""


def errors():
    """One of each kind: with a place and without, with findings, of a kernel."""
    yield raised(lambda: roundonce.why("a*", a=1.0))
    yield raised(lambda: roundonce.eval("fma.rn.f33", 1, 1, 1))
    yield raised(lambda: roundonce.run(BAD, 1, 1, {}))
    yield raised(lambda: roundonce.run(KERNEL, 1, 1, {"out": np.zeros(1, np.float32)}, step_limit=5))
    yield raised(lambda: roundonce.trace(lambda x: np.deg2rad(x), np.float32([1])))
    yield roundonce.Untraceable("an operation", "a reason", None)
    noted = raised(lambda: roundonce.trace(lambda x: x.argmax(), np.float32([1])))
    noted.more = "of a caller's"
    yield noted


def test_errors_go_from_process_to_process():
    kinds = set()
    for error in errors():
        kinds.add(type(error))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            for again in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error)):
                assert type(again) is type(error) and again.args == error.args and str(again) == str(error)
                # A finding has no equality of its own.
                assert repr(vars(again)) == repr(vars(error)) and vars(again).keys() == vars(error).keys()
    public = (getattr(roundonce, name) for name in roundonce.__all__)
    assert kinds == {item for item in public if isinstance(item, type) and issubclass(item, BaseException)}


def test_a_pool_raises_what_its_process_raises(tmp_path):
    script = tmp_path / "pooled.py"
    script.write_text(
        "import multiprocessing, numpy as np, roundonce\n"
        "def work(_):\n"
        "    return roundonce.trace(np.deg2rad, np.ones(3, np.float32)).text()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.Pool(1) as pool:\n"
        "        try: pool.map_async(work, [0]).get(60)\n"
        "        except roundonce.Untraceable as error: print(error.operation, error.line)\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert ran.stdout == "np.deg2rad 3\n", ran.stderr


class OnlyDLPack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_memory_of_other_libraries():
    x = np.array([1.0000001, 2, 3], np.float32)
    got = roundonce.fma(OnlyDLPack(x), x, OnlyDLPack(-x))
    roundonce.testing.assert_bits_equal(got, roundonce.fma(x, x, -x))
    roundonce.testing.assert_bits_equal(OnlyDLPack(x), x)
    assert roundonce.diff(OnlyDLPack(x), x).data["different"] == 0


KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p; .reg .b32 %r<3>; .reg .f32 %f; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 0;
  mov.f32 %f, 0f3F800000;
again:
  fma.rn.f32 %f, %f, %f, %f;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 100000000;
  @%p bra again;
  st.global.f32 [%rd1], %f;
  ret;
}
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_stops_a_run():
    script = f"""
        import signal
        import numpy as np, roundonce
        # A shell's background jobs ignore it, and what they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("started", flush=True)
        try:
            roundonce.run({KERNEL!r}, 4000, 256, {{"out": np.zeros(1, np.float32)}}, step_limit=2**60)
        except KeyboardInterrupt:
            print("stopped")
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(60, child.kill)
    timer.start()
    assert child.stdout.readline() == "started\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, _ = child.communicate()
    timer.cancel()
    assert out == "stopped\n"
    assert time.monotonic() - started < 30
