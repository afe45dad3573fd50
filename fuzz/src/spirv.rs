//! SPIR-V shaders as text, from choices: numbers of every width, vectors and matrices, structured control flow, float
//! controls, decorations, extended instructions, calls, and what invocations do together. Each stores to places of its own,
//! or by operations whose order does not matter.

mod rows;

use crate::Choices;
use roundonce::exec::{Arg, Buffer};
use rows::{GLSL, OPENCL, ROWS, Row, SUBGROUP, TYPES, Ty};
use std::fmt::Write;

/// A shader and its launch.
pub struct Shader {
    pub text: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub args: Vec<Arg>,
}

/// Words of the input: a power of two, and more than invocations.
const INPUT: usize = 256;
/// Words that an invocation stores.
const RECORD: usize = 64;
const BLOCKS: [[u32; 3]; 7] = [[32, 1, 1], [64, 1, 1], [16, 4, 1], [7, 3, 2], [1, 1, 1], [33, 1, 1], [4, 4, 4]];

/// A value and its type's place in [`TYPES`].
type Value = (String, usize);

struct Generator<'c, 'b> {
    choices: &'c mut Choices<'b>,
    decorations: String,
    constants: String,
    body: String,
    ids: usize,
    /// What the point that is written sees.
    values: Vec<Value>,
    /// The block that is written.
    block: String,
    left: usize,
    stored: usize,
    has_opencl: bool,
}

fn ty(name: &str) -> usize {
    TYPES.iter().position(|ty| ty.name == name).unwrap_or(0)
}

/// A shader from choices.
pub fn generate(choices: &mut Choices<'_>) -> Shader {
    let (block, grid) = (*choices.pick(&BLOCKS), [1 + choices.below(3) as u32, 1, 1]);
    let words = choices.words(INPUT);
    let (mut modes, mut any) = (String::new(), choices.one_in(2));
    for width in [16, 32, 64] {
        for pair in [["DenormPreserve", "DenormFlushToZero"], ["RoundingModeRTE", "RoundingModeRTZ"]] {
            if any && choices.one_in(2) {
                let _ = writeln!(modes, "OpExecutionMode %main {} {width}", choices.pick(&pair));
            }
        }
        if any && choices.one_in(2) {
            let _ = writeln!(modes, "OpExecutionMode %main SignedZeroInfNanPreserve {width}");
        }
        any |= choices.one_in(4);
    }
    if choices.one_in(8) {
        modes += "OpExecutionMode %main ContractionOff\n";
    }
    let has_opencl = choices.one_in(3);
    #[rustfmt::skip] // A list.
    let mut generator = Generator {
        choices, decorations: String::new(), constants: String::new(), body: String::new(), ids: 0, values: Vec::new(),
        block: "%start".to_owned(), left: 40, stored: 0, has_opencl,
    };
    while !generator.choices.is_empty() && generator.left > 0 {
        generator.statements(0);
    }
    for value in generator.values.clone() {
        generator.store(&value);
    }
    let threads = (block[0] * block[1] * block[2]) as usize;
    let text = generator.module(block, &modes);
    let buffers =
        [Buffer::from_words(words), Buffer::zeros(threads * grid[0] as usize * RECORD * 4), Buffer::zeros(64)];
    Shader { text, grid, block, args: buffers.map(Arg::Buffer).to_vec() }
}

