//! What stands in an expression beside sums and products: quotients, roots, functions, extrema; their names in the
//! languages that people paste from, and what each computes.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

use roundonce_arith::{FiniteNumber, Flags, Format, Outcome, Profile, Rounding, Unpacked, unpack};
use roundonce_deviate::{NarrowBy, Stages};
use roundonce_functions::{Function, MinMax, approximate, copy_sign, flushed, integral, min_max, remainder, sign};

use crate::integer::IntegerCast;
use crate::search::place;

/// A function of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Call {
    /// A quotient, a root or an elementary function: rounded once where nothing else is said.
    Function(Function),
    /// The smaller of two; of a number and a NaN the number, as C's `fmin`.
    Min,
    /// The larger of two, likewise.
    Max,
    /// The smaller of two, and NaN if either is one, as NumPy's `minimum`.
    MinNan,
    /// The larger of two, likewise.
    MaxNan,
    /// The magnitude.
    Abs,
    /// The first with the sign of the second.
    CopySign,
    /// The largest integer that is not above it.
    Floor,
    /// The smallest integer that is not below it.
    Ceil,
    /// The integer next to it toward zero.
    Trunc,
    /// The nearest integer, of two as near the even one, as C's `rint`.
    Rint,
    /// The nearest integer, of two as near the one further from zero, as C's `round`.
    RoundAway,
    /// The remainder of a quotient that is cut to an integer, exact, as C's `fmod`.
    Fmod,
    /// The sign flipped, where no operation takes it.
    Negate,
    /// Rounded to the operation's type.
    Round,
    /// Rounded to a type in a direction of its own.
    RoundTo(Format, Rounding),
    /// A comparison: 1 if it holds, else 0.
    Compare(Relation),
    /// A cast to an integer.
    ToInteger(IntegerCast),
}

/// How two numbers compare; none holds of a NaN but that it is unequal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // Each is what its name says.
pub enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

impl Relation {
    /// Every relation, with the sign that languages have for it; those of two characters first.
    pub(crate) const SIGNS: [(&'static str, Relation); 6] = [
        ("<=", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("==", Relation::Equal),
        ("!=", Relation::Unequal),
        ("<", Relation::Less),
        (">", Relation::Greater),
    ];

    pub(crate) fn sign(self) -> &'static str {
        Relation::SIGNS.iter().find(|(_, relation)| *relation == self).map_or("?", |(sign, _)| *sign)
    }

    fn holds(self, format: Format, a: u64, b: u64) -> bool {
        if format.is_nan(a) || format.is_nan(b) {
            return self == Relation::Unequal;
        }
        self.accepts(place(format, a).cmp(&place(format, b)))
    }

    /// Whether it holds of two numbers in this order.
    pub(crate) fn accepts(self, order: Ordering) -> bool {
        match self {
            Relation::Less => order.is_lt(),
            Relation::AtMost => order.is_le(),
            Relation::Greater => order.is_gt(),
            Relation::AtLeast => order.is_ge(),
            Relation::Equal => order.is_eq(),
            Relation::Unequal => order.is_ne(),
        }
    }
}

/// Names without a type's suffix, and what they mean. C's `f` and CUDA's `__…f` are taken off first.
static NAMES: &[(&str, Call)] = &[
    ("sqrt", Call::Function(Function::SquareRoot)),
    ("rsqrt", Call::Function(Function::ReciprocalSquareRoot)),
    ("inversesqrt", Call::Function(Function::ReciprocalSquareRoot)),
    ("rcp", Call::Function(Function::Reciprocal)),
    ("reciprocal", Call::Function(Function::Reciprocal)),
    ("exp", Call::Function(Function::Exp)),
    ("exp2", Call::Function(Function::Exp2)),
    ("log", Call::Function(Function::Log)),
    ("log2", Call::Function(Function::Log2)),
    ("sin", Call::Function(Function::Sin)),
    ("cos", Call::Function(Function::Cos)),
    ("tan", Call::Function(Function::Tan)),
    ("asin", Call::Function(Function::Asin)),
    ("acos", Call::Function(Function::Acos)),
    ("atan", Call::Function(Function::Atan)),
    ("sinh", Call::Function(Function::Sinh)),
    ("cosh", Call::Function(Function::Cosh)),
    ("tanh", Call::Function(Function::Tanh)),
    ("asinh", Call::Function(Function::Asinh)),
    ("acosh", Call::Function(Function::Acosh)),
    ("atanh", Call::Function(Function::Atanh)),
    ("erf", Call::Function(Function::Erf)),
    ("exp10", Call::Function(Function::Exp10)),
    ("expm1", Call::Function(Function::ExpM1)),
    ("log10", Call::Function(Function::Log10)),
    ("log1p", Call::Function(Function::Log1P)),
    ("cbrt", Call::Function(Function::Cbrt)),
    ("hypot", Call::Function(Function::Hypot)),
    ("atan2", Call::Function(Function::Atan2)),
    ("pow", Call::Function(Function::Pow)),
    ("power", Call::Function(Function::Pow)),
    ("divide", Call::Function(Function::Divide)),
    ("true_divide", Call::Function(Function::Divide)),
    ("fdivide", Call::Function(Function::Divide)),
    ("min", Call::Min),
    ("fmin", Call::Min),
    ("minimum", Call::MinNan),
    ("fminimum", Call::MinNan),
    ("fminimum_num", Call::Min),
    ("max", Call::Max),
    ("fmax", Call::Max),
    ("maximum", Call::MaxNan),
    ("fmaximum", Call::MaxNan),
    ("fmaximum_num", Call::Max),
    ("abs", Call::Abs),
    ("fabs", Call::Abs),
    ("absolute", Call::Abs),
    ("copysign", Call::CopySign),
    ("floor", Call::Floor),
    ("ceil", Call::Ceil),
    ("trunc", Call::Trunc),
    ("rint", Call::Rint),
    ("nearbyint", Call::Rint),
    ("roundeven", Call::Rint),
    ("roundEven", Call::Rint),
    ("round_ties_even", Call::Rint),
    ("round", Call::RoundAway),
    ("fmod", Call::Fmod),
];

impl Call {
    /// A name for each function.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(|(name, call)| call.name() == *name).map(|(name, _)| *name)
    }

