// Conversions between the formats of six and four bits and f32, f16 and bf16, in pairs, and those of eight bits that
// sm_100a adds.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void fp6_fp4_convert(int n, const float2 *x, const __half2_raw *h, const __nv_bfloat162_raw *b,
                                           const unsigned short *e, unsigned short *pairs, unsigned char *fours,
                                           __half2_raw *halves, __nv_bfloat162_raw *brains) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 f = x[i];
    unsigned short *p = pairs + 10 * i;
    p[0] = __nv_cvt_float2_to_fp6x2(f, __NV_E2M3, cudaRoundNearest);
    p[1] = __nv_cvt_float2_to_fp6x2(f, __NV_E3M2, cudaRoundNearest);
    p[2] = __nv_cvt_halfraw2_to_fp6x2(h[i], __NV_E2M3, cudaRoundNearest);
    p[3] = __nv_cvt_halfraw2_to_fp6x2(h[i], __NV_E3M2, cudaRoundNearest);
    p[4] = __nv_cvt_bfloat16raw2_to_fp6x2(b[i], __NV_E2M3, cudaRoundNearest);
    p[5] = __nv_cvt_bfloat16raw2_to_fp6x2(b[i], __NV_E3M2, cudaRoundNearest);
    p[6] = __nv_cvt_bfloat16raw2_to_fp8x2(b[i], __NV_SATFINITE, __NV_E4M3);
    p[7] = __nv_cvt_bfloat16raw2_to_fp8x2(b[i], __NV_SATFINITE, __NV_E5M2);
    // The headers have no function for `.relu`.
    asm("cvt.rn.satfinite.relu.e3m2x2.f32 %0, %1, %2;" : "=h"(p[8]) : "f"(f.y), "f"(f.x));
    asm("cvt.rn.satfinite.relu.e2m3x2.bf16x2 %0, %1;" : "=h"(p[9]) : "r"(b[i].x | (unsigned)b[i].y << 16));
    unsigned char *q = fours + 3 * i;
    q[0] = __nv_cvt_float2_to_fp4x2(f, __NV_E2M1, cudaRoundNearest);
    q[1] = __nv_cvt_halfraw2_to_fp4x2(h[i], __NV_E2M1, cudaRoundNearest);
    q[2] = __nv_cvt_bfloat16raw2_to_fp4x2(b[i], __NV_E2M1, cudaRoundNearest);
    unsigned short sixes = e[i] & 0x3f3f;
    unsigned char four = e[i];
    __half2_raw *v = halves + 3 * i;
    v[0] = __nv_cvt_fp6x2_to_halfraw2(sixes, __NV_E2M3);
    v[1] = __nv_cvt_fp6x2_to_halfraw2(sixes, __NV_E3M2);
    v[2] = __nv_cvt_fp4x2_to_halfraw2(four, __NV_E2M1);
    __nv_bfloat162_raw *w = brains + 5 * i;
    w[0] = __nv_cvt_fp6x2_to_bf162raw(sixes, __NV_E2M3);
    w[1] = __nv_cvt_fp6x2_to_bf162raw(sixes, __NV_E3M2);
    w[2] = __nv_cvt_fp4x2_to_bf162raw(four, __NV_E2M1);
    w[3] = __nv_cvt_fp8x2_to_bf162raw(e[i], __NV_E4M3);
    w[4] = __nv_cvt_fp8x2_to_bf162raw(e[i], __NV_E5M2);
}
