//! `tools/list`, page by page, with a guard against servers that never end.

use std::{collections::HashSet, time::Duration};

use mcp_loadtest_core::{
    event::note,
    mcp::{Tool, header, method},
};
use serde_json::{Value, json};

use super::{How, Reply, Session};

/// Pages and tools beyond these are not asked for.
const MOST_PAGES: usize = 1_000;
const MOST_TOOLS: usize = 10_000;

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
    /// Lists all tools. `Err` holds the reply of the page that failed.
    pub async fn list_tools(&self, limit: Duration) -> Result<ToolListing, Reply> {
        let mut listing = ToolListing::default();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params =
                cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let request = self.prepare(method::TOOLS_LIST, params);
            let reply = self.call(&request, How::setup(limit)).await;
            if reply.failure().is_some() {
                return Err(reply);
            }
            let page = reply.json().unwrap_or(Value::Null);
            self.take_page(&page, &mut listing);
            match page.get("nextCursor").and_then(Value::as_str) {
                None => return Ok(listing),
                Some(next) if !seen.insert(next.to_owned()) => {
                    listing.problem = Some("the same cursor came twice".into());
                    break;
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
            if listing.tools.len() >= MOST_TOOLS {
                break;
            }
        }
        listing.problem.get_or_insert_with(|| "the list does not end".into());
        let problem = listing.problem.clone().unwrap_or_default();
        self.inner.note(note::FRAME_DEFECT, format!("tools/list: {problem}"));
        Ok(listing)
    }

    fn take_page(&self, page: &Value, listing: &mut ToolListing) {
        let entries = page.get("tools").and_then(Value::as_array);
        if entries.is_none() {
            listing.problem = Some("the result has no `tools`".into());
        }
        for entry in entries.into_iter().flatten().take(MOST_TOOLS) {
            match serde_json::from_value::<Tool>(entry.clone()) {
                Ok(tool) => self.admit(tool, listing),
                Err(error) => listing.refused.push((entry["name"].to_string(), error.to_string())),
            }
        }
    }

    /// Over modern HTTP a tool whose header marks are invalid must not be used.
    fn admit(&self, tool: Tool, listing: &mut ToolListing) {
        let lifecycle = self.inner.lifecycle.get();
        let marked = lifecycle.meta_in_every_request && self.inner.link.is_http();
        match header::marked_parameters(&tool.input_schema) {
            Err(why) if marked => listing.refused.push((tool.name, why)),
            _ => listing.tools.push(tool),
        }
    }
}
