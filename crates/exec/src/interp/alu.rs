//! Arithmetic, logic, comparisons and conversions over the active lanes.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::register::{Lane, LaneShape, View, with_lane};
use super::split::{Split, StepOutcome};
use crate::kernel::{DecodedInst, LOCAL_WINDOW, LaunchConfig, PARAM_WINDOW, SHARED_WINDOW, conversion};
use crate::scalar::{self, MinMax, int_op, int_op_inline};
use roundonce_arith::batch::{Batch, Source};
use roundonce_arith::{ArithOp, Format, Rounding};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Reg, Scalar, Signedness, Special, Width};

// Each kind of instruction has a function of its own, so that the common ones do not pay for the stack frames of others.
impl<'a> Interpreter<'a> {
    /// One instruction over the active lanes.
    #[inline(never)]
    pub(super) fn execute(&mut self, inst: &DecodedInst<'a>, split: &mut Split) -> Outcome<StepOutcome> {
        match inst.op {
            Op::Float { d, args, .. } => {
                if let Some(batch) = &inst.batch
                    && self.float(inst, batch, *d, args)
                {
                    return Ok(StepOutcome::FusedStore);
                }
            }
            Op::Int { d, op, width, args } => self.int(*d, *op, *width, args),
            Op::Load { d, space, bytes, signed, address, offset } => {
                self.load(d, *space, *bytes, *signed, (*address, *offset), inst.is_foldable_load)?;
            }
            Op::Store { values, width, space, bytes, address, offset } => {
                self.store(values, *width, *space, *bytes, *address, *offset)?;
            }
            Op::Compare { d, comparison, of, a, b } => self.compare(*d, *comparison, *of, *a, *b),
            Op::Move { d, a } => with_lane!(self.code.kernel.width(*d), T => self.copy::<T>(*d, *a)),
            Op::Select { d, p, a, b } => {
                with_lane!(self.code.kernel.width(*d), T => {
                    self.map3::<u8, T, T, T>(*d, *p, *a, *b, |p, a, b| if p != 0 { a } else { b });
                });
            }
            Op::Convert { d, a, .. } => self.convert(inst, *d, *a),
            Op::Special { d, special } => self.special(*d, *special),
            Op::Barrier { kind, id, count } => return self.barrier(split, *kind, *id, *count),
            Op::Exit => return Ok(StepOutcome::Exited),
            Op::Trap { message, .. } => {
                let lane = self.first_active().unwrap_or(0);
                return Err(Fault::at(FaultKind::Trap, lane, message.clone()));
            }
            Op::Unsupported { message, .. } => {
                let lane = self.first_active().unwrap_or(0);
                return Err(Fault::at(FaultKind::Unsupported, lane, format!("{message} cannot be run")));
            }
            Op::Fence => {}
            Op::Print { d, format, args } => self.print(*d, *format, *args)?,
            Op::Atomic { d, kind, space, bytes, address, offset, b, c, high } => {
                self.atomic(*d, *kind, *space, *bytes, (*address, *offset), [*b, *c], *high)?;
            }
            Op::ImageLoad { .. }
            | Op::ImageStore { .. }
            | Op::ImageAddress { .. }
            | Op::ImageSample { .. }
            | Op::ImageQuery { .. } => self.image(inst.op)?,
            Op::WarpBarrier { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::ActiveMask { .. }
            | Op::Elect { .. }
            | Op::Reduce { .. }
            | Op::MultiplyMatrices { .. } => return self.warp(inst.op, split),
            _ => self.rest(inst.op),
        }
        Ok(StepOutcome::Next)
    }

    /// Operations without a loop of their own.
    #[inline(never)]
    fn rest(&mut self, op: &Op) {
        let profile = self.code.profile;
        match op {
            &Op::Sign { d, negate, format, flush, arithmetic, a } => {
                let w = Width::holding(format.width());
                if !arithmetic {
                    return self.lanewise(d, &[(a, w)], &mut |x| scalar::sign(format, negate, flush, x[0]));
                }
                if format == Format::F32 && !flush && negate {
                    let negated = |a: u32| scalar::signed_sum(&profile, Format::F32, true, false, a.into()) as u32;
                    return self.map1::<u32, u32>(d, a, negated);
                }
                self.lanewise(d, &[(a, w)], &mut |x| scalar::signed_sum(&profile, format, negate, flush, x[0]));
            }
            &Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b } => {
                let w = Width::holding(format.width());
                let op = MinMax { format, max, flush, nan, xorsign_abs };
                self.lanewise(d, &[(a, w), (b, w)], &mut |x| scalar::min_max(&profile, op, [x[0], x[1]]));
            }
            &Op::Divide { d, format, rounding, flush, a, b } => {
                let w = Width::holding(format.width());
                self.lanewise(d, &[(a, w), (b, w)], &mut |x| {
                    scalar::divide(&profile, format, rounding, flush, x[0], x[1])
                });
            }
            &Op::SquareRoot { d, format, rounding, flush, a } => {
                let w = Width::holding(format.width());
                self.lanewise(d, &[(a, w)], &mut |x| scalar::square_root(&profile, format, rounding, flush, x[0]));
            }
            &Op::Scale { d, format, rounding, flush, a, exponent } => {
                let w = Width::holding(format.width());
                self.lanewise(d, &[(a, w), (exponent, Width::B32)], &mut |x| {
                    scalar::scale(&profile, format, rounding, flush, x[0], x[1] as u32 as i32)
                });
            }
            &Op::Remainder { d, format, a, b } => {
                let w = Width::holding(format.width());
                self.lanewise(d, &[(a, w), (b, w)], &mut |x| scalar::remainder(&profile, format, x[0], x[1]));
            }
            Op::Approximate { d, function, format, flush, saturate, a, b, name } => {
                self.stats.approximated(name, self.active.count as u64);
                let w = Width::holding(format.width());
                let second = if function.takes_integer() { Width::B32 } else { w };
                self.lanewise(*d, &[(*a, w), (*b, second)], &mut |x| {
                    let bits =
                        scalar::approximate(&profile, *function, *format, Rounding::NearestEven, *flush, [x[0], x[1]]);
                    if *saturate { format.saturate(bits) } else { bits }
                });
            }
            Op::ConvertPacked { d, conversion, args } => {
                let w = Width::holding(conversion.operand_bits());
                let [a, b, e, f, random] = *args;
                let args = [(a, w), (b, w), (e, w), (f, w), (random, Width::B32)];
                self.lanewise(*d, &args, &mut |x| conversion.evaluate(&profile, &x[..4], x[4]));
            }
            &Op::CopySign { d, format, sign, magnitude } => {
                let w = Width::holding(format.width());
                self.lanewise(d, &[(sign, w), (magnitude, w)], &mut |x| scalar::copy_sign(format, x[0], x[1]));
            }
            &Op::Classify { d, class, format, a } => {
                let w = Width::holding(format.width());
                self.lanewise(d, &[(a, w)], &mut |x| scalar::classify(format, class, x[0]) as u64);
            }
            &Op::Carry { d, out, subtract, carry, a, b } => {
                let w = self.code.kernel.width(d);
                let args = [(carry, Width::Pred), (a, w), (b, w)];
                let both = |x: &[u64; 5]| scalar::carry(subtract, w.bits(), x[1], x[2], x[0] != 0);
                // The carry is computed into a separate column first: `d` and `out` may both be operands.
                let carries = out.map(|out| (out, self.lanewise_column(&args, &mut |x| both(x).1 as u64)));
                self.lanewise(d, &args, &mut |x| both(x).0);
                if let Some((out, column)) = carries {
                    self.set_column::<u8>(out, column);
                }
            }
            &Op::Pack { d, low, high } => {
                let w = self.code.kernel.width(d);
                let half = Width::holding(w.bits() / 2);
                self.lanewise(d, &[(low, half), (high, half)], &mut |x| (x[0] & half.mask()) | x[1] << half.bits());
            }
            &Op::Extract { d, a, width, shift } => match (width, self.code.kernel.width(d)) {
                (Width::B64, Width::B32) => self.map1::<u64, u32>(d, a, |a| (a >> (shift & 63)) as u32),
                (Width::B32, Width::B16) => self.map1::<u32, u16>(d, a, |a| (a >> (shift & 31)) as u16),
                _ => self.lanewise(d, &[(a, width)], &mut |x| x[0] >> (shift & 63)),
            },
            _ => {}
        }
    }

