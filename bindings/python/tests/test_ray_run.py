"""Kernels on a local cluster of two worker processes: the bits of one machine, or a refusal. `test.sh --ray` installs
what this wants."""

import threading

import numpy as np
import processes
import pytest
import roundonce
from cases import TESTS, asked, cases, expected

ray = pytest.importorskip("ray", reason="Ray is not installed: it is large")
import roundonce.ray  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("cluster")]

# Blocks that communicate, or an image that is written; every other kernel and shader is run in parts.
REFUSED = {
    "reduce.ptx": (66, "an atomic on memory that all blocks share"),
    "histogram.ptx": (72, "an atomic on memory that all blocks share"),
    "reduce.spvasm": (219, "an atomic on memory that all blocks share"),
    "heap.ptx": (71, "an atomic on memory that all blocks share"),
    "grid_sync.ptx": (127, "an atomic on memory that all blocks share"),
    "surfaces.ptx": (55, "it writes an image"),
    "images.spvasm": (203, "an atomic on memory that all blocks share"),
    "images_cl.spvasm": (181, "it writes an image"),
    "opaque.ptx": (47, "an atomic on memory that all blocks share"),
}


@pytest.mark.parametrize("folder, case", cases("kernels") + cases("shaders"))
def test_references(folder, case):
    kernel, how = asked(folder, case)
    before = {name: value.copy() for name, value in how["args"].items() if isinstance(value, np.ndarray)}
    for parts in (1, 2, 3, 7):
        if kernel.name in REFUSED:
            line, why = REFUSED[kernel.name]
            with pytest.raises(roundonce.KernelError, match=why) as refused:
                roundonce.ray.run(kernel, parts=parts, **how)
            assert (refused.value.kind, refused.value.line) == ("dependence", line) and refused.value.instruction
            continue
        ran = roundonce.ray.run(kernel, parts=parts, **how)
        whole = roundonce.run(kernel, threads=1, **how)
        assert list(ran) == list(whole)
        for name, array in whole.items():
            assert (ran[name].dtype, ran[name].shape) == (array.dtype, array.shape)
            assert ran[name].tobytes() == array.tobytes(), f"{name} in {parts} parts"
        for name, want in expected(folder, case).items():
            assert ran[name].tobytes() == want.tobytes(), f"{name} differs from the reference"
        for told in ("kernel", "steps", "printed", "not_exact", "undetermined", "fused_lines", "lines", "trace"):
            assert getattr(ran, told) == getattr(whole, told), told
    for name, value in before.items():
        assert how["args"][name].tobytes() == value.tobytes(), f"{name} was written to"


@pytest.mark.parametrize("folder, case", cases("kernels") + cases("shaders"))
def test_references_by_slices(folder, case, monkeypatch):
    """Each part with what it is expected to access alone, where that is known."""
    monkeypatch.setattr(roundonce.ray, "SLICED", 1)
    monkeypatch.setattr(roundonce.ray, "OVERLAP", 1000)
    kernel, how = asked(folder, case)
    if kernel.name not in REFUSED:
        ran, whole = roundonce.ray.run(kernel, parts=3, **how), roundonce.run(kernel, threads=1, **how)
        assert {name: array.tobytes() for name, array in ran.items()} == {
            name: array.tobytes() for name, array in whole.items()
        }
        assert ran.steps == whole.steps


def saxpy(blocks, threads=128):
    """A launch that has a thread less than lanes."""
    count = blocks * threads - 1
    x, y = np.random.default_rng(blocks).standard_normal((2, count)).astype(np.float32)
    return {"grid": blocks, "block": threads, "args": [count, 2.5, x, y]}


@pytest.mark.parametrize("blocks", [1, 2, 5, 127, 1001])
def test_odd_grids(blocks):
    how = {**saxpy(blocks), "trace": 128 * (blocks - 1) + 3, "profile": True}
    whole = roundonce.run(TESTS / "kernels/saxpy.ptx", **how)
    for parts in (None, 1, 2, 3, 7, 5000):
        ran = roundonce.ray.run(TESTS / "kernels/saxpy.ptx", parts=parts, in_flight=3, **how)
        assert ran["3"].tobytes() == whole["3"].tobytes() and ran["2"].tobytes() == whole["2"].tobytes()
        assert (ran.steps, ran.lines, ran.trace) == (whole.steps, whole.lines, whole.trace) and whole.trace


