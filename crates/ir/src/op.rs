//! What an instruction of a [`Program`](super::Program) does.

use super::image::{ImageProperty, ImageShape, Outside, TexelType};
use super::matrix::{MatrixMultiply, ScaleOperand};
use super::types::{
    AtomicKind, BarrierKind, Class, Comparand, Comparison, HighHalf, IntOp, Reduction, Scalar, ShuffleMode, Special,
    VoteMode,
};
use super::{Operand, Reg, Space, Width};
use roundonce_arith::{Format, Operation, PackedConversion, Rounding};
use roundonce_functions::Function;
use std::sync::Arc;

/// One instruction. `d` is written, the rest is read. Unused places hold [`Operand::ZERO`].
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// The value, unchanged.
    Move {
        /// Any width.
        d: Reg,
        /// The same width.
        a: Operand,
    },
    /// A number that the launch or the lane gives.
    Special {
        /// 32 bits, or 64 for the 64-bit counters; a wider register gets the value zero-extended.
        d: Reg,
        /// Which.
        special: Special,
    },
    /// The multiply-add family, rounded once, component by component.
    Float {
        /// As wide as all components together; the first is in the low bits.
        d: Reg,
        /// What is computed in each component.
        operation: Operation,
        /// 1, or 2 where the operands are packed.
        components: u32,
        /// A compiler may fuse it with a neighbour.
        contractible: bool,
        /// As many as the kind takes, in its order.
        args: [Operand; 3],
    },
    /// The sign bit cleared or flipped.
    Sign {
        /// As wide as the format.
        d: Reg,
        /// Flipped, not cleared.
        negate: bool,
        /// Whose sign.
        format: Format,
        /// A subnormal becomes zero of its sign first.
        flush: bool,
        /// Computed as a sum with zero is: a NaN is the profile's, with the sign that it had. Otherwise the bit alone.
        arithmetic: bool,
        /// The value.
        a: Operand,
    },
    /// a / b, rounded once.
    Divide {
        /// As wide as the format.
        d: Reg,
        /// Of all three.
        format: Format,
        /// Of the quotient.
        rounding: Rounding,
        /// Subnormal operands and results become zero.
        flush: bool,
        /// Dividend.
        a: Operand,
        /// Divisor.
        b: Operand,
    },
    /// The remainder of a / b with the quotient rounded toward zero (C's `fmod`): exact.
    Remainder {
        /// As wide as the format.
        d: Reg,
        /// Of all three.
        format: Format,
        /// Dividend.
        a: Operand,
        /// Divisor.
        b: Operand,
    },
    /// √a, rounded once.
    SquareRoot {
        /// As wide as the format.
        d: Reg,
        /// Of both.
        format: Format,
        /// Of the root.
        rounding: Rounding,
        /// Subnormal operands and results become zero.
        flush: bool,
        /// The value.
        a: Operand,
    },
    /// a × 2^exponent, rounded once.
    Scale {
        /// As wide as the format.
        d: Reg,
        /// Of both.
        format: Format,
        /// Of the product.
        rounding: Rounding,
        /// Subnormal operands and results become zero.
        flush: bool,
        /// The value.
        a: Operand,
        /// 32 bits, signed.
        exponent: Operand,
    },
    /// A function that hardware only approximates: computed correctly rounded to nearest even, and counted as
    /// "not exact: NAME".
    Approximate {
        /// As wide as the format.
        d: Reg,
        /// Which.
        function: Function,
        /// Of all.
        format: Format,
        /// Subnormal operands and results become zero.
        flush: bool,
        /// The result is clamped to [+0, 1].
        saturate: bool,
        /// The argument.
        a: Operand,
        /// The second argument: of the format, or the integer that the function takes.
        b: Operand,
        /// As reported: the instruction's spelling.
        name: String,
    },
    /// The smaller or the larger; −0 is below +0.
    MinMax {
        /// As wide as the format.
        d: Reg,
        /// The larger.
        max: bool,
        /// Of all.
        format: Format,
        /// Subnormal operands become zero.
        flush: bool,
        /// A NaN operand gives NaN; otherwise the other operand.
        nan: bool,
        /// By magnitudes, the signs of both multiplied on the result (`.xorsign.abs`).
        xorsign_abs: bool,
        /// One.
        a: Operand,
        /// The other.
        b: Operand,
    },
    /// The magnitude of one with the sign of another.
    CopySign {
        /// As wide as the format.
        d: Reg,
        /// Of all.
        format: Format,
        /// Whose sign.
        sign: Operand,
        /// Whose magnitude.
        magnitude: Operand,
    },
    /// A comparison.
    Compare {
        /// A predicate.
        d: Reg,
        /// Which.
        comparison: Comparison,
        /// Of what.
        of: Comparand,
        /// Left.
        a: Operand,
        /// Right.
        b: Operand,
    },
    /// Whether a value is of a class.
    Classify {
        /// A predicate.
        d: Reg,
        /// Which.
        class: Class,
        /// Of the value.
        format: Format,
        /// The value.
        a: Operand,
    },
    /// One of two values.
    Select {
        /// Any width.
        d: Reg,
        /// A predicate.
        p: Operand,
        /// Where it is true.
        a: Operand,
        /// Where it is false.
        b: Operand,
    },
    /// From one type to another.
    Convert {
        /// Holds `to`.
        d: Reg,
        /// The result's type. An 8-bit result is extended to 16 bits by its sign.
        to: Scalar,
        /// The operand's.
        from: Scalar,
        /// Of a float result; of an integer result from a float, the direction to an integer.
        rounding: Rounding,
        /// A float result is rounded to an integral value, in the direction of `rounding`.
        integral: bool,
        /// Subnormal f32 operands and results become zero.
        flush: bool,
        /// A float result is clamped to [+0, 1]; an integer result from an integer to its type's range (from a float
        /// it always is).
        saturate: bool,
        /// The value.
        a: Operand,
    },
    /// Several values from one type to another.
    ConvertPacked {
        /// Holds all results.
        d: Reg,
        /// What.
        conversion: PackedConversion,
        /// The values in the order of PTX's syntax, or the register of all; last the random bits, 32.
        args: [Operand; 5],
    },
    /// Integer arithmetic and logic, and logic of predicates.
    Int {
        /// As wide as `op` says.
        d: Reg,
        /// What.
        op: IntOp,
        /// Of the operands: 1 (logic only), 16, 32 or 64 bits.
        width: Width,
        /// In order.
        args: [Operand; 4],
    },
    /// a + b + carry or a − b − borrow, with the carry out (of a subtraction: the borrow).
    Carry {
        /// 32 or 64 bits.
        d: Reg,
        /// A predicate that receives the carry.
        out: Option<Reg>,
        /// A subtraction.
        subtract: bool,
        /// A predicate: the carry in.
        carry: Operand,
        /// One.
        a: Operand,
        /// The other.
        b: Operand,
    },
    /// Two halves put together: the first in the low bits.
    Pack {
        /// 32 or 64 bits.
        d: Reg,
        /// Half as wide.
        low: Operand,
        /// Half as wide.
        high: Operand,
    },
    /// Some bits of a wider value.
    Extract {
        /// At most as wide as `a`.
        d: Reg,
        /// The value.
        a: Operand,
        /// How wide it is.
        width: Width,
        /// Its lowest bit taken.
        shift: u32,
    },
    /// Memory read. Several destinations are neighbours in memory.
    Load {
        /// At least as wide as an element; `None` where it is not used.
        d: Vec<Option<Reg>>,
        /// Where.
        space: Space,
        /// Bytes of an element: 1, 2, 4 or 8.
        bytes: u32,
        /// A narrower element is extended by its sign, not by zeros.
        signed: bool,
        /// As wide as an address.
        address: Operand,
        /// Added to it.
        offset: i64,
    },
    /// Memory written. Several values are neighbours in memory.
    Store {
        /// The low `bytes` of each go.
        values: Vec<Operand>,
        /// How wide the values' registers are.
        width: Width,
        /// Where.
        space: Space,
        /// Bytes of an element: 1, 2, 4 or 8.
        bytes: u32,
        /// As wide as an address.
        address: Operand,
        /// Added to it.
        offset: i64,
    },
    /// Memory read, combined and written as one step. Lanes take their turns in the order of their numbers.
    Atomic {
        /// Receives the old value.
        d: Option<Reg>,
        /// How it is combined.
        kind: AtomicKind,
        /// Where.
        space: Space,
        /// Bytes: 2, 4 or 8.
        bytes: u32,
        /// As wide as an address.
        address: Operand,
        /// Added to it.
        offset: i64,
        /// The operand; of compare-and-swap, what is compared.
        b: Operand,
        /// Of compare-and-swap: the new value.
        c: Operand,
        /// The upper half of an exchange or a compare-and-swap of 16 bytes, whose halves have 8.
        high: Option<HighHalf>,
    },
    /// A texel read.
    ImageLoad {
        /// Its components, or neighbouring bits; `None` where one is not used.
        d: Vec<Option<Reg>>,
        /// A handle, 64 bits.
        image: Operand,
        /// Of the image.
        shape: ImageShape,
        /// Integers of 32 bits with a sign, x first, the layer last.
        at: Vec<Operand>,
        /// What each register receives.
        texel: TexelType,
        /// What is read outside.
        outside: Outside,
    },
    /// A texel written.
    ImageStore {
        /// Its components, or neighbouring bits; components that the image has not are left out, those that it has and
        /// that are not given are zero.
        values: Vec<Operand>,
        /// A handle, 64 bits.
        image: Operand,
        /// Of the image.
        shape: ImageShape,
        /// Integers of 32 bits with a sign, x first, the layer last.
        at: Vec<Operand>,
        /// What each register holds.
        texel: TexelType,
        /// What a write outside does.
        outside: Outside,
    },
    /// The address of a texel, for atomics: in [`Space::Global`]. Outside the image none that may be accessed.
    ImageAddress {
        /// As wide as an address.
        d: Reg,
        /// A handle, 64 bits.
        image: Operand,
        /// Of the image.
        shape: ImageShape,
        /// Integers of 32 bits with a sign, x first, the layer last; x counts bytes where `texel` is raw.
        at: Vec<Operand>,
        /// What is accessed there: one component as wide as the texel.
        texel: TexelType,
        /// What an access outside does.
        outside: Outside,
    },
    /// An image sampled.
    ///
    /// Along each axis of N texels the coordinate x, times N where the sampler's are normalized, is u. The nearest texel
    /// is ⌊u⌋. Linear filtering takes the texels ⌊t⌋ and ⌊t⌋ + 1 with the weights 1 − α and α, where t = u − ½ rounded to
    /// a multiple of 1/256, halves up, and α its fraction. All this is exact, and so is the sum of the texels, each
    /// converted to `texel` and multiplied by its weights; it is rounded once, to nearest even. A texel whose weight is 0
    /// does not count. A coordinate that is NaN counts as 0, and so does an infinite one along an axis that repeats.
    ImageSample {
        /// The components; of a gather, one component of four texels.
        d: Vec<Option<Reg>>,
        /// A handle, 64 bits.
        image: Operand,
        /// A sampler, or the handle of an image with one, 64 bits.
        sampler: Operand,
        /// Of the image.
        shape: ImageShape,
        /// Floats of 32 bits, x first; the layer is an integer with a sign, clamped to the layers there are.
        at: Vec<Operand>,
        /// Added to the texels' numbers.
        texel_offset: [i32; 3],
        /// What each register receives.
        texel: TexelType,
        /// This component of the four texels that linear filtering takes: (0, 1), (1, 1), (1, 0), (0, 0).
        gather: Option<u8>,
        /// As reported where a sampler filters: the instruction's spelling.
        name: String,
    },
    /// A question about an image.
    ImageQuery {
        /// 32 bits.
        d: Reg,
        /// A handle, 64 bits.
        image: Operand,
        /// What.
        property: ImageProperty,
    },
    /// A barrier of a block.
    Barrier {
        /// What it does beside waiting.
        kind: BarrierKind,
        /// Its number, 32 bits.
        id: Operand,
        /// How many threads take part, 32 bits; all where absent.
        count: Option<Operand>,
    },
    /// The lanes of a warp wait for each other.
    WarpBarrier {
        /// Which, 32 bits.
        mask: Operand,
    },
    /// Memory is ordered, as [`Instruction::order`](super::Instruction::order) says. Nothing to do: every engine is
    /// sequential inside a block. One that is relaxed orders nothing: it says that other blocks write what is read next.
    Fence,
    /// A value from another lane of the warp.
    Shuffle {
        /// 32 bits.
        d: Reg,
        /// Whether the source lane was in range.
        p: Option<Reg>,
        /// Which lane.
        mode: ShuffleMode,
        /// The value given.
        a: Operand,
        /// Lane or offset.
        b: Operand,
        /// Clamp value in bits 0–4, segment mask in bits 8–12.
        c: Operand,
        /// The lanes that take part, 32 bits; without, those that are here.
        mask: Option<Operand>,
    },
    /// A question to the warp.
    Vote {
        /// A predicate, of a ballot 32 bits.
        d: Reg,
        /// Which.
        mode: VoteMode,
        /// A predicate.
        a: Operand,
        /// The lanes that take part; without, those that are here.
        mask: Option<Operand>,
    },
    /// Which lanes of the warp hold the same value.
    Match {
        /// 32 bits: the lanes.
        d: Reg,
        /// Of `all`: whether every lane does.
        p: Option<Reg>,
        /// Every lane or none.
        all: bool,
        /// How wide `a` is.
        width: Width,
        /// The value.
        a: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// The lanes of the warp that are here, 32 bits.
    ActiveMask {
        /// 32 bits.
        d: Reg,
    },
    /// One lane of the mask is elected: the lowest.
    Elect {
        /// Its number.
        d: Option<Reg>,
        /// A predicate: whether this lane is it.
        p: Reg,
        /// The lanes that take part.
        mask: Operand,
    },
    /// The values of a warp's lanes combined.
    Reduce {
        /// 32 bits.
        d: Reg,
        /// How.
        reduction: Reduction,
        /// The value.
        a: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// Matrices multiplied by the whole warp: all 32 lanes take part.
    MultiplyMatrices {
        /// What, and which lane holds which elements.
        multiply: Arc<MatrixMultiply>,
        /// d's registers.
        d: Vec<Reg>,
        /// a's.
        a: Vec<Operand>,
        /// b's.
        b: Vec<Operand>,
        /// c's.
        c: Vec<Operand>,
        /// The scales of a and of b, where there are some.
        scales: Option<[ScaleOperand; 2]>,
    },
    /// C's `printf`.
    Print {
        /// How many arguments were printed, negative on an error.
        d: Option<Reg>,
        /// A generic address: the format, ended by a zero byte.
        format: Operand,
        /// A generic address: the arguments, each aligned to its size (`vprintf`); 0 for none.
        args: Operand,
    },
    /// The launch fails.
    Trap {
        /// Why.
        message: String,
        /// The program asks for it. Otherwise what it does there is undefined, and a translation need not end the launch.
        is_asked_for: bool,
    },
    /// The thread ends here.
    Exit,
    /// An instruction that no engine runs: a thread that reaches it ends the launch.
    Unsupported {
        /// What it is, as in "MESSAGE cannot be run".
        message: String,
        /// The registers that it may write.
        d: Vec<Reg>,
        /// What it may read.
        args: Vec<Operand>,
    },
}

impl Op {
    /// Whether it adds floats in memory atomically: threads come in an order that nothing fixes, and each may round otherwise.
    pub const fn is_unordered_sum(&self) -> bool {
        matches!(self, Op::Atomic { kind: AtomicKind::Float { .. }, .. })
    }
    /// A kernel's own `trap`.
    pub fn trap() -> Op {
        Op::Trap { message: "the kernel trapped".to_owned(), is_asked_for: true }
    }
}
