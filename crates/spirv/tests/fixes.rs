//! No edit that a check offers makes a valid module invalid: spirv-val judges each alone, and all of a module together, in
//! every environment in which the module was valid before.

use std::path::Path;

use roundonce_isa::{Fix, apply_edits};
use roundonce_spirv::{Environment, Migration, assemble, check_text, migrate_text};
use tools::{run, tools};

mod tools;

/// A module's lines by what they are.
#[derive(Clone, Default)]
struct Parts {
    kernel: bool,
    capabilities: &'static str,
    modes: &'static str,
    decorations: &'static str,
    types: &'static str,
    body: &'static str,
    functions: &'static str,
}

const CONTROLS: &str = "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"\n";

fn text(parts: &Parts) -> String {
    let (model, memory, set, kernel) = match parts.kernel {
        true => ("Kernel", "Physical64 OpenCL", "OpenCL.std", "OpCapability Kernel\nOpCapability Addresses\n"),
        false => ("GLCompute", "Logical GLSL450", "GLSL.std.450", "OpCapability Shader\n"),
    };
    let Parts { capabilities, modes, decorations, types, body, functions, .. } = parts;
    format!(
        "{kernel}OpCapability FMAKHR\n{capabilities}OpExtension \"SPV_KHR_fma\"\n%set = OpExtInstImport \"{set}\"
OpMemoryModel {memory}\nOpEntryPoint {model} %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n{modes}{decorations}
%void = OpTypeVoid\n%f32 = OpTypeFloat 32\n%u32 = OpTypeInt 32 0\n%v2 = OpTypeVector %f32 2\n%none = OpConstant %u32 0
%all = OpConstant %u32 0x7000f\n%a = OpConstant %f32 1.5\n%v = OpConstantComposite %v2 %a %a\n{types}
%procedure = OpTypeFunction %void\n%main = OpFunction %void None %procedure\n%start = OpLabel
{body}\nOpReturn\nOpFunctionEnd\n{functions}"
    )
}

const FMA: &str = "%r = OpFmaKHR %f32 %a %a %a";
const APART: &str = "%p = OpFMul %f32 %a %a\n%s = OpFAdd %f32 %p %a";
const EXTENDED: &str = "%r = OpExtInst %f32 %set Fma %a %a %a\n%q = OpExtInst %v2 %set Fma %v %v %v";
const OPENCL: &str = "%r = OpExtInst %f32 %set fma %a %a %a\n%q = OpExtInst %v2 %set fma %v %v %v";
const DEFAULT_NONE: &str = "OpExecutionModeId %main FPFastMathDefault %f32 %none\n";
const DEFAULT_ALL: &str = "OpExecutionModeId %main FPFastMathDefault %f32 %all\n";

/// Every way to have modes, flags and decorations beside the multiply-adds.
fn modules() -> Vec<String> {
    let mut all = Vec::new();
    let old = "OpCapability RoundingModeRTE\nOpCapability DenormFlushToZero\nOpExtension \"SPV_KHR_float_controls\"\n";
    for kernel in [false, true] {
        for body in [FMA, APART, if kernel { OPENCL } else { EXTENDED }] {
            let result = if body == APART { "%s" } else { "%r" };
            let plain = Parts { kernel, body, ..Parts::default() };
            let mut with = |parts: Parts| all.push(text(&parts).replace("RESULT", result));
            with(plain.clone());
            with(Parts { decorations: "OpDecorate RESULT RelaxedPrecision\n", ..plain.clone() });
            with(Parts { decorations: "OpDecorate RESULT NoContraction\n", ..plain.clone() });
            with(Parts { capabilities: old, modes: "OpExecutionMode %main RoundingModeRTE 32\n", ..plain.clone() });
            with(Parts { capabilities: old, modes: "OpExecutionMode %main DenormFlushToZero 16\n", ..plain.clone() });
            let both = "OpExecutionMode %main RoundingModeRTE 32\nOpExecutionMode %main RoundingModeRTZ 32\n";
            let both_of =
                "OpCapability RoundingModeRTE\nOpCapability RoundingModeRTZ\nOpExtension \"SPV_KHR_float_controls\"\n";
            with(Parts { capabilities: both_of, modes: both, ..plain.clone() });
            with(Parts { modes: "OpExecutionMode %main ContractionOff\n", ..plain.clone() });
            let controlled = Parts { capabilities: CONTROLS, ..plain.clone() };
            with(controlled.clone());
            with(Parts { modes: DEFAULT_NONE, ..controlled.clone() });
            with(Parts { modes: DEFAULT_ALL, ..controlled.clone() });
            for flags in ["None", "NotNaN|NotInf", "NSZ|AllowContract", "AllowTransform|AllowContract|AllowReassoc"] {
                let decorations = format!("OpDecorate RESULT FPFastMathMode {flags}\n").leak();
                with(Parts { decorations, ..controlled.clone() });
                with(Parts { decorations, modes: DEFAULT_ALL, ..controlled.clone() });
                with(Parts { decorations, modes: DEFAULT_NONE, ..controlled.clone() });
            }
            // A function that two entry points reach, one of them with flags; an entry point of two names.
            let other =
                "%other = OpFunction %void None %procedure\n%begin = OpLabel\n%called = OpFunctionCall %void %main
OpReturn\nOpFunctionEnd\n";
            let entry = |modes: &str| {
                let module = text(&Parts { functions: other, ..controlled.clone() });
                let model = if kernel { "Kernel" } else { "GLCompute" };
                let line = "OpExecutionMode %main LocalSize 1 1 1\n";
                let modes = format!(
                    "OpEntryPoint {model} %other \"other\"\n{line}OpExecutionMode %other LocalSize 1 1 1\n{modes}"
                );
                // An entry point is not called: the body stands in a function of its own.
                let body = "%main = OpFunction %void None %procedure\n%start = OpLabel\n";
                let main = "%main = OpFunction %void None %procedure\n%first = OpLabel\n%again = OpFunctionCall %void %both\nOpReturn
OpFunctionEnd\n%both = OpFunction %void None %procedure\n%start = OpLabel\n";
                module
                    .replace(line, &modes)
                    .replace(body, main)
                    .replace("OpFunctionCall %void %main", "OpFunctionCall %void %both")
            };
            all.push(entry(""));
            all.push(entry(DEFAULT_NONE));
            all.push(entry(&DEFAULT_ALL.replace("%main", "%other")));
            all.push(entry(&(DEFAULT_ALL.to_owned() + &DEFAULT_NONE.replace("%main", "%other"))));
            let line = "OpExecutionMode %main LocalSize 1 1 1\n";
            let named = format!("OpEntryPoint {} %main \"again\"\n{line}", if kernel { "Kernel" } else { "GLCompute" });
            all.push(text(&plain).replace(line, &named));
            // Lines that edits go beside: numbered, shared, missing.
            let numbered = text(&plain).replace("%void = OpTypeVoid", "OpLine %file 1 1\n%void = OpTypeVoid");
            all.push(numbered.replace("OpMemoryModel", "%file = OpString \"f\"\nOpMemoryModel"));
            all.push(text(&plain).replace("OpCapability FMAKHR\n", "OpCapability FMAKHR OpCapability Int64\n"));
            all.push(text(&plain).replace("OpCapability FMAKHR\nOpExtension \"SPV_KHR_fma\"\n", ""));
        }
    }
    all
}

