//! How many calls were under way.
//!
//! The mean over a window is the rate of answers times their mean response time (Little's law): it
//! needs no counter on the hot path, and counts a call in the window in which it ended.

use crate::{
    report::{
        Report, Window,
        figures::counted,
        html::{
            course::{self, times, whole_windows},
            figure::{Figure, Picture},
            scale::short,
            time::{Series, Shape, Thin, TimeChart, Unit},
        },
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let windows = course::windows(report)?;
    let chart = TimeChart {
        at: times(windows),
        series: vec![Series {
            name: "in flight",
            unit: Unit::Count,
            colour: 0,
            thin: Thin::Highest,
            values: course::but_for_the_last(windows, in_flight),
        }],
        limits: Vec::new(),
        spans: course::spans(report),
        shape: Shape::Lines,
    };
    Some(Figure { reading: reading(report), table: chart.table(), picture: Picture::Time(chart) })
}

fn in_flight(window: &Window) -> f64 {
    let nanos = window
        .response_ns
        .0
        .iter()
        .fold(0.0, |sum, (nanos, count)| sum + *nanos as f64 * *count as f64);
    nanos / 1e9 / window.secs.max(1) as f64
}

fn reading(report: &Report) -> String {
    let flying: Vec<f64> = whole_windows(report).iter().map(in_flight).collect();
    let count = flying.len();
    if count == 0 {
        return "The run is too short to tell how many calls were in flight.".into();
    }
    let mean = flying.iter().fold(0.0, |sum, calls| sum + calls) / count as f64;
    let most = flying.iter().copied().fold(0.0, f64::max);
    let lag = &report.validity.lag;
    let late = match lag.count {
        0 => String::new(),
        _ => format!(" Calls were sent {} after they were due at p99.", format_latency(lag.p99)),
    };
    format!(
        "{} calls were in flight on average and {} in the fullest of {}; rate times mean response time.{late}",
        short(mean),
        short(most),
        counted(count as u64, "window"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{healthy, windows};

    #[test]
    fn calls_in_flight_are_their_rate_times_their_time() {
        let window = |secs| Window { secs, ..windows(&[(9, 1, 400)]).remove(0) };
        for (secs, expected) in [(1, 4.0), (2, 2.0), (0, 4.0)] {
            assert_eq!(in_flight(&window(secs)), expected, "{secs} s");
        }
        let mut report = healthy();
        report.windows = windows(&[(9, 1, 9), (10, 0, 100), (20, 0, 400), (9, 0, 9)]);
        assert_eq!(
            reading(&report),
            "4.5 calls were in flight on average and 8 in the fullest of 2 windows; rate times mean response time."
        );
        (report.validity.lag.count, report.validity.lag.p99) =
            (10, std::time::Duration::from_millis(3));
        let told = reading(&report);
        assert!(
            told.ends_with("time. Calls were sent 3.00ms after they were due at p99."),
            "{told}"
        );
        report.windows.truncate(2);
        assert_eq!(reading(&report), "The run is too short to tell how many calls were in flight.");
    }
}
