//! Throughput of each level of a ramp: where more load brings no more of it.

use crate::{
    pace::Level,
    report::{
        Report, SegmentStats,
        figures::{counted, percent},
        html::{
            canvas::{Axis, Canvas, Drawn},
            figure::{Figure, Picture},
            scale::{Scale, short},
            table::Table,
        },
    },
    stats::{
        knee::{ENOUGH, Point, breaking_point},
        usl::Usl,
    },
    units::format_latency,
};

/// The share of failures that is allowed where no limit was set.
const USUAL_ERRORS: f64 = 0.01;
const CURVE_STEPS: u32 = 60;
/// A peak so far out is none.
const FAR: f64 = 100_000.0;

pub(super) fn make(report: &Report) -> Option<Figure> {
    let points: Vec<Point> = report.segments.iter().filter_map(point).collect();
    if points.len() < ENOUGH {
        return None;
    }
    let allowed = report.thresholds.error_rate;
    let allowed = if allowed.is_finite() { allowed } else { USUAL_ERRORS };
    let found = breaking_point(&points, allowed);
    let most = |part: fn(&Point) -> f64| points.iter().map(part).fold(0.0, f64::max);
    let x = Axis { scale: Scale::linear(most(|point| point.load)), told: short, name: "load" };
    let y = Axis {
        scale: Scale::linear(most(|point| point.throughput)),
        told: short,
        name: "calls/s that ended well",
    };
    let mut canvas = Canvas::new(300.0, x, y);
    canvas.line(points.iter().map(|point| (point.load, Some(point.throughput))), 0);
    points.iter().for_each(|point| canvas.dot(point.load, point.throughput, 0));
    let curve = usl(report, &points);
    if let Some(curve) = curve {
        let last = points.last().map_or(1.0, |point| point.load);
        let at = |step: u32| 1.0 + (last - 1.0) * f64::from(step) / f64::from(CURVE_STEPS);
        canvas.line((0..=CURVE_STEPS).map(|step| (at(step), Some(curve.at(at(step))))), 3);
    }
    if let Some(capacity) = found.capacity {
        canvas.limit(capacity, "capacity");
    }
    let row = |point: &Point| {
        let [p50, p99] = [point.p50, point.p99].map(format_latency);
        vec![short(point.load), short(point.throughput), p50, p99, percent(point.error_rate)]
    };
    Some(Figure {
        reading: format!(
            "{} ({}).{}",
            found.reason.trim_end_matches('.'),
            counted(points.len() as u64, "step"),
            curve.map_or(String::new(), |curve| told(&curve))
        ),
        picture: Picture::Still(canvas.svg(
            Drawn::Lines,
            match curve {
                Some(_) => &[("one step of the load", 0), ("scalability law", 3)],
                None => &[("one step of the load", 0)],
            },
        )),
        table: Table::new(&["Load", "Calls/s", "p50", "p99", "Failed"], points.iter().map(row)),
    })
}

/// The law is about calls in flight, not about calls that are asked for.
fn usl(report: &Report, points: &[Point]) -> Option<Usl> {
    let in_flight = |step: &SegmentStats| matches!(step.load, Some(Level::Concurrent(_)));
    if !report.segments.iter().all(in_flight) {
        return None;
    }
    Usl::fit(&points.iter().map(|point| (point.load, point.throughput)).collect::<Vec<_>>())
}

fn told(curve: &Usl) -> String {
    let beyond = match curve.peak() {
        Some(peak) if peak < FAR => {
            format!("beyond {} calls in flight throughput falls", short(peak))
        }
        _ => "more calls in flight only queue".into(),
    };
    format!(
        " By the universal scalability law, {} of a call waits in line and {beyond} (the curve misses no step by more than {}).",
        percent(curve.waiting),
        percent(curve.off)
    )
}

fn point(step: &SegmentStats) -> Option<Point> {
    let ended = step.successful_requests.saturating_add(step.errors);
    let good = step.successful_requests as f64 / ended.max(1) as f64;
    (ended > 0).then_some(Point {
        load: step.load?.get(),
        throughput: step.requests_per_sec * good,
        p50: step.latency.p50,
        p99: step.latency.p99,
        error_rate: 1.0 - good,
    })
}
