// Conversions between f32, f16, bf16 and integers, one by one and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_convert(int n, const float2 *x, const __half2 *h, const __nv_bfloat162 *b,
                                        __half2 *halves, __nv_bfloat162 *brains, float2 *floats, int *whole) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 f = x[i];
    __half2 *p = halves + 4 * i;
    p[0] = __float22half2_rn(f);
    p[1] = __halves2half2(__float2half_rz(f.x), __float2half_rn(f.y));
    p[2] = __halves2half2(__float2half_rd(f.x), __float2half_ru(f.y));
    p[3] = __halves2half2(__int2half_rn(__float2int_rz(f.x)), __ushort2half_rz((unsigned short)(i * 683)));
    __nv_bfloat162 *q = brains + 3 * i;
    q[0] = __float22bfloat162_rn(f);
    q[1] = __halves2bfloat162(__float2bfloat16_rz(f.x), __float2bfloat16_rn(f.y));
    q[2] = __halves2bfloat162(__float2bfloat16_rd(f.x), __float2bfloat16_ru(f.y));
    floats[2 * i] = __half22float2(h[i]);
    floats[2 * i + 1] = __bfloat1622float2(b[i]);
    int *w = whole + 4 * i;
    w[0] = __half2int_rn(h[i].x);
    w[1] = __half2int_rd(h[i].y);
    w[2] = __half2short_rz(h[i].x);
    w[3] = __half2uint_ru(h[i].y);
}
