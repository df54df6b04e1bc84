//! A fixture of tests/llm/matrix.yml, and what a client is told to do with it.

use mcp_loadtest_core::llm::{
    Cut, Failure, Fixture, FixtureFile, Provider, StreamFault, ToolFault,
};
use serde_json::{Value, json};

/// The part of the table in which a case stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Healthy,
    Status,
    Frames,
    Cut,
    Error,
    Slow,
    Bytes,
    ToolCall,
}

impl Part {
    /// In the order of the page, each with what stands above it.
    pub(super) const ALL: [(Self, &str); 8] = [
        (Self::Healthy, "Healthy answers"),
        (Self::Status, "HTTP errors"),
        (Self::Frames, "Failures that are counted in frames: `failure:`"),
        (Self::Cut, "Connections that break: `faults:`"),
        (Self::Error, "Errors in the middle: `faults:`"),
        (Self::Slow, "Slow answers: `faults:`"),
        (Self::Bytes, "Odd bytes that mean the same: `faults:`"),
        (Self::ToolCall, "Calls of tools: `faults:`"),
    ];
}

/// What a client is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Usage,
    Tools,
    ToolResult,
    Embeddings,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Usage => "usage",
            Self::Tools => "tools",
            Self::ToolResult => "tool_result",
            Self::Embeddings => "embeddings",
        }
    }

    /// How many requests it takes if nothing goes wrong.
    pub(super) const fn requests(self) -> usize {
        if matches!(self, Self::ToolResult) { 2 } else { 1 }
    }
}

/// How a client takes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// In one piece.
    Whole,
    /// Piece by piece, event by event.
    Stream,
    /// Piece by piece, gathered by the SDK's own helper.
    Helper,
}

impl How {
    pub(super) const ALL: [Self; 3] = [Self::Whole, Self::Stream, Self::Helper];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Stream => "stream",
            Self::Helper => "helper",
        }
    }
}

/// One fixture.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) part: Part,
    pub(super) fixture: Fixture,
}

/// The cases of a file: all fixtures that have a name.
pub(super) fn read(text: &str) -> Vec<Case> {
    let file = FixtureFile::parse(text, "matrix.yml").unwrap();
    let named = file.fixtures.into_iter().filter(|fixture| fixture.name.is_some());
    let cases: Vec<_> = named.map(Case::new).collect();
    for (at, case) in cases.iter().enumerate() {
        assert!(cases[..at].iter().all(|other| other.name != case.name), "{} is twice", case.name);
    }
    cases
}

impl Case {
    fn new(fixture: Fixture) -> Self {
        let name = fixture.name.clone().unwrap();
        let (kind, part) = (kind(&fixture, &name), part(&fixture));
        Self { name, kind, part, fixture }
    }

    /// What goes wrong on the way, if it is only one thing.
    fn fault(&self) -> Option<&StreamFault> {
        assert!(self.fixture.faults.len() <= 1, "{}: one fault at a time", self.name);
        self.fixture.faults.first()
    }

    /// Whether the answer never ends, or too late for a client with a short timeout.
    pub(super) fn is_endless(&self) -> bool {
        let is_endless =
            |fault: &StreamFault| fault.cut == Some(Cut::Silence) || fault.stall_ms.is_some();
        self.fault().is_some_and(is_endless)
    }

    /// Whether an API has what the case is about.
    pub(super) fn concerns(&self, provider: Provider) -> bool {
        let error = self.fault().and_then(|fault| fault.error.as_ref());
        let has_event = error.is_some_and(|error| error.event.is_some());
        match provider {
            Provider::Openai => !has_event,
            Provider::Responses => self.kind != Kind::Embeddings,
            Provider::Anthropic | Provider::Gemini => !has_event && self.kind != Kind::Embeddings,
        }
    }

    /// Whether an answer in one piece comes as if nothing were wrong.
    pub(super) fn is_for_streams(&self) -> bool {
        let in_failure = |failure: &Failure| {
            failure.truncate_after_frames.is_some()
                || failure.disconnect_after_ms.is_some()
                || failure.latency_jitter_ms.is_some()
                || failure.duplicate_frames
        };
        let in_fault = |fault: &StreamFault| {
            fault.ttft_ms.is_some() || fault.delays.is_some() || fault.bytes.is_some()
        };
        self.fixture.failure.as_ref().is_some_and(in_failure) || self.fault().is_some_and(in_fault)
    }

    /// Whether it can be taken so.
    pub(super) fn can_be(&self, how: How, provider: Provider) -> bool {
        match how {
            How::Whole => true,
            How::Stream => self.kind != Kind::Embeddings,
            // google-genai has none.
            How::Helper => self.kind != Kind::Embeddings && provider != Provider::Gemini,
        }
    }

