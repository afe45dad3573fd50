//! One element of a matrix multiply-add as a function: the terms are exact in f64, and so are their cuts and their sum, in units
//! of the grid; what is left is rounded once, on bits. The modes of the kernel have no say in it.

use std::fmt::Write as _;

use roundonce_arith::{Addend, Dot, Element, Format, NarrowFormat, Rounding, Scale, ScaleFormat};

use super::body::{Body, Result};
use super::exact::direction;
use super::ids::{Id, Ty};
use super::narrow::Direction;

const U32: Ty = Ty::U32;
const U64: Ty = Ty::U64;
const F64: Ty = Ty::F64;

/// How many products share a word of a row, and the word's type.
pub(super) fn word_of(element: Element) -> (u32, Ty) {
    let stride = element.stride();
    (32u32.checked_div(stride).unwrap_or(1).max(1), if stride > 32 { U64 } else { U32 })
}

/// A term: its value and its exponent, which is counted from the least one that a product has.
#[derive(Clone, Copy)]
struct Term {
    value: Id,
    exponent: Id,
}

impl Body<'_> {
    /// The function that is one element: from the words of a row of a, those of a column of b, the addend's bits, and the scales
    /// of both where there are some, four to a word.
    pub(super) fn dot_function(&mut self, dot: &Dot) -> Result<Id> {
        if let Some(known) = self.module.dots.iter().find(|(known, _)| known == dot) {
            return Ok(known.1);
        }
        let words = |element: Element| {
            let (count, ty) = word_of(element);
            vec![ty; dot.k.div_ceil(count) as usize]
        };
        let (a, b) = (words(dot.a), words(dot.b));
        let sum = if dot.accumulator == Format::F64 { U64 } else { U32 };
        let mut params = [&a[..], &b[..], &[sum]].concat();
        if dot.scale.is_some() {
            params.extend([U32; 2]);
        }
        let name = format!("dot_{}_{}_{}_k{}", dot.a.name(), dot.b.name(), Element::Float(dot.d).name(), dot.k);
        let id = self.function(&name, &described(dot), sum.into(), &params, |body, given| {
            let (a, rest) = given.split_at(a.len());
            let (b, rest) = rest.split_at(b.len());
            if dot.accumulator == Format::F64 {
                body.chain_of_f64(dot, a, b, rest[0])
            } else {
                body.dot(dot, [a, b], rest)
            }
        })?;
        self.module.dots.push((*dot, id));
        Ok(id)
    }

    fn dot(&mut self, dot: &Dot, [a, b]: [&[Id]; 2], rest: &[Id]) -> Result<Id> {
        let c = self.converted_bits(dot.c, dot.accumulator, rest[0]);
        let mut sum = match dot.addend {
            Addend::InFirstStep => c,
            Addend::AfterLastStep => Id::constant(U32, 0),
        };
        for start in (0..dot.k as usize).step_by(dot.block as usize) {
            sum = match dot.kept {
                Some(kept) => self.cut_sum(dot, kept, [a, b], rest, start, sum)?,
                None => {
                    let index = dot.index(start);
                    let [x, y] = [self.element(dot.a, a, index), self.element(dot.b, b, index)].map(|(value, _)| value);
                    let product = self.emit(F64, "OpFMul", &[x, y]);
                    self.rounded_sum(dot.accumulator, product, sum)
                }
            };
        }
        if dot.addend == Addend::AfterLastStep {
            let value = self.value_of(Element::Float(dot.accumulator), sum);
            sum = self.rounded_sum(dot.accumulator, value, c);
        }
        if dot.d == dot.accumulator {
            return Ok(sum);
        }
        let (bits, _) = self.widened_bits(Element::Float(dot.accumulator), sum);
        Ok(self.delivered(dot.d, dot.d, bits, Direction::Nearest, true))
    }

    /// The value of a number as an f64.
    fn value_of(&mut self, element: Element, bits: Id) -> Id {
        let (bits, _) = self.widened_bits(element, bits);
        self.bitcast(bits, U64, F64)
    }

    /// A number of a format as one of a format that holds it.
    fn converted_bits(&mut self, from: Format, to: Format, bits: Id) -> Id {
        if from == to {
            return bits;
        }
        let (bits, _) = self.widened_bits(Element::Float(from), bits);
        self.delivered(to, to, bits, Direction::TowardZero, true)
    }

    /// A value plus a number of a format, rounded once to nearest.
    fn rounded_sum(&mut self, format: Format, value: Id, bits: Id) -> Id {
        let addend = self.value_of(Element::Float(format), bits);
        let sum = self.sum_to_odd(value, addend, Rounding::NearestEven);
        let bits = self.bitcast(sum, F64, U64);
        self.delivered(format, format, bits, Direction::Nearest, true)
    }

    /// An f64's bits rounded once to the precision of `fields`, delivered in a format. What is too large is an infinity.
    pub(super) fn delivered(
        &mut self,
        format: Format,
        fields: Format,
        bits: Id,
        direction: Direction,
        signed_zero: bool,
    ) -> Id {
        let constant = |bits: u64| Id::constant(U32, bits);
        let mut magnitude = self.magnitude_in(fields, bits, direction);
        if fields != format {
            let up = constant((format.frac_bits() - fields.frac_bits()).into());
            magnitude = self.emit(U32, "OpShiftLeftLogical", &[magnitude, up]);
        }
        let magnitude = self.call(U32, "u_min", &[magnitude, constant(format.infinity())]);
        let top = self.emit(U64, "OpShiftRightLogical", &[bits, Id::constant(U64, 63)]);
        let top = self.emit(U32, "OpUConvert", &[top]);
        let sign = self.emit(U32, "OpShiftLeftLogical", &[top, constant(u64::from(format.width() - 1))]);
        let mut result = self.emit(U32, "OpBitwiseOr", &[magnitude, sign]);
        if !signed_zero {
            let zero = self.emit(Ty::Bool, "OpIEqual", &[magnitude, constant(0)]);
            result = self.select(U32, zero, constant(0), result);
        }
        let value = self.bitcast(bits, U64, F64);
        let nan = self.emit(Ty::Bool, "OpIsNan", &[value]);
        self.select(U32, nan, constant(format.magnitude_mask()), result)
    }

    /// An element of a row: its value, and its exponent from its format's least one on, plus 1.
    fn element(&mut self, element: Element, words: &[Id], index: usize) -> (Id, Id) {
        let place = index as u32 * element.stride();
        // TF32 stands in the upper bits of its place.
        let inside = if element == Element::Float(Format::TF32) { 13 } else { 0 };
        let bits = self.moved_down(words[(place / 32) as usize], place % 32 + inside);
        self.taken_apart(element, bits)
    }

    fn taken_apart(&mut self, element: Element, bits: Id) -> (Id, Id) {
        let (wide, magnitude) = self.widened_bits(element, bits);
        let field = self.moved_down(magnitude, element.fields().frac_bits());
        let exponent = self.call(U32, "u_max", &[field, Id::constant(U32, 1)]);
        (self.bitcast(wide, U64, F64), exponent)
    }

    /// A step: products and the addend cut toward zero to the grid, added, and rounded once.
    fn cut_sum(&mut self, dot: &Dot, kept: u32, [a, b]: [&[Id]; 2], rest: &[Id], start: usize, sum: Id) -> Result<Id> {
        let constant = |number: i32| Id::constant(U32, number as u64);
        // Exponents are counted from this one on.
        let mut origin = -(dot.a.fields().bias() + dot.b.fields().bias());
        if let Some(Scale { format, .. }) = dot.scale {
            origin -= 2 * scale_bias(format);
        }
        let floor = constant(dot.floor - origin);
        let mut terms = Vec::new();
        for place in (start..start + dot.block as usize).step_by(dot.group as usize) {
            let index = dot.index(place);
            let (mut value, mut exponent) = match dot.group {
                1 => self.product(dot, [a, b], index),
                group => {
                    let mut all = Id::constant(F64, 0);
                    for at in index..index + group as usize {
                        let (product, _) = self.product(dot, [a, b], at);
                        all = self.emit(F64, "OpFAdd", &[all, product]);
                    }
                    // That of the smallest product.
                    (all, constant(2))
                }
            };
            if let (Some(scale), [_, x, y]) = (dot.scale, rest) {
                for word in [x, y] {
                    let byte = index as u32 / scale.block;
                    let (factor, of) = self.scale(scale.format, *word, byte);
                    value = self.emit(F64, "OpFMul", &[value, factor]);
                    exponent = self.emit(U32, "OpIAdd", &[exponent, of]);
                }
            }
            terms.push(Term { value, exponent });
        }
        let (value, exponent) = self.taken_apart(Element::Float(dot.accumulator), sum);
        let lower = constant(-dot.accumulator.bias() - origin);
        let exponent = self.emit(U32, "OpIAdd", &[exponent, lower]);
        terms.push(Term { value, exponent });

        let mut largest: Option<Id> = None;
        for Term { value, exponent } in &terms {
            let zero = self.emit(Ty::Bool, "OpFOrdEqual", &[*value, Id::constant(F64, 0)]);
            let exponent = self.select(U32, zero, floor, *exponent);
            largest = Some(match largest {
                Some(largest) => self.call(U32, "s_max", &[largest, exponent]),
                None => exponent,
            });
        }
        let largest = largest.unwrap_or(floor);
        // One over the grid's unit, and the unit.
        let bias = Format::F64.bias();
        let finer = self.emit(U32, "OpISub", &[constant(bias + kept as i32 - origin), largest]);
        let coarser = self.emit(U32, "OpISub", &[constant(2 * bias), finer]);
        let [finer, coarser] = [finer, coarser].map(|field| self.power_of(field));
        // From +0 on no sum is −0.
        let mut total = Id::constant(F64, 0);
        for Term { value, .. } in terms {
            let units = self.emit(F64, "OpFMul", &[value, finer]);
            let whole = self.call(F64, "trunc", &[units]);
            total = self.emit(F64, "OpFAdd", &[total, whole]);
        }
        let exact = self.emit(F64, "OpFMul", &[total, coarser]);
        let bits = self.bitcast(exact, F64, U64);
        let fields = Format::new(dot.accumulator.exp_bits(), dot.fraction);
        let direction = match dot.rounding {
            Rounding::NearestEven => Direction::Nearest,
            Rounding::TowardZero => Direction::TowardZero,
            other => return Err(format!("the sums of matrices rounded {}", direction(other))),
        };
        Ok(self.delivered(dot.accumulator, fields, bits, direction, false))
    }

    fn product(&mut self, dot: &Dot, [a, b]: [&[Id]; 2], index: usize) -> (Id, Id) {
        let ((x, first), (y, second)) = (self.element(dot.a, a, index), self.element(dot.b, b, index));
        (self.emit(F64, "OpFMul", &[x, y]), self.emit(U32, "OpIAdd", &[first, second]))
    }

    /// A scale as [`Body::element`] has elements.
    fn scale(&mut self, format: ScaleFormat, word: Id, byte: u32) -> (Id, Id) {
        let bits = self.moved_down(word, 8 * byte);
        match format {
            ScaleFormat::Ue4m3 => {
                let bits = self.emit(U32, "OpBitwiseAnd", &[bits, Id::constant(U32, 0x7f)]);
                self.taken_apart(Element::Narrow(NarrowFormat::E4M3), bits)
            }
            ScaleFormat::Ue8m0 => {
                let field = self.emit(U32, "OpBitwiseAnd", &[bits, Id::constant(U32, 0xff)]);
                let wide = Id::constant(U32, (Format::F64.bias() - scale_bias(format)) as u64);
                let wide = self.emit(U32, "OpIAdd", &[field, wide]);
                let power = self.power_of(wide);
                let nan = self.emit(Ty::Bool, "OpIEqual", &[field, Id::constant(U32, 0xff)]);
                let value = self.select(F64, nan, Id::constant(F64, Format::F64.magnitude_mask()), power);
                (value, field)
            }
        }
    }

    /// The f64 with an exponent field.
    fn power_of(&mut self, field: Id) -> Id {
        let wide = self.emit(U64, "OpUConvert", &[field]);
        let up = Id::constant(U64, Format::F64.frac_bits().into());
        let bits = self.emit(U64, "OpShiftLeftLogical", &[wide, up]);
        self.bitcast(bits, U64, F64)
    }

    /// Fused multiply-adds of f64, one a product.
    fn chain_of_f64(&mut self, dot: &Dot, a: &[Id], b: &[Id], c: Id) -> Result<Id> {
        let mut sum = self.bitcast(c, U64, F64);
        for place in 0..dot.k as usize {
            let index = dot.index(place);
            let [x, y] = [a[index], b[index]].map(|bits| self.bitcast(bits, U64, F64));
            sum = match dot.rounding {
                Rounding::NearestEven => self.fused(F64, x, y, sum),
                rounding => self.directed_fma(rounding, [x, y, sum])?,
            };
        }
        Ok(self.bitcast(sum, F64, U64))
    }
}

/// What is subtracted from a scale's field.
const fn scale_bias(format: ScaleFormat) -> i32 {
    match format {
        ScaleFormat::Ue8m0 => 127,
        ScaleFormat::Ue4m3 => 7,
    }
}

/// What a machine computes, in words.
fn described(dot: &Dot) -> String {
    let Dot { k, block, group, kept, fraction, floor, .. } = *dot;
    let mut text = format!("{k} products of {} and {}", dot.a.name(), dot.b.name());
    let sum = Element::Float(dot.accumulator).name();
    let _ = match kept {
        Some(kept) => {
            write!(text, ", {block} a step, cut toward zero {kept} bits below the largest exponent (zeros: {floor})")
        }
        None => write!(text, ", one fused multiply-add each"),
    };
    if group > 1 {
        let _ = write!(text, ", {group} of them one exact term");
    }
    let _ = write!(text, "; the sum in {sum} of {fraction} fraction bits, {}", direction(dot.rounding));
    if dot.addend == Addend::AfterLastStep {
        text.push_str("; then + c to nearest even");
    }
    text
}
