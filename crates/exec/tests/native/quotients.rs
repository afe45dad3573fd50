//! Quotients and roots in native code: every rounding, flushed or not, over special numbers and results about the
//! smallest normal one; approximate instructions are counted as the interpreter counts them.

use super::{Case, has_native, lowered, random};
use roundonce_arith::{Format, Profile, Rounding};
use roundonce_exec::{Arg, Buffer, Engine};
use roundonce_functions::{Function, approximate};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More than the relative error of the host's functions.
const TRUSTED: f64 = 1.0 / (1u64 << 44) as f64;

/// The instructions of f32, of `%f1` and `%f2` to `%f3`.
fn of_single() -> Vec<String> {
    let mut all = Vec::new();
    for rounding in [".rn", ".rz", ".rm", ".rp"] {
        for flush in ["", ".ftz"] {
            all.push(format!("div{rounding}{flush}.f32 %f3, %f1, %f2;"));
            all.push(format!("rcp{rounding}{flush}.f32 %f3, %f2;"));
            all.push(format!("sqrt{rounding}{flush}.f32 %f3, %f1;"));
        }
    }
    for flush in ["", ".ftz"] {
        all.push(format!("div.approx{flush}.f32 %f3, %f1, %f2;"));
        for name in ["rcp", "sqrt", "rsqrt", "ex2"] {
            all.push(format!("{name}.approx{flush}.f32 %f3, %f2;"));
        }
    }
    all
}

/// The same of f64, of `%d1` and `%d2` to `%d3`.
fn of_double() -> Vec<String> {
    let mut all = vec!["rcp.approx.ftz.f64 %d3, %d2;".to_owned()];
    for rounding in [".rn", ".rz", ".rm", ".rp"] {
        all.push(format!("div{rounding}.f64 %d3, %d1, %d2;"));
        all.push(format!("rcp{rounding}.f64 %d3, %d2;"));
        all.push(format!("sqrt{rounding}.f64 %d3, %d1;"));
    }
    all
}

/// Kernels that load operands, run a body and store one result, `k0` on; `f` names the registers, `bytes` are a number's.
fn program(bodies: &[String], f: &str, bytes: u32) -> roundonce_ir::Program {
    let bits = bytes * 8;
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y, .param .u64 z) {{
             .reg .pred %p<3>; .reg .f32 %f<7>; .reg .f64 %d<7>; .reg .b32 %r<6>; .reg .b64 %rd<9>;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [z];
             mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
             mul.wide.u32 %rd4, %r4, {bytes}; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4; add.u64 %rd7, %rd3, %rd4;
             ld.global.f{bits} {f}1, [%rd5]; ld.global.f{bits} {f}2, [%rd6];
             {body}
             st.global.f{bits} [%rd7], {f}3; ret; }}\n"
        ));
    }
    lowered(&text)
}

/// Numbers of all magnitudes; one in so many is special.
fn singles(count: usize, seed: u64, special: u64) -> Vec<u32> {
    const SPECIAL: [u32; 12] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7f80_0001,
        0xffc0_0001,
        0x7e80_0001,
    ];
    let mut next = random(seed);
    (0..count)
        .map(|_| {
            let bits = next();
            match special != 0 && bits.is_multiple_of(special) {
                true => SPECIAL[(bits >> 40) as usize % SPECIAL.len()],
                // Finite.
                false => (bits >> 32) as u32 & 0xbfff_ffff | 0x1000_0000,
            }
        })
        .collect()
}

fn buffer(words: Vec<u32>) -> Arg {
    Arg::Buffer(Buffer::from_words(words))
}

const LANES: usize = 1024;

