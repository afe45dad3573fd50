#!/usr/bin/env python3
"""Runs the functions that translated kernels compute elements of matrices by on PoCL and in our engine, and compares the bits.

    cargo build -p roundonce-cli && dev/translate/pocl.py    # makes target/debug/roundonce and target/translate
    dev/translate/dots.py [KERNEL …]                         # every kernel that multiplies matrices

PoCL has no shuffles of subgroups, so that no whole kernel of these runs there. Here the functions `dot_…` of a module get kernels of
their own: a thread calls one with words of a buffer. Half of the words are any bits, half are numbers near one another. That our
engine gives the bits of the source is what `crates/roundonce/tests/translate_spirv_matrices.rs` tests. Functions of f64 are left
out. Needs what pocl.py needs.
"""

import os
import pathlib
import re
import subprocess
import sys

import numpy
import pyopencl

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "translate"
WORK = ROOT / "target" / "dots"
THREADS = 4096
# What the kernels of the module need, and the functions do not.
DROPPED = re.compile(
    r"OpEntryPoint|OpExecutionMode|OpName|OpDecorate|OpExtension|OpCapability (Subgroup|Rounding|Denorm|SignedZero)|.* = Op(String|Variable)"
)


def functions(text):
    """What stands before a module's functions, and those of elements: their names and lines."""
    lines = [line for line in text.splitlines() if not line.startswith((";", "OpLine"))]
    start = next(at for at, line in enumerate(lines) if " = OpFunction " in line)
    found, name = {}, None
    for line in lines[start:]:
        if begins := re.match(r"(%\w+) = OpFunction (%\w+) ", line):
            name = begins[1] if begins[1].startswith("%dot_") and begins[2] == "%uint" else None
        if name:
            found.setdefault(name, []).append(line)
    return [line for line in lines[:start] if not DROPPED.match(line)], found


def harness(text):
    """A module with a kernel for each function, and how many words each takes."""
    head, found = functions(text)
    counts = {name: sum("OpFunctionParameter" in line for line in lines) for name, lines in found.items()}
    if not counts:
        return None, counts
    declared = {line.split(" = ")[0] for line in head}

    def declare(name, what):
        if name not in declared:
            declared.add(name)
            head.append(f"{name} = {what}")
        return name

    declare("%void", "OpTypeVoid")
    triple = declare("%v3ulong", "OpTypeVector %ulong 3")
    pointer = declare("%ptr_CrossWorkgroup_uint", "OpTypePointer CrossWorkgroup %uint")
    place = declare("%thread", "OpVariable " + declare("%ptr_Input_v3ulong", f"OpTypePointer Input {triple}") + " Input")
    kind = declare("%kernel_type", f"OpTypeFunction %void {pointer} {pointer}")
    kernels, entries = [], []
    for number, (name, count) in enumerate(counts.items()):
        entries.append(f'OpEntryPoint Kernel %kernel_{number} "k{number}" {place}')
        own = f"%k{number}_"
        lines = [
            f"%kernel_{number} = OpFunction %void None {kind}",
            f"{own}x = OpFunctionParameter {pointer}",
            f"{own}y = OpFunctionParameter {pointer}",
            f"{own}start = OpLabel",
            f"{own}all = OpLoad {triple} {place} Aligned 32",
            f"{own}i = OpCompositeExtract %ulong {own}all 0",
            f"{own}first = OpIMul %ulong {own}i " + declare(f"%ulong_{count}", f"OpConstant %ulong {count}"),
        ]
        for at in range(count):
            step = declare(f"%ulong_{at}", f"OpConstant %ulong {at}")
            lines += [
                f"{own}at{at} = OpIAdd %ulong {own}first {step}",
                f"{own}p{at} = OpInBoundsPtrAccessChain {pointer} {own}x {own}at{at}",
                f"{own}w{at} = OpLoad %uint {own}p{at} Aligned 4",
            ]
        lines += [
            f"{own}d = OpFunctionCall %uint {name} " + " ".join(f"{own}w{at}" for at in range(count)),
            f"{own}to = OpInBoundsPtrAccessChain {pointer} {own}y {own}i",
            f"OpStore {own}to {own}d Aligned 4",
            "OpReturn",
            "OpFunctionEnd",
        ]
        kernels += lines
    at = next(at for at, line in enumerate(head) if line.startswith("OpMemoryModel")) + 1
    decorations = [f"OpDecorate {place} BuiltIn GlobalInvocationId", f"OpDecorate {place} Constant"]
    body = [line for lines in found.values() for line in lines]
    return "\n".join(head[:at] + entries + decorations + head[at:] + body + kernels) + "\n", counts


