#!/usr/bin/env python3
"""Runs the kernels of tests/kernels on a GPU and compares their buffers with what their judge expects, byte by byte.

    dev/gpu/kernels.py OUT        writes OUT/kernels.jsonl, a line a kernel

A kernel whose launch has more than numbers and buffers is not run, and says so. Needs NumPy.
"""

import ctypes
import json
import multiprocessing
import re
import struct
import sys
from pathlib import Path

import numpy
from programs import Gpu, Refused

KERNELS = Path(__file__).resolve().parents[2] / "tests/kernels"
SCALARS = {"s32": "i", "u32": "I", "b32": "I", "f32": "f", "s64": "q", "u64": "Q", "b64": "Q", "f64": "d"}


def parameters(ptx: str, entry: str | None):
    """The name of the entry, and the types of its parameters."""
    at = ptx.index(f".entry {entry}(" if entry else ".entry ")
    head = ptx[at:]
    name = head.split()[1].split("(")[0]
    listed = head[: head.index("{")]
    return name, [words.split()[0].lstrip(".") for words in listed.split(".param")[1:]]


def scalar(text: str, kind: str) -> bytes:
    if text.startswith(("0f", "0F")):
        return struct.pack("<I", int(text[2:], 16))
    if text.startswith(("0d", "0D")):
        return struct.pack("<Q", int(text[2:], 16))
    return struct.pack("<" + SCALARS[kind], float(text) if kind[0] == "f" else int(text, 0))


def run(case: dict) -> dict:
    words = case["command"]
    options = {"--arg": [], "--grid": ["1"], "--block": ["1"], "--entry": [], "--shared": ["0"], "--arch": []}
    for option, value in zip(words[2::2], words[3::2]):
        if option not in options:
            return {"verdict": "not run", "why": option}
        options[option] = options[option] + [value] if option == "--arg" else [value]
    gpu = Gpu()
    if options["--arch"] not in ([], [gpu.architecture()]):
        return {"verdict": "not run", "why": options["--arch"][0]}
    # Of a later version than the driver's, though with nothing of it.
    ptx = re.sub(r"\.version 9\.[1-9]", ".version 9.0", (KERNELS / words[1]).read_text())
    entry, kinds = parameters(ptx, options["--entry"][0] if options["--entry"] else None)
    _, kernel = gpu.load(ptx, entry)
    values, buffers = [], {}
    for text in options["--arg"]:
        index, text = text.split("=", 1)
        if text.endswith(".npy"):
            data = numpy.load(KERNELS / text).tobytes()
            at = gpu.memory(len(data))
            gpu.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
            buffers[index] = (at, len(data))
            values.append(at)
        else:
            values.append(ctypes.create_string_buffer(scalar(text, kinds[int(index)]), 8))
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    sizes = [[int(part) for part in options[name][0].split(",")] + [1, 1] for name in ("--grid", "--block")]
    gpu.call("cuLaunchKernel", kernel, *sizes[0][:3], *sizes[1][:3], int(options["--shared"][0]), None, pointers, None)
    gpu.call("cuCtxSynchronize")
    differs = {}
    for index, path in case["expected"].items():
        # Bits, so that NaNs and zeros count.
        expected = numpy.load(KERNELS / path).reshape(-1)
        expected = expected.view(f"u{expected.dtype.itemsize}")
        at, size = buffers[index]
        got = ctypes.create_string_buffer(size)
        gpu.call("cuMemcpyDtoH_v2", got, at, ctypes.c_size_t(size))
        got = numpy.frombuffer(got.raw, dtype=expected.dtype)
        wrong = numpy.flatnonzero(got != expected)
        if len(wrong):
            hexes = [[int(at), f"{got[at]:x}", f"{expected[at]:x}"] for at in wrong[:2000]]
            differs[index] = {"elements": len(expected), "wrong": len(wrong), "first": hexes}
    return {"verdict": "differs", "buffers": differs} if differs else {"verdict": "same"}


def work(case: dict, answers) -> None:
    try:
        answers.put(run(case))
    except Refused as refused:
        answers.put({"verdict": "refused", "log": str(refused)[:400]})
    except (RuntimeError, KeyError, ValueError, IndexError) as error:
        answers.put({"verdict": "failed", "error": f"{type(error).__name__}: {error}"})


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    context, verdicts = multiprocessing.get_context("fork"), []
    cases = [json.loads(line) for line in (KERNELS / "cases.jsonl").read_text().splitlines()]
    with open(out / "kernels.jsonl", "w") as file:
        for first in range(0, len(cases), 8):
            running = []
            for case in cases[first : first + 8]:
                answers = context.SimpleQueue()
                process = context.Process(target=work, args=(case, answers))
                process.start()
                running.append((case, process, answers))
            for case, process, answers in running:
                process.join(20)
                answer = answers.get() if not answers.empty() else {"verdict": "failed", "error": f"ended with {process.exitcode}"}
                process.kill()
                verdicts.append(answer["verdict"])
                file.write(json.dumps({"name": case["name"], "approximate": case["approximate"], **answer}) + "\n")
    kinds = ("same", "differs", "refused", "failed", "not run")
    print("kernels: " + ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds))


if __name__ == "__main__":
    main()
