//! Writes to the client. All messages go through one queue, so that none lands within another.

use std::{
    collections::VecDeque,
    io::{self, Write},
    time::Duration,
};

use mcp_loadtest_core::fault::{self, REORDER_LIMIT, Step};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{ProxyEnd, thread};

/// How many messages may wait for the client to read them.
const QUEUE: usize = 64;

/// Something for the client.
#[derive(Debug)]
pub(super) enum Out {
    /// Bytes as they are; whether they are a reply decides whether waiting replies may follow.
    Bytes { bytes: Vec<u8>, is_reply: bool },
    /// A treated reply.
    Steps(Vec<Step>),
    /// The first of the replies that wait has waited long enough.
    Due,
    /// Nothing more.
    End,
}

/// The way to the client.
pub(super) struct Outlet {
    queue: mpsc::Sender<Out>,
    written: oneshot::Receiver<()>,
}

impl Outlet {
    pub(super) fn start<W>(output: W, end: mpsc::Sender<ProxyEnd>) -> io::Result<Self>
    where
        W: Write + Send + 'static,
    {
        let (pipe, written) = thread::writer(output)?;
        let (queue, messages) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            if let Err(why) = Writer::new(pipe).run(messages).await {
                let _ = end.send(why).await;
            }
        });
        Ok(Self { queue, written })
    }

    pub(super) fn sender(&self) -> mpsc::Sender<Out> {
        self.queue.clone()
    }

    /// Writes what is waiting, unless the client takes longer than this to read it.
    pub(super) async fn finish(self, patience: Duration) {
        let _ = timeout(patience, async {
            let _ = self.queue.send(Out::End).await;
            let _ = self.written.await;
        })
        .await;
    }
}

struct Writer {
    pipe: mpsc::Sender<Vec<u8>>,
    /// Replies that wait to be overtaken, in their order, and until when each does at most.
    late: VecDeque<(Instant, Vec<u8>)>,
}

impl Writer {
    fn new(pipe: mpsc::Sender<Vec<u8>>) -> Self {
        Self { pipe, late: VecDeque::new() }
    }

    /// Writes until there is nothing more, or says why it cannot go on.
    async fn run(mut self, mut messages: mpsc::Receiver<Out>) -> Result<(), ProxyEnd> {
        loop {
            let next = match self.late.front() {
                None => messages.recv().await,
                Some((due, _)) => tokio::select! {
                    biased;
                    // First, because under load there is always another message.
                    () = sleep_until(*due) => Some(Out::Due),
                    next = messages.recv() => next,
                },
            };
            match next {
                Some(Out::Bytes { bytes, is_reply }) => {
                    self.write(bytes).await?;
                    if is_reply {
                        self.release().await?;
                    }
                }
                Some(Out::Steps(steps)) => self.walk(steps).await?,
                Some(Out::Due) => self.release_first().await?,
                Some(Out::End) | None => return self.release().await,
            }
        }
    }

    async fn walk(&mut self, steps: Vec<Step>) -> Result<(), ProxyEnd> {
        for step in steps {
            match step {
                Step::Frame(frame) => {
                    self.write(line(frame)).await?;
                    self.release().await?;
                }
                Step::Raw(bytes) => self.write(bytes).await?,
                Step::Partial { bytes, .. } => {
                    self.write(bytes).await?;
                    return Err(ProxyEnd::Cut);
                }
                Step::Drip { frame, bytes_per_second } => {
                    self.drip(&line(frame), bytes_per_second).await?;
                    self.release().await?;
                }
                Step::Late(frame) => {
                    self.late.push_back((Instant::now() + REORDER_LIMIT, line(frame)));
                }
            }
        }
        Ok(())
    }

    /// One piece at a time.
    async fn drip(&mut self, bytes: &[u8], rate: u64) -> Result<(), ProxyEnd> {
        let (size, pause) = fault::portion(rate);
        for piece in bytes.chunks(size) {
            self.write(piece.to_vec()).await?;
            sleep(pause).await;
        }
        Ok(())
    }

    /// The replies that waited go on their way.
    async fn release(&mut self) -> Result<(), ProxyEnd> {
        for (_, bytes) in std::mem::take(&mut self.late) {
            self.write(bytes).await?;
        }
        Ok(())
    }

    /// The reply that has waited longest goes on its way.
    async fn release_first(&mut self) -> Result<(), ProxyEnd> {
        match self.late.pop_front() {
            Some((_, bytes)) => self.write(bytes).await,
            None => Ok(()),
        }
    }

    /// A client that closed its end has gone.
    async fn write(&mut self, bytes: Vec<u8>) -> Result<(), ProxyEnd> {
        self.pipe.send(bytes).await.map_err(|_| ProxyEnd::Client)
    }
}

fn line(mut frame: Vec<u8>) -> Vec<u8> {
    frame.push(b'\n');
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_late_reply_waits_no_longer_because_others_are_late_as_well() {
        let (pipe, mut written) = mpsc::channel(64);
        let (queue, messages) = mpsc::channel(64);
        let writing = tokio::spawn(Writer::new(pipe).run(messages));
        let began = Instant::now();
        for number in b'0'..b'6' {
            queue.send(Out::Steps(vec![Step::Late(vec![number])])).await.unwrap();
            sleep(REORDER_LIMIT * 2 / 5).await;
        }
        for number in b'0'..b'4' {
            assert_eq!(written.try_recv().unwrap(), [number, b'\n']);
        }
        assert!(written.try_recv().is_err(), "the last two may still be overtaken");
        assert!(began.elapsed() < 4 * REORDER_LIMIT);
        let other = Out::Bytes { bytes: b"other\n".to_vec(), is_reply: true };
        queue.send(other).await.unwrap();
        for line in ["other\n", "4\n", "5\n"] {
            assert_eq!(written.recv().await.unwrap(), line.as_bytes());
        }
        drop(queue);
        assert!(writing.await.unwrap().is_ok());
    }
}
