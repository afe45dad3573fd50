//! Contenders that take turns.

use std::hint::black_box;
use std::time::Instant;

use cpu_time::ThreadTime;

/// Works over as many lanes, the first of them the one that the others are held against.
pub(crate) struct Bench<'a, T> {
    pub(crate) group: &'a str,
    size: &'a str,
    lanes: usize,
    filter: &'a str,
    contenders: Vec<Contender<'a, T>>,
    /// Of all contenders: how it lies to the operands decides much in the first-level cache.
    out: Lines<T>,
}

type Repeat<'a, T> = Box<dyn FnMut(&mut [T]) + 'a>;

enum Work<'a, T> {
    /// One repeat.
    Here(Repeat<'a, T>),
    /// So many repeats, timed by the callee: nanoseconds.
    Elsewhere(Box<dyn FnMut(usize) -> f64 + 'a>),
}

struct Contender<'a, T> {
    name: String,
    threads: usize,
    work: Work<'a, T>,
    /// Of a turn.
    repeats: usize,
    times: Vec<f64>,
}

/// Nanoseconds of a turn where the work is short: neither the clock nor waking the units of wide vectors matters.
const TURN: f64 = 2e6;
/// Rounds that are not counted.
const WARMING: usize = 2;

impl<'a, T: Copy + Default> Bench<'a, T> {
    pub(crate) fn new(group: &'a str, size: &'a str, lanes: usize, filter: &'a str) -> Bench<'a, T> {
        Bench { group, size, lanes, filter, contenders: Vec::new(), out: Lines::new(lanes, T::default) }
    }

    /// The first is always kept: it is what ratios are to.
    pub(crate) fn add(&mut self, name: &str, work: impl FnMut(&mut [T]) + 'a) {
        self.push(name, 1, Work::Here(Box::new(work)));
    }

    /// The same for work on several threads.
    pub(crate) fn add_threaded(&mut self, name: &str, threads: usize, work: impl FnMut(&mut [T]) + 'a) {
        self.push(name, threads, Work::Here(Box::new(work)));
    }

    /// The same for work that takes the number of repeats and returns its nanoseconds.
    pub(crate) fn add_timed(&mut self, name: &str, work: impl FnMut(usize) -> f64 + 'a) {
        self.push(name, 1, Work::Elsewhere(Box::new(work)));
    }

    fn push(&mut self, name: &str, threads: usize, work: Work<'a, T>) {
        let full = format!("{} {} {name}", self.group, self.size);
        if self.contenders.is_empty() || full.contains(self.filter) {
            self.contenders.push(Contender { name: name.into(), threads, work, repeats: 1, times: Vec::new() });
        }
    }

    /// Lets the contenders take turns; none if there is only the first.
    pub(crate) fn measure(mut self) -> Vec<Measured> {
        if self.contenders.len() < 2 {
            return Vec::new();
        }
        let rounds = match self.lanes {
            0..=0xf_ffff => 101,
            0x10_0000..=0x1ff_ffff => 15,
            _ => 5,
        };
        for round in 0..rounds + WARMING {
            for contender in &mut self.contenders {
                let spent = match &mut contender.work {
                    Work::Here(work) => {
                        let (wall, processor) = (Instant::now(), ThreadTime::now());
                        for _ in 0..contender.repeats {
                            work(black_box(&mut self.out));
                        }
                        // On one thread, what the processor spent: what else is busy does not count.
                        let spent = if contender.threads == 1 { processor.elapsed() } else { wall.elapsed() };
                        spent.as_nanos() as f64
                    }
                    Work::Elsewhere(work) => work(contender.repeats),
                };
                // The first rounds warm caches and pages, and find how often the work fits into a turn.
                let each = spent / contender.repeats as f64;
                if round < WARMING {
                    contender.repeats = (TURN / each).clamp(1.0, 100_000.0) as usize;
                } else {
                    contender.times.push(each / self.lanes as f64);
                }
            }
        }
        let plain = self.contenders[0].times.clone();
        let measured = |contender: Contender<'a, T>| {
            let ratios = contender.times.iter().zip(&plain).map(|(time, plain)| time / plain).collect();
            Measured { name: contender.name, nanoseconds: quartiles(contender.times), ratio: quartiles(ratios) }
        };
        self.contenders.into_iter().map(measured).collect()
    }
}

/// What one contender took.
pub(crate) struct Measured {
    pub(crate) name: String,
    /// A lane's, over the rounds: first quartile, median, third.
    pub(crate) nanoseconds: [f64; 3],
    /// To the first contender in the same round: the same three.
    pub(crate) ratio: [f64; 3],
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
    use roundonce_oracle::generate::SplitMix64;

    fn bits(seed: u64) -> impl FnMut() -> u64 {
        let mut random = SplitMix64(seed);
        move || random.next_bits()
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
