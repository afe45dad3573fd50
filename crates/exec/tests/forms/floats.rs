//! Float arithmetic, judged by exact rationals.

use super::Forms;
use super::comparisons::FLOATS;
use roundonce_oracle::rational::{judge, number, number_as};
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, saturated};

pub(crate) const ROUNDINGS: [(&str, Direction); 4] =
    [("rn", Direction::Nearest), ("rz", Direction::Zero), ("rm", Direction::Down), ("rp", Direction::Up)];

/// NaN results as the profile of NVIDIA's machines has them.
pub(crate) fn nan_bits(layout: Layout) -> NanBits {
    if layout == Layout::F64 { NanBits::FirstOf([1, 2, 0]) } else { NanBits::AllOnes }
}

fn spec(shape: Shape, layout: Layout, direction: Direction) -> Spec {
    Spec { nan: nan_bits(layout), ..Spec::new(shape, layout, direction) }
}

fn cut(layout: Layout, bits: u64) -> u64 {
    bits & (layout.sign() | layout.magnitude())
}

fn run(spec: Spec, [a, b, c]: [u64; 3]) -> u64 {
    judge(&spec, [cut(spec.factors, a), cut(spec.factors, b), cut(spec.to, c)]).bits
}

#[test]
fn of_one_format() {
    let mut forms = Forms::default();
    for (r, t, layout) in FLOATS {
        for (name, direction) in ROUNDINGS {
            if r == 'h' && name != "rn" {
                continue;
            }
            let modifiers: &[&str] = match t {
                "f16" | "f32" => &["", ".ftz", ".sat", ".ftz.sat"],
                _ => &[""],
            };
            for modifier in modifiers {
                let flush = modifier.contains("ftz").then_some(FlushRule::Rounded);
                let with =
                    move |shape| Spec { flush, saturate: modifier.contains("sat"), ..spec(shape, layout, direction) };
                let form = |opcode: &str, count| {
                    let operands: Vec<String> = (0..=count).map(|place| format!("%{r}{place}")).collect();
                    format!("{opcode}.{name}{modifier}.{t} {};", operands.join(", "))
                };
                forms.add(form("fma", 3), move |[a, b, c, _]| run(with(Shape::MulAdd), [a, b, c]));
                forms.add(form("mul", 2), move |[a, b, ..]| run(with(Shape::Mul), [a, b, 0]));
                forms.add(form("add", 2), move |[a, b, ..]| run(with(Shape::Add), [a, 0, b]));
                forms
                    .add(form("sub", 2), move |[a, b, ..]| run(Spec { negate_c: true, ..with(Shape::Add) }, [a, 0, b]));
                if r == 'h' || modifier.contains("sat") {
                    continue;
                }
                let flushes = flush.is_some();
                let to = format!("div.{name}{modifier}.{t} %{r}0, %{r}1, %{r}2;");
                forms.add(to, move |[a, b, ..]| quotient(layout, direction, flushes, a, b));
                let to = format!("rcp.{name}{modifier}.{t} %{r}0, %{r}1;");
                forms.add(to, move |[a, ..]| quotient(layout, direction, flushes, layout.one(), a));
                let to = format!("sqrt.{name}{modifier}.{t} %{r}0, %{r}1;");
                forms.add(to, move |[a, ..]| root(layout, direction, flushes, a));
            }
        }
    }
    forms.check();
}

