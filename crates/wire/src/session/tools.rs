//! `tools/list`, page by page, with a guard against servers that never end.

use std::{collections::HashSet, time::Duration};

use mcp_loadtest_core::{
    display::visible,
    event::note,
    mcp::{Tool, header, method},
};
use serde_json::{Value, json};

use super::{How, Reply, Session};

/// Pages and tools beyond these are not asked for.
const MOST_PAGES: usize = 1_000;
const MOST_TOOLS: usize = 10_000;
/// All pages together. Each may be as long as a message, so their number alone bounds nothing.
const MOST_BYTES: usize = 64 << 20;

/// What the server lists.
#[derive(Debug, Clone, Default)]
pub struct ToolListing {
    /// The tools that can be called.
    pub tools: Vec<Tool>,
    /// Tools that must not be offered, and why.
    pub refused: Vec<(String, String)>,
    /// What was wrong with the list, if anything.
    pub problem: Option<String>,
}

impl Session {
    /// Lists all tools. A list that does not end, or is no list, is told as a problem and cut.
    pub async fn list_tools(&self, limit: Duration) -> Result<ToolListing, Reply> {
        let mut listing = ToolListing::default();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        for _ in 0..MOST_PAGES {
            let params =
                cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let request = self.prepare(method::TOOLS_LIST, params);
            let reply = self.call(&request, How::setup(limit)).await;
            if reply.failure().is_some() {
                return Err(reply);
            }
            bytes += reply.body.as_ref().map_or(0, Vec::len);
            let page = reply.json().unwrap_or(Value::Null);
            self.take_page(&page, &mut listing);
            match page.get("nextCursor").and_then(Value::as_str) {
                None => return Ok(self.told(listing)),
                Some(next) if !seen.insert(next.to_owned()) => {
                    listing.problem = Some("the same cursor came twice".into());
                    return Ok(self.told(listing));
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
            if listing.tools.len() + listing.refused.len() >= MOST_TOOLS || bytes > MOST_BYTES {
                break;
            }
        }
        listing.problem.get_or_insert_with(|| "the list does not end".into());
        Ok(self.told(listing))
    }

    /// Notes what is wrong with a list.
    fn told(&self, mut listing: ToolListing) -> ToolListing {
        let mut names = HashSet::new();
        if let Some(tool) = listing.tools.iter().find(|tool| !names.insert(&tool.name)) {
            let twice = format!("two tools are called `{}`", visible(&tool.name, 80));
            listing.problem.get_or_insert(twice);
        }
        if let Some(problem) = &listing.problem {
            self.inner.note(note::FRAME_DEFECT, format!("tools/list: {problem}"));
        }
        listing
    }

    fn take_page(&self, page: &Value, listing: &mut ToolListing) {
        let entries = page.get("tools").and_then(Value::as_array).map(Vec::as_slice);
        if entries.is_none() {
            listing.problem = Some("the result has no list `tools`".into());
        }
        let entries = entries.unwrap_or_default();
        let room = MOST_TOOLS.saturating_sub(listing.tools.len() + listing.refused.len());
        if entries.len() > room {
            listing.problem = Some(format!("more than {MOST_TOOLS} tools; the rest is left out"));
        }
        for entry in entries.iter().take(room) {
            match serde_json::from_value::<Tool>(entry.clone()) {
                Ok(tool) => self.admit(tool, listing),
                Err(error) => listing.refused.push((entry["name"].to_string(), error.to_string())),
            }
        }
    }

    fn admit(&self, tool: Tool, listing: &mut ToolListing) {
        let lifecycle = self.inner.lifecycle.get();
        let marked = lifecycle.meta_in_every_request && self.inner.link.is_http();
        match header::marked_parameters(&tool.input_schema) {
            Err(why) if marked => listing.refused.push((tool.name, why)),
            _ => listing.tools.push(tool),
        }
    }
}
