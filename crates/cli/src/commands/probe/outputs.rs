//! Where else the report of a probe goes.

use std::path::PathBuf;

use clap::Args;
use mcp_loadtest::ProbeReport;
use mcp_loadtest_core::{
    check::{junit, likely_source, sarif},
    ci::{
        self, NOWHERE, Remark,
        junit::{Case, Ending},
        page,
    },
    display::visible,
    report::Severity,
    server::Server,
};

use crate::{
    ci_args::{CiArgs, write},
    env::Env,
    error::CliError,
};

/// What a probe comes to.
pub(crate) struct Judged {
    /// Whether the gate of the command holds.
    pub(crate) passed: bool,
    /// The word above everything else.
    pub(crate) word: &'static str,
    /// Why it does not hold, in case that no finding says so.
    pub(crate) why_not: &'static str,
}

impl Judged {
    /// The verdict as a case of its own, so that a file fails whenever the command does.
    fn case(&self) -> Case {
        let Self { passed, word, why_not } = self;
        let ending = match (passed, *word) {
            (true, "UNDECIDED") => Ending::Open(format!("the verdict is {word}")),
            (true, _) => Ending::Good(format!("the verdict is {word}")),
            (false, _) => Ending::Bad(format!("the verdict is {word}: {why_not}"), Vec::new()),
        };
        Case::new("probe", "verdict", ending)
    }

    /// What is told where the gate does not hold and nothing that was found says why.
    fn remark(&self, remarks: &[Remark], file: Option<&str>) -> Option<Remark> {
        let is_told = remarks.iter().any(|remark| remark.severity == Severity::Critical);
        (!self.passed && !is_told).then(|| Remark {
            id: "verdict".into(),
            severity: Severity::Critical,
            title: format!("{}: {}", self.word, self.why_not),
            details: Vec::new(),
            reproduce: None,
            file: file.map(str::to_owned),
            line: None,
        })
    }
}

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
        judged: &Judged,
        text: impl FnOnce() -> String,
        env: &mut Env,
    ) -> Result<(), CliError> {
        if self.json {
            env.out_json(report);
        } else {
            env.out(&text());
        }
        if let Some(path) = &self.junit {
            let xml = junit(&report.target, &report.checks, &report.findings, &judged.case());
            write(env, path, &xml)?;
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
        let file = likely_source(server);
        let mut remarks = ci::of_findings(&report.findings, file);
        remarks.extend(judged.remark(&remarks, file));
        let page = || {
            let name = report.server_name.as_deref().unwrap_or(&report.target);
            page::render(&format!("mcp-loadtest probe: {}", visible(name, 80)), &remarks)
        };
        let outputs = [("passed", judged.passed.to_string()), ("verdict", judged.word.to_owned())];
        self.ci.tell(&remarks, page, &outputs, env)
    }
}
