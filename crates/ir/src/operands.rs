//! What an [`Op`] reads and writes, and how wide.

use super::image::Outside;
use super::types::{AtomicKind, BarrierKind, Comparand, IntOp, Reduction, Scalar, Signedness, Special, VoteMode};
use super::{Op, Operand, Reg, Space, Width};
use roundonce_arith::Format;

/// What happens to an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// It is read.
    Use,
    /// It is written.
    Def,
}

/// The widths that an operand may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wants {
    /// This one.
    Exactly(Width),
    /// This one or a wider one.
    AtLeast(Width),
    /// The same as the destination's.
    Same,
    /// As wide as an address.
    Address,
}

const fn of(format: Format) -> Wants {
    packed(format, 1)
}
const fn packed(format: Format, components: u32) -> Wants {
    Wants::Exactly(Width::holding(format.width().saturating_mul(components)))
}
const PRED: Wants = Wants::Exactly(Width::Pred);
const B32: Wants = Wants::Exactly(Width::B32);
/// Of an image or a sampler.
const HANDLE: Wants = Wants::Exactly(Width::B64);

impl IntOp {
    /// How wide the result of an operation on operands of a width is.
    pub const fn result_width(self, width: Width) -> Width {
        match self {
            IntOp::MulWide(_) | IntOp::MulAddWide(_) => match width {
                Width::Pred | Width::B16 => Width::B32,
                _ => Width::B64,
            },
            IntOp::LeadingZeros | IntOp::PopCount | IntOp::FindHighest { .. } | IntOp::FindNth => Width::B32,
            _ => width,
        }
    }
    /// How wide each operand is, and how many of the four places it takes.
    pub const fn operand_widths(self, width: Width) -> ([Width; 4], usize) {
        const B32: Width = Width::B32;
        let w = width;
        match self {
            IntOp::Abs | IntOp::Neg | IntOp::Not | IntOp::IsZero | IntOp::Reverse => ([w; 4], 1),
            IntOp::LeadingZeros | IntOp::PopCount | IntOp::FindHighest { .. } => ([w; 4], 1),
            IntOp::Shl | IntOp::Shr(_) => ([w, B32, w, w], 2),
            IntOp::MulAdd | IntOp::AbsDiff(_) | IntOp::Logic3(_) => ([w; 4], 3),
            IntOp::MulAddWide(_) => ([w, w, self.result_width(w), w], 3),
            IntOp::Funnel { .. } | IntOp::Permute | IntOp::PermuteMode(_) | IntOp::FindNth => ([B32; 4], 3),
            IntOp::DotProduct4(..) | IntOp::DotProduct2 { .. } => ([B32; 4], 3),
            IntOp::FieldExtract(_) => ([w, B32, B32, w], 3),
            IntOp::FieldInsert => ([w, w, B32, B32], 4),
            IntOp::Mask { .. } => ([B32; 4], 2),
            _ => ([w; 4], 2),
        }
    }
    /// Whether it acts on operands of a width at all.
    pub fn takes(self, width: Width) -> bool {
        match self {
            IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Not => true,
            IntOp::Funnel { .. } | IntOp::Permute | IntOp::PermuteMode(_) | IntOp::FindNth | IntOp::Mask { .. } => {
                width == Width::B32
            }
            IntOp::DotProduct4(..) | IntOp::DotProduct2 { .. } => width == Width::B32,
            IntOp::MulWide(_) | IntOp::MulAddWide(_) => matches!(width, Width::B16 | Width::B32),
            _ => width != Width::Pred,
        }
    }
}

