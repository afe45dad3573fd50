//! Blocks: the code along every path, with what `SYNC`, `BRK`, `CONT` and `RET` return to.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use roundonce_ir::{
    Block, Comparand, Comparison, Guard, Instruction as Step, IntOp, Kernel, Liveness, Op, Operand as Arg, Reg, Role,
    SourceLoc, Terminator, Variable, Width, too_large,
};
use roundonce_isa::{Finding, Location};

use super::Words;
use super::body::{B32, Body, TRUE};
use super::hazards::{Checked, Trace};
use super::hints::Predicates;
use crate::instruction::{Instruction, Operand, PT, Value};
use crate::print::Style;
use crate::rules;

/// What was pushed, and by what it is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Sync,
    Break,
    Continue,
    Call,
}

/// The targets that are pushed, the last one on top.
type Stack = Rc<Vec<(Kind, usize)>>;

/// Deeper than compiled code that calls itself not goes.
const DEEPEST: usize = 48;
/// `CC.T`: the condition codes are not asked.
const ALWAYS: u16 = 15;

/// A block that is to be built: the number of its first word, and the stack there.
type Place = (usize, Stack);

pub(super) struct Flow<'a, 'b> {
    body: Body<'b>,
    code: Words<'a>,
    /// Where the code begins in the file, in words.
    first: usize,
    largest: usize,
    /// Numbers of words that a branch leads to.
    targets: BTreeSet<usize>,
    /// Accesses whose predicate the last `LEA` before them wrote.
    hinted: BTreeSet<usize>,
    predicates: Predicates,
    /// Registers whose bits are not all known behind a block, and its number.
    half_known: Vec<(Reg, usize)>,
    blocks: BTreeMap<Place, usize>,
    waiting: Vec<(Place, usize)>,
    findings: Vec<Finding>,
    steps: usize,
    /// The block that is built.
    number: usize,
    /// What instructions read and write, where that is asked.
    trace: Option<Trace>,
}

/// How an instruction ends a block.
enum End {
    /// It does not.
    None,
    Jump(Place),
    /// Where the lanes of the guard go, and that they end where it is nowhere.
    Leave,
    /// To one of several, by the value of a register.
    Choose(Reg, Vec<(u32, Place)>),
}

/// The kernel with its blocks, and the memory that it reads beside its arguments.
pub(super) fn lower(
    body: Body<'_>,
    code: Words<'_>,
    offset: usize,
    largest: usize,
) -> Result<(Kernel, Vec<Variable>), Vec<Finding>> {
    let (mut flow, start) = build(body, code, offset, largest, None)?;
    flow.check_hints();
    flow.check_half_known();
    if !flow.findings.is_empty() {
        flow.findings.sort_by_key(|finding| match finding.location {
            Location::Word(word) => word,
            _ => 0,
        });
        flow.findings.dedup();
        return Err(flow.findings);
    }
    Ok(flow.finish(start))
}

/// What comes too early in the code, or why that is not said.
pub(super) fn hazards(body: Body<'_>, code: Words<'_>, offset: usize, largest: usize) -> Vec<Finding> {
    let mut flow = match build(body, code, offset, largest, Some(Trace::default())) {
        Ok((flow, _)) => flow,
        Err(findings) => return findings,
    };
    flow.body.kernel.blocks[0].terminator = Terminator::Jump(1);
    let (kernel, first) = (&flow.body.kernel, flow.first);
    let checked = Checked { code, kernel, trace: flow.trace.unwrap_or_default(), first };
    match checked.trace.lost {
        None => checked.findings(),
        Some(at) => {
            let message = format!(
                "kernel `{}`: where {:#06x} leads is not known: its scheduling is not checked",
                kernel.name,
                8 * at
            );
            vec![rules::UNCHECKED.finding(Location::Word(first + at), message)]
        }
    }
}

