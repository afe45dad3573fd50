"""Images and samplers in shaders and OpenCL kernels."""

from fractions import Fraction

from exact import F32, f32
from images import Image, Sampler

WORD = (1 << 32) - 1
SPECIAL = [0, 0x80000000, 0x00000001, 0x7F800000, 0xFF800000, 0x7FC00001, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000]


def floats(draw, count, low, high):
    return [f32(Fraction(draw.uniform(low, high))) for _ in range(count)]


def bits(draw, dtype, count):
    """Any values of an element type; of floats numbers, some of them special."""
    size, kind = 8 * int(dtype[1]), dtype[0]
    if kind == "f":
        top = 1 << size
        return [draw.randrange(top) if draw.random() < 0.2 else
                (f32(Fraction(draw.uniform(-2, 2))) if size == 32 else draw.randrange(0x3400, 0x4200))
                for _ in range(count)]
    low = -(1 << size - 1) if kind == "i" else 0
    return [draw.randrange(low, low + (1 << size)) for _ in range(count)]


def filled(draw, dtype, shape, dims, arrayed=False):
    count = 1
    for axis in shape:
        count *= axis
    return Image(dtype, shape, bits(draw, dtype, count), dims, arrayed)


def flushed(texel):
    return [F32.flush(value) for value in texel]


def images(draw):
    wide = Image("f4", (7, 15, 4), bits(draw, "f4", 7 * 15 * 4), 2)
    narrow = filled(draw, "f2", (8, 16), 2)
    eight = filled(draw, "u1", (8, 16, 4), 2)
    signs = filled(draw, "i2", (8, 16, 2), 2)
    counts = filled(draw, "u4", (5,), 1)
    solid = filled(draw, "i1", (8, 4, 4, 4), 3)
    layers = filled(draw, "f4", (2, 8, 16), 2, True)
    flat = filled(draw, "u4", (120, 2), 1)
    free = filled(draw, "f2", (8, 12, 2), 2)
    several = [filled(draw, "i4", (5 + k, 14), 2) for k in range(3)]
    everything = {"0.0": wide, "0.1": narrow, "0.2": eight, "0.3": signs, "0.4": counts, "0.5": solid, "0.6": layers,
                  "0.7": flat, "0.8": free} | {f"0.9[{k}]": image for k, image in enumerate(several)}
    arguments = {name: (image.dtype, list(image.values), image.shape) for name, image in everything.items()}
    three, half = f32(3), f32(Fraction(1, 2))
    bucket = counts.values[0]
    for y in range(8):
        for x in range(16):
            place = y * 16 + x
            texel = wide.read((x - 1, y))
            narrow.write((x, y), [F32.mul(value, three, ftz=True) for value in texel])
            eight.write((x, y), texel, normalized=True)
            signs.write((x, y), [value ^ F32.sign_bit for value in texel], normalized=True)
            free.write((x, y), [F32.add(a, b, ftz=True) for a, b in zip(texel, free.read((x, y)))])
            counts.values[x & 3] = counts.values[x & 3] + place & WORD
            counts.values[4] = max(counts.values[4], place)
            cell = (x & 3, x >> 2, y)
            found = solid.read(cell, kind="int")
            solid.write(cell, [a * b for a, b in zip(found, (1, 2, -3, 100))])
            other = layers.read((x, y), 1 - (place & 1))
            layers.write((x, y), [F32.add(value, half, ftz=True) for value in other], place & 1)
            pair = flat.read((place,), kind="int")
            flat.write((place,), [pair[1], pair[0]])
            several[place % 3].write((x, y), [place])
    sizes = [15, 7, 16, 8, 5, 4, 4, 8, 16, 8, 2, 120, 14, 7, 0, 0]
    arguments["0.10"] = ("i4", [0] * 16)
    expected = {name: image.array() for name, image in everything.items()}
    sizes[14] = bucket - (1 << 32) if bucket >> 31 else bucket
    expected["0.10"] = ("i4", sizes)
    return arguments, expected, {"grid": "2,2"}


MODES = ["nearest,repeat,normalized", "linear,repeat/mirror,normalized", "linear,clamp,normalized",
         "linear,border=white,unnormalized", "nearest,mirror/border=black,normalized", "linear,border,normalized"]


