//! Conversions from and to formats of eight bits and fewer, and by random bits, against exact integers.

use roundonce::Profile;
use roundonce::conversion::instruction;
use roundonce::ptx::conversions::FORMS;
use roundonce_oracle::conversion::Conversion;
use roundonce_oracle::generate::SplitMix64;

use crate::check::{Checked, FNV, fnv};

/// Values of a spelling that are compared by default, where they are not all compared.
pub const CASES: u64 = 1_000_000;

/// Where their records are.
pub const RECORDS: &str = "evidence/conversions.jsonl";

/// Every spelling once: sm_89 and sm_90 have rows of their own for the same.
pub fn spellings() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (spelling, _) in FORMS.iter().flat_map(|form| form.spelled()) {
        if !all.contains(&spelling) {
            all.push(spelling);
        }
    }
    all
}

/// Whether it is one of them.
pub fn is_conversion(spelling: &str) -> bool {
    roundonce::conversion::is_conversion(spelling)
}

/// Whether every value is compared: those of 16 bits and fewer.
pub fn is_exhaustive(spelling: &str) -> bool {
    Conversion::read(spelling).is_some_and(|judge| judge.from.width() <= 16)
}

/// Compares the bits of every value that the operands have, if they have 16 bits or fewer, and otherwise of so many.
///
/// # Panics
/// For what is no spelling.
pub fn check(spelling: &str, cases: u64) -> Checked {
    let judge = Conversion::read(spelling).expect("a conversion");
    let found = instruction(spelling, &Default::default()).expect("a spelling of the tables");
    let mut draw = SplitMix64(spelling.bytes().fold(FNV, |hash, byte| fnv(hash, byte.into())));
    let mut checked = Checked { spelling: spelling.to_owned(), rationals: 0, softfloat: 0, mismatches: 0, digest: FNV };
    let values = u64::from(judge.count);
    let mut compare = |operands: &[u64], rbits: u64| {
        let mut given = operands.to_vec();
        given.extend(judge.is_random().then_some(rbits));
        let bits = found.eval(&Profile::NVIDIA, &found.operands(&given));
        checked.rationals += values;
        checked.mismatches += u64::from(bits != judge.judge(operands, rbits));
        checked.digest = fnv(checked.digest, bits);
    };
    let (width, stride) = (judge.from.width(), judge.from.stride());
    match judge.is_separate() {
        // Both values of one operand, all by all.
        false if width <= 8 => {
            for bits in 0..1 << (2 * width) {
                let (low, high) = (bits & ((1 << width) - 1), bits >> width);
                compare(&[high << stride | low], 0);
            }
        }
        // Each value in either half, beside another.
        false => {
            for bits in 0..1 << width {
                let other = draw.next_bits() & 0xffff;
                compare(&[other << stride | bits], 0);
                compare(&[bits << stride | other], 0);
            }
        }
        true => {
            for _ in 0..cases.div_ceil(values) {
                let operands: Vec<u64> = (0..values).map(|_| single(&judge, &mut draw)).collect();
                // None, all and any of the random bits.
                let rbits = match draw.next_bits() % 4 {
                    0 => 0,
                    1 => 0xffff_ffff,
                    _ => draw.next_bits() & 0xffff_ffff,
                };
                compare(&operands, rbits);
            }
        }
    }
    checked
}

/// An f32: any bits, or near the numbers of the result's format, few of its low bits set so that ties are met, or one of
/// either side of such.
fn single(judge: &Conversion, draw: &mut SplitMix64) -> u64 {
    let bits = draw.next_bits();
    let any = bits & 0xffff_ffff;
    let choice = bits >> 32 & 7;
    if choice == 0 {
        return any;
    }
    // From below half of the smallest number to above the largest.
    let (lowest, highest) = judge.exponents();
    let exponent = lowest - 2 + (bits >> 40) as i32 % (highest - lowest + 4);
    let field = (exponent + 127).clamp(0, 255) as u64;
    let fraction = any & 0x7f_ffff;
    let kept = judge.fraction_bits() + 1;
    let near = fraction & !((1 << (23 - kept)) - 1);
    let fraction = match choice {
        1 | 2 => fraction,
        3 => near | 1,
        4 => near.saturating_sub(1),
        _ => near,
    };
    any & 0x8000_0000 | field << 23 | fraction
}
