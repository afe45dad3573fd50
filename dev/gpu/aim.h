// Operands: every triple of the numbers with a name, and random ones aimed at where a multiply-add goes wrong.
#pragma once

#include "reference.h"

// SplitMix64 (Steele, Lea and Flood, 2014): the number at a place of a stream.
BOTH uint64_t random_at(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// The numbers with a name: 32 magnitudes of either sign.
const int NAMED = 64;
BOTH uint64_t named(Format f, int which) {
    uint64_t normal = f.smallest_normal(), one = f.one(), infinity = f.infinity(), quiet = f.quiet();
    const uint64_t magnitudes[NAMED / 2] = {
        0, 1, 2, 3, normal / 2, normal / 2 + 1, normal - 2, normal - 1, normal, normal + 1, normal + 2, 2 * normal - 1,
        2 * normal, 2 * normal + 1, one - 1, one, one + 1, one + 2, one - normal, one + normal, one + normal / 2,
        one - uint64_t(f.fraction_bits) * normal, one - uint64_t(f.precision()) * normal, one | (normal - 1),
        infinity - 2, infinity - 1, infinity - normal, infinity, infinity | quiet, infinity | quiet | 5,
        infinity | 1, infinity | (quiet - 1)};
    return magnitudes[which / 2] | (which % 2 ? f.sign() : 0);
}

// A number whose leading bit has about this exponent; its significand random, sparse, or nearly all ones.
BOTH uint64_t near(Format f, int exponent, uint64_t random) {
    uint64_t all = f.smallest_normal() - 1, fraction = random >> 8 & all;
    int place = int(random >> 3 & 0x1f) * f.fraction_bits / 32;
    switch (random & 7) {
        case 0: fraction = 0; break;
        case 1: fraction = 1ull << place; break;
        case 2: fraction = all; break;
        case 3: fraction &= (1ull << place) - 1; break;
        case 4: fraction |= (1ull << place) - 1; break;
        default: break;
    }
    int field = exponent + f.bias(), top = (1 << f.exponent_bits) - 2;
    uint64_t sign = random >> 63 ? f.sign() : 0;
    if (field > top) field = top;
    if (field < 1) {
        int shift = 1 - field;
        return sign | (shift > f.fraction_bits ? fraction & 1 : (fraction | (all + 1)) >> shift);
    }
    return sign | uint64_t(field) << f.fraction_bits | fraction;
}

struct Triple {
    uint64_t a, b, c;
};

BOTH Triple directed(const Operation &op, uint64_t index) {
    return Triple{named(op.factors, int(index % NAMED)), named(op.factors, int(index / NAMED % NAMED)),
                  named(op.format, int(index / NAMED / NAMED % NAMED))};
}
const uint64_t DIRECTED = uint64_t(NAMED) * NAMED * NAMED;

BOTH Triple aimed(const Operation &op, uint64_t seed, uint64_t index) {
    Format in = op.factors, out = op.format;
    uint64_t r[4];
    for (int i = 0; i < 4; i++) r[i] = random_at(seed, 4 * index + i);
    uint64_t mask_in = in.sign() | in.magnitude(), mask_out = out.sign() | out.magnitude();
    int how = int(r[3] & 7);
    if (how == 0) return Triple{r[0] & mask_in, r[1] & mask_in, r[2] & mask_out};
    int reach = out.bias() + out.fraction_bits;
    // Where the product's leading bit is to be: anywhere, at the edges, or around one.
    int at = how == 1 ? out.emin() + int(r[3] >> 8 & 7) - 4
           : how == 2 ? out.bias() + int(r[3] >> 8 & 3) - 2
           : how == 3 ? out.quantum() + int(r[3] >> 8 & 15) - 8
           : how == 4 ? int(r[3] >> 8 & 3) - 2
                      : int((r[3] >> 8 & 0xffff) % uint64_t(2 * reach)) - reach;
    // A sum has no factors: its first operand takes the product's place.
    int ea = op.kind == ADD ? at : at / 2 + int(r[3] >> 24 & 31) - 16, eb = at - ea;
    // The addend beside the product, in either term's last places, or far off.
    int precision = out.precision(), spread = int(r[3] >> 32 & 0xff) % (2 * precision + 4);
    int ec = at + ((r[3] >> 40 & 3) == 0 ? 0 : (r[3] >> 40 & 3) == 1 ? spread - precision - 2
                 : (r[3] >> 40 & 3) == 2 ? -spread : spread / 2);
    Triple t = {near(in, ea, r[0]), near(in, eb, r[1]), near(out, ec, r[2])};
    if ((r[3] >> 48 & 31) == 0) t.a = named(in, int(r[3] >> 53 % NAMED) & (NAMED - 1));
    if ((r[3] >> 42 & 31) == 0) t.c = named(out, int(r[3] >> 54) & (NAMED - 1));
    if (op.oob && (r[3] >> 58 & 7) < 3) ((r[3] >> 58 & 7) == 0 ? t.a : (r[3] >> 58 & 7) == 1 ? t.b : t.c) = OOB_NAN;
    return t;
}

// What a disagreement may be, as bits of a class: one of NaN bits only, or what another rule for tiny results gives.
enum Class { OTHER = 1, NAN_BITS = 2, TINY_RESULT = 4, TINY_BEFORE = 8 };
const int CLASSES = 16;
BOTH int class_of(const Operation &op, Triple t, uint64_t found, uint64_t expected) {
    if (op.format.is_nan(found) && op.format.is_nan(expected)) return NAN_BITS;
    int which = 0;
    Policy policy = default_policy(op.format);
    policy.tiny = RESULT;
    if (reference(op, policy, t.a, t.b, t.c) == found) which |= TINY_RESULT;
    policy.tiny = BEFORE_ROUNDING;
    if (reference(op, policy, t.a, t.b, t.c) == found) which |= TINY_BEFORE;
    return which ? which : OTHER;
}

struct Mismatch {
    Triple operands;
    uint64_t found, expected;
    int which;
};
