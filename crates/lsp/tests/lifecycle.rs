//! The order of `initialize`, `shutdown` and `exit`, requests that cannot be read, and texts as editors may send them.

mod common;

use common::{Client, result};
use lsp_server::Response;
use roundonce_lsp::Settings;
use serde_json::{Value, json};

fn started() -> Client {
    let mut client = Client::new(Settings::default());
    client.initialize(json!({}));
    client
}

/// The code and the message of a refusal.
fn refusal(response: Response) -> (i64, String) {
    let value = serde_json::to_value(response).unwrap();
    (
        value["error"]["code"].as_i64().unwrap_or_default(),
        value["error"]["message"].as_str().unwrap_or_default().to_owned(),
    )
}

#[test]
fn before_initialize_nothing_else_is_answered() {
    let mut client = Client::new(Settings::default());
    let (code, message) = refusal(client.ask("shutdown", Value::Null));
    assert_eq!((code, message.as_str()), (-32002, "`shutdown` was asked before `initialize`"));
    assert_eq!(refusal(client.ask("initialize", json!({ "capabilities": 5 }))).0, -32602);
    client.initialize(json!({}));
    assert_eq!(client.exit(), Ok(()));
}

#[test]
fn initialize_is_answered_once_and_nothing_behind_shutdown() {
    let mut client = started();
    assert_eq!(refusal(client.ask("initialize", json!({ "capabilities": {} }))).0, -32600);
    assert_eq!(result(client.ask("shutdown", Value::Null)), Value::Null);
    assert_eq!(refusal(client.ask("textDocument/hover", Value::Null)).0, -32600);
    assert_eq!(refusal(client.ask("shutdown", Value::Null)).0, -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), Ok(()));
}

#[test]
fn exit_without_shutdown_is_an_error() {
    for client in [Client::new(Settings::default()), started()] {
        client.notify("exit", Value::Null);
        assert_eq!(client.ended().unwrap_err().to_string(), "the client sent `exit` without `shutdown`");
    }
}

#[test]
fn parameters_that_cannot_be_read_are_refused() {
    let mut client = started();
    let document = json!({ "uri": "file:///no.ptx" });
    let wrong = [
        Value::Null,
        json!({ "textDocument": document }),
        json!({ "textDocument": document, "position": { "line": -1, "character": 0 } }),
    ];
    for method in ["hover", "completion", "definition", "references"] {
        for params in &wrong {
            assert_eq!(refusal(client.ask(&format!("textDocument/{method}"), params.clone())).0, -32602, "{method}");
        }
    }
    assert_eq!(client.exit(), Ok(()));
}

fn place(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

/// The mark is no part of the text, and a column of its first line.
#[test]
fn a_byte_order_mark_is_skipped() {
    let ptx = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
    let spirv = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n";
    let texts =
        [("file:///a.PTX", ptx, 1), ("file:///a.sass", "FFMA R2, R0, R1, R1\n", 1), ("file:///a.spvasm", spirv, 1)];
    for (uri, text, column) in texts {
        let mut client = started();
        client.open(uri, "", &format!("\u{feff}{text}"));
        assert_eq!(client.diagnostics(1), [Value::Null; 0], "{uri}");
        let params = json!({ "textDocument": { "uri": uri } });
        let tokens = result(client.ask("textDocument/semanticTokens/full", params));
        assert_eq!(tokens["data"][1], column, "{uri}: {tokens}");
        if uri.ends_with(".sass") {
            let params = json!({ "textDocument": { "uri": uri }, "position": place(0, 1) });
            let hover = result(client.ask("textDocument/hover", params));
            assert_eq!(hover["range"], json!({ "start": place(0, 1), "end": place(0, 5) }));
        }
        assert_eq!(client.exit(), Ok(()));
    }
}

#[test]
fn a_carriage_return_alone_ends_a_line() {
    let client = started();
    client.open(
        "file:///a.ptx",
        "ptx",
        ".version 3.2\r.target sm_20\r.entry k()\r{\r.reg .f32 f<4>;\rfma.rn.rz.f32 f0, f1, f2, f3;\rexit;\r}\r",
    );
    let found = client.diagnostics(1);
    assert_eq!(found[0]["range"]["start"], place(5, 6), "{found:?}");
    assert_eq!(client.exit(), Ok(()));
}

#[test]
fn a_version_is_no_float() {
    let mut client = started();
    let uri = "file:///a.ptx";
    client.open(uri, "ptx", ".version 9.0\n.target sm_90\n.address_size 64\n.global .f64 x = 9.0;\n");
    let mut hover = |line, character| {
        let params = json!({ "textDocument": { "uri": uri }, "position": place(line, character) });
        result(client.ask("textDocument/hover", params))
    };
    assert_eq!(hover(0, 10), Value::Null);
    assert!(hover(3, 18)["contents"]["value"].as_str().is_some_and(|text| text.contains("f64")));
    assert_eq!(client.exit(), Ok(()));
}
