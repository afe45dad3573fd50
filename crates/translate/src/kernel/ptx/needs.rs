//! Which target and which version of PTX the module says: the lowest that have everything it uses.

use roundonce_isa::{Gate, Range, SmTarget, SmVariant, Variants, Version};

use super::super::Options;

/// The target where none is asked for, nothing needs a later one and the source is for none that is older: the first with a
/// fused multiply-add of bf16.
const TARGET: u32 = 80;
/// None older is taken without being asked for: no supported assembler compiles for one.
const OLDEST: u32 = 50;
/// The lowest version: what is used everywhere is older.
const VERSION: Version = Version(4, 3);

/// What a module needs.
pub(super) struct Needs {
    asked_target: Option<SmTarget>,
    asked_version: Option<Version>,
    /// The target where none is asked for and nothing needs a later one.
    lowest: SmTarget,
    /// The first version that has the target, or the lowest one.
    first_version: Version,
    /// Whether textures have samplers of their own, where there are textures.
    separate_samplers: Option<bool>,
    /// The machines that compute the program's matrix products, the oldest first, with the gate of each product.
    machines: Option<Machines>,
    /// Everything used whose gate is above the lowest target or version, each once, with its spelling.
    gates: Vec<(Gate, String)>,
}

/// Machines that compute the matrix products alike.
struct Machines {
    /// With the version of PTX that has them all.
    all: Vec<(SmTarget, Version)>,
    /// The first product.
    spelling: String,
}

impl Needs {
    pub(super) fn new(options: &Options<'_>) -> Needs {
        let older = options.source_target.map_or(TARGET, |source| source.number.clamp(OLDEST, TARGET));
        let lowest = SmTarget::from(older);
        let target = options.target.unwrap_or(lowest);
        Needs {
            lowest,
            asked_target: options.target,
            asked_version: options.version,
            first_version: roundonce_ptx::first_version(target).unwrap_or(VERSION).max(VERSION),
            separate_samplers: None,
            machines: None,
            gates: Vec::new(),
        }
    }

    pub(super) const fn asked_target(&self) -> Option<SmTarget> {
        self.asked_target
    }

    /// Whether something may be used without a later target than is asked for, or than the lowest.
    pub(super) fn has(&self, gate: &Gate) -> bool {
        let target = self.asked_target.unwrap_or(self.lowest);
        gate.has_target(target) && self.asked_version.is_none_or(|version| gate.version.holds(version))
    }

    /// Whether it may be used at all.
    pub(super) fn may_have(&self, gate: &Gate) -> bool {
        gate.holds(self.asked_target, self.asked_version)
    }

    /// Something is used; `Err` says what it needs where what is asked for has it not.
    pub(super) fn using(&mut self, gate: Gate, spelling: &[&str]) -> Result<(), String> {
        if !self.may_have(&gate) {
            return Err(format!("`{}` needs {gate}", spelling.concat()));
        }
        let low = self.asked_target.is_none() && !gate.has_target(self.lowest);
        let old = self.asked_version.is_none() && gate.version.first > self.first_version;
        if (low || old) && !self.gates.iter().any(|(known, _)| *known == gate) {
            self.gates.push((gate, spelling.concat()));
        }
        Ok(())
    }

    /// Whether the module says that textures have samplers of their own.
    pub(super) fn has_separate_samplers(&self) -> bool {
        self.separate_samplers == Some(true)
    }