    /// The multiply-add family. Whether the fused store was done too.
    #[inline(never)]
    fn float(&mut self, inst: &DecodedInst<'a>, batch: &Batch, d: Reg, args: &[Operand; 3]) -> bool {
        let operation = batch.operation();
        let unlike = operation.operand_formats.is_some();
        if !unlike && (operation.source_format.width(), operation.format.width()) == (16, 32) {
            self.float_mixed(batch, d, args);
            return false;
        }
        if unlike || operation.source_format.width() != operation.format.width() {
            let profile = self.code.profile;
            let count = operation.op.arity();
            let all: Vec<(Operand, Width)> =
                (0..count).map(|at| (args[at], Width::holding(operation.operand_format(at).width()))).collect();
            self.lanewise(d, &all, &mut |x| operation.evaluate(&profile, &x[..count]).bits);
            return false;
        }
        match Width::holding(operation.format.width()) {
            Width::B16 | Width::Pred => self.float_of::<u16>(inst, batch, d, args),
            Width::B32 => {
                let used = &args[..operation.op.arity()];
                let folded = used.iter().any(|&arg| self.folded(arg).is_some());
                if folded || inst.fused_store.is_some() {
                    for &arg in used {
                        self.files.b32.materialise(arg, self.geometry);
                    }
                    if self.float_store_fused(inst, batch, used) {
                        return true;
                    }
                }
                if folded {
                    self.float_folded(inst, batch, d, used);
                } else {
                    self.float_of::<u32>(inst, batch, d, args);
                }
            }
            Width::B64 => self.float_of::<u64>(inst, batch, d, args),
        }
        false
    }

