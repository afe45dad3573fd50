#!/usr/bin/env python3
"""Plants orders of sums, ways of matrix products, quotients and roots in arrays, and asks `roundonce why` for them.

    dev/sums.py [ROUNDONCE]          # target/release/roundonce by default; exit 1 below 95 % or where noise is claimed
    dev/sums.py [ROUNDONCE] --few    # one seed and one shape of each: for the gate

A planted way is computed here, with NumPy's elementwise arithmetic alone, whose roundings are compared with exact
rationals first (`check_arithmetic`). It is found if `why` names it first, or as one that explains the same just as well;
a plain order whose numbers are those of the expression as written is found if that is said. NumPy's own `np.sum` must be
found as NumPy's order. Noise of a few ulps must be claimed by nothing. Needs NumPy; shares no code with the product.
"""

import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
f16, f32, f64 = np.float16, np.float32, np.float64


# Arithmetic: bf16 is kept in float32.


def bf16(x):
    """To nearest even, of finite numbers."""
    bits = np.asarray(x, f32).view(np.uint32)
    return ((bits + (0x7FFF + (bits >> 16 & 1))) & np.uint32(0xFFFF0000)).view(f32)


def to_odd(a, b, c):
    """a*b + c in double, rounded to odd: rounded again to half the digits it is as if rounded once."""
    p, c = np.asarray(a, f64) * np.asarray(b, f64), np.asarray(c, f64)
    s = p + c
    v = s - p
    lost = (p - (s - v)) + (c - v)
    even = (s.view(np.int64) & 1) == 0
    return np.where((lost != 0) & even, np.nextafter(s, np.where(lost > 0, np.inf, -np.inf)), s)


class Numbers:
    """A type to add in: how results are rounded."""

    def __init__(self, name, kind, cast):
        self.name, self.kind, self.cast = name, kind, cast

    def add(self, a, b):
        return self.cast(np.asarray(a, self.kind) + np.asarray(b, self.kind))

    def sub(self, a, b):
        return self.cast(np.asarray(a, self.kind) - np.asarray(b, self.kind))

    def mul(self, a, b):
        return self.cast(np.asarray(a, self.kind) * np.asarray(b, self.kind))

    def fma(self, a, b, c):
        return self.cast(to_odd(a, b, c).astype(self.kind))


def same(x):
    return x


F16, F32, F64 = Numbers("f16", f16, same), Numbers("f32", f32, same), Numbers("f64", f64, same)
BF16 = Numbers("bf16", f32, bf16)


def tf32(how):
    def rounded(x):
        bits = np.asarray(x, f32).view(np.uint32)
        up = {"ties away": np.uint32(0x1000), "cut off": np.uint32(0), "nearest even": 0xFFF + (bits >> 13 & 1)}[how]
        return ((bits + up) & np.uint32(0xFFFFE000)).view(f32)

    return rounded


def check_arithmetic():
    """The operations above against exact rationals."""
    rng = random.Random(1)
    digits = {"f16": 11, "bf16": 8, "f32": 24}

    def rounded(value, precision):
        if value == 0:
            return value
        e = abs(value.numerator).bit_length() - value.denominator.bit_length()
        e = e if abs(value) >= Fraction(2) ** e else e - 1
        unit = Fraction(2) ** (e - precision + 1)
        return round(value / unit) * unit

    for numbers in [F16, BF16, F32]:
        for _ in range(2000):
            a, b, c = (numbers.cast(numbers.kind(rng.uniform(-2, 2) * 2.0 ** rng.randint(-3, 3))) for _ in range(3))
            if rng.random() < 0.5:
                c = -numbers.mul(a, b)
            exact = [Fraction(float(x)) for x in (a, b, c)]
            pairs = [
                (numbers.add(a, b), exact[0] + exact[1]),
                (numbers.mul(a, b), exact[0] * exact[1]),
                (numbers.fma(a, b, c), exact[0] * exact[1] + exact[2]),
            ]
            for found, wanted in pairs:
                if abs(wanted) < Fraction(1, 2**10):
                    continue
                assert Fraction(float(found)) == rounded(wanted, digits[numbers.name]), (numbers.name, a, b, c)