fn build<'a, 'b>(
    body: Body<'b>,
    code: Words<'a>,
    offset: usize,
    largest: usize,
    trace: Option<Trace>,
) -> Result<(Flow<'a, 'b>, usize), Vec<Finding>> {
    let mut flow = Flow {
        body,
        code,
        first: offset / 8,
        largest,
        targets: BTreeSet::new(),
        hinted: BTreeSet::new(),
        predicates: Predicates::default(),
        half_known: Vec::new(),
        blocks: BTreeMap::new(),
        waiting: Vec::new(),
        findings: Vec::new(),
        steps: 0,
        number: 0,
        trace,
    };
    flow.body.is_traced = flow.trace.is_some();
    flow.find_targets();
    // Block 0 is what is computed before.
    flow.push_block();
    let start = flow.block((1, Stack::default()));
    while let Some((place, number)) = flow.waiting.pop() {
        flow.body.begin_block();
        flow.number = number;
        let (terminator, loc) = flow.run(place);
        flow.half_known.extend(flow.body.half_known().into_iter().map(|reg| (reg, number)));
        let instructions = flow.body.take_code();
        flow.steps += instructions.len() + 1;
        if flow.steps > flow.largest {
            let (what, help) = too_large(flow.largest);
            return Err(vec![rules::UNMEASURED.finding(Location::Whole, format!("{what} is not run")).help(help)]);
        }
        flow.body.kernel.blocks[number] = Block { instructions, terminator, loc };
    }
    Ok((flow, start))
}

impl Flow<'_, '_> {
    /// The instruction at a word; past the end and in the place of a control word there is none.
    fn instruction(&self, at: usize) -> Option<Instruction> {
        if at.is_multiple_of(4) {
            return None;
        }
        self.code.instruction(at)
    }
    /// The number of the word that a branch's operand means: a bundle's first instruction is behind its control word.
    fn target(at: usize, operand: &Operand) -> Option<usize> {
        let Value::Relative(distance) = operand.value else { return None };
        let address = (8 * (at as i64 + 1)).checked_add(i64::from(distance))?;
        Flow::word(usize::try_from(address).ok()?)
    }
    fn word(address: usize) -> Option<usize> {
        let word = address / 8;
        address.is_multiple_of(8).then_some(if word.is_multiple_of(4) { word + 1 } else { word })
    }
    fn find_targets(&mut self) {
        let mut of_lea = [false; 8];
        for at in 0..self.code.words.len() {
            let Some(instruction) = self.instruction(at) else { continue };
            let name = instruction.mnemonic();
            for (place, operand) in instruction.operands().iter().enumerate() {
                match operand.value {
                    Value::Predicate(number @ 0..PT) if place < 2 => of_lea[usize::from(number)] = name == "LEA",
                    Value::Predicate(number) if matches!(name, "LD" | "ST") && of_lea[usize::from(number)] => {
                        self.hinted.insert(at);
                    }
                    _ => {}
                }
            }
            self.targets.extend(instruction.operands().iter().filter_map(|operand| Flow::target(at, operand)));
        }
        let jumps = self.body.info.jumps.iter().flat_map(|(_, targets)| targets);
        self.targets.extend(jumps.filter_map(|address| Flow::word(*address as usize)));
    }

    fn push_block(&mut self) -> usize {
        let blocks = &mut self.body.kernel.blocks;
        blocks.push(Block { instructions: Vec::new(), terminator: Terminator::Exit, loc: 0 });
        blocks.len() - 1
    }
    /// The block of a place, to be built if it is new.
    fn block(&mut self, place: Place) -> usize {
        if let Some(number) = self.blocks.get(&place) {
            return *number;
        }
        let number = self.push_block();
        self.blocks.insert(place.clone(), number);
        self.waiting.push((place, number));
        number
    }

    fn refuse(&mut self, at: usize, message: String) {
        self.findings.push(rules::UNMEASURED.finding(Location::Word(self.first + at), message));
    }

