//! 16-bit registers, packed arithmetic, narrow loads and stores in native code.

use super::detect::has_native;
use super::{Case, difference, lowered, random, zeros};
use roundonce_arith::{NanRule, OperandIndex, Profile, Tininess};
use roundonce_exec::{Arg, Buffer, Engine};
use roundonce_ir::Program;

/// Words of two halves each: any bits, and numbers at the edges of f16 and bf16 or a few units in the last place off. With
/// `tame`, most are between 2^-2 and 2 as f16.
fn pairs(count: usize, seed: u64, tame: bool) -> Arg {
    const EDGES: [u16; 22] = [
        0x0000, 0x0001, 0x03ff, 0x0400, 0x0402, 0x3bff, 0x3c00, 0x3c01, 0x1401, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
        0x007f, 0x0080, 0x3f80, 0x3f81, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0,
    ];
    let mut next = random(seed);
    let mut half = || {
        let bits = next();
        let sign = (bits >> 60) as u16 & 0x8000 | (bits as u16 & 0x8000);
        if tame && bits >> 16 & 15 != 0 {
            return u32::from(sign | (0x3400 + ((bits >> 32) as u16 & 0x0bff)));
        }
        let edge = EDGES[(bits >> 32) as usize % EDGES.len()];
        u32::from(match bits >> 20 & 3 {
            0 | 1 => sign ^ edge.wrapping_add((bits >> 24) as u16 % 5).wrapping_sub(2),
            2 => sign ^ edge,
            _ => (bits >> 40) as u16,
        })
    };
    Arg::Buffer(Buffer::from_words((0..count).map(|_| half() | half() << 16).collect()))
}

/// f32 whose conversions to 16 bits are hard: ties and their neighbours, overflow, subnormals, NaNs.
fn singles(count: usize, seed: u64) -> Arg {
    let mut next = random(seed);
    let mut single = || {
        let bits = next();
        let any = (bits >> 32) as u32;
        let exponents = [0, 1, 0x66, 0x67, 0x70, 0x71, 0x7f, 0x8e, 0x8f, 0xfe, 0xff];
        let exponent = exponents[bits as usize % exponents.len()] << 23;
        let fraction = [0x1000, 0x3000, 0x8000, 0x1_8000, 0x7f_f000, 0x7f_8000, 0x2000, any & 0x7f_ffff];
        let fraction = fraction[(bits >> 8) as usize % fraction.len()] + (bits >> 12) as u32 % 3;
        match bits >> 16 & 3 {
            0 => any,
            _ => any & 0x8000_0000 | exponent | fraction.saturating_sub(1) & 0x7f_ffff,
        }
    };
    Arg::Buffer(Buffer::from_words((0..count).map(|_| single()).collect()))
}

const REGISTERS: &str = ".reg .pred %p<6>; .reg .b16 %h<12>; .reg .f32 %f<8>; .reg .f64 %d<4>; .reg .b32 %r<16>;
    .reg .b64 %x<12>;";

/// A kernel: `%r11`, `%r12` and `%r13` are the thread's words of x, y and z, `%h1` and `%h2` the halves of the first, `%h3`
/// to `%h6` those of the others, `%f1` to `%f3` the words again; `%x8` is its place in the result, `%r1` its number in the
/// grid, `%r2` that in its block, `%x1`, `%x4` where x and the result begin. `%r0` is stored.
fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 o) {{ {REGISTERS}
         ld.param.u64 %x1, [x]; ld.param.u64 %x2, [y]; ld.param.u64 %x3, [z]; ld.param.u64 %x4, [o];
         mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r1, %r3, %r4, %r2;
         mul.wide.u32 %x9, %r1, 4; add.u64 %x5, %x1, %x9; add.u64 %x6, %x2, %x9; add.u64 %x7, %x3, %x9; add.u64 %x8, %x4, %x9;
         ld.global.b32 %r11, [%x5]; ld.global.b32 %r12, [%x6]; ld.global.b32 %r13, [%x7];
         mov.b32 {{%h1, %h2}}, %r11; mov.b32 {{%h3, %h4}}, %r12; mov.b32 {{%h5, %h6}}, %r13;
         mov.b32 %f1, %r11; mov.b32 %f2, %r12; mov.b32 %f3, %r13;
         {body}
         st.global.b32 [%x8], %r0; ret; }}\n"
    )
}

