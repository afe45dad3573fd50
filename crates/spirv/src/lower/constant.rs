//! Constants, specialised: what a launch says about a specialisation constant holds for everything made of it.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use roundonce_arith::Rounding;
use roundonce_ir::Scalar;
use roundonce_isa::convert;
use rspirv::spirv::{Decoration, Op};

use super::types::{MOST_PARTS, Part, Types};
use crate::facts::Facts;
use crate::module::{Instruction, Module};

/// Constants between one that is not folded and the cause that is looked for.
const DEEPEST_CAUSE: usize = 64;

/// A scalar specialisation constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpecConstant {
    /// Its SpecId.
    pub id: u32,
    /// Its type; a bool has none.
    pub scalar: Option<Scalar>,
    /// Its bits where a launch says nothing.
    pub default: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Bits {
    /// A part each.
    Known(Rc<[u64]>),
    /// Zeros, however many.
    Null,
    /// An operation that is not folded, or too many parts.
    Unfolded,
}

#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) type_id: u32,
    pub(super) bits: Bits,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    by_id: HashMap<u32, Constant>,
    pub(super) spec: Vec<SpecConstant>,
}

impl Constants {
    pub(super) fn get(&self, id: u32) -> Option<&Constant> {
        self.by_id.get(&id)
    }
    /// The bits of a scalar.
    pub(super) fn scalar(&self, id: u32) -> Option<u64> {
        match &self.get(id)?.bits {
            Bits::Known(bits) if bits.len() == 1 => Some(bits[0]),
            Bits::Null => Some(0),
            _ => None,
        }
    }
    /// An index: signed, whatever its type.
    pub(super) fn index(&self, types: &Types, id: u32) -> Option<i64> {
        let bits = self.scalar(id)?;
        match types.scalar(self.get(id)?.type_id)? {
            Part::Int { bits: width, .. } => Some(signed(bits, width)),
            _ => None,
        }
    }
    /// The parts of a constant.
    fn parts(&self, types: &Types, id: u32) -> Option<Rc<[u64]>> {
        let constant = self.get(id)?;
        match &constant.bits {
            Bits::Known(bits) => Some(bits.clone()),
            Bits::Null => types.list(constant.type_id).map(|parts| vec![0; parts.len()].into()),
            Bits::Unfolded => None,
        }
    }

    /// Takes in a constant's declaration.
    pub(super) fn declare(
        &mut self,
        module: &Module,
        facts: &Facts,
        types: &Types,
        at: &Instruction,
        given: &BTreeMap<u32, u64>,
    ) {
        let (Some(type_id), Some(id)) = (module.result_type(at), module.result(at)) else { return };
        let operands = module.words_of(at).get(3..).unwrap_or_default();
        let spec_id = |default: u64| {
            let attached = facts.decorations_of(id).find(|at| at.value == Decoration::SpecId as u32)?;
            Some(SpecConstant { id: *attached.words.first()?, scalar: types.scalar(type_id)?.scalar(), default })
        };
        let one = |constants: &mut Constants, default: u64, specialised: bool| {
            let spec = spec_id(default).filter(|_| specialised);
            let bits = spec.and_then(|spec| given.get(&spec.id).copied()).unwrap_or(default);
            constants.spec.extend(spec);
            Some(Rc::from([bits]))
        };
        let bits = match Op::from_u32(at.opcode.into()) {
            Some(Op::ConstantTrue) => one(self, 1, false),
            Some(Op::ConstantFalse) => one(self, 0, false),
            Some(Op::SpecConstantTrue) => one(self, 1, true),
            Some(Op::SpecConstantFalse) => one(self, 0, true),
            Some(op @ (Op::Constant | Op::SpecConstant)) => types
                .scalar(type_id)
                .map(|part| literal(part, operands))
                .and_then(|bits| one(self, bits, op == Op::SpecConstant)),
            Some(Op::ConstantNull | Op::Undef) => {
                self.by_id.insert(id, Constant { type_id, bits: Bits::Null });
                return;
            }
            Some(Op::ConstantComposite | Op::SpecConstantComposite) => self.composite(types, type_id, operands),
            Some(Op::ConstantSampler) => super::image::constant_sampler(operands).map(|bits| [bits].into()),
            Some(Op::SpecConstantOp) => self.folded(types, type_id, operands),
            _ => return,
        };
        self.by_id.insert(id, Constant { type_id, bits: bits.map_or(Bits::Unfolded, Bits::Known) });
    }

