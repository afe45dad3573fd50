#version 450
// The kernels of crates/exec/benches/kernels.ptx in GLSL, as one writes them; KERNEL is the number of one.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(push_constant) uniform Scalars { int n; uint bits; };
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) buffer C { float c[]; };

void main()
{
    int i = int(gl_GlobalInvocationID.x);
#if KERNEL == 1
    if (i < n)
        c[i] = fma(uintBitsToFloat(bits), a[i], c[i]);
#elif KERNEL == 2
    if (i >= n)
        return;
    float sum = a[0];
    for (int k = 1; k <= 16; k++)
        sum = fma(sum, b[i], a[k]);
    c[i] = sum;
#elif KERNEL == 3
    int row = int(gl_GlobalInvocationID.y);
    if (max(i, row) >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = fma(a[row * n + k], b[k * n + i], sum);
    c[row * n + i] = sum;
#elif KERNEL == 4
    if (i >= n)
        return;
    float sum = 0;
    for (int tap = 0; tap < 64; tap++)
        sum = fma(a[tap], b[i + tap], sum);
    c[i] = sum;
#else
    if (i >= n)
        return;
    float z = 0;
    uint count = 0;
    do {
        z = fma(z, z, a[i]);
        count++;
    } while (z < 4 && count < bits);
    c[i] = uintBitsToFloat(count);
#endif
}
