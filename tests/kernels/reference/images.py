"""Images by exact rationals: what a texel's bits mean, which texels a coordinate takes and with which weights.

The formulas are those of the CUDA C++ Programming Guide ("Texture Fetching"), of the Vulkan specification ("Image
Operations") and of OpenCL C ("Image Addressing and Filtering"). What they leave open is decided so: a weight is rounded
to the nearest multiple of 1/256, a half up, and the sum of the texels is rounded once.
"""

from fractions import Fraction
from math import floor

from exact import F16, F32

HALF = Fraction(1, 2)
FLOATS = {"f2": F16, "f4": F32}


class Image:
    """An array as an image of so many dimensions, with layers or without. The values of floats are their bits."""

    def __init__(self, dtype, shape, values, dims, arrayed=False):
        self.dtype, self.shape, self.values, self.arrayed = dtype, shape, list(values), arrayed
        coordinates = dims + arrayed
        self.channels = shape[coordinates] if len(shape) > coordinates else 1
        self.layers = shape[0] if arrayed else 1
        self.size = tuple(reversed(shape[int(arrayed) : coordinates]))

    def array(self):
        return self.dtype, self.values, self.shape

    def place(self, at, layer=0):
        """The number of a texel's first component; None outside."""
        if not all(0 <= place < size for place, size in zip(at, self.size)) or not 0 <= layer < self.layers:
            return None
        number = layer
        for place, size in reversed(list(zip(at, self.size))):
            number = number * size + place
        return number * self.channels

    def component(self, value, kind):
        """As a register has it: the bits of an f32, or an integer."""
        if kind == "int":
            return value
        if self.dtype in FLOATS:
            return F32.convert(FLOATS[self.dtype], value) if self.dtype != "f4" else value
        bits = 8 * int(self.dtype[1])
        top = (1 << bits - 1) - 1 if self.dtype[0] == "i" else (1 << bits) - 1
        return F32.from_number(max(Fraction(value, top), Fraction(-1)))

    def texel(self, place, kind="float", border=None):
        """Four components of the texel at a place; the border's colour where that is None."""
        one = F32.one() if kind == "float" else 1
        if place is None:
            colour = {"black": [0, 0, 0, one], "white": [one] * 4}.get(border, [0] * 4)
            found = colour[: self.channels]
        else:
            found = [self.component(value, kind) for value in self.values[place : place + self.channels]]
        return found + [0, 0, 0, one][self.channels :]

    def read(self, at, layer=0, kind="float"):
        """A texel; zeros outside."""
        place = self.place(at, layer)
        return [0] * 4 if place is None else self.texel(place, kind)

    def stored(self, value):
        """A register's value as a component."""
        if self.dtype in FLOATS:
            return FLOATS[self.dtype].convert(F32, value) if self.dtype != "f4" else value
        bits = 8 * int(self.dtype[1])
        signed = self.dtype[0] == "i"
        return min(max(value, -(1 << bits - 1) if signed else 0), (1 << bits - signed) - 1)

    def normalized(self, value):
        """An f32 as a normalized integer."""
        bits = 8 * int(self.dtype[1])
        signed = self.dtype[0] == "i"
        top = (1 << bits - signed) - 1
        if F32.is_nan(value):
            return 0
        if F32.is_infinite(value):
            number = Fraction(-1 if value >> 31 else 1)
        else:
            number = F32.value(value)
        number = min(max(number, Fraction(-1 if signed else 0)), Fraction(1)) * top
        # Python rounds halves to even.
        return round(number)

    def write(self, at, values, layer=0, normalized=False):
        place = self.place(at, layer)
        if place is not None:
            convert = self.normalized if normalized else self.stored
            for index in range(self.channels):
                self.values[place + index] = convert(values[index])


class Sampler:
    def __init__(self, words):
        self.words = words
        words = words.split(",")
        self.linear, self.normalized = "linear" in words, "normalized" in words
        modes = [word for word in words if word.split("=")[0].split("/")[0] in ("clamp", "border", "repeat", "mirror")]
        modes = (modes or ["clamp"])[0].split("/")
        self.modes = [modes[min(axis, len(modes) - 1)] for axis in range(3)]
        self.border = next((mode.split("=")[1] for mode in self.modes if "=" in mode), None)

    def address(self, axis, i, size):
        """The Vulkan specification's "Texel Coordinate Systems", "Wrapping Operation"."""
        mode = self.modes[axis]
        if mode == "repeat":
            return i % size
        if mode == "mirror":
            n = i % (2 * size) - size
            return size - 1 - (n if n >= 0 else -(1 + n))
        if mode == "clamp":
            return min(max(i, 0), size - 1)
        return i

    def unnormalized(self, axis, bits, size):
        repeats = self.modes[axis] in ("repeat", "mirror")
        if F32.is_nan(bits) or F32.is_infinite(bits) and repeats:
            return Fraction(0)
        if F32.is_infinite(bits):
            return Fraction(-(1 << 80) if bits >> 31 else 1 << 80)
        return F32.value(bits) * (size if self.normalized else 1)

    def sample(self, image, coordinates, layer=0, kind="float", offset=(0, 0, 0)):
        axes = []
        for axis, (bits, size) in enumerate(zip(coordinates, image.size)):
            u = self.unnormalized(axis, bits, size)
            if not self.linear:
                axes.append([(self.address(axis, floor(u) + offset[axis], size), Fraction(1))])
                continue
            t = Fraction(floor((u - HALF) * 256 + HALF), 256)
            lower, alpha = floor(t), t - floor(t)
            near = [self.address(axis, lower + step + offset[axis], size) for step in (0, 1)]
            axes.append([(near[0], 1 - alpha), (near[1], alpha)])
        layer = min(max(layer, 0), image.layers - 1)
        terms = [((), Fraction(1))]
        for axis in axes:
            terms = [(at + (place,), weight * part) for at, weight in terms for place, part in axis]
        texels = [(image.texel(image.place(at, layer), kind, self.border), weight) for at, weight in terms if weight]
        if not self.linear:
            return texels[0][0]
        return [self.sum([(texel[index], weight) for texel, weight in texels]) for index in range(4)]

    @staticmethod
    def sum(terms):
        signs = {bits >> 31 for bits, _ in terms if F32.is_infinite(bits)}
        if any(F32.is_nan(bits) for bits, _ in terms) or len(signs) == 2:
            return F32.nan
        if signs:
            return F32.infinity | signs.pop() << 31
        total = sum(F32.value(bits) * weight for bits, weight in terms)
        if total:
            return F32.round(total)
        return F32.sign_bit if all(bits == F32.sign_bit for bits, _ in terms) else 0

    def gather(self, image, coordinates, component):
        near = []
        for axis, (bits, size) in enumerate(zip(coordinates, image.size)):
            lower = floor(self.unnormalized(axis, bits, size) - HALF)
            near.append([self.address(axis, lower + step, size) for step in (0, 1)])
        corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
        places = [image.place((near[0][x], near[1][y])) for x, y in corners]
        return [image.texel(place, "float", self.border)[component] for place in places]
