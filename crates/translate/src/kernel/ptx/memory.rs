//! Addresses, loads and stores.
//!
//! The program's shared, local and parameter memory begins at address 0. In PTX each is an array or a list of parameters
//! with an address of its own, which is added to an address in a register.

use roundonce_ir::{Operand, Passing, Placement, Reg, Space, Special, Width};
use roundonce_isa::Gate;

use super::body::{Body, Written, none};
use super::needs::since;
use super::ordering::Ordering;
use super::text::{Arg, Symbol, bits_type, signed_type, unsigned_type};

/// What an offset in an address may be.
const OFFSETS: core::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;
/// Bytes that are loaded or stored at once, on targets that have not more.
const LARGEST_ACCESS: u32 = 16;

pub(super) const fn space_word(space: Space) -> &'static str {
    match space {
        // Constant variables are written as global ones: their addresses are those of the program.
        Space::Global | Space::Const => ".global",
        Space::Shared => ".shared",
        Space::Local => ".local",
        Space::Param => ".param",
        Space::Generic => "",
    }
}

/// The type of an element in memory.
const fn element_type(bytes: u32, kind: Kind) -> &'static str {
    match (bytes, kind) {
        (1, Kind::Bits) => ".b8",
        (1, Kind::Unsigned) => ".u8",
        (1, Kind::Signed) => ".s8",
        (2, Kind::Bits) => ".b16",
        (2, Kind::Unsigned) => ".u16",
        (2, Kind::Signed) => ".s16",
        (4, Kind::Bits) => ".b32",
        (4, Kind::Unsigned) => ".u32",
        (4, Kind::Signed) => ".s32",
        (_, _) => ".b64",
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bits,
    Unsigned,
    Signed,
}

