// OpenCL C: what its library does with integers of every width.
#define KINDS(T)                                                                                                       \
    {                                                                                                                  \
        T a = (T)x, b = (T)y, c = (T)z;                                                                                \
        r[0] = (ulong)abs_diff(a, b);                                                                                  \
        r[1] = (ulong)add_sat(a, b);                                                                                   \
        r[2] = (ulong)sub_sat(a, b);                                                                                   \
        r[3] = (ulong)hadd(a, b);                                                                                      \
        r[4] = (ulong)rhadd(a, b);                                                                                     \
        r[5] = (ulong)mul_hi(a, b);                                                                                    \
        r[6] = (ulong)mad_hi(a, b, c);                                                                                 \
        r[7] = (ulong)mad_sat(a, b, c);                                                                                \
        r[8] = (ulong)rotate(a, b);                                                                                    \
        r[9] = (ulong)clz(a);                                                                                          \
        r[10] = (ulong)ctz(a);                                                                                         \
        r[11] = (ulong)popcount(a);                                                                                    \
        r[12] = (ulong)abs(a);                                                                                         \
        r[13] = (ulong)min(a, b) ^ (ulong)max(b, c);                                                                   \
        r[14] = (ulong)clamp(a, min(b, c), max(b, c));                                                                 \
        r[15] = (ulong)bitselect(a, b, c);                                                                             \
        r += 16;                                                                                                       \
    }
kernel void integers(global const ulong *in, global ulong *r, global uint *v) {
    size_t i = get_global_id(0);
    ulong x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
    r += 128 * i;
    KINDS(char)
    KINDS(uchar)
    KINDS(short)
    KINDS(ushort)
    KINDS(int)
    KINDS(uint)
    KINDS(long)
    KINDS(ulong)
    // Vectors: of three, loaded and stored next to each other.
    uint3 p = vload3(i, v), q = (uint3)((uint)x, (uint)y, (uint)z);
    uint3 chosen = select(p, q, as_uint3(p ^ q));
    uint4 mask = (uint4)(p.x, q.y, p.z, q.x);
    uint4 shuffled = shuffle2((uint4)(p, 7u), (uint4)(q, 9u), mask);
    vstore3(rotate(chosen, q) + shuffled.xyz, i, v);
    v[3 * i + 1] += select((uint)x, (uint)y, (uint)z & 1u) + upsample((ushort)x, (ushort)y)
        + (uint)upsample((char)y, (uchar)z) + shuffled.w;
    v[3 * i + 2] ^= (uint)(upsample((int)x, (uint)y) >> 32) + (uint)mul24((int)(x & 0xffff), (int)(y & 0xff));
}
