//! Small programs at random, with everything that an engine finds hard: branches and loops that lanes leave at
//! different times, guards, barriers, shuffles, registers overwritten by themselves, addresses of every pattern.

mod arithmetic;

use roundonce_ir::{
    AtomicKind, BarrierKind, Block, Comparand, Comparison, Guard, Instruction, IntOp, Kernel, Op, Operand, Param,
    Passing, Program, Reg, ShuffleMode, Signedness, Space, Special, Terminator, VoteMode, Width,
};

/// A program and what it is run on.
#[derive(Clone, Debug)]
pub struct Case {
    /// One kernel.
    pub program: Program,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads.
    pub block: [u32; 3],
    /// The first is read, the others are written.
    pub buffers: Vec<Vec<u8>>,
}

/// Words of the first buffer, a power of two.
const INPUT: u64 = 256;
/// Words of the third, which atomics share.
const SLOTS: u64 = 8;
/// 16 bits that are numbers at the edges of f16 or bf16, infinities and NaNs.
const HALVES: [u64; 16] = [
    0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc01, 0x7bff, 0x7c00, 0xfc01, 0x0080, 0x007f, 0x3f80, 0x7f7f,
    0xff80, 0x7fff,
];

struct Generator<'r> {
    random: &'r mut dyn FnMut() -> u64,
    kernel: Kernel,
    current: usize,
    /// By width, what instructions take and write.
    preds: Vec<Reg>,
    b16: Vec<Reg>,
    b32: Vec<Reg>,
    b64: Vec<Reg>,
    input: Reg,
    slots: Reg,
    /// Shared memory's address of the thread's own word, and of its neighbour's.
    own: Reg,
    neighbour: Reg,
    left: u32,
    /// The thread's number in its block, and where its results go.
    thread: Reg,
    record: Reg,
    /// Nothing but what machines have vector instructions for.
    plain: bool,
}

/// Writes a program by what `random` says.
pub fn generate(random: &mut dyn FnMut() -> u64) -> Case {
    write(random, false)
}

/// One of nothing but what machines have vector instructions for: lanes that diverge and reconverge in all ways, loops that
/// they leave one by one, results stored on the way.
pub fn generate_plain(random: &mut dyn FnMut() -> u64) -> Case {
    write(random, true)
}

fn write(random: &mut dyn FnMut() -> u64, plain: bool) -> Case {
    let shapes =
        [[32, 1, 1], [64, 1, 1], [96, 1, 1], [16, 4, 1], [7, 3, 2], [1, 1, 1], [128, 1, 1], [4, 4, 4], [33, 1, 1]];
    let block = shapes[random() as usize % shapes.len()];
    let mut grid = [1 + random() as u32 % 5, 1 + random() as u32 % 2, 1];
    let threads = block[0] * block[1] * block[2];
    // One in ten has some batches of the engine's, of 2,048 lanes, which may run as those before them went.
    if grid == [5, 2, 1] {
        grid[0] += 2 * 2048 / threads;
    }
    let mut kernel = Kernel::new("random");
    for (index, name) in ["input", "out", "slots"].into_iter().enumerate() {
        let offset = index as u32 * 8;
        kernel.params.push(Param { name: name.into(), offset, size: 8, scalar: None, passing: Passing::Buffer });
    }
    kernel.param_bytes = 24;
    kernel.shared_bytes = threads * 4 + 32;
    kernel.local_bytes = 32;
    let many = |kernel: &mut Kernel, width, count| (0..count).map(|_| kernel.register(width)).collect::<Vec<_>>();
    let (preds, b16) = (many(&mut kernel, Width::Pred, 3), many(&mut kernel, Width::B16, 3));
    let (b32, b64) = (many(&mut kernel, Width::B32, 6), many(&mut kernel, Width::B64, 4));
    let input = kernel.register(Width::B64);
    let slots = kernel.register(Width::B64);
    let (own, neighbour) = (kernel.register(Width::B32), kernel.register(Width::B32));
    let (thread, record) = (kernel.register(Width::B32), kernel.register(Width::B64));
    kernel.blocks.push(Block { instructions: Vec::new(), terminator: Terminator::Exit, loc: 0 });
    let stored = (b32.len() * 4 + b64.len() * 8 + b16.len() * 2 + 8).next_multiple_of(8);
    let current = 0;
    #[rustfmt::skip] // A list.
    let mut generator = Generator {
        random, kernel, current, preds, b16, b32, b64, input, slots, own, neighbour, left: 60, thread, record, plain,
    };
    generator.prologue(threads, stored as u64);
    generator.statements(0);
    generator.epilogue();
    let total = threads as usize * (grid[0] * grid[1]) as usize;
    let interesting = [0, 1, 0x3f80_0000, 0xbf80_0001, 0x7f80_0000, 0x7fc0_0001, 0x0000_0001, 0x8000_0000, 0x4b00_0001];
    let mut words = Vec::new();
    for _ in 0..INPUT {
        let word = (generator.random)();
        if plain && word & 0x18 == 0 {
            let halves = [word >> 8, word >> 16].map(|place| HALVES[place as usize % HALVES.len()]);
            words.extend(((halves[0] | halves[1] << 16) as u32).to_le_bytes());
            continue;
        }
        let word =
            if word & 7 == 0 { interesting[(word >> 8) as usize % interesting.len()] } else { (word >> 32) as u32 };
        words.extend(word.to_le_bytes());
    }
    let buffers = vec![words, vec![0; total * stored], vec![0; SLOTS as usize * 4]];
    Case { program: Program::of(generator.kernel), grid, block, buffers }
}

