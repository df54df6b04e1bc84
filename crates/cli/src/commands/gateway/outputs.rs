//! Where else the report of a gateway goes.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest_core::{
    ci::{
        Remark,
        junit::{Case, Ending, junit},
        page,
    },
    display::visible,
    report::{
        Severity,
        html::checks::{self, Bars, CheckPage, CheckRow, Tone},
    },
};
use mcp_loadtest_mock::gateway::{CHECKS, Checked, Report, Verdict};

use super::text::{headline_of, name_of};
use crate::{
    ci_args::{CiArgs, JunitArg, write},
    env::Env,
    error::CliError,
};

/// Files and forms for machines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print one JSON document, and nothing else.
    #[arg(long)]
    json: bool,
    /// Also write a page with the checks, the delay of each event and the latency added to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    junit: JunitArg,
    #[command(flatten)]
    ci: CiArgs,
}

impl OutputArgs {
    /// Prints the report, and then writes the files that were asked for.
    pub(super) fn tell(&self, report: &Report, env: &mut Env) -> Result<(), CliError> {
        if self.json {
            env.out_json(report);
        } else {
            env.out(&super::text::render(report));
        }
        if let Some(path) = &self.html {
            write(env, path, &checks::render(&html(report)))?;
        }
        self.junit.write(|| xml(report), env)?;
        let remarks: Vec<_> = report.checks.iter().filter_map(remark).collect();
        let page = || page::render(&format!("mcp-loadtest gateway: {}", name_of(report)), &remarks);
        let outputs =
            [("passed", report.passed.to_string()), ("verdict", headline_of(report).0.to_owned())];
        self.ci.tell(&remarks, page, &outputs, env)
    }
}

fn is_bad(checked: &Checked) -> bool {
    !checked.verdict.passes()
}

/// What CI servers show of a check that does not pass.
fn remark(checked: &Checked) -> Option<Remark> {
    is_bad(checked).then(|| Remark {
        id: checked.id.clone(),
        severity: Severity::Critical,
        title: told(checked),
        details: checked.evidence.iter().skip(1).chain(&checked.advice).cloned().collect(),
        reproduce: None,
        file: None,
        line: None,
    })
}

fn told(checked: &Checked) -> String {
    let first = checked.evidence.first().map(|sentence| visible(sentence, 400)).unwrap_or_default();
    format!("{}: {first}", checked.verdict.as_str())
}

fn xml(report: &Report) -> String {
    let case = |checked: &Checked| {
        let ending = match checked.verdict {
            Verdict::Kept | Verdict::Measured => Ending::Good(checked.evidence.join("\n")),
            Verdict::NotApplicable => Ending::Open(told(checked)),
            Verdict::CouldNotTell | Verdict::Broken => Ending::Bad(
                told(checked),
                checked.evidence.iter().chain(&checked.advice).cloned().collect(),
            ),
        };
        Case { took: milliseconds(checked.took_ms), ..Case::new("gateway", &checked.id, ending) }
    };
    let cases: Vec<_> = report.checks.iter().map(case).collect();
    let took = milliseconds(report.checks.iter().map(|checked| checked.took_ms).sum());
    junit(&format!("mcp-loadtest gateway {}", report.gateway), took, &cases)
}

fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

fn html(report: &Report) -> CheckPage {
    let (word, _) = headline_of(report);
    let upstream = report.upstream_revision.as_deref().unwrap_or("unknown");
    let mut facts = vec![
        super::text::sums(report),
        format!("MCP {} with the client, {upstream} with the server", report.revision),
    ];
    facts.extend(report.renamed.iter().map(|(ours, theirs)| format!("{ours} is called {theirs}")));
    CheckPage {
        title: name_of(report),
        word,
        tone: match (report.passed, report.checks.iter().any(|one| one.verdict == Verdict::Broken))
        {
            (true, _) => Tone::Good,
            (false, true) => Tone::Bad,
            (false, false) => Tone::Warn,
        },
        facts,
        checks: report.checks.iter().map(row).collect(),
        bars: [delays(report), latency(report)].into_iter().flatten().collect(),
    }
}

fn row(checked: &Checked) -> CheckRow {
    let about = CHECKS.iter().find(|check| check.id == checked.id).map_or("", |check| check.about);
    CheckRow {
        id: checked.id.clone(),
        about: about.to_owned(),
        word: checked.verdict.as_str(),
        tone: match checked.verdict {
            Verdict::Kept => Tone::Good,
            Verdict::Measured | Verdict::NotApplicable => Tone::Note,
            Verdict::CouldNotTell => Tone::Warn,
            Verdict::Broken => Tone::Bad,
        },
        evidence: checked.evidence.clone(),
        advice: checked.advice.clone(),
        took_ms: checked.took_ms,
    }
}

fn figures<'r>(report: &'r Report, check: &str) -> Option<&'r Checked> {
    report.checks.iter().find(|checked| checked.id == check)
}

/// How long after each progress notification was sent it arrived.
fn delays(report: &Report) -> Option<Bars> {
    let streaming = figures(report, "streaming")?;
    let delay = |number: usize| {
        let ms = streaming.figures.get(&format!("delay_{number}_ms"))?;
        Some((format!("event {number}"), *ms))
    };
    Some(Bars {
        title: "Delay of each event".into(),
        reading: "From when the server sent a progress notification to when the client had it. A \
                  staircase that falls is a buffer."
            .into(),
        values: (1..).map_while(delay).collect(),
    })
}

/// What the same call takes through the gateway and past it.
fn latency(report: &Report) -> Option<Bars> {
    let latency = figures(report, "latency")?;
    let names = [
        ("p50 past it", "direct_p50_ms"),
        ("p50 through it", "p50_ms"),
        ("p50 added", "added_p50_ms"),
        ("p99 past it", "direct_p99_ms"),
        ("p99 through it", "p99_ms"),
        ("p99 added", "added_p99_ms"),
    ];
    let value = |(name, key): (&str, &str)| Some((name.to_owned(), *latency.figures.get(key)?));
    Some(Bars {
        title: "Latency added".into(),
        reading: "The same call through the gateway and past it, in turns.".into(),
        values: names.into_iter().filter_map(value).collect(),
    })
}
