//! The stream on which a legacy server may speak unasked: notifications, and questions of its own.

use std::{
    rc::{Rc, Weak},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use super::{
    HttpLink, Trouble,
    slow::{DEFAULT_RETRY, Incoming},
    sse::SseParser,
};
use crate::{session::Inner, transport::Link};

/// How long a session waits for the stream to open. Servers that have one open it at once; one that
/// keeps the head of its reply back until it has something to say must not hold us up.
const OPENING_PATIENCE: Duration = Duration::from_millis(500);
/// The shortest wait before the stream is resumed, so that a server which always hangs up at once
/// costs little.
const SHORTEST_RETRY: Duration = Duration::from_millis(100);

impl HttpLink {
    /// Opens the stream and listens for as long as the session lives.
    ///
    /// It returns when the server has answered: a question that comes in the course of the first call
    /// finds the stream open. Servers drop what they cannot send, and that call would never end.
    pub(crate) async fn listen_unasked(&self, inner: &Inner) {
        let Some(session) = inner.session() else { return };
        let (opened, answered) = oneshot::channel();
        let weak = Rc::downgrade(&session.inner);
        self.listener.borrow_mut().spawn_local(async move {
            // Whatever ends the stream, the session goes on without it.
            let _ = listen(&weak, opened).await;
        });
        let _ = timeout(OPENING_PATIENCE, answered).await;
    }
}

/// Hears the stream to its end, over as many connections as the server wants.
async fn listen(session: &Weak<Inner>, opened: oneshot::Sender<()>) -> Result<(), Trouble> {
    let mut parser = SseParser::default();
    let mut incoming = connect(session, None).await?;
    let _ = opened.send(());
    while let Some(stream) = &mut incoming {
        hear(session, stream, &mut parser).await?;
        // Without an id there is nothing to go on with.
        let Some(last_id) = parser.last_id.clone() else { break };
        sleep(parser.retry().unwrap_or(DEFAULT_RETRY).max(SHORTEST_RETRY)).await;
        incoming = connect(session, Some(&last_id)).await?;
    }
    Ok(())
}

/// The stream, from its beginning or from where it broke off. `None`: there is none, or no session.
async fn connect(session: &Weak<Inner>, last_id: Option<&str>) -> Result<Option<Incoming>, Trouble> {
    let asked = session.upgrade().and_then(|inner| Some(http(&inner)?.listen(&inner, last_id)));
    let Some(asked) = asked else { return Ok(None) };
    Ok(Some(asked.await?).filter(Incoming::is_event_stream))
}

/// Hands on what comes until the connection ends. The session is only held while it takes something.
async fn hear(session: &Weak<Inner>, incoming: &mut Incoming, parser: &mut SseParser) -> Result<(), Trouble> {
    loop {
        if let Some(inner) = session.upgrade()
            && let Some(http) = http(&inner)
        {
            http.hand_on(&inner, incoming, parser)?;
        }
        if !incoming.more().await? {
            return Ok(());
        }
    }
}

fn http(inner: &Inner) -> Option<&HttpLink> {
    match &inner.link {
        Link::Http(http) => Some(http),
        Link::Stdio(_) => None,
    }
}
