//! What the operations of [`Op`](super::Op) differ by.

use super::{Operand, Reg, Width};
use roundonce_arith::{Format, Operation};

/// Numbers that the launch or the lane gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Special {
    /// The thread in its block, by axis 0, 1, 2.
    Tid(u8),
    /// The block's size.
    Ntid(u8),
    /// The block in the grid.
    Ctaid(u8),
    /// The grid's size.
    Nctaid(u8),
    /// The lane in its warp.
    Lane,
    /// The warp in its block.
    Warp,
    /// Warps of a block.
    Warps,
    /// Lanes below this one (`lt`), and so on: a mask.
    MaskEq,
    /// Up to this one.
    MaskLe,
    /// Below it.
    MaskLt,
    /// From this one.
    MaskGe,
    /// Above it.
    MaskGt,
    /// A counter of the instructions issued.
    Clock,
    /// Bytes of shared memory given at launch beyond those declared.
    DynamicShared,
    /// Bytes of shared memory in all.
    TotalShared,
    /// The address of a variable, an index into [`Program::variables`](super::Program::variables), as wide as `d`.
    Address(u32),
    /// How many bytes the buffer has that is the argument of a parameter, an index into
    /// [`Kernel::params`](super::Kernel::params); of a number 0.
    BufferBytes(u32),
    /// The generic address of the shared memory's first byte.
    SharedWindow,
    /// The generic address of the thread's local memory's first byte.
    LocalWindow,
    /// The generic address of the parameter block's first byte.
    ParamWindow,
    /// Where the block stands beyond its grid.
    Placement(Placement),
}

impl Special {
    /// What engines have for it, whose clusters are one block: of a cluster's number in the grid the block's own.
    pub const fn in_engine(self) -> Special {
        match self {
            Special::Placement(Placement::Cluster(axis)) => Special::Ctaid(axis),
            Special::Placement(Placement::Clusters(axis)) => Special::Nctaid(axis),
            other => other,
        }
    }
}

/// Where a block stands beyond its grid: in a cluster, and on the machine. The axes are 0, 1, 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Placement {
    /// The cluster in the grid.
    Cluster(u8),
    /// Clusters of the grid.
    Clusters(u8),
    /// The block in its cluster.
    InCluster(u8),
    /// The cluster's size.
    ClusterSize(u8),
    /// The block's number in its cluster.
    Rank,
    /// Blocks of the cluster.
    Ranks,
    /// Whether the launch asks for clusters: 0 or 1.
    Explicit,
    /// The multiprocessor.
    Multiprocessor,
    /// A number above every multiprocessor's.
    Multiprocessors,
    /// The grid among those of the machine.
    Grid,
    /// A number that the machine's software gives, by its place.
    Environment(u8),
}

impl Placement {
    /// Of an engine: a grid of its own on one multiprocessor. What [`Special::in_engine`] has otherwise is `None`.
    pub const fn value(self) -> Option<u64> {
        match self {
            Placement::Cluster(_) | Placement::Clusters(_) => None,
            Placement::ClusterSize(_) | Placement::Ranks | Placement::Multiprocessors => Some(1),
            _ => Some(0),
        }
    }
}

/// Comparisons. The unordered ones (`…u`) are true where an operand is NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // PTX's names.
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Both are numbers.
    Num,
    /// One is NaN.
    Nan,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparand {
    /// Integers without a sign.
    Unsigned(Width),
    /// Integers with one.
    Signed(Width),
    /// Floats.
    Float {
        /// Of both.
        format: Format,
        /// Subnormals count as zeros.
        flush: bool,
    },
}

/// Classes of floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // Each is what its name says.
pub enum Class {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// A type that conversions know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// An integer of 8, 16, 32 or 64 bits.
    Int {
        /// Bits.
        bits: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A float.
    Float(Format),
}

impl Scalar {
    /// Bits of a value.
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Int { bits, .. } => bits,
            Scalar::Float(format) => format.width(),
        }
    }
    /// The register that holds a value.
    pub const fn width(self) -> Width {
        Width::holding(self.bits())
    }
}

