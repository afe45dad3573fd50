"""Kernels run, modules checked, computations and results compared, numbers taken apart."""

import json
import os
import pathlib
import threading
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import roundonce
from cases import asked, cases, expected

ROOT = pathlib.Path(__file__).resolve().parents[3]
CLI = ROOT / "tests/cli"
SAXPY, TWO, TROUBLE = (CLI / f"run.in/{name}.ptx" for name in ("saxpy", "two", "trouble"))
AXPY = CLI / "run-sass.in/axpy.sass"
SCALE = CLI / "run-spirv.in/scale.spvasm"


def f32(*bits):
    return np.array(bits, np.uint32).view(np.float32)


def same(got, want):
    roundonce.testing.assert_bits_equal(got, want)


@pytest.mark.parametrize("folder, case", cases("kernels") + cases("shaders"))
def test_references(folder, case):
    kernel, how = asked(folder, case)
    args = how["args"]
    before = {name: value.copy() for name, value in args.items() if isinstance(value, np.ndarray)}
    ran = roundonce.run(kernel, **how)
    for name, want in expected(folder, case).items():
        assert ran[name].shape == want.shape and ran[name].dtype == want.dtype
        assert ran[name].tobytes() == want.tobytes(), f"{name} differs from the reference"
    assert sorted(ran.not_exact) == case["approximate"]
    assert bool(ran.undetermined) != case.get("determined", True)
    for name, value in before.items():
        assert args[name].tobytes() == value.tobytes(), f"{name} was written to"


def test_shapes_strides_and_byte_orders():
    x = np.arange(24, dtype=np.float32).reshape(2, 12)
    want = roundonce.fma(x, 2.5, np.float32(1))
    for view in (x, np.asfortranarray(x), x.astype(">f4"), np.repeat(x, 2, axis=1)[:, ::2], x[::-1][::-1]):
        y = np.ones((2, 12), view.dtype)
        ran = roundonce.run(SAXPY, block=32, args=[24, 2.5, view, y])
        assert list(ran) == ["2", "3"] and ran[3].dtype == view.dtype
        same(ran["3"].astype("<f4"), want)
        same(ran["2"].astype("<f4"), x)
    x.flags.writeable = False
    same(roundonce.run(SAXPY, block=32, args=[24, 2.5, x, np.ones((2, 12), np.float32)])[3], want)


def test_numbers():
    a = 1 + 2**-24 + 2**-50
    for given in (a, np.float32(a), "0x3f800001", 1.00000011):
        ran = roundonce.run(TWO, entry="first", args={"out": np.zeros(1, np.float32), "a": given, "b": 1, "c": 0.0})
        same(ran["out"], f32(0x3F800001))
    for given, found in [(np.float64(1), "f64"), (np.float16(1), "f16"), (1j, "complex")]:
        with pytest.raises(TypeError, match=f"`?a`?.*found {found}|`a` is {found}"):
            roundonce.run(TWO, entry="first", args={"out": np.zeros(1, np.float32), "a": given, "b": 1, "c": 0.0})
    with pytest.raises(TypeError, match=r"parameter 1 \(`a`\) is a number of 4 bytes: found an array"):
        roundonce.run(TWO, entry="first", args={"out": np.zeros(1, np.float32), "a": np.ones(1), "b": 1, "c": 0.0})
    with pytest.raises(TypeError, match=r"parameter 0 \(`saxpy_param_0`\) is no float: .* found 1.5"):
        roundonce.run(SAXPY, args=[1.5, 1.0, np.zeros(1, np.float32), np.zeros(1, np.float32)])
    assert roundonce.run(SAXPY, args=[np.int16(1), 1.0, np.ones(1, np.float32), np.ones(1, np.float32)])[3] == [2]


def test_members_of_a_structure():
    x, y = np.arange(3, dtype=np.float32), np.full(3, 10, np.float32)
    for first, a, n in [("p", np.float32(0.5), "n"), ("0", "0x3f000000", "1")]:
        args = {f"{first}+0": x, f"{first}+8": y, f"{first}+16": a, n: 3}
        ran = roundonce.run(CLI / "run.in/members.ptx", block=3, args=args)
        assert list(ran) == [f"{first}+0", f"{first}+8"]
        same(ran[f"{first}+8"], np.array([10, 10.5, 11], np.float32))
    with pytest.raises(ValueError, match=r"`p\+4` is no member that the kernel reads: it reads p\+0, p\+8, p\+16"):
        roundonce.run(CLI / "run.in/members.ptx", args={"p+4": x, "n": 3})


