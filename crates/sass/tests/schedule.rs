//! The control word in its four styles: read, written, converted, nothing lost.

use roundonce_isa::Location;
use roundonce_sass::modern::{self, Target};
use roundonce_sass::{
    Control, Layout, NOP, ScheduleStyle, Slot, Style, asm_file, asm_line, check, disasm_bundles, parse_line,
};

const FFMA: u64 = 0x5980_0180_0027_0100;
const WITH_CONSTANT: u64 = 0x4980_018c_0507_0100;
const ANOTHER: u64 = 0x4c98_0780_0087_0001;

fn layout(schedule: Option<ScheduleStyle>) -> Layout {
    Layout { schedule, ..Layout::default() }
}

/// One slot in each style, as its tool writes it.
#[rustfmt::skip] // One slot a row.
const GOLDEN: &[(u32, &str, &str, &str, &str)] = &[
    (0x007e1, "?W1G",                       "--:-:-:Y:1", "B------:R-:W-:Y:S01", "(st 0x1)"),
    (0x007e0, "?DRAIN",                     "--:-:-:Y:0", "B------:R-:W-:Y:S00", "(st 0x0)"),
    (0x007ef, "?W15G",                      "--:-:-:Y:f", "B------:R-:W-:Y:S15", "(st 0xf)"),
    (0x007f1, "?W1",                        "--:-:-:-:1", "B------:R-:W-:-:S01", "(st 0x1 yl)"),
    (0x007f0, "?PAIR",                      "--:-:-:-:0", "B------:R-:W-:-:S00", "(st 0x0 yl)"),
    (0x007fc, "?PIXBAR",                    "--:-:-:-:c", "B------:R-:W-:-:S12", "(st 0xc yl)"),
    (0x02fe6, "&req={0,2} ?W6G",            "05:-:-:Y:6", "B0-2---:R-:W-:Y:S06", "(st 0x6 wt 0x5)"),
    (0x1ffe1, "&req={0,1,2,3,4,5} ?W1G",    "3f:-:-:Y:1", "B012345:R-:W-:Y:S01", "(st 0x1 wt 0x3f)"),
    (0x00701, "&wr=0 ?W1G",                 "--:-:1:Y:1", "B------:R-:W0:Y:S01", "(st 0x1 wr 0x0)"),
    (0x005e2, "&rd=5 ?W2G",                 "--:6:-:Y:2", "B------:R5:W-:Y:S02", "(st 0x2 rd 0x5)"),
];

#[test]
fn golden_slots() {
    for (bits, seed, maxas, cuassembler, envytools) in GOLDEN {
        let slot = Slot::from_bits(*bits);
        let control = Control::of([slot, Slot::PADDING, Slot::PADDING]);
        let text = |style| disasm_bundles(&[control.0, FFMA, NOP, NOP], &layout(Some(style))).unwrap();
        let line = |style, number: usize| text(style).lines().nth(number).unwrap().to_owned();
        assert_eq!(line(ScheduleStyle::Seed, 0), format!("FFMA R0, R1, R2, R3 {seed};"));
        assert_eq!(line(ScheduleStyle::Maxas, 0), format!("{maxas} FFMA R0, R1, R2, R3;"));
        assert_eq!(line(ScheduleStyle::CuAssembler, 0), format!("[{cuassembler}] FFMA R0, R1, R2, R3;"));
        assert_eq!(line(ScheduleStyle::Envytools, 0), format!("sched {envytools} (st 0x0) (st 0x0)"));
        for style in [ScheduleStyle::Seed, ScheduleStyle::Maxas, ScheduleStyle::CuAssembler] {
            assert_eq!(parse_line(&line(style, 0)).unwrap().slot(), Some(slot), "{style:?}");
        }
    }
}

/// Every value of every field, in all four styles, each converted to the next.
#[test]
fn conversions_lose_nothing() {
    // A stride without a common factor covers every value of every pair of neighbouring fields.
    let slots: Vec<u32> = (0..1 << 21).step_by(37).collect();
    let mut words = Vec::new();
    for chunk in slots.chunks_exact(3) {
        let control = Control::of([0, 1, 2].map(|index| Slot::from_bits(chunk[index])));
        words.extend([control.0, FFMA, WITH_CONSTANT, ANOTHER]);
    }
    for (_, style) in ScheduleStyle::NAMED {
        let text = disasm_bundles(&words, &layout(Some(style))).unwrap();
        let assembly = asm_file(&text).unwrap_or_else(|findings| panic!("{style:?}: {}", findings[0]));
        let back: Vec<u64> = assembly.bundles().into_iter().flatten().collect();
        assert_eq!(back.len(), words.len());
        let differs = back.iter().zip(&words).position(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "{style:?}: {}", text.lines().nth(differs.unwrap_or(0)).unwrap_or_default());
    }
}