    /// The code from a place on, until something leads elsewhere.
    fn run(&mut self, (mut at, mut stack): Place) -> (Terminator, u32) {
        let mut is_first = true;
        loop {
            if at.is_multiple_of(4) {
                at += 1;
            }
            if !is_first && self.targets.contains(&at) {
                let next = self.block((at, stack));
                return (Terminator::Jump(next), 0);
            }
            is_first = false;
            let Some(instruction) = self.instruction(at) else {
                let address = 8 * at;
                let message = match self.code.words.get(at) {
                    Some(word) => format!("{word:#018x} at {address:#06x} is no instruction, and is not run"),
                    None => format!("the code runs past its end at {address:#06x}, and is not run"),
                };
                self.refuse(at, message);
                return (Terminator::Exit, 0);
            };
            let mut text = String::new();
            instruction.write_body_at(8 * at as u64, Style::Exact, None, &mut text);
            let locs = &mut self.body.kernel.source_locs;
            let loc = SourceLoc { line: 8 * at as u32, text, source: String::new(), span: 0..0 };
            if locs.last() != Some(&loc) {
                locs.push(loc);
            }
            let loc = locs.len() as u32 - 1;
            let guard = instruction.guard();
            if guard.predicate == PT && guard.negated {
                at += 1;
                continue;
            }
            self.body.loc = loc;
            self.body.guard = (guard.predicate != PT)
                .then(|| Guard { pred: self.body.predicate(guard.predicate), expected: !guard.negated });
            let (lowered, asked) = (self.body.code.len(), self.body.guard);
            let end = match self.control(at, &instruction, &mut stack) {
                Some(Some(end)) => Some(end),
                Some(None) => None,
                None => {
                    self.body.is_hinted = self.hinted.contains(&at);
                    let lowered = self.body.instruction(&instruction);
                    let lowered = if self.body.took_saved() { None } else { lowered };
                    lowered.map(|()| End::None)
                }
            };
            if let Some(trace) = &mut self.trace {
                trace.record(&self.body, self.number, at, &self.body.code[lowered..], asked);
                match &end {
                    Some(End::Choose(value, _)) => trace.read(at, *value),
                    // Instructions of the control flow.
                    None if matches!(self.code.words[at] >> 56, 0xe2 | 0xe3) => trace.lost = Some(at),
                    _ => {}
                }
            }
            self.predicates.record(&self.body, self.number, at, guard, lowered);
            self.body.hint = None;
            let next = (at + 1, stack.clone());
            match (end, self.body.guard) {
                (None, _) => {
                    let text = &self.body.kernel.source_locs[loc as usize].text;
                    let mut message = format!("`{}` at {:#06x} is not run", text.trim(), 8 * at);
                    if stack.len() >= DEEPEST {
                        message += &format!(": {DEEPEST} regions and calls have been entered before it and not left");
                    }
                    self.refuse(at, message);
                }
                (Some(End::None), _) => {}
                (Some(End::Leave), None) => return (Terminator::Exit, loc),
                (Some(End::Leave), Some(Guard { pred, expected })) => {
                    let (end, here) = (self.push_block(), self.block(Flow::normal(next)));
                    let (then, otherwise) = if expected { (end, here) } else { (here, end) };
                    return (Terminator::Branch { pred, then, otherwise }, loc);
                }
                (Some(End::Jump(place)), None) => {
                    let target = self.block(place);
                    return (Terminator::Jump(target), loc);
                }
                (Some(End::Jump(place)), Some(Guard { pred, expected })) => {
                    let (there, here) = (self.block(place), self.block(Flow::normal(next)));
                    let (then, otherwise) = if expected { (there, here) } else { (here, there) };
                    return (Terminator::Branch { pred, then, otherwise }, loc);
                }
                (Some(End::Choose(value, targets)), _) => return (self.choose(value, targets), loc),
            }
            at += 1;
        }
    }

    /// Nothing but generic accesses reads what no source says.
    fn check_hints(&mut self) {
        for (at, by) in self.predicates.hints_read(&self.body) {
            let (text, by) = (self.code.text(at), 8 * by);
            let hint = format!("reads the predicate that is written at {by:#06x}, a hint for generic accesses");
            self.refuse(at, format!("`{text}` at {:#06x} {hint}: that is not run", 8 * at));
        }
    }

