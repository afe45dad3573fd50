//! Whether a program is one that engines can run: every register exists and is as wide as its use asks.

use roundonce_arith::Format;

use super::image::{ImageProperty, ImageShape, Outside, TexelType};
use super::operands::{Role, Wants};
use super::{Kernel, Op, Operand, Placement, Program, Special, Terminator, Width};

/// A program that no engine should be given, and why: a mistake of the front end, not of its input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// Of which kernel.
    pub kernel: String,
    /// The line of the instruction's place.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl core::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "kernel `{}`, line {}: {}", self.kernel, self.line, self.message)
    }
}

impl core::error::Error for VerifyError {}

impl Program {
    /// Checks every kernel.
    ///
    /// # Errors
    /// The first thing wrong.
    pub fn verify(&self) -> Result<(), VerifyError> {
        self.kernels.iter().try_for_each(|kernel| self.verify_kernel(kernel))
    }

    fn verify_kernel(&self, kernel: &Kernel) -> Result<(), VerifyError> {
        let invalid = |place: u32, message: String| {
            let line = kernel.source_locs.get(place as usize).map_or(0, |place| place.line);
            Err(VerifyError { kernel: kernel.name.clone(), line, message })
        };
        if !matches!(self.address_bits, 32 | 64) {
            return invalid(0, format!("addresses of {} bits", self.address_bits));
        }
        if kernel.blocks.is_empty() {
            return invalid(0, "no blocks".to_owned());
        }
        for block in &kernel.blocks {
            for instruction in &block.instructions {
                let guard = instruction.guard.map(|guard| guard.pred);
                if let Some(message) = self.verify_op(kernel, &instruction.op) {
                    return invalid(instruction.loc, message);
                }
                if guard.is_some_and(|pred| kernel.registers.get(pred.0 as usize) != Some(&Width::Pred)) {
                    return invalid(instruction.loc, "the guard is not a predicate".to_owned());
                }
                if instruction.loc as usize >= kernel.source_locs.len() {
                    return invalid(0, format!("place {} does not exist", instruction.loc));
                }
            }
            if block.loc as usize >= kernel.source_locs.len() {
                return invalid(0, format!("place {} does not exist", block.loc));
            }
            let condition = match &block.terminator {
                Terminator::Branch { pred, .. } => Some((Operand::Reg(*pred), Width::Pred)),
                Terminator::Switch { index, .. } => Some((*index, Width::B32)),
                Terminator::Jump(_) | Terminator::Exit => None,
            };
            if let Some((Operand::Reg(reg), width)) = condition
                && kernel.registers.get(reg.0 as usize) != Some(&width)
            {
                return invalid(block.loc, format!("a branch by a register that is not {width:?}"));
            }
            if let Some(target) = block.terminator.successors().iter().find(|target| **target >= kernel.blocks.len()) {
                return invalid(block.loc, format!("block {target} does not exist"));
            }
        }
        Ok(())
    }

    /// What is wrong with an instruction.
    fn verify_op(&self, kernel: &Kernel, op: &Op) -> Option<String> {
        let mut found = None;
        // What `Same` means is known once one operand is seen.
        let mut same: Option<Width> = None;
        op.visit(&mut |role, operand, wants| {
            let Operand::Reg(reg) = operand else {
                if role == Role::Def {
                    found = Some("a constant is written".to_owned());
                }
                return;
            };
            let Some(&width) = kernel.registers.get(reg.0 as usize) else {
                found = Some(format!("register {} does not exist", reg.0));
                return;
            };
            let address = if self.address_bits == 32 { Width::B32 } else { Width::B64 };
            let fits = match wants {
                Wants::Exactly(wanted) => width == wanted,
                Wants::AtLeast(wanted) => width >= wanted,
                Wants::Address => width == address,
                Wants::Same => *same.get_or_insert(width) == width,
            };
            if !fits {
                found = Some(format!("register {} is {width:?} where {wants:?} is wanted", reg.0));
            }
        });
        found.or_else(|| self.verify_value(kernel, op))
    }

