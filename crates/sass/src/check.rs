//! Every violation of a rule in a text.

use roundonce_arith::Format;
use roundonce_isa::{Finding, Location};

use crate::decode::decode_for;
use crate::generation::Generation;
use crate::instruction::{Operand, Value};
use crate::listing::{Code, Line, Listing};
use crate::parse::{Statement, read_immediate};
use crate::print::push_immediate;
use crate::rules::{self, instruction_findings};
use crate::{SlotFault, Style, lookup, modern};

/// Every finding of a text, in its order; of a listing whose headings name a later target, those of its 128-bit words.
///
/// ```
/// let findings = roundonce_sass::check("FFMA R0, R1, 0.1, R0;\nFFMA.INVALIDFMZ3 R0, R1, R2, R3;");
/// assert_eq!(findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SASS0007", "SASS0020", "SASS0011"]);
/// assert_eq!(findings[0].fix.as_ref().unwrap().replacement, "FFMA32I");
/// ```
pub fn check(text: &str) -> Vec<Finding> {
    check_counted(text).0
}

/// The same, and how many instructions were not checked: from sm_70 on those outside of the float family.
pub fn check_counted(text: &str) -> (Vec<Finding>, usize) {
    if let Some(target) = modern::listing_target(text) {
        return modern::check(text, target);
    }
    let (listing, mut findings) = Listing::parse(text);
    findings.extend(listing.lines.iter().filter_map(|line| line.to_word().err()));
    findings.extend(listing_findings(text, &listing));
    findings.sort_by_key(|finding| match finding.location {
        Location::Span { start, .. } => start,
        Location::Word(word) => word,
        Location::Whole => 0,
    });
    (findings, 0)
}

/// Violations and notes about the lines that can be read.
pub(crate) fn listing_findings(text: &str, listing: &Listing) -> Vec<Finding> {
    let mut findings = Vec::new();
    let scheduled = listing.lines.iter().any(|line| line.slot.is_some());
    for line in &listing.lines {
        match &line.code {
            Code::Statement(statement) => {
                statement_findings(text, statement, &mut findings);
                slot_findings(line, listing.generation, &mut findings);
            }
            Code::Word(word) => {
                if let Ok(instruction) = decode_for(*word, listing.generation) {
                    instruction_findings(&instruction, line.location, &mut findings);
                    slot_findings(line, listing.generation, &mut findings);
                }
            }
        }
        if scheduled && line.slot.is_none() {
            let finding = rules::UNSCHEDULED.finding(line.location, "no scheduling here, though other lines have some");
            findings.push(finding.help("a bundle gets `?W15G` for it, the longest stall"));
        }
    }
    pair_findings(listing, &mut findings);
    findings
}

pub(crate) fn statement_findings(text: &str, statement: &Statement, findings: &mut Vec<Finding>) {
    let (start, end) = statement.span;
    instruction_findings(&statement.instruction, Location::Span { start, end }, findings);
    if lookup::arithmetic(statement.instruction.row()).is_none() {
        return;
    }
    for (operand, (start, end)) in statement.instruction.operands().iter().zip(statement.operands) {
        let written = text.get(start..end).unwrap_or_default();
        if matches!(operand.value, Value::Immediate(_))
            && let Ok(bits) = read_immediate(without_signs(written))
        {
            immediate_findings(written, bits, (start, end), findings);
        }
    }
}

/// A number without what stands behind it.
fn without_signs(written: &str) -> &str {
    written.split([' ', '\t']).next().unwrap_or_default().trim_end_matches(".ABS").trim_end_matches(".NEG")
}

fn immediate_findings(written: &str, bits: u32, span: (usize, usize), findings: &mut Vec<Finding>) {
    let written = without_signs(written);
    let unsigned = written.trim_start_matches(['-', '+']);
    let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    if let Some(digits) = hex.filter(|digits| !digits.contains(['p', 'P'])) {
        // Zero looks the same with any number of digits.
        if digits.len() < 8 && bits & 0x7fff_ffff != 0 {
            let mut value = String::new();
            push_immediate(bits, Style::Exact, &mut value);
            let message = format!("`{written}` is the f32 {value}: the bits have {} digits, not eight", digits.len());
            findings.push(
                rules::SHORT_HEX
                    .at(span, message)
                    .help("the 20 bits of an encoding field are the upper ones: add `000`"),
            );
        }
        return;
    }
    if read_immediate(written) == Ok(bits) {
        let printed = |out: &mut String| push_immediate(bits, Style::Nvdisasm, out);
        findings.extend(rules::rounded(Format::F32, written, bits.into(), printed, span));
    }
}

fn slot_findings(line: &Line, generation: Generation, findings: &mut Vec<Finding>) {
    let Some(slot) = line.slot else { return };
    let instruction = match line.code {
        Code::Statement(statement) => Ok(statement.instruction),
        Code::Word(word) => decode_for(word, generation),
    };
    let variable = instruction.is_ok_and(|instruction| instruction.is_variable());
    for fault in slot.faults().filter(|fault| !variable || *fault == SlotFault::Top) {
        let rule = match fault {
            SlotFault::WriteBarrier(_) | SlotFault::ReadBarrier(_) => rules::BARRIER,
            SlotFault::Top => rules::SLOT_TOP,
        };
        findings.push(rule.finding(line.location, fault.to_string()));
    }
    // ptxas sets bits of the mask that no text shows: for textures and others of variable latency, and the third for `FADD` of
    // two registers. It never sets one where a source is a constant or an immediate.
    if let (Ok(instruction), false) = (instruction, variable) {
        let unkept = slot.reuse() & !instruction.shown_reuse();
        let is_number = |operand: &Operand| matches!(operand.value, Value::Immediate(_) | Value::Constant { .. });
        if unkept != 0 && instruction.operands().iter().any(is_number) {
            let message = format!("reuse mask {unkept:#x} names sources that are not registers");
            findings.push(rules::REUSE.finding(line.location, message));
        }
    }
}

/// Dual issue: an instruction is in one pair only, and a pair in one kernel. It may cross from a bundle into the next.
fn pair_findings(listing: &Listing, findings: &mut Vec<Finding>) {
    let mut starts = listing.kernels.iter().map(|(_, first)| *first).peekable();
    let mut paired_before = false;
    for (index, line) in listing.lines.iter().enumerate() {
        while starts.next_if(|start| *start <= index).is_some() {}
        let next = index + 1;
        let ends = next == listing.lines.len() || starts.peek() == Some(&next);
        let message = match (line.pairs, paired_before, ends) {
            (false, ..) => None,
            (_, true, _) => Some("the instruction is in two pairs"),
            (.., true) => Some("there is no next instruction to issue with"),
            _ => None,
        };
        findings.extend(message.map(|message| rules::PAIR.finding(line.location, message)));
        paired_before = line.pairs && !ends;
    }
}
