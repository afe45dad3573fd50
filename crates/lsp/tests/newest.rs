//! Texts that follow each other quickly, requests that are overtaken, and texts that are too long.

mod common;

use std::fs;
use std::path::Path;

use common::{Client, result};
use lsp_server::{ErrorCode, Message, Notification, Request};
use roundonce_lsp::{LARGEST, Settings};
use serde_json::{Value, json};

const URI: &str = "file:///k.ptx";

fn kernel() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/triton_dot_tf32_90.ptx");
    fs::read_to_string(path).unwrap()
}

fn started() -> Client {
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    client
}

fn fixes() -> Value {
    let position = json!({ "line": 0, "character": 0 });
    let range = json!({ "start": position, "end": { "line": 9999, "character": 0 } });
    json!({ "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [] } })
}

#[test]
fn of_many_texts_the_newest_is_said_last() {
    let mut client = started();
    let text = kernel();
    client.open(URI, "ptx", &text);
    for version in 2..=40 {
        let instruction = if version == 40 { "mad.f32 %f1, %f2, %f3, %f4;" } else { "ret;" };
        client.change(URI, version, &text.replacen("ret;", instruction, 1));
    }
    let mut versions = Vec::new();
    while versions.last() != Some(&40) {
        let Message::Notification(Notification { method, params }) = client.receive() else { continue };
        assert_eq!(method, "textDocument/publishDiagnostics");
        versions.push(params["version"].as_i64().unwrap());
        let errors = params["diagnostics"].as_array().unwrap().iter().any(|found| found["code"] == "PTX0022");
        assert_eq!(errors, versions.last() == Some(&40));
    }
    assert!(versions.is_sorted(), "{versions:?}");
    // Nothing of an older text comes behind it.
    client.ask(
        "textDocument/hover",
        json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 0 } }),
    );
    assert_eq!(client.exit(), Ok(()));
}

/// An overtaken request has one answer: that of its text, if it was there in time, or the reason why there is none.
#[test]
fn a_request_is_answered_once() {
    let client = started();
    let text = kernel();
    let overtaking: [&dyn Fn(&Client, i32); 3] = [
        &|client, round| client.change(URI, round + 2, &text),
        &|client, round| client.notify("$/cancelRequest", json!({ "id": 100 + round })),
        &|client, _| client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } })),
    ];
    let reasons = [ErrorCode::ContentModified, ErrorCode::RequestCanceled, ErrorCode::ContentModified];
    for (round, (overtake, reason)) in (0..).zip(overtaking.into_iter().zip(reasons)) {
        client.open(URI, "ptx", &text);
        let (id, method) = ((100 + round).into(), "textDocument/codeAction".to_owned());
        client.send(Request { id, method, params: fixes() }.into());
        overtake(&client, round);
        let (id, method) = ((200 + round).into(), "textDocument/documentSymbol".to_owned());
        client.send(Request { id, method, params: json!({ "textDocument": { "uri": URI } }) }.into());
        // Messages are taken in order: what overtook it has been taken when this one is answered.
        let mut answers = Vec::new();
        loop {
            let Message::Response(response) = client.receive() else { continue };
            if response.id == (200 + round).into() {
                break;
            }
            assert_eq!(response.id, (100 + round).into());
            answers.push(serde_json::to_value(response).unwrap());
        }
        assert_eq!(answers.len(), 1);
        let code = answers[0].pointer("/error/code").and_then(Value::as_i64);
        assert!(code.is_none_or(|code| code == reason as i64), "{}", answers[0]);
    }
    assert_eq!(client.exit(), Ok(()));
}

#[test]
fn a_text_that_is_too_long_is_not_read() {
    let mut client = started();
    let text = "// ".repeat(LARGEST / 3 + 1);
    client.open(URI, "ptx", &text);
    let found = client.diagnostics(1);
    assert_eq!(found.len(), 1);
    assert!(found[0]["message"].as_str().unwrap().contains(&LARGEST.to_string()), "{}", found[0]);
    assert_eq!(result(client.ask("textDocument/codeAction", fixes())), json!([]));
    let document = json!({ "textDocument": { "uri": URI } });
    assert_eq!(result(client.ask("textDocument/semanticTokens/full", document))["data"], json!([]));
    // Shorter again, it is.
    client.change(URI, 2, "mad");
    assert!(client.diagnostics(2).iter().any(|found| found["severity"] == 1));
    assert_eq!(client.exit(), Ok(()));
}

/// One byte fewer is read.
#[test]
fn the_longest_text_is_read() {
    let client = started();
    let text = format!("mad{}", " ".repeat(LARGEST - 3));
    client.open(URI, "ptx", &text);
    assert!(client.diagnostics(1).iter().any(|found| found["severity"] == 1));
    assert_eq!(client.exit(), Ok(()));
}
