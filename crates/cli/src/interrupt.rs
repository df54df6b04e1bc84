//! Ctrl-C and SIGTERM: the first ends the run and keeps what was measured, the second ends us.

use mcp_loadtest::Stop;

/// Gives the stop signal at the first signal and returns at the second: then nothing is waited for
/// any more, and the guard process sweeps up behind us.
pub(crate) async fn listen(stop: Stop) {
    signal().await;
    stop.stop();
    signal().await;
}

/// Waits for a signal. From now on none goes unheard: whoever says that it is ready makes this first.
#[cfg(unix)]
pub(crate) fn signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let both = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async {
        let (Ok(mut interrupt), Ok(mut terminate)) = both else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

/// Waits for a signal.
#[cfg(not(unix))]
pub(crate) async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
