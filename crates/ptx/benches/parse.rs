//! How fast real modules are read, printed and checked, in bytes of text a second, and how much memory each takes at
//! most (`max alloc`, beside the text itself): `cargo bench -p roundonce-ptx`.

use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use roundonce_ptx::{Options, check, parse, print};
use std::fmt::Write;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// A module of about a megabyte: what compilers made of the project's kernels, each many times over.
fn kernels() -> String {
    let sources = [
        include_str!("../../../tests/kernels/nbody.ptx"),
        include_str!("../../../tests/kernels/sgemm.ptx"),
        include_str!("../../../tests/kernels/twosum.ptx"),
        include_str!("../../../tests/kernels/fft.ptx"),
    ];
    let mut text = ".version 9.5\n.target sm_75\n.address_size 64\n".to_owned();
    for copy in 0.. {
        for source in sources {
            let (_, body) = source.split_once(".address_size 64").expect("a header");
            let _ = write!(text, "// copy {copy}\n{body}");
        }
        if text.len() > 1 << 20 {
            break;
        }
    }
    text
}

/// A table of a quarter of a million bytes, each a number.
fn table() -> String {
    let numbers = vec!["255"; 1 << 18].join(", ");
    format!(".version 8.0\n.target sm_90\n.global .align 4 .b8 table[{}] = {{{numbers}}};\n", 1 << 18)
}

#[divan::bench]
fn parse_kernels(bencher: Bencher) {
    let text = kernels();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| parse(black_box(&text)));
}

#[divan::bench]
fn parse_table(bencher: Bencher) {
    let text = table();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| parse(black_box(&text)));
}

#[divan::bench]
fn print_kernels(bencher: Bencher) {
    let text = kernels();
    let module = parse(&text).module;
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| print(black_box(&module)));
}

#[divan::bench]
fn check_kernels(bencher: Bencher) {
    let text = kernels();
    let module = parse(&text).module;
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| check(black_box(&module), &Options::default()));
}