def test_an_array_of_another_type_is_refused():
    x = np.ones(3, np.float32)
    for wrong, name in [(np.ones(3), "f64"), (np.ones(3, np.float16), "f16"), (np.ones(3, ml_dtypes.bfloat16), "bf16")]:
        with pytest.raises(TypeError, match=rf"parameter 2 .*: the array holds {name}, the kernel computes with f32"):
            roundonce.run(SAXPY, args=[3, 1.0, wrong, x])
    with pytest.raises(TypeError, match="an array of object"):
        roundonce.run(SAXPY, args=[3, 1.0, np.array([None]), x])
    same(roundonce.run(SAXPY, block=3, args=[3, 1.0, x.view(np.uint32), x])[3], x + x)


def test_texts_and_words():
    args = [3, 1.0, np.ones(3, np.float32), np.ones(3, np.float32)]
    same(roundonce.run(SAXPY.read_text(), 1, 3, args)[3], np.full(3, 2, np.float32))
    same(roundonce.run(str(SAXPY), 1, (3, 1), args)[3], np.full(3, 2, np.float32))
    x = np.load(CLI / "run-spirv.in/x.npy")
    args, spec = {"0.1": x, "shift": "0x3f800001"}, {3: 1.5}
    want = roundonce.run(SCALE, args=args, spec=spec)
    for module in (SCALE.read_text(), (CLI / "run-spirv.in/scale.spv").read_bytes(), SCALE.with_suffix(".spv")):
        same(roundonce.run(module, args=args, spec=spec)["0.1"], want["0.1"])
    assert want.undetermined
    with pytest.raises(ValueError, match="x.npy: expected a .ptx, .spv, .spvasm or .sass file"):
        roundonce.run(CLI / "run.in/x.npy")
    with pytest.raises(FileNotFoundError):
        roundonce.run("nowhere.ptx")


def test_the_language_of_a_text(tmp_path):
    args = [3, 1.0, np.ones(3, np.float32), np.ones(3, np.float32)]
    source = SAXPY.read_text()
    for mark in ("\ufeff", "/* made by a tool */ ", "\ufeff// made by a tool\n"):
        same(roundonce.run(mark + source[source.index(".version"):], 1, 3, args)[3], np.full(3, 2, np.float32))
    capitals = tmp_path / "saxpy.PTX"
    capitals.write_text(source)
    same(roundonce.run(capitals, 1, 3, args)[3], np.full(3, 2, np.float32))
    # Without `.version` it is PTX all the same, and that is what is missing.
    for text in (".target sm_80\n.entry k() {\n  ret;\n}\n", ".versoin 8.0\n.target sm_80\n.address_size 64\n"):
        assert all(finding.code.startswith("PTX") for finding in roundonce.check(text))
    assert not roundonce.check(".target sm_90\nFFMA R0, R1, R2, R3;\n")


def test_what_is_told_of_a_run():
    args = {"out": np.zeros(1, np.float32), "a": "0x3f800001", "b": "0x3f800001", "c": "0xbf800002"}
    ran = roundonce.run(TWO, entry="first", args=args, contract="report", trace=0, profile=True)
    assert ran.differences == [{"parameter": "out", "words": 1, "first": 0, "unfused": 0, "fused": 0x28800000}]
    assert ran.fused_lines and ran.kernel == "first" and ran.steps == len(ran.trace) == sum(ran.lines.values())
    assert ran.trace[0]["instruction"].startswith("ld.param") and ran.trace[0]["results"]
    assert "Run of first, 8 steps; out: float32(1,)" in repr(ran)
    same(ran["out"], f32(0))
    same(roundonce.run(TWO, entry="first", args=args, contract="fuse")["out"], f32(0x28800000))
    with pytest.raises(ValueError, match='`contract` is "perhaps"'):
        roundonce.run(TWO, entry="first", args=args, contract="perhaps")


