// Asks a GPU what its tensor cores compute: every shape and type of mma.sync that the architecture has, on operands that
// settle the open questions of docs/decisions.md (dot_zero, dot_zero_sign, dot_addend, turing_block, NaN bits), then on random ones.
//
//   nvcc -arch=sm_NN -o matrix matrix.cu && ./matrix > matrix.jsonl
//
// A line is one instruction on whole matrices, as `roundonce vectors verify` takes it. Fragments are laid out by the PTX ISA's
// tables; without a GPU, `test.sh nvcc` runs the same kernels in `roundonce run` and compares them with `roundonce eval`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Where the elements of a fragment stand. g is the lane's group, t its place in the group, i the element.
struct K4 { // TF32
    static const int k = 4, a_regs = 2, b_regs = 1, width = 32;
    static __device__ int a_row(int g, int, int i) { return g + 8 * i; }
    static __device__ int a_col(int, int t, int) { return t; }
    static __device__ int b_row(int, int t, int) { return t; }
};
struct K8Words { // TF32
    static const int k = 8, a_regs = 4, b_regs = 2, width = 32;
    static __device__ int a_row(int g, int, int i) { return g + 8 * (i & 1); }
    static __device__ int a_col(int, int t, int i) { return t + 4 * (i >> 1); }
    static __device__ int b_row(int, int t, int i) { return t + 4 * i; }
};
struct K8 { // f16, bf16
    static const int k = 8, a_regs = 2, b_regs = 1, width = 16;
    static __device__ int a_row(int g, int, int i) { return g + 8 * (i >> 1); }
    static __device__ int a_col(int, int t, int i) { return 2 * t + (i & 1); }
    static __device__ int b_row(int, int t, int i) { return 2 * t + i; }
};
struct K16 { // f16, bf16
    static const int k = 16, a_regs = 4, b_regs = 2, width = 16;
    static __device__ int a_row(int g, int, int i) { return g + 8 * (i >> 1 & 1); }
    static __device__ int a_col(int, int t, int i) { return 2 * t + (i & 1) + 8 * (i >> 2); }
    static __device__ int b_row(int, int t, int i) { return 2 * t + (i & 1) + 8 * (i >> 1); }
};
struct K16Bytes { // 8-bit floats
    static const int k = 16, a_regs = 2, b_regs = 1, width = 8;
    static __device__ int a_row(int g, int, int i) { return g + 8 * (i >> 2); }
    static __device__ int a_col(int, int t, int i) { return 4 * t + (i & 3); }
    static __device__ int b_row(int, int t, int i) { return 4 * t + i; }
};
struct K32 { // 8-bit floats
    static const int k = 32, a_regs = 4, b_regs = 2, width = 8;
    static __device__ int a_row(int g, int, int i) { return g + 8 * (i >> 2 & 1); }
    static __device__ int a_col(int, int t, int i) { return 4 * t + (i & 3) + 16 * (i >> 3); }
    static __device__ int b_row(int, int t, int i) { return 4 * t + (i & 3) + 16 * (i >> 2); }
};

// Element `at` of an array whose elements have `width` bits.
static __device__ uint32_t element(const uint8_t *from, int width, int at) {
    uint32_t bits = 0;
    for (int byte = 0; byte < width / 8; byte++) bits |= uint32_t(from[at * (width / 8) + byte]) << 8 * byte;
    return bits;
}

// One warp and one instruction a block: a is 16 × k and c 16 × 8, row by row, b k × 8, column by column.
#define KERNEL(NAME, SHAPE, SUM, ASM)                                                                                   \
    extern "C" __global__ void NAME(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *d) {                 \
        const int lane = threadIdx.x, g = lane / 4, t = lane % 4, per = 32 / SHAPE::width, size = SUM / 8;              \
        a += blockIdx.x * 16 * SHAPE::k * SHAPE::width / 8;                                                             \
        b += blockIdx.x * 8 * SHAPE::k * SHAPE::width / 8;                                                              \
        c += blockIdx.x * 128 * size;                                                                                   \
        d += blockIdx.x * 128 * size;                                                                                   \
        uint32_t A[4] = {}, B[2] = {}, C[4] = {}, D[4] = {};                                                            \
        for (int i = 0; i < SHAPE::a_regs * per; i++)                                                                   \
            A[i / per] |= element(a, SHAPE::width, SHAPE::a_row(g, t, i) * SHAPE::k + SHAPE::a_col(g, t, i))            \
                          << SHAPE::width * (i % per);                                                                  \
        for (int i = 0; i < SHAPE::b_regs * per; i++)                                                                   \
            B[i / per] |= element(b, SHAPE::width, g * SHAPE::k + SHAPE::b_row(g, t, i)) << SHAPE::width * (i % per);   \
        const int each = 32 / SUM;                                                                                      \
        for (int i = 0; i < 4; i++)                                                                                     \
            C[i / each] |= element(c, SUM, (g + 8 * (i >> 1)) * 8 + 2 * t + (i & 1)) << SUM % 32 * (i % each);          \
        ASM;                                                                                                            \
        for (int i = 0; i < 4; i++)                                                                                     \
            for (int byte = 0; byte < size; byte++)                                                                     \
                d[((g + 8 * (i >> 1)) * 8 + 2 * t + (i & 1)) * size + byte] =                                           \
                    uint8_t(D[i / each] >> (SUM % 32 * (i % each) + 8 * byte));                                         \
    }

