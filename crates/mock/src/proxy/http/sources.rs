//! Where a stream of events gets what it sends.

use std::future::pending;

use hyper::body::{Bytes, Incoming};
use tokio::{sync::mpsc, time::Interval};

use super::{
    body,
    channel::{Channel, Made},
};
use crate::proxy::notice::Flood;

/// Replies to calls of a batch that come from elsewhere than the server, or later than it said them.
pub(super) struct Later {
    pub(super) sender: mpsc::Sender<Made>,
    made: mpsc::Receiver<Made>,
    /// How many are to come.
    pub(super) left: usize,
}

impl Later {
    pub(super) fn new(left: usize) -> Self {
        let (sender, made) = mpsc::channel(left.max(1));
        Self { sender, made, left }
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

pub(super) async fn made(channel: &mut Option<Channel>, later: &mut Option<Later>) -> Option<Made> {
    match (channel, later) {
        (Some(channel), _) => channel.made().await,
        (None, Some(later)) => {
            let made = later.made.recv().await;
            later.left = later.left.saturating_sub(1);
            made
        }
        (None, None) => pending().await,
    }
}
