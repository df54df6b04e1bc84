//! A mock or a proxy whose calls are written down: what an agent of its own did to it.

use std::{collections::BTreeMap, time::Duration};

use mcp_loadtest::{Starting, Watched};
use mcp_loadtest_core::{
    config::TransportName,
    fault::{CallView, Fault},
    mcp::method,
    seed::Seed,
    suite::recovery::WireCall,
};
use mcp_loadtest_mock::{
    Mock,
    audit::{Audit, Filter, Kind, Redaction, Row, Timestamp},
    proxy::Proxy,
};
use mcp_loadtest_wire::session::Address;
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle, time::Instant};

use super::stand::any_port;

/// A mock or a proxy whose calls are written down.
pub(super) struct Seen {
    url: String,
    audit: Audit,
    eye: Eye,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

/// What the rows of a log do not say.
pub(super) struct Eye {
    /// What the server's tools say, by name, where that is known: not for a server of others.
    pub(super) texts: BTreeMap<String, String>,
    /// The names of faults that the log knows by what they do.
    pub(super) names: BTreeMap<String, String>,
    /// All that may go wrong: the log knows only what did.
    pub(super) faults: Vec<Fault>,
    /// The same moment on both clocks.
    pub(super) began: (Instant, Timestamp),
    /// Who starts what obeys the faults.
    pub(super) starter: Starter,
}

/// Who starts a mock or a proxy: faults that are due after some time count it from there.
#[derive(Clone, Copy)]
pub(super) enum Starter {
    /// We do, before the agent begins.
    Us,
    /// The agent does, whenever it likes.
    Agent,
}

impl Eye {
    fn new(texts: BTreeMap<String, String>, faults: Vec<Fault>) -> Self {
        let began = (Instant::now(), Timestamp::now());
        Self { texts, names: BTreeMap::new(), faults, began, starter: Starter::Us }
    }
}

impl Seen {
    /// A mock of ours.
    pub(super) async fn mock(
        mock: Mock,
        texts: BTreeMap<String, String>,
        faults: Vec<Fault>,
    ) -> Result<Self, String> {
        let audit = open("memory")?;
        let bound = mock.audit(audit.clone()).bind(any_port()).await;
        let bound = bound.map_err(|error| error.to_string())?;
        let url = bound.url();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async {
            // Dropped or told: either way it is over. Calls that still run are then written down.
            let until = async {
                let _ = stopped.await;
            };
            let _ = bound.serve_until(until).await;
        });
        Ok(Self { url, audit, eye: Eye::new(texts, faults), stop, serving })
    }

    /// A proxy before a server of others.
    pub(super) async fn proxy(
        faults: Vec<Fault>,
        seed: Seed,
        upstream: &Address,
    ) -> Result<Self, String> {
        let audit = open("memory")?;
        let proxy = Proxy::new().faults(faults.clone()).seed(seed).audit(audit.clone());
        let bound = proxy.bind(any_port(), upstream, TransportName::Http).await;
        let bound = bound.map_err(|error| error.to_string())?;
        let url = bound.url().to_owned();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async {
            tokio::select! {
                _ = bound.serve() => {}
                _ = stopped => {}
            }
        });
        Ok(Self { url, audit, eye: Eye::new(BTreeMap::new(), faults), stop, serving })
    }
}

impl Eye {
    /// From when on the time of the faults is counted.
    fn start(&self, rows: &[Row]) -> Timestamp {
        let first = match self.starter {
            Starter::Us => None,
            // Its log says nothing of its start, and an agent asks soon after it.
            Starter::Agent => rows.iter().map(|row| row.ts).min(),
        };
        first.unwrap_or(self.began.1)
    }

    /// Whether a fault might have hit the call.
    fn is_aimed_at(&self, row: &Row, start: Timestamp) -> bool {
        let (Some(transport), Some(era)) = (row.transport, row.era) else { return false };
        let elapsed = u64::try_from(row.ts.0.saturating_sub(start.0)).unwrap_or_default();
        let call = CallView {
            method: method::TOOLS_CALL,
            tool: row.tool.as_deref(),
            session: row.session.as_deref(),
            server: None,
            elapsed: Duration::from_micros(elapsed),
            transport,
            era,
        };
        self.faults.iter().any(|fault| fault.counts(&call))
    }

