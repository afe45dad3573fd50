"""`profile`: what the documents leave open, as the command's `--profile`. Results are those that docs/decisions.md and
vectors/hw give the readings, and of NaNs the operand that the order names."""

import json

import numpy as np
import pytest
import roundonce
from roundonce import _native

# Rounded it is the smallest normal, and below that before: flushed or not, by the rule of tininess.
EDGE = ("0x3f7fffff", "0x00800000", "0x00000000")
ONE, OTHER = (np.uint64(0x7FF8000000000000 | payload).view(np.float64) for payload in (0x123, 0x456))

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry edge(.param .u64 x, .param .f32 y) {
    .reg .b64 %p; .reg .f32 %a, %b;
    ld.param.u64 %p, [x];
    ld.param.f32 %b, [y];
    ld.global.f32 %a, [%p];
    mul.rn.ftz.f32 %a, %a, %b;
    st.global.f32 [%p], %a;
    ret;
}"""


def bits(value):
    return int(value.view(f"uint{8 * value.itemsize}"))


def test_an_instruction():
    assert bits(roundonce.eval("fma.rn.ftz.f32", *EDGE)) == 0
    for profile, result in [("tininess=result", 0x00800000), ("tiny=before-rounding", 0), ("tiny=result,sm_90", 0)]:
        assert bits(roundonce.eval("fma.rn.ftz.f32", *EDGE, profile=profile)) == result
    a, b, c = (np.full(100_000, int(text, 16), np.uint32).view(np.float32) for text in EDGE)
    roundonce.eval("fma.rn.ftz.f32", a, b, c, out=c, profile="tininess=result")
    assert (c.view(np.uint32) == 0x00800000).all()


def test_the_functions():
    payload = {None: 0x456, "nan_f64=abc": 0x123, "nan_f64=canonical": 0x7FFFFFFFFFFFF}
    for profile, expected in payload.items():
        for function in (roundonce.add, roundonce.sub, roundonce.mul):
            assert bits(function(ONE, OTHER, profile=profile)) & 0x7FFFFFFFFFFFF == expected & 0x7FFFFFFFFFFFF
        assert bits(roundonce.fma(ONE, OTHER, 1.0, profile=profile)) & 0x7FFFFFFFFFFFF == expected & 0x7FFFFFFFFFFFF
    # 0x3f800001 squared is 0x3f800002 and 2^-46 more, which a truncated product loses.
    for profile, result in [(None, 0), ("sm1x_mad=fused-ftz", 0x28800000)]:
        x, c = (np.uint32(given).view(np.float32) for given in (0x3F800001, 0xBF800002))
        assert bits(roundonce.mad(x, x, c, profile=profile)) == result
    for profile, result in [(None, 0), ("tininess=result", 0x00800000)]:
        x, y = (np.uint32(given).view(np.float32) for given in (0x3F7FFFFF, 0x00800000))
        assert bits(roundonce.mul(x, y, ftz=True, profile=profile)) == result
        assert bits(roundonce.mul(x, y, fmz=True, profile=profile)) == result


def test_explain():
    for profile, result in [(None, "0x00000000"), ("tininess=result", "0x00800000")]:
        report = roundonce.explain("fma.rn.ftz.f32", *EDGE, profile=profile)
        assert report.data["components"][0]["result"]["bits"] == result


def test_run_and_why_kernel():
    x, y = (np.uint32([given]).view(np.float32) for given in (0x3F7FFFFF, 0x00800000))
    args = {"x": x, "y": y[0]}
    assert bits(roundonce.run(KERNEL, args=args)["x"][0]) == 0
    ran = roundonce.run(KERNEL, args=args, profile="tininess=result")
    assert bits(ran["x"][0]) == 0x00800000 and not ran.lines
    counted = roundonce.run(KERNEL, args=args, profile=True)
    assert bits(counted["x"][0]) == 0 and counted.lines
    report = roundonce.why_kernel(KERNEL, args=args, saw={"x": y}, profile="tininess=result")
    assert "as written" in str(report.data["seen"][0])
    assert str(roundonce.why_kernel(KERNEL, args=args, saw={"x": y})) != str(report)
    listing = "FMUL.FTZ R0, R1, R2 ;\n"
    registers = {"R1": EDGE[0], "R2": EDGE[1]}
    assert roundonce.run(listing, args=registers)["R0"] == [0]
    assert roundonce.run(listing, args=registers, profile="tininess=result")["R0"] == [0x00800000]


def test_why():
    one, other = f"{bits(ONE):#x}:f64", f"{bits(OTHER):#x}:f64"
    seen = roundonce.why("a*b", a=one, b=other, saw=one, profile="nan_f64=abc").data["seen"][0]
    assert seen["outcome"] == "one" and "every operation as written" in str(seen)
    seen = roundonce.why("a*b", a=one, b=other, saw=one).data["seen"][0]
    assert seen["outcome"] == "one" and "every operation as written" not in str(seen) and "order abc" in str(seen)
    a = np.array([ONE, ONE])
    for profile, written in [("nan_f64=abc", True), (None, False)]:
        groups = roundonce.why("a*b", a=a, b=other, saw=a, profile=profile).data["seen"][0]["groups"]
        assert groups[0]["sentence"].startswith("rounds every operation as written") is written


def test_diff():
    for profile, equal in [(None, False), ("nan_f64=canonical", True)]:
        assert roundonce.diff("a+b", "b+a", type="f64", nan_bits=True, profile=profile).equal is equal


def test_verify(tmp_path):
    row = dict(zip("abcd", (*(text[2:] for text in EDGE), "00800000")), instruction="fma.rn.ftz.f32")
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    for profile, failed in [(None, 1), ("tininess=result", 0)]:
        report, *told = _native.verify(str(path), "rows", 0, None, profile=profile)
        assert json.loads(report)["failed"] == failed and not any(told)


def test_mistakes():
    message = "profile: `gt201` is no machine: expected one of gt200, sm_53,"
    for call in (
        lambda: roundonce.eval("fma.rn.f32", 1.0, 1.0, 1.0, profile="gt201"),
        lambda: roundonce.eval("mad.lo.s32", 1, 1, 1, profile="gt201"),
        lambda: roundonce.explain("fma.rn.f32", 1.0, 1.0, 1.0, profile="gt201"),
        lambda: roundonce.run(KERNEL, args=[np.zeros(1, np.float32), 1.0], profile="gt201"),
        lambda: roundonce.why("a*a", a=1.0, saw=1.0, profile="gt201"),
        lambda: roundonce.diff("a+b", "b+a", profile="gt201"),
        lambda: _native.verify(b"", "nothing", 0, None, profile="gt201"),
    ):
        with pytest.raises(roundonce.Error, match=message):
            call()
    with pytest.raises(roundonce.Error, match="profile: tininess: `exact` is none of result, after-rounding"):
        roundonce.mul(1.0, 1.0, profile="tiny=exact")
