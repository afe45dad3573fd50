//! What each code stands for.

use super::determinacy::{APPROXIMATED, ATOMICS, MATRICES};
use roundonce_isa::Rule;

const SYNTAX: &str = "PTX ISA, 4.3 statements";
const CONSTANTS: &str = "PTX ISA, 4.5 constants";
const INSTRUCTIONS: &str = "PTX ISA, 9.7 instructions";
const OPERANDS: &str = "PTX ISA, 6 instruction operands";
const TARGET: &str = "PTX ISA, 11.1.2 .target";
const MAD: &str = "PTX ISA, 9.7.3.7 mad, errata";
const FUSED: &str = "PTX ISA, add and sub: mul/add sequences with no rounding modifiers may be optimised";

/// Every rule that findings of this language name.
#[rustfmt::skip] // A rule a line.
pub static RULES: &[Rule] = &[
    Rule::error("PTX0001", "a module is directives and statements in PTX's grammar", SYNTAX),
    Rule::error("PTX0002", "a string and a comment end before the text does", "PTX ISA, 4.2 comments"),
    Rule::error("PTX0003", "brackets are nested 64 deep at most, and an expression has at most 512 operators", "a limit of this parser"),
    Rule::error("PTX0004", "a block that is opened is closed", SYNTAX),
    Rule::error("PTX0005", "a text has less than 4 GiB", "a limit of this parser"),
    Rule::error("PTX0006", "a constant fits in 64 bits, or is a normal number of f64", CONSTANTS),
    Rule::error("PTX0007", "a constant expression has a value", CONSTANTS),
    Rule::error("PTX0010", "a module begins with one `.version`, then `.target`, then `.address_size`", "PTX ISA, 11.1 PTX module directives"),
    Rule::error("PTX0011", "the version of a module is one of PTX's", "PTX ISA, 11.1.1 .version"),
    Rule::error("PTX0012", "a module names a target that PTX has, and addresses of 32 or 64 bits", TARGET),
    Rule::error("PTX0013", "the version of a module knows its target", TARGET),
    Rule::error("PTX0014", "`map_f64_to_f32` is for targets without f64", TARGET),
    Rule::error("PTX0015", "a register or a variable is of a fundamental type, or a vector of at most 128 bits", "PTX ISA, 5.2 types"),
    Rule::error("PTX0016", "a name is declared once in its scope", "PTX ISA, 5.4 variables"),
    Rule::error("PTX0017", "a variable stands where its state space may be declared", "PTX ISA, 5.1 state spaces"),
    Rule::error("PTX0018", "an alignment is a power of two, and an array has a size", "PTX ISA, 5.4 variables"),
    Rule::error("PTX0019", "an initial value is of its variable's type and shape, in global or constant memory", "PTX ISA, 5.4.4 initializers"),
    Rule::error("PTX0020", "an instruction's opcode is one of PTX's", INSTRUCTIONS),
    Rule::error("PTX0021", "an instruction has the types of one of its forms", INSTRUCTIONS),
    Rule::error("PTX0022", "a modifier that a form requires is written", INSTRUCTIONS),
    Rule::error("PTX0023", "a modifier is one that the form has", INSTRUCTIONS),
    Rule::error("PTX0024", "a modifier is written once, and one of those that exclude each other", INSTRUCTIONS),
    Rule::error("PTX0025", "the version of the module has the instruction or the directive", INSTRUCTIONS),
    Rule::error("PTX0026", "the target of the module has the instruction or the directive", INSTRUCTIONS),
    Rule::error("PTX0027", "an operand has the type and the width that the instruction takes", "PTX ISA, 9.4 type information"),
    Rule::error("PTX0028", "an instruction has as many operands as its form", INSTRUCTIONS),
    Rule::error("PTX0029", "the destination is a register of a type that the instruction writes", OPERANDS),
    Rule::error("PTX0030", "an operand is of a kind that the instruction takes in its place", OPERANDS),
    Rule::error("PTX0031", "a name is declared before it is used", "PTX ISA, 5.1.1 register state space"),
    Rule::error("PTX0032", "a guard is a `.pred` register", "PTX ISA, 9.3 predicated execution"),
    Rule::error("PTX0033", "one function has one `.cta_group`", INSTRUCTIONS),
    Rule::error("PTX0034", "a directive is one of PTX's, fits where it stands and the others there", "PTX ISA, 11 directives"),
    Rule::error("PTX0035", "the parameters of a kernel are not larger than their space", "PTX ISA, 11.2.1 .entry"),
    Rule::error("PTX0036", "debug data is labels and numbers, and a file has one index", "PTX ISA, 11.5 debugging directives"),
    Rule::warning("PTX0040", "`mad.f32` has a rounding modifier from sm_20 on", MAD),
    Rule::note("PTX0041", "f64 is computed as f64 from sm_13 on", TARGET),
    Rule::note("PTX0050", "whether a product and a sum are fused is written", FUSED),
    Rule::note("PTX0051", "a function of f32, f16 and bf16 is one that rounds once, not one that a machine approximates", APPROXIMATED),
    Rule::note("PTX0052", "floats are summed in an order that the text says", ATOMICS),
    Rule::note("PTX0053", "the bits of a matrix multiply-add do not depend on the machine", MATRICES),
    Rule::error("PTX0100", "a kernel that is run has only what can be run", "what is run"),
    Rule::error("PTX0101", "a name, an operand and a type of a kernel that is run fit their place", INSTRUCTIONS),
];
