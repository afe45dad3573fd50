//! A block run on expressions.

use std::collections::HashMap;

use super::values::{Function, Node, Side, Value, Values};
use super::{Code, Given};
use crate::operands::Wants;
use crate::{
    Comparand, Instruction, IntOp, MemoryOrder, Op, Operand, Placement, Reg, Role, Scalar, Semantics, Space, Special,
    Terminator, Width,
};

/// Something that others see, or that is no function of its operands.
pub(super) struct Step {
    /// Which operation, by its number.
    pub(super) what: u32,
    /// A predicate that must be true.
    pub(super) guard: Option<Value>,
    /// In the operation's order.
    pub(super) args: Vec<Value>,
    pub(super) loc: u32,
    pub(super) order: MemoryOrder,
    /// The fences behind the step before.
    pub(super) fence: MemoryOrder,
}

/// How a block ends, blocks behind it that nothing else leads to included.
pub(super) enum Ending {
    Exit,
    Jump(usize),
    /// Where the value is true, and where it is false.
    Branch(Value, [usize; 2]),
    /// The last one is that of every other number.
    Switch(Value, Vec<usize>),
}

/// A block of one of the kernels, as it runs.
pub(super) struct Run<'c, 'a> {
    code: &'c Code<'a>,
    side: Side,
    pair: usize,
    block: usize,
    held: HashMap<Reg, Value>,
    pub(super) steps: Vec<Step>,
    pub(super) ending: Ending,
    /// Of the terminator.
    pub(super) loc: u32,
    /// The fences behind the last step.
    pub(super) fence: MemoryOrder,
}

impl<'c, 'a> Run<'c, 'a> {
    pub(super) fn of(
        code: &'c Code<'a>,
        side: Side,
        pair: usize,
        block: usize,
        held: HashMap<Reg, Value>,
    ) -> Run<'c, 'a> {
        Run { code, side, pair, block, held, steps: Vec::new(), ending: Ending::Exit, loc: 0, fence: MemoryOrder::WEAK }
    }

    /// What a register holds.
    pub(super) fn value(&self, reg: Reg, values: &mut Values) -> Value {
        let undefined = || values.number(Node::Undefined(self.side, reg), self.code.kernel.width(reg));
        self.held.get(&reg).copied().unwrap_or_else(undefined)
    }

    pub(super) fn finished(mut self, values: &mut Values) -> Run<'c, 'a> {
        let kernel = self.code.kernel;
        // A block runs once a run: a loop of jumps ends where it comes back.
        for _ in 0..kernel.blocks.len() {
            let block = &kernel.blocks[self.block];
            for instruction in &block.instructions {
                if let (Op::Exit, None) = (&instruction.op, instruction.guard) {
                    self.loc = instruction.loc;
                    self.ending = Ending::Exit;
                    return self;
                }
                self.instruction(instruction, values);
            }
            self.loc = block.loc;
            let target = |block: usize| self.code.target[block];
            self.ending = match &block.terminator {
                Terminator::Exit => Ending::Exit,
                Terminator::Jump(next) => {
                    let next = target(*next);
                    if self.code.entries[next] == 1 && next != 0 {
                        self.block = next;
                        self.ending = Ending::Jump(next);
                        continue;
                    }
                    Ending::Jump(next)
                }
                Terminator::Branch { pred, then, otherwise } => {
                    let ways = [target(*then), target(*otherwise)];
                    let condition = self.value(*pred, values);
                    match values.constant(condition) {
                        _ if ways[0] == ways[1] => Ending::Jump(ways[0]),
                        Some(bits) => Ending::Jump(ways[usize::from(bits == 0)]),
                        None => match values.negated(condition) {
                            Some(opposite) => Ending::Branch(opposite, [ways[1], ways[0]]),
                            None => Ending::Branch(condition, ways),
                        },
                    }
                }
                Terminator::Switch { index, targets, otherwise } => {
                    let index = self.operand(*index, Width::B32, values);
                    Ending::Switch(index, targets.iter().chain([otherwise]).map(|next| target(*next)).collect())
                }
            };
            break;
        }
        self
    }

    fn operand(&self, operand: Operand, width: Width, values: &mut Values) -> Value {
        match operand {
            Operand::Imm(bits) => values.imm(bits, width),
            Operand::Reg(reg) => self.value(reg, values),
        }
    }

