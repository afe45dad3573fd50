//! Which deviations are considered where.

use roundonce_arith::{ArithOp, Format, NanRule, Rounding, Tininess};

use crate::deviation::{Deviation, Fmas, Narrowing, Tf32Rounding};
use crate::model::with_wider_exponent;

/// Of one instruction, in the order of preference.
pub fn for_instructions() -> Vec<Deviation> {
    let mut all = vec![
        Deviation::WideEachOperation(Format::F32),
        Deviation::WideEachOperation(Format::F64),
        Deviation::Split(Fmas::All),
        Deviation::Flush(None),
        Deviation::Keep(None),
        Deviation::ZeroDominance,
        Deviation::NoZeroDominance,
        Deviation::TruncatedProduct,
        Deviation::WholeProduct,
        Deviation::OutOfBounds,
        Deviation::NoOutOfBounds,
        Deviation::Saturate,
        Deviation::NoSaturate,
        Deviation::OtherNan,
        Deviation::FlushOperands,
        Deviation::KeepOperands,
        Deviation::KeepResults,
        Deviation::OtherZero,
        Deviation::NegateAddend,
        Deviation::NegateProduct,
        Deviation::TiesAway(None),
    ];
    all.extend(Rounding::ALL.map(Deviation::Round));
    all.extend(Tininess::ALL.map(Deviation::FlushResults));
    all.extend(NanRule::ALL.map(Deviation::NanOperand));
    all.sort();
    all
}

/// The directions other than to nearest even.
fn directions() -> impl Iterator<Item = Deviation> + Clone {
    let directed = Rounding::ALL.into_iter().filter(|rounding| *rounding != Rounding::NearestEven);
    directed.map(Deviation::Round)
}

/// The format that operations of a narrower one are carried out in where it is not their own.
fn wider(format: Format) -> Option<Format> {
    match format {
        Format::F16 | Format::BF16 => Some(Format::F32),
        Format::F32 => Some(Format::F64),
        _ => None,
    }
}

/// What of an expression decides which deviations it may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionTraits {
    /// The format of its result.
    pub format: Format,
    /// The formats of its operations.
    pub formats: Vec<Format>,
    /// A product of it has been fused into a sum.
    pub is_contracted: bool,
    /// It has a product.
    pub has_product: bool,
    /// The one operation that it is, if it is only one.
    pub only: Option<ArithOp>,
    /// The x87 has all its operations.
    pub fits_x87: bool,
    /// The formats that a cast narrows to.
    pub narrowed_to: Vec<Format>,
}

/// What is done to all operations of an expression, singly and together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ModeSets {
    /// What machines have as modes; the first is none.
    pub usual: Vec<Vec<Deviation>>,
    /// What machines of other rules have: another NaN, another tininess.
    pub rare: Vec<Vec<Deviation>>,
    /// What no machine of the tables has, but arithmetic allows.
    pub hypothetical: Vec<Vec<Deviation>>,
}

/// The formats that have instructions that flush.
const FLUSHED: [Format; 2] = [Format::F16, Format::F32];
/// The formats that have instructions of directed rounding.
const DIRECTED: [Format; 2] = [Format::F32, Format::F64];

impl ExpressionTraits {
    fn all_in(&self, formats: &[Format]) -> bool {
        self.formats.iter().all(|format| formats.contains(format))
    }

    /// The flush of the operations that have one, in their own formats; `None` if none has.
    pub fn flush(&self) -> Option<Deviation> {
        match FLUSHED.into_iter().rev().find(|format| self.formats.contains(format)) {
            // Casts to f16 are flushed by no instruction of PTX: it has another name.
            Some(Format::F16) if self.narrowed_to.contains(&Format::F16) => Some(Deviation::Flush(Some(Format::F16))),
            _ if self.all_in(&FLUSHED) => Some(Deviation::Flush(None)),
            found => found.map(|format| Deviation::Flush(Some(format))),
        }
    }

    /// Whether conversions give results of the format in a direction.
    fn narrows(&self, direction: &Deviation) -> bool {
        self.format != Format::BF16 || *direction == Deviation::Round(Rounding::TowardZero)
    }
}

