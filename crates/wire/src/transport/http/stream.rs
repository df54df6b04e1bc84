//! A connection, plain or TLS, and how one is made.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, Interest, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::torture::{Deed, strike};

/// A connection.
pub(crate) enum Stream {
    /// `http:`
    Plain(TcpStream),
    /// `https:`, boxed because its state is large.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Where to connect and how.
#[derive(Clone)]
pub(crate) struct Dial {
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Dial {
    pub(crate) async fn connect(&self) -> io::Result<Stream> {
        strike(Deed::Connect, format_args!("{:?}", self.addresses))?;
        let tcp = TcpStream::connect(self.addresses.as_slice()).await?;
        // Requests are single writes; waiting for more would only add latency.
        tcp.set_nodelay(true)?;
        match &self.tls {
            None => Ok(Stream::Plain(tcp)),
            Some((config, name)) => {
                let connector = TlsConnector::from(config.clone());
                let stream = Box::pin(connector.connect(name.clone(), tcp)).await?;
                Ok(Stream::Tls(Box::new(stream)))
            }
        }
    }
}

impl Stream {
    /// Whether an idle connection can still be used: the server has neither closed it nor spoken.
    pub(crate) fn is_fresh(&self) -> bool {
        let tcp = match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => tls.get_ref().0,
        };
        // Costs no system call: the reactor knows whether anything has come in.
        let seen = tcp.try_io(Interest::READABLE, || Ok(()));
        seen.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Writes what the socket takes at once.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => {
                match strike(Deed::Write, "socket").and_then(|()| tcp.try_write(bytes)) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
                    other => other,
                }
            }
            Self::Tls(_) => Ok(0),
        }
    }

    /// Writes the rest of what `try_write` began.
    pub(crate) async fn send_rest(&mut self, rest: Vec<u8>) -> io::Result<()> {
        self.write_all(&rest).await?;
        self.flush().await
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Self::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
        })?;
        Poll::Ready(strike(Deed::Read, "socket"))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        strike(Deed::Write, "socket")?;
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(cx, buf),
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Self::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
