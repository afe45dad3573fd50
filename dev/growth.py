#!/usr/bin/env python3
"""Measures how the command's time grows with its input, on shapes made to be hard, and fails where one grows too fast.

    dev/growth.py [--largest 20] [--shape NAME ...] [--page] [ROUNDONCE]

ROUNDONCE is a build with Parquet (`cargo build --release --features parquet`), by default target/release/roundonce. Each
shape is made with 2^10 to 2^20 parts and given to the command; what counts is processor time, the better of two, less
that of `--version`. The growth is the slope of the logarithm of the time over that of the number of parts, where the
time is at least 0.1 s and there are three such sizes. Over 1.2 is a failure, and so is a signal or more than 32 GiB of
address space. `--page` writes the table of docs/growth.md. Needs Python alone.
"""

import argparse
import math
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/growth.md"
MOST_GROWTH = 1.2
LEAST_SECONDS = 0.1
ADDRESS_SPACE = 32 << 30
SECONDS = 300

HEADER = ".version 8.6\n.target sm_100\n.address_size 64\n"


def ptx(body, registers=9, before=""):
    declared = f".reg .f32 %f<{registers}>;\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %b<3>;\n"
    start = "ld.param.u64 %b0, [o];\nmov.u32 %r0, %tid.x;\n"
    end = "st.global.f32 [%b0], %f0;\nret;\n"
    return f"{HEADER}{before}.visible .entry k(.param .u64 o)\n{{\n{declared}{start}{body}{end}}}\n"


def each(n, line):
    return "".join(line(i) for i in range(n))


def spirv(body, constants="", before=""):
    return (
        'OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main "main"\n'
        f"OpExecutionMode %main LocalSize 32 1 1\n{before}%void = OpTypeVoid\n%type = OpTypeFunction %void\n"
        "%float = OpTypeFloat 32\n%bool = OpTypeBool\n%c0 = OpConstant %float 1\n%true = OpConstantTrue %bool\n"
        f"{constants}%main = OpFunction %void None %type\n%start = OpLabel\n{body}OpReturn\nOpFunctionEnd\n"
    )


def npy(n):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    values = b"".join(struct.pack("<I", 0x3F800000 + i * 7919 % 0x800000) for i in range(n))
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def cubin(n):
    """Sections whose names are long and whose code is one bundle, one after the other; one in 64 of them is code."""
    names = b"\0" + b"".join(b".text.f%d\0" % i for i in range(n))
    code = struct.pack("<4Q", 0x001F8000FC0007E0, 0xE30000000007000F, 0xE2400FFFFF87000F, 0x50B0000000070F00)
    names += bytes(-len(names) % 8)
    code_at = 64 + len(names)
    table_at = code_at + len(code)
    place = 1
    tables = [bytes(64), struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(names), 0, 0, 1, 0)]
    for i in range(n):
        tables.append(struct.pack("<IIQQQQIIQQ", place, 1, 6, 0, code_at, len(code) * (i % 64 == 0), 0, 0, 32, 0))
        place += len(b".text.f%d\0" % i)
    # An ELF header has 16 bits for the number of sections; beyond, it stands in the first section.
    count = len(tables)
    if count >= 0xFF00:
        tables[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, 0, 0, 0, 0)
    header = b"\x7fELF\x02\x01\x01\x33" + bytes(8)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, table_at, 0x340034, 64, 0, 0, 64, count if count < 0xFF00 else 0, 1)
    return header + names + code + b"".join(tables)


def vectors(n):
    return each(n, lambda i: f'{{"instruction":"fma.rn.f32","a":"0x{0x3F800000 + i % 8388608:08x}","b":"0x3f800000",'
                             f'"c":"0x00000000","d":"0x{0x3F800000 + i % 8388608:08x}"}}\n')


def sass(n):
    return each(n, lambda i: f"FFMA R{i % 200}, R{(i + 1) % 200}, R{(i + 2) % 200}, R{(i + 3) % 200};\n")


