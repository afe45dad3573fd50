//! What each generation of tensor cores computes.
//!
//! Sources, by strength: results of real GPUs (north-numerical-computing/MATLAB-tensor-core, BSD-2; Khattak, Mikaitis,
//! arXiv 2512.07004); a model that its authors validated on GPUs (microsoft/MMA-Sim, MIT; Xie et al., arXiv 2511.10909);
//! the machine code that ptxas 12.9 and 13.5 make. PTX itself says next to nothing: its `mma`, "at least single
//! precision" for f16, "specified precision" for the rest.

use super::{Family, MatrixInstruction};
use roundonce_arith::{Addend, Dot, Element, Format, NarrowFormat, Order, Profile, Rounding, TuringBlock};
use roundonce_isa::SmTarget;
use std::fmt;

/// How a row is known, the strongest of it; or a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Evidence {
    /// Of a result: a reading that the profile chooses against what is known gives it.
    Chosen,
    /// By analogy with another generation of the family.
    Presumed,
    /// A model that its authors validated on this GPU.
    Model,
    /// The machine code that the assembler makes, and what its instructions are known to compute.
    Assembler,
    /// Stored results of real GPUs; the model too.
    Hardware,
}

impl Evidence {
    /// One word for tables: `chosen`, `presumed`, `model`, `assembler`, `hardware`.
    pub const fn name(self) -> &'static str {
        match self {
            Evidence::Chosen => "chosen",
            Evidence::Presumed => "presumed",
            Evidence::Model => "model",
            Evidence::Assembler => "assembler",
            Evidence::Hardware => "hardware",
        }
    }
}

/// Why there is no row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The spelling is wrong.
    Malformed(String),
    /// The target has no such instruction.
    Missing(String),
    /// It exists, and what it computes is not known, or nothing of it is rounded.
    Unknown(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Refusal::Malformed(text) | Refusal::Missing(text) | Refusal::Unknown(text)) = self;
        f.write_str(text)
    }
}

/// The operands' types, as the rows tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operands {
    /// f16.
    F16,
    /// f16 and bf16.
    Half,
    /// TF32.
    Tf32,
    /// e4m3 and e5m2.
    Fp8,
    /// e3m2, e2m3 and e2m1, or one of them with e4m3 or e5m2.
    Fp6Or4,
    /// f64.
    Double,
}

/// How the terms are added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Steps of so many products, or all if there are fewer, cut to so many bits below the largest exponent.
    Tensor {
        /// Products a step.
        block: u32,
        /// Bits.
        kept: u32,
    },
    /// As `Tensor`, its f32 results with 13 fraction bits.
    TensorShort {
        /// Products a step.
        block: u32,
        /// Bits.
        kept: u32,
    },
    /// Fused multiply-adds, k ascending, c first.
    Chain,
    /// Fused multiply-adds of f32 from +0, then one addition of c: no tensor core has the instruction.
    ChainThenAdd,
    /// Operands unpacked to f16, two instructions of half the products each from +0, then one addition of c.
    UnpackedHalves {
        /// Bits.
        kept: u32,
    },
}

/// A row: what one generation computes for some shapes and types of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitRow {
    /// The targets that compute this (`sm_80` is 80); the first one is what the evidence is about.
    pub targets: &'static [u32],
    /// The instructions.
    pub families: &'static [Family],
    /// The shapes in m, n and k.
    pub shapes: Shapes,
    /// The operands.
    pub operands: Operands,
    /// Whether it has block scales.
    pub is_scaled: bool,
    /// How it adds.
    pub unit: Unit,
    /// The machine instruction.
    pub sass: &'static str,
    /// How that is known of the first target.
    pub evidence: Evidence,
    /// The sources.
    pub source: &'static str,
}

/// The shapes of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shapes {
    /// These.
    Are(&'static [[u32; 3]]),
    /// m64, n a multiple of 8 up to 256, k so many.
    Wgmma(u32),
    /// m64 or m128 (two CTAs: 256), n a multiple of 8 up to 256, k so many.
    Tcgen05(u32),
}