/// Integer operations. `w` is the width of the instruction; shift counts, positions and lengths are 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[rustfmt::skip] // Families stand together.
pub enum IntOp {
    /// Modulo 2^w.
    Add, 
    /// Modulo 2^w.
    Sub,
    /// The low half of the product.
    Mul,
    /// a × b + c, modulo 2^w.
    MulAdd,
    /// The high half of the product, unsigned or signed.
    MulHigh(Signedness),
    /// The whole product: `d` is twice as wide.
    MulWide(Signedness),
    /// The whole product of two operands plus c, which is twice as wide as they are.
    MulAddWide(Signedness),
    /// The quotient toward zero; division by zero gives all ones.
    Div(Signedness),
    /// The remainder; by zero, the dividend.
    Rem(Signedness),
    /// The smaller.
    Min(Signedness),
    /// The larger.
    Max(Signedness),
    /// Clamped to the signed range.
    AddSat,
    /// Clamped to the signed range.
    SubSat,
    /// The magnitude of a signed number; of the lowest, itself.
    Abs,
    /// Modulo 2^w.
    Neg,
    /// |a − b| + c.
    AbsDiff(Signedness),
    /// Bit by bit.
    And,
    /// Bit by bit.
    Or,
    /// Bit by bit.
    Xor,
    /// Bit by bit.
    Not,
    /// 1 if a is zero, otherwise 0.
    IsZero,
    /// By the count `b`, 32 bits; by w or more gives 0.
    Shl,
    /// By w or more gives 0, signed the sign.
    Shr(Signedness),
    /// The lower half of b:a shifted right (`low`), or the upper half of it shifted left; the count `c` modulo 32 or,
    /// with `clamp`, at most 32.
    Funnel { /// Shifted left.
        left: bool, /// The count saturates.
        clamp: bool },
    /// Leading zeros: `d` is 32 bits.
    LeadingZeros,
    /// Bits set: `d` is 32 bits.
    PopCount,
    /// Bits in reverse.
    Reverse,
    /// The place of the highest bit that differs from the sign, 0xffffffff for none; with `shift` counted from the
    /// top. `d` is 32 bits.
    FindHighest { /// Signed or not.
        sign: Signedness, /// From the top.
        shift: bool },
    /// `c` bits of `a` from place `b`, extended.
    FieldExtract(Signedness),
    /// `a`'s low bits put into `b` at place `c`, `d` of them.
    FieldInsert,
    /// Bytes of b:a chosen by the nibbles of `c`.
    Permute,
    /// The same with a fixed pattern and a count in the low bits of `c`: `f4e`, `b4e`, `rc8`, `ecl`, `ecr`, `rc16`.
    PermuteMode(PermuteMode),
    /// Any function of three bits, by its table.
    Logic3(u8),
    /// The sum of four products of bytes plus c; signedness of a and of b.
    DotProduct4(Signedness, Signedness),
    /// The sum of two products, 16-bit of a by bytes of b (the upper two with `high`), plus c.
    DotProduct2 { /// Of a.
        a: Signedness, /// Of b.
        b: Signedness, /// The upper bytes of b.
        high: bool },
    /// `b` ones from place `a`; the counts saturate (`clamp`) or wrap at 32.
    Mask { /// Saturate.
        clamp: bool },
    /// The place of the c-th set bit of a, from place b; 0xffffffff if there is none.
    FindNth,
}

/// Whether integers have a sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    /// No.
    Unsigned,
    /// Two's complement.
    Signed,
}

