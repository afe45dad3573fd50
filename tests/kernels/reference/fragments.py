"""`wmma`: fragments loaded, multiplied and stored, in every shape, type and layout; and matrix products of compilers.

The PTX of `wmma.ptx` and `wmma_volta.ptx` is written here.
"""

from fractions import Fraction

import blocksum
from cases import HERE, case
from exact import F16, F32, f32
from matrices import HEAD, WIDTHS, elements

WORD = {16: 2, 32: 4, 64: 8}


class Fragments:
    """A `wmma.mma` with what it loads and stores: the layouts of a, b, c and d, and whether strides are written."""

    def __init__(self, shape, factor, c, d, layouts, strided=True):
        self.m, self.n, self.k = shape
        self.factor, self.c, self.d, self.layouts, self.strided = factor, c, d, layouts, strided
        self.shape = f"m{self.m}n{self.n}k{self.k}"

    def parts(self):
        """Of each matrix the name, the rows and columns, the type and the layout."""
        sizes = [(self.m, self.k), (self.k, self.n), (self.m, self.n), (self.m, self.n)]
        return list(zip("abcd", sizes, (self.factor, self.factor, self.c, self.d), self.layouts))

    def registers(self, name):
        """Their number and their type."""
        if name in "cd":
            kind = self.c if name == "c" else self.d
            return (self.m * self.n // (64 if kind == "f16" else 32)), {"f16": "r", "f32": "f", "f64": "d"}[kind]
        size = self.m * self.k if name == "a" else self.k * self.n
        return {"f16": 8, "bf16": size // 64, "tf32": size // 32, "f64": 1}[self.factor], "d" if self.factor == "f64" else "r"

    def spelling(self):
        rows = ".".join(self.layouts[:2])
        if self.factor == "f16":
            return f"wmma.mma.sync.aligned.{rows}.{self.shape}.{self.d}.{self.c}"
        if self.factor == "f64":
            return f"wmma.mma.sync.aligned.{rows}.{self.shape}.rn.f64.f64.f64.f64"
        return f"wmma.mma.sync.aligned.{rows}.{self.shape}.f32.{self.factor}.{self.factor}.f32"

    def stride(self, rows, columns, kind, layout):
        """Elements from one line to the next: with a few between where strides are written."""
        return (columns if layout == "row" else rows) + (16 // WORD[WIDTHS[kind]] if self.strided else 0)

    def size(self, part):
        _, (rows, columns), kind, layout = part
        lines = rows if layout == "row" else columns
        return -(-lines * self.stride(rows, columns, kind, layout) * WORD[WIDTHS[kind]] // 32) * 32

    def bytes(self, part, matrix):
        _, (rows, columns), kind, layout = part
        stride, word = self.stride(rows, columns, kind, layout), WORD[WIDTHS[kind]]
        data = bytearray(self.size(part))
        for row in range(rows):
            for column in range(columns):
                at = (row * stride + column if layout == "row" else column * stride + row) * word
                data[at : at + word] = matrix[row][column].to_bytes(word, "little")
        return data


def products(draw, machine, all_fragments, sets):
    given, expected = bytearray(), bytearray()
    for mood in range(sets):
        for fragments in all_fragments:
            a_part, b_part, c_part, d_part = fragments.parts()
            a, b, c = (elements(draw, part[2], *part[1], mood % 4) for part in (a_part, b_part, c_part))
            for part, matrix in ((a_part, a), (b_part, b), (c_part, c)):
                given += fragments.bytes(part, matrix)
            d = []
            for i in range(fragments.m):
                columns = [[b[k][j] for k in range(fragments.k)] for j in range(fragments.n)]
                if fragments.factor == "f64":
                    d.append([blocksum.chain(a[i], column, c[i][j]) for j, column in enumerate(columns)])
                    continue
                row = blocksum.row(machine, "wmma", fragments.k, fragments.factor, fragments.factor, fragments.c, fragments.d)
                d.append([blocksum.element(row, a[i], column, c[i][j]) for j, column in enumerate(columns)])
            expected += fragments.bytes(d_part, d)
    return given, expected


def listing(target, version, all_fragments):
    reads = sum(f.size(part) for f in all_fragments for part in f.parts()[:3])
    writes = sum(f.size(f.parts()[3]) for f in all_fragments)
    text = HEAD.format(version=version, target=target).replace("matrices.py", "fragments.py")
    text += ".visible .entry run(.param .u64 given, .param .u64 out)\n{\n"
    text += "    .reg .b32 %r<40>;\n    .reg .f32 %f<40>;\n    .reg .f64 %d<40>;\n    .reg .b64 %x<12>;\n"
    text += "    ld.param.u64 %x1, [given];\n    ld.param.u64 %x2, [out];\n    cvta.to.global.u64 %x1, %x1;\n"
    text += "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    text += "    mad.lo.u32 %r4, %r1, %r2, %r3;\n    shr.u32 %r5, %r4, 5;\n"
    for register, size in (("%x1", reads), ("%x2", writes)):
        text += f"    mul.wide.u32 %x3, %r5, {size};\n    add.u64 {register}, {register}, %x3;\n"
    read = written = 0
    for fragments in all_fragments:
        text += f"\n    // {fragments.spelling()}\n"
        names, at = {}, 8
        for part in fragments.parts():
            name, (rows, columns), kind, layout = part
            count, register = fragments.registers(name)
            names[name] = "{" + ", ".join(f"%{register}{at + i}" for i in range(count)) + "}"
            at += count if name != "c" or register != "r" else 0
            stride = f", {fragments.stride(rows, columns, kind, layout)}" if fragments.strided else ""
            if name != "d":
                text += f"    wmma.load.{name}.sync.aligned.{layout}.{fragments.shape}.global.{kind} {names[name]}, [%x1+{read}]{stride};\n"
                read += fragments.size(part)
        text += f"    {fragments.spelling()}\n        {names['d']},\n        {names['a']},\n        {names['b']},\n        {names['c']};\n"
        text += f"    wmma.store.d.sync.aligned.{layout}.{fragments.shape}.{kind} [%x2+{written}], {names['d']}{stride};\n"
        written += fragments.size(part)
    return text + "    ret;\n}\n", writes


def fragment_lists(draw, name, target, version, machines, all_fragments):
    text, writes = listing(target, version, all_fragments)
    (HERE / f"{name}.ptx").write_text(text)
    state = draw.getstate()
    for machine in machines:
        draw.setstate(state)
        given, expected = products(draw, machine, all_fragments, 4)
        arguments = [("u1", list(given)), ("u1", [0] * (4 * writes))]
        options = ["--arch", f"sm_{machine}"]
        case(f"{name}_on_{machine}", "2", "64", arguments, {1: ("u1", list(expected))}, file=name, options=options)


ROWS = [("row", "col", "row", "col"), ("col", "row", "col", "row"), ("row", "row", "row", "row"), ("col", "col", "col", "col")]


def wmma_volta(draw):
    sums = [("f32", "f32"), ("f16", "f32"), ("f32", "f16"), ("f16", "f16")]
    shapes = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
    lists = [Fragments(shape, "f16", *sums[(at + of) % 4], ROWS[at], at != 2) for of, shape in enumerate(shapes) for at in range(4)]
    fragment_lists(draw, "wmma_volta", "sm_70", "6.5", (70, 75, 80, 90), lists)


def wmma_ampere(draw):
    shapes = [((16, 16, 16), "bf16"), ((32, 8, 16), "bf16"), ((8, 32, 16), "bf16"), ((16, 16, 8), "tf32"), ((8, 8, 4), "f64")]
    lists = []
    for at, (shape, factor) in enumerate(shapes):
        sums = "f64" if factor == "f64" else "f32"
        lists += [Fragments(shape, factor, sums, sums, ROWS[(at + more) % 4], more == 0) for more in (0, 1)]
    fragment_lists(draw, "wmma_ampere", "sm_80", "7.0", (80, 90), lists)


def matrix_product(row, a, b, c, depth):
    """c plus a times b, in pieces of the depth of an instruction, each begun with the sum of those before."""
    for start in range(0, len(a), depth):
        c = blocksum.element(row, a[start : start + depth], b[start : start + depth], c)
    return c


def halves_of(draw, count):
    return [F16.round(Fraction(draw.uniform(-2, 2))) for _ in range(count)]


def wmma_gemm(draw):
    """out = alpha a b + beta c; a row by row, b column by column."""
    m, n, k = 32, 48, 64
    alpha, beta = f32(Fraction("0.75")), f32(Fraction("-1.5"))
    a, b, c = halves_of(draw, m * k), halves_of(draw, k * n), [f32(Fraction(draw.uniform(-8, 8))) for _ in range(m * n)]
    state = draw.getstate()
    for machine in (80, 90):
        draw.setstate(state)
        row = blocksum.row(machine, "wmma", 16, "f16", "f16", "f32", "f32")
        out = []
        for i in range(m):
            for j in range(n):
                total = matrix_product(row, a[i * k : i * k + k], b[j * k : j * k + k], 0, 16)
                out.append(F32.mul_add(alpha, total, F32.mul(beta, c[i * n + j])))
        arguments = [("u2", a, k), ("u2", b, k), ("f4", c, n), ("f4", [0] * (m * n), n), str(m), str(n), str(k)]
        arguments += ["0f%08X" % alpha, "0f%08X" % beta]
        options = ["--arch", f"sm_{machine}"]
        case(f"wmma_gemm_on_{machine}", "3,2", "32", arguments, {3: ("f4", out, n)}, file="wmma_gemm", options=options)


def mma_gemm(draw):
    """out = a b, both row by row, through shared memory and ldmatrix; b's is transposed by it."""
    m, n, k = 64, 32, 96
    a, b = halves_of(draw, m * k), halves_of(draw, k * n)
    for machine in (80, 90):
        row = blocksum.row(machine, "mma", 16, "f16", "f16", "f32", "f32")
        out = []
        for i in range(m):
            out += [matrix_product(row, a[i * k : i * k + k], b[j::n], 0, 16) for j in range(n)]
        arguments = [("u2", a, k), ("u2", b, n), ("f4", [0] * (m * n), n), str(m), str(n), str(k)]
        options = ["--arch", f"sm_{machine}"]
        case(f"mma_gemm_on_{machine}", "2,2", "64", arguments, {2: ("f4", out, n)}, file="mma_gemm", options=options)


def triton_dot(draw):
    """out = a b, all row by row, as Triton spreads them over lanes and over shared memory."""
    depth = 96
    compiled = [("f16", 80, "mma", 16, 32, 4096), ("bf16", 80, "mma", 16, 32, 4096), ("tf32", 80, "mma", 8, 32, 16384)]
    compiled += [("e4m3", 89, "mma", 32, 32, 4096), ("f16", 90, "wgmma", 16, 64, 16384)]
    compiled += [("tf32", 90, "wgmma", 8, 64, 49152), ("e4m3", 90, "wgmma", 32, 64, 16384)]
    for kind, machine, instruction, k, side, shared in compiled:
        a, b = (elements(draw, kind, *shape, 3) for shape in ((side, depth), (depth, side)))
        row = blocksum.row(machine, instruction, k, kind, kind, "f32", "f32")
        columns = [[b[at][j] for at in range(depth)] for j in range(side)]
        out = [matrix_product(row, line, column, 0, k) for line in a for column in columns]
        dtype = {16: "u2", 32: "u4", 8: "u1"}[WIDTHS[kind]]
        arguments = [(dtype, sum(a, []), depth), (dtype, sum(b, []), side), ("f4", [0] * side * side, side)]
        name = f"triton_dot_{kind}_{machine}"
        case(name, "1", "128", [*arguments, str(depth), "0", "0"], {2: ("f4", out, side)}, options=["--shared", str(shared)])


KERNELS = [wmma_volta, wmma_ampere, wmma_gemm, mma_gemm, triton_dot]
