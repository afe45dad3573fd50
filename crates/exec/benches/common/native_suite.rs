//! What a compiler makes of kernels K5 to K14 for this machine: one block after another, its threads side by side.
#![allow(unsafe_code)]

use super::native::{f, native};

native!(stencil(width: usize, weights: (u32, u32), x: &[u32], out: &mut [u32]) {
    let height = x.len() / width;
    let (centre, side) = (f(weights.0), f(weights.1));
    for row in 1..height - 1 {
        let at = row * width;
        let (north, south) = (&x[at - width..at], &x[at + width..at + 2 * width]);
        let (here, out) = (&x[at..at + width], &mut out[at..at + width]);
        for column in 1..width - 1 {
            let around = (f(here[column - 1]) + f(here[column + 1])) + (f(north[column]) + f(south[column]));
            out[column] = side.mul_add(around, centre * f(here[column])).to_bits();
        }
    }
});

/// As warps sum: by steps of half.
#[inline(always)]
fn tree(values: &mut [f32]) -> f32 {
    let mut step = values.len() / 2;
    while step > 0 {
        let (low, high) = values.split_at_mut(step);
        low.iter_mut().zip(high).for_each(|(low, &mut high)| *low += high);
        step /= 2;
    }
    values[0]
}
/// The sum of a block of 256 threads.
#[inline(always)]
fn block_sum(mut sums: [f32; 256]) -> f32 {
    let mut parts: [f32; 8] = core::array::from_fn(|warp| tree(&mut sums[32 * warp..32 * warp + 32]));
    tree(&mut parts)
}

native!(reduce(x: &[u32], out: &mut [u32]) {
    let stride = 256 * out.len();
    for (block, out) in out.iter_mut().enumerate() {
        let mut sums = [0f32; 256];
        for x in x[256 * block..].chunks(stride) {
            sums.iter_mut().zip(x).for_each(|(sum, &x)| *sum += f(x));
        }
        *out = block_sum(sums).to_bits();
    }
});

native!(histogram(x: &[u32], out: &mut [u32]) {
    for word in x {
        word.to_le_bytes().iter().for_each(|&byte| out[usize::from(byte)] += 1);
    }
});

/// e^x to a few units in the last place, as one writes it for a vector: a power of two by its bits, a polynomial for the rest.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let at = x * core::f32::consts::LOG2_E;
    let whole = at.round_ties_even();
    let rest = at - whole;
    let terms = [1.540_353e-4, 1.333_355_8e-3, 9.618_129e-3, 5.550_411e-2, 0.240_226_5, core::f32::consts::LN_2, 1.0];
    let power = terms.into_iter().reduce(|sum, term| sum.mul_add(rest, term)).unwrap_or(1.0);
    let whole = whole.max(-126.0);
    // SAFETY: between -126 and 127; softmax's arguments are not positive.
    let exponent: i32 = unsafe { whole.to_int_unchecked() };
    power * f32::from_bits(((exponent + 127) << 23) as u32)
}

/// What the threads of a block of 256 sum, each four of a row.
#[inline(always)]
fn row_sum(row: &[f32; 1024], of: impl Fn(f32, f32, f32, f32) -> f32) -> f32 {
    block_sum(core::array::from_fn(|thread| {
        let four = &row[4 * thread..4 * thread + 4];
        of(four[0], four[1], four[2], four[3])
    }))
}

native!(softmax(x: &[u32], out: &mut [u32]) {
    for (x, out) in x.chunks_exact(1024).zip(out.chunks_exact_mut(1024)) {
        let mut row: [f32; 1024] = core::array::from_fn(|at| f(x[at]));
        let mut most = [f32::NEG_INFINITY; 16];
        for part in row.chunks_exact(16) {
            most.iter_mut().zip(part).for_each(|(most, &x)| *most = if x > *most { x } else { *most });
        }
        let most = most.into_iter().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|x| *x = exp(*x - most));
        let sum = row_sum(&row, |a, b, c, d| (a + b) + (c + d));
        out.iter_mut().zip(&row).for_each(|(out, x)| *out = (x / sum).to_bits());
    }
});

