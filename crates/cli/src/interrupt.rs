//! Ctrl-C and SIGTERM: the first ends the run and keeps what was measured, the second ends us.

use mcp_loadtest::Stop;

/// Waits for signals for as long as the command runs.
pub(crate) async fn listen(stop: Stop) {
    signal().await;
    stop.stop();
    signal().await;
    give_up();
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The guard process sweeps up behind us.
#[cfg(unix)]
fn give_up() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn give_up() {}
