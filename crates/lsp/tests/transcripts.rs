//! `tests/lsp`: what a client says (`> `) and what the server answers (`< `), a message a line. `ROUNDONCE_BLESS=1` writes the
//! answers anew.
//!
//! Behind a request come the messages up to its answer, behind an opened, changed or closed text its diagnostics.

mod common;

use std::fs;
use std::path::Path;

use common::Client;
use lsp_server::Message;
use roundonce_lsp::Settings;
use serde_json::json;

/// A message as a transcript has it.
fn line(message: &Message) -> String {
    let mut value = serde_json::to_value(message).unwrap();
    // It changes with each release.
    if let Some(version) = value.pointer_mut("/result/serverInfo/version") {
        *version = "...".into();
    }
    format!("< {value}")
}

/// The transcript with what the server says now.
fn replay(transcript: &str) -> String {
    let client = Client::new(Settings::default());
    let mut said = Vec::new();
    for text in transcript.lines().filter(|line| !line.starts_with("< ")) {
        said.push(text.to_owned());
        let Some(json) = text.strip_prefix("> ") else { continue };
        let message: Message = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
        client.send(message.clone());
        let is_last = |got: &Message| match (&message, got) {
            (Message::Request(request), Message::Response(response)) => response.id == request.id,
            (Message::Notification(_), Message::Notification(got)) => got.method == "textDocument/publishDiagnostics",
            _ => false,
        };
        let texts = ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"];
        let answers = match &message {
            Message::Request(_) => true,
            Message::Notification(notification) => texts.contains(&notification.method.as_str()),
            Message::Response(_) => false,
        };
        while answers {
            let got = client.receive();
            said.push(line(&got));
            if is_last(&got) {
                break;
            }
        }
    }
    client.vanish().ok();
    said.join("\n") + "\n"
}

#[test]
fn the_server_answers_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lsp");
    let bless = std::env::var_os("ROUNDONCE_BLESS").is_some();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rpc") {
            continue;
        }
        let recorded = fs::read_to_string(&path).unwrap();
        let now = replay(&recorded);
        if bless {
            fs::write(&path, now).unwrap();
        } else {
            let differing = recorded.lines().zip(now.lines()).find(|(recorded, now)| recorded != now);
            assert_eq!(differing, None, "{}", path.display());
            assert_eq!(recorded.lines().count(), now.lines().count(), "{}", path.display());
        }
        count += 1;
    }
    assert!(count >= 5, "{count} transcripts");
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    assert!(client.vanish().is_err());
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    assert_eq!(client.exit(), Ok(()));
}
