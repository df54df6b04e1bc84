//! When faults were at work: calls that they hit, merged into windows.
//!
//! A log tells single hits. Two of them belong to one window when no more lies between them than usually
//! does between hits of this fault: four times the median, and two seconds at least.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::order::median;

/// Hits that are no further apart are of one window, however few there are.
const CLOSE: Duration = Duration::from_secs(2);
/// How many times the usual distance is still no gap …
const USUAL_TIMES: f64 = 4.0;
/// … where so many distances tell what is usual.
const ENOUGH: usize = 5;
/// Windows of one fault; more would be a texture and no picture.
const MOST_WINDOWS: usize = 60;
/// Faults that are told apart; a log that has more of them was not written by hand.
const MOST_FAULTS: usize = 20;
const OTHERS: &str = "other faults";
/// Hits that are so close are kept as one: the share of the run, and a tenth of a second at least.
const FINEST: Duration = Duration::from_millis(100);
const FINEST_SHARE: u32 = 5_000;

/// A time in which a fault was at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultWindow {
    /// The name of the fault, or else its text.
    pub name: String,
    /// When the first call that it hit arrived, in seconds since the start of the run.
    #[serde(with = "crate::event::as_secs")]
    #[schemars(with = "f64")]
    pub from: Duration,
    /// When it was done with the last one, in seconds.
    #[serde(with = "crate::event::as_secs")]
    #[schemars(with = "f64")]
    pub to: Duration,
    /// How many calls it hit.
    pub calls: u64,
}

/// Hits of faults, in the order of arrival. However many there are, they take little room.
#[derive(Debug)]
pub struct Hits {
    length: Duration,
    faults: Vec<Hit>,
}

#[derive(Debug)]
struct Hit {
    name: String,
    spans: Vec<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    from: Duration,
    to: Duration,
    calls: u64,
}

impl Hits {
    /// Those of a run of this length.
    pub const fn new(length: Duration) -> Self {
        Self { length, faults: Vec::new() }
    }

    /// A call that a fault hit: when it arrived, and for how long it was there.
    pub fn add(&mut self, name: &str, from: Duration, took: Duration) {
        let from = from.min(self.length);
        let hit = Span { from, to: from.saturating_add(took).min(self.length), calls: 1 };
        let finest = (self.length / FINEST_SHARE).max(FINEST);
        let spans = self.spans_of(name);
        match spans.last_mut().filter(|last| hit.from <= last.to.saturating_add(finest)) {
            Some(last) => *last = last.with(&hit),
            None => spans.push(hit),
        }
    }

    fn spans_of(&mut self, name: &str) -> &mut Vec<Span> {
        let place = |faults: &[Hit], name: &str| faults.iter().position(|fault| fault.name == name);
        let name = match place(&self.faults, name) {
            None if self.faults.len() >= MOST_FAULTS => OTHERS,
            _ => name,
        };
        let at = place(&self.faults, name).unwrap_or_else(|| {
            self.faults.push(Hit { name: name.to_owned(), spans: Vec::new() });
            self.faults.len() - 1
        });
        &mut self.faults[at].spans
    }

    /// The windows of all faults, by when they begin.
    pub fn windows(&self) -> Vec<FaultWindow> {
        let of = |fault: &Hit| {
            let name = fault.name.clone();
            let window = move |span: Span| FaultWindow {
                name: name.clone(),
                from: span.from,
                to: span.to,
                calls: span.calls,
            };
            few(&fault.spans).into_iter().map(window).collect::<Vec<_>>()
        };
        let mut windows: Vec<FaultWindow> = self.faults.iter().flat_map(of).collect();
        windows.sort_by(|one, other| (one.from, &one.name).cmp(&(other.from, &other.name)));
        windows
    }
}

impl Span {
    fn with(&self, other: &Self) -> Self {
        Self {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
            calls: self.calls.saturating_add(other.calls),
        }
    }
}

/// The windows, with gaps as wide as it takes to have few of them.
fn few(spans: &[Span]) -> Vec<Span> {
    let mut gap = usual_gap(spans);
    loop {
        let windows = merged(spans, gap);
        if windows.len() <= MOST_WINDOWS {
            return windows;
        }
        gap = gap.saturating_mul(2);
    }
}

fn usual_gap(spans: &[Span]) -> Duration {
    let gaps = spans.windows(2).map(|pair| pair[1].from.saturating_sub(pair[0].to).as_secs_f64());
    let usual = median(gaps).filter(|_| spans.len() > ENOUGH).unwrap_or(0.0);
    CLOSE.max(Duration::try_from_secs_f64(usual * USUAL_TIMES).unwrap_or(CLOSE))
}

