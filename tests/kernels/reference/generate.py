#!/usr/bin/env python3
"""Makes the inputs and the expected outputs of every kernel, and cases.jsonl, which says how each is run.

Nothing but Python's own library is needed. Numbers are drawn from a generator of fixed seed, so that two runs write
the same bytes.
"""

import json
import random
from fractions import Fraction

import calls
import fragments
import halves
import matrices
import narrow
import textures
import video
import wgmma
from cases import CASES, HERE, case, numbers, wide_numbers
from exact import BF16, F32, F64, f32, f64, mad_sm_1x


def saxpy(draw):
    x, y = numbers(draw, 200), numbers(draw, 200)
    # What a rounding, a flush or a NaN rule would show.
    x[:8] = [0x7F800000, 0x7FC12345, 0x00000001, 0x80000001, 0x007FFFFF, 0x7F7FFFFF, 0x80000000, 0xFF800000]
    y[:8] = [0xFF800000, 0x3F800000, 0x00000000, 0x00000002, 0x00800000, 0x7F7FFFFF, 0x00000000, 0xFF800000]
    a = f32(Fraction("1.7"))
    result = [F32.mul_add(a, p, q) for p, q in zip(x, y)]
    case("saxpy", "2", "128", ["200", "0f%08X" % a, ("f4", x), ("f4", y)], {3: ("f4", result)})


def shuffled_sum(lanes, partners):
    """Each lane plus its partner's value, lane by lane at once."""
    return [F32.add(lanes[lane], lanes[partner]) for lane, partner in enumerate(partners)]


def warp_sum_down(lanes):
    for delta in (16, 8, 4, 2, 1):
        lanes = shuffled_sum(lanes, [lane + delta if lane + delta < 32 else lane for lane in range(32)])
    return lanes[0]


def dot(draw):
    n, threads = 1000, 128
    x, y = numbers(draw, n), numbers(draw, n)
    sums = []
    for thread in range(threads):
        total = 0
        for i in range(thread, n, threads):
            total = F32.mul_add(x[i], y[i], total)
        sums.append(total)
    warps = [warp_sum_down(sums[start : start + 32]) for start in range(0, threads, 32)]
    result = warp_sum_down(warps + [0] * (32 - len(warps)))
    case("dot", "1", "128", [str(n), ("f4", x), ("f4", y), ("f4", [0])], {3: ("f4", [result])})


COEFFICIENTS = """1.0 -0.5 0.33333334 -0.25 0.2 -0.16666667 0.14285715 -0.125 0.11111111 -0.1 0.09090909 -0.083333336
0.07692308 -0.071428575 0.06666667 -0.0625 0.05882353"""


def horner(draw):
    x = numbers(draw, 128)
    coefficients = [f32(Fraction(text)) for text in COEFFICIENTS.split()]
    result = []
    for at in x:
        value = coefficients[16]
        for coefficient in reversed(coefficients[:16]):
            value = F32.mul_add(value, at, coefficient)
        result.append(value)
    case("horner", "2", "96", ["128", ("f4", x), ("f4", [0] * 128)], {2: ("f4", result)})


def product(form, n, a, b):
    result = []
    for row in range(n):
        for column in range(n):
            total = 0
            for k in range(n):
                total = form.mul_add(a[row * n + k], b[k * n + column], total)
            result.append(total)
    return result


def sgemm(draw):
    n = 32
    a, b = numbers(draw, n * n), numbers(draw, n * n)
    result = product(F32, n, a, b)
    arguments = [str(n), ("f4", a, n), ("f4", b, n), ("f4", [0] * (n * n), n)]
    case("sgemm", "2,2", "16,16", arguments, {3: ("f4", result, n)})


def dgemm(draw):
    n = 16
    a, b = wide_numbers(draw, n * n), wide_numbers(draw, n * n)
    result = product(F64, n, a, b)
    arguments = [str(n), ("f8", a, n), ("f8", b, n), ("f8", [0] * (n * n), n)]
    case("dgemm", "2,2", "8,8", arguments, {3: ("f8", result, n)})


def fir(draw):
    n = 100
    taps, x = numbers(draw, 16, -0.2, 0.2), numbers(draw, n + 15)
    result = []
    for i in range(n):
        total = 0
        for k in range(16):
            total = F32.mul_add(taps[k], x[i + 15 - k], total)
        result.append(total)
    case("fir", "4", "32", [str(n), ("f4", taps), ("f4", x), ("f4", [0] * n)], {3: ("f4", result)})


