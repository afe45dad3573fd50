//! What floating literals become, `vectors/edge/ptx/ptx-literals.tsv`: the assembler's own code for
//! `fma.rn.f32 d, a, b, LITERAL` on sm_100 and `fma.rn.f64` likewise, in the disassembler's words.

use roundonce_arith::Format;
use roundonce_isa::{exact_decimal, parse_number};
use roundonce_ptx::literal::bits;

const CORPUS: &str = include_str!("../../../vectors/edge/ptx/ptx-literals.tsv");

/// The bits that the disassembler's words say, where they say them all.
fn expected(ty: &str, sass: &str) -> Option<u64> {
    if ty == "f64" {
        let words = sass.split("; ").filter_map(|part| part.trim_start_matches([' ', '|']).strip_prefix("UMOV "));
        let halves: Vec<u64> = words.filter_map(hex_after_comma).collect();
        if let [low, high] = halves[..] {
            return Some(high << 32 | low);
        }
    } else if let Some(word) = sass.strip_prefix("MOV ") {
        return hex_after_comma(word);
    }
    let last = sass.trim_end_matches([' ', ';']).rsplit(", ").next()?.trim();
    let format = if ty == "f64" { Format::F64 } else { Format::F32 };
    match last {
        "RZ" => Some(0),
        "-RZ" => Some(format.sign_mask()),
        _ => parse_number(format, last).map(|number| number.bits),
    }
}

fn hex_after_comma(text: &str) -> Option<u64> {
    let hex = text.split_once("0x")?.1;
    let digits = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
    u64::from_str_radix(&hex[..digits], 16).ok()
}

#[test]
fn literals_become_the_assemblers_bits() {
    let mut cases = 0;
    for line in CORPUS.lines().skip(1) {
        let [ty, immediate, sass] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let expected = expected(ty, sass).unwrap_or_else(|| panic!("no bits in {line}"));
        let found = bits(&format!(".{ty}"), immediate).unwrap_or_else(|finding| panic!("{line}: {finding}"));
        assert_eq!(found, expected, "{immediate} as {ty}: {found:#x}, expected {expected:#x} of {sass}");
        cases += 1;
    }
    assert_eq!(cases, 37, "the corpus is whole");
}

/// The decimal goes through f64: a second rounding that one alone would not do.
#[test]
fn decimals_are_rounded_twice() {
    let text = "1.00000005960464477540";
    assert_eq!(bits(".f32", text).unwrap(), 0x3f80_0000);
    assert_eq!(parse_number(Format::F32, text).unwrap().bits, 0x3f80_0001, "rounded once it is the next number");
    assert!(exact_decimal(Format::F32, 0x3f80_0001).starts_with("1.0000001"));
}

#[test]
fn integers_and_expressions() {
    for (ty, text, expected) in [
        (".u32", "0x10", 16),
        (".u32", "010", 8),
        (".u16", "0b1010U", 10),
        (".u32", "1<<4|2", 18),
        (".s32", "-1", 0xffff_ffff),
        (".u64", "-1", u64::MAX),
        (".u8", "511", 255),
        (".s32", "(7-2)*3", 15),
        (".s32", "7-2-1", 4),
        (".s32", "1 ? 2 : 3", 2),
        (".s32", "0 ? 2 : 0 ? 3 : 4", 4),
        (".s32", "!5 + ~0", u64::from(u32::MAX)),
        (".s64", "-8 >> 1", -4i64 as u64),
        (".u64", "0x8000000000000000 >> 63", 1),
        (".s32", "(.s64)0xFFFFFFFFFFFFFFFF < 0", 1),
        (".s32", "0xFFFFFFFFFFFFFFFF < 0", 0),
        (".s32", "WARP_SZ / 5", 6),
        (".s32", "1.0 < 2.0", 1),
        (".b32", "0f3F800000", 0x3f80_0000),
        (".f64", "-(1.0 / 4.0)", 0xbfd0_0000_0000_0000),
        (".f64", ".5", 0x3fe0_0000_0000_0000),
        (".f64", "1.", 0x3ff0_0000_0000_0000),
        (".f32", "-(0f3F800000)", 0xbf80_0000),
    ] {
        assert_eq!(bits(ty, text).map_err(|finding| finding.to_string()), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_literal_says_why() {
    for (ty, text, code, words) in [
        (".f32", "1e400", "PTX0006", "too large"),
        (".f32", "1e-320", "PTX0006", "too small"),
        (".u64", "0x1FFFFFFFFFFFFFFFF", "PTX0006", "too large"),
        (".f32", "0f3F80000", "PTX0001", "exactly 8 hexadecimal digits"),
        (".f32", "0f3F8000000", "PTX0001", "exactly 8"),
        (".f64", "0d3FF000000000000", "PTX0001", "exactly 16 hexadecimal digits"),
        (".f32", "-0f3F800000", "PTX0001", "set its sign bit"),
        (".f32", "1.0+0f3F800000", "PTX0001", "raw bits"),
        (".f32", "1.0+1", "PTX0007", "between an integer and a floating constant"),
        (".f32", "1/0", "PTX0007", "division by zero"),
        (".f32", "08", "PTX0001", "octal"),
        (".u32", "17u", "PTX0001", "capital `U`"),
        (".f32", "1.5f", "PTX0001", "no suffix"),
        (".u32", "1_000", "PTX0001", "not grouped"),
        (".f32", "x", "PTX0007", "not a constant"),
        (".f32", "2", "PTX0027", "no value of type"),
        (".u32", "2.0", "PTX0027", "no value of type"),
        (".bf16", "2", "PTX0027", "no value of type"),
    ] {
        let finding = bits(ty, text).expect_err(text);
        assert_eq!(finding.code, code, "{text}: {finding}");
        assert!(finding.to_string().contains(words), "{text}: {finding}");
    }
}