/// A pair may begin in each of a bundle's three places, and the disassembler breaks the line behind its end: nvdisasm
/// 12.8 of these words.
#[test]
fn pairs_cross_bundles() {
    let control = |first: u32, second: u32, third: u32| {
        Control::of([first, second, third].map(|bits| Slot::from_bits(0x7e0 | bits))).0
    };
    let words = [control(1, 1, 16), FFMA, FFMA + 1, FFMA + 2, control(16, 1, 1), FFMA, FFMA + 1, FFMA + 2];
    let plain = disasm_bundles(&words, &Layout { addresses: true, ..Layout::default() }).unwrap();
    let wanted = "        /*0008*/                   FFMA R0, R1, R2, R3 ;
        /*0010*/                   FFMA R1, R1, R2, R3 ;
        /*0018*/         {         FFMA R2, R1, R2, R3 ;
        /*0028*/                   FFMA R0, R1, R2, R3         }
";
    assert_eq!(plain.split_inclusive('\n').take(4).collect::<String>(), wanted);

    for at in 0..5 {
        let slots = |bundle: usize| [0, 1, 2].map(|place| if 3 * bundle + place == at { 16 } else { 1 });
        let controls = [0, 1].map(slots).map(|[a, b, c]| control(a, b, c));
        let words = [controls[0], FFMA, FFMA + 1, FFMA + 2, controls[1], FFMA, FFMA + 1, FFMA + 2];
        let text = disasm_bundles(&words, &Layout::NVDISASM_HEX).unwrap();
        assert_eq!(asm_file(&text).unwrap().bundles().concat(), words, "{text}");
        assert_eq!(check(&text), [], "{text}");
        // A label between the brace and the word of its line.
        let labelled = text.replace("}\n", "}\n.L_x_9:\n");
        assert_eq!(asm_file(&labelled).unwrap().bundles().concat(), words, "{labelled}");
    }
}

/// Braces within a statement are an operand.
#[test]
fn a_set_is_no_pair() {
    let text = "{ FFMA R0, R1, R2, R3;\nDEPBAR {0} /* 0xf0f0000000070001 */ }\nDEPBAR {0,3} ; /* 0xf0f0000000070009 */";
    let assembly = asm_file(text).unwrap();
    assert_eq!(assembly.words(), [FFMA, 0xf0f0_0000_0007_0001, 0xf0f0_0000_0007_0009]);
    assert!(assembly.code[0].slot.pairs());
}

#[test]
fn bit_63_is_kept() {
    let words = [1 << 63 | 0x001f_8400_fc20_07e1, FFMA, FFMA, FFMA];
    for style in ScheduleStyle::NAMED.map(|(_, style)| Some(style)).into_iter().chain([None]) {
        let text = disasm_bundles(&words, &Layout { words: true, ..layout(style) }).unwrap();
        assert_eq!(asm_file(&text).unwrap().bundles(), [words], "{text}");
    }
}

#[test]
fn names_of_both_kinds() {
    for (names, stall) in [("?WAIT5_END_GROUP ?W5G", 5), ("?trans5 ?WAIT5 ?W5", 21), ("?YIELD ?DRAIN", 0)] {
        for name in names.split(' ') {
            let slot = parse_line(&format!("FFMA R0, R1, R2, R3 {name};")).unwrap().slot().unwrap();
            assert_eq!(slot.schedule(), stall, "{name}");
        }
    }
    for (name, style) in ScheduleStyle::NAMED {
        assert_eq!(ScheduleStyle::named(&name.to_uppercase()), Some(style));
    }
    assert_eq!(ScheduleStyle::named("nvdisasm"), None);
}

#[test]
fn reuse_stands_on_the_operands() {
    let line = "[B------:R-:W-:Y:S01] FFMA R0, R1.reuse, R2, -R3.reuse;";
    let statement = parse_line(line).unwrap();
    assert_eq!(statement.slot().unwrap().reuse(), 0b101);
    let mut text = String::new();
    statement.instruction.write(Style::Exact, statement.slot(), &mut text);
    assert_eq!(text, "FFMA R0, R1.reuse, R2, -R3.reuse ;");
}

