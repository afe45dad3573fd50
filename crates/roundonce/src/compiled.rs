//! What an assembler made of the products that PTX leaves open: machine code laid beside the kernel.
//!
//! PTX lets an assembler fuse a product and a sum or keep them apart. A cubin that was made with `-lineinfo` says which
//! line of the PTX each of its instructions comes from: a multiply-add at a sum's line is fused, an addition is not.

mod shape;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use roundonce_arith::{ArithOp, Format};
use roundonce_ir::{Candidate, Kernel, Op, Position, SourceLoc, candidates, fuse, unrolled_candidates};
use roundonce_isa::{Finding, LineIndex, Location};
use roundonce_sass::{CompiledKernel, CompiledModule, CompiledOperation, CompiledSource};
use serde::Serialize;

use crate::kernel::{Choice, Ready, Source};
use crate::ptx;
use shape::{MAX_COMPARISONS, Shapes};

/// What became of a product and a sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Made {
    /// One multiply-add, which rounds once.
    Fused,
    /// A product and a sum.
    Apart,
    /// Of several copies of the code some are fused and some are not.
    Both,
    /// The sum is fused with one of several products; which one is not clear.
    Unclear,
    /// The machine code has no such sum.
    Gone,
}

impl Made {
    /// As the predicate of a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Made::Fused => "fused",
            Made::Apart => "kept apart",
            Made::Both => "fused in some copies of the code and kept apart in others",
            Made::Unclear => "fused with one of several products: with which one is not clear",
            Made::Gone => "not found",
        }
    }
}

/// A product and a sum that PTX leaves open, and what machine code made of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CompiledPair {
    /// The line of the product.
    pub product: u32,
    /// The line of the sum.
    pub sum: u32,
    /// They stand in different iterations of a loop.
    pub unrolled: bool,
    /// What became of them.
    pub made: Made,
    /// Where: the kernel of the cubin, and bytes from its start.
    pub at: Vec<(String, u64)>,
    /// The sum's bytes in the PTX.
    #[serde(skip)]
    pub span: Range<usize>,
}

impl CompiledPair {
    /// `0x50 of `k``
    pub fn place(&self) -> String {
        let mut kernels: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (kernel, address) in &self.at {
            kernels.entry(kernel).or_default().push(format!("{address:#06x}"));
        }
        let kernels = kernels.into_iter().map(|(kernel, at)| format!("{} of `{kernel}`", at.join(", ")));
        kernels.collect::<Vec<_>>().join("; ")
    }
}

/// A kernel beside the machine code of its cubin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The number of the target: 90 of sm_90.
    pub target: u32,
    /// The cubin says which line its instructions come from. Otherwise they are found by what they compute, and what looks
    /// alike counts as copies of one.
    pub by_lines: bool,
    /// Every product with every sum that may take it, by the lines of the sums.
    pub pairs: Vec<CompiledPair>,
    /// What of them is fused in the kernel as written.
    fused: Vec<Candidate>,
    /// The lines of sums that are fused with a product of another iteration.
    carried: BTreeSet<u32>,
}

/// A place of machine code that is a sum: which of its products it takes, `Some(None)` if none, `None` if that is not clear;
/// the kernel and the address.
type Place = (Option<Option<usize>>, (String, u64));

/// A sum that is left open, and the products that it may take.
struct OpenSum<'k> {
    kernel: &'k Kernel,
    position: Position,
    line: u32,
    products: Vec<(Candidate, bool)>,
}

