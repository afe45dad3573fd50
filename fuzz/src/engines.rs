//! A program run by everything that runs programs.

use roundonce::Profile;
use roundonce::exec::{Arg, Engine, FaultKind, Launch, Options, RunError};
use std::panic::{self, AssertUnwindSafe};

pub type Buffers = Vec<Vec<u8>>;

/// So many steps that no generated program takes them.
pub const STEPS: u64 = 1 << 22;

/// The buffers, or the error, that all engines agree on; none where a limit stopped one.
///
/// # Panics
/// If they differ: `shown` is the program as text.
pub fn run_all(launch: &Launch<'_>, shown: &dyn Fn() -> String) -> Option<Result<Buffers, RunError>> {
    let run = |engine, threads| {
        let options = Options { engine, threads, step_limit: STEPS, memory_limit: 1 << 26, ..launch.options.clone() };
        let report = Launch { options, ..launch.clone() }.run()?;
        Ok(report.buffers.into_iter().flatten().map(|buffer| buffer.to_bytes()).collect())
    };
    let is_limit = |ran: &Result<Buffers, RunError>| matches!(ran, Err(error) if matches!(error.kind, FaultKind::StepLimit | FaultKind::MemoryLimit));
    let interpreted = run(Engine::Interpreter, 1);
    for &engine in Engine::native() {
        let native = run(engine, launch.grid.iter().product::<u32>().min(2) as usize);
        if is_limit(&interpreted) || is_limit(&native) {
            return None;
        }
        // Which of several faulty threads is met first is for each engine to say.
        let same = match (&native, &interpreted) {
            (Err(one), Err(other)) => one.kind == other.kind,
            (one, other) => one == other,
        };
        assert!(same, "{}\n{engine:?} and interpreted: {}", shown(), differ(&native, &interpreted));
    }
    Some(interpreted)
}

/// What the plain interpreter gives; none where it does not know an operation.
///
/// # Panics
/// If it panics at anything else.
pub fn run_plain(launch: &Launch<'_>, shown: &dyn Fn() -> String) -> Option<Buffers> {
    let buffers = launch.args.iter().map(|arg| match arg {
        Arg::Buffer(buffer) => Some(buffer.to_bytes()),
        _ => None,
    });
    let buffers: Buffers = buffers.collect::<Option<_>>()?;
    // The fuzzer's hook ends the process at every panic.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let plain = || roundonce_scalar::run(launch.program, launch.grid, launch.block, buffers);
    let ran = panic::catch_unwind(AssertUnwindSafe(plain));
    panic::set_hook(hook);
    match ran {
        Ok(buffers) => Some(buffers),
        Err(payload) => {
            let message = payload.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
            assert!(message.starts_with("the judge does not"), "{}\nthe plain interpreter: {message}", shown());
            None
        }
    }
}

/// All engines and the plain interpreter, which must not differ.
pub fn hold(launch: &Launch<'_>, shown: &dyn Fn() -> String) -> Option<Result<Buffers, RunError>> {
    let ran = run_all(launch, shown)?;
    // The plain interpreter knows one profile.
    if let Ok(buffers) = &ran
        && launch.options.profile == Profile::NVIDIA
        && let Some(plain) = run_plain(launch, shown)
    {
        assert!(*buffers == plain, "{}\nthe engines and plain: {}", shown(), first_difference(buffers, &plain));
    }
    Some(ran)
}

fn differ(one: &Result<Buffers, RunError>, other: &Result<Buffers, RunError>) -> String {
    match (one, other) {
        (Ok(one), Ok(other)) => first_difference(one, other),
        (one, other) => format!("{:?}, {:?}", one.as_ref().err(), other.as_ref().err()),
    }
}

/// The first byte that differs: of which buffer, and its 16 bytes on both sides.
pub fn first_difference(one: &Buffers, other: &Buffers) -> String {
    for (buffer, (one, other)) in one.iter().zip(other).enumerate() {
        if let Some(at) = one.iter().zip(other).position(|(a, b)| a != b) {
            let around = |bytes: &[u8]| format!("{:02x?}", &bytes[at / 16 * 16..bytes.len().min(at / 16 * 16 + 16)]);
            return format!("buffer {buffer}, byte {at}: {}, {}", around(one), around(other));
        }
    }
    "other buffers".to_owned()
}
