//! `wgmma`: matrices multiplied by four warps, b and perhaps a in shared memory.
//!
//! Each warp multiplies its 16 rows of a, 8 columns of b at a time: the registers are those of `mma`. What stands in shared
//! memory becomes ordinary loads, at the places that a descriptor says (PTX ISA, "Matrix descriptor format" and
//! "Canonical layouts" of `wgmma`). The engine is sequential, so that fences and groups have nothing to do.
//!
//! With T chunks of 16 bytes in a row of the pattern (8, 4, 2 with 128, 64, 32 bytes swizzled, otherwise 1), an element of
//! a matrix whose lines along k stand one after the other is at
//! start + line / 8 · stride + line mod 8 · 16T + its byte in the line, where the second 16 bytes are `leading` away if
//! nothing is swizzled. In the other direction line l, its chunk c = l / 8, and k are at
//! start + c mod T · 16 + c / T · leading + k mod 8 · 16T + k / 8 · stride; leading and stride change places if nothing is
//! swizzled. Swizzled, bits 4 to 6 of the address are xored with bits 7 to 9, as many as T has.

use super::statement::Inst;
use super::{Body, Result};
use crate::literal::evaluate;
use crate::matrix::MatrixInstruction;
use crate::types::Type;
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Reg, Signedness, Space, Special, Width};
use std::sync::Arc;

const SHIFT_RIGHT: IntOp = IntOp::Shr(Signedness::Unsigned);

/// Where a lane finds its part of a matrix in shared memory.
struct Shared {
    /// Lines along k stand one after the other.
    is_along_k: bool,
    /// The address of the lane's first element in the first eight lines.
    start: Operand,
    /// From one row of the pattern to the next.
    pitch: Operand,
    /// The second 16 bytes along k, or the second eight k.
    further: Operand,
    /// From eight lines to the next: all of them, or those of one row of the pattern.
    lines: Operand,
    /// Of the chunks of a row: their logarithm, and the bits of an address that are swizzled.
    chunks: Operand,
    swizzled: Operand,
    /// What is subtracted before swizzling: the pattern need not start at a multiple of its length.
    phase: Operand,
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn wgmma(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        match inst.modifiers.first().copied() {
            Some(".fence" | ".commit_group" | ".wait_group") => Ok(()),
            Some(".mma_async") => {
                let (instruction, dot) = self.matrix_row(inst)?;
                self.only_if(|body| body.multiply_async(inst, &instruction, dot))
            }
            _ => Err(self.refuse(inst)),
        }
    }

