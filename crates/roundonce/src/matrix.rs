//! Matrix multiply-add: one dot product as a target computes it, and whole matrices.
//!
//! ```
//! use roundonce::{Profile, Target, matrix};
//! let spelling = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32@sm_80";
//! let mma = matrix::instruction(spelling, &Target::default(), &Profile::NVIDIA)?;
//! // 2^20 + 7 × 2^-6 + 0: the seven small products lie below what a tensor core keeps.
//! let (dot, _) = mma.read(&["64002400240024002400240024002400", "64003c003c003c003c003c003c003c00", "0"])?;
//! assert_eq!(mma.eval(&Profile::NVIDIA, &dot), 0x4980_0000);
//! # Ok::<(), roundonce::Finding>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use roundonce_arith::{
    AddendCut, Dot, Element, Format, MatrixProduct, Order, Pairs, Profile, TuringBlock, Vectors, ZeroExponent, ZeroSum,
};
use roundonce_ir::{Kernel, Op};
use roundonce_isa::{Finding, SmTarget, hex_bits, parse_narrow, parse_whole};
use roundonce_ptx::matrix::{Evidence, MatrixInstruction, MatrixRow, ROWS, Refusal, UnitRow, matrix_gates};
pub use roundonce_why::diff::DotOperands;
use roundonce_why::diff::{DotComparison, DotEvidence, compare_dots};
use roundonce_why::{DotExplained, DotMachine, DotPlace, TensorUnit, explain_dot};
use roundonce_why_kernel::Machine;

use crate::{NOT_COMPUTED, Target, fault, spelled_target};

/// A matrix multiply-add on a target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Matrix {
    /// What is spelled.
    pub instruction: MatrixInstruction,
    /// The target.
    pub target: SmTarget,
    /// What it computes there, and how that is known.
    pub row: MatrixRow,
}

/// Block scales of whole matrices.
#[derive(Clone, Copy, Debug)]
pub struct Scales<'a> {
    /// Of a's rows.
    pub a: Vectors<'a>,
    /// Of b's columns.
    pub b: Vectors<'a>,
    /// Rows and columns of both as matrices: M × blocks, blocks × N.
    pub shapes: [[usize; 2]; 2],
}

/// Whether a spelling is that of a matrix multiply-add, right or wrong.
pub fn is_matrix(spelling: &str) -> bool {
    MatrixInstruction::is_spelling(spelling)
}

/// The instruction of a spelling on a target: the one behind its `@`, or the one asked for (the two may not differ), or the lowest
/// that has it.
///
/// # Errors
/// A finding that says what is wrong with the spelling, or that the target lacks it; [`NOT_COMPUTED`] where nothing public
/// says what it computes.
pub fn instruction(spelling: &str, asked: &Target, profile: &Profile) -> Result<Matrix, Finding> {
    let (name, sm) = spelled_target(spelling, asked)?;
    let refused = |refusal: Refusal| match refusal {
        Refusal::Malformed(text) => {
            fault("FORM0002", text).rule("PTX ISA, mma, wmma.mma, wgmma.mma_async, tcgen05.mma")
        }
        Refusal::Missing(text) => fault("FORM0003", text),
        Refusal::Unknown(text) => fault(NOT_COMPUTED, text),
    };
    let instruction = MatrixInstruction::parse(name).map_err(refused)?;
    let lowest = || SmTarget::from(instruction.targets().first().copied().unwrap_or(70));
    let target = sm.unwrap_or_else(lowest);
    let row = instruction.row(target, profile).map_err(refused)?;
    if let Some(version) = asked.ptx {
        let gates = matrix_gates(name);
        if !gates.is_empty() && !gates.iter().any(|gate| gate.holds(None, Some(version))) {
            let needs: BTreeSet<String> = gates.iter().map(ToString::to_string).collect();
            let needs = needs.into_iter().collect::<Vec<_>>().join(" or ");
            return Err(fault("FORM0003", format!("`{name}` does not exist for PTX {version}: it needs {needs}")));
        }
    }
    Ok(Matrix { instruction, target, row })
}

