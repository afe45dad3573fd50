#![doc = include_str!("../README.md")]
//!
//! Reading order: `server.rs` (messages, and which text an answer is about), `document.rs` (a text and its places),
//! `worker.rs` (findings, beside the messages), then one file for each kind of answer.
//!
//! What this is not: it checks nothing itself. Findings are the front door's, and so are the words of a hover.

mod actions;
mod diagnostics;
mod document;
mod hints;
mod hover;
mod navigation;
mod server;
mod settings;
mod tokens;
mod worker;

pub use document::LARGEST;
pub use server::{ServeError, serve};
pub use settings::Settings;

use lsp_server::Connection;

/// Serves a client on standard input and output until it says `exit`.
///
/// # Errors
/// If the client goes away without that, or speaks no protocol.
pub fn serve_stdio(settings: Settings) -> Result<(), ServeError> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, settings);
    // The thread that writes ends when nothing can be sent any more.
    drop(connection);
    let joined = threads.join();
    served.and(joined.map_err(|error| ServeError(error.to_string())))
}
