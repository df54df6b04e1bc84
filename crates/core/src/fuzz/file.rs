//! A case as it is saved: enough to send it again and to tell whether it still shows.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{Answer, Case, Class, Intent, Payload};

/// What the member `schema` of every case file says.
pub const CASE_SCHEMA: &str = "mcp-loadtest/case/v1";

/// The largest case that is read back, in bytes as written.
const LARGEST: usize = 64 << 20;

/// Bytes that are written at once: as text where they are text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Write {
    /// UTF-8.
    Text(String),
    /// Anything.
    Base64(String),
}

/// One case of the fuzzer. `mcp-loadtest replay` sends it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mcp-loadtest fuzz case, version 1")]
pub struct CaseFile {
    /// Names this format and its version.
    #[schemars(extend("const" = CASE_SCHEMA))]
    pub schema: String,
    /// Its name.
    pub id: String,
    /// Which kind of bad input.
    pub payload: Payload,
    /// The tool whose arguments it has.
    #[serde(default)]
    pub tool: Option<String>,
    /// Which of its kind.
    pub index: u64,
    /// What it was made from.
    pub seed: u64,
    /// What is odd about it.
    pub label: String,
    /// The method that HTTP names in a header.
    pub method: String,
    /// The id that an answer has.
    pub request_id: u64,
    /// The bytes, one write after another; the last is followed by the end of a frame.
    pub writes: Vec<Write>,
    /// Whether an answer is due.
    pub answer: Answer,
    /// What the tool's schema says of the arguments.
    #[serde(default)]
    pub intent: Option<Intent>,
    /// Whether it may keep an honest tool busy.
    #[serde(default)]
    pub heavy: bool,
    /// What became of it.
    pub class: Class,
    /// What was seen, in words.
    pub seen: String,
    /// Whether it showed again on a server that had seen nothing else.
    pub repeats: bool,
    /// The case that has to come behind it on the same session, where it takes both to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Box<CaseFile>>,
    /// How many bytes it had before it was made smaller.
    pub original_bytes: u64,
    /// The server that it was found on.
    #[serde(default)]
    pub target: String,
}

/// Why a case file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CaseFileError {
    /// It is not JSON, or not a case.
    #[error("not a fuzz case: {0}")]
    NotACase(String),
    /// It is of another version.
    #[error("`schema` is `{0}`, and this version reads `{CASE_SCHEMA}`")]
    OtherVersion(String),
    /// It is too large.
    #[error("the file is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
}

impl CaseFile {
    /// A case with what became of it.
    pub fn new(case: &Case, seed: u64, class: Class, seen: String) -> Self {
        Self {
            schema: CASE_SCHEMA.to_owned(),
            id: case.id.clone(),
            payload: case.payload,
            tool: case.tool.clone(),
            index: case.index,
            seed,
            label: case.label.clone(),
            method: case.method.clone(),
            request_id: case.request_id,
            writes: case.writes.iter().map(|bytes| Write::new(bytes)).collect(),
            answer: case.answer,
            intent: case.intent,
            heavy: case.heavy,
            class,
            seen,
            repeats: false,
            then: None,
            original_bytes: case.writes.iter().map(|bytes| bytes.len() as u64).sum(),
            target: String::new(),
        }
    }

    /// Reads a file.
    pub fn parse(text: &[u8]) -> Result<Self, CaseFileError> {
        if text.len() > LARGEST {
            return Err(CaseFileError::TooLarge);
        }
        let not_a_case = |error: serde_json::Error| CaseFileError::NotACase(error.to_string());
        let any: Value = serde_json::from_slice(text).map_err(not_a_case)?;
        match any["schema"].as_str() {
            Some(CASE_SCHEMA) => {}
            Some(other) => return Err(CaseFileError::OtherVersion(other.to_owned())),
            None => return Err(CaseFileError::NotACase("it has no `schema`".into())),
        }
        let file: Self = serde_json::from_value(any).map_err(not_a_case)?;
        if file.then.as_ref().is_some_and(|next| next.then.is_some()) {
            let message = "`then` holds one case more and no others behind it";
            return Err(CaseFileError::NotACase(message.into()));
        }
        for case in [Some(&file), file.then.as_deref()].into_iter().flatten() {
            case.bytes()?;
        }
        Ok(file)
    }

