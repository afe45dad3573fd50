// out = alpha a b + beta c by wmma: a block is a warp, and a tile of 16 × 16. a is row by row, b column by column. The
// fragments are scaled element by element, whatever a lane holds.
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_gemm(const half *a, const half *b, const float *c, float *out, int m, int n, int k,
                                     float alpha, float beta) {
    __shared__ __align__(32) half tile[16][24];
    int row = 16 * blockIdx.y, column = 16 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += 16) {
        for (int at = threadIdx.x; at < 256; at += 32)
            tile[at / 16][at % 16] = a[(row + at / 16) * k + step + at % 16];
        __syncwarp();
        wmma::load_matrix_sync(left, &tile[0][0], 24);
        wmma::load_matrix_sync(right, b + column * k + step, k);
        wmma::mma_sync(sum, left, right, sum);
        __syncwarp();
    }
    wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = __fmaf_rn(alpha, sum.x[i], __fmul_rn(beta, old.x[i]));
    wmma::store_matrix_sync(out + row * n + column, sum, n, wmma::mem_row_major);
}
