//! `ramp`: more load step by step, until something gives.

use mcp_loadtest_core::scenario::ScenarioName;

use super::{Driving, Entry};
use crate::load;

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Ramp,
    summary: "raise the load step by step",
    detects: "the load at which throughput stops growing and latency explodes",
    algorithm: "\
1. Begin with `ramp_from` (calls in flight, or a rate such as `100/s`).
2. Raise the load by `ramp_step` (default: a tenth of the way) until `ramp_to`; all steps are equally
   long and last `duration` together.
3. Compare the steps: throughput that grows with the load means room is left; the knee is where the
   straight line through the first steps meets the plateau of the last ones. Also told: the first
   step with errors, and the first whose p99 explodes.",
    knobs: "--ramp-from, --ramp-to, --ramp-step, --duration, --max-in-flight, --sessions",
    drive: |stage| Box::pin(load::drive(stage)) as Driving,
};
