//! What is refused or reported: its code, its location, its advice.

use roundonce_isa::{Finding, Location, Severity, apply_fixes};
use roundonce_sass::{RULES, asm_file, asm_line, check, check_word};

fn marked<'a>(text: &'a str, finding: &Finding) -> &'a str {
    match finding.location {
        Location::Span { start, end } => &text[start..end],
        _ => panic!("{finding} has no span"),
    }
}

/// A line, the code of its error, the text that it marks, and a piece of its message and help.
#[rustfmt::skip] // One case a row.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    ("FFMA R0, R1, R2, R3 x",                    "SASS0001", "x",          "`,` or the end"),
    ("FFMA R0, R1, R2, R3, R4, R5;",             "SASS0006", "FFMA R0, R1, R2, R3, R4, R5", "operand forms"),
    ("FFMA R0, R1, R2, R3, R4, R5, R6, R7, R8;", "SASS0001", "R",          "eight operands"),
    ("FFMA R0, R1, |R2|, R3;",                   "SASS0001", "|R2|",       "absolute value"),
    ("FFMA -R0, R1, R2, R3;",                    "SASS0001", "-R0",        "destination has no sign"),
    ("FFMA R0, R1, 1.5.reuse, R3;",              "SASS0001", "1.5.reuse",  "only a register"),
    ("FFMA R0, R1, R2 R3;",                      "SASS0001", "R",          "`,` or the end"),
    ("",                                         "SASS0001", "",           "mnemonic"),
    ("/* open",                                  "SASS0001", "/* open",    "without its end"),
    ("FSETX.GT.AND P0, PT, R0, R1, PT;",         "SASS0002", "FSETX",      "154 mnemonics"),
    ("FFAM R0, R1, R2, R3;",                     "SASS0002", "FFAM",       "did you mean `FFMA`?"),
    ("FMA R0, R1, R2, R3;",                      "SASS0002", "FMA",        "did you mean `FFMA`?"),
    ("FFMA.FZT R0, R1, R2, R3;",                 "SASS0003", ".FZT",       "did you mean `.FTZ`?"),
    ("ISETP.GR.AND P0, PT, R0, R1, PT;",         "SASS0003", ".GR",        "did you mean `.GT`?"),
    ("ffma r0, r1, r2, r3;",                     "SASS0002", "ffma",       "capitals"),
    ("FFMA.XYZ R0, R1, R2, R3;",                 "SASS0003", ".XYZ",       "FFMA{.fmz}{.rnd}{.SAT}{.CC}"),
    ("FFMA.FTZ.FMZ R0, R1, R2, R3;",             "SASS0003", ".FMZ",       "one too many"),
    ("FFMA.RM.RM R0, R1, R2, R3;",               "SASS0003", ".RM",        "one too many"),
    ("FFMA.CC R0.CC, R1, R2, R3;",               "SASS0003", ".CC",        "one too many"),
    ("FFMA32I.RZ R0, R1, 1, R0;",                "SASS0003", ".RZ",        "FFMA has `.rnd`"),
    ("FFMA32I.RN R0, R1, 1, R0;",                "SASS0003", ".RN",        "leave `.RN` out"),
    ("FADD.FMZ R0, R1, R2;",                     "SASS0003", ".FMZ",       "FADD{.FTZ}"),
    ("FFMA R0, R1, R256, R3;",                   "SASS0004", "R256",       "R0 to R254 and RZ"),
    ("FFMA R255, R1, R2, R3;",                   "SASS0004", "R255",       "written RZ"),
    ("FFMA R0, R1, R99999999999999999999, R3;",  "SASS0004", "R99999999999999999999", "R0 to R254"),
    ("FFMA R0, R1, R2x, R3;",                    "SASS0004", "R2x",        "R0 to R254"),
    ("@P7 FFMA R0, R1, R2, R3;",                 "SASS0005", "@P7",        "P0 to P6 or PT"),
    ("@!Q FFMA R0, R1, R2, R3;",                 "SASS0005", "@!Q",        "P0 to P6 or PT"),
    ("FFMA R0, c[0x0][0x4], R2, R3;",            "SASS0006", "c[0x0][0x4]", "commutes"),
    ("FFMA R0, 1.5, R2, R3;",                    "SASS0006", "1.5",        "commutes"),
    ("FFMA R0, R1, c[0x0][0x4], c[0x0][0x8];",   "SASS0006", "FFMA R0, R1, c[0x0][0x4], c[0x0][0x8]", "only one source"),
    ("FFMA R0, R1, R2, 1.5;",                    "SASS0006", "1.5",        "addend cannot be an immediate"),
    ("FFMA32I R0, R1, R2, R0;",                  "SASS0006", "FFMA32I R0, R1, R2, R0", "register, register, immediate, register"),
    ("FFMA R0, R1, 0.1, R3;",                    "SASS0007", "0.1",        "needs FFMA32I, which needs Rd = Rc: write R0"),
    ("FFMA R0, R1, 0x3dcccccd.NEG, R0;",         "SASS0007", "0x3dcccccd.NEG", "FFMA32I holds all 32 bits"),
    ("FFMA.RZ R0, R1, 0.1, R0;",                 "SASS0007", "0.1",        "no rounding modifier"),
    ("FFMA32I R0, R1, 0.1, R2;",                 "SASS0008", "R2",         "must be the destination, R0"),
    ("FFMA32I R0, R1, 1.5, -R2;",                "SASS0008", "-R2",        "fits in 20 bits"),
    ("FFMA R0, R1, c[0x3][0x141], R3;",          "SASS0009", "c[0x3][0x141]", "not a multiple of 4"),
    ("FFMA R0, R1, R2, -c[0x3][-0x2];",          "SASS0009", "-c[0x3][-0x2]", "not a multiple of 4"),
    ("FFMA R0, R1, c[0x20][0x0], R3;",           "SASS0010", "c[0x20][0x0]", "0x0 to 0x1f"),
    ("FFMA R0, R1, c[0x0][0x10000], R3;",        "SASS0010", "c[0x0][0x10000]", "-0x8000 to 0xfffc"),
    ("FFMA R0, R1, c[0x0][-0x8004], R3;",        "SASS0010", "c[0x0][-0x8004]", "-0x8000 to 0xfffc"),
    ("FFMA R0, R1, c[0x0][zz], R3;",             "SASS0010", "zz",         "whole number"),
    ("FFMA R0, R1, c[0x0, R3;",                  "SASS0001", ",",          "expected `]`"),
    ("FFMA R0, R1, R2, R3 &req={6} ?W1G;",       "SASS0013", "&req={6}",   "no scheduling"),
    ("FFMA R0, R1, R2, R3 ?W99;",                "SASS0013", "?W99",       "?W1G"),
    ("0g:-:-:Y:1 FFMA R0, R1, R2, R3;",          "SASS0002", "0g",         "not one of"),
    ("ff:-:-:Y:1 FFMA R0, R1, R2, R3;",          "SASS0013", "ff:-:-:Y:1", "maxas"),
    ("[B1-----:R-:W-:Y:S01] FFMA R0, R1, R2, R3;", "SASS0013", "[B1-----:R-:W-:Y:S01", "CuAssembler"),
    ("FFMA R0, R1, 1.5x, R3;",                   "SASS0018", "1.5x",       "not a value"),
    ("FFMA R0, R1, 0x1ffffffff, R3;",            "SASS0018", "0x1ffffffff", "does not fit"),
    ("FFMA R0, R1, ~, R3;",                      "SASS0001", "~",          "a register, a constant or an immediate"),
    ("MOV R0, 1.5;",                             "SASS0018", "1.5",        "0x3f800000"),
    ("BRA 0x10000000;",                          "SASS0019", "BRA 0x10000000", "24 bits"),
    ("LDG.E R0, [R2+0x800000];",                 "SASS0029", "[R2+0x800000]", "no room"),
    ("IADD R0, R1, 0x80000;",                    "SASS0007", "0x80000",    "20 bits"),
    ("DADD R0, R2, 0.1;",                        "SASS0007", "0.1",        "upper bits"),
    ("@P0 SSY 0x80;",                            "SASS0005", "@P0 ",       "no guard"),
    ("FFMA R0, R1, R2, R3; /* 0x5980018000270101 */", "SASS0021", "FFMA R0, R1, R2, R3", "R1, R1, R2, R3"),
    ("FFMA R0, R1, R2, R3; /* 0x0000000000000000 */", "SASS0021", "FFMA R0, R1, R2, R3", "no instruction"),
];

