//! What the server holds: a handle to record rows with.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use thiserror::Error;

use super::{
    attempts::Attempts,
    filter::Filter,
    queue::{Queue, Rejected, Sums},
    redaction::Redaction,
    row::Row,
    spec::StoreSpec,
    store::{Opened, Source, StoreError},
    writer,
};

/// Records rows. Clones are cheap and record into the same log.
///
/// Nothing is dropped: when the store is slower than the server, the server waits for it.
///
/// ```
/// use mcp_loadtest_mock::audit::{Audit, Filter, Redaction, Row};
///
/// let audit = Audit::open(&"memory".parse()?, Redaction::default())?;
/// audit.record_blocking(Row { seq: audit.next_seq(), ..Row::default() })?;
/// assert_eq!(audit.query(&Filter::default())?.len(), 1);
/// assert_eq!(audit.close()?.written, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Audit {
    log: Option<Arc<Log>>,
    redaction: Arc<Redaction>,
}

/// How many rows were recorded, and how many of them the store has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Closing {
    /// Recorded.
    pub emitted: u64,
    /// In the store.
    pub written: u64,
}

/// Why a row was not recorded.
#[derive(Debug, Clone, Error)]
pub enum AuditError {
    /// The store failed, now or earlier; the log is not complete.
    #[error("the audit log cannot be written: {0}")]
    Failed(Arc<StoreError>),
    /// The log is closed.
    #[error("the audit log is closed")]
    Closed,
}

/// A log that lacks rows, or cannot be trusted to have them.
#[derive(Debug, Clone, Error)]
#[error("the audit log is incomplete: {written} of {emitted} rows were written{}", because(.cause.as_deref()))]
pub struct AuditIncomplete {
    /// Recorded.
    pub emitted: u64,
    /// In the store, for sure.
    pub written: u64,
    /// What the store failed of.
    pub cause: Option<Arc<StoreError>>,
}

fn because(cause: Option<&StoreError>) -> String {
    cause.map(|error| format!(": {error}")).unwrap_or_default()
}

#[derive(Debug)]
struct Log {
    queue: Arc<Queue>,
    seq: AtomicU64,
    attempts: Attempts,
    writer: Mutex<Option<JoinHandle<()>>>,
    read: super::store::OpenSource,
}

impl Audit {
    /// Records nothing and costs nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Opens a log, and makes it if need be. The numbers of its rows go on where they ended.
    pub fn open(spec: &StoreSpec, redaction: Redaction) -> Result<Self, StoreError> {
        match spec.open()? {
            None => Ok(Self::none()),
            Some(opened) => Self::start(opened, redaction),
        }
    }

    pub(super) fn start(opened: Opened, redaction: Redaction) -> Result<Self, StoreError> {
        let Opened { sink, first_seq, read } = opened;
        let queue = Arc::new(Queue::default());
        let thread = writer::start(queue.clone(), sink).map_err(StoreError::Thread)?;
        let log = Log {
            queue,
            seq: AtomicU64::new(first_seq),
            attempts: Attempts::default(),
            writer: Mutex::new(Some(thread)),
            read,
        };
        Ok(Self { log: Some(Arc::new(log)), redaction: Arc::new(redaction) })
    }

    /// Whether anything is recorded. If not, there is no need to build a row.
    pub fn is_on(&self) -> bool {
        self.log.is_some()
    }

    /// What to mask and cut in a row.
    pub fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// The number for the next message that arrives.
    pub fn next_seq(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.seq.fetch_add(1, Ordering::Relaxed))
    }

    /// How often this call has arrived, in whichever session, this time included. A call is the same
    /// if its method, its tool and its arguments, as written, are. What is remembered is bounded: a
    /// call that comes again after many thousands of others counts as new.
    pub fn attempt(&self, method: &str, tool: &str, arguments: &str) -> u32 {
        self.log.as_ref().map_or(0, |log| log.attempts.count(method, tool, arguments))
    }

    /// Records a row; waits while the store is behind.
    pub async fn record(&self, row: impl Into<Box<Row>>) -> Result<(), AuditError> {
        match &self.log {
            None => Ok(()),
            Some(log) => {
                let row = self.redaction.row(row.into());
                log.queue.push_awaiting(row).await.map_err(AuditError::from)
            }
        }
    }

    /// The same for a thread that may block.
    pub fn record_blocking(&self, row: impl Into<Box<Row>>) -> Result<(), AuditError> {
        match &self.log {
            None => Ok(()),
            Some(log) => {
                let row = self.redaction.row(row.into());
                log.queue.push_waiting(row).map_err(AuditError::from)
            }
        }
    }

    /// What the store failed of, if it did.
    pub fn failure(&self) -> Option<AuditError> {
        self.log.as_ref()?.queue.sums().failure.map(AuditError::Failed)
    }

    /// The wanted rows of all that was recorded before this call, by whomever. Blocks.
    pub fn query(&self, filter: &Filter) -> Result<Vec<Row>, Arc<StoreError>> {
        match self.read()? {
            None => Ok(Vec::new()),
            Some(mut source) => Ok(source.query(filter)?),
        }
    }

    /// Opens the log for reading, when all that was recorded before this call is in it. Blocks.
    pub fn read(&self) -> Result<Option<Box<dyn Source>>, Arc<StoreError>> {
        let Some(log) = &self.log else { return Ok(None) };
        log.queue.flush()?;
        Ok(Some(log.read.open()?))
    }

    /// Waits until everything is written and closes the log, for all clones. Blocks; may be called
    /// again for the same answer.
    pub fn close(&self) -> Result<Closing, AuditIncomplete> {
        self.log.as_ref().map_or(Ok(Closing::default()), |log| log.close())
    }
}

impl Log {
    fn close(&self) -> Result<Closing, AuditIncomplete> {
        self.queue.close();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = writer.take() {
            // A panic of the writer is a failure that the queue knows of.
            let _ = thread.join();
        }
        let Sums { emitted, written, failure: cause } = self.queue.sums();
        if cause.is_some() || written != emitted {
            return Err(AuditIncomplete { emitted, written, cause });
        }
        Ok(Closing { emitted, written })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Who wants to know whether it is complete has closed it before.
        let _ = self.close();
    }
}

impl From<Rejected> for AuditError {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::Failed(error) => Self::Failed(error),
            // Those who wait come back only when there is room.
            Rejected::Closed | Rejected::Full => Self::Closed,
        }
    }
}

#[cfg(test)]
mod tests;
