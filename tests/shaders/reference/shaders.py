#!/usr/bin/env python3
"""Makes the inputs and the expected outputs of every shader, and cases.jsonl, which says how each is run.

The judge is that of tests/kernels: exact rationals rounded once, sharing nothing with the program that it judges.
"""

import json
import random
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE.parent / "kernels" / "reference"))

from cases import numbers, save, wide_numbers  # noqa: E402
from exact import F16, F32, F64, f32, f64  # noqa: E402
from geometry import chain, geometry  # noqa: E402
from groups import ballots, dots, groups_cl, votes  # noqa: E402
from opencl import floats_cl, integers_cl  # noqa: E402
from pictures import images, images_cl, samplers  # noqa: E402

CASES = []
WORD = (1 << 32) - 1


def case(name, grid, arguments, results, options=(), file=None, approximate=(), determined=False):
    """Records a shader. An argument is a number's text, a sampler's words or an array (dtype, values, columns), of a
    sampled image with its sampler's words behind them; a result is an array expected in the buffer of that name
    afterwards."""
    command = ["run", file or f"{name}.spvasm", "--grid", grid, *options]
    expected = {}
    for argument, value in arguments.items():
        if isinstance(value, str):
            command += ["--arg", f"{argument}={value}"]
        else:
            path = f"data/{name}/{argument}.npy"
            save(HERE / path, *value[:3])
            option = ["--texture", f"{argument}={path},{value[3]}"] if len(value) > 3 else ["--arg", f"{argument}={path}"]
            command += option
    for argument, result in results.items():
        path = f"data/{name}/{argument}.expected.npy"
        save(HERE / path, *result)
        expected[argument] = path
    entry = {"name": name, "command": command, "expected": expected, "approximate": list(approximate)}
    CASES.append({**entry, "determined": determined})


def zeros(dtype, count):
    return dtype, [0] * count


def negate(form, bits):
    return bits ^ form.sign_bit


def specials(form):
    """Zeros, subnormals, ones, the largest, infinities, a NaN."""
    one, normal = form.one(), form.smallest_normal
    positive = [0, 1, normal - 1, normal, one, one + 1, form.infinity - 1, form.infinity]
    return positive + [bits | form.sign_bit for bits in positive] + [form.infinity + 3]


def drawn(draw, form, count):
    """Any bits at all, specials often."""
    top = form.sign_bit * 2
    return [draw.choice(specials(form)) if draw.random() < 0.3 else draw.randrange(top) for _ in range(count)]


def saxpy(draw):
    n, x, y = 100, numbers(draw, 128), numbers(draw, 128)
    x[:4] = [0x7F800000, 0x7FC12345, 0x00000001, 0x80000000]
    y[:4] = [0xFF800000, 0x3F800000, 0x80000002, 0x00000000]
    a = f32(Fraction("1.7"))
    result = [F32.mul_add(a, p, q, ftz=True) for p, q in zip(x[:n], y)] + y[n:]
    arguments = {"n": str(n), "a": "0x%08x" % a, "0.0": ("f4", x), "0.1": ("f4", y)}
    case("saxpy", "2", arguments, {"0.1": ("f4", result)})


def horner(draw):
    x, coefficients = numbers(draw, 50), numbers(draw, 16)
    result = []
    for at in x:
        value = coefficients[15]
        for k in range(14, -1, -1):
            value = F32.mul_add(value, at, coefficients[k])
        result.append(value)
    arguments = {"1.0": ("f4", coefficients), "0.3": ("f4", x), "0.5": zeros("f4", 50)}
    case("horner", "2", arguments, {"0.5": ("f4", result)}, file="horner.spv")


def gemm(draw):
    n = 16
    a, b = numbers(draw, n * n), numbers(draw, n * n)
    result = []
    for row in range(n):
        for column in range(n):
            total = 0
            for k in range(n):
                total = F32.mul_add(a[row * n + k], b[k * n + column], total)
            result.append(total)
    arguments = {"n": str(n), "0.0": ("f4", a, n), "0.1": ("f4", b, n), "0.2": ("f4", [0] * (n * n), n)}
    case("gemm", "2,2", arguments, {"0.2": ("f4", result, n)})


