//! A listing run lane by lane is what its instructions compute one by one.

use roundonce_arith::{ConditionCodes, Format, Profile};
use roundonce_exec::Engine;
use roundonce_isa::{Recipe, Value, evaluate};
use roundonce_sass::modern::{self, Target};
use roundonce_sass::{Name, lower, parse_line};

mod lanes;

/// Any words at all, the same in every run.
fn scramble(seed: u64) -> u32 {
    let mixed = (seed ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
    // One in four is special.
    let special = [0, 0x8000_0000, 1, 0x807f_ffff, 0x3f80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_1234];
    if bits.is_multiple_of(4) { special[(bits >> 2) as usize % special.len()] } else { bits as u32 }
}

#[test]
fn one_instruction_is_its_operation() {
    for text in [
        "FFMA R0, R1, R2, R3;",
        "FFMA.FTZ.RZ.SAT R0, -R1, R2, -R3;",
        "FFMA.FMZ.RM R0.CC, R1, c[0x3][0x140], R3;",
        "FFMA.RP R0.CC, R1, R2, -c[0x0][-0x4];",
        "FFMA R0.CC, R1, -1.5.NEG, R3;",
        "FFMA32I.FMZ.SAT R1.CC, -R1, 0.1, -R1;",
        "FADD.RZ R0.CC, -R1, R2;",
        "FADD32I R0, R1, -2.5;",
        "FMUL.FMZ R0.CC, R1, -R2;",
        "FMUL32I.SAT R0.CC, R1, 0x7f800000;",
        "FFMA RZ.CC, R1, R2, R3;",
    ] {
        let lowered = lower(text, None).unwrap();
        let lanes = 500;
        let input = |name: Name, lane: usize| scramble(lane as u64 * 31 + lowered_key(name));
        let outputs = lanes::run(Engine::Native, &lowered, lanes, input);
        let instruction = parse_line(text).unwrap().instruction;
        let recipe = instruction.recipe().unwrap();
        for lane in 0..lanes {
            let operands: Vec<u64> = instruction.operands()[1..]
                .iter()
                .map(|operand| match operand.value {
                    roundonce_sass::Value::Register(number) => u64::from(input(Name::Register(number), lane)),
                    roundonce_sass::Value::Constant { bank, offset } => {
                        u64::from(input(Name::Constant { bank, offset }, lane))
                    }
                    roundonce_sass::Value::Immediate(bits) => u64::from(bits),
                    other => panic!("{other:?} is no operand of these"),
                })
                .collect();
            let wanted = recipe.operation.evaluate(&Profile::NVIDIA, &operands).bits;
            for (name, words) in &outputs {
                match name {
                    Name::Register(_) => assert_eq!(words[lane], wanted as u32, "{text} {operands:#x?}"),
                    Name::ConditionCodes => {
                        let codes = ConditionCodes::of(Format::F32, wanted).bits();
                        assert_eq!(words[lane], u32::from(codes), "{text}: codes of {wanted:#010x}");
                    }
                    other => panic!("{other} is no output"),
                }
            }
            let has = |name: &Name| outputs.iter().any(|(output, _)| output == name);
            assert_eq!(has(&Name::ConditionCodes), recipe.condition_codes, "{text}");
        }
    }
}

fn lowered_key(name: Name) -> u64 {
    match name {
        Name::Register(number) => 1000 * u64::from(number),
        Name::Predicate(number) => 77 + u64::from(number),
        Name::Constant { bank, offset } => 1_000_003 * u64::from(bank) + u64::from(offset),
        Name::ConditionCodes => 5,
    }
}

#[test]
fn a_listing_in_order() {
    // Horner's rule with a guarded step; R9 is swallowed, R8 keeps what it had where the guard fails.
    let text = "
        .text.poly:
        /*0008*/  MOV32I R0, 0x3f800000 ;
        /*0010*/  MOV R1, c[0x0][0x140] ;
        /*0018*/  FFMA R2, R0, R1, c[0x0][0x144] ;
        /*0028*/  FFMA32I R2, R2, 0.1, R2 ;
                  @P0 FADD.SAT R8, R2, -R1 ;
                  @!P0 MOV R3, R2 ;
                  @!PT FFMA R4, R5, R6, R7 ;
                  FMUL RZ, R2, R10 ;
    ";
    let lowered = lower(text, None).unwrap();
    let shown = |names: &[Name]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown(&lowered.inputs), ["R3", "R8", "P0", "c[0x0][0x140]", "c[0x0][0x144]"]);
    assert_eq!(shown(&lowered.outputs), ["R0", "R1", "R2", "R3", "R8"]);
    assert_eq!(lowered.program.kernels[0].name, "poly");
    let input = |name: Name, lane: usize| match name {
        Name::Constant { offset: 0x140, .. } => 0x3f00_0000, // 0.5
        Name::Constant { .. } => 0x4000_0000,                // 2
        Name::Predicate(_) => lane as u32 % 2,
        Name::Register(8) => 0xdead_beef,
        _ => 0x1234_5678,
    };
    let outputs = lanes::run(Engine::Native, &lowered, 3, input);
    let of = |name: &str| outputs.iter().find(|(output, _)| output.to_string() == name).unwrap().1.clone();
    assert_eq!(of("R0"), [0x3f80_0000; 3]);
    // 1 × 0.5 + 2 = 2.5; 2.5 × f32(0.1) + 2.5 = 2.75.
    assert_eq!(of("R2"), [0x4030_0000; 3]);
    // Saturated 2.25 in the odd lane.
    assert_eq!(of("R8"), [0xdead_beef, 0x3f80_0000, 0xdead_beef]);
    assert_eq!(of("R3"), [0x4030_0000, 0x1234_5678, 0x4030_0000]);
}

