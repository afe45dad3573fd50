// Every operation of the half2 intrinsics: rounded, clamped and rectified, and both kinds of minimum and maximum.
#include <cuda_fp16.h>

extern "C" __global__ void half2_ops(int n, const __half2 *a, const __half2 *b, const __half2 *c, __half2 *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i], z = c[i];
    __half2 *r = d + 16 * i;
    r[0] = __hfma2(x, y, z);
    r[1] = __hfma2_relu(x, y, z);
    r[2] = __hfma2_sat(x, y, z);
    r[3] = __hadd2(x, y);
    r[4] = __hadd2_rn(x, z);
    r[5] = __hadd2_sat(y, z);
    r[6] = __hsub2(x, y);
    r[7] = __hsub2_sat(x, z);
    r[8] = __hmul2(x, y);
    r[9] = __hmul2_rn(x, z);
    r[10] = __hmul2_sat(y, z);
    r[11] = __hmax2(x, y);
    r[12] = __hmin2(x, y);
    r[13] = __hmax2_nan(x, y);
    r[14] = __hmin2_nan(x, y);
    r[15] = __hneg2(__habs2(x));
}
