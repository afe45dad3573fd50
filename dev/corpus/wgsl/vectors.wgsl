// Vectors, matrices, structures and what computes on them.
struct Body { position: vec3<f32>, mass: f32, velocity: vec3<f32>, kind: u32, turns: mat3x3<f32> }
struct Settings { scale: vec4<f32>, view: mat4x4<f32>, steps: u32 }
@group(0) @binding(0) var<storage, read> before: array<Body>;
@group(0) @binding(1) var<storage, read_write> after: array<Body>;
@group(0) @binding(2) var<uniform> settings: Settings;

fn pull(a: Body, b: Body) -> vec3<f32> {
    let d = b.position - a.position;
    let distance = max(dot(d, d), 0.01);
    return normalize(d) * b.mass * inverseSqrt(distance) / distance;
}
@compute @workgroup_size(64)
fn bodies(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&before) { return; }
    var body = before[id.x];
    var force = vec3<f32>();
    for (var i = 0u; i < settings.steps; i++) { force += pull(body, before[i]); }
    body.velocity = fma(force, settings.scale.xyz, body.velocity);
    body.position = (settings.view * vec4(body.position + body.velocity, 1.0)).xyz;
    body.turns = transpose(body.turns) * body.turns;
    body.kind = select(body.kind, body.kind + 1u, determinant(body.turns) > 1.0);
    after[id.x] = body;
}
@compute @workgroup_size(8, 8)
fn products(@builtin(local_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let v = vec4<f32>(vec2<f32>(id.xy), vec2<f32>(group.xy));
    let m = outer(v, v.wzyx);
    after[id.x].position = cross(v.xyz, m[1].yzw) + reflect(v.xyz, m[2].xyz) + faceForward(v.xyz, v.yzw, v.zwx);
    after[id.x].mass = length(v) + distance(v, m[3]) + refract(v.xy, v.zw, 0.5).x;
    after[id.x].turns = mat3x3<f32>(m[0].xyz, m[1].xyz, m[2].xyz) * 2.0 - mat3x3<f32>();
    after[id.x].velocity[id.y % 3u] = m[id.x % 4u][id.y % 4u];
}
fn outer(a: vec4<f32>, b: vec4<f32>) -> mat4x4<f32> { return mat4x4<f32>(a * b.x, a * b.y, a * b.z, a * b.w); }