    fn instruction(&mut self, instruction: &Instruction, values: &mut Values) {
        let guard = instruction.guard.map(|guard| {
            let pred = self.value(guard.pred, values);
            if guard.expected { pred } else { values.not(pred) }
        });
        let guard = match guard.map(|guard| (guard, values.constant(guard))) {
            Some((_, Some(0))) => return,
            Some((guard, None)) => Some(guard),
            _ => None,
        };
        let Some((d, value)) = self.function(&instruction.op, values) else {
            return self.effect(instruction, guard, values);
        };
        self.write(d, value, guard, values);
    }

    /// Under a guard the register keeps what it held where that is false.
    fn write(&mut self, d: Reg, value: Value, guard: Option<Value>, values: &mut Values) {
        let value = match guard {
            Some(guard) => {
                let old = self.value(d, values);
                values.select(guard, value, old)
            }
            None => value,
        };
        self.held.insert(d, value);
    }

    /// The value of an operation that is a function of its operands, and where it goes.
    fn function(&self, op: &Op, values: &mut Values) -> Option<(Reg, Value)> {
        let kernel = self.code.kernel;
        let width = |reg: &Reg| kernel.width(*reg);
        let (d, value) = match op {
            Op::Move { d, a } => (d, self.operand(*a, width(d), values)),
            Op::Special { special: Special::Clock, .. } => return None,
            Op::Special { d, special } => (d, self.special(*special, width(d), values)?),
            Op::Select { d, p, a, b } => {
                let p = self.operand(*p, Width::Pred, values);
                let [a, b] = [a, b].map(|operand| self.operand(*operand, width(d), values));
                (d, values.select(p, a, b))
            }
            Op::Compare { d, comparison, of, a, b } => {
                let operands = match of {
                    Comparand::Unsigned(width) | Comparand::Signed(width) => *width,
                    Comparand::Float { format, .. } => Width::holding(format.width()),
                };
                let args = [a, b].map(|operand| self.operand(*operand, operands, values));
                (d, values.function(Function::Compare(*comparison, *of), &args, Width::Pred))
            }
            Op::Int { d, op, width, args } => {
                let (widths, count) = op.operand_widths(*width);
                let operands = args.iter().zip(widths).take(count);
                let args: Vec<Value> = operands.map(|(arg, width)| self.operand(*arg, width, values)).collect();
                (d, values.function(Function::Int(*op, *width), &args, op.result_width(*width)))
            }
            Op::Pack { d, low, high } => {
                let half = Width::holding(width(d).bits() / 2);
                let args = [low, high].map(|operand| {
                    let value = self.operand(*operand, half, values);
                    values.function(Function::Extract(0), &[value], half)
                });
                (d, values.function(Function::Pack, &args, width(d)))
            }
            Op::Extract { d, a, width: whole, shift } => {
                let a = self.operand(*a, *whole, values);
                (d, values.function(Function::Extract(*shift), &[a], width(d)))
            }
            Op::Convert { d, to: Scalar::Int { bits: to, .. }, from, saturate: false, a, .. }
                if *to > 8 && matches!(from, Scalar::Int { bits: 16.., .. }) =>
            {
                let signed = matches!(from, Scalar::Int { signed: true, .. });
                let a = self.operand(*a, from.width(), values);
                (d, values.extend(a, signed, width(d)))
            }
            Op::Load { d, space: Space::Param, bytes, signed, address, offset } => {
                let [Some(d)] = &d[..] else { return None };
                (d, self.param(width(d), *bytes, *signed, *address, *offset, values)?)
            }
            Op::Float { .. }
            | Op::Sign { .. }
            | Op::Divide { .. }
            | Op::Remainder { .. }
            | Op::SquareRoot { .. }
            | Op::Scale { .. }
            | Op::Approximate { .. }
            | Op::MinMax { .. }
            | Op::CopySign { .. }
            | Op::Classify { .. }
            | Op::Convert { .. }
            | Op::ConvertPacked { .. } => {
                let (defs, args) = self.operands(op, values);
                let [d] = defs[..] else { return None };
                let function = Function::Other(values.operation(described(op)), 0);
                return Some((d, values.function(function, &args, width(&d))));
            }
            Op::Carry { d, out: None, .. } => {
                let (_, args) = self.operands(op, values);
                let function = Function::Other(values.operation(described(op)), 0);
                (d, values.function(function, &args, width(d)))
            }
            _ => return None,
        };
        Some((*d, value))
    }

