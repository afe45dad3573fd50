// A dot product in double-double: TwoProd by fma, TwoSum by six additions; one result pair a thread.
extern "C" __global__ void twosum(int n, const double *x, const double *y, double2 *out) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    double high = 0.0, low = 0.0;
    for (int i = thread; i < n; i += threads) {
        double product = __dmul_rn(x[i], y[i]);
        double rest = __fma_rn(x[i], y[i], -product);
        double sum = __dadd_rn(high, product);
        double part = __dsub_rn(sum, high);
        double error = __dadd_rn(__dsub_rn(high, __dsub_rn(sum, part)), __dsub_rn(product, part));
        low = __dadd_rn(low, __dadd_rn(error, rest));
        high = sum;
    }
    out[thread] = make_double2(high, low);
}