#[test]
fn singles_in_every_mode() {
    let bodies = of_single();
    let program = program(&bodies, "%f", 4);
    for special in [0, 40, 3] {
        for (number, body) in bodies.iter().enumerate() {
            let entry = format!("k{number}");
            let args = [(1, special), (2, special)].map(|(seed, special)| buffer(singles(LANES, seed, special)));
            let [x, y] = args;
            let case = Case::line(&program, &entry, 8, 128, vec![x, y, buffer(vec![0; LANES])]);
            let share = case.hold(&format!("{body}, special {special}"));
            // A result at the boundary of the flush is the interpreter's.
            assert!(!has_native() || special > 0 || share > 0.9, "{body}: {share} native");
        }
    }
}

/// Quotients about the smallest normal number, and reciprocals that are subnormal.
#[test]
fn singles_about_the_smallest() {
    let bodies = of_single();
    let program = program(&bodies, "%f", 4);
    let mut next = random(9);
    let near: Vec<[u32; 2]> = (0..LANES)
        .map(|_| {
            let bits = next();
            let divisor = 0x3f80_0000 | bits as u32 & 0x007f_ffff;
            // About 2^-126 times the divisor, an ulp or two away.
            let dividend = (divisor - 0x3f80_0000 + 0x0080_0000).wrapping_add((bits >> 32) as u32 % 5).wrapping_sub(2);
            match bits >> 60 {
                0..6 => [dividend, divisor],
                6..9 => [0x7e7f_fff0 + (bits >> 40) as u32 % 32, 0x7e80_0000 - 8 + (bits >> 32) as u32 % 16],
                _ => [dividend | 0x8000_0000, 0x3f80_0000 + (bits >> 40) as u32 % 3],
            }
        })
        .collect();
    for (number, body) in bodies.iter().enumerate() {
        let entry = format!("k{number}");
        let [x, y] = [0, 1].map(|at| buffer(near.iter().map(|pair| pair[at]).collect()));
        Case::line(&program, &entry, 8, 128, vec![x, y, buffer(vec![0; LANES])]).hold(body);
    }
}

#[test]
fn doubles_in_every_mode() {
    let bodies = of_double();
    let program = program(&bodies, "%d", 8);
    for special in [0, 3] {
        for (number, body) in bodies.iter().enumerate() {
            let entry = format!("k{number}");
            // Of any bits, special ones in the upper half; without those no root is of a negative number.
            let [x, y] = [(3, 0x7fff_ffff), (4, u32::MAX)].map(|(seed, mask)| {
                let (low, high) = (singles(LANES, seed + 2, 0), singles(LANES, seed, special));
                let mask = if special == 0 { mask } else { u32::MAX };
                buffer(low.into_iter().zip(high).flat_map(|(low, high)| [low, high & mask]).collect())
            });
            let case = Case::line(&program, &entry, 8, 128, vec![x, y, buffer(vec![0; 2 * LANES])]);
            let share = case.hold(&format!("{body}, special {special}"));
            // NaNs keep payloads by rules that the interpreter has.
            assert!(!has_native() || special > 0 || share > 0.9, "{body}: {share} native");
        }
    }
}

/// All that is between flushing arithmetic, so that the processor flushes, and clamped or not, where lanes part.
#[test]
fn among_other_arithmetic() {
    let flushing = "mul.rn.ftz.f32 %f4, %f1, 0f3f000000; BODY add.rn.ftz.f32 %f3, %f3, %f4;";
    let both = "mul.rn.ftz.f32 %f4, %f1, 0f00800001; add.rn.f32 %f5, %f1, %f2; BODY fma.rn.ftz.f32 %f3, %f3, %f4, %f5;";
    let parting = "mov.f32 %f3, %f2; setp.gt.f32 %p1, %f1, 0f3f800000; @%p1 bra L; BODY bra M; L: neg.f32 %f3, %f1;
                   M: add.f32 %f3, %f3, %f2;";
    let guarded =
        "mov.f32 %f3, %f2; setp.gt.f32 %p1, %f1, 0f3f800000; @%p1 BODY and.b32 %r5, %r1, 32; setp.eq.u32 %p2, %r5, 0;
                   mov.f32 %f1, %f3; @%p2 BODY";
    for frame in [flushing, both, parting, guarded] {
        let bodies: Vec<String> = of_single().iter().map(|body| frame.replace("BODY", body)).collect();
        let program = program(&bodies, "%f", 4);
        for (number, body) in bodies.iter().enumerate() {
            for special in [0, 5] {
                let entry = format!("k{number}");
                let [x, y] = [5, 6].map(|seed| buffer(singles(LANES, seed, special)));
                let case = Case::line(&program, &entry, 8, 128, vec![x, y, buffer(vec![0; LANES])]);
                case.hold(&format!("{body}, special {special}"));
            }
        }
    }
}

