//! Where a value lies on an axis, and which values the axis names.

use std::time::Duration;

use crate::units::format_latency;

/// An axis from one value to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Linear,
    /// Every whole number is named.
    Whole,
    /// Whole decades: latency spans several of them.
    Log,
}

impl Scale {
    /// From nothing to at least `most`, ending at a round number.
    pub(crate) fn linear(most: f64) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let step = round_step(most / 4.0);
        Self { low: 0.0, high: (most / step).ceil() * step, kind: Kind::Linear }
    }

    /// Exactly this range.
    pub(crate) fn exact(low: f64, high: f64) -> Self {
        Self { low, high: if high > low { high } else { low + 1.0 }, kind: Kind::Linear }
    }

    /// From nothing to `high`, with every whole number named.
    pub(crate) fn whole(high: f64) -> Self {
        Self { low: 0.0, high: high.max(1.0), kind: Kind::Whole }
    }

    /// The decades that hold all of these values; those that are not positive are left out.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let usable = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = usable
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if high == 0.0 {
            return Self { low: 0.1, high: 1.0, kind: Kind::Log };
        }
        let (low, high) = (low.log10().floor(), high.log10().ceil());
        let high = if high > low { high } else { low + 1.0 };
        Self { low: 10_f64.powf(low), high: 10_f64.powf(high), kind: Kind::Log }
    }

    /// Where the value lies, from 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear | Kind::Whole => (value - self.low) / (self.high - self.low),
            Kind::Log if value <= self.low => 0.0,
            Kind::Log => (value / self.low).log10() / (self.high / self.low).log10(),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The values to name.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self.kind {
            Kind::Linear => {
                let step = round_step((self.high - self.low) / 4.0);
                let first = (self.low / step).ceil() as i64;
                let ticks = (first..first + 12).map(|at| at as f64 * step);
                ticks.filter(|tick| *tick <= self.high * 1.000_001).collect()
            }
            Kind::Whole => (0..=self.high.floor() as i32).map(f64::from).collect(),
            Kind::Log => {
                let decades = (self.high / self.low).log10().round() as i32;
                (0..=decades).map(|at| self.low * 10_f64.powi(at)).collect()
            }
        }
    }
}

/// The next 1, 2 or 5 times a power of ten.
fn round_step(wish: f64) -> f64 {
    let power = 10_f64.powf(wish.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= wish * 0.999_999).unwrap_or(wish)
}

/// A time in milliseconds as people read it.
pub(crate) fn millis(value: f64) -> String {
    if !value.is_finite() || value < 0.0 {
        return "-".into();
    }
    // Named values of an axis are round: `1ms` rather than `1.00ms`.
    let told = format_latency(Duration::from_nanos((value * 1e6).round().min(1e18) as u64));
    let split = told.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(told.len());
    let (number, unit) = told.split_at(split);
    match number.contains('.') {
        true => format!("{}{unit}", number.trim_end_matches('0').trim_end_matches('.')),
        false => told,
    }
}

/// A number with at most three figures, so that columns stay narrow: `24.5k`, `0.25`.
pub(crate) fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        n if !n.is_finite() => return "-".into(),
        n if n >= 1e9 => (value / 1e9, "G"),
        n if n >= 1e6 => (value / 1e6, "M"),
        n if n >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let decimals = match scaled.abs() {
        n if n >= 100.0 => 0,
        n if n >= 10.0 => 1,
        _ => 2,
    };
    let told = format!("{scaled:.decimals$}");
    match told.contains('.') {
        true => format!("{}{unit}", told.trim_end_matches('0').trim_end_matches('.')),
        false => told + unit,
    }
}

