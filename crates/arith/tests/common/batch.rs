//! A batch over triples, whatever its lanes' types are.

use roundonce_arith::ArithOp;
use roundonce_arith::batch::{Batch, Source};

/// The results' bits.
pub(crate) fn compute(batch: &Batch, triples: &[[u64; 3]]) -> Vec<u64> {
    fn column<T>(triples: &[[u64; 3]], place: usize, lane: impl Fn(u64) -> T) -> Vec<T> {
        triples.iter().map(|triple| lane(triple[place])).collect()
    }
    let operation = batch.operation();
    macro_rules! same {
        ($lane:ty) => {{
            let columns = [0, 1, 2].map(|place| column(triples, place, |bits| bits as $lane));
            let source = |place: usize| Source::Slice(&columns[place][..]);
            let sources: Vec<_> = operation.op.operands().iter().map(|&place| source(place as usize)).collect();
            let mut out = vec![<$lane>::default(); triples.len()];
            batch.run(&sources, &mut out);
            column_of(out)
        }};
    }
    fn column_of(out: Vec<impl Into<u64>>) -> Vec<u64> {
        out.into_iter().map(Into::into).collect()
    }
    match (operation.source_format.width(), operation.format.width()) {
        (16, 32) => {
            let [a, b] = [0, 1].map(|place| column(triples, place, |bits| bits as u16));
            let c = column(triples, 2, |bits| bits as u32);
            let (factors, addend) = ([Source::Slice(&a[..]), Source::Slice(&b)], Source::Slice(&c[..]));
            let mut out = vec![0_u32; triples.len()];
            match operation.op {
                ArithOp::Add => batch.run_mixed(&factors[..1], Some(addend), &mut out),
                ArithOp::Mul => batch.run_mixed(&factors, None, &mut out),
                ArithOp::MulAdd | ArithOp::TruncatedMulAdd => batch.run_mixed(&factors, Some(addend), &mut out),
            }
            column_of(out)
        }
        (_, 16) => same!(u16),
        (_, 32) => same!(u32),
        _ => same!(u64),
    }
}
