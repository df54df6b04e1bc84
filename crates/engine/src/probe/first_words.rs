//! The first words on a connection on which nothing was said yet.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{check::Depth, mcp::method};
use mcp_loadtest_wire::session::{How, Prepared, Session, Target};
use serde_json::json;

use super::{bench::Bench, seen::Seen};

/// How long an answer may come after that to the `initialize` that was sent behind it.
const SETTLING: Duration = Duration::from_millis(200);

/// A server that takes longer to start is not started again and again without being told to.
const SLOW_START: Duration = Duration::from_secs(5);

impl Bench {
    /// Whether a start of its own would cost a check too much time.
    pub(crate) fn starts_slowly(&self) -> bool {
        matches!(self.target, Target::Stdio(_))
            && self.hello.took > SLOW_START
            && self.settings.depth < Depth::Deep
    }

    /// Sends `initialize` with this date.
    pub(crate) async fn initialize(&self, session: &Session, revision: &str) -> Seen {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": "mcp-loadtest", "version": env!("CARGO_PKG_VERSION") },
        });
        let request = session.prepare(method::INITIALIZE, params);
        let limit = self.options.startup_timeout.max(self.settings.hang_timeout);
        let reply = session.call(&request, How::setup(limit)).await;
        Seen::of_reply(&reply, session.broken())
    }

    /// Sends a request and `initialize` right behind it: the answer to that says when the server is
    /// up and has read both. Gives what became of the two.
    pub(crate) async fn ask_before_initialize(
        &self,
        session: &Session,
        request: &Rc<Prepared>,
        revision: &str,
    ) -> (Seen, Seen) {
        let early = session.call(request, How::setup(self.options.startup_timeout));
        let hello = self.initialize(session, revision);
        tokio::pin!(early, hello);
        tokio::select! {
            biased;
            reply = &mut early => {
                let seen = Seen::of_reply(&reply, session.broken());
                (seen, hello.await)
            }
            hello = &mut hello => {
                let seen = match tokio::time::timeout(SETTLING, &mut early).await {
                    Ok(reply) => Seen::of_reply(&reply, session.broken()),
                    Err(_) => Seen::Silent { waited: SETTLING },
                };
                (seen, hello)
            }
        }
    }
}