#[test]
fn what_cannot_run_is_named() {
    let code = |text: &str| lower(text, None).unwrap_err()[0].code;
    assert_eq!(code("FSETP.GT.AND P0, PT, R1, R2, PT;"), "SASS0040");
    assert_eq!(code("FADD R0, |R1|, R2;"), "SASS0040");
    assert_eq!(code("EXIT ; /* 0xe30000000007000f */"), "SASS0040");
    assert_eq!(code("FFMA.INVALIDFMZ3 R0, R1, R2, R3;"), "SASS0011");
    assert_eq!(code("MOV R0, -R1;"), "SASS0001");
    let two = ".text.a:\nMOV R0, R1;\n.text.b:\nFMUL R2, R3, R3;";
    assert_eq!(code(two), "SASS0028");
    assert_eq!(lower(two, Some("c")).unwrap_err()[0].code, "SASS0028");
    assert_eq!(lower(two, Some("a")).unwrap().outputs, [Name::Register(0)]);
    assert_eq!(lower(two, Some("b")).unwrap().outputs, [Name::Register(2)]);
}

/// Statements of later targets: the target, the text, the form that they are, and what each operand is of a lane's
/// registers, written by hand.
type Modern = (u32, &'static str, &'static str, fn(&dyn Fn(u8) -> u64) -> Vec<u64>);

#[rustfmt::skip] // One statement a row.
const MODERN: &[Modern] = &[
    (70,  "FFMA.FTZ.RZ.SAT R20, -|R1|, R2, -R3",      "FFMA.FTZ.RZ.SAT", |r| vec![r(1) | 1 << 31, r(2), minus(32, r(3))]),
    (90,  "FADD.RM R20, |R1|, -c[0x0][0x160]",        "FADD.RM",         |r| vec![r(1) & !(1 << 31), minus(32, r(200))]),
    (75,  "FMUL.FTZ R20, R1, 1.5",                    "FMUL.FTZ",        |r| vec![r(1), 0x3fc0_0000]),
    (100, "FHFMA.BF16.RZ R20, R1.H1, -R2, R3",        "FHFMA.BF16.RZ",   |r| vec![r(1) >> 16, minus(16, r(2) & 0xffff), r(3)]),
    (100, "FHADD.SAT R20, |R1|.H1, -R3",              "FHADD.SAT",       |r| vec![r(1) >> 16 & 0x7fff, minus(32, r(3))]),
    (80,  "DFMA.RP R20, R2, -R4, |c[0x0][0x160]|",    "DFMA.RP",         |r| vec![pair(r, 2), minus(64, pair(r, 4)), pair(r, 200) & !(1 << 63)]),
    (120, "DADD R20, -R2, 0.125",                     "DADD",            |r| vec![minus(64, pair(r, 2)), 0x3fc0_0000_0000_0000]),
    (90,  "HFMA2.RELU R20, R1.H1_H1, R2.H0_NH1, R3",  "HFMA2.RELU",      |r| vec![(r(1) >> 16) * 0x1_0001, halves(minus(16, r(2) >> 16), r(2) & 0xffff), r(3)]),
    (90,  "HFMA2.BF16_V2 R20, |R1|, 1, -2, -R3.H0_H0","HFMA2.BF16_V2",   |r| vec![r(1) & 0x7fff_7fff, 0x3f80_c000, halves(minus(16, r(3) & 0xffff), minus(16, r(3) & 0xffff))]),
    (75,  "HADD2.SAT R20, R1, -R3",                   "HADD2.SAT",       |r| vec![r(1), halves(minus(16, r(3) & 0xffff), minus(16, r(3) >> 16))]),
    (70,  "HMUL2.FTZ R20, RZ, R2",                    "HMUL2.FTZ",       |r| vec![0, r(2)]),
    (100, "FFMA2.RM R20, R2, 1.5, |R6|",              "FFMA2.RM",        |r| vec![pair(r, 2), 0x3fc0_0000_3fc0_0000, pair(r, 6) & !0x8000_0000_8000_0000]),
    (100, "FMUL2 R20, R2, -R4",                       "FMUL2",           |r| vec![pair(r, 2), halves_64(minus(32, r(4)), minus(32, r(5)))]),
];

