//! `alloca`, `stacksave` and `stackrestore`: alone, in functions, beside the frames of recursive ones.

use roundonce_exec::{Arg, Buffer, FaultKind, Launch, Options, RunError};

/// The words of `out` after a launch of `k` by 32 threads, each with `n` of its own, on a stack of so many bytes.
fn run(functions: &str, body: &str, n: [u32; 32], stack_bytes: u32) -> Result<Vec<u32>, RunError> {
    let text = format!(
        ".version 7.3\n.target sm_75\n.address_size 64\n{functions}\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %x<9>; .reg .u64 %in, %out;\n\
         ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n\
         mov.u32 %r0, %tid.x; mad.wide.u32 %in, %r0, 4, %in; mad.wide.u32 %out, %r0, 4, %out;\n\
         ld.global.u32 %r1, [%in];\n{body}\nst.global.u32 [%out], %r2;\nret;\n}}\n"
    );
    let parsed = roundonce_ptx::parse(&text);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let found = roundonce_ptx::check_text(&text, &roundonce_ptx::Options::default());
    assert!(found.iter().all(|finding| finding.severity != roundonce_isa::Severity::Error), "{found:?}");
    let settings = roundonce_ptx::Settings { stack_bytes, ..roundonce_ptx::Settings::default() };
    let program =
        roundonce_ptx::lower_with(&parsed.module, &settings).unwrap_or_else(|findings| panic!("{}", findings[0]));
    let bytes: Vec<u8> = n.iter().flat_map(|n| n.to_le_bytes()).collect();
    let args = vec![Arg::Buffer(Buffer::from_bytes(&bytes)), Arg::Buffer(Buffer::zeros(128))];
    let (grid, block, options) = ([1; 3], [32, 1, 1], Options::default());
    let report = Launch { program: &program, entry: None, grid, block, args, dynamic_shared: 0, options }.run()?;
    Ok(report.buffers[1].as_ref().expect("the output").words().to_vec())
}

fn each(of: impl Fn(u32) -> u32) -> [u32; 32] {
    core::array::from_fn(|thread| of(thread as u32))
}

/// An array whose size each thread chooses, written and read backwards.
#[test]
fn an_array_as_long_as_each_thread_wants() {
    let body = "mul.lo.u32 %r3, %r1, 4; cvt.u64.u32 %x1, %r3; alloca.u64 %x2, %x1; cvta.local.u64 %x3, %x2;\n\
        mov.u32 %r4, 0; mov.u32 %r2, 0;\n\
        FILL: setp.ge.u32 %p1, %r4, %r1; @%p1 bra SUM; mad.lo.u32 %r5, %r4, %r4, %r0;\n\
        mad.wide.u32 %x4, %r4, 4, %x3; st.u32 [%x4], %r5; add.u32 %r4, %r4, 1; bra FILL;\n\
        SUM: setp.eq.u32 %p1, %r4, 0; @%p1 bra DONE; sub.u32 %r4, %r4, 1;\n\
        mad.wide.u32 %x4, %r4, 4, %x2; ld.local.u32 %r5, [%x4]; mad.lo.u32 %r2, %r2, 3, %r5; bra SUM;\n\
        DONE:";
    let n = each(|thread| thread * 7 % 40);
    let expected = core::array::from_fn::<u32, 32, _>(|thread| {
        let squares = (0..n[thread]).rev().map(|k| k * k + thread as u32);
        squares.fold(0, |sum: u32, square| sum.wrapping_mul(3).wrapping_add(square))
    });
    assert_eq!(run("", body, n, 16 << 10).unwrap(), expected);
}