fn program(kernels: impl Iterator<Item = (String, String)>) -> (Program, Vec<String>) {
    let mut text = String::from(".version 8.7\n.target sm_100\n.address_size 64\n");
    let mut names = Vec::new();
    for (name, body) in kernels {
        text.push_str(&kernel(&name, &body));
        names.push(name);
    }
    (lowered(&text), names)
}

/// Every operation that has native code, one a kernel.
fn operations() -> Vec<String> {
    let mut all = Vec::new();
    for (half, modes) in
        [("f16", &["", ".ftz", ".sat", ".relu", ".ftz.sat", ".ftz.relu"][..]), ("bf16", &["", ".relu"])]
    {
        for &mode in modes {
            all.push(format!("fma.rn{mode}.{half}x2 %r0, %r11, %r12, %r13;"));
            all.push(format!("fma.rn{mode}.{half} %h0, %h1, %h4, %h5; mov.b32 %r0, {{%h0, %h2}};"));
            all.push(format!("fma.rn{mode}.{half}x2 %r0, %r11, %r11, %r12;"));
            if mode.contains(".relu") {
                continue;
            }
            for op in ["add", "sub", "mul"] {
                all.push(format!("{op}.rn{mode}.{half}x2 %r0, %r11, %r12;"));
                all.push(format!("{op}{mode}.{half} %h0, %h2, %h3; mov.b32 %r0, {{%h1, %h0}};"));
            }
        }
        for mode in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
            for op in ["min", "max"] {
                all.push(format!("{op}{mode}.{half}x2 %r0, %r11, %r12;"));
                all.push(format!("{op}{mode}.{half} %h0, %h1, %h3; mov.b32 %r0, {{%h0, %h4}};"));
            }
        }
        all.push(format!(
            "neg.{half}x2 %r0, %r11; abs.{half} %h1, %h1; mov.b32 %r5, {{%h1, %h2}}; xor.b32 %r0, %r0, %r5;"
        ));
        for comparison in ["eq", "lt", "ge", "neu", "ltu", "num", "nan"] {
            all.push(format!(
                "setp.{comparison}.{half} %p1, %h1, %h3; setp.{comparison}.{half} %p2, %h2, %h2;
                 selp.b32 %r0, 5, 7, %p1; @%p2 xor.b32 %r0, %r0, 16;"
            ));
        }
        for rounding in ["rn", "rz", "rm", "rp"] {
            all.push(format!("cvt.{rounding}.{half}.f32 %h0, %f1; mov.b32 %r0, {{%h0, %h0}};"));
            all.push(format!(
                "fma.{rounding}.f32.{half} %f4, %h1, %h3, %f3; add.{rounding}.sat.f32.{half} %f5, %h2, %f3;
                 mov.b32 %r0, %f4; mov.b32 %r5, %f5; shl.b32 %r6, %r5, 1; xor.b32 %r0, %r0, %r6;"
            ));
            all.push(format!(
                "cvt.{rounding}.{half}.s32 %h0, %r11; cvt.{rounding}.{half}.u16 %h7, %h1; mov.b32 %r0, {{%h0, %h7}};"
            ));
            all.push(format!("cvt.{rounding}i.s32.{half} %r0, %h1;"));
            all.push(format!("cvt.{rounding}i.u16.{half} %h0, %h1; cvt.{rounding}i.s8.f32 %r5, %f2; cvt.u32.u16 %r0, %h0; xor.b32 %r0, %r0, %r5;"));
            all.push(format!(
                "cvt.{rounding}i.u32.f32 %r0, %f1; cvt.{rounding}i.s32.f32 %r5, %f2; xor.b32 %r0, %r0, %r5;"
            ));
        }
        all.push(format!("cvt.rn.{half}x2.f32 %r0, %f1, %f2;"));
        all.push(format!("cvt.rn.relu.{half}x2.f32 %r0, %f1, %f2;"));
        all.push(format!("cvt.f32.{half} %f4, %h2; mov.b32 %r0, %f4;"));
        all.push(format!("cvt.f32.{half} %f4, %h2; fma.rn.f32 %f4, %f4, %f4, %f2; mov.b32 %r0, %f4;"));
    }
    all.extend(
        [
            "cvt.rn.ftz.f16.f32 %h0, %f1; cvt.rp.sat.f16.f32 %h7, %f2; mov.b32 %r0, {%h0, %h7};",
            "cvt.ftz.f32.f16 %f4, %h2; mul.rn.ftz.f32 %f4, %f4, %f1; mov.b32 %r0, %f4;",
            "min.f32 %f4, %f1, %f2; max.ftz.NaN.f32 %f5, %f4, %f3; mov.b32 %r0, %f5;",
            "max.xorsign.abs.f32 %f4, %f1, %f2; mov.b32 %r0, %f4;",
            "add.u16 %h0, %h1, %h3; sub.s16 %h7, %h2, %h4; mov.b32 %r0, {%h0, %h7};",
            "mul.lo.s16 %h0, %h1, %h3; mad.lo.s16 %h7, %h2, %h4, %h5; mov.b32 %r0, {%h0, %h7};",
            "mul.wide.s16 %r0, %h1, %h3; mad.wide.u16 %r0, %h2, %h4, %r0;",
            "and.b16 %h0, %h1, %h3; or.b16 %h0, %h0, %h5; xor.b16 %h0, %h0, 21845; not.b16 %h7, %h2; mov.b32 %r0, {%h0, %h7};",
            "and.b32 %r5, %r12, 31; shl.b16 %h0, %h1, %r5; shr.u16 %h7, %h2, %r5; mov.b32 %r0, {%h0, %h7};",
            "and.b32 %r5, %r12, 31; shr.s16 %h0, %h1, %r5; neg.s16 %h7, %h2; mov.b32 %r0, {%h0, %h7};",
            "min.s16 %h0, %h1, %h3; max.u16 %h7, %h2, %h4; mov.b32 %r0, {%h0, %h7};",
            "setp.lt.s16 %p1, %h1, %h3; setp.hi.u16 %p2, %h2, %h4; selp.b16 %h0, %h5, %h6, %p1; selp.b16 %h7, %h6, %h1, %p2; mov.b32 %r0, {%h0, %h7};",
            // Of a known number, into a predicate on which lanes disagree elsewhere.
            "mov.b16 %h7, 0xfff0; setp.ge.s16 %p1, %h7, 33; selp.b32 %r0, 5, 7, %p1; setp.lt.s16 %p1, %h1, %h3; @%p1 add.u32 %r0, %r0, 16;",
            "cvt.s32.s16 %r0, %h1; cvt.u32.u8 %r5, %r11; add.u32 %r0, %r0, %r5; cvt.s64.s16 %x10, %h2; cvt.u32.u64 %r5, %x10; xor.b32 %r0, %r0, %r5;",
            "cvt.s16.s8 %h0, %h1; cvt.u16.u32 %h7, %r12; mov.b32 %r0, {%h0, %h7}; mov.b32 %r5, {%h7, %h0}; shl.b32 %r5, %r5, 1; add.u32 %r0, %r0, %r5;",
            // Beside what flushes, so that the processor must not.
            "cvt.f32.bf16 %f4, %h1; mul.rn.ftz.f32 %f5, %f2, %f2; add.f32 %f6, %f4, %f4; mov.b32 %r0, %f6; mov.b32 %r5, %f5; xor.b32 %r0, %r0, %r5;",
            "mul.rn.ftz.f32 %f4, %f1, %f2; fma.rn.bf16 %h0, %h1, %h3, %h5; mov.b32 %r5, %f4; mov.b32 %r6, {%h0, %h2}; xor.b32 %r0, %r5, %r6;",
            "mul.rn.ftz.f32 %f4, %f1, %f2; setp.gt.bf16 %p1, %h1, 0x0000; cvt.rpi.s32.bf16 %r5, %h3; selp.b32 %r5, %r5, 7, %p1; mov.b32 %r0, %f4; xor.b32 %r0, %r0, %r5;",
            "mul.rn.ftz.f32 %f4, %f1, %f2; fma.rn.f16x2 %r5, %r11, %r12, %r13; cvt.f32.f16 %f5, %h1; add.f32 %f5, %f5, %f5; mov.b32 %r0, %f5; mov.b32 %r6, %f4; xor.b32 %r0, %r0, %r6; xor.b32 %r0, %r0, %r5;",
            "mov.b64 %x10, {%r11, %r12}; shl.b64 %x10, %x10, 8; mov.b64 {%r5, %r6}, %x10; xor.b32 %r0, %r5, %r6;",
            "mov.b64 %x10, {%h1, %h2, %h3, %h4}; add.u64 %x10, %x10, %x10; mov.b64 {%h0, %h7, %h8, %h9}, %x10; mov.b32 %r0, {%h8, %h0};",
            "mov.b32 %r5, %ctaid.x; mov.b32 {%h7, %h8}, %r5; add.f16 %h0, %h7, %h1; mov.b32 %r0, {%h0, %h7};",
            "mov.b16 %h7, 0x3c01; fma.rn.f16 %h0, %h7, %h1, %h7; mov.b32 %r0, {%h0, %h7};",
            "mov.u32 %r5, %tid.x; cvt.u16.u32 %h0, %r5; mad.lo.u16 %h0, %h0, 683, %h1; cvt.rz.f16.u16 %h7, %h0; mov.b32 %r0, {%h0, %h7};",
        ]
        .map(String::from),
    );
    all
}

