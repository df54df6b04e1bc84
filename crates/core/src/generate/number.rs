//! Numbers: small and whole wherever the schema allows it.
//!
//! Every number is `k × step` for a whole `k`, where `step` is a fraction: 1, or the least common
//! multiple of every `multipleOf`. Fractions rather than floats, because 3 × 0.1 is not 0.3 in
//! binary and a strict server would say so. Only when no such `k` exists between the limits, and
//! no `multipleOf` is asked for, the middle between them is taken.

use serde_json::{Number, Value};

use super::maker::Ask;
use super::names;
use super::schema::{Map, each};
use super::unusable::Why;
use crate::seed::Dice;

/// How many values the dice choose from: enough to differ, and all of them small.
const CHOICES: i128 = 10;
/// How many digits after the point `multipleOf` may have.
const DIGITS: u32 = 9;

const NO_NUMBER: Why = Why::NoValue("no number lies between the limits");

/// A number between the limits of all parts.
pub(super) fn number(
    parts: &[&Map],
    is_whole: bool,
    ask: Ask<'_>,
    dice: &mut Dice,
) -> Result<Value, Why> {
    let limits = Limits::of(parts);
    let step = Step::of(parts, is_whole)?;
    let (low, high) = limits.multiples(&step);
    if low > high {
        let is_free = !is_whole && each(parts, "multipleOf").next().is_none();
        return if is_free { limits.middle() } else { Err(NO_NUMBER) };
    }
    let choices = if names::is_waiting(ask.name) { 1 } else { CHOICES };
    step.times(pick(low, high, choices, ask.turn, dice))
}

/// A whole number between `low` and `high`: near 1 if that is possible, else at the nearer end.
fn pick(low: i128, high: i128, choices: i128, turn: u64, dice: &mut Dice) -> i128 {
    let span = high.saturating_sub(low).saturating_add(1);
    let offset = match turn {
        0 => i128::from(dice.below(span.min(choices) as u64)),
        turn => i128::from(turn) % span,
    };
    // Counting up from 1 (or from `low`), and going round to `low` at the upper end.
    let start = 1.clamp(low, high);
    let room = high.saturating_sub(start);
    if offset <= room { start + offset } else { low + (offset - room - 1) }
}

/// The lower and the upper limit; each may itself be excluded.
struct Limits {
    low: Option<(f64, bool)>,
    high: Option<(f64, bool)>,
    /// The same limits for whole numbers, exact beyond the reach of a float.
    whole: (i128, i128),
}

impl Limits {
    fn of(parts: &[&Map]) -> Self {
        let mut limits = Self { low: None, high: None, whole: (i64::MIN.into(), u64::MAX.into()) };
        for part in parts {
            limits.read(part, Side::Low);
            limits.read(part, Side::High);
        }
        limits
    }

    fn read(&mut self, part: &Map, side: Side) {
        let (inclusive, exclusive) = match side {
            Side::Low => ("minimum", "exclusiveMinimum"),
            Side::High => ("maximum", "exclusiveMaximum"),
        };
        // Draft 4 writes `exclusiveMinimum: true` beside `minimum`.
        let is_flagged = part.get(exclusive) == Some(&Value::Bool(true));
        if let Some(Value::Number(limit)) = part.get(inclusive) {
            self.narrow(limit, is_flagged, side);
        }
        if let Some(Value::Number(limit)) = part.get(exclusive) {
            self.narrow(limit, true, side);
        }
    }

    fn narrow(&mut self, limit: &Number, is_excluded: bool, side: Side) {
        let Some(float) = limit.as_f64() else { return };
        let step = i128::from(is_excluded && float.fract() == 0.0);
        match side {
            Side::Low => {
                self.whole.0 = self.whole.0.max(exact(limit, float.ceil()) + step);
                let is_stricter = self.low.is_none_or(|old| (float, is_excluded) > old);
                self.low = if is_stricter { Some((float, is_excluded)) } else { self.low };
            }
            Side::High => {
                self.whole.1 = self.whole.1.min(exact(limit, float.floor()) - step);
                let is_stricter =
                    self.high.is_none_or(|old| (-float, is_excluded) > (-old.0, old.1));
                self.high = if is_stricter { Some((float, is_excluded)) } else { self.high };
            }
        }
    }

    /// The least and the greatest `k` such that `k × step` lies between the limits.
    fn multiples(&self, step: &Step) -> (i128, i128) {
        if step.below == 1 {
            let (low, high) = self.whole;
            return (-(-low).div_euclid(step.above), high.div_euclid(step.above));
        }
        let size = step.above as f64 / step.below as f64;
        let mut low = self.low.map_or(i64::MIN.into(), |(low, _)| (low / size).ceil() as i128);
        let mut high = self.high.map_or(i64::MAX.into(), |(high, _)| (high / size).floor() as i128);
        // Division may round to either side of an excluded limit.
        low += i128::from(self.low.is_some_and(|(limit, out)| out && low as f64 * size <= limit));
        high -=
            i128::from(self.high.is_some_and(|(limit, out)| out && high as f64 * size >= limit));
        (low, high)
    }