def stencil(draw):
    width, height, rate = 20, 12, f32(Fraction("0.1"))
    grid = numbers(draw, width * height)
    result = list(grid)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            at = y * width + x
            across, along = F32.add(grid[at - 1], grid[at + 1]), F32.add(grid[at - width], grid[at + width])
            ring = F32.add(across, along)
            change = F32.mul_add(f32(-4), grid[at], ring)
            result[at] = F32.mul_add(rate, change, grid[at])
    arguments = [str(width), str(height), "0f%08X" % rate, ("f4", grid, width), ("f4", [0] * len(grid), width)]
    case("stencil", "2,2", "16,8", arguments, {4: ("f4", result, width)})


def nbody(draw):
    n, softening = 40, f32(Fraction("0.01"))
    bodies = []
    for _ in range(n):
        bodies += numbers(draw, 3) + numbers(draw, 1, 0.1, 1.0)
    result = []
    for i in range(n):
        x, y, z = bodies[4 * i : 4 * i + 3]
        ax = ay = az = 0
        for j in range(n):
            ox, oy, oz, mass = bodies[4 * j : 4 * j + 4]
            dx, dy, dz = F32.sub(ox, x), F32.sub(oy, y), F32.sub(oz, z)
            square = F32.mul_add(dz, dz, F32.mul_add(dy, dy, F32.mul_add(dx, dx, softening)))
            inverse = F32.div(f32(1), F32.sqrt(square))
            pull = F32.mul(F32.mul(mass, inverse), F32.mul(inverse, inverse))
            ax, ay, az = F32.mul_add(pull, dx, ax), F32.mul_add(pull, dy, ay), F32.mul_add(pull, dz, az)
        result += [ax, ay, az, 0]
    arguments = [str(n), "0f%08X" % softening, ("f4", bodies, 4), ("f4", [0] * len(bodies), 4)]
    case("nbody", "2", "32", arguments, {3: ("f4", result, 4)})


def mandelbrot(_):
    width, height, limit = 32, 24, 50
    result = []
    for py in range(height):
        for px in range(width):
            cx = F32.mul_add(f32(px), f32(Fraction("0.09375")), f32(Fraction("-2.25")))
            cy = F32.mul_add(f32(py), f32(Fraction("0.109375")), f32(Fraction("-1.25")))
            x = y = count = 0
            while count < limit:
                xx, yy = F32.mul(x, x), F32.mul(y, y)
                if F32.less(f32(4), F32.add(xx, yy)):
                    break
                y = F32.mul_add(F32.mul(f32(2), x), y, cy)
                x = F32.add(F32.sub(xx, yy), cx)
                count += 1
            result.append(count)
    arguments = [str(width), str(height), str(limit), ("i4", [0] * (width * height), width)]
    case("mandelbrot", "4,3", "8,8", arguments, {3: ("i4", result, width)})


PI = Fraction(3141592653589793238462643383279502884197, 10**39)


def turned(turns):
    """The cosine and the sine of a part of a full turn, by their series, so that every machine has the same."""
    angle, term, terms = 2 * PI * turns, Fraction(1), []
    for k in range(1, 42):
        terms.append(term)
        term = (term * angle / k).limit_denominator(10**40)
    signed = [value if k % 4 < 2 else -value for k, value in enumerate(terms)]
    cosine, sine = sum(signed[0::2]), sum(signed[1::2])
    # What is left of an exact zero is far below half a unit of anything here.
    return tuple(value if abs(value) > Fraction(1, 10**20) else Fraction(0) for value in (cosine, sine))


