//! What documents allow functions to give beside the correctly rounded value.
//!
//! A row says whose function it is, how far its value may lie from which, and where that stands. Most bounds are what
//! tests found, not what is proved; no row says which value a machine gives.

use roundonce_arith::{Format, Profile, Rounding};
use roundonce_deviate::{Approximation, Typed};
use roundonce_functions::{Function, approximate};
use roundonce_isa::{convert, hex_bits};

use crate::call::rounded_function;
use crate::search::{at_place, place};

/// How far a value may lie.
#[derive(Clone, Copy, Debug)]
enum Bound {
    /// So many representable values from the correctly rounded one.
    Values(f64),
    /// So many units in the last place from the exact value.
    Ulps(f64),
    /// These, and more with the operand's magnitude: ulps + slope |x|.
    Rising(f64, f64),
    /// So far from the exact value between 1/2 and 2; elsewhere so many ulps.
    NearOne(f64, f64),
    /// So far from the exact value, for operands up to a magnitude.
    Absolute(f64, f64),
    /// So much of the exact value.
    Relative(f64),
}

/// Functions of one document with a bound each.
struct Document {
    /// `CUDA`, in the texts.
    name: &'static str,
    /// Where it stands.
    source: &'static str,
    format: Format,
    rows: &'static [(Function, &'static str, Bound)],
}

use Bound::{Absolute, NearOne, Relative, Rising, Ulps, Values};

const PI: f64 = std::f64::consts::PI;

const fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

