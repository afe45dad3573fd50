//! `mma.sync` and `wmma`: matrices multiplied by a warp, and fragments loaded and stored.
//!
//! The multiplication is one operation of the whole warp, with the fragments' maps as data. Loads and stores of fragments
//! become ordinary accesses: each lane knows which elements it holds.

use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::matrix::{Family, Layout, Matrix, MatrixInstruction, Refusal};
use crate::types::{ScalarKind, Type};
use roundonce_arith::{Dot, Element, Format};
use roundonce_ir::{Fragment, IntOp, Op, Operand, Reg, ScaleOperand, Signedness, Special, Width};
use roundonce_isa::Finding;
use std::sync::Arc;

/// The most bytes that a thread reads or writes at once for a fragment: a row needs no greater alignment.
const WIDEST: u32 = 16;
const U16: Type = Type { kind: ScalarKind::Unsigned, bits: 16, components: 1 };

/// The type of a fragment's registers.
fn register_type(fragment: &Fragment) -> Type {
    if fragment.width == Width::B64 { Type::B64 } else { Type::B32 }
}

/// Where a lane's elements of an opaque fragment stand in memory.
struct Places {
    /// The address of the first, or of each.
    addresses: Vec<Operand>,
    offset: i64,
    space: roundonce_ir::Space,
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// What the machine computes.
    pub(super) fn matrix_row(&self, inst: &Inst<'m, 'a>) -> Result<(MatrixInstruction, Dot)> {
        let (machine, profile) = (self.lowering.machine, &self.lowering.settings.profile);
        let instruction = MatrixInstruction::parse(&inst.spelling).map_err(|refusal| self.refused(inst, &refusal))?;
        let row = instruction.row(machine, profile).map_err(|refusal| self.refused(inst, &refusal))?;
        Ok((instruction, row.dot))
    }

    /// The reason is part of the message: it is all that a launch says that reaches the instruction.
    fn refused(&self, inst: &Inst<'m, 'a>, refusal: &Refusal) -> Finding {
        let (name, reason) = (format!("`{}`", inst.spelling), refusal.to_string());
        if let Refusal::Malformed(_) = refusal {
            return self.malformed(reason);
        }
        let reason = reason.strip_prefix(&format!("{name}: ")).unwrap_or(&reason);
        self.unsupported(format!("{name} ({reason})"))
    }

    /// `mma.sync`, `wmma.mma`
    pub(super) fn matrix_multiply(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (instruction, dot) = self.matrix_row(inst)?;
        let multiply = instruction.multiply(&inst.spelling, dot);
        let count = if multiply.scales.is_some() { 8 } else { 4 };
        if inst.operands.len() != count {
            let (spelling, given) = (&inst.spelling, inst.operands.len());
            return Err(self.malformed(format!("`{spelling}` takes {count} operands, {given} are given")));
        }
        let a = self.matrix_operands(inst, 1, &multiply.a)?;
        let b = self.matrix_operands(inst, 2, &multiply.b)?;
        let c = self.matrix_operands(inst, 3, &multiply.c)?;
        let scales = match multiply.scales {
            Some(_) => Some([self.scale_operand(inst, 4)?, self.scale_operand(inst, 6)?]),
            None => None,
        };
        for (matrix, scale) in scales.iter().flatten().enumerate() {
            // What registers hold is known where it runs.
            if let (Operand::Imm(byte), Operand::Imm(thread)) = (scale.byte, scale.thread)
                && !multiply.has_selectors(matrix, byte, thread)
            {
                let text = format!("`{}` has no scales with the selectors {{{byte}, {thread}}}", inst.spelling);
                return Err(self.malformed(text));
            }
        }
        let d = self.matrix_destinations(inst, &multiply.d)?;
        self.emit(Op::MultiplyMatrices { multiply: Arc::new(multiply), d, a, b, c, scales });
        Ok(())
    }

    /// The registers of a fragment, read.
    pub(super) fn matrix_operands(
        &mut self,
        inst: &Inst<'m, 'a>,
        index: usize,
        fragment: &Fragment,
    ) -> Result<Vec<Operand>> {
        let parts = self.fragment_parts(inst, index, fragment.registers())?;
        parts.iter().map(|part| self.value(part, register_type(fragment))).collect()
    }

    /// The registers of a fragment, the first operand, written.
    fn matrix_destinations(&mut self, inst: &Inst<'m, 'a>, fragment: &Fragment) -> Result<Vec<Reg>> {
        let parts = self.fragment_parts(inst, 0, fragment.registers())?;
        parts.iter().map(|part| self.exact(part, register_type(fragment))).collect()
    }