impl Op {
    /// Calls `see` with every operand: its role and what it must be like. Reads come before writes.
    pub(super) fn visit(&self, see: &mut dyn FnMut(Role, Operand, Wants)) {
        use Role::{Def, Use};
        let reads = |see: &mut dyn FnMut(Role, Operand, Wants), all: &[(Operand, Wants)]| {
            for &(operand, wants) in all {
                see(Use, operand, wants);
            }
        };
        // The destination, where there is exactly one.
        let mut written: Option<(Reg, Wants)> = None;
        match self {
            Op::Move { d, a } => {
                written = Some((*d, Wants::Same));
                reads(see, &[(*a, Wants::Same)]);
            }
            Op::Special { d, special } => {
                let wants = match special {
                    Special::Address(_) | Special::SharedWindow | Special::LocalWindow | Special::ParamWindow => {
                        Wants::Address
                    }
                    _ => Wants::AtLeast(Width::B16),
                };
                written = Some((*d, wants));
            }
            Op::Float { d, operation, components, args, .. } => {
                written = Some((*d, packed(operation.format, *components)));
                for (index, arg) in args.iter().enumerate().take(operation.op.arity()) {
                    see(Use, *arg, packed(operation.operand_format(index), *components));
                }
            }
            Op::Sign { d, format, a, .. } | Op::SquareRoot { d, format, a, .. } => {
                written = Some((*d, of(*format)));
                reads(see, &[(*a, of(*format))]);
            }
            Op::Scale { d, format, a, exponent, .. } => {
                written = Some((*d, of(*format)));
                reads(see, &[(*a, of(*format)), (*exponent, B32)]);
            }
            Op::Approximate { d, function, format, a, b, .. } => {
                let second = if function.takes_integer() { B32 } else { of(*format) };
                written = Some((*d, of(*format)));
                reads(see, &[(*a, of(*format)), (*b, second)]);
            }
            Op::Divide { d, format, a, b, .. }
            | Op::Remainder { d, format, a, b }
            | Op::MinMax { d, format, a, b, .. }
            | Op::CopySign { d, format, sign: a, magnitude: b } => {
                written = Some((*d, of(*format)));
                reads(see, &[(*a, of(*format)), (*b, of(*format))]);
            }
            Op::Compare { d, of: comparand, a, b, .. } => {
                let wants = match comparand {
                    Comparand::Unsigned(width) | Comparand::Signed(width) => Wants::Exactly(*width),
                    Comparand::Float { format, .. } => of(*format),
                };
                written = Some((*d, PRED));
                reads(see, &[(*a, wants), (*b, wants)]);
            }
            Op::Classify { d, format, a, .. } => {
                written = Some((*d, PRED));
                reads(see, &[(*a, of(*format))]);
            }
            Op::Select { d, p, a, b } => {
                written = Some((*d, Wants::Same));
                reads(see, &[(*p, PRED), (*a, Wants::Same), (*b, Wants::Same)]);
            }
            Op::Convert { d, to, from, a, .. } => {
                written = Some((*d, Wants::Exactly(to.width())));
                reads(see, &[(*a, Wants::Exactly(from.width()))]);
            }
            Op::ConvertPacked { d, conversion, args } => {
                let [value, result] = [conversion.operand_bits(), conversion.result_bits()].map(Width::holding);
                written = Some((*d, Wants::Exactly(result)));
                let count = conversion.operand_count();
                for arg in args.iter().take(count) {
                    see(Use, *arg, Wants::Exactly(value));
                }
                see(Use, args[4], B32);
            }
            Op::Int { d, op, width, args } => {
                written = Some((*d, Wants::Exactly(op.result_width(*width))));
                let (widths, count) = op.operand_widths(*width);
                for (arg, width) in args.iter().zip(widths).take(count) {
                    see(Use, *arg, Wants::Exactly(width));
                }
            }
            Op::Carry { d, out, carry, a, b, .. } => {
                reads(see, &[(*carry, PRED), (*a, Wants::Same), (*b, Wants::Same)]);
                see(Def, Operand::Reg(*d), Wants::AtLeast(Width::B32));
                if let Some(out) = out {
                    see(Def, Operand::Reg(*out), PRED);
                }
            }
            Op::Pack { d, low, high } => {
                written = Some((*d, Wants::AtLeast(Width::B32)));
                reads(see, &[(*low, Wants::AtLeast(Width::B16)), (*high, Wants::AtLeast(Width::B16))]);
            }
            Op::Extract { d, a, width, .. } => {
                written = Some((*d, Wants::AtLeast(Width::B16)));
                reads(see, &[(*a, Wants::Exactly(*width))]);
            }
            Op::Load { d, bytes, address, space, .. } => {
                reads(see, &[(*address, address_width(*space))]);
                for reg in d.iter().flatten() {
                    see(Def, Operand::Reg(*reg), Wants::AtLeast(Width::holding(bytes * 8)));
                }
            }
            Op::Store { values, width, address, space, .. } => {
                reads(see, &[(*address, address_width(*space))]);
                for value in values {
                    see(Use, *value, Wants::Exactly(*width));
                }
            }
            Op::Atomic { d, bytes, address, b, c, space, high, .. } => {
                let value = Wants::Exactly(Width::holding(bytes * 8));
                reads(see, &[(*address, address_width(*space)), (*b, value), (*c, value)]);
                if let Some(high) = high {
                    reads(see, &[(high.b, value), (high.c, value)]);
                    high.d.iter().for_each(|d| see(Def, Operand::Reg(*d), value));
                }
                written = d.map(|d| (d, value));
            }
            Op::ImageLoad { d, image, at, texel, outside, .. } => {
                reads(see, &[(*image, HANDLE)]);
                at.iter().for_each(|at| see(Use, *at, B32));
                if let Outside::Sampler(sampler) = outside {
                    see(Use, *sampler, HANDLE);
                }
                d.iter().flatten().for_each(|d| see(Def, Operand::Reg(*d), Wants::Exactly(texel.width())));
            }
            Op::ImageStore { values, image, at, texel, .. } => {
                reads(see, &[(*image, HANDLE)]);
                at.iter().for_each(|at| see(Use, *at, B32));
                values.iter().for_each(|value| see(Use, *value, Wants::Exactly(texel.width())));
            }
            Op::ImageAddress { d, image, at, .. } => {
                reads(see, &[(*image, HANDLE)]);
                at.iter().for_each(|at| see(Use, *at, B32));
                written = Some((*d, Wants::Address));
            }
            Op::ImageSample { d, image, sampler, at, texel, .. } => {
                reads(see, &[(*image, HANDLE), (*sampler, HANDLE)]);
                at.iter().for_each(|at| see(Use, *at, B32));
                d.iter().flatten().for_each(|d| see(Def, Operand::Reg(*d), Wants::Exactly(texel.width())));
            }
            Op::ImageQuery { d, image, .. } => {
                written = Some((*d, B32));
                reads(see, &[(*image, HANDLE)]);
            }
            Op::Barrier { kind, id, count } => {
                reads(see, &[(*id, B32)]);
                if let Some(count) = count {
                    see(Use, *count, B32);
                }
                match kind {
                    BarrierKind::Wait | BarrierKind::Arrive => {}
                    BarrierKind::Count { d, p } => {
                        see(Use, *p, PRED);
                        written = Some((*d, B32));
                    }
                    BarrierKind::Reduce { d, p, .. } => {
                        see(Use, *p, PRED);
                        written = Some((*d, PRED));
                    }
                }
            }
            Op::WarpBarrier { mask } => reads(see, &[(*mask, B32)]),
            Op::Shuffle { d, p, a, b, c, mask, .. } => {
                reads(see, &[(*a, B32), (*b, B32), (*c, B32)]);
                if let Some(mask) = mask {
                    see(Use, *mask, B32);
                }
                see(Def, Operand::Reg(*d), B32);
                if let Some(p) = p {
                    see(Def, Operand::Reg(*p), PRED);
                }
            }
            Op::Vote { d, mode, a, mask } => {
                reads(see, &[(*a, PRED)]);
                if let Some(mask) = mask {
                    see(Use, *mask, B32);
                }
                written = Some((*d, if *mode == VoteMode::Ballot { B32 } else { PRED }));
            }
            Op::Match { d, p, width, a, mask, .. } => {
                reads(see, &[(*a, Wants::Exactly(*width)), (*mask, B32)]);
                see(Def, Operand::Reg(*d), B32);
                if let Some(p) = p {
                    see(Def, Operand::Reg(*p), PRED);
                }
            }
            Op::ActiveMask { d } => written = Some((*d, B32)),
            Op::Elect { d, p, mask } => {
                reads(see, &[(*mask, B32)]);
                see(Def, Operand::Reg(*p), PRED);
                written = d.map(|d| (d, B32));
            }
            Op::Reduce { d, a, mask, .. } => {
                reads(see, &[(*a, B32), (*mask, B32)]);
                written = Some((*d, B32));
            }
            Op::MultiplyMatrices { multiply, d, a, b, c, scales } => {
                for (operands, fragment) in [(a, &multiply.a), (b, &multiply.b), (c, &multiply.c)] {
                    operands.iter().for_each(|operand| see(Use, *operand, Wants::Exactly(fragment.width)));
                }
                for scale in scales.iter().flatten() {
                    let half = Wants::Exactly(Width::B16);
                    reads(see, &[(scale.data, B32), (scale.byte, half), (scale.thread, half)]);
                }
                d.iter().for_each(|reg| see(Def, Operand::Reg(*reg), Wants::Exactly(multiply.d.width)));
            }
            Op::Print { d, format, args } => {
                reads(see, &[(*format, Wants::Address), (*args, Wants::Address)]);
                written = d.map(|d| (d, B32));
            }
            Op::Unsupported { d, args, .. } => {
                for arg in args {
                    see(Use, *arg, Wants::AtLeast(Width::Pred));
                }
                for reg in d {
                    see(Def, Operand::Reg(*reg), Wants::AtLeast(Width::Pred));
                }
            }
            Op::Fence | Op::Trap { .. } | Op::Exit => {}
        }
        if let Some((reg, wants)) = written {
            see(Def, Operand::Reg(reg), wants);
        }
    }

