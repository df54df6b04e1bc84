//! `llm verdict`: what clients did with the failures that they met.

use std::{io::Read as _, path::PathBuf, time::Duration};

use anstyle::{AnsiColor, Style};
use clap::Args;
use mcp_loadtest_core::{
    ci::{
        self,
        junit::{Case, Ending, junit},
    },
    display::visible,
    exit::Exit,
    llm::{ClientReport, Entry, Patience, judge, rules},
    report::{Finding, Severity, Verdict},
};

use crate::{
    ci_args::{CiArgs, JunitArg},
    commands::explain,
    env::Env,
    error::CliError,
};

/// Arguments of `llm verdict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest llm verdict calls.jsonl
  mcp-loadtest llm verdict calls.jsonl --json
  mcp-loadtest llm verdict calls.jsonl --github --junit verdict.xml
  curl -s $ADMIN/journal | mcp-loadtest llm verdict -

Which requests are tries of one call is told by `idempotency-key` and `x-stainless-retry-count`; where a
client sends neither, by equal bodies that come one after the other. An `x-test-id` header keeps
independent calls apart.

PASS, WARNING and FAIL speak of the client; UNDECIDED says that nothing wrong was seen but not all could be
told, INVALID that it was not tested: no request came, or no fixture answered.

Exit codes: 0 nothing is wrong, 1 something is or it was not tested, 2 the journal cannot be read.")]
pub(crate) struct VerdictArgs {
    /// What `llm --journal` has written; `-` is stdin.
    #[arg(value_name = "JOURNAL", required_unless_present = "explain")]
    journal: Option<PathBuf>,
    /// More tries of one call than this are a storm.
    #[arg(long, value_name = "N", default_value_t = Patience::default().most_tries)]
    most_tries: usize,
    /// Waits that are all shorter than this are no back-off.
    #[arg(long, value_name = "MS", default_value_t = Patience::default().shortest_wait_ms)]
    shortest_wait_ms: f64,
    /// Let warnings fail, too.
    #[arg(long)]
    strict: bool,
    /// Print the verdict as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    junit: JunitArg,
    #[command(flatten)]
    ci: CiArgs,
    /// Print by which rules clients are judged, and exit.
    #[arg(long)]
    explain: bool,
}

fn explanation() -> String {
    let mut text = "Puts the requests of a journal together to calls and their tries, and holds each call against\n\
                    these rules; the worst that is found is the verdict.\n"
        .to_owned();
    for (id, about) in rules() {
        text.push_str(&format!("  {id:<22} {about}\n"));
    }
    text + "Tunable knobs: --most-tries, --shortest-wait-ms, --strict.\n"
}

/// Runs `llm verdict`.
pub(super) fn run(args: &VerdictArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &explanation()));
    }
    let entries = read(args, env)?;
    let patience =
        Patience { most_tries: args.most_tries, shortest_wait_ms: args.shortest_wait_ms };
    let report = judge(&entries, patience);
    if args.json {
        env.out_json(&report);
    } else {
        env.out(&text(&report));
    }
    let exit = match report.verdict {
        Verdict::Pass => Exit::Pass,
        Verdict::Warning if !args.strict => Exit::Pass,
        _ => Exit::Fail,
    };
    args.junit.write(|| xml(&report, exit), env)?;
    let remarks = ci::of_findings(&report.findings, None);
    let page = || ci::page::render("mcp-loadtest llm verdict", &remarks);
    let (_, words) = headline(&report);
    let word = words.split(':').next().unwrap_or_default().to_owned();
    let outputs = [("passed", (exit == Exit::Pass).to_string()), ("verdict", word)];
    args.ci.tell(&remarks, page, &outputs, env)?;
    Ok(exit)
}

/// The findings and the verdict as JUnit XML.
fn xml(report: &ClientReport, exit: Exit) -> String {
    let mut cases: Vec<_> = report.findings.iter().map(Case::of_finding).collect();
    let (_, words) = headline(report);
    let ending = match exit {
        Exit::Pass if words.starts_with("UNDECIDED") => Ending::Open(words.to_owned()),
        Exit::Pass => Ending::Good(words.to_owned()),
        _ => Ending::Bad(words.to_owned(), Vec::new()),
    };
    cases.push(Case::new("client", "verdict", ending));
    junit("mcp-loadtest llm verdict", Duration::ZERO, &cases)
}

