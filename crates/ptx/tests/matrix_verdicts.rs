//! Which matrix instructions and instructions of tensor memory the assembler takes, and `check` with it:
//! `vectors/edge/ptx/matrix-verdicts.tsv`, `tensor-memory-verdicts.tsv`.

#[path = "common/verdicts.rs"]
mod verdicts;

use roundonce_isa::Version;
use roundonce_ptx::{Options, check_text};
use std::collections::BTreeSet;
use verdicts::{Differences, numbers};

const MATRICES: &str = include_str!("../../../vectors/edge/ptx/matrix-verdicts.tsv");
const TENSOR_MEMORY: &str = include_str!("../../../vectors/edge/ptx/tensor-memory-verdicts.tsv");

/// A spelling and its operands.
type Asked = (String, Vec<&'static str>);

/// A target, what each operand takes beside, and whose they are.
type Beside = (&'static str, Vec<BTreeSet<&'static str>>, Vec<Asked>);

#[derive(Default)]
struct Record {
    registers: String,
    /// The letters of registers.
    letters: Vec<&'static str>,
    places: Vec<(&'static str, Version)>,
    /// Where, and what; nowhere for what is no form.
    taken: Vec<(BTreeSet<usize>, Vec<Asked>)>,
    /// On which target, what each operand takes beside, and whose they are.
    operands: Vec<Beside>,
}

/// Which lines are refused; those of two CTAs, which a function does not have beside those of one, in a module of their own.
fn refused(registers: &str, place: (&str, Version), lines: &[String]) -> Vec<bool> {
    let is_pair = |line: &&String| line.contains(".cta_group::2");
    let of = |pairs: bool| {
        let some: Vec<String> = lines.iter().filter(|line| is_pair(line) == pairs).cloned().collect();
        verdicts::refused(registers, place, &some).into_iter()
    };
    let (mut single, mut pairs) = (of(false), of(true));
    lines.iter().map(|line| if is_pair(&line) { pairs.next() } else { single.next() }.expect("a verdict")).collect()
}

/// `OPERANDS : SPELLING SPELLING; ...`
fn asked(text: &'static str) -> Vec<Asked> {
    let group = |text: &'static str| {
        let (operands, spellings) = text.split_once(": ").expect("operands and spellings");
        let operands: Vec<&str> = operands.split_whitespace().collect();
        let whole = |text: &str| text.replace('~', ".sync.aligned").replace('^', ".row.col.");
        spellings.split(' ').map(move |spelling| (whole(spelling), operands.clone()))
    };
    text.split("; ").flat_map(group).collect()
}

fn record(text: &'static str) -> Record {
    let mut record = Record::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["registers", all] => {
                for (letter, ty) in all.split(' ').map(|pair| pair.split_once('=').expect("a pair")) {
                    record.letters.push(letter);
                    record.registers += &format!(".reg .{ty} %{letter}<8>;\n");
                }
            }
            ["place", place] => {
                let (target, version) = place.split_once(' ').expect("a target and a version");
                record.places.push((target, version.parse().expect("a version")));
            }
            ["taken", "", all] => record.taken.push((BTreeSet::new(), asked(all))),
            ["taken", places, all] => record.taken.push((numbers(places), asked(all))),
            ["operands", target, places, all] => {
                let places = places.split("; ").map(|place| place.split_whitespace().collect()).collect();
                record.operands.push((target, places, asked(all)));
            }
            _ => panic!("{line}"),
        }
    }
    record
}

/// A number of registers and their letter.
fn counted(code: &str) -> Option<(usize, &str)> {
    let letter = code.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let count = code[..code.len() - letter.len()].parse().ok()?;
    (!letter.is_empty()).then_some((count, letter))
}

fn written(code: &str) -> String {
    if let Some((count, letter)) = counted(code) {
        let named: Vec<String> = (0..count).map(|at| format!("%{letter}{}", at % 8)).collect();
        let is_alone = count == 1 && matches!(letter, "q" | "Q");
        return if is_alone { named.concat() } else { format!("{{{}}}", named.join(",")) };
    }
    match code.strip_prefix('[').and_then(|code| code.strip_suffix(']')) {
        Some("s") => "[S]".to_owned(),
        Some(letter) => format!("[%{letter}1]"),
        None if code.bytes().all(|byte| byte.is_ascii_alphabetic()) => format!("%{code}0"),
        None => code.to_owned(),
    }
}

fn line(spelling: &str, operands: &[&str]) -> String {
    let operands: Vec<String> = operands.iter().map(|code| written(code)).collect();
    format!("{spelling} {}", operands.join(", ")).trim_end().to_owned()
}

