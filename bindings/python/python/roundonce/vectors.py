"""Test vectors: made, and captured results verified.

>>> from roundonce import vectors
>>> made = vectors.generate("fma.rn.f32", 1000)
>>> made.result.dtype, len(made.operands)
(dtype('float32'), 3)
"""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, SupportsIndex, Tuple, Union

import numpy as np

from . import _native
from ._arrays import _FLOAT, _UNSIGNED, _WIDTH
from ._options import LONG, integer


class Vectors(NamedTuple):
    """Vectors of one instruction, an element a vector; packed values have a last axis of components."""

    operands: Tuple[np.ndarray, ...]
    """Floats; bf16 as uint16."""
    result: np.ndarray
    flags: np.ndarray
    """The exceptions of each in TestFloat's bits: 1 inexact, 2 underflow, 4 overflow, 16 invalid."""


def generate(
    instruction: str,
    count: SupportsIndex = 10_000,
    *,
    seed: SupportsIndex = 0,
    target: Optional[str] = None,
    version: Optional[str] = None,
) -> Vectors:
    """Vectors directed at every boundary of an instruction, then random ones: the same for the same seed, as the command's
    `vectors gen`.

    `instruction` is spelled as for `eval`, or one of TestFloat's functions (``f16_mulAdd_rm``).

    Raises `Error` for a spelling that names none, ValueError for a count below 1 or a number of more than 64 bits.
    """
    count, seed = integer("count", count, LONG, 1), integer("seed", seed, LONG)
    columns, lanes, flags = _native.generate(instruction, count, seed, target, version)

    def array(format: str, data: np.ndarray) -> np.ndarray:
        values = data.view(_FLOAT.get(format, _UNSIGNED[_WIDTH[format]]))
        return values if lanes == 1 else values.reshape(-1, lanes)

    *operands, result = [array(format, data) for format, data in columns]
    return Vectors(tuple(operands), result, flags)


class Verified:
    """What a verification found: `str` gives its sentences, `data` is the same as plain data."""

    def __init__(self, reports: Sequence[str], bad_rows: List[Tuple[str, int, str]]) -> None:
        self.lines, text = _native.together(reports)
        self.data: Dict[str, Any] = json.loads(text)
        self.bad_rows = bad_rows
        """Rows that could not be read: file, number from 1, why; of each part the first hundred."""
        self.clean: bool = self.data["vectors"] > 0 and self.data["failed"] == self.data["bad"] == 0
        """Whether every row could be read and is right."""

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


def verify(
    source: Union[str, os.PathLike, bytes],
    *,
    instruction: Optional[str] = None,
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Verified:
    """Verifies captured results: a file, or the bytes that one would hold (TestFloat's text or its error lines, JSON Lines or
    a JSON array, CSV, .npz, Parquet). `roundonce.ray.verify` does it over a cluster.

    `instruction` is that of rows that name none; `target`, `version` and `profile` are as for `eval`.

    A column that is not read is a warning. Raises `Error` (contents that cannot be read at all, a spelling).
    """
    given = source if isinstance(source, bytes) else os.fspath(source)
    name = "the bytes" if isinstance(given, bytes) else given
    report, bad, notes = _native.verify(given, name, 0, instruction, target, version, profile)
    for note in notes:
        warnings.warn(f"{name}: {note}", stacklevel=2)
    return Verified([report], [(name, row, problem) for row, problem in bad])
