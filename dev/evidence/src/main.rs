//! `cargo run --release -p roundonce-evidence -- …`
//!
//! `check SPELLING... [--cases N]`: each spelling against the judges, a line each, the same on every machine.
//! `check --all --record`: every spelling, into evidence/forms.jsonl.
//! `check --new --record`: those that have no record yet.
//! `page`: docs/evidence.md and the README's totals, from what is recorded.

use std::process::ExitCode;

use roundonce_evidence::check::{check, check_all, recorded};
use roundonce_evidence::{conversions, page, spellings};

const USAGE: &str = "evidence check SPELLING... [--cases N] | check --all|--new [--cases N] [--record] | page";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("evidence: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything agreed.
fn run(mut arguments: Vec<String>) -> Result<bool, String> {
    let mut cases = None;
    if let Some(at) = arguments.iter().position(|argument| argument == "--cases") {
        let count = arguments.get(at + 1).and_then(|count| count.parse().ok());
        cases = Some(count.ok_or("--cases takes a number")?);
        arguments.drain(at..at + 2);
    }
    let mut taken = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.map(|at| arguments.remove(at)).is_some()
    };
    let (all, new, record) = (taken("--all"), taken("--new"), taken("--record"));
    let known: Vec<String> = spellings().into_iter().chain(conversions::spellings()).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["page"] => page::write().map(|()| true),
        ["check"] if all => check_all(&known, cases, record),
        ["check"] if new => {
            let recorded = recorded()?;
            let missing: Vec<String> = known.into_iter().filter(|spelling| !recorded.contains_key(spelling)).collect();
            check_all(&missing, cases, record)
        }
        ["check", asked @ ..] if !asked.is_empty() => {
            let mut agree = true;
            for spelling in asked {
                if !known.iter().any(|known| known == spelling) {
                    return Err(format!("`{spelling}` is no spelling of docs/evidence.md"));
                }
                let checked = check(spelling, cases);
                println!("{checked}");
                agree &= checked.mismatches == 0;
            }
            Ok(agree)
        }
        _ => Err(USAGE.to_owned()),
    }
}
