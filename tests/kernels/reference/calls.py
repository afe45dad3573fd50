"""The kernels with calls that return: virtual functions, recursion, the heap, barriers of the grid."""

from fractions import Fraction

from cases import case, numbers
from exact import F32, f32

WORD = 2**32


def virtual(draw):
    n = 60
    x = numbers(draw, n)
    m, b = f32(Fraction("0.1")), f32(Fraction("0.7"))
    parabola = [f32(Fraction(text)) for text in ("1.3", "-0.3", "0.9")]

    def line_at(at):
        return F32.mul_add(m, at, b)

    def parabola_at(at):
        return F32.mul_add(F32.mul_add(parabola[0], at, parabola[1]), at, parabola[2])

    result = []
    for i, at in enumerate(x):
        if i % 3:
            value, slope = line_at(at), m
        else:
            value, slope = parabola_at(at), F32.sub(parabola_at(F32.add(at, f32(1))), parabola_at(at))
        result += [value, slope, F32.mul_add(at, value, slope, ["rz", "rm", "rp"][i % 5 % 3])]
    case("virtual", "2", "32", [str(n), ("f4", x), ("f4", [0] * (3 * n), 3)], {2: ("f4", result, 3)})


def recursive(draw):
    n = 40
    x = numbers(draw, n, 0.0, 3.0)
    half, quarter = f32(Fraction(1, 2)), f32(Fraction(1, 4))

    def curve(at):
        return F32.mul_add(F32.mul_add(at, at, f32(Fraction("-1.25"))), at, f32(Fraction("0.4")))

    def integral(low, high, at_low, at_high, depth):
        """The integral and the number of calls."""
        middle = F32.mul(half, F32.add(low, high))
        at, width, ends = curve(middle), F32.sub(high, low), F32.add(at_low, at_high)
        coarse = F32.mul(width, F32.mul(half, ends))
        fine = F32.mul(width, F32.mul_add(quarter, ends, F32.mul(half, at)))
        if depth == 0 or F32.less(F32.sub(fine, coarse) & 0x7FFFFFFF, f32(Fraction("1e-3"))):
            return fine, 1
        left, calls = integral(low, middle, at_low, at, depth - 1)
        right, more = integral(middle, high, at, at_high, depth - 1)
        return F32.add(left, right), 1 + calls + more

    def even(n, total):
        return total if n == 0 else odd(n - 1, (total * 3 + n) % WORD) ^ n

    def odd(n, total):
        return total ^ (WORD - 1) if n == 0 else (even(n - 1, (total * 5 + n) % WORD) + n) % WORD

    sums, counts = [], []
    for i, at in enumerate(x):
        low = f32(-1)
        value, calls = integral(low, at, curve(low), curve(at), 8)
        sums.append(value)
        counts += [calls, even(i % 20, i)]
    arguments = [str(n), ("f4", x), ("f4", [0] * n), ("u4", [0] * (2 * n), 2)]
    case("recursive", "2", "32", arguments, {2: ("f4", sums), 3: ("u4", counts, 2)})


def heap(draw):
    n = 50
    x, result = numbers(draw, n), []
    for i in range(n):
        total = 0
        for k in reversed(range(i % 7 + 1)):
            total = F32.mul_add(total, f32(Fraction("0.9")), x[(i + 11 * k) % n])
        result.append(total)
    arguments = [str(n), ("f4", x), ("f4", [0] * n), ("i4", [0] * n)]
    case("heap", "2", "32", arguments, {2: ("f4", result), 3: ("i4", [1] * n)})


def grid_sync(draw):
    n, steps = 160, 5
    start = numbers(draw, n)
    old, new = start, [0] * n
    for _ in range(steps):
        for i in range(n):
            share = F32.mul(f32(Fraction(1, 4)), F32.add(old[i], old[(i + 91) % n]))
            new[i] = F32.mul_add(f32(Fraction(1, 2)), old[(i - 37) % n], share)
        old, new = list(new), list(old)
    # After an odd number of steps what is newest stands in the second array.
    arguments = [str(n), str(steps), ("f4", start), ("f4", [0] * n)]
    case("grid_sync", "5", "32", arguments, {2: ("f4", new), 3: ("f4", old)})


KERNELS = [virtual, recursive, heap, grid_sync]