/// The readings of what is open that `profile` does not take by default, each as `--profile` has it.
pub fn readings(profile: Profile) -> [(&'static str, Profile); 5] {
    [
        ("dot_zero=operand", Profile { dot_zero: ZeroExponent::Operand, ..profile }),
        ("dot_zero=absent", Profile { dot_zero: ZeroExponent::Absent, ..profile }),
        ("dot_zero_sign=all-negative", Profile { dot_zero_sign: ZeroSum::AllNegative, ..profile }),
        ("dot_addend=to-precision", Profile { dot_addend: AddendCut::ToPrecision, ..profile }),
        ("turing_block=4", Profile { turing_block: TuringBlock::Four, ..profile }),
    ]
}

/// The same with the readings of what is open that fit what is known.
fn with_known_readings(profile: &Profile) -> Profile {
    let Profile { dot_zero, dot_zero_sign, dot_addend, turing_block, .. } = Profile::NVIDIA;
    Profile { dot_zero, dot_zero_sign, dot_addend, turing_block, ..*profile }
}

/// The machine on which a kernel multiplies matrices, where nothing public says how: it is presumed to be as its family.
pub fn presumed_machine(kernel: &Kernel, target: Option<SmTarget>, profile: &Profile) -> Option<String> {
    let target = target?;
    let instructions = multiplied(kernel).into_keys().filter_map(|name| MatrixInstruction::parse(name).ok());
    let mut rows = instructions.filter_map(|instruction| instruction.row(target, profile).ok());
    rows.any(|row| row.evidence == Evidence::Presumed).then(|| target.to_string())
}

/// The matrix multiply-adds of a kernel and what each computes.
fn multiplied(kernel: &Kernel) -> BTreeMap<&str, Dot> {
    let ops = kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op);
    ops.filter_map(|op| match op {
        Op::MultiplyMatrices { multiply, .. } => Some((multiply.name.as_str(), multiply.dot)),
        _ => None,
    })
    .collect()
}

/// The machines whose matrix multiply-adds give other bits than a program's own, those that agree together, for
/// [`why` of kernels](roundonce_why_kernel::Freedom). A machine that lacks one of the program's instructions is none of them;
/// one that is presumed to be as its family has a `?`.
pub fn other_machines(kernel: &Kernel, profile: &Profile) -> Vec<Machine> {
    let own = multiplied(kernel);
    let instructions: Option<Vec<MatrixInstruction>> =
        own.keys().map(|name| MatrixInstruction::parse(name).ok()).collect();
    let Some([first, others @ ..]) = instructions.as_deref() else { return Vec::new() };
    let mut machines: Vec<Machine> = Vec::new();
    for target in first.targets() {
        let all = [first].into_iter().chain(others);
        let rows = all.map(|instruction| instruction.row(target.into(), profile).ok());
        let Some(rows) = rows.collect::<Option<Vec<MatrixRow>>>() else { continue };
        let dots: Vec<Dot> = rows.iter().map(|row| row.dot).collect();
        if own.values().eq(&dots) {
            continue;
        }
        let is_presumed = rows.iter().any(|row| row.evidence == Evidence::Presumed);
        let name = format!("{}{}", SmTarget::from(target), if is_presumed { "?" } else { "" });
        let dots = own.keys().map(|name| (*name).to_owned()).zip(dots).collect();
        match machines.iter_mut().find(|machine| machine.dots == dots) {
            Some(machine) => machine.name = format!("{}, {name}", machine.name),
            None => machines.push(Machine { name, dots }),
        }
    }
    machines
}

