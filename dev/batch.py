#!/usr/bin/env python3
"""The command on many lines and on large arrays, beside NumPy's unfused a * b + c from and to the same files.

    dev/batch.py [--elements N] [--lines N] [--rounds N] COMMAND...

COMMAND is the program, or several builds of it, which take turns with NumPy. Times are medians: seconds by the clock, and of the
processor. NumPy is a process for each round, and its start and import are not counted; "again" is the second time in one process,
whose memory is there already. What is written has a name that no file has.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

NUMPY = """
import os, resource, time
import numpy as np
for _ in range(2):
    if os.path.exists("out.npy"):
        os.remove("out.npy")
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    a, b, c = (np.load(name + ".npy") for name in "abc")
    np.save("out.npy", a * b + c)
    ended, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    print(ended - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    del a, b, c
"""


def remove(folder, name):
    path = os.path.join(folder, name)
    if os.path.exists(path):
        os.remove(path)


def numpy_time(folder, which):
    remove(folder, "out.npy")
    ran = subprocess.run([sys.executable, "-c", NUMPY], cwd=folder, check=True, capture_output=True, text=True)
    return tuple(map(float, ran.stdout.splitlines()[which].split()))


def command_time(folder, arguments, **files):
    remove(folder, "out.npy")
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    opened = {stream: open(os.path.join(folder, name), mode) for stream, (name, mode) in files.items()}
    subprocess.run(arguments, cwd=folder, check=True, **opened)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def take_turns(rounds, contenders):
    times = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            times[name].append(run())
    return {name: [statistics.median(column) for column in zip(*all)] for name, all in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    parser.add_argument("--elements", type=int, default=1 << 26)
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    commands = [os.path.abspath(command) for command in given.commands]
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for name in "abc":
            np.save(os.path.join(folder, name + ".npy"), random.standard_normal(given.elements, dtype=np.float32))
        bits = random.standard_normal((given.lines, 3), dtype=np.float32).view(np.uint32).tolist()
        with open(os.path.join(folder, "lines.txt"), "w") as lines:
            lines.writelines(f"fma.rn.f32 0x{a:08x} 0x{b:08x} 0x{c:08x}\n" for a, b, c in bits)
        arrays, lines = {"NumPy": lambda: numpy_time(folder, 0), "NumPy, again": lambda: numpy_time(folder, 1)}, {}
        for command in commands:
            whole = [command, "eval", "fma.rn.f32", "--in", "a.npy", "b.npy", "c.npy", "--out"]
            for threads in ([], ["--threads", "1"]):
                name = " ".join([os.path.relpath(command), *threads])
                arrays[name] = lambda whole=whole, threads=threads: command_time(folder, [*whole, "out.npy", *threads])
            files = {"stdin": ("lines.txt", "rb"), "stdout": ("results.txt", "wb")}
            for threads in ([], ["--threads", "1"]):
                asked = [command, "eval", "-", *threads]
                # A build from before `eval -` took threads.
                if subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
                    name = " ".join([os.path.relpath(command), *threads])
                    lines[name] = lambda asked=asked: command_time(folder, asked, **files)
        print(f"{given.elements:,} elements of f32: seconds, of the processor, both by those of NumPy again")
        found = take_turns(given.rounds, arrays)
        again = found["NumPy, again"]
        for name, (clock, processor) in found.items():
            print(f"{name:40} {clock:.3f} {processor:.3f} {clock / again[0]:.2f} {processor / again[1]:.2f}")
        print(f"{given.lines:,} lines: seconds, of the processor, million lines a second of the clock, of the processor")
        for name, (clock, processor) in take_turns(given.rounds, lines).items():
            print(f"{name:40} {clock:.3f} {processor:.3f} {given.lines / clock / 1e6:.2f} {given.lines / processor / 1e6:.2f}")


if __name__ == "__main__":
    main()
