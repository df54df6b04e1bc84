//! The threads of a load. Each opens its sessions, then performs one act after another; threads
//! share nothing while load is on.

use std::{rc::Rc, sync::Arc, thread::JoinHandle, time::Duration};

use mcp_loadtest_core::{
    mcp::Revision,
    pace::Arrival,
    tally::{Segment, Tally},
};
use mcp_loadtest_wire::{
    session::Session,
    torture::{Deed, strike},
};
use tokio::{
    select,
    sync::mpsc,
    task::{JoinSet, LocalSet},
};

use super::{
    act::Act,
    closed,
    lane::Lane,
    open,
    own_time::OwnTime,
    shares::{Demand, Share},
};
use crate::{
    RunError,
    context::{Blueprint, Context},
    plan::Plan,
    scenario::Stage,
};

/// What a thread is told to do: an act, and when it begins.
type Order = (Arc<Act>, Duration);
/// What a thread saw of an act, step by step.
type Seen = Result<Vec<Segment>, RunError>;

/// The lanes of this thread, and the other threads.
pub(crate) struct Crew {
    context: Rc<Context>,
    /// Sessions that were opened here and are in use on other threads alone.
    lent: Vec<Session>,
    lanes: Vec<Rc<Lane>>,
    mates: Vec<Mate>,
    reports: mpsc::UnboundedReceiver<Seen>,
}

/// Another thread.
struct Mate {
    thread: JoinHandle<Tally>,
    orders: mpsc::UnboundedSender<Order>,
}

/// What a thread is given.
struct Kit {
    blueprint: Blueprint,
    revision: Revision,
    worker: u16,
    plan: Arc<Plan>,
    shares: Vec<Share>,
    joined: Vec<(u32, Option<String>)>,
    reports: Reports,
    orders: mpsc::UnboundedReceiver<Order>,
}

/// The way of a thread to report. However the thread ends, those who wait for it hear of it: other
/// threads keep the channel open, so its end alone would not be noticed.
struct Reports(mpsc::UnboundedSender<Seen>);

impl Reports {
    fn send(&self, seen: Seen) {
        // Whoever does not listen any more does not want it.
        let _ = self.0.send(seen);
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        self.send(Err(RunError::Internal("a load thread ended early".into())));
    }
}

impl Crew {
    /// Opens all sessions, spread over as many threads as are useful.
    pub(crate) async fn assemble(
        stage: Stage,
        concurrent: u32,
        arrival: &Arrival,
    ) -> Result<Self, RunError> {
        let Stage { context, session, plan } = stage;
        let blueprint = &context.blueprint;
        let can_share = blueprint.server.transport.can_be_shared();
        let sessions = blueprint.scenario.sessions.unwrap_or(1).clamp(1, concurrent.max(1));
        let rate = match arrival {
            Arrival::Open { rate, .. } => Some(rate.highest()),
            Arrival::Closed(_) => None,
        };
        let demand = Demand { concurrent, rate, sessions, can_share };
        let threads = demand.threads(blueprint.threads);
        let shares = demand.shares(threads);
        let plan = Arc::new(plan);

        let mut own = vec![session];
        for index in 1..sessions {
            let here = shares.iter().any(|share| share.session == index && share.thread == 0);
            if can_share || here {
                own.push(context.open(index).await?.0);
            }
        }
        let (reports_to, reports) = mpsc::unbounded_channel();
        let joined: Vec<_> =
            own.iter().map(|session| (session.index(), session.http_session_id())).collect();
        let mates = (1..threads).map(|worker| {
            let (orders, taken) = mpsc::unbounded_channel();
            let kit = Kit {
                blueprint: blueprint.clone(),
                revision: own.first().map_or(context.revision, Session::revision),
                worker,
                plan: plan.clone(),
                shares: shares.clone(),
                joined: joined.clone(),
                reports: Reports(reports_to.clone()),
                orders: taken,
            };
            let thread = std::thread::Builder::new().name(format!("load-{worker}"));
            let thread = strike(Deed::Spawn, format_args!("the load thread {worker}"))
                .and_then(|()| thread.spawn(move || mate_thread(kit)));
            let thread = thread.map_err(RunError::thread)?;
            Ok(Mate { thread, orders })
        });
        let mates = mates.collect::<Result<Vec<_>, RunError>>()?;
        let lanes = lanes(&context, &plan, &shares, &own);
        // What a lane has, the lane closes: it may have replaced it by then.
        own.retain(|session| !lanes.iter().any(|lane| lane.index() == session.index()));
        let mut crew = Self { context, lent: own, lanes, mates, reports };
        // Each thread reports once when its sessions are open.
        crew.hear_all().await?;
        crew.context.begin_sampling();
        Ok(crew)
    }

    /// Performs an act on all threads. Gives what was seen of each of its steps.
    pub(crate) async fn perform(&mut self, act: Act) -> Result<Vec<Segment>, RunError> {
        let act = Arc::new(act);
        let begin = self.context.now();
        for mate in &self.mates {
            // A thread that is gone is noticed when it does not report.
            let _ = mate.orders.send((act.clone(), begin));
        }
        let mut seen = perform(&self.context, &self.lanes, &act, begin).await;
        for theirs in self.hear_all().await? {
            for (mine, theirs) in seen.iter_mut().zip(&theirs) {
                mine.merge(theirs);
            }
        }
        Ok(seen)
    }

