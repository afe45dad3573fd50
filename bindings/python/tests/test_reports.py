"""Explanations, reasons, legal results, the table of forms, and what is said of mistakes."""

import ml_dtypes
import numpy as np
import pytest
import roundonce

OPERANDS = ("0x3f800001", "0x3f800001", "0xbf800002")


def f32(*bits):
    return np.array(bits, np.uint32).view(np.float32)


def test_explain():
    report = roundonce.explain("fma.rn.f32", *OPERANDS)
    assert "the sum is exactly 0x28800000" in str(report)
    assert report.data["components"][0]["result"]["bits"] == "0x28800000"
    rounded = roundonce.explain("fma.rn.f32", "0x3f800001", "0x3f800001", "0")
    page = rounded._repr_html_()
    assert page.startswith("<pre") and "span" in page
    bits = np.uint32(0x3F800001)
    assert str(roundonce.explain("fma.rn.f32", bits, bits, np.float32(0))).splitlines()[1:] == (
        str(rounded).splitlines()[1:]
    )
    with pytest.raises(ValueError, match="operand 1 has 2 elements"):
        roundonce.explain("fma.rn.f32", np.zeros(2, np.float32), 0.0, 0.0)


def test_html_is_escaped():
    report = roundonce.why("a*b", a=1.5, b=2.5, saw="3.75")
    report.lines.append([("strong", "<b>&")])
    assert "&lt;b&gt;&amp;" in report._repr_html_()


def test_why_of_values():
    report = roundonce.why("a*x+b*x", a="1e20f", b="-1e20f", x="1e10f", saw=[4.993411122843311e21, 0])
    assert [seen["outcome"] for seen in report.data["seen"]] == ["one", "one"]
    assert "fuses `a * x` into the sum" in str(report)
    # A decimal is matched to its digits, which other numbers may share; a number that has a type to its bits.
    for saw, outcome in [(4.9934e21, "consistent"), ("4.9934e21", "consistent"), (np.float32(4.9934e21), "none")]:
        report = roundonce.why("a*x+b*x", a="1e20f", b="-1e20f", x="1e10f", saw=saw)
        assert report.data["seen"][0]["outcome"] == outcome
    assert roundonce.why("a*a", a=np.array(1.5, ">f4"), saw=2.25).data["seen"][0]["outcome"] != "none"
    a = np.float32(1.0000001)
    typed = roundonce.why("a*a+c", a=a, c=f32(0xBF800002)[0], saw=f32(0x28800000)[0])
    assert typed.data["type"] == "f32" and typed.data["seen"][0]["saw"] == "0x28800000:f32"
    brain = roundonce.why("a*a", a=ml_dtypes.bfloat16(1.5), saw=ml_dtypes.bfloat16(2.25))
    assert brain.data["type"] == "bf16" and brain.data["seen"][0]["outcome"] != "none"


def test_arrays_without_elements_are_no_answer():
    empty, three = np.zeros((3, 0), np.float32), np.zeros(3, np.float32)
    for ask in (
        lambda: roundonce.why("a*a", a=empty, saw=empty),
        lambda: roundonce.why("a*b", a=empty, b=1.0, saw={"one": empty, "other": empty}, type="f32"),
        lambda: roundonce.why(lambda a: a * a, empty),
        lambda: roundonce.diff(empty, empty),
        lambda: roundonce.plot(empty, empty),
    ):
        with pytest.raises(roundonce.Error, match="the arrays have no elements: there is nothing to compare$"):
            ask()
    # A sum of none is +0, and shapes come first.
    assert roundonce.why("sum(a, 1)", a=empty, saw=three).data["elements"] == 3
    for values in ({"a": three, "saw": empty}, {"a": empty, "saw": three}):
        with pytest.raises(roundonce.Error, match=r"`saw\[0\]` has the shape"):
            roundonce.why("a*a", **values)


def test_why_of_arrays():
    a, c = np.repeat(f32(0x3F800001), 4).reshape(2, 2), f32(0xBF800002, 0, 0xBF800002, 0).reshape(2, 2)
    fused, unfused = roundonce.fma(a, a, c), roundonce.add(roundonce.mul(a, a), c)
    report = roundonce.why("a*a+c", a=a, c=c, saw=[fused, unfused])
    sentences = [seen["groups"][0]["sentence"] for seen in report.data["seen"]]
    assert sentences[0].startswith("fuses `a * a`") and sentences[1].startswith("rounds every operation as written")
    # Strides and byte orders are none of the answer's business.
    other = roundonce.why("a*a+c", a=a.T, c=c.astype(">f4").T, saw=[fused.T, unfused.T])
    assert [seen["groups"][0]["count"] for seen in other.data["seen"]] == [4, 4]
    with pytest.raises(TypeError, match="`a` is int64"):
        roundonce.why("a*a", a=np.array([1, 2]), saw=np.zeros(2))


