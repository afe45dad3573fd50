//! cvt, cvt.pack.

use super::Forms;
use super::comparisons::FLOATS;
use super::floats::{ROUNDINGS, nan_bits};
use super::integers::{names, number};
use roundonce_oracle::rational::number as rounded;
use roundonce_oracle::{Direction, Layout, NanBits, saturated};

/// The register that holds an integer type, and its name.
fn integer(bits: u32, signed: bool) -> (char, String) {
    let (register, name) = names(bits, signed);
    (if bits == 8 { 'h' } else { register }, name)
}

#[test]
fn between_integers() {
    let mut forms = Forms::default();
    for from in [8, 16, 32, 64] {
        for to in [8, 16, 32, 64] {
            for (from_signed, to_signed) in [(false, false), (false, true), (true, false), (true, true)] {
                let ((rf, tf), (rt, tt)) = (integer(from, from_signed), integer(to, to_signed));
                // An 8-bit result is extended into its register as its type says.
                let held = move |value: i128| number(value as u64, to, to_signed) as u64;
                forms.add(format!("cvt.{tt}.{tf} %{rt}0, %{rf}1;"), move |[a, ..]| held(number(a, from, from_signed)));
                let (least, most) =
                    if to_signed { (-(1 << (to - 1)), (1 << (to - 1)) - 1) } else { (0, (1 << to) - 1) };
                forms.add(format!("cvt.sat.{tt}.{tf} %{rt}0, %{rf}1;"), move |[a, ..]| {
                    held(number(a, from, from_signed).clamp(least, most))
                });
            }
        }
    }
    // A wider register gives its low bits, and takes the value extended.
    forms.add("cvt.s16.s8 %h0, %r1;", |[a, ..]| number(a, 8, true) as u64);
    forms.add("cvt.u32.u8 %r0, %x1;", |[a, ..]| a & 0xff);
    forms.add("cvt.s8.s32 %r0, %r1;", |[a, ..]| number(a, 8, true) as u64);
    forms.add("cvt.u8.u32 %x0, %r1;", |[a, ..]| a & 0xff);
    forms.check();
}

/// Significand and exponent of a finite number.
fn parts(layout: Layout, bits: u64) -> (bool, u64, i32) {
    let magnitude = bits & layout.magnitude();
    let (exponent, fraction) = (magnitude >> layout.frac_bits, magnitude & (layout.smallest_normal() - 1));
    let negative = bits & layout.sign() != 0;
    match exponent {
        0 => (negative, fraction, layout.quantum()),
        _ => (negative, fraction | layout.smallest_normal(), layout.quantum() + exponent as i32 - 1),
    }
}

/// A finite number as an integer, and something too large for any as something too large.
fn to_integer(layout: Layout, direction: Direction, bits: u64) -> i128 {
    let (negative, significand, exponent) = parts(layout, bits);
    let sign = |magnitude: i128| if negative { -magnitude } else { magnitude };
    if exponent >= 0 {
        return sign(if exponent > 60 { i128::from(significand) << 60 } else { i128::from(significand) << exponent });
    }
    let shift = (-exponent).min(120) as u32;
    let (whole, rest) = (i128::from(significand) >> shift, i128::from(significand) % (1 << shift));
    let half = 1i128 << (shift - 1);
    let up = match direction {
        Direction::Nearest => rest > half || (rest == half && whole % 2 == 1),
        Direction::Zero => false,
        Direction::Down => negative && rest != 0,
        Direction::Up => !negative && rest != 0,
    };
    sign(whole + i128::from(up))
}

