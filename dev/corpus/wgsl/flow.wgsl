// Loops, switches, pointers, functions, private and constant data.
const TABLE = array<i32, 8>(3, 1, 4, 1, 5, 9, 2, 6);
override rounds: u32 = 4;
override wide: bool = true;
var<private> state: vec4<u32> = vec4<u32>(1u, 2u, 3u, 4u);
@group(0) @binding(0) var<storage, read_write> out: array<i32>;

fn step_of(at: ptr<function, i32>, by: i32) -> bool {
    *at = *at * 3 + by;
    return *at > 100;
}
fn random() -> u32 {
    state = vec4<u32>(state.yzw, state.x ^ (state.x << 11u) ^ state.w);
    return state.w;
}
fn early(n: i32) -> i32 {
    if n < 0 { return -n; }
    for (var i = 0; i < n; i += 2) {
        if i == 6 { continue; }
        if i > 20 { return i; }
    }
    return n;
}
@compute @workgroup_size(16)
fn loops(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var value = i32(i);
    var turns = 0u;
    loop {
        if step_of(&value, TABLE[i % 8u]) { break; }
        switch value % 5 {
            case 0, 1: { value += 7; }
            case 2: { if wide { continue; } value -= 1; }
            default: { value = early(value); }
        }
        continuing { value++; turns++; break if turns > 50u; }
    }
    var local = TABLE;
    for (var k = 0u; k < rounds; k++) { local[k % 8u] += i32(random() & 15u); }
    while value > 3 { value /= 2; local[value & 7] = value; }
    out[i] = value + local[i % 8u];
}
@compute @workgroup_size(1)
fn nested() {
    var total = 0;
    for (var i = 0; i < 4; i++) {
        switch i {
            case 1: { for (var j = 0; j < i; j++) { if j == 2 { break; } total += j; } }
            case 3: { total ^= 5; }
            default: { switch total { case 0: { total = 1; } default: { total += 2; } } }
        }
    }
    out[0] = total;
}
