//! Captured results against what is right, a block of vectors at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundonce::arith::{Elements, Flags, Format};
use roundonce::array::{Operand, eval_into};
use roundonce::spirv::Environment;
use roundonce::{Profile, Target, Value, matrix};

use crate::block::{Block, Vector, is_same_at};
use crate::cause::Failures;
use crate::format::{Options, meant};
use crate::instruction::{Criterion, InstructionUnderTest};
use crate::matrices::{MatrixEntry, MatrixRow};
use crate::report::{Checked, Example, Report};

/// What observes a verification.
pub trait Observer {
    /// A row could not be read: its number from 1, and why.
    fn bad_row(&mut self, row: u64, problem: &str);
    /// What is worth knowing of a file as a whole: a column that is not read, and what it may be meant for. Each is said once.
    fn note(&mut self, _note: &str) {}
    /// So much of so much is done, in bytes or in rows; `None` where that is not known.
    fn progress(&mut self, done: u64, of: Option<u64>);
}

/// A stream of ever new wrong spellings must not fill the memory: no language has so many right ones.
const MOST_KNOWN: usize = 10_000;
/// Nor must ever new names of columns.
const MOST_IGNORED: usize = 100;

/// What a spelling of a file names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    /// An instruction of single numbers, by its place.
    Scalar(usize),
    /// A matrix multiply-add, by its place.
    Matrix(usize),
}

/// What is known of one instruction of a file.
struct Entry {
    tested: InstructionUnderTest,
    /// Vectors waiting to be judged: without flags, and with them.
    waiting: [Block; 2],
    vectors: u64,
    failed: u64,
    /// The components of its first result, as long as all others are the same.
    constant: Constant,
    choices: BTreeMap<String, u64>,
}

/// Whether all results are one.
enum Constant {
    NoneYet,
    Always(Vec<u64>),
    No,
}

/// Of fewer results, that all are the same says nothing.
const ENOUGH_RESULTS: u64 = 16;

