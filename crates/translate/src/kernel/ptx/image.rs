//! Textures and surfaces. A handle of 64 bits is what PTX has in a register too.

use roundonce_arith::Format;
use roundonce_ir::{ImageProperty, ImageShape, Kernel, Op, Operand, Outside, Reg, Sampler, Scalar, TexelType, Width};

use super::body::{Body, Refusal, Written, none};
use super::memory::vector_word;
use super::needs::since;
use super::text::{Arg, push_number};

const B32: Width = Width::B32;

/// `.2d`
fn geometry(shape: ImageShape) -> Result<&'static str, Refusal> {
    match (shape.dims, shape.arrayed) {
        (1, false) => Ok(".1d"),
        (2, false) => Ok(".2d"),
        (3, false) => Ok(".3d"),
        (1, true) => Ok(".a1d"),
        (2, true) => Ok(".a2d"),
        _ => none(format!("a {shape} image")),
    }
}

/// What a texture gives, as a type of PTX.
fn texel_word(texel: TexelType) -> Option<&'static str> {
    match texel {
        TexelType::Component(Scalar::Float(Format::F32)) => Some(".f32"),
        TexelType::Component(Scalar::Float(Format::F16)) => Some(".f16"),
        TexelType::Component(Scalar::Int { bits: 32, signed: true }) => Some(".s32"),
        TexelType::Component(Scalar::Int { bits: 32, signed: false }) => Some(".u32"),
        _ => None,
    }
}

fn raw_word(bits: u32) -> Option<&'static str> {
    match bits {
        8 => Some(".b8"),
        16 => Some(".b16"),
        32 => Some(".b32"),
        64 => Some(".b64"),
        _ => None,
    }
}

fn outside_word(outside: Outside) -> Option<&'static str> {
    match outside {
        Outside::Fault => Some(".trap"),
        Outside::Zero => Some(".zero"),
        Outside::Clamp => Some(".clamp"),
        Outside::Sampler(_) => None,
    }
}

/// Whether a kernel has textures, and whether it has surfaces.
fn images_of(kernel: &Kernel) -> [bool; 2] {
    let [mut textures, mut surfaces] = [false; 2];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        match &instruction.op {
            Op::ImageSample { .. } => textures = true,
            Op::ImageLoad { texel, .. } | Op::ImageStore { texel, .. } | Op::ImageAddress { texel, .. } => {
                let is_surface = !matches!(texel, TexelType::Component(_));
                (textures, surfaces) = (textures || !is_surface, surfaces || is_surface);
            }
            _ => {}
        }
    }
    [textures, surfaces]
}

