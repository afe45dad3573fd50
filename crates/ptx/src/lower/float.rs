//! Floats: the multiply-add family by the rows of [`crate::forms`], and its neighbours.

use super::statement::Inst;
use super::{Body, Lowering, Result};
use crate::forms::FORMS;
use crate::types::{ScalarKind, Type};
use roundonce_arith::{Format, Rounding};
use roundonce_ir::{Class, Comparand, Comparison, Function, IntOp, Op, Operand, Width};
use roundonce_isa::{Recipe, Table};

static TABLE: Table = Table::new(&[FORMS]);

impl Lowering<'_, '_> {
    /// What an instruction of the family computes, or why nothing.
    pub(super) fn recipe(&self, modifiers: &[&str], spelling: &str) -> core::result::Result<Recipe, String> {
        let (target, version) = (Some(self.target), Some(self.version));
        // The assembler takes `.sat` twice.
        let saturates = modifiers.iter().filter(|modifier| **modifier == ".sat").count();
        let spelling = spelling.replacen(".sat", "", saturates.saturating_sub(1));
        let found = TABLE.resolve(&spelling, target, version).or_else(|_| TABLE.resolve(&spelling, None, None));
        found.map(|instruction| instruction.recipe).map_err(|finding| finding.message)
    }
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// fma, mad, add, sub, mul.
    pub(super) fn multiply_add(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let recipe = match &inst.recipe {
            Some(Ok(recipe)) => *recipe,
            Some(Err(reason)) => return Err(self.refuse(inst).help(reason.clone())),
            None => return Err(self.refuse(inst)),
        };
        let operation = recipe.operation;
        let arity = operation.op.arity();
        if inst.operands.len() != arity + 1 {
            let (given, spelling) = (inst.operands.len(), &inst.spelling);
            return Err(self.malformed(format!("`{spelling}` takes {} operands, not {given}", arity + 1)));
        }
        let of = |format: Format| Type {
            kind: ScalarKind::Float(format),
            bits: format.width() * recipe.components,
            components: recipe.components,
        };
        let mut values = Vec::new();
        for index in 0..arity {
            values.push(self.value_at(inst, index + 1, of(operation.operand_format(index)))?);
        }
        let ty = of(operation.format);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let (components, contractible) = (recipe.components, recipe.contractible);
        let mut args = [Operand::ZERO; 3];
        args[..values.len()].copy_from_slice(&values);
        self.emit(Op::Float { d, operation, components, contractible, args });
        Ok(())
    }

    /// abs, neg.
    pub(super) fn sign(&mut self, inst: &Inst<'m, 'a>, negate: bool) -> Result<()> {
        let ty = self.type_of(inst)?;
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        let flush = self.flushes(inst, ty);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let a = self.value_at(inst, 1, ty)?;
        // ptxas 12.9 makes a sum with -0 of it, up to sm_62 not of a single f16. What a sum gives is measured on sm_90; on a
        // machine before sm_70 the absolute value of an f64 NaN has no sign.
        let arithmetic = match self.lowering.target.number {
            _ if flush => true,
            70.. => true,
            50.. => format == Format::F32 || format == Format::F64 && negate || ty.components == 2,
            _ => false,
        };
        self.by_component(d, ty, &[a], |body, d, values| {
            body.emit(Op::Sign { d, negate, format, flush, arithmetic, a: values[0] });
            Ok(())
        })
    }

    /// min, max of two or three operands.
    pub(super) fn min_max(&mut self, inst: &Inst<'m, 'a>, max: bool) -> Result<()> {
        let ty = self.type_of(inst)?;
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        // `.abs` alone takes three operands; the documents do not say whose sign the result has. `.relu` is not of
        // the floating-point forms.
        if inst.has(".abs") != inst.has(".xorsign") || inst.has(".relu") {
            return Err(self.refuse(inst));
        }
        let flush = self.flushes(inst, ty);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let mut values = Vec::new();
        for index in 1..inst.operands.len() {
            values.push(self.value_at(inst, index, ty)?);
        }
        let (nan, xorsign_abs) = (inst.has(".NaN"), inst.has(".xorsign"));
        let width = ty.component().width();
        self.by_component(d, ty, &values, |body, d, values| {
            match *values {
                [a, b, c] => {
                    let first = body.fresh(width);
                    body.emit_always(Op::MinMax { d: first, max, format, flush, nan, xorsign_abs, a, b });
                    body.emit(Op::MinMax { d, max, format, flush, nan, xorsign_abs, a: first.into(), b: c });
                }
                _ => body.emit(Op::MinMax { d, max, format, flush, nan, xorsign_abs, a: values[0], b: values[1] }),
            }
            Ok(())
        })
    }

