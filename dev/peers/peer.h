/* What the programs share that run the kernels of crates/exec/benches/kernels.rs on request. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The benchmark's `random`: between -below and below. */
static void fill(float *values, size_t count, uint64_t seed, float below)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u | 1;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = ((float)(state >> 40) / (float)(1 << 24) * 2.0f - 1.0f) * below;
    }
}

/* Of the processor's time. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}