    /// A function by the name without prefixes and suffixes.
    pub(crate) fn named(name: &str) -> Option<Call> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, call)| *call)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Call::Function(Function::Divide) => "div",
            Call::Negate => "neg",
            Call::Round | Call::RoundTo(..) => "cvt",
            Call::Compare(relation) => relation.sign(),
            Call::ToInteger(cast) => cast.to.name(),
            _ => NAMES.iter().find(|(_, call)| *call == self).map_or("?", |(name, _)| *name),
        }
    }

    /// How many operands it takes.
    pub const fn arity(self) -> usize {
        match self {
            Call::Function(Function::Divide | Function::Pow | Function::Atan2 | Function::Hypot)
            | Call::Min
            | Call::Max
            | Call::MinNan
            | Call::MaxNan
            | Call::CopySign
            | Call::Fmod
            | Call::Compare(_) => 2,
            _ => 1,
        }
    }

    /// Whether it rounds to another type.
    pub(crate) const fn is_cast(self) -> bool {
        matches!(self, Call::Round | Call::RoundTo(..))
    }

    /// Whether its results are whole numbers: the ones beside them are never given.
    pub(crate) const fn gives_whole(self) -> bool {
        match self {
            Call::Floor
            | Call::Ceil
            | Call::Trunc
            | Call::Rint
            | Call::RoundAway
            | Call::Compare(_)
            | Call::ToInteger(_) => true,
            Call::Function(_)
            | Call::Min
            | Call::Max
            | Call::MinNan
            | Call::MaxNan
            | Call::Abs
            | Call::CopySign
            | Call::Fmod
            | Call::Negate
            | Call::Round
            | Call::RoundTo(..) => false,
        }
    }

    /// Whether it keeps subnormals of a format where others are flushed: what sets signs alone. PTX has `abs.ftz` of f32 and
    /// f16, but no `copysign.ftz`; processors set f64's signs bit by bit.
    pub(crate) fn keeps_subnormals(self, format: Format) -> bool {
        match self {
            Call::CopySign | Call::Negate => true,
            Call::Abs => format == Format::F64,
            _ => false,
        }
    }

    /// Whether hardware or a library computes it otherwise than by rounding the exact value once.
    pub(crate) const fn function(self) -> Option<Function> {
        match self {
            Call::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Its result on bits of the format that the stages compute in, and whether that was rounded, where flags are asked
    /// for. Elementary functions are rounded to nearest whatever the direction.
    pub(crate) fn compute(self, stages: &Stages, bits: &[u64], wants_flags: bool) -> Outcome {
        let (operation, profile) = (&stages.operation, &stages.profile);
        let (format, flush) = (operation.format, operation.flush);
        let [a, b] = [0, 1].map(|index| bits.get(index).copied().unwrap_or(0));
        let clean = |bits: u64| flushed(format, flush, bits);
        let exact = |bits: u64| Outcome { bits, flags: Flags::NONE };
        match self {
            Call::Function(function) => {
                let at = |rounding| rounded_function(profile, function, format, rounding, flush, [a, b]);
                let rounding = if is_directed(function) { operation.rounding } else { Rounding::NearestEven };
                let bits = at(rounding);
                let is_inexact =
                    wants_flags && [Rounding::Down, Rounding::Up].into_iter().any(|other| at(other) != bits);
                let mut flags = Flags::NONE;
                if is_inexact {
                    flags = flags.union(Flags::INEXACT);
                    if format.is_subnormal(bits) {
                        flags = flags.union(Flags::UNDERFLOW);
                    }
                }
                Outcome { bits, flags }
            }
            Call::Min | Call::Max | Call::MinNan | Call::MaxNan => {
                let max = matches!(self, Call::Max | Call::MaxNan);
                let nan = matches!(self, Call::MinNan | Call::MaxNan);
                let op = MinMax { format, max, flush, nan, xorsign_abs: false };
                exact(min_max(profile, op, [a, b]))
            }
            Call::Abs => exact(sign(format, false, flush, a)),
            Call::CopySign => exact(copy_sign(format, b, a)),
            Call::Negate => exact(sign(format, true, false, a)),
            Call::Round | Call::RoundTo(..) => exact(clean(a)),
            Call::Compare(relation) => exact(if relation.holds(format, clean(a), clean(b)) { format.one() } else { 0 }),
            Call::Floor => exact(whole(profile, format, Rounding::Down, clean(a))),
            Call::Ceil => exact(whole(profile, format, Rounding::Up, clean(a))),
            Call::Trunc => exact(whole(profile, format, Rounding::TowardZero, clean(a))),
            Call::Rint => exact(whole(profile, format, Rounding::NearestEven, clean(a))),
            Call::RoundAway => exact(whole_away(profile, format, clean(a))),
            // Of what the operation's own type has: `carry_out` gives it what its operand's type has.
            Call::ToInteger(cast) => exact(cast.of_whole(format, whole_by(profile, format, cast.by, clean(a))).0),
            Call::Fmod => exact(clean(remainder(profile, format, clean(a), clean(b)))),
        }
    }
}

/// Bits of elementary functions of f64 that are kept: one of them takes tens of microseconds, and many evaluations of an
/// expression ask for it.
const MAX_KEPT: usize = 1 << 14;
const SHARDS: usize = 64;

type Asked = (Function, Rounding, bool, [u64; 2]);

static KEPT: LazyLock<[Mutex<HashMap<Asked, u64>>; SHARDS]> =
    LazyLock::new(|| std::array::from_fn(|_| Mutex::default()));

/// A function rounded once.
pub(crate) fn rounded_function(
    profile: &Profile,
    function: Function,
    format: Format,
    rounding: Rounding,
    flush: bool,
    operands: [u64; 2],
) -> u64 {
    let compute = || approximate(profile, function, format, rounding, flush, operands);
    // Which NaN it is, is the profile's.
    let has_nan = operands.iter().any(|&bits| format.is_nan(bits));
    if format != Format::F64 || is_directed(function) || has_nan {
        return compute();
    }
    let asked = (function, rounding, flush, operands);
    let mut hasher = DefaultHasher::new();
    operands.hash(&mut hasher);
    let shard = &KEPT[hasher.finish() as usize % SHARDS];
    let kept = || shard.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&bits) = kept().get(&asked) {
        return bits;
    }
    let bits = compute();
    let mut kept = kept();
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(asked, bits);
    bits
}

