//! Programs at random, engine against plain interpreter: the input's bytes are the generator's choices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};

fuzz_target!(|bytes: &[u8]| {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut rest = bytes.iter();
    let mut random = || {
        // Past the end of the input the choices go on from what was read.
        state ^= u64::from(rest.next().copied().unwrap_or(0)) << 56;
        state = state.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (state >> 29);
        state >> 8
    };
    // Every other input writes what native code takes whole.
    let generate = match bytes.last() {
        Some(last) if last % 2 == 1 => roundonce_scalar::generate_plain,
        _ => roundonce_scalar::generate,
    };
    let case = generate(&mut random);
    let expected = roundonce_scalar::run(&case.program, case.grid, case.block, case.buffers.clone());
    let native = Engine::native().iter().map(|&engine| (engine, 1));
    for (engine, threads) in native.chain([(Engine::Native, 2), (Engine::Interpreter, 1)]) {
        let args = case.buffers.iter().map(|buffer| Arg::Buffer(Buffer::from_bytes(buffer))).collect();
        let options = Options { engine, threads, ..Options::default() };
        let (grid, block) = (case.grid, case.block);
        let launch = Launch { program: &case.program, entry: None, grid, block, args, dynamic_shared: 0, options };
        let report = launch.run().expect("the interpreter ran it");
        let got: Vec<Vec<u8>> = report.buffers.into_iter().flatten().map(|buffer| buffer.to_bytes()).collect();
        assert_eq!(got, expected);
    }
});
