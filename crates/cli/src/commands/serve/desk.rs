//! One run at a time, none for longer than is allowed, and none that goes on when nobody waits.
//!
//! A run is a task of its own: whatever becomes of the request, the seat is free again only when the
//! run and its processes have ended.

use std::{sync::Arc, time::Duration};

use mcp_loadtest::{RunError, Stop};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, interval, sleep},
};
use tokio_util::sync::CancellationToken;

use super::client::{Client, Step};
use crate::error::CliError;

/// How often we look how far a run is.
const LOOK: Duration = Duration::from_millis(100);
/// What a run may take besides the time that was asked for: to start the server, to wait for the last
/// replies, and to end.
const BESIDES: Duration = Duration::from_secs(60);
/// How long we wait for a run that was told to end before we end ourselves.
const FAREWELL: Duration = Duration::from_secs(15);

/// Where runs are carried out.
pub(crate) struct Desk {
    seat: Arc<Semaphore>,
    closed: CancellationToken,
}

/// The right to carry out a run.
pub(crate) type Seat = OwnedSemaphorePermit;

/// How a run is ended, watched and limited.
pub(crate) struct Order<M> {
    /// Ends it.
    pub(crate) stop: Stop,
    /// How long it should take at most.
    pub(crate) limit: Duration,
    /// Says how far it is, if that has changed.
    pub(crate) meter: M,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { seat: Arc::new(Semaphore::new(1)), closed: CancellationToken::new() }
    }

    /// Takes the only seat, or says that it is taken.
    pub(crate) fn take(&self) -> Result<Seat, CliError> {
        let busy = |_| {
            CliError::usage(
                "another run is going on, and only one may at a time",
                "wait for its result, or cancel it, and ask again",
            )
        };
        self.seat.clone().try_acquire_owned().map_err(busy)
    }

    /// Carries a run out for as long as somebody waits for it.
    pub(crate) async fn carry_out<T: Send + 'static>(
        &self,
        seat: Seat,
        client: &Client,
        order: Order<impl FnMut(Duration) -> Option<Step>>,
        work: impl Future<Output = Result<T, RunError>> + Send + 'static,
    ) -> Result<T, CliError> {
        let Order { stop, limit, mut meter } = order;
        // A request that is dropped stops its run, too.
        let _stops = stop.on_drop();
        let mut run = tokio::spawn(async move {
            let result = work.await;
            drop(seat);
            result
        });
        let unwanted = async {
            tokio::select! {
                () = client.left() => {}
                () = self.closed.cancelled() => {}
                () = sleep(limit + BESIDES) => {}
            }
        };
        let began = Instant::now();
        let telling = async {
            let mut ticks = interval(LOOK);
            loop {
                ticks.tick().await;
                if let Some(step) = meter(began.elapsed()) {
                    client.tell(step).await;
                }
            }
        };
        let ended = tokio::select! {
            ended = &mut run => ended,
            () = telling => unreachable!("telling goes on for ever"),
            () = unwanted => {
                stop.stop();
                run.await
            }
        };
        // What is over between two looks is told as well.
        if let Some(step) = meter(began.elapsed()) {
            client.tell(step).await;
        }
        let result = ended.map_err(|error| RunError::Internal(error.to_string()))?;
        Ok(result?)
    }

    /// Ends the run that is going on, and waits for it.
    pub(crate) async fn close(&self) {
        self.closed.cancel();
        // A run that does not end has a guard that ends its processes once we are gone.
        let _ = tokio::time::timeout(FAREWELL, self.seat.acquire()).await;
    }
}
