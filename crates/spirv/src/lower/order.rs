//! How a module orders memory for other invocations: decorations of variables and of members, memory operands, and the
//! scopes and semantics of atomics and barriers.

use roundonce_ir::{Instruction as Step, MemoryOrder, Op, Scope, Semantics};
use rspirv::spirv::{Decoration, ImageOperands, MemoryAccess, MemorySemantics, Op as Opcode, Scope as Invocations};

use super::value::Value;
use super::{Body, Result};

/// What a decoration of a variable or of a member says of every access. Coherent memory is read from where other
/// workgroups write it.
pub(super) fn decorated(decoration: u32) -> MemoryOrder {
    match Decoration::from_u32(decoration) {
        Some(Decoration::Volatile) => MemoryOrder::VOLATILE,
        Some(Decoration::Coherent) => MemoryOrder::RELAXED,
        _ => MemoryOrder::WEAK,
    }
}

impl Body<'_> {
    /// Puts an access or a fence into the block.
    pub(super) fn emit_ordered(&mut self, op: Op, order: MemoryOrder) {
        self.operations += 1;
        let step = Step { order, ..Step::new(op, self.place) };
        self.blocks[self.current].instructions.push(step);
    }

    /// Of the decorations of an id.
    pub(super) fn order_of_id(&self, id: u32) -> MemoryOrder {
        let all = self.lowering.facts.decorations_of(id).map(|at| decorated(at.value));
        all.fold(MemoryOrder::WEAK, MemoryOrder::joined)
    }

    /// The pointer of an access that has memory operands.
    pub(super) fn accessed(&self, pointer: Value, operands: &[u32]) -> Value {
        match pointer {
            Value::Memory(mut pointer) => {
                pointer.order = pointer.order.joined(self.order_of_operands(operands));
                Value::Memory(pointer)
            }
            other => other,
        }
    }

    pub(super) fn order_of_operands(&self, operands: &[u32]) -> MemoryOrder {
        let Some((&mask, rest)) = operands.split_first() else { return MemoryOrder::WEAK };
        let has = |bit: MemoryAccess| mask & bit.bits() != 0;
        let mut order = if has(MemoryAccess::VOLATILE) { MemoryOrder::VOLATILE } else { MemoryOrder::WEAK };
        let first = usize::from(has(MemoryAccess::ALIGNED));
        // Made available or visible: each has a scope behind the alignment.
        let visible = [MemoryAccess::MAKE_POINTER_AVAILABLE, MemoryAccess::MAKE_POINTER_VISIBLE];
        for &scope in rest.iter().skip(first).take(visible.into_iter().filter(|bit| has(*bit)).count()) {
            order = order.joined(MemoryOrder::new(Semantics::Relaxed, self.scope(scope)));
        }
        order
    }

    /// Of an image and the image operands of an access to it.
    pub(super) fn order_of_image(&self, image: u32, mask: Option<&u32>) -> MemoryOrder {
        let (facts, module) = (&self.lowering.facts, self.lowering.module);
        let variable = facts.defined_by(module, image, Opcode::Load).map(|load| module.operand_word(load, 2));
        let order = variable.map_or(MemoryOrder::WEAK, |variable| self.order_of_id(variable));
        let has = |bit: ImageOperands| mask.is_some_and(|mask| mask & bit.bits() != 0);
        order.joined(if has(ImageOperands::VOLATILE_TEXEL) { MemoryOrder::VOLATILE } else { MemoryOrder::WEAK }).joined(
            match has(ImageOperands::MAKE_TEXEL_AVAILABLE | ImageOperands::MAKE_TEXEL_VISIBLE) {
                true => MemoryOrder::RELAXED,
                false => MemoryOrder::WEAK,
            },
        )
    }

    /// Of an atomic or a barrier: the places of its scope and of its semantics.
    pub(super) fn order_of_semantics(&self, scope: usize, semantics: usize) -> Result<MemoryOrder> {
        let scope = self.scope(self.operand(scope)?);
        let Some(bits) = self.lowering.constants.scalar(self.operand(semantics)?) else {
            return Ok(MemoryOrder::new(Semantics::SequentiallyConsistent, scope));
        };
        let bits = MemorySemantics::from_bits_truncate(bits as u32);
        let known = [
            (MemorySemantics::SEQUENTIALLY_CONSISTENT, Semantics::SequentiallyConsistent),
            (MemorySemantics::ACQUIRE_RELEASE, Semantics::AcquireRelease),
            (MemorySemantics::RELEASE, Semantics::Release),
            (MemorySemantics::ACQUIRE, Semantics::Acquire),
        ];
        let found = known.into_iter().find(|(bit, _)| bits.contains(*bit)).map(|(_, semantics)| semantics);
        Ok(match found {
            Some(semantics) => MemoryOrder::new(semantics, scope),
            None if bits.contains(MemorySemantics::VOLATILE) => MemoryOrder::VOLATILE,
            None => MemoryOrder::new(Semantics::Relaxed, scope),
        })
    }

    /// The threads of a scope; all where it is no constant.
    fn scope(&self, id: u32) -> Scope {
        let number = self.lowering.constants.scalar(id).and_then(|scope| Invocations::from_u32(scope as u32));
        match number {
            Some(
                Invocations::Workgroup | Invocations::Subgroup | Invocations::Invocation | Invocations::ShaderCallKHR,
            ) => Scope::Block,
            Some(Invocations::Device | Invocations::QueueFamily) => Scope::Device,
            Some(Invocations::CrossDevice) | None => Scope::System,
        }
    }
}
