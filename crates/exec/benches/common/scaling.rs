//! What two threads make of one, held against what two processes make of one.
//!
//! Every figure is that of a process of its own, which runs one kernel for a while and says how often a second: alone on
//! one thread, alone on two, and two on one thread each at the same time.

use super::{SCALED, median, program, run};
use roundonce_exec::Engine;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The child's part is asked for by this variable: the kernel's number and how many threads.
const ASKED: &str = "ROUNDONCE_SCALING";
/// How long a child runs.
const WHILE: Duration = Duration::from_millis(400);
const ROUNDS: usize = 7;

/// Whether this process is such a child; then it has answered.
pub(crate) fn answers() -> bool {
    let Ok(asked) = std::env::var(ASKED) else { return false };
    let mut numbers = asked.split(' ').filter_map(|word| word.parse::<usize>().ok());
    let (Some(index), Some(threads)) = (numbers.next(), numbers.next()) else { panic!("{ASKED}: {asked}") };
    let work = SCALED[index]();
    let (program, mut args) = (program(".rn"), work.args.clone());
    let mut once = || run::<true>(&program, &work, &mut args, threads, Engine::Auto);
    // Caches, pages and threads are there before the time counts.
    once();
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed() < WHILE {
        times.push(once());
    }
    println!("{}", median(&mut times));
    true
}

fn child(index: usize, threads: usize) -> Child {
    let binary = std::env::current_exe().unwrap_or_else(|error| panic!("this program: {error}"));
    let mut command = Command::new(binary);
    let spawned = command.env(ASKED, format!("{index} {threads}")).stdout(Stdio::piped()).spawn();
    spawned.unwrap_or_else(|error| panic!("a child: {error}"))
}

/// The child's median, in seconds a run.
fn seconds(child: Child) -> f64 {
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("a child: {error}"));
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().unwrap_or_else(|_| panic!("a child says {said:?}"))
}

/// The table.
pub(crate) fn print() {
    println!("{:24} {:>10} {:>12} {:>14}", "work", "ms, one", "two threads", "two processes");
    for (index, work) in SCALED.iter().enumerate() {
        let name = work().name;
        let (mut one, mut threads, mut processes) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let alone = seconds(child(index, 1));
            one.push(alone);
            threads.push(alone / seconds(child(index, 2)));
            let pair = [child(index, 1), child(index, 1)];
            processes.push(pair.map(seconds).map(|each| alone / each).iter().sum());
        }
        let [one, threads, processes] = [one, threads, processes].map(|mut all| median(&mut all));
        println!("{name:24} {:>10.2} {threads:>12.2} {processes:>14.2}", one * 1e3);
    }
}
