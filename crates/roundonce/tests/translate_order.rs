//! What a source asks of the order of memory for other threads stands in its translation, or the translation says what it
//! leaves out, and then nothing is said to be equal for all data.

use roundonce::SmTarget;
use roundonce::ir::{Given, equal, equal_in_order};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translation::{NoTranslation, Options, STEP_LIMIT, To, Translated, translate};

/// A kernel of PTX whose parameter is a buffer.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.2\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %a;\n\
         .reg .b32 %f, %g;\n.reg .b16 %h;\n.reg .b64 %w;\n.shared .align 8 .b32 s[4];\nld.param.u64 %a, [p];\n{body}\nret;\n}}\n"
    )
}

fn translated(source: Source<'_>, to: To, target: Option<&str>) -> Translated {
    let target = target.map(|name| name.parse::<SmTarget>().unwrap());
    let options = Options { target, ..Options::default() };
    translate(source, to, &Choice::default(), &options).unwrap()
}

/// Whether the translation has the words, in this order; it is equal for all data and says nothing of a loss.
#[track_caller]
fn keeps(translated: &Translated, words: &[&str]) {
    let text = &translated.translation.text;
    let mut rest = text.as_str();
    for word in words {
        let at = rest.find(word).unwrap_or_else(|| panic!("no `{word}` in its place:\n{text}"));
        rest = &rest[at + word.len()..];
    }
    assert_eq!(translated.translation.losses, []);
    let proof = &translated.verify(0, STEP_LIMIT)[0].proof;
    assert!(proof.is_ok(), "{proof:?}:\n{text}");
}

const ACCESSES: &str = "ld.acquire.gpu.global.u32 %f, [%a];\nst.release.sys.global.u32 [%a+4], %f;\n\
    ld.relaxed.cta.shared.u32 %f, [s];\nst.volatile.global.u32 [%a+8], %f;\nld.volatile.shared.u32 %f, [s+4];\n\
    st.global.u32 [%a+12], %f;";

#[test]
fn accesses_of_ptx_keep_their_words() {
    let text = ptx(ACCESSES);
    let words = [
        "ld.acquire.gpu.global",
        "st.release.sys.global",
        "ld.relaxed.cta.shared",
        "st.volatile.global",
        "ld.volatile.shared",
        "st.global.b32",
    ];
    keeps(&translated(Source::Ptx(&text), To::Ptx, None), &words);
}

#[test]
fn targets_without_scopes_have_fences() {
    let text = ptx(ACCESSES);
    let words = [
        "ld.volatile.global",
        "membar.gl",
        "membar.sys",
        "st.volatile.global",
        "ld.volatile.shared",
        "st.volatile.global",
        "ld.volatile.shared",
        "st.global.b32",
    ];
    keeps(&translated(Source::Ptx(&text), To::Ptx, Some("sm_61")), &words);
}

#[test]
fn atomics_of_ptx_keep_their_order() {
    let text = ptx("atom.acq_rel.gpu.global.exch.b32 %f, [%a], 1;\natom.global.add.u32 %g, [%a+4], %f;\n\
        atom.cta.global.add.u32 %g, [%a+8], %g;\nred.release.sys.global.add.u32 [%a+12], %g;");
    let words =
        ["atom.acq_rel.gpu.global.exch", "atom.global.add", "atom.cta.global.add", "red.release.sys.global.add"];
    keeps(&translated(Source::Ptx(&text), To::Ptx, None), &words);
    let old = ["membar.gl", "atom.global.exch", "membar.gl", "atom.cta.global.add", "membar.sys", "red.sys.global.add"];
    keeps(&translated(Source::Ptx(&text), To::Ptx, Some("sm_61")), &old);
}

#[test]
fn fences_of_ptx_keep_their_scope() {
    let text = ptx("st.global.u32 [%a], 1;\nmembar.cta;\nst.global.u32 [%a+4], 1;\nfence.sc.sys;\n\
        st.global.u32 [%a+8], 1;\nfence.acq_rel.gpu;\nst.global.u32 [%a+12], 1;");
    keeps(
        &translated(Source::Ptx(&text), To::Ptx, None),
        &["st.global", "membar.cta", "st.global", "membar.sys", "st.global", "fence.acq_rel.gpu", "st.global"],
    );
    let spirv = translated(Source::Ptx(&text), To::Spirv, None);
    let text = &spirv.translation.text;
    assert_eq!(text.matches("OpMemoryBarrier").count(), 3, "{text}");
    keeps(
        &spirv,
        &["OpStore", "OpMemoryBarrier", "OpStore", "OpMemoryBarrier", "OpStore", "OpMemoryBarrier", "OpStore"],
    );
}

