//! A session that carries a share of the load, and is started anew when its server dies.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_core::{
    event::note,
    outcome::{ErrorCategory, Outcome},
    seed::Dice,
};
use mcp_loadtest_wire::session::{How, Session};
use tokio::{select, sync::Mutex, task::JoinSet};

use crate::{
    context::Context,
    plan::{CHOICE, Plan, Prepares},
};

/// Starts in a row after which not one call succeeded.
const MOST_FRUITLESS_STARTS: u32 = 3;
/// A caller that was cut off waits before its next call, each time twice as long, from the first of
/// these to the second: a server that is gone would fail thousands of calls a second, and the rest
/// of the run would be nothing but those.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// How long calls in flight may go on after the run was interrupted.
const DRAIN: Duration = Duration::from_secs(5);

/// An open session with its prepared calls.
pub(crate) struct Opened {
    pub(crate) session: Session,
    calls: Prepares,
}

/// A session's place in the run.
pub(crate) struct Lane {
    context: Rc<Context>,
    plan: Arc<Plan>,
    index: u32,
    how: How,
    opened: RefCell<Option<Rc<Opened>>>,
    reopening: Mutex<()>,
    fruitless: Cell<u32>,
    dice: RefCell<Dice>,
}

impl Lane {
    pub(crate) fn new(
        context: Rc<Context>,
        plan: Arc<Plan>,
        session: Session,
        stream: u64,
    ) -> Self {
        let dice = context.blueprint.scenario.seed.dice(CHOICE + stream);
        let index = session.index();
        let calls = plan.prepare(&session);
        Self {
            how: context.load(),
            context,
            plan,
            index,
            opened: RefCell::new(Some(Rc::new(Opened { session, calls }))),
            reopening: Mutex::new(()),
            fruitless: Cell::new(0),
            dice: RefCell::new(dice),
        }
    }

    /// Keeps `concurrent` calls in flight until `until`.
    pub(crate) async fn drive(self: &Rc<Self>, concurrent: u32, until: Duration) {
        let mut workers = JoinSet::new();
        for _ in 0..concurrent {
            workers.spawn_local(work(self.clone(), until));
        }
        let stop = self.context.stop().clone();
        select! {
            () = async { while workers.join_next().await.is_some() {} } => {}
            () = async { stop.stopped().await; tokio::time::sleep(DRAIN).await } => {
                workers.abort_all();
                while workers.join_next().await.is_some() {}
            }
        }
    }

    /// The open session; a dead one is replaced first. `None`: there is no use in going on.
    async fn opened(&self) -> Option<Rc<Opened>> {
        if let Some(opened) =
            self.opened.borrow().as_ref().filter(|opened| !opened.session.is_broken())
        {
            return Some(opened.clone());
        }
        // Rare, and its state is large: boxed so that a caller stays small.
        Box::pin(self.replaced()).await
    }

    async fn replaced(&self) -> Option<Rc<Opened>> {
        let _one_at_a_time = self.reopening.lock().await;
        let current = self.opened.borrow().clone();
        match current {
            Some(opened) if !opened.session.is_broken() => Some(opened),
            Some(_) => self.reopen().await,
            None => None,
        }
    }

    async fn reopen(&self) -> Option<Rc<Opened>> {
        let dead = self.opened.borrow_mut().take();
        // Other callers may still hold it; what it left behind is theirs no less.
        if let Some(dead) = dead {
            self.context.close(dead.session.clone()).await;
        }
        if self.fruitless.get() >= MOST_FRUITLESS_STARTS {
            self.context
                .note(note::ABORTED, "the server ends again and again before it answers a call");
            return None;
        }
        self.fruitless.set(self.fruitless.get() + 1);
        match self.context.open(self.index).await {
            Ok((session, _)) => {
                let calls = self.plan.prepare(&session);
                let opened = Rc::new(Opened { session, calls });
                *self.opened.borrow_mut() = Some(opened.clone());
                Some(opened)
            }
            Err(error) => {
                self.context
                    .note(note::ABORTED, format!("the server could not be started again: {error}"));
                None
            }
        }
    }

    /// Ends the session.
    pub(crate) async fn close(&self) {
        let opened = self.opened.borrow_mut().take();
        if let Some(opened) = opened {
            self.context.close(opened.session.clone()).await;
        }
    }
}

/// One caller: a call, its end, the next call. There are thousands: it holds on to little.
async fn work(lane: Rc<Lane>, until: Duration) {
    let mut now = lane.context.now();
    let mut pause = Duration::ZERO;
    while now < until && !lane.context.stop().is_stopped() {
        let Some(opened) = lane.opened().await else { return };
        let (outcome, ended) = {
            let call = opened.calls.choose(&lane.dice);
            let reply = opened.session.call(call, lane.how).await;
            (reply.outcome, reply.ended)
        };
        if outcome == Outcome::Ok {
            lane.fruitless.set(0);
        }
        now = ended;
        // A broken session is replaced, and that takes its time by itself.
        if outcome == Outcome::Failed(ErrorCategory::Disconnected) && !opened.session.is_broken() {
            pause = (pause * 2).clamp(PAUSES.0, PAUSES.1);
            tokio::time::sleep(pause.min(until.saturating_sub(now))).await;
            now = lane.context.now();
        } else {
            pause = Duration::ZERO;
        }
    }
}
