//! The orders in which libraries add, as data: one row an order. `engine.rs` carries any of them out.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use roundonce_arith::Dot;

use super::engine::{Arithmetic, Compensation, run};
use crate::random::mixed;

/// How partial sums become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Combine {
    /// From the first to the last.
    InOrder,
    /// The upper half is added to the lower one, until one is left: a shuffle down, and a butterfly of xor, whose sums
    /// have the same operands in the other order.
    Halves,
    /// Each second one is added to the one before it, until one is left.
    Neighbours,
}

/// What becomes of the terms behind the last whole round of strided partial sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    /// They go on with the round: the first partial sums have one term more.
    Spread,
    /// They are added to the sum at the end, one by one.
    After,
}

/// Into how many parts terms that stand beside each other are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parts {
    /// As many as there are, of so many terms.
    Of(usize),
    /// So many, as long as each other.
    Count(usize),
    /// Of so many terms; what is left of more than one part and less than two is halved, the first half rounded up to a
    /// multiple.
    Evened { size: usize, multiple: usize },
}

/// An order of additions. Every partial sum starts from +0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Schedule {
    /// From the first term to the last.
    InOrder,
    /// From the last term to the first.
    Backward,
    /// Partial sums, as many as the product of the axes, of every so-manieth term each; then the axes are folded, one
    /// after the other. The last axis runs fastest.
    Strided { axes: Vec<usize>, folds: Vec<(usize, Combine)>, rest: Rest },
    /// Parts of terms that stand beside each other, then their sums.
    Parts { parts: Parts, each: Box<Schedule>, combine: Combine },
    /// Halves of halves down to so many terms, the first half rounded down to a multiple.
    Halves { most: usize, multiple: usize, each: Box<Schedule> },
    /// In order, with what each addition loses kept beside the sum.
    Compensated(Compensation),
    /// Products in the steps of a tensor core, one after the other; from what is added to the sum on, if it `begins` so.
    Tensor { unit: Arc<TensorUnit>, begins: bool },
}

/// A tensor core's way of adding products: the steps of an instruction, and which machines have it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorUnit {
    /// The steps and the machines: `8 f16 products a step, 24 bits kept (sm_80)`.
    pub name: String,
    /// The instructions.
    pub by: String,
    /// The steps. Its `k` is what one instruction takes at least: the steps of several follow each other.
    pub dot: Dot,
}

impl Schedule {
    /// The tensor core that adds so, and whether it begins from what is added to the sum.
    pub(crate) fn tensor(&self) -> Option<(&TensorUnit, bool)> {
        match self {
            Schedule::Tensor { unit, begins } => Some((unit, *begins)),
            Schedule::Parts { each, .. } => each.tensor(),
            _ => None,
        }
    }
}

/// An order with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) schedule: Schedule,
    /// The end of "adds in the order …"; of the order as written there is none.
    pub(crate) name: Option<String>,
    /// Who adds so, and where that stands.
    pub(crate) by: String,
}

impl Row {
    /// Whether it is NumPy's.
    pub(crate) fn is_numpy(&self) -> bool {
        matches!(self.schedule, Schedule::Halves { most: 128, .. })
    }
}

use Combine::{Halves, InOrder, Neighbours};

fn strided(axes: &[usize], folds: &[(usize, Combine)], rest: Rest) -> Schedule {
    Schedule::Strided { axes: axes.to_vec(), folds: folds.to_vec(), rest }
}

fn parts(parts: Parts, each: Schedule, combine: Combine) -> Schedule {
    Schedule::Parts { parts, each: Box::new(each), combine }
}

