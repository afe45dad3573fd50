//! How accesses to memory are ordered for other threads, which a source asks for and a translation keeps.
//!
//! Engines do not look at it: they do what is written, in the order in which it is written.

use super::{Instruction, Op, Space};

/// What an access orders, and for whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemoryOrder {
    /// What is ordered.
    pub semantics: Semantics,
    /// Whom it is ordered for.
    pub scope: Scope,
}

/// What an access orders.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Semantics {
    /// Nothing: no other thread accesses the place meanwhile.
    #[default]
    Weak,
    /// It is done as often as the program says, for the whole system.
    Volatile,
    /// The same, of memory that is a device's register (PTX `.mmio`).
    Mmio,
    /// It is one access, which others see, and orders no other.
    Relaxed,
    /// What follows comes after it.
    Acquire,
    /// What precedes comes before it.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and all such accesses have one order that all threads agree on.
    SequentiallyConsistent,
}

/// The threads that an order is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Scope {
    /// The block's.
    #[default]
    Block,
    /// The cluster's.
    Cluster,
    /// The device's.
    Device,
    /// All, of the host and of other devices too.
    System,
}

impl Semantics {
    /// Whether what follows comes after.
    pub const fn acquires(self) -> bool {
        matches!(self, Semantics::Acquire | Semantics::AcquireRelease | Semantics::SequentiallyConsistent)
    }
    /// Whether what precedes comes before.
    pub const fn releases(self) -> bool {
        matches!(self, Semantics::Release | Semantics::AcquireRelease | Semantics::SequentiallyConsistent)
    }
}

impl MemoryOrder {
    /// Of an access that orders nothing.
    pub const WEAK: MemoryOrder = MemoryOrder::new(Semantics::Weak, Scope::Block);
    /// Of a volatile access.
    pub const VOLATILE: MemoryOrder = MemoryOrder::new(Semantics::Volatile, Scope::System);
    /// Of an atomic that asks for nothing else.
    pub const RELAXED: MemoryOrder = MemoryOrder::new(Semantics::Relaxed, Scope::Device);
    /// The strongest.
    pub const STRONGEST: MemoryOrder = MemoryOrder::new(Semantics::SequentiallyConsistent, Scope::System);

    /// Of semantics and a scope.
    pub const fn new(semantics: Semantics, scope: Scope) -> MemoryOrder {
        MemoryOrder { semantics, scope }
    }

    /// Whether it orders nothing.
    pub const fn is_weak(self) -> bool {
        matches!(self.semantics, Semantics::Weak)
    }

    /// Both, where an access has two orders.
    #[must_use]
    pub fn joined(self, other: MemoryOrder) -> MemoryOrder {
        let (one, two) = (self.semantics, other.semantics);
        let acquires = one.acquires() || two.acquires();
        let releases = one.releases() || two.releases();
        let rest = [Semantics::Mmio, Semantics::Volatile, Semantics::Relaxed];
        let semantics = match (acquires, releases) {
            _ if [one, two].contains(&Semantics::SequentiallyConsistent) => Semantics::SequentiallyConsistent,
            (true, true) => Semantics::AcquireRelease,
            (true, false) => Semantics::Acquire,
            (false, true) => Semantics::Release,
            (false, false) => rest.into_iter().find(|kind| [one, two].contains(kind)).unwrap_or_default(),
        };
        MemoryOrder { semantics, scope: self.scope.max(other.scope) }
    }

    /// Whether what has this order, with fences before and behind it, orders all that another one does.
    pub(super) fn covers(self, fences: [MemoryOrder; 2], other: MemoryOrder) -> bool {
        use Semantics::{Mmio, SequentiallyConsistent, Volatile, Weak};
        let orders = |order: MemoryOrder, asked: fn(Semantics) -> bool| {
            !asked(other.semantics) || (asked(order.semantics) && order.scope >= other.scope)
        };
        let is_total = |semantics| semantics == SequentiallyConsistent;
        let itself = match other.semantics {
            Weak => true,
            Volatile => matches!(self.semantics, Volatile | Mmio),
            Mmio => self.semantics == Mmio,
            _ => self.semantics != Weak && self.scope >= other.scope,
        };
        let [before, behind] = fences;
        itself
            && [self, before].iter().any(|order| orders(*order, Semantics::releases))
            && [self, behind].iter().any(|order| orders(*order, Semantics::acquires))
            && [self, before].iter().any(|order| orders(*order, is_total))
    }
}

impl Instruction {
    /// How what it does is ordered: of what the source asks for, that which an operation of its kind can have.
    pub fn effective_order(&self) -> MemoryOrder {
        use Semantics::{Acquire, AcquireRelease, Mmio, Relaxed, Release, Volatile, Weak};
        let order = self.order;
        let of = |semantics| MemoryOrder { semantics, ..order };
        match &self.op {
            // No other thread writes it, or sees it.
            Op::Load { space: Space::Param | Space::Const | Space::Local, .. } => MemoryOrder::WEAK,
            Op::Store { space: Space::Local, .. } => MemoryOrder::WEAK,
            Op::Load { .. } => match order.semantics {
                AcquireRelease => of(Acquire),
                Release => of(Relaxed),
                _ => order,
            },
            Op::Atomic { .. } if matches!(order.semantics, Weak) => MemoryOrder::RELAXED,
            Op::Atomic { .. } if matches!(order.semantics, Volatile | Mmio) => of(Relaxed),
            op if op.is_atomic_store() || matches!(op, Op::Store { .. }) => match order.semantics {
                AcquireRelease => of(Release),
                Acquire => of(Relaxed),
                _ => order,
            },
            Op::Atomic { .. } => order,
            Op::Fence => match order.semantics {
                Weak => MemoryOrder::STRONGEST,
                _ => order,
            },
            // The block itself is in order behind its barrier.
            Op::Barrier { .. } | Op::WarpBarrier { .. } if order.scope > Scope::Block => match order.semantics {
                semantics if semantics.acquires() || semantics.releases() => order,
                _ => MemoryOrder::WEAK,
            },
            Op::ImageLoad { .. } | Op::ImageStore { .. } => order,
            _ => MemoryOrder::WEAK,
        }
    }
}
