//! Every form that PTX is lowered to, one snippet a form, over directed and random operands, against a plain closure.
//!
//! A snippet finds its operands in registers 1 to 4 of every kind (`%h1` 16 bits, `%r1` 32, `%x1` 64, `%f1` f32,
//! `%d1` f64, `%p1` the lowest bit), all cut from the same four 64-bit numbers, and leaves its result in register 0 of
//! the kind that stands first in it, if need be in a comment; a second result, after `|`, in `%p0`.

mod bits;
mod comparisons;
mod conversions;
mod floats;
mod integers;
mod memory;
mod warps;

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_ir::Program;

/// What a form should give a thread, by all threads' operands and its place among them: its result, and the predicate
/// beside it where there is one.
type Judge = Box<dyn Fn(&[[u64; 4]], usize) -> (u64, bool)>;

/// A snippet and its judge.
struct Form {
    text: String,
    judge: Judge,
}

/// The forms of a test.
#[derive(Default)]
struct Forms(Vec<Form>);

impl Forms {
    fn add(&mut self, text: impl Into<String>, judge: impl Fn([u64; 4]) -> u64 + 'static) {
        self.pair(text, move |operands| (judge(operands), false));
    }
    fn pair(&mut self, text: impl Into<String>, judge: impl Fn([u64; 4]) -> (u64, bool) + 'static) {
        self.among(text, move |rows, row| judge(rows[row]));
    }
    fn among(&mut self, text: impl Into<String>, judge: impl Fn(&[[u64; 4]], usize) -> (u64, bool) + 'static) {
        self.0.push(Form { text: text.into(), judge: Box::new(judge) });
    }
    /// Runs all of them.
    fn check(self) {
        let rows = operands();
        let mut wrong = Vec::new();
        for form in &self.0 {
            if let Err(message) = form.check(&rows) {
                wrong.push(message);
            }
        }
        assert!(wrong.is_empty(), "{} of {} forms are wrong:\n{}", wrong.len(), self.0.len(), wrong.join("\n"));
    }
}

const ROWS: usize = 1536;

/// Numbers at the edges of every width, as integers and as floats.
const EDGES: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    17,
    23,
    24,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x3c00,
    0x3c01,
    0x03ff,
    0x0400,
    0x7bff,
    0x7c00,
    0x7c01,
    0x7e00,
    0x7fff,
    0x8000,
    0x8001,
    0xfbff,
    0xfc00,
    0xffff,
    0x7f7f,
    0x7f80,
    0xff80,
    0x3f80,
    0x0080,
    0x007f,
    0x5410,
    0x1_0000,
    0x3c00_bc00,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_fffe,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x337f_ffff,
    0x0000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7f80_0001,
    0x7fc0_0000,
    0x4f00_0000,
    0xcf00_0000,
    0x4b00_0001,
    0x3f00_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x0010_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x36a0_0000_0000_0000,
    0x3810_0000_0000_0000,
    0x47ef_ffff_f000_0000,
    0x43e0_0000_0000_0000,
];

fn operands() -> Vec<[u64; 4]> {
    let mut bits = roundonce_oracle::generate::SplitMix64(0x243f_6a88_85a3_08d3);
    let mut random = move || bits.next_bits();
    (0..ROWS)
        .map(|row| {
            core::array::from_fn(|_| {
                let (pick, bits, length) = (random(), random(), random() % 64);
                match (row % 4, pick % 4) {
                    (0, _) | (1, 0) => EDGES[bits as usize % EDGES.len()],
                    // Near an edge, in any of the halves.
                    (1, 1) => EDGES[bits as usize % EDGES.len()] << ((pick >> 2 & 1) * 32) | (pick >> 8) << 40,
                    (2, _) => bits >> length,
                    _ => bits,
                }
            })
        })
        .collect()
}

impl Form {
    /// The letter of the result's register.
    fn kind(&self) -> char {
        let at = self.text.find("%").expect("a result");
        self.text[at + 1..].chars().next().expect("a letter")
    }

