//! Which variables need an address. One that is only loaded, stored and indexed by constants is promoted to registers,
//! as a compiler does it.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{Op, StorageClass};

use super::Lowering;
use super::types::{MOST_PARTS, TypeKind};

/// Parts that a variable in registers may have.
const MOST_REGISTERS: u64 = 256;
/// `modf` and `frexp` of GLSL.std.450, which store through a pointer.
const STORING: [u32; 2] = [35, 51];

/// The variables and pointer parameters that need an address.
pub(super) fn in_memory(lowering: &Lowering<'_>) -> HashSet<u32> {
    let mut walk = Walk { lowering, roots: HashMap::new(), addressed: HashSet::new(), calls: Vec::new() };
    let instructions = lowering.module.instructions();
    for index in 0..instructions.len() {
        walk.visit(index);
    }
    // The argument of a parameter that needs an address needs one too.
    let mut changed = true;
    while changed {
        changed = false;
        for (given, parameter) in &walk.calls {
            if walk.addressed.contains(parameter) {
                changed |= walk.addressed.insert(*given);
            }
        }
    }
    walk.addressed
}

struct Walk<'l> {
    lowering: &'l Lowering<'l>,
    /// The variable or parameter that a pointer leads into.
    roots: HashMap<u32, u32>,
    addressed: HashSet<u32>,
    /// Each argument and its parameter.
    calls: Vec<(u32, u32)>,
}

impl Walk<'_> {
    fn require_address(&mut self, id: u32) {
        if let Some(&root) = self.roots.get(&id) {
            self.addressed.insert(root);
        }
    }

    fn visit(&mut self, index: usize) {
        let lowering = self.lowering;
        let module = lowering.module;
        let at = &module.instructions()[index];
        let ids = lowering.ids(index);
        let result = module.result(at);
        let op = Op::from_u32(at.opcode.into());
        match (op, ids) {
            (Some(Op::Variable), _) => {
                const KEPT: [StorageClass; 4] =
                    [StorageClass::Function, StorageClass::Private, StorageClass::Input, StorageClass::Output];
                let class = module.words_of(at).get(3).copied().and_then(StorageClass::from_u32);
                let small = module.result_type(at).and_then(|ty| match lowering.types.kind(ty)? {
                    TypeKind::Pointer { to, .. } => lowering.types.get(*to),
                    _ => None,
                });
                let small = small.is_some_and(|ty| ty.parts <= MOST_REGISTERS.min(MOST_PARTS));
                if let Some(id) = result {
                    self.roots.insert(id, id);
                    if !small || !class.is_some_and(|class| KEPT.contains(&class)) {
                        self.addressed.insert(id);
                    }
                }
            }
            (Some(Op::FunctionParameter), _) => {
                self.roots.extend(result.map(|id| (id, id)));
            }
            (Some(Op::AccessChain | Op::InBoundsAccessChain), [base, indices @ ..]) => {
                if let (Some(&root), Some(id)) = (self.roots.get(base), result) {
                    self.roots.insert(id, root);
                    if indices.iter().any(|&index| lowering.constants.scalar(index).is_none()) {
                        self.addressed.insert(root);
                    }
                }
            }
            (Some(Op::CopyObject), [from]) => {
                if let (Some(&root), Some(id)) = (self.roots.get(from), result) {
                    self.roots.insert(id, root);
                }
            }
            (Some(Op::Store), [_, object, ..]) => self.require_address(*object),
            (Some(Op::FunctionCall), [function, given @ ..]) => {
                let parameters = lowering.functions.get(function).cloned().unwrap_or_default();
                let parameters = parameters.filter_map(|index| {
                    let at = &module.instructions()[index];
                    module.result(at).filter(|_| at.opcode == Op::FunctionParameter as u16)
                });
                let pairs = given.iter().zip(parameters);
                let pairs = pairs.filter_map(|(given, parameter)| Some((*self.roots.get(given)?, parameter)));
                let pairs: Vec<(u32, u32)> = pairs.collect();
                self.calls.extend(pairs);
            }
            // What describes a variable asks for no address of it.
            (Some(Op::ExtInst | Op::ExtInstWithForwardRefsKHR), _) if lowering.facts.is_non_semantic(module, at) => {}
            (Some(Op::ExtInst), [_, given @ ..])
                if STORING.contains(&module.words_of(at).get(4).copied().unwrap_or(0)) && given.len() == 2 => {}
            (
                Some(
                    Op::Load
                    | Op::CopyMemory
                    | Op::Name
                    | Op::EntryPoint
                    | Op::Decorate
                    | Op::LifetimeStart
                    | Op::LifetimeStop,
                ),
                _,
            ) => {}
            _ => ids.iter().for_each(|&id| self.require_address(id)),
        }
    }
}
