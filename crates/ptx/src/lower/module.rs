//! What a module declares outside its functions: variables with their first values, shared memory.

use super::image::opaque_passing;
use super::{CANNOT_BE_RUN, Entity, Lowering, MALFORMED, Named, Result, Settings, UNSUPPORTED, aligned};
use crate::ast::{Item, Linkage, Module, Operand, OperandKind, Space, Variable};
use crate::literal::evaluate;
use crate::scopes::Map;
use crate::types::{ScalarKind, Type};
use roundonce_ir::{Program, Relocation};
use roundonce_isa::{Finding, LineIndex, SmTarget, Version};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicUsize;

/// Where the heap's first piece is; before it stands where the next one will be.
pub(super) const HEAP_START: u64 = 16;
/// Bytes of shared memory that the system's software keeps for itself: no document gives a number.
pub(super) const RESERVED_SHARED: u32 = 2048;

/// No variable is larger.
const LARGEST: u64 = 1 << 31;

/// Bytes and alignment of a variable.
pub(super) fn size_of(module: &Module, variable: &Variable) -> Result<(u32, u32)> {
    let malformed = |message: String| Finding::error(MALFORMED, variable.span.place(), message);
    let element = match Type::of(variable.ty) {
        Some(ty) => ty.bytes(),
        None => {
            let message = format!("`{}` of type `{}` cannot be run", variable.name, variable.ty);
            return Err(Finding::error(UNSUPPORTED, variable.span.place(), message));
        }
    };
    let lanes = match variable.lanes {
        0 => 1,
        3 => 4,
        lanes => u32::from(lanes),
    };
    let mut size = u64::from(element * lanes) * u64::from(variable.count.unwrap_or(1));
    let mut open = 0;
    for dimension in module.operands(variable.dimensions) {
        if dimension.kind == OperandKind::Empty {
            open = 1;
            continue;
        }
        let count = evaluate(module, dimension)?.bits_as(".u64").unwrap_or(0);
        size = size.saturating_mul(count);
    }
    if open == 1 {
        // `[]`: as many as the first value has.
        let given = variable.initial.map_or(0, |id| match module.operand(id).kind {
            OperandKind::Vector(items) => module.operands(items).len() as u64,
            _ => 1,
        });
        size = size.saturating_mul(given);
    }
    if size > LARGEST {
        return Err(malformed(format!("`{}` has {size} bytes: at most {LARGEST} can be", variable.name)));
    }
    let align = variable.align.unwrap_or(element * lanes).clamp(1, 1 << 16).next_power_of_two();
    Ok((size as u32, align))
}

/// The path of each `.file INDEX "PATH"`, without its directories.
fn files<'a>(module: &Module<'a>) -> HashMap<u32, &'a str> {
    let directives = module.items.iter().filter_map(|item| match item {
        Item::Directive(directive) if directive.name == ".file" => Some(module.operands(directive.operands)),
        _ => None,
    });
    let named = directives.filter_map(|operands| match operands {
        [Operand { kind: OperandKind::Number(index), .. }, Operand { kind: OperandKind::Text(path), .. }, ..] => {
            Some((index.parse().ok()?, path.rsplit(['/', '\\']).next()?))
        }
        _ => None,
    });
    named.collect()
}

/// Both names of each `.alias`.
pub(super) fn aliases<'a>(module: &Module<'a>) -> impl Iterator<Item = [&'a str; 2]> {
    module.items.iter().filter_map(|item| match item {
        Item::Directive(directive) if directive.name == ".alias" => match module.operands(directive.operands) {
            [alias, function] => Some([alias.name()?, function.name()?]),
            _ => None,
        },
        _ => None,
    })
}

impl<'m, 'a> Lowering<'m, 'a> {
    /// A module's variables, and what is wrong with them.
    pub(super) fn new(module: &'m Module<'a>, settings: &Settings<'m>) -> (Lowering<'m, 'a>, Vec<Finding>) {
        let mut lowering = Lowering {
            module,
            program: Program { kernels: Vec::new(), variables: Vec::new(), address_bits: module.address_size() },
            version: module.version().unwrap_or(Version(1, 0)),
            target: module.target().unwrap_or(SmTarget::from(10)),
            machine: settings.machine.or(module.target()).unwrap_or(SmTarget::from(10)),
            narrows_f64: module.targets().any(|word| word == "map_f64_to_f32"),
            globals: HashMap::new(),
            functions: Map::default(),
            shared_of_functions: module
                .functions()
                .filter(|function| !function.is_entry)
                .flat_map(|function| super::shared_variables(module, function))
                .collect(),
            spellings: Map::default(),
            lines: LineIndex::new(module.text()),
            files: files(module),
            settings: *settings,
            size: AtomicUsize::new(0),
            heap: None,
            grid_workspace: None,
            reserved_shared: None,
            recursive: HashSet::new(),
            moves_stack: HashSet::new(),
            addressed: Vec::new(),
            code_addresses: HashMap::new(),
            shared_bytes: 0,
            shared_align: 1,
            dynamic_shared: Vec::new(),
        };
        // Definitions win over declarations, whatever their order.
        for function in module.functions() {
            if function.body.is_some() || !lowering.functions.contains_key(function.name) {
                lowering.functions.insert(function.name, function);
            }
        }
        // A declaration that an alias gives a body.
        for [alias, function] in aliases(module) {
            if let Some(&function) = lowering.functions.get(function)
                && lowering.functions.get(alias).is_some_and(|declared| declared.body.is_none())
            {
                lowering.functions.insert(alias, function);
            }
        }
        lowering.look_at_spellings();
        lowering.look_at_calls();
        lowering.runtime_variables();
        let mut findings = Vec::new();
        let variables = module.items.iter().filter_map(|item| match item {
            Item::Variables(variables) => Some(module.variables(*variables)),
            _ => None,
        });
        let variables: Vec<&'m Variable<'a>> = variables.flatten().collect();
        for variable in &variables {
            if let Err(finding) = lowering.place(variable) {
                findings.push(finding);
            }
        }
        // Addresses in first values are known once all variables are.
        for variable in variables {
            if let Err(finding) = lowering.initialise(variable) {
                findings.push(finding);
            }
        }
        (lowering, findings)
    }

