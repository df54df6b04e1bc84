//! The flags that say which rows are wanted.

use clap::Args;
use mcp_loadtest_mock::audit::{Filter, Kind, Timestamp};

use super::{hinted, with_hint};

/// Which rows are wanted.
#[derive(Debug, Args, Default)]
pub(super) struct Selection {
    /// Only what arrived at this time or later: 2026-05-10T14:30:00Z, or 10m for ten minutes ago.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    from: Option<Timestamp>,
    /// Only what arrived before this time.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    to: Option<Timestamp>,
    /// Only calls of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only messages of this method, for example tools/call.
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Only messages in this session.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what went well, or only what did not: true or false.
    #[arg(long, value_name = "BOOL")]
    success: Option<bool>,
    /// Only errors of this category.
    #[arg(long, value_name = "WORD")]
    category: Option<String>,
    /// Only rows of this kind: request, notification, cancellation, response, stream, session_end or refused.
    #[arg(long, value_name = "KIND", value_parser = hinted::<Kind>)]
    kind: Option<Kind>,
    /// Only rows that have this text in their arguments or in their error message.
    #[arg(long, value_name = "TEXT")]
    q: Option<String>,
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text, Timestamp::now()).map_err(|error| with_hint(&error))
}

impl Selection {
    pub(super) fn filter(&self) -> Filter {
        Filter {
            from: self.from,
            to: self.to,
            tool: self.tool.clone(),
            method: self.method.clone(),
            session: self.session.clone(),
            success: self.success,
            category: self.category.clone(),
            kind: self.kind,
            q: self.q.clone(),
            ..Filter::default()
        }
    }
}
