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
