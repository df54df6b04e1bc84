//! Answers piece by piece, and how they break.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use mcp_loadtest_core::llm::{At, Cut, Plan, StreamFault};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    time::{Instant, sleep, sleep_until},
};

use super::{After, Connection, outgoing, sse::FrameWriter};
use crate::llm::{
    dialect::{Framing, Reply, Voice},
    frame::Frame,
    pieces::Pieces,
};

/// What became of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streamed {
    pub(super) bytes: u64,
    pub(super) complete: bool,
    pub(super) aborted: bool,
    pub(super) after: After,
}

/// Everything that a stream needs.
pub(super) struct Stream<'p> {
    pub(super) reply: Arc<Reply>,
    pub(super) voice: Box<dyn Voice>,
    pub(super) framing: Framing,
    pub(super) plan: Plan<'p>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) keep_alive: bool,
}

/// How a stream ends.
enum End {
    /// With everything said.
    Whole,
    /// Too early, but as streams end.
    Clean,
    /// In another way.
    Cut(Cut),
    /// The client hung up.
    Aborted,
}

impl Connection {
    /// Sends a stream, and watches meanwhile whether the client is still there.
    pub(super) async fn stream(&mut self, stream: Stream<'_>) -> io::Result<Streamed> {
        let keep_alive = stream.keep_alive;
        let (mut reader, writer) = self.stream.split();
        let mut sending = Sending::new(stream, writer);
        let end = tokio::select! {
            biased;
            end = sending.run() => end,
            () = self.incoming.hung_up(&mut reader) => Ok(End::Aborted),
        };
        let bytes = sending.sent;
        // A client that is gone shows itself in a write, too.
        let end = end.unwrap_or(End::Aborted);
        let (complete, aborted) = (matches!(end, End::Whole), matches!(end, End::Aborted));
        let after = match end {
            End::Whole | End::Clean => outgoing::after(None, keep_alive),
            End::Aborted => After::Closed,
            End::Cut(Cut::Silence) => {
                drop(sending);
                self.incoming.hung_up(&mut reader).await;
                After::Closed
            }
            End::Cut(cut) => outgoing::after(Some(cut), false),
        };
        Ok(Streamed { bytes, complete, aborted, after })
    }
}

struct Sending<'p, W> {
    voice: Box<dyn Voice>,
    pieces: Pieces,
    plan: Plan<'p>,
    writer: W,
    frames: FrameWriter,
    headers: Vec<(String, String)>,
    keep_alive: bool,
    /// Frames that are ready and wait for their time.
    ready: VecDeque<Frame>,
    /// Bytes of frames that go out together.
    gathered: Vec<u8>,
    gathered_frames: usize,
    written_frames: usize,
    sent: u64,
    /// When the connection is dropped.
    deadline: Option<Instant>,
}

impl<'p, W: AsyncWrite + Unpin> Sending<'p, W> {
    fn new(stream: Stream<'p>, writer: W) -> Self {
        let Stream { reply, voice, framing, plan, headers, keep_alive } = stream;
        let places: Vec<_> = plan.faults.iter().filter_map(|fault| fault.at).collect();
        let odd = plan.faults.iter().find_map(|fault| fault.bytes.clone());
        Self {
            voice,
            pieces: Pieces::new(reply, plan.chunk_size, &places),
            frames: FrameWriter::new(framing, odd),
            plan,
            writer,
            headers,
            keep_alive,
            ready: VecDeque::new(),
            gathered: Vec::new(),
            gathered_frames: 0,
            written_frames: 0,
            sent: 0,
            deadline: None,
        }
    }

    async fn run(&mut self) -> io::Result<End> {
        self.begin().await?;
        self.deadline = self.plan.disconnect.map(|after| Instant::now() + after);
        let mut faults: VecDeque<&'p StreamFault> = self.plan.faults.iter().copied().collect();
        let mut out = Vec::new();
        self.voice.open(&mut out);
        if let Some(end) = self.send_frames(&mut out).await? {
            return Ok(end);
        }
        if let Some(wait) = self.plan.faults.iter().find_map(|fault| fault.ttft_ms) {
            sleep(Duration::from_millis(wait)).await;
        }
        loop {
            let mut later = VecDeque::new();
            while let Some(fault) = faults.pop_front() {
                if !self.pieces.has_reached(fault.at.unwrap_or(At::BeforeTerminal)) {
                    later.push_back(fault);
                } else if let Some(end) = self.strike(fault).await? {
                    return Ok(end);
                }
            }
            faults = later;
            let voice = &mut self.voice;
            if !self.pieces.next(|piece| voice.say(piece, &mut out)) {
                break;
            }
            if let Some(end) = self.send_frames(&mut out).await? {
                return Ok(end);
            }
        }
        self.voice.close(&mut out);
        if let Some(end) = self.send_frames(&mut out).await? {
            return Ok(end);
        }
        self.finish().await?;
        Ok(End::Whole)
    }

