//! What the assembler takes of the multiply-add family is computed; what it rejects is not run.

use roundonce::kernel::{Choice, Ready, Refusal, Source};
use roundonce::{NOT_COMPUTED, integer};
use roundonce::{Profile, Target, Value, conversion, eval, instruction};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/family-verdicts.tsv");

#[test]
fn what_is_taken_is_computed() {
    let (mut count, mut not_computed) = (0, Vec::new());
    for line in RECORD.lines().filter(|line| line.starts_with("taken\t")) {
        for (spelling, _) in line.rsplit('\t').next().unwrap().split(' ').map(|word| word.split_once('/').unwrap()) {
            count += 1;
            if integer::is_integer(spelling) {
                match integer::instruction(spelling, &Target::default()) {
                    Ok(found) => drop(found.eval(&vec![1; found.operands.len()])),
                    Err(finding) => {
                        assert_eq!(finding.code, NOT_COMPUTED, "{finding}");
                        not_computed.push(spelling);
                    }
                }
                continue;
            }
            if conversion::is_conversion(spelling) {
                let found = conversion::instruction(spelling, &Target::default());
                let found = found.unwrap_or_else(|finding| panic!("{finding}"));
                let zeros = found.read(&vec!["0x0"; found.names().len()]).expect("zeros");
                assert_eq!(found.eval(&Profile::NVIDIA, &zeros), 0, "{spelling}");
                continue;
            }
            let found = instruction(spelling, &Target::default()).unwrap_or_else(|finding| panic!("{finding}"));
            let operand = Value::of(vec![0; found.recipe.components as usize]);
            let operands = vec![operand; found.recipe.operation.op.arity()];
            // A difference of zeros rounded down is −0.
            let bits = eval(&found, &operands, &Default::default()).value.components()[0];
            assert_eq!(bits & found.recipe.operation.format.magnitude_mask(), 0, "{spelling}");
        }
    }
    assert!(count > 400, "{count} spellings");
    let undocumented = ["madc.lo.u16", "madc.lo.s16", "madc.hi.u16", "madc.hi.s16", "madc.hi.sat.s32"];
    assert_eq!(not_computed.len(), undocumented.len(), "{not_computed:?}");
    assert!(undocumented.iter().all(|spelling| not_computed.contains(spelling)), "{not_computed:?}");
}

#[test]
fn what_is_rejected_is_not_run() {
    let read = |target: &str, line: &str| {
        let text = format!(
            ".version 9.4\n.target {target}\n.address_size 64\n.entry k () {{\n\
             .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %q<4>;\n{line}\nret;\n}}\n"
        );
        Ready::read(Source::Ptx(&text), &Choice::default())
    };
    for (target, line, code) in [
        ("sm_90", "add.ftz.f16 %r0, %r1, %r2;", "PTX0029"),
        ("sm_90", "add.f16x2 %r0, %r1, %h2;", "PTX0027"),
        ("sm_90", "add.f32x2 %q0, %q1, %q2;", "PTX0026"),
        ("sm_80", "add.bf16 %h0, %h1, %h2;", "PTX0026"),
        ("sm_107", "add.f32x2.f16x2.f32x2 %q0, %r1, %q2;", "PTX0026"),
        ("sm_90", "mad24.s32.lo %r0, %r1, %r2, %r3;", "PTX0023"),
        ("sm_90", "fma.rn.relu.sat.f16 %h0, %h1, %h2, %h3;", "PTX0022"),
        ("sm_80", "cvt.rn.f16x2.e4m3x2 %r0, %h1;", "PTX0026"),
        ("sm_100", "cvt.rn.f16x2.e2m3x2 %r0, %h1;", "PTX0026"),
        ("sm_90", "cvt.rn.e4m3x2.f16x2 %h0, %r1;", "PTX0023"),
    ] {
        match read(target, line) {
            Err(Refusal::Findings { findings, .. }) => assert_eq!(findings[0].code, code, "{line}: {}", findings[0]),
            other => panic!("{line}: {other:?}"),
        }
    }
    for (target, line) in [
        ("sm_90", "add.ftz.f16 %h0, %h1, %h2;"),
        ("sm_107a", "add.f32x2.f16x2.f32x2 %q0, %r1, %q2;"),
        ("sm_107f", "mul.rz.bf16x2.f32x2.f32x2 %r0, %q1, %q2;"),
        ("sm_90", "mad24.lo.s32 %r0, %r1, %r2, %r3;"),
        ("sm_89", "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;"),
        ("sm_100f", "cvt.rn.f16x2.e2m3x2 %r0, %h1;"),
    ] {
        assert!(read(target, line).is_ok(), "{line} on {target}");
    }
}

const SOUND: &str = include_str!("../../../tests/cli/run-spirv.in/scale.spvasm");

#[test]
fn spirv_whose_structure_is_wrong_is_not_run() {
    let choice = Choice::default();
    assert!(Ready::read(Source::SpirvText(SOUND), &choice).is_ok());
    let without = |text: &str| SOUND.lines().filter(|line| line.trim() != text).collect::<Vec<_>>().join("\n");
    for (text, code) in [
        (without("OpFunctionEnd"), "SPV0011"),
        (SOUND.replacen("OpReturn\n", "", 1), "SPV0011"),
        (format!("{SOUND}\nOpCapability Int64\n"), "SPV0010"),
        (SOUND.replacen("%float = OpTypeFloat 32", "%float = OpTypeFloat 32\n%float = OpTypeFloat 64", 1), "SPV0013"),
        (without("%uint3 = OpTypeVector %uint 3"), "SPV0012"),
        (SOUND.replacen("%main = OpFunction", "%other = OpFunction", 1), "SPV0012"),
    ] {
        let refusal = Ready::read(Source::SpirvText(&text), &choice).expect_err(code);
        assert!(
            matches!(Ready::read_each(Source::SpirvText(&text), &choice), Err(found) if found == refusal),
            "{code}"
        );
        match refusal {
            Refusal::Findings { findings, unsupported: false } => assert_eq!(findings[0].code, code, "{}", findings[0]),
            other => panic!("{code}: {other:?}"),
        }
    }
}