static DOCUMENTS: &[Document] = &[
    Document {
        name: "CUDA",
        source: "CUDA C++ Programming Guide, mathematical functions, table of single precision",
        format: Format::F32,
        rows: &[
            (Function::ReciprocalSquareRoot, "rsqrtf", Values(2.0)),
            (Function::Exp, "expf", Values(2.0)),
            (Function::Exp2, "exp2f", Values(2.0)),
            (Function::Log, "logf", Values(1.0)),
            (Function::Log2, "log2f", Values(1.0)),
            (Function::Sin, "sinf", Values(2.0)),
            (Function::Cos, "cosf", Values(2.0)),
            (Function::Tan, "tanf", Values(4.0)),
            (Function::Asin, "asinf", Values(4.0)),
            (Function::Acos, "acosf", Values(3.0)),
            (Function::Atan, "atanf", Values(2.0)),
            (Function::Sinh, "sinhf", Values(3.0)),
            (Function::Cosh, "coshf", Values(2.0)),
            (Function::Tanh, "tanhf", Values(2.0)),
            (Function::Asinh, "asinhf", Values(3.0)),
            (Function::Acosh, "acoshf", Values(4.0)),
            (Function::Atanh, "atanhf", Values(3.0)),
            (Function::Pow, "powf", Values(9.0)),
            (Function::Erf, "erff", Values(2.0)),
            (Function::Exp10, "exp10f", Values(2.0)),
            (Function::ExpM1, "expm1f", Values(1.0)),
            (Function::Log10, "log10f", Values(2.0)),
            (Function::Log1P, "log1pf", Values(1.0)),
            (Function::Cbrt, "cbrtf", Values(1.0)),
            (Function::Hypot, "hypotf", Values(3.0)),
            (Function::Atan2, "atan2f", Values(3.0)),
        ],
    },
    Document {
        name: "CUDA with -use_fast_math",
        source: "CUDA C++ Programming Guide, intrinsic functions; -prec-div=false, -prec-sqrt=false",
        format: Format::F32,
        rows: &[
            (Function::Divide, "__fdividef", Values(2.0)),
            (Function::Reciprocal, "1/x", Values(1.0)),
            (Function::SquareRoot, "sqrtf", Values(3.0)),
            (Function::ReciprocalSquareRoot, "rsqrtf", Values(2.0)),
            (Function::Exp, "__expf", Rising(2.0, 1.173)),
            (Function::Exp2, "exp2f", Values(2.0)),
            (Function::Log, "__logf", NearOne(3.594_5e-7, 3.0)), // 2^-21.41
            (Function::Log2, "__log2f", NearOne(power(-22), 2.0)),
            (Function::Sin, "__sinf", Absolute(3.594_5e-7, PI)),
            (Function::Cos, "__cosf", Absolute(4.186_7e-7, PI)), // 2^-21.19
        ],
    },
    Document {
        name: "CUDA",
        source: "CUDA C++ Programming Guide, mathematical functions, table of double precision",
        format: Format::F64,
        rows: &[
            (Function::ReciprocalSquareRoot, "rsqrt", Values(1.0)),
            (Function::Exp, "exp", Values(1.0)),
            (Function::Exp2, "exp2", Values(1.0)),
            (Function::Log, "log", Values(1.0)),
            (Function::Log2, "log2", Values(1.0)),
            (Function::Sin, "sin", Values(2.0)),
            (Function::Cos, "cos", Values(2.0)),
            (Function::Tan, "tan", Values(2.0)),
            (Function::Asin, "asin", Values(2.0)),
            (Function::Acos, "acos", Values(2.0)),
            (Function::Atan, "atan", Values(2.0)),
            (Function::Sinh, "sinh", Values(2.0)),
            (Function::Cosh, "cosh", Values(1.0)),
            (Function::Tanh, "tanh", Values(1.0)),
            (Function::Asinh, "asinh", Values(3.0)),
            (Function::Acosh, "acosh", Values(3.0)),
            (Function::Atanh, "atanh", Values(2.0)),
            (Function::Pow, "pow", Values(2.0)),
            (Function::Erf, "erf", Values(2.0)),
            (Function::Exp10, "exp10", Values(1.0)),
            (Function::ExpM1, "expm1", Values(1.0)),
            (Function::Log10, "log10", Values(1.0)),
            (Function::Log1P, "log1p", Values(1.0)),
            (Function::Cbrt, "cbrt", Values(1.0)),
            (Function::Hypot, "hypot", Values(2.0)),
            (Function::Atan2, "atan2", Values(2.0)),
        ],
    },
    Document {
        name: "PTX",
        source: "PTX ISA, floating-point instructions with .approx and .full",
        format: Format::F32,
        rows: &[
            (Function::Divide, "div.full", Ulps(2.0)),
            (Function::Reciprocal, "rcp.approx", Ulps(1.0)),
            (Function::SquareRoot, "sqrt.approx", Relative(power(-23))),
            (Function::ReciprocalSquareRoot, "rsqrt.approx", Relative(1.278e-7)), // 2^-22.9
            (Function::Exp2, "ex2.approx", Ulps(2.0)),
            (Function::Log2, "lg2.approx", NearOne(power(-22), 2.0)),
            (Function::Sin, "sin.approx", Absolute(6.743_5e-7, 2.0 * PI)), // 2^-20.5
            (Function::Cos, "cos.approx", Absolute(6.743_5e-7, 2.0 * PI)),
            (Function::Tanh, "tanh.approx", Relative(power(-11))),
        ],
    },
    Document {
        name: "OpenCL",
        source: "OpenCL SPIR-V Environment, Relative Error as ULPs, full profile, Float32",
        format: Format::F32,
        rows: OPENCL_F32,
    },
    Document {
        name: "OpenCL",
        source: "OpenCL SPIR-V Environment, Relative Error as ULPs, full profile, Float64",
        format: Format::F64,
        rows: OPENCL_F64,
    },
    Document {
        name: "OpenCL",
        source: "OpenCL SPIR-V Environment, Relative Error as ULPs, full profile, Float16",
        format: Format::F16,
        rows: &[
            (Function::ReciprocalSquareRoot, "rsqrt", Ulps(1.0)),
            (Function::Exp, "exp", Ulps(2.0)),
            (Function::Exp2, "exp2", Ulps(2.0)),
            (Function::Log, "log", Ulps(2.0)),
            (Function::Log2, "log2", Ulps(2.0)),
            (Function::Sin, "sin", Ulps(2.0)),
            (Function::Cos, "cos", Ulps(2.0)),
            (Function::Tan, "tan", Ulps(2.0)),
            (Function::Sinh, "sinh", Ulps(2.0)),
            (Function::Cosh, "cosh", Ulps(2.0)),
            (Function::Tanh, "tanh", Ulps(2.0)),
            (Function::Pow, "pow", Ulps(4.0)),
            (Function::Erf, "erf", Ulps(4.0)),
        ],
    },
    Document {
        name: "Vulkan",
        source: "Vulkan specification, Precision and Operation of SPIR-V Instructions, 32 bits",
        format: Format::F32,
        rows: &[
            (Function::Divide, "OpFDiv", Ulps(2.5)),
            (Function::ReciprocalSquareRoot, "InverseSqrt", Ulps(2.0)),
            (Function::Exp, "Exp", Rising(3.0, 2.0)),
            (Function::Exp2, "Exp2", Rising(3.0, 2.0)),
            (Function::Log, "Log", NearOne(power(-21), 3.0)),
            (Function::Log2, "Log2", NearOne(power(-21), 3.0)),
            (Function::Sin, "Sin", Absolute(power(-11), PI)),
            (Function::Cos, "Cos", Absolute(power(-11), PI)),
        ],
    },
    Document {
        name: "glibc",
        source: "glibc manual, Known Maximum Errors in Math Functions, x86_64",
        format: Format::F32,
        rows: GLIBC,
    },
    Document {
        name: "glibc",
        source: "glibc manual, Known Maximum Errors in Math Functions, x86_64",
        format: Format::F64,
        rows: GLIBC,
    },
    Document {
        name: "NumPy",
        source: "NumPy 1.22 release notes: vectorized functions within 4 ulp",
        format: Format::F32,
        rows: NUMPY,
    },
    Document {
        name: "NumPy",
        source: "NumPy 1.22 release notes: vectorized functions within 4 ulp",
        format: Format::F64,
        rows: NUMPY,
    },
];

