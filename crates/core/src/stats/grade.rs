//! Grades from published limits, for people who compare servers. Never the verdict of a run: a grade
//! hides what the figures say, so the limits are told with it (see [`table`]).
//!
//! - **Latency**, by p99 of the response time. 100 ms feel instant, one second keeps a train of
//!   thought, after ten attention is gone; a model takes seconds for a turn, so below one second the
//!   tool is not what its user waits for.
//! - **Errors**, by the share of calls that failed. An agent makes tens of calls for one task: at 0.1 %
//!   one task in some fifty meets an error, at 5 % nearly every one.
//! - **Concurrency**, by how many times as long the median call takes under full load as alone. What
//!   throughput gains would be unfair to a server that works one call after the other by design, and
//!   is no concern of a caller; the wait is. A call alone counts as a millisecond at least: below it,
//!   transport and scheduler are measured and not the server.
//!
//! Overall the worst of them counts, and what was found: a bug makes it F, a warning B at best.

use std::{fmt, fmt::Write as _, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A grade; A is the best.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Grade {
    /// Nothing to wish for.
    A,
    /// Good.
    B,
    /// Noticeable.
    C,
    /// Annoying.
    D,
    /// Beyond all limits.
    F,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What a grade allows at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// The grade.
    pub grade: Grade,
    /// p99 of the response time.
    pub p99: Duration,
    /// The share of calls that failed, 0 to 1.
    pub error_rate: f64,
    /// How many times as long the median call takes under full load as alone.
    pub slowdown: f64,
}

/// The limits of all grades but F, which is whatever lies beyond.
pub const LIMITS: [Limit; 4] = [
    Limit { grade: Grade::A, p99: Duration::from_millis(100), error_rate: 0.0, slowdown: 2.0 },
    Limit { grade: Grade::B, p99: Duration::from_millis(300), error_rate: 0.001, slowdown: 5.0 },
    Limit { grade: Grade::C, p99: Duration::from_secs(1), error_rate: 0.01, slowdown: 10.0 },
    Limit { grade: Grade::D, p99: Duration::from_secs(10), error_rate: 0.05, slowdown: 25.0 },
];

/// A call alone counts as this long at least.
pub const SHORTEST_ALONE: Duration = Duration::from_millis(1);

/// What is graded. What was not measured is not graded.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// p99 of the response time.
    pub p99: Option<Duration>,
    /// The share of calls that failed, 0 to 1.
    pub error_rate: Option<f64>,
    /// The median response time of one call at a time.
    pub p50_alone: Option<Duration>,
    /// The median response time under full load, which is more than one call at a time.
    pub p50_loaded: Option<Duration>,
    /// More calls at a time made fewer succeed: how fast the others fail is no merit.
    pub collapsed: bool,
}

/// The grades of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grades {
    /// By p99 of the response time.
    pub latency: Option<Grade>,
    /// By the share of calls that failed.
    pub errors: Option<Grade>,
    /// By what full load does to the median; F where the throughput collapses.
    pub concurrency: Option<Grade>,
    /// The worst of them, or of what was found: a bug makes it F, a warning B at best.
    pub overall: Option<Grade>,
}

impl Grades {
    /// No better overall than this.
    #[must_use]
    pub fn capped(self, best: Option<Grade>) -> Self {
        Self {
            overall: self.overall.map(|grade| best.map_or(grade, |best| grade.max(best))),
            ..self
        }
    }

    /// Whether something else than the figures made it worse.
    pub fn is_capped(&self) -> bool {
        [self.latency, self.errors, self.concurrency].into_iter().flatten().max() < self.overall
    }
}

/// Grades what was measured.
///
/// ```
/// # use mcp_loadtest_core::stats::grade::{Grade, Measured, grades};
/// # use std::time::Duration;
/// let measured = Measured {
///     p99: Some(Duration::from_millis(80)),
///     error_rate: Some(0.004),
///     ..Measured::default()
/// };
/// let grades = grades(&measured);
/// assert_eq!((grades.latency, grades.errors), (Some(Grade::A), Some(Grade::C)));
/// assert_eq!((grades.concurrency, grades.overall), (None, Some(Grade::C)));
/// ```
pub fn grades(measured: &Measured) -> Grades {
    let latency = measured.p99.map(|p99| grade(|limit| p99 <= limit.p99));
    let share = measured.error_rate.filter(|share| (0.0..=1.0).contains(share));
    let errors = share.map(|share| grade(|limit| share <= limit.error_rate));
    let slowdown = measured
        .p50_alone
        .zip(measured.p50_loaded)
        .map(|(alone, loaded)| loaded.as_secs_f64() / alone.max(SHORTEST_ALONE).as_secs_f64());
    let concurrency = slowdown.map(|slowdown| grade(|limit| slowdown <= limit.slowdown));
    let concurrency = if measured.collapsed { Some(Grade::F) } else { concurrency };
    let overall = [latency, errors, concurrency].into_iter().flatten().max();
    Grades { latency, errors, concurrency, overall }
}

