//! Types, and what is computed with them.

/// A type: its name, its components' type, how many there are, their bits, and its class: `f`loat, `i`nteger, `b`ool or
/// `m`atrix.
pub(super) struct Ty {
    pub(super) name: &'static str,
    pub(super) scalar: &'static str,
    pub(super) count: usize,
    pub(super) bits: u32,
    pub(super) class: char,
}

const fn ty(name: &'static str, scalar: &'static str, count: usize, bits: u32, class: char) -> Ty {
    Ty { name, scalar, count, bits, class }
}

#[rustfmt::skip] // A table.
pub(super) const TYPES: &[Ty] = &[
    ty("float", "float", 1, 32, 'f'), ty("v2float", "float", 2, 32, 'f'), ty("v3float", "float", 3, 32, 'f'),
    ty("v4float", "float", 4, 32, 'f'), ty("half", "half", 1, 16, 'f'), ty("v2half", "half", 2, 16, 'f'),
    ty("double", "double", 1, 64, 'f'), ty("v2double", "double", 2, 64, 'f'),
    ty("uint", "uint", 1, 32, 'i'), ty("v2uint", "uint", 2, 32, 'i'), ty("v4uint", "uint", 4, 32, 'i'),
    ty("int", "int", 1, 32, 'i'), ty("v2int", "int", 2, 32, 'i'), ty("v3int", "int", 3, 32, 'i'),
    ty("ushort", "ushort", 1, 16, 'i'), ty("short", "short", 1, 16, 'i'), ty("uchar", "uchar", 1, 8, 'i'),
    ty("ulong", "ulong", 1, 64, 'i'), ty("long", "long", 1, 64, 'i'),
    ty("bool", "bool", 1, 1, 'b'), ty("v2bool", "bool", 2, 1, 'b'), ty("v3bool", "bool", 3, 1, 'b'),
    ty("v4bool", "bool", 4, 1, 'b'),
    ty("m2", "v2float", 2, 32, 'm'), ty("m3x2", "v2float", 3, 32, 'm'),
];

/// Opcodes by alternatives, and their types: result, then operands. `f`, `i`, `n`umber, `b` and `x` (any) are one type
/// of the class, the same each time; `v` a vector of floats; `s` its component, `o` a bool for each component; other words
/// are types.
pub(super) struct Row {
    pub(super) names: &'static str,
    pub(super) types: &'static str,
}

const fn row(names: &'static str, types: &'static str) -> Row {
    Row { names, types }
}

