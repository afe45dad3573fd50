//! Results that are NaN, infinite, subnormal or inexact, counted by instruction.

use std::collections::{BTreeMap, HashMap};

use roundonce_arith::{ArithOp, FiniteNumber, Flags, Format, Operation, Profile, Rounding, Unpacked, unpack};
use roundonce_ir::{Op, Scalar};

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

/// One result.
pub(super) struct Computed<'a> {
    pub(super) op: &'a Op,
    pub(super) loc: u32,
    pub(super) types: &'a [Scalar],
    pub(super) operands: &'a [u64],
    pub(super) format: Format,
    pub(super) bits: u64,
    pub(super) thread: ([u32; 3], [u32; 3]),
}

impl Exceptions {
    pub(super) fn record(&mut self, profile: &Profile, it: &Computed<'_>) {
        *self.results.entry(it.loc).or_default() += 1;
        let operand_is = |holds: fn(Format, u64) -> bool| {
            it.types.iter().zip(it.operands).any(|(&of, &bits)| match of {
                Scalar::Float(format) => holds(format, bits),
                Scalar::Int { .. } => false,
            })
        };
        for kind in [ExceptionKind::Nan, ExceptionKind::Infinity, ExceptionKind::Subnormal] {
            let holds: fn(Format, u64) -> bool = match kind {
                ExceptionKind::Nan => Format::is_nan,
                ExceptionKind::Infinity => Format::is_infinite,
                _ => Format::is_subnormal,
            };
            if holds(it.format, it.bits) {
                self.count(kind, !operand_is(holds), it);
            }
        }
        if is_inexact(profile, it) {
            self.count(ExceptionKind::Inexact, true, it);
        }
    }

    fn count(&mut self, kind: ExceptionKind, arises: bool, it: &Computed<'_>) {
        let place = *self.places.entry((it.loc, kind)).or_insert_with(|| {
            let operands = it.types.iter().zip(it.operands).map(|(of, &bits)| (bits, of.bits())).collect();
            let (thread, result) = (it.thread, (it.bits, it.format.width()));
            self.all.push(Exception { loc: it.loc, kind, count: 0, arising: 0, results: 0, thread, operands, result });
            self.all.len() - 1
        });
        self.all[place].count += 1;
        self.all[place].arising += u64::from(arises);
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
fn exact_value(of: Scalar, bits: u64) -> Option<(bool, u64, i32)> {
    let (negative, significand, quantum) = match of {
        Scalar::Float(format) => match unpack(format, bits) {
            Unpacked::Zero { .. } => (false, 0, 0),
            Unpacked::Finite(FiniteNumber { negative, quantum, significand }) => (negative, significand, quantum),
            _ => return None,
        },
        Scalar::Int { bits: width, signed } => {
            let bits = bits & (u64::MAX >> (64 - width.clamp(1, 64)));
            let negative = signed && bits >> (width - 1) & 1 == 1;
            let magnitude = if negative { ((1u128 << width) - u128::from(bits)) as u64 } else { bits };
            (negative, magnitude, 0)
        }
    };
    if significand == 0 {
        return Some((false, 0, 0));
    }
    let zeros = significand.trailing_zeros();
    Some((negative, significand >> zeros, quantum + zeros as i32))
}

/// Whether the result differs from the exact one. Of what hardware only approximates it is not asked, nor of results
/// that are infinities or NaNs by their operands.
fn is_inexact(profile: &Profile, it: &Computed<'_>) -> bool {
    let format = it.format;
    let finite = |of: &Scalar, bits: u64| exact_value(*of, bits).is_some();
    if !it.types.iter().zip(it.operands).all(|(of, &bits)| finite(of, bits)) || format.is_nan(it.bits) {
        return false;
    }
    // x × y − z is nothing, and exactly so.
    let vanishes = |x: u64, y: u64, z: u64| {
        let residue = Operation::mul_add(format, Rounding::NearestEven);
        let outcome = residue.evaluate(profile, &[x, y, z ^ format.sign_mask()]);
        format.is_zero(outcome.bits) && !outcome.flags.contains(Flags::INEXACT)
    };
    match *it.op {
        Op::Float { ref operation, .. } => {
            let operands = &it.operands[..operation.op.arity()];
            operation.op != ArithOp::TruncatedMulAdd
                && operation.evaluate(profile, operands).flags.contains(Flags::INEXACT)
        }
        Op::Divide { .. } => {
            let [a, b] = [it.operands[0], it.operands[1]];
            !format.is_zero(b) && (format.is_infinite(it.bits) || !vanishes(it.bits, b, a))
        }
        Op::SquareRoot { .. } => !vanishes(it.bits, it.bits, it.operands[0]),
        Op::Scale { .. } => {
            let exponent = it.operands[1] as u32 as i32;
            let moved = exact_value(it.types[0], it.operands[0]).map(|(negative, significand, quantum)| {
                (negative, significand, if significand == 0 { 0 } else { quantum.saturating_add(exponent) })
            });
            exact_value(Scalar::Float(format), it.bits) != moved
        }
        Op::Convert { saturate: false, .. } => {
            exact_value(Scalar::Float(format), it.bits) != exact_value(it.types[0], it.operands[0])
        }
        _ => false,
    }
}
