//! Berkeley SoftFloat 3e as a judge: f16, f32 and f64, four directions, both tininess rules, flags.
//!
//! It comes from the registry (`softfloat-rs`: its C sources, compiled with the NaN rules of x86's SSE). Its build supports
//! only x86-64 and GNU's compilers; on other platforms the other judges remain.
//!
//! Its modes and flags are thread-local variables, all written before every call: any number of threads may call it, and
//! no call affects the next.
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

/// Whether SoftFloat is built for this machine.
pub const fn is_available() -> bool {
    cfg!(all(target_arch = "x86_64", unix))
}

/// SoftFloat's result. `before` is its tininess rule for the underflow flag. A NaN result is the first NaN operand
/// made quiet, or negative with an empty payload; see [`hides_the_addend`] for the one exception.
///
/// # Panics
/// For a format it does not have, and where it [is not available](is_available).
pub fn judge(call: Call, layout: Layout, direction: Direction, before: bool, operands: [u64; 3]) -> Verdict {
    assert!([Layout::F16, Layout::F32, Layout::F64].contains(&layout), "SoftFloat has no {layout:?}");
    asked(call, layout, direction, before, operands)
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn asked(_: Call, _: Layout, _: Direction, _: bool, _: [u64; 3]) -> Verdict {
    panic!("SoftFloat is not built for this machine")
}

#[cfg(all(target_arch = "x86_64", unix))]
fn asked(call: Call, layout: Layout, direction: Direction, before: bool, [a, b, c]: [u64; 3]) -> Verdict {
    use softfloat_rs::*;
    let rounding = match direction {
        Direction::Nearest => softfloat_round_near_even,
        Direction::Zero => softfloat_round_minMag,
        Direction::Down => softfloat_round_min,
        Direction::Up => softfloat_round_max,
    };
    let tininess = if before { softfloat_tininess_beforeRounding } else { softfloat_tininess_afterRounding };
    macro_rules! compute {
        ($float:ident, $mul_add:ident, $add:ident, $sub:ident, $mul:ident) => {{
            let [a, b, c] = [a, b, c].map(|bits| $float { v: bits as _ });
            let result = match call {
                Call::MulAdd => $mul_add(a, b, c),
                Call::Add => $add(a, c),
                Call::Sub => $sub(a, c),
                Call::Mul => $mul(a, b),
            };
            result.v.into()
        }};
    }
    // SAFETY: functions of numbers. All that they share are the modes and flags, variables of this thread alone.
    unsafe {
        softfloat_roundingMode_write_helper(rounding);
        softfloat_detectTininess_write_helper(tininess);
        softfloat_exceptionFlags_write_helper(0);
        let bits = match layout.width() {
            16 => compute!(float16_t, f16_mulAdd, f16_add, f16_sub, f16_mul),
            32 => compute!(float32_t, f32_mulAdd, f32_add, f32_sub, f32_mul),
            _ => compute!(float64_t, f64_mulAdd, f64_add, f64_sub, f64_mul),
        };
        Verdict { bits, flags: softfloat_exceptionFlags_read_helper() }
    }
}

/// The one case where SoftFloat's NaN is not the first NaN operand: zero × infinity + NaN gives the NaN of the invalid
/// product, not that of the addend. IEEE 754-2019, 7.2 leaves it to the implementation.
pub fn hides_the_addend(layout: Layout, [a, b, c]: [u64; 3]) -> bool {
    let (a, b) = (a & layout.magnitude(), b & layout.magnitude());
    layout.is_nan(c) && ((a == 0 && b == layout.infinity()) || (b == 0 && a == layout.infinity()))
}
