//! `why` on kernels: for a list of policies a kernel and results made under it by a judge; the policy is found, and
//! nothing else is said where that is not the truth.

mod planted;

use std::collections::BTreeMap;

use planted::{BLOCK, Kernel, Language, Machine, THREADS, inputs};
use roundonce::Profile;
use roundonce::arith::Format;
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce::ir::Program;
use roundonce::kernel::{Choice, LaneValues, Ready, Source, lanes};
use roundonce::spirv::Assume;
use roundonce::why::{Allowed, Outcome};
use roundonce::why_kernel::{
    DeviationText, Experiment, Freedom, KernelAnswer, Observation, ObservedBuffer, answer_kernel,
};
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, Layout, Shape, Spec};

const AXPY: &str = "mul p a b; add y p c";
const FLUSHING: &str = "mul.ftz p a b; add.ftz y p c";
const TWO: &str = "mul p a b; mul q c d; add y p q";
const HORNER: &str = "mul p a b; add s p c; mul q s a; add r q d; mul t r a; sub y t b";
const BUTTERFLY: &str = "mul p a b; add y c p; sub z c p";
const FMAS: &str = "fma s a b c; fma y s d a";
const EXPLICIT: &str = "mul.rn p a b; add.rn y p c";
const MIXED: &str = "mul p a b; add s p c; fma.rz r s d a; mul.rn y r b";
const DOT: &str = "mul p a b; add acc acc p";
const DOMINATED: &str = "fma.fmz s a b c; fma.fmz y s d a";
const APART: &str = "mul p a b; add y p c";

/// Kernels, and what is planted in each.
#[rustfmt::skip] // A list to be read.
const PLANTED: &[(Language, Layout, usize, &str, &[&str])] = &[
    (Language::Ptx, Layout::F32, 1, AXPY, &[
        "", "fuse p y", "flush", "rz", "rm", "rp", "fuse p y + flush", "fuse p y + rz", "fuse p y + rm",
        "fuse p y + rp", "flush + rz", "flush + rm", "flush + rp",
    ]),
    (Language::Ptx, Layout::F32, 1, FLUSHING, &["", "keep", "fuse p y", "fuse p y + keep", "keep + rz"]),
    (Language::Ptx, Layout::F32, 1, TWO, &[
        "", "fuse-all", "fuse q y", "flush", "rz", "fuse q y + flush", "fuse-all + flush", "fuse q y + rp",
    ]),
    (Language::Ptx, Layout::F32, 1, HORNER, &[
        "", "fuse-all", "fuse p s", "fuse q r", "fuse t y", "fuse p s + fuse q r", "fuse p s + fuse t y",
        "fuse q r + fuse t y", "fuse-all + flush", "fuse-all + rz", "rm", "fuse t y + flush",
    ]),
    (Language::Ptx, Layout::F32, 1, BUTTERFLY, &["", "fuse-all", "fuse p y", "fuse p z", "fuse-all + flush"]),
    (Language::Ptx, Layout::F32, 1, FMAS, &[
        "", "split-all", "split s", "split y", "flush", "all rz", "all rm", "all rp", "split s + flush",
        "split-all + all rz",
    ]),
    (Language::Ptx, Layout::F32, 1, EXPLICIT, &["", "fuse-apart", "all rz", "flush", "flush + all rm", "all rp"]),
    (Language::Ptx, Layout::F32, 1, MIXED, &[
        "", "fuse p s", "rz", "all rz", "split r", "fuse p s + split r", "flush + split r", "fuse p s + all rp",
    ]),
    (Language::Ptx, Layout::F64, 1, AXPY, &["", "fuse p y", "rz", "fuse p y + rm"]),
    (Language::Ptx, Layout::F32, 5, DOT, &["", "fuse p acc", "flush", "rz", "fuse p acc + flush", "rm"]),
    (Language::Spirv, Layout::F32, 1, AXPY, &["", "fuse p y", "flush", "rz", "fuse p y + flush"]),
    (Language::Spirv, Layout::F32, 1, HORNER, &["", "fuse-all", "fuse q r", "fuse-all + flush"]),
    (Language::Spirv, Layout::F32, 1, FMAS, &["", "split-all", "split s", "flush", "all rz"]),
    (Language::Sass, Layout::F32, 1, FMAS, &[
        "", "split-all", "split s", "split y", "flush", "fmz", "all rz", "split-all + fmz", "fmz + all rp",
    ]),
    (Language::Sass, Layout::F32, 1, DOMINATED, &["", "no fmz", "keep", "split s", "split-all + no fmz"]),
    (Language::Sass, Layout::F32, 1, APART, &["", "flush", "fmz", "all rz"]),
];

