// An in-place radix-2 transform of 64 complex numbers in one block, its input in bit-reversed order, its sines and
// cosines from a table.
extern "C" __global__ void fft(const float2 *table, float2 *data) {
    __shared__ float2 values[64];
    int thread = threadIdx.x;
    values[thread] = data[thread];
    values[thread + 32] = data[thread + 32];
    __syncthreads();
    for (int half = 1; half < 64; half <<= 1) {
        int within = thread & (half - 1);
        int low = ((thread - within) << 1) + within, high = low + half;
        float2 twiddle = table[within * (32 / half)];
        float2 a = values[low], b = values[high];
        float re = __fmaf_rn(twiddle.x, b.x, -__fmul_rn(twiddle.y, b.y));
        float im = __fmaf_rn(twiddle.x, b.y, __fmul_rn(twiddle.y, b.x));
        values[low] = make_float2(__fadd_rn(a.x, re), __fadd_rn(a.y, im));
        values[high] = make_float2(__fsub_rn(a.x, re), __fsub_rn(a.y, im));
        __syncthreads();
    }
    data[thread] = values[thread];
    data[thread + 32] = values[thread + 32];
}