    /// Factors of 16 bits, the addend and the result of 32.
    #[inline(never)]
    fn float_mixed(&mut self, batch: &Batch, d: Reg, args: &[Operand; 3]) {
        let count = batch.operation().op.arity();
        let (narrow, wide) = match batch.operation().op {
            ArithOp::Add => (&args[..1], Some(args[1])),
            _ => (&args[..2], (count > 2).then_some(args[2])),
        };
        let factors: [Option<u16>; 2] =
            core::array::from_fn(|at| narrow.get(at).map_or(Some(0), |&a| self.files.b16.uniform(a)));
        let addend = wide.map_or(Some(0), |addend| self.files.b32.uniform(addend));
        if let ([Some(a), Some(b)], Some(c)) = (factors, addend) {
            let all = [a.into(), if narrow.len() > 1 { b.into() } else { c.into() }, u64::from(c)];
            let bits = batch.operation().evaluate(&self.code.profile, &all[..count]).bits;
            return self.set_uniform::<u32>(d, bits as u32);
        }
        let (geometry, low, high) = (self.geometry, self.active.low, self.active.high);
        for &factor in narrow {
            self.files.b16.materialise(factor, geometry);
        }
        if let Some(addend) = wide {
            self.files.b32.materialise(addend, geometry);
        }
        let mut out = self.files.b32.acquire();
        let mut sources = [Source::Uniform(0); 2];
        for (source, &factor) in sources.iter_mut().zip(narrow) {
            *source = self.files.b16.source(factor, low, high);
        }
        let addend = wide.map(|addend| self.files.b32.source(addend, low, high));
        batch.run_mixed(&sources[..narrow.len()], addend, &mut out.0[low..high]);
        self.set_column(d, out);
    }

