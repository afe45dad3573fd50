//! Quotients and roots computed otherwise: as products with reciprocals, as quotients, in one step; `expm1` and `log1p`;
//! products with a sum that has a 1, multiplied out; casts from f64 through f32, and casts within that are left out; the
//! integer that a half is rounded to, and that a number out of range is cast to.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::{Deviation, NarrowBy};
use roundonce_functions::Function;

use crate::call::Call;
use crate::expr::Expr;
use crate::integer::{IntegerCast, OutOfRange};

/// A way in which machines and compilers compute a quotient or a root that stands in an expression; `None` where it is
/// something else.
type Rule = fn(&Expr) -> Option<Expr>;

const RULES: [(Deviation, Rule); 14] = [
    (Deviation::CastThroughF32, cast_through_f32),
    (Deviation::MultipliedOut, multiplied_out),
    (Deviation::ExpM1, expm1),
    (Deviation::Log1P, log1p),
    (Deviation::Reciprocal, by_reciprocal),
    (Deviation::RootByReciprocal, root_by_reciprocal),
    (Deviation::QuotientByRoot, quotient_by_root),
    (Deviation::ReciprocalByRoot, reciprocal_by_root),
    (Deviation::ReciprocalRoot, reciprocal_root),
    (Deviation::HalfToEven, half_to_even),
    (Deviation::HalfAway, half_away),
    (Deviation::X86Integers, on_x86),
    (Deviation::UnlimitedIntegers, unlimited),
    (Deviation::NumberFirst, number_first),
];

fn call(function: Function, operands: Vec<Expr>) -> Expr {
    Expr::Call(Call::Function(function), operands)
}

fn product(a: Expr, b: Expr) -> Expr {
    Expr::Mul(Box::new(a), Box::new(b))
}

/// `a / b` as `a * rcp(b)`.
fn by_reciprocal(expr: &Expr) -> Option<Expr> {
    let (a, b) = quotient(expr)?;
    (!is_one(a)).then(|| product(a.clone(), call(Function::Reciprocal, vec![b.clone()])))
}

/// `sqrt(x)` as `x * rsqrt(x)`.
fn root_by_reciprocal(expr: &Expr) -> Option<Expr> {
    let x = of(expr, Function::SquareRoot)?;
    Some(product(x.clone(), call(Function::ReciprocalSquareRoot, vec![x.clone()])))
}

/// `rsqrt(x)` as `rcp(sqrt(x))`.
fn reciprocal_by_root(expr: &Expr) -> Option<Expr> {
    let x = of(expr, Function::ReciprocalSquareRoot)?;
    Some(call(Function::Reciprocal, vec![call(Function::SquareRoot, vec![x.clone()])]))
}

/// `a * rsqrt(x)` as `a / sqrt(x)`.
fn quotient_by_root(expr: &Expr) -> Option<Expr> {
    let Expr::Mul(a, b) = expr else { return None };
    let root =
        |root: &Expr| of(root, Function::ReciprocalSquareRoot).map(|x| call(Function::SquareRoot, vec![x.clone()]));
    let (a, root) = root(b).map(|root| (a, root)).or_else(|| root(a).map(|root| (b, root)))?;
    Some(call(Function::Divide, vec![(**a).clone(), root]))
}

/// `a / sqrt(x)` as `a * rsqrt(x)`, and `1 / sqrt(x)` as `rsqrt(x)`.
fn reciprocal_root(expr: &Expr) -> Option<Expr> {
    let root =
        |root: &Expr| of(root, Function::SquareRoot).map(|x| call(Function::ReciprocalSquareRoot, vec![x.clone()]));
    if let Some(x) = of(expr, Function::Reciprocal) {
        return root(x);
    }
    let (a, b) = quotient(expr)?;
    root(b).map(|root| if is_one(a) { root } else { product(a.clone(), root) })
}

/// `x * (y + 1)` as `fma(x, y, x)`, as LLVM has it where infinities are left out (DAGCombiner, visitFMULForFMADistributiveCombine).
fn multiplied_out(expr: &Expr) -> Option<Expr> {
    let Expr::Mul(a, b) = expr else { return None };
    let with = |x: &Expr, sum: &Expr| {
        let (y, addend) = match sum {
            Expr::Add(y, one) | Expr::Add(one, y) if is_one(one) => ((**y).clone(), x.clone()),
            Expr::Sub(y, one) if is_one(one) => ((**y).clone(), negated(x)),
            Expr::Sub(one, y) if is_one(one) => (negated(y), x.clone()),
            _ => return None,
        };
        let is_of_one_type = [x, &y, sum].iter().all(|part| part.format() == expr.format());
        is_of_one_type.then(|| Expr::Fma(Box::new(x.clone()), Box::new(y), Box::new(addend)))
    };
    with(a, b).or_else(|| with(b, a))
}

