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
    slow::{DEFAULT_RETRY, Incoming, SHORTEST_RETRY},
    sse::SseParser,
};
use crate::{session::Inner, transport::Link};

/// How long a session waits for the stream to open. Servers that have one open it at once; one that
/// keeps the head of its reply back until it has something to say must not hold us up.
const OPENING_PATIENCE: Duration = Duration::from_millis(500);
/// A stream that comes to nothing again and again is asked for at longer and longer intervals.
const MOST_DOUBLINGS: u32 = 6;

impl HttpLink {
    /// Opens the stream and listens for as long as the session lives.
    ///
    /// It returns when the server has answered: a question that comes in the course of the first call
    /// finds the stream open. Servers drop what they cannot send, and that call would never end.
    pub(crate) async fn listen_unasked(&self, inner: &Inner) {
        let Some(session) = inner.session() else { return };
        let (opened, answered) = oneshot::channel();
        let weak = Rc::downgrade(&session.inner);
        self.listening.set(true);
        self.listener.borrow_mut().spawn_local(async move {
            // Whatever ends the stream, the session goes on without it.
            let _ = listen(&weak, opened).await;
            is_there(&weak, false);
        });
        let _ = timeout(OPENING_PATIENCE, answered).await;
    }

    /// Whether the stream is there, or asked for and not refused yet.
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.get()
    }
}

/// Hears the stream for as long as the session lives, over as many connections as the server wants.
async fn listen(session: &Weak<Inner>, opened: oneshot::Sender<()>) -> Result<(), Trouble> {
    let mut parser = SseParser::default();
    let mut incoming = connect(session, None).await?;
    let _ = opened.send(());
    let mut barren = 0;
    while let Some(stream) = &mut incoming {
        let brought = hear(session, stream, &mut parser).await;
        barren = if brought { 0 } else { barren + 1 };
        is_there(session, false);
        incoming = loop {
            sleep(pause(&parser, barren)).await;
            match reconnect(session, &mut parser).await {
                Ok(incoming) => break incoming.inspect(|_| is_there(session, true)),
                Err(_) => barren += 1,
            }
        };
    }
    Ok(())
}

fn is_there(session: &Weak<Inner>, there: bool) {
    if let Some(http) = session.upgrade().as_deref().and_then(http) {
        http.listening.set(there);
    }
}

/// The wait before the stream is asked for again: longer each time that it came to nothing.
fn pause(parser: &SseParser, barren: u32) -> Duration {
    let once = parser.retry().unwrap_or(DEFAULT_RETRY).max(SHORTEST_RETRY);
    once.saturating_mul(1 << barren.min(MOST_DOUBLINGS))
}

/// The stream from where it broke off, or a new one where the server names no place.
async fn reconnect(
    session: &Weak<Inner>,
    parser: &mut SseParser,
) -> Result<Option<Incoming>, Trouble> {
    parser.resume();
    connect(session, parser.last_id()).await
}

/// `None`: the server has no such stream, or the session is over.
async fn connect(
    session: &Weak<Inner>,
    last_id: Option<&str>,
) -> Result<Option<Incoming>, Trouble> {
    let asked = session.upgrade().and_then(|inner| Some(http(&inner)?.listen(&inner, last_id)));
    let Some(asked) = asked else { return Ok(None) };
    Ok(Some(asked.await?).filter(Incoming::is_event_stream))
}

/// Hands on what comes until the connection ends, and tells whether anything has come. The session is
/// only held while it takes something.
async fn hear(session: &Weak<Inner>, incoming: &mut Incoming, parser: &mut SseParser) -> bool {
    let mut brought = false;
    loop {
        let Some(inner) = session.upgrade() else { return brought };
        let Some(http) = http(&inner) else { return brought };
        match http.hand_on(&inner, 0, incoming, parser) {
            Ok(something) => brought |= something,
            Err(_) => return brought,
        }
        drop(inner);
        // However it ends, the server may be asked to go on.
        if !incoming.more().await.unwrap_or(false) {
            return brought;
        }
    }
}

