//! Lets those who need a look at the process table at the same time share one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Row, system};

/// How many looks have begun.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static LATEST: Mutex<Option<Look>> = Mutex::new(None);

/// A moment, told by looks rather than by a clock, so that tests may pause the clock.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Ticket(u64);

struct Look {
    number: u64,
    rows: Arc<[Row]>,
}

/// Now.
pub(in super::super) fn ticket() -> Ticket {
    Ticket(BEGUN.load(Ordering::SeqCst))
}

/// What a look saw that began after `ticket`.
pub(in super::super) fn look_since(ticket: Ticket) -> Arc<[Row]> {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*latest {
        Some(look) if look.number > ticket.0 => Arc::clone(&look.rows),
        _ => {
            let number = BEGUN.fetch_add(1, Ordering::SeqCst) + 1;
            let rows: Arc<[Row]> = system::look().into();
            let look = Look { number, rows: Arc::clone(&rows) };
            *latest = Some(look);
            rows
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_shared_by_those_who_asked_before_it_began() {
        let (one, two) = (ticket(), ticket());
        let seen = look_since(one);
        assert!(seen.iter().any(|row| row.pid == std::process::id()));
        // Other tests look as well, so a later look may have come between; an earlier one not.
        let again = look_since(two);
        assert!(Arc::ptr_eq(&seen, &again) || ticket().0 > one.0 + 1);
        let later = look_since(ticket());
        assert!(!Arc::ptr_eq(&seen, &later));
    }
}
