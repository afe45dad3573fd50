// A device function that is not inlined, called from two places and with results in memory and in a register.
__device__ __noinline__ float polynomial(float x, float *remainder) {
    float value = __fmaf_rn(__fmaf_rn(x, 0.25f, -1.5f), x, 3.0f);
    *remainder = __fmaf_rn(x, x, -__fmul_rn(x, x));
    return value;
}
extern "C" __global__ void call(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float rest, more;
    float value = polynomial(x[i], &rest);
    if (value > 2.0f) value = polynomial(value, &more);
    else more = 1.0f;
    y[i] = __fadd_rn(value, __fadd_rn(rest, more));
}
