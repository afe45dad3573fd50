// Conversions between the formats of eight bits and f64, f32, f16 and bf16, one by one and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void fp8_convert(int n, const float2 *x, const __half2_raw *h, const __nv_bfloat162_raw *b,
                                       const double *d, const __nv_fp8x2_storage_t *e, __nv_fp8x2_storage_t *pairs,
                                       __nv_fp8_storage_t *single, __half2_raw *halves, float2 *floats) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 f = x[i];
    __nv_fp8x2_storage_t *p = pairs + 8 * i;
    p[0] = __nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E4M3);
    p[1] = __nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, __NV_E5M2);
    p[2] = __nv_cvt_halfraw2_to_fp8x2(h[i], __NV_SATFINITE, __NV_E4M3);
    p[3] = __nv_cvt_halfraw2_to_fp8x2(h[i], __NV_SATFINITE, __NV_E5M2);
    p[4] = __nv_cvt_bfloat16raw2_to_fp8x2(b[i], __NV_SATFINITE, __NV_E4M3);
    p[5] = __nv_cvt_bfloat16raw2_to_fp8x2(b[i], __NV_SATFINITE, __NV_E5M2);
    // The header has no function for `.relu`.
    asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(p[6]) : "f"(f.y), "f"(f.x));
    asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;" : "=h"(p[7]) : "r"(h[i].x | (unsigned)h[i].y << 16));
    __nv_fp8_storage_t *q = single + 6 * i;
    q[0] = __nv_cvt_float_to_fp8(f.x, __NV_SATFINITE, __NV_E4M3);
    q[1] = __nv_cvt_float_to_fp8(f.y, __NV_SATFINITE, __NV_E5M2);
    q[2] = __nv_cvt_double_to_fp8(d[i], __NV_SATFINITE, __NV_E4M3);
    q[3] = __nv_cvt_double_to_fp8(d[i], __NV_NOSAT, __NV_E4M3);
    q[4] = __nv_cvt_double_to_fp8(d[i], __NV_SATFINITE, __NV_E5M2);
    q[5] = __nv_cvt_double_to_fp8(d[i], __NV_NOSAT, __NV_E5M2);
    __half2_raw *w = halves + 3 * i;
    w[0] = __nv_cvt_fp8x2_to_halfraw2(e[i], __NV_E4M3);
    w[1] = __nv_cvt_fp8x2_to_halfraw2(e[i], __NV_E5M2);
    unsigned both;
    asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(both) : "h"(e[i]));
    w[2].x = both & 0xffff;
    w[2].y = both >> 16;
    __nv_fp8x2_e4m3 four;
    __nv_fp8x2_e5m2 five;
    four.__x = five.__x = e[i];
    floats[2 * i] = static_cast<float2>(four);
    floats[2 * i + 1] = static_cast<float2>(five);
}