#[test]
fn accesses_of_ptx_are_atomic_in_spirv() {
    let text = ptx(ACCESSES);
    let spirv = translated(Source::Ptx(&text), To::Spirv, None);
    let words = [
        "OpAtomicLoad",
        "OpAtomicStore",
        "OpAtomicLoad",
        "OpStore",
        "Volatile|Aligned 4",
        "OpLoad",
        "Volatile|Aligned 4",
    ];
    keeps(&spirv, &words);
    // A weaker twin is not proved: the same text with relaxed atomics, or without what is volatile.
    let text = &spirv.translation.text;
    let first = Ready::read_all(Source::Ptx(&ptx(ACCESSES)), &Choice::default()).unwrap();
    let volatile = text.replace("Volatile|", "");
    let relaxed = text.replace(" %uint_1 %uint_770", " %uint_1 %uint_1");
    for weaker in [volatile, relaxed] {
        assert_ne!(weaker, *text);
        let second = Ready::read_all(Source::SpirvText(&weaker), &Choice::default()).unwrap();
        let [one, other] = [&first, &second].map(|ready| (&ready.program, &ready.program.kernels[0]));
        assert_eq!(equal(one, other, &[Given::Param(0)]), Ok(()));
        let proof = equal_in_order(one, other, &[Given::Param(0)]);
        assert_eq!(proof.unwrap_err().reason, "the second may order memory less for other threads");
    }
}

#[test]
fn what_has_no_atomic_access_is_said() {
    let text = ptx("ld.acquire.gpu.global.u16 %h, [%a];\nst.global.u16 [%a+2], %h;");
    let spirv = translated(Source::Ptx(&text), To::Spirv, None);
    let losses: Vec<&str> = spirv.translation.losses.iter().map(|loss| loss.code).collect();
    assert_eq!(losses, ["TRN0203"]);
    assert!(spirv.translation.text.contains("Volatile|Aligned 2"));
    assert!(spirv.translation.text.contains("OpMemoryBarrier"));
    assert_eq!(
        spirv.verify(0, STEP_LIMIT)[0].proof.as_ref().unwrap_err().reason,
        "the translation orders memory less for other threads"
    );
}

/// A kernel of a Vulkan shader: one member of the buffer is decorated.
fn shader(decorations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %block BufferBlock\nOpMemberDecorate %block 0 Offset 0\n\
         OpMemberDecorate %block 1 Offset 4\n{decorations}\nOpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n\
         %void = OpTypeVoid\n%function = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%block = OpTypeStruct %uint %uint\n\
         %to_block = OpTypePointer Uniform %block\n%to_uint = OpTypePointer Uniform %uint\n%c0 = OpConstant %uint 0\n\
         %c1 = OpConstant %uint 1\n%c2 = OpConstant %uint 2\n%acquire = OpConstant %uint 66\n%release = OpConstant %uint 68\n\
         %both = OpConstant %uint 72\n%buffer = OpVariable %to_block Uniform\n%main = OpFunction %void None %function\n\
         %label = OpLabel\n%first = OpAccessChain %to_uint %buffer %c0\n%second = OpAccessChain %to_uint %buffer %c1\n{body}\n\
         OpReturn\nOpFunctionEnd\n"
    )
}

#[test]
fn decorations_of_members_and_variables() {
    let body = "%x = OpLoad %uint %first\nOpStore %second %x";
    let ptx = |decorations: &str| {
        let text = shader(decorations, body);
        translated(Source::SpirvText(&text), To::Ptx, None)
    };
    keeps(&ptx(""), &["ld.global", "st.global"]);
    keeps(&ptx("OpMemberDecorate %block 0 Volatile"), &["ld.volatile.global", "st.global"]);
    keeps(&ptx("OpMemberDecorate %block 1 Volatile"), &["ld.global", "st.volatile.global"]);
    keeps(&ptx("OpMemberDecorate %block 0 Coherent"), &["ld.relaxed.gpu.global", "st.global"]);
    keeps(&ptx("OpDecorate %buffer Volatile"), &["ld.volatile.global", "st.volatile.global"]);
}

#[test]
fn atomics_and_barriers_of_spirv() {
    let body = "%x = OpAtomicLoad %uint %first %c1 %acquire\n%y = OpAtomicIAdd %uint %first %c1 %both %x\n\
        OpMemoryBarrier %c2 %both\nOpStore %second %y\nOpMemoryBarrier %c1 %both\nOpAtomicStore %first %c1 %release %x\n\
        OpControlBarrier %c2 %c1 %both\nOpStore %second %x";
    let text = shader("", body);
    let words = [
        "ld.acquire.gpu.global",
        "atom.acq_rel.gpu.global.add",
        "fence.acq_rel.cta",
        "st.global",
        "fence.acq_rel.gpu",
        "st.release.gpu.global",
        "fence.acq_rel.gpu",
        "bar",
        "fence.acq_rel.gpu",
        "st.global",
    ];
    keeps(&translated(Source::SpirvText(&text), To::Ptx, None), &words);
    let old = [
        "ld.volatile.global",
        "membar.gl",
        "membar.gl",
        "atom.global.add",
        "membar.gl",
        "membar.cta",
        "st.global",
        "membar.gl",
        "membar.gl",
        "st.volatile.global",
        "membar.gl",
        "bar",
        "membar.gl",
        "st.global",
    ];
    keeps(&translated(Source::SpirvText(&text), To::Ptx, Some("sm_61")), &old);
}

