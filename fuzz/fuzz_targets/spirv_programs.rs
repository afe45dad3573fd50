//! SPIR-V shaders by structure: text to words and back, checks end, and all engines run them alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::spirv::{Assume, Environment, assemble, check_text, disassemble};
use roundonce_fuzz::{Choices, engines, spirv::generate};

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let environments: Vec<Environment> = Environment::all().collect();
    let environment = *choices.pick(&environments);
    let assume = *choices.pick(&[Assume::Nvidia, Assume::Strict, Assume::Flush]);
    let shader = generate(choices);
    let text = &shader.text;
    let words = assemble(text).unwrap_or_else(|findings| panic!("{text}\n{findings:?}"));
    let binary: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let printed = disassemble(&binary).unwrap_or_else(|finding| panic!("{text}\n{finding}"));
    assert_eq!(assemble(&printed).as_ref(), Ok(&words), "{text}\n---\n{printed}");
    let _ = check_text(text, environment);

    let choice = Choice { assume, ..Choice::default() };
    let Ok(ready) = Ready::read(Source::SpirvText(text), &choice) else { return };
    ready.program.verify().unwrap_or_else(|invalid| panic!("{text}\n{invalid}"));
    let launch = Launch {
        program: &ready.program,
        entry: None,
        grid: shader.grid,
        block: shader.block,
        args: shader.args,
        dynamic_shared: 0,
        options: Options { profile: ready.profile, ..Options::default() },
    };
    engines::hold(&launch, &|| text.clone());
});
