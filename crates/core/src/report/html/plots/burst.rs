//! Calls that were released together, each a bar from when it was sent to its answer: a staircase where
//! they run one after another, a wall where they run at the same time.

use std::fmt::Write as _;

use crate::{
    outcome::ErrorCategory,
    report::{
        Report,
        figures::counted,
        html::{
            figure::{Figure, Picture},
            scale::{Scale, millis},
            table::Table,
        },
    },
    tally::Lane,
    units::format_latency,
};

const WIDTH: f64 = 480.0;
const LEFT: f64 = 30.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 24.0;
const ROW: f64 = 9.0;
/// Fewer calls have no pattern.
const SEVERAL: usize = 4;

pub(super) fn make(report: &Report) -> Option<Figure> {
    let lanes = report.burst.as_slice();
    if lanes.len() < 2 {
        return None;
    }
    let rows = lanes.iter().enumerate().map(|(at, lane)| {
        vec![(at + 1).to_string(), format_latency(took(lane)), word(lane).to_owned()]
    });
    Some(Figure {
        reading: reading(lanes, report.scenario_kind.concurrent()),
        picture: Picture::Still(svg(lanes)),
        table: Table::new(&["Call", "Took", "Ended"], rows),
    })
}

fn took(lane: &Lane) -> std::time::Duration {
    lane.to.saturating_sub(lane.from)
}

fn was_answered(lane: &Lane) -> bool {
    lane.failed.is_none_or(ErrorCategory::was_answered)
}

fn word(lane: &Lane) -> &'static str {
    lane.failed.map_or("ok", ErrorCategory::name)
}

fn reading(lanes: &[Lane], released: u32) -> String {
    let answered: Vec<f64> = lanes
        .iter()
        .filter(|lane| was_answered(lane))
        .map(|lane| took(lane).as_secs_f64())
        .collect();
    let silent = lanes.len() - answered.len();
    let shown = match u64::from(released) {
        all if all > lanes.len() as u64 => {
            format!("{} of the {all} calls that were released together are shown", lanes.len())
        }
        _ => format!("{} were released together", counted(lanes.len() as u64, "call")),
    };
    if answered.is_empty() {
        return format!("{shown}: none was ever answered.");
    }
    let shortest = answered.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = answered.iter().copied().fold(0.0, f64::max);
    let told = match answered.len() {
        SEVERAL.. => pattern(shortest, longest, answered.len()),
        _ => "too few were answered to tell whether they ran one after another".to_owned(),
    };
    let hung = match silent {
        0 => String::new(),
        1 => "; 1 was never answered".into(),
        several => format!("; {several} were never answered"),
    };
    format!("{shown}: {told}{hung}.")
}

/// What the times of the first and the last answer say of those between them.
fn pattern(first: f64, last: f64, count: usize) -> String {
    let ms = |secs: f64| millis(secs * 1e3);
    let (soonest, latest) = (ms(first), ms(last));
    if last <= first * 2.0 {
        format!(
            "all were answered within {latest}, the first after {soonest}, so they ran at the same time"
        )
    } else if last >= first * count as f64 * 0.5 {
        format!(
            "the first was answered after {soonest}, the last after {latest}, so they ran one after another"
        )
    } else {
        format!(
            "the first was answered after {soonest}, the last after {latest}: some waited for others"
        )
    }
}

