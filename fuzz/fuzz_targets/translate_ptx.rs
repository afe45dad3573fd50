//! PTX modules by structure, translated to PTX: read again they leave the same buffers, or what they have is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Engine, Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{self, Argument};
use roundonce_fuzz::{Choices, engines, ptx::check_table, ptx::generate};

fuzz_target!(init: check_table(), |bytes: &[u8]| {
    let module = generate(&mut Choices::new(bytes));
    let Ok(ready) = Ready::read(Source::Ptx(&module.text), &Choice::default()) else { return };
    let Ok(translation) = kernel::ptx::write(&ready.program, &kernel::Options::default()) else { return };
    let shown = || format!("{}\n---\n{}", module.text, translation.text);
    let again = Ready::read(Source::Ptx(&translation.text), &Choice::default())
        .unwrap_or_else(|refusal| panic!("{}\n{refusal:?}", shown()));
    // A translation of PTX has the source's own parameters.
    let own: Vec<Argument> = (0..ready.kernel().params.len()).map(Argument::Param).collect();
    assert_eq!(translation.arguments, [own], "{}", shown());
    let launch = |program| Launch {
        program,
        entry: None,
        grid: module.grid,
        block: module.block,
        args: module.args.clone(),
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, ..Options::default() },
    };
    let (Some(source), Some(translated)) =
        (engines::run_all(&launch(&ready.program), &shown), engines::run_all(&launch(&again.program), &shown))
    else {
        return;
    };
    match (source, translated) {
        (Ok(source), Ok(translated)) => assert_eq!(source, translated, "{}", shown()),
        (Err(source), Err(translated)) => assert_eq!(source.kind, translated.kind, "{}", shown()),
        (source, translated) => panic!("{}\n{source:?}\n{translated:?}", shown()),
    }
});
