//! The indices of 32 bits that lead into a segment, from a base that all lanes share.

use super::super::asm::at;
use super::super::frame::AccessSite;
use super::{EmitResult, Emitter, FRAME, RAX, RCX};
use crate::native::indexed::IndexedAddress;
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{Signedness, Width};

const RDX: Register = Register::RDX;

impl Emitter<'_> {
    /// RCX becomes the position in the segment where index 0 leads, in units of the alignment, and RDX the least index that leads
    /// into it: a number of 32 bits, if one does. Uses RAX.
    fn least_index(&mut self, site: usize, indexed: &IndexedAddress) -> EmitResult {
        let AccessSite { cache, align, offset, .. } = self.frame.sites[site];
        let base = self.scalar(indexed.base, Width::B64, RCX)?;
        self.copy_scalar(Width::B64, RCX, base);
        if offset != 0 {
            self.asm.ri(Code::Add_rm64_imm32, RCX, offset as i32);
        }
        self.asm.rm(Code::Sub_r64_rm64, RCX, at(FRAME, cache));
        if align > 1 {
            // Where it is no multiple of the alignment, the number is too large for any index.
            let bits = align.trailing_zeros();
            self.asm.rr(Code::Mov_r64_rm64, RDX, RCX);
            self.asm.push(Instruction::with2(Code::Shl_rm64_imm8, RDX, 64 - bits));
            self.asm.push(Instruction::with2(Code::Sar_rm64_imm8, RCX, bits));
            self.asm.rr(Code::Add_r64_rm64, RCX, RDX);
        }
        self.asm.rr(Code::Mov_r64_rm64, RDX, RCX);
        self.asm.push(Instruction::with2(Code::Sar_rm64_imm8, RDX, (indexed.factor / align).trailing_zeros()));
        self.asm.push(Instruction::with1(Code::Neg_rm64, RDX));
        if indexed.sign == Signedness::Unsigned {
            self.asm.constant(RAX, 0);
            self.asm.rr(Code::Cmp_r64_rm64, RDX, RAX);
            self.asm.rr(Code::Cmovl_r64_rm64, RDX, RAX);
        }
        Ok(())
    }
    /// RDX becomes the least index that leads into a site's segment, RAX how many do: none where the least has more than 32 bits, and
    /// 2^31 at most. All of them have 32 bits with their sign, as gathers take them. Uses RCX.
    pub(super) fn index_range(&mut self, site: usize, indexed: &IndexedAddress) -> EmitResult {
        let AccessSite { cache, align, .. } = self.frame.sites[site];
        self.least_index(site, indexed)?;
        // The greatest one.
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(FRAME, cache + 8));
        self.asm.rr(Code::Sub_r64_rm64, RAX, RCX);
        self.asm.ri(Code::Sub_rm64_imm32, RAX, 1);
        self.asm.push(Instruction::with2(Code::Sar_rm64_imm8, RAX, (indexed.factor / align).trailing_zeros()));
        self.at_most(RAX, i32::MAX as u64);
        self.asm.rr(Code::Sub_r64_rm64, RAX, RDX);
        self.asm.ri(Code::Add_rm64_imm32, RAX, 1);
        // There are no more than positions: none in a segment that is not known yet, whatever the difference was.
        self.asm.rm(Code::Mov_r64_rm64, RCX, at(FRAME, cache + 8));
        self.asm.rr(Code::Cmp_r64_rm64, RAX, RCX);
        self.asm.rr(Code::Cmovg_r64_rm64, RAX, RCX);
        self.asm.rr(Code::Movsxd_r64_rm32, RCX, Register::EDX);
        self.asm.rr(Code::Cmp_r64_rm64, RCX, RDX);
        self.asm.constant(RCX, 0);
        self.asm.rr(Code::Cmovne_r64_rm64, RAX, RCX);
        self.asm.rr(Code::Cmp_r64_rm64, RAX, RCX);
        self.asm.rr(Code::Cmovl_r64_rm64, RAX, RCX);
        self.at_most(RAX, 1 << 31);
        Ok(())
    }
    /// A signed number in a register becomes no more than this one. Uses RCX.
    fn at_most(&mut self, register: Register, most: u64) {
        self.asm.constant(RCX, most);
        self.asm.rr(Code::Cmp_r64_rm64, register, RCX);
        self.asm.rr(Code::Cmovg_r64_rm64, register, RCX);
    }
    /// RAX becomes the position in the segment where an index leads, of which it says how much more it is than the least one. Uses
    /// RCX, RDX and a slot of the frame.
    pub(super) fn position_of_index(&mut self, site: usize, indexed: &IndexedAddress, slot: i64) -> EmitResult {
        self.asm.mr(Code::Mov_rm64_r64, at(FRAME, slot), RAX);
        self.least_index(site, indexed)?;
        self.asm.rm(Code::Add_r32_rm32, Register::EDX, at(FRAME, slot));
        self.extend(RAX, RDX, indexed.sign);
        let align = self.frame.sites[site].align;
        self.asm.push(Instruction::with2(Code::Shl_rm64_imm8, RAX, (indexed.factor / align).trailing_zeros()));
        self.asm.rr(Code::Add_r64_rm64, RAX, RCX);
        // Rotated, as `check` has it.
        for code in [Code::Shl_rm64_imm8, Code::Ror_rm64_imm8] {
            self.asm.push(Instruction::with2(code, RAX, align.trailing_zeros()));
        }
        Ok(())
    }
}
