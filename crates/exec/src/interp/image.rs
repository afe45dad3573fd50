//! Images: lane after lane.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::register::{Lane, with_lane};
use crate::kernel::{Extents, PlacedImage, image_of, named, sampler_of};
use crate::scalar::{Taps, read_component, taps, texel_at, weighted_sum, write_component};
use roundonce_arith::Format;
use roundonce_ir::{Border, ImageProperty, ImageShape, Op, Operand, Outside, Reg, Sampler, Scalar, TexelType, Width};

/// Where an access goes.
enum Place {
    /// To the texel at this byte of the image.
    At(u64),
    /// Nowhere: zeros are read.
    Zero,
    /// To the border.
    Border(Border),
}

/// What an instruction says of an image.
struct Access {
    shape: ImageShape,
    texel: TexelType,
    /// Registers.
    count: usize,
    outside: Outside,
}

impl Interpreter<'_> {
    pub(super) fn image(&mut self, op: &Op) -> Outcome {
        match op {
            Op::ImageLoad { d, image, shape, at, texel, outside } => {
                let access = Access { shape: *shape, texel: *texel, count: d.len(), outside: *outside };
                let sampler = sampler_of(*outside).unwrap_or(*image);
                let rows = self.rows(&[*image, sampler], at, &[], Width::B32);
                self.write_rows(d, texel.width(), &rows, |interp, lane, row| interp.load_texel(&access, lane, row))
            }
            Op::ImageStore { values, image, shape, at, texel, outside } => {
                let access = Access { shape: *shape, texel: *texel, count: values.len(), outside: *outside };
                for (lane, row) in self.rows(&[*image, *image], at, values, texel.width()) {
                    self.store_texel(&access, lane, &row)?;
                }
                Ok(())
            }
            Op::ImageAddress { d, image, shape, at, texel, outside } => {
                let access = Access { shape: *shape, texel: *texel, count: 1, outside: *outside };
                let rows = self.rows(&[*image, *image], at, &[], Width::B32);
                let width = self.code.kernel.width(*d);
                self.write_rows(&[Some(*d)], width, &rows, |interp, lane, row| {
                    let (image, place) = interp.place(&access, lane, row, None)?;
                    let base = interp.config.images[image].base;
                    // No memory begins at 0.
                    Ok([if let Place::At(byte) = place { base + byte } else { 0 }, 0, 0, 0])
                })
            }
            Op::ImageSample { d, image, sampler, shape, at, texel_offset, texel, gather, name } => {
                let access = Access { shape: *shape, texel: *texel, count: d.len(), outside: Outside::Zero };
                let rows = self.rows(&[*image, *sampler], at, &[], Width::B32);
                let mut filtered = 0;
                self.write_rows(d, texel.width(), &rows, |interp, lane, row| {
                    interp.sample(&access, lane, row, *texel_offset, *gather, &mut filtered)
                })?;
                self.stats.approximated(name, filtered);
                Ok(())
            }
            &Op::ImageQuery { d, image, property } => {
                let rows = self.rows(&[image, image], &[], &[], Width::B32);
                self.write_rows(&[Some(d)], Width::B32, &rows, |interp, lane, row| {
                    let image = interp.image_at(lane, row[0])?;
                    let Extents { texels, layers, .. } = image.extents;
                    let value = match property {
                        ImageProperty::Extent(axis) => texels[usize::from(axis.min(2))],
                        ImageProperty::Layers => layers,
                        ImageProperty::Normalized => image.sampler.is_some_and(|sampler| sampler.normalized).into(),
                    };
                    Ok([value.into(), 0, 0, 0])
                })
            }
            _ => Ok(()),
        }
    }

    /// The operands of each active lane: the image and the sampler, the coordinates, the values.
    fn rows(
        &mut self,
        handles: &[Operand; 2],
        at: &[Operand],
        values: &[Operand],
        width: Width,
    ) -> Vec<(usize, Vec<u64>)> {
        let mut rows: Vec<_> = self.active.mask.lanes().map(|lane| (lane, Vec::new())).collect();
        let handles = handles.iter().map(|&handle| (handle, Width::B64));
        let at = at.iter().map(|&at| (at, Width::B32));
        for (operand, width) in handles.chain(at).chain(values.iter().map(|&value| (value, width))) {
            self.widen_operand(0, operand, width);
            for (lane, row) in &mut rows {
                row.push(self.wide[0][*lane]);
            }
        }
        rows
    }

    /// Writes what `f` gives for each lane.
    fn write_rows(
        &mut self,
        d: &[Option<Reg>],
        width: Width,
        rows: &[(usize, Vec<u64>)],
        mut f: impl FnMut(&mut Self, usize, &[u64]) -> Outcome<[u64; 4]>,
    ) -> Outcome {
        let mut results = Vec::with_capacity(rows.len());
        for (lane, row) in rows {
            results.push((*lane, f(self, *lane, row)?));
        }
        for (place, d) in d.iter().enumerate() {
            let Some(d) = *d else { continue };
            with_lane!(width, T => {
                let mut out = T::file_mut(&mut self.files).acquire();
                for (lane, values) in &results {
                    out.0[*lane] = T::of(values[place] & width.mask());
                }
                self.set_column::<T>(d, out);
            });
        }
        Ok(())
    }

    /// The image of a handle.
    fn image_at(&self, lane: usize, handle: u64) -> Outcome<&PlacedImage> {
        let image = image_of(handle).and_then(|index| self.config.images.get(index));
        image.ok_or_else(|| {
            Fault::at(
                FaultKind::Access,
                lane,
                format!("{handle:#x} is no image: a texture, a surface or an image is wanted here"),
            )
        })
    }

    /// The number of the image of a handle, which has the shape that the instruction says.
    fn shaped(&self, lane: usize, handle: u64, shape: ImageShape) -> Outcome<usize> {
        let image = self.image_at(lane, handle)?;
        let found = image.extents.shape;
        if found != shape {
            let message = format!("`{}` is a {found} image, the instruction is of a {shape} image", image.name);
            return Err(Fault::at(FaultKind::Access, lane, message));
        }
        Ok(image_of(handle).unwrap_or(0))
    }

    /// The sampler that a handle is, or that comes with the image of a handle, for sampling an image.
    fn sampler(&self, lane: usize, [image, handle]: [u64; 2]) -> Outcome<Sampler> {
        if let Some(mut sampler) = Sampler::from_bits(handle) {
            if sampler.range_of_image {
                sampler.normalized = self.image_at(lane, image)?.sampler.is_some_and(|own| own.normalized);
            }
            return Ok(sampler);
        }
        let image = image_of(handle).and_then(|index| self.config.images.get(index));
        let image = image.ok_or_else(|| Fault::at(FaultKind::Access, lane, format!("{handle:#x} is no sampler")))?;
        Ok(image.sampler.unwrap_or_default())
    }

    /// Where an access by integer coordinates goes.
    fn place(&self, access: &Access, lane: usize, row: &[u64], sampler: Option<Sampler>) -> Outcome<(usize, Place)> {
        let index = self.shaped(lane, row[0], access.shape)?;
        let image = &self.config.images[index];
        let Extents { texels, layers, channels, .. } = image.extents;
        let dims = usize::from(access.shape.dims);
        let texel_bytes = u64::from(channels) * u64::from(image.element.bits() / 8);
        // Raw accesses count x in bytes.
        let (unit, bytes) = match access.texel {
            TexelType::Raw { bits } => (1, u64::from(bits / 8) * access.count as u64),
            _ => (texel_bytes, texel_bytes),
        };
        let row_bytes = texel_bytes * u64::from(texels[0]);
        let mut byte = 0u64;
        let mut stride = row_bytes;
        for (axis, &at) in row[2..2 + access.shape.coordinates()].iter().enumerate() {
            let at = i64::from(at as u32 as i32);
            let count = match axis {
                // The places where an access fits.
                0 => (row_bytes / unit).saturating_sub(bytes / unit).saturating_add(1).min(row_bytes / unit),
                _ if axis < dims => u64::from(texels[axis]),
                _ => u64::from(layers),
            };
            let inside = u64::try_from(at).is_ok_and(|at| at < count);
            let at = if inside {
                at as u64
            } else {
                match (access.outside, sampler) {
                    (Outside::Zero, _) => return Ok((index, Place::Zero)),
                    (Outside::Clamp, _) => at.clamp(0, count as i64 - 1) as u64,
                    (Outside::Sampler(_), Some(_)) if axis == dims => at.clamp(0, count as i64 - 1) as u64,
                    (Outside::Sampler(_), Some(sampler)) => {
                        // Texels are counted: nothing repeats.
                        let mode = sampler.address[axis];
                        match texel_at(mode, false, at, count as u32) {
                            Some(at) => at.into(),
                            None => return Ok((index, Place::Border(sampler.border))),
                        }
                    }
                    _ => return Err(outside(image, lane, access, row)),
                }
            };
            if axis == 0 {
                if bytes > row_bytes {
                    // Not even one access fits.
                    return match access.outside {
                        Outside::Fault => Err(outside(image, lane, access, row)),
                        _ => Ok((index, Place::Zero)),
                    };
                }
                let element = if let TexelType::Raw { bits } = access.texel { u64::from(bits / 8) } else { 1 };
                let at = if access.outside == Outside::Clamp && !inside { at / element * element } else { at };
                if !(at * unit).is_multiple_of(element) {
                    let message = format!("byte {at} of a row is not a multiple of {element}, what is accessed");
                    return Err(Fault::at(FaultKind::Access, lane, message));
                }
                byte += at * unit;
            } else {
                byte += at * stride;
                let rows = if axis < dims { texels[axis] } else { layers };
                stride *= u64::from(rows);
            }
        }
        Ok((index, Place::At(byte)))
    }

    /// A component of a texel, or of the border where there is none.
    fn component(
        &self,
        lane: usize,
        image: &PlacedImage,
        byte: Option<u64>,
        at: u32,
        to: Scalar,
        border: Border,
    ) -> Outcome<u64> {
        let one = match to {
            Scalar::Float(format) => format.one(),
            Scalar::Int { .. } => 1,
        };
        if at >= image.extents.channels {
            return Ok(if at == 3 { one } else { 0 });
        }
        let Some(byte) = byte else {
            return Ok(match border {
                Border::White => one,
                Border::Black if at == 3 => one,
                _ => 0,
            });
        };
        let bytes = image.element.bits() / 8;
        let bits = self.global.words[image.segment].read(byte + u64::from(at * bytes), bytes);
        read_component(&self.code.profile, image.element, to, bits).ok_or_else(|| unlike(image, lane, to))
    }

    fn load_texel(&mut self, access: &Access, lane: usize, row: &[u64]) -> Outcome<[u64; 4]> {
        self.image_at(lane, row[0])?;
        let sampler = match access.outside {
            Outside::Sampler(_) => Some(self.sampler(lane, [row[0], row[1]])?),
            _ => None,
        };
        let (index, place) = self.place(access, lane, row, sampler)?;
        let image = &self.config.images[index];
        let mut values = [0; 4];
        for (at, value) in values.iter_mut().enumerate().take(access.count) {
            *value = match (&place, access.texel) {
                (Place::Zero, _) | (Place::Border(_), TexelType::Raw { .. }) => 0,
                (Place::At(byte), TexelType::Raw { bits }) => {
                    let bytes = bits / 8;
                    let from = byte + at as u64 * u64::from(bytes);
                    let words = &self.global.words[image.segment];
                    let pieces = pieces(from, bytes);
                    pieces.fold(0, |all, (at, size)| all | words.read(from + at, size) << (8 * at))
                }
                (Place::At(byte), texel) => {
                    let to = component_type(texel, image.element);
                    self.component(lane, image, Some(*byte), at as u32, to, Border::Transparent)?
                }
                (Place::Border(border), texel) => {
                    self.component(lane, image, None, at as u32, component_type(texel, image.element), *border)?
                }
            };
        }
        Ok(values)
    }

    fn store_texel(&mut self, access: &Access, lane: usize, row: &[u64]) -> Outcome {
        let (index, place) = self.place(access, lane, row, None)?;
        let Place::At(byte) = place else { return Ok(()) };
        let image = &self.config.images[index];
        let values = &row[2 + access.shape.coordinates()..];
        let segment = image.segment;
        if let TexelType::Raw { bits } = access.texel {
            let bytes = bits / 8;
            for (at, &value) in values.iter().enumerate() {
                let to = byte + at as u64 * u64::from(bytes);
                for (at, size) in pieces(to, bytes) {
                    self.global.words[segment].write(to + at, size, value >> (8 * at));
                }
            }
            return Ok(());
        }
        let bytes = image.element.bits() / 8;
        for at in 0..image.extents.channels {
            let from = component_type(access.texel, image.element);
            let value = values.get(at as usize).copied().unwrap_or(0);
            let bits = write_component(&self.code.profile, image.element, from, value);
            let bits = bits.ok_or_else(|| unlike(image, lane, from))?;
            self.global.words[segment].write(byte + u64::from(at * bytes), bytes, bits);
        }
        Ok(())
    }

    fn sample(
        &mut self,
        access: &Access,
        lane: usize,
        row: &[u64],
        offset: [i32; 3],
        gather: Option<u8>,
        filtered: &mut u64,
    ) -> Outcome<[u64; 4]> {
        let image = &self.config.images[self.shaped(lane, row[0], access.shape)?];
        let sampler = self.sampler(lane, [row[0], row[1]])?;
        let Extents { texels, layers, channels, .. } = image.extents;
        let dims = usize::from(access.shape.dims);
        let to = component_type(access.texel, image.element);
        let one = Taps { texels: [Some(0), None], weights: [256, 0] };
        let mut axes = [one; 3];
        for (axis, found) in axes.iter_mut().enumerate().take(dims) {
            *found = taps(sampler, axis, row[2 + axis], texels[axis], offset[axis], gather.is_some());
        }
        let layer = match access.shape.arrayed {
            true => i64::from(row[2 + dims] as u32 as i32).clamp(0, i64::from(layers) - 1) as u64,
            false => 0,
        };
        let texel_bytes = u64::from(channels) * u64::from(image.element.bits() / 8);
        let byte = |tap: [usize; 3]| {
            let at = |axis: usize| axes[axis].texels[tap[axis]].map(u64::from);
            let [width, height, depth] = texels.map(u64::from);
            let row = ((layer * depth + at(2)?) * height + at(1)?) * width + at(0)?;
            Some(row * texel_bytes)
        };
        let mut values = [0; 4];
        if let Some(component) = gather {
            for (value, [x, y]) in values.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
                *value = self.component(lane, image, byte([x, y, 0]), component.into(), to, sampler.border)?;
            }
            return Ok(values);
        }
        let format = match to {
            Scalar::Float(format) if sampler.linear => format,
            Scalar::Int { .. } if sampler.linear => {
                let message = format!("`{}`: integers are read, and only floats are filtered", image.name);
                return Err(Fault::at(FaultKind::Access, lane, message));
            }
            _ => {
                for (at, value) in values.iter_mut().enumerate().take(access.count) {
                    *value = self.component(lane, image, byte([0; 3]), at as u32, to, sampler.border)?;
                }
                return Ok(values);
            }
        };
        *filtered += 1;
        let wide = Scalar::Float(Format::F32);
        for (at, value) in values.iter_mut().enumerate().take(access.count) {
            let mut terms = [(0, 0); 8];
            for (place, term) in terms.iter_mut().enumerate() {
                let tap = [place & 1, place >> 1 & 1, place >> 2];
                let weight = (0..3).map(|axis| axes[axis].weights[tap[axis]]).product::<u32>();
                if weight > 0 {
                    *term = (self.component(lane, image, byte(tap), at as u32, wide, sampler.border)?, weight);
                }
            }
            *value = weighted_sum(&self.code.profile, format, &terms, 24);
        }
        Ok(values)
    }
}

