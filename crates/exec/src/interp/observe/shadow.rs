//! A wider value beside every float of a run: in registers, in memory, through moves, shuffles and atomics.
//!
//! A shadow belongs to bits: where a register or memory holds other bits than those it was made for, the value is taken
//! for exact again. So an operation that is not followed loses a shadow and never makes a wrong one; how often that
//! happens is counted. Branches are taken as the kernel takes them, and counted where the wider values would not.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use super::super::interpreter::Interpreter;
use super::floats;
use crate::scalar;
use roundonce_arith::{Element, Format, PackedConversion};
use roundonce_functions::{Breadth, Wider};
use roundonce_ir::{AtomicKind, Op, Operand, Reg, Role, Scalar, Space, Width};

/// A float and what it is without rounding.
#[derive(Clone, Debug)]
pub(in super::super) struct Followed {
    bits: u64,
    format: Format,
    number: Wider,
    /// How far apart the two are, in ulps.
    moved: f64,
}

/// The floats of a register, by the place of their lowest bit: 0, 16, 32, 48.
pub(in super::super) type Parts = [Option<Followed>; PARTS];
const PARTS: usize = 4;
const PART_BITS: u32 = 16;
const NONE: Parts = [None, None, None, None];

/// A place in memory: 0 for global memory, otherwise whose it is (a thread block's or a lane's), and the address there.
pub(in super::super) type Place = (usize, u64);

/// The result that lies furthest from the wider one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moved {
    /// How far, in units of the last place; infinite where one of the two is no finite number.
    pub ulps: f64,
    /// The bits, of `format`.
    pub bits: u64,
    /// Of the result.
    pub format: Format,
    /// The wider value, as the nearest double.
    pub wide: f64,
    /// The block and the thread.
    pub thread: ([u32; 3], [u32; 3]),
}

/// What the shadow saw of one instruction.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ShadowLine {
    /// Float results.
    pub results: u64,
    /// How many of them are not the wider result rounded to the nearest.
    pub moved: u64,
    /// The furthest.
    pub worst: Option<Moved>,
    /// Additions whose terms cancel so that the distance in ulps grows fourfold or more.
    pub cancellations: u64,
    /// The most leading bits that such an addition loses.
    pub cancelled_bits: u32,
    /// Comparisons, and conversions to integers.
    pub decisions: u64,
    /// How many of them come out otherwise with the wider values. The run went on as the kernel does.
    pub reversed: u64,
    /// Values that went through an operation that is not followed: what it made of them was taken for exact.
    pub not_followed: u64,
}

/// A float in a buffer after a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShadowElement {
    /// Its first byte in the buffer.
    pub offset: u64,
    /// Its format.
    pub format: Format,
    /// Its bits.
    pub bits: u64,
    /// The wider value, as the nearest double.
    pub wide: f64,
    /// How far apart the two are, in ulps.
    pub ulps: f64,
}

/// The wider values of one worker.
#[derive(Debug)]
pub(crate) struct Shadow {
    breadth: Breadth,
    registers: Vec<Option<Box<[Parts]>>>,
    memory: HashMap<Place, Followed>,
    lines: BTreeMap<u32, ShadowLine>,
    /// What the current operation reads: the floats by active lane and operand, parts that it moves, or places.
    read: Vec<Vec<Followed>>,
    moving: Vec<(usize, Parts)>,
    places: Vec<(usize, Place)>,
}

/// The wider values of one batch of thread blocks: its registers, shared and local memory.
#[derive(Debug)]
pub(in super::super) struct ShadowBatch {
    registers: Vec<Option<Box<[Parts]>>>,
    memory: Vec<(Place, Followed)>,
}

