// Softmax of rows of 64, a block of 32 threads a row, with the machine's approximate power of two.
__device__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
extern "C" __global__ void softmax(const float *x, float *y) {
    const float *row = x + blockIdx.x * 64;
    float a = row[threadIdx.x], b = row[threadIdx.x + 32];
    float largest = fmaxf(a, b);
    for (int mask = 16; mask > 0; mask >>= 1) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
    a = power_of_two(__fmul_rn(__fsub_rn(a, largest), 1.442695041f));
    b = power_of_two(__fmul_rn(__fsub_rn(b, largest), 1.442695041f));
    float sum = __fadd_rn(a, b);
    for (int mask = 16; mask > 0; mask >>= 1) sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, mask));
    y[blockIdx.x * 64 + threadIdx.x] = __fdiv_rn(a, sum);
    y[blockIdx.x * 64 + threadIdx.x + 32] = __fdiv_rn(b, sum);
}
