//! Special registers of four numbers as vectors: the fourth is 0.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};

const TEXT: &str = "
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .u64 %rd<3>;
    .reg .u32 %r<12>;
    .reg .v4 .u32 %v, %w;
    ld.param.u64 %rd0, [out];
    mov.v4.u32 {%r0, %r1, %r2, %r3}, %tid;
    mov.v4.u32 {%r4, %r5, %r6, %r7}, %ntid;
    mov.v4.u32 %v, %ctaid;
    mov.v4.u32 %w, %nctaid;
    mad.lo.u32 %r8, %r1, %r4, %r0;
    mad.lo.u32 %r8, %v.x, 6, %r8;
    mul.wide.u32 %rd1, %r8, 64;
    add.u64 %rd0, %rd0, %rd1;
    st.global.v4.u32 [%rd0], {%r0, %r1, %r2, %r3};
    st.global.v4.u32 [%rd0+16], {%r4, %r5, %r6, %r7};
    st.global.v4.u32 [%rd0+32], %v;
    st.global.v4.u32 [%rd0+48], %w;
    ret;
}
";

#[test]
fn vectors_of_special_registers() {
    let parsed = roundonce_ptx::parse(TEXT);
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let program = roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]));
    for engine in [Engine::Interpreter, Engine::Native] {
        let options = Options { engine, step_limit: 1 << 20, ..Options::default() };
        let args = vec![Arg::Buffer(Buffer::from_words(vec![7; 12 * 16]))];
        let (grid, block) = ([2, 1, 1], [3, 2, 1]);
        let report =
            Launch { program: &program, entry: None, grid, block, args, dynamic_shared: 0, options }.run().unwrap();
        let words = report.buffers[0].as_ref().unwrap().words();
        assert_eq!(words[..16], [0, 0, 0, 0, 3, 2, 1, 0, 0, 0, 0, 0, 2, 1, 1, 0], "{engine:?}");
        assert_eq!(words[11 * 16..], [2, 1, 0, 0, 3, 2, 1, 0, 1, 0, 0, 0, 2, 1, 1, 0], "{engine:?}");
    }
}
