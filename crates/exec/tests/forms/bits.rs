//! Logic, shifts, fields and permutations.

use super::Forms;
use super::integers::{names, number};

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// A place or a length of a field: eight bits count, but of 64 bits all (as an H100 has it).
fn place_of(number: u64, bits: u32) -> u64 {
    let number = number & 0xffff_ffff;
    if bits == 64 { number.min(1000) } else { number & 0xff }
}

#[test]
fn logic_and_counts() {
    let mut forms = Forms::default();
    for bits in [16, 32, 64] {
        let r = names(bits, false).0;
        let m = mask(bits);
        forms.add(format!("and.b{bits} %{r}0, %{r}1, %{r}2;"), |[a, b, ..]| a & b);
        forms.add(format!("or.b{bits} %{r}0, %{r}1, %{r}2;"), |[a, b, ..]| a | b);
        forms.add(format!("xor.b{bits} %{r}0, %{r}1, %{r}2;"), |[a, b, ..]| a ^ b);
        forms.add(format!("not.b{bits} %{r}0, %{r}1;"), |[a, ..]| !a);
        forms.add(format!("cnot.b{bits} %{r}0, %{r}1;"), move |[a, ..]| u64::from(a & m == 0));
        forms.add(format!("mov.b{bits} %{r}0, %{r}1;"), |[a, ..]| a);
        forms.add(format!("selp.b{bits} %{r}0, %{r}1, %{r}2, %p3;"), |[a, b, c, _]| if c & 1 == 1 { a } else { b });
        forms.add(format!("shl.b{bits} %{r}0, %{r}1, %r2;"), move |[a, b, ..]| {
            let count = b as u32;
            if count < bits { a << count } else { 0 }
        });
        for signed in [false, true] {
            let t = names(bits, signed).1;
            forms.add(format!("shr.{t} %{r}0, %{r}1, %r2;"), move |[a, b, ..]| {
                (number(a, bits, signed) >> (b as u32).min(bits)) as u64
            });
        }
        if bits > 16 {
            forms.add(format!("// %r\npopc.b{bits} %r0, %{r}1;"), move |[a, ..]| (0..bits).map(|at| a >> at & 1).sum());
            forms.add(format!("// %r\nclz.b{bits} %r0, %{r}1;"), move |[a, ..]| {
                u64::from((0..bits).rev().take_while(|at| a >> at & 1 == 0).count() as u32)
            });
            forms.add(format!("brev.b{bits} %{r}0, %{r}1;"), move |[a, ..]| {
                (0..bits).fold(0, |all, at| all | (a >> at & 1) << (bits - 1 - at))
            });
            for signed in [false, true] {
                let t = names(bits, signed).1;
                let place = move |a: u64| {
                    let sign = signed && a >> (bits - 1) & 1 == 1;
                    (0..bits).rev().find(|at| (a >> at & 1 == 1) != sign)
                };
                let none = u64::from(u32::MAX);
                forms.add(format!("bfind.{t} %r0, %{r}1;"), move |[a, ..]| place(a).map_or(none, u64::from));
                forms.add(format!("bfind.shiftamt.{t} %r0, %{r}1;"), move |[a, ..]| {
                    place(a).map_or(none, |at| u64::from(bits - 1 - at))
                });
                // PTX 9.7.1.18, bit by bit.
                forms.add(format!("bfe.{t} %{r}0, %{r}1, %r2, %r3;"), move |[a, b, c, _]| {
                    let (start, length, top) = (place_of(b, bits), place_of(c, bits), u64::from(bits) - 1);
                    let sign = signed && length > 0 && a >> (start + length - 1).min(top) & 1 == 1;
                    (0..=top).fold(0, |all, at| {
                        let inside = at < length && start + at <= top;
                        let bit = if inside { a >> (start + at) & 1 == 1 } else { sign };
                        all | u64::from(bit) << at
                    })
                });
            }
            forms.add(format!("bfi.b{bits} %{r}0, %{r}1, %{r}2, %r3, %r4;"), move |[a, b, c, d]| {
                let (start, length) = (place_of(c, bits), place_of(d, bits));
                (0..u64::from(bits)).fold(0, |all, at| {
                    let from_a = at >= start && at < start + length;
                    all | (if from_a { a >> (at - start) } else { b >> at } & 1) << at
                })
            });
        }
    }
    forms.add("and.pred %p0, %p1, %p2;", |[a, b, ..]| a & b & 1);
    forms.add("or.pred %p0, %p1, %p2;", |[a, b, ..]| (a | b) & 1);
    forms.add("xor.pred %p0, %p1, %p2;", |[a, b, ..]| (a ^ b) & 1);
    forms.add("not.pred %p0, %p1;", |[a, ..]| !a & 1);
    forms.add("mov.pred %p0, %p1;", |[a, ..]| a & 1);
    forms.add("mov.pred %p0, !%p1;", |[a, ..]| !a & 1);
    forms.check();
}

