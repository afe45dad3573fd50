//! The integer `mad`, which shares its mnemonic with the multiply-add family.

use crate::types::is_type;

/// The rule of the integer `mad`.
pub(super) const RULE: &str = "PTX ISA, 9.7.1 integer arithmetic instructions: mad";

/// Which part of an integer product `mad` takes.
pub(super) const PARTS_OF_PRODUCT: &[&str] = &[".hi", ".lo", ".wide"];

/// What is wrong with the modifiers of an integer `mad`: the word, and what was expected.
pub(super) fn check(modifiers: &[&str]) -> Option<(Option<usize>, String)> {
    let at = |word: &str| modifiers.iter().position(|modifier| *modifier == word);
    let types: Vec<usize> = (0..modifiers.len()).filter(|&index| is_type(modifiers[index])).collect();
    let parts: Vec<usize> = (0..modifiers.len()).filter(|&i| PARTS_OF_PRODUCT.contains(&modifiers[i])).collect();
    let part = modifiers[parts[0]];
    if parts[0] != 0 {
        return Some((Some(parts[0]), format!("`{part}` right behind `mad`")));
    }
    if let Some(&second) = parts.get(1) {
        return Some((Some(second), format!("one of `{}` after `{part}`", PARTS_OF_PRODUCT.join("` `"))));
    }
    let wide: &[&str] = &[".u16", ".s16", ".u32", ".s32"];
    let any: &[&str] = &[".u16", ".s16", ".u32", ".s32", ".u64", ".s64"];
    let allowed = if part == ".wide" { wide } else { any };
    let &[ty_at] = types.as_slice() else {
        let extra = types.get(1).copied();
        return Some((extra, format!("exactly one type of {} for `mad{part}`", allowed.join(" "))));
    };
    let ty = modifiers[ty_at];
    if !allowed.contains(&ty) {
        return Some((Some(ty_at), format!("a type of {} for `mad{part}`", allowed.join(" "))));
    }
    if let Some(sat) = at(".sat")
        && (part, ty) != (".hi", ".s32")
    {
        return Some((Some(sat), "no `.sat` but in `mad.hi.sat.s32`".to_owned()));
    }
    if let Some(carry) = at(".cc") {
        if part == ".wide" || ty.ends_with("16") {
            return Some((Some(carry), "`.cc` on `.lo` and `.hi` of 32 or 64 bits only".to_owned()));
        }
        if at(".sat").is_some() {
            return Some((Some(carry), "either `.cc` or `.sat`".to_owned()));
        }
    }
    let known = |word: &&str| is_type(word) || PARTS_OF_PRODUCT.contains(word) || matches!(*word, ".sat" | ".cc");
    let other = modifiers.iter().position(|word| !known(word))?;
    Some((Some(other), format!("`mad{part}` with nothing but `.sat`, `.cc` and a type")))
}
