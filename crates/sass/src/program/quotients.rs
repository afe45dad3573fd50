//! Roots and reciprocals that ptxas computes around the hardware's approximation: a few multiply-adds that give the
//! correctly rounded result wherever the operand is in a range, which a branch asks for. In that range they become the
//! one operation; what the other side of the branch does for the other operands stays as it is.
//!
//! Source of the sequences: ptxas 12.9 for sm_50, `sqrt.rn.f32`, `rcp.rn.f32` and `div.rn.f32` with a dividend of 1. That
//! they round correctly is computed for every significand in the tests below; the ends of the ranges are there, and
//! between them the exponent changes no step, because nothing on the way is subnormal or infinite.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::float::division;
use super::unused;

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{
    Comparand, Comparison, Function, Instruction, IntOp, Kernel, Liveness, Op, Operand, Reg, Role, Signedness,
    Terminator, Width,
};

const ONE: Value = Value::Number(0x3f80_0000);
const MINUS_ONE: Value = Value::Number(0xbf80_0000);
const HALF: Value = Value::Number(0x3f00_0000);
const ZERO: Value = Value::Number(0);

/// Puts one operation in the place of such a sequence's last one, and says that the other side of its branch is
/// unlikely, as that of every division's. A division by such a root needs no check. What then computes nothing that is
/// read stays.
pub(super) fn recognise(kernel: &mut Kernel) {
    for block in replace(kernel, |path, step| path.root(step)) {
        continue_alone(kernel, block);
    }
    replace(kernel, |path, step| path.reciprocal(step));
}

/// The blocks where sequences of a kind are one operation now. Checks that never hold are no branches any more.
fn replace(kernel: &mut Kernel, whole: fn(&Path<'_>, usize) -> Option<(Op, Condition)>) -> BTreeSet<usize> {
    let liveness = Liveness::of(kernel);
    let before = sole_predecessors(kernel);
    let (mut found, mut unlikely, mut passed) = (Vec::new(), BTreeSet::new(), Vec::new());
    for (number, block) in kernel.blocks.iter().enumerate() {
        let ends = |instruction: &Instruction| {
            let operation = if let Op::Float { operation, .. } = &instruction.op { Some(*operation) } else { None };
            instruction.guard.is_none() && operation == Some(fused(false))
        };
        let checks = |instruction: &Instruction| {
            matches!(instruction.op, Op::Int { op: IntOp::Max(Signedness::Unsigned), width: Width::B32, .. })
        };
        if !block.instructions.iter().any(|instruction| ends(instruction) || checks(instruction)) {
            continue;
        }
        let path = Path::to(kernel, &liveness, &before, number);
        for step in path.last..path.steps.len() {
            if ends(path.steps[step])
                && let Some((op, condition)) = whole(&path, step)
            {
                found.push((number, step - path.last, op));
                unlikely.insert((condition.block, condition.otherwise));
            }
        }
        let own = path.conditions.iter().find(|is| !is.expected && is.is_last);
        if let Some(check) = own.filter(|is| path.checked(is.predicate).is_some()) {
            unlikely.insert((check.block, check.otherwise));
            if path.never_holds(check.predicate) {
                passed.push((number, check.otherwise));
            }
        }
    }
    let replaced = found.iter().map(|(block, ..)| *block).collect();
    for (block, at, op) in found {
        kernel.blocks[block].instructions[at].op = op;
    }
    for (block, not) in passed {
        let terminator = &mut kernel.blocks[block].terminator;
        if let Some(next) = terminator.successors().into_iter().find(|next| *next != not) {
            *terminator = Terminator::Jump(next);
        }
    }
    // What else leads there may be likely.
    kernel.unlikely.extend(unlikely.into_iter().filter(|&(from, to)| before[to] == Some(from)).map(|(_, to)| to));
    replaced
}

/// A block that jumps to one where other paths join does itself what is done there, if that is a little arithmetic: of
/// its own values more is known. Lanes then meet behind it.
fn continue_alone(kernel: &mut Kernel, block: usize) {
    const MOST: usize = 64;
    let Terminator::Jump(next) = kernel.blocks[block].terminator else { return };
    let joined = &kernel.blocks[next];
    let is_alike = |instruction: &Instruction| unused::computes_alone(&instruction.op);
    let ends = matches!(joined.terminator, Terminator::Branch { .. });
    if next != block && ends && joined.instructions.len() <= MOST && joined.instructions.iter().all(is_alike) {
        let (instructions, terminator) = (joined.instructions.clone(), joined.terminator.clone());
        let block = &mut kernel.blocks[block];
        block.instructions.extend(instructions);
        block.terminator = terminator;
    }
}

/// `a × b + c` of f32 rounded to nearest, or `−a × b + c`.
fn fused(negated: bool) -> Operation {
    Operation { negate_product: negated, ..Operation::new(ArithOp::MulAdd, Format::F32, Rounding::NearestEven) }
}
/// `a × b` of f32 rounded to nearest, flushed.
fn flushed_product() -> Operation {
    Operation { flush: true, ..Operation::new(ArithOp::Mul, Format::F32, Rounding::NearestEven) }
}
/// `−a − b` of the same.
fn flushed_negation() -> Operation {
    let sum = Operation::new(ArithOp::Add, Format::F32, Rounding::NearestEven);
    Operation { flush: true, negate_product: true, negate_addend: true, ..sum }
}

/// By block, the only block that leads to it.
fn sole_predecessors(kernel: &Kernel) -> Vec<Option<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new(); kernel.blocks.len()];
    // The kernel begins at the first one.
    all[0].push(usize::MAX);
    for (from, block) in kernel.blocks.iter().enumerate() {
        for next in block.terminator.successors() {
            if all[next].len() < 2 {
                all[next].push(from);
            }
        }
    }
    let only =
        |from: Vec<usize>| if let [only] = from[..] { Some(only).filter(|&from| from != usize::MAX) } else { None };
    all.into_iter().map(only).collect()
}

