//! HTTP+SSE: calls come as POSTs to an address that the server gave out, and their replies on the
//! stream that gave it out.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::mpsc, time::sleep_until};

use super::replies::{Job, Others};
use crate::proxy::{message::Key, record::Recorder};

/// How many made-up replies may wait for a stream.
const QUEUE: usize = 64;

/// A reply that did not come from the server, or not just now.
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
    sender: mpsc::Sender<Made>,
    made: mpsc::Receiver<Made>,
}

impl Channels {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream has given this address out.
    pub(super) fn open(&self, address: &str) -> Channel {
        let (sender, made) = mpsc::channel(QUEUE);
        let waiting = Waiting { jobs: HashMap::new(), made: sender.clone() };
        self.lock().insert(address.to_owned(), waiting);
        Channel { channels: self.clone(), address: address.to_owned(), sender, made }
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

    /// Sends a reply that no server made.
    pub(super) async fn deliver(&self, address: &str, job: Job, frame: Vec<u8>, log: &Recorder) {
        let made = self.lock().get(address).map(|waiting| waiting.made.clone());
        match made {
            Some(made) => {
                let _ = made.send((frame, Box::new(job))).await;
            }
            None => log.close(job.open).await,
        }
    }
}

impl Channel {
    /// What is to be done with a reply that has come.
    pub(super) fn take(&self, id: &Key) -> Option<Job> {
        self.channels.lock().get_mut(&self.address)?.jobs.remove(id)
    }

    /// The next reply that did not come from the server, or not just now.
    pub(super) async fn made(&mut self) -> Option<Made> {
        self.made.recv().await
    }

    /// Lets a reply come back when it is due, so that others need not wait for it.
    pub(super) fn postpone(&self, job: Job, frame: Vec<u8>) {
        postpone(self.sender.clone(), job, frame);
    }

    /// Lets a reply come back when others have left.
    pub(super) fn let_pass(&self, others: Others, job: Job, frame: Vec<u8>) {
        let_pass(self.sender.clone(), others, job, frame);
    }
}

/// Lets a reply come back when it is due.
pub(super) fn postpone(sender: mpsc::Sender<Made>, job: Job, frame: Vec<u8>) {
    let due = job.due;
    come_back(sender, job, frame, sleep_until(due));
}

/// Lets a reply come back when others have left.
pub(super) fn let_pass(sender: mpsc::Sender<Made>, others: Others, job: Job, frame: Vec<u8>) {
    come_back(sender, job, frame, others.left());
}

fn come_back(
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

impl Drop for Channel {
    fn drop(&mut self) {
        self.channels.lock().remove(&self.address);
    }
}
