//! Types: what a value is made of, and the memory layout of its parts.
//!
//! A value is the list of its scalars, in order: a `vec3` has three parts, a struct those of its members one after
//! another. In memory the module's decorations give the offset of each; where it has none, each is aligned to its size, as
//! OpenCL C does, or to nothing in a struct that is CPacked.

use std::collections::{HashMap, HashSet};

use roundonce_arith::Format;
use roundonce_ir::{ImageShape, MemoryOrder, Scalar, Space, Width};
use rspirv::spirv::{Decoration, Op, StorageClass};

use super::order::decorated as decorated_order;
use super::{Lowering, Result};
use crate::facts::Facts;
use crate::literal::NumberType;
use crate::module::{Instruction, Module};

/// Parts that a value may have; what is larger lives in memory alone.
pub(super) const MOST_PARTS: u64 = 4096;
/// Types within types (SPIR-V 1.6, 2.17: structures nest 255 deep).
const DEEPEST: u32 = 255;

/// A part of a value: what a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    Float(Format),
    /// An address in a space.
    Pointer(Space),
    /// An image or a sampler.
    Handle,
}

/// An image type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ImageKind {
    pub(super) shape: ImageShape,
    /// A component's type in memory and how many there are, where the type says it.
    pub(super) format: Option<(Scalar, u8)>,
}

impl Part {
    pub(super) const fn width(self) -> Width {
        match self {
            Part::Bool => Width::Pred,
            Part::Int { bits, .. } => Width::holding(bits),
            Part::Float(format) => Width::holding(format.width()),
            Part::Pointer(_) | Part::Handle => Width::B64,
        }
    }
    /// Bits of a value, a bool's in memory.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Part::Bool => 32,
            Part::Int { bits, .. } => bits,
            Part::Float(format) => format.width(),
            Part::Pointer(_) | Part::Handle => 64,
        }
    }
    pub(super) const fn bytes(self) -> u32 {
        self.bits() / 8
    }
    /// As a launch reads a number for it.
    pub(super) const fn scalar(self) -> Option<Scalar> {
        match self {
            Part::Int { bits, signed } => Some(Scalar::Int { bits, signed }),
            Part::Float(format) => Some(Scalar::Float(format)),
            Part::Bool | Part::Pointer(_) | Part::Handle => None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum TypeKind {
    Void,
    Scalar(Part),
    Vector {
        of: u32,
        count: u32,
    },
    Matrix {
        of: u32,
        count: u32,
    },
    Array {
        of: u32,
        count: u64,
    },
    RuntimeArray {
        of: u32,
    },
    /// The members' types and offsets.
    Struct(Vec<(u32, u64)>),
    Pointer {
        class: u32,
        to: u32,
    },
    Image(ImageKind),
    Sampler,
    /// What a copy of a workgroup is waited for by.
    Event,
    /// An image and its sampler: two handles, in memory one.
    SampledImage(ImageKind),
    /// Functions, and whatever else no register holds.
    Other,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Type {
    pub(super) kind: TypeKind,
    /// How many scalars a value has.
    pub(super) parts: u64,
    /// Bytes in memory; of a runtime array none.
    pub(super) size: u64,
    align: u64,
    depth: u32,
}

/// The memory layout of a matrix, from the decorations of its struct's member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MatrixLayout {
    stride: u64,
    row_major: bool,
}

/// The part of a memory layout that does not follow from the type.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Layout {
    /// Of the matrices inside.
    matrix: Option<MatrixLayout>,
    /// From one component of the vector to the next: a column of a row-major matrix.
    spread: Option<u64>,
}

/// The elements of an array, a vector or a matrix in memory.
pub(super) struct Elements {
    pub(super) of: u32,
    pub(super) stride: u64,
    pub(super) layout: Layout,
}

/// A scalar in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    pub(super) offset: u64,
    pub(super) part: Part,
}

