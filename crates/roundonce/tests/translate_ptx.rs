//! Kernels translated to PTX give the same bits in the engine, and the assemblers that are at hand take them.
//!
//! `PTXAS` names assemblers, separated by colons; `TRANSLATED` a folder that receives every translation.

#[path = "translation/assemble.rs"]
mod assemble;
mod translation;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assemble::assemble;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options as RunOptions};
use roundonce::ir::Program;
use roundonce::isa::SmTarget;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Argument, Comments, Options, Translation, ptx, spirv};
use translation::{Case, difference, folder, translated_launch};

/// Why a kernel is not translated: the messages of its findings that differ.
type Refused = Vec<String>;

/// Translates a program; `None` and the reasons where it is refused.
fn translate(name: &str, program: &Program, target: Option<SmTarget>) -> Result<Translation, Refused> {
    let options = Options { target, ..Options::default() };
    let translation = ptx::write(program, &options).map_err(|findings| {
        let mut messages: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
        messages.sort();
        messages.dedup();
        messages
    })?;
    if let Ok(folder) = std::env::var("TRANSLATED") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.ptx")), &translation.text).unwrap();
    }
    assemble(name, &translation.text);
    Ok(translation)
}

/// Reads the translation and runs what it has as the source is run: how they differ.
fn compare(launch: &Launch<'_>, translation: &Translation, target: Option<SmTarget>) -> Result<(), String> {
    let name = launch.entry.map(str::to_owned);
    let choice = Choice { machine: target, entry: name, ..Choice::default() };
    let ready = Ready::read(Source::Ptx(&translation.text), &choice);
    let ready = ready.map_err(|refusal| format!("the translation is not read: {refusal:?}"))?;
    let other = translated_launch(launch, translation, &ready);
    let source = launch.clone().run().map_err(|error| format!("the source: {error}"))?;
    let translated = other.run().map_err(|error| format!("the translation: {error}"))?;
    let place = launch.program.kernels.iter().position(|kernel| Some(kernel.name.as_str()) == launch.entry);
    match difference(&source.buffers, &translation.arguments[place.unwrap()], &translated.buffers) {
        Some(difference) => Err(difference),
        None => Ok(()),
    }
}

/// Every case of a folder: how many are equal, and what is refused.
fn check_all(folder: &str) -> (usize, BTreeMap<String, Refused>) {
    let (mut equal, mut refused, mut failures) = (0, BTreeMap::new(), Vec::new());
    for case in Case::all(folder) {
        let source = case.read().unwrap_or_else(|refusal| panic!("{}: {refusal:?}", case.name));
        match translate(&case.name, &source.program, case.target()) {
            Ok(translation) => match compare(&case.launch(&source), &translation, case.target()) {
                Ok(()) => equal += 1,
                Err(failure) => failures.push(format!("{}: {failure}", case.name)),
            },
            Err(messages) => {
                refused.insert(case.name, messages);
            }
        }
    }
    assert!(failures.is_empty(), "{equal} equal\n{}", failures.join("\n"));
    (equal, refused)
}

/// That a folder's cases are refused as the table says, a case a line: its name and what stands in the first message.
fn check_refusals(refused: &BTreeMap<String, Refused>, expected: &[(&str, &str)]) {
    let found: Vec<String> =
        refused.iter().map(|(name, messages)| format!("{name}: {}", messages.join("; "))).collect();
    let names: Vec<&str> = refused.keys().map(String::as_str).collect();
    let expected_names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected_names, "{}", found.join("\n"));
    for (name, what) in expected {
        assert!(refused[*name].iter().any(|message| message.contains(what)), "{name}: {:?}", refused[*name]);
    }
}