KERNEL = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {{
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r9, [n];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r3, %r1, %r4, %r2;
    mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd1, %rd2;
    {body}
    ret;
}}
"""


def kernel(body, **how):
    how = {"grid": 7, "block": 32, "args": [np.zeros(1024, np.uint32), 0], **how}
    return roundonce.ray.run(KERNEL.format(body=body), **how)


def test_what_only_a_run_shows():
    for parts in (2, 7):
        with pytest.raises(roundonce.KernelError, match="byte 400 of `out` is written by one of blocks 0 to") as refused:
            kernel("setp.eq.u32 %p1, %r2, 5; @%p1 st.global.u32 [%rd1+400], 0;", parts=parts)
        assert refused.value.kind == "dependence" and "written by one of blocks" in str(refused.value)
    message = "byte 384 of `out` is written by one of blocks 3 to 6 and read by one of blocks 0 to 2"
    with pytest.raises(roundonce.KernelError, match=message):
        kernel("ld.global.u32 %r5, [%rd2+4]; st.global.u32 [%rd2], %r5;", parts=2)
    # Bytes of one word, and a word that all read and none writes.
    own = "ld.global.u32 %r5, [%rd1+4000]; mul.wide.u32 %rd3, %r3, 3; add.s64 %rd3, %rd1, %rd3; st.global.u8 [%rd3+7], %r3;"
    assert kernel(own, parts=7)["0"].view(np.uint8)[7 : 7 + 3 * 224 : 3].tolist() == list(range(224))


def test_slices(monkeypatch):
    """What the parts are sent, and that one that was sent too little is sent all."""
    sent = []
    shares = roundonce.ray._shares

    def watched(asked, ranges):
        shared, slices = shares(asked, ranges)
        all_slices = [{name: (at, len(data)) for name, (at, data) in slices(n).items()} for n in range(len(ranges))]
        sent.append((dict(shared["args"]), all_slices))
        return shared, slices

    monkeypatch.setattr(roundonce.ray, "_shares", watched)
    count = 1 << 16
    x, table = np.arange(2 * count, dtype=np.uint32).reshape(2, count)
    # Its own words of the first, any of the second.
    body = (
        "ld.param.u64 %rd3, [in]; ld.global.u32 %r5, [%rd2]; and.b32 %r6, %r5, 0xffff; mul.wide.u32 %rd4, %r6, 4;"
        "add.s64 %rd4, %rd3, %rd4; ld.global.u32 %r6, [%rd4]; add.s32 %r5, %r5, %r6; st.global.u32 [%rd2], %r5;"
    )
    text = KERNEL.replace(".param .u32 n)", ".param .u32 n, .param .u64 in)").format(body=body)
    how = {"grid": count // 256, "block": 256, "args": [x, 0, table]}
    ran = roundonce.ray.run(text, parts=3, **how)
    assert ran["0"].tobytes() == (x + table[x & 0xFFFF]).tobytes() and ran["2"].tobytes() == table.tobytes()
    shared, slices = sent.pop()
    assert shared["0"] == (None, 4 * count) and shared["2"][1].nbytes == 4 * count
    at = [part["0"] for part in slices]
    ends = np.cumsum([size for _, size in at]).tolist()
    assert [start for start, _ in at] == [0, *ends[:-1]] and ends[-1] == 4 * count
    # From its own word of the second to the next that is 0: what the counter is compared with says something else.
    body = (
        "ld.param.u64 %rd3, [in]; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd3, %rd3, %rd4; mov.u32 %r6, 0;"
        "L: ld.global.u32 %r5, [%rd3]; add.s64 %rd3, %rd3, 4; add.s32 %r6, %r6, 1; setp.eq.s32 %p2, %r6, 9;"
        "setp.ne.u32 %p1, %r5, 0; @%p1 bra L; st.global.u32 [%rd2], %r6;"
    )
    table[95::96] = table[-1] = 0
    text = KERNEL.replace(".param .u32 n)", ".param .u32 n, .param .u64 in)").format(body=body)
    ran = roundonce.ray.run(text, parts=4, **how)
    assert all(set(part) == {"0", "2"} for part in sent.pop()[1])
    assert ran["0"].tobytes() == roundonce.run(text, **how)["0"].tobytes()


def test_faults():
    body = "mul.wide.u32 %rd3, %r3, 32; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r3;"
    for parts in (1, 2, 7):
        with pytest.raises(roundonce.KernelError, match="0 bytes past the end of `out`") as fault:
            kernel(body, parts=parts)
        assert (fault.value.kind, fault.value.block, fault.value.thread) == ("access", (4, 0, 0), (0, 0, 0))
    with pytest.raises(roundonce.Error, match="has no value: add it to `args`"):
        kernel(body, args=[np.zeros(4, np.uint32)])
    for option, error in [({"threads": 0}, ValueError), ({"shared": -1}, ValueError), ({"block": "8"}, TypeError)]:
        with pytest.raises(error, match=f"`{next(iter(option))}` is"):
            kernel(body, **option)
    with pytest.raises(ValueError, match="`parts` is 0"):
        kernel(body, parts=0)
    with pytest.raises(ValueError, match="a listing of SASS"):
        roundonce.ray.run("FADD R0, R1, R2;\n", args={"R1": 1.0, "R2": 2.0})


def test_a_worker_is_killed():
    """Long enough that a worker dies in the middle; what it had done is done again, and nothing twice."""
    body = (
        "ld.global.u32 %r5, [%rd2]; mov.u32 %r6, 0;\n"
        "L: mad.lo.s32 %r5, %r5, 1664525, 1013904223; add.s32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r9; @%p1 bra L;\n"
        "st.global.u32 [%rd2], %r5;"
    )
    how = {"grid": 256, "block": 256, "args": [np.arange(1 << 16, dtype=np.uint32), 100_000]}
    killed = []
    watch = threading.Thread(
        target=lambda: killed.append(processes.kill_one("ray::_run_part", lambda: True, seconds=120))
    )
    watch.start()
    ran = kernel(body, parts=8, step_limit=1 << 40, **how)
    watch.join()
    assert killed == [True]
    whole = roundonce.run(KERNEL.format(body=body), step_limit=1 << 40, **how)
    assert ran["0"].tobytes() == whole["0"].tobytes() and ran.steps == whole.steps