/// Addresses: aligned as they say, down from the upper end, apart by the sizes rounded up; `.u32` gives the same ones.
#[test]
fn addresses_and_alignment() {
    let apart = |first: &str, second: &str| {
        let body = format!("stacksave.u64 %x8; {first} {second} sub.u64 %x3, %x1, %x2; cvt.u32.u64 %r2, %x3;");
        run("", &body, [0; 32], 16 << 10).unwrap()[31]
    };
    assert_eq!(apart("alloca.u64 %x1, 5;", "alloca.u64 %x2, 1;"), 8);
    assert_eq!(apart("alloca.u64 %x1, 16;", "alloca.u64 %x2, 20, 1;"), 24);
    assert_eq!(apart("alloca.u64 %x1, 1, 256;", "alloca.u64 %x2, 0;"), 0);
    assert_eq!(apart("alloca.u64 %x1, 1, 256;", "alloca.u64 %x2, 1, 128;"), 128);
    assert_eq!(apart("alloca.u64 %x1, 1, 4096;", "and.b64 %x2, %x1, -4096;"), 0);
    assert_eq!(apart("alloca.u32 %r4, 24;", "cvt.u64.u32 %x2, %r4; mov.u64 %x1, %x8;"), 24);
    assert_eq!(apart("stacksave.u32 %r4;", "cvt.u64.u32 %x2, %r4; mov.u64 %x1, %x8;"), 0);
    // Where the guard does not hold nothing is taken.
    let guarded = "setp.eq.u32 %p1, %r0, 5; stacksave.u64 %x8; @%p1 alloca.u64 %x1, 64;";
    let body = format!("{guarded} stacksave.u64 %x2; sub.u64 %x3, %x8, %x2; cvt.u32.u64 %r2, %x3;");
    assert_eq!(run("", &body, [0; 32], 16 << 10).unwrap(), each(|thread| if thread == 5 { 64 } else { 0 }));
}

/// A loop that takes 1 KiB a turn: for ever where the stack is restored, and as often as it fits where it is not.
#[test]
fn what_is_restored_is_free_again() {
    let turns = |restore: &str| {
        format!(
            "stacksave.u64 %x1; mov.u32 %r2, 0;\n\
             TURN: alloca.u64 %x2, 1024; st.local.u32 [%x2], %r2; {restore} add.u32 %r2, %r2, 1;\n\
             setp.lt.u32 %p1, %r2, %r1; @%p1 bra TURN;"
        )
    };
    let n = each(|thread| 16 * (thread % 2) + 1);
    assert_eq!(run("", &turns("stackrestore.u64 %x1;"), n, 16 << 10).unwrap(), n);
    assert_eq!(
        run("", &turns("stackrestore.u32 %r7;").replace("TURN:", "cvt.u32.u64 %r7, %x1; TURN:"), n, 16 << 10).unwrap(),
        n
    );
    assert_eq!(run("", &turns(""), [16; 32], 16 << 10).unwrap(), [16; 32]);
    let error = run("", &turns(""), n, 16 << 10).unwrap_err();
    assert_eq!((error.kind, error.thread), (FaultKind::Trap, Some(([0; 3], [1, 0, 0]))));
    let text = error.to_string();
    assert!(text.contains("alloca.u64 %x2, 1024"), "{text}");
    assert!(text.contains("the stack of 16384 bytes is full: `k` allocates too much"), "{text}");
    // Sizes as large as numbers are.
    for size in ["-1", "0x8000000000000000", "16385"] {
        let error = run("", &format!("alloca.u64 %x1, {size}; mov.u32 %r2, 0;"), n, 16 << 10).unwrap_err();
        assert_eq!(error.kind, FaultKind::Trap, "{size}: {error}");
    }
    let whole = "alloca.u64 %x1, 16384; st.local.u32 [%x1], 7; ld.local.u32 %r2, [%x1];";
    assert_eq!(run("", whole, n, 16 << 10).unwrap(), [7; 32]);
}

/// `sum(n)`: marks a variable of its own, allocates 16 n bytes, marks both ends, calls itself with n - 1, and adds up
/// all marks: 1003 n.
const SUM: &str = "
.func (.param .b32 out) sum (.param .b32 n)
{
    .reg .b32 %n, %low, %high, %below;
    .reg .b64 %size, %at, %end;
    .reg .pred %p;
    .local .align 8 .b8 own[64];
    ld.param.b32 %n, [n];
    st.local.u32 [own], %n;
    st.local.u32 [own+60], %n;
    mov.b32 %below, 0;
    setp.eq.u32 %p, %n, 0;
    @%p bra DONE;
    mul.wide.u32 %size, %n, 16;
    alloca.u64 %at, %size, 16;
    add.u64 %end, %at, %size;
    st.local.u32 [%at], %n;
    mul.lo.u32 %low, %n, 1000;
    st.local.u32 [%end+-4], %low;
    sub.u32 %low, %n, 1;
    {
        .param .b32 argument;
        .param .b32 result;
        st.param.b32 [argument], %low;
        call (result), sum, (argument);
        ld.param.b32 %below, [result];
    }
    ld.local.u32 %low, [%at];
    ld.local.u32 %high, [%end+-4];
    add.u32 %below, %below, %low;
    add.u32 %below, %below, %high;
    ld.local.u32 %low, [own];
    ld.local.u32 %high, [own+60];
    add.u32 %below, %below, %low;
    add.u32 %below, %below, %high;
DONE:
    st.param.b32 [out], %below;
    ret;
}";

