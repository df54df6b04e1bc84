//! Where a body in one piece breaks: at the same place in what is said as a stream would.

use std::{sync::Arc, time::Duration};

use mcp_loadtest_core::llm::{At, Cut, StreamFault};

use crate::llm::{
    dialect::Reply,
    pieces::{Piece, Pieces},
};

/// How a body in one piece breaks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Breaks {
    /// After so many of its bytes.
    pub(super) after: usize,
    /// The silence there.
    pub(super) stall: Duration,
    /// How it ends there, if it does.
    pub(super) cut: Option<Cut>,
}

/// Where and how the first of these faults breaks a body.
pub(super) fn breaks(faults: &[&StreamFault], reply: &Arc<Reply>, body: &[u8]) -> Option<Breaks> {
    let strikes = |fault: &&&StreamFault| {
        fault.at != Some(At::BeforeHeaders) && (fault.cut.is_some() || fault.stall_ms.is_some())
    };
    let fault = faults.iter().find(strikes)?;
    let said = last_said(reply, fault.at.unwrap_or(At::BeforeTerminal));
    let last = body.len().saturating_sub(1);
    let after = said.and_then(|text| end_of(&text, body)).unwrap_or(last).min(last);
    let stall = Duration::from_millis(fault.stall_ms.unwrap_or_default());
    Some(Breaks { after, stall, cut: fault.cut })
}

/// What was said last before a place, from the beginning of its block.
fn last_said(reply: &Arc<Reply>, place: At) -> Option<String> {
    let mut pieces = Pieces::new(reply.clone(), usize::MAX, &[place]);
    let mut said = None;
    while !pieces.has_reached(place) {
        let more = pieces.next(|piece| match piece {
            Piece::Text { text, .. }
            | Piece::Refusal { text, .. }
            | Piece::Arguments { text, .. } => said = Some((*text).to_owned()),
            _ => {}
        });
        if !more {
            break;
        }
    }
    said
}

/// Where a text ends in a body: as a JSON string has it, or as it is, since some APIs write arguments
/// as JSON and not as text.
fn end_of(text: &str, body: &[u8]) -> Option<usize> {
    let quoted = serde_json::to_string(text).ok()?;
    let quoted = quoted.get(1..quoted.len() - 1)?;
    [quoted, text]
        .iter()
        .find_map(|form| memchr::memmem::find(body, form.as_bytes()).map(|at| at + form.len()))
}
