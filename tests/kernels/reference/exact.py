"""Arithmetic on bits by exact rationals, rounded once.

Written for these references alone: it shares nothing with the program that it judges. Results that are NaN are the
canonical ones of the machine, 0x7fffffff in f32 and 0x7fff in f16 and bf16; no reference here makes a NaN in f64.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt


class Format:
    """A binary format: its exponent's and its fraction's bits."""

    def __init__(self, exponent_bits, fraction_bits, nan):
        self.exponent_bits, self.fraction_bits, self.nan = exponent_bits, fraction_bits, nan
        self.bias = (1 << exponent_bits - 1) - 1
        self.sign_bit = 1 << exponent_bits + fraction_bits
        self.infinity = ((1 << exponent_bits) - 1) << fraction_bits
        self.smallest_normal = 1 << fraction_bits

    def is_nan(self, bits):
        return bits & ~self.sign_bit > self.infinity

    def is_infinite(self, bits):
        return bits & ~self.sign_bit == self.infinity

    def value(self, bits):
        """The value of a finite number; the sign of a zero is lost."""
        exponent = (bits & ~self.sign_bit) >> self.fraction_bits
        fraction = bits & (1 << self.fraction_bits) - 1
        if exponent:
            fraction |= 1 << self.fraction_bits
        magnitude = Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction_bits)
        return -magnitude if bits & self.sign_bit else magnitude

    def flush(self, bits):
        """A subnormal becomes a zero of its sign."""
        return bits & self.sign_bit if bits & ~self.sign_bit < self.smallest_normal else bits

    def round(self, value, direction="rn", ftz=False):
        """The bits of a value that is not zero. With `ftz` zero of its sign, where it is subnormal after rounding with
        an exponent that has no lower bound."""
        negative, value = value < 0, abs(value)
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        if value < Fraction(2) ** exponent:
            exponent -= 1
        quantum = (exponent if ftz else max(exponent, 1 - self.bias)) - self.fraction_bits
        scaled = value / Fraction(2) ** quantum
        whole = scaled.numerator // scaled.denominator
        rest = scaled - whole
        away = {
            "rn": rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1,
            "rz": False,
            "rm": negative and rest > 0,
            "rp": not negative and rest > 0,
        }[direction]
        whole += away
        if whole * Fraction(2) ** quantum < Fraction(2) ** (1 - self.bias) and ftz:
            return self.sign_bit if negative else 0
        # A carry out of the significand goes on into the exponent by itself.
        bits = whole
        if whole >= 1 << self.fraction_bits:
            bits = whole + ((quantum + self.bias + self.fraction_bits - 1) << self.fraction_bits)
        if bits >= self.infinity:
            inward = direction == "rz" or direction == ("rp" if negative else "rm")
            bits = self.infinity - 1 if inward else self.infinity
        return bits | self.sign_bit if negative else bits

    def clamp(self, bits):
        """`.sat`."""
        if self.is_nan(bits) or bits & self.sign_bit:
            return 0
        return min(bits, self.bias << self.fraction_bits)

    def rectify(self, bits):
        """`.relu`."""
        return 0 if bits & self.sign_bit and not self.is_nan(bits) else bits

    def mul_add(self, a, b, c, direction="rn", ftz=False, sat=False, factors=None, relu=False):
        """a × b + c; a and b may be of a narrower format."""
        result = self._mul_add(a, b, c, direction, ftz, factors or self)
        result = self.clamp(result) if sat else result
        return self.rectify(result) if relu else result

    def _mul_add(self, a, b, c, direction, ftz, factors):
        if ftz:
            a, b, c = factors.flush(a), factors.flush(b), self.flush(c)
        negative = bool(a & factors.sign_bit) != bool(b & factors.sign_bit)
        infinite = factors.is_infinite(a) or factors.is_infinite(b)
        if factors.is_nan(a) or factors.is_nan(b) or self.is_nan(c):
            return self.nan
        if infinite:
            other = b if factors.is_infinite(a) else a
            opposed = self.is_infinite(c) and bool(c & self.sign_bit) != negative
            if other & ~factors.sign_bit == 0 or opposed:
                return self.nan
            return self.infinity | (self.sign_bit if negative else 0)
        if self.is_infinite(c):
            return c
        product, addend = factors.value(a) * factors.value(b), self.value(c)
        if product + addend:
            return self.round(product + addend, direction, ftz)
        # An exact zero: of the sign that both have, otherwise of the direction's.
        if not product and not addend and negative == bool(c & self.sign_bit):
            return c
        return self.sign_bit if direction == "rm" else 0

    def one(self):
        return self.bias << self.fraction_bits

    def add(self, a, b, direction="rn", ftz=False, sat=False):
        return self.mul_add(a, self.one(), b, direction, ftz, sat)

    def sub(self, a, b, direction="rn", ftz=False, sat=False):
        return self.add(a, b ^ self.sign_bit, direction, ftz, sat)

    def mul(self, a, b, direction="rn", ftz=False, sat=False):
        # A zero addend of the product's sign changes nothing.
        return self.mul_add(a, b, (a ^ b) & self.sign_bit, direction, ftz, sat)

    def div(self, a, b):
        """Of finite numbers, b not zero."""
        quotient = self.value(a) / self.value(b)
        return self.round(quotient) if quotient else (a ^ b) & self.sign_bit

    def sqrt(self, a):
        """Of a finite number that is not negative."""
        value = self.value(a)
        if not value:
            return a
        # Enough digits that a rest of one unit tells an inexact root from a tie.
        scale = 2 ** (2 * (self.fraction_bits + 4 + self.bias))
        scaled = value * scale
        root = isqrt(scaled.numerator // scaled.denominator)
        exact = root * root == scaled
        return self.round(Fraction(2 * root + (not exact), 2) / 2 ** (self.fraction_bits + 4 + self.bias))

    def exp2(self, a):
        """2 to a finite power that is not large, correctly rounded."""
        power = self.value(a)
        if power.denominator == 1:
            return self.round(Fraction(2) ** power.numerator)
        with localcontext() as context:
            context.prec = 80
            exponent = Decimal(power.numerator) / Decimal(power.denominator)
            return self.round(Fraction((exponent * Decimal(2).ln()).exp()))

    def less(self, a, b):
        """Of finite numbers."""
        return self.value(a) < self.value(b)

    def extremum(self, choose, a, b, nan=False):
        """`choose` is min or max, by which -0 is below +0; a NaN gives way to a number, with `nan` it wins."""
        if self.is_nan(a) or self.is_nan(b):
            alone = self.is_nan(a) != self.is_nan(b) and not nan
            return (b if self.is_nan(a) else a) if alone else self.nan
        return choose(a, b, key=lambda bits: -1 - (bits ^ self.sign_bit) if bits & self.sign_bit else bits)

    def below_zero(self, bits):
        """Minus the magnitude: an addition to the machine, whose NaN is the canonical one (measured on an H100)."""
        return self.nan if self.is_nan(bits) else bits | self.sign_bit

    def minimum(self, a, b, nan=False):
        return self.extremum(min, a, b, nan)

    def maximum(self, a, b, nan=False):
        return self.extremum(max, a, b, nan)

    def convert(self, source, bits, direction="rn"):
        """A number of another format."""
        negative = bool(bits & source.sign_bit)
        if source.is_nan(bits):
            return self.nan
        if source.is_infinite(bits):
            return self.infinity | (self.sign_bit if negative else 0)
        value = source.value(bits)
        return self.round(value, direction) if value else self.sign_bit if negative else 0

    def from_number(self, value, direction="rn"):
        return self.round(Fraction(value), direction) if value else 0

    def to_integer(self, bits, rounded, low, high):
        """`rounded` makes an integer of a rational; what is out of range is clamped, a NaN is zero."""
        if self.is_nan(bits):
            return 0
        if self.is_infinite(bits):
            return low if bits & self.sign_bit else high
        return min(max(rounded(self.value(bits)), low), high)


F32 = Format(8, 23, 0x7FFFFFFF)
F64 = Format(11, 52, 0xFFF8000000000000)
F16 = Format(5, 10, 0x7FFF)
BF16 = Format(8, 7, 0x7FFF)


def f32(number):
    """The bits of an f32 that a number rounds to."""
    number = Fraction(number)
    return F32.round(number) if number else 0


def f64(number):
    number = Fraction(number)
    return F64.round(number) if number else 0


def mad_sm_1x(a, b, c, sat=False):
    """`mad.f32` of sm_1x: the product's significand is cut to 24 bits, its exponent has no bounds."""
    a, b, c = F32.flush(a), F32.flush(b), F32.flush(c)
    if c & ~F32.sign_bit == 0:
        result = F32.add(F32.mul(a, b, ftz=True), c, ftz=True)
    else:
        product = F32.value(a) * F32.value(b)
        if product:
            exponent = abs(product).numerator.bit_length() - product.denominator.bit_length()
            if abs(product) < Fraction(2) ** exponent:
                exponent -= 1
            unit = Fraction(2) ** (exponent - 23)
            product = int(product / unit) * unit
        total = product + F32.value(c)
        result = F32.flush(F32.round(total)) if total else 0
    return F32.clamp(result) if sat else result
