//! A client in memory.
// Every test binary compiles this file and uses its own part of it.
#![allow(dead_code)]

use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, Response};
use roundonce_lsp::{ServeError, Settings, serve};
use serde_json::{Value, json};

/// What a server may take, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Client {
    connection: Connection,
    server: Option<JoinHandle<Result<(), ServeError>>>,
    ids: i32,
}

impl Client {
    /// A server that has been started, and a client that has said nothing.
    pub(crate) fn new(settings: Settings) -> Client {
        let (ours, connection) = Connection::memory();
        let server = std::thread::spawn(move || serve(&ours, settings));
        Client { connection, server: Some(server), ids: 0 }
    }

    pub(crate) fn receive(&self) -> Message {
        self.connection.receiver.recv_timeout(PATIENCE).expect("the server says something")
    }

    pub(crate) fn send(&self, message: Message) {
        self.connection.sender.send(message).expect("the server listens");
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    /// Asks, and takes what comes until the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Response {
        self.ids += 1;
        self.send(Request { id: self.ids.into(), method: method.to_owned(), params }.into());
        loop {
            if let Message::Response(response) = self.receive() {
                assert_eq!(response.id, self.ids.into());
                return response;
            }
        }
    }

    /// Introduces itself; the server's capabilities.
    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let response = self.ask("initialize", json!({ "capabilities": capabilities }));
        self.notify("initialized", json!({}));
        result(response)
    }

    pub(crate) fn open(&self, uri: &str, language: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    pub(crate) fn change(&self, uri: &str, version: i32, text: &str) {
        let (document, changes) = (json!({ "uri": uri, "version": version }), json!([{ "text": text }]));
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The diagnostics of a version of a text.
    pub(crate) fn diagnostics(&self, version: i32) -> Vec<Value> {
        loop {
            if let Message::Notification(Notification { method, params }) = self.receive()
                && method == "textDocument/publishDiagnostics"
                && params["version"] == version
            {
                return params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// Says goodbye; what the server ended with.
    pub(crate) fn exit(mut self) -> Result<(), ServeError> {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.ended()
    }

    /// What the server ended with, which has been told to.
    pub(crate) fn ended(mut self) -> Result<(), ServeError> {
        self.server.take().expect("it runs").join().expect("no panic")
    }

    /// Goes away; what the server ended with.
    pub(crate) fn vanish(mut self) -> Result<(), ServeError> {
        let server = self.server.take().expect("it runs");
        drop(self);
        server.join().expect("no panic")
    }
}

/// What was answered.
pub(crate) fn result(response: Response) -> Value {
    match serde_json::to_value(response).expect("JSON") {
        Value::Object(mut fields) => fields.remove("result").unwrap_or_else(|| panic!("no result: {fields:?}")),
        other => panic!("no answer: {other}"),
    }
}
