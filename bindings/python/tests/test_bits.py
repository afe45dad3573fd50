"""Bits: against exact fractions, SoftFloat, the project's vectors, and the command.

ROUNDONCE_CASES is how many cases each spelling is put to SoftFloat with: 1000000 takes minutes (docs/nightly.md).
"""

import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import zlib

import judge
import numpy as np
import pytest
import roundonce
import softfloat

ROOT = pathlib.Path(__file__).resolve().parents[3]


def is_floating(form):
    """Whether it is of the floating-point multiply-add: integers and conversions have tests of their own."""
    return not form["syntax"].startswith("cvt") and not re.search(r"\.[us]\d", form["spellings"][0])


FORMS = [form for form in roundonce.forms() if is_floating(form)]
CASES_A_FORM = 10_000
SOFTFLOAT_CASES = int(os.environ.get("ROUNDONCE_CASES", 10_000))
UNSIGNED = {16: np.uint16, 32: np.uint32, 64: np.uint64}


def is_old(form):
    """Whether a form is sm_1x's: the gate says so, or it is the truncating mad."""
    return "sm_10 to" in form["gate"]


def shared_with(form):
    """The machine that tells a row of SASS from another of the same spellings, which is the one meant without it."""
    if form["language"] != "SASS":
        return None
    if form["gate"] == "sm_70 to sm_75":
        return "sm_75"
    return "sm_70" if form["gate"] == "sm_70" and form["spellings"][0] in ("FFMA", "FADD", "FMUL") else None


def target_of(form):
    """A machine and a version that have the form; one row of `mad.f32` and some of `add.f32` are sm_1x's alone."""
    if is_old(form):
        return {"target": "sm_13"}
    if "PTX 2.0 to 3.1" in form["gate"]:
        return {"target": "sm_20", "version": "2.0"}
    if "sm_107 alone" in form["gate"]:
        return {"target": "sm_107a"}
    if shared_with(form):
        return {"target": shared_with(form)}
    return {"target": "sm_100"} if form["language"] == "PTX" and "to" not in form["gate"] else {}


def at(form):
    """What the evidence adds to a spelling that several machines have."""
    if is_old(form):
        return "@sm_13"
    if "sm_107 alone" in form["gate"]:
        return "@sm_107a"
    if "PTX 2.0 to 3.1" in form["gate"]:
        return "@sm_20"
    return f"@{shared_with(form)}" if shared_with(form) else ""


def name(form):
    return f"{form['syntax']} {form['gate']}"


