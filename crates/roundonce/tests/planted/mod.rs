//! Kernels in a small language of the tests' own, written out as PTX, SPIR-V and SASS, and what a machine that does
//! something else than they say makes of them, by the exact-rational judge. Nothing here is shared with the product.
//!
//! A kernel is its statements, `;` between them: `OPERATION{.MODIFIER…} RESULT OPERAND…`, with `mul`, `add`, `sub` and
//! `fma` on the inputs `a`, `b`, `c`, `d` and on earlier results. What is called `y` or `z` is an output. In a loop, `a`
//! and `b` are read anew each time, and `acc`, which begins as `c`, is carried on and is the output `y`.

use std::collections::BTreeMap;

use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec};

/// Threads of a block, and of a grid.
pub(crate) const BLOCK: usize = 32;
pub(crate) const THREADS: usize = 96;
pub(crate) const INPUTS: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Ptx,
    Spirv,
    Sass,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Statement {
    operation: String,
    modifiers: Vec<String>,
    pub(crate) result: String,
    operands: Vec<String>,
    /// Where it stands in the text written out.
    pub(crate) line: u32,
}

/// A kernel written out.
pub(crate) struct Kernel {
    pub(crate) language: Language,
    pub(crate) layout: Layout,
    /// How often its statements are run.
    pub(crate) times: usize,
    pub(crate) statements: Vec<Statement>,
    pub(crate) text: String,
}

impl Statement {
    fn parse(text: &str) -> Statement {
        let mut words = text.split_whitespace().map(str::to_owned);
        let spelled = words.next().unwrap();
        let mut parts = spelled.split('.').map(str::to_owned);
        Statement {
            operation: parts.next().unwrap(),
            modifiers: parts.collect(),
            result: words.next().unwrap(),
            operands: words.collect(),
            line: 0,
        }
    }
    fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|it| it == modifier)
    }
    fn direction(&self) -> Option<Direction> {
        let known =
            [("rn", Direction::Nearest), ("rz", Direction::Zero), ("rm", Direction::Down), ("rp", Direction::Up)];
        known.into_iter().find(|(name, _)| self.has(name)).map(|(_, direction)| direction)
    }
    /// A sum or a product that a build which contracts may fuse.
    fn is_to_nearest(&self) -> bool {
        self.operation != "fma" && self.direction().is_none_or(|direction| direction == Direction::Nearest)
    }
    /// A sum or a product that a compiler may fuse.
    fn is_open(&self, language: Language) -> bool {
        let unmodified = match language {
            Language::Ptx => self.direction().is_none(),
            Language::Spirv => true,
            Language::Sass => false,
        };
        unmodified && self.operation != "fma"
    }
}

impl Kernel {
    pub(crate) fn new(language: Language, layout: Layout, times: usize, text: &str) -> Kernel {
        let statements = text.split(';').map(Statement::parse).collect();
        let mut kernel = Kernel { language, layout, times, statements, text: String::new() };
        match language {
            Language::Ptx => kernel.write_ptx(),
            Language::Spirv => kernel.write_spirv(),
            Language::Sass => kernel.write_sass(),
        }
        kernel
    }

    pub(crate) fn outputs(&self) -> Vec<&str> {
        let results = self.statements.iter().map(|statement| statement.result.as_str());
        let mut outputs: Vec<&str> = results.filter(|name| ["y", "z"].contains(name)).collect();
        if self.times > 1 {
            outputs.push("y");
        }
        outputs
    }

