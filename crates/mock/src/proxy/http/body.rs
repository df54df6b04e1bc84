//! Bodies: what was read whole, what goes on as it comes, and what we make piece by piece.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll},
};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use thiserror::Error;
use tokio::sync::mpsc;

/// Larger bodies are refused.
const BODY_LIMIT: usize = 64 << 20;
/// How many pieces may wait for a client to read them.
const QUEUE: usize = 16;

/// A body that ends before its end: the connection goes down with it.
#[derive(Debug, Error)]
#[error("the body ends here")]
pub(super) struct Torn;

/// What goes into a body piece by piece.
pub(super) type Pieces = mpsc::Sender<Result<Bytes, Torn>>;

/// A body that we send.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// All of it.
    Whole(Option<Bytes>),
    /// That of the other side, unbuffered.
    Through(Incoming),
    /// Whatever is put into [`Pieces`].
    Pieces(mpsc::Receiver<Result<Bytes, Torn>>),
}

impl Outgoing {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }

    pub(super) fn pieces() -> (Pieces, Self) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (sender, Self::Pieces(receiver))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Through(body) => Pin::new(body)
                .poll_frame(cx)
                .map(|frame| frame.map(|frame| frame.map_err(Into::into))),
            Self::Pieces(pieces) => pieces
                .poll_recv(cx)
                .map(|piece| piece.map(|piece| piece.map(Frame::data).map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Through(body) => body.is_end_stream(),
            Self::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Through(body) => body.size_hint(),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

/// The next piece of a body; nothing at its end.
pub(crate) async fn next(body: &mut Incoming) -> Option<hyper::Result<Bytes>> {
    loop {
        let frame = std::future::poll_fn(|cx| pin!(&mut *body).poll_frame(cx)).await?;
        match frame.map(Frame::into_data) {
            Ok(Ok(bytes)) => return Some(Ok(bytes)),
            // Trailers say nothing here.
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

/// Why a body could not be read whole.
#[derive(Debug)]
pub(super) enum NotWhole {
    TooLarge,
    Broken,
}

/// Reads a body to its end.
pub(super) async fn whole(mut body: Incoming) -> Result<Vec<u8>, NotWhole> {
    let mut bytes = Vec::new();
    while let Some(piece) = next(&mut body).await {
        let piece = piece.map_err(|_| NotWhole::Broken)?;
        if bytes.len() + piece.len() > BODY_LIMIT {
            return Err(NotWhole::TooLarge);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}
