//! setp, set, slct, testp.

use super::Forms;
use super::integers::{names, number};
use roundonce_oracle::Layout;
use std::cmp::Ordering;

/// Float registers and names.
pub(crate) const FLOATS: [(char, &str, Layout); 4] =
    [('h', "f16", Layout::F16), ('h', "bf16", Layout::BF16), ('f', "f32", Layout::F32), ('d', "f64", Layout::F64)];

/// The order of two numbers; none with a NaN.
fn order(layout: Layout, a: u64, b: u64) -> Option<Ordering> {
    let all = layout.sign() | layout.magnitude();
    let (a, b) = (a & all, b & all);
    if layout.is_nan(a) || layout.is_nan(b) {
        return None;
    }
    let value = |x: u64| {
        let magnitude = (x & layout.magnitude()) as i128;
        if x & layout.sign() != 0 { -magnitude } else { magnitude }
    };
    Some(value(a).cmp(&value(b)))
}

fn holds(name: &str, order: Option<Ordering>) -> bool {
    let Some(order) = order else { return name.ends_with('u') && name.len() == 3 || name == "nan" };
    match name {
        "eq" | "equ" => order.is_eq(),
        "ne" | "neu" => order.is_ne(),
        "lt" | "ltu" | "lo" => order.is_lt(),
        "le" | "leu" | "ls" => order.is_le(),
        "gt" | "gtu" | "hi" => order.is_gt(),
        "ge" | "geu" | "hs" => order.is_ge(),
        "num" => true,
        _ => false,
    }
}

const SIGNED: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const UNSIGNED: [&str; 4] = ["lo", "ls", "hi", "hs"];
const FLOAT: [&str; 14] = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

#[test]
fn of_integers() {
    let mut forms = Forms::default();
    for bits in [16, 32, 64] {
        for signed in [false, true] {
            let (r, t) = names(bits, signed);
            let names: Vec<&str> =
                if signed { SIGNED.to_vec() } else { SIGNED.iter().chain(&UNSIGNED).copied().collect() };
            for name in names {
                let truth = move |a, b| holds(name, Some(number(a, bits, signed).cmp(&number(b, bits, signed))));
                forms.add(format!("setp.{name}.{t} %p0, %{r}1, %{r}2;"), move |[a, b, ..]| truth(a, b).into());
                forms.add(
                    format!("set.{name}.u32.{t} %r0, %{r}1, %{r}2;"),
                    move |[a, b, ..]| {
                        if truth(a, b) { u64::MAX } else { 0 }
                    },
                );
            }
            let truth = move |a, b| number(a, bits, signed) < number(b, bits, signed);
            for (join, f) in
                [("and", (|p, q| p & q) as fn(bool, bool) -> bool), ("or", |p, q| p | q), ("xor", |p, q| p ^ q)]
            {
                forms.add(format!("setp.lt.{join}.{t} %p0, %{r}1, %{r}2, !%p3;"), move |[a, b, c, _]| {
                    f(truth(a, b), c & 1 == 0).into()
                });
                let text = format!("// %r\nsetp.lt.{join}.{t} %p5|%p0, %{r}1, %{r}2, %p3; selp.u32 %r0, 1, 0, %p5;");
                forms.pair(text, move |[a, b, c, _]| {
                    let c = c & 1 == 1;
                    (f(truth(a, b), c).into(), f(!truth(a, b), c))
                });
                forms.add(format!("set.lt.{join}.f32.{t} %f0, %{r}1, %{r}2, %p3;"), move |[a, b, c, _]| {
                    if f(truth(a, b), c & 1 == 1) { 0x3f80_0000 } else { 0 }
                });
            }
            forms.add(
                format!("slct.{t}.s32 %{r}0, %{r}1, %{r}2, %r3;"),
                |[a, b, c, _]| {
                    if c as i32 >= 0 { a } else { b }
                },
            );
        }
    }
    // The destination is the guard, or an operand of the other half.
    forms.pair(
        "setp.ne.u32 %p5, %r4, 0; mov.pred %p0, %p5; @%p5 setp.lt.u32 %p5|%p0, %r1, %r2; selp.u32 %r0, 1, 0, %p5;"
            .replacen("setp", "// %r\nsetp", 1),
        |[a, b, _, d]| {
            if d as u32 == 0 { (0, false) } else { (u64::from((a as u32) < b as u32), a as u32 >= b as u32) }
        },
    );
    forms.check();
}

