//! `eval -`: whatever a line holds, it is answered with bits or an error of one line, and an explanation can be made
//! of every line that has bits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::{Batch, Profile, Target, explain, instruction, operands};

fuzz_target!(|text: &str| {
    let mut batch = Batch::default();
    for line in text.lines().take(50) {
        let mut out = String::from("before");
        match batch.line(line, &mut out) {
            Ok(()) => {
                assert!(out.starts_with("before0x"));
                let mut words = line.split_whitespace();
                let spelling = words.next().unwrap();
                let found = instruction(spelling, &Target::default()).unwrap();
                let texts: Vec<&str> = words.collect();
                let values = operands(&found, &texts).unwrap().values;
                let kind = found.recipe.operation.op;
                let lines = explain(spelling, &found, &values, &Profile::NVIDIA).lines(kind);
                assert!(!lines.is_empty());
            }
            Err(problem) => {
                assert_eq!(out, "before");
                assert!(!problem.is_empty());
            }
        }
    }
});
