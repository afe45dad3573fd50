"""How two runs of a function differ: what `roundonce.torch.compare` and `roundonce.jax.compare` return."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._arrays import as_array, format_of, native
from ._functions import FunctionReport, ask
from ._native import Error
from ._reports import Report
from ._trace import Node, Place, Trace, Untraceable

SHOWN = 20
"""Differing operations that the text names."""

_MOST = 65536
"""Elements that `why` is asked about."""

_MOST_OF = {"erf": 16, **dict.fromkeys(("exp", "log", "sin", "cos", "tan", "pow", "cbrt", "hypot"), 256)}
"""The same where an operation has this in its text: functions are evaluated in many digits."""


@dataclass(frozen=True)
class Difference:
    """How what two sides computed differs in its bits."""

    name: str
    """Of the result, or of the operation."""
    place: Optional[Place]
    count: int
    elements: int
    index: Tuple[int, ...]
    """The first element that differs."""
    bits: Tuple[str, str]
    """Its bits on each side."""
    values: Tuple[str, str]
    ulps: Optional[int]
    """The largest distance; None where no two numbers differ."""

    def __str__(self) -> str:
        where = f" {self.place}" if self.place else ""
        apart = "" if self.ulps is None else f", up to {self.ulps:,} ulp{'s' * (self.ulps != 1)}"
        first = " and ".join(f"{bits} {value}" for bits, value in zip(self.bits, self.values))
        at = f" at {self.index}" if self.index else ""
        return f"{self.name}{where}: {self.count:,} of {self.elements:,} differ{apart}; the first{at}: {first}"

    def as_dict(self) -> Dict[str, Any]:
        """The same as plain data."""
        place = {"file": self.place.file, "line": self.place.line} if self.place else {}
        return {
            "name": self.name,
            **place,
            "count": self.count,
            "elements": self.elements,
            "index": list(self.index),
            "bits": list(self.bits),
            "values": list(self.values),
            "ulps": self.ulps,
        }


def difference(name: str, place: Optional[Place], one: Any, other: Any, nan_bits: bool = False) -> Optional[Difference]:
    """How two arrays of one type and shape differ; None where they do not. Two NaNs do only by `nan_bits`."""
    one, other = native(as_array(one)), native(as_array(other))
    if one.dtype != other.dtype or one.shape != other.shape:
        raise TypeError(
            f"{name}: one side gives {one.dtype.name} of shape {one.shape}, the other {other.dtype.name} of {other.shape}"
        )
    width = 8 * one.dtype.itemsize
    bits, other_bits = (np.ascontiguousarray(array).reshape(-1).view(f"u{width // 8}") for array in (one, other))
    differ = bits != other_bits
    is_float = format_of(one.dtype) is not None
    if is_float and not nan_bits:
        differ &= ~(np.isnan(one).reshape(-1) & np.isnan(other).reshape(-1))
    places = np.flatnonzero(differ)
    if not places.size:
        return None
    first = int(places[0])
    index = tuple(int(at) for at in np.unravel_index(first, one.shape))
    return Difference(
        name,
        place,
        int(places.size),
        one.size,
        index,
        (f"0x{int(bits[first]):0{width // 4}x}", f"0x{int(other_bits[first]):0{width // 4}x}"),
        (str(one[index]), str(other[index])),
        _ulps(one.reshape(-1)[places], other.reshape(-1)[places], width) if is_float else None,
    )


def _ulps(one: np.ndarray, other: np.ndarray, width: int) -> Optional[int]:
    """The largest number of steps from one number to another."""
    numbers = ~(np.isnan(one) | np.isnan(other))
    if not numbers.any():
        return None
    sign = np.uint64(1 << (width - 1))

    def place(values: np.ndarray) -> np.ndarray:
        bits = values[numbers].view(f"u{width // 8}").astype(np.uint64)
        magnitude = bits & (sign - np.uint64(1))
        return np.where(bits & sign, sign - magnitude, sign + magnitude)

    places = place(one), place(other)
    return int((np.maximum(*places) - np.minimum(*places)).max())


def choose(one: np.ndarray, other: np.ndarray, most: int) -> Optional[np.ndarray]:
    """So many elements of two arrays, half of them such as differ, as far as there are; None for all."""
    if one.size <= most:
        return None
    width = f"u{one.dtype.itemsize}"
    differ = one.reshape(-1).view(width) != other.reshape(-1).view(width)
    differing, same = np.flatnonzero(differ), np.flatnonzero(~differ)
    count = max(min(differing.size, most // 2), most - same.size)
    return np.sort(np.concatenate([differing[:count], same[: most - count]]))


@dataclass
class Comparison:
    """A function run in two ways: `str` gives a report, `as_dict` the same as plain data."""

    function: str
    sides: Tuple[str, str]
    """What was compared with what."""
    results: List[Difference]
    """The results that differ."""
    uncompared: List[str] = field(default_factory=list)
    """The results that could not be compared, and why: they have other shapes, say."""
    first: Optional[Difference] = None
    """The first operation that gives another value."""
    own: List[Difference] = field(default_factory=list)
    """The operations that give another value from the same inputs; `own_means` says how that was found."""
    own_means: str = ""
    operations: int = 0
    """How many operations the function has."""
    notes: List[str] = field(default_factory=list)
    """What was not compared, and why."""
    why: Optional[Report] = None
    """What gives the two values of the first differing operation, or of the whole."""

    @property
    def equal(self) -> bool:
        """Whether all results have the same bits."""
        return not self.results and not self.uncompared

    def explain(self, make: Callable[[], Tuple[Trace, Node]], seen: Sequence[np.ndarray], toolchain: str) -> None:
        """Asks `why` about what the two sides gave for a value of a trace; what stands against it is a note."""
        try:
            trace, node = make()
            operations = trace.needed(node)
            chosen = None
            if not any(operation.is_reduction for operation in operations):
                has = (most for text, most in _MOST_OF.items() if any(text in operation.template for operation in operations))
                chosen = choose(seen[0], seen[1], next(has, _MOST))
            if chosen is not None:
                trace.notes.append(
                    f"{chosen.size:,} of {seen[0].size:,} elements were looked at, as many that differ as others if there are"
                )
            # Of a side against itself the second has a name of its own.
            first, second = self.sides
            named = {first: seen[0], second if second != first else f"{second} again": seen[1]}
            answer = ask(trace, node, named, {"toolchain": toolchain}, chosen)
            self.why = FunctionReport(trace, {node.name: answer})
        except (Untraceable, Error, ValueError, RuntimeError, ImportError) as error:
            self.notes.append(f"why is not known: {error}")

    def __str__(self) -> str:
        lines = [f"{self.function}: {self.sides[0]} against {self.sides[1]}"]
        lines += [f"  {result}" for result in [*self.results, *self.uncompared]] or ["  all results have the same bits"]
        if self.first:
            lines += ["first differing operation", f"  {self.first}"]
        if self.own_means:
            lines.append(f"{len(self.own):,} of {self.operations:,} operations {self.own_means}")
            lines += [f"  {own}" for own in self.own[:SHOWN]]
            lines += [f"  and {len(self.own) - SHOWN:,} more"] if len(self.own) > SHOWN else []
        for note in self.notes:
            lines += textwrap.wrap(f"note: {note}", 80, subsequent_indent="  ")
        return "\n".join([*lines, *(["", str(self.why)] if self.why else [])])

    __repr__ = __str__

    def as_dict(self) -> Dict[str, Any]:
        """The same as plain data."""
        return {
            "function": self.function,
            "sides": list(self.sides),
            "equal": self.equal,
            "results": [result.as_dict() for result in self.results],
            "uncompared": self.uncompared,
            "first": self.first.as_dict() if self.first else None,
            "own": [own.as_dict() for own in self.own],
            "own_means": self.own_means,
            "operations": self.operations,
            "notes": self.notes,
            "why": self.why.data if self.why else None,
        }
