//! docs/evidence.md, and the README's sentence of totals.

use std::collections::{HashMap, HashSet};

use roundonce::arith::{ArithOp, Operation, Profile, Status};
use roundonce::isa::grouped;
use roundonce::ptx::conversions::FORMS;
use roundonce::{TABLES, Target, instruction};

use crate::records::{self, Record};
use crate::{conversions, hardware, spellings};

/// Where the page is.
pub const PAGE: &str = "docs/evidence.md";
/// Where the totals are, between two comments.
pub const README: &str = "README.md";
const BEGIN: &str = "<!-- evidence: cargo run -p roundonce-evidence -- page -->\n";
const END: &str = "<!-- /evidence -->\n";

/// Everything that was recorded.
#[derive(Debug)]
pub struct Evidence {
    forms: HashMap<String, Record>,
    conversions: HashMap<String, Record>,
    arrays: HashMap<String, Record>,
    runs: Vec<Record>,
    proofs: Vec<Record>,
    measured: Vec<Record>,
    hardware: Vec<hardware::Row>,
}

impl Evidence {
    /// From the repository's files.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn load() -> Result<Evidence, String> {
        let by = |name: &str, file: &str| -> Result<HashMap<_, _>, String> {
            Ok(records::records(file)?.into_iter().map(|record| (record.text(name).to_owned(), record)).collect())
        };
        Ok(Evidence {
            forms: by("form", "evidence/forms.jsonl")?,
            conversions: by("form", conversions::RECORDS)?,
            arrays: by("spelling", "evidence/arrays.jsonl")?,
            runs: records::records("evidence/runs.jsonl")?,
            proofs: records::records("evidence/proofs.jsonl")?,
            measured: records::measured()?,
            hardware: hardware::rows()?,
        })
    }

    fn form(&self, spelling: &str, field: &str) -> u64 {
        self.forms.get(spelling).map_or(0, |record| record.number(field))
    }
    /// Cases of the long runs against one judge that were exactly this operation.
    fn long(&self, judge: &str, operation: &Operation) -> u64 {
        let plain = Operation::new(ArithOp::MulAdd, operation.format, operation.rounding);
        if *operation != plain {
            return 0;
        }
        let about = |run: &&Record| {
            run.text("judge") == judge
                && run.text("kind") == "mul_add"
                && Some(run.text("format")) == operation.format.name()
                && run.text("rounding") == operation.rounding.name()
        };
        self.runs.iter().filter(about).map(|run| run.number("cases")).sum()
    }
    /// Values of all conversions.
    fn converted(&self) -> u64 {
        self.conversions.values().map(|record| record.number("rationals")).sum()
    }
    /// Results of machines that have the form itself: generations of SASS share spellings.
    fn on_gpus(&self, spelling: &str) -> u64 {
        let (name, _) = spelling.split_once('@').unwrap_or((spelling, ""));
        let gate = instruction(spelling, &Target::default()).expect("a spelling of the tables").form.gate;
        let is_of = |record: &&Record| {
            let machine = record.text("machine").split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            let target = machine.and_then(|(target, _)| target.parse().ok());
            record.text("form") == name && target.is_some_and(|target| gate.has_target(target))
        };
        self.measured.iter().filter(is_of).map(|record| record.number("cases")).sum()
    }
    /// Comparisons of the long multiply-add runs with one judge, of all operations.
    fn long_total(&self, judge: &str) -> u64 {
        let about = |run: &&Record| run.text("judge") == judge && run.text("kind") == "mul_add";
        self.runs.iter().filter(about).map(|run| run.number("cases")).sum()
    }
    fn mismatches(&self) -> u64 {
        let spellings = self.forms.values().chain(self.arrays.values()).chain(self.conversions.values());
        spellings.map(|record| record.number("mismatches")).sum::<u64>()
            + self.runs.iter().map(|record| record.number("mismatches")).sum::<u64>()
    }
}

