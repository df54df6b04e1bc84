//! `llm` as a command: what it refuses, what it reads again, what it leaves behind.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    harness::{run, run_in},
    process::binary,
};

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(30);

/// A server of its own process; it ends with this value.
struct Llm {
    child: Child,
    authority: String,
    /// What it says to people, line by line.
    said: mpsc::Receiver<String>,
}

impl Drop for Llm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Llm {
    fn start(dir: &Path, args: &[&str]) -> Self {
        let mut child =
            binary().arg("llm").args(args).current_dir(dir).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut why = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut why);
            panic!("no URL but {line:?}: {why}")
        });
        let authority = url["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let (sender, said) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, authority, said }
    }

    fn ask(&self, user: &str) -> String {
        let body = json!({ "model": "m", "messages": [{ "role": "user", "content": user }] });
        self.post(&body.to_string())
    }

    fn post(&self, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let length = body.len();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
        write!(stream, "{head}content-length: {length}\r\n\r\n{body}").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Ends it as Ctrl-C would, and gives its exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.yml"), text).unwrap();
    folder
}

#[test]
fn a_bad_file_is_told_with_its_place_and_nothing_starts() {
    for (text, parts) in [
        (
            "fixtures:\n  - response: {content: a}\n  - respons: {content: b}\n",
            &["f.yml:3", "respons", "did you mean `response`?"][..],
        ),
        ("fixtures:\n  - error: {status: 200, message: x}\n", &["f.yml:2", "between 400 and 599"]),
        (
            "fixtures:\n  - {error: {status: 500, message: x}, failure: {latency_ms: 1}}\n",
            &["f.yml:2", "exclude each other"],
        ),
        ("fixtures:\n  - response: {content_template: '{{ a'}\n", &["f.yml:2", "not a template"]),
        ("fixtures: []\n", &["no fixture"]),
        ("- response: {content: a}\n", &["f.yml:1"]),
    ] {
        let folder = folder(text);
        for args in
            [&["llm", "--fixtures", "f.yml"][..], &["llm", "--fixtures", "f.yml", "--validate"]]
        {
            let ran = run_in(folder.path(), args);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{text}: {}", ran.err);
            for part in parts {
                assert!(ran.err.contains(part), "no {part:?} in {:?}", ran.err);
            }
        }
    }
}

#[test]
fn a_good_file_is_said_to_be_good() {
    let folder = folder("fixtures: [{response: {content: a}}]");
    let ran = run_in(folder.path(), &["llm", "--fixtures", "f.yml", "--validate"]);
    assert_eq!((ran.code, &*ran.out), (0, "f.yml: good\n"), "{}", ran.err);
    assert!(!ran.err.contains("never reached"), "{}", ran.err);
}