/// `div.approx` is rounded here, but for divisors beyond 2^126, which are as good as infinite (PTX ISA, `div`).
#[test]
fn approximate_quotients() {
    let mut forms = Forms::default();
    for (name, flush) in [("approx", false), ("approx.ftz", true), ("full", false), ("full.ftz", true)] {
        // Any divisor; about 2^126, and from 2^127 on.
        for (kept, set) in [(0xffff_ffff, 0), (0x80ff_ffff, 0x7e00_0000), (0x80ff_ffff, 0x7f00_0000)] {
            let made = format!("mov.b32 %r2, %f2; and.b32 %r2, %r2, {kept}; or.b32 %r2, %r2, {set}; mov.b32 %f2, %r2;");
            forms.add(format!("// %f\n{made} div.{name}.f32 %f0, %f1, %f2;"), move |[a, b, ..]| {
                let b = b & kept | set;
                let beyond = (0x7e80_0001..0x7f80_0000).contains(&(b & 0x7fff_ffff)) && name.starts_with("approx");
                let b = if beyond { b & 0x8000_0000 | 0x7f80_0000 } else { b };
                quotient(Layout::F32, Direction::Nearest, flush, a, b)
            });
        }
    }
    forms.check();
}

/// a / b by long division.
fn quotient(layout: Layout, direction: Direction, flush: bool, a: u64, b: u64) -> u64 {
    let zeroed =
        |x: u64| if flush && x & layout.magnitude() < layout.smallest_normal() { x & layout.sign() } else { x };
    let (a, b) = (zeroed(cut(layout, a)), zeroed(cut(layout, b)));
    let sign = (a ^ b) & layout.sign();
    let (ma, mb) = (a & layout.magnitude(), b & layout.magnitude());
    // Of two NaNs the dividend's stays.
    if let Some(nan) = nan_of(layout, &[b, a]) {
        return nan;
    }
    let infinity = layout.infinity();
    if ma == mb && (ma == 0 || ma == infinity) {
        return invalid(layout);
    }
    if ma == infinity || mb == 0 {
        return sign | infinity;
    }
    if ma == 0 || mb == infinity {
        return sign;
    }
    let ((sa, ea), (sb, eb)) = (parts(layout, ma), parts(layout, mb));
    let shift = 64;
    let (whole, rest) = ((u128::from(sa) << shift) / u128::from(sb), (u128::from(sa) << shift) % u128::from(sb));
    let flush = flush.then_some(FlushRule::Rounded);
    let spec = Spec { flush, ..spec(Shape::Mul, layout, direction) };
    number_as(&spec, sign != 0, whole, ea - eb - shift, rest != 0).bits
}

/// √a, bit by bit.
fn root(layout: Layout, direction: Direction, flush: bool, a: u64) -> u64 {
    let a = cut(layout, a);
    let a = if flush && a & layout.magnitude() < layout.smallest_normal() { a & layout.sign() } else { a };
    if let Some(nan) = nan_of(layout, &[a]) {
        return nan;
    }
    if a & layout.magnitude() == 0 || a == layout.infinity() {
        return a;
    }
    if a & layout.sign() != 0 {
        return invalid(layout);
    }
    let (significand, exponent) = parts(layout, a);
    // An even exponent, and enough bits that the root has more than the format.
    let shift = 70 + (exponent & 1);
    let square = u128::from(significand) << shift;
    let mut low = 0_u128;
    for bit in (0..63).rev() {
        let next = low | 1 << bit;
        if next * next <= square {
            low = next;
        }
    }
    number(layout, direction, false, low, (exponent - shift) / 2, low * low != square).bits
}

/// A number's significand, its top bit in the same place for all, and the exponent of its last place.
fn parts(layout: Layout, magnitude: u64) -> (u64, i32) {
    let (exponent, fraction) = (magnitude >> layout.frac_bits, magnitude & (layout.smallest_normal() - 1));
    if exponent == 0 {
        let shift = fraction.leading_zeros() - (63 - layout.frac_bits);
        (fraction << shift, layout.quantum() - shift as i32)
    } else {
        (fraction | layout.smallest_normal(), layout.quantum() + exponent as i32 - 1)
    }
}

fn invalid(layout: Layout) -> u64 {
    match nan_bits(layout) {
        NanBits::AllOnes => layout.magnitude(),
        NanBits::FirstOf(_) => layout.sign() | layout.infinity() | layout.quiet(),
    }
}

