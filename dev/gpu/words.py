#!/usr/bin/env python3
"""Runs machine code that no PTX is made into: one instruction of a cubin is replaced by each spelling that `roundonce asm` knows.

    PTXAS=ptxas ROUNDONCE=target/release/roundonce dev/gpu/words.py make words.jsonl.gz [TARGET]    anywhere; sm_90
    dev/gpu/words.py run words.jsonl.gz OUT                                                         on the GPU
    dev/gpu/words.py vectors OUT/words-results.jsonl.gz VECTORS.jsonl.gz [COUNT]                    anywhere
    dev/gpu/words.py records VERIFIED.txt MACHINE ASSEMBLER DATE > results.jsonl                    from what `vectors verify` printed
    dev/gpu/words.py table OUT/words-results.jsonl.gz words.tsv.gz [COUNT]                          anywhere

A line of words.jsonl is an instruction, its type, and the cubin. OUT/words-results.jsonl.gz has the bits of d for each triple of operands
(zlib, base64), or the driver's error. Operands are made anew from the type. `vectors` makes lines of those with plain operands that
`roundonce vectors verify` takes; `table` has a line for each result of each instruction, with what it does to its operands, and says
which are illegal. Python's standard library alone is needed, and on the GPU its driver.
"""

import base64
import ctypes
import functools
import gzip
import itertools
import json
import multiprocessing
import os
import queue
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

TRIPLES = 8192
# The bits of a significand's fraction, and of an exponent.
FORMATS = {"f32": (23, 8), "f64": (52, 11), "f16": (10, 5), "bf16": (7, 8)}

TEMPLATE = """
.version 8.0
.target {target}
.address_size 64
.visible .entry probe(.param .u64 in, .param .u64 out) {{
    .reg .b64 %p<5>; .reg .b32 %r<6>; .reg .{type} %a, %b, %c, %d; .reg .pred %odd;
    ld.param.u64 %p1, [in];
    ld.param.u64 %p2, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mad.wide.u32 %p3, %r4, 24, %p1;
    mad.wide.u32 %p4, %r4, 8, %p2;
    and.b32 %r5, %r4, 1;
    setp.ne.u32 %odd, %r5, 0;
    ld.global.{type} %a, [%p3];
    ld.global.{type} %b, [%p3+8];
    ld.global.{type} %c, [%p3+16];
    fma.rn.{type} %d, %a, %b, %c;
    {select}
    st.global.{type} [%p4], %d;
    ret;
}}
"""
# What is stored by threads of an even number: 0, so that P0 holds where the result is seen.
SELECT = "selp.f32 %d, %d, 0f00000000, %odd;"


def named(fraction, exponent):
    """The numbers with a name, of either sign."""
    normal, infinity = 1 << fraction, (1 << exponent) - 1 << fraction
    one, quiet = (1 << exponent - 1) - 1 << fraction, 1 << fraction - 1
    magnitudes = [0, 1, 2, normal // 2, normal - 1, normal, normal + 1, 2 * normal, one - 1, one, one + 1, one + normal,
                  one - fraction * normal, one | normal - 1, infinity - 1,
                  infinity - normal, infinity, infinity | quiet, infinity | quiet | 5, infinity | 1]
    sign = 1 << fraction + exponent
    return [bits | side for bits in magnitudes for side in (0, sign)]


def triples(name):
    """Operands of one format, in the words of one component."""
    fraction, exponent = FORMATS[name]
    names, width, bias = named(fraction, exponent), fraction + exponent + 1, (1 << exponent - 1) - 1
    rng = random.Random(f"roundonce {name}")

    def near(power):
        """A number of about this exponent; its fraction random, sparse or dense."""
        bits = rng.getrandbits(fraction)
        bits = [bits, bits, 0, 1 << rng.randrange(fraction), (1 << fraction) - 1][rng.randrange(5)]
        field, sign = min(power + bias, (1 << exponent) - 2), rng.getrandbits(1) << width - 1
        if field > 0:
            return sign | field << fraction | bits
        return sign | ((1 << fraction | bits) >> min(1 - field, fraction + 1))

    out = []
    for number in range(TRIPLES):
        kind = number % 4
        if kind == 0:
            out.append(tuple(rng.choice(names) for _ in range(3)))
        elif kind == 1:
            out.append(tuple(rng.getrandbits(width) for _ in range(3)))
        else:
            # The product, or the sum, at an end of the exponent range or around one; the addend beside it.
            at = rng.choice([-bias - fraction, -bias, 1 - bias, 0, bias, rng.randrange(-bias - fraction, bias + 1)]) + rng.randrange(-2, 3)
            left = at // 2 + rng.randrange(-8, 9) if kind == 2 else at
            right = at - left if kind == 2 else rng.randrange(-3, 4)
            factors = near(left), near(right)
            beside = rng.choice([0, 0, -fraction, fraction, rng.randrange(-fraction - 2, fraction + 3)])
            out.append((*factors, near(at + beside)))
    return out


