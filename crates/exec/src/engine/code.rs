//! A kernel made ready to run: decoded once, for all groups and workers.

use super::barrier::may_wait;
use super::lent::is_single;
use crate::native::is_supported;
use crate::scalar::Conversion;
use roundonce_arith::Profile;
use roundonce_arith::batch::Batch;
use roundonce_ir::{Cfg, Guard, Kernel, Liveness, Op, Operand, Program, Reg, Role, Space, Terminator, Width};

/// One instruction, ready.
#[derive(Debug)]
pub(crate) struct Step<'p> {
    pub(crate) op: &'p Op,
    pub(crate) guard: Option<Guard>,
    pub(crate) place: u32,
    /// Registers that nobody reads afterwards.
    pub(crate) deaths: Vec<Reg>,
    /// The arithmetic over slices.
    pub(crate) batch: Option<Batch>,
    /// The last operation of its source instruction.
    pub(crate) completes: bool,
    /// Native code may begin behind it: it is the interpreter's, or it stores.
    pub(crate) borders: bool,
    /// A load whose lanes one single-precision operation alone reads, before memory may change.
    pub(crate) lends: bool,
    /// The store of this operation's result, if it is the next step and nobody else reads the result.
    pub(crate) stores: Option<&'p Op>,
}

impl Step<'_> {
    /// Whether a register is not read afterwards.
    pub(crate) fn is_last_use(&self, reg: Reg) -> bool {
        self.deaths.contains(&reg)
    }
}

/// A block, ready.
#[derive(Debug)]
pub(crate) struct Steps<'p> {
    pub(crate) steps: Vec<Step<'p>>,
    pub(crate) terminator: &'p Terminator,
    pub(crate) deaths: Vec<Reg>,
    pub(crate) place: u32,
    /// Its end is an instruction of its own, not the way into the next block.
    pub(crate) ends_by_instruction: bool,
}

/// A kernel, ready.
#[derive(Debug)]
pub(crate) struct Code<'p> {
    pub(crate) program: &'p Program,
    pub(crate) kernel: &'p Kernel,
    pub(crate) blocks: Vec<Steps<'p>>,
    pub(crate) flow: Cfg,
    pub(crate) liveness: Liveness,
    pub(crate) profile: Profile,
}

impl<'p> Code<'p> {
    pub(crate) fn new(program: &'p Program, kernel: &'p Kernel, profile: Profile) -> Code<'p> {
        let liveness = Liveness::of(kernel);
        let blocks = kernel.blocks.iter().enumerate().map(|(index, block)| {
            let mut deaths = liveness.last_uses(kernel, index).into_iter();
            let places = block.instructions.iter().skip(1).map(|next| next.loc);
            let mut next_places = places.map(Some).chain([None]);
            let steps = block.instructions.iter().map(|instruction| {
                let batch = match &instruction.op {
                    Op::Float { operation, .. } => Some(Batch::new(*operation, &profile)),
                    _ => None,
                };
                Step {
                    op: &instruction.op,
                    guard: instruction.guard,
                    place: instruction.loc,
                    deaths: deaths.next().unwrap_or_default(),
                    batch,
                    completes: next_places.next().flatten() != Some(instruction.loc),
                    borders: matches!(instruction.op, Op::Store { .. })
                        || !is_supported(kernel, &instruction.op, instruction.guard.is_some()),
                    lends: false,
                    stores: None,
                }
            });
            let mut steps: Vec<Step<'p>> = steps.collect();
            for at in 0..steps.len() {
                steps[at].lends = lends(kernel, &steps[at..]);
                steps[at].stores = stored(&steps[at..]);
            }
            Steps {
                steps,
                terminator: &block.terminator,
                deaths: deaths.next().unwrap_or_default(),
                place: block.loc,
                ends_by_instruction: block.loc != 0
                    && block.instructions.last().is_none_or(|last| last.loc != block.loc),
            }
        });
        let blocks = blocks.collect();
        Code { program, kernel, blocks, flow: Cfg::of(kernel), liveness, profile }
    }

    /// Whether blocks may talk to each other while they run: then they run in order, on one thread.
    pub(crate) fn blocks_communicate(&self) -> bool {
        self.steps().any(|step| match step.op {
            Op::Atomic { space, .. } => matches!(space, Space::Global | Space::Generic),
            Op::Fence => true,
            _ => false,
        })
    }

    /// All instructions.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step<'p>> {
        self.blocks.iter().flat_map(|block| &block.steps)
    }

    /// For each byte of the parameter block that is the start of an address: whether stores may go where it points.
    /// Whatever a parameter's value flows into counts as derived from it; what memory gives may be anything.
    pub(crate) fn written_params(&self) -> Written {
        let count = self.kernel.registers.len();
        // By register: the parameters (as bits, the first 62) that its value may come from; the top bit is "anything".
        let mut from = vec![0u64; count];
        let params = &self.kernel.params;
        let bit = |offset: i64| {
            let index = params
                .iter()
                .position(|param| (param.offset as i64..param.offset as i64 + param.size as i64).contains(&offset));
            index.filter(|&index| index < 62).map_or(Written::ANYTHING, |index| 1 << index)
        };
        let mut written = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for step in self.steps() {
                let mut sources = 0;
                step.op.registers(|role, reg| {
                    if role == Role::Use {
                        sources |= from[reg.0 as usize];
                    }
                });
                use roundonce_ir::Special;
                let given = match step.op {
                    Op::Load { space: Space::Param, address: Operand::Imm(at), offset, .. } => {
                        bit((*at as i64).wrapping_add(*offset))
                    }
                    Op::Load { .. } | Op::Atomic { .. } => Written::ANYTHING,
                    Op::Special { special: Special::Address(_), .. } => Written::VARIABLES,
                    _ => sources,
                };
                if let Op::Store { address, space, .. } | Op::Atomic { address, space, .. } = step.op
                    && matches!(space, Space::Global | Space::Generic)
                {
                    // A constant address is nobody's.
                    let target = match address {
                        Operand::Reg(reg) => from[reg.0 as usize],
                        Operand::Imm(_) => Written::ANYTHING,
                    };
                    changed |= written | target != written;
                    written |= target;
                }
                step.op.registers(|role, reg| {
                    if role == Role::Def {
                        let old = from[reg.0 as usize];
                        changed |= old | given != old;
                        from[reg.0 as usize] |= given;
                    }
                });
            }
        }
        Written(written)
    }
}

