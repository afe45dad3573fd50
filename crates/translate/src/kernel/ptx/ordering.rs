//! How PTX says the order of memory: words of the access where the target has scopes, from sm_70 on, and fences beside it
//! elsewhere.

use roundonce_ir::{Instruction, MemoryOrder, Op, Scope, Semantics};
use roundonce_isa::Gate;

use super::super::{fence_beyond_order, location};
use super::body::{Body, Refusal, Written};
use super::needs::since;
use crate::rules::ORDER;

/// The words that stand behind `ld`, `st`, `atom` or `red`; empty where there is none.
#[derive(Clone, Copy, Default)]
pub(super) struct Ordering {
    /// `.volatile`, `.relaxed` and so on.
    pub(super) semantics: &'static str,
    /// `.gpu` and so on.
    pub(super) scope: &'static str,
    /// What stands before the access and behind it.
    before: Option<&'static str>,
    behind: Option<&'static str>,
}

/// The targets whose accesses have semantics and scopes.
const MEMORY_MODEL: Gate = since(6, 0, 70);
/// Those whose atomics have scopes.
const ATOMIC_SCOPES: Gate = since(5, 0, 60);
const CLUSTERS: Gate = since(7, 8, 90);
const MMIO: Gate = since(8, 2, 70);
/// Grids that start before those that they depend on have ended.
const GRIDS: Gate = since(7, 8, 90);
/// Several addresses of one place.
const ALIASES: Gate = since(7, 5, 70);

/// The fence that every target has; where there are scopes it is `fence.sc`.
const fn membar(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => "membar.cta",
        Scope::Cluster | Scope::Device => "membar.gl",
        Scope::System => "membar.sys",
    }
}

impl Ordering {
    /// A fence before an access, and one behind it.
    fn between(self, before: Option<&'static str>, behind: Option<&'static str>) -> Ordering {
        Ordering { before, behind, ..self }
    }
}