fn merged(spans: &[Span], gap: Duration) -> Vec<Span> {
    let mut windows: Vec<Span> = Vec::new();
    for span in spans {
        match windows.last_mut().filter(|last| span.from <= last.to.saturating_add(gap)) {
            Some(last) => *last = last.with(span),
            None => windows.push(*span),
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(hits: &[(&str, u64, u64)]) -> Vec<(String, u64, u64, u64)> {
        let mut all = Hits::new(Duration::from_secs(600));
        for (name, from, took) in hits {
            all.add(name, Duration::from_millis(*from), Duration::from_millis(*took));
        }
        let told = |window: FaultWindow| {
            let at = |time: Duration| u64::try_from(time.as_millis()).unwrap();
            (window.name, at(window.from), at(window.to), window.calls)
        };
        all.windows().into_iter().map(told).collect()
    }

    #[test]
    fn close_hits_are_one_window_and_silence_ends_it() {
        let hits: Vec<_> = (0..60).map(|at| ("slow", 12_000 + at * 100, 40)).collect();
        assert_eq!(windows(&hits), [("slow".into(), 12_000, 17_940, 60)]);
        let again: Vec<_> = (0..30).map(|at| ("slow", 40_000 + at * 100, 40)).collect();
        let told = windows(&[hits, again].concat());
        assert_eq!(told.iter().map(|window| window.3).collect::<Vec<_>>(), [60, 30]);
        assert_eq!(told[1].1, 40_000);
    }

    #[test]
    fn a_rare_fault_is_at_work_between_its_hits_but_two_hits_say_nothing_of_between() {
        let rare: Vec<_> = (0..20).map(|at| ("rare", at * 9_000, 0)).collect();
        assert_eq!(windows(&rare), [("rare".into(), 0, 171_000, 20)]);
        let two = windows(&[("x", 1_000, 0), ("x", 30_000, 0)]);
        assert_eq!(two, [("x".into(), 1_000, 1_000, 1), ("x".into(), 30_000, 30_000, 1)]);
    }

    #[test]
    fn faults_are_told_apart_and_a_wild_log_stays_small() {
        let told = windows(&[("b", 5_000, 1_000), ("a", 5_000, 9_000_000), ("a", 4_990, 0)]);
        assert_eq!(told, [("a".into(), 4_990, 600_000, 2), ("b".into(), 5_000, 6_000, 1)]);
        let names: Vec<String> = (0..1_000).map(|at| format!("f{at}")).collect();
        let many: Vec<_> =
            names.iter().zip(0..).map(|(name, at)| (name.as_str(), at * 500, 0)).collect();
        let told = windows(&many);
        let mut distinct: Vec<&str> = told.iter().map(|window| window.0.as_str()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), MOST_FAULTS + 1);
        assert_eq!(told.iter().map(|window| window.3).sum::<u64>(), 1_000, "none is lost");
        // Bursts that are too far apart for one window, and too many for a picture.
        let bursts: Vec<_> = (0..300).map(|at| ("s", at / 3 * 6_000 + at % 3 * 500, 0)).collect();
        let told = windows(&bursts);
        assert!(told.len() <= MOST_WINDOWS, "{}", told.len());
        assert_eq!(told.iter().map(|window| window.3).sum::<u64>(), 300);
    }

    #[test]
    fn what_is_usual_needs_five_distances() {
        for (hits, windows_told) in [(5, 5), (6, 1)] {
            let far: Vec<_> = (0..hits).map(|at| ("x", at * 9_000, 0)).collect();
            assert_eq!(windows(&far).len(), windows_told, "{hits} hits");
        }
    }

    #[test]
    fn a_gap_is_more_than_four_times_what_is_usual_and_more_than_two_seconds() {
        let begun_at = |hits: &[u64]| -> Vec<u64> {
            let hits: Vec<_> = hits.iter().map(|at| ("x", at * 1_000, 0)).collect();
            windows(&hits).into_iter().map(|window| window.1 / 1_000).collect()
        };
        // The median is ten seconds.
        assert_eq!(begun_at(&[0, 10, 20, 30, 40, 50, 60, 100, 141]), [0, 141]);
        assert_eq!(begun_at(&[0, 2, 5]), [0, 5], "too few to say what is usual");
    }

    #[test]
    fn a_hit_beyond_the_end_belongs_to_the_end() {
        let told = windows(&[("x", 700_000, 5), ("x", 600_000, 0)]);
        assert_eq!(told, [("x".into(), 600_000, 600_000, 2)]);
    }
}
