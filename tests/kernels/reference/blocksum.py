"""One element of a matrix multiply-add as tensor cores compute it, on exact rationals.

Written for these references alone. The facts: the largest exponent of a step's terms, the terms cut toward zero below it,
their exact sum, one conversion (Xie et al., arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004); what assemblers
make of instructions that a machine lacks, by their output.
"""

from fractions import Fraction

from exact import BF16, F16, F32, F64, Format


class Small:
    """A factor's format: exponent and fraction bits, and what its largest exponent holds: numbers and infinities (`ieee`),
    one NaN beside numbers (`nan`), or numbers alone. `skip` low bits of its place are ignored."""

    def __init__(self, exponent_bits, fraction_bits, top="ieee", skip=0):
        self.exponent_bits, self.fraction_bits, self.top, self.skip = exponent_bits, fraction_bits, top, skip
        self.bias = (1 << exponent_bits - 1) - 1
        self.bits = 1 + exponent_bits + fraction_bits

    def parts(self, bits):
        """The kind, the sign as 1 or -1, the exponent that it is aligned by, and the value."""
        bits = bits >> self.skip & (1 << self.bits) - 1
        sign = -1 if bits >> self.bits - 1 else 1
        exponent = bits >> self.fraction_bits & (1 << self.exponent_bits) - 1
        fraction = bits & (1 << self.fraction_bits) - 1
        if self.top == "ieee" and exponent == (1 << self.exponent_bits) - 1:
            return ("nan" if fraction else "infinity"), sign, 0, None
        if self.top == "nan" and bits & (1 << self.bits - 1) - 1 == (1 << self.bits - 1) - 1:
            return "nan", sign, 0, None
        whole = fraction + (1 << self.fraction_bits if exponent else 0)
        scale = max(exponent, 1) - self.bias
        return "number", sign, scale, sign * whole * Fraction(2) ** (scale - self.fraction_bits)


FACTORS = {
    "f16": Small(5, 10),
    "bf16": Small(8, 7),
    "tf32": Small(8, 10, skip=13),
    "e4m3": Small(4, 3, "nan"),
    "e5m2": Small(5, 2),
    "e2m1": Small(2, 1, "none"),
}
SUMS = {"f16": F16, "f32": F32, "f64": F64, "bf16": BF16}
WIDE = {"f16": Small(5, 10), "f32": Small(8, 23)}


class Row:
    """What a machine computes: products a step, bits kept, the format of a step's sum, the fraction bits that its
    conversion keeps (`None`: all, to nearest even)."""

    def __init__(self, a, b, c, d, step, kept, short=None, halves=False, group=1, scale=None):
        self.a, self.b, self.c, self.d = a, b, c, d
        self.step, self.kept, self.short, self.halves, self.group, self.scale = step, kept, short, halves, group, scale
        self.sum = "f16" if c == d == "f16" else "f32"


def floor(row):
    """The exponent of a zero."""
    lowest = {23: -131, 24: -132, 25: -133}.get(row.kept, -139)
    return lowest + 111 if row.sum == "f16" else lowest


def scale_parts(kind, bits):
    """Of a block's scale: the exponent and the rest, or None for NaN."""
    if kind == "ue8m0":
        return None if bits == 0xFF else (bits - 127, Fraction(1))
    name, _, exponent, value = FACTORS["e4m3"].parts(bits & 0x7F)
    return None if name == "nan" else (exponent, value / Fraction(2) ** exponent)


def converted(row, value):
    if not value:
        return 0
    if row.sum == "f16":
        bits = F16.round(value)
        return 0 if bits == F16.sign_bit else bits
    kept = row.short or 23
    form = Format(8, kept, None)
    bits = form.round(value, "rz")
    if abs(value) >= Fraction(2) ** 128:
        bits = form.infinity | (form.sign_bit if value < 0 else 0)
    return 0 if bits == form.sign_bit else bits << 23 - kept


