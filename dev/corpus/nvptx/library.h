// The builtins of OpenCL C that the corpus calls, for the NVPTX target, where they are a library's and not the compiler's.
#define OF(builtin, d) ((d) == 0 ? builtin##_x() : (d) == 1 ? builtin##_y() : builtin##_z())
static uint group(uint d) { return OF(__nvvm_read_ptx_sreg_ctaid, d); }
__attribute__((overloadable, const)) size_t get_local_id(uint d) { return OF(__nvvm_read_ptx_sreg_tid, d); }
__attribute__((overloadable, const)) size_t get_local_size(uint d) { return OF(__nvvm_read_ptx_sreg_ntid, d); }
__attribute__((overloadable, const)) size_t get_global_id(uint d) { return group(d) * get_local_size(d) + get_local_id(d); }
__attribute__((overloadable)) void barrier(cl_mem_fence_flags flags) { __syncthreads(); }
#define FUNCTION __attribute__((overloadable, const))
FUNCTION float fma(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
FUNCTION float4 fma(float4 a, float4 b, float4 c) {
    return (float4)(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w));
}
FUNCTION float mad(float a, float b, float c) { return fma(a, b, c); }
FUNCTION float fmin(float a, float b) { return __nvvm_fmin_f(a, b); }
FUNCTION float fmax(float a, float b) { return __nvvm_fmax_f(a, b); }
FUNCTION float clamp(float x, float low, float high) { return fmin(fmax(x, low), high); }
FUNCTION float mix(float x, float y, float a) { return x + (y - x) * a; }
FUNCTION float fabs(float x) { return __nvvm_fabs_f(x); }
FUNCTION float rint(float x) { return __builtin_rintf(x); }
FUNCTION float copysign(float x, float y) { return __builtin_copysignf(x, y); }
FUNCTION float native_sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
FUNCTION float ldexp(float x, int n) { return x * as_float((n + 127) << 23); }
FUNCTION float degrees(float x) { return x * 57.2957795f; }
FUNCTION float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
FUNCTION float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
__attribute__((overloadable)) float fract(float x, private float *whole) {
    *whole = __nvvm_floor_f(x);
    return fmin(x - *whole, 0x1.fffffep-1f);
}
FUNCTION float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
FUNCTION int4 isgreater(float4 a, float4 b) { return a > b; }
FUNCTION float4 select(float4 a, float4 b, int4 c) {
    return (float4)(c.x < 0 ? b.x : a.x, c.y < 0 ? b.y : a.y, c.z < 0 ? b.z : a.z, c.w < 0 ? b.w : a.w);
}
FUNCTION float4 convert_float4(int4 v) { return __builtin_convertvector(v, float4); }
FUNCTION int min(int a, int b) { return a < b ? a : b; }
FUNCTION uint rotate(uint v, uint n) { return v << (n & 31) | v >> (-n & 31); }
FUNCTION uint popcount(uint v) { return __builtin_popcount(v); }
FUNCTION uint clz(uint v) { return v ? __builtin_clz(v) : 32; }
FUNCTION uint mul_hi(uint a, uint b) { return (ulong)a * b >> 32; }
FUNCTION uint mad_hi(uint a, uint b, uint c) { return mul_hi(a, b) + c; }
FUNCTION uint add_sat(uint a, uint b) { return a + b < a ? ~0u : a + b; }
__attribute__((overloadable)) int atomic_add(volatile global int *p, int v) { return __nvvm_atom_add_gen_i((volatile int *)p, v); }
