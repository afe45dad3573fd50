"""`wgmma`: matrices in shared memory by descriptor, in every layout and swizzle. The PTX of `wgmma.ptx` is written here."""

import blocksum
from cases import HERE, case
from matrices import HEAD, WIDTHS, elements

PATTERN = {0: 16, 128: 128, 64: 64, 32: 32}
MODE = {0: 0, 128: 1, 64: 2, 32: 3}


class Tile:
    """A matrix in shared memory: lines (rows of a, columns of b) of k elements, along k or across; how its addresses are
    swizzled; bytes from its pattern to where it starts, and from an address that a pattern may have to the pattern."""

    def __init__(self, across=False, swizzle=128, skip=0, base=0):
        self.across, self.swizzle, self.skip, self.base = across, swizzle, skip, base

    def offsets(self, lines, width):
        """The leading and the stride byte offset, with a gap."""
        row = PATTERN[self.swizzle]
        eight = 8 * row + (1024 if self.swizzle else 48)
        if not self.across:
            # Along k: eight lines to the next; without a swizzle 16 bytes to the next.
            return (lines // 8 * eight + 32, eight) if not self.swizzle else (16, eight)
        repeats = -(-lines * width // 8 // row)
        if not self.swizzle:
            return repeats * 160 + 64, 160
        return eight, repeats * eight

    def place(self, line, k, lines, width):
        """The byte of an element."""
        leading, stride = self.offsets(lines, width)
        row, size = PATTERN[self.swizzle], width // 8
        if not self.across:
            at = line // 8 * stride + line % 8 * row
            byte = k * size
            at += byte % 16 + byte // 16 * (leading if not self.swizzle else 16)
        else:
            chunk, inside = line // 8, line % 8 * size
            if self.swizzle:
                chunks = row // 16
                at = inside + chunk % chunks * 16 + chunk // chunks * leading + k % 8 * row + k // 8 * stride
            else:
                at = inside + chunk * stride + k % 8 * 16 + k // 8 * leading
        at += self.skip
        # The bits above bit 6 choose how those from bit 4 on are turned.
        return self.base + (at ^ (at >> 7 & self.swizzle // 16 - 1) << 4 if self.swizzle else at)

    def image(self, matrix, width):
        """Bytes of shared memory from the lines of a matrix."""
        data = {}
        for line, values in enumerate(matrix):
            for k, bits in enumerate(values):
                at = self.place(line, k, len(matrix), width)
                for byte in range(width // 8):
                    assert at + byte not in data
                    data[at + byte] = bits >> 8 * byte & 0xFF
        end = -(-(max(data) + 1) // 1024) * 1024
        return bytes(data.get(at, 0xA5) for at in range(end))

    def descriptor(self, lines, width):
        leading, stride = self.offsets(lines, width)
        assert leading < 1 << 18 and stride < 1 << 18
        start = self.base + self.skip
        return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | (self.base >> 7) % 8 << 49 | MODE[self.swizzle] << 62


class Multiply:
    """A `wgmma.mma_async`; `a` is a tile or None where registers hold it."""

    def __init__(self, n, a_kind, b_kind, d_kind, a, b, adds=1, signs=(1, 1)):
        self.n, self.a_kind, self.b_kind, self.d_kind = n, a_kind, b_kind, d_kind
        self.a, self.b, self.adds, self.signs = a, b, adds, signs
        self.width = WIDTHS[a_kind]
        self.k = 256 // self.width
        self.spelling = f"wgmma.mma_async.sync.aligned.m64n{n}k{self.k}.{d_kind}.{a_kind}.{b_kind}"

    def registers(self):
        return self.n // (4 if self.d_kind == "f16" else 2)

    def tail(self):
        """What stands behind the descriptors."""
        text = f"%p{1 if self.adds else 2}, {self.signs[0]}, {self.signs[1]}"
        if self.width == 16:
            text += f", {int(self.a.across)}" if self.a else ""
            text += f", {int(self.b.across)}"
        return text


def negated(matrix, width, sign):
    return [[bits ^ (1 << width - 1 if sign < 0 else 0) for bits in line] for line in matrix]


def sums(multiply, matrix):
    """The words of d's registers, register by register, 128 threads each."""
    half = multiply.d_kind == "f16"
    words = [[0] * 128 for _ in range(multiply.registers())]
    for row, line in enumerate(matrix):
        for column, bits in enumerate(line):
            thread = row // 16 * 32 + row % 8 * 4 + column % 8 // 2
            element = column // 8 * 4 + row % 16 // 8 * 2 + column % 2
            words[element // 2 if half else element][thread] |= bits << (16 * (element % 2) if half else 0)
    return [word for words in words for word in words]


def factors(multiply, matrix):
    """The same of a's four registers."""
    each = 32 // multiply.width
    words = [[0] * 128 for _ in range(4)]
    for row, line in enumerate(matrix):
        for k, bits in enumerate(line):
            thread = row // 16 * 32 + row % 8 * 4 + k // each % 4
            words[row % 16 // 8 + k // (4 * each) * 2][thread] |= bits << multiply.width * (k % each)
    return [word for words in words for word in words]


def word_list(data):
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def computed(draw, multiplies, sets):
    """The words that each block reads and those that it writes."""
    given, expected = [], []
    for mood in range(sets):
        for multiply in multiplies:
            a = elements(draw, multiply.a_kind, 64, multiply.k, (1, 3)[mood])
            b = elements(draw, multiply.b_kind, multiply.n, multiply.k, (1, 3)[mood])
            c = elements(draw, multiply.d_kind, 64, multiply.n, (1, 3)[mood])
            given += word_list(multiply.a.image(a, multiply.width)) if multiply.a else factors(multiply, a)
            given += word_list(multiply.b.image(b, multiply.width)) + sums(multiply, c)
            a, b = negated(a, multiply.width, multiply.signs[0]), negated(b, multiply.width, multiply.signs[1])
            row = blocksum.row(90, "wgmma", multiply.k, multiply.a_kind, multiply.b_kind, multiply.d_kind, multiply.d_kind)
            d = [[blocksum.element(row, x, y, c[i][j] if multiply.adds else 0) for j, y in enumerate(b)] for i, x in enumerate(a)]
            expected += sums(multiply, d)
    return given, expected


COPY = """    add.u32 %r5, %r1, {first};
LOOP{number}:
    mul.wide.u32 %x3, %r5, 4;
    add.u64 %x3, %x3, %x1;
    ld.global.u32 %r6, [%x3];
    sub.u32 %r7, %r5, {before};
    shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r7, %r2;
    st.shared.u32 [%r7], %r6;
    add.u32 %r5, %r5, 128;
    setp.lt.u32 %p3, %r5, {end};
    @%p3 bra LOOP{number};
"""


def listing(multiplies):
    body, read, written = "", 0, 0
    for number, multiply in enumerate(multiplies):
        body += f"\n    // {multiply.spelling}: a {vars(multiply.a) if multiply.a else 'in registers'}, b {vars(multiply.b)}\n"
        blank = [[0] * multiply.k]
        sizes = [len(tile.image(blank * lines, multiply.width)) for tile, lines in ((multiply.a, 64), (multiply.b, multiply.n)) if tile]
        first, end = read, read + sum(sizes) // 4 + (0 if multiply.a else 512)
        if not multiply.a:
            for register in range(4):
                body += f"    ld.global.u32 %r{10 + register}, [%x4+{4 * (first + 128 * register)}];\n"
            first += 512
        body += "    bar.sync 0;\n" + COPY.format(number=number, first=first, before=first, end=end) + "    bar.sync 0;\n"
        left = f"{{{', '.join(f'%r{10 + register}' for register in range(4))}}}"
        for name, tile, lines, start in (("%x5", multiply.a, 64, 0), ("%x6", multiply.b, multiply.n, sizes[0] if multiply.a else 0)):
            if tile:
                descriptor = tile.descriptor(lines, multiply.width) + (start >> 4)
                body += f"    add.u64 {name}, %x7, 0x{descriptor:016X};\n"
                left = name if name == "%x5" else left
        names = [f"%r{20 + register}" for register in range(multiply.registers())]
        for register, name in enumerate(names):
            body += f"    ld.global.u32 {name}, [%x4+{4 * (end + 128 * register)}];\n"
        body += "    wgmma.fence.sync.aligned;\n"
        body += f"    {multiply.spelling}\n        {{{', '.join(names)}}},\n        {left}, %x6, {multiply.tail()};\n"
        body += "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n"
        for register, name in enumerate(names):
            body += f"    st.global.u32 [%x2+{4 * (written + 128 * register)}], {name};\n"
        read, written = end + 128 * len(names), written + 128 * len(names)
    text = HEAD.format(version="8.0", target="sm_90a").replace("matrices.py", "wgmma.py")
    text += ".visible .entry run(.param .u64 given, .param .u64 out)\n{\n    .shared .align 1024 .b8 tiles[65536];\n"
    text += "    .reg .pred %p<4>;\n    .reg .b32 %r<160>;\n    .reg .b64 %x<10>;\n"
    text += "    ld.param.u64 %x1, [given];\n    ld.param.u64 %x2, [out];\n    mov.u32 %r1, %tid.x;\n    mov.u32 %r3, %ctaid.x;\n"
    text += "    setp.eq.u32 %p1, %r1, %r1;\n    setp.ne.u32 %p2, %r1, %r1;\n"
    text += f"    mov.u32 %r2, tiles;\n    shr.u32 %r4, %r2, 4;\n    cvt.u64.u32 %x7, %r4;\n    mul.wide.u32 %x3, %r3, {4 * read};\n"
    text += f"    add.u64 %x1, %x1, %x3;\n    mul.wide.u32 %x3, %r3, {4 * written};\n    add.u64 %x2, %x2, %x3;\n"
    text += "    mul.wide.u32 %x3, %r1, 4;\n    add.u64 %x4, %x1, %x3;\n    add.u64 %x2, %x2, %x3;\n"
    return text + body + "    ret;\n}\n", written


def wgmma(draw):
    along, across = (lambda *more: Tile(False, *more)), (lambda *more: Tile(True, *more))
    multiplies = [
        Multiply(8, "f16", "f16", "f32", along(0), along(0)),
        Multiply(24, "f16", "f16", "f16", along(32), along(64)),
        Multiply(16, "bf16", "bf16", "f32", along(64, 32), along(128, 96), adds=0),
        Multiply(40, "f16", "f16", "f32", across(0), across(0), signs=(-1, 1)),
        Multiply(32, "f16", "f16", "f16", across(32), across(32), signs=(1, -1)),
        Multiply(64, "bf16", "bf16", "f32", across(64), across(64)),
        Multiply(72, "f16", "f16", "f32", across(128), across(128)),
        Multiply(16, "bf16", "bf16", "f32", along(128, 32, 384), across(64, 0, 128)),
        Multiply(24, "f16", "f16", "f32", None, across(128), signs=(-1, -1)),
        Multiply(8, "tf32", "tf32", "f32", along(128, 64), along(32)),
        Multiply(16, "tf32", "tf32", "f32", None, along(0), signs=(1, -1)),
        Multiply(8, "e4m3", "e5m2", "f32", along(64), along(0)),
        Multiply(16, "e5m2", "e4m3", "f16", None, along(128), signs=(-1, 1)),
    ]
    text, written = listing(multiplies)
    (HERE / "wgmma.ptx").write_text(text)
    given, expected = computed(draw, multiplies, 2)
    case("wgmma", "2", "128", [("u4", given), ("u4", [0] * (2 * written))], {1: ("u4", expected)})


KERNELS = [wgmma]
