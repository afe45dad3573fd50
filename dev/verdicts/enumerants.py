#!/usr/bin/env python3
"""Asks spirv-val what enumerants need: capabilities, extensions, versions.

    dev/verdicts/enumerants.py [FOLDER]      # writes vectors/edge/spirv/enumerants.jsonl

FOLDER has spirv-as and spirv-val; without it they are looked for in PATH. `enumerants.txt` has the rows.
crates/spirv/tests/verdicts.rs holds `check` against the record.
"""

import pathlib
import sys

from spirv_val import Judge

ROWS = pathlib.Path(__file__).with_suffix(".txt")
TYPES = """%2 = OpTypeVoid
%1 = OpTypeInt 32 0
%3 = OpTypeFloat 32
%4 = OpTypeFunction %2
%5 = OpConstant %1 1
%6 = OpTypePointer Function %1
%13 = OpTypeBool"""
BODY = """%10 = OpFunction %2 None %4
%11 = OpLabel
%12 = OpVariable %6 Function"""


def module(capabilities, extension, memory, instructions):
    """The text: what decorates and declares stands before the types, what declares types before the function."""
    front = [line for line in instructions if line.startswith(("OpDecorate", "OpExecutionMode", "OpEntryPoint"))]
    types = [line for line in instructions if line.startswith(("%20", "%21"))]
    body = [line for line in instructions if line not in front + types]
    lines = [f"OpCapability {capability}" for capability in capabilities.split()]
    lines += [f'OpExtension "{extension}"'] * bool(extension) + [f"OpMemoryModel {memory}", *front, TYPES, *types, BODY, *body]
    end = "OpBranch %11" if any("OpLoopMerge" in line for line in body) else "OpReturn"
    return "\n".join([*lines, end, "OpFunctionEnd", ""])


def cases():
    for line in ROWS.read_text().splitlines():
        if line.startswith("#"):
            continue
        environment, capabilities, extension, memory, kind, instruction, enumerants = (word.strip() for word in line.split("|"))
        for enumerant in enumerants.split(", "):
            instructions = [each.replace("{}", enumerant) for each in instruction.split("; ") if each]
            name = f"{kind} {enumerant}" + f" with {extension}" * bool(extension) + " in a kernel" * capabilities.startswith("Kernel")
            yield name, environment, module(capabilities, extension, memory.replace("{}", enumerant), instructions)


if __name__ == "__main__":
    with Judge(sys.argv[1:], "enumerants") as judge:
        for case in cases():
            judge.record(*case)
