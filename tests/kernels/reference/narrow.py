"""The kernels of the formats of eight, six and four bits, by search among all the values that a format has."""

from bisect import bisect_left
from fractions import Fraction

from cases import case
from exact import BF16, F16, F32, F64
from halves import between, packed, special


class Narrow:
    """A format of eight bits and fewer: every magnitude in order, its bits are its place."""

    def __init__(self, exponent_bits, fraction_bits, finite, infinite=False, nan=None):
        self.sign_bit = 1 << exponent_bits + fraction_bits
        self.nan, self.infinite = nan, infinite
        lowest = 2 - (1 << exponent_bits - 1) - fraction_bits
        unit, values = Fraction(2) ** lowest, []
        # One more than is finite: what a value would round to that has no place in the format.
        for code in range(finite + 1):
            exponent, fraction = code >> fraction_bits, code & (1 << fraction_bits) - 1
            significand = fraction | (1 << fraction_bits if exponent else 0)
            values.append(significand * unit * 2 ** max(exponent - 1, 0))
        self.values, self.largest = values, finite - 1

    def nearest(self, value):
        """The magnitude's place; of two as near the even one."""
        above = bisect_left(self.values, value)
        if above == len(self.values):
            return above - 1
        if self.values[above] == value:
            return above
        below = above - 1
        low, high = value - self.values[below], self.values[above] - value
        return min((low, below & 1, below), (high, above & 1, above))[2]

    def convert(self, source, bits, relu=False, satfinite=True):
        negative = bool(bits & source.sign_bit)
        if source.is_nan(bits):
            return self.largest if self.nan is None else self.nan
        if negative and relu:
            return 0
        place = len(self.values) - 1 if source.is_infinite(bits) else self.nearest(abs(source.value(bits)))
        if place > self.largest:
            overflown = self.largest + 1 if self.infinite else self.nan
            place = self.largest if satfinite else overflown
        return place | self.sign_bit if negative else place

    def widen(self, target, bits, relu=False):
        """Every value has its place in a wider format."""
        negative, place = bool(bits & self.sign_bit), bits & self.sign_bit - 1
        if place > self.largest and not (self.infinite and place == self.largest + 1):
            return target.nan
        if negative and relu:
            return 0
        if place > self.largest:
            magnitude = target.infinity
        else:
            magnitude = target.round(self.values[place]) if place else 0
        return magnitude | target.sign_bit if negative else magnitude


E4M3 = Narrow(4, 3, 0x7F, nan=0x7F)
E5M2 = Narrow(5, 2, 0x7C, infinite=True, nan=0x7F)
E2M3 = Narrow(2, 3, 0x20)
E3M2 = Narrow(3, 2, 0x20)
E2M1 = Narrow(2, 1, 0x8)


def edges(draw, source, targets, count):
    """Numbers of a format at the ties of narrower ones, next to them, beyond their ends, and any bits."""
    found = list(special(source)) if source in (F16, BF16) else []
    while len(found) < count:
        target = draw.choice(targets)
        place = draw.randrange(len(target.values) - 1)
        tie = (target.values[place] + target.values[place + 1]) / 2
        bits = source.from_number(draw.choice([tie, target.values[place + 1]]))
        if bits < source.infinity:
            bits = max(bits + draw.choice([-1, 0, 0, 1]), 0)
        found.append(bits | draw.choice([0, source.sign_bit]))
        found.append(draw.randrange(2 * source.sign_bit))
    return found[:count]


