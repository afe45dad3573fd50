//! Which deviations are considered where.

use roundonce_arith::{ArithOp, Format, NanRule, Rounding, Tininess};

use crate::deviation::{Deviation, Fmas};

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
        Deviation::Saturate,
        Deviation::NoSaturate,
        Deviation::OtherNan,
        Deviation::FlushOperands,
        Deviation::KeepOperands,
        Deviation::KeepResults,
        Deviation::OtherZero,
        Deviation::NegateAddend,
        Deviation::NegateProduct,
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExpressionTraits {
    /// The format of its result.
    pub format: Format,
    /// All its operations are of that format.
    pub is_uniform: bool,
    /// A product of it has been fused into a sum.
    pub is_contracted: bool,
    /// The one operation that it is, if it is only one.
    pub only: Option<ArithOp>,
}

/// Of an expression: what machines have as modes of all operations, singly and together. The first is no deviation.
pub fn for_expressions(traits: &ExpressionTraits) -> Vec<Vec<Deviation>> {
    let ExpressionTraits { format, is_uniform, is_contracted, .. } = *traits;
    let is_f32 = is_uniform && format == Format::F32;
    let wide = wider(format);
    let wide_methods = wide.map(|wide| [Deviation::WideEachOperation(wide), Deviation::WideWhole(wide)]);
    let methods: Vec<Option<Deviation>> =
        [None].into_iter().chain(wide_methods.into_iter().flatten().map(Some)).collect();
    let mut all = Vec::new();
    for method in &methods {
        let is_native = method.is_none();
        // The operations that are carried out are the wider format's, and so is their flush.
        let flush = Deviation::Flush(wide.filter(|_| !is_native));
        let mut flushes = vec![vec![], vec![flush]];
        if is_f32 && is_native {
            flushes.push(vec![Deviation::Flush(None), Deviation::ZeroDominance]);
        }
        let clamps: &[Option<Deviation>] = if is_native { &[None, Some(Deviation::Saturate)] } else { &[None] };
        for direction in [None].into_iter().chain(directions().map(Some)) {
            for flush in &flushes {
                for clamp in clamps {
                    all.push(flush.iter().chain(method).chain(&direction).chain(clamp).cloned().collect());
                }
            }
        }
    }
    if is_f32 && is_contracted {
        // The machines that cut the product have no subnormals.
        let truncated = vec![Deviation::Flush(None), Deviation::TruncatedProduct];
        all.extend([[truncated.clone(), vec![Deviation::Saturate]].concat(), truncated]);
    }
    all
}

/// Of an expression where nothing of [`for_expressions`] explains what was observed: what no machine has as a mode,
/// and what is asked of a single operation only.
pub fn rare_for_expressions(traits: &ExpressionTraits) -> Vec<Vec<Deviation>> {
    let ExpressionTraits { format, only, .. } = *traits;
    let mut flushes: Vec<Vec<Deviation>> =
        Tininess::ALL.map(|rule| vec![Deviation::FlushResults(rule)]).into_iter().collect();
    flushes.push(vec![Deviation::FlushOperands]);
    // One of the three rules is the profile's own, which is one of the modes that machines have.
    flushes.extend(Tininess::ALL.map(|rule| vec![Deviation::Flush(None), Deviation::FlushResults(rule)]));
    let mut all = flushes.clone();
    for direction in directions() {
        all.extend(flushes.iter().map(|flush| flush.iter().cloned().chain([direction.clone()]).collect()));
    }
    // A flush of the expression's own format, as conversions to the wider one and back do it.
    for wide in wider(format).into_iter().filter(|_| format != Format::BF16) {
        let methods = [Deviation::WideEachOperation(wide), Deviation::WideWhole(wide)];
        all.extend(methods.map(|method| vec![Deviation::Flush(None), method]));
    }
    all.extend(NanRule::ALL.map(|rule| vec![Deviation::NanOperand(rule)]));
    all.extend([vec![Deviation::OtherNan], vec![Deviation::OtherZero]]);
    if let Some(op) = only {
        if op == ArithOp::MulAdd {
            all.push(vec![Deviation::TruncatedProduct]);
            all.push(vec![Deviation::Flush(None), Deviation::TruncatedProduct]);
        }
        all.extend((format.width() == 16).then(|| vec![Deviation::WideEachOperation(Format::F64)]));
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
