//! The arithmetic forms of Maxwell SASS, derived from the opcode table.

use roundonce_isa::{Form, Part};

use crate::opcode::{Lowering, MAX_MODIFIERS};
use crate::opcodes::OPCODES;

const COUNT: usize = {
    let (mut count, mut index) = (0, 0);
    while index < OPCODES.len() {
        if matches!(OPCODES[index].lowering, Lowering::Arithmetic(_)) {
            count += 1;
        }
        index += 1;
    }
    count
};

/// The modifier slots of each opcode as a form has them.
const PARTS: &[[Part; MAX_MODIFIERS]; OPCODES.len()] = &{
    let mut parts = [[Part::Fixed(""); MAX_MODIFIERS]; OPCODES.len()];
    let mut index = 0;
    while index < OPCODES.len() {
        let modifiers = OPCODES[index].modifiers;
        let mut slot = 0;
        while slot < modifiers.len() {
            parts[index][slot] = Part::Slot(modifiers[slot].slot);
            slot += 1;
        }
        index += 1;
    }
    parts
};

/// Every arithmetic form, in the table's order.
pub const FORMS: &[Form] = &{
    let mut forms: [Option<Form>; COUNT] = [None; COUNT];
    let (mut count, mut index) = (0, 0);
    while index < OPCODES.len() {
        let (parts, _) = PARTS[index].split_at(OPCODES[index].modifiers.len());
        if let Some(form) = OPCODES[index].form(parts) {
            forms[count] = Some(form);
            count += 1;
        }
        index += 1;
    }
    unwrapped(forms)
};

const fn unwrapped(forms: [Option<Form>; COUNT]) -> [Form; COUNT] {
    let Some(first) = forms[0] else { panic!("no arithmetic form") };
    let mut all = [first; COUNT];
    let mut index = 0;
    while index < COUNT {
        if let Some(form) = forms[index] {
            all[index] = form;
        }
        index += 1;
    }
    all
}
