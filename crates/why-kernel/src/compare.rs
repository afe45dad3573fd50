//! Two kernels: the same program, or what they make of the same data.

use roundonce_arith::{Format, Profile};
use roundonce_exec::{Computed, Contract, Launch, Report, RunError, TraceLine};
use roundonce_ir::{Given, Kernel, Op, Param, Program, equal};
use roundonce_isa::grouped;
use serde::Serialize;

use crate::doubts::{Doubts, assumed, place_names};
use crate::first_difference::{FirstDifference, computation, has_operation, last_writer, trace};
use crate::search::run;
use roundonce_why::COLUMNS;
use roundonce_why::diff::files::{Differences, Place, compare_arrays};
use roundonce_why::{Column, Values};
use roundonce_why::{Line, Role, wrap};

/// What the two are called.
const SIDES: [&str; 2] = ["the first", "the second"];

/// Two launches on the same data.
#[derive(Clone, Debug)]
pub struct KernelPair<'a> {
    /// Each kernel's arguments and grid.
    pub launches: [Launch<'a>; 2],
    /// The kernels, each of its launch's program.
    pub kernels: [&'a Kernel; 2],
    /// What each module leaves open of the bits, and what was assumed.
    pub undetermined: [&'a [String]; 2],
    /// The machine of each whose matrix multiply-adds are presumed to be as its family's.
    pub presumed: [Option<&'a str>; 2],
    /// The buffers that are compared.
    pub buffers: Vec<SharedBuffer>,
}

/// A buffer that both kernels have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedBuffer {
    /// What it is called.
    pub name: String,
    /// The argument of each kernel.
    pub args: [usize; 2],
    /// Bytes of an element.
    pub size: usize,
    /// What its elements are; `None` for integers.
    pub format: Option<Format>,
    /// The lengths of its axes, the last running fastest.
    pub shape: Vec<usize>,
}

/// What two kernels make of the same data.
#[derive(Clone, Debug, Serialize)]
pub struct KernelComparison {
    /// Whether they are equal, and for which data.
    #[serde(rename = "verdict")]
    pub equality: Equality,
    /// Elements compared; none where the programs are the same.
    pub elements: usize,
    /// The buffers that differ.
    pub buffers: Vec<BufferDifferences>,
    /// What a GPU may have otherwise of each, whatever was found.
    #[serde(skip_serializing_if = "are_empty")]
    pub doubts: [OpenBits; 2],
    /// The first instruction of each that the other does not carry out alike, of the thread that wrote the first element that differs.
    #[serde(rename = "parting", skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<FirstDifference>,
}

fn are_empty(doubts: &[OpenBits; 2]) -> bool {
    doubts.iter().all(|open| open.notes().is_empty())
}

/// What of a kernel's bits is not fixed by its text.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct OpenBits {
    /// What is said of a run too.
    #[serde(flatten)]
    pub doubts: Doubts,
    /// Lines of sums into which the assembler may fuse a product; none where the two are the same program, of which it makes the
    /// same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contractible: Vec<u32>,
    /// What the module leaves open, and what was assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undetermined: Vec<String>,
    /// The machine whose matrix multiply-adds are presumed to be as its family's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presumed: Option<String>,
}

impl OpenBits {
    /// A note for each.
    pub fn notes(&self) -> Vec<String> {
        let assumed = assumed(&self.undetermined);
        let contractible = place_names(self.doubts.addresses, &self.contractible).map(|places| {
            format!(
                "not determined: whether a product is fused into the sum, {places} (rounded apart here; the assembler may fuse them)"
            )
        });
        let presumed = self.presumed.as_ref().map(|machine| {
            format!("{machine} is presumed to multiply matrices as its family: nothing public of this target was found")
        });
        assumed.into_iter().chain(contractible).chain(presumed).chain(self.doubts.notes()).collect()
    }
}

/// Whether two kernels give the same results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Equality {
    /// For all data: they are the same program, or do the same operations on memory with the same values
    /// ([`roundonce_ir::equal`]).
    #[serde(rename = "equal")]
    Proved,
    /// For the data given, which proves nothing beyond.
    #[serde(rename = "equal-on-data")]
    OnData,
    /// They do not.
    Different,
}

