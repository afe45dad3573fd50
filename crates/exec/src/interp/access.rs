//! Loads and stores over the active lanes.
//!
//! A uniform address is read once; affine addresses are copied row by row; varying addresses are accessed lane by lane.
//! Every path checks bounds before it accesses a word.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::mask::Mask;
use super::races::Atomicity;
use super::register::{Lane, View, with_lane};
use crate::kernel::{LANES, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW, read_element, write_element};
use crate::scalar::sign_extend;
use roundonce_arith::batch::Source;
use roundonce_ir::{Operand, Reg, Space, Width};

/// The access pattern of an address operand.
pub(super) enum AddressPattern {
    /// The same in all lanes.
    Uniform(u64),
    /// One a row, in the interpreter's `addresses`, and the stride within rows.
    Affine(i64),
    /// Any.
    Varying,
}

impl Interpreter<'_> {
    pub(super) fn address_width(&self, address: Operand) -> Width {
        match address {
            Operand::Reg(reg) => self.code.kernel.width(reg),
            Operand::Imm(_) => Width::B64,
        }
    }

    /// The access pattern of address + offset.
    pub(super) fn address_pattern(&mut self, address: Operand, offset: i64) -> AddressPattern {
        let width = self.address_width(address);
        let offset = offset as u64;
        with_lane!(width, T => match T::file(&self.files).view(address) {
            View::Uniform(value) => AddressPattern::Uniform(value.bits().wrapping_add(offset) & width.mask()),
            View::Affine(rows, stride) => {
                self.addresses.clear();
                self.addresses.extend(rows.iter().map(|row| row.bits().wrapping_add(offset) & width.mask()));
                AddressPattern::Affine(sign_extend(stride.bits(), width.bits()))
            }
            View::Varying => AddressPattern::Varying,
        })
    }

    /// The space and the address in it that a generic address refers to.
    pub(super) const fn resolve(space: Space, address: u64) -> (Space, u64) {
        match space {
            Space::Generic if address >= SHARED_WINDOW && address < SHARED_WINDOW + WINDOW => {
                (Space::Shared, address - SHARED_WINDOW)
            }
            Space::Generic if address >= LOCAL_WINDOW && address < LOCAL_WINDOW + WINDOW => {
                (Space::Local, address - LOCAL_WINDOW)
            }
            Space::Generic if address >= PARAM_WINDOW && address < PARAM_WINDOW + WINDOW => {
                (Space::Param, address - PARAM_WINDOW)
            }
            Space::Generic | Space::Const => (Space::Global, address),
            other => (other, address),
        }
    }

    /// Whose memory an address is in, 0 for global memory, and where; `None` for parameters.
    pub(super) fn place_of(&self, space: Space, lane: usize, address: u64) -> Option<(usize, u64)> {
        match Self::resolve(space, address) {
            (Space::Shared, address) => Some((1 + lane / self.threads, address)),
            (Space::Local, address) => Some((1 + self.blocks + lane, address)),
            (Space::Param, _) => None,
            (_, address) => Some((0, address)),
        }
    }

    #[cold]
    pub(super) fn misaligned(lane: usize, address: u64, bytes: u32) -> Box<Fault> {
        let message = format!("address {address:#x} is not a multiple of {bytes}, the size of what is accessed");
        Fault::at(FaultKind::Access, lane, message)
    }

    #[cold]
    fn outside(&self, lane: usize, space: Space, address: u64, bytes: u32) -> Box<Fault> {
        let (those, lie, are) = match bytes {
            1 => ("1 byte".to_owned(), "lies", "is"),
            _ => (format!("{bytes} bytes"), "lie", "are"),
        };
        let sized =
            |name: &str, size: u64| format!("{those} at {address:#x} {lie} outside the {name} memory of {size} bytes");
        let mut kind = FaultKind::Access;
        let message = match space {
            Space::Shared if self.code.kernel.dynamic_shared && self.config.dynamic_shared == 0 => {
                let none = "the kernel may use dynamic shared memory, of which the launch gives none (`--shared`)";
                format!("{}: {none}", sized("shared", self.shared_bytes()))
            }
            Space::Shared => sized("shared", self.shared_bytes()),
            Space::Local => sized("local", self.code.kernel.local_bytes.into()),
            Space::Param => sized("parameter", self.config.param_bytes),
            _ => {
                let layout = &self.global.layout;
                let place = layout.describe(address);
                // The first of its bytes may be there.
                if layout.is_absent(address) || layout.is_absent(address.saturating_add(u64::from(bytes) - 1)) {
                    kind = FaultKind::Absent;
                    format!("{those} at {address:#x} {are} not among those that are given: {place}")
                } else {
                    format!("{those} at {address:#x} {lie} outside every buffer: {place}")
                }
            }
        };
        Fault::at(kind, lane, message)
    }

    pub(super) fn shared_bytes(&self) -> u64 {
        self.config.static_shared as u64 + self.config.dynamic_shared as u64
    }

    /// Fails where elements that are accessed together do not lie at a multiple of all their bytes, if they must.
    fn check_vector(&mut self, address: Operand, offset: i64, bytes: u32, count: usize) -> Outcome {
        if count < 2 || !self.code.kernel.aligned_vectors {
            return Ok(());
        }
        let all = (bytes * count as u32).next_power_of_two();
        let fits = |at: u64| at & (u64::from(all) - 1) == 0;
        let aligned = match self.address_pattern(address, offset) {
            AddressPattern::Uniform(at) => fits(at),
            AddressPattern::Affine(stride) => fits(stride as u64) && self.addresses.iter().all(|&row| fits(row)),
            AddressPattern::Varying => false,
        };
        if aligned {
            return Ok(());
        }
        let width = self.address_width(address);
        self.widen_operand(0, address, width);
        let place = |lane: usize| self.wide[0][lane].wrapping_add(offset as u64) & width.mask();
        match self.active.mask.lanes().find(|&lane| !fits(place(lane))) {
            Some(lane) => Err(Self::misaligned(lane, place(lane), all)),
            None => Ok(()),
        }
    }

    /// Loads one element for one lane.
    #[inline]
    pub(super) fn read_lane(&mut self, space: Space, lane: usize, address: u64, bytes: u32) -> Outcome<u64> {
        let (space, address) = Self::resolve(space, address);
        if address & (bytes as u64 - 1) != 0 {
            return Err(Self::misaligned(lane, address, bytes));
        }
        let fits = |size: u64| address < size && size - address >= bytes as u64;
        let value = match space {
            Space::Shared if fits(self.shared_bytes()) => {
                let block = lane / self.threads;
                if let Some(races) = &mut self.races {
                    races.read(block, lane, address, bytes)?;
                }
                let words = &self.shared[block * self.shared_words..];
                read_element(|index| words[index], address, bytes)
            }
            Space::Local if fits(self.code.kernel.local_bytes.into()) => {
                read_element(|index| self.local[index * LANES + lane], address, bytes)
            }
            Space::Param if fits(self.config.param_bytes) => {
                read_element(|index| self.config.params[index], address, bytes)
            }
            Space::Global | Space::Generic | Space::Const => match self.global.locate(address, bytes.into()) {
                Some((segment, offset)) => self.global.words[segment].read(offset, bytes),
                None => return Err(self.outside(lane, space, address, bytes)),
            },
            _ => return Err(self.outside(lane, space, address, bytes)),
        };
        Ok(value)
    }

    /// Stores one element for one lane.
    #[inline]
    pub(super) fn write_lane(
        &mut self,
        space: Space,
        lane: usize,
        address: u64,
        bytes: u32,
        value: u64,
        atomicity: Atomicity,
    ) -> Outcome {
        let (space, address) = Self::resolve(space, address);
        if address & (bytes as u64 - 1) != 0 {
            return Err(Self::misaligned(lane, address, bytes));
        }
        let fits = |size: u64| address < size && size - address >= bytes as u64;
        match space {
            Space::Shared if fits(self.shared_bytes()) => {
                let block = lane / self.threads;
                if let Some(races) = &mut self.races {
                    let words = &self.shared[block * self.shared_words..];
                    let changed = read_element(|index| words[index], address, bytes) ^ value;
                    races.write(block, lane, (address, bytes), changed, atomicity)?;
                }
                write_element(&mut self.shared[block * self.shared_words..], address, bytes, value);
            }
            Space::Local if fits(self.code.kernel.local_bytes.into()) => {
                let mut words = [0; 2];
                let first = (address / 4) as usize;
                let count = if bytes == 8 { 2 } else { 1 };
                for (place, word) in words.iter_mut().enumerate().take(count) {
                    *word = self.local[(first + place) * LANES + lane];
                }
                write_element(&mut words, address % 4, bytes, value);
                for (place, word) in words.into_iter().enumerate().take(count) {
                    self.local[(first + place) * LANES + lane] = word;
                }
            }
            Space::Param => {
                return Err(Fault::at(FaultKind::Access, lane, "the kernel's parameters cannot be written"));
            }
            Space::Global | Space::Generic | Space::Const => match self.global.locate(address, bytes.into()) {
                Some((segment, offset)) if self.global.layout.segments[segment].is_writable() => {
                    self.global.words[segment].write(offset, bytes, value);
                }
                Some((segment, _)) => {
                    let why = self.global.layout.segments[segment].refused_store();
                    return Err(Fault::at(FaultKind::Access, lane, why));
                }
                None => return Err(self.outside(lane, space, address, bytes)),
            },
            _ => return Err(self.outside(lane, space, address, bytes)),
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn load(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        bytes: u32,
        signed: bool,
        (address, offset): (Operand, i64),
        foldable: bool,
    ) -> Outcome {
        let Some(first) = self.first_active() else { return Ok(()) };
        self.check_vector(address, offset, bytes, d.len())?;
        let pattern = self.address_pattern(address, offset);
        // A vector load may overwrite its own address register: only the lanewise path reads all elements before it writes.
        let overwrites = d.len() > 1 && d.iter().flatten().any(|&reg| Operand::Reg(reg) == address);
        let checked = self.races.is_some() && matches!(space, Space::Shared | Space::Generic);
        match pattern {
            AddressPattern::Uniform(at) if !checked => {
                let (to, _) = Self::resolve(space, at);
                if to == Space::Global || to == Space::Param || (to == Space::Shared && self.blocks == 1) {
                    for (place, d) in d.iter().enumerate() {
                        let element = at.wrapping_add(place as u64 * bytes as u64);
                        let value = self.read_lane(space, first, element, bytes)?;
                        if let Some(d) = *d {
                            let value = extended(value, bytes, signed);
                            with_lane!(self.code.kernel.width(d), T => self.set_uniform::<T>(d, T::of(value)));
                        }
                    }
                    return Ok(());
                }
                if to == Space::Local && bytes == 4 && self.load_local(d, space, at)? {
                    return Ok(());
                }
            }
            AddressPattern::Affine(stride)
                if !checked && !overwrites && self.load_rows(d, space, bytes, stride, foldable) =>
            {
                return Ok(());
            }
            _ => {}
        }
        self.load_lanes(d, space, bytes, signed, address, offset)
    }

    /// A load of local memory at a uniform address: the words of all lanes are contiguous.
    fn load_local(&mut self, d: &[Option<Reg>], space: Space, at: u64) -> Outcome<bool> {
        let (low, high) = (self.active.low, self.active.high);
        let wide = |d: &Reg| self.code.kernel.width(*d) != Width::B32;
        if d.iter().flatten().any(wide) {
            return Ok(false);
        }
        for (place, d) in d.iter().enumerate() {
            let element = at.wrapping_add(place as u64 * 4);
            self.read_lane(space, low, element, 4)?;
            let word = (Self::resolve(space, element).1 / 4) as usize;
            if let Some(d) = *d {
                let mut out = self.files.b32.acquire();
                out.0[low..high].copy_from_slice(&self.local[word * LANES + low..word * LANES + high]);
                self.set_column(d, out);
            }
        }
        Ok(true)
    }

    #[inline(never)]
    fn load_lanes(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        bytes: u32,
        signed: bool,
        address: Operand,
        offset: i64,
    ) -> Outcome {
        let width = self.address_width(address);
        self.widen_operand(0, address, width);
        for (place, d) in d.iter().enumerate() {
            let offset = (offset as u64).wrapping_add(place as u64 * bytes as u64);
            let Some(d) = *d else { continue };
            with_lane!(self.code.kernel.width(d), T => {
                let mut out = T::file_mut(&mut self.files).acquire();
                for lane in self.active.mask.lanes() {
                    let address = self.wide[0][lane].wrapping_add(offset) & width.mask();
                    let value = self.read_lane(space, lane, address, bytes)?;
                    out.0[lane] = T::of(extended(value, bytes, signed));
                }
                self.set_column::<T>(d, out);
            });
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn store(
        &mut self,
        values: &[Operand],
        width: Width,
        space: Space,
        bytes: u32,
        address: Operand,
        offset: i64,
    ) -> Outcome {
        self.check_vector(address, offset, bytes, values.len())?;
        let mut left = self.active.mask;
        let checked = self.races.is_some() && matches!(space, Space::Shared | Space::Generic);
        match self.address_pattern(address, offset) {
            AddressPattern::Affine(stride)
                if !checked
                    && bytes >= 4
                    && width.bits() == bytes * 8
                    && stride == bytes as i64 * values.len() as i64 =>
            {
                let rows = std::mem::take(&mut self.addresses);
                left = left.without(self.store_rows(values, space, bytes, &rows, stride as u64));
                self.addresses = rows;
            }
            AddressPattern::Uniform(at)
                if Self::resolve(space, at).0 == Space::Local && bytes == 4 && width == Width::B32 =>
            {
                if let Some(first) = self.first_active() {
                    return self.store_local(values, space, at, first);
                }
            }
            _ => {}
        }
        if left.is_empty() {
            return Ok(());
        }
        let address_width = self.address_width(address);
        self.widen_operand(0, address, address_width);
        for (place, &value) in values.iter().enumerate() {
            let offset = (offset as u64).wrapping_add(place as u64 * bytes as u64);
            self.widen_operand(1, value, width);
            for lane in left.lanes() {
                let address = self.wide[0][lane].wrapping_add(offset) & address_width.mask();
                self.write_lane(space, lane, address, bytes, self.wide[1][lane], Atomicity::Plain)?;
            }
        }
        Ok(())
    }

    /// A store to local memory at a uniform address.
    fn store_local(&mut self, values: &[Operand], space: Space, at: u64, first: usize) -> Outcome {
        let (low, high) = (self.active.low, self.active.high);
        for (place, &value) in values.iter().enumerate() {
            let element = at.wrapping_add(place as u64 * 4);
            self.read_lane(space, first, element, 4)?;
            let word = (Self::resolve(space, element).1 / 4) as usize;
            self.files.b32.materialise(value, self.geometry);
            let source = self.files.b32.source(value, low, high);
            let lanes = &mut self.local[word * LANES + low..word * LANES + high];
            match source {
                Source::Slice(values) if self.active.full => lanes.copy_from_slice(values),
                Source::Uniform(value) if self.active.full => lanes.fill(value),
                source => {
                    for lane in self.active.mask.lanes() {
                        lanes[lane - low] = match source {
                            Source::Slice(values) => values[lane - low],
                            Source::Uniform(value) => value,
                            Source::Out => 0,
                        };
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores the rows whose lanes are all active and whose elements are contiguous in one buffer. Returns the lanes done.
    fn store_rows(&mut self, values: &[Operand], space: Space, bytes: u32, rows: &[u64], stride: u64) -> Mask {
        let (mut done, mut count) = (Mask::default(), 0);
        let (row, lanes) = (self.geometry.row, self.geometry.lanes);
        let rows_of_block = self.threads / row;
        let everyone = self.active.count == lanes;
        for &value in values {
            match bytes {
                4 => self.files.b32.materialise(value, self.geometry),
                _ => self.files.b64.materialise(value, self.geometry),
            }
        }
        for (index, &address) in rows.iter().enumerate() {
            let (from, to) = (index * row, (index + 1) * row);
            if !everyone {
                let all = Mask::range(from, to);
                if self.active.mask.and(all) != all {
                    continue;
                }
            }
            let (space, address) = Self::resolve(space, address);
            let span = stride * row as u64;
            if address % bytes as u64 != 0 {
                continue;
            }
            let (segment, start) = match space {
                Space::Global => match self.global.locate(address, span) {
                    Some((segment, offset)) if self.global.layout.segments[segment].is_writable() => {
                        (Some(segment), offset as usize / 4)
                    }
                    _ => continue,
                },
                Space::Shared if address < self.shared_bytes() && self.shared_bytes() - address >= span => {
                    (None, index / rows_of_block * self.shared_words + address as usize / 4)
                }
                _ => continue,
            };
            for (place, &value) in values.iter().enumerate() {
                let step = stride as usize / 4;
                let start = start + place * bytes as usize / 4;
                if bytes == 4 {
                    match (self.files.b32.source(value, 0, lanes), segment) {
                        (Source::Slice(all), Some(segment)) => {
                            self.global.words[segment].write_words(start, step, &all[from..to]);
                        }
                        (Source::Slice(all), None) if step == 1 => {
                            // A call to memcpy costs more than the copy.
                            let words = &mut self.shared[start..start + row];
                            words.iter_mut().zip(&all[from..to]).for_each(|(word, value)| *word = *value);
                        }
                        (Source::Slice(all), None) => {
                            let words = self.shared[start..].iter_mut().step_by(step);
                            for (word, &value) in words.zip(&all[from..to]) {
                                *word = value;
                            }
                        }
                        (Source::Uniform(value), segment) => {
                            for lane in 0..row {
                                let word = start + lane * step;
                                match segment {
                                    Some(segment) => self.global.words[segment].write(word as u64 * 4, 4, value.into()),
                                    None => self.shared[word] = value,
                                }
                            }
                        }
                        (Source::Out, _) => {}
                    }
                } else {
                    let source = self.files.b64.source(value, 0, lanes);
                    for lane in 0..row {
                        let value = match source {
                            Source::Slice(all) => all[from + lane],
                            Source::Uniform(value) => value,
                            Source::Out => 0,
                        };
                        let word = (start + lane * step) as u64 * 4;
                        match segment {
                            Some(segment) => self.global.words[segment].write(word, 8, value),
                            None => write_element(&mut self.shared, word, 8, value),
                        }
                    }
                }
            }
            count += 1;
            if !everyone {
                done = done.or(Mask::range(from, to));
            }
        }
        if everyone && count == rows.len() { self.active.mask } else { done }
    }
}

/// An element, sign-extended where it is signed.
#[inline]
fn extended(value: u64, bytes: u32, signed: bool) -> u64 {
    if signed { sign_extend(value, bytes * 8) as u64 } else { value }
}
