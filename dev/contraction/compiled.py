#!/usr/bin/env python3
"""Asks `check --compiled` what machine code made of products and sums, and counts them in the disassembly.

    dev/contraction/compiled.py [ROUNDONCE]     # target/release/roundonce

The bodies of record.py, in modules of a dozen entries, are assembled with -lineinfo for sm_50 to sm_120. In each entry
the multiply-adds that nvdisasm lists, but for those that the body itself names, are as many as `check` says were fused.
Bodies of f32x2 with `.rn` are left out for ptxas 12.9, which fuses what PTX does not leave open.
Needs pip, as record.py does; nvdisasm 12.8, which lists Maxwell, comes with the triton package. Ends with 1 where the two differ.
"""

import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import record

MODULE = 12
# Types of Maxwell and Pascal, which ptxas 12.9 alone assembles for.
OLD = {"f32": (50, 52, 61), "f64": (50, 61), "f16": (53, 60), "f16x2": (53, 60)}


def compared(tools, roundonce, version, target, ty, bodies):
    """The entries of one module: of each body the multiply-adds by the disassembly and by `check`, where they differ."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
        entries = [record.entry(f"k{index}", ty, body).replace("; ", ";\n") for index, body in enumerate(bodies)]
        with open(source, "w") as file:
            file.write(f".version {'8.8' if target > 70 else '7.0'}\n.target sm_{target}\n.address_size 64\n{record.FUNCTION}")
            file.writelines(entries)
        command = [tools[version], "-arch", f"sm_{target}", "-lineinfo", source, "-o", binary]
        assembled = subprocess.run(command, capture_output=True, text=True)
        if assembled.returncode:
            return None
        disassembler = tools["nvdisasm" if target > 70 else "nvdisasm-12"]
        text = subprocess.run([disassembler, "-c", binary], check=True, capture_output=True, text=True).stdout
        listed, name = collections.Counter(), None
        for line in text.splitlines():
            if begun := re.match(r"\.text\.(\w+):", line):
                name = begun[1]
            if found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+\{?\s*(?:@!?U?P\d+ )?(.*?) *[;}]", line):
                listed[name] += record.kind(found[1]) == "fma"
        command = [roundonce, "check", "--determinacy", "--compiled", binary, "--format", "json", source]
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode > 1:
            return [f"{ty} sm_{target} {version}: {answer.stderr}"]
    said, gone = collections.defaultdict(set), False
    for line in answer.stdout.splitlines():
        finding = json.loads(line)
        gone = gone or "they are not found" in finding["message"]
        if finding["code"] == "PTX0050" and re.search(r" are .*fused", finding["message"]):
            for places, kernel in re.findall(r"at ((?:0x[0-9a-f]+(?:, )?)+) of `(\w+)`", finding["message"]):
                said[kernel].update(places.split(", "))
    wrong = []
    for index, body in enumerate(bodies):
        # Without packed f32 each component has its own.
        own = len(re.findall(r"\bfma\.", body)) * (2 if ty == "f32x2" and target == 120 else 1)
        wanted = listed[f"k{index}"] - own
        if ty == "f32x2" and version == "12.9" and ".rn." in body:
            # ptxas 12.9 fuses these whatever their rounding modifier, which PTX does not leave open.
            continue
        # Two scalar halves become one instruction, which has the line of one of them or of neither.
        packed = ty in ("f16", "bf16") and gone and len(said[f"k{index}"]) < wanted
        if wanted != len(said[f"k{index}"]) and not packed:
            wrong.append(f"{ty} sm_{target} {version}: {wanted} listed, {sorted(said[f'k{index}'])} said: {body}")
    return wrong


def main():
    roundonce = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(record.ROOT, "target/release/roundonce"))
    record.PACKAGES["nvdisasm-12"] = "triton==3.3.1"
    tools = record.install()
    found = [(ty, body) for ty, body, noisy in record.cases() if not noisy]
    asked = []
    for ty, (_, _, _, targets) in record.TYPES.items():
        bodies = [body for other, body in found if other == ty]
        modules = [bodies[start : start + MODULE] for start in range(0, len(bodies), MODULE)]
        for target in OLD.get(ty, ()) + targets:
            for version in ("12.9", "13.5") if target > 70 else ("12.9",):
                asked += [(version, target, ty, module) for module in modules]
    modules, entries, refused, wrong = 0, 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda one: compared(tools, roundonce, *one), asked)
        for (_, _, _, bodies), answer in zip(asked, answers):
            if answer is None:
                refused += 1
                continue
            modules, entries = modules + 1, entries + len(bodies)
            wrong += answer
    print("\n".join(wrong))
    print(f"{modules} modules, {entries} entries, {refused} modules not assembled; {len(wrong)} entries differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