#[rustfmt::skip] // A table.
pub(super) const ROWS: &[Row] = &[
    row("OpFAdd OpFSub OpFMul OpFDiv OpFRem OpFMod", "f f f"),
    row("OpFAdd OpFSub OpFMul", "f f f"),
    row("OpFNegate", "f f"),
    row("OpFmaKHR", "f f f f"),
    row("OpFmaKHR", "float float float float"),
    row("OpVectorTimesScalar", "v v s"),
    row("OpDot", "s v v"),
    row("OpIsNan OpIsInf OpIsFinite OpIsNormal OpSignBitSet", "o f"),
    row("OpFOrdEqual OpFUnordEqual OpFOrdNotEqual OpFUnordNotEqual OpFOrdLessThan OpFUnordLessThan", "o f f"),
    row("OpFOrdGreaterThan OpFUnordGreaterThan OpFOrdLessThanEqual OpFUnordLessThanEqual", "o f f"),
    row("OpFOrdGreaterThanEqual OpFUnordGreaterThanEqual OpLessOrGreater OpOrdered OpUnordered", "o f f"),
    row("OpIAdd OpISub OpIMul OpUDiv OpSDiv OpUMod OpSRem OpSMod", "i i i"),
    row("OpBitwiseAnd OpBitwiseOr OpBitwiseXor", "i i i"),
    row("OpSNegate OpNot", "i i"),
    row("OpShiftLeftLogical OpShiftRightLogical OpShiftRightArithmetic", "i i i"),
    row("OpIEqual OpINotEqual OpULessThan OpSLessThan OpUGreaterThan OpSGreaterThan", "o i i"),
    row("OpULessThanEqual OpSLessThanEqual OpUGreaterThanEqual OpSGreaterThanEqual", "o i i"),
    row("OpLogicalAnd OpLogicalOr OpLogicalEqual OpLogicalNotEqual", "b b b"),
    row("OpLogicalNot", "b b"),
    row("OpAny OpAll", "bool v2bool"),
    row("OpAny OpAll", "bool v4bool"),
    row("OpSelect", "x o x x"),
    row("OpCopyObject", "x x"),
    row("OpBitCount OpBitReverse", "i i"),
    row("OpBitFieldInsert", "i i i uint uint"),
    row("OpBitFieldSExtract OpBitFieldUExtract", "i i uint uint"),
    row("OpConvertFToU", "uint float"), row("OpConvertFToS", "int float"), row("OpConvertFToS", "long double"),
    row("OpConvertFToU", "ushort half"), row("OpConvertFToS", "short float"), row("OpConvertFToU", "uchar float"),
    row("OpConvertFToU", "v2uint v2float"), row("OpConvertFToS", "v3int v3float"), row("OpConvertFToU", "ulong float"),
    row("OpConvertSToF", "float int"), row("OpConvertUToF", "float uint"), row("OpConvertUToF", "half ushort"),
    row("OpConvertSToF", "double long"), row("OpConvertSToF", "v2float v2int"), row("OpConvertUToF", "float ulong"),
    row("OpConvertSToF", "half long"), row("OpConvertUToF", "v4float v4uint"), row("OpConvertSToF", "float short"),
    row("OpUConvert", "uint ushort"), row("OpUConvert", "ushort uint"), row("OpUConvert", "ulong uint"),
    row("OpUConvert", "uchar uint"), row("OpUConvert", "uint uchar"), row("OpSConvert", "long int"),
    row("OpSConvert", "int short"), row("OpSConvert", "short long"), row("OpSConvert", "int long"),
    row("OpFConvert", "half float"), row("OpFConvert", "float half"), row("OpFConvert", "double float"),
    row("OpFConvert", "float double"), row("OpFConvert", "v2half v2float"), row("OpFConvert", "v2float v2double"),
    row("OpSatConvertSToU", "uchar int"), row("OpSatConvertUToS", "short uint"), row("OpSatConvertSToU", "uint long"),
    row("OpQuantizeToF16", "float float"), row("OpQuantizeToF16", "v3float v3float"),
    row("OpBitcast", "uint float"), row("OpBitcast", "float uint"), row("OpBitcast", "double ulong"),
    row("OpBitcast", "v2uint double"), row("OpBitcast", "uint v2half"), row("OpBitcast", "v2half float"),
    row("OpBitcast", "int uint"), row("OpBitcast", "ulong v2float"), row("OpBitcast", "short half"),
    row("OpCompositeConstruct", "v2float float float"), row("OpCompositeConstruct", "v3float v2float float"),
    row("OpCompositeConstruct", "v4float v2float v2float"), row("OpCompositeConstruct", "v2uint uint uint"),
    row("OpCompositeConstruct", "v2half half half"), row("OpCompositeConstruct", "v4uint v2uint v2uint"),
    row("OpCompositeConstruct", "v2bool bool bool"), row("OpCompositeConstruct", "m2 v2float v2float"),
    row("OpCompositeConstruct", "v2double double double"), row("OpCompositeConstruct", "m3x2 v2float v2float v2float"),
    row("OpVectorExtractDynamic", "float v4float bit"), row("OpVectorInsertDynamic", "v2float v2float float bit"),
    row("OpTranspose", "m2 m2"), row("OpMatrixTimesScalar", "m2 m2 float"), row("OpVectorTimesMatrix", "v2float v2float m2"),
    row("OpMatrixTimesVector", "v2float m2 v2float"), row("OpMatrixTimesMatrix", "m2 m2 m2"),
    row("OpOuterProduct", "m2 v2float v2float"), row("OpMatrixTimesVector", "v2float m3x2 v3float"),
    row("OpVectorTimesMatrix", "v3float v2float m3x2"), row("OpMatrixTimesMatrix", "m3x2 m2 m3x2"),
];

