//! Are the bits determined by the module? An unmodified `mul` whose result an unmodified `add` or `sub` takes may be
//! fused with it by the assembler. Which ones it fuses is asked of the program that the module is lowered to
//! ([`roundonce_ir::candidates`]); here they get their names and places in the text. What the manual leaves to the machine
//! is asked of that program too: approximations, sums by atomics, sums of matrix multiply-adds.

use crate::ast::{Function, Instruction, Module, Operand, Span, Statement};
use crate::lower::lower_for_analysis;
use roundonce_arith::Format;
use roundonce_ir::{Candidate, Kernel, Op, Operand as Value, Position, Writes, candidates, unrolled_candidates};
use roundonce_isa::{Alternatives, Finding, Fix, LineIndex, Location, OpenChoice, SequenceOperand};
use std::collections::{BTreeMap, HashMap};

pub(super) const APPROXIMATED: &str = "PTX ISA, 9.7.3 floating point: .approx and .full have a maximum error";
pub(super) const ATOMICS: &str = "PTX ISA, atom and red: atomics of several threads have no order";
pub(super) const MATRICES: &str = "PTX ISA, mma: order, rounding and subnormals of the sums are unspecified";

/// A `mul` and an `add` or `sub` that may become one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contraction<'a> {
    /// The `mul`.
    pub product: Span,
    /// The `add` or `sub`.
    pub sum: Span,
    /// The register between them.
    pub register: &'a str,
    /// They are fused only where the assembler unrolls a loop.
    pub unrolled: bool,
    /// The two evaluations, and the edit that leaves only the one as written.
    pub open: Option<OpenChoice>,
    /// The instruction that demands to have them fused, where one has the same operands.
    pub fused: Option<String>,
}

impl Contraction<'_> {
    /// As a note at the sum; `lines` are those of the module's text.
    pub fn finding(&self, module: &Module, lines: &LineIndex<'_>) -> Finding {
        let text = module.text();
        let (line, _) = lines.line_column(self.product.start as usize);
        let words = |span: Span| span.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let [sum, product] = [self.sum, self.product].map(words);
        let pair = format!(
            "`{sum}` takes `{}` from `{product}` of line {line}, both without a rounding modifier",
            self.register
        );
        let fused = self.fused.as_ref().map_or("`fma.rn`".to_owned(), |fused| format!("`{fused}`"));
        let may = match self.unrolled {
            true => "where it unrolls the loop, the assembler may fuse them",
            false => "the assembler may fuse them",
        };
        Finding::note("PTX0050", self.sum.place(), format!("{pair}: {may}"))
            .rule("PTX ISA, add and sub: mul/add sequences with no rounding modifiers may be optimised")
            .help(format!("write `.rn` on one of them to forbid it, or {fused} to demand it"))
            .open(self.open.clone())
    }
}

/// Every unmodified `mul` and unmodified `add` or `sub` that the assembler fuses, in the order of the sums.
///
/// By which rules: [`roundonce_ir::candidates`], and [`roundonce_ir::unrolled_candidates`] for loops. A called function is looked at like any other, apart from its calls.
///
/// ```
/// let text = ".version 8.0\n.target sm_90\n.entry k (.param .u64 p) { .reg .f32 f<5>; .reg .u64 a; ld.param.u64 a, [p];\n\
///             mul.f32 f0, f1, f2; add.f32 f3, f0, f4; mul.rn.f32 f0, f1, f2; add.f32 f3, f0, f3;\n\
///             st.global.f32 [a], f3; ret; }";
/// let found = roundonce_ptx::contractions(&roundonce_ptx::parse(text).module);
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].register, "f0");
/// ```
pub fn contractions<'a>(module: &Module<'a>) -> Vec<Contraction<'a>> {
    contractions_of(module, &lower_for_analysis(module))
}

/// Every place where the bits are left open.
pub(super) fn open_places(module: &Module) -> Vec<Finding> {
    let functions = lower_for_analysis(module);
    let lines = LineIndex::new(module.text());
    let contractions = contractions_of(module, &functions);
    let contractions = contractions.iter().map(|contraction| contraction.finding(module, &lines));
    let left = functions.iter().flat_map(|(_, kernel)| left_to_the_machine(module, kernel));
    contractions.chain(left).collect()
}

/// What the manual leaves to the machine, whatever is fused: one finding an instruction.
fn left_to_the_machine(module: &Module, kernel: &Kernel) -> Vec<Finding> {
    let mut found = BTreeMap::new();
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        let (code, rule, what, help) = match &instruction.op {
            Op::Approximate { name, .. } => {
                let stem = name.split('.').next().unwrap_or_default();
                let help = match stem {
                    "div" | "rcp" | "sqrt" => format!("`{stem}.rn` is rounded once, to nearest even"),
                    _ => "PTX has no other: what must be the same everywhere is computed by multiply-adds".to_owned(),
                };
                (
                    "PTX0051",
                    APPROXIMATED,
                    "is approximated: the manual bounds its error, the machine has its bits",
                    help,
                )
            }
            op if op.is_unordered_sum() => {
                let help = "sum in an order that the text says, or sum integers".to_owned();
                (
                    "PTX0052",
                    ATOMICS,
                    "adds in the order in which threads come, and each order may round otherwise",
                    help,
                )
            }
            Op::MultiplyMatrices { multiply, .. } if multiply.dot.d != Format::F64 => {
                let help = "`fma` says every rounding; `run --arch` computes what one machine does".to_owned();
                let what = "sums products in an order and a precision that the manual leaves to the machine";
                ("PTX0053", MATRICES, what, help)
            }
            _ => continue,
        };
        let span = kernel.source_locs[instruction.loc as usize].span.clone();
        let Some(text) = module.text().get(span.clone()).filter(|text| !text.is_empty()) else { continue };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let location = Location::Span { start: span.start, end: span.end };
        found.entry(span.start).or_insert_with(|| {
            Finding::note(code, location, format!("`{}` {what}", words.trim_end_matches(';'))).rule(rule).help(help)
        });
    }
    found.into_values().collect()
}