/// A listing without scheduling gets a slot that is right for any instruction of fixed latency; each kernel its own
/// bundles.
#[test]
fn bundles_without_scheduling() {
    let text = ".text.a:\nFFMA R0, R1, R2, R3;\n.text.b:\nFFMA R0, R1, R2, R3;\n{ FFMA R0, R1, R2, R3; FFMA R1, R1, R2, R3 }\n";
    let assembly = asm_file(text).unwrap();
    assert_eq!(assembly.kernels, [("a".to_owned(), 0), ("b".to_owned(), 1)]);
    let bundles = assembly.bundles();
    let (careful, padding) = (0x7ef, 0x7e0);
    assert_eq!(bundles[0], [careful | padding << 21 | padding << 42, FFMA, NOP, NOP]);
    assert_eq!(bundles[1], [careful | 0x7f0 << 21 | careful << 42, FFMA, FFMA, FFMA + 1]);
    assert_eq!(bundles.len(), 2);
    assert_eq!(assembly.bytes().len(), 64);
}

/// Branches name labels, before them and behind; a label that there is not is an error at its name. Words of nvdisasm 12.8:
/// `BRA 0x28` at 0x18 and `BRA 0x8` at 0x28.
#[test]
fn labels_are_placed() {
    let text = ".text.k:\n.L_x_0:\nFFMA R0, R1, R2, R3;\nNOP;\nBRA `(.L_x_1);\n.L_x_1:\nBRA `(.L_x_0);\n";
    let words = asm_file(text).unwrap().words();
    let by_address = ".text.k:\nFFMA R0, R1, R2, R3;\nNOP;\nBRA 0x28;\nBRA 0x8;\n";
    assert_eq!(words, asm_file(by_address).unwrap().words());
    assert_eq!(words[2..], [0xe240_0000_0087_000f, 0xe240_0fff_fd87_000f]);
    let unknown = asm_file("BRA `(.L_x_7);").unwrap_err();
    assert_eq!((unknown[0].code, unknown[0].location), ("SASS0019", Location::Span { start: 6, end: 12 }));
    assert_eq!(asm_line("BRA `(.L_x_7);").unwrap_err().code, "SASS0019");
}

/// A field that the text does not write is that of the slowest schedule, and `.reuse` is kept without any.
#[test]
fn fields_that_are_not_written() {
    let bits = |text: &str| asm_file(text).unwrap().code[0].slot.bits();
    assert_eq!(bits("FFMA R0, R1, R2, R3 &req={1};"), 0x7ef | 1 << 12);
    assert_eq!(bits("FFMA R0, R1.reuse, R2, R3;"), 0x7ef | 1 << 17);
    assert_eq!(bits("FFMA R0, R1.reuse, R2, R3 ?W5G;"), 0x7e5 | 1 << 17);
    assert_eq!(bits("{ FFMA R0, R1.reuse, R2, R3 &req={0}; FFMA R1, R1, R2, R3 }"), 0x7f0 | 1 << 11 | 1 << 17);
    let sm_90 = Target::new(90).unwrap();
    let slot = |text: &str| (modern::asm_line(text, sm_90).unwrap() >> 105) as u32 & 0x1f_ffff;
    assert_eq!(slot("FFMA R0, R1, R2, R3 &req={1}"), 0x7ef | 1 << 12);
    assert_eq!(slot("FFMA R0, R1.reuse, R2, R3 &req={1}"), 0x7fb | 1 << 12 | 1 << 17);
}

#[test]
fn what_is_said_twice_is_refused() {
    for text in [
        "FFMA R0, R1, R2, R3 ?W5G ?W6G;",
        "FFMA R0, R1, R2, R3 &req={0} &req={1};",
        "[B---3--:R-:W-:-:S04] FFMA R0, R1, R2, R3 &req={1};",
        "--:-:-:Y:1 FFMA R0, R1, R2, R3 ?W1G;",
        "sched (st 0x3) (st 0x1) (st 0x1)\nFFMA R0, R1, R2, R3 ?W4G;",
        "sched (st 0x3) (st 0x1) (st 0x1)\nFFMA R0, R1.reuse, R2, R3;",
        "sched (st 0x3) (st 0x1) (st 0x1)\nFFMA R0, R1, R2, R3 &req={1};",
    ] {
        assert_eq!(asm_file(text).unwrap_err()[0].code, "SASS0013", "{text}");
    }
    for text in ["FFMA R0, R1, R2, R3 ?W5G ?W6G", "[B---3--:R-:W-:-:S04] FFMA R0, R1, R2, R3 &req={1}"] {
        assert_eq!(modern::asm_line(text, Target::new(90).unwrap()).unwrap_err().code, "SASS0013", "{text}");
    }
    let contradiction =
        &asm_file("sched (st 0x3) (st 0x1) (st 0x1)\nFFMA R0, R1.reuse, R2, R3 &req={1};").unwrap_err()[0];
    assert_eq!(
        contradiction.message,
        "the control word is `?W3G`, and with what stands here `&req={1} &reuse={0} ?W3G`"
    );
    assert_eq!(asm_line("FFMA R0.reuse, R1, R2, R3;").unwrap_err().code, "SASS0001");
}
