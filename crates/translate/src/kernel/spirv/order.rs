//! How SPIR-V says the order of memory: by the scope and the semantics of atomics and barriers, and by memory operands.

use roundonce_ir::{MemoryOrder, Scope, Semantics};

use super::body::Body;
use super::ids::{Id, Ty};
use crate::rules;

/// The memory of a block and of buffers.
const MEMORY: u64 = 0x100 | 0x200;

/// A scope: there are no clusters.
fn scope(scope: Scope) -> Id {
    let number = match scope {
        Scope::Block => 2,
        Scope::Cluster | Scope::Device => 1,
        Scope::System => 0,
    };
    Id::constant(Ty::U32, number)
}

fn semantics(semantics: Semantics) -> Id {
    let order = match semantics {
        Semantics::Weak | Semantics::Volatile | Semantics::Mmio | Semantics::Relaxed => {
            return Id::constant(Ty::U32, 0);
        }
        Semantics::Acquire => 0x2,
        Semantics::Release => 0x4,
        Semantics::AcquireRelease => 0x8,
        Semantics::SequentiallyConsistent => 0x10,
    };
    Id::constant(Ty::U32, order | MEMORY)
}

/// The scope and the semantics of an atomic, and the semantics where a comparison fails: nothing is written then.
pub(super) fn of_atomic(order: MemoryOrder) -> [Id; 3] {
    let failed = match order.semantics {
        Semantics::AcquireRelease => Semantics::Acquire,
        Semantics::Release => Semantics::Relaxed,
        other => other,
    };
    [scope(order.scope), semantics(order.semantics), semantics(failed)]
}

impl Body<'_> {
    /// Whether a load or a store of so many bytes is an atomic one: those that are volatile or for no other thread are none.
    pub(super) fn is_atomic_access(&self, bytes: u32) -> bool {
        let has_size = bytes == 4 || bytes == 8 && self.options.environment().full_opencl().is_none();
        has_size && !matches!(self.order.semantics, Semantics::Weak | Semantics::Volatile | Semantics::Mmio)
    }

    /// The memory operands of any other, with the fences that stand in for its order.
    pub(super) fn volatile(&mut self, alignment: String) -> String {
        match self.order.semantics {
            Semantics::Weak => return alignment,
            Semantics::Volatile => {}
            Semantics::Mmio => self.lose_order("memory of a device's register is accessed as volatile"),
            _ => self.lose_order("there is no atomic access of this size: it is volatile, beside fences"),
        }
        format!("Volatile|{alignment}")
    }

    /// A fence before a volatile access that releases.
    pub(super) fn fence_before(&mut self) {
        if self.order.semantics.releases() {
            self.fence();
        }
    }

    /// A fence behind a volatile access that acquires.
    pub(super) fn fence_behind(&mut self) {
        if self.order.semantics.acquires() {
            self.fence();
        }
    }

    /// The fence of the order at hand; one that is relaxed orders nothing.
    pub(super) fn fence(&mut self) {
        if self.order.semantics != Semantics::Relaxed {
            self.effect("OpMemoryBarrier", &[scope(self.order.scope), semantics(self.order.semantics)]);
        }
    }

    /// The scope and the semantics of memory at a barrier of a block or of a warp.
    pub(super) fn at_barrier(&self, own: u64) -> [Id; 2] {
        let least = MemoryOrder::new(Semantics::AcquireRelease, Scope::Block);
        let order = least.joined(self.order);
        let own = Id::constant(Ty::U32, own);
        [if self.order.is_weak() { own } else { scope(order.scope) }, semantics(order.semantics)]
    }

    fn lose_order(&mut self, what: &str) {
        let finding = self.finding(&rules::ORDER, what);
        self.losses.push(finding);
    }
}
