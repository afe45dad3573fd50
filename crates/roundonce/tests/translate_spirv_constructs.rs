//! Constructs of PTX that no kernel of tests/kernels has, as SPIR-V: the same buffers; and what a translation says beside
//! its text.

#[path = "translation/validate.rs"]
mod validate;

use roundonce::exec::{Arg, Buffer, Engine, Launch, Options, Report};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Argument, Comments, Options as Translating, Translation, spirv};
use roundonce::translation::translated_arguments;

const THREADS: usize = 64;

fn module(variables: &str, params: &str, body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n{variables}\n.visible .entry k(.param .u64 x, .param .u64 y{params})\n{{\n\
         .reg .pred p, q;\n.reg .b16 h<9>;\n.reg .b32 r<30>;\n.reg .f32 f<9>;\n.reg .b64 d<30>;\n\
         ld.param.u64 d1, [x];\nld.param.u64 d2, [y];\nmov.u32 r1, %tid.x;\nmul.wide.u32 d3, r1, 8;\n\
         add.u64 d1, d1, d3;\nadd.u64 d2, d2, d3;\nld.global.u32 r2, [d1];\nld.global.u32 r3, [d1+4];\n{body}\nret;\n}}\n"
    )
}

fn read(text: &str) -> Ready {
    Ready::read(Source::Ptx(text), &Choice::default()).unwrap_or_else(|why| panic!("{why:?}\n{text}"))
}

fn run(ready: &Ready, threads: u32, args: Vec<Arg>, shared: u32) -> Report {
    let options = Options { engine: Engine::Native, profile: ready.profile, ..Options::default() };
    let (grid, block) = ([2, 1, 1], [threads, 1, 1]);
    let launch = Launch { program: &ready.program, entry: None, grid, block, args, dynamic_shared: shared, options };
    launch.run().unwrap_or_else(|error| panic!("{error:?}"))
}

/// Words for the buffer `x`.
fn words() -> Vec<u32> {
    let mut state = 12_345u32;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 3
    };
    (0..2 * THREADS).map(|_| word()).collect()
}

/// Runs a kernel and its translation for an environment on `x`, `y` and more arguments.
fn compare_for(environment: &str, text: &str, more: &[Arg], shared: u32) -> Translation {
    compare_of(THREADS as u32, environment, text, more, shared)
}

/// The same with so many threads a block.
fn compare_of(threads: u32, environment: &str, text: &str, more: &[Arg], shared: u32) -> Translation {
    let ready = read(text);
    let options = Translating { environment: Some(environment.parse().unwrap()), ..Translating::default() };
    let translation = spirv::write(&ready.program, &options).unwrap_or_else(|findings| panic!("{findings:#?}\n{text}"));
    let after = Ready::read(Source::SpirvText(&translation.text), &Choice::default());
    let after = after.unwrap_or_else(|why| panic!("{why:?}\n{}", translation.text));
    let version = translation.text.lines().find_map(|line| line.strip_prefix("; Version: ")).expect("its version");
    validate::validate("construct", &translation.text, environment, &format!("spv{version}"));
    let buffers = [Arg::Buffer(Buffer::from_words(words())), Arg::Buffer(Buffer::from_words(vec![7; 4 * THREADS]))];
    let args = [&buffers, more].concat();
    let (given, dynamic) = translated_arguments(ready.kernel(), &translation.arguments[0], &args, shared);
    let (before, after) = (run(&ready, threads, args, shared), run(&after, threads, given, dynamic));
    for (place, argument) in translation.arguments[0].iter().enumerate() {
        if let (Argument::Param(param), Some(found)) = (argument, &after.buffers[place]) {
            let wanted = before.buffers[*param].as_ref().unwrap();
            assert_eq!(wanted.words(), found.words(), "argument {param} of\n{text}\n{}", translation.text);
        }
    }
    let changed = before.buffers[1].as_ref().unwrap().words().iter().any(|&word| word != 7);
    assert!(changed, "nothing is written by\n{text}");
    translation
}

fn compare(text: &str) -> Translation {
    compare_for("opencl2.2", text, &[], 0)
}

