//! Answers piece by piece, and how they break.

use std::{collections::VecDeque, io, io::Write as _, sync::Arc, time::Duration};

use mcp_loadtest_core::llm::{At, Cut, Ending, Plan, StreamFault};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    time::{Instant, sleep, sleep_until},
};

use super::{After, Connection, asking::Sent, outgoing, sse::FrameWriter};
use crate::llm::{
    dialect::{Framing, Reply, Voice},
    frame::Frame,
    pieces::{self, Pieces},
};

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
    /// As streams end, with everything said or not.
    Clean(Ending),
    /// In another way.
    Cut(Cut),
}

impl Connection {
    /// Sends a stream, and watches meanwhile whether the client is still there.
    pub(super) async fn stream(&mut self, stream: Stream<'_>) -> io::Result<Sent> {
        let keep_alive = stream.keep_alive;
        let reply = stream.reply.clone();
        let (reader, writer) = self.stream.split();
        let mut sending = Sending::new(stream, writer);
        let end = tokio::select! {
            biased;
            end = sending.run() => end,
            () = self.incoming.hung_up(&reader) => Err(io::ErrorKind::ConnectionAborted.into()),
        };
        let mut sent = match end {
            // A client that is gone shows itself in a write, too.
            Err(_) => Sent::new(sending.sent, Ending::Aborted, After::Closed),
            Ok(End::Clean(ending)) => {
                Sent::new(sending.sent, ending, outgoing::after(None, keep_alive))
            }
            Ok(End::Cut(cut)) => {
                Sent::new(sending.sent, Ending::Broken, outgoing::after(Some(cut), false))
            }
        };
        if !matches!(sent.ending, Ending::Complete | Ending::Aborted) {
            sent.said = pieces::beginning(&reply.answer, sending.said.min(LONGEST_SAID));
            sent.said_whole = pieces::ends_a_block(&reply.answer, sending.said);
        }
        Ok(sent)
    }
}

/// The journal keeps no more than this of what was said.
const LONGEST_SAID: usize = 4 << 10;
/// Frames that need not wait share a write until it is this large.
const FULL: usize = 16 << 10;
/// What is announced where less is to come.
const ANNOUNCED: usize = 1 << 20;

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
    /// What goes to the socket next: the head, chunks.
    outbox: Vec<u8>,
    gathered_frames: usize,
    written_frames: usize,
    /// Whether a length is announced that is not kept, in place of chunks.
    is_short: bool,
    /// Bytes of the body that were sent, and bytes of the answer that they said.
    sent: usize,
    said: usize,
    /// When the last frame was due, and when the connection is dropped.
    due: Option<Instant>,
    deadline: Option<Instant>,
}

