//! Where threads of a workgroup may stand without the others, so that a barrier of all is undefined in SPIR-V.

use roundonce_ir::{Cfg, Kernel, Op, Operand, Role, Space, Special, Terminator};

use super::shape::is_pure;

/// The blocks that some threads of a workgroup may reach without the others, as far as the code says.
pub(super) fn divergent_blocks(kernel: &Kernel) -> Vec<bool> {
    let meets = Cfg::of(kernel).ipdom;
    let mut varying = vec![false; kernel.registers.len()];
    let mut divergent = vec![false; kernel.blocks.len()];
    // Where threads are known to part: what is behind has been marked.
    let mut parting = divergent.clone();
    loop {
        let mut changed = false;
        for (number, block) in kernel.blocks.iter().enumerate() {
            for instruction in &block.instructions {
                let guarded = instruction.guard.is_some_and(|guard| varying[guard.pred.0 as usize]);
                let mut varies = divergent[number] || guarded || !is_uniform(&instruction.op);
                instruction.op.registers(|role, reg| varies |= role == Role::Use && varying[reg.0 as usize]);
                instruction.op.registers(|role, reg| {
                    changed |= varies && role == Role::Def && !std::mem::replace(&mut varying[reg.0 as usize], true);
                });
                if guarded && instruction.op == Op::Exit {
                    changed |= spread(kernel, number, None, &mut divergent);
                }
            }
            let parts = match &block.terminator {
                Terminator::Branch { pred, .. } => varying[pred.0 as usize],
                Terminator::Switch { index: Operand::Reg(index), .. } => varying[index.0 as usize],
                _ => false,
            };
            if parts && !std::mem::replace(&mut parting[number], true) {
                changed |= spread(kernel, number, meets[number], &mut divergent);
            }
        }
        if !changed {
            return divergent;
        }
    }
}

/// Marks the blocks behind one, up to where all paths meet again: whether any is new.
fn spread(kernel: &Kernel, from: usize, meets: Option<usize>, divergent: &mut [bool]) -> bool {
    let mut todo = kernel.blocks[from].terminator.successors();
    let (mut seen, mut changed) = (vec![false; divergent.len()], false);
    while let Some(block) = todo.pop() {
        if Some(block) == meets || std::mem::replace(&mut seen[block], true) {
            continue;
        }
        changed |= !std::mem::replace(&mut divergent[block], true);
        todo.extend(kernel.blocks[block].terminator.successors());
    }
    changed
}

/// Whether all threads of a workgroup get the same from the same operands.
fn is_uniform(op: &Op) -> bool {
    match op {
        Op::Special { special, .. } => matches!(
            special,
            Special::Ntid(_)
                | Special::Ctaid(_)
                | Special::Nctaid(_)
                | Special::Warps
                | Special::DynamicShared
                | Special::TotalShared
                | Special::Address(_)
                | Special::BufferBytes(_)
                | Special::SharedWindow
                | Special::ParamWindow
                | Special::Placement(_)
        ),
        Op::Load { space: Space::Param | Space::Const, .. } => true,
        op => is_pure(op),
    }
}

#[cfg(test)]
mod tests {
    use super::divergent_blocks;

    /// The stores in a kernel's divergent blocks, sorted.
    fn stores(body: &str) -> Vec<String> {
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .pred q;\n\
             .reg .b32 n, t, i;\n.reg .b64 a;\nld.param.u64 a, [p];\nld.param.u32 n, [n];\nmov.u32 t, %tid.x;\n{body}\n}}\n"
        );
        let parsed = roundonce_ptx::parse(&text);
        let program = roundonce_ptx::lower(&parsed.module, None).unwrap();
        let kernel = &program.kernels[0];
        let divergent = divergent_blocks(kernel);
        let blocks = kernel.blocks.iter().zip(divergent).filter(|(_, divergent)| *divergent);
        let texts = blocks.flat_map(|(block, _)| &block.instructions);
        let texts = texts.map(|at| kernel.source_locs[at.loc as usize].text.clone());
        let mut stores: Vec<String> = texts.filter(|text| text.starts_with("st.")).collect();
        stores.sort();
        stores
    }

    #[test]
    fn by_the_argument_and_by_the_thread() {
        let choice =
            "@q bra A;\nst.global.u32 [a], 1;\nbra B;\nA: st.global.u32 [a], 2;\nB: st.global.u32 [a], 3;\nret;";
        assert_eq!(stores(&format!("setp.eq.u32 q, n, 0;\n{choice}")), [""; 0]);
        assert_eq!(
            stores(&format!("setp.eq.u32 q, t, 0;\n{choice}")),
            ["st.global.u32 [a], 1", "st.global.u32 [a], 2"]
        );
    }

    #[test]
    fn loops_and_what_follows_an_exit() {
        let count = |bound: &str| {
            format!(
                "mov.u32 i, 0;\nL: st.global.u32 [a], 1;\nadd.u32 i, i, 1;\nsetp.lt.u32 q, i, {bound};\n@q bra L;\n\
                 st.global.u32 [a], 2;\nret;"
            )
        };
        assert_eq!(stores(&count("n")), [""; 0]);
        assert_eq!(stores(&count("t")), ["st.global.u32 [a], 1"]);
        let leaves = "setp.lt.u32 q, t, n;\n@q bra L;\nret;\nL: st.global.u32 [a], 1;\nret;";
        assert_eq!(stores(leaves), ["st.global.u32 [a], 1"]);
    }
}
