//! `ldmatrix`, `stmatrix`, `movmatrix`: matrices of 8 × 8 numbers of 16 bits, spread over a warp. Lane t holds the
//! numbers 2 (t mod 4) and 2 (t mod 4) + 1 of row t / 4 (PTX ISA, `ldmatrix`); transposed, those of column t / 4.
//!
//! Each becomes shuffles and ordinary accesses: the lane asks the one that names a row's address, or holds the number.

use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::types::Type;
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Reg, ShuffleMode, Signedness, Space, Special, Width};

/// Where a lane's two numbers stand in a matrix.
struct Place {
    /// The lane that holds the first one's row, and the second one's.
    rows: [Operand; 2],
    /// Bytes from the row's start.
    offset: Operand,
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// `ldmatrix`, and `stmatrix` where it stores.
    pub(super) fn matrix_access(&mut self, inst: &Inst<'m, 'a>, stores: bool) -> Result<()> {
        let (memory, registers) = if stores { (0, 1) } else { (1, 0) };
        let count = ["x1", "x2", "x4"].iter().position(|count| inst.modifiers.iter().any(|word| word[1..] == **count));
        let shape = inst.has(".m8n8") && inst.has(".b16");
        let (Some(count), true) = (count, shape) else { return Err(self.refuse(inst)) };
        let Address::Memory { base, offset, space } = self.address(self.operand_at(inst, memory)?)? else {
            return Err(self.refuse(inst));
        };
        let parts = self.parts(self.operand_at(inst, registers)?);
        if parts.len() != 1 << count {
            return Err(self.malformed(format!("`{}` takes {} registers", inst.spelling, 1 << count)));
        }
        let mut values = Vec::new();
        for part in &parts {
            values.push(if stores { self.value(part, Type::B32)? } else { self.exact(part, Type::B32)?.into() });
        }
        let transposed = inst.has(".trans");
        self.only_if(|body| {
            let base = body.shared_place(inst, base, space)?;
            let address = body.low_half(base);
            body.trap_misaligned_rows(address, offset, 8 << count);
            let place = body.place(transposed);
            let mut stored = Vec::new();
            // A destination may hold the address: nothing is written before all is read.
            for (number, &value) in values.iter().enumerate() {
                let rows = place.rows.map(|row| {
                    let lane = body.word(IntOp::Add, row, Operand::Imm(8 * number as u64));
                    let row = body.value_of_lane(address, lane.into());
                    Operand::Reg(body.word(IntOp::Add, row.into(), place.offset))
                });
                if stores {
                    body.store_pair(value, rows, transposed, offset);
                } else {
                    stored.push((value, body.load_pair(rows, transposed, offset)));
                }
            }
            for (d, value) in stored {
                if let Operand::Reg(d) = d {
                    body.emit(Op::Move { d, a: value.into() });
                }
            }
            Ok(())
        })
    }

    /// Ends the launch where a row of 16 bytes does not lie at a multiple of 16, of the lanes that name one.
    fn trap_misaligned_rows(&mut self, address: Operand, offset: i64, lanes: u64) {
        let row = self.word(IntOp::Add, address, Operand::Imm(offset as u64 & Width::B32.mask()));
        let mut astray = self.is_not_of_16(row.into(), Width::B32);
        if lanes < 32 {
            let lane = self.lane();
            let named = self.compare(Comparison::Lt, Comparand::Unsigned(Width::B32), lane, Operand::Imm(lanes));
            astray = self.int(IntOp::And, Width::Pred, [astray.into(), named.into(), Operand::ZERO]);
        }
        self.trap_where(astray, "the address of a row is not a multiple of 16, its size".to_owned(), false);
    }

