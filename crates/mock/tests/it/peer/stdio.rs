//! A pair of pipes. The mock has a thread of its own, because it reads and writes as programs do.

use std::{
    io::{self, PipeWriter, Write},
    thread,
};

use mcp_loadtest_mock::{Mock, Served};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::{Frame, Got};

/// Our ends.
pub(super) struct Pipes {
    input: Option<PipeWriter>,
    output: mpsc::UnboundedReceiver<Vec<u8>>,
    buffer: Vec<u8>,
    pieces: usize,
}

/// The mock's output: every write is kept apart, so that pieces can be counted.
struct Writes(mpsc::UnboundedSender<Vec<u8>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.send(bytes.to_vec());
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The mock ends with its input, or when it is told to.
pub(super) fn start(mock: Mock) -> (Pipes, oneshot::Sender<()>, JoinHandle<Served>) {
    let (server_input, input) = io::pipe().unwrap();
    let (writes, output) = mpsc::unbounded_channel();
    let (ended, served) = oneshot::channel();
    let (stop, stopped) = oneshot::channel();
    let stopped = async move {
        // Whoever forgets to stop it wants it to go on.
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let served = mock.serve_pipes_until(server_input, Writes(writes), stopped);
        let served = runtime.block_on(served).unwrap();
        // A test that does not ask has ended.
        let _ = ended.send(served);
    });
    let task = tokio::spawn(async { served.await.expect("the mock does not panic") });
    (Pipes { input: Some(input), output, buffer: Vec::new(), pieces: 0 }, stop, task)
}

impl Pipes {
    pub(super) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it was not closed");
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub(super) fn close(&mut self) {
        self.input = None;
    }

    pub(super) async fn next(&mut self) -> Got {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(end + 1);
                let mut bytes = std::mem::replace(&mut self.buffer, rest);
                bytes.pop();
                let pieces = std::mem::take(&mut self.pieces);
                return Got::Frame(Frame { bytes, pieces, ..Frame::default() });
            }
            match self.output.recv().await {
                Some(bytes) => self.buffer.extend(bytes),
                None => {
                    let part = std::mem::take(&mut self.buffer);
                    return Got::Closed { part, announced: None };
                }
            }
            self.pieces += 1;
        }
    }
}
