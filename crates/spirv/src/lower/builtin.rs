//! What a kernel starts with: its size, its parameters, and the variables of the module.
//!
//! Buffers are parameters by the name `set.binding`; each member of the push constants is one by its own name, and so
//! is each parameter of an OpenCL kernel.

use std::collections::{BTreeMap, HashMap, HashSet};

use roundonce_ir::{IntOp, MemoryOrder, Op, Operand, Param, Passing, Space, Special, Variable, Width};
use roundonce_isa::Finding;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op as Opcode, StorageClass};

use super::types::{Layout, Part, TypeKind};
use super::value::{BufferOf, Pointer, TypedValue, Value};
use super::{Body, MALFORMED, Result, constant::Bits};
use crate::literal::read_string;
use crate::module::Instruction;

/// Bytes of an address.
const ADDRESS: u32 = 8;
/// Descriptors of an array, each a parameter.
const MOST_DESCRIPTORS: u64 = 256;
/// What pieces of shared memory are aligned to: the largest vector of OpenCL C.
const SHARED_ALIGN: u32 = 128;

/// An array of descriptors of buffers.
#[derive(Clone, Copy)]
pub(super) struct Descriptors {
    /// What each points to.
    pub(super) of: u32,
    /// The first of their parameters, and how many there are.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Whether the launch says how many.
    pub(super) at_run_time: bool,
}