    fn module(&self) -> String {
        let mut body = String::new();
        for place in 1..5 {
            body += &format!(
                "cvt.u32.u64 %r{place}, %x{place}; cvt.u16.u64 %h{place}, %x{place}; mov.b32 %f{place}, %r{place}; \
                 mov.b64 %d{place}, %x{place}; and.b32 %r0, %r{place}, 1; setp.ne.u32 %p{place}, %r0, 0;\n"
            );
        }
        let result = match self.kind() {
            'h' => "cvt.u64.u16 %x5, %h0;",
            'r' => "cvt.u64.u32 %x5, %r0;",
            'x' => "mov.b64 %x5, %x0;",
            'f' => "mov.b32 %r0, %f0; cvt.u64.u32 %x5, %r0;",
            'd' => "mov.b64 %x5, %d0;",
            'p' => "selp.u64 %x5, 1, 0, %p0;",
            other => panic!("no register %{other}"),
        };
        format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
             .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<12>; .reg .b64 %x<9>; .reg .f32 %f<9>; .reg .f64 %d<9>;\n\
             .reg .b64 %y<9>; .reg .b128 %q<4>; .shared .align 16 .b8 shared[65536];\n\
             ld.param.u64 %y1, [in]; ld.param.u64 %y2, [out];\n\
             mov.u32 %r9, %tid.x; mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x; mad.lo.u32 %r9, %r10, %r11, %r9;\n\
             mad.wide.u32 %y1, %r9, 32, %y1; mad.wide.u32 %y2, %r9, 16, %y2;\n\
             ld.global.v2.u64 {{%x1, %x2}}, [%y1]; ld.global.v2.u64 {{%x3, %x4}}, [%y1+16];\n{body}\
             setp.ne.u32 %p0, 0, 0;\n{}\n{result}\nselp.u64 %x6, 1, 0, %p0;\nst.global.v2.u64 [%y2], {{%x5, %x6}};\n\
             ret;\n}}\n",
            self.text
        )
    }

    fn check(&self, rows: &[[u64; 4]]) -> Result<(), String> {
        let text = self.module();
        let parsed = roundonce_ptx::parse(&text);
        if let Some(finding) = parsed.findings.first() {
            return Err(format!("{}: {finding}", self.text));
        }
        let program =
            roundonce_ptx::lower(&parsed.module, None).map_err(|findings| format!("{}: {}", self.text, findings[0]))?;
        [Engine::Native, Engine::Interpreter].into_iter().try_for_each(|engine| self.check_by(engine, &program, rows))
    }

    fn check_by(&self, engine: Engine, program: &Program, rows: &[[u64; 4]]) -> Result<(), String> {
        let input: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let args = vec![Arg::Buffer(Buffer::from_bytes(&input)), Arg::Buffer(Buffer::zeros(rows.len() * 16))];
        let (grid, block) = ([rows.len() as u32 / 256, 1, 1], [256, 1, 1]);
        let launch = Launch {
            program,
            entry: None,
            grid,
            block,
            args,
            dynamic_shared: 0,
            options: Options { engine, ..Options::default() },
        };
        let report = launch.run().map_err(|error| format!("{}: {error}", self.text))?;
        let bytes = report.buffers[1].as_ref().expect("the output").to_bytes();
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|byte| bytes[at * 8 + byte]));
        let (mask, both) = match self.kind() {
            'h' => (0xffff, true),
            'r' | 'f' => (0xffff_ffff, true),
            'p' => (1, false),
            _ => (u64::MAX, true),
        };
        for (row, operands) in rows.iter().enumerate() {
            let got = (word(2 * row), both && word(2 * row + 1) != 0);
            let (value, second) = (self.judge)(rows, row);
            if got != (value & mask, second) {
                return Err(format!(
                    "{} of {operands:x?}, {engine:?}: {:x} {}, expected {:x} {second}",
                    self.text,
                    got.0,
                    got.1,
                    value & mask
                ));
            }
        }
        Ok(())
    }
}
