#!/usr/bin/env python3
"""Every counterpart that `translate` gives of every form, put to the real tools: compiled, validated, and run for its bits.

    dev/translate/spelling.py [EVERY]      # each spelling; 20: every twentieth

Needs pip, gcc, Debian's glslang-tools and a processor with FMA. `target/release/roundonce` is built first. CUDA C++ is
compiled by nvcc, GLSL by glslang and validated by spirv-val, and `run` executes both over arrays; C is compiled by gcc and
run on this machine. The bits must be those of `eval` of the source, but for NaNs where the answer says that their bits are
open. The modules of PTX and SPIR-V that the test `translate_forms` runs are put to ptxas and spirv-val. Metal has no
compiler here, WGSL no counterpart. Exits 1 if a tool refuses a text or a bit differs.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "dev", "spelling"))
import judge  # noqa: E402

ROUNDONCE = os.environ.get("ROUNDONCE", judge.ROUNDONCE)
COUNT = {"c": 100_000, "cuda": 4096, "glsl": 4096}
FORMATS = {"f16": (16, 10), "bf16": (16, 7), "f32": (32, 23), "f64": (64, 52)}
INTEGER = {16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}
CUDA = {"f16": "__half", "f16x2": "__half2", "bf16": "__nv_bfloat16", "bf16x2": "__nv_bfloat162", "f32": "float", "f32x2": "float2", "f64": "double"}
GLSL = {"f16": ("float16_t", "f16vec"), "f32": ("float", "vec"), "f64": ("double", "dvec")}
C = {"f16": "_Float16", "f32": "float", "f64": "double"}


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def complaint(said):
    """What a tool has against what it was given."""
    return (said.stdout + said.stderr).strip() if said.returncode else None


def side_by_side(work, items):
    """The results in order. The judges take most of their time to start, on one core each."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def element(ty):
    """A type's element and its number of components."""
    name, _, components = ty.partition("x")
    return name, int(components or 1)


