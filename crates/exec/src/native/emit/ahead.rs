//! Lines of memory that are asked for before they are accessed: those of the tiles behind a tile, by the tile's loads, and those of the
//! group behind a group, where groups run from barrier to barrier (`interp/phases`).

use super::super::asm::{Label, at};
use super::super::frame::header;
use super::{Emitter, FRAME, RAX};
use crate::kernel::Machine;
use crate::native::LaunchConstants;
use crate::native::region::Region;
use crate::native::shape::{Shapes, VectorShape};
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{IntOp, Op};
use std::collections::BTreeMap;

/// Bytes of a cache line; how far ahead lines are asked for, outside of loops and in them, and of accesses of how many bytes; and what the
/// caches hold anyway.
pub(crate) const LINE: u64 = 64;
const PREFETCH_DISTANCE: i64 = 3072;
const PREFETCH_DISTANCE_IN_LOOPS: i64 = 1024;
const MAX_PREFETCHED: u64 = 1024;
const CACHE: u64 = 1 << 20;
/// So many lines a tile asks for of those that its caller names.
pub(in crate::native) const LINES_OF_TILE: u64 = 4;

/// Whether a launch's buffers are more than the caches hold. On AArch64 nothing has been measured.
fn may_ask(launch: &LaunchConstants<'_>) -> bool {
    launch.machine() != Machine::Neon && launch.config.buffer_bytes.iter().sum::<u64>() > CACHE
}
/// Whether a kernel's code asks for lines that its caller names, and says where it accesses memory: kernels with barriers, whose groups have
/// phases without accesses of their own.
pub(super) fn is_asked_ahead(launch: &LaunchConstants<'_>) -> bool {
    may_ask(launch) && launch.code.insts().any(|inst| matches!(inst.op, Op::Barrier { .. }))
}
/// The blocks of a region in which the tiles behind a tile load what is behind its own, and how many bytes ahead that is asked for. In a
/// loop they do where each iteration goes on by as many elements as the launch has threads; other loops come to those lines themselves, or
/// have them in a cache, as all have that are small.
pub(super) fn blocks_that_prefetch(
    launch: &LaunchConstants<'_>,
    region: &Region,
    shapes: &Shapes,
    loop_depths: &[u32],
) -> BTreeMap<usize, i64> {
    if !may_ask(launch) {
        return BTreeMap::new();
    }
    let axes = launch.config.grid.iter().map(|&axis| u64::from(axis));
    let threads = axes.fold(launch.config.threads() as u64, u64::saturating_mul);
    let steps_by_grid =
        (0..region.nodes.len()).flat_map(|node| region.insts(launch.code, node)).any(|inst| match inst.op {
            &Op::Int { d, op: IntOp::Add, args: [a, b, ..], .. } => {
                let is_stride = |step| shapes.shape(step) == VectorShape::Constant(threads);
                a == d.into() && is_stride(b) || b == d.into() && is_stride(a)
            }
            _ => false,
        });
    let placed = region.nodes.iter().zip(loop_depths);
    let distance = |depth: u32| if depth == 0 { PREFETCH_DISTANCE } else { PREFETCH_DISTANCE_IN_LOOPS };
    let asking = placed.filter(|&(_, &depth)| depth == 0 || steps_by_grid);
    asking.map(|(node, &depth)| (node.start.block, distance(depth))).collect()
}

impl Emitter<'_> {
    /// Asks for what tiles behind this one will load from the host address in RAX: a tile's code is too long for the
    /// processor to look that far ahead.
    pub(super) fn prefetch(&mut self, from: i64, span: u64) {
        let Some(distance) = self.prefetches.get(&self.point.block) else { return };
        let start = distance + from;
        let end = start.saturating_add_unsigned(span + LINE);
        if !(LINE + 1..=MAX_PREFETCHED).contains(&span) || i32::try_from(end).is_err() {
            return;
        }
        for line in 0..span.div_ceil(LINE) {
            let at = at(RAX, start + (line * LINE) as i64);
            self.asm.push(Instruction::with1(Code::Prefetcht0_m8, at));
        }
    }
    /// At a tile's start: whether the caller has named lines, which are asked for apart. Returns where that is and where it comes back to.
    pub(super) fn has_lines_ahead(&mut self) -> [Label; 2] {
        let [ask, back] = [(); 2].map(|()| self.asm.label());
        self.asm.mi(Code::Cmp_rm64_imm8, at(FRAME, header::NEXT_ANY), 0);
        self.asm.jump(Code::Jne_rel32_64, ask);
        self.asm.bind(back);
        [ask, back]
    }
    /// Asks for the next of the lines that the caller has named, to read and to write. Uses RAX.
    pub(super) fn ask_ahead(&mut self, [ask, back]: [Label; 2]) {
        self.asm.bind(ask);
        for (word, ask) in [(header::NEXT_READ, Code::Prefetcht0_m8), (header::NEXT_WRITTEN, Code::Prefetchw_m8)] {
            let nothing = self.asm.label();
            self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, word));
            self.asm.rr(Code::Test_rm64_r64, RAX, RAX);
            self.asm.jump(Code::Je_rel32_64, nothing);
            for line in 0..LINES_OF_TILE {
                self.asm.push(Instruction::with1(ask, at(RAX, (line * LINE) as i64)));
            }
            self.asm.ri(Code::Add_rm64_imm32, RAX, (LINES_OF_TILE * LINE) as i32);
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, word), RAX);
            self.asm.bind(nothing);
        }
        self.asm.jump(Code::Jmp_rel32_64, back);
    }
    /// Writes where the tile's accesses at a site end, from the host address in RAX on. Uses RDX.
    pub(super) fn record_end(&mut self, site: usize, from: i64, span: u64) {
        if self.is_asked_ahead {
            let word = self.frame.end_of(site);
            self.asm.rm(Code::Lea_r64_m, Register::RDX, at(RAX, from.saturating_add_unsigned(span)));
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, word), Register::RDX);
        }
    }
}