impl Body<'_> {
    /// An instruction's operation, with what its order asks for around it.
    pub(super) fn ordered(&mut self, instruction: &Instruction) -> Written {
        let order = instruction.effective_order();
        let none = Ordering::default();
        self.ordering = match &instruction.op {
            _ if order.is_weak() => none,
            Op::Load { .. } => self.access(order, true, instruction.loc)?,
            Op::Store { .. } => self.access(order, false, instruction.loc)?,
            op if op.is_atomic_store() => self.access(order, false, instruction.loc)?,
            Op::Atomic { d, .. } => self.atomic_order(order, d.is_some(), instruction.loc)?,
            Op::Fence if fence_beyond_order(self.kernel, instruction.loc).is_some() => {
                none.between(Some(self.kept_fence()?), None)
            }
            Op::Fence if order.semantics == Semantics::Relaxed => none,
            Op::Fence => none.between(Some(self.fence(order)?), None),
            Op::Barrier { .. } | Op::WarpBarrier { .. } => {
                let fence = Some(self.fence(order)?);
                none.between(fence, fence)
            }
            _ => {
                self.lose_order("an access to an image is written without an order", instruction.loc);
                none
            }
        };
        let Ordering { before, behind, .. } = self.ordering;
        before.into_iter().for_each(|fence| self.ins(&[fence], &[]));
        self.op(&instruction.op)?;
        behind.into_iter().for_each(|fence| self.ins(&[fence], &[]));
        Ok(())
    }

    /// Of a load or a store.
    fn access(&mut self, order: MemoryOrder, loads: bool, loc: u32) -> Result<Ordering, Refusal> {
        let volatile = Ordering { semantics: ".volatile", ..Ordering::default() };
        let total = order.semantics == Semantics::SequentiallyConsistent;
        let semantics = match order.semantics {
            Semantics::Mmio if self.may_have(&MMIO) => {
                self.using(MMIO, &["ld.mmio"])?;
                return Ok(Ordering { semantics: ".mmio.relaxed", scope: ".sys", ..volatile });
            }
            Semantics::Mmio => {
                self.lose_order("memory of a device's register is accessed as volatile", loc);
                return Ok(volatile);
            }
            Semantics::Volatile => return Ok(volatile),
            semantics if !self.may_have(&MEMORY_MODEL) => {
                // A volatile access is a relaxed one for the whole system.
                let fence = Some(membar(order.scope));
                let before = fence.filter(|_| total || !loads && semantics.releases());
                return Ok(volatile.between(before, fence.filter(|_| loads && semantics.acquires())));
            }
            semantics if loads && semantics.acquires() => ".acquire",
            Semantics::Release => ".release",
            _ => ".relaxed",
        };
        self.using(MEMORY_MODEL, &["ld.relaxed"])?;
        let words = Ordering { semantics, scope: self.scope_word(order.scope)?, ..Ordering::default() };
        Ok(words.between(total.then_some(membar(order.scope)), None))
    }

    /// Of an atomic. One that says nothing is relaxed, for the device; `red` does not acquire.
    fn atomic_order(&mut self, order: MemoryOrder, returns: bool, loc: u32) -> Result<Ordering, Refusal> {
        let MemoryOrder { semantics, scope } = order;
        let (acquires, releases) = (semantics.acquires(), semantics.releases());
        if acquires || releases {
            let total = semantics == Semantics::SequentiallyConsistent;
            if !self.may_have(&MEMORY_MODEL) {
                let relaxed = self.atomic_order(MemoryOrder { semantics: Semantics::Relaxed, scope }, returns, loc)?;
                let fence = Some(membar(scope));
                return Ok(relaxed.between(fence.filter(|_| releases), fence.filter(|_| acquires)));
            }
            self.using(MEMORY_MODEL, &["atom.acquire"])?;
            let semantics = match (acquires && returns, releases && !total) {
                (true, true) => ".acq_rel",
                (true, false) => ".acquire",
                (false, true) => ".release",
                (false, false) => ".relaxed",
            };
            let behind = match acquires && !returns {
                true => Some(self.fence(MemoryOrder { semantics: Semantics::AcquireRelease, scope })?),
                false => None,
            };
            let words = Ordering { semantics, scope: self.scope_word(scope)?, ..Ordering::default() };
            return Ok(words.between(total.then_some(membar(scope)), behind));
        }
        let scope = match scope {
            Scope::Device => "",
            Scope::System if self.may_have(&ATOMIC_SCOPES) => {
                self.using(ATOMIC_SCOPES, &["atom.sys"])?;
                ".sys"
            }
            Scope::System => {
                self.lose_order("an atomic for the whole system is one for the device", loc);
                ""
            }
            // Without a word it is for more.
            Scope::Block | Scope::Cluster if !self.has(&ATOMIC_SCOPES) => "",
            Scope::Block | Scope::Cluster => {
                self.using(ATOMIC_SCOPES, &["atom.cta"])?;
                self.scope_word(scope)?
            }
        };
        Ok(Ordering { scope, ..Ordering::default() })
    }

    /// Targets without clusters have the next wider scope.
    fn scope_word(&mut self, scope: Scope) -> Result<&'static str, Refusal> {
        Ok(match scope {
            Scope::Block => ".cta",
            Scope::Cluster if self.has(&CLUSTERS) => {
                self.using(CLUSTERS, &[".cluster"])?;
                ".cluster"
            }
            Scope::Cluster | Scope::Device => ".gpu",
            Scope::System => ".sys",
        })
    }

    /// A fence: the lighter one where the target has it.
    fn fence(&mut self, order: MemoryOrder) -> Result<&'static str, Refusal> {
        if order.semantics == Semantics::SequentiallyConsistent || !self.has(&MEMORY_MODEL) {
            return Ok(membar(order.scope));
        }
        self.using(MEMORY_MODEL, &["fence.acq_rel"])?;
        Ok(match self.scope_word(order.scope)? {
            ".cta" => "fence.acq_rel.cta",
            ".cluster" => "fence.acq_rel.cluster",
            ".gpu" => "fence.acq_rel.gpu",
            _ => "fence.acq_rel.sys",
        })
    }

    /// A fence of other grids or of another way to the same memory, as the source writes it.
    fn kept_fence(&mut self) -> Result<&'static str, Refusal> {
        let (gate, text) = match fence_beyond_order(self.kernel, self.loc).unwrap_or_default() {
            "griddepcontrol.wait" => (GRIDS, "griddepcontrol.wait"),
            "griddepcontrol.launch_dependents" => (GRIDS, "griddepcontrol.launch_dependents"),
            "fence.proxy.alias" | "membar.proxy.alias" => (ALIASES, "fence.proxy.alias"),
            other => {
                return Err(Refusal::NoCounterpart(format!("`{other}`, as the copies that it is about are written,")));
            }
        };
        self.using(gate, &[text])?;
        Ok(text)
    }

    fn lose_order(&mut self, what: &str, loc: u32) {
        let text = self.kernel.source_locs.get(loc as usize).map_or("", |place| place.text.as_str());
        self.losses.push(ORDER.finding(location(self.kernel, loc), format!("`{text}`: {what}")));
    }
}
