//! The memory model, entry points and execution modes, as SPIR-V and the target environment want them.

use std::collections::{HashMap, HashSet};

use rspirv::grammar::OperandKind;
use rspirv::spirv::{AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, MemoryModel, Op};

use super::{Checker, code, source};
use crate::environment::Client;
use crate::facts::EntryPoint;
use crate::grammar::{self, Class, name_of, operand};

const MODES: &str = "SPIR-V 1.6, 3.6 Execution Mode";

pub(super) fn check(checker: &mut Checker<'_>) {
    memory_model(checker);
    let facts = checker.facts;
    if facts.entry_points.is_empty() && !facts.has(Capability::Linkage) {
        let message = "no OpEntryPoint: a module without one declares the capability Linkage".to_owned();
        let end = checker.module.words().len();
        checker.error(code::ENTRY_POINT, end, source::UNIVERSAL, message);
    }
    let mut seen = HashSet::new();
    for entry in &facts.entry_points {
        entry_point(checker, entry);
        if !seen.insert((entry.model, &entry.name)) {
            let message = format!("OpEntryPoint \"{}\": a second one of this name and execution model", entry.name);
            checker.error(code::ENTRY_POINT, entry.instruction.word, source::UNIVERSAL, message);
        }
    }
    modes(checker);
}

fn memory_model(checker: &mut Checker<'_>) {
    let module = checker.module;
    let Some(instruction) = module.instructions().iter().find(|at| at.opcode == Op::MemoryModel as u16) else {
        return;
    };
    let (addressing, memory) = (module.operand_word(instruction, 0), module.operand_word(instruction, 1));
    let is = |model: AddressingModel| addressing == model as u32;
    let environment = checker.environment;
    let message = match environment.client {
        Client::Vulkan(_) if !is(AddressingModel::Logical) && !is(AddressingModel::PhysicalStorageBuffer64) => {
            Some(format!("the addressing model is Logical or PhysicalStorageBuffer64 in {environment}"))
        }
        Client::OpenCl { .. } if !is(AddressingModel::Physical32) && !is(AddressingModel::Physical64) => {
            Some(format!("the addressing model is Physical32 or Physical64 in {environment}"))
        }
        Client::OpenCl { .. } if memory != MemoryModel::OpenCL as u32 => {
            Some(format!("the memory model is OpenCL in {environment}"))
        }
        _ if memory != MemoryModel::Vulkan as u32 && checker.facts.has(Capability::VulkanMemoryModel) => {
            Some("the capability VulkanMemoryModel is declared, the memory model is not Vulkan".to_owned())
        }
        _ => None,
    };
    if let Some(message) = message {
        checker.error(
            code::MEMORY_MODEL,
            instruction.word,
            "SPIR-V 1.6, OpMemoryModel",
            format!("OpMemoryModel: {message}"),
        );
    }
}

fn entry_point(checker: &mut Checker<'_>, entry: &EntryPoint) {
    let (module, facts) = (checker.module, checker.facts);
    let word = entry.instruction.word;
    let id = module.id(entry.function);
    let Some(function) = facts.defined_by(module, entry.function, Op::Function) else {
        if facts.definition(entry.function).is_some() {
            let message = format!("OpEntryPoint: {id} is no function");
            checker.error(code::ENTRY_POINT, word, source::UNIVERSAL, message);
        }
        return;
    };
    let returns_void = facts.defined_by(module, module.operand_word(function, 0), Op::TypeVoid).is_some();
    if !returns_void {
        let message = format!("OpEntryPoint: {id} returns a value; an entry point returns void");
        checker.error(code::ENTRY_POINT, word, source::UNIVERSAL, message);
    }
    let parameters = facts.defined_by(module, module.operand_word(function, 3), Op::TypeFunction);
    if parameters.is_some_and(|at| at.count > 3) && entry.model != ExecutionModel::Kernel as u32 {
        let message = format!("OpEntryPoint: {id} has parameters; only a kernel's entry point may");
        checker.error(code::ENTRY_POINT, word, source::UNIVERSAL, message);
    }
    let declares = |mode: ExecutionMode| facts.modes_of(entry.function).any(|at| at.value == mode as u32);
    if entry.model == ExecutionModel::Fragment as u32
        && declares(ExecutionMode::OriginUpperLeft) == declares(ExecutionMode::OriginLowerLeft)
    {
        let message =
            format!("OpEntryPoint: the fragment shader {id} declares one of OriginUpperLeft, OriginLowerLeft");
        checker.error(code::EXECUTION_MODE, word, MODES, message);
    }
    let sized = declares(ExecutionMode::LocalSize)
        || declares(ExecutionMode::LocalSizeId)
        || facts.decorations.iter().any(|at| {
            at.value == Decoration::BuiltIn as u32
                && at.words.first() == Some(&(rspirv::spirv::BuiltIn::WorkgroupSize as u32))
        });
    if matches!(checker.environment.client, Client::Vulkan(_))
        && entry.model == ExecutionModel::GLCompute as u32
        && !sized
    {
        let message =
            format!("OpEntryPoint: the compute shader {id} declares LocalSize or LocalSizeId, or a WorkgroupSize");
        checker.error(code::EXECUTION_MODE, word, "Vulkan, VUID-StandaloneSpirv-None-10685", message);
    }
}

