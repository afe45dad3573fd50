//! The check of hazards: it says nothing of what ptxas scheduled, and finds what is taken out of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roundonce_isa::Severity;
use roundonce_sass::{Control, Cubin, Kernel, Slot, check, cubin_hazards, fields};

const LARGEST: usize = 1 << 20;

/// Every cubin of ptxas 12.9 here.
fn cubins() -> BTreeMap<String, Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/maxwell");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let cubins = files.filter(|path| path.extension().is_some_and(|extension| extension == "cubin"));
    cubins
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect()
}

fn codes(bytes: &[u8]) -> Vec<(&'static str, String)> {
    let found = cubin_hazards(bytes, None, LARGEST).unwrap();
    found.into_iter().map(|finding| (finding.code, finding.message)).collect()
}

#[test]
fn nothing_is_found_in_what_ptxas_scheduled() {
    let (mut unchecked, mut wrong) = (0, Vec::new());
    for (name, bytes) in cubins() {
        for (code, message) in codes(&bytes) {
            match code {
                "SASS0031" => unchecked += 1,
                _ => wrong.push(format!("{name}: {message}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // heap, recursive and virtual lead where nothing says.
    assert_eq!(unchecked, 6);
}

#[test]
fn what_ptxas_wrote_is_valid() {
    for (name, bytes) in cubins() {
        let (findings, _) = Cubin::parse(&bytes).unwrap().check();
        let wrong: Vec<_> = findings.iter().filter(|finding| finding.severity != Severity::Note).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

/// As ptxas 12.9 schedules them for sm_50: with a first factor of 32 bits it counts on a barrier, otherwise on none.
#[test]
fn products_of_words_set_a_barrier() {
    let faults = |operands: &str| check(&format!(".target sm_50\nVMAD{operands} &wr=1 ?W1G;")).len();
    for wide in [
        " R0, R1, R2, R3",
        " R0, R1, 0x5, R3",
        ".U32.U32 R0, R1, R2, R3",
        ".S32.U32.SHR_7 R0, R1, R2, R3",
        ".U32.S16 R0, R1, 0x5, R3",
    ] {
        assert_eq!(faults(wide), 0, "{wide}");
    }
    for narrow in [".U16.U16 R0, R1, R2, R3", ".S16.U8 R0, R1.H1, R2.B2, R3", ".U16.U16 R0, R1, 0x5, R3"] {
        assert_eq!(faults(narrow), 1, "{narrow}");
    }
}

/// A control word with one slot changed.
fn with_slot(control: u64, place: usize, slot: Slot) -> u64 {
    let mut slots = Control(control).slots();
    slots[place] = slot;
    Control::of(slots).0 | control & 1 << 63
}

/// A cubin with some waits for a barrier taken out of a kernel's slots, and how many they were.
fn without(bytes: &[u8], kernel: &Kernel, barrier: u32, chosen: impl Fn(usize) -> bool) -> (Vec<u8>, usize) {
    let (mut changed, mut taken) = (bytes.to_vec(), 0);
    for (bundle, words) in kernel.words.chunks_exact(4).enumerate() {
        let mut control = words[0];
        for (place, slot) in Control(words[0]).slots().into_iter().enumerate() {
            if slot.wait() >> barrier & 1 != 0 && chosen(4 * bundle + place + 1) {
                control = with_slot(control, place, slot.with(fields::WAIT, slot.wait() & !(1 << barrier)));
                taken += 1;
            }
        }
        let at = kernel.offset + 32 * bundle;
        changed[at..at + 8].copy_from_slice(&control.to_le_bytes());
    }
    (changed, taken)
}

/// The kernels that are checked, with their files.
fn checked() -> Vec<(Vec<u8>, Kernel)> {
    // The last four have waits of their own that were not examined one by one.
    let refused = ["heap", "recursive", "virtual", "textures", "surfaces", "carries", "nans", "roots", "sums"];
    // Unoptimised code waits everywhere for everything.
    let is_checked = |name: &str| !name.contains(".O0.") && !refused.iter().any(|refused| name.starts_with(refused));
    let cubins = cubins().into_iter().filter(|(name, _)| is_checked(name));
    let kernels = |bytes: Vec<u8>| {
        let kernels = Cubin::parse(&bytes).unwrap().kernels;
        kernels.into_iter().map(move |kernel| (bytes.clone(), kernel))
    };
    cubins.flat_map(|(_, bytes)| kernels(bytes)).collect()
}

/// The waits that nothing is found without: for a source where the result of the same instruction is waited for as well,
/// for a result without a barrier of its own where a later one of its unit is waited for too, or for one that nothing
/// reads, as of `ATOMS.ADD RZ`.
const NEEDLESS: usize = 164;

#[test]
fn every_wait_that_is_taken_out_is_found() {
    let (mut taken, mut missed) = (0, 0);
    for (bytes, kernel) in checked() {
        for at in 0..kernel.words.len() {
            for barrier in 0..6 {
                let (planted, count) = without(&bytes, &kernel, barrier, |word| word == at);
                if count > 0 {
                    taken += 1;
                    missed += usize::from(cubin_hazards(&planted, Some(&kernel.name), LARGEST).unwrap().is_empty());
                }
            }
        }
    }
    assert_eq!((taken, missed), (2756, NEEDLESS));
}

#[test]
fn a_barrier_that_is_waited_for_nowhere_is_found() {
    let (mut taken, mut missed) = (0, Vec::new());
    for (bytes, kernel) in checked() {
        for barrier in 0..6 {
            let (planted, count) = without(&bytes, &kernel, barrier, |_| true);
            if count > 0 {
                taken += 1;
                if cubin_hazards(&planted, Some(&kernel.name), LARGEST).unwrap().is_empty() {
                    missed.push(format!("{} {barrier}", kernel.name));
                }
            }
        }
    }
    // It is that of atomics whose result goes to RZ.
    assert_eq!((taken, missed), (468, vec!["histogram 2".to_owned(); 2]));
}

/// The field of a result's barrier may name a seventh, on which nothing can wait.
#[test]
fn there_is_no_seventh_barrier() {
    let mut planted = 0;
    for (bytes, kernel) in checked() {
        let mut changed = bytes.clone();
        for (bundle, words) in kernel.words.chunks_exact(4).enumerate() {
            let mut control = words[0];
            for (place, slot) in Control(words[0]).slots().into_iter().enumerate() {
                if slot.write_barrier().is_some() {
                    control = with_slot(control, place, slot.with(fields::WRITE_BARRIER, 6));
                    planted += 1;
                }
            }
            let at = kernel.offset + 32 * bundle;
            changed[at..at + 8].copy_from_slice(&control.to_le_bytes());
        }
        let found = cubin_hazards(&changed, Some(&kernel.name), LARGEST).unwrap();
        assert!(found.iter().all(|finding| !finding.help.ends_with("barrier 6")), "{}", kernel.name);
    }
    assert!(planted > 1000, "{planted}");
}

/// What the check says of lines of a kernel, which begins with two f64 numbers and ends with a store of R6.
fn said_of(lines: &[&str]) -> Vec<String> {
    let start = "[B------:R-:W0:-:S01] LDG.E.64 R4, [R2];\n[B0-----:R-:W-:-:S15] ISETP.EQ.AND P0, PT, R4, RZ, PT;";
    let end = "[B------:R-:W-:-:S01] STG.E [R2], R6;\n[B------:R-:W-:-:S15] EXIT;";
    let text = format!(".text.k:\n{start}\n{}\n{end}\n", lines.join("\n"));
    let found = roundonce_sass::listing_hazards(&text, None, LARGEST).unwrap_or_else(|findings| panic!("{findings:?}"));
    found.into_iter().map(|finding| finding.message).collect()
}

/// A later result's barrier tells of those of the same unit before it, of registers and of predicates; so does the one after.
#[test]
fn a_unit_is_in_order() {
    let predicate = "[B------:R-:W-:-:S01] DSETP.GT.AND P1, PT, R4, R4, PT;";
    let [first, second] =
        ["[B------:R-:W1:-:S01] DSET.LT.AND R7, R4, R4, PT;", "[B------:R-:W2:-:S01] DSET.GT.AND R8, R4, R4, PT;"];
    let other = "[B------:R-:W1:-:S01] MUFU.RCP R7, R4;";
    let asks = |wait| format!("[B{wait}:R-:W-:-:S01] @P1 IADD32I R6, R6, 0x1;");
    assert!(said_of(&[predicate, first, &asks("-1----")]).is_empty());
    assert!(said_of(&[predicate, first, second, &asks("--2---")]).is_empty());
    assert_eq!(said_of(&[predicate, first, &asks("------")]).len(), 1);
    assert_eq!(said_of(&[predicate, other, &asks("-1----")]).len(), 1);
}

/// No lane does both.
#[test]
fn guards_that_exclude_each_other_need_no_wait() {
    let sum = "[B------:R1:W2:-:S01] @!P0 DADD R6, R4, R6;";
    let choice = |guard: &str| format!("[B------:R-:W-:-:S01] {guard}SEL R6, R4, RZ, P1;");
    let wait = "[B-12---:R-:W-:-:S01] NOP;";
    assert!(said_of(&[sum, &choice("@P0 "), wait]).is_empty());
    for guard in ["@!P0 ", ""] {
        assert!(!said_of(&[sum, &choice(guard), wait]).is_empty(), "{guard}");
    }
    let changed = "[B------:R-:W-:-:S13] ISETP.EQ.AND P0, PT, R5, RZ, PT;";
    assert!(!said_of(&[sum, changed, &choice("@P0 "), wait]).is_empty());
}