def samplers(draw):
    n = 64
    plane = filled(draw, "f4", (5, 7, 4), 2)
    solid, line = filled(draw, "f2", (3, 4, 5, 2), 3), filled(draw, "i1", (9,), 1)
    layers = filled(draw, "f4", (3, 4, 6, 4), 2, True)
    integers, eight = filled(draw, "i2", (4, 4, 2), 2), filled(draw, "u1", (6, 5, 4), 2)
    words = {"solid": "linear,mirror/clamp/repeat,normalized", "line": "linear,border=black,unnormalized",
             "layers": "linear,clamp,normalized", "integers": "nearest,repeat,normalized",
             "bytes": "linear,repeat,normalized"}
    at = []
    for i in range(n):
        x, y, z = (draw.choice(SPECIAL) if draw.random() < 0.15 else floats(draw, 1, -1.5, 2.5)[0] for _ in range(3))
        if i % 8 == 0:
            # Halves between two weights.
            x, y = (f32(Fraction(2 * draw.randrange(-512, 2048) + 1, 1024)) for _ in range(2))
        at += [x, y, f32(draw.randrange(0, 8)), f32(draw.randrange(0, 6))] if i % 2 else [x, y, z, floats(draw, 1, -2, 4)[0]]
        if i % 2 == 0:
            at[-2:] = [floats(draw, 1, 0, 7)[0], floats(draw, 1, 0, 5)[0]]
    modes = [Sampler(mode) for mode in MODES]
    known = {name: Sampler(word) for name, word in words.items()}
    planes, rest, numbers = [], [], []
    for i in range(n):
        x, y, z, w = p = at[4 * i : 4 * i + 4]
        for mode in modes:
            planes += mode.sample(plane, p)
        layer = round(F32.value(w))
        whole = [int(F32.value(value)) for value in (z, w)]
        rest += known["solid"].sample(solid, p) + known["line"].sample(line, p)
        rest += known["layers"].sample(layers, p, layer) + known["bytes"].sample(eight, p)
        rest += modes[1].gather(plane, p, 1) + modes[2].sample(plane, p, offset=(2, -3, 0))
        rest += plane.read(whole) + eight.read((whole[0] + 1, whole[1] - 1))
        numbers += known["integers"].sample(integers, p, kind="int") + [6, 4, 3, 1]
    arguments = {"0.0": plane.array()}
    arguments |= {f"0.1[{k}]": mode for k, mode in enumerate(MODES)}
    arguments |= {"0.7": (*solid.array(), words["solid"]), "0.8": (*line.array(), words["line"]),
                  "0.9": (*layers.array(), words["layers"]), "0.10": (*integers.array(), words["integers"]),
                  "0.11": (*eight.array(), words["bytes"]), "1.0": ("f4", at, 4),
                  "1.1": ("f4", [0] * len(planes), 4), "1.2": ("f4", [0] * len(rest), 4),
                  "1.3": ("i4", [0] * len(numbers), 4)}
    expected = {"1.1": ("f4", planes, 4), "1.2": ("f4", rest, 4), "1.3": ("i4", numbers, 4)}
    return arguments, expected, {"approximate": ["OpImageSampleExplicitLod, linear filtering"]}


def images_cl(draw):
    n = 32
    picture, result = filled(draw, "u1", (8, 8, 4), 2), filled(draw, "f2", (4, 8, 4), 2)
    layers, solid = filled(draw, "f4", (3, 8, 8, 4), 2, True), filled(draw, "i1", (2, 4, 4, 4), 3)
    line = filled(draw, "u2", (n, 2), 1)
    given = "linear,border,unnormalized"
    fixed, edge, own = (Sampler(words) for words in
                        ("linear,mirror,normalized", "nearest,border,unnormalized", given))
    x = floats(draw, 2 * n, -1.5, 1.5)
    everything = {"picture": picture, "result": result, "layers": layers, "solid": solid, "line": line}
    arguments = {name: (image.dtype, list(image.values), image.shape) for name, image in everything.items()}
    out = []
    eight = f32(8)
    for i in range(n):
        at = x[2 * i : 2 * i + 2]
        scaled = [F32.mul(value, eight) for value in at]
        whole = [int(F32.value(value)) for value in scaled]
        out += fixed.sample(picture, at) + edge.sample(picture, [f32(value) for value in whole])
        out += own.sample(picture, scaled)
        out += own.sample(layers, scaled, round(F32.value(F32.mul(at[0], f32(2)))))
        out += picture.read((i & 7, i >> 3))
        cell = (i & 3, i >> 2 & 3, i >> 4)
        out += [f32(value) for value in solid.read(cell, kind="int")]
        result.write((i & 7, i >> 3), at + [F32.mul(value, f32(-2)) for value in at])
        solid.write(cell, [whole[0] * 40, whole[1] * 40, -whole[0], -whole[1]])
        line.write((i,), [i, i * 3])
    arguments |= {"given": given, "x": ("f4", x), "out": ("f4", [0] * len(out), 4), "sizes": ("i4", [0] * 4)}
    expected = {name: everything[name].array() for name in ("result", "solid", "line")}
    expected |= {"out": ("f4", out, 4), "sizes": ("i4", [8, 8, 2, 3])}
    names = ["picture", "result", "given", "layers", "solid", "line", "x", "out", "sizes"]
    arguments, expected = ({str(names.index(name)): value for name, value in found.items()}
                           for found in (arguments, expected))
    more = {"grid": "2", "block": 16, "approximate": ["OpImageSampleExplicitLod, linear filtering"]}
    return arguments, expected, more
