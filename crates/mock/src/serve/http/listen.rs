//! Legacy: a GET stream, on which the server says what belongs to no request.

use std::{io, sync::Arc, time::Duration};

use mcp_loadtest_core::mcp::Era;
use tokio::{
    io::AsyncReadExt as _,
    sync::{broadcast::error::RecvError, mpsc},
    time::{Instant, interval},
};

use super::{
    OUTBOX,
    connection::Connection,
    endpoint,
    head::Head,
    reply::{After, chunk, event, send},
    response::status,
};
use crate::{
    audit::Kind,
    serve::dialogue::tell_change,
    server::{
        record::{Draft, Finish},
        session::{Out, Session},
    },
};

/// How often a comment keeps the stream from looking dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
    Cache-Control: no-cache, no-transform\r\nX-Accel-Buffering: no\r\n\
    Transfer-Encoding: chunked\r\n\r\n";

/// Sends what the session has to say until it ends or the client goes.
pub(super) async fn listen(
    connection: &mut Connection,
    session: &Arc<Session>,
    head: &[u8],
) -> io::Result<After> {
    let begun = Instant::now();
    let server = connection.hub.server.clone();
    let draft = Head::read(head).ok().flatten().filter(|_| server.audit().is_on()).map(|head| {
        let origin = endpoint::origin(&head, &connection.from);
        Draft::of_message(&server, session, &origin, Kind::Stream, 0)
    });
    send(&mut connection.stream, HEAD).await?;
    let (outbox, mut outgoing) = mpsc::channel(OUTBOX);
    server.stream_opened(session, &outbox, Era::Legacy);
    let mut changes = server.changes();
    let mut alive = interval(KEEP_ALIVE);
    let (mut sent, mut scrap) = (0, [0; 256]);
    loop {
        let bytes = tokio::select! {
            () = session.ended.cancelled() => break,
            Some(out) = outgoing.recv() => match out {
                Out::Message(frame) => event(&frame),
                Out::Ending(_) => continue,
            },
            change = changes.recv() => match change {
                Ok(change) => { tell_change(session, &outbox, &change).await; continue }
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => break,
            },
            _ = alive.tick() => b": alive\n\n".to_vec(),
            // Whatever a client says on its GET is too late for this connection.
            read = connection.stream.read(&mut scrap) => match read { Ok(1..) => continue, _ => break },
        };
        let mut chunked = Vec::new();
        chunk(&bytes, &mut chunked);
        if send(&mut connection.stream, &chunked).await.is_err() {
            break;
        }
        sent += bytes.len();
    }
    if let Some(draft) = draft {
        let finish = Finish { bytes_out: sent, ..Finish::at(begun.elapsed()) };
        let mut row = draft.finish(finish);
        row.http_status = Some(status::OK);
        let _ = server.audit().record(row).await;
    }
    // A stream that ends in order says so; if the client is gone, nobody hears it.
    if !connection.has_crashed() {
        let _ = send(&mut connection.stream, b"0\r\n\r\n").await;
    }
    Ok(After::Closed)
}