/// Judges vectors as they come.
pub(crate) struct Verifier<'a> {
    target: Target,
    profile: Profile,
    environment: Option<Environment>,
    observer: &'a mut dyn Observer,
    names: HashMap<String, Result<Known, String>>,
    entries: Vec<Entry>,
    matrices: Vec<MatrixEntry>,
    failures: Failures,
    bad: u64,
    /// The names of columns that are not read.
    ignored: BTreeSet<String>,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(options: &Options, observer: &'a mut dyn Observer) -> Verifier<'a> {
        let (names, entries, failures) = (HashMap::new(), Vec::new(), Failures::default());
        let Options { target, profile, environment, .. } = *options;
        let (matrices, ignored) = (Vec::new(), BTreeSet::new());
        Verifier { target, profile, environment, observer, names, entries, matrices, failures, bad: 0, ignored }
    }

    /// The number that stands for an instruction from now on.
    pub(crate) fn index_of(&mut self, spelling: &str) -> Result<Known, String> {
        if let Some(known) = self.names.get(spelling) {
            return known.clone();
        }
        let found = if matrix::is_matrix(spelling) {
            MatrixEntry::new(spelling, &self.target, self.profile).map(|entry| {
                self.matrices.push(entry);
                Known::Matrix(self.matrices.len() - 1)
            })
        } else {
            match InstructionUnderTest::of(spelling, &self.target) {
                Ok(tested) => Ok(Known::Scalar(self.add(tested))),
                Err(finding) => Err(finding.to_string()),
            }
        };
        if self.names.len() < MOST_KNOWN {
            self.names.insert(spelling.to_owned(), found.clone());
        }
        found
    }

    /// The same for an instruction that the file does not name.
    pub(crate) fn index_or_add(&mut self, tested: &InstructionUnderTest) -> usize {
        match self.names.get(&tested.spelling) {
            Some(Ok(Known::Scalar(known))) => *known,
            _ => {
                let index = self.add(tested.clone());
                self.names.insert(tested.spelling.clone(), Ok(Known::Scalar(index)));
                index
            }
        }
    }

    fn add(&mut self, tested: InstructionUnderTest) -> usize {
        let tested = match self.environment {
            Some(environment) => tested.under(environment),
            None => tested,
        };
        let tested = InstructionUnderTest { profile: self.profile, ..tested };
        let waiting = [Block::new(&tested), Block::new(&tested)];
        self.entries.push(Entry {
            tested,
            waiting,
            vectors: 0,
            failed: 0,
            constant: Constant::NoneYet,
            choices: BTreeMap::new(),
        });
        self.entries.len() - 1
    }

    pub(crate) fn instruction(&self, index: usize) -> &InstructionUnderTest {
        &self.entries[index].tested
    }

    pub(crate) fn progress(&mut self, done: u64, of: Option<u64>) {
        self.observer.progress(done, of);
    }

    /// A row that cannot be read.
    pub(crate) fn bad(&mut self, row: u64, problem: &str) {
        self.bad += 1;
        self.observer.bad_row(row, problem);
    }

    /// A column that is not read; one without a name, as a spreadsheet leaves it, is not worth a word.
    pub(crate) fn ignored(&mut self, column: &str) {
        if column.is_empty() || self.ignored.contains(column) || self.ignored.len() == MOST_IGNORED {
            return;
        }
        self.ignored.insert(column.to_owned());
        let meant = meant(column).map_or(String::new(), |meant| format!(": did you mean `{meant}`?"));
        self.observer.note(&format!("the column `{column}` is not read{meant}"));
    }

    /// The formats of c and d of a matrix multiply-add.
    pub(crate) fn accumulators(&self, index: usize) -> [Format; 2] {
        self.matrices[index].accumulators()
    }

    /// One element of a matrix multiply-add.
    pub(crate) fn push_matrix(&mut self, index: usize, number: u64, row: &MatrixRow<'_>) -> Result<(), String> {
        self.matrices[index].push(number, row)
    }

    /// One vector.
    pub(crate) fn push(&mut self, index: usize, row: u64, vector: &Vector) {
        let entry = &mut self.entries[index];
        let which = usize::from(vector.flags.is_some());
        let block = &mut entry.waiting[which];
        block.push(row, vector);
        if block.rows.len() == Block::capacity(entry.tested.components()) {
            let mut block = std::mem::replace(block, Block::new(&entry.tested));
            self.judge(index, &block);
            block.clear();
            self.entries[index].waiting[which] = block;
        }
    }

    /// Judges a block of vectors of one instruction.
    pub(crate) fn judge(&mut self, index: usize, block: &Block) {
        let entry = &mut self.entries[index];
        let components = entry.tested.components() as usize;
        let results = &block.columns[entry.tested.arity()];
        let expected = expected(&entry.tested, block);
        entry.vectors += block.rows.len() as u64;
        entry.constant.see(results, components);
        let sample = self.failures.passing_wanted().min(block.rows.len());
        if sample == 0 && block.flags.is_empty() && expected == *results {
            return;
        }
        let step = block.rows.len().checked_div(sample).unwrap_or(usize::MAX);
        for (at, &row) in block.rows.iter().enumerate() {
            let same = is_same_at(&expected, results, at * components, components);
            let sampled = at % step == 0 && at / step < sample;
            if same && !sampled && block.flags.get(at).is_none_or(|flags| *flags == raised(&entry.tested, block, at)) {
                continue;
            }
            let vector = block.vector(at, components);
            match verdict(&entry.tested, same, &vector) {
                Verdict::Right if sampled => self.failures.keep_passing(index, &entry.tested, vector),
                Verdict::Right => {}
                Verdict::Legal(choice) => *entry.choices.entry(choice).or_default() += 1,
                Verdict::Wrong => {
                    entry.failed += 1;
                    if self.failures.wants_more() {
                        let example = example(&entry.tested, row, &vector);
                        self.failures.add(index, &entry.tested, &vector, example);
                    }
                }
            }
        }
    }

    /// Judges what still waits, and reports what was found.
    pub(crate) fn finish(mut self) -> Report {
        for index in 0..self.entries.len() {
            for which in [0, 1] {
                let block = std::mem::replace(
                    &mut self.entries[index].waiting[which],
                    Block { rows: Vec::new(), columns: Vec::new(), flags: Vec::new() },
                );
                if !block.rows.is_empty() {
                    self.judge(index, &block);
                }
            }
        }
        let seen = self.entries.into_iter().filter(|entry| entry.vectors > 0);
        let checked = seen.map(|entry| Checked {
            vectors: entry.vectors,
            failed: entry.failed,
            constant: entry
                .constant
                .text(&entry.tested)
                .filter(|_| entry.failed > 0 && entry.vectors >= ENOUGH_RESULTS),
            instruction: entry.tested.spelling,
            choices: entry.choices,
        });
        let instructions: Vec<Checked> = checked.collect();
        let scalars = Report {
            vectors: instructions.iter().map(|checked| checked.vectors).sum(),
            failed: instructions.iter().map(|checked| checked.failed).sum(),
            bad: self.bad,
            examined: self.failures.examined(),
            causes: self.failures.groups(),
            instructions,
        };
        let matrices = self.matrices.into_iter().map(MatrixEntry::finish);
        Report::together(std::iter::once(scalars).chain(matrices))
    }
}

