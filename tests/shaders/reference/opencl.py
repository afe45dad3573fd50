"""References of OpenCL C's library: what `shaders.py` records of the kernels that call it."""

from decimal import Decimal, getcontext
from fractions import Fraction

from cases import numbers
from exact import F16, F32, f32

LONG = (1 << 64) - 1
WORD = (1 << 32) - 1


def number(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> bits - 1 else value


def kinds(x, y, z, bits, signed):
    """The sixteen results for one type, each converted to an unsigned long."""
    a, b, c = (number(value, bits, signed) for value in (x, y, z))
    ones = (1 << bits) - 1
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, ones)

    def inside(value):
        return min(max(value, low), high)

    pattern, turn = a & ones, b % bits
    binary = f"{pattern:0{bits}b}"
    results = [abs(a - b), inside(a + b), inside(a - b), a + b >> 1, a + b + 1 >> 1, a * b >> bits, (a * b >> bits) + c]
    results += [inside(a * b + c), int(binary[turn:] + binary[:turn], 2), len(binary) - len(binary.lstrip("0"))]
    results += [len(binary) - len(binary.rstrip("0")), binary.count("1"), abs(a)]
    results += [None, min(max(a, min(b, c)), max(b, c))]
    results += [int("".join(q if s == "1" else p for p, q, s in zip(*(f"{n & ones:0{bits}b}" for n in (a, b, c)))), 2)]
    # abs_diff and abs give the unsigned type.
    unsigned = (0, 12)
    longs = [v if v is None else number(v, bits, signed and k not in unsigned) & LONG for k, v in enumerate(results)]
    longs[13] = (min(a, b) & LONG) ^ (max(b, c) & LONG)
    return longs


def integers_cl(draw):
    n = 64
    edges = [0, 1, LONG, 1 << 63, (1 << 63) - 1, 0x8000000080008080, 0x7FFFFFFF7FFF7F7F, 0xFF, 0x80, 0x100000000]
    data = [draw.choice(edges) if draw.random() < 0.4 else draw.getrandbits(64) for _ in range(3 * n)]
    vectors = [draw.getrandbits(32) for _ in range(3 * n)]
    results, after = [], []
    for i in range(n):
        x, y, z = data[3 * i : 3 * i + 3]
        for bits in (8, 16, 32, 64):
            results += kinds(x, y, z, bits, True) + kinds(x, y, z, bits, False)
        p, q = vectors[3 * i : 3 * i + 3], [value & WORD for value in (x, y, z)]
        chosen = [b if (a ^ b) >> 31 else a for a, b in zip(p, q)]
        both = p + [7] + q + [9]
        shuffled = [both[index & 7] for index in (p[0], q[1], p[2], q[0])]
        turned = [kinds(a, b, 0, 32, False)[8] for a, b in zip(chosen, q)]
        v = [a + b for a, b in zip(turned, shuffled)]
        v[1] += (q[1] if q[2] & 1 else q[0]) + ((x & 0xFFFF) << 16 | y & 0xFFFF) + shuffled[3]
        v[1] += number((y & 0xFF) << 8 | z & 0xFF, 16, True)
        v[2] = (v[2] & WORD) ^ (q[0] + (x & 0xFFFF) * (y & 0xFF)) & WORD
        after += [value & WORD for value in v]
    arguments = {"0": ("u8", data, 3), "1": ("u8", [0] * (128 * n), 128), "2": ("u4", vectors, 3)}
    return arguments, {"1": ("u8", results, 128), "2": ("u4", after, 3)}, {"block": 32, "determined": True}


def magnitude(bits):
    return bits & ~F32.sign_bit


def extremum(a, b, larger):
    """fmax and fmin: of a NaN and a number the number, -0 below +0."""
    if F32.is_nan(a) or F32.is_nan(b):
        return F32.nan if F32.is_nan(a) and F32.is_nan(b) else b if F32.is_nan(a) else a
    key = lambda bits: -1 - magnitude(bits) if bits & F32.sign_bit else bits  # noqa: E731
    return (max if larger else min)(a, b, key=key)


def by_magnitude(a, b, larger):
    if F32.is_nan(a) or F32.is_nan(b) or magnitude(a) == magnitude(b):
        return extremum(a, b, larger)
    return a if (magnitude(a) > magnitude(b)) == larger else b


def order(bits):
    """A number's place among all, -0 and +0 the same."""
    return -magnitude(bits) if bits & F32.sign_bit else bits


def nextafter(a, b):
    if F32.is_nan(a) or F32.is_nan(b):
        return F32.nan
    if order(a) == order(b):
        return b
    place = order(a) + (1 if order(b) > order(a) else -1)
    if place == 0:
        return a & F32.sign_bit
    return place if place > 0 else F32.sign_bit | -place


def exponent(value):
    """The e with 2^e <= |value| < 2^(e + 1)."""
    magnitude, e = abs(value), 0
    while magnitude >= 2:
        magnitude, e = magnitude / 2, e + 1
    while magnitude < 1:
        magnitude, e = magnitude * 2, e - 1
    return e


def remainder(a, b):
    """The bits, and seven bits of the quotient with its sign."""
    if F32.is_nan(a) or F32.is_nan(b) or F32.is_infinite(a) or not magnitude(b):
        return F32.nan, 0
    if F32.is_infinite(b):
        return a, 0
    x, y = F32.value(a), F32.value(b)
    whole = (x / y).__round__()  # ties to even
    rest = x - whole * y
    bits = F32.round(rest) if rest else a & F32.sign_bit
    quotient = abs(whole) & 127
    return bits, -quotient if (x < 0) != (y < 0) else quotient


