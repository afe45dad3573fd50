//! The evaluation of one instruction.

use crate::{Recipe, Value};
use roundonce_arith::{ConditionCodes, Flags, Outcome, Profile};

/// The outcome of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// The result, all components.
    pub value: Value,
    /// The exceptions of all components together.
    pub flags: Flags,
    /// The condition codes, if the instruction writes them.
    pub codes: Option<ConditionCodes>,
}

/// Computes an instruction, component by component.
///
/// # Panics
/// If the number of operands is wrong, or an operand has fewer components than the recipe.
///
/// ```
/// use roundonce_arith::{Format, Operation, Profile, Rounding};
/// use roundonce_isa::{Recipe, Value, evaluate};
/// let fma = Recipe::scalar(Operation::mul_add(Format::F32, Rounding::NearestEven));
/// let operands = [0x3f80_0001, 0x3f80_0001, 0xbf80_0002].map(Value::scalar);
/// assert_eq!(evaluate(&fma, &Profile::NVIDIA, &operands).value.components(), [0x2880_0000]);
/// ```
pub fn evaluate(recipe: &Recipe, profile: &Profile, operands: &[Value]) -> Evaluation {
    let arity = recipe.operation.op.arity();
    assert_eq!(operands.len(), arity, "the instruction takes {arity} operands");
    let component = |lane: usize| -> Outcome {
        let mut bits = [0; 3];
        for (bits, operand) in bits.iter_mut().zip(operands) {
            *bits = operand.components()[lane];
        }
        recipe.operation.evaluate(profile, &bits[..arity])
    };
    let mut flags = Flags::NONE;
    let value = Value::of((0..recipe.components as usize).map(|lane| {
        let outcome = component(lane);
        flags = flags.union(outcome.flags);
        outcome.bits
    }));
    let codes = recipe.condition_codes.then(|| ConditionCodes::of(recipe.operation.format, value.components()[0]));
    Evaluation { value, flags, codes }
}
