//! What a real server answered, and when each piece came. It is told again to the same request only.

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::secret;

/// One exchange that was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// What was asked.
    pub request: RecordedRequest,
    /// What was answered.
    pub response: RecordedResponse,
}

/// What was asked; keys are masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// The verb.
    pub verb: String,
    /// The path with its query.
    pub target: String,
    /// The body, if it was JSON.
    #[serde(default)]
    pub body: Value,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    /// The status.
    #[schemars(range(min = 100, max = 599))]
    pub status: u16,
    /// The headers that say something.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, piece by piece.
    #[serde(default)]
    pub chunks: Vec<RecordedChunk>,
    /// Whether the server broke it off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedChunk {
    /// Milliseconds since the piece before it, or since the request.
    pub after_ms: f64,
    /// What came, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// What came, if it is no text: a character may be cut in two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl RecordedChunk {
    /// A piece as it came, keys masked.
    pub fn new(after_ms: f64, bytes: &[u8]) -> Self {
        let after_ms = (after_ms * 1e3).round() / 1e3;
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                Self { after_ms, data: Some(secret::masked(text).into_owned()), base64: None }
            }
            Err(_) => Self { after_ms, data: None, base64: Some(STANDARD.encode(bytes)) },
        }
    }

    /// What came.
    pub fn bytes(&self) -> Vec<u8> {
        let text = self.data.as_ref().map(|text| text.as_bytes().to_vec());
        let binary = || STANDARD.decode(self.base64.as_deref().unwrap_or_default()).ok();
        text.or_else(binary).unwrap_or_default()
    }
}

impl RecordedRequest {
    /// A request as it is compared: keys masked, since they are masked in what was recorded.
    pub fn new(verb: &str, target: &str, body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        let body = secret::masked(&body);
        let body = serde_json::from_str(&body).unwrap_or_else(|_| match body.is_empty() {
            true => Value::Null,
            false => Value::String(body.into_owned()),
        });
        Self { verb: verb.to_owned(), target: secret::masked(target).into_owned(), body }
    }

    /// Where two requests first differ.
    fn difference(&self, other: &Self) -> Option<String> {
        if (&self.verb, &self.target) != (&other.verb, &other.target) {
            return Some(format!("it is {} {}", self.verb, self.target));
        }
        let at = differs(&self.body, &other.body, "body")?;
        Some(format!("`{at}` differs"))
    }
}

/// The path of the first difference.
fn differs(one: &Value, two: &Value, path: &str) -> Option<String> {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let keys = one.keys().chain(two.keys().filter(|key| !one.contains_key(*key)));
            keys.into_iter().find_map(|key| {
                let (one, two) = (one.get(key), two.get(key));
                let path = format!("{path}.{key}");
                one.zip(two).map_or(Some(path.clone()), |(one, two)| differs(one, two, &path))
            })
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            let pairs = one.iter().zip(two).enumerate();
            pairs
                .into_iter()
                .find_map(|(at, (one, two))| differs(one, two, &format!("{path}[{at}]")))
        }
        _ => (one != two).then(|| path.to_owned()),
    }
}

/// All recordings. Those of equal requests are told one after the other, the last one for ever.
#[derive(Debug, Default)]
pub struct Recordings {
    all: Vec<Recording>,
    told: HashMap<usize, AtomicUsize>,
}

