//! The pages of docs/reference that are made from the tables: codes with an example each, which is run here, and forms.
//!
//! `ROUNDONCE_BLESS=1 cargo test -p roundonce-cli --test reference` writes them anew; the diff is read before it is committed.

#[path = "reference/translation.rs"]
mod translation;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use roundonce::answers::{FormRow, forms};
use roundonce::isa::Rule;
use roundonce::rules::{Example, GROUPS, Group};
use roundonce::{Form, Instruction, TABLES, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a page with what it is to hold, or writes it.
fn agrees(page: &str, text: &str) {
    let path = root().join("docs/reference").join(page);
    if std::env::var_os("ROUNDONCE_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let differing = found.lines().zip(text.lines()).position(|(one, other)| one != other);
    assert!(
        found == text,
        "docs/reference/{page} is not what the tables say, from line {}: ROUNDONCE_BLESS=1 cargo test -p roundonce-cli --test reference",
        differing.unwrap_or(found.lines().count().min(text.lines().count())) + 1
    );
}

/// What a script prints; it finds the command by its name.
fn shell(script: &str, folder: &Path) -> String {
    let command = Path::new(env!("CARGO_BIN_EXE_roundonce")).parent().unwrap();
    let path = format!("{}:{}", command.display(), std::env::var("PATH").unwrap());
    let ran = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {script}")])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

/// An example's own output, and the text that `check --fix` makes of its file.
struct Ran {
    output: String,
    /// With the option that makes it.
    fixed: Option<(String, String)>,
}

fn ran(code: &str, example: &Example) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let file = example.file(code);
    let write = || file.into_iter().for_each(|file| fs::write(folder.path().join(file), example.text).unwrap());
    write();
    let output = shell(example.command, folder.path());
    write();
    let fixed = file.filter(|_| example.command.starts_with("roundonce check ")).and_then(|file| {
        let kind = match code {
            "SPV0062" => "=glsl-fma",
            _ if example.command.contains("--determinacy") => "=determinacy",
            _ => "",
        };
        let option = format!("--fix{kind}");
        shell(&format!("{} {option}", example.command), folder.path());
        let fixed = fs::read_to_string(folder.path().join(file)).unwrap();
        (fixed != example.text).then_some((option, fixed))
    });
    Ran { output, fixed }
}

/// Two texts line by line, by their longest common subsequence, without the lines that stay.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut common = vec![vec![0; after.len() + 1]; before.len() + 1];
    for (at, line) in before.iter().enumerate().rev() {
        for (other, added) in after.iter().enumerate().rev() {
            let without = common[at + 1][other].max(common[at][other + 1]);
            common[at][other] = if line == added { common[at + 1][other + 1] + 1 } else { without };
        }
    }
    let (mut text, mut at, mut other) = (String::new(), 0, 0);
    while at < before.len() || other < after.len() {
        if at < before.len() && other < after.len() && before[at] == after[other] {
            (at, other) = (at + 1, other + 1);
        } else if other == after.len() || at < before.len() && common[at + 1][other] >= common[at][other + 1] {
            writeln!(text, "-{}", before[at]).unwrap();
            at += 1;
        } else {
            writeln!(text, "+{}", after[other]).unwrap();
            other += 1;
        }
    }
    text
}

/// The part of a command's output that is about a code: of several findings for a person, its own; of a log, the result.
fn about(code: &str, output: &str) -> String {
    let mut logs = output.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    if let Some(log) = logs.find(|value| value["runs"].is_array()) {
        return format!("...\n{}\n...", serde_json::to_string_pretty(&log["runs"][0]["results"][0]).unwrap());
    }
    let paragraphs: Vec<&str> = output.split("\n\n").collect();
    let own = paragraphs.iter().find(|paragraph| paragraph.lines().any(|line| line.contains(&format!("[{code}]"))));
    match own {
        Some(own) if paragraphs.len() > 1 => format!("{}\n", own.trim_end()),
        _ => output.to_owned(),
    }
}

fn entry(group: &Group, rule: &Rule) -> String {
    let Rule { code, level, title, source } = rule;
    let mut text = format!("## {code}\n\n**{}**: {title}.\n\nRule: {source}.\n", level.name());
    let example = group.example(code).unwrap_or_else(|| panic!("crates/roundonce/src/rules: {code} has no example"));
    if example.command.is_empty() {
        write!(text, "\nNo command gives it: {}.\n", example.text.trim_end()).unwrap();
        return text;
    }
    let Ran { output, fixed } = ran(code, &example);
    let marks = [format!("[{code}]"), format!("\"code\":\"{code}\""), format!("\"ruleId\":\"{code}\"")];
    assert!(marks.iter().any(|mark| output.contains(mark)), "the example of {code} does not give it:\n{output}");
    let levels = ["error", "warning", "note"];
    let found = levels.iter().find(|level| output.contains(&format!("{level}[{code}]")));
    assert!(found.is_none_or(|found| *found == level.name()), "the example of {code} is of another level:\n{output}");
    if let Some(file) = example.file(code) {
        let language = file.rsplit('.').next().unwrap_or_default();
        write!(text, "\n```{language}\n{}```\n", example.text).unwrap();
    }
    let about = about(code, &output);
    write!(text, "\n```text\n$ {}\n{}\n```\n", example.command, about.trim_end()).unwrap();
    if let Some((option, fixed)) = fixed {
        write!(text, "\n`check {option}` writes:\n\n```diff\n{}```\n", difference(example.text, &fixed)).unwrap();
    }
    text
}

#[test]
fn every_code_has_an_example_that_gives_it() {
    for group in &GROUPS {
        let mut page = format!(
            "# Diagnostics: {}\n\nMade from the tables by `cargo test -p roundonce-cli --test reference`, which runs every example.\n\n\
             | code | level | rule |\n|---|---|---|\n",
            group.title
        );
        let mut rules = group.rules.to_vec();
        rules.sort_unstable_by_key(|rule| rule.code);
        for Rule { code, level, title, .. } in &rules {
            writeln!(page, "| [{code}](#{}) | {} | {title} |", code.to_lowercase(), level.name()).unwrap();
        }
        for rule in &rules {
            page.push('\n');
            page.push_str(&entry(group, rule));
        }
        agrees(&format!("diagnostics-{}.md", group.name), &page);
    }
}

/// What a form computes, as `explain` says it: of floats before its modifiers, of others of its first spelling.
fn meaning(row: &FormRow) -> Option<String> {
    let is_it = |form: &&Form| form.syntax() == row.syntax && form.gate.to_string() == row.gate;
    if let Some(form) = TABLES.into_iter().flatten().find(is_it) {
        let recipe = form.recipe;
        let zeros = Value::of(std::iter::repeat_n(0, recipe.components as usize));
        let operands = vec![zeros; recipe.operation.op.arity()];
        let instruction = Instruction { form, recipe };
        return Some(roundonce::explain(&row.spellings[0], &instruction, &operands, &Default::default()).meaning);
    }
    let written = row.operands.split(", ").count() - 1;
    // The carry flag is an operand that is not written.
    (written..=written + 1).find_map(|operands| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
        command.args(["explain", &row.spellings[0], "--format", "json"]).args(vec!["0x0"; operands]);
        let answer: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).ok()?;
        Some(answer["meaning"].as_str()?.to_owned())
    })
}

