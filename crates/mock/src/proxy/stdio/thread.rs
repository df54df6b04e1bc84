//! Blocking reads and writes, each in a thread of its own: the standard streams know no other, and a
//! thread that waits for a stream must not keep the process from ending.

use std::{
    io::{self, Read, Write},
    thread,
};

use tokio::sync::{mpsc, oneshot};

/// How many pieces may wait.
const QUEUE: usize = 16;
/// How much is read at once.
const READ_SIZE: usize = 64 << 10;

/// Reads until the end, piece by piece.
pub(super) fn reader<R>(mut input: R) -> io::Result<mpsc::Receiver<Vec<u8>>>
where
    R: Read + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(QUEUE);
    thread::Builder::new().name("proxy-input".into()).spawn(move || {
        let mut room = vec![0; READ_SIZE];
        loop {
            match input.read(&mut room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(length) => {
                    if sender.blocking_send(room[..length].to_vec()).is_err() {
                        return;
                    }
                }
            }
        }
    })?;
    Ok(receiver)
}

/// Writes what it is sent, at once. The second part says when everything is written.
pub(super) fn writer<W>(mut output: W) -> io::Result<(mpsc::Sender<Vec<u8>>, oneshot::Receiver<()>)>
where
    W: Write + Send + 'static,
{
    let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(QUEUE);
    let (done, written) = oneshot::channel();
    thread::Builder::new().name("proxy-output".into()).spawn(move || {
        while let Some(bytes) = receiver.blocking_recv() {
            if output.write_all(&bytes).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        drop(output);
        let _ = done.send(());
    })?;
    Ok((sender, written))
}
