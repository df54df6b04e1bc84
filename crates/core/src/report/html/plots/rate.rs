//! Latency by how much was answered at the time: a wall on the right is saturation.

use crate::report::{
    Report, Window,
    html::{
        canvas::{Axis, Canvas, Drawn},
        course::{self, ended, whole_windows},
        figure::{Figure, Picture},
        scale::{Scale, millis, short},
        table::Table,
    },
};

/// Windows of which a third still says something.
const ENOUGH: usize = 9;
/// A rate that varies by less than this shows nothing of what load does.
const VARIES: f64 = 1.1;

pub(super) fn make(report: &Report) -> Option<Figure> {
    let mut points: Vec<(f64, f64)> = whole_windows(report).iter().filter_map(point).collect();
    if points.len() < ENOUGH {
        return None;
    }
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let third = points.len() / 3;
    let (quiet, busy) = (&points[..third], &points[points.len() - third..]);
    if busy[0].0 < quiet[third - 1].0 * VARIES {
        return None;
    }
    let highest = points.last().map_or(1.0, |(rate, _)| *rate);
    let x = Axis { scale: Scale::linear(highest), told: short, name: "calls/s answered" };
    let times = Scale::log(points.iter().map(|(_, time)| *time));
    let y = Axis { scale: times, told: millis, name: "p99 (log)" };
    let mut canvas = Canvas::new(300.0, x, y);
    points.iter().for_each(|(rate, time)| canvas.dot(*rate, *time, 0));
    let reading = format!(
        "In the busiest third of the windows (from {}/s) the median p99 was {}, in the quietest (up to {}/s) {}; {} windows.",
        short(busy[0].0),
        millis(middle(busy)),
        short(quiet[third - 1].0),
        millis(middle(quiet)),
        points.len()
    );
    let row = |name: &str, part: &[(f64, f64)]| {
        let (from, to) = (part[0].0, part[part.len() - 1].0);
        vec![name.to_owned(), part.len().to_string(), short(from), short(to), millis(middle(part))]
    };
    let between = &points[third..points.len() - third];
    let rows = [row("quietest third", quiet), row("between", between), row("busiest third", busy)];
    Some(Figure {
        reading,
        picture: Picture::Still(canvas.svg(Drawn::Areas, &[("one window", 0)])),
        table: Table::new(
            &["Windows", "How many", "From calls/s", "To calls/s", "Median p99"],
            rows,
        ),
    })
}

fn point(window: &Window) -> Option<(f64, f64)> {
    let time = window.response_ns.quantile(0.99)?.as_secs_f64() * 1e3;
    (ended(window) > 0).then(|| (course::rate(window), time))
}

fn middle(part: &[(f64, f64)]) -> f64 {
    let mut times: Vec<f64> = part.iter().map(|(_, time)| *time).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{healthy, windows};

    /// Whole windows of these rates, between the one in which the load begins and the one in which it ends.
    /// Each call takes a tenth of the rate in milliseconds.
    fn of(rates: &[u64]) -> Option<Figure> {
        let seconds: Vec<_> =
            [&[1][..], rates, &[1]].concat().iter().map(|n| (*n, 0, *n / 10)).collect();
        make(&Report { windows: windows(&seconds), ..healthy() })
    }

    #[test]
    fn the_busiest_third_is_told_beside_the_quietest() {
        let figure = of(&[70, 10, 100, 40, 90, 20, 60, 30, 80, 50]).expect("ten windows");
        assert_eq!(
            figure.reading,
            "In the busiest third of the windows (from 80/s) the median p99 was 9ms, in the quietest (up to 30/s) 2ms; 10 windows."
        );
        let rows = [
            ["quietest third", "3", "10", "30", "2ms"],
            ["between", "4", "40", "70", "6ms"],
            ["busiest third", "3", "80", "100", "9ms"],
        ];
        assert_eq!(figure.table.rows, rows);
        let Picture::Still(svg) = figure.picture else { panic!("no picture") };
        assert_eq!(svg.matches("<circle").count(), 10, "{svg}");
        assert!(svg.contains("one window"), "{svg}");
    }

    #[test]
    fn a_few_windows_or_an_even_rate_show_nothing() {
        for (name, rates, is_shown) in [
            ("nine windows", [[10; 3], [30; 3], [50; 3]].concat(), true),
            ("eight windows", [vec![10; 4], vec![50; 4]].concat(), false),
            ("a tenth more", [vec![10; 5], vec![11; 5]].concat(), true),
            ("the same", vec![10; 10], false),
            ("half a tenth more", [vec![20; 5], vec![21; 5]].concat(), false),
        ] {
            assert_eq!(of(&rates).is_some(), is_shown, "{name}");
        }
    }
}
