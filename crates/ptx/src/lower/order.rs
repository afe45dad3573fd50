//! What an instruction says of the order of memory.

use roundonce_ir::{MemoryOrder, Scope, Semantics};

use super::Body;
use super::statement::Inst;

impl<'m, 'a> Inst<'m, 'a> {
    /// How its accesses are ordered, or the fence that it is.
    pub(super) fn memory_order(&self) -> MemoryOrder {
        let scope = self.modifiers.iter().find_map(|modifier| match *modifier {
            ".cta" => Some(Scope::Block),
            ".cluster" => Some(Scope::Cluster),
            ".gpu" | ".gl" => Some(Scope::Device),
            ".sys" => Some(Scope::System),
            _ => None,
        });
        let named = self.modifiers.iter().find_map(|modifier| match *modifier {
            ".relaxed" => Some(Semantics::Relaxed),
            ".acquire" => Some(Semantics::Acquire),
            ".release" => Some(Semantics::Release),
            ".acq_rel" => Some(Semantics::AcquireRelease),
            ".sc" => Some(Semantics::SequentiallyConsistent),
            _ => None,
        });
        match self.row.name {
            "ld" | "st" if self.has(".mmio") => MemoryOrder::new(Semantics::Mmio, Scope::System),
            // Caching that machines have for volatile accesses.
            "ld" | "st" if self.has(".volatile") || self.has(".cv") || self.has(".wt") => MemoryOrder::VOLATILE,
            "ld" | "st" => {
                named.map_or(MemoryOrder::WEAK, |semantics| MemoryOrder::new(semantics, scope.unwrap_or(Scope::Device)))
            }
            "atom" | "red" => MemoryOrder::new(named.unwrap_or(Semantics::Relaxed), scope.unwrap_or(Scope::Device)),
            // Since there are scopes, the same as `fence.sc`.
            "membar" => MemoryOrder::new(Semantics::SequentiallyConsistent, scope.unwrap_or(Scope::System)),
            "fence" => MemoryOrder::new(named.unwrap_or(Semantics::AcquireRelease), scope.unwrap_or(Scope::System)),
            // An arrival releases, and who waits acquires.
            "mbarrier" => MemoryOrder::new(Semantics::AcquireRelease, scope.unwrap_or(Scope::Block)),
            _ => MemoryOrder::WEAK,
        }
    }
}

impl Body<'_, '_, '_> {
    /// Runs what emits arrivals at a barrier object: a copy that completes on one releases what it wrote as an arrival does.
    pub(super) fn releasing(&mut self, emit: impl FnOnce(&mut Self)) {
        let order = self.order;
        if order.semantics != Semantics::AcquireRelease {
            self.order = MemoryOrder::new(Semantics::AcquireRelease, Scope::Cluster);
        }
        emit(self);
        self.order = order;
    }
}
