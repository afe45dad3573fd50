//! Quotients, roots and powers of two that have code, of whatever operation: divisions, roots, and of the functions that
//! hardware approximates and that are computed correctly rounded here.

use roundonce_arith::{Format, Rounding};
use roundonce_functions::Function;
use roundonce_ir::{Op, Operand, Reg, Width};

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Quotient(Operand),
    Root,
    ReciprocalRoot,
    /// 2 to the operand.
    Power,
}

/// A quotient, a root or a power, of whatever operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Quotient {
    pub(super) d: Reg,
    pub(super) kind: Kind,
    pub(super) format: Format,
    pub(super) rounding: Rounding,
    /// Subnormal operands and results become zero.
    pub(super) flush: bool,
    pub(super) saturate: bool,
    /// The operand: of a quotient the dividend.
    pub(super) a: Operand,
}

impl Quotient {
    /// What an operation computes that has code, apart from what the launch says of NaNs and flushing.
    pub(super) fn of(op: &Op) -> Option<Quotient> {
        let quotient = match *op {
            Op::Divide { d, format, rounding, flush, a, b } => {
                Quotient { d, kind: Kind::Quotient(b), format, rounding, flush, saturate: false, a }
            }
            Op::SquareRoot { d, format, rounding, flush, a } => {
                Quotient { d, kind: Kind::Root, format, rounding, flush, saturate: false, a }
            }
            Op::Approximate { d, function, format, flush, saturate, a, b, .. } => {
                let (kind, a) = match function {
                    Function::Divide => (Kind::Quotient(b), a),
                    Function::Reciprocal => (Kind::Quotient(a), Operand::Imm(format.one())),
                    Function::SquareRoot => (Kind::Root, a),
                    Function::ReciprocalSquareRoot => (Kind::ReciprocalRoot, a),
                    Function::Exp2 => (Kind::Power, a),
                    _ => return None,
                };
                Quotient { d, kind, format, rounding: Rounding::NearestEven, flush, saturate, a }
            }
            _ => return None,
        };
        let has_code = match quotient.format {
            Format::F64 => matches!(quotient.kind, Kind::Quotient(_) | Kind::Root) && !quotient.saturate,
            // A clamp would flush where the processor flushes.
            Format::F32 => quotient.flush || !quotient.saturate,
            _ => false,
        };
        has_code.then_some(quotient)
    }

    /// Its operands; where there is one, the same twice.
    pub(super) fn operands(&self) -> [Operand; 2] {
        match self.kind {
            Kind::Quotient(b) => [self.a, b],
            _ => [self.a; 2],
        }
    }
    /// Bits of a lane.
    pub(super) fn width(&self) -> Width {
        Width::holding(self.format.width())
    }
}
