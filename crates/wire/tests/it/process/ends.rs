//! We end, in every way a process can, and nothing of what we started is left.
//!
//! The parent is this test binary itself, in a role of its own: it starts a server that goes on
//! without us, tells on stdout which processes there are, and ends as it is told on stdin.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use mcp_loadtest_wire::process::{Launch, Patience, ServerProcess};
use rustix::process::{Pid, Signal, kill_process};

use super::support::*;

const ROLE: &str = "process::ends::role_of_a_parent";

/// Deaf to everything that can be ignored, with a daemon that is as well.
fn stubborn() -> Launch {
    let deaf = "import signal\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n";
    let mut launch = python(&format!("{deaf}{DAEMON}\ntime.sleep(60)"));
    // For the hopper: which parent's server this is.
    launch.env.insert("PARENT".into(), std::process::id().to_string());
    launch
}

#[tokio::test]
#[ignore = "a role in the tests below"]
async fn role_of_a_parent() {
    let (server, daemon) = spawn_ready(&stubborn()).await;
    tell(&format!("pids {} {daemon}", server.pid()));
    act(server).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "a role in `a_process_that_moves_on_all_the_time_does_not_escape_the_guard`"]
async fn role_of_a_hoppers_parent() {
    let mut launch = stubborn();
    launch.args[1] = HOPPER.into();
    let (server, _) = spawn_ready(&launch).await;
    tell(&format!("pids {}", server.pid()));
    act(server).await;
}

/// Ends as told; at the end of stdin as well, as nobody must be left waiting.
async fn act(server: ServerProcess) {
    let mut order = String::new();
    std::io::stdin().read_line(&mut order).expect("an order");
    match order.trim() {
        "abort" => std::process::abort(),
        "panic" => panic!("as told"),
        "stop" => drop(server.stop(Patience::NONE).await),
        "leak" => std::mem::forget(server),
        _ => {}
    }
}

/// Printing is captured by the test harness, a handle is not.
fn tell(line: &str) {
    writeln!(std::io::stdout(), "\n{line}").expect("somebody listens");
}

/// A parent in its role, and the processes it told of.
struct Parent {
    process: Child,
    pids: Vec<u32>,
}

impl Parent {
    fn start(role: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", role, "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the parent starts");
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut lines = lines.map_while(Result::ok);
        let pids = lines.find_map(|line| {
            let words = line.strip_prefix("pids ")?.split(' ');
            Some(words.map(number).collect())
        });
        let pids = pids.expect("the parent tells its processes");
        Parent { process, pids }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    fn order(&mut self, order: &str) {
        let mut stdin = self.process.stdin.take().expect("a pipe");
        writeln!(stdin, "{order}").expect("the parent listens");
    }

    /// Waits for the end of the parent and of everything it started, the guard included.
    async fn leaves_nothing(mut self, how: &str) {
        let children = children(self.process.id());
        self.process.wait().expect("our own child");
        for pid in self.pids.iter().chain(&children) {
            until(&format!("{pid} is gone after {how}"), || !alive(*pid)).await;
        }
    }
}

/// The server and the guard, where that can be found out.
fn children(parent: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-A", "-o", "pid=", "-o", "ppid="]).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let pair = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse::<u32>().ok()?))
    };
    let pairs = text.lines().filter_map(pair);
    pairs.filter(|(_, above)| *above == parent).map(|(pid, _)| pid).collect()
}

#[tokio::test]
async fn a_signal_that_ends_us_leaves_nothing() {
    for signal in [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::SEGV] {
        let parent = Parent::start(ROLE);
        assert!(parent.pids.iter().all(|pid| alive(*pid)));
        kill_process(parent.pid(), signal).unwrap();
        parent.leaves_nothing(&format!("{signal:?}")).await;
    }
}

#[tokio::test]
async fn an_end_of_our_own_making_leaves_nothing() {
    for order in ["abort", "panic", "stop", "leak", "return"] {
        let mut parent = Parent::start(ROLE);
        // Before the order, while they still are its children.
        let guard_and_server = children(parent.process.id());
        parent.pids.extend(guard_and_server);
        parent.order(order);
        parent.leaves_nothing(order).await;
    }
}

#[tokio::test]
async fn killing_us_while_the_guard_was_asked_to_end_leaves_nothing() {
    let parent = Parent::start(ROLE);
    for pid in children(parent.process.id()) {
        for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
            let pid = Pid::from_raw(pid as i32).unwrap();
            kill_process(pid, signal).unwrap();
        }
    }
    kill_process(parent.pid(), Signal::KILL).unwrap();
    parent.leaves_nothing("SIGTERM and more to the guard").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_moves_on_all_the_time_does_not_escape_the_guard() {
    let parent = Parent::start("process::ends::role_of_a_hoppers_parent");
    let mark = format!("PARENT={}", parent.process.id());
    kill_process(parent.pid(), Signal::KILL).unwrap();
    parent.leaves_nothing("SIGKILL").await;
    until("the hopper is gone", || carriers(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_run_inside_a_run_leaves_nothing() {
    let mut launch = Launch::new(std::env::current_exe().unwrap().to_str().unwrap());
    launch.args = ["--exact", ROLE, "--ignored", "--nocapture"].map(String::from).into();
    let mut inner = spawn(&launch);
    let stdout = inner.take_stdout().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(stdout));
    let pids: Vec<u32> = loop {
        let line = lines.next_line().await.unwrap().expect("the parent tells");
        if let Some(pids) = line.strip_prefix("pids ") {
            break pids.split(' ').map(number).collect();
        }
    };
    drop(inner);
    for pid in pids {
        assert!(!alive(pid));
    }
}
