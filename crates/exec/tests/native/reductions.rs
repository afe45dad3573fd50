//! Reductions among the lanes of a warp, at random: vectors that are the same, and lanes that are not read.

use super::{Case, has_native, lowered, random, words, zeros};
use std::fmt::Write;

const VALUES: usize = 5;

/// Kernels `k0` on. `%r0` to `%r4` are values, of which each thread has five words in the result; `%r8` is the lane in its warp, `%r9` the warp.
fn program(bodies: &[String]) -> roundonce_ir::Program {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, body) in bodies.iter().enumerate() {
        write!(
            text,
            ".visible .entry k{number}(.param .u64 x, .param .u64 y) {{
             .reg .pred %p<400>; .reg .f32 %f<400>; .reg .b32 %r<400>; .reg .b64 %rd<8>; .reg .f64 %d<4>; .shared .align 4 .b8 t[64];
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u64 %rd6, %rd1; mov.u32 %r10, %tid.x; mov.u32 %r11, %ctaid.x; mov.u32 %r12, %ntid.x;
             mad.lo.u32 %r11, %r11, %r12, %r10; mul.wide.u32 %rd3, %r11, 4; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r11, 20; add.u64 %rd2, %rd2, %rd3;
             ld.global.u32 %r0, [%rd1]; mov.b32 %f0, %r0; mul.f32 %f1, %f0, %f0; mov.b32 %r1, %f1; add.f32 %f2, %f0, %f1; mov.b32 %r2, %f2;
             xor.b32 %r3, %r0, 0x55555; add.u32 %r4, %r11, 7; and.b32 %r8, %r10, 31; shr.u32 %r9, %r10, 5;
             {body}
             ret; }}\n"
        )
        .unwrap();
    }
    lowered(&text)
}

/// Writes a kernel's body.
struct Writer<R> {
    next: R,
    labels: u32,
    /// The registers of the values, and the first that is new: most results have one of their own, as compilers write them.
    values: [u32; VALUES],
    fresh: u32,
    body: String,
}

