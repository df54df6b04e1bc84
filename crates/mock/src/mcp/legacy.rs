//! What only the handshake era has: `initialize`.

use mcp_loadtest_core::mcp::{Era, Revision};
use serde::Serialize;
use serde_json::Value;

use super::{ServerInfo, capabilities};

/// The result of `initialize`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialized {
    pub(crate) protocol_version: Revision,
    capabilities: Value,
    server_info: ServerInfo,
}

/// Agrees to the revision that was asked for where it belongs to this era, and names the newest of
/// the era otherwise.
pub(crate) fn initialize(asked: Option<&str>, info: &ServerInfo) -> Initialized {
    let asked = asked.and_then(|text| text.parse::<Revision>().ok());
    Initialized {
        protocol_version: asked
            .filter(|revision| revision.era() == Era::Legacy)
            .unwrap_or(Revision::NEWEST_LEGACY),
        capabilities: capabilities(),
        server_info: info.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_legacy_revisions_are_agreed_to() {
        let agreed = |asked| initialize(asked, &ServerInfo::default()).protocol_version;
        assert_eq!(agreed(Some("2024-11-05")), Revision::V2024_11_05);
        assert_eq!(agreed(Some("2025-06-18")), Revision::V2025_06_18);
        for other in [Some("2026-07-28"), Some("1999-01-01"), None] {
            assert_eq!(agreed(other), Revision::V2025_11_25, "{other:?}");
        }
    }
}
