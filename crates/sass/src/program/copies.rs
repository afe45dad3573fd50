//! Reads of a copy become reads of what was copied.

use roundonce_ir::{Kernel, Liveness, Op, Operand, Reg, Role, Terminator};

use super::places::{Place, places};

/// Propagates copies between registers that are written once, before they are read: on every path the copy then still
/// has its source's value.
pub(super) fn propagate(kernel: &mut Kernel) {
    let written_once = written_once(kernel);
    // By register, what it is a copy of.
    let mut sources: Vec<Option<Operand>> = vec![None; kernel.registers.len()];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        if let (&Op::Move { d, a }, None) = (&instruction.op, &instruction.guard)
            && written_once[d.0 as usize]
        {
            sources[d.0 as usize] = match a {
                Operand::Imm(bits) => Some(Operand::Imm(bits & kernel.width(d).mask())),
                Operand::Reg(source) if written_once[source.0 as usize] && kernel.width(source) == kernel.width(d) => {
                    Some(a)
                }
                Operand::Reg(_) => None,
            };
        }
    }
    resolve(&mut sources);
    let source = |register: Reg| sources[register.0 as usize];
    let rename = |register: &mut Reg| {
        if let Some(Operand::Reg(source)) = source(*register) {
            *register = source;
        }
    };
    for block in &mut kernel.blocks {
        for instruction in &mut block.instructions {
            if let Some(guard) = &mut instruction.guard {
                rename(&mut guard.pred);
            }
            places(&mut instruction.op, &mut |place| {
                if let Place::Use(operand) = place
                    && let Operand::Reg(register) = *operand
                    && let Some(source) = source(register)
                {
                    *operand = source;
                }
            });
        }
        match &mut block.terminator {
            Terminator::Branch { pred, .. } => rename(pred),
            Terminator::Switch { index: Operand::Reg(register), .. } => rename(register),
            _ => {}
        }
    }
}

/// By register, whether one instruction without a guard writes it, and every read is behind that.
fn written_once(kernel: &Kernel) -> Vec<bool> {
    let mut writes = vec![0_u32; kernel.registers.len()];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        instruction.op.registers(|role, register| {
            if role == Role::Def {
                writes[register.0 as usize] += if instruction.guard.is_some() { 2 } else { 1 };
            }
        });
    }
    let liveness = Liveness::of(kernel);
    let at_start = liveness.before_instruction(kernel, 0, 0);
    let is_once = |(register, &writes): (usize, &u32)| writes == 1 && !at_start.has(Reg(register as u32));
    writes.iter().enumerate().map(is_once).collect()
}

/// Follows copies of copies, each once.
fn resolve(sources: &mut [Option<Operand>]) {
    for register in 0..sources.len() {
        let mut chain = Vec::new();
        let mut last = register;
        // Taken out on the way, so that a ring of copies, which only unreachable code has, ends.
        while let Some(Operand::Reg(next)) = sources[last] {
            sources[last] = None;
            chain.push(last);
            last = next.0 as usize;
        }
        let end = sources[last].unwrap_or(Operand::Reg(Reg(last as u32)));
        chain.into_iter().for_each(|copy| sources[copy] = Some(end));
    }
}

#[cfg(test)]
mod tests {
    use super::super::simplify::tests::{after, copy};
    use super::*;
    use roundonce_ir::{Special, Width};

    fn propagated(code: Vec<(Op, Option<u32>)>) -> Vec<Op> {
        let widths = [Width::B32, Width::B32, Width::B32, Width::B32, Width::Pred];
        after(propagate, &widths, code)
    }
    fn tid(d: u32) -> Op {
        Op::Special { d: Reg(d), special: Special::Tid(0) }
    }

    #[test]
    fn copies_of_what_is_written_once_are_read_through() {
        let code = vec![(tid(0), None), (copy(1, Reg(0)), None), (copy(2, Reg(1)), None), (copy(3, Reg(2)), None)];
        assert_eq!(propagated(code), [tid(0), copy(1, Reg(0)), copy(2, Reg(0)), copy(3, Reg(0))]);
        let number = Operand::Imm(7);
        let code = vec![(copy(0, number), None), (copy(1, Reg(0)), None), (copy(2, Reg(1)), None)];
        assert_eq!(propagated(code), [copy(0, number), copy(1, number), copy(2, number)]);
    }

    #[test]
    fn others_are_read() {
        let written_twice = vec![(tid(0), None), (copy(1, Reg(0)), None), (tid(0), None), (copy(2, Reg(1)), None)];
        let read_before = vec![(copy(2, Reg(1)), None), (tid(0), None), (copy(1, Reg(0)), None)];
        let under_a_predicate = vec![(tid(0), None), (copy(1, Reg(0)), Some(4)), (copy(2, Reg(1)), None)];
        for code in [written_twice, read_before, under_a_predicate] {
            let ops: Vec<Op> = code.iter().map(|(op, _)| op.clone()).collect();
            assert_eq!(propagated(code), ops);
        }
    }
}
