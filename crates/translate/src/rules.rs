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

/// NaNs as the source is read.
pub const NAN_RESULTS: Rule = Rule::error(
    "TRN0304",
    "a NaN result has the bits that the source is read with: PTX has NVIDIA's",
    "PTX ISA, 9.7.3 and 9.7.4: the NaN of f32, f16 and bf16 results is one, whatever the operands",
);

/// Warps as subgroups.
pub const WARP: Rule = Rule::note(
    "TRN0202",
    "a warp is a subgroup of 32 invocations that are neighbours in their workgroup; OpenCL does not say which they are",
    "OpenCL 3.0, 3.2.1 Mapping work-items onto an NDRange",
);

/// The order of memory.
pub const ORDER: Rule = Rule::note(
    "TRN0203",
    "the order of memory for other threads that the source asks for stands in the translation",
    "PTX ISA, Memory Consistency Model; SPIR-V 1.6, 3.2.25 Memory Semantics",
);

/// Products and sums that the source leaves open.
pub const CONTRACTION: Rule = Rule::note(
    "TRN0301",
    "the source says of every product that a sum takes whether it is rounded",
    "PTX ISA, mul, add, fma; SPIR-V 1.6, 3.20 Decoration, NoContraction",
);

/// Functions that machines approximate.
pub const APPROXIMATION: Rule = Rule::note(
    "TRN0302",
    "an approximated function is the source's own instruction: another's bits need not be the same",
    "PTX ISA, the accuracy of .approx and .full; OpenCL C 3.0, 7.4 Relative Error as ULPs; Vulkan 1.3, Precision of Operations",
);

/// What execution modes do not say.
pub const MODES: Rule = Rule::note(
    "TRN0303",
    "SPIR-V's execution modes determine the bits of what a kernel computes",
    "SPIR-V 1.6, 3.6 Execution Mode, SignedZeroInfNanPreserve, DenormFlushToZero",
);

/// What a refusal offers to accept, by its code.
pub static LOSSES: &[Rule] = &[TRAP, NAN_RESULTS];

/// Every rule, in the order of the codes.
pub static RULES: &[Rule] =
    &[NO_COUNTERPART, UNAVAILABLE, TRAP, WARP, ORDER, CONTRACTION, APPROXIMATION, MODES, NAN_RESULTS];
