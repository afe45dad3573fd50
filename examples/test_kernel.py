"""A test of a kernel that says why it fails: `pytest examples/test_kernel.py`.

The kernel is `first` of two.ptx: `out = a * b + c` with an unmodified mul and add, which an assembler may fuse.
"""

import pathlib

import numpy as np
import pytest
import roundonce

TWO = pathlib.Path(__file__).resolve().parents[1] / "tests/cli/run.in/two.ptx"
CASES = [(np.float32(1) + np.float32(2**-23), np.float32(-1) - np.float32(2**-22)), (np.float32(3), np.float32(0.1))]


def kernel(a, b, c, contract):
    return roundonce.run(
        TWO, entry="first", args={"out": np.zeros(1, np.float32), "a": a, "b": b, "c": c}, contract=contract
    )["out"][0]


@pytest.mark.parametrize("a, c", CASES)
def test_unfused(a, c):
    want = roundonce.add(roundonce.mul(a, a), c)
    roundonce.testing.assert_bits_equal(kernel(a, a, c, "none"), want, "a*b+c", a=a, b=a, c=c)


@pytest.mark.parametrize("a, c", CASES)
def test_fused(a, c):
    want = roundonce.fma(a, a, c)
    roundonce.testing.assert_bits_equal(kernel(a, a, c, "fuse"), want, "a*b+c", a=a, b=a, c=c)


def test_what_is_said_where_they_differ():
    """What a developer reads who took the one for the other."""
    a, c = CASES[0]
    with pytest.raises(AssertionError, match=r"(?s)1 of 1 elements differ.*fuses `a \* b` into the sum"):
        got = kernel(a, a, c, "fuse")
        roundonce.testing.assert_bits_equal(got, kernel(a, a, c, "none"), "a*b+c", a=a, b=a, c=c)
