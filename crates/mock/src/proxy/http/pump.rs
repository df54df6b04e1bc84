//! Passes a stream of events on as they come, and treats the replies in it.

use std::{future::pending, sync::Arc};

use hyper::body::Incoming;
use mcp_loadtest_core::fault::mangle;
use tokio::time::{Instant, Interval, interval, sleep_until};

use super::{
    body::{self, Pieces, Torn},
    channel::Channel,
    events::{self, Event, Events},
    exchange::Exchange,
    replies::{Job, Over, send, walk},
};
use crate::proxy::{
    message::answered,
    notice::{BURST, Flood},
};

/// The reply to one POST.
pub(super) async fn one(
    exchange: Arc<Exchange>,
    body: Incoming,
    pieces: Pieces,
    job: Job,
    flood: Option<Flood>,
) {
    let mut pump = Pump::new(exchange, pieces, flood);
    pump.job = Some(job);
    let _ = pump.run(body).await;
    if let Some(mut job) = pump.job.take() {
        if let Some(open) = &mut job.open {
            if job.held.is_withdrawn() {
                open.cancelled();
            } else {
                open.unanswered("the stream ended before there was a reply");
            }
        }
        pump.exchange.judge.recorder.close(job.open).await;
    }
}

/// A stream that a client opened to listen.
pub(super) async fn listen(
    exchange: Arc<Exchange>,
    body: Incoming,
    pieces: Pieces,
    flood: Option<Flood>,
) {
    let mut pump = Pump::new(exchange, pieces, flood);
    let _ = pump.run(body).await;
}

struct Pump {
    exchange: Arc<Exchange>,
    pieces: Pieces,
    flood: Option<(Flood, Interval)>,
    /// The call whose reply comes here.
    job: Option<Job>,
    /// Over HTTP+SSE: the calls whose replies come here.
    channel: Option<Channel>,
}

/// What happens next.
enum Next {
    Bytes(Option<hyper::Result<hyper::body::Bytes>>),
    Burst,
    Made(Vec<u8>, Box<Job>),
    Gone,
}

impl Pump {
    fn new(exchange: Arc<Exchange>, pieces: Pieces, flood: Option<Flood>) -> Self {
        let flood = flood.map(|flood| (flood, interval(BURST)));
        Self { exchange, pieces, flood, job: None, channel: None }
    }

    /// Until one side ends. The body is dropped then, which the server sees.
    async fn run(&mut self, mut body: Incoming) -> Result<(), Over> {
        let mut events = Events::default();
        loop {
            let Self { flood, pieces, channel, .. } = self;
            let next = tokio::select! {
                bytes = body::next(&mut body) => Next::Bytes(bytes),
                () = tick(flood) => Next::Burst,
                Some((frame, job)) = made(channel) => Next::Made(frame, job),
                () = pieces.closed() => Next::Gone,
            };
            match next {
                Next::Bytes(Some(Ok(bytes))) => {
                    for event in events.feed(&bytes) {
                        self.event(event).await?;
                    }
                }
                Next::Bytes(Some(Err(_))) => {
                    let _ = self.pieces.send(Err(Torn)).await;
                    return Err(Over);
                }
                Next::Bytes(None) => return send(&self.pieces, events.rest()).await,
                Next::Burst => self.burst().await?,
                Next::Made(frame, job) => {
                    self.reply(&Event::named_message(), frame, *job).await?;
                }
                Next::Gone => return Err(Over),
            }
        }
    }

    async fn event(&mut self, event: Event) -> Result<(), Over> {
        if event.name.as_deref() == Some("endpoint") {
            return self.endpoint(event).await;
        }
        let id = answered(&event.data);
        let own = self.job.as_ref().is_some_and(|job| Some(&job.id) == id.as_ref());
        let job = match (&self.channel, id) {
            (Some(channel), Some(id)) => channel.take(&id),
            _ if own => self.job.take(),
            _ => None,
        };
        match job {
            None => send(&self.pieces, event.raw).await,
            Some(job) => {
                let data = event.data.clone();
                self.reply(&event, data, job).await
            }
        }
    }

    /// A reply that is due later waits here on its own stream, and beside a channel's other replies.
    async fn reply(&mut self, event: &Event, frame: Vec<u8>, mut job: Job) -> Result<(), Over> {
        if let Some(channel) = &self.channel
            && job.due > Instant::now()
            && !job.held.is_withdrawn()
        {
            channel.postpone(job, frame);
            return Ok(());
        }
        let due = job.held.unless_withdrawn(sleep_until(job.due));
        let due = tokio::select! {
            due = due => due,
            () = self.pieces.closed() => return Err(Over),
        };
        if due.is_none() {
            if let Some(open) = &mut job.open {
                open.cancelled();
            }
            self.exchange.judge.recorder.close(job.open.take()).await;
            return Ok(());
        }
        if let Some(open) = &mut job.open {
            open.replied(&frame);
        }
        self.exchange.judge.recorder.close(job.open.take()).await;
        let steps = mangle(frame, &job.treatment.mangles);
        walk(event, steps, &job.treatment, &self.pieces, &self.exchange.turn).await
    }

    /// HTTP+SSE: the address for messages. One of the server's is made to lead through here.
    async fn endpoint(&mut self, event: Event) -> Result<(), Over> {
        let text = String::from_utf8_lossy(&event.data).trim().to_owned();
        let relative = self.exchange.relative(&text).map(str::to_owned);
        let path = relative.clone().unwrap_or(text);
        self.channel = Some(self.exchange.channels.open(&path));
        match relative {
            None => send(&self.pieces, event.raw).await,
            Some(path) => send(&self.pieces, event.with(path.as_bytes())).await,
        }
    }

    async fn burst(&mut self) -> Result<(), Over> {
        let Some((flood, _)) = &mut self.flood else { return Ok(()) };
        let bytes: Vec<u8> = flood.burst().flat_map(events::message).collect();
        if bytes.is_empty() { Ok(()) } else { send(&self.pieces, bytes).await }
    }
}

async fn tick(flood: &mut Option<(Flood, Interval)>) {
    match flood {
        Some((_, ticks)) => {
            ticks.tick().await;
        }
        None => pending().await,
    }
}

async fn made(channel: &mut Option<Channel>) -> Option<(Vec<u8>, Box<Job>)> {
    match channel {
        Some(channel) => channel.made().await,
        None => pending().await,
    }
}