#[test]
fn structures_by_value() {
    let params = ", .param .align 8 .b8 s[24], .param .u8 b, .param .f32 f, .param .b64 w";
    let body = "ld.param.u64 d4, [s+8];\nld.param.u16 h1, [s+6];\nld.param.s8 r4, [s+17];\nld.param.u8 h2, [b];\n\
                ld.param.f32 f1, [f];\nld.param.u32 r5, [w+4];\ncvt.u32.u64 r6, d4;\nxor.b32 r6, r6, r5;\n\
                cvt.u32.u16 r7, h1;\nadd.u32 r6, r6, r7;\nadd.s32 r6, r6, r4;\ncvt.u32.u16 r7, h2;\nadd.u32 r6, r6, r7;\n\
                mov.b32 r7, f1;\nxor.b32 r6, r6, r7;\nadd.u32 r6, r6, r2;\nst.global.u32 [d2], r6;";
    let bytes = (0..24).map(|byte: u8| byte.wrapping_mul(37) ^ 0x81).collect();
    let more = [Arg::Bytes(bytes), Arg::Scalar(0xf1), Arg::Scalar(0x3fc0_0001), Arg::Scalar(0x0123_4567_89ab_cdef)];
    compare_for("opencl2.2", &module("", params, body), &more, 0);
}

#[test]
fn shared_memory() {
    let body = "mul.lo.u32 r4, r1, 4;\nmov.u32 r5, s;\nadd.u32 r5, r5, r4;\nst.shared.u32 [r5], r2;\nst.shared.u8 [r5+256], r3;\n\
                bar.sync 0;\nxor.b32 r6, r4, 60;\nmov.u32 r7, s;\nadd.u32 r7, r7, r6;\nld.shared.u32 r8, [r7];\n\
                ld.shared.s8 r9, [r7+256];\nadd.u32 r8, r8, r9;\nld.shared.u32 r9, [s+8];\nadd.u32 r8, r8, r9;\nst.global.u32 [d2], r8;";
    compare(&module(".shared .align 16 .b8 s[1024];", "", body));
    // Of a size that the launch gives, alone and behind what the kernel declares.
    let dynamic = compare_for("opencl2.2", &module(".extern .shared .align 16 .b8 s[];", "", body), &[], 1024);
    assert_eq!(dynamic.arguments[0][2], Argument::DynamicShared);
    let variables = ".extern .shared .align 16 .b8 s[];\n.shared .align 4 .b8 t[64];";
    let body = format!("mov.u32 r10, t;\nst.shared.u32 [r10+4], 5;\n{body}");
    let all = compare_for("opencl2.2", &module(variables, "", &body), &[], 1024);
    assert_eq!(all.arguments[0][2], Argument::AllShared);
}

#[test]
fn generic_addresses_and_local_memory() {
    let body = "mul.lo.u32 r4, r1, 4;\nmov.u32 r5, s;\nadd.u32 r5, r5, r4;\ncvt.u64.u32 d5, r5;\ncvta.shared.u64 d6, d5;\n\
                st.u32 [d6], r2;\nmov.u64 d7, l;\nst.local.v2.u32 [d7], {r2, r3};\ncvta.local.u64 d8, d7;\nand.b32 r6, r2, 4;\n\
                cvt.u64.u32 d9, r6;\nadd.u64 d9, d9, d8;\nld.u32 r7, [d9];\nld.shared.u32 r8, [r5];\nadd.u32 r7, r7, r8;\n\
                cvta.to.local.u64 d10, d9;\nld.local.u32 r9, [d10];\nadd.u32 r7, r7, r9;\nst.u32 [d2], r7;";
    let body = format!(".local .align 8 .b8 l[16];\n{body}");
    let translation = compare(&module(".shared .align 4 .b8 s[256];", "", &body));
    assert!(translation.text.contains("OpPtrCastToGeneric"));
}