impl Compiled {
    /// Lays a kernel of PTX beside the machine code made of its module.
    ///
    /// # Errors
    /// If the cubin has no such kernel, does not say which line its instructions come from, or was made of other PTX.
    pub fn of(kernel: &Kernel, module: &CompiledModule) -> Result<Compiled, String> {
        let own = module.kernels.iter().position(|section| section.name == kernel.name).ok_or_else(|| {
            let names: Vec<&str> = module.kernels.iter().map(|section| section.name.as_str()).collect();
            format!("the cubin has no kernel `{}`: it has {}", kernel.name, names.join(", "))
        })?;
        let mut compiled = Compiled {
            target: module.target,
            by_lines: true,
            pairs: Vec::new(),
            fused: Vec::new(),
            carried: BTreeSet::new(),
        };
        let sums = open_sums(kernel);
        if module.kernels.iter().all(|section| !section.has_lines()) {
            let section = &module.kernels[own];
            let shapes = Shapes::of(kernel);
            let few = sums.len().saturating_mul(section.operations.len()) <= MAX_COMPARISONS;
            let Some(claims) = shapes.claims(section).filter(|_| few) else {
                return Err(
                    "the code is too much to be searched, and the cubin does not say which line of the PTX its \
                     instructions come from: make it with `ptxas -lineinfo`, or `nvcc -lineinfo`"
                        .to_owned(),
                );
            };
            compiled.by_lines = false;
            for sum in sums {
                let candidates: Vec<&Candidate> =
                    sum.products.iter().filter(|(_, unrolled)| !unrolled).map(|(candidate, _)| candidate).collect();
                let places = shapes.places(&candidates, sum.format(), (section, &claims)).into_iter();
                let places = places.map(|(product, address)| (product, (section.name.clone(), address)));
                compiled.sum(&sum, &places.collect::<Vec<_>>());
            }
            return Ok(compiled.in_order());
        }
        // What is not in the kernel may be in a function of its own.
        let (first, second) = module.kernels.split_at(own);
        let others: Vec<&CompiledKernel> = first.iter().chain(&second[1..]).collect();
        for sum in sums {
            sum.is_of(&module.ptx)?;
            let here = [&second[0]];
            let sections = if sum.operations(&here).next().is_some() { &here[..] } else { &others };
            // Of each place what it takes: a product, none (`Some(None)`), or one of several.
            let takes = |(section, operation): (&CompiledKernel, &CompiledOperation)| {
                let product = match operation.op {
                    ArithOp::MulAdd => sum.taken(section, operation).map(Some),
                    _ => Some(None),
                };
                (product, (section.name.clone(), operation.address))
            };
            let places: Vec<_> = sum.operations(sections).map(takes).collect();
            compiled.sum(&sum, &places);
        }
        Ok(compiled.in_order())
    }

    fn in_order(mut self) -> Compiled {
        self.pairs.sort_by_key(|pair| (pair.sum, pair.product, pair.unrolled));
        self.pairs.dedup();
        self
    }

    fn sum(&mut self, sum: &OpenSum<'_>, places: &[Place]) {
        for (index, (candidate, unrolled)) in sum.products.iter().enumerate() {
            let own = Some(Some(index));
            let count = |wanted| places.iter().filter(|(product, _)| *product == wanted).count();
            let made = match (count(own), count(None), places.len()) {
                (_, _, 0) => Made::Gone,
                (some, _, all) if some == all => Made::Fused,
                (0, 0, _) => Made::Apart,
                (_, 0, _) => Made::Both,
                _ => Made::Unclear,
            };
            let at = places.iter().filter(|(product, _)| *product == own || made != Made::Both);
            let at: Vec<(String, u64)> = at.map(|(_, at)| at.clone()).collect();
            if made == Made::Fused && !unrolled {
                self.fused.push(*candidate);
            }
            if *unrolled && count(own) > 0 {
                self.carried.insert(sum.line);
            }
            let product = line_of(sum.kernel, candidate.product);
            let span = source_loc(sum.kernel, sum.position).span.clone();
            self.pairs.push(CompiledPair { product, sum: sum.line, unrolled: *unrolled, made, at, span });
        }
    }

    /// The lines of the sums that are fused, in order.
    pub fn fused_lines(&self) -> Vec<u32> {
        let fused = self.pairs.iter().filter(|pair| pair.made == Made::Fused && !pair.unrolled);
        fused.map(|pair| pair.sum).collect()
    }

