//! The one who writes: a thread that takes what was recorded and gives it to the store.

use std::{io, sync::Arc, thread};

use super::{
    queue::Queue,
    store::{Sink, StoreError},
};

/// Starts the thread. It ends when the queue is closed and empty, or when the store fails.
pub(super) fn start(queue: Arc<Queue>, sink: Box<dyn Sink>) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("audit".into()).spawn(move || {
        let guard = Guard(&queue);
        let end = write(&queue, sink);
        std::mem::forget(guard);
        if let Err(error) = end {
            queue.fail(error);
        }
    })
}

fn write(queue: &Queue, mut sink: Box<dyn Sink>) -> Result<(), StoreError> {
    let mut batch = Vec::new();
    while queue.take(&mut batch) {
        sink.append(&batch)?;
        queue.wrote(batch.len());
        batch.clear();
    }
    sink.finish()
}

/// Without it, those who record would wait for ever for a writer that panicked.
struct Guard<'a>(&'a Queue);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.fail(StoreError::Panicked);
    }
}
