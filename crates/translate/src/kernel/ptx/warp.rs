//! Threads of a warp and of a block together: shuffles, votes, barriers, matrices; and `printf`.

use roundonce_arith::Profile;
use roundonce_ir::{
    BarrierKind, IntOp, MatrixMultiply, Operand, Reduction, Reg, ScaleOperand, ShuffleMode, Signedness, VoteMode, Width,
};
use roundonce_isa::SmTarget;
use roundonce_ptx::matrix::{Family, MatrixInstruction};

use super::super::is_unaligned_barrier;
use super::body::{Body, Refusal, Written, none};
use super::needs::since;
use super::text::{Arg, bits_type};

/// Barriers that a block may name; the next one is its cluster's.
const BARRIERS: u64 = 16;
const B32: Width = Width::B32;
/// Every lane of a warp.
const ALL: Arg<'static> = Arg::Text("0xffffffff");

impl Body<'_> {
    /// The lanes that take part; where the program names none, those that are here.
    fn mask(&mut self, mask: Option<Operand>) -> Result<Arg<'static>, Refusal> {
        match mask {
            Some(Operand::Imm(0xffff_ffff)) => Ok(ALL),
            Some(mask) => Ok(self.int(mask, B32)),
            None => {
                self.using(since(6, 2, 30), &["activemask.b32"])?;
                let mask = self.temporary(B32);
                self.ins(&["activemask.b32"], &[mask]);
                Ok(mask)
            }
        }
    }

    pub(super) fn barrier(&mut self, kind: BarrierKind, id: Operand, count: Option<Operand>) -> Written {
        if let Operand::Imm(id) = id
            && id >= BARRIERS
        {
            return self.cluster_barrier(id, kind);
        }
        let id = self.int(id, B32);
        let count = count.map(|count| self.int(count, B32));
        let with_count = |first: &[Arg<'static>], last: Option<Arg<'static>>| {
            let mut all = [Arg::Sink; 4];
            let operands = first.iter().copied().chain(count).chain(last);
            let length = all.iter_mut().zip(operands).map(|(place, operand)| *place = operand).count();
            (all, length)
        };
        // What is not aligned may stand where the threads of a warp come apart, and `bar` may not.
        let opcode = match is_unaligned_barrier(self.kernel, self.loc) {
            true => {
                self.using(since(6, 0, 30), &["barrier.sync"])?;
                "barrier"
            }
            false => "bar",
        };
        match kind {
            BarrierKind::Wait => {
                let (all, length) = with_count(&[id], None);
                self.ins(&[opcode, ".sync"], &all[..length]);
            }
            BarrierKind::Arrive => {
                if count.is_none() {
                    return none("arriving at a barrier that waits for no number of threads");
                }
                let (all, length) = with_count(&[id], None);
                self.ins(&[opcode, ".arrive"], &all[..length]);
            }
            BarrierKind::Count { d, p } => {
                let p = self.register(p, Width::Pred);
                let (all, length) = with_count(&[d.into(), id], Some(p));
                self.ins(&[opcode, ".red.popc.u32"], &all[..length]);
            }
            BarrierKind::Reduce { d, p, all: every } => {
                let p = self.register(p, Width::Pred);
                let (all, length) = with_count(&[d.into(), id], Some(p));
                self.ins(&[opcode, if every { ".red.and.pred" } else { ".red.or.pred" }], &all[..length]);
            }
        }
        Ok(())
    }

    /// The barrier of a cluster of one block.
    fn cluster_barrier(&mut self, id: u64, kind: BarrierKind) -> Written {
        if id != BARRIERS || kind != BarrierKind::Wait {
            return none(format!("barrier {id} of a block"));
        }
        self.using(since(7, 8, 90), &["barrier.cluster"])?;
        self.ins(&["barrier.cluster.arrive"], &[]);
        self.ins(&["barrier.cluster.wait"], &[]);
        Ok(())
    }

    pub(super) fn shuffle(
        &mut self,
        (d, p): (Reg, Option<Reg>),
        mode: ShuffleMode,
        [a, b, c]: [Operand; 3],
        mask: Option<Operand>,
    ) -> Written {
        let word = match mode {
            ShuffleMode::Up => ".up",
            ShuffleMode::Down => ".down",
            ShuffleMode::Butterfly => ".bfly",
            ShuffleMode::Index => ".idx",
        };
        self.using(since(6, 0, 30), &["shfl.sync"])?;
        let mask = self.mask(mask)?;
        let (a, b, c) = (self.register(a, B32), self.int(b, B32), self.int(c, B32));
        let both = p.map(|p| [Arg::Reg(d), Arg::Reg(p)]);
        let d = both.as_ref().map_or(Arg::Reg(d), Arg::Pair);
        self.ins(&["shfl.sync", word, ".b32"], &[d, a, b, c, mask]);
        Ok(())
    }

    pub(super) fn vote(&mut self, d: Reg, mode: VoteMode, a: Operand, mask: Option<Operand>) -> Written {
        let word = match mode {
            VoteMode::All => ".all.pred",
            VoteMode::Any => ".any.pred",
            VoteMode::Uniform => ".uni.pred",
            VoteMode::Ballot => ".ballot.b32",
        };
        self.using(since(6, 0, 30), &["vote.sync"])?;
        let mask = self.mask(mask)?;
        let a = self.register(a, Width::Pred);
        self.ins(&["vote.sync", word], &[d.into(), a, mask]);
        Ok(())
    }

    pub(super) fn matching(
        &mut self,
        (d, p): (Reg, Option<Reg>),
        all: bool,
        width: Width,
        a: Operand,
        mask: Operand,
    ) -> Written {
        if width < B32 {
            return none("the lanes with the same 16 bits");
        }
        self.using(since(6, 0, 70), &["match.sync"])?;
        let mask = self.mask(Some(mask))?;
        let a = self.register(a, width);
        let both = p.map(|p| [Arg::Reg(d), Arg::Reg(p)]);
        let d = both.as_ref().map_or(Arg::Reg(d), Arg::Pair);
        self.ins(&["match", if all { ".all" } else { ".any" }, ".sync", bits_type(width)], &[d, a, mask]);
        Ok(())
    }

    /// The lowest lane of the mask, by hand where the target has no `elect`.
    pub(super) fn elect(&mut self, d: Option<Reg>, p: Reg, mask: Operand) -> Written {
        let gate = since(8, 0, 90);
        if self.has(&gate) {
            self.using(gate, &["elect.sync"])?;
            let mask = self.mask(Some(mask))?;
            let both = [d.map_or(Arg::Sink, Arg::Reg), Arg::Reg(p)];
            self.ins(&["elect.sync"], &[Arg::Pair(&both), mask]);
            return Ok(());
        }
        self.using(since(6, 0, 30), &["bar.warp.sync"])?;
        let mask = self.int(mask, B32);
        self.ins(&["bar.warp.sync"], &[mask]);
        let reversed = self.computed(B32, &["brev.b32"], &[mask]);
        let lowest = self.computed(B32, &["bfind.shiftamt.u32"], &[reversed]);
        let lane = self.computed(B32, &["mov.u32"], &[Arg::Text("%laneid")]);
        if let Some(d) = d {
            self.ins(&["mov.b32"], &[d.into(), lowest]);
        }
        self.ins(&["setp.eq.s32"], &[p.into(), lane, lowest]);
        Ok(())
    }

    pub(super) fn reduce(&mut self, d: Reg, reduction: Reduction, a: Operand, mask: Operand) -> Written {
        let mask = self.mask(Some(mask))?;
        let a = self.register(a, B32);
        let words = match reduction {
            Reduction::Int(op) => {
                let word = match op {
                    IntOp::Add => ".add.u32",
                    IntOp::Min(Signedness::Unsigned) => ".min.u32",
                    IntOp::Min(Signedness::Signed) => ".min.s32",
                    IntOp::Max(Signedness::Unsigned) => ".max.u32",
                    IntOp::Max(Signedness::Signed) => ".max.s32",
                    IntOp::And => ".and.b32",
                    IntOp::Or => ".or.b32",
                    IntOp::Xor => ".xor.b32",
                    _ => return none("such a reduction of a warp"),
                };
                self.using(since(7, 0, 80), &["redux.sync"])?;
                [word, "", "", ""]
            }
            Reduction::Float { max, abs, nan } => {
                let abs = if abs { ".abs" } else { "" };
                let nan = if nan { ".NaN" } else { "" };
                self.using(super::needs::architecture(8, 6, 100), &["redux.sync.f32"])?;
                [if max { ".max" } else { ".min" }, abs, nan, ".f32"]
            }
        };
        let [first, second, third, fourth] = words;
        self.ins(&["redux.sync", first, second, third, fourth], &[d.into(), a, mask]);
        Ok(())
    }

    /// `mma.sync`, of the machine that the program's products are of.
    pub(super) fn multiply_matrices(
        &mut self,
        multiply: &MatrixMultiply,
        d: &[Reg],
        [a, b, c]: [&[Operand]; 3],
        scales: Option<&[ScaleOperand; 2]>,
    ) -> Written {
        let name = &multiply.name;
        let instruction = MatrixInstruction::parse(name).ok().filter(|parsed| parsed.family == Family::Mma);
        let Some(instruction) = instruction else {
            return none(format!("`{name}`, whose fragments lie in registers as each machine wants,"));
        };
        // The machine decides what is computed: those that compute this.
        let gates = roundonce_ptx::matrix::matrix_gates(name);
        let computes = |target: SmTarget| {
            let gate = *gates.iter().find(|gate| gate.has_target(target))?;
            let row = instruction.row(target, &Profile::NVIDIA).ok()?;
            (row.dot == multiply.dot).then_some((target, gate))
        };
        let machines: Vec<_> = match self.asked_target() {
            Some(target) => computes(target).into_iter().collect(),
            None => super::needs::machines().filter_map(computes).collect(),
        };
        if machines.is_empty() {
            return Err(Refusal::Unavailable(format!("no target asked for has `{name}` with the same bits")));
        }
        self.using_machines(&machines, name)?;
        let list = |body: &mut Self, operands: &[Operand], width: Width| {
            operands.iter().map(|operand| body.register(*operand, width)).collect::<Vec<_>>()
        };
        let a = list(self, a, multiply.a.width);
        let b = list(self, b, multiply.b.width);
        let c = list(self, c, multiply.c.width);
        let d: Vec<Arg<'_>> = d.iter().map(|reg| Arg::Reg(*reg)).collect();
        let mut all = vec![Arg::Vector(&d), Arg::Vector(&a), Arg::Vector(&b), Arg::Vector(&c)];
        let mut selectors = Vec::new();
        for scale in scales.into_iter().flatten() {
            let data = self.register(scale.data, B32);
            selectors.push((data, [self.int(scale.byte, Width::B16), self.int(scale.thread, Width::B16)]));
        }
        for (data, selector) in &selectors {
            all.extend([*data, Arg::Vector(selector)]);
        }
        self.ins(&[name], &all);
        Ok(())
    }

    /// C's `printf`, by the function that the driver has.
    pub(super) fn print(&mut self, d: Option<Reg>, format: Operand, args: Operand) -> Written {
        self.prints = true;
        let width = self.address_width();
        let operands = [self.register(format, width), self.register(args, width)];
        let label = self.new_label();
        let guard = self.guard.take();
        if let Some(mut skipped) = guard {
            skipped.expected = !skipped.expected;
            self.text.push_str("    ");
            self.push_guard(skipped);
            self.line(format_args!("bra $Ldone{label};"));
        }
        self.text.push_str("    {\n    .param .b64 format;\n    .param .b64 values;\n    .param .b32 printed;\n");
        self.ins(&["st.param.b64"], &[Arg::Text("[format]"), operands[0]]);
        self.ins(&["st.param.b64"], &[Arg::Text("[values]"), operands[1]]);
        self.ins(&["call.uni"], &[Arg::Text("(printed)"), Arg::Text("vprintf"), Arg::Text("(format, values)")]);
        let result = d.map_or_else(|| self.temporary(B32), Arg::Reg);
        self.ins(&["ld.param.b32"], &[result, Arg::Text("[printed]")]);
        self.text.push_str("    }\n");
        if guard.is_some() {
            self.line(format_args!("$Ldone{label}:"));
        }
        self.guard = guard;
        Ok(())
    }
}