fn http(inner: &Inner) -> Option<&HttpLink> {
    match &inner.link {
        Link::Http(http) => Some(http),
        Link::Stdio(_) | Link::Sse(_) | Link::WebSocket(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::Clock,
        session::{Options, Session, Target},
        sink::Nowhere,
    };
    use mcp_loadtest_core::mcp::Revision;
    use tokio::{
        io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
        net::{TcpListener, TcpStream},
        sync::mpsc,
        task::{JoinHandle, LocalSet, spawn_local, yield_now},
    };

    type Socket = BufReader<TcpStream>;
    /// A GET: its head, and the connection on which it waits for an answer.
    type Get = (String, Socket);

    const OPENED: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

    /// Answers `initialize` and what follows; a GET is left to the test.
    async fn serve(mut socket: Socket, gets: mpsc::UnboundedSender<Get>) {
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if socket.read_line(&mut head).await.unwrap() == 0 {
                    return;
                }
            }
            if head.starts_with("GET") {
                gets.send((head, socket)).unwrap();
                return;
            }
            let length =
                head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            socket.read_exact(&mut body).await.unwrap();
            let reply = if String::from_utf8_lossy(&body).contains("\"initialize\"") {
                let result = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{result}",
                    result.len()
                )
            } else {
                "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".into()
            };
            socket.write_all(reply.as_bytes()).await.unwrap();
        }
    }

    /// A session that is being opened, and the GETs that its server meets.
    async fn open() -> (JoinHandle<Session>, mpsc::UnboundedReceiver<Get>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (gets, met) = mpsc::unbounded_channel();
        spawn_local(async move {
            while let Ok((socket, _)) = listener.accept().await {
                spawn_local(serve(BufReader::new(socket), gets.clone()));
            }
        });
        let opening = spawn_local(async move {
            let options = Options::new(Rc::new(Nowhere), Clock::start());
            let target = Target::Http(crate::session::Address::new(url));
            Session::open(&target, &options, Revision::V2025_11_25).await.unwrap().0
        });
        (opening, met)
    }

    /// Official suite, `elicitation-sep1034-client-defaults`: a question that the server asked before
    /// the stream was there was lost, and the call that waited for our answer looked like a hang.
    #[tokio::test]
    async fn a_session_is_open_once_the_server_can_speak_unasked() {
        let test = async {
            let (opening, mut gets) = open().await;
            let (_, mut socket) = gets.recv().await.unwrap();
            for _ in 0..10 {
                yield_now().await;
            }
            assert!(!opening.is_finished());
            socket.write_all(OPENED.as_bytes()).await.unwrap();
            opening.await.unwrap();
        };
        LocalSet::new().run_until(test).await;
    }

    #[tokio::test]
    async fn a_server_that_never_answers_is_not_waited_for() {
        let test = async {
            let (opening, mut gets) = open().await;
            let _unanswered = gets.recv().await.unwrap();
            opening.await.unwrap();
        };
        LocalSet::new().run_until(test).await;
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_session() {
        let test = async {
            for closes in [true, false] {
                let (opening, mut gets) = open().await;
                let (_, mut socket) = gets.recv().await.unwrap();
                socket.write_all(OPENED.as_bytes()).await.unwrap();
                let session = opening.await.unwrap();
                if closes {
                    session.clone().close().await;
                }
                drop(session);
                assert_eq!(socket.read(&mut [0]).await.unwrap(), 0);
            }
        };
        LocalSet::new().run_until(test).await;
    }

    #[tokio::test]
    async fn a_stream_that_ended_is_asked_for_again() {
        let test = async {
            let (opening, mut gets) = open().await;
            let (_, mut socket) = gets.recv().await.unwrap();
            socket.write_all(format!("{OPENED}retry: 0\n: alive\n").as_bytes()).await.unwrap();
            drop(socket);
            let _session = opening.await.unwrap();
            let (again, _) = gets.recv().await.unwrap();
            assert!(!again.contains("Last-Event-ID"), "{again}");
        };
        LocalSet::new().run_until(test).await;
    }

    #[test]
    fn a_stream_that_brings_nothing_is_asked_for_less_and_less() {
        let parser = SseParser::default();
        assert_eq!(pause(&parser, 0), DEFAULT_RETRY);
        assert_eq!(pause(&parser, 3), DEFAULT_RETRY * 8);
        assert_eq!(pause(&parser, u32::MAX), pause(&parser, MOST_DOUBLINGS));
    }

    #[tokio::test]
    async fn a_stream_that_broke_off_is_resumed() {
        let test = async {
            let (opening, mut gets) = open().await;
            let (first, mut socket) = gets.recv().await.unwrap();
            assert!(!first.contains("Last-Event-ID"));
            socket
                .write_all(format!("{OPENED}id: 7\nretry: 0\ndata:\n\n").as_bytes())
                .await
                .unwrap();
            drop(socket);
            let _session = opening.await.unwrap();
            let (again, _) = gets.recv().await.unwrap();
            assert!(again.contains("Last-Event-ID: 7\r\n"), "{again}");
        };
        LocalSet::new().run_until(test).await;
    }
}