    fn multiply_async(
        &mut self,
        inst: &Inst<'m, 'a>,
        instruction: &MatrixInstruction,
        dot: roundonce_arith::Dot,
    ) -> Result<()> {
        let multiply = Arc::new(instruction.multiply(&inst.spelling, dot));
        let (stride, columns) = (multiply.a.stride, instruction.n as usize / 8);
        let in_registers = self.parts(self.operand_at(inst, 1)?).len() > 1;
        let transposes = if stride == 16 { 2 - usize::from(in_registers) } else { 0 };
        if inst.operands.len() != 6 + transposes {
            let (spelling, given) = (&inst.spelling, inst.operands.len());
            return Err(self.malformed(format!("`{spelling}` takes {} operands, {given} are given", 6 + transposes)));
        }
        let parts = self.fragment_parts(inst, 0, columns * multiply.d.registers())?;
        let d: Vec<Reg> = parts.iter().map(|part| self.exact(part, Type::B32)).collect::<Result<_>>()?;
        let adds = self.value_at(inst, 3, Type::PRED)?;
        let signs = [self.scale_of(inst, 4, stride)?, self.scale_of(inst, 5, stride)?];
        let mut transposed = [false; 2];
        for (place, transposed) in transposed.iter_mut().rev().take(transposes).enumerate() {
            *transposed = self.constant_at(inst, 5 + transposes - place)? != 0;
        }

        let mut a = if in_registers { self.matrix_operands(inst, 1, &multiply.a)? } else { Vec::new() };
        if !in_registers {
            let descriptor = self.value_at(inst, 1, Type::B64)?;
            let shared = self.shared_matrix(descriptor, !transposed[0]);
            // A warp has 16 rows: two times eight.
            let warp = self.fresh(Width::B32);
            self.emit(Op::Special { d: warp, special: Special::Warp });
            let warp = self.word(IntOp::And, warp.into(), Operand::Imm(3));
            let upper = self.word(IntOp::Shl, warp.into(), Operand::Imm(1));
            let lower = self.word(IntOp::Or, upper.into(), Operand::Imm(1));
            let starts = [upper, lower].map(|eighth| self.start_of_lines(&shared, eighth.into()));
            for register in 0..multiply.a.registers() {
                a.push(self.load_shared(&shared, starts[register % 2], register / 2));
            }
        }
        let a: Vec<Operand> = a.into_iter().map(|a| self.with_sign(a, signs[0])).collect();
        let descriptor = self.value_at(inst, 2, Type::B64)?;
        let shared = self.shared_matrix(descriptor, !transposed[1]);
        for (column, d) in d.chunks(multiply.d.registers()).enumerate() {
            let start = self.start_of_lines(&shared, Operand::Imm(column as u64));
            let mut b = Vec::new();
            for register in 0..multiply.b.registers() {
                let loaded = self.load_shared(&shared, start, register);
                b.push(self.with_sign(loaded, signs[1]));
            }
            let mut c = Vec::new();
            for &d in d {
                let zeroed = self.fresh(Width::B32);
                self.emit(Op::Select { d: zeroed, p: adds, a: d.into(), b: Operand::ZERO });
                c.push(zeroed.into());
            }
            let (multiply, d, a) = (multiply.clone(), d.to_vec(), a.clone());
            self.emit(Op::MultiplyMatrices { multiply, d, a, b, c, scales: None });
        }
        Ok(())
    }

    fn constant_at(&self, inst: &Inst<'m, 'a>, index: usize) -> Result<i64> {
        let constant = evaluate(self.module, self.operand_at(inst, index)?)?;
        constant.bits_as(".s64").map(|bits| bits as i64).ok_or_else(|| self.malformed("an integer is expected"))
    }

    /// A factor of 1 or −1, as the sign bits of a register's elements that it flips.
    fn scale_of(&self, inst: &Inst<'m, 'a>, index: usize, stride: u32) -> Result<u64> {
        match self.constant_at(inst, index)? {
            1 => Ok(0),
            -1 => Ok((0..32 / stride).map(|element| 1 << (stride * (element + 1) - 1)).sum()),
            other => Err(self.malformed(format!("a scale is 1 or -1, not {other}"))),
        }
    }

    fn with_sign(&mut self, register: Operand, flips: u64) -> Operand {
        if flips == 0 { register } else { self.word(IntOp::Xor, register, Operand::Imm(flips)).into() }
    }