    /// The file as it is written.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    fn bytes(&self) -> Result<Vec<Vec<u8>>, CaseFileError> {
        self.writes.iter().map(Write::bytes).collect()
    }

    /// The case as it is sent.
    pub fn case(&self) -> Result<Case, CaseFileError> {
        Ok(Case {
            id: self.id.clone(),
            payload: self.payload,
            tool: self.tool.clone(),
            index: self.index,
            label: self.label.clone(),
            method: self.method.clone(),
            request_id: self.request_id,
            writes: self.bytes()?,
            answer: self.answer,
            intent: self.intent,
            heavy: self.heavy,
        })
    }
}

impl Write {
    /// As text where that is possible.
    pub fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(BASE64_STANDARD.encode(bytes)),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, CaseFileError> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Base64(text) => BASE64_STANDARD
                .decode(text)
                .map_err(|error| CaseFileError::NotACase(format!("`base64`: {error}"))),
        }
    }
}

/// `schemas/case.v1.json`.
pub fn schema() -> Value {
    schema_for!(CaseFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        Case {
            id: "raw_bytes-3".into(),
            payload: Payload::RawBytes,
            tool: None,
            index: 3,
            label: "random bytes".into(),
            method: "ping".into(),
            request_id: 9,
            writes: vec![b"{\"a\"".to_vec(), b"\xff\0}".to_vec()],
            answer: Answer::May,
            intent: None,
            heavy: false,
        }
    }

    #[test]
    fn a_case_is_written_and_read_back_as_the_same_bytes() {
        let file = CaseFile::new(&case(), 1, Class::Crash, "exit code 1".into());
        let again = CaseFile::parse(file.to_json().as_bytes()).unwrap();
        assert_eq!(again, file);
        assert_eq!(again.case(), Ok(case()));
        let json: Value = serde_json::from_str(&file.to_json()).unwrap();
        assert!(jsonschema::validator_for(&schema()).unwrap().is_valid(&json));
    }

    #[test]
    fn what_is_no_case_is_refused() {
        for (text, said) in [
            ("", "not a fuzz case"),
            ("{}", "no `schema`"),
            (r#"{"schema":"mcp-loadtest/case/v9"}"#, "this version reads"),
            (r#"{"schema":"mcp-loadtest/case/v1"}"#, "missing field"),
        ] {
            let error = CaseFile::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let mut file = CaseFile::new(&case(), 1, Class::Crash, String::new());
        file.writes = vec![Write::Base64("!".into())];
        assert!(CaseFile::parse(file.to_json().as_bytes()).is_err());
    }

    #[test]
    fn one_more_case_may_come_behind_and_no_third_one() {
        let file = CaseFile::new(&case(), 1, Class::Crash, String::new());
        let two = CaseFile { then: Some(Box::new(file.clone())), ..file.clone() };
        assert_eq!(CaseFile::parse(two.to_json().as_bytes()), Ok(two.clone()));
        let three = CaseFile { then: Some(Box::new(two)), ..file };
        let error = CaseFile::parse(three.to_json().as_bytes()).unwrap_err().to_string();
        assert!(error.contains("`then`"), "{error}");
    }

    #[test]
    fn a_file_may_be_as_large_as_the_limit() {
        let mut text = vec![b'x'; LARGEST];
        assert!(matches!(CaseFile::parse(&text), Err(CaseFileError::NotACase(_))));
        text.push(b'x');
        assert_eq!(CaseFile::parse(&text), Err(CaseFileError::TooLarge));
    }
}