def test_why_a_kernel_left_other_arrays():
    args = {"out": np.zeros(1, np.float32), "a": "0x3f800001", "b": "0x3f800001", "c": "0xbf800002"}
    unfused, fused = (roundonce.run(TWO, entry="first", args=args, contract=how) for how in ("none", "fuse"))
    assert fused["out"] != unfused["out"]
    report = roundonce.why_kernel(TWO, args=args, entry="first", saw=fused)
    assert "fuse" in str(report) and "<pre" in report._repr_html_()
    both = roundonce.why_kernel(TWO, args=args, entry="first", saw=[unfused, fused])
    assert len(both.data["seen"]) == 2 and report.data["seen"] == both.data["seen"][1:]
    assert both.data["seen"][0] != both.data["seen"][1]
    with pytest.raises(roundonce.Error, match="saw out: it has 8 bytes, the buffer `out` 4"):
        roundonce.why_kernel(TWO, args=args, entry="first", saw={"out": np.zeros(2, np.float32)})
    with pytest.raises(roundonce.Error, match=r"parameter 1 \(`a`\) is a number, not a buffer"):
        roundonce.why_kernel(TWO, args=args, entry="first", saw={"a": np.zeros(1, np.float32)})
    with pytest.raises(TypeError, match="saw `out`: an array of complex128"):
        roundonce.why_kernel(TWO, args=args, entry="first", saw={"out": np.zeros(1, complex)})
    with pytest.raises(TypeError, match="saw `out` is float64, and the array that the kernel was given float32"):
        roundonce.why_kernel(TWO, args=args, entry="first", saw={"out": np.zeros(1)})
    with pytest.raises(ValueError, match="a listing of SASS is not searched here"):
        roundonce.why_kernel(AXPY, saw={})
    for nothing in ({}, [], [{}], [fused, {}], {"out": np.zeros(0, np.float32)}):
        with pytest.raises(ValueError, match="`saw` has no elements: there is nothing to compare"):
            roundonce.why_kernel(TWO, args=args, entry="first", saw=nothing)
    for bare in (fused["out"], [fused["out"]], [fused, fused["out"]]):
        with pytest.raises(TypeError, match="`saw` is ndarray: expected arrays by parameter, as saw={name: array}"):
            roundonce.why_kernel(TWO, args=args, entry="first", saw=bare)


def test_a_listing_of_sass():
    same(roundonce.run(AXPY, args={"R1": "0x3f800001", "R3": -1.5, "P0": 0, "0x3:0x140": np.float32(1.5)})["R4"],
         np.array([0x3FC00002], np.uint32))
    x = np.load(CLI / "run-sass.in/x.npy")
    args = {"r1": x, "R3": "0x80000000", "P0": 1, "c[0x3][0x140]": 2.5}
    ran = roundonce.run(AXPY, args=args)
    assert list(ran) == ["R0", "R2", "R4", "CC"] and ran["R0"].dtype == np.uint32 and ran["R0"].shape == (x.size,)
    assert ran["CC"][1] == 3
    with pytest.raises(roundonce.Error, match=r"R1 is read before it is written: add it to `args`"):
        roundonce.run(AXPY)
    with pytest.raises(TypeError, match="R1 is a register of 32 bits: found an array of float64"):
        roundonce.run(AXPY, args={"R1": np.zeros(3)})
    with pytest.raises(TypeError, match="R3 is a register of 32 bits: found f64"):
        roundonce.run(AXPY, args={**args, "R3": np.float64(1)})
    with pytest.raises(roundonce.Error, match="R1: `one` is not a value"):
        roundonce.run(AXPY, args={"R1": "one"})