    /// Memory that the CUDA runtime gives a kernel: none is made where the module does not ask for it.
    fn runtime_variables(&mut self) {
        if self.functions.get("malloc").is_some_and(|function| function.body.is_none()) {
            // What is given away next, then what is given away.
            self.heap = Some(self.runtime_variable("the heap", self.settings.heap_bytes.saturating_add(HEAP_START)));
        }
        let mut names = self.module.operands.iter().filter_map(Operand::name);
        if names.any(|name| matches!(name, "%envreg1" | "%envreg2")) {
            self.grid_workspace = Some(self.runtime_variable("the grid's workspace", 64));
        }
        let mut names = self.module.operands.iter().filter_map(Operand::name);
        if names.any(|name| name.starts_with("%reserved_smem_offset_")) {
            let start = aligned(self.shared_bytes, 128);
            self.reserved_shared = Some(start);
            self.shared_bytes = start.saturating_add(RESERVED_SHARED);
        }
        if let Some(heap) = self.heap {
            self.program.variables[heap as usize].initial = HEAP_START.to_le_bytes().to_vec();
        }
    }

    fn runtime_variable(&mut self, name: &str, size: u64) -> u32 {
        let (name, initial, relocations) = (name.to_owned(), Vec::new(), Vec::new());
        let variable = roundonce_ir::Variable { name, initial, size, align: 256, constant: false, relocations };
        self.program.variables.push(variable);
        self.program.variables.len() as u32 - 1
    }

    fn place(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        if let (Some(count), false) = (variable.count, variable.space == Space::Reg) {
            let message = format!("`{}<{count}>` of `{}`{CANNOT_BE_RUN}", variable.name, variable.space.text());
            return Err(Finding::error(UNSUPPORTED, variable.span.place(), message));
        }
        let constant = match variable.space {
            Space::Global => false,
            Space::Const(_) => true,
            Space::Shared => {
                let (size, align) = size_of(self.module, variable)?;
                if variable.linkage == Some(Linkage::Extern) {
                    self.dynamic_shared.push((variable, align));
                } else {
                    self.shared_align = self.shared_align.max(align);
                    let start = aligned(self.shared_bytes, align);
                    self.shared_bytes = start.saturating_add(size);
                    self.globals.insert(variable.name, Named::of(variable, Entity::Shared(start)));
                }
                return Ok(());
            }
            // Registers outside functions: named only where they are used.
            _ => return Ok(()),
        };
        let is_alone = variable.dimensions.len == 0;
        if is_alone && opaque_passing(variable.ty).is_some() {
            self.globals.insert(variable.name, Named::of(variable, Entity::Opaque(variable)));
            return Ok(());
        }
        if Type::of(variable.ty).is_none() {
            return Ok(());
        }
        let (size, align) = size_of(self.module, variable)?;
        if let Some(Named { entity: Entity::Global(index), .. }) = self.globals.get(variable.name) {
            // Declared before, or again: the definition's size counts.
            let known = &mut self.program.variables[*index as usize];
            known.size = known.size.max(size.into());
            return Ok(());
        }
        let index = self.program.variables.len() as u32;
        self.program.variables.push(roundonce_ir::Variable {
            name: variable.name.to_owned(),
            initial: Vec::new(),
            size: size.into(),
            align: align.into(),
            constant,
            relocations: Vec::new(),
        });
        self.globals.insert(variable.name, Named::of(variable, Entity::Global(index)));
        Ok(())
    }

