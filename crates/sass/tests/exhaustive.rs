//! Every modifier × operand form × negation × predicate: a word made from the encoding's own bits decodes, encodes,
//! prints as written out here, and parses back.

use roundonce_sass::{FORMS, Instruction, Style, asm_line, decode, disasm_word};

/// One operand form as the encoding documents it: its fixed bits, where its bits are, its operands' text.
struct Form {
    mnemonic: &'static str,
    opcode: u64,
    cc: u32,
    sat: u32,
    rounding: Option<u32>,
    negate_product: u32,
    negate_addend: u32,
    /// Bits and text of Ra, Sb, Sc; a `~` marks where a negation goes.
    operands: &'static [(u64, &'static str)],
    /// The product's sign is written on Ra, on Sb, or behind Sb.
    product_sign: Sign,
}

enum Sign {
    OnA,
    OnB,
    BehindB,
}

/// R9, R254 and RZ as destinations.
const DESTINATIONS: [(u64, &str); 3] = [(9, "R9"), (254, "R254"), (255, "RZ")];

const FORMS_BY_HAND: [Form; 5] = [
    Form {
        mnemonic: "FFMA",
        opcode: 0x5980_0000_0000_0000,
        cc: 47,
        sat: 50,
        rounding: Some(51),
        negate_product: 48,
        negate_addend: 49,
        operands: &[
            (7 << 39, "R0,~R0,~R7"),
            (12 << 8 | 255 << 20 | 34 << 39, "R12,~RZ,~R34"),
            (255 << 8 | 254 << 20 | 255 << 39, "RZ,~R254,~RZ"),
        ],
        product_sign: Sign::OnB,
    },
    Form {
        mnemonic: "FFMA",
        opcode: 0x4980_0000_0000_0000,
        cc: 47,
        sat: 50,
        rounding: Some(51),
        negate_product: 48,
        negate_addend: 49,
        operands: &[
            (3 << 8 | 0x50 << 20 | 3 << 34 | 4 << 39, "R3,~c[0x3][0x140],~R4"),
            (255 << 8 | 0x3fff << 20 | 31 << 34 | 255 << 39, "RZ,~c[0x1f][-0x4],~RZ"),
            (0x2000 << 20, "R0,~c[0x0][-0x8000],~R0"),
        ],
        product_sign: Sign::OnB,
    },
    Form {
        mnemonic: "FFMA",
        opcode: 0x5180_0000_0000_0000,
        cc: 47,
        sat: 50,
        rounding: Some(51),
        negate_product: 48,
        negate_addend: 49,
        operands: &[
            (3 << 8 | 0x50 << 20 | 3 << 34 | 4 << 39, "R3,~R4,~c[0x3][0x140]"),
            (255 << 8 | 0x1fff << 20 | 16 << 34 | 255 << 39, "RZ,~RZ,~c[0x10][0x7ffc]"),
        ],
        product_sign: Sign::OnB,
    },
    Form {
        mnemonic: "FFMA",
        opcode: 0x3280_0000_0000_0000,
        cc: 47,
        sat: 50,
        rounding: Some(51),
        negate_product: 48,
        negate_addend: 49,
        operands: &[
            (8 << 8 | 0x3fc00 << 20 | 4 << 39, "R8, 1.5~,~R4"),
            (8 << 8 | 0x3fc00 << 20 | 1 << 56 | 4 << 39, "R8, -1.5~,~R4"),
            (1 << 56, "R0, -0.0~,~R0"),
            (0x7f800 << 20 | 255 << 39, "R0, +INF~,~RZ"),
            (0x7fc00 << 20 | 255 << 39, "R0, 0x7fc00000~,~RZ"),
            (1 << 20, "R0, 5.7397185098744507225e-42~,~R0"),
        ],
        product_sign: Sign::BehindB,
    },
    Form {
        mnemonic: "FFMA32I",
        opcode: 0x0c00_0000_0000_0000,
        cc: 52,
        sat: 55,
        rounding: None,
        negate_product: 56,
        negate_addend: 57,
        operands: &[
            (8 << 8 | 0x3dcc_cccd << 20, "R8, 0.10000000149011611938,~Rd"),
            (255 << 8 | 0x8000_0000 << 20, "RZ, -0.0,~Rd"),
            (255 << 8 | 0xffff_ffff << 20, "RZ, 0xffffffff,~Rd"),
        ],
        product_sign: Sign::OnA,
    },
];