/// `prmt`'s fixed patterns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // PTX's names.
pub enum PermuteMode {
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

impl PermuteMode {
    /// The nibbles that `prmt` without a mode takes in its place, by the count.
    pub const fn patterns(self) -> [u64; 4] {
        match self {
            PermuteMode::F4e => [0x3210, 0x4321, 0x5432, 0x6543],
            PermuteMode::B4e => [0x5670, 0x6701, 0x7012, 0x0123],
            PermuteMode::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333],
            PermuteMode::Ecl => [0x3210, 0x3211, 0x3222, 0x3333],
            PermuteMode::Ecr => [0x0000, 0x1110, 0x2210, 0x3210],
            PermuteMode::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232],
        }
    }
}

/// How an atomic combines the old value with its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicKind {
    /// An integer operation of two operands: add, and, or, xor, min, max.
    Int(IntOp),
    /// A float addition, component by component. Shared memory, however addressed, is never flushed (PTX `atom`).
    Float {
        /// An addition.
        operation: Operation,
        /// Components: 1 or 2.
        lanes: u32,
    },
    /// The smaller or the larger float.
    FloatMinMax {
        /// The larger.
        max: bool,
        /// Of both.
        format: Format,
        /// Components: 1 or 2.
        lanes: u32,
    },
    /// The new value.
    Exchange,
    /// The new value, if the old one equals the operand.
    CompareAndSwap,
    /// Up by one, to 0 past the operand.
    Increment,
    /// Down by one, to the operand below 0 or from above it.
    Decrement,
    /// A barrier object of 64 bits ([`arrival`]) less the operand, field by field. Where nothing is pending then, the
    /// phase is over: the next one begins, with as many arrivals pending as are expected.
    Arrive,
}

/// What an atomic on 16 bytes does with the upper 8, together with the lower ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HighHalf {
    /// Receives the old value.
    pub d: Option<Reg>,
    /// The operand; of compare-and-swap, what is compared.
    pub b: Operand,
    /// Of compare-and-swap: the new value.
    pub c: Operand,
}

/// The fields of the barrier object of [`AtomicKind::Arrive`], by their lowest bits.
pub mod arrival {
    /// Arrivals that are missing in this phase: 20 bits.
    pub const PENDING: u64 = 1;
    /// Arrivals that every phase waits for: 20 bits.
    pub const EXPECTED: u64 = 1 << 20;
    /// Bytes that are missing in this phase, signed: 23 bits.
    pub const BYTES: u64 = 1 << 40;
    /// The phase: one bit.
    pub const PHASE: u64 = 1 << 63;

    /// An object after arrivals.
    pub const fn arrived(object: u64, arrivals: u64) -> u64 {
        let (phase, counts) = (object & PHASE, object.wrapping_sub(arrivals) & !PHASE);
        let pending = (EXPECTED - 1) | (PHASE - BYTES);
        if counts & pending != 0 {
            return phase | counts;
        }
        (phase ^ PHASE) | counts | (counts / EXPECTED)
    }
}

/// What a barrier of a block does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BarrierKind {
    /// Waits.
    Wait,
    /// Is counted and goes on.
    Arrive,
    /// Waits, and counts the threads whose predicate is true.
    Count {
        /// 32 bits.
        d: Reg,
        /// A predicate.
        p: Operand,
    },
    /// Waits, and tells whether all (or any) predicates are true.
    Reduce {
        /// A predicate.
        d: Reg,
        /// A predicate.
        p: Operand,
        /// All, not any.
        all: bool,
    },
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ShuffleMode {
    /// Lane − b.
    Up,
    /// Lane + b.
    Down,
    /// Lane xor b.
    Butterfly,
    /// b.
    Index,
}

/// What a vote asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VoteMode {
    /// Whether all are true.
    All,
    /// Whether any is.
    Any,
    /// Whether all are the same.
    Uniform,
    /// Which are: a mask.
    Ballot,
}

/// How the values of a warp are combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// An integer operation of two operands.
    Int(IntOp),
    /// The smallest or largest f32.
    Float {
        /// The largest.
        max: bool,
        /// By magnitudes.
        abs: bool,
        /// A NaN gives NaN.
        nan: bool,
    },
}
