//! The checks of accesses against their segments: one for all lanes of a tile, and one for loads next to each other.

use super::super::asm::at;
use super::super::frame::{Access, AccessSite};
use super::{DeoptReason, EmitError, EmitResult, Emitter, FRAME};
use crate::kernel::Machine;
use crate::native::alloc::Allocation;
use crate::native::region::ProgramPoint;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_ir::{Op, Operand, Reg, Role, Space, Width};
use std::collections::BTreeMap;

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

/// Loads that are checked together lie within so many bytes.
const MAX_GROUP: i64 = 4096;

/// Loads of a node that are checked together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Group {
    /// The one that is compiled first, with the check of all.
    pub(super) first: ProgramPoint,
    /// What they read, relative to the address register.
    pub(super) from: i64,
    pub(super) to: i64,
}

/// The same while they are found.
struct Loads {
    space: Space,
    align: u32,
    points: Vec<ProgramPoint>,
    group: Group,
}

impl Loads {
    /// Whether the next load at the same register is checked with these.
    fn joins(&self, next: &Loads) -> bool {
        let (from, to) = (self.group.from.min(next.group.from), self.group.to.max(next.group.to));
        (self.space, self.align) == (next.space, next.align)
            && (self.group.from.abs_diff(next.group.from)).is_multiple_of(self.align.into())
            && to.saturating_sub(from) <= MAX_GROUP
    }
}

