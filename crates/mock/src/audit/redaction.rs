//! What must not stand in a log: secrets by the names that they go by, and texts without end.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::secrets::{MASK, Secrets};

use super::{headers::Headers, heard::Heard, row::Row};

/// How much of the arguments of a call is kept, unless something else is asked for.
pub const ARGUMENT_LIMIT: usize = 64 << 10;

/// What the header lines of most requests take.
const USUAL_HEADERS: usize = 384;

/// Names that mark a secret wherever they occur in a longer one.
const SECRET: &[&str] = &[
    "api-key",
    "api_key",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "secret",
    "token",
];

/// Masks what goes by a secret name and cuts what is too long.
///
/// A name is secret if it contains one of the keys, in capitals or not: `token` also masks
/// `accessToken`. Such a value is replaced as a whole, whatever it is.
///
/// ```
/// use mcp_loadtest_mock::audit::Redaction;
///
/// let redaction = Redaction::default().key("PIN");
/// let (text, truncated) = redaction.arguments(r#"{"user": "ann", "auth": {"pin": 1234}}"#);
/// assert_eq!(text, r#"{"user": "ann", "auth": {"pin": "***"}}"#);
/// assert!(!truncated);
/// ```
#[derive(Debug, Clone)]
pub struct Redaction {
    /// In small letters.
    keys: Vec<String>,
    begins: Beginnings,
    limit: usize,
    secrets: Secrets,
    heard: Arc<Mutex<Heard>>,
}

impl Default for Redaction {
    fn default() -> Self {
        SECRET.iter().fold(Self::none(), |redaction, key| redaction.key(key))
    }
}

impl Redaction {
    /// Masks nothing: for a log that nobody else reads.
    pub(crate) fn none() -> Self {
        Self {
            keys: Vec::new(),
            begins: Beginnings::default(),
            limit: ARGUMENT_LIMIT,
            secrets: Secrets::default(),
            heard: Arc::default(),
        }
    }

    /// Also masks these, wherever they stand in a row.
    #[must_use]
    pub fn secrets(mut self, secrets: &Secrets) -> Self {
        self.secrets = self.secrets.and(secrets);
        self
    }

    /// A row without what was given in confidence, whoever repeats it.
    pub(super) fn row(&self, mut row: Box<Row>) -> Box<Row> {
        let heard = self.heard().secrets().clone();
        for secrets in [&self.secrets, &heard].into_iter().filter(|secrets| !secrets.is_empty()) {
            row.each_text(&|text| match secrets.text(text) {
                Cow::Owned(masked) => Some(masked),
                Cow::Borrowed(_) => None,
            });
        }
        row
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Also masks what goes by this name.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        if !key.is_empty() {
            self.begins.add(key.as_bytes());
            self.keys.push(key.to_ascii_lowercase());
        }
        self
    }

    /// How many bytes of arguments are kept.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Whether what goes by this name is a secret.
    pub fn is_secret(&self, name: &str) -> bool {
        let name = name.as_bytes();
        (0..name.len()).map(|at| &name[at..]).filter(|rest| self.begins.may_be(rest)).any(|rest| {
            let begins_with = |key: &String| {
                rest.get(..key.len()).is_some_and(|part| part.eq_ignore_ascii_case(key.as_bytes()))
            };
            self.keys.iter().any(begins_with)
        })
    }

    /// Header lines, those of secrets masked.
    pub fn headers<'a>(&self, lines: impl IntoIterator<Item = (&'a str, &'a str)>) -> Headers {
        let mut headers = Headers::with_room(USUAL_HEADERS);
        for (name, value) in lines {
            let is_secret = self.is_secret(name);
            if is_secret {
                self.heard().hear(value);
            }
            headers.push(name, if is_secret { MASK } else { value });
        }
        headers
    }

    /// JSON with secret members masked at any depth and all else as it was written, and whether it
    /// had to be cut. It is masked before it is cut, so that no half of a secret is left.
    pub fn arguments(&self, json: &str) -> (String, bool) {
        let bytes = json.as_bytes();
        let mut text = String::with_capacity(json.len().min(self.limit));
        let (mut kept, mut at) = (0, 0);
        while at < bytes.len() && text.len() + (at - kept) <= self.limit {
            if bytes[at] != b'"' {
                at += 1;
                continue;
            }
            let end = string_end(bytes, at);
            let colon = skip_space(bytes, end);
            let name = json.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
            at = end;
            if bytes.get(colon) != Some(&b':') || !self.is_secret(&unescape(name)) {
                continue;
            }
            let value = skip_space(bytes, colon + 1);
            text.push_str(&json[kept..value]);
            text.extend(['"'].into_iter().chain(MASK.chars()).chain(['"']));
            kept = value_end(bytes, value);
            at = kept;
        }
        text.push_str(&json[kept..json.floor_char_boundary(at)]);
        let truncated = at < bytes.len() || text.len() > self.limit;
        if truncated {
            text.truncate(text.floor_char_boundary(self.limit));
        }
        (text, truncated)
    }
}

/// The pairs of letters that keys begin with, large or small. Nearly all of a name is passed over by
/// them; without, this would be the dearest part of a row.
#[derive(Debug, Clone, Default)]
struct Beginnings([u32; 32]);

impl Beginnings {
    fn add(&mut self, key: &[u8]) {
        let row = &mut self.0[usize::from(key[0] & 31)];
        *row |= key.get(1).map_or(u32::MAX, |second| 1 << (second & 31));
    }

