//! Every triple of every small format, in every mode, against a judge that lists the format's numbers.

mod common;

use common::{TINY, UNDERFLOW, differ, evaluate, layout, spec};
use roundonce_arith::{Format, Kind, Operation, Profile, Rounding, Sm1xMad};
use roundonce_oracle::Spec;
use roundonce_oracle::table::Table;

/// An operation, its policy, and the same for the judge.
struct Mode {
    operation: Operation,
    profile: Profile,
    spec: Spec,
}

fn mode(operation: Operation, profile: Profile) -> Mode {
    Mode { spec: spec(&operation, &profile), operation, profile }
}

/// Rounding × (no flush | flush × `tiny`) × saturate. The underflow rule, which changes only a flag, alternates.
fn modes(base: Operation) -> Vec<Mode> {
    let mut modes = Vec::new();
    for rounding in Rounding::ALL {
        for flush in 0..=TINY.len() {
            for saturate in [false, true] {
                let operation = Operation { rounding, flush: flush > 0, saturate, ..base };
                let tiny = TINY[flush.saturating_sub(1)];
                let underflow = UNDERFLOW[(flush + saturate as usize) % 2];
                modes.push(mode(operation, Profile { tiny, underflow, ..Profile::NVIDIA }));
            }
        }
    }
    modes
}

/// Every triple that the kind takes, in all of `modes`, which share everything that decides the exact sum.
///
/// Mode by mode over a row of addends, not the other way round: three times as fast, for the branches' sake.
fn every_triple(table: &Table, modes: &[Mode]) {
    let Operation { kind, factors, format, .. } = modes[0].operation;
    let keeping = modes.iter().find(|mode| !mode.operation.flush).unwrap_or(&modes[0]);
    let flushing = modes.iter().find(|mode| mode.operation.flush).unwrap_or(&modes[0]);
    let count = |takes: bool, format: Format| if takes { 1_u64 << format.width() } else { 1 };
    // A mul has no addends: its row is the second factors.
    let columns = count(true, if kind == Kind::Mul { factors } else { format });
    let rows = count(!matches!(kind, Kind::Add | Kind::Mul), factors);
    let mut sums = [Vec::new(), Vec::new()];
    for a in 0..count(true, factors) {
        for row in 0..rows {
            let operands = |column| if kind == Kind::Mul { [a, column, 0] } else { [a, row, column] };
            // The two-step kind rounds twice: its sum cannot be shared.
            if kind != Kind::TruncatedMulAdd {
                for (sums, of) in sums.iter_mut().zip([keeping, flushing]) {
                    sums.clear();
                    sums.extend((0..columns).map(|column| table.sum(&of.spec, operands(column))));
                }
            }
            for Mode { operation, profile, spec } in modes {
                for column in 0..columns {
                    let operands = operands(column);
                    let judge = if kind == Kind::TruncatedMulAdd {
                        table.judge(spec, operands)
                    } else {
                        table.finish(spec, sums[operation.flush as usize][column as usize])
                    };
                    let product = evaluate(operation, profile, operands);
                    if product != judge {
                        differ(operation, profile, operands, product, judge);
                    }
                }
            }
        }
    }
}

/// All that is asked of an 8-bit format.
fn eight_bits(exp_bits: u32) {
    let format = Format::new(exp_bits, 7 - exp_bits);
    let table = Table::new(layout(format), layout(format));
    every_triple(&table, &modes(Operation::mul_add(format, Rounding::NearestEven)));
    let dominated: Vec<Mode> = Rounding::ALL
        .map(|rounding| {
            let fmz = Operation { flush: true, zero_dominance: true, ..Operation::mul_add(format, rounding) };
            mode(fmz, Profile::NVIDIA)
        })
        .into();
    every_triple(&table, &dominated);
    for kind in [Kind::Add, Kind::Mul] {
        for zero_dominance in [false, true] {
            for (negate_product, negate_addend) in SIGNS {
                let base = Operation::new(kind, format, Rounding::NearestEven);
                every_triple(&table, &modes(Operation { zero_dominance, negate_product, negate_addend, ..base }));
            }
        }
    }
}

