#![doc = include_str!("../README.md")]
//!
//! Reading order: `server.rs` (messages, and which text an answer is about), `stdio.rs` (how they come and go),
//! `document.rs` (a text and its places), `worker.rs` (findings, beside the messages), then one file for each kind of answer.
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
mod stdio;
mod tokens;
mod worker;

pub use document::LARGEST;
pub use server::{ServeError, serve};
pub use settings::Settings;
pub use stdio::serve_stdio;