/// What the assembler takes against its documents, and `check` refuses.
fn is_slip(line: &str) -> bool {
    let has = |word: &str| line.contains(word);
    // An operation on bits of 4-bit integers, u32 sums and wrong shapes of `wmma` with integers (ptxas 12.9 alone).
    let is_wide = !has(".m8n8k32") && !has(".m8n8k128");
    let is_of_integers = has(".xor.popc.s32.s4")
        || line.starts_with("wmma.mma")
            && (has(".u32.u8") || is_wide && (has(".s4.s4") || has(".u4.u4") || has(".b1.b1")));
    // A number behind the predicate of integers, which is no scale.
    let last_two = line.split(" on ").next().and_then(|line| line.rsplit_once(", "));
    let number = last_two.filter(|(_, last)| last.parse::<i32>().is_ok());
    let is_number_of_integers =
        has("kind::i8") && !has(".ws") && number.is_some_and(|(before, _)| before.ends_with("%p0"));
    // One register in place of those of the lanes, the predicate left out.
    let is_one_register = has("tcgen05.mma.")
        && !has(".ws")
        && number.is_some_and(|(before, _)| {
            ["%r0", "%u0", "%s0", "%x0", "%f0"].iter().any(|register| before.ends_with(register))
                && before.matches(", ").count() > 3
        });
    // No `.aligned`, and numbers of columns (ptxas 12.9 alone).
    let is_loose = has("tcgen05.ld.sync.32x32b.x2.b32") || has("tcgen05.st.sync.32x32b.x2.b32");
    let is_any_number = has("tcgen05.dealloc") && [", 0", ", 1024", ", -32"].iter().any(|last| has(last));
    // What a later pass refuses, which a module with other errors, as the record's were, does not reach: both assemblers
    // refuse these alone in a module.
    let is_late = line.starts_with("mma.sync.")
        && has(".m16n8k16")
        && (has(".tf32") || has("kind::f8f6f4") && [".e2m1", ".e2m3", ".e3m2"].into_iter().any(has))
        || (line.starts_with("wmma.load") || line.starts_with("wmma.store")) && has(".f64") && !has(".m8n8k4");
    is_late || is_of_integers || is_number_of_integers || is_one_register || is_loose || is_any_number
}

/// What is taken anywhere, at every place: so many cases.
fn forms_agree(record: &Record, at_least: usize) {
    let taken = || record.taken.iter().filter(|(places, _)| !places.is_empty());
    let all: Vec<(&BTreeSet<usize>, String)> = taken()
        .flat_map(|(places, all)| all.iter().map(move |(spelling, operands)| (places, line(spelling, operands))))
        .collect();
    let lines: Vec<String> = all.iter().map(|(_, line)| line.clone()).collect();
    let mut differences = Differences::new(is_slip);
    for (at, place) in record.places.iter().enumerate() {
        for ((places, line), is_refused) in all.iter().zip(refused(&record.registers, *place, &lines)) {
            let text = || format!("{line} on sm_{}, PTX {}", place.0, place.1);
            differences.add(text, is_refused, places.contains(&at));
        }
    }
    assert!(differences.cases > at_least, "{} cases: the record is whole", differences.cases);
    differences.judge(0);
}

#[test]
fn forms_agree_with_the_assembler() {
    forms_agree(&record(MATRICES), 140_000);
}

#[test]
fn forms_of_tensor_memory_agree_with_the_assembler() {
    forms_agree(&record(TENSOR_MEMORY), 70_000);
}

/// What is taken nowhere: so many lines.
fn others_are_refused(record: &Record, at_least: usize, places: &[(&str, Version)]) {
    let nowhere = record.taken.iter().filter(|(places, _)| places.is_empty());
    let lines: Vec<String> =
        nowhere.flat_map(|(_, all)| all.iter().map(|(spelling, operands)| line(spelling, operands))).collect();
    assert!(lines.len() > at_least, "{}: the record is whole", lines.len());
    for place in places {
        let mut differences = Differences::new(is_slip);
        for (line, is_refused) in lines.iter().zip(refused(&record.registers, *place, &lines)) {
            differences.add(|| format!("{line} on sm_{}, PTX {}", place.0, place.1), is_refused, false);
        }
        differences.judge(0);
    }
}

#[test]
fn what_is_no_form_is_refused() {
    let places = [("120a", Version(9, 5)), ("90a", Version(8, 6)), ("70", Version(6, 4))];
    others_are_refused(&record(MATRICES), 4000, &places);
    let places = [("100a", Version(9, 5)), ("103a", Version(9, 5)), ("110f", Version(9, 0)), ("101a", Version(8, 8))];
    others_are_refused(&record(TENSOR_MEMORY), 3000, &places);
}

