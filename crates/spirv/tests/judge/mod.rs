//! What is legal, by exact rationals and the documents' choices enumerated anew: shares nothing with the product.

use std::collections::BTreeSet;

use roundonce_arith::Rounding;
use roundonce_oracle::{Direction, Layout, Shape, Spec, rational::judge};
use roundonce_spirv::{Denorm, FloatModes};

/// What the judge calls legal.
#[derive(PartialEq, Debug)]
pub(crate) struct Legal {
    pub(crate) anything: bool,
    pub(crate) any_nan: bool,
    pub(crate) bits: BTreeSet<u64>,
}

fn is_subnormal(layout: Layout, bits: u64) -> bool {
    let magnitude = bits & layout.magnitude();
    magnitude != 0 && magnitude < layout.smallest_normal()
}
fn is_zero(layout: Layout, bits: u64) -> bool {
    bits & layout.magnitude() == 0
}
fn is_special(layout: Layout, bits: u64) -> bool {
    bits & layout.magnitude() >= layout.infinity()
}

fn versions(layout: Layout, modes: FloatModes, bits: u64) -> Vec<u64> {
    match modes.denorm {
        _ if !is_subnormal(layout, bits) => vec![bits],
        Some(Denorm::Preserve) => vec![bits],
        Some(Denorm::FlushToZero) if !modes.may_keep_operands => vec![0, layout.sign()],
        _ => vec![bits, 0, layout.sign()],
    }
}

/// The exact value's four roundings.
pub(crate) type Rounded = [u64; 4];

pub(crate) fn legal(
    layout: Layout,
    modes: FloatModes,
    operands: [u64; 3],
    round: &mut impl FnMut([u64; 3]) -> Rounded,
) -> Legal {
    let mut legal = Legal { anything: false, any_nan: false, bits: BTreeSet::new() };
    let [a, b, c] = operands.map(|bits| versions(layout, modes, bits));
    let special = operands.iter().any(|&bits| is_special(layout, bits));
    for &a in &a {
        for &b in &b {
            for &c in &c {
                let [nearest, zero, down, up] = round([a, b, c]);
                if is_special(layout, nearest) && nearest & layout.magnitude() > layout.infinity() {
                    legal.any_nan = true;
                    continue;
                }
                let exactly_zero = is_zero(layout, down) && is_zero(layout, up);
                let tiny = !exactly_zero && zero & layout.magnitude() < layout.smallest_normal();
                let results = match modes.rounding {
                    None if modes.nearest_or_zero => vec![nearest, zero],
                    None => vec![down, up],
                    Some(Rounding::TowardZero) => vec![zero],
                    Some(_) => vec![nearest],
                };
                for result in results {
                    legal.anything |= is_special(layout, result);
                    let subnormal = is_subnormal(layout, result);
                    let may_flush = modes.denorm != Some(Denorm::Preserve) && (subnormal || tiny);
                    let must_flush = modes.denorm == Some(Denorm::FlushToZero) && subnormal;
                    if !must_flush {
                        legal.bits.insert(result);
                    }
                    if may_flush || is_zero(layout, result) && !modes.preserve_special {
                        legal.bits.extend([0, layout.sign()]);
                    }
                }
            }
        }
    }
    legal.anything = (legal.anything || legal.any_nan || special) && !modes.preserve_special;
    legal
}

/// 19 magnitudes with both signs: zero, the subnormals' and normals' edges, one and its neighbours, values whose
/// products land on those edges, the largest, infinity, NaN.
pub(crate) fn special_values(layout: Layout) -> Vec<u64> {
    let (one, ulp, normal) = (layout.one(), 1, layout.smallest_normal());
    let exponent = |steps: i64| (one as i64 + (steps << layout.frac_bits)) as u64;
    let half_way = -i64::from(layout.precision());
    let magnitudes = [
        0,
        1,
        2,
        normal / 2,
        normal - 1,
        normal,
        normal + 1,
        exponent(half_way),
        exponent(half_way) + ulp,
        exponent(i64::from(layout.emin()) / 2),
        exponent(-1),
        one - ulp,
        one,
        one + ulp,
        exponent(1) - ulp,
        exponent(i64::from(layout.emax()) / 2 + 1),
        layout.infinity() - 1,
        layout.infinity(),
        layout.infinity() | layout.quiet(),
    ];
    magnitudes.iter().flat_map(|&magnitude| [magnitude, magnitude | layout.sign()]).collect()
}

pub(crate) fn rounded(layout: Layout, operands: [u64; 3]) -> Rounded {
    Direction::ALL.map(|direction| judge(&Spec::new(Shape::MulAdd, layout, direction), operands).bits)
}
