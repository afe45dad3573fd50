//! Every operation of the program form on directed and random operands: as it is, and written in PTX and read again.
//!
//! What is refused is counted by its kind: the table says how many of each are.

#[path = "translation/assemble.rs"]
mod assemble;
#[path = "translation/samples.rs"]
mod samples;

use std::collections::BTreeMap;

use roundonce::arith::Format;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options as RunOptions};
use roundonce::ir::{
    Block, Comparand, Comparison, Guard, Instruction, IntOp, Kernel, Op, Operand, Param, Passing, Program, Reg,
    Signedness, Space, Special, Terminator, Width,
};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Options, ptx};
use samples::{Sample, atomics, conversions, floats, integers, moves, other_floats};

const THREADS: usize = 512;
/// Words of 64 bits that a thread reads.
const INPUTS: usize = 4;
/// Operations of a kernel.
const BATCH: usize = 64;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number of a format: an edge, one whose products are near the least normal number, or any.
    fn float(&mut self, format: Format) -> u64 {
        let sign = if self.below(2) == 0 { format.sign_mask() } else { 0 };
        let fraction = match self.below(4) {
            0 => 0,
            1 => format.frac_mask(),
            2 => 1 << self.below(format.frac_bits().into()),
            _ => self.next() & format.frac_mask(),
        };
        let exponents = format.infinity() >> format.frac_bits();
        let exponent = match self.below(8) {
            0 => 0,
            1 => exponents,
            2 => 1,
            // The root of the least normal number.
            3 | 4 => exponents / 4 + self.below(3),
            5 => exponents / 2 + self.below(5) - 2,
            6 => exponents - 1,
            _ => self.below(exponents + 1),
        };
        sign | exponent << format.frac_bits() | fraction
    }

    /// A word whose parts are numbers of some kind.
    fn word(&mut self) -> u64 {
        let parts = |bits: u32, value: &mut dyn FnMut() -> u64| {
            (0..64 / bits).fold(0, |word, place| word | value() << (place * bits))
        };
        match self.below(8) {
            0 => self.next(),
            1 => parts(16, &mut || self.float(Format::F16)),
            2 => parts(16, &mut || self.float(Format::BF16)),
            3 | 4 => parts(32, &mut || self.float(Format::F32)),
            5 => self.float(Format::F64),
            6 => parts(16, &mut || [0, 1, 2, 15, 16, 31, 32, 0x7fff, 0x8000, 0xffff][self.below(10) as usize]),
            _ => parts(32, &mut || self.below(80).wrapping_sub(8) & 0xffff_ffff),
        }
    }
}

/// The registers that hold a thread's inputs, by width.
struct Inputs {
    words: Vec<Reg>,
    singles: Vec<Reg>,
    halves: Vec<Reg>,
    preds: Vec<Reg>,
}

impl Inputs {
    fn operand(&self, width: Width, index: usize) -> Operand {
        let registers = match width {
            Width::Pred => &self.preds,
            Width::B16 => &self.halves,
            Width::B32 => &self.singles,
            Width::B64 => &self.words,
        };
        Operand::Reg(registers[index])
    }
}

/// The place of an operation's first result among a thread's results.
fn slot(number: usize) -> i64 {
    number as i64 * 16
}

/// A kernel's beginning: the inputs of each thread in registers, and where its results go.
fn opened(slots: usize) -> (Kernel, Vec<Op>, Inputs, Reg) {
    let mut kernel = Kernel::new("operations");
    for (name, offset) in [("in", 0), ("out", 8)] {
        let (name, scalar, passing) = (name.to_owned(), None, Passing::Buffer);
        kernel.params.push(Param { name, offset, size: 8, scalar, passing });
    }
    kernel.param_bytes = 16;
    let mut ops = Vec::new();
    let tid = kernel.register(Width::B32);
    ops.push(Op::Special { d: tid, special: Special::Tid(0) });
    let mut place = |ops: &mut Vec<Op>, param: i64, bytes: u64| {
        let [base, far, at] = [(); 3].map(|()| kernel.register(Width::B64));
        let (space, address) = (Space::Param, Operand::ZERO);
        ops.push(Op::Load { d: vec![Some(base)], space, bytes: 8, signed: false, address, offset: param });
        let args = [tid.into(), Operand::Imm(bytes), Operand::ZERO, Operand::ZERO];
        ops.push(Op::Int { d: far, op: IntOp::MulWide(Signedness::Unsigned), width: Width::B32, args });
        let args = [base.into(), far.into(), Operand::ZERO, Operand::ZERO];
        ops.push(Op::Int { d: at, op: IntOp::Add, width: Width::B64, args });
        at
    };
    let (from, to) = (place(&mut ops, 0, INPUTS as u64 * 8), place(&mut ops, 8, slots as u64 * 16));
    let mut inputs = Inputs { words: Vec::new(), singles: Vec::new(), halves: Vec::new(), preds: Vec::new() };
    for index in 0..INPUTS {
        let word = kernel.register(Width::B64);
        let (space, address, offset) = (Space::Global, from.into(), index as i64 * 8);
        ops.push(Op::Load { d: vec![Some(word)], space, bytes: 8, signed: false, address, offset });
        let (single, half, pred) =
            (kernel.register(Width::B32), kernel.register(Width::B16), kernel.register(Width::Pred));
        ops.push(Op::Extract { d: single, a: word.into(), width: Width::B64, shift: 0 });
        ops.push(Op::Extract { d: half, a: word.into(), width: Width::B64, shift: 0 });
        let of = Comparand::Signed(Width::B64);
        ops.push(Op::Compare { d: pred, comparison: Comparison::Lt, of, a: word.into(), b: Operand::ZERO });
        inputs.words.push(word);
        inputs.singles.push(single);
        inputs.halves.push(half);
        inputs.preds.push(pred);
    }
    (kernel, ops, inputs, to)
}

