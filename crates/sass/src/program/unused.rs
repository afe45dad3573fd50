//! What nothing reads, left out, and the registers split.

use roundonce_ir::{Kernel, Liveness, Op, Program, Role, Special};

use super::{live_ranges, pairs};

/// Leaves out of a program what nothing reads: condition codes, and halves of sums that are known whole; and gives each value
/// a register of its own. Its results stay; a trace of it lacks what was left out.
pub fn without_unused(program: &mut Program) {
    for kernel in &mut program.kernels {
        of_kernel(kernel);
        live_ranges::split(kernel);
        pairs::join(kernel);
        of_kernel(kernel);
    }
}

fn of_kernel(kernel: &mut Kernel) {
    let liveness = Liveness::of(kernel);
    for block in 0..kernel.blocks.len() {
        let count = kernel.blocks[block].instructions.len();
        let mut live = liveness.before_instruction(kernel, block, count);
        let mut used = vec![true; count];
        for (at, step) in kernel.blocks[block].instructions.iter().enumerate().rev() {
            let mut is_used = !computes_alone(&step.op);
            step.op.registers(|role, reg| is_used |= role == Role::Def && live.has(reg));
            used[at] = is_used;
            if is_used {
                live.step(step);
            }
        }
        let mut used = used.into_iter();
        kernel.blocks[block].instructions.retain(|_| used.next().unwrap_or(true));
    }
}

/// Whether nothing but the result shows that an operation ran.
fn computes_alone(op: &Op) -> bool {
    matches!(
        op,
        Op::Move { .. }
            | Op::Int { .. }
            | Op::Compare { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::Sign { .. }
    ) || matches!(op, Op::Special { special, .. } if !matches!(special, Special::Clock))
}