/// `of 8 partial sums, every 8th term each`
fn every(count: usize) -> String {
    let suffix = match count % 10 {
        _ if (11..=13).contains(&(count % 100)) => "th",
        1 => "st",
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("of {count} partial sums, every {count}{suffix} term each")
}

/// Every order, the one as written first, then those of libraries; the first of several that give the same is named first.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |schedule, name: &str, by: &str| {
        let name = (!name.is_empty()).then(|| name.to_owned());
        rows.push(Row { schedule, name, by: by.to_owned() });
    };
    row(Schedule::InOrder, "", "a plain loop");
    let numpy = strided(&[8], &[(0, Neighbours)], Rest::After);
    row(
        Schedule::Halves { most: 128, multiple: 8, each: Box::new(numpy) },
        "as NumPy's add.reduce (eight partial sums, blocks of 128)",
        "np.sum and np.mean over terms beside each other in memory (NumPy, numpy/_core/src/umath/loops_utils.h.src)",
    );
    // A vector of so many lanes, so many vectors at a time.
    for lanes in [4, 8, 16] {
        for unroll in [1, 2, 4, 8] {
            let vectors = |across, within| strided(&[unroll, lanes], &[(0, across), (1, within)], Rest::After);
            let accumulators =
                if unroll == 1 { String::new() } else { format!(" × {unroll} accumulators, which are added") };
            let name = |how: &str| format!("{} ({lanes} lanes{accumulators}), then {how}", every(lanes * unroll));
            row(
                vectors(InOrder, Halves),
                &name("halved (lanes of a vector)"),
                "vectorised loops of LLVM and GCC under reassociation (LLVM, Vectorizers, reductions; interleaved)",
            );
            if unroll == 1 || unroll == 4 {
                let across = if unroll == 1 { "" } else { " by pairs" };
                row(
                    vectors(Neighbours, Neighbours),
                    &format!(
                        "{} ({lanes} lanes{accumulators}{across}), then added by neighbours",
                        every(lanes * unroll)
                    ),
                    "kernels with horizontal adds, as OpenBLAS's dot products (OpenBLAS, kernel/x86_64)",
                );
            }
        }
    }
    for threads in [32, 64, 128, 256, 512, 1024] {
        let who = if threads == 32 { "a warp" } else { "a block of threads" };
        row(
            strided(&[threads], &[(0, Halves)], Rest::Spread),
            &format!("{}, then halved ({who})", every(threads)),
            "shared-memory trees; warps by shuffle down or xor (CUDA samples, reduction; CuPy's reductions)",
        );
        if threads > 32 {
            let warps = threads / 32;
            row(
                strided(&[warps, 32], &[(1, Halves), (0, Halves)], Rest::Spread),
                &format!("{}, each warp of 32 halved, then the {warps} warps' sums", every(threads)),
                "block reductions by shuffles (CUB, WarpReduce and BlockReduce)",
            );
        }
    }
    for size in [32, 64, 128, 256, 320, 384, 512] {
        row(
            parts(Parts::Of(size), Schedule::InOrder, InOrder),
            &format!("of blocks of {size} terms, then of the blocks' sums"),
            "matrix products blocked along k (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication)",
        );
    }
    for (size, multiple, core) in [
        (448, 16, "f32, SkylakeX"),
        (320, 8, "f32, Haswell and Zen"),
        (384, 16, "f64, SkylakeX"),
        (256, 4, "f64, Haswell"),
    ] {
        for (multiple, threads, to) in
            [(multiple, "one thread", format!(" to {multiple}")), (1, "threads", String::new())]
        {
            row(
                parts(Parts::Evened { size, multiple }, Schedule::InOrder, InOrder),
                &format!("of blocks of {size} terms, the last two evened{to}, then of the blocks' sums"),
                &format!("OpenBLAS, {threads}, {core} (driver/level3/level3.c, level3_thread.c; seen with NumPy 2.4)"),
            );
        }
    }
    for count in [2, 4, 8, 16] {
        row(
            parts(Parts::Count(count), Schedule::InOrder, InOrder),
            &format!("of {count} parts, each in order, then of the parts' sums (split-K)"),
            "split-K kernels, static schedules of threads (CUTLASS, Efficient GEMM, split-K)",
        );
    }
    for size in [128, 256, 512] {
        let block = || strided(&[size], &[(0, Halves)], Rest::Spread);
        row(
            parts(Parts::Of(size), block(), InOrder),
            &format!("of blocks of {size} terms, each halved, then of the blocks' sums in order"),
            "a grid whose blocks add to one number (CUDA samples, reduction, with atomicAdd in order)",
        );
        row(
            parts(Parts::Of(size), block(), Halves),
            &format!("of blocks of {size} terms, each halved, then the blocks' sums halved"),
            "two kernels, the second over the blocks' sums (CUDA samples, reduction)",
        );
    }
    row(Schedule::Backward, "from the last term to the first", "a loop that counts down");
    row(
        Schedule::Halves { most: 1, multiple: 1, each: Box::new(Schedule::InOrder) },
        "by halves (pairwise)",
        "recursive pairwise summation (Higham, Accuracy and Stability of Numerical Algorithms, 4.1)",
    );
    row(
        parts(Parts::Of(1), Schedule::InOrder, Neighbours),
        "of a tree: neighbours, then neighbours of these",
        "adder trees; a reduction whose stride doubles (CUDA samples, reduction, kernels 0 and 1)",
    );
    row(
        Schedule::Compensated(Compensation::Kahan),
        "as written with Kahan's compensation",
        "Kahan summation (Higham, 4.3)",
    );
    row(
        Schedule::Compensated(Compensation::Neumaier),
        "as written with Neumaier's compensation",
        "Python's sum of floats since 3.12 (CPython, Python/bltinmodule.c, cs_add)",
    );
    rows
}

