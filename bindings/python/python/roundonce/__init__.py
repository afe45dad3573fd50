"""The GPU multiply-add family, bit for bit, on NumPy arrays.

>>> import numpy as np, roundonce
>>> x = np.array([1.0000001], np.float32)
>>> roundonce.fma(x, x, -x).view(np.uint32)
array([872415233], dtype=uint32)

Operands are arrays of float16, float32, float64 or ml_dtypes.bfloat16, unsigned integers of the same width as bits,
whatever NumPy makes an array of (a CPU tensor of torch), or single values: Python numbers, which are rounded once, to
nearest even, and text as the command reads it ("0x3f800001", "1.5", "nan"). Nothing is converted behind the caller's
back: an array of another type is a TypeError.

What is wrong with an instruction, an operand, an expression or a module is an `Error`, a ValueError with `code`,
`place`, `rule`, `help` and `findings`; what a kernel does wrong while it runs is a `KernelError`.
"""

import importlib as _importlib
from typing import Any as _Any

from . import testing, vectors
from ._convert import convert
from ._evaluate import add, eval, fma, mad, mul, sub
from ._functions import FunctionReport, trace, why
from ._kernels import Run, check, run, why_kernel
from ._matrix import mma
from ._native import Error, Finding, KernelError, __version__
from ._plot import Picture, plot, plot_shares
from ._reports import Allowed, Difference, Report, allowed, bits, diff, explain, forms
from ._trace import Trace, Untraceable

__all__ = [
    "Allowed",
    "Difference",
    "Error",
    "Finding",
    "FunctionReport",
    "KernelError",
    "Picture",
    "Report",
    "Run",
    "Trace",
    "Untraceable",
    "add",
    "allowed",
    "bits",
    "check",
    "convert",
    "diff",
    "eval",
    "explain",
    "fma",
    "forms",
    "mad",
    "mma",
    "mul",
    "plot",
    "plot_shares",
    "run",
    "sub",
    "testing",
    "trace",
    "vectors",
    "why",
    "why_kernel",
    "__version__",
]


def __getattr__(name: str) -> _Any:
    # These import libraries that need not be installed.
    if name in ("jax", "ray", "torch"):
        return _importlib.import_module(f"roundonce.{name}")
    raise AttributeError(f"module 'roundonce' has no attribute {name!r}")