    /// Calls `see` with the operands that are floats.
    pub fn float_operands(&self, mut see: impl FnMut(Operand, Format)) {
        match self {
            Op::Float { operation, components: 1, args, .. } => {
                for (at, arg) in args.iter().enumerate().take(operation.op.arity()) {
                    see(*arg, operation.operand_format(at));
                }
            }
            Op::Divide { format, a, b, .. }
            | Op::MinMax { format, a, b, .. }
            | Op::Compare { of: Comparand::Float { format, .. }, a, b, .. } => {
                see(*a, *format);
                see(*b, *format);
            }
            Op::SquareRoot { format, a, .. }
            | Op::Approximate { format, a, .. }
            | Op::Convert { from: Scalar::Float(format), a, .. } => see(*a, *format),
            _ => {}
        }
    }

    /// Calls `see` with every register in use and its role; reads come before writes.
    pub fn registers(&self, mut see: impl FnMut(Role, Reg)) {
        self.visit(&mut |role, operand, _| {
            if let Operand::Reg(reg) = operand {
                see(role, reg);
            }
        });
    }

    /// The address space that it loads from or stores to.
    pub const fn space(&self) -> Option<Space> {
        match self {
            Op::Load { space, .. } | Op::Store { space, .. } | Op::Atomic { space, .. } => Some(*space),
            _ => None,
        }
    }

