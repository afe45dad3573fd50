//! Constructs in constructs: as deep as the limit allows (SPIR-V 1.6, 2.17), and one deeper, in which spirv-val 2025.5 agrees;
//! so deep that looking at every construct's blocks would take minutes; and wide.

use roundonce_spirv::{Environment, check_text};
use std::time::{Duration, Instant};

fn shader(body: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 32 1 1\n%void = OpTypeVoid\n%type = OpTypeFunction %void\n%bool = OpTypeBool\n\
         %true = OpConstantTrue %bool\n%main = OpFunction %void None %type\n%start = OpLabel\n{body}OpReturn\nOpFunctionEnd\n"
    )
}

fn selections(depth: usize) -> String {
    let heads = (0..depth)
        .map(|i| format!("OpSelectionMerge %m{i} None\nOpBranchConditional %true %t{i} %m{i}\n%t{i} = OpLabel\n"));
    let ends = (0..depth).rev().map(|i| format!("OpBranch %m{i}\n%m{i} = OpLabel\n"));
    shader(&heads.chain(ends).collect::<String>())
}

fn loops(depth: usize) -> String {
    let heads = (0..depth).map(|i| {
        format!(
            "OpBranch %h{i}\n%h{i} = OpLabel\nOpLoopMerge %m{i} %n{i} None\nOpBranchConditional %true %m{i} %b{i}\n\
             %b{i} = OpLabel\n"
        )
    });
    let ends = (0..depth).rev().map(|i| format!("OpBranch %n{i}\n%n{i} = OpLabel\nOpBranch %h{i}\n%m{i} = OpLabel\n"));
    shader(&heads.chain(ends).collect::<String>())
}

fn messages(text: &str) -> Vec<String> {
    check_text(text, Environment::UNIVERSAL).into_iter().map(|finding| finding.message).collect()
}

#[test]
fn the_deepest() {
    for make in [selections, loops] {
        assert_eq!(messages(&make(1023)), [""; 0]);
        assert_eq!(messages(&make(1024)), ["constructs are nested deeper than 1023"]);
    }
}

#[test]
fn much_deeper() {
    for make in [selections, loops] {
        let text = make(1 << 14);
        let started = Instant::now();
        assert_eq!(messages(&text), ["constructs are nested deeper than 1023"]);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
}

/// A switch of as many literals as the limit allows (SPIR-V 1.6, 2.17), and one more, in which spirv-val 2025.5 agrees.
#[test]
fn the_widest() {
    let switch = |cases: usize, label: fn(usize) -> usize| {
        let listed: String = (0..cases).map(|at| format!(" {at} %l{}", label(at))).collect();
        let labels = (0..=label(cases - 1)).map(|at| format!("%l{at} = OpLabel\nOpBranch %m\n"));
        let body =
            format!("OpSelectionMerge %m None\nOpSwitch %u %m{listed}\n{}%m = OpLabel\n", labels.collect::<String>());
        shader(&body).replace("%bool =", "%int = OpTypeInt 32 0\n%u = OpConstant %int 1\n%bool =")
    };
    for label in [|_| 0, |at| at] {
        assert_eq!(messages(&switch(16_383, label)), [""; 0]);
        assert_eq!(
            messages(&switch(16_384, label)),
            ["OpSwitch: 16384 literals with labels where SPIR-V allows 16383"]
        );
    }
}
