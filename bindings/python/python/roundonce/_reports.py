"""Answers that a person reads: text, HTML for notebooks, and data."""

from __future__ import annotations

import html
import json
import os
import pathlib
import subprocess
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, SupportsIndex, Tuple

import numpy as np

from . import _conversions, _integers, _native
from ._arrays import Values, as_array, decimal, format_of, little, native
from ._evaluate import columns_of, floating
from ._native import Instruction, Integer
from ._options import LONG, flag, integer, text

_STYLE = {
    "strong": "font-weight:bold",
    "label": "color:#0a7d8c",
    "kept": "color:#2e8bd6;font-weight:bold",
    "dropped": "color:#cf222e",
    "faint": "opacity:0.65",
}

_NO_ELEMENTS = "f32", (0,), b""


class Report:
    """An answer: `str` gives its text, a notebook shows it in colours, `data` is the same as plain data."""

    def __init__(self, report: Tuple[List[List[Tuple[str, str]]], str]) -> None:
        self.lines, text = report
        self.data: Dict[str, Any] = json.loads(text)

    def __str__(self) -> str:
        return "\n".join("".join(text for _, text in line).rstrip() for line in self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def piece(role: str, text: str) -> str:
            style = _STYLE.get(role)
            escaped = html.escape(text)
            return f'<span style="{style}">{escaped}</span>' if style else escaped

        lines = ("".join(piece(role, text) for role, text in line) for line in self.lines)
        return f'<pre style="line-height:1.25">{chr(10).join(lines)}</pre>'


def _check_single(bits: np.ndarray, index: int, lanes: int) -> None:
    if bits.size != lanes:
        raise ValueError(f"operand {index + 1} has {bits.size} elements: one value is explained at a time")


def _single(instruction: Instruction, operands: tuple) -> List[List[int]]:
    columns = columns_of(instruction, operands)
    for index, given in enumerate(columns):
        _check_single(given.bits, index, instruction.lanes)
    return [given.components() for given in columns]


def explain(
    instruction: str,
    *operands: Values,
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Report:
    """One instruction on single operands, step by step, with what its neighbours would have given.

    Operands, `profile` and errors are `eval`'s.
    """
    found = _native.instruction(instruction, target, version, profile)
    if isinstance(found, Instruction):
        return Report(_native.explain(found, _single(found, operands)))
    module = _integers if isinstance(found, Integer) else _conversions
    columns = module.columns_of(found, operands)
    for index, bits in enumerate(columns):
        _check_single(bits, index, 1)
    return Report(found.explain([int(bits.reshape(-1)[0]) for bits in columns]))


class Allowed:
    """The legal results of an OpFmaKHR: for each component, ranges of bits `(first, last, choice)`, the lowest first."""

    def __init__(self, instruction: Instruction, operands: List[List[int]]) -> None:
        self._instruction = instruction
        self.modes, self.components = _native.allowed(instruction, operands)

    def __getstate__(self) -> Tuple[str, str, list]:
        return self._instruction.spelling, self.modes, self.components

    def __setstate__(self, state: Tuple[str, str, list]) -> None:
        spelling, self.modes, self.components = state
        self._instruction = floating(spelling)

    def choice(self, result: Any) -> Optional[List[str]]:
        """What an implementation chose to get a result, for each component; None if none may give it."""
        return self._choices(columns_of_result(self._instruction, result))

    def has(self, components: List[int]) -> bool:
        """Whether a result of these bits is legal, a number for each component."""
        return self._choices(components) is not None

    def _choices(self, components: List[int]) -> Optional[List[str]]:
        choices = [
            next((choice for first, last, choice in ranges if first <= bits <= last), None)
            for bits, ranges in zip(components, self.components)
        ]
        return None if None in choices else choices  # type: ignore[return-value]

    def __contains__(self, result: Any) -> bool:
        return self.choice(result) is not None

    def __str__(self) -> str:
        digits = {"f16": 4, "f32": 8, "f64": 16}[self._instruction.format]
        lines = [f"{self._instruction.spelling}: {self.modes}"]
        for index, ranges in enumerate(self.components):
            if len(self.components) > 1:
                lines.append(f"component {index}")
            for first, last, choice in ranges:
                bits = f"0x{first:0{digits}x}" + ("" if first == last else f" to 0x{last:0{digits}x}")
                lines.append(f"  {bits}: {choice}")
        return "\n".join(lines)

    __repr__ = __str__


def columns_of_result(instruction: Instruction, result: Any) -> List[int]:
    """The components of a result, which an OpFmaKHR has of its operands' type."""
    return _single(instruction, (result,) * len(instruction.operand_formats))[0]


def allowed(instruction: str, *operands: Any) -> Allowed:
    """Every result that an implementation may give for an OpFmaKHR on single operands, under the modes spelled.

    >>> allowed("OpFmaKHR.f32", "0x3eaaaaab", "0x3eaaaaab", "1.0")
    OpFmaKHR.f32: rounding open, denormals open
      0x3f8e38e3: the neighbour below
      0x3f8e38e4: rounded to nearest even

    Operands and errors are `eval`'s; an instruction of another language, which leaves nothing open, is an `Error`.
    """
    form = floating(instruction)
    return Allowed(form, _single(form, operands))


def why_of_text(
    expression: str,
    *,
    saw: Any = (),
    reassociate: bool = False,
    any_nan: bool = False,
    allow: str = "",
    toolchain: Optional[str] = None,
    type: Optional[str] = None,
    as_: Optional[str] = None,
    profile: Optional[str] = None,
    **values: Any,
) -> Report:
    """`why` of an expression."""
    if not isinstance(saw, Mapping):
        saw = {f"saw[{index}]": value for index, value in enumerate(saw if isinstance(saw, (list, tuple)) else [saw])}
    seen = list(saw.values())
    # A Python number is a literal, whose type may be asked for.
    values = {name: decimal(value) if _is_number(value) else value for name, value in values.items()}
    how = {
        "reassociate": flag("reassociate", reassociate),
        "any_nan": flag("any_nan", any_nan),
        "allow": text("allow", allow) or "",
        "toolchain": text("toolchain", toolchain),
        "type": text("type", type),
        "as": text("as_", as_),
        "profile": text("profile", profile),
    }
    if any(_is_array(value) for value in [*values.values(), *seen]):
        given = {name: _given(name, value) for name, value in values.items()}
        wanted = [(str(name), _given("saw", value)) for name, value in saw.items()]
        report = Report(_native.why_arrays(expression, given, wanted, how))
        if wanted and not report.data["elements"]:
            # Raises what it says of arrays that have no elements.
            _native.diff_arrays(_NO_ELEMENTS, _NO_ELEMENTS)
    else:
        texts = {name: _text(name, value) for name, value in values.items()}
        report = Report(_native.why(expression, texts, [_seen(value) for value in seen], how))
    for note in _native.unused_names(expression, list(values)):
        warnings.warn(note, stacklevel=3)
    return report


def bits(value: Any) -> Report:
    """One number taken apart in f16, bf16, f32 and f64: `data` has the fields of each, and the number in every digit.

    `value` is as `why` takes it: a NumPy scalar, a Python number (float64), or text (``"1.5h"``, ``"0x3c00:f16"``).

    Raises `Error` (text that is no number), TypeError (another type, named).

    >>> bits("0.1f").data["exact_decimal"]
    '0.100000001490116119384765625'
    """
    if _is_array(value):
        raise TypeError(f"one number is taken apart at a time: found an array of shape {np.shape(value)}")
    return Report(_native.bits(_text("value", value)))


class Difference(Report):
    """An answer of `diff`. `equal` is True where equality is proved, False where an input or an element differs, None
    where neither is known."""

    def __init__(self, report: Tuple[List[List[Tuple[str, str]]], str]) -> None:
        super().__init__(report)
        different = self.data.get("different")
        verdicts = {"equal": True, "different": False, "unknown": None}
        self.equal: Optional[bool] = verdicts[self.data["verdict"]] if different is None else different == 0


def diff(
    first: Any,
    second: Any,
    *,
    type: str = "f32",
    data: Optional[Dict[str, Any]] = None,
    tries: Optional[SupportsIndex] = None,
    nan_bits: bool = False,
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Difference:
    """Whether two computations give the same bits for every input, else the smallest input found that shows that they do
    not; or how two arrays of results differ.

    Two texts are instructions, whose operands are a, b and c, or expressions, whose names are of `type` where no
    instruction gives them another. Equality is proved by the operations themselves, by all inputs of up to 32 bits, or
    by an SMT solver (bitwuzla, cvc5 or z3, where one is installed); else `tries` random inputs are tried. `data` are
    arrays for the names, on which is counted how often the two differ. `nan_bits` takes two NaNs of different bits for
    a difference; `target`, `version` and `profile` are as for `eval`. Two arrays, or .npy files, of float16, bfloat16, float32 or float64 and of one shape are compared
    element by element.

    Raises `Error` (a spelling, an expression, with its place; two that cannot be compared), TypeError (an array's type).

    >>> diff("fma(a, b, c)", "fma.rn.f32").equal
    True
    >>> diff("fma.rn.f32", "fma.rz.f32").equal
    False
    """
    tries = None if tries is None else integer("tries", tries, LONG)
    nan_bits = flag("nan_bits", nan_bits)
    one, other = _results("first", first), _results("second", second)
    if isinstance(one, str) and isinstance(other, str):
        given = {name: _given(name, value) for name, value in (data or {}).items()}
        return Difference(_native.diff([one, other], type, given, tries, nan_bits, target, version, profile, _solve))
    if isinstance(one, str) or isinstance(other, str):
        raise TypeError("a computation and an array: expected two of one kind")
    return Difference(_native.diff_arrays(one, other))


def _results(name: str, value: Any) -> Any:
    """A text as it is; an array, or a .npy file, as bits."""
    if isinstance(value, os.PathLike) or isinstance(value, str) and value.endswith(".npy"):
        return _given(name, np.load(pathlib.Path(value), allow_pickle=False))
    return value if isinstance(value, str) else _given(name, np.atleast_1d(as_array(value)))


_SOLVERS = {"bitwuzla": ["--time-limit", "60000"], "cvc5": ["--tlimit=60000"], "z3": ["-T:60"]}


def _solve(script: str) -> Optional[str]:
    """The name of a solver that proves a script unsatisfiable."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "query.smt2")
        path.write_text(script)
        for name, limits in _SOLVERS.items():
            try:
                asked = subprocess.run([name, *limits, str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            except OSError:
                continue
            if asked.stdout.splitlines()[:1] == ["unsat"]:
                return name
    return None


def _is_array(value: Any) -> bool:
    return not isinstance(value, (str, int, float, np.generic)) and as_array(value).ndim > 0


def _is_number(value: Any) -> bool:
    """Whether it is a number of Python's own."""
    return value.__class__ in (int, float)


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    # Python makes no float of an integer beyond all of them, but of its digits.
    array = np.asarray(float(decimal(value))) if _is_number(value) else as_array(value, name)
    format = format_of(array.dtype)
    if format is None:
        raise TypeError(f"`{name}` is {array.dtype.name}: expected float16, bfloat16, float32 or float64")
    return f"{int(native(array).view(f'uint{8 * array.itemsize}')):#0{2 * array.itemsize + 2}x}:{format}"


def _seen(value: Any) -> str:
    return decimal(value) if _is_number(value) else _text("saw", value)


def _given(name: str, value: Any) -> Any:
    if not _is_array(value):
        return _text(name, value)
    array = as_array(value, name)
    format = format_of(array.dtype)
    if format is None:
        raise TypeError(f"`{name}` is {array.dtype.name}: expected float16, bfloat16, float32 or float64")
    return format, array.shape, little(array).tobytes()


def forms(pattern: str = "") -> List[Dict[str, Any]]:
    """Every instruction form whose row has `pattern` in it (case does not matter): its language, syntax, operands,
    gate, source, note and spellings."""

    def matches(row: Dict[str, Any]) -> bool:
        texts: Sequence[str] = [row["language"], row["syntax"], row["gate"], row["source"], *row["spellings"]]
        return any(pattern.lower() in text.lower() for text in texts)

    return [row for row in _native.forms() if matches(row)]