static OPENCL_F64: &[(Function, &str, Bound)] = &[
    (Function::ReciprocalSquareRoot, "rsqrt", Ulps(2.0)),
    (Function::Exp, "exp", Ulps(3.0)),
    (Function::Exp2, "exp2", Ulps(3.0)),
    (Function::Log, "log", Ulps(3.0)),
    (Function::Log2, "log2", Ulps(3.0)),
    (Function::Sin, "sin", Ulps(4.0)),
    (Function::Cos, "cos", Ulps(4.0)),
    (Function::Tan, "tan", Ulps(5.0)),
    (Function::Asin, "asin", Ulps(4.0)),
    (Function::Acos, "acos", Ulps(4.0)),
    (Function::Atan, "atan", Ulps(5.0)),
    (Function::Sinh, "sinh", Ulps(4.0)),
    (Function::Cosh, "cosh", Ulps(4.0)),
    (Function::Tanh, "tanh", Ulps(5.0)),
    (Function::Asinh, "asinh", Ulps(4.0)),
    (Function::Acosh, "acosh", Ulps(4.0)),
    (Function::Atanh, "atanh", Ulps(5.0)),
    (Function::Pow, "pow", Ulps(16.0)),
    (Function::Erf, "erf", Ulps(16.0)),
    (Function::Exp10, "exp10", Ulps(3.0)),
    (Function::ExpM1, "expm1", Ulps(3.0)),
    (Function::Log10, "log10", Ulps(3.0)),
    (Function::Log1P, "log1p", Ulps(2.0)),
    (Function::Cbrt, "cbrt", Ulps(2.0)),
    (Function::Hypot, "hypot", Ulps(4.0)),
    (Function::Atan2, "atan2", Ulps(6.0)),
];

/// As in double precision, but for quotients and roots.
static OPENCL_F32: &[(Function, &str, Bound)] = &{
    let mut rows = [(Function::Divide, "OpFDiv", Ulps(2.5)); OPENCL_F64.len() + 2];
    rows[1] = (Function::SquareRoot, "sqrt", Ulps(3.0));
    let mut at = 0;
    while at < OPENCL_F64.len() {
        rows[at + 2] = OPENCL_F64[at];
        at += 1;
    }
    rows
};