/// The numbers of some spellings, in the order of [`COLUMNS`]. A long run counts once, whichever of them name its
/// operation.
fn row(evidence: &Evidence, spellings: &[&String]) -> [u64; 5] {
    let mut numbers = [0; 5];
    let mut operations = HashSet::new();
    for spelling in spellings {
        numbers[0] += evidence.form(spelling, "rationals");
        numbers[1] += evidence.form(spelling, "softfloat");
        numbers[1] += evidence.arrays.get(*spelling).map_or(0, |record| record.number("cases"));
        numbers[4] += evidence.on_gpus(spelling);
        operations
            .insert(instruction(spelling, &Target::default()).expect("a spelling of the tables").recipe.operation);
    }
    for operation in &operations {
        numbers[1] += evidence.long("SoftFloat", operation);
        numbers[2] += evidence.long("MPFR", operation);
        numbers[3] += evidence.long("processor", operation);
    }
    numbers
}

const COLUMNS: &str = "exact rationals | SoftFloat | MPFR | processor | GPU";

/// A number in groups of digits; nothing as a dash.
fn count(number: u64) -> String {
    if number == 0 { "–".to_owned() } else { grouped(number) }
}

fn cells(numbers: [u64; 5]) -> String {
    let [first @ .., gpu] = numbers;
    let gpu = if gpu == 0 { "unmeasured".to_owned() } else { count(gpu) };
    format!("{} | {gpu}", first.map(count).join(" | "))
}

const INTRODUCTION: &str = "# Evidence

What every form was compared with. A program made each comparison and recorded it (`evidence/*.jsonl`). This page is made
of the records by `cargo run -p roundonce-evidence -- page`, and a test fails where the two differ. A record can be
repeated for any spelling: the same cases, the same digest. The numbers of a row come of two commands: the first gives
those of the exact rationals, the digest and SoftFloat's scalar cases, the second, for all rows, SoftFloat's arrays, added to
them. MPFR's and the processor's are those of the long runs below, whose commands stand there.

```sh
cargo run --release -p roundonce-evidence -- check fma.rz.ftz.sat.f32
ROUNDONCE_CASES=1000000 bindings/python/test.sh -k softfloat
```

No judge shares code with the product:

- **exact rationals** (`dev/oracle/src/rational.rs`): bits, flags and condition codes;
- Berkeley **SoftFloat** 3e: every spelling but those with a bf16 result, which it does not have, or a result narrower than
  the operands, over arrays, through the Python package; the judge's side computes flushing, saturation and the like on
  bits;
- GNU **MPFR**: bits, any NaN counting as a NaN;
- the **processor**'s own AVX-512 fused multiply-add, with the direction in the instruction: the same;
- for small formats, a **table of all values**;
- for `cvt` from and to formats of eight bits and fewer, exact integers between the numbers of a format
  (`dev/oracle/src/conversion.rs`): every value where it has 16 bits or fewer, a million f32 otherwise. Its reading of
  `.rs` is the document's, which no GPU has confirmed.

A second reader, which does not know the product's rows, decides what a spelling means. A dash: that judge was not used,
mostly because it has no such operation. *Code* names what was run: git's name for the contents of `crates/arith`
(`git rev-parse HEAD:crates/arith`), with a `+` where they had changes of their own. [decisions.md](decisions.md) lists the
bits that no document decides; [proofs.md](proofs.md) says what is proved, and how far.

";