# Name: what it is, the file, what makes it, the commands.
CHECK = ["check FILE"]
INTERPRET = ["run FILE --arg 0=zeros:f32:4 --block 32 --limit-instructions 100000000 --engine interpreter"]
SPIRV = ["run FILE --limit-instructions 100000000 --engine interpreter"]
SHAPES = {
    "straight": ("PTX in a straight line", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"fma.rn.f32 %f{i % 7}, %f{(i + 1) % 7}, %f{(i + 2) % 7}, %f{(i + 3) % 7};\n")),
        CHECK + INTERPRET),
    "chain": ("a chain of as many registers", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"add.rn.f32 %f{i + 1}, %f{i}, 0f3F800000;\n"), n + 9), CHECK + INTERPRET),
    "live": ("as many registers live at once", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"cvt.rn.f32.u32 %f{i + 1}, %r0;\n")
        + each(n, lambda i: f"add.rn.f32 %f0, %f0, %f{i + 1};\n"), n + 9), CHECK),
    "ifs": ("one `if` after the other", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"setp.eq.u32 %p0, %r0, {i};\n@%p0 bra L{i};\nadd.rn.f32 %f0, %f0, 0f3F800000;\nL{i}:\n")),
        CHECK + INTERPRET),
    "loops": ("one loop after the other", "a.ptx", lambda n: ptx(each(n, lambda i: (
        f"mov.u32 %r1, 0;\nL{i}: add.rn.f32 %f0, %f0, 0f3F800000;\nadd.u32 %r1, %r1, 1;\n"
        f"setp.lt.u32 %p0, %r1, 2;\n@%p0 bra L{i};\n"))), INTERPRET),
    "nested loops": ("loops in loops", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"L{i}:\n") + "add.rn.f32 %f0, %f0, 0f3F800000;\n"
        + each(n, lambda i: f"setp.gt.u32 %p0, %r0, {5000 + i};\n@%p0 bra L{n - 1 - i};\n")), CHECK + INTERPRET),
    "jumps ahead": ("jumps to the end from everywhere", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"setp.eq.u32 %p0, %r0, {i};\n@%p0 bra END;\nadd.rn.f32 %f0, %f0, 0f3F800000;\n") + "END:\n"),
        CHECK + INTERPRET),
    "crossing jumps": ("jumps that cross each other", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"setp.eq.u32 %p0, %r0, {i};\n@%p0 bra M{i % (n // 2)};\n")
        + each(n // 2, lambda i: f"M{i}: add.rn.f32 %f0, %f0, 0f3F800000;\n")), CHECK + INTERPRET),
    "braces": ("braces in braces", "a.ptx", lambda n: ptx("{\n" * n + "}\n" * n), CHECK + INTERPRET),
    "scopes": ("scopes in scopes, each with registers of its own", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"{{ .reg .f32 %g, %h{i};\nadd.rn.f32 %g, %f0, 0f3F800000;\nmov.f32 %h{i}, %g;\nL:\n")
        + each(n, lambda i: f"add.rn.f32 %f0, %f0, %h{n - 1 - i};\nadd.rn.f32 %f0, %f0, %g;\n}}\n")),
        CHECK + INTERPRET),
    "nested ifs": ("one `if` in the other", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"setp.eq.u32 %p0, %r0, {i + 40};\n@%p0 bra L{i};\nadd.rn.f32 %f0, %f0, 0f3F800000;\n")
        + each(n, lambda i: f"L{n - 1 - i}:\nadd.rn.f32 %f1, %f1, %f0;\n")), CHECK + INTERPRET),
    "divergent ifs": ("one `if` in the other, of one thread each", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"setp.eq.u32 %p0, %r0, {i % 32};\n@%p0 bra L{i};\nadd.rn.f32 %f0, %f0, 0f3F800000;\n")
        + each(n, lambda i: f"L{n - 1 - i}:\nadd.rn.f32 %f1, %f1, %f0;\n")), INTERPRET),
    "functions": ("functions, each called once", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"call (%f0), f{i}, (%f0);\n"), 9,
        each(n, lambda i: f".func (.reg .f32 %o) f{i}(.reg .f32 %a) {{ add.rn.f32 %o, %a, 0f3F800000; ret; }}\n")),
        CHECK + ["check FILE --determinacy"] + INTERPRET),
    "tables": ("jumps by one table of 8 labels", "a.ptx", lambda n: ptx(
        "table: .branchtargets " + ", ".join(f"L{i * n // 8}" for i in range(8)) + ";\n"
        + each(n, lambda i: f"L{i}: setp.lt.u32 %p0, %r0, {i + 8};\n@%p0 bra END;\nbrx.idx %r0, table;\n") + "END:\n"),
        INTERPRET),
    "kernels": ("kernels with a parameter of one name", "a.ptx", lambda n: HEADER + each(
        n, lambda i: f".visible .entry k{i}(.param .u64 o) {{ ret; }}\n"), ["translate FILE --to spirv"]),
    "parameters": ("parameters", "a.ptx", lambda n: (
        f"{HEADER}.visible .entry k(.param .u64 o" + each(n, lambda i: f", .param .f32 q{i}")
        + ")\n{ .reg .f32 %f<3>;\n" + each(n, lambda i: f"ld.param.f32 %f1, [q{i}];\n") + "ret; }\n"), CHECK),
    "variables": ("variables of the module", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"ld.global.f32 %f1, [v{i}];\n"), 9, each(n, lambda i: f".global .f32 v{i};\n")), CHECK),
    "errors": ("a finding a line", "a.ptx", lambda n: ptx(each(n, lambda i: "fma.f32 %f0, %f1, %f2, %f3;\n")),
        ["check FILE --format json"]),
    "one line": ("all on one line", "a.ptx", lambda n: ptx(each(n, lambda i: "fma.rn.f32 %f0, %f1, %f2, %f3; ")), CHECK),
    "contractions": ("products and sums that may be fused", "a.ptx", lambda n: ptx(
        each(n, lambda i: f"mul.f32 %f{i % 7}, %f7, %f8;\nadd.f32 %f8, %f{i % 7}, %f7;\n")),
        ["check FILE --determinacy --format json", INTERPRET[0] + " --contract fuse"]),
    "SPIR-V": ("SPIR-V in a straight line", "a.spvasm", lambda n: spirv(
        each(n, lambda i: f"%x{i + 1} = OpFAdd %float %{'x' if i else 'c'}{i} %c0\n")),
        CHECK + SPIRV),
    "decorations": ("decorated instructions", "a.spvasm", lambda n: spirv(
        each(n, lambda i: f"%x{i} = OpFMul %float %c0 %c0\n"), "",
        each(n, lambda i: f"OpDecorate %x{i} NoContraction\n")), CHECK),
    "branches of SPIR-V": ("one structured `if` after the other", "a.spvasm", lambda n: spirv(each(n, lambda i: (
        f"OpSelectionMerge %m{i} None\nOpBranchConditional %true %t{i} %m{i}\n%t{i} = OpLabel\nOpBranch %m{i}\n"
        f"%m{i} = OpLabel\n"))), CHECK + SPIRV),
    "nested ifs of SPIR-V": ("one structured `if` in the other", "a.spvasm", lambda n: spirv(
        each(n, lambda i: f"OpSelectionMerge %m{i} None\nOpBranchConditional %true %t{i} %m{i}\n%t{i} = OpLabel\n")
        + each(n, lambda i: f"OpBranch %m{n - 1 - i}\n%m{n - 1 - i} = OpLabel\n")), CHECK + SPIRV),
    "nested loops of SPIR-V": ("one structured loop in the other", "a.spvasm", lambda n: spirv(
        each(n, lambda i: f"OpBranch %h{i}\n%h{i} = OpLabel\nOpLoopMerge %m{i} %c{i}x None\n"
                          f"OpBranchConditional %true %m{i} %b{i}\n%b{i} = OpLabel\n")
        + each(n, lambda i: f"OpBranch %c{n - 1 - i}x\n%c{n - 1 - i}x = OpLabel\nOpBranch %h{n - 1 - i}\n%m{n - 1 - i} = OpLabel\n")),
        CHECK + SPIRV),
    "entry points": ("entry points of SPIR-V", "a.spvasm", lambda n: (
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
        + each(n, lambda i: f'OpEntryPoint GLCompute %f{i} "m{i}"\n')
        + each(n, lambda i: f"OpExecutionMode %f{i} LocalSize 32 1 1\n")
        + "%void = OpTypeVoid\n%type = OpTypeFunction %void\n"
        + each(n, lambda i: f"%f{i} = OpFunction %void None %type\n%l{i} = OpLabel\nOpReturn\nOpFunctionEnd\n")),
        CHECK + ["run FILE --smoke"]),
    "calls of SPIR-V": ("functions of SPIR-V, each called by the one before, and as many entry points", "a.spvasm", lambda n: (
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
        + each(n, lambda i: f'OpEntryPoint GLCompute %e{i} "m{i}" %v\n')
        + "%void = OpTypeVoid\n%type = OpTypeFunction %void\n%float = OpTypeFloat 32\n%c0 = OpConstant %float 1\n"
        + "%pointer = OpTypePointer Output %float\n%v = OpVariable %pointer Output\n"
        + each(n, lambda i: f"%f{i} = OpFunction %void None %type\n%l{i} = OpLabel\nOpStore %v %c0\n"
                            + (f"%c{i}x = OpFunctionCall %void %f{i + 1}\n" if i + 1 < n else "") + "OpReturn\nOpFunctionEnd\n")
        + each(n, lambda i: f"%e{i} = OpFunction %void None %type\n%b{i} = OpLabel\n%d{i} = OpFunctionCall %void %f0\n"
                            "OpReturn\nOpFunctionEnd\n")), CHECK),
    "kernels of SPIR-V": ("kernels of SPIR-V with a product and a sum that may be fused", "a.spvasm", lambda n: (
        "OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n"
        + each(n, lambda i: f'OpEntryPoint Kernel %e{i} "m{i}"\n')
        + "%void = OpTypeVoid\n%type = OpTypeFunction %void\n%float = OpTypeFloat 32\n%c0 = OpConstant %float 1\n"
        + each(n, lambda i: f"%e{i} = OpFunction %void None %type\n%b{i} = OpLabel\n%p{i} = OpFMul %float %c0 %c0\n"
                            f"%s{i} = OpFAdd %float %p{i} %c0\nOpReturn\nOpFunctionEnd\n")),
        ["check FILE --determinacy --format json"]),
    "SASS": ("SASS in a straight line", "a.sass", sass, CHECK + ["asm FILE -o OUT"]),
    "cubin": ("sections of a cubin", "a.cubin", cubin, ["disasm FILE"]),
    "npy": ("elements of arrays", "a.npy", npy, ["eval fma.rn.f32 --in FILE FILE FILE --out OUT.npy"]),
    "JSON Lines": ("lines of test vectors", "a.jsonl", vectors, ["vectors verify FILE"]),
    "Parquet": ("rows of test vectors", "a.parquet", None, ["vectors verify FILE"]),
    "lines": ("lines of `eval -`", "a.txt", lambda n: each(
        n, lambda i: f"fma.rn.f32 0x{0x3F800000 + i:08x} 0x3f800001 0xbf800002\n"), ["eval - < FILE"]),
}
# A module of SPIR-V has 2^22 ids, of which each part takes four or more here.
FEWER = {"nested loops of SPIR-V": 1 << 18, "calls of SPIR-V": 1 << 19, "kernels of SPIR-V": 1 << 19}


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def measure(program, command, file):
    """Seconds of processor time, MiB at most, and what it exited with."""
    words, _, stdin = command.replace("OUT", str(file) + ".out").replace("FILE", str(file)).partition(" < ")
    best = None
    for _ in range(2):
        with open(stdin or os.devnull, "rb") as input:
            process = subprocess.Popen([program, *words.split()], stdin=input, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, preexec_fn=limit)
            said = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
        code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        if code not in (0, 1):
            sys.exit(f"{command}: exit {code}: {said.decode(errors='replace')[:300]}")
        best = seconds if best is None else min(best, seconds)
        if best > 2:
            break
    return best, used.ru_maxrss >> 10


