//! There and back: what became of a kernel in another language, in its own again, gives the same buffers on the kernel's own data.

mod translation;

use roundonce::exec::Buffer;
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translate::kernel::{Argument, Options, Writer, ptx, spirv};
use translation::{Case, difference, translated_launch};

/// A language: its writer, and its reader.
#[derive(Clone, Copy)]
enum Language {
    Ptx,
    Spirv,
}

impl Language {
    fn writer(self) -> Writer {
        match self {
            Language::Ptx => ptx::write,
            Language::Spirv => spirv::write,
        }
    }
    fn read(self, text: &str, choice: &Choice) -> Ready {
        let source = match self {
            Language::Ptx => Source::Ptx(text),
            Language::Spirv => Source::SpirvText(text),
        };
        Ready::read(source, choice).unwrap_or_else(|refusal| panic!("{refusal:?}\n{text}"))
    }
}

/// Takes a case through languages: nothing where it is refused on the way there, why where it is on the way back.
fn there_and_back(case: &Case, way: [Language; 2]) -> Option<Result<(), String>> {
    let environment = Some("spv1.3".parse().unwrap());
    let allow = ["TRN0201".to_owned()];
    let options = Options { environment, allow: &allow, target: case.target(), ..Options::default() };
    let source = case.read().unwrap();
    let launch = case.launch(&source);
    let Ok(first) = way[0].writer()(&source.program, &options) else { return None };
    let entry = Choice { entry: Some(source.kernel().name.clone()), machine: case.target(), ..Choice::default() };
    let middle = way[0].read(&first.text, &entry);
    let second = way[1].writer()(&middle.program, &options);
    let second = match second {
        Ok(second) => second,
        Err(findings) => return Some(Err(findings[0].message.clone())),
    };
    let last = way[1].read(&second.text, &Choice { entry: Some(middle.kernel().name.clone()), ..entry });
    let there = translated_launch(&launch, &first, &middle);
    let back = translated_launch(&there, &second, &last);
    let [wanted, found]: [Vec<Option<Buffer>>; 2] = [&launch, &back]
        .map(|launch| launch.clone().run().unwrap_or_else(|error| panic!("{}: {error}", case.name)).buffers);
    // Which of the source's parameters each of the last kernel's is.
    let place =
        |ready: &Ready| ready.program.kernels.iter().position(|kernel| kernel.name == ready.kernel().name).unwrap();
    let (first, second) = (&first.arguments[place(&source)], &second.arguments[place(&middle)]);
    let composed: Vec<Argument> = second
        .iter()
        .map(|argument| match *argument {
            Argument::Param(param) => first[param],
            other => other,
        })
        .collect();
    assert!(composed.iter().any(|argument| matches!(argument, Argument::Param(param) if wanted[*param].is_some())));
    assert_eq!(difference(&wanted, &composed, &found), None, "{}", case.name);
    Some(Ok(()))
}

/// How many cases of a folder are equal, and which do not come back.
fn check(folder: &str, way: [Language; 2], lost: &[(&str, &str)]) -> usize {
    let mut equal = 0;
    let mut reasons = Vec::new();
    for case in Case::all(folder) {
        match there_and_back(&case, way) {
            None => {}
            Some(Ok(())) => equal += 1,
            Some(Err(reason)) => reasons.push((case.name, reason)),
        }
    }
    let names: Vec<&str> = reasons.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, lost.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{reasons:#?}");
    for ((name, reason), (_, expected)) in reasons.iter().zip(lost) {
        assert!(reason.contains(expected), "{name}: {reason}");
    }
    equal
}

#[test]
fn ptx_by_way_of_spirv() {
    // SPIR-V has no number of its own; the source asks for its memory at the launch.
    let lost = [("wgmma", "65536 bytes of shared memory")];
    assert_eq!(check("kernels", [Language::Spirv, Language::Ptx], &lost), 71);
}

#[test]
fn spirv_by_way_of_ptx() {
    let indexed = "parameters indexed by a register";
    let masked = "lanes of a warp chosen by a mask";
    let lost =
        [("push", indexed), ("descriptors", indexed), ("subgroup", masked), ("reference", indexed), ("votes", masked)];
    assert_eq!(check("shaders", [Language::Ptx, Language::Spirv], &lost), 21);
}
