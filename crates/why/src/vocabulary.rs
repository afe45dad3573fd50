//! What words mean in the languages that people paste from: types, CUDA's conversions, functions.

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::{NarrowBy, Typed};
use roundonce_functions::Function;

use crate::call::Call;
use crate::expr::Expr;
use crate::integer::{IntegerCast, IntegerType};
use crate::literals::Language;

/// The type that a name is in some language.
pub(crate) fn type_of(name: &str) -> Option<Format> {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    Some(match last {
        "float" | "f32" | "float32" | "Float32" | "float32_t" => Format::F32,
        "double" | "f64" | "float64" | "Float64" | "float64_t" => Format::F64,
        "half" | "__half" | "f16" | "float16" | "Float16" | "_Float16" | "float16_t" => Format::F16,
        "bfloat16" | "bf16" | "__nv_bfloat16" | "BFloat16" | "nv_bfloat16" => Format::BF16,
        _ => return None,
    })
}

/// The words that C's types of integers are made of.
const INTEGER_WORDS: [&str; 6] = ["int", "long", "short", "char", "signed", "unsigned"];

/// A type of integers by its name, or its words as C has them; `long` has 64 bits, as on Linux.
pub(crate) fn integer_type(words: &[&str]) -> Option<IntegerType> {
    let of = |bits, is_signed| Some(IntegerType { bits, is_signed });
    if words.iter().all(|word| INTEGER_WORDS.contains(word)) {
        let count = |word: &str| words.iter().filter(|it| **it == word).count();
        let bits = match (count("long"), count("short"), count("char"), count("int")) {
            (0, 0, 0, _) => 32,
            (1 | 2, 0, 0, _) => 64,
            (0, 1, 0, _) => 16,
            (0, 0, 1, 0) => 8,
            _ => return None,
        };
        let is_one = count("int") <= 1 && count("signed") + count("unsigned") <= 1 && !words.is_empty();
        return is_one.then_some(IntegerType { bits, is_signed: count("unsigned") == 0 });
    }
    let &[name] = words else { return None };
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    match last {
        "int" | "i32" | "int32" | "int32_t" | "Int32" => of(32, true),
        "long" | "i64" | "int64" | "int64_t" | "Int64" => of(64, true),
        "i16" | "int16" | "int16_t" | "Int16" => of(16, true),
        "i8" | "int8" | "int8_t" | "Int8" => of(8, true),
        "uint" | "u32" | "uint32" | "uint32_t" | "UInt32" => of(32, false),
        "ulong" | "u64" | "uint64" | "uint64_t" | "UInt64" | "size_t" => of(64, false),
        "ushort" | "u16" | "uint16" | "uint16_t" | "UInt16" => of(16, false),
        "uchar" | "u8" | "uint8" | "uint8_t" | "UInt8" => of(8, false),
        _ => None,
    }
}

/// A cast to a type of integers, which cuts: by its name in the place of a function's.
fn integer_cast(name: &str, language: Option<Language>) -> Option<Call> {
    let cast = IntegerCast::written(integer_type(&[name])?, NarrowBy::Direction(Rounding::TowardZero));
    match language {
        // Python's has no limit.
        Some(language) if name == "int" && language.is_python() => Some(Call::Trunc),
        None => Some(Call::ToInteger(IntegerCast { may_be_unlimited: name == "int", ..cast })),
        Some(_) => Some(Call::ToInteger(cast)),
    }
}

/// What gives an integer of a number: a type of integers, CUDA's conversions, C's.
pub(crate) fn to_integer(name: &str, language: Option<Language>) -> Option<Call> {
    let call = |bits, is_signed, by| Some(Call::ToInteger(IntegerCast::written(IntegerType { bits, is_signed }, by)));
    let nearest = NarrowBy::Direction(Rounding::NearestEven);
    match name.strip_prefix("std::").unwrap_or(name) {
        "lrint" | "lrintf" | "llrint" | "llrintf" => return call(64, true, nearest),
        "lround" | "lroundf" | "llround" | "llroundf" => return call(64, true, NarrowBy::TiesAway),
        _ => {}
    }
    if let Some(cast) = integer_cast(name, language) {
        return Some(cast);
    }
    let (types, rounding) = name.strip_prefix("__")?.rsplit_once('_')?;
    let (from, to) = types.split_once('2')?;
    let by = NarrowBy::Direction(direction(rounding)?);
    match to {
        _ if !matches!(from, "float" | "double" | "half" | "bfloat16") => None,
        "int" => call(32, true, by),
        "uint" => call(32, false, by),
        "ll" => call(64, true, by),
        "ull" => call(64, false, by),
        "short" => call(16, true, by),
        "ushort" => call(16, false, by),
        "char" => call(8, true, by),
        "uchar" => call(8, false, by),
        _ => None,
    }
}

/// A direction of rounding as CUDA has it.
fn direction(name: &str) -> Option<Rounding> {
    match name {
        "rn" => Some(Rounding::NearestEven),
        "rz" => Some(Rounding::TowardZero),
        "rd" => Some(Rounding::Down),
        "ru" => Some(Rounding::Up),
        _ => None,
    }
}