#[test]
fn every_operation_of_16_bits() {
    let bodies = operations();
    let (program, names) = program(bodies.iter().enumerate().map(|(index, body)| (format!("k{index}"), body.clone())));
    let n = 4096;
    for (name, body) in names.iter().zip(&bodies) {
        let floats = body.contains("%f1");
        for (seed, block) in [(1, 128), (2, 64), (3, 16)] {
            let x = if floats { singles(n, seed) } else { pairs(n, seed, false) };
            let y = if floats { singles(n, seed + 10) } else { pairs(n, seed + 10, seed == 2) };
            let args = vec![x, y, pairs(n, seed + 20, seed == 2), zeros(n)];
            let share = Case::line(&program, name, n as u32 / block, block, args).hold(body);
            assert!(!has_native() || share > 0.99, "{body}: {share} native");
        }
    }
}

/// Flushes by other criteria of tininess, and machines whose NaNs keep a payload.
#[test]
fn other_profiles() {
    let bodies = [
        "mul.rn.ftz.f16x2 %r0, %r11, %r12;",
        "fma.rn.ftz.f16x2 %r0, %r11, %r12, %r13;",
        "add.rn.ftz.sat.f16x2 %r0, %r11, %r12;",
        "fma.rn.relu.bf16x2 %r0, %r11, %r12, %r13; max.f16x2 %r0, %r0, %r11;",
        "cvt.f32.f16 %f4, %h1; add.f32 %f4, %f4, %f2; cvt.rn.f16.f32 %h0, %f4; mov.b32 %r0, {%h0, %h2};",
    ];
    let (program, names) =
        program(bodies.iter().enumerate().map(|(index, body)| (format!("k{index}"), body.to_string())));
    let payload = NanRule::Payload([OperandIndex::A, OperandIndex::B, OperandIndex::C]);
    let keeps = Profile { nan_f32: payload, nan_small: payload, ..Profile::NVIDIA };
    let n = 1 << 14;
    // Products about the smallest normal number of f16.
    let near = (0..n as u32).map(|i| 0x0400_0400 + ((i % 5) | ((i / 5 % 5) << 16))).map(|word| word ^ (word & 1) << 31);
    let below = (0..n as u32).map(|i| 0x3bff_3bff - ((i / 25 % 4) | ((i / 100 % 4) << 16)));
    let near = Arg::Buffer(Buffer::from_words(near.collect()));
    let below = Arg::Buffer(Buffer::from_words(below.collect()));
    for tininess in Tininess::ALL {
        for profile in [Profile { tininess, ..Profile::NVIDIA }, Profile { tininess, ..keeps }] {
            for (name, body) in names.iter().zip(bodies) {
                for args in [[near.clone(), below.clone()], [pairs(n, 1, false), pairs(n, 2, false)]] {
                    let args = args.into_iter().chain([pairs(n, 3, false), zeros(n)]).collect();
                    Case { profile, ..Case::line(&program, name, n as u32 / 128, 128, args) }.hold(body);
                }
            }
        }
    }
}