#[test]
fn refused_lines() {
    for (line, code, mark, says) in REFUSED {
        let finding = asm_line(line).expect_err(line);
        assert_eq!(finding.code, *code, "{line}: {finding}");
        assert_eq!(marked(line, &finding), *mark, "{line}: {finding}");
        let all = format!("{} {}", finding.message, finding.help);
        assert!(all.contains(says), "{line}: {all}");
        assert_eq!(finding.severity, Severity::Error);
        assert!(!finding.rule.is_empty(), "{line}: the rule's source is named");
    }
}

/// A listing and the codes of its findings, in their order.
#[rustfmt::skip] // One case a row.
const CHECKED: &[(&str, &[&str])] = &[
    ("FFMA R0, R1, R2, R3;\nFFMA32I R0, R1, 0.10000000149011611938, R0;", &[]),
    ("MOV R0, 0x1;\nMOV32I R1, 0x3f800000;\nFADD R0, R1, R2;",            &[]),
    ("FFMA.INVALIDFMZ3 R0, R1, R2, R3;",                                  &["SASS0011"]),
    ("@!PT FFMA R0, R1, R2, R3;",                                         &["SASS0024"]),
    ("FFMA32I R0, R1, 0.1, R0;",                                          &["SASS0020"]),
    ("FFMA32I R0, R1, 0.5, R0;",                                          &[]),
    ("FFMA R0, R1, 0x3f000, R3;",                                         &["SASS0022"]),
    ("FFMA R0, R1, 0x0, R3;",                                             &[]),
    ("FFMA R0, R1, R2, R3 &wr=0 ?W1G;",                                   &["SASS0014"]),
    ("FFMA R0, R1, R2, R3 &wr=0 &rd=1 &top ?W1G;",                        &["SASS0014", "SASS0014", "SASS0015"]),
    ("FFMA R0, R1, 1.5, R3 &reuse={1} ?W1G;",                             &["SASS0017"]),
    ("FFMA R0, R1, R2, R3 ?W1G;\nFFMA R0, R1, R2, R3;",                   &["SASS0027"]),
    ("--:-:1:Y:1 LDG.E R0, [R2] ; /* 0xeed4200000070200 */",              &[]),
    ("LDG.E R0, [R2] ;\nFFMA R0, R1, R2, R3;",                            &[]),
    ("{ FFMA R0, R1, R2, R3; FFMA R1, R1, R2, R3 }",                      &[]),
    ("FFMA R0, R1, R2, R3; FFMA R0, R1, R2, R3; { FFMA R0, R1, R2, R3; FFMA R1, R1, R2, R3 }", &[]),
    (".text.a:\nFFMA R0, R1, R2, R3 ?PAIR;\n.text.b:\nFFMA R0, R1, R2, R3 ?W1G;", &["SASS0016"]),
    ("FFMA R0, R1, R2, R3 ?PAIR; FFMA R0, R1, R2, R3 ?PAIR; FFMA R0, R1, R2, R3 ?W1G;", &["SASS0016"]),
    ("FFMA R0, R1, R2, R3 ?PAIR;",                                        &["SASS0016"]),
    ("{ FFMA R0, R1, R2, R3 ?W1G; FFMA R1, R1, R2, R3 ?W1G }",            &["SASS0016"]),
    ("{ FFMA R0, R1, R2, R3; }",                                          &["SASS0016", "SASS0016"]),
    ("{ { FFMA R0, R1, R2, R3; FFMA R0, R1, R2, R3 }",                    &["SASS0016"]),
    ("{ FFMA R0, R1, R2, R3;",                                            &["SASS0016", "SASS0016"]),
    ("}",                                                                 &["SASS0016"]),
    ("sched (st 0x1) (st 0x1)",                                           &["SASS0013"]),
    ("sched (st 0x1 wr 0x0) (st 0x1) (st 0x1)\nFFMA R0, R1, R2, R3;",     &["SASS0014"]),
    ("/* 0x001f8400fc2007e1 */\nFFMA R0, R1, R2, R3 ?W2G;",               &["SASS0013"]),
    (".dword 0x5980018000270100; .dword 0x59fa018000270100;",             &["SASS0011"]),
    (".dword 5;",                                                         &["SASS0001"]),
    ("/* never closed",                                                   &["SASS0001"]),
    ("FFMA R0, R1, 0.1, R0;\nFFMA R0, R1, R2;\n@P9 FFMA R0, R1, R2, R3;", &["SASS0007", "SASS0020", "SASS0006", "SASS0005"]),
];

