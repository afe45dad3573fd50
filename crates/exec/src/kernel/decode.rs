//! A kernel decoded once for all workers: per instruction its kills, its vector arithmetic, and what it may be fused
//! with.

use super::waits::Waits;
use crate::scalar::Conversion;
use roundonce_arith::batch::Batch;
use roundonce_arith::{Format, Profile};
use roundonce_ir::{
    Cfg, Dominators, Guard, Kernel, Liveness, Op, Operand, Program, Reg, Role, Space, Terminator, Width,
};

/// A decoded instruction.
#[derive(Debug)]
pub(crate) struct DecodedInst<'p> {
    pub(crate) op: &'p Op,
    pub(crate) guard: Option<Guard>,
    /// An index into the kernel's source locations.
    pub(crate) loc: u32,
    /// Registers whose last use this is.
    pub(crate) kills: Vec<Reg>,
    /// The arithmetic over slices.
    pub(crate) batch: Option<Batch>,
    /// The last operation of its source instruction.
    pub(crate) completes: bool,
    /// Native code may be entered behind it: it is the interpreter's, or it stores.
    pub(crate) precedes_native_entry: bool,
    /// A load that can be folded into its only use: one single-precision operation, before memory may change.
    pub(crate) is_foldable_load: bool,
    /// The store of this operation's result, if it is the next instruction and the result's only use.
    pub(crate) fused_store: Option<&'p Op>,
}

impl DecodedInst<'_> {
    /// Whether a register is not read afterwards.
    pub(crate) fn is_last_use(&self, reg: Reg) -> bool {
        self.kills.contains(&reg)
    }
}

/// A decoded basic block.
#[derive(Debug)]
pub(crate) struct DecodedBlock<'p> {
    pub(crate) insts: Vec<DecodedInst<'p>>,
    pub(crate) terminator: &'p Terminator,
    /// Registers whose last use is the terminator.
    pub(crate) kills: Vec<Reg>,
    pub(crate) loc: u32,
    /// Its terminator is an instruction of the source, not a fall-through.
    pub(crate) ends_by_instruction: bool,
}

/// The only definition of a register, which sets it to a number.
#[derive(Clone, Copy, Debug)]
struct ConstantDefinition {
    bits: u64,
    block: usize,
    at: usize,
}

/// A decoded kernel.
#[derive(Debug)]
pub(crate) struct DecodedKernel<'p> {
    pub(crate) program: &'p Program,
    pub(crate) kernel: &'p Kernel,
    pub(crate) blocks: Vec<DecodedBlock<'p>>,
    pub(crate) cfg: Cfg,
    pub(crate) liveness: Liveness,
    pub(crate) waits: Waits,
    pub(crate) has_barriers: bool,
    constants: Vec<Option<ConstantDefinition>>,
    dominators: Dominators,
    pub(crate) profile: Profile,
}

impl<'p> DecodedKernel<'p> {
    /// What the address of an access of so many elements must be a multiple of.
    pub(crate) fn alignment(&self, bytes: u32, count: usize) -> u32 {
        match self.kernel.aligned_vectors {
            true => (bytes * count as u32).next_power_of_two(),
            false => bytes,
        }
    }
    /// `compiles` says whether an instruction, guarded or not, may be part of native code.
    pub(crate) fn new(
        program: &'p Program,
        kernel: &'p Kernel,
        profile: Profile,
        compiles: impl Fn(&Op, Option<Guard>) -> bool,
    ) -> DecodedKernel<'p> {
        let liveness = Liveness::of(kernel);
        let blocks = kernel.blocks.iter().enumerate().map(|(index, block)| {
            let mut kills = liveness.last_uses(kernel, index).into_iter();
            let locs = block.instructions.iter().skip(1).map(|next| next.loc);
            let mut next_locs = locs.map(Some).chain([None]);
            let insts = block.instructions.iter().map(|instruction| {
                let batch = match &instruction.op {
                    Op::Float { operation, .. } => Some(Batch::new(*operation, &profile)),
                    _ => None,
                };
                DecodedInst {
                    op: &instruction.op,
                    guard: instruction.guard,
                    loc: instruction.loc,
                    kills: kills.next().unwrap_or_default(),
                    batch,
                    completes: next_locs.next().flatten() != Some(instruction.loc),
                    precedes_native_entry: matches!(instruction.op, Op::Store { .. } | Op::Atomic { .. })
                        || !compiles(&instruction.op, instruction.guard),
                    is_foldable_load: false,
                    fused_store: None,
                }
            });
            let mut insts: Vec<DecodedInst<'p>> = insts.collect();
            for at in 0..insts.len() {
                insts[at].is_foldable_load = is_foldable_load(kernel, &insts[at..]);
                insts[at].fused_store = fused_store(&insts[at..]);
            }
            DecodedBlock {
                insts,
                terminator: &block.terminator,
                kills: kills.next().unwrap_or_default(),
                loc: block.loc,
                ends_by_instruction: block.loc != 0
                    && block.instructions.last().is_none_or(|last| last.loc != block.loc),
            }
        });
        let blocks: Vec<DecodedBlock<'_>> = blocks.collect();
        let has_barriers =
            blocks.iter().flat_map(|block| &block.insts).any(|inst| matches!(inst.op, Op::Barrier { .. }));
        let cfg = Cfg::of(kernel);
        let dominators = Dominators::of(kernel);
        let waits = Waits::of(kernel, &cfg, &dominators, &liveness);
        let constants = constants(kernel);
        DecodedKernel { program, kernel, blocks, cfg, liveness, waits, has_barriers, constants, dominators, profile }
    }

    /// How blocks may communicate while they run, and at which source location: then they run in order, on one thread.
    pub(crate) fn communication(&self) -> Option<(&'static str, u32)> {
        let how = |inst: &DecodedInst<'_>| match inst.op {
            Op::Atomic { space: Space::Global | Space::Generic, .. } => {
                Some(("an atomic on memory that all blocks share", inst.loc))
            }
            Op::Fence => Some(("a fence orders what other blocks may see", inst.loc)),
            _ => None,
        };
        let waits = || {
            let block = &self.blocks[self.waits.between_blocks()?];
            let last = block.insts.last().map_or(0, |inst| inst.loc);
            Some(("a loop waits for what another block writes", if block.loc == 0 { last } else { block.loc }))
        };
        self.insts().find_map(how).or_else(waits)
    }

    /// The number that a register holds wherever an instruction runs: that of its only definition, which dominates the
    /// instruction.
    pub(crate) fn constant_at(&self, reg: Reg, block: usize, at: usize) -> Option<u64> {
        let definition = self.constants[reg.0 as usize]?;
        let dominates = match definition.block == block {
            true => definition.at < at,
            false => self.dominators.dominates(definition.block, block),
        };
        dominates.then_some(definition.bits)
    }

    /// All instructions.
    pub(crate) fn insts(&self) -> impl Iterator<Item = &DecodedInst<'p>> {
        self.blocks.iter().flat_map(|block| &block.insts)
    }
}