# Terms: one array per place, over all results at a time.


class Terms:
    """The terms of many results. `how` adds them: its products are rounded or fused."""

    def __init__(self, numbers, factors, fused=False, product=None):
        self.numbers, self.factors, self.fused = numbers, factors, fused
        # What a product is rounded to, if not to the type that is added in.
        self.product = product or same
        self.length = factors[0].shape[-1]

    def term(self, at):
        if len(self.factors) == 1:
            return self.factors[0][..., at]
        a, b = (factor[..., at] for factor in self.factors)
        return self.product(self.numbers.mul(a, b))

    def onto(self, total, at):
        if self.fused:
            return self.numbers.fma(*(factor[..., at] for factor in self.factors), total)
        return self.numbers.add(total, self.term(at))

    def chain(self, places):
        total = np.zeros(np.broadcast_shapes(*(factor.shape[:-1] for factor in self.factors)), self.numbers.kind)
        for at in places:
            total = self.onto(total, at)
        return total

    # How partial sums become one.

    def in_order(self, sums):
        total = sums[0]
        for other in sums[1:]:
            total = self.numbers.add(total, other)
        return total

    def halves(self, sums):
        while len(sums) > 1:
            half = (len(sums) + 1) // 2
            sums = [self.numbers.add(s, sums[half + i]) if half + i < len(sums) else s for i, s in enumerate(sums[:half])]
        return sums[0]

    def neighbours(self, sums):
        while len(sums) > 1:
            pairs = [sums[i : i + 2] for i in range(0, len(sums), 2)]
            sums = [self.numbers.add(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return sums[0]


def forward(t):
    return t.chain(range(t.length))


def backward(t):
    return t.chain(range(t.length - 1, -1, -1))


def pairwise(t, first=0, length=None):
    length = t.length if length is None else length
    if length == 1:
        return t.chain([first])
    return t.numbers.add(pairwise(t, first, length // 2), pairwise(t, first + length // 2, length - length // 2))


def tree(t):
    return t.neighbours([t.chain([at]) for at in range(t.length)])


def numpy_order(t, first=0, length=None):
    length = t.length if length is None else length
    if length > 128:
        half = length // 2
        half -= half % 8
        return t.numbers.add(numpy_order(t, first, half), numpy_order(t, first + half, length - half))
    whole = length - length % 8 if length >= 8 else 0
    total = t.chain([])
    if whole:
        total = t.neighbours([t.chain(range(first + lane, first + whole, 8)) for lane in range(8)])
    for at in range(first + whole, first + length):
        total = t.onto(total, at)
    return total


def vectors(lanes, unroll, across, within):
    def order(t):
        step = lanes * unroll
        whole = t.length - t.length % step
        sums = [t.chain(range(lane, whole, step)) for lane in range(step)]
        of_lane = [getattr(t, across)([sums[u * lanes + lane] for u in range(unroll)]) for lane in range(lanes)]
        total = getattr(t, within)(of_lane)
        for at in range(whole, t.length):
            total = t.onto(total, at)
        return total

    return order


def threads(count, warps=False):
    def order(t):
        sums = [t.chain(range(lane, t.length, count)) for lane in range(count)]
        if warps:
            sums = [t.halves(sums[w : w + 32]) for w in range(0, count, 32)]
        return t.halves(sums)

    return order


def blocks(size):
    return lambda t: t.in_order([t.chain(range(at, min(at + size, t.length))) for at in range(0, t.length, size)])


def evened(size, multiple):
    """OpenBLAS: what is left of more than one block and less than two is halved."""

    def order(t):
        cuts = [0]
        while cuts[-1] < t.length:
            left = t.length - cuts[-1]
            if size < left < 2 * size:
                left = -(-(left // 2) // multiple) * multiple
            cuts.append(cuts[-1] + min(left, size))
        return t.in_order([t.chain(range(*cut)) for cut in zip(cuts, cuts[1:])])

    return order


def split_k(count):
    return lambda t: blocks(-(-t.length // count))(t)


def grid(size, of_blocks):
    def order(t):
        parts = [range(at, min(at + size, t.length)) for at in range(0, t.length, size)]
        sums = []
        for part in parts:
            block = [t.chain([at]) for at in part] + [t.chain([])] * (size - len(part))
            sums.append(t.halves(block))
        return getattr(t, of_blocks)(sums)

    return order


def kahan(t):
    n, total = t.numbers, t.chain([])
    lost = total
    for at in range(t.length):
        term = n.sub(t.term(at), lost)
        new = n.add(total, term)
        lost, total = n.sub(n.sub(new, total), term), new
    return total


def neumaier(t):
    n, total = t.numbers, t.chain([])
    lost = total
    for at in range(t.length):
        term = t.term(at)
        new = n.add(total, term)
        large = abs(total) >= abs(term)
        big, small = np.where(large, total, term), np.where(large, term, total)
        lost, total = n.add(lost, n.add(n.sub(big, new), small)), new
    return n.add(total, lost)


# What `why` calls them: a part of the order's name.
ORDERS = {
    "": forward,
    "from the last term": backward,
    "by halves (pairwise)": pairwise,
    "of a tree": tree,
    "as NumPy's add.reduce": numpy_order,
    "every 4th term each (4 lanes), then halved": vectors(4, 1, "in_order", "halves"),
    "every 8th term each (8 lanes), then added by neighbours": vectors(8, 1, "in_order", "neighbours"),
    "every 32nd term each (8 lanes × 4 accumulators, which are added), then halved": vectors(8, 4, "in_order", "halves"),
    "every 64th term each (16 lanes × 4 accumulators, which are added by pairs)": vectors(16, 4, "neighbours", "neighbours"),
    "every 32nd term each, then halved (a warp)": threads(32),
    "every 256th term each, then halved": threads(256),
    "every 256th term each, each warp": threads(256, warps=True),
    "of blocks of 128 terms, then of the blocks' sums": blocks(128),
    "of blocks of 320 terms, the last two evened to 8": evened(320, 8),
    "of 4 parts": split_k(4),
    "of blocks of 256 terms, each halved, then of the blocks' sums in order": grid(256, "in_order"),
    "of blocks of 128 terms, each halved, then the blocks' sums halved": grid(128, "halves"),
    "Kahan": kahan,
    "Neumaier": neumaier,
}

FEATURES = {
    "fused": "fuses",
    "whole f32": "everything in f32",
    "whole f64": "everything in f64",
    "sums in f32": "keeps the sums in f32",
    "sums in f64": "keeps the sums in f64",
    "each f32": "each operation in f32",
    "ties away": "TF32 (to nearest, ties away)",
    "cut off": "TF32 (cut off)",
    "nearest even": "TF32 (to nearest even)",
    "flushed": "flushes subnormals",
    "a * (1 / b)": "as a * (1 / b)",
    "x * rsqrt": "sqrt(x) as x * rsqrt(x)",
    "1 / sqrt": "rsqrt(x) as 1 / sqrt(x)",
    "rsqrt once": "1 / sqrt(x) as rsqrt(x)",
}


def features(sentence):
    found = {name for name, words in FEATURES.items() if words in sentence}
    order = re.search(r"adds in the order (.*)", sentence)
    return found, order.group(1) if order else ""


class Asked:
    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        self.rows = []

    def answer(self, expression, arrays, seen, kind):
        words = []
        for name, array in [*arrays.items(), ("seen", seen)]:
            path = self.folder / f"{name}.npy"
            np.save(path, stored(array, kind))
            words += ["--saw", str(path)] if name == "seen" else [f"{name}={path}"]
        command = [self.command, "why", expression, *words, "--format", "json"]
        found = subprocess.run(command, capture_output=True, text=True)
        if found.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)}: {found.stderr}")
        return json.loads(found.stdout)["seen"][0]

    def plant(self, group, label, expression, arrays, seen, kind, wanted, order="", plain=None, equal=()):
        """`wanted` are the features that the sentence has, `order` a part of the order's name, `plain` what the
        expression as written gives, `equal` other features that mean the same numbers."""
        answer = self.answer(expression, arrays, seen, kind)
        verdict, said = "missed", "nothing"
        if answer["groups"]:
            first = answer["groups"][0]
            said = f"{first['sentence']} ({first['count']}, {answer['outcome']})"
            sentences = [first["sentence"], *first["alternatives"]] if answer["unexplained"] == 0 else []
            for at, sentence in enumerate(sentences):
                has, name = features(sentence)
                if (order in name if order else not name) and has in [set(words) for words in [wanted, *equal]]:
                    verdict = "first" if at == 0 and has == set(wanted) else "tied"
                    break
            if verdict == "missed" and sentences and plain is not None and not first["departures"]:
                verdict = "tied" if np.array_equal(plain, seen) else "missed"
        self.rows.append((group, label, verdict, said))

    def noise(self, label, expression, arrays, seen, kind):
        answer = self.answer(expression, arrays, seen, kind)
        claimed = answer["outcome"] in ("one", "several", "ambiguous") or any(
            group["evidence"] >= 10 for group in answer["groups"]
        )
        said = answer["groups"][0]["sentence"] if answer["groups"] else "nothing"
        self.rows.append(("noise", label, "claimed" if claimed else "not claimed", said))


def stored(array, kind):
    """bf16 is written as two bytes of no type that NumPy knows."""
    array = np.asarray(array)
    if kind == "bf16":
        return (array.astype(f32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
    return array


def random_terms(rng, shape, numbers):
    """Of both signs, near one."""
    return numbers.cast(rng.standard_normal(shape).astype(numbers.kind))


def sums(asked, rng, few):
    shapes = [(64, 900)] if few else [(64, 900), (300, 512), (200, 1337)]
    for rows, length in shapes:
        for name, order in ORDERS.items():
            label = f"{name or 'in order'}, {rows} x {length}"
            m = random_terms(rng, (rows, length), F32)
            plain = forward(Terms(F32, [m]))
            asked.plant("sum f32", label, "sum(m, 1)", {"m": m}, order(Terms(F32, [m])), "f32", [], name, plain)
            if few:
                continue
            a, b = (random_terms(rng, (rows, length), F32) for _ in range(2))
            # Where every partial sum begins with one term, and where terms are split, nothing is fused.
            fused = order not in (kahan, neumaier, pairwise, tree) and "each halved" not in name
            seen = order(Terms(F32, [a, b], fused=fused))
            wanted = ["fused"] if fused else []
            asked.plant("sum of products f32", label, "sum(a*b, 1)", {"a": a, "b": b}, seen, "f32", wanted, name)
            for numbers in [F16, BF16]:
                h = random_terms(rng, (rows, length), numbers)
                seen = numbers.cast(order(Terms(F32, [h.astype(f32)])).astype(numbers.kind))
                plain = forward(Terms(numbers, [h]))
                asked.plant(
                    f"sum {numbers.name} in f32", label, "sum(h, 1)", {"h": h}, seen, numbers.name, ["whole f32"], name, plain
                )
            h = random_terms(rng, (rows, length), F16)
            asked.plant("sum f16", label, "sum(h, 1)", {"h": h}, order(Terms(F16, [h])), "f16", [], name)


def products(asked, rng, few):
    shapes = [(12, 640, 11)] if few else [(12, 640, 11), (40, 1000, 13), (1, 2000, 64), (24, 333, 24)]
    ways = {
        "in order, products rounded": ("f32", [], "", lambda a, b: forward(Terms(F32, [a, b]))),
        "in order, fused": ("f32", ["fused"], "", lambda a, b: forward(Terms(F32, [a, b], fused=True))),
        "blocked along k, 256, fused": (
            "f32", ["fused"], "of blocks of 256 terms, then of the blocks' sums",
            lambda a, b: blocks(256)(Terms(F32, [a, b], fused=True)),
        ),
        "split-K 4, fused": ("f32", ["fused"], "of 4 parts", lambda a, b: split_k(4)(Terms(F32, [a, b], fused=True))),
        "8 lanes x 4, fused": (
            "f32", ["fused"], "(8 lanes × 4 accumulators, which are added), then halved",
            lambda a, b: vectors(8, 4, "in_order", "halves")(Terms(F32, [a, b], fused=True)),
        ),
        "a warp, fused": ("f32", ["fused"], "(a warp)", lambda a, b: threads(32)(Terms(F32, [a, b], fused=True))),
        "all in f64": (
            "f32", ["whole f64"], "",
            lambda a, b: forward(Terms(F64, [a.astype(f64), b.astype(f64)])).astype(f32),
        ),
        "products rounded, sums in f64": (
            "f32", ["sums in f64"], "",
            lambda a, b: forward(
                Terms(F64, [a.astype(f64), b.astype(f64)], product=lambda p: p.astype(f32).astype(f64))
            ).astype(f32),
        ),
        "TF32, ties away": ("f32", ["ties away"], "", lambda a, b: forward(Terms(F32, [tf32("ties away")(x) for x in (a, b)]))),
        "TF32, cut off": ("f32", ["cut off"], "", lambda a, b: forward(Terms(F32, [tf32("cut off")(x) for x in (a, b)]))),
        "TF32, nearest even, split-K 2": (
            "f32", ["nearest even"], "of 2 parts",
            lambda a, b: split_k(2)(Terms(F32, [tf32("nearest even")(x) for x in (a, b)])),
        ),
        "f16, sums in f32, rounded once": (
            "f16", ["whole f32"], "", lambda a, b: forward(Terms(F32, [a.astype(f32), b.astype(f32)])).astype(f16),
        ),
        "f16, sums in f32, split-K 4": (
            "f16", ["whole f32"], "of 4 parts",
            lambda a, b: split_k(4)(Terms(F32, [a.astype(f32), b.astype(f32)])).astype(f16),
        ),
        "f16, fused in f16": ("f16", ["fused"], "", lambda a, b: forward(Terms(F16, [a, b], fused=True))),
        # Fused in f16 is the same, but for a double rounding.
        "f16, each step by f32": ("f16", ["fused", "each f32"], "", by_f32, ["fused"]),
        "f16, products and sums in f16": ("f16", [], "", lambda a, b: forward(Terms(F16, [a, b]))),
        "bf16, sums in f32, rounded once": ("bf16", ["whole f32"], "", lambda a, b: bf16(forward(Terms(F32, [a, b])))),
        "Kahan": ("f32", [], "Kahan", lambda a, b: kahan(Terms(F32, [a, b]))),
    }
    kinds = {"f16": F16, "bf16": BF16, "f32": F32}
    for m, k, n in shapes:
        for label, (kind, wanted, order, way, *equal) in ways.items():
            a, b = random_terms(rng, (m, k), kinds[kind]), random_terms(rng, (k, n), kinds[kind])
            seen = way(a[:, None, :], b.T[None, :, :])
            asked.plant("matrix product", f"{label}, {m} x {k} x {n}", "a @ b", {"a": a, "b": b}, seen, kind, wanted, order, equal=equal)
        if few:
            continue
        # With what stands around it.
        a, b, c = (random_terms(rng, shape, F32) for shape in [(m, k), (k, n), (n,)])
        seen = forward(Terms(F32, [a[:, None, :], b.T[None, :, :]], fused=True)) * f32(0.5) + c
        names = {"a": a, "b": b, "c": c}
        asked.plant("matrix product", f"scaled, with a bias, {m} x {k} x {n}", "0.5f * (a @ b) + c", names, seen, "f32", ["fused"])


def by_f32(a, b):
    """A product and a sum in f32 at each step, rounded to f16."""
    total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), f16)
    for at in range(a.shape[-1]):
        total = (total.astype(f32) + a[..., at].astype(f32) * b[..., at].astype(f32)).astype(f16)
    return total


def means(asked, rng, few):
    for rows, length in [(200, 700)] if few else [(200, 700), (400, 130)]:
        m = random_terms(rng, (rows, length), F32)
        total = forward(Terms(F32, [m]))
        count = f32(length)
        asked.plant("mean", f"in order, {rows} x {length}", "mean(m, 1)", {"m": m}, total / count, "f32", [])
        by = total * (f32(1) / count)
        asked.plant("mean", f"by reciprocal, {rows} x {length}", "mean(m, 1)", {"m": m}, by, "f32", ["a * (1 / b)"])
        h = random_terms(rng, (rows, length), F16)
        seen = (numpy_order(Terms(F32, [h.astype(f32)])) / count).astype(f16)
        asked.plant("mean", f"f16 in f32, {rows} x {length}", "mean(h, 1)", {"h": h}, seen, "f16", ["whole f32"], "as NumPy's")


def numpy_itself(asked, rng, few):
    for rows, length in [(200, 1000)] if few else [(200, 1000), (500, 333), (64, 5000)]:
        m = random_terms(rng, (rows, length), F32)
        wanted = "as NumPy's add.reduce"
        asked.plant("np.sum itself", f"f32, {rows} x {length}", "np.sum(m, axis=1)", {"m": m}, m.sum(1), "f32", [], wanted)
        plain = forward(Terms(F32, [m.T]))
        asked.plant("np.sum itself", f"rows, {rows} x {length}", "m.sum(axis=0)", {"m": m}, m.sum(0), "f32", [], "", plain)
        asked.plant("np.sum itself", f"np.mean, {rows} x {length}", "np.mean(m, -1)", {"m": m}, m.mean(-1), "f32", [], wanted)
        h = random_terms(rng, (rows, length), F16)
        seen = h.sum(1)
        asked.plant("np.sum itself", f"f16, {rows} x {length}", "sum(h, 1)", {"h": h}, seen, "f16", ["whole f32"], wanted)
        d = rng.standard_normal((rows, length))
        asked.plant("np.sum itself", f"f64, {rows} x {length}", "sum(d, 1)", {"d": d}, d.sum(1), "f64", [], wanted)


def blas_itself(asked, rng, few):
    """NumPy's matrix products: what the library does depends on the machine, so that they are shown and not judged."""
    for m, k, n in [(300, 500, 300)] if few else [(300, 200, 300), (300, 500, 300), (500, 1000, 500)]:
        a, b = random_terms(rng, (m, k), F32), random_terms(rng, (k, n), F32)
        answer = asked.answer("a @ b", {"a": a, "b": b}, a @ b, "f32")
        first = answer["groups"][0] if answer["groups"] else {"sentence": "nothing", "count": 0}
        of = answer.get("compared", m * n)
        print(f"NumPy's a @ b, {m} x {k} x {n}: {first['sentence']} ({first['count']} of {of})")


def square_root(value):
    """The square root of a rational, to far more digits than f32 has."""
    return Fraction(math.isqrt(value.numerator * 4**120 // value.denominator), 2**120)


def quotients(asked, rng, few):
    """Quotients and roots: NumPy's are rounded once; a reciprocal root is taken of rationals."""
    a, b = (np.abs(random_terms(rng, 2000, F32)) + f32(0.01) for _ in range(2))

    def reciprocal_root(x):
        def one(value):
            root = square_root(1 / Fraction(float(value)))
            e = -1
            while Fraction(2) ** (e + 1) <= root:
                e += 1
            while Fraction(2) ** e > root:
                e -= 1
            unit = Fraction(2) ** (e - 23)
            return float(round(root / unit) * unit)

        return np.array([one(value) for value in x], f32)

    one, r = f32(1), reciprocal_root(a)
    x = {"x": a}
    ways = [
        ("quotient", "a/b", {"a": a, "b": b}, a / b, []),
        ("quotient by a reciprocal", "a/b", {"a": a, "b": b}, a * (one / b), ["a * (1 / b)"]),
        ("root", "sqrt(x)", x, np.sqrt(a), []),
        ("root by a reciprocal root", "sqrt(x)", x, a * r, ["x * rsqrt"]),
        ("reciprocal root", "rsqrt(x)", x, r, []),
        ("reciprocal root by a root", "rsqrt(x)", x, one / np.sqrt(a), ["1 / sqrt"]),
        # What f64 gives is the same, but for a double rounding.
        ("quotient by a root, once", "1/sqrt(x)", x, r, ["rsqrt once"], ["whole f64"]),
        ("quotient by a root", "1/sqrt(x)", x, one / np.sqrt(a), []),
    ]
    for label, expression, arrays, seen, *wanted in ways:
        asked.plant("quotients and roots", label, expression, arrays, seen, "f32", *wanted[:1], equal=wanted[1:])


def noises(asked, rng, few):
    def moved(array, ulps):
        shift = rng.integers(-ulps, ulps + 1, array.shape)
        return (array.view(np.int32) + shift.astype(np.int32)).view(f32)

    for ulps in [1, 3] if few else [1, 2, 3, 5]:
        for rows, length in [(300, 100), (40, 64)] if few else [(300, 100), (40, 64), (1000, 20), (10, 2000)]:
            m = random_terms(rng, (rows, length), F32)
            exact = m.astype(f64).sum(1).astype(f32)
            asked.noise(f"sum, {rows} x {length}, {ulps} ulp", "sum(m, 1)", {"m": m}, moved(exact, ulps), "f32")
        for m, k, n in [(12, 640, 11)] if few else [(12, 640, 11), (30, 64, 30), (4, 100, 5)]:
            a, b = random_terms(rng, (m, k), F32), random_terms(rng, (k, n), F32)
            exact = (a.astype(f64) @ b.astype(f64)).astype(f32)
            seen = moved(exact, ulps)
            asked.noise(f"matrix product, {m} x {k} x {n}, {ulps} ulp", "a @ b", {"a": a, "b": b}, seen, "f32")


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    few = "--few" in sys.argv
    command = words[0] if words else str(ROOT / "target/release/roundonce")
    check_arithmetic()
    with tempfile.TemporaryDirectory() as folder:
        asked = Asked(command, pathlib.Path(folder))
        for seed in range(1 if few else 2):
            rng = np.random.default_rng(seed + 7)
            for part in [sums, products, means, numpy_itself, blas_itself, quotients, noises]:
                part(asked, rng, few)
    groups = {}
    for group, label, verdict, said in asked.rows:
        groups.setdefault(group, {}).setdefault(verdict, 0)
        groups[group][verdict] += 1
        if verdict in ("missed", "claimed"):
            print(f"{verdict}: {group}, {label}: {said}")
    print("\n| planted | first | tied | missed |\n|---|---:|---:|---:|")
    for group, counts in groups.items():
        if group != "noise":
            print(f"| {group} | {counts.get('first', 0)} | {counts.get('tied', 0)} | {counts.get('missed', 0)} |")
    planted = [row for row in asked.rows if row[0] != "noise"]
    found = sum(row[2] != "missed" for row in planted)
    noise = [row for row in asked.rows if row[0] == "noise"]
    claimed = sum(row[2] == "claimed" for row in noise)
    share = 100 * found / len(planted)
    print(f"\n{found} of {len(planted)} planted found ({share:.1f} %), {claimed} of {len(noise)} arrays of noise claimed")
    return int(share < 95 or claimed > 0)


if __name__ == "__main__":
    sys.exit(main())