def split(a):
    """frexp, fract and its whole part, logb, ilogb."""
    if F32.is_nan(a):
        return (a, 0), (F32.nan, None), F32.nan, -(1 << 31)
    if F32.is_infinite(a):
        return (a, 0), (a & F32.sign_bit, a), F32.infinity, (1 << 31) - 1
    value = F32.value(a)
    if not value:
        return (a, 0), (a, a), F32.infinity | F32.sign_bit, -(1 << 31)
    e = exponent(value)
    whole = value.__floor__()
    rest = F32.round(value - whole) if value != whole else 0
    rest = min(rest, F32.one() - 1)
    whole = F32.round(Fraction(whole)) if whole else 0
    return (F32.round(value / Fraction(2) ** (e + 1)), e + 1), (rest, whole), f32(e) if e else 0, e


def sine(x):
    """Of a Decimal, by its series."""
    total, term, k = Decimal(0), x, 1
    while abs(term) > Decimal(10) ** -70:
        total += term
        term = -term * x * x / ((k + 1) * (k + 2))
        k += 2
    return total


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def rounded(value):
    return F32.round(Fraction(value)) if value else 0


def cube_root(x):
    if not x:
        return Decimal(0)
    root = (abs(x).ln() / 3).exp()
    for _ in range(3):
        root -= (root**3 - abs(x)) / (3 * root * root)
    return root if x > 0 else -root


def of_half_turns(value, cosine):
    """sin and cos of pi times a rational."""
    if cosine:
        value = value + Fraction(1, 2)
    value %= 2
    sign = 1
    if value >= 1:
        value, sign = value - 1, -1
    value = min(value, 1 - value)
    return sign * sine(PI * decimal(value)) if value else Decimal(0)


def approximated(s, t, i):
    x, y = decimal(F32.value(s)), decimal(F32.value(t))
    zero = t & F32.sign_bit
    sin_pi = rounded(of_half_turns(F32.value(t), False))
    results = [rounded((y * Decimal(10).ln()).exp()), rounded(x.log10()), rounded(y.exp() - 1), rounded((1 + x).ln())]
    results += [rounded(cube_root(y)), rounded((x * x + y * y).sqrt()), sin_pi]
    results += [rounded(of_half_turns(F32.value(t), True)), rounded(sine(y)), rounded(sine(PI / 2 - y))]
    power = i % 7 - 3
    value = F32.value(s) ** power
    results.append(F32.round(value))
    return [bits or zero if k in (2, 4, 6, 8) else bits for k, bits in enumerate(results)]


def floats_cl(draw):
    getcontext().prec = 90
    n = 64
    normal = F32.smallest_normal
    edges = [0, 1, normal - 1, normal, F32.one(), F32.one() + 1, 0x3F000000, 0x4B000001, 0x7F7FFFFF, F32.infinity]
    edges += [bits | F32.sign_bit for bits in edges] + [0x7FC12345, 0xFF800001 | 0x400000]
    near = numbers(draw, 4 * n, -3, 8)
    data = [draw.choice(edges) if draw.random() < 0.4 else draw.choice(near) for _ in range(2 * n)]
    halves, results, approximate = [], [], []
    degree, radian = rounded(180 / PI), rounded(PI / 180)
    for i in range(n):
        x, y = data[2 * i : 2 * i + 2]
        (significand, power), (rest, whole), log, ilog = split(x)
        whole = F32.nan if whole is None else whole
        row = [rest, whole]
        if F32.is_nan(x) or F32.is_nan(y):
            row.append(F32.nan)
        else:
            row.append(F32.sub(x, y) if order(x) > order(y) else 0)
        row += [by_magnitude(x, y, True), by_magnitude(x, y, False), nextafter(x, y), log, ilog & WORD]
        left, quotient = remainder(x, y)
        row += [left, left, quotient & WORD, F32.infinity | 1 << 22 | y & (1 << 23) - 1]
        row += [F32.mul(x, degree), F32.mul(y, radian)]
        two, one = f32(2), F32.one()
        pairs = [(y, x, one, two), (one, y, x, x), (x, two, y, y)]
        row += [F32.sub(F32.mul(p, q), F32.mul(r, s)) for p, q, r, s in pairs] + [0]
        row += [y if x & 1 else x, (x & 0xFF00FF00) | (y & 0x00FF00FF), significand, power & WORD]
        pair = [F16.convert(F32, x, "rz"), F16.convert(F32, y)]
        halves += pair
        wide = [F32.nan if F16.is_nan(half) else F32.convert(F16, half) for half in pair]
        squares = [F32.mul(value, value) for value in wide]
        total = F32.add(*squares)
        special = F32.is_nan(total) or F32.is_infinite(total)
        row += [wide[1], total if special else F32.sqrt(total)]
        results += row
        s = F32.round(Fraction(1, 8) + Fraction(x & 0xFFFFF, 1 << 17))
        high = number(y, 32, True) >> 16
        t = F32.round(Fraction(high, 1 << 12)) if high else 0
        approximate += approximated(s, t, i)
    arguments = {"0": ("f4", data, 2), "1": ("u4", [0] * (24 * n), 24), "2": ("f4", [0] * (11 * n), 11)}
    arguments |= {"3": ("f2", [0] * (2 * n), 2)}
    expected = {"1": ("u4", results, 24), "2": ("f4", approximate, 11), "3": ("f2", halves, 2)}
    names = ["cbrt", "cospi", "exp10", "expm1", "hypot", "log10", "log1p", "pown", "sincos", "sinpi"]
    return arguments, expected, {"block": 32, "approximate": [f"OpenCL.std {name}" for name in names]}
