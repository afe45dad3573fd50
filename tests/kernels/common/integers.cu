// Integers: generators, hashes, sorting, searching, bits.

extern "C" __global__ void xorshift(unsigned *state, int rounds, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = state[i] | 1;
    for (int r = 0; r < rounds; ++r) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
    }
    state[i] = s;
}

extern "C" __global__ void pcg_uniform(float *y, unsigned long long seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long s = seed + 1442695040888963407ull * (i + 1);
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    unsigned word = (unsigned)(((s >> 18) ^ s) >> 27), turn = (unsigned)(s >> 59);
    word = (word >> turn) | (word << (-turn & 31));
    y[i] = (word >> 8) * 5.9604645e-8f;
}

extern "C" __global__ void fnv(unsigned *hashes, const unsigned char *bytes, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned hash = 2166136261u;
    for (int j = 0; j < length; ++j) hash = (hash ^ bytes[i * length + j]) * 16777619u;
    hashes[i] = hash;
}

extern "C" __global__ void bitonic(int *x)
{
    __shared__ int held[64];
    int t = threadIdx.x;
    held[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t) {
                int a = held[t], b = held[other];
                if ((a > b) == ((t & size) == 0)) {
                    held[t] = b;
                    held[other] = a;
                }
            }
            __syncthreads();
        }
    x[blockIdx.x * 64 + t] = held[t];
}

extern "C" __global__ void lower_bound(int *places, const int *sorted, const int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < keys[i]) low = middle + 1; else high = middle;
    }
    places[i] = low;
}

extern "C" __global__ void greatest_divisor(unsigned *y, const unsigned *a, const unsigned *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], z = b[i];
    while (z) {
        unsigned rest = x % z;
        x = z;
        z = rest;
    }
    y[i] = x;
}

extern "C" __global__ void power_modulo(unsigned *y, const unsigned *base, unsigned exponent, unsigned modulus, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long value = 1, factor = base[i] % (modulus | 1);
    for (unsigned e = exponent; e; e >>= 1) {
        if (e & 1) value = value * factor % (modulus | 1);
        factor = factor * factor % (modulus | 1);
    }
    y[i] = (unsigned)value;
}

extern "C" __global__ void morton(unsigned *codes, const unsigned *x, const unsigned *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned code = 0;
    for (int bit = 0; bit < 16; ++bit) code |= (x[i] >> bit & 1) << 2 * bit | (y[i] >> bit & 1) << (2 * bit + 1);
    codes[i] = code;
}

extern "C" __global__ void wide_product(unsigned *high, unsigned *low, const unsigned *a, const unsigned *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    high[i] = __umulhi(a[i], b[i]);
    low[i] = a[i] * b[i] + __brev(a[i]) + __clz(b[i]) + __popc(a[i]) + __ffs(b[i]);
}

extern "C" __global__ void bytes_permute(unsigned *y, const unsigned *a, const unsigned *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = __byte_perm(a[i], b[i], 0x5140);
    y[i] = __funnelshift_l(word, a[i], i & 31) + __vabsdiffu4(a[i], b[i]) + __dp4a(a[i], b[i], 1u);
}

extern "C" __global__ void largest_atomic(int *best, unsigned *count, const int *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicMax(best, x[i]);
        atomicInc(count, 1000);
        atomicXor(count + 1, x[i]);
    }
}