/// The ways in which tensor cores add products, each once, for [`why`](roundonce_why::Question::on_tensor_cores).
pub fn tensor_units(profile: &Profile) -> Vec<TensorUnit> {
    struct Found {
        dot: Dot,
        targets: BTreeSet<u32>,
        instructions: BTreeSet<&'static str>,
    }
    let mut found: Vec<Found> = Vec::new();
    for row in ROWS.iter().filter(|row| !row.is_scaled) {
        for spelling in row.spellings() {
            let Ok(instruction) = MatrixInstruction::parse(&spelling) else { continue };
            for target in row.targets {
                let Ok(MatrixRow { unit, dot, .. }) = instruction.row((*target).into(), profile) else { continue };
                if dot.kept.is_none() || unit != row {
                    continue;
                }
                // The steps of one instruction and of the next follow each other.
                let k = if dot.order == Order::Ascending { dot.block } else { dot.k };
                let dot = Dot { c: dot.accumulator, d: dot.accumulator, k, ..dot };
                let at = found.iter().position(|found| found.dot == dot).unwrap_or_else(|| {
                    found.push(Found { dot, targets: BTreeSet::new(), instructions: BTreeSet::new() });
                    found.len() - 1
                });
                found[at].targets.insert(*target);
                found[at].instructions.insert(row.families[0].name());
            }
        }
    }
    let unit = |Found { dot, targets, instructions }: Found| {
        let targets: Vec<String> = targets.into_iter().map(|number| format!("sm_{number}")).collect();
        let instructions: Vec<&str> = instructions.into_iter().collect();
        let kept = dot.kept.unwrap_or(0);
        let types =
            if dot.a == dot.b { dot.a.name().to_owned() } else { format!("{} × {}", dot.a.name(), dot.b.name()) };
        let sums = if dot.accumulator == Format::F16 { ", f16 sums" } else { "" };
        let short = if dot.fraction == 13 { ", 13 fraction bits" } else { "" };
        TensorUnit {
            name: format!(
                "{} {types} products a step, {kept} bits kept{sums}{short} ({})",
                dot.block,
                targets.join(" ")
            ),
            by: instructions.join(", "),
            dot,
        }
    };
    found.into_iter().map(unit).collect()
}

/// Hex digits without the `0x` before them.
fn without_prefix(text: &str) -> &str {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text)
}

/// Elements written as hexadecimal digits, so many each, or as values with commas between, and whether all are exact.
fn elements(element: Element, count: usize, text: &str) -> Result<(Vec<u64>, bool), String> {
    let digits = element.stride().div_ceil(4) as usize;
    let hex = without_prefix(text);
    if !text.contains(',') && hex.len() == digits * count && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let read = |at: usize| u64::from_str_radix(&hex[at..at + digits], 16).unwrap_or(0);
        return Ok(((0..hex.len()).step_by(digits).map(read).collect(), true));
    }
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    if values.len() != count {
        let name = element.name();
        let found = match hex.chars().find(|letter| !letter.is_ascii_hexdigit()) {
            _ if values.len() > 1 => format!("{} values", values.len()),
            Some(letter) => format!("{} letters, `{letter}` among them", hex.chars().count()),
            None => format!("{} digits", hex.len()),
        };
        return Err(format!(
            "expected {count} elements of {name}, as {} hex digits or as values with commas between; found {found}",
            digits * count
        ));
    }
    let mut exact = true;
    let mut read = |text: &&str| {
        let (bits, is_exact) = match element {
            // A register's 32 bits.
            Element::Float(Format::TF32) => value(Format::F32, text)?,
            Element::Float(format) => value(format, text)?,
            Element::Narrow(format) => {
                let number = parse_narrow(format, text).ok_or_else(|| format!("`{text}` is no {}", format.name()))?;
                (number.bits, number.exact)
            }
            Element::PowerOfTwo => return Err(format!("{} is a type of scales, and of no element", element.name())),
        };
        exact &= is_exact;
        Ok(bits)
    };
    let elements = values.iter().map(&mut read).collect::<Result<Vec<u64>, String>>()?;
    Ok((elements, exact))
}

fn value(format: Format, text: &str) -> Result<(u64, bool), String> {
    let parsed = parse_whole(format, 1, text)?;
    Ok((parsed.value.components()[0], parsed.exact))
}

/// Bits as hex digits of the format's width, or a value; and whether it is exact.
fn one(format: Format, text: &str) -> Result<(u64, bool), String> {
    let is_bits = text.len() == format.width() as usize / 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match u64::from_str_radix(text, 16) {
        Ok(bits) if is_bits => Ok((bits, true)),
        _ => value(format, text),
    }
}

