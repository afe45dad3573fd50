// Interval arithmetic: a polynomial over intervals [low, high], each bound rounded outward.
extern "C" __global__ void interval(int n, const float2 *x, float2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 at = x[i], value = make_float2(0.7f, 0.8f);
    const float2 coefficients[4] = {{-1.25f, -1.2f}, {0.3f, 0.35f}, {-0.1f, 0.1f}, {2.0f, 2.0f}};
    for (int k = 0; k < 4; k++) {
        float2 c = coefficients[k];
        float low = fminf(fminf(__fmaf_rd(value.x, at.x, c.x), __fmaf_rd(value.x, at.y, c.x)),
                          fminf(__fmaf_rd(value.y, at.x, c.x), __fmaf_rd(value.y, at.y, c.x)));
        float high = fmaxf(fmaxf(__fmaf_ru(value.x, at.x, c.y), __fmaf_ru(value.x, at.y, c.y)),
                           fmaxf(__fmaf_ru(value.y, at.x, c.y), __fmaf_ru(value.y, at.y, c.y)));
        value = make_float2(low, high);
    }
    y[i] = value;
}