fn form(row: &FormRow) -> String {
    let FormRow { syntax, operands, gate, source, note, spellings, matrix, .. } = row;
    let mut text = format!("\n### `{syntax}  {operands}`\n\n");
    let meaning = if matrix.is_some() { None } else { meaning(row) };
    assert!(matrix.is_some() || meaning.is_some(), "`explain` says nothing of {}", spellings[0]);
    for sentence in meaning.iter().chain([note]).filter(|sentence| !sentence.is_empty()) {
        writeln!(text, "- {}", sentence.replace('|', "\\|")).unwrap();
    }
    writeln!(text, "- available: {gate}").unwrap();
    writeln!(text, "- source: {source}").unwrap();
    let listed: Vec<String> = spellings.iter().map(|spelling| format!("`{spelling}`")).collect();
    writeln!(text, "- {}: {}", if listed.len() == 1 { "spelling" } else { "spellings" }, listed.join(" ")).unwrap();
    text
}

/// The pictures of docs/rounding.md: what `explain --plot` draws of an instruction.
const PICTURES: [(&str, &str); 6] = [
    ("rounded", "fma.rn.f32 0x3f800003 0x3f800001 0x33800000"),
    ("tie", "add.rn.f32 0x3f800001 0x33800000"),
    ("cancelled", "fma.rn.f32 0x3f800001 0x3f800001 0xbf800002"),
    ("far", "fma.rn.f32 0x3f800001 0x337ffffe 0x3f800001"),
    ("subnormal", "fma.rn.f32 0x3f7fffff 0x00800000 0"),
    ("cut", "mad.f32@sm_13 0x3fffffff 0x3fffffff 0xc07ffffe"),
];

