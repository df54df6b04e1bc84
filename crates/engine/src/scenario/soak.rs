//! `soak`: steady load for long, while memory and latency are watched.

use mcp_loadtest_core::scenario::ScenarioName;

use super::{Driving, Entry};
use crate::load;

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Soak,
    summary: "a steady load for long, memory and latency watched",
    detects: "memory leaks, latency that drifts, throughput that collapses over hours",
    algorithm: "\
1. Keep the load (`concurrent`, or `rate`) for `duration`.
2. Every `leak_check_interval` look at the memory, CPU, threads and open files of all processes of
   the server.
3. Throw the first 30 s of samples away (of a short run the first quarter): caches fill, compilers
   compile.
4. Fit a line through the rest, and one through its floor (the lowest values of each window that it
   never falls below again). LEAK_DETECTED only if all of this holds:
   - both predict more growth over the run than `memory_growth_mb` (default 10);
   - the growth goes on to the end: what is level by then is a cache that is full;
   - it began in the first half of the time;
   - both lines are clear: R² of 0.5, and a slope of five standard errors.
   No leak when the line, or what is surely left of it on the floor, keeps the limit, or when it has been
   level for the second half; else INDETERMINATE. Open files are judged alike, with a limit of 20.
5. Fit a line through the mean latency of every second: drift when it grows by more than
   `latency_drift_ms_per_sec`; INDETERMINATE when too few seconds are left to show it.",
    knobs: "--concurrent, --rate, --duration, --leak-check-interval, --latency-drift, --memory-growth-mb",
    drive: |stage| Box::pin(load::drive(stage)) as Driving,
};
