//! Carries a schedule of additions out, over many sums and many partial sums at a time.

use super::schedule::{Combine, Parts, Rest, Schedule, TensorUnit};

/// What is kept beside a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compensation {
    /// What the last addition lost, taken from the next term.
    Kahan,
    /// All that was lost, added at the end.
    Neumaier,
}

/// Additions of terms for several results at once. Lanes are ordered by partial sum, and of each by result.
pub(crate) trait Arithmetic {
    /// A partial sum of one result.
    type Lane: Copy + Default;
    /// How many results there are.
    fn results(&self) -> usize;
    /// Adds a term to each of several partial sums: the one so much further than the sum's first.
    fn accumulate(&mut self, sums: &mut [Self::Lane], first: &[usize], further: usize);
    /// Adds other partial sums.
    fn add(&mut self, sums: &mut [Self::Lane], others: &[Self::Lane]);
    /// So many terms from each first one on, in order and compensated.
    fn compensated(&mut self, how: Compensation, first: &[usize], length: usize) -> Vec<Self::Lane>;
    /// So many products from each first one on, as a tensor core adds them; from the addends on, if `begins`.
    fn on_tensor_core(&mut self, unit: &TensorUnit, begins: bool, first: &[usize], length: usize) -> Vec<Self::Lane>;
}

/// Lanes that are worked on together: they stay in the first-level cache.
pub(crate) const LANES: usize = 2048;

/// Terms whose halves are listed all at once.
const FEW: usize = 1 << 16;

impl Schedule {
    /// How many partial sums of so many terms are worked on together at least.
    pub(crate) fn width(&self, length: usize) -> usize {
        match self {
            Schedule::Strided { axes, .. } => axes.iter().product(),
            Schedule::Parts { parts, each, .. } => {
                let (size, whole, _) = parts.of(length);
                whole.max(1) * each.width(size)
            }
            Schedule::Halves { most, each, .. } => length.div_ceil(*most) * each.width(*most),
            Schedule::InOrder | Schedule::Backward | Schedule::Compensated(_) | Schedule::Tensor { .. } => 1,
        }
    }
}

impl Parts {
    /// The terms of each part of equal length, how many of these there are, and the terms of those that follow.
    fn of(self, length: usize) -> (usize, usize, Vec<usize>) {
        let size = match self {
            Parts::Of(size) | Parts::Evened { size, .. } => size,
            Parts::Count(count) => length.div_ceil(count).max(1),
        };
        let (whole, over) = (length / size, length % size);
        match self {
            Parts::Evened { multiple, .. } if whole > 0 && over > 0 => {
                let both = size + over;
                let one = (both / 2).next_multiple_of(multiple);
                (size, whole - 1, vec![one, both - one])
            }
            _ => (size, whole, (over > 0).then_some(over).into_iter().collect()),
        }
    }
}

