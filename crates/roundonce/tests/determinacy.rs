//! What modules leave open: each witness is worked out again by the exact-rational judge, and the edits settle it.

use roundonce::Profile;
use roundonce::isa::{Finding, apply_edits};
use roundonce::spirv::{Environment, check_text as check_spirv};
use roundonce::why::diff::{Witness, Witnesses};
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec};

/// The witnesses of all findings that have one.
fn witnesses(findings: &[Finding]) -> Vec<Witness> {
    let mut search = Witnesses::new(&Profile::NVIDIA);
    let open = findings.iter().filter_map(|finding| finding.open.as_deref());
    open.map(|open| search.of(open).unwrap_or_else(|| panic!("no witness of {open:?}"))).collect()
}

fn settled(text: &str, findings: &[Finding]) -> String {
    apply_edits(text, findings.iter().filter_map(|finding| finding.open.as_ref()).flat_map(|open| &open.edits))
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn check_ptx(text: &str) -> Vec<Finding> {
    roundonce::ptx::check_text(text, &roundonce::ptx::Options { determinacy: true })
}

/// How a body's product and sum are computed, by the judge: signs, flush, saturation, the addend if it is a constant.
struct Modes {
    layout: Layout,
    negate_product: bool,
    negate_addend: bool,
    flush: bool,
    saturate: bool,
}

impl Modes {
    const PLAIN: Modes =
        Modes { layout: Layout::F32, negate_product: false, negate_addend: false, flush: false, saturate: false };

    fn spec(&self, shape: Shape) -> Spec {
        let sum = shape != Shape::Mul;
        Spec {
            negate_a: sum && self.negate_product,
            negate_c: sum && self.negate_addend,
            flush: self.flush.then_some(FlushRule::Rounded),
            saturate: sum && self.saturate,
            ..Spec::new(shape, self.layout, Direction::Nearest)
        }
    }
    /// Apart and fused.
    fn results(&self, [a, b, c]: [u64; 3]) -> [u64; 2] {
        let product = judge(&self.spec(Shape::Mul), [a, b, 0]).bits;
        let apart = judge(&self.spec(Shape::Add), [product, 0, c]).bits;
        [apart, judge(&self.spec(Shape::MulAdd), [a, b, c]).bits]
    }
}

#[test]
fn a_witness_of_contraction_is_what_the_judge_gives() {
    const TWO: u64 = 0x4000_0000;
    type Operands = fn(&[u64]) -> [u64; 3];
    let cases: [(&str, Modes, Operands); 8] = [
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5;", Modes::PLAIN, |x| [x[0], x[1], x[2]]),
        ("mul.f32 %f3, %f1, %f1; add.f32 %f4, %f2, %f3;", Modes::PLAIN, |x| [x[0], x[0], x[1]]),
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1;", Modes::PLAIN, |x| [x[0], x[1], x[0]]),
        ("mul.f32 %f3, %f1, 0f40000000; add.f32 %f4, %f3, %f2;", Modes::PLAIN, |x| [x[0], TWO, x[1]]),
        ("mul.f32 %f3, %f1, %f2; sub.f32 %f4, %f3, %f5;", Modes { negate_addend: true, ..Modes::PLAIN }, |x| {
            [x[0], x[1], x[2]]
        }),
        (
            "mul.f32 %f3, %f1, %f2; sub.sat.f32 %f4, %f5, %f3;",
            Modes { negate_product: true, saturate: true, ..Modes::PLAIN },
            |x| [x[0], x[1], x[2]],
        ),
        ("mul.ftz.f32 %f3, %f1, %f2; add.ftz.f32 %f4, %f3, 0f00800000;", Modes { flush: true, ..Modes::PLAIN }, |x| {
            [x[0], x[1], 0x0080_0000]
        }),
        (
            "mul.f64 %d3, %d1, %d2; add.f64 %d4, %d3, 0d3FF0000000000000;",
            Modes { layout: Layout::F64, ..Modes::PLAIN },
            |x| [x[0], x[1], 0x3ff0_0000_0000_0000],
        ),
    ];
    for (body, modes, operands) in cases {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k ()\n{{ .reg .f32 %f<9>; .reg .f64 %d<9>;\n{body}\nret; }}"
        );
        let findings = check_ptx(&text);
        assert_eq!(findings.len(), 1, "{body}");
        let [witness] = &witnesses(&findings)[..] else { panic!("{body}") };
        let inputs: Vec<u64> = witness.inputs.iter().map(|input| hex(&input.bits)).collect();
        let found = witness.results.each_ref().map(|result| hex(&result.bits));
        assert_eq!(found, modes.results(operands(&inputs)), "{body}: {witness:?}");
        assert_ne!(found[0], found[1], "{body}");
        assert_eq!(witness.results.each_ref().map(|result| result.choice), ["apart", "fused"]);
        // The edit makes the sum say its rounding, and nothing is open any more.
        let fixed = settled(&text, &findings);
        assert_eq!(check_ptx(&fixed), [], "{fixed}");
        assert!(fixed.contains(if body.contains("sub") { "sub.rn." } else { "add.rn." }), "{fixed}");
    }
}