#[test]
fn kernels_of_ptx_give_the_same_bits() {
    let (equal, refused) = check_all("kernels");
    // Fragments of `wmma` and `wgmma` lie in registers as each machine wants.
    let expected = [
        ("old_1_4", "addresses of 32 bits"),
        ("opaque", "a sampler of the source itself"),
        ("triton_dot_e4m3_90", "wgmma.mma_async"),
        ("triton_dot_f16_90", "wgmma.mma_async"),
        ("triton_dot_tf32_90", "wgmma.mma_async"),
        ("wgmma", "wgmma.mma_async"),
        ("wmma_ampere_on_80", "wmma.mma"),
        ("wmma_ampere_on_90", "wmma.mma"),
        ("wmma_gemm_on_80", "wmma.mma"),
        ("wmma_gemm_on_90", "wmma.mma"),
        ("wmma_volta_on_70", "wmma.mma"),
        ("wmma_volta_on_75", "wmma.mma"),
        ("wmma_volta_on_80", "wmma.mma"),
        ("wmma_volta_on_90", "wmma.mma"),
    ];
    check_refusals(&refused, &expected);
    assert_eq!(equal, 61);
    if std::env::var("PTXAS").is_err() {
        println!("ptxas: skipped, PTXAS names no assembler");
    }
}

#[test]
fn shaders_and_kernels_of_spirv_give_the_same_bits() {
    let (equal, refused) = check_all("shaders");
    let expected = [
        ("floats_cl", "exp10"),
        ("images", "the address of a texel"),
        ("images_cl", "a sampler of the source itself"),
        ("samplers", "a read of an image with such a sampler"),
    ];
    check_refusals(&refused, &expected);
    assert_eq!(equal, 26);
}

