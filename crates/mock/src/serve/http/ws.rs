//! WebSocket: one message a text frame.

use std::io;

use futures_util::{SinkExt as _, StreamExt as _};
use mcp_loadtest_core::{
    config::TransportName,
    fault::{Cut, Step, portion},
};
use tokio::{net::TcpStream, sync::mpsc, time::sleep};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::derive_accept_key,
        protocol::{
            Role, WebSocketConfig,
            frame::{
                Frame,
                coding::{Data, OpCode},
            },
        },
    },
};

use super::{
    OUTBOX,
    connection::Connection,
    endpoint,
    head::{Head, Line},
    reply::{After, send},
    response::{Response, status},
    sessions::Sessions,
};
use crate::{
    serve::{MESSAGE_LIMIT, dialogue::Dialogue},
    server::{pending::Ending, session::Out},
};

/// Where the socket is.
pub(super) const PATH: &str = "/ws";
/// Told only to a client that asks for it: others must not accept it.
const PROTOCOL: &str = "mcp";

type Socket<'a> = WebSocketStream<&'a mut TcpStream>;

/// What the client wants to read before it believes in the upgrade.
pub(super) fn accept(head: &Head<'_>) -> Result<String, Response> {
    let upgrades =
        head.get(Line::Upgrade).is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
    match head.get(Line::WebSocketKey) {
        Some(key) if upgrades => Ok(derive_accept_key(key.as_bytes())),
        _ => Err(Response::refuse(status::BAD_REQUEST, "this is no WebSocket handshake")),
    }
}

/// Speaks WebSocket until one side has enough.
pub(super) async fn serve(
    connection: &mut Connection,
    head: &[u8],
    accept: &str,
) -> io::Result<After> {
    send(&mut connection.stream, &switch(head, accept)).await?;
    let (outbox, outgoing) = mpsc::channel(OUTBOX);
    let id = Sessions::<()>::name().to_string();
    let server = connection.hub.server.clone();
    let dialogue = Dialogue::new(server, &id, TransportName::Ws, outbox);
    let early = std::mem::take(&mut connection.input);
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_LIMIT))
        .max_frame_size(Some(MESSAGE_LIMIT));
    let from = connection.from.clone();
    let mut socket = WebSocketStream::from_partially_read(
        &mut connection.stream,
        early,
        Role::Server,
        Some(limits),
    )
    .await;
    let after = match Head::read(head) {
        Ok(Some(head)) => {
            let origin = endpoint::origin(&head, &from);
            talk(&mut socket, &dialogue, outgoing, origin).await
        }
        _ => After::Closed,
    };
    dialogue.end().await;
    Ok(after)
}

/// The reply that ends HTTP.
fn switch(head: &[u8], accept: &str) -> Vec<u8> {
    let mut response = Response::empty(status::SWITCHING)
        .header("Upgrade", "websocket")
        .header("Connection", "Upgrade")
        .header("Sec-WebSocket-Accept", accept);
    let offered =
        Head::read(head).ok().flatten().and_then(|head| head.get(Line::WebSocketProtocol));
    if offered.is_some_and(|offered| offered.split(',').any(|word| word.trim() == PROTOCOL)) {
        response = response.header(Line::WebSocketProtocol.name(), PROTOCOL);
    }
    let mut hello = Vec::new();
    response.render(true, &mut hello);
    hello
}

async fn talk(
    socket: &mut Socket<'_>,
    dialogue: &Dialogue,
    mut outgoing: mpsc::Receiver<Out>,
    origin: crate::server::origin::Origin<'_>,
) -> After {
    loop {
        let after = tokio::select! {
            Some(out) = outgoing.recv() => obey(socket, dialogue, out).await,
            () = dialogue.server().end().cancelled() => Ok(After::Closed),
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    take(socket, dialogue, text.as_bytes(), origin).await
                }
                Some(Ok(Message::Binary(bytes))) => take(socket, dialogue, &bytes, origin).await,
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                    Ok(After::Open)
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => Ok(After::Closed),
            },
        };
        match after {
            Ok(After::Open) => {}
            Ok(other) => return other,
            Err(_) => return After::Closed,
        }
    }
}

type Told = Result<After, tokio_tungstenite::tungstenite::Error>;

async fn take(
    socket: &mut Socket<'_>,
    dialogue: &Dialogue,
    frame: &[u8],
    origin: crate::server::origin::Origin<'_>,
) -> Told {
    let mut out = Vec::new();
    let taken = dialogue.take(frame, origin, &mut out);
    for row in taken.rows {
        let _ = dialogue.server().audit().record(row).await;
    }
    taken.later.into_iter().for_each(|pending| dialogue.run(*pending));
    if taken.replied {
        tell(socket, out).await?;
        dialogue.server().has_replied();
    }
    Ok(After::Open)
}

async fn obey(socket: &mut Socket<'_>, dialogue: &Dialogue, out: Out) -> Told {
    let is_reply = matches!(&out, Out::Ending(Ending::Reply { .. }));
    let steps = match out {
        Out::Message(frame) => vec![Step::Frame(frame)],
        Out::Ending(Ending::Reply { steps, .. }) => steps,
        Out::Ending(Ending::Cut(Cut::Disconnect)) => return Ok(After::Closed),
        Out::Ending(Ending::Cut(Cut::Reset)) => return Ok(After::Reset),
        Out::Ending(Ending::Crash(code)) => {
            dialogue.server().crash(code);
            return Ok(After::Closed);
        }
        Out::Ending(Ending::Silent | Ending::Http { .. } | Ending::SessionLost) => Vec::new(),
    };
    for step in steps {
        match step {
            Step::Frame(frame) | Step::Raw(frame) | Step::Late(frame) => {
                tell(socket, frame).await?
            }
            Step::Partial { bytes, .. } => {
                // A text whose other fragments never come.
                let fragment = Frame::message(bytes, OpCode::Data(Data::Text), false);
                socket.send(Message::Frame(fragment)).await?;
                return Ok(After::Closed);
            }
            Step::Drip { frame, bytes_per_second } => {
                drip(socket, &frame, bytes_per_second).await?;
            }
        }
    }
    if is_reply {
        dialogue.server().has_replied();
    }
    Ok(After::Open)
}

/// Sends a message. What is no text any more goes as bytes.
async fn tell(
    socket: &mut Socket<'_>,
    frame: Vec<u8>,
) -> Result<(), tokio_tungstenite::tungstenite::Error> {
    let message = match String::from_utf8(frame) {
        Ok(text) => Message::text(text),
        Err(error) => Message::binary(error.into_bytes()),
    };
    socket.send(message).await
}

/// Sends one message as many fragments.
async fn drip(
    socket: &mut Socket<'_>,
    frame: &[u8],
    bytes_per_second: u64,
) -> Result<(), tokio_tungstenite::tungstenite::Error> {
    let (piece, pause) = portion(bytes_per_second);
    let mut pieces = frame.chunks(piece).peekable();
    let mut kind = Data::Text;
    while let Some(part) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let fragment = Frame::message(part.to_vec(), OpCode::Data(kind), is_last);
        socket.send(Message::Frame(fragment)).await?;
        kind = Data::Continue;
        sleep(pause).await;
    }
    Ok(())
}
