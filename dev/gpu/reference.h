// What a multiply-add must give, in integers alone: compiled for the host and for the GPU.
//
// Written for this kit, from the documents. It aligns both terms to one lowest bit in 256-bit integers and adds them
// there, so that the sum is exact wherever it matters; only a term more than 144 places below the other is replaced by
// one bit far below the rounding position.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define BOTH __host__ __device__ inline
#else
#define BOTH inline
#endif

// One sign bit, then exponent, then fraction.
struct Format {
    int exponent_bits, fraction_bits;
    BOTH int width() const { return 1 + exponent_bits + fraction_bits; }
    BOTH int precision() const { return fraction_bits + 1; }
    BOTH int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    BOTH int emin() const { return 1 - bias(); }
    // Exponent of the lowest bit of a subnormal.
    BOTH int quantum() const { return emin() - fraction_bits; }
    BOTH uint64_t sign() const { return 1ull << (width() - 1); }
    BOTH uint64_t magnitude() const { return sign() - 1; }
    BOTH uint64_t smallest_normal() const { return 1ull << fraction_bits; }
    BOTH uint64_t infinity() const { return magnitude() >> fraction_bits << fraction_bits; }
    BOTH uint64_t quiet() const { return 1ull << (fraction_bits - 1); }
    BOTH uint64_t one() const { return uint64_t(bias()) << fraction_bits; }
    BOTH bool is_nan(uint64_t bits) const { return (bits & magnitude()) > infinity(); }
    BOTH bool is_infinite(uint64_t bits) const { return (bits & magnitude()) == infinity(); }
    BOTH bool is_zero(uint64_t bits) const { return (bits & magnitude()) == 0; }
    BOTH bool is_subnormal(uint64_t bits) const { return !is_zero(bits) && (bits & magnitude()) < smallest_normal(); }
    BOTH bool is_negative(uint64_t bits) const { return bits & sign(); }
    BOTH bool operator==(const Format &o) const {
        return exponent_bits == o.exponent_bits && fraction_bits == o.fraction_bits;
    }
};

#define F16 (Format{5, 10})
#define BF16 (Format{8, 7})
#define F32 (Format{8, 23})
#define F64 (Format{11, 52})

enum Kind { MUL_ADD, ADD, MUL };
enum Direction { NEAREST, ZERO, DOWN, UP };
// Which results a flushing form flushes where rounding crosses the smallest normal number.
enum Tiny { RESULT, AFTER_ROUNDING, BEFORE_ROUNDING };

struct Operation {
    Kind kind;
    Format format, factors;  // of addend and result; of a and b
    Direction direction;
    bool negate_c, flush, zero_dominance, saturate;
    // A negative result becomes +0; an operand that is the out-of-bounds NaN makes the result +0.
    bool relu = false, oob = false;
};

// The out-of-bounds NaN, in f16 and bf16.
const uint64_t OOB_NAN = 0x7ff7;

// What the documents leave open.
struct Policy {
    Tiny tiny;
    // All bits but the sign set; else the first NaN operand in `order` (0 = a, 1 = b, 2 = c), made quiet.
    bool canonical;
    int order[3];
};

// f16, bf16 and f32 results: canonical NaNs. f64: the first of b, c, a.
BOTH Policy default_policy(Format format) { return Policy{AFTER_ROUNDING, format.width() < 64, {1, 2, 0}}; }

struct Wide {  // 256 bits, lowest word first
    uint64_t w[4];
};

