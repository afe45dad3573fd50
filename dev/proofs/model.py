"""The pipeline's steps, transcribed from Rust line by line, over integers of a fixed width.

The same text serves two purposes: over bit-vector terms it is what the solver reasons about, over plain numbers it is
run against the code (agree.py). Each function names the Rust function that it transcribes; `tools` is either kind of
integers (bits.py).
"""

from dataclasses import dataclass

RN, RZ, RM, RP = "rn", "rz", "rm", "rp"
ROUNDINGS = [RN, RZ, RM, RP]


@dataclass(frozen=True)
class Format:
    name: str
    exp_bits: int
    frac_bits: int

    @property
    def width(self):
        return 1 + self.exp_bits + self.frac_bits

    @property
    def precision(self):
        return self.frac_bits + 1

    @property
    def bias(self):
        return (1 << (self.exp_bits - 1)) - 1

    @property
    def emin(self):
        return 1 - self.bias

    @property
    def emax(self):
        return self.bias

    @property
    def min_quantum(self):
        return self.emin - self.frac_bits

    @property
    def exp_max(self):
        return (1 << self.exp_bits) - 1

    @property
    def sign_mask(self):
        return 1 << (self.width - 1)

    @property
    def infinity(self):
        return self.exp_max << self.frac_bits

    @property
    def largest_finite(self):
        return self.infinity - 1

    @property
    def smallest_normal(self):
        return 1 << self.frac_bits

    @property
    def wide(self):
        """`Wide`: u64 up to 29 significand bits, u128 above (mul_add.rs, evaluate_traced)."""
        return 64 if self.precision <= 29 else 128


F16, BF16, F32, F64 = Format("f16", 5, 10), Format("bf16", 8, 7), Format("f32", 8, 23), Format("f64", 11, 52)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}
INT = 32  # quanta, shifts and fields: i32 and u32 in the code


def shift_right_sticky(t, x, shift):
    """wide.rs, Wide::shift_right_sticky."""
    bits = x.width
    shift = t.ite(shift.ult(t.int(bits - 1, INT)), shift, t.int(bits - 1, INT)).resize(bits)
    one = t.int(1, bits)
    lost = (x & ((one << shift) - one)).ne(t.int(0, bits))
    return (x >> shift) | t.ite(lost, one, t.int(0, bits))


def add(t, x_negative, x_quantum, x, y_negative, y_quantum, y):
    """mul_add.rs, add: the sum, exact but for a sticky lowest bit."""
    quantum = t.ite(x_quantum.slt(y_quantum), y_quantum, x_quantum)
    xs = shift_right_sticky(t, x, quantum - x_quantum)
    ys = shift_right_sticky(t, y, quantum - y_quantum)
    y_larger = xs.ult(ys)
    large, small = t.ite(y_larger, ys, xs), t.ite(y_larger, xs, ys)
    negative = t.choose(y_larger, y_negative, x_negative)
    same = t.same(x_negative, y_negative)
    return negative, quantum, t.ite(same, large + small, large - small)


def round_up(t, rounding, negative, odd, rest, half):
    """round.rs, round_up."""
    if rounding == RN:
        return (half - t.ite(odd, t.int(1, half.width), t.int(0, half.width))).ult(rest)
    if rounding == RZ:
        return t.false
    some = rest.ne(t.int(0, rest.width))
    return t.both(negative, some) if rounding == RM else t.both(t.no(negative), some)


def round_significand(t, rounding, negative, significand, drop):
    """round.rs, round_significand: what stays of the bits from place `drop` up, and whether anything was lost."""
    bits = significand.width
    zero, one = t.int(0, bits), t.int(1, bits)
    lost = significand.ne(zero)
    all_below = round_up(t, rounding, negative, t.false, t.ite(lost, one, zero), t.int(2, bits))
    place = drop.resize(bits)
    kept = significand >> place
    rest = significand & ((one << place) - one)
    up = round_up(t, rounding, negative, kept.bit(0), rest, one << (place - one))
    beyond = t.no(drop.ult(t.int(bits, INT)))
    return (
        t.ite(beyond, t.ite(all_below, one, zero), kept + t.ite(up, one, zero)).resize(64),
        t.choose(beyond, lost, rest.ne(zero)),
    )