impl Cell {
    /// The width of the register that holds what memory holds: a bool's is no predicate.
    pub(super) const fn register(&self) -> Width {
        Width::holding(self.part.bits())
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Member {
    offset: Option<u64>,
    matrix_stride: Option<u64>,
    row_major: bool,
    order: MemoryOrder,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Types {
    by_id: HashMap<u32, Type>,
    members: HashMap<(u32, u32), Member>,
    /// Array strides, of arrays and of pointers.
    strides: HashMap<u32, u64>,
    /// Whether there is a type of bfloat16 numbers.
    pub(super) has_bf16: bool,
    /// Structs whose members lie one behind the other.
    packed: HashSet<u32>,
}

/// The space of a storage class; `None` where nothing can be stored.
pub(super) fn space(class: u32) -> Option<Space> {
    const GLOBAL: [StorageClass; 6] = [
        StorageClass::Uniform,
        StorageClass::StorageBuffer,
        StorageClass::PhysicalStorageBuffer,
        StorageClass::CrossWorkgroup,
        StorageClass::UniformConstant,
        StorageClass::Image,
    ];
    const LOCAL: [StorageClass; 4] =
        [StorageClass::Function, StorageClass::Private, StorageClass::Input, StorageClass::Output];
    let class = StorageClass::from_u32(class)?;
    match class {
        StorageClass::Workgroup => Some(Space::Shared),
        StorageClass::PushConstant => Some(Space::Param),
        StorageClass::Generic => Some(Space::Generic),
        class if GLOBAL.contains(&class) => Some(Space::Global),
        class if LOCAL.contains(&class) => Some(Space::Local),
        _ => None,
    }
}

impl Types {
    /// The decorations that give the offsets of members.
    pub(super) fn decorated(module: &Module, facts: &Facts) -> Types {
        let mut types = Types::default();
        for instruction in module.instructions() {
            let [_, target, index, decoration, rest @ ..] = module.words_of(instruction) else { continue };
            if instruction.opcode == Op::MemberDecorate as u16 {
                let member = types.members.entry((*target, *index)).or_default();
                let number = rest.first().map(|&number| u64::from(number));
                match Decoration::from_u32(*decoration) {
                    Some(Decoration::Offset) => member.offset = number,
                    Some(Decoration::MatrixStride) => member.matrix_stride = number,
                    Some(Decoration::RowMajor) => member.row_major = true,
                    _ => member.order = member.order.joined(decorated_order(*decoration)),
                }
            }
        }
        for attached in facts.decorations.iter().filter(|at| at.value == Decoration::ArrayStride as u32) {
            types.strides.insert(attached.target, attached.words.first().map_or(0, |&stride| stride.into()));
        }
        let packed = facts.decorations.iter().filter(|at| at.value == Decoration::CPacked as u32);
        types.packed.extend(packed.map(|at| at.target));
        types
    }

    pub(super) fn get(&self, id: u32) -> Option<&Type> {
        self.by_id.get(&id)
    }
    pub(super) fn kind(&self, id: u32) -> Option<&TypeKind> {
        self.by_id.get(&id).map(|ty| &ty.kind)
    }
    /// What a value of a type is aligned to in memory.
    pub(super) fn alignment(&self, id: u32) -> u64 {
        self.get(id).map_or(1, |ty| ty.align)
    }
    /// The scalar that a type is.
    pub(super) fn scalar(&self, id: u32) -> Option<Part> {
        match *self.kind(id)? {
            TypeKind::Scalar(part) => Some(part),
            TypeKind::Pointer { class, .. } => space(class).map(Part::Pointer),
            TypeKind::Image(_) | TypeKind::Sampler | TypeKind::Event => Some(Part::Handle),
            _ => None,
        }
    }
    /// What an array is made of.
    pub(super) fn element(&self, id: u32) -> Option<u32> {
        match *self.kind(id)? {
            TypeKind::Array { of, .. } => Some(of),
            _ => None,
        }
    }
    /// The scalar of a scalar or vector, and how many there are.
    pub(super) fn components(&self, id: u32) -> Option<(Part, usize)> {
        match *self.kind(id)? {
            TypeKind::Vector { of, count } => Some((self.scalar(of)?, count as usize)),
            _ => Some((self.scalar(id)?, 1)),
        }
    }
    /// The type at an index inside a value, and the index of its first part.
    pub(super) fn inside(&self, id: u32, index: u64) -> Option<(u32, usize)> {
        let (of, count) = match self.kind(id)? {
            TypeKind::Struct(members) => {
                let index = usize::try_from(index).ok()?;
                let before = members.get(..index)?.iter().map(|&(member, _)| self.parts(member));
                return Some((members.get(index)?.0, before.fold(0, u64::saturating_add) as usize));
            }
            TypeKind::Vector { of, count } | TypeKind::Matrix { of, count } => (*of, u64::from(*count)),
            TypeKind::Array { of, count } => (*of, *count),
            _ => return None,
        };
        (index < count).then(|| (of, index.saturating_mul(self.parts(of)) as usize))
    }
    fn parts(&self, id: u32) -> u64 {
        self.get(id).map_or(0, |ty| ty.parts)
    }

    /// The parts of a value of a type.
    pub(super) fn list(&self, id: u32) -> Option<Vec<Part>> {
        let mut cells = Vec::new();
        self.cells(id, 0, Layout::default(), &mut cells)?;
        Some(cells.into_iter().map(|cell| cell.part).collect())
    }

    /// The scalars of a value in memory, in the order of its parts. None where there are too many, or no end.
    pub(super) fn cells(&self, id: u32, at: u64, layout: Layout, out: &mut Vec<Cell>) -> Option<()> {
        let ty = self.get(id).filter(|ty| ty.parts <= MOST_PARTS)?;
        match &ty.kind {
            TypeKind::Void | TypeKind::RuntimeArray { .. } | TypeKind::Other => return None,
            // What has no parts needs no walk, however much of it there is.
            _ if ty.parts == 0 => {}
            TypeKind::Scalar(_)
            | TypeKind::Pointer { .. }
            | TypeKind::Image(_)
            | TypeKind::Sampler
            | TypeKind::Event => {
                out.push(Cell { offset: at, part: self.scalar(id)? });
            }
            TypeKind::SampledImage(_) => out.extend([Cell { offset: at, part: Part::Handle }; 2]),
            TypeKind::Struct(members) => {
                for index in 0..members.len() {
                    let (member, offset, layout) = self.member(id, index)?;
                    self.cells(member, at.checked_add(offset)?, layout, out)?;
                }
            }
            TypeKind::Vector { .. } | TypeKind::Matrix { .. } | TypeKind::Array { .. } => {
                let Elements { of, stride, layout } = self.elements(id, layout)?;
                let count = match ty.kind {
                    TypeKind::Vector { count, .. } | TypeKind::Matrix { count, .. } => count.into(),
                    TypeKind::Array { count, .. } => count,
                    _ => 0,
                };
                for index in 0..count {
                    self.cells(of, at.checked_add(index.checked_mul(stride)?)?, layout, out)?;
                }
            }
        }
        Some(())
    }

    /// The memory layout of a type's elements.
    pub(super) fn elements(&self, id: u32, layout: Layout) -> Option<Elements> {
        let none = Layout::default();
        match *self.kind(id)? {
            TypeKind::Vector { of, .. } => {
                Some(Elements { of, stride: layout.spread.unwrap_or(self.get(of)?.size), layout: none })
            }
            TypeKind::Matrix { of, .. } => {
                let column = self.get(of)?;
                Some(match layout.matrix {
                    None => Elements { of, stride: column.size.checked_next_multiple_of(column.align)?, layout: none },
                    Some(MatrixLayout { stride, row_major: false }) => Elements { of, stride, layout: none },
                    Some(MatrixLayout { stride, row_major: true }) => {
                        let Elements { stride: component, .. } = self.elements(of, none)?;
                        Elements { of, stride: component, layout: Layout { spread: Some(stride), matrix: None } }
                    }
                })
            }
            TypeKind::Array { of, .. } | TypeKind::RuntimeArray { of } => {
                let stride = self.stride(id, of)?;
                let matrix = layout.matrix.or_else(|| self.packed(of, stride));
                Some(Elements { of, stride, layout: Layout { spread: None, matrix } })
            }
            _ => None,
        }
    }

    /// The layout of matrices that no struct gives one, in an array whose stride is too small for aligned columns: it was made for row-major
    /// ones elsewhere.
    fn packed(&self, matrix: u32, stride: u64) -> Option<MatrixLayout> {
        let TypeKind::Matrix { of, .. } = *self.kind(matrix)? else { return None };
        let TypeKind::Vector { of, count } = *self.kind(of)? else { return None };
        let column = self.get(of)?.size.checked_mul(count.into())?;
        (self.get(matrix)?.size > stride).then_some(MatrixLayout { stride: column, row_major: false })
    }

    /// From one element to the next, of an array type or behind a pointer type.
    pub(super) fn stride(&self, id: u32, of: u32) -> Option<u64> {
        let element = self.get(of)?;
        let natural = element.size.checked_next_multiple_of(element.align);
        self.strides.get(&id).copied().or(natural)
    }

    /// A struct's member: its type, its offset, and the layout of its matrices.
    pub(super) fn member(&self, id: u32, index: usize) -> Option<(u32, u64, Layout)> {
        let TypeKind::Struct(members) = self.kind(id)? else { return None };
        let (of, offset) = *members.get(index)?;
        let said = self.members.get(&(id, index as u32)).copied().unwrap_or_default();
        let matrix = said.matrix_stride.map(|stride| MatrixLayout { stride, row_major: said.row_major });
        Some((of, offset, Layout { matrix, spread: None }))
    }

    /// How accesses to a struct's member are ordered.
    pub(super) fn member_order(&self, id: u32, index: usize) -> MemoryOrder {
        self.members.get(&(id, index as u32)).map_or(MemoryOrder::WEAK, |member| member.order)
    }

    /// Takes in a type's declaration. `length` is the value of a constant.
    pub(super) fn declare(&mut self, module: &Module, at: &Instruction, length: impl Fn(u32) -> Option<u64>) {
        let Some(id) = module.result(at) else { return };
        // A second declaration would make types that contain themselves; only a pointer may be known beforehand.
        let forward =
            matches!(self.kind(id), Some(TypeKind::Pointer { to: 0, .. })) && at.opcode == Op::TypePointer as u16;
        if self.by_id.contains_key(&id) && !forward {
            return;
        }
        let word = |index| module.operand_word(at, index);
        let scalar = |part: Part| Some(self.plain(TypeKind::Scalar(part), 1, u64::from(part.bytes())));
        let found = match Op::from_u32(at.opcode.into()) {
            Some(Op::TypeVoid) => Some(self.plain(TypeKind::Void, 0, 0)),
            Some(Op::TypeBool) => scalar(Part::Bool),
            Some(Op::TypeInt) if matches!(word(1), 8 | 16 | 32 | 64) => {
                scalar(Part::Int { bits: word(1), signed: word(2) == 1 })
            }
            Some(Op::TypeFloat) => {
                let encoding = (at.count > 3).then(|| word(2));
                match NumberType::of_float(word(1), encoding) {
                    Some(NumberType::Float(format)) => scalar(Part::Float(format)),
                    _ => None,
                }
            }
            Some(Op::TypeVector) => {
                self.repeated(TypeKind::Vector { of: word(1), count: word(2) }, word(1), word(2).into())
            }
            Some(Op::TypeMatrix) => {
                self.repeated(TypeKind::Matrix { of: word(1), count: word(2) }, word(1), word(2).into())
            }
            Some(Op::TypeArray) => length(word(2)).and_then(|count| {
                let kind = TypeKind::Array { of: word(1), count };
                let stride = self.stride(id, word(1))?;
                self.repeated(kind, word(1), count).map(|ty| Type { size: stride.saturating_mul(count), ..ty })
            }),
            Some(Op::TypeRuntimeArray) => self
                .repeated(TypeKind::RuntimeArray { of: word(1) }, word(1), 0)
                .map(|ty| Type { size: 0, parts: u64::MAX, ..ty }),
            Some(Op::TypeStruct) => self.structure(id, module.words_of(at).get(2..).unwrap_or_default()),
            Some(Op::TypePointer) => Some(self.plain(TypeKind::Pointer { class: word(1), to: word(2) }, 1, 8))
                .filter(|_| space(word(1)).is_some()),
            Some(Op::TypeImage) => ImageKind::of(module.words_of(at).get(3..).unwrap_or_default())
                .map(|kind| self.plain(TypeKind::Image(kind), 1, 8)),
            Some(Op::TypeSampler) => Some(self.plain(TypeKind::Sampler, 1, 8)),
            Some(Op::TypeEvent) => Some(self.plain(TypeKind::Event, 1, 8)),
            Some(Op::TypeSampledImage) => match self.kind(word(1)) {
                Some(&TypeKind::Image(kind)) => Some(self.plain(TypeKind::SampledImage(kind), 2, 8)),
                _ => None,
            },
            _ => None,
        };
        self.has_bf16 |= found.as_ref().is_some_and(|ty| ty.kind == TypeKind::Scalar(Part::Float(Format::BF16)));
        self.by_id
            .insert(id, found.unwrap_or(Type { kind: TypeKind::Other, parts: u64::MAX, size: 0, align: 1, depth: 0 }));
    }

    /// A pointer that structs hold before what it points to is declared.
    pub(super) fn declare_forward(&mut self, module: &Module, at: &Instruction) {
        let kind = TypeKind::Pointer { class: module.operand_word(at, 1), to: 0 };
        self.by_id.insert(module.operand_word(at, 0), self.plain(kind, 1, 8));
    }

    const fn plain(&self, kind: TypeKind, parts: u64, size: u64) -> Type {
        Type { kind, parts, size, align: if size == 0 { 1 } else { size }, depth: 0 }
    }

    fn repeated(&self, kind: TypeKind, of: u32, count: u64) -> Option<Type> {
        let element = self.get(of).filter(|element| element.depth < DEEPEST)?;
        let is_vector = matches!(kind, TypeKind::Vector { .. });
        if is_vector && (self.scalar(of).is_none() || !matches!(count, 2..=16)) {
            return None;
        }
        if matches!(kind, TypeKind::Matrix { .. }) && !matches!(element.kind, TypeKind::Vector { .. }) {
            return None;
        }
        let size = element.size.checked_next_multiple_of(element.align)?.saturating_mul(count);
        // OpenCL C: a vector is aligned to its size, and one of three is as large as one of four.
        let align = if is_vector { size.next_power_of_two() } else { element.align };
        let size = if is_vector { align } else { size };
        Some(Type { kind, parts: element.parts.saturating_mul(count), size, align, depth: element.depth + 1 })
    }

    fn structure(&self, id: u32, members: &[u32]) -> Option<Type> {
        let mut ty = Type { kind: TypeKind::Void, parts: 0, size: 0, align: 1, depth: 0 };
        let mut placed = Vec::with_capacity(members.len());
        let packed = self.packed.contains(&id);
        for (index, &member) in members.iter().enumerate() {
            let inner = self.get(member).filter(|inner| inner.depth < DEEPEST)?;
            let align = if packed { 1 } else { inner.align };
            let said = self.members.get(&(id, index as u32)).and_then(|said| said.offset);
            let offset = said.or_else(|| ty.size.checked_next_multiple_of(align))?;
            placed.push((member, offset));
            ty.size = ty.size.max(offset.checked_add(inner.size)?);
            ty.align = ty.align.max(align);
            ty.parts = ty.parts.saturating_add(inner.parts);
            ty.depth = ty.depth.max(inner.depth + 1);
        }
        ty.size = ty.size.checked_next_multiple_of(ty.align)?;
        Some(Type { kind: TypeKind::Struct(placed), ..ty })
    }
}

impl Lowering<'_> {
    /// The parts of a type's value.
    pub(super) fn parts_of(&self, id: u32) -> Result<Vec<Part>> {
        self.types.list(id).ok_or_else(|| {
            let what = self.facts.describe(self.module, id);
            self.unsupported(format!("a value of type {what}"))
        })
    }
}