/// A cast from f64 to f16 or bf16 as one to f32 and one from there, as libraries have it that convert from f32 alone.
fn cast_through_f32(expr: &Expr) -> Option<Expr> {
    let Expr::Round(Some(to), inner) = expr else { return None };
    let single = Expr::Round(Some(Format::F32), inner.clone());
    (inner.float_type() == Some(Format::F64) && to.width() < 32).then(|| Expr::Round(Some(*to), Box::new(single)))
}

/// `round(x)` as `rint(x)`: one name for both in the languages that people have side by side.
fn half_to_even(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Call(Call::RoundAway, operands) => Some(Expr::Call(Call::Rint, operands.clone())),
        _ => recast(expr, |cast| {
            let by = NarrowBy::Direction(Rounding::NearestEven);
            (cast.by == NarrowBy::TiesAway).then_some(IntegerCast { by, ..cast })
        }),
    }
}

/// `rint(x)` as `round(x)`.
fn half_away(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Call(Call::Rint, operands) => Some(Expr::Call(Call::RoundAway, operands.clone())),
        _ => recast(expr, |cast| {
            let is_nearest = cast.by == NarrowBy::Direction(Rounding::NearestEven);
            is_nearest.then_some(IntegerCast { by: NarrowBy::TiesAway, ..cast })
        }),
    }
}

/// Another cast to an integer in the place of one.
fn recast(expr: &Expr, other: impl Fn(IntegerCast) -> Option<IntegerCast>) -> Option<Expr> {
    let Expr::Call(Call::ToInteger(cast), operands) = expr else { return None };
    other(*cast).map(|cast| Expr::Call(Call::ToInteger(cast), operands.clone()))
}

/// A cast to an integer with what x86 gives for a number that the type does not hold.
fn on_x86(expr: &Expr) -> Option<Expr> {
    recast(expr, |cast| {
        let is_other = cast.out_of_range == OutOfRange::Clamped;
        is_other.then_some(IntegerCast { out_of_range: OutOfRange::X86, ..cast })
    })
}

/// `int(x)` as Python has it.
fn unlimited(expr: &Expr) -> Option<Expr> {
    recast(expr, |cast| {
        let is_other = cast.may_be_unlimited && cast.out_of_range == OutOfRange::Clamped;
        is_other.then_some(IntegerCast { out_of_range: OutOfRange::Kept, ..cast })
    })
}

/// A sum of a value of 16 bits and a number in f32, as torch's kernels for GPUs have it, with the number rounded first.
fn number_first(expr: &Expr) -> Option<Expr> {
    let Expr::Round(Some(to), sum) = expr else { return None };
    let own = |term: &Expr| match term {
        Expr::Round(Some(Format::F32), value) if value.float_type() == Some(*to) => Some((**value).clone()),
        Expr::Round(None, number) => Some(Expr::Round(Some(*to), number.clone())),
        _ => None,
    };
    let is_number = |term: &Expr| matches!(term, Expr::Round(None, _));
    let both = |a: &Expr, b: &Expr| {
        let has_one = to.width() == 16 && is_number(a) != is_number(b);
        Some((Box::new(own(a).filter(|_| has_one)?), Box::new(own(b)?)))
    };
    match &**sum {
        Expr::Add(a, b) => both(a, b).map(|(a, b)| Expr::Add(a, b)),
        Expr::Sub(a, b) => both(a, b).map(|(a, b)| Expr::Sub(a, b)),
        _ => None,
    }
}

/// `exp(x) - 1` as `expm1(x)`.
fn expm1(expr: &Expr) -> Option<Expr> {
    let Expr::Sub(a, b) = expr else { return None };
    let (x, is_negated) = match (of(a, Function::Exp), of(b, Function::Exp)) {
        (Some(x), _) if is_one(b) => (x, false),
        (_, Some(x)) if is_one(a) => (x, true),
        _ => return None,
    };
    let found = (x.format() == expr.format()).then(|| call(Function::ExpM1, vec![x.clone()]))?;
    Some(if is_negated { negated(&found) } else { found })
}

