//! `sustained`: a fixed number of calls in flight, for a fixed time.
//!
//! The calls are spread over lanes (sessions, or shares of one HTTP session) and the lanes over
//! threads, each with its own runtime: no thread waits for another while load is on.

use std::{rc::Rc, sync::Arc, thread::JoinHandle, time::Duration};

use mcp_loadtest_core::{
    mcp::Revision,
    scenario::{ScenarioKind, ScenarioName},
    server::Transport,
    tally::Tally,
};
use mcp_loadtest_wire::session::Session;
use tokio::sync::{mpsc, watch};

use super::{Driving, Entry, Stage};
use crate::{
    RunError,
    context::{Blueprint, Context},
    lane::Lane,
    plan::Plan,
};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Sustained,
    summary: "keep N calls in flight for a fixed time",
    detects: "baseline latency, throughput, error rate, hangs and crashes under load",
    algorithm: "\
1. Start the server and begin `sessions` sessions (default 1).
2. Send `tools/list` and check that the tools exist.
3. Keep `concurrent` calls in flight, spread over the sessions, until `duration` has passed.
   With several tool calls, each call chooses one by weight, from the seed.
4. Every call is watched as in deadlock-probe: hang threshold, grace period, diagnosis.
5. A server that dies is started again; its calls count as Crash.
6. At the end wait for the calls in flight, stop the server, judge the thresholds.",
    knobs: "--concurrent, --duration, --sessions, --tool, --args, --timeout, --hang-timeout",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

/// A thread is worth its while from this many calls in flight on.
const CALLS_PER_THREAD: u32 = 32;

/// A share of the load: which session, how many calls in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Share {
    session: u32,
    thread: u16,
    concurrent: u32,
}

/// Spreads calls over sessions and sessions over threads.
///
/// Pipes belong to one thread, so a stdio session is one share. An HTTP session can be shared by
/// threads, so there are at least as many shares as threads.
fn shares(concurrent: u32, sessions: u32, threads: u16, can_share: bool) -> Vec<Share> {
    let lanes = if can_share { sessions.max(u32::from(threads)) } else { sessions };
    let lanes = lanes.min(concurrent).max(1);
    let share = |lane: u32| Share {
        session: lane % sessions,
        thread: (lane % u32::from(threads)) as u16,
        concurrent: concurrent / lanes + u32::from(lane < concurrent % lanes),
    };
    (0..lanes).map(share).collect()
}

fn thread_count(asked: Option<u16>, concurrent: u32, sessions: u32, can_share: bool) -> u16 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let useful = if can_share { concurrent.div_ceil(CALLS_PER_THREAD) } else { sessions };
    let count = asked.map_or_else(|| useful.clamp(1, cores), u32::from);
    let most = if can_share { concurrent } else { sessions };
    count.clamp(1, most.max(1)) as u16
}

/// What a thread needs to know of a session that is open already.
type Joined = Option<String>;

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let Stage { context, session, plan } = stage;
    let ScenarioKind::Sustained { concurrent, duration, .. } = context.blueprint.scenario.kind
    else {
        return Err(RunError::Internal("not a sustained load".into()));
    };
    let can_share = matches!(context.blueprint.server.transport, Transport::Http { .. });
    let sessions = context.blueprint.scenario.sessions.unwrap_or(1).clamp(1, concurrent);
    let threads = thread_count(context.blueprint.threads, concurrent, sessions, can_share);
    let shares = shares(concurrent, sessions, threads, can_share);
    let plan = Arc::new(plan);

    let mut own = vec![session];
    for index in 1..sessions {
        let here = shares.iter().any(|share| share.session == index && share.thread == 0);
        if can_share || here {
            own.push(context.open(index).await?.0);
        }
    }
    let mut crew = Crew::start(&context, &plan, &shares, &own, threads)?;
    let until = crew.begin(&context, duration).await?;

    let lanes = own_lanes(&context, &plan, &shares, &own);
    context.begin_sampling();
    drive_all(&lanes, until).await;
    let tallies = crew.finish().await;
    context.end_sampling();
    let tallies = tallies?;
    for session in own {
        context.close(session).await;
    }
    for (lane, _) in &lanes {
        lane.close().await;
    }
    Ok(tallies)
}

/// The lanes of this thread, with their calls in flight.
fn own_lanes(
    context: &Rc<Context>,
    plan: &Arc<Plan>,
    shares: &[Share],
    own: &[Session],
) -> Vec<(Rc<Lane>, u32)> {
    let mine = shares.iter().enumerate().filter(|(_, share)| share.thread == context.worker);
    let lanes = mine.filter_map(|(lane, share)| {
        let session = own.iter().find(|session| session.index() == share.session)?.clone();
        let lane = Lane::new(context.clone(), plan.clone(), session, lane as u64);
        Some((Rc::new(lane), share.concurrent))
    });
    lanes.collect()
}

async fn drive_all(lanes: &[(Rc<Lane>, u32)], until: Duration) {
    let mut driving = tokio::task::JoinSet::new();
    for (lane, concurrent) in lanes {
        let (lane, concurrent) = (lane.clone(), *concurrent);
        driving.spawn_local(async move { lane.drive(concurrent, until).await });
    }
    while driving.join_next().await.is_some() {}
}

