//! The sums of a log: calls, errors, times, gaps and retries of each tool.

use std::{
    collections::{BTreeMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash as _, Hasher as _},
    time::Duration,
};

use hdrhistogram::Histogram;
use mcp_loadtest_core::histogram;
use serde::Serialize;

use super::row::Row;

/// Clients choose the names of the tools that they call, so there could be any number of them. Beyond
/// so many they are summed up together.
const NAMES: usize = 200;
const OTHERS: &str = "(others)";
/// Calls that failed and are remembered in case they come again.
const FAILED: usize = 100_000;

/// Sums rows up that come in the order of arrival.
#[derive(Debug, Default)]
pub struct Stats {
    rows: u64,
    names: BTreeMap<String, Group>,
}

/// The sums of all rows and of each name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// How many rows there were.
    pub rows: u64,
    /// Each tool, and each method that calls none, by name.
    pub names: Vec<NameSummary>,
}

/// The sums of one tool, or of one method that calls none. Times are in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NameSummary {
    /// The tool; the method of a row without one; the kind of a row without either.
    pub name: String,
    /// How many rows there were.
    pub count: u64,
    /// How many of them did not go well.
    pub errors: u64,
    /// Their share, from 0 to 1.
    pub error_rate: f64,
    /// Half of the replies were faster.
    pub p50_us: u64,
    /// Nine of ten were.
    pub p90_us: u64,
    /// Ninety-nine of a hundred were.
    pub p99_us: u64,
    /// The slowest reply.
    pub max_us: u64,
    /// Half of the gaps between arrivals were shorter; nothing if there was only one arrival.
    pub gap_p50_us: Option<u64>,
    /// The shortest gap.
    pub gap_min_us: Option<u64>,
    /// How many were the same call again, after one that did not go well.
    pub retries: u64,
    /// How many the client gave up.
    pub cancelled: u64,
}

#[derive(Debug)]
struct Group {
    count: u64,
    errors: u64,
    retries: u64,
    cancelled: u64,
    took: Histogram<u64>,
    longest_us: u64,
    gaps: Histogram<u64>,
    shortest_gap_us: u64,
    last_us: Option<i64>,
    /// Arguments of calls whose last one did not go well.
    failed: HashSet<u64>,
}

impl Stats {
    /// Adds the next row.
    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        let name = row.tool.as_deref().or(row.method.as_deref());
        let mut name = name.unwrap_or_else(|| row.kind.as_str());
        if self.names.len() >= NAMES && !self.names.contains_key(name) {
            name = OTHERS;
        }
        if !self.names.contains_key(name) {
            self.names.insert(name.to_owned(), Group::new());
        }
        if let Some(group) = self.names.get_mut(name) {
            group.add(row);
        }
    }

    /// The sums so far.
    pub fn summary(&self) -> Summary {
        let names = self.names.iter().map(|(name, group)| group.summary(name)).collect();
        Summary { rows: self.rows, names }
    }
}

impl Group {
    fn new() -> Self {
        Self {
            count: 0,
            errors: 0,
            retries: 0,
            cancelled: 0,
            took: histogram::new(),
            longest_us: 0,
            gaps: histogram::new(),
            shortest_gap_us: u64::MAX,
            last_us: None,
            failed: HashSet::new(),
        }
    }

    fn add(&mut self, row: &Row) {
        self.count += 1;
        self.errors += u64::from(!row.success);
        self.retries += u64::from(self.is_retry(row));
        self.cancelled += u64::from(row.cancelled);
        histogram::record(&mut self.took, Duration::from_micros(row.duration_us));
        self.longest_us = self.longest_us.max(row.duration_us);
        if let Some(last) = self.last_us.replace(row.ts.0) {
            // The wall clock may be set back between two arrivals.
            let gap = u64::try_from(row.ts.0.saturating_sub(last)).unwrap_or_default();
            histogram::record(&mut self.gaps, Duration::from_micros(gap));
            self.shortest_gap_us = self.shortest_gap_us.min(gap);
        }
    }

    /// Whether the same call has come before and did not go well. To be asked once for each row.
    fn is_retry(&mut self, row: &Row) -> bool {
        let mut arguments = DefaultHasher::new();
        row.arguments.hash(&mut arguments);
        let arguments = arguments.finish();
        let has_failed = self.failed.remove(&arguments);
        if !row.success && self.failed.len() < FAILED {
            self.failed.insert(arguments);
        }
        has_failed && row.attempt > 1
    }

    fn summary(&self, name: &str) -> NameSummary {
        // A histogram rounds up; nothing is told to have taken longer than the longest.
        let took = |quantile| micros(&self.took, quantile).unwrap_or_default().min(self.longest_us);
        NameSummary {
            name: name.to_owned(),
            count: self.count,
            errors: self.errors,
            error_rate: self.errors as f64 / self.count.max(1) as f64,
            p50_us: took(0.5),
            p90_us: took(0.9),
            p99_us: took(0.99),
            max_us: self.longest_us,
            gap_p50_us: micros(&self.gaps, 0.5),
            gap_min_us: (!self.gaps.is_empty()).then_some(self.shortest_gap_us),
            retries: self.retries,
            cancelled: self.cancelled,
        }
    }
}

fn micros(times: &Histogram<u64>, quantile: f64) -> Option<u64> {
    let time = histogram::quantile(times, quantile)?;
    u64::try_from(time.as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Timestamp;

    fn call(second: i64, duration_us: u64) -> Row {
        let ts = Timestamp(second * 1_000_000);
        Row { ts, duration_us, tool: Some("echo".into()), success: true, ..Row::default() }
    }

    #[test]
    fn calls_are_summed_up_by_tool() {
        let mut stats = Stats::default();
        for second in 0..100 {
            stats.add(&call(second, 1_000 * (second.cast_unsigned() + 1)));
        }
        // The same call again is a retry only after one that failed.
        stats.add(&Row { success: false, attempt: 2, cancelled: true, ..call(99, 500) });
        stats.add(&Row { attempt: 3, ..call(99, 500) });
        stats.add(&Row { attempt: 4, ..call(99, 500) });
        stats.add(&Row { method: Some("ping".into()), success: true, ..Row::default() });
        let summary = stats.summary();
        assert_eq!(summary.rows, 104);
        let [echo, ping] = &summary.names[..] else { panic!("{summary:?}") };
        assert_eq!((echo.count, echo.errors, echo.retries, echo.cancelled), (103, 1, 1, 1));
        assert!(echo.p50_us.abs_diff(50_000) <= 1_100, "{echo:?}");
        assert!(echo.p90_us.abs_diff(90_000) <= 1_100, "{echo:?}");
        assert_eq!((echo.max_us, echo.gap_min_us), (100_000, Some(0)));
        assert!(echo.gap_p50_us.unwrap().abs_diff(1_000_000) <= 1_000, "{echo:?}");
        assert_eq!((ping.name.as_str(), ping.gap_p50_us, ping.gap_min_us), ("ping", None, None));
    }

    #[test]
    fn names_that_clients_make_up_cost_no_memory_without_end() {
        let mut stats = Stats::default();
        for number in 0..1_000 {
            stats.add(&Row { tool: Some(format!("tool {number}").into()), ..Row::default() });
        }
        let summary = stats.summary();
        assert_eq!(summary.names.len(), NAMES + 1);
        let others = summary.names.iter().find(|name| name.name == OTHERS).unwrap();
        assert_eq!(others.count, 800);
    }
}