impl Body<'_> {
    /// An address as an instruction takes it.
    pub(super) fn address(
        &mut self,
        space: Space,
        address: Operand,
        offset: i64,
    ) -> Result<(Arg<'static>, i64), super::body::Refusal> {
        let symbol = match space {
            Space::Shared => Some(Symbol::Shared),
            Space::Local => Some(Symbol::Local),
            Space::Param => return self.param_address(address, offset),
            Space::Global | Space::Const | Space::Generic => None,
        };
        let of = self.address_width();
        let address = self.resolved(address);
        let (base, offset) = match (address, symbol) {
            (Operand::Imm(start), Some(symbol)) => {
                self.name(symbol);
                (Arg::Symbol(symbol), (start as i64).wrapping_add(offset))
            }
            (Operand::Imm(start), None) => {
                let start = Arg::Int((start as i64).wrapping_add(offset) as u64 & of.mask(), of);
                (self.in_register(start, of), 0)
            }
            (Operand::Reg(reg), Some(symbol)) => {
                let width = self.width(reg);
                let base = self.base(symbol, width);
                (self.computed(width, &["add", signed_type(width)], &[base, reg.into()]), offset)
            }
            (Operand::Reg(reg), None) => (reg.into(), offset),
        };
        if OFFSETS.contains(&offset) {
            return Ok((base, offset));
        }
        let width = match address {
            Operand::Reg(reg) => self.width(reg),
            Operand::Imm(_) => of,
        };
        let start = self.in_register(base, width);
        let far = Arg::Int(offset as u64 & width.mask(), width);
        Ok((self.computed(width, &["add", signed_type(width)], &[start, far]), 0))
    }

    /// Where an operand was copied from.
    fn resolved(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) => Operand::Reg(self.copies.root(reg)),
            constant => constant,
        }
    }

    /// Parameters stand one behind the other from the first one's address on.
    fn param_address(&mut self, address: Operand, offset: i64) -> Result<(Arg<'static>, i64), super::body::Refusal> {
        let Operand::Reg(reg) = self.resolved(address) else { return none("a parameter that there is not") };
        if !self.params.keeps_layout(self.kernel) || !self.plain_params() {
            return none("an address of parameters that stand otherwise than PTX lays them out");
        }
        let width = self.width(reg);
        let base = self.base(Symbol::Param(0), width);
        Ok((self.computed(width, &["add", signed_type(width)], &[base, reg.into()]), offset))
    }

    /// Whether all parameters are the source's values.
    fn plain_params(&self) -> bool {
        !self.kernel.params.is_empty() && self.kernel.params.iter().all(|param| param.passing != Passing::Shared)
    }

    pub(super) fn load(
        &mut self,
        d: &[Option<Reg>],
        (space, bytes, signed): (Space, u32, bool),
        address: Operand,
        offset: i64,
    ) -> Written {
        if let (Space::Param, Operand::Imm(start)) = (space, address) {
            return self.load_params(d, (bytes, signed), (start as i64).wrapping_add(offset) as u64);
        }
        let (base, offset) = self.address(space, address, offset)?;
        let lanes = self.lanes(space, d.len(), bytes);
        // What is loaded first may stand where the address stood.
        let overlaps = |base: Reg| lanes < d.len() && d.contains(&Some(base));
        let base = match base {
            Arg::Reg(reg) if overlaps(reg) => {
                let width = self.width(reg);
                self.computed(width, &["mov", bits_type(width)], &[base])
            }
            base => base,
        };
        for (index, part) in d.chunks(lanes).enumerate() {
            let offset = offset.wrapping_add((index * lanes) as i64 * i64::from(bytes));
            self.load_part(part, (space, bytes, signed), base, offset);
        }
        Ok(())
    }

    /// How many elements are accessed at once.
    fn lanes(&mut self, space: Space, count: usize, bytes: u32) -> usize {
        if count == 1 || !self.kernel.aligned_vectors || !count.is_power_of_two() {
            return 1;
        }
        let whole = count as u32 * bytes;
        let large = since(8, 8, 100);
        if whole > LARGEST_ACCESS {
            // From sm_100 on global memory has accesses of 32 bytes.
            let fits = whole == 32 && bytes >= 4 && space == Space::Global && self.has(&large);
            if !fits || self.using(large, &["ld.global.v8.b32"]).is_err() {
                return (LARGEST_ACCESS / bytes).max(1) as usize;
            }
            return count;
        }
        count.min(4)
    }

    fn load_part(
        &mut self,
        d: &[Option<Reg>],
        (space, bytes, signed): (Space, u32, bool),
        base: Arg<'static>,
        offset: i64,
    ) {
        let widths = d.iter().flatten().map(|reg| self.width(*reg));
        let fits = widths.clone().all(|width| width.bits() == bytes * 8);
        let kind = match (fits, signed) {
            (true, _) => Kind::Bits,
            (false, true) => Kind::Signed,
            (false, false) => Kind::Unsigned,
        };
        let mut parts = [Arg::Sink; 8];
        for (part, reg) in parts.iter_mut().zip(d) {
            if let Some(reg) = reg {
                *part = Arg::Reg(*reg);
            }
        }
        if d.iter().all(Option::is_none) {
            let width = Width::holding(bytes * 8);
            parts[0] = self.temporary(width);
        }
        let ty = element_type(bytes, kind);
        let at = Arg::Address(&base, offset);
        let Ordering { semantics, scope, .. } = self.ordering;
        match d.len() {
            1 => self.ins(&["ld", semantics, scope, space_word(space), ty], &[parts[0], at]),
            count => {
                let vector = Arg::Vector(&parts[..count.min(8)]);
                self.ins(&["ld", semantics, scope, space_word(space), vector_word(count), ty], &[vector, at]);
            }
        }
    }

    /// Of the parameters' block, by place: each element from the parameter that it is of.
    fn load_params(&mut self, d: &[Option<Reg>], (bytes, signed): (u32, bool), start: u64) -> Written {
        let whole = d.len() as u64 * u64::from(bytes);
        let aligned = start.is_multiple_of(whole.max(1)) && matches!(d.len(), 2 | 4) && whole <= 16;
        if let (Some((param, inner)), true) = (self.params.find(start, whole), aligned && self.kernel.aligned_vectors)
            && self.passing(param) != Some(Passing::Shared)
        {
            self.load_part(d, (Space::Param, bytes, signed), Arg::Symbol(Symbol::Param(param)), inner);
            return Ok(());
        }
        for (index, reg) in d.iter().enumerate() {
            let Some(reg) = *reg else { continue };
            let start = start.wrapping_add(index as u64 * u64::from(bytes));
            self.load_param(reg, (bytes, signed), start)?;
        }
        Ok(())
    }

    fn load_param(&mut self, d: Reg, (bytes, signed): (u32, bool), start: u64) -> Written {
        let width = self.width(d);
        let Some((param, inner)) = self.params.find(start, bytes.into()) else {
            if self.params.is_padding(start, bytes.into()) {
                self.ins(&["mov", bits_type(width)], &[d.into(), Arg::Int(0, width)]);
                return Ok(());
            }
            return self.load_across(d, bytes, start);
        };
        let base = Arg::Symbol(Symbol::Param(param));
        if self.passing(param) != Some(Passing::Shared) {
            self.load_part(&[Some(d)], (Space::Param, bytes, signed), base, inner);
            return Ok(());
        }
        // The launch gives where its piece begins among those that it gives; what the kernel declares comes before.
        if inner != 0 || width.bits() != bytes * 8 {
            return none("a part of a pointer to shared memory");
        }
        let first = Arg::Int(self.kernel.shared_bytes.into(), width);
        let offset = self.computed(width, &["ld.param", bits_type(width)], &[Arg::Address(&base, 0)]);
        self.ins(&["add", signed_type(width)], &[d.into(), offset, first]);
        Ok(())
    }

    /// Bytes of two parameters that stand side by side, as machine code reads them.
    fn load_across(&mut self, d: Reg, bytes: u32, start: u64) -> Written {
        let half = bytes / 2;
        let (width, narrow) = (self.width(d), Width::holding(half * 8));
        if half < 2 || width.bits() != bytes * 8 {
            return none("a load of several parameters");
        }
        let mut halves = [Arg::Sink; 2];
        for (part, start) in halves.iter_mut().zip([start, start.wrapping_add(half.into())]) {
            *part = match self.params.find(start, half.into()) {
                Some((param, inner)) if self.passing(param) != Some(Passing::Shared) => {
                    let base = Arg::Symbol(Symbol::Param(param));
                    self.computed(narrow, &["ld.param", bits_type(narrow)], &[Arg::Address(&base, inner)])
                }
                None if self.params.is_padding(start, half.into()) => Arg::Int(0, narrow),
                _ => return none("a load of several parameters"),
            };
        }
        self.ins(&["mov", bits_type(width)], &[d.into(), Arg::Vector(&halves)]);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        values: &[Operand],
        width: Width,
        (space, bytes): (Space, u32),
        address: Operand,
        offset: i64,
    ) -> Written {
        let (base, offset) = self.address(space, address, offset)?;
        let lanes = self.lanes(space, values.len(), bytes);
        let ty = element_type(bytes, Kind::Bits);
        let Ordering { semantics, scope, .. } = self.ordering;
        for (index, part) in values.chunks(lanes).enumerate() {
            let offset = offset.wrapping_add((index * lanes) as i64 * i64::from(bytes));
            let mut parts = [Arg::Sink; 8];
            for (to, value) in parts.iter_mut().zip(part) {
                *to = self.int(*value, width);
            }
            let at = Arg::Address(&base, offset);
            match part.len() {
                1 => self.ins(&["st", semantics, scope, space_word(space), ty], &[at, parts[0]]),
                count => {
                    let vector = Arg::Vector(&parts[..count]);
                    self.ins(&["st", semantics, scope, space_word(space), vector_word(count), ty], &[at, vector]);
                }
            }
        }
        Ok(())
    }

    pub(super) fn special(&mut self, d: Reg, special: Special) -> Written {
        let width = self.width(d);
        let axis = |names: [&'static str; 3], axis: u8| names[usize::from(axis) % 3];
        let name = match special {
            Special::Tid(at) => axis(["%tid.x", "%tid.y", "%tid.z"], at),
            Special::Ntid(at) => axis(["%ntid.x", "%ntid.y", "%ntid.z"], at),
            Special::Ctaid(at) => axis(["%ctaid.x", "%ctaid.y", "%ctaid.z"], at),
            Special::Nctaid(at) => axis(["%nctaid.x", "%nctaid.y", "%nctaid.z"], at),
            Special::Lane => "%laneid",
            Special::Warp => "%warpid",
            Special::Warps => "%nwarpid",
            Special::MaskEq => "%lanemask_eq",
            Special::MaskLe => "%lanemask_le",
            Special::MaskLt => "%lanemask_lt",
            Special::MaskGe => "%lanemask_ge",
            Special::MaskGt => "%lanemask_gt",
            Special::Clock if width == Width::B64 => {
                self.ins(&["mov.u64"], &[d.into(), Arg::Text("%clock64")]);
                return Ok(());
            }
            Special::Clock => "%clock",
            Special::DynamicShared | Special::TotalShared => {
                if self.kernel.params.iter().any(|param| param.passing == Passing::Shared) {
                    return none("the number of bytes of shared memory beside pieces of it that are arguments");
                }
                if special == Special::TotalShared { "%total_smem_size" } else { "%dynamic_smem_size" }
            }
            Special::Address(variable) => {
                let symbol = Arg::Symbol(Symbol::Variable(variable as usize));
                self.ins(&["mov", bits_type(width)], &[d.into(), symbol]);
                return Ok(());
            }
            Special::BufferBytes(param) => return self.buffer_bytes(d, param),
            Special::SharedWindow => return self.window(d, Symbol::Shared, "shared"),
            Special::LocalWindow => return self.window(d, Symbol::Local, "local"),
            Special::ParamWindow => {
                if !self.params.keeps_layout(self.kernel) || !self.plain_params() {
                    return none("the address of parameters that stand otherwise than PTX lays them out");
                }
                self.using(since(7, 7, 70), &["cvta.param"])?;
                return self.window(d, Symbol::Param(0), "param");
            }
            Special::Placement(placement) => return self.placement(d, placement),
        };
        let name = Arg::Text(name);
        match width {
            Width::B32 => self.ins(&["mov.u32"], &[d.into(), name]),
            _ => self.ins(&["cvt", unsigned_type(width), ".u32"], &[d.into(), name]),
        }
        Ok(())
    }

    /// Where the block stands beyond its grid.
    fn placement(&mut self, d: Reg, placement: Placement) -> Written {
        const CLUSTERS: Gate = since(7, 8, 90);
        let (name, axis, gate) = match placement {
            Placement::Cluster(axis) => ("%clusterid.", Some(axis), CLUSTERS),
            Placement::Clusters(axis) => ("%nclusterid.", Some(axis), CLUSTERS),
            Placement::InCluster(axis) => ("%cluster_ctaid.", Some(axis), CLUSTERS),
            Placement::ClusterSize(axis) => ("%cluster_nctaid.", Some(axis), CLUSTERS),
            Placement::Rank => ("%cluster_ctarank", None, CLUSTERS),
            Placement::Ranks => ("%cluster_nctarank", None, CLUSTERS),
            Placement::Explicit => ("%is_explicit_cluster", None, CLUSTERS),
            Placement::Multiprocessor => ("%smid", None, since(1, 3, 10)),
            Placement::Multiprocessors => ("%nsmid", None, since(2, 0, 20)),
            Placement::Grid => ("%gridid", None, since(3, 0, 20)),
            Placement::Environment(number) => ("%envreg", Some(number), since(2, 1, 20)),
        };
        let number = axis.map_or_else(String::new, |axis| match placement {
            Placement::Environment(_) => axis.to_string(),
            _ => ["x", "y", "z"][usize::from(axis) % 3].to_owned(),
        });
        let name = [name, &number].concat();
        self.using(gate, &[&name])?;
        let (width, register) = (self.width(d), Arg::Text(&name));
        match (placement, width) {
            (Placement::Explicit, _) => {
                let is_set = self.temporary(Width::Pred);
                self.ins(&["mov.pred"], &[is_set, register]);
                self.ins(&["selp", bits_type(width)], &[d.into(), Arg::Int(1, width), Arg::Int(0, width), is_set]);
            }
            (Placement::Grid, Width::B64) => self.ins(&["mov.u64"], &[d.into(), register]),
            (_, Width::B32) => self.ins(&["mov.u32"], &[d.into(), register]),
            _ => self.ins(&["cvt", unsigned_type(width), ".u32"], &[d.into(), register]),
        }
        Ok(())
    }

    /// Bytes of a buffer: the launch gives them as a parameter.
    fn buffer_bytes(&mut self, d: Reg, param: u32) -> Written {
        let Some(index) = self.params.size_of(param as usize) else {
            return none("the size of a buffer that there is not");
        };
        let base = Arg::Symbol(Symbol::Param(index));
        let at = Arg::Address(&base, 0);
        match self.width(d) {
            Width::B64 => self.ins(&["ld.param.u64"], &[d.into(), at]),
            width => {
                let bytes = self.computed(Width::B64, &["ld.param.u64"], &[at]);
                self.ins(&["cvt", unsigned_type(width), ".u64"], &[d.into(), bytes]);
            }
        }
        Ok(())
    }

    /// The generic address of the first byte of some memory.
    fn window(&mut self, d: Reg, symbol: Symbol, space: &str) -> Written {
        let width = self.width(d);
        let base = self.base(symbol, width);
        self.ins(&["cvta.", space, unsigned_type(width)], &[d.into(), base]);
        Ok(())
    }
}

pub(super) const fn vector_word(count: usize) -> &'static str {
    match count {
        2 => ".v2",
        4 => ".v4",
        _ => ".v8",
    }
}
