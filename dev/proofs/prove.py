"""Proves the steps of the pipeline for all operands of a format. docs/proofs.md says what the theorems add up to.

    prove.py [--limit SECONDS] [--only NAME] [FORMAT...]     formats f16, bf16, f32 and f64; the first three by default

A line a theorem: proved, refuted (with the values that refute it) or out of time.
"""

import sys
import time

import model
from bits import Symbolic
from model import FORMATS, INT, RM, RN, ROUNDINGS, RP, RZ


def between(t, x, low, high):
    """low ≤ x < high, unsigned."""
    return t.both(t.no(x.ult(t.int(low, x.width))), x.ult(t.int(high, x.width)))


def every(t, conditions):
    result = t.true
    for condition in conditions:
        result = t.both(result, condition)
    return result


def implies(t, x, y):
    return t.either(t.no(x), y)


def product(t, fmt):
    """The product of two significands is exact, and placed: two zero bits above it or three, the rest below."""
    bits, precision = fmt.wide, fmt.precision
    x, y = t.variable("x", precision), t.variable("y", precision)
    quantum = t.int(0, INT)
    _, placed = model.multiply(t, fmt, quantum, x.resize(64), quantum, y.resize(64))
    exact = x.resize(2 * precision) * y.resize(2 * precision)
    shift = bits - 2 - 2 * precision
    claim = every(
        t,
        [
            placed.eq(exact.resize(bits) << t.int(shift, bits)),
            (placed >> t.int(shift, bits)).eq(exact.resize(bits)),
            between(t, placed, 1 << (bits - 4), 1 << (bits - 2)),
        ],
    )
    leading = [x.bit(precision - 1), y.bit(precision - 1)]
    return [("product", leading, claim, [x, y])]


def jam(t, exact):
    """The upper half, its lowest bit set if the lower half is not zero."""
    half = exact.width // 2
    low = exact.resize(half).ne(t.int(0, half))
    high = (exact >> t.int(half, exact.width)).resize(half)
    return high | t.ite(low, t.int(1, half), t.int(0, half))


def alignment(t, fmt):
    """The sum of a product and an addend is the exact sum, what lies below the lowest bit jammed into it.

    The distance is taken up to the width, where the exact sum still fits twice the width; from the width less one on
    the code shifts no further, and the far theorem says that it need not."""
    bits = fmt.wide
    zeros = bits - 2 - 2 * fmt.precision
    x, y = t.variable("x", bits), t.variable("y", bits)
    # A product has its leading bit at either place, an addend at the upper one; both have that many zeros below.
    terms = [between(t, term, 1 << (bits - 4), 1 << (bits - 2)) for term in (x, y)]
    terms += [(term & t.int((1 << zeros) - 1, bits)).eq(t.int(0, bits)) for term in (x, y)]
    distance = t.variable("d", INT)
    x_negative, y_negative = t.boolean("x_negative"), t.boolean("y_negative")
    theorems = []
    for name, x_quantum, y_quantum in [("product above", distance, t.int(0, INT)), ("addend above", t.int(0, INT), distance)]:
        negative, quantum, sum_ = model.add(t, x_negative, x_quantum, x, y_negative, y_quantum, y)
        double = 2 * bits
        high_is_x = name == "product above"
        high, low = (x, y) if high_is_x else (y, x)
        high_negative, low_negative = (x_negative, y_negative) if high_is_x else (y_negative, x_negative)
        exact_high = high.resize(double) << t.int(bits, double)
        exact_low = (low.resize(double) << t.int(bits, double)) >> distance.resize(double)
        same = t.same(x_negative, y_negative)
        smaller = exact_high.ult(exact_low)
        difference = t.ite(smaller, exact_low - exact_high, exact_high - exact_low)
        exact = t.ite(same, exact_high + exact_low, difference)
        exact_negative = t.choose(t.both(t.no(same), smaller), low_negative, high_negative)
        zero = exact.eq(t.int(0, double))
        claim = every(
            t,
            [
                sum_.eq(jam(t, exact)),
                t.either(zero, t.same(negative, exact_negative)),
                quantum.eq(distance),
                # What `round` asks for: the top bit clear; a sticky bit only far below the leading one.
                t.no(sum_.bit(bits - 1)),
                t.either(exact.resize(bits).eq(t.int(0, bits)), t.no(sum_.ult(t.int(1 << (bits - 5), bits)))),
            ],
        )
        near = t.no(t.int(bits, INT).ult(distance))
        theorems.append((f"alignment, {name}", [*terms, near], claim, [x, y, distance]))
        # From there on: high ± something between 0 and 1, which is high + 1 or high - 1 by the jamming (high is even).
        far = t.both(t.no(distance.ult(t.int(bits - 1, INT))), distance.ult(t.int(1 << 20, INT)))
        one = t.int(1, bits)
        jammed = t.ite(same, high + one, high - one)
        claim = every(t, [sum_.eq(jammed), t.same(negative, high_negative), t.no(high.bit(0)), quantum.eq(distance)])
        theorems.append((f"alignment, {name}, far", [*terms, far], claim, [x, y, distance]))
    return theorems


