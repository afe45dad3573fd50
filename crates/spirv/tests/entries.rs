//! Modules of several entry points.

use roundonce_spirv::{Environment, Settings, assemble_module, check_text, lower, lower_each};

/// Entry points by model, function and name, before a function for each of these bodies.
fn module(entries: &[(&str, usize, &str)], variables: &str, bodies: &[&str]) -> String {
    let entries: String = entries
        .iter()
        .map(|(model, function, name)| format!("OpEntryPoint {model} %main{function} \"{name}\"\n"))
        .collect();
    let functions: String = bodies
        .iter()
        .enumerate()
        .map(|(at, body)| {
            format!("%main{at} = OpFunction %void None %type\n%s{at} = OpLabel\n{body}OpReturn\nOpFunctionEnd\n")
        })
        .collect();
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n{entries}%void = OpTypeVoid\n%type = OpTypeFunction %void\n\
         %f32 = OpTypeFloat 32\n%one = OpConstant %f32 1\n%to_f32 = OpTypePointer Output %f32\n{variables}{functions}"
    )
}

/// Read once, each is what it is read alone; of two of one name it is the one that can be run.
#[test]
fn each_is_as_alone() {
    let entries = [("Fragment", 0, "a"), ("GLCompute", 1, "b"), ("GLCompute", 2, "a"), ("Fragment", 0, "c")];
    let text = module(&entries, "", &["", "%r = OpFAdd %f32 %one %one\n", "%r1 = OpDPdx %f32 %one\n"]);
    let module = assemble_module(&text, None).unwrap();
    let each = lower_each(&module, Some(&text), &Settings::default()).unwrap();
    assert_eq!(each.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b", "a", "c"]);
    for (name, lowered) in each {
        let settings = Settings { entry: Some(name), ..Settings::default() };
        assert_eq!(lowered, lower(&module, Some(&text), &settings));
        assert_eq!(lowered.is_ok(), settings.entry.as_deref() == Some("b"));
    }
}

/// An entry point that lists none of its variables is one error, and of many entry points the first hundred are told.
#[test]
fn errors_are_bounded() {
    let names: Vec<String> = (0..150).map(|at| format!("m{at}")).collect();
    let entries: Vec<_> = names.iter().map(|name| ("GLCompute", 0, name.as_str())).collect();
    let variables: String = (0..20).map(|at| format!("%v{at} = OpVariable %to_f32 Output\n")).collect();
    let stores: String = (0..20).map(|at| format!("OpStore %v{at} %one\n")).collect();
    let text = module(&entries, &variables, &[&stores]);
    let findings = check_text(&text, Environment::UNIVERSAL);
    assert_eq!(findings.len(), 100);
    let message = "OpEntryPoint \"m0\" uses %v0, %v1, %v2, %v3, 16 more, which it does not list";
    assert_eq!((findings[0].code, findings[0].message.as_str()), ("SPV0056", message));
    assert_eq!(findings[98].help, "");
    assert_eq!(findings[99].help, "there are more errors: 100 are listed");
}

/// Functions that call the next one, each with a variable of its own, under 300 entry points: what one of them reaches it lists. Two functions
/// call each other, as no module may.
#[test]
fn what_entry_points_reach() {
    const FUNCTIONS: usize = 10;
    let text = |forgetful: usize, forgotten: usize| {
        let mut text = String::from("OpCapability Shader\nOpMemoryModel Logical GLSL450\n");
        for entry in 0..300 {
            let first = entry % FUNCTIONS;
            let reached = if first < 8 { first.min(2)..FUNCTIONS } else { first..FUNCTIONS };
            let listed = reached.filter(|&at| entry != forgetful || at != forgotten).map(|at| format!(" %v{at}"));
            text += &format!("OpEntryPoint GLCompute %e{entry} \"e{entry}\"{}\n", listed.collect::<String>());
        }
        text += "%void = OpTypeVoid\n%type = OpTypeFunction %void\n%f32 = OpTypeFloat 32\n%one = OpConstant %f32 1\n\
                 %to_f32 = OpTypePointer Output %f32\n";
        (0..FUNCTIONS).for_each(|at| text += &format!("%v{at} = OpVariable %to_f32 Output\n"));
        let function = |name: String, body: String| {
            format!("%{name} = OpFunction %void None %type\n%l{name} = OpLabel\n{body}OpReturn\nOpFunctionEnd\n")
        };
        for at in 0..FUNCTIONS {
            let call = |to: usize| format!("%c{at}_{to} = OpFunctionCall %void %f{to}\n");
            let next = if at + 1 < FUNCTIONS { call(at + 1) } else { String::new() };
            let back = if at == 7 { call(2) } else { String::new() };
            text += &function(format!("f{at}"), format!("OpStore %v{at} %one\n{next}{back}"));
        }
        for entry in 0..300 {
            let call = format!("%ce{entry} = OpFunctionCall %void %f{}\n", entry % FUNCTIONS);
            text += &function(format!("e{entry}"), call);
        }
        text
    };
    for (forgetful, forgotten) in [(1, 1), (255, 4), (256, 3), (299, 9), (300, 0)] {
        let findings = check_text(&text(forgetful, forgotten), Environment::UNIVERSAL);
        let found: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        let expected = format!("OpEntryPoint \"e{forgetful}\" uses %v{forgotten}, which it does not list");
        assert_eq!(found, if forgetful < 300 { vec![expected.as_str()] } else { Vec::new() });
    }
}

/// A product and a sum in kernels: they stay apart by an edit of each entry point, if these are few.
#[test]
fn edits_of_entry_points() {
    for (entries, edits) in [(1, 1), (64, 64), (65, 0)] {
        let each = |line: &dyn Fn(usize) -> String| (0..entries).map(line).collect::<String>();
        let text = format!(
            "OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n{}%void = OpTypeVoid\n\
             %type = OpTypeFunction %void\n%f32 = OpTypeFloat 32\n%one = OpConstant %f32 1\n{}",
            each(&|at| format!("OpEntryPoint Kernel %e{at} \"e{at}\"\n")),
            each(&|at| format!(
                "%e{at} = OpFunction %void None %type\n%l{at} = OpLabel\n%p{at} = OpFMul %f32 %one %one\n\
                 %s{at} = OpFAdd %f32 %p{at} %one\nOpReturn\nOpFunctionEnd\n"
            )),
        );
        let findings = check_text(&text, Environment::UNIVERSAL);
        let contracted = findings.iter().filter(|finding| finding.code == "SPV0067");
        let of = contracted.filter_map(|finding| finding.open.as_ref()).map(|open| open.edits.len());
        assert_eq!(of.collect::<Vec<_>>(), vec![edits; entries]);
    }
}

/// Entry points that call a chain of functions each have its operations: all are refused where they have too many together.
#[test]
fn entries_are_bounded_together() {
    let mut text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n".to_owned();
    let lines = |from: &dyn Fn(usize) -> String, count: usize| (0..count).map(from).collect::<String>();
    text += &lines(&|at| format!("OpEntryPoint GLCompute %k{at} \"k{at}\"\n"), 60);
    text += &lines(&|at| format!("OpExecutionMode %k{at} LocalSize 1 1 1\n"), 60);
    text += "%void = OpTypeVoid\n%type = OpTypeFunction %void\n%float = OpTypeFloat 32\n%one = OpConstant %float 1\n";
    let function = |name: String, called: Option<String>| {
        let call = called.map_or(String::new(), |called| format!("%c{name} = OpFunctionCall %void %{called}\n"));
        format!(
            "%{name} = OpFunction %void None %type\n%l{name} = OpLabel\n%s{name} = OpFAdd %float %one %one\n{call}OpReturn\nOpFunctionEnd\n"
        )
    };
    text += &lines(&|at| function(format!("f{at}"), at.checked_sub(1).map(|before| format!("f{before}"))), 60);
    text += &lines(&|at| function(format!("k{at}"), Some("f59".to_owned())), 60);
    let module = assemble_module(&text, None).unwrap();
    let each = |largest_kernel| {
        let settings = Settings { largest_kernel, ..Settings::default() };
        lower_each(&module, Some(&text), &settings).unwrap()
    };
    let refused = each(200);
    let is_named =
        |message: &str| message.contains("operations and blocks together, their calls inlined, cannot be run");
    assert!(
        refused.len() == 60 && refused.iter().all(|(_, kernel)| is_named(&kernel.as_ref().unwrap_err()[0].message))
    );
    assert!(each(100_000).iter().all(|(_, kernel)| kernel.is_ok()));
}
