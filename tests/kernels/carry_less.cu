// Products of polynomials over the field of two elements: both halves, and a third number added.
extern "C" __global__ void carry_less(const unsigned long long *x, const unsigned long long *y, unsigned long long *low, unsigned long long *high) {
    int at = threadIdx.x;
    asm volatile("clmad.lo.u64 %0, %1, %2, %3;" : "=l"(low[at]) : "l"(x[at]), "l"(y[at]), "l"(low[at]));
    asm volatile("clmad.hi.u64 %0, %1, %2, %3;" : "=l"(high[at]) : "l"(x[at]), "l"(y[at]), "l"(high[at]));
}
