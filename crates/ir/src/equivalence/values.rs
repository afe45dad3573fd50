//! Value numbering: expressions over both kernels' registers, each kept once, so that equal numbers are equal values.

use std::collections::HashMap;

use crate::{Comparand, Comparison, IntOp, Reg, Signedness, Special, Width};

/// A value: its number in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Value(u32);

/// One of the two kernels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Side {
    First,
    Second,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// A constant.
    Imm(u64),
    /// Bytes of an argument of the first kernel.
    Param { param: usize, offset: u32, bytes: u32 },
    /// How many bytes a buffer has that is an argument of the first kernel.
    BufferBytes(usize),
    /// What the launch or the lane gives.
    Special(Special),
    /// The address of a variable of the first program.
    Variable(u32),
    /// What a register holds before anything is written into it.
    Undefined(Side, Reg),
    /// What the registers of a class hold where a pair of blocks begins; the class is named by its first register.
    Join { pair: usize, side: Side, reg: Reg },
    /// What an operation that is no function of its operands gave: of a pair of blocks, in order.
    Result { pair: usize, event: usize, place: usize },
    /// A function of values.
    Function(Function, Box<[Value]>),
}

/// A function of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Function {
    Int(IntOp, Width),
    Compare(Comparison, Comparand),
    /// A predicate, the value where it is true, the value where it is false.
    Select,
    /// The low half, the high half.
    Pack,
    /// Bits from this one on.
    Extract(u32),
    ZeroExtend,
    SignExtend,
    /// Any other operation, by its number, and which of its results.
    Other(u32, usize),
}

/// All values.
#[derive(Default)]
pub(super) struct Values {
    numbers: HashMap<(Node, Width), Value>,
    nodes: Vec<(Node, Width)>,
    /// Whether a value is the same wherever the thread is: a function of arguments, constants and the thread's place.
    fixed: Vec<bool>,
    operations: HashMap<String, u32>,
}

const TRUE: Node = Node::Imm(1);
/// How deep the low part of an expression is looked for: each level may double the work.
const LOW_PARTS: usize = 6;

