//! Sends treated replies, as JSON or as events.

use std::{sync::Arc, time::Duration};

use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    response::Parts,
};
use hyper::body::Bytes;
use mcp_loadtest_core::fault::{
    self, Beside, FLOOD_TIME, Instead, Mangle, REORDER_LIMIT, Step, Treatment, mangle,
};
use tokio::{
    sync::watch,
    time::{Instant, interval, sleep, sleep_until, timeout},
};

use super::{
    body::{Outgoing, Pieces, Torn},
    events::{self, Event},
    exchange::Exchange,
    memory::Held,
};
use crate::proxy::{
    message::Key,
    notice::{self, BURST, Flood},
    open::Open,
};

/// How long the bytes before a cut may take to leave: they must not be cut, too.
const BEFORE_THE_CUT: Duration = Duration::from_millis(100);

/// What is left to do with a call when its reply comes.
pub(super) struct Job {
    pub(super) id: Key,
    pub(super) treatment: Treatment,
    pub(super) due: Instant,
    /// Until the reply has left.
    pub(super) held: Held,
    pub(super) open: Option<Open>,
}

/// Lets replies wait for each other.
#[derive(Debug, Default)]
pub(super) struct Turn(watch::Sender<()>);

/// The replies that leave from now on.
pub(super) struct Others(watch::Receiver<()>);

impl Turn {
    /// A reply has left: those that wait may follow.
    pub(super) fn pass(&self) {
        self.0.send_replace(());
    }

    /// Whoever is to wait for others takes this before they can leave.
    pub(super) fn others(&self) -> Others {
        Others(self.0.subscribe())
    }
}

impl Others {
    /// Waits until one has left, though not for ever.
    pub(super) async fn left(mut self) {
        let _ = timeout(REORDER_LIMIT, self.0.changed()).await;
    }
}

impl Job {
    /// Whether the reply may pass as it is, unseen.
    pub(super) fn is_nothing(&self) -> bool {
        self.treatment.is_nothing() && self.open.is_none()
    }

    /// Whether the reply still has to wait for another; it is not asked to a second time.
    pub(super) fn lets_pass(&mut self) -> bool {
        let mangles = &mut self.treatment.mangles;
        let before = mangles.len();
        mangles.retain(|mangle| *mangle != Mangle::Reorder);
        mangles.len() < before
    }

    /// The response to a call whose reply is one JSON message.
    pub(super) async fn json(
        mut self,
        head: Parts,
        frame: Vec<u8>,
        exchange: Arc<Exchange>,
    ) -> Response<Outgoing> {
        if self.held.unless_withdrawn(sleep_until(self.due)).await.is_none() {
            return exchange.withdrawn(self.open.take()).await;
        }
        if let Some(open) = &mut self.open {
            open.replied(&frame);
        }
        let Treatment { mangles, beside, .. } = self.treatment;
        let opens = self.open.take().into_iter().collect();
        let answer = Answer { steps: mangle(frame, &mangles), beside, opens };
        respond(head, answer, exchange).await
    }
}

/// What is sent in answer to one request.
pub(super) struct Answer {
    pub(super) steps: Vec<Step>,
    pub(super) beside: Vec<Beside>,
    /// The rows of the calls that it answers. They are complete when it leaves: whoever goes away
    /// before has had no reply.
    pub(super) opens: Vec<Open>,
}

impl Answer {
    /// Sends it as events.
    pub(super) async fn walk(self, pieces: &Pieces, exchange: &Exchange) -> Result<(), Over> {
        beside(pieces, &self.beside).await?;
        tokio::select! {
            biased;
            () = pieces.closed() => return Err(Over),
            () = self.let_pass(&exchange.turn) => {}
        }
        write_down(self.opens, exchange).await;
        walk(&Event::named_message(), self.steps, pieces, &exchange.turn).await
    }

    /// Waits until another reply has left, if this one is to be overtaken.
    async fn let_pass(&self, turn: &Turn) {
        if self.steps.iter().any(|step| matches!(step, Step::Late(_))) {
            turn.others().left().await;
        }
    }
}

/// Their calls have been answered.
pub(super) async fn write_down(opens: Vec<Open>, exchange: &Exchange) {
    for open in opens {
        exchange.judge.recorder.close(Some(open)).await;
    }
}

/// A response that is these steps: a body if it can be one, and else a stream.
pub(super) async fn respond(
    mut head: Parts,
    answer: Answer,
    exchange: Arc<Exchange>,
) -> Response<Outgoing> {
    head.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    if answer.steps.len() > 1 || !answer.beside.is_empty() {
        return into_events(head, answer, exchange);
    }
    answer.let_pass(&exchange.turn).await;
    write_down(answer.opens, &exchange).await;
    let (pieces, outgoing) = Outgoing::pieces();
    let outgoing = match answer.steps.into_iter().next() {
        Some(Step::Drip { frame, bytes_per_second }) => {
            announce(&mut head, frame.len());
            tokio::spawn(async move { trickle(&pieces, &frame, bytes_per_second).await });
            outgoing
        }
        Some(Step::Partial { bytes, announced }) => {
            announce(&mut head, announced);
            tokio::spawn(async move { tear(&pieces, bytes).await });
            outgoing
        }
        Some(Step::Frame(bytes) | Step::Raw(bytes) | Step::Late(bytes)) => {
            announce(&mut head, bytes.len());
            Outgoing::whole(bytes)
        }
        None => Outgoing::whole(Bytes::new()),
    };
    exchange.turn.pass();
    Response::from_parts(head, outgoing)
}