impl Generator<'_, '_> {
    fn module(&self, [x, y, z]: [u32; 3], modes: &str) -> String {
        let mut text = String::new();
        for capability in [
            "Shader",
            "Float16",
            "Float64",
            "Int8",
            "Int16",
            "Int64",
            "FMAKHR",
            "DenormPreserve",
            "DenormFlushToZero",
            "SignedZeroInfNanPreserve",
            "RoundingModeRTE",
            "RoundingModeRTZ",
            "GroupNonUniform",
            "GroupNonUniformVote",
            "GroupNonUniformBallot",
            "GroupNonUniformShuffle",
            "GroupNonUniformShuffleRelative",
            "GroupNonUniformArithmetic",
        ] {
            let _ = writeln!(text, "OpCapability {capability}");
        }
        text += "OpExtension \"SPV_KHR_fma\"\nOpExtension \"SPV_KHR_float_controls\"\n";
        text += "%glsl = OpExtInstImport \"GLSL.std.450\"\n";
        if self.has_opencl {
            text += "%opencl = OpExtInstImport \"OpenCL.std\"\n";
        }
        text += "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %gid %lid\n";
        let _ = writeln!(text, "OpExecutionMode %main LocalSize {x} {y} {z}\n{modes}");
        text += "OpDecorate %gid BuiltIn WorkgroupId\nOpDecorate %lid BuiltIn LocalInvocationIndex\n";
        for (binding, name) in ["input", "out", "slots"].into_iter().enumerate() {
            let _ = writeln!(text, "OpDecorate %{name} DescriptorSet 0\nOpDecorate %{name} Binding {binding}");
        }
        text += "OpDecorate %words ArrayStride 4\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block\n";
        text += &self.decorations;
        text += "%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%bool = OpTypeBool\n";
        for (name, bits) in [("half", 16), ("float", 32), ("double", 64)] {
            let _ = writeln!(text, "%{name} = OpTypeFloat {bits}");
        }
        for (unsigned, signed, bits) in
            [("uchar", "char", 8), ("ushort", "short", 16), ("uint", "int", 32), ("ulong", "long", 64)]
        {
            let _ = writeln!(text, "%{unsigned} = OpTypeInt {bits} 0\n%{signed} = OpTypeInt {bits} 1");
        }
        for ty in TYPES.iter().filter(|ty| ty.count > 1) {
            let kind = if ty.class == 'm' { "Matrix" } else { "Vector" };
            let _ = writeln!(text, "%{} = OpType{kind} %{} {}", ty.name, ty.scalar, ty.count);
        }
        text += "%v3uint = OpTypeVector %uint 3\n";
        for number in (0..=RECORD).filter(|number| *number < 4 || self.body.contains(&format!("%c{number}"))) {
            let _ = writeln!(text, "%c{number} = OpConstant %uint {number}");
        }
        let _ = writeln!(text, "%stride = OpConstant %uint {RECORD}");
        let _ = writeln!(text, "%mask = OpConstant %uint {}\n%semantics = OpConstant %uint 264", INPUT - 1);
        let _ = writeln!(text, "%threads = OpConstant %uint {}\n%cells = OpTypeArray %uint %threads", x * y * z);
        text += "%pair = OpTypeStruct %uint %uint\n%pairi = OpTypeStruct %int %int\n";
        text += "%mod = OpTypeStruct %float %float\n%exp = OpTypeStruct %float %int\n";
        text += "%words = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %words\n";
        text += "%in3 = OpTypePointer Input %v3uint\n%in1 = OpTypePointer Input %uint\n";
        text += "%to_block = OpTypePointer StorageBuffer %block\n%to_word = OpTypePointer StorageBuffer %uint\n";
        text += "%to_cells = OpTypePointer Workgroup %cells\n%to_cell = OpTypePointer Workgroup %uint\n";
        for ty in ["float", "uint", "v2float", "double"] {
            let _ = writeln!(text, "%local_{ty} = OpTypePointer Function %{ty}");
        }
        text +=
            "%helps = OpTypeFunction %float %float %uint\n%gid = OpVariable %in3 Input\n%lid = OpVariable %in1 Input\n";
        text += "%input = OpVariable %to_block StorageBuffer\n%out = OpVariable %to_block StorageBuffer\n";
        text += "%slots = OpVariable %to_block StorageBuffer\n%shared = OpVariable %to_cells Workgroup\n";
        text += &self.constants;
        text += "%main = OpFunction %void None %procedure\n%start = OpLabel\n";
        text += "%vfloat = OpVariable %local_float Function\n%vuint = OpVariable %local_uint Function\n";
        text += "%vv2float = OpVariable %local_v2float Function\n%vdouble = OpVariable %local_double Function\n";
        for loops in 0..6 {
            let _ = writeln!(text, "%turns{loops} = OpVariable %local_uint Function");
        }
        text +=
            "%groups = OpLoad %v3uint %gid\n%group = OpCompositeExtract %uint %groups 0\n%lane = OpLoad %uint %lid\n";
        text += "%before = OpIMul %uint %group %threads\n%thread = OpIAdd %uint %before %lane\n";
        let _ = writeln!(text, "%record = OpIMul %uint %thread %stride\n%fthread = OpConvertUToF %float %thread");
        text += "OpStore %vfloat %fthread\nOpStore %vuint %thread\n%two = OpCompositeConstruct %v2float %fthread %fthread\n";
        text += "OpStore %vv2float %two\n%dthread = OpFConvert %double %fthread\nOpStore %vdouble %dthread\n";
        // A buffer that nothing touches is no parameter.
        for (name, index) in [("input", "%c0"), ("slots", "%c3")] {
            let _ = writeln!(
                text,
                "%{name}_at = OpAccessChain %to_word %{name} %c0 {index}\n%{name}_word = OpLoad %uint %{name}_at"
            );
            let _ =
                writeln!(text, "%{name}_to = OpAccessChain %to_word %out %c0 %record\nOpStore %{name}_to %{name}_word");
        }
        text += &self.body;
        text += "OpReturn\nOpFunctionEnd\n";
        text += "%helper = OpFunction %float None %helps\n%ha = OpFunctionParameter %float\n%hb = OpFunctionParameter %uint\n";
        text += "%h0 = OpLabel\n%hc = OpBitcast %float %hb\n%hd = OpFMul %float %ha %hc\n%he = OpFOrdLessThan %bool %ha %hc\n";
        text += "OpSelectionMerge %h2 None\nOpBranchConditional %he %h1 %h2\n%h1 = OpLabel\nOpReturnValue %hd\n";
        text + "%h2 = OpLabel\n%hf = OpFAdd %float %hd %ha\nOpReturnValue %hf\nOpFunctionEnd\n"
    }

