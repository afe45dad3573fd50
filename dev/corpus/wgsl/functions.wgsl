// The builtin functions of floats.
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(16)
fn elementary(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = x[id.x];
    y[id.x] = sin(v) + cos(v) + tan(v) + asin(v) + acos(v) + atan(v) + atan2(v, v.wzyx) + sinh(v) + cosh(v) + tanh(v)
        + asinh(v) + acosh(v) + atanh(v) + exp(v) + exp2(v) + log(v) + log2(v) + pow(v, v.yxwz) + sqrt(v) + inverseSqrt(v);
}
@compute @workgroup_size(16)
fn exact(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = x[id.x];
    let parts = modf(v);
    let taken = frexp(v.x);
    y[id.x] = abs(v) + sign(v) + floor(v) + ceil(v) + trunc(v) + round(v) + fract(v) + parts.fract * parts.whole
        + clamp(v, vec4(-1.0), vec4(1.0)) + saturate(v) + mix(v, v.wzyx, 0.25) + step(v, v.yxwz) + smoothstep(v, v + 1.0, v)
        + vec4(ldexp(taken.fract, taken.exp)) + min(v, v.zwxy) + max(v, v.zwxy) + degrees(v) + radians(v) + quantizeToF16(v)
        + v % 3.0 + fma(v, v, v);
}