impl Recordings {
    /// Takes recordings in their order.
    pub fn new(all: Vec<Recording>) -> Self {
        let told = (0..all.len()).map(|at| (at, AtomicUsize::new(0))).collect();
        Self { all, told }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What was answered to exactly this request.
    pub fn find(&self, request: &RecordedRequest) -> Option<&Recording> {
        let equal: Vec<_> =
            (0..self.all.len()).filter(|at| self.all[*at].request == *request).collect();
        let first = *equal.first()?;
        let turn = self.told.get(&first).map_or(0, |told| told.fetch_add(1, Ordering::Relaxed));
        equal.get(turn.min(equal.len() - 1)).map(|at| &self.all[*at])
    }

    /// Why nothing was recorded for this request.
    pub fn why_not(&self, request: &RecordedRequest) -> String {
        let same_target = self.all.iter().find(|one| one.request.target == request.target);
        let nearest = same_target.or_else(|| self.all.first());
        let why = nearest.and_then(|one| one.request.difference(request));
        let count = self.all.len();
        let why = why.map(|why| format!("; the nearest: {why}")).unwrap_or_default();
        format!("No recording equals this request ({count} looked at){why}")
    }

    /// Begins anew.
    pub fn reset(&self) {
        self.told.values().for_each(|told| told.store(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(body: &str, answer: &str) -> Recording {
        Recording {
            request: RecordedRequest::new("POST", "/v1/x", body.as_bytes()),
            response: RecordedResponse {
                status: 200,
                headers: BTreeMap::new(),
                chunks: vec![RecordedChunk::new(1.0, answer.as_bytes())],
                broken: false,
            },
        }
    }

    fn told(recordings: &Recordings, body: &str) -> Option<String> {
        let request = RecordedRequest::new("POST", "/v1/x", body.as_bytes());
        let found = recordings.find(&request)?;
        found.response.chunks[0].data.clone()
    }

    #[test]
    fn only_the_same_request_gets_the_answer() {
        let all = vec![
            recording(r#"{"a":"hello"}"#, "one"),
            recording(r#"{"a":"hello"}"#, "two"),
            recording(r#"{"a":"bye"}"#, "three"),
        ];
        let recordings = Recordings::new(all);
        assert_eq!(recordings.len(), 3);
        let hello: Vec<_> = (0..3).map(|_| told(&recordings, r#"{ "a": "hello" }"#)).collect();
        assert_eq!(hello, [Some("one".into()), Some("two".into()), Some("two".into())]);
        assert_eq!(told(&recordings, r#"{"a":"say hello"}"#), None);
        let request = RecordedRequest::new("POST", "/v1/x", br#"{"a":"say hello"}"#);
        assert!(recordings.why_not(&request).contains("`body.a` differs"));
        recordings.reset();
        assert_eq!(told(&recordings, r#"{"a":"hello"}"#), Some("one".into()));
    }

    #[test]
    fn the_place_of_the_first_difference_is_told() {
        let recordings = Recordings::new(vec![recording(r#"{"a":[1,{"b":2}]}"#, "one")]);
        assert_eq!((recordings.len(), recordings.is_empty()), (1, false));
        assert!(Recordings::new(Vec::new()).is_empty());
        let why = |verb: &str, path: &str, body: &str| {
            recordings.why_not(&RecordedRequest::new(verb, path, body.as_bytes()))
        };
        let deep = why("POST", "/v1/x", r#"{"a":[1,{"b":3}]}"#);
        assert!(deep.contains("`body.a[1].b` differs"), "{deep}");
        let longer = why("POST", "/v1/x", r#"{"a":[1]}"#);
        assert!(longer.contains("`body.a` differs"), "{longer}");
        let elsewhere = why("GET", "/v1/y", "");
        assert!(elsewhere.contains("it is POST /v1/x"), "{elsewhere}");
        let text = RecordedRequest::new("POST", "/v1/x", b"no json");
        assert!(recordings.why_not(&text).contains("`body` differs"));
    }

    #[test]
    fn keys_are_masked_on_both_sides() {
        let body = r#"{"key":"sk-proj-abcdefghijklmnopqrstuv"}"#;
        let recordings = Recordings::new(vec![recording(body, "one")]);
        assert!(!serde_json::to_string(&recordings.all).unwrap().contains("abcdef"));
        assert_eq!(told(&recordings, body), Some("one".into()));
    }

    #[test]
    fn half_a_character_survives() {
        let half = &"é".as_bytes()[..1];
        assert_eq!(RecordedChunk::new(0.0, half).bytes(), half);
    }

    #[test]
    fn the_nearest_is_the_first_with_the_same_target() {
        let mut elsewhere = recording(r#"{"a":1}"#, "one");
        elsewhere.request.target = "/v1/y".into();
        let recordings = Recordings::new(vec![elsewhere, recording(r#"{"a":1,"b":2}"#, "two")]);
        let none = "No recording equals this request (2 looked at); the nearest: ";
        for (path, body, why) in [
            ("/v1/x", r#"{"a":1,"b":3}"#, "`body.b` differs"),
            ("/v1/x", r#"{"a":1}"#, "`body.b` differs"),
            ("/v1/x", r#"{"a":1,"b":2,"c":3}"#, "`body.c` differs"),
            ("/v1/x", "", "`body` differs"),
            ("/v1/y", r#"{"a":2}"#, "`body.a` differs"),
            ("/v1/z", r#"{"a":1}"#, "it is POST /v1/y"),
        ] {
            let told = recordings.why_not(&RecordedRequest::new("POST", path, body.as_bytes()));
            assert_eq!(told, format!("{none}{why}"), "{path} {body}");
        }
        let nothing = Recordings::new(Vec::new());
        let told = nothing.why_not(&RecordedRequest::new("GET", "/", b""));
        assert_eq!(told, "No recording equals this request (0 looked at)");
    }
}
