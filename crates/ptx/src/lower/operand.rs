//! Operands: registers, constants, special registers, addresses.

use super::module::RESERVED_SHARED;
use super::{Body, Entity, Result};
use crate::ast::{Binary, Component, Operand as Written, OperandKind, Operands, Unary};
use crate::literal::{Constant, WARP_SIZE, evaluate};
use crate::rules::special_lanes;
use crate::types::{ScalarKind, Type};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Placement, Reg, Space, Special, Width};

/// Where a load or a store goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Address {
    /// Memory: the space that the name or register implies, if it does.
    Memory { base: Operand, offset: i64, space: Option<Space> },
    /// A parameter of a call, kept in a register.
    CallParam(Reg, Type),
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn operands(&self, range: Operands) -> &'m [Written<'a>] {
        self.module.operands(range)
    }

    pub(super) fn address_width(&self) -> Width {
        if self.lowering.program.address_bits == 64 { Width::B64 } else { Width::B32 }
    }

    /// A constant, as bits of a type.
    pub(super) fn constant(&self, written: &Written<'a>, ty: Type) -> Result<Operand> {
        let constant = evaluate(self.module, written)?;
        if ty.kind == ScalarKind::Pred {
            return match constant {
                Constant::Signed(value) => Ok(Operand::Imm((value != 0) as u64)),
                Constant::Unsigned(value) => Ok(Operand::Imm((value != 0) as u64)),
                _ => Err(self.malformed("a floating constant is no predicate")),
            };
        }
        match constant.bits_as(&ty.literal()) {
            Some(bits) => Ok(Operand::Imm(bits & ty.width().mask())),
            None => Err(self.malformed(format!("the constant does not fit the type `{}`", ty.literal()))),
        }
    }

    /// An operand to be read as a value of a type. A register that is wider is cut where `relaxed`.
    fn read(&mut self, written: &Written<'a>, ty: Type, relaxed: bool) -> Result<Operand> {
        match written.kind {
            OperandKind::Name("WARP_SZ") => Ok(Operand::Imm(WARP_SIZE.into())),
            OperandKind::Name(name) => {
                if let Some(special) = self.special(name, None, ty)? {
                    return Ok(special);
                }
                match self.find(name) {
                    Some(Entity::Register(reg, _) | Entity::CallParam(reg, _)) => self.fitted(name, reg, ty, relaxed),
                    Some(Entity::Label(_) | Entity::Targets(_)) => {
                        Err(self.unsupported(format!("the address of label `{name}`")))
                    }
                    Some(Entity::Vector(..)) => Err(self.malformed(format!("`{name}` is a vector"))),
                    Some(_) => self.address_of(name, ty),
                    None if self.lowering.functions.contains_key(name) => match self.lowering.code_address(name) {
                        Some(address) => Ok(Operand::Imm(address)),
                        None if self.lowering.functions[name].is_entry => {
                            Err(self.unsupported(format!("the address of kernel `{name}`")))
                        }
                        None => Err(self.unsupported(format!("the address of `{name}`, which has no body,"))),
                    },
                    None if name.starts_with('%') => Err(self.unsupported(format!("special register `{name}`"))),
                    None => Err(self.malformed(format!("`{name}` is not declared"))),
                }
            }
            OperandKind::Component(name, component) => {
                if let Some(special) = self.special(name, Some(component), ty)? {
                    return Ok(special);
                }
                let place = match component {
                    Component::X | Component::R => 0,
                    Component::Y | Component::G => 1,
                    Component::Z | Component::B => 2,
                    Component::W | Component::A => 3,
                };
                match self.find(name) {
                    Some(Entity::Vector(regs)) if place < regs.len() => self.fitted(name, regs[place], ty, relaxed),
                    _ => Err(self.malformed(format!("`{name}` has no component `{}`", component.text()))),
                }
            }
            OperandKind::Unary(Unary::Not, inner) if ty.kind == ScalarKind::Pred => {
                let inner = *self.module.operand(inner);
                let value = self.read(&inner, ty, false)?;
                Ok(Operand::Reg(self.int(IntOp::Not, Width::Pred, [value, Operand::ZERO, Operand::ZERO])))
            }
            OperandKind::Binary(Binary::Add | Binary::Subtract, items) if ty.is_integer() => {
                // `mov.u64 %rd, x + 8`
                match (self.operands(items), evaluate(self.module, written)) {
                    (_, Ok(_)) => self.constant(written, ty),
                    ([left, right], Err(_)) => {
                        let subtract = matches!(written.kind, OperandKind::Binary(Binary::Subtract, _));
                        let base = self.read(left, ty, relaxed)?;
                        let more = self.constant(right, ty)?;
                        let op = if subtract { IntOp::Sub } else { IntOp::Add };
                        Ok(Operand::Reg(self.int(op, ty.width(), [base, more, Operand::ZERO])))
                    }
                    _ => Err(self.malformed("an operand is missing")),
                }
            }
            OperandKind::Number(_)
            | OperandKind::Unary(..)
            | OperandKind::Binary(..)
            | OperandKind::Group(_)
            | OperandKind::Cast(..)
            | OperandKind::Choose(_) => self.constant(written, ty),
            OperandKind::Index(items) => match self.element(items)? {
                (Operand::Reg(address), _) => Ok(self.resized(address, ty)),
                (address, _) => Ok(address),
            },
            _ => Err(self.unsupported("this operand")),
        }
    }

    fn fitted(&mut self, name: &str, reg: Reg, ty: Type, relaxed: bool) -> Result<Operand> {
        let (has, wants) = (self.kernel.width(reg), ty.width());
        if has == wants {
            return Ok(Operand::Reg(reg));
        }
        if relaxed && has > wants && wants != Width::Pred {
            let d = self.fresh(wants);
            self.emit_always(Op::Extract { d, a: Operand::Reg(reg), width: has, shift: 0 });
            return Ok(Operand::Reg(d));
        }
        let (has, wants) = (has.bits(), wants.bits());
        Err(self.malformed(format!("`{name}` has {has} bits where {wants} are wanted")))
    }

    /// An operand as a value of a type.
    pub(super) fn value(&mut self, written: &Written<'a>, ty: Type) -> Result<Operand> {
        self.read(written, ty, false)
    }

    /// The same, but a wider register gives its low bits: `cvt`, and 8-bit types, which have no registers.
    pub(super) fn value_relaxed(&mut self, written: &Written<'a>, ty: Type) -> Result<Operand> {
        self.read(written, ty, true)
    }

    /// Operations that prepare an operand run whether the guard holds or not: they write fresh registers only.
    pub(super) fn emit_always(&mut self, op: Op) {
        let guard = self.guard.take();
        self.emit(op);
        self.guard = guard;
    }

    /// An integer operation into a fresh register.
    pub(super) fn int(&mut self, op: IntOp, width: Width, [a, b, c]: [Operand; 3]) -> Reg {
        let d = self.fresh(op.result_width(width));
        self.emit_always(Op::Int { d, op, width, args: [a, b, c, Operand::ZERO] });
        d
    }

    /// The same of a comparison.
    pub(super) fn compare(&mut self, comparison: Comparison, of: Comparand, a: Operand, b: Operand) -> Reg {
        let d = self.fresh(Width::Pred);
        self.emit_always(Op::Compare { d, comparison, of, a, b });
        d
    }

    /// Numbers that the launch or the lane gives.
    fn special(&mut self, name: &str, component: Option<Component>, ty: Type) -> Result<Option<Operand>> {
        let Some(name) = name.strip_prefix('%') else { return Ok(None) };
        let axis = match component {
            Some(Component::X) | None => 0,
            Some(Component::Y) => 1,
            Some(Component::Z) => 2,
            Some(_) => 3,
        };
        let special = match name {
            "tid" | "ntid" | "ctaid" | "nctaid" if axis == 3 => return Ok(Some(Operand::Imm(0))),
            "tid" => Special::Tid(axis),
            "ntid" => Special::Ntid(axis),
            "ctaid" => Special::Ctaid(axis),
            "nctaid" => Special::Nctaid(axis),
            "laneid" => Special::Lane,
            "warpid" => Special::Warp,
            "nwarpid" => Special::Warps,
            "lanemask_eq" => Special::MaskEq,
            "lanemask_le" => Special::MaskLe,
            "lanemask_lt" => Special::MaskLt,
            "lanemask_ge" => Special::MaskGe,
            "lanemask_gt" => Special::MaskGt,
            "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo" | "globaltimer_hi" => Special::Clock,
            "dynamic_smem_size" => Special::DynamicShared,
            "total_smem_size" => Special::TotalShared,
            "clusterid" | "nclusterid" | "cluster_ctaid" | "cluster_nctaid" if axis == 3 => {
                return Ok(Some(Operand::Imm(0)));
            }
            "clusterid" => Special::Placement(Placement::Cluster(axis)),
            "nclusterid" => Special::Placement(Placement::Clusters(axis)),
            "cluster_ctaid" => Special::Placement(Placement::InCluster(axis)),
            "cluster_nctaid" => Special::Placement(Placement::ClusterSize(axis)),
            "cluster_ctarank" => Special::Placement(Placement::Rank),
            "cluster_nctarank" => Special::Placement(Placement::Ranks),
            "is_explicit_cluster" => Special::Placement(Placement::Explicit),
            "smid" => Special::Placement(Placement::Multiprocessor),
            "nsmid" => Special::Placement(Placement::Multiprocessors),
            "gridid" => Special::Placement(Placement::Grid),
            // CUDA's cooperative groups read the address of the grid's workspace from these.
            "envreg1" | "envreg2" => return self.grid_workspace(if name == "envreg1" { 32 } else { 0 }).map(Some),
            _ if name.starts_with("reserved_smem_offset_") => {
                let start = self.lowering.reserved_shared.unwrap_or(0);
                let at = match &name["reserved_smem_offset_".len()..] {
                    "begin" | "0" => start,
                    "end" => start + RESERVED_SHARED,
                    "cap" => RESERVED_SHARED,
                    // Where CUDA's cooperative groups keep the barriers of a block's tiles.
                    "1" => start + RESERVED_SHARED / 2,
                    _ => return Ok(None),
                };
                return Ok(Some(Operand::Imm(at.into())));
            }
            _ => match name.strip_prefix("envreg").map(str::parse) {
                Some(Ok(number)) => Special::Placement(Placement::Environment(number)),
                Some(Err(_)) => return Ok(Some(Operand::ZERO)),
                None => return Ok(None),
            },
        };
        let natural = if ty.width() < Width::B16 { Width::B32 } else { ty.width() };
        let d = self.fresh(natural);
        self.emit_always(Op::Special { d, special });
        if name == "clock_hi" || name == "globaltimer_hi" {
            return Ok(Some(Operand::Imm(0)));
        }
        if ty.width() == Width::Pred {
            let is_set = self.compare(Comparison::Ne, Comparand::Unsigned(natural), d.into(), Operand::ZERO);
            return Ok(Some(is_set.into()));
        }
        Ok(Some(Operand::Reg(d)))
    }

    /// Half of an address of 64 bits.
    fn grid_workspace(&mut self, shift: u32) -> Result<Operand> {
        let Some(variable) = self.lowering.grid_workspace else { return Ok(Operand::ZERO) };
        let width = self.address_width();
        let (address, half) = (self.fresh(width), self.fresh(Width::B32));
        self.emit_always(Op::Special { d: address, special: Special::Address(variable) });
        if width == Width::B32 {
            return Ok(if shift == 0 { address.into() } else { Operand::ZERO });
        }
        self.emit_always(Op::Extract { d: half, a: address.into(), width, shift });
        Ok(half.into())
    }

    /// The address of a variable in its own space.
    fn address_of(&mut self, name: &'a str, ty: Type) -> Result<Operand> {
        match self.find(name) {
            Some(Entity::Shared(offset) | Entity::Local(offset) | Entity::Param(offset)) => {
                Ok(Operand::Imm(offset.into()))
            }
            Some(Entity::Frame(offset)) => {
                let (frame, width) = (self.frame(), self.address_width());
                let d = self.int(IntOp::Add, width, [frame.into(), Operand::Imm(offset.into()), Operand::ZERO]);
                Ok(self.resized(d, ty))
            }
            Some(Entity::Global(index)) => {
                let d = self.fresh(self.address_width());
                self.emit_always(Op::Special { d, special: Special::Address(index) });
                Ok(self.resized(d, ty))
            }
            Some(Entity::Opaque(variable)) if ty.width() == Width::B64 => self.declared_handle(variable),
            _ => Err(self.malformed(format!("`{name}` has no address"))),
        }
    }

    /// An address as a value of a type.
    fn resized(&mut self, address: Reg, ty: Type) -> Operand {
        let (has, wants) = (self.address_width(), ty.width());
        // Before PTX 2.3 a module has addresses of 32 bits, and compilers move them to 64.
        if has < wants {
            return self.zero_extended(address, wants);
        }
        if has == wants || wants < Width::B16 {
            return address.into();
        }
        let low = self.fresh(wants);
        self.emit_always(Op::Extract { d: low, a: address.into(), width: has, shift: 0 });
        low.into()
    }

    /// 32 bits as 64, zeros above them.
    fn zero_extended(&mut self, value: Reg, to: Width) -> Operand {
        if to <= Width::B32 {
            return value.into();
        }
        let wide = self.fresh(to);
        self.emit_always(Op::Pack { d: wide, low: value.into(), high: Operand::ZERO });
        wide.into()
    }

    /// `a[2]`, `a[%r]`, `a[%r+1]`: the address, and the space it is in. ptxas multiplies an index by the bytes of the
    /// array's type, whatever its dimensions and `.v4`, and adds the product as a number of 32 bits without a sign.
    fn element(&mut self, items: Operands) -> Result<(Operand, Option<Space>)> {
        let [array, index] = self.operands(items) else {
            return Err(self.malformed("an operand is missing"));
        };
        let name = array.name().unwrap_or("?");
        let Some(bytes) = self.find_named(name).and_then(|named| named.element) else {
            return Err(self.malformed(format!("`{name}` is no array")));
        };
        let offset = match self.index(index)? {
            Operand::Imm(index) => Operand::Imm((index as u32).wrapping_mul(bytes).into()),
            index if bytes == 1 => index,
            index => self.int(IntOp::Mul, Width::B32, [index, Operand::Imm(bytes.into()), Operand::ZERO]).into(),
        };
        let Address::Memory { base, space, .. } = self.address(array)? else {
            return Err(self.malformed(format!("`{name}` is no array")));
        };
        let width = self.address_width();
        let address = match (base, offset) {
            // Addresses of shared and local memory and of parameters have 32 bits.
            (Operand::Imm(start), Operand::Imm(offset)) => {
                Operand::Imm((start as u32).wrapping_add(offset as u32).into())
            }
            (Operand::Imm(_), _) => {
                let sum = self.int(IntOp::Add, Width::B32, [base, offset, Operand::ZERO]);
                self.zero_extended(sum, width)
            }
            (base, Operand::Imm(_)) => self.int(IntOp::Add, width, [base, offset, Operand::ZERO]).into(),
            (base, Operand::Reg(offset)) => {
                let offset = self.zero_extended(offset, width);
                self.int(IntOp::Add, width, [base, offset, Operand::ZERO]).into()
            }
        };
        Ok((address, space))
    }

    /// The index of an array: the low 32 bits of a register and a constant.
    fn index(&mut self, written: &Written<'a>) -> Result<Operand> {
        let unsigned = Type { kind: ScalarKind::Unsigned, bits: 32, components: 1 };
        if let Ok(constant) = evaluate(self.module, written) {
            let bits = constant.bits_as(".s64").ok_or_else(|| self.malformed("an index is an integer"))?;
            return Ok(Operand::Imm((bits as u32).into()));
        }
        match written.kind {
            OperandKind::Binary(Binary::Add, items) => {
                let [register, more] = self.operands(items) else {
                    return Err(self.malformed("an operand is missing"));
                };
                let (register, more) = (self.index(register)?, self.index(more)?);
                Ok(self.int(IntOp::Add, Width::B32, [register, more, Operand::ZERO]).into())
            }
            OperandKind::Name(name) => match self.find(name) {
                Some(Entity::Register(_, ty)) if !ty.is_integer() => {
                    Err(self.malformed(format!("an index is an integer, `{name}` is none")))
                }
                Some(Entity::Register(reg, ty)) if ty.bits == 16 => {
                    let d = self.fresh(Width::B32);
                    let guard = self.guard.take();
                    let signed = ty.kind == ScalarKind::Signed;
                    self.resize(d, (32, signed), (16, signed), reg.into());
                    self.guard = guard;
                    Ok(d.into())
                }
                _ => self.read(written, unsigned, true),
            },
            _ => Err(self.malformed("an index is a constant, a register, or a register and a constant")),
        }
    }

    /// `[x]`, `[%rd+8]`, `[x+%r]`, `x[4]`.
    pub(super) fn address(&mut self, written: &Written<'a>) -> Result<Address> {
        match written.kind {
            OperandKind::Address(items) => match self.operands(items) {
                [inner] => self.address(inner),
                _ => Err(self.unsupported("an address of several parts")),
            },
            OperandKind::Index(items) => {
                let (base, space) = self.element(items)?;
                Ok(Address::Memory { base, offset: 0, space })
            }
            OperandKind::Binary(binary @ (Binary::Add | Binary::Subtract), items)
                if evaluate(self.module, written).is_err() =>
            {
                let [left, right] = self.operands(items) else {
                    return Err(self.malformed("an operand is missing"));
                };
                let inner = self.address(left)?;
                let more = match evaluate(self.module, right) {
                    Ok(constant) => constant.bits_as(".s64").map(|bits| bits as i64),
                    Err(_) => None,
                };
                match (inner, more) {
                    (Address::CallParam(reg, ty), Some(0)) => Ok(Address::CallParam(reg, ty)),
                    (Address::Memory { base, offset, space }, Some(more)) => {
                        let more = if binary == Binary::Subtract { more.wrapping_neg() } else { more };
                        Ok(Address::Memory { base, offset: offset.wrapping_add(more), space })
                    }
                    (Address::Memory { base, offset, space }, None) if binary == Binary::Add => {
                        // `[x+%r]`
                        let width = self.address_width();
                        let ty = Type { kind: ScalarKind::Unsigned, bits: width.bits(), components: 1 };
                        let more = self.value(right, ty)?;
                        let sum = self.int(IntOp::Add, width, [base, more, Operand::ZERO]);
                        Ok(Address::Memory { base: Operand::Reg(sum), offset, space })
                    }
                    _ => Err(self.unsupported("this address")),
                }
            }
            OperandKind::Name(name) => match self.find(name) {
                Some(Entity::Register(reg, _)) => {
                    Ok(Address::Memory { base: Operand::Reg(reg), offset: 0, space: None })
                }
                Some(Entity::CallParam(reg, ty)) => Ok(Address::CallParam(reg, ty)),
                Some(Entity::Param(offset)) => {
                    Ok(Address::Memory { base: Operand::Imm(offset.into()), offset: 0, space: Some(Space::Param) })
                }
                Some(Entity::Local(offset)) => {
                    Ok(Address::Memory { base: Operand::Imm(offset.into()), offset: 0, space: Some(Space::Local) })
                }
                Some(Entity::Frame(offset)) => {
                    let (base, offset) = (self.frame().into(), offset.into());
                    Ok(Address::Memory { base, offset, space: Some(Space::Local) })
                }
                Some(Entity::Shared(offset)) => {
                    Ok(Address::Memory { base: Operand::Imm(offset.into()), offset: 0, space: Some(Space::Shared) })
                }
                Some(Entity::Global(_)) => {
                    let ty = Type { kind: ScalarKind::Unsigned, bits: self.address_width().bits(), components: 1 };
                    let base = self.address_of(name, ty)?;
                    Ok(Address::Memory { base, offset: 0, space: Some(Space::Global) })
                }
                _ => Err(self.malformed(format!("`{name}` is no address"))),
            },
            _ => {
                let ty = Type { kind: ScalarKind::Unsigned, bits: 64, components: 1 };
                let base = self.constant(written, ty)?;
                Ok(Address::Memory { base, offset: 0, space: None })
            }
        }
    }

    /// A register to be written, with the type it was declared with; `_` is a fresh one.
    pub(super) fn destination(&mut self, written: &Written<'a>, ty: Type) -> Result<Reg> {
        let reg = match written.kind {
            OperandKind::Discard => return Ok(self.fresh(ty.width())),
            OperandKind::Name("_") => return Ok(self.fresh(ty.width())),
            OperandKind::Name(name) => match self.find(name) {
                Some(Entity::Register(reg, _) | Entity::CallParam(reg, _)) => Some(reg),
                _ => None,
            },
            OperandKind::Component(name, component) => {
                let place = match component {
                    Component::X | Component::R => 0,
                    Component::Y | Component::G => 1,
                    Component::Z | Component::B => 2,
                    _ => 3,
                };
                match self.find(name) {
                    Some(Entity::Vector(regs)) => regs.get(place).copied(),
                    _ => None,
                }
            }
            _ => None,
        };
        reg.ok_or_else(|| self.malformed("the destination is no register"))
    }

    /// A destination exactly as wide as a type.
    pub(super) fn exact(&mut self, written: &Written<'a>, ty: Type) -> Result<Reg> {
        let reg = self.destination(written, ty)?;
        if self.kernel.width(reg) == ty.width() {
            return Ok(reg);
        }
        let (has, wants) = (self.kernel.width(reg).bits(), ty.width().bits());
        Err(self.malformed(format!("the destination has {has} bits where {wants} are wanted")))
    }

    /// `d|p`: both, or one alone.
    pub(super) fn pair(&self, written: &'m Written<'a>) -> (&'m Written<'a>, Option<&'m Written<'a>>) {
        match written.kind {
            OperandKind::Pair(items) => match self.operands(items) {
                [first, second] => (first, Some(second)),
                _ => (written, None),
            },
            _ => (written, None),
        }
    }

    /// The parts that hold a type's values: a value of 128 bits takes two.
    pub(super) fn parts_of(&mut self, written: &'m Written<'a>, ty: Type) -> Vec<Written<'a>> {
        let parts = self.parts(written);
        if ty.bits <= 64 {
            return parts;
        }
        let mut halves = Vec::new();
        for part in parts {
            match part.kind {
                OperandKind::Name(name) => halves.extend(self.components(name).unwrap_or(vec![part])),
                _ => halves.push(part),
            }
        }
        halves
    }

    /// The components of a vector register, of a special one too.
    fn components(&mut self, name: &'a str) -> Option<Vec<Written<'a>>> {
        let count = match self.find(name) {
            Some(Entity::Vector(regs)) => regs.len(),
            None if special_lanes(name) > 1 => special_lanes(name),
            _ => return None,
        };
        let all = [Component::X, Component::Y, Component::Z, Component::W].into_iter().take(count);
        let span = self.span;
        Some(all.map(|component| Written { span, kind: OperandKind::Component(name, component) }).collect())
    }

    /// `{a, b}`, a vector register, or one operand alone: its parts.
    pub(super) fn parts(&mut self, written: &'m Written<'a>) -> Vec<Written<'a>> {
        match written.kind {
            OperandKind::Vector(items) => self.operands(items).to_vec(),
            OperandKind::Name(name) => self.components(name).unwrap_or(vec![*written]),
            _ => vec![*written],
        }
    }
}
