//! `run --web` as a browser sees it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    browser::environment,
    harness::{mock, run},
    process::binary,
};

/// A run that is watched, and where.
pub(crate) struct Watched {
    child: Child,
    talk: BufReader<std::process::ChildStderr>,
    url: String,
}

impl Watched {
    pub(crate) fn start(dir: &std::path::Path, server: &str, flags: &[&str]) -> Self {
        Self::of(Self::command(dir, server, flags).spawn().unwrap())
    }

    fn command(dir: &std::path::Path, server: &str, flags: &[&str]) -> Command {
        let mut command = binary();
        command.args(["run", "-s", server, "--web", "127.0.0.1:0"]).args(flags).current_dir(dir);
        command
    }

    fn of(mut child: Child) -> Self {
        let mut talk = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        talk.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("watch it at ").unwrap_or_else(|| panic!("{line}"));
        Self { child, talk, url: url.to_owned() }
    }

    /// Waits until the run is over and its page stays.
    pub(crate) fn wait_for_end(&mut self) {
        let mut line = String::new();
        while !line.contains("stays at") {
            line.clear();
            assert!(self.talk.read_line(&mut line).unwrap() > 0, "it ended without a word");
        }
    }

    fn request(&self, path: &str, host: &str) -> TcpStream {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        stream
    }

    /// The first news that has this in it.
    pub(crate) fn news(&self, mark: &str) -> String {
        let mut told = BufReader::new(self.request("/events", "localhost")).lines();
        told.find_map(|line| line.ok().filter(|line| line.contains(mark))).unwrap()
    }

    pub(crate) fn ask(&self, host: &str) -> String {
        let mut answer = String::new();
        self.request("/", host).read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a browser saw of a page that grew, and of its end.
fn looked(url: &str, end_the_run: impl FnOnce()) -> (Value, Value) {
    let mut browser = Command::new("node")
        .arg(environment("browser").join("browser.mjs"))
        .arg("live")
        .arg(environment("chromium").join("bin/chromium"))
        .arg(url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(browser.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = told.next().expect("its stderr says why it saw nothing").unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let grown = next();
    end_the_run();
    let ended = next();
    assert!(browser.wait().unwrap().success());
    assert_eq!(ended["errors"], Value::Array(Vec::new()));
    (grown, ended)
}

#[test]
fn a_page_grows_and_ends_with_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-tool-error.py");
    let failure = dir.path().join("failure");
    let variable = format!("MOCK_FAILS_WITH={}", failure.display());
    // A browser may take its time: the run goes on until a call fails.
    let load = ["--tool", "echo", "--rate", "20/s", "--duration", "600s", "--env", &variable];
    let flags = [&load[..], &["--error-rate", "0", "--abort-on-fail"]].concat();
    let mut watched = Watched::start(dir.path(), &server, &flags);
    let (seen, end) = looked(&watched.url, || std::fs::write(&failure, "").unwrap());

    assert_eq!(seen["word"], "RUNNING");
    let number = |seen: &Value| seen[1].as_f64().unwrap();
    assert!(number(&seen["later"]["shown"]) > number(&seen["early"]["shown"]), "time goes on");
    for at in 0..seen["early"]["plots"].as_array().unwrap().len() {
        let print = |when: &str| seen[when]["plots"][at]["print"].clone();
        assert_ne!(print("early"), print("later"), "plot {at} stands still");
    }
    assert_eq!(seen["brushed"], seen["kept"], "whoever looks closer is not disturbed");
    assert_eq!(end["word"], "FAIL");
    assert!(end["text"].as_str().unwrap().contains("What this means"));

    watched.wait_for_end();
    assert!(watched.ask("localhost").contains(">FAIL<"), "the page stays");
    assert_eq!(watched.end(), Some(1), "a run that failed has failed");
}

/// Between the end of the load and the page that stays, nobody listened to signals. A full pipe holds the run
/// there, where it prints its result.
#[test]
fn whoever_closes_it_before_it_says_that_it_stays_is_heard() {
    let dir = tempfile::tempdir().unwrap();
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'x'; 1 << 16]).unwrap();
    let flags = ["--tool", "echo", "--duration", "1s"];
    let mut command = Watched::command(dir.path(), &mock("mock-normal.py"), &flags);
    let watched = Watched::of(command.stdout(writer).spawn().unwrap());
    drop(command);
    watched.news("event: over");
    kill_process(Pid::from_child(&watched.child), Signal::INT).unwrap();
    // The page's own thread has a moment to take the signal away from whoever listens too late.
    watched.ask("localhost");
    let mut told = String::new();
    reader.read_to_string(&mut told).unwrap();
    assert!(told.contains("PASS"), "{told}");
}

/// Nobody listened to signals until the load began.
#[test]
fn whoever_closes_it_as_soon_as_its_address_is_told_is_heard() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["--tool", "echo", "--duration", "600s"];
    let watched = Watched::start(dir.path(), &mock("mock-normal.py"), &flags);
    assert_eq!(watched.end(), Some(130));
}

#[test]
fn only_this_machine_can_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let watched = Watched::start(dir.path(), &server, &["--tool", "echo", "--duration", "600s"]);
    assert!(watched.ask("evil.example").starts_with("HTTP/1.1 403"));
    assert!(watched.ask("127.0.0.1:1").starts_with("HTTP/1.1 200"));
    assert_eq!(watched.end(), Some(130), "whoever interrupts the run need not close its page");

    let ran = run(&["run", "-s", &server, "--tool", "echo", "--web", "0.0.0.0:0"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("other machines") && ran.err.contains("127.0.0.1"), "{}", ran.err);
}

#[test]
fn faults_that_are_at_work_show_while_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("mock.db");
    let server = format!(
        "{} mock --audit sqlite:{} --fault tool-error@after=1s",
        env!("CARGO_BIN_EXE_mcp-loadtest"),
        log.display()
    );
    let flags = ["--tool", "echo", "--rate", "50/s", "--duration", "600s", "--audit", "mock.db"];
    let watched = Watched::start(dir.path(), &server, &flags);
    // The page is told of it; the run would go on for long.
    let news = watched.news("key fault");
    assert!(news.contains("RUNNING") && news.contains("tool-error@after=1s"), "{news}");
    assert_eq!(watched.end(), Some(130));
}