/// Whether the first step is a load whose lanes may stay in memory until they are used.
fn lends(kernel: &Kernel, steps: &[Step<'_>]) -> bool {
    let [first, rest @ ..] = steps else { return false };
    let Op::Load { d, space: Space::Global | Space::Generic, bytes: 4, .. } = first.op else { return false };
    let (&[Some(d)], None) = (&d[..], first.guard) else { return false };
    if kernel.width(d) != Width::B32 {
        return false;
    }
    for step in rest {
        let (mut reads, mut writes) = (step.guard.is_some_and(|guard| guard.pred == d), false);
        step.op.registers(|role, reg| {
            reads |= reg == d && role == Role::Use;
            writes |= reg == d && role == Role::Def;
        });
        if reads {
            return is_single(step.op) && step.guard.is_none() && (writes || step.is_last_use(d));
        }
        // Whatever may change memory, or the lanes at work, or let native code begin, which looks into registers.
        let disturbs = matches!(step.op, Op::Store { .. } | Op::Print { .. } | Op::Exit | Op::Trap { .. });
        if writes || disturbs || step.borders || step.op.is_shared_effect() || may_wait(step.op) {
            return false;
        }
    }
    false
}

/// The second step, if all it does is store what the first computes.
fn stored<'p>(steps: &[Step<'p>]) -> Option<&'p Op> {
    let [first, store, ..] = steps else { return None };
    let (Op::Float { d, .. }, true, None, None) = (first.op, is_single(first.op), first.guard, store.guard) else {
        return None;
    };
    let Op::Store { values, bytes: 4, width: Width::B32, space: Space::Global | Space::Generic, address, .. } =
        store.op
    else {
        return None;
    };
    let alone = values[..] == [Operand::Reg(*d)] && *address != Operand::Reg(*d) && store.is_last_use(*d);
    alone.then_some(store.op)
}

/// Which memory a kernel may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Written(u64);

impl Written {
    const ANYTHING: u64 = 1 << 63;
    const VARIABLES: u64 = 1 << 62;
    pub(crate) const fn param(self, index: usize) -> bool {
        self.0 & Written::ANYTHING != 0 || index >= 62 || self.0 >> index & 1 == 1
    }
    pub(crate) const fn variables(self) -> bool {
        self.0 & (Written::ANYTHING | Written::VARIABLES) != 0
    }
}

/// A conversion's particulars.
pub(crate) fn conversion(op: &Op) -> Option<Conversion> {
    match op {
        &Op::Convert { to, from, rounding, integral, flush, saturate, .. } => {
            Some(Conversion { from, to, rounding, integral, flush, saturate })
        }
        _ => None,
    }
}
