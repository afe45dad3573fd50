//! Where registers' values come from, whatever the order of the instructions.

use std::collections::HashMap;

use super::{
    Block, Comparand, Comparison, Instruction, IntOp, Kernel, Liveness, Op, Operand, Program, Reg, Role, Space, Width,
};

/// What an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written<T> {
    /// This.
    Value(T),
    /// What every operand holds.
    Operands,
    /// What this one holds.
    Operand(Operand),
}

/// The least values of a kernel's registers such that what an instruction writes is at least what `written` says of it.
/// `join` gives the least value that is at least both.
pub fn propagate<T: Copy + PartialEq>(
    kernel: &Kernel,
    least: T,
    join: impl Fn(T, T) -> T,
    written: impl Fn(&Op) -> Written<T>,
) -> Vec<T> {
    let mut values = vec![least; kernel.registers.len()];
    // By register, what is written by the instructions that read it.
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); values.len()];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        let written = written(&instruction.op);
        instruction.op.registers(|role, d| {
            if role == Role::Use {
                return;
            }
            match written {
                Written::Value(value) => values[d.0 as usize] = join(values[d.0 as usize], value),
                Written::Operand(Operand::Reg(reg)) => into[reg.0 as usize].push(d.0),
                Written::Operand(Operand::Imm(_)) => {}
                Written::Operands => instruction.op.registers(|role, reg| {
                    if role == Role::Use {
                        into[reg.0 as usize].push(d.0);
                    }
                }),
            }
        });
    }
    let mut todo: Vec<usize> = (0..values.len()).collect();
    while let Some(reg) = todo.pop() {
        for &to in &into[reg] {
            let joined = join(values[to as usize], values[reg]);
            if joined != values[to as usize] {
                values[to as usize] = joined;
                todo.push(to as usize);
            }
        }
    }
    values
}

/// A kernel's parameters by their bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamBytes(Vec<(i64, i64, usize)>);

impl ParamBytes {
    /// Of a kernel.
    pub fn of(kernel: &Kernel) -> ParamBytes {
        let params = kernel.params.iter().enumerate();
        let spans = params.map(|(index, param)| {
            let start = i64::from(param.offset);
            (start, start + i64::from(param.size), index)
        });
        let mut spans: Vec<_> = spans.collect();
        spans.sort_unstable();
        ParamBytes(spans)
    }

    /// The parameter that a byte of the parameter block is of, and whether it is the first.
    pub fn at(&self, byte: i64) -> Option<(usize, bool)> {
        let place = self.0.partition_point(|&(start, ..)| start <= byte).checked_sub(1)?;
        let (start, end, index) = self.0[place];
        (byte < end).then_some((index, byte == start))
    }

    /// The parameter that each of so many bytes is of, if it is of one.
    pub fn each(&self, first: i64, bytes: i64) -> impl Iterator<Item = Option<usize>> {
        (0..bytes).map(move |byte| Some(self.at(first.wrapping_add(byte))?.0))
    }
}

/// For each of a kernel's first 64 parameters whether its value may be where a load or a store goes, with nothing but
/// sums in between, and local memory that keeps it. Machine code takes an address in halves.
pub fn pointer_parameters(program: &Program, kernel: &Kernel) -> Vec<bool> {
    let from = parameters_in_sums(program, kernel);
    let pointers = addresses(kernel).fold(0, |all, reg| all | from[reg.0 as usize]);
    (0..kernel.params.len()).map(|index| index < 64 && pointers >> index & 1 == 1).collect()
}

