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
    /// A predicate has 1; `None` where it depends on the version.
    bits: Option<u32>,
    gate: Gate,
}

const fn one(name: &'static str, bits: u32, gate: Gate) -> Special {
    Special { name, numbers: None, lanes: 1, bits: Some(bits), gate }
}
const fn four(name: &'static str, gate: Gate) -> Special {
    Special { name, numbers: None, lanes: 4, bits: Some(32), gate }
}
const fn numbered(name: &'static str, numbers: (u32, u32, &'static str), bits: u32, gate: Gate) -> Special {
    Special { name, numbers: Some(numbers), lanes: 1, bits: Some(bits), gate }
}
const fn since(major: u16, minor: u16, target: u32) -> Gate {
    Gate::since(Version(major, minor), target)
}

const ALWAYS: Gate = since(1, 0, 0);
const CLUSTER: Gate = since(7, 8, 90);

/// As PTX ISA and ptxas 12.9 and 13.5 have them. Since when `%envreg` is there is ptxas's word: the manual has 2.1.
#[rustfmt::skip] // A table.
static SPECIAL: &[Special] = &[
    four("%tid", ALWAYS),
    four("%ntid", ALWAYS),
    four("%ctaid", ALWAYS),
    four("%nctaid", ALWAYS),
    Special { bits: None, ..one("%gridid", 64, ALWAYS) },
    one("%laneid", 32, since(1, 3, 0)),
    one("%warpid", 32, since(1, 3, 0)),
    one("%nwarpid", 32, since(2, 0, 20)),
    one("%smid", 32, since(1, 3, 0)),
    one("%nsmid", 32, since(2, 0, 20)),
    one("%is_explicit_cluster", 1, CLUSTER),
    four("%clusterid", CLUSTER),
    four("%nclusterid", CLUSTER),
    four("%cluster_ctaid", CLUSTER),
    four("%cluster_nctaid", CLUSTER),
    one("%cluster_ctarank", 32, CLUSTER),
    one("%cluster_nctarank", 32, CLUSTER),
    one("%lanemask_eq", 32, since(2, 0, 20)),
    one("%lanemask_le", 32, since(2, 0, 20)),
    one("%lanemask_lt", 32, since(2, 0, 20)),
    one("%lanemask_ge", 32, since(2, 0, 20)),
    one("%lanemask_gt", 32, since(2, 0, 20)),
    one("%clock", 32, ALWAYS),
    one("%clock_hi", 32, since(5, 0, 20)),
    one("%clock64", 64, since(2, 0, 20)),
    one("%globaltimer", 64, since(3, 1, 30)),
    one("%globaltimer_lo", 32, since(3, 1, 30)),
    one("%globaltimer_hi", 32, since(3, 1, 30)),
    numbered("%pm", (0, 3, ""), 32, since(1, 3, 0)),
    numbered("%pm", (4, 7, ""), 32, since(3, 0, 20)),
    numbered("%pm", (0, 7, "_64"), 64, since(4, 0, 50)),
    numbered("%envreg", (0, 31, ""), 32, ALWAYS),
    one("%reserved_smem_offset_begin", 32, since(7, 6, 80)),
    one("%reserved_smem_offset_end", 32, since(7, 6, 80)),
    one("%reserved_smem_offset_cap", 32, since(7, 6, 80)),
    numbered("%reserved_smem_offset_", (0, 1, ""), 32, since(7, 6, 80)),
    one("%total_smem_size", 32, since(4, 1, 20)),
    one("%aggr_smem_size", 32, since(8, 1, 90)),
    one("%dynamic_smem_size", 32, since(4, 1, 20)),
    Special { bits: None, ..one("%current_graph_exec", 64, since(8, 0, 50)) },
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

/// How many bits a special register has, a predicate 1; `None` where it depends on the version.
pub(super) fn special_bits(name: &str) -> Option<u32> {
    find(name).map_or(Some(32), |row| row.bits)
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