    /// What a descriptor says.
    fn shared_matrix(&mut self, descriptor: Operand, is_along_k: bool) -> Shared {
        let halves = [0, 32].map(|shift| {
            let d = self.fresh(Width::B32);
            self.emit(Op::Extract { d, a: descriptor, width: Width::B64, shift });
            Operand::Reg(d)
        });
        let mut word = |op, a, b: u64| Operand::Reg(self.word(op, a, Operand::Imm(b)));
        let mut sixteens = |a, shift| {
            let field = word(SHIFT_RIGHT, a, shift);
            let field = word(IntOp::And, field, 0x3fff);
            word(IntOp::Shl, field, 4)
        };
        let [start, leading, stride] = [(halves[0], 0), (halves[0], 16), (halves[1], 0)].map(|(a, by)| sixteens(a, by));
        let base = word(SHIFT_RIGHT, halves[1], 17);
        let base = word(IntOp::And, base, 7);
        let phase = word(IntOp::Shl, base, 7);
        let mode = word(SHIFT_RIGHT, halves[1], 30);
        let lane = self.fresh(Width::B32);
        self.emit(Op::Special { d: lane, special: Special::Lane });
        let mut word = |op, a, b| Operand::Reg(self.word(op, a, b));
        let imm = Operand::Imm;
        // 0, 1, 2, 3 are 1, 8, 4, 2 chunks.
        let chunks = word(IntOp::Sub, imm(4), mode);
        let chunks = word(IntOp::And, chunks, imm(3));
        let pitch = word(IntOp::Shl, imm(16), chunks);
        let swizzled = word(IntOp::Sub, pitch, imm(16));
        let (line, pair) = (word(SHIFT_RIGHT, lane.into(), imm(2)), word(IntOp::And, lane.into(), imm(3)));
        let (row, byte) = if is_along_k {
            (line, word(IntOp::Shl, pair, imm(2)))
        } else {
            (word(IntOp::Shl, pair, imm(1)), word(IntOp::Shl, line, imm(1)))
        };
        let rows = word(IntOp::Mul, row, pitch);
        let start = word(IntOp::Add, start, rows);
        let start = word(IntOp::Add, start, byte);
        let is_plain = self.fresh(Width::Pred);
        let of = Comparand::Unsigned(Width::B32);
        self.emit(Op::Compare { d: is_plain, comparison: Comparison::Eq, of, a: mode, b: Operand::ZERO });
        let mut if_plain = |a, b| {
            let d = self.fresh(Width::B32);
            self.emit(Op::Select { d, p: is_plain.into(), a, b });
            Operand::Reg(d)
        };
        let (lines, further) = if is_along_k {
            (stride, if_plain(leading, imm(16)))
        } else {
            (if_plain(stride, leading), if_plain(leading, stride))
        };
        Shared { is_along_k, start, pitch, further, lines, chunks, swizzled, phase }
    }

    /// The lane's address in eight lines, by their number.
    fn start_of_lines(&mut self, shared: &Shared, eighth: Operand) -> Operand {
        let mut word = |op, a, b| Operand::Reg(self.word(op, a, b));
        if shared.is_along_k {
            let far = word(IntOp::Mul, eighth, shared.lines);
            return word(IntOp::Add, shared.start, far);
        }
        let mask = word(SHIFT_RIGHT, shared.swizzled, Operand::Imm(4));
        let within = word(IntOp::And, eighth, mask);
        let within = word(IntOp::Shl, within, Operand::Imm(4));
        let beyond = word(SHIFT_RIGHT, eighth, shared.chunks);
        let far = word(IntOp::Mul, beyond, shared.lines);
        let start = word(IntOp::Add, shared.start, far);
        word(IntOp::Add, start, within)
    }

    /// A register's elements: 4 bytes of a line, or two numbers of 16 bits of neighbouring k.
    fn load_shared(&mut self, shared: &Shared, start: Operand, register: usize) -> Operand {
        let further = self.word(IntOp::Mul, shared.further, Operand::Imm(register as u64));
        let address = self.word(IntOp::Add, start, further.into()).into();
        if shared.is_along_k {
            return self.load_swizzled(shared, address, Width::B32);
        }
        let next = self.word(IntOp::Add, address, shared.pitch).into();
        let [low, high] = [address, next].map(|address| self.load_swizzled(shared, address, Width::B16));
        let d = self.fresh(Width::B32);
        self.emit(Op::Pack { d, low, high });
        d.into()
    }

    fn load_swizzled(&mut self, shared: &Shared, address: Operand, width: Width) -> Operand {
        let row = self.word(IntOp::Sub, address, shared.phase);
        let row = self.word(SHIFT_RIGHT, row.into(), Operand::Imm(3));
        let flips = self.word(IntOp::And, row.into(), shared.swizzled);
        let address = self.word(IntOp::Xor, address, flips.into()).into();
        let d = self.fresh(width);
        let (space, bytes) = (Space::Shared, width.bits() / 8);
        self.emit(Op::Load { d: vec![Some(d)], space, bytes, signed: false, address, offset: 0 });
        d.into()
    }
}
