// Mixed precision of sm_100: bf16 factors, f32 sums; saturated and directed variants.
extern "C" __global__ void bf16(int n, const unsigned short *a, const unsigned short *b, const float *c, float4 *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 r;
    asm("fma.rn.f32.bf16 %0, %1, %2, %3;" : "=f"(r.x) : "h"(a[i]), "h"(b[i]), "f"(c[i]));
    asm("fma.rm.sat.f32.bf16 %0, %1, %2, %3;" : "=f"(r.y) : "h"(a[i]), "h"(b[i]), "f"(c[i]));
    asm("add.rz.f32.bf16 %0, %1, %2;" : "=f"(r.z) : "h"(a[i]), "f"(c[i]));
    asm("sub.rp.f32.bf16 %0, %1, %2;" : "=f"(r.w) : "h"(b[i]), "f"(c[i]));
    d[i] = r;
}
