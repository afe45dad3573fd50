//! How long a change of a module of 10,000 lines takes until its diagnostics are there, and what asks for its text take:
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

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let text = module();
    let uri = "file:///module.ptx";
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    client.open(uri, "ptx", &text);
    let found = client.diagnostics(1);
    let errors = found.iter().filter(|diagnostic| diagnostic["severity"] == 1).count();
    println!("{} lines, {} bytes: {} diagnostics, {errors} errors", text.lines().count(), text.len(), found.len());
    let changed = [text.replacen("fma.rn", "fma.rx", 1), text.clone()];
    let times = (2..2 + CHANGES).map(|version| {
        let start = Instant::now();
        client.change(uri, version, &changed[version as usize % 2]);
        client.diagnostics(version);
        start.elapsed().as_secs_f64() * 1e3
    });
    let times: Vec<f64> = times.collect();
    println!("a change to its diagnostics: median {:.1} ms, worst {:.1} ms", median(times.clone()), {
        times.iter().copied().fold(0.0, f64::max)
    });
    let document = json!({ "uri": uri });
    let position = json!({ "line": LINES / 2, "character": 8 });
    let asks = [
        ("textDocument/semanticTokens/full", json!({ "textDocument": document })),
        ("textDocument/completion", json!({ "textDocument": document, "position": position })),
        ("textDocument/hover", json!({ "textDocument": document, "position": position })),
    ];
    for (method, params) in asks {
        let times = (0..CHANGES).map(|_| {
            let start = Instant::now();
            result(client.ask(method, params.clone()));
            start.elapsed().as_secs_f64() * 1e3
        });
        println!("{method}: median {:.1} ms", median(times.collect()));
    }
}
