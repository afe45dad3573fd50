//! What may be done with a kernel beside what it says: each deviation is a rewriting of its program, a policy is a set of
//! them. Rewriting keeps every instruction's source location, so that two runs can be laid side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use roundonce_arith::{ArithOp, Clamp, Dot, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Allowed, Deviation, EvalModel, Fmas, Plausibility, Products, Scope, UnusualMode, for_kernels};
use roundonce_ir::{Candidate, Comparand, Instruction, Kernel, Op, Operand, Position, Scalar, candidates, fuse};
use serde::Serialize;

/// More products, or more fmas, than this are not tried one by one.
const MAX_SINGLE: usize = 64;

/// One deviation from the kernel as written, and where in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rewrite {
    pub(crate) deviation: Deviation,
    site: Site,
    /// How plausible it is as a cause: the only product fused is every product fused.
    pub(crate) plausibility: Plausibility,
}

/// What of a kernel is rewritten.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Site {
    /// All of it.
    Everywhere,
    /// One product and one sum.
    Product(Candidate),
    /// One fma: that at a block's place.
    Fma { block: usize, at: usize },
    /// The matrix multiply-adds: what a machine makes of each spelling.
    Matrices(BTreeMap<String, Dot>),
}

/// A machine, or several that agree, of other matrix multiply-adds than a program's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// `sm_80`; `sm_80, sm_86`.
    pub name: String,
    /// What it computes of each spelling in the program.
    pub dots: BTreeMap<String, Dot>,
}

/// What a language lets vary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Freedom {
    /// The formats whose subnormals may be flushed or kept.
    pub flushes: Vec<Format>,
    /// It has a mode in which zero factors dominate.
    pub fmz: bool,
    /// The toolchains that make it.
    pub toolchains: &'static [&'static str],
    /// The machines that it may have run on beside the program's, as far as they multiply matrices otherwise.
    pub machines: Vec<Machine>,
}

impl Freedom {
    /// PTX: flushing of f32 is left to a compiler's options.
    pub fn ptx() -> Freedom {
        Freedom {
            flushes: vec![Format::F32],
            fmz: false,
            toolchains: &["nvcc", "clang", "triton", "xla"],
            machines: Vec::new(),
        }
    }
    /// SPIR-V: flushing of every format is left to the modes of the module.
    pub fn spirv() -> Freedom {
        let flushes = vec![Format::F16, Format::F32, Format::F64];
        Freedom { flushes, fmz: false, toolchains: &["opencl", "glsl", "hlsl", "spirv"], machines: Vec::new() }
    }
    /// SASS: as PTX, with a mode of zero dominance.
    pub fn sass() -> Freedom {
        Freedom { fmz: true, ..Freedom::ptx() }
    }
}

/// A deviation as a reader sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DeviationText {
    /// `fuse-all`, `fuse-apart`, `fuse`, `flush`, `keep-subnormals`, `split-all`, `split`, `zero-dominance`,
    /// `no-zero-dominance`, `round-unmodified`, `round-all`, `machine`.
    pub kind: &'static str,
    /// The lines that it is about, where it is not about all: of a fusion the product's and the sum's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<u32>,
    /// The format or the direction, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
    /// The same in words, as the predicate of a sentence.
    pub sentence: String,
}

/// The multiply-add of an instruction, where it is one.
fn operation(instruction: &Instruction) -> Option<&Operation> {
    match &instruction.op {
        Op::Float { operation, .. } => Some(operation),
        _ => None,
    }
}

/// Every place of a kernel.
fn places(kernel: &Kernel) -> impl Iterator<Item = (usize, usize, &Instruction)> {
    let blocks = kernel.blocks.iter().enumerate();
    blocks.flat_map(|(block, contents)| contents.instructions.iter().enumerate().map(move |(at, it)| (block, at, it)))
}

