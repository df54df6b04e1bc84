//! The flags of the admin interface, which the mocks and the proxy share.

use std::{future::pending, net::SocketAddr};

use clap::Args;
use mcp_loadtest_mock::admin::{Access, BoundAdmin, Routes};

use crate::{env::Env, error::CliError};

/// Where it can be controlled while it runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Control while it runs")]
pub(crate) struct AdminArgs {
    /// Open a small HTTP interface to switch faults and read the log: GET, PUT and DELETE /faults,
    /// POST /reset, GET /audit, /audit/export, /counters and /health. Its URL is printed.
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// What every request to it must bring as a bearer token.
    #[arg(long, value_name = "TOKEN", requires = "admin")]
    admin_token: Option<String>,
    /// Let it listen where other machines reach it; needs a token.
    #[arg(long, requires = "admin", requires = "admin_token")]
    allow_remote: bool,
}

impl AdminArgs {
    /// Opens the interface, if it was asked for, and tells where it is.
    pub(crate) async fn bind<R: Into<Routes>>(
        &self,
        controlled: impl FnOnce() -> R,
        env: &mut Env,
        tell: impl FnOnce(&mut Env, &str),
    ) -> Result<Admin, CliError> {
        let Some(address) = self.admin else { return Ok(Admin(None)) };
        let access = Access { token: self.admin_token.clone(), allow_remote: self.allow_remote };
        let bound = controlled().into().bind(address, access).await?;
        tell(env, &format!("{}\n", serde_json::json!({ "admin": bound.url() })));
        Ok(Admin(Some(bound)))
    }
}

/// The interface, or none.
pub(crate) struct Admin(Option<BoundAdmin>);

impl Admin {
    /// Serves; ends only with an error.
    pub(crate) async fn serve(self) -> CliError {
        match self.0 {
            None => pending().await,
            Some(bound) => match bound.serve().await {
                Ok(()) => pending().await,
                Err(error) => error.into(),
            },
        }
    }
}
