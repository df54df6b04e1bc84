//! Random bytes in place of a server, over every transport: a session ends, and that is all.

use std::time::Duration;

use mcp_loadtest_core::seed::Seed;
use mcp_loadtest_wire::session::{Address, Target};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::spawn_local};

use super::{
    support::{bind, bounded, call, open, options, read_head},
    websocket::upgrade,
};

/// What stands before the noise, so that it is not all refused at the first byte.
const BEGINNINGS: &[&str] = &[
    "",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /x\n\n",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n",
];

async fn listen(noise: impl Fn(TcpStream, u64) + 'static) -> std::net::SocketAddr {
    let (listener, address) = bind().await;
    spawn_local(async move {
        let mut number = 0;
        while let Ok((socket, _)) = listener.accept().await {
            number += 1;
            noise(socket, number);
        }
    });
    address
}

fn bytes(number: u64) -> Vec<u8> {
    let mut dice = Seed(7).dice(number);
    let length = (dice.unit() * 3000.0) as usize;
    // Line ends and letters, so that it is not only noise.
    let byte = |part: f64| match (part * 4.0) as u32 {
        0 => b'\n',
        1 => b"data:event{\"}0123456789\r "[(part * 400.0) as usize % 25],
        _ => (part * 1e6) as u8,
    };
    (0..length).map(|_| byte(dice.unit())).collect()
}

async fn survives(target: &Target) {
    let (mut options, _) = options(1 << 10);
    options.startup_timeout = Duration::from_millis(500);
    if let Ok(session) = open(target, &options).await {
        call(&session).await;
        session.close().await;
    }
}

#[tokio::test]
async fn noise_over_http_and_sse_does_no_harm() {
    bounded(async {
        let address = listen(|mut socket, number| {
            spawn_local(async move {
                read_head(&mut socket).await;
                let begin = BEGINNINGS[number as usize % BEGINNINGS.len()];
                let _ = socket.write_all(begin.as_bytes()).await;
                let _ = socket.write_all(&bytes(number)).await;
            });
        })
        .await;
        for _ in 0..60 {
            survives(&Target::Http(Address::new(format!("http://{address}/")))).await;
            survives(&Target::Sse(Address::new(format!("http://{address}/")))).await;
        }
    })
    .await;
}

#[tokio::test]
async fn noise_over_websockets_does_no_harm() {
    bounded(async {
        let address = listen(|mut socket, number| {
            spawn_local(async move {
                if number.is_multiple_of(4) {
                    read_head(&mut socket).await;
                } else {
                    upgrade(&mut socket).await;
                }
                let _ = socket.write_all(&bytes(number)).await;
            });
        })
        .await;
        for _ in 0..100 {
            survives(&Target::WebSocket(Address::new(format!("ws://{address}/")))).await;
        }
    })
    .await;
}
