"""Textures and surfaces: by the images of `images`, with the CUDA C++ Programming Guide's formulas."""

from fractions import Fraction

from cases import case
from exact import F16, F32, f32
from images import Image, Sampler

SPECIAL = [0, 0x80000000, 0x00000001, 0x7F800000, 0xFF800000, 0x7FC00001, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000]
WORD = (1 << 32) - 1


def drawn(draw, dtype, shape, dims, arrayed=False):
    """Any values of an element type; floats are numbers, some of them special."""
    count = 1
    for axis in shape:
        count *= axis
    size, kind = 8 * int(dtype[1]), dtype[0]
    low = -(1 << size - 1) if kind == "i" else 0
    values = []
    for _ in range(count):
        if kind != "f" or draw.random() < 0.05:
            values.append(draw.randrange(low, low + (1 << size)))
        elif size == 32:
            values.append(f32(Fraction(draw.uniform(-2, 2))))
        else:
            values.append(draw.randrange(0x3000, 0x4200) | draw.randrange(2) << 15)
    return Image(dtype, shape, values, dims, arrayed)


def coordinate(draw, low, high):
    if draw.random() < 0.1:
        return draw.choice(SPECIAL)
    if draw.random() < 0.2:
        # Halves between two weights.
        return f32(Fraction(2 * draw.randrange(-512, 2048) + 1, 1024))
    return f32(Fraction(draw.uniform(low, high)))