def least(form, a, b):
    """The smaller; the number where one is a NaN; -0 below +0."""
    if form.is_nan(a) or form.is_nan(b):
        return form.nan if form.is_nan(a) and form.is_nan(b) else b if form.is_nan(a) else a

    def order(bits):
        return -1 - (bits ^ form.sign_bit) if bits & form.sign_bit else bits

    return min(a, b, key=order)


def half(draw):
    n = 64
    a, b, c = (drawn(draw, F16, 4 * n) for _ in range(3))
    fused, wide = [], []
    for i in range(n):
        at = slice(4 * i, 4 * i + 4)
        rows = list(zip(a[at], b[at], c[at]))
        sums = [F16.add(F16.mul(p, q), r) for p, q, r in rows]
        fused += [F16.mul_add(p, q, r) for p, q, r in rows]
        # An addition to the machine: a NaN is the canonical one.
        magnitude = F16.nan if F16.is_nan(c[4 * i + 2]) else c[4 * i + 2] & 0x7FFF
        fused += [sums[0], sums[1], magnitude, least(F16, a[4 * i + 3], b[4 * i + 3])]
        wide += [F32.convert(F16, value) for value in sums]
    arguments = {"0.0": ("f2", a, 4), "0.1": ("f2", b, 4), "0.2": ("f2", c, 4)}
    arguments |= {"0.3": ("f2", [0] * (8 * n), 4), "0.4": ("f4", [0] * (4 * n), 4)}
    case("half", "4", arguments, {"0.3": ("f2", fused, 4), "0.4": ("f4", wide, 4)})


def double(draw):
    n = 16
    items, results, narrow = [], [], []
    for i in range(n):
        x, y, z, weight, p, q = wide_numbers(draw, 6)
        if i == 0:
            x, p = 1, f64(Fraction("1e-42"))
        items += [x, y, z, weight, p, q, 0, 0]
        at = (x, y, z)
        results += [F64.mul_add(at[k], weight, at[(2, 0, 1)[k]]) for k in range(3)] + [0]
        scaled = F64.mul(x, weight)
        results += [F64.sub(scaled, q), F64.div(p, q), F64.sqrt(weight & ~F64.sign_bit), 0]
        narrow.append(flushed(F32, F32.convert(F64, p)))
    arguments = {"0.0": ("f8", items, 8), "0.1": ("f8", [0] * (8 * n), 4), "0.2": zeros("f4", n)}
    case("double", "2", arguments, {"0.1": ("f8", results, 4), "0.2": ("f4", narrow)})


def reduce(draw):
    n, groups = 150, 3
    x = numbers(draw, n)
    sums = []
    for group in range(groups):
        partial = [x[i] if i < n else 0 for i in range(group * 64, group * 64 + 64)]
        width = 32
        while width:
            for here in range(width):
                partial[here] = F32.add(partial[here], partial[here + width])
            width >>= 1
        sums.append(partial[0])
    keys = [bits - (1 << 32) if bits >> 31 else bits for bits in x]
    bits, histogram = 0, [0] * 8
    for key in x:
        bits |= key
        histogram[key >> 29] += 1
    start = [5, 2, 0, 0] + [0] * 8 + [7]
    counts = [5 + n, min(keys + [2]) & WORD, max(keys + [0]) & WORD, bits] + histogram + [9]
    arguments = {"n": str(n), "0.0": ("f4", x), "0.1": zeros("f4", groups), "0.2": ("u4", start)}
    case("reduce", str(groups), arguments, {"0.1": ("f4", sums), "0.2": ("u4", counts)})