/// The page.
pub fn page(evidence: &Evidence) -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str(&table(evidence));

    text.push_str("\n## Unmeasured\n\nWhat only a GPU can decide ([dev/gpu](../dev/gpu/README.md) asks one):\n\n");
    for decision in Profile::DECISIONS.iter().filter(|decision| decision.status == Status::Unmeasured) {
        text.push_str(&format!("- **{}**: {}\n", decision.field, decision.decides));
    }
    if evidence.measured.is_empty() {
        text.push_str("\nNo GPU has been asked yet.\n");
    }

    text.push_str(&hardware::section(&evidence.hardware));

    text.push_str("\n## By exhaustion\n\n");
    text.push_str("Every operand of every format named, in every mode named; nothing is sampled.\n\n");
    text.push_str(
        "| formats | modes | comparisons | mismatches | seconds | date | code |\n|---|---|---:|---:|---:|---|---|\n",
    );
    for run in evidence.runs.iter().filter(|run| run.is("exhaustive")) {
        let about = format!("{} | {}", run.text("formats"), run.text("modes"));
        text.push_str(&format!("| {about} | {}", ended(run)));
    }
    text.push_str("\nCommands: ");
    let commands: Vec<String> = evidence
        .runs
        .iter()
        .filter(|run| run.is("exhaustive"))
        .map(|run| format!("`{}`", run.text("command")))
        .collect();
    text.push_str(&commands.join("; "));

    text.push_str(".\n\n## Proved\n\n");
    text.push_str("By a solver, of a model: [proofs.md](proofs.md) says of what, and what it does not say. Command:\n");
    text.push_str("`dev/proofs/run.sh FORMAT`.\n\n| format | theorem | result | seconds | date | code |\n");
    text.push_str("|---|---|---|---:|---|---|\n");
    for proof in &evidence.proofs {
        let [format, theorem, result] = ["format", "theorem", "result"].map(|name| proof.text(name));
        let (seconds, date, code) = (proof.number("seconds"), proof.text("date"), proof.text("arith"));
        text.push_str(&format!("| {format} | {theorem} | {result} | {seconds} | {date} | {code} |\n"));
    }

    text.push_str("\n## Long runs\n\n");
    text.push_str("| judge | format | rounding | triples | mismatches | seconds | date | code |\n");
    text.push_str("|---|---|---|---:|---:|---:|---|---|\n");
    for run in evidence.runs.iter().filter(|run| !run.text("rounding").is_empty()) {
        let about = format!("{} | {} | {}", run.text("judge"), run.text("format"), run.text("rounding"));
        text.push_str(&format!("| {about} | {}", ended(run)));
    }
    text.push_str(
        "\nThe lines of the scalar pipeline are the vector kernels, in every mode, held against it. Commands:\n",
    );
    text.push_str(
        "`cargo run --release -p roundonce-arith --features mpfr --example nightly -- JUDGE TRIPLES FORMAT`, JUDGE\n",
    );
    text.push_str("being `softfloat`, `mpfr`, `processor` or `kernels`; `dev/nightly.sh` runs them all.\n");

    text.push_str("\n## Other checks\n\n| what | result | date | code | command |\n|---|---|---|---|---|\n");
    let other = |run: &&Record| !run.text("result").is_empty();
    for run in evidence.runs.iter().filter(other) {
        let command = run.text("command");
        let [what, result, date, code] = ["what", "result", "date", "arith"].map(|name| run.text(name));
        text.push_str(&format!("| {what} | {result} | {date} | {code} | `{command}` |\n"));
    }

    text.push_str("\n## Every spelling\n");
    let known = spellings();
    let mut known = known.iter();
    for form in TABLES.into_iter().flatten() {
        text.push_str(&format!("\n### {} `{}`\n\n{}.\n\n", form.language, form.syntax(), form.source));
        text.push_str(&format!(
            "| spelling | {COLUMNS} | recorded | digest |\n|---|---:|---:|---:|---:|---:|---|---|\n"
        ));
        // `spellings` goes through the tables in this order.
        for spelling in known.by_ref().take(form.spellings().len()) {
            let record = evidence.forms.get(spelling);
            let field = |name| record.map_or("", |record| record.text(name));
            let recorded = format!("{} {}", field("date"), field("arith"));
            let cells = cells(row(evidence, &[spelling]));
            text.push_str(&format!("| `{spelling}` | {cells} | {recorded} | {} |\n", field("digest")));
        }
    }
    text.push_str(&format!("\n### PTX `cvt`\n\n{}.\n\n", FORMS[0].source));
    text.push_str(
        "| spelling | values | of the operands | mismatches | recorded | digest |\n|---|---:|---|---:|---|---|\n",
    );
    for spelling in conversions::spellings() {
        let Some(record) = evidence.conversions.get(&spelling) else { continue };
        let of = if conversions::is_exhaustive(&spelling) { "all" } else { "drawn" };
        let (values, mismatches) = (count(record.number("rationals")), record.number("mismatches"));
        let recorded = format!("{} {}", record.text("date"), record.text("arith"));
        text.push_str(&format!(
            "| `{spelling}` | {values} | {of} | {mismatches} | {recorded} | {} |\n",
            record.text("digest")
        ));
    }
    text
}

