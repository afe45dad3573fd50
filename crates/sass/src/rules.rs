//! The rules, one row each, and the findings that follow from them.

use roundonce_arith::Format;
use roundonce_isa::{Finding, Location, Rule, Severity, nearest, parse_value};

use crate::encode::EncodeError;
use crate::instruction::{Guard, Instruction, Value};
use crate::lookup::{self, short_counterpart};
use crate::parse::Statement;
use crate::print::{Register, push_immediate};
use crate::{Style, decode};

/// The code of what is encoded and printed, and not computed: what it does is not known.
pub const NOT_COMPUTED: &str = UNMEASURED.code;

/// What was probably meant by a mnemonic or a modifier.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    nearest(word, known, 1 + word.len() / 5).map(|meant| format!("did you mean `{meant}`?"))
}

/// The table: a constant each, and the list of them all.
macro_rules! rules {
    ($($constant:ident $code:literal $level:ident $title:literal $source:literal;)*) => {
        $(pub(crate) const $constant: Rule = Rule { code: $code, level: Severity::$level, title: $title, source: $source };)*
        /// Every rule that findings of this language name.
        pub const RULES: &[Rule] = &[$($constant),*];
    };
}

rules! {
    SYNTAX "SASS0001" Error "a statement reads `[@[!]Pn] MNEMONIC[.modifiers] Rd[.CC], sources [&req={…}] [?sched];`" "instruction format";
    MNEMONIC "SASS0002" Error "the mnemonic is one of the opcode table's" "the opcode table";
    MODIFIER "SASS0003" Error "a modifier is one of the opcode's slots, once" "instruction format: .fmz, .rnd, .SAT, .CC";
    REGISTER "SASS0004" Error "registers are R0 to R254 and RZ" "encoding: 8 bits, 255 is RZ";
    PREDICATE "SASS0005" Error "predicates are P0 to P6 and PT" "encoding: 3 bits, 7 is PT";
    OPERANDS "SASS0006" Error "the operands are those of one of the opcode's operand forms" "instruction format: allowed sources";
    SHORT_IMMEDIATE "SASS0007" Error "a short immediate is 20 bits, the upper ones of a number" "instruction format: Sb(#Imm20<<12)";
    ADDEND "SASS0008" Error "the addend beside a 32-bit immediate is the destination" "instruction format: Rc must be same as Rd";
    OFFSET "SASS0009" Error "a constant's offset is a multiple of 4 bytes" "encoding: a word offset";
    CONSTANT "SASS0010" Error "constant banks are 0x0 to 0x1f, offsets -0x8000 to 0xfffc" "encoding: 5 and 14 bits";
    INVALID_FMZ "SASS0011" Error ".fmz is nothing, .FTZ or .FMZ; the fourth value is INVALID" "instruction format: .fmz";
    OPCODE "SASS0012" Error "the word is of one of the table's rows" "encoding: bits 51 to 63";
    SCHEDULE "SASS0013" Error "scheduling is written in one of the four styles" "instruction format: {&req_6} {?sched}";
    BARRIER "SASS0014" Error "an instruction of fixed latency sets no barrier: both fields are 7" "instruction format: &req and ?sched alone";
    SLOT_TOP "SASS0015" Error "bit 20 of a slot is zero" "control word, observed";
    PAIR "SASS0016" Error "two instructions issue together: one and the next of the same kernel" "control word, observed";
    REUSE "SASS0017" Warning "only a register source is kept for reuse" "control word, observed";
    NUMBER "SASS0018" Error "an immediate is a number, or its bits in hex" "instruction format: #Imm20 and #Imm32";
    TARGET "SASS0019" Error "a branch reaches its target" "encoding: a distance of 24 bits";
    ROUNDED "SASS0020" Note "an immediate that its format does not hold is rounded once, to nearest even" "IEEE 754-2019, 5.4.2";
    WORD_DIFFERS "SASS0021" Error "the word beside an instruction is that instruction's" "disassembler listings";
    SHORT_HEX "SASS0022" Warning "a hex immediate is the f32's 32 bits, eight digits" "the command line's contract";
    IGNORED_BITS "SASS0023" Note "bits that mean nothing in a row are clear" "encoding, observed";
    NEVER "SASS0024" Warning "@!PT never runs" "encoding: PT always holds";
    LAYOUT "SASS0025" Error "code is bundles of 32 bytes: a control word and three instructions" "control word";
    CUBIN "SASS0026" Error "a cubin is a 64-bit little-endian ELF file for an NVIDIA GPU of the Maxwell or Pascal family" "ELF, e_machine and e_flags";
    UNSCHEDULED "SASS0027" Warning "every instruction of a bundle is scheduled" "control word";
    WORD "SASS0041" Error "the word is an instruction of the float family on its target" "128-bit encoding, observed";
    UNMEASURED "SASS0040" Error "what an instruction computes is documented, or measured" "what PTX and measurements say";
    ADDRESS "SASS0029" Error "an address's offset has room in its field" "encoding";
    HAZARD "SASS0030" Error "a result of variable latency is waited for before its register is read or written" "control word: write and read barriers, the wait mask";
    UNCHECKED "SASS0031" Note "what an instruction reads, writes and leads to is known" "what is run";
    ENTRY "SASS0028" Error "one kernel is run" "the command line's contract";
}

