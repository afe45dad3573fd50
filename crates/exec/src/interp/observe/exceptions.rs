//! Results that are NaN, infinite, subnormal or inexact, counted by instruction.

use std::collections::{BTreeMap, HashMap};

use super::floats;
use roundonce_arith::{
    ArithOp, ConversionRounding, Element, FiniteNumber, Flags, Format, Operation, PackedConversion, Profile, Rounding,
    Unpacked, unpack,
};
use roundonce_ir::{AtomicKind, Op, Scalar};

/// What is counted. IEEE 754's flags say more of one operation; GPUs keep none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExceptionKind {
    /// A NaN.
    Nan,
    /// An infinity.
    Infinity,
    /// A subnormal number: most machines are slow with them, or flush them.
    Subnormal,
    /// The result is not the exact one.
    Inexact,
}

impl ExceptionKind {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            ExceptionKind::Nan => "NaN",
            ExceptionKind::Infinity => "infinity",
            ExceptionKind::Subnormal => "subnormal",
            ExceptionKind::Inexact => "inexact",
        }
    }
}

/// One kind of result of one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exception {
    /// An index into the kernel's source locations.
    pub loc: u32,
    /// Of which kind.
    pub kind: ExceptionKind,
    /// How many results were.
    pub count: u64,
    /// How many of them have no such operand: there the NaN, the infinity or the subnormal arises.
    pub arising: u64,
    /// How many results the instruction had.
    pub results: u64,
    /// The block and the thread of the first.
    pub thread: ([u32; 3], [u32; 3]),
    /// Its operands' bits, and how many bits each has.
    pub operands: Vec<(u64, u32)>,
    /// Its bits.
    pub result: (u64, u32),
}

/// What was counted so far.
#[derive(Clone, Default, Debug)]
pub(crate) struct Exceptions {
    /// In the order of their first occurrences.
    all: Vec<Exception>,
    places: HashMap<(u32, ExceptionKind), usize>,
    results: BTreeMap<u32, u64>,
}

/// The kinds, in the order in which one result's are counted.
const KINDS: [ExceptionKind; 4] =
    [ExceptionKind::Nan, ExceptionKind::Infinity, ExceptionKind::Subnormal, ExceptionKind::Inexact];

/// Of which [`KINDS`] something is.
type Kinds = [bool; 4];

/// The kinds of a number alone.
fn kinds(of: Element, bits: u64) -> Kinds {
    let number = of.unpack(bits);
    let is_subnormal = matches!(number, Unpacked::Finite(_)) && of.fields().is_subnormal(bits);
    [matches!(number, Unpacked::Nan { .. }), matches!(number, Unpacked::Infinite { .. }), is_subnormal, false]
}

/// No operation has more.
const MOST_OPERANDS: usize = 3;

/// One result: a number that some numbers became.
pub(super) struct Computed {
    /// The operands' bits, and how many bits each has.
    operands: [Option<(u64, u32)>; MOST_OPERANDS],
    result: (u64, u32),
    kinds: Kinds,
    /// The kinds of its operands, all together.
    given: Kinds,
}

impl Computed {
    fn new(types: &[Scalar], operands: &[u64], (format, bits): (Format, u64), is_inexact: bool) -> Computed {
        let mut given = [false; 4];
        for (&of, &bits) in types.iter().zip(operands) {
            if let Scalar::Float(format) = of {
                let one = kinds(Element::Float(format), bits);
                given = std::array::from_fn(|kind| given[kind] || one[kind]);
            }
        }
        let [nan, infinity, subnormal, _] = kinds(Element::Float(format), bits);
        Computed {
            operands: std::array::from_fn(|at| Some((*operands.get(at)?, types.get(at)?.bits()))),
            result: (bits, format.width()),
            kinds: [nan, infinity, subnormal, is_inexact],
            given,
        }
    }

    /// The result of an operation.
    pub(super) fn of(
        profile: &Profile,
        op: &Op,
        types: &[Scalar],
        operands: &[u64],
        result: (Format, u64),
    ) -> Computed {
        Computed::new(types, operands, result, is_inexact(profile, op, types, operands, result))
    }

    /// What each value became in a conversion of several, of `operands` to the bits of a register.
    pub(super) fn of_conversion(conversion: &PackedConversion, operands: &[u64], register: u64) -> Vec<Computed> {
        let values = conversion.values(operands);
        let is_random = conversion.rounding == ConversionRounding::Random;
        let one = |index: usize| {
            let (value, result) = (values[index], floats::component(conversion, register, index));
            let (from, to) = (conversion.from, floats::in_register(conversion.to));
            let [nan, infinity, subnormal, _] = kinds(to, result);
            let (exact, got) = (exact_value(from.unpack(value)), exact_value(to.unpack(result)));
            let is_cut = conversion.relu && exact.is_some_and(|(negative, ..)| negative);
            let random = || conversion.random_bits(index, operands.last().copied().unwrap_or(0));
            Computed {
                operands: [Some((value, from.width())), is_random.then(random), None],
                result: (result, to.width()),
                kinds: [nan, infinity, subnormal, exact.is_some() && !nan && !is_cut && got != exact],
                given: kinds(from, value),
            }
        };
        (0..conversion.count as usize).map(one).collect()
    }