    /// Another block reads nothing of kept condition codes but the carry, and no count of carries.
    fn check_half_known(&mut self) {
        let blocks = &self.body.kernel.blocks;
        let mut left = std::mem::take(&mut self.half_known);
        left.sort_by_key(|(reg, _)| reg.0);
        let mut locs = BTreeSet::new();
        for group in left.chunk_by(|(one, _), (other, _)| one == other) {
            let reg = group[0].0;
            let mut seen = vec![false; blocks.len()];
            let successors = |block: usize| blocks[block].terminator.successors();
            let mut waiting: Vec<usize> = group.iter().flat_map(|&(_, block)| successors(block)).collect();
            while let Some(block) = waiting.pop() {
                if std::mem::replace(&mut seen[block], true) {
                    continue;
                }
                let mut is_written = false;
                for step in &blocks[block].instructions {
                    let mut is_read = false;
                    step.op.registers(|role, found| match role {
                        Role::Use => is_read |= found == reg,
                        Role::Def => is_written |= found == reg && step.guard.is_none(),
                    });
                    if is_read && !super::moves::asks_for_carry(&step.op) {
                        locs.insert(step.loc);
                    }
                    if is_written {
                        break;
                    }
                }
                if !is_written {
                    waiting.extend(successors(block));
                }
            }
        }
        for loc in locs {
            let SourceLoc { line, text, .. } = &self.body.kernel.source_locs[loc as usize];
            let message = format!("`{}` at {line:#06x} reads condition codes that another block left", text.trim());
            self.refuse(*line as usize / 8, format!("{message}: that is not run"));
        }
    }

    fn normal((at, stack): Place) -> Place {
        (if at.is_multiple_of(4) { at + 1 } else { at }, stack)
    }

    /// What an instruction does to the control flow: `None` where it is none of those that do, `Some(None)` where it is
    /// not run.
    fn control(&mut self, at: usize, instruction: &Instruction, stack: &mut Stack) -> Option<Option<End>> {
        let operands = instruction.operands();
        let last = operands.last();
        let tests = |operand: &Operand| matches!(operand.value, Value::Name(_, code) if code != ALWAYS);
        let relative = || last.and_then(|operand| Flow::target(at, operand));
        let (push, takes) = match instruction.mnemonic() {
            "SSY" => (Some(Kind::Sync), None),
            "PBK" => (Some(Kind::Break), None),
            "PCNT" => (Some(Kind::Continue), None),
            "SYNC" => (None, Some(Kind::Sync)),
            "BRK" => (None, Some(Kind::Break)),
            "CONT" => (None, Some(Kind::Continue)),
            "RET" => (None, Some(Kind::Call)),
            "BRA" | "CAL" | "EXIT" | "BRX" => (None, None),
            _ => return None,
        };
        if let Some(Operand { value: Value::Name(name, _), .. }) = operands.iter().find(|operand| tests(operand))
            && self.test(name).is_none()
        {
            return Some(None);
        }
        if let Some(kind) = push {
            return Some(relative().and_then(|target| Flow::push(stack, kind, target)).map(|()| End::None));
        }
        if let Some(kind) = takes {
            // What was pushed above is left.
            let place = stack.iter().rposition(|(pushed, _)| *pushed == kind);
            return Some(place.map(|place| End::Jump((stack[place].1, Rc::new(stack[..place].to_vec())))));
        }
        Some(match instruction.mnemonic() {
            "BRA" => relative().map(|target| End::Jump((target, stack.clone()))),
            "CAL" => relative().and_then(|target| {
                let mut called = stack.clone();
                let (next, _) = Flow::normal((at + 1, stack.clone()));
                // A function that calls itself has no stack that is known.
                if called.contains(&(Kind::Call, next)) {
                    return None;
                }
                Flow::push(&mut called, Kind::Call, next)?;
                Some(End::Jump((target, called)))
            }),
            "EXIT" => Some(End::Leave),
            _ => self.jump(at, last, stack),
        })
    }

