//! The question whether two computations can differ, for a solver of SMT-LIB's floating-point theory.

use std::fmt::Write;

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_deviate::Typed;
use roundonce_functions::Function;

use super::{Pair, Side, is_name};
use crate::call::Call;
use crate::plan::Ref;

/// A question in SMT-LIB 2: unsatisfiable where the computations are equal for all inputs. All NaNs are one to a
/// solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// The script.
    pub script: String,
}

/// SMT-LIB's name of a format.
fn sort(format: Format) -> String {
    format!("(_ FloatingPoint {} {})", format.exp_bits(), format.precision())
}

fn literal(format: Format, bits: u64) -> String {
    let (exp, frac) = (format.exp_bits() as usize, format.frac_bits() as usize);
    let field = bits >> frac & format.exp_max();
    let sign = u32::from(format.is_negative(bits));
    format!("(fp #b{sign} #b{field:0exp$b} #b{:0frac$b})", bits & format.frac_mask())
}

fn mode(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "RNE",
        Rounding::TowardZero => "RTZ",
        Rounding::Down => "RTN",
        Rounding::Up => "RTP",
    }
}

fn signed(negate: bool, text: &str) -> String {
    if negate { format!("(fp.neg {text})") } else { text.to_owned() }
}

/// One operation; `None` where SMT-LIB has none such.
fn operation(operation: &Operation, operands: &[String]) -> Option<String> {
    if operation.flush || operation.fmz || operation.clamp != Clamp::None || operation.oob || !operation.is_uniform() {
        return None;
    }
    let mode = mode(operation.rounding);
    let first = signed(operation.negate_product, operands.first()?);
    match (operation.op, operands) {
        (ArithOp::MulAdd, [_, b, c]) => {
            Some(format!("(fp.fma {mode} {first} {b} {})", signed(operation.negate_addend, c)))
        }
        (ArithOp::Mul, [_, b]) => Some(format!("(fp.mul {mode} {first} {b})")),
        (ArithOp::Add, [_, c]) => Some(format!("(fp.add {mode} {first} {})", signed(operation.negate_addend, c))),
        _ => None,
    }
}

fn term(side: &Side) -> Option<String> {
    let leaf = |(value, name): &(Typed, String)| {
        let text = if is_name(name) { format!("|{name}|") } else { literal(value.format, value.bits) };
        (text, value.format)
    };
    let mut terms: Vec<(String, Format)> = side.plan.leaves.iter().map(leaf).collect();
    let leaves = terms.len();
    for (op, carried_out) in side.plan.ops.iter().zip(&side.operations) {
        let operand = |operand: &Ref| {
            let (text, from) = &terms[match *operand {
                Ref::Leaf(at) => at,
                Ref::Op(at) => leaves + at,
            }];
            let to = carried_out.format;
            if *from == to {
                return text.clone();
            }
            format!("((_ to_fp {} {}) RNE {text})", to.exp_bits(), to.precision())
        };
        let operands: Vec<String> = op.operands.iter().map(operand).collect();
        let text = match op.call() {
            None => operation(carried_out, &operands)?,
            Some(_) if carried_out.flush => return None,
            // A cast is the conversion of its operand.
            Some(Call::Round) => signed(carried_out.negate_product, operands.first()?),
            Some(Call::Negate) => signed(true, operands.first()?),
            Some(Call::Function(Function::Divide)) => {
                format!("(fp.div {} {})", mode(carried_out.rounding), operands.join(" "))
            }
            Some(Call::Function(Function::SquareRoot)) => {
                format!("(fp.sqrt {} {})", mode(carried_out.rounding), operands.first()?)
            }
            Some(_) => return None,
        };
        terms.push((text, carried_out.format));
    }
    let (text, _) = terms.pop()?;
    Some(if side.plan.negate_result { format!("(fp.neg {text})") } else { text })
}

impl Pair<'_> {
    /// The question, unless a side does something that SMT-LIB has no word for, such as telling NaNs apart.
    pub(super) fn query(&self) -> Option<Query> {
        if self.nan_bits {
            return None;
        }
        let mut script = String::from("(set-logic QF_FP)\n");
        for (name, format) in &self.inputs {
            let _ = writeln!(script, "(declare-const |{name}| {})", sort(*format));
        }
        let (first, second) = (term(self.first)?, term(self.second)?);
        // `=`, not `fp.eq`: zeros of different signs differ.
        let _ = writeln!(script, "(assert (not (= {first} {second})))\n(check-sat)");
        Some(Query { script })
    }
}
