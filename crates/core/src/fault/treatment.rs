//! What a server or a proxy has to do with one call.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// How long a hang lasts at most. It is far past any sane timeout; it only keeps a forgotten server
/// from holding its calls for ever. Then [`HANG_CODE`] and [`HANG_MESSAGE`] are sent.
pub const HANG_LIMIT: Duration = Duration::from_secs(600);
/// The code of the error that ends a hang.
pub const HANG_CODE: i64 = -32000;
/// The message of the error that ends a hang.
pub const HANG_MESSAGE: &str = "hang: no answer within ten minutes";
/// How long a call is held that is flooded itself.
pub const FLOOD_TIME: Duration = Duration::from_secs(1);
/// How long a reply that is to be overtaken waits for another one.
pub const REORDER_LIMIT: Duration = Duration::from_secs(1);

/// What is done to one call. The default is nothing.
///
/// Whoever obeys does it in this order: wait for `delay`, do `instead` or make the usual reply, send
/// that reply as `mangles` say, and send what stands in `beside`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Treatment {
    /// How long the reply is held back.
    pub delay: Duration,
    /// Whether a cancelled call is answered all the same.
    pub ignores_cancel: bool,
    /// What happens in place of the usual reply.
    pub instead: Option<Instead>,
    /// What is done to the reply's bytes, in this order; see [`super::mangle`].
    pub mangles: Vec<Mangle>,
    /// What is sent besides the reply.
    pub beside: Vec<Beside>,
    /// Every fault that was asked about this call, whether it fired, and the seed to ask again with.
    pub decisions: Vec<Decision>,
}

impl Treatment {
    /// Whether the call is served as if there were no faults.
    pub fn is_nothing(&self) -> bool {
        self.delay.is_zero()
            && !self.ignores_cancel
            && self.instead.is_none()
            && self.mangles.is_empty()
            && self.beside.is_empty()
    }
}

/// What happens in place of the usual reply. The first one decides; later faults are not asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Instead {
    /// No answer for [`HANG_LIMIT`].
    Hang,
    /// A JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// What it carries besides.
        data: Option<Value>,
    },
    /// A tool result that says `isError`.
    ToolError {
        /// Its text.
        text: String,
    },
    /// An HTTP status.
    Http {
        /// The status.
        status: u16,
        /// The seconds in `Retry-After`.
        retry_after: Option<u64>,
        /// Whether `WWW-Authenticate` says that the token has expired.
        www_authenticate: bool,
    },
    /// 404, and the session is gone for good.
    SessionLost,
    /// The connection ends before the reply.
    Cut(Cut),
    /// The process ends with this code.
    Crash(i32),
    /// Whatever [`super::LazyInit`] says.
    LazyInit,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It is closed as usual.
    Disconnect,
    /// It is reset: RST rather than FIN.
    Reset,
}

/// What is done to the bytes of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mangle {
    /// They are no longer JSON.
    Malformed,
    /// They end after so many.
    Truncate(usize),
    /// A line that is no message stands before them.
    Noise,
    /// They answer an id that was never sent.
    WrongId,
    /// They are sent twice.
    Duplicate,
    /// They let another reply pass.
    Reorder,
    /// Their text is padded to so many bytes.
    Oversized(usize),
    /// They say what the schema of the result forbids.
    SchemaViolation,
    /// They are sent at so many a second.
    Drip(u64),
    /// They promise one more page; the number makes its cursor another one each time.
    NextCursor(u64),
}

/// What is sent besides a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// `notifications/tools/list_changed`.
    ListChanged,
    /// Notifications without end, so many a second.
    Flood(u32),
}

/// That a fault was asked about a call, and what it said. Enough to ask it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The fault's name, or else its text.
    pub fault: String,
    /// Its kind.
    pub kind: &'static str,
    /// The seed of its choice.
    pub seed: u64,
    /// Which of the calls that it counts this was, from 1.
    pub ordinal: u64,
    /// Whether it fired.
    pub fired: bool,
}
