//! The arithmetic forms of Maxwell SASS, derived from the table.

use roundonce_isa::{Form, Gate, Language, Part, Range};

use crate::maxwell::ARITHMETIC;

const COUNT: usize = ARITHMETIC.len();
/// The most modifier slots that a form has.
const MAX_SLOTS: usize = 4;

/// The modifier slots of each as a form has them.
const PARTS: &[[Part; MAX_SLOTS]; COUNT] = &{
    let mut parts = [[Part::Fixed(""); MAX_SLOTS]; COUNT];
    let mut index = 0;
    while index < COUNT {
        let slots = ARITHMETIC[index].slots;
        let mut slot = 0;
        while slot < slots.len() {
            parts[index][slot] = Part::Slot(slots[slot]);
            slot += 1;
        }
        index += 1;
    }
    parts
};

const fn form(index: usize) -> Form {
    let arithmetic = &ARITHMETIC[index];
    let (parts, _) = PARTS[index].split_at(arithmetic.slots.len());
    Form {
        language: Language::Sass,
        mnemonic: arithmetic.name,
        parts,
        operands: arithmetic.operands,
        gate: Gate { target: Range::until(50, 62), ..Gate::needs(&["SPA 5.0"]) },
        recipe: arithmetic.recipe,
        source: arithmetic.source,
        note: arithmetic.note,
    }
}

/// Every arithmetic form, in the table's order.
pub static FORMS: &[Form] = &{
    let mut forms = [form(0); COUNT];
    let mut index = 0;
    while index < COUNT {
        forms[index] = form(index);
        index += 1;
    }
    forms
};
