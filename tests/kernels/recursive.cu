// Functions that call themselves, and each other, with values in registers, in memory and by reference.
struct Interval {
    float low, high, at_low, at_high;
};
__device__ float curve(float x) { return __fmaf_rn(__fmaf_rn(x, x, -1.25f), x, 0.4f); }

// An integral by halving until the trapezoids agree: how deep depends on the data.
__device__ __noinline__ float integral(Interval part, int depth, int *calls) {
    *calls += 1;
    float middle = __fmul_rn(0.5f, __fadd_rn(part.low, part.high)), at = curve(middle);
    float width = __fsub_rn(part.high, part.low);
    float coarse = __fmul_rn(width, __fmul_rn(0.5f, __fadd_rn(part.at_low, part.at_high)));
    float fine = __fmul_rn(width, __fmaf_rn(0.25f, __fadd_rn(part.at_low, part.at_high), __fmul_rn(0.5f, at)));
    if (depth == 0 || fabsf(__fsub_rn(fine, coarse)) < 1e-3f) return fine;
    Interval left = {part.low, middle, part.at_low, at}, right = {middle, part.high, at, part.at_high};
    float first = integral(left, depth - 1, calls);
    return __fadd_rn(first, integral(right, depth - 1, calls));
}

// Two functions that call each other.
__device__ __noinline__ unsigned odd(unsigned n, unsigned sum);
__device__ __noinline__ unsigned even(unsigned n, unsigned sum) { return n == 0 ? sum : odd(n - 1, sum * 3 + n) ^ n; }
__device__ __noinline__ unsigned odd(unsigned n, unsigned sum) { return n == 0 ? ~sum : even(n - 1, sum * 5 + n) + n; }

extern "C" __global__ void recursive(int n, const float *x, float *y, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int calls = 0;
    Interval whole = {-1.0f, x[i], curve(-1.0f), curve(x[i])};
    y[i] = integral(whole, 8, &calls);
    counts[2 * i] = calls;
    counts[2 * i + 1] = even(i % 20, i);
}
