// f16 in registers and in buffers.
enable f16;
struct Halves { a: f16, b: vec2<f16>, c: vec4<f16>, m: mat2x3<f16> }
@group(0) @binding(0) var<storage, read> x: array<Halves>;
@group(0) @binding(1) var<storage, read_write> y: array<Halves>;

@compute @workgroup_size(32)
fn halves(@builtin(global_invocation_id) id: vec3<u32>) {
    let h = x[id.x];
    y[id.x].a = fma(h.a, h.b.x, h.c.w) + sqrt(h.a) * 0.5h;
    y[id.x].b = (h.m * h.b).xy + vec2<f16>(h.c.zw) / 3.0h;
    y[id.x].c = vec4<f16>(vec4<f32>(h.c) * 2.0) + select(h.c, h.c.wzyx, h.c > vec4(1.0h));
    y[id.x].m = h.m * 2.0h;
}