    fn composite(&self, types: &Types, type_id: u32, members: &[u32]) -> Option<Rc<[u64]>> {
        if types.get(type_id)?.parts > MOST_PARTS || members.len() as u64 > MOST_PARTS {
            return None;
        }
        let mut all = Vec::new();
        for &member in members {
            all.extend_from_slice(&self.parts(types, member)?);
        }
        (all.len() as u64 == types.get(type_id)?.parts).then(|| all.into())
    }

    /// The first constant that is not folded of those that one is made of: itself, where all others are known.
    pub(super) fn unfolded(&self, module: &Module, facts: &Facts, mut id: u32) -> u32 {
        // Behind so many the search ends with one that is made of others.
        for _ in 0..DEEPEST_CAUSE {
            let Some(at) = facts.instruction(module, id) else { break };
            let (first, count) = match operation(module, at) {
                Some(Op::CompositeExtract) => (4, 1),
                Some(Op::CompositeInsert | Op::VectorShuffle) => (4, 2),
                Some(_) => (4, usize::MAX),
                None => (3, usize::MAX),
            };
            let mut operands = module.words_of(at).iter().skip(first).take(count);
            let is_unfolded = |id: &&u32| matches!(self.get(**id), Some(Constant { bits: Bits::Unfolded, .. }));
            let Some(&part) = operands.find(is_unfolded) else { break };
            id = part;
        }
        id
    }

    /// OpSpecConstantOp on integers and bools, and floats made wider.
    fn folded(&self, types: &Types, type_id: u32, operands: &[u32]) -> Option<Rc<[u64]>> {
        let (&opcode, operands) = operands.split_first()?;
        let op = Op::from_u32(opcode)?;
        let first = *operands.first()?;
        match op {
            Op::CompositeExtract => {
                let parts = self.parts(types, first)?;
                let (ty, start) = inside(types, self.get(first)?.type_id, operands.get(1..)?)?;
                let count = types.get(ty)?.parts as usize;
                return parts.get(start..start.checked_add(count)?).map(Rc::from);
            }
            Op::CompositeInsert => {
                let composite = *operands.get(1)?;
                let mut parts = self.parts(types, composite)?.to_vec();
                let (_, start) = inside(types, self.get(composite)?.type_id, operands.get(2..)?)?;
                let object = self.parts(types, first)?;
                parts.get_mut(start..start.checked_add(object.len())?)?.copy_from_slice(&object);
                return Some(parts.into());
            }
            Op::VectorShuffle => {
                let both = [self.parts(types, first)?, self.parts(types, *operands.get(1)?)?].concat();
                let pick = |&at: &u32| if at == u32::MAX { Some(0) } else { both.get(at as usize).copied() };
                return operands.get(2..)?.iter().map(pick).collect();
            }
            _ => {}
        }
        let values: Vec<Rc<[u64]>> = operands.iter().map(|&id| self.parts(types, id)).collect::<Option<_>>()?;
        let from = operands.iter().map(|&id| Some(types.components(self.get(id)?.type_id)?.0));
        let from: Vec<Part> = from.collect::<Option<_>>()?;
        let (to, count) = types.components(type_id)?;
        let component = |at: usize| {
            let pick = |value: &Rc<[u64]>| if value.len() == 1 { Some(value[0]) } else { value.get(at).copied() };
            let values: Vec<u64> = values.iter().map(pick).collect::<Option<_>>()?;
            fold(op, to, &from, &values)
        };
        (0..count).map(component).collect()
    }
}