def slope(points):
    """Of a line through the logarithms, by least squares; None for fewer than three points."""
    if len(points) < 3:
        return None
    xs, ys = [math.log(n) for n, _ in points], [math.log(t) for _, t in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=20)
    parser.add_argument("--shape", action="append", choices=SHAPES)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("program", nargs="?", default=str(ROOT / "target/release/roundonce"))
    options = parser.parse_args()
    sizes = [1 << bits for bits in range(10, options.largest + 1, 2)]
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        for name in options.shape or SHAPES:
            what, file, make, commands = SHAPES[name]
            path = pathlib.Path(folder) / file
            measured = {command: [] for command in commands}
            for n in sizes:
                if n > FEWER.get(name, n):
                    continue
                if make is None:
                    made = [options.program, "vectors", "gen", "fma.rn.f32", "--count", str(n), "-o", str(path)]
                    subprocess.run(made, check=True)
                else:
                    text = make(n)
                    path.write_bytes(text if isinstance(text, bytes) else text.encode())
                for command in commands:
                    measured[command].append(measure(options.program, command, path))
            for command, times in measured.items():
                base = measure(options.program, "--version", path)[0]
                points = [(n, time - base) for n, (time, _) in zip(sizes, times) if time - base >= LEAST_SECONDS]
                growth = slope(points)
                bad = growth is not None and growth > MOST_GROWTH
                failed |= bad
                shown = "too short" if growth is None else f"{growth:.2f}"
                seconds = " | ".join([f"{time:.2f}" for time, _ in times] + [""] * (len(sizes) - len(times)))
                megabytes = max(memory for _, memory in times)
                verb = command.replace("FILE", "").split(" --arg")[0].split(" --limit")[0].split()
                verb = " ".join(word for word in verb if not word.startswith("OUT"))
                engine = ", interpreted" if "--engine interpreter" in command else ""
                row = f"| {what} | `{verb}`{engine} | {seconds} | {megabytes} | {shown} |"
                rows.append(row)
                print(row + (" TOO FAST" if bad else ""), flush=True)
    if options.page:
        heads = " | ".join(f"2^{n.bit_length() - 1}" for n in sizes)
        table = [f"| parts | command | {heads} | MiB | growth |", "|---|---|" + "---:|" * (len(sizes) + 2), *rows]
        kept = PAGE.read_text().split("<!-- table -->")[0]
        PAGE.write_text(kept + "<!-- table -->\n" + "\n".join(table) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