impl Shapes {
    fn hold(self, [m, n, k]: [u32; 3]) -> bool {
        match self {
            Shapes::Are(shapes) => shapes.contains(&[m, n, k]),
            Shapes::Wgmma(depth) => m == 64 && n % 8 == 0 && n <= 256 && k == depth,
            Shapes::Tcgen05(depth) => [64, 128, 256].contains(&m) && n % 8 == 0 && n <= 256 && k == depth,
        }
    }
}

impl fmt::Display for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shapes::Are(shapes) => {
                let names: Vec<String> = shapes.iter().map(|[m, n, k]| format!("m{m}n{n}k{k}")).collect();
                f.write_str(&names.join(", "))
            }
            Shapes::Wgmma(k) => write!(f, "m64nNk{k}"),
            Shapes::Tcgen05(k) => write!(f, "mMnNk{k}"),
        }
    }
}

const VOLTA: &[u32] = &[70, 72];
const TURING: &[u32] = &[75];
const AMPERE: &[u32] = &[80, 86, 87, 88];
const ADA: &[u32] = &[89];
const AMPERE_OR_ADA: &[u32] = &[80, 86, 89, 87, 88];
const HOPPER: &[u32] = &[90];
const BLACKWELL: &[u32] = &[100, 103, 110];
const RTX_BLACKWELL: &[u32] = &[120, 121];
const SINCE_HOPPER: &[u32] = &[90, 100, 120, 103, 110, 121];
const SINCE_BLACKWELL: &[u32] = &[100, 120, 103, 110, 121];
const SINCE_AMPERE: &[u32] = &[80, 86, 89, 90, 100, 120, 87, 88, 103, 110, 121];
/// Targets whose rows have evidence of their own; what is known of the others is that they belong to a family.
const WITH_EVIDENCE: [u32; 8] = [70, 75, 80, 86, 89, 90, 100, 120];

/// Targets of which results of GPUs are stored.
const WITH_RESULTS: [u32; 6] = [70, 80, 86, 89, 90, 100];

static MMA: &[Family] = &[Family::Mma];
static WMMA: &[Family] = &[Family::Wmma];
static WGMMA: &[Family] = &[Family::Wgmma];
static TCGEN05: &[Family] = &[Family::Tcgen05];

const K4: Shapes = Shapes::Are(&[[8, 8, 4]]);
const K8: Shapes = Shapes::Are(&[[16, 8, 8]]);
const K8_16: Shapes = Shapes::Are(&[[16, 8, 8], [16, 8, 16]]);
const K4_8: Shapes = Shapes::Are(&[[16, 8, 4], [16, 8, 8]]);
const K16_32: Shapes = Shapes::Are(&[[16, 8, 16], [16, 8, 32]]);
const K32: Shapes = Shapes::Are(&[[16, 8, 32]]);
const K64: Shapes = Shapes::Are(&[[16, 8, 64]]);
const WHOLE: Shapes = Shapes::Are(&[[16, 16, 16], [32, 8, 16], [8, 32, 16]]);
const WHOLE_TF32: Shapes = Shapes::Are(&[[16, 16, 8]]);
const F64_WIDE: Shapes = Shapes::Are(&[[16, 8, 4], [16, 8, 8], [16, 8, 16]]);

const fn tensor(block: u32, kept: u32) -> Unit {
    Unit::Tensor { block, kept }
}

/// A row without scales.
#[allow(clippy::too_many_arguments)] // The columns of the table.
const fn row(
    targets: &'static [u32],
    families: &'static [Family],
    shapes: Shapes,
    operands: Operands,
    unit: Unit,
    sass: &'static str,
    evidence: Evidence,
    source: &'static str,
) -> UnitRow {
    UnitRow { targets, families, shapes, operands, is_scaled: false, unit, sass, evidence, source }
}

const fn scaled(row: UnitRow) -> UnitRow {
    UnitRow { is_scaled: true, ..row }
}

