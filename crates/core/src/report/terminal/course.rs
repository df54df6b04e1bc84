//! Small plots of one line: how rate, latency and failures went over the run.

use super::Signs;
use crate::report::{Report, Window};

/// Fewer windows than this have no course.
const FEWEST: usize = 5;
/// Columns of all plots of a line together.
const ROOM: usize = 45;

/// `calls/s ▇▇▆▇, p99 ▁▁▃▁, failed ▁▁█▁`; nothing for a run that is too short.
pub(super) fn course(report: &Report, signs: Signs) -> Option<String> {
    // The load begins and ends within the outer windows.
    let windows = report.windows.get(..report.windows.len().checked_sub(1)?)?;
    if windows.len() < FEWEST {
        return None;
    }
    let failed = report.errors.total > 0;
    let columns = ROOM / if failed { 3 } else { 2 };
    let plot = |name: &str, figure: fn(&Window) -> Option<f64>| {
        let values: Vec<_> = windows.iter().map(figure).collect();
        format!("{name} {}", signs.plot(&values, columns))
    };
    let mut plots = vec![plot("calls/s", rate), plot("p99", p99)];
    if failed {
        plots.push(plot("failed", |window| Some(window.errors as f64)));
    }
    Some(plots.join(", "))
}

/// The course of p99 in a few columns; blank for what is too short.
pub(super) fn course_of(windows: &[Window], columns: usize, signs: Signs) -> String {
    if windows.len() < FEWEST {
        return String::new();
    }
    signs.plot(&windows.iter().map(p99).collect::<Vec<_>>(), columns)
}

fn rate(window: &Window) -> Option<f64> {
    Some(window.ok.saturating_add(window.errors) as f64 / window.secs.max(1) as f64)
}

fn p99(window: &Window) -> Option<f64> {
    window.response_ns.quantile(0.99).map(|time| time.as_secs_f64())
}

impl Signs {
    /// One sign for each part of the values, by the highest of them. The lowest sign is for nothing
    /// alone, so that a little is told apart from it.
    fn plot(self, values: &[Option<f64>], columns: usize) -> String {
        let signs = match self {
            Self::Ascii => ['_', '.', '-', '=', '+', '*', '%', '#'],
            Self::Blocks => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        };
        let highest = values.iter().flatten().copied().fold(0.0, f64::max);
        let size = values.len().div_ceil(columns.max(1)).max(1);
        let sign = |part: &[Option<f64>]| {
            let value = part.iter().flatten().copied().fold(0.0, f64::max);
            let place = if value > 0.0 { (value / highest * 7.0).ceil() as usize } else { 0 };
            signs[place.min(7)]
        };
        values.chunks(size).map(sign).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{healthy, windows};

    #[test]
    fn a_course_has_five_windows_and_fills_its_room() {
        let of = |seconds: usize, errors: u64| {
            let mut report = healthy();
            report.windows = windows(&vec![(9, 0, 5); seconds]);
            report.errors.total = errors;
            course(&report, Signs::Ascii)
        };
        let flat = |columns: usize| "#".repeat(columns);
        assert_eq!([of(0, 0), of(5, 0)], [None, None], "the last window is broken off");
        assert_eq!(of(6, 0), Some(format!("calls/s {0}, p99 {0}", flat(5))));
        assert_eq!(
            of(61, 0),
            Some(format!("calls/s {0}, p99 {0}", flat(20))),
            "22 columns at most"
        );
        let failed = format!("calls/s {0}, p99 {0}, failed {1}", flat(15), "_".repeat(15));
        assert_eq!(of(61, 1), Some(failed));
        let tool = windows(&[(9, 0, 5); 5]);
        assert_eq!(course_of(&tool, 8, Signs::Ascii), flat(5));
        assert_eq!(course_of(&tool[..4], 8, Signs::Ascii), "");
        assert_eq!(rate(&Window { secs: 2, ..windows(&[(6, 1, 5)]).remove(0) }), Some(3.5));
    }

    #[test]
    fn a_peak_is_seen_however_little_room_there_is() {
        let mut values = vec![Some(1.0); 40];
        values[33] = Some(8.0);
        values[0] = None;
        assert_eq!(Signs::Blocks.plot(&values, 10), "▂▂▂▂▂▂▂▂█▂");
        assert_eq!(Signs::Ascii.plot(&values[..4], 4), "_###");
        assert_eq!(Signs::Ascii.plot(&[Some(0.0), None], 10), "__");
        assert_eq!(Signs::Ascii.plot(&[], 10), "");
    }
}
