//! The assembler: `iced-x86` encodes the instructions, in the few forms that the compiler needs. For AVX2 they are rewritten
//! first (`avx2`), for AArch64 they become other ones (`neon`).

mod avx2;
mod neon;

use super::frame::header;
use crate::kernel::Machine;
use avx2::Avx2;
use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, OpKind, Register, RoundingControl};
use neon::Neon;
use roundonce_arith::Rounding;

/// The register that holds the frame's address.
pub(super) const FRAME: Register = Register::R15;

/// A position in the code, before or after it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u64);

/// Why there is no code.
#[derive(Debug)]
pub(super) enum AsmError {
    Operands(IcedError),
    /// The machine has no instruction for it.
    NoCounterpart(Code),
    /// A jump is longer than its instruction allows.
    Distance,
    /// Values have a scratch register that the code needs.
    NotSpare,
}

impl core::fmt::Display for AsmError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            AsmError::Operands(error) => write!(f, "{error}"),
            AsmError::NoCounterpart(code) => write!(f, "no instruction for {code:?}"),
            AsmError::Distance => write!(f, "a jump is too long"),
            AsmError::NotSpare => write!(f, "values have a scratch register"),
        }
    }
}

impl From<IcedError> for AsmError {
    fn from(error: IcedError) -> AsmError {
        AsmError::Operands(error)
    }
}

/// The code so far. The first error is kept until [`finish`](Asm::finish).
#[derive(Debug)]
pub(super) struct Asm {
    instructions: Vec<Instruction>,
    labels: u64,
    /// The label of the next instruction.
    bound: Option<Label>,
    /// The access site whose host address RAX holds, for the number in this register.
    host_address: Option<(usize, Register)>,
    failure: Option<AsmError>,
    /// Where instructions are rewritten for AVX2.
    avx2: Option<Avx2>,
    /// Where they become those of AArch64.
    neon: Option<Neon>,
}

/// The direction in which the environment rounds, and the one in which it does at the region's start, at labels and at jumps.
#[derive(Debug)]
struct Direction {
    now: Rounding,
    home: Rounding,
}

impl Direction {
    fn new(home: Rounding) -> Direction {
        Direction { now: home, home }
    }
    /// Whether the environment has to be changed for this direction, which it has from now on.
    fn turn(&mut self, to: Rounding) -> bool {
        std::mem::replace(&mut self.now, to) != to
    }
}

/// The direction in which an instruction rounds.
fn direction_of(i: &Instruction) -> Rounding {
    match i.rounding_control() {
        RoundingControl::RoundDown => Rounding::Down,
        RoundingControl::RoundUp => Rounding::Up,
        RoundingControl::RoundTowardZero => Rounding::TowardZero,
        _ => Rounding::NearestEven,
    }
}

/// The callee-saved registers of x86-64's calling convention.
const SAVED: [Register; 6] = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The decorators of an EVEX instruction: mask, zeroing, rounding.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Decorators {
    /// Lanes outside the mask keep what they hold.
    pub(super) mask: Option<Register>,
    /// Lanes outside the mask become zero.
    pub(super) zeroing: bool,
    /// Overrides the environment's rounding: all operands must be registers.
    pub(super) rounding: Option<Rounding>,
}

impl Decorators {
    pub(super) fn masked(mask: Register) -> Decorators {
        Decorators { mask: Some(mask), ..Decorators::default() }
    }
    pub(super) fn zeroing(mask: Register) -> Decorators {
        Decorators { mask: Some(mask), zeroing: true, ..Decorators::default() }
    }
}

/// `[base + offset]`.
pub(super) fn at(base: Register, offset: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ_size(base, offset, 1)
}

/// `[base + offset]`, one element broadcast to all lanes.
pub(super) fn broadcast_at(base: Register, offset: i64) -> MemoryOperand {
    MemoryOperand::new(base, Register::None, 1, offset, 1, true, Register::None)
}

/// The 32-bit name of a general register.
pub(super) fn low(register: Register) -> Register {
    Register::EAX + (register as u32 - Register::RAX as u32)
}

/// A general register's number, by any of its names but those of the second bytes.
fn general_number(register: Register) -> Option<u32> {
    let names = [
        (Register::RAX, 16),
        (Register::EAX, 16),
        (Register::AX, 16),
        // AL, CL, DL, BL.
        (Register::AL, 4),
    ];
    names.into_iter().find_map(|(first, count)| {
        Some((register as u32).wrapping_sub(first as u32))
            .filter(|&at| at < count && at != Register::RSP as u32 - Register::RAX as u32)
    })
}

