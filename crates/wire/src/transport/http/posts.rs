//! What we say without expecting a reply: notifications, and answers to what the server asks.

use std::{cell::RefCell, time::Duration};

use mcp_loadtest_core::outcome::ErrorCategory;
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use super::HttpLink;
use crate::{
    session::{Break, Inner},
    transport::Link,
};

/// How long a POST may go without an answer before its connection is given up.
pub(super) const POST_LIMIT: Duration = Duration::from_secs(60);
/// Connections for POSTs that nobody waits for; what is to be said beyond that waits for one.
const MOST_CONNECTIONS: usize = 256;
/// Frames that a server may leave unanswered: one that asks for ever must not exhaust us.
const MOST_UNANSWERED: usize = 10_000;

/// POSTs that are on their way and that nobody waits for.
pub(super) struct Posts {
    tasks: RefCell<JoinSet<()>>,
    connections: Semaphore,
}

impl Default for Posts {
    fn default() -> Self {
        Self { tasks: RefCell::default(), connections: Semaphore::new(MOST_CONNECTIONS) }
    }
}

impl Posts {
    /// Gives up all that is on its way.
    pub(super) fn abort(&self) {
        self.tasks.borrow_mut().abort_all();
    }
}

impl HttpLink {
    /// Sends a frame that has no reply, and waits until it is accepted.
    pub(crate) async fn post(&self, inner: &Inner, frame: Vec<u8>) {
        // Nobody waits for a notification; what is wrong with the server shows at the next call.
        let _ = timeout(POST_LIMIT, self.post_frame(inner, &frame)).await;
    }

    /// The same without waiting.
    pub(crate) fn post_detached(&self, inner: &Inner, frame: Vec<u8>) {
        let Some(session) = inner.session() else { return };
        let mut tasks = self.posts.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= MOST_UNANSWERED {
            drop(tasks);
            let message = format!("{MOST_UNANSWERED} POSTs are not answered").into();
            let category = ErrorCategory::Disconnected;
            inner.break_off(Break { category, code: None, message });
            return;
        }
        tasks.spawn_local(async move {
            let Link::Http(http) = &session.inner.link else { return };
            if let Ok(_connection) = http.posts.connections.acquire().await {
                http.post(&session.inner, frame).await;
            }
        });
    }
}
