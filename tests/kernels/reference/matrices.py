"""`mma.sync` and `wmma`: every lane's registers, bit for bit, by machine.

The PTX of these is written here too: one kernel runs a list of instructions, each on registers of its own.
"""

import blocksum
from cases import HERE, case
from exact import F64, f64

WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "e2m1": 4}
HEAD = """// Made by reference/matrices.py.
.version {version}
.target {target}
.address_size 64

"""


class Multiply:
    """An instruction: its shape and types, its spelling, and what stands behind the operands c."""

    def __init__(self, shape, a, b, c, d, layouts=("row", "col"), extra="", scale=None, selectors=None, rounding=""):
        self.m, self.n, self.k = shape
        self.a, self.b, self.c, self.d, self.layouts = a, b, c, d, layouts
        self.scale, self.selectors, self.rounding = scale, selectors, rounding
        name = f"m{self.m}n{self.n}k{self.k}.{layouts[0]}.{layouts[1]}"
        types = f".{d}.{a}.{b}.{c}" + (f".{scale[0]}" if scale else "")
        direction = f".{rounding}" if rounding else ""
        self.spelling = f"mma.sync.aligned{extra}.{name}{direction}{types}"
        # Eight lanes, a quad and the one 16 lanes further, have matrices of their own.
        self.pairs = 4 if (self.k, a) == (4, "f16") else 1

    def counts(self):
        """Registers of a, b, c and d."""
        sizes = [(self.a, self.m * self.k), (self.b, self.k * self.n), (self.c, self.m * self.n), (self.d, self.m * self.n)]
        return [max(1, self.pairs * size * WIDTHS[kind] // 32 // max(32, WIDTHS[kind])) for kind, size in sizes]

    def holder(self, matrix, row, column, pair=0):
        """The lane that holds an element, and its number among the lane's."""
        if self.pairs == 4:
            return self.pair_holder(matrix, row, column, pair)
        kind = {"a": self.a, "b": self.b, "c": self.c, "d": self.d}[matrix]
        each = max(32, WIDTHS[kind]) // WIDTHS[kind]
        if matrix == "a":
            register = row // 8 + (1 if self.m == 8 else 2) * (column // (4 * each))
            return row % 8 * 4 + column // each % 4, register * each + column % each
        if matrix == "b":
            return column * 4 + row // each % 4, row // (4 * each) * each + row % each
        return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2

    def pair_holder(self, matrix, row, column, pair):
        if matrix in "cd" and {"c": self.c, "d": self.d}[matrix] == "f32":
            lane = row % 2 + 2 * (column // 2 % 2) + (16 if row > 3 else 0)
            return 4 * pair + lane, row // 2 % 2 * 2 + column // 4 * 4 + column % 2
        # Of eight lines the first four are the quad's, the others those of the lanes 16 further.
        if matrix == "a" and self.layouts[0] == "col":
            line, lane, within = row, column, row % 4
        elif matrix == "b" and self.layouts[1] == "row":
            line, lane, within = column, row, column % 4
        elif matrix == "b":
            line, lane, within = column, column % 4, row
        else:
            line, lane, within = row, row % 4, column
        return 4 * pair + lane + (16 if line > 3 else 0), within


def pack(multiply, matrix, kind, values):
    """The words of a warp's registers, register by register, from matrices of elements."""
    width, registers = WIDTHS[kind], multiply.counts()["abcd".index(matrix)]
    words = [[0] * 32 for _ in range(registers * max(1, width // 32))]
    for pair, lines in enumerate(values):
        for row, line in enumerate(lines):
            for column, bits in enumerate(line):
                lane, element = multiply.holder(matrix, row, column, pair)
                low = element * width
                words[low // 32][lane] |= (bits & 0xFFFFFFFF) << low % 32
                if width == 64:
                    words[low // 32 + 1][lane] |= bits >> 32
    return words


def number(draw, kind, exponents):
    """A number of a format whose exponent is near that of one."""
    form = blocksum.FACTORS.get(kind)
    if kind == "f64":
        return f64(draw.uniform(-2, 2) * 2.0 ** draw.choice(exponents))
    if form is None:
        form = blocksum.WIDE[kind]
    exponent = min(max(form.bias + draw.choice(exponents), 0), (1 << form.exponent_bits) - 2)
    bits = draw.getrandbits(1) << form.bits - 1 | exponent << form.fraction_bits | draw.getrandbits(form.fraction_bits)
    return bits << form.skip | draw.getrandbits(form.skip) if form.skip else bits


def special(draw, kind):
    form = blocksum.FACTORS.get(kind) or blocksum.WIDE[kind]
    top = ((1 << form.exponent_bits) - 1) << form.fraction_bits
    bits = draw.choice([0, 0, 1, top, top, top | 1, top - 1, 1 << form.fraction_bits, (1 << form.fraction_bits) - 1])
    return (bits | draw.getrandbits(1) << form.bits - 1) << form.skip


def elements(draw, kind, rows, columns, mood):
    """A matrix: numbers of like size, of any size, any bits, or special ones among others."""

    def one():
        if kind == "f64" or mood == 0:
            return number(draw, kind, [-1, 0, 0, 1])
        if mood == 1:
            return draw.getrandbits(WIDTHS[kind]) if draw.random() < 0.1 else number(draw, kind, range(-12, 13))
        if mood == 2:
            return number(draw, kind, [-3, 0, 3]) if draw.random() < 0.8 else special(draw, kind) & (1 << WIDTHS[kind] - 1 | 1)
        return special(draw, kind) if draw.random() < 0.03 else number(draw, kind, range(-8, 9))

    return [[one() for _ in range(columns)] for _ in range(rows)]


def product(machine, multiply, a, b, c, scales):
    """d of one product of matrices."""
    if multiply.a != "f64":
        row = blocksum.row(machine, "mma", multiply.k, multiply.a, multiply.b, multiply.c, multiply.d, multiply.scale)
    result = []
    for i in range(multiply.m):
        line = []
        for j in range(multiply.n):
            column = [b[k][j] for k in range(multiply.k)]
            if multiply.a == "f64":
                line.append(blocksum.chain(a[i], column, c[i][j], multiply.rounding or "rn"))
            else:
                line.append(blocksum.element(row, a[i], column, c[i][j], [scales[0][i], scales[1][j]] if multiply.scale else ((), ())))
        result.append(line)
    return result


def scale_words(draw, multiply):
    """The registers of the scales of a and of b, and what the selectors take of them."""
    words, taken = [], []
    each = multiply.k // multiply.scale[1]
    for side, count in ((0, multiply.m), (1, multiply.n)):
        data = [draw.choice([0x7F, 0x80, 0x7D, 0x84, 0x77]) | draw.choice([0x7F, 0x81, 0x38, 0x30]) << 8 for _ in range(32)]
        data = [low | draw.choice([0x7F, 0x7E, 0x40, 0x08]) << 16 | draw.choice([0x79, 0x82, 0xFF, 0x7F, 0x36]) << 24 for low in data]
        byte, thread = multiply.selectors[side]
        lanes = [4 * (line % 8) + 2 * thread + line // 8 if side == 0 else 4 * line + thread for line in range(count)]
        taken.append([[data[lane] >> 8 * (byte + at) & 0xFF for at in range(each)] for lane in lanes])
        words.append(data)
    return words, taken


def run_list(draw, machine, multiplies, sets):
    """The words read and written by each warp."""
    given, expected = [], []
    for mood in range(sets):
        for multiply in multiplies:
            shapes = {"a": (multiply.m, multiply.k), "b": (multiply.k, multiply.n), "c": (multiply.m, multiply.n)}
            kinds = {"a": multiply.a, "b": multiply.b, "c": multiply.c}
            of = {m: [elements(draw, kinds[m], *shapes[m], mood % 4) for _ in range(multiply.pairs)] for m in "abc"}
            for matrix in "abc":
                given += pack(multiply, matrix, kinds[matrix], of[matrix])
            scales = None
            if multiply.scale:
                words, scales = scale_words(draw, multiply)
                given += words
            d = [product(machine, multiply, of["a"][p], of["b"][p], of["c"][p], scales) for p in range(multiply.pairs)]
            expected += pack(multiply, "d", multiply.d, d)
    return [word for words in given for word in words], [word for words in expected for word in words]


def listing(target, version, multiplies):
    """The kernel: warp w of the grid reads and writes its own words, 32 lanes side by side."""
    wide = lambda kind: 2 if kind == "f64" else 1
    reads = sum(sum(c * wide(k) for c, k in zip(m.counts(), (m.a, m.b, m.c))) + (2 if m.scale else 0) for m in multiplies)
    writes = sum(m.counts()[3] * wide(m.d) for m in multiplies)
    text = HEAD.format(version=version, target=target)
    text += ".visible .entry run(.param .u64 given, .param .u64 out)\n{\n"
    text += "    .reg .b32 %r<40>;\n    .reg .b64 %x<12>;\n    .reg .b64 %d<40>;\n    .reg .b16 %h<4>;\n"
    text += "    ld.param.u64 %x1, [given];\n    ld.param.u64 %x2, [out];\n"
    text += "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    text += "    mad.lo.u32 %r4, %r1, %r2, %r3;\n    shr.u32 %r5, %r4, 5;\n    and.b32 %r6, %r4, 31;\n    shl.b32 %r6, %r6, 2;\n"
    for register, words in (("%x1", reads), ("%x2", writes)):
        text += f"    mad.lo.u32 %r7, %r5, {128 * words}, %r6;\n    cvt.u64.u32 %x3, %r7;\n    add.u64 {register}, {register}, %x3;\n"
    read = written = 0
    for multiply in multiplies:
        text += f"\n    // {multiply.spelling}\n"
        names, at = [], 10
        for count, kind in zip(multiply.counts(), (multiply.a, multiply.b, multiply.c, multiply.d)):
            names.append([f"%{'d' if kind == 'f64' else 'r'}{at + i}" for i in range(count)])
            at += count
        for group, kind in zip(names[:3], (multiply.a, multiply.b, multiply.c)):
            for name in group:
                if kind == "f64":
                    text += f"    ld.global.u32 %r8, [%x1+{128 * read}];\n    ld.global.u32 %r9, [%x1+{128 * (read + 1)}];\n"
                    text += f"    mov.b64 {name}, {{%r8, %r9}};\n"
                else:
                    text += f"    ld.global.u32 {name}, [%x1+{128 * read}];\n"
                read += wide(kind)
        operands = [f"{{{', '.join(group)}}}" for group in names]
        tail = ""
        if multiply.scale:
            text += f"    ld.global.u32 %r8, [%x1+{128 * read}];\n    ld.global.u32 %r9, [%x1+{128 * (read + 1)}];\n"
            read += 2
            text += f"    mov.b16 %h1, {multiply.selectors[1][1]};\n"
            (byte, thread), (other, _) = multiply.selectors
            tail = f", %r8, {{{byte}, {thread}}}, %r9, {{{other}, %h1}}"
        text += f"    {multiply.spelling}\n        {operands[3]},\n        {operands[0]},\n        {operands[1]},\n        {operands[2]}{tail};\n"
        for name in names[3]:
            if multiply.d == "f64":
                text += f"    mov.b64 {{%r8, %r9}}, {name};\n    st.global.u32 [%x2+{128 * written}], %r8;\n"
                text += f"    st.global.u32 [%x2+{128 * (written + 1)}], %r9;\n"
            else:
                text += f"    st.global.u32 [%x2+{128 * written}], {name};\n"
            written += wide(multiply.d)
    return text + "    ret;\n}\n", writes


def instructions(draw, name, target, version, machines, multiplies):
    """A kernel of several instructions, run as each of the machines: two blocks of two warps."""
    text, writes = listing(target, version, multiplies)
    (HERE / f"{name}.ptx").write_text(text)
    state = draw.getstate()
    for machine in machines:
        draw.setstate(state)
        given, expected = run_list(draw, machine, multiplies, 4)
        arguments = [("u4", given, 32), ("u4", [0] * (4 * writes * 32), 32)]
        options = ["--arch", f"sm_{machine}"]
        case(f"{name}_on_{machine}", "2", "64", arguments, {1: ("u4", expected, 32)}, file=name, options=options)


def mma_volta(draw):
    sums = [("f32", "f32"), ("f16", "f32"), ("f16", "f16")]
    layouts = [("row", "col"), ("col", "row"), ("row", "row"), ("col", "col")]
    multiplies = [Multiply((8, 8, 4), "f16", "f16", c, d, layout) for layout in layouts for c, d in sums]
    instructions(draw, "mma_volta", "sm_70", "6.5", (70, 75, 90), multiplies)


def mma_turing(draw):
    multiplies = [Multiply((16, 8, 8), "f16", "f16", sums, sums) for sums in ("f32", "f16")]
    instructions(draw, "mma_turing", "sm_75", "6.5", (75, 80), multiplies)


def mma_ampere(draw):
    multiplies = [Multiply((16, 8, k), "f16", "f16", sums, sums) for k in (8, 16) for sums in ("f32", "f16")]
    multiplies += [Multiply((16, 8, k), "bf16", "bf16", "f32", "f32") for k in (8, 16)]
    multiplies += [Multiply((16, 8, k), "tf32", "tf32", "f32", "f32") for k in (4, 8)]
    multiplies += [Multiply((8, 8, 4), "f64", "f64", "f64", "f64", rounding=way) for way in ("", "rz", "rm", "rp")]
    instructions(draw, "mma_ampere", "sm_80", "7.0", (80, 89, 90, 120), multiplies)


def mma_hopper(draw):
    multiplies = [Multiply((16, 8, k), *["f64"] * 4, rounding=way) for k, way in ((4, ""), (8, "rp"), (16, "rn"))]
    instructions(draw, "mma_hopper", "sm_90", "7.8", (90,), multiplies)


def mma_fp8(draw):
    pairs = [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2")]
    multiplies = [Multiply((16, 8, 32), a, b, sums, sums) for (a, b) in pairs for sums in ("f32", "f16")]
    multiplies += [Multiply((16, 8, 16), "e4m3", "e5m2", sums, sums) for sums in ("f32", "f16")]
    instructions(draw, "mma_fp8", "sm_89", "8.7", (89, 90, 120), multiplies)


def mma_scaled(draw):
    def scaled(kind, vector, factor, other, scale, block, selectors):
        k = 32 if kind == "mxf8f6f4" else 64
        extra = f".kind::{kind}.block_scale.scale_vec::{vector}X"
        return Multiply((16, 8, k), factor, other, "f32", "f32", extra=extra, scale=(scale, block), selectors=selectors)

    multiplies = [
        scaled("mxf8f6f4", 1, "e4m3", "e5m2", "ue8m0", 32, [(0, 0), (0, 0)]),
        scaled("mxf8f6f4", 1, "e5m2", "e4m3", "ue8m0", 32, [(3, 1), (1, 2)]),
        scaled("mxf4", 2, "e2m1", "e2m1", "ue8m0", 32, [(0, 1), (2, 3)]),
        scaled("mxf4nvf4", 2, "e2m1", "e2m1", "ue8m0", 32, [(2, 0), (0, 1)]),
        scaled("mxf4nvf4", 4, "e2m1", "e2m1", "ue4m3", 16, [(0, 1), (0, 0)]),
    ]
    instructions(draw, "mma_scaled", "sm_120a", "8.7", (120,), multiplies)


KERNELS = [mma_volta, mma_turing, mma_ampere, mma_hopper, mma_fp8, mma_scaled]
