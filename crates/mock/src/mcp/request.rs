//! From a frame to a request: its id, its method, its parameters and the era that it claims.

use std::borrow::Cow;

use mcp_loadtest_core::{
    jsonrpc::{self, Defect, Message, scan::Scanner},
    mcp::{Era, Revision, method},
};
use serde_json::Value;

use super::{
    modern,
    refusal::{Refusal, code},
    write::NO_ID,
};

/// One message.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming<'a> {
    /// It wants a reply.
    Request(Request<'a>),
    /// It wants none.
    Notification {
        /// What it tells.
        method: Cow<'a, str>,
        /// As written.
        params: Option<&'a [u8]>,
    },
    /// The reply to a request of ours, as written.
    Response(&'a [u8]),
}

/// What cannot be served, and the id to say so to.
#[derive(Debug, PartialEq)]
pub(crate) struct Unreadable<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) refusal: Refusal,
}

/// A request.
#[derive(Debug, PartialEq)]
pub(crate) struct Request<'a> {
    /// As written.
    pub(crate) id: &'a [u8],
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
    pub(crate) claim: Claim<'a>,
    /// All of it, as written.
    pub(crate) frame: &'a [u8],
    /// The era that the transport's own signs spoke for.
    pub(crate) outer: Era,
}

/// The parameters that are looked at before it is known what becomes of a request. A member of the wrong type is as good as none.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Params<'a> {
    pub(crate) name: Option<Cow<'a, str>>,
    /// As written.
    pub(crate) arguments: Option<&'a str>,
    /// What a resource is known by.
    pub(crate) uri: Option<Cow<'a, str>>,
    /// All of them, as written.
    pub(crate) raw: Option<&'a [u8]>,
    meta: Option<&'a [u8]>,
}

/// What a request says about its era.
#[derive(Debug, PartialEq)]
pub(crate) enum Claim<'a> {
    /// Nothing.
    Legacy,
    /// All that the modern era asks for; the revision need not be one that is spoken.
    Modern {
        /// The revision.
        version: Cow<'a, str>,
    },
    /// It is modern, but lacks this key of `_meta`.
    Incomplete {
        /// The key.
        missing: &'static str,
    },
}

impl<'a> Incoming<'a> {
    /// Reads a frame. `outer` is the era that the transport's own signs speak for; over stdio there
    /// are none, and the frame alone decides.
    pub(crate) fn read(frame: &'a [u8], outer: Era) -> Result<Self, Unreadable<'a>> {
        let reading = jsonrpc::read(frame);
        let unreadable = |id, refusal| Err(Unreadable { id, refusal });
        match reading.message {
            None => unreadable(NO_ID, refusal_of(&reading.defects)),
            Some(Message::Request { id, .. }) if !is_valid_id(id) => unreadable(
                NO_ID,
                Refusal::invalid_request("`id` is neither a string nor an integer"),
            ),
            Some(Message::Request { id, .. }) if reading.is_malformed() => {
                unreadable(id, refusal_of(&reading.defects))
            }
            Some(Message::Request { id, method, params }) => {
                Request::read(frame, id, method, params, outer)
                    .map(Self::Request)
                    .map_err(|refusal| Unreadable { id, refusal })
            }
            Some(Message::Notification { method, params }) => match unescape(method) {
                Some(method) => Ok(Self::Notification { method, params }),
                None => unreadable(NO_ID, Refusal::invalid_request("`method` is not a text")),
            },
            Some(Message::Response { .. }) => Ok(Self::Response(frame)),
        }
    }
}

impl<'a> Request<'a> {
    fn read(
        frame: &'a [u8],
        id: &'a [u8],
        method: &'a [u8],
        params: Option<&'a [u8]>,
        outer: Era,
    ) -> Result<Self, Refusal> {
        let method =
            unescape(method).ok_or_else(|| Refusal::invalid_request("`method` is not a text"))?;
        let params = params.map(Params::read).transpose()?.unwrap_or_default();
        let claim = claim(&method, params.meta, outer);
        Ok(Self { id, method, params, claim, frame, outer })
    }

