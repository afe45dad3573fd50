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
}
