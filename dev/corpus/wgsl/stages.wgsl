// Shaders of a picture: their inputs, outputs, derivatives.
struct Corner { @builtin(position) at: vec4<f32>, @location(0) colour: vec3<f32>, @location(1) @interpolate(flat) which: u32 }
struct Pixel { @location(0) colour: vec4<f32>, @builtin(frag_depth) depth: f32 }
@group(0) @binding(0) var<uniform> turn: mat4x4<f32>;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var smooth_: sampler;

@vertex
fn corner(@location(0) at: vec3<f32>, @builtin(vertex_index) which: u32, @builtin(instance_index) copy: u32) -> Corner {
    var out: Corner;
    out.at = turn * vec4(at, 1.0);
    out.colour = at * 0.5 + 0.5;
    out.which = which ^ copy;
    return out;
}
@fragment
fn pixel(in: Corner, @builtin(front_facing) front: bool) -> Pixel {
    if in.which == 7u { discard; }
    let slope = abs(dpdx(in.colour)) + abs(dpdy(in.colour)) + fwidth(in.colour);
    let base = textureSample(picture, smooth_, in.colour.xy) + textureSampleBias(picture, smooth_, in.colour.yz, 0.5);
    return Pixel(select(base, vec4(slope, 1.0), front), in.at.z * 0.5);
}