impl<'p, W: AsyncWrite + Unpin> Sending<'p, W> {
    fn new(stream: Stream<'p>, writer: W) -> Self {
        let Stream { reply, voice, framing, plan, headers, keep_alive } = stream;
        let places: Vec<_> = plan.faults.iter().filter_map(|fault| fault.at).collect();
        let is_short = plan.faults.iter().any(|fault| fault.cut == Some(Cut::ShortContentLength));
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
            outbox: Vec::new(),
            gathered_frames: 0,
            written_frames: 0,
            is_short,
            sent: 0,
            said: 0,
            due: None,
            deadline: None,
        }
    }

    async fn run(&mut self) -> io::Result<End> {
        self.begin().await?;
        self.deadline = self.plan.disconnect.map(|after| Instant::now() + after);
        let mut out = Vec::new();
        self.voice.open(&mut out);
        if let Some(end) = self.send_frames(&mut out).await? {
            return Ok(end);
        }
        if let Some(wait) = self.plan.faults.iter().find_map(|fault| fault.ttft_ms) {
            self.stall(wait).await?;
        }
        let is_due = |fault: &&'p StreamFault| fault.at != Some(At::BeforeHeaders);
        let mut faults: Vec<_> = self.plan.faults.iter().copied().filter(is_due).collect();
        loop {
            if let Some(end) = self.strike_all(&mut faults).await? {
                return Ok(end);
            }
            let voice = &mut self.voice;
            if !self.pieces.next(|piece| voice.say(piece, &mut out)) {
                break;
            }
            if let Some(end) = self.send_frames(&mut out).await? {
                return Ok(end);
            }
            self.said = self.pieces.bytes();
        }
        if let Some(deadline) = self.deadline {
            // However fast the stream was, it does not come to its end.
            self.flush().await?;
            sleep_until(deadline).await;
            return Ok(End::Cut(Cut::Fin));
        }
        self.voice.close(&mut out);
        if let Some(end) = self.send_frames(&mut out).await? {
            return Ok(end);
        }
        self.finish().await?;
        Ok(End::Clean(Ending::Complete))
    }

    async fn begin(&mut self) -> io::Result<()> {
        let keep_alive = self.keep_alive && !self.is_short;
        let mut head =
            outgoing::head(200, self.frames.content_type(), &self.headers, keep_alive, 0);
        head.extend_from_slice(b"cache-control: no-cache\r\n");
        let _ = match self.is_short {
            true => write!(head, "content-length: {ANNOUNCED}\r\n\r\n"),
            false => write!(head, "transfer-encoding: chunked\r\n\r\n"),
        };
        // The head goes out with the first frame, unless that must wait.
        self.outbox = head;
        Ok(())
    }

    /// Lets all faults strike whose place has come.
    async fn strike_all(&mut self, faults: &mut Vec<&'p StreamFault>) -> io::Result<Option<End>> {
        let mut at = 0;
        while let Some(fault) = faults.get(at).copied() {
            if self.pieces.has_reached(fault.at.unwrap_or(At::BeforeTerminal)) {
                faults.remove(at);
                if let Some(end) = self.strike(fault).await? {
                    return Ok(Some(end));
                }
            } else {
                at += 1;
            }
        }
        Ok(None)
    }

    /// A fault whose place has come.
    async fn strike(&mut self, fault: &StreamFault) -> io::Result<Option<End>> {
        if fault.cut.is_none() && fault.error.is_none() && fault.stall_ms.is_none() {
            return Ok(None);
        }
        let mut out = Vec::new();
        self.voice.settle(fault.cut.is_some() && fault.error.is_none(), &mut out);
        if let Some(end) = self.send_frames(&mut out).await? {
            return Ok(Some(end));
        }
        self.flush().await?;
        if let Some(wait) = fault.stall_ms {
            self.stall(wait).await?;
        }
        if let Some(error) = &fault.error {
            self.voice.fail(error, &mut out);
            if let Some(end) = self.send_frames(&mut out).await? {
                return Ok(Some(end));
            }
            if fault.cut.is_none() {
                self.finish().await?;
                return Ok(Some(End::Clean(Ending::ErrorEvent)));
            }
        }
        let Some(cut) = fault.cut else { return Ok(None) };
        self.flush().await?;
        if cut == Cut::CleanEof {
            // Without what would make a JSON array whole.
            self.end_chunks().await?;
            return Ok(Some(End::Clean(Ending::CutShort)));
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
                return Ok(Some(End::Clean(Ending::CutShort)));
            }
            if self.written_frames > 0 && self.wait().await? {
                self.flush().await?;
                return Ok(Some(End::Cut(Cut::Fin)));
            }
            self.frames.write(&frame, &mut self.gathered);
            self.written_frames += 1;
            self.gathered_frames += 1;
            if self.gathered_frames >= self.frames.frames_per_write() {
                self.seal().await?;
            }
            if self.outbox.len() > FULL {
                self.write_out().await?;
            }
        }
        Ok(None)
    }

    /// Waits for the time of the next frame. `true`: the time of the whole stream is over.
    async fn wait(&mut self) -> io::Result<bool> {
        let pause = self.plan.pause();
        let now = Instant::now();
        // Pauses follow each other: a frame that was late does not make the rest late.
        let due = self.due.unwrap_or(now) + pause;
        self.due = (!pause.is_zero()).then_some(due);
        if let Some(deadline) = self.deadline.filter(|deadline| *deadline <= due.max(now)) {
            self.flush().await?;
            sleep_until(deadline).await;
            return Ok(true);
        }
        if due > now {
            self.flush().await?;
            sleep_until(due).await;
        }
        Ok(false)
    }

    /// Is silent for a while; the frames after it are not late because of that.
    async fn stall(&mut self, ms: u64) -> io::Result<()> {
        self.flush().await?;
        sleep(Duration::from_millis(ms)).await;
        self.due = None;
        Ok(())
    }

    /// Sends all that is ready.
    async fn flush(&mut self) -> io::Result<()> {
        self.seal().await?;
        self.write_out().await
    }

    /// Makes a chunk of what was gathered, or several where a write must end inside a frame.
    async fn seal(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.gathered);
        let mut from = 0;
        for to in self.frames.cuts(&bytes) {
            self.chunk(&bytes[from..to]);
            self.write_out().await?;
            from = to;
        }
        if from < bytes.len() {
            self.chunk(&bytes[from..]);
        }
        self.sent += bytes.len();
        self.gathered = bytes;
        self.gathered.clear();
        self.gathered_frames = 0;
        Ok(())
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if self.is_short {
            return self.outbox.extend_from_slice(bytes);
        }
        // Writing to memory cannot fail.
        let _ = write!(self.outbox, "{:x}\r\n", bytes.len());
        self.outbox.extend_from_slice(bytes);
        self.outbox.extend_from_slice(b"\r\n");
    }

    async fn write_out(&mut self) -> io::Result<()> {
        if !self.outbox.is_empty() {
            self.writer.write_all(&self.outbox).await?;
            self.outbox.clear();
        }
        Ok(())
    }

    /// Ends the body in good order.
    async fn finish(&mut self) -> io::Result<()> {
        self.frames.finish(&mut self.gathered);
        self.flush().await?;
        self.end_chunks().await
    }

    async fn end_chunks(&mut self) -> io::Result<()> {
        if !self.is_short {
            self.outbox.extend_from_slice(b"0\r\n\r\n");
        }
        self.write_out().await
    }
}
