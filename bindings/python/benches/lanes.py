#!/usr/bin/env python3
"""Time against lanes: kernels by `roundonce.run` on one thread and on two, and by `roundonce.ray.run` in one part and in
two, on a local Ray cluster of two processors. The four take turns.

    pip install 'bindings/python[ray]' && bindings/python/benches/lanes.py [--kernel NAME] [--write]

It prints a table for each kernel; with --write they go into docs/performance-engine.md, each between two comments, and that of
`horner` becomes docs/lanes.svg.
"""

import argparse
import datetime
import math
import os
import pathlib
import statistics
import time

import numpy as np
import ray
import roundonce
import roundonce.ray

ROOT = pathlib.Path(__file__).resolve().parents[3]
KERNELS = ROOT / "tests/kernels"
PAGE = ROOT / "docs/performance-engine.md"
PICTURE = ROOT / "docs/lanes.svg"
BEGIN, END = "<!-- written by `bindings/python/benches/lanes.py --kernel {}` -->", "<!-- end of {} by lanes.py -->"
BLOCK = 256
# The logarithm of the most lanes.
MOST = {"saxpy": 28, "horner": 28, "mandelbrot": 24}


def in_parts(parts):
    return lambda *args, **how: roundonce.ray.run(*args, parts=parts, **how)


def on_threads(threads):
    return lambda *args, **how: roundonce.run(*args, threads=threads, **how)


WAYS = {
    "one thread": on_threads(1),
    "two threads": on_threads(2),
    "Ray, one part": in_parts(1),
    "Ray, two parts": in_parts(2),
}
COLOURS = ["#1f77b4", "#2ca02c", "#ff7f0e", "#d62728"]


def launch(name, lanes):
    """A kernel's launch: a multiply-add in place, a polynomial of degree 16 from one array into another, or up to 1,000
    iterations into one."""
    if name == "mandelbrot":
        width = 1 << (lanes.bit_length() // 2)
        out = np.zeros((lanes // width, width), np.uint32)
        return {"grid": (width // 8, lanes // width // 8), "block": (8, 8), "args": [width, lanes // width, 1000, out]}
    x = np.linspace(-1, 1, lanes, dtype=np.float32)
    args = {"saxpy": lambda: [lanes, 2.5, x, np.ones(lanes, np.float32)], "horner": lambda: [lanes, x, np.zeros_like(x)]}
    return {"grid": lanes // BLOCK, "block": BLOCK, "args": args[name]()}


def measured(name, lanes):
    """Seconds of each way: the median of the rounds, fewer where one takes long. All must give the same bits."""
    how, file = launch(name, lanes), KERNELS / f"{name}.ptx"
    rounds = 7 if lanes <= 1 << 20 else 3 if lanes <= 1 << 24 else 1
    times = {way: [] for way in WAYS}
    out, wanted = str(len(how["args"]) - 1), None
    for _ in range(rounds):
        for way, run in WAYS.items():
            start = time.perf_counter()
            ran = run(file, memory_limit=1 << 36, **how)
            times[way].append(time.perf_counter() - start)
            wanted = ran[out] if wanted is None else wanted
            assert np.array_equal(ran[out].view(np.uint32), wanted.view(np.uint32)), way
    return [statistics.median(times[way]) for way in WAYS]


def table(sizes, rows):
    lines = ["| lanes | " + " | ".join(WAYS) + " |", "|---:|" + "---:|" * len(WAYS)]
    for lanes, row in zip(sizes, rows):
        lines.append(f"| 2^{lanes.bit_length() - 1} | " + " | ".join(f"{1e3 * seconds:,.1f}" for seconds in row) + " |")
    return "\n".join(lines)


def picture(sizes, rows, name):
    """Nanoseconds a lane against lanes, both by powers."""
    left, right, top, bottom = 60, 560, 30, 320
    costs = [[1e9 * seconds / lanes for seconds in row] for lanes, row in zip(sizes, rows)]
    low, high = math.floor(math.log10(min(map(min, costs)))), math.ceil(math.log10(max(map(max, costs))))
    x = lambda lanes: left + (right - left) * math.log2(lanes / sizes[0]) / max(1, math.log2(sizes[-1] / sizes[0]))
    y = lambda cost: bottom - (bottom - top) * (math.log10(cost) - low) / (high - low)
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 360" font-family="sans-serif" font-size="12">']
    svg.append('<rect width="720" height="360" fill="white"/>')
    svg.append(f'<text x="8" y="16">{name}: ns a lane</text><text x="300" y="354">lanes</text>')
    for lanes in sizes:
        svg.append(f'<line x1="{x(lanes):.1f}" y1="{top}" x2="{x(lanes):.1f}" y2="{bottom}" stroke="#ddd"/>')
        svg.append(f'<text x="{x(lanes):.1f}" y="336" text-anchor="middle">2^{lanes.bit_length() - 1}</text>')
    for power in range(low, high + 1):
        at = y(10.0**power)
        svg.append(f'<line x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" stroke="#ddd"/>')
        svg.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for place, (way, colour) in enumerate(zip(WAYS, COLOURS)):
        points = " ".join(f"{x(lanes):.1f},{y(row[place]):.1f}" for lanes, row in zip(sizes, costs))
        svg.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = 60 + 24 * place
        svg.append(f'<line x1="580" y1="{at}" x2="604" y2="{at}" stroke="{colour}" stroke-width="2"/>')
        svg.append(f'<text x="610" y="{at + 4}">{way}</text>')
    return "\n".join([*svg, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=MOST, help="this one alone")
    parser.add_argument("--write", action="store_true", help="into the page")
    told = parser.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    # Worker processes are there before the time counts.
    for way in WAYS.values():
        way(KERNELS / "saxpy.ptx", **launch("saxpy", 1 << 12))
    for name in [told.kernel] if told.kernel else MOST:
        sizes, rows = [1 << power for power in range(10, MOST[name] + 1, 2)], []
        for lanes in sizes:
            rows.append(measured(name, lanes))
            print(name, lanes, rows[-1], flush=True)
        date, load = datetime.date.today(), os.getloadavg()[0]
        cores = os.cpu_count()
        text = f"Milliseconds of `{name}`; {date}, {cores} cores busy with other work, load average {load:.2f} at the end:"
        text = f"{text}\n\n{table(sizes, rows)}"
        if not told.write:
            print(text)
            continue
        begin, end = BEGIN.format(name), END.format(name)
        before, rest = PAGE.read_text(encoding="utf-8").split(begin)
        PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")
        if name == "horner":
            PICTURE.write_text(picture(sizes, rows, name), encoding="utf-8")


if __name__ == "__main__":
    main()
