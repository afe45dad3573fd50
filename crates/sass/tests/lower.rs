//! A listing run lane by lane is what its instructions compute one by one.

use roundonce_arith::{ConditionCodes, Format, Profile};
use roundonce_exec::{Arg, Buffer, Launch, Options};
use roundonce_sass::{Lowered, Name, lower, parse_line};

/// Runs a listing on `lanes` lanes of inputs; gives each output's lanes.
fn run(lowered: &Lowered, lanes: usize, input: impl Fn(Name, usize) -> u32) -> Vec<(Name, Vec<u32>)> {
    lowered.program.verify().unwrap_or_else(|invalid| panic!("{invalid}"));
    let buffer = |name: &Name| Arg::Buffer(Buffer::from_words((0..lanes).map(|lane| input(*name, lane)).collect()));
    let mut args = vec![Arg::Scalar(lanes as u64)];
    args.extend(lowered.inputs.iter().map(buffer));
    args.extend(lowered.outputs.iter().map(|_| Arg::Buffer(Buffer::zeros(4 * lanes))));
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: [lanes.div_ceil(128) as u32, 1, 1],
        block: [128, 1, 1],
        args,
        dynamic_shared: 0,
        options: Options::default(),
    };
    let report = launch.run().unwrap_or_else(|error| panic!("{error:?}"));
    let first = 1 + lowered.inputs.len();
    let outputs = lowered.outputs.iter().zip(&report.buffers[first..]);
    outputs.map(|(name, buffer)| (*name, buffer.as_ref().unwrap().words().to_vec())).collect()
}

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
        let outputs = run(&lowered, lanes, input);
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
    let outputs = run(&lowered, 3, input);
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
    assert_eq!(code("FSETP.GT.AND P0, PT, R1, R2, PT;"), "SASS0012");
    assert_eq!(code("FADD R0, |R1|, R2;"), "SASS0012");
    assert_eq!(code("EXIT ; /* 0xe30000000007000f */"), "SASS0012");
    assert_eq!(code("FFMA.INVALIDFMZ3 R0, R1, R2, R3;"), "SASS0011");
    assert_eq!(code("MOV R0, -R1;"), "SASS0001");
    let two = ".text.a:\nMOV R0, R1;\n.text.b:\nFMUL R2, R3, R3;";
    assert_eq!(code(two), "SASS0028");
    assert_eq!(lower(two, Some("c")).unwrap_err()[0].code, "SASS0028");
    assert_eq!(lower(two, Some("a")).unwrap().outputs, [Name::Register(0)]);
    assert_eq!(lower(two, Some("b")).unwrap().outputs, [Name::Register(2)]);
}
