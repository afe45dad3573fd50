"""NVIDIA's assembler as a judge of single instructions: ptxas 12.9 and 13.5, installed by pip into target/assemblers."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "target", "assemblers")
PACKAGES = {"12.9": "nvidia-cuda-nvcc-cu12==12.9.86", "13.5": "nvidia-cuda-nvcc==13.5.37"}
MINORS = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 5}
VERSIONS = [f"{major}.{minor}" for major, last in MINORS.items() for minor in range(last + 1)]
NEWEST = {"12.9": "8.8", "13.5": "9.5"}

# The registers of a judged module: a letter for each type.
REGISTERS = {
    "h": "b16", "r": "b32", "q": "b64", "b": "b8", "t": "u16", "u": "u32", "w": "u64", "i": "s16", "s": "s32",
    "j": "s64", "g": "f16", "x": "f16x2", "f": "f32", "d": "f64", "p": "pred",
}


def install():
    found = {}
    for name, package in PACKAGES.items():
        place = os.path.join(TOOLS, name)
        if not os.path.isdir(place):
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", place, package], check=True)
        for folder, _, files in os.walk(place, followlinks=True):
            if "ptxas" in files and os.path.basename(folder) == "bin":
                found[name] = os.path.join(folder, "ptxas")
    return found


# Lines of one call: the assembler's time grows faster than they do.
AT_ONCE = 4000


def taken(tool, target, version, lines, registers=REGISTERS, variables=""):
    """Which lines the assembler takes, each an instruction; `None` if it takes no module of that target and version.

    Targets that no assembler has any more are assembled for sm_50.
    """
    number, later = int(target.rstrip("af")), [int(part) for part in version.split(".")] >= [8, 3]
    known = {"f16x2": number > 52, "b128": number >= 70 and later}
    named = " ".join(f".reg .{ty} %{letter}<8>;" for letter, ty in registers.items() if known.get(ty, True))
    size = ".address_size 64\n" if [int(part) for part in version.split(".")] >= [2, 3] else ""
    head = f".version {version}\n.target sm_{target}\n{size}{variables}.visible .entry k () {{\n{named}\n"
    good = []
    for start in range(0, len(lines), AT_ONCE):
        part = judge(tool, target if number >= 50 else "50", head, lines[start : start + AT_ONCE])
        if part is None:
            return None
        good += part
    return good


def judge(tool, architecture, head, lines):
    lines, good = list(lines), [True] * len(lines)
    while True:
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "x.ptx")
            with open(source, "w") as file:
                file.write(head + "\n".join(lines) + "\nret;\n}\n")
            arguments = [tool, "-arch", f"sm_{architecture}", "-O0", source, "-o", os.path.join(folder, "x")]
            said = subprocess.run(arguments, capture_output=True, text=True)
        stopped = False
        for line in (said.stdout + said.stderr).splitlines():
            if found := re.search(r"line (\d+); (error|fatal)", line):
                at = int(found[1]) - head.count("\n") - 1
                if not 0 <= at < len(lines):
                    return None
                good[at] = False
                if found[2] == "fatal" or "Parsing error" in line:
                    # Nothing behind it was read.
                    lines[at], stopped = "", True
            elif "fatal" in line and "aborted" not in line:
                return None
        if said.returncode < 0:
            # It crashed: nothing is known of one line, and the others are asked for apart.
            half = len(lines) // 2
            if half == 0:
                return [False]
            parts = judge(tool, architecture, head, lines[:half]) + judge(tool, architecture, head, lines[half:])
            return [known and part for known, part in zip(good, parts)]
        if not stopped:
            return good
