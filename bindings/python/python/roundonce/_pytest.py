"""The plugin for pytest: what is shown of a failed `==` of bits, or of NumPy's floating-point numbers."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from . import testing


def pytest_assertrepr_compare(config: Any, op: str, left: object, right: object) -> Optional[List[str]]:
    """Bits, and why they differ; the whole report with ``-vv``."""
    if op != "==":
        return None
    # What was computed is on the side that says so.
    for got, want in ((left, right), (right, left)):
        if isinstance(got, testing.bits):
            return ["bits(got) == want", *got.lines(want, whole=config.getoption("verbose") > 1)]
    if isinstance(left, np.floating) and type(left) is type(right) and left.dtype.itemsize <= 8:
        lines = testing.differences(left, right)
        bits = lines[-1].partition(": ")[2] if lines else "the bits are equal: a NaN equals no number"
        return [f"{left!r} == {right!r}", bits]
    return None
