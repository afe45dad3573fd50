//! Every form against an assembler: GNU's for AArch64, where it is installed.

use super::forms::FORMS;
use super::general::{left_32, left_64, tested_bit};
use super::lanes::in_lane;
use super::*;
use std::io::Write;
use std::process::Command;

/// A form's texts and words, with several registers and numbers.
fn instances((text, word, number): &(&str, u32, Option<u32>)) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    for (d, n, m) in [(0, 0, 0), (1, 2, 4), (8, 16, 1), (30, 29, 23), (21, 10, 30)] {
        for i in if number.is_some() { 0..2 } else { 0..1 } {
            let mut written = text.to_string();
            let numbers = [("{i}", i), ("{2i}", 2 * i), ("{4i}", 4 * i), ("{8i}", 8 * i), ("{16i}", 16 * i)];
            let less = [("{32-i}", 32 - i), ("{64-i}", 64 - i)];
            for (name, value) in numbers.into_iter().chain(less).chain([("{d}", d), ("{n}", n), ("{m}", m)]) {
                written = written.replace(name, &value.to_string());
            }
            let field = |name, value: u32, at: u32| if text.contains(name) { value << at } else { 0 };
            let registers = field("{d}", d, 0) | field("{n}", n, 5) | field("{m}", m, 16);
            all.push((written, (word | registers).wrapping_add(number.map_or(0, |at| i << at))));
        }
    }
    all
}

/// What is not a form with registers and one number.
fn others() -> Vec<(String, u32)> {
    let mut all: Vec<(String, u32)> =
        (0..32).map(|bit| (format!("tst w3, #{}", 1u32 << bit), tested_bit(bit) | 3 << 5)).collect();
    all.extend((0..32).map(|count| (format!("lsl w1, w2, #{count}"), left_32(count) | 2 << 5 | 1)));
    all.extend((0..64).map(|count| (format!("lsl x1, x2, #{count}"), left_64(count) | 2 << 5 | 1)));
    let elements = [(ST1_B, 'b', 1), (ST1_H, 'h', 2), (ST1_S, 's', 4), (ST1_D, 'd', 8)];
    for (form, name, bytes) in elements {
        let one = |lane| (format!("st1 {{v1.{name}}}[{lane}], [x2]"), in_lane(form, bytes, lane) | 2 << 5 | 1);
        all.extend((0..16 / bytes).map(one));
    }
    for (form, name, bytes) in [(LD1_S, 's', 4), (LD1_D, 'd', 8)] {
        let one = |lane| (format!("ld1 {{v1.{name}}}[{lane}], [x2]"), in_lane(form, bytes, lane) | 2 << 5 | 1);
        all.extend((0..16 / bytes).map(one));
    }
    let byte = |value: u32| (value & 0x1f) << 5 | (value >> 5) << 16;
    for value in [4, 32, 64, 0x4f, 0x80] {
        all.push((format!("movi v1.4s, #{value}"), MOVI_4S | byte(value) | 1));
        all.push((format!("movi v1.4s, #{value}, lsl #24"), MOVI_4S_24 | byte(value) | 1));
    }
    let fixed = SAVE_VECTORS.into_iter().chain(SAVE_ENVIRONMENT).chain(RESTORE_ENVIRONMENT).chain(RESTORE_VECTORS);
    let texts = [
        "stp d8, d9, [sp, #-80]!",
        "stp d10, d11, [sp, #16]",
        "stp d12, d13, [sp, #32]",
        "stp d14, d15, [sp, #48]",
        "str x16, [sp, #64]",
        "str x17, [sp, #72]",
        "ldr x16, [sp, #64]",
        "ldr x17, [sp, #72]",
        "ldp d10, d11, [sp, #16]",
        "ldp d12, d13, [sp, #32]",
        "ldp d14, d15, [sp, #48]",
        "ldp d8, d9, [sp], #80",
    ];
    all.extend(texts.iter().map(|text| text.to_string()).zip(fixed));
    all.push(("cbz w3, .+8".to_string(), CBZ_W | 2 << 5 | 3));
    all.push(("b .+8".to_string(), B | 2));
    all.push(("b.le .-4".to_string(), B_COND | 0x7ffff << 5 | 13));
    all.push(("csel x1, x2, x1, hi".to_string(), CSEL_X | 1 << 16 | 8 << 12 | 2 << 5 | 1));
    all.push(("ldur q1, [x2, #-16]".to_string(), LDUR_Q | 0x1f0 << 12 | 2 << 5 | 1));
    all
}

/// What the assembler makes of these instructions; `None` where it is not installed.
fn assembled(texts: impl Iterator<Item = String>) -> Option<Vec<u32>> {
    let folder = std::env::temp_dir().join(format!("roundonce-forms-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let source: String = texts.map(|text| format!(" {text}\n")).collect();
    std::fs::write(path("forms.s"), source).unwrap();
    let assembler = Command::new("aarch64-linux-gnu-as").args([&path("forms.s"), "-o", &path("forms.o")]).output();
    let words = assembler.ok().map(|done| {
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let copied = Command::new("aarch64-linux-gnu-objcopy")
            .args(["-O", "binary", "-j", ".text", &path("forms.o"), &path("forms.bin")])
            .status();
        assert!(copied.unwrap().success());
        let bytes = std::fs::read(path("forms.bin")).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    words
}

#[test]
fn forms_are_the_assemblers() {
    let all: Vec<(String, u32)> = FORMS.iter().flat_map(instances).chain(others()).collect();
    let Some(words) = assembled(all.iter().map(|(text, _)| text.clone())) else {
        // Past the harness, which holds back what a passing test prints; a closed stderr takes no message.
        let _ = writeln!(std::io::stderr(), "skipped: no aarch64-linux-gnu-as: the forms of A64");
        return;
    };
    assert_eq!(words.len(), all.len());
    for ((text, word), expected) in all.iter().zip(words) {
        assert_eq!(*word, expected, "{text}: {word:08x}, not {expected:08x}");
    }
}