#[test]
fn variables_with_initial_values() {
    let many: Vec<String> = (0..5000).map(|at| ((at * 2_654_435_761u64) & 0xffff_ffff).to_string()).collect();
    let variables = format!(
        ".const .align 4 .u32 c[5000] = {{{}}};\n.global .align 8 .u16 g[7] = {{1, 2, 3}};\n.global .align 4 .u32 z[9000];",
        many.join(", ")
    );
    let body = "and.b32 r4, r2, 4095;\nmul.wide.u32 d4, r4, 4;\nmov.u64 d5, c;\nadd.u64 d5, d5, d4;\nld.const.u32 r5, [d5+3616];\n\
                ld.global.u16 h1, [g+4];\ncvt.u32.u16 r6, h1;\nadd.u32 r5, r5, r6;\nld.global.u32 r7, [z+35996];\nadd.u32 r5, r5, r7;\n\
                st.global.u32 [d2], r5;";
    compare(&module(&variables, "", body));
    let constant = ".const .align 4 .u32 c[4] = {9, 8, 7, 6};";
    let body = "and.b32 r4, r2, 3;\nmul.wide.u32 d4, r4, 4;\nmov.u64 d5, c;\nadd.u64 d5, d5, d4;\nld.const.u32 r5, [d5];\n\
                st.global.u32 [d2], r5;";
    // What has no counterpart and no kernel names is left out.
    let unnamed = format!("{constant}\n.global .u64 p = generic(c);\n.global .u32 late = 7;");
    let unnamed = compare(&module(&unnamed, "", body));
    assert!(unnamed.text.contains("%late = OpVariable ") && !unnamed.text.contains("OpName %p "), "{}", unnamed.text);
    let old = compare_for("opencl1.2", &module(&format!("{constant}\n.global .u32 late;"), "", body), &[], 0);
    assert!(old.text.contains("; Version: 1.0\n") && old.text.contains(" UniformConstant "));
}

#[test]
fn jumps_by_number_and_guards() {
    let body = "and.b32 r4, r2, 7;\nmov.u32 r5, 0;\nt: .branchtargets A, B, C, D;\nmin.u32 r6, r4, 3;\nbrx.idx r6, t;\n\
                A: add.u32 r5, r5, 100;\nB: add.u32 r5, r5, 10;\nbra E;\nC: add.u32 r5, r5, 1000;\nD: sub.u32 r5, r5, 1;\n\
                E: setp.lt.u32 p, r2, r3;\n@p add.u32 r5, r5, 7;\n@!p ld.global.u32 r5, [d1+4];\n@!p st.global.u32 [d2+4], r5;\n\
                @p mul.lo.u32 r5, r5, 3;\n@!p xor.b32 r5, r5, 0x55;\nsetp.eq.u32 q, r4, 6;\n@q exit;\nst.global.u32 [d2], r5;\n\
                F: add.u32 r5, r5, 1;\nsetp.lt.u32 q, r5, 3000;\n@q bra F;\nst.global.u32 [d2], r5;";
    compare(&module("", "", body));
}

/// Written where a condition holds and read where it holds again: no path says that the write comes first.
#[test]
fn values_that_a_condition_writes() {
    let body = "setp.lt.u32 p, r2, r3;\nmov.u32 r5, 1;\n@!p bra G;\nmul.lo.u32 r20, r2, 5;\nG: bar.sync 0;\n@!p bra H;\n\
                add.u32 r5, r5, r20;\nH: st.global.u32 [d2], r5;";
    let text = compare(&module("", "", body)).text;
    assert_eq!(text.matches(" = OpVariable %ptr_Function_uint Function").count(), 2, "{text}");
}

#[test]
fn atomics() {
    let body = "ld.param.u64 d4, [y];\nand.b32 r4, r2, 4;\ncvt.u64.u32 d5, r4;\nadd.u64 d4, d4, d5;\n";
    let word = |op: &str, rest: &str| format!("atom.global.{op} r5, [d4], r3{rest};\nadd.u32 r6, r6, r5;\n");
    let mut all = format!("{body}mov.u32 r6, 0;\n");
    for op in ["add.u32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.s32", "min.u32", "max.u32", "exch.b32"] {
        all += &word(op, "");
    }
    all += &word("cas.b32", ", r2");
    all += &word("inc.u32", "");
    all += &word("dec.u32", "");
    all += "atom.global.add.f32 r5, [d4], r3;\nred.global.add.u32 [d4], 1;\n";
    all += "st.global.u32 [d2+16], r6;";
    // Blocks take their turns, and so do the lanes of a warp; two warps have no order.
    compare_of(32, "opencl2.2", &module("", "", &all), &[], 0);
    let flushed = format!(
        "{body}mov.b32 f1, r3;\nmul.f32 f1, f1, 0f00000001;\natom.global.add.f32 f2, [d4], f1;\nst.global.f32 [d2+16], f2;"
    );
    compare_of(32, "opencl2.2", &module("", "", &flushed), &[], 0);
    let wide = format!(
        "{body}mov.b64 d6, {{r2, r3}};\nand.b64 d4, d4, -8;\natom.global.add.u64 d7, [d4], d6;\natom.global.max.s64 d8, [d4], d6;"
    );
    compare_for("spv1.2", &module("", "", &wide), &[], 0);
}