impl Emitter<'_> {
    /// Checks an access for all lanes of the tile, active or not; where that fails, for the [active ones alone](Emitter::lanes_checked_alone), if it may.
    /// Sets RAX to the host address for the address operand's number, without its pattern. Uses RCX and RDX.
    pub(super) fn check(
        &mut self,
        access: Access,
        space: Space,
        bytes: u32,
        count: usize,
        address: Operand,
        offset: i64,
    ) -> EmitResult {
        let shape = self.shapes.shape(address);
        if !shape.is_scalar() {
            return Err(EmitError::Unsupported);
        }
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let least = pattern.iter().copied().min().unwrap_or(0);
        let most = pattern.iter().copied().max().unwrap_or(0);
        let align = self.alignment(bytes, count);
        let (mut offset, mut length) = (offset, u64::from(bytes) * count as u64);
        if let Some(&Group { first, from, to }) = self.groups.get(&self.point).filter(|_| access == Access::Load) {
            if first != self.point && self.accesses.contains_key(&first) {
                return self.load_host_address_of(first, address);
            }
            (offset, length) = (from, from.abs_diff(to));
        }
        let Some(from) = least.checked_add(offset).and_then(|from| i32::try_from(from).ok()) else {
            return Err(EmitError::Unsupported);
        };
        let span =
            most.abs_diff(least).checked_add(length).filter(|&span| span < 1 << 31).ok_or(EmitError::Unsupported)?;
        // All lanes must have the same alignment.
        if pattern.iter().any(|number| number.rem_euclid(align.into()) != least.rem_euclid(align.into())) {
            return Err(EmitError::Unsupported);
        }
        let number = self.scalar(address, self.address_width(address), RCX)?;
        match space {
            Space::Shared => {
                // The size of shared memory is known, and its address is in the tile's record.
                let room = self.launch.config.shared_bytes().checked_sub(span).unwrap_or_else(|| {
                    // Some lane is out of bounds.
                    self.side_exit(Code::Jmp_rel32_64, DeoptReason::Other, 0);
                    0
                });
                let site =
                    self.site(AccessSite { cache: 0, space, access, align, span, address, shape, offset, length });
                self.place_in_segment(at(number, from.into()), None, align);
                self.asm.ri(Code::Cmp_rm64_imm32, RAX, (room / u64::from(align)) as i32);
                self.side_exit(Code::Ja_rel32_64, DeoptReason::Other, 0);
                self.set_host_address(site, Some(number));
            }
            Space::Global | Space::Const | Space::Generic => {
                let site =
                    self.site(AccessSite { cache: 0, space, access, align, span, address, shape, offset, length });
                let cache = self.frame.sites[site].cache;
                self.place_in_segment(at(number, from.into()), Some(cache), align);
                self.asm.rm(Code::Cmp_r64_rm64, RAX, at(FRAME, cache + 8));
                match self.lanes_checked_alone() {
                    Some(mask) => self.check_active(mask, site, number, address, from.into()),
                    None => self.side_exit(Code::Jae_rel32_64, DeoptReason::CacheMiss, site),
                }
                self.set_host_address(site, Some(number));
                if access == Access::Load {
                    self.prefetch(from.into(), span);
                }
                self.record_end(site, from.into(), span);
            }
            _ => return Err(EmitError::Unsupported),
        }
        Ok(())
    }
    /// Sets RAX to where in its segment, whose cache it is, an access starts, counted in its alignment: a large number where it is not aligned.
    fn place_in_segment(&mut self, from: MemoryOperand, cache: Option<i64>, align: u32) {
        self.asm.rm(Code::Lea_r64_m, RAX, from);
        if let Some(cache) = cache {
            self.asm.rm(Code::Sub_r64_rm64, RAX, at(FRAME, cache));
        }
        if align > 1 {
            self.asm.push(Instruction::with2(Code::Ror_rm64_imm8, RAX, align.trailing_zeros()));
        }
    }
    /// The active lanes, where the access at hand is checked for these alone if the check of all of them fails: of one element each, side by
    /// side within each vector, in order from the first lane to the last. It is masked then.
    pub(super) fn lanes_checked_alone(&self) -> Option<i64> {
        let active = self.active_mask?;
        let (space, address, bytes, is_vector) = match self.launch.code.blocks[self.point.block].insts[self.point.at].op
        {
            // Inactive lanes become zero: they are not written back.
            Op::Load { d, space, bytes, address, .. } => {
                let &[Some(d)] = &d[..] else { return None };
                let is_there = matches!(self.allocations[d.0 as usize], Allocation::Vectors(_) | Allocation::Folded);
                (space, *address, *bytes, is_there && self.width(d).bits() == bytes * 8 && self.merge_mask(d).is_some())
            }
            Op::Store { values, width, space, bytes, address, .. } => {
                (space, *address, *bytes, values.len() == 1 && width.bits() == bytes * 8)
            }
            _ => return None,
        };
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let vector = self.lanes_of(Width::holding(bytes * 8));
        let is_possible = is_vector
            && bytes >= 4
            && matches!(space, Space::Global | Space::Const | Space::Generic)
            && !self.shapes.divergent
            && self.machine() != Machine::Neon
            && !self.groups.contains_key(&self.point)
            && pattern.is_sorted()
            && pattern.chunks(vector).all(|lanes| lanes.windows(2).all(|pair| pair[1] - pair[0] == bytes.into()));
        is_possible.then_some(active)
    }
    /// Behind the comparison for all lanes: where it failed, checks the first active lane and the last. `from` is where the first lane's
    /// access starts, from the number on. Uses RDX.
    fn check_active(&mut self, mask: i64, site: usize, number: Register, address: Operand, from: i64) {
        let AccessSite { cache, align, .. } = self.frame.sites[site];
        let pattern = self.shapes.pattern(self.pattern_of(address));
        let offsets: Vec<u8> = pattern.iter().flat_map(|number| ((number - pattern[0]) as i32).to_le_bytes()).collect();
        let offsets = self.frame.constant(offsets);
        let [fits, fails] = [(); 2].map(|()| self.asm.label());
        let count = self.mask_words();
        self.asm.jump(Code::Jb_rel32_64, fits);
        for (scan, backwards) in [(Code::Bsf_r64_rm64, false), (Code::Bsr_r64_rm64, true)] {
            let found = self.asm.label();
            for place in 0..count {
                let word = if backwards { count - 1 - place } else { place };
                let next = self.asm.label();
                self.asm.rm(scan, RDX, at(FRAME, mask + 8 * word));
                self.asm.jump(Code::Je_rel32_64, next);
                let offset = MemoryOperand::with_base_index_scale_displ_size(FRAME, RDX, 4, offsets + 256 * word, 1);
                self.asm.rm(Code::Movsxd_r64_rm32, RDX, offset);
                self.asm.jump(Code::Jmp_rel32_64, found);
                self.asm.bind(next);
            }
            // No lane is active.
            self.asm.jump(Code::Jmp_rel32_64, fits);
            self.asm.bind(found);
            let lane = MemoryOperand::with_base_index_scale_displ_size(number, RDX, 1, from, 1);
            self.place_in_segment(lane, Some(cache), align);
            self.asm.rm(Code::Cmp_r64_rm64, RAX, at(FRAME, cache + 24));
            self.asm.jump(Code::Jae_rel32_64, fails);
        }
        self.asm.jump(Code::Jmp_rel32_64, fits);
        self.asm.bind(fails);
        self.place_in_segment(at(number, from), Some(cache), align);
        self.side_exit(Code::Jmp_rel32_64, DeoptReason::CacheMiss, site);
        self.asm.bind(fits);
    }
    /// What an access of so many elements must be a multiple of.
    pub(super) fn alignment(&self, bytes: u32, count: usize) -> u32 {
        self.launch.code.alignment(bytes, count)
    }
    /// Finds the loads of a node that are checked together, by the first of them: those that add to the same register, which
    /// nothing between them writes. All of them run, so that one is out of bounds where all of them together are.
    pub(super) fn group_loads(&mut self, index: usize) {
        let mut open: BTreeMap<Reg, Loads> = BTreeMap::new();
        self.groups.clear();
        for (point, inst) in self.region.placed_insts(self.launch.code, index) {
            if let Op::Load { d, space, bytes, address: Operand::Reg(reg), offset, .. } = inst.op
                && inst.guard.is_none()
            {
                let (space, align) = (*space, self.alignment(*bytes, d.len()));
                let (from, to) = (*offset, offset.saturating_add(i64::from(*bytes) * d.len() as i64));
                let next = Loads { space, align, points: vec![point], group: Group { first: point, from, to } };
                match open.get_mut(reg) {
                    Some(loads) if loads.joins(&next) => {
                        loads.points.push(point);
                        let Group { from: least, to: most, .. } = &mut loads.group;
                        (*least, *most) = (from.min(*least), to.max(*most));
                    }
                    _ => self.close(open.insert(*reg, next)),
                }
            }
            inst.op.registers(|role, reg| {
                if role == Role::Def {
                    self.close(open.remove(&reg));
                }
            });
        }
        open.into_values().for_each(|loads| self.close(Some(loads)));
    }
    /// Nothing joins these loads any more.
    fn close(&mut self, loads: Option<Loads>) {
        let Some(Loads { points, group, .. }) = loads.filter(|loads| loads.points.len() > 1) else { return };
        self.groups.extend(points.into_iter().map(|point| (point, group)));
    }

    /// The number of the current access's site, in global memory with a cache: the same one each time the access is compiled, unless it is
    /// checked together with others this time.
    pub(super) fn site(&mut self, site: AccessSite) -> usize {
        if let Some(&known) = self.accesses.get(&self.point)
            && site == (AccessSite { cache: 0, ..self.frame.sites[known].clone() })
        {
            return known;
        }
        let cache = if site.space == Space::Shared { 0 } else { self.frame.reserve(32, 32) };
        self.frame.sites.push(AccessSite { cache, ..site });
        self.accesses.insert(self.point, self.frame.sites.len() - 1);
        self.frame.sites.len() - 1
    }
}
