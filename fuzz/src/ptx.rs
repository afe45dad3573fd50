//! PTX modules from choices: registers of every type, every opcode that programs are lowered with, control flow, memory,
//! calls, and what threads do together. Each thread stores to places of its own, or by operations whose order does not
//! matter, so that all engines must agree.

mod instruction;
mod rows;

use crate::Choices;
use roundonce::exec::{Arg, Buffer};

pub use instruction::check_table;

/// A module and its launch.
pub struct Module {
    pub text: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub args: Vec<Arg>,
}

/// Registers of one type: the type, what they are called, how many there are, and their bytes.
struct Pool {
    ty: &'static str,
    prefix: &'static str,
    count: usize,
    bytes: usize,
}

const fn pool(ty: &'static str, prefix: &'static str, count: usize, bytes: usize) -> Pool {
    Pool { ty, prefix, count, bytes }
}

/// The widest first, so that what is stored is aligned.
#[rustfmt::skip] // A table.
const POOLS: &[Pool] = &[
    pool(".b64", "%d", 3, 8), pool(".u64", "%du", 2, 8), pool(".s64", "%ds", 2, 8), pool(".f64", "%df", 3, 8),
    pool(".b32", "%r", 4, 4), pool(".u32", "%ru", 3, 4), pool(".s32", "%rs", 3, 4), pool(".f32", "%f", 4, 4),
    pool(".f16x2", "%hx", 2, 4),
    pool(".b16", "%h", 3, 2), pool(".u16", "%hu", 2, 2), pool(".s16", "%hs", 2, 2), pool(".f16", "%hf", 2, 2),
    pool(".b8", "%b", 2, 1),
    pool(".pred", "%p", 4, 1),
];

/// Versions and targets of a module, the one that has most first.
const TARGETS: [(&str, &str); 10] = [
    ("9.3", "sm_100a"),
    ("9.4", "sm_107a"),
    ("8.8", "sm_100a"),
    ("9.0", "sm_120a"),
    ("8.1", "sm_89"),
    ("8.0", "sm_90"),
    ("7.0", "sm_80"),
    ("6.5", "sm_75"),
    ("5.0", "sm_61"),
    ("4.3", "sm_52"),
];

/// What a GPU runs that programs are compared on.
const GPU_TARGET: (&str, &str) = ("9.0", "sm_90");
/// Whole warps: no document says what lanes without a thread give.
const GPU_BLOCKS: [[u32; 3]; 6] = [[32, 1, 1], [64, 1, 1], [96, 1, 1], [16, 4, 1], [128, 1, 1], [4, 4, 4]];

const BLOCKS: [[u32; 3]; 9] =
    [[32, 1, 1], [64, 1, 1], [96, 1, 1], [16, 4, 1], [7, 3, 2], [1, 1, 1], [128, 1, 1], [4, 4, 4], [33, 1, 1]];

/// Words of the input: 16 bytes for each of 64 places, and what lies within the offsets behind the last.
const INPUT: usize = 64 * 4 + 64;
/// Bytes of a thread's own memory, in front of its registers.
const OWN: usize = 64;

struct Generator<'c, 'b> {
    choices: &'c mut Choices<'b>,
    target: (&'static str, &'static str),
    body: String,
    labels: usize,
    /// Statements that may still be written.
    left: usize,
    /// Loops have counters of their own.
    loops: usize,
    /// Threads may be gone: no more meetings.
    left_early: bool,
    /// Parameters of functions are declared as registers, not as `.param`.
    by_register: bool,
    /// Registers that are not looked at in the end, a bit each.
    dead: u64,
    /// Only what is defined on every machine: a GPU is to agree.
    portable: bool,
}

/// Bytes that a thread stores.
fn record() -> usize {
    let registers: usize = POOLS.iter().map(|pool| pool.count * pool.bytes).sum();
    (OWN + registers).next_multiple_of(16)
}

/// A pool's registers that statements name.
fn used<'s>(pool: &'s Pool, statements: &'s str) -> impl Iterator<Item = String> + 's {
    let names = (0..pool.count).map(|index| format!("{}{index}", pool.prefix));
    names.filter(move |name| statements.contains(name.as_str()))
}

