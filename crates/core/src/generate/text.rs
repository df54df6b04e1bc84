//! Strings: by `format`, by the name of the property, or a plain word; by `pattern` if they must.

use serde_json::Value;

use super::format::format;
use super::maker::{Ask, Maker};
use super::names;
use super::pattern::Pattern;
use super::schema::{Map, at_least, at_most, each};
use super::unusable::{Unusable, Why};

/// Words for text that nothing is known about.
const WORDS: [&str; 8] =
    ["hello", "example", "sample", "alpha", "green", "river", "seven", "plain"];
/// Repetitions that are tried one by one; beyond this they double.
const SMALL_GROWTH: u32 = 64;
/// Different texts that are tried for the same number of repetitions.
const SAME_GROWTH: u32 = 2;

/// How long a text must and may be, in characters.
#[derive(Debug, Clone, Copy)]
struct Length {
    least: u64,
    most: u64,
}

impl Length {
    fn of(parts: &[&Map], limit: usize) -> Result<Self, Why> {
        let (least, most) = (at_least(parts, "minLength"), at_most(parts, "maxLength"));
        if least > most {
            return Err(Why::NoValue("`minLength` is more than `maxLength`"));
        }
        if least > limit as u64 {
            return Err(Why::TooLong(least));
        }
        Ok(Self { least, most })
    }

    fn fits(self, text: &str) -> bool {
        (self.least..=self.most).contains(&(text.chars().count() as u64))
    }

    /// Repeats or cuts a text (in ASCII) until it fits.
    fn fitted(self, text: &str) -> String {
        let length = (text.len() as u64).clamp(self.least, self.most);
        text.chars().cycle().take(usize::try_from(length).unwrap_or(0)).collect()
    }
}

