//! The placeholders: their names, how they are read, what they write. To add one: a line in
//! [`PLACEHOLDERS`], a variant of [`Hole`], and how it is read in `Hole::parse`.

use std::{ops::Range, str::FromStr};

use super::turn::Turn;
use crate::{display::visible, hint::nearest};

/// Every placeholder with an example and what it stands for.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("{{iter}}", "the number of this call in the run, from 0"),
    ("{{session}}", "the session that makes the call, from 0"),
    ("{{worker}}", "the thread of the load generator that makes the call, from 0"),
    ("{{nonce}}", "a token that no other call has; the reply must give it back"),
    ("{{uuid}}", "a UUID of version 4, another one wherever it stands"),
    ("{{random.int 1 100}}", "a whole number between the two, both included"),
    ("{{random.float 0 1}}", "a number between the two"),
    ("{{random.choice red \"dark red\"}}", "one of these; quotes hold words together"),
    ("{{random.string 16}}", "as many letters and digits"),
    ("{{row.city}}", "the cell of this call's row of `args_file`"),
    ("{{row.zip:number}}", "the same, read as a number"),
    ("{{row.filter:json}}", "the same, read as JSON"),
];

/// The longest `random.string`.
const LONGEST: usize = 1 << 20;
/// How much of what was written an error repeats.
const SHOWN: usize = 40;

/// A place in the arguments that each call fills anew.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Hole {
    Iter,
    Session,
    Worker,
    Nonce,
    Uuid,
    Int {
        low: i64,
        /// How many numbers there are, less one: all of them would not fit.
        span: u64,
    },
    Float {
        low: f64,
        high: f64,
    },
    /// Options as they stand inside a JSON string.
    Choice(Vec<Box<[u8]>>),
    Text(usize),
    Row(RowHole),
}

/// A cell of this call's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowHole {
    pub(super) column: String,
    pub(super) cast: Cast,
}

/// What a cell is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cast {
    /// What it is: text in CSV, any value in JSONL.
    AsIs,
    Number,
    Json,
}

/// What is wrong with a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What is written between the braces, without them.
fn shown(body: &str) -> String {
    visible(body, SHOWN)
}

impl Hole {
    /// Reads what stands between the braces.
    pub(super) fn parse(body: &str) -> Result<Self, Fault> {
        let body = body.trim();
        let (name, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        let hole = match name {
            "iter" => Self::Iter,
            "session" => Self::Session,
            "worker" => Self::Worker,
            "nonce" => Self::Nonce,
            "uuid" => Self::Uuid,
            "random.int" => return int(rest),
            "random.float" => return float(rest),
            "random.choice" => return choice(rest),
            "random.string" => return text(rest),
            _ => return other(name, body),
        };
        if rest.trim().is_empty() {
            Ok(hole)
        } else {
            let more = shown(rest.trim());
            Err(Fault::new(format!("`{{{{{name}}}}}` takes nothing, and `{more}` follows it")))
        }
    }

    /// Whether it is a JSON value by itself when nothing else stands in its string.
    pub(super) fn is_value(&self) -> bool {
        match self {
            Self::Iter | Self::Session | Self::Worker | Self::Int { .. } | Self::Float { .. } => {
                true
            }
            Self::Nonce | Self::Uuid | Self::Choice(_) | Self::Text(_) => false,
            Self::Row(_) => true,
        }
    }

    /// Appends what it stands for in this call. A row's cell is not known here.
    pub(super) fn write(&self, turn: &mut Turn, out: &mut Vec<u8>) {
        match self {
            Self::Iter => integer(turn.iter, out),
            Self::Session => integer(turn.session, out),
            Self::Worker => integer(turn.worker, out),
            Self::Nonce => out.extend_from_slice(turn.nonce().as_bytes()),
            Self::Uuid => uuid(turn.dice.next_u64(), turn.dice.next_u64(), out),
            Self::Int { low, span } => {
                let step = match span.checked_add(1) {
                    Some(count) => turn.dice.below(count),
                    None => turn.dice.next_u64(),
                };
                // Wraps back: the sum of a negative and a large number lies in the range again.
                integer(low.wrapping_add(step as i64), out);
            }
            Self::Float { low, high } => {
                let value = (low + turn.dice.unit() * (high - low)).clamp(*low, *high);
                serde_json::to_writer(out, &value).expect("a finite number, written to memory");
            }
            Self::Choice(options) => {
                let index = turn.dice.below(options.len() as u64) as usize;
                out.extend_from_slice(&options[index]);
            }
            Self::Text(length) => {
                out.extend((0..*length).map(|_| LETTERS[turn.dice.below(62) as usize]));
            }
            Self::Row(_) => unreachable!("a template writes its cells itself"),
        }
    }
}

const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEX: &[u8; 16] = b"0123456789abcdef";

fn integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// 122 random bits in the form of RFC 9562, version 4.
fn uuid(high: u64, low: u64, out: &mut Vec<u8>) {
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let bits = u128::from(high) << 64 | u128::from(low);
    for nibble in 0..32 {
        if matches!(nibble, 8 | 12 | 16 | 20) {
            out.push(b'-');
        }
        out.push(HEX[(bits >> (124 - 4 * nibble)) as usize & 15]);
    }
}

fn int(rest: &str) -> Result<Hole, Fault> {
    let (low, high) = limits::<i64>(rest, "random.int 1 100", "a whole number")?;
    Ok(Hole::Int { low, span: high.abs_diff(low) })
}

fn float(rest: &str) -> Result<Hole, Fault> {
    let (low, high) = limits::<f64>(rest, "random.float 0 1", "a number")?;
    if (high - low).is_finite() {
        Ok(Hole::Float { low, high })
    } else {
        Err(Fault::new("the range is too large"))
    }
}

/// The two ends of a range.
fn limits<N: FromStr + PartialOrd>(
    rest: &str,
    example: &str,
    wanted: &str,
) -> Result<(N, N), Fault> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [low, high] = words[..] else {
        let name = example.split(' ').next().unwrap_or_default();
        let fault = Fault::new(format!("`{name}` takes two numbers, not {}", words.len()));
        return Err(fault.with_hint(format!("write for example `{{{{{example}}}}}`")));
    };
    let number = |word: &str| {
        word.parse::<N>().map_err(|_| Fault::new(format!("`{}` is not {wanted}", shown(word))))
    };
    let (from, to) = (number(low)?, number(high)?);
    if from <= to {
        Ok((from, to))
    } else {
        Err(Fault::new(format!("there is nothing between {} and {}", shown(low), shown(high)))
            .with_hint("write the smaller number first"))
    }
}

