//! A plot over time: what the script draws, and the same as a still picture for readers without it.

use serde_json::{Value, json};

use super::{
    canvas::{Axis, Canvas, Drawn},
    scale::{Scale, clock, millis, short},
    span::{self, Span},
    table::Table,
};

/// Points that the script draws of a line; a run of a day has no more than one of an hour.
const MOST_POINTS: usize = 1_200;
/// Points of a still picture and rows of a table without script; more of them only make the file big.
const STILL_POINTS: usize = 120;
const STILL_ROWS: usize = 30;
const STILL_HEIGHT: f64 = 240.0;

/// What the values of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Milliseconds, on a logarithmic axis.
    Millis,
    /// A rate.
    PerSecond,
    /// Hundredths.
    Percent,
    /// Megabytes.
    Megabytes,
    /// How many.
    Count,
}

impl Unit {
    /// The word that the script knows it by.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Millis => "ms",
            Self::PerSecond => "/s",
            Self::Percent => "%",
            Self::Megabytes => "MB",
            Self::Count => "",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Millis => "time (log)",
            Self::PerSecond => "calls/s",
            Self::Percent => "%",
            Self::Megabytes => "MB",
            Self::Count => "how many",
        }
    }

    fn told(self, value: f64) -> String {
        match self {
            Self::Millis => millis(value),
            Self::Percent => format!("{value:.2}%"),
            Self::Megabytes => format!("{value:.1}"),
            Self::PerSecond | Self::Count => short(value),
        }
    }
}

/// How several values become one where there is no room for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thin {
    /// The mean.
    Mean,
    /// The highest: a peak must not vanish.
    Highest,
}

/// One line.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) colour: usize,
    pub(super) thin: Thin,
    pub(super) values: Vec<Option<f64>>,
}

/// A plot over time.
pub(super) struct TimeChart {
    /// Seconds since the start of the run, one for each value.
    pub(super) at: Vec<f64>,
    pub(super) series: Vec<Series>,
    /// Levels that must be kept: value and name, on the axis of the first series.
    pub(super) limits: Vec<(f64, String)>,
    /// Parts of the run that are told apart.
    pub(super) spans: Vec<Span>,
    pub(super) shape: Shape,
}

/// What is drawn of the values.
pub(super) enum Shape {
    /// Lines.
    Lines,
    /// Areas on top of each other.
    Stack,
    /// Cells of time and latency, the darker the more calls: place in `at`, row, and count. Row 0
    /// begins at 1 ms, and so many rows make a tenfold of the time.
    Cells { cells: Vec<(usize, i32, u64)>, rows: u32 },
}

impl TimeChart {
    /// What the script needs.
    pub(super) fn data(&self) -> Value {
        let points = self.thinned(MOST_POINTS);
        let series = self.series.iter().enumerate().map(|(at, series)| {
            let values = points.iter().map(|(_, values)| values[at].map(number));
            json!({
                "name": series.name,
                "unit": series.unit.as_str(),
                "colour": series.colour,
                "values": values.collect::<Vec<_>>(),
            })
        });
        let mut data = json!({
            "at": points.iter().map(|(at, _)| json!((at * 10.0).round() / 10.0)).collect::<Vec<_>>(),
            "series": series.collect::<Vec<_>>(),
            "limits": self.limits,
            "spans": self.spans.iter().map(Span::data).collect::<Vec<_>>(),
            "stack": self.is_stack(),
        });
        if let Shape::Cells { cells, rows } = &self.shape {
            // One flat list: a bracket for each of ten thousand cells is as long as the cell.
            let flat =
                cells.iter().flat_map(|(at, row, count)| [json!(at), json!(row), json!(count)]);
            data["cells"] = flat.collect();
            data["rows"] = json!(rows);
        }
        data
    }