/// The machine code of the kernels of tests/kernels, for two targets.
#[test]
fn machine_code_gives_the_same_bits() {
    let (mut equal, mut refused, mut failures) = (0, BTreeMap::new(), Vec::new());
    for case in Case::all("kernels") {
        for target in ["sm_50", "sm_61"] {
            let name = format!("{}.{target}", case.name);
            let path = folder("kernels").join("maxwell").join(format!("{name}.cubin"));
            let Ok(bytes) = std::fs::read(path) else { continue };
            // What is not run itself is no matter of translation.
            let Ok(source) = Ready::read(Source::Cubin(&bytes), &Choice::default()) else { continue };
            // For the default target, and for the machine's own.
            for asked in [None, Some(target.parse().unwrap())] {
                match translate(&name, &source.program, asked) {
                    Ok(translation) => match compare(&case.launch(&source), &translation, None) {
                        Ok(()) => equal += 1,
                        Err(failure) => failures.push(format!("{name}: {failure}")),
                    },
                    Err(messages) => {
                        refused.insert(name.clone(), messages);
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{equal} equal\n{}", failures.join("\n"));
    check_refusals(&refused, &[]);
    assert_eq!(equal, 2 * 36);
}

/// Names that PTX does not take, line information, comments.
#[test]
fn names_lines_and_comments_survive() {
    let text = "// Of the module.\n.version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"dir/source.cu\"\n\
        .visible .entry scaled(.param .u64 x, .param .f32 by) {\n.reg .b64 %rd<3>;\n.reg .f32 %f<3>;\n\
        .loc 1 7 3\n// Of the load.\nld.param.u64 %rd1, [x];\nld.param.f32 %f2, [by];\n\
        .loc 1 8 5\nld.global.f32 %f1, [%rd1]; /* one value */\n\
        mul.f32 %f1, %f1, %f2;\nst.global.f32 [%rd1], %f1;\nret;\n}\n";
    let ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap();
    let comments = Comments::of_slashes(text);
    let options = Options { comments, file: "source.ptx", ..Options::default() };
    let translated = ptx::write(&ready.program, &options).unwrap().text;
    let expected = ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"source.cu\"\n\n// Of the module.\n// Of the load.\n\
        .visible .entry scaled(\n    .param .u64 x,\n    .param .f32 by\n)\n{\n    .reg .pred %p<2>;\n    .reg .b32 %r<3>;\n\
    \x20   .reg .b64 %rd<2>;\n    .loc 1 7 3\n    ld.param.b64 %rd1, [x];\n    ld.param.b32 %r1, [by];\n    // one value\n\
    \x20   .loc 1 8 5\n    ld.global.b32 %r2, [%rd1];\n    mul.rn.f32 %r2, %r2, %r1;\n    st.global.b32 [%rd1], %r2;\n    ret;\n}\n";
    assert_eq!(translated, expected);
}

/// The program form leaves out which accesses are ordered, and fences inside a block: the source's text has them.
#[test]
fn orders_of_accesses_survive() {
    let body = "ld.param.u64 %rd1, [x];\n ld.volatile.global.u32 %r1, [%rd1];\n ld.acquire.gpu.global.u32 %r2, [%rd1];\n\
        membar.cta;\n st.release.sys.global.u32 [%rd1+4], %r2;\n atom.acq_rel.sys.global.add.u32 %r1, [%rd1], %r2;\n\
        fence.acq_rel.gpu;\n red.global.add.u32 [%rd1], %r1;\n st.shared.u32 [s], %r1;\n membar.sys;\n ret;";
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 s;\n\
         .visible .entry k(.param .u64 x) {{\n.reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n{body}\n}}"
    );
    let ready = Ready::read(Source::Ptx(&text), &Choice::default()).unwrap();
    let translated = ptx::write(&ready.program, &Options::default()).unwrap().text;
    assemble("orders", &translated);
    let lines: Vec<&str> =
        translated.lines().map(str::trim).skip_while(|line| !line.starts_with("ld.volatile")).collect();
    let expected = [
        "ld.volatile.global.b32 %r1, [%rd1];",
        "ld.acquire.gpu.global.b32 %r2, [%rd1];",
        "membar.cta;",
        "st.release.sys.global.b32 [%rd1+4], %r2;",
        "atom.acq_rel.sys.global.add.u32 %r1, [%rd1], %r2;",
        "fence.acq_rel.gpu;",
        "red.global.add.u32 [%rd1], %r1;",
        "st.shared.b32 [shared], %r1;",
        "membar.sys;",
        "ret;",
        "}",
    ];
    assert_eq!(lines, expected);
}

/// Pieces of shared memory that are arguments stand behind what the kernel declares; a buffer's size is an argument.
#[test]
fn pieces_of_shared_memory_and_sizes_are_arguments() {
    use roundonce::ir::{Block, Instruction, Kernel, Op, Operand, Param, Passing, Space, Special, Terminator, Width};
    let mut kernel = Kernel::new("pieces");
    kernel.shared_bytes = 64;
    for (index, (name, passing)) in
        [("0.out", Passing::Buffer), ("one", Passing::Shared), ("two", Passing::Shared)].into_iter().enumerate()
    {
        let (name, offset) = (name.to_owned(), index as u32 * 8);
        kernel.params.push(Param { name, offset, size: 8, scalar: None, passing });
    }
    kernel.param_bytes = 24;
    let [out, one, two, bytes, read] = [(); 5].map(|()| kernel.register(Width::B64));
    let load = |d, space, address: Operand, offset| Op::Load {
        d: vec![Some(d)],
        space,
        bytes: 8,
        signed: false,
        address,
        offset,
    };
    let store = |value: Operand, space, address, offset| Op::Store {
        values: vec![value],
        width: Width::B64,
        space,
        bytes: 8,
        address,
        offset,
    };
    let (param, shared, global) = (Space::Param, Space::Shared, Space::Global);
    let mut ops = vec![load(out, param, Operand::ZERO, 0), load(one, param, Operand::ZERO, 8)];
    ops.push(load(two, param, Operand::ZERO, 16));
    ops.push(Op::Special { d: bytes, special: Special::BufferBytes(0) });
    // The last bytes of what is declared, then of each piece the first ones.
    let places = [(Operand::Imm(48), 8), (one.into(), 0), (two.into(), 0)];
    for (number, (address, offset)) in places.into_iter().enumerate() {
        ops.push(store(Operand::Imm(number as u64 + 1), shared, address, offset));
    }
    for (number, (address, offset)) in places.into_iter().enumerate() {
        ops.extend([load(read, shared, address, offset), store(read.into(), global, out.into(), number as i64 * 8)]);
    }
    // Where the pieces stand, counted from the start of shared memory.
    ops.extend([store(one.into(), global, out.into(), 24), store(two.into(), global, out.into(), 32)]);
    ops.push(store(bytes.into(), global, out.into(), 40));
    let instructions = ops.into_iter().map(|op| Instruction::new(op, 0)).collect();
    kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
    let program = Program::of(kernel);
    program.verify().unwrap();
    let translation = translate("pieces", &program, None).unwrap();
    let arguments = [0, 1, 2].map(|index| match index {
        0 => Argument::Param(0),
        index => Argument::SharedOffset(index),
    });
    assert_eq!(translation.arguments, [[&arguments[..], &[Argument::BufferBytes(0)]].concat()]);
    let args = vec![Arg::Buffer(Buffer::zeros(48)), Arg::Scalar(8), Arg::Scalar(200)];
    let (grid, block, entry, dynamic_shared) = ([1; 3], [1; 3], Some("pieces"), 0);
    let launch = Launch {
        program: &program,
        entry,
        grid,
        block,
        args,
        dynamic_shared,
        options: RunOptions { engine: Engine::Native, ..RunOptions::default() },
    };
    let report = launch.clone().run().unwrap();
    assert_eq!(report.buffers[0].as_ref().unwrap().words(), [1, 0, 2, 0, 3, 0, 64, 0, 192, 0, 48, 0]);
    compare(&launch, &translation, None).unwrap();
}

/// What is asked for has not everything: the finding names the instruction and what it needs.
#[test]
fn targets_that_lack_an_instruction_are_refused() {
    let program = |target: &str, instruction: &str| {
        let text = format!(
            ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<4>;\n{instruction}\nret;\n}}"
        );
        Ready::read(Source::Ptx(&text), &Choice::default()).unwrap().program
    };
    let redux = program("sm_80", "mov.b32 %r1, 1; redux.sync.add.s32 %r2, %r1, 0xffffffff;");
    let asked = |target: &str| Options { target: Some(target.parse().unwrap()), ..Options::default() };
    let findings = ptx::write(&redux, &asked("sm_75")).unwrap_err();
    assert_eq!((findings[0].code, &*findings[0].message), ("TRN0101", "`redux.sync` needs PTX 7.0, sm_80"));
    let older = Options { version: Some(roundonce::isa::Version(6, 5)), ..Options::default() };
    assert_eq!(ptx::write(&redux, &older).unwrap_err()[0].message, "`redux.sync` needs PTX 7.0, sm_80");
    let text = ptx::write(&redux, &asked("sm_90")).unwrap().text;
    assert!(text.starts_with(".version 7.8\n.target sm_90\n"), "{text}");
}

/// A kernel of PTX that is for sm_90, as PTX.
fn again(variables: &str, params: &str, body: &str) -> String {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{variables}\n.visible .entry k(.param .u64 p{params}) {{\n\
         .reg .b16 h<3>;\n.reg .b32 r<3>;\n.reg .pred q;\n.reg .b64 d<4>;\n.reg .f64 x<8>;\n\
         ld.param.u64 d1, [p];\n{body}\nret;\n}}\n"
    );
    let program = Ready::read(Source::Ptx(&text), &Choice::default()).unwrap().program;
    translate("again", &program, None).unwrap().text
}

/// The engine has one value for each; a GPU has others.
#[test]
fn registers_of_the_cluster_and_of_the_machine_stay() {
    let numbers = [
        "%clusterid.x",
        "%nclusterid.y",
        "%cluster_ctaid.z",
        "%cluster_nctaid.x",
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%smid",
        "%nsmid",
        "%envreg3",
    ];
    for name in numbers {
        let text = again("", "", &format!("mov.u32 r1, {name};\nst.global.u32 [d1], r1;"));
        assert!(text.contains(&format!(", {name};\n")), "{name}\n{text}");
        assert!(text.contains(if name.contains("cluster") { ".target sm_90" } else { ".target sm_80" }), "{text}");
    }
    let text = again("", "", "mov.u64 d2, %gridid;\nst.global.u64 [d1], d2;");
    assert!(text.contains(", %gridid;\n"), "{text}");
    let text = again("", "", "mov.pred q, %is_explicit_cluster;\nselp.u32 r1, 1, 0, q;\nst.global.u32 [d1], r1;");
    assert!(text.contains(", %is_explicit_cluster;\n"), "{text}");
    let program = |instruction: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b32 r;\n.reg .b64 d;\n\
             ld.param.u64 d, [p];\n{instruction}\nst.global.u32 [d], r;\nret;\n}}\n"
        );
        Ready::read(Source::Ptx(&text), &Choice::default()).unwrap().program
    };
    let findings = spirv::write(&program("mov.u32 r, %smid;"), &Options::default()).unwrap_err();
    let why = "`mov.u32 r, %smid`: a register that says where a block stands beyond its grid";
    assert_eq!((findings[0].code, &*findings[0].message), ("TRN0001", why));
    for question in ["getctarank.shared::cluster.u32 r, 0;", "mov.u32 r, 1;\nmapa.shared::cluster.u32 r, 16, r;"] {
        let findings = ptx::write(&program(question), &Options::default()).unwrap_err();
        let why = "a question about the place of an address in a cluster is not translated";
        let found: Vec<_> = findings.iter().map(|finding| (finding.code, &*finding.message)).collect();
        assert_eq!(found, [("TRN0001", why)]);
    }
}

