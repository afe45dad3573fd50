// OpenCL C without optimisation: structs by value and by pointer, arrays in private memory, a constant table.
typedef struct { float a; int b; float4 v; } S;
constant float table[4] = {1.0f, 2.0f, 3.0f, 4.5f};
float gathered(local float *tile, const S *s, int k) {
    float t[8], sum = 0;
    for (int i = 0; i < 8; i++) t[i] = tile[(i + k) % 32] * s->a;
    for (int i = 0; i < 8; i++) sum += t[(i * 3 + k) & 7];
    return sum;
}
kernel void pointers(float a, global const float *x, global float *y, local float *tile, uint n, float4 v, S s) {
    size_t i = get_global_id(0), here = get_local_id(0);
    tile[here] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    S q = s;
    q.v += v;
    q.b += (int)i;
    global float *w = y + i;
    if (i < n)
        *w = fma(a, tile[here], *w) + gathered(tile, &q, q.b) + dot(q.v, v) + table[i & 3] + clamp(x[i], -0.5f, 0.5f)
            + (float)popcount((uint)i) + min((int)i, 5);
    switch (i % 5) {
    case 0: *w *= 2; break;
    case 3: *w -= 1;
    case 1: *w += v.y;
    }
}