fn svg(lanes: &[Lane]) -> String {
    let begin = lanes.iter().map(|lane| lane.from).min().unwrap_or_default();
    let since = |at: std::time::Duration| at.saturating_sub(begin).as_secs_f64() * 1e3;
    let scale = Scale::linear(lanes.iter().map(|lane| since(lane.to)).fold(0.0, f64::max));
    let place = |ms: f64| LEFT + scale.place(ms) * (WIDTH - LEFT - RIGHT);
    let height = TOP + ROW * lanes.len() as f64 + 6.0;
    let mut body = String::new();
    for tick in scale.ticks() {
        let x = place(tick);
        let _ = write!(
            body,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}L{x:.1} {height}\"/><text x=\"{x:.1}\" y=\"16\" text-anchor=\"middle\">{}</text>",
            if tick > 0.0 { millis(tick) } else { "0".into() }
        );
    }
    for (at, lane) in lanes.iter().enumerate() {
        let (y, x) = (TOP + ROW * at as f64 + 1.0, place(since(lane.from)));
        let width = (place(since(lane.to)) - x).max(1.0);
        // An open bar has no end for those who do not tell the colours apart, either.
        let look = match lane.failed {
            None => "bar c0",
            Some(_) if was_answered(lane) => "bar c3",
            Some(_) => "bar open c1",
        };
        let _ = write!(
            body,
            "<rect class=\"{look}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"7\"/>"
        );
    }
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" aria-hidden=\"true\" focusable=\"false\">{body}</svg>\
         <p class=\"keys\"><span class=\"key c0\">ok</span><span class=\"key c3\">answered late or with an error</span>\
         <span class=\"key open c1\">never answered</span></p>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn lanes(took: &[(u64, Option<ErrorCategory>)]) -> Vec<Lane> {
        let lane = |(ms, failed): &(u64, Option<ErrorCategory>)| Lane {
            from: Duration::ZERO,
            to: Duration::from_millis(*ms),
            failed: *failed,
        };
        took.iter().map(lane).collect()
    }

    #[test]
    fn two_calls_are_a_burst_and_each_has_its_row() {
        let mut report = crate::report::fixture::healthy();
        report.burst = lanes(&[(100, None)]);
        assert!(make(&report).is_none());
        report.burst.extend(lanes(&[(250, Some(ErrorCategory::ToolError))]));
        let figure = make(&report).expect("two calls");
        let rows = [["1", "100.0ms", "ok"], ["2", "250.0ms", "ToolError"]];
        assert_eq!(figure.table.rows, rows);
    }

    #[test]
    fn the_first_and_the_last_answer_tell_the_pattern() {
        let several = Some(ErrorCategory::Deadlock);
        let silent = lanes(&[(100, None), (9_000, several), (9_000, several)]);
        let told = reading(&silent, 3);
        assert!(told.ends_with("one after another; 2 were never answered."), "{told}");
        for (name, last, count, expected) in [
            (
                "twice as long",
                0.2,
                10,
                "all were answered within 200ms, the first after 100ms, so they ran at the same time",
            ),
            (
                "more than twice",
                0.201,
                10,
                "the first was answered after 100ms, the last after 201ms: some waited for others",
            ),
            (
                "half of all turns",
                0.5,
                10,
                "the first was answered after 100ms, the last after 500ms, so they ran one after another",
            ),
            (
                "less than half of them",
                0.5,
                11,
                "the first was answered after 100ms, the last after 500ms: some waited for others",
            ),
        ] {
            assert_eq!(pattern(0.1, last, count), expected, "{name}");
        }
    }

    #[test]
    fn a_staircase_a_wall_and_open_ends_are_told_apart() {
        let ok = |ms: &[u64]| lanes(&ms.iter().map(|ms| (*ms, None)).collect::<Vec<_>>());
        let stairs = reading(&ok(&[100, 200, 300, 400, 500]), 5);
        assert!(stairs.ends_with("so they ran one after another."), "{stairs}");
        let wall = reading(&ok(&[100, 110, 120, 130]), 4);
        assert!(wall.ends_with("so they ran at the same time."), "{wall}");
        let mixed = reading(&ok(&[100, 100, 100, 100, 100, 100, 100, 100, 100, 250]), 10);
        assert!(mixed.contains("some waited"), "{mixed}");
        let none = reading(&lanes(&[(9_000, Some(ErrorCategory::Deadlock)); 5]), 5);
        assert_eq!(none, "5 calls were released together: none was ever answered.");
        let hung = lanes(&[(100, None), (9_000, Some(ErrorCategory::Deadlock))]);
        let told = reading(&hung, 30);
        assert!(
            told.starts_with("2 of the 30 calls") && told.ends_with("1 was never answered."),
            "{told}"
        );
    }
}
