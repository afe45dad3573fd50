//! The rows.

use super::Lowering::*;
use super::MissingFeature::{Clusters, Handles, TensorMemory};
use super::{ANY_OPERANDS, ImageAccess, IntegerOp, Lowering, MissingFeature, Modifiers, Opcode, VideoOp};
use crate::forms::{ADD_FORMS, FMA_FORMS, MAD_FORMS, MUL_FORMS, SUB_FORMS};
use roundonce_ir::Function;
use roundonce_isa::{Gate, Version};

const fn op(
    name: &'static str,
    operands: &'static str,
    modifiers: &'static [&'static str],
    version: Version,
    target: u32,
    lowering: Lowering,
) -> Opcode {
    let (modifiers, gate) = (Modifiers::of(modifiers), Gate::since(version, target));
    Opcode { name, operands, modifiers, gate, forms: &[], float: None, lowering }
}

/// One whose operands and modifiers do not matter.
const fn any(name: &'static str, version: Version, target: u32, lowering: Lowering) -> Opcode {
    op(name, ANY_OPERANDS, &[], version, target, lowering).any_modifiers()
}
const fn hint(name: &'static str, version: Version, target: u32) -> Opcode {
    any(name, version, target, Hint)
}
const fn not_run(name: &'static str, version: Version, target: u32, what: MissingFeature) -> Opcode {
    any(name, version, target, Unsupported(what))
}