// The operands of the six register counts: d and c of four or two registers, a and b of 4 and 2, or 2 and 1.
#define ASM_F32_42(SPELLING)                                                                                            \
    asm volatile(SPELLING " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                                  \
                 : "=r"(D[0]), "=r"(D[1]), "=r"(D[2]), "=r"(D[3])                                                       \
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]), "r"(C[0]), "r"(C[1]), "r"(C[2]),   \
                   "r"(C[3]))
#define ASM_F32_21(SPELLING)                                                                                            \
    asm volatile(SPELLING " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                                              \
                 : "=r"(D[0]), "=r"(D[1]), "=r"(D[2]), "=r"(D[3])                                                       \
                 : "r"(A[0]), "r"(A[1]), "r"(B[0]), "r"(C[0]), "r"(C[1]), "r"(C[2]), "r"(C[3]))
#define ASM_F16_42(SPELLING)                                                                                            \
    asm volatile(SPELLING " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"                                                  \
                 : "=r"(D[0]), "=r"(D[1])                                                                               \
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]), "r"(C[0]), "r"(C[1]))
#define ASM_F16_21(SPELLING)                                                                                            \
    asm volatile(SPELLING " {%0,%1}, {%2,%3}, {%4}, {%5,%6};"                                                           \
                 : "=r"(D[0]), "=r"(D[1])                                                                               \
                 : "r"(A[0]), "r"(A[1]), "r"(B[0]), "r"(C[0]), "r"(C[1]))

// name, shape, a's format, b's, bits of c and d, which operands, spelling. The formats: h f16, b bf16, t TF32, 4 e4m3, 5 e5m2.
#if !defined(__CUDA_ARCH_LIST__)
#define ARCH 800
#else
#define ARCH __CUDA_ARCH_LIST__
#endif
#define MMA "mma.sync.aligned."
#define FORMS_75(F)                                                                                                     \
    F(k8_f32_f16, K8, 'h', 'h', 32, ASM_F32_21, MMA "m16n8k8.row.col.f32.f16.f16.f32")                                  \
    F(k8_f16_f16, K8, 'h', 'h', 16, ASM_F16_21, MMA "m16n8k8.row.col.f16.f16.f16.f16")
#define FORMS_80(F)                                                                                                     \
    F(k16_f32_f16, K16, 'h', 'h', 32, ASM_F32_42, MMA "m16n8k16.row.col.f32.f16.f16.f32")                               \
    F(k16_f16_f16, K16, 'h', 'h', 16, ASM_F16_42, MMA "m16n8k16.row.col.f16.f16.f16.f16")                               \
    F(k8_f32_bf16, K8, 'b', 'b', 32, ASM_F32_21, MMA "m16n8k8.row.col.f32.bf16.bf16.f32")                               \
    F(k16_f32_bf16, K16, 'b', 'b', 32, ASM_F32_42, MMA "m16n8k16.row.col.f32.bf16.bf16.f32")                            \
    F(k4_f32_tf32, K4, 't', 't', 32, ASM_F32_21, MMA "m16n8k4.row.col.f32.tf32.tf32.f32")                               \
    F(k8_f32_tf32, K8Words, 't', 't', 32, ASM_F32_42, MMA "m16n8k8.row.col.f32.tf32.tf32.f32")
#define FORMS_89(F)                                                                                                     \
    F(k32_f32_e4m3, K32, '4', '4', 32, ASM_F32_42, MMA "m16n8k32.row.col.f32.e4m3.e4m3.f32")                            \
    F(k32_f32_e5m2, K32, '5', '5', 32, ASM_F32_42, MMA "m16n8k32.row.col.f32.e5m2.e5m2.f32")                            \
    F(k32_f32_mixed, K32, '4', '5', 32, ASM_F32_42, MMA "m16n8k32.row.col.f32.e4m3.e5m2.f32")                           \
    F(k32_f16_e4m3, K32, '4', '4', 16, ASM_F16_42, MMA "m16n8k32.row.col.f16.e4m3.e4m3.f16")                            \
    F(k16_f32_e4m3, K16Bytes, '4', '4', 32, ASM_F32_21, MMA "m16n8k16.row.col.f32.e4m3.e4m3.f32")