    #[inline(never)]
    fn float_of<T: Lane + roundonce_arith::batch::Lane>(
        &mut self,
        inst: &DecodedInst<'a>,
        batch: &Batch,
        d: Reg,
        args: &[Operand; 3],
    ) {
        let operation = batch.operation();
        let count = operation.op.arity();
        let args = &args[..count];
        let mut uniform = [0; 3];
        let file = T::file(&self.files);
        let all_uniform = args
            .iter()
            .zip(&mut uniform)
            .all(|(&arg, value)| file.uniform(arg).map(|bits| *value = bits.bits()).is_some());
        if all_uniform {
            let bits = operation.evaluate(&self.code.profile, &uniform[..count]).bits;
            self.set_uniform::<T>(d, T::of(bits));
            return;
        }
        let (geometry, low, high) = (self.geometry, self.active.low, self.active.high);
        let alone = self.active.full && self.splits.is_empty();
        let file = T::file_mut(&mut self.files);
        for &arg in args {
            file.materialise(arg, geometry);
        }
        // An operand that is overwritten, or whose last use this is, gives its column to the result.
        let reused = alone.then(|| {
            args.iter().position(|&arg| match arg {
                Operand::Reg(reg) => {
                    (reg == d || inst.is_last_use(reg))
                        && file.registers[reg.0 as usize].shape == LaneShape::Varying
                        && args.iter().filter(|&&other| other == arg).count() == 1
                }
                Operand::Imm(_) => false,
            })
        });
        let mut out = match reused.flatten().map(|at| (at, args[at])) {
            Some((at, Operand::Reg(reg))) => match file.registers[reg.0 as usize].column.take() {
                Some(mut column) => {
                    let mut sources = [Source::Out; 3];
                    for (place, (source, &arg)) in sources.iter_mut().zip(args).enumerate() {
                        if place != at {
                            *source = file.source(arg, low, high);
                        }
                    }
                    batch.run(&sources[..count], &mut column.0[low..high]);
                    file.registers[reg.0 as usize].shape = LaneShape::Uniform;
                    file.put_column(d, column);
                    return;
                }
                None => file.acquire(),
            },
            _ => file.acquire(),
        };
        let mut sources = [Source::Out; 3];
        for (source, &arg) in sources.iter_mut().zip(args) {
            *source = file.source(arg, low, high);
        }
        batch.run(&sources[..count], &mut out.0[low..high]);
        self.set_column(d, out);
    }

    /// Integer arithmetic and logic.
    #[inline(never)]
    fn int(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) {
        if width == Width::Pred {
            let [a, b, ..] = *args;
            return match op {
                IntOp::And => self.map2::<u8, u8, u8>(d, a, b, |a, b| a & b),
                IntOp::Or => self.map2::<u8, u8, u8>(d, a, b, |a, b| a | b),
                IntOp::Xor => self.map2::<u8, u8, u8>(d, a, b, |a, b| a ^ b),
                _ => self.map1::<u8, u8>(d, a, |a| a ^ 1),
            };
        }
        let (widths, count) = op.operand_widths(width);
        let mut values = [0; 4];
        let uniform = (0..count).all(|at| {
            let known = match widths[at] {
                Width::B32 => self.files.b32.uniform(args[at]).map(u64::from),
                Width::B64 => self.files.b64.uniform(args[at]),
                _ => self.files.b16.uniform(args[at]).map(u64::from),
            };
            known.map(|bits| values[at] = bits).is_some()
        });
        if uniform {
            let bits = match (op, width) {
                // The most common ones, without the table.
                (IntOp::Add, Width::B32) => (values[0] as u32).wrapping_add(values[1] as u32).into(),
                (IntOp::Add, Width::B64) => values[0].wrapping_add(values[1]),
                _ => int_op(op, width.bits(), values),
            };
            match op.result_width(width) {
                Width::B32 => self.set_uniform::<u32>(d, bits as u32),
                Width::B64 => self.set_uniform::<u64>(d, bits),
                _ => self.set_uniform::<u16>(d, bits as u16),
            }
            return;
        }
        if self.affine_int(d, op, width, args) {
            return;
        }
        let done = match width {
            Width::B32 => self.int_lanes::<u32>(d, op, args),
            Width::B64 => self.int_lanes::<u64>(d, op, args),
            _ => false,
        };
        if !done {
            let all: [(Operand, Width); 4] = core::array::from_fn(|at| (args[at], widths[at]));
            self.lanewise(d, &all[..count], &mut |&[a, b, c, d, _]| int_op(op, width.bits(), [a, b, c, d]));
        }
    }