native!(layer_norm(x: &[u32], weights: &[u32], shifts: &[u32], out: &mut [u32]) {
    for (x, out) in x.chunks_exact(1024).zip(out.chunks_exact_mut(1024)) {
        let mut row: [f32; 1024] = core::array::from_fn(|at| f(x[at]));
        let mean = row_sum(&row, |a, b, c, d| (a + b) + (c + d)) * (1.0 / 1024.0);
        row.iter_mut().for_each(|x| *x -= mean);
        let sum = row_sum(&row, |a, b, c, d| a.mul_add(a, b * b) + c.mul_add(c, d * d));
        let scale = 1.0 / sum.mul_add(1.0 / 1024.0, 1e-5).sqrt();
        for (((out, x), &weight), &shift) in out.iter_mut().zip(row).zip(weights).zip(shifts) {
            *out = (x * scale).mul_add(f(weight), f(shift)).to_bits();
        }
    }
});

native!(bitonic(x: &mut [u32]) {
    for own in x.chunks_exact_mut(512) {
        for length in (1..=9).map(|log| 1usize << log) {
            let mut step = length / 2;
            while step > 0 {
                for (at, pair) in own.chunks_exact_mut(2 * step).enumerate() {
                    let up = (at * 2 * step) & length == 0;
                    let (low, high) = pair.split_at_mut(step);
                    for (low, high) in low.iter_mut().zip(high) {
                        let (a, b) = (f(*low), f(*high));
                        let (less, more) = if b < a { (b, a) } else { (a, b) };
                        (*low, *high) = if up { (less.to_bits(), more.to_bits()) } else { (more.to_bits(), less.to_bits()) };
                    }
                }
                step /= 2;
            }
        }
    }
});

native!(fft_stage(p: usize, x: &[u32], turns: &[u32], out: &mut [u32]) {
    let (first, second) = x.split_at(x.len() / 2);
    // Each twiddle factor once, side by side.
    let every = x.len() / 4 / p;
    let turns: Vec<u32> = (0..p).flat_map(|k| [turns[2 * k * every], turns[2 * k * every + 1]]).collect();
    for ((a, b), out) in first.chunks_exact(2 * p).zip(second.chunks_exact(2 * p)).zip(out.chunks_exact_mut(4 * p)) {
        let (low, high) = out.split_at_mut(2 * p);
        for k in 0..p {
            let (ax, ay, bx, by) = (f(a[2 * k]), f(a[2 * k + 1]), f(b[2 * k]), f(b[2 * k + 1]));
            let (wx, wy) = (f(turns[2 * k]), f(turns[2 * k + 1]));
            let (re, im) = (bx.mul_add(wx, -(by * wy)), bx.mul_add(wy, by * wx));
            (low[2 * k], low[2 * k + 1]) = ((ax + re).to_bits(), (ay + im).to_bits());
            (high[2 * k], high[2 * k + 1]) = ((ax - re).to_bits(), (ay - im).to_bits());
        }
    }
});

native!(lookup(steps: usize, table: &[u32], x: &[u32], out: &mut [u32]) {
    assert!(table.len() > steps);
    for (&x, out) in x.iter().zip(out) {
        let x = f(x);
        let at = (if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }) * steps as f32;
        // SAFETY: between 0 and `steps`, one less than the table's length at most.
        let (step, low, high) = unsafe {
            let step = at.to_int_unchecked::<i32>().min(steps as i32 - 1);
            (step, *table.get_unchecked(step as usize), *table.get_unchecked(step as usize + 1))
        };
        *out = (at - step as f32).mul_add(f(high) - f(low), f(low)).to_bits();
    }
});

native!(sum_by_index(index: &[u32], x: &[u32], out: &mut [u32]) {
    for (&index, &x) in index.iter().zip(x) {
        let sum = &mut out[index as usize];
        *sum = (f(*sum) + f(x)).to_bits();
    }
});

native!(keep(limit: f32, x: &[u32], out: &mut [u32]) {
    let (count, kept) = out.split_at_mut(1);
    for &x in x {
        if f(x) > limit {
            kept[count[0] as usize & (kept.len() - 1)] = x;
            count[0] += 1;
        }
    }
});
