// OpenCL C: two pieces of __local memory, of sizes that the launch gives.
kernel void reversed(global const float *x, local float *s, local short *t, global float *y, uint n) {
    size_t here = get_local_id(0), size = get_local_size(0);
    s[here] = x[get_global_id(0)];
    t[here] = (short)(here * n);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = s[size - 1 - here] + (float)t[(here + 1) % size];
}