    /// The kernel with what the machine code fused.
    ///
    /// # Errors
    /// Where the machine code does what no rewriting of the kernel as written does: the line, and why.
    pub fn contracted(&self, kernel: &Kernel) -> Result<Kernel, String> {
        let not = |line: u32, what: &str| Err(format!("the sum of line {line} is {what}"));
        if let Some(line) = self.carried.first() {
            return not(*line, "fused with a product of another iteration of its loop");
        }
        let unclear =
            |pair: &&CompiledPair| !pair.unrolled && matches!(pair.made, Made::Both | Made::Unclear | Made::Gone);
        if let Some(pair) = self.pairs.iter().find(unclear) {
            return not(pair.sum, pair.made.text());
        }
        let mut contracted = kernel.clone();
        fuse(&mut contracted, &self.fused);
        // Nothing is left open.
        for instruction in contracted.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
            if let Op::Float { contractible, .. } = &mut instruction.op {
                *contractible = false;
            }
        }
        Ok(contracted)
    }
}

/// Adds to the findings of `check` on what PTX leaves open what the machine code of a cubin has, and findings on what is
/// fused there unexpectedly. `name` is the cubin's.
///
/// # Errors
/// As [`Compiled::of`], and if the PTX has no kernel that can be read.
pub fn tell(text: &str, name: &str, module: &CompiledModule, findings: &mut Vec<Finding>) -> Result<(), String> {
    let each = Ready::read_each(Source::Ptx(text), &Choice::default());
    let each = each.map_err(|_| "the PTX cannot be read".to_owned())?;
    let kernels = each.iter().filter_map(|(_, ready)| ready.as_ref().ok()).map(Ready::kernel);
    let mut pairs: BTreeMap<(u32, u32, bool), Vec<CompiledPair>> = BTreeMap::new();
    for kernel in kernels.filter(|kernel| module.kernels.iter().any(|section| section.name == kernel.name)) {
        for pair in Compiled::of(kernel, module)?.pairs {
            pairs.entry((pair.product, pair.sum, pair.unrolled)).or_default().push(pair);
        }
    }
    let lines = LineIndex::new(text);
    let line = |at: usize| lines.line_column(at).0 as u32;
    let mut expected: HashMap<(usize, String), (u32, u32, bool)> = HashMap::new();
    let parsed = ptx::parse(text).module;
    for contraction in ptx::contractions(&parsed) {
        let [product, sum] = [contraction.product.start, contraction.sum.start].map(|at| at as usize);
        let key = (line(product), line(sum), contraction.unrolled);
        expected.insert((sum, contraction.finding(&parsed, &lines).message), key);
    }
    let target = module.target;
    let told = |pairs: &[CompiledPair]| {
        let each = pairs.iter().map(|pair| match pair.at.is_empty() {
            true => pair.made.text().to_owned(),
            false => format!("{}, at {}", pair.made.text(), pair.place()),
        });
        format!(
            "in {name} (sm_{target}) they are {}",
            each.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("; ")
        )
    };
    for finding in findings.iter_mut() {
        let Location::Span { start, .. } = finding.location else { continue };
        let Some(key) = expected.get(&(start, finding.message.clone())) else { continue };
        let told = match pairs.remove(key) {
            Some(pairs) => told(&pairs),
            None => format!("{name} (sm_{target}) has no kernel with them"),
        };
        finding.message = format!("{}; {told}", finding.message);
    }
    // What no rule of the assembler expects to be fused.
    for ((product, _, unrolled), pairs) in pairs {
        if unrolled && pairs.iter().all(|pair| matches!(pair.made, Made::Apart | Made::Gone)) {
            continue;
        }
        let span = &pairs[0].span;
        let location = Location::Span { start: span.start, end: span.end };
        let message = format!("the sum may take the product of line {product}; {}", told(&pairs));
        findings.push(Finding::note("PTX0050", location, message));
    }
    Ok(())
}

