//! Textures and surfaces. A texture, sampler or surface that a module declares is a parameter behind the kernel's own,
//! by its name; a handle of 64 bits may come from anywhere else.

use super::statement::Inst;
use super::{Body, Entity, Result};
use crate::ast::{Operand as Written, OperandKind, Variable};
use crate::literal::evaluate;
use crate::opcodes::ImageAccess;
use crate::types::{ScalarKind, Type};
use roundonce_ir::{
    AddressMode, AtomicKind, Border, Comparand, Comparison, Guard, ImageProperty, ImageShape, ImageType, IntOp, Op,
    Operand, Outside, Param, Passing, Reg, Sampler, Scalar, Space, TexelType, Width,
};

/// Bytes of a handle.
pub(super) const HANDLE: u32 = 8;

/// The type of a texel's number.
const S32: Type = Type { kind: ScalarKind::Signed, bits: 32, components: 1 };

/// How a variable of an opaque type is passed; `None` of another type.
pub(super) fn opaque_passing(ty: &str) -> Option<Passing> {
    match ty {
        ".texref" | ".surfref" => Some(Passing::Image(ImageType::OPEN)),
        ".samplerref" => Some(Passing::Sampler),
        _ => None,
    }
}

/// The shape that a modifier names.
fn shape_of(modifier: &str) -> Option<ImageShape> {
    let (dims, arrayed) = match modifier {
        ".1d" => (1, false),
        ".2d" => (2, false),
        ".3d" => (3, false),
        ".a1d" => (1, true),
        ".a2d" => (2, true),
        _ => return None,
    };
    Some(ImageShape { dims, arrayed })
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// tex, tld4, txq, suld, sust, sured, suq.
    pub(super) fn image(&mut self, inst: &Inst<'m, 'a>, access: ImageAccess) -> Result<()> {
        match access {
            ImageAccess::Sample => self.tex(inst, None),
            ImageAccess::Gather => {
                let component = [".r", ".g", ".b", ".a"].iter().position(|name| inst.has(name));
                let component = component.ok_or_else(|| self.refuse(inst))?;
                self.tex(inst, Some(component as u8))
            }
            ImageAccess::Load => self.suld(inst),
            ImageAccess::Store => self.sust(inst),
            ImageAccess::Reduce => self.sured(inst),
            ImageAccess::Query => self.query(inst),
        }
    }

    fn shape(&self, inst: &Inst<'m, 'a>) -> Result<ImageShape> {
        inst.modifiers.iter().find_map(|modifier| shape_of(modifier)).ok_or_else(|| self.refuse(inst))
    }

    /// A handle of 64 bits, or a declared texture, sampler or surface.
    fn handle(&mut self, written: &Written<'a>) -> Result<Operand> {
        if let OperandKind::Name(name) = written.kind
            && let Some(entity @ (Entity::Param(_) | Entity::Opaque(_))) = self.find(name)
        {
            return match entity {
                Entity::Opaque(variable) => self.declared_handle(variable),
                Entity::Param(offset) => Ok(self.handle_at(offset)),
                _ => Err(self.malformed(format!("`{name}` is no texture or surface"))),
            };
        }
        self.value(written, Type::B64)
    }

    fn handle_at(&mut self, offset: u32) -> Operand {
        let d = self.fresh(Width::B64);
        let (space, address, offset) = (Space::Param, Operand::ZERO, offset.into());
        self.emit_always(Op::Load { d: vec![Some(d)], space, bytes: HANDLE, signed: false, address, offset });
        d.into()
    }

    /// The handle of a variable outside functions: the parameter that stands for it, or a sampler that it says.
    pub(super) fn declared_handle(&mut self, variable: &'m Variable<'a>) -> Result<Operand> {
        if let Some(initial) = variable.initial {
            let sampler = self.declared_sampler(self.module.operand(initial))?;
            if variable.ty == ".samplerref" {
                return Ok(Operand::Imm(sampler.to_bits()));
            }
        }
        let params = &self.kernel.params;
        if let Some(known) = params.iter().skip(self.own_params).find(|param| param.name == variable.name) {
            let offset = known.offset;
            return Ok(self.handle_at(offset));
        }
        let Some(passing) = opaque_passing(variable.ty) else {
            return Err(self.malformed(format!("`{}` is no texture or surface", variable.name)));
        };
        let offset = self.kernel.param_bytes.next_multiple_of(HANDLE);
        let end = offset.checked_add(HANDLE).ok_or_else(|| self.malformed("the parameters are too large"))?;
        self.kernel.param_bytes = end;
        let name = variable.name.to_owned();
        self.kernel.params.push(Param { name, offset, size: HANDLE, scalar: None, passing });
        Ok(self.handle_at(offset))
    }

    /// `{ addr_mode_0 = clamp_to_border, filter_mode = linear }`
    fn declared_sampler(&self, initial: &Written<'a>) -> Result<Sampler> {
        let mut sampler = Sampler { range_of_image: true, ..Sampler::default() };
        let OperandKind::Vector(items) = initial.kind else {
            return Err(self.unsupported("this sampler"));
        };
        for item in self.operands(items) {
            let pair = match item.kind {
                OperandKind::Assign(pair) => self.operands(pair),
                _ => &[],
            };
            let [name, value] = pair else { return Err(self.unsupported("this sampler")) };
            let number = evaluate(self.module, value).ok().and_then(|value| value.bits_as(".u32"));
            let (name, word) = (name.name().unwrap_or_default(), value.name().unwrap_or_default());
            let axis = match name {
                "addr_mode_0" => Some(0),
                "addr_mode_1" => Some(1),
                "addr_mode_2" => Some(2),
                _ => None,
            };
            match (name, word, axis) {
                (_, "wrap", Some(axis)) => sampler.address[axis] = AddressMode::Repeat,
                (_, "mirror", Some(axis)) => sampler.address[axis] = AddressMode::Mirror,
                (_, "clamp_to_edge", Some(axis)) => sampler.address[axis] = AddressMode::Clamp,
                (_, "clamp_to_border", Some(axis)) => {
                    (sampler.address[axis], sampler.border) = (AddressMode::Border, Border::Transparent);
                }
                ("filter_mode", "nearest", _) => sampler.linear = false,
                ("filter_mode", "linear", _) => sampler.linear = true,
                ("force_unnormalized_coords", ..) if number.is_some() => sampler.range_of_image = number == Some(0),
                _ => return Err(self.unsupported(format!("a sampler with `{name} = {word}`"))),
            }
        }
        Ok(sampler)
    }

    /// What stands between brackets: the handles, and the coordinates in braces.
    fn in_brackets(&mut self, inst: &Inst<'m, 'a>, index: usize) -> Result<(Vec<Operand>, Vec<Written<'a>>)> {
        let OperandKind::Address(items) = self.operand_at(inst, index)?.kind else {
            return Err(self.malformed(format!("`{}`: expected an address in brackets", inst.spelling)));
        };
        let Some((coordinates, handles)) = self.operands(items).split_last().filter(|(_, names)| !names.is_empty())
        else {
            return Err(self.malformed(format!("`{}`: expected a name and coordinates in brackets", inst.spelling)));
        };
        let handles = handles.iter().map(|name| self.handle(name)).collect::<Result<_>>()?;
        Ok((handles, self.parts(coordinates)))
    }

    /// Coordinates of a type; the layer, which stands first, goes last.
    fn coordinates(
        &mut self,
        inst: &Inst<'m, 'a>,
        written: &[Written<'a>],
        shape: ImageShape,
        ty: Type,
    ) -> Result<Vec<Operand>> {
        let (layer, axes) = written.split_at(usize::from(shape.arrayed).min(written.len()));
        let Some(axes) = axes.get(..usize::from(shape.dims)) else {
            let message = format!("`{}` with {} coordinates of a {shape} image", inst.spelling, written.len());
            return Err(self.malformed(message));
        };
        let mut at = Vec::new();
        for written in axes {
            at.push(self.value(written, ty)?);
        }
        for written in layer {
            at.push(self.value(written, Type::B32)?);
        }
        Ok(at)
    }

    /// A register for each component, `None` where it is thrown away.
    fn components_of(&mut self, inst: &Inst<'m, 'a>, index: usize, ty: Type) -> Result<Vec<Option<Reg>>> {
        let (d, residency) = self.pair(self.operand_at(inst, index)?);
        if residency.is_some() {
            return Err(self.unsupported(format!("`{}` with a second result", inst.spelling)));
        }
        let mut all = Vec::new();
        for written in self.parts(d) {
            let discards = matches!(written.kind, OperandKind::Discard | OperandKind::Name("_"));
            all.push(if discards { None } else { Some(self.destination(&written, ty)?) });
        }
        if all.len() > 4 {
            return Err(self.malformed(format!("`{}` with {} results", inst.spelling, all.len())));
        }
        Ok(all)
    }

    /// Gives `emit` registers as wide as what is read, and extends them into wider ones.
    fn read_into(
        &mut self,
        d: Vec<Option<Reg>>,
        width: Width,
        bits: u32,
        emit: impl FnOnce(&mut Self, Vec<Option<Reg>>),
    ) -> Result<()> {
        let mut read = Vec::new();
        let mut wider = Vec::new();
        for d in d {
            read.push(match d {
                Some(d) if self.kernel.width(d) < width => return Err(self.malformed("a result is too narrow")),
                Some(d) if self.kernel.width(d) > width => {
                    let narrow = self.fresh(width);
                    wider.push((d, narrow));
                    Some(narrow)
                }
                same => same,
            });
        }
        emit(self, read);
        for (d, narrow) in wider {
            let int = |bits| Scalar::Int { bits, signed: false };
            let (to, from) = (int(self.kernel.width(d).bits()), int(bits.max(16)));
            let rounding = roundonce_arith::Rounding::TowardZero;
            let (integral, flush, saturate) = (false, false, false);
            self.emit(Op::Convert { d, to, from, rounding, integral, flush, saturate, a: narrow.into() });
        }
        Ok(())
    }

    fn tex(&mut self, inst: &Inst<'m, 'a>, gather: Option<u8>) -> Result<()> {
        let shape = self.shape(inst)?;
        let &[ty, from] = &inst.types[..] else { return Err(self.refuse(inst)) };
        let is_counted = from == S32;
        let component = ty.scalar().filter(|_| ty.components == 1 && matches!(ty.bits, 16 | 32) && inst.has(".v4"));
        let known = (is_counted && gather.is_none()) || from.kind == ScalarKind::Float(roundonce_arith::Format::F32);
        let (Some(component), true) = (component, known) else { return Err(self.refuse(inst)) };
        let (handles, written) = self.in_brackets(inst, 1)?;
        let (image, sampler) = match handles[..] {
            [image] => (image, image),
            [image, sampler] => (image, sampler),
            _ => return Err(self.malformed(format!("`{}` with {} names", inst.spelling, handles.len()))),
        };
        let mut at = self.coordinates(inst, &written, shape, from)?;
        // There is one level: which one is meant does not matter.
        let levels = match (inst.has(".level"), inst.has(".grad")) {
            (false, false) => 0,
            (true, false) => 1,
            _ => 2,
        };
        let more = inst.operands.get(2 + levels..).unwrap_or_default();
        let mut texel_offset = [0; 3];
        match more {
            [] => {}
            [offsets] => {
                for (axis, written) in self.parts(offsets).iter().enumerate().take(usize::from(shape.dims)) {
                    match self.value(written, S32)? {
                        Operand::Imm(offset) if !is_counted => texel_offset[axis] = offset as u32 as i32,
                        _ if !is_counted => return Err(self.unsupported(format!("`{}` with offsets", inst.spelling))),
                        offset => {
                            at[axis] = self.int(IntOp::Add, Width::B32, [at[axis], offset, Operand::ZERO]).into();
                        }
                    }
                }
            }
            _ => return Err(self.unsupported(format!("`{}` with a comparison", inst.spelling))),
        }
        let d = self.components_of(inst, 0, ty)?;
        let texel = TexelType::Component(component);
        let name = format!("{}, linear filtering", inst.row.name);
        self.read_into(d, texel.width(), ty.bits, |body, d| {
            body.emit(match is_counted {
                // `tex1Dfetch`: memory without a sampler, zeros outside.
                true if shape == (ImageShape { dims: 1, arrayed: false }) => {
                    Op::ImageLoad { d, image, shape, at, texel, outside: Outside::Zero }
                }
                true => Op::ImageLoad { d, image, shape, at, texel, outside: Outside::Sampler(sampler) },
                false => Op::ImageSample { d, image, sampler, shape, at, texel_offset, texel, gather, name },
            });
        })
    }

    fn outside(&self, inst: &Inst<'m, 'a>) -> Outside {
        match () {
            () if inst.has(".clamp") => Outside::Clamp,
            () if inst.has(".zero") => Outside::Zero,
            () => Outside::Fault,
        }
    }

    /// The only handle and the coordinates of a surface's instruction.
    fn surface(&mut self, inst: &Inst<'m, 'a>, index: usize, shape: ImageShape) -> Result<(Operand, Vec<Operand>)> {
        let (handles, written) = self.in_brackets(inst, index)?;
        let &[image] = &handles[..] else { return Err(self.malformed(format!("`{}` with two names", inst.spelling))) };
        Ok((image, self.coordinates(inst, &written, shape, S32)?))
    }

    fn suld(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (shape, ty, outside) = (self.shape(inst)?, self.type_of(inst)?, self.outside(inst));
        if !inst.has(".b") || !matches!(ty.bits, 8 | 16 | 32 | 64) {
            return Err(self.refuse(inst));
        }
        let (image, at) = self.surface(inst, 1, shape)?;
        let d = self.components_of(inst, 0, ty)?;
        let texel = TexelType::Raw { bits: ty.bits };
        self.read_into(d, texel.width(), ty.bits, |body, d| {
            body.emit(Op::ImageLoad { d, image, shape, at, texel, outside });
        })
    }

    fn sust(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (shape, ty, outside) = (self.shape(inst)?, self.type_of(inst)?, self.outside(inst));
        let texel = match (inst.has(".b"), inst.has(".p")) {
            (true, false) if matches!(ty.bits, 8 | 16 | 32 | 64) => TexelType::Raw { bits: ty.bits },
            (false, true) if ty == Type::B32 => TexelType::Native,
            _ => return Err(self.refuse(inst)),
        };
        let (image, at) = self.surface(inst, 0, shape)?;
        let mut values = Vec::new();
        for written in self.parts(self.operand_at(inst, 1)?) {
            values.push(self.value_relaxed(&written, ty)?);
        }
        if values.len() > 4 {
            return Err(self.malformed(format!("`{}` with {} values", inst.spelling, values.len())));
        }
        self.emit(Op::ImageStore { values, image, shape, at, texel, outside });
        Ok(())
    }

    fn sured(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (shape, ty, outside) = (self.shape(inst)?, self.type_of(inst)?, self.outside(inst));
        let operation = [".add", ".min", ".max", ".and", ".or"].into_iter().find(|name| inst.has(name));
        let op = match operation {
            Some(".add") => IntOp::Add,
            Some(".and") => IntOp::And,
            Some(".or") => IntOp::Or,
            // Of `.b32` the surface says whether it has a sign.
            Some(".min") if inst.has(".b") => IntOp::Min(ty.sign()),
            Some(".max") if inst.has(".b") => IntOp::Max(ty.sign()),
            _ => return Err(self.refuse(inst)),
        };
        let texel = if inst.has(".b") { TexelType::Raw { bits: ty.bits } } else { TexelType::Native };
        if !matches!(ty.bits, 32 | 64) || (texel == TexelType::Native && ty.bits != 32) {
            return Err(self.refuse(inst));
        }
        let (image, at) = self.surface(inst, 0, shape)?;
        let b = self.value_at(inst, 1, ty)?;
        let d = self.fresh(self.address_width());
        self.emit(Op::ImageAddress { d, image, shape, at, texel, outside });
        if outside == Outside::Zero {
            // Outside there is nothing to combine: the address is 0.
            let width = self.address_width();
            let p = self.fresh(Width::Pred);
            let (a, b) = (Operand::Reg(d), Operand::ZERO);
            self.emit(Op::Compare { d: p, comparison: Comparison::Ne, of: Comparand::Unsigned(width), a, b });
            if let Some(Guard { pred, expected }) = self.guard {
                let (args, op) = ([Operand::Reg(pred), Operand::ZERO, Operand::ZERO], IntOp::Not);
                let holds = if expected { pred } else { self.int(op, Width::Pred, args) };
                let both = self.int(IntOp::And, Width::Pred, [p.into(), holds.into(), Operand::ZERO]);
                self.guard = Some(Guard { pred: both, expected: true });
            } else {
                self.guard = Some(Guard { pred: p, expected: true });
            }
        }
        let (kind, space, bytes) = (AtomicKind::Int(op), Space::Global, ty.bits / 8);
        self.emit(Op::Atomic {
            d: None,
            kind,
            space,
            bytes,
            address: d.into(),
            offset: 0,
            b,
            c: Operand::ZERO,
            high: None,
        });
        Ok(())
    }

    /// txq, suq.
    fn query(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let d = self.exact(self.operand_at(inst, 0)?, Type::B32)?;
        let OperandKind::Address(items) = self.operand_at(inst, 1)?.kind else {
            return Err(self.malformed(format!("`{}`: expected a name in brackets", inst.spelling)));
        };
        let [name] = self.operands(items) else { return Err(self.refuse(inst)) };
        let image = self.handle(name)?;
        let property = match () {
            () if inst.has(".width") => ImageProperty::Extent(0),
            () if inst.has(".height") => ImageProperty::Extent(1),
            () if inst.has(".depth") => ImageProperty::Extent(2),
            () if inst.has(".array_size") => ImageProperty::Layers,
            () if inst.has(".normalized_coords") => ImageProperty::Normalized,
            () if inst.has(".num_mipmap_levels") => {
                self.emit(Op::Move { d, a: Operand::Imm(1) });
                return Ok(());
            }
            () => return Err(self.refuse(inst)),
        };
        self.emit(Op::ImageQuery { d, image, property });
        Ok(())
    }
}
