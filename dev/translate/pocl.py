"""Runs translated kernels on PoCL and compares their buffers with the source's, bit for bit.

    cargo build --release -p roundonce --tests    # makes what is run here
    dev/translate/pocl.py                          # writes target/translate, runs every kernel

Debian's PoCL reads no SPIR-V itself: spirv-as makes words of the text, llvm-spirv makes LLVM's bitcode of them, which PoCL
takes as SPIR. Needs the packages pocl-opencl-icd, python3-pyopencl, llvm-spirv-15 and spirv-tools (or SPIRV_TOOLS).
What a tool or PoCL refuses is listed with its words; a buffer that differs is an error. Which bits a NaN has neither PTX nor
OpenCL says: where both have one there, in any format, they count as the same.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy
import pyopencl

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "translate"


def prepare():
    OUT.mkdir(parents=True, exist_ok=True)
    command = ["cargo", "test", "--release", "-q", "-p", "roundonce", "--test", "translate_spirv", "ptx"]
    environment = {**os.environ, "ROUNDONCE_SPIRV_OUT": str(OUT)}
    environment.pop("SPIRV_TOOLS", None)
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def bitcode(folder):
    """The module as LLVM's bitcode, or the words of the tool that does not take it."""
    assembler = pathlib.Path(os.environ.get("SPIRV_TOOLS", "")) / "spirv-as"
    words, code = folder / "module.spv", folder / "module.bc"
    steps = [
        [str(assembler), "--target-env", "spv1.2", str(folder / "module.spvasm"), "-o", str(words)],
        ["llvm-spirv-15", "-r", str(words), "-o", str(code)],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            return None, (done.stderr or f"{step[0]} ended with {done.returncode}").splitlines()[0]
    return code.read_bytes(), None


def is_nan(bits, exponent, fraction):
    return bits >> fraction & (1 << exponent) - 1 == (1 << exponent) - 1 and bits & (1 << fraction) - 1 != 0


def same(found, wanted):
    """Whether two words are the same but for what a NaN of f32, f16, bf16 has, in a word or in halves of it."""
    if found == wanted or is_nan(found, 8, 23) and is_nan(wanted, 8, 23):
        return True
    halves = [(found & 0xffff, wanted & 0xffff), (found >> 16, wanted >> 16)]
    return all(a == b or any(is_nan(a, *of) and is_nan(b, *of) for of in [(5, 10), (8, 7)]) for a, b in halves)


def launch(context, folder):
    """Runs a kernel; the places of the buffers that differ from the source's."""
    launch = json.loads((folder / "launch.json").read_text())
    code, words = bitcode(folder)
    if code is None:
        return None, words
    device = context.devices[0]
    try:
        program = pyopencl.Program(context, [device], [code]).build(options="-x spir -spir-std=1.2")
        kernel = pyopencl.Kernel(program, launch["kernel"])
    except (pyopencl.Error, RuntimeError) as error:
        lines = [line for line in str(error).splitlines() if "error" in line.lower() or "undefined" in line.lower()]
        return None, (lines or str(error).splitlines() or ["refused"])[0]
    queue = pyopencl.CommandQueue(context)
    buffers = {}
    for place, argument in enumerate(launch["arguments"]):
        data = (folder / f"{place}.bin").read_bytes()
        if argument["kind"] == "buffer":
            flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
            buffers[place] = pyopencl.Buffer(context, flags, hostbuf=bytearray(data)), len(data)
            kernel.set_arg(place, buffers[place][0])
        elif argument["size"] is None:
            kernel.set_arg(place, pyopencl.LocalMemory(max(int.from_bytes(data, "little"), 1)))
        elif argument["kind"] == "scalar":
            kernel.set_arg(place, numpy.frombuffer(data[: argument["size"]], dtype=numpy.uint8))
        else:
            kernel.set_arg(place, numpy.frombuffer(data, dtype=numpy.uint8))
    size = [grid * block for grid, block in zip(launch["grid"], launch["block"])]
    try:
        pyopencl.enqueue_nd_range_kernel(queue, kernel, size, launch["block"])
        queue.finish()
    except (pyopencl.Error, RuntimeError) as error:
        return None, str(error).splitlines()[0]
    differ = []
    for place, (buffer, length) in buffers.items():
        found = bytearray(length)
        pyopencl.enqueue_copy(queue, found, buffer)
        wanted = (folder / f"{place}.expected").read_bytes()
        words = [numpy.frombuffer(bytes(data) + bytes(-length % 4), dtype="<u4").tolist() for data in (found, wanted)]
        pairs = list(zip(*words))
        places = [at for at, (a, b) in enumerate(pairs) if not same(a, b)]
        if places:
            a, b = pairs[places[0]]
            differ.append(f"argument {place}: {len(places)} words, the first at {places[0]}: {a:08x}, not {b:08x}")
    return differ, None


def one(name):
    device = pyopencl.get_platforms()[0].get_devices()[0]
    differ, words = launch(pyopencl.Context([device]), OUT / name)
    if differ is None:
        print("refused", words, sep="\t")
    else:
        print("differs" if differ else "equal", "; ".join(differ), sep="\t")


def main():
    if len(sys.argv) == 2:
        return one(sys.argv[1])
    prepare()
    equal, wrong = 0, 0
    for folder in sorted(OUT.iterdir()):
        if not (folder / "launch.json").exists():
            continue
        # A kernel that ends the process ends only its own.
        command = [sys.executable, __file__, folder.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            kind, _, words = done.stdout.strip().partition("\t")
            if done.returncode != 0 or not kind:
                kind, words = "refused", (done.stderr.strip().splitlines() or ["no answer"])[-1]
        except subprocess.TimeoutExpired:
            kind, words = "refused", "no answer in two minutes"
        equal += kind == "equal"
        wrong += kind == "differs"
        print(f"{folder.name}: {kind} {words[:200]}".rstrip())
    print(f"{equal} kernels give the source's bits on PoCL, {wrong} do not")
    return 1 if wrong or equal == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
