//! Instructions put together: a line each.

use std::fmt::Write as _;

use roundonce_ir::Special;

use super::body::{Body, Result};
use super::ids::{Id, Ty, Type};
use super::module::Module;
use super::shape::{Mode, index_of};

impl Body<'_> {
    /// An instruction with a result.
    pub(super) fn emit(&mut self, ty: impl Into<Type>, opcode: &str, args: &[Id]) -> Id {
        self.emit_with(ty, opcode, args, "")
    }

    /// The same with literals behind the operands.
    pub(super) fn emit_with(&mut self, ty: impl Into<Type>, opcode: &str, args: &[Id], literals: &str) -> Id {
        let id = self.module.temp();
        let mut out = std::mem::take(&mut self.out);
        instruction(self.module, &mut out, id, ty.into(), opcode, args, literals);
        self.out = out;
        id
    }

    /// An instruction without a result.
    pub(super) fn effect(&mut self, opcode: &str, args: &[Id]) {
        self.effect_with(opcode, args, "");
    }

    pub(super) fn effect_with(&mut self, opcode: &str, args: &[Id], literals: &str) {
        let mut out = std::mem::take(&mut self.out);
        out.push_str(opcode);
        for &arg in args {
            out.push(' ');
            self.module.put(&mut out, arg);
        }
        if !literals.is_empty() {
            out.push(' ');
            out.push_str(literals);
        }
        out.push('\n');
        self.out = out;
    }

    /// An instruction before the first block.
    pub(super) fn early(&mut self, ty: impl Into<Type>, opcode: &str, args: &[Id], literals: &str) -> Id {
        let id = self.module.temp();
        let mut out = std::mem::take(&mut self.prologue);
        instruction(self.module, &mut out, id, ty.into(), opcode, args, literals);
        self.prologue = out;
        id
    }

    /// A function of the module's beside the kernels; a comment before it says what it is.
    pub(super) fn function(
        &mut self,
        name: &str,
        comment: &str,
        result: Type,
        params: &[Ty],
        write: impl FnOnce(&mut Self, &[Id]) -> Result<Id>,
    ) -> Result<Id> {
        let id = self.module.named(name);
        let types: Vec<Type> = params.iter().map(|&ty| ty.into()).collect();
        let function_type = self.module.function_type(result, &types);
        let given: Vec<Id> = params.iter().map(|_| self.module.temp()).collect();
        let before = std::mem::take(&mut self.out);
        let mut out = format!("; {comment}\n");
        self.module.put(&mut out, id);
        out.push_str(" = OpFunction ");
        result.write(&mut out);
        let _ = writeln!(out, " None {function_type}");
        for (&param, &ty) in given.iter().zip(&types) {
            self.module.put(&mut out, param);
            out.push_str(" = OpFunctionParameter ");
            ty.write(&mut out);
            out.push('\n');
        }
        self.out = out;
        let first = self.module.label();
        self.label(first);
        let value = write(self, &given);
        if let Ok(value) = value {
            self.effect("OpReturnValue", &[value]);
        }
        let text = std::mem::replace(&mut self.out, before);
        value?;
        self.module.functions.push_str(&text);
        self.module.functions.push_str("OpFunctionEnd\n");
        Ok(id)
    }

    /// A function of OpenCL.std.
    pub(super) fn call(&mut self, ty: Ty, name: &str, args: &[Id]) -> Id {
        self.module.opencl();
        let id = self.module.temp();
        let mut out = std::mem::take(&mut self.out);
        self.module.put(&mut out, id);
        out.push_str(" = OpExtInst ");
        self.module.put(&mut out, Id::Of(ty.into()));
        out.push_str(" %opencl ");
        out.push_str(name);
        for &arg in args {
            out.push(' ');
            self.module.put(&mut out, arg);
        }
        out.push('\n');
        self.out = out;
        id
    }

    /// The sum of all threads of a scope.
    pub(super) fn group_sum(&mut self, scope: Id, value: Id) -> Id {
        let id = self.module.temp();
        let mut out = std::mem::take(&mut self.out);
        instruction(self.module, &mut out, id, Ty::U32.into(), "OpGroupIAdd", &[scope], "Reduce");
        out.pop();
        out.push(' ');
        self.module.put(&mut out, value);
        out.push('\n');
        self.out = out;
        id
    }

    /// The same bits as another type of the width.
    pub(super) fn bitcast(&mut self, id: Id, from: Ty, to: Ty) -> Id {
        match id {
            _ if from == to => id,
            Id::Const(_, bits) => Id::constant(to, bits),
            Id::Undef(_) => Id::Undef(to),
            _ => self.emit(to, "OpBitcast", &[id]),
        }
    }

    /// An integer cut, or with zeros above.
    pub(super) fn resize(&mut self, id: Id, from: Ty, to: Ty) -> Id {
        match id {
            _ if from == to => id,
            Id::Const(_, bits) => Id::constant(to, bits & from.mask()),
            Id::Undef(_) => Id::Undef(to),
            _ if from == Ty::Bool => self.select(to, id, Id::constant(to, 1), Id::constant(to, 0)),
            _ if to == Ty::Bool => {
                let bit = self.emit(from, "OpBitwiseAnd", &[id, Id::constant(from, 1)]);
                self.emit(Ty::Bool, "OpINotEqual", &[bit, Id::constant(from, 0)])
            }
            _ => self.emit(to, "OpUConvert", &[id]),
        }
    }

    /// An integer cut, or with its sign above.
    pub(super) fn extend(&mut self, id: Id, from: Ty, to: Ty) -> Id {
        match id {
            _ if from.bits() >= to.bits() => self.resize(id, from, to),
            Id::Const(_, bits) => {
                let shift = 64 - from.bits();
                Id::constant(to, ((bits << shift) as i64 >> shift) as u64)
            }
            _ => self.emit(to, "OpSConvert", &[id]),
        }
    }

    pub(super) fn select(&mut self, ty: Ty, condition: Id, then: Id, otherwise: Id) -> Id {
        match condition.known() {
            Some(1) => then,
            Some(_) => otherwise,
            None if then == otherwise => then,
            None => self.emit(ty, "OpSelect", &[condition, then, otherwise]),
        }
    }

    /// The arithmetic of a float type, which is declared from here on.
    pub(super) fn mode(&mut self, ty: Ty) -> Mode {
        self.widths[index_of(ty.bits())] = true;
        self.shape.modes[index_of(ty.bits())]
    }

    /// A number that the launch gives, read once.
    pub(super) fn special(&mut self, special: Special, make: impl FnOnce(&mut Self) -> Id) -> Id {
        if let Some(&(_, id)) = self.specials.iter().find(|(known, _)| *known == special) {
            return id;
        }
        let id = make(self);
        self.specials.push((special, id));
        id
    }
}

fn instruction(module: &mut Module, out: &mut String, id: Id, ty: Type, opcode: &str, args: &[Id], literals: &str) {
    module.put(out, id);
    out.push_str(" = ");
    out.push_str(opcode);
    out.push(' ');
    module.put(out, Id::Of(ty));
    for &arg in args {
        out.push(' ');
        module.put(out, arg);
    }
    if !literals.is_empty() {
        out.push(' ');
        out.push_str(literals);
    }
    out.push('\n');
}
