//! Messages: which text an answer is about, and who waits for what.
//!
//! Texts come whole: a check reads all of a text anyway, and a text can then never differ from the client's. An answer that
//! needs findings waits until those of the newest text are there.

use std::collections::HashMap;
use std::fmt;

use crossbeam_channel::{Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeActionParams, CompletionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DocumentSymbolParams, GotoDefinitionParams, HoverParams, InitializeParams,
    InlayHintParams, PositionEncodingKind, PublishDiagnosticsParams, ReferenceParams, SemanticTokens,
    SemanticTokensParams, SemanticTokensRangeParams, TextDocumentIdentifier, TextDocumentPositionParams, Uri,
};
use roundonce::Finding;
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

impl ServeError {
    fn gone() -> ServeError {
        ServeError("the client went away without `exit`".to_owned())
    }

    fn hasty() -> ServeError {
        ServeError("the client sent `exit` without `shutdown`".to_owned())
    }
}

/// Serves a client until it says `exit`.
///
/// # Errors
/// If the client goes away without that, or breaks the protocol.
pub fn serve(connection: &Connection, settings: Settings) -> Result<(), ServeError> {
    let (id, params) = introduced(connection)?;
    let offered = params.capabilities.general.and_then(|general| general.position_encodings).unwrap_or_default();
    let edits = params.capabilities.workspace.and_then(|workspace| workspace.workspace_edit);
    let versioned = edits.and_then(|edits| edits.document_changes).unwrap_or(false);
    let (unit, encoding) = match offered.contains(&PositionEncodingKind::UTF8) {
        true => (ColumnUnit::Byte, PositionEncodingKind::UTF8),
        false => (ColumnUnit::Utf16, PositionEncodingKind::UTF16),
    };
    respond(connection, id, Ok(initialized(&encoding)))?;
    let (settings, problem) = settings.with(params.initialization_options);
    let (jobs, queue) = unbounded();
    let (done, results) = unbounded();
    std::thread::scope(|scope| {
        scope.spawn(move || work(&queue, &done, &settings));
        // When the server goes, the jobs go with it, and the worker ends.
        let documents = HashMap::new();
        let mut server = Server { connection, unit, versioned, jobs, documents, editions: 0, is_shut_down: false };
        if let Some(problem) = problem {
            server.notify("window/showMessage", &json!({ "type": 2, "message": problem }))?;
        }
        loop {
            select! {
                recv(connection.receiver) -> message => match message {
                    Err(_) => return Err(ServeError::gone()),
                    Ok(Message::Request(request)) => server.asked(request)?,
                    Ok(Message::Notification(notification)) if notification.method == "exit" => {
                        return if server.is_shut_down { Ok(()) } else { Err(ServeError::hasty()) };
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

/// The request `initialize`: what is asked before it is refused.
fn introduced(connection: &Connection) -> Result<(RequestId, InitializeParams), ServeError> {
    loop {
        match connection.receiver.recv().map_err(|_| ServeError::gone())? {
            Message::Request(Request { id, method, params }) if method == "initialize" => match read(params) {
                Ok(params) => return Ok((id, params)),
                Err(reason) => respond(connection, id, Err(reason))?,
            },
            Message::Request(Request { id, method, .. }) => {
                let message = format!("`{method}` was asked before `initialize`");
                respond(connection, id, Err((ErrorCode::ServerNotInitialized, message)))?;
            }
            Message::Notification(notification) if notification.method == "exit" => return Err(ServeError::hasty()),
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
}

fn send(connection: &Connection, message: impl Into<Message>) -> Sent {
    connection.sender.send(message.into()).map_err(|_| ServeError("the client takes no messages".to_owned()))
}

fn respond(connection: &Connection, id: RequestId, answer: Answer) -> Sent {
    let response = match answer {
        Ok(value) => Response::new_ok(id, value),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    };
    send(connection, response)
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
    /// Whether the client wants nothing more.
    is_shut_down: bool,
}

/// What an answer is, or why there is none.
type Answer = Result<Value, (ErrorCode, String)>;

type Sent = Result<(), ServeError>;

fn answered(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    let wrong = |error| (ErrorCode::InvalidParams, format!("the parameters cannot be read: {error}"));
    serde_json::from_value(params).map_err(wrong)
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
    fn notify(&self, method: &str, params: &impl Serialize) -> Sent {
        send(self.connection, Notification::new(method.to_owned(), params))
    }

    fn respond(&self, id: RequestId, answer: Answer) -> Sent {
        respond(self.connection, id, answer)
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

    /// A request that has just come.
    fn asked(&mut self, request: Request) -> Sent {
        let refused = |message: &str| Err((ErrorCode::InvalidRequest, message.to_owned()));
        match request.method.as_str() {
            _ if self.is_shut_down => self.respond(request.id, refused("only `exit` may follow `shutdown`")),
            "initialize" => self.respond(request.id, refused("`initialize` may be asked once")),
            "shutdown" => {
                self.is_shut_down = true;
                self.respond(request.id, Ok(Value::Null))
            }
            _ => self.request(request),
        }
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
        match method {
            "textDocument/hover" => {
                let HoverParams { text_document_position_params: at, .. } = read(params)?;
                self.at(&at, |text, byte| hover::hover(text.document, text.findings, &text.places, byte))
            }
            "textDocument/completion" => {
                let CompletionParams { text_document_position: at, .. } = read(params)?;
                self.at(&at, |text, byte| hover::complete(text.document, byte))
            }
            "textDocument/definition" => {
                let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
                self.at(&at, |text, byte| navigation::definition(text.document, &text.places, byte))
            }
            "textDocument/references" => {
                let ReferenceParams { text_document_position: at, context, .. } = read(params)?;
                let declaration = context.include_declaration;
                self.at(&at, |text, byte| navigation::references(text.document, &text.places, byte, declaration))
            }
            "textDocument/documentSymbol" => {
                let DocumentSymbolParams { text_document, .. } = read(params)?;
                self.about(&text_document, |text| navigation::symbols(text.document, &text.places))
            }
            "textDocument/codeAction" => {
                let params: CodeActionParams = read(params)?;
                self.about(&params.text_document, |text| {
                    let Text { document, places, findings } = text;
                    actions::actions(
                        &actions::Edited { document, places, versioned: self.versioned },
                        findings,
                        &params,
                    )
                })
            }
            "textDocument/inlayHint" => {
                let InlayHintParams { text_document, range, .. } = read(params)?;
                self.about(&text_document, |text| hints::hints(text.document, text.findings, &text.places, range))
            }
            "textDocument/semanticTokens/full" => {
                let SemanticTokensParams { text_document, .. } = read(params)?;
                self.about(&text_document, |text| text.tokens((0, usize::MAX)))
            }
            "textDocument/semanticTokens/range" => {
                let SemanticTokensRangeParams { text_document, range, .. } = read(params)?;
                let bytes = |places: &Places<'_>| (places.byte(range.start), places.byte(range.end));
                self.about(&text_document, |text| text.tokens(bytes(&text.places)))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not answered here"))),
        }
    }

    /// What is said about a text; nothing of one in no language that is known.
    fn about<T: Serialize>(&self, about: &TextDocumentIdentifier, answer: impl FnOnce(&Text<'_>) -> T) -> Answer {
        let Some(document) = self.documents.get(about.uri.as_str()) else { return Ok(Value::Null) };
        let findings = document.findings.as_ref().map_or(&[][..], |findings| findings);
        answered(answer(&Text { document, places: document.places(self.unit), findings }))
    }

    /// The same about a byte of it.
    fn at<T: Serialize>(&self, at: &TextDocumentPositionParams, answer: impl FnOnce(&Text<'_>, usize) -> T) -> Answer {
        self.about(&at.text_document, |text| answer(text, text.places.byte(at.position)))
    }
}

/// A text that is asked about.
struct Text<'d> {
    document: &'d Document,
    places: Places<'d>,
    findings: &'d [Finding],
}

impl Text<'_> {
    fn tokens(&self, bytes: (usize, usize)) -> SemanticTokens {
        SemanticTokens { result_id: None, data: tokens::tokens(self.document, &self.places, bytes) }
    }
}

/// The name of the text that a request is about.
fn key_of(params: &Value) -> &str {
    params["textDocument"]["uri"].as_str().unwrap_or_default()
}
