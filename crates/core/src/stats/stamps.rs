//! Times of day and UUIDs in values, which differ from answer to answer by design.

use serde_json::Value;

use super::race::canonical;

/// A value with times of day and UUIDs taken out.
#[derive(Debug, Default)]
pub(super) struct Mask {
    /// What is left.
    pub(super) rest: String,
    /// The times, in seconds.
    pub(super) times: Vec<f64>,
    /// The UUIDs.
    pub(super) ids: Vec<String>,
}

impl Mask {
    pub(super) fn of(value: &Value) -> Self {
        let text = value.as_str().map_or_else(|| canonical(value), str::to_owned);
        match text.trim().parse().ok().and_then(since_1970) {
            Some(time) => Self { times: vec![time], ..Self::default() },
            None => Self::of_text(&text),
        }
    }

    /// Looks at each run of the characters that times and UUIDs are made of.
    fn of_text(text: &str) -> Self {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+');
        let mut mask = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            // A full stop may end a sentence.
            let word = run.trim_end_matches(['.', ':']);
            mask.add(word);
            mask.rest.push_str(&run[word.len()..]);
            let next = after.chars().next().map_or(0, char::len_utf8);
            mask.rest.push_str(&after[..next]);
            rest = &after[next..];
        }
        mask
    }

    fn add(&mut self, word: &str) {
        if is_uuid(word) {
            self.ids.push(word.to_owned());
            self.rest.push_str("<id>");
        } else if let Some(time) = time(word) {
            self.times.push(time);
            self.rest.push_str("<time>");
        } else {
            self.rest.push_str(word);
        }
    }
}

/// The seconds that a number counts since 1970 in seconds or a smaller unit, if that is in this half
/// of the century.
fn since_1970(number: f64) -> Option<f64> {
    let seconds = [1.0, 1e3, 1e6, 1e9].into_iter().map(|unit| number / unit);
    seconds.into_iter().find(|seconds| (1.5e9..2.5e9).contains(seconds))
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && word.bytes().all(|c| c == b'-' || c.is_ascii_hexdigit())
}

/// The seconds of a date, a time of day, or both with a `T` between them. The zone is left out: one
/// tool gives one zone.
fn time(word: &str) -> Option<f64> {
    match word.split_once('T') {
        Some((date, time)) => Some(days(date)? * 86_400.0 + seconds(time)?),
        None => days(word).map(|days| days * 86_400.0).or_else(|| seconds(word)),
    }
}

/// The days of `2026-05-10`, counted from the first of March of the year 0 so that the day that some
/// Februaries have more is the last of its year (Hinnant, "chrono-compatible low-level date algorithms").
fn days(word: &str) -> Option<f64> {
    let (year, rest) = word.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    (year.len() == 4).then_some(())?;
    let (year, month, day) = (digits(year)?, two_digits(month)?, two_digits(day)?);
    let (year, month) = if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leaps = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    Some(year * 365.0 + leaps + ((153.0 * month + 2.0) / 5.0).floor() + day)
}

/// The seconds of `12:30`, `12:30:00`, `12:30:00.5` and the like with a zone.
fn seconds(word: &str) -> Option<f64> {
    let (hour, rest) = word.split_once(':')?;
    // A zone begins with a sign or is a `Z`.
    let rest = rest.split(['+', '-', 'Z']).next()?;
    let (minute, second) = rest.split_once(':').unwrap_or((rest, "00"));
    let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
    digits(fraction)?;
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    Some(two_digits(hour)? * 3_600.0 + two_digits(minute)? * 60.0 + two_digits(whole)? + fraction)
}

fn two_digits(text: &str) -> Option<f64> {
    if text.len() == 2 { digits(text) } else { None }
}

fn digits(text: &str) -> Option<f64> {
    let all = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_and_ids_are_taken_out() {
        for (text, expected) in [
            ("at 09:05.", "at <time>."),
            ("2026-05-10T12:00:00.123456Z", "<time>"),
            ("2026-05-10T12:00:00+02:00", "<time>"),
            ("id 123e4567-e89b-12d3-a456-426614174000!", "id <id>!"),
            ("version 1.2.3, 99 bottles, 10:5, a:b", "version 1.2.3, 99 bottles, 10:5, a:b"),
            ("ünïcode — 12:00:00…", "ünïcode — <time>…"),
            ("..:: T -:- 12:: é", "..:: T -:- 12:: é"),
            ("123e4567-e89b-12d3-a456-42661417400g", "123e4567-e89b-12d3-a456-42661417400g"),
            ("2026-+5-10 026-05-10 2026-5-10", "2026-+5-10 026-05-10 2026-5-10"),
            ("12:00:00.x 12:00:0 1:00", "12:00:00.x 12:00:0 1:00"),
        ] {
            assert_eq!(Mask::of_text(text).rest, expected);
        }
        assert_eq!(time("1970-01-01T00:01:01.5Z").unwrap() - time("1970-01-01").unwrap(), 61.5);
        for (before, after) in [
            ("2026-04-30", "2026-05-01"),
            ("2025-12-31", "2026-01-01"),
            ("2024-02-29", "2024-03-01"),
        ] {
            assert_eq!(days(after).unwrap() - days(before).unwrap(), 1.0, "{before}");
        }
        assert_eq!(since_1970(1_778_000_000_123.0), Some(1_778_000_000.123));
        assert_eq!(since_1970(f64::NAN).or(since_1970(5.0)).or(since_1970(f64::INFINITY)), None);
    }

    #[test]
    fn days_are_counted_from_the_march_of_the_year_0() {
        for (date, expected) in [
            ("0000-03-01", 1.0),
            ("1900-02-28", 693_960.0),
            ("1900-03-01", 693_961.0),
            ("1970-01-01", 719_469.0),
            ("2000-02-29", 730_485.0),
            ("2000-03-01", 730_486.0),
            ("2023-12-31", 739_191.0),
            ("2026-05-10", 740_052.0),
        ] {
            assert_eq!(days(date), Some(expected), "{date}");
            assert_eq!(time(date), Some(expected * 86_400.0), "{date}");
        }
    }

    #[test]
    fn seconds_are_those_of_the_day_whatever_the_zone() {
        for (text, expected) in [
            ("12:30", 45_000.0),
            ("12:30:15.25Z", 45_015.25),
            ("23:59:59+02:00", 86_399.0),
            ("01:02:03-05:00", 3_723.0),
        ] {
            assert_eq!(time(text), Some(expected), "{text}");
            let whole = format!("1970-01-01T{text}");
            assert_eq!(time(&whole), Some(719_469.0 * 86_400.0 + expected), "{whole}");
        }
    }

    #[test]
    fn a_number_is_a_time_only_in_this_half_of_the_century() {
        for (number, expected) in [
            (1.5e9, Some(1.5e9)),
            (1.499e9, None),
            (2.5e9, None),
            (2.4e12, Some(2.4e9)),
            (1.6e15, Some(1.6e9)),
            (1.7e18, Some(1.7e9)),
            (1.7e21, None),
        ] {
            assert_eq!(since_1970(number), expected, "{number}");
        }
        let mask = Mask::of(&serde_json::json!(" 1700000000 "));
        assert_eq!((mask.rest.as_str(), mask.times), ("", vec![1.7e9]));
        let mask = Mask::of(&serde_json::json!("12:30 123e4567-e89b-12d3-a456-426614174000"));
        assert_eq!((mask.rest.as_str(), mask.times), ("<time> <id>", vec![45_000.0]));
        assert_eq!(mask.ids, ["123e4567-e89b-12d3-a456-426614174000"]);
    }
}
