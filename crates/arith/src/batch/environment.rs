//! The floating-point environment of x86-64, MXCSR: a guard that sets it for a kernel and restores it.
//!
//! Rust assumes the default environment everywhere and cannot express another. So a kernel that runs in another one is
//! never inlined, nor is the function around it; and whatever in it depends on the environment is inline assembly, or an
//! intrinsic of one instruction that is not evaluated at compile time. No other arithmetic runs in that environment.
#![allow(unsafe_code)]

/// Everything but the six sticky exception bits.
pub(super) const CONTROL: u32 = 0xffc0;
/// Subnormal results become zero.
pub(super) const FLUSH_TO_ZERO: u32 = 1 << 15;
/// Subnormal operands are treated as zeros of their sign. An emulator may ignore it, as Valgrind does.
pub(super) const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
/// Exceptions that do not trap.
pub(super) const EXCEPTION_MASKS: u32 = 0x1f80;

/// The bits for a rounding direction in x86's encoding.
#[inline(always)]
pub(super) const fn direction(round: i32) -> u32 {
    (round as u32 & 3) << 13
}

/// While it lives, the thread rounds in a kernel's direction, or treats subnormal operands as zeros of their sign. When it
/// is dropped, the environment is restored, the sticky exception bits included.
pub(super) struct FpEnvGuard {
    before: u32,
}

impl FpEnvGuard {
    /// Sets bits; `None` if a bit of `required` is not the default (a library built with fast-math flags may have changed it
    /// when it was loaded): to nearest, neither subnormal operands nor subnormal results flushed, no exception traps.
    #[inline(always)]
    pub(super) fn enter(required: u32, set: u32) -> Option<FpEnvGuard> {
        const DEFAULT: u32 = 0x1f80;
        let mut before = 0_u32;
        // SAFETY: stores the register's four bytes into a local.
        unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack, preserves_flags)) };
        if (before ^ DEFAULT) & required != 0 {
            return None;
        }
        if set != 0 {
            load(before | set);
        }
        Some(FpEnvGuard { before })
    }
}

impl Drop for FpEnvGuard {
    #[inline(always)]
    fn drop(&mut self) {
        load(self.before);
    }
}

#[inline(always)]
fn load(environment: u32) {
    // SAFETY: reads four bytes. An `asm!` block may change the sticky bits; for the others see above.
    unsafe { core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const environment, options(nostack)) };
}

/// Whether this thread flushes neither subnormal operands nor results. Reading the register would wait for all
/// arithmetic in flight; adding two subnormals with exceptions suppressed does not.
#[inline(always)]
pub(super) fn underflows_gradually() -> bool {
    let sum: u32;
    // SAFETY: AVX-512 is there; only the two registers are written.
    unsafe {
        core::arch::asm!(
            "vmovd {x}, {one:e}",
            "vaddss {x}, {x}, {x}, {{rn-sae}}",
            "vmovd {sum:e}, {x}",
            one = in(reg) 1,
            x = out(xmm_reg) _,
            sum = lateout(reg) sum,
            options(nomem, nostack, preserves_flags),
        );
    }
    sum == 2
}