#if ARCH >= 890
#define FORMS(F) FORMS_75(F) FORMS_80(F) FORMS_89(F)
#elif ARCH >= 800
#define FORMS(F) FORMS_75(F) FORMS_80(F)
#else
#define FORMS(F) FORMS_75(F)
#endif
#define DEFINE(NAME, SHAPE, OF_A, OF_B, SUM, WITH, SPELLING) KERNEL(NAME, SHAPE, SUM, WITH(SPELLING))
FORMS(DEFINE)

struct Form {
    const char *spelling;
    void (*kernel)(const uint8_t *, const uint8_t *, const uint8_t *, uint8_t *);
    int k, width, sum;
    char of_a, of_b;
};
#define LIST(NAME, SHAPE, OF_A, OF_B, SUM, WITH, SPELLING) {SPELLING, NAME, SHAPE::k, SHAPE::width, SUM, OF_A, OF_B},
static const Form forms[] = {FORMS(LIST)};

// The fields of a format: bits of exponent and fraction, and of the register below them.
struct Fields { int exponent, fraction, below; };
static Fields fields(char format) {
    switch (format) {
    case 'h': return {5, 10, 0};
    case 'b': return {8, 7, 0};
    case 't': return {8, 10, 13};
    case '4': return {4, 3, 0};
    case '5': return {5, 2, 0};
    default: return {8, 23, 0};
    }
}