impl<R: FnMut() -> u64> Writer<R> {
    fn new(next: R) -> Writer<R> {
        Writer { next, labels: 0, values: [0, 1, 2, 3, 4], fresh: 20, body: String::new() }
    }
    fn below(&mut self, count: usize) -> usize {
        ((self.next)() % count as u64) as usize
    }
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    fn value(&mut self) -> u32 {
        let values = self.values;
        self.pick(&values)
    }
    /// A register for a result; on a side of a branch one that is there.
    fn result(&mut self, on_side: bool) -> u32 {
        let value = self.below(VALUES);
        if !on_side && self.below(6) > 0 {
            self.values[value] = self.fresh;
            self.fresh += 1;
        }
        self.values[value]
    }
    fn new_register(&mut self) -> u32 {
        self.fresh += 1;
        self.fresh - 1
    }
    /// Of floats too each result has a register of its own.
    fn float(&mut self, op: &str, d: u32, args: [u32; 2]) {
        let [x, y, z] = [(); 3].map(|()| self.new_register());
        let [a, b] = args;
        write!(
            self.body,
            "mov.b32 %f{x}, %r{a}; mov.b32 %f{y}, %r{b}; {op} %f{z}, %f{x}, %f{y}; mov.b32 %r{d}, %f{z}; "
        )
        .unwrap();
    }
    fn join(&mut self, d: u32, mut args: [u32; 2]) {
        let op = self.pick(&[
            "add.f32",
            "max.f32",
            "min.f32",
            "mul.f32",
            "sub.f32",
            "add.rz.ftz.f32",
            "add.u32",
            "xor.b32",
            "max.s32",
            "min.u32",
            "sub.u32",
            "or.b32",
            "and.b32",
            "mul.lo.u32",
        ]);
        if self.below(2) == 0 {
            args.reverse();
        }
        let [a, b] = args;
        match op.contains(".f32") {
            true => self.float(op, d, args),
            false => write!(self.body, "{op} %r{d}, %r{a}, %r{b}; ").unwrap(),
        }
    }
    /// A condition of lanes in a predicate.
    fn condition(&mut self) -> u32 {
        let of = self.pick(&["%r8", "%r8", "%r8", "%r10", "%r9", "%r11"]);
        let comparison = self.pick(&["eq.s32", "ne.s32", "gt.u32", "lt.u32", "ge.u32", "le.s32", "gt.s32"]);
        let limit = self.pick(&[0, 0, 1, 3, 7, 8, 15, 16, 20, 31, 33]);
        let pred = self.new_register();
        write!(self.body, "setp.{comparison} %p{pred}, {of}, {limit}; ").unwrap();
        pred
    }
    fn shuffle(&mut self, d: u32, a: u32) {
        let mode = self.pick(&["bfly", "bfly", "down", "down", "up", "idx"]);
        let by = self.pick(&[1, 2, 4, 8, 16, 16, 3, 24, 0]);
        let limits = if mode == "up" { 0 } else { 31 } | self.pick(&[0, 0, 0, 0x1000, 0x1800]);
        write!(self.body, "shfl.sync.{mode}.b32 %r{d}, %r{a}, {by}, {limits}, -1; ").unwrap();
    }
    /// A few steps of a sum or a maximum, as everybody writes them; or of a difference.
    fn reduction(&mut self) {
        let (mode, mut value) = (self.pick(&["bfly", "down"]), self.value());
        let op = self.pick(&["add.f32", "max.f32", "min.ftz.f32", "add.u32", "max.u32", "sub.u32", "sub.f32"]);
        let mut steps = vec![16, 8, 4, 2, 1];
        if self.below(3) == 0 {
            steps.reverse();
        }
        steps.truncate(1 + self.below(5));
        for by in steps {
            let (given, d) = (self.new_register(), self.result(false));
            write!(self.body, "shfl.sync.{mode}.b32 %r{given}, %r{value}, {by}, 31, -1; ").unwrap();
            // What is given may be read by others too.
            if self.below(8) == 0 {
                let other = self.result(false);
                self.join(other, [given, value]);
            }
            match op.contains(".f32") {
                true => self.float(op, d, [value, given]),
                false => write!(self.body, "{op} %r{d}, %r{value}, %r{given}; ").unwrap(),
            }
            value = d;
        }
    }
    fn statement(&mut self, on_side: bool) {
        let (a, b) = (self.value(), self.value());
        match self.below(8) {
            0..=2 if !on_side => self.reduction(),
            3 if !on_side => {
                let given = self.new_register();
                self.shuffle(given, a);
                let d = self.result(false);
                self.join(d, [b, given]);
            }
            4 if !on_side => {
                let d = self.result(false);
                self.shuffle(d, a);
            }
            kind => {
                let d = self.result(on_side);
                let lanewise = [
                    "mov.u32 %rD, %rA;",
                    "cvt.rn.f32.s32 %f1, %rA; ex2.approx.ftz.f32 %f2, %f1; mov.b32 %rD, %f2;",
                    "mov.b32 %f1, %rA; mov.b32 %f2, %rB; div.rn.f32 %f3, %f1, %f2; mov.b32 %rD, %f3;",
                    "mov.b32 %f1, %rA; cvt.f64.f32 %d1, %f1; fma.rn.f64 %d2, %d1, %d1, 0d3FF0000000000000; cvt.rn.f32.f64 %f2, %d2; mov.b32 %rD, %f2;",
                    "mul.wide.s32 %rd4, %rA, %rB; shr.u64 %rd5, %rd4, 7; cvt.u32.u64 %rD, %rd5;",
                    "add.rn.f16x2 %rD, %rA, %rB;",
                    "and.b32 %r16, %rA, 511; mul.wide.u32 %rd4, %r16, 4; add.u64 %rd5, %rd6, %rd4; ld.global.u32 %rD, [%rd5];",
                    "setp.lt.s32 %p1, %rA, %rB; selp.b32 %rD, %r8, %rB, %p1;",
                ];
                match kind {
                    5 | 6 => {
                        let text = self.pick(&lanewise).replace("%rD", &format!("%r{d}"));
                        let text = text.replace("%rA", &format!("%r{a}")).replace("%rB", &format!("%r{b}"));
                        write!(self.body, "{text} ").unwrap();
                    }
                    _ => self.join(d, [a, b]),
                }
            }
        }
    }
    /// A branch past what is written.
    fn side(&mut self, write: impl FnOnce(&mut Self)) {
        let (pred, label) = (self.condition(), self.labels);
        self.labels += 1;
        write!(self.body, "@%p{pred} bra L{label}; ").unwrap();
        write(self);
        write!(self.body, "L{label}: ").unwrap();
    }
    fn store(&mut self, place: usize) {
        write!(self.body, "st.global.u32 [%rd2+{}], %r{}; ", 4 * place, self.values[place]).unwrap();
    }
    /// A value of each warp by way of shared memory, as the sum of a block is made.
    fn exchange(&mut self) {
        let (label, value, to) = (self.labels, self.value(), self.result(false));
        self.labels += 1;
        let mask = self.pick(&[0, 1, 3]);
        write!(
            self.body,
            "bar.sync 0; mov.u32 %r16, t; shl.b32 %r17, %r9, 2; add.u32 %r17, %r16, %r17; setp.ne.s32 %p1, %r8, 0; @%p1 bra L{label};
             st.shared.u32 [%r17], %r{value}; L{label}: bar.sync 0; and.b32 %r18, %r10, {mask}; shl.b32 %r18, %r18, 2; add.u32 %r18, %r16, %r18;
             ld.shared.u32 %r{to}, [%r18]; "
        )
        .unwrap();
    }
    fn body(mut self) -> String {
        let loops = self.below(5) == 0;
        if loops {
            self.body.push_str("mov.u32 %r19, 3; M: ");
        }
        for _ in 0..3 + self.below(6) {
            match self.below(8) {
                0 | 1 => self.side(|writer| {
                    writer.statement(true);
                    if writer.below(2) == 0 {
                        let place = writer.below(VALUES);
                        writer.store(place);
                    }
                }),
                2 => self.exchange(),
                _ => self.statement(false),
            }
        }
        if loops {
            self.body.push_str("sub.u32 %r19, %r19, 1; setp.ne.u32 %p2, %r19, 0; @%p2 bra M; ");
        }
        // Some values of some lanes are read.
        for place in 0..VALUES {
            match self.below(4) {
                0 => {}
                1 => self.store(place),
                _ => self.side(|writer| writer.store(place)),
            }
        }
        self.body
    }
}