    /// div, rcp, sqrt: rounded as they say, or approximate.
    pub(super) fn quotient(&mut self, inst: &Inst<'m, 'a>, function: Function) -> Result<()> {
        let ty = self.type_of(inst)?;
        let approximate = inst.has(".approx") || inst.has(".full");
        // Up to PTX 1.3 the single-precision forms without a modifier are approximate, the double-precision ones not.
        let old_approximate = inst.rounding().is_none() && ty.kind == ScalarKind::Float(Format::F32);
        if approximate || old_approximate {
            return self.approximate(inst, function);
        }
        let (Some(format), 1) = (ty.format(), ty.components) else { return Err(self.refuse(inst)) };
        let rounding = inst.rounding().unwrap_or(Rounding::NearestEven);
        let flush = self.flushes(inst, ty);
        let a = self.value_at(inst, 1, ty)?;
        let op = match function {
            Function::Divide => {
                let b = self.value_at(inst, 2, ty)?;
                let d = self.exact(self.operand_at(inst, 0)?, ty)?;
                Op::Divide { d, format, rounding, flush, a, b }
            }
            Function::Reciprocal => {
                let d = self.exact(self.operand_at(inst, 0)?, ty)?;
                Op::Divide { d, format, rounding, flush, a: Operand::Imm(format.one()), b: a }
            }
            _ => {
                let d = self.exact(self.operand_at(inst, 0)?, ty)?;
                Op::SquareRoot { d, format, rounding, flush, a }
            }
        };
        self.emit(op);
        Ok(())
    }

    pub(super) fn approximate(&mut self, inst: &Inst<'m, 'a>, function: Function) -> Result<()> {
        let ty = self.type_of(inst)?;
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        // Up to PTX 1.3 the forms without a modifier flush.
        let flush =
            self.flushes(inst, ty) || (self.lowering.version < roundonce_isa::Version(1, 4) && format == Format::F32);
        let mut values = vec![self.value_at(inst, 1, ty)?];
        if function == Function::Divide {
            let b = self.value_at(inst, 2, ty)?;
            values.push(if inst.has(".full") { b } else { self.divisor(b) });
        }
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let (saturate, name) = (inst.has(".sat"), inst.spelling.clone());
        if format == Format::F64 && inst.has(".ftz") {
            // The upper 32 bits of the operand give the upper 32 of the result; the lower ones are zero, also in a NaN, whose other bits are
            // ones (PTX ISA, `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`).
            let upper = Operand::Imm(!0 << 32);
            let a = self.int(IntOp::And, Width::B64, [values[0], upper, Operand::ZERO]);
            let whole = self.fresh(Width::B64);
            let (a, b) = (a.into(), Operand::ZERO);
            self.emit(Op::Approximate { d: whole, function, format, flush, saturate, a, b, name });
            let number = self.int(IntOp::And, Width::B64, [whole.into(), upper, Operand::ZERO]);
            let is_nan =
                self.compare(Comparison::Nan, Comparand::Float { format, flush: false }, whole.into(), whole.into());
            let nan = Operand::Imm(0x7fff_ffff << 32);
            self.emit(Op::Select { d, p: is_nan.into(), a: nan, b: number.into() });
            return Ok(());
        }
        self.by_component(d, ty, &values, |body, d, values| {
            let (a, b) = (values[0], values.get(1).copied().unwrap_or(Operand::ZERO));
            body.emit(Op::Approximate { d, function, format, flush, saturate, a, b, name: name.clone() });
            Ok(())
        })
    }

    /// A divisor of `div.approx.f32` beyond 2^126 in magnitude counts as an infinity: what is finite gives a zero, an infinity NaN (PTX
    /// ISA, `div`).
    fn divisor(&mut self, b: Operand) -> Operand {
        const LARGEST: u64 = 0x7e80_0000;
        let infinity = Format::F32.infinity();
        let magnitude = self.bits(IntOp::And, b, Format::F32.magnitude_mask()).into();
        let over = self.bits(IntOp::Sub, magnitude, LARGEST + 1).into();
        let unsigned = Comparand::Unsigned(Width::B32);
        let p = self.compare(Comparison::Lt, unsigned, over, Operand::Imm(infinity - LARGEST - 1));
        let sign = self.bits(IntOp::And, b, Format::F32.sign_mask()).into();
        let infinite = self.bits(IntOp::Or, sign, infinity).into();
        self.choose(p, infinite, b).into()
    }

    pub(super) fn copysign(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        let (sign, magnitude) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, ty)?);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::CopySign { d, format, sign, magnitude });
        Ok(())
    }

    pub(super) fn testp(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let class = match inst.modifiers.first() {
            Some(&".finite") => Class::Finite,
            Some(&".infinite") => Class::Infinite,
            Some(&".number") => Class::Number,
            Some(&".notanumber") => Class::NotANumber,
            Some(&".normal") => Class::Normal,
            Some(&".subnormal") => Class::Subnormal,
            _ => return Err(self.refuse(inst)),
        };
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        let a = self.value_at(inst, 1, ty)?;
        let d = self.exact(self.operand_at(inst, 0)?, Type::PRED)?;
        if class == Class::Normal {
            // Zeros count as normal (PTX ISA, `testp`): what is finite and not subnormal.
            let [finite, subnormal] = [Class::Finite, Class::Subnormal].map(|class| {
                let d = self.fresh(Width::Pred);
                self.emit_always(Op::Classify { d, class, format, a });
                Operand::from(d)
            });
            let args = [finite, subnormal, Operand::ZERO, Operand::ZERO];
            self.emit(Op::Int { d, op: IntOp::Xor, width: Width::Pred, args });
            return Ok(());
        }
        self.emit(Op::Classify { d, class, format, a });
        Ok(())
    }
}
