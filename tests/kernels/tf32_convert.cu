// From f32 to tf32, in every way that PTX has.
#include <cstdint>
#define CONVERT(way, at) \
    { \
        uint32_t bits; \
        asm("cvt." way ".tf32.f32 %0, %1;" : "=r"(bits) : "f"(x[i])); \
        y[6 * i + at] = bits; \
    }
extern "C" __global__ void tf32_convert(int n, const float *x, uint32_t *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    CONVERT("rna", 0)
    CONVERT("rna.satfinite", 1)
    CONVERT("rn", 2)
    CONVERT("rz", 3)
    CONVERT("rn.relu", 4)
    CONVERT("rz.relu.satfinite", 5)
}