def special(draw):
    terms, factor = 6, f32(Fraction("0.3"))
    length = 2 * terms + 1
    x = numbers(draw, 64)
    table = [F32.mul(f32(k), factor) for k in range(length)]
    result = []
    for value in x:
        for k in range(terms):
            value = F32.mul_add(value, factor, table[length - 1 - k])
        result.append(F32.add(value, value))
    sizes = [16 ^ 0xFF0 ^ length] * 64
    arguments = {"0.0": ("f4", x), "0.1": zeros("f4", 64), "0.2": zeros("u4", 64)}
    options = ["--spec", "0=16", "--spec", f"3={terms}", "--spec", "4=true", "--spec", "5=0.3"]
    case("special", "2", arguments, {"0.1": ("f4", result), "0.2": ("u4", sizes)}, options)


def flow(draw):
    n = 64
    seeds = [1, 2, 3, 7, 27] + [draw.randrange(1, 5000) for _ in range(n - 5)]
    results = []
    for i, at in enumerate(seeds):
        steps = odd = 0
        while True:
            steps += 1
            if at == 1:
                break
            at = at // 2 if at % 2 == 0 else 3 * at + 1
            if steps > 200:
                break
            if at % 2 == 0:
                continue
            for k in range(at % 3):
                if k != 1:
                    odd += at + k
        given = steps + i
        if given % 6 == 4:
            chosen, other = 4, given
        else:
            chosen = {0: 111, 1: 18, 5: 0}.get(given % 6, 7 ^ given)
            other = 2 * chosen
        results += [(odd + chosen) & WORD, (steps * 65536 + other) & WORD]
    arguments = {"0.0": ("u4", seeds), "0.1": ("u4", [0] * (2 * n), 2)}
    case("flow", "2", arguments, {"0.1": ("u4", results, 2)}, determined=True)


