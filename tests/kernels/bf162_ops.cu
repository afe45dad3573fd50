// The same of __nv_bfloat162, with one bf16 alone. sm_90 has each operation; sm_80 makes all of them of fma.
#include <cuda_bf16.h>

extern "C" __global__ void bf162_ops(int n, const __nv_bfloat162 *a, const __nv_bfloat162 *b, const __nv_bfloat162 *c,
                                     __nv_bfloat162 *d, __nv_bfloat16 *e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat162 x = a[i], y = b[i], z = c[i];
    __nv_bfloat162 *r = d + 12 * i;
    r[0] = __hfma2(x, y, z);
    r[1] = __hfma2_relu(x, y, z);
    r[2] = __hadd2(x, y);
    r[3] = __hadd2_rn(x, z);
    r[4] = __hsub2(x, y);
    r[5] = __hmul2(x, y);
    r[6] = __hmul2_rn(x, z);
    r[7] = __hmax2(x, y);
    r[8] = __hmin2(x, y);
    r[9] = __hmax2_nan(x, y);
    r[10] = __hmin2_nan(x, y);
    r[11] = __hneg2(__habs2(x));
    __nv_bfloat16 *s = e + 5 * i;
    s[0] = __hadd(x.x, y.y);
    s[1] = __hsub(x.y, y.x);
    s[2] = __hmul(y.x, z.x);
    s[3] = __hfma(x.x, y.x, z.y);
    s[4] = __hfma_relu(y.y, x.y, z.y);
}
