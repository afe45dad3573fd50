"""Kernels for numba-cuda: the PTX of each for a compute capability goes to DIRECTORY.

    python with_numba.py DIRECTORY
"""

import math
import pathlib
import sys

from numba import cuda, float32, float64, int32, uint32, uint8


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def functions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sin(x[i]) + math.exp(x[i]) - math.sqrt(abs(x[i])) + math.log1p(abs(x[i])) + x[i] ** 3 + math.atan2(x[i], 2.0)


def stencil(grid, out):
    i, j = cuda.grid(2)
    if 0 < i < grid.shape[0] - 1 and 0 < j < grid.shape[1] - 1:
        out[i, j] = 0.25 * (grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1])


def total(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t % 64] = x[cuda.grid(1) % x.size] if x.size > 0 else 0.0
    cuda.syncthreads()
    if t == 0:
        s = float32(0)
        for k in range(64):
            s += tile[k]
        cuda.atomic.add(out, 0, s)


def histogram(x, bins):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i] & 15, 1)


def collatz(x, y):
    i = cuda.grid(1)
    if i < x.size:
        n, steps = x[i], 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        y[i] = steps


def warps(x, y):
    i = cuda.grid(1)
    v = x[i] if i < x.size else 0
    v += cuda.shfl_xor_sync(0xFFFFFFFF, v, 1) + cuda.popc(cuda.ballot_sync(0xFFFFFFFF, v > 0))
    if i < x.size:
        y[i] = v


def matmul(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


def closures(x, y):
    local = cuda.local.array(8, float64)
    i = cuda.grid(1)
    for k in range(8):
        local[k] = k * 0.5
    if i < x.size:
        y[i] = local[int(x[i]) & 7]


KERNELS = {
    saxpy: (float32, float32[:], float32[:]),
    functions: (float64[:], float64[:]),
    stencil: (float32[:, :], float32[:, :]),
    total: (float32[:], float32[:]),
    histogram: (uint8[:], int32[:]),
    collatz: (uint32[:], uint32[:]),
    warps: (int32[:], int32[:]),
    matmul: (float64[:, :], float64[:, :], float64[:, :]),
    closures: (float64[:], float64[:]),
}
directory = pathlib.Path(sys.argv[1])
for capability in [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0)]:
    for kernel, signature in KERNELS.items():
        for fast in (False, True):
            text, _ = cuda.compile_ptx(kernel, signature, cc=capability, fastmath=fast)
            name = f"numba-{kernel.__name__}-{capability[0]}{capability[1]}{'-fast' if fast else ''}.ptx"
            (directory / name).write_text(text)
