// Arithmetic on vectors, an element or a few a thread.

extern "C" __global__ void scale(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}

extern "C" __global__ void add_strided(float *c, const float *a, const float *b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

extern "C" __global__ void axpby4(float4 *y, const float4 *x, float a, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 u = x[i], v = y[i];
    y[i] = make_float4(a * u.x + b * v.x, a * u.y + b * v.y, a * u.z + b * v.z, a * u.w + b * v.w);
}

extern "C" __global__ void clamp_range(float *y, const float *x, float low, float high, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fminf(fmaxf(x[i], low), high);
}

extern "C" __global__ void complex_product(double2 *c, const double2 *a, const double2 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = make_double2(a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x);
}

// Knuth's two-sum and Dekker's product with a fused multiply-add, carried along a vector.
extern "C" __global__ void compensated_dot(float *result, const float *x, const float *y, int n)
{
    float sum = 0, error = 0;
    for (int i = 0; i < n; ++i) {
        float product = __fmul_rn(x[i], y[i]), rest = __fmaf_rn(x[i], y[i], -product);
        float next = __fadd_rn(sum, product), part = __fsub_rn(next, sum);
        float lost = __fadd_rn(__fsub_rn(sum, __fsub_rn(next, part)), __fsub_rn(product, part));
        sum = next;
        error = __fadd_rn(error, __fadd_rn(lost, rest));
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) *result = __fadd_rn(sum, error);
}

extern "C" __global__ void bounds_of_sum(float *low, float *high, const float *x, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    low[i] = __fadd_rd(x[i], y[i]);
    high[i] = __fadd_ru(x[i], y[i]);
}

extern "C" __global__ void normalise3(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    float length = __fsqrt_rn(x * x + y * y + z * z);
    v[3 * i] = x / length;
    v[3 * i + 1] = y / length;
    v[3 * i + 2] = z / length;
}
