//! The one load loop: open and closed models, one thread and many.
//!
//! | file       | what it does                                                           |
//! |------------|------------------------------------------------------------------------|
//! | `act`      | what a load is made of: parts that go on at the same time              |
//! | `crew`     | the threads: they open their sessions, perform one act after another   |
//! | `shares`   | spreads sessions over threads                                          |
//! | `lane`     | a session's place in the run; a dead session is replaced               |
//! | `closed`   | callers: a call, its end, the next call                                |
//! | `open`     | a schedule: calls start when they are due                              |
//! | `turn`     | what a caller does when it is its turn: one call, or a sequence        |
//! | `own_time` | how busy the load threads are                                          |
//! | `gate`     | ends the load when a threshold is violated for good                    |

mod act;
mod closed;
mod crew;
mod gate;
mod lane;
mod open;
mod own_time;
mod shares;
mod turn;

pub(crate) use act::{Act, Part};
pub(crate) use crew::Crew;
pub(crate) use gate::watch_thresholds;

use mcp_loadtest_core::{
    event::{Event, note},
    tally::Tally,
};
use mcp_loadtest_wire::sink::Sink as _;

use crate::{context::Context, error::RunError, scenario::Stage};

/// Carries out a scenario that is nothing but its arrivals.
pub(crate) async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let settings = stage.context.blueprint.scenario.kind.settings();
    let arrival = settings.arrival().ok_or_else(|| RunError::Internal("no load to make".into()))?;
    let part = Part::of_all(arrival, &stage.plan);
    perform(stage, part).await
}

/// Lets the load be held while it goes on, and books when that was.
async fn hold_able<T>(context: &Context, load: impl Future<Output = T>) -> T {
    let pause = &context.blueprint.pause;
    pause.arm(context.blueprint.clock);
    let performed = load.await;
    for span in pause.disarm() {
        context.recorder.emit(&Event::Scenario {
            at: span.to,
            name: note::PAUSED.into(),
            detail: "by hand".into(),
            took: Some(span.length()),
        });
    }
    performed
}

/// Makes one load from beginning to end. Only such a load can be held: steps that are judged as they
/// go would be judged by a pause.
pub(crate) async fn perform(stage: Stage, part: Part) -> Result<Vec<Tally>, RunError> {
    let context = stage.context.clone();
    let mut crew = Crew::assemble(stage, part.arrival.most_in_flight(), &part.arrival).await?;
    let performed = hold_able(&context, crew.perform(Act::of(part))).await;
    let tallies = crew.dismiss().await;
    performed?;
    tallies
}
