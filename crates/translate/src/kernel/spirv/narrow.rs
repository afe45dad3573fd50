//! Formats that kernels have no type of, taken apart and put together by their fields: every number of at most 24 bits is an
//! f64, and a power of two scales it exactly, so that one expansion serves all formats, whatever the modes of the kernel are.

use roundonce_arith::{ConversionRounding, Element, Format, PackedConversion, Profile, Rounding};
use roundonce_ir::{Operand, Reg, Width};

use super::body::{Body, Result};
use super::ids::{Id, Ty};

const U32: Ty = Ty::U32;
const U64: Ty = Ty::U64;
const F64: Ty = Ty::F64;

/// The bits of a power of two in f64.
pub(super) const fn power(exponent: i32) -> u64 {
    ((exponent + Format::F64.bias()) as u64) << Format::F64.frac_bits()
}

/// How a magnitude is rounded.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    /// To nearest even.
    Nearest,
    TowardZero,
    /// Toward zero, behind the sum with so much of a unit.
    Random(Id),
}

impl Body<'_> {
    /// The bits of an f64 that the number with these bits is; its magnitude's bits, which those above the format are cleared
    /// from, beside.
    pub(super) fn widened_bits(&mut self, element: Element, bits: Id) -> (Id, Id) {
        let fields = element.fields();
        let up = u64::from(Format::F64.frac_bits() - fields.frac_bits());
        let magnitude = self.emit(U32, "OpBitwiseAnd", &[bits, Id::constant(U32, fields.magnitude_mask())]);
        let wide = self.emit(U64, "OpUConvert", &[magnitude]);
        let wide = self.emit(U64, "OpShiftLeftLogical", &[wide, Id::constant(U64, up)]);
        // As if the exponents of both formats were counted from the same number on.
        let near = self.bitcast(wide, U64, F64);
        let scale = Id::constant(F64, power(Format::F64.bias() - fields.bias()));
        let value = self.emit(F64, "OpFMul", &[near, scale]);
        let mut result = self.bitcast(value, F64, U64);
        let highest = element.largest_finite();
        if highest < fields.magnitude_mask() {
            let is_number = self.emit(Ty::Bool, "OpULessThanEqual", &[magnitude, Id::constant(U32, highest)]);
            let special = if element.has_infinities() {
                self.emit(U64, "OpBitwiseOr", &[wide, Id::constant(U64, Format::F64.infinity())])
            } else {
                Id::constant(U64, Format::F64.magnitude_mask())
            };
            result = self.select(U64, is_number, result, special);
        }
        let sign = self.emit(U32, "OpBitwiseAnd", &[bits, Id::constant(U32, fields.sign_mask())]);
        let sign = self.emit(U64, "OpUConvert", &[sign]);
        let up = Id::constant(U64, u64::from(Format::F64.width() - fields.width()));
        let sign = self.emit(U64, "OpShiftLeftLogical", &[sign, up]);
        (self.emit(U64, "OpBitwiseOr", &[result, sign]), magnitude)
    }

    /// Several values from one format to another.
    pub(super) fn convert_packed(&mut self, d: Reg, conversion: &PackedConversion, args: &[Operand; 5]) -> Result {
        if [conversion.from, conversion.to].contains(&Element::PowerOfTwo) {
            return Err(format!("a conversion with {}", Element::PowerOfTwo.name()));
        }
        self.mode(F64);
        let held = Ty::of(Width::holding(conversion.operand_bits()));
        let random = self.read_as(args[4], U32);
        let mut all = Id::constant(U32, 0);
        for index in 0..conversion.count as usize {
            let bits = if conversion.has_separate_operands() {
                self.read_as(args[conversion.count as usize - 1 - index], U32)
            } else {
                let whole = self.read_as(args[0], held);
                let whole = self.resize(whole, held, U32);
                self.moved_down(whole, index as u32 * conversion.from.stride())
            };
            let (value, _) = self.widened_bits(conversion.from, bits);
            let result = self.narrowed_bits(conversion, value, (index, random))?;
            let up = Id::constant(U32, u64::from(index as u32 * conversion.to.stride()));
            let moved = if index == 0 { result } else { self.emit(U32, "OpShiftLeftLogical", &[result, up]) };
            all = if index == 0 { moved } else { self.emit(U32, "OpBitwiseOr", &[all, moved]) };
        }
        let width = Ty::of(self.kernel.width(d));
        let all = self.resize(all, U32, width);
        self.write(d, all, width);
        Ok(())
    }

    pub(super) fn moved_down(&mut self, bits: Id, by: u32) -> Id {
        if by == 0 { bits } else { self.emit(U32, "OpShiftRightLogical", &[bits, Id::constant(U32, by.into())]) }
    }

    /// A function of a number's bits to which each adds, without carries, a mask of its own.
    pub(super) fn linear(&mut self, value: Id, bits: u32, mask_of: impl Fn(u32) -> u32) -> Id {
        // By how far bits move, those that do.
        let mut moves = [0u32; 63];
        for bit in 0..bits {
            let mask = mask_of(bit);
            for to in (0..32).filter(|to| mask >> to & 1 == 1) {
                moves[(31 + to - bit) as usize] |= 1 << to;
            }
        }
        let mut all = None;
        for (at, mask) in moves.into_iter().enumerate().filter(|&(_, mask)| mask != 0) {
            let (opcode, by) = if at < 31 { ("OpShiftRightLogical", 31 - at) } else { ("OpShiftLeftLogical", at - 31) };
            let moved = if by == 0 { value } else { self.emit(U32, opcode, &[value, Id::constant(U32, by as u64)]) };
            let part = self.emit(U32, "OpBitwiseAnd", &[moved, Id::constant(U32, mask.into())]);
            all = Some(match all {
                Some(all) => self.emit(U32, "OpBitwiseXor", &[all, part]),
                None => part,
            });
        }
        all.unwrap_or(Id::constant(U32, 0))
    }

    /// The bits of an f64 rounded once to the format that a conversion leads to.
    fn narrowed_bits(&mut self, conversion: &PackedConversion, bits: Id, (index, random): (usize, Id)) -> Result<Id> {
        let (to, fields) = (conversion.to, conversion.to.fields());
        let constant = |bits: u64| Id::constant(U32, bits);
        let direction = match conversion.rounding {
            ConversionRounding::Direction(Rounding::NearestEven) => Direction::Nearest,
            ConversionRounding::Direction(Rounding::TowardZero) => Direction::TowardZero,
            ConversionRounding::Direction(rounding) => {
                return Err(format!("several values rounded {}", super::exact::direction(rounding)));
            }
            ConversionRounding::Random => {
                let count = conversion.random_bits(index, 0).1;
                let given = self.linear(random, 32, |bit| conversion.random_bits(index, 1 << bit).0 as u32);
                let given = self.emit(F64, "OpConvertUToF", &[given]);
                Direction::Random(self.emit(F64, "OpFMul", &[given, Id::constant(F64, power(-(count as i32)))]))
            }
        };
        let magnitude = self.magnitude_in(fields, bits, direction);
        let largest = constant(to.largest_finite());
        let fits = self.emit(Ty::Bool, "OpULessThanEqual", &[magnitude, largest]);
        let beyond = if conversion.satfinite { largest } else { constant(to.overflow()) };
        let magnitude = self.select(U32, fits, magnitude, beyond);
        let negative = self.emit(Ty::Bool, "OpSLessThan", &[bits, Id::constant(U64, 0)]);
        let below = match conversion.relu {
            true => constant(0),
            false => self.emit(U32, "OpBitwiseOr", &[magnitude, constant(fields.sign_mask())]),
        };
        let signed = self.select(U32, negative, below, magnitude);
        let value = self.bitcast(bits, U64, F64);
        let nan = self.emit(Ty::Bool, "OpIsNan", &[value]);
        Ok(self.select(U32, nan, constant(to.nan(&Profile::NVIDIA)), signed))
    }

    /// The magnitude of an f64 rounded once to a format of at most 32 bits whose exponents have no upper end: the bits of
    /// what does not fit, and those of a NaN, are above those of the largest finite number.
    pub(super) fn magnitude_in(&mut self, fields: Format, bits: Id, direction: Direction) -> Id {
        let (emin, fraction) = (fields.emin(), fields.frac_bits());
        let constant = |bits: u64| Id::constant(U32, bits);
        let up = Id::constant(U64, Format::F64.frac_bits().into());
        // The exponent that the last bit kept hangs from; of all that is far too large the same.
        let field = self.emit(U64, "OpShiftRightLogical", &[bits, up]);
        let field = self.emit(U32, "OpUConvert", &[field]);
        let field = self.emit(U32, "OpBitwiseAnd", &[field, constant(Format::F64.exp_max())]);
        let of = |exponent: i32| constant((exponent + Format::F64.bias()) as u64);
        let top = fields.bias() + 2;
        let field = self.call(U32, "u_clamp", &[field, of(emin), of(top)]);
        // 2^(fraction − exponent).
        let turned = constant((2 * Format::F64.bias() + fraction as i32) as u64);
        let scale = self.emit(U32, "OpISub", &[turned, field]);
        let scale = self.emit(U64, "OpUConvert", &[scale]);
        let scale = self.emit(U64, "OpShiftLeftLogical", &[scale, up]);
        let scale = self.bitcast(scale, U64, F64);
        let value = self.bitcast(bits, U64, F64);
        let magnitude = self.call(F64, "fabs", &[value]);
        let magnitude = self.call(F64, "fmin", &[magnitude, Id::constant(F64, power(top))]);
        let mut units = self.emit(F64, "OpFMul", &[magnitude, scale]);
        if let Direction::Random(given) = direction {
            // Where the sum is not exact it is far below the next unit.
            units = self.emit(F64, "OpFAdd", &[units, given]);
        }
        let name = if matches!(direction, Direction::Nearest) { "rint" } else { "trunc" };
        let units = self.call(F64, name, &[units]);
        let units = self.emit(U32, "OpConvertFToU", &[units]);
        // Exponents begin where the field 1 does, which the hidden bit is.
        let steps = self.emit(U32, "OpISub", &[field, of(emin)]);
        let steps = self.emit(U32, "OpShiftLeftLogical", &[steps, constant(fraction.into())]);
        self.emit(U32, "OpIAdd", &[units, steps])
    }
}
