//! Each step of the ladder, the sweep after it, and `Drop` instead of it.

use std::time::Duration;

use mcp_loadtest_wire::process::{
    Patience, RunState, ServerProcess, StopReport, StopStep, inspect,
};

use super::support::*;

/// Short, as these servers are known not to react.
const SHORT: Patience = Patience {
    eof: Duration::from_millis(200),
    term: Duration::from_millis(200),
    settle: Duration::from_millis(50),
};

/// For servers that are known to end when their input does.
const PATIENT: Patience =
    Patience { eof: DEADLINE, term: DEADLINE, settle: Duration::from_millis(250) };

async fn stop(server: ServerProcess, patience: Patience) -> (StopStep, String, usize) {
    let pid = server.pid();
    let report: StopReport = server.stop(patience).await;
    assert!(!alive(pid));
    assert_eq!(report.survivors, []);
    let exit = report.exit.expect("it ended");
    (report.step, exit.to_string(), report.strays.len())
}

#[tokio::test]
async fn a_good_server_ends_at_end_of_file() {
    let (server, _) = spawn_ready(&sh("echo ready; cat; exit 0")).await;
    let seen = stop(server, PATIENT).await;
    assert_eq!(seen, (StopStep::Eof, "exit code 0".into(), 0));
}

#[tokio::test]
async fn end_of_file_may_come_from_whoever_took_stdin() {
    let mut server = spawn(&sh("cat"));
    drop(server.take_stdin());
    let seen = stop(server, PATIENT).await;
    assert_eq!(seen, (StopStep::Eof, "exit code 0".into(), 0));
}

#[tokio::test]
async fn deaf_to_end_of_file_takes_a_sigterm() {
    let (server, _) = spawn_ready(&sh("echo ready; exec sleep 60")).await;
    let seen = stop(server, Patience { term: DEADLINE, ..SHORT }).await;
    assert_eq!(seen, (StopStep::Term, "signal 15 (SIGTERM)".into(), 0));
}

#[tokio::test]
async fn deaf_to_both_takes_a_sigkill() {
    let script = "trap '' TERM; echo ready; for i in 1 2 3; do sleep 20; done";
    let (server, _) = spawn_ready(&sh(script)).await;
    let seen = stop(server, SHORT).await;
    assert_eq!(seen, (StopStep::Kill, "signal 9 (SIGKILL)".into(), 0));
}

#[tokio::test]
async fn a_stopped_server_is_killed() {
    let (server, _) = spawn_ready(&sh("echo ready; kill -STOP $$; sleep 60")).await;
    // It says so before it is; until then a `SIGTERM` would end it.
    let state = || inspect(server.pid()).map(|tree| tree.state);
    until("it has stopped", || state() == Some(RunState::Stopped)).await;
    let seen = stop(server, SHORT).await;
    assert_eq!(seen, (StopStep::Kill, "signal 9 (SIGKILL)".into(), 0));
}

#[tokio::test]
async fn an_end_that_was_seen_before_is_told_as_such() {
    let mut server = spawn(&sh("exit 7"));
    server.wait().await;
    let seen = stop(server, SHORT).await;
    assert_eq!(seen, (StopStep::AlreadyEnded, "exit code 7".into(), 0));
}

#[tokio::test]
async fn what_ends_a_moment_after_the_server_is_no_stray() {
    // The child ends at SIGTERM, but later than its parent does.
    let script = "sh -c 'trap \"sleep 0.3; exit\" TERM; echo ready; while :; do sleep 0.1; done' &
                  wait";
    let (server, _) = spawn_ready(&sh(script)).await;
    let patience = Patience { term: DEADLINE, ..SHORT };
    let seen = stop(server, patience).await;
    assert_eq!(seen, (StopStep::Term, "signal 15 (SIGTERM)".into(), 0));
}

