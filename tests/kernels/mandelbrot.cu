// How many steps a point takes to leave, at most `limit`: lanes of a warp leave their loop at different times.
extern "C" __global__ void mandelbrot(int width, int height, int limit, int *steps) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = __fmaf_rn(__int2float_rn(px), 0.09375f, -2.25f), cy = __fmaf_rn(__int2float_rn(py), 0.109375f, -1.25f);
    float x = 0.0f, y = 0.0f;
    int count = 0;
    while (count < limit) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fmaf_rn(__fmul_rn(2.0f, x), y, cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
        count++;
    }
    steps[py * width + px] = count;
}
