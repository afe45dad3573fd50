#version 450
// Sampled images: separate and combined, nearest and linear, by every address mode.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) uniform texture2D plane;
layout(set = 0, binding = 1) uniform sampler modes[6];
layout(set = 0, binding = 7) uniform sampler3D solid;
layout(set = 0, binding = 8) uniform sampler1D line;
layout(set = 0, binding = 9) uniform sampler2DArray layers;
layout(set = 0, binding = 10) uniform isampler2D integers;
layout(set = 0, binding = 11) uniform sampler2D bytes;
layout(set = 1, binding = 0) readonly buffer At { vec4 at[]; };
layout(set = 1, binding = 1) buffer Planes { vec4 planes[]; };
layout(set = 1, binding = 2) buffer Rest { vec4 rest[]; };
layout(set = 1, binding = 3) buffer Numbers { ivec4 numbers[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 p = at[i];
    for (int mode = 0; mode < 6; mode++)
        planes[6 * i + mode] = textureLod(sampler2D(plane, modes[mode]), p.xy, 0.0);
    rest[8 * i + 0] = textureLod(solid, p.xyz, 0.0);
    rest[8 * i + 1] = textureLod(line, p.x, 0.0);
    rest[8 * i + 2] = textureLod(layers, p.xyw, 0.0);
    rest[8 * i + 3] = textureGrad(bytes, p.xy, vec2(0.0), vec2(0.0));
    rest[8 * i + 4] = textureGather(sampler2D(plane, modes[1]), p.xy, 1);
    rest[8 * i + 5] = textureLodOffset(sampler2D(plane, modes[2]), p.xy, 0.0, ivec2(2, -3));
    rest[8 * i + 6] = texelFetch(sampler2D(plane, modes[0]), ivec2(p.zw), 0);
    rest[8 * i + 7] = texelFetchOffset(bytes, ivec2(p.zw), 0, ivec2(1, -1));
    numbers[2 * i] = textureLod(integers, p.xy, 0.0);
    numbers[2 * i + 1] = ivec4(textureSize(layers, 0), textureQueryLevels(solid));
}
