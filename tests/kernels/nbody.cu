// Accelerations of bodies (x, y, z, mass) on each other, by correctly rounded square roots and divisions.
extern "C" __global__ void nbody(int n, float softening, const float4 *bodies, float4 *accelerations) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 self = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 other = bodies[j];
        float dx = __fsub_rn(other.x, self.x), dy = __fsub_rn(other.y, self.y), dz = __fsub_rn(other.z, self.z);
        float square = __fmaf_rn(dz, dz, __fmaf_rn(dy, dy, __fmaf_rn(dx, dx, softening)));
        float inverse = __fdiv_rn(1.0f, __fsqrt_rn(square));
        float pull = __fmul_rn(__fmul_rn(other.w, inverse), __fmul_rn(inverse, inverse));
        ax = __fmaf_rn(pull, dx, ax);
        ay = __fmaf_rn(pull, dy, ay);
        az = __fmaf_rn(pull, dz, az);
    }
    accelerations[i] = make_float4(ax, ay, az, 0.0f);
}
