// A dot product: each thread strides over the vectors, warps sum by shuffles, the first warp sums the warps.
extern "C" __global__ void dot(int n, const float *x, const float *y, float *out) {
    __shared__ float partial[32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum = __fmaf_rn(x[i], y[i], sum);
    for (int delta = 16; delta > 0; delta >>= 1) sum = __fadd_rn(sum, __shfl_down_sync(0xffffffffu, sum, delta));
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < (int)(blockDim.x >> 5) ? partial[lane] : 0.0f;
        for (int delta = 16; delta > 0; delta >>= 1) sum = __fadd_rn(sum, __shfl_down_sync(0xffffffffu, sum, delta));
        if (lane == 0) *out = sum;
    }
}