#[test]
fn checked_listings() {
    for (text, codes) in CHECKED {
        let findings = check(text);
        let found: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(found, *codes, "{text}: {findings:?}");
        let rules = findings.iter().map(|finding| RULES.iter().find(|rule| rule.code == finding.code).unwrap());
        assert!(rules.zip(&findings).all(|(rule, finding)| rule.level == finding.severity), "{text}");
    }
}

#[test]
fn every_rule_is_shown() {
    let mut seen: Vec<&str> = REFUSED.iter().map(|row| row.1).collect();
    seen.extend(CHECKED.iter().flat_map(|row| row.1.iter().copied()));
    // Words, bundles, cubins and the choice of a kernel have tests of their own, and so have 128-bit words.
    seen.extend(["SASS0012", "SASS0023", "SASS0025", "SASS0026", "SASS0028", "SASS0040", "SASS0041"]);
    // Hazards are in tests/hazards.rs.
    seen.extend(["SASS0030", "SASS0031"]);
    for rule in RULES {
        assert!(seen.contains(&rule.code), "{} has no case: {}", rule.code, rule.title);
        assert!(!rule.title.is_empty() && !rule.source.is_empty());
    }
    let mut codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
    codes.dedup();
    assert_eq!(codes.len(), RULES.len(), "a code stands for one rule");
}

