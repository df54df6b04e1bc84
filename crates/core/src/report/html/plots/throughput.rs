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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pace::Rate,
        report::{LatencyStats, fixture::ramped},
    };

    /// Calls in flight, and the calls a second that ended well with them.
    fn step(load: Level, rate: f64) -> SegmentStats {
        SegmentStats {
            label: load.to_string(),
            load: Some(load),
            total_requests: 100,
            successful_requests: 100,
            errors: 0,
            dropped: 0,
            requests_per_sec: rate,
            latency: LatencyStats::default(),
        }
    }

    /// A server that follows the law: alone 100 calls a second, and a tenth of each call waits in line.
    fn lawful(level: fn(u32) -> Level) -> Report {
        let law = Usl { alone: 100.0, waiting: 0.1, crosstalk: 0.0, off: 0.0 };
        let steps = (1..=7).map(|load| step(level(load), law.at(f64::from(load))));
        Report { segments: steps.collect(), ..ramped() }
    }

    #[test]
    fn a_ramp_of_calls_in_flight_has_the_curve_of_the_law() {
        let figure = make(&lawful(Level::Concurrent)).expect("seven steps");
        let law = "(7 steps). By the universal scalability law, 10.00% of a call waits in line and more calls in flight only queue (the curve misses no step by more than ";
        assert!(figure.reading.contains(law), "{}", figure.reading);
        let Picture::Still(svg) = figure.picture else { panic!("no picture") };
        assert!(svg.contains("scalability law"), "{svg}");
        let curve = svg.split("<path class=\"line c3\" d=\"M").nth(1).expect("a curve");
        let points: Vec<&str> = curve.split('"').next().unwrap_or_default().split('L').collect();
        assert_eq!(points.len(), 61);
        // The curve goes through the steps, of which the first and the last are dots.
        let dot = |at: usize| {
            let dot = svg.split("<circle class=\"dot c0\" cx=\"").nth(at).expect("a dot");
            dot.split(" r=").next().unwrap_or_default().replace("\" cy=\"", " ").replace('"', "")
        };
        assert_eq!((points[0], points[60]), (dot(1).as_str(), dot(7).as_str()));
        assert_eq!(points[30], dot(4), "halfway");
        let rates = lawful(|load| Level::Rate(Rate::per_second(f64::from(load))));
        let told = make(&rates).expect("seven steps").reading;
        assert!(!told.contains("law"), "a rate is no number of calls in flight: {told}");
    }

    #[test]
    fn four_steps_are_enough_and_those_without_an_end_do_not_count() {
        let mut report = lawful(Level::Concurrent);
        report.segments.truncate(4);
        assert!(make(&report).is_some());
        let last = &mut report.segments[3];
        (last.successful_requests, last.errors) = (60, 40);
        let point = point(last).expect("a hundred ends");
        assert_eq!((point.load, point.error_rate), (4.0, 0.4));
        assert!((point.throughput - last.requests_per_sec * 0.6).abs() < 1e-9);
        (last.successful_requests, last.errors) = (0, 0);
        assert!(make(&report).is_none());
    }

    #[test]
    fn a_peak_that_is_out_of_reach_is_none() {
        let curve = |crosstalk| Usl { alone: 100.0, waiting: 0.0, crosstalk, off: 0.0 };
        for (crosstalk, expected) in [
            (0.01, "beyond 10 calls in flight throughput falls"),
            (1e-10, "more calls in flight only queue"),
            (1e-11, "more calls in flight only queue"),
            (0.0, "more calls in flight only queue"),
        ] {
            let told = told(&curve(crosstalk));
            assert!(told.contains(expected), "{crosstalk}: {told}");
        }
    }
}