/// 600 kernels, or as many as `ROUNDONCE_PROGRAMS` says.
#[test]
fn at_random() {
    let count: u64 = std::env::var("ROUNDONCE_PROGRAMS").map_or(600, |count| count.parse().unwrap());
    let mut shares = 0.0;
    for first in (0..count).step_by(200) {
        let seeds = first..count.min(first + 200);
        let bodies: Vec<String> = seeds.map(|seed| Writer::new(random(seed + 1)).body()).collect();
        let program = program(&bodies);
        for (number, body) in bodies.iter().enumerate() {
            let (block, n) = ([32, 64, 128, 256, 96][number % 5], 768);
            let entry = format!("k{number}");
            let args = vec![words(n, number as u64, 20), zeros(5 * n)];
            shares += Case::line(&program, &entry, n as u32 / block, block, args).hold(&format!("{body} by {block}"));
        }
    }
    let share = shares / count as f64;
    assert!(!has_native() || share > 0.7, "{share} native");
}

#[test]
fn by_hand() {
    let bodies = [
        // A branch on a predicate that is false the first time, as all registers are, and known of each lane later.
        "mov.u32 %r19, 2; shfl.sync.down.b32 %r20, %r0, 16, 31, -1; add.u32 %r21, %r0, %r20; M: @%p1 bra S; st.global.u32 [%rd2], %r21;
         S: setp.ne.s32 %p1, %r8, 0; sub.u32 %r19, %r19, 1; setp.ne.u32 %p2, %r19, 0; @%p2 bra M;",
        // Of a copy of what is shuffled fewer lanes are read.
        "shfl.sync.bfly.b32 %r20, %r3, 24, 31, -1; mov.b32 %f21, %r20; mov.b32 %f22, %r3; mul.f32 %f23, %f21, %f22; mov.b32 %r21, %f23;
         setp.gt.s32 %p1, %r8, 15; @%p1 bra L; st.global.u32 [%rd2], %r21; L:",
        // Vectors that change places and lanes that do too.
        "shfl.sync.bfly.b32 %r20, %r0, 17, 31, -1; add.u32 %r21, %r0, %r20; shfl.sync.bfly.b32 %r22, %r21, 9, 31, -1; add.u32 %r23, %r21, %r22;
         st.global.u32 [%rd2], %r21; st.global.u32 [%rd2+4], %r23;",
    ];
    let program = program(&bodies.map(String::from));
    for (number, body) in bodies.iter().enumerate() {
        let entry = format!("k{number}");
        let share = Case::line(&program, &entry, 2, 64, vec![words(128, 1, 0), zeros(5 * 128)]).hold(body);
        assert!(!has_native() || share > 0.7, "{body}: {share} native");
    }
}