def step(row, a, b, addend, scales):
    """Products and an addend."""
    form = SUMS[row.sum]
    terms, infinities, low = [], set(), floor(row)
    pairs = [(FACTORS[row.a].parts(x), FACTORS[row.b].parts(y)) for x, y in zip(a, b)]
    for at in range(0, len(pairs), row.group):
        exponent, total = None, Fraction(0)
        for (kind, sign, e, x), (other, sign2, e2, y) in pairs[at : at + row.group]:
            if "nan" in (kind, other):
                return form.nan
            if "infinity" in (kind, other):
                if x == 0 or y == 0:
                    return form.nan
                infinities.add(sign * sign2)
                continue
            total += x * y
            exponent = e + e2
        if exponent is None:
            continue
        if row.group > 1:
            exponent = 0
        for side in scales:
            if row.scale:
                parts = scale_parts(row.scale[0], side[at // row.scale[1]])
                if parts is None:
                    return form.nan
                exponent, total = exponent + parts[0], total * parts[1] * Fraction(2) ** parts[0]
        terms.append((exponent if total else low, total))
    kind, sign, exponent, value = WIDE[row.sum].parts(addend)
    if kind == "nan":
        return form.nan
    if kind == "infinity":
        infinities.add(sign)
    else:
        terms.append((exponent if value else low, value))
    if infinities:
        return form.nan if len(infinities) > 1 else form.infinity | (form.sign_bit if -1 in infinities else 0)
    grid = Fraction(2) ** (max(exponent for exponent, _ in terms) - row.kept)
    cut = sum(int(abs(value) / grid) * (1 if value > 0 else -1) for _, value in terms)
    return converted(row, cut * grid)


def element(row, a, b, c, scales=((), ())):
    """a · b + c."""
    form = SUMS[row.sum]
    c = form.convert(SUMS[row.c], c) if row.c != row.sum else c
    if row.kept is None:
        # The first product alone, then one fused multiply-add each, then the addend.
        total = 0
        for x, y in zip(a, b):
            total = F32.mul_add(x, y, total, factors=SUMS[row.a])
        total = F32.add(total, F32.convert(SUMS[row.c], c) if row.sum != "f32" else c)
        return SUMS[row.d].convert(F32, total) if row.d != "f32" else total
    if row.halves:
        places = [k for k in range(len(a)) if k % 4 < 2] + [k for k in range(len(a)) if k % 4 > 1]
        a, b = [a[k] for k in places], [b[k] for k in places]
    total = 0 if row.halves else c
    for start in range(0, len(a), row.step):
        total = step(row, a[start : start + row.step], b[start : start + row.step], total, scales)
    if row.halves:
        total = form.add(total, c)
    return SUMS[row.d].convert(form, total) if row.d != row.sum else total


def chain(a, b, c, direction="rn"):
    """f64: one fused multiply-add a product."""
    for x, y in zip(a, b):
        c = F64.mul_add(x, y, c, direction)
    return c


def row(machine, instruction, k, a, b, c, d, scale=None):
    """What a machine (the number of its sm_) computes for `mma`, `wmma` or `wgmma`."""
    family = machine // 10
    if scale:
        return Row(a, b, c, d, k, 35, group=16, scale=scale) if k == 64 else Row(a, b, c, d, k, 25, scale=scale)
    if instruction == "wgmma":
        return Row(a, b, c, d, k, 13, short=13) if a in ("e4m3", "e5m2") else Row(a, b, c, d, k, 25)
    if a in ("e4m3", "e5m2"):
        if machine == 89:
            return Row(a, b, c, d, 16, 13, short=13)
        if family == 12:
            return Row(a, b, c, d, k, 25)
        return Row(a, b, c, d, k // 2, 25, halves=True)
    if machine == 70:
        return Row(a, b, c, d, 4, 23)
    if machine == 75:
        return Row(a, b, c, d, min(k, 8), 24)
    if k == 4 and a == "f16":
        return Row(a, b, c, d, 1, None)
    newer = machine >= 90
    if a == "tf32":
        return Row(a, b, c, d, min(k, 8 if newer and instruction == "mma" else 4), 25 if newer else 24)
    return Row(a, b, c, d, min(k, 16 if newer else 8), 25 if newer else 24)
