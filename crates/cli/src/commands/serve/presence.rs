//! Whether the client of an HTTP session is still there.
//!
//! Before 2026-07-28 a connection that ends withdraws nothing: the client may come back to the same
//! session for what it missed. So a session counts as gone when nothing of it has been open for a
//! while. Later revisions have no sessions, and the end of the connection withdraws the call.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::request::Parts,
    middleware::Next,
    response::Response,
};
use futures_util::StreamExt as _;
use rmcp::model::Extensions;
use tokio::{sync::watch, time::timeout};

/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// How long a client may be away: three times as long as it is told to wait before it comes back.
const AWAY: Duration = Duration::from_secs(9);

/// How many requests and streams of a session are open.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    open: watch::Sender<usize>,
}

impl Presence {
    /// The session that a request belongs to.
    pub(crate) fn of(extensions: &Extensions) -> Option<Arc<Self>> {
        extensions.get::<Parts>()?.extensions.get::<Arc<Self>>().cloned()
    }

    /// Waits until nothing has been open for a while.
    pub(crate) async fn gone(&self) {
        let mut open = self.open.subscribe();
        loop {
            let _ = open.wait_for(|open| *open == 0).await;
            if timeout(AWAY, open.wait_for(|open| *open > 0)).await.is_err() {
                return;
            }
        }
    }
}

/// One request or stream of a session; it is closed when this is dropped.
struct Visit(Arc<Presence>);

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

/// All sessions of which something is open, or which somebody watches.
#[derive(Debug, Default)]
pub(crate) struct Visitors(Mutex<HashMap<String, Weak<Presence>>>);

impl Visitors {
    fn enter(&self, session: &str) -> Visit {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let presence = known.get(session).and_then(Weak::upgrade).unwrap_or_default();
        known.retain(|_, presence| presence.strong_count() > 0);
        known.insert(session.to_owned(), Arc::downgrade(&presence));
        presence.open.send_modify(|open| *open += 1);
        Visit(presence)
    }
}

/// Counts what is open, of each session.
pub(super) async fn watch_sessions(
    State(visitors): State<Arc<Visitors>>,
    mut request: Request,
    next: Next,
) -> Response {
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
    let Some(visit) = session.map(|id| visitors.enter(id)) else {
        return next.run(request).await;
    };
    request.extensions_mut().insert(visit.0.clone());
    let response = next.run(request).await;
    response.map(|body| {
        // The stream owns the visit, so that it ends with the body, read to the end or not.
        let stream = body.into_data_stream().map(move |chunk| {
            let _ = &visit;
            chunk
        });
        Body::from_stream(stream)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_is_gone_when_nothing_of_it_has_been_open_for_a_while() {
        let visitors = Visitors::default();
        let call = visitors.enter("a");
        let presence = call.0.clone();
        let mut gone = Box::pin(presence.gone());
        assert!(timeout(Duration::ZERO, &mut gone).await.is_err(), "it is here");
        drop(call);
        assert!(timeout(Duration::ZERO, &mut gone).await.is_err(), "it may come back");
        let back = visitors.enter("a");
        assert!(timeout(Duration::ZERO, &mut gone).await.is_err(), "it came back");
        drop(back);
        gone.await;
        assert!(visitors.enter("b").0.open.borrow().eq(&1));
    }
}
