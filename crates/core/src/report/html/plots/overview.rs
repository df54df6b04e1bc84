//! Calls a second, p99 and the share of failures, all in one.

use crate::report::{
    Report, Window,
    figures::counted,
    html::{
        course::{self, asked, ended, quantiles, rate, times, whole_windows},
        figure::{Figure, Picture},
        scale::{clock, short},
        time::{Series, Shape, Thin, TimeChart, Unit},
    },
};

/// Below this share of what is asked for, answers no longer follow.
const FOLLOWS: f64 = 0.98;
/// For so many windows in a row, so that one pause is not told as the end.
const IN_A_ROW: usize = 3;

pub(super) fn make(report: &Report) -> Option<Figure> {
    let windows = course::windows(report)?;
    let line = |name, unit, colour, thin, values| Series { name, unit, colour, thin, values };
    let mut series = vec![line(
        "answered",
        Unit::PerSecond,
        0,
        Thin::Mean,
        course::but_for_the_last(windows, rate),
    )];
    if let Some(asked) = asked(report, windows) {
        series.push(line("asked", Unit::PerSecond, 4, Thin::Mean, asked));
    }
    series.push(line("p99", Unit::Millis, 3, Thin::Highest, quantiles(windows, 0.99)));
    let failed = |window: &Window| {
        (ended(window) > 0).then(|| window.errors as f64 * 100.0 / ended(window) as f64)
    };
    series.push(line(
        "failed",
        Unit::Percent,
        1,
        Thin::Highest,
        windows.iter().map(failed).collect(),
    ));
    let minimum = report.thresholds.min_rps;
    let limits = if minimum > 0.0 { vec![(minimum, "least calls/s".into())] } else { Vec::new() };
    let chart = TimeChart {
        at: times(windows),
        series,
        limits,
        spans: course::spans(report),
        shape: Shape::Lines,
    };
    Some(Figure { reading: reading(report), table: chart.table(), picture: Picture::Time(chart) })
}

fn reading(report: &Report) -> String {
    let whole = whole_windows(report);
    let Some(secs) = whole.first().map(|window| window.secs) else {
        return "The run is too short to tell how its rate changed.".into();
    };
    let covered = format!("{} of {secs} s", counted(whole.len() as u64, "window"));
    let rates: Vec<f64> = whole.iter().map(rate).collect();
    let mean = rates.iter().fold(0.0, |sum, rate| sum + rate) / rates.len() as f64;
    let Some(asked) = asked(report, &whole) else {
        let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let high = rates.iter().copied().fold(0.0, f64::max);
        return format!(
            "{} calls a second were answered on average, at least {} and at most {} ({covered}).",
            short(mean),
            short(low),
            short(high)
        );
    };
    match stopped_following(&rates, &asked) {
        Some(at) => format!(
            "Answers stopped following what was asked for at {}: {} of {} calls a second ({covered}).",
            clock(whole[at].from_secs as f64),
            short(rates[at]),
            short(asked[at].unwrap_or(0.0)),
        ),
        None => format!(
            "Answers followed what was asked for all the time: {} calls a second on average ({covered}).",
            short(mean)
        ),
    }
}

/// The first of several windows in a row with fewer answers than asked for.
fn stopped_following(rates: &[f64], asked: &[Option<f64>]) -> Option<usize> {
    let behind: Vec<bool> = rates
        .iter()
        .zip(asked)
        .map(|(rate, asked)| asked.is_some_and(|asked| *rate < asked * FOLLOWS))
        .collect();
    behind.windows(IN_A_ROW).position(|row| row.iter().all(|behind| *behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::fixture::{Run, healthy, windows},
        scenario::Scenario,
    };

    fn seconds(report: Report, rates: &[u64]) -> Report {
        let calls: Vec<_> = rates.iter().map(|rate| (*rate, 0, 5)).collect();
        Report { windows: windows(&calls), ..report }
    }

    #[test]
    fn the_least_rate_is_drawn_where_it_is_a_limit() {
        let mut report = healthy();
        report.thresholds.min_rps = 40.0;
        let figure = make(&report).expect("some seconds");
        let Picture::Time(chart) = figure.picture else { panic!("no plot over time") };
        assert_eq!(chart.limits, [(40.0, "least calls/s".to_owned())]);
    }

    #[test]
    fn a_rate_is_told_by_its_mean_or_by_what_was_asked_for() {
        let open = || Run::of(Scenario::sustained().rate(100.0)).report();
        for (report, expected) in [
            (seconds(healthy(), &[9, 9]), "The run is too short to tell how its rate changed."),
            (
                seconds(healthy(), &[9, 20, 30, 70, 9]),
                "40 calls a second were answered on average, at least 20 and at most 70 (3 windows of 1 s).",
            ),
            (
                seconds(open(), &[9, 99, 101, 100, 9]),
                "Answers followed what was asked for all the time: 100 calls a second on average (3 windows of 1 s).",
            ),
            (
                seconds(open(), &[9, 99, 90, 80, 70, 9]),
                "Answers stopped following what was asked for at 2s: 90 of 100 calls a second (4 windows of 1 s).",
            ),
        ] {
            assert_eq!(reading(&report), expected);
        }
    }

    #[test]
    fn one_pause_is_not_the_end() {
        let asked = [Some(100.0); 6];
        assert_eq!(stopped_following(&[100.0, 50.0, 100.0, 99.0, 99.0, 99.0], &asked), None);
        assert_eq!(stopped_following(&[100.0, 99.0, 100.0, 97.0, 50.0, 40.0], &asked), Some(3));
        assert_eq!(stopped_following(&[98.0; 6], &asked), None, "as good as all");
        assert_eq!(stopped_following(&[97.9; 6], &asked), Some(0));
        assert_eq!(stopped_following(&[1.0; 6], &[None; 6]), None);
    }
}
