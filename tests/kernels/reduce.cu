// Sums, a maximum and a count by atomics. The floats are small integers, so that no order of them rounds.
extern "C" __global__ void reduce(int n, const float *x, float *sum, int *largest, unsigned *negative, double *wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(sum, x[i]);
    atomicMax(largest, __float2int_rz(x[i]));
    if (x[i] < 0.0f) atomicInc(negative, 0xffffffffu);
    atomicAdd(wide, (double)x[i] * 0.5);
}
