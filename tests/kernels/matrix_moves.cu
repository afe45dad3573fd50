// Matrices of 8 x 8 halves between shared memory and the lanes of a warp, as they are and transposed.
#include <cstdint>
extern "C" __global__ void matrix_moves(const uint16_t *x, uint32_t *lanes, uint16_t *back) {
    __shared__ alignas(16) uint16_t matrices[4][8][8], stored[4][8][8];
    unsigned lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) (&matrices[0][0][0])[i] = x[i];
    __syncwarp();
    // Rows in an order of their own: matrix and row of each address are any the program likes.
    auto row = static_cast<uint32_t>(__cvta_generic_to_shared(matrices[lane / 8][(lane * 3) % 8]));
    uint32_t a[4], b[4], c[2], d, moved;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(c[0]), "=r"(c[1]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(row));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(a[1]));
    for (int i = 0; i < 4; i++) {
        lanes[32 * i + lane] = a[i];
        lanes[32 * (4 + i) + lane] = b[i];
    }
    lanes[32 * 8 + lane] = c[0];
    lanes[32 * 9 + lane] = c[1];
    lanes[32 * 10 + lane] = d;
    lanes[32 * 11 + lane] = moved;
    auto to = static_cast<uint32_t>(__cvta_generic_to_shared(stored[lane / 8][(lane * 5) % 8]));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(to), "r"(a[0]), "r"(b[1]), "r"(a[2]), "r"(b[3]) : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32) back[i] = (&stored[0][0][0])[i];
}