/// How a buffer differs.
#[derive(Clone, Debug, Serialize)]
pub struct BufferDifferences {
    /// What it is called.
    pub name: String,
    /// How.
    #[serde(flatten)]
    pub differences: Differences,
}

/// Compares two kernels. `progress` receives how many runs were made.
///
/// # Errors
/// If one cannot be run: which, from 0, and why.
pub fn compare_kernels(
    pair: &KernelPair<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<KernelComparison, (usize, RunError)> {
    let [one, other] = &pair.launches;
    let same_launch = (one.grid, one.block, one.dynamic_shared) == (other.grid, other.block, other.dynamic_shared);
    let sides = pair.sides();
    let contract = pair.launches.each_ref().map(|launch| launch.options.contract);
    // Contraction rewrites a kernel when it is launched.
    let is_as_written = contract == [Contract::None; 2];
    if same_launch && one.args == other.args {
        let proved = if is_as_written { proved(&sides) } else { is_same_program(&sides).then(|| of_proof(&sides)) };
        if let Some(comparison) = proved {
            return Ok(comparison);
        }
    }
    let mut report = |at: usize| {
        let launch = &pair.launches[at];
        let report = run(launch, pair.kernels[at], launch.options.clone());
        progress(1);
        report.map_err(|error| (at, error))
    };
    let reports = [report(0)?, report(1)?];
    let compared = pair.buffers.iter().map(|buffer| (buffer, buffer.differences(&reports)));
    let compared: Vec<(&SharedBuffer, Differences)> = compared.collect();
    let elements = compared.iter().map(|(_, differences)| differences.elements).sum();
    let different: Vec<_> = compared.into_iter().filter(|(_, differences)| !differences.equal()).collect();
    let first_difference = different.first().and_then(|(buffer, differences)| {
        let first = differences.first.as_ref()?;
        let element = first.index.iter().zip(&buffer.shape).fold(0, |at, (index, length)| at * length + index);
        pair.first_difference(buffer, element)
    });
    Ok(KernelComparison {
        equality: if different.is_empty() { Equality::OnData } else { Equality::Different },
        elements,
        buffers: different
            .into_iter()
            .map(|(buffer, differences)| BufferDifferences { name: buffer.name.clone(), differences })
            .collect(),
        doubts: open_bits(&sides, |at| Doubts::of(&reports[at], pair.kernels[at]), is_as_written),
        first_difference,
    })
}

/// One of two kernels that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its program.
    pub program: &'a Program,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The machine.
    pub profile: &'a Profile,
    /// What its module leaves open of the bits, and what was assumed.
    pub undetermined: &'a [String],
    /// The machine whose matrix multiply-adds it has, if these are presumed to be as its family's.
    pub presumed: Option<&'a str>,
}