/// The orders of tensor cores, alone and with k split; with `addend` also those that begin from what is added to the sum.
pub(crate) fn tensor_rows(units: &[TensorUnit], addend: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for unit in units {
        let shared = Arc::new(unit.clone());
        let tensor = |begins| Schedule::Tensor { unit: shared.clone(), begins };
        let name = |behind: &str| Some(format!("{}{behind}", unit.name));
        rows.push(Row { schedule: tensor(false), name: name(""), by: unit.by.clone() });
        if addend {
            let text = ", from the addend on";
            rows.push(Row { schedule: tensor(true), name: name(text), by: unit.by.clone() });
        }
        for count in [2, 4, 8] {
            let text = format!(", {count} parts of k, then the parts' sums (split-K)");
            let by = format!("{}; split-K kernels (CUTLASS, Efficient GEMM)", unit.by);
            rows.push(Row { schedule: parts(Parts::Count(count), tensor(false), InOrder), name: name(&text), by });
        }
    }
    rows
}

/// Symbols in the place of numbers: two schedules that give the same add the same terms in the same tree. A sum does not
/// depend on the order of its two operands.
struct Symbols;

/// The symbol of a sum; adding nothing changes nothing.
fn joined(a: u64, b: u64) -> u64 {
    match (a, b) {
        (0, other) | (other, 0) => other,
        _ => mixed(mixed(a).wrapping_add(mixed(b))) | 1,
    }
}

impl Arithmetic for Symbols {
    type Lane = u64;
    fn results(&self) -> usize {
        1
    }
    fn accumulate(&mut self, sums: &mut [u64], first: &[usize], further: usize) {
        sums.iter_mut()
            .zip(first)
            .for_each(|(sum, first)| *sum = joined(*sum, mixed((first + further) as u64 + 1) | 1));
    }
    fn add(&mut self, sums: &mut [u64], others: &[u64]) {
        sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = joined(*sum, *other));
    }
    fn compensated(&mut self, how: Compensation, first: &[usize], length: usize) -> Vec<u64> {
        first.iter().map(|first| mixed((first ^ length << 8) as u64 + how as u64 + 2) | 1).collect()
    }
    fn on_tensor_core(&mut self, unit: &TensorUnit, begins: bool, first: &[usize], length: usize) -> Vec<u64> {
        let mut hasher = DefaultHasher::new();
        (&unit.dot, begins, length).hash(&mut hasher);
        let unit = hasher.finish();
        first.iter().map(|first| mixed(unit.wrapping_add(*first as u64)) | 1).collect()
    }
}

/// Terms, beyond which orders are taken to differ: there they do.
const MAX_SYMBOLS: usize = 1 << 16;

/// For each row the first one that adds so many terms in the same tree.
pub(crate) fn representatives(rows: &[Row], length: usize) -> Vec<usize> {
    if length > MAX_SYMBOLS {
        return (0..rows.len()).collect();
    }
    let mut known = HashMap::new();
    let trees = rows.iter().map(|row| run(&mut Symbols, &row.schedule, &[0], length)[0]);
    trees.enumerate().map(|(at, tree)| *known.entry(tree).or_insert(at)).collect()
}
