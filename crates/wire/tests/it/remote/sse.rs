//! HTTP+SSE with servers that do not behave.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{event::note, hint::Hint as _, outcome::ErrorCategory};
use mcp_loadtest_wire::session::{Address, OpenError, Target};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt as _, net::TcpStream, sync::mpsc, task::spawn_local, time::sleep};

use super::support::{answer, bind, bounded, call, failed, header, open, options, read_head, say};

const OPENED: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
const KIB: usize = 1 << 10;

/// One event stream, and what was posted while it was open.
struct Stage {
    stream: TcpStream,
    said: mpsc::UnboundedReceiver<Value>,
}

impl Stage {
    async fn event(&mut self, message: &Value) {
        say(&mut self.stream, format!("event: message\ndata: {message}\n\n")).await;
    }

    /// The next message that has an answer.
    async fn request(&mut self) -> Option<Value> {
        loop {
            let message = self.said.recv().await?;
            if message.get("id").is_some() {
                return Some(message);
            }
        }
    }

    /// Opens the stream and shakes hands.
    async fn greet(&mut self) -> Option<()> {
        say(&mut self.stream, format!("{OPENED}event: endpoint\ndata: /post?s=1\n\n")).await;
        let initialize = self.request().await?;
        self.event(&answer(&initialize)?).await;
        Some(())
    }

    /// Answers all that comes.
    async fn behave(&mut self) -> Option<()> {
        loop {
            let request = self.request().await?;
            self.event(&answer(&request)?).await;
        }
    }
}

/// How POSTs are answered.
type OnPost = Rc<dyn Fn(&Value) -> String>;

struct Script {
    target: Target,
    connections: Rc<Cell<usize>>,
}

/// A server that plays `script` on every stream.
async fn script<F>(on_post: OnPost, script: impl Fn(Stage) -> F + 'static) -> Script
where
    F: Future<Output = Option<()>> + 'static,
{
    let (listener, address) = bind().await;
    let url = format!("http://{address}/sse");
    let connections = Rc::new(Cell::new(0));
    let counted = connections.clone();
    spawn_local(async move {
        let stage = Rc::new(RefCell::new(mpsc::unbounded_channel().0));
        let script = Rc::new(script);
        while let Ok((mut socket, _)) = listener.accept().await {
            counted.set(counted.get() + 1);
            let (stage, script, on_post) = (stage.clone(), script.clone(), on_post.clone());
            spawn_local(async move {
                while let Some(head) = read_head(&mut socket).await {
                    if head.starts_with("GET") {
                        let (tell, said) = mpsc::unbounded_channel();
                        *stage.borrow_mut() = tell;
                        script(Stage { stream: socket, said }).await;
                        return;
                    }
                    let length = header(&head, "content-length").and_then(|it| it.parse().ok());
                    let mut body = vec![0; length.expect("we say how long it is")];
                    if socket.read_exact(&mut body).await.is_err() {
                        return;
                    }
                    let message = serde_json::from_slice(&body).expect("we send JSON");
                    let answer = on_post(&message);
                    let (head, body) =
                        answer.split_at(answer.find("\r\n\r\n").map_or(0, |at| at + 4));
                    say(&mut socket, head).await;
                    if !body.is_empty() {
                        // As servers write it that send the body on its own.
                        sleep(Duration::from_millis(10)).await;
                        say(&mut socket, body).await;
                    }
                    let _ = stage.borrow().send(message);
                }
            });
        }
    });
    Script { target: Target::Sse(Address::new(url)), connections }
}

fn accept() -> OnPost {
    Rc::new(|_| ACCEPTED.to_owned())
}

#[tokio::test]
async fn calls_share_one_stream_and_reuse_connections() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            stage.behave().await
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        for _ in 0..20 {
            assert_eq!(call(&session).await.failure(), None);
        }
        assert!(server.connections.get() <= 5, "{} connections", server.connections.get());
        session.close().await;
    })
    .await;
}

/// Nearly every POST opened a connection of its own where the body of the answer came after its head.
#[tokio::test]
async fn connections_are_reused_also_where_a_body_comes_after_its_head() {
    const CALLS: usize = 40;
    bounded(async {
        let on_post: OnPost =
            Rc::new(|_| "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted".to_owned());
        let server = script(on_post, |mut stage| async move {
            stage.greet().await?;
            stage.behave().await
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        for _ in 0..CALLS {
            assert_eq!(call(&session).await.failure(), None);
        }
        assert!(server.connections.get() <= CALLS / 2, "{} connections", server.connections.get());
        session.close().await;
    })
    .await;
}

/// A broken reply with somebody's id near its beginning was the reply to nobody: its call seemed to hang.
#[tokio::test]
async fn an_id_within_a_broken_result_is_not_that_of_the_call() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            for inner in [42_000_000, 1] {
                let id = stage.request().await?["id"].clone();
                let result = format!(r#"{{"structuredContent":{{"id":{inner},"v":NaN}}}}"#);
                let reply = format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#);
                say(&mut stage.stream, format!("event: message\ndata: {reply}\n\n")).await;
            }
            stage.behave().await
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        for _ in 0..2 {
            failed(&call(&session).await, ErrorCategory::Malformed, "not_json");
        }
    })
    .await;
}

#[tokio::test]
async fn replies_may_come_in_any_order() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            let (one, two) = (stage.request().await?, stage.request().await?);
            stage.event(&answer(&two)?).await;
            stage.event(&answer(&one)?).await;
            stage.behave().await
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        let (one, two) = tokio::join!(call(&session), call(&session));
        assert_eq!((one.failure(), two.failure()), (None, None));
    })
    .await;
}