    /// The operations that have a loop of their own.
    fn int_lanes<T: Lane>(&mut self, d: Reg, op: IntOp, args: &[Operand; 4]) -> bool {
        let bits = T::WIDTH.bits();
        let [a, b, c, _] = *args;
        macro_rules! two {
            ($op:expr) => {
                self.map2::<T, T, T>(d, a, b, |x, y| T::of(int_op_inline($op, bits, [x.bits(), y.bits(), 0, 0])))
            };
        }
        macro_rules! shift {
            ($op:expr) => {
                self.map2::<T, u32, T>(d, a, b, |x, y| T::of(int_op_inline($op, bits, [x.bits(), y.bits(), 0, 0])))
            };
        }
        match op {
            IntOp::Add => two!(IntOp::Add),
            IntOp::Sub => two!(IntOp::Sub),
            IntOp::Mul => two!(IntOp::Mul),
            IntOp::And => two!(IntOp::And),
            IntOp::Or => two!(IntOp::Or),
            IntOp::Xor => two!(IntOp::Xor),
            IntOp::Min(Signedness::Signed) => two!(IntOp::Min(Signedness::Signed)),
            IntOp::Max(Signedness::Signed) => two!(IntOp::Max(Signedness::Signed)),
            IntOp::Shl => shift!(IntOp::Shl),
            IntOp::Shr(Signedness::Unsigned) => shift!(IntOp::Shr(Signedness::Unsigned)),
            IntOp::Shr(Signedness::Signed) => shift!(IntOp::Shr(Signedness::Signed)),
            IntOp::MulAdd => self.map3::<T, T, T, T>(d, a, b, c, |x, y, z| {
                T::of(int_op_inline(IntOp::MulAdd, bits, [x.bits(), y.bits(), z.bits(), 0]))
            }),
            IntOp::MulWide(Signedness::Unsigned) if bits == 32 => self.map2::<T, T, u64>(d, a, b, |x, y| {
                int_op_inline(IntOp::MulWide(Signedness::Unsigned), bits, [x.bits(), y.bits(), 0, 0])
            }),
            IntOp::MulWide(Signedness::Signed) if bits == 32 => self.map2::<T, T, u64>(d, a, b, |x, y| {
                int_op_inline(IntOp::MulWide(Signedness::Signed), bits, [x.bits(), y.bits(), 0, 0])
            }),
            _ => return false,
        }
        true
    }

    #[inline(never)]
    fn compare(&mut self, d: Reg, comparison: Comparison, of: Comparand, a: Operand, b: Operand) {
        let width = match of {
            Comparand::Unsigned(width) | Comparand::Signed(width) => width,
            Comparand::Float { format, .. } => Width::holding(format.width()),
        };
        let uniform = match width {
            Width::B32 => self.files.b32.uniform(a).zip(self.files.b32.uniform(b)).map(|(a, b)| (a.into(), b.into())),
            Width::B64 => self.files.b64.uniform(a).zip(self.files.b64.uniform(b)),
            _ => None,
        };
        if let Some((a, b)) = uniform {
            return self.set_uniform::<u8>(d, scalar::compare(comparison, of, a, b) as u8);
        }
        if self.affine_compare(d, comparison, of, a, b) {
            return;
        }
        macro_rules! by {
            ($t:ty, $of:expr, $($name:ident),*) => {
                match comparison {
                    $(Comparison::$name => self.map2::<$t, $t, u8>(d, a, b, |x, y| {
                        scalar::compare(Comparison::$name, $of, x.bits(), y.bits()) as u8
                    }),)*
                    _ => self.lanewise(d, &[(a, width), (b, width)], &mut |x| scalar::compare(comparison, of, x[0], x[1]) as u64),
                }
            };
        }
        match of {
            Comparand::Signed(Width::B32) => by!(u32, Comparand::Signed(Width::B32), Eq, Ne, Lt, Le, Gt, Ge),
            Comparand::Unsigned(Width::B32) => by!(u32, Comparand::Unsigned(Width::B32), Eq, Ne, Lt, Le, Gt, Ge),
            Comparand::Float { format: Format::F32, flush: false } => {
                by!(
                    u32,
                    Comparand::Float { format: Format::F32, flush: false },
                    Eq,
                    Ne,
                    Lt,
                    Le,
                    Gt,
                    Ge,
                    Ltu,
                    Leu,
                    Gtu,
                    Geu,
                    Equ,
                    Neu,
                    Nan
                );
            }
            Comparand::Float { format: Format::F64, flush: false } => {
                by!(u64, Comparand::Float { format: Format::F64, flush: false }, Eq, Ne, Lt, Le, Gt, Ge);
            }
            _ => {
                self.lanewise(d, &[(a, width), (b, width)], &mut |x| scalar::compare(comparison, of, x[0], x[1]) as u64)
            }
        }
    }