/// For each of a kernel's first 64 parameters whether something is computed from it, and never an address of memory: no load or
/// store goes where it, or what sums, selections, masks and exchanges between lanes make of it, says, and nothing keeps it
/// whole for a later one. What is scaled or compared is a number, but for a comparison with null: an address of which a kernel
/// asks no more, or which it only prefetches, is none. An argument that is an address makes no sense for a number.
pub fn number_parameters(program: &Program, kernel: &Kernel) -> Vec<bool> {
    let params = ParamBytes::of(kernel);
    let pointers = pointer_parameters(program, kernel);
    let loaded = |at: u64, offset: i64, bytes: i64| {
        let found = params.each((at as i64).wrapping_add(offset), bytes).flatten();
        found.filter(|&index| index < 64).fold(0u64, |all, index| all | 1 << index)
    };
    let from = propagate(
        kernel,
        0u64,
        |one, other| one | other,
        |op| match op {
            Op::Load { d, space: Space::Param, address: Operand::Imm(at), offset, bytes, .. } => {
                Written::Value(loaded(*at, *offset, i64::from(*bytes) * d.len() as i64))
            }
            op if passes_on(op) => Written::Operands,
            Op::Int { op: IntOp::MulAdd | IntOp::MulAddWide(_), args, .. } => Written::Operand(args[2]),
            _ => Written::Value(0),
        },
    );
    let of = |operand: &Operand| match operand {
        Operand::Reg(reg) => from[reg.0 as usize],
        Operand::Imm(_) => 0,
    };
    let used = |op: &Op| {
        let mut all = 0;
        op.registers(|role, reg| all |= if role == Role::Use { from[reg.0 as usize] } else { 0 });
        all
    };
    let (mut computed, mut kept) = (0, 0);
    for op in kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op) {
        match op {
            Op::Load { space: Space::Param, address: Operand::Imm(_), .. } => {}
            // Which one it reads is not known.
            Op::Load { space: Space::Param, .. } => kept = u64::MAX,
            Op::Load { address, .. } => kept |= of(address),
            Op::Store { values, bytes, address, .. } => {
                kept |= of(address);
                // A part of an address is none.
                let is_whole = 8 * bytes * values.len() as u32 >= program.address_bits;
                let stored = if is_whole { &mut kept } else { &mut computed };
                *stored |= values.iter().fold(0, |all, value| all | of(value));
            }
            Op::Atomic { .. }
            | Op::Print { .. }
            | Op::Unsupported { .. }
            | Op::ImageLoad { .. }
            | Op::ImageStore { .. }
            | Op::ImageAddress { .. }
            | Op::ImageSample { .. }
            | Op::ImageQuery { .. } => kept |= used(op),
            Op::Compare {
                comparison: Comparison::Eq | Comparison::Ne,
                of: Comparand::Unsigned(width) | Comparand::Signed(width),
                b: Operand::Imm(0),
                ..
            } if width.bits() == program.address_bits => {}
            op if passes_on(op) => {}
            op => computed |= used(op),
        }
    }
    let is_number = |index: usize| index < 64 && computed >> index & 1 == 1 && kept >> index & 1 == 0;
    pointers.iter().enumerate().map(|(index, is_pointer)| !is_pointer && is_number(index)).collect()
}

