//! Variables, pointers, loads and stores.

use std::rc::Rc;

use roundonce_ir::{Comparand, Comparison, IntOp, MemoryOrder, Op, Operand, Signedness, Space, Special, Width};
use rspirv::spirv::{ExecutionModel, MemoryAccess, Op as Opcode};

use super::builtin::Descriptors;
use super::types::{Cell, Layout, MOST_PARTS, Part, TypeKind};
use super::value::{BufferOf, Pointer, Value};
use super::{Body, Result};

/// Elements of one load or store.
const AT_ONCE: usize = 4;
/// The bits of memory operands behind which an operand of their own stands.
const WITH_OPERAND: MemoryAccess = MemoryAccess::ALIGNED
    .union(MemoryAccess::MAKE_POINTER_AVAILABLE)
    .union(MemoryAccess::MAKE_POINTER_VISIBLE)
    .union(MemoryAccess::ALIAS_SCOPE_INTEL_MASK)
    .union(MemoryAccess::NO_ALIAS_INTEL_MASK);

impl Body<'_> {
    /// The address that a pointer is.
    pub(super) fn address(&mut self, pointer: &Pointer) -> Operand {
        match (pointer.address, pointer.offset) {
            (address, 0) => address,
            (Operand::Imm(base), offset) => Operand::Imm(base.wrapping_add(offset as u64)),
            (base, offset) => self.int(IntOp::Add, Width::B64, &[base, Operand::Imm(offset as u64)]),
        }
    }

    /// The scalars of what a pointer points to.
    fn cells(&self, pointer: &Pointer, to: u32) -> Result<Vec<Cell>> {
        let mut cells = Vec::new();
        let found = self.lowering.types.cells(to, 0, pointer.layout, &mut cells);
        found.map(|()| cells).ok_or_else(|| {
            let what = self.lowering.facts.describe(self.lowering.module, to);
            self.unsupported(format!("{} of {what} as a whole", self.opcode()))
        })
    }

    /// Calls `each` with runs of neighbouring cells of one width.
    fn runs(cells: &[Cell], mut each: impl FnMut(&[Cell])) {
        let mut rest = cells;
        while let Some(first) = rest.first() {
            let bytes = u64::from(first.part.bytes());
            let follows = |(at, cell): &(usize, &Cell)| {
                cell.part.width() == first.part.width()
                    && u64::from(cell.part.bytes()) == bytes
                    && first.offset.checked_add(*at as u64 * bytes) == Some(cell.offset)
            };
            let count = rest.iter().take(AT_ONCE).enumerate().take_while(follows).count().max(1);
            let (run, after) = rest.split_at(count);
            each(run);
            rest = after;
        }
    }

    /// The alignment that a kernel's memory operands declare. Those of shaders declare no less than a scalar needs.
    fn declared_alignment(&self, operands: &[u32]) -> Option<u64> {
        match operands {
            [mask, align, ..] if mask & MemoryAccess::ALIGNED.bits() != 0 => Some(u64::from(*align)),
            _ => None,
        }
        .filter(|_| self.entry.model == ExecutionModel::Kernel as u32)
    }

    /// The memory operands of a copy's target and of its source, which begin at an index. Where there is one set, it is both's.
    fn copy_operands(&self, at: usize) -> [&[u32]; 2] {
        let operands = self.operands().get(at..).unwrap_or_default();
        let mask = MemoryAccess::from_bits_truncate(operands.first().copied().unwrap_or(0));
        let second = 1 + mask.intersection(WITH_OPERAND).bits().count_ones() as usize;
        let source = operands.get(second..).filter(|rest| !rest.is_empty()).unwrap_or(operands);
        [operands, source]
    }

    /// The value behind a pointer.
    pub(super) fn load_from(&mut self, pointer: &Value, to: u32) -> Result<Rc<[Operand]>> {
        self.load_aligned(pointer, to, None)
    }

    /// The same, at a declared alignment.
    fn load_aligned(&mut self, pointer: &Value, to: u32, align: Option<u64>) -> Result<Rc<[Operand]>> {
        match pointer {
            Value::Registers(registers, first) => {
                let parts = self.lowering.parts_of(to)?;
                let registers = first.checked_add(parts.len()).and_then(|end| registers.get(*first..end));
                let registers = registers.ok_or_else(|| self.malformed("the pointer leads outside its variable"))?;
                let registers = registers.to_vec();
                Ok(registers.into_iter().map(|reg| self.copied(self.kernel.width(reg), reg.into())).collect())
            }
            Value::Memory(pointer) => {
                let cells = self.cells(pointer, to)?;
                let align = align.unwrap_or_else(|| self.lowering.types.alignment(to));
                let mut runs = Vec::new();
                Self::runs(&cells, |run| runs.push(run.to_vec()));
                let mut parts = Vec::with_capacity(cells.len());
                for run in runs {
                    for value in self.load_run(pointer, &run, align) {
                        let is_bool = run[0].part == Part::Bool;
                        parts.push(if is_bool { self.is_not_zero(Width::B32, value) } else { value });
                    }
                }
                Ok(parts.into())
            }
            Value::Parts(_) => Err(self.malformed("this pointer leads nowhere")),
        }
    }

    /// The values of neighbouring cells of one width.
    fn load_run(&mut self, pointer: &Pointer, run: &[Cell], align: u64) -> Vec<Operand> {
        let (space, address) = (pointer.space, pointer.address);
        let (width, signed) = (run[0].register(), false);
        let bytes = Self::piece(run, align);
        if bytes == run[0].part.bytes() {
            let d: Vec<_> = run.iter().map(|_| self.fresh(width)).collect();
            let (all, offset) = (d.iter().map(|&d| Some(d)).collect(), pointer.offset_of(&run[0], 0));
            self.emit_ordered(Op::Load { d: all, space, bytes, signed, address, offset }, pointer.order);
            return d.into_iter().map(Operand::Reg).collect();
        }
        let mut values = Vec::with_capacity(run.len());
        for cell in run {
            let mut value = Operand::ZERO;
            for piece in (0..cell.part.bytes()).step_by(bytes as usize) {
                let (d, offset) = (self.fresh(width), pointer.offset_of(cell, piece));
                self.emit_ordered(Op::Load { d: vec![Some(d)], space, bytes, signed, address, offset }, pointer.order);
                let placed = self.int(IntOp::Shl, width, &[d.into(), Operand::Imm(u64::from(piece) * 8)]);
                value = self.int(IntOp::Or, width, &[value, placed]);
            }
            values.push(value);
        }
        values
    }

    fn store_run(&mut self, pointer: &Pointer, run: &[Cell], align: u64, values: Vec<Operand>) {
        let (space, address, width) = (pointer.space, pointer.address, run[0].register());
        let bytes = Self::piece(run, align);
        if bytes == run[0].part.bytes() {
            let offset = pointer.offset_of(&run[0], 0);
            self.emit_ordered(Op::Store { values, width, space, bytes, address, offset }, pointer.order);
            return;
        }
        for (cell, value) in run.iter().zip(values) {
            for piece in (0..cell.part.bytes()).step_by(bytes as usize) {
                let shift = Operand::Imm(u64::from(piece) * 8);
                let values = vec![self.int(IntOp::Shr(Signedness::Unsigned), width, &[value, shift])];
                let offset = pointer.offset_of(cell, piece);
                self.emit_ordered(Op::Store { values, width, space, bytes, address, offset }, pointer.order);
            }
        }
    }

    /// The most bytes of each cell that are accessed at once.
    fn piece(run: &[Cell], align: u64) -> u32 {
        let aligned = run.iter().fold(align, |all, cell| all | cell.offset);
        run[0].part.bytes().min(1 << aligned.trailing_zeros().min(3))
    }

    pub(super) fn store_to(&mut self, pointer: &Value, to: u32, parts: &[Operand]) -> Result<()> {
        self.store_aligned(pointer, to, parts, None)
    }

    /// The same, at a declared alignment.
    fn store_aligned(&mut self, pointer: &Value, to: u32, parts: &[Operand], align: Option<u64>) -> Result<()> {
        let mismatch = |body: &Self| body.malformed("the value is of another type than what the pointer points to");
        match pointer {
            Value::Registers(registers, first) => {
                let registers = first.checked_add(parts.len()).and_then(|end| registers.get(*first..end));
                let registers = registers.ok_or_else(|| mismatch(self))?.to_vec();
                for (d, &a) in registers.into_iter().zip(parts) {
                    self.emit(Op::Move { d, a });
                }
                Ok(())
            }
            Value::Memory(pointer) => {
                let cells = self.cells(pointer, to)?;
                if cells.len() != parts.len() {
                    return Err(mismatch(self));
                }
                let align = align.unwrap_or_else(|| self.lowering.types.alignment(to));
                let mut runs = Vec::new();
                let mut at = 0;
                Self::runs(&cells, |run| {
                    runs.push((run.to_vec(), parts[at..at + run.len()].to_vec()));
                    at += run.len();
                });
                for (run, mut values) in runs {
                    if run[0].part == Part::Bool {
                        for value in &mut values {
                            *value = self.select(Width::B32, *value, Operand::Imm(1), Operand::ZERO);
                        }
                    }
                    self.store_run(pointer, &run, align, values);
                }
                Ok(())
            }
            Value::Parts(_) => Err(self.malformed("this pointer leads nowhere")),
        }
    }

    pub(super) fn load(&mut self) -> Result<()> {
        let (pointer, to) = self.pointer(self.operand(0)?)?;
        if self.result_type()? != to {
            return Err(self.malformed("the Result Type is not what the pointer points to"));
        }
        let operands = &self.operands()[1..];
        let (pointer, align) = (self.accessed(pointer, operands), self.declared_alignment(operands));
        let parts = self.load_aligned(&pointer, to, align)?;
        self.define(parts)
    }

    pub(super) fn store(&mut self) -> Result<()> {
        let (pointer, to) = self.pointer(self.operand(0)?)?;
        let object = self.operand(1)?;
        if self.typed_value(object)?.type_id != to {
            return Err(self.malformed("the value is of another type than what the pointer points to"));
        }
        let parts = self.parts(object)?;
        let operands = &self.operands()[2..];
        let (pointer, align) = (self.accessed(pointer, operands), self.declared_alignment(operands));
        self.store_aligned(&pointer, to, &parts, align)
    }

    pub(super) fn copy_memory(&mut self) -> Result<()> {
        let (target, to) = self.pointer(self.operand(0)?)?;
        let (source, from) = self.pointer(self.operand(1)?)?;
        if from != to {
            return Err(self.malformed("the pointers point to different types"));
        }
        let [of_target, of_source] = self.copy_operands(2);
        let (target, to_align) = (self.accessed(target, of_target), self.declared_alignment(of_target));
        let (source, from_align) = (self.accessed(source, of_source), self.declared_alignment(of_source));
        let is_volatile = of_target.first().is_some_and(|mask| mask & MemoryAccess::VOLATILE.bits() != 0);
        let parts = self.load_aligned(&source, from, from_align)?;
        if is_volatile {
            self.emit_ordered(Op::Fence, MemoryOrder::RELAXED);
        }
        self.store_aligned(&target, to, &parts, to_align)
    }

    /// A known number of bytes, as many at once as the alignment allows.
    pub(super) fn copy_bytes(&mut self) -> Result<()> {
        let (mut to, _) = self.memory(self.operand(0)?)?;
        let (mut from, _) = self.memory(self.operand(1)?)?;
        let [of_target, of_source] = self.copy_operands(3);
        to.order = to.order.joined(self.order_of_operands(of_target));
        from.order = from.order.joined(self.order_of_operands(of_source));
        let aligned = [of_target, of_source].map(|operands| self.declared_alignment(operands));
        let size = self.lowering.constants.scalar(self.operand(2)?);
        let size = size.filter(|size| *size <= 8 * MOST_PARTS);
        let size = size.ok_or_else(|| self.unsupported(format!("{} of this size", self.opcode())))?;
        let aligned = aligned.into_iter().fold(size, |all, align| all | align.unwrap_or(1));
        let bytes = 1 << aligned.trailing_zeros().min(3);
        let width = Width::holding(bytes * 8);
        for at in (0..size as i64).step_by(bytes as usize) {
            let d = self.fresh(width);
            let (space, address, offset) = (from.space, from.address, from.offset.wrapping_add(at));
            self.emit_ordered(Op::Load { d: vec![Some(d)], space, bytes, signed: false, address, offset }, from.order);
            let (space, address, offset) = (to.space, to.address, to.offset.wrapping_add(at));
            self.emit_ordered(Op::Store { values: vec![d.into()], width, space, bytes, address, offset }, to.order);
        }
        Ok(())
    }

    /// A variable of a function, new in each of its calls.
    pub(super) fn variable(&mut self) -> Result<()> {
        let type_id = self.result_type()?;
        let Some(&TypeKind::Pointer { to, .. }) = self.lowering.types.kind(type_id) else {
            return Err(self.malformed("the Result Type is no pointer"));
        };
        let id = self.lowering.module.result(&self.at).unwrap_or(0);
        let value = self.place_variable(id, to)?;
        if let Some(&initial) = self.operands().get(1) {
            let parts = self.parts(initial)?;
            self.store_to(&value, to, &parts)?;
        }
        self.define_value(value)
    }

    /// Registers or local memory for a variable.
    pub(super) fn place_variable(&mut self, id: u32, to: u32) -> Result<Value> {
        if !self.lowering.in_memory.contains(&id) {
            let parts = self.lowering.parts_of(to)?;
            let registers: Vec<_> = parts.into_iter().map(|part| self.fresh(part.width())).collect();
            return Ok(Value::Registers(registers.into(), 0));
        }
        let size = self.size_of(to)?;
        let start = self.local_top.next_multiple_of(16);
        self.local_top = start.saturating_add(size);
        let end = u32::try_from(self.local_top);
        let end = end.map_err(|_| self.unsupported("this much local memory"))?;
        self.kernel.local_bytes = self.kernel.local_bytes.max(end);
        Ok(Value::Memory(Pointer {
            space: Space::Local,
            address: Operand::Imm(start),
            offset: 0,
            layout: Layout::default(),
            buffer: BufferOf::Unknown,
            order: MemoryOrder::WEAK,
        }))
    }

    /// The bytes of a type in memory.
    pub(super) fn size_of(&self, id: u32) -> Result<u64> {
        let ty = self.lowering.types.get(id).filter(|ty| !matches!(ty.kind, TypeKind::Other | TypeKind::Void));
        ty.map(|ty| ty.size).filter(|&size| size < 1 << 31).ok_or_else(|| {
            let what = self.lowering.facts.describe(self.lowering.module, id);
            self.unsupported(format!("{} of {what}", self.opcode()))
        })
    }

    pub(super) fn access_chain(&mut self) -> Result<()> {
        let base = self.operand(0)?;
        let (mut pointer, mut to) = self.pointer(base)?;
        let mut indices = &self.operands()[1..].to_vec()[..];
        if let (Some(&descriptors), Some((&index, rest))) = (self.descriptors.get(&base), indices.split_first()) {
            (pointer, to) = (self.descriptor_at(base, descriptors, index)?, descriptors.of);
            indices = rest;
        }
        let pointer = self.walk(pointer, to, indices)?;
        self.define_value(pointer)
    }

    /// A buffer of an array of descriptors: the parameters that hold their addresses stand one behind the other.
    fn descriptor_at(&mut self, base: u32, array: Descriptors, index: u32) -> Result<Value> {
        let Descriptors { first, count, at_run_time, .. } = array;
        let start = i64::from(self.kernel.params[first as usize].offset);
        let known = self.lowering.constants.index(&self.lowering.types, index);
        let (at, offset, buffer) = match known {
            Some(known) => {
                let place = u32::try_from(known).ok().filter(|place| *place < count);
                let place = place.ok_or_else(|| match at_run_time {
                    true => {
                        self.unsupported(format!("{}: descriptor {known} of {count} that are given", self.opcode()))
                    }
                    false => self.malformed(format!("descriptor {known} of {count}")),
                })?;
                (Operand::ZERO, start + 8 * i64::from(place), BufferOf::Param(first + place))
            }
            None => {
                let (part, index) = self.scalar(index)?;
                let place = self.index(part, index);
                let at = if at_run_time { self.if_below(place, count, place) } else { place };
                let at = self.int(IntOp::Mul, Width::B64, &[at, Operand::Imm(8)]);
                (at, start, BufferOf::Chosen { first, count, place })
            }
        };
        let d = self.fresh(Width::B64);
        self.emit(Op::Load { d: vec![Some(d)], space: Space::Param, bytes: 8, signed: false, address: at, offset });
        // Where there is no buffer, is none: an access ends the run.
        let address = match buffer {
            BufferOf::Chosen { place, .. } if at_run_time => self.if_below(place, count, d.into()),
            _ => d.into(),
        };
        let (space, layout) = (Space::Global, Layout::default());
        Ok(Value::Memory(Pointer { space, address, offset: 0, layout, buffer, order: self.order_of_id(base) }))
    }

    /// A value where a place is below a count, otherwise zero.
    fn if_below(&mut self, place: Operand, count: u32, value: Operand) -> Operand {
        let limit = Operand::Imm(count.into());
        let is_below = self.compare(Comparison::Lt, Comparand::Unsigned(Width::B64), place, limit);
        self.select(Width::B64, is_below, value, Operand::ZERO)
    }

    /// Base, element, indices: the base is an element of an array.
    pub(super) fn pointer_chain(&mut self) -> Result<()> {
        let (pointer, to) = self.memory(self.operand(0)?)?;
        let base_type = self.typed_value(self.operand(0)?)?.type_id;
        let stride = self.lowering.types.stride(base_type, to);
        let stride = stride.ok_or_else(|| self.malformed("the elements have no size"))?;
        let pointer = self.stepped(pointer, self.operand(1)?, stride, None)?;
        let indices = self.operands()[2..].to_vec();
        let pointer = self.walk(Value::Memory(pointer), to, &indices)?;
        self.define_value(pointer)
    }

    /// Follows indices into what a pointer points to.
    fn walk(&mut self, mut pointer: Value, mut to: u32, indices: &[u32]) -> Result<Value> {
        let lowering = self.lowering;
        for &index in indices {
            let known = lowering.constants.index(&lowering.types, index);
            let outside = |body: &Self| {
                let what = lowering.facts.describe(lowering.module, to);
                body.malformed(format!("{} leads outside {what}", lowering.module.id(index)))
            };
            (pointer, to) = match pointer {
                Value::Registers(registers, first) => {
                    let index = known.and_then(|known| u64::try_from(known).ok()).ok_or_else(|| outside(self))?;
                    let (of, start) = lowering.types.inside(to, index).ok_or_else(|| outside(self))?;
                    let first = first.checked_add(start).ok_or_else(|| outside(self))?;
                    (Value::Registers(registers, first), of)
                }
                Value::Memory(pointer) if matches!(lowering.types.kind(to), Some(TypeKind::Struct(_))) => {
                    let member = known.and_then(|known| usize::try_from(known).ok());
                    let found = member.and_then(|member| lowering.types.member(to, member));
                    let (of, offset, layout) = found.ok_or_else(|| outside(self))?;
                    let offset = pointer.offset.wrapping_add(offset as i64);
                    let said = member.map_or(MemoryOrder::WEAK, |member| lowering.types.member_order(to, member));
                    let order = pointer.order.joined(said);
                    (Value::Memory(Pointer { offset, layout, order, ..pointer }), of)
                }
                Value::Memory(pointer) => {
                    let elements = lowering.types.elements(to, pointer.layout).ok_or_else(|| outside(self))?;
                    let count = match lowering.types.kind(to) {
                        Some(TypeKind::Vector { count, .. } | TypeKind::Matrix { count, .. }) => {
                            Some(u64::from(*count))
                        }
                        _ => None,
                    };
                    let pointer = self.stepped(pointer, index, elements.stride, count)?;
                    (Value::Memory(Pointer { layout: elements.layout, ..pointer }), elements.of)
                }
                Value::Parts(_) => return Err(self.malformed("the base leads nowhere")),
            };
        }
        Ok(pointer)
    }

    /// A pointer some elements on.
    fn stepped(&mut self, pointer: Pointer, index: u32, stride: u64, count: Option<u64>) -> Result<Pointer> {
        if let Some(known) = self.lowering.constants.index(&self.lowering.types, index) {
            if let Some(count) = count.filter(|&count| known as u64 >= count) {
                return Err(self.malformed(format!("component {known} of {count}")));
            }
            let offset = pointer.offset.wrapping_add(known.wrapping_mul(stride as i64));
            return Ok(Pointer { offset, ..pointer });
        }
        let (part, index) = self.scalar(index)?;
        if !matches!(part, Part::Int { .. }) {
            return Err(self.malformed("an index is no integer"));
        }
        let stride = Operand::Imm(stride);
        let distance = if part.bits() == 32 {
            self.int(IntOp::MulWide(Signedness::Signed), Width::B32, &[index, stride])
        } else {
            let index = self.index(part, index);
            self.int(IntOp::Mul, Width::B64, &[index, stride])
        };
        let address = match pointer.address {
            Operand::Imm(0) => distance,
            base => self.int(IntOp::Add, Width::B64, &[base, distance]),
        };
        Ok(Pointer { address, ..pointer })
    }

    /// How many elements the runtime array at a struct's end has.
    pub(super) fn array_length(&mut self) -> Result<()> {
        let (pointer, to) = self.memory(self.operand(0)?)?;
        let found = self.lowering.types.member(to, self.operand(1)? as usize);
        let Some((of, offset, layout)) = found else { return Err(self.malformed("there is no such member")) };
        let Some(elements) = self.lowering.types.elements(of, layout) else {
            return Err(self.malformed("the member is no array"));
        };
        if elements.stride == 0 {
            return Err(self.malformed("the array's elements have no size"));
        }
        let bytes = self.buffer_bytes(pointer.buffer)?;
        let before = Operand::Imm(offset.wrapping_add(pointer.offset as u64));
        let rest = self.int(IntOp::Sub, Width::B64, &[bytes, before]);
        let rest = self.int(IntOp::Max(Signedness::Signed), Width::B64, &[rest, Operand::ZERO]);
        let count = self.int(IntOp::Div(Signedness::Unsigned), Width::B64, &[rest, Operand::Imm(elements.stride)]);
        let (part, _) = self.result()?;
        let count = self.resized(Part::Int { bits: 64, signed: false }, Signedness::Unsigned, part.bits(), count);
        self.define(vec![count])
    }

    /// How many bytes the buffer has that a pointer leads into.
    fn buffer_bytes(&mut self, buffer: BufferOf) -> Result<Operand> {
        let of = |body: &mut Self, param: u32| -> Operand {
            let d = body.fresh(Width::B64);
            body.emit(Op::Special { d, special: Special::BufferBytes(param) });
            d.into()
        };
        match buffer {
            BufferOf::Unknown => Err(self.unsupported(format!("{} of this pointer", self.opcode()))),
            BufferOf::Param(param) => Ok(of(self, param)),
            BufferOf::Chosen { first, count, place } => {
                let mut bytes = Operand::ZERO;
                for at in 0..count {
                    let own = of(self, first + at);
                    let comparand = Comparand::Unsigned(Width::B64);
                    let is_it = self.compare(Comparison::Eq, comparand, place, Operand::Imm(u64::from(at)));
                    bytes = self.select(Width::B64, is_it, own, bytes);
                }
                Ok(bytes)
            }
        }
    }

    /// Addresses as numbers, and from one space to another.
    pub(super) fn cast_pointer(&mut self, op: Opcode) -> Result<()> {
        let id = self.operand(0)?;
        let from = self.lowering.types.scalar(self.typed_value(id)?.type_id);
        let parts = self.parts(id)?;
        let (to, _) = self.result()?;
        let (Some(from), [a]) = (from, &parts[..]) else { return Err(self.malformed("an operand is no scalar")) };
        let window = |space| match space {
            Part::Pointer(Space::Shared) => Some(Special::SharedWindow),
            Part::Pointer(Space::Local) => Some(Special::LocalWindow),
            _ => None,
        };
        let moved = match op {
            Opcode::PtrCastToGeneric => window(from).map(|window| (window, IntOp::Add)),
            Opcode::GenericCastToPtr => window(to).map(|window| (window, IntOp::Sub)),
            _ => None,
        };
        let bits = |part: Part| Part::Int { bits: part.bits(), signed: false };
        let value = match moved {
            Some((window, op)) => {
                let start = self.fresh(Width::B64);
                self.emit(Op::Special { d: start, special: window });
                self.int(op, Width::B64, &[*a, start.into()])
            }
            None => self.resized(bits(from), Signedness::Unsigned, to.bits(), *a),
        };
        self.define(vec![value])
    }

    pub(super) fn compare_pointers(&mut self, op: Opcode) -> Result<()> {
        let (a, b) = (self.parts(self.operand(0)?)?, self.parts(self.operand(1)?)?);
        let ([a], [b]) = (&a[..], &b[..]) else { return Err(self.malformed("an operand is no pointer")) };
        let comparison = if op == Opcode::PtrEqual { Comparison::Eq } else { Comparison::Ne };
        let equal = self.compare(comparison, Comparand::Unsigned(Width::B64), *a, *b);
        self.define(vec![equal])
    }
}