    fn initialise(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        let (Some(initial), Some(Named { entity: Entity::Global(index), .. })) =
            (variable.initial, self.globals.get(variable.name))
        else {
            return Ok(());
        };
        let index = *index as usize;
        let Some(ty) = Type::of(variable.ty) else { return Ok(()) };
        // How many elements each level of braces holds.
        let mut strides = vec![1u64];
        let lanes = u64::from(variable.lanes.max(1));
        if lanes > 1 {
            strides.push(lanes);
        }
        for dimension in self.module.operands(variable.dimensions).iter().rev() {
            let count = evaluate(self.module, dimension).ok().and_then(|count| count.bits_as(".u64")).unwrap_or(1);
            strides.push(strides.last().copied().unwrap_or(1).saturating_mul(count));
        }
        strides.pop();
        let mut values = Values { bytes: Vec::new(), relocations: Vec::new() };
        self.fill(&mut values, ty, &strides, 0, self.module.operand(initial), variable)?;
        let target = &mut self.program.variables[index];
        values.bytes.truncate(target.size as usize);
        target.initial = values.bytes;
        target.relocations = values.relocations;
        Ok(())
    }

    /// One value, or the values between braces.
    fn fill(
        &self,
        values: &mut Values,
        ty: Type,
        strides: &[u64],
        at: u64,
        operand: &'m Operand<'a>,
        variable: &Variable<'a>,
    ) -> Result<()> {
        if let OperandKind::Vector(items) = operand.kind {
            let (stride, inner) = strides.split_last().map_or((1, strides), |(stride, inner)| (*stride, inner));
            for (index, item) in self.module.operands(items).iter().enumerate() {
                self.fill(values, ty, inner, at.saturating_add(index as u64 * stride), item, variable)?;
            }
            return Ok(());
        }
        let bytes = u64::from(ty.bytes());
        let offset = at.saturating_mul(bytes);
        if offset >= LARGEST {
            return Ok(());
        }
        let (shift, pointer) = self.byte_of_address(operand, ty)?;
        if let Some((name, addend)) = self.address(pointer) {
            if let Some(code) = self.code_address(name) {
                let address = code.wrapping_add_signed(addend) >> shift;
                values.put(offset, &address.to_le_bytes()[..bytes.min(8) as usize]);
                return Ok(());
            }
            let Some(Named { entity: Entity::Global(index), .. }) = self.globals.get(name) else {
                let message =
                    format!("the address of `{name}` in the first value of `{}` cannot be run", variable.name);
                return Err(Finding::error(UNSUPPORTED, operand.span.place(), message));
            };
            values.put(offset, &[0; 8][..bytes.min(8) as usize]);
            values.relocations.push(Relocation { offset, variable: *index, addend, shift, bytes: bytes as u8 });
            return Ok(());
        }
        let constant = evaluate(self.module, operand)?;
        let bits = match (ty.kind, ty.bits) {
            (ScalarKind::Float(_), 16) => constant.bits_as(".b16"),
            _ => constant.bits_as(&ty.literal()),
        };
        let Some(bits) = bits else {
            let message = format!("the first value of `{}` does not fit its type `{}`", variable.name, variable.ty);
            return Err(Finding::error(MALFORMED, operand.span.place(), message));
        };
        values.put(offset, &bits.to_le_bytes()[..bytes.min(8) as usize]);
        Ok(())
    }

    /// `0xff00(x)`: how far the byte is up that the mask leaves of an address, and the address. Any other value is whole.
    fn byte_of_address(&self, operand: &'m Operand<'a>, ty: Type) -> Result<(u8, &'m Operand<'a>)> {
        let OperandKind::Apply(items) = operand.kind else { return Ok((0, operand)) };
        let [mask, pointer] = self.module.operands(items) else { return Ok((0, operand)) };
        if !matches!(mask.kind, OperandKind::Number(_)) {
            return Ok((0, operand));
        }
        let bits = evaluate(self.module, mask)?.bits_as(".u64").unwrap_or(0);
        let shift = bits.trailing_zeros();
        if ty.bits == 8 && shift % 8 == 0 && bits.checked_shr(shift) == Some(0xff) {
            return Ok((shift as u8, pointer));
        }
        let message = "the mask of an address leaves one byte of it, of the eight, to an element of 8 bits".to_owned();
        Err(Finding::error(MALFORMED, operand.span.place(), message))
    }

    /// `x`, `generic(x)`, `x + 4`.
    fn address(&self, operand: &Operand<'a>) -> Option<(&'a str, i64)> {
        match operand.kind {
            OperandKind::Name("WARP_SZ") => None,
            OperandKind::Name(name) => Some((name, 0)),
            OperandKind::Apply(items) => match self.module.operands(items) {
                [function, argument] if function.name() == Some("generic") => self.address(argument),
                _ => None,
            },
            OperandKind::Binary(binary, items) => {
                let [left, right] = self.module.operands(items) else { return None };
                let (name, base) = self.address(left)?;
                let more = evaluate(self.module, right).ok()?.bits_as(".s64")? as i64;
                match binary {
                    crate::ast::Binary::Add => Some((name, base.wrapping_add(more))),
                    crate::ast::Binary::Subtract => Some((name, base.wrapping_sub(more))),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

struct Values {
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Values {
    fn put(&mut self, offset: u64, value: &[u8]) {
        let end = offset as usize + value.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[offset as usize..end].copy_from_slice(value);
    }
}