/// The comparison of two kernels that are proved to be equal for all data; `None` of others.
pub fn proved(sides: &[Side<'_>; 2]) -> Option<KernelComparison> {
    (is_same_program(sides) || is_proved(sides)).then(|| of_proof(sides))
}

/// Of kernels that are proved to be equal as they are written.
fn of_proof(sides: &[Side<'_>; 2]) -> KernelComparison {
    KernelComparison {
        equality: Equality::Proved,
        elements: 0,
        buffers: Vec::new(),
        doubts: open_bits(sides, |at| Doubts::of_text(sides[at].kernel), true),
        first_difference: None,
    }
}

fn open_bits(sides: &[Side<'_>; 2], doubts: impl Fn(usize) -> Doubts, is_as_written: bool) -> [OpenBits; 2] {
    let is_open = is_as_written && !is_same_program(sides);
    [0, 1].map(|at| {
        let Side { kernel, undetermined, presumed, .. } = sides[at];
        // What a module of SPIR-V leaves open of contraction stands among its assumptions.
        let contractible = if is_open && undetermined.is_empty() { kernel.contractible_lines() } else { Vec::new() };
        OpenBits {
            doubts: doubts(at),
            contractible,
            undetermined: undetermined.to_vec(),
            presumed: presumed.map(str::to_owned),
        }
    })
}

fn is_same_program(sides: &[Side<'_>; 2]) -> bool {
    let [one, other] = sides;
    let globals = |program: &Program| (program.variables.clone(), program.address_bits);
    one.profile == other.profile
        && globals(one.program) == globals(other.program)
        && normal(one.kernel) == normal(other.kernel)
}

/// Whether all that they do is proved to be equal.
fn is_proved(sides: &[Side<'_>; 2]) -> bool {
    let [one, other] = sides;
    let alike = |param: &Param| (param.offset, param.size, param.passing);
    let given: Vec<Given> = (0..other.kernel.params.len()).map(Given::Param).collect();
    one.profile == other.profile
        && one.kernel.params.iter().map(alike).eq(other.kernel.params.iter().map(alike))
        && equal((one.program, one.kernel), (other.program, other.kernel), &given).is_ok()
}

impl KernelPair<'_> {
    fn sides(&self) -> [Side<'_>; 2] {
        [0, 1].map(|at| Side {
            program: self.launches[at].program,
            kernel: self.kernels[at],
            profile: &self.launches[at].options.profile,
            undetermined: self.undetermined[at],
            presumed: self.presumed[at],
        })
    }

    /// The first multiply-add of each kernel, of numbers or of matrices, that the other one does not carry out with the same
    /// result.
    fn first_difference(&self, buffer: &SharedBuffer, element: usize) -> Option<FirstDifference> {
        let threads = [0, 1].map(|at| {
            last_writer(&self.launches[at], self.kernels[at], buffer.args[at], element * buffer.size, buffer.size)
        });
        // Where different threads write it, their instructions do not correspond.
        let thread = threads[0].filter(|thread| threads[1] == Some(*thread))?;
        let [first, second] = [0, 1].map(|at| trace(&self.launches[at], self.kernels[at], thread));
        let at = unshared(self.kernels[0], &first, &second)?;
        let to = unshared(self.kernels[1], &second, &first)?;
        let side = |which: usize, trace: &[TraceLine], at: usize| {
            computation(self.kernels[which], &trace[..at], &trace[at], &self.launches[which].options.profile)
        };
        Some(FirstDifference { thread, through: None, first: side(0, &first, at), second: side(1, &second, to) })
    }
}

/// The first line with a multiply-add that no line of the other trace has.
fn unshared(kernel: &Kernel, trace: &[TraceLine], other: &[TraceLine]) -> Option<usize> {
    let same = |a: &Computed, b: &Computed| {
        a.operation.op == b.operation.op && a.operands == b.operands && a.result == b.result
    };
    let has = |computed: &Computed| other.iter().flat_map(|line| &line.computed).any(|it| same(computed, it));
    // Of a matrix the lane's part.
    let is_matrix = |line: &TraceLine| has_operation(kernel, line.loc, |op| matches!(op, Op::MultiplyMatrices { .. }));
    let has_line = |line: &TraceLine| other.iter().any(|it| it.operands == line.operands && it.results == line.results);
    trace
        .iter()
        .position(|line| line.computed.iter().any(|computed| !has(computed)) || is_matrix(line) && !has_line(line))
}

/// What a kernel computes, without what it and its registers are called: equal where the programs are.
///
/// An operation is what `Debug` shows of it, all of it, with the registers numbered as they come.
fn normal(kernel: &Kernel) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    let mut renamed = |text: String| {
        let mut parts = text.split("Reg(");
        let mut normal = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, rest) = part.split_once(')').unwrap_or((part, ""));
            // `Operand::Reg(Reg(3))`: the outer one has no number of its own.
            if number.is_empty() {
                normal.push_str("Reg(");
                continue;
            }
            let at = numbers.iter().position(|known| known == number).unwrap_or_else(|| {
                numbers.push(number.to_owned());
                numbers.len() - 1
            });
            let width = number.parse().ok().and_then(|number: usize| kernel.registers.get(number));
            normal.push_str(&format!("Reg({at}: {width:?}){rest}"));
        }
        normal
    };
    let params = kernel.params.iter().map(|param| (param.offset, param.size, param.passing));
    let head = format!(
        "{:?} {} {} {} {:?} {:?}",
        params.collect::<Vec<_>>(),
        kernel.param_bytes,
        kernel.shared_bytes,
        kernel.local_bytes,
        kernel.required_block,
        kernel.max_threads
    );
    let mut lines = vec![head];
    for block in &kernel.blocks {
        lines.extend(block.instructions.iter().map(|it| renamed(format!("{:?} {:?}", it.guard, it.op))));
        lines.push(renamed(format!("{:?}", block.terminator)));
    }
    lines
}

impl SharedBuffer {
    fn differences(&self, reports: &[Report; 2]) -> Differences {
        let bytes = [0, 1].map(|at| {
            let buffer = reports[at].buffers.get(self.args[at]).and_then(Option::as_ref);
            buffer.map(|buffer| buffer.to_bytes()).unwrap_or_default()
        });
        let values =
            |bytes: &[u8]| Some(Values { column: Column::of_bytes(self.format?, bytes)?, shape: self.shape.clone() });
        let floats = values(&bytes[0]).zip(values(&bytes[1]));
        if let Some(differences) = floats.and_then(|(one, other)| compare_arrays(&one, &other).ok()) {
            return differences;
        }
        let elements = bytes.each_ref().map(|bytes| bytes.chunks(self.size.max(1)));
        let [one, other] = elements;
        let mut different = one.clone().zip(other).enumerate().filter(|(_, (one, other))| one != other);
        let first = different.next();
        let show = |bytes: &[u8]| {
            let bits = super::bits_of(bytes);
            format!("{} {bits}", roundonce_isa::hex_bits(self.size as u32 * 8, bits))
        };
        Differences {
            elements: one.len(),
            different: usize::from(first.is_some()) + different.count(),
            nans: 0,
            one_nan: 0,
            first: first.map(|(at, (one, other))| Place {
                index: roundonce_why::element_index(&self.shape, at),
                first: show(one),
                second: show(other),
            }),
            histogram: Vec::new(),
            exponents: Vec::new(),
            cells: Vec::new(),
        }
    }
}

impl KernelComparison {
    /// The comparison for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        match self.equality {
            Equality::Proved => lines.extend(wrap(
                Role::Strong,
                "equal on all inputs: they do the same operations with the same values",
                0,
                COLUMNS,
            )),
            Equality::OnData => {
                let text = format!("equal on the given data: all {} elements", grouped(self.elements as u64));
                lines.push(Line::of(Role::Strong, text).and(Role::Faint, "   (not a proof for other data)"));
            }
            Equality::Different => {}
        }
        for buffer in &self.buffers {
            lines.push(Line::of(Role::Label, format!("buffer {}", buffer.name)));
            lines.extend(buffer.differences.lines());
        }
        if let Some(difference) = &self.first_difference {
            lines.push(Line::default());
            lines.extend(wrap(
                Role::Plain,
                "The first element that differs, at the first instruction that does:",
                0,
                COLUMNS,
            ));
            difference.lines(SIDES, &mut lines);
        }
        let notes = self.notes();
        if !self.buffers.is_empty() && !notes.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(notes.iter().flat_map(|note| wrap(Role::Plain, note, 0, COLUMNS)));
        lines
    }

    /// What is not fixed of each, with its side.
    fn notes(&self) -> Vec<String> {
        let [first, second] = self.doubts.each_ref().map(OpenBits::notes);
        let of = |which: &str, notes: &[String], apart: &[String]| -> Vec<String> {
            let own = notes.iter().filter(|note| !apart.contains(note));
            own.map(|note| format!("{which}: {note}")).collect()
        };
        let both: Vec<String> = first.iter().filter(|note| second.contains(note)).cloned().collect();
        [of("both", &both, &[]), of(SIDES[0], &first, &both), of(SIDES[1], &second, &both)].concat()
    }
}
