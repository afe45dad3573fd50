//! Published cases: two values that were observed, with their public source.

/// A published question, with everything needed to ask it again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// Its name for `why --case`.
    pub name: &'static str,
    /// The public thread, or the document that keeps it as a witness.
    pub source: &'static str,
    /// The expression.
    pub expression: &'static str,
    /// The values of its names.
    pub inputs: &'static [(&'static str, &'static str)],
    /// The values seen, and where.
    pub seen: &'static [(&'static str, &'static str)],
    /// What the thread says the cause is; where it says nothing, what the values show.
    pub cause: &'static str,
}

const fn case(
    name: &'static str,
    source: &'static str,
    expression: &'static str,
    inputs: &'static [(&'static str, &'static str)],
    seen: &'static [(&'static str, &'static str)],
    cause: &'static str,
) -> Case {
    Case { name, source, expression, inputs, seen, cause }
}

/// The built-in cases; the first is the one that `why` runs through by itself.
#[rustfmt::skip] // A case a paragraph.
pub static CASES: &[Case] = &[
    case("xla-41579", "openxla/xla #41579", "a*x+b*x",
        &[("a", "1e20f"), ("b", "-1e20f"), ("x", "1e10f")],
        &[("4.993411122843311e+21", "jit"), ("0", "eager")],
        "XLA contracts a*x + b*x to fma(a, x, b*x)"),
    case("triton-10671", "triton-lang/triton #10671", "q*s+c",
        // q is -0.25f / 0.75f, as its f32 bits.
        &[("q", "0xbeaaaaab"), ("s", "0.75f"), ("c", "0.25f")],
        &[("-7.45e-09", "compiled"), ("0", "interpreter")],
        "the product is fused into the sum"),
    case("llvm-132724", "llvm/llvm-project #132724", "d+k*(e*e*e)",
        &[("d", "3f"), ("k", "1.442695f"), ("e", "387f")],
        &[("83619480", "clang -O2"), ("83619472", "clang -O0")],
        "it is never wrong to treat fmuladd as an fma"),
    case("gpuifyloops-91", "vchuravy/GPUifyLoops.jl #91", "r*T-r*T",
        &[("r", "0.1"), ("T", "300.0")],
        &[("1.6653345369377348e-15", "contracted"), ("0", "expected")],
        "contraction: fma(r, T, -(r*T))"),
    case("sharpemu-420", "sharpemu/sharpemu #420", "fma(a,b,c)",
        &[("a", "0x4100:f16"), ("b", "0x7522:f16"), ("c", "0x04ea:f16")],
        &[("0x7a6b:f16", "GPU"), ("0x7a6a:f16", "emulator")],
        "the f32 result is rounded again to f16"),
    case("bf16-witness", "a witness kept by this project", "fma(a,b,c)",
        &[("a", "0x3f88:bf16"), ("b", "0x3f88:bf16"), ("c", "0x2180:bf16")],
        &[("0x3f91:bf16", "fused"), ("0x3f90:bf16", "through f32")],
        "the f32 result is rounded again to bf16"),
    case("f64-cast-witness", "a witness kept by this project", "fma(a,b,c)",
        &[("a", "0x3f800001"), ("b", "0x337ffffe"), ("c", "0x3f800001")],
        &[("0x3f800001", "fused"), ("0x3f800002", "through f64")],
        "the f64 result is rounded again to f32"),
    case("xla-22116", "openxla/xla #22116", "x*x-x*x",
        &[("x", "0.1f")],
        &[("-4.0978193e-10", "jit"), ("0", "eager")],
        "the left product is fused into the difference"),
    case("jax-18507", "jax-ml/jax #18507", "a*b-a*b",
        &[("a", "2396747f"), ("b", "7f")],
        &[("1.0", "jit"), ("0.0", "not jitted")],
        "the left product is fused into the difference"),
    case("openblas-729", "OpenMathLib/OpenBLAS #729", "a*b-b*a",
        &[("a", "0.4713259f"), ("b", "0.14339028f")],
        &[("1.28015e-09", "row major"), ("-1.28015e-09", "column major"), ("0", "x86-64")],
        "fma(a, b, -b*a) is not zero; which product is fused gives the sign"),
    case("llvm-163470", "llvm/llvm-project #163470", "a*a-b*b",
        &[("a", "1.1"), ("b", "1.1")],
        &[("8.88178e-18", "clang, arm64"), ("0", "gcc")],
        "contraction"),
    case("llvm-91224", "llvm/llvm-project #91224", "v-i*w",
        &[("v", "0.03"), ("i", "3.0"), ("w", "0.01")],
        &[("-1.7347234759768071e-18", "clang 14, aarch64"), ("0", "debugger")],
        "-ffp-contract=on became the default"),
    case("numpy-26740", "numpy/numpy #26740", "a*c-b*d",
        &[("a", "-0.7173752049805099"), ("b", "0.6966870282122177"),
          ("c", "25.441646575927734"), ("d", "-27.90408706665039")],
        &[("1.18920906599179510e+00", "fused"), ("1.18920906599179332e+00", "unfused")],
        "contraction in the complex product"),
    case("nvidia-78014", "NVIDIA developer forum, topic 78014", "a*b-c*d",
        &[("a", "35187.4264233882131521"), ("b", "-329572.6309625260764733"),
          ("c", "-95746.0777556623070268"), ("d", "120868.6083184806921054")],
        &[("-24117532.8764189481735229", "from memory"), ("-24117532.8764190673828125", "constants")],
        "contraction by nvcc; compile with -fmad=false"),
    case("stackoverflow-58989033", "Stack Overflow 58989033", "a*a+b",
        &[("a", "0x3f800001"), ("b", "0xbf800002")],
        &[("1.42108547152020037174224853516e-14", "FFMA at run time"), ("0", "folded by the compiler")],
        "the compiler folds unfused, the GPU fuses"),
    case("libm-263", "rust-lang/libm #263", "fma(a,b,c)",
        &[("a", "0x4b7fffff"), ("b", "0x4d800002"), ("c", "0x427e0000")],
        &[("0x59800001", "hardware"), ("0x59800002", "libm's fmaf")],
        "fmaf through f64 rounds twice"),
    case("wasmtime-4512", "bytecodealliance/wasmtime #4512", "fma(a,b,c)",
        &[("a", "131f"), ("b", "0x431a0244"), ("c", "0x41988721")],
        &[("0x469dc473", "hardware"), ("0x469dc474", "MinGW's fmaf")],
        "MinGW's fmaf is wrong: it gives the unfused value"),
    case("no-denormals-3", "Sin-tel/no_denormals #3", "x*y",
        &[("x", "1e-40f"), ("y", "2f")],
        &[("0", "at run time"), ("1.99999e-40", "folded by the compiler")],
        "subnormals are flushed at run time"),
];