def operands(kind):
    """The operands of an instruction's type, in whole registers: two components where it is packed."""
    one = triples(kind.removesuffix("x2"))
    if not kind.endswith("x2"):
        return one
    beside = one[1:] + one[:1]
    return [tuple(low | high << 16 for low, high in zip(*pair)) for pair in zip(one, beside)]


def spellings():
    """Instructions and their types; those that the target lacks are not assembled."""
    rounding, sat, ftz = ["", ".RM", ".RP", ".RZ"], ["", ".SAT"], ["", ".FTZ"]
    fmz, relu = [*ftz, ".FMZ"], ["", ".RELU"]

    def each(*parts):
        return map("".join, itertools.product(*parts))

    for f in each(["FFMA"], fmz, rounding, sat):
        yield f, "f32", "R{a}, R{b}, R{c}"
    for f in each(["FADD"], ftz, rounding, sat):
        yield f, "f32", "R{a}, R{c}"
    for f in each(["FMUL"], fmz, ["", ".D2", ".D4", ".D8", ".M2", ".M4", ".M8"], rounding, sat):
        yield f, "f32", "R{a}, R{b}"
    for signs in ["-R{a}, R{b}, R{c}", "R{a}, -R{b}, R{c}", "R{a}, R{b}, -R{c}", "-R{a}, R{b}, -R{c}"]:
        yield "FFMA", "f32", signs
        yield "DFMA", "f64", signs
    for signs in ["-R{a}, R{c}", "R{a}, -R{c}", "|R{a}|, R{c}", "R{a}, -|R{c}|", "-|R{a}|, |R{c}|"]:
        yield "FADD", "f32", signs
        yield "DADD", "f64", signs
    for signs in ["-R{a}, R{b}", "|R{a}|, R{b}", "R{a}, -|R{b}|"]:
        yield "FMUL", "f32", signs
        yield "DMUL", "f64", signs
    for r in rounding:
        yield "DFMA" + r, "f64", "R{a}, R{b}, R{c}"
        yield "DADD" + r, "f64", "R{a}, R{c}"
        yield "DMUL" + r, "f64", "R{a}, R{b}"
    for kind, of in [("", "f16x2"), (".F32", "f16x2"), (".BF16_V2", "bf16x2")]:
        for f in each([kind], [*fmz, ".OOB"], relu, sat):
            yield "HFMA2" + f, of, "R{a}, R{b}, R{c}"
            yield "HFMA2.MMA" + f, of, "R{a}, R{b}, R{c}"
            yield "HADD2" + f, of, "R{a}, R{c}"
            yield "HMUL2" + f, of, "R{a}, R{b}"
        for p in ["P0", "!P0", "!PT"]:
            yield f"HFMA2{kind}.RELU", of, "R{a}, R{b}, R{c}, " + p
            yield f"HFMA2.MMA{kind}.RELU", of, "R{a}, R{b}, R{c}, " + p
        for lanes in ["R{a}.H0_H0, R{b}, R{c}", "R{a}.H1_H1, R{b}, R{c}", "R{a}, R{b}.H0_H0, R{c}.H1_H1",
                      "R{a}, R{b}.H0_NH1, R{c}", "-R{a}, |R{b}|, R{c}", "R{a}, -R{b}, -R{c}"]:
            yield "HFMA2" + kind, of, lanes
        for lanes in ["R{a}.H1_H1, R{c}.H0_H0", "-R{a}, |R{c}|", "-|R{a}|, -R{c}", "|R{a}|, R{c}.H1_H1"]:
            yield "HADD2" + kind, of, lanes
            yield "HMUL2" + kind, of, lanes.replace("{c}", "{b}")
    # One f16 of each register, the sum in f32.
    for f in each(["HADD2.F32"], ftz, sat):
        yield f, "f16x2", "-RZ, R{c}.H0_H0"
        yield f, "f16x2", "-RZ, -|R{c}|.H1_H1"