    fn id(&mut self) -> String {
        self.ids += 1;
        format!("%n{}", self.ids)
    }

    /// An instruction with a result that is seen from here on.
    fn define(&mut self, ty: usize, text: &str) -> String {
        let id = self.id();
        let (op, operands) = text.split_once(' ').unwrap_or((text, ""));
        let _ = writeln!(self.body, "{id} = {op} %{} {operands}", TYPES[ty].name);
        self.values.push((id.clone(), ty));
        id
    }

    /// One whose result is of a type by name, and that nothing else sees.
    fn hidden(&mut self, ty: &str, text: &str) -> String {
        let id = self.id();
        let (op, operands) = text.split_once(' ').unwrap_or((text, ""));
        let _ = writeln!(self.body, "{id} = {op} %{ty} {operands}");
        id
    }

    /// A word of the input: the invocation's neighbour's, seldom one anywhere or outside.
    fn word(&mut self) -> String {
        let offset = self.choices.below(16);
        let mut index = self.hidden("uint", &format!("OpIAdd %thread %c{offset}"));
        if self.choices.one_in(8) {
            let any = self.named("uint");
            index = self.hidden("uint", &format!("OpBitwiseAnd {any} %mask"));
        } else if self.choices.one_in(250) {
            index = self.hidden("uint", &format!("OpIMul {index} %threads"));
        }
        let at = self.hidden("to_word", &format!("OpAccessChain %input %c0 {index}"));
        self.hidden("uint", &format!("OpLoad {at}"))
    }

