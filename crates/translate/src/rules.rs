//! What the codes of refusals stand for.

use roundonce_isa::Rule;

/// No other language has the construct with the same bits.
pub const NO_COUNTERPART: Rule = Rule::error(
    "TRN0001",
    "every construct has a counterpart with the same bits",
    "roundonce: a translation never weakens in silence",
);