    fn may_be(&self, text: &[u8]) -> bool {
        // Five bits of a letter are the same, large or small. A lone last letter is looked at.
        let row = self.0[usize::from(text[0] & 31)];
        row != 0 && text.get(1).is_none_or(|second| row & (1 << (second & 31)) != 0)
    }
}

/// A name that hides behind escapes is still that name.
fn unescape(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    serde_json::from_str(&format!("\"{name}\"")).map_or(Cow::Borrowed(name), Cow::Owned)
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The place after the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        end += match byte {
            b'"' => return end + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

/// The place after the value that begins at `at`. What is not JSON ends nowhere: rather too much is
/// masked than too little.
fn value_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'"' => {
                end = string_end(bytes, end);
                if depth == 0 {
                    return end;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return end,
            b'}' | b']' if depth == 1 => return end + 1,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return end,
            byte if depth == 0 && byte.is_ascii_whitespace() => return end,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn masked(json: &str) -> String {
        Redaction::default().arguments(json).0
    }

    #[test]
    fn secrets_are_masked_at_any_depth_and_nothing_else_changes() {
        let cases = [
            (r#"{"a": 1,  "b":[2]}"#, r#"{"a": 1,  "b":[2]}"#),
            (r#"{"password":"x"}"#, r#"{"password":"***"}"#),
            (r#"{"Access_Token" : {"a":[1,"}"]} , "b":2}"#, r#"{"Access_Token" : "***" , "b":2}"#),
            (r#"[{"x":[{"secret":12}]}]"#, r#"[{"x":[{"secret":"***"}]}]"#),
            (r#"{"secret":null,"secret":[1, 2]}"#, r#"{"secret":"***","secret":"***"}"#),
            (r#"{"pass\u0077ord":"x"}"#, r#"{"pass\u0077ord":"***"}"#),
            (r#"{"T":1,"token":1,"to":1}"#, r#"{"T":1,"token":"***","to":1}"#),
            (r#"{"q":"password"}"#, r#"{"q":"password"}"#),
            (r#"{"q":"say \"token\": 5"}"#, r#"{"q":"say \"token\": 5"}"#),
        ];
        for (json, expected) in cases {
            assert_eq!(masked(json), expected);
        }
    }

    #[test]
    fn what_is_not_json_is_read_without_panic_and_its_secrets_go() {
        for text in
            [r#"{"token":"abc"#, r#"{"token": "#, r#"{"token""#, r#"""#, r#"{"token":"\"#, "\"\\"]
        {
            assert!(!masked(text).contains("abc"), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_cut_after_it_was_masked() {
        let redaction = Redaction::default().limit(17);
        let (text, truncated) = redaction.arguments(r#"{"password":"0123456789","b":"äöü"}"#);
        assert_eq!((text.as_str(), truncated), (r#"{"password":"***""#, true));
        let (text, truncated) = Redaction::default().limit(4).arguments(r#""äöü""#);
        assert_eq!((text.as_str(), truncated), ("\"ä", true), "no character is cut in two");
        let whole = r#"{"a":1}"#;
        assert_eq!(Redaction::default().limit(7).arguments(whole), (whole.to_owned(), false));
    }

    #[test]
    fn what_was_given_or_heard_is_in_no_text_of_a_row() {
        let given = mcp_loadtest_core::secrets::Given::default();
        let given = given.variable("TOKEN", "g1ven-secret").secrets();
        let redaction = Redaction::default().secrets(&given);
        let headers =
            redaction.headers([("Authorization", "Bearer h34rd-secret"), ("Accept", "a")]);
        let told = || Some("g1ven-secret, h34rd-secret".to_owned());
        let row = Row {
            headers,
            error_message: told(),
            note: told(),
            tool: Some("g1ven-secret".into()),
            method: Some("tools/call".into()),
            ..Row::default()
        };
        let row = redaction.row(row.into());
        assert_eq!(row.error_message.as_deref(), Some("***, ***"));
        assert_eq!((row.note.as_deref(), row.tool.as_deref()), (Some("***, ***"), Some("***")));
        assert_eq!(row.headers.as_str(), "Authorization: ***\nAccept: a\n");
        assert_eq!(row.method.as_deref(), Some("tools/call"));
    }

    #[test]
    fn header_values_are_masked_by_their_names() {
        let lines = [("Authorization", "Bearer x"), ("Accept", "*/*"), ("X-API-Key", "y")];
        let headers = Redaction::default().headers(lines);
        assert_eq!(headers.as_str(), "Authorization: ***\nAccept: */*\nX-API-Key: ***\n");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~é\"\\\\]{0,8}".prop_map(Value::from),
        ];
        let name =
            prop_oneof!["[a-z\"\\\\]{0,4}", Just("my_token".to_owned()), Just("a".to_owned())];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The same on a tree.
    fn mask(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(mask),
            Value::Object(members) => {
                for (name, value) in members {
                    if Redaction::default().is_secret(name) {
                        *value = json!(MASK);
                    } else {
                        mask(value);
                    }
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn masking_the_text_is_masking_the_tree(value in any_json()) {
            let mut expected = value.clone();
            mask(&mut expected);
            let read: Value = serde_json::from_str(&masked(&value.to_string())).unwrap();
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn no_text_panics(text in any::<String>(), limit in 0_usize..20) {
            let (text, _) = Redaction::default().limit(limit).arguments(&text);
            prop_assert!(text.len() <= limit);
        }
    }
}