/// A kernel made ready, by the front door.
fn program(kernel: &Kernel) -> (Program, usize) {
    match kernel.language {
        Language::Ptx => (Ready::read(Source::Ptx(&kernel.text), &Choice::default()).unwrap().program, 4),
        // Strict keeps subnormals, as the planted kernels do; the profile of a launch is NVIDIA's all the same.
        Language::Spirv => {
            let choice = Choice { assume: Assume::Strict, ..Choice::default() };
            (Ready::read(Source::SpirvText(&kernel.text), &choice).unwrap().program, 4)
        }
        Language::Sass => {
            let lowered = roundonce::sass::lower(&kernel.text, None).unwrap();
            (lowered.program, 1 + lowered.inputs.len())
        }
    }
}

/// Little-endian elements of a layout.
fn bytes(layout: Layout, values: impl Iterator<Item = u64>) -> Vec<u8> {
    let size = layout.width() as usize / 8;
    values.flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

type Inputs = fn(Layout, usize, usize) -> [u64; 4];

fn arguments(kernel: &Kernel, given: Inputs) -> Vec<Arg> {
    let column = |at: usize| {
        let times = if at < 2 { kernel.times } else { 1 };
        let places = (0..times).flat_map(|time| (0..THREADS).map(move |thread| (thread, time)));
        bytes(kernel.layout, places.map(|(thread, time)| given(kernel.layout, thread, time)[at]))
    };
    if kernel.language == Language::Sass {
        let lowered = roundonce::sass::lower(&kernel.text, None).unwrap();
        let words = |at| column(at).as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let registers = (0..4).map(|at| (format!("R{at}"), LaneValues::PerLane(words(at))));
        return lanes(&lowered, &registers.collect(), |name| name.to_string()).unwrap().args;
    }
    let outputs = [0, 1].map(|_| vec![0; THREADS * kernel.layout.width() as usize / 8]);
    let buffers = (0..4).map(column).chain(outputs).map(|bytes| Arg::Buffer(Buffer::from_bytes(&bytes)));
    // SPIR-V has no unused parameter.
    buffers.take(if kernel.language == Language::Spirv { 4 + kernel.outputs().len() } else { 6 }).collect()
}

/// What a thread sees each time round: `c` and `d` do not change.
fn inputs_of(kernel: &Kernel, given: Inputs, thread: usize) -> Vec<[u64; 4]> {
    let first = given(kernel.layout, thread, 0);
    let later = |time| {
        let [a, b, ..] = given(kernel.layout, thread, time);
        [a, b, first[2], first[3]]
    };
    (0..kernel.times).map(later).collect()
}

/// The outputs seen of a machine, in place of the kernel's.
fn seen(kernel: &Kernel, first: usize, outputs: &[&str], results: &[BTreeMap<String, u64>]) -> Observation {
    let array = |name: &&str| {
        let arg = match kernel.language {
            Language::Sass => {
                let lowered = roundonce::sass::lower(&kernel.text, None).unwrap();
                let register = kernel.sass_register(name);
                first + lowered.outputs.iter().position(|output| output.to_string() == register).unwrap()
            }
            _ => first + usize::from(*name == "z"),
        };
        ObservedBuffer {
            name: format!("{name}.npy"),
            parameter: (*name).to_owned(),
            arg,
            bytes: bytes(kernel.layout, results.iter().map(|values| values[*name])),
            size: kernel.layout.width() as usize / 8,
            format: Some(if kernel.layout == Layout::F64 { Format::F64 } else { Format::F32 }),
            shape: vec![THREADS],
        }
    };
    Observation { arrays: outputs.iter().map(array).collect() }
}

fn ask(kernel: &Kernel, given: Inputs, observations: impl Fn(usize) -> Vec<Observation>) -> KernelAnswer {
    ask_allowing(Allowed::ALL, kernel, given, observations)
}

fn ask_allowing(
    allow: Allowed,
    kernel: &Kernel,
    given: Inputs,
    observations: impl Fn(usize) -> Vec<Observation>,
) -> KernelAnswer {
    let (program, first) = program(kernel);
    let experiment = Experiment {
        launch: Launch {
            program: &program,
            entry: None,
            grid: [THREADS.div_ceil(if kernel.language == Language::Sass { 256 } else { BLOCK }) as u32, 1, 1],
            block: [if kernel.language == Language::Sass { THREADS } else { BLOCK } as u32, 1, 1],
            args: arguments(kernel, given),
            dynamic_shared: 0,
            options: Options { profile: Profile::NVIDIA, ..Options::default() },
        },
        kernel: &program.kernels[0],
        freedom: match kernel.language {
            Language::Ptx => Freedom::ptx(),
            Language::Spirv => Freedom::spirv(),
            Language::Sass => Freedom::sass(),
        },
        observations: observations(first),
        allow,
        toolchain: None,
    };
    answer_kernel(&experiment, &mut |_| ()).unwrap()
}

fn run(kernel: &Kernel, given: Inputs, plants: &str) -> Vec<BTreeMap<String, u64>> {
    let machine = Machine::new(kernel, plants);
    (0..THREADS).map(|thread| machine.results(&inputs_of(kernel, given, thread))).collect()
}

/// A plant as an answer names it.
fn named(kernel: &Kernel, plant: &str) -> (&'static str, Vec<u32>, Option<String>) {
    let words: Vec<&str> = plant.split(' ').collect();
    let lines = |names: &[&str]| names.iter().map(|name| kernel.line(name)).collect::<Vec<u32>>();
    let ty = || Some(if kernel.layout == Layout::F64 { "f64" } else { "f32" }.to_owned());
    match words[..] {
        ["fuse", product, sum] => ("fuse", lines(&[product, sum]), None),
        ["fuse-all"] => ("fuse-all", vec![], None),
        ["fuse-apart"] => ("fuse-apart", vec![], None),
        ["split", fma] => ("split", lines(&[fma]), None),
        ["split-all"] => ("split-all", vec![], None),
        ["flush"] => ("flush", vec![], ty()),
        ["keep"] => ("keep-subnormals", vec![], ty()),
        ["fmz"] => ("zero-dominance", vec![], None),
        ["no", "fmz"] => ("no-zero-dominance", vec![], None),
        ["all", direction] => ("round-all", vec![], Some(direction.to_owned())),
        [direction] => ("round-unmodified", vec![], Some(direction.to_owned())),
        _ => panic!("{plant}"),
    }
}

fn named_all(kernel: &Kernel, plants: &str) -> Vec<(&'static str, Vec<u32>, Option<String>)> {
    let mut all: Vec<_> = plants.split(" + ").filter(|it| !it.is_empty()).map(|it| named(kernel, it)).collect();
    all.sort();
    all
}

fn found(deviations: &[DeviationText]) -> Vec<(&'static str, Vec<u32>, Option<String>)> {
    let text = |one: &DeviationText| (one.kind, one.lines.clone(), one.mode.map(str::to_owned));
    let mut all: Vec<_> = deviations.iter().map(text).collect();
    all.sort();
    all
}

#[test]
fn every_planted_policy_is_named() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for &(language, layout, times, text, plants) in PLANTED {
        let kernel = Kernel::new(language, layout, times, text);
        for plant in plants {
            count += 1;
            let results = run(&kernel, inputs, plant);
            let answer = ask(&kernel, inputs, |first| vec![seen(&kernel, first, &kernel.outputs(), &results)]);
            let seen = &answer.seen[0];
            let explanations: Vec<_> = seen.explanations.iter().map(|policy| found(&policy.deviations)).collect();
            if seen.outcome != Outcome::One || explanations != [named_all(&kernel, plant)] {
                wrong.push(format!("{language:?} `{text}`: planted `{plant}`: {:?} {explanations:?}", seen.outcome));
                continue;
            }
            // Where it parts: an element of the machine's, and an instruction whose result the judge confirms.
            let Some(parted) = &seen.first_difference else {
                assert_eq!(*plant, "", "`{text}`: nothing said of where `{plant}` parts");
                continue;
            };
            let hex = |bits: u64| format!("{bits:#0width$x}", width = layout.width() as usize / 4 + 2);
            let thread = parted.element.index[0];
            let output = &parted.element.parameter;
            assert!(parted.element.computed.starts_with(&hex(results[thread][output])), "`{text}`: `{plant}`");
            let at = parted.at.as_ref().unwrap_or_else(|| panic!("`{text}`: `{plant}` parts nowhere"));
            assert_eq!(at.thread.block[0] as usize * BLOCK + at.thread.thread[0] as usize, thread);
            if times == 1 {
                let plain = &run(&kernel, inputs, "")[thread];
                let first = kernel.statements.iter().find(|it| plain[&it.result] != results[thread][&it.result]);
                let first = first.unwrap();
                assert_eq!(at.second.line, first.line, "`{text}`: `{plant}`");
                assert!(at.second.results[0].starts_with(&hex(results[thread][&first.result])), "`{text}`: `{plant}`");
                assert!(at.first.results[0].starts_with(&hex(plain[&first.result])), "`{text}`: `{plant}`");
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 60, "{count}");
}

/// Data that several policies give alike: all of the most plausible ones are named.
#[test]
fn ambiguity_is_told() {
    let ptx = |text| Kernel::new(Language::Ptx, Layout::F32, 1, text);
    let positive: Inputs =
        |layout, thread, time| inputs(layout, thread % 60, time).map(|bits| bits & layout.magnitude());
    let negative: Inputs = |layout, thread, time| {
        let [a, b, c, d] = inputs(layout, thread % 60, time).map(|bits| bits & layout.magnitude());
        [a | layout.sign(), b, c | layout.sign(), d]
    };
    let by_one: Inputs = |layout, thread, time| {
        let [a, b, c, _] = inputs(layout, thread % 60, time);
        [a, b, c, layout.one()]
    };
    let ordinary: Inputs = |layout, thread, time| inputs(layout, thread % 60, time);
    // The kernel, its data, the outputs seen, what is planted, what explains it.
    type Ambiguous<'a> = (&'a str, Inputs, &'a [&'a str], &'a str, &'a [&'a str]);
    let cases: &[Ambiguous] = &[
        ("mul p a b; add s p c; mul q s d; add y q a", by_one, &["y"], "fuse p s", &["fuse-all"]),
        (AXPY, positive, &["y"], "rz", &["rz", "rm"]),
        (AXPY, negative, &["y"], "rp", &["rz", "rp"]),
        (BUTTERFLY, ordinary, &["y"], "fuse p y", &["fuse-all"]),
        (FMAS, by_one, &["y"], "split s", &["split s", "split-all"]),
        (EXPLICIT, positive, &["y"], "all rm", &["all rz", "all rm"]),
    ];
    for (text, given, outputs, plant, expected) in cases {
        let kernel = ptx(text);
        let results = run(&kernel, *given, plant);
        let answer = ask(&kernel, *given, |first| vec![seen(&kernel, first, outputs, &results)]);
        let mut explanations: Vec<_> =
            answer.seen[0].explanations.iter().map(|policy| found(&policy.deviations)).collect();
        let mut expected: Vec<_> = expected.iter().map(|plants| named_all(&kernel, plants)).collect();
        explanations.sort();
        expected.sort();
        let outcome = answer.seen[0].outcome;
        assert_eq!(explanations, expected, "`{text}`: `{plant}`");
        assert_eq!(outcome == Outcome::One, expected.len() == 1, "`{text}`: `{plant}`: {outcome:?}");
    }
    // What changes nothing that was seen is no explanation beside the kernel as written.
    let kernel = ptx(BUTTERFLY);
    let results = run(&kernel, ordinary, "fuse p z");
    let answer = ask(&kernel, ordinary, |first| vec![seen(&kernel, first, &["y"], &results)]);
    assert_eq!(answer.seen[0].outcome, Outcome::One);
    assert!(answer.seen[0].explanations[0].deviations.is_empty());
}

/// What no compiler does unasked is no cause, unless the kernel or the person names it.
#[test]
fn unusual_modes_are_no_causes() {
    let kernel = Kernel::new(Language::Ptx, Layout::F32, 1, AXPY);
    let results = run(&kernel, inputs, "rz");
    let unasked = |kernel: &Kernel, results: &[BTreeMap<String, u64>]| {
        ask_allowing(Allowed::NONE, kernel, inputs, |first| vec![seen(kernel, first, &["y"], results)]).seen.remove(0)
    };
    let answer = unasked(&kernel, &results);
    assert_eq!((answer.outcome, answer.explanations.len()), (Outcome::None, 0));
    assert_eq!(found(&answer.also_possible.unwrap().deviations), named_all(&kernel, "rz"));
    // One of its instructions is rounded toward zero: the others may be.
    let kernel = Kernel::new(Language::Ptx, Layout::F32, 1, "mul.rz p a b; add q p c; add y q d");
    let answer = unasked(&kernel, &run(&kernel, inputs, "rz"));
    assert_eq!((answer.outcome, found(&answer.explanations[0].deviations)), (Outcome::One, named_all(&kernel, "rz")));
}

/// Few elements are weak evidence, and none where policies that were tried match their neighbours as well.
#[test]
fn few_elements_are_weak_evidence() {
    let kernel = Kernel::new(Language::Ptx, Layout::F32, 1, AXPY);
    let results = run(&kernel, inputs, "fuse p y");
    let of = |count: usize| {
        let answer = ask(&kernel, inputs, |first| {
            let mut observation = seen(&kernel, first, &["y"], &results);
            observation.arrays[0].bytes.truncate(4 * count);
            observation.arrays[0].shape = vec![count];
            vec![observation]
        });
        let seen = &answer.seen[0];
        assert!((seen.chance - (-seen.evidence).exp2()).abs() < 1e-9 && !seen.explanations.is_empty());
        (seen.outcome, seen.evidence)
    };
    let (few, many) = (of(2), of(THREADS));
    assert!(few.0 == Outcome::Consistent && few.1 < 10.0, "{few:?}");
    assert!(many.0 == Outcome::One && many.1 > 20.0, "{many:?}");
}

/// What no policy gives: that is said, with what comes nearest and what is left.
#[test]
fn what_nothing_gives_is_told() {
    let kernel = Kernel::new(Language::Ptx, Layout::F32, 1, AXPY);
    let none = |results: Vec<BTreeMap<String, u64>>| {
        let answer = ask(&kernel, inputs, |first| vec![seen(&kernel, first, &["y"], &results)]);
        assert_eq!(answer.seen[0].outcome, Outcome::None);
        assert!(!answer.explained() && answer.seen[0].explanations.is_empty());
        answer.seen[0].clone()
    };
    let fused = run(&kernel, inputs, "fuse p y");
    let plain = run(&kernel, inputs, "");
    // A bit flipped.
    let mut odd = fused.clone();
    *odd[5].get_mut("y").unwrap() ^= 1;
    let nearest = none(odd).nearest.unwrap();
    assert_eq!(found(&nearest.policy.deviations), named_all(&kernel, "fuse p y"));
    assert_eq!((nearest.explained, nearest.first_unexplained.index[0]), (THREADS - 1, 5));
    assert_eq!(nearest.first_unexplained.ulps, Some(1));
    let thread = nearest.first_unexplained.thread.unwrap();
    assert_eq!((thread.block, thread.thread), ([0, 0, 0], [5, 0, 0]));
    // Every second thread fuses.
    none((0..THREADS).map(|at| if at % 2 == 0 { fused[at].clone() } else { plain[at].clone() }).collect());
    // Another computation.
    let other = Kernel::new(Language::Ptx, Layout::F32, 1, "mul p a b; sub y p c");
    none(run(&other, inputs, ""));
    let other = Kernel::new(Language::Ptx, Layout::F32, 1, "mul.rz p a b; add y p c");
    none(run(&other, inputs, ""));
    // The operands in another order of sums.
    let other = Kernel::new(Language::Ptx, Layout::F32, 1, "mul p a b; add q p d; sub r q d; add y r c");
    none(run(&other, inputs, ""));
}

/// Two runs seen of one kernel are explained apart.
#[test]
fn every_observation_has_its_own_answer() {
    let kernel = Kernel::new(Language::Ptx, Layout::F32, 1, BUTTERFLY);
    let [gpu, cpu] = ["fuse-all", "flush"].map(|plants| run(&kernel, inputs, plants));
    let answer = ask(&kernel, inputs, |first| {
        [&gpu, &cpu].into_iter().map(|results| seen(&kernel, first, &["y", "z"], results)).collect()
    });
    let explanations: Vec<_> = answer.seen.iter().map(|seen| found(&seen.explanations[0].deviations)).collect();
    assert_eq!(explanations, [named_all(&kernel, "fuse-all"), named_all(&kernel, "flush")]);
    assert_eq!(answer.seen[0].elements, 2 * THREADS);
}

/// Blocks that communicate are run together; nondeterminism and approximations are reported as doubts.
#[test]
fn reasons_for_doubt_are_told() {
    let text = |last: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 y, .param .u64 z)\n\
             {{\n.reg .b32 %i, %n, %r; .reg .b64 %at, %base; .reg .f32 %a, %b, %c, %p, %y;\n\
             mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %r, %tid.x; mad.lo.u32 %i, %i, %n, %r;\n\
             mul.wide.u32 %at, %i, 4;\n\
             ld.param.u64 %base, [a]; add.u64 %base, %base, %at; ld.global.f32 %a, [%base];\n\
             ld.param.u64 %base, [b]; add.u64 %base, %base, %at; ld.global.f32 %b, [%base];\n\
             ld.param.u64 %base, [c]; add.u64 %base, %base, %at; ld.global.f32 %c, [%base];\n\
             mul.f32 %p, %a, %b;\nadd.f32 %y, %p, %c;\nld.param.u64 %base, [y];\n{last}\nret;\n}}\n"
        )
    };
    // c is the rounded product with its sign turned: what is left is the product's own error, or nothing.
    let ordinary: Inputs = |layout, thread, time| {
        let [a, b, _, d] = inputs(layout, thread % 60, time);
        let mul = Spec::new(Shape::Mul, layout, Direction::Nearest);
        [a, b, judge(&mul, [a, b, 0]).bits ^ layout.sign(), d]
    };
    let axpy = Kernel::new(Language::Ptx, Layout::F32, 1, AXPY);
    let with = |last: &str| Kernel { text: text(last), ..Kernel::new(Language::Ptx, Layout::F32, 1, AXPY) };
    let fused = run(&axpy, ordinary, "fuse p y");

    let sum = with("red.global.add.f32 [%base], %y;");
    let add = Spec::new(Shape::Add, Layout::F32, Direction::Nearest);
    let total = fused.iter().fold(0, |sum, it| judge(&add, [sum, 0, it["y"]]).bits);
    let mut results: Vec<BTreeMap<String, u64>> = vec![BTreeMap::from([("y".to_owned(), 0)]); THREADS];
    results[0].insert("y".to_owned(), total);
    let answer = ask(&sum, ordinary, |first| vec![seen(&sum, first, &["y"], &results)]);
    assert_eq!(answer.seen[0].explanations.len(), 1);
    assert_eq!(answer.seen[0].explanations[0].deviations[0].kind, "fuse");
    assert_eq!(answer.doubts.unordered, [15]);
    assert!(answer.doubts.not_exact.is_empty());
    // Also where a policy gives everything.
    let text = |answer: &KernelAnswer| answer.lines().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert!(text(&answer).contains("the order of atomic float additions, line 15"), "{}", text(&answer));

    let approximate = with("ex2.approx.f32 %y, %y; add.u64 %base, %base, %at; st.global.f32 [%base], %y;");
    let answer = ask(&approximate, ordinary, |first| vec![seen(&approximate, first, &["y"], &fused)]);
    assert_eq!(answer.seen[0].outcome, Outcome::None);
    assert_eq!(answer.doubts.not_exact.get("ex2.approx.f32"), Some(&(THREADS as u64)));
    assert!(text(&answer).contains("not exact: ex2.approx.f32 × 96 (correctly rounded here"), "{}", text(&answer));
}

