//! What is kept of a request until somebody wants to read it. Making an entry of it costs more than
//! answering it, so that is left to those who ask.

use mcp_loadtest_core::llm::{Ending, Entry, Provider, secret};

/// Longer bodies are not kept.
const LONGEST_BODY: usize = 64 << 10;
/// No key is shorter than this.
const SHORTEST_KEY: usize = 16;
/// A head has no more lines than this.
pub(super) const MOST_HEADERS: usize = 200;
/// The headers that carry a key.
pub(super) const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
/// Others that nobody should read.
const SECRETS: [&str; 2] = ["cookie", "proxy-authorization"];

/// One request and what became of it, as it came.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) at_ms: f64,
    pub(super) took_ms: f64,
    /// The head as it came; keys are masked when it is read.
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
    pub(super) provider: Provider,
    pub(super) model: String,
    pub(super) stream: bool,
    /// What the body and the key come to.
    pub(super) hash: u64,
    pub(super) client: u64,
    /// The place of the fixture that answered, and its name.
    pub(super) fixture: Option<(usize, Option<String>)>,
    pub(super) status: u16,
    pub(super) retry_after_ms: Option<u64>,
    pub(super) should_retry: Option<bool>,
    pub(super) faults: Vec<String>,
    pub(super) seed: u64,
    pub(super) bytes_sent: usize,
    pub(super) said: String,
    pub(super) said_whole: bool,
    pub(super) ending: Ending,
}

impl Record {
    /// Lets go of what is too long to be kept.
    pub(super) fn slim(&mut self) {
        if self.body.len() > LONGEST_BODY {
            self.body = Vec::new();
        }
    }

    /// How much room it takes, roughly.
    pub(super) fn weight(&self) -> usize {
        self.head.len() + self.body.len() + self.said.len()
    }

    /// The same for people and programs; keys are masked.
    pub(super) fn entry(&self) -> Entry {
        let (path, headers) = self.path_and_headers();
        let body = std::str::from_utf8(&self.body).unwrap_or_default();
        Entry {
            number: self.number,
            at_ms: self.at_ms,
            took_ms: self.took_ms,
            path,
            provider: self.provider,
            model: self.model.clone(),
            stream: self.stream,
            headers,
            body: secret::masked(body).into_owned(),
            body_hash: format!("{:016x}", self.hash),
            client: format!("{:016x}", self.client),
            fixture: (self.fixture.as_ref())
                .map(|(index, name)| name.clone().unwrap_or_else(|| index.to_string())),
            status: self.status,
            retry_after_ms: self.retry_after_ms,
            should_retry: self.should_retry,
            faults: self.faults.clone(),
            seed: self.seed,
            bytes_sent: self.bytes_sent as u64,
            said: self.said.clone(),
            said_whole: self.said_whole,
            ending: self.ending,
            forgotten_before: 0,
        }
    }

    fn path_and_headers(&self) -> (String, Vec<(String, String)>) {
        let (path, mut headers) = read_head(&self.head);
        for (name, value) in &mut headers {
            *value = shown(name, value);
        }
        (path, headers)
    }
}

/// The path of a head, and its headers: names in lower case; what came twice is joined by `, `.
pub(super) fn read_head(head: &[u8]) -> (String, Vec<(String, String)>) {
    let mut lines = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut lines);
    // It was read once, or it says nothing but the path.
    let _ = request.parse(head);
    let path = request.path.unwrap_or_default().split('?').next().unwrap_or_default();
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in request.headers.iter().filter(|line| !line.name.is_empty()) {
        let name = line.name.to_ascii_lowercase();
        let value = String::from_utf8_lossy(line.value).trim().to_owned();
        match headers.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = format!("{own}, {value}"),
            None => headers.push((name, value)),
        }
    }
    (path.to_owned(), headers)
}

/// What stands in the headers that carry a key, the one first where OAuth has its tokens.
pub(super) fn keys(head: &[u8]) -> Vec<String> {
    let (_, headers) = read_head(head);
    let value = |name: &&str| headers.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    KEYS.iter().filter_map(value).cloned().collect()
}

fn shown(name: &str, value: &str) -> String {
    if KEYS.contains(&name) || SECRETS.contains(&name) {
        secret::MASK.to_owned()
    } else if value.len() < SHORTEST_KEY {
        value.to_owned()
    } else {
        secret::masked(value).into_owned()
    }
}
