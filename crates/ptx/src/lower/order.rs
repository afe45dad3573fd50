//! What an instruction says of the order of memory.

use roundonce_ir::{MemoryOrder, Scope, Semantics};

use super::Body;
use super::statement::Inst;

impl<'m, 'a> Inst<'m, 'a> {
    /// How its accesses are ordered, or the fence that it is.
    pub(super) fn memory_order(&self) -> MemoryOrder {
        let of = |semantics: Semantics, scope: Scope| {
            MemoryOrder::new(self.semantics().unwrap_or(semantics), self.scope().unwrap_or(scope))
        };
        match self.row.name {
            "ld" | "st" if self.has(".mmio") => MemoryOrder::new(Semantics::Mmio, Scope::System),
            // Caching that machines have for volatile accesses.
            "ld" | "st" if self.has(".volatile") || self.has(".cv") || self.has(".wt") => MemoryOrder::VOLATILE,
            "ld" | "st" if self.semantics().is_none() => MemoryOrder::WEAK,
            "ld" | "st" | "atom" | "red" => of(Semantics::Relaxed, Scope::Device),
            // Since there are scopes, the same as `fence.sc`.
            "membar" => of(Semantics::SequentiallyConsistent, Scope::System),
            "fence" => of(Semantics::AcquireRelease, Scope::System),
            // An arrival releases, and who waits acquires.
            "mbarrier" if !self.has(".init") => {
                MemoryOrder::new(Semantics::AcquireRelease, self.scope().unwrap_or(Scope::Block))
            }
            _ => MemoryOrder::WEAK,
        }
    }

    fn scope(&self) -> Option<Scope> {
        self.modifiers.iter().find_map(|modifier| match *modifier {
            ".cta" => Some(Scope::Block),
            ".cluster" => Some(Scope::Cluster),
            ".gpu" | ".gl" => Some(Scope::Device),
            ".sys" => Some(Scope::System),
            _ => None,
        })
    }

    fn semantics(&self) -> Option<Semantics> {
        self.modifiers.iter().find_map(|modifier| match *modifier {
            ".relaxed" => Some(Semantics::Relaxed),
            ".acquire" => Some(Semantics::Acquire),
            ".release" => Some(Semantics::Release),
            ".acq_rel" => Some(Semantics::AcquireRelease),
            ".sc" => Some(Semantics::SequentiallyConsistent),
            _ => None,
        })
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