def operand(rng, form):
    """Random bits, or near an edge, or of a middle size so that sums cancel and ties arise."""
    choice = rng.randrange(8)
    bits = rng.getrandbits(form.width)
    if choice < 2:
        return bits
    edges = [0, 1, 1 << form.fraction, form.infinity - 1, form.infinity, form.infinity + 1, form.infinity >> 1]
    if choice < 4:
        edge = rng.choice(edges) & form.infinity | rng.choice(edges)
        return (edge + rng.randrange(-2, 3)) % form.sign | (bits & form.sign)
    middle = (1 << (form.exponent - 1)) + rng.randrange(-form.fraction // 2, form.fraction // 2 + 1)
    few = ~0 << rng.randrange(form.fraction)
    return (bits & few & ((1 << form.fraction) - 1)) | middle << form.fraction | (bits & form.sign)


def columns(rng, what, count):
    """For each operand an array of bits, a component each."""
    formats = [judge.FORMATS[name] for name in what.operands]
    return [
        np.array([[operand(rng, form) for _ in range(what.lanes)] for _ in range(count)], UNSIGNED[form.width])
        for form in formats
    ]


def shaped(column, lanes):
    return column if lanes > 1 else column[:, 0]


@pytest.mark.parametrize("form", [form for form in FORMS if "PTX 2.0 to 3.1" not in form["gate"]], ids=name)
def test_exact_fractions(form):
    rng = random.Random(zlib.crc32(name(form).encode()))
    for spelling in form["spellings"]:
        what = judge.meaning(spelling, is_old(form))
        count = CASES_A_FORM // (len(form["spellings"]) * what.lanes) + 1
        inputs = columns(rng, what, count)
        got = roundonce.eval(spelling, *(shaped(column, what.lanes) for column in inputs), **target_of(form))
        bits = np.ascontiguousarray(got).view(UNSIGNED[judge.FORMATS[what.result].width]).reshape(count, what.lanes)
        for row in range(count):
            for lane in range(what.lanes):
                operands = tuple(int(column[row, lane]) for column in inputs)
                want = judge.judge(what, operands)
                assert int(bits[row, lane]) == want, (
                    f"{spelling} {' '.join(map(hex, operands))}: got {int(bits[row, lane]):#x}, want {want:#x}"
                )


@pytest.fixture(scope="module")
def by_softfloat():
    if platform.machine() != "x86_64":
        pytest.skip("SoftFloat's crate is built for x86-64 alone")
    return softfloat.SoftFloat()


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_softfloat(form, by_softfloat):
    rng = np.random.default_rng(zlib.crc32(name(form).encode()))
    for spelling in form["spellings"]:
        what = judge.meaning(spelling, is_old(form))
        if what.unlike and what.result != "f32":
            pytest.skip("SoftFloat has no result narrower than the operands")
        if what.result == "bf16":
            pytest.skip("SoftFloat has no bf16, and rounding its f32 again would round twice")
        if "PTX 2.0 to 3.1" in form["gate"]:
            what = what._replace(kind="fma", flush="ftz" in spelling)
        count = -(-SOFTFLOAT_CASES // what.lanes)
        inputs = softfloat.columns(rng, what, count * what.lanes, by_softfloat)
        want = by_softfloat.judge(what, inputs)
        widths = [UNSIGNED[judge.FORMATS[operand].width] for operand in what.operands]
        shape = (count, what.lanes) if what.lanes > 1 else (count,)
        given = [column.astype(width).reshape(shape) for column, width in zip(inputs, widths)]
        got = np.ascontiguousarray(roundonce.eval(spelling, *given, **target_of(form)))
        got = got.view(UNSIGNED[judge.FORMATS[what.result].width]).reshape(-1)
        wrong = np.flatnonzero(got != want)
        shown = [" ".join(f"{int(column[at]):#x}" for column in inputs) for at in wrong[:3]]
        assert not wrong.size, f"{spelling}: {wrong.size} of {want.size} differ: {shown}"
        softfloat.record(spelling + at(form), want.size)


def test_mad_of_ptx_2_is_fma():
    rng = random.Random(4)
    for spelling in (form["spellings"] for form in FORMS if "PTX 2.0 to 3.1" in form["gate"]):
        for text in spelling:
            inputs = [column[:, 0] for column in columns(rng, judge.meaning("fma.rn.f32"), 500)]
            got = roundonce.eval(text, *inputs, target="sm_20", version="2.0")
            want = roundonce.eval(text.replace("mad", "fma.rn"), *inputs)
            roundonce.testing.assert_bits_equal(got, want)


def test_vectors_of_every_spelling():
    """vectors/edge/forms.txt, whose judge is dev/oracle."""
    lines = (ROOT / "vectors/edge/forms.txt").read_text().splitlines()
    cases = [line.split(" = ") for line in lines if not line.startswith("#")]
    assert len(cases) > 2000
    for question, answer in cases:
        spelling, *operands = question.split()
        got = np.asarray(roundonce.eval(spelling, *operands))
        want = int(answer.split()[0], 16)
        assert int.from_bytes(got.tobytes(), "little") == want, f"{question}: got {got!r}, want {answer}"


def command():
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/roundonce"
    return built if built.exists() else shutil.which("roundonce")


def hexed(components, digits):
    return "0x" + "".join(f"{int(bits):0{digits}x}" for bits in reversed(components))


@pytest.mark.skipif(command() is None, reason="the command is not built: cargo build --release")
@pytest.mark.parametrize("form", FORMS, ids=name)
def test_the_command_gives_the_same_bits(form):
    rng = random.Random(zlib.crc32(name(form).encode()))
    lines, ours = [], []
    for spelling in form["spellings"]:
        what = judge.meaning(spelling)
        inputs = columns(rng, what, 40)
        given = (shaped(column, what.lanes) for column in inputs)
        got = np.ascontiguousarray(roundonce.eval(spelling, *given, **target_of(form)))
        width = judge.FORMATS[what.result].width
        bits = got.view(UNSIGNED[width]).reshape(40, what.lanes)
        for row in range(40):
            operands = (hexed(column[row], 2 * column.dtype.itemsize) for column in inputs)
            lines.append(" ".join([spelling, *operands]))
            ours.append(hexed(bits[row], width // 4))
    options = {"target": "--target", "version": "--ptx"}
    target = [word for key, value in target_of(form).items() for word in (options[key], value)]
    run = subprocess.run([command(), "eval", *target, "-"], input="\n".join(lines), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    theirs = [line.split()[0] for line in run.stdout.splitlines()]
    different = [(line, one, other) for line, one, other in zip(lines, ours, theirs) if one != other]
    assert len(theirs) == len(lines) and not different, different[:5]
