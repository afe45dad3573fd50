//! Are the bits determined by the module? An unmodified `mul` whose result an unmodified `add` or `sub` takes may be
//! fused with it by the assembler.

use super::family::is_member;
use crate::ast::{Instruction, Module, Operand, OperandKind, Span, Statement};
use crate::forms::FORMS;
use roundonce_arith::{Format, Kind};
use roundonce_isa::Finding;
use std::collections::HashMap;

/// A `mul` and an `add` or `sub` that may become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contraction<'a> {
    /// The `mul`.
    pub product: Span,
    /// The `add` or `sub`.
    pub sum: Span,
    /// The register between them.
    pub register: &'a str,
}

impl Contraction<'_> {
    /// As a note at the sum.
    pub fn finding(&self, module: &Module) -> Finding {
        let text = module.text();
        let (line, _) = roundonce_isa::line_column(text, self.product.start as usize);
        let words = |span: Span| span.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
        Finding::note(
            "PTX0050",
            self.sum.place(),
            format!(
                "`{}` takes `{}` from `{}` of line {line}, both without a rounding modifier: the assembler may fuse them",
                words(self.sum),
                self.register,
                words(self.product)
            ),
        )
        .rule("PTX ISA, add and sub: mul/add sequences with no rounding modifiers may be optimised")
        .help("write `.rn` on one of them to forbid it, or `fma.rn` to demand it")
    }
}

/// Every unmodified `mul` that feeds an unmodified `add` or `sub`, function by function, in the order of the sums.
///
/// A `mul` feeds what reads its result on some path: definitions are followed through branches, and a definition ends
/// where an unguarded instruction overwrites the register. What happens inside called functions is not followed.
///
/// ```
/// let text = ".version 8.0\n.target sm_90\n.entry k () { .reg .f32 f<5>;\n\
///             mul.f32 f0, f1, f2; add.f32 f3, f0, f4; mul.rn.f32 f0, f1, f2; add.f32 f3, f0, f4; ret; }";
/// let found = roundonce_ptx::contractions(&roundonce_ptx::parse(text).module);
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].register, "f0");
/// ```
pub fn contractions<'a>(module: &Module<'a>) -> Vec<Contraction<'a>> {
    let mut found = Vec::new();
    for function in module.functions() {
        if let Some(body) = &function.body {
            Flow::new(module, body).collect(&mut found);
        }
    }
    found
}

/// The kind and format of an instruction that the assembler may contract.
fn contractible(module: &Module, instruction: &Instruction) -> Option<(Kind, Format)> {
    if !is_member(instruction.opcode) {
        return None;
    }
    let modifiers = module.modifiers(instruction.modifiers);
    let matched = FORMS.iter().find_map(|form| form.matches(instruction.opcode, modifiers).ok())?;
    matched.recipe.contractible.then_some((matched.recipe.operation.kind, matched.recipe.operation.format))
}

/// The products that may be in each register at a point: by register, indices of instructions, sorted.
type Reaching<'a> = HashMap<&'a str, Vec<u32>>;

struct Flow<'m, 'a> {
    module: &'m Module<'a>,
    /// The function's instructions, and where each goes on.
    instructions: Vec<&'m Instruction<'a>>,
    next: Vec<Vec<usize>>,
    /// First instructions of basic blocks, sorted.
    leaders: Vec<usize>,
}

