//! Where else the report of a probe goes.

use std::path::{Path, PathBuf};

use clap::Args;
use mcp_loadtest::ProbeReport;
use mcp_loadtest_core::{
    check::{junit, likely_source, sarif},
    ci::{self, NOWHERE, page},
    display::visible,
    server::Server,
};

use crate::{ci_args::CiArgs, env::Env, error::CliError};

/// Files and forms for machines.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print one JSON document, and nothing else.
    #[arg(long)]
    json: bool,
    /// Also write JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write SARIF to this file.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    #[command(flatten)]
    ci: CiArgs,
}

impl OutputArgs {
    /// Prints the report, as JSON or as this text, and then writes the files that were asked for: one
    /// that cannot be written costs nobody the report.
    pub(crate) fn tell(
        &self,
        report: &ProbeReport,
        server: &Server,
        text: impl FnOnce() -> String,
        env: &mut Env,
    ) -> Result<(), CliError> {
        if self.json {
            env.out_json(report);
        } else {
            env.out(&text());
        }
        if let Some(path) = &self.junit {
            write(env, path, &junit(&report.target, &report.checks))?;
        }
        if let Some(path) = &self.sarif {
            let location = likely_source(server).unwrap_or(NOWHERE);
            let document = sarif(&report.findings, location);
            write(
                env,
                path,
                &(serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"),
            )?;
        }
        let remarks = ci::of_findings(&report.findings, likely_source(server));
        let page = || {
            let name = report.server_name.as_deref().unwrap_or(&report.target);
            page::render(&format!("mcp-loadtest probe: {}", visible(name, 80)), &remarks)
        };
        self.ci.tell(&remarks, page, &[("passed", report.passed.to_string())], env)
    }
}

fn write(env: &Env, path: &Path, text: &str) -> Result<(), CliError> {
    let path = env.path(path);
    std::fs::write(&path, text).map_err(|source| CliError::Write { path, source })
}
