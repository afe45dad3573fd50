"""Instructions on arrays."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union

import numpy as np
from numpy.typing import DTypeLike

from . import _conversions, _integers, _native
from ._arrays import Column, Values, as_array, column, format_of, is_single, like, operand
from ._native import Instruction, Integer


AXES = 32
"""Of arrays that NumPy broadcasts, at most: it makes arrays of more."""


def columns_of(instruction: Instruction, operands: tuple) -> List[Column]:
    """The operands' columns."""
    instruction.check_arity(len(operands))
    return [operand(instruction, index, value) for index, value in enumerate(operands)]


def broadcast(columns: Sequence[Union[Column, np.ndarray]]) -> tuple:
    """The shape that operands have together."""
    shapes = [given.shape for given in columns]
    most = max(map(len, shapes))
    if most > AXES:
        raise ValueError(f"an operand has {most} axes: NumPy broadcasts {AXES} at most")
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"the operands' shapes do not broadcast: {', '.join(map(str, shapes))}") from None


def eval(
    instruction: str,
    *operands: Values,
    out: Optional[np.ndarray] = None,
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Any:
    """Evaluates an instruction element by element, with the GPU's bits.

    `instruction` is spelled as its language spells it: ``fma.rz.sat.f32.bf16``, ``mad.f32@sm_13``,
    ``FFMA.FTZ.RZ.SAT``, ``OpFmaKHR.v4f16+rtz``; `forms` lists all. `target` (``"sm_13"``) and `version` (``"3.1"``)
    are the machine and PTX version meant, where the meaning depends on them. `profile` is what the documents leave open,
    as the command's ``--profile``: machines by name and single decisions, separated by commas (``"gt200"``,
    ``"apple-m4"``, ``"tininess=result,nan_f64=abc"``); docs/decisions.md lists them.

    Shapes broadcast as NumPy's. Packed values are unsigned integers of their whole width, or arrays with a last axis of
    components. The result has the type of the first array of the result's format, else floats; a NumPy scalar if every
    operand is single. `out` may be one of the operands. Condition codes follow from the result's bits and are not
    returned. The interpreter is free meanwhile, and more than 49,152 components are computed on all cores.

    An integer multiply-add (``mad.hi.s32``, ``madc.lo.cc.u32``, ``dp4a.s32.u32``) takes arrays of integers of its width,
    with a sign or without, and gives those of its own type; with ``.cc`` a pair, the results and the carry flags, which
    ``madc`` takes as its fourth operand.

    PTX's ``cvt`` from and to formats of eight bits and fewer takes an f32 an operand, or packed values: unsigned integers
    of their whole width, or arrays of their type (float16, ml_dtypes.float8_e4m3fn) with a last axis; random bits (`.rs`)
    are uint32. The results are packed in unsigned integers. `convert` does the same value by value.

    Raises `Error` (the spelling, the number of operands, text that is no value, the profile), TypeError (an array's
    type), ValueError (shapes; `out` that cannot be written, or that another thread is using).

    >>> eval("fma.rn.f32", "0x3f800001", "0x3f800001", "0xbf800002")
    np.float32(1.4210855e-14)
    >>> eval("fma.rn.ftz.f32", "0x3f7fffff", "0x00800000", 0, profile="tininess=result")
    np.float32(1.1754944e-38)
    >>> eval("mad.lo.cc.u32", np.array([7, 0xffffffff], np.uint32), 1, 1)
    (array([8, 0], dtype=uint32), array([False,  True]))
    >>> [hex(pair) for pair in eval("cvt.rn.satfinite.e4m3x2.f32", 1.0, np.float32([1000, -1]))]
    ['0x387e', '0x38b8']
    """
    found = _native.instruction(instruction, target, version, profile)
    if isinstance(found, Instruction):
        return evaluate(found, operands, out)
    check_out(out)
    if isinstance(found, Integer):
        columns = _integers.columns_of(found, operands)
        return _integers.evaluate(found, columns, broadcast(columns), out)
    columns = _conversions.columns_of(found, operands)
    return _conversions.evaluate(found, columns, broadcast(columns), out)


def floating(instruction: str) -> Instruction:
    """The instruction of the floating-point multiply-add that a spelling names."""
    found = _native.instruction(instruction)
    if not isinstance(found, Instruction):
        raise ValueError(f"`{instruction}` is not of the floating-point multiply-add, which alone has this")
    return found


def check_out(out: Any) -> None:
    """That results can be written to it, if it is given."""
    if out is None:
        return
    if not isinstance(out, np.ndarray):
        raise TypeError(f"`out` is {type(out).__name__}: expected a NumPy array")
    if isinstance(out, np.ma.MaskedArray):
        raise TypeError("`out` is a masked array: expected an array without a mask")
    if not out.flags.writeable:
        raise ValueError("`out` is read-only")


def evaluate(instruction: Instruction, operands: tuple, out: Optional[np.ndarray]) -> Any:
    """The same of an instruction already read."""
    columns = columns_of(instruction, operands)
    shape = broadcast(columns)
    if out is None:
        result = like(instruction, columns, shape)
        _compute(instruction, columns, shape, column(instruction, instruction.format, "the result", result))
        return result if result.ndim else result[()]
    check_out(out)
    # Of a subclass, such as a matrix, the array in it.
    written = column(instruction, instruction.format, "`out`", np.asarray(out))
    if written.shape != shape:
        raise ValueError(f"`out` has the shape {written.shape}, the operands {shape}")
    direct = out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative
    if direct and not any(_overlap(given, out) and not _same(given, written) for given in columns):
        _compute(instruction, columns, shape, written)
    else:
        result = np.empty(out.shape, out.dtype.newbyteorder("="))
        _compute(instruction, columns, shape, column(instruction, instruction.format, "the result", result))
        out[...] = result
    return out


def _overlap(given: Column, out: np.ndarray) -> bool:
    return np.may_share_memory(given.bits, out)


def _same(given: Column, out: Column) -> bool:
    """Whether it is the very column that is written: then each element is read before its result replaces it."""
    one, other = given.bits, out.bits
    return one.ctypes.data == other.ctypes.data and one.shape == other.shape and one.dtype == other.dtype and (
        one.flags.c_contiguous
    )


def _compute(instruction: Instruction, columns: List[Column], shape: tuple, out: Column) -> None:
    flat = [None if _same(given, out) else given.flat(shape, instruction.lanes) for given in columns]
    instruction.eval_into(flat, out.bits.reshape(-1))


def _modifiers(ftz: bool, sat: bool) -> str:
    return (".ftz" if ftz else "") + (".sat" if sat else "")


def _format(what: str, *values: Values) -> Optional[str]:
    """The one format that these values have; None if none tells."""
    found = None
    for value in values:
        dtype = None if is_single(value) else as_array(value).dtype
        format = None if dtype is None else format_of(dtype)
        if dtype is not None and format is None and dtype.kind != "u":
            one = what if len(values) == 1 else f"one of {what}"
            raise TypeError(f"{one} is {dtype.name}: expected float16, bfloat16, float32, float64, or bits and `dtype`")
        if found and format and found != format:
            raise TypeError(f"{what} are {found} and {format}: expected one type")
        found = found or format
    return found


def _result(dtype: Optional[DTypeLike], *found: Optional[str]) -> str:
    """The result's format: as asked, else the first found; Python numbers alone are f64."""
    if dtype is None:
        return next((format for format in found if format), "f64")
    format = format_of(np.dtype(dtype))
    if format is None:
        raise TypeError(f"`dtype` is {np.dtype(dtype).name}: expected float16, float32 or float64")
    return format


def _rounding(rnd: str) -> str:
    if rnd not in ("rn", "rz", "rm", "rp"):
        raise ValueError(f"`rnd` is {rnd!r}: expected rn, rz, rm or rp")
    return rnd


def _typed(result: Any, dtype: Optional[DTypeLike], *operands: Values) -> Any:
    """Results of Python numbers and text alone in the type that was asked for, where NumPy itself has none of the format."""
    if dtype is None or isinstance(result, np.ndarray) or not all(map(is_single, operands)):
        return result
    return result.view(np.dtype(dtype).newbyteorder("="))


def fma(
    a: Values,
    b: Values,
    c: Values,
    rnd: str = "rn",
    ftz: bool = False,
    fmz: bool = False,
    sat: bool = False,
    dtype: Optional[DTypeLike] = None,
    out: Optional[np.ndarray] = None,
    profile: Optional[str] = None,
) -> Any:
    """a × b + c, rounded once.

    `rnd` is rn, rz, rm or rp; `ftz` flushes subnormal operands and results; `fmz` also makes a product with a zero
    factor +0; `sat` clamps to [0, 1]. The result is `dtype`, else of c's type, else of the factors'; of bits, bits. float32 and
    float64 go by PTX ``fma``, float32 with float16 or bfloat16 factors by its mixed forms, `fmz` by SASS
    ``FFMA.FMZ``, float16 by SPIR-V ``OpFmaKHR``; what no instruction has is refused with the form's rule. Bits as
    unsigned integers need `dtype`. Shapes, `out`, `profile` and errors are `eval`'s.

    Source: PTX ISA, 9.7.3.6 fma; SPV_KHR_fma.
    """
    factors = _format("the factors", a, b)
    result = _result(dtype, _format("the addend", c), factors)
    spelling = _fma_spelling(result, factors or result, _rounding(rnd), ftz, fmz, sat)
    return _typed(eval(spelling, a, b, c, out=out, profile=profile), dtype, a, b, c)


def _fma_spelling(result: str, factors: str, rnd: str, ftz: bool, fmz: bool, sat: bool) -> str:
    if fmz:
        _fmz_is_f32(result, factors)
        return f"FFMA.FMZ.{rnd.upper()}{'.SAT' if sat else ''}"
    if result == factors == "f16":
        rounding = {"rn": "rte", "rz": "rtz"}.get(rnd, rnd)
        return f"OpFmaKHR.f16+{rounding}{'+ftz' if ftz else ''}{'+sat' if sat else ''}"
    mixed = "" if factors == result else f".{factors}"
    return f"fma.{rnd}{_modifiers(ftz, sat)}.{result}{mixed}"


def _fmz_is_f32(*formats: str) -> None:
    if any(format != "f32" for format in formats):
        raise ValueError(f"`fmz` is a modifier of SASS's FFMA and FMUL, which are f32: the operands are {formats[-1]}")


def mad(
    a: Values,
    b: Values,
    c: Values,
    rnd: Optional[str] = None,
    ftz: bool = False,
    sat: bool = False,
    target: str = "sm_13",
    dtype: Optional[DTypeLike] = None,
    out: Optional[np.ndarray] = None,
    profile: Optional[str] = None,
) -> Any:
    """PTX ``mad`` on a target.

    Without `rnd`, float32 on sm_10 to sm_13 cuts the product to 24 bits before the sum is rounded; from sm_20 on it is
    `fma`. Source: PTX ISA, 9.7.3.7 mad. Shapes, `out`, `profile` and errors are `eval`'s.
    """
    result = _result(dtype, _format("the operands", a, b, c))
    rounding = f".{_rounding(rnd)}" if rnd else ""
    spelling = f"mad{rounding}{_modifiers(ftz, sat)}.{result}"
    return _typed(eval(spelling, a, b, c, out=out, target=target, profile=profile), dtype, a, b, c)


def _two(
    name: str, a: Values, b: Values, rnd: str, ftz: bool, sat: bool, dtype: Optional[DTypeLike], out: Optional[np.ndarray], profile: Optional[str]
) -> Any:
    first, second = _format("the first operand", a), _format("the second operand", b)
    result = _result(dtype, second, first)
    mixed = "" if first in (None, result) else f".{first}"
    spelling = f"{name}.{_rounding(rnd)}{_modifiers(ftz, sat)}.{result}{mixed}"
    return _typed(eval(spelling, a, b, out=out, profile=profile), dtype, a, b)


def add(
    a: Values,
    b: Values,
    rnd: str = "rn",
    ftz: bool = False,
    sat: bool = False,
    dtype: Optional[DTypeLike] = None,
    out: Optional[np.ndarray] = None,
    profile: Optional[str] = None,
) -> Any:
    """a + b, rounded once: PTX ``add``; with a float16 or bfloat16 and b float32, its mixed form.

    Source: PTX ISA, 9.7.3 and 9.7.5. Modifiers, shapes, `out`, `profile` and errors are `fma`'s and `eval`'s.
    """
    return _two("add", a, b, rnd, ftz, sat, dtype, out, profile)


def sub(
    a: Values,
    b: Values,
    rnd: str = "rn",
    ftz: bool = False,
    sat: bool = False,
    dtype: Optional[DTypeLike] = None,
    out: Optional[np.ndarray] = None,
    profile: Optional[str] = None,
) -> Any:
    """a − b, rounded once: PTX ``sub``; with a float16 or bfloat16 and b float32, its mixed form.

    Source: PTX ISA, 9.7.3 and 9.7.5. Modifiers, shapes, `out`, `profile` and errors are `fma`'s and `eval`'s.
    """
    return _two("sub", a, b, rnd, ftz, sat, dtype, out, profile)


def mul(
    a: Values,
    b: Values,
    rnd: str = "rn",
    ftz: bool = False,
    fmz: bool = False,
    sat: bool = False,
    dtype: Optional[DTypeLike] = None,
    out: Optional[np.ndarray] = None,
    profile: Optional[str] = None,
) -> Any:
    """a × b, rounded once: PTX ``mul``; with `fmz` SASS ``FMUL.FMZ``.

    Source: PTX ISA, 9.7.3. Modifiers, shapes, `out`, `profile` and errors are `fma`'s and `eval`'s.
    """
    if fmz:
        result = _result(dtype, _format("the operands", a, b))
        _fmz_is_f32(result)
        return eval(f"FMUL.FMZ.{_rounding(rnd).upper()}{'.SAT' if sat else ''}", a, b, out=out, profile=profile)
    return _two("mul", a, b, rnd, ftz, sat, dtype, out, profile)
