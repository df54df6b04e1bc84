//! What an SDK made of an answer, in a few words that are the same on every day.

use mcp_loadtest_core::llm::{Provider, ToolCall};
use serde::Deserialize;
use serde_json::Value;

use super::case::{Case, How, Kind};

/// What a driver of tests/llm tells of one call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Heard {
    text: String,
    refusal: String,
    calls: Vec<HeardCall>,
    /// Whether the event came that opens a stream.
    begun: bool,
    finish: Option<String>,
    usage: Option<[u64; 2]>,
    vectors: Option<Vec<Vec<f64>>>,
    event: Option<String>,
    odd: Option<String>,
    error: Option<String>,
    hangs: bool,
}

#[derive(Debug, Deserialize)]
struct HeardCall {
    #[serde(default)]
    id: Option<String>,
    name: String,
    arguments: String,
}

pub(super) const GOOD: &str = "ok";

impl Heard {
    /// What came of a case: `ok`, the exception, or what is wrong although there was none.
    pub(super) fn outcome(
        &self,
        case: &Case,
        provider: Provider,
        how: How,
        requests: usize,
    ) -> String {
        let attempts = requests.saturating_sub(case.kind.requests()) + 1;
        let tried = if attempts == 1 { String::new() } else { format!(" ({attempts} attempts)") };
        if self.hangs {
            return "**hangs**".into();
        }
        if let Some(error) = &self.error {
            return format!("{error}{tried}");
        }
        let wrong = self.wrong(case, provider, how);
        if wrong.is_empty() && case.is_endless() {
            return format!("**{GOOD}, after the timeout**{tried}");
        }
        if wrong.is_empty() {
            return format!("{GOOD}{tried}");
        }
        format!("**silent: {}**{tried}", wrong.join(", "))
    }

    /// What an application would have to notice by itself.
    fn wrong(&self, case: &Case, provider: Provider, how: How) -> Vec<String> {
        if let Some(odd) = &self.odd {
            return vec![odd.clone()];
        }
        if case.kind == Kind::Embeddings {
            let vector = case.fixture.response.as_ref().unwrap().embedding.clone().unwrap();
            let is_whole = self.vectors.as_ref().is_some_and(|all| *all == [&vector[..], &vector]);
            return if is_whole { Vec::new() } else { vec!["other vectors".into()] };
        }
        if self.text.is_empty() && self.refusal.is_empty() && self.calls.is_empty() {
            let end = self.event.as_ref().or(self.finish.as_ref());
            let end = end.map(|end| format!("empty, `{end}`"));
            return vec![end.unwrap_or_else(|| "empty".into())];
        }
        let mut wrong = Vec::new();
        wrong.extend(self.wrong_text(case, provider));
        wrong.extend(self.wrong_calls(case, provider));
        if how == How::Stream && !self.begun {
            wrong.push("first event lost".into());
        }
        wrong.extend(self.wrong_end(case, provider));
        if case.kind == Kind::Usage {
            let usage = case.fixture.response.as_ref().unwrap().usage.unwrap();
            let is_told = self.usage == Some([usage.input_tokens, usage.output_tokens]);
            wrong.extend((!is_told).then(|| "other usage".to_owned()));
        }
        wrong
    }

    fn wrong_text(&self, case: &Case, provider: Provider) -> Option<String> {
        let refused = case.fixture.refusal.as_ref().map(|refusal| refusal.reason.as_str());
        // Anthropic tells a refusal as text, with a stop reason of its own.
        let said = match refused {
            Some(_) if provider != Provider::Anthropic => &self.refusal,
            _ => &self.text,
        };
        let response = case.fixture.response.as_ref();
        let content = response.and_then(|response| response.content.as_deref());
        let whole = refused.or(content).unwrap_or_default();
        if said == whole {
            return None;
        }
        let word = if whole.starts_with(said.as_str()) {
            "partial text"
        } else if said.chars().count() == 2 * whole.chars().count() {
            "doubled text"
        } else {
            "other text"
        };
        Some(word.into())
    }

    fn wrong_calls(&self, case: &Case, provider: Provider) -> Option<String> {
        let response = case.fixture.response.as_ref();
        let expected = match case.kind {
            // The last turn is a text.
            Kind::ToolResult => &[][..],
            _ => response.and_then(|response| response.tool_calls.as_deref()).unwrap_or_default(),
        };
        if self.calls.len() != expected.len() {
            return Some("other calls".into());
        }
        let mut pairs = self.calls.iter().zip(expected);
        pairs.find_map(|(call, expected)| call.wrong(expected, provider)).map(str::to_owned)
    }

    fn wrong_end(&self, case: &Case, provider: Provider) -> Option<String> {
        if let Some(event) = &self.event {
            return Some(format!("event `{event}`"));
        }
        let calls = case.kind == Kind::Tools;
        let expected = match provider {
            Provider::Openai if calls => "tool_calls",
            Provider::Openai => "stop",
            Provider::Responses => "completed",
            Provider::Anthropic if case.fixture.refusal.is_some() => "refusal",
            Provider::Anthropic if calls => "tool_use",
            Provider::Anthropic => "end_turn",
            Provider::Gemini if case.fixture.refusal.is_some() => "SAFETY",
            Provider::Gemini => "STOP",
        };
        match self.finish.as_deref() {
            None => Some("no finish reason".into()),
            Some(finish) if finish != expected => Some(format!("finish reason `{finish}`")),
            Some(_) => None,
        }
    }
}

impl HeardCall {
    fn wrong(&self, expected: &ToolCall, provider: Provider) -> Option<&'static str> {
        let parsed: Option<Value> = serde_json::from_str(&self.arguments).ok();
        let whole = serde_json::to_string(&expected.arguments).unwrap();
        // Gemini's calls have no id.
        let lacks_id =
            self.id.as_ref().is_none_or(String::is_empty) && provider != Provider::Gemini;
        if self.name != expected.name {
            Some("unknown tool")
        } else if lacks_id {
            Some("call without id")
        } else if parsed.is_none() && whole.starts_with(&self.arguments) {
            Some("cut arguments")
        } else if parsed.is_none() {
            Some("arguments that are no JSON")
        } else if parsed != Some(Value::Object(expected.arguments.clone())) {
            Some("other arguments")
        } else {
            None
        }
    }
}