    fn middle(&self) -> Result<Value, Why> {
        let low = self.low.map_or(f64::MIN, |(low, _)| low);
        let high = self.high.map_or(f64::MAX, |(high, _)| high);
        let middle = low / 2.0 + high / 2.0;
        let is_inside =
            |limit: Option<(f64, bool)>| limit.is_none_or(|(at, out)| !out || at != middle);
        let fits = low <= middle && middle <= high && is_inside(self.low) && is_inside(self.high);
        Number::from_f64(middle).filter(|_| fits).map(Value::Number).ok_or(NO_NUMBER)
    }
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Low,
    High,
}

/// A limit as a whole number: itself if it is one, else its rounded form.
fn exact(limit: &Number, rounded: f64) -> i128 {
    let own = limit.as_i64().map(i128::from).or_else(|| limit.as_u64().map(i128::from));
    // Far outside what JSON numbers carry exactly; clamped so that one more never overflows.
    own.unwrap_or_else(|| (rounded as i128).clamp(-(1 << 100), 1 << 100))
}

/// The distance between allowed numbers, as the fraction `above / below` in lowest terms.
struct Step {
    above: i128,
    below: i128,
}

impl Step {
    fn of(parts: &[&Map], is_whole: bool) -> Result<Self, Why> {
        let mut step: Option<Self> = None;
        for value in each(parts, "multipleOf").filter_map(Value::as_f64) {
            let next = Self::from_float(value).ok_or(NO_NUMBER)?;
            step = Some(match step {
                None => next,
                Some(step) => step.common(&next).ok_or(NO_NUMBER)?,
            });
        }
        let step = step.unwrap_or(Self { above: 1, below: 1 });
        // A whole multiple of p/q in lowest terms is a multiple of p.
        Ok(if is_whole { Self { below: 1, ..step } } else { step })
    }

    fn from_float(value: f64) -> Option<Self> {
        let is_usable = value > 0.0 && value < 1e15;
        (0..=DIGITS).filter(|_| is_usable).find_map(|digits| {
            let below = 10_i128.pow(digits);
            let above = value * below as f64;
            let is_close = (above - above.round()).abs() < 1e-6 && above.round() >= 1.0;
            is_close.then(|| Self::reduced(above.round() as i128, below))
        })
    }

    fn reduced(above: i128, below: i128) -> Self {
        let divisor = greatest_divisor(above, below);
        Self { above: above / divisor, below: below / divisor }
    }

    /// The least common multiple of two fractions in lowest terms.
    fn common(&self, other: &Self) -> Option<Self> {
        let above =
            (self.above / greatest_divisor(self.above, other.above)).checked_mul(other.above)?;
        let small = above < 1 << 60;
        small.then(|| Self::reduced(above, greatest_divisor(self.below, other.below)))
    }

    fn times(&self, k: i128) -> Result<Value, Why> {
        let above = k.checked_mul(self.above).ok_or(NO_NUMBER)?;
        if above % self.below == 0 {
            let whole = above / self.below;
            let signed = i64::try_from(whole).map(Value::from);
            return signed
                .or_else(|_| u64::try_from(whole).map(Value::from))
                .map_err(|_| NO_NUMBER);
        }
        Number::from_f64(above as f64 / self.below as f64).map(Value::Number).ok_or(NO_NUMBER)
    }
}

