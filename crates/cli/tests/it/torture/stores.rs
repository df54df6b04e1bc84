//! Stores of what clients did: every row that was promised is there, or the exit code says otherwise.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Child,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Choice, Ended, Rack, chosen, ended, for_each};
use crate::{
    harness::run_in,
    process::{Listening, binary},
};

/// Rows are written together when they come together; a pause after each call keeps them apart.
const CALLS: &str = "--rate=20/s";

/// A command that keeps rows in this file while calls are made.
struct Keeping {
    name: &'static str,
    args: Vec<String>,
    file: &'static str,
}

fn keeping(name: &'static str, file: &'static str, args: &[&str]) -> Keeping {
    Keeping { name, file, args: args.iter().map(|arg| (*arg).to_owned()).collect() }
}

/// Starts it, makes calls, and tells it to end. Nothing, where it did not come so far.
fn serve(keeping: &Keeping, rack: &Rack, torture: &str) -> Ended {
    let mut child = rack.start(&keeping.args, torture);
    if let Some(url) = url(&mut child) {
        let called = binary()
            .args(["run", "--url", &url, "--tool", "echo", CALLS, "--duration=200ms", "-o"])
            .arg(rack.path("runs"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&called.stderr);
        assert!(called.status.code() < Some(2), "{}: {said}", keeping.name);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    }
    ended(child, &format!("{} {torture}", keeping.name))
}

/// What it says when it listens; nothing when it ends before.
fn url(child: &mut Child) -> Option<String> {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Some(serde_json::from_str::<Value>(&line).ok()?["url"].as_str().unwrap().to_owned())
}

/// Rows that can be read again.
fn rows(rack: &Rack, file: &str) -> u64 {
    let read = run_in(rack.dir.path(), &["audit", file, "export", "--format", "jsonl"]);
    assert_eq!(read.code, 0, "{}", read.err);
    read.out.lines().count() as u64
}

/// How many rows were promised and how many are there, as it says when these differ.
fn incomplete(said: &str) -> Option<(u64, u64)> {
    let (_, sums) = said.split_once("the audit log is incomplete: ")?;
    let numbers: Vec<u64> = sums.split(' ').filter_map(|word| word.parse().ok()).take(2).collect();
    Some((numbers[0], numbers[1]))
}

fn judge(keeping: &Keeping, rack: &Rack, all: u64, ran: &Ended) -> Result<(), String> {
    let failed = rack.failed();
    let wrong = |what: String| Err(format!("{what}: exit {}, {failed:?}\n{}", ran.code, ran.err));
    match (&failed, ran.code) {
        (None, 0) => Ok(()),
        (Some(_), 2) if ran.err.contains("tortured: ") => Ok(()),
        (Some(_), 1) => {
            let Some((written, emitted)) = incomplete(&ran.err) else {
                return wrong("no sums".into());
            };
            let there = rows(rack, keeping.file);
            if there != written || !ran.err.contains("tortured: ") {
                return wrong(format!("{there} rows are there"));
            }
            // What was recorded after the failure counts too.
            if emitted < all { wrong(format!("of {all} rows")) } else { Ok(()) }
        }
        _ => wrong("it is not told".into()),
    }
}

#[test]
fn every_row_of_an_audit_log_is_there_or_missed() {
    let behind = Listening::start(&["mock", "--transport", "http"]);
    let stores = [
        keeping("mock jsonl", "a.jsonl", &["mock", "--transport=http", "--audit", "jsonl:a.jsonl"]),
        keeping("mock sqlite", "a.db", &["mock", "--transport=http", "--audit", "sqlite:a.db"]),
        keeping("proxy", "p.jsonl", &["proxy", "--upstream", &behind.url, "--audit=jsonl:p.jsonl"]),
    ];
    let counted: Vec<_> = stores
        .iter()
        .flat_map(|keeping| {
            let rack = Rack::new();
            let ran = serve(keeping, &rack, "count");
            let all = rows(&rack, keeping.file);
            assert!(ran.code == 0 && all > 4, "{}: {all} rows\n{}", keeping.name, ran.err);
            let stored = |torture: &String| {
                ["create", "store", "sync"].iter().any(|word| torture.starts_with(word))
            };
            let tortures = chosen(&rack.deeds(), Choice::EveryPlace).into_iter().filter(stored);
            tortures.map(move |torture| (keeping, all, torture)).collect::<Vec<_>>()
        })
        .collect();
    assert!(counted.iter().any(|(_, _, torture)| torture.starts_with("sync")));
    for_each(&counted, |(keeping, all, torture)| {
        let rack = Rack::new();
        let ran = serve(keeping, &rack, torture);
        judge(keeping, &rack, *all, &ran)
            .map_err(|why| format!("{}, {torture}: {why}", keeping.name))
    });
}

/// Asks a mock of models.
fn ask(url: &str) {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    let host = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(host.split('/').next().unwrap()).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn lines(path: &Path) -> usize {
    let whole = |line: &&str| serde_json::from_str::<Value>(line).is_ok();
    fs::read_to_string(path).unwrap_or_default().lines().filter(whole).count()
}

#[test]
fn every_line_of_a_journal_is_there_or_missed() {
    let args: Vec<String> = ["llm", "-f", "f.yml", "--journal", "j.jsonl"].map(Into::into).into();
    let serve = |rack: &Rack, torture: &str| {
        fs::write(rack.path("f.yml"), "fixtures: [{response: {content: a}}]").unwrap();
        let mut child = rack.start(&args, torture);
        if let Some(url) = url(&mut child) {
            (0..3).for_each(|_| ask(&url));
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        }
        ended(child, torture)
    };
    let rack = Rack::new();
    let ran = serve(&rack, "count");
    assert_eq!((ran.code, lines(&rack.path("j.jsonl"))), (0, 3), "{}", ran.err);
    for torture in chosen(&rack.deeds(), Choice::EveryPlace) {
        let rack = Rack::new();
        let ran = serve(&rack, &torture);
        assert!(rack.failed().is_some(), "{torture}");
        assert!(ran.code > 0 && ran.err.contains("tortured: "), "{torture}: {}", ran.err);
        // What failed has cost its own line and no other.
        let lost = if torture.starts_with("store") { 1 } else { 3 };
        assert_eq!(lines(&rack.path("j.jsonl")), 3 - lost, "{torture}");
    }
}