fn contractions_of<'m, 'a>(module: &'m Module<'a>, functions: &[(&'m Function<'a>, Kernel)]) -> Vec<Contraction<'a>> {
    let mut found = Vec::new();
    for (function, kernel) in functions {
        let as_written = candidates(kernel);
        let unrolled = unrolled_candidates(kernel, &as_written).into_iter().map(|candidate| (candidate, true));
        let as_written = as_written.into_iter().filter(|candidate| candidate.fuses);
        let candidates = as_written.map(|candidate| (candidate, false)).chain(unrolled);
        let statements = function.body.iter().flatten();
        let instructions = statements.filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some((instruction.span.start as usize, instruction)),
            _ => None,
        });
        let pairs = Pairs { module, kernel, writes: Writes::of(kernel), instructions: instructions.collect() };
        found.extend(candidates.filter_map(|(candidate, unrolled)| pairs.contraction(&candidate, unrolled)));
    }
    found.sort_by_key(|contraction| (contraction.sum.start, contraction.product.start));
    found
}

/// A function's program and its text.
struct Pairs<'m, 'a> {
    module: &'m Module<'a>,
    kernel: &'m Kernel,
    writes: Writes,
    /// By their first byte.
    instructions: HashMap<usize, &'m Instruction<'a>>,
}

impl<'m, 'a> Pairs<'m, 'a> {
    fn written(&self, at: Position) -> Option<(&'m Instruction<'a>, &'m Op)> {
        let instruction = &self.kernel.blocks[at.block].instructions[at.index];
        let loc = &self.kernel.source_locs[instruction.loc as usize];
        Some((*self.instructions.get(&loc.span.start)?, &instruction.op))
    }

    fn contraction(&self, candidate: &Candidate, unrolled: bool) -> Option<Contraction<'a>> {
        let ((mul, _), (add, _)) = (self.written(candidate.product)?, self.written(candidate.sum)?);
        let operand = self.module.operands(add.operands).get(if candidate.first { 1 } else { 2 })?;
        let (open, fused) = self.open(candidate).map_or((None, None), |(open, fused)| (Some(open), fused));
        Some(Contraction { product: mul.span, sum: add.span, register: operand.name()?, unrolled, open, fused })
    }

    /// The two evaluations of a pair; and what it is as one instruction.
    fn open(&self, candidate: &Candidate) -> Option<(OpenChoice, Option<String>)> {
        let &Candidate { product, sum, first, negated, .. } = candidate;
        let ((mul, product_op), (add, sum_op)) = (self.written(product)?, self.written(sum)?);
        let Op::Float { operation: multiply, args: factors, .. } = product_op else { return None };
        let Op::Float { operation: of_sum, components, args: terms, .. } = sum_op else { return None };
        let (&[_, a, b], &[d, left, right]) = (self.module.operands(mul.operands), self.module.operands(add.operands))
        else {
            return None;
        };
        let is_steady = |value: Value| match value {
            Value::Reg(reg) => !self.writes.any(reg, product, sum),
            Value::Imm(_) => true,
        };
        let mut inputs = Vec::new();
        let mut term = |operand: Operand<'a>, value: Value, steady: bool| match value {
            Value::Reg(_) => {
                // What is written in between is another value at the sum.
                let prime = if steady { "" } else { "'" };
                // Of a packed value the witness is one component.
                let component = if *components > 1 { "[0]" } else { "" };
                let name = operand.span.of(self.module.text()).trim();
                SequenceOperand::named(format!("{name}{prime}{component}"), &mut inputs)
            }
            Value::Imm(bits) => SequenceOperand::Constant(bits & (u64::MAX >> (64 - of_sum.format.width()))),
        };
        let ends = [term(a, factors[0], true), term(b, factors[1], true)];
        let (addend, addend_value) = if first { (right, terms[1]) } else { (left, terms[0]) };
        let is_factor = factors[..2].contains(&addend_value);
        let addend_term = term(addend, addend_value, !is_factor || is_steady(addend_value));
        let mut signed = *of_sum;
        let sign = if first { &mut signed.negate_product } else { &mut signed.negate_addend };
        *sign ^= negated;
        let between = Alternatives::contraction(multiply, ends, &signed, addend_term, first)?;
        let opcode = self.module.span_of(add.opcode)?.end as usize;
        let edit = Fix { start: opcode, end: opcode, replacement: ".rn".to_owned() };
        let text = |operand: &Operand<'a>| operand.span.of(self.module.text()).trim().to_owned();
        let fma = || {
            let modifiers: String = self.module.modifiers(add.modifiers).concat();
            format!("fma.rn{modifiers} {}", [d, a, b, addend].each_ref().map(text).join(", "))
        };
        // Of a subtraction a term would have to change its sign.
        let steady = factors[..2].iter().all(|factor| is_steady(*factor));
        let fused = (add.opcode == "add" && !negated && steady).then(fma);
        let choice = OpenChoice { inputs, alternatives: between, edits: vec![edit], product: Some(mul.span.place()) };
        Some((choice, fused))
    }
}
