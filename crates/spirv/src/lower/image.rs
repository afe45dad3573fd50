//! Images and samplers. An image is a parameter that receives a handle, a sampler one that receives a number; an array of
//! them is one parameter behind the other, so that a variable of them is memory in the parameter block.

use roundonce_arith::{Format, Rounding};
use roundonce_ir::{
    AddressMode, Border, ImageProperty, ImageShape, ImageType, IntOp, MemoryOrder, Op, Operand, Outside, Passing,
    Sampler, Scalar, Signedness, Space, TexelType, Width,
};
use rspirv::spirv::{Dim, ImageFormat, ImageOperands, Op as Opcode};

use super::types::{ImageKind, Layout, Part, TypeKind};
use super::value::{BufferOf, Pointer, Value};
use super::{Body, Result};

/// Image operands that change nothing here: there is one level of detail, and memory is sequential.
const NEUTRAL: [(ImageOperands, usize); 9] = [
    (ImageOperands::LOD, 1),
    (ImageOperands::GRAD, 2),
    (ImageOperands::MIN_LOD, 1),
    (ImageOperands::MAKE_TEXEL_AVAILABLE, 1),
    (ImageOperands::MAKE_TEXEL_VISIBLE, 1),
    (ImageOperands::NON_PRIVATE_TEXEL, 0),
    (ImageOperands::VOLATILE_TEXEL, 0),
    (ImageOperands::SIGN_EXTEND, 0),
    (ImageOperands::ZERO_EXTEND, 0),
];

impl ImageKind {
    /// From the operands of OpTypeImage behind the sampled type; `None` for an image of a kind that is not known here.
    pub(super) fn of(operands: &[u32]) -> Option<ImageKind> {
        let &[dim, _depth, arrayed, multisampled, sampled, format, ..] = operands else { return None };
        let dims = match Dim::from_u32(dim)? {
            Dim::Dim1D | Dim::DimBuffer => 1,
            Dim::Dim2D => 2,
            Dim::Dim3D => 3,
            _ => return None,
        };
        let shape = ImageShape { dims, arrayed: arrayed == 1 };
        if multisampled != 0 || dims == 3 && shape.arrayed || sampled > 2 {
            return None;
        }
        let format = match ImageFormat::from_u32(format)? {
            ImageFormat::Unknown => None,
            known => Some(texel_format(known)?),
        };
        Some(ImageKind { shape, format })
    }

    pub(super) const fn passing(self, sampled: bool) -> Passing {
        Passing::Image(ImageType { shape: Some(self.shape), format: self.format, sampled })
    }
}

/// A component's type in memory, and how many a texel has.
fn texel_format(format: ImageFormat) -> Option<(Scalar, u8)> {
    use ImageFormat as F;
    let float = |format| Scalar::Float(format);
    let int = |bits| Scalar::Int { bits, signed: true };
    let uint = |bits| Scalar::Int { bits, signed: false };
    Some(match format {
        F::Rgba32f => (float(Format::F32), 4),
        F::Rg32f => (float(Format::F32), 2),
        F::R32f => (float(Format::F32), 1),
        F::Rgba16f => (float(Format::F16), 4),
        F::Rg16f => (float(Format::F16), 2),
        F::R16f => (float(Format::F16), 1),
        F::Rgba8 | F::Rgba8ui => (uint(8), 4),
        F::Rg8 | F::Rg8ui => (uint(8), 2),
        F::R8 | F::R8ui => (uint(8), 1),
        F::Rgba16 | F::Rgba16ui => (uint(16), 4),
        F::Rg16 | F::Rg16ui => (uint(16), 2),
        F::R16 | F::R16ui => (uint(16), 1),
        F::Rgba8Snorm | F::Rgba8i => (int(8), 4),
        F::Rg8Snorm | F::Rg8i => (int(8), 2),
        F::R8Snorm | F::R8i => (int(8), 1),
        F::Rgba16Snorm | F::Rgba16i => (int(16), 4),
        F::Rg16Snorm | F::Rg16i => (int(16), 2),
        F::R16Snorm | F::R16i => (int(16), 1),
        F::Rgba32i => (int(32), 4),
        F::Rg32i => (int(32), 2),
        F::R32i => (int(32), 1),
        F::Rgba32ui => (uint(32), 4),
        F::Rg32ui => (uint(32), 2),
        F::R32ui => (uint(32), 1),
        F::R64i => (int(64), 1),
        F::R64ui => (uint(64), 1),
        _ => return None,
    })
}

