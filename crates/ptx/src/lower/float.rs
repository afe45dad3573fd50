//! Floats: the multiply-add family by the rows of [`crate::forms`], and its neighbours.

use super::statement::Inst;
use super::types::{Kind, Type};
use super::{Body, Result};
use crate::forms::FORMS;
use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{Class, Function, Op, Operand, Reg, Width};
use roundonce_isa::{Effect, Recipe, Table};

static TABLE: Table = Table::new(&[FORMS]);

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// What an instruction of the family computes.
    fn recipe(&self, inst: &Inst<'m, 'a>) -> Option<Recipe> {
        let lowering = self.lowering;
        let (target, version) = (Some(lowering.target), Some(lowering.version));
        // The assembler takes `.sat` twice.
        let saturates = inst.modifiers.iter().filter(|modifier| **modifier == ".sat").count();
        let spelling = inst.spelling.replacen(".sat", "", saturates.saturating_sub(1));
        let found = TABLE.resolve(&spelling, target, version).or_else(|_| TABLE.resolve(&spelling, None, None));
        found.map(|instruction| instruction.recipe).ok().or_else(|| self.half_recipe(inst))
    }

    /// Whether it is of the multiply-add family: its rows say which modifiers it takes.
    pub(super) fn has_row(&self, inst: &Inst<'m, 'a>) -> bool {
        matches!(inst.opcode, "fma" | "add" | "sub" | "mul" | "mad") && self.recipe(inst).is_some()
    }

    /// The f16 and bf16 forms, which have no rows: they only round to nearest.
    fn half_recipe(&self, inst: &Inst<'m, 'a>) -> Option<Recipe> {
        let ty = *inst.types.first()?;
        let format = ty.format()?;
        let known = [".rn", ".ftz", ".sat", ".relu", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32x2"];
        let rounded = [".rz", ".rm", ".rp"];
        let f32x2 = format == Format::F32 && ty.lanes == 2;
        let allowed = |modifier: &&str| known.contains(modifier) || (f32x2 && rounded.contains(modifier));
        if inst.types.len() != 1 || !inst.modifiers.iter().all(allowed) || (format == Format::F32 && !f32x2) {
            return None;
        }
        let kind = match inst.opcode {
            "fma" => ArithOp::MulAdd,
            "add" | "sub" => ArithOp::Add,
            "mul" => ArithOp::Mul,
            _ => return None,
        };
        let rounding = inst.rounding();
        let operation = Operation::new(kind, format, rounding.unwrap_or(Rounding::NearestEven));
        let mut recipe = Recipe::scalar(operation);
        recipe.components = ty.lanes;
        recipe.operation.negate_addend = inst.opcode == "sub";
        recipe.contractible = inst.opcode != "fma" && rounding.is_none();
        for modifier in inst.modifiers {
            recipe = match *modifier {
                ".ftz" => recipe.with(Effect::Flush),
                ".sat" => recipe.with(Effect::Saturate),
                _ => recipe,
            };
        }
        Some(recipe)
    }

    /// fma, mad, add, sub, mul.
    pub(super) fn multiply_add(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let recipe = self.recipe(inst).ok_or_else(|| self.refuse(inst))?;
        let operation = recipe.operation;
        let arity = operation.op.arity();
        if inst.operands.len() != arity + 1 {
            let (given, spelling) = (inst.operands.len(), &inst.spelling);
            return Err(self.nonsense(format!("`{spelling}` takes {} operands, not {given}", arity + 1)));
        }
        let of = |format: Format| Type {
            kind: Kind::Float(format),
            bits: format.width() * recipe.components,
            lanes: recipe.components,
        };
        let mut values = Vec::new();
        for index in 0..arity {
            values.push(self.value_at(inst, index + 1, of(operation.operand_format(index)))?);
        }
        let ty = of(operation.format);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let (components, contractible) = (recipe.components, recipe.contractible);
        if !inst.has(".relu") {
            let mut args = [Operand::ZERO; 3];
            args[..values.len()].copy_from_slice(&values);
            self.emit(Op::Float { d, operation, components, contractible, args });
            return Ok(());
        }
        self.by_component(d, ty, &values, |body, d, values| {
            let mut args = [Operand::ZERO; 3];
            args[..values.len()].copy_from_slice(values);
            let sum = body.fresh(Width::holding(operation.format.width()));
            body.emit_always(Op::Float { d: sum, operation, components: 1, contractible, args });
            body.rectify(d, operation.format, Operand::Reg(sum));
            Ok(())
        })
    }

    /// Negative becomes +0, NaN the canonical one.
    pub(super) fn rectify(&mut self, d: Reg, format: Format, a: Operand) {
        let b = Operand::ZERO;
        self.emit(Op::MinMax { d, max: true, format, flush: false, nan: true, xorsign_abs: false, a, b });
    }

    /// abs, neg, min, max.
    pub(super) fn sign_and_extrema(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        // `.abs` alone takes three operands; the documents do not say whose sign the result has.
        if inst.has(".abs") != inst.has(".xorsign") {
            return Err(self.refuse(inst));
        }
        let flush = self.flushes(inst, ty);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let mut values = Vec::new();
        for index in 1..inst.operands.len() {
            values.push(self.value_at(inst, index, ty)?);
        }
        let one = matches!(inst.opcode, "abs" | "neg");
        if values.is_empty() || one != (values.len() == 1) || values.len() > 3 {
            return Err(self.nonsense(format!("`{}` with {} operands", inst.spelling, inst.operands.len())));
        }
        let (max, nan, xorsign_abs) = (inst.opcode == "max", inst.has(".NaN"), inst.has(".xorsign"));
        let negate = inst.opcode == "neg";
        let width = ty.component().width();
        self.by_component(d, ty, &values, |body, d, values| {
            match *values {
                [a] => body.emit(Op::Sign { d, negate, format, flush, a }),
                [a, b] => body.emit(Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b }),
                [a, b, c] => {
                    let first = body.fresh(width);
                    body.emit_always(Op::MinMax { d: first, max, format, flush, nan, xorsign_abs, a, b });
                    body.emit(Op::MinMax { d, max, format, flush, nan, xorsign_abs, a: first.into(), b: c });
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// div, rcp, sqrt: rounded as they say, or approximate.
    pub(super) fn quotient(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let approximate = inst.has(".approx") || inst.has(".full");
        // Up to PTX 1.3 the single-precision forms without a modifier are approximate, the double-precision ones not.
        let old_approximate = inst.rounding().is_none() && ty.kind == Kind::Float(Format::F32);
        if approximate || old_approximate {
            return self.approximate(inst);
        }
        let (Some(format), 1) = (ty.format(), ty.lanes) else { return Err(self.refuse(inst)) };
        let rounding = inst.rounding().unwrap_or(Rounding::NearestEven);
        let flush = self.flushes(inst, ty);
        let a = self.value_at(inst, 1, ty)?;
        let op = match inst.opcode {
            "div" => {
                let b = self.value_at(inst, 2, ty)?;
                let d = self.exact(self.operand_at(inst, 0)?, ty)?;
                Op::Divide { d, format, rounding, flush, a, b }
            }
            "rcp" => {
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

    pub(super) fn approximate(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let function = match inst.opcode {
            "div" => Function::Divide,
            "rcp" => Function::Reciprocal,
            "sqrt" => Function::SquareRoot,
            "rsqrt" => Function::ReciprocalSquareRoot,
            "sin" => Function::Sin,
            "cos" => Function::Cos,
            "lg2" => Function::Log2,
            "ex2" => Function::Exp2,
            _ => Function::Tanh,
        };
        let Some(format) = ty.format() else { return Err(self.refuse(inst)) };
        // Up to PTX 1.3 the forms without a modifier flush.
        let flush =
            self.flushes(inst, ty) || (self.lowering.version < roundonce_isa::Version(1, 4) && format == Format::F32);
        let mut values = vec![self.value_at(inst, 1, ty)?];
        if function == Function::Divide {
            values.push(self.value_at(inst, 2, ty)?);
        }
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let (saturate, name) = (inst.has(".sat"), inst.spelling.clone());
        self.by_component(d, ty, &values, |body, d, values| {
            let (a, b) = (values[0], values.get(1).copied().unwrap_or(Operand::ZERO));
            body.emit(Op::Approximate { d, function, format, flush, saturate, a, b, name: name.clone() });
            Ok(())
        })
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
        self.emit(Op::Classify { d, class, format, a });
        Ok(())
    }
}
