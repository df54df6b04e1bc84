//! A worker: takes one test after the other, and carries each out as often as was asked.

use std::rc::Rc;

use mcp_loadtest_core::suite::{Outcome, Repeats, TestKind, TestResult};
use tokio::time::Instant;

use super::{
    agent,
    desk::{Desk, Queue, Repeat},
    load,
    pool::Pool,
    request,
};

/// Takes tests for as long as there are any.
pub(super) async fn work(desk: Rc<Desk>, queue: Queue) {
    let mut pool = Pool::new(desk.clone());
    while !desk.is_over() {
        let Some(at) = desk.take(queue) else { break };
        let result = tokio::select! {
            result = repeated(&desk, at, &mut pool) => result,
            () = desk.stop.stopped() => break,
        };
        desk.put(at, result);
    }
    pool.close().await;
}

/// Carries a test out as often as was asked.
async fn repeated(desk: &Desk, at: usize, pool: &mut Pool) -> TestResult {
    let case = desk.case(at);
    let times = match case.kind {
        TestKind::Agent => {
            let agent = &desk.suites[case.suite].suite.agents[case.index];
            desk.settings.repeat.saturating_mul(agent.runs.unwrap_or(1))
        }
        _ => desk.settings.repeat,
    };
    let (mut ran, mut passed, mut took_ms) = (0, 0, 0.0);
    let mut worst: Option<TestResult> = None;
    for number in 0..times {
        let repeat = Repeat { test: at, number };
        let began = Instant::now();
        let mut result = once(desk, repeat, pool).await;
        result.took_ms = began.elapsed().as_secs_f64() * 1e3;
        ran += 1;
        took_ms += result.took_ms;
        if result.outcome == Outcome::Passed {
            passed += 1;
            desk.pass(repeat);
        }
        let is_broken = result.outcome == Outcome::Broken;
        // The first that fails is told; before one does, the last that passed.
        if !worst.as_ref().is_some_and(TestResult::is_bad) {
            worst = Some(result);
        }
        if is_broken {
            break;
        }
    }
    let mut result = worst.unwrap_or_else(|| desk.result(at));
    result.took_ms = took_ms;
    result.repeats = (times > 1).then(|| Repeats::new(passed, ran));
    result
}

/// Carries a test out once.
async fn once(desk: &Desk, repeat: Repeat, pool: &mut Pool) -> TestResult {
    let case = desk.case(repeat.test);
    let empty = desk.result(repeat.test);
    match case.kind {
        TestKind::Tool | TestKind::Resource | TestKind::Prompt => {
            request::carry_out(desk, case, repeat, empty, pool).await
        }
        TestKind::Agent => agent::carry_out(desk, case, repeat, empty, pool).await,
        TestKind::Load => load::carry_out(desk, case, empty, pool).await,
    }
}
