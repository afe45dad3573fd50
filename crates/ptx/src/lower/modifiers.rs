//! The modifiers that each opcode is lowered with.
//!
//! A modifier that is not listed changes what an instruction does, or where: running it without would be a guess.

use super::statement::Inst;
use super::types::Type;

type Row = (&'static [&'static str], &'static [&'static str]);

/// Orderings, scopes and cache operators: nothing to do for an engine that runs a block in order.
const MEMORY: &[&str] = &[
    ".weak",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".acq_rel",
    ".sc",
    ".mmio",
    ".cta",
    ".cluster",
    ".gpu",
    ".sys",
    ".ca",
    ".cg",
    ".cs",
    ".lu",
    ".cv",
    ".wb",
    ".wt",
    ".nc",
    ".v2",
    ".v4",
    ".v8",
    ".noftz",
];

#[rustfmt::skip] // A row a family.
const ROWS: &[Row] = &[
    (&["add", "sub"], &[".sat", ".cc"]),
    (&["addc", "subc"], &[".cc"]),
    (&["mul", "mad", "madc"], &[".lo", ".hi", ".wide", ".sat", ".cc"]),
    (&["mul24", "mad24"], &[".lo", ".hi", ".sat"]),
    (&["div", "rcp", "sqrt"], &[".approx", ".full", ".ftz", ".rn", ".rz", ".rm", ".rp", ".sat"]),
    (&["rsqrt", "sin", "cos", "lg2", "ex2", "tanh"], &[".approx", ".ftz", ".sat"]),
    (&["abs", "neg"], &[".ftz"]),
    (&["min", "max"], &[".ftz", ".NaN", ".xorsign", ".abs", ".relu"]),
    (&["shf"], &[".l", ".r", ".wrap", ".clamp"]),
    (&["bfind"], &[".shiftamt"]),
    (&["prmt"], &[".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"]),
    (&["lop3"], &[".or", ".and"]),
    (&["bmsk", "szext"], &[".clamp", ".wrap"]),
    (&["dp2a"], &[".lo", ".hi"]),
    (&["sad", "rem", "and", "or", "xor", "not", "cnot", "shl", "shr", "clz", "popc", "brev", "bfe", "bfi", "dp4a",
       "fns", "selp", "copysign", "mov", "activemask"], &[]),
    (&["slct"], &[".ftz"]),
    (&["testp"], &[".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"]),
    (&["setp", "set"], &[".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu",
       ".leu", ".gtu", ".geu", ".num", ".nan", ".and", ".or", ".xor", ".ftz"]),
    (&["cvta"], &[".to"]),
    (&["isspacep"], &[]),
    (&["ld", "ldu", "st"], MEMORY),
    (&["atom"], &[".and", ".or", ".xor", ".cas", ".exch", ".add", ".inc", ".dec", ".min", ".max"]),
    (&["red"], &[".and", ".or", ".xor", ".add", ".inc", ".dec", ".min", ".max"]),
    (&["bar", "barrier"], &[".sync", ".arrive", ".red", ".popc", ".and", ".or", ".cta", ".aligned", ".warp"]),
    (&["shfl"], &[".up", ".down", ".bfly", ".idx", ".sync"]),
    (&["vote"], &[".all", ".any", ".uni", ".ballot", ".sync"]),
    (&["match"], &[".all", ".any", ".sync"]),
    (&["redux"], &[".add", ".min", ".max", ".and", ".or", ".xor", ".abs", ".NaN", ".sync"]),
    (&["elect"], &[".sync"]),
    (&["cp"], &[".async", ".ca", ".cg", ".commit_group", ".wait_group", ".wait_all"]),
];

/// `.shared::cta`, `.const[2]`: the space's name, where it is one.
fn space(modifier: &str) -> Option<&str> {
    let name = modifier.split("::").next().unwrap_or(modifier);
    let name = name.split('[').next().unwrap_or(name);
    [".global", ".shared", ".const", ".local", ".param"].contains(&name).then_some(name)
}

/// The first modifier that the opcode is not lowered with.
pub(super) fn unknown<'a>(inst: &Inst<'_, 'a>) -> Option<&'a str> {
    let (opcodes, known) = *ROWS.iter().find(|(opcodes, _)| opcodes.contains(&inst.opcode))?;
    let memory = ["ld", "ldu", "st", "atom", "red", "cp"].iter().any(|opcode| opcodes.contains(opcode));
    let spaces = memory || opcodes.contains(&"cvta") || opcodes.contains(&"isspacep");
    let fits = |modifier: &str| {
        known.contains(&modifier)
            || Type::of(modifier).is_some()
            || (spaces && space(modifier).is_some())
            || (memory
                && (MEMORY.contains(&modifier) || modifier.starts_with(".L1::") || modifier.starts_with(".L2::")))
    };
    inst.modifiers.iter().copied().find(|modifier| !fits(modifier))
}
