//! Special registers.

use super::Check;
use super::gate::Gated;
use crate::ast::Span;
use roundonce_isa::{Gate, Version};

/// A special register, or several that a number at the end of the name tells apart.
struct Special {
    name: &'static str,
    /// The first number and the last, and what stands behind.
    numbers: Option<(u32, u32, &'static str)>,
    /// How many numbers it holds.
    lanes: usize,
    /// The widths at which a `mov` reads it, the widest last; a predicate has 1.
    widths: &'static [u32],
    gate: Gate,
}

const fn one(name: &'static str, widths: &'static [u32], gate: Gate) -> Special {
    Special { name, numbers: None, lanes: 1, widths, gate }
}
const fn four(name: &'static str, widths: &'static [u32], gate: Gate) -> Special {
    Special { lanes: 4, ..one(name, widths, gate) }
}
const fn numbered(
    name: &'static str,
    numbers: (u32, u32, &'static str),
    widths: &'static [u32],
    gate: Gate,
) -> Special {
    Special { numbers: Some(numbers), ..one(name, widths, gate) }
}
const fn since(major: u16, minor: u16, target: u32) -> Gate {
    Gate::since(Version(major, minor), target)
}

const ALWAYS: Gate = since(1, 0, 0);
const CLUSTER: Gate = since(7, 8, 90);

const WORD: &[u32] = &[32];
const WIDE: &[u32] = &[64];

/// As PTX ISA and ptxas 12.9 and 13.5 have them. Since when `%envreg` is there is ptxas's word: the manual has 2.1.
#[rustfmt::skip] // A table.
static SPECIAL: &[Special] = &[
    four("%tid", &[16, 32], ALWAYS),
    four("%ntid", &[16, 32], ALWAYS),
    four("%ctaid", &[16, 32], ALWAYS),
    four("%nctaid", &[16, 32], ALWAYS),
    one("%gridid", &[16, 32, 64], ALWAYS),
    one("%laneid", WORD, since(1, 3, 0)),
    one("%warpid", WORD, since(1, 3, 0)),
    one("%nwarpid", WORD, since(2, 0, 20)),
    one("%smid", WORD, since(1, 3, 0)),
    one("%nsmid", WORD, since(2, 0, 20)),
    one("%is_explicit_cluster", &[1], CLUSTER),
    four("%clusterid", WORD, CLUSTER),
    four("%nclusterid", WORD, CLUSTER),
    four("%cluster_ctaid", WORD, CLUSTER),
    four("%cluster_nctaid", WORD, CLUSTER),
    one("%cluster_ctarank", WORD, CLUSTER),
    one("%cluster_nctarank", WORD, CLUSTER),
    one("%lanemask_eq", WORD, since(2, 0, 20)),
    one("%lanemask_le", WORD, since(2, 0, 20)),
    one("%lanemask_lt", WORD, since(2, 0, 20)),
    one("%lanemask_ge", WORD, since(2, 0, 20)),
    one("%lanemask_gt", WORD, since(2, 0, 20)),
    one("%clock", WORD, ALWAYS),
    one("%clock_hi", WORD, since(5, 0, 20)),
    one("%clock64", WIDE, since(2, 0, 20)),
    one("%globaltimer", WIDE, since(3, 1, 30)),
    one("%globaltimer_lo", WORD, since(3, 1, 30)),
    one("%globaltimer_hi", WORD, since(3, 1, 30)),
    numbered("%pm", (0, 3, ""), WORD, since(1, 3, 0)),
    numbered("%pm", (4, 7, ""), WORD, since(3, 0, 20)),
    numbered("%pm", (0, 7, "_64"), WIDE, since(4, 0, 50)),
    numbered("%envreg", (0, 31, ""), WORD, ALWAYS),
    one("%reserved_smem_offset_begin", WORD, since(7, 6, 80)),
    one("%reserved_smem_offset_end", WORD, since(7, 6, 80)),
    one("%reserved_smem_offset_cap", WORD, since(7, 6, 80)),
    numbered("%reserved_smem_offset_", (0, 1, ""), WORD, since(7, 6, 80)),
    one("%total_smem_size", WORD, since(4, 1, 20)),
    one("%aggr_smem_size", WORD, since(8, 1, 90)),
    one("%dynamic_smem_size", WORD, since(4, 1, 20)),
    one("%current_graph_exec", WIDE, since(8, 0, 50)),
];

impl Special {
    fn is(&self, name: &str) -> bool {
        let Some((first, last, behind)) = self.numbers else { return self.name == name };
        let digits = name.strip_prefix(self.name).and_then(|rest| rest.strip_suffix(behind));
        digits.is_some_and(|digits| {
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let is_plain = is_plain && (digits == "0" || !digits.starts_with('0'));
            is_plain && digits.parse().is_ok_and(|number| (first..=last).contains(&number))
        })
    }
}

fn find(name: &str) -> Option<&'static Special> {
    SPECIAL.iter().find(|row| row.is(name))
}

/// `%tid`, `%envreg7`, `%pm3_64`.
pub(crate) fn is_special(name: &str) -> bool {
    find(name).is_some()
}

/// How many numbers a special register holds.
pub(crate) fn special_lanes(name: &str) -> usize {
    find(name).map_or(1, |row| row.lanes)
}

/// The widths at which a `mov` reads a special register, the widest last.
pub(super) fn special_widths(name: &str) -> &'static [u32] {
    find(name).map_or(WORD, |row| row.widths)
}

impl Check<'_, '_> {
    /// That the version and the target of the module have a special register, if a name is one.
    pub(super) fn special(&mut self, name: &str, span: Span) {
        let Some(row) = find(name).filter(|row| !self.passes(&row.gate, self.target)) else { return };
        let name = format!("`{name}`");
        let gated = Gated { span, name, gate: &row.gate, source: "PTX ISA, 10 special registers", note: "" };
        self.report_gate(&gated, self.target);
    }
}