/// CUDA's conversions, and the type that they round to.
static CONVERSIONS: [(&str, Format); 9] = [
    ("__float2half", Format::F16),
    ("__float2half_rn", Format::F16),
    ("__half2float", Format::F32),
    ("__float2bfloat16", Format::BF16),
    ("__float2bfloat16_rn", Format::BF16),
    ("__bfloat162float", Format::F32),
    ("__double2float_rn", Format::F32),
    ("__double2half", Format::F16),
    ("__double2bfloat16", Format::BF16),
];

/// CUDA's conversions in a direction that no mode changes.
fn directed(types: &str, by: &str) -> Option<Call> {
    let to = match types {
        "__float2half" => Format::F16,
        "__float2bfloat16" => Format::BF16,
        "__double2float" => Format::F32,
        _ => return None,
    };
    direction(by).map(|by| Call::RoundTo(to, by))
}

pub(crate) fn is_keyword(name: &str) -> bool {
    matches!(name, "const" | "let" | "var" | "auto" | "local" | "return" | "volatile" | "constexpr" | "static")
}

/// What a call does that is no [`Call`].
#[derive(Clone, Copy)]
pub(crate) enum Built {
    Fma,
    /// A product and a sum, which may be fused.
    Mad,
    /// x (1 − a) + y a.
    Mix,
    /// a + t (b − a).
    Lerp,
    /// b − (b − a) (1 − t).
    LerpFromEnd,
    Clamp,
    /// The same with a NaN where one is given.
    Clip,
    Square,
    Add,
    Sub,
    Mul,
    /// CUDA's `__fadd_rn`: fused with nothing.
    AloneAdd,
    AloneSub,
    AloneMul,
}

static BUILT: [(&str, Built); 16] = [
    ("fma", Built::Fma),
    ("fma_rn", Built::Fma),
    ("mad", Built::Mad),
    ("mix", Built::Mix),
    ("lerp", Built::Lerp),
    ("clamp", Built::Clamp),
    ("clip", Built::Clip),
    ("square", Built::Square),
    ("add", Built::Add),
    ("subtract", Built::Sub),
    ("sub", Built::Sub),
    ("multiply", Built::Mul),
    ("mul", Built::Mul),
    ("add_rn", Built::AloneAdd),
    ("sub_rn", Built::AloneSub),
    ("mul_rn", Built::AloneMul),
];

impl Built {
    pub(crate) const fn arity(self) -> usize {
        match self {
            Built::Square => 1,
            Built::Fma | Built::Mad | Built::Mix | Built::Lerp | Built::LerpFromEnd | Built::Clamp | Built::Clip => 3,
            _ => 2,
        }
    }

    /// What it is made of, given as many operands as it takes.
    pub(crate) fn build(self, operands: &[Expr]) -> Expr {
        let at = |index: usize| Box::new(operands[index].clone());
        let alone = |expr| Expr::Round(None, Box::new(expr));
        let boxed_alone = |index| Box::new(Expr::Round(None, at(index)));
        let rest = || {
            let one = Expr::Value(Typed { format: Format::F64, bits: Format::F64.one() }, "1".to_owned());
            Box::new(Expr::Sub(Box::new(one), at(2)))
        };
        match self {
            Built::Fma => Expr::Fma(at(0), at(1), at(2)),
            Built::Mad => Expr::Add(Box::new(Expr::Mul(at(0), at(1))), at(2)),
            Built::Mix => Expr::Add(Box::new(Expr::Mul(at(0), rest())), Box::new(Expr::Mul(at(1), at(2)))),
            Built::Lerp => {
                let way = Expr::Sub(at(1), at(0));
                Expr::Add(at(0), Box::new(Expr::Mul(at(2), Box::new(way))))
            }
            Built::LerpFromEnd => {
                let way = Expr::Sub(at(1), at(0));
                Expr::Sub(at(1), Box::new(Expr::Mul(Box::new(way), rest())))
            }
            Built::Clamp => clamped(Call::Max, Call::Min, operands),
            Built::Clip => clamped(Call::MaxNan, Call::MinNan, operands),
            Built::Square => Expr::Mul(at(0), at(0)),
            Built::Mul => Expr::Mul(at(0), at(1)),
            Built::Add => Expr::Add(at(0), at(1)),
            Built::Sub => Expr::Sub(at(0), at(1)),
            Built::AloneAdd => alone(Expr::Add(boxed_alone(0), boxed_alone(1))),
            Built::AloneSub => alone(Expr::Sub(boxed_alone(0), boxed_alone(1))),
            Built::AloneMul => alone(Expr::Mul(at(0), at(1))),
        }
    }
}

/// Not below the second operand, and not above the third.
fn clamped(max: Call, min: Call, operands: &[Expr]) -> Expr {
    let [x, low, high] = [0, 1, 2].map(|index| operands[index].clone());
    Expr::Call(min, vec![Expr::Call(max, vec![x, low]), high])
}

/// What a function's name means.
pub(crate) enum Meaning {
    Call(Call),
    Built(Built),
    Cast(Format),
}

