//! PTX modules by structure: checking ends, what is printed is read back, and all engines run them alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::ptx;
use roundonce_fuzz::{Choices, engines, ptx::check_table, ptx::generate};

fuzz_target!(init: check_table(), |bytes: &[u8]| {
    let module = generate(&mut Choices::new(bytes));
    let parsed = ptx::parse(&module.text);
    assert_eq!(parsed.findings, [], "{}", module.text);
    let printed = ptx::print(&parsed.module);
    let again = ptx::parse(&printed);
    assert!(again.findings.is_empty() && again.module == parsed.module, "{}\n---\n{printed}", module.text);
    let _ = ptx::check_text(&module.text, &ptx::Options { determinacy: true });

    let Ok(ready) = Ready::read(Source::Ptx(&module.text), &Choice::default()) else { return };
    ready.program.verify().unwrap_or_else(|invalid| panic!("{}\n{invalid}", module.text));
    let launch = Launch {
        program: &ready.program,
        entry: None,
        grid: module.grid,
        block: module.block,
        args: module.args,
        dynamic_shared: 0,
        options: Options::default(),
    };
    engines::hold(&launch, &|| module.text.clone());
});
