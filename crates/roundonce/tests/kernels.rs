//! What every spelling of every form computes, by every vector kernel that this machine can run, against the scalar
//! pipeline: `ROUNDONCE_LANES` directed and random elements each (a million by default).

#[path = "../../arith/tests/common/batch.rs"]
mod batch;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use roundonce::arith::batch::{Batch, Level};
use roundonce::arith::{ArithOp, Format, Operation};
use roundonce::{Profile, TABLES};
use roundonce_oracle::Layout;
use roundonce_oracle::generate::Generator;

/// Elements that are computed in one run.
const CHUNK: usize = 1 << 16;

/// Every operation that a spelling names.
fn operations() -> Vec<Operation> {
    let forms = TABLES.into_iter().flatten();
    let all: HashSet<Operation> = forms.flat_map(|form| form.spellings()).map(|(_, recipe)| recipe.operation).collect();
    all.into_iter().collect()
}

fn layout(format: Format) -> Layout {
    Layout { exp_bits: format.exp_bits(), frac_bits: format.frac_bits() }
}

fn lanes() -> usize {
    std::env::var("ROUNDONCE_LANES").map_or(1_000_000, |lanes| lanes.parse().expect("a number of lanes"))
}

/// The pipeline's bits.
fn scalar(operation: &Operation, [a, b, c]: [u64; 3]) -> u64 {
    let outcome = match operation.op {
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd => operation.evaluate(&Profile::NVIDIA, &[a, b, c]),
        ArithOp::Add => operation.evaluate(&Profile::NVIDIA, &[a, c]),
        ArithOp::Mul => operation.evaluate(&Profile::NVIDIA, &[a, b]),
    };
    outcome.bits
}

/// One operation at every level.
fn check(operation: Operation, seed: u64) -> usize {
    let levels = Level::ALL.into_iter().filter(|level| level.is_available());
    let batches: Vec<Batch> = levels.map(|level| Batch::at_level(operation, &Profile::NVIDIA, level)).collect();
    if operation.is_uniform() && operation.format.width() == 16 && !operation.oob && Level::Avx2.is_available() {
        assert_eq!(Batch::new(operation, &Profile::NVIDIA).level(), Level::best(), "{operation:?}");
    }
    let mut generator = Generator::new(seed, layout(operation.source_format), layout(operation.format));
    let mut left = lanes();
    while left > 0 {
        let triples: Vec<[u64; 3]> = (0..CHUNK.min(left)).map(|_| generator.triple()).collect();
        left -= triples.len();
        let expected: Vec<u64> = triples.iter().map(|triple| scalar(&operation, *triple)).collect();
        for batch in &batches {
            let results = batch::compute(batch, &triples);
            if let Some(lane) = (0..triples.len()).find(|&lane| results[lane] != expected[lane]) {
                let (found, expected) = (results[lane], expected[lane]);
                panic!("{operation:?}, {:?}: {:x?} gives {found:x}, not {expected:x}", batch.level(), triples[lane]);
            }
        }
    }
    batches.iter().filter(|batch| batch.level() != Level::Portable).count()
}

#[test]
fn every_form_by_every_kernel() {
    let operations = operations();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let work = || {
        let mut vectors = 0;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(operation) = operations.get(number) else { return vectors };
            vectors += check(*operation, number as u64);
        }
    };
    let vectors: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(operations.len() >= 60, "only {} operations", operations.len());
    // Each has a kernel on each level above the portable one, but the truncating mad of sm_1x and packed rarities.
    if Level::Avx2.is_available() {
        assert!(vectors * 4 >= operations.len() * 3, "only {vectors} kernels for {} operations", operations.len());
    }
}