    /// The still picture.
    pub(super) fn still(&self) -> String {
        let Some(first) = self.series.first() else { return String::new() };
        let thinned = self.thinned(STILL_POINTS);
        let (from, to) = self.range();
        let x = Axis { scale: Scale::exact(from, to), told: clock, name: "since the start" };
        let mut canvas = Canvas::new(STILL_HEIGHT, x, self.axis(first.unit));
        self.spans.iter().enumerate().for_each(|(at, span)| span.draw(at, &mut canvas));
        // Two scales in one picture mislead; what has another unit than the first is in the table.
        let shown: Vec<usize> =
            (0..self.series.len()).filter(|at| self.series[*at].unit == first.unit).collect();
        match self.shape {
            Shape::Stack => stack(&mut canvas, &thinned, &self.series),
            _ => {
                for at in &shown {
                    let line = thinned.iter().map(|(time, values)| (*time, values[*at]));
                    canvas.line(line, self.series[*at].colour);
                }
            }
        }
        for (value, name) in &self.limits {
            canvas.limit(*value, name);
        }
        let legend: Vec<(&str, usize)> =
            shown.iter().map(|at| (self.series[*at].name, self.series[*at].colour)).collect();
        canvas.svg(if self.is_stack() { Drawn::Areas } else { Drawn::Lines }, &legend)
    }

    /// The numbers, some of them where there are many.
    pub(super) fn table(&self) -> Table {
        let mut head = vec!["Since the start".to_owned()];
        head.extend(self.series.iter().map(|series| match series.unit {
            Unit::Megabytes => format!("{} (MB)", series.name),
            _ => series.name.to_owned(),
        }));
        let thinned = self.thinned(STILL_ROWS);
        let step = match thinned.as_slice() {
            [(first, _), (second, _), ..] => second - first,
            _ => 1.0,
        };
        let faults = span::has_faults(&self.spans);
        head.extend(faults.then(|| "Faults".to_owned()));
        let row = |(at, values): (f64, Vec<Option<f64>>)| {
            let told =
                self.series.iter().zip(values).map(|(series, value)| {
                    value.map_or("-".into(), |value| series.unit.told(value))
                });
            let faults = faults.then(|| span::at_work(&self.spans, at, at + step));
            [clock(at)].into_iter().chain(told).chain(faults).collect()
        };
        Table { head, rows: thinned.into_iter().map(row).collect() }
    }

    const fn is_stack(&self) -> bool {
        matches!(self.shape, Shape::Stack)
    }

    fn range(&self) -> (f64, f64) {
        (self.at.first().copied().unwrap_or(0.0), self.at.last().copied().unwrap_or(1.0))
    }

    fn axis(&self, unit: Unit) -> Axis {
        let of_unit = self.series.iter().filter(|series| series.unit == unit);
        let values = of_unit.flat_map(|series| series.values.iter().flatten().copied());
        let values = values.chain(self.limits.iter().map(|(value, _)| *value));
        let scale = match (unit, &self.shape) {
            (Unit::Millis, _) => Scale::log(values),
            (_, Shape::Stack) => Scale::linear(self.highest_sum()),
            _ => Scale::linear(values.fold(0.0, f64::max)),
        };
        let told = match unit {
            Unit::Millis => millis,
            _ => short,
        };
        Axis { scale, told, name: unit.name() }
    }

    fn highest_sum(&self) -> f64 {
        let sum = |at: usize| {
            self.series
                .iter()
                .filter_map(|series| series.values[at])
                .fold(0.0, |sum, value| sum + value)
        };
        (0..self.at.len()).map(sum).fold(0.0, f64::max)
    }

    /// At most so many points, each for as many neighbours as it takes.
    fn thinned(&self, most: usize) -> Vec<(f64, Vec<Option<f64>>)> {
        let size = self.at.len().div_ceil(most).max(1);
        let chunk = |(index, times): (usize, &[f64])| {
            let from = index * size;
            let values = self.series.iter().map(|series| {
                let values = series.values[from..from + times.len()].iter().flatten().copied();
                series.thin.of(values)
            });
            (times[0], values.collect())
        };
        self.at.chunks(size).enumerate().map(chunk).collect()
    }
}

impl Thin {
    fn of(self, values: impl Iterator<Item = f64>) -> Option<f64> {
        match self {
            Self::Highest => values.reduce(f64::max),
            Self::Mean => {
                let (sum, count) =
                    values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
                (count > 0).then(|| sum / f64::from(count))
            }
        }
    }
}

fn stack(canvas: &mut Canvas, points: &[(f64, Vec<Option<f64>>)], series: &[Series]) {
    let mut floor = vec![0.0; points.len()];
    for (at, series) in series.iter().enumerate() {
        let mut edges = Vec::new();
        for ((time, values), low) in points.iter().zip(&mut floor) {
            let high = *low + values[at].unwrap_or(0.0);
            edges.push((*time, *low, high));
            *low = high;
        }
        canvas.area(&edges, series.colour);
    }
}

