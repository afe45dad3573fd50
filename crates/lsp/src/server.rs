//! Messages: which text an answer is about, and who waits for what.
//!
//! Texts come whole: a check reads all of a text anyway, and a text can then never differ from the client's. An answer that
//! needs findings waits until those of the newest text are there.

use std::collections::HashMap;
use std::fmt;

use crossbeam_channel::{Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response};
use lsp_types::{
    CodeActionParams, CompletionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DocumentSymbolParams, GotoDefinitionParams, HoverParams, InitializeParams,
    InlayHintParams, Position, PositionEncodingKind, PublishDiagnosticsParams, ReferenceParams, SemanticTokens,
    SemanticTokensParams, SemanticTokensRangeParams, Uri,
};
use roundonce::answers::TextLanguage;
use roundonce::isa::ColumnUnit;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::document::{Document, Places};
use crate::worker::{Done, Job, work};
use crate::{Settings, actions, diagnostics, hints, hover, navigation, tokens};

/// Why serving ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServeError(pub String);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ProtocolError> for ServeError {
    fn from(error: ProtocolError) -> ServeError {
        if error.channel_is_disconnected() { ServeError::gone() } else { ServeError(error.to_string()) }
    }
}

impl ServeError {
    fn gone() -> ServeError {
        ServeError("the client went away without `exit`".to_owned())
    }
}

/// Serves a client until it says `exit`.
///
/// # Errors
/// If the client goes away without that, or breaks the protocol.
pub fn serve(connection: &Connection, settings: Settings) -> Result<(), ServeError> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams =
        serde_json::from_value(params).map_err(|error| ServeError(format!("initialize: {error}")))?;
    let offered = params.capabilities.general.and_then(|general| general.position_encodings).unwrap_or_default();
    let edits = params.capabilities.workspace.and_then(|workspace| workspace.workspace_edit);
    let versioned = edits.and_then(|edits| edits.document_changes).unwrap_or(false);
    let (unit, encoding) = match offered.contains(&PositionEncodingKind::UTF8) {
        true => (ColumnUnit::Byte, PositionEncodingKind::UTF8),
        false => (ColumnUnit::Utf16, PositionEncodingKind::UTF16),
    };
    connection.initialize_finish(id, initialized(&encoding))?;
    let (settings, problem) = settings.with(params.initialization_options);
    let (jobs, queue) = unbounded();
    let (done, results) = unbounded();
    std::thread::scope(|scope| {
        scope.spawn(move || work(&queue, &done, &settings));
        // When the server goes, the jobs go with it, and the worker ends.
        let mut server = Server { connection, unit, versioned, jobs, documents: HashMap::new(), editions: 0 };
        if let Some(problem) = problem {
            server.notify("window/showMessage", &json!({ "type": 2, "message": problem }))?;
        }
        loop {
            select! {
                recv(connection.receiver) -> message => match message {
                    Err(_) => return Err(ServeError::gone()),
                    Ok(Message::Request(request)) => {
                        if connection.handle_shutdown(&request)? {
                            return Ok(());
                        }
                        server.request(request)?;
                    }
                    Ok(Message::Notification(notification)) if notification.method == "exit" => {
                        return Err(ServeError("the client sent `exit` without `shutdown`".to_owned()));
                    }
                    Ok(Message::Notification(notification)) => server.notification(notification)?,
                    // Nothing is asked of the client.
                    Ok(Message::Response(_)) => {}
                },
                recv(results) -> result => match result {
                    Ok(done) => server.done(done)?,
                    Err(_) => return Err(ServeError("the check of a text panicked".to_owned())),
                },
            }
        }
    })
}

/// What the server can do.
fn initialized(encoding: &PositionEncodingKind) -> Value {
    json!({
        "capabilities": {
            "positionEncoding": encoding,
            "textDocumentSync": { "openClose": true, "change": 1 },
            "hoverProvider": true,
            "completionProvider": { "triggerCharacters": [".", "%", "|"] },
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": true,
            "codeActionProvider": { "codeActionKinds": actions::KINDS },
            "inlayHintProvider": true,
            "semanticTokensProvider": { "legend": tokens::legend(), "full": true, "range": true },
        },
        "serverInfo": { "name": "roundonce", "version": env!("CARGO_PKG_VERSION") },
    })
}

