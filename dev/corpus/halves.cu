// Arithmetic of half and bfloat16, one and two at a time.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(int n, const half *x, half *y, half2 *pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half a = x[i], b = x[n - 1 - i];
    y[i] = hsqrt(__hfma(a, b, a)) + hexp(a) * hlog(b) / (hsin(a) + __float2half(2.0f)) - __hmax(a, b) + hrcp(b) + htrunc(a);
    half2 p = pairs[i];
    pairs[i] = __hfma2_sat(p, p, __halves2half2(a, b));
    if (__hbgt2(p, pairs[i]) && __hisnan(a)) y[i] = __hneg(__habs(b));
}
extern "C" __global__ void bfloats(int n, const __nv_bfloat16 *x, __nv_bfloat16 *y, float *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 a = x[i], b = x[n - 1 - i];
    y[i] = __hfma(a, b, a) + __float2bfloat16_rz(__bfloat162float(a) * 3.0f) + __hmin(a, b) * hsqrt(b);
    f[i] = __bfloat162float(y[i]);
}
