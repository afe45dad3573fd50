//! How long a change of a text of 10,000 lines takes until its diagnostics are there, and how long other answers:
//! `cargo bench -p roundonce-lsp`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;
use std::time::Instant;

use common::{Client, result};
use roundonce_lsp::Settings;
use serde_json::json;

const LINES: usize = 10_000;
const CHANGES: i32 = 31;
/// Kernels that nvcc wrote, of one target and without names that two copies would declare.
const KERNELS: [&str; 4] = ["fft", "nbody", "twosum", "dgemm"];

/// Copies of real kernels, each under a name of its own, until there are enough lines.
fn module() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    let sources = KERNELS.map(|name| fs::read_to_string(folder.join(format!("{name}.ptx"))).unwrap());
    let mut text = ".version 9.0\n.target sm_90\n.address_size 64\n".to_owned();
    let mut copy = 0;
    while text.lines().count() < LINES {
        let is_head = |line: &&str| [".version", ".target", ".address_size"].iter().any(|head| line.starts_with(head));
        let body: Vec<&str> = sources[copy % KERNELS.len()].lines().filter(|line| !is_head(line)).collect();
        let body = body.join("\n");
        let entries = body.match_indices(".entry ").map(|(at, mark)| &body[at + mark.len()..]);
        let names: Vec<&str> = entries.filter_map(|rest| rest.split(['(', '\n']).next()).map(str::trim).collect();
        let renamed = names.iter().fold(body.clone(), |body, name| body.replace(name, &format!("{name}_{copy}")));
        text.push_str(&renamed);
        text.push('\n');
        copy += 1;
    }
    text
}

/// A listing that cuobjdump wrote, as often as it takes.
fn listing() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/maxwell/programs.sass");
    let text = fs::read_to_string(path).unwrap();
    text.lines().cycle().take(LINES).map(|line| format!("{line}\n")).collect()
}

/// A shader of products and sums that are left open.
fn shader() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/nvim/texts/fma.spvasm");
    let text = fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_at(text.find("    %product").unwrap());
    let end = &rest[rest.find("               OpReturn").unwrap()..];
    let pair = |at: usize| format!("%p{at} = OpFMul %float %x %one\n%s{at} = OpFAdd %float %p{at} %x\n");
    head.to_owned() + &(0..LINES / 2).map(pair).collect::<String>() + end
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The times of some work, in milliseconds.
fn times(mut work: impl FnMut(i32)) -> Vec<f64> {
    let time = |round| {
        let start = Instant::now();
        work(round);
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..CHANGES).map(time).collect()
}

/// Changes a text there and back; `edit` is what is written in place of what.
fn measure(language: &str, text: &str, edit: (&str, &str)) {
    let uri = format!("file:///text.{language}");
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    client.open(&uri, language, text);
    let found = client.diagnostics(1);
    let errors = found.iter().filter(|diagnostic| diagnostic["severity"] == 1).count();
    println!(
        "{language}: {} lines, {} bytes: {} diagnostics, {errors} errors",
        text.lines().count(),
        text.len(),
        found.len()
    );
    let changed = [text.replacen(edit.0, edit.1, 1), text.to_owned()];
    let changes = times(|round| {
        client.change(&uri, round + 2, &changed[round as usize % 2]);
        client.diagnostics(round + 2);
    });
    let worst = changes.iter().copied().fold(0.0, f64::max);
    println!("  a change to its diagnostics: median {:.1} ms, worst {worst:.1} ms", median(changes));
    let document = json!({ "uri": uri });
    let position = json!({ "line": LINES / 2, "character": 8 });
    let asks = [
        ("textDocument/semanticTokens/full", json!({ "textDocument": document })),
        ("textDocument/completion", json!({ "textDocument": document, "position": position })),
        ("textDocument/hover", json!({ "textDocument": document, "position": position })),
    ];
    for (method, params) in asks {
        let asked = times(|_| drop(result(client.ask(method, params.clone()))));
        println!("  {method}: median {:.1} ms", median(asked));
    }
}

fn main() {
    measure("ptx", &module(), ("fma.rn", "fma.rx"));
    measure("sass", &listing(), ("MOV R1", "MOW R1"));
    measure("spirv", &shader(), ("OpFMul %float", "OpFMul %flaot"));
}
