//! The filters `eval -`, `asm -` and `disasm -`: an answer for each line, in the input's order, on any number of threads.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What the command answers to a text, which is written in pieces of so many bytes.
fn filter(arguments: &[&str], text: &[u8], piece: usize) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
    let piped = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_vec();
    let writer = thread::spawn(move || text.chunks(piece).try_for_each(|piece| stdin.write_all(piece)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output
}

/// Lines whose answers tell their number, errors of every kind among them: of many blocks, with ends of all kinds.
fn numbered(count: u32) -> (Vec<u8>, Vec<String>) {
    let (mut text, mut answers) = (b"\xef\xbb\xbf".to_vec(), Vec::new());
    for number in 0..count {
        let (line, answer): (Vec<u8>, String) = match number {
            _ if number % 1009 == 7 => (b"fma.rn.f32 1 \xff 1".to_vec(), "error: the line is not UTF-8".to_owned()),
            _ if number % 911 == 5 => (Vec::new(), "error: an empty line: expected INSTRUCTION OPERAND…".to_owned()),
            _ if number % 499 == 3 => {
                let problem = "error: operand 2: `0xg` has a character that is no hex digit [FORM0006]";
                (format!("fma.rn.f32 {number} 0xg 1").into_bytes(), problem.to_owned())
            }
            // So small a decimal takes a hundred times as long to read: blocks behind these lines are answered before them.
            _ if number % 12_000 < 2_000 => (
                format!("fma.rn.f64 {number} 1 1e-3999").into_bytes(),
                format!("{:#018x}", f64::from(number).to_bits()),
            ),
            _ if number % 3 == 0 => {
                (format!("mul.rn.f64 {number} 1").into_bytes(), format!("{:#018x}", f64::from(number).to_bits()))
            }
            // A space that is not ASCII's.
            _ if number % 97 == 1 => {
                let bits = (number as f32).to_bits();
                (format!("add.rn.f32 0x0\u{2003}{bits:#x}").into_bytes(), format!("{bits:#010x}"))
            }
            _ => {
                let bits = (number as f32).to_bits();
                (format!("fma.rn.f32 {bits:#010x} 0x3f800000 0x80000000").into_bytes(), format!("{bits:#010x}"))
            }
        };
        text.extend(line);
        // The last line has no end.
        text.extend(match number {
            _ if number + 1 == count => &b""[..],
            _ if number % 5 == 0 => b"\r\n",
            _ => b"\n",
        });
        answers.push(answer);
    }
    (text, answers)
}

#[test]
fn answers_are_in_the_order_of_the_lines() {
    let (text, answers) = numbered(60_000);
    let rounded = text.windows(7).filter(|part| part == b"1e-3999").count();
    let (thousands, ones) = (rounded / 1000, rounded % 1000);
    let note = format!(
        "note: operands of {thousands},{ones:03} lines are not exact in their format: rounded once, to nearest even\n"
    );
    // Pieces that end within lines, and all at once.
    for (threads, piece) in [("1", 4093), ("2", 4093), ("8", 70_001), ("8", usize::MAX)] {
        let ran = filter(&["eval", "-", "--threads", threads], &text, piece);
        let found = String::from_utf8(ran.stdout).unwrap();
        for (at, (found, answer)) in found.lines().zip(&answers).enumerate() {
            assert_eq!(found, answer, "line {}, {threads} threads", at + 1);
        }
        assert_eq!(found.lines().count(), answers.len());
        assert_eq!(ran.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&ran.stderr), note);
    }
}

/// Each line's object has its own words, whichever thread made it.
#[test]
fn objects_are_in_the_order_of_the_lines() {
    let (text, answers) = numbered(20_000);
    for threads in ["1", "8"] {
        let ran = filter(&["eval", "-", "--format", "json", "--threads", threads], &text, usize::MAX);
        let found = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(found.lines().count(), answers.len());
        for (found, answer) in found.lines().zip(&answers) {
            let object: serde_json::Value = serde_json::from_str(found).unwrap();
            match answer.strip_prefix("error: ") {
                Some(problem) => assert_eq!(object["error"], problem),
                None => assert_eq!(object["bits"], *answer),
            }
        }
        assert_eq!(ran.status.code(), Some(2));
    }
}

