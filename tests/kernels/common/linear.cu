// Linear algebra: products, transposes, sparse rows, factorisations of small matrices.

#define TILE 8

extern "C" __global__ void matrix_vector(float *y, const float *a, const float *x, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int column = 0; column < columns; ++column) sum += a[row * columns + column] * x[column];
    y[row] = sum;
}

extern "C" __global__ void transpose_tiled(float *y, const float *x, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int column = threadIdx.x % TILE, row = threadIdx.x / TILE;
    int tiles = n / TILE;
    for (int t = blockIdx.x; t < tiles * tiles; t += gridDim.x) {
        int left = t % tiles * TILE, top = t / tiles * TILE;
        __syncthreads();
        tile[row][column] = x[(top + row) * n + left + column];
        __syncthreads();
        y[(left + row) * n + top + column] = tile[column][row];
    }
}

extern "C" __global__ void product_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int column = threadIdx.x % TILE, row = threadIdx.x / TILE, tiles = n / TILE;
    for (int t = blockIdx.x; t < tiles * tiles; t += gridDim.x) {
        int x = t % tiles * TILE, y = t / tiles * TILE;
        float sum = 0;
        for (int k = 0; k < n / TILE; ++k) {
            __syncthreads();
            left[row][column] = a[(y + row) * n + k * TILE + column];
            right[row][column] = b[(k * TILE + row) * n + x + column];
            __syncthreads();
            for (int j = 0; j < TILE; ++j) sum = fmaf(left[row][j], right[j][column], sum);
        }
        c[(y + row) * n + x + column] = sum;
    }
}

extern "C" __global__ void sparse_rows(float *y, const float *values, const int *columns, const int *starts, const float *x, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int at = starts[row] & 255; at < (starts[row + 1] & 255); ++at) sum += values[at] * x[columns[at] & 1023];
    y[row] = sum;
}

extern "C" __global__ void rank_one(double *a, const double *x, const double *y, double alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n && i < 8192) a[i] = fma(alpha * x[i / n], y[i % n], a[i]);
}

// One 4 × 4 factorisation a thread, in registers.
extern "C" __global__ void cholesky4(float *matrices, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a[4][4];
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) a[r][c] = matrices[16 * i + 4 * r + c];
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < k; ++j) a[k][k] -= a[k][j] * a[k][j];
        a[k][k] = __fsqrt_rn(a[k][k]);
        for (int r = k + 1; r < 4; ++r) {
            for (int j = 0; j < k; ++j) a[r][k] -= a[r][j] * a[k][j];
            a[r][k] = a[r][k] / a[k][k];
        }
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c <= r; ++c) matrices[16 * i + 4 * r + c] = a[r][c];
}

// A tridiagonal system a thread, solved in its place.
extern "C" __global__ void thomas(float *d, const float *a, const float *b, float *c, int systems, int n)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    c[s] = c[s] / b[s];
    d[s] = d[s] / b[s];
    for (int i = 1; i < n; ++i) {
        int at = i * systems + s;
        float m = 1 / (b[at] - a[at] * c[at - systems]);
        c[at] = c[at] * m;
        d[at] = (d[at] - a[at] * d[at - systems]) * m;
    }
    for (int i = n - 2; i >= 0; --i) d[i * systems + s] -= c[i * systems + s] * d[(i + 1) * systems + s];
}

extern "C" __global__ void quaternion_rotate(float4 *points, float4 q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = points[i];
    float tx = 2 * (q.y * p.z - q.z * p.y), ty = 2 * (q.z * p.x - q.x * p.z), tz = 2 * (q.x * p.y - q.y * p.x);
    p.x += q.w * tx + q.y * tz - q.z * ty;
    p.y += q.w * ty + q.z * tx - q.x * tz;
    p.z += q.w * tz + q.x * ty - q.y * tx;
    points[i] = p;
}
