//! One request of a client, and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Provider;

/// One request, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest llm: a line of the journal")]
pub struct Entry {
    /// Requests are counted from 1, in the order in which they came.
    pub number: u64,
    /// When it came, in milliseconds since the start.
    pub at_ms: f64,
    /// How long it took until the last byte was sent, or the connection was gone.
    pub took_ms: f64,
    /// The path.
    pub path: String,
    /// Whose API it was.
    pub provider: Provider,
    /// The model that was asked for.
    pub model: String,
    /// Whether the answer comes piece by piece.
    pub stream: bool,
    /// The headers; keys are masked.
    pub headers: Vec<(String, String)>,
    /// The body, keys masked; empty where it is too long to be kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// What the body comes to: equal bodies have equal hashes.
    pub body_hash: String,
    /// Who asked: what their API key comes to.
    pub client: String,
    /// The fixture that answered, by its name or its number from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<String>,
    /// The status.
    pub status: u16,
    /// How long the client was told to wait before it tries again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What `x-should-retry` said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub should_retry: Option<bool>,
    /// What went wrong on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// What chances came from.
    pub seed: u64,
    /// Bytes of the body that were sent.
    pub bytes_sent: u64,
    /// What was said before an answer ended too early.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Whether that ends where a text of the answer ends: whoever got the whole answer afterwards says
    /// the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub said_whole: bool,
    /// How it ended.
    pub ending: Ending,
    /// How many requests before it the journal no longer remembers.
    #[serde(default, skip_serializing_if = "is_none")]
    pub forgotten_before: u64,
}

fn is_none(requests: &u64) -> bool {
    *requests == 0
}

/// How the answer to a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With everything said.
    Complete,
    /// An HTTP error in place of an answer.
    Refused,
    /// Too early, but as answers end: only what is missing shows it.
    CutShort,
    /// With an error in the middle of the stream.
    ErrorEvent,
    /// With something that is no answer.
    Corrupt,
    /// The connection broke, or fell silent.
    Broken,
    /// The client hung up.
    Aborted,
    /// The server stopped in the middle of it.
    Stopped,
}

/// How the paths end that are answered without a model, besides lists of models.
const WITHOUT_A_MODEL: &[&str] = &["/moderations", "/count_tokens", ":countTokens"];

/// How the paths begin where tokens are handed out.
const OF_TOKENS: &[&str] = &["/oauth/", "/.well-known/"];

/// The fault of a request whose token was good once: its client should have got another.
pub const TOKEN_RAN_OUT: &str = "token_ran_out";

/// Whether whoever asks at this path asks a model: lists of models, counts of tokens and tokens for
/// clients need none. A journal has nothing but the path to tell them by.
pub fn asks_a_model(path: &str) -> bool {
    let is_list = path.contains("/models") && !path.contains(':');
    let is_without = WITHOUT_A_MODEL.iter().any(|end| path.ends_with(end))
        || OF_TOKENS.iter().any(|beginning| path.starts_with(beginning));
    !is_list && !is_without
}

impl Entry {
    /// When it was over, in milliseconds since the start.
    pub fn ended_ms(&self) -> f64 {
        self.at_ms + self.took_ms
    }

    /// Whether a model was asked.
    pub fn is_call(&self) -> bool {
        asks_a_model(&self.path)
    }

