//! SASS listings by structure: text to words and back, checks, and all engines compute what the instructions say, also
//! from the words' text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce::sass::{
    Layout, Lowered, ScheduleStyle, Style, asm_file, asm_line, check, decode, disasm_bundles, disasm_word, lower,
};
use roundonce::{Profile, kernel::LaneValues, kernel::lanes};
use roundonce_fuzz::{Choices, engines, sass};
use std::collections::BTreeMap;

const LANES: usize = 37;

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let data = choices.words(LANES * 8);
    let code = sass::generate(choices);
    let text = code.text();
    let findings = check(&text);
    for line in &code.lines {
        let Ok(word) = asm_line(line) else { continue };
        assert!(decode(word).is_ok(), "{line}");
        for style in [Style::Exact, Style::Hex] {
            let shown = disasm_word(word, style).expect("it was encoded");
            assert_eq!(asm_line(&shown), Ok(word), "{line}: {shown}");
        }
    }
    let Ok(lowered) = lower(&text, None) else {
        assert!(!findings.is_empty(), "{text}");
        return;
    };
    let ran = run(&lowered, &data, &text);
    for lane in 0..LANES {
        let names = lowered.inputs.iter().enumerate();
        let mut values: sass::Lane = names.map(|(at, name)| (name.to_string(), input(&data, at)[lane])).collect();
        sass::run(&code.lines, &mut values, &Profile::NVIDIA).expect("it was lowered");
        for (name, result) in &ran {
            let wanted = values.get(name).copied().unwrap_or(0);
            assert_eq!(result[lane], wanted, "{text}lane {lane}, {name}: {:#x}, {wanted:#x}", result[lane]);
        }
    }
    if let Ok(assembly) = asm_file(&text) {
        let words = assembly.bundles().concat();
        for (_, style) in ScheduleStyle::NAMED {
            let layout = Layout { schedule: Some(style), ..Layout::default() };
            let shown = disasm_bundles(&words, &layout).expect("whole bundles");
            let again = asm_file(&shown).unwrap_or_else(|findings| panic!("{text}---\n{shown}: {findings:?}"));
            assert_eq!(again.bundles().concat(), words, "{text}---\n{shown}");
        }
    }
    let shown = |line: &String| disasm_word(asm_line(line).expect("it has a word"), Style::Exact);
    let shown: Vec<String> = code.lines.iter().map(|line| shown(line).expect("it decodes") + "\n").collect();
    let again = lower(&shown.concat(), None).unwrap_or_else(|findings| panic!("{text}---\n{shown:?}: {findings:?}"));
    assert_eq!(run(&again, &data, &text), ran, "{text}---\n{}", shown.concat());
});

/// The values of one input.
fn input(data: &[u32], at: usize) -> Vec<u32> {
    (0..LANES).map(|lane| data[(lane + at * 13) % data.len()].rotate_left(at as u32 & 1)).collect()
}

/// What each output is afterwards.
fn run(lowered: &Lowered, data: &[u32], text: &str) -> BTreeMap<String, Vec<u32>> {
    lowered.program.verify().unwrap_or_else(|invalid| panic!("{text}{invalid}"));
    let names = lowered.inputs.iter().enumerate();
    let given = names.map(|(at, name)| (name.to_string(), LaneValues::PerLane(input(data, at)))).collect();
    let mut launched = lanes(lowered, &given, |name| name.to_string()).expect("every input is given");
    if given.is_empty() {
        // Without inputs there is one lane; all are alike.
        launched.args[0] = Arg::Scalar(LANES as u64);
        launched.block = [LANES as u32, 1, 1];
        launched.args.iter_mut().skip(1).for_each(|arg| *arg = Arg::Buffer(Buffer::zeros(4 * LANES)));
    }
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: launched.grid,
        block: launched.block,
        args: launched.args,
        dynamic_shared: 0,
        options: Options::default(),
    };
    let ran = engines::run_all(&launch, &|| text.to_owned()).expect("no limit is near");
    let buffers = ran.unwrap_or_else(|error| panic!("{text}{error}"));
    let words = |bytes: &Vec<u8>| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let outputs = lowered.outputs.iter().zip(&buffers[lowered.inputs.len()..]);
    outputs.map(|(name, bytes)| (name.to_string(), words(bytes))).collect()
}
