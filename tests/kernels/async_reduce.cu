// Reductions into shared memory whose bytes a barrier counts; every thread waits for its phase.
#include <cstdint>
extern "C" __global__ void async_reduce(const unsigned *x, unsigned *result, unsigned long long *wide) {
    __shared__ unsigned words[6];
    __shared__ unsigned long long sum, ready;
    int t = threadIdx.x;
    auto shared = [](const void *at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); };
    if (t == 0) {
        for (int k = 0; k < 6; k++) words[k] = k == 1 || k == 3 ? ~0u : 0;
        sum = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(shared(&ready)));
    }
    __syncthreads();
    unsigned value = x[t];
    unsigned long long long_value = value * 0x100000001ull;
#define REDUCE(operation, k) asm volatile("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster." operation " [%0], %1, [%2];" :: "r"(shared(&words[k])), "r"(value), "r"(shared(&ready)) : "memory")
    REDUCE("add.u32", 0);
    REDUCE("min.u32", 1);
    REDUCE("max.s32", 2);
    REDUCE("and.b32", 3);
    REDUCE("or.b32", 4);
    REDUCE("xor.b32", 5);
    asm volatile("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u64 [%0], %1, [%2];" :: "r"(shared(&sum)), "l"(long_value), "r"(shared(&ready)) : "memory");
    if (t == 0) asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" :: "r"(shared(&ready)), "r"(blockDim.x * 32) : "memory");
    for (unsigned done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(shared(&ready)) : "memory");
    if (t < 6) result[t] = words[t];
    if (t == 0) *wide = sum;
}