#[test]
fn between_integers_and_floats() {
    let mut forms = Forms::default();
    for (rf, tf, layout) in FLOATS {
        for bits in [8, 16, 32, 64] {
            for signed in [false, true] {
                let (ri, ti) = integer(bits, signed);
                for (name, direction) in ROUNDINGS {
                    forms.add(format!("cvt.{name}i.{ti}.{tf} %{ri}0, %{rf}1;"), move |[a, ..]| {
                        let a = a & (layout.sign() | layout.magnitude());
                        let (least, most) =
                            if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
                        let value = if layout.is_nan(a) {
                            if tf == "f64" || bits == 64 { 1 << (bits - 1) } else { 0 }
                        } else if a & layout.magnitude() == layout.infinity() {
                            if a & layout.sign() != 0 { least } else { most }
                        } else {
                            to_integer(layout, direction, a).clamp(least, most)
                        };
                        number(value as u64, bits, signed) as u64
                    });
                    forms.add(format!("cvt.{name}.{tf}.{ti} %{rf}0, %{ri}1;"), move |[a, ..]| {
                        let value = number(a, bits, signed);
                        rounded(layout, direction, value < 0, value.unsigned_abs(), 0, false).bits
                    });
                }
            }
        }
    }
    forms.add("cvt.rn.sat.f32.s32 %f0, %r1;", |[a, ..]| if a as i32 > 0 { 0x3f80_0000 } else { 0 });
    forms.add("cvt.rzi.ftz.s32.f32 %r0, %f1;", |[a, ..]| {
        let value = f32::from_bits(a as u32);
        value as i32 as u64
    });
    forms.add("cvt.rmi.ftz.s32.f32 %r0, %f1;", |[a, ..]| {
        let value = f32::from_bits(a as u32);
        // A flushed number does not round away.
        if value.is_subnormal() { 0 } else { value.floor() as i32 as u64 }
    });
    forms.check();
}

/// What a NaN becomes (as an H100 has it): all ones; in f64 its own payload, quiet; of f64 in f32 and f16 the upper part of its payload,
/// quiet; of bf16 in f32 the same bits.
fn nan(from: Layout, to: Layout, bits: u64) -> u64 {
    let sign = if bits & from.sign() != 0 { to.sign() } else { 0 };
    if from == Layout::F64 && matches!(to, Layout::F32 | Layout::F16) {
        let payload = (bits & (from.smallest_normal() - 1)) >> (from.frac_bits - to.frac_bits);
        return sign | to.infinity() | to.quiet() | payload;
    }
    if from == Layout::BF16 && to == Layout::F32 {
        return bits << 16;
    }
    if nan_bits(to) == NanBits::AllOnes {
        return to.magnitude();
    }
    let shift = to.frac_bits - from.frac_bits;
    sign | to.infinity() | to.quiet() | (bits & (from.smallest_normal() - 1)) << shift
}

/// From a float to another.
fn float(from: Layout, to: Layout, direction: Direction, bits: u64) -> u64 {
    let bits = bits & (from.sign() | from.magnitude());
    let sign = if bits & from.sign() != 0 { to.sign() } else { 0 };
    if from.is_nan(bits) {
        nan(from, to, bits)
    } else if bits & from.magnitude() == from.infinity() {
        sign | to.infinity()
    } else {
        let (negative, significand, exponent) = parts(from, bits);
        if significand == 0 { sign } else { rounded(to, direction, negative, significand.into(), exponent, false).bits }
    }
}

#[test]
fn between_floats() {
    let mut forms = Forms::default();
    for (rf, tf, from) in FLOATS {
        for (rt, tt, to) in FLOATS {
            if tf == tt {
                for (name, direction) in ROUNDINGS {
                    forms.add(format!("cvt.{name}i.{tf}.{tf} %{rf}0, %{rf}1;"), move |[a, ..]| {
                        let a = a & (from.sign() | from.magnitude());
                        let whole = a & from.magnitude() >= from.infinity() || parts(from, a).2 >= 0;
                        if from.is_nan(a) {
                            return nan(from, from, a);
                        }
                        if whole {
                            return a;
                        }
                        let value = to_integer(from, direction, a);
                        let sign = a & from.sign();
                        sign | rounded(from, direction, false, value.unsigned_abs(), 0, false).bits
                    });
                }
                continue;
            }
            let widens = from.frac_bits <= to.frac_bits && from.exp_bits <= to.exp_bits;
            if widens {
                forms.add(format!("cvt.{tt}.{tf} %{rt}0, %{rf}1;"), move |[a, ..]| float(from, to, Direction::Zero, a));
            } else {
                for (name, direction) in ROUNDINGS {
                    forms.add(format!("cvt.{name}.{tt}.{tf} %{rt}0, %{rf}1;"), move |[a, ..]| {
                        float(from, to, direction, a)
                    });
                }
            }
        }
    }
    forms.add("cvt.sat.f32.f32 %f0, %f1;", |[a, ..]| saturated(Layout::F32, a & 0xffff_ffff));
    forms.add("cvt.rp.sat.f32.f64 %f0, %d1;", |[a, ..]| {
        saturated(Layout::F32, float(Layout::F64, Layout::F32, Direction::Up, a))
    });
    forms.add("cvt.rn.ftz.f32.f64 %f0, %d1;", |[a, ..]| {
        // Flushed where the value rounded with an unbounded exponent is subnormal: below 2^-126 - 2^-151, the middle
        // between the last such number of 24 bits and the smallest normal one, which ties round up to.
        let result = float(Layout::F64, Layout::F32, Direction::Nearest, a);
        let is_tiny = f64::from_bits(a).abs() < 2f64.powi(-126) - 2f64.powi(-151);
        if is_tiny { result & 0x8000_0000 } else { result }
    });
    forms.add("cvt.ftz.f64.f32 %d0, %f1;", |[a, ..]| {
        // Flushing is an operation of its own, which makes every NaN one.
        let a = match a & 0x7fff_ffff {
            ..0x80_0000 => a & 0x8000_0000,
            0x7f80_0001.. => 0x7fff_ffff,
            _ => a,
        };
        float(Layout::F32, Layout::F64, Direction::Nearest, a)
    });
    forms.check();
}

