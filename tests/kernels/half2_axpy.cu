// a * x + y of pairs, compiled with -ftz=true: that flushes f32 arithmetic and no intrinsic of half2, whose `.ftz` is
// written out here.
#include <cuda_fp16.h>

#define FLUSHED(instruction, d, ...) asm(instruction ";" : "=r"(*(unsigned *)&(d)) : __VA_ARGS__)
#define IN(x) "r"(*(const unsigned *)&(x))

extern "C" __global__ void half2_axpy(int n, float a, float scale, const __half2 *x, __half2 *y, __half2 *flushed,
                                      float2 *wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 p = x[i], q = y[i], factor = __float2half2_rn(a);
    y[i] = __hfma2(factor, p, q);
    __half2 *f = flushed + 4 * i;
    FLUSHED("fma.rn.ftz.f16x2 %0, %1, %2, %3", f[0], IN(factor), IN(p), IN(q));
    FLUSHED("fma.rn.ftz.relu.f16x2 %0, %1, %2, %3", f[1], IN(factor), IN(p), IN(q));
    FLUSHED("add.rn.ftz.f16x2 %0, %1, %2", f[2], IN(p), IN(q));
    FLUSHED("mul.rn.ftz.sat.f16x2 %0, %1, %2", f[3], IN(p), IN(q));
    float2 u = __half22float2(p), v = __half22float2(q);
    wide[i] = make_float2(fmaf(u.x, scale, v.x * scale), fmaf(u.y, scale, v.y * scale));
}
