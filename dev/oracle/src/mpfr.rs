//! MPFR as a judge: `mpfr_fma` to the format's precision and range, then `mpfr_subnormalize`.
//!
//! MPFR keeps one NaN and no signalling ones, and its underflow flag follows another rule: a NaN result is reported as
//! the format's all-ones NaN, and of the flags only those in [`FLAGS`] are reported, and those not beside a NaN.
#![allow(unsafe_code)]

use core::mem::MaybeUninit;

use gmp_mpfr_sys::mpfr;

use crate::{Direction, INEXACT, Layout, OVERFLOW, Verdict};

/// The flags that this judge speaks of.
pub const FLAGS: u8 = INEXACT | OVERFLOW;

/// Four variables of one precision.
#[derive(Debug)]
pub struct Judge {
    layout: Layout,
    a: mpfr::mpfr_t,
    b: mpfr::mpfr_t,
    c: mpfr::mpfr_t,
    result: mpfr::mpfr_t,
}

impl Judge {
    /// For a format of at most 64 significand bits, which are one limb.
    pub fn new(layout: Layout) -> Judge {
        assert_eq!(gmp_mpfr_sys::gmp::NUMB_BITS, u64::BITS as i32, "a limb is not 64 bits");
        // SAFETY: asks a question. Without thread-local state two threads would share the exponent range.
        assert!(unsafe { mpfr::buildopt_tls_p() } != 0, "this MPFR was built without thread safety");
        let variable = || {
            let mut variable = MaybeUninit::uninit();
            // SAFETY: init2 initialises what it is given.
            unsafe {
                mpfr::init2(variable.as_mut_ptr(), layout.precision().into());
                variable.assume_init()
            }
        };
        Judge { layout, a: variable(), b: variable(), c: variable(), result: variable() }
    }

    /// a × b + c.
    pub fn mul_add(&mut self, direction: Direction, [a, b, c]: [u64; 3]) -> Verdict {
        let layout = self.layout;
        let direction = match direction {
            Direction::Nearest => mpfr::rnd_t::RNDN,
            Direction::Zero => mpfr::rnd_t::RNDZ,
            Direction::Down => mpfr::rnd_t::RNDD,
            Direction::Up => mpfr::rnd_t::RNDU,
        };
        // MPFR's significands lie between a half and one, so that its exponents are one more than IEEE 754's.
        // SAFETY: the four variables are initialised; the range is one that MPFR has, and belongs to this thread.
        let (inexact, overflow) = unsafe {
            mpfr::set_emin((layout.quantum() + 1).into());
            mpfr::set_emax((layout.emax() + 1).into());
            set(&mut self.a, layout, a);
            set(&mut self.b, layout, b);
            set(&mut self.c, layout, c);
            mpfr::clear_flags();
            let ternary = mpfr::fma(&mut self.result, &self.a, &self.b, &self.c, direction);
            let ternary = mpfr::subnormalize(&mut self.result, ternary, direction);
            (ternary != 0, mpfr::overflow_p() != 0)
        };
        let flags = if inexact { INEXACT } else { 0 } | if overflow { OVERFLOW } else { 0 };
        Verdict { bits: self.bits(), flags }
    }

    fn bits(&self) -> u64 {
        let (layout, result) = (self.layout, &self.result);
        // SAFETY: the variable is initialised, and a regular one has one limb.
        let (nan, infinite, zero, limb) = unsafe {
            (mpfr::nan_p(result) != 0, mpfr::inf_p(result) != 0, mpfr::zero_p(result) != 0, result.d.as_ptr().read())
        };
        if nan {
            return layout.magnitude();
        }
        let sign = if result.sign < 0 { layout.sign() } else { 0 };
        if infinite {
            return sign | layout.infinity();
        }
        if zero {
            return sign;
        }
        let exponent = result.exp as i32 - 1;
        let significand = limb >> (u64::BITS - layout.precision());
        let magnitude = if exponent < layout.emin() {
            significand >> (layout.emin() - exponent)
        } else {
            (((exponent - layout.emin()) as u64) << layout.frac_bits) + significand
        };
        sign | magnitude
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        for variable in [&mut self.a, &mut self.b, &mut self.c, &mut self.result] {
            // SAFETY: initialised in `new`, cleared once.
            unsafe { mpfr::clear(variable) };
        }
    }
}

/// Sets a variable to the bits' value.
///
/// # Safety
/// The variable is initialised with the layout's precision.
unsafe fn set(variable: &mut mpfr::mpfr_t, layout: Layout, bits: u64) {
    let sign = if bits & layout.sign() != 0 { -1 } else { 1 };
    let magnitude = bits & layout.magnitude();
    let fraction = magnitude & (layout.smallest_normal() - 1);
    let field = (magnitude >> layout.frac_bits) as i32;
    // SAFETY: as promised; the significand's leading bit goes to the limb's top, as MPFR wants it.
    unsafe {
        if magnitude == 0 {
            mpfr::set_zero(variable, sign);
        } else if magnitude == layout.infinity() {
            mpfr::set_inf(variable, sign);
        } else if magnitude > layout.infinity() {
            mpfr::set_nan(variable);
        } else {
            let (significand, quantum) = if field == 0 {
                (fraction, layout.quantum())
            } else {
                (fraction | layout.smallest_normal(), layout.quantum() + field - 1)
            };
            let zeros = significand.leading_zeros();
            variable.sign = sign;
            variable.exp = (quantum + (u64::BITS - zeros) as i32).into();
            variable.d.as_ptr().write(significand << zeros);
        }
    }
}