fn read(args: &VerdictArgs, env: &Env) -> Result<Vec<Entry>, CliError> {
    let journal = args.journal.as_deref().expect("it is asked for unless --explain is there");
    let path = env.path(journal);
    let cannot = |source| CliError::Read { path: path.clone(), source };
    let text = if journal.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(cannot)?;
        text
    } else {
        std::fs::read_to_string(&path).map_err(cannot)?
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                CliError::usage(
                    format!("{}:{}: not a line of a journal: {error}", path.display(), number + 1),
                    "write one with `mcp-loadtest llm --journal FILE`",
                )
            })
        })
        .collect()
}

/// The verdict for people.
pub(super) fn text(report: &ClientReport) -> String {
    let (color, words) = headline(report);
    let style = Style::new().bold().fg_color(Some(color.into()));
    let mut text = format!("{style}{words}{style:#}\n\n");
    text.push_str(&format!(
        "  {}, {}, {}; {} aborted by the client\n",
        counted(report.requests, "request"),
        counted(report.calls, "call"),
        counted(report.retries, "retry"),
        report.aborted
    ));
    if report.troubled > 0 {
        text.push_str(&format!(
            "  {} met a failure; {} of them got an answer in the end\n",
            counted(report.troubled, "call"),
            report.recovered
        ));
    }
    for words in &report.could_not_tell {
        text.push_str(&format!("  could not tell: {words}\n"));
    }
    for finding in &report.findings {
        text.push_str(&told(finding));
    }
    text
}

fn counted(count: usize, word: &str) -> String {
    match (count, word) {
        (1, word) => format!("1 {word}"),
        (count, "retry") => format!("{count} retries"),
        (count, word) => format!("{count} {word}s"),
    }
}

fn headline(report: &ClientReport) -> (AnsiColor, &'static str) {
    match report.verdict {
        Verdict::Pass if !report.could_not_tell.is_empty() => {
            (AnsiColor::Yellow, "UNDECIDED: nothing wrong was seen, but not all could be told")
        }
        Verdict::Pass => (AnsiColor::Green, "PASS: the client did nothing wrong"),
        Verdict::Warning => (AnsiColor::Yellow, "WARNING: look at what the client did"),
        Verdict::Invalid if report.unmatched > 0 => {
            (AnsiColor::Red, "INVALID: no fixture answered some requests, so nothing is proven")
        }
        Verdict::Invalid if report.forgotten > 0 => {
            (AnsiColor::Red, "INVALID: not all requests were remembered, so nothing is proven")
        }
        Verdict::Invalid => (AnsiColor::Red, "INVALID: there was no request to judge"),
        _ => (AnsiColor::Red, "FAIL: the client does not handle failures as it should"),
    }
}

fn told(finding: &Finding) -> String {
    let color = match finding.severity {
        Severity::Critical => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let mut text =
        format!("\n{style}{}{style:#}  {}\n", finding.id, visible(&finding.message, 300));
    for line in &finding.evidence {
        text.push_str(&format!("  - {}\n", visible(line, 300)));
    }
    let rest = [("means", &finding.meaning), ("do", &finding.hint)];
    for (word, words) in rest {
        if let Some(words) = words {
            text.push_str(&format!("  {word}: {words}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forgotten_is_told_and_what_to_do_about_it() {
        let line = r#"{"number": 4, "at_ms": 0, "took_ms": 1, "path": "/v1/chat/completions",
            "provider": "openai", "model": "m", "stream": false, "headers": [], "body_hash": "0",
            "client": "0", "fixture": "0", "status": 200, "seed": 1, "bytes_sent": 9,
            "ending": "complete", "forgotten_before": 3}"#;
        let entry: Entry = serde_json::from_str(line).unwrap();
        let said = text(&judge(&[entry], Patience::default()));
        for part in ["INVALID: not all requests were remembered", "3 earlier requests", "--journal"]
        {
            assert!(said.contains(part), "no {part:?} in {said}");
        }
    }
}