const fn v(major: u16, minor: u16) -> Version {
    Version(major, minor)
}
const V1: Version = v(1, 0);
const V2: Version = v(2, 0);
static QUOTIENT: &[&str] = &[".approx", ".full", ".ftz", ".rn", ".rz", ".rm", ".rp", ".sat"];
static FUNCTION: &[&str] = &[".approx", ".ftz", ".sat"];
static MIN_MAX: &[&str] = &[".ftz", ".NaN", ".xorsign", ".abs", ".relu"];
static PRODUCT: &[&str] = &[".lo", ".hi", ".wide", ".sat", ".cc"];
#[rustfmt::skip] // A table.
static COMPARISON: &[&str] = &[
    ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu", ".leu", ".gtu", ".geu",
    ".num", ".nan", ".and", ".or", ".xor", ".ftz",
];
#[rustfmt::skip] // A table.
static BARRIER: &[&str] = &[
    ".sync", ".arrive", ".red", ".popc", ".and", ".or", ".cta", ".aligned", ".warp", ".cluster", ".wait", ".release",
    ".acquire", ".relaxed",
];
#[rustfmt::skip] // A table.
static COPY: &[&str] = &[
    ".async", ".ca", ".cg", ".commit_group", ".wait_group", ".wait_all", ".mbarrier", ".arrive", ".noinc", ".bulk",
    ".bulk_group", ".read", ".mbarrier::complete_tx::bytes", ".prefetch", ".L2", ".cp_mask", ".ignore_oob", ".reduce", ".and", ".or",
    ".xor", ".add", ".inc", ".dec", ".min", ".max", ".noftz",
];
static ATOMIC: &[&str] = &[".and", ".or", ".xor", ".cas", ".exch", ".add", ".inc", ".dec", ".min", ".max"];
#[rustfmt::skip] // A table.
static REDUCTION: &[&str] = &[
    ".and", ".or", ".xor", ".add", ".inc", ".dec", ".min", ".max", ".async", ".mbarrier::complete_tx::bytes",
];
static VIDEO: &[&str] = &[".sat", ".add", ".min", ".max"];
static VIDEO_SHIFT: &[&str] = &[".clamp", ".wrap", ".sat", ".add", ".min", ".max"];
static VIDEO_SET: &[&str] = &[".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".add", ".min", ".max"];
#[rustfmt::skip] // A table.
static TEXTURE: &[&str] = &[".1d", ".2d", ".3d", ".a1d", ".a2d", ".v4", ".base", ".level", ".grad", ".r", ".g", ".b", ".a"];
#[rustfmt::skip] // A table.
static SURFACE: &[&str] = &[
    ".b", ".p", ".1d", ".2d", ".3d", ".a1d", ".a2d", ".v2", ".v4", ".trap", ".clamp", ".zero", ".ca", ".cg", ".cs", ".cv",
    ".wb", ".wt", ".add", ".min", ".max", ".and", ".or",
];
static IMAGE_PROPERTY: &[&str] =
    &[".width", ".height", ".depth", ".array_size", ".normalized_coords", ".num_mipmap_levels", ".level"];
static PROPERTY: &[&str] = &[".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"];

/// Every opcode of PTX 1.0 to 9.x, sorted. The gates are what the assembler takes, asked for versions from 4.0 and
/// targets from sm_50; older ones are the manual's.
#[rustfmt::skip] // One row an opcode.
pub(crate) static OPCODES: &[Opcode] = &[
    op("abs", "d, a", &[".ftz"], V1, 10, Integer(IntegerOp::Abs)).float(Sign { negate: false }),
    op("activemask", "d", &[], v(6, 2), 30, ActiveMask),
    op("add", "d, a, b", &[".sat", ".cc"], V1, 10, IntegerSum { subtract: false, carries: false }).forms(ADD_FORMS),
    op("addc", "d, a, b", &[".cc"], v(1, 2), 10, IntegerSum { subtract: false, carries: true }),
    op("alloca", "ptr, size{, immAlign}", &[], v(7, 3), 52, Allocate),
    op("and", "d, a, b", &[], V1, 10, Integer(IntegerOp::And)),
    hint("applypriority", v(7, 4), 80),
    op("atom", "d, [a], b{, c}{, cache-policy}", ATOMIC, v(1, 1), 11, Atomic { returns: true }).memory(),
    op("bar", ANY_OPERANDS, BARRIER, V1, 10, Barrier),
    op("barrier", ANY_OPERANDS, BARRIER, v(5, 1), 30, Barrier),
    op("bfe", "d, a, b, c", &[], V2, 20, Integer(IntegerOp::FieldExtract)),
    op("bfi", "f, a, b, c, d", &[], V2, 20, Integer(IntegerOp::FieldInsert)),
    op("bfind", "d, a", &[".shiftamt"], V2, 20, Integer(IntegerOp::FindHighest)),
    op("bmsk", "d, a, b", &[".clamp", ".wrap"], v(7, 6), 70, Integer(IntegerOp::Mask)),
    any("bra", V1, 10, Branch),
    op("brev", "d, a", &[], V2, 20, Integer(IntegerOp::Reverse)),
    any("brkpt", V1, 11, Separator { only_guarded: false }),
    any("brx", v(5, 1), 30, IndexedBranch),
    any("call", V1, 10, Call),
    op("clmad", "d, a, b, c", &[".lo", ".hi"], v(9, 3), 80, CarryLess),
    not_run("clusterlaunchcontrol", v(8, 6), 100, Clusters),
    op("clz", "d, a", &[], V2, 20, Integer(IntegerOp::LeadingZeros)),
    op("cnot", "d, a", &[], V1, 10, Integer(IntegerOp::LogicalNot)),
    op("copysign", "d, a, b", &[], V2, 20, CopySign),
    op("cos", "d, a", FUNCTION, V1, 10, Approximate(Function::Cos)),
    op("cp", ANY_OPERANDS, COPY, v(7, 0), 80, AsyncCopy).memory(),
    any("createpolicy", v(7, 4), 80, CreatePolicy),
    any("cvt", V1, 10, Convert),
    op("cvta", "d, a", &[".to"], V2, 20, ConvertAddress).spaces(),
    hint("discard", v(7, 4), 80),
    op("div", "d, a, b", QUOTIENT, V1, 10, Integer(IntegerOp::Divide)).float(Quotient(Function::Divide)),
    op("dp2a", "d, a, b, c", &[".lo", ".hi"], v(5, 0), 61, DotProduct { of_bytes: false }),
    op("dp4a", "d, a, b, c", &[], v(5, 0), 61, DotProduct { of_bytes: true }),
    op("elect", "d|p, membermask", &[".sync"], v(8, 0), 90, Elect),
    op("ex2", "d, a", FUNCTION, V1, 10, Approximate(Function::Exp2)),
    any("exit", V1, 10, Exit),
    not_run("fabric", v(9, 3), 100, Clusters),
    any("fence", v(5, 1), 70, Fence),
    op("fma", "d, a, b, c", &[], v(1, 4), 10, MultiplyAdd).forms(FMA_FORMS),
    op("fns", "d, mask, base, offset", &[], v(5, 1), 30, Integer(IntegerOp::FindNth)),
    any("getctarank", v(7, 8), 90, ClusterRank),
    any("griddepcontrol", v(7, 8), 90, GridDependency),
    op("isspacep", "p, a", &[], V2, 20, IsSpace).spaces(),
    not_run("istypep", v(4, 0), 30, Handles),
    op("ld", "d, [a]{, cache-policy}", &[], V1, 10, Load { is_global: false }).memory(),
    any("ldmatrix", v(6, 5), 75, MatrixAccess { stores: false }),
    op("ldu", "d, [a]", &[], V2, 20, Load { is_global: true }).memory(),
    op("lg2", "d, a", FUNCTION, V1, 10, Approximate(Function::Log2)),
    op("lop3", "d{|p}, a, b, c, table{, q}", &[".or", ".and"], v(4, 3), 50, Logic3),
    op("mad", "d, a, b, c", PRODUCT, V1, 10, IntegerProduct { adds: true, carries: false, of_24_bits: false }).forms(MAD_FORMS),
    op("mad24", "d, a, b, c", &[".lo", ".hi", ".sat"], V1, 10, IntegerProduct { adds: true, carries: false, of_24_bits: true }),
    op("madc", "d, a, b, c", PRODUCT, v(3, 0), 20, IntegerProduct { adds: true, carries: true, of_24_bits: false }),
    any("mapa", v(7, 8), 90, MapAddress),
    op("match", "d{|p}, a, membermask", &[".all", ".any", ".sync"], v(5, 1), 70, Match),
    op("max", "d, a, b{, c}", MIN_MAX, V1, 10, Integer(IntegerOp::Max)).float(MinMax { max: true }),
    any("mbarrier", v(7, 0), 80, ArrivalBarrier),
    any("membar", v(1, 4), 10, Fence),
    op("min", "d, a, b{, c}", MIN_MAX, V1, 10, Integer(IntegerOp::Min)).float(MinMax { max: false }),
    any("mma", v(6, 4), 70, MatrixMultiply),
    op("mov", "d, a", &[".v2", ".v4"], V1, 10, Move),
    any("movmatrix", v(7, 8), 75, Transpose),
    op("mul", "d, a, b", PRODUCT, V1, 10, IntegerProduct { adds: false, carries: false, of_24_bits: false }).forms(MUL_FORMS),
    op("mul24", "d, a, b", &[".lo", ".hi", ".sat"], V1, 10, IntegerProduct { adds: false, carries: false, of_24_bits: true }),
    not_run("multimem", v(8, 1), 90, Clusters),
    any("nanosleep", v(6, 2), 70, Separator { only_guarded: true }),
    op("neg", "d, a", &[".ftz"], V1, 10, Integer(IntegerOp::Negate)).float(Sign { negate: true }),
    op("not", "d, a", &[], V1, 10, Integer(IntegerOp::Not)),
    op("or", "d, a, b", &[], V1, 10, Integer(IntegerOp::Or)),
    any("pmevent", v(1, 4), 10, Separator { only_guarded: false }),
    op("popc", "d, a", &[], V2, 20, Integer(IntegerOp::PopCount)),
    hint("prefetch", V2, 20),
    hint("prefetchu", V2, 20),
    op("prmt", "d, a, b, c", &[".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"], V2, 20, Integer(IntegerOp::Permute)),
    op("rcp", "d, a", QUOTIENT, V1, 10, Quotient(Function::Reciprocal)),
    op("red", "[a], b{, c}", REDUCTION, v(1, 2), 11, Atomic { returns: false }).memory(),
    op("redux", "d, a, membermask", &[".add", ".min", ".max", ".and", ".or", ".xor", ".abs", ".NaN", ".sync"], v(7, 0), 80, Reduce),
    op("rem", "d, a, b", &[], V1, 10, Integer(IntegerOp::Remainder)),
    any("ret", V1, 10, Return),
    op("rsqrt", "d, a", FUNCTION, V1, 10, Approximate(Function::ReciprocalSquareRoot)),
    op("sad", "d, a, b, c", &[], V1, 10, Integer(IntegerOp::SumOfDifference)),
    op("selp", "d, a, b, p", &[], V1, 10, Select),
    op("set", "d, a, b{, p}", COMPARISON, V1, 10, Set),
    hint("setmaxnreg", v(8, 0), 90),
    op("setp", "p{|q}, a, b{, r}", COMPARISON, V1, 10, SetPredicate),
    op("shf", "d, a, b, c", &[".l", ".r", ".wrap", ".clamp"], v(3, 1), 32, Integer(IntegerOp::FunnelShift)),
    op("shfl", "d{|p}, a, b, c{, membermask}", &[".up", ".down", ".bfly", ".idx", ".sync"], v(3, 0), 30, Shuffle),
    op("shl", "d, a, b", &[], V1, 10, Integer(IntegerOp::ShiftLeft)),
    op("shr", "d, a, b", &[], V1, 10, Integer(IntegerOp::ShiftRight)),
    op("sin", "d, a", FUNCTION, V1, 10, Approximate(Function::Sin)),
    op("slct", "d, a, b, c", &[".ftz"], V1, 10, SelectBySign),
    op("sqrt", "d, a", QUOTIENT, V1, 10, Quotient(Function::SquareRoot)),
    op("st", "[a], b{, cache-policy}", &[".async", ".mbarrier::complete_tx::bytes"], V1, 10, Store).memory(),
    op("stackrestore", "a", &[], v(7, 3), 52, StackRestore),
    op("stacksave", "d", &[], v(7, 3), 52, StackSave),
    any("stmatrix", v(7, 8), 90, MatrixAccess { stores: true }),
    op("sub", "d, a, b", &[".sat", ".cc"], V1, 10, IntegerSum { subtract: true, carries: false }).forms(SUB_FORMS),
    op("subc", "d, a, b", &[".cc"], v(1, 2), 10, IntegerSum { subtract: true, carries: true }),
    op("suld", "d, [a]", SURFACE, v(1, 5), 20, Image(ImageAccess::Load)),
    op("suq", "d, [a]", IMAGE_PROPERTY, v(1, 5), 10, Image(ImageAccess::Query)),
    op("sured", "[a], b", SURFACE, V2, 20, Image(ImageAccess::Reduce)),
    op("sust", "[a], b", SURFACE, v(1, 5), 20, Image(ImageAccess::Store)),
    op("szext", "d, a, b", &[".clamp", ".wrap"], v(7, 6), 70, SignExtend),
    op("tanh", "d, a", FUNCTION, v(7, 0), 75, Approximate(Function::Tanh)),
    not_run("tcgen05", v(8, 6), 100, TensorMemory),
    not_run("tensormap", v(8, 3), 90, Clusters),
    op("testp", "p, a", PROPERTY, V2, 20, TestProperty),
    op("tex", "d, [a]{, lod}{, dPdy}{, e}{, f}", TEXTURE, V1, 10, Image(ImageAccess::Sample)),
    op("tld4", "d, [a]{, e}{, f}", TEXTURE, v(2, 2), 20, Image(ImageAccess::Gather)),
    any("trap", V1, 10, Trap),
    op("txq", "d, [a]{, lod}", IMAGE_PROPERTY, v(1, 5), 10, Image(ImageAccess::Query)),
    op("vabsdiff", "d, a, b{, c}", VIDEO, V2, 20, Video(VideoOp::AbsDifference)),
    op("vabsdiff2", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::AbsDifference)),
    op("vabsdiff4", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::AbsDifference)),
    op("vadd", "d, a, b{, c}", VIDEO, V2, 20, Video(VideoOp::Add)),
    op("vadd2", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Add)),
    op("vadd4", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Add)),
    op("vavrg2", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Average)),
    op("vavrg4", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Average)),
    op("vmad", "d, a, b, c", &[".po", ".sat", ".shr7", ".shr15"], V2, 20, VideoMultiplyAdd),
    op("vmax", "d, a, b{, c}", VIDEO, V2, 20, Video(VideoOp::Max)),
    op("vmax2", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Max)),
    op("vmax4", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Max)),
    op("vmin", "d, a, b{, c}", VIDEO, V2, 20, Video(VideoOp::Min)),
    op("vmin2", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Min)),
    op("vmin4", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Min)),
    op("vote", "d, a{, membermask}", &[".all", ".any", ".uni", ".ballot", ".sync"], v(1, 2), 12, Vote),
    op("vset", "d, a, b{, c}", VIDEO_SET, V2, 20, Video(VideoOp::Compare)),
    op("vset2", "d, a, b, c", VIDEO_SET, v(3, 0), 30, Video(VideoOp::Compare)),
    op("vset4", "d, a, b, c", VIDEO_SET, v(3, 0), 30, Video(VideoOp::Compare)),
    op("vshl", "d, a, b{, c}", VIDEO_SHIFT, V2, 20, Video(VideoOp::ShiftLeft)),
    op("vshr", "d, a, b{, c}", VIDEO_SHIFT, V2, 20, Video(VideoOp::ShiftRight)),
    op("vsub", "d, a, b{, c}", VIDEO, V2, 20, Video(VideoOp::Subtract)),
    op("vsub2", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Subtract)),
    op("vsub4", "d, a, b, c", VIDEO, v(3, 0), 30, Video(VideoOp::Subtract)),
    any("wgmma", v(8, 0), 90, WarpgroupMatrix),
    any("wmma", v(6, 0), 70, WarpMatrix),
    op("xor", "d, a, b", &[], V1, 10, Integer(IntegerOp::Xor)),
];
