// c = a × b by tiles in Workgroup memory.
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant) uniform Push { uint n; };
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
shared float left[8][8];
shared float right[8][8];
void main() {
    uvec2 at = gl_GlobalInvocationID.xy, here = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint tile = 0; tile < n; tile += 8) {
        left[here.y][here.x] = a[at.y * n + tile + here.x];
        right[here.y][here.x] = b[(tile + here.y) * n + at.x];
        barrier();
        for (uint k = 0; k < 8; ++k) sum = fma(left[here.y][k], right[k][here.x], sum);
        barrier();
    }
    c[at.y * n + at.x] = sum;
}