    /// A new value of a type, made of words of the input.
    fn fresh(&mut self, at: usize) -> String {
        let ty = &TYPES[at];
        if ty.class == 'm' || ty.count > 1 {
            let part = self::ty(ty.scalar);
            let parts: Vec<String> = (0..ty.count).map(|_| self.value(part)).collect();
            return self.define(at, &format!("OpCompositeConstruct {}", parts.join(" ")));
        }
        if ty.class == 'f' && self.choices.one_in(4) {
            let number = *self.choices.pick(&["0", "1", "-1.5", "0.5", "2", "-0", "0.000060975552", "65504", "3"]);
            let id = self.id();
            let _ = writeln!(self.constants, "{id} = OpConstant %{} {number}", ty.name);
            return id;
        }
        let word = self.word();
        match (ty.name, ty.bits) {
            ("uint", _) => {
                self.values.push((word.clone(), at));
                word
            }
            ("bool", _) => self.define(at, &format!("OpSGreaterThan {word} %c9")),
            (_, 32) => self.define(at, &format!("OpBitcast {word}")),
            (_, 64) => {
                let other = self.word();
                let both = self.hidden("v2uint", &format!("OpCompositeConstruct {word} {other}"));
                self.define(at, &format!("OpBitcast {both}"))
            }
            ("half", _) => {
                let small = self.hidden("ushort", &format!("OpUConvert {word}"));
                self.define(at, &format!("OpBitcast {small}"))
            }
            (name, _) if name.starts_with('u') => self.define(at, &format!("OpUConvert {word}")),
            _ => self.define(at, &format!("OpSConvert {word}")),
        }
    }

    /// One that is seen here, or a new one.
    fn value(&mut self, ty: usize) -> String {
        let seen: Vec<usize> = (0..self.values.len()).rev().filter(|at| self.values[*at].1 == ty).take(8).collect();
        if seen.is_empty() || self.choices.one_in(8) {
            return self.fresh(ty);
        }
        let at = *self.choices.pick(&seen);
        self.values[at].0.clone()
    }

    fn named(&mut self, name: &str) -> String {
        self.value(ty(name))
    }

    /// Every component to a word of the invocation's own.
    fn store(&mut self, (id, at): &Value) {
        let ty = &TYPES[*at];
        if ty.count > 1 {
            for part in 0..ty.count {
                let value = self.hidden(ty.scalar, &format!("OpCompositeExtract {id} {part}"));
                self.store(&(value, self::ty(ty.scalar)));
            }
            return;
        }
        let words = match (ty.name, ty.bits) {
            ("uint", _) => vec![id.clone()],
            ("bool", _) => vec![self.hidden("uint", &format!("OpSelect {id} %c1 %c0"))],
            (_, 32) => vec![self.hidden("uint", &format!("OpBitcast {id}"))],
            (_, 64) => {
                let both = self.hidden("v2uint", &format!("OpBitcast {id}"));
                [0, 1].map(|part| self.hidden("uint", &format!("OpCompositeExtract {both} {part}"))).to_vec()
            }
            ("half", _) => {
                let small = self.hidden("ushort", &format!("OpBitcast {id}"));
                vec![self.hidden("uint", &format!("OpUConvert {small}"))]
            }
            _ => vec![self.hidden("uint", &format!("OpUConvert {id}"))],
        };
        for word in words {
            let place = self.hidden("uint", &format!("OpIAdd %record %c{}", self.stored % RECORD));
            let at = self.hidden("to_word", &format!("OpAccessChain %out %c0 {place}"));
            let _ = writeln!(self.body, "OpStore {at} {word}");
            self.stored += 1;
        }
    }

