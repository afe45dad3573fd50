//! Images as arguments: how an array is read as one, and what a launch knows of each.

use super::memory::Buffer;
use roundonce_arith::Format;
use roundonce_ir::flow::{ParamBytes, Written, propagate};
use roundonce_ir::{ImageShape, ImageType, Kernel, Op, Operand, Outside, Passing, Sampler, Scalar, Space, TexelType};

/// Handles start here: no memory lies there.
const HANDLES: u64 = 0x0400_0000;
/// Images of a launch at most.
const MOST_IMAGES: u64 = 1 << 20;

/// An array as an image: its last axis is that of the components where it has one axis more than the image has
/// coordinates; before it x, y, z and the layer, the last of them first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// The axes of the array.
    pub shape: Vec<u64>,
    /// Of a component.
    pub element: Scalar,
    /// The components, in the order of C.
    pub data: Buffer,
    /// What it is sampled with, where the instruction names no sampler.
    pub sampler: Option<Sampler>,
}

/// An image's size: what an array's axes mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extents {
    pub(crate) shape: ImageShape,
    /// x, y, z; 1 where there is no such axis.
    pub(crate) texels: [u32; 3],
    pub(crate) layers: u32,
    pub(crate) channels: u32,
}

/// An image of a launch.
#[derive(Clone, Debug)]
pub(crate) struct PlacedImage {
    pub(crate) name: String,
    pub(crate) extents: Extents,
    pub(crate) element: Scalar,
    pub(crate) sampler: Option<Sampler>,
    /// Where its bytes begin, and the segment of memory that has them.
    pub(crate) base: u64,
    pub(crate) segment: usize,
}

/// The handle of the image of a number.
pub(crate) const fn handle(index: usize) -> u64 {
    HANDLES + index as u64
}

/// The number of the image that a handle means.
pub(crate) const fn image_of(handle: u64) -> Option<usize> {
    match handle.checked_sub(HANDLES) {
        Some(index) if index < MOST_IMAGES => Some(index as usize),
        _ => None,
    }
}

fn axes(shape: &[u64]) -> String {
    let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({})", axes.join(", "))
}

/// The axes that an image of a shape has, for messages.
fn wanted(shape: ImageShape) -> String {
    let layer = if shape.arrayed { "layers, " } else { "" };
    let axes = ["depth, ", "height, ", "width"][3 - usize::from(shape.dims.clamp(1, 3))..].concat();
    format!("({layer}{axes}) or ({layer}{axes}, components)")
}

/// A component's type as messages name it.
pub(crate) fn named(element: Scalar) -> String {
    match element {
        Scalar::Float(format) => format.name().unwrap_or("float").to_owned(),
        Scalar::Int { bits, signed } => format!("{}{bits}", if signed { 'i' } else { 'u' }),
    }
}

/// The shape of an image where nothing says it: one axis is x; a last axis of 1, 2 or 4 behind two others is that of the
/// components.
fn guessed(shape: &[u64]) -> Option<ImageShape> {
    let dims = match shape {
        [_] => 1,
        [_, _] | [_, _, 1 | 2 | 4] => 2,
        [_, _, _] | [_, _, _, _] => 3,
        _ => return None,
    };
    Some(ImageShape { dims, arrayed: false })
}

