//! What a compiler makes of the kernels for this machine: lanes side by side, sixteen or eight at a time.
#![allow(unsafe_code)]

/// `TILE` lanes are worked on together, so that sums stay in registers: as many with AVX-512 and with AVX2.
macro_rules! native {
    ($name:ident($($arg:ident: $ty:ty),*) $body:block) => {
        native!(128, 64; $name($($arg: $ty),*) $body);
    };
    ($wide:literal, $narrow:literal; $name:ident($($arg:ident: $ty:ty),*) $body:block) => {
        pub(crate) fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn portable<const TILE: usize>($($arg: $ty),*) $body
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
            fn avx512($($arg: $ty),*) {
                portable::<$wide>($($arg),*);
            }
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) {
                portable::<$narrow>($($arg),*);
            }
            if !*$crate::AVX2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: just asked; a machine with VL has BW, DQ and FMA.
                unsafe { avx512($($arg),*) }
            } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: just asked.
                unsafe { avx2($($arg),*) }
            } else {
                portable::<$narrow>($($arg),*)
            }
        }
    };
}

pub(crate) use native;

#[inline(always)]
pub(crate) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

native!(saxpy(a: u32, x: &[u32], y: &mut [u32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = f(a).mul_add(f(x), f(*y)).to_bits();
    }
});

native!(horner(coefficients: &[u32], x: &[u32], y: &mut [u32]) {
    for (y, x) in y.chunks_exact_mut(TILE).zip(x.chunks_exact(TILE)) {
        let mut sums = [f(coefficients[0]); TILE];
        for &coefficient in &coefficients[1..] {
            for (sum, &x) in sums.iter_mut().zip(x) {
                *sum = sum.mul_add(f(x), f(coefficient));
            }
        }
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = sum.to_bits();
        }
    }
});

native!(gemm(n: usize, a: &[u32], b: &[u32], c: &mut [u32]) {
    for row in 0..n {
        for column in (0..n).step_by(TILE) {
            let mut sums = [0f32; TILE];
            for k in 0..n {
                let factor = f(a[row * n + k]);
                for (sum, &b) in sums.iter_mut().zip(&b[k * n + column..k * n + column + TILE]) {
                    *sum = factor.mul_add(f(b), *sum);
                }
            }
            for (c, sum) in c[row * n + column..].iter_mut().zip(sums) {
                *c = sum.to_bits();
            }
        }
    }
});

native!(fir(h: &[u32], x: &[u32], y: &mut [u32]) {
    for (tile, y) in y.chunks_exact_mut(TILE).enumerate() {
        let mut sums = [0f32; TILE];
        for (tap, &h) in h.iter().enumerate() {
            let start = tile * TILE + tap;
            for (sum, &x) in sums.iter_mut().zip(&x[start..start + TILE]) {
                *sum = f(h).mul_add(f(x), *sum);
            }
        }
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = sum.to_bits();
        }
    }
});

native!(divergent(rounds: u32, c: &[u32], y: &mut [u32]) {
    for (y, &c) in y.iter_mut().zip(c) {
        let (mut z, mut count) = (0f32, 0);
        loop {
            z = z.mul_add(z, f(c));
            count += 1;
            if count >= rounds || z.partial_cmp(&4.0) != Some(core::cmp::Ordering::Less) {
                break;
            }
        }
        *y = count;
    }
});

// The first four in f64, half as many lanes at a time.

native!(64, 32; saxpy_double(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = a.mul_add(x, *y);
    }
});

native!(64, 32; horner_double(coefficients: &[f64], x: &[f64], y: &mut [f64]) {
    for (y, x) in y.chunks_exact_mut(TILE).zip(x.chunks_exact(TILE)) {
        let mut sums = [coefficients[0]; TILE];
        for &coefficient in &coefficients[1..] {
            for (sum, &x) in sums.iter_mut().zip(x) {
                *sum = sum.mul_add(x, coefficient);
            }
        }
        y.copy_from_slice(&sums);
    }
});

native!(64, 32; gemm_double(n: usize, a: &[f64], b: &[f64], c: &mut [f64]) {
    for row in 0..n {
        for column in (0..n).step_by(TILE) {
            let mut sums = [0f64; TILE];
            for k in 0..n {
                let factor = a[row * n + k];
                for (sum, &b) in sums.iter_mut().zip(&b[k * n + column..k * n + column + TILE]) {
                    *sum = factor.mul_add(b, *sum);
                }
            }
            c[row * n + column..row * n + column + TILE].copy_from_slice(&sums);
        }
    }
});

native!(64, 32; fir_double(h: &[f64], x: &[f64], y: &mut [f64]) {
    for (tile, y) in y.chunks_exact_mut(TILE).enumerate() {
        let mut sums = [0f64; TILE];
        for (tap, &h) in h.iter().enumerate() {
            let start = tile * TILE + tap;
            for (sum, &x) in sums.iter_mut().zip(&x[start..start + TILE]) {
                *sum = h.mul_add(x, *sum);
            }
        }
        y.copy_from_slice(&sums);
    }
});