def floats_at_edges(draw, targets, count):
    found = [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345]
    found += [0x7F7FFFFF, 0xFF7FFFFF]
    found += edges(draw, F32, targets, count // 2)
    found += [between(draw, draw.choice([F16, BF16])) for _ in range(count - len(found))]
    return found


def bytes_of(values):
    return ("u2", [values[i] | values[i + 1] << 8 for i in range(0, len(values), 2)])


def pairs_of(columns, values):
    return (*bytes_of(values), columns)


def every_byte(draw, n):
    """Each byte once in the low half, and in the high half in another order."""
    high = list(range(n))
    draw.shuffle(high)
    return [byte for both in zip(range(n), high) for byte in both]


def fp8_convert(draw):
    n, eights = 256, [E4M3, E5M2]
    x = floats_at_edges(draw, eights, 2 * n)
    h, b = (edges(draw, form, eights, 2 * n) for form in (F16, BF16))
    # The header's own function makes of an f64 that is a NaN what no manual says: there is none here.
    d = [0, F64.sign_bit, F64.infinity, F64.sign_bit | F64.infinity]
    d += [bits for bits in edges(draw, F64, eights, 2 * n) if not F64.is_nan(bits)]
    d = d[:n]
    e = every_byte(draw, n)
    pairs, single, halves, floats = [], [], [], []
    for i in range(n):
        at = slice(2 * i, 2 * i + 2)
        for source, values in ((F32, x), (F16, h), (BF16, b)):
            for target in eights:
                pairs += [target.convert(source, bits) for bits in values[at]]
        pairs += [E4M3.convert(F32, bits, relu=True) for bits in x[at]]
        pairs += [E5M2.convert(F16, bits, relu=True) for bits in h[at]]
        single += [E4M3.convert(F32, x[2 * i]), E5M2.convert(F32, x[2 * i + 1])]
        single += [target.convert(F64, d[i], satfinite=limit) for target in eights for limit in (True, False)]
        for target in eights:
            halves += [target.widen(F16, bits) for bits in e[at]]
            floats += [target.widen(F32, bits) for bits in e[at]]
        halves += [E4M3.widen(F16, bits, relu=True) for bits in e[at]]
    arguments = [str(n), ("f4", x, 2), packed(h), packed(b), ("f8", d), bytes_of(e), ("u2", [0] * (len(pairs) // 2), 8)]
    arguments += [("u1", [0] * len(single), 6), packed([0] * len(halves), 3), ("f4", [0] * len(floats), 4)]
    results = {6: pairs_of(8, pairs), 7: ("u1", single, 6), 8: packed(halves, 3), 9: ("f4", floats, 4)}
    case("fp8_convert", "4", "64", arguments, results)


def fp6_fp4_convert(draw):
    n, sixes, all_of_them = 256, [E2M3, E3M2], [E2M3, E3M2, E2M1, E4M3, E5M2]
    x = floats_at_edges(draw, all_of_them, 2 * n)
    h, b = (edges(draw, form, all_of_them, 2 * n) for form in (F16, BF16))
    e = every_byte(draw, n)
    pairs, fours, halves, brains = [], [], [], []
    for i in range(n):
        at = slice(2 * i, 2 * i + 2)
        for source, values in ((F32, x), (F16, h), (BF16, b)):
            for target in sixes:
                pairs += [target.convert(source, bits) for bits in values[at]]
            low, high = (E2M1.convert(source, bits) for bits in values[at])
            fours.append(low | high << 4)
        for target in (E4M3, E5M2):
            pairs += [target.convert(BF16, bits) for bits in b[at]]
        pairs += [E3M2.convert(F32, bits, relu=True) for bits in x[at]]
        pairs += [E2M3.convert(BF16, bits, relu=True) for bits in b[at]]
        small = {E2M1: [e[2 * i] & 15, e[2 * i] >> 4]}
        for target in (E2M3, E3M2, E2M1):
            operands = small.get(target, [bits & 0x3F for bits in e[at]])
            halves += [target.widen(F16, bits) for bits in operands]
            brains += [target.widen(BF16, bits) for bits in operands]
        for target in (E4M3, E5M2):
            brains += [target.widen(BF16, bits) for bits in e[at]]
    arguments = [str(n), ("f4", x, 2), packed(h), packed(b), bytes_of(e), ("u2", [0] * (len(pairs) // 2), 10)]
    arguments += [("u1", [0] * len(fours), 3), packed([0] * len(halves), 3), packed([0] * len(brains), 5)]
    results = {5: pairs_of(10, pairs), 6: ("u1", fours, 3), 7: packed(halves, 3), 8: packed(brains, 5)}
    case("fp6_fp4_convert", "4", "64", arguments, results)


def tf32(bits, way, satfinite=False, relu=False):
    """The nearer of the two neighbours with 13 zeros at their ends; of two as near the larger ("rna") or the even one."""
    sign, magnitude = bits & F32.sign_bit, bits & ~F32.sign_bit
    low = magnitude & ~0x1FFF
    if magnitude > F32.infinity:
        # What the assembler's expansion of `.rna` leaves of a NaN; the others' NaN is that of an H100.
        return (sign | low) - 0x2000 * satfinite if way == "rna" else 0x7FFFE000
    if magnitude < F32.infinity and low != magnitude and way != "rz":
        # As if the exponent had no end.
        below, at = F32.value(low), F32.value(magnitude)
        above = below + (F32.value(low) - F32.value(low - 0x2000) if low + 0x2000 == F32.infinity else F32.value(low + 0x2000) - below)
        left, right = at - below, above - at
        if right < left or (right == left and (way == "rna" or low >> 13 & 1)):
            low += 0x2000
    if satfinite and low == F32.infinity:
        low -= 0x2000
    return 0 if relu and sign else sign | low


def tf32_convert(draw):
    edges = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x3000, 0x7FFFFF, 0x800000, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000]
    edges += [0x7F7FDFFF, 0x7F7FE000, 0x7F7FEFFF, 0x7F7FF000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7F801FFF, 0x7F802000]
    edges += [0x7FC00000, 0x7FFFFFFF, 0x007FF000, 0x007FEFFF]
    x = edges + [bits | F32.sign_bit for bits in edges] + [draw.randrange(2**32) for _ in range(150)]
    # Ties and what is next to them.
    x += [draw.randrange(2**19) << 13 | draw.choice([0x1000, 0x0FFF, 0x1001]) for _ in range(100)]
    result = []
    for bits in x:
        result += [tf32(bits, "rna"), tf32(bits, "rna", satfinite=True), tf32(bits, "rn"), tf32(bits, "rz")]
        result += [tf32(bits, "rn", relu=True), tf32(bits, "rz", satfinite=True, relu=True)]
    case("tf32_convert", "5", "64", [str(len(x)), ("f4", x), ("u4", [0] * (6 * len(x)), 6)], {2: ("u4", result, 6)})


KERNELS = [fp8_convert, fp6_fp4_convert, tf32_convert]
