//! Special registers.

/// Special registers without a number in their names.
#[rustfmt::skip] // A table.
static SPECIAL: &[&str] = &[
    "%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid", "%gridid",
    "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank",
    "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
    "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
    "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec",
];

/// `%tid`, `%envreg7`, `%pm3_64`.
pub(crate) fn is_special(name: &str) -> bool {
    let numbered = |(prefix, count): (&str, u32)| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            let digits = if prefix == "%pm" { rest.strip_suffix("_64").unwrap_or(rest) } else { rest };
            let is_plain =
                digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
            is_plain && digits.parse::<u32>().is_ok_and(|number| number < count)
        })
    };
    SPECIAL.contains(&name) || [("%pm", 8), ("%envreg", 32), ("%reserved_smem_offset_", 2)].into_iter().any(numbered)
}

/// How many numbers a special register holds.
pub(crate) fn special_lanes(name: &str) -> usize {
    const VECTORS: &[&str] =
        &["%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];
    if VECTORS.contains(&name) { 4 } else { 1 }
}

/// How many bits a special register has, a predicate 1; `None` where it depends on the version.
pub(super) fn special_bits(name: &str) -> Option<u32> {
    match name {
        "%gridid" | "%current_graph_exec" => None,
        "%clock64" | "%globaltimer" => Some(64),
        "%is_explicit_cluster" => Some(1),
        _ if name.ends_with("_64") => Some(64),
        _ => Some(32),
    }
}
