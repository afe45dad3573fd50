// Barriers of the whole grid: each step reads what other blocks wrote in the one before.
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync(int n, int steps, float *from, float *to) {
    auto grid = cooperative_groups::this_grid();
    int i = static_cast<int>(grid.thread_rank());
    for (int step = 0; step < steps; step++) {
        to[i] = __fmaf_rn(0.5f, from[(i + n - 37) % n], __fmul_rn(0.25f, __fadd_rn(from[i], from[(i + 91) % n])));
        grid.sync();
        float *other = from;
        from = to;
        to = other;
    }
}
