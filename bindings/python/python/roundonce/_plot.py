"""Pictures of how arrays differ."""

from __future__ import annotations

import os
import pathlib
from typing import Optional, Tuple, Union

import numpy as np

from . import _native
from ._arrays import Values, as_array
from ._reports import _given


class Picture:
    """A picture as SVG: a notebook shows it, `save` writes it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the picture to a file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")


def plot(first: Values, second: Values, title: Optional[str] = None) -> Picture:
    """How far two arrays of results are apart, how many elements are that close, and where in the range of magnitudes: what
    the command's `diff first.npy second.npy --plot out.svg` draws.

    Raises `Error` if their shapes or types differ, TypeError if they are no floats.
    """
    title = "the first and the second" if title is None else title
    return Picture(_native.plot([(title, _given("first", first), _given("second", second))]))


def plot_shares(
    x: np.ndarray, y: np.ndarray, where: np.ndarray, title: str, axes: Tuple[str, str, str] = ("x", "y", "% of elements")
) -> Picture:
    """The share of elements for which `where` is true, by two whole numbers `x` and `y` of each element, exponents for
    example. `axes` names the two numbers and the share; places without elements stay empty.

    Raises `Error` if there are no elements, the numbers of an axis are more than 1,000 apart or one takes more than 32 bits,
    ValueError if the shapes differ, TypeError if the numbers are no integers.
    """
    x, y, where = as_array(x, "x"), as_array(y, "y"), as_array(where, "where").astype(bool)
    if not x.shape == y.shape == where.shape:
        raise ValueError(f"x, y and where have the shapes {x.shape}, {y.shape} and {where.shape}")
    for name, numbers in (("x", x), ("y", y)):
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"{name} is of {numbers.dtype}, not of integers")
    # Each axis by itself: together they would be floats where one has a sign and the other none.
    (xs, at_x), (ys, at_y) = (np.unique(numbers.ravel(), return_inverse=True) for numbers in (x, y))
    places, cell = np.unique(at_x.ravel() * max(ys.size, 1) + at_y.ravel(), return_inverse=True)
    cell = cell.ravel()
    elements, holding = np.bincount(cell), np.bincount(cell[where.ravel()], minlength=places.size)
    at = ((int(xs[place // ys.size]), int(ys[place % ys.size])) for place in places)
    cells = [(place, int(all_of), int(held)) for place, all_of, held in zip(at, elements, holding)]
    return Picture(_native.plot_shares(title, axes, cells))
