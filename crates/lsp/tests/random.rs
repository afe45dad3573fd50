//! Real kernels, edited at random: no edit ends the server, every answer is within its text, and tokens do not overlap.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Client, result};
use roundonce_lsp::Settings;
use serde_json::{Value, json};

/// Edits of each file.
const EDITS: usize = 6;

/// xorshift64*: the same edits on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }

    /// A byte where a character begins.
    fn boundary(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    }
}

/// What breaks texts: ends of comments and strings, halves of tokens, characters of each width.
const PIECES: [&str; 20] = [
    "\"",
    "/*",
    "*/",
    "//",
    "{",
    "}",
    ";",
    ".",
    "%",
    "0f",
    "fma.rn.",
    "\n",
    "\r\n",
    "é",
    "𝄞",
    "\0",
    "mad",
    "OpFmaKHR ",
    "@P0 ",
    "mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5;",
];

fn edit(text: &str, random: &mut Random) -> String {
    let (one, other) = (random.boundary(text), random.boundary(text));
    let (start, end) = (one.min(other), one.max(other).min(one.min(other) + 200));
    let end = (start..=end).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(start);
    let piece = match random.below(4) {
        0 => String::new(),
        1 => text[start..end].repeat(2),
        _ => PIECES[random.below(PIECES.len())].to_owned(),
    };
    let end = if random.below(2) == 0 { start } else { end };
    format!("{}{piece}{}", &text[..start], &text[end..])
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} {extension}");
    files
}

/// The lengths of a text's lines in units of UTF-16.
fn lengths(text: &str) -> Vec<u64> {
    text.split('\n').map(|line| line.encode_utf16().count() as u64).collect()
}

/// Every position of an answer is one of the text.
fn within(answer: &Value, lengths: &[u64]) {
    match answer {
        Value::Object(fields) => {
            if let (Some(line), Some(character)) = (fields.get("line"), fields.get("character")) {
                let (line, character) = (line.as_u64().unwrap(), character.as_u64().unwrap());
                let length = lengths.get(line as usize).unwrap_or_else(|| panic!("line {line}"));
                assert!(character <= *length, "{line}:{character} of {length}");
            }
            fields.values().for_each(|value| within(value, lengths));
        }
        Value::Array(values) => values.iter().for_each(|value| within(value, lengths)),
        _ => {}
    }
}

/// Tokens are in order, apart from each other, and within their lines.
fn tokens(answer: &Value, lengths: &[u64]) {
    let numbers: Vec<u64> = answer["data"].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
    let (mut line, mut behind, mut start) = (0, 0, 0);
    for token in numbers.chunks_exact(5) {
        if token[0] > 0 {
            (line, behind, start) = (line + token[0], 0, 0);
        }
        start += token[1];
        assert!(start >= behind, "line {line}");
        behind = start + token[2];
        assert!(token[2] > 0 && behind <= lengths[line as usize], "line {line}");
    }
}

#[test]
fn edits_of_real_kernels() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    let sources = [
        ("ptx", files("kernels", "ptx")),
        ("spirv", files("shaders", "spvasm")),
        ("sass", files("kernels/maxwell", "sass")),
    ];
    let mut checked = 0;
    for (language, path) in sources.iter().flat_map(|(language, paths)| paths.iter().map(move |path| (*language, path)))
    {
        let mut text = fs::read_to_string(path).unwrap();
        let uri = format!("file:///{}", path.file_name().unwrap().to_string_lossy());
        client.open(&uri, language, &text);
        let mut version = 1;
        for _ in 0..EDITS {
            within(&json!(client.diagnostics(version)), &lengths(&text));
            let lengths = lengths(&text);
            let document = json!({ "uri": uri });
            let line = random.below(lengths.len());
            let position = json!({ "line": line, "character": random.below(lengths[line] as usize + 2) });
            let here = json!({ "textDocument": document, "position": position });
            for method in ["textDocument/hover", "textDocument/definition", "textDocument/completion"] {
                within(&result(client.ask(method, here.clone())), &lengths);
            }
            let whole =
                json!({ "start": { "line": 0, "character": 0 }, "end": { "line": lengths.len(), "character": 0 } });
            let actions = json!({ "textDocument": document, "range": whole, "context": { "diagnostics": [] } });
            within(&result(client.ask("textDocument/codeAction", actions)), &lengths);
            let hints = json!({ "textDocument": document, "range": whole });
            within(&result(client.ask("textDocument/inlayHint", hints)), &lengths);
            let of_document = json!({ "textDocument": document });
            within(&result(client.ask("textDocument/documentSymbol", of_document.clone())), &lengths);
            tokens(&result(client.ask("textDocument/semanticTokens/full", of_document)), &lengths);
            checked += 1;
            text = edit(&text, &mut random);
            version += 1;
            client.change(&uri, version, &text);
        }
        client.diagnostics(version);
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    assert!(checked > 300, "{checked}");
    assert_eq!(client.exit(), Ok(()));
}
