// Integers: their arithmetic, bits, conversions and packed forms.
@group(0) @binding(0) var<storage, read> a: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;

@compute @workgroup_size(32)
fn arithmetic(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = a[id.x].x;
    let y = a[id.x].y;
    let s = bitcast<i32>(x);
    let t = i32(y) >> 3u;
    var sum = x / y + x % y + u32(s / t) + u32(s % t) + (x << (y & 31u)) + u32(-s) + ~x;
    sum ^= countOneBits(x) + countLeadingZeros(y) + countTrailingZeros(x) + firstLeadingBit(y) + firstTrailingBit(x);
    sum += extractBits(x, 3u, 9u) | insertBits(x, y, 5u, 7u) & reverseBits(y);
    sum += u32(extractBits(s, 1u, 4u)) + u32(abs(s)) + u32(sign(t)) + u32(clamp(s, -9, 9)) + min(x, y) + max(x, y);
    r[id.x] = sum + select(0u, 1u, s < t && x > y || s != t) + dot(vec3(x, y, sum), vec3(1u, 2u, 3u));
}
@compute @workgroup_size(32)
fn packed(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = vec4<f32>(unpack2x16float(a[id.x].x), unpack2x16unorm(a[id.x].y)) + unpack4x8snorm(a[id.x].x);
    r[id.x] = pack4x8unorm(v) ^ pack4x8snorm(v.wzyx) ^ pack2x16float(v.xy) ^ pack2x16snorm(v.zw) ^ pack2x16unorm(v.yz);
    r[id.x] += dot4U8Packed(a[id.x].x, a[id.x].y) + u32(dot4I8Packed(a[id.x].x, 7u)) + pack4xU8(unpack4xU8(a[id.x].y));
}
@compute @workgroup_size(1)
fn comparisons() {
    let u = vec4<u32>(a[0], a[1]);
    let f = vec4<f32>(u);
    let i = vec4<i32>(f);
    let less = u < u.wzyx;
    if any(less) && !all(f >= f.yxwz) || any(i == i.zwxy) != true {
        r[0] = dot(select(u, vec4<u32>(f.wzyx), less & (i > vec4<i32>(2))), vec4(1u));
    }
}
