//! Every fault, on every transport, in both eras: what a client sees that hides nothing.
//!
//! [`ROWS`] is the model: which faults there are and what each is to look like. A kind without a row
//! fails. Where a kind is not possible, nothing must be seen of it.
//!
//! | file        | what is seen                                        |
//! |-------------|-----------------------------------------------------|
//! | `silence`   | no reply, or one that takes its time                |
//! | `replies`   | another reply than the usual                        |
//! | `ends`      | the end of a connection, a session or a process     |
//! | `beside`    | more than the reply                                 |
//! | `selectors` | which calls are touched                             |

mod beside;
mod ends;
mod replies;
mod selectors;
mod silence;

use mcp_loadtest_core::{
    config::TransportName,
    fault::{FAULTS, Fault},
    mcp::Era,
};
use mcp_loadtest_mock::Mock;

use super::peer::Peer;

/// What is seen of a fault.
#[derive(Debug, Clone, Copy)]
enum Sees {
    /// Nothing: all is well.
    Nothing,
    /// The call is never answered, everything else is.
    Silence,
    /// So many calls are never answered, the next one is.
    SilenceFirst(usize),
    /// Calls in flight together are never answered; after a lone one all are.
    Deadlock,
    /// The reply comes after so many milliseconds.
    Delay(u64),
    /// The reply comes after so many milliseconds even when the call was cancelled.
    ReplyAfterCancel(u64),
    /// A JSON-RPC error with this code.
    Error(i64),
    /// A result with `isError`.
    ToolError,
    /// Something that is no JSON.
    NotJson,
    /// So many bytes of the reply, and the end of the connection.
    Part(usize),
    /// A line that is no message, then the reply.
    LineBefore,
    /// A reply to another id.
    OtherId,
    /// The reply, twice.
    Twice,
    /// The reply after one that was asked for later.
    Overtaken,
    /// A text of at least so many bytes.
    LongText(usize),
    /// A result that its schema forbids.
    BadResult,
    /// The reply, in many pieces.
    Pieces,
    /// The end of the connection before any reply.
    Closed,
    /// A reset of the connection before any reply.
    Reset,
    /// The end of the mock, with this exit code.
    Exit(i32),
    /// A status, with a header that belongs to it.
    Status(u16, Option<&'static str>),
    /// 404 until there is another session.
    SessionGone,
    /// That the list of tools has changed, besides the reply.
    ListChanged,
    /// Another page, whenever there was one.
    EndlessPages,
    /// Notifications without end.
    Flood,
}

/// The model.
const ROWS: &[(&str, Sees)] = &[
    ("none", Sees::Nothing),
    ("hang", Sees::Silence),
    ("wedged", Sees::Silence),
    ("slow:60", Sees::Delay(60)),
    ("recover-after:2", Sees::SilenceFirst(2)),
    ("recover-after:0", Sees::Nothing),
    ("error", Sees::Error(-32603)),
    ("error:-32050", Sees::Error(-32050)),
    ("tool-error", Sees::ToolError),
    ("flaky:1", Sees::ToolError),
    ("flaky:0", Sees::Nothing),
    ("reply-after-cancel:60", Sees::ReplyAfterCancel(60)),
    ("malformed", Sees::NotJson),
    ("truncate", Sees::Part(16)),
    ("truncate:0", Sees::Part(0)),
    ("truncate:100000", Sees::Nothing),
    ("noise", Sees::LineBefore),
    ("wrong-id", Sees::OtherId),
    ("duplicate", Sees::Twice),
    ("reorder@nth=1", Sees::Overtaken),
    ("oversized:100000", Sees::LongText(100_000)),
    ("schema-violation", Sees::BadResult),
    ("drip:300", Sees::Pieces),
    ("disconnect", Sees::Closed),
    ("reset", Sees::Reset),
    ("crash", Sees::Exit(1)),
    ("crash:42", Sees::Exit(42)),
    ("http", Sees::Status(503, Some("retry-after"))),
    ("http:429", Sees::Status(429, Some("retry-after"))),
    ("http:500", Sees::Status(500, None)),
    ("http:204", Sees::Status(204, None)),
    ("session-lost@nth=1", Sees::SessionGone),
    ("auth-expired", Sees::Status(401, Some("www-authenticate"))),
    ("list-changed", Sees::ListChanged),
    ("endless-pagination", Sees::EndlessPages),
    ("flood", Sees::Flood),
    ("lazy-init-deadlock", Sees::Deadlock),
];

#[test]
fn every_kind_has_a_row() {
    for kind in FAULTS {
        let has_row = ROWS.iter().any(|(fault, _)| parse(fault).kind() == *kind);
        assert!(
            has_row,
            "no row of mock/tests/it/faults says what a client sees of `{}`",
            kind.name
        );
    }
}

fn parse(fault: &str) -> Fault {
    fault.parse().unwrap_or_else(|error| panic!("{fault}: {error}"))
}

/// A mock with this fault, and a client that has shaken hands.
async fn start(fault: &str, transport: TransportName, era: Era) -> Peer {
    Peer::start(Mock::new().fault(parse(fault)), transport, era).await
}

/// All rows of one transport and one era.
#[expect(clippy::print_stderr, reason = "whatever fails, the output says at which row")]
async fn column(transport: TransportName, era: Era) {
    for (fault, sees) in ROWS {
        let is_possible = parse(fault).check(transport, Some(era)).is_ok();
        let sees = if is_possible { *sees } else { Sees::Nothing };
        eprintln!("{fault}: {sees:?}");
        check(start(fault, transport, era).await, fault, sees).await;
    }
}

async fn check(peer: Peer, fault: &str, sees: Sees) {
    match sees {
        Sees::Nothing => replies::usual(peer).await,
        Sees::Silence => silence::of_calls(peer).await,
        Sees::SilenceFirst(calls) => silence::of_first(peer, calls).await,
        Sees::Deadlock => silence::deadlock(peer, fault).await,
        Sees::Delay(ms) => silence::delay(peer, ms).await,
        Sees::ReplyAfterCancel(ms) => silence::reply_after_cancel(peer, ms).await,
        Sees::Error(code) => replies::error(peer, code).await,
        Sees::ToolError => replies::tool_error(peer).await,
        Sees::NotJson => replies::not_json(peer).await,
        Sees::LineBefore => replies::line_before(peer).await,
        Sees::OtherId => replies::other_id(peer).await,
        Sees::Twice => replies::twice(peer).await,
        Sees::Overtaken => replies::overtaken(peer).await,
        Sees::LongText(bytes) => replies::long_text(peer, bytes).await,
        Sees::BadResult => replies::bad_result(peer).await,
        Sees::Pieces => replies::pieces(peer).await,
        Sees::Part(bytes) => ends::part(peer, bytes).await,
        Sees::Closed => ends::closed(peer).await,
        Sees::Reset => ends::reset(peer).await,
        Sees::Exit(code) => ends::exit(peer, code).await,
        Sees::Status(status, header) => ends::status(peer, status, header).await,
        Sees::SessionGone => ends::session_gone(peer).await,
        Sees::ListChanged => beside::list_changed(peer).await,
        Sees::EndlessPages => beside::endless_pages(peer).await,
        Sees::Flood => beside::flood(peer).await,
    }
}

/// Pipes are served by threads, which know no clock but the real one.
#[tokio::test]
async fn over_stdio_in_the_legacy_era() {
    column(TransportName::Stdio, Era::Legacy).await;
}

#[tokio::test]
async fn over_stdio_in_the_modern_era() {
    column(TransportName::Stdio, Era::Modern).await;
}

#[tokio::test(start_paused = true)]
async fn over_http_in_the_legacy_era() {
    column(TransportName::Http, Era::Legacy).await;
}

#[tokio::test(start_paused = true)]
async fn over_http_in_the_modern_era() {
    column(TransportName::Http, Era::Modern).await;
}

#[tokio::test(start_paused = true)]
async fn over_sse() {
    column(TransportName::Sse, Era::Legacy).await;
}

#[tokio::test(start_paused = true)]
async fn over_websocket() {
    column(TransportName::Ws, Era::Legacy).await;
}