#[test]
fn words() {
    let codes = |word| check_word(word, 3).iter().map(|finding| (finding.code, finding.location)).collect::<Vec<_>>();
    assert_eq!(codes(0x5980_0180_0027_0100), []);
    assert_eq!(codes(0x5980_01bf_f027_0100), [("SASS0023", Location::Word(3))]);
    assert_eq!(codes(0x59e0_0180_0027_0100), [("SASS0011", Location::Word(3))]);
    assert_eq!(codes(0xe7f0_0180_0027_0100), [("SASS0012", Location::Word(3))]);
    let message = &check_word(0xe7f0_0180_0027_0100, 0)[0].message;
    assert!(message.contains("bits 51 to 63") && message.contains("the nearest is"), "{message}");
}

#[test]
fn fixes_mend() {
    for (text, mended) in [
        ("FFMA R0, R1, 0.1, R0;", "FFMA32I R0, R1, 0.1, R0;"),
        ("FFMA32I.FMZ R0.CC, R1, 1.5, -R2;", "FFMA.FMZ R0.CC, R1, 1.5, -R2;"),
        ("FFMA R255, R1, R2, R3;", "FFMA RZ, R1, R2, R3;"),
        ("Ffma R1, R1, R2, R3;", "FFMA R1, R1, R2, R3;"),
    ] {
        let fixed = apply_fixes(text, &check(text));
        assert_eq!(fixed, mended);
        assert!(check(&fixed).iter().all(|finding| finding.severity < Severity::Error), "{fixed}");
    }
}

/// A word exists for what is illegal but has bits: the listing assembles, and says so.
#[test]
fn assembled_with_findings() {
    let assembly = asm_file("FFMA.INVALIDFMZ3 R0, R1, R2, R3 &wr=2 ?W1G;").unwrap();
    assert_eq!(assembly.words(), [0x59e0_0180_0027_0100]);
    let codes: Vec<&str> = assembly.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["SASS0011", "SASS0014"]);
    assert!(asm_file("FFMA R0, R1, R2, R3;\nFFMA R0, R1;").is_err());
}

/// The manual writes the bits of an immediate's field.
#[test]
fn immediates_by_their_bits() {
    let same = |one: &str, other: &str| assert_eq!(asm_line(one), asm_line(other), "{one}");
    same("FFMA R0, R1, #0x3d000, R3;", "FFMA R0, R1, 0.03125, R3;");
    same("FFMA R0, R1, #0xbd000, R3; # a comment", "FFMA R0, R1, -0.03125, R3;");
    same("FADD R0, R1, #0x3f800;", "FADD R0, R1, 1;");
    same("FFMA32I R0, R1, #0x3d000001, R0;", "FFMA32I R0, R1, 0x3d000001, R0;");
    for line in ["FFMA R0, R1, #0x100000, R3;", "FFMA R0, R1, #x, R3;", "FFMA R0, R1, #, R3;"] {
        assert_eq!(asm_line(line).unwrap_err().code, "SASS0018", "{line}");
    }
}
