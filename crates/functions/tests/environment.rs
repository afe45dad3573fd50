//! A program may have told the processor to flush subnormals or to round in another direction, for all its threads:
//! quotients and roots are the same.
#![cfg(target_arch = "x86_64")]
#![allow(unsafe_code)]

use roundonce_arith::{Format, Profile, Rounding};
use roundonce_functions::{Function, approximate};

/// MXCSR as it is at a thread's start; with either kind of flushing; with each direction; with all traps but that of
/// inexact results.
const ENVIRONMENTS: [u32; 7] = [0x1f80, 0x9f80, 0x1fc0, 0x3f80, 0x5f80, 0x7f80, 0x1000];

fn set(environment: u32) {
    // SAFETY: no trap but those that nothing here causes; compiled code may round otherwise until it is set back.
    unsafe { core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const environment, options(nostack)) }
}

#[test]
fn the_environment_is_not_trusted() {
    const FUNCTIONS: [Function; 4] =
        [Function::Divide, Function::Reciprocal, Function::SquareRoot, Function::ReciprocalSquareRoot];
    // The ends of the subnormal numbers, and others whose quotients and roots are not exact.
    let single = [0x1, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x3f80_0000, 0x4040_0000, 0xc040_0001, 0x7f7f_ffff];
    let double = single.map(|bits: u64| (bits & 0x8000_0000) << 32 | (bits & 0x7fff_ffff) << 28);
    for (format, values) in [(Format::F32, single), (Format::F64, double)] {
        for function in FUNCTIONS {
            let compute = || {
                let mut all = Vec::new();
                for flush in [false, true] {
                    for a in values {
                        for b in values {
                            let even = Rounding::NearestEven;
                            all.push(approximate(&Profile::NVIDIA, function, format, even, flush, [a, b]));
                        }
                    }
                }
                all
            };
            let expected = compute();
            for environment in ENVIRONMENTS {
                set(environment);
                let got = compute();
                set(ENVIRONMENTS[0]);
                assert_eq!(got, expected, "{function:?} {format:?} {environment:#x}");
            }
        }
    }
}
