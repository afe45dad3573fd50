"""What `roundonce.torch.compare` promises of runs: one state, one sequence of random numbers, and results of any kind.

`test.sh --torch` installs what this wants. Exact fractions are the judge of rounding.
"""


import numpy as np
import pytest
import roundonce

torch = pytest.importorskip("torch", reason="torch is not installed, which is large: test.sh --torch")
import roundonce.torch  # noqa: E402

RANDOM = np.random.default_rng(5)
X = torch.from_numpy(RANDOM.standard_normal(256).astype(np.float32))
FLOAT64 = ("cpu", "float64")
COMPILE = ("cpu", "compile")

compare = roundonce.torch.compare


def compiled(function, *inputs):
    """A comparison with torch.compile, where there is a compiler."""
    try:
        return compare(function, *inputs, devices=COMPILE)
    except Exception as error:
        if "compiler" in str(error).lower():
            pytest.skip("there is no C++ compiler")
        raise


def test_floats_of_8_bits():
    compared = compare(lambda x: x.to(torch.float8_e4m3fn).float(), X, devices=FLOAT64)
    assert compared.equal and not compared.own and compared.operations == 2
    narrow = compare(lambda x: x.to(torch.float8_e5m2), X, devices=("cpu", "cpu"))
    assert narrow.equal and roundonce.torch.array_of(X.to(torch.float8_e5m2)).dtype.name == "float8_e5m2"