/// The aligned pieces of an access, each where it begins and its bytes: rows stand close together, whatever their length.
fn pieces(from: u64, bytes: u32) -> impl Iterator<Item = (u64, u32)> {
    let size = 1 << (from | u64::from(bytes)).trailing_zeros().min(3);
    (0..u64::from(bytes)).step_by(size as usize).map(move |at| (at, size))
}

/// The type of a component in a register.
const fn component_type(texel: TexelType, element: Scalar) -> Scalar {
    match (texel, element) {
        (TexelType::Component(scalar), _) => scalar,
        (_, Scalar::Float(_)) => Scalar::Float(Format::F32),
        (_, Scalar::Int { signed, .. }) => Scalar::Int { bits: 32, signed },
    }
}

#[cold]
fn unlike(image: &PlacedImage, lane: usize, register: Scalar) -> Box<Fault> {
    let message = format!(
        "`{}` has texels of {}, the instruction has {} in registers",
        image.name,
        named(image.element),
        named(register)
    );
    Fault::at(FaultKind::Access, lane, message)
}

#[cold]
fn outside(image: &PlacedImage, lane: usize, access: &Access, row: &[u64]) -> Box<Fault> {
    let at: Vec<String> =
        row[2..2 + access.shape.coordinates()].iter().map(|&at| (at as u32 as i32).to_string()).collect();
    let [x, y, z] = image.extents.texels;
    let unit = if let TexelType::Raw { .. } = access.texel { ", x in bytes," } else { "" };
    let message = format!(
        "({}){unit} lies outside the image `{}` of {x} × {y} × {z} texels and {} layers",
        at.join(", "),
        image.name,
        image.extents.layers
    );
    Fault::at(FaultKind::Access, lane, message)
}