/// The rows. The first one that holds is an instruction's.
#[rustfmt::skip] // A table.
pub static ROWS: &[UnitRow] = &{
    use Evidence::{Assembler, Hardware, Model};
    use Operands::{Double, F16, Fp6Or4, Fp8, Half, Tf32};
    use Unit::{Chain, ChainThenAdd, TensorShort, UnpackedHalves};
    [
        row(VOLTA, MMA, K4, F16, tensor(4, 23), "HMMA.884", Hardware, "V100: 10,000 of 10,000; MMA-Sim"),
        row(VOLTA, WMMA, WHOLE, F16, tensor(4, 23), "HMMA.884", Hardware, "V100: 10,000 of 10,000; MMA-Sim"),
        row(TURING, MMA, K4, F16, tensor(4, 24), "HMMA.884", Model, "MMA-Sim (T4)"),
        row(TURING, MMA, K8, F16, tensor(8, 24), "HMMA.1688", Model, "MMA-Sim (T4); arXiv 2502.15999 disagrees (turing_block)"),
        row(TURING, WMMA, WHOLE, F16, tensor(8, 24), "HMMA.1688", Model, "as m16n8k8, two chained over k (ptxas)"),
        row(SINCE_AMPERE, MMA, K4, F16, ChainThenAdd, "FFMA", Assembler, "ptxas 12.9 and 13.5: a subroutine, no tensor core"),
        row(AMPERE, MMA, K8_16, Half, tensor(8, 24), "HMMA.1688, .16816", Hardware, "A100, A2: 30,000 of 30,000; MMA-Sim"),
        row(ADA, MMA, K8_16, Half, tensor(8, 24), "HMMA.1688, .16816", Hardware, "RTX 1000 Ada, L40S: 40,000 of 40,000; MMA-Sim"),
        row(AMPERE_OR_ADA, WMMA, WHOLE, Half, tensor(8, 24), "HMMA.16816", Hardware, "A100, A2, Ada, L40S: all of 70,000"),
        row(AMPERE_OR_ADA, MMA, K4_8, Tf32, tensor(4, 24), "HMMA.1684, .1688.TF32", Hardware, "A100, Ada, L40S; MMA-Sim"),
        row(AMPERE_OR_ADA, WMMA, WHOLE_TF32, Tf32, tensor(4, 24), "HMMA.1684.TF32", Hardware, "two chained over k (ptxas); A100, A2, Ada, L40S"),
        row(ADA, MMA, K16_32, Fp8, TensorShort { block: 16, kept: 13 }, "QMMA.16816, .16832", Hardware, "RTX 1000 Ada, L40S: 30,000 of 30,000; MMA-Sim"),
        row(HOPPER, MMA, K8_16, Half, tensor(16, 25), "HMMA.1688, .16816", Hardware, "H100, H200: 30,000 of 30,000; MMA-Sim"),
        row(SINCE_BLACKWELL, MMA, K8_16, Half, tensor(16, 25), "HMMA.1688, .16816", Hardware, "B200: 20,000 of 20,000; MMA-Sim (B200, RTX PRO 6000)"),
        row(SINCE_HOPPER, WMMA, WHOLE, Half, tensor(16, 25), "HMMA.16816", Hardware, "H100, H200, B200"),
        row(SINCE_HOPPER, MMA, K4_8, Tf32, tensor(8, 25), "HMMA.1684, .1688.TF32", Hardware, "H100; k4 by H200, B200 too; MMA-Sim (H100, B200, RTX PRO 6000)"),
        row(SINCE_HOPPER, WMMA, WHOLE_TF32, Tf32, tensor(4, 25), "HMMA.1684.TF32", Hardware, "two chained over k (ptxas); H100, H200, B200"),
        row(&[90, 100, 103, 110], MMA, K16_32, Fp8, UnpackedHalves { kept: 25 }, "F2FP, HMMA, FADD", Hardware, "ptxas; H100, H200, B200: 40,000 of 40,000"),
        row(RTX_BLACKWELL, MMA, K16_32, Fp8, tensor(32, 25), "QMMA", Model, "MMA-Sim (RTX PRO 6000); an emulator pinned to one: 15,065,088 of 15,065,088"),
        row(HOPPER, WGMMA, Shapes::Wgmma(16), Half, tensor(16, 25), "HGMMA", Model, "MMA-Sim (H100)"),
        row(HOPPER, WGMMA, Shapes::Wgmma(8), Tf32, tensor(8, 25), "HGMMA", Model, "MMA-Sim (H100)"),
        row(HOPPER, WGMMA, Shapes::Wgmma(32), Fp8, TensorShort { block: 32, kept: 13 }, "QGMMA", Hardware, "H100, H200: 20,000 of 20,000; MMA-Sim"),
        row(BLACKWELL, TCGEN05, Shapes::Tcgen05(16), Half, tensor(16, 25), "UTCHMMA", Model, "MMA-Sim (B200)"),
        row(BLACKWELL, TCGEN05, Shapes::Tcgen05(8), Tf32, tensor(8, 25), "UTCHMMA", Model, "MMA-Sim (B200)"),
        row(BLACKWELL, TCGEN05, Shapes::Tcgen05(32), Fp8, tensor(32, 25), "UTCQMMA", Model, "MMA-Sim (B200)"),
        scaled(row(BLACKWELL, TCGEN05, Shapes::Tcgen05(32), Fp8, tensor(32, 25), "UTCQMMA", Model, "MMA-Sim (B200)")),
        scaled(row(BLACKWELL, TCGEN05, Shapes::Tcgen05(64), Fp6Or4, tensor(64, 35), "UTCOMMA", Model, "MMA-Sim (B200)")),
        scaled(row(RTX_BLACKWELL, MMA, K32, Fp8, tensor(32, 25), "QMMA.SF", Model, "MMA-Sim (RTX PRO 6000); an emulator pinned to one")),
        scaled(row(RTX_BLACKWELL, MMA, K64, Fp6Or4, tensor(64, 35), "OMMA.SF", Model, "MMA-Sim (RTX PRO 6000); an emulator pinned to one")),
        row(SINCE_AMPERE, MMA, K4, Double, Chain, "DMMA.884", Model, "MMA-Sim; NaN payloads unknown"),
        row(SINCE_AMPERE, WMMA, K4, Double, Chain, "DMMA.884", Model, "MMA-Sim; NaN payloads unknown"),
        row(SINCE_HOPPER, MMA, F64_WIDE, Double, Chain, "DMMA", Model, "MMA-Sim; ptxas chains DMMA.8x8x4 since sm_100"),
    ]
};

