//! How messages reach the mock. To add a transport: one file here that reads messages, asks the
//! [`Handler`](crate::mcp::handler::Handler) and obeys its answer, and one method of
//! [`Mock`](crate::Mock).

pub(crate) mod http;
pub(crate) mod stdio;

use std::{io, time::Duration};

use tokio::time::sleep;

/// One message may not be longer than this.
const MESSAGE_LIMIT: usize = 16 << 20;
/// How long a wedged mock stays: far longer than anybody waits for it, and not for ever.
const WEDGE_LIMIT: Duration = Duration::from_secs(600);

/// Does nothing until the mock has been forgotten.
async fn stay_wedged() -> io::Error {
    sleep(WEDGE_LIMIT).await;
    io::Error::new(io::ErrorKind::TimedOut, "the mock was wedged for ten minutes and gives up")
}
