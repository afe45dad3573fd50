// Every function of the math library that takes one number, in both precisions, and the intrinsics.
#include <cuda_fp16.h>
#define EACH(F) \
    F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(exp) F(exp2) \
    F(exp10) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sqrt) F(rsqrt) F(cbrt) F(erf) F(erfc) F(tgamma) F(lgamma) \
    F(j0) F(y1) F(normcdf) F(sinpi) F(cospi) F(rint) F(round) F(trunc) F(floor) F(ceil) F(logb)
#define KERNELS(name) \
    extern "C" __global__ void name##_f32(int n, const float *x, float *y) { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = name##f(x[i]); \
    } \
    extern "C" __global__ void name##_f64(int n, const double *x, double *y) { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = name(x[i]); \
    }
EACH(KERNELS)
extern "C" __global__ void intrinsics(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = x[n - 1 - i];
    y[i] = __sinf(a) + __cosf(b) * __expf(a) - __logf(b) / __fdividef(a, b) + __powf(a, b) + __frcp_rz(a) + __fsqrt_ru(b)
         + __fmaf_rd(a, b, a) + __saturatef(b) + fmodf(a, b) + remainderf(a, b) + powf(a, b) + hypotf(a, b) + ldexpf(a, 3)
         + nextafterf(a, b) + fdimf(a, b) + norm3df(a, b, a) + __int_as_float(__float2int_ru(a)) + __half2float(__float2half(b));
}