def test_why_gives_literals_their_types():
    x = np.float32(3)
    for chosen, ty in [({}, "f32"), ({"as_": "numpy"}, "f32"), ({"as_": "c"}, "f64"), ({"as_": "glsl"}, "f32")]:
        assert roundonce.why("0.1*x", x=x, saw=0.3, **chosen).data["type"] == ty
    assert roundonce.why("10*x", x=x, saw=30, as_="c").data["type"] == "f32"
    # A Python number is a literal as one in the expression.
    for chosen, ty in [({}, "f64"), ({"type": "bf16"}, "bf16"), ({"as_": "torch"}, "f32"), ({"as_": "numpy"}, "f64")]:
        report = roundonce.why("x*x", x=1.5, saw=2.25, **chosen)
        assert report.data["type"] == ty and ("a guess" in str(report)) != bool(chosen)
    a = np.full(2, 3, np.float32)
    for chosen, ty in [({}, "f32"), ({"as_": "c"}, "f64"), ({"type": "f32"}, "f32")]:
        report = roundonce.why("k*a", a=a, k=0.1, saw=a.astype({"f32": "f4", "f64": "f8"}[ty]), **chosen)
        assert report.data["type"] == ty
    for chosen, message in [
        ({"as_": "fortran"}, "as_: `fortran` is no language whose literals are known: expected one of c, cuda"),
        ({"type": "f12"}, "`f12` is no type: expected f16, bf16, f32 or f64"),
        ({"type": "f32", "as_": "c"}, "`type` and `as_` both give literals their types: expected one"),
        ({"toolchain": "msvc"}, "toolchain: there is no advice for `msvc`: expected one of clang, cublas, gcc, glsl"),
        ({"allow": "up"}, "allow: `up` cannot be allowed: expected directed, sat, fmz, sm1x"),
    ]:
        for given in (1.5, a):
            with pytest.raises(roundonce.Error, match=message):
                roundonce.why("x*x", x=given, saw=given, **chosen)


def test_why_advises_for_a_toolchain():
    given = {"a": "0x3f800001:f32", "c": "0xbf800002:f32", "saw": "0x28800000:f32"}
    assert "fp-contract" in str(roundonce.why("a*a+c", toolchain="clang", **given))
    only = str(roundonce.why("a*a+c", toolchain="nvcc", **given))
    assert "-fmad" in only and "fp-contract" not in only


def test_mistakes_in_expressions_have_a_place():
    with pytest.raises(roundonce.Error, match=r"(?s)expected a name.*\n    \^") as caught:
        roundonce.why("a*)", a=1.0, saw=1.0)
    assert caught.value.place == (2, 3)
    with pytest.raises(roundonce.Error, match="a: `1.5q` is not a value"):
        roundonce.why("a*a", a="1.5q", saw=1.0)


def test_mistakes_in_instructions_have_a_rule():
    with pytest.raises(roundonce.Error, match="lacks one of .rn .rz .rm .rp") as caught:
        roundonce.eval("fma.f32", 1.0, 1.0, 1.0)
    assert caught.value.code == "FORM0002" and caught.value.rule == "PTX ISA, 9.7.3.6 fma"
    assert isinstance(caught.value, ValueError)
    for call, code in [
        (lambda: roundonce.eval("fma.rn.f33", 1.0, 1.0, 1.0), "FORM0001"),
        (lambda: roundonce.fma(1.0, 1.0, 1.0, ftz=True), "FORM0002"),
        (lambda: roundonce.fma(np.float16(1), np.float16(1), np.float16(1), sat=True), "FORM0002"),
        (lambda: roundonce.mad(np.float32(1), 1.0, 1.0, rnd="rn"), "FORM0003"),
        (lambda: roundonce.eval("fma.rn.f32", 1.0, 1.0), "FORM0005"),
        (lambda: roundonce.eval("fma.rn.f32", "one", 1.0, 1.0), "FORM0006"),
    ]:
        with pytest.raises(roundonce.Error) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(roundonce.Error, match="`sm-13` is no target of PTX: expected one of sm_10 "):
        roundonce.eval("mad.f32", 1.0, 1.0, 1.0, target="sm-13")


def test_allowed():
    legal = roundonce.allowed("OpFmaKHR.f32", "0x3eaaaaab", "0x3eaaaaab", "1.0")
    assert "0x3f8e38e4" in legal and np.uint32(0x3F8E38E3) in legal and f32(0x3F8E38E5)[0] not in legal
    assert legal.choice("0x3f8e38e3") == ["the neighbour below"]
    assert "rounding open" in str(legal) and "0x3f8e38e3: the neighbour below" in str(legal)
    pair = roundonce.allowed("OpFmaKHR.v2f16+rtz+preserve+special", *[np.array([1, 2], np.float16)] * 3)
    assert np.array([2, 6], np.float16) in pair and np.array([2, 6.004], np.float16) not in pair
    with pytest.raises(roundonce.Error, match="only SPIR-V leaves a choice"):
        roundonce.allowed("fma.rn.f32", 1.0, 1.0, 1.0)