const FMZ: [&str; 4] = ["", ".FTZ", ".FMZ", ".INVALIDFMZ3"];
const ROUNDING: [&str; 4] = ["", ".RM", ".RP", ".RZ"];
const GUARDS: [&str; 8] = ["P0", "P1", "P2", "P3", "P4", "P5", "P6", "PT"];

#[test]
fn every_combination() {
    let mut count = 0;
    for form in &FORMS_BY_HAND {
        for (destination, name) in DESTINATIONS {
            for (bits, operands) in form.operands {
                for choice in 0..4 * 4 * 2 * 2 * 4 * 16_u64 {
                    let (fmz, rounding, sat, cc) = (choice & 3, choice >> 2 & 3, choice >> 4 & 1, choice >> 5 & 1);
                    let (product, addend, guard) = (choice >> 6 & 1, choice >> 7 & 1, choice >> 8);
                    if form.rounding.is_none() && rounding > 0 {
                        continue;
                    }
                    let word = form.opcode
                        | destination
                        | bits
                        | guard << 16
                        | fmz << 53
                        | form.rounding.map_or(0, |at| rounding << at)
                        | sat << form.sat
                        | cc << form.cc
                        | product << form.negate_product
                        | addend << form.negate_addend;
                    let text = written(form, name, operands, (guard, fmz, rounding, sat, cc, product, addend));
                    both_ways(word, &text);
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 3 * (4096 * (3 + 3 + 2 + 6) + 1024 * 3));
}

fn written(
    form: &Form,
    destination: &str,
    operands: &str,
    (guard, fmz, rounding, sat, cc, product, addend): (u64, u64, u64, u64, u64, u64, u64),
) -> String {
    let guard = match guard {
        7 => String::new(),
        0..=7 => format!("@{} ", GUARDS[guard as usize]),
        _ => format!("@!{} ", GUARDS[guard as usize - 8]),
    };
    let modifiers = [FMZ[fmz as usize], ROUNDING[rounding as usize], ["", ".SAT"][sat as usize]].concat();
    let cc = ["", ".CC"][cc as usize];
    let (mut on_a, mut rest) = ("", operands.replace("Rd", destination));
    match form.product_sign {
        Sign::OnA => on_a = ["", "-"][product as usize],
        Sign::OnB => rest = rest.replacen(",~", [", ", ", -"][product as usize], 1),
        Sign::BehindB => rest = rest.replacen('~', ["", ".NEG"][product as usize], 1),
    }
    rest = rest.replacen(",~", [", ", ", -"][addend as usize], 1);
    format!("{guard}{}{modifiers} {destination}{cc}, {on_a}{rest};", form.mnemonic)
}

fn both_ways(word: u64, text: &str) {
    let instruction = decode(word).unwrap();
    assert_eq!(instruction.word(), word, "{text}");
    assert_eq!(disasm_word(word, Style::Exact).unwrap(), text, "{word:#018x}");
    assert_eq!(asm_line(text), Ok(word), "{text}");
}

#[test]
fn every_opcode_pattern() {
    // The nine bits from 63 down as the encoding documents them; `s` is either.
    const PATTERNS: [(&str, &str); 5] = [
        ("010110011", "register"),
        ("010010011", "constant Sb"),
        ("010100011", "constant Sc"),
        ("0011001s1", "20-bit immediate Sb"),
        ("000011sss", "32-bit immediate"),
    ];
    let matches = |top: u16, pattern: &str| {
        let bits = format!("{top:016b}");
        bits.chars().zip(pattern.chars()).all(|(bit, wanted)| wanted == 's' || bit == wanted)
    };
    let mut decoded = 0;
    for top in 0..=u16::MAX {
        let word = u64::from(top) << 48 | 0x0000_a5c3_9d27_b46e;
        let wanted: Vec<&str> = PATTERNS.iter().filter(|(p, _)| matches(top, p)).map(|(_, name)| *name).collect();
        match decode(word) {
            Ok(instruction) if instruction.mnemonic().starts_with("FFMA") => {
                assert_eq!(wanted, [form_name(&instruction)], "{word:#018x}");
                assert_eq!(instruction.word(), word, "{word:#018x}: a word is reproduced exactly");
                decoded += 1;
            }
            Ok(instruction) => assert!(wanted.is_empty(), "{word:#018x} is {instruction}"),
            Err(error) => {
                assert!(wanted.is_empty(), "{word:#018x}: {error}");
                assert_eq!(error.word, word);
            }
        }
    }
    assert_eq!(decoded, 128 * (3 + 2 + 8));
}

/// What an FFMA's sources are.
fn form_name(instruction: &Instruction) -> &'static str {
    match (instruction.mnemonic(), instruction.row().kinds().as_str()) {
        ("FFMA32I", _) => "32-bit immediate",
        (_, "register, register, register, register") => "register",
        (_, "register, register, constant, register") => "constant Sb",
        (_, "register, register, register, constant") => "constant Sc",
        (_, "register, register, immediate, register") => "20-bit immediate Sb",
        (_, other) => panic!("{other}"),
    }
}

/// `-Ra` and `-Sb` are one sign; so are `-imm` and `.NEG`.
#[test]
fn factor_signs_cancel() {
    let base = asm_line("FFMA R1, R2, R3, R4").unwrap();
    for signs in 0..8_u64 {
        let sign = |bit: u64| ["", "-"][(signs >> bit & 1) as usize];
        let text = format!("FFMA R1, {}R2, {}R3, {}R4", sign(0), sign(1), sign(2));
        let word = base | (signs & 1 ^ signs >> 1 & 1) << 48 | (signs >> 2) << 49;
        assert_eq!(asm_line(&text), Ok(word), "{text}");
    }
    for (text, same) in [
        ("FFMA R1, -R2, c[0x0][0x4], R4", "FFMA R1, R2, -c[0x0][0x4], R4"),
        ("FFMA R1, -R2, R3, c[0x0][0x4]", "FFMA R1, R2, -R3, c[0x0][0x4]"),
        ("FFMA R1, -R2, 1.5, R4", "FFMA R1, R2, 1.5.NEG, R4"),
        ("FFMA R1, -R2, -1.5.NEG, R4", "FFMA R1, R2, -1.5, R4"),
        ("FFMA32I R1, R2, 1.5.NEG, R1", "FFMA32I R1, -R2, 1.5, R1"),
        ("FFMA32I R1, -R2, 1.5.NEG, R1", "FFMA32I R1, R2, 1.5, R1"),
    ] {
        assert_eq!(asm_line(text), Ok(asm_line(same).unwrap()), "{text}");
    }
}

/// What is accepted beside what is printed.
#[test]
fn other_spellings() {
    for (text, same) in [
        ("FFMA.RN R0, R1, R2, R3", "FFMA R0, R1, R2, R3;"),
        ("@PT FFMA R0, R1, R2, R3;", "FFMA R0, R1, R2, R3;"),
        ("  FFMA.SAT.RZ.FTZ\tR0 ,R1,\tR2 , R3 ; // as it comes", "FFMA.FTZ.RZ.SAT R0, R1, R2, R3;"),
        ("FFMA.CC R0, R1, R2, R3", "FFMA R0.CC, R1, R2, R3"),
        ("FFMA R0.CC, R1.reuse, -R2.reuse, R3.reuse;", "FFMA R0.CC, R1, -R2, R3"),
        ("FFMA R0, R1, c[ 3 ][ 320 ], R3", "FFMA R0, R1, c[0x3][0x140], R3"),
        ("FFMA R0, R1, c[0x3][0xfffc], R3", "FFMA R0, R1, c[0x3][-0x4], R3"),
        ("FFMA R0, R1, 0x3fc00000, R3", "FFMA R0, R1, 1.5, R3"),
        ("FFMA R0, R1, -0x3fc00000, R3", "FFMA R0, R1, -1.5, R3"),
        ("FFMA R0, R1, 0x1.8p0, R3", "FFMA R0, R1, 1.5, R3"),
        ("FFMA R0, R1, 0f3FC00000, R3", "FFMA R0, R1, 1.5, R3"),
        ("FFMA R0, R1, 15e-1, R3", "FFMA R0, R1, 1.5, R3"),
        ("FFMA R0, R1, +1.5, R3", "FFMA R0, R1, 1.5, R3"),
        ("FFMA R0, R1, inf, R3", "FFMA R0, R1, +INF , R3"),
        ("FFMA R0, R1, -inf, R3", "FFMA R0, R1, -INF , R3"),
        ("FFMA R0, R1, -inf.NEG, R3", "FFMA R0, R1, -INF .NEG, R3"),
        ("FFMA R0, R1, -nan, R3", "FFMA R0, R1, 0xffc00000, R3"),
        ("FFMA R0, R1, -QNAN .NEG, R3", "FFMA R0, R1, 0xffc00000.NEG, R3"),
        ("FFMA32I R0, R1, 0x3d000000", "FFMA32I R0, R1, 0.03125, R0;"),
        ("FFMA32I RZ.CC, R1, 2", "FFMA32I RZ.CC, R1, 2, RZ;"),
        ("05:2:-:Y:5 FFMA R0, R1, R2, R3;", "FFMA R0, R1, R2, R3"),
        ("[B0-2---:R1:W-:-:S05] FFMA R0, R1, R2, R3;", "FFMA R0, R1, R2, R3"),
        ("FFMA R0, R1, R2, R3 &req={0, 2} ?WAIT5_END_GROUP;", "FFMA R0, R1, R2, R3"),
        ("/*0008*/ FFMA R0, R1, R2, R3 ; /* 0x5980018000270100 */", "FFMA R0, R1, R2, R3"),
    ] {
        let wanted = asm_line(same).unwrap_or_else(|finding| panic!("{same}: {finding}"));
        assert_eq!(asm_line(text), Ok(wanted), "{text}");
    }
}

/// Every spelling of the rows is read, and means what the row says.
#[test]
fn every_spelling_of_the_rows() {
    let operands = |mnemonic: &str| match mnemonic {
        "FFMA" => "R1, -R2, -R3, -R4",
        "FFMA32I" => "R1, -R2, 1.5, -R1",
        "FADD" | "FMUL" => "R1, -R2, -R3",
        _ => "R1, -R2, 1.5",
    };
    let mut count = 0;
    for form in FORMS {
        for (spelling, recipe) in form.spellings() {
            let text = format!("{spelling} {}", operands(form.mnemonic));
            let statement = roundonce_sass::parse_line(&text).unwrap_or_else(|finding| panic!("{text}: {finding}"));
            let mut wanted = recipe;
            let [product, addend] = match form.mnemonic {
                "FFMA" => [false, true],
                "FFMA32I" => [true, true],
                "FADD" => [true, true],
                "FMUL" => [false, false],
                "FADD32I" => [true, false],
                // The product's sign is the immediate's.
                _ => [false, false],
            };
            wanted.operation.negate_product = product;
            wanted.operation.negate_addend = addend;
            assert_eq!(statement.instruction.recipe(), Some(wanted), "{text}");
            count += 1;
        }
    }
    assert_eq!(count, 60 + 12 + 40 + 60 + 4 + 12);
}
