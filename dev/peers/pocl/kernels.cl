// The kernels of crates/exec/benches/kernels.ptx in OpenCL C, as one writes them.

kernel void k1(int n, float a, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = fma(a, x[i], y[i]);
}

kernel void k2(int n, global const float *coefficients, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = coefficients[0];
    for (int k = 1; k <= 16; k++)
        sum = fma(sum, x[i], coefficients[k]);
    y[i] = sum;
}

kernel void k3(int n, global const float *a, global const float *b, global float *c)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (max(column, row) >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = fma(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}

kernel void k4(int n, global const float *h, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0;
    for (int tap = 0; tap < 64; tap++)
        sum = fma(h[tap], x[i + tap], sum);
    y[i] = sum;
}

kernel void k5(int n, int rounds, global const float *c, global int *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float z = 0;
    int count = 0;
    do {
        z = fma(z, z, c[i]);
        count++;
    } while (z < 4 && count < rounds);
    y[i] = count;
}

// The kernels of crates/exec/benches/suite.cu, sums by local memory where those shuffle.

kernel void stencil(int width, int height, float centre, float side, global const float *in, global float *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    float around = (in[i - 1] + in[i + 1]) + (in[i - width] + in[i + width]);
    out[i] = fma(side, around, centre * in[i]);
}

float block_sum(float sum, local float *part)
{
    int thread = get_local_id(0);
    part[thread] = sum;
    for (int step = 128; step > 0; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread < step)
            part[thread] += part[thread + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

kernel void reduce(int n, global const float *x, global float *sums)
{
    local float part[256];
    float sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    sum = block_sum(sum, part);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = sum;
}

kernel void histogram(int n, global const uchar *x, global uint *counts)
{
    local uint own[256];
    own[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&own[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[get_local_id(0)], own[get_local_id(0)]);
}

kernel void softmax(global const float4 *x, global float4 *y)
{
    local float part[256];
    int thread = get_local_id(0);
    float4 v = x[get_global_id(0)];
    part[thread] = fmax(fmax(v.x, v.y), fmax(v.z, v.w));
    for (int step = 128; step > 0; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread < step)
            part[thread] = fmax(part[thread], part[thread + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    v = native_exp(v - most);
    y[get_global_id(0)] = v / block_sum((v.x + v.y) + (v.z + v.w), part);
}

kernel void layer_norm(global const float4 *x, global const float4 *weights, global const float4 *shifts, global float4 *y)
{
    local float part[256];
    float4 v = x[get_global_id(0)];
    v -= block_sum((v.x + v.y) + (v.z + v.w), part) * (1.0f / 1024);
    float sum = block_sum(fma(v.x, v.x, v.y * v.y) + fma(v.z, v.z, v.w * v.w), part);
    float scale = native_rsqrt(fma(sum, 1.0f / 1024, 1e-5f));
    y[get_global_id(0)] = fma(v * scale, weights[get_local_id(0)], shifts[get_local_id(0)]);
}

kernel void bitonic(global float *x)
{
    local float own[512];
    int thread = get_local_id(0);
    global float *of_block = x + get_group_id(0) * 512;
    own[thread] = of_block[thread];
    own[thread + 256] = of_block[thread + 256];
    for (int length = 2; length <= 512; length <<= 1) {
        for (int step = length >> 1; step > 0; step >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int low = 2 * thread - (thread & (step - 1));
            float a = own[low], b = own[low + step];
            bool up = (low & length) == 0;
            own[low] = up ? fmin(a, b) : fmax(a, b);
            own[low + step] = up ? fmax(a, b) : fmin(a, b);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    of_block[thread] = own[thread];
    of_block[thread + 256] = own[thread + 256];
}

kernel void fft_stage(int n, int p, global const float2 *in, global const float2 *turns, global float2 *out)
{
    int i = get_global_id(0);
    if (i >= n / 2)
        return;
    int k = i & (p - 1);
    float2 a = in[i], b = in[i + n / 2], w = turns[k * (n / 2 / p)];
    float2 turned = (float2)(fma(b.x, w.x, -(b.y * w.y)), fma(b.x, w.y, b.y * w.x));
    int at = 2 * i - k;
    out[at] = a + turned;
    out[at + p] = a - turned;
}

kernel void lookup(int n, int steps, global const float *table, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float at = fmin(fmax(x[i], 0.0f), 1.0f) * steps;
    int step = min((int)at, steps - 1);
    float low = table[step];
    y[i] = fma(at - step, table[step + 1] - low, low);
}