/// The NaN that NaN operands give: of two, the second.
pub(crate) fn nan_of(layout: Layout, operands: &[u64]) -> Option<u64> {
    let last = operands.iter().rev().find(|bits| layout.is_nan(**bits))?;
    Some(if nan_bits(layout) == NanBits::AllOnes { layout.magnitude() } else { last | layout.quiet() })
}

#[test]
fn of_halves_and_pairs() {
    let mut forms = Forms::default();
    for (t, layout) in [("f16", Layout::F16), ("bf16", Layout::BF16)] {
        // Two widened factors, or one and an f32.
        for (name, direction) in ROUNDINGS {
            for sat in ["", ".sat"] {
                let with = move |shape| Spec {
                    factors: layout,
                    saturate: sat == ".sat",
                    ..spec(shape, Layout::F32, direction)
                };
                let text = format!("fma.{name}{sat}.f32.{t} %f0, %h1, %h2, %f3;");
                forms.add(text, move |[a, b, c, _]| run(with(Shape::MulAdd), [a, b, c]));
                let text = format!("add.{name}{sat}.f32.{t} %f0, %h1, %f2;");
                forms.add(text, move |[a, b, ..]| run(with(Shape::Add), [a, 0, b]));
                let text = format!("sub.{name}{sat}.f32.{t} %f0, %h1, %f2;");
                forms.add(text, move |[a, b, ..]| run(Spec { negate_c: true, ..with(Shape::Add) }, [a, 0, b]));
            }
        }
        let lanes = move |spec: Spec, relu: bool, [a, b, c]: [u64; 3]| {
            let lane = |at: u32| {
                let bits = run(spec, [a >> at, b >> at, c >> at]);
                let negative = bits & layout.sign() != 0 && !layout.is_nan(bits);
                if relu && negative { 0 } else { bits }
            };
            lane(0) | lane(16) << 16
        };
        let near = Direction::Nearest;
        let text = format!("fma.rn.{t}x2 %r0, %r1, %r2, %r3;");
        forms.add(text, move |[a, b, c, _]| lanes(spec(Shape::MulAdd, layout, near), false, [a, b, c]));
        let text = format!("fma.rn.relu.{t}x2 %r0, %r1, %r2, %r3;");
        forms.add(text, move |[a, b, c, _]| lanes(spec(Shape::MulAdd, layout, near), true, [a, b, c]));
        let text = format!("fma.rn.relu.{t} %h0, %h1, %h2, %h3;");
        forms.add(text, move |[a, b, c, _]| lanes(spec(Shape::MulAdd, layout, near), true, [a, b, c]));
        let text = format!("mul.rn.{t}x2 %r0, %r1, %r2;");
        forms.add(text, move |[a, b, ..]| lanes(spec(Shape::Mul, layout, near), false, [a, b, 0]));
        let text = format!("add.{t}x2 %r0, %r1, %r2;");
        forms.add(text, move |[a, b, ..]| lanes(spec(Shape::Add, layout, near), false, [a, 0, b]));
        let text = format!("sub.{t}x2 %r0, %r1, %r2;");
        let minus = Spec { negate_c: true, ..spec(Shape::Add, layout, near) };
        forms.add(text, move |[a, b, ..]| lanes(minus, false, [a, 0, b]));
    }
    for (name, direction) in ROUNDINGS {
        for ftz in ["", ".ftz"] {
            let flush = (ftz == ".ftz").then_some(FlushRule::Rounded);
            let with = move |shape| Spec { flush, ..spec(shape, Layout::F32, direction) };
            let pair =
                |spec: Spec, [a, b, c]: [u64; 3]| run(spec, [a, b, c]) | run(spec, [a >> 32, b >> 32, c >> 32]) << 32;
            let text = format!("fma.{name}{ftz}.f32x2 %x0, %x1, %x2, %x3;");
            forms.add(text, move |[a, b, c, _]| pair(with(Shape::MulAdd), [a, b, c]));
            let text = format!("mul.{name}{ftz}.f32x2 %x0, %x1, %x2;");
            forms.add(text, move |[a, b, ..]| pair(with(Shape::Mul), [a, b, 0]));
            let text = format!("add.{name}{ftz}.f32x2 %x0, %x1, %x2;");
            forms.add(text, move |[a, b, ..]| pair(with(Shape::Add), [a, 0, b]));
            let text = format!("sub.{name}{ftz}.f32x2 %x0, %x1, %x2;");
            forms.add(text, move |[a, b, ..]| pair(Spec { negate_c: true, ..with(Shape::Add) }, [a, 0, b]));
        }
    }
    forms.check();
}