impl Generator<'_> {
    fn pick(&mut self, count: usize) -> usize {
        (self.random)() as usize % count
    }
    fn emit(&mut self, op: Op) {
        self.kernel.blocks[self.current].instructions.push(Instruction::new(op, 0));
    }
    fn guarded(&mut self, op: Op) {
        let guard = (self.pick(4) == 0).then(|| Guard { pred: self.preds[0], expected: true });
        let guard = guard.map(|_| {
            let pred = self.pick(self.preds.len());
            Guard { pred: self.preds[pred], expected: self.pick(2) == 0 }
        });
        self.kernel.blocks[self.current].instructions.push(Instruction { guard, ..Instruction::new(op, 0) });
    }
    fn block(&mut self) -> usize {
        self.kernel.blocks.push(Block { instructions: Vec::new(), terminator: Terminator::Exit, loc: 0 });
        self.kernel.blocks.len() - 1
    }
    fn end(&mut self, terminator: Terminator) {
        self.kernel.blocks[self.current].terminator = terminator;
    }
    fn reg(&mut self, width: Width) -> Reg {
        let place = (self.random)() as usize;
        let pool = match width {
            Width::Pred => &self.preds,
            Width::B16 => &self.b16,
            Width::B32 => &self.b32,
            Width::B64 => &self.b64,
        };
        pool[place % pool.len()]
    }
    /// A register, sometimes a constant.
    fn operand(&mut self, width: Width) -> Operand {
        let constants = [0, 1, 2, 31, 33, 0x3f80_0000, 0xffff_ffff, 0x8000_0000, u64::MAX, 0x7fff];
        if self.plain && width == Width::B16 && self.pick(8) == 0 {
            return Operand::Imm(HALVES[self.pick(HALVES.len())]);
        }
        if self.pick(5) == 0 {
            let constant = constants[self.pick(constants.len())];
            Operand::Imm(constant & width.mask())
        } else {
            self.reg(width).into()
        }
    }
    fn int(&mut self, d: Reg, op: IntOp, width: Width, args: [Operand; 4]) {
        self.emit(Op::Int { d, op, width, args });
    }

    /// Addresses, and values of every pattern in the registers.
    fn prologue(&mut self, threads: u32, stored: u64) {
        let none = Operand::ZERO;
        let out = self.kernel.register(Width::B64);
        for (offset, d) in [(0, self.input), (8, out), (16, self.slots)] {
            let d = vec![Some(d)];
            self.emit(Op::Load { d, space: Space::Param, bytes: 8, signed: false, address: none, offset });
        }
        let fresh = |generator: &mut Self, special| {
            let d = generator.kernel.register(Width::B32);
            generator.emit(Op::Special { d, special });
            Operand::Reg(d)
        };
        let tid = [0, 1, 2].map(|axis| fresh(self, Special::Tid(axis)));
        let ntid = [0, 1, 2].map(|axis| fresh(self, Special::Ntid(axis)));
        let ctaid = [0, 1].map(|axis| fresh(self, Special::Ctaid(axis)));
        let width = fresh(self, Special::Nctaid(0));
        let (thread, linear) = (self.thread, self.kernel.register(Width::B32));
        let (row, number) = (self.kernel.register(Width::B32), self.kernel.register(Width::B32));
        self.int(row, IntOp::MulAdd, Width::B32, [tid[2], ntid[1], tid[1], none]);
        self.int(thread, IntOp::MulAdd, Width::B32, [row.into(), ntid[0], tid[0], none]);
        self.int(number, IntOp::MulAdd, Width::B32, [ctaid[1], width, ctaid[0], none]);
        self.int(linear, IntOp::MulAdd, Width::B32, [number.into(), Operand::Imm(threads.into()), thread.into(), none]);
        let (own, neighbour) = (self.own, self.neighbour);
        self.int(own, IntOp::Shl, Width::B32, [thread.into(), Operand::Imm(2), none, none]);
        self.int(neighbour, IntOp::Add, Width::B32, [thread.into(), Operand::Imm(1), none, none]);
        let count = Operand::Imm(u64::from(threads) - u64::from(self.plain));
        let cut = if self.plain { IntOp::Min(Signedness::Unsigned) } else { IntOp::Rem(Signedness::Unsigned) };
        self.int(neighbour, cut, Width::B32, [neighbour.into(), count, none, none]);
        self.int(neighbour, IntOp::Shl, Width::B32, [neighbour.into(), Operand::Imm(2), none, none]);
        let starts = [linear.into(), tid[0], tid[1], ctaid[0], Operand::Imm(0x3f80_0001)];
        for (index, d) in self.b32.clone().into_iter().enumerate() {
            match starts.get(index) {
                Some(&a) => self.emit(Op::Move { d, a }),
                None => self.input_word(d, linear),
            }
        }
        let wide = IntOp::MulAddWide(Signedness::Unsigned);
        self.int(self.record, wide, Width::B32, [linear.into(), Operand::Imm(stored), out.into(), none]);
        for d in self.b64.clone() {
            let a = self.operand(Width::B32);
            let args = [a, Operand::Imm(4), none, none];
            self.int(d, IntOp::MulWide(Signedness::Signed), Width::B32, args);
        }
        for d in if self.plain { self.b16.clone() } else { Vec::new() } {
            let a = self.reg(Width::B32).into();
            self.emit(Op::Extract { d, a, width: Width::B32, shift: 16 });
        }
        for d in self.preds.clone() {
            let (a, b) = (self.operand(Width::B32), Operand::Imm(9));
            let of = Comparand::Unsigned(Width::B32);
            self.emit(Op::Compare { d, comparison: Comparison::Lt, of, a, b });
        }
    }

    /// A word of the input, at an index that is cut to fit.
    fn input_word(&mut self, d: Reg, index: Reg) {
        let (none, place) = (Operand::ZERO, self.kernel.register(Width::B32));
        let at = self.kernel.register(Width::B64);
        if self.plain {
            // Neighbours read neighbours.
            let wide = IntOp::MulAddWide(Signedness::Unsigned);
            self.int(at, wide, Width::B32, [self.thread.into(), Operand::Imm(4), self.input.into(), none]);
            let offset = 4 * (self.pick(INPUT as usize / 2) as i64);
            let d = vec![Some(d)];
            self.guarded(Op::Load { d, space: Space::Global, bytes: 4, signed: false, address: at.into(), offset });
            return;
        }
        self.int(place, IntOp::And, Width::B32, [index.into(), Operand::Imm(INPUT - 1), none, none]);
        let wide = IntOp::MulAddWide(Signedness::Unsigned);
        self.int(at, wide, Width::B32, [place.into(), Operand::Imm(4), self.input.into(), none]);
        self.guarded(Op::Load {
            d: vec![Some(d)],
            space: Space::Global,
            bytes: 4,
            signed: false,
            address: at.into(),
            offset: 0,
        });
    }

    fn statements(&mut self, depth: u32) {
        let count = 2 + self.pick(6);
        for _ in 0..count {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            if self.plain {
                match self.pick(if depth < 3 { 12 } else { 7 }) {
                    7..=9 => self.branch(depth),
                    10 => self.repeat(depth),
                    11 if depth == 0 && self.pick(4) == 0 => self.together(),
                    _ => self.operation(),
                }
                continue;
            }
            match self.pick(if depth < 3 { 12 } else { 8 }) {
                8 | 9 => self.branch(depth),
                10 => self.repeat(depth),
                11 if depth == 0 => self.together(),
                _ => self.operation(),
            }
        }
    }

    fn branch(&mut self, depth: u32) {
        let pred = self.reg(Width::Pred);
        let (then, otherwise, after) = (self.block(), self.block(), self.block());
        let lone = self.pick(2) == 0;
        self.end(Terminator::Branch { pred, then, otherwise: if lone { after } else { otherwise } });
        self.current = then;
        self.statements(depth + 1);
        // Some never come back.
        let leaves = if self.plain { self.leave() } else { depth == 0 && self.pick(12) == 0 };
        self.end(if leaves { Terminator::Exit } else { Terminator::Jump(after) });
        if !lone {
            self.current = otherwise;
            self.statements(depth + 1);
        }
        self.end(Terminator::Jump(after));
        self.current = after;
    }

    /// Some results stored, after which the thread may be done. Whether it is.
    fn leave(&mut self) -> bool {
        if self.pick(3) > 0 {
            return false;
        }
        for _ in 0..1 + self.pick(2) {
            let (width, bytes) = match self.plain.then(|| self.pick(4)) {
                Some(0) => (Width::B16, 2),
                Some(1) => (Width::B32, 2),
                _ => (Width::B32, 4),
            };
            let (value, offset) = (self.reg(width), i64::from(bytes) * self.pick(8) as i64);
            let (values, address) = (vec![value.into()], self.record.into());
            self.emit(Op::Store { values, width, space: Space::Global, bytes, address, offset });
            if self.plain && self.pick(2) == 0 {
                self.operation();
            }
        }
        self.pick(3) == 0
    }

    /// A loop of a few rounds, as many for all or not.
    fn repeat(&mut self, depth: u32) {
        let none = Operand::ZERO;
        let (counter, pred) = (self.kernel.register(Width::B32), self.kernel.register(Width::Pred));
        let rounds = self.operand(Width::B32);
        self.int(counter, IntOp::And, Width::B32, [rounds, Operand::Imm(3), none, none]);
        let (body, after) = (self.block(), self.block());
        self.end(Terminator::Jump(body));
        self.current = body;
        self.statements(depth + 1);
        if self.plain && self.pick(3) == 0 {
            // Out of the middle.
            let (pred, on) = (self.reg(Width::Pred), self.block());
            self.end(Terminator::Branch { pred, then: after, otherwise: on });
            self.current = on;
            self.operation();
        }
        self.int(counter, IntOp::Add, Width::B32, [counter.into(), Operand::Imm(0xffff_ffff), none, none]);
        let of = Comparand::Signed(Width::B32);
        self.emit(Op::Compare { d: pred, comparison: Comparison::Gt, of, a: counter.into(), b: none });
        self.end(Terminator::Branch { pred, then: body, otherwise: after });
        self.current = after;
    }

    /// What all threads of a block or a warp do at once.
    fn together(&mut self) {
        let none = Operand::ZERO;
        let wait = || Op::Barrier { kind: BarrierKind::Wait, id: none, count: None };
        match self.pick(4) {
            0 | 1 => {
                let (value, d) = (self.reg(Width::B32), self.reg(Width::B32));
                let (own, neighbour) = (self.own, self.neighbour);
                self.emit(wait());
                let store = Op::Store {
                    values: vec![value.into()],
                    width: Width::B32,
                    space: Space::Shared,
                    bytes: 4,
                    address: own.into(),
                    offset: 0,
                };
                self.emit(store);
                self.emit(wait());
                let d = vec![Some(d)];
                let address = neighbour.into();
                self.emit(Op::Load { d, space: Space::Shared, bytes: 4, signed: false, address, offset: 0 });
                self.emit(wait());
            }
            2 => {
                let modes = [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Butterfly, ShuffleMode::Index];
                let mode = modes[self.pick(4)];
                let segments = [0x1f, 0x0, 0x0c1f, 0x1c1f, 0x1000];
                let c = Operand::Imm(segments[self.pick(segments.len())]);
                let (d, a, b) = (self.reg(Width::B32), self.reg(Width::B32).into(), self.operand(Width::B32));
                let p = Some(self.reg(Width::Pred));
                self.emit(Op::Shuffle { d, p, mode, a, b, c, mask: Some(Operand::Imm(0xffff_ffff)) });
            }
            _ => {
                let (d, a) = (self.reg(Width::B32), self.reg(Width::Pred).into());
                let mask = Some(Operand::Imm(0xffff_ffff));
                self.emit(Op::Vote { d, mode: VoteMode::Ballot, a, mask });
            }
        }
    }

    fn operation(&mut self) {
        if self.plain {
            return match self.pick(20) {
                0..=4 => self.float(),
                5..=8 => self.integer(),
                9 => {
                    let width = [Width::B16, Width::B32, Width::B64][self.pick(3)];
                    let (d, p) = (self.reg(width), self.reg(Width::Pred).into());
                    let (a, b) = (self.operand(width), self.operand(width));
                    self.guarded(Op::Select { d, p, a, b });
                }
                10..=12 => self.comparison(),
                13 => self.conversion(),
                14 => {
                    let d = self.reg(Width::B32);
                    self.input_word(d, self.thread);
                }
                15..=18 => self.halves(),
                _ => {
                    let guard = Guard { pred: self.reg(Width::Pred), expected: self.pick(2) == 0 };
                    if self.pick(6) == 0 {
                        let instruction = Instruction { guard: Some(guard), ..Instruction::new(Op::Exit, 0) };
                        self.kernel.blocks[self.current].instructions.push(instruction);
                    }
                }
            };
        }
        match self.pick(16) {
            0..=3 => self.float(),
            4..=7 => self.integer(),
            8 => {
                let widths = [Width::B16, Width::B32, Width::B64];
                let width = widths[self.pick(3)];
                let d = self.reg(width);
                let (p, a, b) = (self.reg(Width::Pred).into(), self.operand(width), self.operand(width));
                self.guarded(Op::Select { d, p, a, b });
            }
            9 | 10 => self.comparison(),
            11 => self.conversion(),
            12 => {
                let (d, index) = (self.reg(Width::B32), self.reg(Width::B32));
                self.input_word(d, index);
            }
            13 => self.memory(),
            14 => {
                let width = [Width::B32, Width::B64][self.pick(2)];
                let (d, carry) = (self.reg(width), self.operand(Width::Pred));
                let (a, b) = (self.operand(width), self.operand(width));
                let out = Some(self.reg(Width::Pred)).filter(|_| width == Width::B32);
                let subtract = self.pick(2) == 0;
                self.guarded(Op::Carry { d, out, subtract, carry, a, b });
            }
            _ => {
                let d = self.reg(Width::B32);
                let (low, high) = (self.operand(Width::B16), self.operand(Width::B16));
                self.guarded(Op::Pack { d, low, high });
                let (d, a) = (self.reg(Width::B32), self.operand(Width::B64));
                self.guarded(Op::Extract { d, a, width: Width::B64, shift: 32 });
            }
        }
    }

    /// Local memory, and sums that threads share.
    fn memory(&mut self) {
        let none = Operand::ZERO;
        if self.pick(3) == 0 {
            let (place, at) = (self.kernel.register(Width::B32), self.kernel.register(Width::B64));
            let (index, b) = (self.operand(Width::B32), self.operand(Width::B32));
            self.int(place, IntOp::And, Width::B32, [index, Operand::Imm(SLOTS - 1), none, none]);
            let wide = IntOp::MulAddWide(Signedness::Unsigned);
            self.int(at, wide, Width::B32, [place.into(), Operand::Imm(4), self.slots.into(), none]);
            let kind = AtomicKind::Int(IntOp::Add);
            let (space, address) = (Space::Global, at.into());
            self.guarded(Op::Atomic { d: None, kind, space, bytes: 4, address, offset: 0, b, c: none, high: None });
            return;
        }
        let bytes = [1, 2, 4, 8][self.pick(4)];
        let width = Width::holding(bytes * 8).max(Width::B16);
        let place = self.kernel.register(Width::B32);
        let index = self.operand(Width::B32);
        let mask = Operand::Imm(u64::from(24 & !(bytes - 1)) | u64::from(8 - bytes.min(8)) & u64::from(!(bytes - 1)));
        self.int(place, IntOp::And, Width::B32, [index, mask, none, none]);
        let value = self.operand(width);
        let address = if self.pick(2) == 0 { place.into() } else { Operand::Imm(8) };
        self.guarded(Op::Store { values: vec![value], width, space: Space::Local, bytes, address, offset: 0 });
        let (d, signed) = (vec![Some(self.reg(width))], self.pick(2) == 0);
        self.guarded(Op::Load { d, space: Space::Local, bytes, signed, address, offset: 0 });
    }

    /// Every register goes out.
    fn epilogue(&mut self) {
        let (none, at) = (Operand::ZERO, self.record);
        let mut offset = 0;
        let all: Vec<(Reg, Width, u32)> =
            [(self.b64.clone(), Width::B64, 8), (self.b32.clone(), Width::B32, 4), (self.b16.clone(), Width::B16, 2)]
                .into_iter()
                .flat_map(|(regs, width, bytes)| regs.into_iter().map(move |reg| (reg, width, bytes)))
                .collect();
        for (reg, width, bytes) in all {
            let values = vec![reg.into()];
            self.emit(Op::Store { values, width, space: Space::Global, bytes, address: at.into(), offset });
            offset += i64::from(bytes);
        }
        for pred in self.preds.clone() {
            let d = self.b16[0];
            self.emit(Op::Select { d, p: pred.into(), a: Operand::Imm(1), b: none });
            let values = vec![d.into()];
            self.emit(Op::Store {
                values,
                width: Width::B16,
                space: Space::Global,
                bytes: 1,
                address: at.into(),
                offset,
            });
            offset += 1;
        }
    }
}
