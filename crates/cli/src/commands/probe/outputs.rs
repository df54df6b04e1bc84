//! Where else the report of a probe goes.

use std::path::PathBuf;

use clap::Args;
use mcp_loadtest::ProbeReport;
use mcp_loadtest_core::{
    check::{junit, likely_source, sarif},
    ci::{self, NOWHERE, page},
    display::visible,
    server::Server,
};

use crate::{
    ci_args::{CiArgs, write},
    env::Env,
    error::CliError,
};

/// Files and forms for machines.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// No progress while it runs.
    #[arg(short, long)]
    quiet: bool,
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
    /// Whether somebody wants to see how far it is.
    pub(crate) fn wants_progress(&self) -> bool {
        !self.quiet
    }

    /// Prints the report, as JSON or as this text, and then writes the files that were asked for: one
    /// that cannot be written costs nobody the report.
    pub(crate) fn tell(
        &self,
        report: &ProbeReport,
        server: &Server,
        (passed, verdict): (bool, &str),
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
        let outputs = [("passed", passed.to_string()), ("verdict", verdict.to_owned())];
        self.ci.tell(&remarks, page, &outputs, env)
    }
}