#[test]
fn lanes_of_a_warp() {
    let body = "mov.u32 r4, %laneid;\nmov.u32 r5, %lanemask_lt;\nmov.u32 r6, %lanemask_ge;\nmov.u32 r7, %warpid;\n\
                setp.lt.u32 p, r2, r3;\nvote.sync.ballot.b32 r8, p, -1;\nvote.sync.any.pred q, p, -1;\nselp.u32 r9, 1, 2, q;\n\
                vote.sync.uni.pred q, p, -1;\nselp.u32 r10, 4, 8, q;\nand.b32 r11, r2, 31;\n\
                shfl.sync.idx.b32 r12|q, r2, r11, 0x1f, -1;\nselp.u32 r13, 16, 32, q;\nshfl.sync.up.b32 r14|p, r2, r11, 0x1000, -1;\n\
                selp.u32 r15, 64, 128, p;\nshfl.sync.down.b32 r16, r2, 3, 0x181f, -1;\nshfl.sync.bfly.b32 r17, r2, 5, 0x0f0f, -1;\n\
                activemask.b32 r18;\n\
                add.u32 r4, r4, r5;\nadd.u32 r4, r4, r6;\nadd.u32 r4, r4, r7;\nadd.u32 r4, r4, r8;\nadd.u32 r4, r4, r9;\n\
                add.u32 r4, r4, r10;\nadd.u32 r4, r4, r12;\nadd.u32 r4, r4, r13;\nadd.u32 r4, r4, r14;\nadd.u32 r4, r4, r15;\n\
                add.u32 r4, r4, r16;\nadd.u32 r4, r4, r17;\nadd.u32 r4, r4, r18;\nst.global.u32 [d2], r4;";
    let translation = compare(&module("", "", body));
    let codes: Vec<&str> = translation.losses.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["TRN0202"]);
    assert!(translation.text.contains("OpExecutionMode %k SubgroupSize 32\n"));
}

/// What lanes find out about each other's values: few of them, so that some are equal.
#[test]
fn values_of_a_warp() {
    let mut body = String::from(
        "and.b32 r4, r2, 3;\nshr.u32 r5, r1, 5;\ncvt.u64.u32 d4, r4;\nshl.b64 d4, d4, 33;\nmov.u32 r20, 0;\n",
    );
    for (at, line) in [
        "match.any.sync.b32 r6, r4, -1",
        "match.any.sync.b64 r6, d4, -1",
        "match.all.sync.b32 r6|p, r4, -1",
        "match.all.sync.b32 r6|p, r5, -1",
        "match.all.sync.b64 r6|p, d4, -1",
        "redux.sync.add.s32 r6, r2, -1",
        "redux.sync.min.s32 r6, r2, -1",
        "redux.sync.max.u32 r6, r2, -1",
        "redux.sync.and.b32 r6, r2, -1",
        "redux.sync.or.b32 r6, r4, -1",
        "redux.sync.xor.b32 r6, r2, -1",
    ]
    .into_iter()
    .enumerate()
    {
        body += &format!(
            "setp.eq.u32 p, r1, r1;\n{line};\nselp.u32 r7, 3, 5, p;\nmad.lo.u32 r20, r20, {}, r6;\nxor.b32 r20, r20, r7;\n",
            2 * at + 3
        );
    }
    compare(&module("", "", &format!("{body}st.global.u32 [d2], r20;")));
    // A warp whose upper lanes have ended.
    let body = format!("setp.ge.u32 q, r1, 43;\n@q exit;\n{body}st.global.u32 [d2], r20;");
    compare(&module("", "", &body));
    // Numbers of all signs, zeros, subnormals, infinities, and a NaN in some warps.
    let mut floats = String::from("mul.lo.u32 r4, r2, 2654435761;\nmov.b32 f1, r4;\nabs.f32 f2, f1;\n");
    floats += "setp.gt.f32 p, f2, 0f7F800000;\nand.b32 r5, r4, 0x807fffff;\nmov.b32 f2, r5;\nmul.ftz.f32 f3, f2, f1;\n";
    for (at, line) in ["min.f32", "max.f32", "min.NaN.f32", "max.abs.f32", "min.abs.NaN.f32"].into_iter().enumerate() {
        for (half, value) in ["f1", "f2"].into_iter().enumerate() {
            let turned = 2 * at + half;
            floats += &format!(
                "redux.sync.{line} f4, {value}, -1;\nmov.b32 r7, f4;\nshf.l.wrap.b32 r7, r7, r7, {turned};\nxor.b32 r20, r20, r7;\n"
            );
        }
    }
    let text =
        module("", "", &format!("mov.u32 r20, 0;\n{floats}st.global.u32 [d2], r20;")).replace("sm_90", "sm_100a");
    compare(&text);
}