/// Three products of many: found by trying every subset.
#[test]
fn larger_sets_are_found() {
    let text = "mul p a b; add s p c; mul q s a; add r q d; mul t r b; add u t c; mul v u d; sub y v a";
    let kernel = Kernel::new(Language::Ptx, Layout::F32, 1, text);
    let plants = "fuse p s + fuse q r + fuse v y";
    let results = run(&kernel, inputs, plants);
    let answer = ask(&kernel, inputs, |first| vec![seen(&kernel, first, &["y"], &results)]);
    let explanations: Vec<_> = answer.seen[0].explanations.iter().map(|policy| found(&policy.deviations)).collect();
    assert_eq!(explanations, [named_all(&kernel, plants)]);
}

/// A thread that stores what another has computed: the other one's instruction is shown.
#[test]
fn the_instruction_may_be_another_threads() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 room[128];\n\
        .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 y, .param .u64 z)\n{\n\
        .reg .b32 %i, %n, %r, %x; .reg .b64 %at, %base; .reg .f32 %a, %b, %c, %p, %y;\n\
        mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %r, %tid.x; mad.lo.u32 %i, %i, %n, %r;\n\
        mul.wide.u32 %at, %i, 4;\n\
        ld.param.u64 %base, [a]; add.u64 %base, %base, %at; ld.global.f32 %a, [%base];\n\
        ld.param.u64 %base, [b]; add.u64 %base, %base, %at; ld.global.f32 %b, [%base];\n\
        ld.param.u64 %base, [c]; add.u64 %base, %base, %at; ld.global.f32 %c, [%base];\n\
        mul.f32 %p, %a, %b;\n\
        add.f32 %y, %p, %c;\n\
        mul.lo.u32 %x, %r, 4; mov.u32 %n, room; add.u32 %n, %n, %x; st.shared.f32 [%n], %y;\n\
        bar.sync 0;\n\
        xor.b32 %x, %x, 12; mov.u32 %n, room; add.u32 %n, %n, %x; ld.shared.f32 %y, [%n];\n\
        ld.param.u64 %base, [y]; add.u64 %base, %base, %at; st.global.f32 [%base], %y;\n\
        ret;\n}\n";
    let axpy = Kernel::new(Language::Ptx, Layout::F32, 1, AXPY);
    let fused = run(&axpy, inputs, "fuse p y");
    let swapped: Vec<_> = (0..THREADS).map(|thread| fused[thread ^ 3].clone()).collect();
    let kernel = Kernel { text: text.to_owned(), ..Kernel::new(Language::Ptx, Layout::F32, 1, AXPY) };
    let answer = ask(&kernel, inputs, |first| vec![seen(&kernel, first, &["y"], &swapped)]);
    assert_eq!(answer.seen[0].outcome, Outcome::One);
    let parted = answer.seen[0].first_difference.as_ref().unwrap();
    let at = parted.at.as_ref().unwrap();
    assert_eq!(at.second.instruction, "add.f32 %y, %p, %c");
    let through = at.through.unwrap();
    assert_eq!(through.block[0] as usize * BLOCK + through.thread[0] as usize, parted.element.index[0]);
    assert_ne!(at.thread, through);
    assert_eq!(at.thread.block, through.block);
}
