#!/usr/bin/env python3
"""LLVM's folding of the nvvm intrinsics as a judge: what the compiler of CUDA makes of constant operands.

    dev/llvm/fold.py [COUNT]      COUNT vectors of each form, 1,000 by default

`roundonce vectors gen` writes vectors; a crate calls `llvm.nvvm.fma.rz.ftz.f` and its like on their operands, and the
LLVM inside rustc (22 or later folds them) replaces the calls by numbers, which the vectors' results are compared with.
What it does not fold is counted, not judged. Where ROUNDONCE_RECORD names a file, a record is appended to it. Nothing is
run on the host but the compiler.
"""

import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"f32": ("f", "f32", 0x7F800000), "f64": ("d", "f64", 0x7FF0000000000000)}


def forms():
    """Each spelling, with its intrinsic and its arity."""
    for name, arity in (("fma", 3), ("mul", 2), ("add", 2)):
        for rounding in ("rn", "rz", "rm", "rp"):
            for flush, kind in (("", "f32"), (".ftz", "f32"), ("", "f64")):
                letter = TYPES[kind][0]
                yield f"{name}.{rounding}{flush}.{kind}", f"llvm.nvvm.{name}.{rounding}{flush}.{letter}", arity, kind


def vectors(spelling, count):
    command = ["cargo", "run", "--quiet", "--release", "--", "vectors", "gen", spelling, "--count", str(count)]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def compiled(source):
    """The module that rustc makes of it, as text, and the version of its LLVM."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "fold.rs")
        path.write_text(source)
        command = ["rustc", "--edition=2021", "-O", "--emit=llvm-ir", "--crate-type=lib", "-Zmerge-functions=disabled",
                   "-Awarnings", path.name]
        subprocess.run(command, cwd=folder, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
        version = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
        return path.with_suffix(".ll").read_text(), re.search(r"LLVM version: (\S+)", version)[1]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    declared, called, asked = [], [], {}
    for index, (spelling, intrinsic, arity, kind) in enumerate(forms()):
        _, rust, _ = TYPES[kind]
        parameters = ", ".join(f"{name}: {rust}" for name in "abc"[:arity])
        declared.append(f'    #[link_name = "{intrinsic}"] fn f{index}({parameters}) -> {rust};')
        for number, vector in enumerate(vectors(spelling, count)):
            operands = ", ".join(f"{rust}::from_bits({vector[name]})" for name in "abc"[:arity])
            result = "u" + rust[1:]
            body = f"unsafe {{ f{index}({operands}).to_bits() }}"
            called.append(f"#[no_mangle] pub fn r{index}_{number}() -> {result} {{ {body} }}")
            asked[f"r{index}_{number}"] = (spelling, kind, vector)
    source = "#![feature(link_llvm_intrinsics)]\nextern \"C\" {\n" + "\n".join(declared + ["}"] + called) + "\n"
    module, version = compiled(source)
    returned = re.compile(r"^define [^\n]*@(r\d+_\d+)\([^\n]*\n(?:(?!^}).*\n)*?  ret i(\d+) (-?\d+)\n", re.M)
    folded = {name: int(value) & ((1 << int(width)) - 1) for name, width, value in returned.findall(module)}
    judged, wrong = collections.Counter(), []
    for name, (spelling, kind, vector) in asked.items():
        if name not in folded:
            continue
        infinity = TYPES[kind][2]
        sign = 1 << (31 if kind == "f32" else 63)
        ours, theirs = int(vector["d"], 16), folded[name]
        nan = [bits & ~sign > infinity for bits in (ours, theirs)]
        judged[spelling] += 1
        # LLVM's NaNs have bits of their own.
        if ours != theirs and not all(nan):
            wrong.append(f"{spelling} {vector}: LLVM gives {theirs:#x}")
    for spelling, *_ in forms():
        print(f"{spelling}: {judged[spelling]} of {sum(asked[name][0] == spelling for name in asked)} folded")
    print("\n".join(wrong[:20]))
    result = f"{len(folded)} of {len(asked)} vectors folded, {len(wrong)} mismatches"
    print(f"LLVM {version}: {result}")
    record = os.environ.get("ROUNDONCE_RECORD")
    if record:
        command = ["git", "rev-parse", "HEAD:crates/arith"]
        tree = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        line = {
            "date": datetime.date.today().isoformat(),
            "arith": tree.stdout[:12],
            "what": f"the folding of nvvm fma, mul and add by LLVM {version}, f32 with and without .ftz, and f64",
            "result": result,
            "command": f"dev/llvm/fold.py {count}",
        }
        with open(record, "a") as file:
            file.write(json.dumps(line, separators=(", ", ":")) + "\n")
    sys.exit(bool(wrong) or not folded)


if __name__ == "__main__":
    main()
