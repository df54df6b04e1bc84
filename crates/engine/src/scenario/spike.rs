//! `spike`: a steady load, a burst, and the steady load again.

use mcp_loadtest_core::scenario::ScenarioName;

use super::{Driving, Entry};
use crate::load;

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Spike,
    summary: "a steady load, a sharp burst, and the steady load again",
    detects: "queue overflow, unfairness under a burst, slow recovery",
    algorithm: "\
1. Keep the steady load (`concurrent`, or `rate`) until `spike_at`.
2. Raise it `spike_multiplier` times for `spike_duration`.
3. Go back to the steady load until `duration` has passed.
4. Judge each of the three steps by itself: how latency and errors change in the burst, and how
   long after it the latency takes to come back to what it was before. Where no call is made or
   answered at the end, the server has not recovered.",
    knobs: "--concurrent, --rate, --duration, --spike-at, --spike-duration, --spike-multiplier, --sessions",
    drive: |stage| Box::pin(load::drive(stage)) as Driving,
};