#[test]
fn pictures_are_what_explain_draws() {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(root().join("docs/rounding.md")).unwrap();
    for (name, asked) in PICTURES {
        let file = format!("{name}.svg");
        shell(&format!("roundonce explain {asked} --plot {file}"), folder.path());
        agrees(&format!("../rounding/{file}"), &fs::read_to_string(folder.path().join(&file)).unwrap());
        assert!(page.contains(&format!("](rounding/{file})")), "docs/rounding.md does not show {file}");
        assert!(page.contains(asked), "docs/rounding.md does not name `{asked}`");
    }
}

#[test]
fn every_form_is_listed() {
    let rows = forms("");
    let pages = [
        ("forms-ptx", "Forms of PTX", "PTX"),
        ("forms-matrix", "Forms of matrix multiply-add", "matrix"),
        ("forms-sass", "Forms of SASS", "SASS"),
        ("forms-spirv", "Forms of SPIR-V", "SPIR-V"),
    ];
    let kind = |row: &FormRow| if row.matrix.is_some() { "matrix" } else { row.language };
    let mut listed = 0;
    for (name, title, wanted) in pages {
        let mut page = format!(
            "# {title}\n\nMade from the rows by `cargo test -p roundonce-cli --test reference`: what each computes before its modifiers, \
             remarks, the versions and targets that have it, its document, and every spelling. `{{.ftz}}` may be left out.\n"
        );
        let mnemonic = |row: &FormRow| row.syntax.split(['.', '{', ' ']).next().unwrap_or_default().to_owned();
        let mut groups: Vec<(String, Vec<&FormRow>)> = Vec::new();
        for row in rows.iter().filter(|row| kind(row) == wanted) {
            match groups.iter_mut().find(|(name, _)| *name == mnemonic(row)) {
                Some((_, group)) => group.push(row),
                None => groups.push((mnemonic(row), vec![row])),
            }
            listed += 1;
        }
        for (name, group) in groups {
            write!(page, "\n## {name}\n").unwrap();
            group.into_iter().for_each(|row| page.push_str(&form(row)));
        }
        agrees(&format!("{name}.md"), &page);
    }
    assert_eq!(listed, rows.len());
}

#[test]
fn every_form_has_its_counterparts_listed() {
    agrees("translation.md", &translation::page());
}

/// The codes that stand in a text as literals.
fn codes(text: &str, found: &mut BTreeSet<String>) {
    for literal in text.split('"') {
        let letters = literal.bytes().take_while(u8::is_ascii_uppercase).count();
        let is_code = (3..=4).contains(&letters)
            && literal.len() == letters + 4
            && literal[letters..].bytes().all(|byte| byte.is_ascii_digit());
        if is_code {
            found.insert(literal.to_owned());
        }
    }
}

fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            codes(&fs::read_to_string(entry).unwrap(), found);
        }
    }
}

#[test]
fn every_code_in_the_sources_is_a_rule() {
    let mut found = BTreeSet::new();
    for name in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        sources(&name.join("src"), &mut found);
    }
    let rules: Vec<&str> = GROUPS.iter().flat_map(|group| group.rules).map(|rule| rule.code).collect();
    let known: BTreeSet<String> = rules.iter().map(|code| (*code).to_owned()).collect();
    assert_eq!(found, known, "the codes of the sources, and those of the tables");
    assert_eq!(rules.len(), known.len(), "a code stands for one rule");
}
