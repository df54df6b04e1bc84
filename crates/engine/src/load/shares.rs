//! Spreads sessions over threads.

/// A thread is worth its while from this many calls in flight on.
const CALLS_PER_THREAD: u32 = 32;
/// A thread is worth its while from this many calls a second on.
const RATE_PER_THREAD: f64 = 20_000.0;

/// A share of the load: one lane on one session in one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) session: u32,
    pub(super) thread: u16,
}

/// How much load there is to share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    /// Calls in flight at most.
    pub(super) concurrent: u32,
    /// Calls a second at most, where they start on a schedule.
    pub(super) rate: Option<f64>,
    /// Sessions that were asked for.
    pub(super) sessions: u32,
    /// Whether threads may share a session. Pipes belong to one thread.
    pub(super) can_share: bool,
}

impl Demand {
    /// How many threads are worth their while.
    pub(super) fn threads(&self, asked: Option<u16>) -> u16 {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        let useful = match self.rate {
            _ if !self.can_share => self.sessions,
            Some(rate) => (rate / RATE_PER_THREAD).ceil() as u32,
            None => self.concurrent.div_ceil(CALLS_PER_THREAD),
        };
        let count = asked.map_or_else(|| useful.clamp(1, cores), u32::from);
        let most = if self.can_share { self.concurrent } else { self.sessions };
        count.clamp(1, most.max(1)) as u16
    }

    /// One share a lane. An HTTP session can be shared by threads, so there are at least as many
    /// lanes as threads; a session of another transport is one lane.
    pub(super) fn shares(&self, threads: u16) -> Vec<Share> {
        let lanes =
            if self.can_share { self.sessions.max(u32::from(threads)) } else { self.sessions };
        let lanes = lanes.min(self.concurrent).max(1);
        let share = |lane: u32| Share {
            session: lane % self.sessions,
            thread: (lane % u32::from(threads)) as u16,
        };
        (0..lanes).map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(concurrent: u32, sessions: u32, can_share: bool) -> Demand {
        Demand { concurrent, rate: None, sessions, can_share }
    }

    #[test]
    fn every_session_and_every_thread_has_a_lane() {
        for (concurrent, sessions, threads, can_share) in
            [(20, 1, 1, false), (100, 1, 2, true), (7, 3, 2, false), (3, 3, 2, true)]
        {
            let shares = demand(concurrent, sessions, can_share).shares(threads);
            assert!((0..sessions).all(|index| shares.iter().any(|share| share.session == index)));
            assert!((0..threads).all(|index| shares.iter().any(|share| share.thread == index)));
        }
    }

    #[test]
    fn a_pipe_stays_in_one_thread() {
        assert_eq!(demand(1000, 1, false).threads(None), 1);
        assert_eq!(demand(4, 1, true).threads(Some(8)), 4);
        assert_eq!(demand(10, 3, false).shares(2).len(), 3);
        let scheduled = Demand { rate: Some(500.0), ..demand(10_000, 1, true) };
        assert_eq!(scheduled.threads(None), 1);
    }
}
