"""The kernels of half2 and __nv_bfloat162: two numbers a word, the first in the low half."""

from fractions import Fraction
from math import ceil, floor

from cases import CASES, case
from exact import BF16, F16, F32, f32


def packed(values, columns=1):
    """An argument or a result of pairs."""
    return ("u4", [values[i] | values[i + 1] << 16 for i in range(0, len(values), 2)], columns)


def by_pair(results):
    """The results of each number, in the order in which a thread stores those of its two."""
    pairs = zip(results[0::2], results[1::2])
    return [value for low, high in pairs for both in zip(low, high) for value in both]


def special(form):
    """The edges of a format: subnormals, zeros, infinities, NaNs that are quiet, signalling and negative."""
    least, one = form.smallest_normal, form.one()
    edges = [0, 1, least - 1, least, one, one + 1, one - 1, form.infinity - 1, form.infinity]
    quiet, signalling = form.infinity | least >> 1, form.infinity | 1
    return edges + [0x8000 | 1, 0x8000, 0x8000 | one, 0xFFFF ^ least, quiet, 0x8000 | signalling]


def triples(draw, form, count):
    """Numbers a, b and c: each edge by each other, products and sums that are ties or next to one, and any bits."""
    edges, one, unit = special(form), form.one(), form.smallest_normal
    found = [(a, b, draw.choice(edges)) for a in edges for b in edges]
    half = one | unit >> 1
    for _ in range(24):
        # 1.5 times an odd number of units in the last place is a tie; the smallest addend decides it, or none does.
        factor = one | 2 * draw.randrange(unit >> 2) | 1
        for least in (0, 1, 0x8001):
            found.append((factor, half, least))
        # Half a unit of the larger one.
        above = one + (form.fraction_bits + 1) * unit
        found.append((above | draw.randrange(unit), one, draw.choice([0x8000 | one, one, 0])))
        # At the edge where a flush and a rounding meet.
        found.append((one - 1 - draw.randrange(3), unit + draw.randrange(2), draw.choice([0, 1, 0x8000, 0x8001])))
    while len(found) < count:
        found.append(tuple(draw.randrange(1 << 16) for _ in range(3)))
    assert len(found) == count
    return [list(column) for column in zip(*found)]


def half2_ops(draw):
    n, form = 192, F16
    a, b, c = triples(draw, form, 2 * n)

    def operations(x, y, z):
        return [
            form.mul_add(x, y, z),
            form.mul_add(x, y, z, relu=True),
            form.mul_add(x, y, z, sat=True),
            form.add(x, y),
            form.add(x, z),
            form.add(y, z, sat=True),
            form.sub(x, y),
            form.sub(x, z, sat=True),
            form.mul(x, y),
            form.mul(x, z),
            form.mul(y, z, sat=True),
            form.maximum(x, y),
            form.minimum(x, y),
            form.maximum(x, y, nan=True),
            form.minimum(x, y, nan=True),
            form.below_zero(x),
        ]

    result = by_pair([operations(*triple) for triple in zip(a, b, c)])
    arguments = [str(n), packed(a), packed(b), packed(c), packed([0] * len(result), 16)]
    case("half2_ops", "3", "64", arguments, {4: packed(result, 16)})


def bf162_ops(draw):
    n, form = 192, BF16
    a, b, c = triples(draw, form, 2 * n)

    def operations(x, y, z):
        return [
            form.mul_add(x, y, z),
            form.mul_add(x, y, z, relu=True),
            form.add(x, y),
            form.add(x, z),
            form.sub(x, y),
            form.mul(x, y),
            form.mul(x, z),
            form.maximum(x, y),
            form.minimum(x, y),
            form.maximum(x, y, nan=True),
            form.minimum(x, y, nan=True),
            form.below_zero(x),
        ]

    result = by_pair([operations(*triple) for triple in zip(a, b, c)])
    alone = []
    for i in range(0, 2 * n, 2):
        alone += [
            form.add(a[i], b[i + 1]),
            form.sub(a[i + 1], b[i]),
            form.mul(b[i], c[i]),
            form.mul_add(a[i], b[i], c[i + 1]),
            form.mul_add(b[i + 1], a[i + 1], c[i + 1], relu=True),
        ]
    arguments = [str(n), packed(a), packed(b), packed(c), packed([0] * len(result), 12), ("u2", [0] * len(alone), 5)]
    case("bf162_ops", "3", "64", arguments, {4: packed(result, 12), 5: ("u2", alone, 5)})
    # sm_80 has the fused operation alone; of it nvcc makes the others, with the same bits.
    entry = CASES[-1]
    CASES.append({**entry, "name": "bf162_ops_80", "command": ["run", "bf162_ops_80.ptx", *entry["command"][2:]]})