/// The larger or the smaller; −0 is below +0, a NaN gives way, or wins.
fn extremum(layout: Layout, max: bool, nan: bool, a: u64, b: u64) -> u64 {
    let (a, b) = (cut(layout, a), cut(layout, b));
    let nans = (layout.is_nan(a), layout.is_nan(b));
    if nans == (true, true) || (nan && (nans.0 || nans.1)) {
        return nan_of(layout, &[a, b]).expect("a NaN");
    }
    if nans.0 || nans.1 {
        return if nans.0 { b } else { a };
    }
    // Negative numbers in reverse below the positive ones.
    let key = |x: u64| if x & layout.sign() != 0 { -((x & layout.magnitude()) as i128) - 1 } else { x as i128 };
    if (key(a) > key(b)) == max { a } else { b }
}

#[test]
fn signs_and_extrema() {
    let mut forms = Forms::default();
    for (r, t, layout) in FLOATS {
        let three = format!("%{r}0, %{r}1, %{r}2");
        if r != 'h' {
            forms.add(format!("copysign.{t} {three};"), move |[a, b, ..]| a & layout.sign() | b & layout.magnitude());
        }
        for max in [false, true] {
            let name = if max { "max" } else { "min" };
            forms.add(format!("{name}.{t} {three};"), move |[a, b, ..]| extremum(layout, max, false, a, b));
            if t == "f64" {
                continue;
            }
            forms.add(format!("{name}.NaN.{t} {three};"), move |[a, b, ..]| extremum(layout, max, true, a, b));
            forms.add(format!("{name}.xorsign.abs.{t} {three};"), move |[a, b, ..]| {
                let m = extremum(layout, max, false, a & layout.magnitude(), b & layout.magnitude());
                if layout.is_nan(m) { m } else { m | (a ^ b) & layout.sign() }
            });
        }
    }
    for max in [false, true] {
        let name = if max { "max" } else { "min" };
        let zeroed = |x: u64| if x & 0x7fff_ffff < 0x80_0000 { x & 0x8000_0000 } else { x };
        forms.add(format!("{name}.ftz.f32 %f0, %f1, %f2;"), move |[a, b, ..]| {
            extremum(Layout::F32, max, false, zeroed(a), zeroed(b))
        });
        forms.add(format!("{name}.f32 %f0, %f1, %f2, %f3;"), move |[a, b, c, _]| {
            extremum(Layout::F32, max, false, extremum(Layout::F32, max, false, a, b), c)
        });
        forms.add(format!("{name}.NaN.bf16x2 %r0, %r1, %r2;"), move |[a, b, ..]| {
            let lane = |at: u32| extremum(Layout::BF16, max, true, a >> at, b >> at);
            lane(0) | lane(16) << 16
        });
    }
    forms.check();
}

/// `.sat` and `.sat` again.
#[test]
fn saturated_twice() {
    let mut forms = Forms::default();
    forms.add("fma.rz.sat.f32.f16.sat %f0, %h1, %h2, %f3;", |[a, b, c, _]| {
        let spec = Spec { factors: Layout::F16, ..spec(Shape::MulAdd, Layout::F32, Direction::Zero) };
        saturated(Layout::F32, run(spec, [a, b, c]))
    });
    forms.check();
}
