//! OpGroup…: reductions, scans and broadcasts of a workgroup, through shared memory, or of a subgroup.

use roundonce_ir::{
    BarrierKind, Comparand, Comparison, IntOp, Op, Operand, ShuffleMode, Signedness, Space, Terminator, VoteMode, Width,
};
use rspirv::spirv::{GroupOperation, Op as Opcode, Scope};

use super::subgroup::identity;
use super::types::Part;
use super::value::{Components, Pointer, Value};
use super::{Body, Result};

/// Invocations of the largest workgroup.
const LARGEST_GROUP: u64 = 1024;
/// Bytes between one invocation's value and the next.
const SLOT: u64 = 8;

/// The instruction of a subgroup that combines two values alike.
fn counterpart(op: Opcode) -> Opcode {
    match op {
        Opcode::GroupAll => Opcode::GroupNonUniformLogicalAnd,
        Opcode::GroupAny => Opcode::GroupNonUniformLogicalOr,
        Opcode::GroupIAdd => Opcode::GroupNonUniformIAdd,
        Opcode::GroupFAdd => Opcode::GroupNonUniformFAdd,
        Opcode::GroupFMin => Opcode::GroupNonUniformFMin,
        Opcode::GroupUMin => Opcode::GroupNonUniformUMin,
        Opcode::GroupSMin => Opcode::GroupNonUniformSMin,
        Opcode::GroupFMax => Opcode::GroupNonUniformFMax,
        Opcode::GroupUMax => Opcode::GroupNonUniformUMax,
        _ => Opcode::GroupNonUniformSMax,
    }
}