/// The registers that one instruction sets to a number, and no other one writes.
fn constants(kernel: &Kernel) -> Vec<Option<ConstantDefinition>> {
    let mut constants = vec![None; kernel.registers.len()];
    let mut is_written = vec![false; kernel.registers.len()];
    for (number, block) in kernel.blocks.iter().enumerate() {
        for (at, instruction) in block.instructions.iter().enumerate() {
            let definition = match instruction.op {
                Op::Move { d, a: Operand::Imm(bits) } if instruction.guard.is_none() => {
                    Some(ConstantDefinition { bits: bits & kernel.width(d).mask(), block: number, at })
                }
                _ => None,
            };
            instruction.op.registers(|role, reg| {
                if role == Role::Def {
                    let is_first = !std::mem::replace(&mut is_written[reg.0 as usize], true);
                    constants[reg.0 as usize] = definition.filter(|_| is_first);
                }
            });
        }
    }
    constants
}

/// A load is folded into an instruction that is at most so many behind it.
const FOLDS_WITHIN: usize = 64;

/// Whether the first instruction is a load whose lanes may stay in memory until they are used.
fn is_foldable_load(kernel: &Kernel, insts: &[DecodedInst<'_>]) -> bool {
    let [first, rest @ ..] = insts else { return false };
    let Op::Load { d, space: Space::Global | Space::Generic, bytes: 4, .. } = first.op else { return false };
    let (&[Some(d)], None) = (&d[..], first.guard) else { return false };
    if kernel.width(d) != Width::B32 {
        return false;
    }
    for inst in rest.iter().take(FOLDS_WITHIN) {
        let (mut reads, mut writes) = (inst.guard.is_some_and(|guard| guard.pred == d), false);
        inst.op.registers(|role, reg| {
            reads |= reg == d && role == Role::Use;
            writes |= reg == d && role == Role::Def;
        });
        if reads {
            return is_single_precision(inst.op) && inst.guard.is_none() && (writes || inst.is_last_use(d));
        }
        // Anything that may change memory or the active lanes, or that native code may be entered behind: native code
        // reads registers.
        let disturbs = matches!(
            inst.op,
            Op::Store { .. } | Op::Print { .. } | Op::Exit | Op::Trap { .. } | Op::Unsupported { .. }
        );
        if writes || disturbs || inst.precedes_native_entry || inst.op.is_shared_effect() || may_block(inst.op) {
            return false;
        }
    }
    false
}

/// The second instruction, if all it does is store what the first computes.
fn fused_store<'p>(insts: &[DecodedInst<'p>]) -> Option<&'p Op> {
    let [first, store, ..] = insts else { return None };
    let (Op::Float { d, .. }, true, None, None) = (first.op, is_single_precision(first.op), first.guard, store.guard)
    else {
        return None;
    };
    let Op::Store { values, bytes: 4, width: Width::B32, space: Space::Global | Space::Generic, address, .. } =
        store.op
    else {
        return None;
    };
    let only_use = values[..] == [Operand::Reg(*d)] && *address != Operand::Reg(*d) && store.is_last_use(*d);
    only_use.then_some(store.op)
}

/// Whether operands and result are lanes of 32 bits, so that memory can stand for them.
fn is_single_precision(op: &Op) -> bool {
    match op {
        Op::Float { operation, .. } => {
            let width = |format: Format| Width::holding(format.width());
            operation.operand_formats.is_none()
                && (width(operation.format), width(operation.source_format)) == (Width::B32, Width::B32)
        }
        _ => false,
    }
}

/// Whether lanes may have to wait for others at an instruction.
pub(crate) const fn may_block(op: &Op) -> bool {
    matches!(
        op,
        Op::Barrier { .. }
            | Op::WarpBarrier { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Elect { .. }
            | Op::Reduce { .. }
            | Op::MultiplyMatrices { .. }
    )
}

/// A conversion's parameters.
pub(crate) fn conversion(op: &Op) -> Option<Conversion> {
    match op {
        &Op::Convert { to, from, rounding, integral, flush, saturate, .. } => {
            Some(Conversion { from, to, rounding, integral, flush, saturate })
        }
        _ => None,
    }
}
