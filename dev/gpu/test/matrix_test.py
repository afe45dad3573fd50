#!/usr/bin/env python3
"""The kernels of matrix.cu without a GPU: `roundonce run` executes what nvcc makes of them, and `roundonce eval` multiplies the
same matrices element by element. Both must agree, and so must `vectors verify` on lines as the kit writes them.

    dev/gpu/test/matrix_test.py ROUNDONCE NVCC      # needs NumPy
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "matrix.cu"
TYPES = {8: np.uint8, 16: np.uint16, 32: np.uint32}
KEPT = {"h": 0xFFFF, "b": 0xFFFF, "t": 0xFFFFFFFF, "4": 0xFF, "5": 0xFF}
SUMS = {16: np.float16, 32: np.float32}


def forms(text):
    """Name, k, bits of an element, bits of a sum, spelling, by the first architecture that has it."""
    shapes = {name: (int(k), int(width)) for name, k, width in re.findall(
        r"struct (\w+) \{.*\n\s+static const int k = (\d+), .*width = (\d+);", text)}
    for sm, rows in re.findall(r"#define FORMS_(\d+)\(F\)((?:.*\\\n)*.*)", text):
        for name, shape, of_a, sum_bits, spelling in re.findall(
                r"F\((\w+), (\w+), '(.)', '.', (\d+), \w+, MMA \"(.+?)\"\)", rows):
            yield int(sm), name, *shapes[shape], of_a, int(sum_bits), "mma.sync.aligned." + spelling


def main():
    roundonce, nvcc = sys.argv[1:3]
    rng = np.random.default_rng(1)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for sm in (75, 80, 89, 90, 120):
            subprocess.run([nvcc, "-ptx", f"-arch=sm_{sm}", "-o", work / f"{sm}.ptx", SOURCE], check=True)
        for first, name, k, width, of_a, sum_bits, spelling in forms(SOURCE.read_text()):
            for sm in (sm for sm in (75, 80, 89, 90, 120) if sm >= first):
                low = KEPT[of_a] & ~(1 << (width - 2))
                a, b = (rng.integers(0, KEPT[of_a], size, np.uint64, endpoint=True) & low for size in ((16, k), (8, k)))
                c = rng.standard_normal((16, 8)).astype(SUMS[sum_bits])
                a, b = a.astype(TYPES[width]), b.astype(TYPES[width])
                for path, array in (("a", a), ("b", b), ("bt", np.ascontiguousarray(b.T)), ("c", c), ("d", np.zeros_like(c))):
                    np.save(work / f"{path}.npy", array)
                run = [roundonce, "run", work / f"{sm}.ptx", "--entry", name, "--block", "32", "--arg", f"0={work}/a.npy",
                       "--arg", f"1={work}/b.npy", "--arg", f"2={work}/c.npy", "--arg", f"3={work}/d.npy", "--out", f"3={work}/run.npy"]
                subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
                subprocess.run([roundonce, "eval", f"{spelling}@sm_{sm}", "--a", work / "a.npy", "--b", work / "bt.npy",
                                "--c", work / "c.npy", "--out", work / "eval.npy"], check=True)
                found, expected = (np.load(work / f"{path}.npy").view(TYPES[sum_bits]) for path in ("run", "eval"))
                if not np.array_equal(found, expected):
                    sys.exit(f"{name} on sm_{sm}: {(found != expected).sum()} of {found.size} elements differ")
                digits = lambda array: ["".join(f"{bits:0{array.itemsize * 2}x}" for bits in row) for row in array]
                line = {"instruction": spelling, "arch": f"sm_{sm}", "a": digits(a), "b": digits(b),
                        "c": digits(c.view(TYPES[sum_bits])), "d": digits(found)}
                verified = subprocess.run([roundonce, "vectors", "verify", "-"], input=json.dumps(line), text=True, capture_output=True)
                if verified.returncode != 0 or "128 vectors, as expected" not in verified.stdout:
                    sys.exit(f"{name} on sm_{sm}: {verified.stdout}{verified.stderr}")
                count += 1
    if count < 40:
        sys.exit(f"{count} kernels")
    print(f"gpu kit: {count} kernels of matrices compute what eval does")


main()