/// What an instruction of a path reads: a number, or what a register holds since a step of the path, or since before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Value {
    Number(u64),
    Held(Reg, Option<usize>),
}

/// What a branch says of the code of the last block.
#[derive(Clone, Copy)]
struct Condition {
    predicate: Value,
    expected: bool,
    /// The branch's block.
    block: usize,
    /// The block that follows where the condition does not hold.
    otherwise: usize,
    /// It is the last block's own branch: before that the code runs whatever it says.
    is_last: bool,
}

/// A block, and before it the blocks that alone lead to it, at most two.
struct Path<'a> {
    kernel: &'a Kernel,
    liveness: &'a Liveness,
    steps: Vec<&'a Instruction>,
    /// The first step of the last block.
    last: usize,
    /// By step, where each register that it reads was written.
    reads: Vec<Vec<(Reg, Option<usize>)>>,
    /// By register, the steps that write it.
    writes: HashMap<Reg, Vec<usize>>,
    /// What the last block writes and reads.
    is_read: HashSet<(Reg, usize)>,
    conditions: Vec<Condition>,
}

impl<'a> Path<'a> {
    fn to(kernel: &'a Kernel, liveness: &'a Liveness, before: &[Option<usize>], block: usize) -> Path<'a> {
        let mut blocks = vec![block];
        while let (Some(from), true) = (before[blocks[blocks.len() - 1]], blocks.len() < 3) {
            if blocks.contains(&from) {
                break;
            }
            blocks.push(from);
        }
        blocks.reverse();
        let mut path = Path {
            kernel,
            liveness,
            steps: Vec::new(),
            last: 0,
            reads: Vec::new(),
            writes: HashMap::new(),
            is_read: HashSet::new(),
            conditions: Vec::new(),
        };
        for (place, &number) in blocks.iter().enumerate() {
            path.last = path.steps.len();
            let block = &kernel.blocks[number];
            block.instructions.iter().for_each(|instruction| path.add(instruction));
            if let Terminator::Branch { pred, then, otherwise } = block.terminator
                && then != otherwise
            {
                let predicate = path.held(pred);
                let next = blocks.get(place + 1).copied();
                let sides = [(true, then, otherwise), (false, otherwise, then)];
                let known = sides.into_iter().filter(|&(_, to, _)| next.is_none_or(|next| next == to));
                path.conditions.extend(known.map(|(expected, _, otherwise)| Condition {
                    predicate,
                    expected,
                    block: number,
                    otherwise,
                    is_last: next.is_none(),
                }));
            }
        }
        path
    }

    fn add(&mut self, instruction: &'a Instruction) {
        let step = self.steps.len();
        let mut reads = Vec::new();
        let mut read = |path: &mut Path<'_>, register: Reg| {
            let written = path.writes.get(&register).and_then(|all| all.last()).copied();
            reads.push((register, written));
            if let Some(written) = written.filter(|written| *written >= path.last) {
                path.is_read.insert((register, written));
            }
        };
        if let Some(guard) = &instruction.guard {
            read(self, guard.pred);
            // What is written under a guard may also be what was there before.
            instruction.op.registers(|role, register| {
                if role == Role::Def {
                    read(self, register);
                }
            });
        }
        instruction.op.registers(|role, register| {
            if role == Role::Use {
                read(self, register);
            }
        });
        instruction.op.registers(|role, register| {
            if role == Role::Def {
                self.writes.entry(register).or_default().push(step);
            }
        });
        self.reads.push(reads);
        self.steps.push(instruction);
    }

    /// What a register holds after the steps so far.
    fn held(&self, register: Reg) -> Value {
        Value::Held(register, self.writes.get(&register).and_then(|all| all.last()).copied())
    }
    /// An operand of a step, copies read through.
    fn value(&self, step: usize, operand: Operand) -> Option<Value> {
        let Operand::Reg(register) = operand else { return Some(number(operand, Width::B32)) };
        let &(_, written) = self.reads[step].iter().find(|(read, _)| *read == register)?;
        Some(self.source(Value::Held(register, written)))
    }
    /// What a value is a copy of.
    fn source(&self, mut value: Value) -> Value {
        while let Some((step, &Op::Move { d, a })) = self.made(value) {
            value = match a {
                Operand::Imm(_) => return number(a, self.kernel.width(d)),
                Operand::Reg(from) if self.kernel.width(from) != self.kernel.width(d) => return value,
                Operand::Reg(from) => match self.reads[step].iter().find(|(read, _)| *read == from) {
                    Some(&(_, written)) => Value::Held(from, written),
                    None => return value,
                },
            };
        }
        value
    }
    /// The step that made a value, whatever its predicate was.
    fn made(&self, value: Value) -> Option<(usize, &'a Op)> {
        let Value::Held(_, Some(step)) = value else { return None };
        let Instruction { op, guard, .. } = self.steps[step];
        guard.is_none().then_some((step, op))
    }

    /// The operands of such an operation on f32.
    fn float(&self, value: Value, wanted: Operation) -> Option<[Value; 3]> {
        let (step, op) = self.made(value)?;
        self.operands(step, op, wanted)
    }
    fn operands(&self, step: usize, op: &Op, wanted: Operation) -> Option<[Value; 3]> {
        match op {
            Op::Float { operation, components: 1, args, .. } if *operation == wanted => {
                let [a, b, c] = args.map(|arg| self.value(step, arg));
                let c = if operation.op.arity() == 3 { c } else { Some(ZERO) };
                Some([a?, b?, c?])
            }
            _ => None,
        }
    }
    /// The argument of an approximation as `MUFU` makes it.
    fn approximated(&self, value: Value, wanted: Function) -> Option<Value> {
        match self.made(value)? {
            (step, &Op::Approximate { function, format: Format::F32, flush: true, saturate: false, a, .. })
                if function == wanted =>
            {
                self.value(step, a)
            }
            _ => None,
        }
    }
    /// The operands of an integer operation.
    fn int(&self, value: Value, wanted: IntOp, of: Width) -> Option<[Value; 2]> {
        match self.made(value)? {
            (step, Op::Int { op, width, args, .. }) if (*op, *width) == (wanted, of) => {
                Some([self.value(step, args[0])?, self.value(step, args[1])?])
            }
            _ => None,
        }
    }
    /// What a predicate says to be above a number, without signs.
    fn above(&self, predicate: Value, wanted: u64) -> Option<Value> {
        match self.made(self.source(predicate))? {
            (step, &Op::Compare { comparison: Comparison::Gt, of: Comparand::Unsigned(Width::B32), a, b, .. })
                if self.value(step, b) == Some(Value::Number(wanted)) =>
            {
                self.value(step, a)
            }
            _ => None,
        }
    }

    /// A condition that says this and holds wherever the result of a step is read.
    fn condition(&self, step: usize, says: impl Fn(Value, bool) -> bool) -> Option<Condition> {
        let holds = |is: &&Condition| {
            let reaches = !is.is_last || !self.is_read_from(step, is.otherwise);
            reaches && says(is.predicate, is.expected)
        };
        self.conditions.iter().find(holds).copied()
    }
    /// Whether the result of a step of the last block may be read in it, or from the start of a block on.
    fn is_read_from(&self, step: usize, block: usize) -> bool {
        let mut is_read = false;
        self.steps[step].op.registers(|role, register| {
            let is_live =
                |bit: usize| self.liveness.before(block).is_none_or(|live| live[bit / 64] >> (bit % 64) & 1 == 1);
            is_read |= role == Role::Def
                && (self.is_read.contains(&(register, step)) || self.liveness.bit(register).is_some_and(is_live));
        });
        is_read
    }
    /// A value as an operand of a step, if its register still holds it there.
    fn operand(&self, step: usize, value: Value) -> Option<Operand> {
        let Value::Held(register, written) = value else { return None };
        let writes = self.writes.get(&register).map_or(&[][..], |all| all);
        let now = writes[..writes.partition_point(|&write| write < step)].last().copied();
        (now == written).then_some(register.into())
    }

    /// √x: g = x r and h = r / 2 for r = 1 / √x approximated; (x − g g) h + g. The operand is at least 2^-101.
    fn root(&self, step: usize) -> Option<(Op, Condition)> {
        let &Op::Float { d, .. } = &self.steps[step].op else { return None };
        let [p, q, g] = self.operands(step, &self.steps[step].op, fused(false))?;
        let [factor, other, _] = self.float(g, flushed_product())?;
        let of = |e: Value, h: Value| {
            let [g1, g2, x] = self.float(e, fused(true))?;
            let r = beside([factor, other], x)?;
            let [half, by, _] = self.float(h, flushed_product())?;
            let fits = (g1, g2) == (g, g)
                && beside([half, by], r) == Some(HALF)
                && self.approximated(r, Function::ReciprocalSquareRoot) == Some(x);
            fits.then_some(x)
        };
        let x = of(p, q).or_else(|| of(q, p))?;
        let is_in_range = |predicate, expected: bool| !expected && self.not_above(predicate) == Some(x);
        let condition = self.condition(step, is_in_range)?;
        let (format, rounding) = (Format::F32, Rounding::NearestEven);
        let root = Op::SquareRoot { d, format, rounding, flush: false, a: self.operand(step, x)? };
        Some((root, condition))
    }

    /// What a predicate that does not hold says of x, that it is at least 2^-101.
    fn not_above(&self, predicate: Value) -> Option<Value> {
        let sum = self.int(self.above(predicate, 0x727f_ffff)?, IntOp::Add, Width::B32)?;
        beside(sum, Value::Number(0xf300_0000))
    }
    /// Whether a predicate is never true, by the least and the most of what it compares.
    fn never_holds(&self, predicate: Value) -> bool {
        /// Operations that are looked through.
        const DEEPEST: u32 = 8;
        let above = self.above(predicate, division::ROOM.into());
        let bounds = above.and_then(|above| self.bounds(above, DEEPEST));
        bounds.is_some_and(|(_, most)| most <= division::ROOM)
    }
    fn bounds(&self, value: Value, deepest: u32) -> Option<(u32, u32)> {
        /// Of the exponent of a root of what is at least 2^-101: from -51 to 63.
        const ROOTS: (u32, u32) = (76 << 23, 190 << 23);
        if let Value::Number(bits) = value {
            return Some((bits as u32, bits as u32));
        }
        let both = |op| {
            let [a, b] = self.int(value, op, Width::B32)?;
            let deepest = deepest.checked_sub(1)?;
            Some((self.bounds(a, deepest)?, self.bounds(b, deepest)?))
        };
        if let Some(masked) = self.int(value, IntOp::And, Width::B32) {
            let of = beside(masked, Value::Number(division::EXPONENT.into()))?;
            return match of {
                Value::Number(bits) => Some((bits as u32 & division::EXPONENT, bits as u32 & division::EXPONENT)),
                Value::Held(..) => self.is_moderate_root(of).then_some(ROOTS),
            };
        }
        if let Some(((a, b), (c, d))) = both(IntOp::Add) {
            return Some((a.checked_add(c)?, b.checked_add(d)?));
        }
        if let Some(((a, b), (c, d))) = both(IntOp::Sub) {
            return Some((a.checked_sub(d)?, b.checked_sub(c)?));
        }
        both(IntOp::Max(Signedness::Unsigned)).map(|((a, b), (c, d))| (a.max(c), b.max(d)))
    }
    /// Whether a value is a root that was recognised, of a number that is at least 2^-101 in all of the last block.
    fn is_moderate_root(&self, value: Value) -> bool {
        let Some((step, &Op::SquareRoot { format: Format::F32, flush: false, a, .. })) = self.made(value) else {
            return false;
        };
        let x = self.value(step, a);
        let says = |is: &Condition| !is.is_last && !is.expected && x.is_some() && self.not_above(is.predicate) == x;
        self.conditions.iter().any(says)
    }

    /// 1 / b in one of two ways. Neither b nor the quotient is subnormal.
    fn reciprocal(&self, step: usize) -> Option<(Op, Condition)> {
        let &Op::Float { d, .. } = &self.steps[step].op else { return None };
        let by_division = || {
            let b = self.divisor(step)?;
            let is_checked = |predicate, expected: bool| !expected && self.checked(predicate) == Some(b);
            Some((b, self.condition(step, is_checked)?))
        };
        let by_reciprocal = || {
            let b = self.reciprocal_operand(step)?;
            let is_in_range = |predicate, expected: bool| expected && self.in_range(predicate) == Some(b);
            Some((b, self.condition(step, is_in_range)?))
        };
        let (b, condition) = by_division().or_else(by_reciprocal)?;
        let (format, rounding) = (Format::F32, Rounding::NearestEven);
        let one = Operand::Imm(Format::F32.one());
        let quotient = Op::Divide { d, format, rounding, flush: false, a: one, b: self.operand(step, b)? };
        Some((quotient, condition))
    }
    /// b of 1 / b as a division: y = (1 − r b) r + r for r = 1 / b approximated, z = y × 1; (1 − z b) y + z.
    fn divisor(&self, step: usize) -> Option<Value> {
        let [p, q, z] = self.operands(step, &self.steps[step].op, fused(false))?;
        let [y, one, zero] = self.float(z, fused(false))?;
        let y = beside([y, one], ONE).filter(|_| zero == ZERO)?;
        let [z1, b, dividend] = self.float(beside([p, q], y)?, fused(true))?;
        let b = beside([z1, b], z).filter(|_| dividend == ONE)?;
        let [e, r1, r] = self.float(y, fused(false))?;
        let [r2, b1, one] = self.float(beside([e, r1], r)?, fused(true))?;
        let fits =
            beside([r2, b1], r) == Some(b) && one == ONE && self.approximated(r, Function::Reciprocal) == Some(b);
        fits.then_some(b)
    }
    /// The same as a reciprocal: r − (r b − 1) r for r = 1 / b approximated.
    fn reciprocal_operand(&self, step: usize) -> Option<Value> {
        let [p, q, r] = self.operands(step, &self.steps[step].op, fused(false))?;
        let [e, zero, _] = self.float(beside([p, q], r)?, flushed_negation())?;
        let [b, r1, minus_one] = self.float(e, fused(false))?;
        let b = beside([b, r1], r)?;
        let fits = zero == ZERO && minus_one == MINUS_ONE && self.approximated(r, Function::Reciprocal) == Some(b);
        fits.then_some(b)
    }
    /// What a predicate that holds says of b, that neither it nor 1 / b is subnormal: its exponent's field is from 1 to 252.
    fn in_range(&self, predicate: Value) -> Option<Value> {
        let masked = self.int(self.above(predicate, 0x01ff_ffff)?, IntOp::And, Width::B32)?;
        let sum = self.int(beside(masked, Value::Number(0x7f80_0000))?, IntOp::Add, Width::B32)?;
        beside(sum, Value::Number(0x0180_0000))
    }
    /// The same of a predicate that does not hold: `FCHK`, as `float` lowers it, where the greatest of several numbers
    /// is not above what each may be.
    fn checked(&self, predicate: Value) -> Option<Value> {
        /// More than `FCHK` has.
        const MOST: usize = 8;
        let least = Value::Number(division::DIVISOR.into());
        let divisor = |field| {
            let [exponent, from] = self.int(field, IntOp::Sub, Width::B32)?;
            let masked = self.int(exponent, IntOp::And, Width::B32).filter(|_| from == least)?;
            beside(masked, Value::Number(division::EXPONENT.into()))
        };
        let mut todo = vec![self.above(predicate, division::ROOM.into())?];
        for _ in 0..MOST {
            let next = todo.pop()?;
            match self.int(next, IntOp::Max(Signedness::Unsigned), Width::B32) {
                Some(both) => todo.extend(both),
                None => match divisor(next) {
                    None => {}
                    found => return found,
                },
            }
        }
        None
    }
}

fn number(operand: Operand, width: Width) -> Value {
    match operand {
        Operand::Imm(bits) => Value::Number(bits & width.mask()),
        Operand::Reg(register) => Value::Held(register, None),
    }
}
/// Of two factors or summands the one beside this one.
fn beside([a, b]: [Value; 2], one: Value) -> Option<Value> {
    if a == one {
        Some(b)
    } else if b == one {
        Some(a)
    } else {
        None
    }
}

#[cfg(test)]
#[path = "quotients_tests.rs"]
mod tests;