/// Barriers that ask all threads of a block.
#[test]
fn questions_to_a_block() {
    let body = "mov.u32 r20, 0;\nmov.u32 r4, 1;\nL: shl.b32 r5, r1, r4;\nxor.b32 r5, r5, r2;\nshr.u32 r5, r5, 26;\nsetp.lt.u32 p, r5, r4;\n\
                bar.red.popc.u32 r6, 0, p;\nbar.red.and.pred q, 0, p;\nselp.u32 r7, 64, 128, q;\nbar.red.or.pred q, 0, !p;\n\
                selp.u32 r8, 512, 1024, q;\nadd.u32 r6, r6, r7;\nadd.u32 r6, r6, r8;\nmad.lo.u32 r20, r20, 5, r6;\nadd.u32 r4, r4, 3;\n\
                setp.lt.u32 q, r4, 40;\n@q bra L;\nst.global.u32 [d2], r20;";
    compare(&module("", "", body));
}

#[test]
fn atomics_on_packed_floats() {
    // Each lane has words of its own: no order says whose sum is rounded first.
    let mut body = String::from(
        "ld.param.u64 d4, [y];\nmul.wide.u32 d5, r1, 8;\nadd.u64 d4, d4, d5;\nadd.u64 d4, d4, 512;\n\
         and.b32 r4, r2, 0x3fff3fff;\nmov.u32 r6, 0;\n",
    );
    for line in [
        "atom.global.add.noftz.f16x2 r5, [d4], r4",
        "atom.global.add.noftz.bf16x2 r5, [d4+4], r4",
        "atom.global.min.noftz.v2.f16x2 {r5, r7}, [d4], {r4, r3}",
        "atom.global.max.noftz.v2.bf16x2 {r5, r8}, [d4], {r3, r4}",
    ] {
        body += &format!("{line};\nadd.u32 r6, r6, r5;\n");
    }
    compare(&module("", "", &format!("{body}st.global.u32 [d2], r6;")));
}

/// Addresses of 32 bits, as the first compilers had them: in registers of 64, and in those of 32.
#[test]
fn short_addresses() {
    for (ty, wide) in [("u64", "mul.wide.u32 a, t, 8"), ("u32", "mul.lo.u32 a, t, 8")] {
        let text = format!(
            ".version 1.4\n.target sm_13\n.const .align 4 .b8 c[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};\n\
             .entry k (.param .{ty} x, .param .{ty} y)\n{{\n.reg .{ty} a, b, d;\n.reg .u32 t, v, w, p;\n.reg .u16 h;\n.shared .align 4 .b8 s[256];\n\
             cvt.u32.u16 t, %tid.x;\n{wide};\n\
             ld.param.{ty} b, [x];\nadd.{ty} b, b, a;\nld.param.{ty} d, [y];\nadd.{ty} d, d, a;\n\
             ld.global.u32 v, [b+4];\ncvt.u32.u16 p, %tid.x;\nmul.lo.u32 p, p, 4;\nmov.u32 w, s;\nadd.u32 p, p, w;\n\
             st.shared.u32 [p], v;\nbar.sync 0;\nxor.b32 p, p, 12;\nld.shared.u32 v, [p];\nld.const.u32 w, [c+4];\n\
             xor.b32 v, v, w;\nst.global.u32 [d], v;\natom.global.add.u32 w, [d+4], v;\nexit;\n}}\n"
        );
        let translation = compare(&text);
        assert!(translation.text.contains("OpMemoryModel Physical32 OpenCL\n"), "{}", translation.text);
    }
}

