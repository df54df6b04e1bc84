//! A server that does not answer one call: what becomes of the client, and of its other calls?

use std::time::Duration;

use mcp_loadtest_core::{outcome::ErrorCategory, units::format_latency};
use mcp_loadtest_wire::session::How;
use serde_json::json;
use tokio::time::sleep;

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "hang",
    about: "While one call hangs, others are answered; and how long the gateway waits.",
    advice: "Do not hold other calls of a session behind one that hangs, and give a call up after a \
             while: answer with an error, and cancel it at the server.",
    run: |bench| Box::pin(run(bench)),
};

const FAULT: &str = "hang@tool=echo,nth=1";
/// How long the call that hangs is ahead of the other.
const HEAD_START: Duration = Duration::from_millis(500);
/// So many times what it takes alone a call may take beside another.
const UNHURRIED: u32 = 4;

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let session = bench.session().await?;
    let echo = || bench.prepare(&session, "echo", json!({ "message": bench.marker() }));
    let (first, alone, hanging, other) = (echo()?, echo()?, echo()?, echo()?);
    let how = How::setup(bench.patience);
    // A gateway may start its servers when they are first called: that is not what a call takes.
    session.call(&first, how).await;
    let usual = session.call(&alone, how).await.took();
    bench.upstream.set_fault(Some(FAULT));
    let (hung, answered) = tokio::join!(session.call(&hanging, how), async {
        sleep(HEAD_START).await;
        session.call(&other, how).await
    });
    bench.upstream.set_fault(None);
    bench.renew().await;
    let took = format_latency(hung.took());
    let gave_up = match hung.failure() {
        None => return Err(Untold::because("the call that was to hang was answered")),
        Some(ErrorCategory::Timeout) => format!("no answer from the gateway within {took}"),
        Some(_) => format!("the gateway gave up after {took} with {}", told(&hung)),
    };
    let finding = match answered.failure() {
        None if answered.ended < hung.ended => {
            Finding::measured(gave_up).and("another call was answered meanwhile")
        }
        // It was hardly on its way when the other one ended: that says nothing.
        None if answered.started + usual * UNHURRIED >= hung.ended => Finding::measured(gave_up),
        None => {
            let late = "the other call was answered only after the one that hung had ended";
            Finding::broken(late).and(gave_up)
        }
        Some(_) => Finding::broken(format!("while one call hung, another got {}", told(&answered)))
            .and(gave_up),
    };
    Ok(finding.figure("waited_ms", hung.took().as_secs_f64() * 1e3))
}
