//! What the source's text says of the order of accesses, which the program form leaves out: whether an access is volatile
//! or ordered, for whom, and fences inside a block.

use roundonce_ir::{Kernel, Op};

/// The words that stand behind `ld`, `st`, `atom` or `red`; empty where there is none.
#[derive(Clone, Copy, Default)]
pub(super) struct Ordering {
    /// `.volatile`, `.relaxed` and so on.
    pub(super) semantics: &'static str,
    /// `.gpu` and so on.
    pub(super) scope: &'static str,
}

static SEMANTICS: [&str; 6] = [".volatile", ".mmio", ".relaxed", ".acquire", ".release", ".acq_rel"];
static SCOPES: [&str; 4] = [".cta", ".cluster", ".gpu", ".sys"];

/// The opcode of an instruction of PTX with its modifiers.
fn spelling(text: &str) -> &str {
    text.split_ascii_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default().trim_end_matches(';')
}

fn word_of(spelling: &str, words: &[&'static str]) -> &'static str {
    let mut pieces = spelling.split('.');
    pieces.find_map(|piece| words.iter().find(|word| word[1..] == *piece)).copied().unwrap_or_default()
}

impl Ordering {
    /// Of an operation at a place.
    pub(super) fn of(kernel: &Kernel, loc: u32, op: &Op) -> Ordering {
        if !matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. }) {
            return Ordering::default();
        }
        let text = kernel.source_locs.get(loc as usize).map_or("", |place| place.text.as_str());
        let spelling = spelling(text);
        match spelling.split('.').next() {
            Some("ld" | "ldu" | "st" | "atom" | "red") => {
                let semantics = word_of(spelling, &SEMANTICS);
                // A weak access has a word for where it is cached, which is no scope.
                let is_atomic = matches!(op, Op::Atomic { .. });
                let scope = if is_atomic || !semantics.is_empty() { word_of(spelling, &SCOPES) } else { "" };
                // Targets without clusters have the next wider scope.
                let scope = if scope == ".cluster" { ".gpu" } else { scope };
                Ordering { semantics, scope }
            }
            // SPIR-V's memory operand.
            _ if text.ends_with(" Volatile") || text.contains(" Volatile|") => {
                let semantics = if matches!(op, Op::Atomic { .. }) { "" } else { ".volatile" };
                Ordering { semantics, scope: "" }
            }
            _ => Ordering::default(),
        }
    }

    /// Whether the words are those of sm_70 and later.
    pub(super) fn is_of_memory_model(self) -> bool {
        !matches!(self.semantics, "" | ".volatile")
    }
}

/// A fence as the source spells it, where PTX has the spelling on every target; otherwise the strongest.
pub(super) fn fence(kernel: &Kernel, loc: u32) -> &'static str {
    let text = kernel.source_locs.get(loc as usize).map_or("", |place| place.text.as_str());
    let spelling = spelling(text);
    let known = ["membar.gl", "membar.sys", "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.sc.gpu", "fence.sc.sys"];
    known.into_iter().find(|known| *known == spelling).unwrap_or("membar.sys")
}

/// Whether a fence inside a block of threads, which is no operation of the program, stands between two places.
pub(super) fn has_block_fence(kernel: &Kernel, after: u32, to: u32) -> bool {
    let places = kernel.source_locs.get(after as usize + 1..to as usize).unwrap_or_default();
    places.iter().any(|place| {
        let spelling = spelling(&place.text);
        matches!(spelling.split('.').next(), Some("membar" | "fence")) && word_of(spelling, &[".cta"]) == ".cta"
    })
}