/// The declarations and the first instructions: addresses and values in every register that statements name.
fn prologue(statements: &str) -> String {
    let mut text = String::new();
    for pool in POOLS {
        text += &format!("\t.reg {} {}<{}>;\n", pool.ty, pool.prefix, pool.count);
    }
    text += "\t.reg .b64 %base, %in, %rec, %own, %slots, %loc, %out;\n\t.reg .b32 %sh, %next, %thread, %lin, %c<16>;\n";
    text += "\t.reg .pred %q;\n\t.local .align 16 .b8 stack[64];\n";
    text += "\tld.param.u64 %base, [input];\n\tld.param.u64 %out, [out];\n\tld.param.u64 %slots, [slots];\n";
    text += "\tmov.u32 %c0, %tid.z;\n\tmov.u32 %c1, %ntid.y;\n\tmov.u32 %c2, %tid.y;\n\tmov.u32 %c3, %ntid.x;\n";
    text += "\tmov.u32 %c4, %tid.x;\n\tmad.lo.u32 %c5, %c0, %c1, %c2;\n\tmad.lo.u32 %thread, %c5, %c3, %c4;\n";
    text += "\tmov.u32 %c0, %ntid.z;\n\tmul.lo.u32 %c1, %c1, %c3;\n\tmul.lo.u32 %c1, %c1, %c0;\n";
    text += "\tmov.u32 %c6, %ctaid.x;\n\tmad.lo.u32 %lin, %c6, %c1, %thread;\n";
    text += "\tshl.b32 %sh, %thread, 4;\n\tadd.u32 %next, %thread, 1;\n\trem.u32 %next, %next, %c1;\n";
    text +=
        "\tshl.b32 %next, %next, 4;\n\tmov.u32 %c7, shared;\n\tadd.u32 %sh, %sh, %c7;\n\tadd.u32 %next, %next, %c7;\n";
    text += "\tand.b32 %c0, %lin, 63;\n\tmul.wide.u32 %in, %c0, 16;\n\tadd.u64 %in, %in, %base;\n";
    text += &format!("\tmul.wide.u32 %rec, %lin, {};\n\tadd.u64 %rec, %rec, %out;\n\tmov.b64 %own, %rec;\n", record());
    text += "\tand.b32 %c0, %thread, 1;\n\tmul.wide.u32 %loc, %c0, 16;\n\tmov.u64 %out, stack;\n\tadd.u64 %loc, %loc, %out;\n\tmov.b64 %out, %in;\n";
    text += "\tst.shared.u32 [shared+2048], 0;\n";
    for offset in [0, 16, 32, 48] {
        text += &format!("\tst.local.v4.b32 [stack+{offset}], {{%lin, %thread, %c3, %c4}};\n");
    }
    let mut place = 0;
    for pool in POOLS.iter().filter(|pool| pool.ty != ".pred") {
        let ty = if pool.ty.starts_with(".f16") { [".b16", ".b32"][pool.bytes / 4] } else { pool.ty };
        for register in used(pool, statements) {
            text += &format!("\tld.global{ty} {register}, [%in+{}];\n", place % 240 / 8 * 8);
            place += 20;
        }
    }
    text += "\tmov.b32 %ru0, %lin;\n\tmov.b32 %rs0, %thread;\n\tcvt.rn.f32.u32 %f0, %thread;\n";
    for (register, value) in
        [("%p0", "lt.u32 %p0, %thread, 9"), ("%p1", "gt.u32 %p1, %thread, %c6"), ("%p2", "eq.u32 %p2, %c4, 3")]
    {
        if statements.contains(register) {
            text += &format!("\tsetp.{value};\n");
        }
    }
    text + "\tld.global.s32 %c0, [%in+8];\n\tsetp.gt.s32 %p3, %c0, 0;\n"
}

