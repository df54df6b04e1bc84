//! Nothing is lost, and what cannot be kept is told.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use super::*;
use crate::audit::store::{OpenSource, Sink};

/// A store that counts, pauses after each batch, and fails at some row.
struct Test {
    kept: Arc<Mutex<u64>>,
    pause: Duration,
    fails_at: u64,
}

impl Sink for Test {
    fn append(&mut self, rows: &[Box<Row>]) -> Result<(), StoreError> {
        let mut kept = self.kept.lock().unwrap();
        if *kept + rows.len() as u64 > self.fails_at {
            return Err(StoreError::NotALog {
                place: "here".into(),
                why: "the disk is full".into(),
            });
        }
        *kept += rows.len() as u64;
        // A pause as long as a slow disk takes, and no event to wait for.
        let never = Condvar::new();
        drop(never.wait_timeout(kept, self.pause).unwrap());
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

fn start(pause: Duration, fails_at: u64) -> (Audit, Arc<Mutex<u64>>) {
    let kept = Arc::new(Mutex::new(0));
    let sink = Box::new(Test { kept: kept.clone(), pause, fails_at });
    let read = OpenSource::new(|| Err(StoreError::InMemory));
    let opened = Opened { sink, first_seq: 1, read };
    (Audit::start(opened, Redaction::default()).unwrap(), kept)
}

fn row(audit: &Audit) -> Row {
    Row { seq: audit.next_seq(), ..Row::default() }
}

#[test]
fn a_slow_store_makes_four_threads_wait_and_loses_nothing() {
    let (audit, kept) = start(Duration::from_millis(20), u64::MAX);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25_000 {
                    audit.record_blocking(row(&audit)).unwrap();
                }
            });
        }
    });
    assert_eq!(audit.close().unwrap(), Closing { emitted: 100_000, written: 100_000 });
    assert_eq!(*kept.lock().unwrap(), 100_000);
    assert_eq!(audit.next_seq(), 100_001, "each row had a number of its own");
}

#[tokio::test]
async fn a_slow_store_makes_tasks_wait_and_loses_nothing() {
    let (audit, kept) = start(Duration::from_millis(5), u64::MAX);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let audit = audit.clone();
            tokio::spawn(async move {
                for _ in 0..5_000 {
                    audit.record(row(&audit)).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(audit.close().unwrap(), Closing { emitted: 40_000, written: 40_000 });
    assert_eq!(*kept.lock().unwrap(), 40_000);
}

#[test]
fn a_store_that_fails_is_told_to_all_who_record_and_at_the_end() {
    let (audit, kept) = start(Duration::ZERO, 5_000);
    let refused = (0..100_000).find_map(|_| audit.record_blocking(row(&audit)).err());
    assert!(refused.unwrap().to_string().contains("the disk is full"));
    assert!(audit.record_blocking(row(&audit)).is_err());
    assert!(matches!(audit.failure(), Some(AuditError::Failed(_))));
    let end = audit.close().unwrap_err();
    assert_eq!(end.written, *kept.lock().unwrap());
    assert!(end.emitted > end.written, "{end}");
    assert!(end.to_string().contains("the disk is full"), "{end}");
}

#[test]
fn a_store_that_panics_leaves_nobody_waiting() {
    struct Panics;
    impl Sink for Panics {
        fn append(&mut self, _: &[Box<Row>]) -> Result<(), StoreError> {
            panic!("as a bug would");
        }
        fn finish(&mut self) -> Result<(), StoreError> {
            Ok(())
        }
    }
    let read = OpenSource::new(|| Err(StoreError::InMemory));
    let opened = Opened { sink: Box::new(Panics), first_seq: 1, read };
    let audit = Audit::start(opened, Redaction::default()).unwrap();
    let refused = (0..100_000).find_map(|_| audit.record_blocking(row(&audit)).err());
    assert!(refused.unwrap().to_string().contains("panicked"));
    assert!(audit.close().is_err());
}

#[test]
fn a_closed_log_takes_no_rows_and_no_log_takes_all() {
    let (audit, _) = start(Duration::ZERO, u64::MAX);
    audit.record_blocking(row(&audit)).unwrap();
    assert_eq!(audit.close().unwrap(), audit.close().unwrap());
    assert!(matches!(audit.record_blocking(row(&audit)), Err(AuditError::Closed)));
    let none = Audit::none();
    assert!(!none.is_on());
    none.record_blocking(Row::default()).unwrap();
    assert_eq!(none.close().unwrap(), Closing::default());
}

#[test]
fn what_is_recorded_is_written_when_the_last_handle_goes() {
    let (audit, kept) = start(Duration::ZERO, u64::MAX);
    audit.clone().record_blocking(row(&audit)).unwrap();
    drop(audit);
    assert_eq!(*kept.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_row_of_a_task_that_is_dropped_while_it_waits_is_kept() {
    let (audit, kept) = start(Duration::from_millis(50), u64::MAX);
    let (mut recorded, mut waits) = (0_u64, false);
    while !waits {
        recorded += 1;
        // Polled once and dropped: if there was no room, it was waiting.
        tokio::select! {
            biased;
            done = audit.record(row(&audit)) => done.unwrap(),
            () = async {} => waits = true,
        }
    }
    assert_eq!(audit.close().unwrap(), Closing { emitted: recorded, written: recorded });
    assert_eq!(*kept.lock().unwrap(), recorded);
}