impl Values {
    pub(super) fn number(&mut self, node: Node, width: Width) -> Value {
        if let Some(&value) = self.numbers.get(&(node.clone(), width)) {
            return value;
        }
        let value = Value(self.nodes.len() as u32);
        self.fixed.push(match &node {
            Node::Function(_, args) => args.iter().all(|arg| self.fixed[arg.0 as usize]),
            Node::Undefined(..) | Node::Join { .. } | Node::Result { .. } => false,
            _ => true,
        });
        self.nodes.push((node.clone(), width));
        self.numbers.insert((node, width), value);
        value
    }
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }
    pub(super) fn is_fixed(&self, value: Value) -> bool {
        self.fixed[value.0 as usize]
    }
    pub(super) fn width(&self, value: Value) -> Width {
        self.nodes[value.0 as usize].1
    }
    fn node(&self, value: Value) -> &Node {
        &self.nodes[value.0 as usize].0
    }
    pub(super) fn imm(&mut self, bits: u64, width: Width) -> Value {
        self.number(Node::Imm(bits & width.mask()), width)
    }
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        match self.node(value) {
            Node::Imm(bits) => Some(*bits),
            _ => None,
        }
    }
    /// The number of an operation that is compared by what it is called.
    pub(super) fn operation(&mut self, text: String) -> u32 {
        let next = self.operations.len() as u32;
        *self.operations.entry(text).or_insert(next)
    }

    /// The operands where a value is this function.
    fn operands(&self, value: Value, function: Function) -> Option<&[Value]> {
        match self.node(value) {
            Node::Function(found, args) if *found == function => Some(args),
            _ => None,
        }
    }
    fn unary(&self, value: Value, function: Function) -> Option<Value> {
        self.operands(value, function).map(|args| args[0])
    }
    fn plain(&mut self, function: Function, args: &[Value], width: Width) -> Value {
        self.number(Node::Function(function, args.into()), width)
    }

    /// A function of values, in the form in which equal functions have equal numbers where the rules here know it.
    pub(super) fn function(&mut self, function: Function, args: &[Value], width: Width) -> Value {
        match function {
            Function::Int(op, of) => self.int(op, of, args, width),
            Function::Compare(comparison, of) => self.compare(comparison, of, args[0], args[1]),
            Function::Select => self.select(args[0], args[1], args[2]),
            Function::Pack => self.pack(args[0], args[1], width),
            Function::Extract(shift) => self.extract(args[0], shift, width),
            Function::ZeroExtend => self.extend(args[0], false, width),
            Function::SignExtend => self.extend(args[0], true, width),
            Function::Other(..) => self.plain(function, args, width),
        }
    }

    pub(super) fn not(&mut self, predicate: Value) -> Value {
        self.int(IntOp::Not, Width::Pred, &[predicate], Width::Pred)
    }

    /// What a predicate is the opposite of.
    pub(super) fn negated(&self, predicate: Value) -> Option<Value> {
        self.unary(predicate, Function::Int(IntOp::Not, Width::Pred))
    }

    pub(super) fn select(&mut self, p: Value, a: Value, b: Value) -> Value {
        if let Some(bits) = self.constant(p) {
            return if bits != 0 { a } else { b };
        }
        if a == b {
            return a;
        }
        if let Some(value) = self.guarded(p, a, b) {
            return value;
        }
        if let Some(p) = self.negated(p) {
            return self.select(p, b, a);
        }
        let width = self.width(a);
        if width == Width::Pred {
            match (self.constant(a), self.constant(b)) {
                (Some(1), Some(_)) => return p,
                (Some(_), Some(_)) => return self.not(p),
                _ => {}
            }
        }
        self.plain(Function::Select, &[p, a, b], width)
    }

    /// A quotient or a shift under a condition that a language asks for and the operation here does not need: where the
    /// condition does not hold, the other value is what the operation gives.
    fn guarded(&mut self, p: Value, a: Value, b: Value) -> Option<Value> {
        let operation = |value: Value| match self.node(value) {
            Node::Function(Function::Int(op, of), args) if args.len() == 2 => Some((*op, *of, args[0], args[1])),
            _ => None,
        };
        // By zero the quotient and the remainder are all ones.
        if let (Some((divisor, 0)), Some((op @ (IntOp::Div(_) | IntOp::Rem(_)), of, dividend, by))) =
            (self.equal_to_constant(p), operation(b))
        {
            let is_divisor = by == divisor
                || self.operands(by, Function::Select).is_some_and(|args| args[0] == p && args[2] == divisor);
            return (is_divisor && a == self.imm(u64::MAX, of)).then(|| self.int(op, of, &[dividend, divisor], of));
        }
        // By the width or more nothing is left.
        if let (Some(&[count, bits]), Some((op @ (IntOp::Shl | IntOp::Shr(Signedness::Unsigned)), of, shifted, by))) =
            (self.operands(p, Function::Compare(Comparison::Lt, Comparand::Unsigned(Width::B32))), operation(a))
        {
            let bits = self.constant(bits).filter(|bits| *bits == u64::from(of.bits()))?;
            let masked = self.operands(by, Function::Int(IntOp::And, Width::B32));
            let is_count =
                by == count || masked.is_some_and(|args| args[0] == count && self.constant(args[1]) == Some(bits - 1));
            return (is_count && self.constant(b) == Some(0)).then(|| self.int(op, of, &[shifted, count], of));
        }
        None
    }

    /// The other side of an equality of integers with a constant, and the constant.
    fn equal_to_constant(&self, p: Value) -> Option<(Value, u64)> {
        match self.node(p) {
            Node::Function(Function::Compare(Comparison::Eq, Comparand::Unsigned(_)), args) => {
                let [a, b] = [args[0], args[1]];
                self.constant(a).map(|bits| (b, bits)).or_else(|| Some((a, self.constant(b)?)))
            }
            _ => None,
        }
    }

    fn pack(&mut self, low: Value, high: Value, width: Width) -> Value {
        if let (Some(low), Some(high)) = (self.constant(low), self.constant(high)) {
            return self.imm(low | high << (width.bits() / 2), width);
        }
        if self.constant(high) == Some(0) {
            return self.extend(low, false, width);
        }
        let half = width.bits() / 2;
        let whole = self.unary(high, Function::Extract(half)).filter(|whole| self.width(*whole) == width);
        if let Some(whole) = whole.filter(|whole| self.unary(low, Function::Extract(0)) == Some(*whole)) {
            return whole;
        }
        self.plain(Function::Pack, &[low, high], width)
    }

    fn extract(&mut self, a: Value, shift: u32, width: Width) -> Value {
        let whole = self.width(a);
        if let Some(bits) = self.constant(a) {
            return self.imm(bits >> shift, width);
        }
        if shift == 0 && width == whole {
            return a;
        }
        if let Some(&[low, high]) = self.operands(a, Function::Pack) {
            let half = self.width(low);
            match shift {
                0 if width <= half => return self.extract(low, 0, width),
                _ if shift == half.bits() && width <= half => return self.extract(high, 0, width),
                _ => {}
            }
        }
        for function in [Function::ZeroExtend, Function::SignExtend] {
            if let Some(narrow) = self.unary(a, function).filter(|narrow| shift == 0 && width <= self.width(*narrow)) {
                return self.extract(narrow, 0, width);
            }
        }
        if let Some(inner) = self.unary(a, Function::Extract(0)).filter(|_| shift == 0) {
            return self.extract(inner, 0, width);
        }
        if shift == 0
            && let Some(value) = self.low_part(a, width, LOW_PARTS)
        {
            return value;
        }
        self.plain(Function::Extract(shift), &[a], width)
    }

    /// The low bits of a sum, a product or a logical operation by the low bits of its operands, a few operations deep.
    fn low_part(&mut self, a: Value, width: Width, depth: usize) -> Option<Value> {
        let Node::Function(Function::Int(op, _), args) = self.node(a) else { return None };
        let is_modular =
            matches!(op, IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Not);
        let (op, args) = (*op, args.clone());
        if !is_modular || depth == 0 {
            return None;
        }
        let parts: Vec<Value> = args
            .iter()
            .map(|&arg| match self.node(arg) {
                Node::Function(Function::Int(..), _) => self
                    .low_part(arg, width, depth - 1)
                    .unwrap_or_else(|| self.plain(Function::Extract(0), &[arg], width)),
                _ => self.extract(arg, 0, width),
            })
            .collect();
        Some(self.int(op, width, &parts, width))
    }

    pub(super) fn extend(&mut self, a: Value, signed: bool, width: Width) -> Value {
        let narrow = self.width(a);
        if narrow >= width {
            return self.extract(a, 0, width);
        }
        if let Some(bits) = self.constant(a) {
            let unused = 64 - narrow.bits();
            let bits = if signed { ((bits << unused) as i64 >> unused) as u64 } else { bits };
            return self.imm(bits, width);
        }
        let function = if signed { Function::SignExtend } else { Function::ZeroExtend };
        // What was extended by zeros has no sign.
        if let Some(inner) = self.unary(a, Function::ZeroExtend) {
            return self.extend(inner, false, width);
        }
        if let Some(inner) = self.unary(a, Function::SignExtend).filter(|_| signed) {
            return self.extend(inner, true, width);
        }
        self.plain(function, &[a], width)
    }

    fn compare(&mut self, comparison: Comparison, mut of: Comparand, a: Value, b: Value) -> Value {
        use Comparison::{Eq, Equ, Ge, Geu, Gt, Gtu, Le, Leu, Lt, Ltu, Nan, Ne, Neu, Num};
        let is_float = matches!(of, Comparand::Float { .. });
        // Of integers the unordered comparisons are the ordered ones.
        let comparison = match comparison {
            Equ if !is_float => Eq,
            Neu if !is_float => Ne,
            Ltu if !is_float => Lt,
            Leu if !is_float => Le,
            Gtu if !is_float => Gt,
            Geu if !is_float => Ge,
            other => other,
        };
        let opposite = match comparison {
            Ne if !is_float => Some(Eq),
            Ge if !is_float => Some(Lt),
            Le if !is_float => Some(Gt),
            Ne => Some(Equ),
            Neu => Some(Eq),
            Ltu => Some(Ge),
            Leu => Some(Gt),
            Gtu => Some(Le),
            Geu => Some(Lt),
            Nan => Some(Num),
            _ => None,
        };
        if let Some(opposite) = opposite {
            let found = self.compare(opposite, of, a, b);
            return self.not(found);
        }
        let (comparison, a, b) = match comparison {
            Gt => (Lt, b, a),
            Ge => (Le, b, a),
            Eq | Equ | Num if b < a => (comparison, b, a),
            other => (other, a, b),
        };
        if comparison == Eq && !is_float {
            // The sign makes no difference.
            of = match of {
                Comparand::Signed(width) => Comparand::Unsigned(width),
                other => other,
            };
            if a == b {
                return self.number(TRUE, Width::Pred);
            }
            // A predicate that was kept as a number.
            for (number, other) in [(a, b), (b, a)] {
                let Some(&[p, yes, no]) = self.operands(number, Function::Select) else { continue };
                let constants = [yes, no, other].map(|value| self.constant(value));
                if let [Some(yes), Some(no), Some(other)] = constants {
                    let [yes, no] = [yes == other, no == other].map(|is| self.imm(is.into(), Width::Pred));
                    return self.select(p, yes, no);
                }
            }
        }
        self.plain(Function::Compare(comparison, of), &[a, b], Width::Pred)
    }

    fn int(&mut self, op: IntOp, of: Width, args: &[Value], width: Width) -> Value {
        use IntOp::{Add, And, Mul, MulAdd, MulAddWide, MulHigh, MulWide, Not, Or, Shl, Sub, Xor};
        let constants: Vec<Option<u64>> = args.iter().map(|arg| self.constant(*arg)).collect();
        match (op, args, &constants[..]) {
            (Not, _, [Some(bits)]) => return self.imm(!bits, of),
            (Not, [a], _) => {
                if let Some(inner) = self.unary(*a, Function::Int(Not, of)) {
                    return inner;
                }
            }
            (Add | Sub | Mul | And | Or | Xor, _, &[Some(a), Some(b)]) => {
                let bits = match op {
                    Add => a.wrapping_add(b),
                    Sub => a.wrapping_sub(b),
                    Mul => a.wrapping_mul(b),
                    And => a & b,
                    Or => a | b,
                    _ => a ^ b,
                };
                return self.imm(bits, of);
            }
            (Sub, &[a, _], &[_, Some(b)]) => {
                let opposite = self.imm(b.wrapping_neg(), of);
                return self.int(Add, of, &[a, opposite], width);
            }
            (Shl, &[a, _], &[_, Some(count)]) => {
                let factor = if count < u64::from(of.bits()) { 1 << count } else { 0 };
                let factor = self.imm(factor, of);
                return self.int(Mul, of, &[a, factor], width);
            }
            (MulAdd, &[a, b, c], _) => {
                let product = self.int(Mul, of, &[a, b], of);
                return self.int(Add, of, &[product, c], width);
            }
            (MulAddWide(sign), &[a, b, c], _) => {
                let product = self.int(MulWide(sign), of, &[a, b], width);
                return self.int(Add, width, &[product, c], width);
            }
            (MulWide(sign), &[a, b], _) => {
                let args = [a, b].map(|value| self.extend(value, sign == Signedness::Signed, width));
                return self.int(Mul, width, &args, width);
            }
            (Add | And | Or | Xor | Mul | MulHigh(_), &[a, b], &[Some(_), None]) => {
                return self.int(op, of, &[b, a], width);
            }
            (Add, &[a, _], &[_, Some(b)]) => {
                if b == 0 {
                    return a;
                }
                // (x + constant) + constant
                if let Some(&[inner, more]) = self.operands(a, Function::Int(Add, of))
                    && let Some(more) = self.constant(more)
                {
                    let sum = self.imm(more.wrapping_add(b), of);
                    return self.int(Add, of, &[inner, sum], width);
                }
            }
            (Mul, &[a, b], &[_, Some(bits)]) => match bits {
                0 => return b,
                1 => return a,
                _ => {}
            },
            (Add | And | Or | Xor | Mul | MulHigh(_), &[a, b], [None, None]) if b < a => {
                return self.int(op, of, &[b, a], width);
            }
            _ => {}
        }
        self.plain(Function::Int(op, of), args, width)
    }
}