/// Every significand of f32: of a reciprocal root by f64, and of what stands beside it.
#[test]
fn every_significand() {
    let bodies: Vec<String> =
        ["rcp.approx.ftz.f32 %f3, %f1;", "rsqrt.approx.ftz.f32 %f3, %f1;", "sqrt.approx.ftz.f32 %f3, %f1;"]
            .map(str::to_owned)
            .into();
    let program = program(&bodies, "%f", 4);
    // The interpreter takes long: one in 61.
    let numbers: Vec<u32> = (0x3f80_0000..0x4080_0000).step_by(61).collect();
    let lanes = numbers.len() / 128 * 128;
    for (number, body) in bodies.iter().enumerate() {
        let entry = format!("k{number}");
        let [x, y] = [0, 1].map(|_| buffer(numbers[..lanes].to_vec()));
        let case = Case::line(&program, &entry, lanes as u32 / 128, 128, vec![x, y, buffer(vec![0; lanes])]);
        let share = case.hold(body);
        assert!(!has_native() || share > 0.9, "{body}: {share} native");
        assert_eq!(
            case.run(Engine::Native, 1).0.map(|result| result.approximations.into_values().sum()),
            Ok(lanes as u64)
        );
    }
}

/// 2^x of every f32 whose rounding is its own: of those up to 1/2 in magnitude, for what is further from 0 has the same
/// significand as a power of these, and of those whose results are subnormal. What f64 leaves in doubt is what the interpreter has.
#[test]
fn powers_of_two() {
    if !has_native() {
        return;
    }
    let program = program(&["ex2.approx.f32 %f3, %f1;".to_owned()], "%f", 4);
    let lanes = 1 << 20;
    let ranges = [0x3280_0000..0x3f00_0001u32, 0xb280_0000..0xbf00_0001, 0xc2fa_0000..0xc316_8000];
    let chunks: Vec<u32> = ranges.into_iter().flat_map(|range| range.step_by(lanes)).collect();
    let in_doubt = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                while let Some(&first) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let numbers: Vec<u32> = (first..).take(lanes).collect();
                    let expected: Vec<u32> = numbers
                        .iter()
                        .map(|&bits| {
                            let power = f64::from(f32::from_bits(bits)).exp2();
                            let [low, high] = [1.0 - TRUSTED, 1.0 + TRUSTED].map(|factor| (power * factor) as f32);
                            if low == high {
                                return low.to_bits();
                            }
                            in_doubt.fetch_add(1, Ordering::Relaxed);
                            let args = [bits.into(), 0];
                            let (function, rounding) = (Function::Exp2, Rounding::NearestEven);
                            approximate(&Profile::NVIDIA, function, Format::F32, rounding, false, args) as u32
                        })
                        .collect();
                    let args = vec![buffer(numbers.clone()), buffer(vec![0; lanes]), buffer(vec![0; lanes])];
                    let case = Case::line(&program, "k0", lanes as u32 / 128, 128, args);
                    for &engine in Engine::native() {
                        let (result, _) = case.run(engine, 1);
                        let result = result.unwrap().buffers.pop().flatten().unwrap();
                        let mut pairs = numbers.iter().zip(result.words().iter().zip(&expected));
                        let wrong = pairs.find(|(_, (got, expected))| got != expected);
                        assert_eq!(wrong, None, "{engine:?}");
                    }
                }
            });
        }
    });
    assert!((200..2000).contains(&in_doubt.into_inner()));
}
