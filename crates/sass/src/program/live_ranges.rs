//! A register of machine code holds one value after the other: each live range gets a register of its own, as code from a
//! compiler's middle end has it. What an engine knows of a register holds for all that is ever in it.

use std::collections::HashMap;

use roundonce_ir::{Kernel, Liveness, Operand, Reg, Role, Terminator};

use super::places::{Place, places};

/// The most registers that are live at the starts of blocks, together.
const MOST: usize = 1 << 20;
const NONE: u32 = u32::MAX;

/// Values of registers, those joined that an instruction may read one or the other of.
struct Values {
    /// By value, another one of its live range, or itself.
    joined: Vec<u32>,
    register: Vec<Reg>,
}

impl Values {
    fn add(&mut self, register: Reg) -> u32 {
        self.joined.push(self.joined.len() as u32);
        self.register.push(register);
        self.joined.len() as u32 - 1
    }

    fn find(&mut self, mut value: u32) -> u32 {
        while self.joined[value as usize] != value {
            let next = self.joined[value as usize];
            self.joined[value as usize] = self.joined[next as usize];
            value = next;
        }
        value
    }

    /// The smaller number stands for both, so that a register's first value does.
    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.find(one), self.find(other));
        self.joined[one.max(other) as usize] = one.min(other);
    }
}

/// Splits the registers of a kernel; one of more than 2^20 registers at the starts of its blocks stays as it is.
pub(super) fn split(kernel: &mut Kernel) {
    let liveness = Liveness::of(kernel);
    let Some(entries) = live_entries(kernel, &liveness) else { return };
    // The first values are what the registers hold before anything is written: they keep their names.
    let count = kernel.registers.len() as u32;
    let mut values = Values { joined: (0..count).collect(), register: (0..count).map(Reg).collect() };
    let entries: Vec<HashMap<Reg, u32>> = entries
        .into_iter()
        .map(|live| live.into_iter().map(|register| (register, values.add(register))).collect())
        .collect();
    entries[0].iter().for_each(|(register, &value)| values.join(register.0, value));
    // The value at each place that names a register, in the order of [`places`].
    let mut named: Vec<u32> = Vec::new();
    let mut now = vec![NONE; kernel.registers.len()];
    for (block, entry) in kernel.blocks.iter_mut().zip(&entries) {
        entry.iter().for_each(|(register, &value)| now[register.0 as usize] = value);
        for instruction in &mut block.instructions {
            let guarded = instruction.guard.is_some();
            if let Some(guard) = &instruction.guard {
                named.push(held(&now, guard.pred));
            }
            let fixed = !places(&mut instruction.op, &mut |_| ());
            instruction.op.registers(|role, register| {
                let value = match role {
                    // A guarded write leaves the old value where the guard does not hold.
                    Role::Def if !guarded && !fixed => values.add(register),
                    _ => held(&now, register),
                };
                if fixed {
                    values.join(value, register.0);
                }
                if role == Role::Def {
                    now[register.0 as usize] = value;
                }
                named.push(value);
            });
        }
        match &block.terminator {
            Terminator::Branch { pred, .. } => named.push(held(&now, *pred)),
            Terminator::Switch { index: Operand::Reg(register), .. } => named.push(held(&now, *register)),
            _ => {}
        }
        for next in block.terminator.successors() {
            for (register, &value) in &entries[next] {
                values.join(value, held(&now, *register));
            }
        }
        // Of this block alone: filling all of it for every block would take as long as both together are long.
        entry.keys().for_each(|register| now[register.0 as usize] = NONE);
        for instruction in &block.instructions {
            instruction.op.registers(|_, register| now[register.0 as usize] = NONE);
        }
    }
    rename(kernel, &mut values, &named);
}

/// What a register holds: what it held before anything was written, where this block wrote nothing.
fn held(now: &[u32], register: Reg) -> u32 {
    match now[register.0 as usize] {
        NONE => register.0,
        value => value,
    }
}

/// The registers that are live at the start of each block.
fn live_entries(kernel: &Kernel, liveness: &Liveness) -> Option<Vec<Vec<Reg>>> {
    let globals: Vec<Reg> =
        (0..kernel.registers.len() as u32).map(Reg).filter(|register| liveness.bit(*register).is_some()).collect();
    let mut all = Vec::with_capacity(kernel.blocks.len());
    let mut count = 0;
    for block in 0..kernel.blocks.len() {
        let before = liveness.before(block)?;
        let is_live =
            |register: &Reg| liveness.bit(*register).is_some_and(|bit| before[bit / 64] >> (bit % 64) & 1 != 0);
        let live: Vec<Reg> = globals.iter().copied().filter(is_live).collect();
        count += live.len();
        if count > MOST {
            return None;
        }
        all.push(live);
    }
    Some(all)
}

fn rename(kernel: &mut Kernel, values: &mut Values, named: &[u32]) {
    let originals = kernel.registers.len() as u32;
    let mut names: HashMap<u32, Reg> = HashMap::new();
    // A register that is never read before it is written gives its name to its first live range.
    let mut taken = vec![false; originals as usize];
    for &value in named {
        let range = values.find(value);
        if range < originals {
            taken[range as usize] = true;
        }
    }
    let mut registers = std::mem::take(&mut kernel.registers);
    let mut named = named.iter();
    let mut next = |place: &mut Reg| {
        let Some(&value) = named.next() else { return };
        let range = values.find(value);
        let original = values.register[range as usize];
        *place = *names.entry(range).or_insert_with(|| {
            if range < originals || !std::mem::replace(&mut taken[original.0 as usize], true) {
                return original;
            }
            registers.push(registers[original.0 as usize]);
            Reg(registers.len() as u32 - 1)
        });
    };
    for block in &mut kernel.blocks {
        for instruction in &mut block.instructions {
            if let Some(guard) = &mut instruction.guard {
                next(&mut guard.pred);
            }
            if places(&mut instruction.op, &mut |_| ()) {
                places(&mut instruction.op, &mut |place| match place {
                    Place::Use(Operand::Reg(register)) | Place::Def(register) => next(register),
                    Place::Use(Operand::Imm(_)) => {}
                });
            } else {
                // They keep their names.
                instruction.op.registers(|_, register| next(&mut { register }));
            }
        }
        match &mut block.terminator {
            Terminator::Branch { pred, .. } => next(pred),
            Terminator::Switch { index: Operand::Reg(register), .. } => next(register),
            _ => {}
        }
    }
    kernel.registers = registers;
}
