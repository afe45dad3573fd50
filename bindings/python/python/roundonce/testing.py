"""Assertions for tests."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Union

import numpy as np

from . import _native
from ._arrays import Values, as_array, column, format_of, native
from ._evaluate import broadcast, columns_of, floating
from ._functions import FunctionReport, why_sides
from ._native import Instruction
from ._reports import Allowed, Report


class bits:
    """What was computed, for an assertion about its bits: ``assert bits(got) == want``.

    It is equal to an array of the same type, shape and bits: NaNs and the signs of zeros count. Where pytest shows a failed
    assertion, it counts what differs and shows the first element, got and wanted. With the `expression` or the function that
    both sides computed and its `values`, as `why` takes them, it also says which evaluation gave each; ``-vv`` shows the whole report.

    >>> x = np.float32([1.0000001, 3])
    >>> bits(x * x, "a*a", a=x) == x * x, bits(np.float32(0)) == np.float32(-0.0)
    (True, False)
    """

    # NumPy leaves the comparison to this class, whichever side it stands on.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, got: Values, expression: Union[str, Callable, None] = None, **values: Values) -> None:
        self.got = native(as_array(got))
        self.expression = expression
        self.values = values

    def __eq__(self, want: object) -> bool:
        return not differences(self.got, _wanted(want))

    def __repr__(self) -> str:
        return f"bits({self.got!r})"

    def lines(self, want: Any, whole: bool = False) -> List[str]:
        """How it differs from what is wanted, and why: a sentence for each side, or the whole report."""
        want = _wanted(want)
        lines = differences(self.got, want)
        if lines and self.expression is not None and self.got.shape == want.shape and self.got.dtype == want.dtype:
            reason = _reason(self.expression, self.got, want, self.values)
            lines += ["", *str(reason).splitlines()] if whole or isinstance(reason, str) else sentences(reason)
        return lines


def _wanted(want: Any) -> np.ndarray:
    return want.got if isinstance(want, bits) else native(as_array(want))


def differences(got: Values, want: Values) -> List[str]:
    """How the types, the shapes or the bits of two arrays differ, whatever their byte orders; nothing where they do not."""
    got, want = native(as_array(got)), native(as_array(want))
    if got.dtype != want.dtype:
        return [f"types differ: got {got.dtype.name}, want {want.dtype.name}"]
    if got.shape != want.shape:
        return [f"shapes differ: got {got.shape}, want {want.shape}"]
    if got.dtype.itemsize not in (1, 2, 4, 8) or got.dtype.kind == "O":
        raise TypeError(f"the arrays are {got.dtype.name}: expected numbers of 8 to 64 bits")
    unsigned = f"uint{8 * got.dtype.itemsize}"
    got_bits, want_bits = np.ascontiguousarray(got).view(unsigned), np.ascontiguousarray(want).view(unsigned)
    differ = np.flatnonzero(got_bits != want_bits)
    if not differ.size:
        return []
    index = np.unravel_index(int(differ[0]), got.shape)
    one, other = int(got_bits.reshape(-1)[differ[0]]), int(want_bits.reshape(-1)[differ[0]])
    digits = 2 * got.dtype.itemsize
    place = f" at {tuple(int(i) for i in index)}" if got.ndim else ""
    format = format_of(got.dtype)
    distance = _native.ulps(format, one, other) if format else None
    apart = "" if distance is None else f", {distance:,} ulp apart"
    first = f"got 0x{one:0{digits}x} {got[index]}, want 0x{other:0{digits}x} {want[index]}{apart}"
    return [f"{differ.size:,} of {got.size:,} elements differ in their bits", f"the first{place}: {first}"]


def assert_bits_equal(
    got: Values, want: Values, expression: Union[str, Callable, None] = None, *, explain: bool = True, **values: Values
) -> None:
    """Asserts that two arrays have the same type, shape and bits: NaNs and the signs of zeros count.

    The failure's message counts what differs and shows the first element. With the `expression` that both computed and
    its `values`, as `why` takes them, it also says which evaluation gave each, unless `explain` is False.
    """
    __tracebackhide__ = True
    lines = bits(got, expression if explain else None, **values).lines(want, whole=True)
    if lines:
        raise AssertionError("\n".join(lines))


def _reason(expression: Union[str, Callable], got: np.ndarray, want: np.ndarray, values: dict) -> Union[Report, str]:
    try:
        return why_sides(expression, {"got": got, "want": want}, values)
    except Exception as error:  # What failed is the assertion, not the question.
        return f"no reason was found: {error}"


def sentences(reason: Report) -> List[str]:
    """What explains each side, a line each."""
    if isinstance(reason, FunctionReport):
        (reason,) = reason.answers.values()
    lines = []
    for side, seen in zip(("got", "want"), reason.data["seen"]):
        found = seen.get("groups", seen.get("explanations"))[:1]
        of = f"{found[0]['count']:,} of {reason.data['elements']:,}: " if found and "count" in found[0] else ""
        what = f"{of}{found[0]['sentence']}" if found else "no evaluation explains it"
        lines.append(f"{side}: {what} ({seen['outcome']})")
    return lines


def assert_allowed(got: Values, instruction: str, *operands: Values) -> None:
    """Asserts that an implementation may give every one of these results of an OpFmaKHR, under the modes spelled.

    Operands and results are as `eval` takes and gives them. The failure's message counts the illegal results and shows
    what would have been legal in the place of the first. Some ten thousand results a second.
    """
    __tracebackhide__ = True
    form = floating(instruction)
    columns = columns_of(form, operands)
    shape = broadcast(columns)
    results = column(form, form.format, "the result", as_array(got))
    if results.shape != shape:
        raise AssertionError(f"shapes differ: got {results.shape}, the operands give {shape}")
    seen = results.bits.reshape(-1, form.lanes).tolist()
    rows = [np.broadcast_to(given.rows(shape, form.lanes), (len(seen), form.lanes)).tolist() for given in columns]
    legal = [Allowed(form, list(row)) for row in zip(*rows)]
    illegal = [place for place, (bits, allowed) in enumerate(zip(seen, legal)) if not allowed.has(bits)]
    if illegal:
        first = illegal[0]
        digits = 2 * results.bits.dtype.itemsize
        shown = "".join(f"{bits:0{digits}x}" for bits in reversed(seen[first]))
        index = tuple(int(i) for i in np.unravel_index(first, shape))
        place = f" at {index}" if shape else ""
        raise AssertionError(
            f"{len(illegal):,} of {len(seen):,} results are illegal\nthe first{place}: 0x{shown}; legal are\n{legal[first]}"
        )
