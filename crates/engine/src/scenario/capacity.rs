//! `capacity`: the highest rate that still keeps the thresholds.

use std::time::Duration;

use mcp_loadtest_core::{
    event::note,
    pace::{Arrival, Course},
    report::judge_trial,
    scenario::{Capacity, ScenarioKind, ScenarioName},
    stats::search::{Search, TrialOutcome},
    tally::Tally,
};

use super::{Driving, Entry, Stage};
use crate::{
    RunError,
    load::{Act, Crew, Part},
};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Capacity,
    summary: "search the highest rate that still keeps the thresholds",
    detects: "how much the server can take before it breaks its limits",
    algorithm: "\
1. Start calls at `rate_from` for `hold`, on a schedule, and judge them by the thresholds. A trial
   in which calls were dropped, or were still waiting at its end, has failed as well.
2. Double the rate until a trial fails; a failing one is repeated before it counts.
3. Halve the gap between the best passing and the lowest failing rate until it is within
   `precision`.
4. Confirm the answer: it must pass twice more, or the next lower rate is tried.
5. A trial in which the generator itself could not keep up ends the search, and says so.
6. `memory_growth_mb` is judged at the end, over all trials. What fails beyond a rate that holds is
   told, but is no reason to fail.",
    knobs: "--rate-from, --rate-to, --hold, --precision, --max-in-flight, --p99-latency, --error-rate, --memory-growth-mb",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

/// What a queue that built up in one trial is given to drain before the next.
const REST: Duration = Duration::from_millis(200);

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::Capacity(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a search".into()));
    };
    let context = stage.context.clone();
    let part = Part::of_all(arrival(&settings, settings.rate_to.get()), &stage.plan);
    let mut crew = Crew::assemble(stage, settings.max_in_flight, &part.arrival).await?;
    let (low, high) = (settings.rate_from.get(), settings.rate_to.get());
    let mut search = Search::new(low, high, settings.precision);
    let mut performed = Ok(());
    for segment in 1..=u16::MAX {
        let Some(trial) = search.next().filter(|_| !context.is_over()) else { break };
        let part = Part { arrival: arrival(&settings, trial.rate), segment, ..part.clone() };
        let seen = match crew.perform(Act::of(part)).await {
            Ok(seen) => seen,
            Err(error) => {
                performed = Err(error);
                break;
            }
        };
        if context.is_over() {
            break;
        }
        let judged = judge_trial(&seen, trial.rate, settings.hold, &context.blueprint.thresholds);
        let told = match &judged {
            Ok(()) => "passed".to_owned(),
            Err((_, why)) => why.clone(),
        };
        context.note(note::SEGMENT, format!("{segment}: {:.1}/s {told}", trial.rate));
        search
            .observe(trial, judged.map_or_else(|(outcome, _)| outcome, |()| TrialOutcome::Passed));
        tokio::time::sleep(REST).await;
    }
    let found = search.finish();
    context.note(note::CAPACITY, serde_json::to_string(&found).unwrap_or_default());
    let tallies = crew.dismiss().await;
    performed?;
    tallies
}

fn arrival(settings: &Capacity, rate: f64) -> Arrival {
    Arrival::Open { rate: Course::constant(rate, settings.hold), limit: settings.max_in_flight }
}
