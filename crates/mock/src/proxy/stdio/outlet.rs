//! Writes to the client. All messages go through one queue, so that none lands within another.

use std::{
    io::{self, Write},
    time::Duration,
};

use mcp_loadtest_core::fault::{self, REORDER_LIMIT, Step};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep, timeout, timeout_at},
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
            let writer = Writer { pipe, late: Vec::new(), due: Instant::now() };
            if let Err(why) = writer.run(messages).await {
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
    /// Replies that wait to be overtaken, and how long they do at most.
    late: Vec<Vec<u8>>,
    due: Instant,
}

impl Writer {
    /// Writes until there is nothing more, or says why it cannot go on.
    async fn run(mut self, mut messages: mpsc::Receiver<Out>) -> Result<(), ProxyEnd> {
        loop {
            let next = if self.late.is_empty() {
                messages.recv().await
            } else {
                match timeout_at(self.due, messages.recv()).await {
                    Ok(next) => next,
                    Err(_) => {
                        self.release().await?;
                        continue;
                    }
                }
            };
            match next {
                Some(Out::Bytes { bytes, is_reply }) => {
                    self.write(bytes).await?;
                    if is_reply {
                        self.release().await?;
                    }
                }
                Some(Out::Steps(steps)) => self.walk(steps).await?,
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
                    self.due = Instant::now() + REORDER_LIMIT;
                    self.late.push(line(frame));
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
        for bytes in std::mem::take(&mut self.late) {
            self.write(bytes).await?;
        }
        Ok(())
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