fn grade(fits: impl Fn(&Limit) -> bool) -> Grade {
    LIMITS.iter().find(|limit| fits(limit)).map_or(Grade::F, |limit| limit.grade)
}

/// The limits as a Markdown table, for the documentation.
pub fn table() -> String {
    let mut table = String::from(
        "| grade | p99 | errors | median under load, times that of one call alone |\n\
         |---|---|---|---|\n",
    );
    for limit in LIMITS {
        // Nothing can fail: a string takes all that is written.
        let _ = writeln!(
            table,
            "| {} | ≤ {} | {} | ≤ {} |",
            limit.grade,
            crate::units::format_duration(limit.p99),
            if limit.error_rate > 0.0 {
                format!("≤ {} %", limit.error_rate * 100.0)
            } else {
                "none".into()
            },
            limit.slowdown,
        );
    }
    table.push_str("| F | more | more | more |\n");
    table
}

#[cfg(test)]
mod tests {
    use super::super::fixture::ODD;
    use super::*;

    fn millis(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    #[test]
    fn each_limit_belongs_to_its_grade() {
        for limit in LIMITS {
            let measured = Measured {
                p99: Some(limit.p99),
                error_rate: Some(limit.error_rate),
                p50_alone: millis(10),
                p50_loaded: Some(Duration::from_millis(10).mul_f64(limit.slowdown)),
                collapsed: false,
            };
            let all = grades(&measured);
            assert_eq!(
                [all.latency, all.errors, all.concurrency, all.overall],
                [Some(limit.grade); 4]
            );
        }
        let beyond = Measured {
            p99: millis(10_001),
            error_rate: Some(0.051),
            p50_alone: millis(10),
            p50_loaded: millis(251),
            collapsed: false,
        };
        assert_eq!(grades(&beyond).overall, Some(Grade::F));
        assert!(LIMITS.windows(2).all(|pair| pair[0].grade < pair[1].grade
            && pair[0].p99 < pair[1].p99
            && pair[0].error_rate < pair[1].error_rate
            && pair[0].slowdown < pair[1].slowdown));
    }

    #[test]
    fn a_server_of_microseconds_is_not_marked_down_for_a_millisecond() {
        let quick = Measured {
            p50_alone: Some(Duration::from_micros(50)),
            p50_loaded: millis(2),
            ..Measured::default()
        };
        assert_eq!(grades(&quick).concurrency, Some(Grade::A));
        let collapsed = Measured { collapsed: true, ..quick };
        assert_eq!(grades(&collapsed).concurrency, Some(Grade::F));
        let instant =
            Measured { p50_alone: Some(Duration::ZERO), p50_loaded: Some(Duration::MAX), ..quick };
        assert_eq!(grades(&instant).concurrency, Some(Grade::F));
    }

    #[test]
    fn what_was_not_measured_is_not_graded() {
        assert_eq!(grades(&Measured::default()), Grades::default());
        let half = Measured { p50_loaded: millis(5), ..Measured::default() };
        assert_eq!(grades(&half).concurrency, None);
        for odd in ODD.into_iter().filter(|odd| !(0.0..=1.0).contains(odd)) {
            assert_eq!(
                grades(&Measured { error_rate: Some(odd), ..Measured::default() }).errors,
                None
            );
        }
    }

    #[test]
    fn the_table_tells_the_limits() {
        let expected = "\
| grade | p99 | errors | median under load, times that of one call alone |
|---|---|---|---|
| A | ≤ 100ms | none | ≤ 2 |
| B | ≤ 300ms | ≤ 0.1 % | ≤ 5 |
| C | ≤ 1s | ≤ 1 % | ≤ 10 |
| D | ≤ 10s | ≤ 5 % | ≤ 25 |
| F | more | more | more |
";
        assert_eq!(table(), expected);
    }

    #[test]
    fn what_was_found_makes_a_grade_worse_and_never_better() {
        let measured = Measured { p99: millis(900), error_rate: Some(0.0), ..Measured::default() };
        let fair = grades(&measured);
        assert_eq!(fair.overall, Some(Grade::C));
        for (best, overall, is_capped) in [
            (None, Grade::C, false),
            (Some(Grade::B), Grade::C, false),
            (Some(Grade::C), Grade::C, false),
            (Some(Grade::F), Grade::F, true),
        ] {
            let capped = fair.capped(best);
            assert_eq!(
                (capped.overall, capped.is_capped()),
                (Some(overall), is_capped),
                "{best:?}"
            );
            assert_eq!((capped.latency, capped.errors), (fair.latency, fair.errors));
        }
        assert_eq!(Grades::default().capped(Some(Grade::F)), Grades::default());
    }
}
