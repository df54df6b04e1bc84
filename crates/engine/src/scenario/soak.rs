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
4. Fit a line through the rest: LEAK_DETECTED when it predicts more growth over the run than
   `memory_growth_mb` (default 10), both as it is and on the lowest values of each window;
   INDETERMINATE when the points scatter too much (R² below 0.5).
5. Fit a line through the mean latency of every second: drift when it grows by more than
   `latency_drift_ms_per_sec`; INDETERMINATE when too few seconds are left to show it.",
    knobs: "--concurrent, --rate, --duration, --leak-check-interval, --latency-drift, --memory-growth-mb",
    drive: |stage| Box::pin(load::drive(stage)) as Driving,
};
