#!/usr/bin/env python3
"""The package beside the batch evaluation of Rust on 10^7 elements: the two take turns, in the processor's time of one
thread each.

    cargo build --release -p roundonce --example batch && bindings/python/benches/batch.py [ROUNDS]

docs/performance.md keeps the last result.
"""

import os

os.environ["RAYON_NUM_THREADS"] = "1"

import pathlib  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import roundonce  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
RUST = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/batch"
COUNT = 10_000_000
INSTRUCTIONS = ["fma.rn.f32", "fma.rz.f32", "fma.rz.ftz.sat.f32", "FFMA.FMZ.RZ", "mul.rp.f32"]


def column(seed):
    """What the Rust side has."""
    fraction = np.arange(COUNT, dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32(seed)
    return (0x3F80_0000 | fraction & 0x007F_FFFF).astype(np.uint32).view(np.float32)


def taken(work):
    start = time.process_time_ns()
    work()
    return time.process_time_ns() - start


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    columns, out = [column(seed) for seed in range(3)], np.empty(COUNT, np.float32)
    rust = subprocess.Popen([RUST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def by_rust(instruction):
        rust.stdin.write(f"{instruction} {COUNT}\n")
        rust.stdin.flush()
        return int(rust.stdout.readline())

    print("| instruction | Rust, ns | Python, ns | speed of Rust's | with a new array for the results, ns |")
    print("|---|---:|---:|---:|---:|")
    for instruction in INSTRUCTIONS:
        operands = columns[: 2 if instruction.startswith("mul") else 3]
        times = []
        for _ in range(rounds + 1):
            one = by_rust(instruction)
            other = taken(lambda: roundonce.eval(instruction, *operands, out=out))
            times.append((one, other, taken(lambda: roundonce.eval(instruction, *operands))))
        # The first round touches the memory.
        first, second, new = (statistics.median(column) / COUNT for column in zip(*times[1:]))
        share = statistics.median(one / other for one, other, _ in times[1:])
        print(f"| `{instruction}` | {first:.3f} | {second:.3f} | {share:.2f} | {new:.3f} |", flush=True)
    rust.stdin.close()
    rust.wait()


if __name__ == "__main__":
    main()
