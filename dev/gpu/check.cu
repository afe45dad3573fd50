// Operands and comparison, on the GPU: integer arithmetic only.
#include "machine_kernels.h"

__device__ static void store(void *array, int width, uint32_t i, uint64_t bits) {
    if (width == 16) static_cast<uint16_t *>(array)[i] = uint16_t(bits);
    else if (width == 32) static_cast<uint32_t *>(array)[i] = uint32_t(bits);
    else static_cast<uint64_t *>(array)[i] = bits;
}
__device__ static uint64_t load(const void *array, int width, uint32_t i) {
    if (width == 16) return static_cast<const uint16_t *>(array)[i];
    if (width == 32) return static_cast<const uint32_t *>(array)[i];
    return static_cast<const uint64_t *>(array)[i];
}
__device__ static Triple operands(const Work &work, uint32_t i) {
    return work.random ? aimed(work.op, work.seed, work.first + i) : directed(work.op, work.first + i);
}

extern "C" __global__ void generate(Work work, void *a, void *b, void *c) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= work.count) return;
    Triple t = operands(work, i);
    store(a, work.op.factors.width(), i, t.a);
    store(b, work.op.factors.width(), i, t.b);
    store(c, work.op.format.width(), i, t.c);
}

extern "C" __global__ void evaluate(Work work, uint64_t *results) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= work.count) return;
    Triple t = operands(work, i);
    results[i] = reference(work.op, default_policy(work.op.format), t.a, t.b, t.c);
}

// `counts` by class; `kept` has room for `capacity` of each class.
extern "C" __global__ void compare(Work work, const void *d, unsigned long long *counts, Mismatch *kept,
                                   uint32_t capacity) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= work.count) return;
    Triple t = operands(work, i);
    uint64_t found = load(d, work.op.format.width(), i);
    uint64_t expected = reference(work.op, default_policy(work.op.format), t.a, t.b, t.c);
    if (found == expected) return;
    int which = class_of(work.op, t, found, expected);
    unsigned long long place = atomicAdd(&counts[which], 1ull);
    if (place < capacity) kept[which * capacity + place] = Mismatch{t, found, expected, which};
}
