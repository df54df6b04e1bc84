//! Sockets as hyper wants them, and a way to reset one.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// How much is read at once. It is copied once more, which spares us unsafe code.
const READ_SIZE: usize = 8 << 10;

/// Any stream of tokio's.
pub(super) struct Io<T>(pub(super) T);

impl<T: AsyncRead + Unpin> Read for Io<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut room = [0; READ_SIZE];
        let most = cursor.remaining().min(READ_SIZE);
        let mut buffer = ReadBuf::new(&mut room[..most]);
        let read = Pin::new(&mut self.0).poll_read(cx, &mut buffer);
        if let Poll::Ready(Ok(())) = &read {
            cursor.put_slice(buffer.filled());
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> Write for Io<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Says that a connection is to end with RST.
#[derive(Debug, Clone, Default)]
pub(super) struct ResetFlag(Arc<AtomicBool>);

impl ResetFlag {
    pub(super) fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The connection of a client: closed as usual, or reset.
pub(super) struct Client {
    pub(super) stream: TcpStream,
    pub(super) reset: ResetFlag,
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.reset.is_raised() {
            // If it fails, the client sees a plain end of the connection.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Client {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // FIN before RST would be an orderly end.
        if self.reset.is_raised() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
