// Packed single precision of sm_100: two sums a thread.
extern "C" __global__ void f32x2(int n, const unsigned long long *a, const unsigned long long *b,
                                 unsigned long long *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long sum = c[i];
    asm("fma.rn.f32x2 %0, %1, %2, %0;" : "+l"(sum) : "l"(a[i]), "l"(b[i]));
    asm("fma.rz.ftz.f32x2 %0, %1, %2, %0;" : "+l"(sum) : "l"(b[i]), "l"(a[i]));
    c[i] = sum;
}
