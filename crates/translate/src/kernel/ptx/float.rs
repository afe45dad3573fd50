//! The multiply-add family: the spelling with the same operation where PTX has one, otherwise instructions that give the
//! same bits.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_ir::{Operand, Reg, Width};

use super::body::{Body, Written, none};
use super::rows::{self, Row};
use super::text::{Arg, bits_type};

/// An operand of a component: what is written, and the bits where they are known.
type Args = [Arg<'static>; 3];

pub(super) const fn rounding_word(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => ".rn",
        Rounding::TowardZero => ".rz",
        Rounding::Down => ".rm",
        Rounding::Up => ".rp",
    }
}

/// `.f32`
pub(super) fn type_word(format: Format) -> Option<&'static str> {
    [(Format::F16, ".f16"), (Format::BF16, ".bf16"), (Format::F32, ".f32"), (Format::F64, ".f64")]
        .into_iter()
        .find_map(|(known, word)| (known == format).then_some(word))
}

/// What an operation is called in a refusal: as PTX would spell it.
fn described(operation: &Operation, components: u32) -> String {
    let name = match operation.op {
        ArithOp::MulAdd => "fma",
        ArithOp::Add => "add",
        ArithOp::Mul => "mul",
        ArithOp::TruncatedMulAdd => "mad (its product cut, as on sm_1x)",
    };
    let mut text = format!("`{name}{}", rounding_word(operation.rounding));
    let clamp = match operation.clamp {
        Clamp::None => "",
        Clamp::Unit => ".sat",
        Clamp::Relu => ".relu",
    };
    for (is_set, word) in [(operation.flush, ".ftz"), (operation.fmz, ".fmz"), (operation.oob, ".oob")] {
        if is_set {
            text.push_str(word);
        }
    }
    text.push_str(clamp);
    text.push_str(type_word(operation.format).unwrap_or(" of another format"));
    if components == 2 {
        text.push_str("x2");
    }
    if !operation.is_uniform() {
        text.push_str(" of other operands");
    }
    text.push('`');
    text
}