BOTH Wide wide(unsigned __int128 value) { return Wide{{uint64_t(value), uint64_t(value >> 64), 0, 0}}; }
BOTH bool is_zero(const Wide &x) { return (x.w[0] | x.w[1] | x.w[2] | x.w[3]) == 0; }
BOTH int bits_of(uint64_t word) {
    int count = 0;
    for (int step = 32; step > 0; step /= 2)
        if (word >> step) word >>= step, count += step;
    return count + int(word);
}
BOTH int length(const Wide &x) {
    for (int i = 3; i >= 0; i--)
        if (x.w[i]) return 64 * i + bits_of(x.w[i]);
    return 0;
}
BOTH Wide shift_left(const Wide &x, int shift) {
    Wide r = {{0, 0, 0, 0}};
    int words = shift / 64, rest = shift % 64;
    for (int i = words; i < 4; i++) {
        r.w[i] = x.w[i - words] << rest;
        if (rest && i > words) r.w[i] |= x.w[i - words - 1] >> (64 - rest);
    }
    return r;
}
BOTH Wide shift_right(const Wide &x, int shift) {
    Wide r = {{0, 0, 0, 0}};
    int words = shift / 64, rest = shift % 64;
    for (int i = 0; i + words < 4; i++) {
        r.w[i] = x.w[i + words] >> rest;
        if (rest && i + words + 1 < 4) r.w[i] |= x.w[i + words + 1] << (64 - rest);
    }
    return r;
}
BOTH Wide add(const Wide &x, const Wide &y) {
    Wide r;
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t sum = x.w[i] + y.w[i], full = sum + carry;
        carry = (sum < x.w[i]) | (full < sum);
        r.w[i] = full;
    }
    return r;
}
BOTH Wide subtract(const Wide &x, const Wide &y) {
    Wide r;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t difference = x.w[i] - y.w[i], full = difference - borrow;
        borrow = (x.w[i] < y.w[i]) | (difference < borrow);
        r.w[i] = full;
    }
    return r;
}
BOTH bool less(const Wide &x, const Wide &y) {
    for (int i = 3; i >= 0; i--)
        if (x.w[i] != y.w[i]) return x.w[i] < y.w[i];
    return false;
}
BOTH bool bit(const Wide &x, int place) { return place < 256 && (x.w[place / 64] >> (place % 64) & 1); }
BOTH bool any_below(const Wide &x, int place) {
    for (int i = 0; i < 4 && 64 * i < place; i++) {
        int left = place - 64 * i;
        if (left >= 64 ? x.w[i] != 0 : (x.w[i] & ((1ull << left) - 1)) != 0) return true;
    }
    return false;
}

// A nonzero value: magnitude × 2^exponent.
struct Term {
    bool negative;
    int exponent;
    unsigned __int128 magnitude;
};

BOTH Term decode(Format f, uint64_t bits) {
    uint64_t field = (bits & f.magnitude()) >> f.fraction_bits, fraction = bits & (f.smallest_normal() - 1);
    if (field == 0) return Term{f.is_negative(bits), f.quantum(), fraction};
    return Term{f.is_negative(bits), f.quantum() + int(field) - 1, fraction | f.smallest_normal()};
}

// value / 2^place, rounded to an integer.
BOTH uint64_t keep(const Wide &value, int place, Direction direction, bool negative) {
    if (place <= 0) return shift_left(value, -place).w[0];
    uint64_t kept = place < 256 ? shift_right(value, place).w[0] : 0;
    bool half = bit(value, place - 1), rest = any_below(value, place - 1);
    bool up = direction == NEAREST ? half && (rest || (kept & 1))
            : direction == ZERO    ? false
            : direction == DOWN    ? negative && (half || rest)
                                   : !negative && (half || rest);
    return kept + up;
}

// A nonzero value × 2^exponent as the format has it.
BOTH uint64_t round_wide(const Operation &op, Tiny tiny, bool negative, const Wide &value, int exponent) {
    Format f = op.format;
    int top = exponent + length(value) - 1;
    bool small = top < f.emin();
    int unit = small ? f.quantum() : top - f.fraction_bits;
    uint64_t kept = keep(value, unit - exponent, op.direction, negative);
    // The hidden bit counts one in the exponent field; so does a carry.
    int field = unit - f.quantum();
    uint64_t sign = negative ? f.sign() : 0;
    uint64_t infinity = f.infinity();
    if (field >= (1 << f.exponent_bits) || (uint64_t(field) << f.fraction_bits) + kept >= infinity) {
        bool finite = op.direction == ZERO || op.direction == (negative ? UP : DOWN);
        return sign | (finite ? infinity - 1 : infinity);
    }
    uint64_t magnitude = (uint64_t(field) << f.fraction_bits) + kept;
    if (op.flush && small) {
        bool flushed = tiny == BEFORE_ROUNDING || magnitude < f.smallest_normal();
        if (tiny == AFTER_ROUNDING) {
            // As if exponents had no end: only a carry out of the value just below reaches the smallest normal.
            uint64_t free = keep(value, top - f.fraction_bits - exponent, op.direction, negative);
            flushed = !(top + 1 == f.emin() && free >> f.precision());
        }
        if (flushed) return sign;
    }
    return sign | magnitude;
}

BOTH uint64_t widen(Format from, Format to, uint64_t bits) {
    if (from == to) return bits;
    uint64_t sign = from.is_negative(bits) ? to.sign() : 0;
    int shift = to.fraction_bits - from.fraction_bits;
    if (from.is_zero(bits)) return sign;
    if (from.is_infinite(bits)) return sign | to.infinity();
    if (from.is_nan(bits)) return sign | to.infinity() | (bits & (from.smallest_normal() - 1)) << shift;
    // Exact, so that direction and policy do not matter.
    Term term = decode(from, bits);
    Operation exact = {MUL, to, to, ZERO, false, false, false, false};
    return round_wide(exact, RESULT, term.negative, wide(term.magnitude), term.exponent);
}