    fn label(&mut self, id: &str) {
        let _ = writeln!(self.body, "{id} = OpLabel");
        self.block = id.to_owned();
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.choices.below(6) {
            if self.left == 0 || self.choices.is_empty() {
                return;
            }
            self.left -= 1;
            match self.choices.below(if depth < 3 { 26 } else { 19 }) {
                0..=8 => self.row(ROWS, ""),
                9..=12 => self.row(GLSL, "OpExtInst"),
                13 if self.has_opencl => self.row(OPENCL, "OpExtInst"),
                14 => self.special(),
                15 => self.variable(),
                16 => self.atomic(),
                17 | 18 => {
                    if let Some(value) = self.values.last().cloned() {
                        self.store(&value);
                    }
                }
                19 | 20 => self.selection(depth),
                21 => self.repeat(depth),
                22 => self.switch(depth),
                23 if depth == 0 => self.row(SUBGROUP, "subgroup"),
                24 if depth == 0 => self.exchange(),
                _ => self.row(ROWS, ""),
            }
        }
    }

    fn row(&mut self, rows: &'static [Row], how: &str) {
        let row = self.choices.pick(rows);
        let names: Vec<&str> = row.names.split(' ').collect();
        let name = *self.choices.pick(&names);
        let mut chosen = None;
        let mut choose = |generator: &mut Self, fits: &dyn Fn(&Ty) -> bool| {
            *chosen.get_or_insert_with(|| {
                let all: Vec<usize> = (0..TYPES.len()).filter(|at| fits(&TYPES[*at])).collect();
                *generator.choices.pick(&all)
            })
        };
        // A type that others are derived from comes first.
        let words: Vec<&str> = row.types.split(' ').collect();
        for word in &words {
            match *word {
                "f" => choose(self, &|ty| ty.class == 'f'),
                "i" => choose(self, &|ty| ty.class == 'i'),
                "b" => choose(self, &|ty| ty.class == 'b'),
                "v" => choose(self, &|ty| ty.class == 'f' && ty.count > 1),
                "x" => choose(self, &|ty| ty.class != 'm' && ty.count != 3),
                _ => 0,
            };
        }
        let base = &TYPES[chosen.unwrap_or(0)];
        let of = |word: &str| match word {
            "f" | "i" | "b" | "v" | "x" => chosen.unwrap_or(0),
            "s" => ty(base.scalar),
            "o" if base.count > 1 => ty(&format!("v{}bool", base.count)),
            "o" => ty("bool"),
            name => ty(name),
        };
        let mut operands = Vec::new();
        for word in &words[1..] {
            operands.push(match *word {
                "bit" => {
                    let index = self.named("uint");
                    self.hidden("uint", &format!("OpBitwiseAnd {index} %c1"))
                }
                "lane" if self.choices.one_in(2) => format!("%c{}", self.choices.below(16)),
                "lane" => self.named("uint"),
                "how" => (*self.choices.pick(&["Reduce", "InclusiveScan", "ExclusiveScan"])).to_owned(),
                word => self.value(of(word)),
            });
        }
        let set = if std::ptr::eq(rows, OPENCL) { "%opencl" } else { "%glsl" };
        let operands = operands.join(" ");
        let text = match how {
            "OpExtInst" => format!("OpExtInst {set} {name} {operands}"),
            "subgroup" => format!("{name} %c3 {operands}"),
            _ => format!("{name} {operands}"),
        };
        let id = self.define(of(words[0]), &text);
        if how != "subgroup" && self.choices.one_in(6) {
            let decoration = match name {
                "OpFConvert" | "OpConvertSToF" | "OpConvertUToF" => *self.choices.pick(&[
                    "FPRoundingMode RTE",
                    "FPRoundingMode RTZ",
                    "FPRoundingMode RTP",
                    "FPRoundingMode RTN",
                ]),
                _ => *self.choices.pick(&["NoContraction", "RelaxedPrecision", "NoContraction"]),
            };
            let _ = writeln!(self.decorations, "OpDecorate {id} {decoration}");
        }
    }