def value(name, rng):
    """The bits of a number: any, special, or near one with few or many bits set."""
    width, fraction = FORMATS[name]
    exponents = (1 << (width - 1 - fraction)) - 1
    sign = rng.getrandbits(1) << (width - 1)
    kind = rng.randrange(8)
    if kind == 0:
        return rng.getrandbits(width)
    if kind == 1:
        top = exponents << fraction
        return sign | rng.choice([0, 1, (1 << fraction) - 1, 1 << fraction, (exponents // 2) << fraction, top - 1, top, top | 1 << (fraction - 1)])
    if kind == 2:
        return sign | rng.randrange(0, min(exponents, 30)) << fraction | rng.getrandbits(fraction)
    bits = rng.getrandbits(fraction) & (-1 << rng.randrange(fraction + 1))
    return sign | (exponents // 2 + rng.randint(-4, 4)) << fraction | bits & ((1 << fraction) - 1)


def operands(types, count, seed):
    """For each operand the bits of its elements, one list a letter."""
    rng = random.Random(seed)
    letters = [letter for letter in "abc" if letter in types]
    columns = {letter: [] for letter in letters}
    for _ in range(count):
        for letter in letters:
            name, components = element(types[letter])
            columns[letter].append([value(name, rng) for _ in range(components)])
    return columns


def packed(parts, width):
    return sum(part << (width * at) for at, part in enumerate(parts))


def evaluated(spelling, types, columns, count):
    """The source's bits, by `eval -`."""
    lines = []
    for at in range(count):
        words = [f"{packed(column[at], FORMATS[element(types[letter])[0]][0]):#x}" for letter, column in columns.items()]
        digits = lambda letter: FORMATS[element(types[letter])[0]][0] * element(types[letter])[1] // 4
        words = [f"0x{int(word, 16):0{digits(letter)}x}" for word, letter in zip(words, columns)]
        lines.append(" ".join([spelling, *words]))
    said = run(ROUNDONCE, "eval", "-", input="\n".join(lines) + "\n")
    name, components = element(types["d"])
    width = FORMATS[name][0]
    results = [int(line.split()[0], 16) for line in said.stdout.splitlines()]
    return [[whole >> (width * at) & ((1 << width) - 1) for at in range(components)] for whole in results]


def is_nan(name, bits):
    width, fraction = FORMATS[name]
    magnitude = bits & ((1 << (width - 1)) - 1)
    return magnitude > ((1 << (width - 1)) - 1) >> fraction << fraction


def difference(spelling, types, columns, found, way):
    expected = evaluated(spelling, types, columns, len(found))
    name = element(types["d"])[0]
    nan_is_open = "the bits of a NaN" in way["open"]
    # CUDA C++'s subnormals and NaNs are the machine's; `run` has the same.
    for at, (one, other) in enumerate(zip(found, expected)):
        for mine, theirs in zip(one, other):
            if mine != theirs and not (nan_is_open and is_nan(name, mine) and is_nan(name, theirs)):
                given = {letter: [hex(part) for part in column[at]] for letter, column in columns.items()}
                return f"{given} gives {mine:#x}, and {spelling} {theirs:#x}"
    return None if len(found) == len(expected) else "another number of results"


def write_npy(path, numbers, width):
    letter = {16: "u2", 32: "u4", 64: "u8"}[width]
    header = f"{{'descr': '<{letter}', 'fortran_order': False, 'shape': ({len(numbers)},), }}".ljust(117) + "\n"
    code = {16: "H", 32: "I", 64: "Q"}[width]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


def executed(module, entry, names, types, columns, count, block, folder):
    """What a kernel of arrays, the result last, leaves in the result."""
    arguments = []
    for letter, column in columns.items():
        width = FORMATS[element(types[letter])[0]][0]
        path = os.path.join(folder, f"{letter}.npy")
        write_npy(path, [part for parts in column for part in parts], width)
        arguments += ["--arg", f"{names[letter]}={path}"]
    name, components = element(types["d"])
    width = FORMATS[name][0]
    out = os.path.join(folder, "d.npy")
    arguments += ["--arg", f"{names['d']}=zeros:u{width}:{count * components}", "--out", f"{names['d']}={out}"]
    launch = ["--grid", str(count // 64)] + (["--block", "64"] if block else [])
    said = run(ROUNDONCE, "run", module, *(["--entry", entry] if entry else []), *launch, *arguments)
    if said.returncode:
        return said.stderr.strip()
    with open(out, "rb") as file:
        raw = file.read()[-count * components * width // 8 :]
    flat = struct.unpack(f"<{count * components}{ {16: 'H', 32: 'I', 64: 'Q'}[width]}", raw)
    return [list(flat[at : at + components]) for at in range(0, len(flat), components)]


def judge_cuda(tools, folder, number, spelling, types, way):
    source, module = os.path.join(folder, f"{number}.cu"), os.path.join(folder, f"{number}.ptx")
    letters = [letter for letter in "abc" if letter in types]
    parameters = ", ".join(f"{CUDA[types[letter]]} *p{letter}" for letter in [*letters, "d"])
    loads = "\n".join(f"    {CUDA[types[letter]]} {letter} = p{letter}[i];" for letter in letters)
    code = "\n".join(f"    {line}" for line in way["code"])
    headers = sorted({*way["around"], "#include <cuda_fp16.h>", "#include <cuda_bf16.h>"})
    with open(source, "w") as file:
        file.write("\n".join(headers) + f'\nextern "C" __global__ void k({parameters})\n{{\n')
        file.write(f"    int i = blockIdx.x * 64 + threadIdx.x;\n{loads}\n{code}\n    pd[i] = d;\n}}\n")
    needs = " ".join(way["needs"])
    arch = "compute_107a" if "sm_107" in needs and "`a`" in needs else "compute_100a"
    said = run(tools["nvcc"], "-ptx", f"-arch={arch}", *way["flags"], source, "-o", module)
    if said.returncode:
        return complaint(said)
    names = {letter: at for at, letter in enumerate([*letters, "d"])}
    columns = operands(types, COUNT["cuda"], number)
    found = executed(module, "k", names, types, columns, COUNT["cuda"], True, folder)
    return found if isinstance(found, str) else difference(spelling, types, columns, found, way)


def judge_glsl(tools, folder, number, spelling, types, way):
    source, module = os.path.join(folder, f"{number}.comp"), os.path.join(folder, f"{number}.spv")
    letters = [letter for letter in "abcd" if letter in types]

    def name(ty):
        scalar, vector = GLSL[element(ty)[0]]
        return scalar, scalar if element(ty)[1] == 1 else f"{vector}{element(ty)[1]}"

    extensions = [line for line in way["around"] if line.startswith("#")]
    if any(element(ty)[0] == "f16" for ty in types.values()):
        extensions += ["#extension GL_EXT_shader_16bit_storage : require"]
    lines = ["#version 450", *extensions, "layout(local_size_x = 64) in;"]
    lines += [line for line in way["around"] if not line.startswith("#")]
    for at, letter in enumerate(letters):
        lines.append(f"layout(set = 0, binding = {at}) buffer B{letter} {{ {name(types[letter])[0]} p{letter}[]; }};")
    body = ["uint i = gl_GlobalInvocationID.x;"]
    for letter in letters[:-1]:
        components = element(types[letter])[1]
        parts = ", ".join(f"p{letter}[i * {components} + {at}]" for at in range(components))
        body.append(f"{name(types[letter])[1]} {letter} = {name(types[letter])[1]}({parts});")
    body += way["code"]
    components = element(types["d"])[1]
    body += [f"pd[i * {components} + {at}] = d{'' if components == 1 else f'[{at}]'};" for at in range(components)]
    with open(source, "w") as file:
        file.write("\n".join([*lines, "void main() {", *body, "}"]) + "\n")
    for command in (["glslangValidator", "-V", "--target-env", "vulkan1.2", source, "-o", module], [tools["spirv-val"], "--target-env", "vulkan1.2", module]):
        said = run(*command)
        if said.returncode:
            return complaint(said)
    names = {letter: f"0.{at}" for at, letter in enumerate(letters)}
    columns = operands(types, COUNT["glsl"], number)
    found = executed(module, None, names, types, columns, COUNT["glsl"], False, folder)
    return found if isinstance(found, str) else difference(spelling, types, columns, found, way)


def judge_c(tools, folder, number, spelling, types, way):
    source, program = os.path.join(folder, f"{number}.c"), os.path.join(folder, f"{number}.out")
    letters = [letter for letter in "abc" if letter in types]
    top = [line for line in way["around"] if line.startswith("#")]
    inside = [line for line in way["around"] if not line.startswith("#")]
    members = " ".join(f"{C[types[letter]]} {letter};" for letter in letters)
    loads = " ".join(f"{C[types[letter]]} {letter} = given.{letter};" for letter in letters)
    code = "\n".join(way["code"])
    with open(source, "w") as file:
        file.write("#include <stdio.h>\n" + "\n".join(top))
        file.write(f"\nstruct __attribute__((packed)) given {{ {members} }};\n")
        file.write(f"__attribute__((noinline)) static {C[types['d']]} compute(struct given given) {{ {loads}\n{code}\nreturn d; }}\n")
        file.write("int main(void) {\n" + "\n".join(inside) + "\nstruct given given;\n")
        file.write(f"while (fread(&given, sizeof given, 1, stdin) == 1) {{ {C[types['d']]} d = compute(given); fwrite(&d, sizeof d, 1, stdout); }}\nreturn 0; }}\n")
    said = run("gcc", "-O2", "-std=gnu17", *way["flags"], source, "-o", program, "-lm")
    if said.returncode:
        return complaint(said)
    columns = operands(types, COUNT["c"], number)
    codes = {16: "H", 32: "I", 64: "Q"}
    record = "<" + "".join(codes[FORMATS[types[letter]][0]] for letter in letters)
    raw = b"".join(struct.pack(record, *(columns[letter][at][0] for letter in letters)) for at in range(COUNT["c"]))
    said = subprocess.run([program], input=raw, capture_output=True, check=True)
    found = [[bits] for (bits,) in struct.iter_unpack("<" + codes[FORMATS[types["d"]][0]], said.stdout)]
    return difference(spelling, types, columns, found, way)


JUDGES = {"cuda": judge_cuda, "glsl": judge_glsl, "c": judge_c}


def forms(every):
    said = run(ROUNDONCE, "forms", "--format", "json").stdout.splitlines()
    rows = [json.loads(line) for line in said]
    return [spelling for row in rows if "matrix" not in row for spelling in row["spellings"]][::every]


def modules(tools, folder):
    """The modules of PTX and SPIR-V that the test runs, for the assembler and the validator."""
    os.environ["ROUNDONCE_TRANSLATED"] = folder
    said = run("cargo", "test", "-p", "roundonce", "--test", "translate_forms", "texts", cwd=ROOT)
    if said.returncode:
        sys.exit(said.stdout + said.stderr)
    wrong, counted = [], collections.Counter()
    names = sorted(os.listdir(folder))
    for name, (what, problem) in zip(names, side_by_side(lambda name: judge_module(tools, os.path.join(folder, name)), names)):
        counted[what] += 1
        if problem is not None:
            wrong.append((name, problem))
    return wrong, counted


def judge_module(tools, path):
    """By what a module is judged, or why it is not; and what is wrong with it."""
    if not path.endswith(".ptx"):
        out = path + ".spv"
        said = run(tools["spirv-as"], "--target-env", "spv1.3", path, "-o", out)
        said = said if said.returncode else run(tools["spirv-val"], "--target-env", "vulkan1.1", out)
        return "SPIR-V by spirv-val", complaint(said)
    with open(path) as file:
        text = file.read()
    target = re.search(r"\.target (sm_(\d+)a?)", text)
    # The oldest machine that the assembler knows; the older ones are a matter of the rows' own tests.
    if int(target[2]) < 20 or re.search(r"\.version 2\.", text) and re.search(r"\nmad(\.ftz)?(\.sat)?\.f32 ", text):
        return "PTX of machines that no assembler knows", None
    # As the rows say: without `.rz` the assembler takes these and cannot encode them.
    if re.search(r"\n(add|sub)\.(ftz\.)?b?f16x2\.f32x2\.f32x2 ", text):
        return "PTX that ptxas takes and cannot encode", None
    if int(target[2]) < 75:
        text = text.replace(target[1], "sm_75", 1)
        text = re.sub(r"\.version \d+\.\d+", ".version 8.0", text, count=1)
        target = re.search(r"\.target (sm_(\d+)a?)", text)
        with open(path, "w") as file:
            file.write(text)
    return "PTX by ptxas", complaint(run(tools["ptxas"], "-arch", target[1], path, "-o", path + ".cubin"))


class Job(collections.namedtuple("Job", "language spelling types way")):
    """A way to write a form in a language."""

    @property
    def text(self):
        return self.language, json.dumps([self.way["code"], self.way["around"], self.types])


def answers_to(spelling):
    """The ways to write a form, in each language that has one."""
    jobs = []
    for language in JUDGES:
        said = run(ROUNDONCE, "translate", spelling, "--to", language, "--format", "json")
        if said.returncode > 1:
            continue
        answer = json.loads(said.stdout)
        types = answer["types"]
        # What is written once for each component is judged where it is the scalar form's.
        ways = [way for way in answer["ways"] if all(element(ty)[1] == way["components"] for ty in types.values())]
        jobs += [Job(language, spelling, types, way) for way in ways]
    return jobs


def main():
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    tools = judge.install()
    with tempfile.TemporaryDirectory() as folder:
        wrong, counted = modules(tools, folder)
    with tempfile.TemporaryDirectory() as folder:
        # The same text is judged once, for the first form that has it.
        by_text = {}
        for job in itertools.chain.from_iterable(side_by_side(answers_to, forms(every))):
            by_text.setdefault(job.text, job)
        ways = list(by_text.values())

        def judged(numbered):
            number, job = numbered
            own = os.path.join(folder, str(number))
            os.mkdir(own)
            return JUDGES[job.language](tools, own, number, job.spelling, job.types, job.way)

        for job, problem in zip(ways, side_by_side(judged, enumerate(ways, 1))):
            counted[job.language] += 1
            if problem is not None:
                wrong.append((f"{job.language} of {job.spelling}: {job.way['code']}", problem))
    for text, problem in wrong[:20]:
        print(f"{text}\n    {problem}")
    print(", ".join(f"{count} {what}" for what, count in counted.items()) + f"; {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
