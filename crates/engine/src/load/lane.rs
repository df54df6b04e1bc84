//! A session that carries a share of the load, and is started anew when its server dies.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_core::{event::note, outcome::Outcome, pace::ThinkTime, seed::Dice};
use mcp_loadtest_wire::session::{Ending, How, InFlight, Session};
use tokio::sync::Mutex;

use super::turn::TurnEnd;
use crate::{
    context::Context,
    plan::{CHOICE, Count, Plan, PlannedSequence, Prepares},
};

/// Starts in a row after which not one call succeeded.
const MOST_FRUITLESS_STARTS: u32 = 3;

/// An open session with its prepared calls.
struct Opened {
    session: Session,
    calls: Prepares,
}

/// A session's place in the run.
pub(crate) struct Lane {
    context: Rc<Context>,
    plan: Arc<Plan>,
    index: u32,
    /// Which lane this is, and of how many.
    place: (u32, u32),
    how: How,
    count: Rc<Count>,
    opened: RefCell<Option<Opened>>,
    reopening: Mutex<()>,
    fruitless: Cell<u32>,
    hopeless: Cell<bool>,
    dice: RefCell<Dice>,
}

impl Lane {
    pub(crate) fn new(
        context: Rc<Context>,
        plan: Arc<Plan>,
        session: Session,
        place: (u32, u32),
    ) -> Self {
        let dice = context.blueprint.scenario.seed.dice(CHOICE + u64::from(place.0));
        let index = session.index();
        let count = Count::new(context.blueprint.scenario.seed, context.worker, place);
        let calls = plan.prepare(&session, &count);
        Self {
            how: context.load(),
            context,
            plan,
            index,
            place,
            count,
            opened: RefCell::new(Some(Opened { session, calls })),
            reopening: Mutex::new(()),
            fruitless: Cell::new(0),
            hopeless: Cell::new(false),
            dice: RefCell::new(dice),
        }
    }

    pub(super) fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Which session of the run it has.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Which lane this is, and of how many.
    pub(super) fn place(&self) -> (u32, u32) {
        self.place
    }

    /// So many calls will be in flight at once.
    pub(super) fn make_room(&self, calls: u32) {
        if let Some(opened) = &*self.opened.borrow() {
            opened.session.make_room(calls as usize);
        }
    }

    /// How its calls are made.
    pub(super) fn how(&self) -> How {
        self.how
    }

    /// Dice of their own for whoever shares this lane's seed.
    pub(super) fn dice(&self) -> RefCell<Dice> {
        let stream = CHOICE * 2 + u64::from(self.place.0);
        RefCell::new(self.context.blueprint.scenario.seed.dice(stream))
    }

    /// The next sequence, by weight.
    #[inline]
    pub(super) fn choose(&self, among: Range<usize>) -> usize {
        self.plan.choose(among, &self.dice)
    }

    pub(super) fn sequence(&self, index: usize) -> &PlannedSequence {
        &self.plan.sequences[index]
    }

    pub(super) fn draw(&self, pause: &ThinkTime) -> Duration {
        pause.draw(&mut self.dice.borrow_mut())
    }

    /// Whether the session is gone and not yet replaced.
    pub(super) fn is_broken(&self) -> bool {
        self.opened.borrow().as_ref().is_none_or(|opened| opened.session.is_broken())
    }

    /// Begins a call by its place in the plan, if there is a session that lives.
    #[inline]
    pub(super) fn send(&self, call: usize, how: How) -> Option<InFlight> {
        let opened = self.opened.borrow();
        let opened = opened.as_ref().filter(|opened| !opened.session.is_broken())?;
        Some(opened.session.send(&opened.calls.get(call), how))
    }

    /// A call has ended.
    #[inline]
    pub(super) fn ended(&self, ending: &Ending) -> TurnEnd {
        let (outcome, at) = ending.outcome();
        if outcome == Outcome::Ok {
            self.fruitless.set(0);
        }
        TurnEnd { outcome, at }
    }

    /// Replaces a session that is dead. `None`: there is no use in going on.
    pub(super) async fn revive(&self) -> Option<()> {
        if !self.is_broken() {
            return Some(());
        }
        let _one_at_a_time = self.reopening.lock().await;
        match self.is_broken() {
            false => Some(()),
            true => self.reopen().await,
        }
    }

    async fn reopen(&self) -> Option<()> {
        // Once it was given up it stays so.
        let dead = self.opened.borrow_mut().take()?;
        self.context.close(dead.session).await;
        if self.fruitless.get() >= MOST_FRUITLESS_STARTS {
            return self.give_up("the server ends again and again before it answers a call".into());
        }
        self.fruitless.set(self.fruitless.get() + 1);
        match self.context.open(self.index).await {
            Ok((session, _)) => {
                let calls = self.plan.prepare(&session, &self.count);
                *self.opened.borrow_mut() = Some(Opened { session, calls });
                Some(())
            }
            Err(error) => self.give_up(format!("the server could not be started again: {error}")),
        }
    }

    fn give_up(&self, why: String) -> Option<()> {
        self.hopeless.set(true);
        self.context.note(note::ABORTED, why);
        None
    }

    /// Whether the server is gone for good.
    pub(super) fn is_hopeless(&self) -> bool {
        self.hopeless.get()
    }

    /// Ends the session.
    pub(crate) async fn close(&self) {
        let opened = self.opened.borrow_mut().take();
        if let Some(opened) = opened {
            self.context.close(opened.session).await;
        }
    }
}