/// The other threads of a run.
struct Crew {
    threads: Vec<JoinHandle<Tally>>,
    ready: mpsc::UnboundedReceiver<Result<(), RunError>>,
    start: watch::Sender<Option<Duration>>,
}

/// What one thread of the crew is given.
struct Orders {
    blueprint: Blueprint,
    revision: Revision,
    worker: u16,
    plan: Arc<Plan>,
    shares: Vec<Share>,
    joined: Vec<(u32, Joined)>,
    ready: mpsc::UnboundedSender<Result<(), RunError>>,
    start: watch::Receiver<Option<Duration>>,
}

impl Crew {
    fn start(
        context: &Context,
        plan: &Arc<Plan>,
        shares: &[Share],
        own: &[Session],
        threads: u16,
    ) -> Result<Self, RunError> {
        let (ready_sender, ready) = mpsc::unbounded_channel();
        let (start, start_receiver) = watch::channel(None);
        let joined = own.iter().map(|session| (session.index(), session.http_session_id()));
        let joined: Vec<_> = joined.collect();
        let spawn = |worker| {
            let orders = Orders {
                blueprint: context.blueprint.clone(),
                revision: own.first().map_or(context.revision, Session::revision),
                worker,
                plan: plan.clone(),
                shares: shares.to_vec(),
                joined: joined.clone(),
                ready: ready_sender.clone(),
                start: start_receiver.clone(),
            };
            let thread = std::thread::Builder::new().name(format!("load-{worker}"));
            thread
                .spawn(move || crew_thread(orders))
                .map_err(|error| RunError::Internal(error.to_string()))
        };
        let threads = (1..threads).map(spawn).collect::<Result<_, _>>()?;
        Ok(Self { threads, ready, start })
    }

    /// Waits until every thread is ready, then lets the load begin. Gives the offset of its end.
    async fn begin(&mut self, context: &Context, duration: Duration) -> Result<Duration, RunError> {
        for _ in 0..self.threads.len() {
            match self.ready.recv().await {
                Some(ready) => ready?,
                None => {
                    return Err(RunError::Internal("a load thread ended before it began".into()));
                }
            }
        }
        let until = context.now() + duration;
        self.start.send_replace(Some(until));
        Ok(until)
    }

    async fn finish(self) -> Result<Vec<Tally>, RunError> {
        let Self { threads, start, .. } = self;
        let joined = tokio::task::spawn_blocking(move || {
            threads.into_iter().map(JoinHandle::join).collect::<Result<Vec<_>, _>>()
        });
        let tallies = joined.await.map_err(|error| RunError::Internal(error.to_string()))?;
        drop(start);
        tallies.map_err(|_| RunError::Internal("a load thread panicked".into()))
    }
}

fn crew_thread(orders: Orders) -> Tally {
    crate::conductor::on_local_runtime(async move {
        let context =
            Rc::new(Context::new(orders.blueprint.clone(), orders.revision, orders.worker));
        crew_member(&context, orders).await;
        context.recorder.finish()
    })
    .unwrap_or_default()
}

async fn crew_member(context: &Rc<Context>, mut orders: Orders) {
    let own = match open_own(context, &orders).await {
        Ok(own) => own,
        Err(error) => {
            let _ = orders.ready.send(Err(error));
            return;
        }
    };
    let _ = orders.ready.send(Ok(()));
    let Ok(until) =
        orders.start.wait_for(Option::is_some).await.map(|until| until.unwrap_or_default())
    else {
        return;
    };
    let lanes = own_lanes(context, &orders.plan, &orders.shares, &own);
    tokio::select! {
        () = drive_all(&lanes, until) => {}
        () = context.recorder.keep_flushing() => {}
    }
    // An HTTP session is shared with threads that may not be done; whoever opened it ends it.
    if !context.blueprint.server.transport.can_be_shared() {
        for (lane, _) in &lanes {
            lane.close().await;
        }
    }
}

/// The sessions of this thread: joined over HTTP, opened over stdio.
async fn open_own(context: &Context, orders: &Orders) -> Result<Vec<Session>, RunError> {
    let mut own: Vec<Session> = Vec::new();
    for share in orders.shares.iter().filter(|share| share.thread == orders.worker) {
        if own.iter().any(|session| session.index() == share.session) {
            continue;
        }
        let joined = orders.joined.iter().find(|(index, _)| *index == share.session);
        own.push(match joined {
            Some((index, id)) => {
                let options = context.options(*index);
                Session::join(&context.blueprint.target, &options, orders.revision, id.clone())
                    .await?
            }
            None => context.open(share.session).await?.0,
        });
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_calls_are_shared_out() {
        for (concurrent, sessions, threads, can_share) in [
            (20, 1, 1, false),
            (100, 1, 2, true),
            (7, 3, 2, false),
            (3, 3, 2, true),
            (1, 1, 2, true),
        ] {
            let shares = shares(concurrent, sessions, threads, can_share);
            assert_eq!(shares.iter().map(|share| share.concurrent).sum::<u32>(), concurrent);
            assert!(shares.iter().all(|share| share.concurrent > 0 && share.session < sessions));
        }
    }

    #[test]
    fn a_pipe_stays_in_one_thread() {
        assert_eq!(thread_count(None, 1000, 1, false), 1);
        assert_eq!(thread_count(Some(8), 4, 1, true), 4);
        let shares = shares(10, 3, 2, false);
        assert_eq!(shares.len(), 3);
    }
}
