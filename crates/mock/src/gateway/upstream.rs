//! The server behind the gateway: the mock, in a thread of its own so that it does not wait for the
//! client and the client not for it.

use std::{
    io,
    net::SocketAddr,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::Duration,
};

use mcp_loadtest_core::fault::Fault;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    Mock,
    admin::Controlled,
    audit::{Audit, Filter, Redaction, Row, StoreSpec},
};

/// How often the log is looked at for a row that is not there yet.
const LOOK: Duration = Duration::from_millis(10);

/// A mock that serves until this is dropped.
#[derive(Debug)]
pub(super) struct Upstream {
    url: String,
    controlled: Controlled,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// A place in the log: what arrives from here on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(u64);

type Started = io::Result<(String, Controlled)>;

impl Upstream {
    /// Port 0 is any.
    pub(super) fn start(port: u16) -> io::Result<Self> {
        let memory: StoreSpec = "memory".parse().map_err(io::Error::other)?;
        // The log stays here, and whether a secret has passed is one of the questions.
        let audit = Audit::open(&memory, Redaction::none()).map_err(io::Error::other)?;
        let stop = CancellationToken::new();
        let (tell, told) = mpsc::channel();
        let mock = Mock::new().audit(audit);
        let until = stop.clone();
        let thread = thread::Builder::new()
            .name("upstream".into())
            .spawn(move || serve(mock, port, &tell, &until))?;
        let started = told.recv().map_err(|_| io::Error::other("its thread ended"));
        let (url, controlled) = started.flatten()?;
        Ok(Self { url, controlled, stop, thread: Some(thread) })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What is wrong with it from now on; nothing, if nothing is given.
    pub(super) fn set_fault(&self, fault: Option<&str>) {
        let parsed = fault.map(|text| text.parse::<Fault>().expect("our own faults are faults"));
        self.controlled.desk.set_faults(parsed.into_iter().collect());
    }

    /// This moment, as a place in the log.
    pub(super) fn mark(&self) -> Mark {
        // The number is used up: whatever arrives later has a larger one.
        Mark(self.controlled.audit.next_seq())
    }

    /// What has arrived since then, and is answered, in order of arrival.
    pub(super) fn since(&self, mark: Mark) -> Vec<Row> {
        let filter = Filter { after: Some(mark.0), ..Filter::default() };
        let mut rows = self.controlled.audit.query(&filter).unwrap_or_default();
        rows.sort_by_key(|row| row.seq);
        rows
    }

    /// The calls of a tool since then.
    pub(super) fn calls(&self, mark: Mark, tool: &str) -> Vec<Row> {
        let mut rows = self.since(mark);
        rows.retain(|row| row.tool.as_deref() == Some(tool));
        rows
    }

    /// The same with this text in the arguments.
    pub(super) fn calls_with(&self, mark: Mark, tool: &str, marker: &str) -> Vec<Row> {
        let mut rows = self.calls(mark, tool);
        rows.retain(|row| row.arguments.as_deref().unwrap_or_default().contains(marker));
        rows
    }

    /// The first call of a tool since then, as soon as it is over.
    pub(super) async fn first_call(&self, mark: Mark, tool: &str, limit: Duration) -> Option<Row> {
        let begun = Instant::now();
        loop {
            let row = self.calls(mark, tool).into_iter().next();
            if row.is_some() || begun.elapsed() >= limit {
                return row;
            }
            sleep(LOOK).await;
        }
    }
}

fn serve(mock: Mock, port: u16, tell: &mpsc::Sender<Started>, stop: &CancellationToken) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // Nobody listens only if whoever started us is gone.
            let _ = tell.send(Err(error));
            return;
        }
    };
    runtime.block_on(async {
        let bound = match mock.bind(SocketAddr::from(([127, 0, 0, 1], port))).await {
            Ok(bound) => bound,
            Err(error) => {
                let _ = tell.send(Err(error));
                return;
            }
        };
        let _ = tell.send(Ok((bound.url(), bound.controlled())));
        // No fault of ours ends it; a socket that fails shows in every check.
        let _ = bound.serve_until(stop.cancelled()).await;
    });
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic in there was told where it happened.
            let _ = thread.join();
        }
    }
}