fn corpus() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/edge/spirv/");
    let mut texts = Vec::new();
    for name in ["verdicts", "neighbours", "float-controls2", "declarations"] {
        let text =
            std::fs::read_to_string(format!("{folder}{name}.jsonl")).expect("the verdicts are in the repository");
        for line in text.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case a line");
            texts.push(case["spvasm"].as_str().expect("a text").to_owned());
        }
    }
    for name in ["opencl-fma.spvasm", "glsl-fma.spvasm"] {
        texts.push(std::fs::read_to_string(folder.to_owned() + name).expect("a module"));
    }
    texts.sort();
    texts.dedup();
    texts
}

struct Judge<'a> {
    validator: &'a Path,
    environment: Environment,
}

impl Judge<'_> {
    fn valid(&self, text: &str) -> bool {
        // Without a version of its own a text has the environment's newest.
        let header = format!("; SPIR-V\n; Version: {}\n{text}", self.environment.version());
        let Ok(words) = assemble(&header) else { return false };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        run(self.validator.to_owned(), &["--target-env", self.environment.name(), "-"], &bytes).is_some()
    }
}

#[test]
fn no_fix_makes_a_valid_module_invalid() {
    let Some(folder) = tools() else { return };
    let validator = folder.join("spirv-val");
    let (mut judged, mut wrong) = (0, Vec::new());
    for name in ["spv1.0", "spv1.6", "vulkan1.0", "vulkan1.1spv1.4", "vulkan1.3", "opencl2.2", "opengl4.5"] {
        let environment: Environment = name.parse().expect("an environment");
        let judge = Judge { validator: &validator, environment };
        for text in modules().into_iter().chain(corpus()) {
            if !judge.valid(&text) {
                continue;
            }
            let mut fixed = Vec::new();
            for migration in [Migration::default(), Migration { glsl_fma: true }] {
                fixed.extend(migrate_text(&text, migration).map(|migrated| migrated.output).ok());
            }
            let open: Vec<Vec<Fix>> = check_text(&text, environment)
                .into_iter()
                .map(|found| found.fix.into_iter().chain(found.open.into_iter().flat_map(|open| open.edits)).collect())
                .collect();
            fixed.extend(open.iter().map(|edits| apply_edits(&text, edits)));
            fixed.push(apply_edits(&text, open.iter().flatten()));
            fixed.retain(|other| *other != text);
            fixed.sort();
            fixed.dedup();
            for fixed in fixed {
                judged += 1;
                if !judge.valid(&fixed) {
                    wrong.push(format!("{environment}:\n{text}\nbecame\n{fixed}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {judged} fixes are invalid, the first in {}", wrong.len(), wrong[0]);
    assert!(judged > 500, "only {judged} fixes were judged");
}
