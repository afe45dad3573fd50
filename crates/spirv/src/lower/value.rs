//! The value of an id while a kernel is built.

use std::rc::Rc;

use roundonce_ir::{MemoryOrder, Operand, Reg, Space};

use super::types::{Cell, Layout, Part, TypeKind};
use super::{Body, Result};

/// A value with its type.
#[derive(Clone, Debug)]
pub(super) struct TypedValue {
    pub(super) type_id: u32,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Its scalars, in order; of a pointer its address.
    Parts(Rc<[Operand]>),
    /// A pointer into memory, as far as it is known.
    Memory(Pointer),
    /// A pointer to registers: those of a variable, from the first of what is pointed to.
    Registers(Rc<[Reg]>, usize),
}

/// The buffer that a pointer leads into, by the kernel's parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum BufferOf {
    Unknown,
    Param(u32),
    /// Of so many from the first on, the one at a place of 64 bits.
    Chosen {
        first: u32,
        count: u32,
        place: Operand,
    },
}

/// A pointer into memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) space: Space,
    pub(super) address: Operand,
    /// Added to it.
    pub(super) offset: i64,
    pub(super) layout: Layout,
    /// The buffer that it leads into.
    pub(super) buffer: BufferOf,
    /// How accesses by it are ordered.
    pub(super) order: MemoryOrder,
}

impl Pointer {
    /// What is added to the address for a byte of a cell.
    pub(super) fn offset_of(&self, cell: &Cell, byte: u32) -> i64 {
        self.offset.wrapping_add(cell.offset as i64).wrapping_add(byte.into())
    }
}

/// A scalar or vector's components, of one type.
#[derive(Clone, Debug)]
pub(super) struct Components {
    pub(super) part: Part,
    pub(super) parts: Rc<[Operand]>,
}

impl Body<'_> {
    /// The scalars of a value; a pointer's is its address.
    pub(super) fn parts(&mut self, id: u32) -> Result<Rc<[Operand]>> {
        match self.typed_value(id)?.value {
            Value::Parts(parts) => Ok(parts),
            Value::Memory(pointer) => {
                let address = self.address(&pointer);
                Ok([address].into())
            }
            Value::Registers(..) => Err(self.unsupported(format!("{} of a pointer to a variable", self.opcode()))),
        }
    }

    /// The components of a scalar or vector.
    pub(super) fn components(&mut self, id: u32) -> Result<Components> {
        let parts = self.parts(id)?;
        let type_id = self.typed_value(id)?.type_id;
        match self.lowering.types.components(type_id) {
            Some((part, count)) if count == parts.len() => Ok(Components { part, parts }),
            _ => {
                let what = self.lowering.facts.describe(self.lowering.module, type_id);
                let name = self.lowering.module.id(id);
                Err(self.malformed(format!("{name} is of type {what}; expected a scalar or a vector")))
            }
        }
    }

    /// The only component of a scalar.
    pub(super) fn scalar(&mut self, id: u32) -> Result<(Part, Operand)> {
        let Components { part, parts } = self.components(id)?;
        match parts[..] {
            [only] => Ok((part, only)),
            _ => Err(self.malformed(format!("{} is a vector; expected a scalar", self.lowering.module.id(id)))),
        }
    }

    /// A pointer, and the type of what it points to.
    pub(super) fn pointer(&mut self, id: u32) -> Result<(Value, u32)> {
        let typed = self.typed_value(id)?;
        let Some(&TypeKind::Pointer { class, to }) = self.lowering.types.kind(typed.type_id) else {
            return Err(self.malformed(format!("{} is no pointer", self.lowering.module.id(id))));
        };
        let value = match typed.value {
            Value::Parts(parts) => {
                let (Some(space), [address]) = (super::types::space(class), &parts[..]) else {
                    return Err(self.unsupported(format!("{} of this pointer", self.opcode())));
                };
                let (address, layout, order) = (*address, Layout::default(), MemoryOrder::WEAK);
                Value::Memory(Pointer { space, address, offset: 0, layout, buffer: BufferOf::Unknown, order })
            }
            known => known,
        };
        let value = match value {
            Value::Memory(pointer) => {
                Value::Memory(Pointer { order: pointer.order.joined(self.order_of_id(id)), ..pointer })
            }
            other => other,
        };
        Ok((value, to))
    }

    /// A pointer that has an address.
    pub(super) fn memory(&mut self, id: u32) -> Result<(Pointer, u32)> {
        match self.pointer(id)? {
            (Value::Memory(pointer), to) => Ok((pointer, to)),
            _ => Err(self.unsupported(format!("{} of a variable in registers", self.opcode()))),
        }
    }

    /// Gives the instruction's result.
    pub(super) fn define(&mut self, parts: impl Into<Rc<[Operand]>>) -> Result<()> {
        self.define_value(Value::Parts(parts.into()))
    }

    pub(super) fn define_value(&mut self, value: Value) -> Result<()> {
        let (module, at) = (self.lowering.module, self.at);
        let (Some(type_id), Some(id)) = (module.result_type(&at), module.result(&at)) else {
            return Err(self.malformed("there is no result"));
        };
        if let Value::Parts(parts) = &value {
            let wanted = self.lowering.parts_of(type_id)?.len();
            if wanted != parts.len() {
                let (wanted, found) = (wanted, parts.len());
                return Err(self.malformed(format!("the Result Type has {wanted} scalars, the operands give {found}")));
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.values.insert(id, TypedValue { type_id, value });
        }
        Ok(())
    }

    /// The scalar and the number of components of the result type.
    pub(super) fn result(&self) -> Result<(Part, usize)> {
        let type_id = self.result_type()?;
        self.lowering.types.components(type_id).ok_or_else(|| {
            let what = self.lowering.facts.describe(self.lowering.module, type_id);
            self.unsupported(format!("{} with a Result Type of {what}", self.opcode()))
        })
    }
    pub(super) fn result_type(&self) -> Result<u32> {
        self.lowering.module.result_type(&self.at).ok_or_else(|| self.malformed("there is no Result Type"))
    }
    /// An operand word after result type and result.
    pub(super) fn operand(&self, index: usize) -> Result<u32> {
        self.operands().get(index).copied().ok_or_else(|| self.malformed(format!("there is no operand {}", index + 1)))
    }
    pub(super) fn operands(&self) -> &[u32] {
        let words = self.lowering.module.words_of(&self.at);
        words.get(crate::module::Module::first_operand(&self.at)..).unwrap_or_default()
    }
}