/// Whether what an operation makes of an address may be one.
fn passes_on(op: &Op) -> bool {
    matches!(
        op,
        Op::Move { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::Carry { .. }
            | Op::Shuffle { .. }
            | Op::Int {
                op: IntOp::Add
                    | IntOp::Sub
                    | IntOp::AddSat
                    | IntOp::SubSat
                    | IntOp::And
                    | IntOp::Or
                    | IntOp::Xor
                    | IntOp::Not
                    | IntOp::Min(_)
                    | IntOp::Max(_)
                    | IntOp::FieldExtract(_)
                    | IntOp::FieldInsert
                    | IntOp::Permute
                    | IntOp::PermuteMode(_),
                ..
            }
    )
}

/// Two parameters of [`pointer_parameters`] that an address is the sum of: one of them is a distance, and nothing says which.
pub fn summed_parameters(program: &Program, kernel: &Kernel) -> Option<[usize; 2]> {
    // A register may hold one of them first and a distance later.
    sums(program, kernel).and_then(|_| sums(program, &written_once(kernel)))
}

/// What [`sums`] looks at of a kernel, with a register of its own for whatever does not outlive its block. What nothing
/// writes here comes from no parameter.
fn written_once(kernel: &Kernel) -> Kernel {
    let liveness = Liveness::of(kernel);
    let mut apart = Kernel { blocks: Vec::with_capacity(kernel.blocks.len()), ..kernel.clone() };
    for (number, block) in kernel.blocks.iter().enumerate() {
        let after = liveness.after(kernel, number);
        // Where each register that outlives the block is written last, whatever a guard says.
        let mut last: HashMap<Reg, usize> = HashMap::new();
        for (at, Instruction { op, guard, .. }) in block.instructions.iter().enumerate() {
            op.registers(|role, reg| {
                if role == Role::Def && guard.is_none() && after.has(reg) {
                    last.insert(reg, at);
                }
            });
        }
        let mut names: HashMap<Reg, Reg> = HashMap::new();
        let mut instructions = Vec::new();
        for (at, Instruction { op, guard, loc, order }) in block.instructions.iter().enumerate() {
            let read = |operand: Operand| match operand {
                Operand::Reg(reg) => Operand::Reg(names.get(&reg).copied().unwrap_or(reg)),
                known => known,
            };
            let from: Option<Op> = match *op {
                Op::Move { d, a } => Some(Op::Move { d, a: read(a) }),
                Op::Select { d, a, b, .. } => Some(Op::Select { d, p: Operand::ZERO, a: read(a), b: read(b) }),
                Op::Pack { d, low, high } => Some(Op::Pack { d, low: read(low), high: read(high) }),
                Op::Carry { d, subtract, a, b, .. } => {
                    Some(Op::Carry { d, out: None, subtract, carry: Operand::ZERO, a: read(a), b: read(b) })
                }
                Op::Int { d, op, width, args } => Some(Op::Int { d, op, width, args: args.map(read) }),
                Op::Extract { d, a, width, shift } => Some(Op::Extract { d, a: read(a), width, shift }),
                Op::Load { ref d, space, bytes, signed, address, offset } => {
                    Some(Op::Load { d: d.clone(), space, bytes, signed, address: read(address), offset })
                }
                Op::Store { space, bytes, address, offset, .. } | Op::Atomic { space, bytes, address, offset, .. } => {
                    let (values, width) = (Vec::new(), Width::B32);
                    Some(Op::Store { values, width, space, bytes, address: read(address), offset })
                }
                _ => None,
            };
            let mut written = Vec::new();
            op.registers(|role, reg| {
                if role == Role::Def {
                    let stays = after.has(reg) && last.get(&reg) == Some(&at);
                    let name = match guard {
                        Some(_) => names.get(&reg).copied().unwrap_or(reg),
                        None if stays => reg,
                        None => apart.register(kernel.width(reg)),
                    };
                    written.push((reg, name));
                }
            });
            let name = |reg: Reg| written.iter().find(|(of, _)| *of == reg).map_or(reg, |&(_, name)| name);
            if let Some(mut from) = from {
                match &mut from {
                    Op::Move { d, .. }
                    | Op::Select { d, .. }
                    | Op::Pack { d, .. }
                    | Op::Carry { d, .. }
                    | Op::Extract { d, .. }
                    | Op::Int { d, .. } => *d = name(*d),
                    Op::Load { d, .. } => d.iter_mut().flatten().for_each(|d| *d = name(*d)),
                    _ => {}
                }
                instructions.push(Instruction { op: from, guard: *guard, loc: *loc, order: *order });
            }
            names.extend(written);
        }
        apart.blocks.push(Block { instructions, terminator: block.terminator.clone(), loc: block.loc });
    }
    apart
}

fn sums(program: &Program, kernel: &Kernel) -> Option<[usize; 2]> {
    let from = parameters_in_sums(program, kernel);
    let of = |operand: Operand| match operand {
        Operand::Reg(reg) => from[reg.0 as usize],
        Operand::Imm(_) => 0,
    };
    let ops = || kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op);
    // By register, the sums that it is.
    let mut made: Vec<Vec<&Op>> = vec![Vec::new(); from.len()];
    for op in ops() {
        if let Op::Move { d, .. }
        | Op::Select { d, .. }
        | Op::Pack { d, .. }
        | Op::Extract { d, .. }
        | Op::Carry { d, .. }
        | Op::Int { d, op: IntOp::Add | IntOp::Sub, .. } = op
        {
            made[d.0 as usize].push(op);
        }
    }
    let mut seen = vec![false; from.len()];
    let mut todo: Vec<_> = addresses(kernel).collect();
    while let Some(reg) = todo.pop() {
        if std::mem::replace(&mut seen[reg.0 as usize], true) {
            continue;
        }
        for op in &made[reg.0 as usize] {
            if let Op::Carry { a, b, .. } | Op::Int { args: [a, b, ..], .. } = op {
                let (a, b) = (of(*a), of(*b));
                if a != 0 && b != 0 && (a | b).count_ones() > 1 {
                    let all = a | b;
                    let rest = all & (all - 1);
                    return Some([all, rest].map(|bits| bits.trailing_zeros() as usize));
                }
            }
            op.registers(|role, reg| {
                if role == Role::Use {
                    todo.push(reg);
                }
            });
        }
    }
    None
}

