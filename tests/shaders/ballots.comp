// What ballots say, values within quads and clusters.
#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = 48) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, o = i * 12, x = a[i];
    uvec4 ballot = subgroupBallot((x & 1u) == 1u);
    r[o] = uint(subgroupInverseBallot(ballot ^ uvec4(5u)));
    r[o + 1] = uint(subgroupBallotBitExtract(ballot, x & 31u));
    r[o + 2] = subgroupBallotBitCount(ballot);
    r[o + 3] = subgroupBallotInclusiveBitCount(ballot);
    r[o + 4] = subgroupBallotExclusiveBitCount(ballot);
    r[o + 5] = subgroupBallotFindLSB(ballot | uvec4(1u << 30));
    r[o + 6] = subgroupBallotFindMSB(ballot | uvec4(1u));
    r[o + 7] = subgroupQuadBroadcast(x, 2u);
    r[o + 8] = subgroupQuadSwapHorizontal(x);
    r[o + 9] = subgroupQuadSwapVertical(x) ^ subgroupQuadSwapDiagonal(x) << 8;
    r[o + 10] = subgroupClusteredAdd(x, 8u);
    if (x > 40u) r[o + 11] = floatBitsToUint(subgroupClusteredMul(float(x), 4u));
}
