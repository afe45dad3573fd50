// A pipeline of two stages: copies from global memory complete on barriers in shared memory, and every thread waits for
// them by phase (cuda::barrier, cuda::device::memcpy_async_tx).
#include <cuda/barrier>
#include <cuda/ptx>
#pragma nv_diag_suppress static_var_with_dynamic_init
using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int TILE = 64;

extern "C" __global__ void pipeline(int tiles, const float *x, float *y) {
    __shared__ alignas(16) float tile[2][TILE];
    __shared__ Barrier ready[2];
    int t = threadIdx.x;
    if (t == 0) {
        init(&ready[0], blockDim.x);
        init(&ready[1], blockDim.x);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    auto fetch = [&](int number) {
        Barrier &barrier = ready[number % 2];
        if (t == 0) {
            cuda::device::memcpy_async_tx(tile[number % 2], x + TILE * number, cuda::aligned_size_t<16>(sizeof tile[0]), barrier);
            return cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile[0]);
        }
        return barrier.arrive();
    };
    Barrier::arrival_token token = fetch(0);
    float sum = 0.0f;
    for (int number = 0; number < tiles; number++) {
        ready[number % 2].wait(std::move(token));
        if (number + 1 < tiles) token = fetch(number + 1);
        sum = __fmaf_rn(tile[number % 2][t], tile[number % 2][TILE - 1 - t], sum);
        __syncthreads();
    }
    y[t] = sum;
}