    /// So many registers in braces.
    pub(super) fn fragment_parts(
        &mut self,
        inst: &Inst<'m, 'a>,
        index: usize,
        wanted: usize,
    ) -> Result<Vec<crate::ast::Operand<'a>>> {
        let parts = self.parts(self.operand_at(inst, index)?);
        if parts.len() == wanted {
            return Ok(parts);
        }
        let (spelling, given, number) = (&inst.spelling, parts.len(), index + 1);
        let registers = if wanted == 1 { "register" } else { "registers" };
        Err(self.malformed(format!("operand {number} of `{spelling}` has {wanted} {registers}, {given} are given")))
    }

    /// `scale, {byte-id, thread-id}`; the scale may stand in braces of its own.
    fn scale_operand(&mut self, inst: &Inst<'m, 'a>, index: usize) -> Result<ScaleOperand> {
        let [data] = self.fragment_parts(inst, index, 1)?[..] else { return Err(self.refuse(inst)) };
        let data = self.value(&data, Type::B32)?;
        let selectors = self.fragment_parts(inst, index + 1, 2)?;
        let [byte, thread] = [self.value(&selectors[0], U16)?, self.value(&selectors[1], U16)?];
        Ok(ScaleOperand { data, byte, thread })
    }

    /// `wmma.load`, `wmma.mma`, `wmma.store`
    pub(super) fn wmma(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        match inst.modifiers.first().copied() {
            Some(".mma") => self.matrix_multiply(inst),
            Some(".load") => self.load_fragment(inst),
            Some(".store") => self.store_fragment(inst),
            _ => Err(self.refuse(inst)),
        }
    }

    fn load_fragment(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (instruction, matrix, is_along) = self.opaque_fragment(inst)?;
        let fragment = instruction.fragment(matrix);
        let d = self.matrix_destinations(inst, &fragment)?;
        let Places { addresses, offset, space } = self.places(inst, 1, &instruction, matrix, is_along)?;
        let signed = false;
        if is_along {
            let bytes = fragment.width.bits() / 8;
            // A destination may hold the address: nothing is written before all is read.
            let read: Vec<Reg> = d.iter().map(|_| self.fresh(fragment.width)).collect();
            for (piece, offset) in read.chunks((WIDEST / bytes) as usize).zip((offset..).step_by(WIDEST as usize)) {
                let d = piece.iter().copied().map(Some).collect();
                self.emit(Op::Load { d, space, bytes, signed, address: addresses[0], offset });
            }
            for (d, a) in d.into_iter().zip(read) {
                self.emit(Op::Move { d, a: a.into() });
            }
            return Ok(());
        }
        let bytes = fragment.stride / 8;
        // A destination may hold the address: nothing is written before all is read.
        let mut elements = Vec::new();
        for address in addresses {
            let element = self.fresh(Width::holding(fragment.stride));
            self.emit(Op::Load { d: vec![Some(element)], space, bytes, signed, address, offset });
            elements.push(Operand::Reg(element));
        }
        for (d, elements) in d.into_iter().zip(elements.chunks(fragment.in_register())) {
            self.emit(match *elements {
                [low, high] => Op::Pack { d, low, high },
                _ => Op::Move { d, a: elements[0] },
            });
        }
        Ok(())
    }

    fn store_fragment(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (instruction, matrix, is_along) = self.opaque_fragment(inst)?;
        let fragment = instruction.fragment(matrix);
        let values = self.matrix_operands(inst, 1, &fragment)?;
        let Places { addresses, offset, space } = self.places(inst, 0, &instruction, matrix, is_along)?;
        let width = fragment.width;
        if is_along {
            let bytes = width.bits() / 8;
            for (piece, offset) in values.chunks((WIDEST / bytes) as usize).zip((offset..).step_by(WIDEST as usize)) {
                self.emit(Op::Store { values: piece.to_vec(), width, space, bytes, address: addresses[0], offset });
            }
            return Ok(());
        }
        let in_register = fragment.in_register();
        for (at, address) in addresses.into_iter().enumerate() {
            let (mut value, mut part) = (values[at / in_register], width);
            if in_register > 1 {
                part = Width::holding(fragment.stride);
                let d = self.fresh(part);
                let shift = fragment.stride * (at % in_register) as u32;
                self.emit_always(Op::Extract { d, a: value, width, shift });
                value = d.into();
            }
            self.emit(Op::Store {
                values: vec![value],
                width: part,
                space,
                bytes: fragment.stride / 8,
                address,
                offset,
            });
        }
        Ok(())
    }

    /// Which fragment an access names, and whether its lines, rows of a, c and d and columns of b, stand one after the
    /// other in memory.
    fn opaque_fragment(&self, inst: &Inst<'m, 'a>) -> Result<(MatrixInstruction, Matrix, bool)> {
        let word = |modifier: &&str| modifier.trim_start_matches('.').to_owned();
        let words: Vec<String> = inst.modifiers.iter().map(word).collect();
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let matrices = [("a", Matrix::A), ("b", Matrix::B), ("c", Matrix::C), ("d", Matrix::D)];
        let matrix = matrices.into_iter().find(|(name, _)| words.get(1).is_some_and(|word| word == name));
        let shapes = ["m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4"];
        let shape = shapes.into_iter().find(|shape| has(shape));
        let (Some((_, matrix)), Some(shape), Some(ty)) = (matrix, shape, words.last()) else {
            return Err(self.refuse(inst));
        };
        // A fragment's map depends on its own type and on the shape alone.
        let factor = match shape {
            "m16n16k8" => "tf32",
            "m8n8k4" => "f64",
            _ if ty == "bf16" => "bf16",
            _ => "f16",
        };
        let is_factor = matches!(matrix, Matrix::A | Matrix::B);
        let sum = if is_factor { if factor == "f64" { "f64" } else { "f32" } } else { ty.as_str() };
        let multiply = format!("wmma.mma.sync.aligned.row.col.{shape}.{sum}.{factor}.{factor}.{sum}");
        let instruction = MatrixInstruction::parse(&multiply).map_err(|_| self.refuse(inst))?;
        let is_of_type = match instruction.element(matrix) {
            Element::Float(Format::F64) => ty == "f64" && factor == "f64",
            element => element.name() == ty.as_str() && factor != "f64",
        };
        let layout = if has("row") { Layout::Row } else { Layout::Column };
        if !is_of_type || !(has("row") || has("col")) || instruction.family != Family::Wmma {
            return Err(self.refuse(inst));
        }
        Ok((instruction, matrix, (layout == Layout::Row) != (matrix == Matrix::B)))
    }

    /// Where the elements of a lane stand. Its first one has the number lane × elements, modulo the matrix' size; those
    /// behind it are in the same line.
    fn places(
        &mut self,
        inst: &Inst<'m, 'a>,
        index: usize,
        instruction: &MatrixInstruction,
        matrix: Matrix,
        is_along: bool,
    ) -> Result<Places> {
        let Address::Memory { base, offset, space } = self.address(self.operand_at(inst, index)?)? else {
            return Err(self.refuse(inst));
        };
        let space = self.space(inst, space);
        let base = self.base(base, space)?;
        let wide = match base {
            Operand::Reg(reg) => self.kernel.width(reg),
            Operand::Imm(_) => self.address_width(),
        };
        let [lines, length] = instruction.lines(matrix);
        // From one line, or from one element of a line, to the next.
        let stride = match inst.operands.get(2) {
            Some(written) => {
                let stride = self.value(written, Type::U32)?;
                if wide == Width::B64 { self.widened(stride).into() } else { stride }
            }
            None => Operand::Imm(if is_along { length } else { lines } as u64),
        };
        let fragment = instruction.fragment(matrix);
        let bytes = u64::from(fragment.stride / 8);
        let stride = Operand::Reg(self.int(IntOp::Mul, wide, [stride, Operand::Imm(bytes), Operand::ZERO]));
        let lane = self.fresh(wide);
        self.emit_always(Op::Special { d: lane, special: Special::Lane });
        let lane = lane.into();
        let imm = |value: usize| Operand::Imm(value as u64);
        let mut int = |op, a, b| Operand::Reg(self.int(op, wide, [a, b, Operand::ZERO]));
        let first = int(IntOp::Mul, lane, imm(fragment.elements));
        let first = int(IntOp::And, first, imm(lines * length - 1));
        let line = int(IntOp::Shr(Signedness::Unsigned), first, imm(length.ilog2() as usize));
        let within = int(IntOp::And, first, imm(length - 1));
        let (by_stride, by_element) = if is_along { (line, within) } else { (within, line) };
        let far = int(IntOp::Mul, by_stride, stride);
        let near = int(IntOp::Mul, by_element, Operand::Imm(bytes));
        let start = int(IntOp::Add, base, far);
        let mut addresses = vec![int(IntOp::Add, start, near)];
        for at in 1..if is_along { 1 } else { fragment.elements } {
            addresses.push(int(IntOp::Add, addresses[at - 1], stride));
        }
        Ok(Places { addresses, offset, space })
    }
}