    /// Whether it is an exchange whose result is not read, which is a store.
    pub const fn is_atomic_store(&self) -> bool {
        matches!(self, Op::Atomic { kind: AtomicKind::Exchange, d: None, high: None, .. })
    }

    /// Whether it touches memory that other threads see, or waits for them.
    pub const fn is_shared_effect(&self) -> bool {
        matches!(self, Op::Atomic { .. } | Op::Barrier { .. } | Op::Fence)
    }
}

/// Shared, local and parameter addresses may be 32 bits wide in a 64-bit program.
const fn address_width(space: Space) -> Wants {
    match space {
        Space::Global | Space::Generic => Wants::Address,
        Space::Const | Space::Shared | Space::Local | Space::Param => Wants::AtLeast(Width::B32),
    }
}

impl AtomicKind {
    /// Whether the result depends on the order in which threads take their turns, the old value left aside.
    pub const fn depends_on_order(self) -> bool {
        !matches!(
            self,
            AtomicKind::Int(
                IntOp::Add
                    | IntOp::And
                    | IntOp::Or
                    | IntOp::Xor
                    | IntOp::Min(Signedness::Unsigned | Signedness::Signed)
                    | IntOp::Max(Signedness::Unsigned | Signedness::Signed)
            )
        )
    }
    pub(super) const fn is_known(self) -> bool {
        match self {
            AtomicKind::Int(op) => is_combining(op),
            _ => true,
        }
    }
}

impl Reduction {
    pub(super) const fn is_known(self) -> bool {
        match self {
            Reduction::Int(op) => is_combining(op),
            Reduction::Float { .. } => true,
        }
    }
}

const fn is_combining(op: IntOp) -> bool {
    matches!(op, IntOp::Add | IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Min(_) | IntOp::Max(_))
}
