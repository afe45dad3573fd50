//! Which modules the assembler takes, and `check` with it: `vectors/edge/ptx/declaration-verdicts.tsv` of declarations and
//! directives, `statement-verdicts.tsv` of what stands in bodies and around them.

#[allow(dead_code, reason = "modules are asked for here, not lines")]
#[path = "common/verdicts.rs"]
mod verdicts;

use roundonce_isa::{Severity, Version};
use roundonce_ptx::{Options, check_text};
use verdicts::{Differences, numbers};

const DECLARATIONS: &str = include_str!("../../../vectors/edge/ptx/declaration-verdicts.tsv");
const STATEMENTS: &str = include_str!("../../../vectors/edge/ptx/statement-verdicts.tsv");

/// What the assembler takes, and its documents do not have.
const SLIPS: &[&str] = &[
    // Opaque types and banks are no spaces to point to.
    ".ptr .texref",
    ".ptr .samplerref",
    ".ptr .surfref",
    ".ptr .const[3]",
    // A declaration of nothing.
    ".b32 ;",
    // A list of fields without its braces.
    "= a = 5",
    // A number of 65 bits.
    "18446744073709551616",
];

/// What the assembler refuses, and `docs/check.md` has as not checked.
const UNCHECKED: &[&str] = &[
    // What is declared and defined nowhere.
    ".func (.param .b32 r) f (.param .b32 a) ;",
    ".func f() .noreturn;",
    ".entry f();",
    ".func f;",
    ".visible .func f();",
    ".weak .func f();",
    // Names in initial values.
    ".global .b8 s[2] = {1, %r1};",
];

/// What the assembler takes of statements, and its documents do not have.
const SLIPS_OF_STATEMENTS: &[&str] = &[
    // A variable as a part of what is stored, which the later assembler refuses.
    "st.global.v2.b32 [q], {n, r}",
    // A register outside, read above a label of its name.
    "{ mov.u32 r1, 1; r1: ret; }",
];

/// What the assembler refuses of statements, and `docs/check.md` has as not checked.
const UNCHECKED_STATEMENTS: &[&str] = &[
    // Functions as predicates, which the older assembler takes.
    "and.pred p, p, fn;",
    "and.pred p, p, k;",
    // Sums where a constant stands, and as the last operand of video instructions.
    "lop3.b32 r, r, r, r, g+4;",
    "pmevent g+4;",
    "vadd2.u32.u32.u32 r, r, r, r+4;",
    "vadd2.u32.u32.u32 r, r, r, u+4;",
];

/// As dev/verdicts/modules.py has it.
fn is_refused(target: &str, version: Version, items: &str) -> bool {
    let items = items.replace("\\n", "\n");
    let text = if items.starts_with(".version") {
        items + "\n"
    } else {
        let has_size = version >= Version(2, 3) && !items.contains("address_size");
        let size = if has_size { ".address_size 64\n" } else { "" };
        format!(".version {version}\n.target sm_{target}\n{size}{items}\n")
    };
    check_text(&text, &Options::default()).iter().any(|finding| finding.severity == Severity::Error)
}

fn agrees(record: &'static str, cases: usize, is_slip: fn(&str) -> bool, unchecked: &[&str]) {
    let mut places: Vec<(&str, Version)> = Vec::new();
    let mut differences = Differences::new(is_slip);
    for line in record.lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["place", place] => {
                let (target, version) = place.split_once(' ').expect("a target and a version");
                places.push((target, version.parse().expect("a version")));
            }
            [taken, refused, items] => {
                for (list, is_taken) in [(taken, true), (refused, false)] {
                    if !is_taken && unchecked.iter().any(|part| items.contains(part)) {
                        continue;
                    }
                    for place in if list.is_empty() { Default::default() } else { numbers(list) } {
                        let (target, version) = places[place];
                        let text = || format!("{items} on sm_{target}, PTX {version}");
                        differences.add(text, is_refused(target, version, items), is_taken);
                    }
                }
            }
            _ => panic!("{line}"),
        }
    }
    assert!(differences.cases > cases, "{} cases: the record is whole", differences.cases);
    differences.judge(0);
}

#[test]
fn declarations_agree_with_the_assembler() {
    agrees(DECLARATIONS, 13_000, |text| SLIPS.iter().any(|slip| text.contains(slip)), UNCHECKED);
}

#[test]
fn statements_agree_with_the_assembler() {
    agrees(STATEMENTS, 3_800, |text| SLIPS_OF_STATEMENTS.iter().any(|slip| text.contains(slip)), UNCHECKED_STATEMENTS);
}
