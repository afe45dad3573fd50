//! Functions, blocks and the edges between them. Merge instructions need nothing: engines find for themselves where
//! paths reconverge.

use std::collections::HashSet;

use roundonce_ir::{Comparand, Comparison, Op as Operation, Operand, Reg, Terminator};
use roundonce_isa::Finding;
use rspirv::spirv::Op;

use super::types::{Part, TypeKind};
use super::value::TypedValue;
use super::{Body, Frame, MOST_FINDINGS, Result, UNSUPPORTED};

/// Functions that call one another this deep; more are refused.
const DEEPEST_CALL: usize = 64;

/// An edge into a block that has Phi.
pub(super) struct Edge {
    /// The block of the program on the edge.
    block: usize,
    /// The labels of where it comes from and where it leads.
    from: u32,
    to: u32,
}

/// A Phi: its instruction and the registers of its result.
pub(super) struct Phi {
    index: usize,
    registers: Vec<Reg>,
}

impl Body<'_> {
    /// The entry point's function.
    pub(super) fn main(&mut self) -> Result<()> {
        let function = self.entry.function;
        let parameters = self.parameters(function)?;
        self.inline(function, &parameters, None, Vec::new())
    }

    /// Makes a function's instructions part of the kernel, from the current block on; it goes on at `exit`, or ends there.
    fn inline(&mut self, function: u32, given: &[TypedValue], exit: Option<usize>, result: Vec<Reg>) -> Result<()> {
        let name = self.lowering.module.id(function);
        let range = self.lowering.functions.get(&function).cloned();
        let is_label = |index: usize| self.lowering.module.instructions()[index].opcode == Op::Label as u16;
        let Some(range) = range.filter(|range| range.clone().any(is_label)) else {
            return Err(self.unsupported(format!("{} {name} without a body", self.opcode())));
        };
        if self.frames.iter().any(|frame| frame.function == function) {
            return Err(self.unsupported(format!("{} {name}, which calls itself,", self.opcode())));
        }
        if self.frames.len() >= DEEPEST_CALL {
            return Err(self.unsupported(format!("{}: more than {DEEPEST_CALL} calls deep", self.opcode())));
        }
        let (lowering, caller) = (self.lowering, (self.at, self.place));
        let instructions = &lowering.module.instructions()[range.clone()];
        let mut frame = Frame { function, exit, result, ..Frame::default() };
        let mut label = 0;
        for at in instructions {
            match Op::from_u32(at.opcode.into()) {
                Some(Op::Label) => {
                    label = lowering.module.result(at).unwrap_or(0);
                    // Nothing leads to a function's first block but its start.
                    let block = if frame.labels.is_empty() { self.current } else { self.new_block() };
                    frame.labels.insert(label, block);
                }
                Some(Op::Phi) => {
                    frame.phis.entry(label).or_default();
                }
                _ => {}
            }
        }
        self.frames.push(frame);
        let mut given = given.iter();
        for index in range.clone() {
            let at = lowering.module.instructions()[index];
            self.at = at;
            match Op::from_u32(at.opcode.into()) {
                Some(Op::FunctionParameter) => {
                    let value = given.next().cloned();
                    let value =
                        value.ok_or_else(|| self.malformed(format!("{name} has more parameters than are given")))?;
                    if let (Some(frame), Some(id)) = (self.frames.last_mut(), lowering.module.result(&at)) {
                        frame.values.insert(id, value);
                    }
                    continue;
                }
                Some(Op::Label) => {
                    let id = lowering.module.result(&at).unwrap_or(0);
                    self.stand_at(index);
                    self.current = self.label(id)?;
                    if let Some(frame) = self.frames.last_mut() {
                        frame.label = id;
                    }
                    continue;
                }
                Some(Op::Function | Op::FunctionEnd | Op::Line | Op::NoLine) => continue,
                _ => self.stand_at(index),
            }
            if let Err(finding) = self.instruction(index) {
                let unsupported = finding.code == UNSUPPORTED;
                let finding = self.report(finding);
                if !unsupported || self.findings.len() >= MOST_FINDINGS {
                    break;
                }
                self.stand_in(finding);
            }
            if let Err(finding) = self.check_size() {
                // Reported by the innermost call alone.
                if !core::mem::replace(&mut self.too_large, true) {
                    self.report(finding);
                }
                break;
            }
        }
        if self.findings.is_empty() {
            self.edges()?;
        }
        self.frames.pop();
        (self.at, self.place) = caller;
        self.current = exit.unwrap_or(self.current);
        Ok(())
    }

    /// Zeros for the result of a refused instruction, so that only that instruction is reported. Where its type has no
    /// scalars, what uses it is refused for the same reason.
    fn stand_in(&mut self, finding: Finding) {
        if let Ok(type_id) = self.result_type()
            && let Ok(parts) = self.lowering.parts_of(type_id)
        {
            let _ = self.define(vec![Operand::ZERO; parts.len()]);
        } else if let Some(id) = self.lowering.module.result(&self.at) {
            self.refused.insert(id, finding);
        }
    }

    /// Makes an instruction the one at work: what is emitted and what is found belongs to it.
    pub(super) fn stand_at(&mut self, index: usize) {
        let (lowering, source) = (self.lowering, self.source);
        self.at = lowering.module.instructions()[index];
        let places = &mut self.kernel.source_locs;
        self.place = *self.place_of.entry(index).or_insert_with(|| {
            places.push(source.place(lowering.module, index));
            places.len() as u32 - 1
        });
    }

    /// The block of a label.
    fn label(&self, id: u32) -> Result<usize> {
        let found = self.frames.last().and_then(|frame| frame.labels.get(&id).copied());
        found.ok_or_else(|| self.malformed(format!("{} is no block of this function", self.lowering.module.id(id))))
    }

    pub(super) fn call(&mut self) -> Result<()> {
        let function = self.operand(0)?;
        let given = self.operands()[1..].to_vec();
        let given: Vec<TypedValue> = given.into_iter().map(|id| self.typed_value(id)).collect::<Result<_>>()?;
        let type_id = self.result_type()?;
        let widths = match self.lowering.types.kind(type_id) {
            Some(TypeKind::Void) => Vec::new(),
            _ => self.lowering.parts_of(type_id)?,
        };
        let result: Vec<Reg> = widths.into_iter().map(|part| self.fresh(part.width())).collect();
        let exit = self.new_block();
        let at = self.at;
        self.inline(function, &given, Some(exit), result.clone())?;
        self.at = at;
        if result.is_empty() {
            return Ok(());
        }
        self.define(result.into_iter().map(Operand::Reg).collect::<Vec<_>>())
    }

    pub(super) fn return_value(&mut self, id: Option<u32>) -> Result<()> {
        let parts = match id {
            Some(id) => self.parts(id)?.to_vec(),
            None => Vec::new(),
        };
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (exit, result) = (frame.exit, frame.result.clone());
        if result.len() != parts.len() {
            return Err(self.malformed(format!(
                "{} scalars are returned, the function has {}",
                parts.len(),
                result.len()
            )));
        }
        for (d, a) in result.into_iter().zip(parts) {
            self.emit(Operation::Move { d, a });
        }
        self.end(exit.map_or(Terminator::Exit, Terminator::Jump));
        Ok(())
    }

    /// The block that leads to a label: its own, or one on the edge for the copies of its Phi.
    fn edge_to(&mut self, to: u32) -> Result<usize> {
        let target = self.label(to)?;
        let Some(frame) = self.frames.last().filter(|frame| frame.phis.contains_key(&to)) else { return Ok(target) };
        let from = frame.label;
        let block = self.new_block();
        if let Some(frame) = self.frames.last_mut() {
            frame.edges.push(Edge { block, from, to });
        }
        Ok(block)
    }

    pub(super) fn branch(&mut self) -> Result<()> {
        let target = self.edge_to(self.operand(0)?)?;
        self.end(Terminator::Jump(target));
        Ok(())
    }

    pub(super) fn branch_conditional(&mut self) -> Result<()> {
        let (_, condition) = self.scalar(self.operand(0)?)?;
        let (then, otherwise) = (self.edge_to(self.operand(1)?)?, self.edge_to(self.operand(2)?)?);
        self.end(match condition {
            Operand::Reg(pred) => Terminator::Branch { pred, then, otherwise },
            Operand::Imm(known) => Terminator::Jump(if known & 1 == 1 { then } else { otherwise }),
        });
        Ok(())
    }

    /// A comparison for each literal, one after another.
    pub(super) fn switch(&mut self) -> Result<()> {
        let (part, selector) = self.scalar(self.operand(0)?)?;
        let default = self.operand(1)?;
        let Part::Int { bits, .. } = part else { return Err(self.malformed("the selector is no integer")) };
        let words = if bits == 64 { 2 } else { 1 };
        let cases = self.operands()[2..].to_vec();
        for case in cases.chunks_exact(words + 1) {
            let literal = case[..words].iter().rev().fold(0, |all, &word| all << 32 | u64::from(word));
            let literal = Operand::Imm(literal & (u64::MAX >> (64 - bits)));
            let target = self.edge_to(case[words])?;
            let equal = self.compare(Comparison::Eq, Comparand::Unsigned(part.width()), selector, literal);
            let otherwise = self.new_block();
            if let Operand::Reg(pred) = equal {
                self.end(Terminator::Branch { pred, then: target, otherwise });
            }
            self.current = otherwise;
            self.check_size()?;
        }
        let default = self.edge_to(default)?;
        self.end(Terminator::Jump(default));
        Ok(())
    }

    /// Registers for a Phi; the edges into its block write them.
    pub(super) fn phi(&mut self, index: usize) -> Result<()> {
        let parts = self.lowering.parts_of(self.result_type()?)?;
        let registers: Vec<Reg> = parts.into_iter().map(|part| self.fresh(part.width())).collect();
        self.define(registers.iter().copied().map(Operand::Reg).collect::<Vec<_>>())?;
        if let Some(frame) = self.frames.last_mut() {
            let label = frame.label;
            frame.phis.entry(label).or_default().push(Phi { index, registers });
        }
        Ok(())
    }

    /// The copies on the edges into blocks with Phi: in parallel, since one's source may be another's target.
    fn edges(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let (edges, phis) = (std::mem::take(&mut frame.edges), std::mem::take(&mut frame.phis));
        for Edge { block, from, to } in edges {
            self.current = block;
            let mut copies = Vec::new();
            for phi in phis.get(&to).into_iter().flatten() {
                self.stand_at(phi.index);
                let given = self.operands().chunks_exact(2).find(|pair| pair[1] == from).map(|pair| pair[0]);
                let given = given.ok_or_else(|| {
                    self.malformed(format!("there is no value for the way from {}", self.lowering.module.id(from)))
                })?;
                let parts = self.parts(given)?;
                if parts.len() != phi.registers.len() {
                    return Err(self.malformed(format!("{} is of another type", self.lowering.module.id(given))));
                }
                copies.extend(phi.registers.iter().zip(parts.iter()).map(|(d, a)| (phi.index, *d, *a)));
            }
            let written: HashSet<Reg> = copies.iter().map(|&(_, d, _)| d).collect();
            let last = self.place;
            // What saves a register from another Phi's copy is no instruction of the text.
            self.place = 0;
            for (_, d, a) in &mut copies {
                if let Operand::Reg(reg) = *a
                    && reg != *d
                    && written.contains(&reg)
                {
                    *a = self.copied(self.kernel.width(reg), *a);
                }
            }
            self.place = last;
            for (index, d, a) in copies {
                self.stand_at(index);
                self.emit(Operation::Move { d, a });
            }
            self.check_size()?;
            let target = self.label(to)?;
            self.end(Terminator::Jump(target));
        }
        Ok(())
    }
}
