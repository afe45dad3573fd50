//! Whole matrices and many dot products: multiply-adds a second and steps a second of one core, on every level of vector
//! instructions, beside a plain loop of the processor's own fused multiply-adds over the same matrices.
//!
//! `cargo bench -p roundonce-ptx --bench matrix [SIZE]`: matrices of SIZE × SIZE × SIZE (1024 by default).

use roundonce_arith::batch::Level;
use roundonce_arith::{Elements, Format, MatrixProduct, Pairs, Profile, Vectors};
use roundonce_oracle::generate::SplitMix64;
use roundonce_ptx::matrix::MatrixInstruction;
use std::time::{Duration, Instant};

const ROWS: [(&str, u32); 8] = [
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 80),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 90),
    ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 90),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 90),
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 80),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 89),
    ("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", 90),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 120),
];

/// The shortest of a few runs.
fn shortest(mut run: impl FnMut()) -> Duration {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..3).map(|_| time(&mut run)).min().unwrap_or_default()
}

fn main() {
    let size: usize = std::env::args().filter_map(|text| text.parse().ok()).next().unwrap_or(1024);
    let mut random = SplitMix64(1);
    println!("one core, {size} × {size} × {size}; steps: dot products of one instruction each");
    println!("{:>8} {:>9} {:>12} {:>12}  instruction", "level", "on", "G madd/s", "M steps/s");
    for (text, target) in ROWS {
        let dot = MatrixInstruction::parse(text).unwrap().row(target.into(), &Profile::NVIDIA).unwrap().dot;
        let mut take = |count: usize| {
            let width = dot.a.stride();
            let mut all = Elements::of_width(width);
            for _ in 0..count {
                let bits = random.next_bits();
                // Exponents around 1, as data have them.
                all.push(match width {
                    8 => bits & 0x80 | ((bits >> 8 & 0x1f) + 0x28),
                    16 if dot.a == roundonce_arith::Element::Float(Format::F16) => {
                        bits & 0x83ff | (0x3400 + (bits >> 20 & 0xc00))
                    }
                    16 => bits & 0x807f | (0x3f00 + (bits >> 20 & 0x180)),
                    _ => bits & 0x807f_e000 | (0x3f00_0000 + (bits >> 20 & 0x180_0000)),
                });
            }
            all
        };
        let (a, b) = (take(size * size), take(size * size));
        for level in
            [Level::Avx512, Level::Avx2, Level::Neon, Level::Portable].into_iter().filter(|level| level.is_available())
        {
            let k = dot.k as usize;
            let whole = MatrixProduct::new(
                dot,
                &Profile::NVIDIA,
                Vectors::new(&a, size, 1),
                Vectors::new(&b, 1, size),
                Pairs::All { columns: size },
                size,
            );
            let whole = whole.unwrap().at(level);
            let mut sums = vec![0u64; size * size];
            let time = shortest(|| whole.rows(0, &mut sums)).as_secs_f64();
            let count = size * size / k;
            let each = MatrixProduct::new(
                dot,
                &Profile::NVIDIA,
                Vectors::new(&a, k, 1),
                Vectors::new(&b, k, 1),
                Pairs::Each,
                k,
            )
            .unwrap()
            .at(level);
            let mut sums = vec![0u64; count];
            let time_each = shortest(|| each.rows(0, &mut sums)).as_secs_f64();
            println!(
                "{:>8} {:>9} {:>12.2} {:>12.1}  {text}",
                format!("{level:?}"),
                format!("sm_{target}"),
                (size as f64).powi(3) / time * 1e-9,
                (count as u32 * dot.steps()) as f64 / time_each * 1e-6
            );
        }
    }
    let (a, b) = (vec![1.5f32; size * size], vec![0.25f32; size * size]);
    let mut sums = vec![0f32; size * size];
    let time = shortest(|| {
        for (a, sums) in a.chunks(size).zip(sums.chunks_mut(size)) {
            for (a, b) in a.iter().zip(b.chunks(size)) {
                sums.iter_mut().zip(b).for_each(|(sum, b)| *sum = a.mul_add(*b, *sum));
            }
        }
    });
    println!(
        "{:>8} {:>9} {:>12.2} {:>12}  a loop of the processor's fused multiply-adds of f32",
        "",
        "",
        (size as f64).powi(3) / time.as_secs_f64() * 1e-9,
        ""
    );
}
