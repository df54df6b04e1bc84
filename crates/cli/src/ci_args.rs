//! What CI servers get to see, for every command that judges something.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_loadtest::{Comparison, Server};
use mcp_loadtest_core::{
    check::likely_source,
    ci::{self, Remark, code_quality, github, junit},
    compare::{self, TargetRuns},
    exit::Exit,
    report::{Renderer as _, markdown::Markdown},
};

use crate::{baseline::Compared, env::Env, error::CliError};

/// Where GitHub keeps the summary of a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// Where GitHub keeps what later steps may read.
const OUTPUT: &str = "GITHUB_OUTPUT";

/// The flags for CI servers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CiArgs {
    /// Also print annotations for GitHub Actions, and add to the summary and outputs of the step.
    #[arg(long)]
    github: bool,
    /// Also write the code quality report of GitLab to this file.
    #[arg(long, value_name = "FILE")]
    code_quality: Option<PathBuf>,
}

/// The flag for JUnit XML.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct JunitArg {
    /// Also write JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl JunitArg {
    /// Whether it is given.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.junit.is_some()
    }

    /// Writes the file, where one is asked for.
    pub(crate) fn write(&self, xml: impl FnOnce() -> String, env: &Env) -> Result<(), CliError> {
        self.junit.as_ref().map_or(Ok(()), |path| write(env, path, &xml()))
    }

    /// Writes what a run comes to.
    pub(crate) fn write_run(&self, compared: &Compared, env: &Env) -> Result<(), CliError> {
        self.write(|| junit::of_run(&compared.report, compared.comparison.as_ref()), env)
    }
}

/// Writes a file that was asked for by name.
pub(crate) fn write(env: &Env, path: &Path, text: &str) -> Result<(), CliError> {
    let path = env.path(path);
    let text = env.secrets().text(text);
    fs::write(&path, &*text).map_err(|source| CliError::Write { path, source })
}

impl CiArgs {
    /// Whether any of them is given.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.github || self.code_quality.is_some()
    }

    /// Tells remarks, this page and these outputs.
    pub(crate) fn tell(
        &self,
        remarks: &[Remark],
        page: impl FnOnce() -> String,
        outputs: &[(&str, String)],
        env: &mut Env,
    ) -> Result<(), CliError> {
        if let Some(path) = &self.code_quality {
            write(env, path, &format!("{:#}\n", code_quality::document(remarks)))?;
        }
        if self.github {
            // Runners read annotations from both streams; stdout may hold a document.
            env.err(&github::annotations(remarks));
            append(STEP_SUMMARY, || github::step_summary(&page()), env)?;
            append(OUTPUT, || github::outputs(outputs), env)?;
        }
        Ok(())
    }

    /// Tells what is wrong with a run.
    pub(crate) fn tell_run(
        &self,
        Compared { exit, report, comparison }: &Compared,
        server: Option<&Server>,
        env: &mut Env,
    ) -> Result<(), CliError> {
        if !self.is_asked_for() {
            return Ok(());
        }
        let file = server.and_then(likely_source);
        let worse = comparison.as_ref().and_then(|one| ci::of_comparison(one, file));
        let remarks: Vec<_> = worse.into_iter().chain(ci::of_report(report, file)).collect();
        let page = || {
            let mut text = Vec::new();
            // Writing to memory cannot fail.
            let _ = Markdown.render(report, &mut text);
            if let Some(comparison) = comparison {
                let _ = compare::markdown::render(comparison, &mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        };
        let dir = report.run_dir.as_ref().map(|dir| dir.display().to_string()).unwrap_or_default();
        let p99 = report.latency.p99.as_secs_f64() * 1e3;
        let outputs = [
            ("passed", (*exit == Exit::Pass).to_string()),
            ("verdict", report.headline().to_owned()),
            ("run-id", report.run_id.clone()),
            ("run-dir", dir),
            ("p99-ms", if report.latency.count == 0 { String::new() } else { format!("{p99:.3}") }),
        ];
        self.tell(&remarks, page, &outputs, env)
    }
}

impl CiArgs {
    /// Tells what a comparison of saved runs comes to.
    pub(crate) fn tell_comparison(
        &self,
        comparison: &Comparison,
        env: &mut Env,
    ) -> Result<(), CliError> {
        let remarks: Vec<_> = ci::of_comparison(comparison, None).into_iter().collect();
        let page = || {
            let mut text = Vec::new();
            // Writing to memory cannot fail.
            let _ = compare::markdown::render(comparison, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let outputs = [
            ("passed", (comparison.exit() == Exit::Pass).to_string()),
            ("verdict", comparison.verdict.name().to_owned()),
        ];
        self.tell(&remarks, page, &outputs, env)
    }

    /// Tells what became of several servers that were tested in turns.
    pub(crate) fn tell_rounds(
        &self,
        comparison: &Comparison,
        runs: &[TargetRuns],
        exit: Exit,
        env: &mut Env,
    ) -> Result<(), CliError> {
        let page = || {
            let mut text = Vec::new();
            // Writing to memory cannot fail.
            let _ = compare::markdown::render(comparison, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let mut reports = runs.iter().flat_map(|target| &target.reports);
        let failed = reports.find(|report| !report.passed());
        let verdict = match (failed, exit) {
            (Some(report), _) => report.verdict.name(),
            (None, Exit::Pass) => "PASS",
            (None, _) => "INTERRUPTED",
        };
        let outputs =
            [("passed", (exit == Exit::Pass).to_string()), ("verdict", verdict.to_owned())];
        self.tell(&ci::of_rounds(comparison, runs), page, &outputs, env)
    }
}

/// Adds to a file that the runner named; where it named none, nobody reads it.
fn append(variable: &str, text: impl FnOnce() -> String, env: &Env) -> Result<(), CliError> {
    let Some(path) = (env.var)(variable).filter(|path| !path.is_empty()) else { return Ok(()) };
    let path = Path::new(&path);
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(env.secrets().text(&text()).as_bytes()))
        .map_err(|source| CliError::Write { path: path.to_owned(), source })
}
