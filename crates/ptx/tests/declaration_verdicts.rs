//! Which declarations and directives the assembler takes, and `check` with it:
//! `vectors/edge/ptx/declaration-verdicts.tsv`.

#[allow(dead_code, reason = "modules are asked for here, not lines")]
#[path = "common/verdicts.rs"]
mod verdicts;

use roundonce_isa::{Severity, Version};
use roundonce_ptx::{Options, check_text};
use verdicts::{Differences, numbers};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/declaration-verdicts.tsv");

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
    // Predicates as parameters of functions.
    ".reg .pred x)",
    // Names in initial values.
    ".global .b8 s[2] = {1, %r1};",
    // The header of the module.
    "; .address_size 64",
];

fn is_refused(target: &str, version: Version, items: &str) -> bool {
    let has_size = version >= Version(2, 3) && !items.contains("address_size");
    let size = if has_size { ".address_size 64\n" } else { "" };
    let text = format!(".version {version}\n.target sm_{target}\n{size}{items}\n");
    check_text(&text, &Options::default()).iter().any(|finding| finding.severity == Severity::Error)
}

#[test]
fn declarations_agree_with_the_assembler() {
    let mut places: Vec<(&str, Version)> = Vec::new();
    let mut differences = Differences::new(|text| SLIPS.iter().any(|slip| text.contains(slip)));
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["place", place] => {
                let (target, version) = place.split_once(' ').expect("a target and a version");
                places.push((target, version.parse().expect("a version")));
            }
            [taken, refused, items] => {
                for (list, is_taken) in [(taken, true), (refused, false)] {
                    if !is_taken && UNCHECKED.iter().any(|part| items.contains(part)) {
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
    assert!(differences.cases > 13_000, "{} cases: the record is whole", differences.cases);
    differences.judge(0);
}