/// One register holds a distance, then an address, in one block and in a loop.
#[test]
fn registers_of_several_lives() {
    let body = "ld.param.u64 d1, [x];\nmul.wide.u32 d9, r1, 4;\nadd.u64 d10, d1, d9;\nmul.wide.u32 d9, r1, 4;\nadd.u64 d11, d2, d9;\nmov.u32 r5, 0;\nmov.u32 r7, 0;\n\
                L: mul.wide.u32 d9, r5, 4;\nadd.u64 d9, d9, d1;\nld.global.u32 r6, [d9];\nadd.u32 r7, r7, r6;\nadd.u32 r5, r5, 1;\n\
                setp.lt.u32 p, r5, 4;\n@p bra L;\nst.global.u32 [d11], r7;";
    compare(&module("", "", body));
}

/// What SPIR-V leaves undefined and our engine does not: divisors that may be 0 or −1, counts of shifts, NaNs made integers.
#[test]
fn nothing_is_undefined() {
    let lines = [
        ("div.u32 r4, r2, r3", "OpUDiv"),
        ("rem.s32 r4, r2, r3", "OpSRem"),
        ("div.s32 r4, r2, r3", "OpSDiv"),
        ("cvt.rzi.s64.f32 d4, f1;\ncvt.u32.u64 r4, d4", "OpSelect"),
    ];
    for (line, opcode) in lines {
        let text = module("", "", &format!("mov.b32 f1, r2;\n{line};\nst.global.u32 [d2], r4;"));
        let text = compare(&text).text;
        let operands = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let made = |id: &str| text.lines().find(|line| line.starts_with(&format!("{id} = "))).map(operands);
        let found = text.lines().find(|line| line.contains(&format!(" = {opcode} "))).map(operands).unwrap();
        if opcode == "OpSelect" {
            assert_eq!(made(&found[4]).unwrap()[2], "OpIsNan", "{text}");
        } else {
            // The divisor is chosen: never 0, with a sign never −1.
            let divisor = made(&found[5]).unwrap();
            assert_eq!((divisor[2].as_str(), divisor[5].as_str()), ("OpSelect", "%uint_1"), "{text}");
        }
    }
    let shifts = module("", "", "shl.b32 r4, r2, r3;\nshr.s32 r4, r4, r3;\nst.global.u32 [d2], r4;");
    let text = compare(&shifts).text;
    assert!(text.contains("OpBitwiseAnd %uint ") && text.contains("%opencl u_min "), "{text}");
}

/// A branch that always goes one way leaves the other way's blocks where they were: a block never stands before the one that dominates it.
#[test]
fn a_branch_of_a_known_predicate() {
    let body = "mov.pred p, 0;\nbra B;\nA: st.global.u32 [d2], r2;\nret;\nB: @!p bra D;\nadd.u32 r2, r2, 2;\nbra A;\n\
                D: add.u32 r2, r2, 1;\nbra A;";
    compare(&module("", "", body));
}

/// What is said of a refusal: the instruction, its place and why.
#[test]
fn refusals() {
    let refused = |text: &str, options: &Translating<'_>| {
        let findings = spirv::write(&read(text).program, options).expect_err("it is refused");
        findings.into_iter().map(|finding| (finding.code, finding.message)).collect::<Vec<_>>()
    };
    // Modes say one direction for all of a width.
    let both = module("", "", "div.rn.f64 d5, d1, d2;\ndiv.rp.f64 d5, d5, d2;\nst.global.u64 [d2], d5;");
    let found = refused(&both, &Translating::default());
    let wanted = ("TRN0001", "`div.rp.f64 d5, d5, d2`: f64 rounded up".to_owned());
    assert_eq!(found, [wanted]);
    let named = module(
        ".global .u32 v;\n.global .u64 held = generic(v);",
        "",
        "ld.global.u64 d4, [held];\nst.global.u64 [d2], d4;",
    );
    let found = refused(&named, &Translating::default());
    let wanted = ("TRN0001", "variable `held`: an initial value that holds addresses".to_owned());
    assert_eq!(found, [wanted]);
    let masked =
        module("", "", "shfl.sync.idx.b32 r4, r2, r3, 31, 15;\nfns.b32 r5, r4, 3, 1;\nst.global.u32 [d2], r5;");
    let found = refused(&masked, &Translating::default());
    let words = ["lanes of a warp chosen by a mask", "the n-th set bit"];
    assert!(found.iter().zip(words).all(|((_, found), words)| found.ends_with(words)) && found.len() == 2, "{found:?}");
}

