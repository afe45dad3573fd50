//! Text to words to text and back; and, where SPIRV-Tools are installed, the same words and the same text as theirs.

use std::collections::BTreeSet;

use roundonce_isa::Severity;
use roundonce_spirv::{
    Environment, Migration, assemble, check_binary, check_text, disassemble, migrate_binary, migrate_text,
};
use tools::{run, tools};

mod tools;

fn corpus() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/edge/spirv/");
    let mut texts = BTreeSet::new();
    for name in ["verdicts.jsonl", "neighbours.jsonl", "float-controls2.jsonl", "declarations.jsonl"] {
        let text = std::fs::read_to_string(folder.to_owned() + name).expect("the verdicts are in the repository");
        for line in text.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case a line");
            let field = |name: &str| case[name].as_str().expect("a text").to_owned();
            texts.insert((field("spvasm"), field("verdict")));
        }
    }
    for name in ["syntax.spvasm", "non-semantic.spvasm"] {
        let text = std::fs::read_to_string(folder.to_owned() + name).expect("the samplers are in the repository");
        texts.insert((text, "ok".to_owned()));
    }
    texts.into_iter().collect()
}

fn bytes(words: &[u32], big: bool) -> Vec<u8> {
    words.iter().flat_map(|word| if big { word.to_be_bytes() } else { word.to_le_bytes() }).collect()
}

