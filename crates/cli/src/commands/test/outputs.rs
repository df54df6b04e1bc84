//! Where the results of suites go.

use std::path::PathBuf;

use clap::Args;
use mcp_loadtest_core::{
    ci::of_suite,
    exit::Exit,
    suite::{
        SuiteReport,
        render::{self, FORMS},
    },
};

use crate::{
    ci_args::{CiArgs, write},
    env::Env,
    error::CliError,
};

/// Files and forms for machines.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print one JSON document, and nothing else.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// What is printed: terminal, json, junit, markdown, html, github or code_quality.
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
    #[command(flatten)]
    ci: CiArgs,
}

fn parse_form(text: &str) -> Result<&'static str, String> {
    let known = || FORMS.iter().map(|form| form.name).collect::<Vec<_>>().join(", ");
    render::form(text).map(|form| form.name).ok_or_else(|| format!("use {}", known()))
}

fn rendered(name: &str, report: &SuiteReport) -> String {
    render::form(name).map_or_else(String::new, |form| (form.render)(report))
}

impl OutputArgs {
    /// One JSON document or the usual text, what CI servers get to see, and no other files.
    pub(super) fn printed(json: bool, ci: &CiArgs) -> Self {
        Self { json, ci: ci.clone(), ..Self::default() }
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
        let is_passed = report.exit() == Exit::Pass;
        let verdict = if is_passed { "PASS" } else { "FAIL" };
        let outputs = [("passed", is_passed.to_string()), ("verdict", verdict.to_owned())];
        self.ci.tell(&of_suite(report), || rendered("markdown", report), &outputs, env)
    }
}
