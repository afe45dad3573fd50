//! How long a module of ten megabytes takes: read, checked, printed, assembled again. The figure to hold: checked in
//! under a second.

use std::fmt::Write;
use std::time::Instant;

use roundonce_isa::Severity;
use roundonce_spirv::{Environment, Module, assemble, check, disassemble};

/// A compute shader of many functions, each of blocks that multiply, add and branch.
fn module(bytes: usize) -> String {
    let mut text = String::from(
        "OpCapability Shader\nOpCapability FMAKHR\nOpExtension \"SPV_KHR_fma\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n\
         %vf = OpTypeFunction %void\n%bool = OpTypeBool\n%t = OpConstantTrue %bool\n%f = OpTypeFloat 32\n\
         %p = OpTypePointer Function %f\n%a = OpConstant %f 1.5\n",
    );
    // A block of seven instructions is about 120 bytes.
    for function in 0..bytes / 120 / 100 {
        let name = if function == 0 { "main".to_owned() } else { format!("f{function}") };
        let _ = writeln!(
            text,
            "%{name} = OpFunction %void None %vf\n%e{function} = OpLabel\n%v{function} = OpVariable %p Function"
        );
        for block in 0..100 {
            let at = format!("{function}_{block}");
            let _ = writeln!(
                text,
                "%l{at} = OpLoad %f %v{function}\n%r{at} = OpFmaKHR %f %l{at} %a %l{at}\nOpStore %v{function} %r{at}\n\
                 OpSelectionMerge %m{at} None\nOpBranchConditional %t %m{at} %x{at}\n%x{at} = OpLabel\nOpBranch %m{at}\n%m{at} = OpLabel"
            );
        }
        text.push_str("OpReturn\nOpFunctionEnd\n");
    }
    text
}

fn timed<T>(what: &str, bytes: usize, run: impl Fn() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..5 {
        let start = Instant::now();
        result = Some(run());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what:28} {:8.3} s  {:8.1} MB/s", best, bytes as f64 / best / 1e6);
    result.expect("five runs")
}

fn main() {
    // Under `cargo test` this is a smoke test on a small module.
    let bytes = if std::env::args().any(|argument| argument == "--bench") { 10_000_000 } else { 100_000 };
    let text = module(bytes);
    let words = timed("assemble (of text)", text.len(), || assemble(&text).expect("a module"));
    let binary: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    println!(
        "a binary of {:.1} MB, {:.1} MB of text; the best of five runs",
        binary.len() as f64 / 1e6,
        text.len() as f64 / 1e6
    );
    let findings = timed("read and check", binary.len(), || {
        check(&Module::from_binary(&binary).expect("a module"), Environment::UNIVERSAL)
    });
    assert!(findings.iter().all(|finding| finding.severity < Severity::Error), "{:?}", findings.first());
    timed("disassemble", binary.len(), || disassemble(&binary).expect("a module"));
}
