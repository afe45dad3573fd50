//! What is known of a launch's registers in the whole kernel, whatever region they are in.

use super::LaunchConstants;
use super::budget::Budget;
use super::tile::TileLayout;
use super::warp_lanes::WarpLanes;
use roundonce_ir::{IntOp, Op, Operand, Reg, Role, Scalar, Space, Special, Width};
use std::sync::{Arc, OnceLock};

/// So many low bits of a number are known to be zero at most: more than a tile's patterns have. Or all are.
pub(super) const MAX_ZEROS: u32 = 16;
pub(super) const ALL_ZEROS: u32 = 64;

/// The facts, each found when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By the base-two logarithm of a tile's lanes.
    zeros: [OnceLock<Option<Arc<[u8]>>>; 8],
    of_indices: OnceLock<Option<Vec<bool>>>,
    /// By the logarithm of a tile's lanes.
    tiles: [OnceLock<Option<TileLayout>>; 8],
    warp_lanes: OnceLock<Option<Arc<WarpLanes>>>,
}

impl Numbers {
    /// How many low bits of each register are zero in the first lane of every tile of so many lanes. `None` where it would
    /// cost too much.
    pub(super) fn zeros(&self, launch: &LaunchConstants<'_>, lanes: usize, budget: &Budget) -> Option<Arc<[u8]>> {
        let known = &self.zeros[lanes.ilog2() as usize % self.zeros.len()];
        known.get_or_init(|| zeros(launch, lanes, budget)).clone()
    }
    /// The layout of tiles of so many lanes, if all of a block's are alike.
    pub(super) fn tile(&self, launch: &LaunchConstants<'_>, lanes: usize) -> Option<&TileLayout> {
        let known = &self.tiles[lanes.ilog2() as usize % self.tiles.len()];
        known.get_or_init(|| TileLayout::new(launch.config.block, lanes)).as_ref()
    }
    /// Which lanes of a warp run what, if lanes are told apart.
    pub(super) fn warp_lanes(&self, launch: &LaunchConstants<'_>, budget: &Budget) -> Option<Arc<WarpLanes>> {
        self.warp_lanes.get_or_init(|| WarpLanes::of(launch, budget).map(Arc::new)).clone()
    }
    /// Whether a register is computed from nothing but the thread's indices, parameters and constants: what pattern its lanes
    /// have does not depend on data.
    pub(super) fn is_of_indices(&self, launch: &LaunchConstants<'_>, reg: Reg, budget: &Budget) -> bool {
        let all = self.of_indices.get_or_init(|| of_indices(launch, budget));
        all.as_ref().is_some_and(|all| all[reg.0 as usize])
    }
}

/// Each instruction is done in the first lane as in any other, so that what its operands have there says what its results have:
/// one pass after the other until nothing changes, a bit of each register at a time.
fn zeros(launch: &LaunchConstants<'_>, lanes: usize, budget: &Budget) -> Option<Arc<[u8]>> {
    let threads = launch.config.threads();
    let starts = || (0..threads).step_by(lanes).map(|thread| LaunchConstants::axes(launch.config.block, thread as u64));
    let tid = [0, 1, 2].map(|axis| starts().map(|at| u64::from(at[axis]).trailing_zeros()).min().unwrap_or(0));
    let mut zeros = vec![ALL_ZEROS as u8; launch.code.kernel.registers.len()];
    let mut changed = true;
    while changed {
        changed = false;
        budget.spend(16 * launch.code.insts().count())?;
        for inst in launch.code.insts() {
            let result = match zeros_of(launch, inst.op, &zeros, tid) {
                ALL_ZEROS.. => ALL_ZEROS as u8,
                some => some.min(MAX_ZEROS) as u8,
            };
            inst.op.registers(|role, reg| {
                let known = &mut zeros[reg.0 as usize];
                if role == Role::Def && result < *known {
                    *known = result;
                    changed = true;
                }
            });
        }
    }
    Some(zeros.into())
}

fn zeros_of(launch: &LaunchConstants<'_>, op: &Op, zeros: &[u8], tid: [u32; 3]) -> u32 {
    let of = |operand: Operand| match operand {
        Operand::Imm(bits) => bits.trailing_zeros(),
        Operand::Reg(reg) => zeros[reg.0 as usize].into(),
    };
    match op {
        &Op::Move { a, .. } => of(a),
        &Op::Special { special: Special::Tid(axis), .. } => tid[usize::from(axis % 3)],
        &Op::Special { special, .. } => launch.constant(special).map_or(0, u64::trailing_zeros),
        &Op::Select { a, b, .. } => of(a).min(of(b)),
        Op::Load { d, space: Space::Param, bytes, signed, address: Operand::Imm(at), offset } if d.len() == 1 => {
            launch.param(at.wrapping_add(*offset as u64), *bytes, *signed).map_or(0, u64::trailing_zeros)
        }
        &Op::Convert { to: Scalar::Int { bits, .. }, from: Scalar::Int { .. }, saturate: false, a, .. }
            if bits >= 32 =>
        {
            of(a)
        }
        Op::Int { op, width: Width::B32 | Width::B64, args: [a, b, c, _], .. } => {
            let (a, b, c) = (*a, *b, *c);
            let count = match b {
                Operand::Imm(count) => Some(count.min(64) as u32),
                Operand::Reg(_) => None,
            };
            match op {
                IntOp::Add | IntOp::Sub | IntOp::Or | IntOp::Xor | IntOp::Min(_) | IntOp::Max(_) => of(a).min(of(b)),
                IntOp::And => {
                    // What is left of a constant's bits above the zeros of the other.
                    let left = |bits: Operand, zeros: u32| match bits {
                        Operand::Imm(bits) => bits.checked_shr(zeros).unwrap_or(0),
                        Operand::Reg(_) => u64::MAX,
                    };
                    if left(b, of(a)) == 0 || left(a, of(b)) == 0 { ALL_ZEROS } else { of(a).max(of(b)) }
                }
                IntOp::Mul | IntOp::MulWide(_) => of(a) + of(b),
                IntOp::MulAdd | IntOp::MulAddWide(_) => (of(a) + of(b)).min(of(c)),
                IntOp::Shl => of(a) + count.unwrap_or(0),
                IntOp::Shr(_) if of(a) == ALL_ZEROS => ALL_ZEROS,
                IntOp::Shr(_) => count.map_or(0, |count| of(a).saturating_sub(count)),
                _ => 0,
            }
        }
        _ => 0,
    }
}

fn of_indices(launch: &LaunchConstants<'_>, budget: &Budget) -> Option<Vec<bool>> {
    let mut is_one = vec![true; launch.code.kernel.registers.len()];
    let mut changed = true;
    while changed {
        changed = false;
        budget.spend(16 * launch.code.insts().count())?;
        for inst in launch.code.insts() {
            let is_arithmetic = match inst.op {
                Op::Move { .. } | Op::Int { .. } | Op::Select { .. } | Op::Special { .. } => inst.guard.is_none(),
                Op::Convert { to: Scalar::Int { .. }, from: Scalar::Int { .. }, .. } => inst.guard.is_none(),
                Op::Load { space: Space::Param, .. } => true,
                _ => false,
            };
            let mut derived = is_arithmetic;
            inst.op.registers(|role, reg| derived &= role == Role::Def || is_one[reg.0 as usize]);
            inst.op.registers(|role, reg| {
                if role == Role::Def && !derived {
                    changed |= std::mem::replace(&mut is_one[reg.0 as usize], false);
                }
            });
        }
    }
    Some(is_one)
}
