// The tiled product in f64, with 8 × 8 tiles.
extern "C" __global__ void dgemm(int n, const double *a, const double *b, double *c) {
    __shared__ double tile_a[8][8], tile_b[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    double sum = 0.0;
    for (int tile = 0; tile < n; tile += 8) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 8; k++) sum = __fma_rn(tile_a[threadIdx.y][k], tile_b[k][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}
