//! The official SDKs of the APIs, as they are installed from their registries: what each makes of every
//! answer and every failure is what the page says.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use mcp_loadtest_core::llm::{Entry, Provider};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{
    case::{self, Case, Demand, How, Kind},
    heard::{GOOD, Heard},
    page,
};
use crate::{clients::home, process::binary};

/// What came of each case, by column, name and how the answer was taken.
pub(super) type Outcomes = BTreeMap<(&'static str, String, How), String>;

/// One API of one SDK.
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) package: String,
    pub(super) call: &'static str,
    /// What gathers a stream; empty where there is nothing of the kind.
    pub(super) helper: &'static str,
    language: Language,
    provider: Provider,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
}

impl Language {
    const fn environment(self) -> &'static str {
        match self {
            Self::Python => "llm-python",
            Self::Node => "llm-node",
        }
    }
}

/// Clients get this timeout, in seconds, where an answer never ends. A stall is several times as long,
/// so that a busy machine does not change what is seen.
const SHORT_TIMEOUT_S: u64 = 2;

#[test]
fn the_official_sdks_do_what_the_page_says() {
    let fixtures = root().join("tests/llm/matrix.yml");
    let cases = case::read(&fs::read_to_string(&fixtures).unwrap());
    let columns = columns();
    let outcomes = thread::scope(|scope| {
        let visits = [Language::Python, Language::Node].map(|language| {
            let (cases, columns, fixtures) = (&cases, &columns, &fixtures);
            scope.spawn(move || visit(language, columns, cases, fixtures))
        });
        visits.into_iter().flat_map(|visit| visit.join().unwrap()).collect::<Outcomes>()
    });
    check_demands(&columns, &cases, &outcomes);
    check_page(&page::render(&columns, &cases, &outcomes));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn columns() -> Vec<Column> {
    use Language::{Node, Python};
    use Provider::{Anthropic, Gemini, Openai, Responses};
    const CHAT: &str = "chat.completions.create";
    const RESPONSES: &str = "responses.create";
    const MESSAGES: &str = "messages.create";
    [
        ("python chat", Python, "openai", CHAT, "get_final_completion", Openai),
        ("python responses", Python, "openai", RESPONSES, "get_final_response", Responses),
        ("python messages", Python, "anthropic", MESSAGES, "get_final_message", Anthropic),
        ("python gemini", Python, "google-genai", "models.generate_content", "", Gemini),
        ("node chat", Node, "openai", CHAT, "finalChatCompletion", Openai),
        ("node responses", Node, "openai", RESPONSES, "finalResponse", Responses),
        ("node messages", Node, "@anthropic-ai/sdk", MESSAGES, "finalMessage", Anthropic),
    ]
    .map(|(title, language, package, call, helper, provider)| {
        let package = format!("{package} {}", version(language.environment(), package));
        Column { title, package, call, helper, language, provider }
    })
    .into()
}

/// The version of a package that an environment pins.
fn version(environment: &str, package: &str) -> String {
    let text = fs::read_to_string(root().join("tests/env/environments.json")).unwrap();
    let environments: Value = serde_json::from_str(&text).unwrap();
    let packages = environments["environments"][environment]["packages"].as_array().unwrap();
    let pinned = |pin: &Value| {
        let rest = pin.as_str()?.strip_prefix(package)?;
        Some(rest.strip_prefix("==").or(rest.strip_prefix('@'))?.to_owned())
    };
    packages.iter().find_map(pinned).unwrap()
}

/// One thing that a driver is told to do.
struct Task<'t> {
    column: &'t Column,
    case: &'t Case,
    how: How,
}

