//! HTTP+SSE of 2024-11-05: one stream for everything that the server says, and a POST for everything
//! that the client does.

use std::{io, sync::Arc};

use mcp_loadtest_core::{
    config::TransportName,
    fault::{Cut, Step},
};
use tokio::{io::AsyncReadExt as _, sync::mpsc};

use super::{
    Hub, OUTBOX,
    connection::Connection,
    endpoint,
    head::Head,
    reply::{self, After, event, send},
    response::{Response, status},
    sessions::Sessions,
};
use crate::{
    mcp::refusal::{Refusal, code},
    serve::dialogue::Dialogue,
    server::{caller::Caller, pending::Ending, session::Out},
};

/// Where the stream is.
pub(super) const PATH: &str = "/sse";
/// Where messages are posted.
pub(super) const POST_PATH: &str = "/messages";
const SESSION: &str = "session_id=";

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
    Cache-Control: no-cache, no-transform\r\nX-Accel-Buffering: no\r\nConnection: close\r\n\r\n";

/// A client and where its replies go.
#[derive(Debug)]
pub(super) struct Client {
    dialogue: Dialogue,
    outbox: mpsc::Sender<Out>,
}

/// Sends everything that the server has to say, until one side has enough.
pub(super) async fn stream(connection: &mut Connection) -> io::Result<After> {
    let hub = connection.hub.clone();
    let name = Sessions::<Client>::name();
    let (outbox, mut outgoing) = mpsc::channel(OUTBOX);
    let id = name.to_string();
    let dialogue = Dialogue::new(hub.server.clone(), &id, TransportName::Sse, outbox.clone());
    let client = Arc::new(Client { dialogue, outbox });
    hub.clients.open(name, client.clone());
    let hello = format!("{HEAD}event: endpoint\ndata: {POST_PATH}?{SESSION}{id}\n\n");
    send(&mut connection.stream, hello.as_bytes()).await?;
    let mut scrap = [0; 256];
    let after = loop {
        let out = tokio::select! {
            Some(out) = outgoing.recv() => out,
            () = hub.server.end().cancelled() => break After::Closed,
            read = connection.stream.read(&mut scrap) => match read {
                Ok(1..) => continue,
                _ => break After::Closed,
            },
        };
        match obey(connection, out).await {
            Ok(After::Open) => {}
            Ok(other) => break other,
            Err(_) => break After::Closed,
        }
    };
    hub.clients.end(&id);
    client.dialogue.end().await;
    Ok(after)
}

async fn obey(connection: &mut Connection, out: Out) -> io::Result<After> {
    let is_reply = matches!(&out, Out::Ending(Ending::Reply { .. }));
    let steps = match out {
        Out::Message(frame) => vec![Step::Frame(frame)],
        Out::Ending(Ending::Reply { steps, .. }) => steps,
        Out::Ending(Ending::Cut(Cut::Disconnect)) => return Ok(After::Closed),
        Out::Ending(Ending::Cut(Cut::Reset)) => return Ok(After::Reset),
        Out::Ending(Ending::Crash(code)) => {
            connection.hub.server.crash(code);
            return Ok(After::Closed);
        }
        Out::Ending(Ending::Silent | Ending::Http { .. } | Ending::SessionLost) => Vec::new(),
    };
    for step in steps {
        match step {
            Step::Frame(frame) | Step::Raw(frame) | Step::Late(frame) => {
                send(&mut connection.stream, &event(&frame)).await?;
            }
            Step::Partial { bytes, .. } => {
                let part = [b"event: message\ndata: ", &*bytes].concat();
                send(&mut connection.stream, &part).await?;
                return Ok(After::Closed);
            }
            Step::Drip { frame, bytes_per_second } => {
                let plain = |piece: &[u8], out: &mut Vec<u8>| out.extend_from_slice(piece);
                reply::drip(&mut connection.stream, &event(&frame), bytes_per_second, plain)
                    .await?;
            }
        }
    }
    if is_reply {
        connection.hub.server.has_replied();
    }
    Ok(After::Open)
}

/// Takes a message; its reply goes over the stream.
pub(super) async fn post(hub: &Hub, head: &[u8], body: &[u8], from: &Caller) -> Response {
    let Ok(Some(head)) = Head::read(head) else {
        return Response::empty(status::BAD_REQUEST);
    };
    let id = head.query.split('&').find_map(|pair| pair.strip_prefix(SESSION));
    let Some(client) = id.and_then(|id| hub.clients.find(id)) else {
        let refusal = Refusal::new(code::UNKNOWN_SESSION, "there is no such session");
        let response = Response::error(status::NOT_FOUND, crate::mcp::write::NO_ID, &refusal);
        let origin = endpoint::origin(&head, from);
        if let Some(row) = endpoint::refused(hub, &origin, &response, body.len()) {
            let _ = hub.server.audit().record(row).await;
        }
        return response;
    };
    let mut out = Vec::new();
    let taken = client.dialogue.take(body, endpoint::origin(&head, from), &mut out);
    for mut row in taken.rows {
        row.http_status = Some(status::ACCEPTED);
        let _ = hub.server.audit().record(row).await;
    }
    if taken.replied {
        // A stream that is gone has nobody to read the reply.
        let _ = client.outbox.send(Out::Message(out)).await;
        // Whoever waited for it queues up behind it.
        hub.server.has_replied();
    }
    match taken.later {
        Some(pending) if pending.answers_by_status() => {
            match pending.run(client.outbox.clone()).await {
                Ending::Http { status, retry_after, www_authenticate } => {
                    reply::refusal(status, retry_after, www_authenticate)
                }
                other => {
                    let _ = client.outbox.send(Out::Ending(other)).await;
                    Response::empty(status::ACCEPTED)
                }
            }
        }
        later => {
            later.into_iter().for_each(|pending| client.dialogue.run(*pending));
            Response::empty(status::ACCEPTED)
        }
    }
}