impl Body<'_> {
    /// Everything before the first instruction.
    pub(super) fn set_up(&mut self) -> Result<()> {
        self.kernel.required_block = self.required_block()?;
        let (lowering, entry) = (self.lowering, self.entry);
        let mut touched = HashSet::new();
        for function in lowering.reachable(entry.function) {
            let range = lowering.functions.get(&function).cloned().unwrap_or_default();
            touched.extend(range.flat_map(|index| lowering.ids(index).iter().copied()));
        }
        let is_touched = |index: &&usize| {
            let id = lowering.module.result(&lowering.module.instructions()[**index]);
            id.is_some_and(|id| touched.contains(&id))
        };
        let mut buffers = BTreeMap::new();
        let mut rest = Vec::new();
        for &index in lowering.variables.iter().filter(is_touched) {
            self.stand_at(index);
            let (id, type_id, to, class) = self.module_variable()?;
            match (self.descriptor(id), class) {
                (Some(place), _) => buffers.entry(place).or_insert_with(Vec::new).push((index, id, type_id, to)),
                _ if class == StorageClass::PushConstant => self.push_constants(id, type_id, to)?,
                _ => rest.push(index),
            }
        }
        self.kernel.param_bytes = self.kernel.param_bytes.next_multiple_of(ADDRESS);
        for ((set, binding), variables) in buffers {
            self.stand_at(variables[0].0);
            if let Some(array) = self.descriptors_of((set, binding), variables[0].3)?
                && variables.iter().all(|&(.., to)| to == variables[0].3)
            {
                for at in 0..array.count {
                    self.param(format!("{set}.{binding}[{at}]"), ADDRESS, None, Passing::Buffer)?;
                }
                for (index, id, type_id, _) in variables {
                    self.stand_at(index);
                    // Nothing but an access chain leads into one of them.
                    self.hold(id, type_id, at_address(Space::Global, Operand::ZERO));
                    self.descriptors.insert(id, array);
                }
                continue;
            }
            if let Some(passing) = self.handle_passing(variables[0].3) {
                self.handles(&format!("{set}.{binding}"), passing, &variables)?;
                continue;
            }
            let param = self.param(format!("{set}.{binding}"), ADDRESS, None, Passing::Buffer)?;
            let address = self.param_address(param);
            for (index, id, type_id, to) in variables {
                self.stand_at(index);
                if let Some(TypeKind::Array { .. } | TypeKind::RuntimeArray { .. } | TypeKind::Other | TypeKind::Void) =
                    lowering.types.kind(to)
                {
                    let what = lowering.facts.describe(lowering.module, to);
                    return Err(self.unsupported(format!("{set}.{binding}: a descriptor of {what}")));
                }
                self.hold(
                    id,
                    type_id,
                    Pointer { buffer: BufferOf::Param(param), ..at_address(Space::Global, address) },
                );
            }
        }
        for index in rest {
            self.stand_at(index);
            self.other_variable()?;
        }
        Ok(())
    }

    /// The array of descriptors of buffers that a type is, its parameters next; `None` of another. A launch says how long one is whose
    /// type does not.
    fn descriptors_of(&self, place: (u32, u32), to: u32) -> Result<Option<Descriptors>> {
        let types = &self.lowering.types;
        let (of, count, at_run_time) = match types.kind(to) {
            Some(&TypeKind::Array { of, count }) if count <= MOST_DESCRIPTORS => (of, count, false),
            Some(&TypeKind::RuntimeArray { of }) => {
                (of, self.lowering.descriptors.get(&place).map_or(0, |&count| count.into()), true)
            }
            _ => return Ok(None),
        };
        if !matches!(types.kind(of), Some(TypeKind::Struct(_))) {
            return Ok(None);
        }
        let (set, binding) = place;
        if count == 0 && at_run_time {
            let refused =
                self.unsupported(format!("{set}.{binding}: a run-time array of descriptors without a buffer"));
            return Err(refused.help(format!("its buffers are given as `{set}.{binding}[0]` and so on")));
        }
        if count > MOST_DESCRIPTORS {
            return Err(self.unsupported(format!("{set}.{binding}: an array of {count} descriptors")));
        }
        let first = self.kernel.params.len() as u32;
        Ok(Some(Descriptors { of, first, count: count as u32, at_run_time }))
    }

    /// How a variable's images or samplers are passed; `None` of another.
    fn handle_passing(&self, to: u32) -> Option<Passing> {
        let types = &self.lowering.types;
        match *types.kind(types.element(to).unwrap_or(to))? {
            TypeKind::Image(kind) => Some(kind.passing(false)),
            TypeKind::SampledImage(kind) => Some(kind.passing(true)),
            TypeKind::Sampler => Some(Passing::Sampler),
            _ => None,
        }
    }

    /// Images or samplers of one binding: a parameter for each of an array.
    fn handles(&mut self, name: &str, passing: Passing, variables: &[(usize, u32, u32, u32)]) -> Result<()> {
        let types = &self.lowering.types;
        let to = variables[0].3;
        let offset = i64::from(self.kernel.param_bytes.next_multiple_of(ADDRESS));
        match types.kind(to) {
            Some(&TypeKind::Array { count, .. }) if count <= MOST_DESCRIPTORS => {
                for at in 0..count {
                    self.param(format!("{name}[{at}]"), ADDRESS, None, passing)?;
                }
            }
            Some(TypeKind::Array { count, .. }) => {
                return Err(self.unsupported(format!("{name}: an array of {count} images or samplers")));
            }
            _ => {
                self.param(name.to_owned(), ADDRESS, None, passing)?;
            }
        }
        for &(index, id, type_id, other) in variables {
            self.stand_at(index);
            if types.kind(other).is_none_or(|kind| Some(kind) != types.kind(to)) {
                return Err(self.unsupported(format!("{name}: variables of several types")));
            }
            self.hold(id, type_id, Pointer { offset, ..at_address(Space::Param, Operand::ZERO) });
        }
        Ok(())
    }

    fn hold(&mut self, id: u32, type_id: u32, pointer: Pointer) {
        self.globals.insert(id, TypedValue { type_id, value: Value::Memory(pointer) });
    }

    /// The id, the type, what it points to and the class of the variable at work.
    fn module_variable(&self) -> Result<(u32, u32, u32, StorageClass)> {
        let type_id = self.result_type()?;
        let id = self.lowering.module.result(&self.at).unwrap_or(0);
        match self.lowering.types.kind(type_id) {
            Some(&TypeKind::Pointer { class, to }) => {
                let class = StorageClass::from_u32(class).unwrap_or(StorageClass::Generic);
                Ok((id, type_id, to, class))
            }
            _ => Err(self.unsupported(format!("OpVariable {}", self.lowering.module.id(id)))),
        }
    }

    /// Set and binding.
    fn descriptor(&self, id: u32) -> Option<(u32, u32)> {
        let number = |decoration: Decoration| {
            let mut attached = self.lowering.facts.decorations_of(id);
            attached.find(|at| at.value == decoration as u32)?.words.first().copied()
        };
        Some((number(Decoration::DescriptorSet)?, number(Decoration::Binding)?))
    }

    /// A new parameter behind the others.
    fn param(
        &mut self,
        name: String,
        size: u32,
        scalar: Option<roundonce_ir::Scalar>,
        passing: Passing,
    ) -> Result<u32> {
        let offset = self.kernel.param_bytes.next_multiple_of(ADDRESS);
        let end = offset.checked_add(size).filter(|end| *end < 1 << 20);
        self.kernel.param_bytes = end.ok_or_else(|| self.unsupported("this many bytes of parameters"))?;
        self.kernel.params.push(Param { name, offset, size, scalar, passing });
        Ok(self.kernel.params.len() as u32 - 1)
    }

    /// The address that a parameter holds.
    fn param_address(&mut self, param: u32) -> Operand {
        let d = self.fresh(Width::B64);
        let offset = i64::from(self.kernel.params[param as usize].offset);
        let (space, address) = (Space::Param, Operand::ZERO);
        self.emit(Op::Load { d: vec![Some(d)], space, bytes: ADDRESS, signed: false, address, offset });
        d.into()
    }

    /// A parameter for each member of the block: the parameters begin with it.
    fn push_constants(&mut self, id: u32, type_id: u32, to: u32) -> Result<()> {
        let lowering = self.lowering;
        let Some(TypeKind::Struct(members)) = lowering.types.kind(to) else {
            return Err(self.unsupported("a push constant that is no struct"));
        };
        let count = members.len();
        if !self.kernel.params.is_empty() {
            return Err(self.unsupported("a second block of push constants"));
        }
        let names = self.member_names(to, count);
        let mut times = HashMap::new();
        for name in &names {
            *times.entry(name.as_str()).or_insert(0) += 1;
        }
        let members = (0..count).filter_map(|index| lowering.types.member(to, index));
        for (index, (member, offset, layout)) in members.enumerate() {
            let scalar = lowering.types.scalar(member);
            let (size, has_address) = self.span_of(member, offset, layout)?;
            let end = offset.checked_add(size).filter(|end| *end < 1 << 16 && size > 0);
            let end = end.ok_or_else(|| self.unsupported("push constants of this size"))?;
            let unique = !names[index].is_empty() && times[names[index].as_str()] == 1;
            let name = if unique { names[index].clone() } else { format!("push.{index}") };
            let passing = if has_address { Passing::Any } else { Passing::Value };
            let scalar = scalar.and_then(Part::scalar);
            self.kernel.params.push(Param { name, offset: offset as u32, size: size as u32, scalar, passing });
            self.kernel.param_bytes = self.kernel.param_bytes.max(end as u32);
        }
        self.kernel.push_constants = count;
        self.hold(id, type_id, at_address(Space::Param, Operand::ZERO));
        Ok(())
    }

    /// Bytes from a member's first to its last, a vector of three having no padding; whether addresses are among them.
    fn span_of(&mut self, member: u32, offset: u64, layout: Layout) -> Result<(u64, bool)> {
        let mut cells = Vec::new();
        let found = self.lowering.types.cells(member, offset, layout, &mut cells);
        let ends = cells.iter().map(|cell| cell.offset + u64::from(cell.part.bytes()));
        let end = ends.max().filter(|_| found.is_some());
        let size = end.map_or_else(|| self.size_of(member), |end| Ok(end.saturating_sub(offset)))?;
        Ok((size, cells.iter().any(|cell| matches!(cell.part, Part::Pointer(_)))))
    }

    /// The names that OpMemberName gives to a struct's members.
    fn member_names(&self, ty: u32, count: usize) -> Vec<String> {
        let module = self.lowering.module;
        let mut names = vec![String::new(); count];
        for at in module.instructions().iter().filter(|at| at.opcode == Opcode::MemberName as u16) {
            if let [_, target, member, name @ ..] = module.words_of(at)
                && *target == ty
                && let Some(place) = names.get_mut(*member as usize)
                && let Some((bytes, _)) = read_string(name)
            {
                *place = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        names
    }

    /// A variable that is no parameter.
    fn other_variable(&mut self) -> Result<()> {
        let (id, type_id, to, class) = self.module_variable()?;
        let initial = self.operands().get(1).copied();
        match class {
            StorageClass::Workgroup => {
                let null = initial.is_none_or(|id| {
                    self.lowering.constants.get(id).is_some_and(|constant| matches!(constant.bits, Bits::Null))
                });
                if !null {
                    return Err(self.unsupported("a Workgroup variable with an initializer other than OpConstantNull"));
                }
                let start = u64::from(self.kernel.shared_bytes).next_multiple_of(16);
                let end = u32::try_from(start + self.size_of(to)?);
                self.kernel.shared_bytes = end.map_err(|_| self.unsupported("this much Workgroup memory"))?;
                self.hold(id, type_id, at_address(Space::Shared, Operand::Imm(start)));
            }
            StorageClass::Private | StorageClass::Input | StorageClass::Output => {
                let value = self.place_variable(id, to)?;
                let built_in = self.lowering.facts.decorations_of(id).find(|at| at.value == Decoration::BuiltIn as u32);
                let parts = match (built_in.and_then(|at| at.words.first().copied()), initial, class) {
                    (Some(built_in), ..) => Some(self.built_in(built_in, to)?),
                    (None, Some(initial), _) => Some(self.parts(initial)?.to_vec()),
                    (None, None, StorageClass::Private) => None,
                    _ => return Err(self.unsupported(format!("a variable of class {class:?} that is no BuiltIn"))),
                };
                if let Some(parts) = parts {
                    self.store_to(&value, to, &parts)?;
                }
                self.globals.insert(id, TypedValue { type_id, value });
            }
            StorageClass::CrossWorkgroup | StorageClass::UniformConstant => {
                let constant = class == StorageClass::UniformConstant;
                let initial = match initial {
                    Some(initial) => self.bytes_of(initial, to)?,
                    None if constant => return Err(self.unsupported("a UniformConstant variable without a binding")),
                    None => Vec::new(),
                };
                let name = self.lowering.module.id(id).to_string();
                let size = self.size_of(to)?;
                let (align, relocations) = (256, Vec::new());
                self.program.variables.push(Variable { name, initial, size, align, constant, relocations });
                let d = self.fresh(Width::B64);
                let special = Special::Address(self.program.variables.len() as u32 - 1);
                self.emit(Op::Special { d, special });
                self.hold(id, type_id, at_address(Space::Global, d.into()));
            }
            _ => return Err(self.unsupported(format!("a variable of class {class:?} without a set and a binding"))),
        }
        Ok(())
    }

    /// A constant's layout in memory, zeros at the end left out. What has too many scalars for a value is put together of
    /// its members.
    fn bytes_of(&mut self, id: u32, to: u32) -> Result<Vec<u8>> {
        let lowering = self.lowering;
        match lowering.constants.get(id).map(|constant| &constant.bits) {
            Some(Bits::Null) => return Ok(Vec::new()),
            Some(Bits::Unfolded) if matches!(lowering.types.kind(to), Some(TypeKind::Struct(_))) => {
                let by = lowering.facts.instruction(lowering.module, id);
                let members = by.filter(|at| at.opcode == Opcode::ConstantComposite as u16);
                let members = members.and_then(|at| lowering.module.words_of(at).get(3..));
                let mut bytes = Vec::new();
                for (index, &member) in members.unwrap_or_default().iter().enumerate() {
                    let found = lowering.types.member(to, index);
                    let (of, offset, _) = found.ok_or_else(|| self.malformed("the initializer has another member"))?;
                    let inner = self.bytes_of(member, of)?;
                    bytes.resize(bytes.len().max(offset as usize + inner.len()), 0);
                    bytes[offset as usize..][..inner.len()].copy_from_slice(&inner);
                }
                return Ok(bytes);
            }
            _ => {}
        }
        let parts = self.parts(id)?;
        let mut cells = Vec::new();
        let found = self.lowering.types.cells(to, 0, Layout::default(), &mut cells);
        if found.is_none() || cells.len() != parts.len() {
            return Err(self.malformed("the initializer is of another type"));
        }
        let mut bytes = vec![0; self.size_of(to)? as usize];
        for (cell, part) in cells.iter().zip(&parts[..]) {
            let Operand::Imm(bits) = *part else { return Err(self.unsupported("an initializer that is no constant")) };
            let count = cell.part.bytes() as usize;
            let room = bytes.get_mut(cell.offset as usize..).and_then(|rest| rest.get_mut(..count));
            if let Some(room) = room {
                room.copy_from_slice(&bits.to_le_bytes()[..count]);
            }
        }
        Ok(bytes)
    }

    /// The size that the module gives its workgroups: BuiltIn WorkgroupSize, LocalSizeId, LocalSize.
    fn required_block(&self) -> Result<Option<[u32; 3]>> {
        let Some((said_by, size, place)) = self.workgroup_size()? else { return Ok(None) };
        let sizes: Option<Vec<u32>> =
            size.iter().map(|&size| u32::try_from(size).ok().filter(|&size| size > 0)).collect();
        match sizes.as_deref() {
            Some(&[x, y, z]) => Ok(Some([x, y, z])),
            _ => {
                let [x, y, z] = size;
                let message = format!("{said_by} of {x} × {y} × {z} invocations: expected 1 to 2^32 - 1 of each");
                Err(Finding::error(MALFORMED, self.lowering.module.location(place.word), message))
            }
        }
    }

    /// What says the size of workgroups, the size, and where.
    fn workgroup_size(&self) -> Result<Option<(&'static str, [u64; 3], Instruction)>> {
        let (facts, constants) = (&self.lowering.facts, &self.lowering.constants);
        let sizes = |at: &crate::facts::Attached| {
            at.value == Decoration::BuiltIn as u32 && at.words.first() == Some(&(BuiltIn::WorkgroupSize as u32))
        };
        let found = |at: &crate::facts::Attached| Some((constants.get(at.target)?, at.instruction));
        if let Some((constant, place)) = facts.decorations.iter().filter(|at| sizes(at)).find_map(found)
            && let Bits::Known(bits) = &constant.bits
            && let [x, y, z] = bits[..]
        {
            return Ok(Some(("BuiltIn WorkgroupSize", [x, y, z], place)));
        }
        for at in facts.modes_of(self.entry.function) {
            let [x, y, z] = at.words[..] else { continue };
            match ExecutionMode::from_u32(at.value) {
                Some(ExecutionMode::LocalSize) => {
                    return Ok(Some(("LocalSize", [x, y, z].map(u64::from), at.instruction)));
                }
                Some(ExecutionMode::LocalSizeId) => {
                    let sizes = [x, y, z].map(|id| constants.scalar(id));
                    let [Some(x), Some(y), Some(z)] = sizes else {
                        return Err(self.unsupported("LocalSizeId of what is no constant"));
                    };
                    return Ok(Some(("LocalSizeId", [x, y, z], at.instruction)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// What the entry point's own parameters are: buffers, values, and pieces of shared memory.
    pub(super) fn parameters(&mut self, function: u32) -> Result<Vec<TypedValue>> {
        let lowering = self.lowering;
        let mut all = Vec::new();
        for index in lowering.functions.get(&function).cloned().unwrap_or_default() {
            if lowering.module.instructions()[index].opcode != Opcode::FunctionParameter as u16 {
                continue;
            }
            self.stand_at(index);
            let type_id = self.result_type()?;
            let id = lowering.module.result(&self.at).unwrap_or(0);
            let name = self.parameter_name(id, &lowering.names);
            let value = match lowering.types.kind(type_id) {
                Some(&TypeKind::Pointer { class, to }) => match StorageClass::from_u32(class) {
                    Some(StorageClass::CrossWorkgroup | StorageClass::UniformConstant) => {
                        let param = self.param(name, ADDRESS, None, Passing::Buffer)?;
                        let address = self.param_address(param);
                        Value::Memory(Pointer { buffer: BufferOf::Param(param), ..at_address(Space::Global, address) })
                    }
                    Some(StorageClass::Workgroup) => {
                        let param = self.param(name, ADDRESS, None, Passing::Shared)?;
                        let start = self.kernel.shared_bytes.checked_next_multiple_of(SHARED_ALIGN);
                        self.kernel.shared_bytes =
                            start.ok_or_else(|| self.unsupported("this much Workgroup memory"))?;
                        let address = self.param_address(param);
                        Value::Memory(at_address(Space::Shared, address))
                    }
                    // A struct passed by value.
                    Some(StorageClass::Function) => {
                        let parts = self.by_value(name, to, Passing::Value)?;
                        let value = self.place_variable(id, to)?;
                        self.store_to(&value, to, &parts)?;
                        value
                    }
                    _ => return Err(self.unsupported("a parameter of this storage class")),
                },
                _ => {
                    let passing = self.handle_passing(type_id).unwrap_or(Passing::Value);
                    Value::Parts(self.by_value(name, type_id, passing)?.into())
                }
            };
            all.push(TypedValue { type_id, value });
        }
        Ok(all)
    }

    /// A parameter's value.
    fn by_value(&mut self, name: String, type_id: u32, passing: Passing) -> Result<Vec<Operand>> {
        let scalar = self.lowering.types.scalar(type_id).and_then(Part::scalar);
        let size = self.size_of(type_id)?;
        let param = self.param(name, size as u32, scalar, passing)?;
        let offset = i64::from(self.kernel.params[param as usize].offset);
        let pointer = Pointer { offset, ..at_address(Space::Param, Operand::ZERO) };
        Ok(self.load_from(&Value::Memory(pointer), type_id)?.to_vec())
    }

    /// The name of a parameter: from OpName, from the text, or its position.
    fn parameter_name(&self, id: u32, names: &HashMap<u32, String>) -> String {
        let module = self.lowering.module;
        let name = names.get(&id).filter(|name| !name.is_empty()).cloned();
        let name = name.unwrap_or_else(|| module.id(id).to_string().trim_start_matches('%').to_owned());
        if name.bytes().all(|byte| byte.is_ascii_digit()) { self.kernel.params.len().to_string() } else { name }
    }

    fn special(&mut self, width: Width, special: Special) -> Operand {
        let d = self.fresh(width);
        self.emit(Op::Special { d, special });
        d.into()
    }

    fn axes(&mut self, width: Width, special: fn(u8) -> Special) -> [Operand; 3] {
        [0, 1, 2].map(|axis| self.special(width, special(axis)))
    }

    /// x + y × size.x + z × size.x × size.y
    fn linear(&mut self, width: Width, at: [Operand; 3], size: [Operand; 3]) -> Operand {
        let plane = self.int(IntOp::MulAdd, width, &[at[2], size[1], at[1]]);
        self.int(IntOp::MulAdd, width, &[plane, size[0], at[0]])
    }

    /// An invocation's place in its workgroup.
    pub(super) fn local_index(&mut self, width: Width) -> Operand {
        let local = self.axes(width, Special::Tid);
        self.index_in_group(width, local)
    }

    /// The place of the invocation of that local id.
    pub(super) fn index_in_group(&mut self, width: Width, local: [Operand; 3]) -> Operand {
        let size = self.axes(width, Special::Ntid);
        self.linear(width, local, size)
    }

    /// How many invocations a workgroup has.
    pub(super) fn group_size(&mut self, width: Width) -> Operand {
        let [x, y, z] = self.axes(width, Special::Ntid);
        let plane = self.int(IntOp::Mul, width, &[x, y]);
        self.int(IntOp::Mul, width, &[plane, z])
    }

    /// The value of a built-in variable.
    fn built_in(&mut self, number: u32, to: u32) -> Result<Vec<Operand>> {
        let built_in = BuiltIn::from_u32(number);
        let refused = |body: &Self| {
            let name = built_in.map_or_else(|| number.to_string(), |built_in| format!("{built_in:?}"));
            body.unsupported(format!("BuiltIn {name}"))
        };
        let Some((Part::Int { bits: 32 | 64, .. }, count)) = self.lowering.types.components(to) else {
            return Err(refused(self));
        };
        let width = self.lowering.types.components(to).map_or(Width::B32, |(part, _)| part.width());
        let axes = |body: &mut Self, special: fn(u8) -> Special| body.axes(width, special);
        let global = |body: &mut Self| {
            let (group, size, local) =
                (axes(body, Special::Ctaid), axes(body, Special::Ntid), axes(body, Special::Tid));
            [0, 1, 2].map(|axis| body.int(IntOp::MulAdd, width, &[group[axis], size[axis], local[axis]]))
        };
        let whole = |body: &mut Self| {
            let (groups, size) = (axes(body, Special::Nctaid), axes(body, Special::Ntid));
            [0, 1, 2].map(|axis| body.int(IntOp::Mul, width, &[groups[axis], size[axis]]))
        };
        let mask = |body: &mut Self, special| {
            vec![body.special(Width::B32, special), Operand::ZERO, Operand::ZERO, Operand::ZERO]
        };
        let parts = match built_in {
            Some(BuiltIn::NumWorkgroups) => axes(self, Special::Nctaid).to_vec(),
            Some(BuiltIn::WorkgroupId) => axes(self, Special::Ctaid).to_vec(),
            Some(BuiltIn::LocalInvocationId) => axes(self, Special::Tid).to_vec(),
            Some(BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize) => axes(self, Special::Ntid).to_vec(),
            Some(BuiltIn::GlobalInvocationId) => global(self).to_vec(),
            Some(BuiltIn::GlobalSize) => whole(self).to_vec(),
            Some(BuiltIn::GlobalLinearId) => {
                let (at, size) = (global(self), whole(self));
                vec![self.linear(width, at, size)]
            }
            Some(BuiltIn::GlobalOffset) => vec![Operand::ZERO; 3],
            Some(BuiltIn::LocalInvocationIndex) => vec![self.local_index(width)],
            Some(BuiltIn::SubgroupSize | BuiltIn::SubgroupMaxSize) => vec![Operand::Imm(32)],
            Some(BuiltIn::NumSubgroups) => vec![self.special(width, Special::Warps)],
            Some(BuiltIn::SubgroupId) => vec![self.special(width, Special::Warp)],
            Some(BuiltIn::SubgroupLocalInvocationId) => vec![self.special(width, Special::Lane)],
            Some(BuiltIn::SubgroupEqMask) => mask(self, Special::MaskEq),
            Some(BuiltIn::SubgroupGeMask) => mask(self, Special::MaskGe),
            Some(BuiltIn::SubgroupGtMask) => mask(self, Special::MaskGt),
            Some(BuiltIn::SubgroupLeMask) => mask(self, Special::MaskLe),
            Some(BuiltIn::SubgroupLtMask) => mask(self, Special::MaskLt),
            Some(BuiltIn::DeviceIndex) => vec![Operand::ZERO],
            _ => return Err(refused(self)),
        };
        if parts.len() == count { Ok(parts) } else { Err(refused(self)) }
    }
}

/// A pointer to an address.
fn at_address(space: Space, address: Operand) -> Pointer {
    Pointer {
        space,
        address,
        offset: 0,
        layout: Layout::default(),
        buffer: BufferOf::Unknown,
        order: MemoryOrder::WEAK,
    }
}
