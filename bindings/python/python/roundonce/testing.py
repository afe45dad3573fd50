"""Assertions for tests."""

from __future__ import annotations

from typing import List, Optional

import numpy as np

from . import _native
from ._arrays import Values, as_array, column, format_of
from ._evaluate import broadcast, columns_of, floating
from ._functions import why
from ._native import Error, Instruction
from ._reports import Allowed


def assert_bits_equal(
    got: Values, want: Values, expression: Optional[str] = None, *, explain: bool = True, **values: Values
) -> None:
    """Asserts that two arrays have the same type, shape and bits: NaNs and the signs of zeros count.

    The failure's message counts what differs and shows the first element. With the `expression` that both computed and
    its `values`, as `why` takes them, it also says which evaluation gave each, unless `explain` is False.
    """
    got, want = as_array(got), as_array(want)
    if got.dtype != want.dtype:
        raise AssertionError(f"types differ: got {got.dtype.name}, want {want.dtype.name}")
    if got.shape != want.shape:
        raise AssertionError(f"shapes differ: got {got.shape}, want {want.shape}")
    if got.dtype.itemsize not in (1, 2, 4, 8) or got.dtype.kind == "O":
        raise TypeError(f"the arrays are {got.dtype.name}: expected numbers of 8 to 64 bits")
    unsigned = f"uint{8 * got.dtype.itemsize}"
    got_bits, want_bits = np.ascontiguousarray(got).view(unsigned), np.ascontiguousarray(want).view(unsigned)
    differ = np.flatnonzero(got_bits != want_bits)
    if not differ.size:
        return
    lines = [f"{differ.size:,} of {got.size:,} elements differ in their bits"]
    index = np.unravel_index(int(differ[0]), got.shape)
    one, other = int(got_bits.reshape(-1)[differ[0]]), int(want_bits.reshape(-1)[differ[0]])
    digits = 2 * got.dtype.itemsize
    place = f" at {tuple(int(i) for i in index)}" if got.ndim else ""
    format = format_of(got.dtype)
    distance = _native.ulps(format, one, other) if format else None
    apart = "" if distance is None else f", {distance:,} ulp apart"
    lines.append(f"the first{place}: got 0x{one:0{digits}x} {got[index]}, want 0x{other:0{digits}x} {want[index]}{apart}")
    if explain and expression is not None:
        lines += ["", *_reason(expression, got, want, values)]
    raise AssertionError("\n".join(lines))


def _reason(expression: str, got: np.ndarray, want: np.ndarray, values: dict) -> List[str]:
    try:
        return str(why(expression, saw=[got, want], **values)).splitlines()
    except Error as error:
        return [f"no reason was found: {error}"]


def assert_allowed(got: Values, instruction: str, *operands: Values) -> None:
    """Asserts that an implementation may give every one of these results of an OpFmaKHR, under the modes spelled.

    Operands and results are as `eval` takes and gives them. The failure's message counts the illegal results and shows
    what would have been legal in the place of the first. Some ten thousand results a second.
    """
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
