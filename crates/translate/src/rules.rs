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
