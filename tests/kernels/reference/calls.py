"""The kernels with calls that return, the heap, barriers of the grid and in memory, matrices spread over a warp."""

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


def pipeline(draw):
    tiles, tile = 7, 64
    x = numbers(draw, tiles * tile)
    result = [0] * tile
    for start in range(0, tiles * tile, tile):
        part = x[start : start + tile]
        result = [F32.mul_add(part[t], part[tile - 1 - t], result[t]) for t in range(tile)]
    case("pipeline", "1", "64", [str(tiles), ("f4", x), ("f4", [0] * tile)], {2: ("f4", result)})


def spread(matrix):
    """The words of a warp's lanes that hold a matrix."""
    pairs = [(lane // 4, 2 * (lane % 4)) for lane in range(32)]
    return [matrix[row][column] | matrix[row][column + 1] << 16 for row, column in pairs]


def transposed(matrix):
    return [list(column) for column in zip(*matrix)]


def matrix_moves(draw):
    x = [draw.randrange(1 << 16) for _ in range(256)]
    in_memory = [[x[64 * m + 8 * row : 64 * m + 8 * row + 8] for row in range(8)] for m in range(4)]
    # The lane of each row names another one.
    named = [[in_memory[m][(8 * m + lane) * 3 % 8] for lane in range(8)] for m in range(4)]
    turned = [transposed(matrix) for matrix in named]
    words = [spread(matrix) for matrix in (*named, *turned, turned[0], turned[1], named[0], turned[1])]
    stored = [[None] * 8 for _ in range(4)]
    for m, held in enumerate((named[0], turned[1], named[2], turned[3])):
        for lane, row in enumerate(transposed(held)):
            stored[m][(8 * m + lane) * 5 % 8] = row
    back = [value for matrix in stored for row in matrix for value in row]
    lanes = [word for held in words for word in held]
    arguments = [("u2", x), ("u4", [0] * len(lanes), 32), ("u2", [0] * 256)]
    case("matrix_moves", "1", "32", arguments, {1: ("u4", lanes, 32), 2: ("u2", back)})


def async_reduce(draw):
    x = [draw.getrandbits(32) for _ in range(96)]
    signed = [value - (1 << 32) if value >> 31 else value for value in x]
    both, either, odd = ~0, 0, 0
    for value in x:
        both, either, odd = both & value, either | value, odd ^ value
    result = [value & 0xFFFFFFFF for value in (sum(x), min(x), max(0, *signed), both, either, odd)]
    total = sum(value * 0x100000001 for value in x) & (1 << 64) - 1
    case("async_reduce", "1", "96", [("u4", x), ("u4", [0] * 6), ("u8", [0])], {1: ("u4", result), 2: ("u8", [total])})


def carry_less(draw):
    mask = (1 << 64) - 1
    x, y, low, high = ([draw.choice((0, 1, mask, 1 << 63)) if draw.random() < 0.2 else draw.getrandbits(64) for _ in range(64)] for _ in range(4))
    products = []
    for a, b in zip(x, y):
        product = 0
        for place, digit in enumerate(f"{b:064b}"):
            product ^= a << 63 - place if digit == "1" else 0
        products.append(product)
    results = [[p & mask ^ c for p, c in zip(products, low)], [p >> 64 ^ c for p, c in zip(products, high)]]
    case("carry_less", "1", "64", [("u8", x), ("u8", y), ("u8", low), ("u8", high)], {2: ("u8", results[0]), 3: ("u8", results[1])})


KERNELS = [virtual, recursive, heap, grid_sync, pipeline, matrix_moves, async_reduce, carry_less]
