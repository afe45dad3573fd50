//! docs/tensor-cores.md has the rows of matrix multiply-add and what two machines' differ in.
//! `ROUNDONCE_BLESS=1 cargo test --release -p roundonce --test tensor_cores` writes both tables.

use roundonce::isa::grouped;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::matrix::{self, Matrix};
use roundonce::ptx::matrix::{ROWS, UnitRow};
use roundonce::why::diff::DotFrequency;
use roundonce::{Profile, Target};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tensor-cores.md");

/// The instructions whose machines are compared.
const COMPARED: [&str; 13] = [
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16",
    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
];

fn names(targets: &[u32]) -> String {
    let mut targets = targets.to_vec();
    targets.sort_unstable();
    targets.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn row(row: &UnitRow) -> String {
    let (instruction, shapes) = (row.families[0].name(), row.shapes);
    let scaled = if row.is_scaled { ", scaled" } else { "" };
    let (types, unit, sum) = (row.operands.name(), row.sass, row.unit.text());
    let (conversion, evidence, source) = (row.conversion(), row.evidence.name(), row.source);
    let targets = names(row.targets);
    format!(
        "| {targets} | {instruction} {shapes} | {types}{scaled} | {unit} | {sum} | {conversion} | {evidence}: {source} |"
    )
}

fn rows() -> String {
    let head = "| sm_ | instruction | types | machine instruction | sum | conversion | evidence |\n|---|---|---|---|---|---|---|\n";
    head.to_owned() + &ROWS.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// The machines of an instruction, those that compute the same together.
fn machines(spelling: &str) -> Vec<(Vec<u32>, Matrix)> {
    let mut all: Vec<(Vec<u32>, Matrix)> = Vec::new();
    for number in matrix::instruction(spelling, &Target::default(), &Profile::NVIDIA).unwrap().instruction.targets() {
        let target = Target { sm: Some(number.into()), ..Target::default() };
        let found = matrix::instruction(spelling, &target, &Profile::NVIDIA).unwrap();
        match all.iter_mut().find(|(_, other)| other.row.dot == found.row.dot) {
            Some((numbers, _)) => numbers.push(number),
            None => all.push((vec![number], found)),
        }
    }
    all
}

/// How many differ; where the share would be rounded to nothing, the number.
fn share(frequency: &DotFrequency) -> String {
    let &DotFrequency { differing, inputs, .. } = frequency;
    match format!("{:.1} %", differing as f64 / inputs as f64 * 100.0).as_str() {
        "0.0 %" => format!("{differing} of {}", grouped(inputs)),
        share => share.to_owned(),
    }
}

fn pairs() -> String {
    let mut lines = vec![
        "| instruction | sm_ | sm_ | differ | the smallest input found | on the first | on the second |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for spelling in COMPARED {
        let machines = machines(spelling);
        for (index, (ours, one)) in machines.iter().enumerate() {
            for (theirs, other) in &machines[index + 1..] {
                let compared = |tries| one.compare(other, spelling, &Profile::NVIDIA, tries);
                // Where they seldom differ, as many as the command takes.
                let found = Some(compared(10_000)).filter(|found| found.differs()).unwrap_or_else(|| compared(100_000));
                let often: Vec<String> = found.frequencies.iter().take(2).map(share).collect();
                let [ours, theirs] = [ours, theirs].map(|numbers| names(numbers));
                let none = || ("none was found".to_owned(), [String::new(), String::new()]);
                let shown = found.witness.map_or_else(none, |witness| (witness.terms.join(" + "), witness.results));
                let (terms, [first, second]) = shown;
                lines.push(format!(
                    "| `{spelling}` | {ours} | {theirs} | {} | {terms} | {first} | {second} |",
                    often.join(", ")
                ));
            }
        }
    }
    lines.join("\n")
}

/// The page with what stands between two comments replaced.
fn with(page: &str, name: &str, text: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- /{name} -->"));
    let from = page.find(&start).unwrap() + start.len();
    let to = page[from..].find(&end).unwrap() + from;
    format!("{}{text}{}", &page[..from], &page[to..])
}

#[test]
fn the_page_has_the_tables() {
    let found = std::fs::read_to_string(PAGE).unwrap();
    let page = with(&with(&found, "rows", &rows()), "pairs", &pairs());
    if std::env::var_os("ROUNDONCE_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(PAGE).unwrap() == page,
        "docs/tensor-cores.md: run this test with ROUNDONCE_BLESS=1"
    );
}

#[test]
fn machines_presumed_to_be_as_their_family_have_a_mark() {
    let text = include_str!("../../../tests/cli/run.in/matrix.ptx");
    let ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap();
    let machines = matrix::other_machines(ready.kernel(), &Profile::NVIDIA);
    let names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
    assert!(names.iter().any(|name| name.contains("sm_100, sm_103?")), "{names:?}");
    let presumed = |number: u32| matrix::presumed_machine(ready.kernel(), Some(number.into()), &Profile::NVIDIA);
    assert_eq!((presumed(100), presumed(103)), (None, Some("sm_103".to_owned())));
}