def test_what_is_wrong_with_a_module():
    with pytest.raises(roundonce.Error, match=r"two.ptx:29:5: error: `tex.* cannot be run \[PTX0100\]") as caught:
        roundonce.run(TWO, entry="third", args=[np.zeros(8, np.float32)])
    error = caught.value
    start, end = error.place
    assert error.code == "PTX0100" and TWO.read_text()[start:end].startswith("tex.cube")
    assert [finding.line for finding in error.findings] == [29]
    for wrong, message in [
        (dict(kernel=TWO), "choose one as `entry`: first, second, third"),
        (dict(kernel=TWO, entry="fourth"), "there is no kernel `fourth`"),
        (dict(kernel=TWO, entry="first", args=[1]), r"parameter 1 \(`a`\) has no value"),
        (dict(kernel=SAXPY, args={"4": 1}), "`4` is no parameter of `saxpy`: expected 0 to 3"),
        (dict(kernel=SAXPY, args={0: 1, "saxpy_param_0": 1}), "is given twice"),
        (dict(kernel=SAXPY, args=["1.5"]), r"parameter 0 .*: `1.5` is neither an integer nor hex bits"),
        (dict(kernel=SCALE, args={}, spec={4: 1}), "no specialisation constant 4: it has 3"),
    ]:
        with pytest.raises(roundonce.Error, match=message):
            roundonce.run(**wrong)
    with pytest.raises(TypeError, match=r"parameter .* is a buffer: expected an array"):
        roundonce.run(SCALE, args={"0.1": 1, "shift": 0.0})
    with pytest.raises(ValueError, match="`grid` has 4 numbers"):
        roundonce.run(SAXPY, grid=(1, 2, 3, 4))
    with pytest.raises(ValueError, match='`assume` is "luck"'):
        roundonce.run(SCALE, assume="luck")
    with pytest.raises(ValueError, match="`arch`: there is no target `sm_91`"):
        roundonce.run(SAXPY, arch="sm_91")


def test_what_a_kernel_does_wrong():
    with pytest.raises(roundonce.KernelError, match="32 bytes past the end of `out`") as caught:
        roundonce.run(TWO, entry="second", args=[np.zeros(8, np.float32)])
    error = caught.value
    assert isinstance(error, roundonce.Error)
    assert (error.kind, error.kernel, error.line) == ("access", "second", 23)
    assert error.block == error.thread == (0, 0, 0) and error.instruction.startswith("st.global.f32")
    with pytest.raises(roundonce.KernelError) as caught:
        roundonce.run(SAXPY, block=32, args=[32, 1.0, *[np.zeros(32, np.float32)] * 2], step_limit=10)
    assert caught.value.kind == "step limit"
    with pytest.raises(roundonce.Error) as caught:
        roundonce.run(SAXPY, args=[1, 1.0, *[np.zeros(1, np.float32)] * 2], memory_limit=1)
    assert caught.value.kind == "memory limit"


def test_kernels_on_eight_threads():
    x = np.random.default_rng(1).random(4096, np.float32)
    want = roundonce.fma(x, 1.1, x)
    wrong = []

    def work():
        for threads in (1, 2):
            got = roundonce.run(SAXPY, 32, 128, [4096, 1.1, x, x], threads=threads)[3]
            if got.tobytes() != want.tobytes():
                wrong.append(threads)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_check():
    assert roundonce.check(CLI / "check.in/good.ptx") == []
    text = (CLI / "check.in/legacy.ptx").read_text()
    found = roundonce.check(text)
    assert found == roundonce.check(CLI / "check.in/legacy.ptx") and found
    for finding in found:
        start, end = finding.place
        assert finding.line == text.count("\n", 0, start) + 1 and finding.code.startswith("PTX")
        assert finding.level in ("note", "warning", "error") and finding.message in str(finding)
    fixes = [finding.fix for finding in found if finding.fix]
    for start, end, replacement in sorted(fixes, reverse=True):
        text = text[:start] + replacement + text[end:]
    assert fixes and len(roundonce.check(text)) < len(found)
    assert any(finding.rule.startswith("PTX ISA") for finding in found)
    # Characters before the place that take several bytes.
    shifted = roundonce.check("// ≠≠≠\n" + (CLI / "check.in/legacy.ptx").read_text())
    assert [finding.place[0] - 7 for finding in shifted] == [finding.place[0] for finding in found]