def textures(draw):
    n = 64
    given = [
        (drawn(draw, "f4", (5, 6, 4), 2), "nearest,border,unnormalized"),
        (drawn(draw, "f4", (4, 7, 4), 2), "linear,repeat/mirror,normalized"),
        (drawn(draw, "u1", (6, 5, 4), 2), "linear,clamp,normalized"),
        (drawn(draw, "f2", (3, 4, 5), 3), "linear,mirror/repeat/clamp,normalized"),
        (drawn(draw, "f4", (3, 4, 5, 2), 2, True), "linear,border,unnormalized"),
        (drawn(draw, "i2", (9,), 1), "linear,clamp"),
        (drawn(draw, "i1", (4, 4, 4), 2), "nearest,repeat,normalized"),
        (drawn(draw, "f4", (50,), 1), ""),
    ]
    at = [coordinate(draw, -2, 7 if axis == 3 else 3) for _ in range(n) for axis in range(4)]
    plane, fine, small, solid, layers, line, integers, linear = (image for image, _ in given)
    modes = [Sampler(words) for _, words in given]
    out, numbers = [], []
    for i in range(n):
        x, y, z, w = p = at[4 * i : 4 * i + 4]
        out += modes[0].sample(plane, p) + modes[1].sample(fine, p) + modes[2].sample(small, p)
        out += modes[3].sample(solid, p)[:1] + [0, 0, 0]
        out += modes[4].sample(layers, p, i % 4)[:2] + modes[5].sample(line, [w])[:1]
        out += linear.read((i - 3,))[:1]
        out += modes[1].gather(fine, p, 2) + modes[0].sample(plane, p) + modes[1].sample(fine, p)
        out += modes[3].sample(solid, [z, y, x])[:1] + [0, 0, 0]
        out += modes[0].sample(plane, [f32(i % 8), f32(i // 8)])
        numbers += modes[6].sample(integers, p, kind="int")
    arguments = [(*image.array(), words) for image, words in given]
    arguments += [("f4", at, 4), ("f4", [0] * len(out), 4), ("i4", [0] * len(numbers), 4)]
    expected = {9: ("f4", out, 4), 10: ("i4", numbers, 4)}
    case("textures", "2", "32", arguments, expected, ["tex, linear filtering"])


def wrapped(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def surfaces(draw):
    wide, moved = drawn(draw, "f4", (6, 7, 4), 2), drawn(draw, "f4", (5, 6, 4), 2)
    small, halves = drawn(draw, "u1", (8, 8, 4), 2), drawn(draw, "u2", (6, 9, 2), 2)
    solid, layers = drawn(draw, "i4", (2, 8, 4), 3), drawn(draw, "i4", (2, 8, 4, 2), 2, True)
    line = drawn(draw, "i2", (20,), 1)
    everything = [wide, moved, small, halves, solid, layers, line]
    arguments = [(image.dtype, list(image.values), image.shape, "") for image in everything]
    sums = []
    for y in range(8):
        for x in range(8):
            texel = wide.read((min(max(x - 2, 0), 6), min(y + 1, 5)))
            moved.write((x - 1, y + 2), [texel[1], texel[0], texel[3], texel[2]])
            a, b, c, d = small.read((x, y), kind="int")
            small.write((x, y), [d, a + 1 & 255, b * 2 & 255, c])
            half = halves.read((x + y, y - 1), kind="int")
            place = solid.place((x & 3, y, x >> 2))
            solid.values[place] = wrapped(solid.values[place] * 3 + x, 32)
            place = layers.place((x & 3, y), x >> 2)
            low, high = layers.values[place : place + 2]
            both = ((low & WORD) | high << 32) * 5 + y
            layers.values[place : place + 2] = [wrapped(both, 32), wrapped(both >> 32, 32)]
            if y == 0:
                line.write((x,), [wrapped(half[0] + x * 7, 16)])
            sums.append(F32.add(texel[0], f32(half[1])))
    line.write((19,), [0x1234])
    arguments.append(("f4", [0] * 64))
    expected = {index: everything[index].array() for index in (1, 2, 4, 5, 6)}
    case("surfaces", "1", "8,8", arguments, expected | {7: ("f4", sums)})


def opaque(draw):
    n = 32
    plane, rows = drawn(draw, "f4", (5, 6, 4), 2), drawn(draw, "f2", (3, 7), 1, True)
    solid = drawn(draw, "i4", (2, 3, 4), 3)
    counts = Image("u4", (4, 4), [draw.randrange(1 << 20) for _ in range(16)], 2)
    marks = drawn(draw, "f2", (20, 4), 1)
    words = {"given": "nearest,repeat,normalized", "own": "linear,border,unnormalized"}
    given, own = Sampler(words["given"]), Sampler(words["own"])
    edge = Sampler("linear,clamp/mirror/clamp,normalized")
    at = [coordinate(draw, -2, 5) for _ in range(2 * n)]
    arguments = {"0": ("f4", at, 2), "1": ("u4", [0] * 16 * n, 16), "2": (*solid.array(), ""), "3": words["own"]}
    arguments |= {"plane": (*plane.array(), "normalized"), "rows": (*rows.array(), ""), "given": words["given"]}
    arguments |= {name: (image.dtype, list(image.values), image.shape, "")
                  for name, image in {"counts": counts, "marks": marks}.items()}
    out = []
    for i in range(n):
        x, y = p = at[2 * i : 2 * i + 2]
        row = edge.sample(plane, p)
        shifted = given.sample(plane, p, offset=(1, -2, 0))
        row += [shifted[0], shifted[3], own.sample(rows, [x], i - 2)[0]]
        row.append(F16.convert(F32, given.sample(plane, [y, x])[1]))
        # Texels are counted: nothing repeats.
        row.append(plane.read((min(max(i - 2, 0), 5), i & 3))[1])
        row.append(given.sample(solid, [x, y, x], kind="int")[0] & WORD)
        row += [6, 3, 4, 4, 0, 0]
        out += row
        column = i & 3
        place = counts.place((column, 0))
        counts.values[place] = counts.values[place] + i & WORD
        place = counts.place((column, 3))
        counts.values[place] = max(counts.values[place], i - 2)
        counts.values[counts.place((column, 1))] += 3
        marks.write((i - 2,), [x, y ^ F32.sign_bit, 0, 0])
    for column in range(4):
        counts.values[counts.place((column, 2))] |= 4096 | 8192
    expected = {"1": ("u4", out, 16), "counts": counts.array(), "marks": marks.array()}
    case("opaque", "1", str(n), arguments, expected, ["tex, linear filtering"])


KERNELS = [textures, surfaces, opaque]