#[test]
fn what_stands_beside_the_text() {
    let text = module(
        "",
        "",
        "// the sum\nadd.u32 r4, r2, r3; /* stored */ st.global.u32 [d2], r4;\nfma.rn.f32 f1, f2, f3, f4;\nst.global.f32 [d2+4], f1;",
    );
    let ready = read(&text);
    let options =
        Translating { comments: Comments::of_slashes(&text), file: "k.ptx", fma_khr: true, ..Translating::default() };
    let written = spirv::write(&ready.program, &options).unwrap().text;
    assert!(written.contains("; the sum\n") && written.contains("; stored\n"), "{written}");
    assert!(written.contains("%file_1 = OpString \"k.ptx\"\n") && written.contains("OpLine %file_1 "), "{written}");
    assert!(written.contains(" = OpFmaKHR %float ") && written.contains("OpExtension \"SPV_KHR_fma\"\n"), "{written}");
    assert!(written.contains("OpName %x \"x\"\n"), "{written}");
    let trap = module("", "", "setp.eq.u32 p, r2, 0;\n@p trap;\nst.global.u32 [d2], r2;");
    let ready = read(&trap);
    let findings = spirv::write(&ready.program, &Translating::default()).unwrap_err();
    assert!(findings[0].message.contains("trap") && findings[0].code == "TRN0201", "{findings:?}");
    let allow = ["TRN0201".to_owned()];
    let translation = spirv::write(&ready.program, &Translating { allow: &allow, ..Translating::default() }).unwrap();
    assert_eq!(translation.losses.len(), 1);
    assert!(translation.text.contains("OpUnreachable\n"));
    let sum = module("", ", .param .u64 far", "ld.param.u64 d5, [far];\nadd.u64 d2, d2, d5;\nst.global.u32 [d2], r2;");
    let findings = spirv::write(&read(&sum).program, &Translating::default()).unwrap_err();
    assert!(findings[0].message.contains("`y` and `far`"), "{findings:?}");
}

/// Each comment stands once, before the kernel that it stood in.
#[test]
fn comments_of_one_kernel_are_not_repeated_in_the_next() {
    let kernel = |name: &str| {
        format!(
            "// above {name}\n.visible .entry {name}(.param .u64 p) {{\n.reg .b64 d;\n// inside {name}\n\
             ld.param.u64 d, [p];\nst.global.u32 [d], 1;\nret;\n}}\n"
        )
    };
    let text = format!(".version 7.0\n.target sm_80\n.address_size 64\n{}{}", kernel("first"), kernel("second"));
    let ready = Ready::read_all(Source::Ptx(&text), &Choice::default()).unwrap();
    let options = Translating { comments: Comments::of_slashes(&text), ..Translating::default() };
    let text = spirv::write(&ready.program, &options).unwrap().text;
    let comments: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("; ")).collect();
    assert_eq!(comments[2..], ["above first", "inside first", "above second", "inside second"], "{text}");
}

/// Powers and roots with integers that no f32 holds, and the power that has no negative base.
#[test]
fn powers_and_roots() {
    let mut text = String::from(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\n%cl = OpExtInstImport \"OpenCL.std\"
OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\"\n%void = OpTypeVoid\n%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32\n%to_u32 = OpTypePointer CrossWorkgroup %u32\n%type = OpTypeFunction %void %to_u32 %to_u32
%zero = OpConstant %u32 0\n%one = OpConstant %u32 1\n%two = OpConstant %u32 2\n%k = OpFunction %void None %type
%x = OpFunctionParameter %to_u32\n%y = OpFunctionParameter %to_u32\n%start = OpLabel
%at_n = OpInBoundsPtrAccessChain %to_u32 %x %one\n%n = OpLoad %u32 %at_n Aligned 4
%bits = OpLoad %u32 %x Aligned 4\n%a = OpBitcast %f32 %bits\n",
    );
    for (place, call) in [("zero", "powr %a %a"), ("one", "pown %a %n"), ("two", "rootn %a %n")] {
        text += &format!(
            "%r_{place} = OpExtInst %f32 %cl {call}\n%bits_{place} = OpBitcast %u32 %r_{place}
%to_{place} = OpInBoundsPtrAccessChain %to_u32 %y %{place}\nOpStore %to_{place} %bits_{place} Aligned 4\n"
        );
    }
    text += "OpReturn\nOpFunctionEnd\n";
    let read = |text: &str| {
        Ready::read(Source::SpirvText(text), &Choice::default()).unwrap_or_else(|why| panic!("{why:?}\n{text}"))
    };
    let ready = read(&text);
    let translation = spirv::write(&ready.program, &Translating::default()).unwrap();
    for name in [" powr ", " pown ", " rootn "] {
        assert!(translation.text.contains(name), "{}", translation.text);
    }
    let args = [vec![0x3f80_0001, 0x02fa_f081], vec![0; 3]].map(|words| Arg::Buffer(Buffer::from_words(words)));
    for ready in [ready, read(&translation.text)] {
        let report = run(&ready, 1, args.to_vec(), 0);
        assert_eq!(report.buffers[1].as_ref().unwrap().words(), [0x3f80_0001, 0x43c1_e522, 0x3f80_0000]);
    }
}