#[test]
fn a_value_written_in_between_is_another() {
    let names = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k ()\n{{ .reg .pred p; .reg .f32 %f<9>;\n{body}\nret; }}"
        );
        let findings = check_ptx(&text);
        let names = witnesses(&findings)[0].inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>();
        (names.join(" "), findings[0].help.contains("fma.rn.f32"))
    };
    let same = names("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1;");
    assert_eq!(same, ("%f1 %f2".to_owned(), true));
    let changed = names("mul.f32 %f3, %f1, %f2; mov.f32 %f1, %f5; add.f32 %f4, %f3, %f1;");
    assert_eq!(changed, ("%f1 %f2 %f1'".to_owned(), false));
    // By way of a copy it is the same.
    let copied = names("mul.f32 %f3, %f1, %f2; mov.f32 %f5, %f3; add.f32 %f4, %f5, %f1;");
    assert_eq!(copied, ("%f1 %f2".to_owned(), true));
    // Overwritten by the product itself.
    let own = names("mul.f32 %f1, %f1, %f2; add.f32 %f4, %f1, %f2;");
    assert_eq!(own, ("%f1 %f2".to_owned(), false));
}

#[test]
fn modifiers_that_no_fused_instruction_has_leave_nothing_open() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k ()\n{ .reg .f32 %f<9>;\n\
                mul.f32 %f3, %f1, %f2; add.ftz.f32 %f4, %f3, %f5;\nret; }";
    assert_eq!(check_ptx(text), []);
}

#[test]
fn every_type_is_contracted_and_settled() {
    for (ty, register, target) in [
        ("f16", ".b16", "sm_90"),
        ("bf16", ".b16", "sm_90"),
        ("f16x2", ".b32", "sm_90"),
        ("bf16x2", ".b32", "sm_90"),
        ("f32x2", ".b64", "sm_100"),
    ] {
        let text = format!(
            ".version 8.6\n.target {target}\n.address_size 64\n.entry k ()\n{{ .reg {register} r<9>;\n\
             mul.{ty} r3, r1, r2; add.{ty} r4, r3, r5;\nret; }}"
        );
        let findings = check_ptx(&text);
        assert_eq!(findings.len(), 1, "{ty}");
        let [witness] = &witnesses(&findings)[..] else { panic!("{ty}") };
        assert_ne!(witness.results[0].bits, witness.results[1].bits, "{ty}");
        let fixed = settled(&text, &findings);
        assert!(fixed.contains(&format!("add.rn.{ty}")), "{fixed}");
        assert_eq!(check_ptx(&fixed), [], "{fixed}");
    }
}