struct Server<'c> {
    connection: &'c Connection,
    unit: ColumnUnit,
    /// Whether the client takes edits of a version of a text.
    versioned: bool,
    jobs: Sender<Job>,
    /// By their names.
    documents: HashMap<String, Document>,
    editions: u64,
}

/// What an answer is, or why there is none.
type Answer = Result<Value, (ErrorCode, String)>;

type Sent = Result<(), ServeError>;

fn answered(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

/// A language by the client's name of it, or by the file's.
fn language(id: &str, uri: &Uri) -> Option<TextLanguage> {
    let extension = uri.path().as_str().rsplit_once('.').and_then(|(_, end)| TextLanguage::of_extension(end));
    match id {
        "ptx" => Some(TextLanguage::Ptx),
        "spirv" | "spvasm" => Some(TextLanguage::Spirv),
        "sass" => Some(TextLanguage::Sass),
        _ => extension,
    }
}

impl Server<'_> {
    fn send(&self, message: impl Into<Message>) -> Sent {
        self.connection.sender.send(message.into()).map_err(|_| ServeError("the client takes no messages".to_owned()))
    }

    fn notify(&self, method: &str, params: &impl Serialize) -> Sent {
        self.send(Notification::new(method.to_owned(), params))
    }

    fn respond(&self, id: RequestId, answer: Answer) -> Sent {
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        })
    }

    fn notification(&mut self, notification: Notification) -> Sent {
        let Notification { method, params } = notification;
        // A notification has no answer, so that one that cannot be read is ignored.
        match method.as_str() {
            "textDocument/didOpen" => match read(params) {
                Ok(params) => self.open(params),
                Err(_) => Ok(()),
            },
            "textDocument/didChange" => match read(params) {
                Ok(params) => self.change(params),
                Err(_) => Ok(()),
            },
            "textDocument/didClose" => match read::<DidCloseTextDocumentParams>(params) {
                Ok(params) => self.close(&params.text_document.uri),
                Err(_) => Ok(()),
            },
            "$/cancelRequest" => self.cancel(&params),
            _ => Ok(()),
        }
    }

    fn edition(&mut self) -> u64 {
        self.editions += 1;
        self.editions
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) -> Sent {
        let item = params.text_document;
        let Some(language) = language(&item.language_id, &item.uri) else { return Ok(()) };
        let (key, edition) = (item.uri.as_str().to_owned(), self.edition());
        let document = Document::new(item.uri, language, item.version, edition, item.text);
        if let Some(older) = self.documents.insert(key.clone(), document) {
            self.outdated(older.waiting)?;
        }
        self.check(&key)
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> Sent {
        let (key, edition) = (params.text_document.uri.as_str().to_owned(), self.edition());
        let Some(document) = self.documents.get_mut(&key) else { return Ok(()) };
        // Of several whole texts the last is the text.
        let Some(change) = params.content_changes.into_iter().next_back() else { return Ok(()) };
        document.replace(params.text_document.version, edition, change.text);
        let waiting = std::mem::take(&mut document.waiting);
        self.outdated(waiting)?;
        self.check(&key)
    }

    /// Requests whose text is no more.
    fn outdated(&self, waiting: Vec<Request>) -> Sent {
        let reason = || Err((ErrorCode::ContentModified, "the text has changed".to_owned()));
        waiting.into_iter().try_for_each(|request| self.respond(request.id, reason()))
    }

    fn close(&mut self, uri: &Uri) -> Sent {
        if let Some(document) = self.documents.remove(uri.as_str()) {
            self.outdated(document.waiting)?;
            self.publish(uri.clone(), Vec::new(), document.version)?;
        }
        Ok(())
    }

    fn cancel(&mut self, params: &Value) -> Sent {
        let Some(id) = params.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok()) else {
            return Ok(());
        };
        let mut cancelled = false;
        for document in self.documents.values_mut() {
            let count = document.waiting.len();
            document.waiting.retain(|request| request.id != id);
            cancelled |= document.waiting.len() < count;
        }
        let reason = || Err((ErrorCode::RequestCanceled, "cancelled by the client".to_owned()));
        if cancelled { self.respond(id, reason()) } else { Ok(()) }
    }

    /// Has the worker check the newest text of a document.
    fn check(&mut self, key: &str) -> Sent {
        let Some(document) = self.documents.get_mut(key) else { return Ok(()) };
        if document.is_too_long() {
            document.findings = Some(Default::default());
            let (uri, version) = (document.uri.clone(), document.version);
            let found = diagnostics::too_long(document.text.len());
            return self.publish(uri, found, version);
        }
        let Document { edition, language, .. } = *document;
        let job = Job { key: key.to_owned(), edition, language, text: document.text.clone() };
        self.jobs.send(job).map_err(|_| ServeError("the worker is gone".to_owned()))
    }

    /// Takes findings, unless there is a newer text.
    fn done(&mut self, done: Done) -> Sent {
        let unit = self.unit;
        let Some(document) = self.documents.get_mut(&done.key).filter(|document| document.edition == done.edition)
        else {
            return Ok(());
        };
        let found = diagnostics::diagnostics(&done.findings, &document.places(unit));
        document.findings = Some(done.findings);
        let waiting = std::mem::take(&mut document.waiting);
        let (uri, version) = (document.uri.clone(), document.version);
        self.publish(uri, found, version)?;
        waiting.into_iter().try_for_each(|request| self.request(request))
    }

    fn publish(&self, uri: Uri, diagnostics: Vec<lsp_types::Diagnostic>, version: i32) -> Sent {
        let params = PublishDiagnosticsParams { uri, diagnostics, version: Some(version) };
        self.notify("textDocument/publishDiagnostics", &params)
    }

    fn request(&mut self, request: Request) -> Sent {
        let Request { id, method, params } = request.clone();
        let needs_findings = matches!(method.as_str(), "textDocument/codeAction" | "textDocument/inlayHint");
        if needs_findings
            && let Some(document) = self.documents.get_mut(key_of(&params))
            && document.findings.is_none()
        {
            document.waiting.push(request);
            return Ok(());
        }
        let answer = self.answer(&method, params);
        self.respond(id, answer)
    }

    fn answer(&self, method: &str, params: Value) -> Answer {
        let known = [
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/definition",
            "textDocument/references",
            "textDocument/documentSymbol",
            "textDocument/codeAction",
            "textDocument/inlayHint",
            "textDocument/semanticTokens/full",
            "textDocument/semanticTokens/range",
        ];
        if !known.contains(&method) {
            return Err((ErrorCode::MethodNotFound, format!("`{method}` is not answered here")));
        }
        // A file in no language that is known has no answers.
        let Some(document) = self.documents.get(key_of(&params)) else { return Ok(Value::Null) };
        let places = &document.places(self.unit);
        let byte = |position: Position| places.byte(position);
        let findings = document.findings.as_ref().map_or(&[][..], |findings| findings);
        match method {
            "textDocument/hover" => {
                let params: HoverParams = read(params)?;
                let at = byte(params.text_document_position_params.position);
                answered(hover::hover(document, findings, places, at))
            }
            "textDocument/completion" => {
                let params: CompletionParams = read(params)?;
                answered(hover::complete(document, byte(params.text_document_position.position)))
            }
            "textDocument/definition" => {
                let params: GotoDefinitionParams = read(params)?;
                let at = byte(params.text_document_position_params.position);
                answered(navigation::definition(document, places, at))
            }
            "textDocument/references" => {
                let params: ReferenceParams = read(params)?;
                let at = byte(params.text_document_position.position);
                answered(navigation::references(document, places, at, params.context.include_declaration))
            }
            "textDocument/documentSymbol" => {
                let _: DocumentSymbolParams = read(params)?;
                answered(navigation::symbols(document, places))
            }
            "textDocument/codeAction" => {
                let params: CodeActionParams = read(params)?;
                let edited = actions::Edited { document, places, versioned: self.versioned };
                answered(actions::actions(&edited, findings, &params))
            }
            "textDocument/inlayHint" => {
                let params: InlayHintParams = read(params)?;
                answered(hints::hints(document, findings, places, params.range))
            }
            "textDocument/semanticTokens/full" => {
                let _: SemanticTokensParams = read(params)?;
                self.tokens(document, places, (0, usize::MAX))
            }
            _ => {
                let params: SemanticTokensRangeParams = read(params)?;
                self.tokens(document, places, (byte(params.range.start), byte(params.range.end)))
            }
        }
    }

    fn tokens(&self, document: &Document, places: &Places<'_>, bytes: (usize, usize)) -> Answer {
        let data = tokens::tokens(document, places, bytes);
        answered(SemanticTokens { result_id: None, data })
    }
}

/// The name of the text that a request is about.
fn key_of(params: &Value) -> &str {
    params["textDocument"]["uri"].as_str().unwrap_or_default()
}
