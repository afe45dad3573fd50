//! Integer quotients, remainders, upper halves of products, fields, dot products of bytes and saturating sums in native code.

use super::{Case, has_native, lowered, random, zeros};
use roundonce_exec::{Arg, Buffer};

/// Numbers of all sizes, and those that are near a power of two or zero.
fn numbers(count: usize, seed: u64) -> Arg {
    let mut next = random(seed);
    let mut number = || {
        let bits = next();
        let any = (bits >> 32) as u32;
        match bits & 7 {
            0 => [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x8000_0001, 0xffff, 0x8000][(bits >> 3 & 7) as usize],
            1 => any >> (bits >> 3 & 31),
            2 => ((any as i32) >> (bits >> 3 & 31)) as u32,
            3 => (1u32 << (bits >> 3 & 31)).wrapping_add((bits >> 8 & 3) as u32).wrapping_sub(2),
            _ => any,
        }
    };
    Arg::Buffer(Buffer::from_words((0..count).map(|_| number()).collect()))
}

#[test]
fn quotients_and_upper_halves() {
    let mut bodies = Vec::new();
    for op in ["div", "rem", "mul.hi"] {
        for kind in ["u32", "s32"] {
            // Of data; by a parameter, a number of the tile, a constant; of the thread's number; numbers of the tile alone.
            for (a, b) in [
                ("%r3", "%r4"),
                ("%r3", "%r5"),
                ("%r3", "%r6"),
                ("%r3", "7"),
                ("%r2", "%r5"),
                ("%r1", "10"),
                ("%r6", "%r5"),
                ("%r5", "%r4"),
                ("%r3", "0"),
                ("1000003", "%r4"),
            ] {
                bodies.push(format!("{op}.{kind} %r7, {a}, {b};"));
            }
            // Quotients that are integers, and a little more or less.
            for (shift, more) in [(16, 0), (16, -1), (16, 1), (4, 0), (4, -1)] {
                let left = 32 - shift;
                bodies.push(format!(
                    "shr.u32 %r8, %r3, {left}; shr.u32 %r9, %r4, {shift}; mad.lo.u32 %r8, %r8, %r9, {more}; {op}.{kind} %r7, %r8, %r9;"
                ));
            }
            // Quotients of quotients, in one register; under a mask.
            bodies.push(format!("{op}.{kind} %r7, %r3, %r4; {op}.{kind} %r7, %r7, %r5; {op}.{kind} %r8, %r4, %r7; xor.b32 %r7, %r7, %r8;"));
            bodies.push(format!("setp.lt.s32 %p1, %r3, %r4; @%p1 {op}.{kind} %r7, %r3, %r4;"));
            bodies.push(format!("setp.lt.u32 %p1, %r2, 40; @%p1 bra S; {op}.{kind} %r7, %r3, %r4; S:"));
        }
        for kind in ["u16", "s16"] {
            for b in ["%h2", "7", "0"] {
                bodies.push(format!(
                    "cvt.u16.u32 %h1, %r3; cvt.u16.u32 %h2, %r4; {op}.{kind} %h3, %h1, {b}; cvt.u32.u16 %r7, %h3;"
                ));
                bodies.push(format!(
                    "cvt.s16.s32 %h1, %r3; cvt.s16.s32 %h2, %r4; {op}.{kind} %h3, %h1, {b}; cvt.s32.s16 %r7, %h3;"
                ));
            }
        }
    }
    for (a, b, c) in [("%r3", "%r4", "%r5"), ("%r6", "%r3", "%r2"), ("%r5", "%r6", "99")] {
        for table in [0x00, 0x01, 0x80, 0x96, 0xe8, 0xca, 0xff, 0x3c, 0x6b] {
            bodies.push(format!("lop3.b32 %r7, {a}, {b}, {c}, {table};"));
        }
        for count in [0, 1, 7, 31, 32, 40] {
            for mode in ["l.wrap", "r.wrap", "l.clamp", "r.clamp"] {
                bodies.push(format!("shf.{mode}.b32 %r7, {a}, {b}, {count};"));
            }
            for length in [0, 1, 8, 31, 40] {
                bodies.push(format!("bfi.b32 %r7, {a}, {b}, {count}, {length};"));
                for kind in ["u32", "s32"] {
                    bodies.push(format!("bfe.{kind} %r7, {a}, {count}, {length};"));
                }
            }
        }
        for kind in ["u32", "s32"] {
            bodies.push(format!("sad.{kind} %r7, {a}, {b}, {c};"));
        }
        for kinds in ["u32.u32", "u32.s32", "s32.u32", "s32.s32"] {
            bodies.push(format!("dp4a.{kinds} %r7, {a}, {b}, {c};"));
            bodies.push(format!("dp2a.lo.{kinds} %r7, {a}, {b}, {c};"));
            bodies.push(format!("dp2a.hi.{kinds} %r7, {a}, {b}, {c}; dp4a.{kinds} %r7, %r7, %r7, %r7;"));
        }
        for op in ["add", "sub"] {
            bodies.push(format!("{op}.sat.s32 %r7, {a}, {b};"));
            bodies.push(format!(
                "setp.lt.s32 %p1, {b}, {c}; @%p1 {op}.sat.s32 %r7, {a}, {b}; {op}.sat.s32 %r7, %r7, %r7;"
            ));
        }
        for op in ["abs.s32", "popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32"] {
            bodies.push(format!("{op} %r7, {a};"));
        }
        for choice in [0x5410, 0x7632, 0x3210, 0x0123, 0x7654, 0x1111, 0xba98, 0x4c1f, 0x8640, 0x6666, 0x0bb7] {
            bodies.push(format!("prmt.b32 %r7, {a}, {b}, {choice};"));
        }
        for mode in ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"] {
            bodies.push(format!(
                "prmt.b32.{mode} %r7, {a}, {b}, 1; prmt.b32.{mode} %r8, {b}, {a}, 3; xor.b32 %r7, %r7, %r8;"
            ));
        }
    }
    // An element of a plane, as every kernel finds it: the row's and the column's number, the address of another element.
    bodies.push("div.s32 %r7, %r1, %r5; rem.s32 %r8, %r1, %r5; mad.lo.s32 %r9, %r8, 3, %r7; rem.u32 %r9, %r9, %r10; mul.wide.u32 %rd7, %r9, 4; add.u64 %rd8, %rd1, %rd7; ld.global.u32 %r7, [%rd8];".into());
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n, .param .u32 all) {{
             .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<10>; .reg .b16 %h<4>;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [z]; ld.param.u32 %r5, [n]; ld.param.u32 %r10, [all];
             mov.u32 %r2, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r1, %r6, %r7, %r2; mul.wide.u32 %rd4, %r1, 4;
             add.u64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5]; add.u64 %rd5, %rd2, %rd4; ld.global.u32 %r4, [%rd5]; mov.u32 %r7, 5; {body}
             add.u64 %rd6, %rd3, %rd4; st.global.u32 [%rd6], %r7; ret; }}\n"
        ));
    }
    let program = lowered(&text);
    let n = 1 << 14;
    for (index, body) in bodies.iter().enumerate() {
        for by in [13, 0xffff_fffd] {
            let entry = format!("k{index}");
            let args = vec![
                numbers(n, 2 * index as u64),
                numbers(n, 2 * index as u64 + 1),
                zeros(n),
                Arg::Scalar(by),
                Arg::Scalar(n as u64),
            ];
            let share = Case::line(&program, &entry, n as u32 / 256, 256, args).hold(&format!("{body} by {by}"));
            // Fields that start behind the end, or have no bits, are the interpreter's.
            let is_field = body.starts_with("bf");
            assert!(!has_native() || is_field || share > 0.8, "{body}: {share} native");
        }
    }
}
