//! What machine code leaves in registers and predicates whose value is not known, or in part: which instruction may read it.

use roundonce_sass::lower_kernel_listing;

/// What is said of a kernel that has some instructions behind a generic load.
fn refused(lines: &[&str]) -> Vec<String> {
    let head = [
        "MOV R1, c[0x0][0x20]",
        "S2R R0, SR_TID.X",
        "SHL R4, R0, 0x2",
        "IADD R2.CC, R4, c[0x0][0x140]",
        "IADD.X R3, RZ, c[0x0][0x144]",
        "LEA R2.CC, R2, RZ",
        "LEA.HI.X P0, R3, R2, RZ, R3",
        "LD.E R5, [R2], P0",
        "ISETP.GT.AND P1, PT, R5, 0x5, PT",
    ];
    let mut text = String::from(".text.g:\n");
    for line in head.iter().chain(lines).chain(&["ST.E [R2], R5", "EXIT"]) {
        text.push_str(line);
        text.push_str(if line.ends_with(':') { "\n" } else { " ;\n" });
    }
    match lower_kernel_listing(&text, "g", 1 << 12) {
        Ok(program) => {
            program.verify().unwrap();
            Vec::new()
        }
        Err(findings) => findings.into_iter().map(|finding| finding.message).collect(),
    }
}

const WRITE: &str = "@P1 ISETP.NE.AND P0, PT, R5, 0x9, PT";
const READ: &str = "SEL R5, R5, 0x7, P0";
const READ_GUARDED: &str = "@P1 SEL R5, R5, 0x7, P0";

#[test]
fn a_hint_is_read_where_no_write_under_the_same_guard_is_between() {
    let other: &str = "@!P1 ISETP.NE.AND P0, PT, R5, 0x3, PT";
    let guard = "ISETP.LT.AND P1, PT, R5, 0x20, PT";
    for lines in [
        &[WRITE, READ_GUARDED][..],
        &[WRITE, other, READ],
        &[WRITE, "@!P1 EXIT", READ],
        &[WRITE, "@!P1 BRA `(.L_x_1)", READ, ".L_x_1:"],
        // The guard is written where it does not hold: there nothing of the other lanes changes.
        &[WRITE, "@!P1 ISETP.EQ.AND P2, PT, R5, 0x1, PT", READ_GUARDED],
        &["ISETP.NE.AND P0, PT, R5, 0x9, PT", READ],
    ] {
        assert_eq!(refused(lines), [""; 0], "{lines:?}");
    }
    for lines in [
        &[READ][..],
        &[READ_GUARDED],
        &[WRITE, READ],
        &[WRITE, "@!P1 SEL R5, R5, 0x7, P0"],
        &[WRITE, guard, READ_GUARDED],
        &[WRITE, "@P1 EXIT", READ],
        &[WRITE, "@P1 BRA `(.L_x_1)", READ, ".L_x_1:"],
        &["@P0 MOV R5, R4"],
        &[WRITE, "@P0 MOV R5, R4"],
        &["@P2 BRA `(.L_x_1)", WRITE, ".L_x_1:", READ_GUARDED],
    ] {
        let said = refused(lines);
        let names = "reads the predicate that is written at 0x0048, a hint for generic accesses: that is not run";
        assert!(said.len() == 1 && said[0].ends_with(names), "{lines:?}: {said:?}");
    }
}

#[test]
fn kept_condition_codes_are_read_as_such_alone() {
    let (add, keep, restore) = ("IADD R6.CC, R5, R5", "P2R R7, CC, RZ, 0xf", "R2P CC, R7, 0xf");
    let (other, carried) = ("IADD R8.CC, R6, R5", "IADD.X R5, R5, RZ");
    for lines in [
        &[add, keep, other, restore, carried][..],
        &[add, keep, "@P1 BRA `(.L_x_1)", other, ".L_x_1:", restore, carried],
        &[add, keep, "MOV R7, R5", "IADD R5, R7, R7"],
    ] {
        assert_eq!(refused(lines), [""; 0], "{lines:?}");
    }
    for (lines, names) in [
        (&[add, keep, "IADD R5, R7, R7"][..], "`IADD R5, R7, R7` at 0x0078 is not run"),
        (&[add, keep, "@P1 MOV R7, R5", "IADD R5, R7, R7"], "`IADD R5, R7, R7` at 0x0088 is not run"),
        (
            &[add, keep, "@P1 BRA `(.L_x_1)", ".L_x_1:", "IADD R5, R7, R7"],
            "`IADD R5, R7, R7` at 0x0088 reads condition codes that another block left: that is not run",
        ),
        // Whether the carry of a logical operation is kept is not known, nor is a minimum's.
        (&["LOP.AND RZ.CC, R5, R4", keep], "`P2R R7, CC, RZ, 0xf` at 0x0070 is not run"),
    ] {
        assert_eq!(refused(lines), [names], "{lines:?}");
    }
}

/// The carry of three numbers is a count: a sum of three adds it, nothing else.
#[test]
fn counted_carries_go_to_sums_of_three() {
    let add = "IADD3 R6.CC, R5, R4, R0";
    assert_eq!(refused(&[add, "IADD3.X R5, R5, R4, R0"]), [""; 0]);
    assert_eq!(refused(&[add, "IADD.X R5, R5, R4"]), ["`IADD.X R5, R5, R4` at 0x0070 is not run"]);
    assert_eq!(
        refused(&[add, "@P1 BRA `(.L_x_1)", ".L_x_1:", "IADD3.X R5, R5, R4, R0"]),
        ["`IADD3.X R5, R5, R4, R0` at 0x0078 reads condition codes that another block left: that is not run"]
    );
}
