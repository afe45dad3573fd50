"""What an instruction gives, by exact fractions and from nothing but its spelling. Shares no code with the package.

Rules: PTX ISA 9.7.3; Maxwell FFMA, and what PTX becomes on later machines; SPV_KHR_fma; docs/decisions.md for what these leave open.
"""

import math
import re
from fractions import Fraction
from typing import Iterable, List, NamedTuple, Optional, Tuple


class Format(NamedTuple):
    exponent: int
    fraction: int

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def least(self) -> int:
        """The power of two of the smallest subnormal."""
        return 2 - (1 << (self.exponent - 1)) - self.fraction

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.infinity

    def flushed(self, bits: int) -> int:
        return bits & self.sign if bits & self.infinity == 0 else bits

    def value(self, bits: int) -> Fraction:
        """Of a finite number."""
        power, fraction = (bits & self.infinity) >> self.fraction, bits & ((1 << self.fraction) - 1)
        if power:
            fraction |= 1 << self.fraction
        return times_power(-fraction if bits & self.sign else fraction, max(power, 1) - 1 + self.least)

    def rounded(self, value: Fraction, direction: str) -> int:
        """A value that is not zero."""
        top, bottom = abs(value.numerator), value.denominator
        unit = max(top.bit_length() - bottom.bit_length() - self.fraction - 1, self.least)
        if times_power(top, -unit) >= bottom * (2 << self.fraction):
            unit += 1
        scaled = times_power(top, -unit) / bottom
        count, rest = divmod(scaled.numerator, scaled.denominator)
        middle = 2 * rest - scaled.denominator
        away = {
            "rn": middle > 0 or (middle == 0 and count % 2 == 1),
            "rz": False,
            "rm": rest > 0 and value < 0,
            "rp": rest > 0 and value > 0,
        }[direction]
        # Counted from the smallest subnormal, the encodings of a sign follow one another.
        bits = count + away + ((unit - self.least) << self.fraction)
        if bits >= self.infinity:
            toward = direction == "rz" or (direction == "rm" and value > 0) or (direction == "rp" and value < 0)
            bits = self.infinity - 1 if toward else self.infinity
        return bits | (self.sign if value < 0 else 0)


def times_power(number: int, power: int) -> Fraction:
    """number × 2^power."""
    return Fraction(number << power) if power >= 0 else Fraction(number, 1 << -power)


def fused(a: Iterable[float], b: Iterable[float], c: Iterable[float]) -> List[int]:
    """a × b + c of finite f32 numbers, none of them zero, each rounded once: their bits."""
    exact = (Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c))
    return [FORMATS["f32"].rounded(value, "rn") for value in exact]


FORMATS = {"f16": Format(5, 10), "bf16": Format(8, 7), "f32": Format(8, 23), "f64": Format(11, 52)}


class Meaning(NamedTuple):
    kind: str
    """fma, add, sub, mul, or mad: the truncating one."""
    result: str
    factors: str
    lanes: int
    rounding: str
    flush: bool
    dominance: bool
    saturate: bool
    relu: bool = False
    out_of_bounds: bool = False
    unlike: Optional[List[str]] = None
    """The operands' types, where they are not the factors' and the result's."""

    @property
    def operands(self) -> List[str]:
        if self.unlike:
            return self.unlike
        if self.kind in ("fma", "mad"):
            return [self.factors, self.factors, self.result]
        return [self.factors, self.result]


