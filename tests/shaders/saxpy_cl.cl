// OpenCL C: pointers, a value, __local memory of the launch's size; `fma` is OpenCL.std's until it is migrated.
kernel void saxpy(float a, global const float *x, global float *y, local float *tile, uint n) {
    size_t i = get_global_id(0), here = get_local_id(0);
    tile[here] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) y[i] = fma(a, tile[here], y[i]) + fmax(tile[here], tile[(here + 1) % get_local_size(0)]);
}