fn choice(rest: &str) -> Result<Hole, Fault> {
    let mut options = Vec::new();
    let mut rest = rest.trim();
    while !rest.is_empty() {
        let word = next_word(rest).ok_or_else(|| Fault::new("a quote is never closed"))?;
        options.push(escaped(&rest[word.text]));
        rest = rest[word.end..].trim_start();
    }
    if options.is_empty() {
        let fault = Fault::new("nothing to choose from");
        return Err(fault.with_hint("write for example `{{random.choice red green}}`"));
    }
    Ok(Hole::Choice(options))
}

/// A word, or several in quotes; `text` is what it says, `end` is where it ends.
struct Word {
    text: Range<usize>,
    end: usize,
}

/// The first word of a text that begins with one. `None`: its quote is never closed.
fn next_word(text: &str) -> Option<Word> {
    let first = text.chars().next()?;
    if matches!(first, '"' | '\'') {
        let end = 1 + text[1..].find(first)?;
        return Some(Word { text: 1..end, end: end + 1 });
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    Some(Word { text: 0..end, end })
}

/// Where the placeholder ends that began before this text. Braces in quotes do not end it.
pub(super) fn end_of(text: &str) -> Option<usize> {
    let plain = text.find("}}");
    let body = text.trim_start();
    let Some(options) = body.strip_prefix("random.choice") else { return plain };
    let mut at = text.len() - options.len();
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if rest.starts_with(['"', '\'']) {
            match next_word(rest) {
                Some(word) => at += word.end,
                None => return plain,
            }
        } else {
            let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
            match rest[..word].find("}}") {
                Some(end) => return Some(at + end),
                None if word == rest.len() => return None,
                None => at += word,
            }
        }
    }
}

/// As it stands inside a JSON string.
pub(super) fn escaped(text: &str) -> Box<[u8]> {
    let quoted = serde_json::to_vec(text).expect("a text, written to memory");
    quoted[1..quoted.len() - 1].into()
}

fn text(rest: &str) -> Result<Hole, Fault> {
    let length = rest.trim();
    match length.parse() {
        Ok(length @ 1..=LONGEST) => Ok(Hole::Text(length)),
        _ => {
            let fault =
                Fault::new(format!("`{}` is not a length from 1 to {LONGEST}", shown(length)));
            Err(fault.with_hint("write for example `{{random.string 16}}`"))
        }
    }
}

fn row(column: &str) -> Result<Hole, Fault> {
    let (name, cast) = match column.rsplit_once(':') {
        Some((name, "number")) => (name, Cast::Number),
        Some((name, "json")) => (name, Cast::Json),
        _ => (column, Cast::AsIs),
    };
    if name.is_empty() {
        let fault = Fault::new("no column is named");
        return Err(fault.with_hint("write `{{row.name}}`, with the name of a column"));
    }
    Ok(Hole::Row(RowHole { column: name.to_owned(), cast }))
}

