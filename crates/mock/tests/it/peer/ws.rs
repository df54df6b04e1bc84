//! WebSocket: one message a text.

use std::{io, net::SocketAddr};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, error::ProtocolError},
};

use super::{Frame, Got};

pub(super) struct Client {
    socket: WebSocketStream<TcpStream>,
}

impl Client {
    pub(super) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        // Where the clock stands still, nothing may wait for the sake of fuller packets.
        stream.set_nodelay(true).unwrap();
        let (socket, _) = client_async(format!("ws://{address}/ws"), stream).await.unwrap();
        Self { socket }
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(super) async fn next(&mut self) -> Got {
        match self.socket.next().await {
            Some(Ok(Message::Text(text))) => {
                let bytes = text.as_bytes().to_vec();
                // How many fragments it had is not told.
                Got::Frame(Frame { bytes, ..Frame::default() })
            }
            Some(Ok(Message::Close(_))) | None => Got::closed(),
            Some(Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake))) => {
                Got::closed()
            }
            Some(Err(Error::Io(error))) if error.kind() == io::ErrorKind::ConnectionReset => {
                Got::Reset
            }
            other => panic!("neither text nor end: {other:?}"),
        }
    }
}
