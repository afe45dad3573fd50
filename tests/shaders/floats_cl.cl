// OpenCL C: what its library does with floats; what is exact, what is derived, and what is approximated.
kernel void floats(global const float *in, global uint *out, global float *near, global half *halves) {
    size_t i = get_global_id(0);
    float x = in[2 * i], y = in[2 * i + 1], whole, cosine;
    int quotient, exponent;
    global uint *r = out + 24 * i;
    r[0] = as_uint(fract(x, &whole));
    r[1] = as_uint(whole);
    r[2] = as_uint(fdim(x, y));
    r[3] = as_uint(maxmag(x, y));
    r[4] = as_uint(minmag(x, y));
    r[5] = as_uint(nextafter(x, y));
    r[6] = as_uint(logb(x));
    r[7] = (uint)ilogb(x);
    r[8] = as_uint(remainder(x, y));
    r[9] = as_uint(remquo(x, y, &quotient));
    r[10] = (uint)quotient;
    r[11] = as_uint(nan(as_uint(y)));
    r[12] = as_uint(degrees(x));
    r[13] = as_uint(radians(y));
    float3 c = cross((float3)(x, y, 1.0f), (float3)(y, 2.0f, x));
    r[14] = as_uint(c.x);
    r[15] = as_uint(c.y);
    r[16] = as_uint(c.z);
    r[17] = as_uint(cross((float4)(x, y, 1.0f, 5.0f), (float4)(y, 2.0f, x, 5.0f)).w);
    r[18] = as_uint(select(x, y, as_int(x) & 1));
    r[19] = as_uint(bitselect(x, y, as_float(0x00ff00ff)));
    r[20] = as_uint(frexp(x, &exponent));
    r[21] = (uint)exponent;
    vstore_half_rtz(x, 2 * i, halves);
    vstore_half(y, 2 * i + 1, halves);
    r[22] = as_uint(vload_half(2 * i + 1, halves));
    r[23] = as_uint(length(vload_half2(i, halves)));
    global float *n = near + 11 * i;
    // Of arguments that are neither large nor small.
    float s = 0.125f + (float)(as_uint(x) & 0xfffff) * 0x1p-17f, t = (float)(as_int(y) >> 16) * 0x1p-12f;
    n[0] = exp10(t);
    n[1] = log10(s);
    n[2] = expm1(t);
    n[3] = log1p(s);
    n[4] = cbrt(t);
    n[5] = hypot(s, t);
    n[6] = sinpi(t);
    n[7] = cospi(t);
    n[8] = sincos(t, &cosine);
    n[9] = cosine;
    n[10] = pown(s, (int)i % 7 - 3);
}
