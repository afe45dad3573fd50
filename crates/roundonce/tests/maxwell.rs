//! Kernels of Maxwell cubins: ptxas's machine code gives the bits that the references of tests/kernels say, and for single
//! operations those of the PTX that it was made of.

use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::ir::{Op, Program};
use roundonce::kernel::{Choice, Ready, Refusal, Source, number};
use roundonce::sass;
use serde_json::Value;
use std::path::PathBuf;

/// What has instructions that are not run: calls of itself, calls through addresses, textures, surfaces.
const REFUSED: [(&str, &str); 5] =
    [("heap", "PRET"), ("recursive", "CAL"), ("surfaces", "SULD"), ("textures", "TEXS"), ("virtual", "PRET")];
/// How many cubins of tests/kernels run.
const RUN: usize = 40;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels")
}

/// The bytes of an .npy file behind its header.
fn array(file: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..].to_vec()
}

fn axes(text: &str) -> [u32; 3] {
    let mut all = [1; 3];
    for (axis, text) in all.iter_mut().zip(text.split(',')) {
        *axis = text.parse().unwrap();
    }
    all
}

fn run_case(ready: &Ready, case: &Value) -> Result<(), String> {
    let words: Vec<&str> = case["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut args = vec![Arg::Scalar(0); ready.kernel().params.len()];
    let (mut grid, mut block, mut dynamic_shared) = ([1; 3], [1; 3], 0);
    for pair in words[2..].chunks_exact(2) {
        match pair[0] {
            "--grid" => grid = axes(pair[1]),
            "--block" => block = axes(pair[1]),
            "--shared" => dynamic_shared = pair[1].parse().unwrap(),
            "--arg" => {
                let (place, value) = pair[1].split_once('=').unwrap();
                let place: usize = place.parse().unwrap();
                args[place] = match value.ends_with(".npy") {
                    true => Arg::Buffer(Buffer::from_bytes(&array(value))),
                    false => Arg::Scalar(number(ready.kernel().params[place].size, None, value).unwrap()),
                };
            }
            other => panic!("{other}"),
        }
    }
    let options = Options { engine: Engine::Native, profile: ready.profile, ..Options::default() };
    let launch = Launch { program: &ready.program, entry: None, grid, block, args, dynamic_shared, options };
    let report = launch.run().map_err(|error| error.to_string())?;
    for (place, file) in case["expected"].as_object().unwrap() {
        let got = report.buffers[place.parse::<usize>().unwrap()].as_ref().unwrap().to_bytes();
        let expected = array(file.as_str().unwrap());
        let differs = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        if differs.is_some() || got.len() != expected.len() {
            return Err(format!("argument {place} differs at byte {differs:?}"));
        }
    }
    Ok(())
}

#[test]
fn kernels_give_the_bits_of_their_references() {
    let cases = std::fs::read_to_string(folder().join("cases.jsonl")).unwrap();
    let (mut count, mut refused) = (0, 0);
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let name = case["name"].as_str().unwrap();
        for target in ["sm_50", "sm_61", "sm_61.O0"] {
            let file = format!("{name}.{target}.cubin");
            let Ok(bytes) = std::fs::read(folder().join("maxwell").join(&file)) else { continue };
            let ready = Ready::read(Source::Cubin(&bytes), &Choice::default());
            let Some((_, what)) = REFUSED.iter().find(|(refused, _)| *refused == name) else {
                run_case(&ready.unwrap_or_else(|refusal| panic!("{file}: {refusal:?}")), &case)
                    .unwrap_or_else(|failure| panic!("{file}: {failure}"));
                count += 1;
                continue;
            };
            match ready {
                Err(Refusal::Findings { findings, unsupported: true }) => {
                    let names = |finding: &&roundonce::isa::Finding| {
                        finding.message.contains(what) && finding.message.ends_with("is not run")
                    };
                    assert!(findings.iter().find(names).is_some(), "{file}: {findings:?}");
                    refused += 1;
                }
                other => panic!("{file}: {other:?}"),
            }
        }
    }
    assert_eq!((count, refused), (RUN, 2 * REFUSED.len()));
}