/// The number that an OpConstantSampler is.
pub(super) fn constant_sampler(operands: &[u32]) -> Option<u64> {
    let &[address, normalized, filter] = operands else { return None };
    let mode = match address {
        0 | 1 => AddressMode::Clamp,
        2 => AddressMode::Border,
        3 => AddressMode::Repeat,
        4 => AddressMode::Mirror,
        _ => return None,
    };
    let linear = filter == 1;
    let (border, range_of_image) = (Border::Transparent, false);
    Some(Sampler { linear, normalized: normalized == 1, address: [mode; 3], border, range_of_image }.to_bits())
}

/// The operands behind the mask of an image instruction that matter.
#[derive(Default)]
struct Extra {
    offset: [i32; 3],
}

impl Body<'_> {
    /// Images and samplers of the module.
    pub(super) fn image(&mut self, op: Opcode) -> Result<()> {
        match op {
            Opcode::ImageRead | Opcode::ImageFetch => self.read_image(),
            Opcode::ImageWrite => self.write_image(),
            Opcode::ImageSampleExplicitLod => self.sample_image(None),
            Opcode::ImageGather => {
                let component = self.lowering.constants.scalar(self.operand(2)?).filter(|component| *component < 4);
                let component = component.ok_or_else(|| self.malformed("the component is no constant below 4"))?;
                self.sample_image(Some(component as u8))
            }
            Opcode::ImageQuerySize | Opcode::ImageQuerySizeLod => self.image_size(),
            Opcode::ImageQueryLevels => {
                let (part, _) = self.result()?;
                self.define(vec![Operand::Imm(1 & part.width().mask())])
            }
            Opcode::SampledImage => {
                let (_, image, _) = self.image_operand(self.operand(0)?)?;
                let id = self.operand(1)?;
                let is_sampler = self.lowering.types.kind(self.typed_value(id)?.type_id) == Some(&TypeKind::Sampler);
                match self.parts(id)?[..] {
                    [sampler] if is_sampler => self.define([image, sampler]),
                    _ => Err(self.malformed(format!("{} is no sampler", self.lowering.module.id(id)))),
                }
            }
            Opcode::Image => {
                let (_, image, _) = self.image_operand(self.operand(0)?)?;
                self.define(vec![image])
            }
            _ => Err(self.unsupported(self.opcode())),
        }
    }

    /// The image of a value's type, and the handle: of an image with a sampler, the sampler behind it.
    fn image_operand(&mut self, id: u32) -> Result<(ImageKind, Operand, Operand)> {
        let type_id = self.typed_value(id)?.type_id;
        let parts = self.parts(id)?;
        match (self.lowering.types.kind(type_id), &parts[..]) {
            (Some(TypeKind::Image(kind)), &[image]) => Ok((*kind, image, image)),
            (Some(TypeKind::SampledImage(kind)), &[image, sampler]) => Ok((*kind, image, sampler)),
            _ => Err(self.malformed(format!("{} is no image", self.lowering.module.id(id)))),
        }
    }

    /// Coordinates as integers of 32 bits; there may be more of them than the image has.
    fn coordinates(&mut self, id: u32, shape: ImageShape) -> Result<(Part, Vec<Operand>)> {
        let found = self.components(id)?;
        let count = shape.coordinates();
        let Some(parts) = found.parts.get(..count) else {
            return Err(self.malformed(format!("{} coordinates of a {shape} image", found.parts.len())));
        };
        let parts = parts.to_vec();
        let all = match found.part {
            part @ Part::Int { signed, .. } => {
                parts.into_iter().map(|at| self.resized(part, Self::sign(signed), 32, at)).collect()
            }
            Part::Float(Format::F16) => {
                parts.into_iter().map(|at| self.float_to_float(Format::F16, Format::F32, at)).collect()
            }
            Part::Float(Format::F32) => parts,
            _ => return Err(self.malformed("the coordinates are neither integers nor floats")),
        };
        let part = if let Part::Int { .. } = found.part { found.part } else { Part::Float(Format::F32) };
        Ok((part, all))
    }

    fn integer_coordinates(&mut self, id: u32, shape: ImageShape) -> Result<Vec<Operand>> {
        match self.coordinates(id, shape)? {
            (Part::Int { .. }, all) => Ok(all),
            _ => Err(self.malformed("the coordinates are no integers")),
        }
    }

    /// The optional operands from a place on.
    fn image_operands(&mut self, from: usize) -> Result<Extra> {
        let mut extra = Extra::default();
        let words = self.operands().get(from..).unwrap_or_default().to_vec();
        let Some((&mask, mut rest)) = words.split_first() else { return Ok(extra) };
        // They stand in the order of their bits.
        for bit in (0..32).map(|bit| 1u32 << bit).filter(|bit| mask & bit != 0) {
            let bits = ImageOperands::from_bits(bit);
            if let Some((_, count)) = NEUTRAL.into_iter().find(|(known, _)| Some(*known) == bits) {
                rest = rest.get(count..).ok_or_else(|| self.malformed("there are too few image operands"))?;
                continue;
            }
            let (Some(ImageOperands::CONST_OFFSET), Some((&id, after))) = (bits, rest.split_first()) else {
                return Err(self.unsupported(format!("{} with image operands {mask:#x}", self.opcode())));
            };
            let found = self.components(id)?;
            let Part::Int { bits, .. } = found.part else { return Err(self.malformed("the offset is no integer")) };
            for (place, part) in extra.offset.iter_mut().zip(&found.parts[..]) {
                let Operand::Imm(offset) = *part else { return Err(self.malformed("the offset is no constant")) };
                *place = ((offset << (64 - bits)) as i64 >> (64 - bits)) as i32;
            }
            rest = after;
        }
        Ok(extra)
    }

    /// What a texel's components are in registers.
    fn texel(&self, part: Part) -> Result<TexelType> {
        match part.scalar() {
            Some(scalar @ (Scalar::Int { bits: 16.., .. } | Scalar::Float(Format::F16 | Format::F32))) => {
                Ok(TexelType::Component(scalar))
            }
            _ => Err(self.unsupported(format!("{} of this type", self.opcode()))),
        }
    }

    fn read_image(&mut self) -> Result<()> {
        let (kind, image, _) = self.image_operand(self.operand(0)?)?;
        let shape = kind.shape;
        let mut at = self.integer_coordinates(self.operand(1)?, shape)?;
        let extra = self.image_operands(2)?;
        for (at, offset) in at.iter_mut().zip(extra.offset).filter(|(_, offset)| *offset != 0) {
            *at = self.int(IntOp::Add, Width::B32, &[*at, Operand::Imm(offset as u32 as u64)]);
        }
        let (part, count) = self.result()?;
        let texel = self.texel(part)?;
        if count > 4 {
            return Err(self.malformed("a texel has four components"));
        }
        let d: Vec<_> = (0..count).map(|_| Some(self.fresh(part.width()))).collect();
        let order = self.order_of_image(self.operand(0)?, self.operands().get(2));
        self.emit_ordered(Op::ImageLoad { d: d.clone(), image, shape, at, texel, outside: Outside::Zero }, order);
        let parts: Vec<Operand> = d.into_iter().flatten().map(Operand::from).collect();
        self.define(parts)
    }

    fn write_image(&mut self) -> Result<()> {
        let (kind, image, _) = self.image_operand(self.operand(0)?)?;
        let shape = kind.shape;
        let at = self.integer_coordinates(self.operand(1)?, shape)?;
        self.image_operands(3)?;
        let values = self.components(self.operand(2)?)?;
        let texel = self.texel(values.part)?;
        if values.parts.len() > 4 {
            return Err(self.malformed("a texel has four components"));
        }
        let values = values.parts.to_vec();
        let order = self.order_of_image(self.operand(0)?, self.operands().get(3));
        self.emit_ordered(Op::ImageStore { values, image, shape, at, texel, outside: Outside::Zero }, order);
        Ok(())
    }

    fn sample_image(&mut self, gather: Option<u8>) -> Result<()> {
        let (kind, image, sampler) = self.image_operand(self.operand(0)?)?;
        let shape = kind.shape;
        if gather.is_some() && shape.dims != 2 {
            return Err(self.malformed(format!("a {shape} image")));
        }
        let (part, mut at) = self.coordinates(self.operand(1)?, shape)?;
        let texel_offset = self.image_operands(if gather.is_some() { 3 } else { 2 })?.offset;
        let dims = usize::from(shape.dims);
        let int = Scalar::Int { bits: 32, signed: true };
        match part {
            // Texels are counted: the centre of one is as good as its beginning where nothing is filtered.
            Part::Int { .. } => {
                for at in &mut at[..dims] {
                    *at = self.convert(int, Scalar::Float(Format::F32), Rounding::TowardZero, *at);
                }
            }
            _ => {
                for at in &mut at[dims..] {
                    *at = self.convert(Scalar::Float(Format::F32), int, Rounding::NearestEven, *at);
                }
            }
        }
        let (part, count) = self.result()?;
        let texel = self.texel(part)?;
        if count > 4 {
            return Err(self.malformed("a texel has four components"));
        }
        let d: Vec<_> = (0..count).map(|_| Some(self.fresh(part.width()))).collect();
        let name = format!("{}, linear filtering", self.opcode());
        self.emit(Op::ImageSample { d: d.clone(), image, sampler, shape, at, texel_offset, texel, gather, name });
        let parts: Vec<Operand> = d.into_iter().flatten().map(Operand::from).collect();
        self.define(parts)
    }

    fn image_size(&mut self) -> Result<()> {
        let (kind, image, _) = self.image_operand(self.operand(0)?)?;
        let (part, count) = self.result()?;
        if !matches!(part, Part::Int { .. }) || count != kind.shape.coordinates() {
            return Err(self.malformed(format!("a {} image has other sizes", kind.shape)));
        }
        let axes = (0..kind.shape.dims).map(ImageProperty::Extent);
        let all: Vec<_> = axes.chain([ImageProperty::Layers]).take(count).collect();
        let mut parts = Vec::with_capacity(count);
        for property in all {
            let d = self.fresh(Width::B32);
            self.emit(Op::ImageQuery { d, image, property });
            let from = Part::Int { bits: 32, signed: false };
            parts.push(self.resized(from, Signedness::Unsigned, part.bits(), d.into()));
        }
        self.define(parts)
    }

    /// The address of a texel, for atomics.
    pub(super) fn texel_pointer(&mut self) -> Result<()> {
        let (pointer, to) = self.pointer(self.operand(0)?)?;
        let Some(&TypeKind::Image(kind)) = self.lowering.types.kind(to) else {
            return Err(self.malformed("the pointer leads to no image"));
        };
        let Some(&image) = self.load_from(&pointer, to)?.first() else {
            return Err(self.malformed("the pointer leads to no image"));
        };
        let shape = kind.shape;
        let at = self.integer_coordinates(self.operand(1)?, shape)?;
        let d = self.fresh(Width::B64);
        let (texel, outside) = (TexelType::Native, Outside::Zero);
        self.emit(Op::ImageAddress { d, image, shape, at, texel, outside });
        let (space, address, layout) = (Space::Global, d.into(), Layout::default());
        let order = MemoryOrder::WEAK;
        self.define_value(Value::Memory(Pointer {
            space,
            address,
            offset: 0,
            layout,
            buffer: BufferOf::Unknown,
            order,
        }))
    }
}
