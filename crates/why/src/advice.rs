//! What to do so that both sides agree: the options and constructs of each toolchain, as its documentation has them.

use roundonce_arith::{Format, Tininess};
use roundonce_deviate::Deviation;
use serde::Serialize;

use crate::text::{COLUMNS, Line, Role, wrap};

/// What a piece of advice is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Products fused into sums.
    Contraction,
    /// An fma computed as a product and a sum.
    Fma,
    /// Subnormals flushed.
    Subnormals,
    /// A wider type.
    WiderType,
    /// The x87's 80 bits.
    X87,
    /// The order of sums.
    Order,
    /// Sums with their rounding errors added.
    Compensated,
    /// Quotients and roots computed otherwise.
    Quotients,
    /// Functions that are approximated.
    Functions,
    /// Products in TF32.
    Tf32,
    /// Factors converted to a narrower type.
    NarrowFactors,
    /// Matrix products on tensor cores.
    TensorCores,
}

/// What one toolchain offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Advice {
    /// What it is about.
    pub about: Topic,
    /// The toolchain.
    pub toolchain: &'static str,
    /// The option or the construct.
    pub text: &'static str,
    /// The document that says so.
    pub source: &'static str,
}

const fn row(about: Topic, toolchain: &'static str, text: &'static str, source: &'static str) -> Advice {
    Advice { about, toolchain, text, source }
}

