//! `sustained`: constant load for a fixed time, closed or open, or load in stages.

use mcp_loadtest_core::{
    scenario::{ScenarioKind, ScenarioName, Settings as _},
    tally::Tally,
};

use super::{Driving, Entry, Stage};
use crate::{
    RunError,
    load::{self, Part},
};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Sustained,
    summary: "keep N calls in flight, or start N calls a second, for a fixed time",
    detects: "baseline latency, throughput, error rate, hangs and crashes under load",
    algorithm: "\
1. Start the server and begin `sessions` sessions (default 1).
2. Send `tools/list` and check that the tools exist.
3. Closed model (`concurrent`): keep that many calls in flight, spread over the sessions, until
   `duration` has passed. `think_time` and `rate_limit` slow the callers down.
   Open model (`rate`): start calls on a schedule, whatever becomes of those before. Response time
   counts from when a call was due. What is due while `max_in_flight` calls are on their way is
   dropped and counted. How late we were ourselves is measured and told.
   With `stage`s, the load follows them one after another.
   With several tool calls, each call chooses one by weight, from the seed.
4. Every call is watched as in deadlock-probe: hang threshold, grace period, diagnosis.
5. A server that dies is started again; its calls count as Crash.
6. At the end wait for the calls in flight, stop the server, judge the thresholds.",
    knobs: "--concurrent, --rate, --duration, --sessions, --think-time, --rate-limit, --max-in-flight, --tool, --args, --timeout, --hang-timeout",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::Sustained(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a sustained load".into()));
    };
    let arrival = settings.arrival().ok_or_else(|| RunError::Internal("no arrivals".into()))?;
    let part = Part {
        think_time: settings.think_time,
        rate_limit: settings.rate_limit,
        ..Part::of_all(arrival, &stage.plan)
    };
    load::perform(stage, part).await
}