/// Whether machines have it in every direction.
const fn is_directed(function: Function) -> bool {
    matches!(function, Function::Divide | Function::Reciprocal | Function::SquareRoot)
}

fn whole(profile: &Profile, format: Format, rounding: Rounding, bits: u64) -> u64 {
    match unpack(format, bits) {
        Unpacked::Nan { .. } => profile.nan_result(format, Some(bits)),
        Unpacked::Finite(x) if x.quantum < 0 => integral(x, rounding).round(format, rounding).bits,
        _ => bits,
    }
}

/// A number rounded to a whole one.
pub(crate) fn whole_by(profile: &Profile, format: Format, by: NarrowBy, bits: u64) -> u64 {
    match by {
        NarrowBy::Direction(rounding) => whole(profile, format, rounding, bits),
        NarrowBy::TiesAway => whole_away(profile, format, bits),
    }
}

/// The nearest integer, of two as near the one further from zero.
fn whole_away(profile: &Profile, format: Format, bits: u64) -> u64 {
    match unpack(format, bits) {
        // A half more in magnitude, cut. What is smaller than these is far below a half.
        Unpacked::Finite(x) if (-62..0).contains(&x.quantum) => {
            let significand = x.significand + (1 << (-x.quantum - 1));
            integral(FiniteNumber { significand, ..x }, Rounding::TowardZero).round(format, Rounding::TowardZero).bits
        }
        _ => whole(profile, format, Rounding::TowardZero, bits),
    }
}
