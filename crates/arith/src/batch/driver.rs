//! The loop of all kernels over their operands' vectors.
#![allow(unsafe_code)]

use core::mem::MaybeUninit;

use super::vector::{Factor, Mode, Plan, Vector, step, steps};
use super::{Job, Lane, Source};

/// Vectors of an iteration of the unrolled main loop.
const VECTORS: usize = 4;
/// Lanes of the largest iteration.
const MAX_STRIDE: usize = VECTORS * 32;

/// One value repeated for an iteration, in whole cache lines.
#[repr(align(64))]
struct Uniform<T>([T; MAX_STRIDE]);

/// A position in an operand's lanes, and how far it moves in an iteration (0 if the operand is uniform).
struct Cursor<T> {
    next: *const T,
    stride: usize,
}

impl<T: Lane> Cursor<T> {
    /// `buffer` must outlive the cursor, as must the slice or `out`.
    #[inline(always)]
    fn new(source: &Source<'_, T>, out: *const T, buffer: &mut MaybeUninit<Uniform<T>>, stride: usize) -> Cursor<T> {
        match source {
            Source::Slice(slice) => Cursor { next: slice.as_ptr(), stride },
            Source::Out => Cursor { next: out, stride },
            Source::Uniform(value) => {
                let buffer = buffer.as_mut_ptr().cast::<T>();
                for lane in 0..stride {
                    // SAFETY: an iteration is at most `MAX_STRIDE` lanes.
                    unsafe { buffer.add(lane).write(*value) };
                }
                Cursor { next: buffer, stride: 0 }
            }
        }
    }

    /// # Safety
    /// If the operand is not uniform it must have this many lanes left, at most an iteration's.
    #[inline(always)]
    unsafe fn advance(&mut self, lanes: usize) {
        // SAFETY: as required of the caller.
        self.next = unsafe { self.next.add(lanes.min(self.stride)) };
    }
}

/// The operands of a vector of an iteration. A function that is always inlined: intrinsics are not inlined in a closure.
///
/// # Safety
/// The cursors must have the vector's lanes.
#[inline(always)]
unsafe fn load<V: Vector, F: Factor<V>>(
    a: &Cursor<F::Lane>,
    b: &Cursor<F::Lane>,
    c: &Cursor<V::Lane>,
    number: usize,
) -> [V; 3] {
    let at = number * V::LANES;
    // SAFETY: as required of the caller.
    unsafe { [F::load(&*a.next.add(at).cast()), F::load(&*b.next.add(at).cast()), V::load(&*c.next.add(at).cast())] }
}

/// Runs the kernel over a job's vectors.
#[inline(always)]
pub(super) fn for_each_vector<V: Vector, F: Factor<V>, const ROUND: i32, const OP: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    let plan = Plan::<V>::new(job);
    let length = out.len();
    let stride = VECTORS * V::LANES;
    let base = out.as_mut_ptr();
    let (mut uniform_a, mut uniform_b) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let mut uniform_c = MaybeUninit::uninit();
    // A factor is `Out` only where both types are the same (`Batch` checks it).
    let mut a = Cursor::new(job.factors[0], base.cast_const().cast(), &mut uniform_a, stride);
    let mut b = Cursor::new(job.factors[1], base.cast_const().cast(), &mut uniform_b, stride);
    let mut c = Cursor::new(job.addend, base.cast_const(), &mut uniform_c, stride);
    let mut done = 0;
    let nontemporal = job.bypasses_cache(length);
    // Non-temporal stores need `out` aligned: so many lanes come first, fewer than a vector's.
    let size = size_of::<V::Lane>();
    let unaligned = base.addr().wrapping_neg() % (V::LANES * size) / size;
    let mut first = if nontemporal { unaligned.min(length) } else { 0 };
    // One loop for each kind of store.
    macro_rules! unrolled_loop {
        ($store:ident) => {
            // Where the loop starts decides whether some processors keep its jumps in their cache of decoded
            // instructions: without this, the same kernel takes 1.3 or 1.8 times the plain loop.
            #[cfg(target_arch = "x86_64")]
            // SAFETY: padding only.
            unsafe {
                core::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
            }
            while length - done >= stride {
                // SAFETY: each cursor has `stride` lanes from `next` on: a slice and `out` have `length` lanes, of which
                // `done` are processed, and a uniform has an iteration's. Arrays of integers need no more than their
                // elements' alignment; where a store needs more, `out` is aligned from `done` on. What is read from
                // `out` is copied before anything is written there.
                unsafe {
                    let to = |number: usize| &mut *base.add(done + number * V::LANES).cast();
                    let operands = [
                        load::<V, F>(&a, &b, &c, 0),
                        load::<V, F>(&a, &b, &c, 1),
                        load::<V, F>(&a, &b, &c, 2),
                        load::<V, F>(&a, &b, &c, 3),
                    ];
                    if let Some([zeroth, first, second, third]) =
                        steps::<V, ROUND, OP, MODE, VECTORS>(&plan, operands)
                    {
                        zeroth.$store::<ROUND>(to(0));
                        first.$store::<ROUND>(to(1));
                        second.$store::<ROUND>(to(2));
                        third.$store::<ROUND>(to(3));
                    } else {
                        for number in 0..VECTORS {
                            let vector = step::<V, ROUND, OP, MODE>(&plan, load::<V, F>(&a, &b, &c, number));
                            vector.$store::<ROUND>(to(number));
                        }
                    }
                    a.next = a.next.add(a.stride);
                    b.next = b.next.add(b.stride);
                    c.next = c.next.add(c.stride);
                }
                done += stride;
            }
        };
    }
    loop {
        if first == 0 {
            if nontemporal {
                unrolled_loop!(store_nontemporal);
            } else {
                unrolled_loop!(store);
            }
        }
        if done == length {
            break;
        }
        // The rest, one vector at a time, through arrays if it is less than a vector.
        let count = if first > 0 { first } else { V::LANES.min(length - done) };
        first = 0;
        let [mut fa, mut fb] = [F::Array::default(); 2];
        let [mut vc, mut result] = [V::Array::default(); 2];
        let (mut pa, mut pb, mut pc) = (a.next, b.next, c.next);
        // SAFETY: each cursor has `count` lanes from `next` on, so does `out` from `done` on, and the arrays have
        // `LANES`, which is no fewer.
        unsafe {
            if count < V::LANES {
                pa.copy_to_nonoverlapping(fa.as_mut().as_mut_ptr(), count);
                pb.copy_to_nonoverlapping(fb.as_mut().as_mut_ptr(), count);
                pc.copy_to_nonoverlapping(vc.as_mut().as_mut_ptr(), count);
                (pa, pb, pc) = (fa.as_ref().as_ptr(), fb.as_ref().as_ptr(), vc.as_ref().as_ptr());
            }
            let abc = [F::load(&*pa.cast()), F::load(&*pb.cast()), V::load(&*pc.cast())];
            let vector = step::<V, ROUND, OP, MODE>(&plan, abc);
            if count < V::LANES {
                vector.store::<ROUND>(&mut result);
                base.add(done).copy_from_nonoverlapping(result.as_ref().as_ptr(), count);
            } else if nontemporal {
                vector.store_nontemporal::<ROUND>(&mut *base.add(done).cast());
            } else {
                vector.store::<ROUND>(&mut *base.add(done).cast());
            }
            a.advance(count);
            b.advance(count);
            c.advance(count);
        }
        done += count;
    }
    if nontemporal {
        V::store_fence();
    }
}
