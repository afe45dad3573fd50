//! Parameters and memory.
//!
//! An address of the program is a number: of a buffer the pointer's, of shared and local memory the bytes from the first
//! one on. A pointer is made of it where memory is accessed.

use std::fmt::Write as _;

use roundonce_ir::flow::{ParamBytes, pointer_parameters, summed_parameters};
use roundonce_ir::{Kernel, Op, Operand, Param, Passing, Program, Reg, Scalar, Space, Special, Width};
use roundonce_isa::{Finding, Location, Version};

use super::super::{Argument, location};
use super::body::{Body, Result};
use super::ids::{Class, Id, Ty, Type};
use super::module::Module;
use crate::rules;

/// What a parameter of the source is here.
#[derive(Clone, Copy)]
enum Given {
    /// A buffer.
    Pointer(Id),
    Value(Id, Ty),
    /// A structure by value: words in memory.
    Block(Id),
}

/// A kernel's parameters, and where its shared and local memory is.
pub(super) struct Parameters {
    given: Vec<Given>,
    bytes: ParamBytes,
    /// The addresses of buffers.
    numbers: Vec<Option<Id>>,
    /// An array of bytes, or a pointer to the first of them.
    shared: Option<(Id, bool)>,
    local: Option<Id>,
    /// Pointers to the first bytes of shared and of local memory.
    first: [Option<Id>; 2],
    /// The types of the function's parameters, and what a launch gives for each.
    pub(super) declared: Vec<(Id, Type)>,
    pub(super) arguments: Vec<Argument>,
}

/// Which parameters are pointers.
pub(super) struct Pointers {
    /// Whether each is.
    are: Vec<bool>,
    /// Two whose sum is an address.
    summed: Option<[usize; 2]>,
}

impl Pointers {
    pub(super) fn of(program: &Program, kernel: &Kernel) -> Pointers {
        Pointers { are: pointer_parameters(program, kernel), summed: summed_parameters(program, kernel) }
    }
}

impl Parameters {
    /// Declares what a kernel takes, and its memory.
    pub(super) fn of(
        module: &mut Module,
        pointers: &Pointers,
        kernel: &Kernel,
        findings: &mut Vec<Finding>,
    ) -> Parameters {
        let mut params = Parameters {
            given: Vec::new(),
            bytes: ParamBytes::of(kernel),
            numbers: vec![None; kernel.params.len()],
            shared: None,
            local: None,
            first: [None; 2],
            declared: Vec::new(),
            arguments: Vec::new(),
        };
        for (index, (param, is_pointer)) in kernel.params.iter().zip(&pointers.are).enumerate() {
            let id = module.named(&param.name);
            module.name(id, &param.name);
            let (given, ty) = match declared(param, *is_pointer) {
                Ok(Declared::Pointer) => (Given::Pointer(id), Type::Pointer(Class::CrossWorkgroup, Ty::U8, 1)),
                Ok(Declared::Value(ty)) => (Given::Value(id, ty), Type::Scalar(ty)),
                Ok(Declared::Words(words)) => {
                    module.decorate(id, "FuncParamAttr ByVal");
                    (Given::Block(id), Type::PointerToBlock(words))
                }
                Err(what) => {
                    let what = format!("parameter `{}`: {what}", param.name);
                    findings.push(rules::NO_COUNTERPART.finding(location(kernel, 0), what));
                    continue;
                }
            };
            params.given.push(given);
            params.declared.push((id, ty));
            params.arguments.push(Argument::Param(index));
        }
        // Machine code uses a register for several addresses, one after another.
        if let Some([one, other]) = pointers.summed.filter(|_| !kernel.addresses) {
            let [one, other] = [one, other].map(|index| kernel.params[index].name.as_str());
            let what = format!("an address is the sum of `{one}` and `{other}`: which is the buffer's nothing says");
            findings.push(rules::NO_COUNTERPART.finding(location(kernel, 0), what));
        }
        let uses = |space: Space| {
            let ops = kernel.blocks.iter().flat_map(|block| &block.instructions);
            ops.filter_map(|instruction| instruction.op.space()).any(|used| used == space)
        };
        let window = |wanted: Special| {
            let mut ops = kernel.blocks.iter().flat_map(|block| &block.instructions);
            ops.any(|at| matches!(at.op, Op::Special { special, .. } if special == wanted))
        };
        if uses(Space::Shared) || window(Special::SharedWindow) {
            if kernel.dynamic_shared {
                let id = module.named("shared");
                module.name(id, "shared");
                module.decorate(id, "Alignment 128");
                params.declared.push((id, Type::Pointer(Class::Workgroup, Ty::U8, 1)));
                let whole = if kernel.shared_bytes == 0 { Argument::DynamicShared } else { Argument::AllShared };
                params.arguments.push(whole);
                params.shared = Some((id, false));
            } else {
                let id = module.named(&format!("{}_shared", kernel.name));
                let ty = Type::PointerToArray(Class::Workgroup, Ty::U8, kernel.shared_bytes.max(1));
                module.variable(id, ty, Class::Workgroup, None);
                module.decorate(id, "Alignment 128");
                params.shared = Some((id, true));
            }
        }
        if uses(Space::Local) || window(Special::LocalWindow) {
            params.local = Some(module.named(&format!("{}_local", kernel.name)));
        }
        params
    }
}