    /// Hears from every other thread once.
    async fn hear_all(&mut self) -> Result<Vec<Vec<Segment>>, RunError> {
        let mut all = Vec::new();
        for _ in 0..self.mates.len() {
            match self.reports.recv().await {
                Some(seen) => all.push(seen?),
                None => return Err(RunError::Internal("a load thread ended early".into())),
            }
        }
        Ok(all)
    }

    /// Closes all sessions and gives what the other threads saw.
    pub(crate) async fn dismiss(self) -> Result<Vec<Tally>, RunError> {
        let (threads, orders): (Vec<_>, Vec<_>) =
            self.mates.into_iter().map(|mate| (mate.thread, mate.orders)).unzip();
        drop(orders);
        let joined = tokio::task::spawn_blocking(move || {
            threads.into_iter().map(JoinHandle::join).collect::<Result<Vec<_>, _>>()
        });
        let tallies = joined.await.map_err(|error| RunError::Internal(error.to_string()))?;
        self.context.end_sampling();
        for session in self.lent {
            self.context.close(session).await;
        }
        for lane in &self.lanes {
            lane.close().await;
        }
        tallies.map_err(|_| RunError::Internal("a load thread panicked".into()))
    }
}

/// The lanes of this thread.
fn lanes(
    context: &Rc<Context>,
    plan: &Arc<Plan>,
    shares: &[Share],
    own: &[Session],
) -> Vec<Rc<Lane>> {
    let count = shares.len() as u32;
    let mine = shares.iter().zip(0..).filter(|(share, _)| share.thread == context.worker);
    let lanes = mine.filter_map(|(share, place)| {
        let session = own.iter().find(|session| session.index() == share.session)?.clone();
        Some(Rc::new(Lane::new(context.clone(), plan.clone(), session, (place, count))))
    });
    lanes.collect()
}

/// Performs the share of this thread.
async fn perform(
    context: &Context,
    lanes: &[Rc<Lane>],
    act: &Act,
    begin: Duration,
) -> Vec<Segment> {
    let own_time = OwnTime::begin(context);
    select! {
        () = drive(context, lanes, act, begin) => {}
        () = own_time.keep_sampling() => {}
    }
    own_time.sample();
    context.recorder.segments(act.segments())
}

async fn drive(context: &Context, lanes: &[Rc<Lane>], act: &Act, begin: Duration) {
    let mut driving = JoinSet::new();
    for lane in lanes {
        for part in &act.parts {
            if open::is_open(part) {
                driving.spawn_local(open::dispatch(lane.clone(), part.clone(), begin));
            } else {
                closed::start(lane, part.clone(), begin, &mut driving);
            }
        }
    }
    select! {
        () = async { while driving.join_next().await.is_some() {} } => {}
        () = context.out_of_time() => driving.shutdown().await,
    }
}

fn mate_thread(kit: Kit) -> Tally {
    let runtime = match crate::conductor::local_runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            kit.reports.send(Err(error));
            return Tally::default();
        }
    };
    LocalSet::new().block_on(&runtime, async move {
        let context = Rc::new(Context::new(kit.blueprint.clone(), kit.revision, kit.worker));
        select! {
            () = serve(&context, kit) => {}
            () = context.recorder.keep_flushing() => {}
        }
        context.recorder.finish()
    })
}

async fn serve(context: &Rc<Context>, mut kit: Kit) {
    let own = match open_own(context, &kit).await {
        Ok(own) => own,
        Err(error) => {
            kit.reports.send(Err(error));
            return;
        }
    };
    let lanes = lanes(context, &kit.plan, &kit.shares, &own);
    kit.reports.send(Ok(Vec::new()));
    while let Some((act, begin)) = kit.orders.recv().await {
        let seen = perform(context, &lanes, &act, begin).await;
        kit.reports.send(Ok(seen));
    }
    // A shared session belongs to threads that may not be done; whoever opened it ends it.
    if !context.blueprint.server.transport.can_be_shared() {
        for lane in &lanes {
            lane.close().await;
        }
    }
}

/// The sessions of this thread: joined where they can be shared, opened where they cannot.
async fn open_own(context: &Context, kit: &Kit) -> Result<Vec<Session>, RunError> {
    let mut own: Vec<Session> = Vec::new();
    for share in kit.shares.iter().filter(|share| share.thread == kit.worker) {
        if own.iter().any(|session| session.index() == share.session) {
            continue;
        }
        let joined = kit.joined.iter().find(|(index, _)| *index == share.session);
        own.push(match joined {
            Some((index, id)) => {
                let options = context.options(*index);
                Session::join(&context.blueprint.target, &options, kit.revision, id.clone()).await?
            }
            None => context.open(share.session).await?.0,
        });
    }
    Ok(own)
}