/// The lower bits of an address are the source's.
#[test]
fn shared_memory_keeps_its_alignment() {
    let body = "mov.u32 r1, s;\nand.b32 r1, r1, 1023;\nst.global.u32 [d1], r1;\nst.shared.u32 [s], r1;";
    for align in [1, 128, 1024] {
        let text = again(&format!(".extern .shared .align {align} .b8 s[];"), "", body);
        assert!(text.contains(&format!(".extern .shared .align {} .b8", align.max(16))), "{text}");
        let text = again(&format!(".shared .align {align} .b8 s[64];"), "", body);
        assert!(text.contains(&format!(".shared .align {} .b8", align.max(128))), "{text}");
        let text = again("", "", &format!(".shared .align {align} .b8 s[64];\n{body}"));
        assert!(text.contains(&format!(".shared .align {} .b8", align.max(128))), "{text}");
    }
}

/// A launch writes a number by its parameter's type.
#[test]
fn parameters_of_f16_stay_numbers() {
    let text = again("", ", .param .f16 c", "ld.param.b16 h1, [c];\nst.global.b16 [d1], h1;");
    assert!(text.contains(".param .f16 c\n"), "{text}");
}

/// sm_90 computes both products, and is the first that has the second.
#[test]
fn matrix_products_that_one_target_computes_stand_together() {
    let eight = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {x2, x3}, {x0}, {x1}, {x0, x1};";
    let sixteen =
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {x4, x5, x6, x7}, {x0, x1}, {x2}, {x0, x1, x2, x3};";
    let written = |products: &[&str]| {
        let body = format!(
            "ld.global.v2.f64 {{x0, x1}}, [d1];\nmov.f64 x2, x1;\nmov.f64 x3, x0;\nmov.f64 x4, x0;\n\
            mov.f64 x7, x1;\n{}\nst.global.v2.f64 [d1], {{x4, x7}};\nst.global.v2.f64 [d1+16], {{x2, x3}};",
            products.join("\n")
        );
        again("", "", &body)
    };
    assert!(written(&[eight]).contains(".target sm_80\n"));
    for products in [[eight, sixteen], [sixteen, eight]] {
        let text = written(&products);
        assert!(text.starts_with(".version 7.8\n.target sm_90\n"), "{text}");
    }
}