def round_(t, fmt, rounding, negative, quantum, significand):
    """round.rs, round: the bits of the result, and inexact. The top bit of the significand is clear, it is not zero."""
    bits = significand.width
    length = t.int(bits, INT) - t.leading_zeros(significand)
    exponent = quantum + length - t.int(1, INT)
    tiny = exponent.slt(t.int(fmt.emin, INT))
    kept_quantum = t.ite(tiny, t.int(fmt.min_quantum, INT), exponent + t.int(1 - fmt.precision, INT))
    drop = kept_quantum - quantum
    down = t.int(0, INT).slt(drop)
    kept, inexact = round_significand(t, rounding, negative, significand, drop)
    up_shift = (t.int(0, INT) - drop).resize(bits)
    kept = t.ite(down, kept, (significand << up_shift).resize(64))
    inexact = t.both(down, inexact)
    field = (kept_quantum - t.int(fmt.min_quantum, INT)).sign_resize(64)
    magnitude = (field << t.int(fmt.frac_bits, 64)) + kept
    overflow = t.either(
        t.no(field.slt(t.int(fmt.exp_max, 64))), t.no(magnitude.ult(t.int(fmt.infinity, 64)))
    )
    to_infinity = {RN: t.true, RZ: t.false, RM: negative, RP: t.no(negative)}[rounding]
    beyond = t.ite(to_infinity, t.int(fmt.infinity, 64), t.int(fmt.largest_finite, 64))
    magnitude = t.ite(overflow, beyond, magnitude)
    sign = t.ite(negative, t.int(fmt.sign_mask, 64), t.int(0, 64))
    return sign | magnitude, t.either(overflow, inexact)


def unpack_finite(t, fmt, bits):
    """unpack.rs, unpack: quantum and significand of a finite nonzero number."""
    field = (bits >> t.int(fmt.frac_bits, 64)) & t.int(fmt.exp_max, 64)
    fraction = bits & t.int(fmt.smallest_normal - 1, 64)
    normal = field.ne(t.int(0, 64))
    shift = t.leading_zeros(fraction) - t.int(64 - fmt.precision, INT)
    quantum = t.ite(
        normal,
        field.resize(INT) + t.int(fmt.min_quantum - 1, INT),
        t.int(fmt.min_quantum, INT) - shift,
    )
    significand = t.ite(normal, fraction | t.int(fmt.smallest_normal, 64), fraction << shift.resize(64))
    return quantum, significand


def align(t, fmt, quantum, significand):
    """mul_add.rs, align."""
    shift = fmt.wide - 2 - fmt.precision
    return quantum - t.int(shift, INT), significand.resize(fmt.wide) << t.int(shift, fmt.wide)


def multiply(t, fmt, x_quantum, x, y_quantum, y):
    """mul_add.rs, multiply, of an ordinary kind."""
    shift = fmt.wide - 2 - 2 * fmt.precision
    product = (x.resize(fmt.wide) * y.resize(fmt.wide)) << t.int(shift, fmt.wide)
    return x_quantum + y_quantum - t.int(shift, INT), product


def round_sum(t, fmt, rounding, negative, quantum, significand):
    """mul_add.rs, round_sum, without flushing."""
    zero = significand.eq(t.int(0, significand.width))
    bits, inexact = round_(t, fmt, rounding, negative, quantum, significand)
    cancelled = t.int(fmt.sign_mask if rounding == RM else 0, 64)
    return t.ite(zero, cancelled, bits), t.both(t.no(zero), inexact)


def round_normal(t, fmt, rounding, negative, quantum, significand):
    """round.rs, round_normal: whether there is a result, its bits, and inexact."""
    bits = significand.width
    zeros = t.leading_zeros(significand)
    aligned = significand << zeros.resize(bits)
    drop = bits - fmt.precision
    kept = (aligned >> t.int(drop, bits)).resize(64)
    rest = aligned << t.int(fmt.precision, bits)
    up = round_up(t, rounding, negative, kept.bit(0), rest, t.int(1 << (bits - 1), bits))
    field = quantum - zeros + t.int(drop - fmt.min_quantum, INT)
    there = t.both(significand.ne(t.int(0, bits)), field.ult(t.int(fmt.exp_max - 2, INT)))
    sign = t.ite(negative, t.int(fmt.sign_mask, 64), t.int(0, 64))
    magnitude = (field.resize(64) << t.int(fmt.frac_bits, 64)) + kept + t.ite(up, t.int(1, 64), t.int(0, 64))
    return there, sign | magnitude, rest.ne(t.int(0, bits))