/// What is refused, as the code and the message of the first finding.
fn refused(text: &str, to: To, target: Option<&str>) -> (&'static str, String) {
    let target = target.map(|name| name.parse::<SmTarget>().unwrap());
    let options = Options { target, ..Options::default() };
    match translate(Source::Ptx(text), to, &Choice::default(), &options) {
        Err(NoTranslation::NoCounterpart(findings)) => (findings[0].code, findings[0].message.clone()),
        other => panic!("{other:?}"),
    }
}

/// They say nothing of the order in which a thread's own accesses are done, but of other grids and of other addresses.
#[test]
fn fences_beyond_the_order_of_memory_stay() {
    for fence in ["griddepcontrol.wait", "griddepcontrol.launch_dependents", "fence.proxy.alias"] {
        let text =
            ptx(&format!("st.global.u32 [%a], 1;\n{fence};\nld.global.u32 %f, [%a+4];\nst.global.u32 [%a+8], %f;"));
        keeps(&translated(Source::Ptx(&text), To::Ptx, None), &["st.global", &format!("{fence};"), "ld.global"]);
        let why = format!("`{fence}`: a fence that is about more than the order of memory");
        assert_eq!(refused(&text, To::Spirv, None), ("TRN0001", why));
    }
    let wait = ptx("griddepcontrol.wait;\nst.global.u32 [%a], 1;");
    let why = "`griddepcontrol.wait` needs PTX 7.8, sm_90".to_owned();
    assert_eq!(refused(&wait, To::Ptx, Some("sm_80")), ("TRN0101", why));
    let map =
        ptx("fence.proxy.tensormap::generic.acquire.gpu [%a], 128;\nst.global.u32 [%a], 1;").replace("8.2", "8.3");
    let (code, why) = refused(&map, To::Ptx, None);
    assert!(code == "TRN0001" && why.starts_with("`fence.proxy.tensormap::generic.acquire.gpu`"), "{why}");
}

const BARRIERS: &str = "barrier.sync 0;\nbarrier.sync 1, 64;\nbarrier.arrive 2, 64;\nbarrier.red.popc.u32 %g, 3, %q;\n\
    barrier.red.or.pred %q, 4, 64, %q;\nbarrier.sync.aligned 5;\nbar.sync 6;";

/// A barrier that is not aligned may stand where the threads of a warp come apart; `bar` is undefined there.
#[test]
fn barriers_are_aligned_where_the_source_says_so() {
    let text = ptx(&format!(".reg .pred %q;\nsetp.eq.u32 %q, 1, 1;\n{BARRIERS}\nst.global.u32 [%a], %g;"));
    let words = [
        "    barrier.sync 0;",
        "    barrier.sync 1, 64;",
        "    barrier.arrive 2, 64;",
        "    barrier.red.popc.u32 ",
        "    barrier.red.or.pred ",
        "    bar.sync 5;",
        "    bar.sync 6;",
    ];
    keeps(&translated(Source::Ptx(&text), To::Ptx, None), &words);
}

#[test]
fn barriers_that_spirv_leaves_undefined_are_refused() {
    let choice = |thread: &str, barrier: &str| {
        ptx(&format!(
            ".reg .pred %q;\nmov.u32 %f, {thread};\nand.b32 %g, %f, 1;\nsetp.eq.u32 %q, %g, 0;\n@%q bra EVEN;\n\
             st.global.u32 [%a], 1;\n{barrier};\nbra OUT;\nEVEN:\nst.global.u32 [%a], 2;\n{barrier};\nOUT:\n\
             st.global.u32 [%a+4], 3;"
        ))
    };
    let why = "`barrier.sync 0`: a barrier where threads of a block may stand apart, which SPIR-V leaves undefined";
    assert_eq!(refused(&choice("%tid.x", "barrier.sync 0"), To::Spirv, None), ("TRN0001", why.to_owned()));
    for (thread, barrier) in [("%ctaid.x", "barrier.sync 0"), ("%tid.x", "bar.sync 0")] {
        let spirv = translated(Source::Ptx(&choice(thread, barrier)), To::Spirv, None);
        assert_eq!(spirv.translation.text.matches("OpControlBarrier").count(), 2);
    }
}