/// Words of several blocks, to text and back, with a line that is none.
#[test]
fn machine_code_keeps_its_order() {
    let words: Vec<String> =
        (0..30_000).map(|number| format!("{:#018x}", 0x5980_0180_0027_0100_u64 ^ (number & 0xff))).collect();
    let text = ran_well(&filter(&["disasm", "--lang", "sass", "-"], words.join("\n").as_bytes(), usize::MAX));
    assert_eq!(ran_well(&filter(&["asm", "--lang", "sass", "-"], text.as_bytes(), 4093)), words.join("\n") + "\n");
    let mut broken: Vec<&str> = text.lines().collect();
    broken[20_000] = "FFMA";
    let ran = filter(&["asm", "--lang", "sass", "-"], broken.join("\n").as_bytes(), usize::MAX);
    let found = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(2));
    for (at, (found, word)) in found.lines().zip(&words).enumerate() {
        assert!(if at == 20_000 { found.starts_with("error: ") } else { found == word }, "line {}: {found}", at + 1);
    }
}

/// Without --arch lines are those of sm_50, which has no packed halves.
#[test]
fn machine_code_is_of_sm_50() {
    for (command, line, answer) in
        [("disasm", "0x5d08000000270100", "HMUL2 R0"), ("asm", "HMUL2 R0, R1, R2;", "0x5d08000000270100")]
    {
        let ran = filter(&[command, "--lang", "sass", "-"], line.as_bytes(), usize::MAX);
        let found = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{found}");
        assert!(found.contains("sm_50") && found.contains("from sm_52 on"), "{found}");
        let found =
            ran_well(&filter(&[command, "--lang", "sass", "--arch", "sm_53", "-"], line.as_bytes(), usize::MAX));
        assert!(found.starts_with(answer), "{found}");
    }
}

fn ran_well(ran: &Output) -> String {
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout.clone()).unwrap()
}

/// A line longer than a block is one line, and so are those beside it.
#[test]
fn a_line_may_be_longer_than_a_block() {
    let spaces = " ".repeat(700_000);
    let text = format!("mul.rn.f32 1 2\nmul.rn.f32{spaces}2 2\n{spaces}\nmul.rn.f32 2 4");
    for threads in ["1", "2"] {
        let ran = filter(&["eval", "-", "--threads", threads], text.as_bytes(), 65_536);
        let expected = "0x40000000\n0x40800000\nerror: an empty line: expected INSTRUCTION OPERAND…\n0x41000000\n";
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected);
    }
}

/// `--threads` says nothing of a single result.
#[test]
fn threads_go_with_lines_and_arrays() {
    let ran = filter(&["eval", "fma.rn.f32", "1", "1", "1", "--threads", "2"], b"", 1);
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("--threads goes with lines"));
}

/// Another process that asks a line at a time, or many, and reads the answers before it goes on: each is there while the input is open.
#[test]
fn answers_come_while_the_input_is_open() {
    for threads in ["1", "2"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
        let piped = command.args(["eval", "-", "--threads", threads]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let (mut stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, answers) = mpsc::channel();
        let reader = thread::spawn(move || stdout.lines().try_for_each(|line| sender.send(line.unwrap())));
        // Few lines, more than a block, and one in two pieces.
        for (round, count) in [1, 1, 3, 40_000, 1, 90_000, 2].into_iter().enumerate() {
            let text: String = (0..count).map(|at| format!("mul.rn.f64 {} 1\n", at + round)).collect();
            let (first, rest) = text.split_at(text.len() - 5);
            stdin.write_all(first.as_bytes()).unwrap();
            stdin.flush().unwrap();
            stdin.write_all(rest.as_bytes()).unwrap();
            for at in 0..count {
                let answer = answers.recv_timeout(Duration::from_secs(60)).expect("an answer before the input ends");
                let wanted = format!("{:#018x}", ((at + round) as f64).to_bits());
                assert!(answer.starts_with(&wanted), "{round} {at}: {answer}");
            }
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
        reader.join().unwrap().unwrap();
    }
}
