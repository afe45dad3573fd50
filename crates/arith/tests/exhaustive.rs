//! Every triple of every small format, in every mode, against a judge that lists the format's numbers.

mod common;

use std::thread;
use std::time::Instant;

use common::{TINY, UNDERFLOW, differ, evaluate, layout, spec};
use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding, Sm1xMad};
use roundonce_oracle::Spec;
use roundonce_oracle::record::Record;
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

/// Rounding × (no flush | flush × `tiny`) × clamp. The underflow rule, which changes only a flag, alternates.
fn modes(base: Operation) -> Vec<Mode> {
    let mut modes = Vec::new();
    for rounding in Rounding::ALL {
        for flush in 0..=TINY.len() {
            for clamp in [Clamp::None, Clamp::Unit, Clamp::Relu] {
                let operation = Operation { rounding, flush: flush > 0, clamp, ..base };
                let tiny = TINY[flush.saturating_sub(1)];
                let underflow = UNDERFLOW[(flush + clamp as usize) % 2];
                // The one criterion of sm_1x with each of the others: a cyclic shift of the list.
                let sm1x_tininess = TINY[(flush + clamp as usize) % 3];
                modes.push(mode(operation, Profile { tininess: tiny, sm1x_tininess, underflow, ..Profile::NVIDIA }));
            }
        }
    }
    modes
}

