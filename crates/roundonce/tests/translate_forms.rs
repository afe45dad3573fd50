//! Every counterpart of every spelling of every row gives the source's bits: by the steps that it says it takes, and, of
//! PTX and SPIR-V, by its text, read by its own front end and run. Machine code is assembled.

mod counterparts;
mod reader;

use std::collections::{BTreeMap, BTreeSet};

use roundonce::answers::{AskedExpression, translate_expression};
use roundonce::arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce::kernel::Source;
use roundonce::translate::instruction::{Counterpart, Language, Translated, evaluate, translate};
use roundonce::why::{Evaluation, LiteralTypes, Typed, parse_expr};
use roundonce::{Instruction, Profile, TABLES, Target, instruction, sass};

use reader::{generator, read, spellings, triple};

/// Operands of each pair of a source and a counterpart.
const OPERANDS: usize = 128 * 80;

/// Each recipe once, with a spelling of it, and its counterparts in a language.
fn each(to: Language, mut check: impl FnMut(&str, &Instruction, Vec<Counterpart>)) {
    let mut seen = BTreeSet::new();
    for spelling in spellings() {
        let source = instruction(&spelling, &Target::default()).unwrap();
        if seen.insert(format!("{:?}", source.recipe))
            && let Translated::Counterparts(found) = translate(&source.recipe, to, &TABLES)
        {
            check(&spelling, &source, found);
        }
    }
}

fn operands(spelling: &str, count: usize) -> Vec<[u64; 3]> {
    let reading = read(spelling);
    let mut generator = generator(&reading, spelling.len() as u64);
    (0..count).map(|_| triple(&reading, &mut generator)).collect()
}

fn of_source(operation: &Operation, triple: &[u64; 3]) -> u64 {
    let taken: Vec<u64> = operation.op.operands().iter().map(|&operand| triple[operand as usize]).collect();
    operation.evaluate(&Profile::NVIDIA, &taken).bits
}

/// Equal bits, or two NaNs where the language says nothing of a NaN's bits.
fn same(counterpart: &Counterpart, operation: &Operation, one: u64, other: u64) -> bool {
    let both_nan = operation.format.is_nan(one) && operation.format.is_nan(other);
    one == other || both_nan && counterpart.open.contains(&"the bits of a NaN")
}

#[test]
fn steps_give_the_sources_bits() {
    let mut pairs = 0;
    for to in Language::ALL {
        let mut seen = BTreeSet::new();
        each(to, |spelling, source, found| {
            let operation = source.recipe.operation;
            for counterpart in found {
                if !seen.insert(format!("{operation:?} {:?}", counterpart.steps)) {
                    continue;
                }
                pairs += 1;
                for triple in operands(spelling, OPERANDS) {
                    let taken: Vec<u64> = operation.op.operands().iter().map(|&at| triple[at as usize]).collect();
                    let found = evaluate(&counterpart.steps, &Profile::NVIDIA, &taken);
                    let expected = of_source(&operation, &triple);
                    assert!(
                        same(&counterpart, &operation, found, expected),
                        "{spelling} to {}: {} of {triple:x?} is {found:x}, not {expected:x}",
                        to.name(),
                        counterpart.spelling
                    );
                }
            }
        });
    }
    assert!(pairs > 400, "{pairs}");
}

/// Leaves a module for the assembler and the validator, if `dev/translate/spelling.py` names a folder.
fn keep(to: Language, number: usize, text: &str) {
    if let Some(folder) = std::env::var_os("ROUNDONCE_TRANSLATED") {
        let ending = if to == Language::Ptx { "ptx" } else { "spvasm" };
        std::fs::write(std::path::Path::new(&folder).join(format!("{number}.{ending}")), text).unwrap();
    }
}

/// The texts of a language, each in a module, run.
fn texts_give_the_sources_bits(to: Language, least: usize, module: impl Fn(&Counterpart, &Operation) -> String) {
    let mut seen = BTreeSet::new();
    each(to, |spelling, source, found| {
        let operation = source.recipe.operation;
        let triples = operands(spelling, OPERANDS);
        for counterpart in found {
            let is_opencl = counterpart.around.iter().any(|line| line == "OpCapability Kernel");
            let text = module(&counterpart, &operation);
            if is_opencl || counterpart.components == 3 || !seen.insert(text.clone()) {
                continue;
            }
            keep(to, seen.len(), &text);
            let source = if to == Language::Ptx { Source::Ptx(&text) } else { Source::SpirvText(&text) };
            let results = counterparts::run(source, &operation, counterpart.components, &triples);
            for (triple, found) in triples.iter().zip(results) {
                let expected = of_source(&operation, triple);
                assert!(
                    same(&counterpart, &operation, found, expected),
                    "{spelling} of {triple:x?} gives {found:x}, not {expected:x}, as\n{text}"
                );
            }
        }
    });
    assert!(seen.len() > least, "{}", seen.len());
}

