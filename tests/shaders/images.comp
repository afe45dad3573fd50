#version 450
#extension GL_EXT_shader_image_load_formatted : require
// Storage images of every kind: read, written, asked for their sizes, counted in.
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly image2D wide;
layout(set = 0, binding = 1, r16f) uniform image2D narrow;
layout(set = 0, binding = 2, rgba8) uniform image2D bytes;
layout(set = 0, binding = 3, rg16_snorm) uniform image2D signs;
layout(set = 0, binding = 4, r32ui) uniform uimage1D counts;
layout(set = 0, binding = 5, rgba8i) uniform iimage3D solid;
layout(set = 0, binding = 6, r32f) uniform image2DArray layers;
layout(set = 0, binding = 7, rg32ui) uniform uimageBuffer flat_texels;
layout(set = 0, binding = 8) uniform image2D any_format;
layout(set = 0, binding = 9, r32i) uniform iimage2D several[3];
layout(set = 0, binding = 10) buffer Sizes { ivec4 sizes[]; };

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    int place = at.y * 16 + at.x;
    // Outside the image zeros are read, and nothing is written.
    vec4 texel = imageLoad(wide, at - ivec2(1, 0));
    imageStore(narrow, at, texel * 3.0);
    imageStore(bytes, at, texel);
    imageStore(signs, at, -texel);
    imageStore(any_format, at, texel + imageLoad(any_format, at));
    uint bucket = imageAtomicAdd(counts, at.x & 3, uint(place));
    imageAtomicMax(counts, 4, uint(place));
    ivec3 cell = ivec3(at.x & 3, at.x >> 2, at.y);
    ivec4 found = imageLoad(solid, cell);
    imageStore(solid, cell, found * ivec4(1, 2, -3, 100));
    int layer = place & 1;
    imageStore(layers, ivec3(at, layer), imageLoad(layers, ivec3(at, 1 - layer)) + vec4(0.5));
    uvec4 pair = imageLoad(flat_texels, place);
    imageStore(flat_texels, place, pair.yxzw);
    imageStore(several[place % 3], at, ivec4(place));
    if (place == 0) {
        sizes[0] = ivec4(imageSize(wide), imageSize(narrow));
        sizes[1] = ivec4(imageSize(counts), imageSize(solid));
        sizes[2] = ivec4(imageSize(layers), imageSize(flat_texels));
        sizes[3] = ivec4(imageSize(several[2]), int(bucket), 0);
    }
}