fn modes(checker: &mut Checker<'_>) {
    let facts = checker.facts;
    let mut models_of_function: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in &facts.entry_points {
        models_of_function.entry(entry.function).or_default().push(entry.model);
    }
    let mut seen = HashSet::new();
    for mode in &facts.modes {
        let word = mode.instruction.word;
        let name = name_of(OperandKind::ExecutionMode, mode.value).unwrap_or_default();
        let id = checker.module.id(mode.target).to_string();
        let Some(models) = models_of_function.get(&mode.target) else {
            let message = format!("OpExecutionMode {name}: {id} is no entry point");
            checker.error(code::EXECUTION_MODE, word, MODES, message);
            continue;
        };
        let by_id = mode.instruction.opcode == Op::ExecutionModeId as u16;
        if takes_ids(OperandKind::ExecutionMode, mode.value).is_some_and(|takes_ids| takes_ids != by_id) {
            let right = if by_id { "OpExecutionMode" } else { "OpExecutionModeId" };
            let message = format!("{name} is a mode of {right}");
            checker.error(code::EXECUTION_MODE, word, "SPIR-V 1.6, OpExecutionModeId", message);
        }
        if let Some(wanted) = models_of(mode.value)
            && !models.iter().all(|model| wanted.contains(model))
        {
            let message = format!("OpExecutionMode {name}: not a mode of this execution model");
            checker.error(code::EXECUTION_MODE, word, MODES, message);
        }
        if mode.value == ExecutionMode::LocalSize as u32 && mode.words.contains(&0) {
            let message = "OpExecutionMode LocalSize: a size is 1 at least".to_owned();
            checker.error(code::EXECUTION_MODE, word, MODES, message);
        }
        // The float controls may be declared once per width, the others once.
        let width = is_float_control(mode.value).then(|| mode.words.first().copied()).flatten();
        if may_not_repeat(mode.value) && !seen.insert((mode.target, mode.value, width)) {
            let message = format!("OpExecutionMode {name} is declared a second time for {id}");
            checker.error(code::EXECUTION_MODE, word, MODES, message);
        }
    }
}

/// Whether the operands of a mode or a decoration are ids; `None` of one that is not known.
pub(super) fn takes_ids(kind: OperandKind, value: u32) -> Option<bool> {
    let operands = operand(kind, value)?.additional_operands();
    Some(operands.first().is_some_and(|first| grammar::class(first.kind) == Class::Id))
}

fn is_float_control(mode: u32) -> bool {
    use ExecutionMode::*;
    [DenormPreserve, DenormFlushToZero, SignedZeroInfNanPreserve, RoundingModeRTE, RoundingModeRTZ]
        .iter()
        .any(|&control| control as u32 == mode)
}

/// FPFastMathDefault may be declared once per type, and other extensions have modes that may repeat.
fn may_not_repeat(mode: u32) -> bool {
    is_float_control(mode) || mode <= ExecutionMode::ContractionOff as u32
}

/// The execution models of the modes met most.
fn models_of(mode: u32) -> Option<Vec<u32>> {
    use ExecutionModel::*;
    let models: &[ExecutionModel] = match ExecutionMode::from_u32(mode)? {
        ExecutionMode::LocalSize => &[Kernel, GLCompute, TaskNV, MeshNV, TaskEXT, MeshEXT],
        ExecutionMode::OriginUpperLeft
        | ExecutionMode::OriginLowerLeft
        | ExecutionMode::DepthReplacing
        | ExecutionMode::EarlyFragmentTests
        | ExecutionMode::PixelCenterInteger => &[Fragment],
        ExecutionMode::ContractionOff | ExecutionMode::VecTypeHint | ExecutionMode::LocalSizeHint => &[Kernel],
        _ => return None,
    };
    Some(models.iter().map(|&model| model as u32).collect())
}