impl Matrix {
    /// Reads the operands of one element of the result: a row of a and a column of b, k ascending, as hex digits of a
    /// fixed width an element (TF32 as the 32 bits of its register, six bits as eight) or as values with commas between;
    /// c as bits or a value; then the scales, `sa=` and `sb=`, two hex digits each. Beside them whether every number was exact.
    ///
    /// # Errors
    /// A finding about their number or the first one that is none.
    pub fn read<S: AsRef<str>>(&self, texts: &[S]) -> Result<(DotOperands, bool), Finding> {
        let dot = &self.row.dot;
        let mut scales = [None, None];
        let mut plain = Vec::new();
        for text in texts.iter().map(AsRef::as_ref) {
            let (scale, digits) = match text.split_once('=') {
                Some(("sa", digits)) => (&mut scales[0], digits),
                Some(("sb", digits)) => (&mut scales[1], digits),
                _ => {
                    plain.push(text);
                    continue;
                }
            };
            if scale.replace(without_prefix(digits)).is_some() {
                return Err(fault("FORM0005", format!("`{text}` is one too many: these scales are given already")));
            }
        }
        let &[a, b, c] = &plain[..] else {
            let message = format!("one element takes a row of a, a column of b and c, found {} operands", plain.len());
            return Err(fault("FORM0005", message));
        };
        let wrong = |name: &str, problem: String| fault("FORM0006", format!("{name}: {problem}"));
        let (a, a_exact) = elements(dot.a, self.k(), a).map_err(|problem| wrong("a", problem))?;
        let (b, b_exact) = elements(dot.b, self.k(), b).map_err(|problem| wrong("b", problem))?;
        let (c, c_exact) = one(dot.c, c).map_err(|problem| wrong("c", problem))?;
        let read_scales = |name: &str, text: Option<&str>| {
            let count = dot.scales();
            match text {
                None if count == 0 => Ok(Vec::new()),
                Some(text)
                    if text.len() == 2 * count && count > 0 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
                {
                    let scale = |at: usize| u64::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap_or(0);
                    Ok((0..count).map(scale).collect())
                }
                None => Err(wrong(name, format!("expected {name}= and {} hex digits", 2 * count))),
                Some(_) if count == 0 => Err(wrong(name, "the instruction has no scales".to_owned())),
                Some(text) => Err(wrong(name, format!("expected {} hex digits, found `{text}`", 2 * count))),
            }
        };
        let scales = [read_scales("sa", scales[0])?, read_scales("sb", scales[1])?];
        Ok((DotOperands { a, b, c, scales }, a_exact && b_exact && c_exact))
    }

    /// Reads a result, as c is read.
    ///
    /// # Errors
    /// A finding if it is none.
    pub fn read_result(&self, text: &str) -> Result<u64, Finding> {
        let read = one(self.row.dot.d, text).map_err(|problem| fault("FORM0006", format!("d: {problem}")))?;
        Ok(read.0)
    }

    /// Products of the instruction.
    pub fn k(&self) -> usize {
        self.row.dot.k as usize
    }