def test_forms():
    every = roundonce.forms()
    assert {form["language"] for form in every} == {"PTX", "SASS", "SPIR-V"}
    assert all(form["spellings"] and form["source"] for form in every)
    assert [form["syntax"] for form in roundonce.forms("ffma32i")] == ["FFMA32I{.fmz}{.SAT}{.CC}"]
    assert len(roundonce.forms("cvt.rs")) == 2 and "madc.hi.cc.u32" in roundonce.forms("madc")[0]["spellings"]
    assert roundonce.forms("no such") == []


def test_assert_bits_equal():
    x = f32(0x3F800001, 0x40000000)
    roundonce.testing.assert_bits_equal(x, x.copy())
    roundonce.testing.assert_bits_equal(np.float64("nan"), np.float64("nan"))
    with pytest.raises(AssertionError, match=r"1 of 1 elements differ.*\nthe first: got 0x80000000 -0.0, want 0x0"):
        roundonce.testing.assert_bits_equal(np.float32(-0.0), np.float32(0.0))
    with pytest.raises(AssertionError, match="types differ: got float32, want uint32"):
        roundonce.testing.assert_bits_equal(x, x.view(np.uint32))
    with pytest.raises(AssertionError, match=r"shapes differ: got \(2,\), want \(1,\)"):
        roundonce.testing.assert_bits_equal(x, x[:1])
    fused, unfused = roundonce.fma(x, x, -x), roundonce.sub(roundonce.mul(x, x), x)
    with pytest.raises(AssertionError, match=r"(?s)at \(0,\): got 0x34000001 .* 1 ulp apart.*fuses `a \* a` into the\s+sum"):
        roundonce.testing.assert_bits_equal(fused, unfused, "a*a-a", a=x)
    with pytest.raises(AssertionError) as caught:
        roundonce.testing.assert_bits_equal(fused, unfused, "a*a-a", explain=False, a=x)
    assert "fuses" not in str(caught.value)


def test_assert_allowed():
    x, y = np.float32([1 / 3, 1.5, 2.5]), np.float32(1 / 3)
    near = roundonce.fma(x, y, 1.0)
    for legal in (near, roundonce.fma(x, y, 1.0, rnd="rz"), roundonce.fma(x, y, 1.0, rnd="rp").view(np.uint32)):
        roundonce.testing.assert_allowed(legal, "OpFmaKHR.f32", x, y, 1.0)
    wrong = near.copy()
    wrong[1:] = np.nextafter(np.nextafter(near[1:], np.float32(9)), np.float32(9))
    message = rf"2 of 3 results are illegal\nthe first at \(1,\): 0x{wrong.view(np.uint32)[1]:08x}; legal are\nOpFma"
    with pytest.raises(AssertionError, match=message):
        roundonce.testing.assert_allowed(wrong, "OpFmaKHR.f32", x, y, 1.0)
    with pytest.raises(AssertionError, match=r"shapes differ: got \(2,\), the operands give \(3,\)"):
        roundonce.testing.assert_allowed(near[:2], "OpFmaKHR.f32", x, y, 1.0)
    pairs = np.arange(6, dtype=np.float16).reshape(3, 2)
    exact = roundonce.eval("OpFmaKHR.v2f16", pairs, pairs, pairs)
    roundonce.testing.assert_allowed(exact, "OpFmaKHR.v2f16+rtz+preserve+special", pairs, pairs, pairs)
    exact[2, 1] += 1
    with pytest.raises(AssertionError, match=r"1 of 3 results are illegal\nthe first at \(2,\): 0x4fc04d00"):
        roundonce.testing.assert_allowed(exact, "OpFmaKHR.v2f16+rtz+preserve+special", pairs, pairs, pairs)


def test_arrays_with_a_double_for_a_float():
    x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    y = np.float32(np.float64(x) * 0.1)
    other = roundonce.why("0.1f * x", x=x, saw=y).data["seen"][0]["other_types"]
    assert other["option"] == "a double in the place of `0.1f`"
    assert "other_types" not in roundonce.why("0.1f * x", x=x, saw=np.float32(0.1) * x).data["seen"][0]


def test_names_that_are_not_used():
    with pytest.warns(UserWarning, match="`q` does not stand in the expression"):
        roundonce.why("a * b", a="1f", b="2f", q="3f", saw=2)
    with pytest.warns(UserWarning, match="`q` does not stand in the expression") as told:
        roundonce.why("a * b", a=np.float32([1]), b=np.float32([2]), q="3f", saw=np.float32([2]))
    assert told[0].filename == __file__
