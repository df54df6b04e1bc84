//! `slow_mix`: does a slow call hold up the fast ones beside it?

use std::{ops::Range, time::Duration};

use mcp_loadtest_core::{
    event::Phase,
    pace::{Arrival, Course},
    scenario::{ScenarioKind, ScenarioName, SlowMix},
    tally::Tally,
};
use mcp_loadtest_wire::session::How;

use super::{Driving, Entry, Stage};
use crate::{
    RunError,
    load::{Act, Crew, Part},
};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::SlowMix,
    summary: "fast calls alone, then with slow ones beside them",
    detects: "head-of-line blocking: a server that serves one call at a time, or starves the fast ones",
    algorithm: "\
1. Find the slow call: `slow_tool`, or the slower of two tools, each called once.
2. First half: the fast callers alone, for `duration`.
3. Second half: the same fast callers, and `slow_share` of the callers making slow calls beside them.
4. Compare the fast tool with itself: Blocked when its latency rises towards that of the slow calls,
   Independent when it stays what it was, Shared in between.",
    knobs: "--tool, --args, --slow-tool, --slow-args, --slow-share, --concurrent, --duration, --sessions",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::SlowMix(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a slow mix".into()));
    };
    let (fast, slow) = match find(&stage, &settings).await {
        Ok(found) => found,
        Err(error) => {
            stage.context.close(stage.session).await;
            return Err(error);
        }
    };
    let part = |callers: u32, sequences: &Range<usize>, segment| Part {
        sequences: sequences.clone(),
        segment,
        ..Part::of_all(closed(callers, settings.duration), &stage.plan)
    };
    let fast_callers = settings.concurrent - settings.slow_callers();
    let alone = Act::of(part(fast_callers, &fast, 1));
    // A step of their own tells slow calls from fast ones also where both are of one tool.
    let mixed =
        Act { parts: vec![part(fast_callers, &fast, 2), part(settings.slow_callers(), &slow, 3)] };
    let all = closed(settings.concurrent, settings.duration);
    let mut crew = Crew::assemble(stage, settings.concurrent, &all).await?;
    let performed = match crew.perform(alone).await {
        Ok(_) => crew.perform(mixed).await,
        Err(error) => Err(error),
    };
    let tallies = crew.dismiss().await;
    performed?;
    tallies
}

fn closed(callers: u32, duration: Duration) -> Arrival {
    Arrival::Closed(Course::constant(f64::from(callers), duration))
}

/// The places of the fast and of the slow call in the plan.
async fn find(stage: &Stage, settings: &SlowMix) -> Result<(Range<usize>, Range<usize>), RunError> {
    let count = stage.plan.sequences.len();
    if settings.slow.is_some() && count >= 2 {
        return Ok((0..count - 1, count - 1..count));
    }
    if count != 2 {
        let why = "slow_mix needs a fast tool and a slow one: name the slow one with `--slow-tool`";
        return Err(RunError::Unfit(why.into()));
    }
    let calls = stage.plan.prepare(&stage.session, &stage.context.count);
    let mut took = [Duration::ZERO; 2];
    for (index, took) in took.iter_mut().enumerate() {
        let how = How { phase: Phase::Warmup, ..stage.context.load() };
        let call = calls.get(stage.plan.sequences[index].steps[0]);
        *took = stage.session.call(&call, how).await.took();
    }
    let slow = usize::from(took[1] >= took[0]);
    Ok((1 - slow..2 - slow, slow..slow + 1))
}
