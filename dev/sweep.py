#!/usr/bin/env python3
"""The whole sweep of fma.rz.f32.bf16 over all 2^32 (a, b) for one addend, killed again and again: the digest must be
that of an undisturbed one. First the same of a sixteenth of the space.

Wants the command (cargo build --release) and the Python package with Ray (pip install './bindings/python[ray]').
docs/performance.md keeps the last result.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bindings/python/tests"))
import processes  # noqa: E402

COMMAND = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/roundonce"
INSTRUCTION = "fma.rz.f32.bf16"
SHARDS = 256
RAY = """
import sys, ray, roundonce.ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
roundonce.ray.sweep(sys.argv[1], sys.argv[4:], sys.argv[2], shard=int(sys.argv[3]))
ray.shutdown()
"""


def by_command(space, shard, folder, *options):
    return [COMMAND, "sweep", INSTRUCTION, *space, "--out", folder, "--shard", str(shard), "--threads", "2", *options]


def by_ray(space, shard, folder):
    return [sys.executable, "-c", RAY, INSTRUCTION, folder, str(shard), *space]


def finished(*sweep):
    """The digest, and the seconds."""
    start = time.monotonic()
    run = subprocess.run(by_command(*sweep, "--format", "json"), check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["digest"], time.monotonic() - start


def records(folder):
    return len(list(pathlib.Path(folder, "shards").glob("*.json")))


def killed(what, line, folder, at):
    """Starts a process and kills it once so many shards are done."""
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while records(folder) < at and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        sys.exit(f"{what} was done before it could be killed")
    print(f"  {what} killed after {records(folder)} shards", flush=True)


def worker_killed(line, folder, at):
    """Starts a process on Ray and kills one of its workers once so many shards are done; it goes on to the end."""
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not processes.kill_one("ray::_run_shard", lambda: records(folder) >= at, 1200):
        sys.exit("no worker was found")
    print(f"  a worker killed after {records(folder)} shards", flush=True)
    if process.wait() != 0:
        sys.exit("the sweep on Ray failed")


def compare(space, count):
    """Whether a sweep that is killed four times ends with the digest of one that is not."""
    shard = count // SHARDS
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        want, seconds = finished(space, shard, one)
        print(f"{count:,} results in {SHARDS} shards, undisturbed: {seconds:.1f} s, digest {want}", flush=True)
        start = time.monotonic()
        killed("the command", by_command(space, shard, other), other, SHARDS // 5)
        killed("the driver of Ray", by_ray(space, shard, other), other, 2 * SHARDS // 5)
        killed("the command", by_command(space, shard, other), other, 3 * SHARDS // 5)
        worker_killed(by_ray(space, shard, other), other, 4 * SHARDS // 5)
        got, _ = finished(space, shard, other)
        print(f"  digest {got} after {time.monotonic() - start:.1f} s, restarts included", flush=True)
        return got == want


if __name__ == "__main__":
    part = compare(["0x3000..0x3fff", "all", "0x3f800000"], 1 << 28)
    whole = compare(["all", "all", "0x3f800000"], 1 << 32)
    sys.exit(0 if part and whole else 1)