#[tokio::test]
async fn a_child_left_in_the_group_is_swept() {
    let (server, child) = spawn_ready(&sh("sleep 60 & echo $!; cat")).await;
    let report = server.stop(Patience { eof: DEADLINE, ..SHORT }).await;
    assert_eq!(report.step, StopStep::Eof);
    assert_eq!(report.strays[0].pid, number(&child));
    assert_eq!(report.strays[0].command_line, "sleep 60");
    assert!(!alive(number(&child)));
}

#[tokio::test]
async fn a_daemon_is_swept() {
    let (mut server, daemon) = spawn_ready(&python(DAEMON)).await;
    server.wait().await;
    assert!(alive(number(&daemon)));
    let report = server.stop(SHORT).await;
    let pids: Vec<u32> = report.strays.iter().map(|stray| stray.pid).collect();
    assert_eq!((report.step, pids), (StopStep::AlreadyEnded, vec![number(&daemon)]));
    assert!(report.strays[0].command_line.contains("os.setsid()"));
    assert!(!alive(number(&daemon)));
}

#[tokio::test]
async fn a_child_without_marker_and_group_is_swept() {
    let script = "
import os, time
pid = os.fork()
if pid == 0:
    os.setsid()
    os.execve('/bin/sh', ['sh', '-c', 'echo $$; exec sleep 60'], {'PATH': '/usr/bin:/bin'})
time.sleep(60)
";
    let (server, child) = spawn_ready(&python(script)).await;
    let report = server.stop(SHORT).await;
    assert_eq!(report.strays.len(), 1);
    assert!(!alive(number(&child)));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_moves_on_all_the_time_is_swept() {
    let mut launch = python(HOPPER);
    launch.env.insert("HOPPER".into(), "for the sweep".into());
    let (server, _) = spawn_ready(&launch).await;
    let report = server.stop(SHORT).await;
    assert_eq!(report.survivors, []);
    until("the hopper is gone", || carriers("HOPPER=for the sweep").is_empty()).await;
}

#[tokio::test]
async fn dropping_kills_everything() {
    let (server, daemon) = spawn_ready(&python(&format!("{DAEMON}\ntime.sleep(60)"))).await;
    let pid = server.pid();
    drop(server);
    assert!(!alive(pid) && !alive(number(&daemon)));
}

#[tokio::test]
async fn giving_up_on_a_stop_kills_everything() {
    let (server, daemon) = spawn_ready(&python(&format!("{DAEMON}\ntime.sleep(60)"))).await;
    let pid = server.pid();
    let endless = Patience { eof: DEADLINE * 2, ..SHORT };
    let stopping = tokio::time::timeout(Duration::from_millis(50), server.stop(endless));
    assert!(stopping.await.is_err());
    assert!(!alive(pid) && !alive(number(&daemon)));
}

#[test]
fn the_end_of_the_runtime_kills_everything() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (pid, daemon) = runtime.block_on(async {
        let (server, daemon) = spawn_ready(&python(&format!("{DAEMON}\ntime.sleep(60)"))).await;
        let pid = server.pid();
        tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(server);
        });
        (pid, number(&daemon))
    });
    drop(runtime);
    assert!(!alive(pid) && !alive(daemon));
}

#[tokio::test]
async fn one_sweep_leaves_the_other_servers_alone() {
    let (one, _) = spawn_ready(&sh("echo ready; cat")).await;
    let (mut two, _) = spawn_ready(&sh("echo ready; cat")).await;
    drop(one);
    assert_eq!(two.exit(), None);
    let seen = stop(two, PATIENT).await;
    assert_eq!(seen, (StopStep::Eof, "exit code 0".into(), 0));
}

#[tokio::test]
async fn many_servers_stop_together() {
    let servers: Vec<_> = (0..40).map(|_| spawn(&sh("cat"))).collect();
    let mut stops = tokio::task::JoinSet::new();
    for server in servers {
        stops.spawn(server.stop(Patience { eof: DEADLINE, ..SHORT }));
    }
    while let Some(report) = stops.join_next().await {
        assert_eq!(report.unwrap().step, StopStep::Eof);
    }
}
