//! Matrix multiply-adds of PTX as SPIR-V: every spelling of every row of machines, on elements of several kinds, gives the bits of
//! the source.

use roundonce::arith::{Element, Format, Profile, ScaleFormat};
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::ptx::matrix::{Family, MatrixInstruction, ROWS};
use roundonce::translate::kernel::{Options as Translating, spirv};

/// Warps that multiply, each with elements of one manner.
const WARPS: usize = 32;
const LANES: usize = 32;

struct Random(u64);

impl Random {
    /// Marsaglia's xorshift, its upper bits.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// The bits of an element in its place of a register.
    fn element(&mut self, element: Element, manner: usize) -> u64 {
        let fields = element.fields();
        let (sign, fraction) = (self.next() & 1, self.next() & fields.frac_mask());
        let top = if element.largest_finite() < fields.infinity() { fields.exp_max() - 1 } else { fields.exp_max() };
        let middle = fields.bias() as u64;
        let field = match manner {
            // Anything, infinities and NaNs too.
            0 => self.next() & fields.exp_max(),
            // Numbers near one, and a few that are special.
            1 if self.next().is_multiple_of(256) => fields.exp_max(),
            1 => (middle + self.next() % 4).saturating_sub(2),
            // Numbers of the whole range.
            2 => self.next() % (top + 1),
            // Subnormals and their neighbours.
            3 => self.next() % 2,
            // Mostly zeros.
            4 if !self.next().is_multiple_of(4) => 0,
            4 => (middle + self.next() % 8).saturating_sub(4),
            // Large numbers.
            5 => top - self.next() % top.clamp(1, 3),
            // Numbers that cancel: few fractions, one exponent.
            6 => middle,
            _ => (middle + self.next() % 40).saturating_sub(20).min(top),
        };
        let fraction = match manner {
            4 if field == 0 => 0,
            6 => fraction & (fields.smallest_normal() >> 1),
            _ => fraction,
        };
        let bits = sign << (fields.width() - 1) | field << fields.frac_bits() | fraction;
        // A quarter of the words has garbage below TF32, which nothing reads.
        if element == Element::Float(Format::TF32) { bits << 13 | self.next() & self.next() & 0x1fff } else { bits }
    }

    /// A register of elements.
    fn register(&mut self, element: Element, manner: usize) -> u64 {
        let stride = element.stride();
        (0..(32 / stride).max(1)).fold(0, |all, at| all | self.element(element, manner) << (at * stride))
    }

    fn scales(&mut self, format: ScaleFormat, manner: usize) -> u64 {
        (0..4).fold(0, |all, at| {
            let bits = match (format, manner) {
                (_, 0) => self.next() & 0xff,
                (ScaleFormat::Ue8m0, 2) => self.next() % 255,
                (ScaleFormat::Ue8m0, _) => 124 + self.next() % 8,
                (ScaleFormat::Ue4m3, _) => self.next() % 0x7f,
            };
            all | bits << (8 * at)
        })
    }
}

/// An instruction, and how many registers a lane has of a, b, c and d.
struct Instruction {
    text: String,
    read: MatrixInstruction,
    registers: [usize; 4],
}

impl Instruction {
    fn of(text: &str) -> Instruction {
        let read = MatrixInstruction::parse(text).unwrap();
        let [m, n, k] = [read.m, read.n, read.k].map(|size| size as usize);
        let is_f16 = read.a == Element::Float(Format::F16);
        let sizes = match read.family {
            Family::Mma if k == 4 && is_f16 => [4, 4, 8, 8],
            Family::Wmma if is_f16 => [16, 16, m * n / LANES, m * n / LANES],
            _ => [m * k / LANES, n * k / LANES, m * n / LANES, m * n / LANES],
        };
        let types = [read.a, read.b, Element::Float(read.c), Element::Float(read.d)];
        let mut registers = [0; 4];
        for ((registers, size), ty) in registers.iter_mut().zip(sizes).zip(types) {
            *registers = size * ty.stride() as usize / ty.stride().max(32) as usize;
        }
        // `wmma` names no factors that are f16.
        let is_short = read.family == Family::Wmma && is_f16;
        let text = if is_short { text.replacen(".f16.f16.", ".", 1) } else { text.to_owned() };
        Instruction { text, read, registers }
    }

