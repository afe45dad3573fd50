//! The floating-point environment of x86-64: MXCSR.
#![allow(unsafe_code)]

/// The thread's control and status bits of floating point.
#[inline(always)]
pub(super) fn environment() -> u32 {
    let mut mxcsr = 0_u32;
    // SAFETY: stores the register's four bytes into a local.
    unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
    mxcsr
}

/// Round to nearest, neither subnormal operands nor subnormal results taken as zero, no exception traps: what a
/// thread starts with. A library built with fast-math flags may have changed it when it was loaded.
#[inline(always)]
pub(super) fn is_default(environment: u32) -> bool {
    /// Everything but the six sticky exception bits.
    const CONTROL: u32 = 0xffc0;
    const DEFAULT: u32 = 0x1f80;
    environment & CONTROL == DEFAULT
}

/// While it lives, the thread's arithmetic takes subnormal operands as zeros of their sign.
pub(super) struct Flushing {
    before: u32,
}

impl Flushing {
    /// `before` is the environment now.
    #[inline(always)]
    pub(super) fn begin(before: u32) -> Flushing {
        const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
        set_environment(before | DENORMALS_ARE_ZEROS);
        Flushing { before }
    }
}

impl Drop for Flushing {
    #[inline(always)]
    fn drop(&mut self) {
        set_environment(self.before);
    }
}

/// Writes the register; what was there must be there again before other code than a kernel computes.
#[inline(always)]
pub(super) fn set_environment(environment: u32) {
    // SAFETY: An `asm!` block may change the sticky exception bits. The control bits are others only while a kernel runs,
    // which is never inlined, so that no arithmetic of the compiler's sees them; the kernel's own is meant to.
    unsafe { core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const environment, options(nostack)) };
}

/// Whether this thread takes subnormal operands and results as they are. Asking the control register would wait for all
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