#[test]
fn three_inputs() {
    let mut forms = Forms::default();
    let table = |table: u64, [a, b, c]: [u64; 3]| {
        (0..32).fold(0, |all, at| {
            let row = (a >> at & 1) << 2 | (b >> at & 1) << 1 | (c >> at & 1);
            all | (table >> row & 1) << at
        })
    };
    for value in [0x00, 0x01, 0x1a, 0x40, 0x80, 0x96, 0xca, 0xe8, 0xf0, 0xfe, 0xff] {
        forms.add(format!("lop3.b32 %r0, %r1, %r2, %r3, {value:#x};"), move |[a, b, c, _]| table(value, [a, b, c]));
        forms.pair(format!("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, {value:#x}, %p4;"), move |[a, b, c, q]| {
            let d = table(value, [a, b, c]);
            (d, d != 0 || q & 1 == 1)
        });
        forms.pair(format!("lop3.and.b32 %r0|%p0, %r1, %r2, %r3, {value:#x}, !%p4;"), move |[a, b, c, q]| {
            let d = table(value, [a, b, c]);
            (d, d != 0 && q & 1 == 0)
        });
    }
    forms.add("// %p\nlop3.and.b32 _|%p0, %r1, %r2, %r3, 0xe8, %p4;", move |[a, b, c, q]| {
        u64::from(table(0xe8, [a, b, c]) != 0 && q & 1 == 1)
    });
    // Destinations that are operands too.
    forms.pair(
        "mov.b32 %r0, %r1; mov.pred %p0, %p4; lop3.or.b32 %r0|%p0, %r0, %r2, %r3, 0x80, %p0;",
        move |[a, b, c, q]| {
            let d = table(0x80, [a, b, c]);
            (d, d != 0 || q & 1 == 1)
        },
    );
    forms.check();
}