impl<'s> Maker<'s, '_> {
    /// A text that satisfies all of these parts.
    pub(super) fn text(&mut self, parts: &[&'s Map], ask: Ask<'_>) -> Result<String, Unusable> {
        let length = Length::of(parts, self.budget.text)?;
        let mut patterns = Vec::new();
        for pattern in each(parts, "pattern").filter_map(Value::as_str) {
            patterns.push((pattern, Pattern::parse(pattern, &mut self.meter)?));
        }
        for text in self.plain(parts, length, ask) {
            if length.fits(&text) && self.matches(&patterns, &text)? {
                self.meter.bytes(text.len())?;
                return Ok(text);
            }
        }
        for (source, pattern) in &patterns {
            if let Some(text) = self.written(source, pattern, &patterns, length, ask.turn)? {
                self.meter.bytes(text.len())?;
                return Ok(text);
            }
        }
        let first = patterns.first().map(|(source, _)| Why::pattern(source));
        Err(first.unwrap_or(Why::NoValue("no text has this format and this length")).into())
    }

    /// Texts that are likely to be understood, the likeliest first.
    fn plain(&mut self, parts: &[&Map], length: Length, ask: Ask<'_>) -> Vec<String> {
        let paths = self.budget.paths;
        let names = each(parts, "format").filter_map(Value::as_str);
        let formatted: Vec<_> =
            names.filter_map(|name| format(name, ask.turn, self.dice)).collect();
        if !formatted.is_empty() {
            return formatted.iter().map(|text| names::path(text, paths).to_owned()).collect();
        }
        let word = WORDS[self.dice.below(WORDS.len() as u64) as usize];
        let word = names::value(ask.name, paths).unwrap_or(word);
        let text = match ask.turn {
            0 => word.to_owned(),
            // In front when the text will be cut, so that it differs all the same.
            turn if length.most < 16 => format!("{}{word}", turn + 1),
            turn => format!("{word}{}", turn + 1),
        };
        vec![length.fitted(&text)]
    }

    fn matches(&mut self, patterns: &[(&str, Pattern)], text: &str) -> Result<bool, Why> {
        for (_, pattern) in patterns {
            if !pattern.matches(text, &mut self.meter)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes texts from one pattern until one fits the length and the other patterns too.
    fn written(
        &mut self,
        source: &str,
        pattern: &Pattern,
        patterns: &[(&str, Pattern)],
        length: Length,
        turn: u64,
    ) -> Result<Option<String>, Why> {
        for grow in growths(length, turn) {
            for _ in 0..SAME_GROWTH {
                self.meter.steps(source.len())?;
                let Some(text) = pattern.write(self.dice, grow, self.budget.text) else {
                    return Ok(None);
                };
                self.meter.steps(text.len())?;
                if length.fits(&text) && self.matches(patterns, &text)? {
                    return Ok(Some(text));
                }
            }
        }
        Ok(None)
    }
}

/// Numbers of repetitions to try, in an order that finds short texts first.
fn growths(length: Length, turn: u64) -> impl Iterator<Item = u32> {
    let start = (turn % u64::from(SMALL_GROWTH)) as u32;
    let doubled =
        (7..31).map(|power| 1 << power).take_while(move |grow| u64::from(*grow) <= length.least);
    let exact = u32::try_from(length.least).unwrap_or(u32::MAX);
    (start + 1..=SMALL_GROWTH).chain(0..=start).chain([exact]).chain(doubled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Budget, arguments};
    use crate::seed::Seed;
    use serde_json::json;

    fn make(name: &str, schema: Value) -> Result<Value, Unusable> {
        let schema = json!({ "properties": { name: schema }, "required": [name] });
        let made = arguments(&schema, &mut Seed(11).dice(0), &Budget::default());
        made.map(|mut made| made[name].take())
    }

    #[test]
    fn lengths_hold() {
        let at_least_12 = make("query", json!({ "type": "string", "minLength": 12 }));
        assert_eq!(at_least_12, Ok(json!("hellohellohe")));
        assert_eq!(make("query", json!({ "type": "string", "maxLength": 2 })), Ok(json!("he")));
        assert_eq!(make("query", json!({ "type": "string", "maxLength": 0 })), Ok(json!("")));
        let huge = make("query", json!({ "type": "string", "minLength": 1e12 }));
        assert_eq!(huge.unwrap_err().why, Why::TooLong(1_000_000_000_000));
    }

    #[test]
    fn a_plain_text_that_matches_is_better_than_a_written_one() {
        assert_eq!(
            make("query", json!({ "type": "string", "pattern": "^[a-z]+$" })),
            Ok(json!("hello"))
        );
        let written =
            make("id", json!({ "type": "string", "pattern": "^[A-Z]{3}-\\d{4}$" })).unwrap();
        assert_eq!(written.as_str().unwrap().len(), 8);
    }

    #[test]
    fn pattern_and_length_meet() {
        let schema =
            json!({ "type": "string", "pattern": "^ab-[a-z]+$", "minLength": 20, "maxLength": 20 });
        assert_eq!(make("x", schema).unwrap().as_str().unwrap().len(), 20);
        let long = json!({ "type": "string", "pattern": "^[0-9]+$", "minLength": 3000 });
        assert!(make("x", long).unwrap().as_str().unwrap().len() >= 3000);
    }

    #[test]
    fn an_unknown_pattern_needs_an_example() {
        let lookahead = json!({ "type": "string", "pattern": "^(?=.*\\d).{8}$" });
        assert!(matches!(make("x", lookahead).unwrap_err().why, Why::Pattern(_)));
        let helped =
            json!({ "type": "string", "pattern": "^(?=.*\\d).{8}$", "examples": ["abcdefg1"] });
        assert_eq!(make("x", helped), Ok(json!("abcdefg1")));
    }

    #[test]
    fn a_text_may_be_as_long_as_the_budget() {
        let budget = Budget { text: 10, ..Budget::default() };
        for (least, expected) in
            [(10, Ok(json!({ "q": "hellohello" }))), (11, Err(Why::TooLong(11)))]
        {
            let schema = json!({
                "properties": { "q": { "type": "string", "minLength": least } }, "required": ["q"],
            });
            let made = arguments(&schema, &mut Seed(11).dice(0), &budget);
            assert_eq!(made.map_err(|error| error.why), expected, "{least}");
        }
    }

    #[test]
    fn what_no_text_can_satisfy_is_told() {
        for (schema, expected) in [
            (
                json!({ "type": "string", "minLength": 3, "maxLength": 2 }),
                Why::NoValue("`minLength` is more than `maxLength`"),
            ),
            (
                json!({ "type": "string", "format": "date", "minLength": 50 }),
                Why::NoValue("no text has this format and this length"),
            ),
            (json!({ "type": "string", "pattern": "^a$", "minLength": 5 }), Why::pattern("^a$")),
            (
                json!({ "type": "string", "pattern": "^a{9}$", "maxLength": 5 }),
                Why::pattern("^a{9}$"),
            ),
        ] {
            assert_eq!(make("x", schema.clone()).unwrap_err().why, expected, "{schema}");
        }
        let both = json!({ "type": "string", "format": "date", "pattern": "^x{3}$" });
        assert_eq!(make("x", both), Ok(json!("xxx")));
    }

    #[test]
    fn texts_of_a_list_differ_in_front_where_they_may_be_cut() {
        for (items, expected) in [
            (json!({ "type": "string" }), ["hello", "hello2"]),
            (json!({ "type": "string", "maxLength": 16 }), ["hello", "hello2"]),
            (json!({ "type": "string", "maxLength": 15 }), ["hello", "2hello"]),
            (json!({ "type": "string", "maxLength": 3 }), ["hel", "2he"]),
        ] {
            let made = make("query", json!({ "items": items, "minItems": 2 }));
            assert_eq!(made, Ok(json!(expected)), "{items}");
        }
    }

    #[test]
    fn repetitions_begin_short_and_reach_what_is_asked_for() {
        let of = |least: u64, turn: u64| growths(Length { least, most: u64::MAX }, turn);
        let small: Vec<u32> = (1..=SMALL_GROWTH).chain([0]).collect();
        for (least, turn, expected) in [
            (0, 0, [&small[..], &[0]].concat()),
            (0, 64, [&small[..], &[0]].concat()),
            (5, 2, [&small[2..], &[1, 2, 5]].concat()),
            (127, 0, [&small[..], &[127]].concat()),
            (128, 0, [&small[..], &[128, 128]].concat()),
            (300, 0, [&small[..], &[300, 128, 256]].concat()),
        ] {
            assert_eq!(of(least, turn).collect::<Vec<_>>(), expected, "{least} {turn}");
        }
    }
}
