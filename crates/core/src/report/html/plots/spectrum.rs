//! Latency by percentile, each further nine as wide as the one before: the tail at full length.

use crate::{
    histogram,
    report::{
        LatencyStats, Report,
        figures::{counted, ratio},
        html::{
            canvas::{Axis, Canvas, Drawn},
            course,
            figure::{Figure, Picture},
            nines,
            scale::{Scale, millis},
            table::Table,
        },
        phrases,
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let (response, service) = (&report.latency, &report.service);
    if response.count == 0 {
        return None;
    }
    let most = nines::of(response.count);
    let limits = course::latency_limits(report);
    let ends = [response.min, response.max, service.min].map(|time| time.as_secs_f64() * 1e3);
    let times = ends.into_iter().chain(limits.iter().map(|(limit, _)| *limit));
    let y = Axis { scale: Scale::log(times), told: millis, name: "time (log)" };
    let mut canvas = Canvas::new(300.0, nines::axis(most), y);
    let mut legend = vec![("from when a call was due", 0)];
    if phrases::service_differs(report) {
        canvas.line(nines::curve(&service.histogram, most), 3);
        legend.push(("from when it was sent", 3));
    }
    canvas.line(nines::curve(&response.histogram, most), 0);
    for (limit, name) in &limits {
        canvas.limit(*limit, name);
    }
    let picture = Picture::Still(canvas.svg(Drawn::Lines, &legend));
    Some(Figure { reading: reading(report), picture, table: table(response, service) })
}

fn table(response: &LatencyStats, service: &LatencyStats) -> Table {
    let shares = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];
    let row = |share: f64| {
        let at = |stats: &LatencyStats| {
            histogram::quantile(&stats.histogram, share).map_or("-".into(), format_latency)
        };
        vec![format!("{}%", share * 100.0), at(response), at(service)]
    };
    Table::new(&["Share of calls", "From when due", "From when sent"], shares.map(row))
}

fn reading(report: &Report) -> String {
    let (response, service) = (&report.latency, &report.service);
    let calls = counted(response.count, "call");
    if response.p99 > service.p99 * 2 {
        return format!(
            "Callers wait before the server sees the call: at p99 {} of {} lie before it was sent ({calls}).",
            format_latency(response.p99 - service.p99),
            format_latency(response.p99),
        );
    }
    // A percentile that fewer calls than this stand behind is the slowest call by another name.
    if response.count < 100 {
        let [half, longest] = [response.p50, response.max].map(format_latency);
        return format!("Half of {calls} took at most {half}, the slowest {longest}.");
    }
    let tail = match response.count {
        0..1_000 => String::new(),
        _ => format!("; p99.9 is {}", format_latency(response.p999)),
    };
    format!(
        "Half of {calls} took at most {}; p99 is {}, {} times as long{tail}.",
        format_latency(response.p50),
        format_latency(response.p99),
        ratio(response.p99, response.p50),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::healthy;
    use std::time::Duration;

    #[test]
    fn a_tail_is_told_by_as_many_figures_as_there_are_calls_for() {
        let told = |count, p99, sent| {
            let mut report = healthy();
            let ms = Duration::from_millis;
            let latency = &mut report.latency;
            (latency.count, latency.p50, latency.p99) = (count, ms(10), ms(p99));
            (latency.p999, latency.max) = (ms(200), ms(300));
            report.service.p99 = ms(sent);
            reading(&report)
        };
        let few = "Half of 99 calls took at most 10.0ms, the slowest 300.0ms.";
        let some = "took at most 10.0ms; p99 is 100.0ms, 10 times as long.";
        let many = "took at most 10.0ms; p99 is 100.0ms, 10 times as long; p99.9 is 200.0ms.";
        for (count, p99, sent, expected) in [
            (99, 100, 100, few),
            (100, 100, 100, some),
            (999, 100, 100, some),
            (1_000, 100, 100, many),
            (1_000, 100, 50, many),
            (1_000, 101, 50, "at p99 51.0ms of 101.0ms lie before it was sent (1,000 calls)."),
        ] {
            let told = told(count, p99, sent);
            assert!(told.ends_with(expected), "{count} {p99} {sent}: {told}");
        }
    }
}
