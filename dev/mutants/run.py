"""Plants every mutant that cargo-mutants knows in the pipeline's files, one at a time, in a copy of the workspace, and
runs the tests: those of the arithmetic that an ordinary run has, with fewer cases.

    run.py COPY OUT [--only PART/PARTS] FILE...      OUT takes a line a mutant: outcome, seconds, name

The first stage is `differential` and `witnesses`; what they let pass goes through the others. `cargo mutants` itself
would build every test of the crate for every mutant: minutes instead of seconds.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

CARGO = ["cargo", "test", "--quiet", "--offline", "--config", "profile.test.package.roundonce-arith.opt-level=0"]
STAGES = [
    (["--test", "differential", "--test", "witnesses"], "3000", 120),
    (["--test", "testfloat", "--test", "planted"], "20000", 300),
    (["--test", "exhaustive", "four_to_six", "narrow", "recompiled"], "20000", 900),
]


def test(copy, targets, cases, limit):
    """`unviable`, `caught`, `timeout` or `passed`."""
    environment = {**os.environ, "ROUNDONCE_CASES": cases}
    command = CARGO + ["-p", "roundonce-arith"]
    split = next((i for i, word in enumerate(targets) if i and not word.startswith("--") and targets[i - 1] != "--test"), len(targets))
    targets, filters = targets[:split], targets[split:]
    build = subprocess.run(command + targets + ["--no-run"], cwd=copy, env=environment, capture_output=True)
    if build.returncode != 0:
        return "unviable"
    try:
        run = subprocess.run(
            command + targets + (["--", *filters] if filters else []),
            cwd=copy, env=environment, capture_output=True, timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return "passed" if run.returncode == 0 else "caught"


def main(arguments):
    copy, out, *rest = arguments
    part, parts = 0, 1
    if rest[0] == "--only":
        part, parts = (int(number) for number in rest[1].split("/"))
        rest = rest[2:]
    listing = ["cargo", "mutants", "--list", "--json", "--diff", "-p", "roundonce-arith"]
    for name in rest:
        listing += ["-f", name]
    mutants = json.loads(subprocess.run(listing, cwd=copy, capture_output=True, check=True).stdout)
    if test(copy, *STAGES[0]) != "passed":
        sys.exit("run.py: the tests fail without a mutant")
    with open(out, "a") as log:
        for index, mutant in enumerate(mutants):
            if index % parts != part:
                continue
            file = Path(copy) / mutant["file"]
            original = file.read_bytes()
            start = time.monotonic()
            try:
                subprocess.run(["patch", "-s", str(file)], input=mutant["diff"].encode(), check=True)
                for stage in STAGES:
                    outcome = test(copy, *stage)
                    if outcome != "passed":
                        break
            finally:
                file.write_bytes(original)
            word = "missed" if outcome == "passed" else outcome
            print(f"{word}\t{time.monotonic() - start:.0f}\t{mutant['name']}", file=log, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
