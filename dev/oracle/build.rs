//! Compiles the vendored part of Berkeley SoftFloat.

use std::path::Path;

fn main() {
    let root = Path::new("softfloat-3e");
    let mut build = cc::Build::new();
    build
        .include(root.join("platform"))
        .include(root.join("source/include"))
        .include(root.join("source/8086-SSE"))
        .define("SOFTFLOAT_ROUND_ODD", None)
        .define("INLINE_LEVEL", Some("5"))
        .define("SOFTFLOAT_FAST_INT64", None)
        .define("THREAD_LOCAL", Some("_Thread_local"))
        .warnings(false)
        // Some of its inline functions have no body outside the headers: without optimisation it does not link; and
        // the tests call it hundreds of millions of times.
        .opt_level(2)
        .file("src/softfloat.c");
    for folder in ["source", "source/8086-SSE"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the vendored sources are missing");
        for path in entries.map(|entry| entry.expect("unreadable folder").path()) {
            if path.extension().is_some_and(|extension| extension == "c") {
                build.file(path);
            }
        }
    }
    println!("cargo::rerun-if-changed=softfloat-3e");
    println!("cargo::rerun-if-changed=src/softfloat.c");
    build.compile("roundonce_softfloat");
}
