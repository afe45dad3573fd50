//! Matrices multiplied by a warp: a function for each kind, in which a lane asks the others for the rows and columns of its own
//! elements, and has each computed (`dot`).

use roundonce_ir::{Fragment, MatrixMultiply, Operand, Reg, ScaleFragment, ScaleOperand};

use super::body::{Body, Result};
use super::dot::word_of;
use super::ids::{Id, Ty, Type};

const U32: Ty = Ty::U32;
/// Lanes of a warp.
const WARP: usize = 32;

/// For each lane, a number.
type OfLane = [u16; WARP];

/// What a lane's words are asked of other lanes for, and what was asked already.
struct Exchange {
    lane: Id,
    /// Registers have 64 bits.
    is_wide: bool,
    numbers: Vec<(OfLane, Id)>,
    shuffled: Vec<(Id, OfLane, Id)>,
}

/// How a matrix is spread over the registers of a warp.
struct Spread<'a> {
    fragment: &'a Fragment,
    registers: &'a [Id],
    /// Of each place, the last lane that holds it, and which of its elements that is.
    holders: Vec<Option<(u16, u16)>>,
}

impl<'a> Spread<'a> {
    fn new(fragment: &'a Fragment, registers: &'a [Id], size: usize) -> Spread<'a> {
        let mut holders = vec![None; size];
        for (lane, places) in fragment.places.chunks_exact(fragment.elements).enumerate() {
            for (element, &place) in places.iter().enumerate() {
                holders[usize::from(place)] = Some((lane as u16, element as u16));
            }
        }
        Spread { fragment, registers, holders }
    }
}