impl Body<'_> {
    pub(super) fn group(&mut self, op: Opcode) -> Result<()> {
        let of_workgroup = self.is_of_workgroup()?;
        match op {
            Opcode::GroupAll | Opcode::GroupAny if !of_workgroup => {
                let (_, a) = self.scalar(self.operand(1)?)?;
                let mode = if op == Opcode::GroupAll { VoteMode::All } else { VoteMode::Any };
                let d = self.vote(mode, a);
                self.define(vec![d])
            }
            Opcode::GroupAll | Opcode::GroupAny => {
                let (part, a) = self.scalar(self.operand(1)?)?;
                let value = self.combined_in_group(counterpart(op), GroupOperation::Reduce, part, a)?;
                self.define(vec![value])
            }
            Opcode::GroupBroadcast => self.broadcast(of_workgroup),
            _ if !of_workgroup => self.scan(counterpart(op)),
            _ => {
                let kind = GroupOperation::from_u32(self.operand(1)?);
                let kind = kind.ok_or_else(|| self.unsupported(format!("{} of this kind", self.opcode())))?;
                let Components { part, parts } = self.components(self.operand(2)?)?;
                let mut results = Vec::with_capacity(parts.len());
                for &a in &parts[..] {
                    results.push(self.combined_in_group(counterpart(op), kind, part, a)?);
                }
                self.define(results)
            }
        }
    }

    /// Whether the scope is Workgroup; otherwise it is Subgroup.
    fn is_of_workgroup(&mut self) -> Result<bool> {
        match self.lowering.constants.scalar(self.operand(0)?).and_then(|scope| Scope::from_u32(scope as u32)) {
            Some(Scope::Workgroup) => Ok(true),
            Some(Scope::Subgroup) => Ok(false),
            _ => {
                let name = self.opcode();
                Err(self.unsupported(format!("{name} of a scope other than Workgroup and Subgroup")))
            }
        }
    }

    /// `async_work_group_copy`, and the same of a subgroup: done at once, each invocation's elements by itself. Those of others are
    /// seen behind the wait.
    pub(super) fn copy_in_group(&mut self) -> Result<()> {
        let [to_id, from_id, count, stride, event] =
            [self.operand(1)?, self.operand(2)?, self.operand(3)?, self.operand(4)?, self.operand(5)?];
        let of_workgroup = self.is_of_workgroup()?;
        let ((to, element), (from, other)) = (self.memory(to_id)?, self.memory(from_id)?);
        let bytes = self.lowering.types.stride(self.typed_value(to_id)?.type_id, element);
        let Some(bytes) = bytes.filter(|_| element == other) else {
            return Err(self.malformed("the pointers are to elements of two types, or of no size"));
        };
        let mut numbers = [Operand::ZERO; 2];
        for (number, id) in numbers.iter_mut().zip([count, stride]) {
            let (part, value) = self.scalar(id)?;
            *number = self.resized(part, Signedness::Unsigned, 64, value);
        }
        let [count, stride] = numbers;
        // The stride is of the side that is not in local memory.
        let bytes = Operand::Imm(bytes);
        let far = self.int(IntOp::Mul, Width::B64, &[stride, bytes]);
        let (of_to, of_from) = if to.space == Space::Shared { (bytes, far) } else { (far, bytes) };
        let (first, step) = match of_workgroup {
            true => (self.local_index(Width::B64), self.group_size(Width::B64)),
            false => self.place_in_subgroup(),
        };
        self.count_up(Width::B64, first, count, step, |body, at| {
            let element_of = |body: &mut Self, pointer: Pointer, stride: Operand| {
                let distance = body.int(IntOp::Mul, Width::B64, &[at, stride]);
                let address = body.int(IntOp::Add, Width::B64, &[pointer.address, distance]);
                Value::Memory(Pointer { address, ..pointer })
            };
            let (from, to) = (element_of(body, from, of_from), element_of(body, to, of_to));
            let parts = body.load_from(&from, element)?;
            body.store_to(&to, element, &parts)
        })?;
        let (_, event) = self.scalar(event)?;
        self.define(vec![event])
    }

    /// `wait_group_events`: the copies are done; all invocations have done theirs behind a barrier.
    pub(super) fn wait_for_copies(&mut self) -> Result<()> {
        if self.is_of_workgroup()? {
            self.wait();
        } else {
            self.emit(Op::WarpBarrier { mask: Operand::Imm(Width::B32.mask()) });
        }
        Ok(())
    }

    /// The value of one invocation, by its local id.
    fn broadcast(&mut self, of_workgroup: bool) -> Result<()> {
        let Components { part, parts } = self.components(self.operand(1)?)?;
        let id = self.components(self.operand(2)?)?;
        let mut local = [Operand::ZERO; 3];
        for (place, &at) in local.iter_mut().zip(&id.parts[..]) {
            *place = self.resized(id.part, Signedness::Unsigned, 32, at);
        }
        let mut results = Vec::with_capacity(parts.len());
        for &a in &parts[..] {
            results.push(if of_workgroup {
                let from = self.index_in_group(Width::B32, local);
                self.exchange(part, a);
                let value = self.exchanged(part, from);
                self.wait();
                value
            } else {
                self.other_lane(part, ShuffleMode::Index, a, local[0])
            });
        }
        self.define(results)
    }

    /// The values of a workgroup combined, from its first invocation on: all, those up to this one, or those before it.
    fn combined_in_group(&mut self, op: Opcode, kind: GroupOperation, part: Part, a: Operand) -> Result<Operand> {
        let identity = identity(op, Some(kind), part).ok_or_else(|| self.malformed("the value is of another type"))?;
        if matches!(part, Part::Float(_)) {
            self.open(format!("{}: from the first invocation on", self.opcode()));
        }
        let limit = match kind {
            GroupOperation::Reduce => self.group_size(Width::B32),
            GroupOperation::InclusiveScan => {
                let own = self.local_index(Width::B32);
                self.int(IntOp::Add, Width::B32, &[own, Operand::Imm(1)])
            }
            GroupOperation::ExclusiveScan => self.local_index(Width::B32),
            _ => return Err(self.unsupported(format!("{} of this kind", self.opcode()))),
        };
        self.exchange(part, a);
        let all = self.fresh(part.width());
        self.emit(Op::Move { d: all, a: Operand::Imm(identity) });
        self.count_up(Width::B32, Operand::ZERO, limit, Operand::Imm(1), |body, at| {
            let value = body.exchanged(part, at);
            let combined = body.combined(op, part, all.into(), value);
            body.emit(Op::Move { d: all, a: combined });
            Ok(())
        })?;
        self.wait();
        Ok(all.into())
    }

    /// A loop over the numbers from one on below a limit, so far apart.
    fn count_up(
        &mut self,
        width: Width,
        first: Operand,
        limit: Operand,
        step: Operand,
        turn: impl FnOnce(&mut Self, Operand) -> Result<()>,
    ) -> Result<()> {
        let at = self.fresh(width);
        self.emit(Op::Move { d: at, a: first });
        let [head, inside, after] = [(); 3].map(|()| self.new_block());
        self.end(Terminator::Jump(head));
        self.current = head;
        if let Operand::Reg(pred) = self.compare(Comparison::Lt, Comparand::Unsigned(width), at.into(), limit) {
            self.end(Terminator::Branch { pred, then: inside, otherwise: after });
        }
        self.current = inside;
        turn(self, at.into())?;
        let next = self.int(IntOp::Add, width, &[at.into(), step]);
        self.emit(Op::Move { d: at, a: next });
        self.end(Terminator::Jump(head));
        self.current = after;
        Ok(())
    }

    fn wait(&mut self) {
        self.emit(Op::Barrier { kind: BarrierKind::Wait, id: Operand::ZERO, count: None });
    }

    /// Where an invocation's value lies.
    fn slot(&mut self, index: Operand) -> Operand {
        let start = match self.scratch {
            Some(start) => start,
            None => {
                let start = u64::from(self.kernel.shared_bytes).next_multiple_of(128);
                // The engine refuses more than there can be.
                self.kernel.shared_bytes = u32::try_from(start + LARGEST_GROUP * SLOT).unwrap_or(u32::MAX);
                *self.scratch.insert(start)
            }
        };
        let at = self.int(IntOp::MulWide(Signedness::Unsigned), Width::B32, &[index, Operand::Imm(SLOT)]);
        self.int(IntOp::Add, Width::B64, &[at, Operand::Imm(start)])
    }

    /// Gives this invocation's value to the others.
    fn exchange(&mut self, part: Part, a: Operand) {
        let index = self.local_index(Width::B32);
        let address = self.slot(index);
        let (value, width) = match part {
            Part::Bool => (self.select(Width::B32, a, Operand::Imm(1), Operand::ZERO), Width::B32),
            _ => (a, part.width()),
        };
        let (space, bytes, offset) = (Space::Shared, width.bits() / 8, 0);
        self.emit(Op::Store { values: vec![value], width, space, bytes, address, offset });
        self.wait();
    }

    /// What another invocation gave.
    fn exchanged(&mut self, part: Part, index: Operand) -> Operand {
        let address = self.slot(index);
        let width = if part == Part::Bool { Width::B32 } else { part.width() };
        let d = self.fresh(width);
        let (space, bytes, offset) = (Space::Shared, width.bits() / 8, 0);
        self.emit(Op::Load { d: vec![Some(d)], space, bytes, signed: false, address, offset });
        if part == Part::Bool { self.is_not_zero(width, d.into()) } else { d.into() }
    }
}