/// Other numbers and types of registers: so many cases.
fn operands_agree(record: &Record, at_least: usize) {
    let mut cases = 0;
    for target in record.operands.iter().map(|(target, ..)| *target).collect::<BTreeSet<_>>() {
        let (mut lines, mut taken) = (Vec::new(), Vec::new());
        for (_, places, all) in record.operands.iter().filter(|(of, ..)| *of == target) {
            for (spelling, operands) in all {
                for (place, takes) in places.iter().enumerate().take(operands.len()) {
                    for kind in alternatives(&record.letters, operands[place]) {
                        let mut operands = operands.clone();
                        operands[place] = &kind;
                        lines.push(line(spelling, &operands));
                        taken.push(takes.contains(kind.as_str()));
                    }
                }
            }
        }
        cases += lines.len();
        let mut differences = Differences::new(has_predicate);
        let found = refused(&record.registers, (target, Version(9, 5)), &lines);
        for ((line, is_refused), is_taken) in lines.iter().zip(found).zip(taken) {
            differences.add(|| line.clone(), is_refused, is_taken);
        }
        differences.judge(0);
    }
    assert!(cases > at_least, "{cases}: the record is whole");
}

#[test]
fn operands_agree_with_the_assembler() {
    operands_agree(&record(MATRICES), 30_000);
    operands_agree(&record(TENSOR_MEMORY), 20_000);
}

/// The assembler takes a predicate for 32 bits, and what it takes anyway.
fn has_predicate(line: &str) -> bool {
    let (spelling, operands) = line.split_once(' ').unwrap_or((line, ""));
    let is_elsewhere = spelling.starts_with("wgmma.mma_async.sync") || spelling.starts_with("tcgen05.mma");
    is_slip(line) || operands.contains("%p") && !is_elsewhere || operands.contains("{%p")
}

/// As dev/verdicts/matrix_record.py has them.
fn alternatives(letters: &[&str], code: &str) -> Vec<String> {
    let of = |count: &str| letters.iter().map(|letter| format!("{count}{letter}")).collect::<Vec<_>>();
    match code {
        "r" | "p" | "h" => [of(""), vec![format!("1{code}")]].concat(),
        "[r]" => ["[r]", "[u]", "[q]", "[w]", "[f]", "[x]", "[h]", "[s]"].map(str::to_owned).to_vec(),
        "[q]" | "[s]" => ["[r]", "[q]", "[w]", "[f]", "[s]"].map(str::to_owned).to_vec(),
        _ => {
            let Some((count, letter)) = counted(code) else { return Vec::new() };
            let alone = if count == 1 { vec![letter.to_owned()] } else { Vec::new() };
            let others = [count - 1, count + 1, count * 2].into_iter().filter(|other| *other > 0);
            [alone, of(&count.to_string()), others.map(|other| format!("{other}{letter}")).collect()].concat()
        }
    }
}

/// What ptxas 13.5 takes beside the record: other orders of modifiers, results thrown away, constants; and some of what it
/// refuses.
#[test]
fn what_stands_beside_the_record() {
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}";
    let lines = [
        "mma.aligned.sync.row.col.m16n8k8.f16.f16.f16.f16 {%r0,%r1}, {%r0,%r1}, {%r4}, {%r0,%r1}".to_owned(),
        format!("{mma} {{_,%f1,%f2,%f3}}, {{%r0,%r1,%r2,%r3}}, {{%r4,%tid.x}}, {{0f00000000,%f1,%f2,%f3}}"),
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1}, {%r2}, {%r3}, {0,0}".to_owned(),
        "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r0,_,%r2,%r3}, [%q1+16]".to_owned(),
        "wmma.load.a.sync.aligned.m16n16k16.row.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [S], WARP_SZ".to_owned(),
        format!("{wgmma}, 5, %w1, !%p1, 1, 1, 0, 0"),
        "wgmma.wait_group.sync.aligned 1+1".to_owned(),
    ];
    assert_eq!(refused(&record(MATRICES).registers, ("90a", Version(9, 5)), &lines), [false; 7]);
    let mma = "tcgen05.mma.cta_group::1.kind::f16";
    let load = "tcgen05.ld.sync.aligned.32x32b.x4.b32";
    let lines = [
        format!("{mma} [%r1+4], 5, %w1, 1+1, {{%tid.x,1,%f1,%r1}}, !%p1, 0x5"),
        format!("{mma} [%r1], [%r2+1], WARP_SZ, %s1, 1"),
        format!("{load} {{_,%r1,_,%f1}}, [S]"),
        format!("{load} {{%f0,%r1,%u2,%u3}}, [%u1+-4]"),
        "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%x1}, [%s1], -1".to_owned(),
        "tcgen05.shift.cta_group::1.down [5]".to_owned(),
    ];
    let registers = record(TENSOR_MEMORY).registers;
    assert_eq!(refused(&registers, ("100a", Version(9, 5)), &lines), [false; 6]);
    let lines = [
        format!("{mma} [%r1], %q1, %q2, %r2, %p1, 16"),
        format!("{mma} [%r1], %q1, %q2, %r2, {{_,%r1,%r2,%r3}}, %p1"),
        format!("{mma} [%r1], %clock64, %q2, %r2, %p1"),
        format!("{mma} [5], %q1, %q2, %r2, %p1"),
        format!("{load} {{_,_,_,_}}, [%r1]"),
        format!("{load} {{%f0,%u1,%r2,%r3}}, [%r1]"),
        format!("{load} {{%r0,%r1,%r2,%r3}}, [%q1]"),
    ];
    assert_eq!(refused(&registers, ("100a", Version(9, 5)), &lines), [true; 7]);
}