/// Several messages need a stream.
fn into_events(mut head: Parts, answer: Answer, exchange: Arc<Exchange>) -> Response<Outgoing> {
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    let (pieces, outgoing) = Outgoing::pieces();
    tokio::spawn(async move {
        let _ = answer.walk(&pieces, &exchange).await;
    });
    Response::from_parts(head, outgoing)
}

/// Nobody listens any more, or nobody may.
#[derive(Debug)]
pub(super) struct Over;

/// Sends the steps of a treated reply as events like the one that it came in. What is late has
/// waited before, because its row is complete by now.
pub(super) async fn walk(
    event: &Event,
    steps: Vec<Step>,
    pieces: &Pieces,
    turn: &Turn,
) -> Result<(), Over> {
    for step in steps {
        match step {
            Step::Frame(frame) | Step::Late(frame) => send(pieces, event.with(&frame)).await?,
            Step::Raw(bytes) => send(pieces, bytes).await?,
            Step::Drip { frame, bytes_per_second } => {
                if !trickle(pieces, &event.with(&frame), bytes_per_second).await {
                    return Err(Over);
                }
            }
            Step::Partial { bytes, .. } => {
                tear(pieces, event.begin(&bytes)).await;
                return Err(Over);
            }
        }
    }
    turn.pass();
    Ok(())
}

/// Sends what comes beside a reply. A flood holds the reply for as long as it lasts.
pub(super) async fn beside(pieces: &Pieces, list: &[Beside]) -> Result<(), Over> {
    if let Some(rate) = notice::flood(list) {
        let poured = timeout(FLOOD_TIME, pour(pieces, rate)).await;
        poured.unwrap_or(Ok(()))?;
    }
    for notice in notice::beside(list) {
        send(pieces, events::message(notice)).await?;
    }
    Ok(())
}

/// Sends notifications until nobody reads them.
async fn pour(pieces: &Pieces, rate: u32) -> Result<(), Over> {
    let (mut flood, mut ticks) = (Flood::new(rate), interval(BURST));
    loop {
        ticks.tick().await;
        let bytes: Vec<u8> = flood.burst().flat_map(events::message).collect();
        if !bytes.is_empty() {
            send(pieces, bytes).await?;
        }
    }
}

pub(super) async fn send(pieces: &Pieces, bytes: Vec<u8>) -> Result<(), Over> {
    pieces.send(Ok(bytes.into())).await.map_err(|_| Over)
}

/// Sends slowly; whether all of it was sent.
async fn trickle(pieces: &Pieces, bytes: &[u8], rate: u64) -> bool {
    let (size, pause) = fault::portion(rate);
    for piece in bytes.chunks(size) {
        if send(pieces, piece.to_vec()).await.is_err() {
            return false;
        }
        sleep(pause).await;
    }
    true
}

/// Sends the beginning, and ends the connection.
async fn tear(pieces: &Pieces, bytes: Vec<u8>) {
    if send(pieces, bytes).await.is_ok() {
        sleep(BEFORE_THE_CUT).await;
        let _ = pieces.send(Err(Torn)).await;
    }
}

fn announce(head: &mut Parts, length: usize) {
    head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// A status, with a message if there is one.
pub(super) fn status(status: StatusCode, frame: Option<Vec<u8>>) -> Response<Outgoing> {
    let json = frame.is_some();
    let mut response = Response::new(Outgoing::whole(frame.unwrap_or_default()));
    *response.status_mut() = status;
    if json {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

/// A stream that ends before anything was said.
pub(super) fn no_events() -> Response<Outgoing> {
    let mut response = status(StatusCode::OK, None);
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A status with words for people.
pub(super) fn plain(status: StatusCode, words: &str) -> Response<Outgoing> {
    let mut response = Response::new(Outgoing::whole(format!("{words}\n")));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// The status that a fault asks for, with the headers that belong to it.
pub(super) fn http(instead: &Instead) -> Response<Outgoing> {
    let Instead::Http { status: code, retry_after, www_authenticate } = instead else {
        return status(StatusCode::INTERNAL_SERVER_ERROR, None);
    };
    let code = StatusCode::from_u16(*code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = plain(code, code.canonical_reason().unwrap_or("error"));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
    }
    if *www_authenticate {
        let value = HeaderValue::from_static("Bearer error=\"invalid_token\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}
