//! Words that stand in nearly every row, so that no row needs a copy of its own.

use std::borrow::Cow;

use mcp_loadtest_core::mcp::{Revision, method};

/// A word that is usually a constant, so that most rows need not allocate it.
pub type Word = Cow<'static, str>;

/// The likeliest first.
const USUAL: [&str; 12] = [
    "POST",
    "/mcp",
    method::TOOLS_CALL,
    "GET",
    "DELETE",
    method::TOOLS_LIST,
    method::DISCOVER,
    method::INITIALIZE,
    method::INITIALIZED,
    method::CANCELLED,
    method::PING,
    method::RESOURCES_READ,
];

/// The word for this text, without a copy if it is a usual one.
pub(crate) fn word(text: &str) -> Word {
    let mut usual = USUAL.into_iter().chain(Revision::ALL.map(Revision::as_str));
    usual.find(|usual| *usual == text).map_or_else(|| Cow::Owned(text.to_owned()), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_unusual_is_copied() {
        for usual in USUAL.into_iter().chain(Revision::ALL.map(Revision::as_str)) {
            assert!(matches!(word(usual), Cow::Borrowed(word) if word == usual));
        }
        for unusual in ["", "post", "tools/call ", "1900-01-01"] {
            assert!(matches!(word(unusual), Cow::Owned(word) if word == unusual));
        }
    }
}
