//! Are the bits determined by the module? An unmodified `mul` whose result an unmodified `add` or `sub` takes may be
//! fused with it by the assembler.

use super::family::is_member;
use crate::ast::{Instruction, Module, Operand, OperandKind, Span, Statement};
use crate::forms::FORMS;
use crate::literal::evaluate;
use roundonce_arith::{ArithOp, Format};
use roundonce_isa::{Alternatives, Finding, Fix, OpenChoice, Recipe, SequenceOperand};
use std::collections::HashMap;

/// A `mul` and an `add` or `sub` that may become one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contraction<'a> {
    /// The `mul`.
    pub product: Span,
    /// The `add` or `sub`.
    pub sum: Span,
    /// The register between them.
    pub register: &'a str,
    /// The two evaluations, and the edit that leaves only the one as written. `None` where no fused instruction has
    /// the modifiers of both.
    pub open: Option<OpenChoice>,
    /// The instruction that demands to have them fused, where one has the same operands.
    pub fused: Option<String>,
}

impl Contraction<'_> {
    /// As a note at the sum.
    pub fn finding(&self, module: &Module) -> Finding {
        let text = module.text();
        let (line, _) = roundonce_isa::line_column(text, self.product.start as usize);
        let words = |span: Span| span.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let [sum, product] = [self.sum, self.product].map(words);
        let pair = format!(
            "`{sum}` takes `{}` from `{product}` of line {line}, both without a rounding modifier",
            self.register
        );
        let note = |message| {
            Finding::note("PTX0050", self.sum.place(), message)
                .rule("PTX ISA, add and sub: mul/add sequences with no rounding modifiers may be optimised")
        };
        if self.open.is_none() {
            return note(format!("{pair}; but no fused instruction has the modifiers of both"));
        }
        let fused = self.fused.as_ref().map_or("`fma.rn`".to_owned(), |fused| format!("`{fused}`"));
        note(format!("{pair}: the assembler may fuse them"))
            .help(format!("write `.rn` on one of them to forbid it, or {fused} to demand it"))
            .open(self.open.clone())
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

/// What an instruction computes that the assembler may contract.
fn contractible(module: &Module, instruction: &Instruction) -> Option<Recipe> {
    if !is_member(instruction.opcode) {
        return None;
    }
    let modifiers = module.modifiers(instruction.modifiers);
    let matched = FORMS.iter().find_map(|form| form.matches(instruction.opcode, modifiers).ok())?;
    Some(matched.recipe).filter(|recipe| recipe.contractible)
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
        let product = self.is_product(index);
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

    fn is_product(&self, index: usize) -> bool {
        contractible(self.module, self.instructions[index]).is_some_and(|recipe| recipe.operation.op == ArithOp::Mul)
    }

    fn collect(&self, found: &mut Vec<Contraction<'a>>) {
        if !(0..self.instructions.len()).any(|index| self.is_product(index)) {
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
        let sum = contractible(self.module, instruction).filter(|recipe| recipe.operation.op == ArithOp::Add);
        let Some(sum) = sum else { return };
        let sources = self.module.operands(instruction.operands).iter().skip(1);
        let mut seen: Vec<&str> = Vec::new();
        for (place, source) in sources.enumerate() {
            let Some(name) = source.name().filter(|name| !seen.contains(name)) else { continue };
            seen.push(name);
            for &product in reaching.get(name).into_iter().flatten() {
                let mul = self.instructions[product as usize];
                let fits = |of: &Recipe| of.operation.format == sum.operation.format && of.components == sum.components;
                let Some(recipe) = contractible(self.module, mul).filter(fits) else { continue };
                let pair = Pair { product: product as usize, recipe, sum: index, of: sum, first: place == 0 };
                let (open, fused) = self.open(&pair).map_or((None, None), |(open, fused)| (Some(open), fused));
                found.push(Contraction { product: mul.span, sum: instruction.span, register: name, open, fused });
            }
        }
    }

    /// The two evaluations of a pair; and what it is as one instruction.
    fn open(&self, pair: &Pair) -> Option<(OpenChoice, Option<String>)> {
        let [mul, add] = [pair.product, pair.sum].map(|index| self.instructions[index]);
        let [factors, terms] = [mul, add].map(|instruction| self.module.operands(instruction.operands));
        let (&[_, a, b], &[d, left, right]) = (factors, terms) else { return None };
        let (product, addend) = if pair.first { (left, right) } else { (right, left) };
        let steady = [a, b].map(|factor| factor.name().is_none_or(|name| self.is_steady(name, pair)));
        let mut inputs = Vec::new();
        let mut term = |operand: Operand<'a>, steady: bool| match operand.name() {
            Some(name) => {
                // What is written in between is another value at the sum.
                let prime = if steady { "" } else { "'" };
                // Of a packed value the witness is one component.
                let component = if pair.of.components > 1 { "[0]" } else { "" };
                Some(SequenceOperand::named(format!("{name}{prime}{component}"), &mut inputs))
            }
            None => {
                let ty = if pair.of.operation.format == Format::F64 { ".f64" } else { ".f32" };
                evaluate(self.module, &operand).ok()?.bits_as(ty).map(SequenceOperand::Constant)
            }
        };
        let factors = [term(a, true)?, term(b, true)?];
        let twice = addend.name() == product.name();
        let is_factor = |name| [a, b].iter().any(|factor| factor.name() == Some(name));
        let steady_addend = addend.name().is_none_or(|name| !is_factor(name) || self.is_steady(name, pair));
        let addend_term = if twice { SequenceOperand::Step(0) } else { term(addend, steady_addend)? };
        let between =
            Alternatives::contraction(&pair.recipe.operation, factors, &pair.of.operation, addend_term, pair.first)?;
        let opcode = self.module.span_of(add.opcode)?.end as usize;
        let edit = Fix { start: opcode, end: opcode, replacement: ".rn".to_owned() };
        let text = |operand: &Operand<'a>| operand.span.of(self.module.text()).trim().to_owned();
        let fma = || {
            let modifiers: String = self.module.modifiers(add.modifiers).concat();
            format!("fma.rn{modifiers} {}", [d, a, b, addend].each_ref().map(text).join(", "))
        };
        // Of a subtraction a term would have to change its sign.
        let fused = (add.opcode == "add" && steady == [true; 2] && !twice).then(fma);
        Some((OpenChoice { inputs, alternatives: between, edits: vec![edit] }, fused))
    }

    /// Whether a register has the same value at the sum as at the product: both in one block, nothing written between.
    fn is_steady(&self, name: &str, pair: &Pair) -> bool {
        let leader = |index: usize| self.leaders.partition_point(|leader| *leader <= index);
        pair.product < pair.sum
            && leader(pair.product) == leader(pair.sum)
            && !(pair.product..pair.sum).any(|index| self.written(self.instructions[index]).contains(&name))
    }
}

/// A product and the sum that takes it, as its `first` term or its second: indices of instructions, and what they compute.
struct Pair {
    product: usize,
    recipe: Recipe,
    sum: usize,
    of: Recipe,
    first: bool,
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
