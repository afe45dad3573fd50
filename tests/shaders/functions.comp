// GLSL.std.450: what is exact, and what hardware approximates.
#version 450
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer N { int n[]; };
layout(std430, binding = 2) writeonly buffer R { uint r[]; };
layout(std430, binding = 3) writeonly buffer S { float s[]; };
void put(uint at, float value) { r[at] = floatBitsToUint(value); }
void main() {
    uint i = gl_GlobalInvocationID.x, o = i * 16;
    float a = x[i], whole;
    int exponent;
    put(o, abs(a));
    put(o + 1, sign(a));
    put(o + 2, floor(a));
    put(o + 3, ceil(a));
    put(o + 4, trunc(a));
    put(o + 5, roundEven(a));
    put(o + 6, fract(a));
    put(o + 7, modf(a, whole));
    put(o + 8, whole);
    put(o + 9, frexp(a, exponent));
    r[o + 10] = uint(exponent);
    put(o + 11, ldexp(a, n[i]));
    r[o + 12] = packHalf2x16(vec2(a, -a));
    vec2 halves = unpackHalf2x16(floatBitsToUint(a));
    put(o + 13, halves.x);
    put(o + 14, halves.y);
    put(o + 15, clamp(max(a, 1.5), min(a, -1.0), 2.5));
    s[2 * i] = exp2(a);
    s[2 * i + 1] = inversesqrt(abs(a));
}