    /// The revision in which it is served, if it is. `agreed` is what the handshake of a legacy
    /// session came to.
    pub(crate) fn revision(&self, agreed: Option<Revision>) -> Result<Revision, Refusal> {
        match &self.claim {
            Claim::Legacy => Ok(agreed.unwrap_or(Revision::NEWEST_LEGACY)),
            Claim::Modern { version } => modern::check_version(version),
            Claim::Incomplete { missing } => {
                Err(Refusal::invalid_params(format!("`_meta` lacks a valid `{missing}`")))
            }
        }
    }
}

impl<'a> Params<'a> {
    /// All of them as a tree.
    pub(crate) fn to_value(&self) -> Value {
        let parsed = self.raw.and_then(|raw| serde_json::from_slice(raw).ok());
        parsed.unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }

    fn read(raw: &'a [u8]) -> Result<Self, Refusal> {
        let mut params = Self { raw: Some(raw), ..Self::default() };
        let is_object = members(raw, |key, value| match key {
            "name" => params.name = string(value),
            "arguments" => params.arguments = std::str::from_utf8(value).ok(),
            "uri" => params.uri = string(value),
            "_meta" => params.meta = Some(value),
            _ => {}
        });
        if is_object {
            Ok(params)
        } else {
            Err(Refusal::invalid_params("`params` is not an object"))
        }
    }
}

/// A request is modern if its `_meta` names a revision, if the transport says so, or if its method
/// exists in no other era.
fn claim<'a>(method: &str, meta: Option<&'a [u8]>, outer: Era) -> Claim<'a> {
    let (mut version, mut capabilities) = (None, None);
    members(meta.unwrap_or_default(), |key, value| match key {
        method::META_VERSION => version = Some(value),
        method::META_CAPABILITIES => capabilities = Some(value),
        _ => {}
    });
    if version.is_none() && outer == Era::Legacy && method != method::DISCOVER {
        return Claim::Legacy;
    }
    match (version.and_then(string), capabilities) {
        (None, _) => Claim::Incomplete { missing: method::META_VERSION },
        (Some(version), Some([b'{', ..])) => Claim::Modern { version },
        (Some(_), _) => Claim::Incomplete { missing: method::META_CAPABILITIES },
    }
}

fn refusal_of(defects: &[Defect]) -> Refusal {
    let first = defects.iter().find(|defect| defect.is_fatal());
    let slug = first.map_or("no message", |defect| defect.slug());
    let code = match first {
        Some(
            Defect::NotJson
            | Defect::Truncated
            | Defect::TooDeep
            | Defect::LoneSurrogate
            | Defect::InvalidUtf8,
        ) => code::PARSE_ERROR,
        _ => code::INVALID_REQUEST,
    };
    Refusal::new(code, slug)
}

fn is_valid_id(raw: &[u8]) -> bool {
    let digits = raw.strip_prefix(b"-").unwrap_or(raw);
    raw.starts_with(b"\"") || (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

/// Visits the members of an object in valid JSON; `false` if it is something else.
pub(crate) fn members<'a>(raw: &'a [u8], mut visit: impl FnMut(&str, &'a [u8])) -> bool {
    let Ok(mut scanner) = Scanner::new(raw) else { return false };
    let visited = scanner.members(|scanner, key| {
        let value = scanner.raw()?;
        if let Some(key) = unescape(key) {
            visit(&key, value);
        }
        Ok(())
    });
    visited.is_ok()
}

/// The text of a value, if it is a string.
fn string(raw: &[u8]) -> Option<Cow<'_, str>> {
    unescape(raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}

/// What stands between the quotes of a string. Some libraries escape `/`, and method names are full
/// of them. `None` for what is no text, such as half of a surrogate pair.
fn unescape(raw: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(raw).ok()?;
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    serde_json::from_str(&format!("\"{text}\"")).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests;
