//! Functions lowered to be looked at, not to be run: whatever parses has a kernel, and each function is one.

use super::{Body, Entity, Lowering, Purpose, Settings};
use crate::ast::{Function, Instruction, Module, Operand as Written, OperandKind, Space, Variable};
use crate::types::Type;
use roundonce_ir::{Kernel, Op, Operand, Reg};

/// Every function that has a body, with its kernel: its parameters are registers, calls and what engines do not run
/// are [`Op::Unsupported`].
pub(crate) fn lower_for_analysis<'m, 'a>(module: &'m Module<'a>) -> Vec<(&'m Function<'a>, Kernel)> {
    let (lowering, _) = Lowering::new(module, &Settings { largest_kernel: usize::MAX, ..Settings::default() });
    let functions = module.functions().filter(|function| function.body.is_some());
    functions.map(|function| (function, lowering.analysed(function))).collect()
}

impl<'m, 'a> Lowering<'m, 'a> {
    fn analysed(&self, function: &'m Function<'a>) -> Kernel {
        let mut body = Body::new(self, function, Purpose::Analysis);
        for variable in self.module.variables(function.parameters) {
            body.formal(variable);
        }
        for variable in self.module.variables(function.returns) {
            let returned = body.formal(variable);
            body.returned.extend(returned);
        }
        // What is wrong with its declarations is found where they are checked.
        let _ = body.shared_before(function);
        if let Some(statements) = &function.body {
            let _ = body.statements(statements);
        }
        body.returns();
        body.finish()
    }
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// A parameter of the function itself: the register that holds it, where one does.
    fn formal(&mut self, variable: &Variable<'a>) -> Option<Reg> {
        let scalar = variable.dimensions.len == 0 && variable.lanes <= 1;
        match Type::of(variable.ty).filter(|ty| scalar && ty.bits <= 64) {
            Some(ty) => {
                let reg = self.fresh(ty.width());
                let is_reg = variable.space == Space::Reg;
                self.name(variable.name, if is_reg { Entity::Register(reg, ty) } else { Entity::CallParam(reg, ty) });
                Some(reg)
            }
            None => {
                self.name(variable.name, Entity::Param(0));
                None
            }
        }
    }

    /// What the function returns is read where it ends.
    pub(super) fn returns(&mut self) {
        if !self.returned.is_empty() {
            let args = self.returned.iter().copied().map(Operand::Reg).collect();
            self.emit(Op::Unsupported { message: "a return value".to_owned(), d: Vec::new(), args });
        }
    }

    /// An instruction of which only the registers are known.
    pub(super) fn opaque(&mut self, instruction: &Instruction<'a>, message: String) {
        let (mut d, mut args) = (Vec::new(), Vec::new());
        let operands = self.operands(instruction.operands);
        let writes = !matches!(instruction.opcode, "st" | "red" | "stackrestore" | "bra" | "brx" | "bar" | "barrier");
        for (index, operand) in operands.iter().enumerate() {
            let is_address = matches!(operand.kind, OperandKind::Address(_));
            if index == 0 && writes && !is_address {
                self.named(operand, &mut d);
            } else {
                self.named(operand, &mut args);
            }
        }
        let args = args.into_iter().map(Operand::Reg).collect();
        self.emit(Op::Unsupported { message, d, args });
        if instruction.opcode == "call" {
            self.separate();
        }
    }

    /// The registers that an operand names.
    fn named(&mut self, operand: &Written<'a>, registers: &mut Vec<Reg>) {
        match operand.kind {
            OperandKind::Name(name) | OperandKind::Component(name, _) | OperandKind::Selected(name, _) => {
                match self.find(name) {
                    Some(Entity::Register(reg, _) | Entity::CallParam(reg, _)) => registers.push(reg),
                    Some(Entity::Vector(regs)) => registers.extend(regs),
                    _ => {}
                }
            }
            OperandKind::Address(items)
            | OperandKind::Vector(items)
            | OperandKind::List(items)
            | OperandKind::Pair(items)
            | OperandKind::Index(items)
            | OperandKind::Apply(items)
            | OperandKind::Binary(_, items) => {
                for item in self.operands(items) {
                    self.named(item, registers);
                }
            }
            OperandKind::Unary(_, inner) | OperandKind::Group(inner) | OperandKind::Cast(_, inner) => {
                let inner = *self.module.operand(inner);
                self.named(&inner, registers);
            }
            _ => {}
        }
    }
}