    /// What must come of it, whatever the table says: a mock that answers wrongly must not be told as
    /// the behaviour of an SDK.
    pub(super) fn demand(&self, provider: Provider, how: How) -> Demand {
        if let Some(error) = &self.fixture.error {
            return Demand::Status(error.status);
        }
        if self.part == Part::Healthy || (self.is_for_streams() && how == How::Whole) {
            return Demand::Good;
        }
        if let Some(failure) = &self.fixture.failure {
            let is_late = failure.latency_ms.is_some() || failure.latency_jitter_ms.is_some();
            return if is_late { Demand::Good } else { Demand::Bad };
        }
        let Some(fault) = self.fault() else { return Demand::Good };
        if let Some(bytes) = &fault.bytes {
            // Lines that google-genai does not know, though they are in the standard; and a mark that
            // few expect.
            let is_known = provider != Provider::Gemini || !(bytes.comments || bytes.no_space);
            return if is_known && !bytes.bom { Demand::Good } else { Demand::Any };
        }
        match fault.tool_call {
            // Gemini's calls have no id, and its finish reason is the same with them as without.
            Some(ToolFault::MissingId | ToolFault::WrongFinishReason)
                if provider == Provider::Gemini =>
            {
                Demand::Good
            }
            // A helper may make one up.
            Some(ToolFault::MissingId) if how == How::Helper => Demand::Any,
            // There is no other word for a call in this API.
            Some(ToolFault::WrongFinishReason) if provider == Provider::Responses => Demand::Good,
            Some(_) => Demand::Bad,
            None if fault.ttft_ms.is_some() || fault.delays.is_some() => Demand::Good,
            // Whether a client waits as long as it was told to is its own affair.
            None if fault.stall_ms.is_some() => Demand::Any,
            None => Demand::Bad,
        }
    }

    /// What the page calls it: what is to be written into a fixture.
    pub(super) fn words(&self) -> String {
        if let Some(error) = &self.fixture.error {
            return format!("`error: {{status: {}}}`", error.status);
        }
        let fault = match (&self.fixture.failure, self.fault()) {
            (Some(failure), _) => json!(failure),
            (None, Some(fault)) => json!(fault),
            (None, None) => return self.name.replace('_', " "),
        };
        let words = flow(&fault);
        let words = words.strip_prefix('{').and_then(|words| words.strip_suffix('}'));
        format!("`{}`", words.unwrap())
    }
}

/// What must come of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// The whole answer.
    Good,
    /// An exception, or an answer that is not whole.
    Bad,
    /// An exception that tells this status.
    Status(u16),
    /// Whatever the SDK makes of it.
    Any,
}

fn kind(fixture: &Fixture, name: &str) -> Kind {
    let Some(response) = &fixture.response else { return Kind::Text };
    if name == Kind::ToolResult.name() {
        Kind::ToolResult
    } else if response.tool_calls.is_some() {
        Kind::Tools
    } else if response.embedding.is_some() {
        Kind::Embeddings
    } else if response.usage.is_some() {
        Kind::Usage
    } else {
        Kind::Text
    }
}

fn part(fixture: &Fixture) -> Part {
    if fixture.error.is_some() {
        return Part::Status;
    }
    if fixture.failure.is_some() {
        return Part::Frames;
    }
    match fixture.faults.first() {
        None => Part::Healthy,
        Some(fault) if fault.cut.is_some() => Part::Cut,
        Some(fault) if fault.error.is_some() => Part::Error,
        Some(fault) if fault.bytes.is_some() => Part::Bytes,
        Some(fault) if fault.tool_call.is_some() => Part::ToolCall,
        Some(_) => Part::Slow,
    }
}

/// A value as YAML in one line, without what is not set.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let is_set = |value: &Value| *value != json!(false) && *value != json!({});
            // What a message says changes nothing, and seeds are there for this page alone.
            let is_told = |key: &str| key != "message" && !key.ends_with("seed");
            let shown = map.iter().filter(|(key, value)| is_set(value) && is_told(key));
            let entries = shown.map(|(key, value)| format!("{key}: {}", flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().unwrap().to_string(),
        other => other.to_string(),
    }
}

/// Words of the schema that say when, and not what.
const NOT_FAULTS: [&str; 5] = ["when", "seed", "chaos_seed", "probability", "lf"];

#[test]
fn every_fault_has_a_case() {
    let schema = FixtureFile::json_schema();
    let text = include_str!("../../../../../tests/llm/matrix.yml");
    let mut words = Vec::new();
    for name in [
        "Failure",
        "StreamFault",
        "At",
        "Cut",
        "Delays",
        "BytesFault",
        "Split",
        "LineEnd",
        "ToolFault",
    ] {
        words_of(&schema["$defs"][name], &mut words);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let known: Vec<_> = text.split(|c| !is_word(c)).collect();
    words.retain(|word| !known.contains(&word.as_str()) && !NOT_FAULTS.contains(&word.as_str()));
    assert!(words.is_empty(), "no fixture has {words:?}");
}

/// The keys and the words that a part of a schema allows.
fn words_of(schema: &Value, words: &mut Vec<String>) {
    assert!(schema.is_object(), "{schema}");
    words.extend(schema["const"].as_str().map(str::to_owned));
    words
        .extend(schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone()));
    for choice in schema["oneOf"].as_array().into_iter().flatten() {
        words_of(choice, words);
    }
}