/// The unusual modes that a kernel's own instructions name: there they are as plausible as anything.
pub(crate) fn named_modes(kernel: &Kernel) -> Allowed {
    let operations = places(kernel).filter_map(|(_, _, instruction)| operation(instruction));
    operations.fold(Allowed::NONE, |mut named, operation| {
        let Operation { rounding, clamp, fmz, op, .. } = *operation;
        let modes = [
            (rounding != Rounding::NearestEven, UnusualMode::Directed),
            (clamp == Clamp::Unit, UnusualMode::Saturation),
            (fmz, UnusualMode::ZeroDominance),
            (op == ArithOp::TruncatedMulAdd, UnusualMode::Sm1x),
        ];
        for (_, mode) in modes.into_iter().filter(|(is_named, _)| *is_named) {
            named = named.and(mode);
        }
        named
    })
}

/// Every rewriting that may make a difference to a kernel, the most plausible first, and of these what is done to all
/// instructions; and how many products and fmas are too many to be tried one by one.
pub(crate) fn rewrites(kernel: &Kernel, freedom: &Freedom) -> (Vec<Rewrite>, usize) {
    let line = |block: usize, at: usize| kernel.source_locs[kernel.blocks[block].instructions[at].loc as usize].line;
    let products = candidates(kernel);
    let is_fma = |(_, _, instruction): &(usize, usize, &Instruction)| {
        operation(instruction).is_some_and(|operation| operation.op == ArithOp::MulAdd)
    };
    let fmas: Vec<(usize, usize)> = places(kernel).filter(is_fma).map(|(block, at, _)| (block, at)).collect();
    let everywhere =
        |deviation: Deviation| Rewrite { plausibility: deviation.plausibility(), deviation, site: Site::Everywhere };
    let of_one = match products.as_slice() {
        [_] => Plausibility::Uniform,
        _ => Plausibility::PartialContraction,
    };
    let of_product = |&candidate: &Candidate| {
        let Candidate { product, sum, .. } = candidate;
        let products = Products::Lines { product: line(product.block, product.index), sum: line(sum.block, sum.index) };
        Rewrite { deviation: Deviation::Contract(products), site: Site::Product(candidate), plausibility: of_one }
    };
    let of_fma = |&(block, at): &(usize, usize)| {
        let deviation = Deviation::Split(Fmas::Line(line(block, at)));
        Rewrite { plausibility: deviation.plausibility(), deviation, site: Site::Fma { block, at } }
    };
    let (flushes, modes) = for_kernels(&freedom.flushes, freedom.fmz);
    let mut all: Vec<Rewrite> = Vec::new();
    if products.len() > 1 {
        all.push(everywhere(Deviation::Contract(Products::All)));
    }
    let of_another_build = candidates(&opened(kernel)).iter().filter(|candidate| candidate.fuses).count();
    if of_another_build > products.iter().filter(|candidate| candidate.fuses).count() {
        all.push(everywhere(Deviation::Contract(Products::Apart)));
    }
    all.extend(products.iter().take(MAX_SINGLE).map(of_product));
    all.extend(freedom.machines.iter().map(|Machine { name, dots }| {
        let deviation = Deviation::Machine(name.clone());
        Rewrite { plausibility: deviation.plausibility(), deviation, site: Site::Matrices(dots.clone()) }
    }));
    all.extend(flushes.into_iter().map(everywhere));
    all.extend((fmas.len() > 1).then_some(everywhere(Deviation::Split(Fmas::All))));
    all.extend(fmas.iter().take(MAX_SINGLE).map(of_fma));
    all.extend(modes.into_iter().map(everywhere));
    all.sort_by_key(|rewrite| rewrite.plausibility);
    let left_out = products.len().saturating_sub(MAX_SINGLE) + fmas.len().saturating_sub(MAX_SINGLE);
    (all, left_out)
}

/// The kernel as a build has it that lets every product and sum that is rounded to nearest be fused.
fn opened(kernel: &Kernel) -> Kernel {
    let mut opened = kernel.clone();
    for instruction in instructions(&mut opened) {
        if let Op::Float { operation, contractible, .. } = &mut instruction.op {
            *contractible |=
                matches!(operation.op, ArithOp::Mul | ArithOp::Add) && operation.rounding == Rounding::NearestEven;
        }
    }
    opened
}

