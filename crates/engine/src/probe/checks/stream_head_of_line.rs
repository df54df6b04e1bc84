//! Streams that are held open must not keep the server from answering.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::{Era, method},
    report::Severity,
    units::format_latency,
};
use mcp_loadtest_wire::session::{OpenError, Session, Target};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, median},
    bench::Bench,
};

pub(super) static CHECK: Check = Check {
    id: "stream_head_of_line",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "holds streams open and makes requests beside them",
    meaning: "clients that only listen use the server up, and nobody else is answered",
    run,
};

const STREAMS: usize = 8;
const REQUESTS: usize = 5;
/// A request that takes this many times as long, and this long, waits for something.
const TIMES: u32 = 20;
const NOTICEABLE: Duration = Duration::from_secs(1);
/// How long a server may take to acknowledge subscriptions.
const ACKNOWLEDGING: Duration = Duration::from_secs(2);

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let era = bench.revision.era();
        if era == Era::Legacy && matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "over pipes this revision has one stream");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let alone = Requests::make(bench, &session).await;
        let held = match era {
            Era::Legacy => Held::sessions(bench).await,
            Era::Modern => Ok(Held::subscriptions(&session, bench).await),
        };
        let result = match held {
            Ok(held) => beside(bench, &session, &alone, held).await,
            Err(error) => {
                // One session is there; those beside it were not to be had.
                let why = format!("no session beside those that listen: {error}");
                CHECK.case(case(STREAMS), CaseVerdict::Broken).detail(why)
            }
        };
        let result = bench.unless_held(&session, result).await;
        if result.verdict == CaseVerdict::Hung {
            bench.drop_shared().await;
        }
        bench.tell(result);
    })
}

fn case(streams: usize) -> String {
    format!("{streams} streams held open")
}

/// Makes requests while the streams are held, and lets them go.
async fn beside(bench: &Bench, session: &Session, alone: &Requests, mut held: Held) -> CaseResult {
    let count = held.count();
    if count == 0 {
        let none = CHECK.case("all", CaseVerdict::Skipped);
        return none.detail("the server offers no stream to listen on");
    }
    let mut beside = Requests::make(bench, session).await;
    if beside.is_worse_than(alone) {
        beside = Requests::make(bench, session).await;
    }
    let still = held.count();
    held.release().await;
    let result = judge(alone, &beside, count);
    if result.verdict == CaseVerdict::Held && still == 0 {
        return CHECK
            .case(case(count), CaseVerdict::CouldNotTell)
            .detail("the server ended them while requests were made");
    }
    result
}

fn judge(alone: &Requests, beside: &Requests, count: usize) -> CaseResult {
    let case = |verdict| CHECK.case(case(count), verdict);
    let why = &beside.why;
    if alone.lost > 0 {
        return case(CaseVerdict::CouldNotTell)
            .detail(format!("requests are not answered without them either: {}", alone.why));
    }
    if beside.lost > 0 {
        return case(CaseVerdict::Hung).detail(format!(
            "{} of {REQUESTS} requests were not answered beside them",
            beside.lost
        ));
    }
    if beside.failed > 0 && alone.failed == 0 {
        return case(CaseVerdict::Broken).severity(Severity::Warning).detail(format!(
            "{} of {REQUESTS} requests failed beside them, alone they do not: {why}",
            beside.failed
        ));
    }
    let times = format!(
        "{} beside them, {} alone",
        format_latency(beside.took),
        format_latency(alone.took)
    );
    if waits(alone.took, beside.took) {
        return case(CaseVerdict::Broken).severity(Severity::Warning).detail(times);
    }
    case(CaseVerdict::Held).detail(times)
}

fn waits(alone: Duration, beside: Duration) -> bool {
    beside >= NOTICEABLE && beside >= alone * TIMES
}

/// What became of requests one after another.
#[derive(Default)]
struct Requests {
    /// The median of those that were answered.
    took: Duration,
    /// Not answered at all.
    lost: usize,
    /// Answered with an error, or with nothing that is valid.
    failed: usize,
    /// What was said of the last that did not succeed.
    why: String,
}

impl Requests {
    async fn make(bench: &Bench, session: &Session) -> Self {
        let (mut made, mut times) = (Self::default(), Vec::new());
        for _ in 0..REQUESTS {
            let reply = session.call(&bench.fast_request(session), bench.patient()).await;
            let took = reply.took();
            match Fate::of(&reply) {
                Fate::Good => {}
                Fate::Refused | Fate::Garbled => {
                    made.failed += 1;
                    made.why = reply.message;
                }
                Fate::Lost => {
                    // The others would only cost time.
                    made.lost += 1;
                    made.why = reply.message;
                    break;
                }
            }
            times.push(took);
        }
        made.took = median(times);
        made
    }

    fn is_worse_than(&self, alone: &Self) -> bool {
        self.lost > 0 || self.failed > alone.failed || waits(alone.took, self.took)
    }
}

/// Streams that are open.
enum Held {
    /// A session that lasts holds a stream, or a connection.
    Sessions(Vec<Session>),
    /// A request that is not answered until its end is the stream, once it is acknowledged.
    Subscriptions { waiting: JoinSet<()>, acknowledged: usize },
}

impl Held {
    async fn sessions(bench: &Bench) -> Result<Self, OpenError> {
        let mut sessions = Vec::new();
        for _ in 0..STREAMS {
            sessions.push(bench.fresh().await?);
        }
        Ok(Self::Sessions(sessions))
    }

    async fn subscriptions(session: &Session, bench: &Bench) -> Self {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let request = session.prepare(method::LISTEN, wanted);
        let heard_before = session.notifications();
        let mut waiting = JoinSet::new();
        for _ in 0..STREAMS {
            let (session, request, how) = (session.clone(), request.clone(), bench.patient());
            waiting.spawn_local(async move {
                session.call(&request, how).await;
            });
        }
        // Requests behind them: once they are answered, a refusal has come too.
        for _ in 0..2 {
            session.control(bench.patient()).await;
        }
        // A server that drops what it does not know is as silent as one that holds the stream: only the
        // notification that must come first tells them apart.
        let until = Instant::now() + ACKNOWLEDGING;
        loop {
            let heard = session.notifications() - heard_before;
            let acknowledged = usize::try_from(heard).unwrap_or(STREAMS);
            let is_over = acknowledged >= STREAMS || session.is_broken() || Instant::now() >= until;
            while waiting.try_join_next().is_some() {}
            if is_over || waiting.is_empty() {
                return Self::Subscriptions { waiting, acknowledged };
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// How many of them the server holds too, and has not refused or ended.
    fn count(&mut self) -> usize {
        match self {
            Self::Sessions(sessions) => {
                sessions.iter().filter(|session| session.is_listening()).count()
            }
            Self::Subscriptions { waiting, acknowledged } => {
                while waiting.try_join_next().is_some() {}
                waiting.len().min(*acknowledged)
            }
        }
    }

    async fn release(self) {
        match self {
            Self::Sessions(sessions) => {
                let mut closing = JoinSet::new();
                for session in sessions {
                    closing.spawn_local(session.close());
                }
                closing.join_all().await;
            }
            Self::Subscriptions { mut waiting, .. } => waiting.shutdown().await,
        }
    }
}