def meaning(spelling: str, old: bool = False) -> Meaning:
    """Of a spelling; `old` on sm_1x."""
    mnemonic, *modifiers = re.split(r"[.+]", spelling.lower())
    sass = re.fullmatch(r"u?(fh|d|h|f)(fma|add|mul)(2?)", mnemonic)
    if sass and (sass[1] != "f" or sass[3]):
        # The mnemonics of sm_70 and later say the types, all but bf16.
        half = "bf16" if modifiers and modifiers[0].startswith("bf16") or "bf16_v2" in modifiers else "f16"
        types = {"fh": ["f32", half], "d": ["f64"], "h": [half + "x2"], "f": ["f32x2"]}[sass[1]]
        mnemonic, modifiers = sass[2], types + [modifier for modifier in modifiers if "bf16" not in modifier]
    kind = next(kind for start, kind in KINDS if mnemonic.startswith(start))
    rounding = next((ROUNDINGS[modifier] for modifier in modifiers if modifier in ROUNDINGS), None)
    types = [modifier for modifier in modifiers if re.fullmatch(r"(v\d)?b?f(16|32|64)(x2)?", modifier)] or ["f32"]
    lanes = int(types[0][1]) if types[0][0] == "v" else 2 if types[0].endswith("x2") else 1
    result = re.search(r"b?f(16|32|64)", types[0]).group()
    single = result == "f32" and lanes == 1
    if mnemonic == "mad" and single and rounding is None:
        kind, old = "mad", True
    meaning = Meaning(
        kind=kind,
        result=result,
        factors=types[1].replace("x2", "") if len(types) > 1 else result,
        lanes=lanes,
        rounding=rounding or "rn",
        flush="ftz" in modifiers or "fmz" in modifiers or (old and single),
        dominance="fmz" in modifiers,
        saturate="sat" in modifiers,
        relu="relu" in modifiers,
        out_of_bounds="oob" in modifiers,
    )
    written = [name.replace("x2", "") for name in types[1:]]
    return meaning._replace(unlike=written) if len(written) > 1 and written != meaning.operands else meaning


KINDS = [("opfma", "fma"), ("uffma", "fma"), ("ufadd", "add"), ("ufmul", "mul"), ("ffma", "fma"), ("fma", "fma"), ("mad", "fma")]
KINDS += [("fadd", "add"), ("add", "add"), ("sub", "sub"), ("fmul", "mul"), ("mul", "mul")]
# The NaN that marks an element outside a tensor.
OUT_OF_BOUNDS = 0x7FF7
ROUNDINGS = {"rn": "rn", "rz": "rz", "rm": "rm", "rp": "rp", "rte": "rn", "rtz": "rz"}


def judge(what: Meaning, operands: Tuple[int, ...]) -> int:
    """The bits of one component."""
    form = FORMATS[what.result]
    # Of either sign, as a factor.
    if what.out_of_bounds and OUT_OF_BOUNDS in [factor & 0x7FFF for factor in operands[:2]]:
        return 0
    # Operands of unlike types are numbers of f32.
    wide = FORMATS["f32"] if what.unlike else form
    widened = [widen(FORMATS[name], wide, bits) for name, bits in zip(what.operands, operands)]
    if what.flush:
        widened = [wide.flushed(bits) for bits in widened]
    bits = narrowed(what, wide, form, widened) if what.unlike else evaluate(what, form, widened)
    # Only a `mad` of sm_1x with an addend is flushed by what is delivered; `deliver` has done the others.
    if what.flush and what.kind == "mad":
        bits = form.flushed(bits)
    if what.saturate:
        one = form.infinity >> 1 & form.infinity
        bits = 0 if form.is_nan(bits) or bits & form.sign else min(bits, one)
    if what.relu:
        bits = form.sign - 1 if form.is_nan(bits) else 0 if bits & form.sign else bits
    return bits


def widen(small: Format, form: Format, bits: int) -> int:
    if small == form:
        return bits
    sign = form.sign if bits & small.sign else 0
    if small.is_nan(bits):
        return sign | form.infinity | 1
    if bits & small.infinity == small.infinity:
        return sign | form.infinity
    value = small.value(bits)
    return form.rounded(value, "rz") if value else sign


def deliver(what: Meaning, form: Format, exact: Fraction) -> int:
    """The rounded value; flushed where it is subnormal when rounded with exponents that have no end."""
    bits = form.rounded(exact, what.rounding)
    if what.flush and what.kind != "mad":
        # Four times the value is rounded at full precision wherever the value is near the smallest normal number.
        if form.rounded(exact * 4, what.rounding) & ~form.sign < 3 << form.fraction:
            return bits & form.sign
    return bits