impl Shadow {
    pub(super) fn new(breadth: Breadth) -> Shadow {
        Shadow {
            breadth,
            registers: Vec::new(),
            memory: HashMap::new(),
            lines: BTreeMap::new(),
            read: Vec::new(),
            moving: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Forgets what does not outlive a batch of thread blocks.
    pub(in super::super) fn start_batch(&mut self, registers: usize) {
        self.registers.clear();
        self.registers.resize_with(registers, || None);
        self.memory.retain(|&(owner, _), _| owner == 0);
    }

    /// Takes out what belongs to the batch.
    pub(in super::super) fn set_aside(&mut self) -> ShadowBatch {
        let memory = self.memory.extract_if(|&(owner, _), _| owner != 0).collect();
        ShadowBatch { registers: std::mem::take(&mut self.registers), memory }
    }
    /// Puts it back, in the place of another batch's.
    pub(in super::super) fn take_up(&mut self, batch: ShadowBatch) {
        self.start_batch(0);
        self.registers = batch.registers;
        self.memory.extend(batch.memory);
    }

    /// Bytes that it takes, about: of long numbers the significands too.
    pub(super) fn bytes(&self) -> u64 {
        let entry = size_of::<(Place, Followed)>() + if self.breadth == Breadth::Long { 192 } else { 0 };
        let columns = self.registers.iter().flatten().map(|column| column.len()).sum::<usize>();
        (self.memory.len() * entry + columns * (size_of::<Parts>() + entry)) as u64
    }

    pub(crate) const fn breadth(&self) -> Breadth {
        self.breadth
    }
    pub(crate) fn into_lines(self) -> BTreeMap<u32, ShadowLine> {
        self.lines
    }

    /// What global memory holds, by address.
    pub(crate) fn global(&self) -> impl Iterator<Item = (u64, ShadowElement)> + '_ {
        self.memory.iter().filter(|((owner, _), _)| *owner == 0).map(|(&(_, address), it)| {
            let (wide, ulps) = (it.number.to_f64(), it.moved);
            (address, ShadowElement { offset: 0, format: it.format, bits: it.bits, wide, ulps })
        })
    }

    fn exact(&self, format: Format, bits: u64) -> Followed {
        Followed { bits, format, number: Wider::of(self.breadth, format, bits), moved: 0.0 }
    }

    /// The parts of an operand in a lane that belong to the bits it holds.
    fn parts(&self, operand: Operand, lane: usize, bits: u64) -> Parts {
        let Operand::Reg(reg) = operand else { return NONE };
        let Some(Some(column)) = self.registers.get(reg.0 as usize) else { return NONE };
        let mut parts = column.get(lane).cloned().unwrap_or(NONE);
        for (place, part) in parts.iter_mut().enumerate() {
            part.take_if(|it| bits >> (place as u32 * PART_BITS) & it.format.mask() != it.bits);
        }
        parts
    }

    /// The float that an operand holds.
    fn float(&self, operand: Operand, lane: usize, format: Format, bits: u64) -> Followed {
        let [first, ..] = self.parts(operand, lane, bits);
        first.filter(|it| it.format == format).unwrap_or_else(|| self.exact(format, bits))
    }

    /// What a register holds in a lane from now on.
    pub(in super::super) fn put(&mut self, reg: Reg, lane: usize, lanes: usize, parts: Parts) {
        let Some(column) = self.registers.get_mut(reg.0 as usize) else { return };
        if column.is_none() && parts.iter().all(Option::is_none) {
            return;
        }
        column.get_or_insert_with(|| vec![NONE; lanes].into_boxed_slice())[lane] = parts;
    }

    /// The values that a packed conversion converts, the lowest in its result first.
    fn converted(&self, conversion: &PackedConversion, args: &[Operand], lane: usize, bits: &[u64]) -> Vec<Followed> {
        let count = conversion.count as usize;
        let one = |(index, value): (usize, u64)| match conversion.from {
            Element::Float(format) if conversion.has_separate_operands() => {
                self.float(args[count - 1 - index], lane, format, value)
            }
            Element::Float(format) if format.width() == PART_BITS => {
                let part = self.parts(args[0], lane, bits[0])[index].take_if(|it| it.format == format);
                part.unwrap_or_else(|| self.exact(format, value))
            }
            from => self.exact(Format::F64, from.widened(value)),
        };
        conversion.values(bits).into_iter().take(count).enumerate().map(one).collect()
    }

    /// Before an operation: what it reads. `operands` are the bits of `numbers` by lane.
    pub(super) fn before(
        &mut self,
        run: &Interpreter<'_>,
        (loc, op): (u32, &Op),
        numbers: &[(Operand, Scalar)],
        operands: &[(usize, Vec<u64>)],
    ) {
        self.read.clear();
        self.moving.clear();
        self.places.clear();
        if let Op::ConvertPacked { conversion, args, .. } = op {
            let read = operands.iter().map(|(lane, bits)| self.converted(conversion, args, *lane, bits)).collect();
            self.read = read;
            return;
        }
        if !numbers.is_empty() {
            for (lane, bits) in operands {
                let read = numbers.iter().zip(bits).map(|(&(operand, of), &bits)| match of {
                    Scalar::Float(format) => self.float(operand, *lane, format, bits),
                    Scalar::Int { bits: width, signed } => {
                        let value = if signed {
                            i128::from(scalar::sign_extend(bits, width))
                        } else {
                            i128::from(bits & (u64::MAX >> (64 - width.clamp(1, 64))))
                        };
                        let number = Wider::of_integer(self.breadth, value);
                        Followed { bits, format: Format::F64, number, moved: 0.0 }
                    }
                });
                let read = read.collect();
                self.read.push(read);
            }
            return;
        }
        let used = Interpreter::registers_of(op, Role::Use);
        let holds_floats = used.iter().any(|reg| self.registers[reg.0 as usize].is_some());
        if matches!(op, Op::Shuffle { .. } | Op::Atomic { .. })
            || !(holds_floats || matches!(op, Op::Load { .. } | Op::Store { .. }))
        {
            return;
        }
        let bits = |operand: Operand, width: Width, lane: usize| run.files.lane(operand, width, lane, run.geometry);
        for lane in run.active.mask.lanes() {
            let parts = |operand: Operand, width: Width| self.parts(operand, lane, bits(operand, width, lane));
            let width = |d: Reg| run.code.kernel.width(d);
            let moved = match *op {
                Op::Move { d, a } => parts(a, width(d)),
                Op::Select { d, p, a, b } => parts(if bits(p, Width::Pred, lane) != 0 { a } else { b }, width(d)),
                Op::Pack { d, low, high } => {
                    let half = Width::holding(width(d).bits() / 2);
                    let [mut low, high] = [parts(low, half), parts(high, half)];
                    for (part, place) in high.into_iter().zip((half.bits() / PART_BITS) as usize..PARTS) {
                        low[place] = part;
                    }
                    low
                }
                Op::Extract { d, a, width: of, shift } if shift % PART_BITS == 0 => {
                    let mut all = parts(a, of);
                    all.rotate_left((shift / PART_BITS) as usize % PARTS);
                    within(all, width(d).bits())
                }
                Op::Load { ref d, space, bytes, address, offset, .. } => {
                    let at = |element: usize| {
                        self.place(run, lane, space, address, offset, element as u64 * u64::from(bytes))
                    };
                    let places: Vec<_> = (0..d.len()).filter_map(at).map(|place| (lane, place)).collect();
                    // Parameters are nobody's floats but the launch's.
                    if places.len() == d.len() {
                        self.places.extend(places);
                    }
                    continue;
                }
                Op::Store { ref values, width, space, bytes, address, offset } => {
                    let stored = values.iter().enumerate().filter_map(|(element, &value)| {
                        let element = element as u64 * u64::from(bytes);
                        let place = self.place(run, lane, space, address, offset, element)?;
                        Some((place, within(parts(value, width), bytes * 8)))
                    });
                    for (place, parts) in stored.collect::<Vec<_>>() {
                        self.store(place, bytes, parts);
                    }
                    continue;
                }
                _ => {
                    let loses = |&reg: &Reg| parts(reg.into(), width(reg)).iter().flatten().any(|it| it.moved != 0.0);
                    let lost = used.iter().filter(|reg| loses(reg)).count();
                    if lost > 0 {
                        self.lines.entry(loc).or_default().not_followed += lost as u64;
                    }
                    continue;
                }
            };
            self.moving.push((lane, moved));
        }
    }

    /// The place of an element; `None` for parameters.
    fn place(
        &self,
        run: &Interpreter<'_>,
        lane: usize,
        space: Space,
        address: Operand,
        offset: i64,
        element: u64,
    ) -> Option<Place> {
        let width = run.address_width(address);
        let base = run.files.lane(address, width, lane, run.geometry);
        let address = base.wrapping_add(offset as u64).wrapping_add(element) & width.mask();
        run.place_of(space, lane, address)
    }

    fn store(&mut self, place: Place, bytes: u32, parts: Parts) {
        let (owner, address) = place;
        for (index, part) in parts.into_iter().enumerate().take(bytes.div_ceil(2) as usize) {
            let place = (owner, address.wrapping_add(index as u64 * u64::from(PART_BITS / 8)));
            match part {
                Some(part) => self.memory.insert(place, part),
                None => self.memory.remove(&place),
            };
        }
    }

    /// The floats in some bytes of memory.
    fn load(&self, (owner, address): Place, bytes: u32) -> Parts {
        let mut parts = NONE;
        for (index, part) in parts.iter_mut().enumerate().take(bytes.div_ceil(2) as usize) {
            *part = self.memory.get(&(owner, address.wrapping_add(index as u64 * u64::from(PART_BITS / 8)))).cloned();
        }
        within(parts, bytes * 8)
    }

    /// After an operation that ran: what it leaves.
    pub(super) fn after(&mut self, run: &Interpreter<'_>, (loc, op): (u32, &Op), operands: &[(usize, Vec<u64>)]) {
        let lanes = run.geometry.lanes;
        if matches!(op, Op::Shuffle { .. } | Op::Atomic { .. } | Op::Store { .. }) {
            return;
        }
        let register = |d: Reg, lane: usize| run.files.lane(d.into(), run.code.kernel.width(d), lane, run.geometry);
        if let Op::ConvertPacked { d, ref conversion, .. } = *op {
            for ((lane, _), read) in operands.iter().zip(std::mem::take(&mut self.read)) {
                let parts = self.packed(run, (loc, op, conversion), *lane, register(d, *lane), &read);
                self.put(d, *lane, lanes, parts);
            }
            return;
        }
        if let (Some((d, format)), false) = (floats::result(op), self.read.is_empty()) {
            for ((lane, _), read) in operands.iter().zip(std::mem::take(&mut self.read)) {
                let result = (format, register(d, *lane) & format.mask());
                let numbers: Vec<Wider> = read.iter().map(|it| it.number.clone()).collect();
                let number = floats::without_rounding(op, self.breadth, &numbers);
                let followed = number.map(|number| self.computed(run, (loc, op), *lane, result, number, &read));
                self.put(d, *lane, lanes, [followed, None, None, None]);
            }
            return;
        }
        for ((lane, _), read) in operands.iter().zip(std::mem::take(&mut self.read)) {
            self.decided(run, (loc, op), *lane, &read);
        }
        let defined = Interpreter::registers_of(op, Role::Def);
        for &d in defined.iter().filter(|d| self.registers[d.0 as usize].is_some()).collect::<Vec<_>>() {
            run.active.mask.lanes().for_each(|lane| self.put(d, lane, lanes, NONE));
        }
        if let Op::Load { d, bytes, .. } = op {
            // The elements of one lane after those of another.
            for (&d, (lane, place)) in d.iter().cycle().zip(std::mem::take(&mut self.places)) {
                if let Some(d) = d {
                    let parts = self.load(place, *bytes);
                    self.put(d, lane, lanes, parts);
                }
            }
        }
        if let [d] = defined[..] {
            for (lane, parts) in std::mem::take(&mut self.moving) {
                self.put(d, lane, lanes, parts);
            }
        }
    }

    /// A float result.
    fn computed(
        &mut self,
        run: &Interpreter<'_>,
        (loc, op): (u32, &Op),
        lane: usize,
        (format, bits): (Format, u64),
        number: Wider,
        read: &[Followed],
    ) -> Followed {
        let ulps = number.distance(format, bits);
        let line = self.lines.entry(loc).or_default();
        line.results += 1;
        // Within half of a unit it is the wider result rounded, but at a binade's edge.
        line.moved += u64::from(ulps > 0.5);
        if ulps > line.worst.map_or(0.0, |worst| worst.ulps) {
            let (wide, thread) = (number.to_f64(), run.thread_of(lane));
            line.worst = Some(Moved { ulps, bits, format, wide, thread });
        }
        let numbers: Vec<&Wider> = read.iter().map(|it| &it.number).collect();
        if let Some(largest) = floats::largest_term(op, &numbers)
            && !format.is_infinite(bits)
            && !format.is_nan(bits)
            && ulps >= 4.0 * read.iter().map(|it| it.moved).fold(0.5, f64::max)
        {
            let left = Wider::of(self.breadth, format, bits).exponent();
            let lost = left.map_or(format.precision(), |left| largest.saturating_sub(left).max(0) as u32);
            if lost > 1 {
                line.cancellations += 1;
                line.cancelled_bits = line.cancelled_bits.max(lost);
            }
        }
        Followed { bits, format, number, moved: ulps }
    }

    /// The results of a packed conversion. Those of eight bits and fewer are not followed: where they are not the wider
    /// values, that is counted.
    fn packed(
        &mut self,
        run: &Interpreter<'_>,
        (loc, op, conversion): (u32, &Op, &PackedConversion),
        lane: usize,
        register: u64,
        read: &[Followed],
    ) -> Parts {
        let (to, mut parts) = (floats::in_register(conversion.to), NONE);
        for (index, value) in read.iter().enumerate() {
            let bits = floats::component(conversion, register, index);
            let number = floats::converted(conversion, self.breadth, value.number.clone());
            if let Element::Float(format) = to {
                let place = index as u32 * to.stride() / PART_BITS;
                let value = std::slice::from_ref(value);
                parts[place as usize] = Some(self.computed(run, (loc, op), lane, (format, bits), number, value));
                continue;
            }
            let made = Wider::of(self.breadth, Format::F64, to.widened(bits));
            if made.order(&number) != Some(Ordering::Equal) && !(made.is_nan() && number.is_nan()) {
                self.lines.entry(loc).or_default().not_followed += 1;
            }
        }
        parts
    }

    /// A comparison or a conversion to an integer: whether the wider values would give the same.
    fn decided(&mut self, run: &Interpreter<'_>, (loc, op): (u32, &Op), lane: usize, read: &[Followed]) {
        let otherwise = match *op {
            Op::Compare { d, comparison, .. } => {
                let got = run.files.lane(d.into(), Width::Pred, lane, run.geometry) != 0;
                let order = read[0].number.order(&read[1].number);
                scalar::holds(comparison, order.unwrap_or(Ordering::Equal), order.is_none()) != got
            }
            Op::Convert { to: to @ Scalar::Int { bits, signed }, rounding, .. } => {
                let d = Interpreter::registers_of(op, Role::Def)[0];
                let got = run.files.lane(d.into(), to.width(), lane, run.geometry);
                let got = if signed { i128::from(scalar::sign_extend(got, bits)) } else { i128::from(got) };
                let [low, high] =
                    if signed { [-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1] } else { [0, (1i128 << bits) - 1] };
                let wide = read[0].number.integral(rounding).to_f64();
                // What is no number has no integer.
                !wide.is_nan() && (wide as i128).clamp(low, high) != got && !is_rounded_equal(wide, got)
            }
            _ => return,
        };
        let line = self.lines.entry(loc).or_default();
        line.decisions += 1;
        line.reversed += u64::from(otherwise);
    }

    /// A shuffle: each lane and the lane whose value it receives.
    pub(in super::super) fn shuffle(&mut self, run: &Interpreter<'_>, d: Reg, a: Operand, from: &[(usize, usize)]) {
        let parts = from.iter().map(|&(lane, source)| {
            let bits = run.files.lane(a, Width::B32, source, run.geometry);
            (lane, self.parts(a, source, bits))
        });
        for (lane, parts) in parts.collect::<Vec<_>>() {
            self.put(d, lane, run.geometry.lanes, parts);
        }
    }

    /// An atomic of one lane: the old and the new bits there, and the operand's.
    pub(in super::super) fn atomic(
        &mut self,
        lane: usize,
        place: Place,
        (kind, bytes): (AtomicKind, u32),
        (b, b_bits): (Operand, u64),
        (old, new): (u64, u64),
    ) -> Parts {
        let fitting = |mut parts: Parts, bits: u64| {
            for (at, part) in parts.iter_mut().enumerate() {
                part.take_if(|it| bits >> (at as u32 * PART_BITS) & it.format.mask() != it.bits);
            }
            parts
        };
        let before = fitting(self.load(place, bytes), old);
        let given = self.parts(b, lane, b_bits);
        let mut after = NONE;
        match kind {
            AtomicKind::Float { operation, lanes } => {
                let format = operation.format;
                for component in 0..lanes {
                    let shift = component * format.width();
                    let at = (shift / PART_BITS) as usize;
                    let of = |parts: &Parts, bits: u64| match &parts[at] {
                        Some(part) if part.format == format => part.number.clone(),
                        _ => Wider::of(self.breadth, format, bits >> shift & format.mask()),
                    };
                    let number = of(&before, old).plus(&of(&given, b_bits));
                    let bits = new >> shift & format.mask();
                    let moved = number.distance(format, bits);
                    after[at] = Some(Followed { bits, format, number, moved });
                }
            }
            _ if new == old => after = before.clone(),
            _ => after = fitting(given, new),
        }
        self.store(place, bytes, after);
        before
    }
}

/// Of a register's parts those inside its low bits.
fn within(mut parts: Parts, bits: u32) -> Parts {
    for (place, part) in parts.iter_mut().enumerate() {
        part.take_if(|it| place as u32 * PART_BITS + it.format.width() > bits);
    }
    parts
}

/// Whether an integer is a double that lies beyond where doubles are whole numbers apart.
fn is_rounded_equal(wide: f64, integer: i128) -> bool {
    wide.abs() >= 2f64.powi(53) && integer as f64 == wide
}