    fn is_double(&self) -> bool {
        self.read.d == Format::F64
    }

    /// Words of 64 bits that a lane reads: its registers, and two of scales.
    fn reads(&self) -> usize {
        self.registers[..3].iter().sum::<usize>() + 2
    }

    /// A kernel: each register is a word of the thread's, of 64 bits.
    fn kernel(&self, target: &str) -> String {
        let (ty, name) = if self.is_double() { ("b64", "d") } else { ("b32", "r") };
        let mut text = format!(
            ".version 9.2\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{{\n\
             .reg .b32 i, n, m, s<2>, r<80>;\n.reg .b64 in, out, at, d<80>;\n.reg .b16 h<4>;\n\
             ld.param.u64 in, [x];\nld.param.u64 out, [y];\nmov.u32 i, %ctaid.x;\nmov.u32 n, %ntid.x;\nmov.u32 m, %tid.x;\n\
             mad.lo.u32 i, i, n, m;\nmul.wide.u32 at, i, {};\nadd.u64 in, in, at;\nmul.wide.u32 at, i, {};\nadd.u64 out, out, at;\n",
            8 * self.reads(),
            8 * self.registers[3],
        );
        let mut lists = Vec::new();
        let mut number = 0;
        for count in self.registers {
            let names: Vec<String> = (number..number + count).map(|at| format!("{name}{at}")).collect();
            number += count;
            lists.push(names);
        }
        for (place, register) in lists[..3].iter().flatten().enumerate() {
            text += &format!("ld.global.{ty} {register}, [in+{}];\n", 8 * place);
        }
        let mut scales = String::new();
        if self.read.scale.is_some() {
            let first = 8 * (self.reads() - 2);
            // Of fewer scales than four, the upper ones of another thread.
            let byte = if self.text.contains("4X") { 0 } else { 2 };
            text += &format!("ld.global.b32 s0, [in+{first}];\nld.global.b32 s1, [in+{}];\n", first + 8);
            text += &format!("mov.b16 h0, {byte};\nmov.b16 h1, 1;\nmov.b16 h2, 0;\nmov.b16 h3, 3;\n");
            scales = ", s0, {h0, h1}, s1, {h2, h3}".to_owned();
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| lists[at].join(", "));
        text += &format!("{} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}}{scales};\n", self.text);
        for (place, register) in lists[3].iter().enumerate() {
            text += &format!("st.global.{ty} [out+{}], {register};\n", 8 * place);
        }
        text + "ret;\n}\n"
    }

    fn inputs(&self, random: &mut Random) -> Vec<u8> {
        let mut all = Vec::new();
        for thread in 0..WARPS * LANES {
            let manner = thread / LANES % 8;
            let types = [self.read.a, self.read.b, Element::Float(self.read.c)];
            for (ty, count) in types.into_iter().zip(self.registers) {
                (0..count).for_each(|_| all.extend(random.register(ty, manner).to_le_bytes()));
            }
            for _ in 0..2 {
                let bits = self.read.scale.map_or(0, |scale| random.scales(scale.format, manner));
                all.extend(bits.to_le_bytes());
            }
        }
        all
    }
}

