"""The GPU multiply-add family, bit for bit, on NumPy arrays.

>>> import numpy as np, roundonce
>>> x = np.array([1.0000001], np.float32)
>>> roundonce.fma(x, x, -x).view(np.uint32)
array([872415233], dtype=uint32)

Operands are arrays of float16, float32, float64 or ml_dtypes.bfloat16, unsigned integers of the same width as bits,
whatever NumPy makes an array of (a CPU tensor of torch), or single values: Python numbers, which are rounded once, to
nearest even, and text as the command reads it ("0x3f800001", "1.5", "nan"). Nothing is converted behind the caller's
back: an array of another type is a TypeError.

What is wrong with an instruction, an operand or an expression is an `Error`, a ValueError with `code`, `place`, `rule`
and `help`.
"""

from . import testing
from ._evaluate import add, eval, fma, mad, mul, sub
from ._native import Error
from ._reports import Allowed, Report, allowed, explain, forms, why

__all__ = [
    "Allowed",
    "Error",
    "Report",
    "add",
    "allowed",
    "eval",
    "explain",
    "fma",
    "forms",
    "mad",
    "mul",
    "sub",
    "testing",
    "why",
]
