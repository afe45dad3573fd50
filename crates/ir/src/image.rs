//! Images: arrays of texels that operations read, write and sample by coordinates, and the samplers that say how.
//!
//! A parameter that is an image receives a handle, a number that no memory access takes. What an instruction says of the
//! image is its [`ImageShape`] and the [`TexelType`] that it reads or writes; how large the image is and what its texels
//! are made of, the launch says.

use super::{Operand, Scalar, Width};

/// How many coordinates an image has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageShape {
    /// 1, 2 or 3: x, y, z.
    pub dims: u8,
    /// A number of a layer follows them.
    pub arrayed: bool,
}

impl ImageShape {
    /// Coordinates, that of the layer included.
    pub const fn coordinates(self) -> usize {
        self.dims as usize + self.arrayed as usize
    }
}

impl core::fmt::Display for ImageShape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let arrayed = if self.arrayed { " array" } else { "" };
        write!(f, "{}-D{arrayed}", self.dims)
    }
}

/// What a register has of a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TexelType {
    /// One component in each register, converted: integers become normalized floats in a float.
    Component(Scalar),
    /// The same with 32 bits, a float where the image has floats and an integer where it has integers.
    Native,
    /// Bits as they lie in memory: x counts bytes, and the registers are neighbours.
    Raw {
        /// 8, 16, 32 or 64.
        bits: u32,
    },
}

impl TexelType {
    /// How wide each register is.
    pub const fn width(self) -> Width {
        match self {
            TexelType::Component(scalar) => scalar.width(),
            TexelType::Native => Width::B32,
            TexelType::Raw { bits } => Width::holding(if bits < 16 { 16 } else { bits }),
        }
    }
    pub(super) const fn is_known(self) -> bool {
        match self {
            TexelType::Component(Scalar::Int { bits, .. }) => matches!(bits, 16 | 32 | 64),
            TexelType::Component(Scalar::Float(format)) => matches!(format.width(), 16 | 32),
            TexelType::Native => true,
            TexelType::Raw { bits } => matches!(bits, 8 | 16 | 32 | 64),
        }
    }
}

/// What an access outside the image does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outside {
    /// The launch ends with an error.
    Fault,
    /// A read gives zeros, a write is left out.
    Zero,
    /// The nearest texel is accessed.
    Clamp,
    /// Of a read: what a sampler's address modes say.
    Sampler(Operand),
}

/// What a coordinate outside the image means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum AddressMode {
    /// The texel at the edge.
    #[default]
    Clamp,
    /// The border's colour.
    Border,
    /// The image goes on from its beginning; normalized coordinates only, otherwise as `Clamp`.
    Repeat,
    /// The image goes on mirrored; normalized coordinates only, otherwise as `Clamp`.
    Mirror,
}

/// The colour around an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Border {
    /// All zeros.
    #[default]
    Transparent,
    /// Zeros, the fourth component one.
    Black,
    /// All ones.
    White,
}

/// How an image is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Sampler {
    /// Neighbours are averaged; otherwise the nearest texel is taken.
    pub linear: bool,
    /// Coordinates run from 0 to 1 over the image; otherwise over its texels.
    pub normalized: bool,
    /// Of x, y and z.
    pub address: [AddressMode; 3],
    /// Around it.
    pub border: Border,
    /// Whether coordinates are normalized, the image's own sampler says.
    pub range_of_image: bool,
}

/// What tells a sampler's bits from other numbers.
const SAMPLER_TAG: u64 = 0x5a3d_0000_0000_0000;

impl Sampler {
    /// The number that stands for it in a register.
    pub const fn to_bits(self) -> u64 {
        let [x, y, z] = self.address;
        let modes = x as u64 | (y as u64) << 2 | (z as u64) << 4;
        let ranges = (self.normalized as u64) << 1 | (self.range_of_image as u64) << 10;
        SAMPLER_TAG | self.linear as u64 | ranges | modes << 2 | (self.border as u64) << 8
    }
    /// The sampler that a number stands for, if it stands for one.
    pub const fn from_bits(bits: u64) -> Option<Sampler> {
        const fn mode(bits: u64) -> AddressMode {
            match bits & 3 {
                0 => AddressMode::Clamp,
                1 => AddressMode::Border,
                2 => AddressMode::Repeat,
                _ => AddressMode::Mirror,
            }
        }
        let border = match bits >> 8 & 3 {
            0 => Border::Transparent,
            1 => Border::Black,
            _ => Border::White,
        };
        let address = [mode(bits >> 2), mode(bits >> 4), mode(bits >> 6)];
        let (linear, normalized, range_of_image) = (bits & 1 == 1, bits >> 1 & 1 == 1, bits >> 10 & 1 == 1);
        let sampler = Sampler { linear, normalized, address, border, range_of_image };
        if sampler.to_bits() == bits { Some(sampler) } else { None }
    }
}

/// What may be asked of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageProperty {
    /// Texels along an axis, 0 to 2; 1 along one that it has not.
    Extent(u8),
    /// Layers of an array; 1 of another image.
    Layers,
    /// Whether its sampler takes normalized coordinates: 1 or 0.
    Normalized,
}

/// What a parameter that is an image asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageType {
    /// Where the parameter says it; otherwise the instructions do.
    pub shape: Option<ImageShape>,
    /// What a texel's components are, and how many it has, where the parameter says it.
    pub format: Option<(Scalar, u8)>,
    /// A sampler comes with it.
    pub sampled: bool,
}

impl ImageType {
    /// Any image.
    pub const OPEN: ImageType = ImageType { shape: None, format: None, sampled: false };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_are_numbers() {
        let modes = [AddressMode::Clamp, AddressMode::Border, AddressMode::Repeat, AddressMode::Mirror];
        for (x, y) in modes.into_iter().flat_map(|x| modes.map(|y| (x, y))) {
            for border in [Border::Transparent, Border::Black, Border::White] {
                for (linear, normalized, range_of_image) in
                    [(false, true, false), (true, false, true), (true, true, false)]
                {
                    let sampler = Sampler { linear, normalized, address: [x, y, x], border, range_of_image };
                    assert_eq!(Sampler::from_bits(sampler.to_bits()), Some(sampler));
                }
            }
        }
        for other in [0, 1, SAMPLER_TAG | 1 << 11, SAMPLER_TAG | 3 << 8, !SAMPLER_TAG] {
            assert_eq!(Sampler::from_bits(other), None);
        }
    }
}
