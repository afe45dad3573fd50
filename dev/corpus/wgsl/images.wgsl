// Textures and samplers: sampled, stored, loaded, their sizes.
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var smooth_: sampler;
@group(0) @binding(2) var target_: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(3) var whole: texture_2d_array<u32>;
@group(0) @binding(4) var depths: texture_depth_2d;
@group(0) @binding(5) var compared: sampler_comparison;
@group(0) @binding(6) var volume: texture_3d<f32>;
@group(0) @binding(7) var floats: texture_storage_2d<r32float, read_write>;

@compute @workgroup_size(8, 8)
fn sampled(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<f32>(textureDimensions(picture));
    let at = (vec2<f32>(id.xy) + 0.5) / size;
    var colour = textureSampleLevel(picture, smooth_, at, 0.0) + textureSampleLevel(volume, smooth_, vec3(at, 0.5), 1.0);
    colour += textureSampleGrad(picture, smooth_, at, vec2(0.1), vec2(0.2), vec2<i32>(1, 0));
    colour += textureGather(1, picture, smooth_, at) * textureSampleCompareLevel(depths, compared, at, 0.5);
    textureStore(target_, id.xy, colour);
}
@compute @workgroup_size(8, 8)
fn loaded(@builtin(global_invocation_id) id: vec3<u32>) {
    let texel = textureLoad(whole, id.xy, i32(id.z % textureNumLayers(whole)), 0);
    let depth = textureLoad(depths, id.xy, 0);
    textureStore(floats, id.xy, textureLoad(floats, id.xy) + depth);
    textureStore(target_, id.xy, vec4<f32>(texel) + f32(textureNumLevels(picture)));
}