def some(draw, form, count, low=-2.0, high=2.0):
    return [form.from_number(Fraction(draw.uniform(low, high))) for _ in range(count)]


def half2_dot(draw):
    n, blocks, threads = 300, 6, 128
    x, y = some(draw, F16, 2 * n * blocks), some(draw, F16, 2 * n * blocks)
    # By block: plain; products that are subnormal; an infinity; two of opposite signs; a NaN; a sum that overflows.
    for i in range(2 * n, 4 * n):
        x[i], y[i] = draw.randrange(0x0A00) | draw.randrange(2) << 15, draw.randrange(0x3000)
    x[4 * n + 77], y[4 * n + 77] = 0x7C00, 0xBC00
    x[6 * n + 10], y[6 * n + 10], x[6 * n + 501], y[6 * n + 501] = 0x7C00, 0x3C00, 0xFC00, 0x3C00
    x[8 * n + 123] = 0xFD55
    for i in range(10 * n, 12 * n):
        x[i], y[i] = 0x5A00 + draw.randrange(256), 0x5200
    totals = []
    for block in range(blocks):
        base = 2 * n * block
        lanes = []
        for thread in range(threads):
            pair = [0, 0]
            for i in range(thread, n, threads):
                at = base + 2 * i
                pair = [F16.mul_add(x[at + half], y[at + half], pair[half]) for half in (0, 1)]
            lanes.append(pair)
        total = None
        for start in range(0, threads, 32):
            warp = lanes[start : start + 32]
            for delta in (16, 8, 4, 2, 1):
                partners = [warp[lane + delta if lane + delta < 32 else lane] for lane in range(32)]
                warp = [[F16.add(p, q) for p, q in zip(*both)] for both in zip(warp, partners)]
            sum_of_warp = F16.add(*warp[0])
            total = sum_of_warp if total is None else F16.add(total, sum_of_warp)
        totals.append(total)
    arguments = [str(n), packed(x), packed(y), ("u2", [0] * blocks), ("f4", [0] * blocks)]
    results = {3: ("u2", totals), 4: ("f4", [F32.convert(F16, total) for total in totals])}
    case("half2_dot", str(blocks), str(threads), arguments, results)


def bf16_relu(draw):
    rows, columns, form = 64, 25, BF16
    weights, inputs = some(draw, form, 2 * rows * columns), some(draw, form, columns)
    bias = some(draw, form, 2 * rows)
    bias[:15] = special(form)
    inputs[3], inputs[7] = 0x0001, 0x8040
    # The last step: an infinity of each sign, a NaN, a zero of each sign.
    last = 2 * rows * (columns - 1)
    weights[last + 20 : last + 25] = [0x7F80, 0xFF80, 0xFF81, 0x0000, 0x8000]
    # Rows of subnormals alone.
    for k in range(columns):
        weights[2 * rows * k + 30 : 2 * rows * k + 40] = [draw.randrange(0x80) | 0x8000 for _ in range(10)]
    bias[30:40] = [draw.randrange(0x80) for _ in range(10)]
    result = []
    for row in range(2 * rows):
        total = bias[row]
        for k in range(columns):
            total = form.mul_add(weights[2 * rows * k + row], inputs[k], total, relu=k == columns - 1)
        result.append(total)
    arguments = [str(rows), str(columns), packed(weights, rows), ("u2", inputs), packed(bias), packed([0] * len(result))]
    case("bf16_relu", "2", "32", arguments, {5: packed(result)})