/// A module with one instruction cut to fewer words than it has is checked as any other.
#[test]
fn an_instruction_may_be_cut_short() {
    let environments = ["spv1.6", "vulkan1.3", "opencl2.2"].map(|name| name.parse::<Environment>().unwrap());
    let mut cut = 0;
    for (text, _) in corpus() {
        let Ok(words) = assemble(&text) else { continue };
        let mut at = 5;
        while at < words.len() {
            let (count, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
            for left in 1..count {
                let mut shorter = words.clone();
                shorter.drain(at + left..at + count);
                shorter[at] = (left as u32) << 16 | opcode;
                environments.iter().for_each(|&each| drop(check_binary(&bytes(&shorter, false), each)));
                cut += 1;
            }
            at += count;
        }
    }
    assert!(cut > 10_000, "only {cut}");
}

#[test]
fn text_to_words_to_text_is_lossless() {
    let mut read = 0;
    for (text, _) in corpus() {
        let Ok(words) = assemble(&text) else { continue };
        read += 1;
        for big in [false, true] {
            let printed = disassemble(&bytes(&words, big)).expect("what was assembled is printed");
            assert_eq!(assemble(&printed).as_ref(), Ok(&words), "{printed}");
        }
        // A finding about the words is one about the text.
        let environment = Environment::UNIVERSAL;
        let codes = |findings: Vec<roundonce_isa::Finding>| {
            let mut codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
            codes.sort_unstable();
            codes
        };
        assert_eq!(
            codes(check_text(&text, environment)),
            codes(check_binary(&bytes(&words, true), environment)),
            "{text}"
        );
    }
    assert!(read > 250, "only {read} modules could be read");
}

#[test]
fn what_the_grammar_cannot_say_is_kept_as_raw_words() {
    let mut words = assemble("%f = OpTypeFloat 32\nOpCapability Shader").expect("a module");
    // An unknown opcode, an unknown capability, a wrong length, a string without its end, an id beyond all.
    words.extend([
        0x0002_fff0,
        7,
        0x0002_0011,
        0xdead,
        0x0001_0011,
        0x0002_000a,
        0x4141_4141,
        0x0002_0013,
        0xffff_ffff,
    ]);
    let text = disassemble(&bytes(&words, false)).expect("words are words");
    assert_eq!(text.matches("!0x0002").count(), 4, "{text}");
    assert_eq!(assemble(&text), Ok(words));
}

#[test]
fn a_string_ends_at_its_zero_byte_and_so_holds_none() {
    let findings = assemble("OpName %a \"one\0two\"").unwrap_err();
    assert!(findings[0].message.contains("cannot hold a zero byte"), "{findings:?}");
}

#[test]
fn both_spellings_of_the_capability_are_read_and_one_is_written() {
    let words = assemble("OpCapability FmaKHR").expect("as LLVM's translator prints it");
    assert_eq!(Ok(&words), assemble("OpCapability FMAKHR").as_ref());
    assert!(disassemble(&bytes(&words, false)).expect("a module").contains("OpCapability FMAKHR"));
}

const ASSEMBLE: [&str; 5] = ["--preserve-numeric-ids", "--target-env", "spv1.6", "-o", "-"];

fn words_of(bytes: &[u8]) -> Vec<u32> {
    let mut words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    // The generator's word is its own.
    words[2] = 0;
    words
}

#[test]
fn words_and_text_are_those_of_spirv_tools() {
    let Some(folder) = tools() else { return };
    let mut compared = 0;
    for (text, verdict) in corpus().into_iter().filter(|(_, verdict)| verdict == "ok") {
        let theirs = run(folder.join("spirv-as"), &[&ASSEMBLE[..], &["-"]].concat(), text.as_bytes());
        let Some(theirs) = theirs else {
            panic!("spirv-as refuses what it took ({verdict}): {text}");
        };
        let ours = assemble(&text).expect("spirv-as reads it");
        assert_eq!(ours, words_of(&theirs), "{text}");
        let printed = run(folder.join("spirv-dis"), &["--raw-id", "-"], &theirs).expect("their own binary");
        assert_eq!(disassemble(&theirs).expect("their binary"), String::from_utf8_lossy(&printed));
        let again = run(
            folder.join("spirv-as"),
            &[&ASSEMBLE[..], &["-"]].concat(),
            disassemble(&theirs).expect("it").as_bytes(),
        );
        assert_eq!(again.as_deref().map(words_of), Some(ours));
        compared += 1;
    }
    assert!(compared > 80, "only {compared} modules were compared");
}

const OPENCL: &str = include_str!("../../../vectors/edge/spirv/opencl-fma.spvasm");
const GLSL: &str = include_str!("../../../vectors/edge/spirv/glsl-fma.spvasm");

#[test]
fn migration_keeps_the_rest_and_drops_what_is_unused() {
    for (text, migration, set) in
        [(OPENCL, Migration::default(), "OpenCL.std"), (GLSL, Migration { glsl_fma: true }, "GLSL.std.450")]
    {
        let migrated = migrate_text(text, migration).expect("a module");
        assert_eq!(migrated.rewritten, 2);
        let codes: Vec<&str> = check_text(&migrated.output, Environment::UNIVERSAL)
            .iter()
            .filter(|at| at.severity > Severity::Note)
            .map(|at| at.code)
            .collect();
        assert!(codes.is_empty(), "{codes:?}\n{}", migrated.output);
        // Everything that is not a multiply-add, the import or a declaration is unchanged.
        let untouched = |text: &str| -> Vec<String> {
            let ours = [set, "OpFmaKHR", "OpExtInst", "FMAKHR", "SPV_KHR_fma"];
            text.lines().filter(|line| !ours.iter().any(|part| line.contains(part))).map(str::to_owned).collect()
        };
        assert_eq!(untouched(text), untouched(&migrated.output));
        assert_eq!(migrated.output.contains(set), text.contains("; keeps the import"), "{}", migrated.output);
        // Text and binary say the same.
        let words = assemble(text).expect("a module");
        for big in [false, true] {
            let binary = migrate_binary(&bytes(&words, big), migration).expect("a module");
            let mut expected = assemble(&migrated.output).expect("a module");
            let mut found = binary
                .output
                .as_chunks::<4>()
                .0
                .iter()
                .map(|word| if big { u32::from_be_bytes(*word) } else { u32::from_le_bytes(*word) });
            assert_eq!(found.clone().count(), expected.len());
            // A dropped import's id stays unused in the binary and is given anew in the text: compare instructions.
            let opcodes = |words: &[u32]| -> Vec<u32> {
                let mut at = 5;
                std::iter::from_fn(|| {
                    let word = *words.get(at)?;
                    at += (word >> 16) as usize;
                    Some(word)
                })
                .collect()
            };
            let words: Vec<u32> = found.by_ref().collect();
            assert_eq!(opcodes(&words), opcodes(&expected));
            expected.clear();
        }
        // Nothing is left to do.
        assert_eq!(migrate_text(&migrated.output, migration).expect("a module").rewritten, 0);
    }
    assert_eq!(migrate_text(GLSL, Migration::default()).expect("a module").output, GLSL);
}

#[test]
fn migrated_modules_are_valid_for_spirv_val() {
    let Some(folder) = tools() else { return };
    for (text, migration) in [(OPENCL, Migration::default()), (GLSL, Migration { glsl_fma: true })] {
        let migrated = migrate_text(text, migration).expect("a module").output;
        let words = assemble(&migrated).expect("what was migrated is read");
        let from_text = bytes(&words, false);
        let from_binary =
            migrate_binary(&bytes(&assemble(text).expect("a module"), false), migration).expect("it").output;
        for binary in [from_text, from_binary] {
            assert!(run(folder.join("spirv-val"), &["--target-env", "spv1.6", "-"], &binary).is_some(), "{migrated}");
        }
    }
}
