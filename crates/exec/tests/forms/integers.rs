//! Integer arithmetic.

use super::Forms;

/// The low bits of a number as the type has it.
pub(crate) fn number(value: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(value) & ((1 << bits) - 1);
    if signed && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

/// `%r`, and the type's name.
pub(crate) fn names(bits: u32, signed: bool) -> (char, String) {
    let letter = match bits {
        16 => 'h',
        32 => 'r',
        _ => 'x',
    };
    (letter, format!("{}{bits}", if signed { 's' } else { 'u' }))
}

/// Bits 32 and up of a product of two 64-bit numbers do not fit 128 signed bits: its high half, piece by piece.
fn high(a: u64, b: u64, bits: u32, signed: bool) -> u64 {
    let (x, y) = (number(a, bits, signed), number(b, bits, signed));
    if bits < 64 || signed {
        return ((x * y) >> bits) as u64;
    }
    ((x as u128 * y as u128) >> 64) as u64
}

#[test]
fn arithmetic() {
    let mut forms = Forms::default();
    for bits in [16, 32, 64] {
        for signed in [false, true] {
            let (r, t) = names(bits, signed);
            let n = move |value| number(value, bits, signed);
            let (least, most) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            let low = move |value: i128| value as u64;
            let three = format!("%{r}0, %{r}1, %{r}2");
            let four = format!("{three}, %{r}3");
            forms.add(format!("add.{t} {three};"), move |[a, b, ..]| low(n(a) + n(b)));
            forms.add(format!("sub.{t} {three};"), move |[a, b, ..]| low(n(a) - n(b)));
            forms.add(format!("add.{t} %{r}0, %{r}1, 12345;"), move |[a, ..]| low(n(a) + 12345));
            forms.add(format!("mul.lo.{t} {three};"), move |[a, b, ..]| a.wrapping_mul(b));
            forms.add(format!("mul.hi.{t} {three};"), move |[a, b, ..]| high(a, b, bits, signed));
            forms.add(format!("mad.lo.{t} {four};"), move |[a, b, c, _]| a.wrapping_mul(b).wrapping_add(c));
            forms.add(format!("mad.hi.{t} {four};"), move |[a, b, c, _]| high(a, b, bits, signed).wrapping_add(c));
            forms.add(format!("min.{t} {three};"), move |[a, b, ..]| low(n(a).min(n(b))));
            forms.add(format!("max.{t} {three};"), move |[a, b, ..]| low(n(a).max(n(b))));
            forms.add(format!("sad.{t} {four};"), move |[a, b, c, _]| low((n(a) - n(b)).abs() + n(c)));
            // What division by zero gives is the machine's: all ones, and the dividend as remainder.
            forms.add(
                format!("div.{t} {three};"),
                move |[a, b, ..]| if n(b) == 0 { u64::MAX } else { low(n(a) / n(b)) },
            );
            // By zero all ones, as an H100.
            forms.add(
                format!("rem.{t} {three};"),
                move |[a, b, ..]| if n(b) == 0 { u64::MAX } else { low(n(a) % n(b)) },
            );
            if signed {
                forms.add(format!("abs.{t} %{r}0, %{r}1;"), move |[a, ..]| low(n(a).abs()));
                forms.add(format!("neg.{t} %{r}0, %{r}1;"), move |[a, ..]| low(-n(a)));
            }
            if bits < 64 {
                let w = if bits == 16 { 'r' } else { 'x' };
                forms.add(format!("mul.wide.{t} %{w}0, %{r}1, %{r}2;"), move |[a, b, ..]| low(n(a) * n(b)));
                let text = format!("mad.wide.{t} %{w}0, %{r}1, %{r}2, %{w}3;");
                forms.add(text, move |[a, b, c, _]| low(n(a) * n(b)).wrapping_add(c));
            }
            if t == "s32" {
                let clamp = move |value: i128| low(value.clamp(least, most));
                forms.add(format!("add.sat.{t} {three};"), move |[a, b, ..]| clamp(n(a) + n(b)));
                forms.add(format!("sub.sat.{t} {three};"), move |[a, b, ..]| clamp(n(a) - n(b)));
                forms.add(format!("mad.hi.sat.{t} {four};"), move |[a, b, c, _]| clamp(((n(a) * n(b)) >> 32) + n(c)));
                forms.add(format!("min.relu.{t} {three};"), move |[a, b, ..]| low(n(a).min(n(b)).max(0)));
                forms.add(format!("max.relu.{t} {three};"), move |[a, b, ..]| low(n(a).max(n(b)).max(0)));
            }
        }
    }
    forms.check();
}

#[test]
fn products_of_24_bits() {
    let mut forms = Forms::default();
    for signed in [false, true] {
        let t = names(32, signed).1;
        let product = move |a, b| number(a, 24, signed) * number(b, 24, signed);
        let c32 = move |c| number(c, 32, signed);
        forms.add(format!("mul24.lo.{t} %r0, %r1, %r2;"), move |[a, b, ..]| product(a, b) as u64);
        forms.add(format!("mul24.hi.{t} %r0, %r1, %r2;"), move |[a, b, ..]| (product(a, b) >> 16) as u64);
        let text = format!("mad24.lo.{t} %r0, %r1, %r2, %r3;");
        forms.add(text, move |[a, b, c, _]| (product(a, b) + c32(c)) as u64);
        let text = format!("mad24.hi.{t} %r0, %r1, %r2, %r3;");
        forms.add(text, move |[a, b, c, _]| ((product(a, b) >> 16) + c32(c)) as u64);
    }
    forms.add("mad24.hi.sat.s32 %r0, %r1, %r2, %r3;", |[a, b, c, _]| {
        let high = ((number(a, 24, true) * number(b, 24, true)) >> 16) as i32;
        high.saturating_add(c as i32) as u32 as u64
    });
    forms.check();
}

#[test]
fn carries() {
    let mut forms = Forms::default();
    for bits in [32, 64] {
        let (r, t) = names(bits, false);
        let full: u128 = 1 << bits;
        let n = move |value: u64| u128::from(value) % full;
        // Two words: the second one takes in the first one's carry, and its own carry comes out as a number.
        let text = format!("add.cc.{t} %{r}5, %{r}1, %{r}2; addc.cc.{t} %{r}0, %{r}3, %{r}4; addc.u32 %r6, 0, 0;\n");
        let text = format!("// %{r}\n{text}setp.ne.u32 %p0, %r6, 0;");
        forms.pair(text, move |[a, b, c, d]| {
            let high = n(c) + n(d) + u128::from(n(a) + n(b) >= full);
            (high as u64, high >= full)
        });
        let text = format!("sub.cc.{t} %{r}5, %{r}1, %{r}2; subc.cc.{t} %{r}0, %{r}3, %{r}4; subc.u32 %r6, 0, 0;\n");
        let text = format!("// %{r}\n{text}setp.ne.u32 %p0, %r6, 0;");
        forms.pair(text, move |[a, b, c, d]| {
            let borrow = u128::from(n(a) < n(b));
            ((full + n(c) - n(d)).wrapping_sub(borrow) as u64, n(c) < n(d) + borrow)
        });
        // The flag is the carry of a + ~b + 1: what a subtraction leaves, an addition reads the other way round.
        let text = format!("// %{r}\nsub.cc.{t} %{r}5, %{r}1, %{r}2; addc.{t} %{r}0, %{r}3, %{r}4;");
        forms.add(text, move |[a, b, c, d]| ((n(c) + n(d) + u128::from(n(a) >= n(b))) % full) as u64);
        let text = format!("// %{r}\nadd.cc.{t} %{r}5, %{r}1, %{r}2; subc.{t} %{r}0, %{r}3, %{r}4;");
        forms.add(text, move |[a, b, c, d]| {
            let borrow = u128::from(n(a) + n(b) < full);
            (full + n(c) - n(d)).wrapping_sub(borrow) as u64
        });
        let text =
            format!("// %{r}\nmad.lo.cc.{t} %{r}5, %{r}1, %{r}2, %{r}3; madc.hi.{t} %{r}0, %{r}1, %{r}2, %{r}4;");
        forms.add(text, move |[a, b, c, d]| {
            let product = n(a) * n(b);
            (product / full + n(d) + u128::from(product % full + n(c) >= full)) as u64
        });
        let text =
            format!("// %{r}\nmad.hi.cc.{t} %{r}5, %{r}1, %{r}2, %{r}3; madc.lo.cc.{t} %{r}0, %{r}1, %{r}2, %{r}4;");
        forms.add(text, move |[a, b, c, d]| {
            let product = n(a) * n(b);
            (product % full + n(d) + u128::from(product / full + n(c) >= full)) as u64
        });
    }
    forms.check();
}

#[test]
fn packed_halves_and_dot_products() {
    let mut forms = Forms::default();
    let half = |value: u64, place: u32, signed| number(value >> (16 * place), 16, signed);
    for signed in [false, true] {
        let t = if signed { "s16x2" } else { "u16x2" };
        let mut each = |name: &str, f: fn(i128, i128) -> i128| {
            forms.add(format!("{name}.{t} %r0, %r1, %r2;"), move |[a, b, ..]| {
                let lane = |place| f(half(a, place, signed), half(b, place, signed)) as u64 & 0xffff;
                lane(1) << 16 | lane(0)
            });
        };
        each("add", |a, b| a + b);
        each("min", i128::min);
        each("max", i128::max);
        if signed {
            each("min.relu", |a, b| a.min(b).max(0));
            each("max.relu", |a, b| a.max(b).max(0));
        }
    }
    for (a_signed, b_signed) in [(false, false), (false, true), (true, false), (true, true)] {
        let (ta, tb) = (names(32, a_signed).1, names(32, b_signed).1);
        forms.add(format!("dp4a.{ta}.{tb} %r0, %r1, %r2, %r3;"), move |[a, b, c, _]| {
            let byte = |value: u64, place: u32, signed| number(value >> (8 * place), 8, signed);
            let sum: i128 = (0..4).map(|place| byte(a, place, a_signed) * byte(b, place, b_signed)).sum();
            (sum + number(c, 32, true)) as u64
        });
        for (name, first) in [("lo", 0), ("hi", 2)] {
            forms.add(format!("dp2a.{name}.{ta}.{tb} %r0, %r1, %r2, %r3;"), move |[a, b, c, _]| {
                let byte = |place: u32| number(b >> (8 * (first + place)), 8, b_signed);
                let sum: i128 = (0..2).map(|place| half(a, place, a_signed) * byte(place)).sum();
                (sum + number(c, 32, true)) as u64
            });
        }
    }
    forms.check();
}
