//! The one table of PTX's opcodes: the name, the modifiers, the gate, the operands, the forms that compute a
//! multiply-add, and what a program is lowered to.
//!
//! The parser keeps any word in an opcode's place. The rules ask this table whether it is one and what it needs; the
//! lowering takes the row's [`Lowering`] and matches it exhaustively, so that no opcode is lowered without a row.

mod table;
#[cfg(test)]
mod tests;

use crate::types::Type;
use roundonce_ir::Function;
use roundonce_isa::{Form, Gate};
pub(crate) use table::OPCODES;

/// One opcode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opcode {
    /// As spelled.
    pub(crate) name: &'static str,
    /// The operands as the manual writes them, optional ones in braces; [`ANY_OPERANDS`] where they vary.
    pub(crate) operands: &'static str,
    /// The modifiers that it is lowered with, beside types.
    pub(crate) modifiers: Modifiers,
    /// The first PTX version and target that have it.
    pub(crate) gate: Gate,
    /// The forms on floating-point types that are computed by a recipe.
    pub(crate) forms: &'static [Form],
    /// What it is lowered to where its first type is a floating-point one, if that is something else.
    pub(crate) float: Option<Lowering>,
    /// What it is lowered to.
    pub(crate) lowering: Lowering,
}

/// The modifiers of an opcode. One that is not among them changes what an instruction does, or where: running it
/// without would be a guess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modifiers {
    /// These.
    words: &'static [&'static str],
    /// State spaces: `.global`, `.shared::cta`, `.const[2]`.
    spaces: bool,
    /// Memory orderings, scopes, cache operators and vectors.
    memory: bool,
    /// Any at all: nothing depends on them.
    any: bool,
}

/// What an opcode becomes in a program: one variant an implementation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lowering {
    /// By the form's recipe.
    MultiplyAdd,
    /// `abs`, `neg` on floats.
    Sign {
        negate: bool,
    },
    /// `min`, `max` on floats.
    MinMax {
        max: bool,
    },
    /// `div`, `rcp`, `sqrt`: rounded as they say, or approximate.
    Quotient(Function),
    /// A function that is approximate in every form.
    Approximate(Function),
    CopySign,
    TestProperty,
    /// `add`, `sub` on integers, and with a carry.
    IntegerSum {
        subtract: bool,
        carries: bool,
    },
    /// `mul`, `mad` on integers: of 24 bits, or with a carry.
    IntegerProduct {
        adds: bool,
        carries: bool,
        of_24_bits: bool,
    },
    /// One operation on integers or bits.
    Integer(IntegerOp),
    Logic3,
    SignExtend,
    DotProduct {
        of_bytes: bool,
    },
    /// `clmad`
    CarryLess,
    /// Video instructions, of one number or of several.
    Video(VideoOp),
    VideoMultiplyAdd,
    SetPredicate,
    Set,
    Select,
    SelectBySign,
    Move,
    Convert,
    ConvertAddress,
    IsSpace,
    AsyncCopy,
    /// `mbarrier`
    ArrivalBarrier,
    /// `ldmatrix`, `stmatrix`
    MatrixAccess {
        stores: bool,
    },
    /// `movmatrix`
    Transpose,
    /// `mma`
    MatrixMultiply,
    /// `wmma`: fragments loaded, multiplied, stored.
    WarpMatrix,
    /// `wgmma`
    WarpgroupMatrix,
    /// `mapa`, `getctarank` of a cluster of one block.
    MapAddress,
    ClusterRank,
    CreatePolicy,
    /// `ld`, and `ldu`, which reads global memory.
    Load {
        is_global: bool,
    },
    Store,
    /// `atom`, and `red`, which gives nothing back.
    Atomic {
        returns: bool,
    },
    /// Textures and surfaces.
    Image(ImageAccess),
    Barrier,
    Fence,
    Shuffle,
    Vote,
    Match,
    Reduce,
    ActiveMask,
    Elect,
    Branch,
    IndexedBranch,
    Return,
    Exit,
    Call,
    Trap,
    /// `alloca`, `stacksave`, `stackrestore`
    Allocate,
    StackSave,
    StackRestore,
    /// Nothing: a hint to the machine.
    Hint,
    /// Waiting for the grids that this one depends on, or letting start those that depend on it.
    GridDependency,
    /// Nothing, but the assembler fuses no product into a sum across it.
    Separator {
        /// Only where it has a guard.
        only_guarded: bool,
    },
    /// Not at all.
    Unsupported(MissingFeature),
}

/// The operations that are lowered alike: operands of given types, one result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[rustfmt::skip] // One a word.
pub(crate) enum IntegerOp {
    Divide, Remainder, Min, Max, Abs, Negate, SumOfDifference, And, Or, Xor, Not, LogicalNot, ShiftLeft, ShiftRight,
    FunnelShift, LeadingZeros, PopCount, Reverse, FindHighest, FindNth, FieldExtract, FieldInsert, Permute, Mask,
}