    pub(crate) fn line(&self, result: &str) -> u32 {
        self.statements.iter().find(|statement| statement.result == result).unwrap().line
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The statements, each on its line.
    fn push_statements(&mut self, written: impl Fn(&Statement) -> String) {
        for at in 0..self.statements.len() {
            self.push(&written(&self.statements[at]));
            self.statements[at].line = self.text.lines().count() as u32;
        }
    }

    fn write_ptx(&mut self) {
        let (ty, bytes) = if self.layout == Layout::F64 { ("f64", 8) } else { ("f32", 4) };
        let looped = self.times > 1;
        let results: Vec<String> = self.statements.iter().map(|statement| format!("%{}", statement.result)).collect();
        self.push(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(");
        self.push(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 y, .param .u64 z\n) {");
        self.push(&format!(".reg .{ty} %a, %b, %c, %d, {};", results.join(", ")));
        self.push(".reg .pred %q1;\n.reg .b32 %i, %n, %k, %lane;\n.reg .b64 %at, %base, %far;");
        self.push("mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %lane, %tid.x;\nmad.lo.u32 %i, %i, %n, %lane;");
        self.push(&format!("mul.wide.u32 %at, %i, {bytes};"));
        let load = |name: &str| {
            format!("ld.param.u64 %base, [{name}];\nadd.u64 %base, %base, %at;\nld.global.{ty} %{name}, [%base];")
        };
        for name in ["c", "d"] {
            self.push(&load(name));
        }
        if looped {
            self.push(&format!("mov.{ty} %acc, %c;\nmov.u32 %k, 0;\nLOOP:"));
        }
        for name in ["a", "b"] {
            self.push(&load(name));
        }
        self.push_statements(|statement| {
            let mut modifiers: Vec<&str> = statement.modifiers.iter().map(String::as_str).collect();
            if statement.operation == "fma" && statement.direction().is_none() {
                modifiers.insert(0, "rn");
            }
            let operands: Vec<String> = statement.operands.iter().map(|name| format!("%{name}")).collect();
            let spelled = [vec![statement.operation.as_str()], modifiers, vec![ty]].concat().join(".");
            format!("{spelled} %{}, {};", statement.result, operands.join(", "))
        });
        if looped {
            let step = THREADS * bytes;
            self.push(&format!("add.u64 %at, %at, {step};\nadd.u32 %k, %k, 1;"));
            self.push(&format!("setp.lt.u32 %q1, %k, {};\n@%q1 bra LOOP;", self.times));
            self.push(&format!("sub.u64 %at, %at, {};", step * self.times));
        }
        let outputs: Vec<String> = self.outputs().into_iter().map(str::to_owned).collect();
        for name in outputs {
            let value = if looped { "acc" } else { &name };
            let store = format!("st.global.{ty} [%far], %{value};");
            self.push(&format!("ld.param.u64 %base, [{name}];\nadd.u64 %far, %base, %at;\n{store}"));
        }
        self.push("ret;\n}");
    }

    fn write_spirv(&mut self) {
        let buffers: Vec<&str> = INPUTS.into_iter().chain(["y", "z"]).collect();
        self.push(
            "OpCapability Shader\nOpCapability FMAKHR\nOpExtension \"SPV_KHR_fma\"\nOpMemoryModel Logical GLSL450",
        );
        self.push("OpEntryPoint GLCompute %main \"main\" %id\nOpExecutionMode %main LocalSize 32 1 1");
        self.push("OpDecorate %id BuiltIn GlobalInvocationId\nOpDecorate %floats ArrayStride 4");
        self.push("OpMemberDecorate %block 0 Offset 0\nOpDecorate %block BufferBlock");
        for (binding, name) in buffers.iter().enumerate() {
            self.push(&format!("OpDecorate %{name}s DescriptorSet 0\nOpDecorate %{name}s Binding {binding}"));
        }
        self.push("%void = OpTypeVoid\n%procedure = OpTypeFunction %void\n%float = OpTypeFloat 32");
        self.push("%uint = OpTypeInt 32 0\n%uint3 = OpTypeVector %uint 3\n%floats = OpTypeRuntimeArray %float");
        self.push("%block = OpTypeStruct %floats\n%in = OpTypePointer Input %uint3");
        self.push("%to_block = OpTypePointer Uniform %block\n%to_float = OpTypePointer Uniform %float");
        self.push("%first = OpConstant %uint 0\n%id = OpVariable %in Input");
        for name in &buffers {
            self.push(&format!("%{name}s = OpVariable %to_block Uniform"));
        }
        self.push("%main = OpFunction %void None %procedure\n%start = OpLabel\n%ids = OpLoad %uint3 %id");
        self.push("%i = OpCompositeExtract %uint %ids 0");
        for name in INPUTS {
            self.push(&format!(
                "%{name}_at = OpAccessChain %to_float %{name}s %first %i\n%{name} = OpLoad %float %{name}_at"
            ));
        }
        self.push_statements(|statement| {
            let operation = match statement.operation.as_str() {
                "mul" => "OpFMul",
                "add" => "OpFAdd",
                "sub" => "OpFSub",
                _ => "OpFmaKHR",
            };
            let operands: Vec<String> = statement.operands.iter().map(|name| format!("%{name}")).collect();
            format!("%{} = {operation} %float {}", statement.result, operands.join(" "))
        });
        let outputs: Vec<String> = self.outputs().into_iter().map(str::to_owned).collect();
        for name in outputs {
            self.push(&format!("%{name}_at = OpAccessChain %to_float %{name}s %first %i\nOpStore %{name}_at %{name}"));
        }
        self.push("OpReturn\nOpFunctionEnd");
    }

    fn write_sass(&mut self) {
        let names: Vec<String> = self.statements.iter().map(|statement| statement.result.clone()).collect();
        let register = |name: &str| {
            let input = INPUTS.iter().position(|it| *it == name);
            let at = input.or_else(|| names.iter().position(|it| it == name).map(|at| INPUTS.len() + at));
            format!("R{}", at.unwrap())
        };
        self.push_statements(|statement| {
            let operation = match statement.operation.as_str() {
                "mul" => "FMUL",
                "add" => "FADD",
                _ => "FFMA",
            };
            let modifiers: String = statement.modifiers.iter().map(|it| format!(".{}", it.to_uppercase())).collect();
            let operands: Vec<String> = statement.operands.iter().map(|name| register(name)).collect();
            format!("{operation}{modifiers} {}, {};", register(&statement.result), operands.join(", "))
        });
    }

    /// Where a listing leaves a result.
    pub(crate) fn sass_register(&self, result: &str) -> String {
        let at = self.statements.iter().position(|statement| statement.result == result).unwrap();
        format!("R{}", INPUTS.len() + at)
    }
}

/// What the machine does beside what the kernel says: `fuse p y`, `fuse-all`, `fuse-apart`, `split s`, `split-all`, `flush`,
/// `keep`, `fmz`, `no fmz`, `rz` (without a modifier), `all rz`; ` + ` between two.
pub(crate) struct Machine<'a> {
    pub(crate) plants: Vec<&'a str>,
    kernel: &'a Kernel,
    /// By sum, the product that it takes in.
    fused: BTreeMap<String, String>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(kernel: &'a Kernel, plants: &'a str) -> Machine<'a> {
        let plants: Vec<&str> = plants.split(" + ").filter(|plant| !plant.is_empty()).collect();
        let mut fused = BTreeMap::new();
        let apart = plants.contains(&"fuse-apart");
        let is_open = |it: &Statement| it.is_open(kernel.language) || apart && it.is_to_nearest();
        for product in kernel.statements.iter().filter(|it| it.operation == "mul" && is_open(it)) {
            let users: Vec<&Statement> =
                kernel.statements.iter().filter(|user| user.operands.contains(&product.result)).collect();
            let takes = |user: &&&Statement| user.operation != "mul" && is_open(user);
            // A product that anything but a sum uses is fused nowhere.
            let all = (apart || plants.contains(&"fuse-all")) && users.iter().all(|user| takes(&user));
            for sum in users.iter().filter(takes) {
                let named = plants.contains(&format!("fuse {} {}", product.result, sum.result).as_str());
                if named || all {
                    fused.entry(sum.result.clone()).or_insert_with(|| product.result.clone());
                }
            }
        }
        Machine { plants, kernel, fused }
    }

    fn does(&self, plant: &str) -> bool {
        self.plants.contains(&plant)
    }

    fn spec(&self, statement: &Statement, shape: Shape) -> Spec {
        let mut direction = statement.direction().unwrap_or(Direction::Nearest);
        let directions = [("rz", Direction::Zero), ("rm", Direction::Down), ("rp", Direction::Up)];
        for (name, other) in directions {
            let open = self.does(name) && statement.is_open(self.kernel.language);
            let nearest = self.does(&format!("all {name}")) && direction == Direction::Nearest;
            if open || nearest {
                direction = other;
            }
        }
        let product = shape != Shape::Add;
        let fmz = statement.has("fmz");
        let flush = (statement.has("ftz") || fmz || self.does("flush")) && !self.does("keep");
        Spec {
            flush: (flush || self.does("fmz") && statement.operation != "add").then_some(FlushRule::Rounded),
            fmz: product && (fmz || self.does("fmz")) && !self.does("no fmz"),
            ..Spec::new(shape, self.kernel.layout, direction)
        }
    }

    /// Every result of a thread, given what its inputs are each time round.
    pub(crate) fn results(&self, inputs: &[[u64; 4]]) -> BTreeMap<String, u64> {
        let mut values: BTreeMap<String, u64> = BTreeMap::from([("acc".to_owned(), inputs[0][2])]);
        for inputs in inputs {
            values.extend(INPUTS.iter().zip(inputs).map(|(name, &bits)| ((*name).to_owned(), bits)));
            for statement in &self.kernel.statements {
                let bits = self.result(statement, &values);
                values.insert(statement.result.clone(), bits);
            }
        }
        if inputs.len() > 1 {
            values.insert("y".to_owned(), values["acc"]);
        }
        values
    }

    fn result(&self, statement: &Statement, values: &BTreeMap<String, u64>) -> u64 {
        let value = |at: usize| values[&statement.operands[at]];
        if statement.operation == "mul" {
            return judge(&self.spec(statement, Shape::Mul), [value(0), value(1), 0]).bits;
        }
        if statement.operation == "fma" {
            let split = self.does("split-all") || self.does(&format!("split {}", statement.result));
            if !split {
                return judge(&self.spec(statement, Shape::MulAdd), [value(0), value(1), value(2)]).bits;
            }
            let product = judge(&self.spec(statement, Shape::Mul), [value(0), value(1), 0]).bits;
            return judge(&self.spec(statement, Shape::Add), [product, 0, value(2)]).bits;
        }
        let subtracts = statement.operation == "sub";
        let Some(product) = self.fused.get(&statement.result) else {
            let spec = Spec { negate_c: subtracts, ..self.spec(statement, Shape::Add) };
            return judge(&spec, [value(0), 0, value(1)]).bits;
        };
        let factors = self.kernel.statements.iter().find(|it| it.result == *product).unwrap();
        let [a, b] = [0, 1].map(|at| values[&factors.operands[at]]);
        let first = statement.operands[0] == *product;
        let addend = value(usize::from(first));
        let (negate_a, negate_c) = (subtracts && !first, subtracts && first);
        judge(&Spec { negate_a, negate_c, ..self.spec(statement, Shape::MulAdd) }, [a, b, addend]).bits
    }
}

/// Inputs of every kind for a thread: ordinary ones mostly, then such that products or sums are subnormal, then
/// subnormal ones, then zeros and infinities.
pub(crate) fn inputs(layout: Layout, thread: usize, time: usize) -> [u64; 4] {
    let mut state = (thread * 1_000 + time + 1) as u64 * 0x9e37_79b9;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let one = layout.one() >> layout.frac_bits;
    let mut number = |exponent: u64| {
        let bits = next();
        let fraction = (bits >> 5) & (layout.smallest_normal() - 1);
        ((bits >> 63) * layout.sign()) | (exponent << layout.frac_bits) | fraction
    };
    match thread {
        0..60 => [0, 1, 2, 3].map(|at| number(one - (at + thread as u64) % 2)),
        60..78 => [one - 100, one - 26, 1 + thread as u64 % 2, one].map(&mut number),
        78..82 => [one, thread as u64 % 2, 0, one - 1].map(&mut number),
        82..86 => [0, 1, 0, one].map(&mut number),
        86..90 => [0, one, 0, one].map(&mut number),
        _ => {
            let special = [0, layout.infinity(), layout.sign(), layout.infinity() | layout.sign()];
            [special[thread % 2 * 2], [number(one), special[thread % 4]][thread % 3 % 2], layout.sign(), number(one)]
        }
    }
}
