//! A request as fixtures look at it, whichever API it came by.

use serde_json::{Map, Value};

use super::Provider;

/// A request as fixtures look at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Whose API it came by.
    pub provider: Provider,
    /// The model that was asked for.
    pub model: String,
    /// The text of the last turn of the user, its parts joined by line ends.
    pub user_message: String,
    /// What the system or the developer said.
    pub system_prompt: String,
    /// The temperature, where one was given.
    pub temperature: Option<f64>,
    /// What the client calls metadata.
    pub metadata: Map<String, Value>,
    /// The names of the tools that were offered.
    pub tools: Vec<String>,
    /// Whether the answer comes piece by piece.
    pub stream: bool,
    /// Whether a stream ends with the usage (`stream_options.include_usage`).
    pub include_usage: bool,
    /// How many answers are wanted (`n`, `candidateCount`).
    pub choices: u32,
    /// The headers, names in lower case; what came twice is joined by `, `.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Value,
    /// How many bytes the body had as it came.
    pub length: usize,
    /// What the body comes to as it came: equal bodies have equal hashes.
    pub hash: u64,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
