#!/usr/bin/env python3
"""Asks spirv-val which broken copies of structured shaders it takes, and records the answers.

    dev/verdicts/structure.py [FOLDER]      # writes vectors/edge/spirv/structure.jsonl

FOLDER has spirv-as and spirv-val; without it they are looked for in PATH. Each module has one line changed: a label
put for another one, an instruction of control flow left out, a branch made unconditional, two blocks exchanged. Of
all such copies a fixed choice is recorded. crates/spirv/tests/verdicts.rs holds `check` against the record.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, "vectors", "edge", "spirv", "structure.jsonl")
MOST = 130

HEAD = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%true = OpConstantTrue %bool
%n = OpConstant %u32 1
%procedure = OpTypeFunction %void
%main = OpFunction %void None %procedure
"""
# Instructions apart by `;`, blocks by lines; a block begins with its label.
BODIES = {
    "a switch in a loop": """
entry: OpBranch %head
head: %i = OpPhi %u32 %n %entry %j %next; OpLoopMerge %out %next None; OpBranch %test
test: OpBranchConditional %true %body %out
body: OpSelectionMerge %done None; OpSwitch %i %other 1 %one 2 %two
one: OpBranch %two
two: OpSelectionMerge %joined None; OpBranchConditional %true %left %joined
left: OpBranch %next
joined: OpBranch %done
other: OpBranchConditional %true %done %next
done: OpBranch %next
next: %j = OpIAdd %u32 %i %n; OpBranch %head
out: OpReturn""",
    "loops in loops": """
entry: OpSelectionMerge %end None; OpBranchConditional %true %outer %leave
leave: OpReturn
outer: OpLoopMerge %after %again None; OpBranchConditional %true %inner %after
inner: %k = OpPhi %u32 %n %outer %l %latch; OpLoopMerge %within %latch None; OpBranch %work
work: OpSelectionMerge %both None; OpBranchConditional %true %stop %both
stop: OpBranch %within
both: %l = OpIAdd %u32 %k %n; OpBranch %latch
latch: OpBranchConditional %true %inner %within
within: OpBranch %again
again: OpBranch %outer
after: OpBranch %end
end: OpReturn""",
    "choices in a choice": """
entry: OpSelectionMerge %end None; OpBranchConditional %true %first %second
first: %a = OpIAdd %u32 %n %n; OpSelectionMerge %met None; OpBranchConditional %true %up %down
up: OpBranch %met
down: OpBranch %met
met: %m = OpPhi %u32 %a %up %n %down; OpSelectionMerge %behind None; OpSwitch %m %behind 1 %here 2 %there 3 %here
here: OpSelectionMerge %last None; OpSwitch %m %last 5 %never
never: OpUnreachable
last: OpBranch %behind
there: OpBranch %behind
behind: OpBranch %end
second: OpBranch %end
end: OpReturn""",
}


def blocks(body):
    """A list of lists of lines."""
    split = (line.split(": ", 1) for line in body.strip().splitlines())
    return [[f"%{label} = OpLabel", *(line.strip() for line in rest.split(";"))] for label, rest in split]


def copies(body):
    """What is changed, and the blocks of each copy."""
    given = blocks(body)
    labels = [block[0].split()[0] for block in given]
    yield "as it is", given
    for at, block in enumerate(given):
        if 0 < at < len(given) - 1:
            yield f"{labels[at]} behind the next", given[:at] + [given[at + 1], block] + given[at + 2 :]
        for index, line in enumerate(block[1:], 1):

            def changed(*lines):
                return given[:at] + [[*block[:index], *lines, *block[index + 1 :]]] + given[at + 1 :]

            if "Merge" in line or "Phi" in line:
                yield f"without {line}", changed()
            if "OpBranchConditional" in line:
                for target in re.findall(r"%\w+", line)[1:]:
                    yield f"{line} always to {target}", changed(f"OpBranch {target}")
            if "OpSwitch" in line:
                pairs = re.findall(r"(\d+) (%\w+)", line)
                turned = " ".join(f"{literal} {label}" for literal, label in reversed(pairs))
                yield f"{line} turned round", changed(re.match(r"OpSwitch %\w+ %\w+ ", line)[0] + turned)
            for found in re.finditer(r"%\w+", line):
                for other in labels if found[0] in labels else []:
                    if other != found[0]:
                        text = line[: found.start()] + other + line[found.end() :]
                        yield f"{text} for {line}", changed(text)
            if "OpReturn" not in line and line.startswith("OpBranch "):
                yield f"{labels[at]} returns", changed("OpReturn")


def judged(folder, scratch, text):
    """The verdict and its first line."""
    binary = os.path.join(scratch, "module.spv")
    with open(os.path.join(scratch, "module.spvasm"), "w") as file:
        file.write(text)
    run = lambda *words: subprocess.run(words, capture_output=True, text=True)  # noqa: E731
    run(os.path.join(folder, "spirv-as"), "--target-env", "spv1.3", file.name, "-o", binary).check_returncode()
    answer = run(os.path.join(folder, "spirv-val"), "--target-env", "spv1.3", binary)
    return ("val-error" if answer.returncode else "ok"), answer.stderr.strip().split("\n")[0]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    draw = random.Random("structure")
    with tempfile.TemporaryDirectory() as scratch, open(OUT, "w") as out:
        for name, body in BODIES.items():
            all_of_it = list(copies(body))
            chosen = all_of_it[:1] + draw.sample(all_of_it[1:], min(MOST, len(all_of_it) - 1))
            for what, copy in chosen:
                text = HEAD + "\n".join(line for block in copy for line in block) + "\nOpFunctionEnd\n"
                verdict, message = judged(folder, scratch, text)
                record = {"case": f"{name}: {what}", "env": "spv1.3", "verdict": verdict, "message": message}
                record |= {"judge": "spirv-val 2025.5", "spvasm": text}
                out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