    /// Textures are read with samplers of their own or with those of the images: a module has one of both.
    pub(super) fn textures(&mut self, separate: bool) -> Result<(), String> {
        match self.separate_samplers.replace(separate) {
            Some(known) if known != separate => {
                Err("a module has textures with samplers of their own or without, not both".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Matrices are multiplied as any of these machines does it; `Err` where others were as none of them does.
    pub(super) fn using_machines(&mut self, machines: &[(SmTarget, Gate)], spelling: &str) -> Result<(), String> {
        let in_time = |(_, gate): &&(SmTarget, Gate)| self.asked_version.is_none_or(|asked| gate.version.holds(asked));
        let there: Vec<_> = machines.iter().filter(in_time).copied().collect();
        let (Some((first, _)), false) = (machines.first(), there.is_empty()) else {
            let gate = machines.first().map_or_else(String::new, |(_, gate)| gate.to_string());
            return Err(format!("`{spelling}` needs {gate}"));
        };
        let known = self.machines.get_or_insert_with(|| Machines {
            all: there.iter().map(|(target, gate)| (*target, gate.version.first)).collect(),
            spelling: spelling.to_owned(),
        });
        let gate_of = |target: SmTarget| there.iter().find(|(other, _)| *other == target).map(|(_, gate)| gate);
        let both = known
            .all
            .iter()
            .filter_map(|&(target, version)| gate_of(target).map(|gate| (target, version.max(gate.version.first))));
        let both: Vec<_> = both.collect();
        if let (true, Some((other, _))) = (both.is_empty(), known.all.first()) {
            let before = &known.spelling;
            return Err(format!(
                "`{spelling}` is computed as {first} does it, `{before}` as {other}: no target does both"
            ));
        }
        known.all = both;
        Ok(())
    }

    /// What the module says.
    pub(super) fn decided(&self) -> Result<(SmTarget, Version), String> {
        let target = self.asked_target.unwrap_or_else(|| self.lowest_target());
        if let Some((gate, spelling)) = self.gates.iter().find(|(gate, _)| !gate.has_target(target)) {
            return Err(format!("`{spelling}` needs {gate}, another instruction {target}: no target has both"));
        }
        let Some(first) = roundonce_ptx::first_version(target) else { return Err(format!("there is no `{target}`")) };
        match self.asked_version {
            Some(asked) if asked < first => Err(format!("PTX {asked} has no {target}: {first} has it first")),
            Some(asked) => Ok((target, asked)),
            None => {
                let of_machine = self.machine(|machine| machine == target).map(|(_, version)| version);
                let needed = self.gates.iter().map(|(gate, _)| gate.version.first).chain(of_machine).max();
                Ok((target, needed.unwrap_or(VERSION).max(VERSION).max(first)))
            }
        }
    }

    /// The first of the machines that compute the matrix products, and the version that has these.
    fn machine(&self, is_wanted: impl Fn(SmTarget) -> bool) -> Option<(SmTarget, Version)> {
        let all = self.machines.iter().flat_map(|machines| &machines.all);
        all.copied().find(|(target, _)| is_wanted(*target))
    }

    fn lowest_target(&self) -> SmTarget {
        let has_all = |target: SmTarget| self.gates.iter().all(|(gate, _)| gate.has_target(target));
        if let Some((machine, _)) = self.machine(has_all).or_else(|| self.machine(|_| true)) {
            return machine;
        }
        let lowest = self.lowest.number;
        let number = self.gates.iter().map(|(gate, _)| first_number(gate)).max().unwrap_or(lowest).max(lowest);
        let specific = self.gates.iter().any(|(gate, _)| gate.variants != Variants::All);
        SmTarget { number, variant: specific.then_some(SmVariant::Architecture) }
    }
}

/// The first target of a gate.
fn first_number(gate: &Gate) -> u32 {
    match gate.variants {
        Variants::All | Variants::Specific => gate.target.first,
        Variants::SpecificOf(numbers) | Variants::Architecture(numbers) => {
            numbers.first().copied().unwrap_or(gate.target.first)
        }
    }
}

/// A gate of a first version and a first target.
pub(super) const fn since(major: u16, minor: u16, target: u32) -> Gate {
    Gate::since(Version(major, minor), target)
}

/// The gate of something that the `a` variants from a target on have.
pub(super) const fn architecture(major: u16, minor: u16, target: u32) -> Gate {
    Gate::of(Range::new(Version(major, minor)), Range::new(target), Variants::Specific)
}

/// Every target, the oldest that is written first.
pub(super) fn machines() -> impl Iterator<Item = SmTarget> {
    let all = roundonce_ptx::targets().filter_map(|name| name.parse::<SmTarget>().ok());
    all.filter(|target| target.number >= TARGET && target.variant != Some(SmVariant::Family))
}
