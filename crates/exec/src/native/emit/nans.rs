//! NaNs in results: those of f64, which only the interpreter has, and those of f32 that are not canonical yet.

use super::super::alloc::{Allocation, Location};
use super::super::asm::{Decorators, Label, at};
use super::super::deferred::{FLUSH_PENDING, NAN_PENDING, RAW, is_conflicting};
use super::{A, B, DeoptReason, EmitError, EmitResult, Emitter, FRAME, Part, Source};
use crate::kernel::Machine;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::Format;
use roundonce_ir::{Operand, Reg, Width};

/// Vectors of which some have NaNs that are not canonical yet: where that is made up for, and where the code goes on.
pub(super) struct Unsettled {
    there: Label,
    back: Label,
    vectors: Vec<Location>,
}

impl Emitter<'_> {
    /// A side exit at a NaN of f64 in any of these vectors, as [`exit_on_nan`](Emitter::exit_on_nan) has one: two are compared with each
    /// other, and with AVX2 all are tested at once. Uses A, B and K2.
    pub(super) fn exit_on_nans(&mut self, vectors: &[Location]) {
        if self.machine() == Machine::Avx2 {
            self.test_nans(vectors, Width::B64);
            return self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
        }
        for pair in vectors.chunks(2) {
            let [x, y] = self.pair(pair, Width::B64);
            let code = Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
            self.asm.push(Instruction::with4(code, Register::K2, x, y, 3));
            self.asm.rr(Code::VEX_Kortestw_kr_kr, Register::K2, Register::K2);
            self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
        }
    }
    /// One vector or two in registers. Uses A and B.
    fn pair(&mut self, pair: &[Location], width: Width) -> [Register; 2] {
        let in_register = |emit: &mut Self, location: Location, scratch| match location {
            Location::Register(register) => register,
            Location::Slot(offset) => emit.load(Source::Frame(offset), width, scratch),
        };
        let x = in_register(self, pair[0], A);
        [x, pair.get(1).map_or(x, |&other| in_register(self, other, B))]
    }
    /// With AVX2: clears the flag for zero if any of these vectors has a NaN. Uses A and B.
    fn test_nans(&mut self, vectors: &[Location], width: Width) {
        for (index, pair) in vectors.chunks(2).enumerate() {
            let [x, y] = self.pair(pair, width);
            self.asm.collect_nans(x, y, width == Width::B64, index == 0);
        }
        self.asm.test_nans();
    }
    /// A side exit at a NaN of f64 of a register that is about to be stored, if it has not been looked for before.
    pub(super) fn exit_on_stored_nans(&mut self, value: Operand) -> EmitResult {
        let Operand::Reg(reg) = value else { return Ok(()) };
        if !self.deferred.checked_late[reg.0 as usize] {
            return Ok(());
        }
        // A NaN that was loaded is stored as it is.
        if self.states[reg.0 as usize] & RAW != 0 {
            return Err(EmitError::NeedsEager(reg));
        }
        let places = self.parts(reg).into_iter().map(|part| self.location(reg, part)).collect::<Option<Vec<_>>>();
        let places = places.filter(|places| !places.is_empty()).ok_or(EmitError::NeedsEager(reg))?;
        self.exit_on_nans(&places);
        Ok(())
    }
    /// A NaN of f64 keeps a payload by a rule that only the interpreter has: a side exit.
    pub(super) fn exit_on_nan(&mut self, d: Reg, part: Part, register: Register) {
        let code = Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
        let mask = self.merge_mask(d).map(|mask| {
            self.load_mask(mask, Width::B64, part, Register::K1);
            Register::K1
        });
        let compare = Instruction::with4(code, Register::K2, register, register, 3);
        self.asm.vector(compare, Decorators { mask, ..Decorators::default() });
        self.asm.rr(Code::VEX_Kortestw_kr_kr, Register::K2, Register::K2);
        self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
    }

    /// With AVX2: makes the NaNs of registers whose bits are about to be observed canonical, where they are. All vectors are tested at once,
    /// and seldom is there one: a comparison and a blend for each would be four operations on recent processors of Intel's.
    pub(super) fn settle_nans(&mut self, regs: impl Iterator<Item = Reg>) {
        // Inactive lanes may hold what must not change.
        if self.machine() != Machine::Avx2 || self.active_mask.is_some() || self.path_masks.is_some() {
            return;
        }
        let mut vectors = Vec::new();
        for reg in regs {
            let state = &mut self.states[reg.0 as usize];
            let is_pending = *state & (NAN_PENDING | FLUSH_PENDING) == NAN_PENDING && !is_conflicting(*state);
            if let Allocation::Vectors(of_reg) = &self.allocations[reg.0 as usize]
                && self.launch.code.kernel.width(reg) == Width::B32
                && is_pending
            {
                *state &= !NAN_PENDING;
                vectors.extend(of_reg);
            }
        }
        if vectors.is_empty() {
            return;
        }
        self.test_nans(&vectors, Width::B32);
        let [there, back] = [(); 2].map(|()| self.asm.label());
        self.asm.jump(Code::Jne_rel32_64, there);
        self.asm.bind(back);
        self.unsettled.push(Unsettled { there, back, vectors });
    }
    /// Where that is done. Uses A.
    pub(super) fn settle_apart(&mut self) {
        let Source::Frame(nan) = self.broadcast_constant(Format::F32.magnitude_mask(), Width::B32) else { return };
        for Unsettled { there, back, vectors } in std::mem::take(&mut self.unsettled) {
            self.asm.bind(there);
            for location in vectors {
                match location {
                    Location::Register(register) => self.asm.replace_nans(register, register, at(FRAME, nan)),
                    Location::Slot(offset) => {
                        let register = self.load(Source::Frame(offset), Width::B32, A);
                        self.asm.replace_nans(register, register, at(FRAME, nan));
                        self.asm.mr(Code::EVEX_Vmovaps_zmmm512_k1z_zmm, at(FRAME, offset), register);
                    }
                }
            }
            self.asm.jump(Code::Jmp_rel32_64, back);
        }
    }
}
