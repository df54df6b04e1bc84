//! Control while a mock or a proxy runs: a small HTTP interface for tests that switch faults.
//!
//! | request                  | what it does                                                   |
//! |--------------------------|----------------------------------------------------------------|
//! | `GET /health`            | whether it is there, and since when                            |
//! | `GET /faults`            | the faults in force                                            |
//! | `PUT /faults`            | replaces them: a list of texts or of objects as suites have them |
//! | `DELETE /faults`         | takes all away                                                 |
//! | `POST /reset`            | counts anew, calls of faults included                          |
//! | `GET /counters`          | requests, and those that a fault touched; of a mock, errors and cancellations too |
//! | `GET /audit`             | rows; filters as the command `audit` has them                  |
//! | `GET /audit/export`      | the same as JSON lines                                         |
//!
//! To add a route: a function in `routes` and a line in `routes::router`.

mod guard;
mod routes;

pub use crate::serve::http::guard::{is_local_origin, is_loopback};
pub(crate) use routes::problem;

use std::{io, net::SocketAddr, sync::Arc};

use mcp_loadtest_core::config::TransportName;
use tokio::net::TcpListener;

use crate::{audit::Audit, desk::Desk};

/// Who may ask.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// What every request must bring as a bearer token, if anything.
    pub token: Option<String>,
    /// Whether it may listen where other machines reach it.
    pub allow_remote: bool,
}

/// What can be looked at and changed.
#[derive(Debug, Clone)]
pub struct Controlled {
    pub(crate) desk: Arc<Desk>,
    pub(crate) audit: Audit,
    /// Faults that this transport cannot have are refused.
    pub(crate) transport: TransportName,
}

/// An admin interface that has its address.
#[derive(Debug)]
pub struct BoundAdmin {
    listener: TcpListener,
    address: SocketAddr,
    router: axum::Router,
}

/// What an admin interface offers.
#[derive(Debug)]
pub struct Routes(pub(crate) axum::Router);

impl From<Controlled> for Routes {
    fn from(controlled: Controlled) -> Self {
        Self(routes::router(controlled))
    }
}

impl Routes {
    /// Listens. Other addresses than loopback need leave and a token.
    pub async fn bind(self, address: SocketAddr, access: Access) -> io::Result<BoundAdmin> {
        guard::check_address(address, &access)?;
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let guard = axum::middleware::from_fn_with_state(access, guard::guard);
        Ok(BoundAdmin { listener, address, router: self.0.layer(guard) })
    }
}

impl BoundAdmin {
    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves until the future is dropped.
    pub async fn serve(self) -> io::Result<()> {
        axum::serve(self.listener, self.router).await
    }
}
