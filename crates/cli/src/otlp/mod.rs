//! `--otlp`: what a run measured, sent to an OpenTelemetry collector when it is over.
//!
//! OTLP over HTTP with JSON, written with what is here already: two documents ([`document`]) and two
//! POST requests ([`post`]). The crates of OpenTelemetry would bring a client, an exporter and a
//! runtime for the same bytes. Only built with the feature `otlp`.
//!
//! Metrics have every call; spans are a sample of those calls that the trace has.

mod document;
mod post;

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
};

use mcp_loadtest::Report;
use mcp_loadtest_core::trace::read_line;

pub(crate) use post::Endpoint;

use crate::{commands::block_on, error::CliError};

/// Spans of calls at most.
const MOST_SPANS: usize = 2_000;

/// Sends the metrics, and the spans where there is a trace.
pub(crate) fn export(report: &Report, endpoint: &Endpoint) -> Result<(), CliError> {
    let metrics = document::metrics(report);
    let spans = document::spans(report, &ended_calls(report)?);
    let sent = block_on(async {
        post::post(endpoint, "v1/metrics", &metrics).await?;
        post::post(endpoint, "v1/traces", &spans).await
    })?;
    sent.map_err(|why| {
        CliError::usage(
            format!("cannot export to {endpoint}: {why}"),
            "the run itself is complete; is a collector listening there for OTLP over HTTP?",
        )
    })
}

/// The ends of load calls in the trace, spread over the run.
fn ended_calls(report: &Report) -> Result<Vec<document::Ended>, CliError> {
    if report.trace_path.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let path = &report.trace_path;
    let failed = |source| CliError::Read { path: path.clone(), source };
    let mut calls = Vec::new();
    let mut seen = 0_usize;
    let mut every = 1_usize;
    for line in BufReader::new(File::open(path).map_err(failed)?).lines() {
        let line = line.map_err(failed)?;
        let Some(call) = read_line(&line).ok().as_ref().and_then(document::Ended::of) else {
            continue;
        };
        if seen.is_multiple_of(every) {
            calls.push(call);
        }
        seen += 1;
        // As many as there may be: every other one is enough, of these and of those to come.
        if calls.len() == MOST_SPANS {
            let mut keep = false;
            calls.retain(|_| {
                keep = !keep;
                keep
            });
            every *= 2;
        }
    }
    Ok(calls)
}