/// Words of which many are the edges of integers and floats.
fn words(count: usize) -> Vec<u8> {
    const EDGES: [u32; 24] = [
        0,
        1,
        2,
        31,
        32,
        33,
        64,
        0xffff,
        0x0001_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0xffff_0000,
        0x007f_ffff,
        0x0080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x5f00_0000,
        0x4b00_0000,
        0x8040_0000,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let word = |_| match next() % 8 {
        0..3 => EDGES[next() as usize % EDGES.len()],
        3 => next() % 128,
        4 => 0x3f00_0000 | next() >> 7,
        _ => next(),
    };
    (0..count).map(word).flat_map(u32::to_le_bytes).collect()
}

/// What a kernel of three parameters (a number, an input of 16 bytes a thread, an output) leaves.
fn output(program: &Program, name: &str, bytes: usize) -> Vec<u8> {
    const THREADS: u32 = 512;
    let launch = Launch {
        program,
        entry: Some(name),
        grid: [2, 1, 1],
        block: [THREADS / 2, 1, 1],
        args: vec![
            Arg::Scalar(u64::from(THREADS)),
            Arg::Buffer(Buffer::from_bytes(&words(4 * THREADS as usize))),
            Arg::Buffer(Buffer::from_bytes(&vec![0; bytes * THREADS as usize])),
        ],
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, ..Options::default() },
    };
    let report = launch.run().unwrap_or_else(|error| panic!("{name}: {error}"));
    report.buffers[2].as_ref().unwrap().to_bytes()
}

/// What differs between two outputs.
fn difference(expected: &[u8], got: &[u8], bytes: usize) -> Option<String> {
    let at = expected.chunks(4).zip(got.chunks(4)).position(|(expected, got)| expected != got)?;
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[4 * at..][..4].try_into().unwrap());
    let (thread, place) = (4 * at / bytes, 4 * at % bytes);
    Some(format!("byte {place} of thread {thread}: {:#x}, not {:#x}", word(got), word(expected)))
}

/// Every kernel of some machine code beside the kernel of its PTX.
fn compare(name: &str, code: Source<'_>, bytes: usize) -> usize {
    let text = std::fs::read_to_string(folder().join(format!("maxwell/{name}.ptx"))).unwrap();
    let each = Ready::read_each(code, &Choice::default()).unwrap();
    let mut failures = Vec::new();
    for (name, ready) in &each {
        let choice = Choice { entry: Some(name.clone()), ..Choice::default() };
        let ptx = Ready::read(Source::Ptx(&text), &choice).unwrap();
        let ready = match ready {
            Ok(ready) => ready,
            Err(refusal) => {
                failures.push(format!("{name}: {refusal:?}"));
                continue;
            }
        };
        ready.program.verify().unwrap();
        let mut smaller = ready.program.clone();
        sass::simplify(&mut smaller);
        smaller.verify().unwrap();
        let expected = output(&ptx.program, name, bytes);
        for program in [&ready.program, &smaller] {
            let differs = difference(&expected, &output(program, name, bytes), bytes);
            failures.extend(differs.map(|differs| format!("{name}: {differs}")));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    each.len()
}

fn cubin(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("maxwell/{name}.cubin"))).unwrap()
}

#[test]
fn single_operations_give_the_bits_of_their_ptx() {
    assert_eq!(compare("operations", Source::Cubin(&cubin("operations")), 8 * 40), 11);
}

/// From sm_60 on ptxas widens a half by an addition.
#[test]
fn halves_give_the_bits_of_their_ptx() {
    for target in ["sm_53", "sm_60"] {
        assert_eq!(compare("halves", Source::Cubin(&cubin(&format!("halves.{target}"))), 8 * 40), 7, "{target}");
    }
}

#[test]
fn dot_products_give_the_bits_of_their_ptx() {
    assert_eq!(compare("dots", Source::Cubin(&cubin("dots")), 8 * 40), 1);
}

#[test]
fn control_flow_arrays_and_atomics_give_the_bits_of_their_ptx() {
    assert_eq!(compare("flow", Source::Cubin(&cubin("flow")), 4), 3);
}

