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
/// Entry points times functions beyond which what they use is not looked for.
const MOST_REACHED: u64 = 1 << 34;

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
        let belongs = |id| global(module, facts, id).is_some_and(|class| belongs(module, class));
        let calls = checker.calls();
        let used = Used::of(&self.by_function, &calls, belongs);
        let is_looked_for = is_checked(facts.entry_points.len(), calls.functions()) && !used.uses.is_empty();
        let mut incomplete = 0;
        for entries in facts.entry_points.chunks(TOGETHER) {
            let listed: Vec<HashSet<u32>> = entries.iter().map(|entry| listed(checker, entry)).collect();
            // No more of these are kept, and each may be all variables. One more tells that there are some.
            if !is_looked_for || incomplete > MOST_ERRORS {
                continue;
            }
            let mut missing = vec![Missing::default(); entries.len()];
            used.by_each(entries, |entry, variable| {
                if !listed[entry].contains(&variable) {
                    missing[entry].add(variable);
                }
            });
            for (entry, missing) in entries.iter().zip(missing).filter(|(_, missing)| missing.count > 0) {
                incomplete += 1;
                let shown = missing.first.iter().map(|&id| module.id(id).to_string());
                let more = missing.count - missing.first.len();
                let shown: Vec<String> = shown.chain((more > 0).then(|| format!("{more} more"))).collect();
                let message =
                    format!("OpEntryPoint \"{}\" uses {}, which it does not list", entry.name, shown.join(", "));
                checker.error(code::INTERFACE, entry.instruction.word, RULE, message);
            }
        }
        for id in self.reached(checker, &calls) {
            placed(checker, id);
        }
    }

    /// The variables that any entry point uses.
    fn reached(&self, checker: &Checker<'_>, calls: &Calls) -> BTreeSet<u32> {
        let is_reached = calls.reached(checker.facts.entry_points.iter().map(|entry| entry.function));
        self.by_function
            .iter()
            .filter(|(function, _)| is_reached(**function))
            .flat_map(|(_, used)| used)
            .copied()
            .collect()
    }
}

/// Whether a variable of a storage class is to be listed.
fn belongs(module: &Module, class: StorageClass) -> bool {
    module.version() >= Version(1, 4) || matches!(class, StorageClass::Input | StorageClass::Output)
}

/// The variables that an entry point lists, where they belong; what else it lists is an error.
fn listed(checker: &mut Checker<'_>, entry: &EntryPoint) -> HashSet<u32> {
    let (module, facts) = (checker.module, checker.facts);
    let mut listed = HashSet::new();
    for &id in interface(module, entry) {
        let shown = module.id(id);
        let what = match global(module, facts, id) {
            _ if facts.definition(id).is_none() => continue,
            None => format!("{shown} is no variable of the module"),
            Some(class) if !belongs(module, class) => {
                format!("{shown} is of storage class {class:?}: before SPIR-V 1.4 inputs and outputs are listed")
            }
            Some(_) if !listed.insert(id) && module.version() >= Version(1, 4) => {
                format!("{shown} is listed a second time")
            }
            Some(_) => continue,
        };
        let message = format!("OpEntryPoint \"{}\": {what}", entry.name);
        checker.error(code::INTERFACE, entry.instruction.word, RULE, message);
    }
    listed
}

/// Variables that are used and not listed: the first ones, and how many they are.
#[derive(Clone, Default)]
struct Missing {
    first: Vec<u32>,
    count: usize,
}

impl Missing {
    fn add(&mut self, variable: u32) {
        self.count += 1;
        if self.first.len() < MOST_NAMED {
            self.first.push(variable);
        }
    }
}

/// Whether what entry points use is looked for.
pub(super) fn is_checked(entry_points: usize, functions: usize) -> bool {
    (entry_points as u64).saturating_mul(functions as u64) <= MOST_REACHED
}

/// The variables that belong to interfaces, by the functions that use them.
struct Used<'c> {
    calls: &'c Calls,
    /// In order.
    variables: Vec<u32>,
    /// The places of functions, and of the variables that each uses.
    uses: Vec<(usize, Vec<usize>)>,
}

impl<'c> Used<'c> {
    fn of(by_function: &HashMap<u32, BTreeSet<u32>>, calls: &'c Calls, belongs: impl Fn(u32) -> bool) -> Used<'c> {
        let variables: BTreeSet<u32> = by_function.values().flatten().copied().filter(|&id| belongs(id)).collect();
        let variables: Vec<u32> = variables.into_iter().collect();
        let place = |variable: &u32| variables.binary_search(variable).ok();
        let of_function = |(&function, used): (&u32, &BTreeSet<u32>)| {
            let used: Vec<usize> = used.iter().filter_map(place).collect();
            calls.place(function).filter(|_| !used.is_empty()).map(|function| (function, used))
        };
        let uses = by_function.iter().filter_map(of_function).collect();
        Used { calls, variables, uses }
    }

    /// Calls `see` with each of these entry points and each variable that it uses; the variables come in order.
    fn by_each(&self, entries: &[EntryPoint], mut see: impl FnMut(usize, u32)) {
        let join =
            |one: &mut Together, other: &Together| one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
        let alone = |at: usize| core::array::from_fn(|word| if word == at / 64 { 1 << (at % 64) } else { 0 });
        let given = entries.iter().enumerate().map(|(at, entry)| (entry.function, alone(at)));
        let mut reaching = self.calls.values(given, join);
        self.calls.hand_down(&mut reaching, join);
        let mut users = vec![Together::default(); self.variables.len()];
        for (function, variables) in &self.uses {
            variables.iter().for_each(|&variable| join(&mut users[variable], &reaching[*function]));
        }
        for (&variable, users) in self.variables.iter().zip(users) {
            for (word, mut bits) in users.into_iter().enumerate() {
                while bits != 0 {
                    see(64 * word + bits.trailing_zeros() as usize, variable);
                    bits &= bits - 1;
                }
            }
        }
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