const CALL: &str = "{ .param .b32 argument; .param .b32 result; st.param.b32 [argument], %r1;
    call (result), sum, (argument); ld.param.b32 %r2, [result]; }";

/// Frames from one end, allocations from the other: none overwrites another, and all is given back.
#[test]
fn recursion_that_allocates() {
    let n = each(|thread| thread % 20);
    let expected = n.map(|n| 1003 * n * (n + 1) / 2);
    assert_eq!(run(SUM, CALL, n, 16 << 10).unwrap(), expected);
    // What the caller allocated before is still there, and the stack is where it was.
    let around = format!(
        "stacksave.u64 %x1; alloca.u64 %x2, 8; st.local.u32 [%x2], %r1; stacksave.u64 %x3;\n{CALL}\n\
         stacksave.u64 %x4; sub.u64 %x4, %x3, %x4; cvt.u32.u64 %r3, %x4; ld.local.u32 %r4, [%x2];\n\
         add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;"
    );
    let with_n: Vec<u32> = n.iter().zip(expected).map(|(n, sum)| n + sum).collect();
    assert_eq!(run(SUM, &around, n, 16 << 10).unwrap(), with_n);
    // 200 calls take 16 * 200 * 201 / 2 bytes, more than there are.
    let error = run(SUM, CALL, [200; 32], 16 << 10).unwrap_err();
    assert_eq!(error.kind, FaultKind::Trap);
    assert!(error.message.starts_with("the stack of 16384 bytes is full: `sum` "), "{error}");
    assert_eq!(run(SUM, CALL, [200; 32], 1 << 19).unwrap(), [1003 * 200 * 201 / 2; 32]);
    // On a stack that is almost too small nothing overwrites anything either.
    let outcomes = (0..1024).step_by(8).map(|bytes| match run(SUM, CALL, [3; 32], bytes) {
        Ok(found) => {
            assert_eq!(found, [1003 * 6; 32], "{bytes} bytes");
            true
        }
        Err(error) => {
            assert_eq!(error.kind, FaultKind::Trap, "{bytes} bytes: {error}");
            false
        }
    });
    let fits: Vec<bool> = outcomes.collect();
    assert!(fits.is_sorted() && !fits[(16 * (3 + 2 + 1)) / 8 - 1] && fits[127], "{fits:?}");
}

/// A function that is inlined gives back what it took, each time it returns.
#[test]
fn inlined_functions_give_back() {
    let take = ".func (.param .b32 out) take (.param .b32 n)\n{ .reg .b32 %n; .reg .b64 %at; ld.param.b32 %n, [n];\n\
        alloca.u64 %at, 4096; st.local.u32 [%at+4092], %n; ld.local.u32 %n, [%at+4092]; st.param.b32 [out], %n; ret; }";
    let body = "mov.u32 %r3, 0; mov.u32 %r2, 0;\n\
        TURN: { .param .b32 argument; .param .b32 result; st.param.b32 [argument], %r3;\n\
        call (result), take, (argument); ld.param.b32 %r4, [result]; }\n\
        add.u32 %r2, %r2, %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra TURN;";
    let n = each(|thread| thread + 1);
    assert_eq!(run(take, body, n, 16 << 10).unwrap(), n.map(|n| n * (n - 1) / 2));
}