def rounding(t, fmt):
    """The result of rounding a jammed value is the format's number that IEEE 754 asks for, for the exact value.

    Said by neighbours: toward zero is the largest magnitude not above, away the smallest not below, to nearest the one
    whose midpoints enclose the value, even where it lies on one; infinity stands where 2^(emax+1) would."""
    bits = fmt.wide
    double = 2 * bits
    exact = t.variable("exact", double)
    significand = jam(t, exact)
    quantum = t.variable("quantum", INT)
    negative = t.boolean("negative")
    reach = 2 * (fmt.bias + fmt.frac_bits + 64) + bits
    assumptions = [
        exact.ne(t.int(0, double)),
        t.no(exact.bit(double - 1)),
        t.either(exact.resize(bits).eq(t.int(0, bits)), t.no(significand.ult(t.int(1 << (bits - 5), bits)))),
        t.int(-reach, INT).slt(quantum),
        quantum.slt(t.int(reach, INT)),
    ]
    theorems = []
    for rounding_ in ROUNDINGS:
        result, inexact = model.round_(t, fmt, rounding_, negative, quantum, significand)
        magnitude = result & t.int(fmt.sign_mask - 1, 64)
        field = (magnitude >> t.int(fmt.frac_bits, 64)).resize(INT)
        fraction = magnitude & t.int(fmt.smallest_normal - 1, 64)
        normal = field.ne(t.int(0, INT))
        m = t.ite(normal, fraction | t.int(fmt.smallest_normal, 64), fraction)
        e = t.ite(normal, field + t.int(fmt.min_quantum - 1, INT), t.int(fmt.min_quantum, INT))
        infinite = magnitude.eq(t.int(fmt.infinity, 64))
        largest = magnitude.eq(t.int(fmt.largest_finite, 64))
        # In units of 2^(e-2), or of the exact value's lowest bit if that is finer.
        k = quantum - t.int(bits, INT) - (e - t.int(2, INT))
        wide = double + fmt.precision + 8
        up = t.int(-1, INT).slt(k)
        limit = t.int(fmt.precision + 4, INT)
        up_shift = t.ite(t.both(up, limit.slt(k)), limit, k)
        # Further up than that the value is beyond any finite number that the claim could call it.
        value = t.ite(up, exact.resize(wide) << up_shift.resize(wide), exact.resize(wide))
        minus = t.int(0, INT) - k
        down_limit = t.int(double + 1, INT)
        down_shift = t.ite(down_limit.slt(minus), down_limit, minus).resize(wide + double)
        wider = wide + double

        def unit(count):
            """So many quarters of the last place, on the value's scale."""
            count = count.resize(wider)
            return t.ite(up, count, count << down_shift)

        value = value.resize(wider)
        four = m.resize(wider) << t.int(2, wider)
        at, above = unit(four), unit(four + t.int(4, wider))
        above_half = unit(four + t.int(2, wider))
        # The number below is half a place away at the foot of a binade.
        foot = t.both(fraction.eq(t.int(0, 64)), t.int(1, INT).slt(field))
        gap = t.ite(foot, t.int(2, wider), t.int(4, wider))
        below, below_half = unit(four - gap), unit(four - t.ite(foot, t.int(1, wider), t.int(2, wider)))
        zero = magnitude.eq(t.int(0, 64))
        even = t.no(magnitude.bit(0))
        le = lambda x, y: t.no(y.ult(x))
        toward = t.both(le(at, value), t.either(largest, value.ult(above)))
        away = t.both(t.no(zero), t.both(below.ult(value), t.either(infinite, le(value, at))))
        lower = t.either(zero, t.either(below_half.ult(value), t.both(even, le(below_half, value))))
        upper = t.either(infinite, t.either(value.ult(above_half), t.both(even, le(value, above_half))))
        away_exact = t.either(t.both(le(at, value), le(value, at)), away)
        right = {
            RN: t.both(lower, upper),
            RZ: t.both(toward, t.no(infinite)),
            RM: t.choose(negative, away_exact, t.both(toward, t.no(infinite))),
            RP: t.choose(negative, t.both(toward, t.no(infinite)), away_exact),
        }[rounding_]
        exact_hit = t.both(t.no(infinite), t.both(le(at, value), le(value, at)))
        sign = (result & t.int(fmt.sign_mask, 64)).ne(t.int(0, 64))
        claim = every(
            t,
            [
                right,
                t.same(sign, negative),
                le(magnitude, t.int(fmt.infinity, 64)),
                (result >> t.int(fmt.width, 64)).eq(t.int(0, 64)),
                t.same(inexact, t.no(exact_hit)),
            ],
        )
        theorems.append((f"rounding .{rounding_}", assumptions, claim, [exact, quantum]))
    return theorems