    /// The guard together with what is asked of the condition codes.
    fn test(&mut self, name: &str) -> Option<()> {
        let mut holds = self.body.asked(name.strip_prefix("CC.")?)?;
        if let Some(Guard { pred, expected }) = self.body.guard {
            let guard = if expected { pred } else { self.body.int(IntOp::Not, Width::Pred, &[pred.into()]) };
            holds = self.body.int(IntOp::And, Width::Pred, &[holds, guard.into()]).into();
        }
        let pred = self.body.int(IntOp::And, Width::Pred, &[holds, TRUE]);
        self.body.guard = Some(Guard { pred, expected: true });
        Some(())
    }

    fn push(stack: &mut Stack, kind: Kind, target: usize) -> Option<()> {
        if stack.len() >= DEEPEST {
            return None;
        }
        Rc::make_mut(stack).push((kind, target));
        Some(())
    }

    /// `BRX`: the cubin says where it may lead.
    fn jump(&mut self, at: usize, operand: Option<&Operand>, stack: &Stack) -> Option<End> {
        let Value::RegisterPlus { register, offset } = operand?.value else { return None };
        let (_, targets) = self.body.info.jumps.iter().find(|(place, _)| *place as usize == 8 * at)?;
        if self.body.guard.is_some() {
            return None;
        }
        let base = (8 * (at as u32 + 1)).wrapping_add_signed(offset);
        let mut places = Vec::new();
        for address in targets {
            let place = (Flow::word(*address as usize)?, stack.clone());
            places.push((address.wrapping_sub(base), place.clone()));
            // A label before a bundle's first instruction may mean the bundle.
            if address % 32 == 8 {
                places.push((address.wrapping_sub(base).wrapping_sub(8), place));
            }
        }
        let value = self.body.register(register);
        Some(End::Choose(value, places))
    }

    /// A comparison and a branch for each target.
    fn choose(&mut self, value: Reg, targets: Vec<(u32, Place)>) -> Terminator {
        let loc = self.body.loc;
        self.steps += targets.len();
        let mut otherwise = self.push_block();
        let message = "a jump by a register leads to none of its targets".to_owned();
        self.body.kernel.blocks[otherwise].instructions =
            vec![Step::new(Op::Trap { message, is_asked_for: true }, loc)];
        for (distance, place) in targets.into_iter().rev() {
            let then = self.block(place);
            let number = self.push_block();
            let pred = self.body.fresh(Width::Pred);
            let (comparison, of) = (Comparison::Eq, Comparand::Unsigned(B32));
            let compare = Op::Compare { d: pred, comparison, of, a: value.into(), b: Arg::Imm(u64::from(distance)) };
            let terminator = Terminator::Branch { pred, then, otherwise };
            self.body.kernel.blocks[number] = Block { instructions: vec![Step::new(compare, loc)], terminator, loc };
            self.steps += 2;
            otherwise = number;
        }
        Terminator::Jump(otherwise)
    }

    /// What is read before it is written is zero; then what is computed once.
    fn finish(self, start: usize) -> (Kernel, Vec<Variable>) {
        let Body { mut kernel, before, variables, .. } = self.body;
        kernel.blocks[0].instructions = before;
        kernel.blocks[0].terminator = Terminator::Jump(start);
        let liveness = Liveness::of(&kernel);
        let unset: Vec<Reg> = match liveness.before(0) {
            None => (0..kernel.registers.len() as u32).map(Reg).collect(),
            Some(live) => {
                let is_live = |reg: &Reg| liveness.bit(*reg).is_some_and(|bit| live[bit / 64] >> (bit % 64) & 1 != 0);
                (0..kernel.registers.len() as u32).map(Reg).filter(is_live).collect()
            }
        };
        let zero = |d| Step::new(Op::Move { d, a: Arg::ZERO }, 0);
        kernel.blocks[0].instructions.splice(0..0, unset.into_iter().map(zero));
        (kernel, variables)
    }
}
