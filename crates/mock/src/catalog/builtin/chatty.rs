//! Several blocks whose order and letters must survive the way.

use serde_json::json;

use super::read_only;
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::{CallResult, Content},
};

const BLOCKS: [&str; 4] = [
    "first block: plain text",
    "second block: two\nlines",
    "third block: café, naïve, Zürich",
    "fourth block: the last one",
];

pub(super) fn tool() -> Tool {
    let mut listing =
        listing("chatty", "Gives four blocks of text, always the same.", json!({}), &[]);
    listing.annotations = read_only();
    Tool::now(listing, |_| {
        let content = BLOCKS.map(|block| Content::Text(block.into())).into();
        CallResult { content, ..CallResult::default() }.into()
    })
}
