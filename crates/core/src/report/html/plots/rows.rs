//! One row for each of several names: shortest to longest as a line, p50 to p99 as a bar.

use std::{fmt::Write as _, time::Duration};

use crate::report::{
    LatencyStats,
    html::{
        escape::text,
        scale::{Scale, millis},
        table::Table,
    },
};
use crate::{report::figures::grouped, units::format_latency};

const WIDTH: f64 = 480.0;
const LEFT: f64 = 132.0;
const RIGHT: f64 = 24.0;
const ROW: f64 = 26.0;
const TOP: f64 = 26.0;
/// More rows are only in the table.
const MOST: usize = 40;
/// How much of a name fits beside its row.
const LONGEST_LABEL: usize = 20;

/// A name and its times.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) times: &'a LatencyStats,
    pub(super) failed: u64,
}

/// The picture. Rows without a call have only their name.
pub(super) fn svg(rows: &[Row<'_>]) -> String {
    let rows = &rows[..rows.len().min(MOST)];
    let measured = rows.iter().filter(|row| row.times.count > 0);
    let scale = Scale::log(measured.flat_map(|row| [row.times.min, row.times.max]).map(ms));
    let place = |time: Duration| LEFT + scale.place(ms(time)) * (WIDTH - LEFT - RIGHT);
    let height = TOP + ROW * rows.len() as f64 + 6.0;
    let mut body = String::new();
    for tick in scale.ticks() {
        let x = LEFT + scale.place(tick) * (WIDTH - LEFT - RIGHT);
        let _ = write!(
            body,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}L{x:.1} {height}\"/><text x=\"{x:.1}\" y=\"16\" text-anchor=\"middle\">{}</text>",
            millis(tick)
        );
    }
    for (at, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        let label = text(row.name, LONGEST_LABEL);
        let _ = write!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 8.0,
            y + 4.0
        );
        if row.times.count == 0 {
            continue;
        }
        let [least, half, most, last] =
            [row.times.min, row.times.p50, row.times.p99, row.times.max].map(place);
        let (top, width) = (y - 7.0, (most - half).max(2.0));
        let _ = write!(
            body,
            "<path class=\"axis\" d=\"M{least:.1} {y:.1}L{last:.1} {y:.1}\"/><rect class=\"bar c0\" x=\"{half:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"14\"/><path class=\"mark\" d=\"M{half:.1} {top:.1}v14\"/>",
        );
    }
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" aria-hidden=\"true\" focusable=\"false\">{body}</svg><p class=\"keys\"><span class=\"key c0\">p50 to p99</span><span class=\"key thin\">shortest to longest</span></p>"
    )
}

/// The same as numbers.
pub(super) fn table(first: &str, rows: &[Row<'_>]) -> Table {
    let row = |row: &Row<'_>| {
        let times = row.times;
        let told = [times.p50, times.p95, times.p99, times.max].map(|time| match times.count {
            0 => "-".into(),
            _ => format_latency(time),
        });
        [row.name.to_owned(), grouped(times.count), grouped(row.failed)]
            .into_iter()
            .chain(told)
            .collect()
    };
    Table::new(&[first, "Calls", "Failed", "p50", "p95", "p99", "max"], rows.iter().map(row))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram;

    #[test]
    fn a_row_without_a_call_has_only_its_name() {
        let mut times = histogram::new();
        histogram::record(&mut times, Duration::from_millis(5));
        let (some, none) = (LatencyStats::from_histogram(times), LatencyStats::default());
        let row = |name, times| Row { name, times, failed: 1_000 };
        let rows = [row("called", &some), row("<not>", &none)];
        let picture = svg(&rows);
        assert_eq!(picture.matches("<rect").count(), 1, "{picture}");
        assert!(picture.contains("text-anchor=\"end\">&lt;not&gt;</text></svg>"), "{picture}");
        let told = table("Tool", &rows).rows;
        assert_eq!(told[0][..4], ["called", "1", "1,000", "5.00ms"]);
        assert_eq!(told[1], ["<not>", "0", "1,000", "-", "-", "-", "-"]);
    }

    #[test]
    fn rows_beyond_the_fortieth_are_only_in_the_table() {
        let times = LatencyStats::default();
        let rows: Vec<_> = (0..41).map(|_| Row { name: "x", times: &times, failed: 0 }).collect();
        assert_eq!(svg(&rows).matches(">x</text>").count(), MOST);
        assert_eq!(table("Tool", &rows).rows.len(), 41);
    }
}