#[test]
fn ptx_texts_give_the_sources_bits() {
    texts_give_the_sources_bits(Language::Ptx, 200, counterparts::ptx_module);
}

#[test]
fn spirv_texts_give_the_sources_bits() {
    texts_give_the_sources_bits(Language::SpirV, 60, counterparts::spirv_module);
}

#[test]
fn machine_code_assembles() {
    let mut seen = BTreeSet::new();
    each(Language::Sass, |spelling, _, found| {
        for counterpart in found {
            let [line] = counterpart.code.as_slice() else { panic!("{spelling}: {:?}", counterpart.code) };
            let first = counterpart.gate.unwrap().target.first;
            if !seen.insert(line.clone()) {
                continue;
            }
            let problem = match sass::modern::Target::new(first) {
                Some(target) => sass::modern::asm_line(line, target).err(),
                None => sass::asm_line(line).err(),
            };
            assert!(problem.is_none(), "{spelling} on sm_{first}: {line}\n{problem:?}");
        }
    });
    assert!(seen.len() > 100, "{}", seen.len());
}

/// An expression's text in SPIR-V gives what its evaluation gives.
#[test]
fn expressions_give_their_evaluations_bits() {
    let operation = Operation::mul_add(Format::F32, Rounding::NearestEven);
    for text in ["fma(a,b,c)*a", "a*b + c", "a - b*c", "-(a*b) + 0.1f*c", "-fma(a, b, -c)", "fma(-a, 3.0f, b) - c"] {
        for contract in [false, true] {
            let (types, literals) = (BTreeMap::new(), LiteralTypes::default());
            let asked = AskedExpression { expression: text, types, ty: Format::F32, literals, contract };
            let answer = translate_expression(&asked, Language::SpirV, None, &Profile::NVIDIA).unwrap().answer;
            let way = &answer.ways[0];
            let source = instruction("fma.rn.f32", &Target::default()).unwrap();
            let Translated::Counterparts(found) = translate(&source.recipe, Language::SpirV, &TABLES) else { panic!() };
            let mut counterpart = found.into_iter().next().unwrap();
            (counterpart.code, counterpart.around) = (way.code.clone(), way.around.clone());
            // A name that the expression does not use is read all the same.
            let module = counterparts::spirv_module(&counterpart, &operation);
            let triples = operands("fma.rn.f32", 128 * 4);
            let results = counterparts::run(Source::SpirvText(&module), &operation, 1, &triples);
            for (triple, found) in triples.iter().zip(results) {
                let value = |at: usize| Typed { format: Format::F32, bits: triple[at] };
                let names =
                    BTreeMap::from([("a", 0), ("b", 1), ("c", 2)].map(|(name, at)| (name.to_owned(), value(at))));
                let expr = parse_expr(text, &names).unwrap();
                let evaluation = if contract { Evaluation::contracted(&expr) } else { Evaluation::as_written(&expr) };
                let expected = evaluation.trace(&Profile::NVIDIA).0.bits;
                assert!(same(&counterpart, &operation, found, expected), "{text} of {triple:x?}: {found:x}\n{module}");
            }
        }
    }
}

/// A register's name without the sign in front of it, and the sign.
fn unsigned(operand: &str) -> (&str, bool) {
    operand.strip_prefix('-').map_or((operand, false), |name| (name, true))
}

