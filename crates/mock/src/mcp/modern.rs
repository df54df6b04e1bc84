//! What only the stateless era has: `server/discover`, cache hints, and a revision per request.

use mcp_loadtest_core::mcp::{Era, Revision};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    capabilities,
    refusal::{Refusal, code},
};

/// How long a client may keep a list. Long enough to be seen, short enough to be tried.
const TTL_MS: u64 = 60_000;

/// A result that clients may keep for a while.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cacheable<T> {
    #[serde(flatten)]
    body: T,
    ttl_ms: u64,
    cache_scope: &'static str,
}

impl<T> Cacheable<T> {
    pub(crate) fn new(body: T) -> Self {
        Self { body, ttl_ms: TTL_MS, cache_scope: "public" }
    }
}

/// The result of `server/discover`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Discovered {
    supported_versions: Vec<Revision>,
    capabilities: Value,
}

pub(crate) fn discover() -> Discovered {
    Discovered { supported_versions: supported(), capabilities: capabilities() }
}

/// The revisions that a request may claim in its `_meta`.
fn supported() -> Vec<Revision> {
    Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern).collect()
}

/// Refuses a revision that no request may claim.
pub(crate) fn check_version(requested: &str) -> Result<Revision, Refusal> {
    match requested.parse::<Revision>() {
        Ok(revision) if revision.era() == Era::Modern => Ok(revision),
        _ => Err(Refusal {
            code: code::UNSUPPORTED_VERSION,
            message: "unsupported protocol version".into(),
            data: Some(json!({ "supported": supported(), "requested": requested })),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_of_the_other_era_is_not_supported_here() {
        assert_eq!(check_version("2026-07-28"), Ok(Revision::V2026_07_28));
        let refusal = check_version("2025-11-25").unwrap_err();
        assert_eq!(refusal.code, -32022);
        let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
        assert_eq!(refusal.data, Some(data));
    }
}