/// The sums of so many terms from each first one on.
pub(crate) fn run<A: Arithmetic>(
    arithmetic: &mut A,
    schedule: &Schedule,
    first: &[usize],
    length: usize,
) -> Vec<A::Lane> {
    let results = arithmetic.results();
    let at_once = (LANES / (schedule.width(length) * results).max(1)).max(1);
    if first.len() > at_once {
        return first.chunks(at_once).flat_map(|first| run(arithmetic, schedule, first, length)).collect();
    }
    let mut sums = vec![A::Lane::default(); first.len() * results];
    if length == 0 {
        return sums;
    }
    match schedule {
        Schedule::InOrder => (0..length).for_each(|at| arithmetic.accumulate(&mut sums, first, at)),
        Schedule::Backward => (0..length).rev().for_each(|at| arithmetic.accumulate(&mut sums, first, at)),
        Schedule::Compensated(how) => return arithmetic.compensated(*how, first, length),
        Schedule::Tensor { unit, begins } => return arithmetic.on_tensor_core(unit, *begins, first, length),
        Schedule::Strided { axes, folds, rest } => {
            let count: usize = axes.iter().product();
            let (rounds, over) = (length / count, length % count);
            let mut partial = vec![A::Lane::default(); count * sums.len()];
            let each: Vec<usize> = first.iter().flat_map(|first| (0..count).map(move |at| first + at)).collect();
            (0..rounds).for_each(|round| arithmetic.accumulate(&mut partial, &each, round * count));
            if *rest == Rest::Spread && over > 0 {
                for (partial, each) in partial.chunks_mut(count * results).zip(each.chunks(count)) {
                    arithmetic.accumulate(&mut partial[..over * results], &each[..over], rounds * count);
                }
            }
            let mut left = axes.clone();
            for &(axis, combine) in folds {
                let within: usize = left[axis + 1..].iter().product();
                partial = folded(arithmetic, partial, left[axis], within * results, combine);
                left[axis] = 1;
            }
            sums = partial;
            if *rest == Rest::After {
                (rounds * count..length).for_each(|at| arithmetic.accumulate(&mut sums, first, at));
            }
        }
        Schedule::Parts { parts, each, combine } => {
            let (size, whole, others) = parts.of(length);
            let starts: Vec<usize> =
                first.iter().flat_map(|first| (0..whole).map(move |at| first + at * size)).collect();
            let partial = run(arithmetic, each, &starts, size);
            let mut begun = whole * size;
            let others: Vec<Vec<A::Lane>> = others
                .iter()
                .map(|&length| {
                    let starts: Vec<usize> = first.iter().map(|first| first + begun).collect();
                    begun += length;
                    run(arithmetic, each, &starts, length)
                })
                .collect();
            let mut all = Vec::with_capacity(partial.len() + others.len() * sums.len());
            for at in 0..first.len() {
                all.extend_from_slice(&partial[at * whole * results..][..whole * results]);
                others.iter().for_each(|other| all.extend_from_slice(&other[at * results..][..results]));
            }
            return folded(arithmetic, all, whole + others.len(), results, *combine);
        }
        Schedule::Halves { most, multiple, each } => {
            let halving = Halving { most: *most, multiple: *multiple };
            if length > FEW.max(*most) {
                let half = halving.half(length);
                let upper: Vec<usize> = first.iter().map(|first| first + half).collect();
                sums = run(arithmetic, schedule, first, half);
                let upper = run(arithmetic, schedule, &upper, length - half);
                arithmetic.add(&mut sums, &upper);
                return sums;
            }
            let mut leaves = Vec::new();
            halving.leaves(0, length, &mut leaves);
            for (sums, &first) in sums.chunks_mut(results).zip(first) {
                let mut partial = vec![A::Lane::default(); leaves.len() * results];
                // Leaves have few lengths.
                let mut lengths: Vec<usize> = leaves.iter().map(|leaf| leaf.1).collect();
                lengths.sort_unstable();
                lengths.dedup();
                for length in lengths {
                    let alike: Vec<usize> = (0..leaves.len()).filter(|&at| leaves[at].1 == length).collect();
                    let starts: Vec<usize> = alike.iter().map(|&at| first + leaves[at].0).collect();
                    let found = run(arithmetic, each, &starts, length);
                    for (&at, found) in alike.iter().zip(found.chunks(results)) {
                        partial[at * results..][..results].copy_from_slice(found);
                    }
                }
                halving.add(arithmetic, &mut partial, length);
                sums.copy_from_slice(&partial[..results]);
            }
        }
    }
    sums
}

/// Folds an axis of so many partial sums, each of so many lanes.
fn folded<A: Arithmetic>(
    arithmetic: &mut A,
    partial: Vec<A::Lane>,
    count: usize,
    lanes: usize,
    combine: Combine,
) -> Vec<A::Lane> {
    if count == 1 {
        return partial;
    }
    let mut sums = Vec::with_capacity(partial.len() / count.max(1));
    let mut partial = partial;
    for group in partial.chunks_mut(count * lanes) {
        match combine {
            Combine::InOrder => {
                let (sum, others) = group.split_at_mut(lanes);
                others.chunks(lanes).for_each(|other| arithmetic.add(sum, other));
            }
            Combine::Halves => {
                let mut left = count;
                while left > 1 {
                    let half = left.div_ceil(2);
                    let (lower, upper) = group[..left * lanes].split_at_mut(half * lanes);
                    arithmetic.add(&mut lower[..upper.len()], upper);
                    left = half;
                }
            }
            Combine::Neighbours => {
                let mut apart = 1;
                while apart < count {
                    for at in (0..count - apart).step_by(2 * apart) {
                        let (lower, upper) = group.split_at_mut((at + apart) * lanes);
                        arithmetic.add(&mut lower[at * lanes..][..lanes], &upper[..lanes]);
                    }
                    apart *= 2;
                }
            }
        }
        sums.extend_from_slice(&group[..lanes]);
    }
    sums
}

/// Halves of halves.
struct Halving {
    most: usize,
    multiple: usize,
}

impl Halving {
    /// The terms of the first half.
    fn half(&self, length: usize) -> usize {
        let half = length / 2;
        half - half % self.multiple
    }

    /// First term and length of every part that is not halved.
    fn leaves(&self, first: usize, length: usize, found: &mut Vec<(usize, usize)>) {
        if length <= self.most {
            found.push((first, length));
            return;
        }
        let half = self.half(length);
        self.leaves(first, half, found);
        self.leaves(first + half, length - half, found);
    }

    /// Adds the parts' sums, in their order in memory, to the first; how many there are.
    fn add<A: Arithmetic>(&self, arithmetic: &mut A, partial: &mut [A::Lane], length: usize) -> usize {
        if length <= self.most {
            return 1;
        }
        let (half, results) = (self.half(length), arithmetic.results());
        let lower = self.add(arithmetic, partial, half);
        let (sum, others) = partial.split_at_mut(lower * results);
        let upper = self.add(arithmetic, others, length - half);
        arithmetic.add(&mut sum[..results], &others[..results]);
        lower + upper
    }
}