impl Body<'_> {
    pub(super) fn image(&mut self, op: &Op) -> Written {
        match op {
            Op::ImageSample { d, image, sampler, shape, at, texel_offset, texel, gather, .. } => {
                let Some(ty) = texel_word(*texel) else { return none("a sample of such a type") };
                let coordinates = self.coordinates(at, *shape);
                let geometry = geometry(*shape)?;
                let name = match gather {
                    None => ["tex", ""],
                    Some(component) => ["tld4", [".r", ".g", ".b", ".a"][usize::from(*component) % 4]],
                };
                let words = [name[0], name[1], geometry, ".v4", ty, ".f32"];
                self.texture(&words, d, [*image, *sampler], &coordinates, &texel_offset[..shape.dims.into()])
            }
            Op::ImageLoad { d, image, shape, at, texel, outside } => {
                self.image_load(d, *image, (*shape, at), *texel, *outside)
            }
            Op::ImageStore { values, image, shape, at, texel, outside } => {
                let (kind, ty) = match texel {
                    TexelType::Raw { bits } => (".b", raw_word(*bits)),
                    TexelType::Native => (".p", Some(".b32")),
                    TexelType::Component(_) => ("", None),
                };
                let (Some(ty), Some(mode), 1 | 2 | 4) = (ty, outside_word(*outside), values.len()) else {
                    return none("a write of an image whose numbers are converted");
                };
                let width = texel.width();
                let values: Vec<Arg<'_>> = values.iter().map(|value| self.register(*value, width)).collect();
                let (vector, value) = self.vector_or_one(&values);
                let words = ["sust", kind, geometry(*shape)?, vector, ty, mode];
                self.surface(&words, None, *image, (*shape, at), Some(value))
            }
            Op::ImageQuery { d, image, property } => self.query(*d, *image, *property),
            _ => none("the address of a texel"),
        }
    }

    fn vector_or_one<'v>(&self, values: &'v [Arg<'v>]) -> (&'static str, Arg<'v>) {
        match values {
            [value] => ("", *value),
            values => (vector_word(values.len()), Arg::Vector(values)),
        }
    }

    fn image_load(
        &mut self,
        d: &[Option<Reg>],
        image: Operand,
        (shape, at): (ImageShape, &[Operand]),
        texel: TexelType,
        outside: Outside,
    ) -> Written {
        let geometry = geometry(shape)?;
        if let (Some(ty), Outside::Sampler(_) | Outside::Zero) = (texel_word(texel), outside) {
            // `tex1Dfetch` is the only fetch that gives zeros outside.
            let is_fetch = shape == ImageShape { dims: 1, arrayed: false };
            let sampler = match outside {
                Outside::Sampler(sampler) if !is_fetch => sampler,
                Outside::Zero if is_fetch => image,
                _ => return none("a read of an image with such a sampler"),
            };
            let coordinates = self.coordinates(at, shape);
            let words = ["tex", "", geometry, ".v4", ty, ".s32"];
            return self.texture(&words, d, [image, sampler], &coordinates, &[]);
        }
        let TexelType::Raw { bits } = texel else { return none("a read of an image whose numbers are converted") };
        let (Some(ty), Some(mode), 1 | 2 | 4) = (raw_word(bits), outside_word(outside), d.len()) else {
            return none("such a read of a surface");
        };
        let width = texel.width();
        let results: Vec<Arg<'_>> = d.iter().map(|d| d.map_or_else(|| self.temporary(width), Arg::Reg)).collect();
        let (vector, result) = self.vector_or_one(&results);
        let words = ["suld.b", "", geometry, vector, ty, mode];
        self.surface(&words, Some(result), image, (shape, at), None)
    }

    /// As PTX has them: the layer first, three made four.
    fn coordinates(&mut self, at: &[Operand], shape: ImageShape) -> Vec<Arg<'static>> {
        let (axes, layer) = at.split_at(usize::from(shape.dims).min(at.len()));
        let mut all: Vec<Arg<'static>> =
            layer.iter().chain(axes).map(|coordinate| self.register(*coordinate, B32)).collect();
        if let (3, Some(last)) = (all.len(), all.last().copied()) {
            all.push(last);
        }
        all
    }

    fn texture(
        &mut self,
        words: &[&str],
        d: &[Option<Reg>],
        [image, sampler]: [Operand; 2],
        coordinates: &[Arg<'_>],
        offsets: &[i32],
    ) -> Written {
        if let Operand::Imm(bits) = sampler {
            let what =
                if Sampler::from_bits(bits).is_some() { "a sampler of the source itself" } else { "such a sampler" };
            return none(what);
        }
        self.using(since(4, 0, 30), words)?;
        let is_separate = image != sampler;
        self.textures(is_separate)?;
        let image = self.register(image, Width::B64);
        let sampler = self.register(sampler, Width::B64);
        let mut results = [Arg::Sink; 4];
        for (result, d) in results.iter_mut().zip(d) {
            *result = d.map_or(Arg::Sink, Arg::Reg);
        }
        if d.iter().all(Option::is_none) {
            // Something must be read.
            results[0] = self.temporary(if words[4] == ".f16" { Width::B16 } else { B32 });
        }
        let handles = [image, sampler];
        let handles = if is_separate { &handles[..] } else { &handles[..1] };
        let start = self.text.len();
        self.ins(words, &[Arg::Vector(&results), Arg::Handles(handles, coordinates)]);
        if offsets.iter().any(|offset| *offset != 0) {
            self.text.truncate(self.text.trim_end_matches([';', '\n']).len());
            debug_assert!(self.text.len() > start);
            for (index, offset) in offsets.iter().enumerate() {
                self.text.push_str(if index == 0 { ", {" } else { ", " });
                if *offset < 0 {
                    self.text.push('-');
                }
                push_number(&mut self.text, offset.unsigned_abs().into());
            }
            self.text.push_str(if offsets.len() == 3 { ", 0};\n" } else { "};\n" });
        }
        Ok(())
    }

    fn surface(
        &mut self,
        words: &[&str],
        d: Option<Arg<'_>>,
        image: Operand,
        (shape, at): (ImageShape, &[Operand]),
        value: Option<Arg<'_>>,
    ) -> Written {
        self.using(since(4, 0, 30), words)?;
        let handle = [self.register(image, Width::B64)];
        let coordinates = self.coordinates(at, shape);
        let place = Arg::Handles(&handle, &coordinates);
        match (d, value) {
            (Some(d), _) => self.ins(words, &[d, place]),
            (None, Some(value)) => self.ins(words, &[place, value]),
            (None, None) => {}
        }
        Ok(())
    }

    /// Textures and surfaces have handles of their own: which one is asked, the kernel's other instructions say.
    fn query(&mut self, d: Reg, image: Operand, property: ImageProperty) -> Written {
        let kernel = self.kernel;
        let [textures, surfaces] = *self.images.get_or_insert_with(|| images_of(kernel));
        let textures = textures || property == ImageProperty::Normalized;
        if textures && surfaces {
            return none("a question about an image in a kernel with textures and surfaces");
        }
        let name = if surfaces { "suq" } else { "txq" };
        let word = match property {
            ImageProperty::Extent(0) => ".width.b32",
            ImageProperty::Extent(1) => ".height.b32",
            ImageProperty::Extent(_) => ".depth.b32",
            ImageProperty::Layers => ".array_size.b32",
            ImageProperty::Normalized => ".normalized_coords.b32",
        };
        let image = self.register(image, Width::B64);
        self.ins(&[name, word], &[d.into(), Arg::Address(&image, 0)]);
        Ok(())
    }
}