const SHADER: &str = "\
               OpCapability Shader
               OpCapability FMAKHR
               OpExtension \"SPV_KHR_fma\"
       %glsl = OpExtInstImport \"GLSL.std.450\"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main \"main\"
               OpExecutionMode %main LocalSize 1 1 1
       %void = OpTypeVoid
      %float = OpTypeFloat 32
         %fn = OpTypeFunction %void
      %three = OpConstant %float 3
       %main = OpFunction %void None %fn
      %entry = OpLabel
         %u = OpUndef %float
         %p = OpFMul %float %u %three
         %s = OpFSub %float %u %p
         %f = OpFmaKHR %float %s %u %three
         %g = OpExtInst %float %glsl Fma %s %u %f
               OpReturn
               OpFunctionEnd
";

#[test]
fn what_a_shader_leaves_open_is_shown_and_settled() {
    let environment: Environment = "vulkan1.0".parse().unwrap();
    let findings = check_spirv(SHADER, environment);
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["SPV0064", "SPV0065", "SPV0066", "SPV0067", "SPV0062"]);
    let found = witnesses(&findings);
    let spec = |shape, direction| Spec::new(shape, Layout::F32, direction);
    let fma = |direction, operands| judge(&spec(Shape::MulAdd, direction), operands).bits;
    let operands = |witness: &Witness| {
        let bits: Vec<u64> = witness.inputs.iter().map(|input| hex(&input.bits)).collect();
        <[u64; 3]>::try_from(bits).unwrap()
    };
    let results = |witness: &Witness| witness.results.each_ref().map(|result| hex(&result.bits));
    // Rounding, subnormals, the zero's sign.
    let [rounding, subnormal, zero, sum, glsl] = &found[..] else { panic!("{found:?}") };
    let inputs = operands(rounding);
    assert_eq!(results(rounding), [Direction::Nearest, Direction::Zero].map(|direction| fma(direction, inputs)));
    let inputs = operands(subnormal);
    let flushed = Spec { flush: Some(FlushRule::Rounded), ..spec(Shape::MulAdd, Direction::Nearest) };
    assert_eq!(results(subnormal), [fma(Direction::Nearest, inputs), judge(&flushed, inputs).bits]);
    assert_eq!((operands(zero), results(zero)), ([0; 3], [0, 0x8000_0000]));
    // One product, taken away from its own factor; and a call.
    let u = hex(&sum.inputs[0].bits);
    let modes = Modes { negate_product: true, ..Modes::PLAIN };
    assert_eq!(results(sum), modes.results([u, 0x4040_0000, u]));
    assert_eq!((sum.inputs.len(), sum.inputs[0].name.as_str()), (1, "%u"));
    assert_eq!(results(glsl), Modes::PLAIN.results(operands(glsl)));
    for witness in &found {
        assert_ne!(witness.results[0].bits, witness.results[1].bits);
    }
    let fixed = settled(SHADER, &findings);
    assert_eq!(check_spirv(&fixed, environment), [], "{fixed}");
    assert_eq!(fixed.matches("SPV_KHR_float_controls").count(), 1, "{fixed}");
    // Where the modes are of the language, no extension is named.
    let newer: Environment = "vulkan1.2".parse().unwrap();
    let fixed = settled(SHADER, &check_spirv(SHADER, newer));
    assert_eq!((check_spirv(&fixed, newer), fixed.contains("SPV_KHR_float_controls")), (Vec::new(), false));
}

#[test]
fn a_kernel_forbids_contraction_by_its_mode() {
    let kernel = SHADER
        .replace("OpCapability Shader", "OpCapability Kernel\nOpCapability Addresses")
        .replace("Logical GLSL450", "Physical64 OpenCL")
        .replace("GLCompute", "Kernel")
        .replace("       %glsl = OpExtInstImport \"GLSL.std.450\"\n", "")
        .replace("         %g = OpExtInst %float %glsl Fma %s %u %f\n", "");
    let findings = check_spirv(&kernel, Environment::UNIVERSAL);
    let fixed = settled(&kernel, &findings);
    assert!(fixed.contains("OpExecutionMode %main ContractionOff\n"), "{fixed}");
    assert_eq!(check_spirv(&fixed, Environment::UNIVERSAL), [], "{fixed}");
}