/// Divergent lanes, guards, narrow loads and stores of every pattern, stores before other instructions.
const KERNELS: [(&str, &str); 24] = [
    // Numbers with a pattern that wraps, from the interpreter between two barriers.
    ("wraps", "add.u32 %r5, %r2, 65500; bar.sync 0; cvt.u16.u32 %h7, %r5; bar.sync 0; add.f16x2 %r0, %r11, %r12; mul.f16x2 %r0, %r0, %r13; add.f16x2 %r0, %r0, %r11; mov.b32 %r5, {%h7, %h1}; xor.b32 %r0, %r0, %r5;"),
    ("either", "@%p1 bra A; mul.f16x2 %r0, %r11, %r12; bra B; A: add.f16x2 %r0, %r11, %r13; B:"),
    ("one", "mov.b16 %h0, %h1; @%p1 bra B; fma.rn.f16 %h0, %h1, %h3, %h0; B: mov.b32 %r0, {%h0, %h2};"),
    ("guards", "mov.b16 %h0, %h1; @%p1 add.f16 %h0, %h0, %h2; @!%p1 max.bf16 %h0, %h0, %h3; @%p4 mov.b16 %h0, 0x3c00; mov.b32 %r0, {%h2, %h0};"),
    (
        "rounds",
        "and.b32 %r3, %r2, 15; mov.u32 %r4, 0; mov.b32 %r0, %r12; L: fma.rn.f16x2 %r0, %r0, %r11, %r13; add.u32 %r4, %r4, 1;
         setp.lt.u32 %p2, %r4, %r3; @%p2 bra L;",
    ),
    (
        "halves",
        "mov.b16 %h0, 0x0000; mov.b16 %h7, %h1; L: add.rn.bf16 %h0, %h0, %h7; shr.u16 %h7, %h7, 1; setp.gt.u16 %p2, %h7, 99;
         @%p2 bra L; mov.b32 %r0, {%h0, %h7};",
    ),
    (
        "stores",
        "@%p1 bra A; add.f16x2 %r0, %r11, %r11; st.global.u16 [%x8], %r0; exit;
         A: mul.bf16x2 %r0, %r11, %r11; st.global.b32 [%x8], %r0; ret;",
    ),
    ("gone", "mov.b32 %r0, %r11; @%p1 exit; add.f16x2 %r0, %r11, %r12; @%p4 exit; neg.f16x2 %r0, %r0;"),
    ("low", "add.f16x2 %r0, %r11, %r12; mov.b32 {%h0, %h7}, %r0; st.global.b16 [%x8], %h7; st.global.b16 [%x8+2], %h0; exit;"),
    ("bytes", "add.u32 %r5, %r11, %r12; cvt.u16.u32 %h0, %r5; st.global.u8 [%x8+1], %h0; st.global.u8 [%x8+3], %r5; exit;"),
    ("dense", "mul.wide.u32 %x9, %r1, 2; add.u64 %x10, %x4, %x9; add.u64 %x11, %x1, %x9; ld.global.u16 %h0, [%x11+6]; add.f16 %h0, %h0, %h1; st.global.u16 [%x10], %h0; exit;"),
    ("packed", "cvt.u64.u32 %x9, %r1; add.u64 %x10, %x4, %x9; add.u64 %x11, %x1, %x9; ld.global.s8 %h0, [%x11+3]; add.s16 %h0, %h0, %h1; st.global.u8 [%x10], %h0; exit;"),
    ("apart", "ld.global.s16 %r5, [%x5+2]; ld.global.u16 %h0, [%x6]; ld.global.u8 %r6, [%x7+3]; ld.global.s8 %h7, [%x7+1]; cvt.s32.s16 %r7, %h7; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; mov.b32 %r0, {%h0, %h7}; xor.b32 %r0, %r0, %r5;"),
    ("pairs", "ld.global.v2.u16 {%h0, %h7}, [%x5]; ld.global.v4.u8 {%h8, %h9, %h10, %h11}, [%x6]; add.u16 %h0, %h0, %h9; add.u16 %h7, %h7, %h11; mov.b32 %r0, {%h7, %h0};"),
    ("same", "ld.global.u16 %h0, [%x1+6]; ld.global.s8 %h7, [%x1+9]; ld.global.s8 %h8, [%x1+10]; ld.global.s8 %h9, [%x1+13]; mov.b32 %r5, {%h7, %h0}; mov.b32 %r6, {%h8, %h1}; mov.b32 %r7, {%h9, %h2}; shl.b32 %r6, %r6, 1; add.u32 %r0, %r5, %r6; add.u32 %r0, %r0, %r7;"),
    ("parted", "mov.b16 %h0, %h3; @%p1 bra A; ld.global.u16 %h0, [%x5+34]; A: @%p4 ld.global.s8 %h0, [%x6+5]; mov.b32 %r0, {%h0, %h4};"),
    ("scatter", "@%p1 bra A; st.global.u16 [%x8+2], %h1; exit; A: st.global.u8 [%x8+1], %h3; exit;"),
    // Stores wait for what is behind them, but not for what changes their operands or reads memory.
    ("early", "fma.rn.f16x2 %r0, %r11, %r12, %r13; st.global.b32 [%x8], %r0; mul.f16x2 %r5, %r0, %r11; add.f16x2 %r6, %r5, %r12; st.global.b32 [%x7], %r5; max.f16x2 %r7, %r6, %r5; st.global.b32 [%x6], %r7; exit;"),
    ("reused", "add.f16x2 %r0, %r11, %r12; st.global.b32 [%x8], %r0; mul.f16x2 %r0, %r0, %r11; st.global.b32 [%x7], %r0; add.f16x2 %r0, %r0, %r12; st.global.b32 [%x6], %r0; exit;"),
    ("moved", "add.f16x2 %r0, %r11, %r12; st.global.b32 [%x8], %r0; add.u64 %x8, %x8, 4096; mul.f16x2 %r0, %r0, %r11; st.global.b32 [%x7], %r0; exit;"),
    ("again", "add.f16x2 %r0, %r11, %r12; st.global.b32 [%x8], %r0; ld.global.b32 %r5, [%x8]; mul.f16x2 %r5, %r5, %r11; st.global.b32 [%x7], %r5; exit;"),
    // The interpreter runs some lanes again, whose stores must not have been done.
    ("redone", "@%p1 bra A; add.f16x2 %r0, %r11, %r12; st.global.b32 [%x5], %r0; exit; A: st.global.b32 [%x5], %r13; mov.b64 %d1, {%r11, %r12}; fma.rn.f64 %d2, %d1, %d1, %d1; mov.b64 %x10, %d2; cvt.u32.u64 %r0, %x10; st.global.b32 [%x8], %r0; exit;"),
    ("undone", "@!%p1 bra A; add.f16x2 %r0, %r11, %r12; st.global.b32 [%x5], %r0; exit; A: st.global.b32 [%x5], %r13; mov.b64 %d1, {%r11, %r12}; fma.rn.f64 %d2, %d1, %d1, %d1; mov.b64 %x10, %d2; cvt.u32.u64 %r0, %x10; st.global.b32 [%x8], %r0; exit;"),
    ("twice", "add.f16x2 %r0, %r11, %r12; st.global.b32 [%x8], %r0; mul.f16x2 %r5, %r0, %r11; st.global.b32 [%x8], %r5; max.f16x2 %r0, %r5, %r11; exit;"),
];