fn stored(kernel: &mut Kernel, d: Reg, to: Reg, offset: i64) -> Vec<Instruction> {
    let width = kernel.width(d);
    let mut ops = Vec::new();
    let mut value = d;
    if width == Width::Pred {
        value = kernel.register(Width::B32);
        ops.push(Op::Select { d: value, p: d.into(), a: Operand::Imm(1), b: Operand::ZERO });
    }
    let width = kernel.width(value);
    let (values, space, address) = (vec![value.into()], Space::Global, to.into());
    ops.push(Op::Store { values, width, space, bytes: width.bits() / 8, address, offset });
    ops.into_iter().map(|op| Instruction::new(op, 0)).collect()
}

/// A program that computes all samples and stores their results; some operands are constants, some operations guarded.
fn program(samples: &[&Sample], random: &mut Random) -> Program {
    let (mut kernel, ops, inputs, to) = opened(samples.len());
    let mut instructions: Vec<Instruction> = ops.into_iter().map(|op| Instruction::new(op, 0)).collect();
    for (number, sample) in samples.iter().enumerate() {
        let d: Vec<Reg> = sample.results.iter().map(|width| kernel.register(*width)).collect();
        for &d in &d {
            instructions.push(Instruction::new(Op::Move { d, a: Operand::Imm(1) }, 0));
        }
        let (constant, bits) = (random.below(8) as usize, random.word());
        let op = (sample.make)(&d, &|width, index| {
            if index == constant { Operand::Imm(bits & width.mask()) } else { inputs.operand(width, index) }
        });
        let guard = Guard { pred: inputs.preds[3], expected: random.below(2) == 0 };
        let guard = (random.below(4) == 0).then_some(guard);
        instructions.push(Instruction { guard, ..Instruction::new(op, 0) });
        for (index, d) in d.iter().enumerate() {
            instructions.extend(stored(&mut kernel, *d, to, slot(number) + 8 * index as i64));
        }
    }
    kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
    Program::of(kernel)
}

fn inputs(random: &mut Random) -> Buffer {
    Buffer::from_bytes(&(0..THREADS * INPUTS).flat_map(|_| random.word().to_le_bytes()).collect::<Vec<u8>>())
}

fn run(program: &Program, input: &Buffer, slots: usize) -> Vec<u8> {
    let args = vec![Arg::Buffer(input.clone()), Arg::Buffer(Buffer::zeros(THREADS * slots * 16))];
    let options = RunOptions { engine: Engine::Interpreter, ..RunOptions::default() };
    let (grid, block, entry, dynamic_shared) = ([1; 3], [THREADS as u32, 1, 1], None, 0);
    let report = Launch { program, entry, grid, block, args, dynamic_shared, options }.run();
    report.unwrap_or_else(|error| panic!("{error}")).buffers[1].as_ref().unwrap().to_bytes()
}

