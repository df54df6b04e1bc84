//! Passes a stream of events on as they come, and treats the replies in it.

use std::{collections::HashMap, sync::Arc};

use hyper::body::Incoming;
use mcp_loadtest_core::fault::{Company, Step, mangle};
use tokio::time::{Instant, Interval, interval, sleep_until};

use super::{
    body::{Pieces, Torn},
    channel::Channel,
    events::{self, Event, Events},
    exchange::Exchange,
    replies::{Job, Over, beside, send, walk},
    sources::{Later, made, next_piece, tick},
};
use crate::{
    mcp::batch::{Batch, joined},
    proxy::{
        message::{Key, answered},
        notice::{BURST, Flood},
        open::Open,
        sent::Sent,
    },
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
    pump.jobs.insert(job.id.clone(), job);
    let _ = pump.run(Some(body)).await;
    pump.finish().await;
}

/// The replies to one POST with a batch.
pub(super) async fn many(
    exchange: Arc<Exchange>,
    body: Option<Incoming>,
    pieces: Pieces,
    jobs: Vec<Job>,
    later: Later,
) {
    let mut pump = Pump::new(exchange, pieces, None);
    pump.jobs.extend(jobs.into_iter().map(|job| (job.id.clone(), job)));
    pump.later = Some(later);
    let _ = pump.run(body).await;
    pump.finish().await;
}

/// A stream that a client opened to listen.
pub(super) async fn listen(
    exchange: Arc<Exchange>,
    body: Incoming,
    pieces: Pieces,
    open: Option<Open>,
    flood: Option<Flood>,
) {
    let mut pump = Pump::new(exchange, pieces, flood);
    pump.open = open;
    let _ = pump.run(Some(body)).await;
    pump.finish().await;
}

