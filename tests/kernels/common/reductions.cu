// Sums, extremes, scans and counts: trees in shared memory and exchanges within a warp.

#define BLOCK 64

extern "C" __global__ void sum_tree(float *sums, const float *x, int n)
{
    __shared__ float part[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void sum_warp(float *sums, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0;
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) sums[i / 32] = value;
}

extern "C" __global__ void largest_place(float *values, int *places, const float *x, int n)
{
    __shared__ float best[BLOCK];
    __shared__ int at[BLOCK];
    best[threadIdx.x] = -3.0e38f;
    at[threadIdx.x] = -1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (x[i] > best[threadIdx.x]) {
            best[threadIdx.x] = x[i];
            at[threadIdx.x] = i;
        }
    }
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step && best[threadIdx.x + step] > best[threadIdx.x]) {
            best[threadIdx.x] = best[threadIdx.x + step];
            at[threadIdx.x] = at[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        values[blockIdx.x] = best[0];
        places[blockIdx.x] = at[0];
    }
}

extern "C" __global__ void scan_inclusive(int *y, const int *x, int n)
{
    __shared__ int held[2][BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x, side = 0;
    held[0][threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        int value = held[side][threadIdx.x];
        if (threadIdx.x >= step) value += held[side][threadIdx.x - step];
        side = 1 - side;
        held[side][threadIdx.x] = value;
        __syncthreads();
    }
    if (i < n) y[i] = held[side][threadIdx.x];
}

extern "C" __global__ void scan_warp(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float value = i < n ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        float below = __shfl_up_sync(~0u, value, step);
        if (lane >= step) value += below;
    }
    if (i < n) y[i] = value;
}

extern "C" __global__ void compact_positive(float *kept, int *counts, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float value = i < n ? x[i] : 0;
    unsigned mask = __ballot_sync(~0u, value > 0);
    if (value > 0) kept[i - lane + __popc(mask & ((1u << lane) - 1))] = value;
    if (lane == 0) counts[i / 32] = __popc(mask);
}

extern "C" __global__ void variance_welford(double *out, const float *x, int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
    double mean = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        double delta = x[i] - mean;
        mean += delta / (i + 1);
        squares += delta * (x[i] - mean);
    }
    out[0] = mean;
    out[1] = squares;
}

extern "C" __global__ void count_bins(unsigned *bins, const unsigned *x, int n)
{
    __shared__ unsigned own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i] % 16], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void all_finite(int *flags, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool fine = i >= n || fabsf(x[i]) <= 3.4028234e38f;
    int all = __syncthreads_and(fine);
    if (threadIdx.x == 0) flags[blockIdx.x] = all ? 1 : -1;
}
