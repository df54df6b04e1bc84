//! Calls that have no reply yet.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::fault::Treatment;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::proxy::{message::Key, open::Open};

/// A call that has no reply yet, and what is to be done to it.
pub(super) struct Held {
    pub(super) treatment: Treatment,
    /// When its reply may leave.
    pub(super) due: Instant,
    /// Whether the server knows of it.
    pub(super) forwarded: bool,
    /// Fires when the client withdraws it; its reply is thrown away then.
    pub(super) withdrawn: CancellationToken,
    pub(super) open: Option<Open>,
    /// What waits for its reply, if it came in a batch and the server is to answer it.
    pub(super) company: Option<Arc<Company>>,
}

/// All of them, by their ids.
#[derive(Default)]
pub(super) struct Calls(Mutex<HashMap<Key, Held>>);

impl Calls {
    /// A panic while the lock was held leaves at worst a call without a reply.
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<Key, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The replies that faults made for calls of one batch. They wait for the server's reply to the
/// others, because a batch is answered by one array. Whoever has to bring that reply holds it.
#[derive(Default)]
pub(super) struct Company(Mutex<Vec<Made>>);

/// A reply that no server made.
pub(super) struct Made {
    pub(super) id: Key,
    pub(super) frame: Vec<u8>,
}

impl Company {
    pub(super) fn join(&self, made: Made) {
        self.lock().push(made);
    }

    /// Those that wait, once.
    pub(super) fn take(&self) -> Vec<Made> {
        std::mem::take(&mut *self.lock())
    }

    /// Those that wait, if nobody else is left who could bring them.
    pub(super) fn take_last(self: Arc<Self>) -> Vec<Made> {
        Arc::into_inner(self).map(|company| company.take()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
