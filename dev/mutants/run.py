"""Plants every mutant that cargo-mutants knows in the pipeline's files, one at a time, in a copy of the workspace, and
runs the tests: those of the arithmetic that an ordinary run has, with fewer cases.

    run.py COPY OUT [--only PART/PARTS] FILE...      OUT takes a line a mutant: outcome, seconds, name

The tests are `differential` and `witnesses`. `cargo mutants` itself
would build every test of the crate for every mutant: minutes instead of seconds.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

CARGO = ["cargo", "test", "--quiet", "--offline", "--config", "profile.test.package.roundonce-arith.opt-level=0"]
TARGETS = ["--test", "differential", "--test", "witnesses"]
CASES = "3000"  # an ordinary run has up to a million a mode
LIMIT = 120


def test(copy):
    """`unviable`, `caught`, `timeout` or `missed`."""
    environment = {**os.environ, "ROUNDONCE_CASES": CASES}
    command = CARGO + ["-p", "roundonce-arith", *TARGETS]
    build = subprocess.run([*command, "--no-run"], cwd=copy, env=environment, capture_output=True)
    if build.returncode != 0:
        return "unviable"
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "timeout"
    return "missed" if run.returncode == 0 else "caught"


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
    if test(copy) != "missed":
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
                outcome = test(copy)
            finally:
                file.write_bytes(original)
            print(f"{outcome}\t{time.monotonic() - start:.0f}\t{mutant['name']}", file=log, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