/// Every combination of types, sums, kinds and scales.
fn product<'a, A: Copy, B: Copy>(
    types: &'a [A],
    sums: &'a [B],
    kinds: &'a [&'a str],
    scales: &'a [&'a str],
) -> impl Iterator<Item = (A, B, &'a str, &'a str)> {
    let with = move |(ty, sum): (A, B)| {
        kinds.iter().flat_map(move |kind| scales.iter().map(move |scale| (ty, sum, *kind, *scale)))
    };
    types.iter().flat_map(move |ty| sums.iter().map(move |sum| (*ty, *sum))).flat_map(with)
}

/// A row of the table and the operation that an instruction is by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixRow {
    /// The row.
    pub unit: &'static UnitRow,
    /// One element of the result.
    pub dot: Dot,
    /// How it is known of this target.
    pub evidence: Evidence,
}

impl Operands {
    /// Those of an instruction.
    fn of(instruction: &MatrixInstruction) -> Option<Operands> {
        let is_fp8 = |element| [NarrowFormat::E4M3, NarrowFormat::E5M2].map(Element::Narrow).contains(&element);
        Some(match (instruction.a, instruction.b) {
            (Element::Float(Format::F16), Element::Float(Format::F16)) => Operands::F16,
            (Element::Float(Format::F16 | Format::BF16), Element::Float(Format::F16 | Format::BF16)) => Operands::Half,
            (Element::Float(Format::TF32), Element::Float(Format::TF32)) => Operands::Tf32,
            (Element::Float(Format::F64), Element::Float(Format::F64)) => Operands::Double,
            (a, b) if is_fp8(a) && is_fp8(b) => Operands::Fp8,
            (Element::Narrow(_), Element::Narrow(_)) => Operands::Fp6Or4,
            _ => return None,
        })
    }
}

impl Operands {
    /// In a few words: `f16, bf16`.
    pub const fn name(self) -> &'static str {
        match self {
            Operands::F16 => "f16",
            Operands::Half => "f16, bf16",
            Operands::Tf32 => "tf32",
            Operands::Fp8 => "e4m3, e5m2",
            Operands::Fp6Or4 => "e2m1",
            Operands::Double => "f64",
        }
    }

    /// Types of a and b that show all of them: each once.
    fn types(self, is_scaled: bool) -> &'static [[&'static str; 2]] {
        match self {
            Operands::F16 => &[["f16", "f16"]],
            Operands::Half => &[["f16", "f16"], ["bf16", "bf16"]],
            Operands::Tf32 => &[["tf32", "tf32"]],
            Operands::Fp8 => &[["e4m3", "e4m3"], ["e4m3", "e5m2"], ["e5m2", "e4m3"], ["e5m2", "e5m2"]],
            Operands::Fp6Or4 if is_scaled => &[["e2m1", "e2m1"]],
            Operands::Fp6Or4 => &[],
            Operands::Double => &[["f64", "f64"]],
        }
    }
}