/// GLSL.std.450.
#[rustfmt::skip] // A table.
pub(super) const GLSL: &[Row] = &[
    row("RoundEven Round Trunc Floor Ceil Fract FAbs FSign Sqrt InverseSqrt", "f f"),
    row("FMin FMax NMin NMax Step", "f f f"), row("FClamp NClamp FMix SmoothStep Fma", "f f f f"),
    row("Fma", "f f f f"),
    row("Radians Degrees Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Exp Log Exp2 Log2", "float float"),
    row("Sin Exp2 InverseSqrt", "v2float v2float"), row("Exp Tanh", "half half"), row("Pow Atan2", "float float float"),
    row("SAbs SSign", "i i"), row("SMin SMax UMin UMax", "i i i"), row("SClamp UClamp", "i i i i"),
    row("FindILsb FindUMsb", "uint uint"), row("FindSMsb FindILsb", "int int"), row("Ldexp", "float float int"),
    row("Ldexp", "v2float v2float v2int"), row("PackHalf2x16 PackSnorm2x16 PackUnorm2x16", "uint v2float"),
    row("PackSnorm4x8 PackUnorm4x8", "uint v4float"), row("PackDouble2x32", "double v2uint"),
    row("UnpackHalf2x16 UnpackSnorm2x16 UnpackUnorm2x16", "v2float uint"), row("UnpackDouble2x32", "v2uint double"),
    row("UnpackSnorm4x8 UnpackUnorm4x8", "v4float uint"), row("Length", "s v"), row("Distance", "s v v"),
    row("Normalize", "v v"), row("Cross", "v3float v3float v3float"), row("FaceForward", "v v v v"),
    row("Reflect", "v v v"),
];

/// OpenCL.std.
#[rustfmt::skip] // A table.
pub(super) const OPENCL: &[Row] = &[
    row("rint trunc floor ceil round fabs sqrt rsqrt sign", "f f"), row("fmin fmax fmin_common fmax_common fmod copysign step", "f f f"),
    row("fma mad fclamp mix", "f f f f"), row("sin cos tan exp exp2 log log2 tanh native_sin half_exp", "float float"),
    row("native_divide half_divide pow powr atan2", "float float float"), row("half_recip native_recip", "float float"),
    row("s_abs clz popcount", "i i"), row("s_min s_max u_min u_max", "i i i"), row("s_clamp u_clamp", "i i i i"),
    row("s_mul24 u_mul24", "uint uint uint"), row("s_mad24 u_mad24", "uint uint uint uint"), row("ldexp", "float float int"),
];

/// What a subgroup does together; operands that are numbers stand behind the scope.
#[rustfmt::skip] // A table.
pub(super) const SUBGROUP: &[Row] = &[
    row("OpGroupNonUniformElect", "bool"), row("OpGroupNonUniformAll OpGroupNonUniformAny", "bool bool"),
    row("OpGroupNonUniformAllEqual", "bool uint"), row("OpGroupNonUniformBallot", "v4uint bool"),
    row("OpGroupNonUniformBroadcastFirst", "x x"), row("OpGroupNonUniformShuffle OpGroupNonUniformShuffleXor", "x x lane"),
    row("OpGroupNonUniformShuffleUp OpGroupNonUniformShuffleDown", "x x lane"),
    row("OpGroupNonUniformIAdd OpGroupNonUniformIMul OpGroupNonUniformSMin OpGroupNonUniformUMin", "i how i"),
    row("OpGroupNonUniformSMax OpGroupNonUniformUMax OpGroupNonUniformBitwiseAnd", "i how i"),
    row("OpGroupNonUniformBitwiseOr OpGroupNonUniformBitwiseXor", "i how i"),
    row("OpGroupNonUniformFAdd OpGroupNonUniformFMul OpGroupNonUniformFMin OpGroupNonUniformFMax", "f how f"),
    row("OpGroupNonUniformLogicalAnd OpGroupNonUniformLogicalOr OpGroupNonUniformLogicalXor", "bool how bool"),
];
