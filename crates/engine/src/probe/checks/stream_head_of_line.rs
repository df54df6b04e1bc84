//! Streams that are held open must not keep the server from answering.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    mcp::{Era, method},
    report::Severity,
    units::format_latency,
};
use mcp_loadtest_wire::session::{OpenError, Session, Target};
use serde_json::json;
use tokio::task::JoinSet;

use super::{Check, Running};
use crate::probe::{at_once::median, bench::Bench};

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
        let (alone, _) = requests(bench, &session).await;
        let held = match era {
            Era::Legacy => Held::sessions(bench).await,
            Era::Modern => Ok(Held::subscriptions(&session, bench).await),
        };
        let case = format!("{STREAMS} streams held open");
        let mut held = match held {
            Ok(held) => held,
            Err(error) => {
                // One session is there; those beside it were not to be had.
                let why = format!("no session beside those that listen: {error}");
                return bench.tell(CHECK.case(case, CaseVerdict::Broken).detail(why));
            }
        };
        if !held.are_held() {
            return bench.skip(&CHECK, "the server offers no stream to listen on");
        }
        let (mut beside, mut silent) = requests(bench, &session).await;
        if silent > 0 || waits(alone, beside) {
            (beside, silent) = requests(bench, &session).await;
        }
        held.release().await;
        let times =
            format!("{} beside them, {} alone", format_latency(beside), format_latency(alone));
        let result = if silent > 0 {
            let why = format!("{silent} of {REQUESTS} requests were not answered beside them");
            bench.drop_shared().await;
            CHECK.case(case, CaseVerdict::Hung).detail(why)
        } else if waits(alone, beside) {
            CHECK.case(case, CaseVerdict::Broken).severity(Severity::Warning).detail(times)
        } else {
            CHECK.case(case, CaseVerdict::Held).detail(times)
        };
        bench.tell(result);
    })
}

fn waits(alone: Duration, beside: Duration) -> bool {
    beside >= NOTICEABLE && beside >= alone * TIMES
}

/// The median time of requests one after another, and how many were not answered.
async fn requests(bench: &Bench, session: &Session) -> (Duration, usize) {
    let (mut times, mut silent) = (Vec::new(), 0);
    for _ in 0..REQUESTS {
        let reply = session.call(&bench.fast_request(session), bench.patient()).await;
        if reply.failure().is_some_and(|category| !category.was_answered()) {
            // The others would only cost time.
            silent += 1;
            break;
        }
        times.push(reply.took());
    }
    (median(times), silent)
}

/// Streams that are open.
enum Held {
    /// A session that lasts holds a stream, or a connection.
    Sessions(Vec<Session>),
    /// A request that is not answered until its end is the stream.
    Subscriptions(JoinSet<()>),
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
        let mut streams = JoinSet::new();
        for _ in 0..STREAMS {
            let (session, request, how) = (session.clone(), request.clone(), bench.patient());
            streams.spawn_local(async move {
                session.call(&request, how).await;
            });
        }
        // Requests behind them: once they are answered, a refusal has come too.
        for _ in 0..2 {
            session.control(bench.patient()).await;
        }
        Self::Subscriptions(streams)
    }

    /// Whether the server holds them too, and has not refused.
    fn are_held(&mut self) -> bool {
        match self {
            Self::Sessions(sessions) => !sessions.is_empty(),
            Self::Subscriptions(streams) => streams.try_join_next().is_none(),
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
            Self::Subscriptions(mut streams) => streams.shutdown().await,
        }
    }
}