enum Declared {
    Pointer,
    Value(Ty),
    Words(u32),
}

/// What a parameter is declared as.
fn declared(param: &Param, is_pointer: bool) -> Result<Declared> {
    match param.passing {
        Passing::Image(_) | Passing::Sampler => return Err("an image or a sampler".to_owned()),
        Passing::Shared => return Err("memory that a block shares".to_owned()),
        Passing::Buffer => return Ok(Declared::Pointer),
        Passing::Any if is_pointer => return Ok(Declared::Pointer),
        Passing::Any | Passing::Value => {}
    }
    let float = match param.scalar {
        Some(Scalar::Float(format)) => Ty::of_format(format),
        _ => None,
    };
    Ok(match (float, param.size) {
        (Some(ty), size) if ty.bits() == 8 * size => Declared::Value(ty),
        (_, size @ (1 | 2 | 4 | 8)) => Declared::Value(Ty::int(8 * size)),
        (_, size) if size % 4 == 0 => Declared::Words(size / 4),
        (_, size) => return Err(format!("a structure of {size} bytes, which are no whole words")),
    })
}

impl Body<'_> {
    /// What a register that holds an address gives where memory is accessed: a pointer to elements.
    pub(super) fn pointer(&mut self, space: Space, address: Operand, offset: i64, of: Ty, count: u8) -> Result<Id> {
        let class = match space {
            Space::Global => Class::CrossWorkgroup,
            Space::Const if self.is_opencl_1() => Class::UniformConstant,
            Space::Const => Class::CrossWorkgroup,
            Space::Generic if !self.has_windows() => Class::CrossWorkgroup,
            Space::Generic => Class::Generic,
            Space::Shared => return self.inside(0, address, offset, of, count),
            Space::Local => return self.inside(1, address, offset, of, count),
            Space::Param => return Err("a parameter that is no constant address".to_owned()),
        };
        if class == Class::Generic {
            self.needs_opencl_2("a generic address")?;
        }
        let ty = Type::Pointer(class, of, count);
        let bytes = i64::from(of.bits() / 8) * i64::from(count);
        let wide = self.module.address();
        let mut number = self.read_as(address, wide);
        let mut steps = 0;
        if offset % bytes == 0 {
            steps = offset / bytes;
        } else {
            number = self.emit(wide, "OpIAdd", &[number, Id::constant(wide, offset as u64)]);
        }
        let known = self.pointers.iter().find(|(of, to, _)| *of == number && *to == ty);
        let base = match known {
            Some(&(.., pointer)) => pointer,
            None => {
                let pointer = self.emit(ty, "OpConvertUToPtr", &[number]);
                self.pointers.push((number, ty, pointer));
                pointer
            }
        };
        Ok(self.stepped(ty, base, steps))
    }

    /// A pointer some elements on.
    fn stepped(&mut self, ty: Type, base: Id, steps: i64) -> Id {
        match steps {
            0 => base,
            _ => {
                let steps = Id::constant(self.module.address(), steps as u64);
                self.emit(ty, "OpInBoundsPtrAccessChain", &[base, steps])
            }
        }
    }

    /// A pointer into shared or local memory, whose addresses count from its first byte.
    fn inside(&mut self, which: usize, address: Operand, offset: i64, of: Ty, count: u8) -> Result<Id> {
        let first = self.first(which)?;
        let class = if which == 0 { Class::Workgroup } else { Class::Function };
        let bytes = Type::Pointer(class, Ty::U8, 1);
        let (ty, size) = (Type::Pointer(class, of, count), i64::from(of.bits() / 8) * i64::from(count));
        let (start, steps) = match address {
            Operand::Imm(at) => {
                let at = (at as i64).wrapping_add(offset);
                (self.stepped(bytes, first, at), 0)
            }
            Operand::Reg(reg) => {
                let width = Ty::of(self.kernel.width(reg));
                let at = self.read_as(address, width);
                let known = self.pointers.iter().find(|(of, to, _)| *of == at && *to == bytes);
                let start = match known {
                    Some(&(.., start)) => start,
                    None => {
                        let start = self.emit(bytes, "OpInBoundsPtrAccessChain", &[first, at]);
                        self.pointers.push((at, bytes, start));
                        start
                    }
                };
                if offset % size == 0 { (start, offset / size) } else { (self.stepped(bytes, start, offset), 0) }
            }
        };
        let base = if ty == bytes { start } else { self.emit(ty, "OpBitcast", &[start]) };
        Ok(self.stepped(ty, base, steps))
    }

    /// A pointer to the first byte of shared (0) or local memory (1).
    fn first(&mut self, which: usize) -> Result<Id> {
        if let Some(first) = self.params.first[which] {
            return Ok(first);
        }
        let zero = Id::constant(Ty::U32, 0);
        let (memory, class) = match which {
            0 => (self.params.shared, Class::Workgroup),
            _ => (self.params.local.map(|id| (id, true)), Class::Function),
        };
        let (id, is_array) = memory.ok_or("memory that the kernel does not declare")?;
        let first = match is_array {
            true => self.early(Type::Pointer(class, Ty::U8, 1), "OpInBoundsAccessChain", &[id, zero], ""),
            false => id,
        };
        self.params.first[which] = Some(first);
        Ok(first)
    }

    /// The declaration of local memory.
    pub(super) fn local_memory(&mut self, out: &mut String) {
        if let Some(id) = self.params.local {
            let ty = Type::PointerToArray(Class::Function, Ty::U8, self.kernel.local_bytes.max(1));
            self.module.decorate(id, "Alignment 16");
            self.module.put(out, id);
            out.push_str(" = OpVariable ");
            self.module.put(out, Id::Of(ty));
            out.push_str(" Function\n");
        }
    }

    /// The generic address of the first byte of shared (0) or local memory (1).
    pub(super) fn window(&mut self, which: usize) -> Result<Id> {
        if let Some(window) = self.windows[which] {
            return Ok(window);
        }
        self.needs_opencl_2("a generic address")?;
        if self.module.address() != Ty::U64 {
            return Err("a generic address of 32 bits".to_owned());
        }
        let first = self.first(which)?;
        let generic = self.early(Type::Pointer(Class::Generic, Ty::U8, 1), "OpPtrCastToGeneric", &[first], "");
        let number = self.early(Ty::U64, "OpConvertPtrToU", &[generic], "");
        self.windows[which] = Some(number);
        Ok(number)
    }

    /// Whether generic addresses may lead anywhere but to buffers and variables.
    pub(super) fn has_windows(&self) -> bool {
        let mut ops = self.kernel.blocks.iter().flat_map(|block| &block.instructions);
        ops.any(|at| {
            let windows = [Special::SharedWindow, Special::LocalWindow, Special::ParamWindow];
            matches!(at.op, Op::Special { special, .. } if windows.contains(&special))
        })
    }

    fn is_opencl_1(&self) -> bool {
        self.options.environment().full_opencl().is_some_and(|version| version < Version(2, 0))
    }

    pub(super) fn needs_opencl_2(&self, what: &str) -> Result {
        if self.is_opencl_1() {
            return Err(format!("{what}, which OpenCL has from 2.0 on"));
        }
        Ok(())
    }

    /// A load.
    pub(super) fn load(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        bytes: u32,
        signed: bool,
        address: Operand,
        offset: i64,
    ) -> Result {
        if space == Space::Param {
            let Operand::Imm(at) = address else { return Err("parameters indexed by a register".to_owned()) };
            for (place, reg) in (0..).zip(d) {
                if let Some(reg) = reg {
                    let at = (at as i64).wrapping_add(offset).wrapping_add(place * i64::from(bytes));
                    let (value, ty) = self.param(at, bytes)?;
                    self.write_extended(*reg, value, ty, signed);
                }
            }
            return Ok(());
        }
        if self.is_atomic_access(bytes) {
            return self.atomic_load(d, (space, bytes, signed), address, offset);
        }
        let mut at = offset;
        for chunk in chunks(d) {
            let first = chunk.iter().flatten().next();
            let fits = |reg: &Reg| self.kernel.width(*reg).bits() == 8 * bytes;
            let ty = match first {
                Some(reg) if fits(reg) => self.shape.types[reg.0 as usize],
                _ => Ty::int(8 * bytes),
            };
            let count = chunk.len() as u8;
            let pointer = self.pointer(space, address, at, ty, count)?;
            let literals = self.memory_operands(bytes, count);
            self.fence_before();
            match chunk {
                [Some(reg)] => {
                    let value = self.emit_with(ty, "OpLoad", &[pointer], &literals);
                    self.write_extended(*reg, value, ty, signed);
                }
                [_] => {
                    self.emit_with(ty, "OpLoad", &[pointer], &literals);
                }
                _ => {
                    let all = self.emit_with(Type::Vector(ty, count), "OpLoad", &[pointer], &literals);
                    for (place, reg) in chunk.iter().enumerate() {
                        if let Some(reg) = reg {
                            let value = self.emit_with(ty, "OpCompositeExtract", &[all], &place.to_string());
                            self.write_extended(*reg, value, ty, signed);
                        }
                    }
                }
            }
            self.fence_behind();
            at += i64::from(bytes) * chunk.len() as i64;
        }
        Ok(())
    }

    /// A register's value from one that may be narrower.
    pub(super) fn write_extended(&mut self, reg: Reg, value: Id, ty: Ty, signed: bool) {
        let width = Ty::of(self.kernel.width(reg));
        if width.bits() == ty.bits() {
            return self.write(reg, value, ty);
        }
        let int = Ty::int(ty.bits());
        let value = self.bitcast(value, ty, int);
        let value = if signed { self.extend(value, int, width) } else { self.resize(value, int, width) };
        self.write(reg, value, width);
    }

    fn memory_operands(&mut self, bytes: u32, count: u8) -> String {
        let all = if self.kernel.aligned_vectors { bytes * u32::from(count) } else { bytes };
        self.volatile(format!("Aligned {all}"))
    }

    /// A store.
    pub(super) fn store(
        &mut self,
        values: &[Operand],
        width: Width,
        space: Space,
        bytes: u32,
        address: Operand,
        offset: i64,
    ) -> Result {
        if self.is_atomic_access(bytes) {
            return self.atomic_store(values, (space, bytes, width), address, offset);
        }
        let mut at = offset;
        for chunk in chunks(values) {
            let first = chunk.iter().find_map(|value| match value {
                Operand::Reg(reg) => Some(self.shape.types[reg.0 as usize]),
                Operand::Imm(_) => None,
            });
            let ty = first.filter(|ty| ty.bits() == 8 * bytes).unwrap_or(Ty::int(8 * bytes));
            let whole = if ty.bits() == width.bits() { ty } else { Ty::of(width) };
            let parts: Vec<Id> = chunk
                .iter()
                .map(|&value| {
                    let value = self.read_as(value, whole);
                    self.resize(value, whole, ty)
                })
                .collect();
            let count = chunk.len() as u8;
            let pointer = self.pointer(space, address, at, ty, count)?;
            let value = match parts[..] {
                [only] => only,
                _ => self.vector(ty, &parts),
            };
            let literals = self.memory_operands(bytes, count);
            self.fence_before();
            self.effect_with("OpStore", &[pointer, value], &literals);
            at += i64::from(bytes) * chunk.len() as i64;
        }
        Ok(())
    }

    /// Bytes of the parameters.
    fn param(&mut self, at: i64, bytes: u32) -> Result<(Id, Ty)> {
        let outside = || "parameters that the kernel does not declare".to_owned();
        let (index, _) = self.params.bytes.at(at).ok_or_else(outside)?;
        let param = &self.kernel.params[index];
        let inside = at - i64::from(param.offset);
        if inside + i64::from(bytes) > i64::from(param.size) {
            return Err(outside());
        }
        let wanted = Ty::int(8 * bytes);
        let given = self.params.given.get(index).copied().ok_or_else(outside)?;
        match given {
            Given::Value(id, ty) if ty.bits() == wanted.bits() => Ok((id, ty)),
            Given::Value(id, ty) => {
                let whole = Ty::int(ty.bits());
                let value = self.bitcast(id, ty, whole);
                Ok((self.piece(value, whole, inside as u32, wanted), wanted))
            }
            Given::Pointer(id) => {
                let number = match self.params.numbers[index] {
                    Some(number) => number,
                    None => {
                        let number = self.early(self.module.address(), "OpConvertPtrToU", &[id], "");
                        *self.params.numbers[index].insert(number)
                    }
                };
                let number = self.resize(number, self.module.address(), Ty::U64);
                Ok((self.piece(number, Ty::U64, inside as u32, wanted), wanted))
            }
            Given::Block(id) => {
                let word = |body: &mut Self, number: i64| {
                    let indices = [id, Id::constant(Ty::U32, 0), Id::constant(Ty::U32, number as u64)];
                    let ty = Type::Pointer(Class::Function, Ty::U32, 1);
                    let pointer = body.emit(ty, "OpInBoundsAccessChain", &indices);
                    body.emit_with(Ty::U32, "OpLoad", &[pointer], "Aligned 4")
                };
                let low = word(self, inside / 4);
                if bytes == 8 {
                    let high = word(self, inside / 4 + 1);
                    return Ok((self.joined(Ty::U64, low, high), Ty::U64));
                }
                Ok((self.piece(low, Ty::U32, (inside % 4) as u32, wanted), wanted))
            }
        }
    }

    /// Some bytes of an integer.
    fn piece(&mut self, value: Id, ty: Ty, from: u32, wanted: Ty) -> Id {
        let shifted = match from {
            0 => value,
            _ => self.emit(ty, "OpShiftRightLogical", &[value, Id::constant(ty, u64::from(8 * from))]),
        };
        self.resize(shifted, ty, wanted)
    }

    /// Two halves put together.
    pub(super) fn joined(&mut self, ty: Ty, low: Id, high: Id) -> Id {
        let half = Ty::int(ty.bits() / 2);
        if let (Some(low), Some(high)) = (low.known(), high.known()) {
            return Id::constant(ty, low | high << half.bits());
        }
        let both = self.vector(half, &[low, high]);
        self.emit(ty, "OpBitcast", &[both])
    }

    /// A vector of some values. Not every reader takes OpCompositeConstruct of what is no constant.
    pub(super) fn vector(&mut self, ty: Ty, parts: &[Id]) -> Id {
        if let [only] = *parts {
            return only;
        }
        let count = parts.len() as u8;
        let mut all = Id::UndefVector(ty, count);
        for (place, &part) in parts.iter().enumerate() {
            all = self.emit_with(Type::Vector(ty, count), "OpCompositeInsert", &[part, all], &place.to_string());
        }
        all
    }
}

