//! Decomposition and construction of values: nothing is computed but selections.

use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Width};

use super::constant::inside;
use super::types::Part;
use super::value::Components;
use super::{Body, Result};

impl Body<'_> {
    pub(super) fn copy_object(&mut self) -> Result<()> {
        let value = self.typed_value(self.operand(0)?)?.value;
        self.define_value(value)
    }

    pub(super) fn construct(&mut self) -> Result<()> {
        let mut parts = Vec::new();
        for id in self.operands().to_vec() {
            parts.extend_from_slice(&self.parts(id)?);
        }
        self.define(parts)
    }

    pub(super) fn extract_part(&mut self) -> Result<()> {
        let composite = self.operand(0)?;
        let parts = self.parts(composite)?;
        let (start, count) = self.part_at(composite, 1)?;
        match start.checked_add(count).and_then(|end| parts.get(start..end)) {
            Some(parts) => self.define(parts),
            None => Err(self.malformed("the indices lead outside the composite")),
        }
    }

    pub(super) fn insert_part(&mut self) -> Result<()> {
        let object = self.parts(self.operand(0)?)?;
        let composite = self.operand(1)?;
        let mut parts = self.parts(composite)?.to_vec();
        let (start, count) = self.part_at(composite, 2)?;
        let place = start.checked_add(count).and_then(|end| parts.get_mut(start..end));
        match place.filter(|place| place.len() == object.len()) {
            Some(place) => place.copy_from_slice(&object),
            None => return Err(self.malformed("the object does not fit where the indices lead")),
        }
        self.define(parts)
    }

    /// The first part and the number of parts of what literal indices lead to.
    fn part_at(&self, composite: u32, indices: usize) -> Result<(usize, usize)> {
        let types = &self.lowering.types;
        let found = inside(types, self.typed_value(composite)?.type_id, &self.operands()[indices..]);
        let found = found.and_then(|(ty, start)| Some((start, types.get(ty)?.parts as usize)));
        found.ok_or_else(|| self.malformed("the indices lead outside the composite"))
    }

    pub(super) fn shuffle(&mut self) -> Result<()> {
        let (first, second) = (self.components(self.operand(0)?)?, self.components(self.operand(1)?)?);
        let both = [&first.parts[..], &second.parts[..]].concat();
        let pick = |&at: &u32| if at == u32::MAX { Some(Operand::ZERO) } else { both.get(at as usize).copied() };
        let picked: Option<Vec<Operand>> = self.operands()[2..].iter().map(pick).collect();
        match picked {
            Some(parts) => self.define(parts),
            None => Err(self.malformed(format!("a component of {} is picked", both.len()))),
        }
    }

    pub(super) fn extract_dynamic(&mut self) -> Result<()> {
        let Components { part, parts } = self.components(self.operand(0)?)?;
        let (index_part, index) = self.scalar(self.operand(1)?)?;
        let value = self.component_at(part, &parts, index_part, index);
        self.define(vec![value])
    }

    /// The component that an index chooses: the first where it chooses none.
    pub(super) fn component_at(&mut self, part: Part, parts: &[Operand], index_part: Part, index: Operand) -> Operand {
        let mut value = parts.first().copied().unwrap_or(Operand::ZERO);
        for (at, &component) in parts.iter().enumerate().skip(1) {
            let here = self.is_index(index_part, index, at);
            value = self.select(part.width(), here, component, value);
        }
        value
    }

    pub(super) fn insert_dynamic(&mut self) -> Result<()> {
        let Components { part, parts } = self.components(self.operand(0)?)?;
        let (_, object) = self.scalar(self.operand(1)?)?;
        let (index_part, index) = self.scalar(self.operand(2)?)?;
        let mut all = Vec::with_capacity(parts.len());
        for (at, &component) in parts.iter().enumerate() {
            let here = self.is_index(index_part, index, at);
            all.push(self.select(part.width(), here, object, component));
        }
        self.define(all)
    }

    fn is_index(&mut self, part: Part, index: Operand, at: usize) -> Operand {
        self.compare(Comparison::Eq, Comparand::Unsigned(part.width()), index, Operand::Imm(at as u64))
    }

    /// By one condition, or by one for each component.
    pub(super) fn select_value(&mut self) -> Result<()> {
        let conditions = self.components(self.operand(0)?)?.parts;
        let (yes, no) = (self.parts(self.operand(1)?)?, self.parts(self.operand(2)?)?);
        let parts = self.lowering.parts_of(self.result_type()?)?;
        let fits = [yes.len(), no.len()] == [parts.len(); 2] && [1, parts.len()].contains(&conditions.len());
        if !fits {
            return Err(self.malformed("condition and objects have different numbers of components"));
        }
        let mut chosen = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let condition = conditions[if conditions.len() == 1 { 0 } else { at }];
            chosen.push(self.select(part.width(), condition, yes[at], no[at]));
        }
        self.define(chosen)
    }

    /// Components of another width: low bits first.
    pub(super) fn bitcast(&mut self) -> Result<()> {
        let id = self.operand(0)?;
        let Components { part, parts } = self.components(id)?;
        let (to, count) = self.result()?;
        let (from, bits) = (part.bits(), to.bits());
        if part == Part::Bool || to == Part::Bool || from as usize * parts.len() != bits as usize * count {
            return Err(self.malformed(format!("{} × {from} bits as {count} × {bits}", parts.len())));
        }
        let mut pieces = parts.to_vec();
        let mut width = from;
        while width > bits {
            pieces = pieces.into_iter().flat_map(|piece| self.halved(width, piece)).collect();
            width /= 2;
        }
        while width < bits {
            pieces = pieces.chunks_exact(2).map(|pair| self.joined(width, pair[0], pair[1])).collect();
            width *= 2;
        }
        self.define(pieces)
    }

    fn halved(&mut self, bits: u32, a: Operand) -> [Operand; 2] {
        if bits == 16 {
            let low = self.int(IntOp::And, Width::B16, &[a, Operand::Imm(0xff)]);
            let shift = IntOp::Shr(Self::sign(false));
            return [low, self.int(shift, Width::B16, &[a, Operand::Imm(8)])];
        }
        let (whole, half) = (Width::holding(bits), Width::holding(bits / 2));
        [0, bits / 2].map(|shift| self.extract(half, whole, a, shift))
    }

    /// Two halves of so many bits put together.
    pub(super) fn joined(&mut self, bits: u32, low: Operand, high: Operand) -> Operand {
        if bits == 8 {
            let high = self.int(IntOp::Shl, Width::B16, &[high, Operand::Imm(8)]);
            return self.int(IntOp::Or, Width::B16, &[low, high]);
        }
        self.pack(Width::holding(bits * 2), low, high)
    }
}