impl Unit {
    /// How it adds, in words.
    pub fn text(self) -> String {
        match self {
            Unit::Tensor { block, kept } => format!("{block} products a step, {kept} bits kept"),
            Unit::TensorShort { block, kept } => {
                format!("{block} products a step, {kept} bits kept; f32 results of 13 fraction bits")
            }
            Unit::Chain => "one fused multiply-add a product".to_owned(),
            Unit::ChainThenAdd => "fused multiply-adds of f32 from +0, then + c".to_owned(),
            Unit::UnpackedHalves { kept } => {
                format!("unpacked to f16: two steps of half the products from +0, {kept} bits kept, then + c")
            }
        }
    }
}

impl UnitRow {
    /// The conversion of a step's sum, in words: f32 and f16 results.
    pub const fn conversion(&self) -> &'static str {
        match (self.unit, self.operands, self.is_scaled) {
            (Unit::Chain | Unit::ChainThenAdd, ..) => "to nearest even",
            (_, Operands::Tf32, _) | (_, _, true) => "f32 toward zero",
            _ => "f32 toward zero, f16 to nearest even",
        }
    }

    /// The spellings that the row holds for, one of each shape and types; n is 8 where it may be more.
    pub fn spellings(&self) -> Vec<String> {
        let shapes = match self.shapes {
            Shapes::Are(shapes) => shapes.to_vec(),
            Shapes::Wgmma(k) => vec![[64, 8, k]],
            Shapes::Tcgen05(k) => vec![[if self.is_scaled { 128 } else { 64 }, 8, k]],
        };
        let sums = [["f32", "f32"], ["f16", "f16"], ["f32", "f16"], ["f16", "f32"], ["f64", "f64"]];
        let kinds: &[&str] = match (self.is_scaled, self.operands, self.families[0]) {
            (true, Operands::Fp8, _) => &["kind::mxf8f6f4.block_scale.scale_vec::1X"],
            (true, ..) => &[
                "kind::mxf4.block_scale.scale_vec::2X",
                "kind::mxf4nvf4.block_scale.scale_vec::2X",
                "kind::mxf4nvf4.block_scale.scale_vec::4X",
            ],
            (_, Operands::Half, Family::Tcgen05) => &["kind::f16"],
            (_, Operands::Tf32, Family::Tcgen05) => &["kind::tf32"],
            (_, _, Family::Tcgen05) => &["kind::f8f6f4"],
            (_, Operands::Fp8, Family::Mma) if self.targets == RTX_BLACKWELL => &["", "kind::f8f6f4"],
            _ => &[""],
        };
        let scales: &[&str] = if self.is_scaled { &[".ue8m0", ".ue4m3"] } else { &[""] };
        let mut all = Vec::new();
        for [m, n, k] in shapes {
            let shape = format!("m{m}n{n}k{k}");
            for ([a, b], [d, c], kind, scale) in product(self.operands.types(self.is_scaled), &sums, kinds, scales) {
                let kind = if kind.is_empty() { String::new() } else { format!(".{kind}") };
                let text = match self.families[0] {
                    Family::Mma => format!("mma.sync.aligned{kind}.{shape}.row.col.{d}.{a}.{b}.{c}{scale}"),
                    Family::Wmma => format!("wmma.mma.sync.aligned.row.col.{shape}.{d}.{a}.{b}.{c}"),
                    Family::Wgmma => format!("wgmma.mma_async.sync.aligned.{shape}.{d}.{a}.{b}"),
                    Family::Tcgen05 => format!("tcgen05.mma.cta_group::1{kind} {shape}.{d}.{a}.{b}{scale}"),
                };
                let names_c = matches!(self.families[0], Family::Mma | Family::Wmma);
                let holds = |instruction: &MatrixInstruction| {
                    instruction.row(self.targets[0].into(), &Profile::NVIDIA).is_ok_and(|row| row.unit == self)
                };
                if (names_c || c == d) && MatrixInstruction::parse(&text).is_ok_and(|instruction| holds(&instruction)) {
                    all.push(text);
                }
            }
        }
        all
    }

    fn holds(&self, instruction: &MatrixInstruction, operands: Operands) -> bool {
        self.families.contains(&instruction.family)
            && (self.operands == operands || self.operands == Operands::Half && operands == Operands::F16)
            && self.is_scaled == instruction.scale.is_some()
            && self.shapes.hold([instruction.m, instruction.n, instruction.k])
    }
}

