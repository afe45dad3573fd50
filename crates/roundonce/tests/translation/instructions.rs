//! Kernels of single PTX instructions, run as they are and as SPIR-V: what each gives, which is the same.

use roundonce::arith::Format;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options, Report};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Options as Translating, spirv};
use roundonce_oracle::Layout;
use roundonce_oracle::generate::Generator;

pub(crate) const BLOCK: usize = 128;

/// A kernel of instructions: each reads `a`, `b` and `c` in a width of its own (`a16`, `a32`, `a64`), and writes `o16`,
/// `o32`, `o64` or the predicate `p`.
fn kernel(lines: &[String]) -> String {
    let mut text = String::from(
        ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n\
         .reg .pred p, q;\n.reg .b16 a16, b16, c16, o16;\n.reg .b32 a32, b32, c32, o32, i, n, m;\n\
         .reg .b64 a64, b64, c64, o64, in, out, at;\n\
         ld.param.u64 in, [x];\nld.param.u64 out, [y];\n\
         mov.u32 i, %ctaid.x;\nmov.u32 n, %ntid.x;\nmov.u32 m, %tid.x;\nmad.lo.u32 i, i, n, m;\n\
         mul.wide.u32 at, i, 24;\nadd.u64 in, in, at;\n\
         ld.global.b64 a64, [in];\nld.global.b64 b64, [in+8];\nld.global.b64 c64, [in+16];\n",
    );
    for name in ["a", "b", "c"] {
        text += &format!("cvt.u32.u64 {name}32, {name}64;\ncvt.u16.u64 {name}16, {name}64;\n");
    }
    text += &format!("mul.wide.u32 at, i, {};\nadd.u64 out, out, at;\n", 8 * lines.len());
    for (place, line) in lines.iter().enumerate() {
        let result = ["o16", "o32", "o64"].into_iter().find(|name| line.contains(name));
        text += &format!("{line};\n");
        text += match result {
            Some("o16") => "cvt.u64.u16 o64, o16;\n",
            Some("o32") => "cvt.u64.u32 o64, o32;\n",
            Some(_) => "",
            None => "selp.u64 o64, 1, 0, p;\n",
        };
        text += &format!("st.global.b64 [out+{}], o64;\n", 8 * place);
    }
    text + "ret;\n}\n"
}

fn run(ready: &Ready, inputs: &[u8], results: usize, threads: usize) -> Report {
    let launch = Launch {
        program: &ready.program,
        entry: None,
        grid: [(threads / BLOCK) as u32, 1, 1],
        block: [BLOCK as u32, 1, 1],
        args: vec![Arg::Buffer(Buffer::from_bytes(inputs)), Arg::Buffer(Buffer::zeros(8 * results * threads))],
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, profile: ready.profile, ..Options::default() },
    };
    launch.run().unwrap_or_else(|error| panic!("{error:?}"))
}

/// Those of the lines that are PTX: not every type has every modifier.
pub(crate) fn spelled(lines: Vec<String>) -> Vec<String> {
    let is_valid = |line: &String| {
        let text = kernel(std::slice::from_ref(line));
        Ready::read(Source::Ptx(&text), &Choice::default()).is_ok()
    };
    lines.into_iter().filter(is_valid).collect()
}

/// The results of every line on every triple, by the source and by the translation, which are the same.
pub(crate) fn results(lines: &[String], triples: &[[u64; 3]]) -> Vec<u64> {
    compared(&kernel(lines), lines, triples)
}

/// The results of a kernel whose threads each take a triple and give as many words as there are lines.
pub(crate) fn compared(text: &str, lines: &[String], triples: &[[u64; 3]]) -> Vec<u64> {
    let ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    let translation = spirv::write(&ready.program, &Translating::default());
    let translation = translation.unwrap_or_else(|findings| {
        let words: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
        panic!("{words:#?}")
    });
    let after = Ready::read(Source::SpirvText(&translation.text), &Choice::default());
    let after = after.unwrap_or_else(|why| panic!("{why:?}\n{}", translation.text));
    let inputs: Vec<u8> = triples.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let words = |report: Report| {
        let bytes = report.buffers[1].as_ref().unwrap().to_bytes();
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect::<Vec<u64>>()
    };
    let (source, translated) = (
        words(run(&ready, &inputs, lines.len(), triples.len())),
        words(run(&after, &inputs, lines.len(), triples.len())),
    );
    let mut wrong = Vec::new();
    for (place, (wanted, found)) in source.iter().zip(&translated).enumerate() {
        if wanted != found && wrong.len() < 10 {
            let (triple, line) = (triples[place / lines.len()], &lines[place % lines.len()]);
            wrong.push(format!("`{line}` of {triple:x?}: {wanted:x}, translated {found:x}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    source
}

/// Triples of a format: those of the judge's generator, and numbers around the smallest normal one.
pub(crate) fn triples(format: Format, count: usize, seed: u64) -> Vec<[u64; 3]> {
    let layout = Layout { exp_bits: format.exp_bits(), frac_bits: format.frac_bits() };
    let mut generator = Generator::new(seed, layout, layout);
    let mut all: Vec<[u64; 3]> = Vec::with_capacity(count);
    let (one, least) = (format.one(), format.smallest_normal());
    for step in -2i64..=2 {
        for near in -2i64..=2 {
            for c in [0, 1, least - 1, least, format.one()] {
                for signs in 0..4u64 {
                    let sign = |bit: u64| (signs >> bit & 1) * format.sign_mask();
                    let (a, b) = ((one as i64 + step) as u64, (least as i64 + near) as u64);
                    all.push([a ^ sign(0), b, c ^ sign(1)]);
                    all.push([b, a ^ sign(0), c ^ sign(1)]);
                }
            }
        }
    }
    all.truncate(count);
    while all.len() < count {
        all.push(generator.triple());
    }
    all
}