#[test]
fn clamped_and_packed() {
    let mut forms = Forms::default();
    for (t, layout) in [("f16", Layout::F16), ("bf16", Layout::BF16)] {
        for (name, direction) in &ROUNDINGS[..2] {
            for (modifiers, relu, finite) in [
                ("", false, false),
                (".relu", true, false),
                (".satfinite", false, true),
                (".relu.satfinite", true, true),
            ] {
                let one = move |a: u64| {
                    let result = float(Layout::F32, layout, *direction, a);
                    let sign = result & layout.sign();
                    if layout.is_nan(result) {
                        result
                    } else if relu && sign != 0 {
                        0
                    } else if finite && result & layout.magnitude() == layout.infinity() {
                        sign | (layout.infinity() - 1)
                    } else {
                        result
                    }
                };
                forms.add(format!("cvt.{name}{modifiers}.{t}.f32 %h0, %f1;"), move |[a, ..]| one(a));
                let text = format!("cvt.{name}{modifiers}.{t}x2.f32 %r0, %f1, %f2;");
                forms.add(text, move |[a, b, ..]| one(a) << 16 | one(b));
            }
        }
    }
    for signed in [false, true] {
        let clamp = move |value: u64, bits: u32| {
            let (least, most) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            number(value, 32, true).clamp(least, most) as u64 & ((1 << bits) - 1)
        };
        let t = if signed { 's' } else { 'u' };
        forms
            .add(format!("cvt.pack.sat.{t}16.s32 %r0, %r1, %r2;"), move |[a, b, ..]| clamp(a, 16) << 16 | clamp(b, 16));
        forms.add(format!("cvt.pack.sat.{t}8.s32.b32 %r0, %r1, %r2, %r3;"), move |[a, b, c, _]| {
            c << 16 | clamp(a, 8) << 8 | clamp(b, 8)
        });
    }
    forms.check();
}

/// A format of at most eight bits as OFP8 and MX define it.
struct Narrow {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    /// How many magnitudes are finite.
    finite: u64,
    nan: Option<u64>,
}

const NARROW: [Narrow; 5] = [
    Narrow { name: "e4m3", exponent: 4, fraction: 3, finite: 0x7f, nan: Some(0x7f) },
    Narrow { name: "e5m2", exponent: 5, fraction: 2, finite: 0x7c, nan: Some(0x7f) },
    Narrow { name: "e2m3", exponent: 2, fraction: 3, finite: 0x20, nan: None },
    Narrow { name: "e3m2", exponent: 3, fraction: 2, finite: 0x20, nan: None },
    Narrow { name: "e2m1", exponent: 2, fraction: 1, finite: 0x08, nan: None },
];

impl Narrow {
    const fn sign(&self) -> u64 {
        1 << (self.exponent + self.fraction)
    }
    /// Bits from one value to the next.
    const fn stride(&self) -> u32 {
        if self.fraction == 1 { 4 } else { 8 }
    }
    /// A finite magnitude.
    fn value(&self, code: u64) -> f64 {
        let bias = (1 << (self.exponent - 1)) - 1;
        let (field, fraction) = ((code >> self.fraction) as i32, code & ((1 << self.fraction) - 1));
        let hidden = if field == 0 { 0 } else { 1 << self.fraction };
        (fraction | hidden) as f64 * 2f64.powi(field.max(1) - bias - self.fraction as i32)
    }
    /// `.satfinite`; f64 holds every sum and difference that decides.
    fn of(&self, value: f64, toward_zero: bool, random: Option<u64>, relu: bool) -> u64 {
        if value.is_nan() {
            return self.nan.unwrap_or(self.finite - 1);
        }
        let (magnitude, negative) = (value.abs(), value.is_sign_negative());
        let mut code = (1..self.finite).take_while(|code| self.value(*code) <= magnitude).last().unwrap_or(0);
        if code + 1 < self.finite {
            let (low, high) = (self.value(code), self.value(code + 1));
            let up = match random {
                Some(bits) => magnitude + (high - low) * bits as f64 / 65536.0 >= high,
                None if toward_zero => false,
                None => magnitude - low > high - magnitude || magnitude - low == high - magnitude && code % 2 == 1,
            };
            code += u64::from(up);
        }
        if negative && relu { 0 } else { code | if negative { self.sign() } else { 0 } }
    }
}

