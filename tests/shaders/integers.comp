// Integers of 8, 16, 32 and 64 bits, and what packs and unpacks them.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) readonly buffer B { uint b[]; };
layout(std430, binding = 2) writeonly buffer R { uint r[]; };
layout(std430, binding = 3) buffer Small { int8_t small[]; };
layout(std430, binding = 4) buffer Short { uint16_t shorts[]; };
layout(std430, binding = 5) buffer Long { int64_t longs[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], y = b[i];
    int s = int(x), t = int(y) | 1;
    uint carry, high, low;
    int shigh, slow;
    uint o = i * 20;
    r[o] = x / (y | 1u);
    r[o + 1] = x % (y | 1u);
    r[o + 2] = uint(s / t);
    r[o + 3] = uint(s - t * (s / t));
    r[o + 4] = uaddCarry(x, y, carry) ^ carry;
    r[o + 5] = usubBorrow(x, y, carry) ^ carry;
    umulExtended(x, y, high, low);
    r[o + 6] = high ^ low;
    imulExtended(s, t, shigh, slow);
    r[o + 7] = uint(shigh) ^ uint(slow);
    r[o + 8] = bitfieldExtract(x, 5, 9);
    r[o + 9] = uint(bitfieldExtract(s, 5, 9));
    r[o + 10] = bitfieldInsert(x, y, 7, 11);
    r[o + 11] = bitfieldReverse(x);
    r[o + 12] = uint(bitCount(x));
    r[o + 13] = uint(findLSB(x & ~255u));
    r[o + 14] = uint(findMSB(s));
    r[o + 15] = uint(findMSB(x));
    r[o + 16] = uint(abs(s)) ^ uint(sign(s));
    r[o + 17] = uint(clamp(s, -1000, t & 0xffff));
    r[o + 18] = uint(s >> (y & 31u)) ^ (x >> (y & 31u)) ^ (x << (y & 31u));
    r[o + 19] = uint(x > y) | uint(s > t) << 1 | uint(s <= t) << 2 | uint(x != y) << 3;
    small[i] = small[i] / int8_t(3) - int8_t(x);
    shorts[i] = shorts[i] * uint16_t(y) + uint16_t(x >> 16);
    longs[i] = (longs[i] * int64_t(s)) / int64_t(t) + (longs[i] >> (y & 63u));
}