    /// `movmatrix`: the matrix that the lanes hold, transposed.
    pub(super) fn transpose(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        if !inst.has(".m8n8") || !inst.has(".trans") {
            return Err(self.refuse(inst));
        }
        let (a, d) = (self.value_at(inst, 1, Type::B32)?, self.exact(self.operand_at(inst, 0)?, Type::B32)?);
        self.only_if(|body| {
            let lane = body.lane();
            let column = body.word(IntOp::Shr(Signedness::Unsigned), lane, Operand::Imm(2));
            let pair = body.word(IntOp::Shr(Signedness::Unsigned), column.into(), Operand::Imm(1));
            let odd = body.word(IntOp::And, column.into(), Operand::Imm(1));
            let shift = body.word(IntOp::Shl, odd.into(), Operand::Imm(4));
            let halves = body.place(true).rows.map(|row| {
                // A row's numbers are in four lanes.
                let first = body.word(IntOp::Shl, row, Operand::Imm(2));
                let holder = body.word(IntOp::Add, first.into(), pair.into());
                let both = body.value_of_lane(a, holder.into());
                let shifted = body.word(IntOp::Shr(Signedness::Unsigned), both.into(), shift.into());
                let half = body.fresh(Width::B16);
                body.emit(Op::Extract { d: half, a: shifted.into(), width: Width::B32, shift: 0 });
                Operand::Reg(half)
            });
            body.emit(Op::Pack { d, low: halves[0], high: halves[1] });
            Ok(())
        })
    }

    fn place(&mut self, transposed: bool) -> Place {
        let lane = self.lane();
        let quarter = self.word(IntOp::Shr(Signedness::Unsigned), lane, Operand::Imm(2));
        let within = self.word(IntOp::And, lane, Operand::Imm(3));
        if !transposed {
            let offset = self.word(IntOp::Shl, within.into(), Operand::Imm(2));
            return Place { rows: [quarter.into(); 2], offset: offset.into() };
        }
        let first = self.word(IntOp::Shl, within.into(), Operand::Imm(1));
        let second = self.word(IntOp::Add, first.into(), Operand::Imm(1));
        let offset = self.word(IntOp::Shl, quarter.into(), Operand::Imm(1));
        Place { rows: [first.into(), second.into()], offset: offset.into() }
    }

    fn load_pair(&mut self, rows: [Operand; 2], transposed: bool, offset: i64) -> Reg {
        let (space, signed) = (Space::Shared, false);
        let whole = self.fresh(Width::B32);
        if !transposed {
            let d = vec![Some(whole)];
            self.emit(Op::Load { d, space, bytes: 4, signed, address: rows[0], offset });
            return whole;
        }
        let halves = rows.map(|address| {
            let half = self.fresh(Width::B16);
            self.emit(Op::Load { d: vec![Some(half)], space, bytes: 2, signed, address, offset });
            Operand::Reg(half)
        });
        self.emit(Op::Pack { d: whole, low: halves[0], high: halves[1] });
        whole
    }

    fn store_pair(&mut self, value: Operand, rows: [Operand; 2], transposed: bool, offset: i64) {
        let (space, width) = (Space::Shared, Width::B32);
        if !transposed {
            let values = vec![value];
            self.emit(Op::Store { values, width, space, bytes: 4, address: rows[0], offset });
            return;
        }
        for (address, shift) in rows.into_iter().zip([0, 16]) {
            let half = self.fresh(Width::B16);
            self.emit(Op::Extract { d: half, a: value, width, shift });
            let values = vec![half.into()];
            self.emit(Op::Store { values, width: Width::B16, space, bytes: 2, address, offset });
        }
    }

    fn lane(&mut self) -> Operand {
        let lane = self.fresh(Width::B32);
        self.emit(Op::Special { d: lane, special: Special::Lane });
        lane.into()
    }

    /// An operation on words.
    pub(super) fn word(&mut self, op: IntOp, a: Operand, b: Operand) -> Reg {
        self.int(op, Width::B32, [a, b, Operand::ZERO])
    }

    /// A value of another lane of a whole warp.
    fn value_of_lane(&mut self, a: Operand, lane: Operand) -> Reg {
        let (d, mask) = (self.fresh(Width::B32), Some(Operand::Imm(u32::MAX.into())));
        self.emit(Op::Shuffle { d, p: None, mode: ShuffleMode::Index, a, b: lane, c: Operand::Imm(31), mask });
        d
    }

    /// An address of shared memory in 32 bits.
    fn low_half(&mut self, address: Operand) -> Operand {
        match address {
            Operand::Reg(reg) if self.kernel.width(reg) == Width::B64 => {
                let low = self.fresh(Width::B32);
                self.emit(Op::Extract { d: low, a: address, width: Width::B64, shift: 0 });
                low.into()
            }
            _ => address,
        }
    }
}
