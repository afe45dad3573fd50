// Memory of a workgroup, barriers, atomics.
struct Counters { hits: atomic<u32>, low: atomic<i32>, bins: array<atomic<u32>, 16> }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> counters: Counters;
var<workgroup> tile: array<f32, 128>;
var<workgroup> first: atomic<u32>;

@compute @workgroup_size(128)
fn reduce(@builtin(local_invocation_index) here: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>) {
    tile[here] = x[(group.x + group.y * all.x) * 128u + here];
    workgroupBarrier();
    for (var width = 64u; width > 0u; width >>= 1u) {
        if here < width { tile[here] += tile[here + width]; }
        workgroupBarrier();
    }
    if here == 0u { y[group.x] = tile[0]; }
}
@compute @workgroup_size(64)
fn counts(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = u32(abs(x[id.x]));
    atomicAdd(&counters.bins[v % 16u], 1u);
    let before = atomicMax(&counters.hits, v) + atomicSub(&counters.bins[0], v) + atomicExchange(&counters.bins[1], 3u);
    let swapped = atomicCompareExchangeWeak(&first, 0u, id.x);
    if swapped.exchanged { atomicStore(&counters.low, i32(swapped.old_value)); }
    atomicOr(&counters.bins[2], before); atomicAnd(&counters.bins[3], 7u); atomicXor(&counters.bins[4], v);
    storageBarrier();
    y[id.x] = f32(atomicLoad(&counters.hits)) + f32(atomicMin(&counters.low, -1));
    let shared_first = workgroupUniformLoad(&tile[0]);
    y[id.x] += shared_first;
}
