"""Kernels for Triton: the PTX of each for a compute capability goes to DIRECTORY. No GPU is asked.

    python with_triton.py DIRECTORY
"""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def norm(x, weight, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(at < columns, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
    tl.store(out + row * columns + at, centred * scale * tl.load(weight + at, mask=at < columns), mask=at < columns)


@triton.jit
def matmul(a, b, c, k, A: tl.constexpr, B: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, A), tl.arange(0, B), tl.arange(0, K)
    total = tl.zeros((A, B), dtype=tl.float32)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + start + inner[None, :])
        right = tl.load(b + (start + inner)[:, None] * B + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * B + columns[None, :], total)


@triton.jit
def scan(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at, mask=at < n, other=0.0), axis=0), mask=at < n)


@triton.jit
def counts(x, bins, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + (tl.load(x + at, mask=at < n, other=0) & 15), 1, mask=at < n)


@triton.jit
def noise(out, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randn(seed, at), mask=at < n)


def pointers(names, ty, **others):
    return {**{name: ty for name in names}, **others}


KERNELS = [
    ("add", add, pointers(["x", "y", "out"], "*fp32", n="i32"), {"BLOCK": 1024}),
    ("add16", add, pointers(["x", "y", "out"], "*fp16", n="i32"), {"BLOCK": 512}),
    ("addbf16", add, pointers(["x", "y", "out"], "*bf16", n="i32"), {"BLOCK": 512}),
    ("softmax", softmax, pointers(["x", "out"], "*fp32", columns="i32"), {"BLOCK": 512}),
    ("norm", norm, pointers(["x", "weight", "out"], "*fp16", columns="i32"), {"BLOCK": 1024}),
    ("matmul", matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}, {"A": 64, "B": 64, "K": 32}),
    ("matmul32", matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "k": "i32"}, {"A": 64, "B": 64, "K": 32}),
    ("scan", scan, pointers(["x", "out"], "*fp32", n="i32"), {"BLOCK": 256}),
    ("counts", counts, pointers(["x", "bins"], "*i32", n="i32"), {"BLOCK": 256}),
    ("noise", noise, {"out": "*fp32", "seed": "i32", "n": "i32"}, {"BLOCK": 256}),
]
directory = pathlib.Path(sys.argv[1])
for capability in (75, 80, 89, 90, 100, 120):
    for name, kernel, types, constants in KERNELS:
        signature = {**types, **{constant: "constexpr" for constant in constants}}
        values = {(kernel.arg_names.index(constant),): value for constant, value in constants.items()}
        source = triton.compiler.ASTSource(fn=kernel, signature=signature, constexprs=values)
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        except Exception as problem:  # What this Triton cannot make for a target is no module of the corpus.
            print(f"{name} for {capability}: {type(problem).__name__}", file=sys.stderr)
            continue
        (directory / f"triton-{name}-{capability}.ptx").write_text(compiled.asm["ptx"])
