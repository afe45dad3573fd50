//! Findings, computed beside the messages: of several texts of one document only the newest is checked.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use roundonce::Finding;
use roundonce::answers::TextLanguage;

use crate::Settings;

/// A text to check.
pub(crate) struct Job {
    pub(crate) key: String,
    pub(crate) edition: u64,
    pub(crate) language: TextLanguage,
    pub(crate) text: Arc<str>,
}

/// What was found in one.
pub(crate) struct Done {
    pub(crate) key: String,
    pub(crate) edition: u64,
    pub(crate) findings: Findings,
}

/// Findings in the order of the text.
pub(crate) type Findings = Arc<Vec<Finding>>;

/// What is found in a text: as `check` finds it, with what is left open, if that is wanted.
fn findings(language: TextLanguage, text: &str, settings: &Settings) -> Findings {
    let mut findings = language.report(text, &settings.check_options()).findings;
    // Of SPIR-V they always come.
    findings.retain(|finding| settings.determinacy || finding.open.is_none());
    Arc::new(findings)
}

/// Checks texts until no more can come.
pub(crate) fn work(jobs: &Receiver<Job>, done: &Sender<Done>, settings: &Settings) {
    let mut queue: Vec<Job> = Vec::new();
    loop {
        if queue.is_empty() {
            let Ok(job) = jobs.recv() else { return };
            queue.push(job);
        }
        for job in jobs.try_iter() {
            queue.retain(|older| older.key != job.key);
            queue.push(job);
        }
        let Job { key, edition, language, text } = queue.remove(0);
        let findings = findings(language, &text, settings);
        if done.send(Done { key, edition, findings }).is_err() {
            return;
        }
    }
}