    /// What is wrong beside the registers.
    fn verify_value(&self, kernel: &Kernel, op: &Op) -> Option<String> {
        let is_size = |bytes: u32| matches!(bytes, 1 | 2 | 4 | 8);
        let width = |operand: &Operand| match operand {
            Operand::Reg(reg) => Some(kernel.width(*reg)),
            Operand::Imm(_) => None,
        };
        let image = |count: usize, shape: ImageShape, at: &[Operand], texel: TexelType| {
            matches!(count, 1..=4) && matches!(shape.dims, 1..=3) && at.len() == shape.coordinates() && texel.is_known()
        };
        let wrong = match op {
            Op::Float { operation, components, .. } => {
                let holds = |wide: Format, narrow: Format| {
                    wide.precision() >= narrow.precision() && wide.exp_bits() >= narrow.exp_bits()
                };
                let fits = match operation.operand_formats {
                    Some(formats) => {
                        formats.into_iter().chain([operation.format]).all(|format| holds(Format::F32, format))
                    }
                    None => holds(operation.format, operation.source_format),
                };
                let widths = (0..operation.op.arity()).map(|index| operation.operand_format(index).width());
                let widest = widths.chain([operation.format.width()]).max().unwrap_or(0);
                !fits || !matches!(components, 1 | 2) || widest * components > 64
            }
            Op::Int { op, width, .. } => !op.takes(*width),
            Op::Carry { d, a, b, .. } => {
                [a, b].iter().filter_map(|operand| width(operand)).any(|other| other != kernel.width(*d))
            }
            Op::Pack { d, low, high } => {
                let half = Width::holding(kernel.width(*d).bits() / 2);
                [low, high].iter().filter_map(|operand| width(operand)).any(|other| other != half)
            }
            Op::Extract { d, width, shift, .. } => kernel.width(*d).bits() + shift > width.bits(),
            Op::Load { d, bytes, .. } => !is_size(*bytes) || !matches!(d.len(), 1..=8),
            Op::Store { values, bytes, width, .. } => {
                !is_size(*bytes) || !matches!(values.len(), 1..=8) || *width < Width::holding(bytes * 8)
            }
            Op::Atomic { bytes, kind, high, .. } => {
                let halves = match kind {
                    super::AtomicKind::Float { operation, lanes } => {
                        Some((operation.format, *lanes, operation.op == roundonce_arith::ArithOp::Add))
                    }
                    super::AtomicKind::FloatMinMax { format, lanes, .. } => Some((*format, *lanes, true)),
                    _ => None,
                };
                !is_size(*bytes)
                    || *bytes == 1
                    || (*kind == super::AtomicKind::Arrive && *bytes != 8)
                    || (high.is_some()
                        && (*bytes != 8
                            || !matches!(kind, super::AtomicKind::Exchange | super::AtomicKind::CompareAndSwap)))
                    || !kind.is_known()
                    || halves.is_some_and(|(format, lanes, known)| {
                        !known || !matches!(lanes, 1 | 2) || format.width() * lanes != bytes * 8
                    })
            }
            Op::ImageLoad { d: list, shape, at, texel, .. } => !image(list.len(), *shape, at, *texel),
            Op::ImageStore { values, shape, at, texel, outside, .. } => {
                !image(values.len(), *shape, at, *texel) || matches!(outside, Outside::Sampler(_))
            }
            Op::ImageAddress { shape, at, texel, outside, .. } => {
                !image(1, *shape, at, *texel) || matches!(outside, Outside::Sampler(_))
            }
            Op::ImageSample { d, shape, at, texel, gather, .. } => {
                !image(d.len(), *shape, at, *texel)
                    || matches!(texel, TexelType::Raw { .. })
                    || gather.is_some_and(|component| component > 3 || shape.dims != 2)
            }
            Op::ImageQuery { property: ImageProperty::Extent(axis), .. } => *axis > 2,
            Op::Reduce { reduction, .. } => !reduction.is_known(),
            Op::MultiplyMatrices { multiply, d, a, b, c, scales } => {
                let fragments = [&multiply.a, &multiply.b, &multiply.c, &multiply.d];
                let counts = [a.len(), b.len(), c.len(), d.len()];
                !multiply.is_known()
                    || scales.is_some() != multiply.scales.is_some()
                    || fragments.map(|fragment| fragment.registers()) != counts
            }
            Op::Convert { to, from, .. } => {
                let is_int = |scalar: &super::Scalar| match scalar {
                    super::Scalar::Int { bits, .. } => matches!(bits, 8 | 16 | 32 | 64),
                    super::Scalar::Float(_) => true,
                };
                !is_int(to) || !is_int(from)
            }
            Op::Special { special: Special::Address(variable), .. } => *variable as usize >= self.variables.len(),
            Op::Special {
                special:
                    Special::Tid(axis)
                    | Special::Ntid(axis)
                    | Special::Ctaid(axis)
                    | Special::Nctaid(axis)
                    | Special::Placement(
                        Placement::Cluster(axis)
                        | Placement::Clusters(axis)
                        | Placement::InCluster(axis)
                        | Placement::ClusterSize(axis),
                    ),
                ..
            } => *axis > 2,
            _ => false,
        };
        wrong.then(|| format!("an operation that no engine knows: {op:?}"))
    }
}