/// An expression's machine code, line by line by the rows of its instructions, gives what its evaluation gives, and is assembled.
#[test]
fn expressions_in_machine_code_give_their_evaluations_bits() {
    let mut lines = 0;
    for text in ["fma(a,b,c)*a", "a*b + c", "a - b*c", "-(a*b) + 0.1f*c", "fma(-a, 3.0f, b) - c"] {
        for contract in [false, true] {
            let (types, literals) = (BTreeMap::new(), LiteralTypes::default());
            let asked = AskedExpression { expression: text, types, ty: Format::F32, literals, contract };
            let answer = translate_expression(&asked, Language::Sass, None, &Profile::NVIDIA).unwrap().answer;
            assert_eq!(answer.ways.len(), 2, "{text}");
            for way in &answer.ways {
                for triple in operands("fma.rn.f32", 64) {
                    let named = |name: &str| match name {
                        "a" => triple[0],
                        "b" => triple[1],
                        "c" => triple[2],
                        number => number.parse::<f32>().unwrap().to_bits().into(),
                    };
                    let standing = way.needs.iter().filter_map(|need| need.split_once(" in "));
                    let mut registers: BTreeMap<&str, u64> =
                        standing.map(|(name, register)| (register, named(name))).collect();
                    for line in &way.code {
                        let words = line.strip_suffix(" ;").unwrap();
                        let (spelling, rest) = words.split_once(' ').unwrap();
                        let (result, taken) = rest.split_once(", ").unwrap();
                        let operation = instruction(spelling, &Target::default()).unwrap().recipe.operation;
                        let value = |operand: &str| {
                            let (name, negated) = unsigned(operand);
                            registers[name] ^ if negated { Format::F32.sign_mask() } else { 0 }
                        };
                        let taken: Vec<u64> = taken.split(", ").map(value).collect();
                        registers.insert(result, operation.evaluate(&Profile::NVIDIA, &taken).bits);
                        lines += 1;
                    }
                    let value = |at: usize| Typed { format: Format::F32, bits: triple[at] };
                    let names =
                        BTreeMap::from([("a", 0), ("b", 1), ("c", 2)].map(|(name, at)| (name.to_owned(), value(at))));
                    let expr = parse_expr(text, &names).unwrap();
                    let evaluation =
                        if contract { Evaluation::contracted(&expr) } else { Evaluation::as_written(&expr) };
                    let expected = evaluation.trace(&Profile::NVIDIA).0.bits;
                    assert_eq!(registers["R0"], expected, "{text} of {triple:x?} in {:?}", way.code);
                }
                let modern = way.needs[0].starts_with("sm_70");
                for line in &way.code {
                    let problem = match sass::modern::Target::new(70).filter(|_| modern) {
                        Some(target) => sass::modern::asm_line(line, target).err(),
                        None => sass::asm_line(line).err(),
                    };
                    assert!(problem.is_none(), "{line}: {problem:?}");
                }
            }
        }
    }
    assert!(lines > 1000, "{lines}");
}

/// What has counterparts and what has none, by field.
#[test]
fn refusals_name_the_field() {
    let fields = |spelling: &str, to| {
        let source = instruction(spelling, &Target::default()).unwrap();
        match translate(&source.recipe, to, &TABLES) {
            Translated::Counterparts(_) => Vec::new(),
            Translated::Refused(refusal) => refusal.fields,
        }
    };
    assert_eq!(fields("fma.rp.f32", Language::SpirV), ["rounding"]);
    assert_eq!(fields("fma.rp.f32", Language::C), [""; 0]);
    assert_eq!(fields("FFMA.RZ.CC", Language::Ptx), ["condition codes"]);
    assert_eq!(fields("FFMA.RM.CC", Language::SpirV), ["condition codes", "rounding"]);
    assert_eq!(fields("mad.f32@sm_13", Language::Sass), ["the product is truncated"]);
    assert_eq!(fields("fma.rn.bf16", Language::SpirV), ["operand types"]);
    assert_eq!(fields("fma.rn.oob.f16", Language::SpirV), ["out-of-bounds NaN"]);
    assert_eq!(fields("fma.rn.oob.f16", Language::Cuda), [""; 0]);
    assert_eq!(fields("fma.rn.f32", Language::Wgsl), ["rounding", "subnormals", "fused"]);
    assert_eq!(fields("fma.rn.f32", Language::Metal), ["rounding", "subnormals"]);
    assert_eq!(fields("fma.rn.ftz.f16", Language::C), ["subnormals"]);
    assert_eq!(fields("fma.rz.bf16", Language::Sass), ["rounding"]);
}

/// A counterpart of another field is told apart by the operands used here.
#[test]
fn the_operands_tell_fields_apart() {
    let source = instruction("fma.rn.ftz.f32", &Target::default()).unwrap();
    let operation = source.recipe.operation;
    let others = [
        Operation { flush: false, ..operation },
        Operation { rounding: Rounding::TowardZero, ..operation },
        Operation { fmz: true, ..operation },
        Operation { clamp: Clamp::Unit, ..operation },
        Operation { negate_addend: true, ..operation },
        Operation { op: ArithOp::TruncatedMulAdd, ..operation },
    ];
    let triples = operands("fma.rn.ftz.f32", OPERANDS);
    for other in others {
        assert!(triples.iter().any(|triple| of_source(&operation, triple) != of_source(&other, triple)), "{other:?}");
    }
}

/// Up to sm_13 every instruction of f32 flushes subnormals, which none of these may.
#[test]
fn machines_that_flush_are_not_taken_for_what_keeps_subnormals() {
    for text in ["min(a,b)", "max(a,b)", "-min(a,b)", "abs(a)"] {
        let (types, literals) = (BTreeMap::new(), LiteralTypes::default());
        let asked = AskedExpression { expression: text, types, ty: Format::F32, literals, contract: false };
        let of = |target: Option<&str>| {
            let target = target.map(|name| name.parse().unwrap());
            translate_expression(&asked, Language::Ptx, target, &Profile::NVIDIA)
        };
        assert!(of(None).unwrap().answer.ways[0].needs[0].ends_with("sm_20"), "{text}");
        assert!(of(Some("sm_20")).is_ok() && of(Some("sm_13")).is_err() && of(Some("sm_10")).is_err(), "{text}");
    }
}