#[test]
fn fields_of_words() {
    let mut forms = Forms::default();
    for (name, left) in [("l", true), ("r", false)] {
        for (mode, clamp) in [("wrap", false), ("clamp", true)] {
            forms.add(format!("shf.{name}.{mode}.b32 %r0, %r1, %r2, %r3;"), move |[a, b, c, _]| {
                let count = if clamp { (c as u32).min(32) } else { c as u32 % 32 };
                let both = (b & mask(32)) << 32 | a & mask(32);
                let both = u128::from(both);
                (if left { both << count >> 32 } else { both >> count }) as u64
            });
        }
    }
    let permuted = |bytes: u64, nibbles: [u64; 4]| {
        (0..4).fold(0, |all, at| {
            let nibble = nibbles[at];
            let byte = bytes.to_le_bytes()[nibble as usize & 7];
            let byte = if nibble & 8 == 0 {
                byte
            } else if byte >= 0x80 {
                0xff
            } else {
                0
            };
            all | u64::from(byte) << (8 * at)
        })
    };
    let whole = |a: u64, b: u64| (b & mask(32)) << 32 | a & mask(32);
    forms.add("prmt.b32 %r0, %r1, %r2, %r3;", move |[a, b, c, _]| {
        permuted(whole(a, b), [c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15])
    });
    // PTX 9.7.9.7: the bytes from the result's highest to its lowest, by the count.
    let modes: [(&str, [[u64; 4]; 4]); 6] = [
        ("f4e", [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]]),
        ("b4e", [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        ("ecl", [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]]),
        ("ecr", [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]]),
        ("rc16", [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
    ];
    for (name, rows) in modes {
        forms.add(format!("prmt.b32.{name} %r0, %r1, %r2, %r3;"), move |[a, b, c, _]| {
            let [d3, d2, d1, d0] = rows[c as usize & 3];
            permuted(whole(a, b), [d0, d1, d2, d3])
        });
    }
    for (name, clamp) in [("clamp", true), ("wrap", false)] {
        forms.add(format!("bmsk.{name}.b32 %r0, %r1, %r2;"), move |[a, b, ..]| {
            let (a, b) = (u64::from(a as u32), u64::from(b as u32));
            let (start, length) = if clamp { (a, b) } else { (a % 32, b % 32) };
            (0..32).fold(0, |all, at| all | u64::from(at >= start && at - start < length) << at)
        });
        for signed in [false, true] {
            let t = names(32, signed).1;
            forms.add(format!("szext.{name}.{t} %r0, %r1, %r2;"), move |[a, b, ..]| {
                let count = b as u32;
                let count = if clamp { count.min(32) } else { count % 32 };
                if count == 0 { 0 } else { number(a, count, signed) as u64 }
            });
        }
    }
    // An H100: there is nothing behind the last place, and the least offset has no opposite.
    forms.add("fns.b32 %r0, %r1, 32, %r3;", |[_, _, c, _]| if c as i32 == i32::MIN { 0 } else { u64::from(u32::MAX) });
    // PTX 9.7.1.16, as it stands there.
    forms.add("and.b32 %r2, %r2, 31; fns.b32 %r0, %r1, %r2, %r3;".replacen("and", "// %r\nand", 1), |[a, b, c, _]| {
        if c as i32 == i32::MIN {
            return 0;
        }
        let (base, offset) = ((b & 31) as i32, c as i32);
        if offset == 0 {
            return if a >> base & 1 == 1 { base as u64 } else { u64::from(u32::MAX) };
        }
        let (mut place, mut count) = (base, offset.unsigned_abs() - 1);
        while (0..32).contains(&place) {
            if a >> place & 1 == 1 {
                if count == 0 {
                    return place as u64;
                }
                count -= 1;
            }
            place += offset.signum();
        }
        u64::from(u32::MAX)
    });
    forms.check();
}

#[test]
fn words_put_together_and_taken_apart() {
    let mut forms = Forms::default();
    let m = mask;
    forms.add("mov.b32 %r0, {%h1, %h2};", move |[a, b, ..]| a & m(16) | (b & m(16)) << 16);
    forms.add("mov.b64 %x0, {%r1, %r2};", move |[a, b, ..]| a & m(32) | b << 32);
    forms.add("mov.b64 %x0, {%h1, %h2, %h3, %h4};", move |[a, b, c, d]| {
        a & m(16) | (b & m(16)) << 16 | (c & m(16)) << 32 | d << 48
    });
    forms.add("mov.b32 {%h0, %h5}, %r1;", |[a, ..]| a);
    forms.add("// %h\nmov.b32 {%h5, %h0}, %r1;", |[a, ..]| a >> 16);
    forms.add("// %r\nmov.b64 {%r5, %r0}, %x1;", |[a, ..]| a >> 32);
    forms.add("// %r\nmov.b64 {_, %r0}, %x1;", |[a, ..]| a >> 32);
    forms.add("// %h\nmov.b64 {%h5, %h6, %h0, %h7}, %x1;", |[a, ..]| a >> 32);
    forms.add("// %x\nmov.b128 %q1, {%x1, %x2}; mov.b128 %q2, %q1; mov.b128 {%x0, %x5}, %q2;", |[a, ..]| a);
    forms.add("// %x\nmov.b128 %q1, {%x1, %x2}; mov.b128 {%x5, %x0}, %q1;", |[_, b, ..]| b);
    // Both halves at once.
    forms.add("// %x\nmov.b128 %q1, {%x1, %x2}; mov.b128 {%x2, %x1}, %q1; sub.u64 %x0, %x1, %x2;", |[a, b, ..]| {
        b.wrapping_sub(a)
    });
    forms.check();
}
