//! Bars: what each scenario must find on a server whose answer is known, and what it must not.
//!
//! | file         | what is known                                                           |
//! |--------------|-------------------------------------------------------------------------|
//! | `freezes`    | how long a caller on a schedule waits for a server that freezes         |
//! | `limits`     | slots and service time, so where the knee and the capacity are          |
//! | `blocking`   | whether calls are served one by one, and whether a burst leaves a mark   |
//! | `growth`     | bytes and files that each call leaves behind                            |
//! | `replies`    | whose data the replies carry                                            |
//! | `sequences`  | what a caller does after a step that fails                              |
//! | `gates`      | which limits hold, and when a run ends on one                           |
//! | `generator`  | what was not sent, and who was the limit                                |
//! | `told_again` | the trace, which must tell the same report                              |
//! | `everywhere` | every scenario over every transport in every era                        |
//!
//! Figures are compared with arithmetic, never with what a fast machine does: the mocks sleep for
//! most of their time, and the bounds are wide.

mod blocking;
mod everywhere;
mod freezes;
mod gates;
mod generator;
mod growth;
mod limits;
mod replies;
mod sequences;
mod told_again;

use std::time::Duration;

use mcp_loadtest::{Report, Run};

use crate::matrix::accounting;

const SECOND: Duration = Duration::from_secs(1);

/// Carries a run out; whatever it finds, its sums must be right.
async fn report(run: Run) -> Report {
    let report = run.execute().await.expect("it runs");
    assert_eq!(accounting(&report), [""; 0], "{:#?}", report.findings);
    report
}

/// A figure of a finding that must be there.
fn figure(report: &Report, id: &str, name: &str) -> f64 {
    let found = report.finding(id).unwrap_or_else(|| panic!("no `{id}`: {:#?}", report.findings));
    found.figures.get(name).copied().unwrap_or_else(|| panic!("no `{name}`: {found:#?}"))
}

/// A quantile of response times.
fn quantile(report: &Report, quantile: f64) -> Duration {
    Duration::from_nanos(report.latency.histogram.value_at_quantile(quantile))
}

#[track_caller]
fn assert_within(figure: f64, expected: f64, share: f64, what: &str) {
    let off = (figure / expected - 1.0).abs();
    assert!(off <= share, "{what}: {figure}, expected {expected} within {:.0}%", share * 100.0);
}

/// A busy machine can only spoil a figure: one of three attempts must be as exact as it should be.
async fn assert_measured(
    run: impl Fn() -> Run,
    (id, name): (&str, &str),
    expected: f64,
    share: f64,
) {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let report = report(run()).await;
        let figure = report.finding(id).and_then(|found| found.figures.get(name).copied());
        if figure.is_some_and(|figure| (figure / expected - 1.0).abs() <= share) {
            return;
        }
        seen.push((figure, report.findings));
    }
    panic!("{name}: expected {expected} within {:.0}%: {seen:#?}", share * 100.0);
}

/// The same for several figures that belong together: an attempt tells those that are not as they
/// should be. What no machine can spoil it asserts itself.
async fn assert_seen(attempt: impl AsyncFn() -> Result<(), String>) {
    let mut seen = Vec::new();
    for _ in 0..3 {
        match attempt().await {
            Ok(()) => return,
            Err(figures) => seen.push(figures),
        }
    }
    panic!("not once in three attempts: {seen:#?}");
}