    /// Results of two parts, pieces of vectors, calls.
    fn special(&mut self) {
        match self.choices.below(7) {
            0 => {
                let (a, b) = (self.named("uint"), self.named("uint"));
                let op = *self.choices.pick(&["OpIAddCarry", "OpISubBorrow", "OpUMulExtended"]);
                let both = self.hidden("pair", &format!("{op} {a} {b}"));
                let part = self.choices.below(2);
                self.define(ty("uint"), &format!("OpCompositeExtract {both} {part}"));
            }
            1 => {
                let (a, b) = (self.named("int"), self.named("int"));
                let both = self.hidden("pairi", &format!("OpSMulExtended {a} {b}"));
                let part = self.choices.below(2);
                self.define(ty("int"), &format!("OpCompositeExtract {both} {part}"));
            }
            2 => {
                let a = self.named("float");
                let (name, of) = *self.choices.pick(&[("ModfStruct", "mod"), ("FrexpStruct", "exp")]);
                let both = self.hidden(of, &format!("OpExtInst %glsl {name} {a}"));
                self.define(ty("float"), &format!("OpCompositeExtract {both} 0"));
                if of == "exp" {
                    self.define(ty("int"), &format!("OpCompositeExtract {both} 1"));
                }
            }
            3 => {
                let (a, b) = (self.named("v2float"), self.named("v4float"));
                let [x, y, z] = [(); 3].map(|()| self.choices.below(6));
                self.define(ty("v3float"), &format!("OpVectorShuffle {a} {b} {x} {y} {z}"));
            }
            4 => {
                let (a, part) = (self.named("v4float"), self.choices.below(4));
                let inserted = self.named("float");
                self.define(ty("float"), &format!("OpCompositeExtract {a} {part}"));
                self.define(ty("v4float"), &format!("OpCompositeInsert {inserted} {a} {}", 3 - part));
            }
            5 => {
                let (m, row, column) = (self.named("m2"), self.choices.below(2), self.choices.below(2));
                self.define(ty("float"), &format!("OpCompositeExtract {m} {row} {column}"));
                self.define(ty("v2float"), &format!("OpCompositeExtract {m} {column}"));
            }
            _ => {
                let (a, b) = (self.named("float"), self.named("uint"));
                self.define(ty("float"), &format!("OpFunctionCall %helper {a} {b}"));
            }
        }
    }

    /// A variable of the function, read and written.
    fn variable(&mut self) {
        let name = *self.choices.pick(&["float", "uint", "v2float", "double"]);
        let value = self.named(name);
        self.define(ty(name), &format!("OpLoad %v{name}"));
        let _ = writeln!(self.body, "OpStore %v{name} {value}");
    }

    /// Each operation has a slot of its own, and what it gives back is not looked at.
    fn atomic(&mut self) {
        const ALL: [&str; 8] = ["IAdd", "SMin", "UMin", "SMax", "UMax", "And", "Or", "Xor"];
        let slot = 4 + self.choices.below(ALL.len());
        let value = self.named("uint");
        let at = self.hidden("to_word", &format!("OpAccessChain %slots %c0 %c{slot}"));
        self.hidden("uint", &format!("OpAtomic{} {at} %c1 %c0 {value}", ALL[slot - 4]));
    }

    /// Statements in a block of their own, which ends in a branch.
    fn arm(&mut self, label: &str, end: &str, depth: usize) -> (String, Option<Value>) {
        let seen = self.values.len();
        self.label(label);
        self.statements(depth + 1);
        let last = self.values.get(seen..).and_then(|new| new.last()).cloned();
        self.values.truncate(seen);
        let _ = writeln!(self.body, "OpBranch {end}");
        (self.block.clone(), last)
    }