static GLIBC: &[(Function, &str, Bound)] = &[
    (Function::Exp, "exp", Ulps(1.0)),
    (Function::Exp2, "exp2", Ulps(1.0)),
    (Function::Log, "log", Ulps(1.0)),
    (Function::Log2, "log2", Ulps(2.0)),
    (Function::Sin, "sin", Ulps(1.0)),
    (Function::Cos, "cos", Ulps(1.0)),
    (Function::Tan, "tan", Ulps(1.0)),
    (Function::Asin, "asin", Ulps(1.0)),
    (Function::Acos, "acos", Ulps(1.0)),
    (Function::Atan, "atan", Ulps(1.0)),
    (Function::Sinh, "sinh", Ulps(2.0)),
    (Function::Cosh, "cosh", Ulps(2.0)),
    (Function::Tanh, "tanh", Ulps(2.0)),
    (Function::Asinh, "asinh", Ulps(2.0)),
    (Function::Acosh, "acosh", Ulps(2.0)),
    (Function::Atanh, "atanh", Ulps(2.0)),
    (Function::Pow, "pow", Ulps(1.0)),
    (Function::Erf, "erf", Ulps(1.0)),
];

static NUMPY: &[(Function, &str, Bound)] = &[
    (Function::Exp, "exp", Ulps(4.0)),
    (Function::Exp2, "exp2", Ulps(4.0)),
    (Function::Log, "log", Ulps(4.0)),
    (Function::Log2, "log2", Ulps(4.0)),
    (Function::Sin, "sin", Ulps(4.0)),
    (Function::Cos, "cos", Ulps(4.0)),
    (Function::Tan, "tan", Ulps(4.0)),
    (Function::Asin, "arcsin", Ulps(4.0)),
    (Function::Acos, "arccos", Ulps(4.0)),
    (Function::Atan, "arctan", Ulps(4.0)),
    (Function::Sinh, "sinh", Ulps(4.0)),
    (Function::Cosh, "cosh", Ulps(4.0)),
    (Function::Tanh, "tanh", Ulps(4.0)),
    (Function::Asinh, "arcsinh", Ulps(4.0)),
    (Function::Acosh, "arccosh", Ulps(4.0)),
    (Function::Atanh, "arctanh", Ulps(4.0)),
    (Function::Pow, "power", Ulps(4.0)),
];

/// A document, one bit each: values of several functions stand together where one document allows all of them.
pub(crate) type Documents = u32;

/// Every document.
pub(crate) const ALL_DOCUMENTS: Documents = (1 << DOCUMENTS.len()) - 1;

/// Values farther from the correctly rounded one are not tried.
const FARTHEST_VALUE: i32 = 64;

/// A value that a function may give.
pub(crate) struct AllowedValue {
    pub(crate) approximation: Approximation,
    pub(crate) documents: Documents,
}

/// What a function may give in the place of the correctly rounded value, nearest first.
pub(crate) fn allowed(
    function: Function,
    (call, operands): (&str, &[u64]),
    rounded: Typed,
    profile: &Profile,
) -> Vec<AllowedValue> {
    let Typed { format, bits } = rounded;
    if format.is_nan(bits) || bits & format.magnitude_mask() == format.infinity() {
        return Vec::new();
    }
    let exact = Exact::of(function, format, operands, bits, profile);
    let reach: Vec<(usize, String, [f64; 2])> = DOCUMENTS
        .iter()
        .enumerate()
        .filter(|(_, document)| document.format == format)
        .flat_map(|(index, document)| document.rows.iter().map(move |row| (index, document, row)))
        .filter(|(_, _, (of, ..))| *of == function)
        .map(|(index, document, (_, name, bound))| {
            (index, format!("{name} of {} ({})", document.name, bound.text()), exact.reach(*bound))
        })
        .collect();
    let mut values = Vec::new();
    for distance in 1..=FARTHEST_VALUE {
        for steps in [distance, -distance] {
            let by = reach
                .iter()
                .filter(|(_, _, [below, above])| f64::from(distance) <= if steps > 0 { *above } else { *below });
            let by: Vec<&(usize, String, [f64; 2])> = by.collect();
            let value = at_place(format, place(format, bits) + i128::from(steps));
            if by.is_empty() {
                continue;
            }
            values.push(AllowedValue {
                documents: by.iter().fold(0, |all, (index, ..)| all | 1 << index),
                approximation: Approximation {
                    call: call.to_owned(),
                    steps,
                    bits: Some(hex_bits(format.width(), value)),
                    allowed_by: by.into_iter().map(|(_, text, _)| text.clone()).collect(),
                },
            });
        }
    }
    values
}