    /// Whether no fixture answered it: then it says nothing about the client.
    pub fn is_unmatched(&self) -> bool {
        self.fixture.is_none() && matches!(self.status, 404 | 405)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Whether it was refused because its token was no longer good.
    pub fn token_ran_out(&self) -> bool {
        self.faults.iter().any(|fault| fault == TOKEN_RAN_OUT)
    }

    /// Whether another try could help; after a token that ran out, one with another token.
    pub fn is_worth_another_try(&self) -> bool {
        match self.ending {
            Ending::Complete | Ending::Aborted | Ending::Stopped => false,
            Ending::Refused if self.token_ran_out() => true,
            Ending::Refused => self
                .should_retry
                .unwrap_or(matches!(self.status, 408 | 409 | 425 | 429) || self.status >= 500),
            Ending::CutShort | Ending::ErrorEvent | Ending::Corrupt | Ending::Broken => true,
        }
    }

    /// What went wrong with it, in a few words.
    pub fn words(&self) -> String {
        match self.ending {
            Ending::Complete => "answered".into(),
            Ending::Refused => format!("HTTP {}", self.status),
            Ending::CutShort => "an answer that ended too early".into(),
            Ending::ErrorEvent => "an error in the middle of the stream".into(),
            Ending::Corrupt => "a body that is no answer".into(),
            Ending::Broken => "a connection that broke".into(),
            Ending::Aborted => "given up by the client".into(),
            Ending::Stopped => "under way when the server stopped".into(),
        }
    }

    /// The JSON Schema of a line.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ending: Ending, status: u16) -> Entry {
        serde_json::from_value(serde_json::json!({
            "number": 1, "at_ms": 200.0, "took_ms": 10.0, "path": "/v1/messages",
            "provider": "anthropic", "model": "m", "stream": false,
            "headers": [["a", "1"], ["b", "2"]], "body_hash": "b", "client": "c",
            "status": status, "seed": 0, "bytes_sent": 0, "ending": ending
        }))
        .unwrap()
    }

    #[test]
    fn only_who_wants_words_asks_a_model() {
        for (path, asks) in [
            ("/v1/messages", true),
            ("/v1/chat/completions", true),
            ("/v1beta/models/gemini-pro:generateContent", true),
            ("/v1/models", false),
            ("/v1/models/gpt-5", false),
            ("/v1/moderations", false),
            ("/v1/messages/count_tokens", false),
            ("/v1beta/models/gemini-pro:countTokens", false),
        ] {
            assert_eq!(asks_a_model(path), asks, "{path}");
            assert_eq!(Entry { path: path.into(), ..entry(Ending::Complete, 200) }.is_call(), asks);
        }
    }

    #[test]
    fn another_try_is_for_what_may_pass() {
        use Ending::{Aborted, Broken, Complete, Corrupt, CutShort, ErrorEvent, Refused, Stopped};
        for (ending, status, is_worth, words) in [
            (Complete, 200, false, "answered"),
            (Complete, 503, false, "answered"),
            (Aborted, 503, false, "given up by the client"),
            (Stopped, 200, false, "under way when the server stopped"),
            (Refused, 400, false, "HTTP 400"),
            (Refused, 408, true, "HTTP 408"),
            (Refused, 409, true, "HTTP 409"),
            (Refused, 425, true, "HTTP 425"),
            (Refused, 429, true, "HTTP 429"),
            (Refused, 499, false, "HTTP 499"),
            (Refused, 500, true, "HTTP 500"),
            (Refused, 529, true, "HTTP 529"),
            (CutShort, 200, true, "an answer that ended too early"),
            (ErrorEvent, 200, true, "an error in the middle of the stream"),
            (Corrupt, 200, true, "a body that is no answer"),
            (Broken, 200, true, "a connection that broke"),
        ] {
            let entry = entry(ending, status);
            assert_eq!(entry.is_worth_another_try(), is_worth, "{ending:?} {status}");
            assert_eq!(entry.words(), words);
        }
        // What the server says about it comes before its status.
        for (said, status) in [(true, 400), (false, 503)] {
            let entry = Entry { should_retry: Some(said), ..entry(Refused, status) };
            assert_eq!(entry.is_worth_another_try(), said, "{status}");
        }
    }

    #[test]
    fn an_entry_tells_its_end_its_headers_and_whether_a_fixture_answered() {
        let entry = |fixture: Option<&str>, status| Entry {
            fixture: fixture.map(Into::into),
            ..entry(Ending::Refused, status)
        };
        assert_eq!(entry(None, 404).ended_ms(), 210.0);
        for (name, value) in [("a", Some("1")), ("b", Some("2")), ("c", None)] {
            assert_eq!(entry(None, 404).header(name), value, "{name}");
        }
        for (fixture, status, is_unmatched) in [
            (None, 404, true),
            (None, 405, true),
            (None, 200, false),
            (None, 400, false),
            (Some("0"), 404, false),
        ] {
            assert_eq!(entry(fixture, status).is_unmatched(), is_unmatched, "{fixture:?} {status}");
        }
        let schema = Entry::json_schema();
        assert_eq!(schema["title"], "mcp-loadtest llm: a line of the journal");
    }
}