/// `log(1 + x)` as `log1p(x)`.
fn log1p(expr: &Expr) -> Option<Expr> {
    let sum = of(expr, Function::Log)?;
    let x = match sum {
        Expr::Add(one, x) | Expr::Add(x, one) if is_one(one) => (**x).clone(),
        Expr::Sub(one, x) if is_one(one) => negated(x),
        _ => return None,
    };
    (x.format() == expr.format()).then(|| call(Function::Log1P, vec![x]))
}

fn negated(expr: &Expr) -> Expr {
    Expr::Neg(Box::new(expr.clone()))
}

fn quotient(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Call(Call::Function(Function::Divide), operands) => Some((&operands[0], &operands[1])),
        _ => None,
    }
}

fn of(expr: &Expr, function: Function) -> Option<&Expr> {
    match expr {
        Expr::Call(Call::Function(found), operands) if *found == function => operands.first(),
        _ => None,
    }
}

fn is_one(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value, written) if value.bits == value.format.one() && written.starts_with('1'))
}

/// An expression of 16 bits all of which is computed in f32, as compilers have it that join operations, though what is f32 in
/// it is cast to 16 bits on the way; `None` where nothing is.
fn without_casts(expr: &Expr) -> Option<Expr> {
    let own = expr.float_type().filter(|own| own.width() == 16)?;
    let whole = match expr {
        Expr::Round(Some(_), inner) => inner,
        other => other,
    };
    let wide = in_f32(whole.clone(), own);
    (has_a_cast(whole, own) && wide.float_type() == Some(Format::F32)).then(|| Expr::Round(Some(own), Box::new(wide)))
}

/// Whether something of f32 within is cast to a type.
fn has_a_cast(expr: &Expr, to: Format) -> bool {
    let is_one = matches!(expr, Expr::Round(Some(it), inner) if *it == to && inner.float_type() == Some(Format::F32));
    is_one || expr.parts().into_iter().any(|part| has_a_cast(part, to))
}

/// An expression whose values of a type are converted to f32 and whose casts between the two are left out. Whatever else is
/// in it keeps its type.
fn in_f32(expr: Expr, own: Format) -> Expr {
    match expr {
        Expr::Value(value, _) if value.format == own => Expr::Round(Some(Format::F32), Box::new(expr)),
        Expr::Round(Some(to), inner) if to == own || to == Format::F32 => in_f32(*inner, own),
        Expr::Round(None, inner) => in_f32(*inner, own),
        _ => expr.map_parts(|part| in_f32(part, own)),
    }
}

/// The expression with every quotient and root that a rule has computed by it, and whether there was one.
fn rewritten(expr: Expr, rule: Rule) -> (Expr, bool) {
    let mut any = false;
    let expr = expr.map_parts(|part| {
        let (part, changed) = rewritten(part, rule);
        any |= changed;
        part
    });
    match rule(&expr) {
        Some(other) => (other, true),
        None => (expr, any),
    }
}

/// The expression computed in every other way, with what each does: of ways that lead to the same expression the shortest.
pub(crate) fn rewritings(expr: &Expr) -> Vec<(Vec<Deviation>, Expr)> {
    let mut all: Vec<(Vec<Deviation>, Expr)> = vec![(Vec::new(), expr.clone())];
    // Places in the list.
    let mut known: BTreeMap<String, usize> = BTreeMap::from([(expr.to_string(), 0)]);
    // A root in one step takes the quotient that it stands in, so that the order of the rules matters.
    for (deviation, rule) in RULES.into_iter().rev() {
        for at in 0..all.len() {
            let (other, changed) = rewritten(all[at].1.clone(), rule);
            if !changed {
                continue;
            }
            let deviations: Vec<Deviation> = all[at].0.iter().chain([&deviation]).cloned().collect();
            let place = *known.entry(other.to_string()).or_insert(all.len());
            match all.get_mut(place) {
                Some((longer, _)) if deviations.len() < longer.len() => *longer = deviations,
                Some(_) => {}
                None => all.push((deviations, other)),
            }
        }
    }
    let mut others = all.split_off(1);
    others.extend(without_casts(expr).map(|wide| (vec![Deviation::CastsLeftOut], wide)));
    others
}
