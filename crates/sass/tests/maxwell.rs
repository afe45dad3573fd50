//! Words of every row, every modifier's value and every operand form, and the words of compiled kernels, beside what
//! nvdisasm 12.8 prints for them. `dev/sass/corpus.py` makes the file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use roundonce_sass::{
    DecodeError, Generation, Layout, ScheduleStyle, Style, asm_file, asm_file_for, asm_line, asm_line_for, decode,
    decode_for, disasm_bundles, disasm_word,
};

mod rows;

/// Each word and its text.
fn corpus() -> Vec<(u64, String)> {
    let row = |line: &str| {
        let (word, text) = line.split_once('\t').unwrap();
        (u64::from_str_radix(word, 16).unwrap(), text.to_owned())
    };
    lines("words.tsv.gz").iter().map(|line| row(line)).collect()
}

/// The lines of a file but for its heading.
fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maxwell").join(name);
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Words that older targets print otherwise than the newest, or do not know.
#[test]
fn older_targets() {
    let mut counts = BTreeMap::new();
    for line in lines("older.tsv.gz") {
        let [target, word, text] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (generation, bits): (Generation, _) = (target.parse().unwrap(), u64::from_str_radix(word, 16).unwrap());
        let print = |word| {
            let mut text = String::new();
            decode_for(word, generation).map(|instruction| instruction.write_body(Style::Nvdisasm, None, &mut text))?;
            Ok::<_, DecodeError>(text.trim_end().to_owned())
        };
        let count: &mut (usize, usize) = counts.entry(target.to_owned()).or_default();
        if text.is_empty() {
            let error = print(bits).expect_err(&line);
            assert!(error.to_string().contains("is one from sm_"), "{error}");
            let newest = decode(bits).unwrap().to_string();
            assert!(asm_line_for(&newest, generation).is_err(), "{target}: {newest}");
            count.1 += 1;
            continue;
        }
        assert_eq!(print(bits).as_deref(), Ok(text), "{line}");
        let again = asm_line_for(text, generation).unwrap_or_else(|finding| panic!("{line}: {finding}"));
        assert_eq!(print(again).as_deref(), Ok(text), "{line}");
        count.0 += 1;
    }
    let wanted = [("sm_50", (332, 538)), ("sm_52", (303, 82)), ("sm_53", (303, 82)), ("sm_60", (0, 24))];
    assert_eq!(counts, wanted.map(|(target, count)| (target.to_owned(), count)).into());
}

/// A listing is read as the target in its headings has it, or as the one that is asked for.
#[test]
fn listings_name_their_target() {
    let code = "        /*0008*/                   VMAD R0, R3, R0, R0 ;  /* 0x5f07006060070300 */\n";
    let headings =
        ["\t.headerflags\t@\"EF_CUDA_64BIT_ADDRESS EF_CUDA_SM50 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM30)\"", "code for sm_50"];
    for heading in headings {
        let assembly = asm_file(&format!("{heading}\n{code}")).unwrap();
        assert_eq!((assembly.generation, assembly.words()), (Generation::Sm50, vec![0x5f07_0060_6007_0300]));
    }
    assert!(asm_file(code).is_err());
    assert!(asm_file_for(code, Some(Generation::Sm52)).is_ok());
    assert!(asm_file_for(&format!("code for sm_50\n{code}"), Some(Generation::Sm60)).is_err());
}

#[test]
fn words_print_as_the_judge_prints_them() {
    let corpus = corpus();
    assert!(corpus.len() > 10_000, "{}", corpus.len());
    for (word, wanted) in &corpus {
        let instruction = decode(*word).unwrap_or_else(|error| panic!("{wanted}: {error}"));
        let mut text = String::new();
        instruction.write_body(Style::Nvdisasm, None, &mut text);
        assert_eq!(text.trim_end(), wanted, "{word:#018x}");
    }
}

#[test]
fn texts_assemble_to_their_words() {
    let mut others = 0;
    for (word, text) in corpus() {
        // The disassembler's text has no NaN's payload.
        let again = asm_line(&text).unwrap_or_else(|finding| panic!("{text}: {finding}"));
        assert_eq!(disasm_word(again, Style::Nvdisasm), disasm_word(word, Style::Nvdisasm), "{text}");
        let exact = disasm_word(word, Style::Exact).unwrap();
        let again = asm_line(&exact).unwrap_or_else(|finding| panic!("{exact}: {finding}"));
        assert_eq!(disasm_word(again, Style::Exact).as_ref(), Ok(&exact), "{word:#018x} and {again:#018x}");
        others += usize::from((again ^ word) & !decode(word).unwrap().ignored_bits() != 0);
    }
    // Fields in which several values have one text: `.PASS`, a sign that is not printed.
    assert_eq!(others, ONE_TEXT);
}

const ONE_TEXT: usize = 211;

#[test]
fn every_row_is_there() {
    let seen: BTreeSet<u64> = corpus().iter().map(|(word, _)| decode(*word).unwrap().row().bits).collect();
    let newest = roundonce_sass::rows().filter(|row| row.is_of(Generation::NEWEST));
    let lacking: Vec<String> =
        newest.filter(|row| !seen.contains(&row.bits)).map(|row| format!("{} {:#x}", row.name, row.bits)).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// Whole listings, branches at their addresses, in each scheduling style, with and without the words beside them.
#[test]
fn bundles_in_every_style() {
    let words: Vec<u64> = corpus().into_iter().map(|(word, _)| word).collect();
    let controls = [0x001f_8400_fc20_07e1_u64, 0x001c_4c00_e220_07f6, 0x001f_c000_fda0_07ef];
    let bundles: Vec<u64> = words
        .chunks_exact(3)
        .zip(controls.iter().cycle())
        .flat_map(|(code, control)| [*control, code[0], code[1], code[2]])
        .collect();
    for style in ScheduleStyle::NAMED.map(|(_, style)| Some(style)).into_iter().chain([None]) {
        let beside = Layout { schedule: style, words: true, ..Layout::default() };
        let listing = disasm_bundles(&bundles, &beside).unwrap();
        let assembly = asm_file(&listing).unwrap_or_else(|findings| panic!("{style:?}: {:?}", &findings[..1]));
        assert_eq!(assembly.bundles().concat(), bundles, "{style:?}");

        let alone = Layout { schedule: style, ..Layout::default() };
        let listing = disasm_bundles(&bundles, &alone).unwrap();
        let assembly = asm_file(&listing).unwrap_or_else(|findings| panic!("{style:?}: {:?}", &findings[..1]));
        let again = disasm_bundles(&assembly.bundles().concat(), &alone).unwrap();
        // Without styles the listing has no control words.
        if style.is_some() {
            rows::same_lines(&again, &listing);
        }
    }
}