struct Pump {
    exchange: Arc<Exchange>,
    pieces: Pieces,
    flood: Option<(Flood, Interval)>,
    /// The calls whose replies come here.
    jobs: HashMap<Key, Job>,
    /// Where calls share the stream: the replies that must not hold each other up.
    later: Option<Later>,
    /// Over HTTP+SSE: the calls whose replies come here.
    channel: Option<Channel>,
    /// The row of the stream itself.
    open: Option<Open>,
    sent: Sent,
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
        Self {
            exchange,
            pieces,
            flood,
            jobs: HashMap::new(),
            later: None,
            channel: None,
            open: None,
            sent: Sent::default(),
        }
    }

    /// Until one side ends. The body is dropped then, which the server sees.
    async fn run(&mut self, mut body: Option<Incoming>) -> Result<(), Over> {
        let mut events = Events::default();
        while body.is_some() || self.later.as_ref().is_some_and(|later| later.left > 0) {
            let Self { flood, pieces, channel, later, .. } = self;
            let next = tokio::select! {
                bytes = next_piece(&mut body) => Next::Bytes(bytes),
                () = tick(flood) => Next::Burst,
                Some((frame, job)) = made(channel, later) => Next::Made(frame, job),
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
                Next::Bytes(None) => {
                    body = None;
                    send(&self.pieces, std::mem::take(&mut events).rest()).await?;
                }
                Next::Burst => self.burst().await?,
                Next::Made(frame, job) => {
                    self.reply(&Event::named_message(), frame, *job).await?;
                }
                Next::Gone => return Err(Over),
            }
        }
        Ok(())
    }

    async fn event(&mut self, event: Event) -> Result<(), Over> {
        if event.name.as_deref() == Some("endpoint") {
            return self.endpoint(event).await;
        }
        if let Some(members) = Batch::members(&event.data) {
            return self.array(&event, &members).await;
        }
        let answers = answered(&event.data);
        match answers.as_ref().and_then(|id| self.job(id)) {
            None => {
                if !event.data.is_empty() {
                    self.sent.note(&event.data);
                }
                send(&self.pieces, event.raw).await?;
                if answers.is_some() {
                    self.exchange.turn.pass();
                }
                Ok(())
            }
            Some(job) => {
                let data = event.data.clone();
                self.reply(&event, data, job).await
            }
        }
    }

    /// The call that waits here for a reply.
    fn job(&mut self, id: &Key) -> Option<Job> {
        match &self.channel {
            Some(channel) => channel.take(id),
            None => self.jobs.remove(id),
        }
    }

    /// An event with several replies. What is late or spoiled leaves by itself.
    async fn array(&mut self, event: &Event, members: &[&[u8]]) -> Result<(), Over> {
        let (mut frames, mut touched) = (Vec::with_capacity(members.len()), false);
        for member in members {
            let Some(mut job) = answered(member).and_then(|id| self.job(&id)) else {
                self.sent.note(member);
                frames.push(member.to_vec());
                continue;
            };
            let is_late = job.due > Instant::now() || job.held.is_withdrawn();
            if is_late || job.treatment.company() != Company::Together {
                touched = true;
                self.reply(event, member.to_vec(), job).await?;
                continue;
            }
            beside(&self.pieces, &job.treatment.beside).await?;
            touched |= !job.treatment.mangles.is_empty();
            self.note_reply(&mut job, member).await;
            let steps = mangle(member.to_vec(), &job.treatment.mangles);
            frames.extend(steps.into_iter().filter_map(Step::into_message));
        }
        match (touched, frames.is_empty()) {
            (false, _) => send(&self.pieces, event.raw.clone()).await?,
            (true, true) => return Ok(()),
            (true, false) => send(&self.pieces, event.with(&joined(&frames))).await?,
        }
        self.exchange.turn.pass();
        Ok(())
    }

    /// A reply that is due later, or behind another, waits here on its own stream, and beside the
    /// others where calls share one.
    async fn reply(&mut self, event: &Event, frame: Vec<u8>, mut job: Job) -> Result<(), Over> {
        if let Some(later) = self.later.as_mut().filter(|_| !job.held.is_withdrawn()) {
            if job.due > Instant::now() {
                later.postpone(job, frame);
                return Ok(());
            }
            if job.lets_pass() {
                later.let_pass(self.exchange.turn.others(), job, frame);
                return Ok(());
            }
        }
        let lets_pass = job.lets_pass();
        let wait = job.held.unless_withdrawn(async {
            sleep_until(job.due).await;
            if lets_pass {
                self.exchange.turn.others().left().await;
            }
        });
        let waited = tokio::select! {
            waited = wait => waited,
            () = self.pieces.closed() => return Err(Over),
        };
        if waited.is_none() {
            if let Some(open) = &mut job.open {
                open.cancelled();
            }
            self.exchange.judge.recorder.close(job.open.take()).await;
            return Ok(());
        }
        // Whoever leaves while it is held has had no reply, so its row is not complete before.
        beside(&self.pieces, &job.treatment.beside).await?;
        self.note_reply(&mut job, &frame).await;
        let steps = mangle(frame, &job.treatment.mangles);
        walk(event, steps, &self.pieces, &self.exchange.turn).await
    }

    /// Writes down that a reply leaves.
    async fn note_reply(&self, job: &mut Job, frame: &[u8]) {
        if let Some(open) = &mut job.open {
            // What a channel says belongs to no call: its own row has it.
            if self.channel.is_none() {
                open.came_after(&self.sent);
            }
            open.replied(frame);
        }
        self.exchange.judge.recorder.close(job.open.take()).await;
    }

    /// Writes down the calls that have no reply, and the stream.
    async fn finish(mut self) {
        for (_, mut job) in self.jobs {
            if let Some(open) = &mut job.open {
                open.came_after(&self.sent);
                if job.held.is_withdrawn() {
                    open.cancelled();
                } else {
                    open.unanswered("the stream ended before there was a reply");
                }
            }
            self.exchange.judge.recorder.close(job.open).await;
        }
        if let Some(open) = &mut self.open {
            open.came_after(&self.sent);
        }
        self.exchange.judge.recorder.close(self.open).await;
    }

    /// HTTP+SSE: the address for messages. One of the server's is made to lead through here.
    async fn endpoint(&mut self, event: Event) -> Result<(), Over> {
        let text = String::from_utf8_lossy(&event.data).trim().to_owned();
        let relative = self.exchange.relative(&text).map(str::to_owned);
        let path = relative.clone().unwrap_or(text);
        self.channel = Some(self.exchange.channels.open(&path));
        self.later.get_or_insert_with(Later::new);
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
