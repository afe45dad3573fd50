// What 32 neighbours tell each other, some of them gone another way.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
layout(local_size_x = 80) in;
layout(std430, binding = 0) readonly buffer A { uvec2 a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, o = i * 16;
    uvec2 x = a[i];
    r[o] = gl_SubgroupID << 16 | gl_SubgroupInvocationID << 8 | gl_NumSubgroups;
    r[o + 1] = subgroupBallot((x.x & 1u) == 1u).x & gl_SubgroupLtMask.x;
    uvec2 other = subgroupShuffleXor(x, 5u);
    r[o + 2] = other.x ^ other.y;
    r[o + 3] = subgroupBroadcast(x.y, 3u);
    if (gl_SubgroupInvocationID % 3u == 1u) {
        r[o + 4] = subgroupBroadcastFirst(x.x);
        r[o + 5] = uint(subgroupElect());
        r[o + 6] = uint(subgroupAll(x.x > 10u)) | uint(subgroupAny(x.x > 200u)) << 1;
    }
    r[o + 7] = uint(subgroupAllEqual(gl_SubgroupID)) | uint(subgroupAllEqual(x.x)) << 1;
    r[o + 8] = subgroupShuffle(x.x, (gl_SubgroupInvocationID * 7u) & 15u);
    if (gl_SubgroupInvocationID >= 2u) r[o + 9] = subgroupShuffleUp(x.x, 0u);
    if (gl_LocalInvocationID.x < 64u) r[o + 10] = subgroupShuffleDown(x.y, gl_SubgroupInvocationID < 16u ? 16u : 0u);
    subgroupBarrier();
    r[o + 11] = subgroupBallot(true).x;
    r[o + 12] = subgroupAdd(x.x);
    r[o + 13] = subgroupExclusiveMin(x.y);
    float tenth = float(x.x) * 0.1;
    if (gl_SubgroupInvocationID % 3u != 0u) r[o + 14] = floatBitsToUint(subgroupInclusiveAdd(tenth));
    r[o + 15] = uint(subgroupMax(int(x.y))) ^ uint(subgroupAnd(x.x > 3u ? 1u : 0u));
}