    /// The registers that an operation writes, and the values of its operands.
    fn operands(&self, op: &Op, values: &mut Values) -> (Vec<Reg>, Vec<Value>) {
        let (mut defs, mut uses) = (Vec::new(), Vec::new());
        op.visit(&mut |role, operand, wants| match (role, operand) {
            (Role::Def, Operand::Reg(reg)) => defs.push(reg),
            _ => uses.push((operand, wants)),
        });
        let same = defs.first().map_or(Width::B64, |reg| self.code.kernel.width(*reg));
        let args = uses.into_iter().map(|(operand, wants)| {
            let width = match wants {
                Wants::Exactly(width) | Wants::AtLeast(width) => width,
                Wants::Same => same,
                Wants::Address => Width::holding(self.code.program.address_bits),
            };
            self.operand(operand, width, values)
        });
        let args = args.collect();
        (defs, args)
    }

    fn special(&self, special: Special, width: Width, values: &mut Values) -> Option<Value> {
        let (node, natural) = match special {
            Special::Address(variable) => (Node::Variable((*self.code.variables.get(variable as usize)?)?), width),
            Special::BufferBytes(param) => match self.code.given.get(param as usize)? {
                Given::Param(first) => (Node::BufferBytes(*first), width),
                _ => return None,
            },
            Special::SharedWindow
            | Special::LocalWindow
            | Special::ParamWindow
            | Special::Placement(Placement::Grid) => (Node::Special(special), width),
            _ => (Node::Special(special), Width::B32),
        };
        let value = values.number(node, natural);
        Some(values.extend(value, false, width))
    }

    /// A parameter, or a part of it.
    fn param(
        &self,
        width: Width,
        bytes: u32,
        signed: bool,
        address: Operand,
        offset: i64,
        values: &mut Values,
    ) -> Option<Value> {
        let address = self.operand(address, Width::B64, values);
        let at = values.constant(address)?.checked_add_signed(offset)?;
        let holds = |(_, param): &(usize, &crate::Param)| {
            let start = u64::from(param.offset);
            start <= at && at + u64::from(bytes) <= start + u64::from(param.size)
        };
        let (place, param) = self.code.kernel.params.iter().enumerate().find(holds)?;
        let offset = at as u32 - param.offset;
        let node = match (self.code.given.get(place)?, bytes) {
            (Given::Param(param), _) => Node::Param { param: *param, offset, bytes },
            (Given::BufferBytes(param), 8) if offset == 0 => Node::BufferBytes(*param),
            _ => return None,
        };
        let value = values.number(node, Width::holding(bytes * 8));
        // A byte does not fill its register.
        (bytes > 1 || !signed).then(|| values.extend(value, signed, width))
    }

    /// An operation that others see, or that is no function of its operands.
    fn effect(&mut self, instruction: &Instruction, guard: Option<Value>, values: &mut Values) {
        let order = instruction.effective_order();
        match &instruction.op {
            Op::Fence if order.semantics == Semantics::Relaxed => {}
            Op::Fence if guard.is_none() => self.fence = self.fence.joined(order),
            Op::Load { d, space, bytes, signed, address, offset } if *space != Space::Param => {
                let base = self.address(*space, *address, *offset, values);
                let held = Width::holding(bytes * 8);
                // One element after the other; a byte's register is filled by the load.
                let fills = *bytes == 1 && *signed;
                let loads: Vec<Option<Value>> = (0..d.len() as u64)
                    .map(|element| {
                        d[element as usize]?;
                        let address = self.advanced(base, element * u64::from(*bytes), values);
                        let what = values.operation(format!("load {space:?} {bytes} {fills}"));
                        let event = self.push(what, guard, vec![address], instruction);
                        Some(values.number(Node::Result { pair: self.pair, event, place: 0 }, held))
                    })
                    .collect();
                for (d, value) in d.iter().zip(loads) {
                    if let (Some(d), Some(value)) = (d, value) {
                        let value = values.extend(value, *signed, self.code.kernel.width(*d));
                        self.write(*d, value, guard, values);
                    }
                }
            }
            op @ Op::Atomic { space, bytes, address, offset, b, .. } if op.is_atomic_store() => {
                let (address, width) = (self.address(*space, *address, *offset, values), Width::holding(bytes * 8));
                let value = self.operand(*b, width, values);
                let what = values.operation(format!("store {space:?} {bytes}"));
                self.push(what, guard, vec![address, value], instruction);
            }
            Op::Store { values: stored, width, space, bytes, address, offset } => {
                let base = self.address(*space, *address, *offset, values);
                for (element, value) in (0..).zip(stored) {
                    let value = self.operand(*value, *width, values);
                    let value = values.function(Function::Extract(0), &[value], Width::holding(bytes * 8).min(*width));
                    let address = self.advanced(base, element * u64::from(*bytes), values);
                    let what = values.operation(format!("store {space:?} {bytes}"));
                    self.push(what, guard, vec![address, value], instruction);
                }
            }
            op => {
                let (defs, mut args) = self.operands(op, values);
                if let Op::Atomic { space, address, offset, .. } = op {
                    args[0] = self.address(*space, *address, *offset, values);
                }
                let what = values.operation(described(op));
                let event = self.push(what, guard, args, instruction);
                for (place, d) in defs.into_iter().enumerate() {
                    let node = Node::Result { pair: self.pair, event, place };
                    let value = values.number(node, self.code.kernel.width(d));
                    self.write(d, value, guard, values);
                }
            }
        }
    }

