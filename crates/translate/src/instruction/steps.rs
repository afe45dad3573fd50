//! What a counterpart computes, step by step on one component: the arithmetic itself, and what a language has to write
//! around it because its instruction does not do it.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use roundonce_isa::Recipe;

/// One step. Operands are a, b and c, counted from 0; a sum has a and c.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// An operand in a format that holds it.
    Widen {
        /// Which.
        operand: usize,
        /// Its format.
        from: Format,
        /// The format that holds it.
        to: Format,
    },
    /// If a or b is zero or subnormal, both become +0: the product is then +0, whatever it was.
    ZeroFactors(Format),
    /// An operand's sign is flipped.
    Negate {
        /// Which.
        operand: usize,
        /// Its format.
        format: Format,
    },
    /// An operand that the source does not have.
    Constant {
        /// Which.
        operand: usize,
        /// Its format.
        format: Format,
        /// Its bits.
        bits: u64,
    },
    /// The arithmetic.
    Compute(Operation),
    /// The result clamped by comparisons and selections.
    Clamp(Format, Clamp),
}

/// Carries steps out; the operands are those of an operation, in order.
///
/// # Panics
/// If there are not two or three operands.
pub fn evaluate(steps: &[Step], profile: &Profile, operands: &[u64]) -> u64 {
    let mut given = match *operands {
        [a, b, c] => [a, b, c],
        // A product has a and b, a sum a and c: the other one is written over, or not read.
        [a, second] => [a, second, second],
        _ => panic!("expected two or three operands, not {}", operands.len()),
    };
    let mut result = 0;
    for step in steps {
        match *step {
            Step::Widen { operand, from, to } => {
                given[operand] = roundonce_isa::convert(from, to, Rounding::NearestEven, given[operand]).0;
            }
            Step::ZeroFactors(format) => {
                if given[..2].iter().any(|&bits| bits & format.magnitude_mask() < format.smallest_normal()) {
                    (given[0], given[1]) = (0, 0);
                }
            }
            Step::Negate { operand, format } => given[operand] ^= format.sign_mask(),
            Step::Constant { operand, bits, .. } => given[operand] = bits,
            Step::Compute(operation) => {
                let taken: Vec<u64> = operation.op.operands().iter().map(|&operand| given[operand as usize]).collect();
                result = operation.evaluate(profile, &taken).bits;
            }
            Step::Clamp(format, clamp) => result = selected(format, clamp, result),
        }
    }
    result
}

/// What the selections that languages write give: `r > 0 ? (r < 1 ? r : 1) : 0`, and `r > 0 || r != r ? r : 0`.
fn selected(format: Format, clamp: Clamp, bits: u64) -> u64 {
    let (is_nan, one) = (format.is_nan(bits), format.one());
    let is_positive = !is_nan && !format.is_negative(bits) && !format.is_zero(bits);
    match clamp {
        Clamp::None => bits,
        Clamp::Unit if is_positive => bits.min(one),
        Clamp::Relu if is_positive || is_nan => bits,
        Clamp::Unit | Clamp::Relu => 0,
    }
}

/// Something that an instruction of the target need not do, because steps around it do it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Expansion {
    Widen,
    ZeroFactors,
    Clamp,
    Negate,
    /// A product as a multiply-add with a zero addend, a sum as one with a factor of one.
    MulAdd,
}

impl Expansion {
    const ALL: [Expansion; 5] =
        [Expansion::Widen, Expansion::ZeroFactors, Expansion::Clamp, Expansion::Negate, Expansion::MulAdd];

    /// Whether it is listed beside an instruction that needs it not: such an instruction is younger, or written otherwise.
    fn is_of_interest(self) -> bool {
        matches!(self, Expansion::Widen | Expansion::Clamp | Expansion::MulAdd)
    }