/// Every triple that the kind takes, in all of `modes`, which share everything that decides the exact sum; the number of
/// comparisons.
///
/// Mode by mode over a row of addends, not the other way round: three times as fast, for the branches' sake.
fn every_triple(table: &Table, modes: &[Mode]) -> u64 {
    let Operation { op, source_format, format, .. } = modes[0].operation;
    let keeping = modes.iter().find(|mode| !mode.operation.flush).unwrap_or(&modes[0]);
    let flushing = modes.iter().find(|mode| mode.operation.flush).unwrap_or(&modes[0]);
    let count = |takes: bool, format: Format| if takes { 1_u64 << format.width() } else { 1 };
    // A mul has no addends: its row is the second factors.
    let columns = count(true, if op == ArithOp::Mul { source_format } else { format });
    let rows = count(!matches!(op, ArithOp::Add | ArithOp::Mul), source_format);
    let mut sums = [Vec::new(), Vec::new()];
    for a in 0..count(true, source_format) {
        for row in 0..rows {
            let operands = |column| if op == ArithOp::Mul { [a, column, 0] } else { [a, row, column] };
            // The two-step kind rounds twice: its sum cannot be shared.
            if op != ArithOp::TruncatedMulAdd {
                for (sums, of) in sums.iter_mut().zip([keeping, flushing]) {
                    sums.clear();
                    sums.extend((0..columns).map(|column| table.sum(&of.spec, operands(column))));
                }
            }
            for Mode { operation, profile, spec } in modes {
                for column in 0..columns {
                    let operands = operands(column);
                    let judge = if op == ArithOp::TruncatedMulAdd {
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
    count(true, source_format) * rows * columns * modes.len() as u64
}

/// What a test that ended without a difference has shown.
fn record(test: &str, formats: &str, modes: &str, cases: u64, started: Instant) {
    let command = format!("cargo test --release -p roundonce-arith --test exhaustive -- --include-ignored {test}");
    let about = vec![("formats", formats.to_owned()), ("modes", modes.to_owned())];
    let seconds = started.elapsed().as_secs();
    Record { judge: "table of all values", command, about, cases, mismatches: 0, exhaustive: true, seconds }.append();
}

/// All that is asked of an 8-bit format.
fn eight_bits(test: &str, exp_bits: u32) {
    let started = Instant::now();
    let format = Format::new(exp_bits, 7 - exp_bits);
    let table = Table::new(layout(format), layout(format));
    let mut cases = every_triple(&table, &modes(Operation::mul_add(format, Rounding::NearestEven)));
    let dominated: Vec<Mode> = Rounding::ALL
        .map(|rounding| {
            let fmz = Operation { flush: true, fmz: true, ..Operation::mul_add(format, rounding) };
            mode(fmz, Profile::NVIDIA)
        })
        .into();
    cases += every_triple(&table, &dominated);
    for kind in [ArithOp::Add, ArithOp::Mul] {
        for fmz in [false, true] {
            for (negate_product, negate_addend) in SIGNS {
                let base = Operation::new(kind, format, Rounding::NearestEven);
                let operation = Operation { fmz, negate_product, negate_addend, ..base };
                cases += every_triple(&table, &modes(operation));
            }
        }
    }
    let formats = format!("{exp_bits} exponent bits of 8");
    let modes = "multiply-add in every rounding, flush, `tiny` and saturation, FMZ in every rounding; add and mul also \
                 with every sign and zero dominance";
    record(test, &formats, modes, cases, started);
}

#[test]
#[ignore = "minutes; dev/evidence.sh runs it"]
fn two_exponent_bits_of_eight() {
    eight_bits("two_exponent_bits_of_eight", 2);
}
#[test]
#[ignore = "minutes; dev/evidence.sh runs it"]
fn three_exponent_bits_of_eight() {
    eight_bits("three_exponent_bits_of_eight", 3);
}
#[test]
fn four_exponent_bits_of_eight() {
    eight_bits("four_exponent_bits_of_eight", 4);
}
#[test]
fn five_exponent_bits_of_eight() {
    eight_bits("five_exponent_bits_of_eight", 5);
}
#[test]
#[ignore = "minutes; dev/evidence.sh runs it"]
fn six_exponent_bits_of_eight() {
    eight_bits("six_exponent_bits_of_eight", 6);
}

const SIGNS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];
const KINDS: [ArithOp; 4] = [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul, ArithOp::TruncatedMulAdd];

fn formats(width: u32) -> impl Iterator<Item = Format> {
    (2..=width - 2).map(move |exp_bits| Format::new(exp_bits, width - 1 - exp_bits))
}

/// Every operation, sign and mode, with and without `.FMZ`.
#[test]
fn four_to_six_bits_in_every_way() {
    let started = Instant::now();
    let of_format = |format, kind| {
        let table = Table::new(layout(format), layout(format));
        let mut cases = 0;
        for (negate_product, negate_addend) in SIGNS {
            for fmz in [false, true] {
                let base = Operation::new(kind, format, Rounding::NearestEven);
                let operation = Operation { negate_product, negate_addend, fmz, ..base };
                cases += every_triple(&table, &modes(operation));
            }
        }
        cases
    };
    // The longest test of all: a thread for each format and kind.
    let cases = thread::scope(|scope| {
        let every = (4..=6).flat_map(formats).flat_map(|format| KINDS.map(|kind| (format, kind)));
        let threads: Vec<_> = every.map(|(format, kind)| scope.spawn(move || of_format(format, kind))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let modes = "every kind (sm_1x's truncating one too), sign, rounding, flush, `tiny`, zero dominance and saturation";
    record("four_to_six_bits_in_every_way", "all of 4 to 6 bits", modes, cases, started);
}

/// Four times as many triples: multiply-add in every mode but signs, and sm_1x's kind as that machine has it, flushing.
#[test]
fn seven_bits() {
    let (started, mut cases) = (Instant::now(), 0);
    for format in formats(7) {
        let table = Table::new(layout(format), layout(format));
        let base = Operation::mul_add(format, Rounding::NearestEven);
        cases += every_triple(&table, &modes(Operation { negate_product: true, fmz: true, ..base }));
        let mut sm_1x = modes(Operation::new(ArithOp::TruncatedMulAdd, format, Rounding::NearestEven));
        sm_1x.retain(|mode| mode.operation.flush && mode.profile.sm1x_tininess == TINY[0]);
        cases += every_triple(&table, &sm_1x);
    }
    let modes = "multiply-add with a negated product and zero dominance in every rounding, flush, `tiny` and saturation; \
                 sm_1x's truncating kind, flushing";
    record("seven_bits", "all of 7 bits", modes, cases, started);
}

/// Sixteen times as many triples as eight bits: longer than an ordinary run affords.
#[test]
#[ignore = "minutes; dev/evidence.sh runs it"]
fn nine_bits() {
    let (started, mut cases) = (Instant::now(), 0);
    for format in formats(9) {
        let table = Table::new(layout(format), layout(format));
        cases += every_triple(&table, &modes(Operation::mul_add(format, Rounding::NearestEven)));
    }
    let modes = "multiply-add in every rounding, flush, `tiny` and saturation";
    record("nine_bits", "all of 9 bits", modes, cases, started);
}

/// sm_1x's kind on a later machine is a fused one that flushes, whatever the operation says of flushing.
#[test]
fn recompiled_for_a_later_machine() {
    let (started, mut cases) = (Instant::now(), 0);
    for format in (4..=6).flat_map(formats) {
        let table = Table::new(layout(format), layout(format));
        for mut mode in modes(Operation::new(ArithOp::TruncatedMulAdd, format, Rounding::NearestEven)) {
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
            cases += 1 << (3 * format.width());
        }
    }
    let modes = "sm_1x's multiply-add as a later machine runs it, in every rounding, flush, `tiny` and saturation";
    record("recompiled_for_a_later_machine", "all of 4 to 6 bits", modes, cases, started);
}

/// Factors narrower than the addend, in the ways that f16 (fewer exponent bits) and bf16 (as many) stand to f32.
#[test]
fn narrow_factors() {
    let (started, mut cases) = (Instant::now(), 0);
    for (factors, format) in [
        (Format::new(3, 2), Format::new(4, 3)),
        (Format::new(3, 2), Format::new(3, 4)),
        (Format::new(2, 3), Format::new(3, 4)),
        (Format::new(3, 1), Format::new(5, 2)),
        (Format::new(2, 1), Format::new(4, 1)),
    ] {
        let table = Table::new(layout(factors), layout(format));
        for kind in [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul] {
            for fmz in [false, true] {
                let base =
                    Operation { source_format: factors, fmz, ..Operation::mul_add(format, Rounding::NearestEven) };
                cases += every_triple(&table, &modes(Operation { op: kind, ..base }));
            }
        }
    }
    let modes = "multiply-add, add and mul in every rounding, flush, `tiny`, zero dominance and saturation";
    record("narrow_factors", "five pairs of 4 to 8 bits, factors narrower", modes, cases, started);
}