fn source_loc(kernel: &Kernel, position: Position) -> &SourceLoc {
    &kernel.source_locs[kernel.blocks[position.block].instructions[position.index].loc as usize]
}

fn line_of(kernel: &Kernel, position: Position) -> u32 {
    source_loc(kernel, position).line
}

/// Every sum that may take a product.
fn open_sums(kernel: &Kernel) -> Vec<OpenSum<'_>> {
    let as_written = candidates(kernel);
    let unrolled = unrolled_candidates(kernel, &as_written).into_iter().map(|candidate| (candidate, true));
    let mut sums: BTreeMap<Position, Vec<(Candidate, bool)>> = BTreeMap::new();
    for (candidate, unrolled) in as_written.into_iter().map(|candidate| (candidate, false)).chain(unrolled) {
        sums.entry(candidate.sum).or_default().push((candidate, unrolled));
    }
    let sum = |(position, products)| OpenSum { kernel, position, line: line_of(kernel, position), products };
    sums.into_iter().map(sum).collect()
}

impl OpenSum<'_> {
    fn format(&self) -> Format {
        match &self.kernel.blocks[self.position.block].instructions[self.position.index].op {
            Op::Float { operation, .. } => operation.format,
            _ => Format::F32,
        }
    }

    /// That the cubin's own copy of the PTX has the same instructions at the lines.
    fn is_of(&self, ptx: &[String]) -> Result<(), String> {
        let positions = self.products.iter().map(|(candidate, _)| candidate.product).chain([self.position]);
        for position in positions {
            let written = source_loc(self.kernel, position);
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            let of_cubin = ptx.get(written.line as usize - 1);
            if let Some(line) = of_cubin.filter(|line| !squeezed(line).contains(&squeezed(&written.text))) {
                let (number, line, own) = (written.line, line.trim(), &written.text);
                return Err(format!("the cubin was made of other PTX: its line {number} is `{line}`, not `{own}`"));
            }
        }
        Ok(())
    }

    /// What comes from the sum's line in some sections.
    fn operations<'s>(
        &self,
        sections: &'s [&'s CompiledKernel],
    ) -> impl Iterator<Item = (&'s CompiledKernel, &'s CompiledOperation)> + use<'s> {
        let (line, format) = (self.line, self.format());
        let is_sum = move |operation: &&CompiledOperation| {
            operation.line == Some(line) && operation.format == format && operation.op != ArithOp::Mul
        };
        sections.iter().flat_map(move |section| {
            section.operations.iter().filter(is_sum).map(move |operation| (*section, operation))
        })
    }

    /// Which of the products a multiply-add has taken: of several not the one that its addend comes from, nor one that is
    /// still a product. `None` if that leaves more than one line. Of two products of one line it is that of the same
    /// iteration.
    fn taken(&self, section: &CompiledKernel, operation: &CompiledOperation) -> Option<usize> {
        let products = || self.products.iter().enumerate().map(|(at, (candidate, _))| (at, candidate.product));
        let line = |(_, position): &(usize, Position)| line_of(self.kernel, *position);
        let mut possible: Vec<(usize, Position)> = products().collect();
        if possible.len() > 1
            && let CompiledSource::Operation(addend) = operation.sources[2]
            && let addend = &section.operations[addend]
            && addend.op == ArithOp::Mul
        {
            possible.retain(|product| Some(line(product)) != addend.line);
        }
        if possible.len() > 1 {
            let is_left = |line: u32| {
                let mut left = section.operations.iter().filter(|left| left.op == ArithOp::Mul);
                left.any(|left| left.line == Some(line))
            };
            let gone: Vec<(usize, Position)> =
                possible.iter().filter(|product| !is_left(line(product))).copied().collect();
            possible = if gone.is_empty() { possible } else { gone };
        }
        let first = possible.first()?;
        possible.iter().all(|product| line(product) == line(first)).then_some(first.0)
    }
}
