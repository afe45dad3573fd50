//! One number taken apart.

use roundonce_why::BitFields;

use super::{NoAnswer, Noted};

/// A number with its type in every format.
///
/// # Errors
/// If it is no number.
pub fn bits(text: &str) -> Result<Noted<BitFields>, NoAnswer> {
    let (answer, exact) = BitFields::parse(text).map_err(NoAnswer::Input)?;
    let note = || format!("`{text}` is not exact in {}: rounded once, to nearest even", answer.ty);
    let notes = if exact { Vec::new() } else { vec![note()] };
    Ok(Noted { answer, notes })
}