def narrowed(what: Meaning, wide: Format, form: Format, operands: List[int]) -> int:
    """The exact value of operands of one format, rounded once to another."""
    if any(wide.is_nan(bits) for bits in operands):
        return form.sign - 1
    # Each as its sign and its value; an infinity has none.
    infinite = [bits & ~wide.sign == wide.infinity for bits in operands]
    terms = [(bool(bits & wide.sign), None if no else wide.value(bits)) for bits, no in zip(operands, infinite)]
    if what.kind == "sub":
        negative, value = terms[1]
        terms[1] = (not negative, None if value is None else -value)
    if what.kind in ("fma", "mul"):
        (one, a), (other, b) = terms[:2]
        if (a is None or b is None) and 0 in (a, b):
            return form.sign - 1
        terms[:2] = [(one != other, None if a is None or b is None else a * b)]
    signs = {negative for negative, value in terms if value is None}
    if len(signs) == 2:
        return form.sign - 1
    if signs:
        return form.infinity | (form.sign if signs.pop() else 0)
    value = sum(value for _, value in terms)
    if value:
        return deliver(what, form, value)
    negative = all(negative for negative, _ in terms)
    mixed = len({negative for negative, _ in terms}) == 2
    return form.sign if negative or (mixed and what.rounding == "rm") else 0


def evaluate(what: Meaning, form: Format, operands: List[int]) -> int:
    if what.kind == "add":
        return total(what, form, operands[0], None, operands[1], operands)
    if what.kind == "sub":
        # A NaN keeps its sign.
        negated = operands[1] if form.is_nan(operands[1]) else operands[1] ^ form.sign
        return total(what, form, operands[0], None, negated, [operands[0], negated])
    a, b = operands[:2]
    c = operands[2] if len(operands) > 2 else None
    zero = not a & ~form.sign or not b & ~form.sign
    if what.dominance and zero:
        if c is None:
            return 0
        return total(what, form, 0, None, c, [c])
    special = nan(form, operands, invalid=zero and form.infinity in (a & ~form.sign, b & ~form.sign))
    if special is not None:
        return special
    sign = (a ^ b) & form.sign
    if form.infinity in (a & ~form.sign, b & ~form.sign):
        product, exact = sign | form.infinity, None
    elif zero:
        product, exact = sign, None
    else:
        product, exact = sign, form.value(a) * form.value(b)
        if what.kind == "mad":
            if not c & ~form.sign:
                product, exact = deliver(what._replace(kind="mul"), form, exact), None
            else:
                # A format of the same precision whose exponents have no end.
                power = exact.numerator.bit_length() - exact.denominator.bit_length() - form.fraction - 2
                unit = Fraction(2) ** power
                while abs(exact) / unit >= 2 << form.fraction:
                    unit *= 2
                exact = math.trunc(exact / unit) * unit
    if c is None:
        return product if exact is None else deliver(what, form, exact)
    return total(what, form, product, exact, c, operands)


def nan(form: Format, operands: List[int], invalid: bool) -> Optional[int]:
    """An operand's NaN, or a new one; in f64 its payload is kept, made quiet: the second's, the third's, the first's."""
    first = next((bits for bits in operands[1:] + operands[:1] if form.is_nan(bits)), None)
    if first is None and not invalid:
        return None
    if form.width < 64:
        return form.sign - 1
    quiet = 1 << (form.fraction - 1)
    return form.sign | form.infinity | quiet if first is None else first | quiet


def total(what: Meaning, form: Format, x: int, exact: Optional[Fraction], y: int, operands: List[int]) -> int:
    """The sum of two numbers, the first of them a product, perhaps not rounded yet."""
    infinite = [bits & ~form.sign == form.infinity for bits in (x, y)]
    special = nan(form, operands, invalid=all(infinite) and x != y)
    if special is not None:
        return special
    if infinite[0]:
        return x
    if infinite[1]:
        return y
    value = (form.value(x) if exact is None else exact) + form.value(y)
    if value:
        return deliver(what, form, value)
    if exact is None and not (x | y) & ~form.sign and x == y:
        return x
    return form.sign if what.rounding == "rm" else 0