#[test]
fn two_exponent_bits_of_eight() {
    eight_bits(2);
}
#[test]
fn three_exponent_bits_of_eight() {
    eight_bits(3);
}
#[test]
fn four_exponent_bits_of_eight() {
    eight_bits(4);
}
#[test]
fn five_exponent_bits_of_eight() {
    eight_bits(5);
}
#[test]
fn six_exponent_bits_of_eight() {
    eight_bits(6);
}

const SIGNS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];
const KINDS: [Kind; 4] = [Kind::MulAdd, Kind::Add, Kind::Mul, Kind::TruncatedMulAdd];

fn formats(width: u32) -> impl Iterator<Item = Format> {
    (2..=width - 2).map(move |exp_bits| Format::new(exp_bits, width - 1 - exp_bits))
}

/// Every kind, sign, mode, with and without zero dominance.
#[test]
fn four_to_six_bits_in_every_way() {
    for format in (4..=6).flat_map(formats) {
        let table = Table::new(layout(format), layout(format));
        for kind in KINDS {
            for (negate_product, negate_addend) in SIGNS {
                for zero_dominance in [false, true] {
                    let base = Operation::new(kind, format, Rounding::NearestEven);
                    every_triple(&table, &modes(Operation { negate_product, negate_addend, zero_dominance, ..base }));
                }
            }
        }
    }
}

/// Four times as many triples: multiply-add in every mode but signs, and sm_1x's kind as that machine has it, flushing.
#[test]
fn seven_bits() {
    for format in formats(7) {
        let table = Table::new(layout(format), layout(format));
        let base = Operation::mul_add(format, Rounding::NearestEven);
        every_triple(&table, &modes(Operation { negate_product: true, zero_dominance: true, ..base }));
        let mut sm_1x = modes(Operation::new(Kind::TruncatedMulAdd, format, Rounding::NearestEven));
        sm_1x.retain(|mode| mode.operation.flush && mode.profile.tiny == TINY[0]);
        every_triple(&table, &sm_1x);
    }
}

/// sm_1x's kind on a later machine is a fused one that flushes, whatever the operation says of flushing.
#[test]
fn recompiled_for_a_later_machine() {
    for format in (4..=6).flat_map(formats) {
        let table = Table::new(layout(format), layout(format));
        for mut mode in modes(Operation::new(Kind::TruncatedMulAdd, format, Rounding::NearestEven)) {
            mode.profile.sm1x_mad = Sm1xMad::FusedFtz;
            mode.spec = spec(&mode.operation, &mode.profile);
            for operands in 0..1_u64 << (3 * format.width()) {
                let field = |place| operands >> (place * format.width()) & format.mask();
                let operands = [field(0), field(1), field(2)];
                let judge = table.judge(&mode.spec, operands);
                let product = evaluate(&mode.operation, &mode.profile, operands);
                if product != judge {
                    differ(&mode.operation, &mode.profile, operands, product, judge);
                }
            }
        }
    }
}

/// Factors narrower than the addend, in the ways that f16 (fewer exponent bits) and bf16 (as many) stand to f32.
#[test]
fn narrow_factors() {
    for (factors, format) in [
        (Format::new(3, 2), Format::new(4, 3)),
        (Format::new(3, 2), Format::new(3, 4)),
        (Format::new(2, 3), Format::new(3, 4)),
        (Format::new(3, 1), Format::new(5, 2)),
        (Format::new(2, 1), Format::new(4, 1)),
    ] {
        let table = Table::new(layout(factors), layout(format));
        for kind in [Kind::MulAdd, Kind::Add, Kind::Mul] {
            for zero_dominance in [false, true] {
                let base = Operation { factors, zero_dominance, ..Operation::mul_add(format, Rounding::NearestEven) };
                every_triple(&table, &modes(Operation { kind, ..base }));
            }
        }
    }
}
