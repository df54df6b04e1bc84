//! HTTP+SSE: calls come as POSTs to an address that the server gave out, and their replies on the
//! stream that gave it out.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::replies::Job;
use crate::proxy::{message::Key, record::Recorder};

/// How many made-up replies may wait for a stream.
const QUEUE: usize = 64;

/// A reply that does not come from the server, or not just now.
pub(super) type Made = (Vec<u8>, Box<Job>);

/// The open streams, by the address that they gave out.
#[derive(Clone, Default)]
pub(super) struct Channels(Arc<Mutex<HashMap<String, Waiting>>>);

/// What waits for one stream.
struct Waiting {
    jobs: HashMap<Key, Job>,
    made: mpsc::Sender<Made>,
}

/// One stream's side.
pub(super) struct Channel {
    channels: Channels,
    address: String,
    made: mpsc::Receiver<Made>,
}

impl Channels {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream has given this address out.
    pub(super) fn open(&self, address: &str) -> Channel {
        let (sender, made) = mpsc::channel(QUEUE);
        let waiting = Waiting { jobs: HashMap::new(), made: sender };
        self.lock().insert(address.to_owned(), waiting);
        Channel { channels: self.clone(), address: address.to_owned(), made }
    }

    /// A call's reply will come on the stream.
    pub(super) fn expect(&self, address: &str, job: Job) {
        if job.is_nothing() {
            return;
        }
        if let Some(waiting) = self.lock().get_mut(address) {
            waiting.jobs.insert(job.id.clone(), job);
        }
    }

    /// Sends a reply that no server made, when it is due. A stream that its server ends does not wait for it: in
    /// a batch it may be one that hangs.
    pub(super) async fn deliver(&self, address: &str, job: Job, frame: Vec<u8>, log: &Recorder) {
        let made = self.lock().get(address).map(|waiting| waiting.made.clone());
        let due = job.due;
        match made {
            Some(made) if due > Instant::now() => come_back(made, job, frame, sleep_until(due)),
            Some(made) => {
                let _ = made.send((frame, Box::new(job))).await;
            }
            None => log.close(job.open).await,
        }
    }
}

/// Lets a reply come back to its stream later, as long as there is one.
pub(super) fn come_back(
    sender: mpsc::Sender<Made>,
    job: Job,
    frame: Vec<u8>,
    until: impl Future<Output = ()> + Send + 'static,
) {
    tokio::spawn(async move {
        // One that is withdrawn comes back at once, and whoever takes it sees that.
        tokio::select! {
            _ = job.held.unless_withdrawn(until) => {}
            () = sender.closed() => return,
        }
        let _ = sender.send((frame, Box::new(job))).await;
    });
}

impl Channel {
    /// What is to be done with a reply that has come.
    pub(super) fn take(&self, id: &Key) -> Option<Job> {
        self.channels.lock().get_mut(&self.address)?.jobs.remove(id)
    }

    /// The next reply that no server made.
    pub(super) async fn made(&mut self) -> Option<Made> {
        self.made.recv().await
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.channels.lock().remove(&self.address);
    }
}