    #[inline(never)]
    fn convert(&mut self, inst: &DecodedInst<'a>, d: Reg, a: Operand) {
        let Some(how) = conversion(inst.op) else { return };
        if let (Scalar::Int { bits, signed }, Scalar::Int { bits: to, .. }) = (how.from, how.to)
            && !how.saturate
        {
            if self.affine_convert(d, (bits, signed), to, a) {
                return;
            }
            match (bits, signed, to) {
                (32, false, 64) => return self.map1::<u32, u64>(d, a, |a| a as u64),
                (32, true, 64) => return self.map1::<u32, u64>(d, a, |a| a as i32 as i64 as u64),
                (64, _, 32) => return self.map1::<u64, u32>(d, a, |a| a as u32),
                (16, false, 32) => return self.map1::<u16, u32>(d, a, |a| a as u32),
                (16, true, 32) => return self.map1::<u16, u32>(d, a, |a| a as i16 as i32 as u32),
                _ => {}
            }
        }
        let profile = self.code.profile;
        self.lanewise(d, &[(a, how.from.width())], &mut |x| scalar::convert(&profile, how, x[0]));
    }

    #[inline(never)]
    fn copy<T: Lane>(&mut self, d: Reg, a: Operand) {
        let file = T::file(&self.files);
        match file.view(a) {
            View::Affine(rows, stride) if self.inactive_lanes_are_dead(d) => {
                let rows = rows.to_vec();
                T::file_mut(&mut self.files).put_affine(d, stride, rows.into_iter());
            }
            _ => self.map1::<T, T>(d, a, |a| a),
        }
    }

    /// Special registers: functions of the launch or of the lane.
    #[inline(never)]
    fn special(&mut self, d: Reg, special: Special) {
        let width = self.code.kernel.width(d);
        let config = self.config;
        let (threads, first, geometry) = (self.threads, self.first_block, self.geometry);
        let size = config.block;
        let special = special.in_engine();
        let uniform = match special {
            Special::Ntid(axis) => Some(size[axis as usize % 3] as u64),
            Special::Nctaid(axis) => Some(config.grid[axis as usize % 3] as u64),
            Special::Warps => Some(threads.div_ceil(32) as u64),
            Special::Clock => Some(self.issued),
            Special::DynamicShared => Some(config.dynamic_shared as u64),
            Special::TotalShared => Some(config.static_shared as u64 + config.dynamic_shared as u64),
            Special::Address(variable) => config.variables.get(variable as usize).copied(),
            Special::BufferBytes(param) => config.buffer_bytes.get(param as usize).copied(),
            Special::SharedWindow => Some(SHARED_WINDOW),
            Special::LocalWindow => Some(LOCAL_WINDOW),
            Special::ParamWindow => Some(PARAM_WINDOW),
            Special::Placement(placement) => placement.value(),
            _ => None,
        };
        if let Some(value) = uniform {
            with_lane!(width, T => self.set_uniform::<T>(d, T::of(value)));
            return;
        }
        let rows_of_block = threads / geometry.row;
        let row_value = |row: usize| match special {
            Special::Tid(0) => 0,
            Special::Tid(1) => (row % rows_of_block) as u64 % size[1] as u64,
            Special::Tid(_) => (row % rows_of_block) as u64 / size[1] as u64,
            Special::Ctaid(axis) => {
                LaunchConfig::axes(config.grid, first + (row / rows_of_block) as u64)[axis as usize % 3] as u64
            }
            _ => 0,
        };
        let lane_value = |lane: usize| {
            let thread = lane % threads;
            let place = (thread % 32) as u32;
            (match special {
                Special::Warp => (thread / 32) as u32,
                Special::MaskEq => 1 << place,
                Special::MaskLt => (1 << place) - 1,
                Special::MaskLe => u32::MAX >> (31 - place),
                Special::MaskGe => u32::MAX << place,
                Special::MaskGt => !(u32::MAX >> (31 - place)),
                _ => place,
            }) as u64
        };
        with_lane!(width, T => {
            if matches!(special, Special::Tid(_) | Special::Ctaid(_)) && self.inactive_lanes_are_dead(d) {
                let stride = T::of((special == Special::Tid(0)) as u64);
                let rows = (0..geometry.rows).map(|row| T::of(row_value(row)));
                T::file_mut(&mut self.files).put_affine(d, stride, rows);
            } else {
                let mut out = T::file_mut(&mut self.files).acquire();
                for (lane, out) in out.0[..geometry.lanes].iter_mut().enumerate() {
                    *out = T::of(match special {
                        Special::Tid(0) => (lane % geometry.row) as u64,
                        Special::Tid(_) | Special::Ctaid(_) => row_value(lane / geometry.row),
                        _ => lane_value(lane),
                    });
                }
                self.set_column::<T>(d, out);
            }
        });
    }
}