#[rustfmt::skip] // A piece of advice a line.
static ADVICE: &[Advice] = &[
    row(Topic::Contraction, "nvcc", "-fmad=false; or __fmul_rn(a, b) for one product", "NVCC manual, --fmad; CUDA Math API, __fmul_rn"),
    row(Topic::Contraction, "clang", "-ffp-contract=off; or #pragma STDC FP_CONTRACT OFF", "Clang user's manual, -ffp-contract"),
    row(Topic::Contraction, "gcc", "-ffp-contract=off", "GCC manual, optimize options"),
    row(Topic::Contraction, "triton", "enable_fp_fusion=False at the launch", "Triton, backends/nvidia/compiler.py, CUDAOptions"),
    row(Topic::Contraction, "julia", "no muladd, @fastmath or @simd there; fma(a, b, c) fuses always", "Julia manual, muladd, @fastmath"),
    row(Topic::Contraction, "numba", "fastmath=False in @jit, or a set without contract", "Numba documentation, fastmath"),
    row(Topic::Contraction, "metal", "#pragma METAL fp contract(off), or -ffp-contract=off", "Metal shading language specification, compiler options"),
    row(Topic::Contraction, "opencl", "#pragma OPENCL FP_CONTRACT OFF", "OpenCL C specification, FP_CONTRACT"),
    row(Topic::Contraction, "glsl", "precise on the variable that takes the result", "GLSL specification 4.60, the precise qualifier"),
    row(Topic::Contraction, "hlsl", "precise on the variable that takes the result", "HLSL reference, variable syntax"),
    row(Topic::Contraction, "spirv", "decorate the product and the sum NoContraction", "SPIR-V specification, NoContraction"),
    row(Topic::Fma, "nvcc", "fmaf and fma are fused on the device; __fmaf_rn says so", "CUDA Math API, fmaf"),
    row(Topic::Fma, "clang", "-mfma (x86), so that fma is the instruction", "Clang command line reference, -mfma"),
    row(Topic::Fma, "gcc", "-mfma (x86), so that fma is the instruction", "GCC manual, x86 options"),
    row(Topic::Fma, "triton", "enable_fp_fusion=True at the launch, the default unless TRITON_DEFAULT_FP_FUSION=0", "Triton, backends/nvidia/compiler.py, CUDAOptions"),
    row(Topic::Fma, "glsl", "precise on the variable that takes fma's result", "GLSL specification 4.60, fma"),
    row(Topic::Fma, "spirv", "decorate Fma NoContraction; or OpFmaKHR", "SPIR-V extended instructions for GLSL, Fma; SPV_KHR_fma"),
    row(Topic::Subnormals, "nvcc", "-ftz=false (-use_fast_math sets it to true)", "NVCC manual, --ftz"),
    row(Topic::Subnormals, "clang", "-mno-daz-ftz when linking (x86; -ffast-math sets it)", "Clang user's manual, -mdaz-ftz"),
    row(Topic::Subnormals, "gcc", "-mno-daz-ftz when linking (x86; -ffast-math sets it)", "GCC manual, x86 options"),
    row(Topic::Subnormals, "xla", "XLA_FLAGS=--xla_gpu_ftz=false", "XLA, debug_options_flags.cc, xla_gpu_ftz"),
    row(Topic::Subnormals, "numba", "fastmath=False in @cuda.jit", "Numba documentation, CUDA fast math"),
    row(Topic::Subnormals, "torch", "torch.set_flush_denormal(False)", "PyTorch documentation, set_flush_denormal"),
    row(Topic::Subnormals, "spirv", "execution mode DenormPreserve", "SPIR-V specification, execution modes"),
    row(Topic::WiderType, "clang", "-ffp-eval-method=source", "Clang user's manual, -ffp-eval-method"),
    row(Topic::WiderType, "gcc", "-fexcess-precision=standard; of f16 and bf16 -fexcess-precision=16", "GCC manual, optimize options"),
    row(Topic::WiderType, "xla", "XLA_FLAGS=--xla_allow_excess_precision=false", "XLA, debug_options_flags.cc, xla_allow_excess_precision"),
    row(Topic::WiderType, "torch", "torch._inductor.config.emulate_precision_casts = True, of what torch.compile makes", "PyTorch, _inductor/config.py"),
    row(Topic::X87, "clang", "-msse2 -mfpmath=sse", "Clang command line reference, -mfpmath"),
    row(Topic::X87, "gcc", "-msse2 -mfpmath=sse, which 64-bit targets have; no long double", "GCC manual, x86 options, -mfpmath"),
    row(Topic::X87, "r", "Reduce(`+`, x) adds in double; sum and mean add in long double", "R reference, sum; R Installation and Administration, --disable-long-double"),
    row(Topic::Order, "clang", "-fno-associative-math", "Clang user's manual, -fassociative-math"),
    row(Topic::Order, "gcc", "-fno-associative-math", "GCC manual, optimize options"),
    row(Topic::Order, "julia", "no @simd and no @fastmath on the loop", "Julia manual, @simd, @fastmath"),
    row(Topic::Order, "numba", "fastmath=False in @jit, or a set without reassoc", "Numba documentation, fastmath"),
    row(Topic::Order, "numpy", "numpy.add.accumulate(x)[-1] adds one after another; sum and mean add pairwise", "NumPy reference, sum, notes"),
    row(Topic::Compensated, "python", "functools.reduce(operator.add, x); sum adds the rounding errors since 3.12", "Python documentation, sum"),
    row(Topic::Quotients, "nvcc", "-prec-div=true -prec-sqrt=true (-use_fast_math sets both to false); or __fdiv_rn, __fsqrt_rn", "NVCC manual, --prec-div, --prec-sqrt; CUDA Math API"),
    row(Topic::Quotients, "clang", "-fno-reciprocal-math; for CUDA -fcuda-prec-sqrt", "Clang user's manual, -freciprocal-math"),
    row(Topic::Quotients, "gcc", "-fno-reciprocal-math; on x86 -mno-recip", "GCC manual, optimize options, x86 options"),
    row(Topic::Quotients, "opencl", "-cl-fp32-correctly-rounded-divide-sqrt", "OpenCL specification, math intrinsics options"),
    row(Topic::Quotients, "numba", "fastmath=False in @cuda.jit; of @jit a set without arcp", "Numba documentation, fastmath"),
    row(Topic::Tf32, "torch", "torch.backends.cuda.matmul.allow_tf32 = False, torch.backends.cudnn.allow_tf32 = False", "PyTorch documentation, CUDA semantics, TensorFloat-32"),
    row(Topic::Tf32, "jax", "jax.default_matmul_precision(\"highest\")", "JAX documentation, default_matmul_precision"),
    row(Topic::Tf32, "cublas", "NVIDIA_TF32_OVERRIDE=0; or the compute type CUBLAS_COMPUTE_32F_PEDANTIC", "cuBLAS documentation, cublasComputeType_t"),
    row(Topic::Tf32, "triton", "input_precision=\"ieee\" of tl.dot", "Triton documentation, tl.dot"),
    row(Topic::NarrowFactors, "torch", "torch.autocast(device_type, enabled=False) around it, or factors of float32", "PyTorch documentation, Automatic Mixed Precision"),
    row(Topic::NarrowFactors, "jax", "jax.default_matmul_precision(\"highest\")", "JAX documentation, default_matmul_precision"),
    row(Topic::TensorCores, "torch", "factors of float32, with torch.backends.cuda.matmul.allow_tf32 = False", "PyTorch documentation, CUDA semantics, TensorFloat-32"),
    row(Topic::TensorCores, "jax", "factors of float32, with jax.default_matmul_precision(\"highest\")", "JAX documentation, default_matmul_precision"),
    row(Topic::TensorCores, "cublas", "factors of float32, with the compute type CUBLAS_COMPUTE_32F_PEDANTIC", "cuBLAS documentation, cublasComputeType_t"),
    row(Topic::TensorCores, "triton", "factors of float32, with input_precision=\"ieee\" of tl.dot", "Triton documentation, tl.dot"),
    row(Topic::Functions, "nvcc", "no -use_fast_math, which takes __expf for expf and so on; functions still differ from the host's by their ulps", "CUDA C++ Programming Guide, intrinsic functions"),
    row(Topic::Functions, "numba", "fastmath=False in @cuda.jit", "Numba documentation, CUDA fast math"),
    row(Topic::Functions, "numpy", "NPY_DISABLE_CPU_FEATURES names the vector units whose functions are not taken", "NumPy documentation, CPU dispatcher"),
];

