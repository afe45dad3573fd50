"""Video instructions by the manual's text, on Python's integers. The forms are those of video.cu."""

import re

from cases import HERE, case

RANGES = {(sign, bits): (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1) for sign in (0, 1) for bits in (8, 16, 32)}
COMPARISONS = {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}


def field(word, place, bits, signed):
    value = word >> place * bits & (1 << bits) - 1
    return value - (1 << bits) if signed and value >> bits - 1 else value


def width(selector):
    return {"b": 8, "h": 16}.get(selector[:1], 32)


def read(word, selector, signed):
    return field(word, int(selector[1:] or 0), width(selector), signed)


def clamp(value, signed, bits):
    low, high = RANGES[signed, bits]
    return min(max(value, low), high)


def put(word, value, place, bits):
    mask = (1 << bits) - 1 << place * bits
    return word & ~mask | value << place * bits & mask


def operation(name, words, a, b):
    if name == "vavrg":
        return a + b + 1 >> 1 if a + b >= 0 else a + b >> 1
    if name in ("vshl", "vshr"):
        count = min(b, 32) if "clamp" in words else b % 32
        # 34 bits, by the manual.
        return field(a << count, 0, 34, True) if name == "vshl" else a >> count
    if name == "vset":
        return int(next(compare for word, compare in COMPARISONS.items() if word in words)(a, b))
    return {"vadd": a + b, "vsub": a - b, "vabsdiff": abs(a - b), "vmin": min(a, b), "vmax": max(a, b)}[name]


def scalar(name, words, signs, selectors, a, b, c):
    a, b = read(a, selectors[1], signs[1]), read(b, selectors[2], signs[2])
    result = operation(name, words, a, b)
    into = selectors[0]
    bits = width(into)
    if "sat" in words:
        result = clamp(result, signs[0], bits)
    third = field(c, 0, 32, signs[0])
    if into:
        return put(c, result, int(into[1:]), bits)
    for word, join in (("add", lambda: result + third), ("min", lambda: min(result, third)), ("max", lambda: max(result, third))):
        if word in words:
            return join()
    return result


def multiply_add(words, signs, selectors, negated, a, b, c):
    product = read(a, selectors[1], signs[1]) * read(b, selectors[2], signs[2])
    minus = negated[1] != negated[2]
    signed = signs[1] or signs[2] or minus or negated[3]
    c = field(c, 0, 32, signed)
    total = (-product if minus else product) + (-c if negated[3] else c) + ("po" in words)
    total >>= 7 if "shr7" in words else 15 if "shr15" in words else 0
    return clamp(total, signed, 32) if "sat" in words else total


def lanes(name, words, signs, selectors, count, a, b, c):
    bits = 32 // count
    digits = lambda text: [int(digit) for digit in reversed(text[1:])]
    mask = digits(selectors[0]) if selectors[0] else range(count)
    chosen = [digits(text) if text else range(first, first + count) for text, first in ((selectors[1], 0), (selectors[2], count))]
    both = a | b << 32
    result = c
    for lane in mask:
        value = operation(name, words, field(both, chosen[0][lane], bits, signs[1]), field(both, chosen[1][lane], bits, signs[2]))
        if "sat" in words:
            value = clamp(value, signs[0], bits)
        result = result + value if "add" in words else put(result, value, lane, bits)
    return result


def value(form, a, b, c):
    opcode, rest = form.rstrip(";").split(" ", 1)
    name, *words = opcode.split(".")
    signs = [word == "s32" for word in words if word in ("s32", "u32")]
    if name.startswith("vset"):
        signs = [False, *signs]
    operands = [re.fullmatch(r"(-?)%\d(?:\.(\w+))?", text.strip()).groups() for text in rest.split(",")]
    negated, selectors = [minus == "-" for minus, _ in operands], [selector or "" for _, selector in operands]
    if name == "vmad":
        result = multiply_add(words, signs, selectors, negated, a, b, c)
    elif name[-1] in "24":
        result = lanes(name[:-1], words, signs, selectors, int(name[-1]), a, b, c)
    else:
        result = scalar(name, words, signs, selectors, a, b, c)
    return result & 0xFFFFFFFF


def video(draw):
    forms = re.findall(r'FORM\("(.*?)"\)', (HERE / "video.cu").read_text())
    edges = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F807F80, 0x80FF8000, 0x00FF0100]
    words = [(a, b) for a in edges for b in edges] + [(draw.getrandbits(32), draw.getrandbits(32)) for _ in range(60)]
    # Shifts by few bits.
    words += [(draw.getrandbits(32), draw.getrandbits(5)) for _ in range(4)]
    x, y = [a for a, _ in words], [b for _, b in words]
    z = [draw.choice(edges) if draw.random() < 0.5 else draw.getrandbits(32) for _ in words]
    result = [value(form, *operands) for form in forms for operands in zip(x, y, z)]
    arguments = [("u4", x), ("u4", y), ("u4", z), ("u4", [0] * len(result), len(words))]
    case("video", "1", str(len(words)), arguments, {3: ("u4", result, len(words))})


KERNELS = [video]