def make(out, target):
    ptxas, tool = os.environ.get("PTXAS", "ptxas"), os.environ.get("ROUNDONCE", "target/release/roundonce")
    holder = tempfile.TemporaryDirectory()
    folder = Path(holder.name)

    def template(name, kind, select):
        (folder / f"{name}.ptx").write_text(TEMPLATE.format(target=target, type=kind, select=select))
        subprocess.run([ptxas, "-arch", target, folder / f"{name}.ptx", "-o", folder / f"{name}.cubin"], check=True)
        command = [tool, "disasm", "--schedule", "cuassembler", folder / f"{name}.cubin"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        # The line behind the section's name is address 0.
        [(at, line)] = [(at, line) for at, line in enumerate(text.splitlines()[1:]) if re.match(r"\[.*\] [FD]FMA ", line)]
        control, _, instruction = line.partition(" ")
        names = dict(zip("dabc", re.findall(r"R(\d+)", instruction)))
        # Its waits and barriers stay; 15 cycles are enough for any latency that is fixed.
        return folder / f"{name}.cubin", at * 16, names, re.sub(r".:S\d+\]", "Y:S15]", control)

    templates = {"f32": template("f32", "f32", ""), "f64": template("f64", "f64", ""), "predicate": template("predicate", "f32", SELECT)}
    made = refused = 0
    with gzip.open(out, "wt") as lines:
        for mnemonic, kind, pattern in spellings():
            of = "predicate" if "P0" in pattern else "f64" if kind == "f64" else "f32"
            cubin, at, names, control = templates[of]
            instruction = f"{control} {mnemonic} R{names['d']}, {pattern.format(**names)}"
            command = [tool, "asm", "--patch", cubin, "--at", hex(at), instruction, "-o", folder / "patched.cubin"]
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode:
                refused += 1
                continue
            made += 1
            text = base64.b64encode(zlib.compress((folder / "patched.cubin").read_bytes(), 9)).decode()
            pattern = pattern.format(a="a", b="b", c="c").replace("Ra", "a").replace("Rb", "b").replace("Rc", "c")
            lines.write(json.dumps({"instruction": mnemonic, "operands": pattern, "type": kind, "seen": of, "cubin": text}) + "\n")
    print(f"{made} instructions, {refused} that {target} lacks")


def run(source, out):
    Path(out).mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rt") as lines:
        cases = [json.loads(line) for line in lines]
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    with gzip.open(Path(out) / "words-results.jsonl.gz", "wt") as lines:
        done = 0
        while done < len(cases):
            # Nothing runs in a context after a fault: the next process begins behind it.
            process = context.Process(target=work, args=(cases[done:], answers))
            process.start()
            while (answer := next_answer(process, answers)) is not None:
                if "error" in answer:
                    print(answer["instruction"], answer["operands"], answer["error"], flush=True)
                lines.write(json.dumps(answer) + "\n")
                done += 1
            process.join()
    print(f"{done} instructions ran")


def next_answer(process, answers):
    """What the process says next; it may end without a word."""
    while True:
        try:
            return answers.get(timeout=1)
        except queue.Empty:
            if not process.is_alive():
                sys.exit(f"a process ended with {process.exitcode}")


def work(cases, answers):
    """Cases up to the first that faults, then nothing more."""
    from programs import Gpu

    gpu = Gpu()
    for case in cases:
        kind = case["type"]
        answer = {key: case[key] for key in ("instruction", "operands", "type", "seen")}
        try:
            d = launch(gpu, zlib.decompress(base64.b64decode(case["cubin"])), kind, stored(kind))
            answers.put({**answer, "d": base64.b64encode(zlib.compress(d)).decode()})
        except RuntimeError as error:
            answers.put({**answer, "error": str(error)})
            break
    answers.put(None)
    answers.close()
    answers.join_thread()
    os._exit(0)


@functools.cache
def stored(kind):
    return struct.pack(f"<{3 * TRIPLES}Q", *itertools.chain(*operands(kind)))


def launch(gpu, cubin, kind, words):
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    gpu.call("cuModuleLoadData", ctypes.byref(module), cubin)
    gpu.call("cuModuleGetFunction", ctypes.byref(kernel), module, b"probe")
    memory = [gpu.memory(24 * TRIPLES), gpu.memory(8 * TRIPLES)]
    pointers = (ctypes.c_void_p * 2)(*[ctypes.addressof(at) for at in memory])
    gpu.call("cuMemcpyHtoD_v2", memory[0], words, ctypes.c_size_t(len(words)))
    gpu.call("cuMemsetD8_v2", memory[1], ctypes.c_ubyte(0), ctypes.c_size_t(8 * TRIPLES))
    gpu.call("cuLaunchKernel", kernel, TRIPLES // 128, 1, 1, 128, 1, 1, 0, None, pointers, None)
    gpu.call("cuCtxSynchronize")
    left = ctypes.create_string_buffer(8 * TRIPLES)
    gpu.call("cuMemcpyDtoH_v2", left, memory[1], ctypes.c_size_t(8 * TRIPLES))
    for at in memory:
        gpu.call("cuMemFree_v2", at)
    gpu.call("cuModuleUnload", module)
    d = struct.unpack(f"<{TRIPLES}Q", left.raw)
    return struct.pack(f"<{TRIPLES}{'Q' if kind == 'f64' else 'I'}", *d)


def cases_of(path):
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def results(path):
    """Each case of a file of results, with its triples and what they gave."""
    for case in cases_of(path):
        if "d" in case:
            kind = case["type"]
            d = struct.unpack(f"<{TRIPLES}{'Q' if kind == 'f64' else 'I'}", zlib.decompress(base64.b64decode(case["d"])))
            yield case, operands(kind), d


def vectors(source, out, count):
    """Lines of what has plain operands: a sample, the first of which have names."""
    with gzip.open(out, "wt") as lines:
        for case, triples, d in results(source):
            names = case["operands"].split(", ")
            if not set(names) <= set("abc"):
                continue
            digits = 16 if case["type"] == "f64" else 8
            for triple, result in list(zip(triples, d))[:count]:
                # A sum's second operand is the third place of the machine code.
                bits = [triple["abc".index(name)] for name in names]
                line = {**dict(zip("abc", bits)), "d": result}
                words = {key: f"0x{value:0{digits}x}" for key, value in line.items()}
                lines.write(json.dumps({"instruction": case["instruction"], **words}) + "\n")


def records(verified, machine, assembler, date):
    """A record a line, as those of capture.sh: how many results of each instruction are as expected."""
    for name, count in re.findall(r"^(\S+): (\d+) vectors, as expected$", Path(verified).read_text(), re.MULTILINE):
        about = {"form": name, "machine": machine, "assembler": assembler, "date": date}
        print(json.dumps({**about, "cases": int(count), "mismatches": 0}))


def table(source, out, count):
    """Instruction, operands, a, b, c, d, in tabs; the last four are `illegal` where the GPU stops at it."""
    with gzip.open(out, "wt") as lines:
        for case in cases_of(source):
            if "ILLEGAL_INSTRUCTION" in case.get("error", ""):
                lines.write(f"{case['instruction']}\t{case['operands']}\tillegal\n")
        for case, triples, d in results(source):
            # Where P0 is false nothing is seen; signs and halves are seen in fewer results.
            rows = list(zip(triples, d))[1::2] if case["seen"] == "predicate" else list(zip(triples, d))
            is_plain = set(case["operands"].split(", ")) <= set("abc")
            for triple, result in rows[: count if is_plain else 4 * count]:
                words = "\t".join(f"{word:x}" for word in (*triple, result))
                lines.write(f"{case['instruction']}\t{case['operands']}\t{words}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", out, *target]:
            make(out, *(target or ["sm_90"]))
        case ["run", source, out]:
            run(source, out)
        case ["vectors", source, out, *count]:
            vectors(source, out, int(count[0]) if count else TRIPLES)
        case ["records", verified, machine, assembler, date]:
            records(verified, machine, assembler, date)
        case ["table", source, out, *count]:
            table(source, out, int(count[0]) if count else 32)
        case _:
            sys.exit(__doc__)
