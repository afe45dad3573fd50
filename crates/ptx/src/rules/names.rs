//! Names that PTX itself has: opcodes and special registers.

/// Every opcode of PTX 1.0 to 9.x, sorted.
#[rustfmt::skip] // A table.
const OPCODES: &[&str] = &[
    "abs", "activemask", "add", "addc", "alloca", "and", "applypriority", "atom",
    "bar", "barrier", "bfe", "bfi", "bfind", "bmsk", "bra", "brev", "brkpt", "brx",
    "call", "clmad", "clusterlaunchcontrol", "clz", "cnot", "copysign", "cos", "cp", "createpolicy", "cvt", "cvta",
    "discard", "div", "dp2a", "dp4a", "elect", "ex2", "exit", "fence", "fma", "fns",
    "getctarank", "griddepcontrol", "isspacep", "istypep",
    "ld", "ldmatrix", "ldu", "lg2", "lop3",
    "mad", "mad24", "madc", "mapa", "match", "max", "mbarrier", "membar", "min", "mma", "mov", "movmatrix", "mul", "mul24", "multimem",
    "nanosleep", "neg", "not", "or", "pmevent", "popc", "prefetch", "prefetchu", "prmt",
    "rcp", "red", "redux", "rem", "ret", "rsqrt",
    "sad", "selp", "set", "setmaxnreg", "setp", "shf", "shfl", "shl", "shr", "sin", "slct", "sqrt", "st", "stackrestore", "stacksave",
    "stmatrix", "sub", "subc", "suld", "suq", "sured", "sust", "szext",
    "tanh", "tcgen05", "tensormap", "testp", "tex", "tld4", "trap", "txq",
    "vabsdiff", "vabsdiff2", "vabsdiff4", "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad",
    "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vote", "vset", "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4",
    "wgmma", "wmma", "xor",
];

pub(super) fn is_opcode(word: &str) -> bool {
    OPCODES.binary_search(&word).is_ok()
}

/// The opcode that was probably meant: the same in lower case, or within one edit.
pub(super) fn nearest_opcode(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let lower = lower.as_str();
    let shortened = [lower.get(1..), lower.get(..lower.len().saturating_sub(1)), Some(lower)];
    OPCODES.iter().copied().find(|opcode| shortened.contains(&Some(opcode)))
}

/// Special registers without a number in their names.
#[rustfmt::skip] // A table.
const SPECIAL: &[&str] = &[
    "%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid", "%gridid",
    "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank",
    "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
    "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
    "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec",
];

/// `%tid`, `%envreg7`, `%pm3_64`.
pub(super) fn is_special(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            let digits = rest.strip_suffix("_64").unwrap_or(rest);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    SPECIAL.contains(&name) || ["%pm", "%envreg", "%reserved_smem_offset_"].into_iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_sorted_so_that_they_are_found() {
        assert!(OPCODES.is_sorted());
        assert!(crate::forms::FORMS.iter().all(|form| is_opcode(form.mnemonic)));
    }

    #[test]
    fn what_was_meant() {
        for (word, meant) in [("FMA", "fma"), ("ffma", "fma"), ("fmaf", "fma")] {
            assert_eq!(nearest_opcode(word), Some(meant));
        }
        assert_eq!(nearest_opcode("ä"), None);
    }
}
