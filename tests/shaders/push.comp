// Push constants as one block: a vector of three without padding, a matrix, integers.
#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform Block {
    vec3 first;
    float scale;
    mat2 turn;
    ivec3 last;
};
layout(std430, binding = 0) buffer R { float r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    r[2 * i] = first[i % 3u] * scale;
    r[2 * i + 1] = turn[i & 1u].y * float(last[i % 3u]);
}
