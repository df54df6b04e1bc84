//! What a burst or a fault does to the calls around it, and how long it is felt.

use crate::{
    report::{
        Report, Window,
        felt::{self, NOTICEABLE_MS, SLOWER},
        html::{
            course::{self, ended, quantiles, rate, times},
            figure::{Figure, Picture},
            scale::millis,
            span::{Mark, Span},
            time::{Series, Shape, Thin, TimeChart, Unit},
        },
    },
    scenario::ScenarioKind,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let windows = course::windows(report)?;
    let burst = burst(report);
    // One of them; the table of faults has all.
    let fault = felt::telling(report).into_iter().next();
    if burst.is_none() && fault.is_none() {
        return None;
    }
    let line = |name, unit, colour, thin, values| Series { name, unit, colour, thin, values };
    let failed = |window: &Window| {
        (ended(window) > 0).then(|| window.errors as f64 * 100.0 / ended(window) as f64)
    };
    let medians = quantiles(windows, 0.5);
    let burst = burst.map(|burst| reading(windows, &medians, &burst));
    let fault = fault.map(|fault| felt::sentence(report, fault));
    let reading: Vec<String> = burst.into_iter().chain(fault).collect();
    let chart = TimeChart {
        at: times(windows),
        series: vec![
            line("p50", Unit::Millis, 3, Thin::Highest, medians),
            line(
                "answered",
                Unit::PerSecond,
                0,
                Thin::Mean,
                course::but_for_the_last(windows, rate),
            ),
            line("failed", Unit::Percent, 1, Thin::Highest, windows.iter().map(failed).collect()),
        ],
        limits: Vec::new(),
        spans: course::spans(report),
        shape: Shape::Lines,
    };
    let (reading, table) = (reading.join(" "), chart.table());
    Some(Figure { reading, table, picture: Picture::Time(chart) })
}

/// The second of the three steps of a spike.
fn burst(report: &Report) -> Option<Span> {
    let ScenarioKind::Spike(_) = report.scenario_kind else { return None };
    let mut steps = course::spans(report).into_iter().filter(|span| span.mark == Mark::Step);
    steps.nth(1)
}

fn reading(windows: &[Window], medians: &[Option<f64>], burst: &Span) -> String {
    let at = |number: usize| windows[number].from_secs as f64;
    let end = |number: usize| at(number) + windows[number].secs as f64;
    let known = || medians.iter().enumerate().filter_map(|(number, ms)| Some((number, (*ms)?)));
    let before: Vec<f64> =
        known().filter(|(number, _)| end(*number) <= burst.from).map(|(_, ms)| ms).collect();
    let last = windows.len().saturating_sub(1);
    let after: Vec<(usize, f64)> =
        known().filter(|(number, _)| at(*number) >= burst.to && *number < last).collect();
    let (Some(usual), false) = (crate::stats::order::median(before), after.is_empty()) else {
        return "Too little lies before or after the burst to tell how long it was felt.".into();
    };
    let within = |ms: f64| ms <= (usual * SLOWER).max(usual + NOTICEABLE_MS);
    let told = format!("The median was {} before the burst", millis(usual));
    match after.iter().rposition(|(_, ms)| !within(*ms)) {
        None => format!("{told}, and was so again as soon as the burst had ended."),
        Some(slow) if slow + 1 == after.len() => {
            format!("{told} and is {} at the end: it did not recover.", millis(after[slow].1))
        }
        Some(slow) => format!(
            "{told}; it had recovered {:.0} s after the end of the burst.",
            (end(after[slow].0) - burst.to).max(0.0)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(medians: &[f64]) -> String {
        let window = |at: usize| Window {
            from_secs: at as u64,
            secs: 1,
            ok: 10,
            errors: 0,
            response_ns: Default::default(),
        };
        let windows: Vec<_> = (0..medians.len()).map(window).collect();
        let burst = Span { from: 3.0, to: 5.0, name: String::new(), mark: Mark::Step };
        reading(&windows, &medians.iter().map(|ms| Some(*ms)).collect::<Vec<_>>(), &burst)
    }

    #[test]
    fn recovery_is_told_with_its_time_or_as_none() {
        let soon = told(&[5.0, 5.0, 5.0, 90.0, 90.0, 6.0, 5.0, 5.0]);
        assert!(soon.contains("as soon as the burst had ended"), "{soon}");
        let late = told(&[5.0, 5.0, 5.0, 90.0, 90.0, 80.0, 40.0, 5.0, 5.0]);
        assert!(late.ends_with("it had recovered 2 s after the end of the burst."), "{late}");
        let never = told(&[5.0, 5.0, 5.0, 90.0, 90.0, 80.0, 80.0, 80.0]);
        assert!(never.ends_with("is 80ms at the end: it did not recover."), "{never}");
        assert!(told(&[5.0, 5.0]).starts_with("Too little"));
    }

    #[test]
    fn a_median_is_usual_up_to_its_double_or_ten_milliseconds_more() {
        for (name, usual, after, recovered) in [
            ("ten more", 5.0, 15.0, true),
            ("above ten more", 5.0, 15.1, false),
            ("twice", 20.0, 40.0, true),
            ("above twice", 20.0, 40.1, false),
        ] {
            let told = told(&[usual, usual, usual, 90.0, 90.0, after, after, after]);
            assert_eq!(
                told.contains("as soon as the burst had ended"),
                recovered,
                "{name}: {told}"
            );
        }
        let told = told(&[5.0, 5.0, 5.0, 90.0, 90.0, 5.0, 5.0, 90.0]);
        assert!(told.contains("as soon as"), "the last window is broken off: {told}");
    }
}