#[tokio::test]
async fn an_endless_line_is_skipped_and_costs_only_its_call() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            let request = stage.request().await?;
            let begin =
                format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":\"", request["id"]);
            say(&mut stage.stream, begin).await;
            for _ in 0..200 {
                say(&mut stage.stream, "x".repeat(64 * KIB)).await;
            }
            say(&mut stage.stream, "\"}\n\n").await;
            stage.behave().await
        })
        .await;
        let (options, notes) = options(64 * KIB);
        let session = open(&server.target, &options).await.unwrap();
        failed(&call(&session).await, ErrorCategory::Malformed, "");
        assert_eq!(notes.of(note::FRAME_TOO_LARGE).len(), 1);
        assert_eq!(call(&session).await.failure(), None);
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_on_another_origin_is_refused() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            let endpoint = "http://example.invalid/post";
            say(&mut stage.stream, format!("{OPENED}event: endpoint\ndata: {endpoint}\n\n")).await;
            stage.request().await.map(drop)
        })
        .await;
        let error = open(&server.target, &options(KIB).0).await.unwrap_err().to_string();
        assert!(error.contains("another origin") && error.contains("example.invalid"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_is_cut_in_an_event_ends_all_calls() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            let (one, _) = (stage.request().await?, stage.request().await?);
            let text = format!("data: {}", answer(&one)?);
            say(&mut stage.stream, &text[..text.len() / 2]).await;
            Some(())
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        let (one, two) = tokio::join!(call(&session), call(&session));
        for reply in [one, two, call(&session).await] {
            failed(&reply, ErrorCategory::Disconnected, "in the middle of an event");
        }
        assert!(session.broken().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_nobody_is_noted_and_does_no_harm() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            let request = stage.request().await?;
            for id in [json!(999_999), json!("x"), json!(null), json!(u64::MAX)] {
                stage.event(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
            }
            stage.event(&answer(&request)?).await;
            stage.event(&answer(&request)?).await;
            stage.behave().await
        })
        .await;
        let (options, notes) = options(KIB);
        let session = open(&server.target, &options).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
        assert_eq!(call(&session).await.failure(), None);
        let orphans = notes.of(note::ORPHAN_REPLY).join("\n");
        assert!(orphans.contains("never sent") && orphans.contains("answered twice"), "{orphans}");
    })
    .await;
}

#[tokio::test]
async fn a_reply_in_the_answer_to_the_post_is_taken() {
    bounded(async {
        let on_post: OnPost = Rc::new(|message| match answer(message) {
            Some(reply) => {
                let body = reply.to_string();
                format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
            None => "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nAccepted".to_owned(),
        });
        let server = script(on_post, |mut stage| async move {
            say(&mut stage.stream, format!("{OPENED}event: endpoint\ndata: /post\n\n")).await;
            while stage.said.recv().await.is_some() {}
            Some(())
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
    })
    .await;
}

#[tokio::test]
async fn the_status_of_a_post_is_that_of_its_call() {
    for (status, category, ends) in [
        ("500 Oops", ErrorCategory::ServerError, false),
        ("404 Not Found", ErrorCategory::Disconnected, true),
    ] {
        bounded(async move {
            let on_post: OnPost = Rc::new(move |message| match message["method"].as_str() {
                Some("tools/call") => {
                    format!("HTTP/1.1 {status}\r\nContent-Length: 4\r\n\r\nfail")
                }
                _ => ACCEPTED.to_owned(),
            });
            let server = script(on_post, |mut stage| async move {
                stage.greet().await?;
                while stage.said.recv().await.is_some() {}
                Some(())
            })
            .await;
            let session = open(&server.target, &options(KIB).0).await.unwrap();
            let reply = call(&session).await;
            failed(&reply, category, &status[..3]);
            assert_eq!(session.broken().is_some(), ends);
        })
        .await;
    }
}

#[tokio::test]
async fn what_the_server_asks_is_answered() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            stage.greet().await?;
            let request = stage.request().await?;
            stage.event(&json!({"jsonrpc": "2.0", "id": "q", "method": "ping"})).await;
            let answered = stage.request().await?;
            assert_eq!(answered, json!({"jsonrpc": "2.0", "id": "q", "result": {}}));
            stage.event(&answer(&request)?).await;
            stage.behave().await
        })
        .await;
        let session = open(&server.target, &options(KIB).0).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
        assert_eq!(session.server_requests(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_names_no_endpoint_is_not_waited_for_long() {
    bounded(async {
        let server = script(accept(), |mut stage| async move {
            say(&mut stage.stream, format!("{OPENED}: welcome\n\n")).await;
            stage.said.recv().await.map(drop)
        })
        .await;
        let (mut options, _) = options(KIB);
        options.startup_timeout = Duration::from_millis(300);
        let error = open(&server.target, &options).await.unwrap_err();
        assert!(error.to_string().contains("no `endpoint` event"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn what_is_no_event_stream_is_told() {
    for (reply, words, hint) in [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope", "HTTP 404: nope", "path"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "without an event stream", "transport"),
        (
            "HTTP/1.1 307 Moved\r\nLocation: http://h/other\r\nContent-Length: 0\r\n\r\n",
            "http://h/other",
            "address that it names",
        ),
        ("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "HTTP 401", "credentials"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "not an HTTP reply", "path"),
    ] {
        bounded(async move {
            let server = script(accept(), move |mut stage| async move {
                say(&mut stage.stream, reply).await;
                Some(())
            })
            .await;
            let error = open(&server.target, &options(KIB).0).await.unwrap_err();
            assert!(matches!(error, OpenError::Opening { .. }), "{error:?}");
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
        })
        .await;
    }
}
