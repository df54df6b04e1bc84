//! Many calls at the same instant, and what became of each.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict},
    event::Phase,
    jsonrpc::{self, Id, Message},
    mcp::Tool,
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::session::{Deadlines, How, OpenError, Prepared, Reply, Session, Tap};
use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    asking::Pulse,
    bench::{Bench, KnownTool},
};

/// What became of a call, as far as checks tell one end from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It succeeded.
    Good,
    /// It was answered, and the answer says that it failed.
    Refused,
    /// What came is no valid answer.
    Garbled,
    /// Nothing came: the server is silent, or gone.
    Lost,
}

impl Fate {
    pub(crate) fn of(reply: &Reply) -> Self {
        match reply.failure() {
            // Late is a matter of time, and most checks have no threshold for it.
            None | Some(ErrorCategory::Hang) => Self::Good,
            Some(ErrorCategory::Malformed) => Self::Garbled,
            Some(category) if category.was_answered() => Self::Refused,
            Some(_) => Self::Lost,
        }
    }
}

/// A call that has ended.
#[derive(Debug, Clone)]
pub(crate) struct Landed {
    /// The id that its request carried.
    pub(crate) id: u64,
    pub(crate) reply: Reply,
}

impl Landed {
    /// Whether the server never answered, though it may live.
    pub(crate) fn is_silent(&self) -> bool {
        Fate::of(&self.reply) == Fate::Lost
    }
}

/// How many calls met this fate, and what was said of the first of them.
pub(crate) fn fallen(landed: &[Landed], fate: Fate) -> (usize, &str) {
    let mut fallen = landed.iter().filter(|landed| Fate::of(&landed.reply) == fate);
    let Some(first) = fallen.next() else { return (0, "") };
    (1 + fallen.count(), &first.reply.message)
}

/// Sends all requests at the same instant and waits for every end; the order is kept.
pub(crate) async fn at_once(calls: Vec<(Session, Rc<Prepared>)>, how: How) -> Vec<Landed> {
    let mut tasks = JoinSet::new();
    for (number, (session, request)) in calls.into_iter().enumerate() {
        // Tasks of one thread start together once we wait: their frames leave in one piece.
        tasks.spawn_local(async move {
            let mut call = session.send(&request, how);
            let id = call.id();
            (number, Landed { id, reply: call.ended().await.into_reply() })
        });
    }
    let mut landed: Vec<(usize, Landed)> = tasks.join_all().await;
    landed.sort_by_key(|(number, _)| *number);
    landed.into_iter().map(|(_, landed)| landed).collect()
}

/// How often each of these ids was answered, by all that the tap heard.
pub(crate) fn answers_heard(tap: &Tap, landed: &[Landed]) -> Vec<usize> {
    let mut counts = vec![0; landed.len()];
    while let Some(heard) = tap.pop() {
        if let Some(Message::Response { id: Id::Number(id), .. }) =
            jsonrpc::read(&heard.frame).message
            && let Some(at) = landed.iter().position(|landed| landed.id == id)
        {
            counts[at] += 1;
        }
    }
    counts
}

impl Bench {
    /// How calls are made that may have to queue: waited for as long as the user has patience.
    pub(crate) fn patient(&self) -> How {
        let deadlines =
            Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout: self.patience() };
        How { keep_body: true, ..How::new(Phase::Load, deadlines) }
    }

    /// After so long a call is not answered any more.
    pub(crate) fn patience(&self) -> Duration {
        self.settings.hang_timeout + self.settings.grace_period
    }

    /// The tool that answers fastest; the first of those that are fast enough, so that chance does not
    /// choose between them.
    pub(crate) fn fast_subject(&self) -> Option<&KnownTool> {
        let asked_for = self.settings.tool.as_deref();
        self.tools
            .iter()
            .filter(|known| asked_for.is_none_or(|name| name == known.tool.name))
            .filter(|known| known.good_arguments().is_some())
            .min_by_key(|known| micros(known).max(FAST_ENOUGH))
    }

    /// The fastest tool but for this one.
    pub(crate) fn fast_other_than(&self, name: &str) -> Option<(&Tool, &Value)> {
        let others = self.tools.iter().filter(|known| known.tool.name != name);
        let able = others.filter(|known| known.good_arguments().is_some());
        let known = able.min_by_key(|known| micros(known).max(FAST_ENOUGH))?;
        Some((&known.tool, known.good_arguments()?))
    }

    /// A call to the fastest tool, or what costs least where no tool may be called.
    pub(crate) fn fast_request(&self, session: &Session) -> Rc<Prepared> {
        let known = self.fast_subject();
        match known.and_then(|known| Some((&known.tool, known.good_arguments()?))) {
            Some((tool, good)) => prepared(session, tool, good),
            None => session.control_request(),
        }
    }

    /// So many calls of this tool at once can be answered before patience ends, even one by one on a
    /// machine that is busy.
    pub(crate) fn affordable(&self, known: &KnownTool, wanted: usize) -> usize {
        let one = known.control.took_ms.unwrap_or_default().max(0.01) / 1e3;
        ((self.patience().as_secs_f64() / 4.0 / one) as usize).clamp(1, wanted)
    }

    /// What a dead or silent server amounts to; nothing if it lives.
    pub(crate) async fn death(&self, session: &Session) -> Option<(CaseVerdict, String)> {
        match self.pulse(session).await {
            Pulse::Alive => None,
            Pulse::Silent => {
                Some((CaseVerdict::Hung, "the server answers nothing any more".into()))
            }
            Pulse::Gone(cause) => Some((CaseVerdict::Crashed, cause.message.to_string())),
        }
    }

    /// A result; or, where the server did not live to its end, the death, which explains all the rest.
    pub(crate) async fn unless_dead(&self, session: &Session, result: CaseResult) -> CaseResult {
        let Some((verdict, why)) = self.death(session).await else { return result };
        let CaseResult { check, family, taxonomy, tool, case, .. } = result;
        CaseResult { taxonomy, tool, ..CaseResult::new(&check, family, case, verdict).detail(why) }
    }

    /// The same where the result itself gives no reason to ask.
    pub(crate) async fn unless_held(&self, session: &Session, result: CaseResult) -> CaseResult {
        match result.verdict {
            CaseVerdict::Held => result,
            _ => self.unless_dead(session, result).await,
        }
    }

    /// A session that begins from nothing: where the server is ours, its process does too.
    pub(crate) async fn newborn(&self) -> Result<Session, OpenError> {
        self.drop_shared().await;
        self.fresh().await
    }
}

/// In microseconds: what is faster is not told apart.
const FAST_ENOUGH: u64 = 20_000;

/// How long the tool took when it was tried.
fn micros(known: &KnownTool) -> u64 {
    known.control.took_ms.map_or(u64::MAX, |ms| (ms * 1e3) as u64)
}

/// A call of this tool.
pub(crate) fn prepared(session: &Session, tool: &Tool, arguments: &Value) -> Rc<Prepared> {
    session.prepare_tool_call(&tool.name, arguments, &tool.input_schema)
}

/// The middle of these times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