#[test]
fn of_eight_bits_and_fewer() {
    let mut forms = Forms::default();
    let single = |a: u64| f64::from(f32::from_bits(a as u32));
    let half = |a: u64| f64::from_bits(float(Layout::F16, Layout::F64, Direction::Nearest, a & 0xffff));
    let brain = |a: u64| f64::from(f32::from_bits((a as u32) << 16));
    for format in &NARROW {
        let (name, stride) = (format.name, format.stride());
        for (relu, relued) in [("", false), (".relu", true)] {
            for (direction, cut) in [("rn", false), ("rz", true)] {
                let one = move |value: f64| format.of(value, cut, None, relued);
                let cvt = format!("cvt.{direction}.satfinite{relu}.{name}x2");
                // e2m1x2 has a byte: it is put into a register of 16 bits and taken out of one.
                let (d, put) = match stride {
                    4 => ("%b0", "mov.b16 %h0, {%b0, %b1};"),
                    _ => ("%h0", ""),
                };
                let bytes = if stride == 4 { "/* %h0 */ .reg .b8 %b<4>; cvt.u8.u16 %b1, 0; " } else { "/* %h0 */ " };
                forms.add(format!("{bytes}{cvt}.f32 {d}, %f1, %f2; {put}"), move |[a, b, ..]| {
                    one(single(a)) << stride | one(single(b))
                });
                forms.add(format!("{bytes}{cvt}.f16x2 {d}, %r1; {put}"), move |[a, ..]| {
                    one(half(a >> 16)) << stride | one(half(a))
                });
                forms.add(format!("{bytes}{cvt}.bf16x2 {d}, %r1; {put}"), move |[a, ..]| {
                    one(brain(a >> 16)) << stride | one(brain(a))
                });
            }
            let (d, kind) = if stride == 4 { ("%h0", "h") } else { ("%r0", "r") };
            forms.add(
                format!("/* %{kind}0 */ cvt.rs.satfinite{relu}.{name}x4.f32 {d}, {{%f1, %f2, %f3, %f4}}, %r2;"),
                move |[a, b, c, e]| {
                    let (high, low) = (b >> 16 & 0xffff, b & 0xffff);
                    let (first, second) = match stride {
                        4 => (high & 0xff00 | low >> 8, (high & 0xff) << 8 | low & 0xff),
                        _ => (high, low),
                    };
                    let values = [(a, first), (b, first), (c, second), (e, second)];
                    values.into_iter().fold(0, |all, (value, random)| {
                        all << stride | format.of(single(value), false, Some(random), relued)
                    })
                },
            );
            for (to, layout, infinity) in [("f16", Layout::F16, 0x7c00), ("bf16", Layout::BF16, 0x7f80)] {
                let one = move |code: u64| {
                    let (negative, magnitude) = (code & format.sign() != 0, code & (format.sign() - 1));
                    let bits = if magnitude < format.finite {
                        float(Layout::F64, layout, Direction::Nearest, format.value(magnitude).to_bits())
                    } else if format.name == "e5m2" && magnitude == 0x7c {
                        infinity
                    } else {
                        return 0x7fff;
                    };
                    if negative && relued { 0 } else { bits | if negative { 0x8000 } else { 0 } }
                };
                let (a, take) = match stride {
                    4 => ("%b0", ".reg .b8 %b<4>; mov.b16 {%b0, %b1}, %h1; "),
                    _ => ("%h1", ""),
                };
                let text = format!("/* %r0 */ {take}cvt.rn{relu}.{to}x2.{name}x2 %r0, {a};");
                forms.add(text, move |[a, ..]| one(a >> stride) << 16 | one(a));
            }
        }
    }
    forms.check();
}
