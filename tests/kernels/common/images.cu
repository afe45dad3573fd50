// Images and grids.

extern "C" __global__ void grey(unsigned char *grey, const uchar4 *pixels, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = pixels[i];
    grey[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
}

extern "C" __global__ void blur3(float *y, const float *x, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int column = i % width, row = i / width;
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int c = min(max(column + dx, 0), width - 1), r = min(max(row + dy, 0), height - 1);
            sum += x[r * width + c];
        }
    y[i] = sum / 9;
}

extern "C" __global__ void edges(float *y, const float *x, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int c = i % width, r = i / width;
    if (c == 0 || r == 0 || c == width - 1 || r == height - 1) {
        y[i] = 0;
        return;
    }
    const float *p = x + i;
    float gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[width - 1];
    float gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-1 - width] - 2 * p[-width] - p[1 - width];
    y[i] = __fsqrt_rn(gx * gx + gy * gy);
}

extern "C" __global__ void median3(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    float a = x[i - 1], b = x[i], c = x[i + 1];
    y[i] = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

extern "C" __global__ void resize_bilinear(float *y, const float *x, int from, int to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to * to) return;
    float scale = (float)from / to, u = (i % to + 0.5f) * scale - 0.5f, v = (i / to + 0.5f) * scale - 0.5f;
    int c = (int)floorf(u), r = (int)floorf(v);
    float fu = u - c, fv = v - r;
    int c0 = min(max(c, 0), from - 1), c1 = min(max(c + 1, 0), from - 1);
    int r0 = min(max(r, 0), from - 1), r1 = min(max(r + 1, 0), from - 1);
    float top = x[r0 * from + c0] * (1 - fu) + x[r0 * from + c1] * fu;
    float bottom = x[r1 * from + c0] * (1 - fu) + x[r1 * from + c1] * fu;
    y[i] = top * (1 - fv) + bottom * fv;
}

extern "C" __global__ void heat(float *next, const float *now, float k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    int c = i % n, r = i / n;
    float here = now[i];
    float left = c > 0 ? now[i - 1] : here, right = c < n - 1 ? now[i + 1] : here;
    float up = r > 0 ? now[i - n] : here, down = r < n - 1 ? now[i + n] : here;
    next[i] = here + k * (left + right + up + down - 4 * here);
}

extern "C" __global__ void life(unsigned char *next, const unsigned char *now, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    int c = i % n, r = i / n, alive = 0;
    for (int d = 0; d < 9; ++d)
        if (d != 4) alive += now[(r + d / 3 - 1 + n) % n * n + (c + d % 3 - 1 + n) % n] & 1;
    next[i] = alive == 3 || (alive == 2 && (now[i] & 1));
}

extern "C" __global__ void julia(int *steps, float cx, float cy, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    float x = 4.0f * (i % n) / n - 2, y = 4.0f * (i / n) / n - 2;
    int step = 0;
    while (step < 50 && x * x + y * y <= 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++step;
    }
    steps[i] = step;
}