fn parting() -> Program {
    let common = "setp.lt.f16 %p1, %h2, 0x3880; and.b32 %r5, %r2, 3; setp.eq.u32 %p4, %r5, 1;";
    program(KERNELS.into_iter().map(|(name, body)| (name.into(), format!("{common} {body}")))).0
}

fn parting_cases(program: &Program, n: usize, block: u32, tame: bool) -> impl Iterator<Item = Case<'_>> {
    KERNELS.into_iter().map(move |(name, _)| {
        let args = vec![pairs(n + 16, 1, tame), pairs(n + 16, 2, tame), pairs(n, 3, tame), zeros(4 * 4096 + n)];
        Case::line(program, name, n as u32 / block, block, args)
    })
}

#[test]
fn narrow_registers_where_lanes_part() {
    let program = parting();
    for (tame, block) in [(true, 256), (false, 64), (true, 128), (false, 32), (true, 16), (false, 33)] {
        for case in parting_cases(&program, 2112 / block as usize * block as usize, block, tame) {
            let share = case.hold(&format!("{} by {block}", case.entry));
            // Where another lane's store may follow a store, it is the interpreter's; behind what needs the stores done first
            // code may begin that is too short to be worth it.
            let cut = matches!(
                case.entry,
                "low" | "bytes" | "scatter" | "reused" | "moved" | "again" | "stores" | "wraps" | "redone" | "undone"
            );
            assert!(!has_native() || block == 33 || cut || share > 0.7, "{} by {block}: {share} native", case.entry);
        }
    }
}

