// What threads say to each other: shuffles, votes, atomics, barriers, scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
extern "C" __global__ void warps(int n, const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
    unsigned mask = __ballot_sync(~0u, v & 1);
    v += __shfl_xor_sync(~0u, v, 5) + __shfl_up_sync(~0u, v, 3) + __shfl_down_sync(~0u, v, 2, 8) + __shfl_sync(~0u, v, 7);
    v += __any_sync(~0u, v > 3) + __all_sync(~0u, v > 3) + __popc(mask) + __popc(__activemask());
#if __CUDA_ARCH__ >= 700
    int all;
    v += __match_any_sync(~0u, v) + __match_all_sync(~0u, v, &all) + all;
#endif
#if __CUDA_ARCH__ >= 800
    v += __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v) + __reduce_xor_sync(~0u, unsigned(v));
#endif
    if (i < n) y[i] = v;
}
extern "C" __global__ void atomics(int n, int *i32, unsigned long long *u64, float *f32, double *f64) {
    __shared__ int local;
    __shared__ float sum;
    if (threadIdx.x == 0) local = 0, sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&local, i), atomicAdd(&sum, 1.0f), atomicMax(&local, i & 7), atomicXor(&local, i);
    __syncthreads();
    if (i >= n) return;
    atomicAdd(i32, local), atomicSub(i32 + 1, i), atomicExch(i32 + 2, i), atomicMin(i32 + 3, i), atomicAnd(i32 + 4, i);
    atomicInc(reinterpret_cast<unsigned *>(i32) + 5, 17), atomicDec(reinterpret_cast<unsigned *>(i32) + 6, 17);
    atomicCAS(u64, 1ull, 2ull), atomicAdd(u64 + 1, 1ull), atomicMax(u64 + 2, 3ull), atomicOr(u64 + 3, 4ull);
    atomicAdd(f32, sum), atomicAdd(f64, 1.0), atomicAdd_block(i32 + 7, 1), atomicAdd_system(i32 + 8, 1);
    __threadfence();
    i32[9] = __syncthreads_count(i & 1) + __syncthreads_or(i & 2) + __syncthreads_and(i & 4);
}
extern "C" __global__ void groups(int n, const float *x, float *y) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    v = cg::reduce(tile, v, cg::plus<float>());
    auto active = cg::coalesced_threads();
    v += active.shfl(v, 0) + active.thread_rank();
    block.sync();
    if (i < n) y[i] = v;
}
extern "C" __global__ void __launch_bounds__(64) scans(const int *x, int *y) {
    typedef cub::BlockScan<int, 64> Scan;
    typedef cub::BlockReduce<int, 64> Reduce;
    typedef cub::BlockRadixSort<int, 64, 2> Sort;
    __shared__ union { Scan::TempStorage scan; Reduce::TempStorage reduce; Sort::TempStorage sort; } temp;
    int keys[2] = {x[threadIdx.x], x[threadIdx.x + 64]}, sum;
    Sort(temp.sort).Sort(keys);
    __syncthreads();
    Scan(temp.scan).InclusiveSum(keys[0], sum);
    __syncthreads();
    int largest = Reduce(temp.reduce).Reduce(keys[1], cuda::maximum<>());
    y[threadIdx.x] = sum;
    if (threadIdx.x == 0) y[64] = largest;
}
