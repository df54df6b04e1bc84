//! Ctrl-C and SIGTERM: the first ends the run and keeps what was measured, the second ends us.

use std::pin::Pin;

use mcp_loadtest::Stop;

/// A signal that is waited for.
pub(crate) type Signal = Pin<Box<dyn Future<Output = ()>>>;

/// Gives the stop signal at the first signal and returns at the second: then nothing is waited for
/// any more, and the guard process sweeps up behind us. It listens from now on.
pub(crate) fn listen(stop: Stop) -> Signal {
    let first = signal();
    Box::pin(async move {
        first.await;
        let second = signal();
        stop.stop();
        second.await;
    })
}

/// Waits for a signal. From now on none goes unheard: whoever says that it is ready makes this first.
#[cfg(unix)]
pub(crate) fn signal() -> Signal {
    use tokio::signal::unix::{SignalKind, signal};
    let both = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    Box::pin(async {
        let (Ok(mut interrupt), Ok(mut terminate)) = both else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Waits for a signal.
#[cfg(not(unix))]
pub(crate) fn signal() -> Signal {
    Box::pin(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