def half2_axpy(draw):
    n, factor = 192, f32(Fraction("0.3"))
    # By it the products of f16 reach f32's subnormals and its underflow.
    scale = f32(Fraction(3, 2**121))
    x, y, _ = triples(draw, F16, 2 * n)
    a = F16.convert(F32, factor)
    result = [F16.mul_add(a, p, q) for p, q in zip(x, y)]

    def flushed(p, q):
        return [
            F16.mul_add(a, p, q, ftz=True),
            F16.mul_add(a, p, q, ftz=True, relu=True),
            F16.add(p, q, ftz=True),
            F16.mul(p, q, ftz=True, sat=True),
        ]

    def wide(p, q):
        u, v = F32.convert(F16, p), F32.convert(F16, q)
        return F32.mul_add(u, scale, F32.mul(v, scale, ftz=True), ftz=True)

    small = by_pair([flushed(p, q) for p, q in zip(x, y)])
    large = [wide(p, q) for p, q in zip(x, y)]
    arguments = [str(n), "0f%08X" % factor, "0f%08X" % scale, packed(x), packed(y), packed([0] * len(small), 4)]
    arguments.append(("f4", [0] * len(large), 2))
    case("half2_axpy", "3", "64", arguments, {4: packed(result), 5: packed(small, 4), 6: ("f4", large, 2)})


def between(draw, form):
    """An f32 near a number of a format: the tie above it, or next to that tie."""
    low = draw.randrange(form.infinity)
    value = (form.value(low) + form.value(low + 1)) / 2 if low + 1 < form.infinity else form.value(low)
    bits = F32.from_number(value) + draw.choice([-1, 0, 0, 1])
    return bits | draw.randrange(2) << 31


def half_convert(draw):
    n = 128
    x = [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345]
    # Where f16 and bf16 overflow, and where f16's subnormals end.
    x += [0x477FEFFF, 0x477FF000, 0xC77FF000, 0x7F7F7FFF, 0x7F7F8000, 0xFF7FFFFF, 0x33000000, 0x33000001]
    x += [0x387FC000, 0x387FE000, 0x387FF000, 0xB3000000]
    x += [between(draw, draw.choice([F16, BF16])) for _ in range(160)]
    x += [draw.randrange(1 << 32) for _ in range(2 * n - len(x))]
    # Halves of odd integers are ties of the conversions to integers; 65504 is outside s16.
    h = special(F16) + [0x3800, 0x3E00, 0x4100, 0xB800, 0xBE00, 0xC100, 0x7BFF, 0xFBFF, 0x7800, 0x77FF, 0xF800, 0xF801]
    h += [draw.randrange(1 << 16) for _ in range(2 * n - len(h))]
    b = special(BF16) + [draw.randrange(1 << 16) for _ in range(2 * n - 15)]
    halves, brains, floats, whole = [], [], [], []
    for i in range(n):
        low, high = x[2 * i : 2 * i + 2]
        integer = F32.to_integer(low, int, -(2**31), 2**31 - 1)
        halves += [F16.convert(F32, low), F16.convert(F32, high)]
        halves += [F16.convert(F32, low, "rz"), F16.convert(F32, high)]
        halves += [F16.convert(F32, low, "rm"), F16.convert(F32, high, "rp")]
        halves += [F16.from_number(integer), F16.from_number(i * 683 % 65536, "rz")]
        brains += [BF16.convert(F32, low), BF16.convert(F32, high)]
        brains += [BF16.convert(F32, low, "rz"), BF16.convert(F32, high)]
        brains += [BF16.convert(F32, low, "rm"), BF16.convert(F32, high, "rp")]
        floats += [F32.convert(F16, bits) for bits in h[2 * i : 2 * i + 2]]
        # The upper half of an f32, NaNs too (measured on an H100).
        floats += [bits << 16 for bits in b[2 * i : 2 * i + 2]]
        low, high = h[2 * i : 2 * i + 2]
        whole += [
            F16.to_integer(low, round, -(2**31), 2**31 - 1),
            F16.to_integer(high, floor, -(2**31), 2**31 - 1),
            F16.to_integer(low, int, -(2**15), 2**15 - 1),
            F16.to_integer(high, ceil, 0, 2**32 - 1),
        ]
    whole = [value % 2**32 for value in whole]
    arguments = [str(n), ("f4", x, 2), packed(h), packed(b), packed([0] * len(halves), 4), packed([0] * len(brains), 3)]
    arguments += [("f4", [0] * len(floats), 4), ("u4", [0] * len(whole), 4)]
    results = {4: packed(halves, 4), 5: packed(brains, 3), 6: ("f4", floats, 4), 7: ("u4", whole, 4)}
    case("half_convert", "2", "64", arguments, results)


KERNELS = [half2_ops, bf162_ops, half2_dot, bf16_relu, half2_axpy, half_convert]
