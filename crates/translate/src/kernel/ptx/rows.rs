//! Which spelling of PTX is an operation: the rows of the language, asked by what they compute. Equal operations give equal
//! bits.

use std::collections::HashMap;
use std::sync::OnceLock;

use roundonce_arith::{Operation, PackedConversion};
use roundonce_isa::Gate;
use roundonce_ptx::conversions::{self, packed_conversion};
use roundonce_ptx::forms;

/// A spelling and where it exists.
pub(super) struct Row {
    pub(super) spelling: String,
    pub(super) gate: Gate,
}

/// The spellings of the multiply-add family that no compiler may contract, by what each component computes and how many
/// there are; the row of the earliest target first.
pub(super) fn floats(operation: &Operation, components: u32) -> &'static [Row] {
    static ROWS: OnceLock<HashMap<(Operation, u32), Vec<Row>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let mut rows: HashMap<_, Vec<Row>> = HashMap::new();
        for form in forms::FORMS {
            // `mad` is another spelling of `fma`; what ended with an old version or target is not written.
            let ended = form.gate.version.last.is_some() || form.gate.target.last.is_some_and(|last| last < 20);
            if form.mnemonic == "mad" || ended {
                continue;
            }
            for (spelling, recipe) in form.spellings() {
                if !recipe.contractible && !recipe.condition_codes {
                    let row = Row { spelling, gate: form.gate };
                    rows.entry((recipe.operation, recipe.components)).or_default().push(row);
                }
            }
        }
        rows.values_mut().for_each(|rows| rows.sort_by_key(|row| (row.gate.target.first, row.gate.version.first)));
        rows
    });
    rows.get(&(*operation, components)).map_or(&[], Vec::as_slice)
}

/// The spellings of a packed conversion, in the order of the language's rows.
pub(super) fn conversions(conversion: &PackedConversion) -> &'static [Row] {
    static ROWS: OnceLock<HashMap<PackedConversion, Vec<Row>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let mut rows: HashMap<_, Vec<Row>> = HashMap::new();
        for form in conversions::FORMS {
            for (spelling, _) in form.spelled() {
                if let Some(conversion) = packed_conversion(&spelling) {
                    rows.entry(conversion).or_default().push(Row { spelling, gate: form.gate });
                }
            }
        }
        rows
    });
    rows.get(conversion).map_or(&[], Vec::as_slice)
}