def signed(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def quotient(a, b):
    """Toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def integers(draw):
    n = 64
    edges = [0, 1, 2, 0x7FFFFFFF, 0x80000001, 0xFFFFFFFF, 0xFFFFFF00, 0x12345678]
    x = [draw.choice(edges) if draw.random() < 0.4 else draw.getrandbits(32) for _ in range(n)]
    y = [draw.choice(edges) if draw.random() < 0.4 else draw.getrandbits(32) for _ in range(n)]
    small = [draw.randrange(-128, 128) for _ in range(n)]
    shorts = [draw.getrandbits(16) for _ in range(n)]
    longs = [signed(draw.getrandbits(64), 64) for _ in range(n)]
    results, smalls, shorter, longer = [], [], [], []
    for i in range(n):
        a, b = x[i], y[i]
        s, t = signed(a), signed(b) | 1
        count = b & 31
        field = a >> 5 & 0x1FF
        top = (a ^ WORD if a >> 31 else a).bit_length() - 1
        low = a & ~255
        results += [
            a // (b | 1),
            a % (b | 1),
            quotient(s, t),
            s - t * quotient(s, t),
            (a + b & WORD) ^ (a + b >> 32),
            (a - b & WORD) ^ (a < b),
            (a * b >> 32) ^ (a * b & WORD),
            ((s * signed(b | 1) >> 32) ^ (s * signed(b | 1))),
            field,
            signed(field, 9),
            a & ~(0x7FF << 7) | (b & 0x7FF) << 7,
            int(f"{a:032b}"[::-1], 2),
            a.bit_count(),
            (low & -low).bit_length() - 1,
            top,
            a.bit_length() - 1,
            abs(s) ^ (s > 0) - (s < 0),
            min(max(s, -1000), t & 0xFFFF),
            (s >> count) ^ (a >> count) ^ (a << count),
            (a > b) | (s > t) << 1 | (s <= t) << 2 | (a != b) << 3,
        ]
        smalls.append(signed(quotient(small[i], 3) - signed(a, 8), 8))
        shorter.append(shorts[i] * (b & 0xFFFF) + (a >> 16) & 0xFFFF)
        product = signed(longs[i] * s, 64)
        longer.append(signed(quotient(product, t) + (longs[i] >> (b & 63)), 64))
    results = [value & WORD for value in results]
    arguments = {"0.0": ("u4", x), "0.1": ("u4", y), "0.2": ("u4", [0] * (20 * n), 20)}
    arguments |= {"0.3": ("i1", small), "0.4": ("u2", shorts), "0.5": ("i8", longs)}
    expected = {"0.2": ("u4", results, 20), "0.3": ("i1", smalls), "0.4": ("u2", shorter), "0.5": ("i8", longer)}
    case("integers", "4", arguments, expected, determined=True)


def matrix(draw):
    n = 8
    rows = [[numbers(draw, 3) for _ in range(2)] for _ in range(n)]
    columns = [[numbers(draw, 2) for _ in range(3)] for _ in range(n)]
    vectors = [numbers(draw, 3) for _ in range(n)]
    data = [value for one in rows for row in one for value in row + [0]]
    data += [value for one in columns for column in one for value in column]
    results = []
    three = f32(3)
    for i in range(n):
        v = vectors[i]
        first = [chain((rows[i][r][c], v[c]) for c in range(3)) for r in range(2)]
        both = [[F32.add(F32.mul(rows[i][r][c], three), columns[i][c][r]) for c in range(3)] for r in range(2)]
        second = [chain((both[r][c], v[c]) for c in range(3)) for r in range(2)]
        third = [chain((first[r], columns[i][c][r]) for r in range(2)) for c in range(3)]
        picked = [rows[i][i % 2][i % 3], columns[i][i % 3][i % 2]]
        results += first + second + [third[0], third[2]] + picked
    padded = [value for vector in vectors for value in vector + [0]]
    arguments = {"0.0": ("f4", data), "0.1": ("f4", padded, 4), "0.2": ("f4", [0] * (8 * n), 8)}
    case("matrix", "1", arguments, {"0.2": ("f4", results, 8)})


def integral(form, bits, how):
    """Rounded to an integral value, the sign kept."""
    value = form.value(bits)
    whole = {"floor": value.__floor__, "ceil": value.__ceil__, "trunc": value.__trunc__, "even": value.__round__}[how]()
    return form.round(Fraction(whole)) if whole else bits & form.sign_bit


def reciprocal_root(bits):
    value = F32.value(bits)
    if not value:
        return F32.infinity
    with localcontext() as context:
        context.prec = 90
        return F32.round(Fraction(1 / (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()))


def power_of_two(bits):
    value = F32.value(bits)
    if value >= 128:
        return F32.infinity
    return 0 if value < -150 else F32.exp2(bits)


def unpacked(half):
    """As f32; a NaN keeps its payload and is made quiet."""
    if not F16.is_nan(half):
        return F32.convert(F16, half)
    return F32.infinity | (half & 0x8000) << 16 | (half & 0x3FF) << 13 | 0x400000


def functions(draw):
    n = 64
    edges = [0, 1, 0x007FFFFF, 0x00800000, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3FC00000, 0x40200000, 0x4B000001]
    x = edges + [bits | F32.sign_bit for bits in edges] + [0x7F7FFFFF] + numbers(draw, n - 21, -20, 20)
    counts = [draw.randrange(-160, 40) for _ in range(n)]
    bits, approximate = [], []
    one, sign = F32.one(), F32.sign_bit
    for a, exponent in zip(x, counts):
        value = F32.value(a)
        below, toward = integral(F32, a, "floor"), integral(F32, a, "trunc")
        bits += [a & ~sign, (one | a & sign) if value else 0, below, integral(F32, a, "ceil"), toward]
        bits += [integral(F32, a, "even"), F32.sub(a, below), F32.sub(a, toward) & ~sign | a & sign, toward]
        if value:
            power = 0
            magnitude = abs(value)
            while magnitude >= 1:
                magnitude, power = magnitude / 2, power + 1
            while magnitude < Fraction(1, 2):
                magnitude, power = magnitude * 2, power - 1
            bits += [F32.round(magnitude) | a & sign, power & WORD]
            scaled = F32.round(value * Fraction(2) ** exponent)
        else:
            bits += [a, 0]
            scaled = a
        small = F16.convert(F32, a)
        bits += [scaled, small | (small ^ F16.sign_bit) << 16]
        bits += [unpacked(a & 0xFFFF), unpacked(a >> 16)]
        high, low = max(value, Fraction(3, 2)), min(value, Fraction(-1))
        bits.append(F32.round(min(max(high, low), Fraction(5, 2))))
        approximate += [power_of_two(a), reciprocal_root(a & ~sign)]
    arguments = {"0.0": ("f4", x), "0.1": ("i4", counts), "0.2": ("u4", [0] * (16 * n), 16)}
    arguments |= {"0.3": ("f4", [0] * (2 * n), 2)}
    names = ["GLSL.std.450 Exp2", "GLSL.std.450 InverseSqrt"]
    results = {"0.2": ("u4", bits, 16), "0.3": ("f4", approximate, 2)}
    # Its subnormals are kept, and payloads of NaNs.
    options = ("--assume", "strict")
    case("functions", "4", arguments, results, options=options, approximate=names)


def flushed(form, bits):
    return bits if form.is_nan(bits) else form.flush(bits)


def rtz_flush(draw):
    n = 512
    rows = {form: [drawn(draw, form, 4) for _ in range(n)] for form in (F16, F32, F64)}
    # f64 NaNs keep a payload, which this judge does not tell: none among the operands, nor made of them.
    rows[F64] = [[f64(Fraction(draw.uniform(-2, 2))) for _ in range(4)] for _ in range(n)]
    rows[F64][0] = [1, 0x3FE0000000000000, 0, 0]
    rows[F64][1] = [0x380FFFFFFFFFFFFF, 0x3FF0000000000000, 0x8000000000000001, 0]
    narrowed = []
    results = {form: [] for form in rows}
    for i in range(n):
        for form, direction, ftz in ((F16, "rn", True), (F32, "rz", True), (F64, "rz", False)):
            a, b, c, _ = rows[form][i]
            results[form] += [a, b, c, form.mul_add(a, b, c, direction, ftz)]
        narrowed.append(flushed(F32, F32.convert(F64, rows[F64][i][0], "rz")))
        small = flushed(F16, F16.convert(F32, flushed(F32, rows[F32][i][0])))
        narrowed.append(F32.convert(F16, small))
    arguments, expected = {}, {}
    for binding, (form, dtype) in enumerate(((F16, "f2"), (F32, "f4"), (F64, "f8"))):
        arguments[f"0.{binding}"] = (dtype, [bits for row in rows[form] for bits in row], 4)
        expected[f"0.{binding}"] = (dtype, results[form], 4)
    arguments["2.7"] = ("f4", [0] * (2 * n), 2)
    expected["2.7"] = ("f4", narrowed, 2)
    case("rtz_flush", str(n // 32), arguments, expected, determined=True)


def phi(draw):
    n, turns = 64, 3
    x = numbers(draw, n)
    third = 0x3EAAAAAB
    result = []
    for i, start in enumerate(x):
        a, b, c = start, F32.one(), f32(Fraction("0.5"))
        for k in range(turns + i):
            swapped = F32.mul_add(a, third, b) if k & 1 else a
            a, b, c = b, swapped, a
        value = a
        if i & 3 == 1:
            value = F32.mul_add(a, b, c)
        elif i & 3:
            value = F32.mul_add(c, a, b)
        result.append(value)
    case("phi", "2", {"turns": str(turns), "0.0": ("f4", x)}, {"0.0": ("f4", result)})


def saxpy_cl(draw):
    n, block = 100, 32
    x, y = numbers(draw, n), numbers(draw, n)
    a = f32(Fraction("-0.7"))
    tile = x + [0] * (128 - n)
    result = []
    for i in range(n):
        here = i % block
        neighbour = tile[i - here + (here + 1) % block]
        larger = tile[i] if F32.value(tile[i]) >= F32.value(neighbour) else neighbour
        result.append(F32.add(F32.mul_add(a, x[i], y[i]), larger))
    # The fourth parameter, the only one in __local memory, has the size of --shared.
    arguments = {"0": "0x%08x" % a, "1": ("f4", x), "2": ("f4", y), "4": str(n)}
    case("saxpy_cl", "4", arguments, {"2": ("f4", result)}, ["--block", str(block), "--shared", str(4 * block)])


def pointers_cl(draw):
    n, block, shift = 60, 32, 3
    x, y = numbers(draw, 64), numbers(draw, 64)
    a, scale = f32(Fraction("1.5")), f32(Fraction("0.4"))
    v, w = numbers(draw, 4), numbers(draw, 4)
    both = [F32.add(p, q) for p, q in zip(w, v)]
    along = chain(zip(both, v))
    tile = [x[i] if i < n else 0 for i in range(64)]
    table = [f32(Fraction(text)) for text in ("1", "2", "3", "4.5")]
    half, two, one = f32(Fraction("0.5")), f32(2), f32(1)
    result = []
    for i in range(64):
        value = y[i]
        if i < n:
            k, first = shift + i, i - i % block
            picked = [F32.mul(tile[first + (j + k) % 32], scale) for j in range(8)]
            total = 0
            for j in range(8):
                total = F32.add(total, picked[j * 3 + k & 7])
            clamped = x[i] if abs(F32.value(x[i])) <= Fraction(1, 2) else half | x[i] & F32.sign_bit
            value = F32.add(F32.mul_add(a, tile[i], value), total)
            for term in (along, table[i & 3], clamped, f32(i.bit_count()), f32(min(i, 5))):
                value = F32.add(value, term)
        if i % 5 == 0:
            value = F32.mul(value, two)
        elif i % 5 in (1, 3):
            value = F32.add(F32.sub(value, one) if i % 5 == 3 else value, v[1])
        result.append(value)
    struct = [scale, shift, 0, 0] + w
    arguments = {"0": "0x%08x" % a, "1": ("f4", x), "2": ("f4", y), "3": str(4 * block), "4": str(n)}
    arguments |= {"5": ("f4", v), "6": ("u4", struct)}
    case("pointers_cl", "2", arguments, {"2": ("f4", result)}, ["--block", str(block)])


def subgroup(draw):
    size, groups = 80, 2
    a = [(draw.randrange(256), draw.getrandbits(32)) for _ in range(size * groups)]
    result = []
    for i, (x, y) in enumerate(a):
        local = i % size
        warp, lane = local // 32, local % 32
        start = i - lane
        here = list(range(start, i - local + min(size, warp * 32 + 32)))
        ballot = sum((a[j][0] & 1) << j - start for j in here)
        there = start + (lane ^ 5)
        other = a[there] if there in here else a[i]
        third = [j for j in here if (j - start) % 3 == 1]
        row = [warp << 16 | lane << 8 | 3, ballot & (1 << lane) - 1, other[0] ^ other[1], a[start + 3][1]]
        if i in third:
            every, some = all(a[j][0] > 10 for j in third), any(a[j][0] > 200 for j in third)
            row += [a[third[0]][0], int(i == third[0]), every | some << 1]
        else:
            row += [0, 0, 0]
        row.append(1 | (len({a[j][0] for j in here}) == 1) << 1)
        row.append(a[start + (lane * 7 & 15)][0])
        row.append(x if lane >= 2 else 0)
        row.append((a[i + 16][1] if lane < 16 else y) if local < 64 else 0)
        row.append(sum(1 << j - start for j in here))
        row.append(sum(a[j][0] for j in here))
        row.append(min([WORD] + [a[j][1] for j in range(start, i)]))
        total = 0
        for j in range(start, i + 1):
            if (j - start) % 3:
                total = F32.add(total, F32.mul(f32(a[j][0]), f32(Fraction("0.1"))))
        row.append(total if lane % 3 else 0)
        row.append(max(signed(a[j][1]) for j in here) & WORD ^ all(a[j][0] > 3 for j in here))
        result += row
    flat = [value for pair in a for value in pair]
    arguments = {"0.0": ("u4", flat, 2), "0.1": ("u4", [0] * (16 * len(a)), 16)}
    case("subgroup", str(groups), arguments, {"0.1": ("u4", result, 16)})


def reference(draw):
    n, rows = 64, [1, 0]
    cells = [numbers(draw, 8) for _ in range(n)]
    shift = numbers(draw, 2)
    weights = [f32(Fraction(text)) for text in ("0.25", "0.5", "2")]
    result = []
    for i in range(n):
        group, here = i - i % 32, i % 32
        mine, grid = cells[group + 31 - here], cells[i][2:]
        row = mine[2 + 3 * rows[i & 1] :][:3]
        best = row[0]
        for k in (1, 2):
            best = F32.maximum(best, F32.mul(row[k], weights[k]))
        grid[3 * (i & 1) + i % 3] = best
        result += [F32.add(mine[0], shift[0]), F32.add(mine[1], shift[1])] + grid
    flat = [value for cell in cells for value in cell]
    arguments = {"source": ("f4", flat, 8), "target": ("f4", [0] * (8 * n), 8)}
    arguments |= {"shift": ("f4", shift), "rows": ("u4", rows)}
    case("reference", "2", arguments, {"target": ("f4", result, 8)})


def locals_cl(draw):
    n, block, groups = 3, 32, 2
    x = numbers(draw, groups * block)
    result = []
    for i in range(groups * block):
        here = i % block
        product = n * ((here + 1) % block)
        result.append(F32.add(x[i - here + block - 1 - here], f32(product) if product else 0))
    arguments = {"0": ("f4", x), "1": str(4 * block), "2": str(2 * block), "3": zeros("f4", groups * block)}
    arguments["4"] = str(n)
    case("locals_cl", str(groups), arguments, {"3": ("f4", result)}, ["--block", str(block)])


def push(draw):
    first, turn = numbers(draw, 3), numbers(draw, 4)
    scale, last = numbers(draw, 1)[0], [draw.randrange(-99, 100) for _ in range(3)]
    words = first + [scale] + turn + [value & WORD for value in last]
    block = b"".join(word.to_bytes(4, "little") for word in words).hex()
    result = []
    for i in range(8):
        result += [F32.mul(first[i % 3], scale), F32.mul(turn[2 * (i & 1) + 1], f32(last[i % 3]))]
    case("push", "2", {"0.0": zeros("f4", 16)}, {"0.0": ("f4", result)}, ["--push", block])


def descriptors(draw):
    n, chosen, extra = 32, 1, 3
    parts = [numbers(draw, n + (extra if k == 1 else 0)) for k in range(3)]
    counts = [draw.getrandbits(20) for _ in parts]
    sums = [chain((parts[k][i], F32.one()) for k in range(3)) for i in range(n)]
    two, length = f32(2), f32(n + extra)
    after = [F32.add(F32.mul(value, two), length) for value in parts[chosen][:n]]
    arguments = {f"0.0[{k}]": ("u4", [count] + part) for k, (count, part) in enumerate(zip(counts, parts))}
    arguments = {"chosen": str(chosen)} | arguments | {"0.1": zeros("f4", n)}
    expected = {"0.0[1]": ("u4", [7] + parts[1]), "0.0[2]": ("u4", counts[2:] + after), "0.1": ("f4", sums)}
    case("descriptors", "2", arguments, expected)


def recorded(reference):
    """A shader or kernel of another file."""

    def record(draw):
        arguments, expected, more = reference(draw)
        options = ["--block", str(more.pop("block"))] if "block" in more else []
        case(record.__name__, more.pop("grid", "2"), arguments, expected, options, **more)

    record.__name__ = reference.__name__
    return record


def main():
    shaders = [saxpy, horner, gemm, half, double, reduce, special, flow, integers, matrix, functions]
    shaders += [rtz_flush, phi, saxpy_cl, pointers_cl, locals_cl, push, descriptors, subgroup, reference]
    shaders += map(recorded, (integers_cl, floats_cl, geometry, ballots, votes, groups_cl, dots, images, samplers, images_cl))
    for shader in shaders:
        # Each has a generator of its own: one that changes leaves the others' data as they are.
        shader(random.Random(shader.__name__))
    lines = [json.dumps(entry) for entry in CASES]
    (HERE / "cases.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
