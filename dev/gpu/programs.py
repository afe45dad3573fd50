#!/usr/bin/env python3
"""Runs programs on a GPU and compares what they leave with what the engines left.

    cargo run --release --manifest-path fuzz/Cargo.toml --bin gpu_programs -- 3000 | gzip > programs.jsonl.gz
    dev/gpu/programs.py programs.jsonl.gz OUT [SECONDS]

A line of programs.jsonl is a module, its launch, and a checksum (CRC-32) of the buffers for each input. OUT/programs.jsonl.gz has a line
for each: `same`, `differs` (which inputs, and what the first of each kind left), `refused` (the driver's log) or `failed`. Python's
standard library and the driver are all it needs; the driver is libcuda.so.1, or what CUDA_DRIVER names. JIT_LEVEL=0 turns
the optimiser of its assembler off: where a program agrees only then, the optimiser made the difference.
"""

import base64
import ctypes
import functools
import gzip
import json
import multiprocessing
import os
import struct
import sys
import time
import zlib
from pathlib import Path

INPUT_WORDS = 320
MASK = (1 << 64) - 1
EDGES = [0, 1, 2, 31, 33, 0x7f, 0x7fff, 0x3c01, 0x7c01, 0x3f800000, 0xbf800001, 0x7f800000, 0x7fc00001, 0x007fffff, 0x00800000,
         0x80000000, 0x7f7fffff, 0x4b000001, 0xffffffff]
SINGLE = [0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x80800001, 0x3f800000, 0xbf800001, 0x7f800000, 0xff800000, 0x7f800001, 0xffa00002,
          0x7fc00000, 0xffc12345, 0x387fefff, 0x7f7fffff]
HALVES = [0x7c01fc05, 0x7e03fe00, 0x7c00fc00, 0x7f81ff91, 0x7fc3ffc0, 0x7f80ff80, 0x7ff7fff7, 0x7fff8000, 0x000183ff, 0x04008080, 0x007f807f,
          0x3c00bc01, 0x3f80bf81, 0x7bfffbff, 0x7f7fff7f, 0xffff7ff7]
UPPER = [0x7ff00000, 0xfff00000, 0x7ff00001, 0xfff7ffff, 0x7ff80000, 0xfff81234, 0x000fffff, 0x80000000, 0x00000000, 0x3ff00000, 0xbff00000,
         0x36900000, 0xb80fffff, 0x3f0ffc00, 0x47efffff, 0x7fefffff]
LOWER = [0, 1, 0xffffffff, 0x20000000, 0x10000000, 0xe0000000, 0x80000000, 0x0000ffff]


def numbers(state: int) -> list[int]:
    """As `numbers` of dev/scalar/src/input.rs."""
    out = []
    for _ in range(INPUT_WORDS):
        state ^= state << 13 & MASK
        state ^= state >> 7
        state ^= state << 17 & MASK
        word = state * 0x2545f4914f6cdd1d & MASK
        out.append(EDGES[(word >> 8) % 19] if word % 4 == 0 else word >> 32)
    return out


@functools.cache  # All programs have the same few seeds.
def words(seed: int) -> bytes:
    """The input that a seed goes on to: as `input` of dev/scalar/src/input.rs."""
    def one(place, word, more):
        kind, which = seed % 4, more >> 8
        if kind == 0 or more % 4 == 0:
            return word
        if kind < 3:
            return (SINGLE if kind == 1 else HALVES)[which % 16]
        return UPPER[which % 16] if place % 2 else LOWER[which % 8]

    pairs = zip(numbers(2 * seed + 1), numbers(~(2 * seed) & MASK))
    return struct.pack(f"<{INPUT_WORDS}I", *[one(place, word, more) for place, (word, more) in enumerate(pairs)])


class Refused(Exception):
    """The driver does not load a module."""


class Gpu:
    """The first GPU, through the driver's interface."""

    def __init__(self):
        self.driver = ctypes.CDLL(os.environ.get("CUDA_DRIVER", "libcuda.so.1"))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        error = getattr(self.driver, name)(*arguments)
        if error:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorName(error, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else error}")

    def load(self, ptx: str, entry: str = "kernel"):
        """A module and its entry."""
        log = ctypes.create_string_buffer(8192)
        # CU_JIT_ERROR_LOG_BUFFER, its size, and CU_JIT_OPTIMIZATION_LEVEL.
        names = (ctypes.c_int * 3)(5, 6, 7)
        values = (ctypes.c_void_p * 3)(ctypes.addressof(log), len(log), int(os.environ.get("JIT_LEVEL", "4")))
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        if self.driver.cuModuleLoadDataEx(ctypes.byref(module), ptx.encode() + b"\0", 3, names, values):
            raise Refused(log.value.decode(errors="replace"))
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, entry.encode())
        return module, kernel

    def architecture(self) -> str:
        """As `sm_90`."""
        # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
        parts = [ctypes.c_int(), ctypes.c_int()]
        for part, attribute in zip(parts, (75, 76)):
            self.call("cuDeviceGetAttribute", ctypes.byref(part), attribute, 0)
        return f"sm_{parts[0].value}{parts[1].value}"

    def memory(self, size: int):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(size, 1)))
        return at


