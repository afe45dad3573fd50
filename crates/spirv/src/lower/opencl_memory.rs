//! Vectors in memory, halves in memory and components chosen by index, of OpenCL.std.

use roundonce_arith::{Format, Rounding};
use roundonce_ir::{IntOp, Op, Operand, Scalar, Signedness, Space, Special, Width};
use rspirv::spirv::FPRoundingMode;

use super::types::{Layout, Part};
use super::value::Pointer;
use super::{Body, Result};

impl Body<'_> {
    /// A function of memory or of components; none of another name.
    pub(super) fn opencl_memory(&mut self, name: &str, ids: &[u32]) -> Option<Result<()>> {
        Some(match name {
            "vloadn" => self.load_vector(ids, false, false),
            "vload_half" | "vload_halfn" => self.load_vector(ids, true, false),
            "vloada_halfn" => self.load_vector(ids, true, true),
            "vstoren" => self.store_vector(ids, false, false),
            "vstore_half" | "vstore_half_r" | "vstore_halfn" | "vstore_halfn_r" => self.store_vector(ids, true, false),
            "vstorea_halfn" | "vstorea_halfn_r" => self.store_vector(ids, true, true),
            "printf" => self.printed(ids),
            "shuffle" => self.shuffled(&ids[..1], ids[1]),
            "shuffle2" => self.shuffled(&ids[..2], ids[2]),
            _ => return None,
        })
    }

    /// A pointer to the vector of so many elements at an offset counted in such vectors. Of halves in aligned memory one
    /// of three takes as much as one of four.
    fn vector_at(&mut self, offset: u32, pointer: u32, element: u32, count: usize, aligned: bool) -> Result<Pointer> {
        let (pointer, _) = self.memory(pointer)?;
        let (part, offset) = self.scalar(offset)?;
        if !matches!(part, Part::Int { .. }) {
            return Err(self.malformed("the offset is no integer"));
        }
        let stride = if aligned && count == 3 { 4 } else { count as u64 };
        let offset = self.resized(part, Signedness::Unsigned, 64, offset);
        let bytes = Operand::Imm(stride * u64::from(element));
        let distance = self.int(IntOp::Mul, Width::B64, &[offset, bytes]);
        let address = self.int(IntOp::Add, Width::B64, &[pointer.address, distance]);
        Ok(Pointer { address, layout: Layout::default(), ..pointer })
    }

    /// Elements one after another, none aligned to more than itself.
    fn load_vector(&mut self, ids: &[u32], halves: bool, aligned: bool) -> Result<()> {
        let (part, count) = self.result()?;
        let bytes = if halves { 2 } else { part.bytes() };
        if halves && !matches!(part, Part::Float(_)) {
            return Err(self.malformed("the Result Type is no float"));
        }
        let pointer = self.vector_at(ids[0], ids[1], bytes, count, aligned)?;
        let width = if halves { Width::B16 } else { part.width() };
        let mut parts = Vec::with_capacity(count);
        for at in 0..count as i64 {
            let d = self.fresh(width);
            let (space, address) = (pointer.space, pointer.address);
            let offset = pointer.offset.wrapping_add(at * i64::from(bytes));
            self.emit_ordered(
                Op::Load { d: vec![Some(d)], space, bytes, signed: false, address, offset },
                pointer.order,
            );
            parts.push(match part {
                Part::Float(format) if halves && format != Format::F16 => {
                    self.float_to_float(Format::F16, format, d.into())
                }
                _ => d.into(),
            });
        }
        self.define(parts)
    }

    fn store_vector(&mut self, ids: &[u32], halves: bool, aligned: bool) -> Result<()> {
        let data = self.components(ids[0])?;
        let bytes = if halves { 2 } else { data.part.bytes() };
        let pointer = self.vector_at(ids[1], ids[2], bytes, data.parts.len(), aligned)?;
        // A rounding mode is a literal behind the pointer; without one the current mode rounds, to nearest even.
        let rounding = match ids.get(3).copied().and_then(FPRoundingMode::from_u32) {
            Some(FPRoundingMode::RTZ) => Rounding::TowardZero,
            Some(FPRoundingMode::RTP) => Rounding::Up,
            Some(FPRoundingMode::RTN) => Rounding::Down,
            Some(FPRoundingMode::RTE) | None => Rounding::NearestEven,
        };
        for (at, &value) in data.parts.iter().enumerate() {
            let value = match data.part {
                Part::Float(format) if halves && format != Format::F16 => {
                    self.convert(Scalar::Float(format), Scalar::Float(Format::F16), rounding, value)
                }
                _ if halves && data.part != Part::Float(Format::F16) => {
                    return Err(self.malformed("the data are no floats"));
                }
                _ => value,
            };
            let (space, address) = (pointer.space, pointer.address);
            let offset = pointer.offset.wrapping_add(at as i64 * i64::from(bytes));
            let width = if halves { Width::B16 } else { data.part.width() };
            self.emit_ordered(Op::Store { values: vec![value], width, space, bytes, address, offset }, pointer.order);
        }
        Ok(())
    }

    /// C's `printf`: the arguments stand in memory one behind the other, each aligned to its size, floats as doubles.
    fn printed(&mut self, ids: &[u32]) -> Result<()> {
        let (format, _) = self.memory(ids[0])?;
        if !matches!(format.space, Space::Global | Space::Generic) {
            return Err(self.unsupported("OpExtInst OpenCL.std printf with a format in this storage class"));
        }
        let start = self.local_top.next_multiple_of(8);
        let mut end = start;
        for &id in &ids[1..] {
            let found = self.components(id)?;
            let &[value] = &found.parts[..] else {
                return Err(self.unsupported("OpExtInst OpenCL.std printf of a vector"));
            };
            let (value, width) = match found.part {
                Part::Float(Format::F64) => (value, Width::B64),
                Part::Float(of) => {
                    let (from, to) = (Scalar::Float(of), Scalar::Float(Format::F64));
                    (self.convert(from, to, Rounding::NearestEven, value), Width::B64)
                }
                part if part.bits() == 64 => (value, Width::B64),
                part => (self.resized(part, Signedness::Signed, 32, value), Width::B32),
            };
            let bytes = width.bits() / 8;
            end = end.next_multiple_of(bytes.into());
            let (space, address, offset) = (Space::Local, Operand::Imm(end), 0);
            self.emit(Op::Store { values: vec![value], width, space, bytes, address, offset });
            end += u64::from(bytes);
        }
        let top = u32::try_from(end).map_err(|_| self.unsupported("this much local memory"))?;
        self.kernel.local_bytes = self.kernel.local_bytes.max(top);
        let window = self.fresh(Width::B64);
        self.emit(Op::Special { d: window, special: Special::LocalWindow });
        let args = self.int(IntOp::Add, Width::B64, &[window.into(), Operand::Imm(start)]);
        let format = self.address(&format);
        self.emit(Op::Print { d: None, format, args });
        let count = self.lowering.parts_of(self.result_type()?)?.len();
        self.define(vec![Operand::ZERO; count])
    }

    /// Components of one or two vectors, chosen by the low bits of a mask's.
    fn shuffled(&mut self, vectors: &[u32], mask: u32) -> Result<()> {
        let mask = self.components(mask)?;
        let (part, count) = self.result()?;
        let mut all = Vec::new();
        for &id in vectors {
            let found = self.components(id)?;
            if found.part != part {
                return Err(self.malformed("the vectors are of another type than the result"));
            }
            all.extend_from_slice(&found.parts);
        }
        if !matches!(mask.part, Part::Int { .. }) || mask.parts.len() != count || all.is_empty() {
            return Err(self.malformed("the mask has no integer for each component of the result"));
        }
        let bits = Operand::Imm((all.len().next_power_of_two() - 1) as u64);
        let mut chosen = Vec::with_capacity(count);
        for &index in &mask.parts[..] {
            let index = self.int(IntOp::And, mask.part.width(), &[index, bits]);
            chosen.push(self.component_at(part, &all, mask.part, index));
        }
        self.define(chosen)
    }
}
