//! Numbers as people read them: grouped digits, rounded shares, spans of time.

use std::time::Duration;

/// `12345` as `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 call`, `12,345 calls`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A sum that stays what it is at the end of the numbers: a file may hold anything.
pub(super) fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// A share as `0.36%`. A share that is not quite nothing or not quite all never reads as if it were.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if !p.is_finite() => "unknown".into(),
        p if p > 0.0 && p < 0.005 => "<0.01%".into(),
        p if (99.995..100.0).contains(&p) => ">99.99%".into(),
        p => format!("{p:.2}%"),
    }
}

/// A share in a sentence, where hundredths of a percent only distract: `92%`, `all`.
pub(super) fn rough_percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 1.0 => "less than 1%".into(),
        p if (99.5..100.0).contains(&p) => "more than 99%".into(),
        p if p >= 100.0 => "all".into(),
        p => format!("{p:.0}%"),
    }
}

/// A number with two decimals and grouped digits: `1,205.75`.
pub fn decimal(number: f64) -> String {
    if !number.is_finite() {
        return "unknown".into();
    }
    let hundredths = (number.abs() * 100.0).round() as u64;
    let sign = if number < 0.0 && hundredths > 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", grouped(hundredths / 100), hundredths % 100)
}

/// How many times as long: `2.3`, `12`, `1,500`.
pub(super) fn ratio(long: Duration, short: Duration) -> String {
    let times = long.as_secs_f64() / short.as_secs_f64().max(1e-9);
    if times < 9.95 { format!("{times:.1}") } else { grouped(times.round() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(decimal(1205.754), "1,205.75");
        assert_eq!(decimal(-0.001), "0.00");
        assert_eq!(decimal(f64::NAN), "unknown");
    }

    #[test]
    fn a_rare_failure_does_not_read_as_none() {
        assert_eq!(percent(0.0), "0.00%");
        assert_eq!(percent(1e-6), "<0.01%");
        assert_eq!(percent(0.999_999), ">99.99%");
        assert_eq!(percent(1.0), "100.00%");
        assert_eq!(rough_percent(0.004), "less than 1%");
    }

    #[test]
    fn shares_and_numbers_change_their_form_at_their_limits() {
        for (share, exact, rough) in [
            (0.0, "0.00%", "0%"),
            (0.000_049, "<0.01%", "less than 1%"),
            (0.000_05, "0.01%", "less than 1%"),
            (0.009_9, "0.99%", "less than 1%"),
            (0.01, "1.00%", "1%"),
            (0.92, "92.00%", "92%"),
            (0.994, "99.40%", "99%"),
            (0.995, "99.50%", "more than 99%"),
            (0.999_94, "99.99%", "more than 99%"),
            (0.999_95, ">99.99%", "more than 99%"),
            (1.0, "100.00%", "all"),
            (1.2, "120.00%", "all"),
        ] {
            assert_eq!((percent(share).as_str(), rough_percent(share).as_str()), (exact, rough));
        }
        assert_eq!([percent(f64::NAN), percent(f64::INFINITY)], ["unknown", "unknown"]);
        for (number, text) in [(-1.5, "-1.50"), (0.0, "0.00"), (-0.005, "-0.01"), (7.0, "7.00")] {
            assert_eq!(decimal(number), text);
        }
        assert_eq!([counted(0, "call"), counted(1, "call")], ["0 calls", "1 call"]);
        assert_eq!((total([2, 3]), total([u64::MAX, 3])), (5, u64::MAX));
    }

    #[test]
    fn ratios_have_two_figures_at_most_where_they_are_small() {
        let second = Duration::from_secs(1);
        assert_eq!(ratio(second * 23, second * 10), "2.3");
        assert_eq!(ratio(second * 1_500, second), "1,500");
        let long = Duration::from_millis;
        assert_eq!([ratio(long(994), second / 10), ratio(long(995), second / 10)], ["9.9", "10"]);
        assert_eq!(ratio(second, Duration::ZERO), "1,000,000,000");
    }
}
