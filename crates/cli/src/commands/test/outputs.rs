//! Where the results of suites go.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_loadtest_core::suite::{
    SuiteReport,
    render::{self, FORMS},
};

use crate::{env::Env, error::CliError};

/// Files and forms for machines.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print one JSON document, and nothing else.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// What is printed: terminal, json, junit, markdown, html or github.
    #[arg(long, value_name = "FORM", value_parser = parse_form, default_value = "terminal")]
    format: Option<&'static str>,
    /// Also write JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write Markdown to this file.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Also write a page with agents by faults, and what each of them did, to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also print annotations for GitHub Actions, and add to the step's summary.
    #[arg(long)]
    github: bool,
}

fn parse_form(text: &str) -> Result<&'static str, String> {
    let known = || FORMS.iter().map(|form| form.name).collect::<Vec<_>>().join(", ");
    render::form(text).map(|form| form.name).ok_or_else(|| format!("use {}", known()))
}

/// Where GitHub keeps the summary of a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

fn rendered(name: &str, report: &SuiteReport) -> String {
    render::form(name).map_or_else(String::new, |form| (form.render)(report))
}

impl OutputArgs {
    /// One JSON document or the usual text, and no files.
    pub(super) fn printed(json: bool) -> Self {
        Self { json, ..Self::default() }
    }

    /// Prints the results, and then writes the files that were asked for.
    pub(super) fn tell(&self, report: &SuiteReport, env: &mut Env) -> Result<(), CliError> {
        let form = if self.json { "json" } else { self.format.unwrap_or("terminal") };
        env.out(&rendered(form, report));
        if let Some(path) = &self.junit {
            write(env, path, &rendered("junit", report))?;
        }
        if let Some(path) = &self.markdown {
            write(env, path, &rendered("markdown", report))?;
        }
        if let Some(path) = &self.html {
            write(env, path, &rendered("html", report))?;
        }
        if self.github {
            // Runners read annotations from both streams; stdout may hold a document.
            env.err(&rendered("github", report));
            if let Some(path) = (env.var)(STEP_SUMMARY).filter(|path| !path.is_empty()) {
                append(Path::new(&path), &rendered("markdown", report))?;
            }
        }
        Ok(())
    }
}

fn write(env: &Env, path: &Path, text: &str) -> Result<(), CliError> {
    let path = env.path(path);
    fs::write(&path, text).map_err(|source| CliError::Write { path, source })
}

fn append(path: &Path, text: &str) -> Result<(), CliError> {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|source| CliError::Write { path: path.to_owned(), source })
}
