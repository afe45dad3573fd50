// Layers of neural networks and what trains them, in f32, f16 and bf16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void relu_bias(float *y, const float *x, const float *bias, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) y[i] = fmaxf(x[i] + bias[i % columns], 0.0f);
}

extern "C" __global__ void layer_norm(float *y, const float *x, const float *gain, const float *shift, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float mean = 0, spread = 0;
    for (int c = 0; c < columns; ++c) mean += x[row * columns + c];
    mean /= columns;
    for (int c = 0; c < columns; ++c) {
        float d = x[row * columns + c] - mean;
        spread += d * d;
    }
    float scale = 1 / __fsqrt_rn(spread / columns + 1e-5f);
    for (int c = 0; c < columns; ++c) y[row * columns + c] = (x[row * columns + c] - mean) * scale * gain[c] + shift[c];
}

extern "C" __global__ void rms_norm_warp(float *y, const float *x, const float *gain, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float value = row < rows ? x[row * 32 + lane] : 0, squares = value * value;
    for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(~0u, squares, step);
    if (row < rows) y[row * 32 + lane] = value / __fsqrt_rn(squares / 32 + 1e-6f) * gain[lane];
}

extern "C" __global__ void adam(float *w, float *m, float *v, const float *g, float rate, float b1, float b2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    w[i] -= rate * m[i] / (__fsqrt_rn(v[i]) + 1e-8f);
}

extern "C" __global__ void embedding(float *y, const float *table, const unsigned *tokens, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * width && i < 16384) y[i] = table[(tokens[i / width] & 63) * width + i % width];
}

extern "C" __global__ void max_pool(float *y, const float *x, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = width / 2;
    if (i >= half * half) return;
    const float *p = x + i / half * 2 * width + i % half * 2;
    y[i] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[width], p[width + 1]));
}

extern "C" __global__ void convolve1d(float *y, const float *x, const float *taps, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < k; ++j) sum = fmaf(taps[j], x[i + j], sum);
    y[i] = sum;
}

extern "C" __global__ void half_fma(__half *y, const __half *a, const __half *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(a[i], b[i], y[i]);
}

extern "C" __global__ void half2_scale(__half2 *y, const __half2 *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hmul2(x[i], __float2half2_rn(a));
}

extern "C" __global__ void half_dot_wide(float *sum, const __half *a, const __half *b, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0;
    for (int c = 0; c < columns; ++c) total += __half2float(a[row * columns + c]) * __half2float(b[c]);
    sum[row] = total;
}

extern "C" __global__ void bf16_round(__nv_bfloat16 *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2bfloat16_rn(x[i]);
}

extern "C" __global__ void quantise(signed char *q, const float *x, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) q[i] = (signed char)max(-128, min(127, __float2int_rn(x[i] * scale)));
}
