"""Pictures of how arrays differ."""

from __future__ import annotations

import os
import pathlib
from typing import Optional, Union

from . import _native
from ._arrays import Values
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