/// The modes of an expression: every operation in a usual or a rare mode is an instruction of some machine.
pub fn for_expressions(traits: &ExpressionTraits) -> ModeSets {
    let rare = rare(traits);
    let mut hypothetical = hypothetical(traits);
    hypothetical.retain(|it| !rare.contains(it));
    ModeSets { usual: usual(traits), rare, hypothetical }
}

fn usual(traits: &ExpressionTraits) -> Vec<Vec<Deviation>> {
    let format = traits.format;
    let is_f32 = traits.all_in(&[Format::F32]);
    let wide_methods = wider(format).map(|wide| [Deviation::WideEachOperation(wide), Deviation::WideWhole(wide)]);
    // Narrower operations in the result's own format: a product of halves that is added to an f32.
    let has_narrower = traits.formats.iter().any(|it| it.width() < format.width());
    let own = has_narrower.then_some(Deviation::WideWhole(format));
    let methods = wide_methods.into_iter().flatten().chain(own).map(Some);
    let mut all = Vec::new();
    for method in [None].into_iter().chain(methods) {
        let is_native = method.is_none();
        let wide = match method {
            Some(Deviation::WideEachOperation(wide) | Deviation::WideWhole(wide)) => Some(wide),
            _ => None,
        };
        let mut flushes = vec![vec![]];
        if is_native {
            flushes.extend(traits.flush().map(|flush| vec![flush]));
            flushes.extend(is_f32.then(|| vec![Deviation::Flush(None), Deviation::ZeroDominance]));
        } else {
            // The operations that are carried out are the wider format's, and so is their flush; f64 has none, but
            // the conversions of f32 have.
            let flush = if wide == Some(Format::F32) { wide } else { None };
            let flushes_something = flush.is_some() || format == Format::F32;
            flushes.extend(flushes_something.then(|| vec![Deviation::Flush(flush)]));
        }
        let saturates = is_native && FLUSHED.contains(&format);
        let clamps: &[Option<Deviation>] = if saturates { &[None, Some(Deviation::Saturate)] } else { &[None] };
        let is_directed = |direction: &Deviation| {
            if is_native { traits.all_in(&DIRECTED) } else { traits.narrows(direction) }
        };
        for direction in [None].into_iter().chain(directions().filter(is_directed).map(Some)) {
            for flush in &flushes {
                for clamp in clamps {
                    all.push(flush.iter().chain(&method).chain(&direction).chain(clamp).cloned().collect());
                }
            }
        }
    }
    if is_f32 && traits.has_product {
        all.extend(Tf32Rounding::ALL.map(|how| vec![Deviation::Tf32(how)]));
        all.extend([Format::F16, Format::BF16].map(|narrow| vec![Deviation::NarrowFactors(narrow)]));
    }
    if is_f32 && traits.is_contracted {
        // The machines that cut the product have no subnormals.
        let truncated = vec![Deviation::Flush(None), Deviation::TruncatedProduct];
        all.extend([[truncated.clone(), vec![Deviation::Saturate]].concat(), truncated]);
    }
    all
}

