"""`tl.dot` by Triton, for two generations: out = a b, everything row by row. Writes triton_dot_TYPE_TARGET.ptx beside it.

    python triton_dot.py
"""

import os
import pathlib

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402


@triton.jit
def triton_dot(a, b, out, depth, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, depth, STEP):
        left = tl.load(a + rows[:, None] * depth + start + inner[None, :])
        right = tl.load(b + (start + inner)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * N + columns[None, :], total)


KERNELS = [
    ("f16", "fp16", 80, (32, 32)),
    ("bf16", "bf16", 80, (32, 32)),
    ("tf32", "fp32", 80, (32, 32)),
    ("f16", "fp16", 90, (64, 64)),
    ("tf32", "fp32", 90, (64, 64)),
    ("e4m3", "fp8e4nv", 89, (32, 32)),
    ("e4m3", "fp8e4nv", 90, (64, 64)),
]
for name, element, target, (rows, columns) in KERNELS:
    signature = {"a": f"*{element}", "b": f"*{element}", "out": "*fp32", "depth": "i32"}
    sizes = {"M": rows, "N": columns, "STEP": 32}
    signature |= {size: "constexpr" for size in sizes}
    values = {(triton_dot.arg_names.index(size),): value for size, value in sizes.items()}
    source = triton.compiler.ASTSource(fn=triton_dot, signature=signature, constexprs=values)
    made = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"num_warps": 4})
    path = pathlib.Path(__file__).resolve().with_name(f"triton_dot_{name}_{target}.ptx")
    path.write_text(made.asm["ptx"])
    print(path.name, made.metadata.shared)
