// OpenCL C: vectors, builtins, local memory, atomics, structures, switches.
kernel void vectors(global const float4 *a, global const int2 *b, global float4 *out, uint n) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    float4 v = a[i] * 2.0f + (float4)(1.0f, 2.0f, 3.0f, 4.0f);
    out[i] = select(v.wzyx, fma(v, v.yxwz, a[n - 1 - i]), isgreater(v, a[i])) + convert_float4(b[i].xyxy);
}
kernel void builtins(global const float *x, global float *y, uint n) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    float a = x[i], whole;
    y[i] = mad(a, 2.0f, 1.0f) + clamp(a, 0.0f, 1.0f) + mix(a, 2.0f, 0.5f) + fract(a, &whole) + sign(a) + rint(a)
         + fmin(a, whole) + step(a, 0.5f) + degrees(a) + native_sqrt(fabs(a)) + ldexp(a, 2) + copysign(a, -1.0f);
}
kernel void reduce(global const int *x, global int *y, local int *tile) {
    uint here = get_local_id(0), all = get_local_size(0);
    tile[here] = x[get_global_id(0)];
    for (uint half_ = all / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (here < half_) tile[here] += tile[here + half_];
    }
    if (here == 0) atomic_add(y, tile[0]);
}
kernel void switches(global const uint *x, global uint *y, uint n) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    uint v = x[i];
    switch (v & 7) {
        case 0: v = rotate(v, 3u); break;
        case 1: v = popcount(v); break;
        case 2: v = clz(v);
        case 3: v = mul_hi(v, 12345u); break;
        case 5: v = mad_hi(v, v, 7u); break;
        default: v = add_sat(v, 0xf0000000u);
    }
    y[i] = v;
}
typedef struct { float at[3]; int kind; } Body;
kernel void structures(global const Body *in, global Body *out, const Body by_value, uint n) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    Body body = in[i];
    for (int k = 0; k < 3; k++) body.at[k] = fma(body.at[k], by_value.at[k], (float)body.kind);
    body.kind ^= by_value.kind;
    out[i] = body;
}
