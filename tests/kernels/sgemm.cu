// C = A B for square row-major matrices whose size is a multiple of 16, by tiles in shared memory.
extern "C" __global__ void sgemm(int n, const float *a, const float *b, float *c) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += 16) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum = __fmaf_rn(tile_a[threadIdx.y][k], tile_b[k][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}