/// Neighbours that are accessed together.
fn chunks<T>(all: &[T]) -> impl Iterator<Item = &[T]> {
    let size = match all.len() {
        count if count.is_multiple_of(4) => 4,
        count if count.is_multiple_of(2) => 2,
        _ => 1,
    };
    all.chunks(size)
}

/// Whether a kernel names each of the program's variables. What only first values name is refused with these.
fn named_variables(program: &Program) -> Vec<bool> {
    let mut named = vec![false; program.variables.len()];
    let blocks = program.kernels.iter().flat_map(|kernel| &kernel.blocks);
    for instruction in blocks.flat_map(|block| &block.instructions) {
        if let Op::Special { special: Special::Address(variable), .. } = instruction.op
            && let Some(named) = named.get_mut(variable as usize)
        {
            *named = true;
        }
    }
    named
}

/// Declares the program's variables, those aside that have no counterpart and that no kernel names.
pub(super) fn variables(
    module: &mut Module,
    program: &Program,
    opencl: Option<Version>,
    findings: &mut Vec<Finding>,
) -> Vec<Id> {
    let mut all = Vec::with_capacity(program.variables.len());
    let named = named_variables(program);
    for (number, variable) in program.variables.iter().enumerate() {
        let mut refuse = |what: &str| {
            if !named[number] {
                return;
            }
            let message = format!("variable `{}`: {what}", variable.name);
            findings.push(rules::NO_COUNTERPART.finding(Location::Whole, message));
        };
        let id = module.named(&variable.name);
        all.push(id);
        if !variable.relocations.is_empty() {
            refuse("an initial value that holds addresses");
            continue;
        }
        let is_first = opencl.is_some_and(|version| version < Version(2, 0));
        if is_first && !variable.constant {
            refuse("a variable in global memory, which OpenCL has from 2.0 on");
            continue;
        }
        let size = variable.size.max(1);
        let bytes = 1 << (size | variable.align | 8).trailing_zeros().min(3);
        let Ok(count) = u32::try_from(size / bytes) else {
            refuse("more than 4 GiB");
            continue;
        };
        let ty = Ty::int(8 * bytes as u32);
        let mut elements: Vec<u64> = Vec::new();
        for chunk in variable.initial.chunks(bytes as usize) {
            let mut element = [0; 8];
            element[..chunk.len()].copy_from_slice(chunk);
            elements.push(u64::from_le_bytes(element));
        }
        let used = elements.iter().rposition(|&bits| bits != 0).map_or(0, |last| last + 1);
        elements.truncate(used.min(count as usize));
        let class = if is_first { Class::UniformConstant } else { Class::CrossWorkgroup };
        module.words(id, (class, ty), number, &elements, count);
        module.name(id, &variable.name);
        let mut align = String::new();
        let _ = write!(align, "Alignment {}", variable.align.clamp(1, 1 << 20));
        module.decorate(id, &align);
        if variable.constant {
            module.decorate(id, "Constant");
        }
    }
    all
}
