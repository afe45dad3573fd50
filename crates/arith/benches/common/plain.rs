//! The native loop that the kernels are held against: what a compiler makes of `a.mul_add(b, c)` for this machine.
#![allow(unsafe_code)]

macro_rules! plain {
    ($name:ident, $bits:ty, $float:ty) => {
        pub(crate) fn $name(a: &[$bits], b: &[$bits], c: &[$bits], out: &mut [$bits]) {
            #[inline(always)]
            fn lanes(a: &[$bits], b: &[$bits], c: &[$bits], out: &mut [$bits]) {
                for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
                    *out = <$float>::from_bits(*a).mul_add(<$float>::from_bits(*b), <$float>::from_bits(*c)).to_bits();
                }
            }
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
            fn avx512(a: &[$bits], b: &[$bits], c: &[$bits], out: &mut [$bits]) {
                lanes(a, b, c, out);
            }
            #[target_feature(enable = "avx2,fma")]
            fn avx2(a: &[$bits], b: &[$bits], c: &[$bits], out: &mut [$bits]) {
                lanes(a, b, c, out);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: just asked; a machine with VL has BW, DQ and FMA.
                unsafe { avx512(a, b, c, out) }
            } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: just asked.
                unsafe { avx2(a, b, c, out) }
            } else {
                lanes(a, b, c, out)
            }
        }
    };
}
plain!(f32, u32, f32);
plain!(f64, u64, f64);
