// out = a b, all row by row, by mma.sync in inline PTX: a block has two warps, each with 16 rows of a tile of 32 × 16. The
// tiles of a and b stand in shared memory; ldmatrix spreads them over the lanes, b's transposed.
#include <cuda_fp16.h>

__device__ unsigned shared_address(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

extern "C" __global__ void mma_gemm(const half *a, const half *b, float *out, int m, int n, int k) {
    __shared__ __align__(16) half left[32][24];
    __shared__ __align__(16) half right[16][24];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = 32 * blockIdx.y, column = 16 * blockIdx.x;
    float sum[2][4] = {};
    for (int step = 0; step < k; step += 16) {
        for (int at = threadIdx.x; at < 512; at += 64)
            left[at / 16][at % 16] = a[(row + at / 16) * k + step + at % 16];
        for (int at = threadIdx.x; at < 256; at += 64)
            right[at / 16][at % 16] = b[(step + at / 16) * n + column + at % 16];
        __syncthreads();
        unsigned x[4], y[4];
        unsigned of_left = shared_address(&left[16 * warp + lane % 16][lane / 16 * 8]);
        unsigned of_right = shared_address(&right[lane % 16][lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(of_left));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                     : "r"(of_right));
        for (int half_tile = 0; half_tile < 2; half_tile++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(sum[half_tile][0]), "+f"(sum[half_tile][1]), "+f"(sum[half_tile][2]), "+f"(sum[half_tile][3])
                         : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * half_tile]), "r"(y[2 * half_tile + 1]));
        __syncthreads();
    }
    for (int half_tile = 0; half_tile < 2; half_tile++)
        for (int i = 0; i < 4; i++) {
            int r = row + 16 * warp + lane / 4 + 8 * (i / 2), c = column + 8 * half_tile + 2 * (lane % 4) + i % 2;
            out[r * n + c] = sum[half_tile][i];
        }
}
