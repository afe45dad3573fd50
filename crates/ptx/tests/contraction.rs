//! The finder of contraction against the assembler: what dev/contraction/record.py recorded of NVIDIA's.

use roundonce_arith::ArithOp;
use roundonce_ir::{Kernel, Op, contract};
use roundonce_ptx::{contractions, lower, parse};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/contraction.tsv");

/// Where the assembler is known to do otherwise: packed halves stay apart across a guarded shuffle, f32 does not.
const EXCEPTIONS: [(&str, &str); 1] = [("f16x2", "@%p2 shfl.sync")];

/// A recorded body as a module; as dev/contraction/record.py writes it but for the loads, which need not be there.
fn module(ty: &str, body: &str) -> String {
    let (prefix, bits) = match ty {
        "f64" => ("%d", 64),
        "f32" => ("%f", 32),
        "f16" | "bf16" => ("%h", 16),
        "f32x2" => ("%b", 64),
        _ => ("%r", 32),
    };
    let mut text = ".version 8.8\n.target sm_100\n.address_size 64\n.func ff() { bar.sync 1; ret; }\n\
        .visible .entry k(.param .u64 p) {\n\
        .reg .pred %p<9>; .reg .f32 %f<40>; .reg .f64 %d<40>; .reg .b16 %h<40>; .reg .b32 %r<40>;\n\
        .reg .b64 %b<40>; .reg .b32 %q<9>; .reg .b64 %x<9>; .reg .u64 %rd<9>;\n\
        ld.param.u64 %rd1,[p];\n"
        .to_owned();
    for word in body.replace(".T ", &format!(".{ty} ")).replace(".R ", &format!(".b{bits} ")).split(' ') {
        match word.strip_prefix('!') {
            Some(number) => text += &format!("st.global.b{bits} [%rd1],{prefix}{number};"),
            None => text += &word.replace('$', prefix),
        }
        text.push(' ');
    }
    text + "\nret;\n}\n"
}

/// How many products, additions and multiply-adds a kernel has.
fn counts(kernel: &Kernel) -> [usize; 3] {
    let mut counts = [0; 3];
    for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
        if let Op::Float { operation, .. } = &instruction.op {
            let kind = match operation.op {
                ArithOp::Mul => 0,
                ArithOp::Add => 1,
                ArithOp::MulAdd | ArithOp::TruncatedMulAdd => 2,
            };
            counts[kind] += 1;
        }
    }
    counts
}

#[test]
fn what_is_fused_is_what_the_assembler_fuses() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        let [ty, body, mul, add, fma, _others @ ..] = &line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let recorded = [mul, add, fma].map(|count| count.parse::<usize>().unwrap());
        let text = module(ty, body);
        let parsed = parse(&text);
        assert_eq!(parsed.findings, [], "{text}");
        let program = lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{text}\n{findings:?}"));
        let mut kernel = program.kernels[0].clone();
        let fused = contract(&mut kernel);
        assert_eq!(fused.len(), contractions(&parsed.module).len(), "{text}");
        let ours = counts(&kernel);
        // Two halves in one register each are computed as one pair of both.
        let same = if ty.ends_with("f16") {
            ours.map(|count| count > 0) == recorded.map(|count| count > 0)
        } else {
            ours == recorded
        };
        checked += 1;
        let excepted = EXCEPTIONS.iter().any(|(of, part)| ty == of && body.contains(part));
        if same == excepted {
            wrong.push(format!("{ty}: {body}: {ours:?}, the assembler {recorded:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 1000, "{checked}");
}

/// Of a loop the finder names what the assembler fuses, and more where the number of iterations is not a constant: what
/// stands before a loop or behind it joins its body only where the loop vanishes.
#[test]
fn what_unrolling_lets_fuse_is_named() {
    let record = include_str!("../../../vectors/edge/ptx/contraction_loops.tsv");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in record.lines().filter(|line| !line.starts_with('#')) {
        let [ty, body, recorded] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let text = module(ty, body);
        let parsed = parse(&text);
        assert_eq!(parsed.findings, [], "{text}");
        // ptxas 12.9 alone fuses `.rn` in f32x2: docs/contraction.md.
        let fused = recorded == "all" || recorded.contains("13.5");
        let ours = !contractions(&parsed.module).is_empty();
        rows += 1;
        if ours != fused && !(ours && body.contains("%p3,%q5,%q1")) {
            wrong.push(format!("{ty}: {body}: {ours}, the assembler {recorded}"));
        }
    }
    assert!(rows > 200 && wrong.is_empty(), "{} of {rows}\n{}", wrong.len(), wrong.join("\n"));
}