impl MatrixInstruction {
    /// What the instruction computes on a target. Its letter (`sm_90a`) says nothing about the bits.
    ///
    /// # Errors
    /// The target lacks it, its types do not go together, or what it computes is not known.
    pub fn row(&self, target: SmTarget, profile: &Profile) -> Result<MatrixRow, Refusal> {
        let operands = self.operands()?;
        let mut rows = ROWS.iter().filter(|row| row.holds(self, operands));
        let has = |row: &&UnitRow| row.targets.contains(&target.number) && target.number >= self.since;
        let Some(unit) = rows.find(has) else {
            return Err(self.missing(operands, target));
        };
        let evidence = match unit.evidence {
            _ if !WITH_EVIDENCE.contains(&target.number) => Evidence::Presumed,
            Evidence::Hardware if !self.has_results(operands, target) => Evidence::Model,
            evidence => evidence,
        };
        Ok(MatrixRow { unit, dot: self.dot(unit, operands, profile), evidence })
    }

    /// Of an instruction whose row is known from GPUs: whether results of this instruction on that target are stored
    /// (`vectors/matrix`, `vectors/hw`), or of another that is the same machine instruction.
    fn has_results(&self, operands: Operands, target: SmTarget) -> bool {
        let is_captured = target.number == 90;
        WITH_RESULTS.contains(&target.number)
            && match (self.family, operands) {
                (Family::Wmma, _) => true,
                (Family::Mma, _) if is_captured || target.number == 70 => true,
                // What HMMA.1688 gives is stored of sm_90 alone; wmma is HMMA.16816 elsewhere.
                (Family::Mma, Operands::Half | Operands::F16) => self.k == 16,
                (Family::Mma, Operands::Tf32) => self.k == 4,
                (Family::Mma, Operands::Fp8) => self.k == 32 && self.a == self.b,
                (Family::Wgmma, Operands::Fp8) => self.a == self.b && self.d == Format::F32,
                _ => false,
            }
    }

    /// Why no row holds on a target.
    fn missing(&self, operands: Operands, target: SmTarget) -> Refusal {
        let targets: Vec<String> = self.targets().iter().map(|number| format!("sm_{number}")).collect();
        let name = self.family.name();
        match targets.is_empty() {
            true if operands == Operands::Fp6Or4 => {
                Refusal::Unknown(format!("{self}: how 4 and 6 bits are added is unknown: nothing public was measured"))
            }
            true => Refusal::Missing(format!("{name} has no {self}")),
            false => {
                let kind = self.kind.map_or(String::new(), |kind| format!(".kind::{kind}"));
                Refusal::Missing(format!("{name}{kind} {self} is not on {target}, but on {}", targets.join(", ")))
            }
        }
    }