/// What is left in the registers that statements name, but for those that `dead` has a bit of, from the highest one on.
fn epilogue(statements: &str, mut dead: u64) -> String {
    let (mut text, mut at) = ("END:\n".to_owned(), OWN);
    for pool in POOLS {
        for (index, mut register) in used(pool, statements).enumerate() {
            dead = dead.rotate_left(1);
            if dead & 1 == 1 {
                continue;
            }
            let at = at + index * pool.bytes;
            if pool.ty == ".pred" {
                text += &format!("\tselp.b32 %c0, 1, 0, {register};\n");
                register = "%c0".to_owned();
            }
            text += &format!("\tst.global.b{} [%rec+{at}], {register};\n", 8 * pool.bytes);
        }
        at += pool.count * pool.bytes;
    }
    text + "\tret;\n"
}

/// The whole text around the statements.
fn module((version, target): (&str, &str), function: &str, (statements, dead): (&str, u64)) -> String {
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .const .align 16 .b32 table[8] = {{1, 0x3f800001, 0x7f800000, 0xff800001, 2, 3, 0x80000000, 0xffffffff}};\n\
         {function}.visible .entry kernel(.param .u64 input, .param .u64 out, .param .u64 slots)\n{{\n\
         \t.shared .align 16 .b8 shared[2064];\n{}{statements}{}}}\n",
        prologue(statements),
        epilogue(statements, dead)
    )
}

/// A module from choices.
pub fn generate(choices: &mut Choices<'_>) -> Module {
    let target = TARGETS[if choices.one_in(4) { choices.below(TARGETS.len()) } else { 0 }];
    let (block, grid) = (*choices.pick(&BLOCKS), [1 + choices.below(3) as u32, 1, 1]);
    let mut generator = Generator::new(choices, target);
    let words = generator.choices.words(INPUT);
    generator.by_register = generator.choices.one_in(2);
    generator.dead = if generator.choices.one_in(2) { generator.choices.bits(64) } else { 0 };
    generator.program(block, grid, words)
}

/// A module that a GPU runs as the engines do.
pub fn generate_portable(choices: &mut Choices<'_>) -> Module {
    let (block, grid) = (*choices.pick(&GPU_BLOCKS), [1 + choices.below(3) as u32, 1, 1]);
    let generator = Generator { portable: true, ..Generator::new(choices, GPU_TARGET) };
    generator.program(block, grid, Vec::new())
}

/// One module for each spelling that a GPU has, of that instruction alone, and for each probe; its name is what it has.
pub fn each_instruction(choices: &mut Choices<'_>) -> Vec<(String, Module)> {
    let mut modules = Vec::new();
    for (spelling, operands, types) in instruction::every() {
        // Some operands are of no use: two places for one result, a constant where none may be.
        for _ in 0..8 {
            let mut generator = Generator { portable: true, ..Generator::new(choices, GPU_TARGET) };
            generator.write(&spelling, &operands, &types, false);
            if !generator.body.is_empty() {
                modules.push((spelling, generator.module("", [64, 1, 1], [1, 1, 1], Vec::new())));
                break;
            }
        }
    }
    for lines in rows::PROBES {
        let mut generator = Generator { portable: true, ..Generator::new(choices, GPU_TARGET) };
        lines.split("; ").for_each(|line| generator.line(line));
        modules.push(((*lines).to_owned(), generator.module("", [64, 1, 1], [1, 1, 1], Vec::new())));
    }
    modules
}

impl<'c, 'b> Generator<'c, 'b> {
    #[rustfmt::skip] // A list.
    fn new(choices: &'c mut Choices<'b>, target: (&'static str, &'static str)) -> Self {
        Generator {
            choices, target, body: String::new(), labels: 0, left: 40, loops: 0, left_early: false, by_register: false,
            dead: 0, portable: false,
        }
    }

    /// Statements until the choices end.
    fn program(mut self, block: [u32; 3], grid: [u32; 3], words: Vec<u32>) -> Module {
        let function = self.function();
        if self.choices.one_in(2) {
            // The same for all threads.
            for line in ["mov.b32 %r0, 3", "mov.u32 %ru1, %ntid.x", "mov.f32 %f1, 0f40200000", "mov.b64 %d0, 5"] {
                self.line(line);
            }
        }
        while !self.choices.is_empty() && self.left > 0 {
            self.statements(0);
        }
        self.module(&function, block, grid, words)
    }

