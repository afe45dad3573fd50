//! Whether this machine has native code: where it has not, what a test says of it is skipped, and told.

use std::io::Write;

/// Whether what is said of native code can be tested. Where it cannot, a line on stderr says so for each test, past the
/// harness, which holds back what a passing test prints; the gate counts the lines.
pub(crate) fn has_native() -> bool {
    #[cfg(target_arch = "x86_64")]
    let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    #[cfg(not(target_arch = "x86_64"))]
    let found = cfg!(target_arch = "aarch64");
    if !found {
        tell();
    }
    found
}

/// Once a test: each runs on a thread of its own.
fn tell() {
    thread_local!(static TOLD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    if !TOLD.replace(true) {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        // A closed stderr takes no message.
        let _ = writeln!(std::io::stderr(), "skipped: neither AVX2 nor NEON: what {test} says of native code");
    }
}