/// The sign flipped of what is no NaN: of a format by its width; a bf16 NaN looks like no f16 one, and the results are NaN.
fn minus(width: u32, bits: u64) -> u64 {
    bits ^ 1 << (width - 1)
}
fn pair(r: &dyn Fn(u8) -> u64, low: u8) -> u64 {
    r(low) | r(low + 1) << 32
}
fn halves(low: u64, high: u64) -> u64 {
    low | high << 16
}
fn halves_64(low: u64, high: u64) -> u64 {
    low | high << 32
}

#[test]
fn statements_of_later_targets_are_their_forms() {
    for (number, text, form, operands) in MODERN {
        let target = Target::new(*number).unwrap();
        let lowered = modern::lower(text, None, target).unwrap_or_else(|findings| panic!("{text}: {findings:?}"));
        let (mnemonic, modifiers) = roundonce_isa::split_spelling(form);
        let gates = modern::FORMS.iter().filter(|row| row.gate.has_target((*number).into()));
        let recipe: Recipe = gates.filter_map(|row| row.matches(mnemonic, &modifiers).ok()).next().unwrap().recipe;
        let lanes = 500;
        // Finite f64s too: a register alone is a special value, a pair seldom is.
        let input = |name: Name, lane: usize| scramble(lane as u64 * 31 + lowered_key(name));
        let outputs = lanes::run(Engine::Native, &lowered, lanes, input);
        for lane in 0..lanes {
            // 200 and 201 are the words of the constant.
            let register = |number: u8| {
                let name = match number {
                    200 | 201 => Name::Constant { bank: 0, offset: 0x160 + 4 * u16::from(number - 200) },
                    _ => Name::Register(number),
                };
                u64::from(input(name, lane))
            };
            let widths = (0..).map(|index| recipe.operation.operand_format(index).width());
            let values: Vec<Value> = operands(&register)
                .into_iter()
                .zip(widths)
                .map(|(bits, width)| {
                    Value::of(
                        (0..recipe.components).map(|component| bits >> (component * width) & (!0 >> (64 - width))),
                    )
                })
                .collect();
            // A minus leaves a NaN of f64 alone, which flipped bits do not.
            let is_nan = |value: &Value, index| {
                value.components().iter().any(|bits| recipe.operation.operand_format(index).is_nan(*bits))
            };
            if recipe.operation.format == Format::F64
                && values.iter().enumerate().any(|(index, value)| is_nan(value, index))
            {
                continue;
            }
            let wanted = evaluate(&recipe, &Profile::NVIDIA, &values).value;
            let width = recipe.operation.format.width();
            let wanted = wanted
                .components()
                .iter()
                .rev()
                .fold(0, |all, bits| if width == 64 { *bits } else { all << width | bits });
            let word = |number| {
                outputs
                    .iter()
                    .find(|(name, _)| *name == Name::Register(number))
                    .map(|(_, words)| u64::from(words[lane]))
            };
            let found = word(20).unwrap() | word(21).unwrap_or(0) << 32;
            assert_eq!(found, wanted, "{text}, lane {lane}: {values:x?}");
        }
    }
}

#[test]
fn what_no_document_says_is_not_run() {
    for (number, text) in [
        (90, "HFMA2.F32 R0, R1, R2, R3"),
        (90, "FMUL.D2 R0, R1, R2"),
        (90, "FFMA R0, R1, UR2, R3"),
        (90, "HFMA2.BF16_V2.FTZ R0, R1, R2, R3"),
        (90, "HADD2.F32 R0, R1, R2.H0_H0"),
        (90, "HADD2.F32 RZ, -RZ, UR4.H0_H0"),
        (90, "HFMA2 R0, R1, |R2|.H0_NH1, R3"),
        (90, "@!PT FMUL.D2 R0, R1, R2"),
        (100, "FFMA2 R0, R2.F32x2.LO_HI, R4, R6"),
        (100, "DADD R254, R2, R4"),
        (120, "UFADD UR0, UR1, UR2"),
    ] {
        let refused = modern::lower(text, None, Target::new(number).unwrap()).unwrap_err();
        assert_eq!(refused[0].code, roundonce_sass::NOT_COMPUTED, "{text}");
    }
    let exit = ".dword 0x000000000000794d, 0x000fea0003800000 ;";
    assert_eq!(modern::lower(exit, None, Target::new(90).unwrap()).unwrap_err()[0].code, "SASS0041");
}
