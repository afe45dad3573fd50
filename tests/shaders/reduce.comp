// Sums of workgroups in a tree, then atomics on a buffer.
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Sums { float sums[]; };
layout(std430, binding = 2) buffer Counts { uint count; int lowest; int highest; uint bits; uint histogram[8]; uint last; };
shared float partial[64];
void main() {
    uint here = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    float value = i < n ? x[i] : 0.0;
    partial[here] = value;
    for (uint width = 32; width > 0; width >>= 1) {
        barrier();
        if (here < width) partial[here] += partial[here + width];
    }
    if (here == 0) sums[gl_WorkGroupID.x] = partial[0];
    if (i < n) {
        int key = floatBitsToInt(value);
        atomicAdd(count, 1u);
        atomicMin(lowest, key);
        atomicMax(highest, key);
        atomicOr(bits, uint(key));
        atomicAdd(histogram[uint(key) >> 29], 1u);
        atomicCompSwap(last, 7u, 9u);
    }
}
