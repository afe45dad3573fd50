// The older extensions: SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote.
#version 450
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_shader_group_vote : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, o = i * 5, x = a[i];
    r[o] = unpackUint2x32(ballotARB((x & 2u) == 2u)).x;
    r[o + 1] = readInvocationARB(x, 7u);
    if (x % 3u == 1u) r[o + 2] = readFirstInvocationARB(x);
    r[o + 3] = uint(anyInvocationARB(x > 250u)) | uint(allInvocationsARB(x > 1u)) << 1;
    r[o + 4] = uint(allInvocationsEqualARB(x > 250u)) | uint(allInvocationsEqualARB(x < 300u)) << 1;
}
