//! The verdicts of spirv-val 2025.5 on modules around OpFmaKHR (vectors/edge/spirv/): ours agree on every one, but for the
//! differences listed here.

use roundonce_isa::Severity;
use roundonce_spirv::{Environment, check_text};

/// Modules that we judge otherwise on purpose, and why.
fn known_difference(case: &str, text: &str) -> Option<&'static str> {
    if case == "a parameter too few" {
        return Some("a function has as many parameters as its type (2.16.1), which the judge does not count: refused");
    }
    if without_fma(text) && text.contains("OpFmaKHR") {
        // "FmaKHR doesn't support BFloat16 type" and the like of 8-bit floats: what later versions of the judge say.
        return Some("bfloat16 and 8-bit floats have no fused multiply-add: refused");
    }
    // LLVM's translator prints the capability so.
    text.contains("OpCapability FmaKHR").then_some("the capability is read as FmaKHR too: accepted")
}

/// The cases handed to us, and as many again around them, judged by the same program. Another file of this form can be
/// judged by the same test.
fn cases() -> Vec<serde_json::Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/edge/spirv/");
    let files = match std::env::var("ROUNDONCE_SPIRV_VERDICTS") {
        Ok(other) => vec![other],
        Err(_) => [
            "verdicts",
            "neighbours",
            "float-controls2",
            "declarations",
            "structure",
            "enumerants",
            "operands",
            "versions",
            "universal",
        ]
        .map(|name| format!("{folder}{name}.jsonl"))
        .to_vec(),
    };
    let texts = files.iter().map(|path| std::fs::read_to_string(path).expect("the verdicts are in the repository"));
    texts
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).expect("a case a line")).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn verdicts_agree() {
    let mut differences = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 100, "only {} cases", cases.len());
    for case in &cases {
        let field = |name: &str| case[name].as_str().expect("a text").to_owned();
        let text = field("spvasm");
        let environment: Environment = field("env").parse().expect("an environment that is known");
        let findings = check_text(&text, environment);
        let errors: Vec<String> =
            findings.iter().filter(|finding| finding.severity == Severity::Error).map(ToString::to_string).collect();
        let refused = field("verdict") != "ok";
        if refused == errors.is_empty() && known_difference(&field("case"), &text).is_none() {
            differences.push(format!(
                "{} in {environment}: spirv-val says {} {}\n  we say {errors:#?}",
                field("case"),
                field("verdict"),
                field("message")
            ));
        }
    }
    assert!(differences.is_empty(), "{} of {} differ:\n{}", differences.len(), cases.len(), differences.join("\n"));
}

/// Whether a module has a format that the multiply-add is not defined for.
fn without_fma(text: &str) -> bool {
    ["BFloat16KHR", "Float8E4M3EXT", "Float8E5M2EXT"].iter().any(|encoding| text.contains(&format!(" {encoding}\n")))
}

#[test]
fn narrow_floats_are_refused() {
    let mut refused = 0;
    for case in cases() {
        let text = case["spvasm"].as_str().expect("a text");
        if without_fma(text) && text.contains("OpFmaKHR %n") && case["verdict"] == "ok" {
            refused += 1;
            let findings = check_text(text, Environment::UNIVERSAL);
            assert!(findings.iter().any(|finding| finding.code == "SPV0042"), "{}: {findings:?}", case["case"]);
        }
    }
    assert!(refused >= 6, "only {refused} modules");
}

/// What an enumerant lacks is found as that, not as something else: a case an enumerant (`enumerants.jsonl`).
#[test]
fn enumerants_lack_what_the_judge_says() {
    let mut found = [0, 0];
    for case in cases() {
        let field = |name: &str| case[name].as_str().expect("a text");
        let message = field("message");
        let expected = if message.contains("requires one of these capabilities") {
            0
        } else if message.contains(" operand of ") && message.contains(" requires ") && !message.contains("Capability")
        {
            1
        } else {
            continue;
        };
        let code = ["SPV0020", "SPV0021"][expected];
        let environment: Environment = field("env").parse().expect("an environment that is known");
        let findings = check_text(field("spvasm"), environment);
        let reported = findings.iter().any(|finding| finding.code == code);
        assert!(reported, "{}: {message}: {findings:?}", field("case"));
        found[expected] += 1;
    }
    assert!(found[0] > 250 && found[1] >= 40, "{found:?}");
}