    /// What each component in memory became in an atomic operation on floats.
    pub(super) fn of_atomic(profile: &Profile, kind: AtomicKind, [old, b, new]: [u64; 3]) -> Vec<Computed> {
        let (format, lanes) = match kind {
            AtomicKind::Float { operation, lanes } => (operation.format, lanes),
            AtomicKind::FloatMinMax { format, lanes, .. } => (format, lanes),
            _ => return Vec::new(),
        };
        let one = |component: u32| {
            let [old, b, new] = [old, b, new].map(|bits| bits >> (component * format.width()) & format.mask());
            let is_inexact = match kind {
                AtomicKind::Float { operation, .. } => {
                    let is_number = |bits| exact_value(unpack(format, bits)).is_some();
                    is_number(old) && is_number(b) && rounds(profile, &operation, &[old, b])
                }
                _ => false,
            };
            Computed::new(&[Scalar::Float(format); 2], &[old, b], (format, new), is_inexact)
        };
        (0..lanes).map(one).collect()
    }
}

impl Exceptions {
    pub(super) fn record(&mut self, loc: u32, thread: ([u32; 3], [u32; 3]), it: Computed) {
        *self.results.entry(loc).or_default() += 1;
        for (kind, place) in KINDS.into_iter().zip(0..) {
            if !it.kinds[place] {
                continue;
            }
            let known = *self.places.entry((loc, kind)).or_insert_with(|| {
                let (operands, result) = (it.operands.into_iter().flatten().collect(), it.result);
                self.all.push(Exception { loc, kind, count: 0, arising: 0, results: 0, thread, operands, result });
                self.all.len() - 1
            });
            self.all[known].count += 1;
            self.all[known].arising += u64::from(!it.given[place]);
        }
    }

    /// All, in the order of their first occurrences.
    pub(crate) fn into_list(mut self) -> Vec<Exception> {
        for exception in &mut self.all {
            exception.results = self.results.get(&exception.loc).copied().unwrap_or(0);
        }
        self.all
    }
}

/// A value as sign, odd significand and exponent; `None` of infinities and NaNs.
fn exact_value(number: Unpacked) -> Option<(bool, u64, i32)> {
    match number {
        Unpacked::Zero { .. } => Some((false, 0, 0)),
        Unpacked::Finite(FiniteNumber { negative, quantum, significand }) => {
            Some(reduced(negative, significand, quantum))
        }
        _ => None,
    }
}

/// The same number with an odd significand.
fn reduced(negative: bool, significand: u64, quantum: i32) -> (bool, u64, i32) {
    if significand == 0 {
        return (false, 0, 0);
    }
    let zeros = significand.trailing_zeros();
    (negative, significand >> zeros, quantum + zeros as i32)
}

/// [`exact_value`] of an operand.
fn value_of(of: Scalar, bits: u64) -> Option<(bool, u64, i32)> {
    match of {
        Scalar::Float(format) => exact_value(unpack(format, bits)),
        Scalar::Int { bits: width, signed } => {
            let bits = bits & (u64::MAX >> (64 - width.clamp(1, 64)));
            let negative = signed && bits >> (width - 1) & 1 == 1;
            let magnitude = if negative { ((1u128 << width) - u128::from(bits)) as u64 } else { bits };
            Some(reduced(negative, magnitude, 0))
        }
    }
}

/// Whether an operation of the family rounds, or overflows.
fn rounds(profile: &Profile, operation: &Operation, operands: &[u64]) -> bool {
    operation.evaluate(profile, operands).flags.contains(Flags::INEXACT)
}

/// Whether the result differs from the exact one. Of what hardware only approximates it is not asked, nor of results
/// that are infinities or NaNs by their operands.
fn is_inexact(profile: &Profile, op: &Op, types: &[Scalar], operands: &[u64], (format, result): (Format, u64)) -> bool {
    if types.iter().zip(operands).any(|(&of, &bits)| value_of(of, bits).is_none()) || format.is_nan(result) {
        return false;
    }
    let value = || exact_value(unpack(format, result));
    // x × y − z is nothing, and exactly so.
    let vanishes = |x: u64, y: u64, z: u64| {
        let residue = Operation::mul_add(format, Rounding::NearestEven);
        let outcome = residue.evaluate(profile, &[x, y, z ^ format.sign_mask()]);
        format.is_zero(outcome.bits) && !outcome.flags.contains(Flags::INEXACT)
    };
    match *op {
        Op::Float { ref operation, .. } => {
            operation.op != ArithOp::TruncatedMulAdd && rounds(profile, operation, operands)
        }
        Op::Divide { .. } => {
            let [a, b] = [operands[0], operands[1]];
            !format.is_zero(b) && (format.is_infinite(result) || !vanishes(result, b, a))
        }
        Op::SquareRoot { .. } => !vanishes(result, result, operands[0]),
        Op::Scale { .. } => {
            let exponent = operands[1] as u32 as i32;
            let moved = value_of(types[0], operands[0]).map(|(negative, significand, quantum)| {
                (negative, significand, if significand == 0 { 0 } else { quantum.saturating_add(exponent) })
            });
            value() != moved
        }
        Op::Convert { saturate: false, .. } => value() != value_of(types[0], operands[0]),
        _ => false,
    }
}