impl Task<'_> {
    fn told(&self) -> Value {
        let api = match self.column.provider {
            _ if self.case.kind == Kind::Embeddings => "embeddings",
            Provider::Openai => "chat",
            Provider::Responses => "responses",
            Provider::Anthropic => "messages",
            Provider::Gemini => "gemini",
        };
        json!({
            "api": api,
            "model": self.case.name,
            "kind": self.case.kind.name(),
            "how": self.how.name(),
            "timeout": self.case.is_endless().then_some(SHORT_TIMEOUT_S),
        })
    }

    /// How many requests of it reached the server.
    fn requests(&self, journal: &[Entry]) -> usize {
        let is_own = |entry: &&Entry| {
            entry.provider == self.column.provider
                && entry.model == self.case.name
                && entry.stream == (self.how != How::Whole)
                && entry.header("x-test-id").is_some() == (self.how == How::Helper)
        };
        journal.iter().filter(is_own).count()
    }
}

/// Runs the driver of a language against a server of its own.
fn visit(language: Language, columns: &[Column], cases: &[Case], fixtures: &Path) -> Outcomes {
    let own: Vec<_> = columns.iter().filter(|column| column.language == language).collect();
    let mut tasks = Vec::new();
    for case in cases {
        for column in own.iter().filter(|column| case.concerns(column.provider)) {
            let ways = How::ALL.into_iter().filter(|how| case.can_be(*how, column.provider));
            tasks.extend(ways.map(|how| Task { column, case, how }));
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal.jsonl");
    let server = Serving::start(fixtures, &journal);
    let told: Vec<_> = tasks.iter().map(Task::told).collect();
    let heard = drive(language, &json!({ "url": server.url, "tasks": told }));
    server.stop();
    let journal = fs::read_to_string(journal).unwrap();
    let journal: Vec<Entry> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(heard.len(), tasks.len());
    let outcomes = tasks.iter().zip(heard).map(|(task, heard)| {
        let requests = task.requests(&journal);
        let outcome = heard.outcome(task.case, task.column.provider, task.how, requests);
        ((task.column.title, task.case.name.clone(), task.how), outcome)
    });
    outcomes.collect()
}

fn drive(language: Language, asked: &Value) -> Vec<Heard> {
    let home = home(language.environment());
    let scripts = root().join("tests/llm");
    let mut command = match language {
        Language::Python => {
            let mut command = Command::new(home.join("bin/python"));
            command.arg(scripts.join("matrix.py"));
            command
        }
        Language::Node => {
            let mut command = Command::new(home.join("node_modules/.bin/node"));
            command.arg(scripts.join("matrix.mjs")).arg(&home);
            command
        }
    };
    // Nothing but the loopback interface is used, whatever the machine is set to.
    command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut driver = streams.spawn().unwrap();
    driver.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = driver.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{language:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// What is not up to an SDK holds whatever the page says.
fn check_demands(columns: &[Column], cases: &[Case], outcomes: &Outcomes) {
    let mut broken = Vec::new();
    for ((title, name, how), outcome) in outcomes {
        let column = columns.iter().find(|column| column.title == *title).unwrap();
        let case = cases.iter().find(|case| case.name == *name).unwrap();
        let is_met = match case.demand(column.provider, *how) {
            Demand::Good => outcome == GOOD,
            Demand::Bad => !outcome.starts_with(GOOD),
            Demand::Status(status) => outcome.contains(&format!("Error {status}")),
            Demand::Any => true,
        };
        if !is_met {
            broken.push(format!("{title}, {name}, {}: {outcome}", how.name()));
        }
    }
    assert!(broken.is_empty(), "the mock is wrong:\n{}", broken.join("\n"));
}

#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says what to do with pages")]
fn check_page(new: &str) {
    let path = root().join("docs/reference/sdk-behaviour.md");
    let old = fs::read_to_string(&path).unwrap_or_default();
    if old == new {
        return;
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        return fs::write(path, new).unwrap();
    }
    panic!(
        "the SDKs do something else than docs/reference/sdk-behaviour.md says; \
         INSTA_UPDATE=always writes it anew\n{}",
        page::difference(&old, new)
    );
}

/// A server that listens.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(fixtures: &Path, journal: &Path) -> Self {
        let mut command = binary();
        command.arg("llm").arg("--fixtures").arg(fixtures).arg("--journal").arg(journal);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        Self { child, url }
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success(), "the journal is complete");
    }
}

/// A test that fails must leave nothing behind.
impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
