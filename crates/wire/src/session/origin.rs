//! A way to an HTTP server for those who speak to it themselves.

use std::{io, net::SocketAddr};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    OpenError,
    address::{Address, HTTP},
};
use crate::transport::{MESSAGE_LIMIT, http::HttpTarget};

/// An address that was found, and how to connect to it. Cheap to clone.
#[derive(Clone)]
pub struct Origin {
    target: HttpTarget,
}

impl Origin {
    /// Reads the URL and finds the host.
    pub async fn find(address: &Address) -> Result<Self, OpenError> {
        Ok(Self { target: address.find(HTTP, MESSAGE_LIMIT).await? })
    }

    /// What the host's name stands for.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.target.dial.addresses
    }

    /// The host, with its port where one was written.
    pub fn authority(&self) -> &str {
        &self.target.host
    }

    /// The path and query.
    pub fn path(&self) -> &str {
        &self.target.path
    }

    /// Connects, with TLS where the URL says so.
    pub async fn connect(&self) -> io::Result<impl AsyncRead + AsyncWrite + Unpin + Send + use<>> {
        self.target.dial.connect().await
    }
}