/// A function by its name in a language, in any where none is said: `sqrtf`, `__fmaf_rn`, `np.exp`, `std::fma`, `__expf`, `float`.
pub(crate) fn meaning(name: &str, language: Option<Language>) -> Option<Meaning> {
    // Python's is a double.
    if name == "float" && language.is_some_and(Language::is_python) {
        return Some(Meaning::Cast(Format::F64));
    }
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    if let Some((_, format)) = CONVERSIONS.iter().find(|(known, _)| *known == last) {
        return Some(Meaning::Cast(*format));
    }
    if let Some(call) = last.rsplit_once('_').and_then(|(types, by)| directed(types, by)) {
        return Some(Meaning::Call(call));
    }
    if let Some(format) = type_of(name) {
        return Some(Meaning::Cast(format));
    }
    if let Some(call) = to_integer(name, language) {
        return Some(Meaning::Call(call));
    }
    // JavaScript's ties go up.
    if name == "Math.round" {
        return None;
    }
    let gives_nan = gives_nan(name, language);
    let rounds_to_even = rounds_to_even(name, language);
    let plain = |name: &str| {
        match name {
            "min" if gives_nan => return Some(Meaning::Call(Call::MinNan)),
            "max" if gives_nan => return Some(Meaning::Call(Call::MaxNan)),
            "clamp" if gives_nan => return Some(Meaning::Built(Built::Clip)),
            "round" if rounds_to_even => return Some(Meaning::Call(Call::Rint)),
            _ => {}
        }
        let built = BUILT.iter().find(|(known, _)| *known == name).map(|(_, built)| Meaning::Built(*built));
        built.or_else(|| Call::named(name).map(Meaning::Call))
    };
    let intrinsic = || {
        // `__fmaf_rn`, `__fsqrt_rn`, `__dmul_rn`, `__fdividef`, `__expf`: of CUDA.
        let name = last.strip_prefix("__")?;
        if let Some(exact) = name.strip_suffix("_rn") {
            let stem = exact.strip_prefix(['f', 'd']).unwrap_or(exact);
            return match stem {
                "add" | "sub" | "mul" => plain(&format!("{stem}_rn")),
                "div" => Some(Meaning::Call(Call::Function(Function::Divide))),
                "maf" | "ma" => Some(Meaning::Built(Built::Fma)),
                _ => plain(stem),
            };
        }
        name.strip_suffix('f').and_then(plain)
    };
    plain(last).or_else(|| last.strip_suffix('f').and_then(plain)).or_else(intrinsic)
}

/// Whether `min`, `max` and `clamp` give NaN where an operand is one: Julia's do, and torch's, whose `torch.min(a, b)` is
/// `torch.minimum`. Everywhere else they give the number, as `fmin` of every language does.
fn gives_nan(name: &str, language: Option<Language>) -> bool {
    name.starts_with("torch.") || language == Some(Language::Julia)
}

/// Whether `round` takes the even one of two integers as near. C's and what follows it take the one further from zero.
fn rounds_to_even(name: &str, language: Option<Language>) -> bool {
    let of_library = name.split_once('.').map(|(library, _)| library);
    let is_even = |language| {
        matches!(language, Language::Numpy | Language::Torch | Language::Jax | Language::Julia | Language::Wgsl)
    };
    match of_library {
        Some("lax") => false,
        Some("np" | "numpy" | "jnp" | "torch" | "tf") => true,
        _ => language.is_some_and(is_even),
    }
}

/// A library's `lerp`, where the weight is a literal, with that.
///
/// # Errors
/// Which expression to write, where the values decide it.
pub(crate) fn lerp(name: &str, language: Option<Language>, weight: Option<f64>) -> Result<Built, String> {
    let is_torch = name.starts_with("torch.") || language == Some(Language::Torch);
    match weight {
        _ if name.starts_with("std::") => Err(format!(
            "`{name}` has another expression for each order and sign of its operands: expected the one that your library \
             computes for these"
        )),
        None if is_torch => Err(format!(
            "`{name}` computes a + t * (b - a) where |t| is below a half, and b - (b - a) * (1 - t) elsewhere: expected one \
             of them, or a literal as the weight"
        )),
        Some(weight) if is_torch && weight.abs() >= 0.5 => Ok(Built::LerpFromEnd),
        _ => Ok(Built::Lerp),
    }
}

/// C's functions of doubles; those of floats have an `f` behind them.
#[rustfmt::skip] // A table.
static DOUBLES: &[&str] = &[
    "fma", "sqrt", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "cbrt", "hypot", "pow", "fmin", "fmax", "fminimum", "fmaximum",
    "fminimum_num", "fmaximum_num", "fabs", "copysign", "floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "round", "fmod",
];

/// The type that a function's operands are converted to, where its name says it: in C, which has no overloads.
pub(crate) fn operand_type(name: &str, language: Option<Language>) -> Option<Format> {
    let is_double = |name: &str| DOUBLES.contains(&name);
    match language {
        Some(Language::C) if is_double(name) => Some(Format::F64),
        Some(Language::C) if name.strip_suffix('f').is_some_and(is_double) => Some(Format::F32),
        _ => None,
    }
}