def words(name, count, random):
    """Operands: any bits, and for half of the threads numbers whose exponents are near one another."""
    data = random.integers(0, 1 << 32, size=(THREADS, count), dtype=numpy.uint32)
    half, element = THREADS // 2, name.split("_")[1]
    if element == "tf32":
        data[:half] &= 0x807F_FFFF
        data[:half] |= random.integers(118, 134, size=(half, count), dtype=numpy.uint32) << 23
    elif element == "bf16":
        data[:half] = data[:half] & 0x81FF_81FF | 0x3E00_3E00
    else:
        data[:half] &= 0xBFBF_BFBF
    return numpy.ascontiguousarray(data.reshape(-1))


def on_pocl(program, context, number, data):
    queue, flags = pyopencl.CommandQueue(context), pyopencl.mem_flags
    found = numpy.zeros(THREADS, dtype=numpy.uint32)
    given = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data)
    result = pyopencl.Buffer(context, flags.WRITE_ONLY, found.nbytes)
    kernel = pyopencl.Kernel(program, f"k{number}")
    kernel.set_args(given, result)
    pyopencl.enqueue_nd_range_kernel(queue, kernel, [THREADS], [64])
    pyopencl.enqueue_copy(queue, found, result)
    return found


def in_our_engine(module, number, data):
    numpy.save(WORK / "x.npy", data)
    numpy.save(WORK / "y.npy", numpy.zeros(THREADS, dtype=numpy.uint32))
    command = [ROOT / "target/debug/roundonce", "run", module, "--entry", f"k{number}", "--grid", str(THREADS // 64)]
    command += ["--block", "64", "--arg", f"0={WORK}/x.npy", "--arg", f"1={WORK}/y.npy", "--out", f"1={WORK}/d.npy"]
    subprocess.run(command, check=True, capture_output=True)
    return numpy.load(WORK / "d.npy").view(numpy.uint32)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    assembler = pathlib.Path(os.environ.get("SPIRV_TOOLS", "")) / "spirv-as"
    device = pyopencl.get_platforms()[0].get_devices()[0]
    random = numpy.random.default_rng(1)
    compared, wrong, kinds = 0, 0, 0
    for folder in [OUT / name for name in sys.argv[1:]] or sorted(OUT.glob("*mma*")) + sorted(OUT.glob("triton*")):
        text, counts = harness((folder / "module.spvasm").read_text())
        if not counts:
            continue
        module, code = WORK / f"{folder.name}.spvasm", WORK / f"{folder.name}.bc"
        module.write_text(text)
        subprocess.run([assembler, "--target-env", "spv1.2", module, "-o", module.with_suffix(".spv")], check=True)
        subprocess.run(["llvm-spirv-15", "-r", module.with_suffix(".spv"), "-o", code], check=True)
        context = pyopencl.Context([device])
        program = pyopencl.Program(context, [device], [code.read_bytes()]).build(options="-x spir -spir-std=1.2")
        for number, (name, count) in enumerate(counts.items()):
            data = words(name, count, random)
            found, wanted = on_pocl(program, context, number, data), in_our_engine(module, number, data)
            differ = numpy.flatnonzero(found != wanted)
            if len(differ):
                at = differ[0]
                print(f"{folder.name}: {name}: {len(differ)} differ, thread {at}: {found[at]:08x}, not {wanted[at]:08x}")
            kinds, compared, wrong = kinds + 1, compared + THREADS, wrong + len(differ)
    print(f"{kinds} functions, {compared} results on PoCL, {wrong} differ")
    return 1 if wrong or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
