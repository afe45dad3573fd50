//! SIGINT, SIGTERM, SIGHUP and SIGQUIT: what is half written is removed, then the process ends by the signal as it would have.

/// From now on. A signal that the parent had ignored (`nohup`, a job in the background) stays so.
#[cfg(unix)]
pub(crate) fn watch() {
    use std::sync::Once;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        let ignored = ignored();
        let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        // Without it a file may be left behind: no reason not to write any.
        let Ok(mut signals) = Signals::new(wanted) else { return };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                roundonce_vectors::output::abandon();
                let _ = emulate_default_handler(signal);
            }
        });
    });
}

/// The signals that are ignored, a bit each; where the system does not tell, none.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
pub(crate) fn watch() {}
