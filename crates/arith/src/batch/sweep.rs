//! The loop of all kernels over the lanes of their operands.
#![allow(unsafe_code)]

use core::mem::MaybeUninit;

use super::vector::{Factor, Mode, Plan, Vector, step, steps};
use super::{Job, Lane, Source};

/// Vectors of a turn of the main loop.
const VECTORS: usize = 4;
/// Lanes of the largest turn.
const TURN: usize = VECTORS * 16;

/// A turn of one value, in whole cache lines.
#[repr(align(64))]
struct Uniform<T>([T; TURN]);

/// A stream of lanes: the next ones, and how far it moves in a turn (nowhere if it is uniform).
struct Stream<T> {
    next: *const T,
    turn: usize,
}

impl<T: Lane> Stream<T> {
    /// `buffer` must outlive the stream, as must the slice or `out`.
    #[inline(always)]
    fn new(source: &Source<'_, T>, out: *const T, buffer: &mut MaybeUninit<Uniform<T>>, turn: usize) -> Stream<T> {
        match source {
            Source::Slice(slice) => Stream { next: slice.as_ptr(), turn },
            Source::Out => Stream { next: out, turn },
            Source::Uniform(value) => {
                let buffer = buffer.as_mut_ptr().cast::<T>();
                for lane in 0..turn {
                    // SAFETY: a turn is at most `TURN` lanes.
                    unsafe { buffer.add(lane).write(*value) };
                }
                Stream { next: buffer, turn: 0 }
            }
        }
    }

    /// # Safety
    /// A stream that is not uniform must have this many lanes left, at most a turn.
    #[inline(always)]
    unsafe fn advance(&mut self, lanes: usize) {
        // SAFETY: the caller's word.
        self.next = unsafe { self.next.add(lanes.min(self.turn)) };
    }
}

/// The loop over a job's vectors.
#[inline(always)]
pub(super) fn sweep<V: Vector, F: Factor<V>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    let plan = Plan::<V>::new(job);
    let length = out.len();
    let turn = VECTORS * V::LANES;
    let base = out.as_mut_ptr();
    let (mut uniform_a, mut uniform_b) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let mut uniform_c = MaybeUninit::uninit();
    // A factor is `Out` only where both types are the same (`Batch` checks it).
    let mut a = Stream::new(job.factors[0], base.cast_const().cast(), &mut uniform_a, turn);
    let mut b = Stream::new(job.factors[1], base.cast_const().cast(), &mut uniform_b, turn);
    let mut c = Stream::new(job.addend, base.cast_const(), &mut uniform_c, turn);
    let mut done = 0;
    let streaming = job.streams(length);
    // Stores around the cache want `out` aligned: so many lanes come first, fewer than a vector's.
    let size = size_of::<V::Lane>();
    let unaligned = base.addr().wrapping_neg() % (V::LANES * size) / size;
    let mut first = if streaming { unaligned.min(length) } else { 0 };
    // A loop for each way to store.
    macro_rules! turns {
        ($store:ident) => {
            while length - done >= turn {
                // SAFETY: each stream has `turn` lanes from `next` on: a slice and `out` have `length` lanes, of which
                // `done` lie behind, and a uniform has a turn. Arrays of integers need no more than their elements'
                // alignment; where a store wants more, `out` is aligned from `done` on. What is read of `out` is a copy
                // by the time that anything is written there.
                unsafe {
                    let load = |number: usize| {
                        let at = number * V::LANES;
                        let (a, b) = (F::load(&*a.next.add(at).cast()), F::load(&*b.next.add(at).cast()));
                        [a, b, V::load(&*c.next.add(at).cast())]
                    };
                    let store =
                        |number: usize, vector: V| vector.$store(&mut *base.add(done + number * V::LANES).cast());
                    let operands = [load(0), load(1), load(2), load(3)];
                    if let Some([zeroth, first, second, third]) =
                        steps::<V, ROUND, KIND, MODE, VECTORS>(&plan, operands)
                    {
                        store(0, zeroth);
                        store(1, first);
                        store(2, second);
                        store(3, third);
                    } else {
                        for number in 0..VECTORS {
                            store(number, step::<V, ROUND, KIND, MODE>(&plan, load(number)));
                        }
                    }
                    a.next = a.next.add(a.turn);
                    b.next = b.next.add(b.turn);
                    c.next = c.next.add(c.turn);
                }
                done += turn;
            }
        };
    }
    loop {
        if first == 0 {
            if streaming {
                turns!(stream);
            } else {
                turns!(store);
            }
        }
        if done == length {
            break;
        }
        // What is left over, a vector at a time, through arrays where it is less.
        let count = if first > 0 { first } else { V::LANES.min(length - done) };
        first = 0;
        let [mut fa, mut fb] = [F::Array::default(); 2];
        let [mut vc, mut result] = [V::Array::default(); 2];
        let (mut pa, mut pb, mut pc) = (a.next, b.next, c.next);
        // SAFETY: each stream has `count` lanes from `next` on, so does `out` from `done` on, and the arrays have
        // `LANES`, which is no fewer.
        unsafe {
            if count < V::LANES {
                pa.copy_to_nonoverlapping(fa.as_mut().as_mut_ptr(), count);
                pb.copy_to_nonoverlapping(fb.as_mut().as_mut_ptr(), count);
                pc.copy_to_nonoverlapping(vc.as_mut().as_mut_ptr(), count);
                (pa, pb, pc) = (fa.as_ref().as_ptr(), fb.as_ref().as_ptr(), vc.as_ref().as_ptr());
            }
            let abc = [F::load(&*pa.cast()), F::load(&*pb.cast()), V::load(&*pc.cast())];
            let vector = step::<V, ROUND, KIND, MODE>(&plan, abc);
            if count < V::LANES {
                vector.store(&mut result);
                base.add(done).copy_from_nonoverlapping(result.as_ref().as_ptr(), count);
            } else if streaming {
                vector.stream(&mut *base.add(done).cast());
            } else {
                vector.store(&mut *base.add(done).cast());
            }
            a.advance(count);
            b.advance(count);
            c.advance(count);
        }
        done += count;
    }
    if streaming {
        V::order_streams();
    }
}
