//! What each code stands for.

use roundonce_isa::Rule;

use super::source::{FLOAT_CONTROLS, FMA_CAPABILITY, LAYOUT, UNIVERSAL, UNSPECIFIED_SUM};

const INSTRUCTIONS: &str = "SPIR-V 1.6, 3.49 Instructions";
const PHYSICAL: &str = "SPIR-V 1.6, 2.3 Physical Layout";
const CAPABILITY: &str = "SPIR-V 1.6, 3.31 Capability";
const DECORATION: &str = "SPIR-V 1.6, 3.20 Decoration";
const RUN: &str = "what is run";

/// Every rule that findings of this language name.
#[rustfmt::skip] // A rule a line.
pub static RULES: &[Rule] = &[
    Rule::error("SPV0001", "a binary is words with SPIR-V's header and whole instructions", PHYSICAL),
    Rule::error("SPV0002", "a text is in the grammar of SPIR-V's assembly language", "SPIRV-Tools, syntax.md"),
    Rule::error("SPV0003", "an instruction has the operands of its opcode", INSTRUCTIONS),
    Rule::error("SPV0004", "an opcode is one of SPIR-V 1.6", INSTRUCTIONS),
    Rule::error("SPV0006", "the environment takes the version of the module", PHYSICAL),
    Rule::error("SPV0007", "an instruction that is migrated is written by name", "a limit of `check --fix`"),
    Rule::error("SPV0010", "a module's sections are in order, and what it must have is there", LAYOUT),
    Rule::error("SPV0011", "a function is blocks, each from its OpLabel to its terminator", LAYOUT),
    Rule::error("SPV0012", "an id is defined, and before its use where that is asked for", UNIVERSAL),
    Rule::error("SPV0013", "an id is defined once", UNIVERSAL),
    Rule::error("SPV0014", "ids are below the header's bound", UNIVERSAL),
    Rule::error("SPV0015", "a definition dominates its uses", UNIVERSAL),
    Rule::error("SPV0016", "a Result Type is a type", UNIVERSAL),
    Rule::error("SPV0017", "the control flow of a shader is structured", "SPIR-V 1.6, 2.11 Structured Control Flow"),
    Rule::error("SPV0018", "OpPhi has a value for each block that branches to its own", "SPIR-V 1.6, 3.49.17, OpPhi"),
    Rule::error("SPV0020", "the capability that something needs is declared", CAPABILITY),
    Rule::error("SPV0021", "the extension or the version that something needs is declared", CAPABILITY),
    Rule::error("SPV0022", "the environment allows the capability", CAPABILITY),
    Rule::error("SPV0030", "a type is declared as its instruction asks", "SPIR-V 1.6, 3.49.6 Type-Declaration Instructions"),
    Rule::error("SPV0031", "a type that is no aggregate is declared once", UNIVERSAL),
    Rule::error("SPV0032", "a constant is of its type", "SPIR-V 1.6, 3.49.7 Constant-Creation Instructions"),
    Rule::error("SPV0040", "the Result Type is one that the instruction gives", INSTRUCTIONS),
    Rule::error("SPV0041", "an operand is of the type that the instruction takes", INSTRUCTIONS),
    Rule::error("SPV0042", "bfloat16 and 8-bit floats have no arithmetic but that of matrices", "SPV_KHR_bfloat16 and SPV_EXT_float8, 2.16.1 Universal Validation Rules"),
    Rule::error("SPV0050", "the memory model is one of the environment's", "SPIR-V 1.6, OpMemoryModel"),
    Rule::error("SPV0051", "a module has an entry point, or the capability Linkage", UNIVERSAL),
    Rule::error("SPV0052", "an entry point has the execution modes that its model asks for and allows", "SPIR-V 1.6, 3.6 Execution Mode"),
    Rule::error("SPV0053", "a decoration is on something that may have it", DECORATION),
    Rule::error("SPV0054", "fast-math modes are constants, and fit each other and the other modes", "SPV_KHR_float_controls2, 2.16.1 Universal Validation Rules"),
    Rule::error("SPV0055", "a decoration is written once", DECORATION),
    Rule::error("SPV0056", "the interface of an entry point lists its variables", "SPIR-V 1.6, OpEntryPoint"),
    Rule::warning("SPV0060", "OpFmaKHR is written for OpenCL.std `fma`, which is deprecated", "SPV_KHR_fma, Deprecation"),
    Rule::warning("SPV0061", "what is declared for OpFmaKHR is used", FMA_CAPABILITY),
    Rule::note("SPV0062", "GLSL.std.450 `Fma` is decorated NoContraction, or written as OpFmaKHR", "GLSL.std.450, Fma"),
    Rule::note("SPV0063", "NoContraction is on what could be contracted", "SPIR-V 1.6, 3.20 Decoration, NoContraction"),
    Rule::note("SPV0064", "an entry point declares how multiply-adds are rounded", FLOAT_CONTROLS),
    Rule::note("SPV0065", "an entry point declares whether subnormals are kept", FLOAT_CONTROLS),
    Rule::note("SPV0066", "an entry point declares whether zero signs, infinities and NaNs are kept", FLOAT_CONTROLS),
    Rule::note("SPV0067", "whether a product and a sum are contracted is written", "SPIR-V 1.6, 3.20 Decoration, NoContraction"),
    Rule::warning("SPV0068", "execution modes do not contradict each other", FLOAT_CONTROLS),
    Rule::warning("SPV0069", "the index of a struct's member is an OpConstant", "SPIR-V 1.6, 3.49.8, OpAccessChain"),
    Rule::note("SPV0070", "OpenCL.std `mad` is written as OpFmaKHR, or as a product and a sum", "OpenCL.std, mad"),
    Rule::note("SPV0071", "a sum of products has an order", UNSPECIFIED_SUM),
    Rule::note("SPV0072", "an entry point declares what its sums and products leave open", FLOAT_CONTROLS),
    Rule::error("SPV0100", "a module that is run has only what can be run", RUN),
    Rule::error("SPV0101", "an operand and a type of a module that is run fit their place", INSTRUCTIONS),
    Rule::error("SPV0102", "a launch names an entry point and specialisation constants of the module", RUN),
];
