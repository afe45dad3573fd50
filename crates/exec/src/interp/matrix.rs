//! Matrix multiply-add: the registers of a warp's lanes put together to matrices, and the result taken apart.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::register::with_lane;
use crate::scalar::multiply;
use roundonce_ir::{Fragment, MatrixMultiply, Operand, Reg, ScaleOperand, Width};

impl Interpreter<'_> {
    pub(super) fn multiply_matrices(
        &mut self,
        op: &MatrixMultiply,
        d: &[Reg],
        [a, b, c]: [&[Operand]; 3],
        scales: Option<&[ScaleOperand; 2]>,
    ) -> Outcome {
        let warps = self.warps();
        if let Some(warp) = warps.iter().find(|warp| warp.here != u32::MAX) {
            let (here, name) = (warp.here.count_ones(), &op.name);
            let message = format!(
                "`{name}` needs all 32 lanes of a warp, and {here} are here: the others have ended or were never started"
            );
            return Err(Fault::at(FaultKind::Deadlock, warp.start + warp.here.trailing_zeros() as usize, message));
        }
        if let Some(warp) = warps.iter().find(|warp| self.warpgroup(op, warp).any(|(_, here)| here != u32::MAX)) {
            let here: u32 = self.warpgroup(op, warp).map(|(_, here)| here.count_ones()).sum();
            let (name, all) = (&op.name, 32 * op.warps);
            let message = format!(
                "`{name}` needs all {all} threads of a warpgroup, and {here} are here: the others went another way, have \
                 ended or were never started"
            );
            return Err(Fault::at(FaultKind::Deadlock, warp.start, message));
        }
        let [size_a, size_b, size_d] = op.sizes();
        // What every warp reads comes before what any writes.
        let mut columns = vec![Vec::new(); d.len()];
        for warp in warps {
            let a = self.gathered(&op.a, a, warp.start, size_a);
            let b = self.gathered(&op.b, b, warp.start, size_b);
            let c = self.gathered(&op.c, c, warp.start, size_d);
            let scales = self.scales(op, scales, warp.start)?;
            let mut product = vec![0; size_d];
            multiply(op, &self.code.profile, [&a, &b, &c], [&scales[0], &scales[1]], &mut product);
            let in_register = op.d.in_register();
            for lane in 0..32 {
                let places = &op.d.places[lane * op.d.elements..][..op.d.elements];
                for (column, places) in columns.iter_mut().zip(places.chunks(in_register)) {
                    let element =
                        |(at, &place): (usize, &u16)| product[usize::from(place)] << (at as u32 * op.d.stride);
                    let bits = places.iter().enumerate().map(element).fold(0, |all, bits| all | bits);
                    column.push((warp.start + lane, bits));
                }
            }
        }
        for (&d, column) in d.iter().zip(columns) {
            with_lane!(op.d.width, T => self.write_wide::<T>(d, column));
        }
        Ok(())
    }

    /// A matrix from the lanes of the warp that starts at a lane.
    fn gathered(&self, fragment: &Fragment, registers: &[Operand], start: usize, size: usize) -> Vec<u64> {
        let mut matrix = vec![0; size];
        let (in_register, stride) = (fragment.in_register(), fragment.stride);
        let mask = u64::MAX >> (64 - stride);
        for (lane, places) in fragment.places.chunks_exact(fragment.elements).enumerate() {
            for (&register, places) in registers.iter().zip(places.chunks(in_register)) {
                let bits = self.files.lane(register, fragment.width, start + lane, self.geometry);
                for (at, &place) in places.iter().enumerate() {
                    matrix[usize::from(place)] = bits >> (at as u32 * stride) & mask;
                }
            }
        }
        matrix
    }

    /// The scales of a's rows and of b's columns.
    fn scales(
        &self,
        op: &MatrixMultiply,
        operands: Option<&[ScaleOperand; 2]>,
        start: usize,
    ) -> Outcome<[Vec<u64>; 2]> {
        let mut scales = [Vec::new(), Vec::new()];
        let (Some(operands), Some(fragments)) = (operands, &op.scales) else { return Ok(scales) };
        let value = |operand, width, lane| self.files.lane(operand, width, start + lane, self.geometry);
        for (matrix, scales) in scales.iter_mut().enumerate() {
            let operand = &operands[matrix];
            // The selectors are the same in all lanes.
            let [first, thread] = [operand.byte, operand.thread].map(|selector| value(selector, Width::B16, 0));
            if !op.has_selectors(matrix, first, thread) {
                let (name, of) = (&op.name, ["a", "b"][matrix]);
                let message = format!("`{name}` has no scales of {of} with the selectors {{{first}, {thread}}}");
                return Err(Fault::at(FaultKind::Access, start, message));
            }
            for &lane in &fragments[matrix].lanes[thread as usize] {
                let data = value(operand.data, Width::B32, usize::from(lane));
                scales.extend((first..).take(op.dot.scales()).map(|byte| data >> (8 * byte) & 0xff));
            }
        }
        Ok(scales)
    }
}
