//! Ends a server that starts processes without end, before the machine has no room for others.
//!
//! One thread looks after all servers, and is there only while one runs. Counting a server's processes
//! means to read all processes of the machine, so it is done every few seconds, and at once when there are
//! many more tasks than at the fewest that were seen. No call ever waits for it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use mcp_loadtest_core::server::MOST_PROCESSES;
use tokio::time::Instant;

use super::fence::{self, Fence};

/// How often the number of tasks is looked at.
const INTERVAL: Duration = Duration::from_millis(250);
/// So many tasks more than at the fewest are a reason to count.
const SUSPICIOUS: u64 = MOST_PROCESSES as u64 / 4;
/// Nobody suspicious is left alone for longer than this,
const EAGER: Duration = Duration::from_secs(2);
/// and nobody else for longer than this, as others may have ended as many tasks meanwhile.
const CALM: Duration = Duration::from_secs(5);
/// How often a crowd is killed before it is left to those who stop the server.
const PASSES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

static WATCHED: Mutex<Watched> =
    Mutex::new(Watched { servers: BTreeMap::new(), next: 0, is_awake: false, fewest: None });
/// Rung when nobody is left to look after.
static BELL: Condvar = Condvar::new();

struct Watched {
    servers: BTreeMap<u64, Server>,
    next: u64,
    is_awake: bool,
    /// The fewest tasks that were ever seen: what was killed a moment ago may still be counted.
    fewest: Option<u64>,
}

struct Server {
    fence: Fence,
    crowd: Arc<OnceLock<usize>>,
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server that is looked after for as long as this is kept.
pub(super) struct Lookout {
    number: u64,
    crowd: Arc<OnceLock<usize>>,
}

impl Lookout {
    /// Looks after the server behind this fence; `None` where that cannot be done.
    pub(super) fn over(fence: Option<Fence>) -> Option<Self> {
        let (fence, crowd) = (fence?, Arc::<OnceLock<usize>>::default());
        let mut watched = watched();
        if !watched.is_awake {
            let thread = std::thread::Builder::new().name("crowd".into());
            thread.spawn(look_after_all).ok()?;
            watched.is_awake = true;
        }
        let number = watched.next;
        watched.next += 1;
        watched.servers.insert(number, Server { fence, crowd: crowd.clone() });
        Some(Self { number, crowd })
    }

    /// How many processes the server had when it was ended for it.
    pub(super) fn crowd(&self) -> Option<usize> {
        self.crowd.get().copied()
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        let mut watched = watched();
        watched.servers.remove(&self.number);
        if watched.servers.is_empty() {
            BELL.notify_all();
        }
    }
}

fn look_after_all() {
    let mut due = Due::after(Duration::ZERO);
    loop {
        let watched = watched();
        let (mut watched, _) = BELL
            .wait_timeout_while(watched, INTERVAL, |watched| !watched.servers.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        if watched.servers.is_empty() {
            watched.is_awake = false;
            return;
        }
        let now = tasks();
        watched.fewest = watched.fewest.min(now).or(now);
        let is_suspicious =
            now.zip(watched.fewest).is_some_and(|(now, fewest)| now - fewest >= SUSPICIOUS);
        if !due.is_now(is_suspicious) {
            continue;
        }
        let began = Instant::now();
        let crowded = crowded(&mut watched);
        drop(watched);
        due = Due::after(began.elapsed());
        crowded.into_iter().for_each(disperse);
    }
}

/// When to count next: where that takes long, less often.
struct Due {
    suspicious: Instant,
    anyway: Instant,
}

impl Due {
    fn after(cost: Duration) -> Self {
        let now = Instant::now();
        Self { suspicious: now + (cost * 20).min(EAGER), anyway: now + (cost * 100).max(CALM) }
    }

    fn is_now(&self, is_suspicious: bool) -> bool {
        let now = Instant::now();
        is_suspicious && now >= self.suspicious || now >= self.anyway
    }
}

/// Takes out the servers that have too many processes.
fn crowded(watched: &mut Watched) -> Vec<Fence> {
    let asked = fence::ticket();
    let mut counts = Vec::new();
    for (number, server) in &mut watched.servers {
        counts.push((*number, server.fence.look(asked)));
    }
    let many = counts.into_iter().filter(|(_, count)| *count > MOST_PROCESSES);
    many.filter_map(|(number, count)| {
        let server = watched.servers.remove(&number)?;
        // Told before it is done: whoever sees the end of the server asks why.
        let _ = server.crowd.set(count);
        Some(server.fence)
    })
    .collect()
}

/// Ends all of them, however fast they move on.
fn disperse(mut fence: Fence) {
    for _ in 0..PASSES {
        fence.kill_seen();
        // The server itself is among them, and its number is free for others from now on.
        fence.let_go();
        pause();
        if fence.look(fence::ticket()) == 0 {
            return;
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this thread has no runtime, and nobody waits for it"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// How many tasks the system has, threads included; `None` where it does not tell.
fn tasks() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells_how_many_tasks_there_are() {
        assert!(tasks().is_some_and(|tasks| tasks > 0));
    }
}
