//! What the codes of refusals stand for.

use roundonce_isa::Rule;

/// No other language has the construct with the same bits.
pub const NO_COUNTERPART: Rule = Rule::error(
    "TRN0001",
    "every construct has a counterpart with the same bits",
    "roundonce: a translation never weakens in silence",
);

/// PTX has it, but not the target or the version that was asked for.
pub const UNAVAILABLE: Rule = Rule::error(
    "TRN0101",
    "the target and the version of PTX have every instruction that the translation takes",
    "PTX ISA, the notes on versions and targets of each instruction",
);

/// An error that ends the launch.
pub const TRAP: Rule = Rule::error(
    "TRN0201",
    "an instruction that ends the launch has a counterpart: SPIR-V's kernels can only leave it undefined",
    "SPIR-V 1.6, OpUnreachable",
);

/// Warps as subgroups.
pub const WARP: Rule = Rule::warning(
    "TRN0202",
    "a warp is a subgroup of 32 invocations that are neighbours in their workgroup; OpenCL does not say which they are",
    "OpenCL 3.0, 3.2.1 Mapping work-items onto an NDRange",
);

/// The order of memory.
pub const ORDER: Rule = Rule::warning(
    "TRN0203",
    "the order of memory for other threads that the source asks for stands in the translation",
    "PTX ISA, Memory Consistency Model; SPIR-V 1.6, 3.2.25 Memory Semantics",
);

/// Products and sums that the source leaves open.
pub const CONTRACTION: Rule = Rule::warning(
    "TRN0301",
    "the source says of every product that a sum takes whether it is rounded",
    "PTX ISA, mul, add, fma; SPIR-V 1.6, 3.20 Decoration, NoContraction",
);

/// What a refusal offers to accept, by its code.
pub static LOSSES: &[Rule] = &[TRAP];

/// Every rule, in the order of the codes.
pub static RULES: &[Rule] = &[NO_COUNTERPART, UNAVAILABLE, TRAP, WARP, ORDER, CONTRACTION];