    /// The product of whole matrices: vectors of a (its rows) and of b (its columns), so many of a's, so deep.
    ///
    /// # Errors
    /// A finding where the depth is no multiple of the instruction's, or the scales are not as many as the instruction has.
    pub fn product<'a>(
        &self,
        profile: &Profile,
        [a, b]: [Vectors<'a>; 2],
        pairs: Pairs,
        [count, depth]: [usize; 2],
        scales: Option<Scales<'a>>,
    ) -> Result<MatrixProduct<'a>, Finding> {
        let dot = self.row.dot;
        if let Some(scale) = dot.scale {
            let blocks = depth / scale.block as usize;
            let columns = if let Pairs::All { columns } = pairs { columns } else { count };
            let expected = [[count, blocks], [blocks, columns]];
            let found = scales.map(|scales| scales.shapes);
            if found != Some(expected) {
                let [[m, k], [l, n]] = expected;
                let message = format!("expected the scales of a as {m} × {k}, of b as {l} × {n}");
                return Err(fault("FORM0006", message));
            }
        } else if scales.is_some() {
            return Err(fault("FORM0006", "the instruction has no scales".to_owned()));
        }
        let product = MatrixProduct::new(dot, profile, a, b, pairs, depth);
        let product = product
            .map_err(|problem| fault("FORM0006", format!("K is {depth}, the instruction's {}: {problem}", dot.k)))?;
        Ok(product.with_scales(scales.map(|scales| [scales.a, scales.b])))
    }

    /// The bits of the element.
    pub fn eval(&self, profile: &Profile, operands: &DotOperands) -> u64 {
        let DotOperands { a, b, c, scales } = operands;
        self.row.dot.evaluate(profile, a, b, *c, [&scales[0], &scales[1]])
    }

    /// Bits of the result's format, as hexadecimal.
    pub fn hex(&self, bits: u64) -> String {
        hex_bits(self.row.dot.d.width(), bits)
    }

    /// How the result for these operands is known. Less is known of NaNs and infinities, and of a result that another
    /// reading of what is open would change, than of the row: these were measured on sm_90 alone.
    pub fn evidence(&self, profile: &Profile, operands: &DotOperands) -> Evidence {
        let known = with_known_readings(profile);
        let result = self.eval(profile, operands);
        let as_known = self.instruction.row(self.target, &known).map(|row| Matrix { row, ..*self });
        if !as_known.is_ok_and(|matrix| matrix.eval(&known, operands) == result) {
            return Evidence::Chosen;
        }
        let of_row = self.row.evidence;
        if of_row != Evidence::Hardware || self.target.number == 90 {
            return of_row;
        }
        let is_finite = result & self.row.dot.d.magnitude_mask() < self.row.dot.d.infinity();
        if is_finite && readings(known).iter().all(|(_, reading)| self.eval(reading, operands) == result) {
            Evidence::Hardware
        } else {
            Evidence::Model
        }
    }

    /// An input on which another machine gives another result, and how often they differ on `tries` random inputs of a
    /// kind.
    pub fn compare(&self, other: &Matrix, spelling: &str, profile: &Profile, tries: u64) -> DotComparison {
        let machines = [self.target.to_string(), other.target.to_string()];
        let mut presumed = Vec::new();
        for matrix in [self, other] {
            let target = matrix.target.to_string();
            if matrix.row.evidence == Evidence::Presumed && !presumed.contains(&target) {
                presumed.push(target);
            }
        }
        let compared = compare_dots(spelling, machines, [&self.row.dot, &other.row.dot], profile, tries);
        let evidence = [self, other].map(|matrix| {
            let evidence = matrix.evidence_of_steps(profile);
            DotEvidence {
                machine: matrix.target.to_string(),
                evidence: evidence.name(),
                source: matrix.source(evidence),
            }
        });
        DotComparison { presumed, evidence: evidence.into(), ..compared }
    }

    /// How the steps are known, whatever the operands are.
    fn evidence_of_steps(&self, profile: &Profile) -> Evidence {
        let as_known = self.instruction.row(self.target, &with_known_readings(profile));
        if as_known.is_ok_and(|row| row.dot == self.row.dot) { self.row.evidence } else { Evidence::Chosen }
    }

    /// Where what is known is known from.
    fn source(&self, evidence: Evidence) -> String {
        let UnitRow { source, evidence: of_row, .. } = self.row.unit;
        if evidence == *of_row { (*source).to_owned() } else { format!("of its row: {source}") }
    }

    /// The steps, and what the other targets that have the instruction give.
    pub fn explain(&self, spelling: &str, profile: &Profile, operands: &DotOperands) -> DotExplained {
        let machine = |target: SmTarget| {
            let row = self.instruction.row(target, profile).ok()?;
            let is_known = row.evidence != Evidence::Presumed;
            Some(DotMachine { target: target.to_string(), dot: row.dot, is_known })
        };
        let others = self.instruction.targets().into_iter().filter_map(|number| machine(number.into())).collect();
        let MatrixRow { unit, dot, .. } = &self.row;
        let evidence = self.evidence(profile, operands);
        let place = DotPlace {
            target: self.target.to_string(),
            unit: unit.sass,
            evidence: evidence.name(),
            source: self.source(evidence),
        };
        explain_dot(spelling, place, dot, profile, operands, others)
    }
}
