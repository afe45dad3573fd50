//! The variables that an entry point lists.

use std::collections::{BTreeSet, HashMap, HashSet};

use roundonce_isa::Version;
use rspirv::spirv::{Decoration, Op, StorageClass};

use super::calls::Calls;
use super::{Checker, MOST_ERRORS, code, is_use};
use crate::environment::Client;
use crate::facts::{EntryPoint, Facts};
use crate::literal::read_string;
use crate::module::{Instruction, Module, Operand};

const RULE: &str = "SPIR-V 1.6, OpEntryPoint";
/// Variables that one finding names.
const MOST_NAMED: usize = 4;

/// Entry points whose variables are looked for together, a bit each: a walk over all functions.
const TOGETHER: usize = 256;
type Together = [u64; TOGETHER / 64];
/// Entry points times functions, beyond which it is not done.
const MOST_REACHED: usize = 1 << 34;

/// The variables of the module that each function uses.
#[derive(Default)]
pub(super) struct Uses {
    function: u32,
    by_function: HashMap<u32, BTreeSet<u32>>,
}

/// The storage class of a variable of the module.
fn global(module: &Module, facts: &Facts, id: u32) -> Option<StorageClass> {
    let variable = facts.instruction(module, id)?;
    let class = match Op::from_u32(variable.opcode.into())? {
        Op::Variable | Op::UntypedVariableKHR => module.operand_word(variable, 2),
        _ => return None,
    };
    StorageClass::from_u32(class).filter(|class| *class != StorageClass::Function)
}

impl Uses {
    pub(super) fn take(&mut self, checker: &Checker<'_>, instruction: &Instruction, operands: &[Operand]) {
        let (module, facts) = (checker.module, checker.facts);
        match Op::from_u32(instruction.opcode.into()) {
            Some(Op::Function) => self.function = module.result(instruction).unwrap_or(0),
            Some(Op::FunctionEnd) => self.function = 0,
            _ if self.function != 0 && !facts.is_non_semantic(module, instruction) => {
                for operand in operands.iter().filter(|operand| is_use(operand)) {
                    let id = module.words()[operand.word];
                    if global(module, facts, id).is_some() {
                        self.by_function.entry(self.function).or_default().insert(id);
                    }
                }
            }
            _ => {}
        }
    }

    /// What is listed is a variable, once; what is used is listed: from 1.4 every variable of the module, before inputs and
    /// outputs.
    pub(super) fn finish(&self, checker: &mut Checker<'_>) {
        let (module, facts) = (checker.module, checker.facts);
        if facts.entry_points.is_empty() {
            return;
        }
        let all = module.version() >= Version(1, 4);
        let belongs = |class: StorageClass| all || matches!(class, StorageClass::Input | StorageClass::Output);
        let calls = Calls::of(module);
        let used = Used::of(&self.by_function, &calls);
        let is_looked_for = is_checked(facts.entry_points.len(), calls.functions()) && !used.uses.is_empty();
        let (mut used_by, mut all_used) = (Vec::new(), BTreeSet::new());
        let mut incomplete = 0;
        for (at, entry) in facts.entry_points.iter().enumerate() {
            // No more of these are kept, and each may be all variables.
            if incomplete == MOST_ERRORS {
                break;
            }
            if at.is_multiple_of(TOGETHER) {
                let entries = facts.entry_points[at..].iter().take(TOGETHER);
                used_by = if is_looked_for { used.by(entries) } else { vec![Vec::new(); entries.len()] };
            }
            let word = entry.instruction.word;
            let name = &entry.name;
            let mut listed = HashSet::new();
            for &id in interface(module, entry) {
                let shown = module.id(id);
                let what = match global(module, facts, id) {
                    _ if facts.definition(id).is_none() => continue,
                    None => Some(format!("{shown} is no variable of the module")),
                    Some(class) if !belongs(class) => Some(format!(
                        "{shown} is of storage class {class:?}: before SPIR-V 1.4 inputs and outputs are listed"
                    )),
                    Some(_) if !listed.insert(id) && all => Some(format!("{shown} is listed a second time")),
                    Some(_) => None,
                };
                if let Some(what) = what {
                    checker.error(code::INTERFACE, word, RULE, format!("OpEntryPoint \"{name}\": {what}"));
                }
            }
            let used_here = &used_by[at % TOGETHER];
            all_used.extend(used_here);
            let missing = |id: &&u32| !listed.contains(*id) && global(module, facts, **id).is_some_and(belongs);
            let missing: Vec<&u32> = used_here.iter().filter(missing).collect();
            if !missing.is_empty() {
                incomplete += 1;
                let mut shown: Vec<String> =
                    missing.iter().take(MOST_NAMED).map(|id| module.id(**id).to_string()).collect();
                let more = missing.len() - shown.len();
                shown.extend((more > 0).then(|| format!("{more} more")));
                let message = format!("OpEntryPoint \"{name}\" uses {}, which it does not list", shown.join(", "));
                checker.error(code::INTERFACE, word, RULE, message);
            }
        }
        for id in all_used {
            placed(checker, id);
        }
    }
}

