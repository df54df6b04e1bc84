//! `MCP_LOADTEST_TORTURE=write:17` in builds for tests: the seventeenth write fails. Every deed is told in
//! the file that `MCP_LOADTEST_TORTURE_LOG` names. See docs/design/torture.md.

use std::path::Path;

use mcp_loadtest_wire::torture;

use crate::{env::Env, error::CliError};

const DEED: &str = "MCP_LOADTEST_TORTURE";
const LOG: &str = "MCP_LOADTEST_TORTURE_LOG";

/// Does what the variables ask for, if they are set.
pub(crate) fn arm(env: &Env) -> Result<(), CliError> {
    let Some(wanted) = (env.var)(DEED) else { return Ok(()) };
    let wrong =
        |error: torture::NotATorture| CliError::usage(error.to_string(), format!("correct {DEED}"));
    let chosen = wanted.parse().map_err(wrong)?;
    let log = (env.var)(LOG).ok_or_else(|| {
        CliError::usage(format!("{DEED} is set and {LOG} is not"), format!("name a file in {LOG}"))
    })?;
    Ok(torture::arm(chosen, Path::new(&log))?)
}