impl Rewrite {
    /// Whether the two say different things about the same.
    pub(crate) fn contradicts(&self, other: &Rewrite) -> bool {
        if let (Site::Product(one), Site::Product(another)) = (&self.site, &other.site) {
            return one.sum == another.sum;
        }
        match (&self.deviation, &other.deviation) {
            (Deviation::Flush(one) | Deviation::Keep(one), Deviation::Flush(another) | Deviation::Keep(another)) => {
                one == another
            }
            (Deviation::ZeroDominance, Deviation::NoZeroDominance) => true,
            (Deviation::NoZeroDominance, Deviation::ZeroDominance) => true,
            (Deviation::Machine(_), Deviation::Machine(_)) => true,
            // It fuses what the others would.
            (Deviation::Contract(Products::Apart), Deviation::Contract(_)) => true,
            (Deviation::Contract(_), Deviation::Contract(Products::Apart)) => true,
            (one, another) => one.is_rounding() && another.is_rounding(),
        }
    }

    /// Whether it is about one product or one fma alone.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.site, Site::Product(_) | Site::Fma { .. })
    }

    /// Whether it fuses one product into one sum.
    pub(crate) fn is_fusion(&self) -> bool {
        matches!(self.site, Site::Product(_))
    }

    /// When it is made: directions and flushes first, which fusing asks for, splitting last, which moves places.
    fn rank(&self) -> u32 {
        match self.deviation {
            Deviation::Contract(_) => 1,
            Deviation::Split(_) => 2,
            _ => 0,
        }
    }

    pub(crate) fn text(&self) -> DeviationText {
        let mode = match self.deviation {
            Deviation::Flush(format) | Deviation::Keep(format) => format.and_then(Format::name),
            Deviation::Round(rounding) | Deviation::RoundUnmodified(rounding) => Some(rounding.name()),
            _ => None,
        };
        DeviationText {
            kind: self.deviation.kind(Scope::Kernel),
            lines: self.deviation.lines(),
            mode,
            sentence: self.deviation.text(Scope::Kernel),
        }
    }
}

/// The kernel with some things done otherwise.
pub(crate) fn rewritten(kernel: &Kernel, rewrites: &[&Rewrite], profile: &Profile) -> Kernel {
    let mut rewrites = rewrites.to_vec();
    rewrites.sort_by_key(|rewrite| rewrite.rank());
    let mut rewritten = kernel.clone();
    let mut splits = Vec::new();
    let mut fusions = Vec::new();
    for rewrite in rewrites {
        match (&rewrite.deviation, &rewrite.site) {
            (_, Site::Product(only)) => fusions.push(*only),
            (_, Site::Matrices(dots)) => {
                for instruction in instructions(&mut rewritten) {
                    if let Op::MultiplyMatrices { multiply, .. } = &mut instruction.op
                        && let Some(dot) = dots.get(&multiply.name)
                    {
                        Arc::make_mut(multiply).dot = *dot;
                    }
                }
            }
            (Deviation::Contract(Products::Apart), _) => {
                rewritten = opened(&rewritten);
                fusions.extend(candidates(&opened(kernel)).into_iter().filter(|candidate| candidate.fuses));
            }
            (Deviation::Contract(_), _) => {
                fusions.extend(candidates(kernel).into_iter().filter(|candidate| candidate.fuses));
            }
            (_, &Site::Fma { block, at }) => splits.push((block, at)),
            (Deviation::Split(_), _) => splits.extend(places(kernel).map(|(block, at, _)| (block, at))),
            (mode, Site::Everywhere) => {
                instructions(&mut rewritten).for_each(|instruction| set(&mut instruction.op, mode, profile));
            }
        }
    }
    let copies = fuse(&mut rewritten, &fusions);
    splits.sort_unstable();
    splits.dedup();
    for (block, at) in splits.into_iter().rev() {
        // What fusing has made stays.
        if operation(&kernel.blocks[block].instructions[at]).is_some_and(|operation| operation.op == ArithOp::MulAdd) {
            let before = |copy: &&Position| copy.block == block && copy.index <= at;
            split(&mut rewritten, block, at + copies.iter().filter(before).count());
        }
    }
    rewritten
}