#[test]
fn a_fixture_in_the_shadow_of_another_is_told() {
    let folder =
        folder("fixtures: [{response: {content: a}}, {match: {model: m}, response: {content: b}}]");
    let ran = run_in(folder.path(), &["llm", "--fixtures", "f.yml", "--validate"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("fixture 1 (from 0) is never reached: fixture 0"), "{}", ran.err);
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (args, part) in [
        (&["llm"][..], "--fixtures FILE"),
        (&["llm", "--fixtures", "nowhere.yml"], "nowhere.yml"),
        (&["llm", "--record", "http://127.0.0.1:1"], "--to"),
        (&["llm", "--watch"], "--fixtures"),
        (&["llm", "verdict", "nowhere.jsonl"], "nowhere.jsonl"),
    ] {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{args:?}: no {part:?} in {:?}", ran.err);
    }
    let folder = folder("fixtures: [{response: {content: a}}]");
    let ran = run_in(folder.path(), &["llm", "--fixtures", "f.yml", "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("loopback addresses only"), "{}", ran.err);
}

#[test]
fn a_folder_is_read_in_the_order_of_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("b.yml"), "fixtures: [{response: {content: second}}]").unwrap();
    fs::write(folder.path().join("a.json"), r#"{"fixtures":[{"response":{"content":"first"}}]}"#)
        .unwrap();
    fs::write(folder.path().join("c.txt"), "not read").unwrap();
    let llm = Llm::start(folder.path(), &["--fixtures", "."]);
    assert!(llm.ask("x").contains("first"));
}

#[test]
fn changed_files_are_read_again_and_bad_ones_are_not() {
    let folder = folder("fixtures: [{response: {content: first}}]");
    let path = folder.path().join("f.yml");
    let llm = Llm::start(folder.path(), &["--fixtures", "f.yml", "--watch"]);
    assert!(llm.ask("x").contains("first"));
    fs::write(&path, "fixtures: [{respond: {content: second}}]").unwrap();
    let said = llm.said.recv_timeout(LIMIT).unwrap();
    assert!(said.contains("f.yml:1") && said.contains("the old fixtures stay"), "{said}");
    assert!(llm.ask("x").contains("first"));
    fs::write(&path, "fixtures: [{response: {content: 'third, and longer'}}]").unwrap();
    let said = llm.said.recv_timeout(LIMIT).unwrap();
    assert!(said.contains("1 fixtures are in force"), "{said}");
    assert!(llm.ask("x").contains("third"));
}

#[test]
fn a_client_that_retries_badly_fails_the_verdict() {
    let folder = folder(
        "fixtures:
          - {match: {user_message: good}, when: {first: 1}, error: {status: 503, message: x}}
          - {match: {user_message: bad}, error: {status: 400, message: x}}
          - {response: {content: fine}}",
    );
    let llm = Llm::start(folder.path(), &["--fixtures", "f.yml", "--journal", "j.jsonl"]);
    for user in ["good", "good"] {
        llm.ask(user);
    }
    fs::copy(folder.path().join("j.jsonl"), folder.path().join("good.jsonl")).unwrap();
    for _ in 0..3 {
        llm.ask("bad");
    }
    assert_eq!(llm.interrupt(), Some(0));
    let good = run_in(folder.path(), &["llm", "verdict", "good.jsonl"]);
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
    assert!(good.out.starts_with("PASS"), "{}", good.out);
    let bad = run_in(folder.path(), &["llm", "verdict", "j.jsonl"]);
    assert_eq!(bad.code, 1, "{}", bad.out);
    assert!(bad.out.contains("retried_not_retryable"), "{}", bad.out);
    let told = run_in(folder.path(), &["llm", "verdict", "j.jsonl", "--json"]);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((told["verdict"].as_str(), told["requests"].as_u64()), (Some("FAIL"), Some(5)));
    let schema = run_in(folder.path(), &["schema", "llm-verdict"]).out;
    assert!(jsonschema::is_valid(&serde_json::from_str(&schema).unwrap(), &told));
    let schema =
        serde_json::from_str(&run_in(folder.path(), &["schema", "llm-journal"]).out).unwrap();
    for line in fs::read_to_string(folder.path().join("j.jsonl")).unwrap().lines() {
        assert!(jsonschema::is_valid(&schema, &serde_json::from_str(line).unwrap()), "{line}");
    }
    fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    let none = run_in(folder.path(), &["llm", "verdict", "empty.jsonl"]);
    assert_eq!((none.code, none.out.starts_with("INVALID")), (1, true), "nothing seen is no pass");
    fs::write(folder.path().join("no.jsonl"), "{}\n").unwrap();
    let no = run_in(folder.path(), &["llm", "verdict", "no.jsonl"]);
    assert_eq!(no.code, 2);
    assert!(no.err.contains("no.jsonl:1"), "{}", no.err);
}

#[test]
fn a_recording_is_told_again() {
    let folder =
        folder("fixtures: [{response: {content_template: 'you said {{ user_message }}'}}]");
    let upstream = Llm::start(folder.path(), &["--fixtures", "f.yml"]);
    let url = format!("http://{}", upstream.authority);
    let recorder = Llm::start(folder.path(), &["--record", &url, "--to", "r.yml"]);
    let first = recorder.ask("hello");
    assert!(first.contains("you said hello"), "{first}");
    drop((upstream, recorder));
    let replay = Llm::start(folder.path(), &["--fixtures", "r.yml", "--replay-speed", "0"]);
    assert!(replay.ask("hello").contains("you said hello"));
    assert!(replay.ask("hello you").contains("404"));
}

#[test]
fn the_example_of_the_help_is_good() {
    let help = run(&["llm", "--help"]);
    let text = help.out.split("  fixtures:").nth(1).unwrap();
    let text = text.split("\n\n").next().unwrap();
    let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
    let folder = folder(&format!("  fixtures:{}", lines.trim_start_matches(' ')));
    let ran = run_in(folder.path(), &["llm", "--fixtures", "f.yml", "--validate"]);
    assert_eq!(
        ran.code,
        0,
        "{}\n{}",
        ran.err,
        fs::read_to_string(folder.path().join("f.yml")).unwrap()
    );
}

#[test]
fn every_key_of_a_file_is_explained() {
    let explained = run(&["llm", "--explain"]).out;
    let schema: Value = serde_json::from_str(&run(&["schema", "fixtures"]).out).unwrap();
    let mut missing = Vec::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        // What --record writes is not written by people.
        if name.starts_with("Record") {
            continue;
        }
        for key in definition["properties"].as_object().into_iter().flatten().map(|(key, _)| key) {
            let is_told = ["name", "finish_reason"].contains(&key.as_str())
                || explained.contains(key.as_str());
            if !is_told {
                missing.push(format!("{name}.{key}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

const APP: &str = r#"
import json, os, sys, time, urllib.error, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
for wait in [0.2, 0.4] if sys.argv[1] == "patient" else [0]:
    try:
        with urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body) as reply:
            print(json.load(reply)["choices"][0]["message"]["content"])
            sys.exit(0)
    except urllib.error.HTTPError as error:
        print("status", error.code, file=sys.stderr)
    time.sleep(wait)
sys.exit(7)
"#;

#[test]
fn an_app_is_tried_out_and_judged() {
    let folder = folder(
        "fixtures:
          - {when: {first: 1}, error: {status: 503, message: x}}
          - {response: {content: fine}}",
    );
    fs::write(folder.path().join("app.py"), APP).unwrap();
    let start = |flags: &[&str], app: &str| {
        let command = ["--", "python3", "app.py", app];
        let args = [&["llm", "--fixtures", "f.yml"], flags, &command[..]].concat();
        binary()
            .args(&args)
            .current_dir(folder.path())
            .env("OPENAI_API_KEY", "mine")
            .output()
            .unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let hasty = start(&[], "hasty");
    assert_eq!(hasty.status.code(), Some(7), "its code is ours: {}", text(&hasty.stderr));
    assert!(text(&hasty.stderr).contains("app: status 503"), "{}", text(&hasty.stderr));
    let hasty = start(&["--verdict"], "hasty");
    assert_eq!(hasty.status.code(), Some(1));
    assert!(text(&hasty.stdout).contains("gave_up"), "{}", text(&hasty.stdout));
    let patient = start(&["--verdict", "--journal", "j.jsonl"], "patient");
    let said = text(&patient.stdout);
    assert_eq!(patient.status.code(), Some(0), "{said}{}", text(&patient.stderr));
    assert!(said.starts_with("fine\n\nPASS"), "{said}");
    assert!(!fs::read_to_string(folder.path().join("j.jsonl")).unwrap().contains("mine"));
    let none = run_in(folder.path(), &["llm", "--fixtures", "f.yml", "--", "no-such-program"]);
    assert_eq!(none.code, 2, "{}", none.err);
}