@pytest.mark.parametrize("mark, end", [("", "\n"), ("", "\r\n"), ("", "\r"), ("\ufeff", "\n"), ("\ufeff", "\r\n")])
def test_places_are_those_of_the_file(tmp_path, mark, end):
    plain = (CLI / "check.in/legacy.ptx").read_text()
    text = mark + plain.replace("\n", end)
    path = tmp_path / "legacy.ptx"
    path.write_bytes(text.encode())

    def marked(text, place):
        start, end = place
        return text[start:end]

    wanted, found = roundonce.check(plain), roundonce.check(path)
    assert wanted and [str(finding) for finding in found] == [str(finding) for finding in wanted]
    for one, other in zip(wanted, found):
        assert marked(plain, one.place) == marked(text, other.place)
        assert (one.fix is None) == (other.fix is None)
        if one.fix:
            assert marked(plain, one.fix[:2]) == marked(text, other.fix[:2]) and one.fix[2] == other.fix[2]
    path.write_bytes((text + "add.f32;").encode())
    with pytest.raises(roundonce.Error) as caught:
        roundonce.run(path)
    assert marked(text + "add.f32;", caught.value.place) == "add"


def test_check_of_other_languages():
    sass = roundonce.check(CLI / "check.in/listing.sass")
    assert sass and all(finding.code.startswith("SASS") for finding in sass)
    assert [f.code for f in roundonce.check((CLI / "check.in/listing.sass").read_text())] == [f.code for f in sass]
    spirv = ROOT / "tests/cli/run-spirv.in/scale.spv"
    assert roundonce.check(spirv, target_env="vulkan1.3") == roundonce.check(spirv.read_bytes(), target_env="vulkan1.3")
    broken = roundonce.check(spirv.read_bytes()[:-4])
    assert broken[0].level == "error" and broken[0].place is None and str(broken[0]).startswith(
        f"word {broken[0].word}: error: "
    )
    with pytest.raises(roundonce.Error, match="`metal3` is no target environment"):
        roundonce.check(spirv, target_env="metal3")
    assert len(roundonce.check(TWO, determinacy=True)) > len(roundonce.check(TWO))


