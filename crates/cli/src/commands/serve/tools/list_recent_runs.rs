//! `list_recent_runs`: what has been run, the latest first.

use mcp_loadtest::{PastRun, ScenarioName, Verdict};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Does, Tool};
use crate::error::CliError;

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    /// How many runs are listed.
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self { limit: 20 }
    }
}

/// Runs, the latest first.
#[derive(Debug, Serialize, JsonSchema)]
struct Runs {
    /// The latest ones.
    runs: Vec<Listed>,
    /// How many there are in all.
    total: usize,
}

/// One run.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// The ULID of the run.
    run_id: String,
    /// Where its files are; other tools take it as `run_dir`.
    run_dir: String,
    /// When it began, in UTC as RFC 3339 has it.
    started_at: String,
    /// Whether every limit held and no bug was found.
    passed: bool,
    /// The word above everything else.
    verdict: Verdict,
    /// What was run.
    scenario: ScenarioName,
    /// The command line or address of the server.
    server: String,
    /// Calls that were due.
    requests: u64,
    /// The fraction of calls that failed.
    error_rate: Option<f64>,
    /// 99th percentile of the response times.
    p99_ms: Option<f64>,
    /// Names under which the run is found again.
    tags: Vec<String>,
}

impl From<PastRun> for Listed {
    fn from(run: PastRun) -> Self {
        let PastRun { dir, summary } = run;
        Self {
            run_id: summary.run_id,
            run_dir: dir.to_string_lossy().into_owned(),
            started_at: summary.started_at,
            passed: summary.passed,
            verdict: summary.verdict,
            scenario: summary.scenario,
            server: summary.server,
            requests: summary.requests,
            error_rate: summary.error_rate,
            p99_ms: summary.p99_ms,
            tags: summary.tags,
        }
    }
}

async fn run(mut call: Call) -> Result<Answer, CliError> {
    let asked: Asked = call.read()?;
    if !(1..=100).contains(&asked.limit) {
        return Err(CliError::usage("`limit` may be 1 to 100", "ask for fewer"));
    }
    let office = call.office.clone();
    let runs = tokio::task::spawn_blocking(move || office.runs.runs());
    let runs = runs.await.map_err(std::io::Error::from)??;
    let total = runs.len();
    let runs: Vec<Listed> = runs.into_iter().take(asked.limit).map(Into::into).collect();
    let text = match total {
        0 => "There is no finished run yet.".to_owned(),
        _ => format!("{} of {total} runs, the latest first.", runs.len()),
    };
    Answer::new(text, &Runs { runs, total })
}

pub(super) const ENTRY: Tool = Tool {
    name: "list_recent_runs",
    title: "List recent runs",
    about: "List saved load tests, the latest first, with their verdicts and the `run_dir` that \
            compare_runs and report_summary take.",
    does: Does::Reads,
    input: || schema_for!(Asked),
    output: || schema_for!(Runs),
    call: |call| Box::pin(run(call)),
};