/// A toolchain by its name.
///
/// # Errors
/// The names there are.
///
/// ```
/// assert_eq!(roundonce_why::toolchain("gcc"), Ok("gcc"));
/// assert!(roundonce_why::toolchain("cc").unwrap_err().contains("clang, cublas, gcc, glsl"));
/// ```
pub fn toolchain(name: &str) -> Result<&'static str, String> {
    let mut known: Vec<&'static str> = ADVICE.iter().map(|advice| advice.toolchain).collect();
    if let Some(found) = known.iter().find(|known| **known == name) {
        return Ok(found);
    }
    known.sort_unstable();
    known.dedup();
    Err(format!("there is no advice for `{name}`: expected one of {}", known.join(", ")))
}

/// Whether an option is about numbers of a type: GPUs' options about subnormals are about f32, processors' modes not
/// about f16.
fn concerns(row: &Advice, format: Format) -> bool {
    match (row.about, row.toolchain) {
        (Topic::Subnormals, "nvcc" | "xla" | "numba") => format == Format::F32,
        (Topic::Subnormals, "clang" | "gcc" | "torch") => format != Format::F16,
        _ => true,
    }
}

/// Whether a toolchain's machines flush results before rounding: of those of the table neither GPUs nor x86.
fn flushes_before_rounding(row: &Advice) -> bool {
    row.about != Topic::Subnormals || !matches!(row.toolchain, "nvcc" | "xla" | "numba" | "clang" | "gcc")
}

/// What to do about some deviations of an evaluation in a type, if it is in one; of some toolchains alone, if any is given.
pub fn advice<'d>(
    deviations: impl Iterator<Item = &'d Deviation>,
    format: Option<Format>,
    toolchains: &[&str],
) -> Vec<Advice> {
    let topic = |deviation: &Deviation| match deviation {
        Deviation::Contract(_) | Deviation::MultipliedOut => Some(Topic::Contraction),
        Deviation::Split(_) => Some(Topic::Fma),
        Deviation::Flush(_) | Deviation::FlushOperands | Deviation::FlushResults(_) => Some(Topic::Subnormals),
        Deviation::WideEachOperation(_)
        | Deviation::WideWhole(_)
        | Deviation::WideSum(_)
        | Deviation::WideResult(_)
        | Deviation::CastsLeftOut => Some(Topic::WiderType),
        Deviation::X87(_) => Some(Topic::X87),
        Deviation::Order(_) => Some(Topic::Order),
        Deviation::Compensated => Some(Topic::Compensated),
        Deviation::Tf32(_) => Some(Topic::Tf32),
        Deviation::NarrowFactors(_) => Some(Topic::NarrowFactors),
        Deviation::TensorCores(_) => Some(Topic::TensorCores),
        Deviation::Reciprocal
        | Deviation::RootByReciprocal
        | Deviation::ReciprocalByRoot
        | Deviation::QuotientByRoot
        | Deviation::ReciprocalRoot => Some(Topic::Quotients),
        Deviation::Approximate(given) if given.is_quotient() => Some(Topic::Quotients),
        Deviation::Approximate(_) => Some(Topic::Functions),
        _ => None,
    };
    let deviations: Vec<&Deviation> = deviations.collect();
    let mut topics: Vec<Topic> = deviations.iter().copied().filter_map(topic).collect();
    // The mode of zero dominance flushes too; no compiler's option is about it.
    if deviations.contains(&&Deviation::ZeroDominance) {
        topics.retain(|topic| *topic != Topic::Subnormals);
    }
    let is_before = deviations.contains(&&Deviation::FlushResults(Tininess::BeforeRounding));
    let format = format.filter(|_| !topics.contains(&Topic::WiderType));
    let is_asked = |advice: &&Advice| {
        topics.contains(&advice.about)
            && format.is_none_or(|format| concerns(advice, format))
            && (!is_before || flushes_before_rounding(advice))
            && (toolchains.is_empty() || toolchains.contains(&advice.toolchain))
    };
    ADVICE.iter().filter(is_asked).copied().collect()
}

/// The section of an answer; empty without advice.
pub fn lines(advice: &[Advice], lines: &mut Vec<Line>) {
    let mut about = None;
    for row in advice {
        if about != Some(row.about) {
            about = Some(row.about);
            let to = match row.about {
                Topic::Contraction => "to keep products and sums apart",
                Topic::Fma => "to have the fma fused",
                Topic::Subnormals => "to keep subnormals",
                Topic::WiderType | Topic::X87 => "to compute in the written type",
                Topic::Order => "to add in the written order",
                Topic::Compensated => "to add without the rounding errors",
                Topic::Quotients => "to have quotients and roots rounded once",
                Topic::Functions => "to have the same functions on both sides",
                Topic::Tf32 | Topic::NarrowFactors => "to have products in f32",
                Topic::TensorCores => "to compute without tensor cores",
            };
            lines.push(Line::default());
            lines.push(Line::of(Role::Label, "what to do").and(Role::Plain, format!(", {to}")));
        }
        let text = format!("{} ({})", row.text, row.source);
        let mut wrapped = wrap(Role::Plain, &text, 10, COLUMNS);
        if let Some(first) = wrapped.first_mut() {
            let text = first.to_string();
            *first = Line::of(Role::Strong, format!("  {:<8}", row.toolchain)).and(Role::Plain, text.trim_start());
        }
        lines.extend(wrapped);
    }
}