/// What a document says of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccuracyRow {
    /// Whose.
    pub library: &'static str,
    /// The type of operands and result.
    pub format: Format,
    /// The function's name there.
    pub name: &'static str,
    /// How far its value may lie from the exact one; CUDA's tables count from the correctly rounded one.
    pub bound: String,
    /// The document.
    pub source: &'static str,
}

/// What documents allow functions to give beside the correctly rounded value.
///
/// ```
/// let expf = roundonce_why::accuracy_rows().find(|row| (row.library, row.name) == ("CUDA", "expf")).unwrap();
/// assert_eq!(expf.bound, "2 ulp");
/// ```
pub fn accuracy_rows() -> impl Iterator<Item = AccuracyRow> {
    DOCUMENTS.iter().flat_map(|document| {
        let row = |(_, name, bound): &'static (Function, &'static str, Bound)| AccuracyRow {
            library: document.name,
            format: document.format,
            name,
            bound: bound.text(),
            source: document.source,
        };
        document.rows.iter().map(row)
    })
}

impl Bound {
    fn text(self) -> String {
        match self {
            Values(1.0) => "1 ulp".to_owned(),
            Values(values) | Ulps(values) => format!("{values} ulp"),
            Rising(ulps, slope) => format!("{ulps} + {slope}|x| ulp"),
            NearOne(distance, ulps) => format!("{ulps} ulp, 2^{:.2} near 1", distance.log2()),
            Absolute(distance, _) => format!("2^{:.2}", distance.log2()),
            Relative(share) => format!("relative 2^{:.1}", share.log2()),
        }
    }
}

/// The exact value beside the correctly rounded one, as far as a bound asks for it.
struct Exact {
    /// The first operand.
    x: f64,
    /// The rounded value.
    value: f64,
    /// The distance to the next representable value.
    ulp: f64,
    /// The exact value less the rounded one, in such distances. Of f64 its sign alone is known.
    error: f64,
}

impl Exact {
    fn of(function: Function, format: Format, operands: &[u64], bits: u64, profile: &Profile) -> Exact {
        let number = |bits| f64::from_bits(convert(format, Format::F64, Rounding::NearestEven, bits).0);
        let operand = |index: usize| operands.get(index).copied().unwrap_or(0);
        let value = number(bits);
        let next = number(at_place(format, place(format, bits).abs() + 1)).abs();
        let ulp = next - value.abs();
        let error = if format == Format::F64 {
            let at = |rounding| approximate(profile, function, format, rounding, false, [operand(0), operand(1)]);
            let is_exact = at(Rounding::Down) == at(Rounding::Up);
            let is_above = at(Rounding::Down) == bits;
            if is_exact { 0.0 } else { 0.25 * if is_above { 1.0 } else { -1.0 } }
        } else {
            let wide = [0, 1].map(|index| convert(format, Format::F64, Rounding::NearestEven, operand(index)).0);
            let exact = rounded_function(profile, function, Format::F64, Rounding::NearestEven, false, wide);
            (f64::from_bits(exact) - value) / ulp
        };
        Exact { x: number(operand(0)), value, ulp, error }
    }

    /// How many representable values below and above the rounded one a bound allows. Bounds are rough: a value that lies
    /// just at one is taken.
    fn reach(&self, bound: Bound) -> [f64; 2] {
        let around = |ulps: f64| [ulps - self.error, ulps + self.error];
        let distance = |distance: f64| around(distance / self.ulp);
        match bound {
            Values(values) => [values, values],
            Ulps(ulps) => around(ulps),
            Rising(ulps, slope) => around(ulps + slope * self.x.abs()),
            NearOne(near, _) if (0.5..=2.0).contains(&self.x) => distance(near),
            NearOne(_, ulps) => around(ulps),
            Absolute(far, largest) if self.x.abs() <= largest => distance(far),
            Absolute(..) => [0.0, 0.0],
            Relative(share) => distance(share * self.value.abs()),
        }
    }
}
