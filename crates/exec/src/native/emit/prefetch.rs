//! Prefetching: a tile's loads prefetch what tiles behind it will load, and where groups run from barrier to barrier (`interp/phases`), code
//! prefetches lines that its caller names, which other phases will access.

use super::super::asm::at;
use super::super::frame::header;
use super::{Emitter, FRAME, RAX};
use crate::kernel::{LINE, Machine};
use crate::native::LaunchConstants;
use crate::native::region::Region;
use crate::native::shape::{Shapes, VectorShape};
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{IntOp, Op};
use std::collections::BTreeMap;

/// How far ahead lines are prefetched, outside of loops and in them, and of accesses of how many bytes; and what the
/// caches hold anyway. With debug assertions no buffers are small, and code prefetches wherever it can: tests have small programs.
const PREFETCH_DISTANCE: i64 = 3072;
const PREFETCH_DISTANCE_IN_LOOPS: i64 = 1024;
const MAX_PREFETCHED: u64 = 1024;
const CACHE: u64 = if cfg!(debug_assertions) { 0 } else { 1 << 20 };
/// So many of the lines that its caller names code prefetches at once, and again behind so many instructions: a core waits for 10 to 16.
const LINES_AT_ONCE: i64 = 2;
const MOST_BETWEEN: usize = if cfg!(debug_assertions) { 1 } else { 100 };

/// Whether a launch's buffers are more than the caches hold. On AArch64 nothing has been measured.
fn may_prefetch(launch: &LaunchConstants<'_>) -> bool {
    launch.machine() != Machine::Neon && launch.config.buffer_bytes.iter().sum::<u64>() > CACHE
}
/// Whether a kernel's code prefetches lines that its caller names, and says where it accesses memory: that of kernels with barriers, whose
/// groups have phases without accesses of their own.
pub(super) fn prefetches_ahead(launch: &LaunchConstants<'_>) -> bool {
    may_prefetch(launch) && launch.code.has_barriers
}
/// The blocks of a region in which the tiles behind a tile load what is behind its own, and how many bytes ahead that is prefetched. In a
/// loop they do where each iteration goes on by as many elements as the launch has threads; other loops come to those lines themselves, or
/// have them in a cache, as all have that are small.
pub(super) fn blocks_that_prefetch(
    launch: &LaunchConstants<'_>,
    region: &Region,
    shapes: &Shapes,
    loop_depths: &[u32],
) -> BTreeMap<usize, i64> {
    if !may_prefetch(launch) {
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
    let prefetching = placed.filter(|&(_, &depth)| depth == 0 || steps_by_grid);
    prefetching.map(|(node, &depth)| (node.start.block, distance(depth))).collect()
}

impl Emitter<'_> {
    /// Prefetches what tiles behind this one will load from the host address in RAX: a tile's code is too long for the
    /// processor to look that far ahead.
    pub(super) fn prefetch(&mut self, from: i64, span: u64) {
        let Some(distance) = self.prefetches.get(&self.point.block) else { return };
        let start = distance + from;
        let end = start.saturating_add_unsigned(span + LINE);
        if !(LINE..=MAX_PREFETCHED).contains(&span) || i32::try_from(end).is_err() {
            return;
        }
        for line in 0..span.div_ceil(LINE) {
            let at = at(RAX, start + (line * LINE) as i64);
            self.asm.push(Instruction::with1(Code::Prefetcht0_m8, at));
        }
    }
    /// At a tile's start and in long code: if the caller has named lines, some of them are prefetched, apart.
    pub(super) fn prefetch_point(&mut self) {
        // RAX holds a folded load's address until the load is made.
        let may_prefetch = self.prefetches_ahead && self.folded.is_none();
        let since = self.asm.len().saturating_sub(self.last_point);
        if may_prefetch && (self.prefetch_points.is_empty() || since > MOST_BETWEEN) {
            let point = [(); 2].map(|()| self.asm.label());
            self.asm.mi(Code::Cmp_rm64_imm8, at(FRAME, header::NEXT_ANY), 0);
            self.asm.jump(Code::Jne_rel32_64, point[0]);
            self.asm.bind(point[1]);
            self.prefetch_points.push(point);
            self.last_point = self.asm.len();
        }
    }
    /// Where that is done: some lines to read and some to write. Uses RAX.
    pub(super) fn prefetch_apart(&mut self) {
        for [there, back] in std::mem::take(&mut self.prefetch_points) {
            self.asm.bind(there);
            for (next, code) in [(header::NEXT_READ, Code::Prefetcht0_m8), (header::NEXT_WRITTEN, Code::Prefetchw_m8)] {
                let nothing = self.asm.label();
                self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, next));
                self.asm.rm(Code::Cmp_r64_rm64, RAX, at(FRAME, next + 8));
                self.asm.jump(Code::Jae_rel32_64, nothing);
                for line in 0..LINES_AT_ONCE {
                    self.asm.push(Instruction::with1(code, at(RAX, line * LINE as i64)));
                }
                self.asm.ri(Code::Add_rm64_imm32, RAX, (LINES_AT_ONCE * LINE as i64) as i32);
                self.asm.mr(Code::Mov_rm64_r64, at(FRAME, next), RAX);
                self.asm.bind(nothing);
            }
            self.asm.jump(Code::Jmp_rel32_64, back);
        }
    }
    /// Writes where the tile's accesses at a site end, from the host address in RAX on. Uses RDX.
    pub(super) fn record_end(&mut self, site: usize, from: i64, span: u64) {
        let end = from.saturating_add_unsigned(span);
        if self.prefetches_ahead && i32::try_from(end).is_ok() {
            let word = self.frame.end_of(site);
            self.asm.rm(Code::Lea_r64_m, Register::RDX, at(RAX, end));
            self.asm.mr(Code::Mov_rm64_r64, at(FRAME, word), Register::RDX);
        }
    }
}
