// What the invocations of a subgroup say to each other.
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;

@compute @workgroup_size(64)
fn subgroups_(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) size: u32) {
    let v = x[id.x];
    let ballot = subgroupBallot(v > 3u);
    var total = subgroupAdd(v) + subgroupMax(v) + subgroupMin(v) + subgroupMul(v) + subgroupExclusiveAdd(v) + subgroupInclusiveAdd(v);
    total ^= subgroupAnd(v) + subgroupOr(v) + subgroupXor(v) + subgroupBroadcast(v, 3u) + subgroupBroadcastFirst(v);
    total += subgroupShuffle(v, size - 1u - lane) + subgroupShuffleXor(v, 1u) + subgroupShuffleUp(v, 1u) + subgroupShuffleDown(v, 2u);
    total += quadSwapX(v) + quadSwapY(v) + quadSwapDiagonal(v) + quadBroadcast(v, 2u);
    if subgroupAll(v > 0u) || subgroupAny(v == 7u) { total += 1u; }
    y[id.x] = ballot + vec4(total);
}