/// Another alignment than a power of two, and an address wider than the module's, are refused.
#[test]
fn what_is_refused() {
    let lower = |size: u32, line: &str| {
        let text = format!(
            ".version 7.3\n.target sm_75\n.address_size {size}\n.entry k () {{ .reg .b64 %x<3>; {line} ret; }}"
        );
        let parsed = roundonce_ptx::parse(&text);
        roundonce_ptx::lower(&parsed.module, None).map_err(|findings| findings[0].to_string())
    };
    for align in ["0", "3", "16777216"] {
        let found = lower(64, &format!("alloca.u64 %x1, 8, {align};")).unwrap_err();
        assert!(found.contains("an alignment is a power of two, 8388608 at most"), "{found}");
    }
    assert!(lower(64, "alloca.u64 %x1, 8, 8388608;").is_ok());
    assert!(lower(32, "alloca.u64 %x1, 8;").unwrap_err().contains("`alloca.u64` cannot be run"));
}

/// An alias is the function: in calls, in its own calls of itself, and as an address.
#[test]
fn functions_by_another_name() {
    let functions = ".func (.reg .b32 o) g(.reg .b32 x);\n.func (.reg .b32 o) f(.reg .b32 x)\n{\n\
        .reg .pred p; .reg .b32 t; mov.u32 o, 7; setp.eq.u32 p, x, 0; @p ret; sub.u32 t, x, 1;\n\
        call (t), g, (t); add.u32 o, t, 3; ret;\n}\n.alias g, f;\n\
        .func (.reg .b32 o) twice(.reg .b32 x);\n.func (.reg .b32 o) double(.reg .b32 x) { add.u32 o, x, x; ret; }\n\
        .alias twice, double;";
    let address = "mov.u64 %x1, g; P: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r2), %x1, (%r1), P;";
    let n = each(|thread| thread % 9);
    for body in ["call (%r2), g, (%r1);", address] {
        assert_eq!(run(functions, body, n, 16 << 10).unwrap(), n.map(|n| 7 + 3 * n), "{body}");
    }
    assert_eq!(run(functions, "call (%r2), twice, (%r1);", n, 16 << 10).unwrap(), n.map(|n| 2 * n));
}

/// Functions of as many parameters, but of other sizes: a call through an address is that of those that its prototype describes, or that
/// its list names.
#[test]
fn addresses_of_functions_of_several_types() {
    let functions = ".func (.param .b32 o) f(.param .b32 x, .param .b32 y) { .reg .b32 a, b; ld.param.u32 a, [x]; ld.param.u32 b, [y];\n\
        mad.lo.u32 a, a, 3, b; st.param.b32 [o], a; ret; }\n\
        .func (.param .b32 o) wide(.param .b64 x, .param .b32 y) { st.param.b32 [o], 1; ret; }\n\
        .func (.param .b64 o) result(.param .b32 x, .param .b32 y) { st.param.b64 [o], 2; ret; }\n\
        .func (.param .b32 o) struct(.param .align 4 .b8 x[12], .param .b32 y) { st.param.b32 [o], 3; ret; }\n\
        .func (.reg .b32 o) same();\n.func (.reg .b32 o) bare() { mov.u32 o, 5; ret; }\n.func (.reg .b32 o) other() { mov.u32 o, 6; ret; }\n.alias same, bare;";
    let n = each(|thread| thread % 9);
    let taken = "mov.u64 %x2, wide; mov.u64 %x2, result; mov.u64 %x2, struct;";
    let call = "{ .param .b32 a, b, r; st.param.b32 [a], %r1; st.param.b32 [b], 7;\n\
        P: .callprototype (.param .u32 _) _ (.param .u32 _, .param .f32 _); call (r), %x1, (a, b), P; ld.param.u32 %r2, [r]; }";
    let body = |callee: &str| format!("{taken} mov.u64 %x1, {callee}; {call}");
    assert_eq!(run(functions, &body("f"), n, 16 << 10).unwrap(), n.map(|n| 3 * n + 7));
    for callee in ["wide", "result", "struct"] {
        let found = run(functions, &body(callee), n, 16 << 10).unwrap_err();
        assert!(found.message.contains("the address called is that of no such function"), "{callee}: {found}");
    }
    let listed =
        |callee: &str| format!("mov.u64 %x2, other; mov.u64 %x1, {callee}; L: .calltargets same; call (%r2), %x1, L;");
    assert_eq!(run(functions, &listed("bare"), n, 16 << 10).unwrap(), n.map(|_| 5));
    assert!(run(functions, &listed("other"), n, 16 << 10).is_err());
}