/// The columns that every run has.
fn ended(run: &Record) -> String {
    let numbers = format!("{} | {} | {}", count(run.number("cases")), run.number("mismatches"), run.number("seconds"));
    format!("{numbers} | {} | {} |\n", run.text("date"), run.text("arith"))
}

/// The table by name: the forms of one name together, the cases of all their spellings added.
fn table(evidence: &Evidence) -> String {
    let mut rows: Vec<(String, Vec<&String>)> = Vec::new();
    let known = spellings();
    let mut known = known.iter();
    for form in TABLES.into_iter().flatten() {
        let name = format!("{} `{}`", form.language, form.mnemonic);
        let at = rows.iter().position(|row| row.0 == name).unwrap_or_else(|| {
            rows.push((name, Vec::new()));
            rows.len() - 1
        });
        rows[at].1.extend(known.by_ref().take(form.spellings().len()));
    }
    let mut text =
        format!("## All records together\n\n| | spellings | {COLUMNS} |\n|---|---:|---:|---:|---:|---:|---|\n");
    for (name, spellings) in rows {
        text.push_str(&format!("| {name} | {} | {} |\n", spellings.len(), cells(row(evidence, &spellings))));
    }
    let converted = cells([evidence.converted(), 0, 0, 0, 0]);
    text.push_str(&format!("| PTX `cvt` | {} | {converted} |\n", evidence.conversions.len()));
    text.push_str(&format!(
        "\n{} mismatches in all. A long run is counted at every name whose operation it was.\n",
        evidence.mismatches()
    ));
    text
}

/// The README's sentences: what was compared with each judge, each comparison counted once.
pub fn totals(evidence: &Evidence) -> String {
    let forms = |field: &str| evidence.forms.values().map(|record| record.number(field)).sum::<u64>();
    let arrays: u64 = evidence.arrays.values().map(|record| record.number("cases")).sum();
    let exhaustive: u64 = evidence.runs.iter().filter(|run| run.is("exhaustive")).map(|run| run.number("cases")).sum();
    let long = |judge| grouped(evidence.long_total(judge));
    let measured: u64 = evidence.measured.iter().map(|record| record.number("cases")).sum();
    let gpus = if measured == 0 {
        "No GPU has been asked yet.".to_owned()
    } else {
        format!("GPUs gave {} results.", grouped(measured))
    };
    format!(
        "{BEGIN}Each of the {} spellings was compared with exact rationals ({} cases in all) and with Berkeley\n\
         SoftFloat ({}). Long runs of the multiply-add: {} cases against SoftFloat, {} against MPFR,\n\
         {} against the processor's own instruction. Every operand of small formats: {} comparisons.\n\
         The {} spellings of `cvt` from and to formats of eight bits and fewer: {} values against exact integers.\n\
         {} mismatches. {gpus}\n{END}",
        evidence.forms.len(),
        grouped(forms("rationals")),
        grouped(forms("softfloat") + arrays),
        long("SoftFloat"),
        long("MPFR"),
        long("processor"),
        grouped(exhaustive),
        evidence.conversions.len(),
        grouped(evidence.converted()),
        evidence.mismatches(),
    )
}

/// The README with these totals.
///
/// # Errors
/// If it has no place for it.
pub fn readme(old: &str, totals: &str) -> Result<String, String> {
    let parts = old.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("{README} has no `{}`", BEGIN.trim_end()))?;
    Ok(format!("{before}{totals}{after}"))
}

/// Writes both.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write() -> Result<(), String> {
    let evidence = Evidence::load()?;
    records::write(PAGE, &page(&evidence))?;
    records::write(README, &readme(&records::read(README)?, &totals(&evidence))?)
}