/// What is no plain placeholder: a cell, something that is refused on purpose, or a mistake.
fn other(name: &str, body: &str) -> Result<Hole, Fault> {
    // A column may have blanks in its name.
    if let Some(column) = body.strip_prefix("row.") {
        return row(column);
    }
    if name.is_empty() {
        return Err(Fault::new("no placeholder is named").with_hint(PLAIN_BRACES));
    }
    if name == "now" || name.starts_with("now.") {
        let fault =
            Fault::new("there is no `{{now}}`: with a clock in it no run could be made again");
        return Err(fault.with_hint("for a value that grows use `{{iter}}`"));
    }
    if let Some(variable) = name.strip_prefix("env.") {
        let fault = Fault::new("there is no `{{env.…}}`: variables are filled in before the run");
        return Err(fault.with_hint(format!("write `${{{}}}` instead", shown(variable))));
    }
    let fault = Fault::new(format!("there is no placeholder `{}`", shown(name)));
    Err(match nearest(name, names()) {
        Some(known) => fault.with_hint(format!("did you mean `{{{{{known}}}}}`?")),
        None => {
            let known: Vec<&str> = names().collect();
            fault.with_hint(format!("there are {}; {PLAIN_BRACES}", known.join(", ")))
        }
    })
}

/// How to write what is not meant as a placeholder.
pub(super) const PLAIN_BRACES: &str = "for two plain braces write `{{{{`";

/// The names, without what follows them.
fn names() -> impl Iterator<Item = &'static str> {
    let names = PLACEHOLDERS.iter().map(|(form, _)| {
        form.trim_matches(['{', '}']).split([' ', ':']).next().unwrap_or_default()
    });
    names.filter(|name| !name.starts_with("row.")).chain(["row.column"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn hole(text: &str) -> Result<Hole, Fault> {
        Hole::parse(text.trim_start_matches("{{").trim_end_matches("}}"))
    }

    fn written(text: &str, iter: u64) -> String {
        let mut out = Vec::new();
        hole(text).unwrap().write(&mut Turn::new(Seed(1), iter, 3, 2), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_listed_placeholder_is_known() {
        for (form, _) in PLACEHOLDERS {
            assert!(hole(form).is_ok(), "{form}");
        }
    }

    #[test]
    fn what_each_one_writes() {
        assert_eq!(written("{{ iter }}", 7), "7");
        assert_eq!((written("session", 7), written("worker", 7)), ("3".into(), "2".into()));
        assert_eq!(written("random.int -5 -5", 0), "-5");
        assert_eq!(written("random.choice \"a \\ b\"", 0), r"a \\ b");
        assert_eq!(written("random.string 40", 0).len(), 40);
        let uuid = written("uuid", 0);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    }

    #[test]
    fn both_ends_of_a_range_occur_and_nothing_beyond() {
        let numbers = |text: &str| -> Vec<i64> {
            (0..200).map(|iter| written(text, iter).parse().unwrap()).collect()
        };
        let seen = numbers("random.int -1 2");
        assert_eq!((seen.iter().min(), seen.iter().max()), (Some(&-1), Some(&2)));
        let all = numbers(&format!("random.int {} {}", i64::MIN, i64::MAX));
        assert!(all.iter().any(|n| *n < 0) && all.iter().any(|n| *n > 0));
        let floats = (0..200).map(|iter| written("random.float -1 0.5", iter));
        assert!(floats.into_iter().all(|text| (-1.0..=0.5).contains(&text.parse().unwrap())));
    }

    #[test]
    fn braces_in_quotes_do_not_end_a_choice() {
        assert_eq!(end_of("iter}} and }}"), Some(4));
        assert_eq!(end_of(r#" random.choice "}}" b}}"#), Some(21));
        assert_eq!(end_of("random.choice don't 'a b'}} it's"), Some(25));
        assert_eq!(end_of("random.choice 'a}}"), Some(16));
        assert_eq!(end_of("random.choice a b"), None);
        assert_eq!(end_of("random.choice }}"), Some(14));
        assert_eq!(end_of("random.choice}}"), Some(13));
        assert_eq!(end_of("random.choice"), None);
    }

    #[test]
    fn a_column_may_have_blanks_and_colons_in_its_name() {
        let row = |column: &str, cast| Ok(Hole::Row(RowHole { column: column.into(), cast }));
        assert_eq!(hole("{{row.first name}}"), row("first name", Cast::AsIs));
        assert_eq!(hole("{{ row.a:b:number }}"), row("a:b", Cast::Number));
        assert_eq!(hole("{{row.a:text}}"), row("a:text", Cast::AsIs));
    }
}
