// Structures by value, constants, local arrays, tables of pointers, printing, assertions, textures, matrices.
#include <cassert>
#include <cstdio>
#include <mma.h>
struct Point { float x, y, z; int id; };
struct View { const Point *points; float scale; short code; char tag; };
__constant__ float table[16] = {1, 2, 3, 4};
__device__ Point origin = {1, 2, 3, 4};
__device__ int *volatile counter;
extern "C" __global__ void structures(int n, View view, Point offset, Point *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point p = view.points[i];
    p.x = p.x * view.scale + offset.x + table[i & 15] + origin.y, p.id += view.code + view.tag;
    out[i] = p;
}
extern "C" __global__ void locals(int n, const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stack[32];
    if (i >= n) return;
    for (int k = 0; k < 32; k++) stack[k] = x[(i + k) % n];
    for (int k = 0; k < 32; k++)
        for (int j = k; j > 0 && stack[j - 1] > stack[j]; j--) { int t = stack[j]; stack[j] = stack[j - 1]; stack[j - 1] = t; }
    y[i] = stack[x[i] & 31];
}
extern "C" __global__ void talks(int n, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) printf("%d: %f %s\n", i, x[i], x[i] < 0 ? "below" : "above");
    assert(n >= 0);
}
extern "C" __global__ void pictures(int n, cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2D<float>(texture, i, 0.5f) + surf2Dread<float>(surface, i * 4, 0);
}
#if __CUDA_ARCH__ >= 700
extern "C" __global__ void matrices(const half *a, const half *b, float *c, int steps) {
    using namespace nvcuda::wmma;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int step = 0; step < steps; step++) {
        fragment<matrix_a, 16, 16, 16, half, row_major> left;
        fragment<matrix_b, 16, 16, 16, half, col_major> right;
        load_matrix_sync(left, a + 16 * step, 16);
        load_matrix_sync(right, b + 16 * step, 16);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c, sum, 16, mem_row_major);
}
#endif
template <typename T> __device__ T polynomial(T x, int degree) { return degree == 0 ? T(1) : x * polynomial(x, degree - 1) + T(degree); }
extern "C" __global__ void recursion(int n, const double *x, double *y, int degree) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = polynomial(x[i], degree);
}
