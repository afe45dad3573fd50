// Dot products of pairs, one a block: each lane's sums in half2, then a warp's by lane, then both halves, then all
// warps.
#include <cuda_fp16.h>

extern "C" __global__ void half2_dot(int n, const __half2 *x, const __half2 *y, __half *halves, float *result) {
    __shared__ __half warps[4];
    __half2 sum = __float2half2_rn(0.0f);
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum = __hfma2(x[i], y[i], sum);
    for (int delta = 16; delta; delta >>= 1) sum = __hadd2_rn(sum, __shfl_down_sync(0xffffffff, sum, delta));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = __hadd_rn(__low2half(sum), __high2half(sum));
    __syncthreads();
    if (threadIdx.x == 0) {
        __half total = warps[0];
        for (int warp = 1; warp < 4; ++warp) total = __hadd_rn(total, warps[warp]);
        halves[blockIdx.x] = total;
        result[blockIdx.x] = __half2float(total);
    }
}