impl Constant {
    /// Results that come next.
    fn see(&mut self, results: &Elements, components: usize) {
        if results.is_empty() {
            return;
        }
        if let Constant::NoneYet = self {
            *self = Constant::Always((0..components).map(|component| results.get(component)).collect());
        }
        if let Constant::Always(first) = self
            && (0..results.len()).any(|at| results.get(at) != first[at % components])
        {
            *self = Constant::No;
        }
    }

    fn text(&self, tested: &InstructionUnderTest) -> Option<String> {
        let Constant::Always(components) = self else { return None };
        Some(Value::of(components.iter().copied()).hex(tested.format(tested.arity())))
    }
}

/// The engine's results.
fn expected(tested: &InstructionUnderTest, block: &Block) -> Elements {
    let mut expected = Elements::of(tested.format(tested.arity()));
    let operands: Vec<_> = block.columns[..tested.arity()].iter().map(Operand::from).collect();
    let count = block.columns[tested.arity()].len();
    // The columns were made for this instruction: their number, width and length fit.
    expected.resize(count);
    let evaluated = eval_into(&tested.instruction, &tested.profile, &operands, (&mut expected).into());
    debug_assert_eq!(evaluated, Ok(()));
    expected
}

/// The exceptions of a vector.
fn raised(tested: &InstructionUnderTest, block: &Block, at: usize) -> u8 {
    let operation = &tested.recipe().operation;
    let (arity, components) = (tested.arity(), tested.components() as usize);
    let mut raised = Flags::NONE;
    for component in at * components..(at + 1) * components {
        let mut operands = [0; 3];
        for (bits, column) in operands.iter_mut().zip(&block.columns[..arity]) {
            *bits = column.get(component);
        }
        raised = raised.union(operation.evaluate(&tested.profile, &operands[..arity]).flags);
    }
    raised.bits()
}

enum Verdict {
    Right,
    /// Another result than the engine's, by this choice.
    Legal(String),
    Wrong,
}

fn verdict(tested: &InstructionUnderTest, same: bool, vector: &Vector) -> Verdict {
    let right = tested.evaluate(&vector.operands);
    let format = tested.recipe().operation.format;
    let same = same
        || tested.criterion == Criterion::AnyNan && {
            let same = |(&right, &seen): (&u64, &u64)| right == seen || format.is_nan(right) && format.is_nan(seen);
            right.value.components().iter().zip(vector.result.components()).all(same)
        };
    match tested.criterion {
        _ if same && vector.flags.is_none_or(|flags| flags == right.flags.bits()) => Verdict::Right,
        // The flags of another legal result are its own.
        Criterion::Allowed(_) if !same => legal(tested, &right.value, vector),
        _ => Verdict::Wrong,
    }
}

/// The choices that give the components which are not the engine's.
fn legal(tested: &InstructionUnderTest, right: &Value, vector: &Vector) -> Verdict {
    let mut choices: Vec<String> = Vec::new();
    for (component, set) in tested.allowed(&vector.operands).iter().enumerate() {
        let seen = vector.result.components()[component];
        match set.explain(seen) {
            None => return Verdict::Wrong,
            Some(_) if right.components()[component] == seen => {}
            Some(choice) => choices.push(choice.to_string()),
        }
    }
    choices.sort();
    choices.dedup();
    Verdict::Legal(choices.join("; "))
}

fn example(tested: &InstructionUnderTest, row: u64, vector: &Vector) -> Example {
    let format = tested.recipe().operation.format;
    let operands = vector.operands.iter().enumerate().map(|(column, value)| value.hex(tested.format(column)));
    let right = tested.evaluate(&vector.operands);
    let sets = tested.allowed(&vector.operands);
    let mut expected = match sets.as_slice() {
        [] => right.value.hex(format),
        sets => sets.iter().rev().map(|set| set_text(set, format)).collect::<Vec<_>>().join(", "),
    };
    let mut saw = vector.result.hex(format);
    if let Some(flags) = vector.flags {
        saw.push_str(&format!(" flags {flags:02x}"));
        expected.push_str(&format!(" flags {:02x}", right.flags.bits()));
    }
    Example { file: None, row, instruction: tested.spelling.clone(), operands: operands.collect(), saw, expected }
}

/// `0x3f800000 or 0x3f800001`.
fn set_text(set: &roundonce::spirv::AllowedSet, format: Format) -> String {
    let hex = |bits| Value::scalar(bits).hex(format);
    let ranges = set.ranges().iter().map(|range| match range.first == range.last {
        true => hex(range.first),
        false => format!("{} to {}", hex(range.first), hex(range.last)),
    });
    ranges.collect::<Vec<_>>().join(" or ")
}