/// The note about an immediate that was rounded to these bits; none where a disassembler, whose text `printed` appends,
/// writes the bits so: with twenty digits.
pub(crate) fn rounded(
    format: Format,
    written: &str,
    bits: u64,
    printed: impl FnOnce(&mut String),
    span: (usize, usize),
) -> Option<Finding> {
    let is_named = written.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_alphabetic());
    let is_exact = || parse_value(format, 1, written.trim_start_matches('+')).is_ok_and(|value| value.exact);
    if is_named || is_exact() {
        return None;
    }
    let mut text = String::new();
    printed(&mut text);
    let (text, width) = (text.trim_end(), format.width() as usize / 4 + 2);
    (text != written).then(|| ROUNDED.at(span, format!("`{written}` is rounded to {text} ({bits:#0width$x})")))
}

/// The finding of an instruction that cannot be encoded, located at the operand at fault.
pub(crate) fn encode_finding(statement: &Statement, (error, operand): (EncodeError, usize)) -> Finding {
    let instruction = &statement.instruction;
    let span = statement.operands[operand];
    let message = error.to_string();
    match error {
        EncodeError::SwapRegister { .. } => REGISTER.at(span, message),
        EncodeError::Offset { .. } => OFFSET.at(span, message),
        EncodeError::AddressOffset { .. } => ADDRESS.at(span, message),
        EncodeError::Integer { .. } => SHORT_IMMEDIATE.at(span, message),
        EncodeError::ShortImmediate { bits, format: 32 } => short_immediate(statement, bits as u32, span, message),
        EncodeError::ShortImmediate { .. } => SHORT_IMMEDIATE.at(span, message),
        EncodeError::AddendIsNotDestination { .. } => {
            let finding = ADDEND.at(span, message);
            let Some(short) = short_counterpart(instruction.mnemonic()) else { return finding };
            let fits = matches!(instruction.operands()[2].value, Value::Immediate(bits) if bits & 0xfff == 0);
            let name = short.name;
            if fits {
                let (start, end) = statement.mnemonic;
                finding.help(format!("this immediate fits in 20 bits: {name} takes any addend")).fix(start, end, name)
            } else {
                finding.help(format!(
                    "{name} takes any addend, but its immediate has 20 bits: move the immediate to a register or a constant bank, or the addend to the destination first",
                ))
            }
        }
    }
}

fn short_immediate(statement: &Statement, bits: u32, span: (usize, usize), message: String) -> Finding {
    let instruction = &statement.instruction;
    let below = bits & !0xfff;
    let mut neighbours = String::new();
    push_immediate(below, Style::Exact, &mut neighbours);
    neighbours.push_str(" and ");
    push_immediate(below.wrapping_add(0x1000), Style::Exact, &mut neighbours);
    let neighbours = format!("the 20-bit neighbours are {neighbours}");
    let finding = SHORT_IMMEDIATE.at(span, message);
    let long = lookup::arithmetic(instruction.row()).and_then(|arithmetic| arithmetic.long_immediate);
    let Some(long) = long else { return finding.help(neighbours) };
    let destination = instruction.destination();
    // Without an addend there is nothing that must be the destination.
    let addend = instruction.operands().get(3).map(|operand| operand.value);
    let accumulates = addend.is_none_or(|addend| addend == Value::Register(destination));
    let rounds = instruction.modifier("rnd").is_some();
    let alternative = match (accumulates, rounds) {
        (true, false) if addend.is_none() => format!("{long} holds all 32 bits"),
        (true, false) => format!("{long} holds all 32 bits, and Rd = Rc already"),
        (true, true) => format!("this immediate needs {long}, which has no rounding modifier"),
        (false, _) => {
            format!("this immediate needs {long}, which needs Rd = Rc: write {} as the addend", Register(destination))
        }
    };
    let finding = finding.help(format!("{alternative}; {neighbours}"));
    if accumulates && !rounds {
        let (start, end) = statement.mnemonic;
        return finding.fix(start, end, long);
    }
    finding
}

/// Violations in an instruction that can be encoded.
pub(crate) fn instruction_findings(instruction: &Instruction, location: Location, findings: &mut Vec<Finding>) {
    if let Some(name) = instruction.illegal_modifier() {
        let message = format!("`{name}` is a value of the encoding that means nothing");
        let help = if name == ".INVALIDFMZ3" { "write `.FTZ`, `.FMZ` or neither" } else { "" };
        findings.push(INVALID_FMZ.finding(location, message).help(help));
    }
    if instruction.guard() == (Guard { predicate: crate::PT, negated: true }) {
        findings.push(NEVER.finding(location, "`@!PT` never holds: the instruction never runs"));
    }
}

/// Violations in a word of code, and notes: the opcode, `.INVALIDFMZ3`, bits that mean
/// nothing. The location is the word's number.
///
/// ```
/// let findings = roundonce_sass::check_word(0x59fa_a180_09a7_58d8, 1);
/// assert_eq!(findings[0].code, "SASS0011");
/// ```
pub fn check_word(word: u64, index: usize) -> Vec<Finding> {
    let location = Location::Word(index);
    let mut findings = Vec::new();
    match decode(word) {
        Err(error) => findings.push(OPCODE.finding(location, error.to_string())),
        Ok(instruction) => {
            instruction_findings(&instruction, location, &mut findings);
            let ignored = instruction.ignored_bits();
            if ignored != 0 {
                let message = format!("bits {ignored:#x} are set and mean nothing");
                findings.push(IGNORED_BITS.finding(location, message));
            }
        }
    }
    findings
}
