//! Ctrl-C stops work that runs outside Python.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use roundonce::exec::StopSignal;

/// How long Ctrl-C may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// Does work that the signal stops, on a thread beside Python's, which looks for Ctrl-C.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &StopSignal,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, result) = mpsc::channel();
            scope.spawn(move || drop(done.send(work())));
            let mut raised = None;
            loop {
                match result.recv_timeout(PATIENCE) {
                    Ok(result) => return raised.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = Python::attach(|py| py.check_signals()).err();
                        if raised.is_some() {
                            stop.stop();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the run panicked")),
                }
            }
        })
    })
}