impl Image {
    /// What the axes mean for an image of a type.
    ///
    /// # Errors
    /// What is expected, where the array is not that.
    pub(crate) fn extents(&self, ty: ImageType) -> Result<Extents, String> {
        let Image { shape, element, data, .. } = self;
        let found = || format!("found {} of {}", axes(shape), named(*element));
        let is_known = match *element {
            Scalar::Int { bits, .. } => matches!(bits, 8 | 16 | 32 | 64),
            Scalar::Float(format) => matches!(format, Format::F16 | Format::F32),
        };
        if !is_known {
            return Err(format!("expected texels of f16, f32 or integers, {}", found()));
        }
        let of = ty.shape.or_else(|| guessed(shape));
        let of = of.ok_or_else(|| format!("expected an image of one to four axes, {}", found()))?;
        let coordinates = of.coordinates();
        let channels = match shape.len() {
            count if count == coordinates => 1,
            count if count == coordinates + 1 => shape[coordinates],
            _ => return Err(format!("expected a {of} image, {}, {}", wanted(of), found())),
        };
        if !matches!(channels, 1 | 2 | 4) {
            return Err(format!("expected 1, 2 or 4 components, {}", found()));
        }
        if let Some((element, channels_wanted)) = ty.format
            && (element != self.element || channels != u64::from(channels_wanted))
        {
            let element = named(element);
            return Err(format!("expected texels of {channels_wanted} × {element}, {}", found()));
        }
        let mut sizes = [1u32; 4];
        for (size, &axis) in sizes.iter_mut().zip(shape[..coordinates].iter().rev()) {
            let fits = u32::try_from(axis).ok().filter(|axis| matches!(axis, 1..=0x7fff_ffff));
            *size = fits.ok_or_else(|| format!("expected at least one texel along each axis, {}", found()))?;
        }
        let [x, y, z, _] = sizes;
        let dims = usize::from(of.dims);
        let layers = if of.arrayed { sizes[dims] } else { 1 };
        let mut texels = [x, y, z];
        texels[dims..].fill(1);
        let bytes = shape.iter().try_fold(u64::from(element.bits() / 8), |all, &axis| all.checked_mul(axis));
        if bytes != Some(data.len() as u64) {
            return Err(format!("{} bytes are no image, {}", data.len(), found()));
        }
        Ok(Extents { shape: of, texels, layers, channels: channels as u32 })
    }
}

/// What a parameter is as an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageUse {
    /// What it is declared as, or, where that leaves it open, what the instructions say that its value reaches.
    pub ty: ImageType,
    /// What those have of a texel in a register, where they say it.
    pub component: Option<Scalar>,
}

/// What each parameter is as an image, if it is one.
pub fn image_parameters(kernel: &Kernel) -> Vec<Option<ImageUse>> {
    let declared = |passing| match passing {
        Passing::Image(ty) => Some(ImageUse { ty, component: None }),
        _ => None,
    };
    let mut types: Vec<Option<ImageUse>> = kernel.params.iter().map(|param| declared(param.passing)).collect();
    let params = ParamBytes::of(kernel);
    // The parameters that a value comes from, the first 64.
    let from = propagate(
        kernel,
        0u64,
        |one, other| one | other,
        |op| match op {
            Op::Load { space: Space::Param, address: Operand::Imm(at), offset, bytes: 8, .. } => {
                let param = params.at((*at as i64).wrapping_add(*offset)).filter(|&(index, whole)| whole && index < 64);
                Written::Value(param.map_or(0, |(index, _)| 1 << index))
            }
            Op::Move { .. } | Op::Select { .. } => Written::Operands,
            _ => Written::Value(0),
        },
    );
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        let (image, shape, texel) = match &instruction.op {
            Op::ImageLoad { image: Operand::Reg(image), shape, texel, .. }
            | Op::ImageStore { image: Operand::Reg(image), shape, texel, .. }
            | Op::ImageSample { image: Operand::Reg(image), shape, texel, .. } => (image, shape, Some(*texel)),
            Op::ImageAddress { image: Operand::Reg(image), shape, .. } => (image, shape, None),
            _ => continue,
        };
        for (index, used) in types.iter_mut().enumerate().take(64) {
            if from[image.0 as usize] >> index & 1 == 1 {
                let used = used.get_or_insert(ImageUse { ty: ImageType::OPEN, component: None });
                used.ty.shape = used.ty.shape.or(Some(*shape));
                if let Some(TexelType::Component(scalar)) = texel {
                    used.component.get_or_insert(scalar);
                }
            }
        }
    }
    types
}

/// The sampler that an instruction's mode outside the image names.
pub(crate) const fn sampler_of(outside: Outside) -> Option<Operand> {
    match outside {
        Outside::Sampler(sampler) => Some(sampler),
        _ => None,
    }
}
