//! Between those who record rows and the one who writes them: a list that is filled on one side and
//! taken as a whole on the other.
//!
//! A row costs one short lock and no wake-up: the writer sleeps until there is something, waits a
//! moment for more, and then takes all there is. A full list makes those who record wait; nothing is
//! dropped.

use std::{
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

use super::{row::Row, store::StoreError};

/// How many rows may wait.
const ROW_LIMIT: usize = 8192;
/// How much memory they may take, for those who log large arguments.
const WEIGHT_LIMIT: usize = 64 << 20;
/// So many rows are worth a transaction without more waiting.
const WORTHWHILE: usize = 1024;
/// How long the writer waits for so many. It bounds how late a row can be seen by a reader.
const LINGER: Duration = Duration::from_millis(10);

/// The list and all that both sides have to know.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// For the writer: there is something to do.
    filled: Condvar,
    /// For threads: the list was taken, or rows were written.
    moved: Condvar,
    /// The same for tasks.
    moved_async: Notify,
}

#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "a row is large and changes hands several times")]
struct State {
    rows: Vec<Box<Row>>,
    weight: usize,
    emitted: u64,
    written: u64,
    /// Whether the writer sleeps until there is something.
    is_idle: bool,
    /// How many threads wait for the list to be taken or rows to be written.
    waiting: usize,
    /// Somebody wants to read what was recorded: the writer should not linger this time.
    is_hurried: bool,
    end: End,
}

#[derive(Debug, Default, Clone)]
enum End {
    #[default]
    Open,
    /// No more rows are taken.
    Closed,
    /// The writer is gone.
    Failed(Arc<StoreError>),
}

/// Why a row was not taken.
#[derive(Debug)]
pub(super) enum Rejected {
    /// There is no room; it may be tried again.
    Full,
    /// The log is closed.
    Closed,
    /// The writer failed.
    Failed(Arc<StoreError>),
}

/// How many rows were recorded, how many of them were written, and what the writer failed of.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) emitted: u64,
    pub(super) written: u64,
    pub(super) failure: Option<Arc<StoreError>>,
}

impl State {
    fn is_full(&self) -> bool {
        self.rows.len() >= ROW_LIMIT || self.weight >= WEIGHT_LIMIT
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in this file panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the row out of `row` if there is room for it.
    pub(super) fn push(&self, row: &mut Option<Box<Row>>) -> Result<(), Rejected> {
        self.push_to(&mut self.lock(), row)
    }

    fn push_to(&self, state: &mut State, row: &mut Option<Box<Row>>) -> Result<(), Rejected> {
        if state.is_full() && matches!(state.end, End::Open) {
            return Err(Rejected::Full);
        }
        self.force_to(state, row)
    }

    /// Takes the row, room or not.
    fn force_to(&self, state: &mut State, row: &mut Option<Box<Row>>) -> Result<(), Rejected> {
        match &state.end {
            End::Open => {}
            End::Closed => return Err(Rejected::Closed),
            End::Failed(error) => {
                state.emitted += u64::from(row.take().is_some());
                return Err(Rejected::Failed(error.clone()));
            }
        }
        if let Some(row) = row.take() {
            state.weight += row.weight();
            state.rows.push(row);
            state.emitted += 1;
        }
        if mem::take(&mut state.is_idle) || state.rows.len() == WORTHWHILE {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// The same, but a thread waits for room.
    pub(super) fn push_waiting(&self, row: Box<Row>) -> Result<(), Rejected> {
        let mut row = Some(row);
        let mut state = self.lock();
        loop {
            match self.push_to(&mut state, &mut row) {
                Err(Rejected::Full) => state = self.wait_for_move(state),
                other => return other,
            }
        }
    }

    /// The same, but a task waits for room. If it is dropped meanwhile, as a handler is whose client
    /// hangs up, the row is taken all the same: so many more than the limit are no harm.
    pub(super) async fn push_awaiting(&self, row: Box<Row>) -> Result<(), Rejected> {
        let mut held = Held { queue: self, row: Some(row) };
        loop {
            match self.push(&mut held.row) {
                Err(Rejected::Full) => {}
                other => return other,
            }
            // Listen first and look again, or a move in between would be missed.
            let mut moved = std::pin::pin!(self.moved_async.notified());
            moved.as_mut().enable();
            if self.lock().is_full() {
                moved.await;
            }
        }
    }

    fn wait_for_move<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let mut state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    fn tell_of_move(&self, state: &State) {
        if state.waiting > 0 {
            self.moved.notify_all();
        }
        self.moved_async.notify_waiters();
    }

    /// For the writer: swaps all that there is into `batch`, which must be empty. `false` if there
    /// will be nothing more.
    #[expect(clippy::vec_box, reason = "as above")]
    pub(super) fn take(&self, batch: &mut Vec<Box<Row>>) -> bool {
        let mut state = self.lock();
        while state.rows.is_empty() {
            if !matches!(state.end, End::Open) {
                return false;
            }
            state.is_idle = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_idle = false;
        let is_open = matches!(state.end, End::Open);
        if is_open
            && !state.is_hurried
            && state.rows.len() < WORTHWHILE
            && state.weight < WEIGHT_LIMIT
        {
            let lingered = self.filled.wait_timeout(state, LINGER);
            (state, _) = lingered.unwrap_or_else(PoisonError::into_inner);
        }
        mem::swap(&mut state.rows, batch);
        state.weight = 0;
        state.is_hurried = false;
        self.tell_of_move(&state);
        true
    }

    /// For the writer: so many rows are safe.
    pub(super) fn wrote(&self, rows: usize) {
        let mut state = self.lock();
        state.written += rows as u64;
        self.tell_of_move(&state);
    }

    /// For the writer: it cannot go on.
    pub(super) fn fail(&self, error: StoreError) {
        let mut state = self.lock();
        state.end = End::Failed(Arc::new(error));
        state.rows = Vec::new();
        state.weight = 0;
        self.tell_of_move(&state);
    }

    /// No more rows are taken; the writer ends when it has written those that are there.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        if matches!(state.end, End::Open) {
            state.end = End::Closed;
        }
        self.filled.notify_one();
        self.tell_of_move(&state);
    }

    /// Waits until all that has been recorded so far is written, or never will be.
    pub(super) fn flush(&self) -> Result<(), Arc<StoreError>> {
        let mut state = self.lock();
        let until = state.emitted;
        while state.written < until {
            if let End::Failed(error) = &state.end {
                return Err(error.clone());
            }
            state.is_hurried = true;
            self.filled.notify_one();
            state = self.wait_for_move(state);
        }
        Ok(())
    }

    pub(super) fn sums(&self) -> Sums {
        let state = self.lock();
        let failure = match &state.end {
            End::Failed(error) => Some(error.clone()),
            End::Open | End::Closed => None,
        };
        Sums { emitted: state.emitted, written: state.written, failure }
    }
}

/// A row that a task holds while it waits.
struct Held<'a> {
    queue: &'a Queue,
    row: Option<Box<Row>>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.row.is_some() {
            // Nobody is left to be told; the queue counts the row either way.
            let _ = self.queue.force_to(&mut self.queue.lock(), &mut self.row);
        }
    }
}
