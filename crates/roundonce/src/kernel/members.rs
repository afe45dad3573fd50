//! Structures passed by value, by their members: `p+8` is what stands 8 bytes into the parameter `p`.

use std::collections::{BTreeMap, BTreeSet};

use roundonce_ir::{Kernel, Op, Operand, Param, Passing, Space};

use super::Ready;

impl Ready {
    /// Makes parameters of the members of those structures that some names are about, such as `p+8` or `0+8`. Members
    /// begin where the kernel reads one, or where a name says. What it never reads is none, and is zero. Where it
    /// reads parameters at addresses that it computes, all bytes are members.
    ///
    /// # Errors
    /// If there is no such parameter, or the kernel reads no member there; which it reads.
    ///
    /// ```
    /// use roundonce::kernel::{Choice, Ready, Source};
    /// let text = ".version 7.0\n.target sm_80\n.address_size 64
    ///     .visible .entry k(.param .align 8 .b8 p[24]) {
    ///         .reg .b64 %a; .reg .f32 %x;
    ///         ld.param.u64 %a, [p]; ld.param.f32 %x, [p+8]; st.global.f32 [%a], %x; ret; }";
    /// let mut ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap();
    /// ready.name_members(["p+0"].into_iter()).unwrap();
    /// let names: Vec<&str> = ready.kernel().params.iter().map(|param| param.name.as_str()).collect();
    /// assert_eq!(names, ["p+0", "p+8"]);
    /// ```
    pub fn name_members<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<(), String> {
        let mut named: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for name in names {
            // An exact name is no member's.
            if self.kernel().params.iter().any(|param| param.name == name) {
                continue;
            }
            let Some((stem, offset)) = member(name) else { continue };
            let place = super::parameter(self.kernel(), stem)?;
            let param = &self.kernel().params[place];
            let called = super::called(self.kernel(), place);
            if param.passing != Passing::Any {
                return Err(format!("`{name}`: {called} has no members that can be named"));
            }
            if offset >= param.size {
                return Err(format!("`{name}`: {called} has {} bytes", param.size));
            }
            named.entry(place).or_default().insert(offset);
        }
        let reads = Reads::of(self.kernel());
        // From the last on, so that the places before stay.
        for (place, named) in named.into_iter().rev() {
            let members = reads.members(&self.kernel().params[place], &named)?;
            let kernel = self.kernel_mut();
            if place < kernel.push_constants {
                kernel.push_constants = kernel.push_constants - 1 + members.len();
            }
            kernel.params.splice(place..=place, members);
        }
        Ok(())
    }

    /// The same of all structures.
    pub fn split_structures(&mut self) {
        let reads = Reads::of(self.kernel());
        let split = |param: Param| match reads.members(&param, &BTreeSet::new()) {
            Ok(members) if is_structure(&param) => members,
            _ => vec![param],
        };
        let kernel = self.kernel_mut();
        let mut pushed: Vec<Param> = std::mem::take(&mut kernel.params);
        let rest = pushed.split_off(kernel.push_constants);
        kernel.params = pushed.into_iter().flat_map(split).collect();
        kernel.push_constants = kernel.params.len();
        kernel.params.extend(rest.into_iter().flat_map(split));
    }

    /// The names of the members that the kernel reads of a parameter, where that is a structure passed by value.
    pub fn member_names(&self, place: usize) -> Vec<String> {
        let param = &self.kernel().params[place];
        if !is_structure(param) {
            return Vec::new();
        }
        let members = Reads::of(self.kernel()).members(param, &BTreeSet::new()).unwrap_or_default();
        members.into_iter().map(|member| member.name).collect()
    }

    fn kernel_mut(&mut self) -> &mut Kernel {
        &mut self.program.kernels[self.place]
    }
}

fn is_structure(param: &Param) -> bool {
    param.passing == Passing::Any && param.size > 8 && member(&param.name).is_none()
}

/// A parameter and a byte in it, of a name such as `p+8`.
pub(super) fn member(name: &str) -> Option<(&str, u32)> {
    let (stem, offset) = name.rsplit_once('+')?;
    Some((stem, offset.parse().ok()?))
}

/// What a kernel reads of its parameters.
pub(super) struct Reads {
    /// Where in the parameter block a number begins, and the bytes of the longest.
    numbers: BTreeMap<u32, u32>,
    /// Whether it reads at addresses that it computes, too.
    computed: bool,
}

impl Reads {
    pub(super) fn of(kernel: &Kernel) -> Reads {
        let mut reads = Reads { numbers: BTreeMap::new(), computed: false };
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            let Op::Load { d, space: Space::Param, bytes, address, offset, .. } = &instruction.op else { continue };
            let Operand::Imm(at) = address else {
                reads.computed = true;
                continue;
            };
            for index in 0..d.len() as u32 {
                let start = (*at as i64).wrapping_add(*offset) as u32 + index * bytes;
                let longest = reads.numbers.entry(start).or_default();
                *longest = (*longest).max(*bytes);
            }
        }
        reads
    }

    /// Whether some of a parameter may be read.
    pub(super) fn reach(&self, param: &Param) -> bool {
        // No number is longer than 16 bytes.
        let mut near = self.numbers.range(param.offset.saturating_sub(15)..param.offset + param.size);
        self.computed || near.any(|(&start, &bytes)| start + bytes > param.offset)
    }

    /// A structure's members, as parameters.
    fn members(&self, param: &Param, named: &BTreeSet<u32>) -> Result<Vec<Param>, String> {
        let end = param.offset + param.size;
        // What is read within a longer number is no member.
        let mut read: Vec<(u32, u32)> = Vec::new();
        for (&start, &bytes) in self.numbers.range(param.offset..end) {
            if read.last().is_none_or(|&(_, known)| start + bytes > known) {
                read.push((start, (start + bytes).min(end)));
            }
        }
        let is_read = |at: u32| read.iter().any(|&(start, end)| (start..end).contains(&at));
        let begins = |at: u32| read.iter().any(|&(start, _)| start == at);
        if let Some(offset) = named.iter().find(|offset| !self.computed && !begins(param.offset + **offset)) {
            let members: Vec<String> =
                read.iter().map(|(start, _)| format!("{}+{}", param.name, start - param.offset)).collect();
            let members = if members.is_empty() { "none".to_owned() } else { members.join(", ") };
            return Err(format!("`{}+{offset}` is no member that the kernel reads: it reads {members}", param.name));
        }
        let bounds: BTreeSet<u32> = named
            .iter()
            .map(|offset| param.offset + offset)
            .chain(read.iter().flat_map(|&(start, end)| [start, end]))
            .chain([param.offset, end])
            .collect();
        let bounds: Vec<u32> = bounds.into_iter().collect();
        let pieces = bounds.windows(2).filter(|piece| self.computed || is_read(piece[0]));
        let member = |piece: &[u32]| Param {
            name: format!("{}+{}", param.name, piece[0] - param.offset),
            offset: piece[0],
            size: piece[1] - piece[0],
            scalar: None,
            passing: Passing::Any,
        };
        Ok(pieces.map(member).collect())
    }
}