fn instructions(kernel: &mut Kernel) -> impl Iterator<Item = &mut Instruction> {
    kernel.blocks.iter_mut().flat_map(|block| &mut block.instructions)
}

/// An fma as a product, rounded, and a sum.
fn split(kernel: &mut Kernel, block: usize, at: usize) {
    let instruction = kernel.blocks[block].instructions[at].clone();
    let Op::Float { d, operation, components, contractible, args: [a, b, c] } = instruction.op else { return };
    let product = kernel.register(roundonce_ir::Width::holding(operation.format.width() * components));
    let mul = Operation { op: ArithOp::Mul, negate_addend: false, clamp: Clamp::None, ..operation };
    let add = Operation { op: ArithOp::Add, negate_product: false, fmz: false, ..operation.taking_product() };
    let first = Op::Float { d: product, operation: mul, components, contractible, args: [a, b, Operand::ZERO] };
    let second = Op::Float { d, operation: add, components, contractible, args: [product.into(), c, Operand::ZERO] };
    let both = [first, second].map(|op| Instruction { op, ..instruction });
    kernel.blocks[block].instructions.splice(at..=at, both);
}

/// A mode set on one operation, as far as it has it.
fn set(op: &mut Op, mode: &Deviation, profile: &Profile) {
    match (mode, op) {
        (_, Op::Float { operation, contractible, .. }) if applies(mode, operation, *contractible) => {
            // The mode of zero dominance flushes too; without it, what is written beside it stays.
            let flush = (*mode == Deviation::ZeroDominance).then_some(&Deviation::Flush(None));
            let model = EvalModel::of(*operation, profile).with_all(flush.into_iter().chain([mode]));
            *operation = model.as_operation().unwrap_or(*operation);
        }
        (_, Op::Float { .. }) => {}
        (Deviation::Flush(Some(format)), op) => set_flush(op, *format, true),
        (Deviation::Keep(Some(format)), op) => set_flush(op, *format, false),
        (
            Deviation::Round(to),
            Op::Divide { rounding, .. }
            | Op::SquareRoot { rounding, .. }
            | Op::Scale { rounding, .. }
            | Op::Convert { rounding, to: Scalar::Float(_), integral: false, .. },
        ) if *rounding == Rounding::NearestEven => *rounding = *to,
        _ => {}
    }
}

/// Whether a mode is about a multiply-add.
fn applies(mode: &Deviation, operation: &Operation, contractible: bool) -> bool {
    match mode {
        // What sm_1x does is not controlled by a flag.
        Deviation::Flush(_) | Deviation::Keep(_) => operation.op != ArithOp::TruncatedMulAdd,
        Deviation::ZeroDominance | Deviation::NoZeroDominance => {
            operation.format == Format::F32 && matches!(operation.op, ArithOp::Mul | ArithOp::MulAdd)
        }
        Deviation::RoundUnmodified(_) => contractible,
        Deviation::Round(_) => operation.rounding == Rounding::NearestEven,
        _ => false,
    }
}

fn set_flush(op: &mut Op, wanted: Format, on: bool) {
    let is_wanted = |scalar: &Scalar| *scalar == Scalar::Float(wanted);
    match op {
        Op::Sign { format, flush, .. }
        | Op::Divide { format, flush, .. }
        | Op::SquareRoot { format, flush, .. }
        | Op::Scale { format, flush, .. }
        | Op::Approximate { format, flush, .. }
        | Op::MinMax { format, flush, .. }
        | Op::Compare { of: Comparand::Float { format, flush }, .. }
            if *format == wanted =>
        {
            *flush = on;
        }
        Op::Convert { to, from, flush, .. } if is_wanted(to) || is_wanted(from) => *flush = on,
        _ => {}
    }
}