def run(gpu: Gpu, case: dict) -> dict:
    """One line: every input, compared."""
    module, kernel = gpu.load(case["ptx"])
    sizes = [INPUT_WORDS * 4, *case["bytes"]]
    memory = [gpu.memory(size) for size in sizes]
    pointers = (ctypes.c_void_p * len(memory))(*[ctypes.addressof(at) for at in memory])
    differs, left = [], {}
    for seed, expected in enumerate(case["crc32"]):
        gpu.call("cuMemcpyHtoD_v2", memory[0], words(seed), ctypes.c_size_t(sizes[0]))
        for at, size in zip(memory[1:], sizes[1:]):
            gpu.call("cuMemsetD8_v2", at, ctypes.c_ubyte(0), ctypes.c_size_t(size))
        gpu.call("cuLaunchKernel", kernel, *case["grid"], *case["block"], 0, None, pointers, None)
        gpu.call("cuCtxSynchronize")
        sum_of_all, buffers = 0, []
        for at, size in zip(memory[1:], sizes[1:]):
            buffer = ctypes.create_string_buffer(size)
            gpu.call("cuMemcpyDtoH_v2", buffer, at, ctypes.c_size_t(size))
            sum_of_all = zlib.crc32(buffer.raw, sum_of_all)
            buffers.append(buffer.raw)
        if sum_of_all != expected:
            differs.append(seed)
            # One of each kind of input; of a program the first.
            is_new = all(seed % 4 != kept % 4 for kept in left)
            if is_new and not (left and case["name"].startswith("program ")):
                left[seed] = [base64.b64encode(zlib.compress(buffer, 9)).decode() for buffer in buffers]
    for at in memory:
        gpu.call("cuMemFree_v2", at)
    gpu.call("cuModuleUnload", module)
    if differs:
        return {"verdict": "differs", "inputs": len(case["crc32"]), "seeds": differs, "left": left}
    return {"verdict": "same", "inputs": len(case["crc32"])}


def work(cases, first, step, at, answers):
    """Every `step`th case, until the GPU is of no more use."""
    gpu = Gpu()
    for number in range(first, len(cases), step):
        at.value = number
        case = json.loads(cases[number])
        try:
            answer = run(gpu, case)
        except Refused as refused:
            answer = {"verdict": "refused", "log": str(refused)[:400]}
        except RuntimeError as error:
            # Nothing runs in this context after a fault.
            answers.put((number, {"name": case["name"], "verdict": "failed", "error": str(error)}))
            answers.close()
            answers.join_thread()
            os._exit(3)
        answers.put((number, {"name": case["name"], **answer}))
    at.value = len(cases)


def main():
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    end = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else 1e9)
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rt") as lines:
        cases = lines.read().splitlines()
    # A process has a context of its own: what hangs or faults takes nothing with it.
    context, answers = multiprocessing.get_context("fork"), multiprocessing.Queue()
    step = min(os.cpu_count() or 1, 16)
    found = {}

    def begin(first):
        at = context.Value("q", first)
        process = context.Process(target=work, args=(cases, first, step, at, answers))
        process.start()
        return {"process": process, "at": at, "seen": first, "since": time.monotonic()}

    def collect():
        while not answers.empty():
            number, answer = answers.get()
            found[number] = answer

    workers = [begin(first) for first in range(min(step, len(cases)))]
    while workers and time.monotonic() < end:
        collect()
        for worker in list(workers):
            at, now = worker["at"].value, time.monotonic()
            if at != worker["seen"]:
                worker["seen"], worker["since"] = at, now
            hangs = worker["process"].is_alive() and now - worker["since"] > 20
            if hangs:
                worker["process"].kill()
            if hangs or not worker["process"].is_alive():
                worker["process"].join()
                workers.remove(worker)
                if at < len(cases):
                    ended = "no answer in 20 s" if hangs else f"ended with {worker['process'].exitcode}"
                    found.setdefault(at, {"name": json.loads(cases[at])["name"], "verdict": "failed", "error": ended})
                    if at + step < len(cases):
                        workers.append(begin(at + step))
        time.sleep(0.02)
    time.sleep(0.2)
    collect()
    for worker in workers:
        worker["process"].kill()
    with gzip.open(out / "programs.jsonl.gz", "wt") as file:
        for number in sorted(found):
            file.write(json.dumps(found[number]) + "\n")
    verdicts = [answer["verdict"] for answer in found.values()]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("same", "differs", "refused", "failed"))
    print(f"programs: {len(cases)}, {counts}, {len(cases) - len(found)} not reached")


if __name__ == "__main__":
    main()
