//! 128-bit words, sm_70 to sm_121, against NVIDIA's disassembler: every row of `vectors/edge/sass/modern.tsv.gz` in both
//! directions, and what the rows must cover.

use std::collections::BTreeSet;
use std::io::Read;

use roundonce_isa::{Finding, split_spelling};
use roundonce_sass::modern::{
    FORMS, Generation, Instruction, Kind, Number, OPCODES, SHAPES, Target, Value, asm_line, check, decode,
    disasm_word_into, disasm_words, is_spelling, listing_target,
};
use roundonce_sass::{Layout, ScheduleStyle, Style};

mod rows;

struct Row {
    target: Target,
    word: u128,
    /// `None` where the judge says that the word is illegal.
    text: Option<String>,
}

fn corpus() -> Vec<Row> {
    let mut text = String::new();
    let file = std::fs::File::open(rows::path("modern.tsv.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let word = u128::from_str_radix(columns[1].strip_prefix("0x").unwrap(), 16).unwrap();
        let text = (columns[2] != "ILLEGAL").then(|| columns[2].to_owned());
        Row { target: columns[0].parse().unwrap(), word, text }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn print(word: u128, target: Target, layout: &Layout) -> Result<String, Finding> {
    let mut text = String::new();
    disasm_word_into(word, target, layout, &mut text).map(|()| text)
}

const NVDISASM: Layout = Layout {
    style: Style::Nvdisasm,
    schedule: None,
    addresses: false,
    words: false,
    generation: roundonce_sass::Generation::NEWEST,
};
const EXACT: Layout = Layout { style: Style::Exact, ..NVDISASM };
const HEX: Layout = Layout { style: Style::Hex, ..NVDISASM };

#[test]
fn words_print_as_the_judge_prints_them() {
    let rows = corpus();
    assert!(rows.len() > 4000, "{} rows", rows.len());
    for row in &rows {
        let ours = print(row.word, row.target, &NVDISASM).ok();
        assert_eq!(ours, row.text, "{} {:#034x}", row.target, row.word);
    }
    assert!(rows.iter().filter(|row| row.text.is_none()).count() > 100);
}

/// `.INVALID3` of a type and of `.fmz` are one text.
fn is_ambiguous(text: &str) -> bool {
    (text.contains("HMUL2") || text.contains("HFMA2")) && text.matches(".INVALID3").count() == 1
}

/// The control fields, and the bits above them.
const CONTROL: u128 = !0 << 105;

#[test]
fn texts_assemble_to_their_words() {
    for row in corpus() {
        let Some(text) = row.text else { continue };
        let back = asm_line(&text, row.target).unwrap_or_else(|finding| panic!("{text}: {finding}"));
        assert_eq!(print(back, row.target, &NVDISASM), Ok(text.clone()));
        for layout in [EXACT, HEX] {
            let exact = print(row.word, row.target, &layout).unwrap();
            let back = asm_line(&exact, row.target).unwrap_or_else(|finding| panic!("{exact}: {finding}"));
            assert_eq!(print(back, row.target, &layout).as_ref(), Ok(&exact));
            // A bit that differs is one that no text shows.
            let hidden = (row.word ^ back) & !CONTROL;
            for bit in (0..105).filter(|bit| hidden >> bit & 1 == 1 && !is_ambiguous(&text)) {
                let flipped = print(row.word ^ 1 << bit, row.target, &layout);
                assert!(flipped.is_err() || flipped.as_ref() == Ok(&exact), "bit {bit} of {exact}: {flipped:?}");
            }
        }
    }
}

#[test]
fn control_fields_go_both_ways() {
    for row in corpus().iter().filter(|row| row.text.is_some()) {
        for style in [ScheduleStyle::Seed, ScheduleStyle::Maxas, ScheduleStyle::CuAssembler] {
            let text = print(row.word, row.target, &Layout { schedule: Some(style), ..EXACT }).unwrap();
            let back = asm_line(&text, row.target).unwrap_or_else(|finding| panic!("{text}: {finding}"));
            // Bits 126 and 127 mean nothing.
            assert_eq!((back ^ row.word) >> 105 & 0x1f_ffff, 0, "{text}");
        }
    }
}

#[test]
fn the_rows_cover_the_table() {
    let (mut forms, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for row in corpus().iter().filter(|row| row.text.is_some()) {
        let instruction = decode(row.word, row.target).unwrap();
        let (name, generation) = (instruction.opcode().name, row.target.generation());
        forms.insert((name, row.word >> 9 & 7, generation));
        let text = row.text.as_deref().unwrap();
        for piece in text.split([' ', ',', '|']).flat_map(|word| word.split('.').skip(1)) {
            texts.insert((name, piece.to_owned(), generation));
        }
    }
    for opcode in OPCODES {
        for (form, generations) in opcode.forms {
            for generation in Generation::ALL.into_iter().filter(|generation| generations.holds(*generation)) {
                let key = (opcode.name, u128::from(*form), generation);
                assert!(forms.contains(&key), "no row for {key:?}");
            }
        }
        let modifiers = opcode.modifiers.iter().map(|modifier| (modifier.texts, modifier.generations));
        let selectors = opcode.selectors.iter().map(|selector| (selector.texts, selector.generations));
        for (all, generations) in modifiers.chain(selectors) {
            for generation in opcode.generations().filter(|generation| generations.holds(*generation)) {
                for text in all.iter().filter(|text| !text.is_empty()) {
                    let last = text.split('.').next_back().unwrap().to_owned();
                    // Ada and Hopper have no words with both type bits of HFMA2, nor HADD2 with them.
                    let is_excluded = !opcode.exclusive.is_empty() && *text == ".INVALID3";
                    let key = (opcode.name, last, generation);
                    assert!(is_excluded || texts.contains(&key), "no row for {key:?}");
                }
            }
        }
    }
}

/// A statement of a spelling with registers, as the target has them.
fn statement(spelling: &str, target: Target) -> String {
    let row = OPCODES.iter().filter(|row| spelling.starts_with(row.name)).max_by_key(|row| row.name.len()).unwrap();
    let file = if row.uniform { "UR" } else { "R" };
    let sources: String = (0..row.roles.len()).map(|index| format!(", {file}{}", 4 + 2 * index)).collect();
    assert!(row.generations().any(|generation| generation == target.generation()), "{spelling} on {target}");
    format!("{spelling} {file}2{sources}")
}

#[test]
fn forms_are_spellings_of_the_table() {
    for form in FORMS {
        let gate = form.gate.target;
        for number in [Some(gate.first), gate.last]
            .into_iter()
            .flatten()
            .chain([90, 120].into_iter().filter(|number| gate.holds(*number)))
        {
            let target = Target::new(number).unwrap();
            for (spelling, recipe) in form.spellings() {
                assert!(is_spelling(&spelling, Some(target)), "{spelling}");
                let text = statement(&spelling, target);
                let word = asm_line(&text, target).unwrap_or_else(|finding| panic!("{text} on {target}: {finding}"));
                let instruction = decode(word, target).unwrap();
                assert_eq!(instruction.recipe(), Some(recipe), "{text} on {target}");
                assert_eq!(split_spelling(&instruction.spelling()).0, form.mnemonic);
            }
        }
    }
    let scaled = asm_line("FMUL.D2 R0, R1, R2", Target::new(90).unwrap()).unwrap();
    assert_eq!(decode(scaled, Target::new(90).unwrap()).unwrap().recipe(), None);
    assert!(is_spelling("FMUL.D2", None) && !is_spelling("FMUL.D3", None) && !is_spelling("FMULX", None));
    // Each modifier has a slot of its own.
    assert!(!is_spelling("FMUL.D2.M2", None) && !is_spelling("FFMA.FTZ.FMZ", None));
}

#[test]
fn operands_are_told() {
    let sm_90 = Target::new(90).unwrap();
    let word = asm_line("@!P2 HFMA2.RELU R1, -R2.H0_H0, |c[0x3][0x160]|, R4.reuse, P3", sm_90).unwrap();
    let instruction = decode(word, sm_90).unwrap();
    let values: Vec<Value> = instruction.operands().map(|operand| operand.value).collect();
    let constant = Value::Constant { bank: roundonce_sass::modern::Bank::Number(3), offset: 0x160 };
    assert_eq!(values, [Value::Register(2), constant, Value::Register(4)]);
    assert_eq!(instruction.guard().predicate, 2);
    assert_eq!(instruction.control().reuse(), 4);
    assert_eq!(instruction.modifier(".RELU"), Some(".RELU"));
    assert_eq!(format!("{instruction:?}").split(' ').next(), Some("@!P2"));
    assert_eq!(instruction.opcode().number, Number::Half);
    assert_eq!(SHAPES[5].unwrap().kind, Kind::Constant);
}

#[test]
fn what_has_no_word_says_why() {
    let cases = [
        ("FFMA R0, R1, c[0x0][0x160], R2", 100, "SASS0006"),
        ("FFMA2 R0, R2, R4, R6", 120, "SASS0002"),
        ("HFMA2.BF16_V2 R0, R1, R2, R3", 75, "SASS0003"),
        ("HFMA2.SAT.RELU R0, R1, R2, R3", 90, "SASS0041"),
        ("FADD.FMZ R0, R1, R2", 90, "SASS0003"),
        ("FFMA.RZ.RM R0, R1, R2, R3", 90, "SASS0003"),
        ("FFMA R0, R1, R2", 90, "SASS0006"),
        ("FFMA R256, R1, R2, R3", 90, "SASS0004"),
        ("FFMA R0, R1, UR63, R3", 90, "SASS0004"),
        ("FMUL R0, R1, c[0x0][0x162]", 90, "SASS0009"),
        ("FMUL R0, R1, c[0x20][0x160]", 90, "SASS0010"),
        ("DMUL R0, R2, 0.1", 90, "SASS0018"),
        ("FFMA R0, R1.H1, R2, R3", 90, "SASS0003"),
        ("FMUL R0, R1, 1.5.reuse", 90, "SASS0001"),
        ("@UP0 FMUL R0, R1, R2", 120, "SASS0005"),
        ("[B------:R-:W-:Y:S01] FMUL R0, R1.reuse, R2", 90, ""),
        ("[B------:R-:W-:Y:S00] FMUL R0, R1.reuse, R2", 90, "SASS0041"),
        ("FMUL R0, R1, R2 /* 0x0000000201007220 */ /* 0x000fe20000400000 */", 90, ""),
        ("FMUL R0, R1, R3 /* 0x0000000201007220 */ /* 0x000fe20000400000 */", 90, "SASS0021"),
    ];
    for (text, number, code) in cases {
        let found = asm_line(text, Target::new(number).unwrap());
        assert_eq!(found.as_ref().err().map_or("", |finding| finding.code), code, "{text}: {found:?}");
    }
}

const LISTING: &str = "\
\tcode for sm_90
\t\tFunction : k
        /*0000*/                   LDC R1, c[0x0][0x28] ;           /* 0x00000a00ff017b82 */
                                                                    /* 0x000fe20000000800 */
        /*0010*/              @!P0 FMUL.RZ R0, R1, R2 ;             /* 0x0000000201008220 */
                                                                    /* 0x000fe2000040c000 */
.L_x_0:
        /*0020*/                   BRA `(.L_x_0) ;                  /* 0xfffffffc00fc7947 */
                                                                    /* 0x000fc0000383ffff */
";

#[test]
fn listings_are_read_and_checked() {
    let sm_90 = listing_target(LISTING).unwrap();
    assert_eq!(sm_90.number(), 90);
    assert_eq!(check(LISTING, sm_90).0, []);
    let words = roundonce_sass::modern::asm_file(LISTING, sm_90).unwrap();
    assert_eq!(words[1], 0x000fe2000040c000_0000000201008220);
    let text = disasm_words(&words, sm_90, &Layout { words: true, addresses: true, ..NVDISASM });
    assert_eq!(text.lines().next().unwrap().split_whitespace().nth(1), Some(".dword"));
    assert!(text.contains("/* LDC */") && text.contains("/* BRA */"), "{text}");
    // What is written is read again, with and without the words beside.
    assert_eq!(roundonce_sass::modern::asm_file(&text, sm_90).as_ref(), Ok(&words));
    let scheduled = disasm_words(&words, sm_90, &Layout { schedule: Some(ScheduleStyle::CuAssembler), ..EXACT });
    assert_eq!(roundonce_sass::modern::asm_file(&scheduled, sm_90), Ok(words));

    let wrong = LISTING.replace("FMUL.RZ", "FMUL.RM");
    let (findings, _) = check(&wrong, sm_90);
    assert_eq!(findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SASS0021"]);
    let invalid = "FFMA.INVALID3 R0, R1, R2, R3 ;\n@!PT FMUL R0, R1, R2 ;\nNOSUCH ;\n";
    let codes: Vec<&str> = check(invalid, sm_90).0.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["SASS0011", "SASS0024", "SASS0002"]);
}

/// What is not of the float family is counted, with a word beside it or not; what is no mnemonic is an error.
#[test]
fn what_is_not_checked_is_counted() {
    let text = "code for sm_90\nLDC R1, c[0x0][0x28] ;\nEXIT ; /* 0x000000000000794d */\n /* 0x000fea0003800000 */\n\
                FMUL R0, R1, R2 ;\nISETP.GE.AND P0, PT, R0, R1, PT ;\nNOSUCH R0 ;\n";
    let (findings, unchecked) = roundonce_sass::check_counted(text);
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!((codes, unchecked), (vec!["SASS0002"], 3));
    assert!(findings[0].message.contains("NOSUCH"));
}

/// xorshift64.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn any_word_and_any_text_is_read_or_refused() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let texts: Vec<String> = corpus().into_iter().filter_map(|row| row.text).step_by(7).collect();
    for round in 0..60_000_usize {
        let target = Target::new([70, 75, 80, 86, 90, 100, 110, 120][round % 8]).unwrap();
        let opcode = OPCODES[round % OPCODES.len()];
        let low = u128::from(opcode.low) | u128::from(random(&mut state) & 7) << 9;
        let word = (u128::from(random(&mut state)) << 64 | u128::from(random(&mut state))) & !0xfff | low;
        if let Ok(instruction) = decode(word, target) {
            assert_eq!(instruction.word(), word);
            let _ = Instruction::recipe(&instruction);
            let text = print(word, target, &EXACT).unwrap();
            let again = asm_line(&text, target).map(|back| print(back, target, &EXACT));
            assert_eq!(again, Ok(Ok(text)));
        }
        // Texts with a byte or two changed, cut off or doubled.
        let mut bytes = texts[round % texts.len()].clone().into_bytes();
        for _ in 0..1 + random(&mut state) % 3 {
            let at = random(&mut state) as usize % bytes.len();
            match random(&mut state) % 3 {
                0 => bytes[at] = b" ,.|-R[]c0xU\xc3P@!/*;"[random(&mut state) as usize % 19],
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, bytes[at]),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = asm_line(&text, target);
        let _ = check(&text, target);
    }
}