static uint64_t state = 1;
static uint64_t next() { // SplitMix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9, z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

// ±2^exponent in a format; below its smallest normal number a subnormal one, or zero.
static uint32_t power(char format, bool negative, int exponent) {
    Fields f = fields(format);
    int bias = (1 << (f.exponent - 1)) - 1, field = exponent + bias;
    uint32_t bits = field >= 1 ? uint32_t(field) << f.fraction : field + f.fraction >= 1 ? 1u << (field + f.fraction - 1) : 0;
    return (bits | uint32_t(negative) << (f.exponent + f.fraction)) << f.below;
}

static uint32_t any(char format, int manner) {
    Fields f = fields(format);
    uint64_t bits = next(), spread = next();
    int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1;
    int field = manner == 0 ? int(bits >> 40) & top : manner == 1 ? bias - int(spread % 4) : manner == 2 ? bias + 4 - int(spread % 12) : int(spread % 3);
    field = field < 0 ? 0 : field > top ? top : field;
    uint32_t fraction = uint32_t(bits) & ((1u << f.fraction) - 1);
    if (manner == 3 && spread >> 40 & 1) field = 0, fraction = 0;
    return (uint32_t(bits >> 63) << (f.exponent + f.fraction) | uint32_t(field) << f.fraction | fraction) << f.below;
}

// One row of a and column of b that ask a question; the rest of the matrix has random ones.
static void ask(const Form &form, int question, uint32_t *a, uint32_t *b, uint32_t &c) {
    char sum = form.sum == 16 ? 'h' : 's';
    Fields fa = fields(form.of_a);
    int deep = form.sum == 16 ? -26 : -140, half = (1 << (fa.exponent - 1)) - 2;
    for (int i = 0; i < form.k; i++) a[i] = b[i] = 0;
    c = 0;
    switch (question % 8) {
    case 0: // dot_zero: tiny terms beside zeros; the smallest number less what only a small exponent leaves
        if (question / 8 % 2 && fa.exponent == 8) {
            a[0] = power(form.of_a, false, -75), b[0] = power(form.of_b, false, -74);
            a[1] = power(form.of_a, true, -80), b[1] = power(form.of_b, false, -80);
            break;
        }
        for (int i = 0; i < 2; i++) {
            int exponent = deep / 2 < -half ? -half : deep / 2;
            a[i] = power(form.of_a, i, exponent) | 1u << fa.below, b[i] = power(form.of_b, false, exponent) | 3u << fields(form.of_b).below;
        }
        break;
    case 1: // dot_zero_sign: a negative sum that is cut away
        a[0] = power(form.of_a, true, -half), b[0] = power(form.of_b, false, -half);
        break;
    case 2: // dot_zero_sign: every term is -0
        for (int i = 0; i < form.k; i++) a[i] = power(form.of_a, true, -1000);
        c = 1u << (form.sum - 1);
        break;
    case 3: // dot_addend: c has bits below what is kept, beside terms that cancel
        a[0] = a[1] = power(form.of_a, false, 1), b[0] = power(form.of_b, false, question / 8 % 4), b[1] = power(form.of_b, true, question / 8 % 4);
        c = power(sum, false, 0) | 1;
        break;
    case 4: // turing_block: the first half cancels, small terms follow
        a[0] = power(form.of_a, false, 0), a[1] = power(form.of_a, true, 0), b[0] = b[1] = power(form.of_b, false, 0);
        for (int i = 2; i < form.k; i++) a[i] = power(form.of_a, false, -7), b[i] = power(form.of_b, false, form.of_b == 'h' ? -14 - question / 8 % 8 : -7);
        break;
    case 5: // NaN bits: a quiet one with a payload in a, b or c
        a[0] = power(form.of_a, false, 0), b[0] = power(form.of_b, false, 0);
        if (question / 8 % 3 == 2) c = form.sum == 16 ? 0xfe35 : 0xffc12345;
        else (question / 8 % 3 ? b : a)[0] = form.of_a == 'h' ? 0xfe35 : form.of_a == 'b' ? 0xffd5 : form.of_a == 't' ? 0xffd24000 : 0x7f;
        break;
    case 6: // zero times infinity, infinities of both signs
        if (form.of_a == '4') { c = form.sum == 16 ? 0x7c00 : 0x7f800000; break; }
        a[0] = power(form.of_a, false, half + 2), b[0] = question / 8 % 2 ? 0 : power(form.of_b, false, 0);
        c = form.sum == 16 ? 0xfc00 : 0xff800000;
        break;
    default: // overflow toward zero
        for (int i = 0; i < form.k; i++) a[i] = power(form.of_a, false, half + 1), b[i] = power(form.of_b, false, half + 1);
        c = power(sum, false, form.sum == 16 ? 15 : 127) | (form.sum == 16 ? 0x3ff : 0x7fffff);
    }
}

static void row(const uint32_t *all, int count, int bits, bool last) {
    putchar('"');
    for (int i = 0; i < count; i++) printf("%0*x", bits / 4, all[i]);
    printf(last ? "\"" : "\",");
}

static void put(const char *name, const uint32_t *all, int rows, int count, int bits) {
    printf(",\"%s\":[", name);
    for (int i = 0; i < rows; i++) row(all + i * count, count, bits, i == rows - 1);
    putchar(']');
}

static std::vector<uint8_t> bytes(const std::vector<uint32_t> &all, int width) {
    std::vector<uint8_t> out;
    for (uint32_t bits : all) for (int byte = 0; byte < width / 8; byte++) out.push_back(uint8_t(bits >> 8 * byte));
    return out;
}

static void check(cudaError_t error) {
    if (error != cudaSuccess) { fprintf(stderr, "matrix: %s\n", cudaGetErrorString(error)); exit(1); }
}

static uint8_t *device(const std::vector<uint8_t> &from) {
    uint8_t *to;
    check(cudaMalloc(&to, from.size()));
    check(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
    return to;
}

int main(int count, char **arguments) {
    int matrices = count > 1 ? atoi(arguments[1]) : 64;
    cudaDeviceProp gpu;
    check(cudaGetDeviceProperties(&gpu, 0));
    for (const Form &form : forms) {
        char sum = form.sum == 16 ? 'h' : 's';
        std::vector<uint32_t> a, b, c;
        for (int m = 0; m < matrices; m++) {
            // A quarter of the matrices ask: each pair of a row and the column of its number.
            for (int i = 0; i < 16 * form.k; i++) a.push_back(any(form.of_a, m % 4));
            for (int i = 0; i < 8 * form.k; i++) b.push_back(any(form.of_b, m % 4));
            for (int i = 0; i < 128; i++) c.push_back(next() & 3 ? any(sum, m % 4) : 0);
            for (int i = 0; m < matrices / 4 && i < 8; i++)
                ask(form, m * 8 + i, &a[(m * 16 + i) * form.k], &b[(m * 8 + i) * form.k], c[m * 128 + i * 8 + i]);
        }
        std::vector<uint8_t> results(c.size() * form.sum / 8);
        uint8_t *A = device(bytes(a, form.width)), *B = device(bytes(b, form.width)), *C = device(bytes(c, form.sum)), *D = device(results);
        form.kernel<<<matrices, 32>>>(A, B, C, D);
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(results.data(), D, results.size(), cudaMemcpyDeviceToHost));
        for (uint8_t *memory : {A, B, C, D}) check(cudaFree(memory));
        std::vector<uint32_t> d;
        for (size_t at = 0; at < results.size(); at += form.sum / 8) {
            uint32_t bits = 0;
            memcpy(&bits, &results[at], form.sum / 8);
            d.push_back(bits);
        }
        for (int m = 0; m < matrices; m++) {
            printf("{\"instruction\":\"%s\",\"arch\":\"sm_%d%d\",\"gpu\":\"%s\"", form.spelling, gpu.major, gpu.minor, gpu.name);
            put("a", &a[m * 16 * form.k], 16, form.k, form.width);
            put("b", &b[m * 8 * form.k], 8, form.k, form.width);
            put("c", &c[m * 128], 16, 8, form.sum);
            put("d", &d[m * 128], 16, 8, form.sum);
            puts("}");
        }
    }
}