fn run(ready: &Ready, inputs: &[u8], words: usize) -> Vec<u64> {
    let launch = Launch {
        program: &ready.program,
        entry: None,
        grid: [(WARPS / 4) as u32, 1, 1],
        block: [4 * LANES as u32, 1, 1],
        args: vec![Arg::Buffer(Buffer::from_bytes(inputs)), Arg::Buffer(Buffer::zeros(8 * words))],
        dynamic_shared: 0,
        options: Options { profile: Profile::NVIDIA, ..Options::default() },
    };
    let report = launch.run().unwrap_or_else(|error| panic!("{error:?}"));
    let bytes = report.buffers[1].as_ref().unwrap().to_bytes();
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// How many results were compared.
fn compare(text: &str, target: u32, random: &mut Random) -> usize {
    let instruction = Instruction::of(text);
    let letter = if text.contains("kind::") { "a" } else { "" };
    let source = instruction.kernel(&format!("sm_{target}{letter}"));
    let ready = Ready::read(Source::Ptx(&source), &Choice::default()).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
    let translation = spirv::write(&ready.program, &Translating::default());
    let translation = translation.unwrap_or_else(|findings| panic!("{findings:#?}\n{source}"));
    let after = Ready::read(Source::SpirvText(&translation.text), &Choice::default());
    let after = after.unwrap_or_else(|why| panic!("{why:?}\n{}", translation.text));
    let inputs = instruction.inputs(random);
    let words = WARPS * LANES * instruction.registers[3];
    let (wanted, found) = (run(&ready, &inputs, words), run(&after, &inputs, words));
    // No document says which NaN an f64 is.
    let same = |one: u64, other: u64| {
        one == other || instruction.is_double() && [one, other].into_iter().all(|bits| Format::F64.is_nan(bits))
    };
    for (place, (&wanted, &found)) in wanted.iter().zip(&found).enumerate() {
        let thread = place / instruction.registers[3];
        let (warp, lane) = (thread / LANES, thread % LANES);
        assert!(
            same(wanted, found),
            "{text} on sm_{target}, warp {warp}, lane {lane}, register {}: {wanted:x}, translated {found:x}",
            place % instruction.registers[3]
        );
    }
    assert!(wanted.iter().any(|&bits| bits != 0), "{text}: nothing but zeros");
    words * (32 / Element::Float(instruction.read.d).stride()).max(1) as usize
}

#[test]
fn every_row() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut compared = 0;
    for row in ROWS.iter().filter(|row| [Family::Mma, Family::Wmma].contains(&row.families[0])) {
        for text in row.spellings() {
            compared += compare(&text, row.targets[0], &mut random);
        }
    }
    assert!(compared >= 900_000, "only {compared} results");
}

/// Matrices of f64 in every direction.
#[test]
fn doubles_in_every_direction() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for direction in ["rn", "rz", "rm", "rp"] {
        for shape in ["m8n8k4", "m16n8k8"] {
            compare(&format!("mma.sync.aligned.{shape}.row.col.{direction}.f64.f64.f64.f64"), 90, &mut random);
        }
    }
}

/// Layouts of which a lane's elements depend on its number: a's rows or columns, b's columns or rows.
#[test]
fn layouts_of_volta() {
    let mut random = Random(0xfedc_ba98_7654_3211);
    for layouts in ["row.row", "row.col", "col.row", "col.col"] {
        for types in ["f32.f16.f16.f32", "f32.f16.f16.f16", "f16.f16.f16.f16"] {
            compare(&format!("mma.sync.aligned.m8n8k4.{layouts}.{types}"), 70, &mut random);
        }
    }
}

/// The output's size is linear in the source's: a kind is one function.
#[test]
fn a_function_a_kind() {
    let instruction = Instruction::of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    let once = instruction.kernel("sm_80");
    let line = once.lines().find(|line| line.starts_with("mma.sync")).unwrap();
    let sizes = [1, 2, 102].map(|times| {
        let text = once.replace(line, &format!("{line}\n").repeat(times));
        let ready = Ready::read(Source::Ptx(&text), &Choice::default()).unwrap();
        spirv::write(&ready.program, &Translating::default()).unwrap().text.len()
    });
    let [first, second, many] = sizes;
    assert!(many - first <= 101 * (second - first + 100) && second - first < 1_000, "{sizes:?}");
}
