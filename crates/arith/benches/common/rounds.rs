//! Contenders that take turns.

use std::hint::black_box;
use std::time::Instant;

/// Works over as many lanes, the first of them the one that the others are held against.
pub(crate) struct Bench<'a, T> {
    group: &'a str,
    size: &'a str,
    lanes: usize,
    filter: &'a str,
    contenders: Vec<Contender<'a, T>>,
    /// Of all contenders: how it lies to the operands decides much in the first-level cache.
    out: Lines<T>,
}

type Work<'a, T> = Box<dyn FnMut(&mut [T]) + 'a>;

struct Contender<'a, T> {
    name: String,
    work: Work<'a, T>,
    times: Vec<f64>,
}

impl<'a, T: Copy + Default> Bench<'a, T> {
    pub(crate) fn new(group: &'a str, size: &'a str, lanes: usize, filter: &'a str) -> Bench<'a, T> {
        Bench { group, size, lanes, filter, contenders: Vec::new(), out: Lines::new(lanes, T::default) }
    }

    /// The first is always kept: it is what ratios are to.
    pub(crate) fn add(&mut self, name: &str, work: impl FnMut(&mut [T]) + 'a) {
        let full = format!("{} {} {name}", self.group, self.size);
        if self.contenders.is_empty() || full.contains(self.filter) {
            let contender = Contender { name: name.into(), work: Box::new(work), times: Vec::new() };
            self.contenders.push(contender);
        }
    }

    /// Runs and prints.
    pub(crate) fn finish(mut self) {
        if self.contenders.len() < 2 {
            return;
        }
        // About 30 microseconds a turn where the work is short, so that the clock does not matter.
        let repeats = (400_000 / self.lanes).clamp(1, 400);
        let rounds = if self.lanes > 1 << 20 { 15 } else { 101 };
        for round in 0..=rounds {
            for contender in &mut self.contenders {
                let start = Instant::now();
                for _ in 0..repeats {
                    (contender.work)(black_box(&mut self.out));
                }
                let nanoseconds = start.elapsed().as_nanos() as f64 / (repeats * self.lanes) as f64;
                // The first round warms caches and pages.
                if round > 0 {
                    contender.times.push(nanoseconds);
                }
            }
        }
        let plain = self.contenders[0].times.clone();
        for contender in &self.contenders {
            let ratios = contender.times.iter().zip(&plain).map(|(time, plain)| time / plain).collect();
            let [low, median, high] = quartiles(contender.times.clone());
            println!(
                "{:42} {:>6} {median:9.4} {:>18} {:7.2}",
                format!("{}: {}", self.group, contender.name),
                self.size,
                format!("{low:.4}–{high:.4}"),
                quartiles(ratios)[1],
            );
        }
    }
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

const PAGE: usize = 4096;

/// An array that begins with a page, as an allocator places large ones: loads and stores at one index are then a whole
/// number of pages apart, and none waits for another that only looks like it.
pub(crate) struct Lines<T> {
    all: Vec<T>,
    start: usize,
    lanes: usize,
}

impl<T: Copy + Default> Lines<T> {
    pub(crate) fn new(lanes: usize, mut next: impl FnMut() -> T) -> Lines<T> {
        let mut all = vec![T::default(); lanes + PAGE / size_of::<T>()];
        let start = all.as_ptr().align_offset(PAGE);
        all[start..start + lanes].fill_with(&mut next);
        Lines { all, start, lanes }
    }
}

impl<T> std::ops::Deref for Lines<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.all[self.start..self.start + self.lanes]
    }
}

impl<T> std::ops::DerefMut for Lines<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all[self.start..self.start + self.lanes]
    }
}

/// Operands.
pub(crate) mod random {
    use super::Lines;

    /// SplitMix64.
    fn bits(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        }
    }
    /// Of either sign, magnitudes around one.
    pub(crate) fn f32s(lanes: usize, seed: u64) -> Lines<u32> {
        let mut next = bits(seed);
        Lines::new(lanes, || next() as u32 & 0x81ff_ffff | 0x3e00_0000)
    }
    /// The same.
    pub(crate) fn f64s(lanes: usize, seed: u64) -> Lines<u64> {
        let mut next = bits(seed);
        Lines::new(lanes, || next() & 0x803f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000)
    }
    /// Magnitudes around one for f16, of middling size for bf16.
    pub(crate) fn halves(lanes: usize, seed: u64) -> Lines<u16> {
        let mut next = bits(seed);
        Lines::new(lanes, || next() as u16 & 0x8fff | 0x3000)
    }
    /// One lane in `each` becomes subnormal, where it happens to fall.
    pub(crate) fn with_subnormals(mut lanes: Lines<u32>, each: u64, seed: u64) -> Lines<u32> {
        let mut next = bits(seed);
        for lane in lanes.iter_mut() {
            if next().is_multiple_of(each) {
                *lane &= 0x807f_ffff;
            }
        }
        lanes
    }
}
