//! `--web`: the report as it grows, in a browser.
//!
//! | file     | what it does                                                              |
//! |----------|---------------------------------------------------------------------------|
//! | `pages`  | what is shown now: made once for all browsers, as often as it is worth it |
//! | `routes` | the page and its events, for this machine alone unless told otherwise     |

mod pages;
mod routes;

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::JoinHandle,
};

use mcp_loadtest::{Report, Watch};
use tokio_util::sync::CancellationToken;

use self::pages::Pages;
use crate::{commands::block_on, error::CliError, fault_log::FaultsSoFar};

/// The view, in a thread of its own.
pub(crate) struct WebView {
    address: SocketAddr,
    pages: Arc<Pages>,
    closed: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl WebView {
    /// Listens; browsers may come and go from now on.
    pub(super) fn start(
        watch: Watch,
        faults: FaultsSoFar,
        address: SocketAddr,
    ) -> Result<Self, CliError> {
        let failed = |source| CliError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (pages, closed) = (Arc::new(Pages::default()), CancellationToken::new());
        let (shown, until) = (pages.clone(), closed.clone());
        let thread = std::thread::Builder::new().name("web".into()).spawn(move || {
            // Without its page the run goes on; what it found is told at the end.
            let _ = block_on(async {
                tokio::select! {
                    served = routes::serve(listener, address, shown.clone()) => served,
                    () = shown.follow(watch, faults) => Ok(()),
                    () = until.cancelled() => Ok(()),
                }
            });
        })?;
        Ok(Self { address, pages, closed, thread: Some(thread) })
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The run is over: the final report takes the place of the page.
    pub(super) fn end(&self, report: &Report) {
        self.pages.end(report);
    }
}

impl Drop for WebView {
    fn drop(&mut self) {
        self.closed.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