/// A direction of rounding as MXCSR and the operands of instructions number it.
pub(super) const fn direction_number(direction: Rounding) -> u32 {
    match direction {
        Rounding::NearestEven => 0,
        Rounding::Down => 1,
        Rounding::Up => 2,
        Rounding::TowardZero => 3,
    }
}

impl Asm {
    /// Code for a machine, whose instructions round in this direction unless they say another.
    pub(super) fn new(machine: Machine, home: Rounding) -> Asm {
        let avx2 = (machine == Machine::Avx2).then(|| Avx2::new(home));
        let neon = (machine == Machine::Neon).then(|| Neon::new(home));
        Asm { instructions: Vec::new(), labels: 0, bound: None, host_address: None, failure: None, avx2, neon }
    }
    /// The function's start: `frame` and `record` become what it is called with, and the environment is the frame's.
    pub(super) fn enter(&mut self, frame: Register, record: Register) {
        if let Some(neon) = &mut self.neon {
            return neon.enter(frame, record);
        }
        for register in SAVED {
            self.push(Instruction::with1(Code::Push_r64, register));
        }
        self.rr(Code::Mov_r64_rm64, frame, Register::RDI);
        self.rr(Code::Mov_r64_rm64, record, Register::RSI);
        self.push(Instruction::with1(Code::Stmxcsr_m32, at(frame, header::SAVED)));
        self.push(Instruction::with1(Code::Ldmxcsr_m32, at(frame, header::ENVIRONMENT)));
    }
    /// The return, with the result in RAX.
    pub(super) fn leave(&mut self) {
        if let Some(neon) = &mut self.neon {
            return neon.leave();
        }
        self.op0(Code::VEX_Vzeroupper);
        self.push(Instruction::with1(Code::Ldmxcsr_m32, at(FRAME, header::SAVED)));
        for register in SAVED.iter().rev() {
            self.push(Instruction::with1(Code::Pop_r64, *register));
        }
        self.op0(Code::Retnq);
    }
    /// How many instructions there are so far.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }
    /// Binds a label to this position.
    pub(super) fn bind(&mut self, label: Label) {
        self.host_address = None;
        if let Some(neon) = &mut self.neon {
            return neon.bind(label);
        }
        self.shorten_jumps(label);
        self.sequence(Asm::join_paths);
        if self.bound.is_some() {
            // An instruction has one label.
            self.push(Ok(Instruction::with(Code::Nopd)));
        }
        self.bound = Some(label);
    }
    /// A label that is bound next needs no jump there: `jcc there; jmp elsewhere; there:` becomes the opposite jump elsewhere.
    fn shorten_jumps(&mut self, Label(next): Label) {
        let is_to =
            |jump: &Instruction, label: u64| jump.op0_kind() == OpKind::NearBranch64 && jump.near_branch64() == label;
        let Some(last) = self.instructions.last().filter(|last| last.code() == Code::Jmp_rel32_64 && last.ip() == 0)
        else {
            return;
        };
        if is_to(last, next) {
            self.instructions.pop();
        } else if let [.., before, last] = &mut self.instructions[..]
            && is_to(before, next)
            && before.code() != Code::Jmp_rel32_64
        {
            before.set_code(before.code().negate_condition_code());
            before.set_near_branch64(last.near_branch64());
            self.instructions.pop();
        }
    }
    pub(super) fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        self.sequence(|asm| {
            let instruction = instruction?;
            asm.forget_written(&instruction);
            if let Some(neon) = &mut asm.neon {
                return neon.rewrite(&instruction);
            }
            if asm.avx2.is_some() {
                return asm.rewrite(instruction);
            }
            asm.append(instruction);
            Ok(())
        });
    }
    /// Writes some instructions, and keeps the first error.
    fn sequence(&mut self, write: impl FnOnce(&mut Asm) -> Result<(), AsmError>) {
        if let (Err(error), None) = (write(self), &self.failure) {
            self.failure = Some(error);
        }
    }
    /// What RAX held is not known once it or the number is written. An instruction writes no general register but its first operand.
    fn forget_written(&mut self, instruction: &Instruction) {
        let written = general_number(instruction.op0_register());
        let is_written = |register| written.is_some() && written == general_number(register);
        if self.host_address.is_some_and(|(_, number)| is_written(Register::RAX) || is_written(number)) {
            self.host_address = None;
        }
    }
    /// Whether RAX holds the host address at a site for the number in a register. If not, it will when this is said.
    pub(super) fn holds_host_address(&self, site: usize, number: Register) -> bool {
        self.host_address == Some((site, number))
    }
    pub(super) fn hold_host_address(&mut self, site: usize, number: Register) {
        self.host_address = Some((site, number));
    }
    /// Appends an instruction of the machine.
    fn append(&mut self, mut instruction: Instruction) {
        self.forget_written(&instruction);
        if let Some(Label(number)) = self.bound.take() {
            instruction.set_ip(number);
        }
        self.instructions.push(instruction);
    }
    pub(super) fn jump(&mut self, code: Code, Label(target): Label) {
        self.sequence(Asm::go_home);
        self.push(Instruction::with_branch(code, target));
    }
    pub(super) fn op0(&mut self, code: Code) {
        self.push(Ok(Instruction::with(code)));
    }
    pub(super) fn rr(&mut self, code: Code, a: Register, b: Register) {
        self.push(Instruction::with2(code, a, b));
    }
    pub(super) fn rm(&mut self, code: Code, a: Register, b: MemoryOperand) {
        self.push(Instruction::with2(code, a, b));
    }
    pub(super) fn mr(&mut self, code: Code, a: MemoryOperand, b: Register) {
        self.push(Instruction::with2(code, a, b));
    }
    pub(super) fn ri(&mut self, code: Code, a: Register, b: i32) {
        self.push(Instruction::with2(code, a, b));
    }
    pub(super) fn mi(&mut self, code: Code, a: MemoryOperand, b: i32) {
        self.push(Instruction::with2(code, a, b));
    }
    /// A constant of 64 bits into a general register, in the short form where it fits.
    pub(super) fn constant(&mut self, to: Register, value: u64) {
        match u32::try_from(value) {
            Ok(short) => self.push(Instruction::with2(Code::Mov_r32_imm32, low(to), short)),
            Err(_) => self.push(Instruction::with2(Code::Mov_r64_imm64, to, value)),
        }
    }
    /// An instruction with decorators.
    pub(super) fn vector(&mut self, instruction: Result<Instruction, IcedError>, decorators: Decorators) {
        self.push(instruction.map(|mut instruction| {
            if let Some(mask) = decorators.mask {
                instruction.set_op_mask(mask);
                instruction.set_zeroing_masking(decorators.zeroing);
            }
            if let Some(rounding) = decorators.rounding {
                instruction.set_rounding_control(match rounding {
                    Rounding::NearestEven => RoundingControl::RoundToNearest,
                    Rounding::TowardZero => RoundingControl::RoundTowardZero,
                    Rounding::Down => RoundingControl::RoundDown,
                    Rounding::Up => RoundingControl::RoundUp,
                });
            }
            instruction
        }));
    }
    /// The code's bytes, which are position-independent, and how many scratch registers it leaves alone, of those that may hold values.
    pub(super) fn finish(mut self) -> Result<(Vec<u8>, usize), AsmError> {
        if self.bound.is_some() {
            self.op0(Code::Nopd);
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some(neon) = self.neon {
            return Ok((neon.finish()?, 0));
        }
        let (instructions, spare) = match self.avx2 {
            Some(_) => avx2::with_spare_registers(avx2::without_dead_masks(self.instructions))?,
            None => (self.instructions, 0),
        };
        Ok((encode(instructions, self.labels as usize)?, spare))
    }
}