#[test]
fn the_same_error_of_narrow_accesses() {
    let program = parting();
    for short in [1, 2, 3, 5, 17, 64, 700, 16_384, 16_386] {
        for mut case in parting_cases(&program, 512, 128, false) {
            for at in 0..case.args.len() {
                let given = case.args[at].clone();
                let Arg::Buffer(buffer) = &given else { continue };
                let left = buffer.len().saturating_sub(short);
                case.args[at] = Arg::Buffer(Buffer::from_bytes(&buffer.to_bytes()[..left]));
                case.hold(&format!("{}, argument {at} shorter by {short}", case.entry));
                case.args[at] = given;
            }
        }
    }
}

/// As with other divergent lanes, native code may go on where the interpreter gives up.
#[test]
fn limits_of_narrow_kernels() {
    let program = parting();
    for limit in (1..300).step_by(11) {
        for mut case in parting_cases(&program, 512, 128, true) {
            let (free, _) = case.run(Engine::Native, 1);
            case.step_limit = limit;
            let (expected, _) = case.run(Engine::Interpreter, 1);
            let (got, _) = case.run(Engine::Native, 1);
            let agrees = if expected.is_ok() || got.is_err() { got == expected } else { got == free };
            assert!(agrees, "{}, limit {limit}: {}", case.entry, difference(&got, &expected));
        }
    }
}