    fn call(&self, row: &Row, start: Timestamp, zero: Instant) -> WireCall {
        let since_zero = self.began.0.saturating_duration_since(zero).as_millis() as i64
            - zero.saturating_duration_since(self.began.0).as_millis() as i64;
        let at = (row.ts.0 - self.began.1.0) / 1_000 + since_zero;
        let at_ms = u64::try_from(at).unwrap_or_default();
        let ended_ms = at_ms.saturating_add(row.duration_us / 1_000);
        let tool = row.tool.as_deref().unwrap_or_default().to_owned();
        let decisions: Value = row
            .fault
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let decisions = decisions.as_array().cloned().unwrap_or_default();
        let fired = decisions.iter().filter(|decision| decision["fired"] == true);
        let fired = fired.filter_map(|decision| decision["fault"].as_str());
        let fired: Vec<_> =
            fired.map(|fault| self.names.get(fault).map_or(fault, String::as_str)).collect();
        // A reply that a fault has spoilt was sent, but nobody could read it.
        let is_spoilt = decisions.iter().any(|decision| {
            decision["fired"] == true
                && ["malformed", "truncate", "wrong-id"]
                    .iter()
                    .any(|kind| decision["kind"] == *kind)
        });
        let was_answered = !row.cancelled
            && !is_spoilt
            && !matches!(row.error_category.as_deref(), Some("cancelled" | "transport" | "crash"));
        WireCall {
            server: String::new(),
            text: match row.success {
                true => self.texts.get(&tool).cloned(),
                false => Some(row.error_message.clone().unwrap_or_default()),
            },
            tool,
            args: row
                .arguments
                .as_deref()
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default(),
            at_ms,
            replied_ms: was_answered.then_some(ended_ms),
            cancelled_ms: row.cancelled.then_some(ended_ms),
            is_error: !row.success,
            aimed_at: !fired.is_empty() || self.is_aimed_at(row, start),
            fault: (!fired.is_empty()).then(|| fired.join(", ")),
        }
    }
}

/// Opens a log.
pub(super) fn open(store: &str) -> Result<Audit, String> {
    let spec = store.parse().map_err(|error| format!("{error}"))?;
    Audit::open(&spec, Redaction::default()).map_err(|error| error.to_string())
}

/// The calls of a log, with their moments since `zero`.
pub(super) fn calls(audit: &Audit, eye: &Eye, zero: Instant) -> Result<Vec<WireCall>, String> {
    let rows = audit.query(&Filter::default()).map_err(|error| error.to_string())?;
    let is_call =
        |row: &&Row| row.kind == Kind::Request && row.method.as_deref() == Some(method::TOOLS_CALL);
    let start = eye.start(&rows);
    Ok(rows.iter().filter(is_call).map(|row| eye.call(row, start, zero)).collect())
}

impl Watched for Seen {
    fn url(&self) -> Option<&str> {
        Some(&self.url)
    }

    fn entry(&self) -> Value {
        json!({ "type": "http", "url": self.url })
    }

    fn end(mut self: Box<Self>, zero: Instant) -> Starting<Vec<WireCall>> {
        Box::pin(async move {
            let (stop, _) = oneshot::channel();
            let _ = std::mem::replace(&mut self.stop, stop).send(());
            let _ = (&mut self.serving).await;
            calls(&self.audit, &self.eye, zero)
        })
    }
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::mcp::Era;

    use super::*;

    /// An agent that took three seconds to begin seemed to call a mock of ours three seconds earlier.
    #[test]
    fn the_time_of_a_fault_begins_with_what_obeys_it() {
        let asked_at = |eye: &Eye, secs: i64| Row {
            ts: Timestamp(eye.began.1.0 + secs * 1_000_000),
            transport: Some(TransportName::Http),
            era: Some(Era::Legacy),
            ..Row::default()
        };
        for (fault, of_ours, of_the_agent) in
            [("hang@until=5s", false, true), ("hang@after=5s", true, false)]
        {
            let ours = Eye::new(BTreeMap::new(), vec![fault.parse().unwrap()]);
            let rows = [asked_at(&ours, 3), asked_at(&ours, 6)];
            assert_eq!(ours.is_aimed_at(&rows[1], ours.start(&rows)), of_ours, "{fault}");
            let agents = Eye { starter: Starter::Agent, ..ours };
            assert_eq!(agents.is_aimed_at(&rows[1], agents.start(&rows)), of_the_agent, "{fault}");
        }
    }
}
