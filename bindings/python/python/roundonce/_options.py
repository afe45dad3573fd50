"""What options of a run may be: a sentence that names the option where it is something else."""

from __future__ import annotations

import operator
import os
from typing import Any, Dict, Mapping, Optional, Sequence, SupportsIndex, Tuple, Union

import numpy as np

from ._arrays import as_array, element_of, little

Extent = Union[SupportsIndex, Sequence[SupportsIndex], np.ndarray]

WORD, LONG = (1 << 32) - 1, (1 << 64) - 1


def integer(name: str, value: Any, most: int, least: int = 0) -> int:
    """A whole number, of Python or of NumPy."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` is {type(value).__name__}: expected a whole number") from None
    if not least <= number <= most:
        shown = number if abs(number) <= LONG else f"a number of {number.bit_length()} bits"
        raise ValueError(f"`{name}` is {shown}: expected {least} to {most}")
    return number


def text(name: str, value: Any) -> Optional[str]:
    """Text, where it is given."""
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"`{name}` is {type(value).__name__}: expected text")


def flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"`{name}` is {type(value).__name__}: expected True or False")


def extent(name: str, value: Extent) -> Tuple[int, int, int]:
    """One to three numbers, of blocks or of threads."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"`{name}` is {type(value).__name__}: expected one to three whole numbers")
    lengths = (value,) if hasattr(value, "__index__") and not np.ndim(value) else value  # type: ignore[arg-type]
    try:
        lengths = tuple(lengths)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"`{name}` is {type(value).__name__}: expected one to three whole numbers") from None
    if not 1 <= len(lengths) <= 3:
        raise ValueError(f"`{name}` has {len(lengths)} numbers: expected one to three")
    x, y, z = (*(integer(name, length, WORD) for length in lengths), 1, 1)[:3]
    return x, y, z


def how(
    *,
    contract: str = "none",
    shared: SupportsIndex = 0,
    threads: Optional[SupportsIndex] = None,
    step_limit: SupportsIndex = 1 << 30,
    memory_limit: SupportsIndex = 16 << 30,
    check_races: bool = False,
    trace: Optional[SupportsIndex] = None,
    exceptions: bool = False,
    shadow: Optional[str] = None,
    expect: Optional[Mapping[Any, Any]] = None,
    profile: Union[bool, str, None] = None,
    arch: Optional[str] = None,
) -> Dict[str, Any]:
    """How a kernel is run, as the native part takes it: without an option nothing but its results is asked for."""
    counts = False if profile is None or isinstance(profile, str) else flag("profile", profile)
    return {
        "contract": text("contract", contract) or "none",
        "shared": integer("shared", shared, WORD),
        "threads": os.cpu_count() or 1 if threads is None else integer("threads", threads, WORD, 1),
        "step_limit": integer("step_limit", step_limit, LONG),
        "memory_limit": integer("memory_limit", memory_limit, LONG),
        "check_races": flag("check_races", check_races),
        "trace": None if trace is None else integer("trace", trace, LONG),
        "count_lines": counts,
        "exceptions": flag("exceptions", exceptions),
        "shadow": text("shadow", shadow),
        "expect": [expected(str(place), value) for place, value in (expect or {}).items()],
        "profile": profile if isinstance(profile, str) else None,
        "arch": text("arch", arch),
    }


def expected(place: str, value: Any) -> Tuple[str, str, bytes]:
    """What an array should hold afterwards: its name, its elements and its bytes."""
    array = numbers(f"expect: `{place}`", as_array(value))
    return place, element_of(array.dtype), little(array).tobytes()


def numbers(what: str, array: np.ndarray) -> np.ndarray:
    """An array of numbers, whose bytes mean something elsewhere."""
    if array.dtype.hasobject:
        raise TypeError(f"{what} is an array of {array.dtype.name}: expected numbers")
    return array