impl Body<'_> {
    pub(super) fn float(&mut self, d: Reg, operation: &Operation, components: u32, args: [Operand; 3]) -> Written {
        let mut operands = [Arg::Sink; 3];
        for (index, (operand, arg)) in operands.iter_mut().zip(args).enumerate().take(operation.op.arity()) {
            *operand = self.float_operand(arg, operation.operand_format(index), components);
        }
        // The sign of an addend that there is not.
        let mut operation = *operation;
        operation.negate_addend &= operation.op != ArithOp::Mul;
        self.compute(d.into(), operation, components, operands)
    }

    /// The row of an operation: one for what is asked for or the lowest target, otherwise the earliest that may be.
    fn row(&self, operation: &Operation, components: u32) -> Option<&'static Row> {
        let rows = rows::floats(operation, components);
        rows.iter().find(|row| self.has(&row.gate))
    }

    fn write_row(&mut self, d: Arg<'static>, row: &Row, operation: &Operation, args: &Args) -> Written {
        self.using(row.gate, &[&row.spelling])?;
        let [a, b, c] = *args;
        match operation.op.arity() {
            2 => self.ins(&[&row.spelling], &[d, a, b]),
            _ => self.ins(&[&row.spelling], &[d, a, b, c]),
        }
        Ok(())
    }

    /// An operation of one or two components into a register.
    pub(super) fn compute(&mut self, d: Arg<'static>, operation: Operation, components: u32, args: Args) -> Written {
        if let Some(row) = self.row(&operation, components) {
            return self.write_row(d, row, &operation, &args);
        }
        if self.rewritten(d, operation, components, args)? {
            return Ok(());
        }
        // A later target has it.
        let may = rows::floats(&operation, components).iter().find(|row| self.may_have(&row.gate));
        if let Some(row) = may {
            return self.write_row(d, row, &operation, &args);
        }
        match rows::floats(&operation, components).first() {
            Some(row) => self.write_row(d, row, &operation, &args),
            None => none(described(&operation, components)),
        }
    }

    /// Other instructions with the same bits: whether there are some.
    fn rewritten(
        &mut self,
        d: Arg<'static>,
        operation: Operation,
        components: u32,
        args: Args,
    ) -> Result<bool, super::body::Refusal> {
        let Operation { op, format, .. } = operation;
        if op == ArithOp::TruncatedMulAdd || operation.operand_formats.is_some() || operation.oob {
            return Ok(false);
        }
        if !operation.is_uniform() {
            return self.widened(d, operation, components, args);
        }
        if operation.negate_product || (operation.negate_addend && op != ArithOp::Add) {
            self.negated(d, operation, components, args)?;
            return Ok(true);
        }
        if format.width() == 16 && op != ArithOp::MulAdd {
            // a + c = a × 1 + c and a × b = a × b + 0 of the sign that changes no zero: one rounding each.
            let zero = if operation.rounding == Rounding::Down { 0 } else { format.sign_mask() };
            let [a, other, _] = args;
            let (factor, addend, negate) = match op {
                ArithOp::Add => (format.one(), other, operation.negate_addend),
                _ => (zero, other, false),
            };
            let fused = Operation { op: ArithOp::MulAdd, negate_addend: negate, ..operation };
            let plain = Operation { negate_addend: false, ..fused };
            if !operation.fmz && self.row(&plain, components).is_some() {
                let (width, both) = match components {
                    2 => (Width::B32, factor << 16 | factor),
                    _ => (Width::B16, factor),
                };
                let number = self.in_register(Arg::Int(both, width), width);
                let args = if op == ArithOp::Add { [a, number, addend] } else { [a, addend, number] };
                self.compute(d, fused, components, args)?;
                return Ok(true);
            }
        }
        if components == 2 {
            self.split(d, operation, args)?;
            return Ok(true);
        }
        if operation.fmz {
            return self.zero_dominates(d, operation, args);
        }
        if operation.clamp != Clamp::None {
            return self.clamped(d, operation, args);
        }
        if format.width() == 16 && operation.rounding != Rounding::NearestEven && !operation.flush {
            self.in_double(d, operation, args)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Narrow factors are widened first: exactly.
    fn widened(
        &mut self,
        d: Arg<'static>,
        operation: Operation,
        components: u32,
        args: Args,
    ) -> Result<bool, super::body::Refusal> {
        let wide = operation.format == Format::F32 && matches!(operation.source_format, Format::F16 | Format::BF16);
        if components != 1 || !wide {
            return Ok(false);
        }
        let mut args = args;
        let narrow = if operation.op == ArithOp::Add { 1 } else { 2 };
        for arg in args.iter_mut().take(narrow) {
            *arg = self.widen(*arg, operation.source_format);
        }
        self.compute(d, Operation { source_format: Format::F32, ..operation }, 1, args)?;
        Ok(true)
    }

    /// f16 or bf16 in f32: exact.
    pub(super) fn widen(&mut self, arg: Arg<'static>, format: Format) -> Arg<'static> {
        let arg = self.in_register(arg, Width::B16);
        if format == Format::F16 {
            return self.computed(Width::B32, &["cvt.f32.f16"], &[arg]);
        }
        let zero = self.in_register(Arg::Int(0, Width::B16), Width::B16);
        self.computed(Width::B32, &["mov.b32"], &[Arg::Vector(&[zero, arg])])
    }

    /// A minus becomes one of an operand, or a subtraction.
    fn negated(&mut self, d: Arg<'static>, operation: Operation, components: u32, args: Args) -> Written {
        let Operation { op, format, .. } = operation;
        let mut args = args;
        let mut plain = Operation { negate_product: false, ..operation };
        if operation.negate_product {
            // c − a; of two NaNs of f64 the second operand's payload is kept, so that they cannot change places.
            if op == ArithOp::Add && !operation.negate_addend && format != Format::F64 {
                let [a, c, rest] = args;
                return self.compute(d, Operation { negate_addend: true, ..plain }, components, [c, a, rest]);
            }
            args[0] = self.minus(args[0], format, components);
        }
        if plain.negate_addend && op == ArithOp::MulAdd {
            plain.negate_addend = false;
            args[2] = self.minus(args[2], format, components);
        }
        self.compute(d, plain, components, args)
    }

    /// A value with its sign flipped, of an operation that gives the same NaN for either sign of one. Of f64 a NaN is kept.
    fn minus(&mut self, arg: Arg<'static>, format: Format, components: u32) -> Arg<'static> {
        let width = Width::holding(format.width() * components);
        match (arg, components) {
            (Arg::F32(bits), _) => return Arg::F32(bits ^ format.sign_mask()),
            (Arg::F64(bits), _) if !format.is_nan(bits) => return Arg::F64(bits ^ format.sign_mask()),
            (Arg::F64(_), _) => return arg,
            _ => {}
        }
        if format == Format::F32 && components == 1 {
            return self.computed(width, &["neg.f32"], &[arg]);
        }
        let sign = format.sign_mask();
        let signs = if components == 2 { sign << format.width() | sign } else { sign };
        let flipped = self.computed(width, &["xor", bits_type(width)], &[arg, Arg::Int(signs, width)]);
        if format != Format::F64 {
            return flipped;
        }
        let nan = self.computed(Width::Pred, &["setp.nan.f64"], &[arg, arg]);
        self.computed(width, &["selp.b64"], &[arg, flipped, nan])
    }

    /// Each component on its own.
    fn split(&mut self, d: Arg<'static>, operation: Operation, args: Args) -> Written {
        let width = Width::holding(operation.format.width());
        let whole = Width::holding(operation.format.width() * 2);
        let mut parts = [[Arg::Sink; 3]; 2];
        for (index, arg) in args.into_iter().enumerate().take(operation.op.arity()) {
            let halves = self.halves(arg, whole);
            (parts[0][index], parts[1][index]) = (halves[0], halves[1]);
        }
        let guard = self.guard.take();
        let results = [self.temporary(width), self.temporary(width)];
        let written = self
            .compute(results[0], operation, 1, parts[0])
            .and_then(|()| self.compute(results[1], operation, 1, parts[1]));
        self.guard = guard;
        written?;
        self.ins(&["mov", bits_type(whole)], &[d, Arg::Vector(&results)]);
        Ok(())
    }

    /// `.FMZ`: where a factor is zero the product is +0, whatever the other factor is.
    fn zero_dominates(
        &mut self,
        d: Arg<'static>,
        operation: Operation,
        args: Args,
    ) -> Result<bool, super::body::Refusal> {
        let Operation { format, op, .. } = operation;
        if format != Format::F32 || !operation.flush || op == ArithOp::Add {
            return Ok(false);
        }
        let [a, b, c] = args;
        let zero = Arg::F32(0);
        let first = self.computed(Width::Pred, &["setp.eq.ftz.f32"], &[a, zero]);
        let dominated = self.computed(Width::Pred, &["setp.eq.or.ftz.f32"], &[b, zero, first]);
        let guard = self.guard.take();
        let plain = self.temporary(Width::B32);
        let mut written = self.compute(plain, Operation { fmz: false, ..operation }, 1, args);
        let mut without = zero;
        if op == ArithOp::MulAdd {
            without = self.temporary(Width::B32);
            let add = Operation { op: ArithOp::Add, fmz: false, ..operation };
            written = written.and_then(|()| self.compute(without, add, 1, [zero, c, Arg::Sink]));
        }
        self.guard = guard;
        written?;
        let without = if matches!(without, Arg::F32(_)) { Arg::Int(0, Width::B32) } else { without };
        self.ins(&["selp.b32"], &[d, without, plain, dominated]);
        Ok(true)
    }

    /// A clamp that the operation's own spelling has not.
    fn clamped(&mut self, d: Arg<'static>, operation: Operation, args: Args) -> Result<bool, super::body::Refusal> {
        let Some(ty) = type_word(operation.format) else { return Ok(false) };
        let width = Width::holding(operation.format.width());
        let guard = self.guard.take();
        let result = self.temporary(width);
        let written = self.compute(result, Operation { clamp: Clamp::None, ..operation }, 1, args);
        self.guard = guard;
        written?;
        match (operation.clamp, operation.format) {
            // The result is one of the format's own numbers: nothing is rounded again.
            (Clamp::Unit, Format::F32 | Format::F64) => self.ins(&["cvt.sat", ty, ty], &[d, result]),
            (Clamp::Unit, Format::F16) => {
                self.using(super::needs::since(4, 2, 53), &["cvt.sat.f16.f16"])?;
                self.ins(&["cvt.sat.f16.f16"], &[d, result]);
            }
            (Clamp::Unit, Format::BF16) => {
                // A NaN gives the other operand; −0 is below +0.
                self.using(super::needs::since(7, 0, 80), &["max.bf16"])?;
                let zero = self.in_register(Arg::Int(0, width), width);
                let one = self.in_register(Arg::Int(Format::BF16.one(), width), width);
                let low = self.computed(width, &["max.bf16"], &[result, zero]);
                self.ins(&["min.bf16"], &[d, low, one]);
            }
            (Clamp::Relu, Format::F32 | Format::F16 | Format::BF16) => {
                self.using(super::needs::since(7, 0, 80), &["max.NaN", ty])?;
                let zero = match operation.format {
                    Format::F32 => Arg::F32(0),
                    _ => self.in_register(Arg::Int(0, width), width),
                };
                self.ins(&["max.NaN", ty], &[d, result, zero]);
            }
            _ => return none(described(&operation, 1)),
        }
        Ok(true)
    }

    /// A direction that the 16-bit formats have not: in f64 in the same direction, then to the format. Rounding twice in one
    /// direction is rounding once.
    fn in_double(&mut self, d: Arg<'static>, operation: Operation, args: Args) -> Written {
        let Operation { op, format, rounding, .. } = operation;
        let mut wide = args;
        for arg in wide.iter_mut().take(op.arity()) {
            let single = self.widen(*arg, format);
            *arg = self.computed(Width::B64, &["cvt.f64.f32"], &[single]);
        }
        let guard = self.guard.take();
        let exact = self.temporary(Width::B64);
        let double = Operation { format: Format::F64, source_format: Format::F64, ..operation };
        let written = self.compute(exact, double, 1, wide);
        self.guard = guard;
        written?;
        self.narrow_double(d, exact, format, rounding)
    }

    /// The same number, a NaN the canonical one: `cvt` from f64 keeps payloads.
    pub(super) fn canonical(&mut self, d: Arg<'static>, a: Arg<'static>, format: Format) -> Written {
        match format {
            Format::F32 => self.ins(&["add.rn.f32"], &[d, a, Arg::F32(format.sign_mask())]),
            _ => {
                self.using(super::needs::since(4, 2, 53), &["add.rn.f16"])?;
                let zero = self.in_register(Arg::Int(format.sign_mask(), Width::B16), Width::B16);
                self.ins(&["add.rn.f16"], &[d, a, zero]);
            }
        }
        Ok(())
    }

    /// f64 to f16 or bf16, in a direction.
    fn narrow_double(&mut self, d: Arg<'static>, a: Arg<'static>, format: Format, rounding: Rounding) -> Written {
        if format == Format::F16 {
            let narrow = self.computed(Width::B16, &["cvt", rounding_word(rounding), ".f16.f64"], &[a]);
            return self.canonical(d, narrow, format);
        }
        if rounding != Rounding::TowardZero {
            return none(format!("a conversion to bf16 with `{}`", rounding_word(rounding)));
        }
        let single = self.computed(Width::B32, &["cvt.rz.f32.f64"], &[a]);
        self.using(super::needs::since(7, 0, 80), &["cvt.rz.bf16.f32"])?;
        self.ins(&["cvt.rz.bf16.f32"], &[d, single]);
        Ok(())
    }
}