/// What is expected is named.
#[test]
fn findings_name_what_is_expected() {
    let found = |target: &str, line: &str| {
        let text =
            format!(".version 8.0\n.target sm_{target}\n.entry k () {{ .reg .b32 %r<8>; .reg .f32 %f<8>; {line}; }}");
        let findings = check_text(&text, &Options::default());
        findings.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect::<Vec<_>>().join("\n")
    };
    let operands = "{%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}";
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32";
    assert_eq!(found("80", &format!("{mma}.f16.f16.f32 {operands}")), "");
    assert_eq!(
        found("75", &format!("{mma}.f16.f16.f32 {operands}")),
        format!("PTX0026 `{mma}.f16.f16.f32` on sm_75: expected `.target sm_80` or higher")
    );
    let types = found("80", &format!("{mma}.f16.bf16.f32 {operands}"));
    assert!(types.starts_with("PTX0021 ") && types.contains(".m16n8k16.f32.f16.f16.f32`"), "{types}");
    let count = found("80", &format!("{mma}.f16.f16.f32 {}", operands.replace("%r2,%r3", "%r2")));
    assert_eq!(count, "PTX0030 operand `2`: expected 4 values in braces");
    let version = found("89", &format!("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {operands}"));
    assert!(version.contains("PTX0025") && version.contains("expected `.version 8.4` or later"), "{version}");
}

/// The targets, the operations and the group of CTAs are named.
#[test]
fn findings_of_tensor_memory_name_what_is_expected() {
    let found = |target: &str, lines: &str| {
        let registers = ".reg .b32 %r<8>; .reg .b64 %q<8>; .reg .pred %p<8>;";
        let text = format!(".version 8.8\n.target sm_{target}\n.entry k () {{ {registers} {lines} }}");
        let findings = check_text(&text, &Options::default());
        findings.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect::<Vec<_>>().join("\n")
    };
    let mma = |kind: &str, tail: &str| format!("tcgen05.mma.cta_group::1.kind::{kind} [%r1], %q1, %q2, %r2{tail};");
    assert_eq!(found("100a", &mma("f16", ", %p1, 3")), "");
    assert_eq!(
        found("101a", &mma("f16", ", %p1, 3")),
        "PTX0026 `tcgen05.mma.cta_group::1.kind::f16` on sm_101a: expected `sm_100` or `sm_103` or `sm_107`, with `a` or `f`"
    );
    let target = found("100f", &mma("i8", ", %p1"));
    assert!(target.ends_with("on sm_100f: expected `sm_100a` or `sm_101a` or `sm_110a`"), "{target}");
    assert_eq!(found("100a", &mma("f16", ", %p1, 16")), "PTX0030 operand `6`: expected 0 to 15");
    let count = found("100a", &mma("f8f6f4", ""));
    assert_eq!(count, "PTX0028 `tcgen05.mma.cta_group::1.kind::f8f6f4` with 4 operands: expected 5 or 6");
    let scale = found("100a", &mma("mxf4nvf4.block_scale", ", [%r3], [%r4], %p1"));
    assert!(scale.contains(" needs .block16|.block32: "), "{scale}");
    let operation = found("100a", "tcgen05.copy.cta_group::1.4x256b [%r1], %q1;");
    assert!(operation.starts_with("PTX0021 ") && operation.contains("`tcgen05.cp`"), "{operation}");
    let columns = found("100a", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 48;");
    assert_eq!(columns, "PTX0030 operand `2`: expected a power of two from 32 to 512");
    let pair = format!("{} tcgen05.shift.cta_group::2.down [%r1];", mma("f16", ", %p1"));
    assert_eq!(
        found("100a", &pair),
        "PTX0033 `.cta_group::2` in a function with `.cta_group::1`: expected the same in all of its `tcgen05`"
    );
}