/// Runs both; the places of the results that differ, with the bits.
fn differences(program: &Program, slots: usize, random: &mut Random) -> Vec<(usize, String)> {
    program.verify().unwrap_or_else(|error| panic!("{error}"));
    let translation = ptx::write(program, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
    let text = translation.text;
    assemble::assemble(&format!("operations{}", random.below(1 << 32)), &text);
    let ready =
        Ready::read(Source::Ptx(&text), &Choice::default()).unwrap_or_else(|refusal| panic!("{refusal:?}\n{text}"));
    let input = inputs(random);
    let (expected, got) = (run(program, &input, slots), run(&ready.program, &input, slots));
    let words = input.to_bytes();
    let mut found = Vec::new();
    for (at, (expected, got)) in expected.chunks(8).zip(got.chunks(8)).enumerate() {
        let (thread, number) = (at / 2 / slots, at / 2 % slots);
        if expected != got && found.iter().all(|(known, _)| *known != number) {
            let hex = |bytes: &[u8]| format!("{:016x}", u64::from_le_bytes(bytes.try_into().unwrap()));
            let operands: Vec<String> = words[thread * INPUTS * 8..][..INPUTS * 8].chunks(8).map(hex).collect();
            found.push((number, format!("{} gives {}, not {}", operands.join(" "), hex(got), hex(expected))));
        }
    }
    found
}

/// Compares all samples; how many are equal, and how many are refused by the first word of their names.
fn check(samples: &[Sample], seed: u64) -> (usize, BTreeMap<String, usize>) {
    let mut random = Random(seed);
    let mut refused = BTreeMap::new();
    let mut written = Vec::new();
    for sample in samples {
        let alone = program(&[sample], &mut Random(7));
        match ptx::write(&alone, &Options::default()) {
            Ok(_) => written.push(sample),
            Err(findings) => {
                assert_eq!(findings[0].code, "TRN0001", "{}: {findings:?}", sample.name);
                *refused.entry(sample.name.split(' ').next().unwrap().to_owned()).or_default() += 1;
            }
        }
    }
    let mut failures = Vec::new();
    for _ in 0..2 {
        for batch in written.chunks(BATCH) {
            let program = program(batch, &mut random);
            for (number, what) in differences(&program, batch.len(), &mut random) {
                failures.push(format!("{}: {what}", batch[number].name));
            }
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures[..failures.len().min(40)].join("\n"));
    (written.len(), refused)
}

#[test]
fn multiply_adds() {
    // `.ftz` of f64 and bf16, of f16 in a direction; `.fmz` of other than f32; `.relu` of f64.
    assert_eq!(check(&floats(), 0x1234_5678_9abc_def1), (1536, BTreeMap::from([("float".to_owned(), 2520)])));
}

#[test]
fn functions_extrema_comparisons() {
    let (equal, refused) = check(&other_floats(), 0x2345_6789_abcd_ef12);
    let refused: Vec<(&str, usize)> = refused.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    // Functions that PTX has not of a format; `.ftz` of other than f32; `.NaN` and `.xorsign.abs` of f64; a remainder of f64.
    let expected = [
        ("approximate", 56),
        ("compare", 14),
        ("divide", 12),
        ("extremum", 22),
        ("reciprocal", 12),
        ("remainder", 1),
        ("root", 12),
        ("scale", 16),
        ("sign", 12),
    ];
    assert_eq!((equal, &refused[..]), (291, &expected[..]));
}

#[test]
fn conversions_between_all_types() {
    assert_eq!(check(&conversions(), 0x3456_789a_bcde_f123), (2304, BTreeMap::new()));
}

#[test]
fn integers_and_moves() {
    let samples: Vec<Sample> = integers().into_iter().chain(moves()).collect();
    assert_eq!(check(&samples, 0x4567_89ab_cdef_1234), (283, BTreeMap::new()));
}

#[test]
fn atomic_operations() {
    let mut random = Random(0x5678_9abc_def1_2345);
    let (mut equal, mut refused) = (0, BTreeMap::new());
    for space in [Space::Global, Space::Generic] {
        for (name, kind, width) in atomics() {
            for (returns, guarded) in [(true, false), (true, true), (false, false)] {
                let (mut kernel, ops, inputs, to) = opened(1);
                let mut instructions: Vec<Instruction> = ops.into_iter().map(|op| Instruction::new(op, 0)).collect();
                let d = kernel.register(width);
                instructions.push(Instruction::new(Op::Move { d, a: Operand::Imm(1) }, 0));
                let Operand::Reg(first) = inputs.operand(width, 0) else { continue };
                instructions.extend(stored(&mut kernel, first, to, 8));
                let (bytes, address, offset, high) = (width.bits() / 8, to.into(), 8, None);
                let (b, c) = (inputs.operand(width, 1), inputs.operand(width, 2));
                let op = Op::Atomic { d: returns.then_some(d), kind, space, bytes, address, offset, b, c, high };
                let guard = guarded.then_some(Guard { pred: inputs.preds[3], expected: false });
                instructions.push(Instruction { guard, ..Instruction::new(op, 0) });
                instructions.extend(stored(&mut kernel, d, to, 0));
                kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
                let program = Program::of(kernel);
                if program.verify().is_err() {
                    continue;
                }
                if ptx::write(&program, &Options::default()).is_err() {
                    *refused.entry(name.split(' ').nth(1).unwrap_or_default().to_owned()).or_default() += 1;
                    continue;
                }
                let found = differences(&program, 1, &mut random);
                assert!(found.is_empty(), "{name} {space:?} {returns} {guarded}: {found:?}");
                equal += 1;
            }
        }
    }
    // Counters that are not of 32 bits; sums that flush other than f32.
    let refused: Vec<(&str, i32)> =
        refused.iter().map(|(name, count): (&String, &i32)| (name.as_str(), *count)).collect();
    assert_eq!((equal, &refused[..]), (411, &[("Decrement", 12), ("Increment", 12), ("sum", 27)][..]));
}

/// Copies between registers that are written again, in several blocks, some guarded.
#[test]
fn copies_are_read_where_they_stand() {
    let mut random = Random(0x6789_abcd_ef12_3456);
    for _ in 0..200 {
        let slots = 6;
        let (mut kernel, ops, inputs, to) = opened(slots);
        let mut instructions: Vec<Instruction> = ops.into_iter().map(|op| Instruction::new(op, 0)).collect();
        let registers: Vec<Reg> = (0..slots).map(|_| kernel.register(Width::B32)).collect();
        for (number, d) in registers.iter().enumerate() {
            let a = inputs.operand(Width::B32, number % INPUTS);
            instructions.push(Instruction::new(Op::Move { d: *d, a }, 0));
        }
        let blocks = 1 + random.below(4) as usize;
        for block in 0..blocks {
            for _ in 0..12 {
                let mut reg = || registers[random.below(slots as u64) as usize];
                let (d, a, b) = (reg(), reg(), reg());
                let args = [a.into(), b.into(), Operand::ZERO, Operand::ZERO];
                let op = match random.below(3) {
                    0 => Op::Int { d, op: IntOp::Add, width: Width::B32, args },
                    _ => Op::Move { d, a: a.into() },
                };
                let guard = (random.below(4) == 0).then_some(Guard { pred: inputs.preds[0], expected: true });
                instructions.push(Instruction { guard, ..Instruction::new(op, 0) });
            }
            let mut terminator = Terminator::Jump(block + 1);
            if block + 1 == blocks {
                for (number, d) in registers.iter().enumerate() {
                    instructions.extend(stored(&mut kernel, *d, to, slot(number)));
                }
                terminator = Terminator::Exit;
            }
            let instructions = std::mem::take(&mut instructions);
            kernel.blocks.push(Block { instructions, terminator, loc: 0 });
        }
        let found = differences(&Program::of(kernel), slots, &mut random);
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Several elements are loaded one after the other where nothing says that they lie together: the first may be written
/// over the address.
#[test]
fn loads_may_overwrite_their_address() {
    for copied in [false, true] {
        let (mut kernel, ops, inputs, to) = opened(2);
        let mut instructions: Vec<Instruction> = ops.into_iter().map(|op| Instruction::new(op, 0)).collect();
        for (number, word) in inputs.words.iter().enumerate() {
            instructions.extend(stored(&mut kernel, *word, to, 8 * number as i64));
        }
        let [address, copy, second] = [(); 3].map(|()| kernel.register(Width::B64));
        instructions.push(Instruction::new(Op::Move { d: address, a: to.into() }, 0));
        instructions.push(Instruction::new(Op::Move { d: copy, a: address.into() }, 0));
        let from = if copied { copy } else { address };
        // Written after the copy was made: the copy is no longer the register's.
        let one = [address.into(), Operand::ZERO, Operand::ZERO, Operand::ZERO];
        instructions.push(Instruction::new(Op::Int { d: address, op: IntOp::Add, width: Width::B64, args: one }, 0));
        let (d, space) = (vec![Some(from), Some(second)], Space::Global);
        let load = Op::Load { d, space, bytes: 8, signed: false, address: from.into(), offset: 8 };
        instructions.push(Instruction::new(load, 0));
        instructions.extend(stored(&mut kernel, from, to, 0));
        instructions.extend(stored(&mut kernel, second, to, 24));
        kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
        let found = differences(&Program::of(kernel), 2, &mut Random(7));
        assert!(found.is_empty(), "{found:?}");
    }
}