def fft(draw):
    table = []
    for k in range(32):
        cosine, sine = turned(Fraction(-k, 64))
        table += [f32(cosine), f32(sine)]
    data = numbers(draw, 128)
    values = [(data[2 * i], data[2 * i + 1]) for i in range(64)]
    half = 1
    while half < 64:
        for thread in range(32):
            within = thread & (half - 1)
            low = ((thread - within) << 1) + within
            wx, wy = table[2 * within * (32 // half)], table[2 * within * (32 // half) + 1]
            (ax, ay), (bx, by) = values[low], values[low + half]
            re = F32.mul_add(wx, bx, F32.mul(wy, by) ^ F32.sign_bit)
            im = F32.mul_add(wx, by, F32.mul(wy, bx))
            values[low] = (F32.add(ax, re), F32.add(ay, im))
            values[low + half] = (F32.sub(ax, re), F32.sub(ay, im))
        half *= 2
    result = [part for value in values for part in value]
    case("fft", "1", "32", [("f4", table, 2), ("f4", data, 2)], {1: ("f4", result, 2)})


def reduce(draw):
    n = 300
    whole = [draw.randrange(-1000, 1000) for _ in range(n)]
    arguments = [str(n), ("f4", [f32(value) for value in whole]), ("f4", [0]), ("i4", [-(2**31)]), ("u4", [0]), ("f8", [0])]
    results = {
        2: ("f4", [f32(sum(whole))]),
        3: ("i4", [max(whole)]),
        4: ("u4", [sum(value < 0 for value in whole)]),
        5: ("f8", [f64(Fraction(sum(whole), 2))]),
    }
    case("reduce", "3", "128", arguments, results)


def histogram(draw):
    n = 1000
    data = [int(abs(sum(draw.uniform(-64, 64) for _ in range(4))) * 0.99) for _ in range(n)]
    bins = [sum(value >> 2 == index for value in data) for index in range(64)]
    case("histogram", "2", "96", [str(n), ("u1", data), ("u4", [0] * 64)], {2: ("u4", bins)})


def interval(draw):
    n = 64
    x, result = [], []
    coefficients = [("-1.25", "-1.2"), ("0.3", "0.35"), ("-0.1", "0.1"), ("2", "2")]
    for _ in range(n):
        low = draw.uniform(-2, 2)
        at = (f32(Fraction(low)), f32(Fraction(low + draw.uniform(0, 0.5))))
        x += at
        value = (f32(Fraction("0.7")), f32(Fraction("0.8")))
        for low, high in coefficients:
            c = (f32(Fraction(low)), f32(Fraction(high)))
            pairs = [(v, p) for v in value for p in at]
            lows = [F32.mul_add(v, p, c[0], "rm") for v, p in pairs]
            highs = [F32.mul_add(v, p, c[1], "rp") for v, p in pairs]
            value = (min(lows, key=F32.value), max(highs, key=F32.value))
        result += value
    case("interval", "2", "32", [str(n), ("f4", x, 2), ("f4", [0] * (2 * n), 2)], {2: ("f4", result, 2)})


def twosum(draw):
    n, threads = 500, 64
    x, y = wide_numbers(draw, n), wide_numbers(draw, n)
    result = []
    for thread in range(threads):
        high = low = 0
        for i in range(thread, n, threads):
            p = F64.mul(x[i], y[i])
            rest = F64.mul_add(x[i], y[i], p ^ F64.sign_bit)
            total = F64.add(high, p)
            part = F64.sub(total, high)
            error = F64.add(F64.sub(high, F64.sub(total, part)), F64.sub(p, part))
            low = F64.add(low, F64.add(error, rest))
            high = total
        result += [high, low]
    arguments = [str(n), ("f8", x), ("f8", y), ("f8", [0] * (2 * threads), 2)]
    case("twosum", "2", "32", arguments, {3: ("f8", result, 2)})


def softmax(draw):
    rows, scale = 3, f32(Fraction("1.442695041"))
    x, result = numbers(draw, 64 * rows, -8, 8), []
    for row in range(rows):
        values = x[64 * row : 64 * row + 64]
        largest = max(values, key=F32.value)
        powers = [F32.exp2(F32.mul(F32.sub(value, largest), scale)) for value in values]
        lanes = [F32.add(powers[lane], powers[lane + 32]) for lane in range(32)]
        for mask in (16, 8, 4, 2, 1):
            lanes = shuffled_sum(lanes, [lane ^ mask for lane in range(32)])
        result += [F32.div(power, lanes[index % 32]) for index, power in enumerate(powers)]
    arguments = [("f4", x, 64), ("f4", [0] * len(x), 64)]
    case("softmax", "3", "32", arguments, {1: ("f4", result, 64)}, ["ex2.approx.f32"])


def bf16(draw):
    n = 96
    a = [draw.randrange(1 << 16) for _ in range(n)]
    b = [BF16.round(Fraction(draw.uniform(-2, 2))) for _ in range(n)]
    c = numbers(draw, n)
    for index in range(n // 2):
        a[index] = BF16.round(Fraction(draw.uniform(-2, 2)))
    a[:6] = [0x0001, 0x7F80, 0x7FC0, 0x3F88, 0x8000, 0x0000]
    b[:6] = [0x3F80, 0x0000, 0x3F80, 0x3F88, 0x0000, 0xBF80]
    c[:6] = [0x00000001, 0x3F000000, 0x3F000000, 0x21800000, 0x80000000, 0x00000000]
    result = []
    one = BF16.one()
    for p, q, r in zip(a, b, c):
        result += [
            F32.mul_add(p, q, r, factors=BF16),
            F32.mul_add(p, q, r, "rm", sat=True, factors=BF16),
            F32.mul_add(p, one, r, "rz", factors=BF16),
            F32.mul_add(q, one, r ^ F32.sign_bit, "rp", factors=BF16),
        ]
    arguments = [str(n), ("u2", a), ("u2", b), ("f4", c), ("f4", [0] * (4 * n), 4)]
    case("bf16", "3", "32", arguments, {4: ("f4", result, 4)})


def f32x2(draw):
    n = 96
    halves = [numbers(draw, 2 * n) for _ in range(3)]
    a, b, c = halves
    a[:6] = [0x00000001, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x3F800001, 0x80000000]
    b[:6] = [0x3F800000, 0x3F7FFFFF, 0x40000000, 0x00000000, 0x3F800001, 0x3F800000]
    c[:6] = [0x00000000, 0x00000000, 0xFF7FFFFF, 0x3F800000, 0xBF800002, 0x00000001]
    result = []
    for p, q, r in zip(a, b, c):
        total = F32.mul_add(p, q, r)
        result.append(F32.mul_add(q, p, total, "rz", ftz=True))

    def packed(values):
        return ("u8", [values[i] | values[i + 1] << 32 for i in range(0, len(values), 2)])

    case("f32x2", "3", "32", [str(n), packed(a), packed(b), packed(c)], {3: packed(result)})


def call(draw):
    n = 64
    x = numbers(draw, n)

    def polynomial(at):
        value = F32.mul_add(F32.mul_add(at, f32(Fraction("0.25")), f32(Fraction("-1.5"))), at, f32(3))
        return value, F32.mul_add(at, at, F32.mul(at, at) ^ F32.sign_bit)

    result = []
    for at in x:
        value, rest = polynomial(at)
        more = f32(1)
        if F32.less(f32(2), value):
            value, more = polynomial(value)
        result.append(F32.add(value, F32.add(rest, more)))
    case("call", "2", "32", [str(n), ("f4", x), ("f4", [0] * n)], {2: ("f4", result)})


def diverge(draw):
    n = 64
    seeds = [draw.randrange(1, 1000) for _ in range(n)]
    lengths, values = [], []
    for at in seeds:
        length, value = 0, f32(1)
        while at != 1:
            if at & 1:
                at = 3 * at + 1
                value = F32.mul_add(value, f32(Fraction("0.75")), f32(Fraction("0.5")))
            else:
                at >>= 1
                for _ in range(length & 3):
                    value = F32.mul_add(value, f32(Fraction("1.0625")), f32(Fraction("-0.25")), "rz")
            length += 1
        lengths.append(length)
        values.append(value)
    arguments = [str(n), ("u4", seeds), ("u4", [0] * n), ("f4", [0] * n)]
    case("diverge", "2", "32", arguments, {2: ("u4", lengths), 3: ("f4", values)})


def old_1_4(draw):
    n = 48
    x, y = numbers(draw, n), numbers(draw, n)
    x[:4] = [0x00000001, 0x00800001, 0x3F800001, 0x80000000]
    y[:4] = [0x3F800000, 0x80000001, 0xBFC00001, 0x00000000]
    result = []
    for p, q in zip(x, y):
        total = mad_sm_1x(p, f32(Fraction("1.5")), q)
        share = mad_sm_1x(total, f32(Fraction("-2.5")), f32(Fraction("0.75")), sat=True)
        result.append(mad_sm_1x(total, share, 0))
    case("old_1_4", "2", "32", [str(n), ("f4", x), ("f4", y)], {2: ("f4", result)})


def old_2_3(draw):
    n = 40
    x = numbers(draw, n)
    x[:3] = [0x00000001, 0x1F000000, 0x80000000]
    table = [f32(Fraction(text)) for text in ("1", "-0.5", "0.25", "-1.5")]
    result = []
    for at in x:
        total = 0
        for k in range(6):
            total = F32.mul_add(at, table[k & 3], total)
            at = F32.mul_add(at, at, f32(Fraction("-0.25")), "rz", ftz=True)
        result.append(total)
    case("old_2_3", "1", "64", [str(n), ("f4", x)], {1: ("f4", result)})


def main():
    kernels = [saxpy, dot, horner, sgemm, dgemm, fir, stencil, nbody, mandelbrot, fft, reduce, histogram, interval]
    kernels += [twosum, softmax, bf16, f32x2, call, diverge, old_1_4, old_2_3, *halves.KERNELS, *narrow.KERNELS]
    kernels += [*calls.KERNELS, *video.KERNELS, *textures.KERNELS, *matrices.KERNELS, *fragments.KERNELS, *wgmma.KERNELS]
    for kernel in kernels:
        # Each has a generator of its own: one that changes leaves the others' data as they are.
        kernel(random.Random(kernel.__name__))
    lines = [json.dumps(entry) for entry in CASES]
    (HERE / "cases.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