    fn module(&self, function: &str, block: [u32; 3], grid: [u32; 3], words: Vec<u32>) -> Module {
        let threads = (block[0] * block[1] * block[2] * grid[0]) as usize;
        let text = module(self.target, function, (&self.body, self.dead));
        let buffers = [Buffer::from_words(words), Buffer::zeros(threads * record()), Buffer::zeros(32)];
        Module { text, grid, block, args: buffers.map(Arg::Buffer).to_vec() }
    }

    fn line(&mut self, line: &str) {
        self.body += &format!("\t{line};\n");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn register(&mut self, prefix: &str) -> String {
        let count = POOLS.iter().find(|pool| pool.prefix == prefix).map_or(1, |pool| pool.count);
        format!("{prefix}{}", self.choices.below(count))
    }

    /// `helper`, a function of two words.
    fn function(&mut self) -> String {
        let operation = *self.choices.pick(&["xor.b32", "add.u32", "mul.lo.s32", "fma.rn.f32", "max.s32", "shl.b32"]);
        let third = if operation.starts_with("fma") { ", %x" } else { "" };
        let (space, moves) = if self.by_register {
            (".reg", ["mov.b32 %x, a", "mov.b32 %y, b", "mov.b32 o, %z"])
        } else {
            (".param", ["ld.param.b32 %x, [a]", "ld.param.b32 %y, [b]", "st.param.b32 [o], %z"])
        };
        format!(
            ".func ({space} .b32 o) helper({space} .b32 a, {space} .b32 b)\n{{\n\t.reg .b32 %x, %y, %z;\n\
             \t.reg .pred %q;\n\t{};\n\t{};\n\t{operation} %z, %x, %y{third};\n\tsetp.lt.s32 %q, %x, %y;\n\
             \t@%q bra DONE;\n\tsub.u32 %z, %z, %y;\nDONE:\n\t{};\n\tret;\n}}\n",
            moves[0], moves[1], moves[2]
        )
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.choices.below(6) {
            if self.left == 0 || self.choices.is_empty() {
                return;
            }
            self.left -= 1;
            match self.choices.below(if depth < 3 { 24 } else { 16 }) {
                0..=7 => self.instruction(rows::ROWS),
                8..=14 => self.form(),
                15 => self.call(),
                16 | 17 => self.branch(depth),
                18 => self.repeat(depth),
                19 => self.scope(depth),
                20 => self.jump_table(depth),
                21 if depth == 0 && !self.left_early => self.exchange(),
                22 if depth == 0 && !self.left_early => self.instruction(rows::TOGETHER),
                23 if self.choices.one_in(4) => self.leave(),
                _ => self.instruction(rows::ROWS),
            }
        }
    }

    fn branch(&mut self, depth: usize) {
        let (sign, pred) = (*self.choices.pick(&["", "!"]), self.register("%p"));
        let (otherwise, end) = (self.label(), self.label());
        self.line(&format!("@{sign}{pred} bra {otherwise}"));
        self.statements(depth + 1);
        if self.choices.one_in(2) {
            self.line(&format!("bra.uni {end}"));
            self.body += &format!("{otherwise}:\n");
            self.statements(depth + 1);
            self.body += &format!("{end}:\n");
        } else {
            self.body += &format!("{otherwise}:\n");
        }
    }

    /// A loop of up to four rounds, as many for all or not.
    fn repeat(&mut self, depth: usize) {
        if self.loops == 7 {
            return;
        }
        self.loops += 1;
        let counter = format!("%c{}", 8 + self.loops);
        let (head, end) = (self.label(), self.label());
        let rounds = if self.choices.one_in(2) { self.register("%ru") } else { self.choices.below(4).to_string() };
        self.line(&format!("and.b32 {counter}, {rounds}, 3"));
        self.body += &format!("{head}:\n");
        self.statements(depth + 1);
        let (how, pred) = (self.choices.below(6), self.register("%p"));
        if how < 2 {
            self.line(&format!("@{pred} bra {end}"));
        }
        self.line(&format!("sub.s32 {counter}, {counter}, 1"));
        self.line(&format!("setp.gt.s32 %q, {counter}, 0"));
        if how == 2 {
            // Some go on at once.
            self.line(&format!("@!%q bra {end}"));
            self.line(&format!("@{pred} bra {head}"));
            self.statements(depth + 1);
            self.line(&format!("bra {head}"));
        } else {
            self.line(&format!("@%q bra {head}"));
        }
        self.body += &format!("{end}:\n");
    }

    /// A block with a register of the name of one outside.
    fn scope(&mut self, depth: usize) {
        let outer = self.register("%r");
        self.line(&format!("{{ .reg .b32 %inner; .reg .f32 %f<4>; mov.b32 %inner, {outer}"));
        self.line("mov.b32 %f0, %inner; mov.b32 %f1, %lin; mov.b32 %f2, %inner; mov.b32 %f3, 0f3f800000");
        self.statements(depth + 1);
        self.body += &format!("\tmov.b32 {outer}, %inner; }}\n");
    }

    fn jump_table(&mut self, depth: usize) {
        let (table, end) = (self.label(), self.label());
        let ways: Vec<String> = (0..2 + self.choices.below(2)).map(|_| self.label()).collect();
        let index = self.register("%ru");
        self.line(&format!("rem.u32 %c0, {index}, {}", ways.len()));
        self.body += &format!("{table}: .branchtargets {};\n", ways.join(", "));
        self.line(&format!("brx.idx %c0, {table}"));
        for way in &ways {
            self.body += &format!("{way}:\n");
            self.instruction(rows::ROWS);
            if self.choices.one_in(4) {
                self.statements(depth + 1);
            }
            if self.choices.one_in(2) {
                self.line(&format!("bra {end}"));
            }
        }
        self.body += &format!("{end}:\n");
    }

    fn call(&mut self) {
        let [a, b, d] = [(); 3].map(|()| self.register("%r"));
        if self.by_register {
            self.line(&format!("call ({d}), helper, ({a}, {b})"));
        } else {
            self.line(&format!("{{ .param .b32 pa; .param .b32 pb; .param .b32 po; st.param.b32 [pa], {a}"));
            self.line(&format!("st.param.b32 [pb], {b}; call (po), helper, (pa, pb)"));
            self.body += &format!("\tld.param.b32 {d}, [po]; }}\n");
        }
    }

    /// A word to the neighbour, through shared memory, or a sum of all.
    fn exchange(&mut self) {
        let ty = *self.choices.pick(&[".b32", ".u32", ".f32", ".u16", ".b64", ".f64"]);
        let (value, d) = (self.typed(ty, false), self.typed(ty, true));
        self.line("bar.sync 0");
        match self.choices.below(4) {
            0 => {
                let word = self.register("%ru");
                self.line(&format!("red.shared.add.u32 [shared+2048], {word}"));
                self.line("bar.sync 0");
                self.line(&format!("ld.shared.u32 {word}, [shared+2048]"));
            }
            1 => {
                self.line("cp.async.ca.shared.global [%sh], [%in], 8");
                self.line("cp.async.wait_all");
                self.line("bar.sync 0");
                self.line(&format!("ld.shared{ty} {d}, [%next]"));
            }
            _ => {
                self.line(&format!("st.shared{ty} [%sh], {value}"));
                self.line("bar.sync 0");
                self.line(&format!("ld.shared{ty} {d}, [%next]"));
            }
        }
        self.line("bar.sync 0");
    }

    /// Some threads are done: at once, or with their registers stored.
    fn leave(&mut self) {
        self.left_early = true;
        let pred = self.register("%p");
        let how = *self.choices.pick(&["bra END", "exit", "ret", "bra END", "exit", "ret", "bra END", "trap"]);
        let how = if self.portable && how == "trap" { "exit" } else { how };
        self.line(&format!("@{pred} {how}"));
    }
}