impl<'m, 'a> Flow<'m, 'a> {
    fn new(module: &'m Module<'a>, body: &'m [Statement<'a>]) -> Flow<'m, 'a> {
        let mut instructions = Vec::new();
        let mut labels: HashMap<&str, usize> = HashMap::new();
        let mut tables: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut last_label = "";
        for statement in body {
            match statement {
                Statement::Instruction(instruction) => instructions.push(instruction),
                Statement::Label(label) => {
                    labels.insert(label, instructions.len());
                    last_label = label;
                }
                Statement::Directive(directive) if directive.name == ".branchtargets" => {
                    let names = module.operands(directive.operands).iter().filter_map(Operand::name);
                    tables.insert(last_label, names.collect());
                }
                _ => {}
            }
        }
        let mut leaders: Vec<usize> = labels.values().copied().chain([0]).collect();
        let next = (0..instructions.len())
            .map(|index| {
                let instruction = instructions[index];
                let guarded = instruction.guard(module).is_some();
                let mut next = Vec::new();
                let names = module.operands(instruction.operands).iter().filter_map(Operand::name);
                let leaves = match instruction.opcode {
                    "bra" => {
                        next.extend(names.filter_map(|name| labels.get(name).copied()));
                        true
                    }
                    "brx" => {
                        let targets = names.filter_map(|name| tables.get(name)).flatten();
                        next.extend(targets.filter_map(|name| labels.get(name).copied()));
                        true
                    }
                    "ret" | "exit" | "trap" => true,
                    _ => false,
                };
                if leaves {
                    leaders.push(index + 1);
                }
                if !leaves || guarded {
                    next.push(index + 1);
                }
                next
            })
            .collect();
        leaders.sort_unstable();
        leaders.dedup();
        leaders.retain(|leader| *leader < instructions.len());
        Flow { module, instructions, next, leaders }
    }

    /// The registers that an instruction writes, where it is known: those of the first operand.
    fn written(&self, instruction: &Instruction<'a>) -> Vec<&'a str> {
        if matches!(instruction.opcode, "st" | "red" | "bra" | "brx" | "bar" | "barrier") {
            return Vec::new();
        }
        let mut names = Vec::new();
        if let Some(first) = self.module.operands(instruction.operands).first() {
            self.names(first, &mut names);
        }
        names
    }

    fn names(&self, operand: &Operand<'a>, names: &mut Vec<&'a str>) {
        match operand.kind {
            OperandKind::Name(name) => names.push(name),
            OperandKind::Vector(items) | OperandKind::Pair(items) | OperandKind::List(items) => {
                for item in self.module.operands(items) {
                    self.names(item, names);
                }
            }
            _ => {}
        }
    }

    /// Takes one instruction: what reaches it becomes what leaves it.
    fn step(&self, index: usize, reaching: &mut Reaching<'a>) {
        let instruction = self.instructions[index];
        let guarded = instruction.guard(self.module).is_some();
        let product = matches!(contractible(self.module, instruction), Some((Kind::Mul, _)));
        for name in self.written(instruction) {
            if !guarded {
                reaching.remove(name);
            }
            if product {
                let products = reaching.entry(name).or_default();
                if let Err(at) = products.binary_search(&(index as u32)) {
                    products.insert(at, index as u32);
                }
            }
        }
    }

    fn collect(&self, found: &mut Vec<Contraction<'a>>) {
        let products = self
            .instructions
            .iter()
            .any(|instruction| matches!(contractible(self.module, instruction), Some((Kind::Mul, _))));
        if !products {
            return;
        }
        let block_end = |leader: usize| {
            let at = self.leaders.partition_point(|other| *other <= leader);
            self.leaders.get(at).copied().unwrap_or(self.instructions.len())
        };
        let mut entering: HashMap<usize, Reaching<'a>> = HashMap::new();
        let mut waiting: Vec<usize> = self.leaders.clone();
        waiting.reverse();
        while let Some(leader) = waiting.pop() {
            let mut reaching = entering.entry(leader).or_default().clone();
            let end = block_end(leader);
            for index in leader..end {
                self.step(index, &mut reaching);
            }
            for &next in self.next.get(end.wrapping_sub(1)).into_iter().flatten() {
                if next < self.instructions.len() && merge(entering.entry(next).or_default(), &reaching) {
                    waiting.push(next);
                }
            }
        }
        for &leader in &self.leaders {
            let mut reaching = entering.remove(&leader).unwrap_or_default();
            for index in leader..block_end(leader) {
                self.sums(index, &reaching, found);
                self.step(index, &mut reaching);
            }
        }
    }

    fn sums(&self, index: usize, reaching: &Reaching<'a>, found: &mut Vec<Contraction<'a>>) {
        let instruction = self.instructions[index];
        let Some((Kind::Add, format)) = contractible(self.module, instruction) else { return };
        let sources = self.module.operands(instruction.operands).iter().skip(1);
        let mut seen: Vec<&str> = Vec::new();
        for name in sources.filter_map(Operand::name) {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            for &product in reaching.get(name).into_iter().flatten() {
                let mul = self.instructions[product as usize];
                if contractible(self.module, mul).is_some_and(|(_, of)| of == format) {
                    found.push(Contraction { product: mul.span, sum: instruction.span, register: name });
                }
            }
        }
    }
}

/// Adds what reaches along one edge to what is known, and says whether that was more.
fn merge<'a>(known: &mut Reaching<'a>, more: &Reaching<'a>) -> bool {
    let mut grew = false;
    for (name, products) in more {
        let all = known.entry(name).or_default();
        for product in products {
            if let Err(at) = all.binary_search(product) {
                all.insert(at, *product);
                grew = true;
            }
        }
    }
    grew
}
