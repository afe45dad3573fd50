//! A module read once: types and constants in order, functions found, ids listed.

use std::collections::{BTreeMap, HashMap, HashSet};

use roundonce_isa::Finding;
use rspirv::spirv::Op;

use super::constant::Constants;
use super::types::Types;
use super::{LAUNCH, Lowering, MALFORMED, Settings, memory_variables};
use crate::facts::Facts;
use crate::grammar::{self, Expected};
use crate::module::{Module, NumberTypes};

/// The types and constants of a module under the given specialisation.
pub(super) fn globals(module: &Module, facts: &Facts, spec: &BTreeMap<u32, u64>) -> (Types, Constants) {
    let mut types = Types::decorated(module, facts);
    let mut constants = Constants::default();
    for at in module.instructions() {
        match Op::from_u32(at.opcode.into()) {
            Some(Op::Function) => break,
            Some(Op::TypeForwardPointer) => types.declare_forward(module, at),
            _ if grammar::shape(at.opcode).is_some_and(|shape| shape.grammar.opname.starts_with("Type")) => {
                types.declare(module, at, |id| constants.scalar(id));
            }
            _ => constants.declare(module, facts, &types, at, spec),
        }
    }
    (types, constants)
}

impl<'m> Lowering<'m> {
    /// Reads a module.
    ///
    /// # Errors
    /// Every instruction of a function that the grammar does not read; a specialisation of what is not there.
    pub(super) fn new(module: &'m Module, settings: &Settings) -> Result<Lowering<'m>, Vec<Finding>> {
        let facts = Facts::of(module);
        let (types, constants) = globals(module, &facts, &settings.spec);
        for id in settings.spec.keys() {
            if !constants.spec.iter().any(|constant| constant.id == *id) {
                let known: Vec<String> = constants.spec.iter().map(|constant| constant.id.to_string()).collect();
                let known =
                    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
                let message = format!("the module has no specialisation constant {id}: {known}");
                return Err(vec![Finding::error(LAUNCH, roundonce_isa::Location::Whole, message)]);
            }
        }
        let mut lowering = Lowering {
            module,
            facts,
            types,
            constants,
            uses: Vec::new(),
            used: Vec::new(),
            functions: HashMap::new(),
            names: crate::rules::debug_names(module).into_iter().collect(),
            variables: Vec::new(),
            in_memory: HashSet::new(),
            assume: settings.assume,
            largest_kernel: settings.largest_kernel,
            descriptors: settings.descriptors.clone(),
        };
        lowering.read()?;
        lowering.in_memory = memory_variables::in_memory(&lowering);
        Ok(lowering)
    }

    /// Lists the ids that instructions use, and finds the functions.
    fn read(&mut self) -> Result<(), Vec<Finding>> {
        let module = self.module;
        let mut numbers = NumberTypes::default();
        let mut expected = Expected::new();
        let mut operands = Vec::new();
        let mut findings = Vec::new();
        let mut function = None;
        let at_functions = module.instructions().iter().position(|at| at.opcode == Op::Function as u16);
        let before = &module.instructions()[..at_functions.unwrap_or(module.instructions().len())];
        let is_variable = |index: &usize| before[*index].opcode == Op::Variable as u16;
        self.variables = (0..before.len()).filter(is_variable).collect();
        for (index, at) in module.instructions().iter().enumerate() {
            if at.opcode == Op::Function as u16 {
                function = module.result(at).map(|id| (id, index));
            }
            let start = self.used.len();
            match module.operands(at, &numbers, &mut expected, &mut operands) {
                Ok(()) => {
                    let ids = operands.iter().filter(|operand| operand.class == grammar::Class::Id);
                    self.used.extend(ids.map(|operand| module.words()[operand.word]));
                }
                Err(malformed) if function.is_some() && !self.facts.is_non_semantic(module, at) => {
                    findings.push(Finding::error(MALFORMED, module.location(malformed.word), malformed.message));
                }
                Err(_) => {}
            }
            self.uses.push(start..self.used.len());
            numbers.track(at.opcode, module.words_of(at));
            if at.opcode == Op::FunctionEnd as u16
                && let Some((id, first)) = function.take()
            {
                self.functions.insert(id, first..index + 1);
            }
        }
        if findings.is_empty() { Ok(()) } else { Err(findings) }
    }

    /// The ids that an instruction uses, its types aside.
    pub(super) fn ids(&self, index: usize) -> &[u32] {
        self.uses.get(index).and_then(|range| self.used.get(range.clone())).unwrap_or_default()
    }

    /// The functions that a function may call, itself the first.
    pub(super) fn reachable(&self, function: u32) -> Vec<u32> {
        let mut all = vec![function];
        let mut seen = HashSet::from([function]);
        let mut next = 0;
        while let Some(&caller) = all.get(next) {
            next += 1;
            for index in self.functions.get(&caller).cloned().unwrap_or_default() {
                let at = &self.module.instructions()[index];
                let callee = self.ids(index).first().copied().filter(|_| at.opcode == Op::FunctionCall as u16);
                all.extend(callee.filter(|&callee| seen.insert(callee)));
            }
        }
        all
    }
}
