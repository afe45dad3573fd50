//! No input panics, and what is read is written back. The fuzz targets do the same for longer.

use roundonce_oracle::generate::SplitMix64;
use roundonce_sass::{Layout, ScheduleStyle, Style, asm_file, asm_line, check, decode, disasm_bundles, lower};

/// Any bits will do, as long as they are the same in every run.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next_bits()
    }
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[test]
fn any_word() {
    let mut random = Random(SplitMix64(1));
    let mut decoded = 0;
    for count in 0..2_000_000 {
        let mut word = random.next();
        if count % 2 == 0 {
            // The opcodes are one in thirty: half of the words get one.
            let opcode = [0x598_u64, 0x498, 0x518, 0x328, 0x338, 0x0c0, 0x0d8][random.below(7)];
            word = (word & ((1 << 52) - 1)) | opcode << 52;
        }
        let Ok(instruction) = decode(word) else { continue };
        assert_eq!(instruction.word(), word);
        decoded += 1;
    }
    assert!(decoded > 900_000);
}

const PIECES: &[&str] = &[
    "FFMA",
    "FFMA32I",
    "FADD",
    "MOV",
    ".FTZ",
    ".RZ",
    ".CC",
    " ",
    " ",
    " ",
    ", ",
    ",",
    "R0",
    "R254",
    "RZ",
    "R255",
    "-",
    "c[0x0]",
    "[0x140]",
    "1.5",
    "-0.0 ",
    "+INF ",
    ".NEG",
    "0x3fc00000",
    "1e99",
    "0x1.8p1",
    ";",
    "\n",
    "{",
    "}",
    "@P0",
    "@!PT",
    "&req={0}",
    "?W1G",
    "--:-:-:Y:1 ",
    "[B------:R-:W-:Y:S01]",
    "sched (st 0x1)",
    "/*0008*/",
    "/* 0x5980018000270100 */",
    ".reuse",
    ".dword",
    "0x5980018000270100",
    "//",
    "#",
    ".text.k:",
    "é",
    "\u{2028}",
    "|",
    "\0",
    "/*",
    "Function : k",
    "\t",
];

#[test]
fn any_text() {
    let mut random = Random(SplitMix64(2));
    let mut assembled = 0;
    for _ in 0..200_000 {
        let count = random.below(14);
        let text: String = (0..count).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let _ = asm_line(&text);
        let _ = check(&text);
        let _ = lower(&text, None);
        if let Ok(assembly) = asm_file(&text) {
            assembled += usize::from(!assembly.code.is_empty());
            let words = assembly.bundles().concat();
            for (_, style) in ScheduleStyle::NAMED {
                let layout = Layout { style: Style::Hex, schedule: Some(style), ..Layout::default() };
                let shown = disasm_bundles(&words, &layout).unwrap();
                assert_eq!(asm_file(&shown).unwrap().bundles().concat(), words, "{text:?} as {shown}");
            }
        }
    }
    assert!(assembled > 200, "{assembled}");
}

#[test]
fn damaged_lines() {
    let line =
        "        /*0008*/  @!P3 FFMA.FTZ.RZ.SAT R7.CC, R1.reuse, -c[0x3][-0x140], -R12 &req={0,2} ?W5G;  // tail";
    let word = asm_line(line).unwrap();
    assert_eq!(word, 0x49bf_860f_fb0b_0107);
    let mut random = Random(SplitMix64(3));
    for _ in 0..300_000 {
        let mut bytes = line.as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = (random.next() % 128) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, (random.next() % 128) as u8),
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        if let Ok(word) = asm_line(&text) {
            assert!(decode(word).is_ok());
        }
        let _ = check(&text);
    }
}
