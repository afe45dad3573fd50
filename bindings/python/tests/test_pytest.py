"""What pytest shows of a failed comparison of bits."""

import pytest

pytest_plugins = ["pytester"]

HEAD = """
import numpy as np
import roundonce
from roundonce.testing import bits

X = np.random.default_rng(1).random(100, np.float32) + np.float32(1)

def kernel(a):
    return roundonce.fma(a, a, -a)

def apart(a):
    return roundonce.sub(roundonce.mul(a, a), a)

def test():
"""
FUSED = "fuses `a * a` into the sum, which rounds once (*)"
WRITTEN = "rounds every operation as written, to nearest even (one)"

# A statement, and the lines that pytest shows of it.
SHOWN = [
    (
        'assert bits(kernel(X), "a*a - a", a=X) == apart(X)',
        ["assert bits(got) == want", "* of 100 elements differ in their bits", "the first at (*,): got 0x* ulp apart"]
        + [f"got: 100 of 100: {FUSED}", f"want: 100 of 100: {WRITTEN}"],
    ),
    (
        # What was computed is on the side that says so.
        'assert apart(X) == bits(kernel(X), "a*a - a", a=X)',
        ["assert bits(got) == want", "got: 100 of 100: fuses*", "want: 100 of 100: rounds every operation as written*"],
    ),
    (
        'x = X[1]; assert bits(kernel(x), "a*a - a", a=x) == apart(x)',
        ["assert bits(got) == want", "1 of 1 elements differ*", "got: fuses*", "want: rounds every operation as written*"],
    ),
    ("assert bits(kernel(X)) == apart(X)", ["assert bits(got) == want", "*differ in their bits", "the first at*"]),
    (
        # A function is an expression too.
        "f = lambda a: a * a - a; assert bits(kernel(X), f, a=X) == apart(X)",
        ["got: 100 of 100: fuses*", "want: 100 of 100: rounds every operation as written*"],
    ),
    ('assert bits(kernel(X), "a*", a=X) == apart(X)', ["the first at*", "no reason was found: *"]),
    ('assert bits(X, "a*a - a", a=X) == X[:3]', ["assert bits(got) == want", "shapes differ: got (100,), want (3,)"]),
    ('assert bits(X, "a", a=X) == None', ["assert bits(got) == want", "types differ: got float32, want object"]),
    (
        'assert bits(kernel(X) * np.float32(3), "a*a - a", a=X) == apart(X)',
        ["got: no evaluation explains it (none)", "want: 100 of 100: rounds every operation as written*"],
    ),
    (
        "assert np.float32(1) == np.float32(1.0000001)",
        ["assert *1.0* == *1.0000001*", "got 0x3f800000 1.0, want 0x3f800001 1.0000001*, 1 ulp apart"],
    ),
    ('assert np.float32("nan") == np.float32("nan")', ["*the bits are equal: a NaN equals no number"]),
]


def explained(pytester, statement, *options):
    """The lines about the assertion, without the E before each."""
    pytester.makepyfile(HEAD + "".join(f"    {line}\n" for line in statement.split("; ")))
    result = pytester.runpytest("-p", "no:cacheprovider", *options)
    result.assert_outcomes(failed=1)
    return [line[1:].strip() for line in result.outlines if line.startswith("E ")]


@pytest.mark.parametrize("statement, lines", SHOWN)
def test_what_is_shown(pytester, monkeypatch, statement, lines):
    # With CI set, pytest shortens nothing; without it, what is shown fits.
    monkeypatch.delenv("CI", raising=False)
    shown = explained(pytester, statement)
    pytest.LineMatcher(shown).fnmatch_lines(lines)
    assert not any("saw[" in line or "truncated" in line for line in shown)


def test_the_whole_report(pytester):
    shown = explained(pytester, SHOWN[0][0], "-vv")
    pytest.LineMatcher(shown).fnmatch_lines(["got: *explains", "100 of 100", "*__fmaf_rn(a, a, -a)*", "want: *", "*-fmad=false*"])


def test_the_function(pytester):
    """`assert_bits_equal` has the whole report, and the traceback ends at the test."""
    statement = 'roundonce.testing.assert_bits_equal(kernel(X), apart(X), "a*a - a", a=X)'
    shown = explained(pytester, statement)
    pytest.LineMatcher(shown).fnmatch_lines(["AssertionError: *differ in their bits", "got: *", "want: *", "*-fmad=false*"])
    result = pytester.runpytest("-p", "no:cacheprovider")
    assert not any("testing.py" in line for line in result.outlines)


def test_what_is_equal(pytester):
    """Nothing is shown of what holds, and without the plugin an assertion fails too."""
    statement = "assert bits(X) == X.copy() and X == bits(X); assert not bits(X) != X; assert bits(X) != X.astype(float)"
    pytester.makepyfile(HEAD + "".join(f"    {line}\n" for line in statement.split("; ")))
    pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=1)
    pytester.makepyfile(HEAD + "    assert bits(kernel(X)) == apart(X)\n")
    result = pytester.runpytest("-p", "no:cacheprovider", "-p", "no:roundonce")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *assert bits(*"])
