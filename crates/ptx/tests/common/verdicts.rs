//! What an assembler takes, and `check` with it.

use roundonce_isa::{Location, Severity, Version};
use roundonce_ptx::{Options, check_text};
use std::collections::BTreeSet;

/// `0-4 7`
pub(crate) fn numbers(text: &str) -> BTreeSet<usize> {
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let run = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        number(first)..=number(last)
    };
    text.split(' ').flat_map(run).collect()
}

/// Which lines of a module are refused, each an instruction.
pub(crate) fn refused(registers: &str, (target, version): (&str, Version), lines: &[String]) -> Vec<bool> {
    let number: u32 = target.trim_end_matches(['a', 'f']).parse().expect("a number");
    let has_b128 = number >= 70 && version >= Version(8, 3);
    let known = |line: &&str| (number > 52 || !line.contains(".f16x2 ")) && (has_b128 || !line.contains(".b128 "));
    let registers: Vec<&str> = registers.lines().filter(known).collect();
    let size = if version >= Version(2, 3) { ".address_size 64\n" } else { "" };
    let mut text = format!(
        ".version {version}\n.target sm_{target}\n{size}.global .align 16 .b8 G[64];\n.shared .align 16 .b8 S[64];\n\
         .visible .entry k () {{\n{}\n",
        registers.join("\n")
    );
    let mut starts = Vec::new();
    for line in lines {
        starts.push(text.len());
        text.push_str(line);
        text.push_str(";\n");
    }
    text.push_str("ret;\n}\n");
    let mut refused = vec![false; lines.len()];
    for finding in check_text(&text, &Options::default()) {
        if finding.severity == Severity::Error {
            let Location::Span { start, .. } = finding.location else { panic!("{finding}") };
            let line = starts.partition_point(|begin| *begin <= start).checked_sub(1);
            refused[line.unwrap_or_else(|| panic!("sm_{target}, PTX {version}: {finding}"))] = true;
        }
    }
    refused
}

/// What differs: false errors, and missed ones.
pub(crate) struct Differences {
    pub(crate) cases: usize,
    is_slip: fn(&str) -> bool,
    falsely: Vec<String>,
    missed: Vec<String>,
}

impl Differences {
    /// None yet; `is_slip`: what the assembler takes against its documents.
    pub(crate) fn new(is_slip: fn(&str) -> bool) -> Differences {
        Differences { cases: 0, is_slip, falsely: Vec::new(), missed: Vec::new() }
    }

    pub(crate) fn add(&mut self, text: impl FnOnce() -> String, is_refused: bool, is_taken: bool) {
        self.cases += 1;
        if is_refused == is_taken {
            let text = text();
            match is_taken {
                true if (self.is_slip)(&text) => {}
                true => self.falsely.push(text),
                false => self.missed.push(text),
            }
        }
    }

    /// No false error, and so many missed ones of a thousand at most.
    pub(crate) fn judge(&self, missed: usize) {
        let first = |all: &[String]| all.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.falsely.is_empty(), "{} false errors:\n{}", self.falsely.len(), first(&self.falsely));
        assert!(
            self.missed.len() * 1000 <= missed * self.cases,
            "{} of {} missed:\n{}",
            self.missed.len(),
            self.cases,
            first(&self.missed)
        );
    }
}