    /// The targets that have the instruction, in order.
    pub fn targets(&self) -> Vec<u32> {
        let Ok(operands) = self.operands() else { return Vec::new() };
        let rows = ROWS.iter().filter(|row| row.holds(self, operands));
        let mut targets: Vec<u32> =
            rows.flat_map(|row| row.targets).copied().filter(|target| *target >= self.since).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The operands' types, if they go with each other and with the sums'.
    fn operands(&self) -> Result<Operands, Refusal> {
        let mixed = || Refusal::Malformed(format!("{}: no instruction has {self}", self.family.name()));
        let operands = Operands::of(self).ok_or_else(mixed)?;
        let same = self.a == self.b;
        let sums = (self.d, self.c);
        let goes = match operands {
            // Volta's shape alone has sums of two types, c the smaller; wmma converts.
            Operands::F16 => match self.family {
                Family::Wmma => [self.d, self.c].iter().all(|format| [Format::F16, Format::F32].contains(format)),
                Family::Mma if self.k == 4 && sums == (Format::F32, Format::F16) => true,
                _ => self.d == self.c && self.d != Format::F64,
            },
            Operands::Half => (same || self.family == Family::Tcgen05) && sums == (Format::F32, Format::F32),
            Operands::Tf32 => sums == (Format::F32, Format::F32),
            Operands::Fp8 if self.scale.is_none() => self.d == self.c && self.d != Format::F64,
            Operands::Fp8 => sums == (Format::F32, Format::F32) && self.kind == Some("mxf8f6f4"),
            Operands::Fp6Or4 if self.k == 64 => {
                let is_e2m1 = same && self.a == Element::Narrow(NarrowFormat::E2M1);
                is_e2m1 && sums == (Format::F32, Format::F32) && self.kind != Some("mxf8f6f4")
            }
            Operands::Fp6Or4 => sums == (Format::F32, Format::F32) || self.d == self.c && self.d == Format::F16,
            Operands::Double => sums == (Format::F64, Format::F64),
        };
        let rounds = self.rounding.is_none() || operands == Operands::Double;
        // Elsewhere the types stand in the spelling, beside the kind.
        let is_of_kind = match self.kind {
            _ if self.family != Family::Tcgen05 => true,
            Some("f16") => matches!(operands, Operands::F16 | Operands::Half),
            Some("tf32") => operands == Operands::Tf32,
            Some("f8f6f4") => matches!(operands, Operands::Fp8 | Operands::Fp6Or4),
            kind => kind != Some("i8"),
        };
        if goes && rounds && is_of_kind { Ok(operands) } else { Err(mixed()) }
    }

    fn dot(&self, row: &UnitRow, operands: Operands, profile: &Profile) -> Dot {
        let accumulator = match (operands, self.c, self.d) {
            (Operands::Double, ..) => Format::F64,
            _ if row.unit == Unit::ChainThenAdd => Format::F32,
            (_, Format::F16, Format::F16) => Format::F16,
            _ => Format::F32,
        };
        let (block, kept, most_fraction) = match row.unit {
            Unit::Tensor { block, kept } => (block, Some(kept), u32::MAX),
            Unit::TensorShort { block, kept } => (block, Some(kept), 13),
            Unit::Chain | Unit::ChainThenAdd => (1, None, u32::MAX),
            Unit::UnpackedHalves { kept } => (self.k / 2, Some(kept), u32::MAX),
        };
        let block = match profile.turing_block {
            TuringBlock::Four if row.targets == TURING => block.min(4),
            _ => block.min(self.k),
        };
        let is_f16 = accumulator == Format::F16;
        let rounding = match (kept, is_f16) {
            (Some(_), false) => Rounding::TowardZero,
            (Some(_), true) => Rounding::NearestEven,
            (None, _) => self.rounding.unwrap_or(Rounding::NearestEven),
        };
        Dot {
            a: self.a,
            b: self.b,
            c: self.c,
            d: self.d,
            accumulator,
            k: self.k,
            block,
            group: if kept == Some(35) { 16 } else { 1 },
            kept,
            order: if matches!(row.unit, Unit::UnpackedHalves { .. }) { Order::Halves } else { Order::Ascending },
            addend: match row.unit {
                Unit::ChainThenAdd | Unit::UnpackedHalves { .. } => Addend::AfterLastStep,
                _ => Addend::InFirstStep,
            },
            rounding,
            fraction: accumulator.frac_bits().min(most_fraction),
            scale: self.scale,
            floor: floor(kept, is_f16),
        }
    }
}

/// The exponent of a term that is zero (MMA-Sim's later files): of f32 sums −131, −132, −133 with 23, 24, 25 bits kept,
/// and −139 with 13 or 35; of f16 sums −20 and −21 with 23 and 24, the others by the same distance.
const fn floor(kept: Option<u32>, is_f16: bool) -> i32 {
    let floor = match kept {
        Some(kept @ 23..=25) => -108 - kept as i32,
        _ => -139,
    };
    if is_f16 { floor + 111 } else { floor }
}
