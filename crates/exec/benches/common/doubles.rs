//! K1 to K4 in f64 beside the same loops by the compiler: what of a native loop's speed they reach, and how much that is of what the
//! kernels in f32 reach.

use super::{
    LINE, Work, blocks, buffer, engine, fir, gemm, horner, median, program_of, random, run, saxpy, timed, words, zeros,
};
use crate::native::{fir_double, gemm_double, horner_double, saxpy_double};
use roundonce_exec::Arg;

const ROUNDS: usize = 9;

/// The kernels' text with numbers of eight bytes.
fn doubled(text: &str) -> String {
    let kernels = text.split(".visible .entry k5").next().unwrap_or(text);
    let mut doubled = String::new();
    for line in kernels.lines() {
        let line = line.replace(".f32", ".f64").replace("0f00000000", "0d0000000000000000");
        // Steps and displacements of addresses.
        let number = |text: &str| text.parse::<u32>().map(|bytes| (2 * bytes).to_string());
        let line = match (line.trim_end_matches(';').rsplit_once(", "), line.split_once('+')) {
            (Some((head, last)), _) if line.contains("mul.wide") || line.contains("add.s64") => {
                number(last).map_or(line.clone(), |bytes| format!("{head}, {bytes};"))
            }
            (_, Some((head, rest))) => {
                let (bytes, rest) = rest.split_once(']').unwrap_or((rest, ""));
                number(bytes).map_or(line.clone(), |bytes| format!("{head}+{bytes}]{rest}"))
            }
            _ => line,
        };
        doubled.push_str(&line);
        doubled.push('\n');
    }
    doubled
}

fn doubles(count: usize, seed: u64) -> Arg {
    let bits = random(count, seed, 1.0).into_iter().map(|bits| f64::from(f32::from_bits(bits)).to_bits());
    buffer(bits.flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect())
}
fn values(arg: &Arg) -> Vec<f64> {
    let pairs = words(arg).chunks_exact(2);
    pairs.map(|pair| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32)).collect()
}

/// A kernel of as many bytes as in f32, but for the matrices, which have as many numbers.
fn work(of: &Work, numbers: usize, args: Vec<Arg>, native: impl Fn(&[Vec<f64>], &mut [f64]) + 'static) -> Work {
    let (grid, block) = if of.entry == "k3" { (of.grid, of.block) } else { (blocks(numbers), LINE) };
    let operations = if of.entry == "k3" { of.operations } else { of.operations / 2.0 };
    // What the loop reads is made from the words once.
    let inputs: Vec<Vec<f64>> = args.iter().map(values).collect();
    let native = Box::new(move |_: &[Arg]| {
        let mut out = inputs.last().cloned().unwrap_or_default();
        timed(|| native(&inputs, &mut out))
    });
    Work { name: of.name.clone(), entry: of.entry, operations, grid, block, args, native }
}

fn works() -> Vec<(Work, Work)> {
    let (line, polynomial, filter) = (saxpy(24), horner(22), fir(20));
    let count = |numbers: usize| Arg::Scalar(numbers as u64);
    let output = |numbers: usize| zeros(2 * numbers);
    let (n1, n2, n3, n4) = (1 << 23, 1 << 21, 512, 1 << 19);
    let a = 0.500_000_06f64;
    let mut all = vec![
        (
            work(
                &line,
                n1,
                vec![count(n1), Arg::Scalar(a.to_bits()), doubles(n1, 1), doubles(n1, 2)],
                move |args, y| saxpy_double(a, &args[2], y),
            ),
            line,
        ),
        (
            work(&polynomial, n2, vec![count(n2), doubles(17, 3), doubles(n2, 4), output(n2)], |args, y| {
                horner_double(&args[1], &args[2], y)
            }),
            polynomial,
        ),
        (
            work(&filter, n4, vec![count(n4), doubles(64, 5), doubles(n4 + 64, 6), output(n4)], |args, y| {
                fir_double(&args[1], &args[2], y)
            }),
            filter,
        ),
    ];
    for matrices in [gemm(n3, false), gemm(n3, true)] {
        let args = vec![count(n3), doubles(n3 * n3, 8), doubles(n3 * n3, 9), output(n3 * n3)];
        all.push((work(&matrices, n3 * n3, args, move |args, c| gemm_double(n3, &args[1], &args[2], c)), matrices));
    }
    all.into_iter().map(|(double, single)| (single, double)).collect()
}

/// The table.
pub(crate) fn print() {
    let text = include_str!("../kernels.ptx").replace(".RND", ".rn");
    let programs = [program_of(&text), program_of(&doubled(&text))];
    let head =
        ["f32 native", "roundonce", "ratio", "f64 native", "roundonce", "ratio"].map(|name| format!("{name:>11}"));
    println!("{:26}{} {:>12}", "G fma/s", head.concat(), "f64 to f32");
    for (single, double) in works() {
        let both = [&single, &double];
        let mut args = both.map(|work| work.args.clone());
        let mut times = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
        for round in 0..ROUNDS {
            for (kind, work) in both.into_iter().enumerate() {
                let native = (work.native)(&work.args);
                let ours = run::<false>(&programs[kind], work, &mut args[kind], 1, engine());
                // The first round warms caches and pages.
                if round > 0 {
                    times[kind][0].push(native);
                    times[kind][1].push(ours);
                }
            }
        }
        let mut line = format!("{:26}", single.name);
        let mut ratios = [0.0; 2];
        for (kind, work) in both.into_iter().enumerate() {
            let [native, ours] = [0, 1].map(|who| median(&mut times[kind][who]));
            ratios[kind] = native / ours;
            let rate = |seconds: f64| work.operations / seconds / 1e9;
            line.push_str(&format!("{:11.2}{:11.2}{:11.2}", rate(native), rate(ours), ratios[kind]));
        }
        println!("{line} {:12.2}", ratios[1] / ratios[0]);
    }
}
