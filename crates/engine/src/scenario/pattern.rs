//! `pattern`: sequences of calls with pauses between them, as clients make them.

use mcp_loadtest_core::scenario::ScenarioName;

use super::{Driving, Entry};
use crate::load;

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Pattern,
    summary: "sequences of calls with pauses, as clients make them",
    detects: "what single calls do not show: state between calls, mixed workloads",
    algorithm: "\
1. Each caller chooses a sequence by weight, from the seed.
2. It makes the calls of the sequence in their order, with `think_time` between them.
3. When a call fails: `continue` with the next, `abort` the sequence, `retry` once, or `stop` the run.
4. Shipped: `explore_then_act` (list the tools, read, act) and `read_then_write`. One's own stand in
   `[[scenario.sequence]]`.",
    knobs: "--pattern, --concurrent, --rate, --duration, --tool",
    drive: |stage| Box::pin(load::drive(stage)) as Driving,
};
