// Bits, bytes, wide products, and four numbers in a word.
extern "C" __global__ void integers(int n, const unsigned *x, const int *s, unsigned *y, unsigned long long *wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = x[n - 1 - i];
    int c = s[i];
    y[i] = __brev(a) ^ __popc(b) ^ __clz(a) ^ __ffs(b) ^ __byte_perm(a, b, 0x5162) ^ __funnelshift_l(a, b, c)
         ^ __umulhi(a, b) ^ __mulhi(c, c) ^ __usad(a, b, 3) ^ __uhadd(a, b) ^ __urhadd(a, b) ^ __umul24(a, b)
         ^ __dp4a(a, b, 7u) ^ __dp2a_lo(a, b, 9u) ^ (a / (b | 1)) ^ (a % (b | 1)) ^ (c / 7) ^ __fns(a, 1, 2);
    wide[i] = __umul64hi(a * 0x123456789ull, b * 0x987654321ull) ^ __brevll(a) ^ __popcll(wide[i]) ^ (wide[i] / (b | 3));
}
extern "C" __global__ void bytes(int n, const unsigned *x, unsigned *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = x[n - 1 - i];
    y[i] = __vadd4(a, b) ^ __vsub2(a, b) ^ __vabsdiffu4(a, b) ^ __vmaxs2(a, b) ^ __vminu4(a, b) ^ __vavgu4(a, b)
         ^ __vcmpeq4(a, b) ^ __vsetltu2(a, b) ^ __vaddss4(a, b) ^ __vsads4(a, b) ^ __vnegss2(a) ^ __viaddmax_s32(a, b, 5);
}
