// y = a × x + y, the SPIR-V 1.0 interface: BufferBlock in Uniform.
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint n; float a; };
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= n) return;
    y[i] = fma(a, x[i], y[i]);
}