/// The registers that loads and stores take addresses of buffers from.
fn addresses(kernel: &Kernel) -> impl Iterator<Item = Reg> {
    let ops = kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op);
    ops.filter_map(|op| match op {
        Op::Load { address, space, .. } | Op::Store { address, space, .. } | Op::Atomic { address, space, .. } => {
            match (address, space) {
                (Operand::Reg(reg), Space::Global | Space::Generic | Space::Const) => Some(*reg),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Where memory is by the text: what an address register holds beside a number that is added to it.
type Slot = (Operand, i64);

/// Addresses that code without optimisation makes of one register: each is that and a number.
struct Slots {
    /// Of registers that one instruction writes, a move or a sum with a number, what that is.
    made: Vec<Option<Slot>>,
}

impl Slots {
    /// More sums than these in a row are no compiler's.
    const MAX_SUMS: usize = 8;

    fn of(kernel: &Kernel) -> Slots {
        let mut made = vec![None; kernel.registers.len()];
        let mut writes = vec![0u32; made.len()];
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            instruction.op.registers(|role, reg| writes[reg.0 as usize] += u32::from(role == Role::Def));
            match instruction.op {
                Op::Move { d, a } => made[d.0 as usize] = Some((a, 0)),
                Op::Int {
                    d,
                    op: IntOp::Add,
                    args: [a, Operand::Imm(number), ..] | [Operand::Imm(number), a, ..],
                    ..
                } => {
                    made[d.0 as usize] = Some((a, number as i64));
                }
                _ => {}
            }
        }
        made.iter_mut().zip(writes).filter(|(_, writes)| *writes > 1).for_each(|(made, _)| *made = None);
        Slots { made }
    }

    fn at(&self, mut address: Operand, mut offset: i64) -> Slot {
        for _ in 0..Slots::MAX_SUMS {
            let Operand::Reg(reg) = address else { break };
            let Some((base, number)) = self.made[reg.0 as usize] else { break };
            (address, offset) = (base, offset.wrapping_add(number));
        }
        (address, offset)
    }

    /// Of elements side by side.
    fn each(&self, address: Operand, offset: i64, bytes: u32, count: usize) -> impl Iterator<Item = Slot> {
        let first = self.at(address, offset);
        (0..count as i64).map(move |index| (first.0, first.1.wrapping_add(index * i64::from(bytes))))
    }
}

/// How often what is kept in memory is followed to where it is loaded and kept again.
const MAX_KEPT: usize = 8;

/// Of each register the first 64 parameters, as bits, that it may be a sum of, also where such a sum was stored and is
/// loaded at the same [`Slot`].
fn parameters_in_sums(program: &Program, kernel: &Kernel) -> Vec<u64> {
    let address_bytes = program.address_bits / 8;
    let slots = Slots::of(kernel);
    let mut kept: HashMap<Slot, u64> = HashMap::new();
    let mut from = sums_of_parameters(program, kernel, |_| 0);
    for _ in 0..MAX_KEPT {
        let mut grows = false;
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            let Op::Store { values, space: Space::Local | Space::Generic, bytes, address, offset, .. } =
                &instruction.op
            else {
                continue;
            };
            let places = slots.each(*address, *offset, *bytes, values.len());
            for (slot, value) in places.zip(values).filter(|_| *bytes >= address_bytes) {
                let Operand::Reg(value) = value else { continue };
                let bits = from[value.0 as usize];
                if bits != 0 {
                    let known = kept.entry(slot).or_default();
                    grows |= bits & !*known != 0;
                    *known |= bits;
                }
            }
        }
        if !grows {
            break;
        }
        from = sums_of_parameters(program, kernel, |op| match op {
            Op::Load { d, space: Space::Local | Space::Generic, bytes, address, offset, .. } => {
                let found = slots.each(*address, *offset, *bytes, d.len()).filter_map(|slot| kept.get(&slot));
                found.fold(0, |all, bits| all | bits)
            }
            _ => 0,
        });
    }
    from
}

/// The same of registers alone, and of loads as `loaded` says.
fn sums_of_parameters(program: &Program, kernel: &Kernel, loaded: impl Fn(&Op) -> u64) -> Vec<u64> {
    let params = ParamBytes::of(kernel);
    let address_bytes = program.address_bits / 8;
    propagate(
        kernel,
        0u64,
        |one, other| one | other,
        |op| match op {
            Op::Load { space: Space::Param, address: Operand::Imm(at), offset, bytes, .. } => {
                let param = params.at((*at as i64).wrapping_add(*offset));
                // Compilers before PTX 2.3 take those of 32 bits as 64.
                let is_address = |index: usize| {
                    *bytes >= address_bytes || 2 * *bytes == address_bytes && kernel.params[index].size == address_bytes
                };
                let param = param.filter(|&(index, first)| first && index < 64 && is_address(index));
                Written::Value(param.map_or(0, |(index, _)| 1 << index))
            }
            Op::Move { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Carry { .. }
            | Op::Int { op: IntOp::Add | IntOp::Sub, .. } => Written::Operands,
            Op::Int { op: IntOp::MulAdd | IntOp::MulAddWide(_), args, .. } => Written::Operand(args[2]),
            Op::Extract { a, shift: 0, width: Width::B64, .. } if address_bytes == 4 => Written::Operand(*a),
            op => Written::Value(loaded(op)),
        },
    )
}
