//! One spelling against the judges, on operands that its name decides.

use std::collections::HashMap;
use std::fmt;

use rayon::prelude::*;
use roundonce::{Target, Value, eval, instruction};
use roundonce_oracle::record::{state, today};
use roundonce_oracle::softfloat::{self, Call};
use roundonce_oracle::{Layout, Shape, Spec, condition_codes};

use crate::conversions;
use crate::reader::{generator, judged, read, taken, triple};
use crate::records;

/// Components of a spelling that are compared by default.
pub const CASES: u64 = 100_000;

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The spelling.
    pub spelling: String,
    /// Components whose bits and flags were compared with exact rationals.
    pub rationals: u64,
    /// Components whose bits were compared with SoftFloat, where it has the operation.
    pub softfloat: u64,
    /// Components that differ from either.
    pub mismatches: u64,
    /// FNV-1a of all result bits: the same on every machine.
    pub digest: u64,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { spelling, rationals, softfloat, mismatches, digest } = self;
        write!(f, "{spelling}: exact rationals {rationals}, SoftFloat {softfloat}, {mismatches} mismatches, ")?;
        write!(f, "digest {digest:016x}")
    }
}

impl Checked {
    /// As a line of evidence/forms.jsonl.
    fn line(&self) -> String {
        let Checked { spelling, rationals, softfloat, mismatches, digest } = self;
        format!(
            "{{\"form\":\"{spelling}\", \"date\":\"{}\", \"arith\":\"{}\", \"rationals\":{rationals}, \
             \"softfloat\":{softfloat}, \"mismatches\":{mismatches}, \"digest\":\"{digest:016x}\"}}\n",
            today(),
            state()
        )
    }
}

/// What SoftFloat is asked, where it has the operation.
fn call(spec: &Spec) -> Option<Call> {
    let plain = Spec { negate_c: false, nan: spec.nan, ..Spec::new(spec.shape, spec.to, spec.direction) };
    let has = [Layout::F16, Layout::F32, Layout::F64].contains(&spec.to);
    match spec.shape {
        _ if !has || (Spec { negate_c: false, ..*spec }) != plain => None,
        Shape::MulAdd => Some(Call::MulAdd),
        Shape::Add if spec.negate_c => Some(Call::Sub),
        Shape::Add => Some(Call::Add),
        Shape::Mul => Some(Call::Mul),
        Shape::TruncatedMulAdd => None,
    }
}

pub(crate) fn fnv(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0100_0000_01b3)
}
pub(crate) const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// Compares about `cases` components, or as many as is usual.
///
/// # Panics
/// For what is no spelling.
pub fn check(spelling: &str, cases: Option<u64>) -> Checked {
    match conversions::is_conversion(spelling) {
        true => conversions::check(spelling, cases.unwrap_or(conversions::CASES)),
        false => check_form(spelling, cases.unwrap_or(CASES)),
    }
}

/// Bits, flags and condition codes with exact rationals, bits with SoftFloat.
fn check_form(spelling: &str, cases: u64) -> Checked {
    let reading = read(spelling);
    let found = instruction(spelling, &Target::default()).expect("a spelling of the tables");
    let seed = spelling.bytes().fold(FNV, |hash, byte| fnv(hash, byte.into()));
    let mut generator = generator(&reading, seed);
    let call = call(&reading.spec).filter(|_| softfloat::is_available());
    let mut checked = Checked { spelling: spelling.to_owned(), rationals: 0, softfloat: 0, mismatches: 0, digest: FNV };
    while checked.rationals < cases {
        let triples: Vec<[u64; 3]> = (0..reading.lanes).map(|_| triple(&reading, &mut generator)).collect();
        let column = |place: usize| Value::of(triples.iter().map(|triple| triple[place]));
        let operands = taken(reading.spec.shape, [column(0), column(1), column(2)]);
        let result = eval(&found, &operands, &Default::default());
        let mut all_flags = 0;
        let mut wrong = 0;
        for (lane, triple) in triples.iter().enumerate() {
            let bits = result.value.components()[lane];
            let (expected, flags) = judged(&reading, *triple);
            all_flags |= flags;
            checked.rationals += 1;
            checked.digest = fnv(checked.digest, bits);
            let mut agree = bits == expected;
            if let Some(call) = call {
                let to = reading.spec.to;
                let judge = softfloat::judge(call, to, reading.spec.direction, false, *triple).bits;
                checked.softfloat += 1;
                // Its NaN bits are another machine's.
                agree &= bits == judge || (to.is_nan(bits) && to.is_nan(judge));
            }
            wrong += u64::from(!agree);
        }
        let codes = reading.codes.then(|| condition_codes(reading.spec.to, judged(&reading, triples[0]).0));
        if result.flags.bits() != all_flags || result.codes.map(|codes| codes.bits()) != codes {
            wrong = wrong.max(1);
        }
        checked.mismatches += wrong;
    }
    checked
}

/// The spellings given, on all cores; whether all agree.
///
/// # Errors
/// If the records cannot be read or written.
pub fn check_all(spellings: &[String], cases: Option<u64>, record: bool) -> Result<bool, String> {
    state();
    let all: Vec<Checked> = spellings.par_iter().map(|spelling| check(spelling, cases)).collect();
    for checked in &all {
        println!("{checked}");
    }
    if record {
        let mut lines = recorded()?;
        lines.extend(all.iter().map(|checked| (checked.spelling.clone(), checked.line())));
        for (file, known) in [(RECORDS, crate::spellings()), (conversions::RECORDS, conversions::spellings())] {
            let in_order = known.into_iter().filter_map(|spelling| lines.remove(&spelling));
            records::write(file, &in_order.collect::<String>())?;
        }
    }
    Ok(all.iter().all(|checked| checked.mismatches == 0))
}

const RECORDS: &str = "evidence/forms.jsonl";

/// The lines that are recorded, by their spellings.
///
/// # Errors
/// If they cannot be read.
pub fn recorded() -> Result<HashMap<String, String>, String> {
    let mut all = HashMap::new();
    for file in [RECORDS, conversions::RECORDS] {
        let (text, records) = (records::read(file)?, records::records(file)?);
        let lines = text.lines().map(|line| format!("{line}\n"));
        all.extend(records.iter().map(|record| record.text("form").to_owned()).zip(lines));
    }
    Ok(all)
}