    fn selection(&mut self, depth: usize) {
        let condition = self.named("bool");
        let [then, otherwise, end] = [(); 3].map(|()| self.id());
        let control = *self.choices.pick(&["None", "Flatten", "DontFlatten"]);
        let _ = writeln!(self.body, "OpSelectionMerge {end} {control}");
        let _ = writeln!(self.body, "OpBranchConditional {condition} {then} {otherwise}");
        let (one, value) = self.arm(&then, &end, depth);
        let seen = self.values.len();
        self.label(&otherwise);
        self.statements(depth + 1);
        let other = value.as_ref().map(|(_, ty)| self.value(*ty));
        self.values.truncate(seen);
        let _ = writeln!(self.body, "OpBranch {end}");
        let from = self.block.clone();
        self.label(&end);
        if let (Some((value, ty)), Some(other)) = (value, other) {
            self.define(ty, &format!("OpPhi {value} {one} {other} {from}"));
        }
    }

    /// A loop of one to four rounds.
    fn repeat(&mut self, depth: usize) {
        let rounds = self.named("uint");
        let rounds = self.hidden("uint", &format!("OpBitwiseAnd {rounds} %c3"));
        let turns = format!("%turns{depth}");
        let _ = writeln!(self.body, "OpStore {turns} {rounds}");
        let (start, seen) = (self.named("float"), self.values.len());
        let [head, body, next, end, sum, more] = [(); 6].map(|()| self.id());
        let _ = writeln!(self.body, "OpBranch {head}");
        let before = self.block.clone();
        self.label(&head);
        // The sum is of what the body leaves.
        let _ = writeln!(self.body, "{sum} = OpPhi %float {start} {before} {more} {next}");
        let _ = writeln!(self.body, "OpLoopMerge {end} {next} None\nOpBranch {body}");
        self.label(&body);
        self.values.push((sum.clone(), ty("float")));
        self.statements(depth + 1);
        if self.choices.one_in(3) {
            let (condition, on) = (self.named("bool"), self.id());
            let _ = writeln!(self.body, "OpBranchConditional {condition} {end} {on}");
            self.label(&on);
        }
        let added = self.named("float");
        let _ = writeln!(self.body, "OpBranch {next}");
        self.label(&next);
        let _ = writeln!(self.body, "{more} = OpFAdd %float {sum} {added}");
        let old = self.hidden("uint", &format!("OpLoad {turns}"));
        let new = self.hidden("uint", &format!("OpISub {old} %c1"));
        let _ = writeln!(self.body, "OpStore {turns} {new}");
        let again = self.hidden("bool", &format!("OpSGreaterThan {new} %c0"));
        let _ = writeln!(self.body, "OpBranchConditional {again} {head} {end}");
        self.values.truncate(seen);
        self.label(&end);
        self.values.push((sum, ty("float")));
    }

    fn switch(&mut self, depth: usize) {
        let value = self.named("uint");
        let index = self.hidden("uint", &format!("OpBitwiseAnd {value} %c3"));
        let [zero, one, rest, end] = [(); 4].map(|()| self.id());
        let _ = writeln!(self.body, "OpSelectionMerge {end} None\nOpSwitch {index} {rest} 0 {zero} 1 {one}");
        // The first falls through to the second, sometimes.
        let second = if self.choices.one_in(2) { &one } else { &end };
        self.arm(&zero, second, depth);
        self.arm(&one, &end, depth);
        self.arm(&rest, &end, depth);
        self.label(&end);
    }

    /// A word to another invocation of the workgroup.
    fn exchange(&mut self) {
        let value = self.named("uint");
        let at = self.hidden("to_cell", "OpAccessChain %shared %lane");
        let _ = writeln!(self.body, "OpStore {at} {value}\nOpControlBarrier %c2 %c2 %semantics");
        let next = self.hidden("uint", "OpIAdd %lane %c1");
        let next = self.hidden("uint", &format!("OpUMod {next} %threads"));
        let at = self.hidden("to_cell", &format!("OpAccessChain %shared {next}"));
        self.define(ty("uint"), &format!("OpLoad {at}"));
        self.body += "OpControlBarrier %c2 %c2 %semantics\n";
    }
}
