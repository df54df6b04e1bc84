//! Which calls a fault touches. All conditions must hold.

use std::time::Duration;

use super::{
    START,
    entry::{Entry, Values},
    error::FaultError,
    plan::CallView,
};
use crate::{
    hint::Hint as _,
    mcp::method,
    seed::Seed,
    units::{format_duration, parse_duration},
};

/// The selectors with their meaning.
pub const SELECTORS: &[(&str, &str)] = &[
    ("tool", "calls of this tool"),
    ("method", "requests with this method instead of the fault's own; `*` for all"),
    ("session", "calls of this session"),
    ("server", "calls to this server"),
    ("nth", "only the call with this number, counted from 1"),
    ("every", "each call whose number is a multiple of this one"),
    ("first", "only so many calls from the first on"),
    ("probability", "each call with this chance, between 0 and 1"),
    ("after", "only calls so long after the start, such as `5s`"),
    ("until", "only calls before so long after the start"),
    ("seed", "what the chances come from, instead of the seed of all faults"),
];

/// Every method, as a selector writes it.
const ANY: &str = "*";

/// Which calls a fault touches. Numbers and chances are about the calls that the other conditions
/// leave over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selector {
    /// The tool.
    pub tool: Option<String>,
    /// The method, or `*`.
    pub method: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// The number of the call.
    pub nth: Option<u64>,
    /// What the number of the call is a multiple of.
    pub every: Option<u64>,
    /// The largest number of a call.
    pub first: Option<u64>,
    /// The share of calls.
    pub probability: Option<f64>,
    /// The time from which on calls are touched.
    pub after: Option<Duration>,
    /// The time from which on they are not any more.
    pub until: Option<Duration>,
    /// Where chance comes from.
    pub seed: Option<Seed>,
}

impl Selector {
    /// Sets one condition from its text.
    pub(super) fn set(&mut self, key: &str, text: &str) -> Result<(), FaultError> {
        let Some((key, _)) = SELECTORS.iter().find(|(name, _)| *name == key) else {
            return Err(FaultError::UnknownSelector(key.to_owned()));
        };
        let word = || Ok(text.to_owned());
        match *key {
            "tool" => once(&mut self.tool, key, word()),
            "method" => once(&mut self.method, key, word()),
            "session" => once(&mut self.session, key, word()),
            "server" => once(&mut self.server, key, word()),
            "nth" => once(&mut self.nth, key, number(key, text)),
            "every" => once(&mut self.every, key, number(key, text)),
            "first" => once(&mut self.first, key, number(key, text)),
            "probability" => once(&mut self.probability, key, number(key, text)),
            "after" => once(&mut self.after, key, duration(key, text)),
            "until" => once(&mut self.until, key, duration(key, text)),
            _ => once(&mut self.seed, "seed", number("seed", text).map(Seed)),
        }
    }

    /// The conditions that are set, with their text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        let time = |value: Option<Duration>| value.map(format_duration);
        let texts = [
            self.tool.clone(),
            self.method.clone(),
            self.session.clone(),
            self.server.clone(),
            number(self.nth),
            number(self.every),
            number(self.first),
            self.probability.map(|share| share.to_string()),
            time(self.after),
            time(self.until),
            number(self.seed.map(|seed| seed.0)),
        ];
        let names = SELECTORS.iter().map(|(name, _)| *name);
        names.zip(texts).filter_map(|(name, text)| Some((name, text?)))
    }

    /// Refuses conditions that no call can meet.
    pub(super) fn check(&self, kind: &Entry) -> Result<(), FaultError> {
        let counts = [("nth", self.nth), ("every", self.every), ("first", self.first)];
        if let Some((key, _)) = counts.into_iter().find(|(_, value)| *value == Some(0)) {
            return Err(wrong(key, "0", "a whole number from 1 on"));
        }
        if let Some(share) = self.probability.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(wrong("probability", &share.to_string(), &Values::Share.wanted()));
        }
        if self.until.is_some_and(|until| until <= self.after.unwrap_or_default()) {
            return Err(FaultError::EmptyWindow);
        }
        let method = self.method.as_deref().unwrap_or(kind.method);
        if self.tool.is_some() && method != method::TOOLS_CALL && method != ANY {
            return Err(FaultError::NoTool(method.to_owned()));
        }
        Ok(())
    }

    /// Whether a call meets all conditions but those about its number.
    pub(super) fn counts(&self, kind: &Entry, call: &CallView<'_>) -> bool {
        let wants = |wanted: &Option<String>, given: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| given == Some(wanted))
        };
        let method = match self.method.as_deref() {
            Some(ANY) => call.method != START,
            Some(method) => call.method == method,
            None => call.method == kind.method,
        };
        method
            && wants(&self.tool, call.tool)
            && wants(&self.session, call.session)
            && wants(&self.server, call.server)
            && self.after.is_none_or(|after| call.elapsed >= after)
            && self.until.is_none_or(|until| call.elapsed < until)
    }

    /// Whether the call with this number is chosen, chance aside.
    pub(super) fn chooses(&self, ordinal: u64) -> bool {
        self.nth.is_none_or(|nth| ordinal == nth)
            && self.every.is_none_or(|every| ordinal.is_multiple_of(every))
            && self.first.is_none_or(|first| ordinal <= first)
    }
}

fn once<T>(
    slot: &mut Option<T>,
    key: &'static str,
    value: Result<T, FaultError>,
) -> Result<(), FaultError> {
    match slot.replace(value?) {
        None => Ok(()),
        Some(_) => Err(FaultError::Twice(key)),
    }
}

fn number<T: std::str::FromStr>(key: &'static str, text: &str) -> Result<T, FaultError> {
    let wanted = if key == "probability" { "a number between 0 and 1" } else { "a whole number" };
    text.trim().parse().map_err(|_| wrong(key, text, wanted))
}

fn duration(key: &'static str, text: &str) -> Result<Duration, FaultError> {
    parse_duration(text).map_err(|error| {
        let wanted = error.hint().unwrap_or_default();
        wrong(key, text, &format!("a duration: {wanted}"))
    })
}

fn wrong(key: &'static str, written: &str, wanted: &str) -> FaultError {
    FaultError::Value { key, written: written.to_owned(), wanted: wanted.to_owned() }
}