fn greatest_divisor(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use serde_json::json;

    fn make(schema: Value, is_whole: bool) -> Result<Value, Why> {
        let ask = Ask { name: "", turn: 0 };
        number(&[schema.as_object().unwrap()], is_whole, ask, &mut Seed(9).dice(0))
    }

    #[test]
    fn numbers_are_small_and_whole_where_they_can_be() {
        for is_whole in [true, false] {
            let made = make(json!({}), is_whole).unwrap();
            assert!((1..=10).contains(&made.as_i64().unwrap()), "{made}");
        }
    }

    #[test]
    fn what_must_be_a_multiple_of_two_numbers_is_one_of_both() {
        let both = |one: f64, other: f64, limits: Value| {
            let (one, other) = (json!({ "multipleOf": one }), json!({ "multipleOf": other }));
            let parts = [&one, &other, &limits].map(|part| part.as_object().unwrap());
            number(&parts, false, Ask { name: "", turn: 0 }, &mut Seed(9).dice(0))
        };
        let near = json!({ "minimum": 13, "maximum": 35 });
        assert_eq!(both(4.0, 6.0, near.clone()).unwrap().as_f64(), Some(24.0));
        let near_half = json!({ "minimum": 1.6, "maximum": 4.4 });
        assert_eq!(both(0.5, 1.5, near_half).unwrap().as_f64(), Some(3.0));
        assert!(both(7.0, 11.0, near).is_err());
    }

    #[test]
    fn limits_hold() {
        let table = [
            (json!({ "minimum": 5, "maximum": 5 }), true, json!(5)),
            (json!({ "maximum": -3, "minimum": -3.5 }), true, json!(-3)),
            (json!({ "exclusiveMinimum": 6, "exclusiveMaximum": 8 }), true, json!(7)),
            (json!({ "minimum": 6, "exclusiveMinimum": true, "maximum": 7 }), true, json!(7)),
            (
                json!({ "minimum": 9_007_199_254_740_993_i64, "maximum": 9_007_199_254_740_993_i64 }),
                true,
                json!(9_007_199_254_740_993_i64),
            ),
            (json!({ "minimum": u64::MAX, "maximum": u64::MAX }), true, json!(u64::MAX)),
            (json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 1 }), false, json!(0.5)),
            (json!({ "minimum": 0.1, "maximum": 0.1 }), false, json!(0.1)),
            (json!({ "multipleOf": 0.1, "minimum": 0.25, "maximum": 0.35 }), false, json!(0.3)),
            (json!({ "multipleOf": 2.5, "minimum": 1, "maximum": 9 }), true, json!(5)),
            (json!({ "multipleOf": 7, "minimum": 15, "maximum": 27 }), true, json!(21)),
        ];
        for (schema, is_whole, expected) in table {
            assert_eq!(make(schema.clone(), is_whole), Ok(expected), "{schema}");
        }
    }

    #[test]
    fn what_cannot_be_is_said() {
        for schema in [
            json!({ "minimum": 2, "maximum": 1 }),
            json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 2 }),
            json!({ "multipleOf": 10, "minimum": 1, "maximum": 9 }),
            json!({ "minimum": 1e300 }),
            json!({ "multipleOf": 1e-30 }),
        ] {
            assert_eq!(make(schema.clone(), true), Err(NO_NUMBER), "{schema}");
        }
    }

    #[test]
    fn turns_go_through_the_whole_range() {
        let mut dice = Seed(1).dice(0);
        let mut seen: Vec<i128> = (1..=5).map(|turn| pick(-2, 2, 10, turn, &mut dice)).collect();
        seen.sort_unstable();
        assert_eq!(seen, [-2, -1, 0, 1, 2]);
    }

    #[test]
    fn the_multiples_between_limits_are_exact() {
        let all = (i64::MIN.into(), u64::MAX.into());
        let halves = (i64::MIN.into(), i64::MAX.into());
        for (schemas, (above, below), expected) in [
            (vec![json!({})], (1, 1), all),
            (vec![json!({})], (1, 2), halves),
            (vec![json!({ "minimum": 5, "maximum": 9 })], (1, 1), (5, 9)),
            (vec![json!({ "minimum": 5.5, "maximum": 8.5 })], (1, 1), (6, 8)),
            (vec![json!({ "exclusiveMinimum": 5, "exclusiveMaximum": 9 })], (1, 1), (6, 8)),
            (vec![json!({ "exclusiveMinimum": 5.5, "exclusiveMaximum": 8.5 })], (1, 1), (6, 8)),
            (
                vec![
                    json!({ "minimum": 5, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": true }),
                ],
                (1, 1),
                (6, 8),
            ),
            (
                vec![
                    json!({ "minimum": 5, "exclusiveMinimum": false, "maximum": 9, "exclusiveMaximum": false }),
                ],
                (1, 1),
                (5, 9),
            ),
            (vec![json!({ "minimum": 5, "maximum": 9 })], (3, 1), (2, 3)),
            (vec![json!({ "minimum": -7, "maximum": -2 })], (3, 1), (-2, -1)),
            (vec![json!({ "minimum": -1e300, "maximum": 3 })], (1, 1), (i64::MIN.into(), 3)),
            (vec![json!({ "minimum": 3, "maximum": 1e300 })], (1, 1), (3, u64::MAX.into())),
            (vec![json!({ "minimum": 0.6, "maximum": 2.4 })], (1, 2), (2, 4)),
            (vec![json!({ "minimum": 0.5, "maximum": 2.0 })], (1, 2), (1, 4)),
            (vec![json!({ "exclusiveMinimum": 0.5, "exclusiveMaximum": 2.0 })], (1, 2), (2, 3)),
            (vec![json!({ "exclusiveMinimum": 0.6, "exclusiveMaximum": 2.4 })], (1, 2), (2, 4)),
            // The strictest of several, in either order.
            (vec![json!({ "minimum": 0.5 }), json!({ "minimum": 1.5 })], (1, 2), (3, halves.1)),
            (vec![json!({ "minimum": 1.5 }), json!({ "minimum": 0.5 })], (1, 2), (3, halves.1)),
            (vec![json!({ "maximum": 2.0 }), json!({ "maximum": 1.0 })], (1, 2), (halves.0, 2)),
            (vec![json!({ "maximum": 1.0 }), json!({ "maximum": 2.0 })], (1, 2), (halves.0, 2)),
            (
                vec![json!({ "minimum": 0.5 }), json!({ "exclusiveMinimum": 0.5 })],
                (1, 2),
                (2, halves.1),
            ),
            (
                vec![json!({ "exclusiveMaximum": 2.0 }), json!({ "maximum": 2.0 })],
                (1, 2),
                (halves.0, 3),
            ),
        ] {
            let parts: Vec<_> = schemas.iter().map(|part| part.as_object().unwrap()).collect();
            let found = Limits::of(&parts).multiples(&Step { above, below });
            assert_eq!(found, expected, "{schemas:?} in steps of {above}/{below}");
        }
    }

    #[test]
    fn steps_are_fractions_in_lowest_terms() {
        let pair = |step: Step| (step.above, step.below);
        for (value, expected) in [
            (0.1, Some((1, 10))),
            (0.3, Some((3, 10))),
            (0.25, Some((1, 4))),
            (2.5, Some((5, 2))),
            (3.0, Some((3, 1))),
            (1e-9, Some((1, 1_000_000_000))),
            (1e-10, None),
            (0.0, None),
            (-1.0, None),
            (9e14, Some((900_000_000_000_000, 1))),
            (1e15, None),
        ] {
            assert_eq!(Step::from_float(value).map(pair), expected, "{value}");
        }
        let schema = json!({ "multipleOf": 2.5 });
        let of = |is_whole| Step::of(&[schema.as_object().unwrap()], is_whole).map(pair);
        assert_eq!((of(true), of(false)), (Ok((5, 1)), Ok((5, 2))));
    }

    #[test]
    fn what_two_steps_have_in_common_is_not_too_large() {
        let common = |one: (i128, i128), other: (i128, i128)| {
            let [one, other] = [one, other].map(|(above, below)| Step { above, below });
            one.common(&other).map(|step| (step.above, step.below))
        };
        assert_eq!(common((1, 2), (1, 3)), Some((1, 1)));
        assert_eq!(common((3, 4), (5, 6)), Some((15, 2)));
        assert_eq!(common(((1 << 60) - 1, 1), (1, 1)), Some(((1 << 60) - 1, 1)));
        assert_eq!(common((1 << 60, 1), (1, 1)), None);
    }

    #[test]
    fn multiples_are_whole_where_they_can_be_and_fit() {
        let times = |(above, below): (i128, i128), k: i128| Step { above, below }.times(k);
        assert_eq!(times((1, 2), 3), Ok(json!(1.5)));
        assert_eq!(times((1, 2), 4), Ok(json!(2)));
        assert_eq!(times((3, 1), -2), Ok(json!(-6)));
        assert_eq!(times((1, 1), u64::MAX.into()), Ok(json!(u64::MAX)));
        assert_eq!(times((1, 1), i128::from(u64::MAX) + 1), Err(NO_NUMBER));
        assert_eq!(times((3, 1), i128::MAX), Err(NO_NUMBER));
    }

    #[test]
    fn the_middle_is_taken_only_if_it_is_allowed() {
        for schema in [
            json!({ "exclusiveMinimum": 0.1, "maximum": 0.1 }),
            json!({ "minimum": 0.1, "exclusiveMaximum": 0.1 }),
            json!({ "minimum": 0.4, "maximum": 0.2 }),
            json!({ "multipleOf": 10, "minimum": 1, "maximum": 9 }),
        ] {
            assert_eq!(make(schema.clone(), false), Err(NO_NUMBER), "{schema}");
        }
        let between = json!({ "minimum": 0.2, "maximum": 0.4 });
        let made = make(between, false).unwrap().as_f64().unwrap();
        assert!((made - 0.3).abs() < 1e-9, "{made}");
    }

    #[test]
    fn numbers_differ_unless_a_tool_may_wait_for_them() {
        let schema = Map::new();
        let made = |name: &str| -> std::collections::BTreeSet<String> {
            let ask = Ask { name, turn: 0 };
            let each = (0..50).map(|seed| number(&[&schema], true, ask, &mut Seed(seed).dice(0)));
            each.map(|made| made.unwrap().to_string()).collect()
        };
        assert_eq!(made("wait_seconds").into_iter().collect::<Vec<_>>(), ["1"]);
        assert!(made("page").len() > 5, "{:?}", made("page"));
    }
}