/// Seconds since the start of the run: `0.5s`, `45s`, `3:05`, `1:02:03`.
pub(crate) fn clock(secs: f64) -> String {
    let tenths = (secs.max(0.0) * 10.0).round() / 10.0;
    if tenths < 60.0 {
        // A short run has ticks between its seconds, of which no two may read alike.
        return format!("{tenths}s");
    }
    let whole = secs.max(0.0).round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, m, s) => format!("{m}:{s:02}"),
        (h, m, s) => format!("{h}:{m:02}:{s:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(Scale::linear(87.0).ticks(), [0.0, 50.0, 100.0]);
        assert_eq!(Scale::log([0.3, 45.0]).ticks().len(), 4);
        assert_eq!(Scale::log([]).ticks().len(), 2);
        assert_eq!(Scale::linear(f64::NAN).place(f64::INFINITY), 0.0);
        assert!((Scale::log([1.0, 100.0]).place(10.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn an_axis_begins_and_ends_where_it_is_told_to() {
        let nothing = [0.0, 0.5, 1.0];
        for most in [0.0, -5.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Scale::linear(most).ticks(), nothing, "{most}");
        }
        assert_eq!(
            Scale::linear(8.0).ticks(),
            [0.0, 2.0, 4.0, 6.0, 8.0],
            "no step beyond the last"
        );
        assert_eq!(Scale::exact(10.0, 18.0).ticks(), [10.0, 12.0, 14.0, 16.0, 18.0]);
        assert_eq!(Scale::whole(2.5).ticks(), [0.0, 1.0, 2.0]);
        assert_eq!(Scale::whole(0.3).ticks(), [0.0, 1.0]);
        let named = |scale: Scale| scale.ticks().into_iter().map(millis).collect::<Vec<_>>();
        assert_eq!(named(Scale::log([10.0, 1_000.0])), ["10ms", "100ms", "1s"]);
        assert_eq!(named(Scale::log([10.0, 10.0])), ["10ms", "100ms"], "a decade at least");
        for other in [0.0, -5.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Scale::log([other, 1.0, 70.0]), Scale::log([1.0, 70.0]), "{other}");
        }
    }

    #[test]
    fn a_value_lies_within_its_axis() {
        let linear = Scale::exact(10.0, 18.0);
        let log = Scale::log([10.0, 1_000.0]);
        for (name, scale, value, place) in [
            ("a quarter", linear, 12.0, 0.25),
            ("the end", linear, 18.0, 1.0),
            ("below", linear, 9.0, 0.0),
            ("above", linear, 99.0, 1.0),
            ("an axis of nothing has one step", Scale::exact(3.0, 3.0), 3.5, 0.5),
            ("and so has one that runs backwards", Scale::exact(5.0, 2.0), 5.5, 0.5),
            ("one decade of two", log, 100.0, 0.5),
            ("below the first decade", log, 1.0, 0.0),
            ("beyond the last", log, 5_000.0, 1.0),
        ] {
            assert!((scale.place(value) - place).abs() < 1e-9, "{name}: {}", scale.place(value));
        }
    }

    #[test]
    fn every_unit_begins_at_its_limit() {
        for (value, told) in [
            (9.99, "9.99"),
            (10.0, "10"),
            (12.34, "12.3"),
            (100.0, "100"),
            (123.4, "123"),
            (9_999.0, "9999"),
            (10_000.0, "10k"),
            (-24_500.0, "-24.5k"),
            (120_000.0, "120k"),
            (999_000.0, "999k"),
            (1e6, "1M"),
            (2.5e6, "2.5M"),
            (1e9, "1G"),
            (2.5e11, "250G"),
            (f64::NAN, "-"),
            (f64::NEG_INFINITY, "-"),
        ] {
            assert_eq!(short(value), told);
        }
        for (value, told) in
            [(0.0, "0ns"), (-0.001, "-"), (f64::NAN, "-"), (f64::INFINITY, "-"), (10.0, "10ms")]
        {
            assert_eq!(millis(value), told);
        }
        for (secs, told) in [
            (-1.0, "0s"),
            (59.94, "59.9s"),
            (60.0, "1:00"),
            (119.0, "1:59"),
            (3_599.0, "59:59"),
            (3_600.0, "1:00:00"),
            (7_325.0, "2:02:05"),
        ] {
            assert_eq!(clock(secs), told);
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([millis(1.0), millis(0.25), millis(1500.0)], ["1ms", "250µs", "1.5s"]);
        assert_eq!(
            [short(24_508.8), short(0.5), short(1234.0), short(0.0)],
            ["24.5k", "0.5", "1234", "0"]
        );
        assert_eq!([clock(0.5), clock(1.0), clock(59.97)], ["0.5s", "1s", "1:00"]);
        assert_eq!([clock(45.0), clock(185.0), clock(3723.0)], ["45s", "3:05", "1:02:03"]);
    }
}
