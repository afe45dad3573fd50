//! Real modules become programs.

use roundonce_ptx::{Settings, lower, lower_each, lower_with, parse};

/// Every module of tests/kernels.
#[test]
fn kernels_lower() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let text = std::fs::read_to_string(&path).unwrap();
            let parsed = parse(&text);
            assert!(parsed.findings.is_empty(), "{path:?}: {:?}", parsed.findings);
            if let Err(findings) = lower(&parsed.module, None) {
                panic!("{path:?}: {}", findings[0]);
            }
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}

/// `.file` and `.loc` say what an instruction was compiled from.
#[test]
fn instructions_know_their_source() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 3 \"/home/somebody/axpy.cu\", 1, 2\n\
        .visible .entry k(.param .f32 a) {\n.reg .f32 %f<4>;\nld.param.f32 %f1, [a];\n.loc 3 7 12\n\
        add.f32 %f2, %f1, %f1;\n.loc 4 1 2\nadd.f32 %f3, %f2, %f1;\nret;\n}\n";
    let program = lower(&parse(text).module, None).unwrap();
    let sources: Vec<(u32, &str)> =
        program.kernels[0].source_locs.iter().map(|place| (place.line, place.source.as_str())).collect();
    assert_eq!(sources, [(0, ""), (7, ""), (9, "axpy.cu:7:12"), (11, ":1:2"), (12, ":1:2")]);
}

/// `L<3>` names three labels or functions, wherever they are asked for.
#[test]
fn ranges_of_targets_are_their_names() {
    let lowered = |labels: &str, functions: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.func g0() {{ ret; }}\n.func g1() {{ trap; }}\n.func g2() {{ ret; }}\n\
             .visible .entry k() {{\n.reg .b32 %r;\n.reg .b64 %q;\nmov.u32 %r, %tid.x;\nmov.u64 %q, g2;\nmov.u64 %q, g0;\nmov.u64 %q, g1;\n\
             ts: .branchtargets {labels};\nfs: .calltargets {functions};\nbrx.idx %r, ts;\nL0: ret;\nL1: trap;\n\
             L2: call %q, (), fs;\nret;\n}}\n"
        );
        let parsed = parse(&text);
        assert_eq!(parsed.findings, []);
        format!("{:?}", lower(&parsed.module, None).unwrap().kernels[0].blocks)
    };
    assert_eq!(lowered("L<3>", "g<2>"), lowered("L0, L1, L2", "g0, g1"));
    assert_ne!(lowered("L<2>", "g<2>"), lowered("L0, L1, L2", "g0, g1"));
    assert_ne!(lowered("L<3>", "g<3>"), lowered("L0, L1, L2", "g0, g1"));
}

/// What a kernel's jumps may lead to counts as its operations do: a table is written once and used many times.
#[test]
fn targets_of_jumps_count() {
    let jumps = |count: usize| {
        let labels: Vec<String> = (0..100).map(|index| format!("L{index}")).collect();
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\n\
             ts: .branchtargets {};\n{}{}:\nret;\n}}\n",
            labels.join(","),
            "brx.idx %r, ts;\n".repeat(count),
            labels.join(":\n")
        )
    };
    let lowered = |count: usize| {
        let text = jumps(count);
        let settings = Settings { largest_kernel: 2_000, ..Settings::default() };
        lower_with(&parse(&text).module, &settings).map_err(|findings| findings[0].message.clone())
    };
    assert!(lowered(10).is_ok());
    let refused = lowered(100).unwrap_err();
    assert!(refused.contains("more than 2000 operations and blocks"), "{refused}");
}

/// Kernels that call a chain of functions each have its operations: all of them are refused where they have too many together, and any
/// one of them is not.
#[test]
fn kernels_are_bounded_together() {
    let mut text = ".version 8.0\n.target sm_80\n.address_size 64\n.func f0() { ret; }\n".to_owned();
    for number in 1..60 {
        text += &format!(
            ".func f{number}() {{ .reg .f32 %f<3>; fma.rn.f32 %f1, %f2, %f2, %f2; call f{}; ret; }}\n",
            number - 1
        );
    }
    for number in 0..60 {
        text += &format!(".entry k{number}() {{ call f59; ret; }}\n");
    }
    let parsed = parse(&text);
    let settings = Settings { largest_kernel: 1_000, ..Settings::default() };
    let refused = lower_with(&parsed.module, &settings).unwrap_err();
    let is_named =
        |message: &str| message.contains("operations and blocks together, their calls inlined, cannot be run");
    assert!(refused.len() == 1 && is_named(&refused[0].message), "{refused:?}");
    let each = lower_each(&parsed.module, &settings).unwrap();
    assert!(each.len() == 60 && each.iter().all(|(_, kernel)| is_named(&kernel.as_ref().unwrap_err()[0].message)));
    assert!(lower_with(&parsed.module, &Settings { entry: Some("k7"), ..settings }).is_ok());
    assert!(lower_with(&parsed.module, &Settings { largest_kernel: 10_000, ..settings }).is_ok());
}
