//! Names: those of the source where PTX takes them.

use std::collections::HashSet;

use roundonce_ir::{Kernel, Program};

use super::body::DYNAMIC_SHARED;
use super::text::Symbol;

/// The names of a module's kernels and variables.
pub(super) struct ModuleNames {
    pub(super) variables: Vec<String>,
    pub(super) kernels: Vec<String>,
    taken: HashSet<String>,
}

/// Those of a kernel.
pub(super) struct Names<'n> {
    variables: &'n [String],
    pub(super) params: Vec<String>,
    pub(super) shared: String,
    pub(super) local: String,
}

/// What the assembler has another meaning for.
static RESERVED: [&str; 4] = ["WARP_SZ", "vprintf", "generic", DYNAMIC_SHARED];

/// A name as PTX takes it: `0.1` is `binding_0_1`, and what no name may have is `_`.
fn spelled(name: &str) -> String {
    let is_binding = name.starts_with(|first: char| first.is_ascii_digit());
    let mut text = String::with_capacity(name.len() + 8);
    if is_binding {
        text.push_str("binding_");
    }
    for character in name.chars() {
        text.push(if character.is_ascii_alphanumeric() || character == '$' { character } else { '_' });
    }
    // An underscore alone is a place that is not used.
    if !text.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        text.push_str("unnamed");
    }
    text
}

/// The name, or with a number behind it where it is taken.
fn unique(taken: &mut HashSet<String>, name: &str) -> String {
    let spelled = spelled(name);
    // Labels are `$L` and a number.
    let is_label =
        spelled.strip_prefix("$L").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    if !is_label && !RESERVED.contains(&spelled.as_str()) && taken.insert(spelled.clone()) {
        return spelled;
    }
    let mut number = 1u32;
    loop {
        let numbered = format!("{spelled}_{number}");
        if taken.insert(numbered.clone()) {
            return numbered;
        }
        // Names that collide in quantity were made to: the number grows fast.
        number = number.saturating_mul(2).saturating_add(taken.len() as u32);
    }
}

impl ModuleNames {
    pub(super) fn of(program: &Program) -> ModuleNames {
        let mut taken = HashSet::new();
        // A launch asks for a kernel by its name.
        let kernels = program.kernels.iter().map(|kernel| unique(&mut taken, &kernel.name)).collect();
        let variables = program.variables.iter().map(|variable| unique(&mut taken, &variable.name)).collect();
        ModuleNames { variables, kernels, taken }
    }

    /// Of a kernel, whose parameters come first, then those that the translation adds.
    pub(super) fn of_kernel(&mut self, kernel: &Kernel, added: &[String]) -> Names<'_> {
        // Names of a function may hide those of the module; none does, for the reader's sake.
        let mut own = Vec::new();
        let names = kernel.params.iter().map(|param| &param.name).chain(added);
        let params = names.map(|name| unique(&mut self.taken, name)).collect::<Vec<_>>();
        let shared = unique(&mut self.taken, "shared");
        let local = unique(&mut self.taken, "local");
        own.extend(params.iter().chain([&shared, &local]));
        for name in own {
            self.taken.remove(name);
        }
        Names { variables: &self.variables, params, shared, local }
    }
}

impl Names<'_> {
    pub(super) fn of(&self, symbol: Symbol) -> &str {
        let name = match symbol {
            Symbol::Shared => Some(&self.shared),
            Symbol::Local => Some(&self.local),
            Symbol::Param(index) => self.params.get(index),
            Symbol::Variable(index) => self.variables.get(index),
        };
        name.map_or("unknown", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_ptx_takes() {
        let mut taken = HashSet::new();
        let mut name = |text: &str| unique(&mut taken, text);
        assert_eq!([name("x"), name("0.1"), name("0.1[2]")], ["x", "binding_0_1", "binding_0_1_2_"]);
        // The same again, a label of the writer's, a constant of the language's, and what has no letter.
        assert_eq!([name("x"), name("$L3"), name("WARP_SZ")], ["x_1", "$L3_1", "WARP_SZ_1"]);
        assert_eq!([name("_"), name("$"), name("größe")], ["_unnamed", "$unnamed", "gr__e"]);
    }
}