def fast_path(t, fmt, rounding, signs, fields, product, addend):
    """fast_path.rs, mul_add, of three normal numbers: their signs (of the product and of the addend), their exponent
    fields, the product of the significands and the addend's."""
    bits = fmt.wide
    product_shift, addend_shift = bits - 2 - 2 * fmt.precision, bits - 2 - fmt.precision
    product, addend = product << t.int(product_shift, bits), addend << t.int(addend_shift, bits)
    unit = fmt.min_quantum - 1
    product_quantum = fields[0] + fields[1] + t.int(2 * unit - product_shift, INT)
    addend_quantum = fields[2] + t.int(unit - addend_shift, INT)
    differ = t.no(t.same(signs[0], signs[1]))
    apart = product_quantum - addend_quantum
    below = apart.slt(t.int(0, INT))
    high, low = t.ite(below, addend, product), t.ite(below, product, addend)
    high_negative = t.choose(below, signs[1], signs[0])
    distance = t.ite(below, t.int(0, INT) - apart, apart)
    low = shift_right_sticky(t, low, distance)
    sum_ = t.ite(differ, high - low, high + low)
    turned = sum_.bit(bits - 1)
    significand = t.ite(turned, t.int(0, bits) - sum_, sum_)
    quantum = t.ite(below, addend_quantum, product_quantum)
    negative = t.no(t.same(high_negative, turned))
    return round_normal(t, fmt, rounding, negative, quantum, significand)


def mul_add_fast_path(t, fmt, rounding, a, b, c):
    """mul_add.rs, evaluate: the short cut where it has an answer, else the pipeline."""
    const = lambda value: t.int(value, 64)
    field = lambda x: ((x >> const(fmt.frac_bits)) & const(fmt.exp_max)).resize(INT)
    normal = lambda x: (field(x) - t.int(1, INT)).ult(t.int(fmt.exp_max - 1, INT))
    significand = lambda x: (x & const(fmt.smallest_normal - 1)) | const(fmt.smallest_normal)
    sign = lambda x: (x & const(fmt.sign_mask)).ne(const(0))
    product = significand(a).resize(fmt.wide) * significand(b).resize(fmt.wide)
    signs = [t.no(t.same(sign(a), sign(b))), sign(c)]
    fields = [field(a), field(b), field(c)]
    there, bits, inexact = fast_path(t, fmt, rounding, signs, fields, product, significand(c).resize(fmt.wide))
    there = t.both(there, t.both(normal(a), t.both(normal(b), normal(c))))
    pipeline, pipeline_inexact = mul_add(t, fmt, rounding, a, b, c)
    return t.ite(there, bits, pipeline), t.choose(there, inexact, pipeline_inexact)


def mul_add(t, fmt, rounding, a, b, c):
    """mul_add.rs, pipeline and uncommon: NaN results are the canonical NaN. Bits in 64-bit integers."""
    const = lambda value: t.int(value, 64)
    magnitude = [x & const(fmt.sign_mask - 1) for x in (a, b, c)]
    sign = [(x & const(fmt.sign_mask)).ne(const(0)) for x in (a, b, c)]
    zero = [m.eq(const(0)) for m in magnitude]
    infinite = [m.eq(const(fmt.infinity)) for m in magnitude]
    nan = [const(fmt.infinity).ult(m) for m in magnitude]
    product_negative = t.no(t.same(sign[0], sign[1]))
    # 5.
    zero_times_infinity = t.either(t.both(zero[0], infinite[1]), t.both(infinite[0], zero[1]))
    product_infinite = t.either(infinite[0], infinite[1])
    signs_differ = t.no(t.same(product_negative, sign[2]))
    difference = t.both(t.both(product_infinite, infinite[2]), signs_differ)
    invalid = t.either(zero_times_infinity, difference)
    is_nan = t.either(t.either(nan[0], nan[1]), t.either(nan[2], invalid))
    signed = lambda negative, value: t.ite(negative, const(fmt.sign_mask | value), const(value))
    # 6 and 7.
    aq, am = unpack_finite(t, fmt, a)
    bq, bm = unpack_finite(t, fmt, b)
    cq, cm = unpack_finite(t, fmt, c)
    pq, pm = multiply(t, fmt, aq, am, bq, bm)
    cq, cm = align(t, fmt, cq, cm)
    no_product = t.either(zero[0], zero[1])
    negative, quantum, significand = add(t, product_negative, pq, pm, sign[2], cq, cm)
    negative = t.choose(no_product, sign[2], t.choose(zero[2], product_negative, negative))
    quantum = t.ite(no_product, cq, t.ite(zero[2], pq, quantum))
    significand = t.ite(no_product, cm, t.ite(zero[2], pm, significand))
    bits, inexact = round_sum(t, fmt, rounding, negative, quantum, significand)
    both_zero = t.both(no_product, zero[2])
    zeros = t.ite(signs_differ, const(fmt.sign_mask if rounding == RM else 0), signed(product_negative, 0))
    bits = t.ite(both_zero, zeros, bits)
    infinities = t.either(product_infinite, infinite[2])
    bits = t.ite(infinities, signed(t.choose(product_infinite, product_negative, sign[2]), fmt.infinity), bits)
    bits = t.ite(is_nan, const(fmt.sign_mask - 1), bits)
    return bits, t.both(t.no(t.either(is_nan, t.either(infinities, both_zero))), inexact)
