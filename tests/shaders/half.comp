// f16 vectors: fma, and what stands beside it.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer A { f16vec4 a[]; };
layout(std430, binding = 1) readonly buffer B { f16vec4 b[]; };
layout(std430, binding = 2) readonly buffer C { f16vec4 c[]; };
layout(std430, binding = 3) writeonly buffer D { f16vec4 d[]; };
layout(std430, binding = 4) writeonly buffer E { vec4 e[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    precise f16vec4 sum = a[i] * b[i] + c[i];
    d[2 * i] = fma(a[i], b[i], c[i]);
    d[2 * i + 1] = f16vec4(sum.xy, abs(c[i].z), min(a[i].w, b[i].w));
    e[i] = vec4(sum);
}