#[test]
fn of_floats() {
    let mut forms = Forms::default();
    let half = FLOATS.iter().find(|(_, t, _)| *t == "f16").unwrap().2;
    for name in FLOAT {
        // A truth in each half.
        forms.add(format!("set.{name}.u32.f16x2 %r0, %r1, %r2;"), move |[a, b, ..]| {
            let of = |shift: u32| holds(name, order(half, (a >> shift) & 0xffff, (b >> shift) & 0xffff));
            (u64::from(of(0)) * 0xffff) | (u64::from(of(16)) * 0xffff_0000)
        });
    }
    for (r, t, layout) in FLOATS {
        for name in FLOAT {
            forms.add(format!("setp.{name}.{t} %p0, %{r}1, %{r}2;"), move |[a, b, ..]| {
                holds(name, order(layout, a, b)).into()
            });
            if r != 'h' {
                forms.add(format!("set.{name}.f32.{t} %f0, %{r}1, %{r}2;"), move |[a, b, ..]| {
                    if holds(name, order(layout, a, b)) { 0x3f80_0000 } else { 0 }
                });
            }
        }
    }
    let flushed = |x: u64| if x & 0x7fff_ffff < 0x80_0000 { x & 0x8000_0000 } else { x & 0xffff_ffff };
    for name in FLOAT {
        forms.add(format!("setp.{name}.ftz.f32 %p0, %f1, %f2;"), move |[a, b, ..]| {
            holds(name, order(Layout::F32, flushed(a), flushed(b))).into()
        });
    }
    for (t, layout) in [("f16", Layout::F16), ("bf16", Layout::BF16)] {
        forms.add(format!("set.gt.{t}.{t} %h0, %h1, %h2;"), move |[a, b, ..]| {
            if holds("gt", order(layout, a, b)) { layout.one() } else { 0 }
        });
        forms.add(format!("set.gtu.u32.{t} %r0, %h1, %h2;"), move |[a, b, ..]| {
            if holds("gtu", order(layout, a, b)) { u64::MAX } else { 0 }
        });
        forms.add(format!("set.le.{t}x2.{t}x2 %r0, %r1, %r2;"), move |[a, b, ..]| {
            let lane = |at: u32| if holds("le", order(layout, a >> at, b >> at)) { layout.one() << at } else { 0 };
            lane(0) | lane(16)
        });
        let text = format!("// %r\nsetp.ne.{t}x2 %p5|%p0, %r1, %r2; selp.u32 %r0, 1, 0, %p5;");
        forms.pair(text, move |[a, b, ..]| {
            let lane = |at: u32| holds("ne", order(layout, a >> at, b >> at));
            (lane(0).into(), lane(16))
        });
        let text = format!("// %r\nsetp.geu.and.{t}x2 %p5|%p0, %r1, %r2, %p3; selp.u32 %r0, 1, 0, %p5;");
        forms.pair(text, move |[a, b, c, _]| {
            let lane = |at: u32| holds("geu", order(layout, a >> at, b >> at)) && c & 1 == 1;
            (lane(0).into(), lane(16))
        });
    }
    forms.add("slct.f32.f32 %f0, %f1, %f2, %f3;", |[a, b, c, _]| {
        if order(Layout::F32, c, 0).is_some_and(Ordering::is_ge) { a } else { b }
    });
    forms.add("slct.ftz.b64.f32 %x0, %x1, %x2, %f3;", move |[a, b, c, _]| {
        if order(Layout::F32, flushed(c), 0).is_some_and(Ordering::is_ge) { a } else { b }
    });
    forms.check();
}

#[test]
fn of_classes() {
    let mut forms = Forms::default();
    for (r, t, layout) in [FLOATS[2], FLOATS[3]] {
        let m = move |x: u64| x & layout.magnitude();
        forms.add(format!("testp.finite.{t} %p0, %{r}1;"), move |[a, ..]| (m(a) < layout.infinity()).into());
        forms.add(format!("testp.infinite.{t} %p0, %{r}1;"), move |[a, ..]| (m(a) == layout.infinity()).into());
        forms.add(format!("testp.number.{t} %p0, %{r}1;"), move |[a, ..]| (m(a) <= layout.infinity()).into());
        forms.add(format!("testp.notanumber.{t} %p0, %{r}1;"), move |[a, ..]| (m(a) > layout.infinity()).into());
        // Zeros count as normal (PTX ISA, `testp`).
        let normal = move |x: u64| m(x) == 0 || m(x) >= layout.smallest_normal() && m(x) < layout.infinity();
        forms.add(format!("testp.normal.{t} %p0, %{r}1;"), move |[a, ..]| normal(a).into());
        let subnormal = move |x: u64| m(x) > 0 && m(x) < layout.smallest_normal();
        forms.add(format!("testp.subnormal.{t} %p0, %{r}1;"), move |[a, ..]| subnormal(a).into());
    }
    forms.check();
}