/// What video instructions compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[rustfmt::skip] // One a word.
pub(crate) enum VideoOp { Add, Subtract, AbsDifference, Min, Max, Average, ShiftLeft, ShiftRight, Compare }

/// What is done with a texture or a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImageAccess {
    /// `tex`
    Sample,
    /// `tld4`
    Gather,
    /// `suld`
    Load,
    /// `sust`
    Store,
    /// `sured`
    Reduce,
    /// `txq`, `suq`
    Query,
}

/// What the program form lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MissingFeature {
    /// Whether a handle is a texture's or a surface's.
    Handles,
    /// The memory of the fifth generation of tensor cores, and what feeds it.
    TensorMemory,
    /// Clusters, asynchronous barriers, tensor maps, memory of other machines.
    Clusters,
}

impl MissingFeature {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            MissingFeature::Handles => "what a handle belongs to is not modelled",
            MissingFeature::TensorMemory => "tensor memory is not modelled",
            MissingFeature::Clusters => "clusters and asynchronous barriers are not modelled",
        }
    }
}

/// [`Opcode::operands`] of an opcode whose forms take different ones.
const ANY_OPERANDS: &str = "...";

/// Orderings, scopes, cache operators and vectors of a memory access.
#[rustfmt::skip] // A table.
static MEMORY: &[&str] = &[
    ".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".sc", ".mmio",
    ".cta", ".cluster", ".gpu", ".sys",
    ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt", ".nc",
    ".v2", ".v4", ".v8", ".noftz",
];

/// The name of a state space, without the window or the bank behind it.
pub(crate) fn space_name(modifier: &str) -> Option<&str> {
    let name = modifier.split("::").next().unwrap_or(modifier);
    let name = name.split('[').next().unwrap_or(name);
    [".global", ".shared", ".const", ".local", ".param"].contains(&name).then_some(name)
}

impl Modifiers {
    const fn of(words: &'static [&'static str]) -> Modifiers {
        Modifiers { words, spaces: false, memory: false, any: false }
    }

    /// Whether a modifier that is no type is one of them.
    fn holds(&self, modifier: &str) -> bool {
        self.any
            || self.words.contains(&modifier)
            || (self.spaces && space_name(modifier).is_some())
            || (self.memory
                && (MEMORY.contains(&modifier) || modifier.starts_with(".L1::") || modifier.starts_with(".L2::")))
    }
}

impl Opcode {
    const fn any_modifiers(mut self) -> Opcode {
        self.modifiers.any = true;
        self
    }
    const fn spaces(mut self) -> Opcode {
        self.modifiers.spaces = true;
        self
    }
    const fn memory(mut self) -> Opcode {
        self.modifiers.memory = true;
        self.spaces()
    }
    const fn forms(self, forms: &'static [Form]) -> Opcode {
        Opcode { forms, ..self }.float(Lowering::MultiplyAdd)
    }
    const fn float(self, lowering: Lowering) -> Opcode {
        Opcode { float: Some(lowering), ..self }
    }

    /// What it is lowered to with these types.
    pub(crate) fn lowering(&self, types: &[Type]) -> Lowering {
        let is_float = types.first().is_some_and(|ty| ty.format().is_some());
        self.float.filter(|_| is_float).unwrap_or(self.lowering)
    }

    /// The first modifier that it is not lowered with.
    pub(crate) fn unknown_modifier<'a>(&self, modifiers: &[&'a str]) -> Option<&'a str> {
        modifiers.iter().copied().find(|modifier| Type::of(modifier).is_none() && !self.modifiers.holds(modifier))
    }

    /// How many operands it takes: at least, at most.
    pub(crate) fn operand_count(&self) -> (usize, usize) {
        match self.operands {
            ANY_OPERANDS => return (0, usize::MAX),
            "" => return (0, 0),
            _ => {}
        }
        let (mut least, mut most, mut depth) = (1, 1, 0);
        for byte in self.operands.bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b',' => {
                    most += 1;
                    least += usize::from(depth == 0);
                }
                _ => {}
            }
        }
        (least, most)
    }
}

/// The row of an opcode.
pub(crate) fn find(name: &str) -> Option<&'static Opcode> {
    let at = OPCODES.binary_search_by(|opcode| opcode.name.cmp(name)).ok()?;
    Some(&OPCODES[at])
}

/// Whether PTX has an instruction of this name, without modifiers.
pub fn is_opcode(name: &str) -> bool {
    find(name).is_some()
}

/// The names of the opcodes that programs are lowered with.
pub fn lowered_opcodes() -> impl Iterator<Item = &'static str> {
    let lowered = OPCODES.iter().filter(|opcode| !matches!(opcode.lowering, Lowering::Unsupported(_)));
    lowered.map(|opcode| opcode.name)
}

/// The opcode that was probably meant: the same in lower case, or within one edit.
pub(crate) fn nearest(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let lower = lower.as_str();
    let shortened = [lower.get(1..), lower.get(..lower.len().saturating_sub(1)), Some(lower)];
    OPCODES.iter().map(|opcode| opcode.name).find(|opcode| shortened.contains(&Some(opcode)))
}
