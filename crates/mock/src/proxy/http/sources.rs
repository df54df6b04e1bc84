//! Where a stream of events gets what it sends.

use std::future::pending;

use hyper::body::{Bytes, Incoming};
use tokio::{
    sync::mpsc,
    time::{Interval, sleep_until},
};

use super::{
    body,
    channel::{Channel, Made, come_back},
    replies::{Job, Others},
};
use crate::proxy::notice::Flood;

/// Replies that wait beside a stream, so that the others on it need not wait for them.
pub(super) struct Later {
    sender: mpsc::Sender<Made>,
    made: mpsc::Receiver<Made>,
    /// How many are to come.
    pub(super) left: usize,
}

impl Later {
    pub(super) fn new() -> Self {
        // Those that find it full wait a little longer.
        let (sender, made) = mpsc::channel(1);
        Self { sender, made, left: 0 }
    }

    /// Lets a reply come back when it is due.
    pub(super) fn postpone(&mut self, job: Job, frame: Vec<u8>) {
        let due = job.due;
        self.come_back(job, frame, sleep_until(due));
    }

    /// Lets a reply come back when others have left.
    pub(super) fn let_pass(&mut self, others: Others, job: Job, frame: Vec<u8>) {
        self.come_back(job, frame, others.left());
    }

    fn come_back(
        &mut self,
        job: Job,
        frame: Vec<u8>,
        until: impl Future<Output = ()> + Send + 'static,
    ) {
        self.left += 1;
        come_back(self.sender.clone(), job, frame, until);
    }

    async fn made(&mut self) -> Option<Made> {
        let made = self.made.recv().await;
        self.left = self.left.saturating_sub(1);
        made
    }
}

pub(super) async fn next_piece(body: &mut Option<Incoming>) -> Option<hyper::Result<Bytes>> {
    match body {
        Some(body) => body::next(body).await,
        None => pending().await,
    }
}

pub(super) async fn tick(flood: &mut Option<(Flood, Interval)>) {
    match flood {
        Some((_, ticks)) => {
            ticks.tick().await;
        }
        None => pending().await,
    }
}

/// The next reply that does not come from the server, or not just now; nothing where there is none.
pub(super) async fn made(channel: &mut Option<Channel>, later: &mut Option<Later>) -> Option<Made> {
    tokio::select! {
        Some(made) = delivered(channel) => Some(made),
        Some(made) = returned(later) => Some(made),
        else => None,
    }
}

async fn delivered(channel: &mut Option<Channel>) -> Option<Made> {
    channel.as_mut()?.made().await
}

async fn returned(later: &mut Option<Later>) -> Option<Made> {
    later.as_mut()?.made().await
}