/// A number of four figures; one that is whole without a point.
fn number(value: f64) -> Value {
    match figures(value) {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => json!(whole as i64),
        part => json!(part),
    }
}

/// Four figures: what a plot can show, in as few characters as it takes.
fn figures(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let power = 3 - value.abs().log10().floor() as i32;
    // Dividing by a whole power of ten gives the nearest short decimal; multiplying by 0.001 does not.
    match power {
        0.. => (value * 10_f64.powi(power)).round() / 10_f64.powi(power),
        _ => (value / 10_f64.powi(-power)).round() * 10_f64.powi(-power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_short_but_not_wrong() {
        assert_eq!(
            [figures(0.123_456), figures(123_456.0), figures(f64::NAN)],
            [0.1235, 123_500.0, 0.0]
        );
        assert_eq!(json!(figures(1.234_567)).to_string(), "1.235");
    }

    #[test]
    fn whole_numbers_have_no_point_as_long_as_they_are_exact() {
        for (value, told) in [
            (0.5, json!(0.5)),
            (2.0, json!(2)),
            (-7.0, json!(-7)),
            (9.99e14, json!(999_000_000_000_000_i64)),
            (1e15, json!(1e15)),
            (2e15, json!(2e15)),
        ] {
            assert_eq!(number(value).to_string(), told.to_string());
        }
    }

    fn chart(thin: Thin, unit: Unit, values: Vec<Option<f64>>) -> TimeChart {
        TimeChart {
            at: (0..values.len()).map(|at| at as f64).collect(),
            series: vec![Series { name: "max", unit, colour: 0, thin, values }],
            limits: Vec::new(),
            spans: Vec::new(),
            shape: Shape::Lines,
        }
    }

    #[test]
    fn a_mean_is_that_of_the_values_there_are() {
        let values = [Some(1.0), Some(4.0), Some(3.0), None, None, None].repeat(10);
        for (thin, expected) in [(Thin::Mean, ["2.5", "3", "-"]), (Thin::Highest, ["4", "3", "-"])]
        {
            let rows = chart(thin, Unit::Count, values.clone()).table().rows;
            assert_eq!(rows.len(), STILL_ROWS);
            for (row, (at, told)) in rows.iter().zip(["0s", "2s", "4s"].into_iter().zip(expected)) {
                assert_eq!(row, &[at, told], "{thin:?}");
            }
        }
    }

    #[test]
    fn a_row_names_the_faults_until_the_next_row() {
        let fault = |from, to, number| Span {
            from,
            to,
            name: "slow".into(),
            mark: span::Mark::Fault(number),
        };
        let chart = TimeChart {
            at: vec![10.0, 12.0, 14.0],
            spans: vec![fault(11.5, 11.6, 0), fault(13.0, 13.5, 1)],
            ..chart(Thin::Mean, Unit::Count, vec![Some(1.0); 3])
        };
        let faults: Vec<String> = chart.table().rows.iter().map(|row| row[2].clone()).collect();
        assert_eq!(faults, ["F1", "F2", "-"]);
    }

    #[test]
    fn an_axis_has_room_for_what_lies_on_top_of_each_other() {
        let line = |unit, values: [f64; 2]| {
            chart(Thin::Mean, unit, values.map(Some).to_vec()).series.remove(0)
        };
        let mut chart = chart(Thin::Mean, Unit::Count, vec![Some(1.0), Some(3.0)]);
        chart.series.push(line(Unit::Count, [4.0, 4.0]));
        chart.series.push(line(Unit::Percent, [900.0, 900.0]));
        assert_eq!(chart.axis(Unit::Count).scale, Scale::linear(4.0));
        chart.limits = vec![(70.0, "limit".into())];
        assert_eq!(chart.axis(Unit::Count).scale, Scale::linear(70.0));
        chart.series.pop();
        chart.shape = Shape::Stack;
        assert_eq!(chart.axis(Unit::Count).scale, Scale::linear(7.0));
    }

    #[test]
    fn a_peak_survives_thinning() {
        let values = (0..1_000).map(|at| Some(if at == 777 { 50.0 } else { 1.0 }));
        let rows = chart(Thin::Highest, Unit::Millis, values.collect()).table().rows;
        assert!(rows.len() <= STILL_ROWS && rows.iter().any(|row| row[1] == "50ms"));
    }
}