impl Body<'_> {
    pub(super) fn multiply_matrices(
        &mut self,
        multiply: &MatrixMultiply,
        d: &[Reg],
        operands: [&[Operand]; 3],
        scales: Option<&[ScaleOperand; 2]>,
    ) -> Result {
        self.warp(None)?;
        if !matches!(d.len(), 1 | 2 | 4 | 8 | 16) {
            return Err(format!("a matrix of {} registers a lane", d.len()));
        }
        self.mode(Ty::F64);
        let function = self.matrix_function(multiply)?;
        let mut given = vec![function, self.number(roundonce_ir::Special::Lane)?.0];
        for (fragment, operands) in [&multiply.a, &multiply.b, &multiply.c].into_iter().zip(operands) {
            let ty = Ty::of(fragment.width);
            given.extend(operands.iter().map(|&operand| self.read_as(operand, ty)).collect::<Vec<_>>());
        }
        for ScaleOperand { data, byte, thread } in scales.into_iter().flatten() {
            given.push(self.read_as(*data, U32));
            for selector in [byte, thread] {
                let value = self.read_as(*selector, Ty::U16);
                given.push(self.resize(value, Ty::U16, U32));
            }
        }
        let ty = Ty::of(multiply.d.width);
        let result = self.emit(several(ty, d.len()), "OpFunctionCall", &given);
        let given_back = d.len();
        for (place, &d) in d.iter().enumerate() {
            let part = match given_back {
                1 => result,
                _ => self.emit_with(ty, "OpCompositeExtract", &[result], &place.to_string()),
            };
            self.write(d, part, ty);
        }
        Ok(())
    }

    /// The function of a kind: from the lane's number, the registers of a, b and c, and the scales with their selectors.
    fn matrix_function(&mut self, multiply: &MatrixMultiply) -> Result<Id> {
        if let Some(known) = self.module.matrices.iter().find(|(known, _)| known == multiply) {
            return Ok(known.1);
        }
        let dot = self.dot_function(&multiply.dot)?;
        let parts = [&multiply.a, &multiply.b, &multiply.c];
        let mut params = vec![U32];
        for fragment in parts {
            params.extend(vec![Ty::of(fragment.width); fragment.registers()]);
        }
        if multiply.scales.is_some() {
            params.extend([U32; 6]);
        }
        let ty = Ty::of(multiply.d.width);
        let result = several(ty, multiply.d.registers());
        let id = self.function("multiply", &multiply.name, result, &params, |body, given| {
            let mut rest = &given[1..];
            let [a, b, c] = parts.map(|fragment| {
                let (these, others) = rest.split_at(fragment.registers());
                rest = others;
                these
            });
            let sizes = multiply.sizes();
            let spreads = [
                Spread::new(&multiply.a, a, sizes[0]),
                Spread::new(&multiply.b, b, sizes[1]),
                Spread::new(&multiply.c, c, sizes[2]),
            ];
            let is_wide = ty == Ty::U64;
            let exchange = Exchange { lane: given[0], is_wide, numbers: Vec::new(), shuffled: Vec::new() };
            body.elements(multiply, dot, exchange, &spreads, rest)
        })?;
        self.module.matrices.push((multiply.clone(), id));
        Ok(id)
    }

    /// All elements of a lane, packed as d has them.
    fn elements(
        &mut self,
        multiply: &MatrixMultiply,
        dot: Id,
        mut exchange: Exchange,
        [a, b, c]: &[Spread<'_>; 3],
        scales: &[Id],
    ) -> Result<Id> {
        let (m, n) = (multiply.m, multiply.n);
        let sum = if multiply.d.stride == 64 { Ty::U64 } else { U32 };
        let k = multiply.dot.k as usize;
        let is_own = multiply.d.elements == multiply.c.elements && multiply.d.places == multiply.c.places;
        let mut registers: Vec<Option<Id>> = vec![None; multiply.d.registers()];
        for element in 0..multiply.d.elements {
            let place = |lane: usize| usize::from(multiply.d.places[lane * multiply.d.elements + element]);
            let row = |lane: usize| place(lane) / n;
            let column = |lane: usize| place(lane) / (m * n) * n + place(lane) % n;
            let mut given = vec![dot];
            given.extend(self.line(&mut exchange, a, word_of(multiply.dot.a).0, k, row)?);
            given.extend(self.line(&mut exchange, b, word_of(multiply.dot.b).0, k, column)?);
            given.push(match is_own {
                true => self.own(c, element),
                false => self.asked_for(&mut exchange, c, place)?,
            });
            if let (Some([a, b]), [_, _, _, _, _, _]) = (&multiply.scales, scales) {
                given.push(self.scales_of(&mut exchange, a, &scales[..3], row)?);
                given.push(self.scales_of(&mut exchange, b, &scales[3..], column)?);
            }
            let value = self.emit(sum, "OpFunctionCall", &given);
            let (register, up) = in_register(&multiply.d, element);
            let moved = match up {
                0 => value,
                _ => self.emit(sum, "OpShiftLeftLogical", &[value, Id::constant(U32, up.into())]),
            };
            registers[register] = Some(match registers[register] {
                Some(others) => self.emit(sum, "OpBitwiseOr", &[others, moved]),
                None => moved,
            });
        }
        let registers: Vec<Id> = registers.into_iter().flatten().collect();
        Ok(self.vector(sum, &registers))
    }

    /// A lane's own element.
    fn own(&mut self, spread: &Spread<'_>, element: usize) -> Id {
        let (register, down) = in_register(spread.fragment, element);
        self.cut_out(spread.fragment, spread.registers[register], down)
    }

    /// An element that stands in a register from a bit on.
    fn cut_out(&mut self, fragment: &Fragment, register: Id, down: u32) -> Id {
        let moved = self.moved_down(register, down);
        if fragment.stride >= 32 {
            return moved;
        }
        let mask = Id::constant(U32, u64::MAX >> (64 - fragment.stride));
        self.emit(U32, "OpBitwiseAnd", &[moved, mask])
    }

    /// The words of a row of a or of a column of b, so many elements each, of which each lane wants a line of its own.
    fn line(
        &mut self,
        exchange: &mut Exchange,
        spread: &Spread<'_>,
        count: u32,
        k: usize,
        line: impl Fn(usize) -> usize,
    ) -> Result<Vec<Id>> {
        let count = count as usize;
        let words = (0..k)
            .step_by(count)
            .map(|start| self.word(exchange, spread, count.min(k - start), |lane, at| line(lane) * k + start + at));
        words.collect()
    }

    /// So many neighbouring elements as a word: one register of another lane where they stand there so, otherwise each by itself.
    fn word(
        &mut self,
        exchange: &mut Exchange,
        spread: &Spread<'_>,
        count: usize,
        place: impl Fn(usize, usize) -> usize,
    ) -> Result<Id> {
        let Spread { fragment, registers, holders } = spread;
        let first = |lane: usize| holders[place(lane, 0)];
        let (register, _) = in_register(fragment, first(0).map_or(0, |(_, element)| element.into()));
        let begins = register * fragment.in_register();
        let is_whole = count == fragment.in_register()
            && (0..WARP).all(|lane| {
                (0..count).all(|at| {
                    let wanted = first(lane).map(|(from, _)| (from, (begins + at) as u16));
                    wanted.is_some() && holders[place(lane, at)] == wanted
                })
            });
        if is_whole {
            let mut from = [0; WARP];
            for (lane, from) in from.iter_mut().enumerate() {
                *from = first(lane).map_or(0, |(holder, _)| holder);
            }
            return self.shuffled(exchange, registers[register], from);
        }
        let mut all: Option<Id> = None;
        for at in 0..count {
            let element = self.asked_for(exchange, spread, |lane| place(lane, at))?;
            let up = Id::constant(U32, u64::from(fragment.stride) * at as u64);
            let moved = if at == 0 { element } else { self.emit(U32, "OpShiftLeftLogical", &[element, up]) };
            all = Some(match all {
                Some(all) => self.emit(U32, "OpBitwiseOr", &[all, moved]),
                None => moved,
            });
        }
        all.ok_or_else(|| "a matrix without elements".to_owned())
    }

    /// The element of a place, by itself in the low bits.
    fn asked_for(
        &mut self,
        exchange: &mut Exchange,
        spread: &Spread<'_>,
        place: impl Fn(usize) -> usize,
    ) -> Result<Id> {
        let Spread { fragment, registers, holders } = spread;
        let (mut from, mut register, mut down) = ([0; WARP], [0; WARP], [0; WARP]);
        for lane in 0..WARP {
            let Some((holder, element)) = holders[place(lane)] else {
                return Err("a matrix with places that no lane holds".to_owned());
            };
            let (within, by) = in_register(fragment, element.into());
            (from[lane], register[lane], down[lane]) = (holder, within as u16, by as u16);
        }
        let mut kinds = register.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        // Which register it is depends on the lane that asks.
        let mut value: Option<Id> = None;
        for kind in kinds {
            let shuffled = self.shuffled(exchange, registers[usize::from(kind)], from)?;
            value = Some(match value {
                None => shuffled,
                Some(value) => {
                    let number = self.of_lane(exchange, register)?;
                    let this = self.emit(Ty::Bool, "OpIEqual", &[number, Id::constant(U32, kind.into())]);
                    let ty = Ty::of(fragment.width);
                    self.select(ty, this, shuffled, value)
                }
            });
        }
        let value = value.ok_or("a matrix without lanes")?;
        if down.iter().all(|&by| by == down[0]) {
            return Ok(self.cut_out(fragment, value, down[0].into()));
        }
        let by = self.of_lane(exchange, down)?;
        let moved = self.emit(U32, "OpShiftRightLogical", &[value, by]);
        Ok(self.cut_out(fragment, moved, 0))
    }

    /// A register of the lane that each lane names.
    fn shuffled(&mut self, exchange: &mut Exchange, register: Id, from: OfLane) -> Result<Id> {
        if let Some(&(.., id)) = exchange.shuffled.iter().find(|(known, at, _)| *known == register && *at == from) {
            return Ok(id);
        }
        let lane = self.of_lane(exchange, from)?;
        let id = self.shuffle_wide(register, if exchange.is_wide { Ty::U64 } else { U32 }, lane);
        exchange.shuffled.push((register, from, id));
        Ok(id)
    }

    /// A number that depends on the lane, bit by bit.
    fn of_lane(&mut self, exchange: &mut Exchange, numbers: OfLane) -> Result<Id> {
        if let Some(&(_, id)) = exchange.numbers.iter().find(|(known, _)| *known == numbers) {
            return Ok(id);
        }
        let id = self.affine(exchange.lane, 5, |lane| numbers[lane as usize].into())?;
        exchange.numbers.push((numbers, id));
        Ok(id)
    }

    /// A function of a number of so many bits, each of which adds a mask of its own to what the function of 0 is.
    fn affine(&mut self, value: Id, bits: u32, function: impl Fn(u32) -> u32) -> Result<Id> {
        let base = function(0);
        let mask = |bit: u32| function(1 << bit) ^ base;
        let sum = |number: u32| (0..bits).filter(|bit| number >> bit & 1 == 1).fold(base, |sum, bit| sum ^ mask(bit));
        if (0..1 << bits).any(|number| function(number) != sum(number)) {
            return Err("a matrix whose lanes follow no rule of bits".to_owned());
        }
        let id = self.linear(value, bits, mask);
        Ok(match (base, id) {
            (0, id) => id,
            (base, Id::Const(..)) => Id::constant(U32, base.into()),
            (base, id) => self.emit(U32, "OpBitwiseXor", &[id, Id::constant(U32, base.into())]),
        })
    }

    /// The scales of the row (or column) that each lane wants, the first in the low byte.
    fn scales_of(
        &mut self,
        exchange: &mut Exchange,
        fragment: &ScaleFragment,
        given: &[Id],
        line: impl Fn(usize) -> usize,
    ) -> Result<Id> {
        let [data, byte, thread] = *given else { return Err("scales without selectors".to_owned()) };
        let threads = fragment.lanes.len();
        if !threads.is_power_of_two() {
            return Err("scales of a number of threads that is no power of two".to_owned());
        }
        let constant = |bits: usize| Id::constant(U32, bits as u64);
        let thread = self.emit(U32, "OpBitwiseAnd", &[thread, constant(threads - 1)]);
        let thread = self.emit(U32, "OpShiftLeftLogical", &[thread, constant(5)]);
        let both = self.emit(U32, "OpBitwiseOr", &[exchange.lane, thread]);
        let from = self.affine(both, 5 + threads.trailing_zeros(), |number| {
            fragment.lanes[number as usize / WARP][line(number as usize % WARP)].into()
        })?;
        let data = self.shuffle_from(data, from);
        let byte = self.emit(U32, "OpBitwiseAnd", &[byte, constant(3)]);
        let down = self.emit(U32, "OpShiftLeftLogical", &[byte, constant(3)]);
        // Not every reader takes a count of another width.
        let down = self.emit(Ty::U64, "OpUConvert", &[down]);
        let twice = self.joined(Ty::U64, data, data);
        let turned = self.emit(Ty::U64, "OpShiftRightLogical", &[twice, down]);
        Ok(self.emit(U32, "OpUConvert", &[turned]))
    }
}

/// The register that holds an element, and the bit that it begins at.
fn in_register(fragment: &Fragment, element: usize) -> (usize, u32) {
    let count = fragment.in_register();
    (element / count, (element % count) as u32 * fragment.stride)
}

/// So many values of a type.
fn several(ty: Ty, count: usize) -> Type {
    if count == 1 { ty.into() } else { Type::Vector(ty, count as u8) }
}