    async fn begin(&mut self) -> io::Result<()> {
        let mut head =
            outgoing::head(200, self.frames.content_type(), &self.headers, self.keep_alive);
        head.extend_from_slice(b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
        self.writer.write_all(&head).await
    }

    /// A fault whose place has come.
    async fn strike(&mut self, fault: &StreamFault) -> io::Result<Option<End>> {
        if let Some(wait) = fault.stall_ms {
            self.flush().await?;
            sleep(Duration::from_millis(wait)).await;
        }
        if let Some(error) = &fault.error {
            let mut out = Vec::new();
            self.voice.fail(error, &mut out);
            let early = self.send_frames(&mut out).await?;
            if fault.cut.is_none() {
                self.finish().await?;
            }
            if early.is_some() || fault.cut.is_none() {
                return Ok(Some(early.unwrap_or(End::Clean)));
            }
        }
        let Some(cut) = fault.cut else { return Ok(None) };
        self.flush().await?;
        if cut == Cut::CleanEof {
            // Without what would make the array whole.
            self.writer.write_all(b"0\r\n\r\n").await?;
            return Ok(Some(End::Clean));
        }
        Ok(Some(End::Cut(cut)))
    }

    /// Sends frames, each in its time, doubled and cut off as planned.
    async fn send_frames(&mut self, out: &mut Vec<Frame>) -> io::Result<Option<End>> {
        for frame in out.drain(..) {
            if self.plan.duplicate {
                self.ready.push_back(frame.clone());
            }
            self.ready.push_back(frame);
        }
        while let Some(frame) = self.ready.pop_front() {
            if self.plan.truncate.is_some_and(|most| self.written_frames >= most) {
                self.finish().await?;
                return Ok(Some(End::Clean));
            }
            if self.written_frames > 0 && self.wait().await? {
                return Ok(Some(End::Cut(Cut::Fin)));
            }
            self.frames.write(&frame, &mut self.gathered);
            self.written_frames += 1;
            self.gathered_frames += 1;
            if self.gathered_frames >= self.frames.frames_per_write() {
                self.flush().await?;
            }
        }
        Ok(None)
    }

    /// Waits for the time of the next frame. `true`: the time of the whole stream is over.
    async fn wait(&mut self) -> io::Result<bool> {
        let pause = self.plan.pause();
        if pause.is_zero() {
            return Ok(self.deadline.is_some_and(|deadline| Instant::now() >= deadline));
        }
        self.flush().await?;
        let until = Instant::now() + pause;
        match self.deadline {
            Some(deadline) if deadline <= until => {
                sleep_until(deadline).await;
                Ok(true)
            }
            _ => {
                sleep_until(until).await;
                Ok(false)
            }
        }
    }

    /// Sends what was gathered, in one chunk or in the pieces that were asked for.
    async fn flush(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.gathered);
        let mut from = 0;
        for to in self.frames.cuts(&bytes).into_iter().chain([bytes.len()]) {
            let mut chunk = format!("{:x}\r\n", to - from).into_bytes();
            chunk.extend_from_slice(&bytes[from..to]);
            chunk.extend_from_slice(b"\r\n");
            self.writer.write_all(&chunk).await?;
            from = to;
        }
        self.sent += bytes.len() as u64;
        self.gathered = bytes;
        self.gathered.clear();
        self.gathered_frames = 0;
        Ok(())
    }

    /// Ends the body in good order.
    async fn finish(&mut self) -> io::Result<()> {
        self.frames.finish(&mut self.gathered);
        self.flush().await?;
        self.writer.write_all(b"0\r\n\r\n").await
    }
}