// The result without saturation.
BOTH uint64_t unsaturated(const Operation &op, const Policy &policy, uint64_t a, uint64_t b, uint64_t c) {
    Format f = op.format;
    bool has_b = op.kind != ADD, has_c = op.kind != MUL;
    a = widen(op.factors, f, a);
    b = has_b ? widen(op.factors, f, b) : f.one();
    if (!has_c) c = 0;
    // A NaN keeps its sign.
    if (op.negate_c && !f.is_nan(c)) c ^= f.sign();
    if (op.flush) {
        if (f.is_subnormal(a)) a &= f.sign();
        if (f.is_subnormal(b)) b &= f.sign();
        if (f.is_subnormal(c)) c &= f.sign();
    }
    if (op.zero_dominance && has_b && (f.is_zero(a) || f.is_zero(b))) a = b = 0;

    bool invalid = (f.is_zero(a) && f.is_infinite(b)) || (f.is_infinite(a) && f.is_zero(b));
    bool negative = f.is_negative(a) != f.is_negative(b);
    if (f.is_nan(a) || f.is_nan(b) || f.is_nan(c) || invalid) {
        if (policy.canonical) return f.magnitude();
        uint64_t operands[3] = {a, b, c};
        for (int i = 0; i < 3; i++)
            if (f.is_nan(operands[policy.order[i]])) return operands[policy.order[i]] | f.quiet();
        return f.sign() | f.infinity() | f.quiet();
    }
    if (f.is_infinite(a) || f.is_infinite(b)) {
        if (f.is_infinite(c) && f.is_negative(c) != negative)
            return policy.canonical ? f.magnitude() : f.sign() | f.infinity() | f.quiet();
        return (negative ? f.sign() : 0) | f.infinity();
    }
    if (f.is_infinite(c)) return c;

    bool no_product = f.is_zero(a) || f.is_zero(b);
    if (no_product && (!has_c || f.is_zero(c))) {
        if (!has_c || negative == f.is_negative(c)) return negative ? f.sign() : 0;
        return op.direction == DOWN ? f.sign() : 0;
    }
    Term x = decode(f, a), y = decode(f, b), addend = decode(f, c);
    Term product = {negative, x.exponent + y.exponent, x.magnitude * y.magnitude};
    if (no_product) return round_wide(op, policy.tiny, addend.negative, wide(addend.magnitude), addend.exponent);
    if (!has_c || f.is_zero(c)) return round_wide(op, policy.tiny, negative, wide(product.magnitude), product.exponent);

    Term high = product, low = addend;
    if (high.exponent < low.exponent) high = addend, low = product;
    int distance = high.exponent - low.exponent, exponent = low.exponent;
    Wide larger = wide(high.magnitude), smaller = wide(low.magnitude);
    int bits = length(larger);
    if (distance + bits <= 250) {
        larger = shift_left(larger, distance);
    } else {
        // The lower term is less than one unit of the higher one brought to 144 bits: put a bit below it.
        exponent = high.exponent - (144 - bits) - 1;
        larger = shift_left(larger, 145 - bits);
        smaller = wide(1);
    }
    bool sum_negative = high.negative;
    Wide sum;
    if (high.negative == low.negative) {
        sum = add(larger, smaller);
    } else if (less(larger, smaller)) {
        sum = subtract(smaller, larger);
        sum_negative = low.negative;
    } else {
        sum = subtract(larger, smaller);
        if (is_zero(sum)) return op.direction == DOWN ? f.sign() : 0;
    }
    return round_wide(op, policy.tiny, sum_negative, sum, exponent);
}

BOTH uint64_t reference(const Operation &op, const Policy &policy, uint64_t a, uint64_t b, uint64_t c) {
    Format f = op.format;
    if (op.oob && ((a & 0x7fff) == OOB_NAN || (b & 0x7fff) == OOB_NAN)) return 0;
    uint64_t bits = unsaturated(op, policy, a, b, c);
    if (op.relu) return f.is_negative(bits) && !f.is_nan(bits) ? 0 : bits;
    if (!op.saturate) return bits;
    if (f.is_nan(bits) || f.is_negative(bits)) return 0;
    return bits > f.one() ? f.one() : bits;
}