/// Whether what entry points use is looked for.
pub(super) fn is_checked(entry_points: usize, functions: usize) -> bool {
    entry_points.saturating_mul(functions) <= MOST_REACHED
}

/// The uses of a module, of which each place counts.
struct Used<'c> {
    calls: &'c Calls,
    /// In order.
    variables: Vec<u32>,
    /// Of each function that uses any, its place among the calls', and those of the variables.
    uses: Vec<(usize, Vec<usize>)>,
}

impl<'c> Used<'c> {
    fn of(by_function: &HashMap<u32, BTreeSet<u32>>, calls: &'c Calls) -> Used<'c> {
        let variables: BTreeSet<u32> = by_function.values().flatten().copied().collect();
        let variables: Vec<u32> = variables.into_iter().collect();
        let place = |variable: &u32| variables.binary_search(variable).ok();
        let of_function = |(&function, used): (&u32, &BTreeSet<u32>)| {
            Some((calls.place(function)?, used.iter().filter_map(place).collect()))
        };
        let uses = by_function.iter().filter_map(of_function).collect();
        Used { calls, variables, uses }
    }

    /// The variables that each of these entry points uses, in order.
    fn by<'e>(&self, entries: impl Iterator<Item = &'e EntryPoint>) -> Vec<Vec<u32>> {
        let join =
            |one: &mut Together, other: &Together| one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
        let alone = |at: usize| core::array::from_fn(|word| if word == at / 64 { 1 << (at % 64) } else { 0 });
        let given: Vec<(u32, Together)> = (0..).zip(entries).map(|(at, entry)| (entry.function, alone(at))).collect();
        let mut used = vec![Vec::new(); given.len()];
        let mut reaching = self.calls.values(given, join);
        self.calls.hand_down(&mut reaching, join);
        let mut users = vec![Together::default(); self.variables.len()];
        for (function, variables) in &self.uses {
            variables.iter().for_each(|&variable| join(&mut users[variable], &reaching[*function]));
        }
        for (&variable, users) in self.variables.iter().zip(users) {
            for (word, mut bits) in users.into_iter().enumerate() {
                while bits != 0 {
                    used[64 * word + bits.trailing_zeros() as usize].push(variable);
                    bits &= bits - 1;
                }
            }
        }
        used
    }
}

/// VUID-StandaloneSpirv-UniformConstant-06677: what a descriptor gives has its set and its binding.
fn placed(checker: &mut Checker<'_>, id: u32) {
    use StorageClass::{StorageBuffer, Uniform, UniformConstant};
    let (module, facts) = (checker.module, checker.facts);
    let class = global(module, facts, id);
    let vulkan = matches!(checker.environment.client, Client::Vulkan(_));
    let described = matches!(class, Some(StorageBuffer | Uniform | UniformConstant)) && vulkan;
    let missing = [Decoration::DescriptorSet, Decoration::Binding].into_iter().find(|&at| !facts.is_decorated(id, at));
    if let (true, Some(decoration), Some(at)) = (described, missing, facts.instruction(module, id)) {
        let message = format!("OpVariable: {} needs the decoration {decoration:?}", module.id(id));
        checker.error(code::DECORATION, at.word, "Vulkan, VUID-StandaloneSpirv-UniformConstant-06677", message);
    }
}

/// The ids after an entry point's name.
fn interface<'m>(module: &'m Module, entry: &EntryPoint) -> &'m [u32] {
    let words = module.words_of(&entry.instruction).get(3..).unwrap_or_default();
    let length = read_string(words).map_or(words.len(), |(_, length)| length);
    &words[length..]
}