    /// Puts a step behind the others: its number.
    fn push(&mut self, what: u32, guard: Option<Value>, args: Vec<Value>, instruction: &Instruction) -> usize {
        let (loc, mut order) = (instruction.loc, instruction.effective_order());
        // What a barrier orders beyond its block is what fences on both sides of it order.
        let mut around = MemoryOrder::WEAK;
        if let Op::Barrier { .. } | Op::WarpBarrier { .. } = instruction.op {
            std::mem::swap(&mut order, &mut around);
        }
        let fence = std::mem::replace(&mut self.fence, around).joined(around);
        self.steps.push(Step { what, guard, args, loc, order, fence });
        self.steps.len() - 1
    }

    /// An address and what is added to it. Shared and local memory have less than 2^31 bytes, so that the lower 32 bits say
    /// which of them it is: an address with others fails.
    fn address(&self, space: Space, address: Operand, offset: i64, values: &mut Values) -> Value {
        let address = self.operand(address, Width::B64, values);
        let width = if matches!(space, Space::Shared | Space::Local) { Width::B32 } else { Width::B64 };
        let address = values.extend(address, false, width);
        self.advanced(address, offset as u64, values)
    }

    fn advanced(&self, address: Value, by: u64, values: &mut Values) -> Value {
        let width = values.width(address);
        let by = values.imm(by, width);
        values.function(Function::Int(IntOp::Add, width), &[address, by], width)
    }
}

/// An operation without its registers and constants, and without what does not change what it computes.
fn described(op: &Op) -> String {
    match op {
        Op::Float { operation, components, .. } => format!("{operation:?} {components}"),
        Op::Approximate { function, format, flush, saturate, .. } => {
            format!("{function:?} {format:?} {flush} {saturate}")
        }
        Op::Convert { to, from, rounding, integral, flush, saturate, .. } => match (from, to) {
            (Scalar::Int { .. }, Scalar::Int { .. }) => format!("convert {from:?} {to:?} {saturate}"),
            (Scalar::Int { .. }, Scalar::Float(_)) => format!("convert {from:?} {to:?} {rounding:?} {saturate}"),
            (Scalar::Float(_), Scalar::Int { .. }) => format!("convert {from:?} {to:?} {rounding:?} {flush}"),
            _ => format!("convert {from:?} {to:?} {rounding:?} {integral} {flush} {saturate}"),
        },
        Op::Atomic { kind, space, bytes, d, high, .. } => {
            format!("atomic {kind:?} {space:?} {bytes} {} {}", d.is_some(), high.is_some())
        }
        op => without_operands(&format!("{op:?}")),
    }
}

/// The text of an operation with `Reg(_)` and `Imm(_)` in place of each register and constant.
fn without_operands(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = ["Reg(", "Imm("].iter().filter_map(|mark| rest.find(mark)).min() {
        short.push_str(&rest[..at + 4]);
        rest = rest[at + 4..].trim_start_matches(|character: char| character.is_ascii_digit());
    }
    short.push_str(rest);
    short
}
