//! Berkeley SoftFloat 3e as a judge: f16, f32 and f64, four directions, both tininess rules, flags.
//!
//! Its modes and flags are thread-local variables, all written before every call (see softfloat.c): any number of threads
//! may call it, and no call affects the next.
#![allow(unsafe_code)]

use crate::{Direction, Layout, Verdict};

/// What SoftFloat is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Call {
    /// a × b + c.
    MulAdd = 0,
    /// a + c.
    Add = 1,
    /// a − c.
    Sub = 2,
    /// a × b.
    Mul = 3,
}

unsafe extern "C" {
    safe fn roundonce_softfloat(
        width: u8,
        operation: u8,
        rounding: u8,
        tininess: u8,
        a: u64,
        b: u64,
        c: u64,
        flags: &mut u8,
    ) -> u64;
}

/// SoftFloat's result. `before` is its tininess rule for the underflow flag. A NaN result is the first NaN operand
/// made quiet, or negative with an empty payload; see [`hides_the_addend`] for the one exception.
///
/// # Panics
/// For a format it does not have.
pub fn judge(call: Call, layout: Layout, direction: Direction, before: bool, [a, b, c]: [u64; 3]) -> Verdict {
    assert!([Layout::F16, Layout::F32, Layout::F64].contains(&layout), "SoftFloat has no {layout:?}");
    let rounding = match direction {
        Direction::Nearest => 0,
        Direction::Zero => 1,
        Direction::Down => 2,
        Direction::Up => 3,
    };
    let mut flags = 0;
    let bits = roundonce_softfloat(layout.width() as u8, call as u8, rounding, u8::from(!before), a, b, c, &mut flags);
    Verdict { bits, flags }
}

/// The one case where SoftFloat's NaN is not the first NaN operand: zero × infinity + NaN gives the NaN of the invalid
/// product, not that of the addend. IEEE 754-2019, 7.2 leaves it to the implementation.
pub fn hides_the_addend(layout: Layout, [a, b, c]: [u64; 3]) -> bool {
    let (a, b) = (a & layout.magnitude(), b & layout.magnitude());
    layout.is_nan(c) && ((a == 0 && b == layout.infinity()) || (b == 0 && a == layout.infinity()))
}