/// Sequences that are one operation where they are simplified, and the longer ways beside them.
#[test]
fn roots_and_reciprocals_give_the_bits_of_their_ptx() {
    assert_eq!(compare("roots", Source::Cubin(&cubin("roots")), 32), 1);
    let mut ready = Ready::read(Source::Cubin(&cubin("roots")), &Choice::default()).unwrap();
    sass::simplify(&mut ready.program);
    let blocks = &ready.program.kernels[0].blocks;
    let ops = || blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op);
    let roots = ops().filter(|op| matches!(op, Op::SquareRoot { .. })).count();
    let quotients = ops().filter(|op| matches!(op, Op::Divide { .. })).count();
    assert!(roots >= 2 && quotients >= 2, "{roots} roots, {quotients} quotients");
    assert!(!ready.program.kernels[0].unlikely.is_empty());
}

/// Two NaNs are divided as ptxas's routine divides them: the dividend's payload stays.
#[test]
fn quotients_of_nans_have_the_payloads_of_their_ptx() {
    assert_eq!(compare("nans", Source::Cubin(&cubin("nans")), 32), 1);
}

/// Their immediate has a sign, though nvdisasm prints none; their halves have none.
#[test]
fn sums_of_three_give_the_bits_of_their_ptx() {
    assert_eq!(compare("sums", Source::Cubin(&cubin("sums")), 32), 2);
}

/// Condition codes that are kept in a register or count carries; predicates that `LEA` wrote before, under the guard of what
/// reads them.
#[test]
fn carries_and_guards_give_the_bits_of_their_ptx() {
    assert_eq!(compare("carries", Source::Cubin(&cubin("carries")), 32), 6);
}

/// A register holds one value after the other, and a double's upper half is compared as an f32: nothing is claimed of its format.
#[test]
fn arrays_are_taken_where_the_code_tells_no_other_format() {
    let bytes = cubin("carries");
    for (name, formats) in
        [("reused", [None, Some("f32"), Some("f64")]), ("quotient", [None, Some("f64"), Some("f64")])]
    {
        let choice = Choice { entry: Some(name.to_owned()), ..Choice::default() };
        let ready = Ready::read(Source::Cubin(&bytes), &choice).unwrap();
        assert_eq!(ready.check_formats(&formats), Ok(()), "{name}");
    }
    // What `LEA` shifts by nothing is an address still.
    let choice = Choice { entry: Some("guarded".to_owned()), ..Choice::default() };
    assert_eq!(Ready::read(Source::Cubin(&bytes), &choice).unwrap().array_parameters()[1..], [true; 2]);
}

#[test]
fn programs_give_the_bits_of_their_ptx() {
    for target in ["sm_50", "sm_61"] {
        assert_eq!(compare("programs", Source::Cubin(&cubin(&format!("programs.{target}"))), 32), 35, "{target}");
    }
}

/// nvdisasm's text of a cubin has all that the cubin has.
#[test]
fn listings_run_as_their_cubins_do() {
    for (name, bytes, kernels) in [("flow", 4, 3), ("programs", 32, 35)] {
        let text = std::fs::read_to_string(folder().join(format!("maxwell/{name}.sass"))).unwrap();
        assert_eq!(compare(name, Source::Listing(&text), bytes), kernels);
    }
}

/// Whatever stands in a cubin, reading it ends with a program that is one, or with a finding.
#[test]
fn damaged_cubins_are_refused_or_programs() {
    let mut read = 0;
    for name in ["nbody.sm_50", "flow", "histogram.sm_61"] {
        let bytes = std::fs::read(folder().join(format!("maxwell/{name}.cubin"))).unwrap();
        let (mut place, mut change) = (0, 1);
        while place < bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= change;
            for kernel in sass::cubin_kernels(&damaged).unwrap_or_default() {
                if let Ok(program) = sass::lower_cubin(&damaged, &kernel, 1 << 14) {
                    program.verify().unwrap_or_else(|error| panic!("{name}, byte {place}: {error}"));
                    read += 1;
                }
            }
            place += 7;
            change = change.rotate_left(1);
        }
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn cubins_of_later_targets_are_refused() {
    let mut bytes = std::fs::read(folder().join("maxwell/saxpy.sm_50.cubin")).unwrap();
    // The target is the lowest byte of the header's flags.
    bytes[0x30] = 90;
    let refusal = Ready::read(Source::Cubin(&bytes), &Choice::default()).unwrap_err();
    let Refusal::Findings { findings, unsupported: true } = refusal else { panic!("{refusal:?}") };
    assert_eq!(findings[0].message, "a cubin for sm_90 is not run");
}
