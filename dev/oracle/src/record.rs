//! What a check found, as a line of JSON that the evidence page is made of.
//!
//! Nothing is written unless `ROUNDONCE_RECORD` names a file: a plain test run writes no file.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// One check that ended.
#[derive(Clone, Debug)]
pub struct Record {
    /// Who judged.
    pub judge: &'static str,
    /// What runs it again.
    pub command: String,
    /// What it was about, name by name: `kind`, `format`, `rounding`, … as the evidence page reads them.
    pub about: Vec<(&'static str, String)>,
    /// Comparisons made.
    pub cases: u64,
    /// Comparisons that failed.
    pub mismatches: u64,
    /// Whether the cases were all there are.
    pub exhaustive: bool,
    /// By the clock.
    pub seconds: u64,
}

impl Record {
    /// Adds it to the file that `ROUNDONCE_RECORD` names, with the day and the state of the code.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn append(&self) {
        let Some(path) = std::env::var_os("ROUNDONCE_RECORD") else { return };
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("ROUNDONCE_RECORD names a file");
        file.write_all(self.line().as_bytes()).expect("the record is written");
    }

    /// The line.
    fn line(&self) -> String {
        let mut line = format!("{{\"date\":{}, \"arith\":{}", text(&today()), text(&state()));
        for (name, value) in [("judge", self.judge), ("command", &self.command)] {
            line.push_str(&format!(", \"{name}\":{}", text(value)));
        }
        for (name, value) in &self.about {
            line.push_str(&format!(", \"{name}\":{}", text(value)));
        }
        let Record { cases, mismatches, exhaustive, seconds, .. } = self;
        line.push_str(&format!(", \"cases\":{cases}, \"mismatches\":{mismatches}"));
        line.push_str(&format!(", \"exhaustive\":{exhaustive}, \"seconds\":{seconds}}}\n"));
        line
    }
}

fn text(value: &str) -> String {
    let mut quoted = String::from("\"");
    for character in value.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// The day in UTC, from the days since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms").
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

fn date(days: u64) -> String {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day = shifted % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{of_month:02}", year + era * 400 + next)
}

/// What was run: git's name for the contents of crates/arith when this was first asked (ask before a long run), with a
/// `+` where a file of it had been changed. Unlike a commit it says whether anything that matters has changed since.
pub fn state() -> String {
    static STATE: OnceLock<String> = OnceLock::new();
    let git = |arguments: &[&str]| Command::new("git").args(arguments).output().ok().filter(|out| out.status.success());
    let ask = || {
        let Some(tree) = git(&["rev-parse", "--short=12", "HEAD:crates/arith"]) else { return "unknown".to_owned() };
        let status = git(&["status", "--porcelain", "--", ":/crates/arith"]);
        let changed = status.is_none_or(|out| !out.stdout.is_empty());
        format!("{}{}", String::from_utf8_lossy(&tree.stdout).trim(), if changed { "+" } else { "" })
    };
    STATE.get_or_init(ask).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(59), "1970-03-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_778), "2026-11-21");
    }

    #[test]
    fn quotes() {
        assert_eq!(text("a \"b\" \\\n"), "\"a \\\"b\\\" \\\\\\u000a\"");
    }
}