def test_what_is_left_open_is_shown_and_settled():
    [found] = [finding for finding in roundonce.check(TWO, determinacy=True) if finding.witness]
    inputs, results = found.witness
    values = dict(zip("abc", (bits for _, bits, _ in inputs)))
    out = np.zeros(1, np.float32)
    got = [roundonce.run(TWO, entry="first", args={"out": out, **values}, contract=how)["out"] for how in ("none", "fuse")]
    assert {f"{int(bits.view(np.uint32)[0]):#010x}" for bits in got} == {bits for _, bits, _ in results}
    text = TWO.read_text()
    for start, end, replacement in sorted(found.edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    assert not [finding for finding in roundonce.check(text, determinacy=True) if finding.witness]


def test_diff_of_computations():
    answer = roundonce.diff("fma(a,b,c)", "a*b+c")
    assert answer.equal is False and answer.data["verdict"] == "different" and "different" in str(answer)
    values = {given["name"]: given["bits"] for given in answer.data["inputs"]}
    fused = roundonce.eval("fma.rn.f32", *(values[name] for name in "abc"))
    unfused = roundonce.eval("add.rn.f32", roundonce.eval("mul.rn.f32", values["a"], values["b"]), values["c"])
    assert fused.view(np.uint32) != unfused.view(np.uint32)
    assert "<pre" in answer._repr_html_()
    assert roundonce.diff("a*b", "b*a", type="f16").equal is True
    assert roundonce.diff("FFMA.FTZ", "fma.rn.ftz.f32").equal is True
    assert roundonce.diff("mad.f32@sm_13", "fma.rn.f32").equal is False
    assert roundonce.diff("mad.f32", "add.f32", target="sm_13").equal is False
    a, b, c = np.random.default_rng(1).random((3, 1000), np.float32)
    often = roundonce.diff("fma(a,b,c)", "a*b+c", data={"a": a, "b": b, "c": c}).data["frequency"]
    differ = roundonce.fma(a, b, c).view(np.uint32) != roundonce.add(roundonce.mul(a, b), c).view(np.uint32)
    assert often["of"] == 1000 and often["different"] == differ.sum() > 0


def test_diff_asks_a_solver(monkeypatch, tmp_path):
    question = ("a*b*1f", "b*a")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    solver = tmp_path / "z3"
    # Stands for the real one, which need not be here: what counts is that it is asked, and what becomes of its answer.
    for answer, equal in [("sat", None), ("unsat", True)]:
        solver.write_text(f'#!/bin/sh\ngrep -q check-sat "$2" && echo {answer}\n')
        solver.chmod(0o755)
        compared = roundonce.diff(*question, tries=100)
        assert compared.equal is equal and ("z3" in str(compared)) == (equal is True)


def test_diff_of_results(tmp_path):
    x = np.random.default_rng(1).random((10, 10), np.float32)
    y = x.copy()
    y[3, 4] = np.nextafter(y[3, 4], np.float32(2))
    answer = roundonce.diff(x, y)
    assert answer.equal is False and answer.data["different"] == 1 and "1 of 100" in str(answer)
    assert roundonce.diff(x, x.copy()).equal is True and roundonce.diff(np.float32(1), np.float32(1)).equal is True
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    assert str(roundonce.diff(tmp_path / "x.npy", str(tmp_path / "y.npy"))) == str(answer)
    assert roundonce.diff(x.T, y.T).data["different"] == 1
    with pytest.raises(roundonce.Error, match="the shapes differ"):
        roundonce.diff(x, x[1:])
    with pytest.raises(TypeError, match="`second` is int64"):
        roundonce.diff(x, np.zeros((10, 10), np.int64))
    with pytest.raises(TypeError, match="a computation and an array"):
        roundonce.diff(x, "a*b")


def test_mistakes_of_a_comparison():
    with pytest.raises(roundonce.Error) as caught:
        roundonce.diff("fma(a,b", "a*b")
    assert caught.value.place is not None
    with pytest.raises(roundonce.Error) as caught:
        roundonce.diff("fma.f32", "a*b")
    assert caught.value.code == "FORM0002" and caught.value.rule
    with pytest.raises(roundonce.Error, match="`f8` is no type"):
        roundonce.diff("a", "b", type="f8")
    with pytest.raises(roundonce.Error, match="only `FFMA.CC` writes condition codes"):
        roundonce.diff("FFMA.CC", "FFMA")


def test_bits():
    report = roundonce.bits(np.float32(0.1))
    assert report.data["type"] == "f32" and report.data["formats"][2]["bits"] == "0x3dcccccd"
    assert [row["exact"] for row in report.data["formats"]] == [False, False, True, True, *[False] * 5]
    assert roundonce.bits(0.5).data["type"] == "f64" and "0.5" in str(report) + str(roundonce.bits(0.5))
    assert roundonce.bits("0x3c00:f16").data["exact_decimal"] == "1"
    assert roundonce.bits(ml_dtypes.bfloat16(1.5)).data["type"] == "bf16"
    with pytest.raises(roundonce.Error, match="`1.5q` is not a value"):
        roundonce.bits("1.5q")
    with pytest.raises(TypeError, match=r"an array of shape \(2,\)"):
        roundonce.bits(np.zeros(2))


def test_sums_in_no_fixed_order_are_named():
    kernel = ROOT / "tests" / "cli" / "diff-kernels.in" / "doubtful.ptx"
    args = {"x": np.ones(4, np.float32), "sum": np.zeros(1, np.float32)}
    assert roundonce.run(kernel, entry="together", block=4, args=args).unordered == [51]
    assert roundonce.run(kernel, entry="alone", block=4, args=args).unordered == []


TEXTURES = ROOT / "tests" / "cli" / "images.in" / "row.ptx"


def test_textures():
    pixels = np.array([[0, 1, 2, 4], [8, 16, 32, 64]], np.float32)
    out = np.zeros(5, np.float32)
    want = np.array([4, 6.25, 12.75, 25.5, 34], np.float32)
    for given in (pixels, pixels.astype(">f4"), np.asfortranarray(pixels)):
        textures = {"picture": (given, "linear,clamp,normalized")}
        ran = roundonce.run(TEXTURES, block=5, args={"out": out}, textures=textures, entry="row")
        same(ran["out"], want)
        same(ran["picture"], given)
        assert ran.not_exact == {"tex, linear filtering": 5}
    shade = np.arange(4, dtype=np.int32).reshape(2, 2)
    textures = {"shade": shade, "to": np.zeros((2, 2), np.int32)}
    ran = roundonce.run(TEXTURES, block=(2, 2), textures=textures, entry="copy")
    same(ran["to"], shade)


@pytest.mark.parametrize(
    "given, problem",
    [
        (np.zeros((2, 2, 3), np.float32), "expected 1, 2 or 4 components"),
        (np.zeros((2, 2), np.float64), "an image has texels of"),
        (np.zeros((0, 2), np.float32), "at least one texel"),
        ((np.zeros((2, 2), np.float32), "bilinear"), "`bilinear` is no word of a sampler"),
        ((np.zeros((2, 2), np.float32), "mirror"), "only normalized coordinates repeat"),
    ],
)
def test_textures_that_are_none(given, problem):
    with pytest.raises((roundonce.Error, roundonce.KernelError, ValueError), match=problem):
        roundonce.run(TEXTURES, args={"out": np.zeros(5, np.float32)}, textures={"picture": given}, entry="row")


SQUARES = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry squares(.param .u64 x, .param .u64 y) {
    .reg .b32 %i; .reg .b64 %p, %q, %o; .reg .f32 %a, %b, %d;
    ld.param.u64 %p, [x];
    ld.param.u64 %q, [y];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %p, %p, %o;
    add.u64 %q, %q, %o;
    ld.global.f32 %a, [%p];
    mul.rn.f32 %b, %a, %a;
    add.rn.f32 %d, %b, 0fBF800000;
    st.global.f32 [%q], %d;
    ret;
}"""


def test_a_shadow_says_how_far_rounding_has_moved_results():
    x = np.array([1 + 2**-12, 1.5, 1e30], dtype=np.float32)
    exact = [Fraction(float(value)) ** 2 - 1 for value in x]
    args = {"x": x, "y": np.zeros(3, dtype=np.float32)}
    logic = np.array([float(exact[0]), float(exact[1]) + 1, np.inf], dtype=np.float32)
    ran = roundonce.run(SQUARES, block=3, args=args, shadow="long", expect={"y": logic})
    found = ran["y"]
    [buffer] = [buffer for buffer in ran.shadow["buffers"] if buffer["parameter"] == "y"]
    # x² − 1 with x = 1 + 2^-12: 2^-24 is lost before 1 is taken off, half a unit of 2^-23 in a result near to 2^-11.
    assert Fraction(float(found[0])) != exact[0] and float(found[1]) == 1.25
    assert buffer["floats"] == 3 and buffer["expected"]["differing"] == 2
    # Rounding explains the first, and not the second.
    assert (buffer["expected"]["rounding"], buffer["expected"]["further"]) == (1, 1)
    assert buffer["expected"]["first_further"]["index"] == 1
    lines = [line for line in ran.shadow["lines"] if line["instruction"].startswith("add.rn.f32")]
    assert (lines[0]["moved"], lines[0]["cancellations"]) == (2, 1) and ran.exceptions is None


def test_exceptions_by_instruction():
    x = np.array([1.5, 1e30, 2**-70], dtype=np.float32)
    ran = roundonce.run(SQUARES, block=3, args={"x": x, "y": np.zeros(3, dtype=np.float32)}, exceptions=True)
    found = {(entry["kind"], entry["instruction"].split()[0]): entry["count"] for entry in ran.exceptions}
    assert found["infinity", "mul.rn.f32"] == 1 and found["subnormal", "mul.rn.f32"] == 1
    assert found["infinity", "add.rn.f32"] == 1 and ran.shadow is None
    with pytest.raises(ValueError, match="expected f64 or long"):
        roundonce.run(SQUARES, block=3, args={"x": x, "y": x}, shadow="f32")
    with pytest.raises(ValueError, match="add shadow="):
        roundonce.run(SQUARES, block=3, args={"x": x, "y": x}, expect={"y": x})
    with pytest.raises(roundonce.Error, match="`y` has 12 bytes, found 8"):
        roundonce.run(SQUARES, block=3, args={"x": x, "y": x}, shadow="f64", expect={"y": x[:2]})
