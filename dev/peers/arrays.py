"""a * b + c by numba or PoCL, on one thread, for the benchmark (crates/arith/benches/batch.rs), which takes turns with it.

    python3 dev/peers/arrays.py numba|pocl LANES

Says `ready`, then answers every line, a number of repeats, with the nanoseconds of processor time that they took. Exits with 3 where the
peer is not installed.
"""

import os
import sys
import time


def numba_loop(operands, out):
    import numba

    @numba.njit(fastmath={"contract"})
    def loop(a, b, c, out):
        for i in range(out.size):
            out[i] = a[i] * b[i] + c[i]

    return lambda: loop(*operands, out)


def pocl_loop(operands, out):
    os.environ["POCL_MAX_PTHREAD_COUNT"] = os.environ["POCL_CPU_MAX_CU_COUNT"] = "1"
    import pyopencl as cl

    platform = next((p for p in cl.get_platforms() if "Portable" in p.name), None)
    if platform is None:
        raise ImportError("no PoCL")
    context = cl.Context(platform.get_devices())
    queue = cl.CommandQueue(context)
    source = """kernel void loop(global const float *a, global const float *b, global const float *c, global float *d) {
        size_t i = get_global_id(0);
        d[i] = fma(a[i], b[i], c[i]);
    }"""
    kernel = cl.Kernel(cl.Program(context, source).build(), "loop")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in [*operands, out]]

    def run():
        kernel(queue, (out.size,), None, *buffers)
        queue.finish()

    return run


def main():
    peer, lanes = sys.argv[1], int(sys.argv[2])
    try:
        import numpy

        generator = numpy.random.default_rng(1)
        operands = [generator.uniform(0.125, 2, lanes).astype(numpy.float32) for _ in range(3)]
        out = numpy.empty(lanes, numpy.float32)
        loop = {"numba": numba_loop, "pocl": pocl_loop}[peer](operands, out)
    except ImportError:
        sys.exit(3)
    loop()
    exact = numpy.array([float(a) * float(b) + float(c) for a, b, c in zip(*[x[:1000] for x in operands])])
    assert numpy.abs(out[:1000] - exact).max() < 1e-6
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.process_time_ns()
        for _ in range(int(line)):
            loop()
        print(time.process_time_ns() - start, flush=True)


main()