fn rare(traits: &ExpressionTraits) -> Vec<Vec<Deviation>> {
    let mut all = Vec::new();
    if traits.all_in(&FLUSHED) {
        // One of the three rules is the profile's own, which is one of the usual modes.
        let flushes = Tininess::ALL.map(|rule| vec![Deviation::Flush(None), Deviation::FlushResults(rule)]);
        all.extend(flushes.clone());
        for direction in directions().filter(|_| traits.all_in(&DIRECTED)) {
            all.extend(flushes.iter().map(|flush| [flush.clone(), vec![direction.clone()]].concat()));
        }
    }
    all.extend(NanRule::ALL.map(|rule| vec![Deviation::NanOperand(rule)]));
    all.push(vec![Deviation::OtherNan]);
    // GPUs flush no f64; the vector units of CPUs do, where a program asks them to.
    if traits.all_in(&[Format::F64]) {
        all.push(vec![Deviation::Flush(None)]);
    }
    if traits.formats.iter().any(|format| with_wider_exponent(*format).is_some()) {
        all.push(vec![Deviation::SubnormalsTwice]);
    }
    if traits.all_in(&[Format::BF16]) {
        all.extend([Narrowing::EachOperation, Narrowing::Whole].map(|narrowing| vec![Deviation::Bf16Cut(narrowing)]));
    } else if traits.narrowed_to.contains(&Format::BF16) {
        all.push(vec![Deviation::Bf16Cut(Narrowing::Whole)]);
    }
    for narrow in [Format::F16, Format::BF16] {
        for conversion in [Deviation::TiesAway(Some(narrow)), Deviation::StayFinite(narrow)] {
            if traits.all_in(&[narrow]) {
                let methods = [Deviation::WideEachOperation(Format::F32), Deviation::WideWhole(Format::F32)];
                all.push(vec![conversion.clone()]);
                all.extend(methods.map(|method| vec![method, conversion.clone()]));
            } else if traits.narrowed_to.contains(&narrow) {
                all.push(vec![conversion]);
            }
        }
    }
    all.extend((traits.format != Format::F64).then(|| vec![Deviation::TiesAway(None)]));
    all.extend(wider(traits.format).map(|wide| vec![Deviation::WideResult(wide)]));
    if traits.fits_x87 {
        all.extend([Narrowing::Whole, Narrowing::EachOperation].map(|narrowing| vec![Deviation::X87(narrowing)]));
    }
    if let Some(op) = traits.only {
        let is_f32 = traits.format == Format::F32;
        all.extend(
            (op == ArithOp::MulAdd && is_f32).then(|| vec![Deviation::Flush(None), Deviation::TruncatedProduct]),
        );
        all.extend((traits.format.width() == 16).then(|| vec![Deviation::WideEachOperation(Format::F64)]));
    }
    all
}

fn hypothetical(traits: &ExpressionTraits) -> Vec<Vec<Deviation>> {
    let ExpressionTraits { format, only, .. } = *traits;
    let mut flushes: Vec<Vec<Deviation>> =
        Tininess::ALL.map(|rule| vec![Deviation::FlushResults(rule)]).into_iter().collect();
    flushes.push(vec![Deviation::FlushOperands]);
    flushes.extend(Tininess::ALL.map(|rule| vec![Deviation::Flush(None), Deviation::FlushResults(rule)]));
    if traits.flush() != Some(Deviation::Flush(None)) {
        flushes.push(vec![Deviation::Flush(None)]);
    }
    let mut all = flushes.clone();
    for direction in directions() {
        all.extend(flushes.iter().map(|flush| [flush.clone(), vec![direction.clone()]].concat()));
    }
    // Directions and a clamp of formats whose instructions have none.
    all.extend(directions().filter(|_| !traits.all_in(&DIRECTED)).map(|direction| vec![direction]));
    all.extend((!FLUSHED.contains(&format)).then(|| vec![Deviation::Saturate]));
    // A flush of the expression's own format, where no conversion to the wider one and back flushes.
    for wide in wider(format).into_iter().filter(|_| format.width() == 16) {
        let methods = [Deviation::WideEachOperation(wide), Deviation::WideWhole(wide)];
        all.extend(methods.map(|method| vec![Deviation::Flush(None), method]));
    }
    all.push(vec![Deviation::OtherZero]);
    if let Some(op) = only {
        all.extend((op == ArithOp::MulAdd).then(|| vec![Deviation::TruncatedProduct]));
        all.extend((op == ArithOp::MulAdd).then(|| vec![Deviation::Flush(None), Deviation::TruncatedProduct]));
        all.extend((op != ArithOp::Mul).then(|| vec![Deviation::NegateAddend]));
        all.push(vec![Deviation::NegateProduct]);
    }
    all
}

/// Of a kernel: what is done to all of it beside fusing and splitting, which are asked of its instructions. `flushes`:
/// the formats whose subnormals may be flushed or kept; `has_zero_dominance`: it has that mode.
pub fn for_kernels(flushes: &[Format], has_zero_dominance: bool) -> (Vec<Deviation>, Vec<Deviation>) {
    let of = |format| [Deviation::Flush(Some(format)), Deviation::Keep(Some(format))];
    let flushes = flushes.iter().flat_map(|&format| of(format)).collect();
    let mut others = Vec::new();
    if has_zero_dominance {
        others.extend([Deviation::ZeroDominance, Deviation::NoZeroDominance]);
    }
    let directed = [Rounding::TowardZero, Rounding::Down, Rounding::Up];
    others.extend(directed.map(Deviation::RoundUnmodified));
    others.extend(directed.map(Deviation::Round));
    (flushes, others)
}