/// Every f32 instruction flushes, so that the execution mode does; a constant is widened, converted or selected by none.
#[test]
fn subnormal_constants_are_flushed() {
    const INSTRUCTIONS: &[&str] = &[
        "add.rp.ftz.f32 f2, f1, 0f00000001;",
        "sub.rz.ftz.f32 f2, f1, 0f00000001;",
        "fma.rm.ftz.f32 f2, f1, f1, 0f80000001;",
        "mul.rp.ftz.f32 f2, f1, 0f007FFFFF;",
        "div.rn.ftz.f32 f2, f1, 0f00000001;",
        "sqrt.rn.ftz.f32 f2, 0f00000001;",
        "rcp.rm.ftz.f32 f2, 0f80000001;",
        "mov.f32 f3, 0f00000001;\nadd.rp.ftz.f32 f2, f1, f3;",
        "add.rn.ftz.f32 f2, f1, 0f00000001;\nadd.rp.ftz.f32 f2, f2, 0f00000001;",
        "mad.rm.ftz.f32 f2, f1, 0f807FFFFF, 0f80000001;",
        "cvt.ftz.f32.f32 f2, 0f80000003;",
        "cvt.ftz.f32.f32 f2, f4;",
        "cvt.ftz.sat.f32.f32 f2, f4;",
        "cvt.ftz.sat.f32.f32 f2, 0f00000003;",
        "cvt.rpi.ftz.f32.f32 f2, f4;",
        "cvt.rpi.ftz.f32.f32 f2, 0f00000003;",
        "cvt.rpi.ftz.s32.f32 r9, 0f00000003;\nmov.b32 f2, r9;",
        "cvt.rpi.ftz.s32.f32 r9, f4;\nmov.b32 f2, r9;",
        "cvt.ftz.f64.f32 d9, 0f00000003;\ncvt.rn.f32.f64 f2, d9;\nmov.b64 {r9, r10}, d9;\nmov.b32 f2, r10;",
        "cvt.rn.ftz.f16.f32 h1, 0f00000003;\nmov.b32 r9, {h1, h1};\nmov.b32 f2, r9;",
        "min.ftz.f32 f2, f4, 0f00000003;",
        "max.ftz.f32 f2, 0f80000003, f4;",
        "abs.ftz.f32 f2, 0f80000003;",
        "neg.ftz.f32 f2, 0f80000003;",
        "setp.gt.ftz.f32 p, f4, 0f00000003;\nselp.f32 f2, f1, f4, p;",
        "setp.gt.ftz.f32 p, 0f00000003, 0f00000000;\nselp.f32 f2, f1, f4, p;",
        "set.lt.ftz.f32.f32 f2, 0f00000000, 0f00000003;",
        "slct.ftz.f32.f32 f2, f1, f4, 0f80000003;",
    ];
    for instruction in INSTRUCTIONS {
        let body = "and.b32 r4, r2, 0x00ffffff;\nand.b32 r5, r3, 0x80000000;\nor.b32 r4, r4, r5;\nmov.b32 f4, r4;\n\
                    or.b32 r5, r2, 0x3f800000;\nand.b32 r5, r5, 0xbff0000f;\nmov.b32 f1, r5;";
        let module = module("", "", &format!("{body}\n{instruction}\nst.global.f32 [d2], f2;"));
        compare(&module);
    }
}