def short_cut(t, fmt):
    """Where the fast path has an answer it is the pipeline's: any product of significands at all."""
    bits, precision = fmt.wide, fmt.precision
    product, addend = t.variable("product", bits), t.variable("addend", bits)
    fields = [t.variable(f"field_{name}", INT) for name in "abc"]
    signs = [t.boolean("product_negative"), t.boolean("addend_negative")]
    assumptions = [
        between(t, product, 1 << (2 * precision - 2), 1 << (2 * precision)),
        between(t, addend, 1 << (precision - 1), 1 << precision),
        *[between(t, field, 1, fmt.exp_max) for field in fields],
    ]
    quanta = [field + t.int(fmt.min_quantum - 1, INT) for field in fields]
    shift = bits - 2 - 2 * precision
    product_quantum = quanta[0] + quanta[1] - t.int(shift, INT)
    addend_quantum, placed = model.align(t, fmt, quanta[2], addend)
    sum_ = model.add(t, signs[0], product_quantum, product << t.int(shift, bits), signs[1], addend_quantum, placed)
    theorems = []
    for rounding_ in ROUNDINGS:
        there, found, found_inexact = model.fast_path(t, fmt, rounding_, signs, fields, product, addend)
        expected, expected_inexact = model.round_sum(t, fmt, rounding_, *sum_)
        claim = implies(t, there, t.both(found.eq(expected), t.same(found_inexact, expected_inexact)))
        theorems.append((f"short cut .{rounding_}", assumptions, claim, [product, addend, *fields]))
    return theorems


def special(t, fmt):
    """Operands of which one is a zero, an infinity or a NaN, unless a finite product meets a zero: SMT-LIB's fp.fma."""
    kind = t.bitwuzla.Kind
    manager = t.manager
    modes = {RN: "RNE", RZ: "RTZ", RM: "RTN", RP: "RTP"}
    names = [t.variable(name, fmt.width) for name in "abc"]
    floats = [
        manager.mk_term(kind.FP_TO_FP_FROM_BV, [x.term], [fmt.exp_bits, fmt.precision]) for x in names
    ]
    wide = [x.resize(64) for x in names]
    of = lambda which, x: manager.mk_term(getattr(kind, which), [x])
    edge = lambda x: t.either(of("FP_IS_ZERO", x), t.either(of("FP_IS_INF", x), of("FP_IS_NAN", x)))
    a, b, c = floats
    assumption = t.either(
        t.either(edge(a), edge(b)), t.either(of("FP_IS_INF", c), of("FP_IS_NAN", c))
    )
    theorems = []
    for rounding_ in ROUNDINGS:
        bits, _ = model.mul_add(t, fmt, rounding_, *wide)
        mode = manager.mk_rm_value(getattr(t.bitwuzla.RoundingMode, modes[rounding_]))
        judge = manager.mk_term(kind.FP_FMA, [mode, a, b, c])
        ours = manager.mk_term(kind.FP_TO_FP_FROM_BV, [bits.resize(fmt.width).term], [fmt.exp_bits, fmt.precision])
        nan = of("FP_IS_NAN", judge)
        canonical = bits.eq(t.int(fmt.sign_mask - 1, 64))
        # `EQUAL` of floats is of values and signs.
        claim = t.choose(nan, canonical, t.both(t.same(ours, judge), t.no(of("FP_IS_NAN", ours))))
        theorems.append((f"special operands .{rounding_}", [assumption], claim, names))
    return theorems


def main(arguments):
    limit = 600
    only = ""
    while arguments and arguments[0].startswith("--"):
        flag, value, *arguments = arguments
        if flag == "--limit":
            limit = int(value)
        elif flag == "--only":
            only = value
    failed = False
    for name in arguments or ["f16", "bf16", "f32"]:
        for family in (product, alignment, rounding, short_cut, special):
            tools = Symbolic()
            for theorem, assumptions, claim, variables in family(tools, FORMATS[name]):
                if not theorem.startswith(only):
                    continue
                start = time.monotonic()
                result = tools.proved(assumptions, claim, limit)
                seconds = time.monotonic() - start
                word = "proved" if result is True else "out of time" if result is None else "refuted"
                failed |= result is not True
                print(f"{name}\t{theorem}\t{word}\t{seconds:.1f}", flush=True)
                if word == "refuted":
                    for variable in variables:
                        print("   ", variable.term, result.get_value(variable.term))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
