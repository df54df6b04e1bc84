//! Nothing is left of a run that was killed, except what it had written.
//!
//! The test starts itself again as a child that runs a load, and kills the child at a moment that
//! chance chooses: now while it starts its server, now in the middle of the load.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use mcp_loadtest::{ErrorCategory, Run, SavedRun, Scenario, Seed, Trace, Verdict};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

use crate::{
    fixtures::mock,
    processes::{MARK, descendants, unique_mark, until, until_gone},
};

/// Makes this test the child; holds the directory for the run.
const CHILD: &str = "MCP_LOADTEST_KILLED_CHILD";
/// Names the mock of the child.
const MOCK: &str = "MCP_LOADTEST_KILLED_MOCK";
/// How many times to kill, where the usual number will not do.
const KILLS: &str = "MCP_LOADTEST_KILLS";
const USUAL_KILLS: u64 = 10;
/// Calls in flight.
const CONCURRENT: u32 = 4;

#[tokio::test]
async fn a_killed_run_leaves_no_process_and_a_directory_that_can_be_read() {
    if let Some(dir) = std::env::var_os(CHILD) {
        return run_until_killed(dir.into()).await;
    }
    let kills = std::env::var_os(KILLS).map_or(USUAL_KILLS, |text| number(&text));
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut slowest = Duration::ZERO;
    for round in 0..kills {
        let (left, swept) = kill_once(round).await;
        *seen.entry(left).or_default() += 1;
        slowest = slowest.max(swept);
    }
    #[expect(clippy::print_stderr, reason = "the figures are for whoever asks for many kills")]
    {
        eprintln!("{kills} kills, slowest sweep {slowest:?}, what was left: {seen:?}");
    }
    assert!(seen.contains_key(CALLS), "not one run was killed in the middle of its load: {seen:?}");
}

fn number(text: &OsString) -> u64 {
    text.to_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{KILLS} is {text:?}, not a number"))
}

/// What a directory may hold after the kill.
const NOTHING: &str = "no directory";
const NO_TRACE: &str = "a directory without a trace";
const NO_CALL: &str = "a trace without a call";
const CALLS: &str = "a trace with calls";

/// The child: a load without an end.
async fn run_until_killed(dir: PathBuf) {
    let variable = |name: &str| {
        std::env::var_os(name)
            .and_then(|value| value.into_string().ok())
            .expect("the parent sets it")
    };
    // The daemon also outlives its server when that is asked to end.
    let server = mock(&variable(MOCK)).env(MARK, variable(MARK));
    let load = Scenario::sustained()
        .concurrent(CONCURRENT)
        .duration(Duration::from_secs(600))
        .tool("echo");
    let report =
        Run::new(server, load).with_trace(Trace::Full).with_output_dir(dir).execute().await;
    panic!("nobody killed us: {report:?}");
}

/// Kills one run. Gives what was left and how long the sweep took.
async fn kill_once(round: u64) -> (&'static str, Duration) {
    let dir = TempDir::new().expect("a directory");
    let words = tempfile::NamedTempFile::new().expect("a file");
    let mark = unique_mark();
    let mut child = start(dir.path(), words.reopen().expect("it is there"), &mark, round);
    let pid = child.id().expect("it runs");
    let mut assert_it_runs = || {
        let ended = child.try_wait().expect("it can be asked");
        let said = || std::fs::read_to_string(words.path()).unwrap_or_default();
        assert!(ended.is_none(), "the child ended by itself: {ended:?}\n{}", said());
    };
    wait_for_the_moment(dir.path(), round, &mut assert_it_runs).await;
    assert_it_runs();
    // The guard too, which carries no mark, must end.
    let family = descendants(pid);
    child.kill().await.expect("it can be killed");
    let killed = Instant::now();
    until_gone(&mark, &family).await;
    (what_is_left(dir.path()), killed.elapsed())
}

fn start(dir: &Path, words: File, mark: &str, round: u64) -> Child {
    let name = "killed::a_killed_run_leaves_no_process_and_a_directory_that_can_be_read";
    let mut command = Command::new(std::env::current_exe().expect("we have a file"));
    command.args(["--exact", name, "--nocapture"]);
    command
        .env(CHILD, dir)
        .env(MOCK, if round.is_multiple_of(2) { "mock-daemon" } else { "mock-normal" });
    command.env(MARK, mark).stdin(Stdio::null()).stdout(Stdio::null()).stderr(words);
    command.kill_on_drop(true).spawn().expect("we can start ourselves")
}

/// Every other kill comes after the first calls are on disk, the rest at any time before or after.
async fn wait_for_the_moment(dir: &Path, round: u64, assert_it_runs: &mut impl FnMut()) {
    let mut dice = Seed(85).dice(round);
    if (round / 2).is_multiple_of(2) {
        until("the first calls are on disk", || {
            assert_it_runs();
            trace(dir).is_some_and(|text| text.contains("\"response\""))
        })
        .await;
    }
    // Early moments are the more delicate ones, and come more often.
    let latest = dice.below(800) + 1;
    sleep(Duration::from_millis(dice.below(latest))).await;
}

fn run_dir(dir: &Path) -> Option<PathBuf> {
    Some(std::fs::read_dir(dir).ok()?.flatten().next()?.path())
}

fn trace(dir: &Path) -> Option<String> {
    Some(
        String::from_utf8_lossy(&std::fs::read(run_dir(dir)?.join("trace.jsonl")).ok()?)
            .into_owned(),
    )
}

/// Reads the directory, which must work or say clearly that there is nothing.
fn what_is_left(dir: &Path) -> &'static str {
    let Some(run) = run_dir(dir) else { return NOTHING };
    let saved = match SavedRun::open(&run) {
        Ok(saved) => saved,
        Err(error) => {
            assert!(!run.join("trace.jsonl").exists(), "{error}");
            return NO_TRACE;
        }
    };
    assert!(!saved.is_complete(), "a killed run is not complete");
    let report = saved.report().unwrap_or_else(|error| panic!("{error}\n{:?}", trace(dir)));
    if report.throughput.total_requests == 0 {
        assert_eq!(report.verdict, Verdict::Invalid, "{:#?}", report.findings);
        assert!(report.finding("nothing_measured").is_some(), "{:#?}", report.findings);
        return NO_CALL;
    }
    assert!(
        report.run_id.len() == 26 && report.server_info.name.as_deref() == Some("mock"),
        "{report:#?}"
    );
    // What was in flight was withdrawn; everything else adds up, but half a run is no pass.
    assert!(report.interrupted && report.verdict == Verdict::Invalid, "{:#?}", report.findings);
    assert!(report.finding("accounting_open").is_none(), "{:#?}", report.findings);
    let cancelled = report.errors.by_category.get(&ErrorCategory::Cancelled).copied().unwrap_or(0);
    assert_eq!(report.throughput.total_requests, report.throughput.successful_requests + cancelled);
    assert!(cancelled <= CONCURRENT.into(), "{cancelled} calls in flight");
    CALLS
}