    fn applies(self, recipe: &Recipe, taken: &[Expansion]) -> bool {
        let operation = &recipe.operation;
        match self {
            Expansion::Widen => {
                let formats = recipe.operand_formats();
                let is_held = |format: &Format| {
                    format.precision() <= operation.format.precision()
                        && format.exp_bits() <= operation.format.exp_bits()
                };
                !operation.is_uniform() && formats.iter().all(is_held)
            }
            Expansion::ZeroFactors => operation.fmz,
            // The out-of-bounds NaN is asked of the operands, before the clamp.
            Expansion::Clamp => operation.clamp != Clamp::None,
            // The negation of a NaN has another sign: which does not matter where every NaN result is the same.
            Expansion::Negate => {
                operation.op == ArithOp::Add && operation.negate_addend && operation.format != Format::F64
            }
            Expansion::MulAdd => {
                let is_plain =
                    !operation.negate_product && (operation.is_uniform() || taken.contains(&Expansion::Widen));
                matches!(operation.op, ArithOp::Add | ArithOp::Mul) && is_plain && !operation.oob
            }
        }
    }
}

/// A recipe for the target's instruction, and the steps around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub(crate) before: Vec<Step>,
    pub(crate) core: Recipe,
    pub(crate) clamp: Clamp,
    expansions: Vec<Expansion>,
}

impl Plan {
    /// The ways to compute a recipe, those with the fewest expansions first. All are equal for all operands.
    pub(crate) fn of(recipe: &Recipe) -> Vec<Plan> {
        let mut plans: Vec<Plan> = (0..1 << Expansion::ALL.len())
            .filter_map(|chosen: u32| {
                let taken = Expansion::ALL.into_iter().enumerate();
                let taken: Vec<Expansion> =
                    taken.filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, expansion)| expansion).collect();
                taken.iter().all(|expansion| expansion.applies(recipe, &taken)).then(|| Plan::with(recipe, taken))
            })
            .collect();
        plans.sort_by_key(|plan| plan.expansions.len());
        plans
    }

    fn with(recipe: &Recipe, expansions: Vec<Expansion>) -> Plan {
        let mut plan = Plan { before: Vec::new(), core: *recipe, clamp: Clamp::None, expansions };
        let operation = &mut plan.core.operation;
        for expansion in &plan.expansions {
            match expansion {
                Expansion::Widen => {
                    for (at, operand) in operation.op.operands().iter().enumerate() {
                        let (from, to) = (operation.operand_format(at), operation.format);
                        if from != to {
                            plan.before.push(Step::Widen { operand: *operand as usize, from, to });
                        }
                    }
                    (operation.source_format, operation.operand_formats) = (operation.format, None);
                }
                Expansion::ZeroFactors => {
                    plan.before.push(Step::ZeroFactors(operation.format));
                    operation.fmz = false;
                }
                Expansion::Clamp => plan.clamp = std::mem::replace(&mut operation.clamp, Clamp::None),
                Expansion::Negate => {
                    plan.before.push(Step::Negate { operand: 2, format: operation.format });
                    operation.negate_addend = false;
                }
                Expansion::MulAdd => {
                    let format = operation.format;
                    // The zero that leaves a zero product's sign alone: toward negative infinity +0 and −0 are −0.
                    let zero = if operation.rounding == Rounding::Down { 0 } else { format.sign_mask() };
                    let (operand, bits) = match operation.op {
                        ArithOp::Mul => (2, zero),
                        _ => (1, format.one()),
                    };
                    plan.before.push(Step::Constant { operand, format, bits });
                    operation.op = ArithOp::MulAdd;
                }
            }
        }
        plan
    }

    /// Whether it does by steps what a found plan's instruction does, and is no younger machine's way.
    pub(crate) fn is_superfluous(&self, found: &[Plan]) -> bool {
        found.iter().any(|known| {
            let more = self.expansions.iter().filter(|own| !known.expansions.contains(own));
            let more: Vec<&Expansion> = more.collect();
            known.expansions.iter().all(|expansion| self.expansions.contains(expansion))
                && (more.len() > 1 || more.iter().any(|own| !own.is_of_interest()))
        })
    }

    /// All steps.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = self.before.clone();
        steps.push(Step::Compute(self.core.operation));
        if self.clamp != Clamp::None {
            steps.push(Step::Clamp(self.core.operation.format, self.clamp));
        }
        steps
    }
}
