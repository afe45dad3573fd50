// Kernels K5 to K12 of the benchmark, as one writes them. suite.ptx is what nvcc makes of this file:
//     nvcc -ptx -arch=compute_75 -o suite.ptx suite.cu

// The average of a cell and its four neighbours, with weights; the edge stays.
extern "C" __global__ void stencil(int width, int height, float centre, float side, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    float around = (in[i - 1] + in[i + 1]) + (in[i - width] + in[i + width]);
    out[i] = fmaf(side, around, centre * in[i]);
}

__device__ float warp_sum(float sum) {
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
    return sum;
}
// The sum over a block of 256, in its first thread.
__device__ float block_sum(float sum) {
    __shared__ float part[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    sum = warp_sum(sum);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < 8 ? part[lane] : 0.0f;
    if (warp == 0)
        for (int step = 4; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
    return sum;
}

// A sum for each block of 256 threads, each of which takes every so many-th element.
extern "C" __global__ void reduce(int n, const float *x, float *sums) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// How often each of 256 bytes occurs: counted in shared memory, then added to the counts of all.
extern "C" __global__ void histogram(int n, const unsigned char *x, unsigned *counts) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

// A row of 1,024 for each block of 256 threads.
extern "C" __global__ void softmax(const float *x, float *y) {
    __shared__ float part[8], all;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float4 *row = (const float4 *)(x + blockIdx.x * 1024);
    float4 v = row[threadIdx.x];
    float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    for (int step = 16; step > 0; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (lane == 0) part[warp] = most;
    __syncthreads();
    most = part[lane & 7];
    for (int step = 4; step > 0; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    v.x = __expf(v.x - most), v.y = __expf(v.y - most), v.z = __expf(v.z - most), v.w = __expf(v.w - most);
    __syncthreads();
    float sum = block_sum((v.x + v.y) + (v.z + v.w));
    if (threadIdx.x == 0) all = sum;
    __syncthreads();
    sum = all;
    v.x = v.x / sum, v.y = v.y / sum, v.z = v.z / sum, v.w = v.w / sum;
    ((float4 *)(y + blockIdx.x * 1024))[threadIdx.x] = v;
}

// The same shape: each row shifted and scaled to mean 0 and variance 1, then by weights.
extern "C" __global__ void layer_norm(const float *x, const float *weights, const float *shifts, float *y) {
    __shared__ float all[2];
    float4 v = ((const float4 *)(x + blockIdx.x * 1024))[threadIdx.x];
    float sum = block_sum((v.x + v.y) + (v.z + v.w));
    if (threadIdx.x == 0) all[0] = sum;
    __syncthreads();
    float mean = all[0] * (1.0f / 1024);
    v.x -= mean, v.y -= mean, v.z -= mean, v.w -= mean;
    sum = block_sum(fmaf(v.x, v.x, v.y * v.y) + fmaf(v.z, v.z, v.w * v.w));
    if (threadIdx.x == 0) all[1] = sum;
    __syncthreads();
    float scale = rsqrtf(fmaf(all[1], 1.0f / 1024, 1e-5f));
    float4 w = ((const float4 *)weights)[threadIdx.x], b = ((const float4 *)shifts)[threadIdx.x];
    v.x = fmaf(v.x * scale, w.x, b.x), v.y = fmaf(v.y * scale, w.y, b.y);
    v.z = fmaf(v.z * scale, w.z, b.z), v.w = fmaf(v.w * scale, w.w, b.w);
    ((float4 *)(y + blockIdx.x * 1024))[threadIdx.x] = v;
}

// Sorts every 512 numbers, in a block of 256 threads.
extern "C" __global__ void bitonic(float *x) {
    __shared__ float own[512];
    float *of_block = x + blockIdx.x * 512;
    own[threadIdx.x] = of_block[threadIdx.x];
    own[threadIdx.x + 256] = of_block[threadIdx.x + 256];
    for (int length = 2; length <= 512; length <<= 1) {
        for (int step = length >> 1; step > 0; step >>= 1) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            float a = own[low], b = own[low + step];
            bool up = (low & length) == 0;
            own[low] = up ? fminf(a, b) : fmaxf(a, b);
            own[low + step] = up ? fmaxf(a, b) : fminf(a, b);
        }
    }
    __syncthreads();
    of_block[threadIdx.x] = own[threadIdx.x];
    of_block[threadIdx.x + 256] = own[threadIdx.x + 256];
}

// A stage of a Fourier transform of n points by twos, from blocks of p points to blocks of 2 p.
extern "C" __global__ void fft_stage(int n, int p, const float2 *in, const float2 *turns, float2 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    int k = i & (p - 1);
    float2 a = in[i], b = in[i + n / 2], w = turns[k * (n / 2 / p)];
    float re = fmaf(b.x, w.x, -(b.y * w.y)), im = fmaf(b.x, w.y, b.y * w.x);
    int at = 2 * i - k;
    out[at] = make_float2(a.x + re, a.y + im);
    out[at + p] = make_float2(a.x - re, a.y - im);
}

// A function given by a table of so many steps from 0 to 1, between them by straight lines.
extern "C" __global__ void lookup(int n, int steps, const float *table, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float at = fminf(fmaxf(x[i], 0.0f), 1.0f) * steps;
    int step = min((int)at, steps - 1);
    float low = table[step];
    y[i] = fmaf(at - step, table[step + 1] - low, low);
}

// Each element added to the sum that its index names.
extern "C" __global__ void sum_by_index(int n, const int *index, const float *x, float *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sums[index[i]], x[i]);
}

// The elements above a limit, one behind the other in a ring of n, a power of two; before it how many there have been.
extern "C" __global__ void keep(int n, float limit, const float *x, int *kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) kept[1 + (atomicAdd(&kept[0], 1) & (n - 1))] = __float_as_int(x[i]);
}