/// The bytes of x86-64 instructions, whose addresses are labels' numbers and those of jumps where they go. `BlockEncoder` finds
/// the shortest jumps of all, and takes twice as long.
fn encode(instructions: Vec<Instruction>, labels: usize) -> Result<Vec<u8>, AsmError> {
    // Any address: jumps are relative.
    const START: u64 = 0x1000_0000;
    // A distance of eight bits, from behind the jump, of which the short form has two.
    const SHORT: u64 = 126;
    let mut encoder = Encoder::try_with_capacity(64, 8 * instructions.len())?;
    // Labels count from 1; what has none has 0.
    let mut places: Vec<Option<u64>> = vec![None; labels + 1];
    let (mut at, mut jumps) = (START, Vec::new());
    for mut instruction in instructions {
        if let Some(place) = places.get_mut(instruction.ip() as usize) {
            *place = Some(at);
        }
        if instruction.op0_kind() != OpKind::NearBranch64 {
            at += encoder.encode(&instruction, at)? as u64;
            continue;
        }
        let label = instruction.near_branch64() as usize;
        let behind = places[label];
        instruction.set_near_branch64(behind.unwrap_or(at));
        if behind.is_some_and(|place| at - place <= SHORT) {
            instruction.set_code(instruction.code().as_short_branch());
        }
        at += encoder.encode(&instruction, at)? as u64;
        if behind.is_none() {
            jumps.push(((at - START) as usize, label));
        }
    }
    let mut code = encoder.take_buffer();
    for (end, label) in jumps {
        let place = places[label].ok_or(AsmError::Distance)? - START;
        let distance = i32::try_from(place as i64 - end as i64).map_err(|_| AsmError::Distance)?;
        code[end - 4..end].copy_from_slice(&distance.to_le_bytes());
    }
    Ok(code)
}
