//! The floating-point environment of x86-64, MXCSR: what a kernel borrows of it, and whether it can do without.
//!
//! Rust has no way to say that an environment is not the default, and takes it for that everywhere. So a kernel for which it
//! is another is never inlined, nor is the function around it; and what in it depends on the environment is written as
//! instructions, or as intrinsics that stand for one and are not computed at compile time. No other arithmetic sees it.
#![allow(unsafe_code)]

/// Everything but the six sticky exception bits.
pub(super) const CONTROL: u32 = 0xffc0;
/// Subnormal results become zero.
pub(super) const FLUSH_TO_ZERO: u32 = 1 << 15;
/// Subnormal operands are taken as zeros of their sign. An emulator may ignore it, as Valgrind does.
pub(super) const DENORMALS_ARE_ZEROS: u32 = 1 << 6;

/// The bits for a direction as x86 numbers it.
#[inline(always)]
pub(super) const fn direction(round: i32) -> u32 {
    (round as u32 & 3) << 13
}

/// While it lives, the thread rounds in a kernel's direction, or takes subnormal operands as zeros of their sign. The
/// sticky exception bits, too, are what they were when it is dropped.
pub(super) struct Lent {
    before: u32,
}

impl Lent {
    /// Sets bits; nothing if one of `trusted` is not what a thread starts with (a library built with fast-math flags may
    /// have changed it when it was loaded): to nearest, neither subnormal operands nor subnormal results taken as zero, no
    /// exception traps.
    #[inline(always)]
    pub(super) fn begin(trusted: u32, set: u32) -> Option<Lent> {
        const DEFAULT: u32 = 0x1f80;
        let mut before = 0_u32;
        // SAFETY: stores the register's four bytes into a local.
        unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack, preserves_flags)) };
        if (before ^ DEFAULT) & trusted != 0 {
            return None;
        }
        if set != 0 {
            load(before | set);
        }
        Some(Lent { before })
    }
}

impl Drop for Lent {
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

/// Whether this thread takes subnormal operands and results as they are. Asking the register would wait for all
/// arithmetic that is under way; a sum of two subnormals, its exceptions suppressed, does not.
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
