//! A kernel laid beside the machine code of its cubin: what became of each product that PTX leaves open.

use std::path::{Path, PathBuf};

use roundonce::compiled::{Compiled, Made};
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::ir::Program;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::sass::CompiledModule;
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, Layout, Shape, Spec};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli/compiled.in")
}

fn text() -> String {
    std::fs::read_to_string(folder().join("pair.ptx")).unwrap()
}

fn bytes(cubin: &str) -> Vec<u8> {
    std::fs::read(folder().join(cubin)).unwrap()
}

fn compiled(text: &str, cubin: &str) -> Result<Compiled, String> {
    let ready = Ready::read(Source::Ptx(text), &Choice::default()).unwrap();
    Compiled::of(ready.kernel(), &CompiledModule::parse(&bytes(cubin)).unwrap())
}

/// The two products of one sum, of which one is fused, and a product that is stored too, which is not. nvdisasm 13.5 of the
/// code: `FMUL R11, …; FMUL R9, …; FFMA R7, R0, R7, -R11; FADD R11, R6, R9`.
#[test]
fn what_became_of_each_product() {
    let made = |cubin| -> Vec<(u32, u32, Made)> {
        compiled(&text(), cubin).unwrap().pairs.iter().map(|pair| (pair.product, pair.sum, pair.made)).collect()
    };
    let by_lines = [(21, 23, Made::Fused), (22, 23, Made::Apart), (25, 26, Made::Apart)];
    assert_eq!(made("sm_90.cubin"), by_lines);
    // Both products are of values that were loaded: nothing tells them apart.
    let by_shape = [(21, 23, Made::Unclear), (22, 23, Made::Unclear), (25, 26, Made::Apart)];
    assert_eq!(made("plain.cubin"), by_shape);
    assert!(!compiled(&text(), "plain.cubin").unwrap().by_lines);
}

/// A sum that is kept apart beside a multiply-add that PTX has itself and those of a quotient, without lines: stores write no
/// register, and what has an operand of its own is not the sum. nvdisasm 13.5 of the code: `FMUL R11, R6, R6; STG; FFMA R13, R0, R7, R9;
/// FADD R9, R8, R11`.
#[test]
fn a_multiply_add_of_ptx_is_no_sum_that_is_left_open() {
    let text = std::fs::read_to_string(folder().join("explicit.ptx")).unwrap();
    for (cubin, address) in [("explicit_90.cubin", 0xe0), ("explicit_61.cubin", 0xd8)] {
        let found = compiled(&text, cubin).unwrap();
        let pairs: Vec<_> = found.pairs.iter().map(|pair| (pair.made, pair.at.clone())).collect();
        assert_eq!(pairs, [(Made::Apart, vec![("explicit".to_owned(), address)])], "{cubin}");
        assert!(!found.by_lines);
    }
}

/// The kernel contracted as its machine code is gives the multiply-add's bits, by exact rationals.
#[test]
fn a_run_follows_the_machine_code() {
    let ready = Ready::read(Source::Ptx(&text()), &Choice::default()).unwrap();
    let contracted = compiled(&text(), "sm_90.cubin").unwrap().contracted(ready.kernel()).unwrap();
    let program = Program { kernels: vec![contracted], ..ready.program.clone() };
    let given: [u32; 4] = [0x3fcc_2018, 0x3fd0_0000, 0x3f80_0000, 0x3f80_0000];
    let bytes: Vec<u8> = given.iter().flat_map(|word| word.to_le_bytes()).collect();
    let args = vec![Arg::Buffer(Buffer::from_bytes(&bytes)), Arg::Buffer(Buffer::zeros(12))];
    let launch = Launch {
        program: &program,
        entry: None,
        grid: [1; 3],
        block: [1; 3],
        args,
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, ..Options::default() },
    };
    let report = launch.run().unwrap();
    let result = report.buffers[1].as_ref().unwrap().words()[0];
    let spec = Spec::new(Shape::MulAdd, Layout::F32, Direction::Nearest);
    let minus_one = 0xbf80_0000;
    assert_eq!(u64::from(result), judge(&spec, [given[0].into(), given[1].into(), minus_one]).bits);
    let unclear = compiled(&text(), "plain.cubin").unwrap().contracted(ready.kernel()).unwrap_err();
    assert!(unclear.contains("line 23"), "{unclear}");
}

#[test]
fn other_ptx_and_other_kernels_are_refused() {
    let other = text().replace("sub.f32 %f7, %f5, %f6", "add.f32 %f7, %f5, %f6");
    let refusal = compiled(&other, "sm_90.cubin").unwrap_err();
    assert!(refusal.contains("its line 23 is `sub.f32 %f7, %f5, %f6;`"), "{refusal}");
    let refusal = compiled(&text().replace("entry pair", "entry other"), "sm_90.cubin").unwrap_err();
    assert!(refusal.contains("no kernel `other`: it has pair"), "{refusal}");
}

/// Damaged cubins: an error or other answers, never a panic.
#[test]
fn damaged_cubins() {
    for cubin in ["sm_90.cubin", "sm_50.cubin"] {
        let good = bytes(cubin);
        for index in 0..good.len() {
            let mut damaged = good.clone();
            damaged[index] ^= 0xff;
            let _ = CompiledModule::parse(&damaged);
            let _ = CompiledModule::parse(&good[..index]);
        }
    }
}
