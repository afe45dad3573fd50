//! Images: what their type says of coordinates and uses.

use rspirv::spirv::{Dim, ImageOperands, Op};

use super::values::Wrong;
use super::{Checker, code};
use crate::grammar::instruction_name;
use crate::module::Instruction;

pub(super) fn check(checker: &mut Checker<'_>, instruction: &Instruction) {
    let Some(op) = Op::from_u32(instruction.opcode.into()) else { return };
    let first = match op {
        Op::ImageWrite => 1,
        Op::ImageFetch | Op::ImageRead | Op::ImageSampleExplicitLod | Op::ImageSampleImplicitLod | Op::ImageGather => 3,
        _ => return,
    };
    let wrong = used(checker, instruction, op, first)
        .or_else(|| coordinates(checker, instruction, first))
        .or_else(|| level(checker, instruction, op));
    if let Some((word, message)) = wrong {
        let message = format!("{}: {message}", instruction_name(instruction.opcode));
        checker.error(code::OPERAND_TYPE, instruction.word + word, "SPIR-V 1.6, 3.49.10 Image Instructions", message);
    }
}

/// The declaration of the image that a value is or has.
fn declaration<'m>(checker: &Checker<'m>, id: u32) -> Option<&'m Instruction> {
    let (module, facts) = (checker.module, checker.facts);
    let type_id = facts.type_of(id)?;
    let sampled = facts.defined_by(module, type_id, Op::TypeSampledImage);
    facts.defined_by(module, sampled.map_or(type_id, |at| module.operand_word(at, 1)), Op::TypeImage)
}

/// Whether the image is one that is read and written, or one that is sampled.
fn used(checker: &Checker<'_>, instruction: &Instruction, op: Op, first: usize) -> Wrong {
    let id = checker.module.words_of(instruction)[first];
    let sampled = checker.module.operand_word(declaration(checker, id)?, 6);
    let refused = match op {
        Op::ImageRead | Op::ImageWrite => sampled == 1,
        Op::ImageFetch => sampled != 1,
        _ => false,
    };
    let shown = checker.module.id(id);
    refused.then(|| {
        (first, format!("{shown} is an image whose Sampled is {sampled}, which this instruction does not take"))
    })
}

fn coordinates(checker: &Checker<'_>, instruction: &Instruction, first: usize) -> Wrong {
    let words = checker.module.words_of(instruction);
    let image = declaration(checker, words[first])?;
    let word = |index| checker.module.operand_word(image, index);
    let dims = match Dim::from_u32(word(2))? {
        Dim::Dim1D | Dim::DimBuffer => 1,
        Dim::Dim2D | Dim::DimRect | Dim::DimSubpassData => 2,
        Dim::Dim3D | Dim::DimCube => 3,
        _ => return None,
    };
    // A cube is read and written by layers.
    let least = dims + word(4);
    let (_, given) = checker.view_of(words[first + 1]).numbers()?;
    (given < least).then(|| {
        let shown = checker.typed(words[first + 1]);
        (first + 1, format!("the coordinate {shown} has {given} of {least} components"))
    })
}

/// The level of detail.
fn level(checker: &Checker<'_>, instruction: &Instruction, op: Op) -> Wrong {
    if !matches!(op, Op::ImageFetch | Op::ImageSampleExplicitLod) {
        return None;
    }
    let words = checker.module.words_of(instruction);
    // The operands of a mask's bits follow in the order of the bits.
    let mask = *words.get(5)?;
    let at = 6 + usize::from(mask & ImageOperands::BIAS.bits() != 0);
    let &id = words.get(at).filter(|_| mask & ImageOperands::LOD.bits() != 0)?;
    let view = checker.view_of(id);
    let (wanted, what) = match op {
        Op::ImageFetch => (view.ints().is_some(), "integer"),
        _ => (view.floats().is_some(), "float"),
    };
    (!(view.is_scalar() && wanted)).then(|| (at, format!("Lod {} is no {what}", checker.typed(id))))
}