/// What an OpSpecConstantOp computes.
pub(super) fn operation(module: &Module, at: &Instruction) -> Option<Op> {
    let is_operation = at.opcode == Op::SpecConstantOp as u16;
    is_operation.then(|| Op::from_u32(module.operand_word(at, 2))).flatten()
}

/// The type and the first part of what indices lead to.
pub(super) fn inside(types: &Types, type_id: u32, indices: &[u32]) -> Option<(u32, usize)> {
    indices.iter().try_fold((type_id, 0usize), |(ty, start), &index| {
        let (ty, more) = types.inside(ty, index.into())?;
        Some((ty, start.checked_add(more)?))
    })
}

fn literal(part: Part, words: &[u32]) -> u64 {
    let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
    mask(word(0) | word(1) << 32, part.bits())
}

const fn mask(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}
const fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

/// One component of an operation on integers and bools, or of a float made wider; `None` where it has no value or is none of those.
fn fold(op: Op, to: Part, from: &[Part], values: &[u64]) -> Option<u64> {
    let integer = |part: &Part| match *part {
        Part::Int { bits, .. } => Some(bits),
        Part::Bool => Some(1),
        _ => None,
    };
    if op == Op::Select {
        return match values {
            [condition, yes, no] => Some(if *condition != 0 { *yes } else { *no }),
            _ => None,
        };
    }
    if let (Op::FConvert, [Part::Float(from)], Part::Float(to)) = (op, from, to) {
        let (bits, is_exact) = convert(*from, to, Rounding::NearestEven, *values.first()?);
        return (from.width() < to.width() && is_exact).then_some(bits);
    }
    let width = integer(from.first()?)?;
    let result = integer(&to)?;
    let a = *values.first()?;
    let unary = match op {
        Op::SConvert => Some(signed(a, width) as u64),
        Op::UConvert => Some(a),
        Op::SNegate => Some(a.wrapping_neg()),
        Op::Not => Some(!a),
        Op::LogicalNot => Some(a ^ 1),
        _ => None,
    };
    if let Some(value) = unary {
        return Some(mask(value, result));
    }
    let b = *values.get(1)?;
    // The second operand of a shift may have another width.
    let (x, y) = (signed(a, width), signed(b, integer(from.get(1)?)?));
    let shift = |value: u64| if b < u64::from(width) { value } else { 0 };
    let value = match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b)?,
        Op::UMod => a.checked_rem(b)?,
        Op::SDiv if y != 0 => x.wrapping_div(y) as u64,
        Op::SRem if y != 0 => x.wrapping_rem(y) as u64,
        Op::SMod if y != 0 => {
            let rest = x.wrapping_rem(y);
            (if rest != 0 && (rest < 0) != (y < 0) { rest.wrapping_add(y) } else { rest }) as u64
        }
        Op::ShiftLeftLogical => shift(a.wrapping_shl(b as u32)),
        Op::ShiftRightLogical => shift(a.wrapping_shr(b as u32)),
        Op::ShiftRightArithmetic => (x >> b.min(63)) as u64,
        Op::BitwiseOr | Op::LogicalOr => a | b,
        Op::BitwiseAnd | Op::LogicalAnd => a & b,
        Op::BitwiseXor | Op::LogicalNotEqual => a ^ b,
        Op::LogicalEqual => a ^ b ^ 1,
        Op::IEqual => (a == b).into(),
        Op::INotEqual => (a != b).into(),
        Op::ULessThan => (a < b).into(),
        Op::ULessThanEqual => (a <= b).into(),
        Op::UGreaterThan => (a > b).into(),
        Op::UGreaterThanEqual => (a >= b).into(),
        Op::SLessThan => (x < y).into(),
        Op::SLessThanEqual => (x <= y).into(),
        Op::SGreaterThan => (x > y).into(),
        Op::SGreaterThanEqual => (x >= y).into(),
        _ => return None,
    };
    Some(mask(value, result))
}
